//! Aggregates over whole columns, with groups or without.
//!
//! ```text
//!   worker 0:  batches ──► groups, their states ──┐
//!   worker 1:  batches ──► groups, their states ──┴──► session: all groups, in the order of their values where they are few
//! ```
//! Of a column of codes only its number of values, their sum, or the least or largest code is looked for, in a loop over
//! integers. All other values go to accumulators one by one. Over many rows workers aggregate a part each, and the parts are
//! merged. A table that is read without workers is aggregated row by row.
//!
//! Groups for which the session has no memory are made by workers a share at a time, and the rows are read again for each share:
//!
//! ```text
//!   all groups ──no room──► share 0 of 4 ──► given ──► share 1 of 4 ──no room──► shares 1, 5, 9 and 13 of 16 ──► given ...
//! ```
//! To read columns again costs less than to write rows to a file. Shares that would be too small are left to the operator over rows, which
//! can put groups on tapes: it makes all groups, and those that were given are passed over.

mod group_rows;
mod regrouping;

use std::sync::Arc;

pub(crate) use self::group_rows::GroupRows;
use self::regrouping::{Finer, Regrouping, expand_of};
use super::Batch;
use super::evaluate::evaluate;
use super::group_keys::GroupKeys;
use super::key_table::{RowKeys, Share};
use super::operator::Operator;
use super::sums::States;
use crate::access::{Pace, Stop};
use crate::executor::parallel::{self, Crew, Part, Worker};
use crate::executor::spill::{Budget, Charge};
use crate::executor::{Counts, Cursor, GROUPS_SORTED_MAX, Run};
use crate::expression::{Expr, Fault};
use crate::plan::{Aggregate, Node, SortKey};
use pikepole_contention::sync::atomic::{AtomicUsize, Ordering};
use pikepole_engine::Transaction;
use pikepole_types::Accumulator;

/// Bytes of what all workers make together for which the session's memory is only asked when they have ended.
pub(super) const PARTS_BYTES: usize = 64 << 20;

/// The rows are read so often at most.
const SHARES_MAX: u64 = 64;

/// Grouping values, and the slots that they go to.
type Keys = [(SortKey, usize)];

/// The groups over a part of the rows.
#[derive(Clone)]
pub(crate) struct Partial {
    keys: GroupKeys,
    states: Vec<States>,
    /// The group of each row at hand.
    places: Vec<u32>,
    /// True once a NULL was passed over.
    null_eliminated: bool,
}

impl Partial {
    /// None yet, or the only group that there is without grouping values.
    fn new(keys: &Keys, aggregates: &[Aggregate]) -> Result<Partial, Fault> {
        let states = aggregates.iter().map(States::new).collect::<Result<_, _>>()?;
        let known = GroupKeys::new(keys.iter().map(|(key, _)| key.collation));
        let mut partial = Partial { keys: known, states, places: Vec::new(), null_eliminated: false };
        if keys.is_empty() {
            partial.keys.find(&[], 1, 0, &mut partial.places);
            partial.states.iter_mut().for_each(|states| states.resize(1));
        }
        Ok(partial)
    }

    /// Takes the rows of a batch, which has this number.
    ///
    /// # Errors
    /// The error of the first row of the first grouping value or aggregate that has one.
    fn take(
        &mut self,
        (batch, number): (&Batch, u64),
        (keys, aggregates): (&Keys, &[Aggregate]),
        run: &mut Run<'_>,
    ) -> Result<(), Fault> {
        if keys.is_empty() {
            self.places.clear();
            self.places.resize(batch.rows, 0);
        } else {
            let of_key = |(key, _): &(SortKey, usize)| evaluate(&key.expr, batch, run);
            let values = keys.iter().map(of_key).collect::<Result<Vec<_>, _>>()?;
            self.keys.find(&values, batch.rows, number, &mut self.places);
        }
        for (aggregate, states) in aggregates.iter().zip(&mut self.states) {
            states.resize(self.keys.len());
            match &aggregate.input {
                None => states.add_rows(&self.places),
                Some(input) => {
                    let column = evaluate(input, batch, run)?;
                    self.null_eliminated |= match keys.is_empty() {
                        true => states.add_to_first(&column, &self.places)?,
                        false => states.add(&column, &self.places)?,
                    };
                }
            }
        }
        Ok(())
    }

    /// Bytes that it takes.
    fn bytes(&self) -> usize {
        self.keys.bytes() + self.keys.len() * self.states.iter().map(States::bytes_each).sum::<usize>()
    }

    fn merge(&mut self, other: &Partial) -> Result<(), Fault> {
        self.null_eliminated |= other.null_eliminated;
        self.keys.merge(&other.keys, &mut self.places);
        for (own, other) in self.states.iter_mut().zip(&other.states) {
            own.resize(self.keys.len());
            own.merge(other, 0, &self.places)?;
        }
        Ok(())
    }

    /// The numbers of the groups as they are to be given: few in the order of their values, many as the first rows of each have come.
    fn order(&self, keys: &Keys) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.keys.len() as u32).collect();
        order.sort_by_key(|&group| self.keys.first(group as usize));
        if order.len() <= GROUPS_SORTED_MAX && !keys.is_empty() {
            let values: Vec<Vec<_>> = (0..order.len()).map(|group| self.keys.values(group).collect()).collect();
            order.sort_by(|a, b| {
                let [a, b] = [a, b].map(|group| &values[*group as usize]);
                let mut orders = keys.iter().zip(a.iter().zip(b)).map(|((key, _), (a, b))| key.order(a, b));
                orders.find(|order| order.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
            });
        }
        order
    }

    /// Leaves a group's values and results in their slots.
    fn give(&self, group: usize, keys: &Keys, aggregates: &[Aggregate], run: &mut Run<'_>) -> Result<(), Fault> {
        for ((_, slot), value) in keys.iter().zip(self.keys.values(group)) {
            run.slots[*slot] = value;
        }
        for (aggregate, states) in aggregates.iter().zip(&self.states) {
            run.slots[aggregate.slot] = states.state(group)?.finish()?;
        }
        Ok(())
    }
}

/// The state of a [`Node::Group`] whose rows come in batches.
pub(crate) struct AggregateCursor {
    input: Operator,
    otherwise: Otherwise,
    stage: Stage,
    /// The share of the groups that is being made, and those that are to be made after it.
    share: Share,
    others: Vec<Share>,
    /// True where nothing asks for an order of the groups, nor changes the rows before all are given.
    divides: bool,
    /// The groups that workers make instead, where they are made of finer ones.
    finer: Option<Finer>,
    /// The counts of the workers' runs.
    counts: Option<Arc<Counts>>,
    charge: Charge,
    pace: Pace,
}

/// The maker of the groups where workers are not.
pub(crate) enum Otherwise {
    /// The session, of the same batches.
    Batches,
    /// A cursor over rows, where the input is for workers only.
    Rows(Box<Cursor>),
    /// The operator above turns to another way.
    Nothing,
}

enum Stage {
    /// No row was asked for.
    Fresh,
    /// The rows so far.
    Reading(Partial),
    /// Workers are at it; each leaves its part, and its transaction if it has one.
    Parallel(Started),
    /// All rows are in these.
    Merging(Vec<Counted>),
    /// The finer groups are there.
    Regrouping(Box<Regrouping>),
    /// Workers do not make them.
    Serial,
    /// Groups are given: in this order, so many so far.
    Giving(Partial, Vec<u32>, usize),
    /// They were given away.
    Given,
}

/// A part of the groups, and what it keeps.
type Counted = (Partial, Charge);

/// The work on each row: grouping values and aggregates, and the state in which each worker begins.
struct Work {
    keys: Box<Keys>,
    aggregates: Vec<Aggregate>,
    empty: Partial,
    share: Share,
    /// Memory of the session, which workers ask for more than so many bytes each.
    budget: Option<Arc<Budget>>,
    free: usize,
    /// The groups of a worker that has found no room for them; 0: each has found it.
    full_at: AtomicUsize,
}

impl Work {
    /// Notes that there is no room for so many groups.
    fn note_full(&self, groups: usize) {
        self.full_at.fetch_max(groups.max(1), Ordering::Relaxed);
    }
}

impl AggregateCursor {
    pub(crate) fn new(input: Operator, otherwise: Otherwise) -> AggregateCursor {
        let (share, others, charge) = (Share::ALL, Vec::new(), Charge::default());
        AggregateCursor {
            input,
            otherwise,
            stage: Stage::Fresh,
            share,
            others,
            divides: false,
            finer: None,
            counts: None,
            charge,
            pace: Pace::default(),
        }
    }

    fn serial(&mut self) -> Option<&mut Cursor> {
        match &mut self.otherwise {
            Otherwise::Rows(cursor) => Some(cursor),
            Otherwise::Batches | Otherwise::Nothing => None,
        }
    }

    /// The operator of the rows that workers share below groups with these keys.
    pub(crate) fn operator_of(input: &Node, keys: &Keys, aggregates: &[Aggregate]) -> Option<Operator> {
        let rows = expand_of(input).map_or(input, |expand| &expand.input);
        let is_shared = can_share(keys, aggregates) && expand_of(input).is_none();
        Operator::of_groups(rows).filter(|_| is_shared || Finer::of(input, keys, aggregates).is_some())
    }

    /// Has them made of finer ones, where they are such.
    pub(crate) fn of_finer(self, input: &Node, keys: &Keys, aggregates: &[Aggregate]) -> AggregateCursor {
        AggregateCursor { finer: Finer::of(input, keys, aggregates), ..self }
    }

    /// Lets workers make shares of the groups, in any order, where there is no room for all.
    pub(crate) fn divided(self, divides: bool) -> AggregateCursor {
        AggregateCursor { divides, ..self }
    }

    /// Has it counted what workers do.
    pub(crate) fn counted(self, counts: Option<Arc<Counts>>) -> AggregateCursor {
        AggregateCursor { counts, ..self }
    }

    pub(crate) fn open(&mut self) {
        self.input.open();
        self.serial().into_iter().for_each(Cursor::open);
        self.begin();
    }

    pub(crate) fn forget(&mut self) {
        self.input.forget();
        self.serial().into_iter().for_each(Cursor::forget);
        self.begin();
    }

    fn begin(&mut self) {
        self.stage = Stage::Fresh;
        (self.share, self.others) = (Share::ALL, Vec::new());
        self.charge.clear();
    }

    pub(crate) fn next(
        &mut self,
        group: &Node,
        node: &Node,
        (keys, aggregates): (&Keys, &[Aggregate]),
        run: &mut Run<'_>,
    ) -> Result<bool, Stop> {
        loop {
            self.make(node, (keys, aggregates), run)?;
            if let Stage::Giving(whole, order, next) = &mut self.stage {
                if let Some(&group) = order.get(*next) {
                    *next += 1;
                    whole.give(group as usize, keys, aggregates, run)?;
                    return Ok(true);
                }
                if !self.begin_share() {
                    return Ok(false);
                }
                continue;
            }
            let Some(serial) = self.serial() else { return Ok(false) };
            if !serial.give(group, run, |_| Ok(true))? {
                return Ok(false);
            }
            let key = keys.iter().map(|(key, slot)| (&run.slots[*slot], key.collation));
            if self.share.is_all() || self.others.iter().any(|share| share.has_row(key.clone())) {
                return Ok(true);
            }
            // Many that were given may lie one behind the other.
            self.pace.step()?;
        }
    }

    /// Begins with the next share. False: there is none.
    fn begin_share(&mut self) -> bool {
        let Some(share) = self.others.pop() else { return false };
        self.input.open();
        self.charge.clear();
        (self.share, self.stage) = (share, Stage::Fresh);
        true
    }

    /// There was no room for so many groups: smaller shares of them are made, or all that were not given row by row.
    fn divide(&mut self, groups: usize) {
        self.charge.clear();
        let can_divide = self.divides && self.finer.is_none() && matches!(self.otherwise, Otherwise::Rows(_));
        // So many are given in order.
        let is_worth = groups > GROUPS_SORTED_MAX || !self.share.is_all();
        match self.share.divided(SHARES_MAX).filter(|_| can_divide && is_worth) {
            Some(parts) => {
                self.others.extend(parts);
                self.begin_share();
            }
            None => {
                self.others.push(self.share);
                self.stage = Stage::Serial;
            }
        }
    }

    /// Goes on until all groups are there, or it is known that workers do not make them.
    fn make(&mut self, node: &Node, (keys, aggregates): (&Keys, &[Aggregate]), run: &mut Run<'_>) -> Result<(), Stop> {
        let expand = expand_of(node);
        let rows = expand.map_or(node, |expand| &expand.input);
        loop {
            self.stage = match &mut self.stage {
                Stage::Fresh => {
                    let finer = self.finer.as_ref().map(|finer| (&*finer.keys, &*finer.aggregates));
                    let (keys, aggregates) = finer.unwrap_or((keys, aggregates));
                    let empty = Partial::new(keys, aggregates)?;
                    match start(&mut self.input, (&empty, self.share), rows, (keys, aggregates), run)? {
                        Some(started) => Stage::Parallel(started),
                        None if matches!(self.otherwise, Otherwise::Batches) => Stage::Reading(empty),
                        None => {
                            self.others.push(self.share);
                            Stage::Serial
                        }
                    }
                }
                Stage::Parallel((crew, part)) => {
                    let parts = crew.made(self.counts.as_deref(), run)?;
                    // Relaxed: the workers have ended, which the team's lock has told.
                    match part.rest.full_at.load(Ordering::Relaxed) {
                        0 => Stage::Merging(parts),
                        groups => {
                            self.divide(groups);
                            continue;
                        }
                    }
                }
                Stage::Merging(parts) => {
                    parts.iter_mut().for_each(|(_, charge)| self.charge.take_over(std::mem::take(charge)));
                    if self.charge.settle(run)? || (keys.is_empty() && self.finer.is_none()) {
                        let whole = merged(std::mem::take(parts).into_iter().map(|(part, _)| part))?;
                        self.charge.clear();
                        let Some(whole) = whole else { return Ok(()) };
                        self.charge.keep(whole.bytes());
                        match self.finer {
                            Some(_) => Stage::Regrouping(Box::new(Regrouping::new(whole, (keys, aggregates))?)),
                            None => given(whole, keys, run),
                        }
                    } else {
                        let groups = parts.iter().map(|(part, _)| part.keys.len()).max().unwrap_or_default();
                        self.divide(groups);
                        continue;
                    }
                }
                Stage::Regrouping(groups) => {
                    let is_made = groups.fill(expand, (keys, aggregates), &mut self.charge, run)?;
                    match std::mem::replace(&mut self.stage, Stage::Serial) {
                        Stage::Regrouping(groups) if is_made => {
                            let whole = groups.finish();
                            self.charge.set(whole.bytes());
                            given(whole, keys, run)
                        }
                        _ => {
                            self.charge.clear();
                            Stage::Serial
                        }
                    }
                }
                Stage::Reading(partial) => {
                    let mut add = |batch: Batch, run: &mut Run<'_>| partial.take((&batch, 0), (keys, aggregates), run);
                    while self.input.take(node, run, &mut add)?.is_some() {}
                    given(partial.clone(), keys, run)
                }
                Stage::Serial | Stage::Giving(..) | Stage::Given => return Ok(()),
            };
        }
    }
}

/// All groups of parts: those of the largest part, and what the others have beside them.
fn merged(parts: impl Iterator<Item = Partial>) -> Result<Option<Partial>, Fault> {
    let mut parts: Vec<Partial> = parts.collect();
    parts.sort_by_key(|part| std::cmp::Reverse(part.keys.len()));
    let mut parts = parts.into_iter();
    let Some(mut whole) = parts.next() else { return Ok(None) };
    parts.try_for_each(|part| whole.merge(&part))?;
    Ok(Some(whole))
}

/// The stage in which all groups are known.
fn given(whole: Partial, keys: &Keys, run: &mut Run<'_>) -> Stage {
    run.null_eliminated |= whole.null_eliminated;
    let order = whole.order(keys);
    Stage::Giving(whole, order, 0)
}

/// True when workers could make these groups and aggregates, a part each.
pub(crate) fn can_share(keys: &Keys, aggregates: &[Aggregate]) -> bool {
    let is_plain = |aggregate: &Aggregate| !aggregate.distinct && aggregate.separator.is_none();
    let is_portable = |aggregate: &Aggregate| aggregate.input.as_ref().is_none_or(Expr::is_portable);
    let merges = |aggregate: &Aggregate| {
        let empty = Accumulator::new(aggregate.function, &aggregate.input_type, aggregate.collation);
        empty.is_ok_and(|empty| empty.merges())
    };
    let each = aggregates.iter().all(|aggregate| is_plain(aggregate) && is_portable(aggregate) && merges(aggregate));
    each && keys.iter().all(|(key, _)| key.expr.is_portable())
}

/// A worker's part of the groups, and the child it has read in.
type Left = (Counted, Option<Transaction>);

/// Workers, and what they share.
type Started = (Crew<Left>, Arc<Part<Work>>);

/// Starts workers over the rows, when they are many and the parts can be merged.
fn start(
    input: &mut Operator,
    (empty, share): (&Partial, Share),
    node: &Node,
    (keys, aggregates): (&Keys, &[Aggregate]),
    run: &mut Run<'_>,
) -> Result<Option<Started>, Stop> {
    if !can_share(keys, aggregates) {
        return Ok(None);
    }
    let Some(mut workers) = parallel::workers(input, node, run)? else {
        return Ok(None);
    };
    if input.reads_table() {
        parallel::give_readers(&mut workers, run)?;
    }
    let (budget, free) = (run.budget().cloned(), PARTS_BYTES / workers.len().max(1));
    let (aggregates, empty, full_at) = (aggregates.to_vec(), empty.clone(), AtomicUsize::new(0));
    let rest = Work { keys: keys.into(), aggregates, empty, share, budget, free, full_at };
    let part = Arc::new(Part { node: node.clone(), live: run.live.clone(), rest });
    let jobs = workers.into_iter().map(|worker| (worker, ())).collect();
    let work = |worker, ()| aggregate(worker, Arc::clone(&part));
    let crew = Crew::start(jobs, run.worker_info("SELECT"), None, work);
    Ok(crew.map(|crew| (crew, part)))
}

/// The work of a worker.
async fn aggregate(mut worker: Worker, part: Arc<Part<Work>>) -> (Left, Result<(), (u64, Fault)>) {
    let mut counted = (part.rest.empty.clone(), Charge::of_worker(part.rest.budget.as_ref()));
    let result = fill(&mut counted, &mut worker, &part).await;
    let result = result.map_err(|fault| worker.failed(fault));
    ((counted, worker.child), result)
}

async fn fill((partial, charge): &mut Counted, worker: &mut Worker, part: &Part<Work>) -> Result<(), Fault> {
    let Work { keys, aggregates, share, free, full_at, .. } = &part.rest;
    loop {
        worker.meet_readers().await?;
        // Relaxed: one that sees it late does some work in vain.
        if full_at.load(Ordering::Relaxed) > 0 {
            *partial = part.rest.empty.clone();
            charge.clear();
            return Ok(());
        }
        let Some(mut batch) = worker.next(part).await? else {
            return Ok(());
        };
        let (mut run, operator) = worker.run(part);
        if !share.is_all() {
            let row_keys = RowKeys::of(keys.iter().map(|(key, _)| (&key.expr, key.collation)), &batch, &mut run)?;
            batch = batch.take(&row_keys.of_share(*share, batch.rows));
        }
        if batch.rows > 0 {
            partial.take((&batch, operator.ordinal()), (keys, aggregates), &mut run)?;
        }
        charge.set(partial.bytes());
        if !charge.settle_beyond(*free) {
            part.rest.note_full(partial.keys.len());
        }
    }
}
