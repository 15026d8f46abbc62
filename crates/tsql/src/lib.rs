//! T-SQL's lexer, parser and syntax tree.
//!
//! [`parse`] turns the text of one batch into a [`Batch`]; [`split_batches`] cuts a script into batches as client tools do.

mod batches;
mod display;
mod error;
mod lexer;
mod parser;
mod tree;

pub use batches::{ScriptBatch, ends_with_go, split_batches};
pub use error::SyntaxError;
pub use tree::*;

/// How deep expressions, queries and statements may nest. Every tree is at most a small multiple of this high, so walking one
/// by recursion is safe.
pub const NESTING_MAX: u32 = 500;

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

fn unbox<T>(parsed: error::Parsed<T>) -> Result<T, SyntaxError> {
    parsed.map_err(|error| *error)
}
