//! The row of a whole unique key of an in-memory table: found without a scan, and changed where it was found.
//!
//! All that waits or stops in a scan is not there: a row is found, or is not, in one call.

use pikepole_machine::memory;
use pikepole_types::{Projection, RestSplice, Value};

use super::super::{Table, TableWriter};
use super::{MemoryUse, conflict, rows_at};
use crate::database::Database;
use crate::error::Blocked;
use crate::temporary::Residence;
use crate::transaction::Transaction;

/// Finds rows by a unique key; kept and reused by a session's compiled statement.
pub struct KeyLookup {
    /// The position of its index among those of the rows.
    at: usize,
    projection: Projection,
    /// The way to change the columns that the row is looked up for, where it is a shorter one.
    splice: Option<RestSplice>,
    /// Room for a key.
    key: Vec<u8>,
}

impl Table {
    /// A lookup by all `columns` of an index, which reads some columns. None: the rows are not in memory, or there may be several.
    pub fn key_lookup(&self, index_id: i32, columns: usize, wanted: &[usize]) -> Option<KeyLookup> {
        let is_own = self.in_memory.is_some() && self.residence == Residence::Database;
        let (position, index) = self.index_of(index_id).filter(|_| is_own)?;
        let at = self.secondary.iter().position(|own| own.at == position)?;
        if !index.unique || index.columns.len() != columns {
            return None;
        }
        Some(KeyLookup { at, projection: self.layout.projection(wanted), splice: None, key: Vec::new() })
    }
}

impl KeyLookup {
    /// The lookup for a change of some columns by [`Database::try_replace_found`] that leaves the bytes of the others as they are. None:
    /// the new row is to be made of all its values.
    pub fn change(self, table: &Table, changed: &[usize]) -> Option<KeyLookup> {
        Some(KeyLookup { splice: Some(table.layout.splice(changed)?), ..self })
    }

    /// True if it is for a change of some columns alone.
    pub fn is_spliced(&self) -> bool {
        self.splice.is_some()
    }

    /// Puts the bytes of a key together.
    fn encode(&mut self, database: &Database, table: &Table, values: &[Value]) -> Result<(), Blocked> {
        self.key.clear();
        let encoded = table.secondary[self.at].layout.encode_whole_key(values, &mut self.key);
        encoded.map_err(|error| database.unread_in_memory(table, &error).into())
    }
}

impl Database {
    /// Reads the columns of the row that has a key into `out`, in the order in which the lookup was told of them. False: the transaction
    /// sees none.
    ///
    /// # Errors
    /// Damage.
    pub fn try_look_up(
        &self,
        tx: &mut Transaction,
        table: &Table,
        MemoryUse(level): MemoryUse,
        lookup: &mut KeyLookup,
        values: &[Value],
        out: &mut [Value],
    ) -> Result<bool, Blocked> {
        let Some(slot) = &table.in_memory else { return Ok(false) };
        lookup.encode(self, table, values)?;
        let guard = pikepole_memory::pin();
        let rows = rows_at(slot, &guard)?;
        let decode = |body: &[u8]| table.layout.decode(&[], body, &lookup.projection, out);
        let decoded = self.memory_of(tx).look_up(rows, lookup.at, &lookup.key, level, decode);
        Self::order_behind_seen(tx);
        match decoded {
            None => Ok(false),
            Some(Ok(())) => Ok(true),
            Some(Err(error)) => Err(self.unread_in_memory(table, &error).into()),
        }
    }

    /// Reads the columns of the row that has a key, in the lookup's order, for changing it in the same statement:
    /// [`Database::try_replace_found`] or [`Database::try_delete_found`]. False: the transaction sees none.
    ///
    /// # Errors
    /// Damage; 41302 where another transaction has changed it.
    pub fn try_find_to_change(
        &self,
        tx: &mut Transaction,
        table: &Table,
        MemoryUse(level): MemoryUse,
        (lookup, values): (&mut KeyLookup, &[Value]),
        writer: &mut TableWriter,
        out: &mut [Value],
    ) -> Result<bool, Blocked> {
        let Some(slot) = &table.in_memory else { return Ok(false) };
        lookup.encode(self, table, values)?;
        let guard = pikepole_memory::pin();
        let rows = rows_at(slot, &guard)?;
        let found = self.memory_of(tx).find_current(rows, lookup.at, &lookup.key, level, &mut writer.rest);
        Self::order_behind_seen(tx);
        if !found.map_err(|refusal| conflict(table, refusal))? {
            return Ok(false);
        }
        let decoded = table.layout.decode(&[], &writer.rest, &lookup.projection, out);
        decoded.map_err(|error| self.unread_in_memory(table, &error))?;
        Ok(true)
    }

    /// Gives the row that was found last other values, but for those of its keys. `row` has the values of all columns, or of those that
    /// change where the lookup [`KeyLookup::is_spliced`]. False: it is gone.
    ///
    /// # Errors
    /// 41302 where another transaction has changed it; values that no row has; 41805 without memory.
    pub fn try_replace_found(
        &self,
        tx: &mut Transaction,
        table: &Table,
        lookup: &KeyLookup,
        writer: &mut TableWriter,
        row: &[Value],
    ) -> Result<bool, Blocked> {
        let Some(slot) = &table.in_memory else { return Ok(false) };
        writer.encode_changed(table, lookup.splice.as_ref(), row).map_err(|error| self.row_error(tx, table, error))?;
        self.grow_in_memory(tx, slot, writer.rest.len(), |rows| rows.spare_for_versions(writer.rest.len()))?;
        let guard = pikepole_memory::pin();
        let rows = rows_at(slot, &guard)?;
        let own = self.memory_of(tx);
        memory::for_others(|| own.replace_current(rows, &writer.rest)).map_err(|refusal| conflict(table, refusal))
    }

    /// Deletes the row that was found last. False: it is gone.
    ///
    /// # Errors
    /// 41302 where another transaction has changed it.
    pub fn try_delete_found(&self, tx: &mut Transaction, table: &Table) -> Result<bool, Blocked> {
        let Some(slot) = &table.in_memory else { return Ok(false) };
        let guard = pikepole_memory::pin();
        let rows = rows_at(slot, &guard)?;
        let own = self.memory_of(tx);
        memory::for_others(|| own.delete_current(rows)).map_err(|refusal| conflict(table, refusal))
    }
}
