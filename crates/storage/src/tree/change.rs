//! Changing and removing rows that are there.
//!
//! Each takes the header that the caller saw: if another one is there now, somebody was faster, and nothing changes. The
//! old image goes to the caller once the record is in the log and before the new image is in the page, all under the latch
//! ([`UnderLatch`]): whoever sees the new image finds the old one where the caller put it.

use super::*;
use crate::page::Page;
use crate::pool::Exclusive;
use crate::records::Record;
use crate::row::LogContext;

/// The row in its leaf, or the answer that ends the operation.
enum Located<'a> {
    Row(Exclusive<'a>, usize),
    Not(ChangeOutcome),
}

impl Tree {
    fn locate(&self, cursor: &mut TreeCursor, key: &[u8], expected: RowHeader) -> Result<Located<'_>, Stop> {
        let guard = self.leaf_for(cursor, key)?;
        let page = guard.page();
        Ok(match page.find(key) {
            Err(_) => Located::Not(ChangeOutcome::Missing),
            Ok(slot) if page.row_header(slot) != expected => {
                Located::Not(ChangeOutcome::Changed(page.row_header(slot)))
            }
            Ok(slot) => Located::Row(guard, slot),
        })
    }

    /// Gives the row of this key a new header and new columns, if the caller admits it; it gets the old ones.
    ///
    /// # Errors
    /// As of [`Tree::insert`].
    #[allow(clippy::too_many_arguments, reason = "where, who, which row, what to, where the old one goes")]
    pub fn replace(
        &self,
        cursor: &mut TreeCursor,
        context: &LogContext,
        key: &[u8],
        expected: RowHeader,
        new: RowHeader,
        rest: &[u8],
        caller: impl UnderLatch,
    ) -> Result<ChangeOutcome, Stop> {
        self.check_size(key, rest)?;
        let len = leaf_entry_bytes(key.len(), rest.len());
        let fits =
            |page: Page<'_>| page.find(key).map_or(true, |slot| page.leaf_room(key.len()) + page.slot(slot).1 >= len);
        loop {
            let (mut guard, slot) = match self.locate(cursor, key, expected)? {
                Located::Row(guard, slot) => (guard, slot),
                Located::Not(outcome) => return Ok(outcome),
            };
            if len > guard.page().slot(slot).1 && !fits(guard.page()) {
                drop(guard);
                self.split_leaf(cursor, context, key, &fits)?;
                continue;
            }
            if !caller.admits() {
                return Ok(ChangeOutcome::Refused);
            }
            let old = guard.page().leaf_entry(slot);
            let record = Record::Replace {
                flags: context.flags,
                xid: context.xid,
                page: guard.page().id().0,
                slot: slot as u32,
                key,
                old_header: expected,
                new_header: new,
                old_rest: old.rest,
                rest,
            };
            // Recovery sees by the header whether a change stands. Where the header before it was of the same transaction it could not tell,
            // and would put a part into columns that have it already.
            let can_tell = context.is_clr() || expected.xid() != context.xid;
            let record = if can_tell { record.of_part() } else { record };
            let range = self.store.append(context, guard.page().lsn(), &record)?;
            caller.keep(expected, old.rest);
            guard.page_mut().replace_leaf(slot, new, key, rest);
            guard.logged(range);
            return Ok(ChangeOutcome::Done(range));
        }
    }

    /// Gives the row of this key a new header: makes it a ghost, or takes that back. Its columns stay; the caller gets them.
    ///
    /// # Errors
    /// As of [`Tree::insert`].
    pub fn set_header(
        &self,
        cursor: &mut TreeCursor,
        context: &LogContext,
        key: &[u8],
        expected: RowHeader,
        new: RowHeader,
        caller: impl UnderLatch,
    ) -> Result<ChangeOutcome, Stop> {
        let (mut guard, slot) = match self.locate(cursor, key, expected)? {
            Located::Row(guard, slot) => (guard, slot),
            Located::Not(outcome) => return Ok(outcome),
        };
        if !caller.admits() {
            return Ok(ChangeOutcome::Refused);
        }
        let record = Record::SetHeader {
            flags: context.flags,
            xid: context.xid,
            page: guard.page().id().0,
            slot: slot as u32,
            old_header: expected,
            new_header: new,
            key,
        };
        let range = self.store.append(context, guard.page().lsn(), &record)?;
        caller.keep(expected, guard.page().leaf_entry(slot).rest);
        guard.page_mut().set_row_header(slot, new);
        guard.logged(range);
        Ok(ChangeOutcome::Done(range))
    }

    /// Takes the row of this key from its page: the undo of an insert, or the removal of a ghost that nobody needs.
    ///
    /// # Errors
    /// Needs; a poisoned log; a damaged page.
    pub fn remove(
        &self,
        cursor: &mut TreeCursor,
        context: &LogContext,
        key: &[u8],
        expected: RowHeader,
    ) -> Result<ChangeOutcome, Stop> {
        let (mut guard, slot) = match self.locate(cursor, key, expected)? {
            Located::Row(guard, slot) => (guard, slot),
            Located::Not(outcome) => return Ok(outcome),
        };
        let (flags, xid, page) = (context.flags, context.xid, guard.page().id().0);
        let range = self.store.append(
            context,
            guard.page().lsn(),
            &Record::Remove { flags, xid, page, slot: slot as u32, key },
        )?;
        guard.page_mut().remove_entry(slot);
        guard.logged(range);
        Ok(ChangeOutcome::Done(range))
    }
}
