//! How the workers of one plan share its rows.
//!
//! ```text
//!   a plan without UNION ALL        0 ───────────────► end         ranges, ascending
//!   UNION ALL                       branch 0 │ branch 1 │ ...      ranges of each branch, one branch after the other
//! ```
//!
//! | what | who writes it | who reads it |
//! |---|---|---|
//! | `Dispenser::next` | each worker that takes a range | |
//! | `Dispenser::failed_at` | a worker that fails; a session that is gone (0) | each worker, before each batch |

use std::ops::Range;
use std::sync::Arc;

use pikepole_contention::sync::atomic::{AtomicU64, Ordering};

/// The part of a plan that workers are to make: ordinals of a product's rows, parts of a table.
#[derive(Debug, Clone)]
pub(crate) struct Ordinals {
    /// The ordinals that no TOP leaves out.
    pub(crate) range: Range<u64>,
    /// The ordinal of the first row behind the TOPs so far.
    pub(crate) base: u64,
    /// True while rows come one for each ordinal, in their order.
    pub(crate) kept: bool,
    /// How many a worker takes at once.
    pub(crate) at_once: u64,
    /// So many are worth workers.
    pub(crate) worthwhile: u64,
    /// Bits below an ordinal by which its batches are told apart, see [`Dispenser::is_past_failure`].
    pub(crate) batch_bits: u32,
    /// Of UNION ALL: those of the branches, which are dealt out in place of its own. One ordinal of its own is one of theirs.
    pub(crate) branches: Vec<Ordinals>,
}

impl Ordinals {
    /// All below `end`, for rows that come one for each.
    pub(crate) fn below(end: u64, at_once: u64, worthwhile: u64) -> Ordinals {
        Ordinals { range: 0..end, base: 0, kept: true, at_once, worthwhile, batch_bits: 0, branches: Vec::new() }
    }

    /// The ordinals of UNION ALL.
    pub(crate) fn of_branches(branches: Vec<Ordinals>) -> Ordinals {
        let end = branches.iter().map(Ordinals::count).fold(0, u64::saturating_add);
        let kept = branches.iter().all(|branch| branch.kept);
        Ordinals { kept, branches, ..Ordinals::below(end, 1, u64::MAX) }
    }

    /// The same for rows that no longer come one for each.
    pub(crate) fn loose(self) -> Ordinals {
        Ordinals { kept: false, ..self }
    }

    /// How many there are.
    fn count(&self) -> u64 {
        self.range.end - self.range.start
    }

    /// Their worth: 1 and more pays for workers.
    pub(crate) fn worth(&self) -> f64 {
        match self.branches.as_slice() {
            [] => self.count() as f64 / self.worthwhile as f64,
            branches => branches.iter().map(Ordinals::worth).sum(),
        }
    }

    /// The number of ranges that are dealt out.
    pub(crate) fn ranges(&self) -> u64 {
        match self.branches.as_slice() {
            [] => self.count().div_ceil(self.at_once),
            branches => branches.iter().map(Ordinals::ranges).fold(0, u64::saturating_add),
        }
    }

    /// The end of the numbers of its batches.
    fn batches_end(&self) -> u64 {
        match self.branches.as_slice() {
            [] => self.range.end.saturating_mul(1 << self.batch_bits),
            branches => branches.iter().map(Ordinals::batches_end).fold(0, u64::saturating_add),
        }
    }
}

/// Deals out ranges of ordinals to workers.
pub(crate) struct Dispenser {
    next: AtomicU64,
    end: u64,
    at_once: u64,
    /// The dispensers of the branches of UNION ALL.
    branches: Vec<Branch>,
    /// The number of its first batch in the whole plan.
    first_batch: u64,
    /// The least batch of the whole plan that failed, as operators tell them; `u64::MAX` while none has. Batches beyond it need not be
    /// made.
    failed_at: Arc<AtomicU64>,
}

/// One branch of UNION ALL.
pub(crate) struct Branch {
    pub(crate) dispenser: Arc<Dispenser>,
    /// How many rows come before it, where rows come one for each ordinal.
    pub(crate) rows_before: u64,
    /// The number of its first batch among those of the UNION ALL.
    pub(crate) first_batch: u64,
}

impl Dispenser {
    /// Of a whole plan.
    pub(crate) fn new(ordinals: &Ordinals) -> Arc<Dispenser> {
        Dispenser::part(ordinals, ordinals.range.clone(), 0, &Arc::new(AtomicU64::new(u64::MAX)))
    }

    /// Of these ordinals of a part of it.
    fn part(ordinals: &Ordinals, range: Range<u64>, first_batch: u64, failed_at: &Arc<AtomicU64>) -> Arc<Dispenser> {
        let (mut rows_before, mut batches_before) = (0u64, 0u64);
        let mut branches = Vec::with_capacity(ordinals.branches.len());
        for branch in &ordinals.branches {
            // What a TOP above leaves of it.
            let left =
                |end: u64| branch.range.start + end.clamp(rows_before, rows_before + branch.count()) - rows_before;
            let own = left(range.start)..left(range.end);
            let dispenser = Dispenser::part(branch, own, first_batch.saturating_add(batches_before), failed_at);
            branches.push(Branch { dispenser, rows_before, first_batch: batches_before });
            rows_before = rows_before.saturating_add(branch.count());
            batches_before = batches_before.saturating_add(branch.batches_end());
        }
        Arc::new(Dispenser {
            next: AtomicU64::new(range.start),
            end: range.end,
            at_once: ordinals.at_once,
            branches,
            first_batch,
            failed_at: Arc::clone(failed_at),
        })
    }

    /// The branches of UNION ALL.
    pub(crate) fn branches(&self) -> &[Branch] {
        &self.branches
    }

    /// The next range; empty when all are dealt out.
    pub(crate) fn take(&self) -> Range<u64> {
        let start = self.next.fetch_add(self.at_once, Ordering::Relaxed).min(self.end);
        start..self.end.min(start + self.at_once)
    }

    /// True when this batch is no longer wanted.
    pub(crate) fn is_past_failure(&self, batch: u64) -> bool {
        self.first_batch.saturating_add(batch) >= self.failed_at.load(Ordering::Relaxed)
    }

    /// A batch of the whole plan has failed.
    pub(super) fn fail(&self, batch: u64) {
        self.failed_at.fetch_min(batch, Ordering::Relaxed);
    }
}
