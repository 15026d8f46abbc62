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

use std::collections::VecDeque;
use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};
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

/// An empty shard gives its memory back if it has had room for so many versions.
const KEPT_ROOM: usize = 1_024;

/// A version's place in its shard.
type Place = u32;

struct Version {
    replaced_by: TransactionId,
    header: RowHeader,
    /// The hash of the row's name.
    hash: u64,
    newer: Option<Place>,
    older: Option<Place>,
    name_len: u32,
    /// The row's name, and then its body: one allocation a version.
    bytes: Box<[u8]>,
}

impl Version {
    fn name(&self) -> &[u8] {
        &self.bytes[..self.name_len as usize]
    }

    fn rest(&self) -> &[u8] {
        &self.bytes[self.name_len as usize..]
    }
}

/// ```text
///   newest: name 7 --> place 3 <--older/newer--> place 0       versions: 0 1 2 3 ...   free: 1, 2
///   order:  places, oldest first
/// ```
#[derive(Default)]
struct Shard {
    versions: Vec<Version>,
    /// Places in `versions` that hold none any more.
    free: Vec<Place>,
    /// Of each row that has versions, where the newest is.
    newest: HashTable<Place>,
    order: VecDeque<Place>,
}

impl Shard {
    fn newest(&self, hash: u64, name: &[u8]) -> Option<Place> {
        self.newest.find(hash, |place| self.versions[*place as usize].name() == name).copied()
    }

    /// Adds a row's newest version.
    fn add(&mut self, mut version: Version) {
        let (hash, newest) = (version.hash, self.newest(version.hash, version.name()));
        version.older = newest;
        let place = match self.free.pop() {
            Some(place) => {
                self.versions[place as usize] = version;
                place
            }
            None => {
                self.versions.push(version);
                Place::try_from(self.versions.len() - 1).expect("so many versions do not fit into memory")
            }
        };
        self.order.push_back(place);
        match newest {
            Some(older) => {
                self.versions[older as usize].newer = Some(place);
                let entry = self.newest.find_mut(hash, |at| *at == older);
                *entry.expect("a row's newest version is in the table") = place;
            }
            None => {
                let versions = &self.versions;
                self.newest.insert_unique(hash, place, |at| versions[*at as usize].hash);
            }
        }
    }

    /// Takes out a version that is no longer in the order.
    fn remove(&mut self, place: Place) {
        let version = &mut self.versions[place as usize];
        let (hash, newer, older) = (version.hash, version.newer.take(), version.older.take());
        version.bytes = Box::default();
        if let Some(older) = older {
            self.versions[older as usize].newer = newer;
        }
        match newer {
            Some(newer) => self.versions[newer as usize].older = older,
            None => {
                let entry = self.newest.find_entry(hash, |at| *at == place);
                let mut entry = entry.expect("a row's newest version is in the table");
                match older {
                    Some(older) => *entry.get_mut() = older,
                    None => drop(entry.remove()),
                }
            }
        }
        self.free.push(place);
        if self.order.is_empty() && self.versions.capacity() > KEPT_ROOM {
            *self = Shard::default();
        }
    }

    /// Looks at the `steps` oldest versions; drops those whose replacer `is_over`, puts the others to the end of the order.
    fn purge(&mut self, steps: usize, is_over: &dyn Fn(TransactionId) -> bool) -> usize {
        let mut purged = 0;
        for _ in 0..steps.min(self.order.len()) {
            let Some(place) = self.order.pop_front() else {
                break;
            };
            if is_over(self.versions[place as usize].replaced_by) {
                self.remove(place);
                purged += 1;
            } else {
                self.order.push_back(place);
            }
        }
        purged
    }
}

/// The older row versions of one database.
pub(crate) struct VersionStore {
    hasher: DefaultHashBuilder,
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
            hasher: DefaultHashBuilder::default(),
            shards: (0..SHARDS)
                .map(|_| Spinlock::new(SpinlockClass::VERSION_STORE, statistics, Shard::default()))
                .collect(),
            count: AtomicUsize::new(0),
        }
    }

    /// The shard of a row with this hash: by bits that its table does not look at first.
    fn shard(&self, hash: u64) -> &Spinlock<Shard> {
        &self.shards[(hash >> 32) as usize % SHARDS]
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
        let hash = self.hasher.hash_one(name);
        let name_len = u32::try_from(name.len()).expect("a name is shorter than a page");
        let bytes = [name, rest].concat().into_boxed_slice();
        let version = Version { replaced_by, header, hash, newer: None, older: None, name_len, bytes };
        let mut shard = self.shard(hash).lock();
        let purged = shard.purge(PURGE_STEP, is_over);
        shard.add(version);
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
        let hash = self.hasher.hash_one(name);
        let shard = self.shard(hash).lock();
        let mut looked_for = writer;
        let mut next = shard.newest(hash, name);
        while let Some(place) = next {
            let version = &shard.versions[place as usize];
            next = version.older;
            if version.replaced_by != looked_for {
                continue;
            }
            looked_for = TransactionId(version.header.xid());
            if visible(looked_for) {
                rest.clear();
                rest.extend_from_slice(version.rest());
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

    #[test]
    fn it_is_as_lists_by_row_would_be() {
        // Rows of three names, versions added and purged in all orders: what a search sees is what lists hold.
        let store = VersionStore::new(&Statistics::new());
        let mut lists: Vec<(u8, u64, Vec<u8>)> = Vec::new();
        let mut chance = 88_172_645_463_325_252_u64;
        let mut below = |end: u64| {
            chance ^= chance << 13;
            chance ^= chance >> 7;
            chance ^= chance << 17;
            chance % end
        };
        for id in 1..4_000_u64 {
            let row = below(3) as u8;
            store.push(&[row], TransactionId(id), header(id - 1), &id.to_le_bytes(), &|_| false);
            lists.push((row, id, id.to_le_bytes().to_vec()));
            if below(7) == 0 {
                let over = below(id);
                let kept = |id: u64| id > over || id.is_multiple_of(5);
                store.purge(&|id| !kept(id.0));
                lists.retain(|(_, id, _)| kept(*id));
            }
            let writer = id - below(id.min(40));
            let mut rest = Vec::new();
            let row = below(3) as u8;
            let found = store.find(&[row], TransactionId(writer), &|_| true, &mut rest).map(|_| rest);
            let wanted = lists.iter().find(|(of, id, _)| (*of, *id) == (row, writer)).map(|(_, _, rest)| rest.clone());
            assert_eq!(found, wanted);
            assert_eq!(store.count(), lists.len());
        }
        store.purge(&|_| true);
        store.purge(&|_| true);
        assert_eq!(store.count(), 0);
    }
}
