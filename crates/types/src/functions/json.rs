//! ISJSON, JSON_VALUE, JSON_QUERY.
//!
//! A text is read up to the end of the part that a path asks for, as SQL Server does: what is malformed behind it goes unseen.
//! Nothing is built of it: a path is followed by skipping over what stands before its target.

use super::{Context, text};
use crate::error::SqlError;
use crate::sql_type::{Length, SqlType};
use crate::value::Value;

type Evaluated = Result<Value, SqlError>;
type Typed = Result<SqlType, SqlError>;

/// Objects and arrays within each other.
const LEVELS_MAX: usize = 128;
/// UTF-16 units that JSON_VALUE gives.
const VALUE_UNITS_MAX: usize = 4000;

/// The states of error 13607: what was being read.
const NO_ROOT: u8 = 22;
const IN_NAME: u8 = 14;
const IN_INDEX: u8 = 21;

pub(super) fn isjson_type(types: &[SqlType]) -> Typed {
    texts(types, "isjson")?;
    Ok(SqlType::Int)
}

pub(super) fn value_type(types: &[SqlType]) -> Typed {
    texts(types, "json_value")?;
    Ok(SqlType::NVarChar(Length::Limit(VALUE_UNITS_MAX as u16)))
}

pub(super) fn query_type(types: &[SqlType]) -> Typed {
    texts(types, "json_query")?;
    Ok(SqlType::NVarChar(Length::Max))
}

fn texts(types: &[SqlType], function: &str) -> Result<(), SqlError> {
    for (ty, at) in types.iter().zip(1..) {
        if !ty.is_string() && *ty != SqlType::Null {
            return Err(SqlError::argument_type_invalid(ty.error_name(), at, function));
        }
    }
    Ok(())
}

/// 1 of an object or array, 0 of any other text.
pub(super) fn isjson(_: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let is_json = Scanner::new(&text(values, types, 0)?).document().is_ok();
    Ok(Value::Int(i32::from(is_json)))
}

pub(super) fn value(_: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let path = Path::parse(&text(values, types, 1)?)?;
    let json = text(values, types, 0)?;
    let Some((kind, part)) = path.find(&json)? else {
        return Ok(Value::Null);
    };
    let found = match kind {
        Kind::Null => return Ok(Value::Null),
        Kind::Plain => part.to_owned(),
        Kind::Text => unescaped(part),
        Kind::Object | Kind::Array => {
            return path.or_null(13623, 1, "Scalar value cannot be found in the specified JSON path.");
        }
    };
    if found.encode_utf16().count() > VALUE_UNITS_MAX {
        return path.or_null(13625, 1, "String value in the specified JSON path would be truncated.");
    }
    Ok(Value::Str(found))
}

pub(super) fn query(_: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    let path = if values.len() > 1 { Path::parse(&text(values, types, 1)?)? } else { Path::default() };
    let json = text(values, types, 0)?;
    match path.find(&json)? {
        None => Ok(Value::Null),
        Some((Kind::Object | Kind::Array, part)) => Ok(Value::Str(part.to_owned())),
        Some(_) => path.or_null(13624, 1, "Object or array cannot be found in the specified JSON path."),
    }
}

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Object,
    Array,
    Text,
    /// A number, `true` or `false`.
    Plain,
    Null,
}

/// Why a text is no JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Malformed {
    /// The byte that does not belong where it is.
    At(usize),
    TooDeep,
}

impl Malformed {
    fn error(self, json: &str) -> SqlError {
        match self {
            Malformed::At(at) => unexpected(13609, 2, "text", json, at),
            Malformed::TooDeep => {
                let text = format!("JSON text/path that has more than {LEVELS_MAX} nesting levels cannot be parsed.");
                SqlError::new(13606, 16, 1, text)
            }
        }
    }
}

/// A character where it does not belong; the end of the text is shown as a dot.
fn unexpected(number: i32, state: u8, what: &str, source: &str, at: usize) -> SqlError {
    let character = source.get(at..).and_then(|rest| rest.chars().next()).unwrap_or('.');
    let position = source.get(..at).unwrap_or(source).encode_utf16().count();
    let message = format!(
        "JSON {what} is not properly formatted. Unexpected character '{character}' is found at position {position}."
    );
    SqlError::new(number, 16, state, message)
}

/// Goes through a text. What is not ASCII stands within texts only, so places between two tokens are between two characters.
struct Scanner<'t> {
    bytes: &'t [u8],
    at: usize,
}

impl<'t> Scanner<'t> {
    fn new(json: &'t str) -> Scanner<'t> {
        Scanner { bytes: json.as_bytes(), at: 0 }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn eat(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, byte: u8) -> Result<(), Malformed> {
        if self.eat(byte) { Ok(()) } else { Err(Malformed::At(self.at)) }
    }

    /// A document is an object or array, which begins here.
    fn begin(&mut self) -> Result<(), Malformed> {
        self.blanks();
        if matches!(self.peek(), Some(b'{' | b'[')) { Ok(()) } else { Err(Malformed::At(self.at)) }
    }

    /// The whole text: one object or array.
    fn document(&mut self) -> Result<(), Malformed> {
        self.begin()?;
        self.value(0)?;
        self.blanks();
        if self.at == self.bytes.len() { Ok(()) } else { Err(Malformed::At(self.at)) }
    }

    /// Goes over a value that begins here.
    fn value(&mut self, level: usize) -> Result<Kind, Malformed> {
        match self.peek() {
            Some(b'{' | b'[') if level == LEVELS_MAX => Err(Malformed::TooDeep),
            Some(b'{') => {
                let mut members = Members::of_object(self);
                while members.next(self)?.is_some() {
                    self.value(level + 1)?;
                }
                Ok(Kind::Object)
            }
            Some(b'[') => {
                let mut members = Members::of_array(self);
                while members.next(self)?.is_some() {
                    self.value(level + 1)?;
                }
                Ok(Kind::Array)
            }
            Some(b'"') => self.quoted().map(|_| Kind::Text),
            Some(b't') => self.word(b"true", Kind::Plain),
            Some(b'f') => self.word(b"false", Kind::Plain),
            Some(b'n') => self.word(b"null", Kind::Null),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => Err(Malformed::At(self.at)),
        }
    }

    fn word(&mut self, word: &[u8], kind: Kind) -> Result<Kind, Malformed> {
        word.iter().try_for_each(|byte| self.expect(*byte))?;
        Ok(kind)
    }

    fn digits(&mut self) -> Result<(), Malformed> {
        if !self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            return Err(Malformed::At(self.at));
        }
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Result<Kind, Malformed> {
        self.eat(b'-');
        if !self.eat(b'0') {
            self.digits()?;
        }
        if self.eat(b'.') {
            self.digits()?;
        }
        if self.eat(b'e') || self.eat(b'E') {
            let _ = self.eat(b'+') || self.eat(b'-');
            self.digits()?;
        }
        Ok(Kind::Plain)
    }

    /// A text in quotes: the places of its first and behind its last byte, quotes included.
    fn quoted(&mut self) -> Result<(usize, usize), Malformed> {
        let start = self.at;
        self.expect(b'"')?;
        loop {
            match self.peek() {
                None | Some(0..=0x1F) => return Err(Malformed::At(self.at)),
                Some(b'"') => {
                    self.at += 1;
                    return Ok((start, self.at));
                }
                Some(b'\\') => {
                    self.at += 1;
                    match self.peek() {
                        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 1,
                        Some(b'u') => {
                            self.at += 1;
                            for _ in 0..4 {
                                if !self.peek().is_some_and(|byte| byte.is_ascii_hexdigit()) {
                                    return Err(Malformed::At(self.at));
                                }
                                self.at += 1;
                            }
                        }
                        _ => return Err(Malformed::At(self.at)),
                    }
                }
                Some(_) => self.at += 1,
            }
        }
    }
}

/// The members of an object or array, in turn: each call leaves the scanner at the next one's value.
struct Members {
    is_object: bool,
    has_begun: bool,
}

impl Members {
    fn of_object(scanner: &mut Scanner<'_>) -> Members {
        scanner.at += 1;
        Members { is_object: true, has_begun: false }
    }

    fn of_array(scanner: &mut Scanner<'_>) -> Members {
        scanner.at += 1;
        Members { is_object: false, has_begun: false }
    }

    /// The place of the key in its quotes, which is empty in an array; None behind the last member.
    fn next(&mut self, scanner: &mut Scanner<'_>) -> Result<Option<(usize, usize)>, Malformed> {
        scanner.blanks();
        if scanner.eat(if self.is_object { b'}' } else { b']' }) {
            return Ok(None);
        }
        if std::mem::replace(&mut self.has_begun, true) {
            scanner.expect(b',')?;
            scanner.blanks();
        }
        if !self.is_object {
            // The end of an array does not follow a comma: it is no value.
            return Ok(Some((scanner.at, scanner.at)));
        }
        let key = scanner.quoted()?;
        scanner.blanks();
        scanner.expect(b':')?;
        scanner.blanks();
        Ok(Some(key))
    }
}

/// One step of a path.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(usize),
}

/// Where something stands in a document; by default the whole of it.
#[derive(Debug, Default, PartialEq, Eq)]
struct Path {
    strict: bool,
    steps: Vec<Step>,
}

impl Path {
    fn parse(source: &str) -> Result<Path, SqlError> {
        Path::read(source).map_err(|(at, state)| unexpected(13607, state, "path", source, at))
    }

    /// The path, or the byte that does not belong into it and the error's state.
    fn read(source: &str) -> Result<Path, (usize, u8)> {
        let mut scanner = Scanner::new(source);
        let mut path = Path::default();
        scanner.blanks();
        for (word, strict) in [("lax", false), ("strict", true)] {
            let rest = source[scanner.at..].strip_prefix(word);
            if rest.is_some_and(|rest| rest.starts_with([' ', '\t', '\n', '\r'])) {
                scanner.at += word.len();
                path.strict = strict;
                break;
            }
        }
        scanner.blanks();
        if !scanner.eat(b'$') {
            return Err((scanner.at, if scanner.peek().is_none() { IN_NAME } else { NO_ROOT }));
        }
        loop {
            match scanner.peek() {
                None => return Ok(path),
                Some(b'.') => path.steps.push(key_step(&mut scanner, source).map_err(|at| (at, IN_NAME))?),
                Some(b'[') => path.steps.push(index_step(&mut scanner, source).map_err(|at| (at, IN_INDEX))?),
                Some(_) => {
                    scanner.blanks();
                    return if scanner.peek().is_none() { Ok(path) } else { Err((scanner.at, IN_NAME)) };
                }
            }
        }
    }

    /// Where the path leads: the value and its text. In lax mode nothing when it leads nowhere.
    fn find<'j>(&self, json: &'j str) -> Result<Option<(Kind, &'j str)>, SqlError> {
        let malformed = |malformed: Malformed| malformed.error(json);
        let found = self.follow(json).map_err(malformed)?;
        if found.is_none() {
            // That it is not there can be said of a whole document only.
            Scanner::new(json).document().map_err(malformed)?;
            if self.strict {
                return Err(SqlError::new(13608, 16, 5, "Property cannot be found on the specified JSON path."));
            }
        }
        Ok(found)
    }

    fn follow<'j>(&self, json: &'j str) -> Result<Option<(Kind, &'j str)>, Malformed> {
        let mut scanner = Scanner::new(json);
        scanner.begin()?;
        for step in &self.steps {
            let (mut members, wanted) = match (step, scanner.peek()) {
                (Step::Key(key), Some(b'{')) => (Members::of_object(&mut scanner), Ok(key)),
                (Step::Index(index), Some(b'[')) => (Members::of_array(&mut scanner), Err(*index)),
                _ => return Ok(None),
            };
            let mut position = 0;
            loop {
                let Some((start, end)) = members.next(&mut scanner)? else {
                    return Ok(None);
                };
                // Of equal keys the first one counts.
                let is_it = match &wanted {
                    Ok(key) => unescaped(&json[start..end]) == key.as_str(),
                    Err(index) => position == *index,
                };
                if is_it {
                    break;
                }
                scanner.value(0)?;
                position += 1;
            }
        }
        let start = scanner.at;
        let kind = scanner.value(0)?;
        Ok(Some((kind, &json[start..scanner.at])))
    }

    /// The error in strict mode, NULL in lax mode.
    fn or_null(&self, number: i32, state: u8, message: &str) -> Evaluated {
        if self.strict { Err(SqlError::new(number, 16, state, message)) } else { Ok(Value::Null) }
    }
}

/// `.name` or `."name"`.
fn key_step(scanner: &mut Scanner<'_>, source: &str) -> Result<Step, usize> {
    scanner.at += 1;
    if scanner.peek() == Some(b'"') {
        let (start, end) = scanner.quoted().map_err(|malformed| match malformed {
            Malformed::At(at) => at,
            Malformed::TooDeep => source.len(),
        })?;
        return Ok(Step::Key(unescaped(&source[start..end])));
    }
    let rest = &source[scanner.at..];
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
    if length == 0 || rest.starts_with(|c: char| c.is_numeric()) {
        return Err(scanner.at);
    }
    scanner.at += length;
    Ok(Step::Key(rest[..length].to_owned()))
}

/// `[n]`
fn index_step(scanner: &mut Scanner<'_>, source: &str) -> Result<Step, usize> {
    scanner.at += 1;
    let start = scanner.at;
    scanner.digits().map_err(|_| start)?;
    let index = source[start..scanner.at].parse().map_err(|_| start)?;
    scanner.expect(b']').map_err(|_| scanner.at)?;
    Ok(Step::Index(index))
}

/// The text in a pair of quotes. Halves of characters that do not meet their other half become U+FFFD.
fn unescaped(quoted: &str) -> String {
    let inner = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default();
    if !inner.contains('\\') {
        return inner.to_owned();
    }
    let mut units: Vec<u16> = Vec::with_capacity(inner.len());
    let mut characters = inner.chars();
    let mut buffer = [0; 2];
    while let Some(character) = characters.next() {
        let plain = match character {
            '\\' => match characters.next() {
                Some('b') => '\u{8}',
                Some('f') => '\u{c}',
                Some('n') => '\n',
                Some('r') => '\r',
                Some('t') => '\t',
                Some('u') => {
                    let digits: String = characters.by_ref().take(4).collect();
                    units.push(u16::from_str_radix(&digits, 16).unwrap_or(0xFFFD));
                    continue;
                }
                Some(other) => other,
                None => break,
            },
            other => other,
        };
        units.extend_from_slice(plain.encode_utf16(&mut buffer));
    }
    String::from_utf16_lossy(&units)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nesting_is_bounded() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert_eq!(Scanner::new(&nested(LEVELS_MAX)).document(), Ok(()));
        assert_eq!(Scanner::new(&nested(LEVELS_MAX + 1)).document(), Err(Malformed::TooDeep));
        assert_eq!(Scanner::new(&"[".repeat(1 << 20)).document(), Err(Malformed::TooDeep));
    }

    #[test]
    fn escapes_are_characters() {
        assert_eq!(unescaped(r#""a\"\\\/\b\f\n\r\tz""#), "a\"\\/\u{8}\u{c}\n\r\tz");
        assert_eq!(unescaped(r#""\u00e4\ud83d\ude00\ud83d""#), "ä😀\u{FFFD}");
    }

    #[test]
    fn strings_end_where_json_says() {
        for (json, place) in [
            ("{\"a\":\"\t\"}", 6),
            (r#"{"a":"\x"}"#, 7),
            (r#"{"a":"\u12g4"}"#, 10),
            (r#"{"a":"b}"#, 8),
            ("[1,]", 3),
            (r#"{"a":1,}"#, 7),
            ("[01]", 2),
            ("[1.]", 3),
            ("[-]", 2),
            ("[1e]", 3),
            ("[nul]", 4),
            ("[] x", 3),
            ("", 0),
            ("1", 0),
        ] {
            assert_eq!(Scanner::new(json).document(), Err(Malformed::At(place)), "{json}");
        }
    }
}
