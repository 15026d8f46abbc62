//! What a session has prepared: texts and calls by their handles, for clients that call sp_execute and kin by the protocol and for texts
//! that do.
//!
//! A program is no part of it: whoever runs a text finds that in the cache, or keeps it beside the handle.

use hashbrown::HashMap;
use pikepole_types::SqlError;

/// Statements that a session may have prepared at a time.
const PREPARED_MAX: usize = 16 * 1024;

/// What a handle stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PreparedHandle {
    /// A text and the declarations of its parameters.
    Text {
        /// The text.
        text: String,
        /// As sp_executesql's second parameter.
        declarations: String,
    },
    /// Calls of the procedure of this name.
    Call(String),
}

/// The handles of a session.
#[derive(Debug, Default)]
pub struct PreparedHandles {
    by_handle: HashMap<i32, PreparedHandle>,
    last_handle: i32,
}

impl PreparedHandles {
    /// Keeps what is prepared; its handle. Handles are counted on, so that one that was given back is not soon another statement's.
    ///
    /// # Errors
    /// 701 when there are too many.
    pub fn add(&mut self, prepared: PreparedHandle) -> Result<i32, SqlError> {
        if self.by_handle.len() >= PREPARED_MAX {
            let text = format!("A connection cannot have more than {PREPARED_MAX} prepared statements.");
            return Err(SqlError::new(701, 17, 123, text));
        }
        self.last_handle = self.last_handle.checked_add(1).unwrap_or(1);
        while self.by_handle.contains_key(&self.last_handle) {
            self.last_handle = self.last_handle.checked_add(1).unwrap_or(1);
        }
        self.by_handle.insert(self.last_handle, prepared);
        Ok(self.last_handle)
    }

    /// What a handle stands for.
    ///
    /// # Errors
    /// 8179 for nobody's.
    pub fn get(&self, handle: i32) -> Result<&PreparedHandle, SqlError> {
        self.by_handle.get(&handle).ok_or_else(|| SqlError::prepared_statement_unknown(handle))
    }

    /// Forgets a handle.
    ///
    /// # Errors
    /// 8179 for nobody's.
    pub fn remove(&mut self, handle: i32) -> Result<(), SqlError> {
        self.by_handle.remove(&handle).map(|_| ()).ok_or_else(|| SqlError::prepared_statement_unknown(handle))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_are_counted_on() {
        let mut handles = PreparedHandles::default();
        let new = || PreparedHandle::Call("p".to_string());
        assert_eq!((handles.add(new()), handles.add(new())), (Ok(1), Ok(2)));
        assert!(handles.remove(1).is_ok());
        assert_eq!(handles.remove(1).map_err(|error| error.number), Err(8179));
        assert_eq!(handles.get(1).map_err(|error| error.number), Err(8179));
        assert_eq!((handles.add(new()), handles.get(2)), (Ok(3), Ok(&new())));
    }
}
