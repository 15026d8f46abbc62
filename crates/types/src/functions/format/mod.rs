//! FORMAT: .NET's standard and custom formats of numbers, dates and times, in the cultures of the languages that there are.
//!
//! A picture that .NET would refuse gives NULL, as in SQL Server. A `time` is a span of time to .NET: what stands between its
//! parts must be quoted or escaped.

mod culture;
mod date;
mod number;
#[cfg(test)]
mod tests;

use super::{Context, text};
use crate::code_page::CodePage;
use crate::convert::{self, moment_of};
use crate::datetime::Language;
use crate::decimal::{Decimal, PRECISION_MAX};
use crate::display::to_text;
use crate::error::SqlError;
use crate::sql_type::{Length, SqlType};
use crate::value::Value;
use number::Number;

/// UTF-16 units of a picture and of what is made by it.
const UNITS_MAX: usize = 4000;

pub(super) fn format_type(types: &[SqlType]) -> Result<SqlType, SqlError> {
    if types[0].is_number() || types[0].is_date_or_time() || types[0] == SqlType::Null {
        return Ok(SqlType::NVarChar(Length::Limit(UNITS_MAX as u16)));
    }
    Err(SqlError::argument_type_invalid(types[0].error_name(), 1, "format"))
}

pub(super) fn format(context: &mut Context, values: &[Value], types: &[SqlType]) -> Result<Value, SqlError> {
    let language = match values.get(2).and_then(Value::as_str) {
        None | Some("") => context.language,
        Some(name) => Language::by_culture(name).ok_or_else(|| SqlError::culture_unknown(name))?,
    };
    if values[..2].iter().any(Value::is_null) {
        return Ok(Value::Null);
    }
    let picture = text(context, values, types, 1)?;
    let picture = CodePage::Utf16.prefix(&picture, UNITS_MAX);
    let formatted = match (moment_of(&values[0]), &values[0]) {
        (Some(moment), Value::Time(_)) => date::format_time(moment, picture, language),
        (Some(moment), _) => date::format_moment(moment, picture, language),
        (None, value @ (Value::Float(_) | Value::Real(_))) if matches!(picture, "R" | "r") => {
            Some(round_trip(value, &types[0], language))
        }
        (None, value) => {
            let is_float = matches!(value, Value::Float(_) | Value::Real(_));
            let exact = if is_float { convert::as_f64(value).and_then(as_decimal) } else { convert::exact(value) };
            let is_integer = types[0].is_integer();
            exact.and_then(|value| number::format_number(&Number { value, is_integer, is_float }, picture, language))
        }
    };
    Ok(formatted.map_or(Value::Null, |text| Value::from(CodePage::Utf16.prefix(&text, UNITS_MAX))))
}

/// The fifteen digits of a float that count, as far as a decimal has them.
fn as_decimal(value: f64) -> Option<Decimal> {
    let written = format!("{value:.14e}");
    let (digits, exponent) = written.split_once('e')?;
    let (mut mantissa, mut scale) = (digits.replace('.', "").parse::<i128>().ok()?, 14 - exponent.parse::<i32>().ok()?);
    while scale < 0 {
        (mantissa, scale) = (mantissa.checked_mul(10)?, scale + 1);
    }
    while scale > i32::from(PRECISION_MAX) {
        (mantissa, scale) = (mantissa / 10, scale - 1);
    }
    Decimal::new(mantissa, PRECISION_MAX, scale as u8)
}

/// `R`: as many digits as it takes to read the float back.
fn round_trip(value: &Value, ty: &SqlType, language: &Language) -> String {
    to_text(value, ty).replace('.', &language.decimal_mark.to_string())
}
