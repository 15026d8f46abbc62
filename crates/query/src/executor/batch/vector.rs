//! Columns of values.
//!
//! ```text
//!   Same     one value that stands for every row
//!   Coded    64-bit integers that order and equal as the values do, NULLs beside them (an arrow array)
//!   Texts    texts, one behind the other, NULLs beside them
//!   Any      the values themselves
//! ```
//! A vector knows its values' type by what is in it, as [`Value`] does: so a column without a value in it is `Same(NULL)`.

use std::sync::Arc;

use arrow_array::{Array, Int64Array};
use arrow_buffer::NullBuffer;
use pikepole_types::{
    ColumnData, ColumnReader, Date, DateTime, DateTime2, Decimal, SmallDateTime, SqlType, Time, Value,
};

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
    /// Of any precision, as long as 64 bits hold the digits.
    Decimal {
        precision: u8,
        scale: u8,
    },
}

impl Code {
    /// The code of the values of a type whose columns are read as codes.
    fn of(ty: &SqlType) -> Code {
        match *ty {
            SqlType::Bit => Code::Integer(Width::Bit),
            SqlType::TinyInt => Code::Integer(Width::Tiny),
            SqlType::SmallInt => Code::Integer(Width::Small),
            SqlType::Int => Code::Integer(Width::Int),
            SqlType::Money => Code::Money,
            SqlType::SmallMoney => Code::SmallMoney,
            SqlType::Date => Code::Date,
            SqlType::Time(_) => Code::Time,
            SqlType::DateTime => Code::DateTime,
            SqlType::SmallDateTime => Code::SmallDateTime,
            SqlType::DateTime2(_) => Code::DateTime2,
            SqlType::Decimal { precision, scale } => Code::Decimal { precision, scale },
            _ => Code::Integer(Width::Big),
        }
    }

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
            Value::Decimal(v) => {
                let code = Code::Decimal { precision: v.precision(), scale: v.scale() };
                (code, i64::try_from(v.mantissa()).ok()?)
            }
            _ => return None,
        })
    }

    /// The value of a code; NULL for a number that codes none.
    pub(crate) fn decode(self, code: i64) -> Value {
        let narrow = || i32::try_from(code).ok();
        match self {
            Code::Integer(width) => width.value(code),
            Code::Money => Value::Money(code),
            Code::SmallMoney => narrow().map_or(Value::Null, Value::SmallMoney),
            Code::Date => narrow().and_then(Date::from_days).map_or(Value::Null, Value::Date),
            Code::Time => Time::from_ticks(code).map_or(Value::Null, Value::Time),
            Code::DateTime => DateTime::from_ticks(code).map_or(Value::Null, Value::DateTime),
            Code::SmallDateTime => {
                narrow().and_then(SmallDateTime::from_minutes).map_or(Value::Null, Value::SmallDateTime)
            }
            Code::DateTime2 => DateTime2::from_ticks(code).map_or(Value::Null, Value::DateTime2),
            Code::Decimal { precision, scale } => {
                Decimal::new(code.into(), precision, scale).map_or(Value::Null, Value::Decimal)
            }
        }
    }
}

/// Bytes of the texts of a column, at most: their ends are numbers of 32 bits.
const TEXTS_BYTES_MAX: usize = i32::MAX as usize;

/// A column of a batch. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) enum Vector {
    Same(Value),
    Coded(Code, Int64Array),
    Texts(Texts),
    Any(Arc<[Value]>),
}

/// Texts of each row.
#[derive(Debug, Clone)]
pub(crate) struct Texts {
    text: Arc<str>,
    /// Where each ends.
    ends: Arc<[i32]>,
    nulls: Option<NullBuffer>,
}

impl Texts {
    /// The text of a row; none for NULL.
    #[inline]
    pub(crate) fn get(&self, row: usize) -> Option<&str> {
        if self.is_null(row) {
            return None;
        }
        let begin = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.text.get(begin as usize..self.ends[row] as usize)
    }

    fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
    }

    fn take(&self, rows: impl ExactSizeIterator<Item = Option<u32>>) -> Texts {
        let mut taken = Building::texts(rows.len());
        let mut valid = Vec::new();
        for (place, row) in rows.enumerate() {
            let text = row.and_then(|row| self.get(row as usize));
            note(&mut valid, place, text.is_some());
            taken.push_text(text.unwrap_or_default());
        }
        taken.into_texts(valid)
    }
}

impl Vector {
    /// The column that rows were read into.
    pub(crate) fn of_reader(reader: ColumnReader) -> Vector {
        let ty = *reader.sql_type();
        let (valid, data) = reader.finish();
        if !valid.is_empty() && !valid.contains(&true) {
            return Vector::Same(Value::Null);
        }
        let nulls = nulls(valid);
        match data {
            ColumnData::Codes(codes) => Vector::Coded(Code::of(&ty), Int64Array::new(codes.into(), nulls)),
            ColumnData::Texts { text, ends } => Vector::Texts(Texts { text: text.into(), ends: ends.into(), nulls }),
            ColumnData::Values(values) => Vector::Any(values.into()),
        }
    }

    /// The value in a row, into `out`.
    pub(crate) fn read(&self, row: usize, out: &mut Value) {
        match self {
            Vector::Same(value) => out.clone_from(value),
            Vector::Coded(_, codes) if codes.is_null(row) => *out = Value::Null,
            Vector::Coded(Code::Integer(width), codes) => width.store(Some(codes.value(row)), out),
            Vector::Coded(code, codes) => *out = code.decode(codes.value(row)),
            Vector::Texts(texts) => match texts.get(row) {
                Some(text) => out.string_buffer().push_str(text),
                None => *out = Value::Null,
            },
            Vector::Any(values) => out.clone_from(&values[row]),
        }
    }

    /// Whether a row is NULL.
    #[inline]
    pub(crate) fn is_null(&self, row: usize) -> bool {
        match self {
            Vector::Same(value) => value.is_null(),
            Vector::Coded(_, codes) => codes.is_null(row),
            Vector::Texts(texts) => texts.is_null(row),
            Vector::Any(values) => values[row].is_null(),
        }
    }

    /// Whether a row may be NULL.
    pub(crate) fn has_null(&self) -> bool {
        match self {
            Vector::Same(value) => value.is_null(),
            Vector::Coded(_, codes) => codes.null_count() > 0,
            Vector::Texts(texts) => texts.nulls.as_ref().is_some_and(|nulls| nulls.null_count() > 0),
            Vector::Any(values) => values.iter().any(Value::is_null),
        }
    }

    /// A bit for each of so many rows, set for those that are not NULL. No bits where none is NULL.
    pub(crate) fn nulls(&self, rows: usize) -> Option<NullBuffer> {
        match self {
            Vector::Same(Value::Null) => Some(NullBuffer::new_null(rows)),
            Vector::Same(_) => None,
            Vector::Coded(_, codes) => codes.nulls().cloned(),
            Vector::Texts(texts) => texts.nulls.clone(),
            Vector::Any(values) => {
                let has_null = values.iter().any(Value::is_null);
                has_null.then(|| values.iter().map(|value| !value.is_null()).collect())
            }
        }
    }

    /// Bytes that so many rows of it take.
    pub(crate) fn bytes(&self, rows: usize) -> usize {
        match self {
            Vector::Same(_) => 0,
            Vector::Coded(..) => rows * size_of::<i64>(),
            Vector::Texts(texts) => texts.text.len() + rows * size_of::<i32>(),
            Vector::Any(values) => values.iter().map(|value| size_of::<Value>() + value.heap_bytes()).sum(),
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
            Vector::Texts(texts) => Vector::Texts(texts.take(rows.iter().map(|&row| Some(row)))),
            Vector::Any(values) => Vector::Any(rows.iter().map(|&row| values[row as usize].clone()).collect()),
        }
    }

    /// The rows at these places; NULL where there is none.
    pub(crate) fn take_or_null(&self, rows: &[Option<u32>]) -> Vector {
        if rows.iter().all(Option::is_none) {
            return Vector::Same(Value::Null);
        }
        match self {
            Vector::Coded(code, codes) => {
                let taken: Vec<i64> =
                    rows.iter().map(|row| row.map_or(0, |row| codes.values()[row as usize])).collect();
                let valid = |row: &Option<u32>| row.is_some_and(|row| codes.is_valid(row as usize));
                return Vector::Coded(*code, Int64Array::new(taken.into(), Some(rows.iter().map(valid).collect())));
            }
            Vector::Texts(texts) => return Vector::Texts(texts.take(rows.iter().copied())),
            Vector::Same(_) | Vector::Any(_) => {}
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
    /// Which are not NULL; empty while all are.
    valid: Vec<bool>,
    state: Building,
}

/// NULLs have a place in each.
enum Building {
    /// Only NULLs so far.
    Nulls,
    Coded {
        code: Code,
        codes: Vec<i64>,
    },
    Texts {
        text: String,
        ends: Vec<i32>,
    },
    Any(Vec<Value>),
}

/// Notes whether the next value is one, in a list that is empty while all are.
fn note(valid: &mut Vec<bool>, place: usize, is_valid: bool) {
    if !is_valid && valid.is_empty() {
        valid.resize(place, true);
    }
    if !is_valid || !valid.is_empty() {
        valid.push(is_valid);
    }
}

fn nulls(valid: Vec<bool>) -> Option<NullBuffer> {
    (!valid.is_empty()).then(|| NullBuffer::from(valid))
}

impl VectorBuilder {
    pub(crate) fn new() -> VectorBuilder {
        VectorBuilder { rows: 0, valid: Vec::new(), state: Building::Nulls }
    }

    pub(crate) fn push(&mut self, value: &Value) {
        let place = self.rows;
        self.rows += 1;
        note(&mut self.valid, place, !value.is_null());
        if self.state.takes(value) {
            return;
        }
        if matches!(self.state, Building::Nulls) {
            self.state = Building::after_nulls(place, value);
        } else {
            // A value of another kind than those before.
            let before = std::mem::replace(&mut self.state, Building::Nulls);
            self.state = Building::Any(before.into_values(&self.valid, place));
        }
        let taken = self.state.takes(value);
        debug_assert!(taken, "made for it");
    }

    /// Adds a row of a column.
    pub(crate) fn push_row(&mut self, vector: &Vector, row: usize) {
        let is_pushed = match (vector, &mut self.state) {
            (Vector::Coded(added_code, added), Building::Coded { code, codes }) if added_code == code => {
                codes.push(added.value(row));
                true
            }
            (Vector::Texts(added), texts @ Building::Texts { .. }) => {
                texts.push_text(added.get(row).unwrap_or_default())
            }
            _ => false,
        };
        if is_pushed {
            note(&mut self.valid, self.rows, !vector.is_null(row));
            self.rows += 1;
        } else {
            let mut value = Value::Null;
            vector.read(row, &mut value);
            self.push(&value);
        }
    }

    /// Adds all rows of a column.
    pub(crate) fn append(&mut self, vector: &Vector, rows: usize) {
        let is_empty = self.rows == 0;
        match (vector, &mut self.state) {
            (Vector::Coded(code, added), Building::Nulls) if is_empty => {
                self.state = Building::Coded { code: *code, codes: added.values().to_vec() };
                self.note_nulls(added.nulls(), rows);
            }
            (Vector::Coded(added_code, added), Building::Coded { code, codes }) if added_code == code => {
                codes.extend_from_slice(added.values());
                self.note_nulls(added.nulls(), rows);
            }
            (Vector::Texts(added), Building::Texts { text, ends })
                if text.len() + added.text.len() <= TEXTS_BYTES_MAX =>
            {
                let before = text.len() as i32;
                text.push_str(&added.text);
                ends.extend(added.ends.iter().map(|end| before + end));
                self.note_nulls(added.nulls.as_ref(), rows);
            }
            _ => {
                let mut value = Value::Null;
                for row in 0..rows {
                    vector.read(row, &mut value);
                    self.push(&value);
                }
            }
        }
    }

    /// Notes which of the rows that were added are not NULL.
    fn note_nulls(&mut self, nulls: Option<&NullBuffer>, rows: usize) {
        match nulls.filter(|nulls| nulls.null_count() > 0) {
            Some(nulls) => {
                self.valid.resize(self.rows, true);
                self.valid.extend(nulls.iter());
            }
            None if self.valid.is_empty() => {}
            None => self.valid.resize(self.rows + rows, true),
        }
        self.rows += rows;
    }

    pub(crate) fn finish(self) -> Vector {
        match self.state {
            Building::Nulls => Vector::Same(Value::Null),
            Building::Coded { code, codes } => Vector::Coded(code, Int64Array::new(codes.into(), nulls(self.valid))),
            texts @ Building::Texts { .. } => Vector::Texts(texts.into_texts(self.valid)),
            Building::Any(values) => Vector::Any(values.into()),
        }
    }
}

impl Building {
    fn texts(rows: usize) -> Building {
        Building::Texts { text: String::new(), ends: Vec::with_capacity(rows) }
    }

    /// What begins with so many NULLs and this value.
    fn after_nulls(nulls: usize, value: &Value) -> Building {
        match (value, Code::encode(value)) {
            (_, Some((code, _))) => Building::Coded { code, codes: vec![0; nulls] },
            (Value::Str(_), None) => Building::Texts { text: String::new(), ends: vec![0; nulls] },
            _ => Building::Any(vec![Value::Null; nulls]),
        }
    }

    /// Adds a value, if it is of the same kind.
    fn takes(&mut self, value: &Value) -> bool {
        match (&mut *self, value) {
            (Building::Nulls, _) => return value.is_null(),
            (Building::Coded { codes, .. }, Value::Null) => codes.push(0),
            (Building::Coded { code, codes }, value) => match Code::encode(value) {
                Some((own, coded)) if own == *code => codes.push(coded),
                _ => return false,
            },
            (Building::Texts { .. }, Value::Null) => return self.push_text(""),
            (Building::Texts { .. }, Value::Str(own)) => return self.push_text(own),
            (Building::Texts { .. }, _) => return false,
            (Building::Any(values), value) => values.push(value.clone()),
        }
        true
    }

    /// Adds a text; not where all of them would be too long together.
    fn push_text(&mut self, own: &str) -> bool {
        let Building::Texts { text, ends } = self else { return false };
        let Ok(end) = i32::try_from(text.len() + own.len()) else { return false };
        text.push_str(own);
        ends.push(end);
        true
    }

    fn into_texts(self, valid: Vec<bool>) -> Texts {
        let (text, ends) = match self {
            Building::Texts { text, ends } => (text, ends),
            _ => Default::default(),
        };
        Texts { text: text.into(), ends: ends.into(), nulls: nulls(valid) }
    }

    fn into_values(self, valid: &[bool], rows: usize) -> Vec<Value> {
        let is_valid = |row: usize| valid.get(row).copied().unwrap_or(true);
        let nulls = || vec![Value::Null; rows];
        match self {
            Building::Nulls => nulls(),
            Building::Coded { code, codes } => {
                let decode = |(row, coded)| if is_valid(row) { code.decode(coded) } else { Value::Null };
                codes.into_iter().enumerate().map(decode).collect()
            }
            texts @ Building::Texts { .. } => {
                let texts = texts.into_texts(valid.get(..rows).unwrap_or_default().to_vec());
                (0..rows).map(|row| texts.get(row).map_or(Value::Null, |text| Value::Str(text.to_owned()))).collect()
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
            Value::Str(String::new()),
            Value::Decimal(Decimal::new(-1234, 18, 2).expect("four digits")),
            Value::Decimal(Decimal::new(i128::from(i64::MAX), 38, 0).expect("nineteen digits")),
            Value::Decimal(Decimal::new(i128::from(i64::MAX) + 1, 38, 0).expect("nineteen digits")),
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
        columns.push(vec![Value::Null, Value::Str("x".into()), Value::Null, Value::Int(2)]);
        for column in columns {
            let mut builder = VectorBuilder::new();
            column.iter().for_each(|value| builder.push(value));
            let vector = builder.finish();
            let mut out = Value::Null;
            for (row, value) in column.iter().enumerate() {
                vector.read(row, &mut out);
                assert_eq!(&out, value, "row {row} of {column:?}");
            }
            let mut twice = VectorBuilder::new();
            twice.append(&vector, column.len());
            twice.append(&vector, column.len());
            let twice = twice.finish();
            for (row, value) in column.iter().chain(&column).enumerate() {
                twice.read(row, &mut out);
                assert_eq!(&out, value, "row {row} of {column:?}, twice");
            }
            let mut rows = VectorBuilder::new();
            (0..column.len()).chain([0]).for_each(|row| rows.push_row(&vector, row));
            let rows = rows.finish();
            for (row, value) in column.iter().chain(&column[..1]).enumerate() {
                rows.read(row, &mut out);
                assert_eq!(&out, value, "row {row} of {column:?}, by the row");
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
