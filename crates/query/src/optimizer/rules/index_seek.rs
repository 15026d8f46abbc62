//! Which part of a table's key order a condition leaves.

use crate::access::{Column, KeyColumn, Table};
use crate::bind::filtered::has_rows_of;
use crate::expression::{Comparison, Expr, Integer, Predicate, Width};
use crate::optimizer::cardinality::table_rows;
use crate::optimizer::cost::LOOKUP;
use crate::optimizer::{Rule, RuleSet};
use crate::plan::{KeyRange, KeyValue, Registers};
use pikepole_types::{Collation, Search, SqlType, Value};

/// Takes from `conditions` what bounds the table's key. A comparison of integers is exact and leaves the list; others stay as
/// a filter over the fewer rows. `ready` says whether a slot has its value before the scan opens.
///
/// Hash indexes serve whole keys alone. Of the clustered key and the secondary indexes that one takes whose range has the least [`burden`]; the clustered key, then the first
/// index, where they have the same. A secondary index is taken when its first column is compared for equality, or with a list that is
/// worth it, and every row that the conditions can hold for is in it.
pub(crate) fn key_range(
    table: &Table,
    registers: Registers,
    conditions: &mut Vec<Predicate>,
    ready: &dyn Fn(usize) -> bool,
    rules: RuleSet,
) -> KeyRange {
    if !rules.has(Rule::IndexSeek) {
        return KeyRange::default();
    }
    let mut rest = conditions.clone();
    let range = range_of(table, &table.key, registers, &mut rest, ready);
    let mut least = f64::INFINITY;
    let mut best = KeyRange::default();
    let mut left = None;
    if range.is_seek() {
        let point = table.key_unique && range.prefix.len() == table.key.len() && is_exact(&range);
        least = burden(range.prefix.len(), bounds(&range), point, false) * list_share(table, &range);
        best = KeyRange { point, ..range };
        left = Some(rest);
    }
    for index in table.indexes.iter().filter(|index| has_rows_of(table, index, registers, conditions)) {
        let mut rest = conditions.clone();
        let range = range_of(table, &index.key, registers, &mut rest, ready);
        let range = KeyRange { index: Some(index.id), ..range };
        let point = range.prefix.len() == index.key.len() && is_unique(table, index.id) && is_exact(&range);
        let has_lookups = !table.engine.is_in_memory();
        let own = burden(range.prefix.len(), bounds(&range), point, has_lookups) * list_share(table, &range);
        // One value is looked up in any case; a list can be of all values that there are. An index in memory leads to rows without a
        // lookup, so that bounds alone are worth it too.
        let is_worth =
            !range.prefix.is_empty() || (!range.among.is_empty() && own < 1.0) || (!has_lookups && bounds(&range) > 0);
        let is_served = !index.hash || is_whole_key(&range, index.key.len());
        if is_worth && is_served && own < least {
            least = own;
            best = range;
            left = Some(rest);
        }
    }
    if let Some(left) = left {
        *conditions = left;
    }
    best
}

/// True when a range is of whole keys of so many columns, each of which a hash finds.
fn is_whole_key(range: &KeyRange, columns: usize) -> bool {
    let given = range.prefix.len() + usize::from(!range.among.is_empty());
    given == columns && is_exact(range) && range.among.iter().all(|key| !key.plain_only)
}

fn bounds(range: &KeyRange) -> usize {
    usize::from(range.low.is_some()) + usize::from(range.high.is_some())
}

fn is_unique(table: &Table, index_id: i32) -> bool {
    table.engine.indexes.iter().any(|index| index.index_id == index_id && index.unique)
}

/// What reading a range is guessed to cost, where reading all rows costs 1: so many columns compared for equality, so many bounds on
/// the next one, and at most one row when `point` says so.
pub(crate) fn burden(prefix: usize, bounds: usize, point: bool, secondary: bool) -> f64 {
    if point {
        return 0.0;
    }
    let share = 0.1f64.powi(prefix as i32) * (1.0f64 / 3.0).powi(bounds.min(2) as i32);
    if secondary { share * LOOKUP } else { share }
}

/// The share of a list's rows among those that have the values before it. A column that is no key by itself is guessed to have as many
/// values as there are rows for each.
pub(crate) fn list_share(table: &Table, range: &KeyRange) -> f64 {
    if range.among.is_empty() {
        return 1.0;
    }
    let index = range.index.and_then(|id| table.indexes.iter().find(|index| index.id == id));
    let (columns, unique) = match index {
        Some(index) => (index.key.len(), is_unique(table, index.id)),
        None => (table.key.len(), table.key_unique),
    };
    let rows = table_rows(table);
    let is_whole_key = unique && range.prefix.len() + 1 == columns;
    let each = if is_whole_key { rows } else { rows.sqrt().max(10.0) };
    (range.among.len() as f64 / each).min(1.0)
}

/// Whether each value of the prefix is that of a key, whatever it is.
fn is_exact(range: &KeyRange) -> bool {
    range.prefix.iter().all(|key| !key.plain_only)
}

fn range_of(
    table: &Table,
    key: &[KeyColumn],
    registers: Registers,
    conditions: &mut Vec<Predicate>,
    ready: &dyn Fn(usize) -> bool,
) -> KeyRange {
    let mut range = KeyRange::default();
    for key in key {
        let slot = registers.first + key.column;
        let column = &table.columns[key.column];
        if let Some(value) = take(conditions, slot, column, &[Comparison::Equal], ready) {
            range.prefix.push(value.1);
            continue;
        }
        if let Some(values) = take_list(conditions, slot, column, ready) {
            let mut values: Vec<KeyValue> = values.into_iter().map(|found| found.key_value(column)).collect();
            if values.len() == 1 {
                range.prefix.append(&mut values);
                continue;
            }
            range.among = values;
            break;
        }
        let low = [Comparison::Greater, Comparison::GreaterOrEqual];
        let high = [Comparison::Less, Comparison::LessOrEqual];
        range.low =
            take(conditions, slot, column, &low, ready).map(|(op, value)| (value, op == Comparison::GreaterOrEqual));
        // NULLs lie below every upper bound: a column that can hold them keeps its condition as a filter.
        if !column.nullable || range.low.is_some() {
            range.high =
                take(conditions, slot, column, &high, ready).map(|(op, value)| (value, op == Comparison::LessOrEqual));
        }
        range.descending = key.descending;
        break;
    }
    range
}

/// The first condition that says that the slot has one of some values that are ready.
fn take_list(
    conditions: &mut Vec<Predicate>,
    slot: usize,
    column: &Column,
    ready: &dyn Fn(usize) -> bool,
) -> Option<Vec<Found>> {
    for at in 0..conditions.len() {
        let mut values = Vec::new();
        if let Some(exact) = listed(&conditions[at], slot, column, ready, &mut values) {
            if exact {
                conditions.remove(at);
            }
            return Some(values);
        }
    }
    None
}

/// Adds to `values` all that a slot can be for which the condition holds; whether nothing else makes it hold. None: others can be, too.
fn listed(
    condition: &Predicate,
    slot: usize,
    column: &Column,
    ready: &dyn Fn(usize) -> bool,
    values: &mut Vec<Found>,
) -> Option<bool> {
    match condition {
        Predicate::Or(any) => {
            any.iter().try_fold(true, |exact, one| Some(listed(one, slot, column, ready, values)? && exact))
        }
        Predicate::InIntegers(of, list, _) => {
            if !matches!(**of, Integer::Slot(at) if at == slot) || Width::of(&column.ty).is_none() {
                return None;
            }
            values.extend(list.iter().map(|number| Found::by_key(Expr::Const(Value::BigInt(*number)))));
            Some(true)
        }
        Predicate::InValues(of, list, collation) => {
            let is_slot = match of.as_ref() {
                Expr::Slot(at) => *at == slot,
                // Integers of another width.
                Expr::Integer(of, _) => matches!(**of, Integer::Slot(at) if at == slot),
                _ => false,
            };
            let plain_only = finds(column, *collation, Comparison::Equal)?;
            let mut all_ready = is_slot && !matches!(column.ty, SqlType::Decimal { .. });
            list.iter().for_each(|item| item.visit_slots(&mut |slot| all_ready &= ready(slot)));
            if !all_ready {
                return None;
            }
            values.extend(list.iter().cloned().map(|expr| Found { expr, plain_only }));
            Some(false)
        }
        _ => {
            let (op, expr, exact) = bound(condition, slot, column, ready)?;
            values.push(expr);
            (op == Comparison::Equal).then_some(exact)
        }
    }
}

/// The first condition that compares the slot by one of the operators with something ready.
fn take(
    conditions: &mut Vec<Predicate>,
    slot: usize,
    column: &Column,
    operators: &[Comparison],
    ready: &dyn Fn(usize) -> bool,
) -> Option<(Comparison, KeyValue)> {
    for at in 0..conditions.len() {
        let Some((op, expr, exact)) = bound(&conditions[at], slot, column, ready) else {
            continue;
        };
        if !operators.contains(&op) {
            continue;
        }
        if exact {
            conditions.remove(at);
        }
        return Some((op, expr.key_value(column)));
    }
    None
}

/// A value that a key column can be searched by.
struct Found {
    expr: Expr,
    plain_only: bool,
}

impl Found {
    fn by_key(expr: Expr) -> Found {
        Found { expr, plain_only: false }
    }

    fn key_value(self, column: &Column) -> KeyValue {
        KeyValue { expr: self.expr, ty: column.ty, plain_only: self.plain_only }
    }
}

/// Whether a column's key finds what a comparison by a collation asks for, and then whether only for plain texts. The key's order is that of
/// the column's collation; by another one other rows are equal.
fn finds(column: &Column, collation: Collation, op: Comparison) -> Option<bool> {
    if !column.ty.is_string() {
        return Some(false);
    }
    match collation.searched_by(column.order()) {
        Search::Always => Some(false),
        Search::Equal if op == Comparison::Equal => Some(false),
        Search::PlainEqual if op == Comparison::Equal => Some(true),
        _ => None,
    }
}

/// `slot op value` in a condition, whichever side the slot is on; and whether the comparison is exact.
fn bound(
    condition: &Predicate,
    slot: usize,
    column: &Column,
    ready: &dyn Fn(usize) -> bool,
) -> Option<(Comparison, Found, bool)> {
    match condition {
        Predicate::Integers(op, operands) => {
            let is_key = |side: &Integer| matches!(side, Integer::Slot(at) if *at == slot);
            let (op, value) = match (is_key(&operands[0]), is_key(&operands[1])) {
                (true, false) => (*op, &operands[1]),
                (false, true) => (op.flipped(), &operands[0]),
                _ => return None,
            };
            let mut all_ready = true;
            value.visit_slots(&mut |slot| all_ready &= ready(slot));
            if Width::of(&column.ty).is_none() || !all_ready {
                return None;
            }
            let expr = Expr::Integer(Box::new(value.clone()), Width::Big);
            Some((op, Found::by_key(expr), true))
        }
        Predicate::Values(op, operands, collation) => {
            let plain_only = finds(column, *collation, *op)?;
            let is_key = |side: &Expr| matches!(side, Expr::Slot(at) if *at == slot);
            let (op, value) = match (is_key(&operands[0]), is_key(&operands[1])) {
                (true, false) => (*op, &operands[1]),
                (false, true) => (op.flipped(), &operands[0]),
                _ => return None,
            };
            let mut all_ready = true;
            value.visit_slots(&mut |slot| all_ready &= ready(slot));
            // The key's bytes of a decimal depend on its scale, which the other side may not share.
            if matches!(column.ty, SqlType::Decimal { .. }) || !all_ready {
                return None;
            }
            Some((op, Found { expr: value.clone(), plain_only }, false))
        }
        _ => None,
    }
}
