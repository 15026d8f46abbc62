//! The characters of queries: signs, words, names and texts, and what messages call them.

use super::parse::Parser;
use crate::error::SqlError;
use crate::xml::document::Name;
use crate::xml::name::{continues_name, is_blank, is_character, leading_name};

impl<'q> Parser<'q> {
    pub(super) fn rest(&self) -> &'q str {
        &self.text[self.at..]
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Skips blanks and comments, `(: ... :)`, which may be within each other.
    pub(super) fn skip(&mut self) {
        loop {
            let rest = self.rest();
            self.at += rest.len() - rest.trim_start_matches(is_blank).len();
            if !self.rest().starts_with("(:") {
                return;
            }
            let mut open = 0_usize;
            while self.at < self.text.len() {
                let rest = self.rest();
                let step = match rest {
                    _ if rest.starts_with("(:") => {
                        open += 1;
                        2
                    }
                    _ if rest.starts_with(":)") => {
                        open -= 1;
                        2
                    }
                    _ => rest.chars().next().map_or(1, char::len_utf8),
                };
                self.at += step;
                if open == 0 {
                    break;
                }
            }
        }
    }

    /// Takes a sign, with the blanks before it.
    pub(super) fn eat(&mut self, sign: &str) -> bool {
        self.skip();
        let is_next = self.rest().starts_with(sign);
        self.at += if is_next { sign.len() } else { 0 };
        is_next
    }

    pub(super) fn at_word(&mut self, word: &str) -> bool {
        self.skip();
        let behind = self.rest().strip_prefix(word);
        behind.is_some_and(|behind| !behind.starts_with(|c| continues_name(c) || c == ':'))
    }

    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let is_next = self.at_word(word);
        self.at += if is_next { word.len() } else { 0 };
        is_next
    }

    /// Takes words that come one after the other.
    pub(super) fn eat_words(&mut self, words: &[&str]) -> bool {
        let start = self.at;
        let all = words.iter().all(|word| self.eat_word(word));
        self.at = if all { self.at } else { start };
        all
    }

    /// Whether the word is next, and behind it the sign.
    pub(super) fn at_word_before(&mut self, word: &str, sign: &str) -> bool {
        let start = self.at;
        let both = self.eat_word(word) && self.eat(sign);
        self.at = start;
        both
    }

    /// What errors name: the word or the sign that is next.
    pub(super) fn near(&mut self) -> String {
        self.skip();
        match (leading_name(self.rest()), self.peek()) {
            ("", Some(c)) => c.to_string(),
            ("", None) => "<eof>".to_owned(),
            (name, _) => name.to_owned(),
        }
    }

    #[cold]
    pub(super) fn syntax<T>(&mut self) -> Result<T, SqlError> {
        let near = self.near();
        Err(SqlError::xquery_syntax(&self.place, near))
    }

    pub(super) fn expect(&mut self, sign: &str) -> Result<(), SqlError> {
        if self.eat(sign) {
            return Ok(());
        }
        let near = self.near();
        Err(SqlError::xquery_syntax_expected(&self.place, near, sign))
    }

    pub(super) fn expect_word(&mut self, word: &str) -> Result<(), SqlError> {
        if self.eat_word(word) {
            return Ok(());
        }
        let near = self.near();
        Err(SqlError::xquery_syntax_expected(&self.place, near, word))
    }

    pub(super) fn unsupported<T>(&self, syntax: &str) -> Result<T, SqlError> {
        Err(SqlError::xquery_unsupported(&self.place, syntax))
    }

    /// A name without a prefix.
    pub(super) fn plain_name(&mut self) -> Result<&'q str, SqlError> {
        self.skip();
        let name = leading_name(self.rest());
        if name.is_empty() {
            return self.syntax();
        }
        self.at += name.len();
        Ok(name)
    }

    /// A name, perhaps with a prefix.
    pub(super) fn name(&mut self) -> Result<(&'q str, &'q str), SqlError> {
        let first = self.plain_name()?;
        let behind = self.rest().strip_prefix(':').map_or("", leading_name);
        if behind.is_empty() {
            return Ok(("", first));
        }
        self.at += 1 + behind.len();
        Ok((first, behind))
    }

    /// What a prefix stands for.
    pub(super) fn space(&self, prefix: &str) -> Result<String, SqlError> {
        match self.prefixes.iter().rev().find(|(known, _)| known == prefix) {
            Some((_, uri)) => Ok(uri.clone()),
            None if prefix.is_empty() => Ok(String::new()),
            None => Err(SqlError::xquery_prefix_unknown(&self.place, prefix)),
        }
    }

    /// A name with its namespace; one of an attribute without a prefix has none.
    pub(super) fn resolved(&self, prefix: &str, local: &str, attribute: bool) -> Result<Name, SqlError> {
        let uri = if attribute && prefix.is_empty() { String::new() } else { self.space(prefix)? };
        Ok(Name { prefix: prefix.into(), local: local.into(), uri: uri.into() })
    }

    /// A text in quotes, which stand for themselves when they are doubled.
    pub(super) fn quoted(&mut self) -> Result<String, SqlError> {
        self.skip();
        let Some(quote) = self.peek().filter(|quote| matches!(quote, '"' | '\'')) else {
            return Err(SqlError::xquery_literal_expected(&self.place));
        };
        let line = self.text[..self.at].matches('\n').count() + 1;
        self.at += 1;
        let mut text = String::new();
        loop {
            let rest = self.rest();
            let Some(end) = rest.find([quote, '&']) else {
                return Err(SqlError::xquery_string_unterminated(&self.place, line));
            };
            text.push_str(&rest[..end]);
            self.at += end;
            if self.peek() == Some('&') {
                text.push(self.entity()?);
                continue;
            }
            self.at += 1;
            if self.peek() != Some(quote) {
                return Ok(text);
            }
            text.push(quote);
            self.at += 1;
        }
    }

    /// `&...;`
    pub(super) fn entity(&mut self) -> Result<char, SqlError> {
        let rest = &self.rest()[1..];
        let Some((name, _)) = rest.split_once(';') else {
            return Err(SqlError::xquery_entity_invalid(&self.place));
        };
        self.at += name.len() + 2;
        let number = match name.strip_prefix('#') {
            Some(digits) => match digits.strip_prefix('x') {
                Some(digits) => u32::from_str_radix(digits, 16),
                None => digits.parse(),
            },
            None => {
                let known = [("lt", '<'), ("gt", '>'), ("amp", '&'), ("quot", '"'), ("apos", '\'')];
                let found = known.iter().find(|(known, _)| *known == name).map(|(_, c)| *c);
                return found.ok_or_else(|| SqlError::xquery_entity_invalid(&self.place));
            }
        };
        let character = number.ok().and_then(char::from_u32).filter(|c| is_character(*c));
        character.ok_or_else(|| SqlError::xquery_entity_number_invalid(&self.place))
    }
}
