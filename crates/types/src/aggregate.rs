//! Aggregates: COUNT, SUM, AVG, MIN and MAX over values of one type.

use crate::aggregate_more::{self, Extra};
use crate::arithmetic::{ArithmeticOp, arithmetic_into};
use crate::collation::Collation;
use crate::compare::order;
use crate::convert;
use crate::decimal::Decimal;
use crate::error::SqlError;
use crate::sql_type::SqlType;
use crate::value::Value;
use std::cmp::Ordering;

/// Which aggregate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Aggregate {
    /// `COUNT`, an `int`.
    Count,
    /// `COUNT_BIG`, a `bigint`.
    CountBig,
    /// `SUM`
    Sum,
    /// `AVG`
    Avg,
    /// `MIN`
    Min,
    /// `MAX`
    Max,
    /// `STDEV`
    StDev,
    /// `STDEVP`
    StDevP,
    /// `VAR`
    Var,
    /// `VARP`
    VarP,
    /// `CHECKSUM_AGG`
    ChecksumAgg,
    /// `STRING_AGG`; its states are made by [`Accumulator::joining`].
    StringAgg,
    /// `APPROX_PERCENTILE_CONT` and `APPROX_PERCENTILE_DISC`; their states are made by [`Accumulator::of_percentile`].
    ApproxPercentile {
        /// `CONT`: between two values, a float.
        continuous: bool,
        /// WITHIN GROUP (ORDER BY ... DESC)
        descending: bool,
    },
}

impl Aggregate {
    /// An aggregate by its name, upper or lower case.
    pub fn by_name(name: &str) -> Option<Aggregate> {
        Some(match name.to_ascii_uppercase().as_str() {
            "COUNT" => Aggregate::Count,
            "COUNT_BIG" => Aggregate::CountBig,
            "SUM" => Aggregate::Sum,
            "AVG" => Aggregate::Avg,
            "MIN" => Aggregate::Min,
            "MAX" => Aggregate::Max,
            "STDEV" => Aggregate::StDev,
            "STDEVP" => Aggregate::StDevP,
            "VAR" => Aggregate::Var,
            "VARP" => Aggregate::VarP,
            "CHECKSUM_AGG" => Aggregate::ChecksumAgg,
            "STRING_AGG" => Aggregate::StringAgg,
            "APPROX_PERCENTILE_CONT" => Aggregate::ApproxPercentile { continuous: true, descending: false },
            "APPROX_PERCENTILE_DISC" => Aggregate::ApproxPercentile { continuous: false, descending: false },
            _ => return None,
        })
    }

    /// Its name in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Aggregate::Count => "count",
            Aggregate::CountBig => "count_big",
            Aggregate::Sum => "sum",
            Aggregate::Avg => "avg",
            Aggregate::Min => "min",
            Aggregate::Max => "max",
            Aggregate::StDev => "stdev",
            Aggregate::StDevP => "stdevp",
            Aggregate::Var => "var",
            Aggregate::VarP => "varp",
            Aggregate::ChecksumAgg => "checksum_agg",
            Aggregate::StringAgg => "string_agg",
            Aggregate::ApproxPercentile { continuous: true, .. } => "approx_percentile_cont",
            Aggregate::ApproxPercentile { .. } => "approx_percentile_disc",
        }
    }
}

/// The type of an aggregate's result: sums of small integers are `int`, of decimals have 38 digits, averages of integers
/// are integers.
///
/// # Errors
/// 8117 when the aggregate does not take the type.
pub fn aggregate_type(aggregate: Aggregate, argument: &SqlType) -> Result<SqlType, SqlError> {
    let refused = || SqlError::operand_type_invalid(argument.error_name(), aggregate.name());
    match aggregate {
        _ if argument.is_text_or_image() => Err(refused()),
        Aggregate::Count => Ok(SqlType::Int),
        Aggregate::CountBig => Ok(SqlType::BigInt),
        Aggregate::Min | Aggregate::Max => match argument {
            SqlType::Bit => Err(refused()),
            _ => Ok(*argument),
        },
        Aggregate::Sum | Aggregate::Avg => Ok(match *argument {
            SqlType::TinyInt | SqlType::SmallInt | SqlType::Int => SqlType::Int,
            SqlType::BigInt => SqlType::BigInt,
            SqlType::Decimal { scale, .. } if aggregate == Aggregate::Sum => SqlType::Decimal { precision: 38, scale },
            SqlType::Decimal { scale, .. } => SqlType::Decimal { precision: 38, scale: scale.max(6) },
            SqlType::Money | SqlType::SmallMoney => SqlType::Money,
            SqlType::Real | SqlType::Float => SqlType::Float,
            _ => return Err(refused()),
        }),
        _ => aggregate_more::result_type(aggregate, argument).ok_or_else(refused),
    }
}

/// The running state of one aggregate.
///
/// Sums and averages of integers and money add up as 128-bit integers: only what does not fit at the end is an overflow,
/// whatever the order of the values. So states of parts can be merged, see [`Accumulator::merge`].
#[derive(Debug, Clone)]
pub struct Accumulator {
    aggregate: Aggregate,
    argument: SqlType,
    /// The type of a running sum.
    sum_type: SqlType,
    collation: Collation,
    /// Values that were not NULL.
    count: i64,
    /// The sum of what counts in whole numbers: integers, and ten-thousandths of money.
    whole: i128,
    /// Any other sum, or the extreme so far.
    state: Value,
    /// What the rarer aggregates keep.
    extra: Extra,
}

impl Accumulator {
    /// An empty one; `argument` is the type of the values that come.
    ///
    /// # Errors
    /// As [`aggregate_type`].
    pub fn new(aggregate: Aggregate, argument: &SqlType, collation: Collation) -> Result<Accumulator, SqlError> {
        aggregate_type(aggregate, argument)?;
        let extra = Extra::new(aggregate)?;
        let sum_type = aggregate_type(Aggregate::Sum, argument).unwrap_or(*argument);
        let state = Value::Null;
        Ok(Accumulator { aggregate, argument: *argument, sum_type, collation, count: 0, whole: 0, state, extra })
    }

    /// An empty STRING_AGG, with what it puts between two texts.
    ///
    /// # Errors
    /// As [`aggregate_type`].
    pub fn joining(separator: &Value, argument: &SqlType, collation: Collation) -> Result<Accumulator, SqlError> {
        let ty = aggregate_type(Aggregate::StringAgg, argument)?;
        let count = Accumulator::new(Aggregate::Count, argument, collation)?;
        Ok(Accumulator { aggregate: Aggregate::StringAgg, extra: Extra::joining(separator, &ty, collation), ..count })
    }

    /// An empty APPROX_PERCENTILE_CONT or APPROX_PERCENTILE_DISC of a place between 0 and 1.
    ///
    /// # Errors
    /// As [`aggregate_type`]; 8731 for another place.
    pub fn of_percentile(
        aggregate: Aggregate,
        place: &Value,
        argument: &SqlType,
        collation: Collation,
    ) -> Result<Accumulator, SqlError> {
        aggregate_type(aggregate, argument)?;
        let count = Accumulator::new(Aggregate::Count, argument, collation)?;
        Ok(Accumulator { aggregate, extra: Extra::of_percentile(place)?, ..count })
    }

    /// Counts a row for `COUNT(*)`.
    pub fn add_row(&mut self) {
        self.count += 1;
    }

    /// Whether the values add up in whole numbers, so that [`Accumulator::add_sum`] takes them.
    pub fn sums_whole(&self) -> bool {
        let is_sum = matches!(self.aggregate, Aggregate::Sum | Aggregate::Avg);
        is_sum && matches!(self.sum_type, SqlType::Int | SqlType::BigInt | SqlType::Money)
    }

    /// The digits behind the point of decimals that add up, so that [`Accumulator::add_digits`] takes them; none for other values.
    pub fn summed_scale(&self) -> Option<u8> {
        let is_sum = matches!(self.aggregate, Aggregate::Sum | Aggregate::Avg);
        match self.argument {
            SqlType::Decimal { scale, .. } if is_sum => Some(scale),
            _ => None,
        }
    }

    /// Whether the states of parts give, merged in any order, what one state over all would: not so for sums of floats, which
    /// depend on the order of their values, nor for the extremes of types whose values can be equal and yet differ, nor for the
    /// rarer aggregates, which keep more than one value.
    pub fn merges(&self) -> bool {
        let counts = matches!(self.aggregate, Aggregate::Count | Aggregate::CountBig);
        let adds = matches!(self.aggregate, Aggregate::Sum | Aggregate::Avg | Aggregate::Min | Aggregate::Max);
        let ordered = matches!(self.argument, SqlType::Real | SqlType::Float | SqlType::DateTimeOffset(_));
        counts || (adds && !(ordered || self.argument.is_string()))
    }

    /// Takes many values that are not NULL by their number alone; for counts.
    pub fn add_count(&mut self, count: i64) {
        self.count += count;
    }

    /// Takes many values that are not NULL by their number and sum, where [`Accumulator::sums_whole`].
    pub fn add_sum(&mut self, count: i64, sum: i128) {
        self.count += count;
        self.whole += sum;
    }

    /// Takes many values that are not NULL by their number and the digits of their sum, without the point, where
    /// there is a [`Accumulator::summed_scale`].
    ///
    /// # Errors
    /// 8115 when the sum overflows.
    pub fn add_digits(&mut self, count: i64, sum: i128) -> Result<(), SqlError> {
        if count > 0 {
            self.count += count;
            let sum = Decimal::new(sum, crate::decimal::PRECISION_MAX, self.sum_type.scale());
            self.add_partial_sum(&Value::Decimal(sum.ok_or_else(|| self.overflow())?))?;
        }
        Ok(())
    }

    /// Takes many values that are not NULL by their number and the least (MIN) or largest (MAX) of them.
    pub fn add_extreme(&mut self, count: i64, extreme: &Value) {
        self.count += count;
        self.take_extreme(extreme);
    }

    /// Takes one value; NULL does not count. Gives whether it was counted.
    ///
    /// # Errors
    /// 8115 when the sum overflows.
    pub fn add(&mut self, value: &Value) -> Result<bool, SqlError> {
        if value.is_null() {
            return Ok(false);
        }
        self.count += 1;
        match self.aggregate {
            Aggregate::Count | Aggregate::CountBig => {}
            Aggregate::Sum | Aggregate::Avg => self.add_to_sum(value)?,
            Aggregate::Min | Aggregate::Max => self.take_extreme(value),
            _ => self.extra.add(value, self.count)?,
        }
        Ok(true)
    }

    /// Takes what another state of the same aggregate, over other rows, has taken.
    ///
    /// # Errors
    /// 8115 when the sum overflows.
    pub fn merge(&mut self, other: &Accumulator) -> Result<(), SqlError> {
        self.count += other.count;
        self.whole += other.whole;
        match (self.aggregate, &other.state) {
            (_, Value::Null) | (Aggregate::Count | Aggregate::CountBig, _) => {}
            (Aggregate::Min | Aggregate::Max, extreme) => self.take_extreme(extreme),
            (_, sum) => self.add_partial_sum(sum)?,
        }
        Ok(())
    }

    fn take_extreme(&mut self, value: &Value) {
        let wanted = if self.aggregate == Aggregate::Min { Ordering::Less } else { Ordering::Greater };
        if self.state.is_null() || order(value, &self.state, self.collation) == wanted {
            self.state.clone_from(value);
        }
    }

    fn overflow(&self) -> SqlError {
        SqlError::arithmetic_overflow("expression", self.sum_type.error_name())
    }

    fn add_to_sum(&mut self, value: &Value) -> Result<(), SqlError> {
        if self.sums_whole() {
            let whole = match value {
                Value::Money(money) => Some(*money),
                Value::SmallMoney(money) => Some(i64::from(*money)),
                integer => integer.as_i64(),
            };
            self.whole += i128::from(whole.unwrap_or(0));
            return Ok(());
        }
        match &self.state {
            Value::Null => self.state = convert::convert(value, &self.argument, &self.sum_type, None)?,
            _ => self.add_partial_sum(value)?,
        }
        Ok(())
    }

    /// Adds to a sum that is not in whole numbers.
    fn add_partial_sum(&mut self, value: &Value) -> Result<(), SqlError> {
        match (&self.state, value) {
            (Value::Null, _) => self.state.clone_from(value),
            (Value::Decimal(sum), Value::Decimal(next)) => {
                // In the type of the sum: the operator's own would grow with every row.
                let sum = sum.mantissa().checked_add(next.mantissa()).ok_or_else(|| self.overflow())?;
                let scale = self.sum_type.scale();
                self.state = Value::Decimal(Decimal::new(sum, 38, scale).ok_or_else(|| self.overflow())?);
            }
            _ => {
                let sum = std::mem::take(&mut self.state);
                arithmetic_into(ArithmeticOp::Add, &sum, value, &mut self.state)?;
            }
        }
        Ok(())
    }

    /// The result: counts are 0 and all others NULL when nothing was counted.
    ///
    /// # Errors
    /// 8115 when a count, sum or average does not fit its type; 701.
    pub fn finish(&self) -> Result<Value, SqlError> {
        match self.aggregate {
            Aggregate::CountBig => Ok(Value::BigInt(self.count)),
            Aggregate::Count => {
                let overflow = |_| SqlError::arithmetic_overflow("expression", "int");
                i32::try_from(self.count).map(Value::Int).map_err(overflow)
            }
            _ if self.count == 0 => Ok(Value::Null),
            Aggregate::Sum if self.sums_whole() => self.whole_value(self.whole),
            Aggregate::Avg if self.sums_whole() => self.whole_value(self.whole / i128::from(self.count)),
            Aggregate::Avg => self.average(),
            Aggregate::Sum | Aggregate::Min | Aggregate::Max => {
                crate::memory::ask(self.state.text_bytes())?;
                Ok(self.state.clone())
            }
            _ => self.extra.finish(self.aggregate, self.count, self.collation),
        }
    }

    /// A whole number as a value of the sum's type.
    fn whole_value(&self, whole: i128) -> Result<Value, SqlError> {
        let value = match self.sum_type {
            SqlType::Int => i32::try_from(whole).ok().map(Value::Int),
            SqlType::Money => i64::try_from(whole).ok().map(Value::Money),
            _ => i64::try_from(whole).ok().map(Value::BigInt),
        };
        value.ok_or_else(|| self.overflow())
    }

    fn average(&self) -> Result<Value, SqlError> {
        let count = i128::from(self.count);
        let ty = aggregate_type(Aggregate::Avg, &self.argument)?;
        let overflow = || SqlError::arithmetic_overflow("expression", ty.error_name());
        Ok(match &self.state {
            Value::Float(sum) => Value::Float(sum / self.count as f64),
            Value::Decimal(sum) => {
                let mantissa = sum.mantissa_at(ty.scale()).ok_or_else(overflow)? / count;
                Value::Decimal(Decimal::new(mantissa, 38, ty.scale()).ok_or_else(overflow)?)
            }
            _ => Value::Null,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn over(aggregate: Aggregate, ty: SqlType, values: &[Value]) -> Result<Value, SqlError> {
        let mut accumulator = Accumulator::new(aggregate, &ty, Collation::default())?;
        for value in values {
            accumulator.add(value)?;
        }
        accumulator.finish()
    }

    #[test]
    fn results_and_types() {
        let ints = [Value::Int(1), Value::Null, Value::Int(4)];
        assert_eq!(over(Aggregate::Count, SqlType::Int, &ints), Ok(Value::Int(2)));
        assert_eq!(over(Aggregate::Sum, SqlType::Int, &ints), Ok(Value::Int(5)));
        assert_eq!(over(Aggregate::Avg, SqlType::Int, &ints), Ok(Value::Int(2)));
        assert_eq!(over(Aggregate::Max, SqlType::Int, &ints), Ok(Value::Int(4)));
        assert_eq!(over(Aggregate::Sum, SqlType::Int, &[Value::Null]), Ok(Value::Null));
        let edge = [Value::Int(i32::MAX), Value::Int(1)];
        assert_eq!(over(Aggregate::Sum, SqlType::Int, &edge).unwrap_err().number, 8115);
        assert_eq!(over(Aggregate::Avg, SqlType::Int, &edge), Ok(Value::Int(1 << 30)));
        let tiny = [Value::TinyInt(200), Value::TinyInt(100)];
        assert_eq!(over(Aggregate::Sum, SqlType::TinyInt, &tiny), Ok(Value::Int(300)));
        let d = |text: &str| Value::Decimal(Decimal::from_literal(text).expect("literal"));
        let ty = SqlType::Decimal { precision: 3, scale: 2 };
        let average = over(Aggregate::Avg, ty, &[d("1.00"), d("1.01"), d("1.00")]).expect("an average");
        assert_eq!(crate::display::to_text(&average, &ty), "1.003333");
        assert_eq!(over(Aggregate::Min, ty, &[d("1.01"), d("1.00")]), Ok(d("1.00")));
        assert_eq!(
            aggregate_type(Aggregate::Sum, &SqlType::Date).unwrap_err().message,
            "Operand data type date is invalid for sum operator."
        );
        assert_eq!(aggregate_type(Aggregate::Max, &SqlType::Bit).unwrap_err().number, 8117);
    }

    #[test]
    fn merged_parts_give_the_whole() {
        let money = |v: i64| Value::Money(v);
        let decimal = |text: &str| Value::Decimal(Decimal::from_literal(text).expect("literal"));
        let cases = [
            (SqlType::Int, vec![Value::Int(i32::MAX), Value::Int(5), Value::Null, Value::Int(-7)]),
            (SqlType::BigInt, vec![Value::BigInt(i64::MAX), Value::BigInt(1), Value::BigInt(-9)]),
            (SqlType::Money, vec![money(i64::MAX), money(10), money(-11)]),
            (SqlType::Decimal { precision: 9, scale: 2 }, vec![decimal("1.25"), decimal("2.50"), Value::Null]),
            (SqlType::Int, vec![Value::Null]),
        ];
        let aggregates =
            [Aggregate::Count, Aggregate::CountBig, Aggregate::Sum, Aggregate::Avg, Aggregate::Min, Aggregate::Max];
        for (ty, values) in cases {
            for aggregate in aggregates {
                let whole = over(aggregate, ty, &values);
                for split in 0..=values.len() {
                    let part = |values: &[Value]| {
                        let mut part = Accumulator::new(aggregate, &ty, Collation::default()).expect("a type it takes");
                        for value in values {
                            part.add(value).expect("it fits");
                        }
                        part
                    };
                    let mut merged = part(&values[..split]);
                    merged.merge(&part(&values[split..])).expect("it fits");
                    assert_eq!(merged.finish(), whole, "{aggregate:?} of {values:?} split at {split}");
                }
            }
        }
    }
}
