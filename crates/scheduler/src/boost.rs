//! The order of the runnable queue: the policy SIGNALLED_FIRST.
//!
//! | policy | a task that was signalled goes | a new task, or one that gave up its quantum, goes |
//! |---|---|---|
//! | BOOST_1000 | to the head, up to 1,000 times in a row; the next time to the end | to the end |
//! | IN_ORDER | behind those that were signalled before, and before the others | to the end; the first turn of every second slice is one of theirs |
//!
//! A boost counts for the task: its row ends when the task goes to the end, by the limit or by giving up its quantum. Two tasks that signal
//! each other have the CPU for 1,000 turns each, and only then does a third one get it: the convoy that the classic rule is known for.

use crate::home::count;
use pikepole_contention::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Boosts of a task in a row.
pub(crate) const BOOSTS_MAX: u32 = 1_000;

/// The rule for the task that runs next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SignalledFirst {
    /// The one that was signalled last, up to 1,000 times in a row.
    Boost1000,
    /// The one that was signalled first.
    #[default]
    InOrder,
}

/// The boosts of a task. Only its scheduler's thread changes them.
#[derive(Debug, Default)]
pub(crate) struct Boosts {
    all: AtomicU64,
    in_a_row: AtomicU32,
}

impl Boosts {
    /// Counts a boost; false when the task has had all that it may have in a row.
    pub(crate) fn take(&self) -> bool {
        let before = self.in_a_row.load(Ordering::Relaxed);
        if before == BOOSTS_MAX {
            self.end();
            return false;
        }
        self.in_a_row.store(before + 1, Ordering::Relaxed);
        count(&self.all);
        true
    }

    /// The task goes to the end of the queue.
    pub(crate) fn end(&self) {
        self.in_a_row.store(0, Ordering::Relaxed);
    }

    /// All boosts so far.
    pub(crate) fn all(&self) -> u64 {
        self.all.load(Ordering::Relaxed)
    }
}
