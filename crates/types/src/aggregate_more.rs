//! The rarer aggregates: STDEV, VAR and their kin, CHECKSUM_AGG, STRING_AGG, and the percentiles of groups, which keep all values: their
//! results are exact, where a sketch of the values would do.

use crate::aggregate::Aggregate;
use crate::code_page::CodePage;
use crate::collation::Collation;
use crate::compare::order;
use crate::convert;
use crate::error::SqlError;
use crate::sql_type::{Length, SqlType};
use crate::value::Value;

/// The type of the result; `None` when the aggregate does not take the argument's type.
pub(crate) fn result_type(aggregate: Aggregate, argument: &SqlType) -> Option<SqlType> {
    match aggregate {
        Aggregate::StDev | Aggregate::StDevP | Aggregate::Var | Aggregate::VarP => {
            (argument.is_number() && *argument != SqlType::Bit).then_some(SqlType::Float)
        }
        Aggregate::ChecksumAgg => argument.is_integer().then_some(SqlType::Int),
        Aggregate::StringAgg => match *argument {
            SqlType::VarChar(Length::Max) => Some(SqlType::VarChar(Length::Max)),
            SqlType::NVarChar(Length::Max) => Some(SqlType::NVarChar(Length::Max)),
            SqlType::Char(_) | SqlType::VarChar(_) => Some(SqlType::VarChar(Length::Limit(8000))),
            SqlType::NChar(_) | SqlType::NVarChar(_) => Some(SqlType::NVarChar(Length::Limit(4000))),
            _ => None,
        },
        Aggregate::ApproxPercentile { continuous, .. } => {
            let ty = if continuous { SqlType::Float } else { *argument };
            argument.is_number().then_some(ty)
        }
        _ => None,
    }
}

/// What such an aggregate keeps from value to value.
#[derive(Debug, Clone)]
pub(crate) enum Extra {
    /// Nothing: another aggregate.
    None,
    /// The mean so far and the sum of squared distances from it (Welford's way, which loses no digits).
    Spread { mean: f64, squares: f64 },
    /// The exclusive or of all values.
    Checksum(i32),
    /// The text so far; its length in the units of its type, and the most there may be.
    Text { separator: String, joined: String, page: CodePage, units_max: Option<usize> },
    /// All values, and the place of the wanted one from 0 to 1.
    Percentile { place: f64, values: Vec<Value> },
}

impl Extra {
    /// The empty state of an aggregate.
    pub(crate) fn new(aggregate: Aggregate) -> Result<Extra, SqlError> {
        Ok(match aggregate {
            Aggregate::StDev | Aggregate::StDevP | Aggregate::Var | Aggregate::VarP => {
                Extra::Spread { mean: 0.0, squares: 0.0 }
            }
            Aggregate::ChecksumAgg => Extra::Checksum(0),
            Aggregate::StringAgg => return Err(SqlError::separator_not_constant()),
            Aggregate::ApproxPercentile { .. } => return Err(SqlError::percentile_out_of_range()),
            _ => Extra::None,
        })
    }

    /// The empty state of STRING_AGG, whose result is of type `ty`.
    pub(crate) fn joining(separator: &Value, ty: &SqlType, collation: Collation) -> Extra {
        let separator = separator.as_str().unwrap_or_default().to_owned();
        let units_max = match ty {
            SqlType::VarChar(Length::Limit(units)) | SqlType::NVarChar(Length::Limit(units)) => {
                Some(usize::from(*units))
            }
            _ => None,
        };
        Extra::Text { separator, joined: String::new(), page: collation.code_page().of(ty), units_max }
    }

    /// The empty state of a percentile.
    pub(crate) fn of_percentile(place: &Value) -> Result<Extra, SqlError> {
        let place = convert::as_f64(place).filter(|place| (0.0..=1.0).contains(place));
        let place = place.ok_or_else(SqlError::percentile_out_of_range)?;
        Ok(Extra::Percentile { place, values: Vec::new() })
    }

    /// Takes a value that is not NULL, the `count`th.
    pub(crate) fn add(&mut self, value: &Value, count: i64) -> Result<(), SqlError> {
        match self {
            Extra::None => {}
            Extra::Spread { mean, squares } => {
                let value = convert::as_f64(value).unwrap_or(0.0);
                let distance = value - *mean;
                *mean += distance / count as f64;
                *squares += distance * (value - *mean);
            }
            Extra::Checksum(sum) => {
                let value = value.as_i64().unwrap_or(0);
                *sum ^= value as i32 ^ (value >> 32) as i32 ^ if value < 0 { -1 } else { 0 };
            }
            Extra::Percentile { values, .. } => values.push(value.clone()),
            Extra::Text { separator, joined, page, units_max } => {
                let text = value.as_str().unwrap_or_default();
                crate::memory::reserve_text(joined, separator.len() + text.len())?;
                if count > 1 {
                    joined.push_str(separator);
                }
                joined.push_str(text);
                // Units are counted only where there can be too many.
                if units_max.is_some_and(|maximum| joined.len() > maximum && page.units(joined) > maximum) {
                    return Err(SqlError::string_agg_too_long());
                }
            }
        }
        Ok(())
    }

    /// The result over `count` values.
    ///
    /// # Errors
    /// 701.
    pub(crate) fn finish(&self, aggregate: Aggregate, count: i64, collation: Collation) -> Result<Value, SqlError> {
        Ok(match self {
            _ if count == 0 => Value::Null,
            Extra::None => Value::Null,
            Extra::Spread { squares, .. } => {
                let of_sample = matches!(aggregate, Aggregate::StDev | Aggregate::Var);
                let divisor = if of_sample { count - 1 } else { count };
                if divisor == 0 {
                    return Ok(Value::Null);
                }
                let variance = squares / divisor as f64;
                let is_root = matches!(aggregate, Aggregate::StDev | Aggregate::StDevP);
                Value::Float(if is_root { variance.sqrt() } else { variance })
            }
            Extra::Checksum(sum) => Value::Int(*sum),
            Extra::Text { joined, .. } => {
                crate::memory::ask(joined.len())?;
                Value::Str(joined.clone())
            }
            Extra::Percentile { place, values } => {
                let Aggregate::ApproxPercentile { continuous, descending } = aggregate else { return Ok(Value::Null) };
                let mut sorted: Vec<&Value> = values.iter().collect();
                sorted.sort_by(|one, other| {
                    let order = order(one, other, collation);
                    if descending { order.reverse() } else { order }
                });
                percentile(&sorted, *place, continuous)
            }
        })
    }
}

/// The value at a place from 0 to 1 of sorted values that are not NULL: between two of them, or the first one that has the place
/// at or before it. NULL of none.
pub fn percentile(sorted: &[&Value], place: f64, continuous: bool) -> Value {
    let Some(last) = sorted.len().checked_sub(1) else { return Value::Null };
    if !continuous {
        let behind = (place * sorted.len() as f64).ceil() as usize;
        return sorted[behind.saturating_sub(1).min(last)].clone();
    }
    let exact = place * last as f64;
    let at = |place: f64| convert::as_f64(sorted[(place as usize).min(last)]);
    match (at(exact.floor()), at(exact.ceil())) {
        (Some(low), Some(high)) => Value::Float(low + (high - low) * exact.fract()),
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregate::{Accumulator, aggregate_type};
    use crate::collation::Collation;

    fn over(aggregate: Aggregate, values: &[i32]) -> Value {
        let mut state = Accumulator::new(aggregate, &SqlType::Int, Collation::default()).expect("a number");
        values.iter().for_each(|value| drop(state.add(&Value::Int(*value))));
        state.finish().expect("a result")
    }

    #[test]
    fn spreads_are_of_samples_and_of_all() {
        let values = [2, 4, 4, 4, 5, 5, 7, 9];
        assert_eq!(over(Aggregate::StDevP, &values), Value::Float(2.0));
        assert_eq!(over(Aggregate::VarP, &values), Value::Float(4.0));
        let Value::Float(sample) = over(Aggregate::Var, &values) else { panic!("a float") };
        assert!((sample - 32.0 / 7.0).abs() < 1e-12);
        assert_eq!(over(Aggregate::StDev, &[3]), Value::Null);
        assert_eq!(over(Aggregate::StDevP, &[3]), Value::Float(0.0));
        assert_eq!(over(Aggregate::Var, &[]), Value::Null);
        assert_eq!(aggregate_type(Aggregate::Var, &SqlType::Date).map_err(|error| error.number), Err(8117));
    }

    #[test]
    fn texts_are_joined_up_to_their_limit() {
        let ty = SqlType::VarChar(Length::Limit(8000));
        let joining = || Accumulator::joining(&Value::from(", "), &ty, Collation::default()).expect("a text");
        let mut state = joining();
        assert_eq!(state.finish(), Ok(Value::Null));
        for text in ["a", "", "b"] {
            state.add(&Value::from(text)).expect("room");
        }
        assert_eq!(state.finish(), Ok(Value::from("a, , b")));
        let mut state = joining();
        state.add(&Value::Str("x".repeat(7999))).expect("room");
        assert_eq!(state.add(&Value::from("y")).map_err(|error| error.number), Err(9829));
        assert!(Accumulator::new(Aggregate::StringAgg, &ty, Collation::default()).is_err());
    }

    #[test]
    fn percentiles_are_of_values_or_between_them() {
        let over = |continuous, descending, place: f64, values: &[i32]| {
            let aggregate = Aggregate::ApproxPercentile { continuous, descending };
            let place = Value::Float(place);
            let state = Accumulator::of_percentile(aggregate, &place, &SqlType::Int, Collation::default());
            let mut state = state?;
            values.iter().for_each(|value| drop(state.add(&Value::Int(*value))));
            state.finish()
        };
        let values = [40, 10, 30, 20];
        assert_eq!(over(true, false, 0.5, &values), Ok(Value::Float(25.0)));
        assert_eq!(over(true, true, 0.25, &values), Ok(Value::Float(32.5)));
        assert_eq!(over(false, false, 0.5, &values), Ok(Value::Int(20)));
        assert_eq!(over(false, true, 0.5, &values), Ok(Value::Int(30)));
        assert_eq!(
            (over(false, false, 0.0, &values), over(false, false, 1.0, &values)),
            (Ok(10.into()), Ok(40.into()))
        );
        assert_eq!((over(true, false, 0.5, &[]), over(false, false, 0.5, &[])), (Ok(Value::Null), Ok(Value::Null)));
        assert_eq!(over(true, false, 1.5, &values).map_err(|error| error.number), Err(8731));
    }

    #[test]
    fn a_checksum_does_not_depend_on_the_order() {
        assert_eq!(over(Aggregate::ChecksumAgg, &[1, 5, 9]), over(Aggregate::ChecksumAgg, &[9, 1, 5]));
        assert_ne!(over(Aggregate::ChecksumAgg, &[1, 5, 9]), over(Aggregate::ChecksumAgg, &[1, 5, 8]));
        assert_eq!(over(Aggregate::ChecksumAgg, &[-3]), Value::Int(-3));
    }
}
