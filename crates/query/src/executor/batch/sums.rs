//! The states of one aggregate, by group.
//!
//! ```text
//!   COUNT            numbers
//!   SUM, AVG         numbers and sums, where the values are codes that add up: integers, money, short decimals
//!   all others       accumulators, and those two as well when a value comes that has no code
//! ```

use arrow_array::{Array, Int64Array};
use pikepole_types::{Accumulator, Aggregate as Function, Value};

use super::vector::{Code, Vector};
use crate::expression::Fault;
use crate::plan::Aggregate;

/// What each group has of one aggregate.
#[derive(Clone)]
pub(crate) struct States {
    /// An empty state.
    empty: Accumulator,
    function: Function,
    kept: Kept,
}

#[derive(Clone)]
enum Kept {
    Counts(Vec<i64>),
    Sums(Vec<Sum>),
    Any(Vec<Accumulator>),
}

/// Codes that were added.
#[derive(Clone, Copy, Default)]
struct Sum {
    count: i64,
    sum: i128,
}

impl States {
    /// Of no group.
    pub(crate) fn new(aggregate: &Aggregate) -> Result<States, Fault> {
        let empty = Accumulator::new(aggregate.function, &aggregate.input_type, aggregate.collation)?;
        let kept = match aggregate.function {
            Function::Count | Function::CountBig => Kept::Counts(Vec::new()),
            _ if empty.sums_whole() || empty.summed_scale().is_some() => Kept::Sums(Vec::new()),
            _ => Kept::Any(Vec::new()),
        };
        Ok(States { empty, function: aggregate.function, kept })
    }

    /// Makes room for groups that have come.
    pub(crate) fn resize(&mut self, groups: usize) {
        match &mut self.kept {
            Kept::Counts(counts) => counts.resize(groups, 0),
            Kept::Sums(sums) => sums.resize(groups, Sum::default()),
            Kept::Any(states) => states.resize(groups, self.empty.clone()),
        }
    }

    /// Bytes that a group takes.
    pub(crate) fn bytes_each(&self) -> usize {
        match &self.kept {
            Kept::Counts(_) => size_of::<i64>(),
            Kept::Sums(_) => size_of::<Sum>(),
            Kept::Any(_) => size_of::<Accumulator>(),
        }
    }

    /// Counts rows, for `COUNT(*)`.
    pub(crate) fn add_rows(&mut self, places: &[u32]) {
        match &mut self.kept {
            Kept::Counts(counts) => places.iter().for_each(|&place| counts[place as usize] += 1),
            Kept::Sums(_) => {}
            Kept::Any(states) => places.iter().for_each(|&place| states[place as usize].add_row()),
        }
    }

    /// Adds the values of rows to their groups; whether one of them was NULL.
    ///
    /// # Errors
    /// 8115 when a sum overflows.
    pub(crate) fn add(&mut self, column: &Vector, places: &[u32]) -> Result<bool, Fault> {
        if matches!(column, Vector::Same(Value::Null)) {
            return Ok(!places.is_empty());
        }
        match &mut self.kept {
            Kept::Counts(counts) if column.has_null() => {
                let valid = places.iter().enumerate().filter(|(row, _)| !column.is_null(*row));
                valid.for_each(|(_, &place)| counts[place as usize] += 1);
                return Ok(true);
            }
            Kept::Counts(_) => {
                self.add_rows(places);
                return Ok(false);
            }
            Kept::Sums(sums) => match column {
                Vector::Coded(code, codes) if adds_up(*code, &self.empty) => {
                    let values = places.iter().zip(codes.values());
                    match codes.nulls().filter(|nulls| nulls.null_count() > 0) {
                        None => values.for_each(|(&place, &code)| sums[place as usize].add(code)),
                        Some(nulls) => {
                            let valid = values.zip(nulls.iter()).filter(|(_, valid)| *valid);
                            valid.for_each(|((&place, &code), _)| sums[place as usize].add(code));
                        }
                    }
                    return Ok(codes.null_count() > 0);
                }
                _ => self.accumulate()?,
            },
            Kept::Any(_) => {}
        }
        let Kept::Any(states) = &mut self.kept else { return Ok(false) };
        let (mut value, mut has_null) = (Value::Null, false);
        for (row, &place) in places.iter().enumerate() {
            column.read(row, &mut value);
            has_null |= !states[place as usize].add(&value)?;
        }
        Ok(has_null)
    }

    /// Goes over to accumulators.
    fn accumulate(&mut self) -> Result<(), Fault> {
        let groups = match &self.kept {
            Kept::Counts(counts) => counts.len(),
            Kept::Sums(sums) => sums.len(),
            Kept::Any(_) => return Ok(()),
        };
        let states = (0..groups).map(|group| self.state(group)).collect::<Result<_, Fault>>()?;
        self.kept = Kept::Any(states);
        Ok(())
    }

    /// A group's state.
    ///
    /// # Errors
    /// 8115 when its sum overflows.
    pub(crate) fn state(&self, group: usize) -> Result<Accumulator, Fault> {
        let mut state = self.empty.clone();
        match &self.kept {
            Kept::Counts(counts) => state.add_count(counts[group]),
            Kept::Sums(sums) if state.sums_whole() => state.add_sum(sums[group].count, sums[group].sum),
            Kept::Sums(sums) => state.add_digits(sums[group].count, sums[group].sum)?,
            Kept::Any(states) => return Ok(states[group].clone()),
        }
        Ok(state)
    }

    /// Adds what other states have, from one of their groups on, of groups that are these here.
    ///
    /// # Errors
    /// 8115 when a sum overflows.
    pub(crate) fn merge(&mut self, other: &States, first: usize, places: &[u32]) -> Result<(), Fault> {
        match (&mut self.kept, &other.kept) {
            (Kept::Counts(counts), Kept::Counts(others)) => {
                places.iter().zip(&others[first..]).for_each(|(&place, count)| counts[place as usize] += count);
                return Ok(());
            }
            (Kept::Sums(sums), Kept::Sums(others)) => {
                for (&place, other) in places.iter().zip(&others[first..]) {
                    let sum = &mut sums[place as usize];
                    *sum = Sum { count: sum.count + other.count, sum: sum.sum + other.sum };
                }
                return Ok(());
            }
            _ => self.accumulate()?,
        }
        let Kept::Any(states) = &mut self.kept else { return Ok(()) };
        for (group, &place) in places.iter().enumerate() {
            states[place as usize].merge(&other.state(first + group)?)?;
        }
        Ok(())
    }

    /// Adds all values of a column to the only group, whose number comes for each row; whether one of them was NULL.
    ///
    /// # Errors
    /// As of [`States::add`].
    pub(crate) fn add_to_first(&mut self, column: &Vector, zeros: &[u32]) -> Result<bool, Fault> {
        let Vector::Coded(code, codes) = column else { return self.add(column, zeros) };
        let counted = (codes.len() - codes.null_count()) as i64;
        match &mut self.kept {
            Kept::Counts(counts) => counts[0] += counted,
            Kept::Sums(sums) if adds_up(*code, &self.empty) => {
                sums[0].count += counted;
                sums[0].sum += sum(codes);
            }
            Kept::Any(states) if counted > 0 && matches!(self.function, Function::Min | Function::Max) => {
                let extreme = code.decode(extreme(codes, self.function == Function::Max));
                states[0].add_extreme(counted, &extreme);
            }
            _ => return self.add(column, zeros),
        }
        Ok(codes.null_count() > 0)
    }
}

impl Sum {
    #[inline(always)]
    fn add(&mut self, code: i64) {
        self.count += 1;
        self.sum += i128::from(code);
    }
}

/// Whether a state adds up such codes.
fn adds_up(code: Code, state: &Accumulator) -> bool {
    match code {
        Code::Integer(_) | Code::Money | Code::SmallMoney => state.sums_whole(),
        Code::Decimal { scale, .. } => state.summed_scale() == Some(scale),
        _ => false,
    }
}

fn sum(codes: &Int64Array) -> i128 {
    if codes.null_count() > 0 {
        return codes.iter().flatten().map(i128::from).sum();
    }
    // Halves add up apart, without a carry between them: a batch has too few rows for either to overflow.
    let halves = |(high, low): (i64, i64), code: &i64| (high + (code >> 32), low + (code & 0xFFFF_FFFF));
    let (high, low) = codes.values().iter().fold((0, 0), halves);
    (i128::from(high) << 32) + i128::from(low)
}

/// The largest or least code that is not NULL; there is one.
fn extreme(codes: &Int64Array, largest: bool) -> i64 {
    let better = |a: i64, b: i64| if largest { a.max(b) } else { a.min(b) };
    let worst = if largest { i64::MIN } else { i64::MAX };
    match codes.null_count() {
        0 => codes.values().iter().copied().fold(worst, better),
        _ => codes.iter().flatten().fold(worst, better),
    }
}
