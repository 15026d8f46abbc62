//! The question whether there is memory for a large value, which everything that makes one asks first.
//!
//! | what is made | who asks |
//! |---|---|
//! | as long as its arguments, or a few times as long | who evaluates the expression, for all functions and operators alike |
//! | longer than its arguments: REPLACE, REPLICATE, STRING_AGG, DECOMPRESS | the function, by [`reserve_text`] and [`reserve_bytes`] |
//! | many small things: trees of XML, rows of JSON, syntax trees | the loop that makes them, by [`Growth`] |

use crate::SqlError;
use pikepole_machine::memory;

/// The pool of memory that messages name.
const POOL: &str = "default";

/// Steps between two looks.
const STEPS_A_LOOK: u32 = 1024;

/// Values shorter than this are copied and computed without asking.
pub const SMALL_BYTES: usize = memory::ASK_BYTES / 4;

/// # Errors
/// 701 when there is not enough memory for a value of so many bytes.
#[inline]
pub fn ask(bytes: usize) -> Result<(), SqlError> {
    memory::ask(bytes).map_err(|_| insufficient())
}

#[cold]
fn insufficient() -> SqlError {
    SqlError::insufficient_memory(POOL)
}

/// Makes room for so many bytes more, twice as much as there was at least.
///
/// # Errors
/// 701 when there is not enough memory.
#[inline]
pub fn reserve_text(text: &mut String, more: usize) -> Result<(), SqlError> {
    if text.capacity() - text.len() < more {
        ask(grown(text.len(), text.capacity(), more))?;
        text.reserve(more);
    }
    Ok(())
}

/// As [`reserve_text`].
///
/// # Errors
/// As of [`reserve_text`].
#[inline]
pub fn reserve_bytes(bytes: &mut Vec<u8>, more: usize) -> Result<(), SqlError> {
    if bytes.capacity() - bytes.len() < more {
        ask(grown(bytes.len(), bytes.capacity(), more))?;
        bytes.reserve(more);
    }
    Ok(())
}

/// The size of a buffer that grows.
fn grown(len: usize, capacity: usize, more: usize) -> usize {
    len.saturating_add(more).max(capacity.saturating_mul(2))
}

/// Watches something that grows by small steps.
#[derive(Debug, Clone)]
pub struct Growth {
    since: i64,
    steps: u32,
}

impl Default for Growth {
    fn default() -> Growth {
        Growth::begin()
    }
}

impl Growth {
    /// Growth counts from here on.
    pub fn begin() -> Growth {
        Growth { since: memory::task_heap().all, steps: 0 }
    }

    /// Something small was made.
    ///
    /// # Errors
    /// 701 when all of it together is too much.
    #[inline]
    pub fn step(&mut self) -> Result<(), SqlError> {
        self.steps = self.steps.wrapping_add(1);
        if self.steps.is_multiple_of(STEPS_A_LOOK) { self.look() } else { Ok(()) }
    }

    /// Looks now.
    ///
    /// # Errors
    /// As of [`Growth::step`].
    #[cold]
    pub fn look(&self) -> Result<(), SqlError> {
        memory::look_at_growth(self.since).map_err(|_| insufficient())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Context, DateTimeOffset, Length, SqlType, Value};

    #[test]
    fn what_does_not_fit_is_error_701() {
        let budget = memory::Budget::new(64 << 20);
        memory::set_budget(Some(budget));
        let mut text = String::from("x");
        assert_eq!(reserve_text(&mut text, 1000), Ok(()));
        let refused = reserve_text(&mut text, 60 << 20).expect_err("nearly all there is");
        assert_eq!((refused.number, refused.severity, refused.state), (701, 17, 123));
        assert!(text.capacity() < 4000);
        let mut bytes = Vec::new();
        assert!(reserve_bytes(&mut bytes, usize::MAX).is_err(), "no sum overflows");
        memory::set_budget(None);
        assert_eq!(reserve_bytes(&mut bytes, 1 << 20), Ok(()));
    }

    #[test]
    fn a_conversion_that_may_fail_does_not_hide_that_memory_is_short() {
        let budget = memory::Budget::new(64 << 20);
        memory::set_budget(Some(budget));
        let text = Value::Str("x".repeat(30 << 20));
        let context = Context::new(DateTimeOffset::new(0, 0).expect("a time"), 0);
        let converted =
            context.try_convert(&text, &SqlType::NVarChar(Length::Max), &SqlType::VarBinary(Length::Max), None);
        memory::set_budget(None);
        assert_eq!(converted.expect_err("twice 30 MB").number, 701);
    }
}
