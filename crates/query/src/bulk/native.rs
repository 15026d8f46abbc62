//! Values as `bcp -n` writes them: numbers little-endian, what else has a length behind it.
//!
//! ```text
//!   int       4 bytes; a byte with the length before it where the column takes NULL
//!   money     the upper four bytes, then the lower ones
//!   decimal   [ length 1 | precision 1 | scale 1 | sign 1, one for plus | magnitude 16 ]
//!   datetime  [ days since 1900-01-01 4 | 1/300 s 4 ]      smalldatetime  [ days 2 | minutes 2 ]
//!   time      3 to 5 bytes by its scale, as on the wire; datetime2 has 3 bytes of the date behind it, datetimeoffset 2 of minutes more
//!   varchar   [ length 2 | bytes ]                         (max)          [ length 8 | bytes ]
//! ```

use super::format_file::{FieldFormat, Host};
use super::options::Encoding;
use pikepole_types::{
    CodePage, Date, DateTime, DateTime2, DateTimeOffset, Decimal, Length, SmallDateTime, SqlType, Time, Value,
};

/// Bytes of a decimal: precision, scale, sign and magnitude.
const DECIMAL_BYTES: usize = 19;
/// Ticks of 1/300 s in a day, and of 100 ns.
const DATETIME_DAY: i64 = 86_400 * 300;
const DAY: i64 = 864_000_000_000;

/// The bytes of a value of a type whose values all have as many.
pub(super) fn bytes_of(ty: &SqlType) -> Option<usize> {
    Some(match ty {
        SqlType::Bit | SqlType::TinyInt => 1,
        SqlType::SmallInt => 2,
        SqlType::Int | SqlType::Real | SqlType::SmallMoney | SqlType::SmallDateTime => 4,
        SqlType::BigInt | SqlType::Float | SqlType::Money | SqlType::DateTime => 8,
        SqlType::Date => 3,
        SqlType::Time(scale) => time_bytes(*scale),
        SqlType::DateTime2(scale) => time_bytes(*scale) + 3,
        SqlType::DateTimeOffset(scale) => time_bytes(*scale) + 5,
        SqlType::UniqueIdentifier => 16,
        SqlType::Decimal { .. } => DECIMAL_BYTES,
        _ => return None,
    })
}

fn time_bytes(scale: u8) -> usize {
    match scale {
        0..=2 => 3,
        3..=4 => 4,
        _ => 5,
    }
}

/// The field of a column in a native file; None: bcp's form of the type is not known here. `wide`: `bcp -N`, whose texts are UTF-16.
pub(crate) fn field_of(ty: &SqlType, page: CodePage, nullable: bool, wide: bool) -> Option<FieldFormat> {
    let text = if wide { Host::Wide } else { Host::Text(Some(Encoding::of(page))) };
    let by_length = |length: Length| if length == Length::Max { 8 } else { 2 };
    let (host, prefix_bytes) = match ty {
        SqlType::Char(_) => (text, 2),
        SqlType::VarChar(length) => (text, by_length(*length)),
        SqlType::NChar(_) => (Host::Wide, 2),
        SqlType::Text => (text, 4),
        SqlType::NText => (Host::Wide, 4),
        SqlType::Image => (Host::Native(SqlType::VarBinary(Length::Max)), 4),
        SqlType::NVarChar(length) => (Host::Wide, by_length(*length)),
        SqlType::Binary(_) => (Host::Native(SqlType::VarBinary(Length::Max)), 2),
        SqlType::VarBinary(length) => (Host::Native(SqlType::VarBinary(Length::Max)), by_length(*length)),
        SqlType::Decimal { .. }
        | SqlType::UniqueIdentifier
        | SqlType::Date
        | SqlType::Time(_)
        | SqlType::DateTime2(_)
        | SqlType::DateTimeOffset(_) => (Host::Native(*ty), 1),
        SqlType::Clr(_) => (Host::Native(SqlType::VarBinary(Length::Max)), 8),
        SqlType::Null | SqlType::Variant | SqlType::Xml => return None,
        ty => (Host::Native(*ty), u8::from(nullable)),
    };
    Some(FieldFormat { host, prefix_bytes, length: 0, terminator: Vec::new() })
}

/// The value that bytes are, and its type. A time's scale is that of the column that it goes to, if that has one. None: they are
/// no value of the type.
pub(super) fn decode(ty: &SqlType, column: &SqlType, bytes: &[u8]) -> Option<(Value, SqlType)> {
    let ty = match (ty, column) {
        (SqlType::Time(_), SqlType::Time(_))
        | (SqlType::DateTime2(_), SqlType::DateTime2(_))
        | (SqlType::DateTimeOffset(_), SqlType::DateTimeOffset(_)) => *column,
        (ty, _) => *ty,
    };
    if let SqlType::Decimal { .. } = ty {
        let decimal = decimal(bytes)?;
        return Some((Value::Decimal(decimal), decimal.sql_type()));
    }
    let value = match ty {
        SqlType::VarBinary(_) => Value::Bin(bytes.to_vec()),
        SqlType::Bit => Value::Bit(fixed::<1>(bytes)?[0] != 0),
        SqlType::TinyInt => Value::TinyInt(fixed::<1>(bytes)?[0]),
        SqlType::SmallInt => Value::SmallInt(i16::from_le_bytes(fixed(bytes)?)),
        SqlType::Int => Value::Int(i32::from_le_bytes(fixed(bytes)?)),
        SqlType::BigInt => Value::BigInt(i64::from_le_bytes(fixed(bytes)?)),
        SqlType::Real => Value::Real(Some(f32::from_le_bytes(fixed(bytes)?)).filter(|value| value.is_finite())?),
        SqlType::Float => Value::Float(Some(f64::from_le_bytes(fixed(bytes)?)).filter(|value| value.is_finite())?),
        SqlType::SmallMoney => Value::SmallMoney(i32::from_le_bytes(fixed(bytes)?)),
        SqlType::Money => {
            let [a, b, c, d, e, f, g, h] = fixed(bytes)?;
            Value::Money(i64::from_le_bytes([e, f, g, h, a, b, c, d]))
        }
        SqlType::UniqueIdentifier => Value::Guid(fixed(bytes)?),
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
        SqlType::Date => Value::Date(date(bytes)?),
        SqlType::Time(scale) => Value::Time(Time::from_ticks(ticks(bytes, scale)?)?),
        SqlType::DateTime2(scale) => Value::DateTime2(DateTime2::from_ticks(moment(bytes, scale)?)?),
        SqlType::DateTimeOffset(scale) => {
            let (rest, offset) = bytes.split_last_chunk::<2>()?;
            Value::DateTimeOffset(DateTimeOffset::new(moment(rest, scale)?, i16::from_le_bytes(*offset))?)
        }
        _ => return None,
    };
    Some((value, ty))
}

fn fixed<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    bytes.try_into().ok()
}

fn decimal(bytes: &[u8]) -> Option<Decimal> {
    let [precision, scale, sign, magnitude @ ..] = bytes else {
        return None;
    };
    let magnitude = i128::try_from(u128::from_le_bytes(fixed(magnitude)?)).ok()?;
    let mantissa = match sign {
        0 => -magnitude,
        1 => magnitude,
        _ => return None,
    };
    Decimal::new(mantissa, *precision, *scale)
}

/// A little-endian number of exactly `width` bytes, fewer than 8.
fn number(bytes: &[u8], width: usize) -> Option<i64> {
    let mut padded = [0; 8];
    (bytes.len() == width).then(|| padded[..width].copy_from_slice(bytes))?;
    Some(i64::from_le_bytes(padded))
}

fn date(bytes: &[u8]) -> Option<Date> {
    Date::from_days(i32::try_from(number(bytes, 3)?).ok()?)
}

/// Ticks of 100 ns out of a time of day.
fn ticks(bytes: &[u8], scale: u8) -> Option<i64> {
    let ticks = number(bytes, time_bytes(scale))?.checked_mul(10i64.pow(7 - u32::from(scale)))?;
    (ticks < DAY).then_some(ticks)
}

/// Ticks of 100 ns since 0001-01-01 out of a time of day and a date.
fn moment(bytes: &[u8], scale: u8) -> Option<i64> {
    let (time, days) = bytes.split_last_chunk::<3>()?;
    Some(i64::from(date(days)?.days()) * DAY + ticks(time, scale)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What [`decode`] reads.
    fn encode(value: &Value, scale: u8) -> Vec<u8> {
        let time = |ticks: i64| (ticks / 10i64.pow(7 - u32::from(scale))).to_le_bytes()[..time_bytes(scale)].to_vec();
        let moment = |ticks: i64| [&time(ticks % DAY)[..], &(ticks / DAY).to_le_bytes()[..3]].concat();
        match value {
            Value::Bit(bit) => vec![u8::from(*bit)],
            Value::TinyInt(number) => vec![*number],
            Value::SmallInt(number) => number.to_le_bytes().to_vec(),
            Value::Int(number) => number.to_le_bytes().to_vec(),
            Value::BigInt(number) => number.to_le_bytes().to_vec(),
            Value::Real(number) => number.to_le_bytes().to_vec(),
            Value::Float(number) => number.to_le_bytes().to_vec(),
            Value::SmallMoney(units) => units.to_le_bytes().to_vec(),
            Value::Money(units) => [((units >> 32) as i32).to_le_bytes(), (*units as u32).to_le_bytes()].concat(),
            Value::Guid(bytes) => bytes.to_vec(),
            Value::Bin(bytes) => bytes.clone(),
            Value::Decimal(decimal) => {
                let head = [decimal.precision(), decimal.scale(), u8::from(decimal.mantissa() >= 0)];
                [&head[..], &decimal.mantissa().unsigned_abs().to_le_bytes()].concat()
            }
            Value::DateTime(at) => {
                let (days, ticks) = (at.ticks().div_euclid(DATETIME_DAY), at.ticks().rem_euclid(DATETIME_DAY));
                [(days as i32).to_le_bytes(), (ticks as u32).to_le_bytes()].concat()
            }
            Value::SmallDateTime(at) => {
                let (days, minutes) = (at.minutes() / 1440, at.minutes() % 1440);
                [(days as u16).to_le_bytes(), (minutes as u16).to_le_bytes()].concat()
            }
            Value::Date(date) => date.days().to_le_bytes()[..3].to_vec(),
            Value::Time(at) => time(at.ticks()),
            Value::DateTime2(at) => moment(at.ticks()),
            Value::DateTimeOffset(at) => [&moment(at.utc_ticks())[..], &at.offset_minutes().to_le_bytes()].concat(),
            _ => Vec::new(),
        }
    }

    #[test]
    fn values_come_back_as_they_were_written() {
        let decimal =
            |mantissa, precision, scale| Value::Decimal(Decimal::new(mantissa, precision, scale).expect("digits"));
        let mut cases = vec![
            (SqlType::Bit, Value::Bit(true)),
            (SqlType::TinyInt, Value::TinyInt(255)),
            (SqlType::SmallInt, Value::SmallInt(i16::MIN)),
            (SqlType::Int, Value::Int(i32::MIN)),
            (SqlType::BigInt, Value::BigInt(i64::MAX)),
            (SqlType::Real, Value::Real(-1.25)),
            (SqlType::Float, Value::Float(f64::MAX)),
            (SqlType::SmallMoney, Value::SmallMoney(i32::MIN)),
            (SqlType::UniqueIdentifier, Value::Guid([7; 16])),
            (SqlType::VarBinary(Length::Max), Value::Bin(vec![1, 2, 3])),
            (SqlType::Decimal { precision: 9, scale: 2 }, decimal(-1_234, 9, 2)),
            (SqlType::Decimal { precision: 38, scale: 0 }, decimal(10i128.pow(38) - 1, 38, 0)),
        ];
        cases.extend([0, 1, -1, i64::MIN, i64::MAX].map(|units| (SqlType::Money, Value::Money(units))));
        let days = [0, 1, 3_652_058].map(|days| Value::Date(Date::from_days(days).expect("a date")));
        cases.extend(days.map(|date| (SqlType::Date, date)));
        let moments =
            [-53_690, 0, 2_958_463].map(|day| DateTime::from_ticks(day * DATETIME_DAY + 299).expect("a time"));
        cases.extend(moments.map(|at| (SqlType::DateTime, Value::DateTime(at))));
        let minutes = [0, 65_535 * 1440 + 1439].map(|minutes| SmallDateTime::from_minutes(minutes).expect("a time"));
        cases.extend(minutes.map(|at| (SqlType::SmallDateTime, Value::SmallDateTime(at))));
        for scale in 0..=7 {
            let unit = 10i64.pow(7 - u32::from(scale));
            let last = DAY - unit;
            cases.push((SqlType::Time(scale), Value::Time(Time::from_ticks(last).expect("a time"))));
            let at = 730_000 * DAY + last;
            cases.push((SqlType::DateTime2(scale), Value::DateTime2(DateTime2::from_ticks(at).expect("a time"))));
            let at = DateTimeOffset::new(at, -840).expect("a time");
            cases.push((SqlType::DateTimeOffset(scale), Value::DateTimeOffset(at)));
        }
        for (ty, value) in cases {
            let scale = match ty {
                SqlType::Time(scale) | SqlType::DateTime2(scale) | SqlType::DateTimeOffset(scale) => scale,
                _ => 7,
            };
            let bytes = encode(&value, scale);
            assert!(bytes_of(&ty).is_none_or(|count| count == bytes.len()), "{ty:?}");
            assert_eq!(decode(&ty, &ty, &bytes), Some((value, ty)), "{ty:?}");
            // A byte fewer or more is no value, but for types of any length.
            if !matches!(ty, SqlType::VarBinary(_)) {
                assert_eq!(decode(&ty, &ty, &bytes[1..]), None, "{ty:?}");
                assert_eq!(decode(&ty, &ty, &[&bytes[..], &[0]].concat()), None, "{ty:?}");
            }
        }
    }

    #[test]
    fn bytes_that_are_no_value_are_none() {
        let none = |ty: SqlType, bytes: &[u8]| assert_eq!(decode(&ty, &ty, bytes), None, "{ty:?}");
        none(SqlType::Float, &f64::NAN.to_le_bytes());
        none(SqlType::DateTime, &[0, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF]);
        none(SqlType::SmallDateTime, &[0, 0, 0xFF, 0xFF]);
        none(SqlType::Date, &[0xFF; 3]);
        none(SqlType::Time(7), &[0xFF; 5]);
        none(SqlType::Decimal { precision: 9, scale: 2 }, &[0xFF; 19]);
        none(SqlType::Decimal { precision: 9, scale: 2 }, &[1, 0, 1, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        none(SqlType::VarChar(Length::Max), b"text");
    }
}
