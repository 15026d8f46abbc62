//! OPENJSON: an object or array as rows.

use super::path::Path;
use super::{Kind, Malformed, Members, Scanner, unescaped};
use crate::error::SqlError;
use crate::memory::{self, Growth};

/// A member of what OPENJSON opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened<'j> {
    /// The key, or in an array the position.
    pub key: String,
    /// What it is, as OPENJSON numbers it: 0 null, 1 text, 2 number, 3 true or false, 4 array, 5 object.
    pub kind: u8,
    /// The value as the document writes it.
    pub json: &'j str,
}

impl Opened<'_> {
    /// The value as text; nothing for `null`.
    pub fn text(&self) -> Option<String> {
        match self.kind {
            0 => None,
            1 => Some(unescaped(self.json)),
            _ => Some(self.json.to_owned()),
        }
    }
}

/// The members of the object or array that a path leads to. With `whole`, an object is one row, itself.
///
/// # Errors
/// 13609 for a text that is no JSON; in strict mode 13608 where the path leads nowhere, 13611 where it leads to no object or
/// array.
pub fn open<'j>(json: &'j str, path: &Path, whole: bool) -> Result<Vec<Opened<'j>>, SqlError> {
    match path.find(json)? {
        None => Ok(Vec::new()),
        Some((Kind::Object, part)) if whole => Ok(vec![Opened { key: String::new(), kind: 5, json: part }]),
        Some((Kind::Object | Kind::Array, part)) => members(part, json),
        Some(_) if path.strict => {
            let text = "Value referenced by JSON path is not an array or object and cannot be opened with OPENJSON.";
            Err(SqlError::new(13611, 16, 1, text))
        }
        Some(_) => Ok(Vec::new()),
    }
}

fn members<'j>(part: &'j str, json: &str) -> Result<Vec<Opened<'j>>, SqlError> {
    let malformed = |malformed: Malformed| malformed.error(json);
    let mut growth = Growth::begin();
    let mut scanner = Scanner::new(part);
    let mut members =
        if part.starts_with('{') { Members::of_object(&mut scanner) } else { Members::of_array(&mut scanner) };
    let mut opened = Vec::new();
    while let Some((start, end)) = members.next(&mut scanner).map_err(malformed)? {
        let key = if start == end { opened.len().to_string() } else { unescaped(&part[start..end]) };
        let start = scanner.at;
        let kind = match scanner.value(0).map_err(malformed)? {
            Kind::Null => 0,
            Kind::Text => 1,
            Kind::Plain if part[start..].starts_with(['t', 'f']) => 3,
            Kind::Plain => 2,
            Kind::Array => 4,
            Kind::Object => 5,
        };
        growth.step()?;
        if opened.len() == opened.capacity() {
            memory::ask(2 * size_of_val(opened.as_slice()))?;
        }
        opened.push(Opened { key, kind, json: &part[start..scanner.at] });
    }
    Ok(opened)
}

/// What a column of OPENJSON's WITH finds in one row: `as_json` takes objects and arrays, as they are written.
///
/// # Errors
/// In strict mode 13608 where the path leads nowhere, 13623 and 13624 where what is there is not of the kind wanted.
pub fn column(row: &str, path: &Path, as_json: bool) -> Result<Option<String>, SqlError> {
    let strict = |number: i32, text: &str| match path.strict {
        true => Err(SqlError::new(number, 16, 2, text)),
        false => Ok(None),
    };
    match (path.find_value(row)?, as_json) {
        (None, _) if path.strict => {
            Err(SqlError::new(13608, 16, 6, "Property cannot be found on the specified JSON path."))
        }
        (None | Some((Kind::Null, _)), _) => Ok(None),
        (Some((Kind::Object | Kind::Array, part)), true) | (Some((Kind::Plain, part)), false) => {
            Ok(Some(part.to_owned()))
        }
        (Some((Kind::Text, part)), false) => Ok(Some(unescaped(part))),
        (Some(_), true) => strict(13624, "Object or array cannot be found in the specified JSON path."),
        (Some(_), false) => strict(13623, "Scalar value cannot be found in the specified JSON path."),
    }
}
