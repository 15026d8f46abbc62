//! Values out of a client's bytes.

use super::type_info::{Framing, TypeInfo, TypeToken as T, time_bytes};
use super::variant::read_variant_value;
use crate::error::TdsError;
use crate::put::{is_ascii, utf16_units};
use crate::read::{Reader, push_utf16};
use pikepole_types::{
    CodePage, Date, DateTime, DateTime2, DateTimeOffset, Decimal, SmallDateTime, SqlType, Time, Value,
};

const WHAT: &str = "a value";
/// The length of a NULL in chunks, and of a value whose length is not known before its end.
const CHUNKS_NULL: u64 = u64::MAX;
const CHUNKS_UNKNOWN: u64 = u64::MAX - 1;
/// Ticks of 1/300 s in a day, and of 100 ns.
const DATETIME_DAY: i64 = 86_400 * 300;
const DAY: i64 = 864_000_000_000;

/// Where a value stands: `text` and its like have a pointer in rows only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Parameter,
    Row,
}

impl TypeInfo {
    /// Reads a value of this type from the front of `bytes`, as it stands in a parameter, into `value`, whose buffer is
    /// used again.
    ///
    /// # Errors
    /// Bytes that are missing or too many, and values that the type does not have.
    pub fn parse_value(&self, bytes: &mut &[u8], value: &mut Value) -> Result<(), TdsError> {
        let mut reader = Reader::new(bytes);
        self.read_value(&mut reader, Place::Parameter, value)?;
        *bytes = reader.rest();
        Ok(())
    }

    pub(crate) fn read_value(&self, reader: &mut Reader<'_>, place: Place, value: &mut Value) -> Result<(), TdsError> {
        let bytes = match self.framing() {
            Framing::Fixed(count) => Some(reader.take(count, WHAT)?),
            Framing::Byte => match usize::from(reader.u8(WHAT)?) {
                0 => None,
                count => Some(reader.take(count, WHAT)?),
            },
            Framing::Short => match reader.u16(WHAT)? {
                u16::MAX => None,
                count => Some(reader.take(usize::from(count), WHAT)?),
            },
            Framing::Long => long_value(reader, place)?,
            Framing::Chunks => return self.read_chunks(reader, value),
            Framing::Variant => return read_variant_value(reader, value),
        };
        match bytes {
            None => set_null(value),
            Some(bytes) => {
                let limit = self.length() as usize;
                // Drivers that load texts into columns of other types say lengths that are not those of the texts.
                let is_any = self.framing() == Framing::Long || place == Place::Row && self.sql_type().is_string();
                if bytes.len() > limit && !is_any {
                    return Err(TdsError::InvalidLength(self.token() as u8));
                }
                self.value_of(bytes, value)?;
            }
        }
        Ok(())
    }

    /// Fills a parameter's value up to the length of its type: clients send it without.
    pub(crate) fn fill_up(&self, value: &mut Value) {
        let length = self.length() as usize;
        match (self.token(), value) {
            (T::Char, Value::Str(text)) => {
                let count = if is_ascii(text) { text.len() } else { self.page_sent().units(text) };
                text.extend(std::iter::repeat_n(' ', length.saturating_sub(count)));
            }
            (T::NChar, Value::Str(text)) => {
                let count = utf16_units(text);
                text.extend(std::iter::repeat_n(' ', (length / 2).saturating_sub(count)));
            }
            (T::Binary, Value::Bin(bytes)) => bytes.resize(bytes.len().max(length), 0),
            _ => {}
        }
    }

    /// A value of a (max) type. The chunks of a string are put together before they are text, because a character may lie in
    /// two of them; a single chunk, which is what most are, is not copied.
    fn read_chunks(&self, reader: &mut Reader<'_>, value: &mut Value) -> Result<(), TdsError> {
        let announced = reader.u64(WHAT)?;
        if announced == CHUNKS_NULL {
            set_null(value);
            return Ok(());
        }
        let first = next_chunk(reader)?;
        let mut whole = Vec::new();
        let mut more = if first.is_empty() { first } else { next_chunk(reader)? };
        let bytes = if more.is_empty() {
            first
        } else {
            whole.extend_from_slice(first);
            while !more.is_empty() {
                whole.extend_from_slice(more);
                more = next_chunk(reader)?;
            }
            &whole
        };
        if announced != CHUNKS_UNKNOWN && announced != bytes.len() as u64 {
            return Err(TdsError::malformed(format!("A value of {announced} bytes has chunks of {}", bytes.len())));
        }
        self.value_of(bytes, value)
    }

    /// The value that these bytes are; NULL is none of them.
    pub(super) fn value_of(&self, bytes: &[u8], value: &mut Value) -> Result<(), TdsError> {
        match self.token() {
            T::Char | T::VarChar | T::OldChar | T::OldVarChar | T::Text => {
                return push_narrow(bytes, self.page(), value.string_buffer());
            }
            T::NChar | T::NVarChar | T::NText | T::Json => return push_utf16(bytes, value.string_buffer(), WHAT),
            T::Xml => {
                let bytes = bytes.strip_prefix(&[0xFF, 0xFE]).unwrap_or(bytes);
                return push_utf16(bytes, value.string_buffer(), WHAT);
            }
            T::Binary | T::VarBinary | T::OldBinary | T::OldVarBinary | T::Image | T::Udt => {
                value.binary_buffer().extend_from_slice(bytes);
                return Ok(());
            }
            _ => {}
        }
        let ty = self.sql_type();
        *value = self.small_value(&ty, bytes).ok_or(TdsError::InvalidValue(ty.error_name()))?;
        Ok(())
    }

    /// A value that is neither a string nor a binary; `None` when the type has no such value, or not in so many bytes.
    fn small_value(&self, ty: &SqlType, bytes: &[u8]) -> Option<Value> {
        Some(match ty {
            SqlType::Null => Value::Null,
            SqlType::Bit => Value::Bit(fixed::<1>(bytes)?[0] != 0),
            SqlType::TinyInt => Value::TinyInt(fixed::<1>(bytes)?[0]),
            SqlType::SmallInt => Value::SmallInt(i16::from_le_bytes(fixed(bytes)?)),
            SqlType::Int => Value::Int(i32::from_le_bytes(fixed(bytes)?)),
            SqlType::BigInt => Value::BigInt(i64::from_le_bytes(fixed(bytes)?)),
            SqlType::Real => Value::Real(Some(f32::from_le_bytes(fixed(bytes)?)).filter(|v| v.is_finite())?),
            SqlType::Float => Value::Float(Some(f64::from_le_bytes(fixed(bytes)?)).filter(|v| v.is_finite())?),
            SqlType::SmallMoney => Value::SmallMoney(i32::from_le_bytes(fixed(bytes)?)),
            SqlType::Money => {
                // The upper half comes first.
                let [a, b, c, d, e, f, g, h] = fixed(bytes)?;
                Value::Money(i64::from_le_bytes([e, f, g, h, a, b, c, d]))
            }
            SqlType::DateTime => {
                let [a, b, c, d, e, f, g, h] = fixed(bytes)?;
                let (days, ticks) = (i32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]));
                let in_day = Some(i64::from(ticks)).filter(|ticks| *ticks < DATETIME_DAY)?;
                Value::DateTime(DateTime::from_ticks(i64::from(days) * DATETIME_DAY + in_day)?)
            }
            SqlType::SmallDateTime => {
                let [a, b, c, d] = fixed(bytes)?;
                let (days, minutes) = (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]));
                let minutes = Some(i32::from(minutes)).filter(|minutes| *minutes < 1440)?;
                Value::SmallDateTime(SmallDateTime::from_minutes(i32::from(days) * 1440 + minutes)?)
            }
            SqlType::Decimal { .. } => Value::Decimal(self.decimal(bytes)?),
            SqlType::UniqueIdentifier => Value::Guid(fixed(bytes)?),
            SqlType::Date => Value::Date(Date::from_days(number(bytes, 3)? as i32)?),
            SqlType::Time(scale) => Value::Time(Time::from_ticks(ticks(bytes, *scale)?)?),
            SqlType::DateTime2(scale) => Value::DateTime2(DateTime2::from_ticks(date_and_ticks(bytes, *scale)?)?),
            SqlType::DateTimeOffset(scale) => {
                let (rest, offset) = bytes.split_last_chunk::<2>()?;
                let utc_ticks = date_and_ticks(rest, *scale)?;
                Value::DateTimeOffset(DateTimeOffset::new(utc_ticks, i16::from_le_bytes(*offset))?)
            }
            _ => return None,
        })
    }

    /// A sign (1 is positive) and up to 16 bytes.
    fn decimal(&self, bytes: &[u8]) -> Option<Decimal> {
        let (sign, digits) = bytes.split_first()?;
        if digits.is_empty() || digits.len() > 16 || *sign > 1 {
            return None;
        }
        let mut padded = [0; 16];
        padded[..digits.len()].copy_from_slice(digits);
        let magnitude = i128::try_from(u128::from_le_bytes(padded)).ok()?;
        let mantissa = if *sign == 1 { magnitude } else { -magnitude };
        Decimal::new(mantissa, self.precision(), self.scale())
    }
}

fn set_null(value: &mut Value) {
    *value = Value::Null;
}

/// The next chunk of a (max) value; an empty one ends it.
fn next_chunk<'a>(reader: &mut Reader<'a>) -> Result<&'a [u8], TdsError> {
    let count = reader.u32(WHAT)?;
    reader.take(count as usize, WHAT)
}

/// The bytes of a `text` and its like.
fn long_value<'a>(reader: &mut Reader<'a>, place: Place) -> Result<Option<&'a [u8]>, TdsError> {
    if place == Place::Row {
        let pointer = usize::from(reader.u8(WHAT)?);
        if pointer == 0 {
            return Ok(None);
        }
        // The pointer, and a timestamp of 8 bytes.
        reader.take(pointer + 8, WHAT)?;
    }
    match reader.u32(WHAT)? {
        u32::MAX => Ok(None),
        count => reader.take(count as usize, WHAT).map(Some),
    }
}

fn push_narrow(bytes: &[u8], page: Option<CodePage>, text: &mut String) -> Result<(), TdsError> {
    if bytes.is_ascii() {
        text.push_str(std::str::from_utf8(bytes).unwrap_or_default());
        return Ok(());
    }
    match page {
        Some(CodePage::Utf8) => match std::str::from_utf8(bytes) {
            Ok(whole) => text.push_str(whole),
            Err(_) => return Err(TdsError::InvalidValue("varchar")),
        },
        None | Some(CodePage::UnicodeOnly) => {
            return Err(TdsError::Unsupported("A varchar value outside ASCII in an unknown code page".into()));
        }
        Some(page) => page.decode(bytes, text),
    }
    Ok(())
}

fn fixed<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    bytes.try_into().ok()
}

/// A little-endian number of exactly `width` bytes, up to 8.
fn number(bytes: &[u8], width: usize) -> Option<u64> {
    let mut padded = [0; 8];
    (bytes.len() == width).then(|| padded[..width].copy_from_slice(bytes))?;
    Some(u64::from_le_bytes(padded))
}

/// Ticks of 100 ns out of a time of day at a scale.
fn ticks(bytes: &[u8], scale: u8) -> Option<i64> {
    let units = number(bytes, time_bytes(scale) as usize)? as i64;
    let ticks = units.checked_mul(10i64.pow(7 - u32::from(scale)))?;
    (ticks < DAY).then_some(ticks)
}

/// Ticks of 100 ns since 0001-01-01 out of a time of day and a date.
fn date_and_ticks(bytes: &[u8], scale: u8) -> Option<i64> {
    let (time, date) = bytes.split_last_chunk::<3>()?;
    let date = Date::from_days(number(date, 3)? as i32)?;
    Some(i64::from(date.days()) * DAY + ticks(time, scale)?)
}
