//! SOUNDEX, DIFFERENCE, STRING_ESCAPE.

use super::{Context, text};
use crate::error::SqlError;
use crate::sql_type::{Length, SqlType};
use crate::value::Value;

type Evaluated = Result<Value, SqlError>;
type Typed = Result<SqlType, SqlError>;

pub(super) fn soundex_type(_: &[SqlType]) -> Typed {
    Ok(SqlType::VarChar(Length::Limit(5)))
}

pub(super) fn escape_type(_: &[SqlType]) -> Typed {
    Ok(SqlType::NVarChar(Length::Max))
}

/// The digit of a consonant; vowels separate equal digits, and so do H and W.
fn digit(letter: char) -> Option<char> {
    match letter {
        'B' | 'F' | 'P' | 'V' => Some('1'),
        'C' | 'G' | 'J' | 'K' | 'Q' | 'S' | 'X' | 'Z' => Some('2'),
        'D' | 'T' => Some('3'),
        'L' => Some('4'),
        'M' | 'N' => Some('5'),
        'R' => Some('6'),
        _ => None,
    }
}

fn code_of(word: &str) -> String {
    let mut letters = word.trim_start().chars().map(|letter| letter.to_ascii_uppercase());
    let Some(first) = letters.next().filter(char::is_ascii_alphabetic) else {
        return "0000".to_owned();
    };
    let mut code = String::from(first);
    let mut last = digit(first);
    for letter in letters.take_while(char::is_ascii_alphabetic) {
        let own = digit(letter);
        if let Some(own) = own.filter(|own| last != Some(*own)) {
            code.push(own);
        }
        last = own;
        if code.len() == 4 {
            break;
        }
    }
    format!("{code:0<4}")
}

pub(super) fn soundex(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    Ok(Value::Str(code_of(&text(context, values, types, 0)?)))
}

/// How many of the four places of both codes are equal.
pub(super) fn difference(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let (left, right) = (code_of(&text(context, values, types, 0)?), code_of(&text(context, values, types, 1)?));
    let same = left.chars().zip(right.chars()).filter(|(left, right)| left == right).count();
    Ok(Value::Int(same as i32))
}

pub(super) fn string_escape(context: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let kind = text(context, values, types, 1)?;
    if !kind.eq_ignore_ascii_case("json") {
        return Err(SqlError::argument_type_invalid(kind, 2, "string_escape"));
    }
    let mut out = String::new();
    for c in text(context, values, types, 0)?.chars() {
        match c {
            '"' | '\\' | '/' => out.extend(['\\', c]),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    Ok(Value::Str(out))
}
