//! Queries as trees: names and types are resolved, what is wrong by its form has been refused.

use super::atomic::{Atomic, AtomicType};
use super::functions::Function;
use crate::arithmetic::ArithmeticOp;
use crate::xml::document::Name;
use std::cmp::Ordering;

/// An expression.
#[derive(Debug)]
pub(super) enum Expr {
    Literal(Atomic),
    /// One after the other; `()` without any.
    Sequence(Vec<Expr>),
    Path(Path),
    /// `(...)[...]`
    Filter(Box<Expr>, Vec<Predicate>),
    /// A variable, by its place among those in scope.
    Variable(usize),
    /// `sql:variable` and `sql:column`, by their place among the values from SQL.
    Sql(usize),
    Call(Function, Vec<Expr>),
    /// `=`, `!=`, `<` ...: whether a pair of items compares so.
    Any(Comparison, Box<[Expr; 2]>),
    /// `eq`, `ne`, `lt` ...: nothing where a side is nothing.
    Single(Comparison, Box<[Expr; 2]>),
    /// `is`, `<<`, `>>`
    Nodes(Ordering, Box<[Expr; 2]>),
    And(Vec<Expr>),
    Or(Vec<Expr>),
    Arithmetic(ArithmeticOp, Box<[Expr; 2]>),
    Negate(Box<Expr>),
    If(Box<[Expr; 3]>),
    Cast(Box<Expr>, AtomicType),
    For(Box<For>),
    /// `some` and, when it says so, `every`.
    Quantified(Box<Quantified>),
    Build(Box<Constructor>),
}

/// `=` and its kin: the orders that hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Comparison {
    pub(super) less: bool,
    pub(super) equal: bool,
    pub(super) greater: bool,
}

impl Comparison {
    /// By its sign.
    pub(super) fn general(sign: &str) -> Option<Comparison> {
        let (less, equal, greater) = match sign {
            "=" => (false, true, false),
            "!=" => (true, false, true),
            "<" => (true, false, false),
            "<=" => (true, true, false),
            ">" => (false, false, true),
            ">=" => (false, true, true),
            _ => return None,
        };
        Some(Comparison { less, equal, greater })
    }

    /// By its word.
    pub(super) fn single(word: &str) -> Option<Comparison> {
        let words = [("eq", "="), ("ne", "!="), ("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">=")];
        words.iter().find(|(known, _)| *known == word).and_then(|(_, sign)| Comparison::general(sign))
    }

    pub(super) fn holds(self, order: Ordering) -> bool {
        match order {
            Ordering::Less => self.less,
            Ordering::Equal => self.equal,
            Ordering::Greater => self.greater,
        }
    }
}

/// A path: where it begins, and its steps.
#[derive(Debug)]
pub(super) struct Path {
    pub(super) start: Start,
    pub(super) steps: Vec<Step>,
}

/// Where a path begins.
#[derive(Debug)]
pub(super) enum Start {
    /// `/`
    Root,
    /// What the method is called on, or the item that a predicate looks at.
    Context,
    Expr(Box<Expr>),
}

/// One step of a path.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) axis: Axis,
    pub(super) test: Test,
    pub(super) predicates: Vec<Predicate>,
}

/// Which nodes a step goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Axis {
    Child,
    Attribute,
    Itself,
    Parent,
    Descendant,
    DescendantOrItself,
}

/// Which of them it takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Test {
    /// `node()`
    Any,
    /// A name; the axis tells whether of an element or of an attribute. What is absent is any.
    Name {
        local: Option<String>,
        uri: Option<String>,
    },
    Text,
    Comment,
    Instruction,
}

/// What stands in brackets.
#[derive(Debug)]
pub(super) enum Predicate {
    /// The item in this place.
    Place(Expr),
    /// The items for which it holds.
    Condition(Expr),
}

/// FLWOR.
#[derive(Debug)]
pub(super) struct For {
    pub(super) clauses: Vec<Clause>,
    pub(super) condition: Option<Expr>,
    /// What the results are ordered by, each with whether it descends.
    pub(super) order: Vec<(Expr, bool)>,
    pub(super) result: Expr,
}

/// `for $v in ...` and `let $v := ...`.
#[derive(Debug)]
pub(super) enum Clause {
    For(Expr),
    Let(Expr),
}

/// See [`Expr::Quantified`].
#[derive(Debug)]
pub(super) struct Quantified {
    pub(super) every: bool,
    pub(super) sources: Vec<Expr>,
    pub(super) condition: Expr,
}

/// What makes a node.
#[derive(Debug)]
pub(super) enum Constructor {
    Element(Element),
    /// A computed attribute; one without an expression is empty.
    Attribute(Name, Option<Expr>),
    Text(Expr),
    Comment(String),
    Instruction(String, String),
}

/// An element that is made.
#[derive(Debug)]
pub(super) struct Element {
    pub(super) name: Name,
    /// The prefixes that it declares.
    pub(super) declared: Vec<(String, String)>,
    pub(super) attributes: Vec<(Name, Part)>,
    pub(super) content: Vec<Part>,
}

/// A part of an element's content, or an attribute's value.
#[derive(Debug)]
pub(super) enum Part {
    Text(String),
    Expr(Expr),
}

/// A change of a document: what `modify` does.
#[derive(Debug)]
pub(super) enum Change {
    Delete(Expr),
    Replace { target: Expr, value: Expr, by_nothing: bool },
    Insert { content: Expr, place: Place, target: Expr },
}

/// Where an insert puts its nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    First,
    Last,
    Before,
    After,
}
