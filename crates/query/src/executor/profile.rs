//! What the operators of a running plan have done: rows, openings and time, for SET STATISTICS PROFILE and XML.
//!
//! An operator is known by its address: a plan does not move while it runs. Where nobody asks, cursors are built without their
//! counting shells and cost what they always cost. Operators that run in batches are counted where their rows leave the batch.

use std::collections::HashMap;
use std::time::Instant;

use super::Run;
use super::cursor::Cursor;
use crate::access::Stop;
use crate::executor::parallel::WorkerRun;
use crate::plan::{LiveSlots, Node};
use pikepole_contention::sync::atomic::{AtomicU64, Ordering};
use pikepole_contention::sync::{Arc, Mutex};

/// What cursors are built with.
#[derive(Clone, Copy)]
pub(crate) struct Making<'a> {
    /// The slots that the statement reads.
    pub(crate) live: &'a LiveSlots,
    /// Where operators count what they do.
    pub(crate) profile: Option<&'a Profile>,
    /// Whether rows may come in another order than that of their source: nobody asks the scan below where it stands.
    pub(crate) regroups: bool,
    /// It runs once, so that all rows of a join may be made before the first one is given.
    pub(crate) gathers: bool,
    /// The scan below gives the versions of rows that others claim, which the cursor above asks about.
    pub(crate) tells: bool,
}

impl<'a> Making<'a> {
    /// Cursors that count nothing.
    pub(crate) fn plain(live: &'a LiveSlots) -> Making<'a> {
        Making { live, profile: None, regroups: true, gathers: false, tells: false }
    }
}

/// The counts of a plan's operators.
#[derive(Default)]
pub(crate) struct Profile(Mutex<HashMap<usize, Arc<Counts>>>);

/// What one operator has done. One task counts; others may hold the same cursor later.
#[derive(Default)]
pub(crate) struct Counts {
    rows: AtomicU64,
    openings: AtomicU64,
    calls: AtomicU64,
    time_ns: AtomicU64,
    /// The runs of the workers that shared it.
    workers: Mutex<Vec<WorkerRun>>,
}

impl Counts {
    /// Adds the rows of a batch.
    pub(crate) fn add_batch(&self, rows: u64) {
        self.rows.fetch_add(rows, Ordering::Relaxed);
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    /// Adds what workers have done.
    pub(crate) fn add_workers(&self, runs: Vec<WorkerRun>) {
        self.workers().extend(runs);
    }

    fn workers(&self) -> pikepole_contention::sync::MutexGuard<'_, Vec<WorkerRun>> {
        self.workers.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// What one operator has done, at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counted {
    /// Rows given.
    pub(crate) rows: u64,
    /// How often it was opened.
    pub(crate) openings: u64,
    /// Time within it and what is below it, waits left out; None where only rows are known.
    pub(crate) time_us: Option<u64>,
}

impl Profile {
    /// The counts of an operator that is being built.
    pub(crate) fn counts(&self, node: &Node) -> Arc<Counts> {
        Arc::clone(self.operators().entry(std::ptr::from_ref(node).addr()).or_default())
    }

    /// What an operator has done; None when it was not asked row by row, since it ran within a batch or in workers.
    pub(crate) fn of(&self, node: &Node) -> Option<Counted> {
        let counts = Arc::clone(self.operators().get(&std::ptr::from_ref(node).addr())?);
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let openings = read(&counts.openings);
        let was_asked = openings == 0 || read(&counts.calls) > 0;
        let time_us = Some(read(&counts.time_ns) / 1000);
        was_asked.then(|| Counted { rows: read(&counts.rows), openings, time_us })
    }

    /// The runs of the workers that shared an operator.
    pub(crate) fn workers(&self, node: &Node) -> Vec<WorkerRun> {
        self.operators().get(&std::ptr::from_ref(node).addr()).map_or_else(Vec::new, |counts| counts.workers().clone())
    }

    /// Back to nothing, for the next run of the plan.
    pub(crate) fn clear(&self) {
        for counts in self.operators().values() {
            for counter in [&counts.rows, &counts.openings, &counts.calls, &counts.time_ns] {
                counter.store(0, Ordering::Relaxed);
            }
            counts.workers().clear();
        }
    }

    fn operators(&self) -> pikepole_contention::sync::MutexGuard<'_, HashMap<usize, Arc<Counts>>> {
        // Every change is one insertion.
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// A cursor whose rows are counted.
pub(crate) struct CountedCursor {
    pub(super) inner: Cursor,
    counts: Arc<Counts>,
}

impl CountedCursor {
    pub(crate) fn new(node: &Node, inner: Cursor, profile: &Profile) -> CountedCursor {
        CountedCursor { inner, counts: profile.counts(node) }
    }

    /// Starts over.
    pub(crate) fn open(&mut self) {
        self.counts.openings.fetch_add(1, Ordering::Relaxed);
        self.inner.open();
    }

    /// Moves to the next row.
    pub(crate) fn next(&mut self, node: &Node, run: &mut Run<'_>) -> Result<bool, Stop> {
        let began = Instant::now();
        let found = self.inner.give(node, run, |_| Ok(true));
        self.count(began, u64::from(matches!(found, Ok(true))));
        found
    }

    /// See [`Cursor::count`].
    pub(crate) fn count_rows(&mut self, node: &Node, run: &mut Run<'_>) -> Result<Option<u64>, Stop> {
        let began = Instant::now();
        let rows = self.inner.count(node, run);
        // A plan whose rows cannot be counted so is asked for them one by one.
        if !matches!(rows, Ok(None)) {
            self.count(began, rows.as_ref().ok().copied().flatten().unwrap_or(0));
        }
        rows
    }

    fn count(&self, began: Instant, rows: u64) {
        self.counts.calls.fetch_add(1, Ordering::Relaxed);
        self.counts.rows.fetch_add(rows, Ordering::Relaxed);
        let passed = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.counts.time_ns.fetch_add(passed, Ordering::Relaxed);
    }
}
