//! Types and values: to bytes and back, at the edges of each type, and byte by byte where the bytes are known.

mod support;

use pikepole_tds::{TdsError, TdsVersion, TypeInfo};
use pikepole_types::{
    Date, DateTime, DateTime2, DateTimeOffset, Decimal, Length, SmallDateTime, SqlType, Time, Value, Variant,
};
use proptest::prelude::*;
use support::{VERSIONS, hex, typed, utf16};

const V: TdsVersion = TdsVersion::V7_4;
const DAY: i64 = 864_000_000_000;

/// Whether two values are the same to the last bit; `==` is looser for dates with an offset and for floats.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Decimal(a), Value::Decimal(b)) => {
            (a.mantissa(), a.precision(), a.scale()) == (b.mantissa(), b.precision(), b.scale())
        }
        (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits(),
        (Value::Real(a), Value::Real(b)) => a.to_bits() == b.to_bits(),
        (Value::DateTimeOffset(a), Value::DateTimeOffset(b)) => a == b && a.offset_minutes() == b.offset_minutes(),
        _ => a == b,
    }
}

fn read(bytes: &[u8], version: TdsVersion) -> Result<(TypeInfo, Value), TdsError> {
    let mut rest = bytes;
    let info = TypeInfo::parse(&mut rest, version)?;
    let mut value = Value::Str("from before".into());
    info.parse_value(&mut rest, &mut value)?;
    assert!(rest.is_empty(), "{} bytes are left", rest.len());
    Ok((info, value))
}

fn round_trip(ty: &SqlType, value: &Value) {
    for nullable in [true, false] {
        if value.is_null() && !nullable {
            continue;
        }
        let info = TypeInfo::of(ty, nullable, V);
        let mut bytes = Vec::new();
        info.write(&mut bytes);
        info.write_value(ty, value, &mut bytes).expect("it fits");
        let (read_info, read_value) = read(&bytes, V).expect("it is read back");
        // A decimal says the length of the longest, whatever its own.
        let is_decimal = matches!(ty, SqlType::Decimal { .. });
        assert!(is_decimal || read_info == info, "{ty}: {read_info:?}");
        assert!(same(&read_value, value), "{ty}: {value:?} became {read_value:?}");
        assert_eq!(read_info.sql_type(), *ty);
        // Wherever the bytes end, the parser says so.
        for end in (0..bytes.len()).rev().take(300) {
            assert!(matches!(read(&bytes[..end], V), Err(TdsError::Truncated(_))), "{ty}: {end} bytes");
        }
    }
}

fn str_of(text: impl Into<String>) -> Value {
    Value::Str(text.into())
}

fn decimal(mantissa: i128, precision: u8, scale: u8) -> (SqlType, Value) {
    (SqlType::Decimal { precision, scale }, Value::Decimal(Decimal::new(mantissa, precision, scale).expect("it fits")))
}

/// Values at the edges of each type.
fn edges() -> Vec<(SqlType, Value)> {
    let limit = |n| Length::Limit(n);
    let mut edges = vec![
        (SqlType::Bit, Value::Bit(false)),
        (SqlType::Bit, Value::Bit(true)),
        (SqlType::TinyInt, Value::TinyInt(0)),
        (SqlType::TinyInt, Value::TinyInt(255)),
        (SqlType::SmallInt, Value::SmallInt(i16::MIN)),
        (SqlType::SmallInt, Value::SmallInt(i16::MAX)),
        (SqlType::Int, Value::Int(i32::MIN)),
        (SqlType::Int, Value::Int(i32::MAX)),
        (SqlType::BigInt, Value::BigInt(i64::MIN)),
        (SqlType::BigInt, Value::BigInt(i64::MAX)),
        (SqlType::Money, Value::Money(i64::MIN)),
        (SqlType::Money, Value::Money(i64::MAX)),
        (SqlType::Money, Value::Money(-1)),
        (SqlType::SmallMoney, Value::SmallMoney(i32::MIN)),
        (SqlType::SmallMoney, Value::SmallMoney(i32::MAX)),
        (SqlType::Real, Value::Real(f32::MIN)),
        (SqlType::Real, Value::Real(f32::MIN_POSITIVE / 8.0)),
        (SqlType::Float, Value::Float(f64::MAX)),
        (SqlType::Float, Value::Float(-0.0)),
        (SqlType::UniqueIdentifier, Value::Guid(std::array::from_fn(|at| at as u8))),
        (SqlType::Char(3), str_of("a  ")),
        (SqlType::VarChar(limit(8000)), str_of("é".repeat(8000))),
        (SqlType::VarChar(limit(1)), str_of("")),
        (SqlType::VarChar(Length::Max), str_of("")),
        (SqlType::VarChar(Length::Max), str_of("€".repeat(70_000))),
        (SqlType::NChar(4), str_of("a😀 ")),
        (SqlType::NVarChar(limit(4000)), str_of("😀".repeat(2000))),
        (SqlType::NVarChar(limit(1)), str_of("")),
        (SqlType::NVarChar(Length::Max), str_of("")),
        (SqlType::NVarChar(Length::Max), str_of("\u{10FFFF}x".repeat(40_000))),
        (SqlType::Binary(2), Value::Bin(vec![0, 255])),
        (SqlType::VarBinary(limit(8000)), Value::Bin(vec![7; 8000])),
        (SqlType::VarBinary(limit(1)), Value::Bin(Vec::new())),
        (SqlType::VarBinary(Length::Max), Value::Bin(Vec::new())),
        (SqlType::VarBinary(Length::Max), Value::Bin(vec![9; 100_000])),
    ];
    for (precision, scale) in [(1, 0), (9, 9), (10, 2), (19, 0), (20, 5), (28, 28), (29, 0), (38, 0), (38, 38)] {
        let largest = 10i128.pow(u32::from(precision)) - 1;
        edges.extend([0, 1, -1, largest, -largest].map(|mantissa| decimal(mantissa, precision, scale)));
    }
    let moments = [(1, 1, 1, 0), (9999, 12, 31, DAY - 1), (1753, 1, 1, 0), (2000, 2, 29, DAY / 2)];
    for (year, month, day, ticks) in moments {
        let date = Date::from_ymd(year, month, day).expect("a date");
        edges.push((SqlType::Date, Value::Date(date)));
        for scale in 0..=7u8 {
            let unit = 10i64.pow(7 - u32::from(scale));
            let ticks = ticks / unit * unit;
            let whole = i64::from(date.days()) * DAY + ticks;
            edges.push((SqlType::Time(scale), Value::Time(Time::from_ticks(ticks).expect("a time"))));
            edges.push((SqlType::DateTime2(scale), Value::DateTime2(DateTime2::from_ticks(whole).expect("in range"))));
            for offset in [0, -840, 840, 330] {
                if let Some(value) = DateTimeOffset::new(whole, offset) {
                    edges.push((SqlType::DateTimeOffset(scale), Value::DateTimeOffset(value)));
                }
            }
        }
    }
    let day = 86_400 * 300;
    for ticks in [-53_690 * day, -1, 0, 1, day - 1, 2_958_464 * day - 1] {
        edges.push((SqlType::DateTime, Value::DateTime(DateTime::from_ticks(ticks).expect("in range"))));
    }
    for minutes in [0, 1439, 1440, 65_536 * 1440 - 1] {
        let value = SmallDateTime::from_minutes(minutes).expect("in range");
        edges.push((SqlType::SmallDateTime, Value::SmallDateTime(value)));
    }
    edges
}

#[test]
fn every_type_round_trips_at_its_edges() {
    for (ty, value) in edges() {
        round_trip(&ty, &value);
        round_trip(&ty, &Value::Null);
    }
    assert_eq!(typed(&SqlType::Null, &Value::Null, V), hex("26 04 00"), "NULL alone is a nullable int");
}

#[test]
fn a_variant_brings_any_type_along() {
    for (ty, value) in edges().into_iter().filter(|(ty, _)| Variant::holds(ty)) {
        let variant = |value: &Value| Value::Variant(Box::new(Variant::new(ty, value.clone()).expect("it is held")));
        let bytes = typed(&SqlType::Variant, &variant(&value), V);
        let (info, read_back) = read(&bytes, V).expect("it is read back");
        assert_eq!(info.sql_type(), SqlType::Variant);
        let Value::Variant(read_back) = read_back else { panic!("{ty}: {read_back:?}") };
        assert_eq!(*read_back.ty(), ty);
        assert!(same(read_back.value(), &value), "{ty}: {value:?} became {read_back:?}");
        for end in (0..bytes.len()).rev().take(300) {
            assert!(read(&bytes[..end], V).is_err(), "{ty}: {end} bytes");
        }
    }
    let variant = |ty, value| Value::Variant(Box::new(Variant::new(ty, value).expect("it is held")));
    let decimal = Value::Decimal(Decimal::new(12_345, 5, 2).expect("it fits"));
    for (value, bytes) in [
        (Value::Null, "62 491F0000 00000000"),
        (variant(SqlType::Int, Value::Int(1)), "62 491F0000 06000000 38 00 01000000"),
        (
            variant(SqlType::Decimal { precision: 5, scale: 2 }, decimal),
            "62 491F0000 15000000 6A 02 0502 01 39300000000000000000000000000000",
        ),
        (variant(SqlType::VarChar(Length::Limit(5)), str_of("ab")), "62 491F0000 0B000000 A7 07 0904D00034 0500 6162"),
        (variant(SqlType::NVarChar(Length::Limit(4)), str_of("é")), "62 491F0000 0B000000 E7 07 0904D00034 0800 E900"),
        (
            variant(SqlType::Time(0), Value::Time(Time::from_ticks(10_000_000).expect("a time"))),
            "62 491F0000 06000000 29 01 00 010000",
        ),
    ] {
        assert_eq!(typed(&SqlType::Variant, &value, V), hex(bytes), "{value:?}");
    }
    // A text that is longer than its type.
    let long = variant(SqlType::VarChar(Length::Limit(1)), str_of("ab"));
    let sent = TypeInfo::of(&SqlType::Variant, true, V).write_value(&SqlType::Variant, &long, &mut Vec::new());
    assert!(sent.is_err());
}

#[test]
fn bytes_are_the_protocols() {
    let datetime = Value::DateTime(DateTime::from_ticks(86_400 * 300 + 1).expect("in range"));
    let noon = Value::Time(Time::from_ticks(DAY / 2).expect("a time"));
    let date = Value::Date(Date::from_days(0x01_0203).expect("a date"));
    let moment = Value::DateTime2(DateTime2::from_ticks(DAY + 10_000_000).expect("in range"));
    let offset = Value::DateTimeOffset(DateTimeOffset::new(DAY, -90).expect("in range"));
    for (ty, value, bytes) in [
        (SqlType::Int, Value::Int(1), "26 04 04 01000000"),
        (SqlType::TinyInt, Value::TinyInt(200), "26 01 01 C8"),
        (SqlType::Bit, Value::Bit(true), "68 01 01 01"),
        (SqlType::Bit, Value::Null, "68 01 00"),
        (SqlType::Money, Value::Money(0x0102_0304_0506_0708), "6E 08 08 04030201 08070605"),
        (SqlType::SmallMoney, Value::SmallMoney(-1), "6E 04 04 FFFFFFFF"),
        (SqlType::Float, Value::Float(1.5), "6D 08 08 000000000000F83F"),
        (SqlType::DateTime, datetime, "6F 08 08 01000000 01000000"),
        (
            SqlType::SmallDateTime,
            Value::SmallDateTime(SmallDateTime::from_minutes(1441).expect("in range")),
            "6F 04 04 0100 0100",
        ),
        (SqlType::Date, date, "28 03 030201"),
        (SqlType::Time(0), noon.clone(), "29 00 03 C0A800"),
        (SqlType::Time(7), noon, "29 07 05 00E0349564"),
        (SqlType::DateTime2(0), moment, "2A 00 06 010000 010000"),
        (SqlType::DateTimeOffset(3), offset, "2B 03 09 00000000 010000 A6FF"),
        (SqlType::VarChar(Length::Limit(5)), str_of("é€"), "A7 0500 0904D00034 0200 E980"),
        (SqlType::VarChar(Length::Limit(5)), Value::Null, "A7 0500 0904D00034 FFFF"),
        (SqlType::NVarChar(Length::Limit(5)), str_of("é"), "E7 0A00 0904D00034 0200 E900"),
        (SqlType::NVarChar(Length::Max), str_of("a"), "E7 FFFF 0904D00034 0200000000000000 02000000 6100 00000000"),
        (SqlType::NVarChar(Length::Max), str_of(""), "E7 FFFF 0904D00034 0000000000000000 00000000"),
        (SqlType::VarBinary(Length::Max), Value::Null, "A5 FFFF FFFFFFFFFFFFFFFF"),
        (SqlType::VarBinary(Length::Limit(2)), Value::Bin(vec![1]), "A5 0200 0100 01"),
    ] {
        assert_eq!(typed(&ty, &value, V), hex(bytes), "{ty}");
    }
    let (ty, value) = decimal(-12_345, 10, 2);
    assert_eq!(typed(&ty, &value, V), hex("6A 11 0A 02 09 00 3930000000000000"));
    assert_eq!(typed(&SqlType::Decimal { precision: 38, scale: 0 }, &Value::Null, V), hex("6A 11 26 00 00"));
}

#[test]
fn chunks_may_be_cut_anywhere_and_their_length_unknown() {
    let text = "a😀é";
    let bytes = utf16(text);
    for cut in 0..=bytes.len() {
        for length in ["FEFFFFFFFFFFFFFF", "0800000000000000"] {
            let mut data = [hex("E7 FFFF 0904D00034"), hex(length)].concat();
            for chunk in [&bytes[..cut], &bytes[cut..]].into_iter().filter(|chunk| !chunk.is_empty()) {
                data.extend((chunk.len() as u32).to_le_bytes());
                data.extend_from_slice(chunk);
            }
            data.extend([0; 4]);
            assert_eq!(read(&data, V).expect("a value").1, str_of(text));
        }
    }
    let lies = hex("A5 FFFF 0500000000000000 04000000 01020304 00000000");
    assert!(matches!(read(&lies, V), Err(TdsError::Malformed(_))));
    let longer_than_all = hex("A5 FFFF FEFFFFFFFFFFFFFF FFFFFFFF 01");
    assert!(matches!(read(&longer_than_all, V), Err(TdsError::Truncated(_))));
}

#[test]
fn other_types_of_clients_are_understood() {
    for (bytes, ty, value) in [
        ("1F", SqlType::Null, Value::Null),
        ("38 07000000", SqlType::Int, Value::Int(7)),
        ("30 07", SqlType::TinyInt, Value::TinyInt(7)),
        ("32 02", SqlType::Bit, Value::Bit(true)),
        ("7F 0700000000000000", SqlType::BigInt, Value::BigInt(7)),
        ("6C 05 05 02 05 01 39300000", SqlType::Decimal { precision: 5, scale: 2 }, decimal(12_345, 5, 2).1),
        ("6A 11 05 02 02 00 07", SqlType::Decimal { precision: 5, scale: 2 }, decimal(-7, 5, 2).1),
        ("27 05 02 6162", SqlType::VarChar(Length::Limit(5)), str_of("ab")),
        ("2F 05 00", SqlType::Char(5), Value::Null),
        ("25 05 01 FF", SqlType::VarBinary(Length::Limit(5)), Value::Bin(vec![255])),
        ("2D 05 01 FF", SqlType::Binary(5), Value::Bin(vec![255])),
        ("23 FFFFFF7F 0904D00034 02000000 6162", SqlType::Text, str_of("ab")),
        ("63 FFFFFF7F 0904D00034 02000000 6100", SqlType::NText, str_of("a")),
        ("22 FFFFFF7F FFFFFFFF", SqlType::Image, Value::Null),
        ("F1 00 0400000000000000 04000000 FFFE6100 00000000", SqlType::NVarChar(Length::Max), str_of("a")),
        ("F1 01 016400 00 01007300 FFFFFFFFFFFFFFFF", SqlType::NVarChar(Length::Max), Value::Null),
        // UTF-8 goes beyond what varchar holds here.
        ("A7 1000 0904D00400 0400 F09F9880", SqlType::NVarChar(Length::Limit(16)), str_of("😀")),
        ("A7 401F 0904D00400 0100 61", SqlType::NVarChar(Length::Max), str_of("a")),
        // Cyrillic: its ASCII part is the same everywhere.
        ("A7 0500 1904D0006A 0100 E9", SqlType::NVarChar(Length::Limit(5)), str_of("й")),
        ("E7 0000 0904D00034 FFFF", SqlType::NVarChar(Length::Limit(1)), Value::Null),
    ] {
        let (info, read_value) = read(&hex(bytes), V).unwrap_or_else(|error| panic!("{bytes}: {error}"));
        assert_eq!((info.sql_type(), &read_value), (ty, &value), "{bytes}");
        let mut again = Vec::new();
        info.write(&mut again);
        // A schema is left out, and a decimal says the length of the longest.
        let is_changed = bytes.starts_with("F1 01") || matches!(ty, SqlType::Decimal { .. });
        assert!(is_changed || hex(bytes).starts_with(&again), "{bytes}");
    }
}

#[test]
fn what_no_type_has_is_refused() {
    let unsupported = |bytes: &str| assert!(matches!(read(&hex(bytes), V), Err(TdsError::Unsupported(_))), "{bytes}");
    unsupported("F0 00 00 01 7800");
    unsupported("F4");
    unsupported("F3 00 00 00 FFFF 00 00");
    unsupported("A7 0500 1904D000FF 0100 E9");
    unsupported("E7 0400 0904D00034 0200 3DD8");
    assert_eq!(read(&hex("99"), V).err(), Some(TdsError::UnknownType(0x99)));
    let malformed = |bytes: &str| assert!(matches!(read(&hex(bytes), V), Err(TdsError::InvalidLength(_))), "{bytes}");
    malformed("26 03 00");
    malformed("6A 05 00 00 00");
    malformed("6A 05 27 00 00");
    malformed("6A 05 05 06 00");
    malformed("6A 00 05 02 00");
    malformed("6A 12 05 02 00");
    malformed("29 08 00");
    malformed("A7 411F 0904D00034 FFFF");
    malformed("E7 0300 0904D00034 FFFF");
    malformed("E7 0400 0904D00034 0600 610062006300");
    assert!(matches!(read(&hex("E7 0400 0904D00034 0300 610062"), V), Err(TdsError::Malformed(_))));
    malformed("26 04 05 0000000000");
    let invalid = |bytes: &str| assert!(matches!(read(&hex(bytes), V), Err(TdsError::InvalidValue(_))), "{bytes}");
    invalid("26 04 02 0000");
    invalid("6A 05 05 02 05 01 A0860100");
    invalid("6A 05 05 02 05 02 01000000");
    invalid("6A 11 26 00 11 01 FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF");
    invalid("6D 04 04 0000C07F");
    invalid("6D 08 08 000000000000F07F");
    invalid("6F 08 08 00000000 00A68B01");
    invalid("6F 08 08 452EFFFF 00000000");
    invalid("6F 04 04 0000 A005");
    invalid("28 03 DBB937");
    invalid("29 00 03 805101");
    invalid("29 07 03 000000");
    invalid("2A 00 06 000000 DBB937");
    invalid("2A 00 06 805101 000000");
    invalid("2B 00 08 000000 010000 4903");
    // The one offset that has no opposite.
    invalid("2B 00 08 000000 000001 0080");
    invalid("2B 00 08 000000 000000 FFFF");
    invalid("A7 0500 0904D00400 0100 E9");
    // Before 7.2 there are no (max) types.
    assert!(matches!(read(&hex("E7 FFFF 0904D00034 FFFF"), TdsVersion::V7_1), Err(TdsError::InvalidLength(0xE7))));
}

#[test]
fn what_does_not_fit_is_not_sent() {
    let refused = |ty: SqlType, value: Value| {
        for version in VERSIONS {
            let info = TypeInfo::of(&ty, true, version);
            let written = info.write_value(&ty, &value, &mut Vec::new());
            assert!(matches!(written, Err(TdsError::Unsendable(_))), "{ty} {version:?}: {value:?}");
        }
    };
    refused(SqlType::Int, Value::TinyInt(1));
    refused(SqlType::Int, str_of("1"));
    refused(SqlType::VarChar(Length::Limit(2)), str_of("abc"));
    refused(SqlType::NVarChar(Length::Limit(1)), str_of("😀"));
    refused(SqlType::VarBinary(Length::Limit(1)), Value::Bin(vec![1, 2]));
    refused(SqlType::VarBinary(Length::Max), str_of("a"));
    refused(SqlType::VarChar(Length::Max), Value::Bin(vec![1]));
    refused(SqlType::Decimal { precision: 4, scale: 2 }, decimal(12_345, 5, 2).1);
    refused(SqlType::Decimal { precision: 10, scale: 1 }, decimal(12_345, 5, 2).1);
    let info = TypeInfo::of(&SqlType::Time(0), true, V);
    let finer = Value::Time(Time::from_ticks(1).expect("a time"));
    assert!(info.write_value(&SqlType::Time(0), &finer, &mut Vec::new()).is_err());
    let not_null = TypeInfo::of(&SqlType::Int, false, V);
    assert!(not_null.write_value(&SqlType::Int, &Value::Null, &mut Vec::new()).is_err());
    // A client may declare fewer bytes than its precision takes.
    let short = TypeInfo::parse(&mut hex("6A 05 26 00").as_slice(), V).expect("a type");
    let (ty, value) = decimal(1 << 32, 38, 0);
    assert!(short.write_value(&ty, &value, &mut Vec::new()).is_err());
    assert!(short.write_value(&ty, &decimal((1 << 32) - 1, 38, 0).1, &mut Vec::new()).is_ok());
    // A decimal of a smaller scale is brought to the column's.
    let ty = SqlType::Decimal { precision: 5, scale: 2 };
    assert_eq!(typed(&ty, &decimal(7, 1, 0).1, V), hex("6A 11 05 02 05 01 BC020000"));
    // What the code page lacks is a question mark, or what looks like it, as everywhere.
    assert_eq!(typed(&SqlType::VarChar(Length::Limit(4)), &str_of("Ω😀"), V), hex("A7 0400 0904D00034 0300 4F3F3F"));
}

#[test]
fn older_clients_get_what_they_know() {
    let moment = DateTimeOffset::new(DAY * 365 + 12_345_678, 90).expect("in range");
    for (ty, value, text, units) in [
        (SqlType::Date, Value::Date(Date::from_ymd(1, 2, 3).expect("a date")), "0001-02-03", 10),
        (SqlType::Time(7), Value::Time(Time::from_ticks(1).expect("a time")), "00:00:00.0000001", 16),
        (SqlType::Time(0), Value::Time(Time::from_ticks(DAY / 2).expect("a time")), "12:00:00", 16),
        (
            SqlType::DateTime2(3),
            Value::DateTime2(DateTime2::from_ticks(DAY - 10_000).expect("in range")),
            "0001-01-01 23:59:59.999",
            27,
        ),
        (SqlType::DateTimeOffset(7), Value::DateTimeOffset(moment), "0002-01-01 01:30:01.2345678 +01:30", 34),
    ] {
        let (info, read_value) = read(&typed(&ty, &value, TdsVersion::V7_2), TdsVersion::V7_2).expect("a text");
        assert_eq!(info.sql_type(), SqlType::NVarChar(Length::Limit(units)), "{ty}");
        assert_eq!(read_value, str_of(text), "{ty}");
        assert_eq!(typed(&ty, &Value::Null, TdsVersion::V7_2)[8..], [0xFF, 0xFF]);
    }
    for (ty, value, token, older) in [
        (SqlType::VarChar(Length::Max), str_of("é"), 0x23, SqlType::Text),
        (SqlType::NVarChar(Length::Max), str_of("😀"), 0x63, SqlType::NText),
        (SqlType::VarBinary(Length::Max), Value::Bin(vec![1]), 0x22, SqlType::Image),
    ] {
        let bytes = typed(&ty, &value, TdsVersion::V7_1);
        assert_eq!(bytes[0], token);
        let (info, read_value) = read(&bytes, TdsVersion::V7_1).expect("a value");
        assert_eq!((info.sql_type(), read_value), (older, value));
    }
}

/// A type with a value of it.
fn any_value() -> impl Strategy<Value = (SqlType, Value)> {
    let text = proptest::collection::vec(any::<char>(), 0..60).prop_map(String::from_iter);
    let narrow = proptest::collection::vec(any::<u8>(), 0..60).prop_map(|bytes| {
        let mut text = String::new();
        pikepole_types::CodePage::Western.decode(&bytes, &mut text);
        text
    });
    let moment = (0i64..3_652_059, 0i64..DAY, 0u8..=7).prop_map(|(days, ticks, scale)| {
        let unit = 10i64.pow(7 - u32::from(scale));
        (scale, days, ticks / unit * unit)
    });
    prop_oneof![
        any::<u8>().prop_map(|v| (SqlType::TinyInt, Value::TinyInt(v))),
        any::<i16>().prop_map(|v| (SqlType::SmallInt, Value::SmallInt(v))),
        any::<i32>().prop_map(|v| (SqlType::Int, Value::Int(v))),
        any::<i64>().prop_map(|v| (SqlType::BigInt, Value::BigInt(v))),
        any::<i64>().prop_map(|v| (SqlType::Money, Value::Money(v))),
        any::<i32>().prop_map(|v| (SqlType::SmallMoney, Value::SmallMoney(v))),
        any::<f32>().prop_filter("finite", |v| v.is_finite()).prop_map(|v| (SqlType::Real, Value::Real(v))),
        any::<f64>().prop_filter("finite", |v| v.is_finite()).prop_map(|v| (SqlType::Float, Value::Float(v))),
        any::<[u8; 16]>().prop_map(|v| (SqlType::UniqueIdentifier, Value::Guid(v))),
        (1u8..=38, 0u8..=38, any::<i128>()).prop_map(|(precision, scale, mantissa)| {
            decimal(mantissa % 10i128.pow(u32::from(precision)), precision, scale % (precision + 1))
        }),
        (-53_690i64 * 25_920_000..2_958_464 * 25_920_000)
            .prop_map(|v| (SqlType::DateTime, Value::DateTime(DateTime::from_ticks(v).expect("in range")))),
        moment.clone().prop_map(|(scale, _, ticks)| {
            (SqlType::Time(scale), Value::Time(Time::from_ticks(ticks).expect("a time")))
        }),
        moment.clone().prop_map(|(scale, days, ticks)| {
            let value = DateTime2::from_ticks(days * DAY + ticks).expect("in range");
            (SqlType::DateTime2(scale), Value::DateTime2(value))
        }),
        (moment, -840i16..=840).prop_map(|((scale, days, ticks), offset)| {
            let value = DateTimeOffset::new(days.clamp(1, 3_652_057) * DAY + ticks, offset).expect("in range");
            (SqlType::DateTimeOffset(scale), Value::DateTimeOffset(value))
        }),
        text.clone().prop_map(|v| (SqlType::NVarChar(Length::Limit(200)), Value::Str(v))),
        text.prop_map(|v| (SqlType::NVarChar(Length::Max), Value::Str(v))),
        narrow.clone().prop_map(|v| (SqlType::VarChar(Length::Limit(200)), Value::Str(v))),
        narrow.prop_map(|v| (SqlType::VarChar(Length::Max), Value::Str(v))),
        proptest::collection::vec(any::<u8>(), 0..60).prop_map(|v| (SqlType::VarBinary(Length::Max), Value::Bin(v))),
    ]
}

proptest! {
    #[test]
    fn any_value_round_trips((ty, value) in any_value()) {
        round_trip(&ty, &value);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        for version in [TdsVersion::V7_1, V] {
            let mut rest = bytes.as_slice();
            if let Ok(info) = TypeInfo::parse(&mut rest, version) {
                let _ = info.parse_value(&mut rest, &mut Value::Null);
            }
        }
    }
}

#[test]
fn xml_goes_as_text_without_a_schema() {
    let bytes = |value: &Value, version: TdsVersion| {
        let info = TypeInfo::of(&SqlType::Xml, true, version);
        let mut bytes = Vec::new();
        info.write(&mut bytes);
        info.write_value(&SqlType::Xml, value, &mut bytes).expect("it fits");
        bytes
    };
    let sent = bytes(&str_of("<a/>"), V);
    let expected = [&[0xF1, 0, 8, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0], b"<\0a\0/\0>\0".as_slice(), &[0; 4]].concat();
    assert_eq!(sent, expected);
    assert_eq!(bytes(&Value::Null, V), [[0xF1, 0].as_slice(), &[0xFF; 8]].concat());
    let (info, value) = read(&sent, V).expect("it is read back");
    // What a client sends is text until it has been read as xml.
    assert_eq!((info.sql_type(), value), (SqlType::NVarChar(Length::Max), str_of("<a/>")));
    assert_eq!(bytes(&str_of("<a/>"), TdsVersion::V7_1)[0], 0x63, "ntext, to clients that know no xml");
}
