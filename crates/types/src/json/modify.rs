//! JSON_MODIFY: one part of a document changed, all else as it was written.

use super::path::{Path, Step};
use super::{Malformed, Members, Scanner, write_name};
use crate::error::SqlError;
use crate::memory;

/// What goes into the document.
#[derive(Debug, Clone, Copy)]
pub enum Change<'v> {
    /// NULL: takes a property away in lax mode, is `null` otherwise.
    Null,
    /// A value as JSON writes it.
    Json(&'v str),
}

impl Change<'_> {
    fn text(&self) -> &str {
        match self {
            Change::Null => "null",
            Change::Json(text) => text,
        }
    }
}

/// Where the last step of a path leads to.
#[derive(Debug, PartialEq, Eq)]
enum Spot {
    /// To a value: its place, and the place of the whole member, which in an object begins with the key.
    Value { member: (usize, usize), value: (usize, usize), place: usize },
    /// To nothing yet: before the end of an object, which has members or not.
    Missing { end: usize, is_empty: bool },
    /// To what no change can make.
    Nowhere,
}

/// The document with one part changed.
///
/// # Errors
/// 13609 for a text that is no JSON; in strict mode 13608 where the path leads nowhere, 13621 where an array is wanted and
/// something else is there; 13619 for a path without steps.
pub fn modify(json: &str, path: &Path, append: bool, change: Change<'_>) -> Result<String, SqlError> {
    if path.steps.is_empty() && !append {
        let text = "Unsupported JSON path found in argument 2 of JSON_MODIFY.";
        return Err(SqlError::new(13619, 16, 1, text));
    }
    let malformed = |malformed: Malformed| malformed.error(json);
    // What is changed is a whole document.
    Scanner::new(json).document().map_err(malformed)?;
    let spot = spot(json, path).map_err(malformed)?;
    let missing = || SqlError::new(13608, 16, 2, "Property cannot be found on the specified JSON path.");
    let unchanged = |error: SqlError| if path.strict { Err(error) } else { Ok(json.to_owned()) };
    let spliced = |(start, end): (usize, usize), new: &[&str]| {
        let bytes = json.len() + new.iter().map(|part| part.len()).sum::<usize>();
        memory::ask(bytes)?;
        let mut text = String::with_capacity(bytes);
        text.push_str(&json[..start]);
        text.extend(new.iter().copied());
        text.push_str(&json[end..]);
        Ok(text)
    };
    match spot {
        Spot::Value { value, .. } if append => match array_end(json, value.0).map_err(malformed)? {
            Some((end, is_empty)) => {
                let comma = if is_empty { "" } else { "," };
                spliced((end, end), &[comma, change.text()])
            }
            None => unchanged(SqlError::new(13621, 16, 1, "Array cannot be found in the specified JSON path.")),
        },
        Spot::Value { member, place, .. } if matches!(change, Change::Null) && !path.strict && is_key(path) => {
            spliced(with_a_comma(json, member, place), &[])
        }
        Spot::Value { value, .. } => spliced(value, &[change.text()]),
        Spot::Missing { .. } if path.strict => Err(missing()),
        Spot::Missing { .. } if matches!(change, Change::Null) && !append => Ok(json.to_owned()),
        Spot::Missing { end, is_empty } => {
            let mut member = String::from(if is_empty { "" } else { "," });
            if let Some(Step::Key(key)) = path.steps.last() {
                write_name(key, &mut member);
            }
            member.push(':');
            let (open, close) = if append { ("[", "]") } else { ("", "") };
            spliced((end, end), &[&member, open, change.text(), close])
        }
        Spot::Nowhere => unchanged(missing()),
    }
}

fn is_key(path: &Path) -> bool {
    matches!(path.steps.last(), Some(Step::Key(_)))
}

/// A member with the comma before it, or for the first one with the comma behind it and the blanks around that.
fn with_a_comma(json: &str, (start, end): (usize, usize), place: usize) -> (usize, usize) {
    let is_blank = |c: char| matches!(c, ' ' | '\t' | '\n' | '\r');
    if place > 0 {
        return (json[..start].trim_end_matches(is_blank).trim_end_matches(',').len(), end);
    }
    match json[end..].trim_start_matches(is_blank).strip_prefix(',') {
        Some(rest) => (start, json.len() - rest.trim_start_matches(is_blank).len()),
        None => (start, end),
    }
}

/// Where the array that begins at `start` ends, and whether it is empty; nothing for what is no array.
fn array_end(json: &str, start: usize) -> Result<Option<(usize, bool)>, Malformed> {
    let mut scanner = Scanner::at(json, start);
    if scanner.peek() != Some(b'[') {
        return Ok(None);
    }
    let mut members = Members::of_array(&mut scanner);
    let mut is_empty = true;
    while members.next(&mut scanner)?.is_some() {
        scanner.value(0)?;
        is_empty = false;
    }
    Ok(Some((scanner.at - 1, is_empty)))
}

/// Follows a path in a document that is well formed.
fn spot(json: &str, path: &Path) -> Result<Spot, Malformed> {
    let mut scanner = Scanner::new(json);
    scanner.begin()?;
    let mut member = (scanner.at, scanner.at);
    let mut place = 0;
    for (number, step) in path.steps.iter().enumerate() {
        let mut members = match (step, scanner.peek()) {
            (Step::Key(_), Some(b'{')) => Members::of_object(&mut scanner),
            (Step::Index(_), Some(b'[')) => Members::of_array(&mut scanner),
            _ => return Ok(Spot::Nowhere),
        };
        place = 0;
        loop {
            let Some(key) = members.next(&mut scanner)? else {
                let is_last = number + 1 == path.steps.len();
                return Ok(match step {
                    Step::Key(_) if is_last => Spot::Missing { end: scanner.at - 1, is_empty: place == 0 },
                    _ => Spot::Nowhere,
                });
            };
            if step.is(&json[key.0..key.1], place) {
                member.0 = if key.0 == key.1 { scanner.at } else { key.0 };
                break;
            }
            scanner.value(0)?;
            place += 1;
        }
    }
    let start = scanner.at;
    scanner.value(0)?;
    Ok(Spot::Value { member: (member.0, scanner.at), value: (start, scanner.at), place })
}
