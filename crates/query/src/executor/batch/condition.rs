//! Conditions on columns and constants, in loops over batches.
//!
//! Such a condition has no errors, so that it does not matter which rows it is asked about: its parts are tested on whole columns, and
//! AND and OR are done to the outcomes. All others are left to the scalar evaluator.

use arrow_array::{Array, Int64Array};
use pikepole_types::{Collation, Value, compare};

use super::Batch;
use super::evaluate::{compared, integers};
use super::vector::{Code, Texts, Vector};
use crate::executor::Run;
use crate::expression::{Comparison, Expr, Integer, Predicate, integer_of};

/// Rows for which a condition is true, in order; none when only the scalar evaluator can tell.
pub(super) fn kept(predicate: &Predicate, batch: &Batch, run: &mut Run<'_>) -> Option<Vec<u32>> {
    Some(places(&holds(predicate, batch, run)?))
}

/// For each row whether a condition is true; none as of [`kept`].
pub(super) fn holds(predicate: &Predicate, batch: &Batch, run: &mut Run<'_>) -> Option<Vec<bool>> {
    rows_that(predicate, true, batch, run)
}

/// The places of rows for which something holds.
pub(super) fn places(holds: &[bool]) -> Vec<u32> {
    holds.iter().enumerate().filter(|(_, holds)| **holds).map(|(row, _)| row as u32).collect()
}

/// For each row whether the condition is `wanted` and not UNKNOWN.
fn rows_that(predicate: &Predicate, wanted: bool, batch: &Batch, run: &mut Run<'_>) -> Option<Vec<bool>> {
    match predicate {
        Predicate::Const(truth) => Some(vec![*truth == Some(wanted); batch.rows]),
        Predicate::And(parts) => all_of(parts, wanted, wanted, batch, run),
        Predicate::Or(parts) => all_of(parts, wanted, !wanted, batch, run),
        Predicate::Not(inner) => rows_that(inner, !wanted, batch, run),
        Predicate::IsNull(expr) => {
            let column = column_of(expr, batch, run)?;
            Some((0..batch.rows).map(|row| column.is_null(row) == wanted).collect())
        }
        Predicate::Integers(op, operands) => {
            let op = if wanted { *op } else { op.negated() };
            let (left, right) = (integers(&operands[0], batch, run).ok()??, integers(&operands[1], batch, run).ok()??);
            let mut outcome = vec![false; batch.rows];
            compared(op, &left, &right, batch.rows).into_iter().for_each(|row| outcome[row as usize] = true);
            Some(outcome)
        }
        Predicate::Values(op, operands, collation) => {
            let op = if wanted { *op } else { op.negated() };
            let (left, right) = (column_of(&operands[0], batch, run)?, column_of(&operands[1], batch, run)?);
            values_that(op, &left, &right, *collation, batch.rows)
        }
        Predicate::InIntegers(integer, list, has_null) => {
            let integers = integers(integer, batch, run).ok()??;
            let holds = |value: i64| match list.binary_search(&value) {
                Ok(_) => wanted,
                Err(_) => !wanted && !has_null,
            };
            Some(integers.that(holds, batch.rows))
        }
        Predicate::InValues(expr, list, collation) => {
            let column = column_of(expr, batch, run)?;
            if let (Vector::Texts(texts), Some(constants)) = (&column, list.constants()) {
                let is_known = |text: &str| match constants.has_text(text) {
                    true => wanted,
                    false => !wanted && !constants.has_null,
                };
                return Some(texts_that(texts, batch.rows, is_known));
            }
            let items = list.iter().map(|item| column_of(item, batch, run)).collect::<Option<Vec<_>>>()?;
            in_list(&column, &items, *collation, wanted, batch.rows)
        }
        Predicate::LikeConst(expr, pattern) => match column_of(expr, batch, run)? {
            Vector::Texts(texts) => {
                Some(texts_that(&texts, batch.rows, |text| pattern.matches_one_of_many(text) == wanted))
            }
            _ => None,
        },
        Predicate::Slot(slot) => match batch.column(*slot) {
            None => Some(vec![integer_of(&run.slots[*slot]).is_some_and(|value| (value != 0) == wanted); batch.rows]),
            Some(Vector::Coded(Code::Integer(_), codes)) => Some(codes_that(codes, |code| (code != 0) == wanted)),
            Some(_) => None,
        },
        Predicate::Like { .. } => None,
    }
}

/// Whether a condition has a value whatever the row is: it compares columns, constants and the like, which are of one type.
pub(super) fn cannot_fail(predicate: &Predicate) -> bool {
    let is_value = |expr: &Expr| matches!(expr, Expr::Const(_) | Expr::Slot(_));
    let is_integer = |integer: &Integer| matches!(integer, Integer::Const(_) | Integer::Slot(_));
    match predicate {
        Predicate::Const(_) | Predicate::Slot(_) => true,
        Predicate::And(parts) | Predicate::Or(parts) => parts.iter().all(cannot_fail),
        Predicate::Not(inner) => cannot_fail(inner),
        Predicate::IsNull(expr) | Predicate::LikeConst(expr, _) => is_value(expr),
        Predicate::Integers(_, operands) => operands.iter().all(is_integer),
        Predicate::Values(_, operands, _) => operands.iter().all(is_value),
        Predicate::InIntegers(integer, ..) => is_integer(integer),
        Predicate::InValues(expr, list, _) => is_value(expr) && list.iter().all(is_value),
        Predicate::Like { .. } => false,
    }
}

/// All parts are `wanted`, or one of them is.
fn all_of(parts: &[Predicate], wanted: bool, all: bool, batch: &Batch, run: &mut Run<'_>) -> Option<Vec<bool>> {
    let mut outcome = vec![all; batch.rows];
    for part in parts {
        let own = rows_that(part, wanted, batch, run)?;
        let pairs = outcome.iter_mut().zip(own);
        match all {
            true => pairs.for_each(|(holds, own)| *holds &= own),
            false => pairs.for_each(|(holds, own)| *holds |= own),
        }
    }
    Some(outcome)
}

/// The values of a slot or a constant.
fn column_of(expr: &Expr, batch: &Batch, run: &Run<'_>) -> Option<Vector> {
    match expr {
        Expr::Const(value) => Some(Vector::Same(value.clone())),
        Expr::Slot(slot) => {
            Some(batch.column(*slot).cloned().unwrap_or_else(|| Vector::Same(run.slots[*slot].clone())))
        }
        _ => None,
    }
}

/// For each row whether a comparison holds; none for values that are not of one kind.
fn values_that(op: Comparison, left: &Vector, right: &Vector, collation: Collation, rows: usize) -> Option<Vec<bool>> {
    match (left, right) {
        (Vector::Same(Value::Null), _) | (_, Vector::Same(Value::Null)) => Some(vec![false; rows]),
        (Vector::Same(_), Vector::Coded(..) | Vector::Texts(_)) => {
            values_that(op.flipped(), right, left, collation, rows)
        }
        (Vector::Coded(code, codes), Vector::Same(value)) => {
            let (factor, bound) = bound_in(*code, value)?;
            Some(match i64::try_from(bound) {
                Ok(bound) if factor == 1 => codes_that(codes, |code| op.holds(code.cmp(&bound))),
                _ => codes_that(codes, |code| op.holds((i128::from(code) * factor).cmp(&bound))),
            })
        }
        (Vector::Coded(code, codes), Vector::Coded(other_code, others)) if code == other_code => {
            let valid = |row: usize| codes.is_valid(row) && others.is_valid(row);
            let pairs = codes.values().iter().zip(others.values()).enumerate();
            Some(pairs.map(|(row, (a, b))| op.holds(a.cmp(b)) && valid(row)).collect())
        }
        (Vector::Texts(texts), Vector::Same(Value::Str(text))) => {
            Some(texts_that(texts, rows, |own| op.holds(collation.compare(own, text))))
        }
        (Vector::Texts(texts), Vector::Texts(others)) => {
            let holds = |row: usize| Some(op.holds(collation.compare(texts.get(row)?, others.get(row)?)));
            Some((0..rows).map(|row| holds(row) == Some(true)).collect())
        }
        _ => {
            let (mut a, mut b) = (Value::Null, Value::Null);
            let holds = |row: usize| {
                left.read(row, &mut a);
                right.read(row, &mut b);
                let order = compare(&a, &b, collation).ok()?;
                Some(order.is_some_and(|order| op.holds(order)))
            };
            (0..rows).map(holds).collect()
        }
    }
}

/// A factor for codes and the number that they are compared with then, in the place of a value; none for one of another kind.
fn bound_in(code: Code, value: &Value) -> Option<(i128, i128)> {
    let (Code::Decimal { scale, .. }, Value::Decimal(decimal)) = (code, value) else {
        let (own, bound) = Code::encode(value)?;
        return (own == code).then_some((1, i128::from(bound)));
    };
    let up = |digits: u8| 10i128.checked_pow(u32::from(digits));
    match decimal.scale().checked_sub(scale) {
        // A code has at most 19 digits, and the factor's 19 leave room.
        Some(finer) if finer <= 19 => Some((up(finer)?, decimal.mantissa())),
        Some(_) => None,
        None => Some((1, decimal.mantissa().checked_mul(up(scale - decimal.scale())?)?)),
    }
}

fn codes_that(codes: &Int64Array, holds: impl Fn(i64) -> bool) -> Vec<bool> {
    let values = codes.values().iter();
    match codes.nulls().filter(|nulls| nulls.null_count() > 0) {
        None => values.map(|&code| holds(code)).collect(),
        Some(nulls) => values.zip(nulls.iter()).map(|(&code, valid)| valid && holds(code)).collect(),
    }
}

/// Texts whose outcomes are remembered, at most, and the rows by which a column is known to have no more.
const TEXTS_KNOWN_MAX: usize = 16;
const TEXTS_TRIED: usize = 128;

/// For each text whether something holds of it; many columns have few different texts.
fn texts_that(texts: &Texts, rows: usize, holds: impl Fn(&str) -> bool) -> Vec<bool> {
    let mut known: Vec<(&str, bool)> = Vec::new();
    // The same text often comes several times in a row.
    let mut last: Option<(&str, bool)> = None;
    let outcome = |row: usize| {
        let Some(text) = texts.get(row) else { return false };
        if row == TEXTS_TRIED && known.len() == TEXTS_KNOWN_MAX {
            known.clear();
        }
        let found = last.iter().chain(&known).find(|(own, _)| *own == text).map(|(_, held)| *held);
        let held = found.unwrap_or_else(|| {
            let held = holds(text);
            if row < TEXTS_TRIED && known.len() < TEXTS_KNOWN_MAX {
                known.push((text, held));
            }
            held
        });
        last = Some((text, held));
        held
    };
    (0..rows).map(outcome).collect()
}

/// For each row whether its value is in a list, or is not.
fn in_list(column: &Vector, items: &[Vector], collation: Collation, wanted: bool, rows: usize) -> Option<Vec<bool>> {
    let op = if wanted { Comparison::Equal } else { Comparison::NotEqual };
    if let Vector::Texts(texts) = column
        && let Some(list) = items.iter().map(text_of).collect::<Option<Vec<&str>>>()
    {
        let is_in = |text: &str| list.iter().any(|item| collation.compare(text, item).is_eq());
        return Some(texts_that(texts, rows, |text| is_in(text) == wanted));
    }
    let mut outcome = vec![!wanted; rows];
    for item in items {
        let own = values_that(op, column, item, collation, rows)?;
        let pairs = outcome.iter_mut().zip(own);
        // A NULL in the list: nothing is known not to be in it.
        match wanted {
            true => pairs.for_each(|(holds, own)| *holds |= own),
            false => pairs.for_each(|(holds, own)| *holds &= own),
        }
    }
    Some(outcome)
}

/// The text that all rows have.
fn text_of(item: &Vector) -> Option<&str> {
    match item {
        Vector::Same(Value::Str(text)) => Some(text),
        _ => None,
    }
}
