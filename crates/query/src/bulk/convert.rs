//! Fields become values.

use std::borrow::Cow;

use pikepole_types::{CodePage, Date, DateTime, DateTime2, Length, Moment, SqlError, SqlType, Target, Value};

use super::format_file::Host;
use super::native;
use super::options::{Encoding, TextFormat, hexadecimal};
use super::portion::Portion;
use crate::executor::batch::{Batch, VectorBuilder};
use crate::expression::Width;

/// A field of at most this many bytes is looked for, unless its column is of a `(max)` type.
const FIELD_BYTES_MAX: usize = 64 * 1024;

/// What becomes of a field.
#[derive(Debug, Clone)]
pub(crate) struct FieldTarget {
    /// Where its value goes; none for a field that is only passed over.
    pub(crate) slot: Option<usize>,
    /// The column's name.
    pub(crate) name: String,
    /// The column's type, and the code page of its texts.
    pub(crate) ty: SqlType,
    pub(crate) page: CodePage,
    /// Whether the column takes no NULL.
    pub(crate) required: bool,
    /// What the field's bytes are.
    pub(crate) host: Host,
}

/// Why a field is no value of its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Misfit {
    Mismatch,
    Truncation,
    Overflow,
    Null,
}

impl FieldTarget {
    /// A field that nothing becomes of.
    pub(crate) fn passed(host: Host) -> FieldTarget {
        let (name, ty, page) = (String::new(), SqlType::VarBinary(Length::Max), CodePage::Western);
        FieldTarget { slot: None, name, ty, page, required: false, host }
    }

    /// The most bytes that the field may have.
    pub(super) fn bytes_max(&self) -> usize {
        if self.ty.is_max() { 1 << 30 } else { FIELD_BYTES_MAX }
    }

    /// The field's value.
    fn read(&self, bytes: &[u8], quoted: bool, encoding: Encoding, text: &mut Value, out: &mut Value) -> Fit {
        let is_text = self.ty.is_string();
        let is_null = if is_text { bytes.is_empty() } else { bytes.iter().all(|byte| *byte == b' ') };
        if is_null && !quoted {
            *out = Value::Null;
            return if self.required { Err(Misfit::Null) } else { Ok(()) };
        }
        let wide;
        let (bytes, encoding) = match self.host {
            Host::Native(ty) => return self.read_native(&ty, bytes, out),
            Host::Wide => {
                wide = utf16(bytes).ok_or(Misfit::Mismatch)?;
                (wide.as_bytes(), Encoding::Utf8)
            }
            Host::Text(own) => (bytes, own.unwrap_or(encoding)),
        };
        if let Some(width) = Width::of(&self.ty).filter(|width| *width != Width::Bit)
            && let Some(number) = integer(bytes)
        {
            if !width.fits(number) {
                return Err(Misfit::Overflow);
            }
            width.store(Some(number), out);
            return Ok(());
        }
        if let Some(value) = moment(bytes, &self.ty) {
            *out = value;
            return Ok(());
        }
        // A NUL stands for what is empty and no NULL.
        let bytes = if (is_text || self.ty.is_binary()) && bytes == [0] { &[] } else { bytes };
        if self.ty.is_binary() {
            return self.read_binary(bytes, out);
        }
        // Places and shapes are written as their bytes, by bcp too; who writes one by hand may write its text.
        if matches!(self.ty, SqlType::Clr(_)) && (bytes == [0] || binary(bytes).is_some()) {
            return self.read_binary(if bytes == [0] { &[] } else { bytes }, out);
        }
        let decoded = decode(bytes, encoding).ok_or(Misfit::Mismatch)?;
        match (&self.ty, text) {
            (SqlType::VarChar(Length::Limit(most)) | SqlType::NVarChar(Length::Limit(most)), _)
                if decoded.len() <= usize::from(*most) && decoded.is_ascii() =>
            {
                put(&decoded, out);
                Ok(())
            }
            (ty, text) => {
                put(&decoded, text);
                let from = SqlType::NVarChar(Length::Max);
                let column = Target::Column { table: "", column: "" };
                pikepole_types::assign_in(self.page, text, &from, ty, column, out).map_err(|error| misfit(&error))
            }
        }
    }

    /// Values of a native file are of the column's type, or of one that becomes that.
    fn read_native(&self, ty: &SqlType, bytes: &[u8], out: &mut Value) -> Fit {
        let (value, from) = native::decode(ty, &self.ty, bytes).ok_or(Misfit::Mismatch)?;
        if from == self.ty {
            *out = value;
            return Ok(());
        }
        let column = Target::Column { table: "", column: "" };
        pikepole_types::assign_in(self.page, &value, &from, &self.ty, column, out).map_err(|error| misfit(&error))
    }

    /// Binary values are hexadecimal digits.
    fn read_binary(&self, bytes: &[u8], out: &mut Value) -> Fit {
        let binary = Value::Bin(binary(bytes).ok_or(Misfit::Mismatch)?);
        let from = SqlType::VarBinary(Length::Max);
        let column = Target::Column { table: "", column: "" };
        pikepole_types::assign(&binary, &from, &self.ty, column, out).map_err(|error| misfit(&error))
    }

    fn error(&self, misfit: Misfit, row: u64, place: usize) -> SqlError {
        let (column, name) = (place + 1, &self.name);
        match misfit {
            Misfit::Mismatch => SqlError::bulk_mismatch(row, column, name),
            Misfit::Truncation => SqlError::bulk_truncation(row, column, name),
            Misfit::Overflow => SqlError::bulk_overflow(row, column, name),
            Misfit::Null => SqlError::bulk_null(row, column, name),
        }
    }
}

type Fit = Result<(), Misfit>;

/// What hexadecimal digits stand for, with or without `0x` before them.
fn binary(bytes: &[u8]) -> Option<Vec<u8>> {
    hexadecimal(bytes.strip_prefix(b"0x").or_else(|| bytes.strip_prefix(b"0X")).unwrap_or(bytes))
}

/// The values of a portion's rows; `refuse` is told the rows that have none, with their errors: 4863, 4864, 4867, 4869.
pub(super) fn convert(
    targets: &[FieldTarget],
    portion: &Portion,
    format: &TextFormat,
    mut refuse: impl FnMut(usize, SqlError),
) -> Batch {
    let mut columns: Vec<VectorBuilder> = targets.iter().map(|_| VectorBuilder::new()).collect();
    let mut values: Vec<Value> = targets.iter().map(|_| Value::Null).collect();
    let (mut text, mut undoubled, mut rows) = (Value::Null, Vec::new(), 0);
    for (row, fields) in portion.fields.chunks_exact(targets.len().max(1)).enumerate() {
        let mut misfit = None;
        for (place, (target, field)) in
            targets.iter().zip(fields).enumerate().filter(|(_, (target, _))| target.slot.is_some())
        {
            let bytes = match format.csv {
                Some(csv) if field.doubled => {
                    undouble(portion.field(*field), csv.quote, &mut undoubled);
                    &undoubled
                }
                _ => portion.field(*field),
            };
            if let Err(why) = target.read(bytes, field.quoted, format.encoding, &mut text, &mut values[place]) {
                misfit = Some(target.error(why, portion.first_row + row as u64, place));
                break;
            }
        }
        match misfit {
            Some(error) => refuse(row, error),
            None => {
                columns.iter_mut().zip(&values).for_each(|(column, value)| column.push(value));
                rows += 1;
            }
        }
    }
    let mut batch = Batch::new(rows);
    batch.first = portion.first_row;
    for (target, column) in targets.iter().zip(columns) {
        if let Some(slot) = target.slot {
            batch.set(slot, column.finish());
        }
    }
    batch
}

/// The bytes between quotes with each doubled quote once.
fn undouble(bytes: &[u8], quote: u8, out: &mut Vec<u8>) {
    out.clear();
    let mut rest = bytes;
    while let Some(found) = memchr::memchr(quote, rest) {
        out.extend_from_slice(&rest[..=found]);
        rest = rest.get(found + 2..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
}

/// A whole number of at most 18 digits without anything around it.
fn integer(bytes: &[u8]) -> Option<i64> {
    let (negative, digits) = match bytes {
        [b'-', digits @ ..] => (true, digits),
        _ => (false, bytes),
    };
    if digits.is_empty() || digits.len() > 18 {
        return None;
    }
    let mut number = 0i64;
    for digit in digits {
        number = number * 10 + i64::from(digit.checked_sub(b'0').filter(|digit| *digit < 10)?);
    }
    Some(if negative { -number } else { number })
}

/// The value of a date as most files have it: `2020-02-29`, `2020-02-29 12:34:56`, `2020-02-29 12:34:56.789`. None: it is
/// written in another way, or has no such value.
fn moment(bytes: &[u8], ty: &SqlType) -> Option<Value> {
    let has_precision = match ty {
        SqlType::Date => bytes.len() == 10,
        SqlType::DateTime => true,
        SqlType::DateTime2(scale) => *scale >= 3,
        _ => return None,
    };
    let number = |range: std::ops::Range<usize>| {
        let digits = bytes.get(range)?;
        digits.iter().try_fold(0, |number, digit| match digit {
            b'0'..=b'9' => Some(number * 10 + i32::from(digit - b'0')),
            _ => None,
        })
    };
    if !has_precision || bytes.get(4) != Some(&b'-') || bytes.get(7) != Some(&b'-') {
        return None;
    }
    let date = Date::from_ymd(number(0..4)?, number(5..7)?, number(8..10)?)?;
    let (hours, minutes, seconds, milliseconds) = match bytes.get(10..)? {
        [] => (0, 0, 0, 0),
        [b' ', _, _, b':', _, _, b':', _, _] => (number(11..13)?, number(14..16)?, number(17..19)?, 0),
        [b' ', _, _, b':', _, _, b':', _, _, b'.', _, _, _] => {
            (number(11..13)?, number(14..16)?, number(17..19)?, number(20..23)?)
        }
        _ => return None,
    };
    if hours > 23 || minutes > 59 || seconds > 59 {
        return None;
    }
    let seconds = i64::from(date.days()) * 86_400 + i64::from((hours * 60 + minutes) * 60 + seconds);
    let ticks = (seconds * 1_000 + i64::from(milliseconds)) * 10_000;
    match ty {
        SqlType::Date => Some(Value::Date(date)),
        SqlType::DateTime => DateTime::from_moment(Moment::local(ticks)).map(Value::DateTime),
        _ => DateTime2::from_ticks(ticks).map(Value::DateTime2),
    }
}

/// The text of bytes; none when they are no text of the encoding.
fn decode(bytes: &[u8], encoding: Encoding) -> Option<Cow<'_, str>> {
    match (encoding, std::str::from_utf8(bytes)) {
        (_, Ok(text)) if text.is_ascii() => Some(Cow::Borrowed(text)),
        (Encoding::Page(page), _) => {
            let mut text = String::with_capacity(bytes.len() * 2);
            page.decode(bytes, &mut text);
            Some(Cow::Owned(text))
        }
        (_, Ok(text)) => Some(Cow::Borrowed(text)),
        (_, Err(_)) => None,
    }
}

/// The text of UTF-16; none when it has half a unit, or half a pair of them.
fn utf16(bytes: &[u8]) -> Option<String> {
    let (units, rest) = bytes.as_chunks::<2>();
    let units = units.iter().map(|unit| u16::from_le_bytes(*unit));
    rest.is_empty().then(|| char::decode_utf16(units).collect::<Result<String, _>>().ok())?
}

/// Puts a text into a place whose buffer is used again.
fn put(text: &str, out: &mut Value) {
    match out {
        Value::Str(place) => {
            place.clear();
            place.push_str(text);
        }
        other => *other = Value::Str(text.to_owned()),
    }
}

fn misfit(error: &SqlError) -> Misfit {
    match error.number {
        2628 | 8152 => Misfit::Truncation,
        220 | 232 | 236 | 242 | 244 | 248 | 8115 => Misfit::Overflow,
        _ => Misfit::Mismatch,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is read in the quick way is what every other conversion of the text gives.
    #[test]
    fn dates_mean_what_they_mean_elsewhere() {
        let texts = [
            "2020-02-29",
            "2021-02-29",
            "1752-12-31",
            "0001-01-01",
            "9999-12-31 23:59:59.997",
            "9999-12-31 23:59:59.999",
            "2020-02-29 12:34:56",
            "2020-02-29 12:34:56.001",
            "2020-02-29 12:34:56.789",
            "2020-02-29 24:00:00",
            "2020-02-29 12:60:00",
            "2020-02-29T12:34:56",
            "2020-02-29 12:34",
            "2020-13-01",
            "2020-00-01",
            "20200229",
            "2020-2-29",
            "+020-02-29",
            "2020-02-29 12:34:56.",
            "2020-02-29 1a:34:56",
            "",
        ];
        let mut read = 0;
        for ty in
            [SqlType::Date, SqlType::DateTime, SqlType::DateTime2(3), SqlType::DateTime2(7), SqlType::DateTime2(0)]
        {
            for text in texts {
                let Some(quick) = moment(text.as_bytes(), &ty) else { continue };
                let mut slow = Value::Null;
                let column = Target::Column { table: "", column: "" };
                let from = SqlType::NVarChar(Length::Max);
                pikepole_types::assign(&Value::Str(text.to_owned()), &from, &ty, column, &mut slow).expect(text);
                assert_eq!(quick, slow, "{text} as {ty:?}");
                read += 1;
            }
        }
        assert!(read > 20, "{read}");
    }
}
