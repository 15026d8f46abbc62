//! Inserting a row, looking one up.
//!
//! The warm path: latch the cursor's leaf, see by its fences that the key belongs there, find the slot (one comparison
//! for a key above all others), append the record, write the entry, release. No allocation, no lookup, no shared counter.

use super::*;
use crate::page::inner::Seek;
use crate::pool::Exclusive;
use crate::records::{Record, insert_flags};
use crate::row::LogContext;

/// Ascending inserts in a row that make a split follow them.
pub(super) const ASCENTS_MIN: u32 = 4;

impl Tree {
    /// Inserts a row with a header of no flags and the context's transaction.
    ///
    /// # Errors
    /// Needs, then call again; a key or row that is too long; a full disk or log; a damaged page.
    #[inline]
    pub fn insert(
        &self,
        cursor: &mut TreeCursor,
        context: &LogContext,
        key: &[u8],
        rest: &[u8],
    ) -> Result<InsertOutcome, Stop> {
        self.insert_if(cursor, context, key, rest, || true)
    }

    /// As [`Tree::insert`], if the caller admits it: `admits` is asked under the leaf's latch, when the key is known to be free
    /// and before anything is changed.
    ///
    /// # Errors
    /// As of [`Tree::insert`].
    #[inline]
    pub fn insert_if(
        &self,
        cursor: &mut TreeCursor,
        context: &LogContext,
        key: &[u8],
        rest: &[u8],
        admits: impl Fn() -> bool,
    ) -> Result<InsertOutcome, Stop> {
        self.check_size(key, rest)?;
        let wanted = leaf_entry_bytes(key.len(), rest.len()) + SLOT_BYTES;
        loop {
            let mut guard = self.leaf_for(cursor, key)?;
            let page = guard.page();
            let slot = match page.find(key) {
                Ok(slot) => return Ok(InsertOutcome::Exists(page.row_header(slot))),
                Err(slot) => slot,
            };
            if page.leaf_room(key.len()) < wanted {
                drop(guard);
                self.split_leaf(cursor, context, key, &|page| page.leaf_room(key.len()) >= wanted)?;
                continue;
            }
            if self.unlogged {
                guard.page_mut().insert_leaf(slot, RowHeader::new(0, context.xid), key, rest);
                let lsn = guard.changed();
                cursor.went_to(slot);
                return Ok(InsertOutcome::Done(LsnRange { start: lsn, end: lsn }));
            }
            if !admits() {
                return Ok(InsertOutcome::Refused);
            }
            let record = Record::Insert {
                flags: insert_flags(context, 0),
                xid: context.xid,
                page: page.id().0,
                slot: slot as u32,
                key,
                rest,
            };
            let range = self.store.append(context, guard.page().lsn(), &record)?;
            guard.page_mut().insert_leaf(slot, RowHeader::new(0, context.xid), key, rest);
            guard.logged(range);
            cursor.went_to(slot);
            return Ok(InsertOutcome::Done(range));
        }
    }

    /// Calls `f` with the header and the rest of the row of this key, under the leaf's latch; `None`: no such row.
    /// Ghosts are rows.
    ///
    /// # Errors
    /// Needs, then call again; a damaged page.
    pub fn get<R>(&self, key: &[u8], f: impl FnOnce(RowHeader, &[u8]) -> R) -> Result<Option<R>, Stop> {
        let guard = self.leaf_shared(Seek::At(key))?;
        let page = guard.page();
        Ok(page.find(key).ok().map(|slot| {
            let entry = page.leaf_entry(slot);
            f(entry.header, entry.rest)
        }))
    }

    /// The page and the slot of a key; None: there is no such row.
    ///
    /// # Errors
    /// As [`Tree::get`].
    pub fn place_of(&self, key: &[u8]) -> Result<Option<(PageId, u16)>, Stop> {
        let guard = self.leaf_shared(Seek::At(key))?;
        let page = guard.page();
        Ok(page.find(key).ok().map(|slot| (page.id(), slot as u16)))
    }

    /// The leaf for a key, latched: the cursor's if it fits, otherwise by a descent, which moves the cursor.
    #[inline]
    pub(super) fn leaf_for(&self, cursor: &mut TreeCursor, key: &[u8]) -> Result<Exclusive<'_>, Stop> {
        if cursor.page.0 != 0
            && let Some(guard) = self.store.pool.exclusive_at(cursor.frame, cursor.page)?
        {
            let page = guard.page();
            if page.kind() == Some(PageKind::Leaf) && page.object() == self.object && page.covers(key) {
                return Ok(guard);
            }
        }
        let guard = self.leaf_exclusive(Seek::At(key))?;
        *cursor = TreeCursor { page: guard.page().id(), frame: guard.frame, slot: 0, ascents: 0 };
        Ok(guard)
    }
}

impl TreeCursor {
    #[inline]
    fn went_to(&mut self, slot: usize) {
        let slot = slot as u32;
        self.ascents = if slot > self.slot || slot == 0 && self.ascents >= ASCENTS_MIN { self.ascents + 1 } else { 0 };
        self.slot = slot;
    }
}
