//! The lexer: the batch's text as tokens.
//!
//! One pass over the bytes. Tokens hold offsets, not text. A text that cannot be read (a quote that does not close) ends the
//! stream with [`TokenKind::Bad`] and an error that the parser reports when it comes to that token: an error of syntax before
//! it is told first.

mod global;
mod keyword;
mod number;
mod token;

#[cfg(test)]
mod tests;

pub(crate) use keyword::Keyword;
pub use keyword::reserved_words;
pub(crate) use number::value;
pub(crate) use token::{Symbol, Token, TokenKind};

use crate::error::SyntaxError;

/// The longest identifier, in characters.
const NAME_MAX: usize = 128;

/// The tokens of a text. The last one is [`TokenKind::End`] or, with an error, [`TokenKind::Bad`].
pub(crate) struct Tokens {
    pub(crate) tokens: Vec<Token>,
    pub(crate) error: Option<Box<SyntaxError>>,
}

/// Reads `text`, which is shorter than 4 GB.
pub(crate) fn lex(text: &str, quoted_identifier: bool) -> Tokens {
    let mut lexer = Lexer { text, bytes: text.as_bytes(), at: 0, line: 1, quoted_identifier };
    // Scripts of inserts have a token for about every four bytes.
    let mut tokens = Vec::with_capacity(text.len() / 4 + 2);
    loop {
        let token = lexer.skip_blanks().and_then(|()| lexer.token());
        match token {
            Ok(token) => {
                tokens.push(token);
                if matches!(token.kind, TokenKind::Keyword(Keyword::On | Keyword::Off)) {
                    lexer.heed_setting(&tokens);
                }
                if token.kind == TokenKind::End {
                    return Tokens { tokens, error: None };
                }
            }
            Err(error) => {
                let end = text.len() as u32;
                tokens.push(Token { start: end, end, line: error.line, kind: TokenKind::Bad });
                return Tokens { tokens, error: Some(error) };
            }
        }
    }
}

/// What is special between two delimiters.
#[derive(Default)]
struct Delimited {
    /// The closing one is doubled there.
    doubled: bool,
    /// A backslash ends a line there, so that the text goes on in the next.
    continued: bool,
}

/// Whether this stands between words as a blank does, also where it takes no room.
fn is_blank(character: char) -> bool {
    character.is_whitespace() || matches!(character, '\u{200B}' | '\u{FEFF}')
}

/// Whether a batch begins as one that defines a module does.
fn defines_module(tokens: &[Token]) -> bool {
    use Keyword::{Alter, Create, Function, Proc, Procedure, Trigger, View};
    let is = |token: Option<&Token>, keywords: &[Keyword]| {
        token.is_some_and(|token| keywords.iter().any(|keyword| token.kind == TokenKind::Keyword(*keyword)))
    };
    if !is(tokens.first(), &[Create, Alter]) {
        return false;
    }
    let place = if is(tokens.get(1), &[Keyword::Or]) { 3 } else { 1 };
    is(tokens.get(place), &[Function, Proc, Procedure, Trigger, View])
}

struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    line: u32,
    quoted_identifier: bool,
}

impl Lexer<'_> {
    /// Takes note of `SET QUOTED_IDENTIFIER`, whose ON or OFF is the last token: what stands behind it in a batch is read by it, whether it
    /// is carried out or not. In a module it says nothing.
    fn heed_setting(&mut self, tokens: &[Token]) {
        let Some((value, before)) = tokens.split_last() else { return };
        let is_part = |token: &&Token| matches!(token.kind, TokenKind::Word | TokenKind::Symbol(Symbol::Comma));
        let names = before.iter().rev().take_while(is_part).count();
        let (before, names) = before.split_at(before.len() - names);
        let is_set = before.last().is_some_and(|token| token.kind == TokenKind::Keyword(Keyword::Set));
        if names.is_empty() || !is_set || defines_module(before) {
            return;
        }
        let word = |token: &Token| &self.text[token.start as usize..token.end as usize];
        let is_named = |name: &str| names.iter().any(|token| word(token).eq_ignore_ascii_case(name));
        if is_named("QUOTED_IDENTIFIER") || is_named("ANSI_DEFAULTS") {
            self.quoted_identifier = value.kind == TokenKind::Keyword(Keyword::On);
        }
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn char(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    /// Skips white space, control characters and comments.
    fn skip_blanks(&mut self) -> Result<(), Box<SyntaxError>> {
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'\n' => {
                    self.line += 1;
                    self.at += 1;
                }
                0..=b' ' | 0x7F => self.at += 1,
                b'-' if self.byte(1) == b'-' => {
                    while self.at < self.bytes.len() && self.bytes[self.at] != b'\n' {
                        self.at += 1;
                    }
                }
                b'/' if self.byte(1) == b'*' => self.skip_comment()?,
                0x80.. => match self.char() {
                    Some(blank) if is_blank(blank) => self.at += blank.len_utf8(),
                    _ => return Ok(()),
                },
                _ => return Ok(()),
            }
        }
        Ok(())
    }

    /// Skips a comment, which may hold others.
    fn skip_comment(&mut self) -> Result<(), Box<SyntaxError>> {
        let first_line = self.line;
        let mut depth = 0u32;
        while self.at < self.bytes.len() {
            match (self.bytes[self.at], self.byte(1)) {
                (b'/', b'*') => {
                    depth += 1;
                    self.at += 2;
                }
                (b'*', b'/') => {
                    depth -= 1;
                    self.at += 2;
                    if depth == 0 {
                        return Ok(());
                    }
                }
                (byte, _) => {
                    self.line += u32::from(byte == b'\n');
                    self.at += 1;
                }
            }
        }
        Err(SyntaxError::unclosed_comment(first_line))
    }

    fn token(&mut self) -> Result<Token, Box<SyntaxError>> {
        let (start, line) = (self.at, self.line);
        let kind = self.kind()?;
        Ok(Token { start: start as u32, end: self.at as u32, line, kind })
    }

    fn kind(&mut self) -> Result<TokenKind, Box<SyntaxError>> {
        let Some(&byte) = self.bytes.get(self.at) else {
            return Ok(TokenKind::End);
        };
        match byte {
            b'N' | b'n' if self.byte(1) == b'\'' => {
                self.at += 1;
                self.quoted_text(b'\'', true)
            }
            b'A'..=b'Z' | b'a'..=b'z' | b'_' | b'#' => self.word(),
            b'0'..=b'9' => Ok(self.number()),
            b'.' if self.byte(1).is_ascii_digit() => Ok(self.number()),
            b'\'' => self.quoted_text(b'\'', false),
            b'[' => self.quoted_name(b']'),
            b'"' if self.quoted_identifier => self.quoted_name(b'"'),
            b'"' => self.quoted_text(b'"', false),
            b'@' => self.variable(),
            b'$' => self.dollar(),
            b'%' if self.byte(1) == b'%' => Ok(self.virtual_column()),
            0x80.. => match self.char() {
                Some(letter) if letter.is_alphabetic() => self.word(),
                Some(currency) if number::is_currency(currency) => {
                    self.at += currency.len_utf8();
                    Ok(self.money())
                }
                other => {
                    self.at += other.map_or(1, char::len_utf8);
                    Ok(TokenKind::Symbol(Symbol::Stray))
                }
            },
            _ => Ok(TokenKind::Symbol(self.symbol(byte))),
        }
    }

    /// Moves behind the letters, digits and `_ @ # $` of a name.
    fn skip_name(&mut self) {
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'_' | b'@' | b'#' | b'$' => self.at += 1,
                0x80.. => match self.char() {
                    Some(letter) if letter.is_alphanumeric() || is_mark(letter) => self.at += letter.len_utf8(),
                    _ => return,
                },
                _ => return,
            }
        }
    }

    fn word(&mut self) -> Result<TokenKind, Box<SyntaxError>> {
        let start = self.at;
        self.at += self.char().map_or(1, char::len_utf8);
        self.skip_name();
        let text = &self.text[start..self.at];
        if text.len() > NAME_MAX {
            self.check_length(text)?;
        }
        Ok(Keyword::of(text).map_or(TokenKind::Word, TokenKind::Keyword))
    }

    fn check_length(&self, name: &str) -> Result<(), Box<SyntaxError>> {
        if name.chars().count() > NAME_MAX {
            return Err(SyntaxError::name_too_long(self.line, name));
        }
        Ok(())
    }

    fn variable(&mut self) -> Result<TokenKind, Box<SyntaxError>> {
        let start = self.at;
        self.at += if self.byte(1) == b'@' { 2 } else { 1 };
        self.skip_name();
        let name = &self.text[start..self.at];
        self.check_length(name)?;
        // `@` alone is a name that SQL Server takes, and so is `@@mine`: only the names that it has itself are no variables.
        let is_global = name.strip_prefix("@@").is_some_and(global::is_global);
        Ok(if is_global { TokenKind::Global } else { TokenKind::Variable })
    }

    fn dollar(&mut self) -> Result<TokenKind, Box<SyntaxError>> {
        if self.byte(1).is_ascii_alphabetic() || self.byte(1) == b'_' {
            return self.word();
        }
        self.at += 1;
        Ok(self.money())
    }

    /// `%%x%%`; what is none begins with the operator.
    fn virtual_column(&mut self) -> TokenKind {
        let start = self.at;
        self.at += 2;
        let begins = self.byte(0).is_ascii_alphabetic();
        self.skip_name();
        let is_short = self.at - start <= NAME_MAX;
        if begins && is_short && self.byte(0) == b'%' && self.byte(1) == b'%' {
            self.at += 2;
            return TokenKind::VirtualColumn;
        }
        self.at = start;
        TokenKind::Symbol(self.symbol(b'%'))
    }

    fn quoted_text(&mut self, quote: u8, national: bool) -> Result<TokenKind, Box<SyntaxError>> {
        let Delimited { doubled, continued } = self.delimited(quote)?;
        Ok(TokenKind::Text { national, doubled, continued })
    }

    fn quoted_name(&mut self, close: u8) -> Result<TokenKind, Box<SyntaxError>> {
        let (start, line) = (self.at, self.line);
        let Delimited { doubled, .. } = self.delimited(close)?;
        let inner = &self.text[start + 1..self.at - 1];
        if inner.is_empty() {
            return Err(SyntaxError::name_empty(line));
        }
        if inner.len() > NAME_MAX {
            let name = undouble(inner, close as char);
            if name.chars().count() > NAME_MAX {
                return Err(SyntaxError::name_too_long(line, &name));
            }
        }
        Ok(TokenKind::QuotedName { doubled })
    }

    /// Moves from an opening delimiter behind the closing one.
    fn delimited(&mut self, close: u8) -> Result<Delimited, Box<SyntaxError>> {
        let (start, line) = (self.at + 1, self.line);
        let mut found = Delimited::default();
        self.at += 1;
        while let Some(&byte) = self.bytes.get(self.at) {
            self.at += 1;
            if byte == close {
                if self.byte(0) != close {
                    return Ok(found);
                }
                found.doubled = true;
                self.at += 1;
            } else if byte == b'\n' {
                self.line += 1;
            } else if byte == b'\\' && line_end(&self.bytes[self.at..]).is_some() {
                found.continued = true;
            }
        }
        Err(SyntaxError::unclosed_quote(line, &self.text[start..]))
    }

    fn symbol(&mut self, byte: u8) -> Symbol {
        let (next, third) = (self.byte(1), self.byte(2));
        let (length, symbol) = match (byte, next) {
            (b'(', _) => (1, Symbol::Open),
            (b')', _) => (1, Symbol::Close),
            (b'{', _) => (1, Symbol::OpenBrace),
            (b'}', _) => (1, Symbol::CloseBrace),
            (b',', _) => (1, Symbol::Comma),
            (b';', _) => (1, Symbol::Semicolon),
            (b'.', _) => (1, Symbol::Dot),
            (b':', b':') => (2, Symbol::DoubleColon),
            (b':', _) => (1, Symbol::Colon),
            (b'+', b'=') => (2, Symbol::PlusEqual),
            (b'+', _) => (1, Symbol::Plus),
            (b'-', b'=') => (2, Symbol::MinusEqual),
            (b'-', _) => (1, Symbol::Minus),
            (b'*', b'=') => (2, Symbol::StarEqual),
            (b'*', _) => (1, Symbol::Star),
            (b'/', b'=') => (2, Symbol::SlashEqual),
            (b'/', _) => (1, Symbol::Slash),
            (b'%', b'=') => (2, Symbol::PercentEqual),
            (b'%', _) => (1, Symbol::Percent),
            (b'&', b'=') => (2, Symbol::AmpersandEqual),
            (b'&', _) => (1, Symbol::Ampersand),
            (b'|', b'|') if third == b'=' => (3, Symbol::DoubleBarEqual),
            (b'|', b'|') => (2, Symbol::DoubleBar),
            (b'|', b'=') => (2, Symbol::BarEqual),
            (b'|', _) => (1, Symbol::Bar),
            (b'^', b'=') => (2, Symbol::CaretEqual),
            (b'^', _) => (1, Symbol::Caret),
            (b'~', _) => (1, Symbol::Tilde),
            (b'=', _) => (1, Symbol::Equal),
            (b'<', b'=') => (2, Symbol::LessEqual),
            (b'<', b'>') => (2, Symbol::NotEqual),
            (b'<', b'<') => (2, Symbol::ShiftLeft),
            (b'<', _) => (1, Symbol::Less),
            (b'>', b'=') => (2, Symbol::GreaterEqual),
            (b'>', b'>') => (2, Symbol::ShiftRight),
            (b'>', _) => (1, Symbol::Greater),
            (b'!', b'=') => (2, Symbol::NotEqual),
            (b'!', b'<') => (2, Symbol::NotLess),
            (b'!', b'>') => (2, Symbol::NotGreater),
            (b'!', _) => (1, Symbol::Bang),
            _ => (1, Symbol::Stray),
        };
        self.at += length;
        symbol
    }
}

/// Whether a character continues a name though it is no letter: combining marks, as several scripts need them.
fn is_mark(letter: char) -> bool {
    matches!(letter, '\u{0300}'..='\u{036F}' | '\u{200C}' | '\u{200D}' | '\u{203F}')
}

/// The length of the line's end that a text begins with.
fn line_end(text: &[u8]) -> Option<usize> {
    match text {
        [b'\n', ..] => Some(1),
        [b'\r', b'\n', ..] => Some(2),
        _ => None,
    }
}

/// A text without the ends of lines that have a backslash before them, and without these backslashes.
pub(crate) fn join_lines(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let behind = &rest[at + 1..];
        match line_end(behind.as_bytes()) {
            Some(length) => {
                joined.push_str(&rest[..at]);
                rest = &behind[length..];
            }
            None => {
                joined.push_str(&rest[..=at]);
                rest = behind;
            }
        }
    }
    joined + rest
}

/// Halves doubled delimiters.
pub(crate) fn undouble(text: &str, delimiter: char) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(next) = chars.next() {
        plain.push(next);
        if next == delimiter {
            chars.next();
        }
    }
    plain
}
