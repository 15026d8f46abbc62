//! Columns of values.
//!
//! ```text
//!   Same     one value that stands for every row
//!   Coded    64-bit integers that order and equal as the values do, NULLs beside them (an arrow array)
//!   Any      the values themselves
//! ```
//! A vector knows its values' type by what is in it, as [`Value`] does: so a column without a value in it is `Same(NULL)`.

use std::sync::Arc;

use arrow_array::{Array, Int64Array};
use arrow_buffer::NullBuffer;
use pikepole_types::{Date, DateTime, DateTime2, SmallDateTime, Time, Value};

use crate::expression::Width;

/// The types whose values are coded as integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    Integer(Width),
    Money,
    SmallMoney,
    Date,
    Time,
    DateTime,
    SmallDateTime,
    DateTime2,
}

impl Code {
    /// The code of a value's type, and the value in it; none for other types and NULL.
    pub(crate) fn encode(value: &Value) -> Option<(Code, i64)> {
        Some(match value {
            Value::Bit(v) => (Code::Integer(Width::Bit), i64::from(*v)),
            Value::TinyInt(v) => (Code::Integer(Width::Tiny), i64::from(*v)),
            Value::SmallInt(v) => (Code::Integer(Width::Small), i64::from(*v)),
            Value::Int(v) => (Code::Integer(Width::Int), i64::from(*v)),
            Value::BigInt(v) => (Code::Integer(Width::Big), *v),
            Value::Money(v) => (Code::Money, *v),
            Value::SmallMoney(v) => (Code::SmallMoney, i64::from(*v)),
            Value::Date(v) => (Code::Date, i64::from(v.days())),
            Value::Time(v) => (Code::Time, v.ticks()),
            Value::DateTime(v) => (Code::DateTime, v.ticks()),
            Value::SmallDateTime(v) => (Code::SmallDateTime, i64::from(v.minutes())),
            Value::DateTime2(v) => (Code::DateTime2, v.ticks()),
            _ => return None,
        })
    }

    /// The value of a code; NULL for a number that codes none.
    pub(crate) fn decode(self, code: i64) -> Value {
        let narrow = || i32::try_from(code).ok();
        match self {
            Code::Integer(width) => {
                let mut value = Value::Null;
                width.store(Some(code), &mut value);
                value
            }
            Code::Money => Value::Money(code),
            Code::SmallMoney => narrow().map_or(Value::Null, Value::SmallMoney),
            Code::Date => narrow().and_then(Date::from_days).map_or(Value::Null, Value::Date),
            Code::Time => Time::from_ticks(code).map_or(Value::Null, Value::Time),
            Code::DateTime => DateTime::from_ticks(code).map_or(Value::Null, Value::DateTime),
            Code::SmallDateTime => {
                narrow().and_then(SmallDateTime::from_minutes).map_or(Value::Null, Value::SmallDateTime)
            }
            Code::DateTime2 => DateTime2::from_ticks(code).map_or(Value::Null, Value::DateTime2),
        }
    }
}

/// A column of a batch. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) enum Vector {
    Same(Value),
    Coded(Code, Int64Array),
    Any(Arc<[Value]>),
}

impl Vector {
    /// The value in a row, into `out`.
    pub(crate) fn read(&self, row: usize, out: &mut Value) {
        match self {
            Vector::Same(value) => out.clone_from(value),
            Vector::Coded(_, codes) if codes.is_null(row) => *out = Value::Null,
            Vector::Coded(Code::Integer(width), codes) => width.store(Some(codes.value(row)), out),
            Vector::Coded(code, codes) => *out = code.decode(codes.value(row)),
            Vector::Any(values) => out.clone_from(&values[row]),
        }
    }

    /// Whether a row may be NULL.
    pub(crate) fn has_null(&self) -> bool {
        match self {
            Vector::Same(value) => value.is_null(),
            Vector::Coded(_, codes) => codes.null_count() > 0,
            Vector::Any(values) => values.iter().any(Value::is_null),
        }
    }

    /// The rows at these places, in this order.
    pub(crate) fn take(&self, rows: &[u32]) -> Vector {
        match self {
            Vector::Same(value) => Vector::Same(value.clone()),
            Vector::Coded(code, codes) => {
                let values = codes.values();
                let taken: Vec<i64> = rows.iter().map(|&row| values[row as usize]).collect();
                let nulls = codes.nulls().map(|nulls| rows.iter().map(|&row| nulls.is_valid(row as usize)).collect());
                Vector::Coded(*code, Int64Array::new(taken.into(), nulls))
            }
            Vector::Any(values) => Vector::Any(rows.iter().map(|&row| values[row as usize].clone()).collect()),
        }
    }

    /// The rows at these places; NULL where there is none.
    pub(crate) fn take_or_null(&self, rows: &[Option<u32>]) -> Vector {
        if rows.iter().all(Option::is_none) {
            return Vector::Same(Value::Null);
        }
        if let Vector::Coded(code, codes) = self {
            let taken: Vec<i64> = rows.iter().map(|row| row.map_or(0, |row| codes.values()[row as usize])).collect();
            let valid = |row: &Option<u32>| row.is_some_and(|row| codes.is_valid(row as usize));
            return Vector::Coded(*code, Int64Array::new(taken.into(), Some(rows.iter().map(valid).collect())));
        }
        let mut out = VectorBuilder::new();
        let mut value = Value::Null;
        for row in rows {
            match row {
                Some(row) => self.read(*row as usize, &mut value),
                None => value = Value::Null,
            }
            out.push(&value);
        }
        out.finish()
    }
}

/// Puts a vector together, value by value.
pub(crate) struct VectorBuilder {
    rows: usize,
    state: Building,
}

enum Building {
    /// Only NULLs so far.
    Nulls,
    Coded {
        code: Code,
        codes: Vec<i64>,
        /// Empty while no NULL was seen.
        valid: Vec<bool>,
    },
    Any(Vec<Value>),
}

impl VectorBuilder {
    pub(crate) fn new() -> VectorBuilder {
        VectorBuilder { rows: 0, state: Building::Nulls }
    }

    pub(crate) fn push(&mut self, value: &Value) {
        let rows = self.rows;
        self.rows += 1;
        match (&mut self.state, value) {
            (Building::Nulls, Value::Null) => return,
            (Building::Coded { codes, valid, .. }, Value::Null) => {
                if valid.is_empty() {
                    valid.resize(rows, true);
                }
                codes.push(0);
                valid.push(false);
                return;
            }
            (Building::Any(values), value) => {
                values.push(value.clone());
                return;
            }
            _ => {}
        }
        match (&mut self.state, Code::encode(value)) {
            (Building::Coded { code, codes, valid }, Some((own, coded))) if *code == own => {
                codes.push(coded);
                if !valid.is_empty() {
                    valid.push(true);
                }
            }
            (Building::Nulls, Some((code, coded))) => {
                let mut codes = vec![0; rows];
                codes.push(coded);
                let mut valid = vec![false; rows];
                if rows > 0 {
                    valid.push(true);
                }
                self.state = Building::Coded { code, codes, valid };
            }
            // A value of another kind than those before.
            (state, _) => {
                let before = std::mem::replace(state, Building::Nulls);
                let mut values = before.into_values(rows);
                values.push(value.clone());
                self.state = Building::Any(values);
            }
        }
    }

    pub(crate) fn finish(self) -> Vector {
        match self.state {
            Building::Nulls => Vector::Same(Value::Null),
            Building::Coded { code, codes, valid } => {
                let nulls = (!valid.is_empty()).then(|| NullBuffer::from(valid));
                Vector::Coded(code, Int64Array::new(codes.into(), nulls))
            }
            Building::Any(values) => Vector::Any(values.into()),
        }
    }
}

impl Building {
    fn into_values(self, rows: usize) -> Vec<Value> {
        match self {
            Building::Nulls => vec![Value::Null; rows],
            Building::Coded { code, codes, valid } => {
                let is_valid = |row: usize| valid.get(row).copied().unwrap_or(true);
                let decode = |(row, coded)| if is_valid(row) { code.decode(coded) } else { Value::Null };
                codes.into_iter().enumerate().map(decode).collect()
            }
            Building::Any(values) => values,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values() -> Vec<Value> {
        let mut values = vec![
            Value::Null,
            Value::Bit(true),
            Value::TinyInt(255),
            Value::SmallInt(-3),
            Value::Int(i32::MIN),
            Value::BigInt(i64::MAX),
            Value::Money(-1),
            Value::SmallMoney(7),
            Value::Float(1.5),
            Value::Str("x".into()),
        ];
        values.extend(Date::from_days(700_000).map(Value::Date));
        values.extend(Time::from_ticks(1).map(Value::Time));
        values.extend(DateTime::from_ticks(12_345_678).map(Value::DateTime));
        values.extend(SmallDateTime::from_minutes(99).map(Value::SmallDateTime));
        values.extend(DateTime2::from_ticks(5).map(Value::DateTime2));
        values
    }

    #[test]
    fn a_vector_gives_back_what_was_put_in() {
        let all = values();
        // Runs of one kind with NULLs around them, and everything mixed.
        let mut columns: Vec<Vec<Value>> = all
            .iter()
            .map(|value| vec![Value::Null, value.clone(), Value::Null, value.clone(), value.clone()])
            .collect();
        columns.push(all);
        columns.push(vec![Value::Int(1), Value::Null, Value::BigInt(2), Value::Null]);
        for column in columns {
            let mut builder = VectorBuilder::new();
            column.iter().for_each(|value| builder.push(value));
            let vector = builder.finish();
            let mut out = Value::Null;
            for (row, value) in column.iter().enumerate() {
                vector.read(row, &mut out);
                assert_eq!(&out, value, "row {row} of {column:?}");
            }
            let last = u32::try_from(column.len() - 1).expect("a short column");
            vector.take(&[last, 0]).read(0, &mut out);
            assert_eq!(out, column[last as usize]);
            let taken = vector.take_or_null(&[None, Some(last)]);
            taken.read(0, &mut out);
            assert_eq!(out, Value::Null);
            taken.read(1, &mut out);
            assert_eq!(out, column[last as usize]);
        }
    }
}
