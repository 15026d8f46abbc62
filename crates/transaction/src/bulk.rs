//! Pages of rows, one record each: bulk inserts into a heap.
//!
//! The undo of a page is one entry: the page goes out of use. So little log space is kept back for it.
//!
//! # Rows that are not logged
//! Then only the use of the page is in the log, and the transaction commits after a checkpoint whose redo start is above its
//! last such page: the rows are on disk before the commit record is. Redo of a transaction that committed never meets them.

use pikepole_contention::sync::Arc;
use pikepole_log::Lsn;
use pikepole_storage::{BulkPages, EncodedRows, Rid, RowHeader, Store};

use crate::error::{Need, Stop};
use crate::structure::Structure;
use crate::transaction::Transaction;
use crate::undo::{UndoEntry, UndoKind};

/// Pages whose rows are not logged.
#[derive(Clone)]
pub(crate) struct Unlogged {
    store: Arc<Store>,
    /// Above the last of their records.
    end: Lsn,
}

impl Unlogged {
    /// The later of two.
    pub fn with(self, other: Option<Unlogged>) -> Unlogged {
        match other {
            Some(other) if other.end > self.end => other,
            _ => self,
        }
    }

    /// Whether the rows are on disk.
    pub fn try_settled(&self) -> Result<(), Stop> {
        if self.store.redo_start() < self.end { Err(Stop::Need(Need::Checkpoint(self.end))) } else { Ok(()) }
    }
}

impl Transaction {
    /// Inserts rows into a heap, page by page, one record each. Returns how many rows it has taken: fewer than there are when
    /// the others need something, which the next call tells. The last rows stay in `pages` until
    /// [`Transaction::try_finish_pages`].
    ///
    /// # Errors
    /// Needs; a row that is too long; the log or the disk being full. No row was taken then.
    pub fn try_append_rows(
        &mut self,
        structure: &Structure,
        pages: &mut BulkPages,
        rows: EncodedRows<'_>,
    ) -> Result<usize, Stop> {
        let mut rest = rows;
        let ended = self.place_all(structure, pages, &mut rest);
        let taken = rows.len() - rest.len();
        match ended {
            Err(stop) if taken == 0 => Err(stop),
            _ => Ok(taken),
        }
    }

    fn place_all(
        &mut self,
        structure: &Structure,
        pages: &mut BulkPages,
        rest: &mut EncodedRows<'_>,
    ) -> Result<(), Stop> {
        while pages.is_ready(rest)? {
            self.place_page(structure, pages, rest)?;
        }
        Ok(())
    }

    /// Inserts the rows that are left in `pages`.
    ///
    /// # Errors
    /// As of [`Transaction::try_append_rows`].
    pub fn try_finish_pages(&mut self, structure: &Structure, pages: &mut BulkPages) -> Result<(), Stop> {
        if pages.is_rest_ready() {
            self.place_page(structure, pages, &mut EncodedRows::Varying { lengths: &[], bytes: &[] })?;
        }
        Ok(())
    }

    fn place_page(
        &mut self,
        structure: &Structure,
        pages: &mut BulkPages,
        rest: &mut EncodedRows<'_>,
    ) -> Result<(), Stop> {
        let _nested = self.kinship.enter()?;
        let context = self.announce();
        let page = pages.place(&context, rest)?;
        self.changed_with_undo(page.range, 0);
        let name = Rid { page: page.page, slot: 0 }.to_bytes();
        let entry = UndoEntry { kind: UndoKind::Page, name: &name, old_header: RowHeader::default(), old_rest: &[] };
        self.undo.push(structure, &entry);
        if page.unlogged {
            self.unlogged = Some(Unlogged { store: pages.store().clone(), end: page.range.end });
        }
        Ok(())
    }
}
