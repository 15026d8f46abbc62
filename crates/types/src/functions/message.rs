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

/// FORMATMESSAGE of a text; a number of a message is replaced by its text before. NULL for one that is not there. What RAISERROR would
/// refuse is no error here, but a text that says so.
pub(super) fn formatmessage(context: &mut Context, values: &[Value], types: &[SqlType]) -> Result<Value, SqlError> {
    const FAILED: &str = "Error: 50000, Severity: -1, State: 1. (Params:). The error is printed in terse mode because there was error \
        during formatting. Tracing, ETW, notifications etc are skipped.\r\n";
    if !types[0].is_string() || values[0].is_null() {
        return Ok(Value::Null);
    }
    let arguments: Vec<_> = values[1..].iter().cloned().zip(types[1..].iter().copied()).collect();
    let text = text(context, values, types, 0)?;
    let formatted = format_message(&text, &arguments).ok().filter(|_| !text.is_empty());
    Ok(Value::Str(formatted.unwrap_or_else(|| FAILED.to_owned())))
}

/// A place in the text: `%-5d`.
#[derive(Default)]
struct Place {
    left: bool,
    zero: bool,
    plus: bool,
    blank: bool,
    alternate: bool,
    width: Option<usize>,
    precision: Option<usize>,
    size: Size,
    /// `%2!`, in a message of another language: the second argument as it is.
    of_argument: Option<usize>,
    kind: char,
}

/// How wide the number is that a place takes.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Size {
    /// `%hd`
    Short,
    /// `%d`, `%ld`
    #[default]
    Int,
    /// `%I64d`
    Long,
}

/// Puts arguments in their places.
///
/// # Errors
/// 2787 for a place that is none, 2786 for an argument of the wrong type.
pub fn format_message(text: &str, arguments: &[(Value, SqlType)]) -> Result<String, SqlError> {
    let mut out = String::with_capacity(text.len());
    let mut next = 0;
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        if let Some(behind) = from.strip_prefix("%%") {
            out.push('%');
            rest = behind;
            continue;
        }
        let mut chars = from[1..].chars();
        let place = place(&mut chars, arguments, &mut next);
        let behind = chars.as_str();
        let Some(place) = place else {
            return Err(SqlError::format_invalid(&from[..from.len() - behind.len()]));
        };
        rest = behind;
        if let Some(position) = place.of_argument {
            let argument = position.checked_sub(1).and_then(|at| arguments.get(at));
            put_as_it_is(argument, position, &mut out)?;
            continue;
        }
        let argument = arguments.get(next);
        next += 1;
        put(&place, argument, next, &mut out)?;
    }
    out.push_str(rest);
    Ok(cut_message(&out))
}

/// A message, not longer than messages are.
pub fn cut_message(text: &str) -> String {
    let mut places = text.char_indices().map(|(at, _)| at);
    match (places.nth(MESSAGE_CHARS_MAX - 3), places.nth(2)) {
        (Some(end), Some(_)) => format!("{}...", &text[..end]),
        _ => text.to_owned(),
    }
}

/// Flags, each once; a width; a precision; a size; what the argument is shown as. A star stands for an argument.
fn place(chars: &mut std::str::Chars<'_>, arguments: &[(Value, SqlType)], next: &mut usize) -> Option<Place> {
    let mut place = Place::default();
    let mut star = || {
        let value = arguments.get(*next).and_then(|(value, _)| value.as_i64())?;
        *next += 1;
        Some(value)
    };
    let mut c = chars.next()?;
    loop {
        let flag = match c {
            '-' => &mut place.left,
            '+' => &mut place.plus,
            ' ' => &mut place.blank,
            '#' => &mut place.alternate,
            '0' => &mut place.zero,
            _ => break,
        };
        if std::mem::replace(flag, true) {
            return None;
        }
        c = chars.next()?;
    }
    if c == '*' {
        let width = star()?;
        place.left |= width < 0;
        place.width = Some(usize::try_from(width.unsigned_abs()).unwrap_or(WIDTH_MAX).min(WIDTH_MAX));
        c = chars.next()?;
    } else {
        place.width = digits(&mut c, chars)?;
    }
    if c == '!' {
        place.of_argument = Some(place.width?);
        return Some(place);
    }
    if c == '.' {
        c = chars.next()?;
        place.precision = match c {
            // A negative one is none.
            '*' => {
                c = '\0';
                usize::try_from(star()?).ok().map(|precision| precision.min(WIDTH_MAX))
            }
            _ => Some(digits(&mut c, chars)??),
        };
        if c == '\0' {
            c = chars.next()?;
        }
    }
    match c {
        'h' => (place.size, c) = (Size::Short, chars.next()?),
        'l' => c = chars.next()?,
        'I' if chars.as_str().starts_with("64") => {
            place.size = Size::Long;
            c = chars.nth(2)?;
        }
        _ => {}
    }
    place.kind = c;
    matches!(c, 'd' | 'i' | 'u' | 'o' | 'x' | 'X' | 's').then_some(place)
}

/// The number that begins with `c`, which is what stands behind it afterwards; no number: Some(None).
#[expect(clippy::option_option, reason = "the text may end in it")]
fn digits(c: &mut char, chars: &mut std::str::Chars<'_>) -> Option<Option<usize>> {
    let mut number = None;
    while let Some(digit) = c.to_digit(10) {
        number = Some((number.unwrap_or(0) * 10 + digit as usize).min(WIDTH_MAX));
        *c = chars.next()?;
    }
    Some(number)
}

fn put_as_it_is(argument: Option<&(Value, SqlType)>, position: usize, out: &mut String) -> Result<(), SqlError> {
    match argument.map(|(value, _)| value) {
        None | Some(Value::Null) => out.push_str("(null)"),
        Some(Value::Str(text)) => out.push_str(text),
        Some(value) => {
            let value = value.as_i64().ok_or_else(|| SqlError::substitution_type_mismatch(position))?;
            out.push_str(&value.to_string());
        }
    }
    Ok(())
}

fn put(place: &Place, argument: Option<&(Value, SqlType)>, position: usize, out: &mut String) -> Result<(), SqlError> {
    let text = match argument {
        None | Some((Value::Null, _)) => "(null)".to_owned(),
        Some((Value::Str(text), _)) if place.kind == 's' => match place.precision {
            Some(count) => text.chars().take(count).collect(),
            None => text.clone(),
        },
        Some((value, ty)) if place.kind != 's' => {
            let value =
                number_of(value, ty, place.size).ok_or_else(|| SqlError::substitution_type_mismatch(position))?;
            number(place, value)
        }
        Some(_) => return Err(SqlError::substitution_type_mismatch(position)),
    };
    let missing = place.width.unwrap_or(0).saturating_sub(text.chars().count());
    if place.left {
        out.push_str(&text);
        out.extend(std::iter::repeat_n(' ', missing));
    } else if place.zero && place.precision.is_none() && place.kind != 's' {
        let signs = text.len() - text.trim_start_matches(['-', '+', ' ']).len();
        let (sign, digits) = text.split_at(signs);
        out.push_str(sign);
        out.extend(std::iter::repeat_n('0', missing));
        out.push_str(digits);
    } else {
        out.extend(std::iter::repeat_n(' ', missing));
        out.push_str(&text);
    }
    Ok(())
}

/// The number for a place of a size; None: it is of another type. Bytes are a number of their last ones; constants with a decimal point are cut.
fn number_of(value: &Value, ty: &SqlType, size: Size) -> Option<i64> {
    let bytes = |bytes: &[u8], count: usize| {
        let last = &bytes[bytes.len().saturating_sub(count)..];
        last.iter().fold(0u64, |number, byte| number << 8 | u64::from(*byte))
    };
    match (value, size) {
        (Value::Bin(value), Size::Long) => Some(bytes(value, 8) as i64),
        (Value::Bin(value), Size::Int) => Some(i64::from(bytes(value, 4) as u32 as i32)),
        (Value::Bin(value), Size::Short) => Some(i64::from(bytes(value, 2) as u16 as i16)),
        (Value::Decimal(_), _) => {
            let number = super::super::convert::as_f64(value)?.trunc() as i64;
            (size == Size::Long || i32::try_from(number).is_ok()).then_some(number)
        }
        _ => {
            let fits = match size {
                Size::Short => matches!(ty, SqlType::TinyInt | SqlType::SmallInt),
                Size::Int => matches!(ty, SqlType::TinyInt | SqlType::SmallInt | SqlType::Int),
                Size::Long => *ty == SqlType::BigInt,
            };
            fits.then(|| value.as_i64()).flatten()
        }
    }
}

fn number(place: &Place, value: i64) -> String {
    let bits = match place.size {
        Size::Short => u64::from(value as i16 as u16),
        Size::Int => u64::from(value as i32 as u32),
        Size::Long => value as u64,
    };
    let (prefix, digits) = match place.kind {
        'u' => ("", bits.to_string()),
        'o' => (if place.alternate { "0" } else { "" }, format!("{bits:o}")),
        'x' => (if place.alternate { "0x" } else { "" }, format!("{bits:x}")),
        'X' => (if place.alternate { "0X" } else { "" }, format!("{bits:X}")),
        _ => {
            let sign = match value {
                ..0 => "-",
                _ if place.plus => "+",
                _ if place.blank => " ",
                _ => "",
            };
            (sign, value.unsigned_abs().to_string())
        }
    };
    match place.precision {
        Some(0) if bits == 0 => String::new(),
        Some(precision) => format!("{prefix}{digits:0>precision$}"),
        None => format!("{prefix}{digits}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn formatted(text: &str, values: &[Value]) -> Result<String, i32> {
        let of = |value: &Value| match value {
            Value::SmallInt(_) => SqlType::SmallInt,
            Value::BigInt(_) => SqlType::BigInt,
            _ => SqlType::Int,
        };
        let arguments: Vec<_> = values.iter().map(|value| (value.clone(), of(value))).collect();
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
    fn numbers_are_shown_as_c_shows_them() {
        for (text, value, shown) in [
            ("%.3d", Value::Int(-4), "-004"),
            ("%.0d", Value::Int(0), ""),
            ("%.3x", Value::Int(10), "00a"),
            ("%08.3d", Value::Int(42), "     042"),
            ("%05d", Value::Int(-42), "-0042"),
            ("% d", Value::Int(3), " 3"),
            ("%+d", Value::Int(3), "+3"),
            ("%hu", Value::SmallInt(-1), "65535"),
            ("%u", Value::Int(-1), "4294967295"),
            ("%I64d", Value::BigInt(5_000_000_000), "5000000000"),
            ("%x", Value::Bin(vec![1, 2, 3, 4, 5]), "2030405"),
            ("%d", Value::Bin(vec![0x41]), "65"),
        ] {
            assert_eq!(formatted(text, &[value]), Ok(shown.into()), "{text}");
        }
        assert_eq!(formatted("%*.*d", &[Value::Int(8), Value::Int(5), Value::Int(42)]), Ok("   00042".into()));
        assert_eq!(formatted("[%*s]", &[Value::Int(-5), Value::from("abc")]), Ok("[abc  ]".into()));
        assert_eq!(formatted("[%.*s]", &[Value::Int(-1), Value::from("abc")]), Ok("[abc]".into()));
    }

    #[test]
    fn wrong_places_are_errors() {
        for text in ["%--5d", "%**d", "%.s", "%5", "%I6d"] {
            assert_eq!(formatted(text, &[Value::Int(1), Value::Int(1), Value::Int(1)]), Err(2787), "{text}");
        }
        assert_eq!(formatted("%I64d", &[Value::Int(1)]), Err(2786));
        assert_eq!(formatted("%hd", &[Value::Int(1)]), Err(2786));
        assert_eq!(formatted("%d", &[Value::BigInt(1)]), Err(2786));
        assert_eq!(formatted("%q", &[Value::Int(1)]), Err(2787));
        assert_eq!(formatted("%", &[]), Err(2787));
        assert_eq!(formatted("%d", &[Value::from("x")]), Err(2786));
    }
}
