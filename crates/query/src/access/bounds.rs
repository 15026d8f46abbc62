//! The ends of scans: from the values of a plan's bounds to ranges of keys.

use std::cmp::Ordering;
use std::ops::Bound;

use super::{KeyBound, KeyColumn};
use crate::executor::Run;
use crate::expression::{Env, Fault, Width};
use crate::plan::{KeyValue, Scan};
use pikepole_engine::ScanRange;
use pikepole_types::{Collation, SqlType, Value, compare};

/// The bound of an equality: a value out of the column's range equals nothing, as NULL does.
///
/// A key whose order is not that of the comparison may leave all values.
#[inline]
pub(crate) fn equal_bound(key: &KeyValue, env: &mut Env<'_>) -> Result<KeyBound, Fault> {
    if let Some(width) = Width::of(&key.ty)
        && let Some(integer) = key.expr.plain_integer(env)
    {
        let integer = integer?.filter(|integer| width.fits(*integer));
        return Ok(integer.map_or(KeyBound::Nothing, |integer| KeyBound::Value(width.value(integer))));
    }
    other_bound(key, env)
}

fn other_bound(key: &KeyValue, env: &mut Env<'_>) -> Result<KeyBound, Fault> {
    let value = key.expr.eval(env)?;
    if let (true, Value::Str(text)) = (key.plain_only, &value)
        && !Collation::is_plain(text)
    {
        return Ok(KeyBound::All);
    }
    Ok(of_key(value, &key.ty).map_or(KeyBound::Nothing, KeyBound::Value))
}

/// A value as a key column of a type has it; none for what no row has.
pub(super) fn of_key(value: Value, ty: &SqlType) -> Option<Value> {
    if value.is_null() {
        return None;
    }
    let Some(width) = Width::of(ty) else { return Some(value) };
    let integer = value.as_i64().filter(|integer| width.fits(*integer))?;
    Some(width.value(integer))
}

/// A lower (`upper` false) or upper bound: beyond the column's range it leaves all values or none.
pub(super) fn range_bound(key: &KeyValue, upper: bool, run: &mut Run<'_>) -> Result<KeyBound, Fault> {
    let value = key.expr.eval(&mut run.env())?;
    if value.is_null() {
        return Ok(KeyBound::Nothing);
    }
    let Some(width) = Width::of(&key.ty) else {
        return Ok(KeyBound::Value(value));
    };
    let Some(integer) = value.as_i64() else {
        return Ok(KeyBound::Nothing);
    };
    let (smallest, _) = width.bounds();
    if width.fits(integer) {
        return Ok(KeyBound::Value(width.value(integer)));
    }
    let below_all = integer < smallest;
    Ok(if below_all != upper { KeyBound::All } else { KeyBound::Nothing })
}

/// Fills in the values of the leading key columns, and gives whether they are all that are compared; `None` when no row has them.
pub(super) fn fill_prefix(plan: &Scan, run: &mut Run<'_>, prefix: &mut Vec<Value>) -> Result<Option<bool>, Fault> {
    prefix.clear();
    for key in &plan.range.prefix {
        match equal_bound(key, &mut run.env())? {
            KeyBound::Value(value) => prefix.push(value),
            KeyBound::All => return Ok(Some(false)),
            KeyBound::Nothing => return Ok(None),
        }
    }
    Ok(Some(true))
}

/// The values of a list that rows can have, in the order of [`put_in_order`]; `None` when they can have others.
pub(super) fn list_of(plan: &Scan, run: &mut Run<'_>) -> Result<Option<Vec<Value>>, Fault> {
    let range = &plan.range;
    let mut values = Vec::with_capacity(range.among.len());
    for key in &range.among {
        match equal_bound(key, &mut run.env())? {
            KeyBound::Value(value) => values.push(value),
            KeyBound::All => return Ok(None),
            KeyBound::Nothing => {}
        }
    }
    if let Some(column) = plan.key().get(range.prefix.len()) {
        put_in_order(&mut values, plan, column);
    }
    Ok(Some(values))
}

/// Leaves each value once, the one whose rows are visited first at the end.
pub(super) fn put_in_order(values: &mut Vec<Value>, plan: &Scan, column: &KeyColumn) {
    let collation = plan.table.columns[column.column].order();
    let order = |a: &Value, b: &Value| compare(a, b, collation).ok().flatten();
    values.sort_by(|a, b| {
        let (a, b) = if column.descending == plan.reverse { (b, a) } else { (a, b) };
        order(a, b).unwrap_or(Ordering::Equal)
    });
    values.dedup_by(|a, b| order(a, b) == Some(Ordering::Equal));
}

/// Takes the values out of a bound.
pub(super) fn values_of(bound: &mut Bound<Vec<Value>>) -> Vec<Value> {
    match std::mem::replace(bound, Bound::Unbounded) {
        Bound::Included(values) | Bound::Excluded(values) => values,
        Bound::Unbounded => Vec::new(),
    }
}

/// Fills in the engine's range of a scan, over what an earlier run has left in it; false when no row can be in it. `prefix` is room.
pub(super) fn fill_range(
    plan: &Scan,
    run: &mut Run<'_>,
    prefix: &mut Vec<Value>,
    range: &mut ScanRange,
) -> Result<bool, Fault> {
    let Some(is_whole) = fill_prefix(plan, run, prefix)? else { return Ok(false) };
    let mut side =
        |bound: &Option<(KeyValue, bool)>, upper: bool, out: &mut Bound<Vec<Value>>| -> Result<bool, Fault> {
            let mut values = values_of(out);
            values.clone_from(prefix);
            let mut is_inclusive = true;
            if let Some((key, inclusive)) = bound.as_ref().filter(|_| is_whole) {
                match range_bound(key, upper, run)? {
                    KeyBound::Nothing => return Ok(false),
                    KeyBound::All => {}
                    KeyBound::Value(value) => {
                        values.push(value);
                        is_inclusive = *inclusive;
                    }
                }
            }
            *out = match (values.is_empty(), is_inclusive) {
                (true, _) => Bound::Unbounded,
                (false, true) => Bound::Included(values),
                (false, false) => Bound::Excluded(values),
            };
            Ok(true)
        };
    // A NULL sorts first and no comparison holds for it: an upper bound alone leaves the NULLs to the filter.
    let (low, high) = match plan.range.descending {
        true => (&mut range.to, &mut range.from),
        false => (&mut range.from, &mut range.to),
    };
    let holds = side(&plan.range.low, false, low)? && side(&plan.range.high, true, high)?;
    (range.index, range.reverse) = (plan.range.index, plan.reverse);
    Ok(holds)
}
