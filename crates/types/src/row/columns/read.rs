//! Columns that rows are read into: the codes or texts of the values where the type has such.

use super::{Coding, bounds};
use crate::datetime::{Date, DateTime, DateTime2, SmallDateTime, Time};
use crate::decimal::{Decimal, power_of_ten};
use crate::row::{ColumnType, RowLayout, rest};
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
        if matches!(self.ty.ty, SqlType::BigInt | SqlType::Money) {
            return true;
        }
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

    pub(super) fn push_null(&mut self) {
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
    pub(super) fn push_text(&mut self, own: &[u8]) -> Option<()> {
        let ColumnData::Texts { text, ends } = &mut self.data else { return None };
        let begin = text.len();
        text.push_str(std::str::from_utf8(own).ok()?);
        rest::pad_from(text, begin, &self.ty);
        ends.push(i32::try_from(text.len()).ok()?);
        self.push_valid();
        Some(())
    }

    pub(super) fn push_value(&mut self, value: Value) -> Option<()> {
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

    /// The coding of its values, if they have one.
    pub(super) fn coding(&self) -> Option<Coding> {
        self.coding
    }

    /// True if it has texts.
    pub(super) fn is_of_texts(&self) -> bool {
        matches!(self.data, ColumnData::Texts { .. })
    }

    /// Makes room for the codes of so many rows, for the caller to fill; a column without codes has none.
    pub(super) fn begin_codes(&mut self, rows: usize) -> Option<(&mut [i64], NullMarks<'_>)> {
        let before = self.rows();
        let ColumnData::Codes(codes) = &mut self.data else { return None };
        let all = before + rows;
        codes.resize(all, 0);
        if !self.valid.is_empty() {
            self.valid.resize(all, true);
        }
        Some((&mut codes[before..], NullMarks { valid: &mut self.valid, before, all }))
    }

    /// Adds what another column of the same type has in its last rows.
    pub(super) fn push_last_of(&mut self, other: &ColumnReader, rows: usize) -> Option<()> {
        let all = other.rows();
        (all.checked_sub(rows)?..all).try_for_each(|row| self.push_row_of(other, row))
    }

    fn push_row_of(&mut self, other: &ColumnReader, row: usize) -> Option<()> {
        if !other.is_valid(row) {
            self.push_null();
            return Some(());
        }
        match (&mut self.data, &other.data) {
            (ColumnData::Codes(codes), ColumnData::Codes(others)) => codes.push(others[row]),
            (ColumnData::Texts { text, ends }, ColumnData::Texts { text: others, ends: other_ends }) => {
                let begin = row.checked_sub(1).map_or(0, |before| other_ends[before]);
                text.push_str(&others[begin as usize..other_ends[row] as usize]);
                ends.push(i32::try_from(text.len()).ok()?);
            }
            (ColumnData::Values(values), ColumnData::Values(others)) => {
                self.value_bytes += others[row].heap_bytes();
                values.push(others[row].clone());
            }
            _ => return None,
        }
        self.push_valid();
        Some(())
    }
}

/// Says which of a column's new rows are NULL.
pub(super) struct NullMarks<'c> {
    valid: &'c mut Vec<bool>,
    /// Rows before the new ones, and with them.
    before: usize,
    all: usize,
}

impl NullMarks<'_> {
    /// A row, counted among the new ones, is NULL.
    #[inline]
    pub(super) fn note(&mut self, row: usize) {
        if self.valid.is_empty() {
            self.valid.resize(self.all, true);
        }
        self.valid[self.before + row] = false;
    }
}

impl RowLayout {
    /// Empty columns for what a projection wants.
    pub fn column_readers(&self, wanted: &[usize]) -> Vec<ColumnReader> {
        wanted.iter().map(|&column| ColumnReader::new(&self.columns[column])).collect()
    }
}

/// How the values of a type are coded, that of short decimals included.
pub(super) fn coding_of(ty: &SqlType) -> Option<Coding> {
    match ty {
        SqlType::Decimal { precision, .. } if *precision <= CODED_DIGITS_MAX => Some(Coding::Zigzag),
        _ => Coding::of(ty),
    }
}

pub(super) fn is_text(ty: &SqlType) -> bool {
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
