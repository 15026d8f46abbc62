//! Whether somebody needs all rows to be in the log: whoever copies pages while they change, or keeps the log to restore from.
//!
//! ```text
//!   rows that stay out of the log   placing += 1; needed == 0? --> record appended, or the log read --> placing -= 1
//!   who needs the rows              needed += 1; waits until placing == 0: all records from here on have their rows
//! ```
//! The addition and the look of each are SeqCst: one of the two sees the other. The word of those who need the rows
//! also counts how many there ever were, so that whoever looks twice notices one who came and went between.

use pikepole_contention::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use pikepole_contention::sync::thread;
use pikepole_log::Lsn;

use crate::store::Store;

/// The lower half of the word: how many need the rows now. The upper half: how many have begun to.
const NEEDED: u64 = u32::MAX as u64;
const BEGUN_ONE: u64 = NEEDED + 1;

/// See the module.
#[derive(Default)]
pub(crate) struct RowsInLog {
    word: AtomicU64,
    placing: AtomicU32,
}

/// A moment at which nobody needed the rows in the log. See [`Store::unlogged_end`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unneeded(u64);

/// Held while it matters that nobody begins to need the rows.
pub(crate) struct Placing<'a> {
    of: &'a RowsInLog,
    moment: Unneeded,
}

impl Drop for Placing<'_> {
    fn drop(&mut self) {
        // Release pairs with the load in `need`: who sees 0 appends behind the page's record.
        self.of.placing.fetch_sub(1, Ordering::Release);
    }
}

impl RowsInLog {
    /// The right to leave rows out of the log; None: they are needed.
    pub fn try_without(&self) -> Option<Placing<'_>> {
        self.placing.fetch_add(1, Ordering::SeqCst);
        let placing = Placing { of: self, moment: Unneeded(self.word.load(Ordering::SeqCst)) };
        (placing.moment.0 & NEEDED == 0).then_some(placing)
    }

    fn need(&self) {
        self.word.fetch_add(BEGUN_ONE + 1, Ordering::SeqCst);
        // A placing is a few microseconds, and waits for nothing.
        while self.placing.load(Ordering::SeqCst) > 0 {
            thread::yield_now();
        }
    }
}

impl Store {
    /// All rows from now on are in the log, until [`Store::need_rows_no_more`] was called as often.
    pub fn need_rows_in_log(&self) {
        self.rows_in_log.need();
    }

    /// Undoes one [`Store::need_rows_in_log`].
    pub fn need_rows_no_more(&self) {
        // Relaxed: whoever sees it late logs rows that nobody needs.
        self.rows_in_log.word.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether nobody needs the rows in the log at this moment.
    pub fn can_leave_rows_out(&self) -> bool {
        self.rows_in_log.try_without().is_some()
    }

    /// This moment, if nobody needs the rows in the log.
    pub fn rows_unneeded(&self) -> Option<Unneeded> {
        Some(self.rows_in_log.try_without()?.moment)
    }

    /// What was changed so far without records (see [`crate::Tree::unlogged`]) is safe once the redo start is here or above; None:
    /// somebody has begun to need it in the log since that moment.
    pub fn unlogged_end(&self, since: Unneeded) -> Option<Lsn> {
        let placing = self.rows_in_log.try_without()?;
        // Whoever needs rows from here on copies the pages behind a checkpoint of its own, and so finds these changes in them.
        (placing.moment == since).then(|| self.log.reserved())
    }
}
