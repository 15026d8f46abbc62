//! Full joins: the right rows are kept, and those that no left row has met come last.

use super::Run;
use super::cursor::Cursor;
use super::join::live_slots;
use super::spool::values;
use crate::access::{Pace, Stop};
use crate::executor::spill::{AllRows, Charge, Regroup, RowStore};
use crate::expression::Fault;
use crate::plan::FullJoin;
use pikepole_types::Value;

/// The state of a [`FullJoin`].
pub(crate) struct FullCursor {
    left: Cursor,
    right: Cursor,
    filled: bool,
    /// The right rows: their keys, the carried values, and their number.
    store: RowStore,
    count: i64,
    /// Which right rows have been joined, by their numbers.
    matched: Vec<bool>,
    charge: Charge,
    /// The keys of the left row at hand, whether its partners were gone to, and whether it has one.
    wanted: Option<Vec<Value>>,
    found: bool,
    joined: bool,
    regroup: Option<Box<Regroup>>,
    /// The right rows, when all left rows are done.
    rest: Option<AllRows>,
    pace: Pace,
}

impl FullCursor {
    pub(crate) fn new(left: Cursor, right: Cursor) -> FullCursor {
        FullCursor {
            left,
            right,
            filled: false,
            store: RowStore::default(),
            count: 0,
            matched: Vec::new(),
            charge: Charge::default(),
            wanted: None,
            found: false,
            joined: false,
            regroup: None,
            rest: None,
            pace: Pace::default(),
        }
    }

    pub(crate) fn open(&mut self) {
        self.left.open();
        self.right.open();
        self.drop_rows();
    }

    pub(crate) fn forget(&mut self) {
        self.left.forget();
        self.right.forget();
        self.drop_rows();
    }

    fn drop_rows(&mut self) {
        self.filled = false;
        self.store.clear();
        self.count = 0;
        self.matched = Vec::new();
        self.charge.clear();
        self.wanted = None;
        self.regroup = None;
        self.rest = None;
    }

    pub(crate) fn next(&mut self, plan: &FullJoin, run: &mut Run<'_>) -> Result<bool, Stop> {
        if !self.filled {
            self.fill(plan, run)?;
            self.filled = true;
            if self.store.is_spilled() && !plan.keys.is_empty() {
                self.regroup = Some(Box::new(self.new_regroup(plan, run)?));
            }
        }
        if self.rest.is_none() {
            let given = match self.regroup.take() {
                None => self.next_joined(plan, run)?,
                Some(mut regroup) => {
                    let given = self.regrouped(&mut regroup, plan, run);
                    self.regroup = Some(regroup);
                    given?
                }
            };
            if given {
                return Ok(true);
            }
            self.regroup = None;
        }
        self.next_unmatched(plan, run)
    }

    fn fill(&mut self, plan: &FullJoin, run: &mut Run<'_>) -> Result<(), Stop> {
        loop {
            self.store.settle(&plan.keys, run)?;
            let is_complete = self.store.is_complete();
            let (store, count) = (&mut self.store, &mut self.count);
            let take = |run: &mut Run<'_>| {
                let mut row = values(plan.keys.iter().map(|key| &key.inner), run)?;
                row.extend(plan.carry.iter().map(|slot| run.slots[*slot].clone()));
                row.push(Value::BigInt(*count));
                *count += 1;
                store.push(&plan.keys, row);
                Ok(())
            };
            if is_complete || !self.right.take(&plan.right, run, take)? {
                self.store.finish(&plan.keys, run)?;
                if self.matched.is_empty() {
                    self.matched = vec![false; usize::try_from(self.count).unwrap_or(0)];
                    self.charge.keep(self.matched.len());
                }
                return self.charge.force(run);
            }
        }
    }

    fn new_regroup(&self, plan: &FullJoin, run: &Run<'_>) -> Result<Regroup, Fault> {
        let outer = live_slots(&plan.left, run.live);
        let mut results: Vec<usize> = plan.carry.iter().chain(&outer).copied().collect();
        let registers = plan.left_registers.iter().chain(&plan.right_registers);
        results.extend(registers.flat_map(|registers| registers.range()).filter(|slot| run.live.has(*slot)));
        results.sort_unstable();
        results.dedup();
        Regroup::new(outer, results, run)
    }

    /// Moves to the next row that a left row gives. False: there is none.
    fn next_joined(&mut self, plan: &FullJoin, run: &mut Run<'_>) -> Result<bool, Stop> {
        loop {
            if self.wanted.is_none() {
                let FullCursor { left, wanted, found, joined, .. } = self;
                let take = |run: &mut Run<'_>| {
                    *wanted = Some(outer_keys(plan, run)?);
                    (*found, *joined) = (false, false);
                    Ok(())
                };
                if !left.take(&plan.left, run, take)? {
                    return Ok(false);
                }
            }
            if self.next_of_row(plan, run)? {
                return Ok(true);
            }
        }
    }

    fn regrouped(&mut self, regroup: &mut Regroup, plan: &FullJoin, run: &mut Run<'_>) -> Result<bool, Stop> {
        while regroup.is_taking() {
            regroup.settle()?;
            let is_complete = regroup.is_complete();
            let put = |run: &mut Run<'_>| {
                regroup.put(RowStore::part_of(&plan.keys, &outer_keys(plan, run)?), run);
                Ok(())
            };
            if is_complete || !self.left.take(&plan.left, run, put)? {
                regroup.end_outer()?;
            }
        }
        loop {
            regroup.settle()?;
            if self.wanted.is_none() {
                if !regroup.next_outer(run)? {
                    return regroup.next_result(run);
                }
                self.wanted = Some(outer_keys(plan, run)?);
                (self.found, self.joined) = (false, false);
            }
            if self.next_of_row(plan, run)? {
                regroup.keep(run)?;
            }
        }
    }

    /// Moves to the next row that the left row at hand gives. False, and none is at hand any more: there is none.
    fn next_of_row(&mut self, plan: &FullJoin, run: &mut Run<'_>) -> Result<bool, Stop> {
        if self.partner(plan, run)? {
            return Ok(true);
        }
        if self.joined {
            self.wanted = None;
            return Ok(false);
        }
        self.joined = true;
        plan.right_registers.iter().for_each(|registers| run.slots[registers.range()].fill(Value::Null));
        Ok(true)
    }

    /// Moves to the next right row that the left row at hand is joined to.
    fn partner(&mut self, plan: &FullJoin, run: &mut Run<'_>) -> Result<bool, Stop> {
        let Some(wanted) = &self.wanted else {
            return Ok(false);
        };
        loop {
            self.pace.step()?;
            if !self.found {
                self.store.seek(&plan.keys, wanted, run)?;
                self.found = true;
            }
            let Some(row) = self.store.next(&plan.keys, wanted)? else {
                return Ok(false);
            };
            let number = read(row, plan, run);
            let joins = match &plan.on {
                None => true,
                Some(on) => on.holds(&mut run.env())?,
            };
            if joins {
                self.matched[number] = true;
                self.joined = true;
                return Ok(true);
            }
        }
    }

    /// Moves to the next right row that no left row was joined to.
    fn next_unmatched(&mut self, plan: &FullJoin, run: &mut Run<'_>) -> Result<bool, Stop> {
        self.pace.step()?;
        let (store, matched) = (&self.store, &self.matched);
        let rest = self.rest.get_or_insert_with(|| store.all());
        let Some(row) = rest.next(store, |row| !matched[number_of(row)])? else {
            return Ok(false);
        };
        plan.left_registers.iter().for_each(|registers| run.slots[registers.range()].fill(Value::Null));
        read(&row, plan, run);
        Ok(true)
    }
}

/// The keys of the left row at hand.
fn outer_keys(plan: &FullJoin, run: &mut Run<'_>) -> Result<Vec<Value>, Fault> {
    values(plan.keys.iter().map(|key| &key.outer), run)
}

/// The number of a right row, which is its last value.
fn number_of(row: &[Value]) -> usize {
    match row.last() {
        Some(Value::BigInt(number)) => usize::try_from(*number).unwrap_or(0),
        _ => 0,
    }
}

/// Leaves a right row in the slots; gives its number.
fn read(row: &[Value], plan: &FullJoin, run: &mut Run<'_>) -> usize {
    for (slot, value) in plan.carry.iter().zip(&row[plan.keys.len()..]) {
        run.slots[*slot].clone_from(value);
    }
    number_of(row)
}
