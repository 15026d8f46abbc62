//! Columns of a key: bytes that compare as the values do.

use super::{ColumnType, KeyColumn, RowError};
use crate::collation::binary_key_length;
use crate::compare::{GUID_ORDER, trim_zeros};
use crate::datetime::{Date, DateTime, DateTime2, SmallDateTime, Time};
use crate::decimal::Decimal;
use crate::sql_type::SqlType;
use crate::value::Value;
use crate::variant;

/// Whether a value can be read back from its key bytes.
pub(super) fn gives_back(ty: &SqlType) -> bool {
    !(ty.is_string() || ty.is_binary() || matches!(ty, SqlType::DateTimeOffset(_) | SqlType::Variant | SqlType::Clr(_)))
}

/// Bytes of a type's key, when they are always as many.
fn fixed_width(ty: &SqlType) -> Option<usize> {
    Some(match ty {
        SqlType::Bit | SqlType::TinyInt => 1,
        SqlType::SmallInt => 2,
        SqlType::Date => 3,
        SqlType::Null | SqlType::Int | SqlType::SmallMoney | SqlType::Real | SqlType::SmallDateTime => 4,
        SqlType::Time(_) => 5,
        SqlType::BigInt | SqlType::Money | SqlType::Float | SqlType::DateTime => 8,
        SqlType::DateTime2(_) | SqlType::DateTimeOffset(_) => 8,
        SqlType::UniqueIdentifier => 16,
        SqlType::Decimal { precision, .. } => match precision {
            0..=9 => 4,
            10..=18 => 8,
            _ => 16,
        },
        _ => return None,
    })
}

/// Appends the bytes of one column.
pub(super) fn encode(value: &Value, key: &KeyColumn, ty: &ColumnType, out: &mut Vec<u8>) -> Result<(), RowError> {
    let start = out.len();
    match value {
        Value::Null if ty.nullable => out.push(0),
        Value::Null => return Err(RowError::Null { column: key.column }),
        _ => {
            if ty.nullable {
                out.push(1);
            }
            encode_value(value, ty, out).ok_or(RowError::WrongType { column: key.column })?;
        }
    }
    if key.descending {
        out[start..].iter_mut().for_each(|byte| *byte = !*byte);
    }
    Ok(())
}

/// Appends the last `width` bytes of a number that is ordered as an unsigned one once its sign bit is turned.
fn push_signed(number: i128, width: usize, out: &mut Vec<u8>) {
    let turned = (number as u128) ^ (1 << (width * 8 - 1));
    out.extend_from_slice(&turned.to_be_bytes()[16 - width..]);
}

#[inline]
fn encode_value(value: &Value, ty: &ColumnType, out: &mut Vec<u8>) -> Option<()> {
    // Most keys are made of these.
    match (&ty.ty, value) {
        (SqlType::Int, Value::Int(v)) => out.extend_from_slice(&(v.cast_unsigned() ^ 1 << 31).to_be_bytes()),
        (SqlType::BigInt, Value::BigInt(v)) => out.extend_from_slice(&(v.cast_unsigned() ^ 1 << 63).to_be_bytes()),
        _ => return encode_other(value, ty, out),
    }
    Some(())
}

fn encode_other(value: &Value, ty: &ColumnType, out: &mut Vec<u8>) -> Option<()> {
    let width = fixed_width(&ty.ty).unwrap_or(0);
    let mut unsigned = |number: u64| out.extend_from_slice(&number.to_be_bytes()[8 - width..]);
    match (&ty.ty, value) {
        (SqlType::Bit, Value::Bit(v)) => unsigned(u64::from(*v)),
        (SqlType::TinyInt, Value::TinyInt(v)) => unsigned(u64::from(*v)),
        (SqlType::SmallInt, Value::SmallInt(v)) => push_signed(i128::from(*v), width, out),
        (SqlType::Money, Value::Money(v)) => push_signed(i128::from(*v), width, out),
        (SqlType::SmallMoney, Value::SmallMoney(v)) => push_signed(i128::from(*v), width, out),
        (SqlType::Decimal { precision, scale }, Value::Decimal(v)) => {
            push_signed(v.rescale(*precision, *scale)?.mantissa(), width, out);
        }
        (SqlType::Real, Value::Real(v)) => {
            // The bits of a negative float are all turned, of others the sign. Adding 0 makes -0 into 0.
            let bits = (v + 0.0).to_bits();
            unsigned(u64::from(if bits >> 31 == 1 { !bits } else { bits ^ 1 << 31 }));
        }
        (SqlType::Float, Value::Float(v)) => {
            let bits = (v + 0.0).to_bits();
            unsigned(if bits >> 63 == 1 { !bits } else { bits ^ 1 << 63 });
        }
        (SqlType::Date, Value::Date(v)) => unsigned(v.days() as u64),
        (SqlType::Time(_), Value::Time(v)) => unsigned(v.ticks() as u64),
        (SqlType::DateTime, Value::DateTime(v)) => push_signed(i128::from(v.ticks()), width, out),
        (SqlType::SmallDateTime, Value::SmallDateTime(v)) => unsigned(v.minutes() as u64),
        (SqlType::DateTime2(_), Value::DateTime2(v)) => unsigned(v.ticks() as u64),
        (SqlType::DateTimeOffset(_), Value::DateTimeOffset(v)) => unsigned(v.utc_ticks() as u64),
        (SqlType::UniqueIdentifier, Value::Guid(bytes)) => out.extend(GUID_ORDER.map(|at| bytes[at])),
        (SqlType::Binary(_) | SqlType::VarBinary(_) | SqlType::Clr(_), Value::Bin(bytes)) => {
            push_escaped(trim_zeros(bytes), out)
        }
        (SqlType::Variant, value) => variant::write_key(value, out),
        (ty_, Value::Str(text)) if ty_.is_string() => ty.collation.comparing(ty_).write_key(text, out),
        _ => return None,
    }
    Some(())
}

/// Bytes with 0 written as 0 255, ended by 0 0: no such string is the start of another.
fn push_escaped(bytes: &[u8], out: &mut Vec<u8>) {
    for &byte in bytes {
        out.push(byte);
        if byte == 0 {
            out.push(0xFF);
        }
    }
    out.extend_from_slice(&[0, 0]);
}

/// Reads one column into `place`, if it is wanted, and gives the bytes behind it; `None` when they are damaged.
#[inline]
pub(super) fn decode<'b>(
    bytes: &'b [u8],
    key: &KeyColumn,
    ty: &ColumnType,
    place: Option<&mut Value>,
) -> Option<&'b [u8]> {
    let flip = if key.descending { 0xFF } else { 0 };
    let mut bytes = bytes;
    if ty.nullable {
        let (&mark, behind) = bytes.split_first()?;
        match mark ^ flip {
            0 => {
                place.into_iter().for_each(|place| *place = Value::Null);
                return Some(behind);
            }
            1 => bytes = behind,
            _ => return None,
        }
    }
    let Some(width) = fixed_width(&ty.ty) else {
        return skip_string(bytes, flip, ty);
    };
    let (own, behind) = bytes.split_at_checked(width)?;
    if let Some(place) = place {
        *place = decode_value(own, flip, &ty.ty)?;
    }
    Some(behind)
}

/// The form that the codes of a column have in a key.
pub(super) struct KeyCode {
    nullable: bool,
    /// Turns each bit of a descending column.
    flip: u64,
    pub(super) width: usize,
    pub(super) is_signed: bool,
}

impl KeyCode {
    /// None for a column whose values have no fixed width of up to eight bytes.
    pub(super) fn of(key: &KeyColumn, ty: &ColumnType) -> Option<KeyCode> {
        let is_signed = !matches!(
            ty.ty,
            SqlType::Bit
                | SqlType::TinyInt
                | SqlType::Date
                | SqlType::Time(_)
                | SqlType::SmallDateTime
                | SqlType::DateTime2(_)
        );
        let width = fixed_width(&ty.ty).filter(|width| (1..=8).contains(width))?;
        Some(KeyCode { nullable: ty.nullable, flip: if key.descending { u64::MAX } else { 0 }, width, is_signed })
    }

    /// The code at a place, none for NULL, and the place behind it. The outer none is for damage.
    #[inline(always)]
    pub(super) fn take(&self, bytes: &[u8], mut at: usize) -> Option<(Option<i64>, usize)> {
        if self.nullable {
            let mark = *bytes.get(at)? ^ self.flip as u8;
            at += 1;
            match mark {
                0 => return Some((None, at)),
                1 => {}
                _ => return None,
            }
        }
        let behind = at + self.width;
        let unused = 64 - 8 * self.width as u32;
        let high = match bytes.get(at..).and_then(<[u8]>::first_chunk) {
            Some(&eight) => u64::from_be_bytes(eight),
            None => bytes.get(at..behind)?.iter().fold(0, |number, &byte| number << 8 | u64::from(byte)) << unused,
        };
        let high = high ^ self.flip;
        let code = match self.is_signed {
            // Turn the sign bit, then spread it to the right.
            true => (high ^ 1 << 63) as i64 >> unused,
            false => i64::try_from(high >> unused).ok()?,
        };
        Some((Some(code), behind))
    }
}

fn decode_value(own: &[u8], flip: u8, ty: &SqlType) -> Option<Value> {
    let width = own.len();
    if *ty == SqlType::UniqueIdentifier {
        let mut guid = [0; 16];
        for (&byte, at) in own.iter().zip(GUID_ORDER) {
            guid[at] = byte ^ flip;
        }
        return Some(Value::Guid(guid));
    }
    let unsigned = own.iter().fold(0u128, |number, &byte| number << 8 | u128::from(byte ^ flip));
    // Turn the sign bit, then spread it to the left.
    let shift = 128 - width as u32 * 8;
    let signed = ((unsigned ^ 1 << (width * 8 - 1)) << shift) as i128 >> shift;
    Some(match ty {
        SqlType::Bit => Value::Bit(match unsigned {
            0 => false,
            1 => true,
            _ => return None,
        }),
        SqlType::TinyInt => Value::TinyInt(unsigned as u8),
        SqlType::SmallInt => Value::SmallInt(signed as i16),
        SqlType::Int => Value::Int(signed as i32),
        SqlType::BigInt => Value::BigInt(signed as i64),
        SqlType::Money => Value::Money(signed as i64),
        SqlType::SmallMoney => Value::SmallMoney(signed as i32),
        SqlType::Decimal { precision, scale } => Value::Decimal(Decimal::new(signed, *precision, *scale)?),
        SqlType::Real => {
            let bits = unsigned as u32;
            let value = f32::from_bits(if bits >> 31 == 0 { !bits } else { bits ^ 1 << 31 });
            Value::Real(Some(value).filter(|v| v.is_finite())?)
        }
        SqlType::Float => {
            let bits = unsigned as u64;
            let value = f64::from_bits(if bits >> 63 == 0 { !bits } else { bits ^ 1 << 63 });
            Value::Float(Some(value).filter(|v| v.is_finite())?)
        }
        SqlType::Date => Value::Date(Date::from_days(unsigned as i32)?),
        SqlType::Time(_) => Value::Time(Time::from_ticks(unsigned as i64)?),
        SqlType::DateTime => Value::DateTime(DateTime::from_ticks(signed as i64)?),
        SqlType::SmallDateTime => Value::SmallDateTime(SmallDateTime::from_minutes(unsigned as i32)?),
        SqlType::DateTime2(_) => Value::DateTime2(DateTime2::from_ticks(i64::try_from(unsigned).ok()?)?),
        _ => return None,
    })
}

/// The bytes behind a string's or binary's key.
fn skip_string<'b>(bytes: &'b [u8], flip: u8, ty: &ColumnType) -> Option<&'b [u8]> {
    let turned = bytes.iter().map(|byte| byte ^ flip);
    if ty.ty == SqlType::Variant {
        return bytes.get(variant::key_length(turned)?..);
    }
    let length =
        if ty.ty.is_string() { ty.collation.comparing(&ty.ty).key_length(turned)? } else { binary_key_length(turned)? };
    bytes.get(length..)
}
