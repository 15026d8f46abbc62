//! A table in memory: its indexes, and what transactions do with its rows.

use std::cell::Cell;
use std::ops::Range;
use std::ptr::NonNull;

use crossbeam_epoch::Guard;
use pikepole_contention::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use pikepole_contention::{CachePadded, SlotCounter, Spinner};

use crate::guarded::Guarded;
use crate::index::{Finger, Index, IndexKind};
use crate::node::Node;
use crate::numbers;
use crate::row::{Begin, INDEXES_MAX, NodeKey, Row, Version};
use crate::statistics::{Count, TableCounters};
use crate::writer::Writer;

/// Bytes of a row's number behind a key that may repeat.
pub(crate) const ID_BYTES: usize = 8;
/// Bytes of a row's and a version's heads, about, without the version's addresses of its nodes.
const HEAD_BYTES: usize = size_of::<Row>() + size_of::<Version>();
/// Numbers of rows that a session gets at once.
const IDS_AT_ONCE: u64 = if cfg!(shuttle) { 2 } else { 64 };

/// An index of a table in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexShape {
    /// Its kind.
    pub kind: IndexKind,
    /// No two rows have the same key.
    pub unique: bool,
}

/// The reason for which a row was not changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// Another transaction has changed the row since this one's snapshot, or is about to: error 41302.
    Conflict,
    /// Another row has the key, in the index at this position: 2627 and 2601.
    Duplicate(usize),
}

/// The keys of a row, one for each index.
#[derive(Debug, Default)]
pub struct Keys {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Keys {
    /// Keys of these lengths, which [`Keys::room`] is to get, with so many bytes more behind the last one.
    pub fn of_lengths(lengths: impl IntoIterator<Item = usize>, slack: usize) -> Keys {
        let mut end = 0;
        let ends = lengths.into_iter().map(|length| {
            end += length;
            end
        });
        let ends: Vec<usize> = ends.collect();
        Keys { bytes: vec![0; end + slack], ends }
    }

    /// The place of the keys, one behind the other.
    pub fn room(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// None yet.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// The key of the next index: what `write` appends.
    ///
    /// # Errors
    /// Those of `write`.
    pub fn push<E>(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Result<(), E> {
        write(&mut self.bytes)?;
        self.ends.push(self.bytes.len());
        Ok(())
    }

    /// The key of the index at this position.
    pub fn get(&self, at: usize) -> &[u8] {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[at]]
    }

    /// Puts the name of the row of this number, which has these keys, into `name`.
    pub fn name_row(&self, number: u64, name: &mut Vec<u8>) {
        name.clear();
        name.extend_from_slice(self.get(0));
        name.extend_from_slice(&number.to_be_bytes());
    }
}

pub(crate) struct TableIndex {
    pub shape: IndexShape,
    pub index: Index,
    /// Bytes of its nodes with their keys: the complement of a size is added for one that leaves.
    pub node_bytes: SlotCounter,
}

impl TableIndex {
    /// The key of a node, without the row's number behind it.
    pub fn group<'k>(&self, key: &'k [u8]) -> &'k [u8] {
        if self.shape.unique { key } else { &key[..key.len() - ID_BYTES] }
    }

    /// The length of [`TableIndex::node_key`].
    pub fn node_key_len(&self, key: &[u8]) -> usize {
        key.len() + if self.shape.unique { 0 } else { ID_BYTES }
    }

    /// A row's key as it is kept in the index: one that may repeat has the row's number behind it, youngest first.
    pub fn node_key<'k>(&self, key: &'k [u8], suffix: &'k [u8; ID_BYTES]) -> NodeKey<'k> {
        let suffix: &[u8] = if self.shape.unique { &[] } else { suffix };
        NodeKey { key, suffix, order: self.index.order_of(key) }
    }
}

/// The bytes of a row's number behind its keys that may repeat.
pub(crate) fn suffix_of(id: u64) -> [u8; ID_BYTES] {
    (!id).to_be_bytes()
}

/// The names that a table and its rows have in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoggedAs {
    /// The number of the table.
    pub object: u32,
    /// The position of the unique index whose keys are the names of rows.
    pub primary: usize,
}

/// A table in memory.
pub struct MemoryTable {
    pub(crate) indexes: Box<[TableIndex]>,
    /// One of them is a hash index.
    pub(crate) has_hash: bool,
    /// None: its rows are not logged.
    pub(crate) logged: Option<LoggedAs>,
    /// Its number in the process.
    pub(crate) number: u64,
    is_dropped: AtomicBool,
    /// On lines of its own: inserts of other threads change it, and all threads read the rest. So the count of the table's owners, which is
    /// before the table, is on others, too.
    next_id: CachePadded<AtomicU64>,
    pub(crate) counters: TableCounters,
}

impl std::fmt::Debug for MemoryTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "MemoryTable({} rows)", self.rows())
    }
}

impl MemoryTable {
    /// An empty table with these indexes: one at least.
    pub fn new(shapes: &[IndexShape]) -> MemoryTable {
        assert!(!shapes.is_empty(), "rows are reached by indexes");
        assert!(shapes.len() <= INDEXES_MAX, "rows know the number of their indexes");
        let index = |shape: &IndexShape| TableIndex {
            shape: *shape,
            index: Index::new(shape.kind),
            node_bytes: SlotCounter::new(),
        };
        MemoryTable {
            indexes: shapes.iter().map(index).collect(),
            has_hash: shapes.iter().any(|shape| matches!(shape.kind, IndexKind::Hash { .. })),
            logged: None,
            number: numbers::next(),
            is_dropped: AtomicBool::new(false),
            next_id: CachePadded::new(AtomicU64::new(1)),
            counters: TableCounters::default(),
        }
    }

    /// The same for a table whose rows are logged.
    pub fn logged(shapes: &[IndexShape], logged: LoggedAs) -> MemoryTable {
        assert!(shapes[logged.primary].unique, "a row's name is its own");
        MemoryTable { logged: Some(logged), ..MemoryTable::new(shapes) }
    }

    /// Its name in the log; None: its rows are not logged.
    pub fn logged_as(&self) -> Option<LoggedAs> {
        self.logged
    }

    /// Versions of rows that it holds, those too that only old snapshots see.
    pub fn rows(&self) -> u64 {
        self.counters.sum(Count::RowsMade).saturating_sub(self.counters.sum(Count::RowsLetGo))
    }

    /// Bytes of them, with their heads, without the indexes.
    pub fn bytes(&self) -> u64 {
        self.counters.sum(Count::BytesMade).saturating_sub(self.counters.sum(Count::BytesLetGo))
    }

    /// Heads of chains of the index at this position; None: it is not a hash index.
    pub fn buckets(&self, at: usize) -> Option<usize> {
        self.indexes.get(at)?.index.buckets()
    }

    /// Makes its indexes ready for so many rows, which will soon be there.
    pub fn reserve(&self, rows: u64) {
        self.indexes.iter().for_each(|own| own.index.reserve(usize::try_from(rows).unwrap_or(usize::MAX)));
    }

    /// Bytes of memory that rows with these keys and so many bytes can have without more from the system.
    pub fn spare_for_rows(&self, keys: &Keys, body: usize) -> u64 {
        let key_len = |at: usize| self.indexes[at].node_key_len(keys.get(at));
        crate::slabs::spare(Row::size(self.indexes.len(), body, key_len))
    }

    /// The same for other versions of rows.
    pub fn spare_for_versions(&self, body: usize) -> u64 {
        crate::slabs::spare(Version::size(self.indexes.len(), Some(body)))
    }

    /// Asks the processor for the heads of the chains that a row with these keys will be in.
    #[inline]
    pub fn prefetch_heads(&self, keys: &Keys) {
        self.indexes.iter().enumerate().for_each(|(at, own)| own.index.prefetch_head(keys.get(at)));
    }

    /// Asks the processor for the first nodes of these chains, whose heads were asked for.
    pub fn prefetch_nodes(&self, keys: &Keys) {
        self.indexes.iter().enumerate().for_each(|(at, own)| own.index.prefetch_node(keys.get(at)));
    }

    /// Asks the processor for the first nodes of the chains that a version's nodes will be in.
    pub(crate) fn prefetch_beside(&self, version: Guarded<'_, Version>, guard: &Guard) {
        for (at, own) in self.indexes.iter().enumerate() {
            if let Some(node) = version.node(at, guard) {
                own.index.prefetch_beside(node.order);
            }
        }
    }

    /// Bytes of a version with its head, by those of its values.
    fn version_bytes(&self, body: usize) -> u64 {
        (HEAD_BYTES + self.indexes.len() * size_of::<NonNull<Node>>() + body) as u64
    }

    pub(crate) fn count_made(&self, body: Option<usize>) {
        let Some(bytes) = body else { return self.counters.add(Count::Deletes, 1) };
        self.counters.add_both([(Count::BytesMade, self.version_bytes(bytes)), (Count::RowsMade, 1)]);
    }

    pub(crate) fn count_let_go(&self, version: &Version) {
        if let Some(bytes) = version.body_len() {
            self.counters.add_both([(Count::BytesLetGo, self.version_bytes(bytes)), (Count::RowsLetGo, 1)]);
        }
    }

    pub(crate) fn count_refusal(&self, refusal: Refusal) {
        match refusal {
            Refusal::Conflict => self.counters.add(Count::WriteConflicts, 1),
            Refusal::Duplicate(_) => self.counters.add(Count::UniqueViolations, 1),
        }
    }

    /// Numbers of new rows, for one session: sessions that insert rows would change one line in turns for each of them.
    pub(crate) fn deal_ids(&self) -> Range<u64> {
        let first = self.next_id.fetch_add(IDS_AT_ONCE, Ordering::Relaxed);
        first..first + IDS_AT_ONCE
    }

    /// Nothing leads to the table any more but those who have it.
    pub(crate) fn note_dropped(&self) {
        // Relaxed: a session that overlooks it has the table a little longer.
        self.is_dropped.store(true, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn is_dropped(&self) -> bool {
        self.is_dropped.load(Ordering::Relaxed)
    }

    /// Puts a node behind the last one of a finger's leaf, if it belongs there: no other one has its key then. False: it is to be put.
    #[inline]
    pub(crate) fn append_node<'g>(
        &'g self,
        at: usize,
        node: Guarded<'g, Node>,
        finger: Option<&mut Finger>,
        guard: &'g Guard,
    ) -> bool {
        let TableIndex { index, node_bytes, .. } = &self.indexes[at];
        let (Index::Range(index), Some(finger)) = (index, finger) else { return false };
        node.note_linked();
        let is_appended = index.append(node, finger, guard);
        if is_appended {
            node_bytes.add(Node::size(node.key().len()) as u64);
        } else {
            node.note_refused();
        }
        is_appended
    }

    /// Puts a node, which leads to a row of the transaction's, into an index.
    pub(crate) fn put_node<'g>(
        &'g self,
        at: usize,
        node: Guarded<'g, Node>,
        finger: Option<&mut Finger>,
        seen: &Sight,
        guard: &'g Guard,
    ) -> Result<(), Refusal> {
        let TableIndex { shape, index, node_bytes } = &self.indexes[at];
        node.note_linked();
        let put = index.put(node, finger, guard, |other| {
            if shape.unique { seen.may_stand_beside(at, node, other, guard) } else { Ok(()) }
        });
        match put {
            Ok(()) => node_bytes.add(Node::size(node.key().len()) as u64),
            Err(refusal) => {
                node.note_refused();
                self.count_refusal(refusal);
            }
        }
        put
    }

    /// Takes out a node that no version is found by.
    ///
    /// # Safety
    /// No version uses it, and no other thread removes it.
    pub(crate) unsafe fn remove_node(&self, at: usize, node: Guarded<'_, Node>, guard: &Guard) {
        // It may have been refused, and is in no index then.
        if node.is_linked() {
            // SAFETY: the node is there as long as this guard, behind which it goes.
            let node = unsafe { Guarded::new(node.pointer(), guard) };
            self.indexes[at].index.remove(node, guard);
            self.indexes[at].node_bytes.add((Node::size(node.key().len()) as u64).wrapping_neg());
        }
        // SAFETY: the caller says that no version uses it, and it is in no index.
        unsafe { Node::retire(node.pointer(), guard) };
    }

    /// Lets go of the versions of a row that no snapshot from `oldest` on sees.
    pub(crate) fn prune(&self, row: NonNull<Row>, oldest: u64, removed: &AtomicU64, guard: &Guard) {
        // SAFETY: the caller holds it.
        let row = unsafe { Guarded::new(row, guard) };
        let mut at = row.newest(guard);
        while let Some(version) = at {
            if matches!(version.begin(guard), Begin::Time(time) if time <= oldest) {
                if version.body_len().is_none() {
                    // Before its nodes go, which who finds the key free has seen: so he finds this, too. Relaxed: those reads come behind it.
                    removed.fetch_max(version.position(guard), Ordering::Relaxed);
                }
                let mut newer = version;
                // SAFETY: taken out of the chain here, and read under the guard.
                while let Some(old) = unsafe { Guarded::of_raw(newer.take_older(), guard) } {
                    self.count_let_go(&old);
                    // SAFETY: it has left the chain, by the calling thread's doing.
                    unsafe { crate::transactions::retire(self, row, old, Some(newer), guard) };
                    newer = old;
                }
                return;
            }
            at = version.older(guard);
        }
    }

    /// A row by its name: the key of the first index, with the row's number behind it.
    pub(crate) fn row<'g>(&'g self, name: &[u8], guard: &'g Guard) -> Option<Guarded<'g, Row>> {
        let (key, id) = name.split_at_checked(name.len().checked_sub(ID_BYTES)?)?;
        let id = u64::from_be_bytes(id.try_into().ok()?);
        let first = &self.indexes[0];
        let with_suffix;
        let whole = if first.shape.unique {
            key
        } else {
            with_suffix = [key, &suffix_of(id)].concat();
            &with_suffix
        };
        let mut found = None;
        first.index.find(whole, key.len(), guard, |node| {
            found = Some(node.row(guard)).filter(|row| row.id == id);
            found.is_some()
        });
        found
    }
}

/// The sight of a transaction: which versions it sees.
pub(crate) struct Sight {
    /// Versions that were committed up to this time.
    pub time: u64,
    /// And its own.
    pub writer: Option<NonNull<Writer>>,
    /// Of its own, what was made before this statement.
    pub statement: u64,
    /// The highest position in the log of what it has seen.
    pub after: Cell<u64>,
    /// Its waits for transactions that are committing.
    pub waits: Cell<Vec<Spinner>>,
}

impl Sight {
    /// The version of a row that is seen.
    #[inline]
    pub fn version<'g>(&self, row: Guarded<'g, Row>, guard: &'g Guard) -> Option<Guarded<'g, Version>> {
        let mut at = row.newest(guard);
        while let Some(version) = at {
            if self.sees(&version, guard) {
                self.note(&version, guard);
                return Some(version);
            }
            at = version.older(guard);
        }
        None
    }

    /// Notes the position of a version that the transaction acts on.
    #[inline]
    fn note(&self, version: &Version, guard: &Guard) {
        self.after.set(self.after.get().max(version.position(guard)));
    }

    #[cold]
    fn note_wait(&self, spinner: Spinner) {
        let mut waits = self.waits.take();
        waits.push(spinner);
        self.waits.set(waits);
    }

    #[inline]
    fn sees(&self, version: &Version, guard: &Guard) -> bool {
        match version.begin(guard) {
            Begin::Time(time) => time <= self.time,
            Begin::Writer(writer) if Some(NonNull::from(writer)) == self.writer => version.statement() < self.statement,
            Begin::Writer(writer) => writer.committed_by(self.time, |spinner| self.note_wait(spinner)).is_some(),
        }
    }

    /// Lets a row have the same key as another that has left it, as far as the transaction sees, and to which no transaction can give it back.
    fn may_stand_beside<'g>(
        &self,
        at: usize,
        new: Guarded<'g, Node>,
        other: Guarded<'g, Node>,
        guard: &'g Guard,
    ) -> Result<(), Refusal> {
        if new.row(guard).pointer() == other.row(guard).pointer() {
            return Ok(());
        }
        let has_key = |version: Guarded<'g, Version>| version.is_found_by(other, at);
        let mut version = other.row(guard).newest(guard);
        while let Some(this) = version {
            if this.is_of(self.writer, guard) {
                return if has_key(this) { Err(Refusal::Duplicate(at)) } else { Ok(()) };
            }
            match this.committed_by(u64::MAX, |spinner| self.note_wait(spinner), guard) {
                Some(time) if time > self.time => return Err(Refusal::Conflict),
                Some(_) if has_key(this) => return Err(Refusal::Duplicate(at)),
                Some(_) => {
                    self.note(&this, guard);
                    return Ok(());
                }
                // Somebody is changing it. What it comes to is not known: a conflict, if it had the key or gets it.
                None if has_key(this) => return Err(Refusal::Conflict),
                None if this.older(guard).is_some_and(has_key) => return Err(Refusal::Conflict),
                None => version = this.older(guard),
            }
        }
        Ok(())
    }
}
