//! WAITFOR: how long a statement says to wait, or until when.

use super::Machine;
use crate::clock::ticks_of_text;
use crate::context::look;
use crate::expression::{Expr, Fault};
use pikepole_contention::WaitType;
use pikepole_scheduler as scheduler;
use pikepole_types::{SqlError, SqlType, Value};
use std::time::Duration;

const SECOND_TICKS: i64 = 10_000_000;
const DAY_TICKS: i64 = 86_400 * SECOND_TICKS;

/// What a value says: a number is one of seconds, which none that is negative ever reaches.
///
/// # Errors
/// 241 for a text that is no time, 9815 for a type whose values are none.
fn ticks_of(value: &Value, ty: &SqlType) -> Result<i64, SqlError> {
    match (ty, value) {
        (SqlType::Int | SqlType::SmallInt, number) => {
            let seconds = number.as_i64().unwrap_or(0);
            Ok(if seconds < 0 { i64::MAX } else { seconds * SECOND_TICKS })
        }
        (SqlType::DateTime, moment) => match pikepole_types::convert(moment, ty, &SqlType::Time(7), None)? {
            Value::Time(time) => Ok(time.ticks()),
            _ => Ok(0),
        },
        (ty, Value::Str(text)) if ty.is_string() => {
            let ticks = if ty.is_max() { None } else { ticks_of_text(text) };
            ticks.ok_or_else(SqlError::text_is_not_a_date)
        }
        _ => Err(SqlError::waitfor_type_invalid(ty.error_name())),
    }
}

impl Machine<'_> {
    pub(super) async fn wait_for(&mut self, time: &Expr, ty: &SqlType, until: bool) -> Result<(), Fault> {
        let value = time.eval(&mut self.env())?;
        if value.is_null() {
            return Ok(());
        }
        let ticks = ticks_of(&value, ty)?;
        let ticks = match until && ticks < i64::MAX {
            true => (ticks - crate::clock::now().utc_ticks()).rem_euclid(DAY_TICKS),
            false => ticks,
        };
        let ticks = u64::try_from(ticks).unwrap_or(0);
        let time = Duration::from_nanos(ticks.saturating_mul(100));
        self.context.rest();
        let cancelled = &self.context.cancelled;
        let slept = async {
            scheduler::sleep(time).await;
            Ok(())
        };
        let delay = pikepole_engine::awaited(slept, None, || look(cancelled));
        scheduler::wait(WaitType::WAITFOR, delay).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_a_time_without_a_date() {
        let seconds = |text| ticks_of_text(text).map(|ticks| ticks / SECOND_TICKS);
        assert_eq!(seconds("00:00:05"), Some(5));
        assert_eq!(seconds(" 000:01:05 "), Some(65));
        assert_eq!(seconds("1:00 PM"), Some(13 * 3600));
        assert_eq!(seconds(""), Some(0));
        for wrong in ["100:00:00", "24:00", "00:60", "2020-01-01 00:00:05", "soon", "5s"] {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_number_is_one_of_seconds() {
        assert_eq!(ticks_of(&Value::Int(2), &SqlType::Int), Ok(2 * SECOND_TICKS));
        assert_eq!(ticks_of(&Value::SmallInt(-1), &SqlType::SmallInt), Ok(i64::MAX));
        let refused = ticks_of(&Value::BigInt(1), &SqlType::BigInt).map_err(|error| (error.number, error.message));
        assert_eq!(refused, Err((9815, "Waitfor delay and waitfor time cannot be of type bigint.".to_string())));
    }
}
