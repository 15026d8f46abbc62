//! What all versions of one table share: the lock, the identity values, whether a version is still current.

use std::sync::Arc;

use pikepole_contention::sync::atomic::{AtomicU64, Ordering};
use pikepole_contention::{Spinlock, SpinlockClass, Statistics};
use pikepole_transaction::TableLock;

use crate::catalog::definition::Identity;

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
}

/// The shared part of a table.
pub(crate) struct TableState {
    pub lock: Arc<TableLock>,
    /// The version of the current published definition; MAX once it was dropped.
    version: AtomicU64,
    pub identity: Spinlock<IdentityValues>,
}

impl TableState {
    pub fn new(object_id: i32, version: u64, statistics: &Arc<Statistics>) -> Arc<TableState> {
        Arc::new(TableState {
            lock: Arc::new(TableLock::new(object_id as u32)),
            version: AtomicU64::new(version),
            identity: Spinlock::new(SpinlockClass::IDENTITY_CACHE, statistics, IdentityValues::default()),
        })
    }

    /// Whether a newer definition than `version` was published.
    pub fn is_stale(&self, version: u64) -> bool {
        // Acquire pairs with the Release in `publish`.
        self.version.load(Ordering::Acquire) > version
    }

    /// The definition of this version is current; MAX: the table is gone.
    pub fn publish(&self, version: u64) {
        // Release pairs with the Acquire in `is_stale`; the table's lock is held exclusively too.
        self.version.store(version, Ordering::Release);
    }

    /// Deals the next value. None: the catalog must note `high_water(..)` first.
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

    /// The value to note so that another block can be dealt.
    pub fn high_water(&self, identity: &Identity) -> (i64, bool) {
        let values = *self.identity.lock();
        let next = values.next.unwrap_or(identity.seed);
        let step = identity.increment.saturating_mul(IDENTITY_BLOCK);
        (next.saturating_add(step), values.noted)
    }

    /// The catalog has noted a high-water mark.
    pub fn noted(&self) {
        let mut values = self.identity.lock();
        values.left = IDENTITY_BLOCK;
        values.noted = true;
    }

    /// After a start: dealing goes on at the high-water mark.
    pub fn resume_identity(&self, next: i64) {
        let mut values = self.identity.lock();
        *values = IdentityValues { next: Some(next), left: 0, noted: true };
    }

    /// After a committed TRUNCATE: the next value is the seed again.
    pub fn begin_anew(&self) {
        let mut values = self.identity.lock();
        values.next = None;
        values.left = 0;
    }

    /// A value was inserted that was not dealt: dealing goes on behind it.
    pub fn pass(&self, identity: &Identity, value: i64) {
        let mut values = self.identity.lock();
        let next = values.next.unwrap_or(identity.seed);
        let passes = if identity.increment > 0 { value >= next } else { value <= next };
        if passes {
            values.next = Some(value.saturating_add(identity.increment));
            values.left = 0;
        }
    }

    /// The last value that was dealt (IDENT_CURRENT); None: none was.
    pub fn last_identity(&self, identity: &Identity) -> Option<i64> {
        let next = self.identity.lock().next?;
        Some(next - identity.increment)
    }
}
