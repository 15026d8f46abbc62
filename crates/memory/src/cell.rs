//! The entries of one key: a list without latches, new entries first.
//!
//! ```text
//!   Cell(key) --first--> Entry --next--> Entry --next--> null
//!                          |               |
//!                          v               v
//!                         Row             Row
//! ```
//! A link with its lowest bit set belongs to something that is leaving: an entry that was removed and is still linked (Harris, 2001), or
//! a cell without entries that takes none any more and is about to leave its index.

use std::ptr::NonNull;

use crossbeam_epoch::Guard;
use pikepole_contention::fault::planted;
use pikepole_contention::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use crate::row::Row;

/// The place of a row under one of its keys.
pub(crate) struct Entry {
    next: AtomicPtr<Entry>,
    pub row: NonNull<Row>,
    /// The cell that it is in.
    cell: AtomicPtr<Cell>,
    /// Versions of the row that are found by it.
    users: AtomicU32,
}

impl Entry {
    /// An entry in no cell yet, for one version; it holds the row.
    pub fn new(row: NonNull<Row>) -> NonNull<Entry> {
        // SAFETY: the caller has the row.
        unsafe { row.as_ref() }.hold();
        let (next, cell) = (AtomicPtr::new(std::ptr::null_mut()), AtomicPtr::new(std::ptr::null_mut()));
        NonNull::from(Box::leak(Box::new(Entry { next, row, cell, users: AtomicU32::new(1) })))
    }

    /// Another version of the row is found by it.
    pub fn share(&self) {
        self.users.fetch_add(1, Ordering::Relaxed);
    }

    /// A version of the row less; true: it was the last one, and the caller removes the entry.
    pub fn unshare(&self) -> bool {
        self.users.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// The cell that it was put into.
    pub fn cell<'g>(&self, _guard: &'g Guard) -> Option<&'g Cell> {
        // SAFETY: a cell goes to the epochs only after its last entry has left it.
        unsafe { self.cell.load(Ordering::Acquire).as_ref() }
    }
}

/// A key of an index, and the entries that have it.
pub(crate) struct Cell {
    pub key: Box<[u8]>,
    /// The place in the order of a hash index; unused in others.
    pub order: u64,
    /// The next cell of a hash index.
    pub link: AtomicPtr<Cell>,
    first: AtomicPtr<Entry>,
}

/// The outcome of putting an entry into a cell.
pub(crate) enum Pushed<E> {
    Done,
    /// The cell takes no entries any more: find the key's new one.
    Leaving,
    /// An entry of another row was found that must not be beside it.
    Refused(E),
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

impl Cell {
    pub fn new(key: &[u8], order: u64) -> Cell {
        let null = std::ptr::null_mut;
        Cell { key: key.into(), order, link: AtomicPtr::new(null()), first: AtomicPtr::new(std::ptr::null_mut()) }
    }

    /// Returns true when it is about to leave its index.
    pub fn is_leaving(&self) -> bool {
        is_marked(self.first.load(Ordering::Acquire))
    }

    /// The entries that have not left it, newest first.
    pub fn entries<'g>(&self, guard: &'g Guard) -> Entries<'g> {
        Entries { at: unmarked(self.first.load(Ordering::Acquire)), _guard: guard }
    }

    /// Puts an entry first, unless one of those that are there is refused by `check`. Two who put entries of one key at the same time
    /// see each other: the later one's exchange fails, and it checks the earlier one's.
    pub fn push<E>(
        &self,
        entry: NonNull<Entry>,
        guard: &Guard,
        mut check: impl FnMut(&Entry) -> Result<(), E>,
    ) -> Pushed<E> {
        // SAFETY: the entry is the caller's until it is in the list.
        let new = unsafe { entry.as_ref() };
        new.cell.store(std::ptr::from_ref(self).cast_mut(), Ordering::Relaxed);
        let not_put = loop {
            let first = self.first.load(Ordering::Acquire);
            if is_marked(first) {
                break Pushed::Leaving;
            }
            let refusal = Entries { at: first, _guard: guard }.find_map(|other| check(other).err());
            if let Some(refusal) = refusal {
                break Pushed::Refused(refusal);
            }
            new.next.store(first, Ordering::Relaxed);
            // SeqCst, as the versions' words: who puts an entry after this one sees the version that this one leads to.
            let put = self.first.compare_exchange(first, entry.as_ptr(), Ordering::SeqCst, Ordering::Relaxed);
            if put.is_ok() || planted("memory: entries of one key overwrite each other") {
                return Pushed::Done;
            }
        };
        new.cell.store(std::ptr::null_mut(), Ordering::Relaxed);
        not_put
    }

    /// Takes an entry out that no version is found by any more. True: the cell has no entries and takes none from now on, so the caller
    /// takes it out of its index.
    ///
    /// # Safety
    /// The entry was put into this cell, and no other thread removes it.
    pub unsafe fn remove(&self, entry: NonNull<Entry>, guard: &Guard) -> bool {
        // SAFETY: it is linked, and given to the epochs by who unlinks it, behind the mark below.
        let removed = unsafe { entry.as_ref() };
        let mut next = removed.next.load(Ordering::Acquire);
        while let Err(now) = removed.next.compare_exchange(next, marked(next), Ordering::AcqRel, Ordering::Acquire) {
            next = now;
        }
        self.sweep(guard);
        let null = std::ptr::null_mut();
        self.first.compare_exchange(null, marked(null), Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// Unlinks the entries that were removed.
    fn sweep(&self, guard: &Guard) {
        'again: loop {
            let mut before = &self.first;
            loop {
                let at = before.load(Ordering::Acquire);
                if is_marked(at) && !std::ptr::eq(before, &self.first) {
                    // The one before is leaving itself.
                    continue 'again;
                }
                // SAFETY: linked entries are alive under the guard.
                let Some(entry) = (unsafe { unmarked(at).as_ref() }) else { return };
                let next = entry.next.load(Ordering::Acquire);
                if !is_marked(next) {
                    before = &entry.next;
                    continue;
                }
                if before.compare_exchange(at, unmarked(next), Ordering::AcqRel, Ordering::Relaxed).is_err() {
                    continue 'again;
                }
                // SAFETY: this thread has unlinked it, and each entry is unlinked once. Who holds a guard may still read it.
                unsafe { guard.defer_unchecked(move || drop(Box::from_raw(at))) };
            }
        }
    }
}

impl Drop for Cell {
    /// The last entries go with a table that is dropped, and rows with them; a cell that has left its index has none.
    fn drop(&mut self) {
        let guard = crossbeam_epoch::pin();
        let mut at = unmarked(*self.first.get_mut());
        while !at.is_null() {
            // SAFETY: no other thread knows the cell, nor its entries; each holds its row.
            let mut entry = unsafe { Box::from_raw(at) };
            // SAFETY: the entry has held it.
            unsafe { Row::release(entry.row, &guard) };
            at = unmarked(*entry.next.get_mut());
        }
    }
}

/// The entries of a cell.
pub(crate) struct Entries<'g> {
    at: *mut Entry,
    _guard: &'g Guard,
}

impl<'g> Iterator for Entries<'g> {
    type Item = &'g Entry;

    fn next(&mut self) -> Option<&'g Entry> {
        loop {
            // SAFETY: an entry that was linked while the guard is held stays alive as long as it.
            let entry = unsafe { self.at.as_ref() }?;
            let next = entry.next.load(Ordering::Acquire);
            self.at = unmarked(next);
            if !is_marked(next) {
                return Some(entry);
            }
        }
    }
}
