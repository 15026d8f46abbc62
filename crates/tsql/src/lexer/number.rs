//! Numbers: where they end, and what they are worth.

use super::{Lexer, TokenKind, join_lines, line_end};
use crate::error::{Parsed, SyntaxError};
use crate::tree::Literal;

/// The most digits an exact number may have.
const PRECISION_MAX: usize = 38;

/// Whether a character may stand before an amount of money, besides `$`.
pub(super) fn is_currency(letter: char) -> bool {
    matches!(letter, '\u{00A2}'..='\u{00A5}' | '\u{0E3F}' | '\u{20A0}'..='\u{20C0}')
}

impl Lexer<'_> {
    /// Moves behind a number that begins with a digit or a point.
    pub(super) fn number(&mut self) -> TokenKind {
        if self.byte(0) == b'0' && matches!(self.byte(1), b'x' | b'X') {
            self.at += 2;
            loop {
                let behind = self.bytes.get(self.at + 1..).and_then(line_end).filter(|_| self.byte(0) == b'\\');
                match behind {
                    Some(length) => {
                        self.at += 1 + length;
                        self.line += 1;
                    }
                    None if self.byte(0).is_ascii_hexdigit() => self.at += 1,
                    None => break,
                }
            }
            return TokenKind::Binary;
        }
        self.skip_digits();
        let mut kind = TokenKind::Integer;
        if self.byte(0) == b'.' {
            kind = TokenKind::Decimal;
            self.at += 1;
            self.skip_digits();
        }
        if matches!(self.byte(0), b'e' | b'E') {
            // The digits of an exponent may be missing: `1e` is a number. A word that merely begins with e is not.
            let sign = usize::from(matches!(self.byte(1), b'+' | b'-'));
            let next = self.byte(1 + sign);
            if next.is_ascii_digit() || !(next.is_ascii_alphabetic() || next == b'_' || next >= 0x80) {
                self.at += 1 + sign;
                self.skip_digits();
                kind = TokenKind::Float;
            }
        }
        kind
    }

    /// Moves behind the digits that follow a sign of currency; there may be none.
    pub(super) fn money(&mut self) -> TokenKind {
        if matches!(self.byte(0), b'-' | b'+') && (self.byte(1).is_ascii_digit() || self.byte(1) == b'.') {
            self.at += 1;
        }
        self.skip_digits();
        if self.byte(0) == b'.' {
            self.at += 1;
            self.skip_digits();
        }
        TokenKind::Money
    }

    fn skip_digits(&mut self) {
        while self.byte(0).is_ascii_digit() {
            self.at += 1;
        }
    }
}

/// The value of a token that is a number or a binary constant.
pub(crate) fn value(kind: TokenKind, text: &str, line: u32) -> Parsed<Literal> {
    match kind {
        TokenKind::Integer => match text.parse() {
            Ok(value) => Ok(Literal::Int(value)),
            Err(_) => exact(text, line),
        },
        TokenKind::Float => float(text, line),
        TokenKind::Money => money(text, line),
        TokenKind::Binary => Ok(Literal::Binary(binary(&join_lines(&text[2..])))),
        _ => exact(text, line),
    }
}

fn exact(text: &str, line: u32) -> Parsed<Literal> {
    let digits = text.trim_start_matches('0');
    if digits.bytes().filter(u8::is_ascii_digit).count() > PRECISION_MAX {
        return Err(SyntaxError::number_too_long(line, text));
    }
    match digits {
        "" => Ok(Literal::Int(0)),
        _ => match digits.parse() {
            Ok(value) => Ok(Literal::Int(value)),
            Err(_) if digits.starts_with('.') => Ok(Literal::Decimal(format!("0{digits}"))),
            Err(_) => Ok(Literal::Decimal(digits.to_string())),
        },
    }
}

fn float(text: &str, line: u32) -> Parsed<Literal> {
    let trimmed = text.trim_end_matches(['+', '-']).trim_end_matches(['e', 'E']);
    match trimmed.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(Literal::Float(value)),
        _ => Err(SyntaxError::float_too_large(line, text)),
    }
}

/// Ten-thousandths; further digits round half up.
fn money(text: &str, line: u32) -> Parsed<Literal> {
    let amount = text.trim_start_matches(|letter: char| letter == '$' || is_currency(letter));
    let negative = amount.starts_with('-');
    let mut value: i128 = 0;
    let mut decimals: Option<u32> = None;
    for digit in amount.trim_start_matches(['-', '+']).bytes() {
        match (digit, decimals) {
            (b'.', _) => decimals = Some(0),
            (_, Some(5..)) => {}
            (_, Some(4)) => {
                value += i128::from(digit >= b'5');
                decimals = Some(5);
            }
            _ => {
                value = value * 10 + i128::from(digit - b'0');
                decimals = decimals.map(|count| count + 1);
                if value > i128::from(i64::MAX) {
                    return Err(SyntaxError::number_too_long(line, text));
                }
            }
        }
    }
    value *= 10i128.pow(4 - decimals.unwrap_or(0).min(4));
    let value = if negative { -value } else { value };
    i64::try_from(value).map(Literal::Money).map_err(|_| SyntaxError::number_too_long(line, text))
}

/// Bytes of hexadecimal digits; an odd count has a zero before it.
fn binary(digits: &str) -> Vec<u8> {
    let digits = digits.as_bytes();
    let mut bytes = Vec::with_capacity(digits.len().div_ceil(2));
    let (first, pairs) = digits.split_at(digits.len() % 2);
    bytes.extend(first.iter().map(|digit| nibble(*digit)));
    bytes.extend(pairs.chunks_exact(2).map(|pair| nibble(pair[0]) << 4 | nibble(pair[1])));
    bytes
}

fn nibble(digit: u8) -> u8 {
    (digit as char).to_digit(16).map_or(0, |value| value as u8)
}
