//! Conditions.
//!
//! Behind an opening parenthesis it cannot be known whether a value or a condition follows, so the rules here give a [`Node`],
//! either of both, and never read anything twice.

use super::Parser;
use super::refused::GRAPH;
use crate::error::{Parsed, SyntaxError};
use crate::lexer::{Keyword, Symbol, TokenKind};
use crate::tree::{Compare, CompareOp, CompareQuery, Condition, Expr, FunctionCall, InList, Like, ObjectName};

/// A value or a condition.
pub(super) enum Node {
    Value(Expr),
    Condition(Condition),
}

impl Parser<'_> {
    /// A condition.
    pub(super) fn condition(&mut self) -> Parsed<Condition> {
        let node = self.node()?;
        self.as_condition(node)
    }

    fn node(&mut self) -> Parsed<Node> {
        self.nested(Self::disjunction)
    }

    fn as_condition(&self, node: Node) -> Parsed<Condition> {
        match node {
            Node::Condition(condition) => Ok(condition),
            Node::Value(_) => Err(self.not_a_condition()),
        }
    }

    #[cold]
    fn not_a_condition(&self) -> Box<SyntaxError> {
        let mut token = self.peek();
        match token.kind {
            TokenKind::Bad => return self.unexpected(),
            TokenKind::End if self.at > 0 => token = self.tokens[self.at - 1],
            _ => {}
        }
        SyntaxError::not_a_condition(token.line, &self.plain(token))
    }

    fn disjunction(&mut self) -> Parsed<Node> {
        let first = self.conjunction()?;
        if !self.at_keyword(Keyword::Or) {
            return Ok(first);
        }
        let mut terms = vec![self.as_condition(first)?];
        while self.eat_keyword(Keyword::Or) {
            let term = self.part(Self::conjunction)?;
            terms.push(self.as_condition(term)?);
        }
        self.grow()?;
        Ok(Node::Condition(Condition::Or(terms)))
    }

    fn conjunction(&mut self) -> Parsed<Node> {
        let first = self.negation()?;
        if !self.at_keyword(Keyword::And) {
            return Ok(first);
        }
        let mut terms = vec![self.as_condition(first)?];
        while self.eat_keyword(Keyword::And) {
            let term = self.part(Self::negation)?;
            terms.push(self.as_condition(term)?);
        }
        self.grow()?;
        Ok(Node::Condition(Condition::And(terms)))
    }

    fn negation(&mut self) -> Parsed<Node> {
        let mut count = 0u32;
        while self.eat_keyword(Keyword::Not) {
            count += 1;
        }
        let node = self.predicate()?;
        if count == 0 {
            return Ok(node);
        }
        let mut condition = self.as_condition(node)?;
        for _ in 0..count {
            self.grow()?;
            condition = Condition::Not(Box::new(condition));
        }
        Ok(Node::Condition(condition))
    }

    fn predicate(&mut self) -> Parsed<Node> {
        let left = match self.peek().kind {
            TokenKind::Keyword(Keyword::Exists) => {
                self.bump();
                self.expect_symbol(Symbol::Open)?;
                let query = self.query()?;
                self.expect_symbol(Symbol::Close)?;
                self.grow()?;
                return Ok(Node::Condition(Condition::Exists(Box::new(query))));
            }
            TokenKind::Keyword(Keyword::Update) if self.nth_symbol(1, Symbol::Open) => {
                self.bump();
                self.bump();
                let column = self.name()?;
                self.expect_symbol(Symbol::Close)?;
                return Ok(Node::Condition(Condition::Updated(column)));
            }
            TokenKind::Keyword(Keyword::Contains | Keyword::Freetext) => return self.full_text(),
            TokenKind::Word if self.at_word("MATCH") && self.nth_symbol(1, Symbol::Open) => {
                return Err(SyntaxError::not_supported(self.peek().line, GRAPH));
            }
            TokenKind::Symbol(Symbol::Open) => match self.parenthesized_node()? {
                Node::Value(value) => self.sum(Some(value))?,
                condition => return Ok(condition),
            },
            _ => self.sum(None)?,
        };
        self.test(left)
    }

    /// What stands in parentheses, and the parentheses.
    #[inline(never)]
    fn parenthesized_node(&mut self) -> Parsed<Node> {
        self.bump();
        let node = if self.at_keyword(Keyword::Select) { Node::Value(self.subquery()?) } else { self.node()? };
        let node = match node {
            Node::Value(value) => Node::Value(self.more_set_operands(value)?),
            condition => condition,
        };
        self.expect_symbol(Symbol::Close)?;
        Ok(node)
    }

    /// What is asked of a value; the value itself when nothing is.
    fn test(&mut self, left: Expr) -> Parsed<Node> {
        if let Some(op) = self.compare_op() {
            return self.comparison(left, op);
        }
        let TokenKind::Keyword(keyword) = self.peek().kind else { return Ok(Node::Value(left)) };
        let negated = keyword == Keyword::Not;
        let tested = if negated { self.nth(1).kind } else { self.peek().kind };
        let condition = match tested {
            TokenKind::Keyword(Keyword::Is) if !negated => self.is_test(left)?,
            TokenKind::Keyword(Keyword::Between) => self.between(left, negated)?,
            TokenKind::Keyword(Keyword::In) => self.in_test(left, negated)?,
            TokenKind::Keyword(Keyword::Like) => self.like(left, negated)?,
            _ => return Ok(Node::Value(left)),
        };
        self.grow()?;
        Ok(Node::Condition(condition))
    }

    /// Takes a comparison operator; its two characters may stand apart, as in `> =`.
    fn compare_op(&mut self) -> Option<CompareOp> {
        let TokenKind::Symbol(symbol) = self.peek().kind else { return None };
        let next = match self.nth(1).kind {
            TokenKind::Symbol(next) => Some(next),
            _ => None,
        };
        let (op, length) = match (symbol, next) {
            (Symbol::Less, Some(Symbol::Equal)) => (CompareOp::LessOrEqual, 2),
            (Symbol::Less, Some(Symbol::Greater)) => (CompareOp::NotEqual, 2),
            (Symbol::Greater, Some(Symbol::Equal)) => (CompareOp::GreaterOrEqual, 2),
            (Symbol::Bang, Some(Symbol::Equal)) => (CompareOp::NotEqual, 2),
            (Symbol::Bang, Some(Symbol::Less)) => (CompareOp::GreaterOrEqual, 2),
            (Symbol::Bang, Some(Symbol::Greater)) => (CompareOp::LessOrEqual, 2),
            (Symbol::Equal, _) => (CompareOp::Equal, 1),
            (Symbol::NotEqual, _) => (CompareOp::NotEqual, 1),
            (Symbol::Less, _) => (CompareOp::Less, 1),
            (Symbol::LessEqual | Symbol::NotGreater, _) => (CompareOp::LessOrEqual, 1),
            (Symbol::Greater, _) => (CompareOp::Greater, 1),
            (Symbol::GreaterEqual | Symbol::NotLess, _) => (CompareOp::GreaterOrEqual, 1),
            _ => return None,
        };
        for _ in 0..length {
            self.bump();
        }
        Some(op)
    }

    #[inline(never)]
    fn comparison(&mut self, left: Expr, op: CompareOp) -> Parsed<Node> {
        let all = match self.peek().kind {
            TokenKind::Keyword(Keyword::All) => Some(true),
            TokenKind::Keyword(Keyword::Any | Keyword::Some) => Some(false),
            _ => None,
        };
        let condition = match all {
            Some(all) => {
                self.bump();
                self.expect_symbol(Symbol::Open)?;
                let query = self.query()?;
                self.expect_symbol(Symbol::Close)?;
                Condition::CompareQuery(Box::new(CompareQuery { left, op, all, query }))
            }
            None => Condition::Compare(Box::new(Compare { left, op, right: self.operand()? })),
        };
        self.grow()?;
        Ok(Node::Condition(condition))
    }

    #[inline(never)]
    fn is_test(&mut self, left: Expr) -> Parsed<Condition> {
        self.bump();
        let negated = self.eat_keyword(Keyword::Not);
        if self.eat_keyword(Keyword::Null) {
            return Ok(Condition::IsNull { expr: left, negated });
        }
        self.expect_keyword(Keyword::Distinct)?;
        self.expect_keyword(Keyword::From)?;
        let right = self.operand()?;
        Ok(Condition::IsDistinct { operands: Box::new([left, right]), negated })
    }

    fn skip_test_words(&mut self, negated: bool) {
        self.bump();
        if negated {
            self.bump();
        }
    }

    #[inline(never)]
    fn between(&mut self, left: Expr, negated: bool) -> Parsed<Condition> {
        self.skip_test_words(negated);
        let low = self.operand()?;
        self.expect_keyword(Keyword::And)?;
        let high = self.operand()?;
        Ok(Condition::Between { expr: Box::new(left), bounds: Box::new([low, high]), negated })
    }

    #[inline(never)]
    fn in_test(&mut self, left: Expr, negated: bool) -> Parsed<Condition> {
        self.skip_test_words(negated);
        self.expect_symbol(Symbol::Open)?;
        let list = if self.at_keyword(Keyword::Select) {
            InList::Query(Box::new(self.query()?))
        } else {
            InList::Values(self.list(Self::expression)?)
        };
        let list = match list {
            // `IN ((SELECT 1) UNION SELECT 2)`
            InList::Values(mut values) if values.len() == 1 && self.at_set_operator() => {
                match values.pop().map(|value| value.kind) {
                    Some(crate::tree::ExprKind::Subquery(query)) => {
                        InList::Query(Box::new(self.continue_query(*query)?))
                    }
                    _ => return Err(self.unexpected()),
                }
            }
            // `IN ((SELECT 1))`: parentheses around a query make it no single value.
            InList::Values(mut values) if values.len() == 1 => match values.remove(0) {
                Expr { kind: crate::tree::ExprKind::Subquery(query), .. } => InList::Query(query),
                value => InList::Values(vec![value]),
            },
            list => list,
        };
        self.expect_symbol(Symbol::Close)?;
        Ok(Condition::In { expr: Box::new(left), list, negated })
    }

    #[inline(never)]
    fn like(&mut self, left: Expr, negated: bool) -> Parsed<Condition> {
        self.skip_test_words(negated);
        let pattern = self.operand()?;
        let escape = if self.eat_keyword(Keyword::Escape) { Some(self.operand()?) } else { self.like_escape()? };
        Ok(Condition::Like(Box::new(Like { expr: left, pattern, escape, negated })))
    }

    /// `CONTAINS(column | (columns) | *, 'text')`. As it is refused when it is bound, nothing of it is kept.
    #[inline(never)]
    fn full_text(&mut self) -> Parsed<Node> {
        let name = ObjectName::of(self.any_word()?);
        self.skip_parenthesized()?;
        self.grow()?;
        let call = FunctionCall { star: true, ..FunctionCall::named(name) };
        Ok(Node::Condition(Condition::FullText(Box::new(call))))
    }
}
