//! Derived tables, views and common tables whose plan waits for the query around them.
//!
//! ```text
//!   SELECT .. FROM v WHERE v.id = 5         v: SELECT t.id, u.x FROM t JOIN u ON .. WHERE ..
//!                          └─────────────────► t.id = 5 stands beside the conditions of v when its joins are planned
//! ```
//! A query that only chooses among the rows of its FROM stays open: bound, but without a plan. When its place in the join around it is
//! known, the conditions on its columns that are columns of its own sources are moved into it, so that these find their rows by
//! keys. Groups, windows, TOP and what else makes other rows of rows are planned at once, and conditions stay outside. So do those
//! that can fail for a value, as `CAST(v.text AS int) = 5`: the query may leave out the rows for which they would.

use super::join::{JoinTree, Leaf, Ready, common_node, derived_node, spooled};
use super::scope::{Scope, Source};
use super::select::no_tail;
use super::{Binder, Bound};
use crate::access::{KeyColumn, Table};
use crate::expression::{Chain, Expr, Fault, InList, Integer, Predicate, integer_of};
use crate::optimizer::Rule;
use crate::output::ColumnInfo;
use crate::plan::{JoinKind, Node, Registers};
use pikepole_tsql as tree;
use pikepole_types::{SqlError, Value};

/// A query that is bound, but not planned.
#[derive(Clone)]
pub(crate) struct OpenQuery {
    pub(crate) scope: Scope,
    pub(crate) from: JoinTree,
    pub(crate) conditions: Vec<Predicate>,
    pub(crate) values: Vec<Expr>,
    /// The first register of what it is made of.
    pub(crate) first: usize,
    /// The number of the common table that it is, if its rows can be those of other names, too.
    pub(crate) number: Option<usize>,
}

impl OpenQuery {
    /// Calls `visit` with every slot that it reads; those that it fills itself are among them.
    pub(crate) fn visit_read(&self, visit: &mut dyn FnMut(usize)) {
        self.from.visit_read(visit);
        let filters = self.scope.filters.iter().flat_map(|filter| &filter.conditions);
        let conditions = self.scope.joined_conditions.iter().chain(&self.conditions).chain(filters);
        conditions.for_each(|condition| condition.visit_slots(visit));
        self.values.iter().for_each(|value| value.visit_slots(visit));
    }

    /// The slot that one of its columns only repeats.
    fn below(&self, column: usize) -> Option<usize> {
        self.values.get(column).and_then(slot_of)
    }

    /// Whether rows that have one value in a slot are found by a key.
    fn finds_by(&self, slot: usize) -> bool {
        finds_by(&self.from, &self.scope.sources, slot)
    }

    /// A condition on its columns, which stand in `own`, as one on what these repeat; none if one of them is more than that.
    fn moved(&self, condition: &Predicate, own: Registers) -> Option<Predicate> {
        let below = |slot: usize| match own.range().contains(&slot) {
            true => self.below(slot - own.first).map(Expr::Slot),
            false => Some(Expr::Slot(slot)),
        };
        moved(condition, &below)
    }
}

impl Binder<'_> {
    /// A query as a source of rows, and its columns.
    pub(crate) fn source_query(&mut self, query: &tree::Query) -> Result<(Leaf, Vec<ColumnInfo>), Fault> {
        let select = match &query.body {
            tree::QueryBody::Select(select)
                if self.expose.is_none()
                    && self.active_rules.has(Rule::ViewMerging)
                    && may_stay_open(query, select) =>
            {
                select
            }
            _ => {
                let bound = self.query(query)?;
                let columns = bound.columns.clone();
                return Ok((Leaf::Derived(bound), columns));
            }
        };
        let common = self.with_clause(&query.with, Some(&query.body))?;
        let outside = std::mem::take(&mut self.pending);
        self.scopes.push(Scope { common, ..Scope::default() });
        let source = self.source_select(select);
        self.scopes.pop();
        self.pending = outside;
        source
    }

    /// The SELECT whose scope is on top.
    fn source_select(&mut self, select: &tree::Select) -> Result<(Leaf, Vec<ColumnInfo>), Fault> {
        let first = self.first_free();
        let mut selected = self.bind_select(select, &no_tail())?;
        if !selected.items.assignments.is_empty() {
            return Err(Box::new(SqlError::select_assigns_and_returns()));
        }
        let is_plain = selected.is_plain() && self.pending.is_empty() && self.scope().is_plain();
        if is_plain && let Some(from) = selected.from.take() {
            let scope = std::mem::take(self.scope());
            let values = selected.items.values.into_iter().map(|value| value.expr).collect();
            let query = OpenQuery { scope, from, conditions: selected.conditions, values, first, number: None };
            return Ok((Leaf::Open(Box::new(query)), selected.items.columns));
        }
        let (node, items) = self.plan_select(select, &no_tail(), selected)?;
        let values = items.values.into_iter().map(|value| value.expr).collect();
        let bound = Bound { node, columns: items.columns, values };
        let columns = bound.columns.clone();
        Ok((Leaf::Derived(bound), columns))
    }

    /// The plan of an open query, with those of the conditions `mine` that can be tested within it. Equality with rows outside
    /// goes in where it finds rows by a key; without that all rows are kept in a hash table (`keeps`: see
    /// [`crate::optimizer::rules::join_order::Step`]).
    pub(crate) fn open_node(
        &mut self,
        source: &Source,
        query: OpenQuery,
        keeps: bool,
        mine: &mut Vec<Predicate>,
        ready: &Ready<'_>,
    ) -> Node {
        let own = source.registers;
        let seeks = |condition: &Predicate| {
            let column = ready.equality(condition).and_then(|key| slot_of(&key.inner)).map(|slot| slot - own.first);
            column.and_then(|column| query.below(column)).is_some_and(|slot| query.finds_by(slot))
        };
        let by_row = !keeps && mine.iter().any(seeks);
        let mut within = Vec::new();
        mine.retain(|condition| {
            let mut fixed = true;
            condition.visit_slots(&mut |slot| fixed &= own.range().contains(&slot) || ready.is_variable(slot));
            let moved = if fixed || by_row { query.moved(condition, own) } else { None };
            let stays = moved.is_none();
            within.extend(moved);
            stays
        });
        let OpenQuery { scope, from, mut conditions, values, number, .. } = query;
        let is_whole = !by_row && within.is_empty();
        conditions.append(&mut within);
        let outside = std::mem::take(&mut self.pending);
        self.scopes.push(scope);
        let node = self.rows(Some(from), conditions);
        self.scopes.pop();
        self.pending = outside;
        let bound = Bound { node, columns: Vec::new(), values };
        let rows = match number {
            // A name with conditions of its own has its own rows.
            Some(number) if is_whole && bound.is_fixed(self.names.variables.len()) => {
                common_node(number, source, derived_node(&source.with_all_columns(), bound), None)
            }
            _ => derived_node(source, bound),
        };
        spooled(rows, source, mine, ready)
    }
}

/// Whether a query may be no more than a choice among rows, by how it is written.
fn may_stay_open(query: &tree::Query, select: &tree::Select) -> bool {
    let is_whole = query.order_by.is_empty() && query.offset.is_none() && query.fetch.is_none();
    is_whole && query.for_clause.is_none() && select.into.is_none() && !select.distinct
}

/// The slot that a value only repeats.
pub(crate) fn slot_of(expr: &Expr) -> Option<usize> {
    match expr {
        Expr::Slot(slot) => Some(*slot),
        Expr::Integer(integer, _) => match integer.as_ref() {
            Integer::Slot(slot) => Some(*slot),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a table whose rows no outer join adds has a key that begins with a slot.
fn finds_by(tree: &JoinTree, sources: &[Source], slot: usize) -> bool {
    match tree {
        JoinTree::Leaf(source, leaf) => {
            let registers = sources[*source].registers;
            if !registers.range().contains(&slot) {
                return false;
            }
            match leaf {
                Leaf::Table(table) => leads_key(table, slot - registers.first),
                Leaf::Open(query) => query.below(slot - registers.first).is_some_and(|slot| query.finds_by(slot)),
                Leaf::Rows(_) | Leaf::Derived(_) | Leaf::Common(..) | Leaf::Work(_) => false,
            }
        }
        JoinTree::Join { left, right, kind, .. } => {
            finds_by(left, sources, slot) || (*kind == JoinKind::Inner && finds_by(right, sources, slot))
        }
        JoinTree::Full { .. } => false,
        JoinTree::Marked(inner, _) => finds_by(inner, sources, slot),
    }
}

fn leads_key(table: &Table, column: usize) -> bool {
    let leads = |key: &[KeyColumn]| key.first().is_some_and(|first| first.column == column);
    leads(&table.key) || table.indexes.iter().any(|index| index.serves_equality() && leads(&index.key))
}

/// A condition with other slots, or constants, in the place of slots. None where a slot has none; where what is made of such a slot can fail; and for conditions that call
/// what is not of the types crate: these may do something, and stay where they are.
pub(crate) fn moved(condition: &Predicate, to: &dyn Fn(usize) -> Option<Expr>) -> Option<Predicate> {
    let pair = |sides: &[Expr; 2]| Some(Box::new([moved_expr(&sides[0], to)?, moved_expr(&sides[1], to)?]));
    let all = |parts: &[Predicate]| parts.iter().map(|part| moved(part, to)).collect::<Option<Vec<_>>>();
    Some(match condition {
        Predicate::Const(truth) => Predicate::Const(*truth),
        Predicate::Integers(op, sides) => {
            Predicate::Integers(*op, Box::new([moved_integer(&sides[0], to)?, moved_integer(&sides[1], to)?]))
        }
        Predicate::Values(op, sides, collation) => Predicate::Values(*op, pair(sides)?, *collation),
        Predicate::And(parts) => Predicate::And(all(parts)?),
        Predicate::Or(parts) => Predicate::Or(all(parts)?),
        Predicate::Not(inner) => Predicate::Not(Box::new(moved(inner, to)?)),
        Predicate::IsNull(expr) => Predicate::IsNull(Box::new(moved_expr(expr, to)?)),
        Predicate::InIntegers(of, list, null) => {
            Predicate::InIntegers(Box::new(moved_integer(of, to)?), list.clone(), *null)
        }
        Predicate::InValues(of, list, collation) => {
            let items = InList::new(moved_list(list, to)?, *collation);
            Predicate::InValues(Box::new(moved_expr(of, to)?), items, *collation)
        }
        Predicate::Like { operands, escape, collation } => {
            let escape = match escape {
                None => None,
                Some(escape) => Some(Box::new(moved_expr(escape, to)?)),
            };
            Predicate::Like { operands: pair(operands)?, escape, collation: *collation }
        }
        Predicate::LikeConst(of, pattern) => Predicate::LikeConst(Box::new(moved_expr(of, to)?), pattern.clone()),
        Predicate::Slot(_) => return None,
    })
}

/// Whether a condition can fail for a value.
pub(crate) fn can_fail(condition: &Predicate) -> bool {
    moved(condition, &|_| Some(Expr::Const(Value::Null))).is_none()
}

fn moved_list(list: &[Expr], to: &dyn Fn(usize) -> Option<Expr>) -> Option<Vec<Expr>> {
    list.iter().map(|expr| moved_expr(expr, to)).collect()
}

fn moved_expr(expr: &Expr, to: &dyn Fn(usize) -> Option<Expr>) -> Option<Expr> {
    let boxed = |expr: &Expr| moved_expr(expr, to).map(Box::new);
    let cannot_fail = match expr {
        Expr::Convert(convert) => convert.from.is_string() && convert.to.is_string(),
        Expr::Negate(_) | Expr::Complement(_) | Expr::Arithmetic(_) | Expr::Chain(_) | Expr::Call(_) => false,
        _ => true,
    };
    let mut moves = false;
    expr.visit_slots(&mut |slot| moves |= to(slot).as_ref().and_then(slot_of) != Some(slot));
    if moves && !cannot_fail {
        return None;
    }
    Some(match expr {
        Expr::Const(value) => Expr::Const(value.clone()),
        Expr::Slot(slot) => to(*slot)?,
        Expr::Integer(integer, width) => Expr::Integer(Box::new(moved_integer(integer, to)?), *width),
        Expr::Whole(integer, precision) => Expr::Whole(Box::new(moved_integer(integer, to)?), *precision),
        Expr::Negate(inner) => Expr::Negate(boxed(inner)?),
        Expr::Complement(inner) => Expr::Complement(boxed(inner)?),
        Expr::Convert(convert) if convert.style.is_none() => {
            let mut convert = convert.clone();
            convert.input = moved_expr(&convert.input, to)?;
            Expr::Convert(convert)
        }
        Expr::Arithmetic(arithmetic) => {
            let mut arithmetic = arithmetic.clone();
            let [left, right] = &arithmetic.operands;
            arithmetic.operands = [moved_expr(left, to)?, moved_expr(right, to)?];
            Expr::Arithmetic(arithmetic)
        }
        Expr::Chain(chain) => {
            let (first, rest) = (moved_expr(&chain.first, to)?, moved_list(&chain.rest, to)?.into());
            Expr::Chain(Box::new(Chain { first, rest }))
        }
        Expr::Carried => Expr::Carried,
        Expr::Call(call) => {
            let mut call = call.clone();
            call.arguments = moved_list(&call.arguments, to)?.into();
            Expr::Call(call)
        }
        Expr::Coalesce(list) => Expr::Coalesce(moved_list(list, to)?.into()),
        Expr::Short(_)
        | Expr::Global(_)
        | Expr::Convert(_)
        | Expr::Assign(_)
        | Expr::Host(..)
        | Expr::Case(_)
        | Expr::Truth(_)
        | Expr::Xml(_)
        | Expr::Clr(_)
        | Expr::Masked(_) => return None,
    })
}

fn moved_integer(integer: &Integer, to: &dyn Fn(usize) -> Option<Expr>) -> Option<Integer> {
    let boxed = |inner: &Integer| moved_integer(inner, to).map(Box::new);
    let cannot_fail = matches!(integer, Integer::Const(_) | Integer::Slot(_) | Integer::Other(_));
    let mut moves = false;
    integer.visit_slots(&mut |slot| moves |= to(slot).as_ref().and_then(slot_of) != Some(slot));
    if moves && !cannot_fail {
        return None;
    }
    Some(match integer {
        Integer::Const(value) => Integer::Const(*value),
        Integer::Slot(slot) => match to(*slot)? {
            Expr::Const(value) => Integer::Const(integer_of(&value)),
            other => Integer::Slot(slot_of(&other)?),
        },
        Integer::Binary { op, width, operands } => {
            let operands = Box::new([moved_integer(&operands[0], to)?, moved_integer(&operands[1], to)?]);
            Integer::Binary { op: *op, width: *width, operands }
        }
        Integer::Negate(inner, width) => Integer::Negate(boxed(inner)?, *width),
        Integer::Complement(inner, width) => Integer::Complement(boxed(inner)?, *width),
        Integer::Narrow(inner, from, width) => Integer::Narrow(boxed(inner)?, *from, *width),
        Integer::Other(expr) => Integer::Other(Box::new(moved_expr(expr, to)?)),
        Integer::Global(_) | Integer::Short(_) => return None,
    })
}
