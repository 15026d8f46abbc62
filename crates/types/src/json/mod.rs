//! Documents in JSON: reading, following paths, opening, changing, writing.
//!
//! A text is read up to the end of the part that a path asks for, as SQL Server does: what is malformed behind it goes unseen.
//! Nothing is built of it: a path is followed by skipping over what stands before its target.

mod modify;
mod open;
mod path;
mod write;

pub use modify::{Change, modify};
pub use open::{Opened, column, open};
pub use path::Path;
pub use write::{escaped_bytes_max, write_json, write_name};

use crate::error::SqlError;

/// Objects and arrays within each other.
const LEVELS_MAX: usize = 128;

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
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

/// Whether a text is one object or array.
pub fn is_document(json: &str) -> bool {
    Scanner::new(json).document().is_ok()
}

/// What a text is, when all of it is one value.
pub(crate) fn value_kind(json: &str) -> Option<Kind> {
    let mut scanner = Scanner::new(json);
    scanner.blanks();
    let kind = scanner.value(0).ok()?;
    scanner.blanks();
    (scanner.at == scanner.bytes.len()).then_some(kind)
}

/// Goes through a text. What is not ASCII stands within texts only, so places between two tokens are between two characters.
struct Scanner<'t> {
    bytes: &'t [u8],
    at: usize,
}

impl<'t> Scanner<'t> {
    fn new(json: &'t str) -> Scanner<'t> {
        Scanner::at(json, 0)
    }

    fn at(json: &'t str, at: usize) -> Scanner<'t> {
        Scanner { bytes: json.as_bytes(), at }
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

/// The text in a pair of quotes. Halves of characters that do not meet their other half become U+FFFD.
pub(crate) fn unescaped(quoted: &str) -> String {
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
