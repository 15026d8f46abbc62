//! The nodes of indexes: a row's place under one of its keys.
//!
//! ```text
//!   Node --next--> Node --next--> the end of the chain
//!    key            key
//!    |              |
//!    v              v
//!   Row            Row
//! ```
//! A link with its lowest bit set belongs to a node that is leaving, and still linked (Harris, 2001).
//!
//! A node in its row's block knows how far behind the row it is. One with a block of its own has the row's address before it:
//!
//! ```text
//!   | row | Node | key |
//! ```

use std::ptr::NonNull;

use crossbeam_epoch::Guard;
use pikepole_contention::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use crate::guarded::{Guarded, prefetch};
use crate::row::{ALIGN, NodeKey, Row, copy_few, padded};
use crate::slabs::{allocate, free};

/// The place of a row under one of its keys: this head, and the key behind it.
#[repr(C)]
pub(crate) struct Node {
    pub next: AtomicPtr<Node>,
    /// The place in the order of a hash index; unused in others.
    pub order: u64,
    key_len: u32,
    /// Its distance behind the row, in [`ALIGN`], with [`LINKED`] in the lowest bit. Zero: it has a block of its own.
    place: AtomicU32,
}

/// The bit of a node that was put into its index.
const LINKED: u32 = 1;
/// Bytes before a node that has a block of its own: the row's address.
const OWN_HEAD: usize = size_of::<NonNull<Row>>();

/// Asks the processor for a node that is about to be read, and for the row before it and the version behind it, as a row's block has them.
#[inline(always)]
pub(crate) fn prefetch_row(node: *const u8) {
    prefetch(node.wrapping_sub(size_of::<Row>()), 3);
}

pub(crate) fn is_marked<T>(pointer: *mut T) -> bool {
    pointer.addr() & 1 == 1
}

pub(crate) fn marked<T>(pointer: *mut T) -> *mut T {
    pointer.map_addr(|addr| addr | 1)
}

pub(crate) fn unmarked<T>(pointer: *mut T) -> *mut T {
    pointer.map_addr(|addr| addr & !1)
}

impl Node {
    /// Bytes of a node with its key.
    pub fn size(key_len: usize) -> usize {
        padded(size_of::<Node>() + key_len)
    }

    /// Makes a node in memory; it is linked nowhere. It is so many bytes behind its row, in that one's block.
    ///
    /// # Safety
    /// The memory is the caller's, is aligned and has the [`Node::size`] of the key. It is at that distance, or behind the row's address if
    /// that is zero.
    pub unsafe fn write(memory: NonNull<u8>, behind_row: usize, key: NodeKey<'_>) -> NonNull<Node> {
        let NodeKey { key, suffix, order } = key;
        let node = memory.cast::<Node>();
        let next = AtomicPtr::new(std::ptr::null_mut());
        let key_len = u32::try_from(key.len() + suffix.len()).unwrap_or_else(|_| unreachable!("keys are short"));
        let place = u32::try_from(behind_row / ALIGN * 2).unwrap_or_else(|_| unreachable!("a row has less than 16 GB"));
        // SAFETY: there is room for the head and the key behind it.
        unsafe {
            node.write(Node { next, order, key_len, place: AtomicU32::new(place) });
            let to = node.add(1).cast::<u8>();
            copy_few(NonNull::from(key).cast(), to, key.len());
            copy_few(NonNull::from(suffix).cast(), to.add(key.len()), suffix.len());
        }
        node
    }

    /// A node in a block of its own; it holds the row.
    pub fn new(row: Guarded<'_, Row>, key: NodeKey<'_>) -> NonNull<Node> {
        row.hold();
        let memory = allocate(OWN_HEAD + Node::size(key.key.len() + key.suffix.len()));
        // SAFETY: just allocated with this size.
        unsafe {
            memory.cast::<NonNull<Row>>().write(row.pointer());
            Node::write(memory.add(OWN_HEAD), 0, key)
        }
    }

    /// Bytes that it is behind its row; zero: it has a block of its own.
    fn behind_row(&self) -> usize {
        (self.place.load(Ordering::Relaxed) & !LINKED) as usize / 2 * ALIGN
    }

    /// The row that it leads to.
    ///
    /// # Safety
    /// The node is there, and the pointer is one for the whole block.
    #[inline]
    unsafe fn row_of(node: NonNull<Node>) -> NonNull<Row> {
        // SAFETY: the caller says so: either the row is at the beginning of the block, or its address is.
        unsafe {
            match node.as_ref().behind_row() {
                0 => node.cast::<NonNull<Row>>().sub(1).read(),
                bytes => node.cast::<u8>().sub(bytes).cast(),
            }
        }
    }

    /// Notes that it is about to be put into its index. The transaction that has made it does so; others come to it through the index, or
    /// when the transaction has ended.
    pub fn note_linked(&self) {
        self.place.store(self.place.load(Ordering::Relaxed) | LINKED, Ordering::Relaxed);
    }

    /// Takes the note back: it was not put.
    pub fn note_refused(&self) {
        self.place.store(self.place.load(Ordering::Relaxed) & !LINKED, Ordering::Relaxed);
    }

    pub fn is_linked(&self) -> bool {
        self.place.load(Ordering::Relaxed) & LINKED != 0
    }

    /// Returns true when it is about to leave its index.
    pub fn is_leaving(&self) -> bool {
        // Acquire pairs with the AcqRel of `leave`.
        is_marked(self.next.load(Ordering::Acquire))
    }

    /// Marks its link: nothing is put behind it from now on.
    pub fn leave(&self) {
        let mut next = self.next.load(Ordering::Acquire);
        while !is_marked(next) {
            // AcqRel pairs with the Acquire loads of those who walk.
            match self.next.compare_exchange(next, marked(next), Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return,
                Err(now) => next = now,
            }
        }
    }

    /// Lets go of a node that is in no index any more, and of its row with it.
    ///
    /// # Safety
    /// No version is found by it, and no thread comes to it any more but those that hold guards.
    pub unsafe fn retire(node: NonNull<Node>, guard: &Guard) {
        // SAFETY: it is freed behind the guard.
        let (own, row) = unsafe { (node.as_ref(), Node::row_of(node)) };
        if own.behind_row() == 0 {
            let size = OWN_HEAD + Node::size(own.key_len as usize);
            // SAFETY: it is behind the row's address in its block.
            let block = unsafe { node.cast::<u8>().sub(OWN_HEAD) }.as_ptr();
            // SAFETY: allocated by `new` with this size; readers hold guards.
            unsafe { guard.defer_unchecked(move || free(NonNull::new_unchecked(block), size)) };
        }
        // SAFETY: the node has held it, and its pointer is that of the block.
        unsafe { Row::release(row, guard) };
    }
}

impl<'g> Guarded<'g, Node> {
    /// The key, with the row's number behind it where keys may repeat.
    pub fn key(self) -> &'g [u8] {
        // SAFETY: it is behind the head in the same block, and does not change.
        unsafe { NonNull::slice_from_raw_parts(self.pointer().add(1).cast::<u8>(), self.key_len as usize).as_ref() }
    }

    /// The node behind it in the chain of an ordered index, of the same key. Acquire pairs with the Release of the leaf that leads to the
    /// chain, and of who has taken one out of it.
    pub fn older(self, guard: &'g Guard) -> Option<Guarded<'g, Node>> {
        // SAFETY: it was linked while the guard is held: it goes to the epochs behind being taken out of the chain.
        unsafe { Guarded::of_raw(self.get().next.load(Ordering::Acquire), guard) }
    }

    /// The row, which the node holds while it is linked.
    pub fn row(self, guard: &'g Guard) -> Guarded<'g, Row> {
        // SAFETY: the row goes to the epochs after the node has left its index, in which it was while the guard was held; a node that a version
        // leads to is in its index, or its transaction holds the row.
        unsafe { Guarded::new(Node::row_of(self.pointer()), guard) }
    }
}
