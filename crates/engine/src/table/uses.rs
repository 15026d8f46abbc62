//! How statements have used the indexes of a table, for `sys.dm_db_index_usage_stats`.
//!
//! Statements count their runs themselves, each session its own; a table knows the counters of the plans that use it, and what they
//! use. So a run writes nothing here: the list is locked when a session takes a plan, and by who looks.

use std::collections::BTreeMap;
use std::sync::Arc;

use pikepole_contention::sync::{Mutex, MutexGuard};

/// Counters in the list before the first look for those that are at rest.
const COUNTERS_BEFORE_SWEEP: usize = 16;

/// What a statement does with an index, once a run, however many rows that are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum IndexUse {
    /// Finds rows by their keys.
    Seek,
    /// Reads it from one end.
    Scan,
    /// Reads the rest of rows that another index has found.
    Lookup,
    /// Changes rows.
    Update,
}

/// Uses of an index in one way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UseCount {
    /// How often.
    pub count: u64,
    /// When the last one began, in the machine's ticks.
    pub last: u64,
}

impl UseCount {
    fn add(&mut self, other: UseCount) {
        self.count += other.count;
        self.last = self.last.max(other.last);
    }
}

/// Counts the runs of a plan.
pub trait UseCounter: Send + Sync {
    /// Runs so far.
    fn runs(&self) -> UseCount;
    /// Whether nobody counts here any more.
    fn is_at_rest(&self) -> bool;
}

/// The uses of a table's indexes since the database was opened.
#[derive(Default)]
pub(crate) struct IndexUses(Mutex<List>);

#[derive(Default)]
struct List {
    counters: Vec<(i32, IndexUse, Arc<dyn UseCounter>)>,
    /// Of counters at rest.
    gone: BTreeMap<(i32, IndexUse), UseCount>,
    /// The length of the list at which it is next looked through for such.
    sweep_at: usize,
}

impl IndexUses {
    /// A plan whose runs this counter counts uses an index; 0 is the heap.
    pub(crate) fn add(&self, index_id: i32, how: IndexUse, counter: &Arc<dyn UseCounter>) {
        let mut list = self.lock();
        if list.counters.len() >= list.sweep_at.max(COUNTERS_BEFORE_SWEEP) {
            list.sweep();
            list.sweep_at = list.counters.len() * 2;
        }
        list.counters.push((index_id, how, Arc::clone(counter)));
    }

    /// All uses so far.
    pub(crate) fn totals(&self) -> BTreeMap<(i32, IndexUse), UseCount> {
        let list = self.lock();
        let mut totals = list.gone.clone();
        for (index_id, how, counter) in &list.counters {
            totals.entry((*index_id, *how)).or_default().add(counter.runs());
        }
        totals.retain(|_, uses| uses.count > 0);
        totals
    }

    fn lock(&self) -> MutexGuard<'_, List> {
        // What it holds is right after each of its changes.
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl List {
    fn sweep(&mut self) {
        for (index_id, how, counter) in std::mem::take(&mut self.counters) {
            if counter.is_at_rest() {
                self.gone.entry((index_id, how)).or_default().add(counter.runs());
            } else {
                self.counters.push((index_id, how, counter));
            }
        }
    }
}
