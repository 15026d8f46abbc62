//! Rows and their versions, the newest first.
//!
//! ```text
//!   node of index 0 --\                newest        older         older
//!   node of index 1 ---+--> Row -------> Version ----> Version ----> Version
//!                                        begin: writer  begin: 17     begin: 4
//! ```
//! The version at the head may belong to a transaction that has not ended. Then it is the row's lock, and no other
//! transaction puts one before it. A version leads to the node that it is found by in each index, so a reader who comes to a row through
//! a node knows whether the version that it sees is the one that has this key. Versions beside each other with the same key lead to the same
//! node, and no others do: it leaves its index with the newest of them.
//!
//! A row is inserted as one block of memory, with its first version and the nodes of its first keys; later versions and nodes of changed
//! keys have blocks of their own:
//!
//! ```text
//!   | Row | node of index 0, its key | Version, its nodes' addresses, its bytes | node of index 1, its key | ...
//! ```
//! The block goes when the row does: who holds the row, as each linked node does, keeps what is in the block.

use std::ptr::NonNull;

use crossbeam_epoch::Guard;
use pikepole_contention::Spinner;
use pikepole_contention::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

use crate::guarded::Guarded;
use crate::node::Node;
use crate::slabs::{allocate, free};
use crate::writer::Writer;

/// Marks a begin word that is the address of a [`Writer`].
const WRITER: u64 = 1 << 63;
/// The length of the bytes of a deleted row.
const DELETED: usize = usize::MAX;
/// Bits of [`Version::made`] that count its nodes; the statement, or the position in the log, is above them.
const NODES_BITS: u32 = 12;
/// The largest position in the log that fits there: four petabytes of log.
const POSITION_MAX: u64 = (1 << (64 - NODES_BITS)) - 1;
/// The largest number of a statement in its transaction; later ones share it.
pub(crate) const STATEMENT_MAX: u64 = (1 << (64 - NODES_BITS)) - 1;
/// Indexes that a table can have.
pub(crate) const INDEXES_MAX: usize = (1 << NODES_BITS) - 1;

/// The alignment of all blocks and their parts.
pub(crate) const ALIGN: usize = align_of::<AtomicU64>();

const _: () = assert!(align_of::<Row>() == ALIGN && align_of::<Version>() == ALIGN && align_of::<Node>() == ALIGN);

/// Bytes of a part of a block: the next one is aligned.
pub(crate) const fn padded(bytes: usize) -> usize {
    (bytes + (ALIGN - 1)) & !(ALIGN - 1)
}

/// Copies bytes, few mostly: those of up to 32 without a call.
///
/// # Safety
/// There are so many at both places, which do not overlap.
#[inline(always)]
pub(crate) unsafe fn copy_few(from: NonNull<u8>, to: NonNull<u8>, bytes: usize) {
    // SAFETY: both pieces are within the bytes, and overlap in the middle or meet there.
    let copy_ends = |size: usize| unsafe {
        from.copy_to_nonoverlapping(to, size);
        from.add(bytes - size).copy_to_nonoverlapping(to.add(bytes - size), size);
    };
    match bytes {
        8..16 => copy_ends(8),
        16..=32 => copy_ends(16),
        // SAFETY: the caller says so.
        _ => unsafe { from.copy_to_nonoverlapping(to, bytes) },
    }
}

/// The origin of a version.
#[derive(Clone, Copy)]
pub(crate) enum Begin<'g> {
    Time(u64),
    Writer(&'g Writer),
}

/// One version of a row: this head, the addresses of the nodes that it is found by, its bytes.
#[repr(C)]
pub(crate) struct Version {
    begin: AtomicU64,
    pub older: AtomicPtr<Version>,
    /// The number of its nodes, and the statement of its writer that has made it; once it is committed, the position of that in the log.
    made: AtomicU64,
    len: usize,
}

impl Version {
    /// Bytes of a version of a row in so many indexes.
    pub fn size(nodes: usize, body: Option<usize>) -> usize {
        padded(size_of::<Version>() + nodes * size_of::<NonNull<Node>>() + body.unwrap_or(0))
    }

    /// Makes a version in memory, without its nodes.
    ///
    /// # Safety
    /// The memory is the caller's, is aligned and has the [`Version::size`] of these.
    pub unsafe fn write(
        memory: NonNull<u8>,
        writer: NonNull<Writer>,
        statement: u64,
        nodes: usize,
        body: Option<&[u8]>,
    ) -> NonNull<Version> {
        let version = memory.cast::<Version>();
        let head = Version {
            begin: AtomicU64::new(writer.as_ptr().expose_provenance() as u64 | WRITER),
            older: AtomicPtr::new(std::ptr::null_mut()),
            made: AtomicU64::new(statement << NODES_BITS | nodes as u64),
            len: body.map_or(DELETED, <[u8]>::len),
        };
        // SAFETY: there is room for the head, and for the nodes and the bytes behind it.
        unsafe {
            version.write(head);
            if let Some(body) = body {
                let to = Version::nodes_of(version).add(nodes).cast::<u8>();
                copy_few(NonNull::from(body).cast(), to, body.len());
            }
        }
        version
    }

    /// A version in a block of its own.
    ///
    /// # Safety
    /// The caller puts its nodes before another thread sees it.
    pub unsafe fn new(writer: NonNull<Writer>, statement: u64, nodes: usize, body: Option<&[u8]>) -> NonNull<Version> {
        let memory = allocate(Version::size(nodes, body.map(<[u8]>::len)));
        // SAFETY: just allocated with this size.
        unsafe { Version::write(memory, writer, statement, nodes, body) }
    }

    /// Frees a version that has a block of its own.
    ///
    /// # Safety
    /// Nothing leads to it.
    pub unsafe fn free(version: NonNull<Version>) {
        // SAFETY: the caller has it alone.
        let own = unsafe { version.as_ref() };
        let size = Version::size(own.nodes_count(), own.body_len());
        // SAFETY: `new` has allocated it with this size: neither the count of its nodes nor its length ever changes.
        unsafe { free(version.cast(), size) };
    }

    /// # Safety
    /// The version is in memory.
    unsafe fn nodes_of(version: NonNull<Version>) -> NonNull<NonNull<Node>> {
        // SAFETY: they are behind the head in the same block.
        unsafe { version.add(1).cast() }
    }

    /// Puts one of its nodes.
    ///
    /// # Safety
    /// No other thread has seen the version, and it has so many.
    pub unsafe fn put_node(version: NonNull<Version>, at: usize, node: NonNull<Node>) {
        // SAFETY: the caller says so.
        unsafe { Version::nodes_of(version).add(at).write(node) };
    }

    fn nodes_count(&self) -> usize {
        (self.made.load(Ordering::Relaxed) & ((1 << NODES_BITS) - 1)) as usize
    }

    /// The statement of its writer that has made it, which has not committed it.
    pub fn statement(&self) -> u64 {
        self.made.load(Ordering::Relaxed) >> NODES_BITS
    }

    /// The position in the log of what has committed it, see [`MemoryTransaction::after`](crate::MemoryTransaction::after); zero as long as
    /// it is not committed.
    pub fn position(&self, guard: &Guard) -> u64 {
        match self.begin(guard) {
            Begin::Time(_) => self.made.load(Ordering::Relaxed) >> NODES_BITS,
            Begin::Writer(writer) => writer.position(),
        }
    }

    /// The length of the row's bytes; None: the row was deleted.
    pub fn body_len(&self) -> Option<usize> {
        (self.len != DELETED).then_some(self.len)
    }

    /// Tells if it is the first of its row, as its writer finds it: no older one has gone from behind a version that is not committed.
    pub fn is_first(&self) -> bool {
        self.older.load(Ordering::Relaxed).is_null()
    }

    /// Its time, or its writer. Acquire pairs with the Release of [`Version::set_committed`].
    pub fn begin<'g>(&self, _guard: &'g Guard) -> Begin<'g> {
        let word = self.begin.load(Ordering::Acquire);
        if word & WRITER == 0 {
            return Begin::Time(word);
        }
        let writer = std::ptr::with_exposed_provenance::<Writer>((word & !WRITER) as usize);
        // SAFETY: a writer is given to the epochs only after all its versions have got a time or have left their chains; this one
        // had the writer's address while the guard was held.
        Begin::Writer(unsafe { &*writer })
    }

    /// Takes the rest of the chain off, which the calling thread has alone then. AcqRel: it comes behind those who have put that there.
    pub fn take_older(&self) -> *mut Version {
        if self.older.load(Ordering::Relaxed).is_null() {
            return std::ptr::null_mut();
        }
        self.older.swap(std::ptr::null_mut(), Ordering::AcqRel)
    }

    /// The writer has committed at `time`, and `position` in the log. Release pairs with the Acquire of [`Version::begin`].
    pub fn set_committed(&self, time: u64, position: u64) {
        let made = position.min(POSITION_MAX) << NODES_BITS | self.nodes_count() as u64;
        self.made.store(made, Ordering::Relaxed);
        self.begin.store(time, Ordering::Release);
    }

    /// The time of a version that was committed at `latest` or before; see [`Writer::committed_by`].
    pub fn committed_by(&self, latest: u64, wait: impl FnOnce(Spinner), guard: &Guard) -> Option<u64> {
        match self.begin(guard) {
            Begin::Time(time) => (time <= latest).then_some(time),
            Begin::Writer(writer) => writer.committed_by(latest, wait),
        }
    }

    /// The same for a transaction that has `own` as its time to commit; see [`Writer::stands_by`].
    pub fn stands_by(&self, own: u64, wait: impl FnOnce(Spinner), guard: &Guard) -> Option<u64> {
        match self.begin(guard) {
            Begin::Time(time) => (time <= own).then_some(time),
            Begin::Writer(writer) => writer.stands_by(own, wait),
        }
    }

    pub fn is_of(&self, writer: Option<NonNull<Writer>>, guard: &Guard) -> bool {
        matches!(self.begin(guard), Begin::Writer(own) if Some(NonNull::from(own)) == writer)
    }
}

impl<'g> Guarded<'g, Version> {
    /// The version before it. Acquire pairs with the AcqRel that put this one before it.
    pub fn older(self, guard: &'g Guard) -> Option<Guarded<'g, Version>> {
        // SAFETY: a version is given to the epochs after it has left its chain, in which it was while the guard was held.
        unsafe { Guarded::of_raw(self.get().older.load(Ordering::Acquire), guard) }
    }

    /// The nodes that it is found by, one of each index; none of a deleted row. They are there as long as the version.
    pub fn nodes(self) -> &'g [NonNull<Node>] {
        // SAFETY: they were put before the version was seen, and do not change.
        unsafe { NonNull::slice_from_raw_parts(Version::nodes_of(self.pointer()), self.nodes_count()).as_ref() }
    }

    /// The node that it is found by in an index.
    pub fn node(self, at: usize, guard: &'g Guard) -> Option<Guarded<'g, Node>> {
        // SAFETY: a node goes to the epochs behind the last version that is found by it.
        self.nodes().get(at).map(|node| unsafe { Guarded::new(*node, guard) })
    }

    /// Tells if it is found by a node in an index.
    pub fn is_found_by(self, node: Guarded<'_, Node>, at: usize) -> bool {
        self.nodes().get(at) == Some(&node.pointer())
    }

    /// The row's bytes; None: the row was deleted.
    pub fn body(self) -> Option<&'g [u8]> {
        let len = self.body_len()?;
        // SAFETY: they are behind the nodes in the same block, and do not change.
        let bytes = unsafe {
            let start = Version::nodes_of(self.pointer()).add(self.nodes_count()).cast::<u8>();
            NonNull::slice_from_raw_parts(start, len).as_ref()
        };
        Some(bytes)
    }
}

/// A row: the head of its versions.
#[repr(C)]
pub(crate) struct Row {
    /// Its number in the table.
    pub id: u64,
    newest: AtomicPtr<Version>,
    /// The nodes that lead to it, the changes of it that have not ended, and the pieces of garbage that know it. A transaction that has inserted
    /// it needs no more than its nodes.
    holders: AtomicU32,
    /// The size of its block, in [`ALIGN`].
    size: u32,
}

/// A row's key in an index, as it is kept there.
pub(crate) struct NodeKey<'k> {
    pub key: &'k [u8],
    /// The row's number behind the key of an index that may repeat.
    pub suffix: &'k [u8],
    pub order: u64,
}

impl Row {
    /// A row with its first version, held by its nodes. `key_len` gives the length of the key that `key` gives.
    #[inline]
    pub fn new<'k>(
        id: u64,
        writer: NonNull<Writer>,
        statement: u64,
        nodes: usize,
        body: &[u8],
        key_len: impl Fn(usize) -> usize,
        key: impl Fn(usize) -> NodeKey<'k>,
    ) -> NonNull<Row> {
        let version_size = Version::size(nodes, Some(body.len()));
        let size = Row::size(nodes, body.len(), &key_len);
        let block = allocate(size);
        let row = block.cast::<Row>();
        let mut at = size_of::<Row>();
        let mut version = None;
        // SAFETY: the parts are aligned and lie behind each other in the block, whose size is their sum.
        unsafe {
            for number in 0..nodes {
                let key = key(number);
                let node_size = Node::size(key.key.len() + key.suffix.len());
                let node = Node::write(block.add(at), at, key);
                at += node_size;
                let version = *version.get_or_insert_with(|| {
                    let version = Version::write(block.add(at), writer, statement, nodes, Some(body));
                    at += version_size;
                    version
                });
                Version::put_node(version, number, node);
            }
            debug_assert!(nodes == 0 || at == size, "keys have the lengths that were told");
            let newest = version.map_or(std::ptr::null_mut(), NonNull::as_ptr);
            row.write(Row {
                id,
                newest: AtomicPtr::new(newest),
                holders: AtomicU32::new(nodes as u32),
                size: u32::try_from(size / ALIGN).unwrap_or_else(|_| unreachable!("a row has less than 32 GB")),
            });
        }
        row
    }

    /// Bytes of the block of a row with its first version.
    pub fn size(nodes: usize, body: usize, key_len: impl Fn(usize) -> usize) -> usize {
        let keys: usize = (0..nodes).map(|at| Node::size(key_len(at))).sum();
        size_of::<Row>() + Version::size(nodes, Some(body)) + keys
    }

    pub fn hold(&self) {
        self.holders.fetch_add(1, Ordering::Relaxed);
    }

    /// Tells if a part is in the row's own block.
    pub fn has_in_block<T>(&self, part: *const T) -> bool {
        part.addr().wrapping_sub(std::ptr::from_ref(self).addr()) < self.size as usize * ALIGN
    }

    /// Puts `version` before `newest`, which must be the newest still. False: it is not.
    pub fn put(&self, newest: *mut Version, version: NonNull<Version>) -> bool {
        // AcqRel: Release pairs with the Acquire of `Guarded::newest`, so its reader sees the version and what it leads to. Who finds a key
        // free or taken by this version comes here behind the exchange of its node, which is later in the same thread.
        self.newest.compare_exchange(newest, version.as_ptr(), Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// Takes the newest version off, which is the calling transaction's own. Release pairs with the Acquire of `Guarded::newest`.
    pub fn take_off(&self, own: &Version) {
        self.newest.store(own.older.load(Ordering::Acquire), Ordering::Release);
    }

    /// One holder less; the last one gives the row to the epochs, with the mark of its deletion if that is left.
    ///
    /// # Safety
    /// The caller has held the row, and no longer uses it but under a guard. The pointer is one for the whole block.
    pub unsafe fn release(row: NonNull<Row>, guard: &Guard) {
        // SAFETY: the caller says so.
        unsafe {
            if Row::is_last(row) {
                Row::retire(row, guard);
            }
        }
    }

    /// One holder less; true: there is none any more.
    ///
    /// # Safety
    /// The caller has held the row.
    unsafe fn is_last(row: NonNull<Row>) -> bool {
        // SAFETY: the caller's hold has kept it until here.
        let held = unsafe { row.as_ref() };
        // AcqRel: the last one comes behind what all the others have done with the row.
        held.holders.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// # Safety
    /// Nothing leads to the row any more but readers who hold a guard: no node, no transaction, no garbage.
    unsafe fn retire(row: NonNull<Row>, guard: &Guard) {
        let row = row.as_ptr();
        // SAFETY: the caller says so.
        unsafe { guard.defer_unchecked(move || Row::free(NonNull::new_unchecked(row))) };
    }

    /// # Safety
    /// Nothing leads to the row. Its versions that lead to nodes have gone before their nodes, so what is left in the chain are marks of
    /// deletions, or its table is being dropped.
    unsafe fn free(row: NonNull<Row>) {
        // SAFETY: the caller has it alone.
        let own = unsafe { row.as_ref() };
        let mut version = NonNull::new(own.newest.load(Ordering::Relaxed));
        while let Some(this) = version {
            // SAFETY: as above.
            version = NonNull::new(unsafe { this.as_ref() }.older.load(Ordering::Relaxed));
            if !own.has_in_block(this.as_ptr()) {
                // SAFETY: as above.
                unsafe { Version::free(this) };
            }
        }
        let size = own.size as usize * ALIGN;
        // SAFETY: `new` has allocated it with this size.
        unsafe { free(row.cast(), size) };
    }
}

impl<'g> Guarded<'g, Row> {
    /// Acquire pairs with the AcqRel of [`Row::put`].
    pub fn newest(self, guard: &'g Guard) -> Option<Guarded<'g, Version>> {
        // SAFETY: as of `older`.
        unsafe { Guarded::of_raw(self.get().newest.load(Ordering::Acquire), guard) }
    }
}
