//! Looking at tokens, taking them, and saying that one is wrong.

use super::Parser;
use crate::error::{Parsed, SyntaxError};
use crate::lexer::{Keyword, Symbol, Token, TokenKind, join_lines, undouble};
use crate::tree::{Name, Span, without_end_blanks};

impl<'a> Parser<'a> {
    #[inline]
    pub(super) fn peek(&self) -> Token {
        self.tokens[self.at]
    }

    /// The token `ahead` of the next one; the last one stands for all behind it.
    #[inline]
    pub(super) fn nth(&self, ahead: usize) -> Token {
        self.tokens[(self.at + ahead).min(self.tokens.len() - 1)]
    }

    /// Takes the next token. The last one stays.
    #[inline]
    pub(super) fn bump(&mut self) -> Token {
        let token = self.tokens[self.at];
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        token
    }

    #[inline]
    pub(super) fn source(&self, token: Token) -> &'a str {
        &self.text[token.start as usize..token.end as usize]
    }

    pub(super) fn span_of(&self, token: Token) -> Span {
        Span { start: token.start, end: token.end, line: token.line }
    }

    /// The span from `first` to the token taken last.
    pub(super) fn span_from(&self, first: Token) -> Span {
        let end = if self.at == 0 { first.end } else { self.tokens[self.at - 1].end };
        Span { start: first.start, end: end.max(first.start), line: first.line }
    }

    #[inline]
    pub(super) fn at_keyword(&self, keyword: Keyword) -> bool {
        self.peek().kind == TokenKind::Keyword(keyword)
    }

    #[inline]
    pub(super) fn nth_keyword(&self, ahead: usize, keyword: Keyword) -> bool {
        self.nth(ahead).kind == TokenKind::Keyword(keyword)
    }

    #[inline]
    pub(super) fn at_symbol(&self, symbol: Symbol) -> bool {
        self.peek().kind == TokenKind::Symbol(symbol)
    }

    #[inline]
    pub(super) fn nth_symbol(&self, ahead: usize, symbol: Symbol) -> bool {
        self.nth(ahead).kind == TokenKind::Symbol(symbol)
    }

    /// Whether the token `ahead` is this word, which is not a reserved one.
    pub(super) fn nth_word(&self, ahead: usize, word: &str) -> bool {
        let token = self.nth(ahead);
        token.kind == TokenKind::Word && self.source(token).eq_ignore_ascii_case(word)
    }

    #[inline]
    pub(super) fn at_word(&self, word: &str) -> bool {
        self.nth_word(0, word)
    }

    #[inline]
    pub(super) fn eat_keyword(&mut self, keyword: Keyword) -> bool {
        let found = self.at_keyword(keyword);
        if found {
            self.bump();
        }
        found
    }

    #[inline]
    pub(super) fn eat_symbol(&mut self, symbol: Symbol) -> bool {
        let found = self.at_symbol(symbol);
        if found {
            self.bump();
        }
        found
    }

    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.bump();
        }
        found
    }

    /// Takes these words, reserved or not, if all of them come next.
    pub(super) fn eat_words(&mut self, words: &[&str]) -> bool {
        let found = words.iter().enumerate().all(|(ahead, word)| self.nth_spells(ahead, word));
        if found {
            for _ in words {
                self.bump();
            }
        }
        found
    }

    /// Whether the token `ahead` is this word, reserved or not.
    pub(super) fn nth_spells(&self, ahead: usize, word: &str) -> bool {
        let token = self.nth(ahead);
        matches!(token.kind, TokenKind::Word | TokenKind::Keyword(_)) && self.source(token).eq_ignore_ascii_case(word)
    }

    pub(super) fn expect_keyword(&mut self, keyword: Keyword) -> Parsed<Token> {
        if self.at_keyword(keyword) { Ok(self.bump()) } else { Err(self.unexpected()) }
    }

    pub(super) fn expect_symbol(&mut self, symbol: Symbol) -> Parsed<Token> {
        if self.at_symbol(symbol) { Ok(self.bump()) } else { Err(self.unexpected()) }
    }

    pub(super) fn expect_word(&mut self, word: &str) -> Parsed<()> {
        if self.nth_spells(0, word) {
            self.bump();
            return Ok(());
        }
        Err(self.unexpected())
    }

    pub(super) fn expect_words(&mut self, words: &[&str]) -> Parsed<()> {
        words.iter().try_for_each(|word| self.expect_word(word))
    }

    pub(super) fn expect_end(&mut self) -> Parsed<()> {
        if self.peek().kind == TokenKind::End { Ok(()) } else { Err(self.unexpected()) }
    }

    /// The error that the next token is.
    #[cold]
    pub(super) fn unexpected(&self) -> Box<SyntaxError> {
        let token = self.peek();
        match token.kind {
            TokenKind::Bad => self.lexer_error.clone().unwrap_or_else(|| SyntaxError::near(token.line, "")),
            TokenKind::Keyword(Keyword::With) => SyntaxError::near_with(token.line, self.source(token)),
            TokenKind::Keyword(_) => SyntaxError::near_keyword(token.line, self.source(token)),
            // At the end it is the last word that is told, as a plain word.
            TokenKind::End if self.at > 0 => {
                let last = self.tokens[self.at - 1];
                SyntaxError::near(last.line, &self.plain(last))
            }
            _ => SyntaxError::near(token.line, &self.plain(token)),
        }
    }

    /// A token as messages quote it: without brackets and quotes.
    pub(super) fn plain(&self, token: Token) -> String {
        let source = self.source(token);
        match token.kind {
            TokenKind::QuotedName { .. } => self.quoted_name(token),
            TokenKind::Text { .. } => self.text_value(token),
            _ => source.to_string(),
        }
    }

    /// The name inside brackets or quotes.
    pub(super) fn quoted_name(&self, token: Token) -> String {
        let source = self.source(token);
        let inner = &source[1..source.len() - 1];
        match token.kind {
            TokenKind::QuotedName { doubled: true } => undouble(inner, if source.starts_with('[') { ']' } else { '"' }),
            _ => inner.to_string(),
        }
    }

    /// The text inside quotes.
    pub(super) fn text_value(&self, token: Token) -> String {
        let source = self.source(token);
        let TokenKind::Text { national, doubled, continued } = token.kind else { return source.to_string() };
        let quoted = &source[usize::from(national)..];
        let inner = &quoted[1..quoted.len() - 1];
        let text =
            if doubled { undouble(inner, if quoted.starts_with('"') { '"' } else { '\'' }) } else { inner.to_string() };
        if continued { join_lines(&text) } else { text }
    }

    /// Whether the token `ahead` can be an identifier.
    pub(super) fn nth_name(&self, ahead: usize) -> bool {
        matches!(self.nth(ahead).kind, TokenKind::Word | TokenKind::QuotedName { .. })
    }

    #[inline]
    pub(super) fn at_name(&self) -> bool {
        self.nth_name(0)
    }

    /// An identifier, without the blanks at its end: names are compared without them, and nothing else looks at a name's text.
    pub(super) fn name(&mut self) -> Parsed<Name> {
        let mut name = self.name_as_written()?;
        name.text.truncate(without_end_blanks(&name.text).len());
        Ok(name)
    }

    /// An identifier as it is written: what a column of a result is called.
    pub(super) fn name_as_written(&mut self) -> Parsed<Name> {
        let token = self.peek();
        let text = match token.kind {
            TokenKind::Word => self.source(token).to_string(),
            TokenKind::QuotedName { .. } => self.quoted_name(token),
            _ => return Err(self.unexpected()),
        };
        self.bump();
        Ok(Name { text, span: self.span_of(token) })
    }

    /// An identifier or any reserved word: the names of options and of other things the grammar makes room for.
    pub(super) fn any_word(&mut self) -> Parsed<Name> {
        let token = self.peek();
        match token.kind {
            TokenKind::Keyword(_) => {
                self.bump();
                Ok(Name { text: self.source(token).to_string(), span: self.span_of(token) })
            }
            _ => self.name(),
        }
    }

    /// A word in upper case, reserved or not.
    pub(super) fn upper_word(&mut self) -> Parsed<String> {
        let token = self.peek();
        match token.kind {
            TokenKind::Keyword(_) | TokenKind::Word => {
                self.bump();
                Ok(self.source(token).to_ascii_uppercase())
            }
            _ => Err(self.unexpected()),
        }
    }

    /// A variable, with its `@`.
    pub(super) fn variable(&mut self) -> Parsed<Name> {
        let token = self.peek();
        match token.kind {
            TokenKind::Variable => {
                self.bump();
                Ok(Name { text: self.source(token).to_string(), span: self.span_of(token) })
            }
            _ => Err(self.unexpected()),
        }
    }

    pub(super) fn at_variable(&self) -> bool {
        self.peek().kind == TokenKind::Variable
    }

    pub(super) fn at_text(&self) -> bool {
        matches!(self.peek().kind, TokenKind::Text { .. })
    }

    /// A text's value.
    pub(super) fn text(&mut self) -> Parsed<String> {
        let token = self.peek();
        match token.kind {
            TokenKind::Text { .. } => {
                self.bump();
                Ok(self.text_value(token))
            }
            _ => Err(self.unexpected()),
        }
    }

    /// A whole number that fits 32 bits.
    pub(super) fn small_number(&mut self) -> Parsed<u32> {
        let token = self.peek();
        match token.kind {
            TokenKind::Integer => {
                let value = self.source(token).parse().map_err(|_| self.unexpected())?;
                self.bump();
                Ok(value)
            }
            _ => Err(self.unexpected()),
        }
    }

    /// `rule, rule, ...`
    pub(super) fn list<T>(&mut self, mut rule: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut items = vec![rule(self)?];
        while self.eat_symbol(Symbol::Comma) {
            items.push(rule(self)?);
        }
        Ok(items)
    }

    /// `(rule, rule, ...)`
    pub(super) fn parenthesized<T>(&mut self, rule: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        self.expect_symbol(Symbol::Open)?;
        let items = self.list(rule)?;
        self.expect_symbol(Symbol::Close)?;
        Ok(items)
    }
}
