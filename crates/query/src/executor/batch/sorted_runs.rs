//! Sorts of rows that workers make: each worker sorts its own, and the session merges.
//!
//! ```text
//!   worker 0:  batches ──► keys, first bytes of them ──► pieces, sorted ──► one ──► its rows, in order ──┐
//!   worker 1:  batches ──► keys, first bytes of them ──► pieces, sorted ──► one ──► its rows, in order ──┴──► session: merged
//! ```
//! A worker sorts the places of its rows, each with the first bytes of its keys ([`PrefixMaker`]): a piece as soon as its rows
//! have come. It merges pieces of about the same size: so it never works for long without looking whether others wait for its
//! scheduler. Graefe, "Implementing sorting in database systems" (2006), has both. The rows stay in their batches until all have come; then
//! the worker puts them in order, column by column: the session would wait for memory with each row that it gave from here and there.
//!
//! Of a sort under TOP each worker keeps the first rows alone, and leaves out what comes behind the last of them.
//!
//! Workers ask for the session's memory as they go, and do not wait for it: where there is none, the session sorts row by row, and can
//! put runs on tapes. Rows of equal keys come in the order in which one task would have read them, as those of that sort do.

use std::cmp::Ordering;
use std::sync::Arc;

use super::aggregate::PARTS_BYTES;
use super::evaluate::evaluate;
use super::operator::Operator;
use super::vector::{Vector, VectorBuilder};
use super::{BATCH_ROWS, Batch};
use crate::access::{Pace, Stop};
use crate::executor::parallel::{self, Crew, Part, Worker};
use crate::executor::sort::compare_keys;
use crate::executor::spill::{Budget, Charge};
use crate::executor::{Counts, Run};
use crate::expression::{Expr, Fault};
use crate::plan::{Node, SortKey};
use pikepole_contention::sync::atomic::{self, AtomicBool};
use pikepole_engine::Transaction;
use pikepole_scheduler as scheduler;
use pikepole_types::{PrefixMaker, Value};

/// Places that are sorted at once: some milliseconds of work. The tables of tests are not so large.
const PIECE_ROWS: usize = if cfg!(test) { 512 } else { 8 * BATCH_ROWS };

/// Places that are merged before others may have the scheduler.
const MERGED_AT_ONCE: usize = if cfg!(test) { 100 } else { 16 * BATCH_ROWS };

/// So few rows are not worth to be looked through for the first of them.
const CUT_ROWS_MIN: usize = if cfg!(test) { 64 } else { BATCH_ROWS };

/// The rows of a batch, and the keys of each.
struct KeyedBatch {
    /// The number that tells which of several workers' batches comes first.
    ordinal: u64,
    batch: Batch,
    keys: Vec<Vector>,
}

/// A row of a run.
#[derive(Clone, Copy)]
struct Place {
    /// The first bytes of its keys, as two numbers: so a place takes 24 bytes.
    prefix: [u64; 2],
    batch: u32,
    row: u32,
}

fn halves(prefix: u128) -> [u64; 2] {
    [(prefix >> 64) as u64, prefix as u64]
}

/// The rows of a worker.
struct SortedRun {
    /// As they have come; in the end in order, so many rows in each.
    batches: Vec<KeyedBatch>,
    /// The numbers of the batches as they had come.
    ordinals: Vec<u64>,
    /// Sorted each; the last ones have the last rows.
    pieces: Vec<Vec<Place>>,
    /// Of the rows that are in no piece yet, in the order of their coming.
    coming: Vec<Place>,
    prefixes: PrefixMaker,
    /// The keys of the last row that is wanted of those that have come, and their prefix; none while all are.
    last_wanted: Option<([u64; 2], Vec<Value>)>,
    /// Bytes of the batches.
    bytes: usize,
}

/// Compares rows of batches by their keys.
#[derive(Default)]
struct Comparer {
    values: [Value; 2],
}

impl Comparer {
    fn compare(&mut self, keys: &[SortKey], a: (&KeyedBatch, u32), b: (&KeyedBatch, u32)) -> Ordering {
        let [left, right] = &mut self.values;
        for (at, key) in keys.iter().enumerate() {
            a.0.keys[at].read(a.1 as usize, left);
            b.0.keys[at].read(b.1 as usize, right);
            let ordering = key.order(left, right);
            let ordering = if key.descending { ordering.reverse() } else { ordering };
            if ordering.is_ne() {
                return ordering;
            }
        }
        Ordering::Equal
    }
}

impl SortedRun {
    fn new(keys: &[SortKey]) -> SortedRun {
        SortedRun {
            batches: Vec::new(),
            ordinals: Vec::new(),
            pieces: Vec::new(),
            coming: Vec::new(),
            prefixes: PrefixMaker::new(keys.iter().map(|key| (key.descending, key.collation))),
            last_wanted: None,
            bytes: 0,
        }
    }

    /// Takes the rows of a batch that may be wanted.
    ///
    /// # Errors
    /// The error of the first row of the first key that has one.
    fn take(&mut self, (batch, ordinal): (Batch, u64), work: &Work, run: &mut Run<'_>) -> Result<(), Fault> {
        let keys: Vec<Vector> =
            work.keys.iter().map(|key| evaluate(&key.expr, &batch, run)).collect::<Result<_, _>>()?;
        let number = self.batches.len() as u32;
        let begun = self.coming.len();
        let mut values = vec![Value::Null; keys.len()];
        for row in 0..batch.rows {
            keys.iter().zip(&mut values).for_each(|(key, value)| key.read(row, value));
            let prefix = halves(self.prefixes.prefix(&values));
            if self.is_wanted(prefix, &values, &work.keys) {
                self.coming.push(Place { prefix, batch: number, row: row as u32 });
            }
        }
        if self.coming.len() == begun {
            return Ok(());
        }
        let mut own = Batch::new(batch.rows);
        for &slot in &work.carry {
            own.set(slot, evaluate(&Expr::Slot(slot), &batch, run)?);
        }
        let mut keyed = KeyedBatch { ordinal, batch: own, keys };
        keyed.keep(&mut self.coming[begun..]);
        self.bytes += keyed.bytes();
        self.batches.push(keyed);
        Ok(())
    }

    /// False for a row that comes behind as many as are wanted.
    fn is_wanted(&self, prefix: [u64; 2], values: &[Value], keys: &[SortKey]) -> bool {
        let Some((last_prefix, last)) = &self.last_wanted else { return true };
        let by_prefix = if self.prefixes.is_off() { Ordering::Equal } else { prefix.cmp(last_prefix) };
        by_prefix.then_with(|| compare_keys(keys, values, last)).is_lt()
    }

    /// The number of its rows.
    fn rows(&self) -> usize {
        self.pieces.iter().map(Vec::len).sum::<usize>() + self.coming.len()
    }

    /// Bytes that it takes, and those that merging takes beside them.
    fn bytes(&self) -> usize {
        self.bytes + self.rows() * 2 * size_of::<Place>()
    }

    /// Sorts the rows that have come since the last piece.
    fn end_piece(&mut self, keys: &[SortKey]) {
        let mut piece = std::mem::take(&mut self.coming);
        let mut comparer = Comparer::default();
        match self.prefixes.is_whole() {
            true => piece.sort_unstable_by_key(|place| (place.prefix, place.batch, place.row)),
            false => piece.sort_unstable_by(|a, b| self.order_of(a, b, keys, &mut comparer)),
        }
        self.pieces.push(piece);
    }

    fn order_of(&self, a: &Place, b: &Place, keys: &[SortKey], comparer: &mut Comparer) -> Ordering {
        let by_prefix = if self.prefixes.is_off() { Ordering::Equal } else { a.prefix.cmp(&b.prefix) };
        let row = |place: &Place| (&self.batches[place.batch as usize], place.row);
        // Most rows whose first bytes are the same would have to be looked up in memory.
        let is_whole = self.prefixes.is_whole();
        let by_keys = || if is_whole { Ordering::Equal } else { comparer.compare(keys, row(a), row(b)) };
        by_prefix.then_with(by_keys).then_with(|| (a.batch, a.row).cmp(&(b.batch, b.row)))
    }

    /// Merges the last pieces while they are of about the same size, or `all` of them.
    async fn merge(&mut self, keys: &[SortKey], all: bool) {
        while let [.., before, last] = self.pieces.as_slice()
            && (all || before.len() <= 2 * last.len())
        {
            let mut merged = Vec::with_capacity(before.len() + last.len());
            let (mut from_before, mut from_last) = (0, 0);
            let mut comparer = Comparer::default();
            while merged.len() < merged.capacity() {
                let end = merged.capacity().min(merged.len() + MERGED_AT_ONCE);
                while merged.len() < end {
                    let is_before = match (before.get(from_before), last.get(from_last)) {
                        (Some(a), Some(b)) => self.order_of(a, b, keys, &mut comparer).is_le(),
                        (a, _) => a.is_some(),
                    };
                    let (piece, at) = if is_before { (before, &mut from_before) } else { (last, &mut from_last) };
                    merged.push(piece[*at]);
                    *at += 1;
                }
                scheduler::yield_if_due().await;
            }
            self.pieces.truncate(self.pieces.len() - 2);
            self.pieces.push(merged);
        }
    }

    /// Puts the rows of the one piece in order, so many in each batch.
    ///
    /// # Errors
    /// As of [`Worker::look`].
    async fn put_in_order(&mut self, work: &Work, worker: &Worker) -> Result<(), Fault> {
        let places = self.pieces.first().map_or(&[][..], Vec::as_slice);
        let nothing = Vector::Same(Value::Null);
        let of_slot = |&slot: &usize| -> Vec<&Vector> {
            self.batches.iter().map(|keyed| keyed.batch.column(slot).unwrap_or(&nothing)).collect()
        };
        let of_key = |(at, key): (usize, &SortKey)| -> Vec<&Vector> {
            let is_given = given_slot(key, &work.carry).is_some();
            let batches = self.batches.iter().filter(|_| !is_given);
            batches.map(|keyed| keyed.keys.get(at).unwrap_or(&nothing)).collect()
        };
        let columns: Vec<Vec<&Vector>> = work.carry.iter().map(of_slot).collect();
        let key_columns: Vec<Vec<&Vector>> = work.keys.iter().enumerate().map(of_key).collect();
        let mut in_order = Vec::with_capacity(places.len().div_ceil(BATCH_ROWS));
        for places in places.chunks(BATCH_ROWS) {
            let gather = |columns: &[&Vector]| {
                let mut rows = VectorBuilder::new();
                places.iter().for_each(|place| rows.push_row(columns[place.batch as usize], place.row as usize));
                rows.finish()
            };
            let mut batch = Batch::new(places.len());
            work.carry.iter().zip(&columns).for_each(|(slot, columns)| batch.set(*slot, gather(columns)));
            let key = |(key, columns): (&SortKey, &Vec<&Vector>)| match given_slot(key, &work.carry) {
                Some(slot) => batch.column(slot).unwrap_or(&nothing).clone(),
                None => gather(columns),
            };
            let keys = work.keys.iter().zip(&key_columns).map(key).collect();
            in_order.push(KeyedBatch { ordinal: 0, batch, keys });
            scheduler::yield_if_due().await;
            worker.look()?;
        }
        self.ordinals = self.batches.iter().map(|keyed| keyed.ordinal).collect();
        self.batches = in_order;
        Ok(())
    }

    /// Keeps so many rows, the first ones of all; they are one piece.
    fn cut(&mut self, wanted: usize, keys: &[SortKey]) {
        let Some(piece) = self.pieces.first_mut().filter(|piece| piece.len() >= wanted) else { return };
        piece.truncate(wanted);
        let Some(last) = piece.last().copied() else { return };
        let last_batch = &self.batches[last.batch as usize];
        let mut values = vec![Value::Null; keys.len()];
        last_batch.keys.iter().zip(&mut values).for_each(|(key, value)| key.read(last.row as usize, value));
        self.last_wanted = Some((last.prefix, values));
        // The places of each batch, by the numbers of the rows.
        let mut places: Vec<&mut Place> = piece.iter_mut().collect();
        places.sort_unstable_by_key(|place| (place.batch, place.row));
        let mut batches = Vec::new();
        self.bytes = 0;
        for of_batch in places.chunk_by_mut(|a, b| a.batch == b.batch) {
            let Some(first) = of_batch.first() else { continue };
            let from = &mut self.batches[first.batch as usize];
            let mut kept = KeyedBatch { ordinal: from.ordinal, batch: Batch::default(), keys: Vec::new() };
            std::mem::swap(&mut kept, from);
            let mut own: Vec<Place> = of_batch.iter().map(|place| **place).collect();
            kept.keep(&mut own);
            for (place, own) in of_batch.iter_mut().zip(own) {
                (place.batch, place.row) = (batches.len() as u32, own.row);
            }
            self.bytes += kept.bytes();
            batches.push(kept);
        }
        self.batches = batches;
    }
}

/// The slot of a key that is a column which is given, too.
fn given_slot(key: &SortKey, carry: &[usize]) -> Option<usize> {
    match key.expr {
        Expr::Slot(slot) => carry.contains(&slot).then_some(slot),
        _ => None,
    }
}

impl KeyedBatch {
    /// Lets the rows go that have no place, where these are many. The places are in the order of the rows.
    fn keep(&mut self, places: &mut [Place]) {
        if places.len() * 2 > self.batch.rows {
            return;
        }
        let rows: Vec<u32> = places.iter().map(|place| place.row).collect();
        self.batch = self.batch.take(&rows);
        self.keys.iter_mut().for_each(|key| *key = key.take(&rows));
        (0..).zip(places).for_each(|(row, place)| place.row = row);
    }

    fn bytes(&self) -> usize {
        let rows = self.batch.rows;
        let columns = self.batch.slots().map(|(_, column)| column).chain(&self.keys);
        size_of::<KeyedBatch>() + columns.map(|column| size_of::<Vector>() + column.bytes(rows)).sum::<usize>()
    }
}

/// The question that workers share, and the room for what they sort.
struct Work {
    keys: Vec<SortKey>,
    /// The columns that are given.
    carry: Vec<usize>,
    /// The number of rows that are asked for.
    wanted: usize,
    /// Memory of the session, which workers ask for more than so many bytes each.
    budget: Option<Arc<Budget>>,
    free: usize,
    /// A worker has found no room.
    is_full: AtomicBool,
}

/// Rows of a worker, and what they keep.
type Counted = (SortedRun, Charge);

/// The outcome of a worker, and the child it has read in.
type Left = (Counted, Option<Transaction>);

/// A sort whose rows workers make.
pub(crate) struct SharedSort {
    operator: Operator,
    stage: Stage,
    counts: Option<Arc<Counts>>,
    charge: Charge,
    pace: Pace,
}

enum Stage {
    /// No row was asked for.
    Fresh,
    /// Workers are at it.
    Workers(Crew<Left>, Arc<Part<Work>>),
    /// All rows are in these.
    Sorted(Vec<SortedRun>),
    /// Rows are given.
    Giving(Box<Merge>),
    /// Workers do not sort them.
    Serial,
}

impl SharedSort {
    /// The operator of the rows that workers share below a sort by these keys.
    pub(crate) fn operator_of(input: &Node, keys: &[SortKey]) -> Option<Operator> {
        let is_portable = keys.iter().all(|key| key.expr.is_portable());
        is_portable.then(|| Operator::of_groups(input)).flatten()
    }

    pub(crate) fn new(operator: Operator, counts: Option<Arc<Counts>>) -> SharedSort {
        SharedSort { operator, stage: Stage::Fresh, counts, charge: Charge::default(), pace: Pace::default() }
    }

    /// Starts over.
    pub(crate) fn open(&mut self) {
        self.operator.open();
        self.stage = Stage::Fresh;
        self.charge.clear();
    }

    /// See [`Operator::forget`].
    pub(crate) fn forget(&mut self) {
        self.operator.forget();
        self.stage = Stage::Fresh;
        self.charge.clear();
    }

    /// Moves to the next row, of so many that are asked for. None: workers do not sort them.
    pub(crate) fn next(
        &mut self,
        node: &Node,
        (keys, carry, wanted): (&[SortKey], &[usize], usize),
        run: &mut Run<'_>,
    ) -> Result<Option<bool>, Stop> {
        loop {
            self.stage = match &mut self.stage {
                Stage::Fresh => match start(&mut self.operator, node, (keys, carry, wanted), run)? {
                    Some((crew, part)) => Stage::Workers(crew, part),
                    None => Stage::Serial,
                },
                Stage::Workers(crew, part) => {
                    let counted = crew.made(self.counts.as_deref(), run)?;
                    // Relaxed: the workers have ended, which the team's lock has told.
                    match part.rest.is_full.load(atomic::Ordering::Relaxed) {
                        true => Stage::Serial,
                        false => {
                            let (runs, charges): (Vec<SortedRun>, Vec<Charge>) = counted.into_iter().unzip();
                            charges.into_iter().for_each(|own| self.charge.take_over(own));
                            Stage::Sorted(runs)
                        }
                    }
                }
                Stage::Sorted(runs) => match self.charge.settle(run)? {
                    true => Stage::Giving(Box::new(Merge::new(std::mem::take(runs), keys))),
                    false => Stage::Serial,
                },
                Stage::Giving(merge) => {
                    self.pace.step()?;
                    return Ok(Some(merge.give(keys, run)));
                }
                Stage::Serial => {
                    self.charge.clear();
                    return Ok(None);
                }
            };
        }
    }
}

/// Starts workers over the rows, when they are many.
#[expect(clippy::type_complexity, reason = "the crew and what it shares, taken apart at once")]
fn start(
    operator: &mut Operator,
    node: &Node,
    (keys, carry, wanted): (&[SortKey], &[usize], usize),
    run: &mut Run<'_>,
) -> Result<Option<(Crew<Left>, Arc<Part<Work>>)>, Stop> {
    let Some(mut workers) = parallel::workers(operator, node, run)? else {
        return Ok(None);
    };
    parallel::give_readers(&mut workers, run)?;
    let (budget, free) = (run.budget().cloned(), PARTS_BYTES / workers.len().max(1));
    let (keys, carry) = (keys.to_vec(), carry.to_vec());
    let rest = Work { keys, carry, wanted, budget, free, is_full: AtomicBool::new(false) };
    let part = Arc::new(Part { node: node.clone(), live: run.live.clone(), rest });
    let jobs = workers.into_iter().map(|worker| (worker, ())).collect();
    let crew = Crew::start(jobs, run.worker_info("SELECT"), None, |worker, ()| sort(worker, Arc::clone(&part)));
    Ok(crew.map(|crew| (crew, part)))
}

/// The work of a worker.
async fn sort(mut worker: Worker, part: Arc<Part<Work>>) -> (Left, Result<(), (u64, Fault)>) {
    let mut counted = (SortedRun::new(&part.rest.keys), Charge::of_worker(part.rest.budget.as_ref()));
    let result = sort_rows(&mut counted, &mut worker, &part).await;
    let result = result.map_err(|fault| worker.failed(fault));
    ((counted, worker.child), result)
}

async fn sort_rows((sorted, charge): &mut Counted, worker: &mut Worker, part: &Part<Work>) -> Result<(), Fault> {
    let Work { keys, wanted, free, is_full, .. } = &part.rest;
    loop {
        worker.meet_readers().await?;
        // Relaxed: one that sees it late does some work in vain.
        if is_full.load(atomic::Ordering::Relaxed) {
            *sorted = SortedRun::new(keys);
            charge.clear();
            return Ok(());
        }
        let batch = worker.next(part).await?;
        let is_last = batch.is_none();
        if let Some(batch) = batch {
            let (mut run, operator) = worker.run(part);
            let ordinal = operator.ordinal();
            sorted.take((batch, ordinal), &part.rest, &mut run)?;
        }
        let is_cut = is_last || sorted.rows() / 2 >= (*wanted).max(CUT_ROWS_MIN);
        if is_cut || sorted.coming.len() >= PIECE_ROWS {
            sorted.end_piece(keys);
            sorted.merge(keys, is_cut).await;
            if is_cut {
                sorted.cut(*wanted, keys);
            }
            worker.look()?;
        }
        // In the end all rows are there twice for a while.
        charge.set(sorted.bytes() + if is_last { sorted.bytes } else { 0 });
        if !charge.settle_beyond(*free) {
            is_full.store(true, atomic::Ordering::Relaxed);
        } else if is_last {
            sorted.put_in_order(&part.rest, worker).await?;
            charge.set(sorted.bytes());
            return Ok(());
        }
    }
}

/// Runs as one.
struct Merge {
    runs: Vec<SortedRun>,
    /// The next place of each run.
    next: Vec<usize>,
    /// The runs that have rows, the one with the first row last.
    order: Vec<usize>,
    /// True where prefixes of all runs compare.
    has_prefixes: bool,
    /// True where those that are the same are those of equal keys.
    is_whole: bool,
    comparer: Comparer,
}

impl Merge {
    fn new(runs: Vec<SortedRun>, keys: &[SortKey]) -> Merge {
        let agrees = |run: &SortedRun| runs.iter().all(|other| run.prefixes.agrees(&other.prefixes));
        let has_prefixes = runs.iter().all(agrees);
        let is_whole = has_prefixes && runs.iter().all(|run| run.prefixes.is_whole());
        let (next, order) = (vec![0; runs.len()], Vec::with_capacity(runs.len()));
        let mut merge = Merge { runs, next, order, has_prefixes, is_whole, comparer: Comparer::default() };
        (0..merge.runs.len()).for_each(|run| merge.put_in_order(run, keys));
        merge
    }

    /// The place of the first row of a run that was not given, and the row.
    fn head(&self, run: usize) -> Option<(&Place, (&KeyedBatch, u32))> {
        let (run, next) = (&self.runs[run], self.next[run]);
        let place = run.pieces.first()?.get(next)?;
        Some((place, (run.batches.get(next / BATCH_ROWS)?, (next % BATCH_ROWS) as u32)))
    }

    /// The number of the batch in which a row has come: a batch is one worker's, and so are all of its number.
    fn ordinal(&self, run: usize, place: &Place) -> u64 {
        self.runs[run].ordinals[place.batch as usize]
    }

    fn put_in_order(&mut self, run: usize, keys: &[SortKey]) {
        let mut comparer = std::mem::take(&mut self.comparer);
        if let Some((own, own_row)) = self.head(run) {
            let is_later = |other: &usize| {
                let Some((place, row)) = self.head(*other) else { return false };
                let by_prefix = if self.has_prefixes { place.prefix.cmp(&own.prefix) } else { Ordering::Equal };
                let by_keys = || if self.is_whole { Ordering::Equal } else { comparer.compare(keys, row, own_row) };
                let by_coming = || self.ordinal(*other, place).cmp(&self.ordinal(run, own));
                by_prefix.then_with(by_keys).then_with(by_coming).is_gt()
            };
            let at = self.order.partition_point(is_later);
            self.order.insert(at, run);
        }
        self.comparer = comparer;
    }

    /// Leaves the next row in the slots. False: there is none.
    fn give(&mut self, keys: &[SortKey], run: &mut Run<'_>) -> bool {
        let Some(first) = self.order.pop() else { return false };
        if let Some((_, (keyed, row))) = self.head(first) {
            keyed.batch.read(row as usize, run.slots);
        }
        self.next[first] += 1;
        self.put_in_order(first, keys);
        true
    }
}
