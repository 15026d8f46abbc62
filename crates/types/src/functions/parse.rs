//! PARSE and TRY_PARSE: texts as people of a culture write numbers and dates.

use super::{Context, text};
use crate::datetime::Language;
use crate::error::SqlError;
use crate::sql_type::{Length, SqlType};
use crate::value::Value;

type Evaluated = Result<Value, SqlError>;

/// The arguments are the text, its culture or NULL, and a NULL of the type that is wanted.
pub(super) fn parse_type(types: &[SqlType]) -> Result<SqlType, SqlError> {
    wanted(types, "PARSE")
}

pub(super) fn try_parse_type(types: &[SqlType]) -> Result<SqlType, SqlError> {
    wanted(types, "TRY_PARSE")
}

fn wanted(types: &[SqlType], function: &str) -> Result<SqlType, SqlError> {
    if !types[0].is_string() && types[0] != SqlType::Null {
        return Err(SqlError::argument_type_invalid(types[0].error_name(), 1, function.to_ascii_lowercase()));
    }
    match types[2] {
        ty if ty.is_date_or_time() || (ty.is_number() && ty != SqlType::Bit) => Ok(ty),
        ty => Err(SqlError::parse_type_invalid(ty.error_name(), function)),
    }
}

pub(super) fn parse(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    if values[0].is_null() {
        return Ok(Value::Null);
    }
    let culture = values[1].as_str().unwrap_or_default();
    let language = match culture {
        "" => context.language,
        name => Language::by_culture(name).ok_or_else(|| SqlError::culture_unknown(name))?,
    };
    let written = text(context, values, types, 0)?;
    read(context, written.trim(), language, &types[2])
        .ok_or_else(|| SqlError::text_not_parsed(&written, types[2].error_name(), culture))
}

pub(super) fn try_parse(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    match parse(context, values, types) {
        Err(error) if error.number == SqlError::text_not_parsed("", "", "").number => Ok(Value::Null),
        parsed => parsed,
    }
}

fn read(context: &Context, written: &str, language: &'static Language, ty: &SqlType) -> Option<Value> {
    let from = SqlType::VarChar(Length::Max);
    if ty.is_date_or_time() {
        let context = Context { language, date_format: language.date_format, ..context.clone() };
        let plain = without_weekday(written, language);
        return context.convert(&Value::from(plain), &from, ty, None).ok().filter(|_| !plain.is_empty());
    }
    let plain = plain_number(written, language, ty)?;
    crate::convert::convert(&Value::Str(plain), &from, ty, None).ok()
}

/// A date behind the name of its weekday: `Monday, 13 December 2010`.
fn without_weekday<'t>(written: &'t str, language: &Language) -> &'t str {
    let end = written.find(|character: char| !character.is_alphabetic()).unwrap_or(written.len());
    let (word, rest) = written.split_at(end);
    match language.days.iter().any(|day| day.to_lowercase() == word.to_lowercase()) {
        true => rest.trim_start_matches([',', ' ']),
        false => written,
    }
}

/// A number as T-SQL writes it, of one with the culture's separators and, for money, its sign or parentheses.
fn plain_number(written: &str, language: &Language, ty: &SqlType) -> Option<String> {
    let is_money = matches!(ty, SqlType::Money | SqlType::SmallMoney);
    let is_float = matches!(ty, SqlType::Float | SqlType::Real);
    let (mut rest, mut negative) = (written, false);
    if let Some(inner) = rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).filter(|_| is_money) {
        (rest, negative) = (inner.trim(), true);
    }
    for _ in 0..2 {
        if is_money {
            let sign = language.currency;
            rest = rest.strip_prefix(sign).or_else(|| rest.strip_suffix(sign)).unwrap_or(rest).trim();
        }
        if let Some(number) = rest.strip_prefix('-').or_else(|| rest.strip_suffix('-')) {
            // Two signs are one too many.
            (!negative).then_some(())?;
            (rest, negative) = (number.trim(), true);
        } else if let Some(number) = rest.strip_prefix('+') {
            rest = number;
        }
    }
    let mut plain = String::from(if negative { "-" } else { "" });
    let (mut has_digit, mut has_point) = (false, false);
    let mut characters = rest.chars();
    for character in characters.by_ref() {
        match character {
            '0'..='9' => {
                has_digit = true;
                plain.push(character);
            }
            _ if character == language.decimal_mark && !has_point => {
                has_point = true;
                plain.push('.');
            }
            'e' | 'E' if is_float && has_digit => {
                plain.push('e');
                break;
            }
            _ if language.is_group_mark(character) && has_digit && !has_point => {}
            _ => return None,
        }
    }
    // An exponent; of other numbers nothing is left.
    plain.push_str(characters.as_str());
    if !has_digit {
        return None;
    }
    if ty.is_integer() {
        let (whole, fraction) = plain.split_once('.').unwrap_or((&plain, ""));
        return fraction.bytes().all(|digit| digit == b'0').then(|| whole.to_owned());
    }
    Some(plain)
}
