//! The place of a table that plans lead to, which may outlive the table.

use crossbeam_epoch::{Atomic, Guard, Shared};
use pikepole_contention::sync::Arc;
use pikepole_contention::sync::atomic::Ordering;

use crate::table::MemoryTable;

/// A table, until it is dropped: a plan that keeps the slot keeps no rows.
pub struct TableSlot(Atomic<Arc<MemoryTable>>);

impl TableSlot {
    /// The slot of a table.
    pub fn new(table: MemoryTable) -> TableSlot {
        TableSlot(Atomic::new(Arc::new(table)))
    }

    /// The table, as long as the guard is held; None: it was dropped.
    #[inline]
    pub fn get<'g>(&self, guard: &'g Guard) -> Option<&'g Arc<MemoryTable>> {
        // SAFETY: what `empty` takes out is given to the epochs. Acquire pairs with the making of the slot, which came to this thread.
        unsafe { self.0.load(Ordering::Acquire, guard).as_ref() }
    }

    /// The table is dropped: its rows go when no thread reads them, and none of them waits for a snapshot.
    pub fn empty(&self) {
        let guard = crossbeam_epoch::pin();
        let table = self.0.swap(Shared::null(), Ordering::AcqRel, &guard);
        // SAFETY: as of `get`.
        if let Some(table) = unsafe { table.as_ref() } {
            table.note_dropped();
        }
        if !table.is_null() {
            // SAFETY: nothing leads to it any more but threads under guards, and it was taken out once.
            unsafe { guard.defer_destroy(table) };
        }
    }
}

impl Drop for TableSlot {
    fn drop(&mut self) {
        self.empty();
    }
}

impl std::fmt::Debug for TableSlot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TableSlot({:?})", self.get(&crossbeam_epoch::pin()))
    }
}
