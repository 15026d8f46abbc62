//! Expressions and conditions over a batch.
//!
//! Integers, decimals, dates that integers are added to, and conditions on columns and constants have loops over whole columns. Such a
//! loop only notes that something went wrong; then the rows are evaluated one after the other, which finds the error of the first. All
//! else is evaluated row by row anyway.

use arrow_array::{Array, Int64Array};
use arrow_buffer::NullBuffer;
use pikepole_types::{DatePart, DateTime, Value};

use super::vector::{Code, Vector, VectorBuilder};
use super::{Batch, condition, decimals};
use crate::executor::Run;
use crate::expression::{Call, Comparison, Expr, Fault, Integer, IntegerOp, Predicate, Width};

/// Integers of each row.
pub(super) enum Integers {
    Same(Option<i64>),
    Each(Int64Array),
}

impl Integers {
    fn nulls(&self) -> Option<&NullBuffer> {
        match self {
            Integers::Same(_) => None,
            Integers::Each(array) => array.nulls(),
        }
    }

    /// For each row whether something holds of its integer; not of NULL.
    pub(super) fn that(&self, holds: impl Fn(i64) -> bool, rows: usize) -> Vec<bool> {
        match self {
            Integers::Same(value) => vec![value.is_some_and(holds); rows],
            Integers::Each(array) => array.iter().map(|value| value.is_some_and(&holds)).collect(),
        }
    }

    fn into_vector(self, width: Width) -> Vector {
        match self {
            Integers::Same(value) => {
                let mut same = Value::Null;
                width.store(value, &mut same);
                Vector::Same(same)
            }
            Integers::Each(array) => Vector::Coded(Code::Integer(width), array),
        }
    }
}

/// The values of an expression in each row.
///
/// # Errors
/// That of the first row that has one.
pub(crate) fn evaluate(expr: &Expr, batch: &Batch, run: &mut Run<'_>) -> Result<Vector, Fault> {
    match expr {
        Expr::Const(value) => return Ok(Vector::Same(value.clone())),
        Expr::Slot(slot) => {
            return Ok(batch.column(*slot).cloned().unwrap_or_else(|| Vector::Same(run.slots[*slot].clone())));
        }
        Expr::Integer(integer, width) => {
            if let Some(integers) = integers(integer, batch, run)? {
                return Ok(integers.into_vector(*width));
            }
        }
        Expr::Arithmetic(arithmetic) => {
            let [left, right] = &arithmetic.operands;
            // An error of an operand may not be that of the first row.
            if let (Ok(left), Ok(right)) = (evaluate(left, batch, run), evaluate(right, batch, run))
                && let Some(results) = decimals::combined(arithmetic.op, &left, &right)
            {
                return Ok(results);
            }
        }
        Expr::Call(call) => {
            if let Some(dates) = dates_added(call, batch, run)? {
                return Ok(dates);
            }
        }
        _ => {}
    }
    let mut read = Vec::new();
    expr.visit_slots(&mut |slot| read.push(slot));
    let mut out = VectorBuilder::new();
    each_row(batch, &read, run, |run, _| {
        let mut scratch = std::mem::take(&mut run.scratch);
        let value = expr.eval_ref(&mut run.env(), &mut scratch).map(|value| out.push(value));
        run.scratch = scratch;
        value
    })?;
    Ok(out.finish())
}

/// Visits the rows with the columns that are read left in their slots.
fn each_row(
    batch: &Batch,
    read: &[usize],
    run: &mut Run<'_>,
    mut visit: impl FnMut(&mut Run<'_>, usize) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let columns: Vec<(usize, &Vector)> =
        read.iter().filter_map(|&slot| batch.column(slot).map(|column| (slot, column))).collect();
    for row in 0..batch.rows {
        for (slot, column) in &columns {
            column.read(row, &mut run.slots[*slot]);
        }
        visit(run, row)?;
    }
    Ok(())
}

/// The rows for which a condition holds. Of an AND, a later part is only asked about rows that passed the earlier ones.
///
/// # Errors
/// As [`evaluate`].
pub(crate) fn filter(predicate: &Predicate, batch: Batch, run: &mut Run<'_>) -> Result<Batch, Fault> {
    let kept = match predicate {
        Predicate::And(parts) => return filter_by_all(parts, batch, run),
        Predicate::Const(truth) => {
            if *truth == Some(true) {
                return Ok(batch);
            } else {
                Vec::new()
            }
        }
        Predicate::Integers(op, operands) => {
            let left = integers(&operands[0], &batch, run)?;
            let right = integers(&operands[1], &batch, run)?;
            match (left, right) {
                (Some(left), Some(right)) => compared(*op, &left, &right, batch.rows),
                _ => tested(predicate, &batch, run)?,
            }
        }
        _ => match condition::kept(predicate, &batch, run) {
            Some(kept) => kept,
            None => tested(predicate, &batch, run)?,
        },
    };
    Ok(if kept.len() == batch.rows { batch } else { batch.take(&kept) })
}

/// The rows for which all parts hold. Parts that have no errors are tested on rows that others leave out as well, as long as these are few:
/// less often than each part leaves rows out are these put together.
fn filter_by_all(parts: &[Predicate], mut batch: Batch, run: &mut Run<'_>) -> Result<Batch, Fault> {
    let mut holds: Option<Vec<bool>> = None;
    for part in parts {
        let own = match condition::cannot_fail(part) {
            true => condition::holds(part, &batch, run),
            false => None,
        };
        let Some(own) = own else {
            batch = filter(part, those_that(batch, holds.take()), run)?;
            continue;
        };
        let all = match holds.take() {
            None => own,
            Some(mut all) => {
                all.iter_mut().zip(own).for_each(|(holds, own)| *holds &= own);
                all
            }
        };
        let left = all.iter().filter(|holds| **holds).count();
        if left == batch.rows {
            continue;
        }
        holds = Some(all);
        if left < batch.rows / FEW_ROWS {
            batch = those_that(batch, holds.take());
        }
    }
    Ok(those_that(batch, holds))
}

/// The part of a batch's rows that are few.
const FEW_ROWS: usize = 4;

fn those_that(batch: Batch, holds: Option<Vec<bool>>) -> Batch {
    match holds {
        None => batch,
        Some(holds) => batch.take(&condition::places(&holds)),
    }
}

fn tested(predicate: &Predicate, batch: &Batch, run: &mut Run<'_>) -> Result<Vec<u32>, Fault> {
    let mut read = Vec::new();
    predicate.visit_slots(&mut |slot| read.push(slot));
    let mut kept = Vec::new();
    each_row(batch, &read, run, |run, row| {
        if predicate.holds(&mut run.env())? {
            kept.push(row as u32);
        }
        Ok(())
    })?;
    Ok(kept)
}

pub(super) fn compared(op: Comparison, left: &Integers, right: &Integers, rows: usize) -> Vec<u32> {
    let nulls = NullBuffer::union(left.nulls(), right.nulls());
    let valid = |row: usize| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
    let places = 0..rows;
    let keep = |test: &dyn Fn(usize) -> bool| {
        places.clone().filter(|&row| valid(row) && test(row)).map(|row| row as u32).collect()
    };
    match (left, right) {
        (Integers::Same(None), _) | (_, Integers::Same(None)) => Vec::new(),
        (Integers::Same(Some(a)), Integers::Same(Some(b))) => keep(&|_| op.holds(a.cmp(b))),
        (Integers::Each(a), Integers::Same(Some(b))) => keep(&|row| op.holds(a.values()[row].cmp(b))),
        (Integers::Same(Some(a)), Integers::Each(b)) => keep(&|row| op.holds(a.cmp(&b.values()[row]))),
        (Integers::Each(a), Integers::Each(b)) => keep(&|row| op.holds(a.values()[row].cmp(&b.values()[row]))),
    }
}

/// An integer expression in each row; none where only the scalar evaluator can tell, also because a row has an error.
pub(super) fn integers(integer: &Integer, batch: &Batch, run: &mut Run<'_>) -> Result<Option<Integers>, Fault> {
    Ok(match integer {
        Integer::Const(value) => Some(Integers::Same(*value)),
        Integer::Slot(slot) => match batch.column(*slot) {
            None => Some(Integers::Same(run.slots[*slot].as_i64())),
            Some(Vector::Same(value)) => Some(Integers::Same(value.as_i64())),
            Some(Vector::Coded(Code::Integer(_), array)) => Some(Integers::Each(array.clone())),
            Some(_) => None,
        },
        Integer::Global(global) => Some(Integers::Same(global.integer(run.env().state))),
        Integer::Binary { op, width, operands } => {
            let (Some(left), Some(right)) = (integers(&operands[0], batch, run)?, integers(&operands[1], batch, run)?)
            else {
                return Ok(None);
            };
            combined(*op, *width, &left, &right)
        }
        Integer::Narrow(inner, _, width) if *width != Width::Bit => match integers(inner, batch, run)? {
            Some(Integers::Same(value)) if value.is_none_or(|value| width.fits(value)) => Some(Integers::Same(value)),
            Some(Integers::Each(array)) => {
                let (smallest, largest) = width.bounds();
                let fits = array.values().iter().fold(true, |fits, &v| fits & (v >= smallest) & (v <= largest));
                fits.then_some(Integers::Each(array))
            }
            _ => None,
        },
        _ => None,
    })
}

/// Applies an operator to each row. None when a row has an error, or might.
fn combined(op: IntegerOp, width: Width, left: &Integers, right: &Integers) -> Option<Integers> {
    let (left_each, right_each) = (as_slice(left), as_slice(right));
    let nulls = NullBuffer::union(left.nulls(), right.nulls());
    let values = match (left, right) {
        (Integers::Same(None), _) | (_, Integers::Same(None)) => return Some(Integers::Same(None)),
        (Integers::Same(Some(a)), Integers::Same(Some(b))) => {
            return op.apply(width, *a, *b).ok().map(|value| Integers::Same(Some(value)));
        }
        (_, Integers::Same(Some(b))) => apply_with(op, width, left_each, *b)?,
        (Integers::Same(Some(a)), _) => apply_to(op, width, right_each, |value| (*a, value))?,
        (Integers::Each(_), Integers::Each(b)) => {
            let mut others = b.values().iter();
            apply_to(op, width, left_each, |value| (value, others.next().copied().unwrap_or_default()))?
        }
    };
    Some(Integers::Each(Int64Array::new(values.into(), nulls)))
}

fn as_slice(integers: &Integers) -> &[i64] {
    match integers {
        Integers::Same(_) => &[],
        Integers::Each(array) => array.values(),
    }
}

/// An operator with one right operand for all rows; for it, / and % have loops of their own.
fn apply_with(op: IntegerOp, width: Width, values: &[i64], right: i64) -> Option<Vec<i64>> {
    if !matches!(op, IntegerOp::Divide | IntegerOp::Modulo) || right <= 0 {
        return apply_to(op, width, values, |value| (value, right));
    }
    let narrow = u32::try_from(right).ok().filter(|&right| right > 1 && are_narrow(values));
    Some(match (op, narrow.map(Divisor::new)) {
        (IntegerOp::Divide, Some(right)) => values.iter().map(|&value| right.quotient(value as u32).into()).collect(),
        (_, Some(right)) => values.iter().map(|&value| right.remainder(value as u32).into()).collect(),
        (IntegerOp::Divide, None) => values.iter().map(|&value| value / right).collect(),
        (_, None) => values.iter().map(|&value| value % right).collect(),
    })
}

/// Whether all are numbers of 32 bits.
fn are_narrow(values: &[i64]) -> bool {
    let bits = values.iter().fold(0, |bits, value| bits | value);
    u32::try_from(bits).is_ok()
}

/// Divides numbers of 32 bits by multiplying, several times as fast: D. Lemire, O. Kaser, N. Kurz, "Faster remainder by direct
/// computation", Software: Practice and Experience 49, 2019.
#[derive(Clone, Copy)]
struct Divisor {
    divisor: u32,
    /// 2^64 / divisor, rounded up.
    inverse: u64,
}

impl Divisor {
    /// For 2 and more: the inverse of 1 has 65 bits.
    fn new(divisor: u32) -> Divisor {
        debug_assert!(divisor > 1);
        Divisor { divisor, inverse: u64::MAX / u64::from(divisor) + 1 }
    }

    #[inline(always)]
    fn quotient(self, value: u32) -> u32 {
        ((u128::from(self.inverse) * u128::from(value)) >> 64) as u32
    }

    #[inline(always)]
    fn remainder(self, value: u32) -> u32 {
        let fraction = self.inverse.wrapping_mul(u64::from(value));
        ((u128::from(fraction) * u128::from(self.divisor)) >> 64) as u32
    }
}

fn apply_to(op: IntegerOp, width: Width, values: &[i64], mut pair: impl FnMut(i64) -> (i64, i64)) -> Option<Vec<i64>> {
    let (smallest, largest) = width.bounds();
    let mut wrong = false;
    let mut each = |apply: &dyn Fn(i64, i64) -> (i64, bool)| {
        let combine = |&value: &i64| {
            let (left, right) = pair(value);
            let (result, failed) = apply(left, right);
            wrong |= failed | (result < smallest) | (result > largest);
            result
        };
        values.iter().map(combine).collect::<Vec<i64>>()
    };
    let out = match op {
        IntegerOp::Add => each(&i64::overflowing_add),
        IntegerOp::Subtract => each(&i64::overflowing_sub),
        IntegerOp::Multiply => each(&i64::overflowing_mul),
        IntegerOp::Divide => each(&|left, right| left.checked_div(right).map_or((0, true), |result| (result, false))),
        IntegerOp::Modulo => {
            each(&|left, right| if right == 0 { (0, true) } else { (left.wrapping_rem(right), false) })
        }
        IntegerOp::And => each(&|left, right| (left & right, false)),
        IntegerOp::Or => each(&|left, right| (left | right, false)),
        IntegerOp::Xor => each(&|left, right| (left ^ right, false)),
    };
    (!wrong).then_some(out)
}

/// `DATEADD` of seconds, minutes, hours or days to one `datetime`.
fn dates_added(call: &Call, batch: &Batch, run: &mut Run<'_>) -> Result<Option<Vector>, Fault> {
    let [Expr::Const(Value::Str(part)), count, base] = &*call.arguments else {
        return Ok(None);
    };
    if call.function.name != "DATEADD" {
        return Ok(None);
    }
    // Ticks of 1/300 s.
    let unit = match DatePart::by_name(part) {
        Some(DatePart::Second) => 300,
        Some(DatePart::Minute) => 300 * 60,
        Some(DatePart::Hour) => 300 * 3600,
        Some(DatePart::Day | DatePart::DayOfYear | DatePart::Weekday) => 300 * 86_400,
        _ => return Ok(None),
    };
    let (count, base) = (evaluate(count, batch, run)?, evaluate(base, batch, run)?);
    let (Vector::Coded(Code::Integer(_), counts), Vector::Same(Value::DateTime(base))) = (count, base) else {
        return Ok(None);
    };
    let base = base.ticks();
    // The scalar function takes an int. All dates between two dates are dates.
    let counts_of = counts.values();
    let (lowest, highest) = counts_of.iter().fold((0, 0), |(low, high), &count| (count.min(low), count.max(high)));
    let is_date = |count: i64| {
        i32::try_from(count).is_ok_and(|count| DateTime::from_ticks(base + i64::from(count) * unit).is_some())
    };
    if !is_date(lowest) || !is_date(highest) {
        return Ok(None);
    }
    let ticks: Vec<i64> = counts_of.iter().map(|count| base + count * unit).collect();
    Ok(Some(Vector::Coded(Code::DateTime, Int64Array::new(ticks.into(), counts.nulls().cloned()))))
}

#[cfg(test)]
mod tests {
    use super::Divisor;

    #[test]
    fn multiplying_divides() {
        let edges = [0, 1, 2, 3, 299, 300, 301, 86_399, 86_400, 65_535, 65_536, u32::MAX / 2, u32::MAX - 1, u32::MAX];
        for divisor in edges.into_iter().filter(|&divisor| divisor > 1) {
            let by = Divisor::new(divisor);
            for near in edges.into_iter().flat_map(|edge| [edge, edge.wrapping_mul(divisor), edge / divisor * divisor])
            {
                for value in [near.wrapping_sub(1), near, near.wrapping_add(1)] {
                    assert_eq!(by.quotient(value), value / divisor, "{value} / {divisor}");
                    assert_eq!(by.remainder(value), value % divisor, "{value} % {divisor}");
                }
            }
        }
    }
}
