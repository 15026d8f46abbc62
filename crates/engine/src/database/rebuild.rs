//! Filling new trees and heaps from a table's rows: CREATE INDEX on a table with rows, and changes of its columns.
//!
//! The table is locked with Sch-M. The copies are written as the system's changes, visible to all and undone by nobody: if the
//! transaction rolls back, the new trees and heaps are given back as a whole. So trees need not be logged ([`super::unlogged`]).

use pikepole_storage::{InsertOutcome, LogContext, Tree, TreeCursor};
use pikepole_transaction::{Structure, TransactionId};
use pikepole_types::{SqlError, SqlType, Value};

use super::unlogged::NewTrees;
use super::{ColumnDefinition, Database};
use crate::error::Interrupted;
use crate::memory_level::MemoryLevel;
use crate::table::{Copied, ReadHints, ScanRange, Table};
use crate::transaction::Transaction;

/// A column of a table after ALTER TABLE.
#[derive(Debug, Clone)]
pub struct NewColumn {
    /// What it is.
    pub definition: ColumnDefinition,
    /// The column whose values it takes, by position in the table as it was; None: a new column.
    pub source: Option<usize>,
    /// A new rowversion column: each row gets its number when it is copied.
    pub rowversion: bool,
}

/// Computes the new row from the old one, but for a new rowversion or identity column, whose numbers are dealt as the rows are
/// copied.
pub type RowMap<'a> = &'a (dyn Fn(&[Value], &mut [Value]) -> Result<(), SqlError> + Sync);

impl Database {
    /// Copies every row of `old` that the transaction sees into the trees and heaps of `new` that `old` does not have.
    pub(crate) async fn fill(
        &self,
        tx: &mut Transaction,
        old: &Table,
        new: &Table,
        map: RowMap<'_>,
    ) -> Result<(), SqlError> {
        if new.is_in_memory() {
            return self.fill_in_memory(tx, old, new, map).await;
        }
        let wanted: Vec<usize> = (0..old.columns.len()).collect();
        let mut scan = old.scan(ScanRange::all(), &wanted).with_hints(ReadHints::VERSIONS);
        let mut row: Vec<Value> = wanted.iter().map(|_| Value::Null).collect();
        let mut mapped: Vec<Value> = new.columns.iter().map(|_| Value::Null).collect();
        let numbered = match old.columns.iter().any(|column| column.rowversion) {
            true => None,
            false => new.columns.iter().position(|column| column.rowversion),
        };
        let dealt = new.identity_column().filter(|_| old.identity_column().is_none());
        if dealt.is_some() {
            // An identity column that was dropped may have left its values.
            new.state.begin_anew();
        }
        let base_is_new = old.base.object() != new.base.object();
        let trees = NewTrees::of(old, new, self.may_fill_unlogged(old));
        let mut cursors = vec![TreeCursor::new(); new.secondary.len() + 1];
        let mut uniquifiers = Copied::new(old, 0);
        let (mut locator, mut key, mut rest) = (Vec::new(), Vec::new(), Vec::new());
        self.begin_statement(tx);
        loop {
            let next = self.drive(tx, |tx| self.try_next(tx, old, &mut scan, &mut row)).await;
            match next {
                Ok(true) => (),
                Ok(false) => break,
                Err(Interrupted::Error(error)) => return Err(*error),
                Err(Interrupted::Stale) => return Err(SqlError::snapshot_schema_changed(self.name())),
            }
            map(&row, &mut mapped)?;
            if let Some(at) = numbered {
                let number = self.run(tx, |tx| self.try_next_rowversion_own(tx)).await?;
                mapped[at] = Value::Bin(number.to_be_bytes().to_vec());
            }
            if let Some(at) = dealt {
                mapped[at] = self.dealt_value(tx, new, at).await?;
            }
            locator.clear();
            if base_is_new {
                rest.clear();
                new.check_key(None, &mapped)?;
                new.layout
                    .encode_key(|i| &mapped[i], &mut locator)
                    .map_err(|error| self.place(tx, &new.full_name()).row(&error))?;
                self.copy_row(tx, new, &mapped, new.key_room(locator.len()), &mut rest).await?;
                if new.uniquified {
                    let taken = uniquifiers.put(&row, scan.locator().as_bytes(), &mut key);
                    taken.map_err(|error| self.place(tx, &old.full_name()).row(&error))?;
                    locator.extend_from_slice(&key);
                }
                let at = new.indexes.iter().position(|index| index.clustered);
                self.place_copy(tx, new, trees.base(), &mut cursors[0], at, &mut locator, &rest, &mapped).await?;
            } else {
                locator.extend_from_slice(&scan.locator().0);
            }
            for (at, index) in new.secondary.iter().enumerate() {
                let Some(tree) = trees.index(at).filter(|_| index.holds(|i| &mapped[i])) else {
                    continue;
                };
                new.check_key(Some(at), &mapped)?;
                index
                    .entry_key(|i| &mapped[i], &locator, &mut key)
                    .map_err(|error| self.place(tx, &new.full_name()).row(&error))?;
                let cursor = &mut cursors[at + 1];
                self.place_copy(tx, new, Some(tree), cursor, Some(index.at), &mut key, &locator, &mapped).await?;
            }
            pikepole_scheduler::yield_if_due().await;
        }
        self.end_statement(tx);
        self.settle(tx, &trees).await
    }

    /// The same for an in-memory table: `new` has none of the places of `old`. That no other transaction has changed a row of `old` since the
    /// transaction's snapshot is looked at when it commits.
    async fn fill_in_memory(
        &self,
        tx: &mut Transaction,
        old: &Table,
        new: &Table,
        map: RowMap<'_>,
    ) -> Result<(), SqlError> {
        let wanted: Vec<usize> = (0..old.columns.len()).collect();
        let hints = ReadHints { memory: Some(MemoryLevel::Serializable), ..ReadHints::VERSIONS };
        let mut scan = old.scan(ScanRange::all(), &wanted).with_hints(hints);
        let mut row = vec![Value::Null; old.columns.len()];
        let mut mapped = vec![Value::Null; new.columns.len()];
        let dealt = new.identity_column().filter(|_| old.identity_column().is_none());
        if dealt.is_some() {
            new.state.begin_anew();
        }
        let mut writer = new.writer();
        self.begin_statement(tx);
        loop {
            match self.drive(tx, |tx| self.try_next(tx, old, &mut scan, &mut row)).await {
                Ok(true) => (),
                Ok(false) => break,
                Err(Interrupted::Error(error)) => return Err(*error),
                Err(Interrupted::Stale) => return Err(SqlError::snapshot_schema_changed(self.name())),
            }
            map(&row, &mut mapped)?;
            if let Some(at) = dealt {
                mapped[at] = self.dealt_value(tx, new, at).await?;
            }
            let taken = self.run(tx, |tx| self.try_copy_in_memory(tx, new, &mut writer, &mapped)).await?;
            if let Some(index) = taken.map(|at| &new.indexes[at]) {
                let text = new.key_text(index, |i| &mapped[i]);
                return Err(SqlError::duplicate_key_at_create(new.full_name(), &index.name, text));
            }
            pikepole_scheduler::yield_if_due().await;
        }
        self.end_statement(tx);
        Ok(())
    }

    /// The next value of a new identity column, as its type has it.
    async fn dealt_value(&self, tx: &mut Transaction, new: &Table, at: usize) -> Result<Value, SqlError> {
        let (value, ty) = (self.run(tx, |tx| self.try_next_identity_own(tx, new)).await?, &new.columns[at].ty);
        let value = pikepole_types::convert(&Value::BigInt(value), &SqlType::BigInt, ty, None);
        value.map_err(|_| SqlError::arithmetic_overflow("IDENTITY", ty.error_name()))
    }

    /// Puts one copy into a new tree or, without one, into the table's heap; there, `key` gets the row's rid.
    #[expect(clippy::too_many_arguments, reason = "the buffers of one loop, not worth a name of their own")]
    async fn place_copy(
        &self,
        tx: &mut Transaction,
        table: &Table,
        tree: Option<&Tree>,
        cursor: &mut TreeCursor,
        index: Option<usize>,
        key: &mut Vec<u8>,
        rest: &[u8],
        row: &[Value],
    ) -> Result<(), SqlError> {
        let context = LogContext::new(TransactionId::SYSTEM.0);
        self.run(tx, |tx| {
            let stopped = |stop: pikepole_storage::Stop| self.stopped(tx, &table.full_name(), stop.into());
            match (tree, &table.base) {
                (Some(tree), _) | (None, Structure::Tree(tree)) => {
                    match tree.insert(cursor, &context, key, rest).map_err(stopped)? {
                        InsertOutcome::Done(_) => Ok(()),
                        InsertOutcome::Exists(_) => {
                            let index = &table.indexes[index.unwrap_or_default()];
                            let text = table.key_text(index, |i| &row[i]);
                            Err(SqlError::duplicate_key_at_create(table.full_name(), &index.name, text).into())
                        }
                        InsertOutcome::Refused => unreachable!("nobody else knows the tree"),
                    }
                }
                (None, Structure::Heap(heap)) => {
                    let (rid, _) = heap.insert(&context, rest).map_err(stopped)?;
                    key.clear();
                    key.extend_from_slice(&rid.to_bytes());
                    Ok(())
                }
            }
        })
        .await
    }
}
