//! Columns from rows: the wanted columns of many rows, as their codes or texts where the type has such.

use super::{Coding, bounds};
use crate::datetime::{Date, DateTime, DateTime2, SmallDateTime, Time};
use crate::decimal::{Decimal, power_of_ten};
use crate::row::{ColumnType, KeyStep, Projection, RowError, RowLayout, key, rest};
use crate::sql_type::SqlType;
use crate::value::Value;

/// Digits of a decimal that is coded, at most.
pub const CODED_DIGITS_MAX: u8 = 18;

/// A column that rows are read into.
#[derive(Debug, Clone)]
pub struct ColumnReader {
    ty: ColumnType,
    coding: Option<Coding>,
    /// Which rows are not NULL; empty while all are.
    valid: Vec<bool>,
    data: ColumnData,
    /// How many codes were checked.
    checked: usize,
    /// Bytes that the values have beside their own.
    value_bytes: usize,
}

/// The values of a column that was read; NULLs have a place in it, too.
#[derive(Debug, Clone)]
pub enum ColumnData {
    /// What the values count: integers, ten-thousandths of money, the digits of a decimal without its point, days, ticks, minutes.
    Codes(Vec<i64>),
    /// Texts, one behind the other, and where each ends.
    Texts {
        /// All of them.
        text: String,
        /// Bytes up to the end of each.
        ends: Vec<i32>,
    },
    /// The values themselves.
    Values(Vec<Value>),
}

impl ColumnReader {
    /// An empty one for a column of this type.
    pub fn new(ty: &ColumnType) -> ColumnReader {
        let coding = coding_of(&ty.ty);
        let data = match coding {
            Some(_) => ColumnData::Codes(Vec::new()),
            None if is_text(&ty.ty) => ColumnData::Texts { text: String::new(), ends: Vec::new() },
            None => ColumnData::Values(Vec::new()),
        };
        ColumnReader { ty: *ty, coding, valid: Vec::new(), data, checked: 0, value_bytes: 0 }
    }

    /// An empty one that takes values as they are, whatever the type.
    pub fn of_values(ty: &ColumnType) -> ColumnReader {
        let data = ColumnData::Values(Vec::new());
        ColumnReader { ty: *ty, coding: None, valid: Vec::new(), data, checked: 0, value_bytes: 0 }
    }

    /// Adds a value to a column of values; those of codes and texts are read from rows.
    pub fn push(&mut self, value: Value) {
        let pushed = self.push_value(value);
        debug_assert!(pushed.is_some(), "a column of values takes each");
    }

    /// Bytes of its texts, and of values beside their own.
    pub fn heap_bytes(&self) -> usize {
        match &self.data {
            ColumnData::Texts { text, .. } => text.len(),
            ColumnData::Codes(_) | ColumnData::Values(_) => self.value_bytes,
        }
    }

    /// The column's type.
    pub fn sql_type(&self) -> &SqlType {
        &self.ty.ty
    }

    /// Whether what was read since the last check are values of the type: a page's rows are checked together, which costs less than
    /// one by one.
    pub fn check(&mut self) -> bool {
        let ColumnData::Codes(codes) = &self.data else { return true };
        let unchecked = &codes[std::mem::replace(&mut self.checked, codes.len())..];
        // A NULL's place has 0, which is a code of each type.
        let reach = |(low, high): (i64, i64), &code: &i64| (low.min(code), high.max(code));
        let (low, high) = unchecked.iter().fold((0, 0), reach);
        is_code(&self.ty.ty, low) && is_code(&self.ty.ty, high)
    }

    /// Which rows are not NULL, empty where all are, and the values, checked before.
    pub fn finish(self) -> (Vec<bool>, ColumnData) {
        (self.valid, self.data)
    }

    fn is_valid(&self, row: usize) -> bool {
        self.valid.get(row).copied().unwrap_or(true)
    }

    fn rows(&self) -> usize {
        match &self.data {
            ColumnData::Codes(codes) => codes.len(),
            ColumnData::Texts { ends, .. } => ends.len(),
            ColumnData::Values(values) => values.len(),
        }
    }

    fn push_null(&mut self) {
        if self.valid.is_empty() {
            self.valid.resize(self.rows(), true);
        }
        self.valid.push(false);
        match &mut self.data {
            ColumnData::Codes(codes) => codes.push(0),
            ColumnData::Texts { text, ends } => ends.push(text.len() as i32),
            ColumnData::Values(values) => values.push(Value::Null),
        }
    }

    #[inline(always)]
    fn push_valid(&mut self) {
        if !self.valid.is_empty() {
            self.valid.push(true);
        }
    }

    /// Adds a text as it stands in rows.
    fn push_text(&mut self, own: &[u8]) -> Option<()> {
        let ColumnData::Texts { text, ends } = &mut self.data else { return None };
        let begin = text.len();
        text.push_str(std::str::from_utf8(own).ok()?);
        rest::pad_from(text, begin, &self.ty);
        ends.push(i32::try_from(text.len()).ok()?);
        self.push_valid();
        Some(())
    }

    fn push_value(&mut self, value: Value) -> Option<()> {
        match &mut self.data {
            _ if value.is_null() => {
                self.push_null();
                return Some(());
            }
            ColumnData::Values(values) => {
                self.value_bytes += value.heap_bytes();
                values.push(value);
            }
            _ => return None,
        }
        self.push_valid();
        Some(())
    }

    /// Adds what another column of the same type has last.
    fn push_last_of(&mut self, other: &ColumnReader) -> Option<()> {
        let last = other.rows().checked_sub(1)?;
        if !other.is_valid(last) {
            self.push_null();
            return Some(());
        }
        match (&mut self.data, &other.data) {
            (ColumnData::Codes(codes), ColumnData::Codes(others)) => codes.push(others[last]),
            (ColumnData::Texts { text, ends }, ColumnData::Texts { text: others, ends: other_ends }) => {
                let begin = last.checked_sub(1).map_or(0, |before| other_ends[before]);
                text.push_str(&others[begin as usize..]);
                ends.push(i32::try_from(text.len()).ok()?);
            }
            (ColumnData::Values(values), ColumnData::Values(others)) => {
                self.value_bytes += others[last].heap_bytes();
                values.push(others[last].clone());
            }
            _ => return None,
        }
        self.push_valid();
        Some(())
    }
}

impl RowLayout {
    /// Empty columns for what a projection wants.
    pub fn column_readers(&self, wanted: &[usize]) -> Vec<ColumnReader> {
        wanted.iter().map(|&column| ColumnReader::new(&self.columns[column])).collect()
    }

    /// Adds a row's wanted columns to those that [`RowLayout::column_readers`] made for them.
    ///
    /// # Errors
    /// [`RowError::Corrupt`] when the bytes are no row of this layout; the columns are of different lengths then. Numbers beyond their
    /// type are found by [`ColumnReader::check`].
    pub fn read_row(
        &self,
        mut key: &[u8],
        rest: &[u8],
        projection: &Projection,
        columns: &mut [ColumnReader],
    ) -> Result<(), RowError> {
        for step in &projection.key {
            let corrupt = RowError::Corrupt { column: step.key.column };
            let column = step.output.map(|place| &mut columns[place]);
            key = read_key(key, step, column).ok_or(corrupt)?;
        }
        if !projection.rest.is_empty() {
            let split = rest.split_at_checked(self.bitmap_bytes).ok_or(RowError::Corrupt { column: 0 })?;
            let (bitmap, mut bytes) = split;
            for step in &projection.rest {
                let column = step.output.map(|place| &mut columns[place]);
                if step.rest.null_bit.is_some_and(|bit| bitmap[bit / 8] >> (bit % 8) & 1 == 1) {
                    column.into_iter().for_each(ColumnReader::push_null);
                    continue;
                }
                let corrupt = RowError::Corrupt { column: step.rest.column };
                bytes = read_rest(bytes, &step.ty, column).ok_or(corrupt)?;
            }
        }
        for &(from, to) in &projection.copies {
            let (low, high) = columns.split_at_mut(to);
            high[0].push_last_of(&low[from]).ok_or(RowError::Corrupt { column: 0 })?;
        }
        Ok(())
    }
}

/// Reads one value of the rest; gives the bytes behind it.
#[inline]
fn read_rest<'b>(bytes: &'b [u8], ty: &ColumnType, column: Option<&mut ColumnReader>) -> Option<&'b [u8]> {
    let coding = match &column {
        Some(column) => column.coding,
        None => coding_of(&ty.ty),
    };
    if let Some(coding) = coding {
        let (number, behind) = coding.take(bytes)?;
        if let Some(column) = column {
            let ColumnData::Codes(codes) = &mut column.data else { return None };
            codes.push(coding.code(number)?);
            column.push_valid();
        }
        return Some(behind);
    }
    if is_text(&ty.ty) {
        let (own, behind) = rest::take_bytes(bytes)?;
        column.map_or(Some(()), |column| column.push_text(own))?;
        return Some(behind);
    }
    let Some(column) = column else {
        return rest::decode(bytes, ty, None);
    };
    let mut value = Value::Null;
    let behind = rest::decode(bytes, ty, Some(&mut value))?;
    column.push_value(value)?;
    Some(behind)
}

/// Reads one value of the key; gives the bytes behind it.
fn read_key<'b>(bytes: &'b [u8], step: &KeyStep, column: Option<&mut ColumnReader>) -> Option<&'b [u8]> {
    let Some(column) = column else {
        return key::decode(bytes, &step.key, &step.ty, None);
    };
    if column.coding.is_some() {
        let (code, behind) = key::decode_code(bytes, &step.key, &step.ty)?;
        match (code, &mut column.data) {
            (None, _) => column.push_null(),
            (Some(code), ColumnData::Codes(codes)) => {
                codes.push(code);
                column.push_valid();
            }
            _ => return None,
        }
        return Some(behind);
    }
    let mut value = Value::Null;
    let behind = key::decode(bytes, &step.key, &step.ty, Some(&mut value))?;
    column.push_value(value)?;
    Some(behind)
}

/// How the values of a type are coded, that of short decimals included.
fn coding_of(ty: &SqlType) -> Option<Coding> {
    match ty {
        SqlType::Decimal { precision, .. } if *precision <= CODED_DIGITS_MAX => Some(Coding::Zigzag),
        _ => Coding::of(ty),
    }
}

fn is_text(ty: &SqlType) -> bool {
    matches!(ty, SqlType::Char(_) | SqlType::NChar(_) | SqlType::VarChar(_) | SqlType::NVarChar(_))
}

/// Whether a number codes a value of the type. The codes of a type have no gaps.
fn is_code(ty: &SqlType, code: i64) -> bool {
    let narrow = i32::try_from(code).ok();
    match ty {
        SqlType::Decimal { precision, scale } => Decimal::new(code.into(), *precision, *scale).is_some(),
        SqlType::Date => narrow.and_then(Date::from_days).is_some(),
        SqlType::Time(_) => Time::from_ticks(code).is_some(),
        SqlType::DateTime => DateTime::from_ticks(code).is_some(),
        SqlType::SmallDateTime => narrow.and_then(SmallDateTime::from_minutes).is_some(),
        SqlType::DateTime2(_) => DateTime2::from_ticks(code).is_some(),
        _ => {
            let (smallest, largest) = bounds(ty);
            (smallest..=largest).contains(&code)
        }
    }
}

const _: () = assert!(power_of_ten(CODED_DIGITS_MAX) < i64::MAX as i128, "short decimals are codes");
