//! The share of rows for which a condition holds: by the statistics of columns where there are some, else by the guesses of System R.
//!
//! ```text
//!   steps        .. 10 | 20       | 30   ..      x = 20     the rows of the step itself
//!   rows            3  | 40, 5    | 2            x = 15     those of the range, divided by its different values
//!                                                x < 15     the steps below, and of the range as far as 15 is within it
//! ```

use crate::expression::{Comparison, Expr, Integer, Predicate};
use crate::optimizer::cost::guessed;
use crate::optimizer::variable_values::VariableValues;
use pikepole_engine::{HistogramStep, ValueStatistics};
use pikepole_types::{Collation, Value, compare};
use std::borrow::Cow;
use std::cmp::Ordering;

/// Statistics of a column's values.
#[derive(Clone, Copy)]
pub(crate) struct Known<'s> {
    values: &'s ValueStatistics,
    collation: Collation,
}

/// The statistics and values that the share of a condition follows from.
#[derive(Clone, Copy)]
pub(crate) struct Knows<'a, 's> {
    columns: &'a dyn Fn(usize) -> Option<Known<'s>>,
    values: &'a VariableValues,
}

impl<'a, 's> Knows<'a, 's> {
    /// The statistics of the columns in slots, and the values of variables.
    pub(crate) fn new(columns: &'a dyn Fn(usize) -> Option<Known<'s>>, values: &'a VariableValues) -> Knows<'a, 's> {
        Knows { columns, values }
    }

    /// The statistics of the column in a slot.
    pub(crate) fn column(&self, slot: usize) -> Option<Known<'s>> {
        (self.columns)(slot)
    }
}

impl<'s> Known<'s> {
    /// These, of a column that compares by this collation; none of an empty table.
    pub(crate) fn of(values: &'s ValueStatistics, collation: Collation) -> Option<Known<'s>> {
        (!values.steps.is_empty()).then_some(Known { values, collation })
    }

    /// The number of different values.
    pub(crate) fn distinct(&self) -> f64 {
        self.values.distinct.first().copied().unwrap_or(1.0).max(1.0)
    }

    fn share(&self, rows: f64) -> f64 {
        let all = self.values.rows as f64;
        (rows / all.max(1.0)).clamp(1.0 / all.max(1.0), 1.0)
    }

    /// The share of rows that have one of its values, without knowing which.
    pub(crate) fn of_any(&self) -> f64 {
        (1.0 - self.of_null()) / self.distinct()
    }

    /// The share of rows whose value one of so many others has, or of so many different ones where that is known: their values are taken to
    /// be among the column's own, by chance.
    pub(crate) fn of_some(&self, rows: f64, values: Option<f64>) -> f64 {
        let distinct = self.distinct();
        let found = distinct * (1.0 - (-rows / distinct).exp());
        (1.0 - self.of_null()) * found.min(values.unwrap_or(distinct)) / distinct
    }

    /// The share of rows that have NULL.
    fn of_null(&self) -> f64 {
        let first = self.values.steps.first().filter(|step| step.high.is_null());
        first.map_or(0.0, |step| self.share(step.equal_rows))
    }

    /// The order of a value and the highest one of a step.
    fn against(&self, value: &Value, step: &HistogramStep) -> Option<Ordering> {
        match (value.as_i64(), step.high.as_i64()) {
            (Some(own), Some(high)) => Some(own.cmp(&high)),
            _ => compare(value, &step.high, self.collation).ok().flatten(),
        }
    }

    /// The steps of values, without that of NULL.
    fn steps(&self) -> &'s [HistogramStep] {
        let has_null = self.values.steps.first().is_some_and(|step| step.high.is_null());
        &self.values.steps[usize::from(has_null)..]
    }

    /// The share of rows with this value. None: it cannot be compared with theirs.
    pub(crate) fn of_equal(&self, value: &Value) -> Option<f64> {
        if value.is_null() {
            return Some(0.0);
        }
        for step in self.steps() {
            match self.against(value, step)? {
                Ordering::Equal => return Some(self.share(step.equal_rows)),
                Ordering::Less if step.range_rows > 0.0 => return Some(self.share(step.average_range_rows())),
                Ordering::Less => break,
                Ordering::Greater => {}
            }
        }
        // No row that was read had it.
        Some(self.share(1.0))
    }

    /// The share of rows whose values are below this one, or equal to it.
    fn below(&self, value: &Value, with_equal: bool) -> Option<f64> {
        let (mut rows, mut before) = (0.0, None::<&HistogramStep>);
        for step in self.steps() {
            match self.against(value, step)? {
                Ordering::Greater => rows += step.range_rows + step.equal_rows,
                Ordering::Equal => {
                    rows += step.range_rows + if with_equal { step.equal_rows } else { 0.0 };
                    break;
                }
                Ordering::Less => {
                    rows += step.range_rows * part_of_range(before.map(|step| &step.high), value, &step.high);
                    break;
                }
            }
            before = Some(step);
        }
        Some(self.share(rows))
    }

    /// The share of rows for which `column op value` holds.
    fn of_compared(&self, op: Comparison, value: &Value) -> Option<f64> {
        if value.is_null() {
            return Some(0.0);
        }
        let there = 1.0 - self.of_null();
        Some(match op {
            Comparison::Equal => self.of_equal(value)?,
            Comparison::NotEqual => there - self.of_equal(value)?,
            Comparison::Less => self.below(value, false)?,
            Comparison::LessOrEqual => self.below(value, true)?,
            Comparison::Greater => there - self.below(value, true)?,
            Comparison::GreaterOrEqual => there - self.below(value, false)?,
        })
    }
}

/// The part of a range that is below a value, from 0 to 1.
fn part_of_range(low: Option<&Value>, value: &Value, high: &Value) -> f64 {
    let numbers = (low.and_then(number), number(value), number(high));
    let (Some(low), Some(value), Some(high)) = numbers else { return 0.5 };
    if high > low { ((value - low) / (high - low)).clamp(0.0, 1.0) } else { 0.5 }
}

/// A value as a number whose differences say how far values are from each other.
fn number(value: &Value) -> Option<f64> {
    Some(match value {
        Value::Decimal(decimal) => decimal.mantissa() as f64 / 10f64.powi(decimal.scale().into()),
        Value::Money(v) => *v as f64,
        Value::SmallMoney(v) => f64::from(*v),
        Value::Real(v) => f64::from(*v),
        Value::Float(v) => *v,
        Value::Date(v) => f64::from(v.days()),
        Value::Time(v) => v.ticks() as f64,
        Value::DateTime(v) => v.ticks() as f64,
        Value::SmallDateTime(v) => v.minutes() as f64,
        Value::DateTime2(v) => v.ticks() as f64,
        other => other.as_i64()? as f64,
    })
}

/// The comparison with its sides exchanged.
fn turned(op: Comparison) -> Comparison {
    match op {
        Comparison::Less => Comparison::Greater,
        Comparison::LessOrEqual => Comparison::GreaterOrEqual,
        Comparison::Greater => Comparison::Less,
        Comparison::GreaterOrEqual => Comparison::LessOrEqual,
        same => same,
    }
}

/// A side of a comparison, as far as statistics can tell of it.
enum Side<'e> {
    Column(usize),
    Value(Cow<'e, Value>),
    /// A variable.
    Variable(usize),
    /// A value that is not known yet.
    Unknown,
    /// It reads columns in another way.
    Other,
}

fn is_of_no_slot(visit: impl FnOnce(&mut dyn FnMut(usize)), knows: Knows<'_, '_>) -> bool {
    let mut reads = false;
    visit(&mut |slot| reads |= knows.column(slot).is_some());
    !reads
}

fn integer_side<'e>(side: &'e Integer, knows: Knows<'_, '_>) -> Side<'e> {
    match side {
        Integer::Slot(slot) if knows.column(*slot).is_some() => Side::Column(*slot),
        Integer::Slot(slot) if knows.values.is_variable(*slot) => Side::Variable(*slot),
        Integer::Const(value) => Side::Value(Cow::Owned(value.map_or(Value::Null, Value::BigInt))),
        other if is_of_no_slot(|visit| other.visit_slots(visit), knows) => Side::Unknown,
        _ => Side::Other,
    }
}

fn value_side<'e>(side: &'e Expr, knows: Knows<'_, '_>) -> Side<'e> {
    match side {
        Expr::Slot(slot) if knows.column(*slot).is_some() => Side::Column(*slot),
        Expr::Slot(slot) if knows.values.is_variable(*slot) => Side::Variable(*slot),
        Expr::Const(value) => Side::Value(Cow::Borrowed(value)),
        other if is_of_no_slot(|visit| other.visit_slots(visit), knows) => Side::Unknown,
        _ => Side::Other,
    }
}

/// A side with the value of a variable in its place, if that is known.
fn with_value<'e>(side: Side<'e>, knows: Knows<'_, '_>) -> Side<'e> {
    match side {
        Side::Variable(slot) => knows.values.value(slot).map_or(Side::Unknown, |value| Side::Value(Cow::Owned(value))),
        other => other,
    }
}

fn compared(op: Comparison, sides: [Side<'_>; 2], knows: Knows<'_, '_>) -> Option<f64> {
    let (op, slot, other) = match sides {
        [Side::Column(slot), other] => (op, slot, other),
        [other, Side::Column(slot)] => (turned(op), slot, other),
        _ => return None,
    };
    let known = knows.column(slot)?;
    match (with_value(other, knows), op) {
        (Side::Value(value), op) => known.of_compared(op, &value),
        (Side::Unknown, Comparison::Equal) => Some(known.of_any()),
        (Side::Unknown, Comparison::NotEqual) => Some(1.0 - known.of_any()),
        // Columns of one table: as if each had the other's values.
        (Side::Column(other), Comparison::Equal) => Some(1.0 / known.distinct().max(knows.column(other)?.distinct())),
        _ => None,
    }
}

/// The share of the rows for which a condition holds.
pub(crate) fn share_of(condition: &Predicate, knows: Knows<'_, '_>) -> f64 {
    if let Some(holds) = condition.constant() {
        return f64::from(u8::from(holds));
    }
    let found = match condition {
        Predicate::Integers(op, sides) => {
            compared(*op, [integer_side(&sides[0], knows), integer_side(&sides[1], knows)], knows)
        }
        Predicate::Values(op, sides, _) => {
            compared(*op, [value_side(&sides[0], knows), value_side(&sides[1], knows)], knows)
        }
        Predicate::And(parts) => Some(of_all(parts, knows)),
        // Either, as if they had nothing to do with each other.
        Predicate::Or(parts) => Some(1.0 - parts.iter().map(|part| 1.0 - share_of(part, knows)).product::<f64>()),
        Predicate::Not(inner) => Some(1.0 - share_of(inner, knows)),
        Predicate::IsNull(operand) => match &**operand {
            Expr::Slot(slot) => knows.column(*slot).map(|known| known.of_null()),
            _ => None,
        },
        Predicate::InIntegers(operand, values, _) => match integer_side(operand, knows) {
            Side::Column(slot) => knows.column(slot).and_then(|known| {
                let shares = values.iter().map(|value| known.of_equal(&Value::BigInt(*value)));
                shares.sum::<Option<f64>>()
            }),
            _ => None,
        },
        Predicate::InValues(operand, values, _) => match value_side(operand, knows) {
            Side::Column(slot) => knows.column(slot).and_then(|known| {
                let shares = values.iter().map(|value| match with_value(value_side(value, knows), knows) {
                    Side::Value(value) => known.of_equal(&value),
                    _ => Some(known.of_any()),
                });
                shares.sum::<Option<f64>>()
            }),
            _ => None,
        },
        Predicate::Const(_) | Predicate::Like { .. } | Predicate::LikeConst(..) | Predicate::Slot(_) => None,
    };
    found.unwrap_or_else(|| guessed(condition)).clamp(0.0, 1.0)
}

/// The share that conditions leave together. Both bounds of a range are one condition.
fn of_all(parts: &[Predicate], knows: Knows<'_, '_>) -> f64 {
    Bounds::default().with_all(parts, knows)
}

/// Shares of the conditions on the same column that bound it from one side and from the other.
#[derive(Default)]
pub(crate) struct Bounds {
    /// The slot, the share below an upper bound, that above a lower one, and that of values at all.
    of_slots: Vec<(usize, f64, f64, f64)>,
    others: f64,
}

impl Bounds {
    fn with_all(mut self, parts: &[Predicate], knows: Knows<'_, '_>) -> f64 {
        self.others = 1.0;
        parts.iter().for_each(|part| self.add(part, knows));
        self.share()
    }

    fn add(&mut self, condition: &Predicate, knows: Knows<'_, '_>) {
        let share = share_of(condition, knows);
        let Some((slot, is_upper)) = bound_of(condition, knows) else {
            self.others *= share;
            return;
        };
        let at = self.of_slots.iter().position(|(own, ..)| *own == slot).unwrap_or_else(|| {
            let there = knows.column(slot).map_or(1.0, |known| 1.0 - known.of_null());
            self.of_slots.push((slot, there, there, there));
            self.of_slots.len() - 1
        });
        let (_, upper, lower, _) = &mut self.of_slots[at];
        if is_upper { *upper = upper.min(share) } else { *lower = lower.min(share) }
    }

    fn share(&self) -> f64 {
        let least = 1e-6;
        let ranges = self.of_slots.iter().map(|(_, upper, lower, there)| (upper + lower - there).max(least));
        self.others * ranges.product::<f64>()
    }
}

/// The share that conditions leave together, each of which stands for itself.
pub(crate) fn share_of_all(conditions: &[&Predicate], knows: Knows<'_, '_>) -> f64 {
    let mut bounds = Bounds { others: 1.0, ..Bounds::default() };
    conditions.iter().for_each(|condition| bounds.add(condition, knows));
    bounds.share()
}

/// The slot that a condition bounds by a known value, and whether from above.
fn bound_of(condition: &Predicate, knows: Knows<'_, '_>) -> Option<(usize, bool)> {
    let (op, sides) = match condition {
        Predicate::Integers(op, sides) => (*op, [integer_side(&sides[0], knows), integer_side(&sides[1], knows)]),
        Predicate::Values(op, sides, _) => (*op, [value_side(&sides[0], knows), value_side(&sides[1], knows)]),
        _ => return None,
    };
    let (op, slot) = match sides.map(|side| with_value(side, knows)) {
        [Side::Column(slot), Side::Value(_)] => (op, slot),
        [Side::Value(_), Side::Column(slot)] => (turned(op), slot),
        _ => return None,
    };
    match op {
        Comparison::Less | Comparison::LessOrEqual => Some((slot, true)),
        Comparison::Greater | Comparison::GreaterOrEqual => Some((slot, false)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1,000 rows: 100 NULL; 1 to 9 once in ten, and 10 to 99 in a step of their own.
    fn statistics() -> ValueStatistics {
        let step = |high, range_rows, equal_rows, distinct_range| HistogramStep {
            high,
            range_rows,
            equal_rows,
            distinct_range,
        };
        ValueStatistics {
            updated_us: 0,
            rows: 1_000,
            sampled: 1_000,
            distinct: vec![91.0],
            widths: vec![4.0],
            steps: vec![
                step(Value::Null, 0.0, 100.0, 0.0),
                step(Value::Int(0), 0.0, 100.0, 0.0),
                step(Value::Int(10), 90.0, 500.0, 9.0),
                step(Value::Int(110), 200.0, 10.0, 80.0),
            ],
            changes: 0,
        }
    }

    fn share(condition: &Predicate) -> f64 {
        let values = statistics();
        let columns = |slot| if slot == 3 { Known::of(&values, Collation::DEFAULT) } else { None };
        share_of(condition, Knows::new(&columns, &VariableValues::new(2, &[Value::Int(10)])))
    }

    fn int(op: Comparison, value: i64) -> Predicate {
        Predicate::Integers(op, Box::new([Integer::Slot(3), Integer::Const(Some(value))]))
    }

    fn assert_near(found: f64, wanted: f64) {
        assert!((found - wanted).abs() < 1e-9, "{found} instead of {wanted}");
    }

    #[test]
    fn values_are_found_in_their_steps() {
        assert_near(share(&int(Comparison::Equal, 10)), 0.5);
        assert_near(share(&int(Comparison::Equal, 5)), 0.01);
        assert_near(share(&int(Comparison::Equal, 5_000)), 0.001);
        assert_near(share(&int(Comparison::NotEqual, 10)), 0.4);
        assert_near(share(&Predicate::IsNull(Box::new(Expr::Slot(3)))), 0.1);
        assert_near(share(&Predicate::InIntegers(Box::new(Integer::Slot(3)), vec![0, 10], false)), 0.6);
        let variable = |slot| Predicate::Integers(Comparison::Equal, Box::new([Integer::Slot(slot), Integer::Slot(3)]));
        assert_near(share(&variable(0)), 0.5);
        assert_near(share(&variable(1)), 0.9 / 91.0);
    }

    #[test]
    fn ranges_are_taken_as_far_as_they_reach() {
        assert_near(share(&int(Comparison::LessOrEqual, 0)), 0.1);
        assert_near(share(&int(Comparison::Less, 5)), 0.1 + 0.045);
        assert_near(share(&int(Comparison::Greater, 60)), 0.9 - (0.1 + 0.09 + 0.5 + 0.1));
        let turned = Predicate::Integers(Comparison::Greater, Box::new([Integer::Const(Some(5)), Integer::Slot(3)]));
        assert_near(share(&turned), 0.1 + 0.045);
        // Between 10 and 60: the bounds are of one range, not of two conditions that have nothing to do with each other.
        let both = Predicate::And(vec![int(Comparison::GreaterOrEqual, 10), int(Comparison::Less, 60)]);
        assert_near(share(&both), 0.6);
    }

    #[test]
    fn what_nothing_is_known_of_is_guessed() {
        let other = Predicate::Integers(Comparison::Equal, Box::new([Integer::Slot(1), Integer::Const(Some(1))]));
        assert_near(share(&other), 0.1);
    }
}
