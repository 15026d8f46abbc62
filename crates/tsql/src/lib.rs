//! T-SQL's lexer, parser and syntax tree.
//!
//! [`parse`] turns the text of one batch into a [`Batch`]; [`split_batches`] cuts a script into batches as client tools do.
//! Names are not looked up and types are not checked here. Trees print as T-SQL through `Display`, and what they print parses
//! to an equal tree.
//!
//! ```
//! use pikepole_tsql::{StatementKind, parse};
//!
//! let batch = parse("INSERT INTO dbo.t (a, b) VALUES (1, N'x')\nSELECT @@ROWCOUNT AS n").unwrap();
//! assert_eq!(batch.statements.len(), 2);
//! assert_eq!(batch.statements[1].line(), 2);
//! let StatementKind::Insert(insert) = &batch.statements[0].kind else { unreachable!() };
//! assert_eq!(insert.columns[1].as_str(), "b");
//! assert_eq!(insert.to_string(), "INSERT INTO dbo.t (a, b) VALUES (1, N'x')");
//!
//! let error = parse("SELECT 1\nSELECT FROM t").unwrap_err();
//! assert_eq!((error.number, error.line), (156, 2));
//! assert_eq!(error.message, "Incorrect syntax near the keyword 'FROM'.");
//! ```

mod batches;
mod display;
mod error;
mod lexer;
mod module_text;
mod parser;
mod tree;

pub use batches::{BatchLines, ScriptBatch, split_batches};
pub use display::{bracketed, stored_condition, stored_expression, stored_filter};
pub use error::SyntaxError;
pub use lexer::reserved_words;
pub use module_text::{declared_names, module_text};
pub use tree::*;

/// How deep parentheses, functions, queries and statements may nest in each other; error 191 beyond.
pub const NESTING_MAX: u32 = 200;

/// How high the tree of one expression or query may be; error 191 beyond. Operators of one precedence, AND, OR, set operators and
/// lists are one node however many operands they have. A tree is nowhere higher than this and [`NESTING_MAX`] together, so
/// walking one by recursion is safe.
pub const HEIGHT_MAX: u32 = 500;

/// How a text is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParseOptions {
    /// `SET QUOTED_IDENTIFIER`: `"x"` is a name when true, a text when false.
    pub quoted_identifier: bool,
}

impl Default for ParseOptions {
    fn default() -> Self {
        ParseOptions { quoted_identifier: true }
    }
}

/// Parses a batch with the default options.
///
/// # Errors
/// The first error of syntax.
pub fn parse(text: &str) -> Result<Batch, SyntaxError> {
    parse_with(text, ParseOptions::default())
}

/// Parses a batch.
///
/// # Errors
/// The first error of syntax.
pub fn parse_with(text: &str, options: ParseOptions) -> Result<Batch, SyntaxError> {
    unbox(parser::Parser::new(text, options).and_then(parser::Parser::batch))
}

/// Parses a scalar expression that stands alone, such as the stored text of a column's default.
///
/// # Errors
/// The first error of syntax.
pub fn parse_expression(text: &str) -> Result<Expr, SyntaxError> {
    unbox(parser::Parser::new(text, ParseOptions::default()).and_then(parser::Parser::lone_expression))
}

/// Parses a condition that stands alone, such as the stored text of a CHECK constraint.
///
/// # Errors
/// The first error of syntax.
pub fn parse_condition(text: &str) -> Result<Condition, SyntaxError> {
    unbox(parser::Parser::new(text, ParseOptions::default()).and_then(parser::Parser::lone_condition))
}

/// Parses a list of parameters as sp_executesql declares them: `@a int, @b nvarchar(20) OUTPUT`.
///
/// # Errors
/// The first error of syntax.
pub fn parse_parameters(text: &str) -> Result<Vec<Parameter>, SyntaxError> {
    unbox(parser::Parser::new(text, ParseOptions::default()).and_then(parser::Parser::lone_parameters))
}

/// The variables of a text, each use with its offset, in order.
pub fn variable_uses(text: &str) -> Vec<(usize, &str)> {
    let tokens = lexer::lex(text, true).tokens;
    let places = tokens.iter().filter(|token| token.kind == lexer::TokenKind::Variable);
    places.map(|token| (token.start as usize, &text[token.start as usize..token.end as usize])).collect()
}

/// The calls in a text by a name without a schema, each with its line.
pub fn bare_calls(text: &str) -> Vec<(&str, u32)> {
    use lexer::{Symbol, TokenKind};
    let tokens = lexer::lex(text, true).tokens;
    let is_call = |at: usize| {
        let before = at.checked_sub(1).map(|before| tokens[before].kind);
        let behind = tokens.get(at + 1).map(|token| token.kind);
        before != Some(TokenKind::Symbol(Symbol::Dot)) && behind == Some(TokenKind::Symbol(Symbol::Open))
    };
    let words = tokens.iter().enumerate().filter(|(at, token)| token.kind == TokenKind::Word && is_call(*at));
    words.map(|(_, token)| (&text[token.start as usize..token.end as usize], token.line)).collect()
}

/// Whether a text has a name that is a temporary object's: `#t`, `[#t]`.
pub fn names_temporary(text: &str) -> bool {
    use lexer::TokenKind;
    let is_name = |kind: TokenKind| matches!(kind, TokenKind::Word | TokenKind::QuotedName { .. });
    let names = lexer::lex(text, true).tokens.into_iter().filter(|token| is_name(token.kind));
    let mut starts = names.map(|token| text[token.start as usize..].trim_start_matches(['[', '"']));
    starts.any(|name| name.starts_with('#'))
}

/// The query of a text that opens a cursor by the protocol, without what may stand behind it, as behind that of DECLARE CURSOR: FOR
/// UPDATE with columns or without, FOR READ ONLY. True for the last.
pub fn cursor_query(text: &str) -> (&str, bool) {
    use lexer::{Keyword, Symbol, TokenKind};
    let tokens = lexer::lex(text, true).tokens;
    let Some(at) = tokens.iter().rposition(|token| token.kind == TokenKind::Keyword(Keyword::For)) else {
        return (text, false);
    };
    let is_end = |kind: TokenKind| matches!(kind, TokenKind::End | TokenKind::Symbol(Symbol::Semicolon));
    let is_name = |kind: TokenKind| matches!(kind, TokenKind::Word | TokenKind::QuotedName { .. });
    let is_between = |kind: TokenKind| matches!(kind, TokenKind::Symbol(Symbol::Comma | Symbol::Dot));
    let kinds: Vec<TokenKind> =
        tokens[at + 1..].iter().map(|token| token.kind).take_while(|kind| !is_end(*kind)).collect();
    let reads_only = match kinds[..] {
        [TokenKind::Keyword(Keyword::Update)] => false,
        [TokenKind::Keyword(Keyword::Update), TokenKind::Keyword(Keyword::Of), ref columns @ ..]
            if columns.iter().all(|kind| is_name(*kind) || is_between(*kind)) =>
        {
            false
        }
        [TokenKind::Keyword(Keyword::Read), TokenKind::Word] => true,
        _ => return (text, false),
    };
    (&text[..tokens[at].start as usize], reads_only)
}

fn unbox<T>(parsed: error::Parsed<T>) -> Result<T, SyntaxError> {
    parsed.map_err(|error| *error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clause_of_a_cursor_is_told_from_its_query() {
        let query = "SELECT a FROM t ORDER BY a ";
        for (clause, reads_only) in
            [("FOR UPDATE", false), ("for update of a, [b], t.c ;", false), ("FOR READ ONLY", true)]
        {
            assert_eq!(cursor_query(&format!("{query}{clause}")), (query, reads_only), "{clause}");
        }
        for text in [query, "SELECT a FROM t FOR JSON AUTO", "SELECT 'FOR UPDATE'", "FOR UPDATE = 1", ""] {
            assert_eq!(cursor_query(text), (text, false));
        }
    }
}
