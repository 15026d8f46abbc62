//! Values into bytes.

use super::Place;
use super::type_info::{Framing, TypeInfo, TypeToken as T, time_bytes};
use super::variant::put_variant;
use crate::error::TdsError;
use crate::put::{Put, is_ascii, utf16_units};
use pikepole_types::{CodePage, Decimal, SqlType, Value, write_text};

/// Ticks of 1/300 s in a day, and of 100 ns.
const DATETIME_DAY: i64 = 86_400 * 300;
const DAY: i64 = 864_000_000_000;

impl TypeInfo {
    /// Appends a value, as it stands in a parameter. `ty` is the value's own type, which this one was made of.
    ///
    /// # Errors
    /// A value of another type, and one too long for this type; `out` then holds a part of it.
    pub fn write_value(&self, ty: &SqlType, value: &Value, out: &mut Vec<u8>) -> Result<(), TdsError> {
        self.put_value(ty, value, Place::Parameter, out).ok_or_else(|| TdsError::Unsendable(ty.to_string()))
    }

    /// Appends a value; `None` when it is none of this type.
    pub(crate) fn put_value(&self, ty: &SqlType, value: &Value, place: Place, out: &mut Vec<u8>) -> Option<()> {
        if value.is_null() {
            return self.put_null(place, out);
        }
        match (self.framing(), value) {
            (Framing::Variant, Value::Variant(variant)) => put_variant(variant, out),
            (Framing::Fixed(_), _) => self.put_small(value, out),
            (Framing::Byte, _) => {
                let at = out.len();
                out.push(0);
                self.put_small(value, out)?;
                out[at] = u8::try_from(out.len() - at - 1).ok()?;
                Some(())
            }
            (_, Value::Str(text)) => self.put_text(text, place, out),
            (_, Value::Bin(bytes)) => {
                matches!(self.token(), T::Binary | T::VarBinary | T::Image | T::Udt).then_some(())?;
                self.put_length(bytes.len(), place, out)?;
                out.extend_from_slice(bytes);
                self.put_end(out);
                Some(())
            }
            // What an older client gets as text.
            (Framing::Short, Value::Date(_) | Value::Time(_) | Value::DateTime2(_) | Value::DateTimeOffset(_)) => {
                let mut text = String::new();
                write_text(value, ty, &mut text);
                self.put_text(&text, place, out)
            }
            _ => None,
        }
    }

    fn put_null(&self, place: Place, out: &mut Vec<u8>) -> Option<()> {
        match self.framing() {
            Framing::Fixed(0) => {}
            Framing::Fixed(_) => return None,
            Framing::Byte => out.put_u8(0),
            Framing::Short => out.put_u16(u16::MAX),
            Framing::Long if place == Place::Row => out.put_u8(0),
            Framing::Long => out.put_u32(u32::MAX),
            Framing::Variant => out.put_u32(0),
            Framing::Chunks => out.put_u64(u64::MAX),
        }
        Some(())
    }

    /// What stands before the bytes of a string or binary.
    fn put_length(&self, count: usize, place: Place, out: &mut Vec<u8>) -> Option<()> {
        match self.framing() {
            Framing::Short => {
                (count <= self.length() as usize).then_some(())?;
                out.put_u16(count as u16);
            }
            Framing::Long => {
                if place == Place::Row {
                    // A pointer that points nowhere, and no timestamp: clients only pass them back.
                    out.put_u8(16);
                    out.extend_from_slice(&[0; 16 + 8]);
                }
                out.put_u32(u32::try_from(count).ok().filter(|count| *count <= i32::MAX as u32)?);
            }
            Framing::Chunks => {
                out.put_u64(count as u64);
                if count > 0 {
                    out.put_u32(u32::try_from(count).ok()?);
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// What stands behind them.
    fn put_end(&self, out: &mut Vec<u8>) {
        if self.framing() == Framing::Chunks {
            out.put_u32(0);
        }
    }

    fn put_text(&self, text: &str, place: Place, out: &mut Vec<u8>) -> Option<()> {
        match self.token() {
            T::NChar | T::NVarChar | T::NText | T::Xml => {
                self.put_length(utf16_units(text) * 2, place, out)?;
                out.put_utf16(text);
            }
            T::Char | T::VarChar | T::Text if is_ascii(text) => {
                self.put_length(text.len(), place, out)?;
                out.extend_from_slice(text.as_bytes());
            }
            T::Char | T::VarChar | T::Text => {
                self.put_length(self.page_sent().units(text), place, out)?;
                self.page_sent().encode(text, out);
            }
            _ => return None,
        }
        self.put_end(out);
        Some(())
    }

    /// A string without its length.
    pub(super) fn put_text_bytes(&self, text: &str, out: &mut Vec<u8>) {
        match self.token() {
            T::NChar | T::NVarChar | T::NText | T::Xml => out.put_utf16(text),
            _ if is_ascii(text) => out.extend_from_slice(text.as_bytes()),
            _ => self.page_sent().encode(text, out),
        }
    }

    /// The code page that texts are sent in: a collation that there is has one.
    pub(super) fn page_sent(&self) -> CodePage {
        match self.page() {
            None | Some(CodePage::UnicodeOnly) => CodePage::Western,
            Some(page) => page,
        }
    }

    /// A value that is neither a string nor a binary, without its length.
    pub(super) fn put_small(&self, value: &Value, out: &mut Vec<u8>) -> Option<()> {
        let at = out.len();
        match (self.token(), value) {
            (T::Bit | T::BitN, Value::Bit(v)) => out.put_u8(u8::from(*v)),
            (T::Int1 | T::IntN, Value::TinyInt(v)) => out.put_u8(*v),
            (T::Int2 | T::IntN, Value::SmallInt(v)) => out.extend_from_slice(&v.to_le_bytes()),
            (T::Int4 | T::IntN, Value::Int(v)) => out.extend_from_slice(&v.to_le_bytes()),
            (T::Int8 | T::IntN, Value::BigInt(v)) => out.extend_from_slice(&v.to_le_bytes()),
            (T::Float4 | T::FloatN, Value::Real(v)) => out.extend_from_slice(&v.to_le_bytes()),
            (T::Float8 | T::FloatN, Value::Float(v)) => out.extend_from_slice(&v.to_le_bytes()),
            (T::Money4 | T::MoneyN, Value::SmallMoney(v)) => out.extend_from_slice(&v.to_le_bytes()),
            (T::Money | T::MoneyN, Value::Money(v)) => {
                out.put_u32((v >> 32) as u32);
                out.put_u32(*v as u32);
            }
            (T::DateTime | T::DateTimeN, Value::DateTime(v)) => {
                out.put_u32(v.ticks().div_euclid(DATETIME_DAY) as u32);
                out.put_u32(v.ticks().rem_euclid(DATETIME_DAY) as u32);
            }
            (T::DateTime4 | T::DateTimeN, Value::SmallDateTime(v)) => {
                out.put_u16((v.minutes() / 1440) as u16);
                out.put_u16((v.minutes() % 1440) as u16);
            }
            (T::DecimalN | T::NumericN | T::OldDecimal | T::OldNumeric, Value::Decimal(v)) => {
                self.put_decimal(v, out)?;
            }
            (T::Guid, Value::Guid(v)) => out.extend_from_slice(v),
            (T::Date, Value::Date(v)) => put_days(v.days(), out),
            (T::Time, Value::Time(v)) => self.put_time(v.ticks(), out)?,
            (T::DateTime2, Value::DateTime2(v)) => self.put_time_and_date(v.ticks(), out)?,
            (T::DateTimeOffset, Value::DateTimeOffset(v)) => {
                self.put_time_and_date(v.utc_ticks(), out)?;
                out.extend_from_slice(&v.offset_minutes().to_le_bytes());
            }
            _ => return None,
        }
        // A tinyint is none of a nullable int's values.
        let is_whole = out.len() - at == self.length() as usize;
        is_whole.then_some(())
    }

    fn put_decimal(&self, value: &Decimal, out: &mut Vec<u8>) -> Option<()> {
        let exact = value.scale() <= self.scale();
        let mantissa = value.rescale(self.precision(), self.scale()).filter(|_| exact)?.mantissa();
        out.put_u8(u8::from(mantissa >= 0));
        let digits = mantissa.unsigned_abs().to_le_bytes();
        let (low, high) = digits.split_at_checked((self.length() as usize).checked_sub(1)?)?;
        out.extend_from_slice(low);
        high.iter().all(|byte| *byte == 0).then_some(())
    }

    /// A time of day in units of the scale; `None` when it has finer parts.
    fn put_time(&self, ticks: i64, out: &mut Vec<u8>) -> Option<()> {
        let unit = 10i64.pow(7 - u32::from(self.scale()));
        (ticks % unit == 0).then_some(())?;
        out.extend_from_slice(&(ticks / unit).to_le_bytes()[..time_bytes(self.scale()) as usize]);
        Some(())
    }

    fn put_time_and_date(&self, ticks: i64, out: &mut Vec<u8>) -> Option<()> {
        self.put_time(ticks % DAY, out)?;
        put_days((ticks / DAY) as i32, out);
        Some(())
    }
}

fn put_days(days: i32, out: &mut Vec<u8>) {
    out.extend_from_slice(&days.to_le_bytes()[..3]);
}
