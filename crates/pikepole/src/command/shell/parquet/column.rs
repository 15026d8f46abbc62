//! The columns of a Parquet file, and what their values are in T-SQL.

use super::{DAY, DAYS_TO_1970, swapped};
use crate::command::quoted;
use parquet::basic::{ConvertedType, LogicalType, Repetition, TimeUnit, Type};
use parquet::data_type::ByteArray;
use parquet::schema::types::Type as Field;
use pikepole::{SqlType, Value};
use pikepole_types::{Date, DateTime2, Decimal, Length, Time, to_text};
use std::fmt::Write;

/// UTF-16 units of an `nvarchar` that is not `(max)`.
pub const TEXT_UNITS_MAX: usize = 4000;
/// Digits of a decimal.
const DIGITS_MAX: i32 = 38;
/// The day that INT96 counts 1970-01-01 as.
const JULIAN_1970: i64 = 2_440_588;

/// A value as the file has it.
#[derive(Debug, Clone)]
pub enum Raw {
    /// BOOLEAN
    Bool(bool),
    /// INT32 and INT64
    Int(i64),
    /// INT96
    Int96([u32; 3]),
    /// FLOAT and DOUBLE
    Float(f64),
    /// BYTE_ARRAY and FIXED_LEN_BYTE_ARRAY
    Bytes(ByteArray),
}

/// The meaning of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bit,
    TinyInt,
    SmallInt,
    Int,
    BigInt,
    /// Integers of 32 bits without a sign.
    Unsigned32,
    /// Integers of 64 bits without a sign.
    Unsigned64,
    Decimal {
        precision: u8,
        scale: u8,
    },
    HalfFloat,
    Real,
    Float,
    Date,
    Time(TimeUnit),
    DateTime(TimeUnit),
    Int96,
    Text,
    Guid,
    Binary,
}

/// A column of a file.
#[derive(Debug)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// True if it has no NULL.
    pub is_required: bool,
    kind: Kind,
}

impl Column {
    /// The column that a field of the schema is; an error where T-SQL has none such.
    pub fn of(field: &Field) -> Result<Column, String> {
        let name = field.name().to_owned();
        if name.is_empty() {
            return Err("a column has no name".to_owned());
        }
        if field.is_group() {
            return Err(format!("column {name} is nested, and a table has no such columns"));
        }
        let repetition = field.get_basic_info().repetition();
        if repetition == Repetition::REPEATED {
            return Err(format!("column {name} has lists of values, and a table has no such columns"));
        }
        let kind = Kind::of(field).map_err(|why| format!("column {name} {why}"))?;
        Ok(Column { name, is_required: repetition == Repetition::REQUIRED, kind })
    }

    /// True if its values are texts.
    pub fn is_text(&self) -> bool {
        self.kind == Kind::Text
    }

    /// Its type in a table that is made for it. `is_short`: no text is longer than [`TEXT_UNITS_MAX`].
    pub fn sql_type(&self, is_short: bool) -> SqlType {
        match self.kind {
            Kind::Bit => SqlType::Bit,
            Kind::TinyInt => SqlType::TinyInt,
            Kind::SmallInt => SqlType::SmallInt,
            Kind::Int => SqlType::Int,
            Kind::BigInt | Kind::Unsigned32 => SqlType::BigInt,
            Kind::Unsigned64 => SqlType::Decimal { precision: 20, scale: 0 },
            Kind::Decimal { precision, scale } => SqlType::Decimal { precision, scale },
            Kind::HalfFloat | Kind::Real => SqlType::Real,
            Kind::Float => SqlType::Float,
            Kind::Date => SqlType::Date,
            Kind::Time(unit) => SqlType::Time(digits(unit)),
            Kind::DateTime(unit) => SqlType::DateTime2(digits(unit)),
            Kind::Int96 => SqlType::DateTime2(7),
            Kind::Text if is_short => SqlType::NVarChar(Length::Limit(TEXT_UNITS_MAX as u16)),
            Kind::Text => SqlType::NVarChar(Length::Max),
            Kind::Guid => SqlType::UniqueIdentifier,
            Kind::Binary => SqlType::VarBinary(Length::Max),
        }
    }

    /// A value as T-SQL writes it; an error says what is wrong with the value.
    pub fn literal(&self, raw: &Raw) -> Result<String, String> {
        self.kind.literal(raw).map_err(|why| format!("column {}: {why}", self.name))
    }
}

/// Digits of a second's fraction.
fn digits(unit: TimeUnit) -> u8 {
    match unit {
        TimeUnit::MILLIS => 3,
        TimeUnit::MICROS => 6,
        TimeUnit::NANOS => 7,
    }
}

/// Ticks of 100 ns; what is less than one is cut off.
fn ticks(number: i64, unit: TimeUnit) -> Option<i64> {
    match unit {
        TimeUnit::MILLIS => number.checked_mul(10_000),
        TimeUnit::MICROS => number.checked_mul(10),
        TimeUnit::NANOS => Some(number.div_euclid(100)),
    }
}

impl Kind {
    fn of(field: &Field) -> Result<Kind, String> {
        let info = field.get_basic_info();
        let physical = field.get_physical_type();
        if let Some(kind) = info.logical_type_ref().and_then(|logical| Kind::of_logical(logical, physical)) {
            return Ok(kind);
        }
        match (info.converted_type(), physical) {
            (ConvertedType::DECIMAL, _) => Kind::decimal(field.get_precision(), field.get_scale()),
            (converted, physical) => {
                let kind = Kind::of_converted(converted, physical);
                Ok(kind.unwrap_or_else(|| Kind::of_physical(physical)))
            }
        }
    }

    /// The meaning that a logical type gives. Decimals are known by their converted type, which they always have too.
    fn of_logical(logical: &LogicalType, physical: Type) -> Option<Kind> {
        match (logical, physical) {
            (LogicalType::Integer(int), Type::INT32) => match (int.bit_width, int.is_signed) {
                (8, false) => Some(Kind::TinyInt),
                (8 | 16, true) => Some(Kind::SmallInt),
                (16, false) => Some(Kind::Int),
                (32, false) => Some(Kind::Unsigned32),
                _ => Some(Kind::Int),
            },
            (LogicalType::Integer(int), Type::INT64) if !int.is_signed => Some(Kind::Unsigned64),
            (LogicalType::Date, Type::INT32) => Some(Kind::Date),
            (LogicalType::Time(time), Type::INT32 | Type::INT64) => Some(Kind::Time(time.unit)),
            (LogicalType::Timestamp(timestamp), Type::INT64) => Some(Kind::DateTime(timestamp.unit)),
            (LogicalType::String | LogicalType::Enum | LogicalType::Json, Type::BYTE_ARRAY) => Some(Kind::Text),
            (LogicalType::Uuid, Type::FIXED_LEN_BYTE_ARRAY) => Some(Kind::Guid),
            (LogicalType::Float16, Type::FIXED_LEN_BYTE_ARRAY) => Some(Kind::HalfFloat),
            _ => None,
        }
    }

    /// The same of files from before there were logical types.
    fn of_converted(converted: ConvertedType, physical: Type) -> Option<Kind> {
        match (converted, physical) {
            (ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON, Type::BYTE_ARRAY) => Some(Kind::Text),
            (ConvertedType::DATE, Type::INT32) => Some(Kind::Date),
            (ConvertedType::TIME_MILLIS, Type::INT32) => Some(Kind::Time(TimeUnit::MILLIS)),
            (ConvertedType::TIME_MICROS, Type::INT64) => Some(Kind::Time(TimeUnit::MICROS)),
            (ConvertedType::TIMESTAMP_MILLIS, Type::INT64) => Some(Kind::DateTime(TimeUnit::MILLIS)),
            (ConvertedType::TIMESTAMP_MICROS, Type::INT64) => Some(Kind::DateTime(TimeUnit::MICROS)),
            (ConvertedType::UINT_8, Type::INT32) => Some(Kind::TinyInt),
            (ConvertedType::INT_8 | ConvertedType::INT_16, Type::INT32) => Some(Kind::SmallInt),
            (ConvertedType::UINT_32, Type::INT32) => Some(Kind::Unsigned32),
            (ConvertedType::UINT_64, Type::INT64) => Some(Kind::Unsigned64),
            _ => None,
        }
    }

    fn of_physical(physical: Type) -> Kind {
        match physical {
            Type::BOOLEAN => Kind::Bit,
            Type::INT32 => Kind::Int,
            Type::INT64 => Kind::BigInt,
            Type::INT96 => Kind::Int96,
            Type::FLOAT => Kind::Real,
            Type::DOUBLE => Kind::Float,
            Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY => Kind::Binary,
        }
    }

    fn decimal(precision: i32, scale: i32) -> Result<Kind, String> {
        let is_one = (1..=DIGITS_MAX).contains(&precision) && (0..=precision).contains(&scale);
        match (u8::try_from(precision), u8::try_from(scale)) {
            (Ok(precision), Ok(scale)) if is_one => Ok(Kind::Decimal { precision, scale }),
            _ => Err(format!("is a decimal({precision}, {scale}), and T-SQL has {DIGITS_MAX} digits at most")),
        }
    }

    /// A value as T-SQL writes it. Dates have their type with them: the session's DATEFORMAT does not matter then, and a column of
    /// another type takes them.
    fn literal(self, raw: &Raw) -> Result<String, String> {
        match (self, raw) {
            (Kind::Bit, Raw::Bool(bit)) => Ok(u8::from(*bit).to_string()),
            (Kind::TinyInt | Kind::SmallInt | Kind::Int | Kind::BigInt, Raw::Int(number)) => Ok(number.to_string()),
            (Kind::Unsigned32, Raw::Int(number)) => Ok((*number as u32).to_string()),
            (Kind::Unsigned64, Raw::Int(number)) => Ok((*number as u64).to_string()),
            (Kind::Decimal { precision, scale }, Raw::Int(number)) => decimal(Some((*number).into()), precision, scale),
            (Kind::Decimal { precision, scale }, Raw::Bytes(bytes)) => decimal(mantissa(bytes), precision, scale),
            (Kind::Real | Kind::Float, Raw::Float(number)) => float(*number),
            (Kind::HalfFloat, Raw::Bytes(bytes)) => float(half_float(bytes)?),
            (Kind::Date, Raw::Int(days)) => date(*days),
            (Kind::Time(unit), Raw::Int(number)) => time(*number, unit),
            (Kind::DateTime(unit), Raw::Int(number)) => {
                let ticks = ticks(*number, unit).and_then(|ticks| ticks.checked_add(DAYS_TO_1970 * DAY));
                date_time(ticks, digits(unit))
            }
            (Kind::Int96, Raw::Int96([low, high, day])) => {
                let nanos = (u64::from(*high) << 32 | u64::from(*low)) as i64;
                let days = i64::from(*day) - JULIAN_1970 + DAYS_TO_1970;
                date_time(days.checked_mul(DAY).and_then(|ticks| ticks.checked_add(nanos.div_euclid(100))), 7)
            }
            (Kind::Text, Raw::Bytes(bytes)) => match std::str::from_utf8(bytes.data()) {
                Ok(text) => Ok(quoted(text)),
                Err(_) => Err("a text is no UTF-8".to_owned()),
            },
            (Kind::Guid, Raw::Bytes(bytes)) => {
                let guid = <[u8; 16]>::try_from(bytes.data()).map_err(|_| "a UUID has not 16 bytes".to_owned())?;
                Ok(quoted(&to_text(&Value::Guid(swapped(guid)), &SqlType::UniqueIdentifier)))
            }
            (Kind::Binary, Raw::Bytes(bytes)) => Ok(binary(bytes.data())),
            _ => Err("a value is of another type than its column".to_owned()),
        }
    }
}

fn decimal(mantissa: Option<i128>, precision: u8, scale: u8) -> Result<String, String> {
    let decimal = mantissa.and_then(|mantissa| Decimal::new(mantissa, precision, scale));
    let decimal = decimal.ok_or_else(|| format!("a decimal has more than {precision} digits"))?;
    Ok(quoted(&decimal.to_string()))
}

/// The digits of a decimal in bytes, the highest first; None: there are more than T-SQL has.
fn mantissa(bytes: &ByteArray) -> Option<i128> {
    let bytes = bytes.data();
    let sign = if bytes.first().is_some_and(|byte| byte & 0x80 != 0) { 0xff } else { 0 };
    let (more, last) = bytes.split_at(bytes.len().saturating_sub(16));
    let mut filled = [sign; 16];
    filled[16 - last.len()..].copy_from_slice(last);
    let number = i128::from_be_bytes(filled);
    let is_whole = more.iter().all(|byte| *byte == sign) && (number < 0) == (sign != 0);
    is_whole.then_some(number)
}

fn float(number: f64) -> Result<String, String> {
    match number.is_finite() {
        true => Ok(format!("{number:E}")),
        false => Err(format!("{number} is no number of T-SQL")),
    }
}

/// A float of 16 bits: a sign, 5 bits of the exponent, 10 of the fraction.
fn half_float(bytes: &ByteArray) -> Result<f64, String> {
    let bytes = <[u8; 2]>::try_from(bytes.data()).map_err(|_| "a FLOAT16 has not 2 bytes".to_owned())?;
    let bits = u16::from_le_bytes(bytes);
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    let size = match exponent {
        0 => fraction * 2_f64.powi(-24),
        0x1f if fraction == 0.0 => f64::INFINITY,
        0x1f => f64::NAN,
        exponent => (1.0 + fraction / 1024.0) * 2_f64.powi(exponent - 15),
    };
    Ok(if bits & 0x8000 == 0 { size } else { -size })
}

fn typed(value: &Value, ty: SqlType) -> String {
    format!("CAST({} AS {ty})", quoted(&to_text(value, &ty)))
}

fn date(days: i64) -> Result<String, String> {
    let date = days.checked_add(DAYS_TO_1970).and_then(|days| i32::try_from(days).ok()).and_then(Date::from_days);
    let date = date.ok_or_else(|| format!("a date, {days} days from 1970-01-01, is not within the years 1 to 9999"))?;
    Ok(typed(&Value::Date(date), SqlType::Date))
}

fn time(number: i64, unit: TimeUnit) -> Result<String, String> {
    let time = ticks(number, unit).and_then(Time::from_ticks);
    let time =
        time.ok_or_else(|| format!("a time, {number} {} from midnight, is not within a day", unit_name(unit)))?;
    Ok(typed(&Value::Time(time), SqlType::Time(digits(unit))))
}

fn date_time(ticks: Option<i64>, digits: u8) -> Result<String, String> {
    let date_time = ticks.and_then(DateTime2::from_ticks);
    let date_time = date_time.ok_or_else(|| "a timestamp is not within the years 1 to 9999".to_owned())?;
    Ok(typed(&Value::DateTime2(date_time), SqlType::DateTime2(digits)))
}

fn unit_name(unit: TimeUnit) -> &'static str {
    match unit {
        TimeUnit::MILLIS => "ms",
        TimeUnit::MICROS => "us",
        TimeUnit::NANOS => "ns",
    }
}

fn binary(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 + 2 * bytes.len());
    text.push_str("0x");
    for byte in bytes {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02X}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(bytes: &[u8]) -> Raw {
        Raw::Bytes(ByteArray::from(bytes))
    }

    fn literal(kind: Kind, raw: &Raw) -> String {
        kind.literal(raw).expect("a value of T-SQL")
    }

    #[test]
    fn integers_keep_their_value_whatever_their_sign() {
        assert_eq!(literal(Kind::Int, &Raw::Int(i32::MIN.into())), "-2147483648");
        assert_eq!(literal(Kind::Unsigned32, &Raw::Int(-1)), "4294967295");
        assert_eq!(literal(Kind::Unsigned64, &Raw::Int(-1)), "18446744073709551615");
        assert_eq!(literal(Kind::Bit, &Raw::Bool(true)), "1");
    }

    #[test]
    fn decimals_have_all_their_digits() {
        let kind = Kind::Decimal { precision: 38, scale: 38 };
        let most = (10_i128.pow(38) - 1).to_be_bytes();
        assert_eq!(literal(kind, &bytes(&most)), "N'0.99999999999999999999999999999999999999'");
        let kind = Kind::Decimal { precision: 5, scale: 2 };
        assert_eq!(literal(kind, &Raw::Int(-12_345)), "N'-123.45'");
        assert_eq!(literal(kind, &bytes(&[0xcf, 0xc7])), "N'-123.45'");
        assert_eq!(literal(kind, &bytes(&[])), "N'0.00'");
        // More bytes than are needed.
        assert_eq!(literal(kind, &bytes(&[[0xff; 18].as_slice(), &[0xcf, 0xc7]].concat())), "N'-123.45'");
        assert!(kind.literal(&Raw::Int(100_000)).is_err());
        assert!(kind.literal(&bytes(&[&[1], [0; 17].as_slice()].concat())).is_err());
        assert!(kind.literal(&bytes(&[[0; 2].as_slice(), &[0x80], &[0; 15]].concat())).is_err());
        assert!(Kind::decimal(39, 0).is_err());
        assert!(Kind::decimal(4, 5).is_err());
    }

    #[test]
    fn floats_are_read_back_as_they_are() {
        for number in [0.1, -0.0, 5e-324, f64::MAX, 0.1_f32.into()] {
            let text = literal(Kind::Float, &Raw::Float(number));
            assert_eq!(text.parse::<f64>().map(f64::to_bits), Ok(number.to_bits()), "{text}");
            assert!(text.contains('E'), "{text}");
        }
        assert!(Kind::Float.literal(&Raw::Float(f64::NAN)).is_err());
        assert!(Kind::Real.literal(&Raw::Float(f64::INFINITY)).is_err());
        assert_eq!(literal(Kind::HalfFloat, &bytes(&0xc100_u16.to_le_bytes())), "-2.5E0");
        assert_eq!(literal(Kind::HalfFloat, &bytes(&1_u16.to_le_bytes())), "5.960464477539063E-8");
        assert!(Kind::HalfFloat.literal(&bytes(&0x7c00_u16.to_le_bytes())).is_err());
    }

    #[test]
    fn dates_and_times_have_their_type_and_their_range() {
        assert_eq!(literal(Kind::Date, &Raw::Int(0)), "CAST(N'1970-01-01' AS date)");
        assert_eq!(literal(Kind::Date, &Raw::Int(-DAYS_TO_1970)), "CAST(N'0001-01-01' AS date)");
        let error = Kind::Date.literal(&Raw::Int(-DAYS_TO_1970 - 1)).expect_err("a year before 1");
        assert_eq!(error, "a date, -719163 days from 1970-01-01, is not within the years 1 to 9999");
        assert_eq!(literal(Kind::Time(TimeUnit::MILLIS), &Raw::Int(1)), "CAST(N'00:00:00.001' AS time(3))");
        assert!(Kind::Time(TimeUnit::NANOS).literal(&Raw::Int(86_400_000_000_000)).is_err());
        assert!(Kind::Time(TimeUnit::MICROS).literal(&Raw::Int(-1)).is_err());
        let micros = literal(Kind::DateTime(TimeUnit::MICROS), &Raw::Int(-1));
        assert_eq!(micros, "CAST(N'1969-12-31 23:59:59.999999' AS datetime2(6))");
        let nanos = literal(Kind::DateTime(TimeUnit::NANOS), &Raw::Int(1_199));
        assert_eq!(nanos, "CAST(N'1970-01-01 00:00:00.0000011' AS datetime2(7))");
        for unit in [TimeUnit::MILLIS, TimeUnit::MICROS] {
            assert!(Kind::DateTime(unit).literal(&Raw::Int(i64::MAX)).is_err());
            assert!(Kind::DateTime(unit).literal(&Raw::Int(i64::MIN)).is_err());
        }
        let int96 = literal(Kind::Int96, &Raw::Int96([100, 0, 2_440_589]));
        assert_eq!(int96, "CAST(N'1970-01-02 00:00:00.0000001' AS datetime2(7))");
        assert!(Kind::Int96.literal(&Raw::Int96([0, 0, u32::MAX])).is_err());
    }

    #[test]
    fn texts_and_bytes_are_quoted() {
        assert_eq!(literal(Kind::Text, &bytes("it's".as_bytes())), "N'it''s'");
        assert!(Kind::Text.literal(&bytes(&[0xff])).is_err());
        assert_eq!(literal(Kind::Binary, &bytes(&[0, 0xab])), "0x00AB");
        assert_eq!(literal(Kind::Binary, &bytes(&[])), "0x");
        let guid: Vec<u8> = (0..16).collect();
        assert_eq!(literal(Kind::Guid, &bytes(&guid)), "N'00010203-0405-0607-0809-0A0B0C0D0E0F'");
        assert!(Kind::Guid.literal(&bytes(&[0])).is_err());
    }
}
