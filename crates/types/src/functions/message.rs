//! Format strings of messages: RAISERROR's and FORMATMESSAGE's.

use super::{Context, text};
use crate::error::SqlError;
use crate::sql_type::{Length, SqlType};
use crate::value::Value;

/// Longer messages are cut, as SQL Server does.
const MESSAGE_CHARS_MAX: usize = 2_047;
/// The widest place.
const WIDTH_MAX: usize = 1_000;

pub(super) fn formatmessage_type(types: &[SqlType]) -> Result<SqlType, SqlError> {
    let fits = |ty: &SqlType| ty.is_string() || ty.is_integer() || ty.is_binary() || *ty == SqlType::Null;
    match types.iter().zip(1..).find(|(ty, _)| !fits(ty)) {
        Some((ty, position)) => Err(SqlError::substitution_type_invalid(ty.error_name(), position)),
        None => Ok(SqlType::NVarChar(Length::Limit(2048))),
    }
}

/// FORMATMESSAGE of a text; a number of a message is replaced by its text before. NULL for one that is not there.
pub(super) fn formatmessage(context: &mut Context, values: &[Value], types: &[SqlType]) -> Result<Value, SqlError> {
    if !types[0].is_string() || values[0].is_null() {
        return Ok(Value::Null);
    }
    let arguments: Vec<_> = values[1..].iter().cloned().zip(types[1..].iter().copied()).collect();
    Ok(Value::Str(format_message(&text(context, values, types, 0)?, &arguments)?))
}

/// A place in the text: `%-5d`.
struct Place {
    left: bool,
    zero: bool,
    plus: bool,
    alternate: bool,
    width: Option<usize>,
    precision: Option<usize>,
    /// `%2!`, in a message of another language: the second argument as it is.
    of_argument: Option<usize>,
    kind: char,
}

/// Puts arguments in their places.
///
/// # Errors
/// 2787 for a place that is none, 2786 for an argument of the wrong type.
pub fn format_message(text: &str, arguments: &[(Value, SqlType)]) -> Result<String, SqlError> {
    let mut out = String::with_capacity(text.len());
    let mut next = 0;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        if chars.peek() == Some(&'%') {
            chars.next();
            out.push('%');
            continue;
        }
        let mut written = String::from("%");
        let mut taken = std::iter::from_fn(|| {
            let c = chars.next()?;
            written.push(c);
            Some(c)
        });
        let place = place(&mut taken, arguments, &mut next);
        let Some(place) = place else {
            return Err(SqlError::format_invalid(written));
        };
        if let Some(position) = place.of_argument {
            let value = position.checked_sub(1).and_then(|at| arguments.get(at)).map(|(value, _)| value);
            let kind = if matches!(value, Some(Value::Str(_))) { 's' } else { 'd' };
            put(&Place { kind, width: None, ..place }, value, position, &mut out)?;
            continue;
        }
        let argument = arguments.get(next);
        next += 1;
        put(&place, argument.map(|(value, _)| value), next, &mut out)?;
    }
    if out.chars().count() > MESSAGE_CHARS_MAX {
        out = out.chars().take(MESSAGE_CHARS_MAX - 3).collect();
        out.push_str("...");
    }
    Ok(out)
}

fn place(chars: &mut dyn Iterator<Item = char>, arguments: &[(Value, SqlType)], next: &mut usize) -> Option<Place> {
    let mut place = Place {
        left: false,
        zero: false,
        plus: false,
        alternate: false,
        width: None,
        precision: None,
        of_argument: None,
        kind: 's',
    };
    let mut in_precision = false;
    let mut star = || {
        let value = arguments.get(*next).and_then(|(value, _)| value.as_i64());
        *next += 1;
        usize::try_from(value?).ok()
    };
    for c in chars {
        match c {
            '-' => place.left = true,
            '+' => place.plus = true,
            '#' => place.alternate = true,
            '0' if place.width.is_none() && !in_precision => place.zero = true,
            '0'..='9' => {
                let digit = c as usize - '0' as usize;
                let number = if in_precision { &mut place.precision } else { &mut place.width };
                *number = Some((number.unwrap_or(0) * 10 + digit).min(WIDTH_MAX));
            }
            '*' if in_precision => place.precision = Some(star()?.min(WIDTH_MAX)),
            '*' => place.width = Some(star()?.min(WIDTH_MAX)),
            '.' => in_precision = true,
            'l' | 'h' | 'I' => {}
            '!' if place.width.is_some() => {
                place.of_argument = place.width;
                return Some(place);
            }
            'd' | 'i' | 'u' | 'o' | 'x' | 'X' | 's' => {
                place.kind = c;
                return Some(place);
            }
            _ => return None,
        }
    }
    None
}

fn put(place: &Place, argument: Option<&Value>, position: usize, out: &mut String) -> Result<(), SqlError> {
    let text = match (argument, place.kind) {
        (None | Some(Value::Null), _) => "(null)".to_owned(),
        (Some(Value::Str(text)), 's') => match place.precision {
            Some(count) => text.chars().take(count).collect(),
            None => text.clone(),
        },
        (Some(value), kind) if kind != 's' => match value.as_i64() {
            Some(value) => number(place, value),
            None => return Err(SqlError::substitution_type_mismatch(position)),
        },
        _ => return Err(SqlError::substitution_type_mismatch(position)),
    };
    let missing = place.width.unwrap_or(0).saturating_sub(text.chars().count());
    if place.left {
        out.push_str(&text);
        out.extend(std::iter::repeat_n(' ', missing));
    } else if place.zero && place.kind != 's' {
        let (sign, digits) = match text.strip_prefix('-') {
            Some(digits) => ("-", digits),
            None => ("", text.as_str()),
        };
        out.push_str(sign);
        out.extend(std::iter::repeat_n('0', missing));
        out.push_str(digits);
    } else {
        out.extend(std::iter::repeat_n(' ', missing));
        out.push_str(&text);
    }
    Ok(())
}

fn number(place: &Place, value: i64) -> String {
    // The unsigned forms show an int's 32 bits.
    let bits = match u32::try_from(value) {
        Ok(bits) => u64::from(bits),
        Err(_) if i32::try_from(value).is_ok() => u64::from(value as i32 as u32),
        Err(_) => value as u64,
    };
    match place.kind {
        'u' => bits.to_string(),
        'o' if place.alternate => format!("0{bits:o}"),
        'o' => format!("{bits:o}"),
        'x' if place.alternate => format!("0x{bits:x}"),
        'x' => format!("{bits:x}"),
        'X' if place.alternate => format!("0X{bits:X}"),
        'X' => format!("{bits:X}"),
        _ if place.plus && value >= 0 => format!("+{value}"),
        _ => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn formatted(text: &str, values: &[Value]) -> Result<String, i32> {
        let arguments: Vec<_> = values.iter().map(|value| (value.clone(), SqlType::Int)).collect();
        format_message(text, &arguments).map_err(|fault| fault.number)
    }

    #[test]
    fn arguments_take_their_places() {
        let values = [Value::from("abc"), Value::Int(7), Value::Int(-1)];
        assert_eq!(formatted("[%5s|%-4d|%x]", &values), Ok("[  abc|7   |ffffffff]".into()));
        assert_eq!(formatted("%03d%%", &[Value::Int(5)]), Ok("005%".into()));
        assert_eq!(formatted("%.2s", &values), Ok("ab".into()));
        assert_eq!(formatted("%d %s", &[Value::Null]), Ok("(null) (null)".into()));
        assert_eq!(formatted("%2! of %1!, %3!", &[Value::from("x"), Value::Int(7)]), Ok("7 of x, (null)".into()));
    }

    #[test]
    fn wrong_places_are_errors() {
        assert_eq!(formatted("%q", &[Value::Int(1)]), Err(2787));
        assert_eq!(formatted("%", &[]), Err(2787));
        assert_eq!(formatted("%d", &[Value::from("x")]), Err(2786));
    }
}
