//! Runs queries over a document.

use super::atomic::{Atomic, AtomicType, Datum};
use super::syntax::{Axis, Clause, Comparison, Expr, For, Path, Predicate, Quantified, Start, Step, Test};
use crate::error::SqlError;
use crate::memory::Growth;
use crate::value::Value;
use crate::xml::document::{Document, Kind, Name, NodeId, ROOT};
use std::cmp::Ordering;
use std::sync::Arc;

/// One of the things that a query gives.
#[derive(Debug, Clone)]
pub(super) enum Item {
    /// A node of the document that the method is called on.
    Node(NodeId),
    /// Nodes that the query has made, or a value of type xml from SQL: all that is in a document.
    Built(Arc<Document>),
    /// An attribute that the query has made.
    BuiltAttribute(Arc<(Name, String)>),
    Atomic(Atomic),
}

/// What `.`, `position()` and `last()` mean.
#[derive(Debug, Clone)]
pub(super) struct Focus {
    pub(super) item: Item,
    pub(super) place: usize,
    pub(super) last: usize,
}

/// A query while it runs.
pub(super) struct Run<'r> {
    pub(super) document: &'r Document,
    /// The values from SQL; NULL is nothing.
    pub(super) values: &'r [Option<Item>],
    focus: Vec<Focus>,
    variables: Vec<Vec<Item>>,
    growth: Growth,
}

type Items = Result<Vec<Item>, SqlError>;

impl<'r> Run<'r> {
    pub(super) fn new(document: &'r Document, context: NodeId, values: &'r [Option<Item>]) -> Run<'r> {
        let focus = Focus { item: Item::Node(context), place: 1, last: 1 };
        Run { document, values, focus: vec![focus], variables: Vec::new(), growth: Growth::begin() }
    }

    pub(super) fn focus(&self) -> &Focus {
        // It begins with one, and what is pushed is popped.
        &self.focus[self.focus.len() - 1]
    }

    pub(super) fn eval(&mut self, expr: &Expr) -> Items {
        self.growth.step()?;
        Ok(match expr {
            Expr::Literal(atomic) => vec![Item::Atomic(atomic.clone())],
            Expr::Sequence(parts) => {
                let mut items = Vec::new();
                for part in parts {
                    items.append(&mut self.eval(part)?);
                }
                items
            }
            Expr::Path(path) => self.path(path)?,
            Expr::Filter(input, predicates) => {
                let items = self.eval(input)?;
                self.filtered(items, predicates)?
            }
            Expr::Variable(place) => self.variables.get(*place).cloned().unwrap_or_default(),
            Expr::Sql(place) => self.values.get(*place).cloned().flatten().into_iter().collect(),
            Expr::Call(function, arguments) => self.call(*function, arguments)?,
            Expr::Any(comparison, sides) => {
                let (left, right) = self.sides(sides)?;
                let holds = left.iter().any(|left| right.iter().any(|right| compares(*comparison, left, right)));
                truth(holds)
            }
            Expr::Single(comparison, sides) => match self.sides(sides)? {
                (left, right) if left.is_empty() || right.is_empty() => Vec::new(),
                (left, right) => truth(compares(*comparison, &left[0], &right[0])),
            },
            Expr::Nodes(wanted, sides) => {
                let (left, right) = (self.eval(&sides[0])?, self.eval(&sides[1])?);
                match (left.first(), right.first()) {
                    (Some(Item::Node(left)), Some(Item::Node(right))) => truth(left.cmp(right) == *wanted),
                    _ => Vec::new(),
                }
            }
            Expr::And(parts) => truth(self.all(parts, true)?),
            Expr::Or(parts) => truth(!self.all(parts, false)?),
            Expr::Arithmetic(op, sides) => {
                let (left, right) = self.sides(sides)?;
                let result = left.first().zip(right.first()).and_then(|(left, right)| left.calculate(*op, right));
                result.map(Item::Atomic).into_iter().collect()
            }
            Expr::Negate(inner) => {
                let items = self.eval(inner)?;
                let negated = self.atomized(items).first().and_then(Atomic::negated);
                negated.map(Item::Atomic).into_iter().collect()
            }
            Expr::If(parts) => {
                let chosen = if self.holds(&parts[0])? { &parts[1] } else { &parts[2] };
                self.eval(chosen)?
            }
            Expr::Cast(inner, ty) => {
                let items = self.eval(inner)?;
                let cast = self.atomized(items).first().and_then(|atomic| atomic.cast(*ty));
                cast.map(Item::Atomic).into_iter().collect()
            }
            Expr::For(each) => self.each(each)?,
            Expr::Quantified(quantified) => truth(self.quantified(quantified, 0)?),
            Expr::Build(constructor) => vec![self.build(constructor)?],
        })
    }

    fn sides(&mut self, sides: &[Expr; 2]) -> Result<(Vec<Atomic>, Vec<Atomic>), SqlError> {
        let (left, right) = (self.eval(&sides[0])?, self.eval(&sides[1])?);
        Ok((self.atomized(left), self.atomized(right)))
    }

    /// Whether each of the parts holds, or does not.
    fn all(&mut self, parts: &[Expr], wanted: bool) -> Result<bool, SqlError> {
        for part in parts {
            if self.holds(part)? != wanted {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether an expression holds: what is no truth does where there is any of it.
    pub(super) fn holds(&mut self, expr: &Expr) -> Result<bool, SqlError> {
        let items = self.eval(expr)?;
        Ok(match items.as_slice() {
            [Item::Atomic(Atomic { datum: Datum::Truth(truth), .. })] => *truth,
            items => !items.is_empty(),
        })
    }

    /// The values of items.
    pub(super) fn atomized(&self, items: Vec<Item>) -> Vec<Atomic> {
        items.into_iter().map(|item| self.value_of(item)).collect()
    }

    pub(super) fn value_of(&self, item: Item) -> Atomic {
        match item {
            Item::Atomic(atomic) => atomic,
            Item::Node(node) => Atomic::untyped(self.document.string_value(node)),
            Item::Built(document) => Atomic::untyped(document.string_value(ROOT)),
            Item::BuiltAttribute(attribute) => Atomic::untyped(attribute.1.as_str()),
        }
    }

    /// The local name and the namespace of a node.
    pub(super) fn name_of(&self, item: &Item) -> Option<(String, String)> {
        match item {
            Item::Node(node) => {
                let name = self.document.name(*node);
                Some((name.local.to_string(), name.uri.to_string()))
            }
            _ => None,
        }
    }

    fn path(&mut self, path: &Path) -> Items {
        let mut items = match &path.start {
            Start::Root => vec![Item::Node(ROOT)],
            Start::Context => vec![self.focus().item.clone()],
            Start::Expr(expr) => self.eval(expr)?,
        };
        for step in &path.steps {
            let mut found: Vec<NodeId> = Vec::new();
            for item in &items {
                let Item::Node(node) = item else { continue };
                let before = found.len();
                self.step(*node, step, &mut found);
                if !step.predicates.is_empty() {
                    let of_node = found.split_off(before).into_iter().map(Item::Node).collect();
                    let kept = self.filtered(of_node, &step.predicates)?;
                    found.extend(kept.iter().filter_map(|item| match item {
                        Item::Node(node) => Some(*node),
                        _ => None,
                    }));
                }
            }
            if !found.is_sorted_by(|a, b| a < b) {
                found.sort_unstable();
                found.dedup();
            }
            items = found.into_iter().map(Item::Node).collect();
        }
        Ok(items)
    }

    fn step(&self, node: NodeId, step: &Step, found: &mut Vec<NodeId>) {
        let document = self.document;
        let takes = |id: &NodeId| takes(document, *id, &step.test, step.axis);
        match step.axis {
            Axis::Child => found.extend(document.children(node).filter(takes)),
            Axis::Attribute => {
                found.extend(document.attributes(node).filter(|id| document.kind(*id) == Kind::Attribute).filter(takes))
            }
            Axis::Itself => found.extend(Some(node).filter(takes)),
            Axis::Parent => found.extend(document.parent(node).filter(takes)),
            Axis::Descendant => found.extend(document.descendants(node).filter(takes)),
            Axis::DescendantOrItself => {
                found.extend(std::iter::once(node).chain(document.descendants(node)).filter(takes))
            }
        }
    }

    fn filtered(&mut self, mut items: Vec<Item>, predicates: &[Predicate]) -> Items {
        for predicate in predicates {
            let last = items.len();
            // A place that is written out needs no look at each item.
            if let Predicate::Place(Expr::Literal(place)) = predicate {
                let wanted = place.number().filter(|place| place.fract() == 0.0 && *place >= 1.0);
                let kept = wanted.and_then(|place| items.into_iter().nth(place as usize - 1));
                items = kept.into_iter().collect();
                continue;
            }
            let mut kept = Vec::new();
            for (place, item) in items.into_iter().enumerate() {
                self.focus.push(Focus { item: item.clone(), place: place + 1, last });
                let takes = match predicate {
                    Predicate::Condition(condition) => self.holds(condition),
                    Predicate::Place(expr) => self.eval(expr).map(|items| {
                        let number = self.atomized(items).first().and_then(Atomic::number);
                        number == Some((place + 1) as f64)
                    }),
                };
                self.focus.pop();
                if takes? {
                    kept.push(item);
                }
            }
            items = kept;
        }
        Ok(items)
    }

    fn each(&mut self, each: &For) -> Items {
        let mut found = Vec::new();
        self.clauses(each, 0, &mut found)?;
        if !each.order.is_empty() {
            let order = &each.order;
            found.sort_by(|(a, _), (b, _)| {
                let by_key = a.iter().zip(b).zip(order).map(|((a, b), (_, descending))| {
                    let order = match (a, b) {
                        (Some(a), Some(b)) => a.compare(b).unwrap_or(Ordering::Equal),
                        (a, b) => a.is_some().cmp(&b.is_some()),
                    };
                    if *descending { order.reverse() } else { order }
                });
                by_key.fold(Ordering::Equal, Ordering::then)
            });
        }
        Ok(found.into_iter().flat_map(|(_, items)| items).collect())
    }

    fn clauses(
        &mut self,
        each: &For,
        place: usize,
        found: &mut Vec<(Vec<Option<Atomic>>, Vec<Item>)>,
    ) -> Result<(), SqlError> {
        match each.clauses.get(place) {
            Some(Clause::Let(expr)) => {
                let items = self.eval(expr)?;
                self.with_variable(items, |run| run.clauses(each, place + 1, found))
            }
            Some(Clause::For(expr)) => {
                for item in self.eval(expr)? {
                    self.with_variable(vec![item], |run| run.clauses(each, place + 1, found))?;
                }
                Ok(())
            }
            None => {
                if let Some(condition) = &each.condition
                    && !self.holds(condition)?
                {
                    return Ok(());
                }
                let mut keys = Vec::with_capacity(each.order.len());
                for (key, _) in &each.order {
                    let items = self.eval(key)?;
                    keys.push(self.atomized(items).into_iter().next());
                }
                found.push((keys, self.eval(&each.result)?));
                Ok(())
            }
        }
    }

    fn with_variable<T>(
        &mut self,
        items: Vec<Item>,
        body: impl FnOnce(&mut Self) -> Result<T, SqlError>,
    ) -> Result<T, SqlError> {
        self.variables.push(items);
        let result = body(self);
        self.variables.pop();
        result
    }

    fn quantified(&mut self, quantified: &Quantified, place: usize) -> Result<bool, SqlError> {
        let Some(source) = quantified.sources.get(place) else {
            return self.holds(&quantified.condition);
        };
        for item in self.eval(source)? {
            let holds = self.with_variable(vec![item], |run| run.quantified(quantified, place + 1))?;
            if holds != quantified.every {
                return Ok(holds);
            }
        }
        Ok(quantified.every)
    }
}

/// Whether a step takes a node.
fn takes(document: &Document, id: NodeId, test: &Test, axis: Axis) -> bool {
    let kind = document.kind(id);
    match test {
        Test::Any => true,
        Test::Text => kind == Kind::Text,
        Test::Comment => kind == Kind::Comment,
        Test::Instruction => kind == Kind::Instruction,
        Test::Name { local, uri } => {
            let named = if axis == Axis::Attribute { Kind::Attribute } else { Kind::Element };
            let name = document.name(id);
            kind == named
                && local.as_ref().is_none_or(|local| **local == *name.local)
                && uri.as_ref().is_none_or(|uri| **uri == *name.uri)
        }
    }
}

fn compares(comparison: Comparison, left: &Atomic, right: &Atomic) -> bool {
    left.compare(right).is_some_and(|order| comparison.holds(order))
}

fn truth(holds: bool) -> Vec<Item> {
    vec![Item::Atomic(Atomic::truth(holds))]
}

/// A value from SQL as an item; none for NULL.
///
/// # Errors
/// As [`Document::read`].
pub(super) fn from_sql(value: &Value, ty: &crate::SqlType) -> Result<Option<Item>, SqlError> {
    Ok(match (value, ty) {
        (Value::Null, _) => None,
        (Value::Str(text), crate::SqlType::Xml) => Some(Item::Built(Arc::new(Document::read(text)?))),
        _ => {
            debug_assert!(AtomicType::of_sql(ty).is_some());
            Atomic::of_sql(value, ty).map(Item::Atomic)
        }
    })
}
