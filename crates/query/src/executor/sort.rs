//! Sorts: in memory, and what does not fit there as sorted runs on tapes that are merged. Rows that workers can make are sorted by them
//! where there is room ([`SharedSort`]); all of this is what the session does otherwise.
//!
//! ```text
//!   rows ──► memory ──full──► sorted ──► run on a tape        more runs than are merged at once: as many as that
//!                              last rows ──► run ──► merge    become one, until they are few enough
//! ```
//! Rows of equal keys keep the order in which they came: runs are in that order, and so are those that are merged.
//!
//! Rows in memory are sorted by the first bytes of their keys, a number that lies beside the row's place: their values are compared
//! only where those are the same and not all (see [`PrefixMaker`]).
//!
//! Of a sort under TOP only so many rows are asked. Whenever twice as many have come, the first ones of them are kept, and a row that
//! comes behind the last of those is not taken any more: after some rows most are left out by comparing their keys once.

use std::cmp::Ordering;
use std::collections::VecDeque;
use std::sync::Arc;

use super::Run;
use super::batch::SharedSort;
use super::cursor::Cursor;
use super::kept_rows::KeptRows;
use crate::access::{Pace, Stop};
use crate::executor::spill::{Charge, Merge, RUNS_MERGED_MAX, Tape, TapeWriter, row_bytes};
use crate::plan::{Node, SortKey};
use pikepole_types::{PrefixMaker, Value};

/// So few rows are not worth to be looked through for the first of them.
const ROWS_CUT_MIN: usize = 64;

/// The state of a [`Node::Sort`].
pub(crate) struct SortCursor {
    /// Workers that sort, where the rows are theirs to make.
    shared: Option<Box<SharedSort>>,
    input: Cursor,
    stage: Stage,
    /// How many rows are asked for.
    wanted: usize,
    /// The keys of the last row that is wanted of those that have come, and their prefix; none while all are.
    last_wanted: Option<(u128, Vec<Value>)>,
    /// The keys of the row that comes, and then its carried values.
    row: Vec<Value>,
    /// Per row, the sort keys and then the carried values.
    rows: KeptRows,
    /// The rows in the order in which they came, or sorted.
    order: Vec<Place>,
    prefixes: Option<PrefixMaker>,
    charge: Charge,
    next: usize,
    runs: Runs,
    pace: Pace,
}

/// A row in memory.
#[derive(Clone, Copy)]
struct Place {
    /// The first bytes of its keys.
    prefix: u128,
    /// The number of the kept row.
    row: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Workers sort, or it is not known yet that they do not.
    Shared,
    /// Rows come into memory.
    Reading,
    /// They are written as a run; `last`: no more will come.
    Writing { last: bool },
    /// Some runs become one.
    Merging,
    /// Rows are given.
    Giving,
}

/// The runs of a sort that has outgrown its memory.
#[derive(Default)]
struct Runs {
    /// In the order of their rows' coming.
    tapes: VecDeque<Arc<Tape>>,
    /// What earlier ones of them have become.
    merged: VecDeque<Arc<Tape>>,
    writer: Option<TapeWriter>,
    merge: Option<Merge>,
}

impl SortCursor {
    pub(crate) fn new(input: Cursor, shared: Option<SharedSort>) -> SortCursor {
        SortCursor {
            shared: shared.map(Box::new),
            input,
            stage: Stage::Shared,
            wanted: usize::MAX,
            last_wanted: None,
            row: Vec::new(),
            rows: KeptRows::default(),
            order: Vec::new(),
            prefixes: None,
            charge: Charge::default(),
            next: 0,
            runs: Runs::default(),
            pace: Pace::default(),
        }
    }

    pub(crate) fn open(&mut self) {
        self.drop_rows();
        self.shared.iter_mut().for_each(|shared| shared.open());
        self.input.open();
    }

    pub(crate) fn forget(&mut self) {
        self.drop_rows();
        // Room of megabytes is for one statement.
        (self.rows, self.order) = (KeptRows::default(), Vec::new());
        self.shared.iter_mut().for_each(|shared| shared.forget());
        self.input.forget();
    }

    fn drop_rows(&mut self) {
        self.stage = Stage::Shared;
        self.wanted = usize::MAX;
        self.last_wanted = None;
        self.rows.clear();
        self.order.clear();
        self.prefixes = None;
        self.charge.clear();
        self.next = 0;
        self.runs = Runs::default();
    }

    /// No more than so many rows will be asked for.
    pub(crate) fn want(&mut self, rows: u64) {
        self.wanted = usize::try_from(rows).unwrap_or(usize::MAX);
    }

    pub(crate) fn next(
        &mut self,
        node: &Node,
        keys: &[SortKey],
        carry: &[usize],
        run: &mut Run<'_>,
    ) -> Result<bool, Stop> {
        loop {
            match self.stage {
                Stage::Shared => {
                    if let Some(shared) = &mut self.shared
                        && let Some(given) = shared.next(node, (keys, carry, self.wanted), run)?
                    {
                        return Ok(given);
                    }
                    self.stage = Stage::Reading;
                }
                Stage::Reading => self.read(node, keys, carry, run)?,
                Stage::Writing { last } => self.write_run(last, run)?,
                Stage::Merging => self.merge_runs(keys, run)?,
                Stage::Giving => return self.give(keys, carry, run),
            }
        }
    }

    fn read(&mut self, node: &Node, keys: &[SortKey], carry: &[usize], run: &mut Run<'_>) -> Result<(), Stop> {
        loop {
            if !self.charge.settle_in_order(run)? || self.order.len() == KeptRows::ROWS_MAX {
                self.sort(keys);
                self.stage = Stage::Writing { last: false };
                return Ok(());
            }
            if self.order.len() / 2 >= self.wanted.max(ROWS_CUT_MIN) {
                self.cut(keys);
            }
            let SortCursor { input, last_wanted, row, rows, order, prefixes, charge, .. } = self;
            let prefixes = prefixes.get_or_insert_with(|| prefix_maker(keys));
            let take = |run: &mut Run<'_>| {
                row.clear();
                for own in keys {
                    row.push(own.expr.eval(&mut run.env())?);
                }
                let prefix = prefixes.prefix(row);
                if let Some((last_prefix, last)) = last_wanted {
                    let by_prefix = if prefixes.is_off() { Ordering::Equal } else { prefix.cmp(last_prefix) };
                    if by_prefix.then_with(|| compare_keys(keys, row, last)).is_ge() {
                        return Ok(());
                    }
                }
                row.extend(carry.iter().map(|slot| run.slots[*slot].clone()));
                charge.keep(row_bytes(row) + size_of::<Place>());
                order.push(Place { prefix, row: rows.push(row) });
                Ok(())
            };
            if !input.take(node, run, take)? {
                break;
            }
        }
        self.sort(keys);
        let in_memory = self.runs.tapes.is_empty();
        self.stage = if in_memory { Stage::Giving } else { Stage::Writing { last: true } };
        Ok(())
    }

    /// Keeps the rows that are wanted of those that have come.
    fn cut(&mut self, keys: &[SortKey]) {
        self.sort(keys);
        self.order.truncate(self.wanted);
        // They move down in the order of their coming, which their numbers stay in.
        let mut kept: Vec<&mut Place> = self.order.iter_mut().collect();
        kept.sort_unstable_by_key(|place| place.row);
        let mut bytes = 0;
        for (to, place) in (0..).zip(kept) {
            self.rows.put(place.row, to);
            place.row = to;
            bytes += row_bytes(self.rows.get(to)) + size_of::<Place>();
        }
        self.rows.truncate(self.order.len());
        self.last_wanted =
            self.order.last().map(|place| (place.prefix, self.rows.get(place.row)[..keys.len()].to_vec()));
        self.charge.clear();
        self.charge.keep(bytes);
    }

    /// A stable sort: the numbers of rows are in the order of their coming.
    fn sort(&mut self, keys: &[SortKey]) {
        let SortCursor { rows, order, prefixes, .. } = self;
        let (is_off, is_whole) = prefixes.as_ref().map_or((true, false), |known| (known.is_off(), known.is_whole()));
        if is_whole {
            order.sort_unstable_by_key(|place| (place.prefix, place.row));
            return;
        }
        let by_keys = |a: &Place, b: &Place| compare_keys(keys, rows.get(a.row), rows.get(b.row));
        order.sort_unstable_by(|a, b| {
            let by_prefix = if is_off { Ordering::Equal } else { a.prefix.cmp(&b.prefix) };
            by_prefix.then_with(|| by_keys(a, b)).then(a.row.cmp(&b.row))
        });
    }

    fn write_run(&mut self, last: bool, run: &Run<'_>) -> Result<(), Stop> {
        let writer = match &mut self.runs.writer {
            Some(writer) => writer,
            None => self.runs.writer.insert(TapeWriter::large(run)?),
        };
        loop {
            writer.settle()?;
            self.pace.step()?;
            let Some(place) = self.order.get(self.next) else { break };
            writer.push(self.rows.get(place.row));
            self.next += 1;
        }
        writer.finish()?;
        self.runs.tapes.extend(self.runs.writer.take().map(TapeWriter::into_tape));
        self.rows.clear();
        self.order.clear();
        self.next = 0;
        self.charge.clear();
        self.stage = if last { Stage::Merging } else { Stage::Reading };
        Ok(())
    }

    /// Makes one run of some, until all that are left are merged at once.
    fn merge_runs(&mut self, keys: &[SortKey], run: &Run<'_>) -> Result<(), Stop> {
        let runs = &mut self.runs;
        while runs.merged.len() + runs.tapes.len() > RUNS_MERGED_MAX || runs.merge.is_some() {
            let Some(merge) = &mut runs.merge else {
                let count = runs.tapes.len().min(RUNS_MERGED_MAX);
                let few: Vec<Arc<Tape>> = runs.tapes.drain(..count).collect();
                if few.is_empty() {
                    runs.tapes = std::mem::take(&mut runs.merged);
                    continue;
                }
                runs.merge = Some(Merge::new(&few));
                runs.writer = Some(TapeWriter::large(run)?);
                continue;
            };
            let Some(writer) = &mut runs.writer else {
                return Ok(());
            };
            loop {
                writer.settle()?;
                self.pace.step()?;
                let push = |row: Vec<Value>| {
                    writer.push(&row);
                    Ok(())
                };
                if merge.take(|a, b| compare_keys(keys, a, b), push)?.is_none() {
                    break;
                }
            }
            writer.finish()?;
            runs.merge = None;
            runs.merged.extend(runs.writer.take().map(TapeWriter::into_tape));
        }
        let all: Vec<Arc<Tape>> = runs.merged.drain(..).chain(runs.tapes.drain(..)).collect();
        runs.merge = Some(Merge::new(&all));
        self.stage = Stage::Giving;
        Ok(())
    }

    fn give(&mut self, keys: &[SortKey], carry: &[usize], run: &mut Run<'_>) -> Result<bool, Stop> {
        self.pace.step()?;
        if let Some(merge) = &mut self.runs.merge {
            let give = |row: Vec<Value>| {
                let values = row.into_iter().skip(keys.len());
                carry.iter().zip(values).for_each(|(slot, value)| run.slots[*slot] = value);
                Ok(())
            };
            return Ok(merge.take(|a, b| compare_keys(keys, a, b), give)?.is_some());
        }
        let Some(place) = self.order.get(self.next) else {
            return Ok(false);
        };
        let row = self.rows.get_mut(place.row);
        self.next += 1;
        for (slot, value) in carry.iter().zip(&mut row[keys.len()..]) {
            std::mem::swap(&mut run.slots[*slot], value);
        }
        Ok(true)
    }
}

fn prefix_maker(keys: &[SortKey]) -> PrefixMaker {
    PrefixMaker::new(keys.iter().map(|key| (key.descending, key.collation)))
}

/// The order of rows with these values of the keys.
pub(super) fn compare_keys(keys: &[SortKey], a: &[Value], b: &[Value]) -> Ordering {
    for (key, (a, b)) in keys.iter().zip(a.iter().zip(b)) {
        let ordering = key.order(a, b);
        let ordering = if key.descending { ordering.reverse() } else { ordering };
        if ordering.is_ne() {
            return ordering;
        }
    }
    Ordering::Equal
}
