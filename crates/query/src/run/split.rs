//! The parts of a text.

use super::Run;
use crate::access::{Pace, Stop};
use crate::plan::Split;
use pikepole_types::{SqlError, Value};

/// The state of a [`Split`].
#[derive(Default)]
pub(crate) struct SplitCursor {
    /// The text's parts; none before the first is asked for.
    parts: Option<Vec<String>>,
    next: usize,
    pace: Pace,
}

impl SplitCursor {
    pub(crate) fn next(&mut self, plan: &Split, run: &mut Run<'_>) -> Result<bool, Stop> {
        self.pace.step()?;
        let parts = match &mut self.parts {
            Some(parts) => parts,
            None => {
                let separator = plan.separator.eval(&mut run.env())?;
                let mut characters = separator.as_str().unwrap_or_default().chars();
                let (Some(separator), None) = (characters.next(), characters.next()) else {
                    let error = SqlError::procedure_expects_type("separator", "nchar(1)/nvarchar(1)");
                    return Err(Stop::Error(Box::new(error.with_state(11))));
                };
                let text = plan.text.eval(&mut run.env())?;
                let parts = text.as_str().map(|text| text.split(separator).map(str::to_owned).collect());
                self.parts.insert(parts.unwrap_or_default())
            }
        };
        let Some(part) = parts.get_mut(self.next) else {
            return Ok(false);
        };
        self.next += 1;
        run.slots[plan.registers.first] = Value::Str(std::mem::take(part));
        if plan.registers.count > 1 {
            run.slots[plan.registers.first + 1] = Value::BigInt(self.next as i64);
        }
        Ok(true)
    }
}
