//! Whatever a function or a conversion gives has the type that it declares: what has not cannot be sent or stored.

use super::*;
use crate::code_page::CodePage;
use crate::datetime::{DateTime, DateTime2, SmallDateTime};
use crate::decimal::Decimal;

/// Whether a value is one of a type.
fn fits(value: &Value, ty: &SqlType) -> bool {
    let limit = ty.declared_length().map_or(usize::MAX, Length::limit);
    let whole_units = |ticks: i64, scale: u8| ticks % 10i64.pow(7 - u32::from(scale)) == 0;
    match (value, ty) {
        (Value::Null, _) => true,
        (Value::Str(text), ty) if ty.is_string() => {
            let page = CodePage::Western.of(ty);
            page.units(text) <= limit && text.chars().all(|c| page.holds(c))
        }
        (Value::Bin(bytes), ty) if ty.is_binary() => bytes.len() <= limit,
        (Value::Str(_), SqlType::Xml) | (Value::Bin(_), SqlType::Clr(_)) => true,
        (Value::Decimal(v), SqlType::Decimal { precision, scale }) => {
            v.scale() <= *scale && v.rescale(*precision, *scale).is_some()
        }
        (Value::Time(v), SqlType::Time(scale)) => whole_units(v.ticks(), *scale),
        (Value::DateTime2(v), SqlType::DateTime2(scale)) => whole_units(v.ticks(), *scale),
        (Value::DateTimeOffset(v), SqlType::DateTimeOffset(scale)) => whole_units(v.utc_ticks(), *scale),
        (Value::Bit(_), SqlType::Bit)
        | (Value::TinyInt(_), SqlType::TinyInt)
        | (Value::SmallInt(_), SqlType::SmallInt)
        | (Value::Int(_), SqlType::Int)
        | (Value::BigInt(_), SqlType::BigInt)
        | (Value::Money(_), SqlType::Money)
        | (Value::SmallMoney(_), SqlType::SmallMoney)
        | (Value::Float(_), SqlType::Float)
        | (Value::Real(_), SqlType::Real)
        | (Value::Date(_), SqlType::Date)
        | (Value::DateTime(_), SqlType::DateTime)
        | (Value::SmallDateTime(_), SqlType::SmallDateTime)
        | (Value::Guid(_), SqlType::UniqueIdentifier) => true,
        (Value::Variant(variant), SqlType::Variant) => fits(variant.value(), variant.ty()),
        _ => false,
    }
}

/// Values of many types that fill them, among them characters that one type has and another has not.
fn samples() -> Vec<(Value, SqlType)> {
    let narrow = |text: &str| (Value::from(text), SqlType::VarChar(Length::Limit(text.chars().count().max(1) as u16)));
    let wide = |text: &str| {
        let units = text.encode_utf16().count().max(1);
        (Value::from(text), SqlType::NVarChar(Length::Limit(units as u16)))
    };
    let decimal = |mantissa: i128, precision, scale| {
        let value = Decimal::new(mantissa, precision, scale).expect("a decimal");
        (Value::Decimal(value), SqlType::Decimal { precision, scale })
    };
    vec![
        (Value::Null, SqlType::Null),
        narrow(""),
        narrow("|"),
        narrow("ß€Ÿµ"),
        narrow("2024-02-29 23:59:59.997"),
        narrow("json"),
        narrow(&"x".repeat(8000)),
        wide("😀"),
        wide("|]"),
        wide("aΩ]😀"),
        wide("+05:30"),
        wide(&"]".repeat(129)),
        (Value::from(" b "), SqlType::Char(3)),
        (Value::from("{\"a\":[1,\"😀\"]}"), SqlType::NVarChar(Length::Max)),
        (Value::Bit(true), SqlType::Bit),
        (Value::TinyInt(255), SqlType::TinyInt),
        (Value::Int(-3), SqlType::Int),
        (Value::Int(2), SqlType::Int),
        (Value::Int(9000), SqlType::Int),
        (Value::BigInt(i64::MIN), SqlType::BigInt),
        decimal(-999, 3, 3),
        decimal(99, 2, 1),
        (Value::Money(-9_999_999), SqlType::Money),
        (Value::Float(-1.5e300), SqlType::Float),
        (Value::Float(9.995), SqlType::Float),
        (Value::Real(0.1), SqlType::Real),
        (Value::Bin(vec![0xFF, 0, 0x81]), SqlType::VarBinary(Length::Limit(3))),
        (Value::Guid([0xA5; 16]), SqlType::UniqueIdentifier),
        (Value::Date(crate::Date::from_days(738_000).expect("a day")), SqlType::Date),
        (Value::DateTime(DateTime::from_ticks(1_000_001).expect("a time")), SqlType::DateTime),
        (Value::SmallDateTime(SmallDateTime::from_minutes(90).expect("a time")), SqlType::SmallDateTime),
        (Value::DateTime2(DateTime2::from_ticks(9_990_000).expect("a time")), SqlType::DateTime2(3)),
        (
            Value::DateTimeOffset(DateTimeOffset::new(638_000_000_070_000_000, -90).expect("a time")),
            SqlType::DateTimeOffset(0),
        ),
    ]
}

/// What is wrong with the result of a call.
fn misfit(function: &Function, arguments: Vec<(Value, SqlType)>, context: &mut Context) -> Option<String> {
    let (values, types): (Vec<_>, Vec<_>) = arguments.into_iter().unzip();
    let ty = (function.result_type)(&types).ok()?;
    let value = (function.eval)(context, &values, &types).ok()?;
    (!fits(&value, &ty)).then(|| format!("{} of {values:.99?} {types:?} is no {ty}: {value:.99?}", function.name))
}

#[test]
fn what_a_function_gives_fits_the_type_it_declares() {
    let mut context = Context::new(DateTimeOffset::new(638_000_000_123_456_789, 0).expect("a time"), 1);
    let samples = samples();
    let parts = ["year", "week", "millisecond", "nanosecond", "tzoffset"].map(|part| {
        let value = Value::from(part);
        (value, SqlType::VarChar(Length::Limit(32)))
    });
    let mut misfits = Vec::new();
    'functions: for function in FUNCTIONS {
        for count in function.min_args..=function.max_args.min((function.min_args + 1).max(3)) {
            let places = |at| if at == 0 && function.date_part { &parts[..] } else { &samples[..] };
            let combinations: usize = (0..count).map(|at| places(at).len()).product();
            // All of a few arguments, a part of those of many.
            const CHECKED_MAX: usize = 40_000;
            for number in 0..combinations.min(CHECKED_MAX) {
                let mut rest = if combinations <= CHECKED_MAX { number } else { context.random() as usize };
                let arguments = (0..count)
                    .map(|at| {
                        let place = places(at);
                        let chosen = place[rest % place.len()].clone();
                        rest /= place.len();
                        chosen
                    })
                    .collect();
                if let Some(misfit) = misfit(function, arguments, &mut context) {
                    misfits.push(misfit);
                    continue 'functions;
                }
            }
        }
    }
    assert!(misfits.is_empty(), "{}", misfits.join("\n"));
}

#[test]
fn what_is_converted_fits_its_new_type() {
    let short = [SqlType::Char(1), SqlType::NChar(1), SqlType::VarChar(Length::Limit(1)), SqlType::Binary(1)];
    let others = [
        SqlType::NVarChar(Length::Limit(3)),
        SqlType::VarBinary(Length::Limit(2)),
        SqlType::Decimal { precision: 3, scale: 2 },
        SqlType::Time(0),
        SqlType::DateTime2(1),
        SqlType::DateTimeOffset(2),
    ];
    let samples = samples();
    let mut misfits = Vec::new();
    for (value, from) in &samples {
        for to in short.iter().chain(&others).chain(samples.iter().map(|(_, ty)| ty)) {
            let Ok(converted) = convert::convert(value, from, to, None) else { continue };
            if !fits(&converted, to) {
                misfits.push(format!("{value:.99?}, a {from}, is no {to}: {converted:.99?}"));
            }
        }
    }
    assert!(misfits.is_empty(), "{}", misfits.join("\n"));
}
