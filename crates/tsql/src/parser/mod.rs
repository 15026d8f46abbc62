//! The parser: recursive descent, one function for each rule, one file for each family of rules.
//!
//! Depth is bounded twice. `depth` counts the rules that are open, which bounds the parser's own stack. `height` is the height
//! of the expressions and queries finished so far in the rule that is open, which bounds the trees that loops build
//! (`a COLLATE b COLLATE c`, `- - - a`). Beyond [`NESTING_MAX`] and
//! [`HEIGHT_MAX`] they are error 191. Functions that are off the shortest way from an expression to the one inside it are
//! `inline(never)`: their frames would otherwise stand on the stack at every level.

mod administration;
mod condition;
mod cursor;
mod database;
mod definition;
mod escape;
mod execute;
mod expression;
mod index;
mod merge;
mod modification;
mod module;
mod names;
mod options;
mod partition;
mod query;
mod refused;
mod security_policy;
mod source;
mod special;
mod statement;
mod table;
mod variable;

use crate::error::{Parsed, SyntaxError};
use crate::lexer::{self, Token, TokenKind};
use crate::tree::{Batch, Condition, Expr, Name, Parameter};
use crate::{HEIGHT_MAX, NESTING_MAX, ParseOptions};

/// The state of parsing one text.
pub(crate) struct Parser<'a> {
    text: &'a str,
    /// Ends with one token of kind End or Bad.
    tokens: Vec<Token>,
    /// Why the text cannot be read further than a token of kind Bad.
    lexer_error: Option<Box<SyntaxError>>,
    /// The index of the next token; never behind the last one.
    at: usize,
    depth: u32,
    height: u32,
    /// How many WHILE bodies are open.
    loops: u32,
    /// The labels of this batch or module.
    labels: Vec<Name>,
    /// The targets of the GOTOs of this batch or module.
    gotos: Vec<Name>,
    /// Whether a SELECT in parentheses may have an order of its own: not where the parts of a statement's own query stand.
    orders_parts: bool,
    /// True while no statement of the batch has been read: modules stand first in their batch.
    first_statement: bool,
}

impl<'a> Parser<'a> {
    pub(crate) fn new(text: &'a str, options: ParseOptions) -> Parsed<Parser<'a>> {
        if u32::try_from(text.len()).is_err() {
            return Err(SyntaxError::text_too_long());
        }
        let read = lexer::lex(text, options.quoted_identifier);
        Ok(Parser {
            text,
            tokens: read.tokens,
            lexer_error: read.error,
            at: 0,
            depth: 0,
            height: 0,
            loops: 0,
            labels: Vec::new(),
            gotos: Vec::new(),
            orders_parts: true,
            first_statement: true,
        })
    }

    pub(crate) fn batch(mut self) -> Parsed<Batch> {
        let statements = self.batch_statements()?;
        Ok(Batch { statements })
    }

    pub(crate) fn lone_expression(mut self) -> Parsed<Expr> {
        let expr = self.expression()?;
        self.expect_end()?;
        Ok(expr)
    }

    pub(crate) fn lone_condition(mut self) -> Parsed<Condition> {
        let condition = self.condition()?;
        self.expect_end()?;
        Ok(condition)
    }

    pub(crate) fn lone_parameters(mut self) -> Parsed<Vec<Parameter>> {
        let parameters = if self.peek().kind == TokenKind::End { Vec::new() } else { self.parameters()? };
        self.expect_end()?;
        Ok(parameters)
    }

    /// Runs a rule one level deeper; its tree is a part of the one being built.
    fn nested<T>(&mut self, rule: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= NESTING_MAX {
            return Err(SyntaxError::too_deep(self.peek().line));
        }
        self.depth += 1;
        let result = self.part(rule);
        self.depth -= 1;
        result
    }

    /// Runs a rule that measures the height of its own tree; what is around it is at least as high.
    #[inline]
    fn part<T>(&mut self, rule: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let around = std::mem::take(&mut self.height);
        let result = rule(self)?;
        self.height = self.height.max(around);
        Ok(result)
    }

    /// Puts one more node on top of the tree being built.
    fn grow(&mut self) -> Parsed<()> {
        self.height += 1;
        if self.height > HEIGHT_MAX {
            return Err(SyntaxError::too_deep(self.peek().line));
        }
        Ok(())
    }
}
