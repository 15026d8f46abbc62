//! The version store: what rows looked like before changes that some snapshot must not see.
//!
//! ```text
//!   page:   key 7 -> row written by 130 (HAS_OLDER_VERSION)
//!   store:  key 7 -> [ replaced by 130: row of 118 ] [ replaced by 118: row of 90 ] ...   newest first
//! ```
//!
//! A reader for whom 130 is invisible looks for what 130 replaced, then for what that writer replaced, until it meets a
//! writer it sees, or the end: then the row did not exist for it.
//!
//! # Invariants
//! - a version is here before its replacement is on the page, so whoever meets the new header finds it;
//! - a version leaves when its replacer ended at or below every snapshot, and not before, rolled back or not: a reader may
//!   hold a copy of the page from before the rollback;
//! - a search moves from newer to older entries only, so an id that replaced twice (again after a rollback to a savepoint)
//!   is met at its newest first.
//!
//! The store lives in memory: after a restart no snapshot is older than any row.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};

use pikepole_contention::sync::Arc;
use pikepole_contention::sync::atomic::{AtomicUsize, Ordering};
use pikepole_contention::{Spinlock, SpinlockClass, Statistics};
use pikepole_storage::RowHeader;

use crate::id::TransactionId;

const SHARDS: usize = 64;

/// Versions looked at for purging whenever one is added: more than one, so that the store shrinks under load.
const PURGE_STEP: usize = 3;

/// Versions of a shard looked at in a sweep: as many as may keep others from the shard's lock.
const PURGE_SWEEP: usize = 2_000;

struct Version {
    replaced_by: TransactionId,
    header: RowHeader,
    rest: Box<[u8]>,
}

#[derive(Default)]
struct Shard {
    rows: HashMap<Box<[u8]>, VecDeque<Version>>,
    /// Every version, oldest first, as (replacer, row).
    order: VecDeque<(TransactionId, Box<[u8]>)>,
}

impl Shard {
    /// Looks at the `steps` oldest versions; drops those whose replacer `is_over`, puts the others to the end of the order.
    fn purge(&mut self, steps: usize, is_over: &dyn Fn(TransactionId) -> bool) -> usize {
        let mut purged = 0;
        for _ in 0..steps.min(self.order.len()) {
            let Some((replacer, row)) = self.order.pop_front() else {
                break;
            };
            if !is_over(replacer) {
                self.order.push_back((replacer, row));
                continue;
            }
            if let Some(versions) = self.rows.get_mut(&row) {
                if let Some(at) = versions.iter().rposition(|v| v.replaced_by == replacer) {
                    versions.remove(at);
                    purged += 1;
                }
                if versions.is_empty() {
                    self.rows.remove(&row);
                }
            }
        }
        purged
    }
}

/// The older row versions of one database.
pub(crate) struct VersionStore {
    hasher: RandomState,
    shards: Box<[Spinlock<Shard>]>,
    count: AtomicUsize,
}

/// Puts the name of a row into `name`: object, then key or rid.
pub(crate) fn row_name(object: u32, key: &[u8], name: &mut Vec<u8>) {
    name.clear();
    name.extend_from_slice(&object.to_le_bytes());
    name.extend_from_slice(key);
}

impl VersionStore {
    pub fn new(statistics: &Arc<Statistics>) -> Self {
        Self {
            hasher: RandomState::new(),
            shards: (0..SHARDS)
                .map(|_| Spinlock::new(SpinlockClass::VERSION_STORE, statistics, Shard::default()))
                .collect(),
            count: AtomicUsize::new(0),
        }
    }

    fn shard(&self, name: &[u8]) -> &Spinlock<Shard> {
        &self.shards[self.hasher.hash_one(name) as usize % SHARDS]
    }

    /// Keeps what `replaced_by` is about to replace.
    pub fn push(
        &self,
        name: &[u8],
        replaced_by: TransactionId,
        header: RowHeader,
        rest: &[u8],
        is_over: &dyn Fn(TransactionId) -> bool,
    ) {
        let version = Version { replaced_by, header, rest: rest.into() };
        let row: Box<[u8]> = name.into();
        let mut shard = self.shard(name).lock();
        let purged = shard.purge(PURGE_STEP, is_over);
        shard.order.push_back((replaced_by, row.clone()));
        shard.rows.entry(row).or_default().push_front(version);
        drop(shard);
        self.count.fetch_add(1, Ordering::Relaxed);
        self.count.fetch_sub(purged, Ordering::Relaxed);
    }

    /// The newest version that is visible, starting from what `writer` replaced: its header, with its body in `rest`.
    pub fn find(
        &self,
        name: &[u8],
        writer: TransactionId,
        visible: &dyn Fn(TransactionId) -> bool,
        rest: &mut Vec<u8>,
    ) -> Option<RowHeader> {
        let shard = self.shard(name).lock();
        let mut looked_for = writer;
        for version in shard.rows.get(name)? {
            if version.replaced_by != looked_for {
                continue;
            }
            looked_for = TransactionId(version.header.xid());
            if visible(looked_for) {
                rest.clear();
                rest.extend_from_slice(&version.rest);
                return Some(version.header);
            }
        }
        None
    }

    /// Looks at the oldest versions of every shard and drops those whose replacer `is_over`.
    pub fn purge(&self, is_over: &dyn Fn(TransactionId) -> bool) {
        for shard in &self.shards {
            let mut shard = shard.lock();
            let purged = shard.purge(PURGE_SWEEP, is_over);
            self.count.fetch_sub(purged, Ordering::Relaxed);
        }
    }

    /// How many versions there are.
    pub fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(xid: u64) -> RowHeader {
        RowHeader::new(0, xid)
    }

    fn store_with(changes: &[(u64, u64, &[u8])]) -> (VersionStore, Vec<u8>) {
        let store = VersionStore::new(&Statistics::new());
        let mut name = Vec::new();
        row_name(9, b"key", &mut name);
        for (replacer, former, rest) in changes {
            store.push(&name, TransactionId(*replacer), header(*former), rest, &|_| false);
        }
        (store, name)
    }

    fn see(store: &VersionStore, name: &[u8], writer: u64, up_to: u64) -> Option<Vec<u8>> {
        let mut rest = Vec::new();
        store.find(name, TransactionId(writer), &|id| id.0 <= up_to, &mut rest).map(|_| rest)
    }

    #[test]
    fn a_chain_is_followed_to_the_first_visible_writer() {
        let (store, name) = store_with(&[(118, 90, b"old"), (130, 118, b"new")]);
        assert_eq!(see(&store, &name, 130, 120), Some(b"new".to_vec()));
        assert_eq!(see(&store, &name, 130, 100), Some(b"old".to_vec()));
        assert_eq!(see(&store, &name, 130, 50), None);
        assert_eq!(see(&store, &name, 131, 120), None, "131 inserted: it replaced nothing");
    }

    #[test]
    fn a_second_replacement_by_the_same_id_is_met_first() {
        // 130 changes the row, rolls back to a savepoint; 140 changes it and commits; 130 changes it again.
        let (store, name) = store_with(&[(130, 90, b"first"), (140, 90, b"first"), (130, 140, b"second")]);
        assert_eq!(see(&store, &name, 130, 100), Some(b"first".to_vec()));
        let mut rest = Vec::new();
        let found = store.find(&name, TransactionId(130), &|id| id.0 == 140 || id.0 <= 90, &mut rest);
        assert_eq!((found, rest), (Some(header(140)), b"second".to_vec()));
    }

    #[test]
    fn purge_keeps_what_is_needed() {
        let (store, name) = store_with(&[(118, 90, b"old"), (130, 118, b"new")]);
        store.purge(&|id| id.0 == 118);
        assert_eq!(store.count(), 1);
        assert_eq!(see(&store, &name, 130, 120), Some(b"new".to_vec()));
        store.push(&name, TransactionId(150), header(130), b"x", &|id| id.0 == 130);
        assert_eq!(store.count(), 1, "adding one purges some");
        store.purge(&|_| true);
        assert_eq!(store.count(), 0);
    }
}
