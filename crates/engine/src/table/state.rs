//! What all versions of one table share: the lock, the identity values, whether a version is still current.

use std::sync::{Arc, OnceLock};

use pikepole_contention::sync::atomic::{AtomicU64, Ordering};
use pikepole_contention::{SlotCounter, Spinlock, SpinlockClass, Statistics};
use pikepole_log::Lsn;
use pikepole_transaction::TableLock;

use super::IndexUses;
use crate::catalog::definition::Identity;
use crate::database::Mark;

/// Identity values dealt out between two notes in the catalog: what a crash can leave out.
pub(crate) const IDENTITY_BLOCK: i64 = 1_000;

/// Identity values in memory.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct IdentityValues {
    /// The next value, once one was dealt or the catalog was asked.
    pub next: Option<i64>,
    /// How many may be dealt before the catalog must note a new high-water mark.
    pub left: i64,
    /// Whether the catalog has a row for it.
    pub noted: bool,
    /// The next value that a table was given which had dealt none: while it is the next, none was dealt.
    pub reseeded: Option<i64>,
}

/// The shared part of a table.
pub(crate) struct TableState {
    pub lock: Arc<TableLock>,
    /// The version of the current published definition; MAX once it was dropped.
    version: AtomicU64,
    /// The end of the log when that took the place of another one; 0: this run knows no other.
    changed_at: AtomicU64,
    pub identity: Spinlock<IdentityValues>,
    /// The last id that a long value was given.
    value_id: AtomicU64,
    pub uses: IndexUses,
    /// Rows that statements have changed since the database was opened; none before the first.
    changes: OnceLock<SlotCounter>,
    /// The time, in the order of transactions in memory, of the last change that has put all rows of an in-memory table into new places.
    moved_at: AtomicU64,
}

impl TableState {
    pub fn new(object_id: i32, version: u64, statistics: &Arc<Statistics>) -> Arc<TableState> {
        Arc::new(TableState {
            lock: Arc::new(TableLock::new(object_id as u32)),
            version: AtomicU64::new(version),
            changed_at: AtomicU64::new(0),
            identity: Spinlock::new(SpinlockClass::IDENTITY_CACHE, statistics, IdentityValues::default()),
            value_id: AtomicU64::new(0),
            uses: IndexUses::default(),
            changes: OnceLock::new(),
            moved_at: AtomicU64::new(0),
        })
    }

    /// The rows of an in-memory table are in new places from this time on.
    pub fn note_moved(&self, time: u64) {
        self.moved_at.store(time, Ordering::Relaxed);
    }

    /// Tells if a snapshot of this time is older than the places of an in-memory table's rows, and so sees none of them. Asked once the
    /// definition is known not to be stale.
    pub fn is_moved_since(&self, time: impl FnOnce() -> u64) -> bool {
        match self.moved_at.load(Ordering::Relaxed) {
            0 => false,
            moved_at => time() < moved_at,
        }
    }

    /// Counts changed rows.
    #[inline]
    pub fn count_changes(&self, rows: u64) {
        self.changes.get_or_init(SlotCounter::new).add(rows);
    }

    /// Changed rows so far.
    pub fn changes(&self) -> u64 {
        self.changes.get().map_or(0, SlotCounter::sum)
    }

    /// Whether a newer definition than `version` was published.
    pub fn is_stale(&self, version: u64) -> bool {
        // Acquire pairs with the Release in `publish`.
        self.version.load(Ordering::Acquire) > version
    }

    /// The definition of this version is current; MAX: the table is gone. `log_end`: what is committed from now on lies behind it.
    pub fn publish(&self, version: u64, log_end: Lsn) {
        self.changed_at.store(log_end.0, Ordering::Relaxed);
        // Release pairs with the Acquire in `is_stale`, for what is above too; the table's lock is held exclusively as well.
        self.version.store(version, Ordering::Release);
    }

    /// Whether the definition is younger than a snapshot: trees that were filled since then lack its rows. Asked once the definition
    /// is known not to be stale.
    pub fn is_younger_than(&self, snapshot: Lsn) -> bool {
        self.changed_at.load(Ordering::Relaxed) > snapshot.0
    }

    /// An id for a long value: greater than those that the table has given before, in former runs too, since ids follow the
    /// log (`log_end`), and each value leaves more bytes there than one.
    pub fn next_value_id(&self, log_end: u64) -> u64 {
        let next = |last: u64| Some((last + 1).max(log_end));
        let last = self.value_id.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
        let (Ok(last) | Err(last)) = last;
        (last + 1).max(log_end)
    }

    /// Deals the next value. None: the catalog must note a mark first.
    pub fn next_identity(&self, identity: &Identity) -> Option<i64> {
        let mut values = self.identity.lock();
        if values.left == 0 {
            return None;
        }
        let value = values.next.unwrap_or(identity.seed);
        values.left -= 1;
        values.next = Some(value.saturating_add(identity.increment));
        Some(value)
    }

    /// Deals the next value of a table that no crash leaves: nothing is noted.
    pub fn next_unnoted(&self, identity: &Identity) -> i64 {
        let mut values = self.identity.lock();
        let value = values.next.unwrap_or(identity.seed);
        values.next = Some(value.saturating_add(identity.increment));
        value
    }

    /// The mark to note so that another block can be dealt; None: there are values left.
    pub fn mark_wanted(&self, identity: &Identity) -> Option<Mark> {
        let values = *self.identity.lock();
        let next = values.next.unwrap_or(identity.seed);
        let step = identity.increment.saturating_mul(IDENTITY_BLOCK);
        (values.left == 0).then(|| Mark { value: next.saturating_add(step), replaces: values.noted })
    }

    /// The mark of a clean shutdown: the next value, when some were dealt.
    pub fn mark_of_shutdown(&self) -> Option<Mark> {
        let values = *self.identity.lock();
        Some(Mark { value: values.next?, replaces: values.noted })
    }

    /// The catalog has noted this high-water mark: what lies before it may be dealt.
    pub fn noted(&self, identity: &Identity, mark: Mark) {
        let mut values = self.identity.lock();
        let next = values.next.unwrap_or(identity.seed);
        // A value that was given explicitly can have moved dealing on beyond the mark meanwhile.
        values.left = (mark.value.saturating_sub(next) / identity.increment).clamp(0, IDENTITY_BLOCK);
        values.noted = true;
    }

    /// After a start: dealing goes on at the high-water mark.
    pub fn resume_identity(&self, next: i64) {
        let mut values = self.identity.lock();
        *values = IdentityValues { next: Some(next), left: 0, noted: true, reseeded: None };
    }

    /// After a TRUNCATE that nothing undoes: the next value is the seed again.
    pub fn begin_anew(&self) {
        let mut values = self.identity.lock();
        values.next = None;
        values.reseeded = None;
        values.left = 0;
    }

    /// TRUNCATE in a transaction that may be rolled back: the next value is the seed again; the values before. The mark that is noted
    /// stays in force, so that nothing is dealt again which a rollback or a crash brings back.
    pub fn begin_anew_within(&self, identity: &Identity) -> IdentityValues {
        let mut values = self.identity.lock();
        let before = *values;
        if let Some(next) = before.next {
            let passed = i128::from(next) - i128::from(identity.seed);
            let more = i64::try_from(passed / i128::from(identity.increment)).unwrap_or(0).max(0);
            values.left = before.left.saturating_add(more);
            values.next = None;
            values.reseeded = None;
        }
        before
    }

    /// That was rolled back.
    pub fn restore_identity(&self, before: IdentityValues) {
        let mut values = self.identity.lock();
        // A mark that was noted meanwhile is there.
        *values = IdentityValues { noted: before.noted || values.noted, ..before };
    }

    /// That was committed: the next value is dealt after a new, perhaps lower mark was noted.
    pub fn forget_mark(&self) {
        self.identity.lock().left = 0;
    }

    /// Dealing goes on behind `value`; or with it, when nothing was dealt so far.
    pub fn reseed(&self, identity: &Identity, value: i64) {
        let mut values = self.identity.lock();
        let has_dealt = values.next != values.reseeded;
        let behind = if has_dealt { identity.increment } else { 0 };
        values.next = Some(value.saturating_add(behind));
        values.reseeded = values.next.filter(|_| !has_dealt);
        values.left = 0;
    }

    /// A value is given that was not dealt: dealing goes on behind it. False: the catalog must note a mark before the value is
    /// written, or a start after a crash would deal it.
    pub fn pass(&self, identity: &Identity, value: i64) -> bool {
        let mut values = self.identity.lock();
        let next = values.next.unwrap_or(identity.seed);
        let passes = if identity.increment > 0 { value >= next } else { value <= next };
        if passes {
            let behind = value.saturating_add(identity.increment);
            let passed =
                i128::from(behind).abs_diff(i128::from(next)).div_ceil(identity.increment.unsigned_abs().into());
            values.next = Some(behind);
            values.left = i64::try_from(passed).map_or(0, |passed| values.left.saturating_sub(passed).max(0));
        }
        !passes || values.left > 0
    }

    /// Whether the values of the type that holds all have come to their end.
    pub fn is_exhausted(&self, identity: &Identity) -> bool {
        let next = self.identity.lock().next.unwrap_or(identity.seed);
        next.checked_add(identity.increment).is_none()
    }

    /// The last value that was dealt (IDENT_CURRENT); None: none was.
    pub fn last_identity(&self, identity: &Identity) -> Option<i64> {
        let values = *self.identity.lock();
        let next = values.next?;
        Some(if values.reseeded == Some(next) { next } else { next - identity.increment })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_wanted_once_a_block() {
        let state = TableState::new(1, 1, &Statistics::new());
        let identity = Identity { seed: 5, increment: 10 };
        assert_eq!(state.next_identity(&identity), None);
        let first = state.mark_wanted(&identity).expect("nothing is noted yet");
        assert_eq!(first, Mark { value: 5 + 10 * IDENTITY_BLOCK, replaces: false });
        state.noted(&identity, first);
        assert_eq!(state.mark_wanted(&identity), None, "another session has noted one");
        assert_eq!(state.next_identity(&identity), Some(5));
        assert_eq!(state.mark_of_shutdown(), Some(Mark { value: 15, replaces: true }));
    }

    #[test]
    fn values_are_dealt_up_to_the_mark_and_not_beyond() {
        for identity in [Identity { seed: 1, increment: 1 }, Identity { seed: 5, increment: -3 }] {
            let state = TableState::new(1, 1, &Statistics::new());
            let mark = state.mark_wanted(&identity).expect("nothing is noted yet");
            state.noted(&identity, mark);
            let dealt = std::iter::from_fn(|| state.next_identity(&identity));
            assert_eq!(dealt.last(), Some(mark.value - identity.increment));
            // A value that is given explicitly while a mark is noted leaves none before it.
            let mark = state.mark_wanted(&identity).expect("the block is used up");
            assert!(!state.pass(&identity, mark.value + 10 * identity.increment));
            state.noted(&identity, mark);
            assert_eq!(state.next_identity(&identity), None);
        }
    }

    #[test]
    fn a_value_that_is_given_lies_before_a_mark() {
        for identity in [Identity { seed: 1, increment: 1 }, Identity { seed: -5, increment: -3 }] {
            let state = TableState::new(1, 1, &Statistics::new());
            let at = |steps: i64| identity.seed + steps * identity.increment;
            assert!(!state.pass(&identity, at(4)), "nothing is noted yet");
            state.noted(&identity, state.mark_wanted(&identity).expect("a mark is to be noted"));
            assert_eq!(state.next_identity(&identity), Some(at(5)));
            assert!(state.pass(&identity, at(2)), "it was passed before");
            assert!(state.pass(&identity, at(900)));
            assert_eq!(state.next_identity(&identity), Some(at(901)));
            assert!(!state.pass(&identity, at(IDENTITY_BLOCK + 4)), "the mark itself is dealt after a crash");
            assert!(!state.pass(&identity, if identity.increment > 0 { i64::MAX } else { i64::MIN }));
            assert!(state.is_exhausted(&identity));
        }
    }
}
