//! The parts of a text.

use super::Run;
use crate::access::{Pace, Stop};
use crate::plan::Split;
use pikepole_types::{SqlError, Value, memory};

/// The state of a [`Split`].
#[derive(Default)]
pub(crate) struct SplitCursor {
    /// The text; none before the first part is asked for.
    text: Option<Text>,
    pace: Pace,
}

/// A text and how much of it was given.
struct Text {
    text: String,
    separator: char,
    /// The place of the next part; none behind the last one.
    at: Option<usize>,
    given: i64,
}

impl SplitCursor {
    pub(crate) fn next(&mut self, plan: &Split, run: &mut Run<'_>) -> Result<bool, Stop> {
        self.pace.step()?;
        let text = match &mut self.text {
            Some(text) => text,
            None => {
                let separator = plan.separator.eval(&mut run.env())?;
                let mut characters = separator.as_str().unwrap_or_default().chars();
                let (Some(separator), None) = (characters.next(), characters.next()) else {
                    let error = SqlError::procedure_expects_type("separator", "nchar(1)/nvarchar(1)");
                    return Err(Stop::Error(Box::new(error.with_state(11))));
                };
                let (text, at) = match plan.text.eval(&mut run.env())? {
                    Value::Str(text) => (text, Some(0)),
                    _ => (String::new(), None),
                };
                self.text.insert(Text { text, separator, at, given: 0 })
            }
        };
        let Some(at) = text.at else {
            return Ok(false);
        };
        let rest = &text.text[at..];
        let end = rest.find(text.separator);
        let part = &rest[..end.unwrap_or(rest.len())];
        memory::ask(part.len()).map_err(Box::new)?;
        run.slots[plan.registers.first] = Value::from(part);
        text.at = end.map(|end| at + end + text.separator.len_utf8());
        text.given += 1;
        if plan.registers.count > 1 {
            run.slots[plan.registers.first + 1] = Value::BigInt(text.given);
        }
        Ok(true)
    }
}
