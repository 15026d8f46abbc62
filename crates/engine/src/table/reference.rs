//! Whether a row with given values is there now, for foreign keys.
//!
//! ```text
//!   refers      insert child row -----> look for the parent row        both write first and look then:
//!   referred    delete parent row ----> look for child rows            whoever looks second meets the other's row
//! ```
//! A look sees what is newest, not a snapshot: a row that another transaction has written and not ended is waited for. Of two
//! transactions that would break a foreign key together, one therefore meets the other's row, or each waits for the other and
//! one is the deadlock's victim.

use std::ops::Bound;

use pikepole_storage::RowHeader;
use pikepole_transaction::{LockMode, Need, Status, TransactionId};
use pikepole_types::{SqlError, Value};

use super::{ScanRange, Table, TableScan};
use crate::database::Database;
use crate::error::Blocked;
use crate::transaction::Transaction;

/// A look for rows with given values in some columns; kept and reused by a session's compiled statement.
pub struct Reference {
    /// The columns, by position.
    columns: Vec<usize>,
    /// The index whose key begins with them, in the order of its key; None: all rows are looked at.
    index: Option<(i32, Vec<usize>)>,
    scan: Option<TableScan>,
    row: Vec<Value>,
}

impl Reference {
    /// A look at `table` for values in `columns`.
    pub fn new(table: &Table, columns: &[usize]) -> Reference {
        let fits = |index: &&crate::Index| {
            !index.disabled
                && index.tests.is_empty()
                && index.not_null.iter().all(|column| columns.contains(column))
                && index.columns.len() >= columns.len()
                && index.columns[..columns.len()].iter().all(|key| columns.contains(&key.column))
        };
        let index = table.indexes.iter().find(fits).map(|index| {
            let order = index.columns[..columns.len()].iter().map(|key| {
                let place = columns.iter().position(|column| *column == key.column);
                place.unwrap_or_default()
            });
            (index.index_id, order.collect())
        });
        Reference { columns: columns.to_vec(), index, scan: None, row: vec![Value::Null; columns.len()] }
    }

    fn range(&self, values: &[Value]) -> ScanRange {
        match &self.index {
            None => ScanRange::all(),
            Some((index, order)) => {
                let key: Vec<Value> = order.iter().map(|place| values[*place].clone()).collect();
                ScanRange {
                    index: Some(*index),
                    from: Bound::Included(key.clone()),
                    to: Bound::Included(key),
                    reverse: false,
                }
            }
        }
    }
}

impl Database {
    /// Whether a row of the table has `values`, none of them NULL and all of the columns' types, in the look's columns.
    ///
    /// # Errors
    /// The need to wait for a transaction that has written such a row; other needs; damage; a definition that is no longer
    /// current.
    pub fn try_find_now(
        &self,
        tx: &mut Transaction,
        table: &Table,
        look: &mut Reference,
        values: &[Value],
    ) -> Result<bool, Blocked> {
        if tx.is_elsewhere(table) {
            return tx.elsewhere(table, |database, tx| database.try_find_now(tx, table, look, values));
        }
        let range = look.range(values);
        if let Some(rows) = &table.in_memory {
            let Reference { columns, index, row, .. } = look;
            let projection = table.layout.projection(columns);
            return self.find_in_memory(tx, table, rows, &range, |body| {
                if index.is_some() {
                    return Ok(true);
                }
                table
                    .layout
                    .decode(&[], body, &projection, row)
                    .map_err(|error| self.unread_in_memory(table, &error))?;
                Ok(are_equal(table, columns, row, values)?)
            });
        }
        self.lock_for(tx, table, LockMode::IX)?;
        let mut scan = match look.scan.take() {
            None => table.scan(range, &look.columns),
            Some(mut scan) => {
                scan.restart(table, range);
                scan
            }
        };
        let found = self.find_now(tx, table, look, &mut scan, values);
        look.scan = Some(scan);
        if matches!(found, Ok(true)) {
            // What is logged from now on relies on the row.
            tx.inner.order_behind_all();
        }
        found
    }

    fn find_now(
        &self,
        tx: &mut Transaction,
        table: &Table,
        look: &mut Reference,
        scan: &mut TableScan,
        values: &[Value],
    ) -> Result<bool, Blocked> {
        scan.open(table).map_err(|error| self.place(tx, &table.full_name()).row(&error))?;
        loop {
            if !scan.batch {
                let more = scan.next_batch();
                if !more.map_err(|stop| self.stop(tx, table, stop.into()))? {
                    return Ok(false);
                }
            }
            let Some(header) = scan.next_of_batch() else {
                scan.batch = false;
                continue;
            };
            let matches = self.matches(tx, table, look, scan, values, header)?;
            match self.is_there(tx, header) {
                Some(true) if matches => return Ok(true),
                Some(_) => {}
                // What the row was may match too, if its writer rolls back.
                None if matches || header.has_older_version() || header.is_ghost() => {
                    return Err(Blocked::Need(Need::TransactionEnd(TransactionId(header.xid()))));
                }
                None => {}
            }
        }
    }

    /// Whether a row's newest version is one. None: its writer had not ended when the header was read. One that has rolled back by
    /// now has taken the row back since, so what was read says nothing.
    fn is_there(&self, tx: &Transaction, header: RowHeader) -> Option<bool> {
        let writer = TransactionId(header.xid());
        let own = tx.id() == Some(writer);
        let is_sure = own || matches!(self.transactions().settled(writer), Status::Committed(_));
        is_sure.then_some(!header.is_ghost())
    }

    /// Whether the row that the scan is at has the values. An entry of an index in range has.
    fn matches(
        &self,
        tx: &mut Transaction,
        table: &Table,
        look: &mut Reference,
        scan: &mut TableScan,
        values: &[Value],
        header: RowHeader,
    ) -> Result<bool, Blocked> {
        if look.index.is_some() {
            return Ok(true);
        }
        let key = if table.is_heap() { &[][..] } else { &scan.key[..] };
        match &table.overflow {
            None => {
                let decoded = table.layout.decode(key, &scan.rest, &scan.projection, &mut look.row);
                decoded.map_err(|error| self.place(tx, &table.full_name()).row(&error))?;
            }
            Some(overflow) => {
                let TableScan { rest, projection, wanted, long, .. } = scan;
                let (row, wanted) = ((key, &rest[..]), (&*projection, &wanted[..]));
                let read = self.try_decode_wanted(tx, table, overflow, long, row, wanted, &mut look.row)?;
                match read {
                    Ok(()) => {}
                    // Its writer takes the row back.
                    Err(_) if self.is_there(tx, header).is_none() => {
                        return Err(Blocked::Need(Need::TransactionEnd(TransactionId(header.xid()))));
                    }
                    Err(unread) => return Err(self.stop(tx, table, unread.damage().into())),
                }
            }
        }
        Ok(are_equal(table, &scan.wanted, &look.row, values)?)
    }
}

/// True when a row's values in some columns are those.
fn are_equal(table: &Table, columns: &[usize], row: &[Value], values: &[Value]) -> Result<bool, SqlError> {
    for ((own, value), column) in row.iter().zip(values).zip(columns) {
        let collation = table.columns[*column].collation;
        if pikepole_types::compare(own, value, collation)? != Some(std::cmp::Ordering::Equal) {
            return Ok(false);
        }
    }
    Ok(true)
}
