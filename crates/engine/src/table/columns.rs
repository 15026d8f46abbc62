//! The rows of a table as columns, a page at a time.
//!
//! ```text
//!   page, copied ──► rows that the view sees ──► ColumnReader for each wanted column
//! ```
//! Rows are read where the copy of their page has them, one column of all rows after the other; unwanted columns are passed over.
//! Needs come only between two pages, so a page's rows are in the columns as a whole or not at all.

use pikepole_storage::{EXTENT_PAGES, RowHeader};
use pikepole_transaction::{LockMode, Seen, View};
use pikepole_types::{ColumnReader, RowError, Value};

use super::read_lock::{ReadHints, Reading};
use super::scan::Source;
use super::{Table, TableScan};
use crate::database::Database;
use crate::error::Blocked;
use crate::transaction::Transaction;

impl Table {
    /// Empty columns, for [`Database::try_next_columns`].
    pub fn column_readers(&self, wanted: &[usize]) -> Vec<ColumnReader> {
        match &self.overflow {
            None => self.layout.column_readers(wanted),
            // Long values are fetched one by one.
            Some(_) => wanted.iter().map(|&column| ColumnReader::of_values(&self.layout.columns()[column])).collect(),
        }
    }
}

/// A view with its last answer: rows that lie together are often of one transaction.
struct Writers<'v> {
    view: &'v View,
    /// The last transaction whose rows the view sees.
    seen: Option<u64>,
}

impl Database {
    /// Adds the next rows that the statement sees to the columns; how many, none at the end. For scans of a whole table or a part of it
    /// that read versions: see [`Transaction::reads_versions`].
    ///
    /// # Errors
    /// As [`Database::try_next`]. After a need the columns are as before.
    pub fn try_next_columns(
        &self,
        tx: &mut Transaction,
        table: &Table,
        scan: &mut TableScan,
        columns: &mut [ColumnReader],
    ) -> Result<Option<usize>, Blocked> {
        let reading = scan.hints.reading(&tx.read_rules(), table);
        let Reading::Versions { uncommitted } = reading else {
            return self.try_next_row(tx, table, scan, columns);
        };
        if table.overflow.is_some() || scan.secondary.is_some() || tx.is_elsewhere(table) {
            return self.try_next_row(tx, table, scan, columns);
        }
        if let Some(slot) = &table.in_memory {
            return self.next_columns_in_memory(tx, table, slot, scan, columns);
        }
        self.lock_for(tx, table, LockMode::SchS)?;
        let view = tx.inner.view_of(uncommitted);
        if scan.source.is_none() {
            scan.open(table).map_err(|error| self.place(tx, &table.full_name()).row(&error))?;
        }
        if !scan.next_batch().map_err(|stop| self.stop(tx, table, stop.into()))? {
            return Ok(None);
        }
        scan.batch = false;
        let mut writers = Writers { view: &view, seen: None };
        let read = self.read_batch(table, scan, &mut writers, columns);
        Ok(Some(read.map_err(|error| self.place(tx, &table.full_name()).row(&error))?))
    }

    /// True for a scan of the whole table that is worth columns: under these hints it reads versions, and at least so many pages, or
    /// as many bytes of rows in memory.
    pub fn is_worth_columns(&self, tx: &Transaction, table: &Table, hints: &ReadHints, pages_min: usize) -> bool {
        if let Some(pages) = table.pages_in_memory() {
            return !tx.is_elsewhere(table) && !hints.changes && pages >= pages_min as u64;
        }
        let pages = || self.store().extents_of(table.base.object()) * EXTENT_PAGES as usize;
        !tx.is_elsewhere(table) && tx.reads_versions(hints) && table.overflow.is_none() && pages() >= pages_min
    }

    /// The next row alone.
    fn try_next_row(
        &self,
        tx: &mut Transaction,
        table: &Table,
        scan: &mut TableScan,
        columns: &mut [ColumnReader],
    ) -> Result<Option<usize>, Blocked> {
        let mut row = vec![Value::Null; columns.len()];
        if !self.try_next(tx, table, scan, &mut row)? {
            return Ok(None);
        }
        columns.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
        Ok(Some(1))
    }

    /// Adds the rows of the copied page that the view sees.
    fn read_batch(
        &self,
        table: &Table,
        scan: &mut TableScan,
        writers: &mut Writers<'_>,
        columns: &mut [ColumnReader],
    ) -> Result<usize, RowError> {
        let TableScan { source, projection, wanted, places, older, name, range, .. } = scan;
        places.clear();
        let (copied, page) = match source {
            Some(Source::Tree(tree)) => (tree.copied(), None),
            Some(Source::Heap(heap)) => {
                let page = heap.scan.page();
                (heap.scan.copied(), Some(page))
            }
            Some(Source::Memory(_)) | None => return Ok(0),
        };
        for at in 0..copied.rows().len() {
            let row = copied.rows()[at];
            let row = match writers.seen == Some(row.header.xid()) {
                true if row.header.is_ghost() => continue,
                true => row,
                false => {
                    let rid = page.map(|page| row.rid(page).to_bytes());
                    let place = rid.as_ref().map_or_else(|| copied.key(row), |rid| &rid[..]);
                    match writers.look(self, table, place, row.header, (older, name)) {
                        Seen::Nothing => continue,
                        Seen::Row => row,
                        Seen::Older => copied.with_rest(row, older),
                    }
                }
            };
            places.push(row.key, row.rest, row.end);
        }
        if range.reverse {
            places.reverse();
        }
        table.layout.read_rows(copied.bytes(), places, projection, columns)?;
        match columns.iter_mut().position(|column| !column.check()) {
            Some(place) => Err(RowError::Corrupt { column: wanted[place] }),
            None => Ok(places.len()),
        }
    }
}

impl Writers<'_> {
    /// The view's answer for a place; an older version goes to the first of the buffers.
    fn look(
        &mut self,
        database: &Database,
        table: &Table,
        place: &[u8],
        header: RowHeader,
        (older, name): (&mut Vec<u8>, &mut Vec<u8>),
    ) -> Seen {
        let home = database.transactions();
        let seen = home.resolve(self.view, &table.base, place, header, older, name);
        match seen {
            Seen::Row => self.seen = Some(header.xid()),
            Seen::Nothing if header.is_ghost() => home.found_ghost(&table.base, place, header),
            _ => {}
        }
        seen
    }
}
