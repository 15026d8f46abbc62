//! What a session keeps for its own statements: `sp_set_session_context` and SESSION_CONTEXT.

use pikepole_types::{SqlError, Value};

/// Bytes of all keys and values of one session at most.
const BYTES_MAX: usize = 1 << 20;
/// Bytes of a key at most.
const KEY_BYTES_MAX: usize = 256;

/// A value under a key.
#[derive(Debug, Clone)]
struct Entry {
    key: String,
    value: Option<Value>,
    read_only: bool,
}

impl Entry {
    fn bytes(&self) -> usize {
        bytes(&self.key) + self.value.as_ref().map_or(0, value_bytes)
    }
}

/// The keys of a session and their values, each a `sql_variant`.
#[derive(Debug, Clone, Default)]
pub(crate) struct SessionContext(Vec<Entry>);

impl SessionContext {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value of a key, in whatever case it is written.
    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        self.0.iter().find(|entry| is_same(&entry.key, key)).and_then(|entry| entry.value.as_ref())
    }

    /// Gives a key a value; none takes it away. A key that is set read-only stays as it is until the session ends.
    ///
    /// # Errors
    /// 15664 for a key that is read-only, 15665 when there is no room, 15666 for a key that is too long.
    pub(crate) fn set(&mut self, key: &str, value: Option<Value>, read_only: bool) -> Result<(), SqlError> {
        if bytes(key) > KEY_BYTES_MAX {
            return Err(SqlError::session_key_too_long(key));
        }
        let place = self.0.iter().position(|entry| is_same(&entry.key, key));
        if place.is_some_and(|place| self.0[place].read_only) {
            return Err(SqlError::session_key_read_only(key));
        }
        let others = self.0.iter().enumerate().filter(|(at, _)| Some(*at) != place);
        let taken: usize = others.map(|(_, entry)| entry.bytes()).sum();
        let entry = Entry { key: key.to_owned(), value, read_only };
        if taken + entry.bytes() > BYTES_MAX {
            return Err(SqlError::session_context_full(key));
        }
        if let Some(place) = place {
            self.0.remove(place);
        }
        // A read-only key without a value cannot get one.
        if entry.value.is_some() || read_only {
            self.0.push(entry);
        }
        Ok(())
    }
}

fn is_same(key: &str, other: &str) -> bool {
    key.to_lowercase() == other.to_lowercase()
}

/// Bytes of a value.
fn value_bytes(value: &Value) -> usize {
    match value {
        Value::Variant(variant) => variant.data_bytes(),
        _ => 0,
    }
}

/// Bytes of a text as nvarchar.
fn bytes(text: &str) -> usize {
    text.encode_utf16().count() * 2
}
