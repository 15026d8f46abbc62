//! Clustered B+trees: unique keys compared as bytes, rows in the leaves.
//!
//! ```text
//!   root (fixed page)          [ "" -> 17 | "k" -> 42 ]                 level 2
//!                             /                        \
//!   inner          [ "" -> 9 | "c" -> 11 ]      [ "" -> 30 | "p" -> 31 ]   level 1
//!                   /            \               /            \
//!   leaves   [ , c) rows --> [c, k) rows --> [k, p) rows --> [p, ) rows     level 0, next pages
//! ```
//!
//! Invariants
//! - a leaf holds exactly the keys between its fences; the fences of neighbours meet; so whoever holds a leaf's latch can
//!   tell by the fences alone whether a key belongs there, and a [`TreeCursor`] is no more than a page and its frame;
//! - the root's page never changes: the root grows by pushing its content into a new child;
//! - a split is one log record for all its pages, under the latches of parent and child; the parent has room by then
//!   (a full parent is split first, in a record of its own);
//! - leaves and inner pages are never merged; emptied leaves are filled again by later keys of their range, and all
//!   pages go when the object does.
//!
//! Modules: `descent` finds a leaf, `insert` and `change` work on one, `split` makes room, `scan` reads in order, `cuts` finds keys
//! that cut the tree into parts, `unlogged` is about trees whose rows are not logged while they are filled.

mod change;
mod cuts;
mod descent;
mod insert;
mod scan;
mod split;
#[cfg(test)]
mod tests;
mod unlogged;

pub use scan::{Direction, ScanRange, ScanRow, TreeScan};
pub use unlogged::LoggedPages;

use std::sync::Arc;

use pikepole_contention::slot;
use pikepole_log::LsnRange;

use crate::allocation::OBJECT_FIRST;
use crate::error::{PageId, Stop, StorageError};
use crate::meter::ReadKey;
use crate::page::inner::CHILD_BYTES;
use crate::page::slotted::leaf_entry_bytes;
use crate::page::{PAGE_BYTES, PAGE_HEADER_BYTES, PageBytes, PageKind, PageMut, SLOT_BYTES};
use crate::records::ChangeList;
use crate::row::{LogContext, RowHeader};
use crate::store::Store;

/// Longest key that a tree can be created for, in bytes: an inner page with three children then has room for a fourth, so
/// that a full one can be split into two with two each.
pub const KEY_BYTES_MAX: usize = 2000;

/// Longest key of a tree whose inner pages have low fences. With longer keys a page has no room for one, nor a use: the low
/// fence of an inner page never changes, and is the separator that leads to it.
const LOW_FENCED_KEY_BYTES_MAX: usize = 1500;

/// Entries and slots of four children, of which the first has no separator, and the high fence.
const FOUR_CHILDREN_BYTES: usize = 4 * (CHILD_BYTES + SLOT_BYTES) + 4 * KEY_BYTES_MAX;
const _: () = assert!(PAGE_HEADER_BYTES + FOUR_CHILDREN_BYTES <= PAGE_BYTES);
const _: () = assert!(
    PAGE_HEADER_BYTES + 4 * (CHILD_BYTES + SLOT_BYTES) + 5 * LOW_FENCED_KEY_BYTES_MAX <= PAGE_BYTES,
    "the same with a low fence"
);

/// A handle on a tree. Cheap to clone.
#[derive(Clone)]
pub struct Tree {
    store: Arc<Store>,
    object: u32,
    root: PageId,
    key_bytes_max: usize,
    /// See [`Tree::unlogged`].
    unlogged: bool,
}

/// Where a session last worked in a tree: the next operation nearby needs no descent. One cursor serves one tree at a
/// time; with another one it only costs a descent.
#[derive(Clone, Debug, Default)]
pub struct TreeCursor {
    /// The leaf and its frame; page 0 (a map page): none.
    page: PageId,
    frame: u32,
    slot: u32,
    /// Inserts in a row that went upwards.
    ascents: u32,
}

impl TreeCursor {
    /// A cursor that has been nowhere.
    pub fn new() -> TreeCursor {
        TreeCursor::default()
    }
}

/// What an insert did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InsertOutcome {
    /// The row is in; its log record lies there. Empty in a tree that is filled without logging.
    Done(LsnRange),
    /// The key is taken by a row with this header, perhaps a ghost. Nothing was changed.
    Exists(RowHeader),
    /// The caller did not admit it; see [`Tree::insert_if`]. Nothing was changed.
    Refused,
}

/// What a change of a row did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChangeOutcome {
    /// Done; its log record lies there.
    Done(LsnRange),
    /// The row has this header now, not the expected one. Nothing was changed.
    Changed(RowHeader),
    /// There is no such row.
    Missing,
    /// The caller did not admit it; see [`UnderLatch::admits`]. Nothing was changed.
    Refused,
}

/// What a caller does while the page of a row that it changes is latched.
pub trait UnderLatch {
    /// Whether the row may be changed now. It is asked before anything is.
    fn admits(&self) -> bool;

    /// Takes the old header and columns, exactly once if the change is made: after its record is in the log, and before the
    /// new row is in the page.
    fn keep(self, header: RowHeader, rest: &[u8]);
}

impl<F: FnOnce(RowHeader, &[u8])> UnderLatch for F {
    fn admits(&self) -> bool {
        true
    }

    fn keep(self, header: RowHeader, rest: &[u8]) {
        self(header, rest);
    }
}

impl Tree {
    /// Whether this is the handle of the same tree, in the same state.
    fn is(&self, other: &Tree) -> bool {
        (self.object, self.root, self.unlogged) == (other.object, other.root, other.unlogged)
            && Arc::ptr_eq(&self.store, &other.store)
    }

    /// Makes an empty tree. The caller keeps the root's page and `key_bytes_max`, the length of its longest possible key
    /// (at most [`KEY_BYTES_MAX`]).
    ///
    /// # Errors
    /// Needs; a full disk or log.
    pub fn create(store: &Arc<Store>, object: u32, key_bytes_max: usize) -> Result<Tree, Stop> {
        assert!(object >= OBJECT_FIRST, "smaller ids are the store's own");
        if key_bytes_max > KEY_BYTES_MAX {
            return Err(Stop::Error(StorageError::KeyTooLong {
                object,
                bytes: key_bytes_max,
                bytes_max: KEY_BYTES_MAX,
            }));
        }
        let spare = store.pool.take_free()?;
        let page = store.new_page(object, slot::current(), false)?;
        let root = page.id;
        let mut bytes: PageBytes = [0; PAGE_BYTES];
        PageMut::new(&mut bytes).format(root, object, PageKind::Leaf, 0);
        let mut changes = ChangeList::new();
        changes.image(PageMut::new(&mut bytes).as_page());
        store.log_new_page(&LogContext::default(), 0, spare, page, &bytes, Some(changes))?;
        Ok(Tree { store: Arc::clone(store), object, root, key_bytes_max, unlogged: false })
    }

    /// A handle on a tree made by [`Tree::create`] with the same numbers.
    pub fn open(store: &Arc<Store>, object: u32, root: PageId, key_bytes_max: usize) -> Tree {
        Tree { store: Arc::clone(store), object, root, key_bytes_max, unlogged: false }
    }

    /// The root's page.
    pub fn root(&self) -> PageId {
        self.root
    }

    /// The object that the tree's pages belong to.
    pub fn object(&self) -> u32 {
        self.object
    }

    /// The tree in the counts of a [`ReadMeter`](crate::ReadMeter).
    pub fn read_key(&self) -> ReadKey {
        ReadKey::new(&self.store, self.object)
    }

    /// About how many pages the tree has.
    pub fn pages_guessed(&self) -> u64 {
        self.store.pages_guessed(self.object)
    }

    /// The longest key allowed, in bytes.
    pub fn key_bytes_max(&self) -> usize {
        self.key_bytes_max
    }

    /// Bytes of key and rest that a row of this tree may have together.
    pub fn row_bytes_max(&self) -> usize {
        Tree::row_bytes_max_of(self.key_bytes_max)
    }

    /// Bytes of key and rest that a row may have together in a tree of keys of at most so many bytes.
    pub fn row_bytes_max_of(key_bytes_max: usize) -> usize {
        // Header and key length are not the row's; both fences can be a byte longer than the longest key.
        PAGE_BYTES - PAGE_HEADER_BYTES - SLOT_BYTES - 2 * (key_bytes_max + 1) - leaf_entry_bytes(200, 0) + 200
    }

    #[inline]
    fn check_size(&self, key: &[u8], rest: &[u8]) -> Result<(), Stop> {
        if key.len() > self.key_bytes_max || key.len() + rest.len() > self.row_bytes_max() {
            return Err(self.too_long(key, rest));
        }
        Ok(())
    }

    #[cold]
    fn too_long(&self, key: &[u8], rest: &[u8]) -> Stop {
        Stop::Error(if key.len() > self.key_bytes_max {
            StorageError::KeyTooLong { object: self.object, bytes: key.len(), bytes_max: self.key_bytes_max }
        } else {
            StorageError::RowTooLong { bytes: key.len() + rest.len(), bytes_max: self.row_bytes_max() }
        })
    }
}
