//! Sequences as calls: CREATE, ALTER and DROP, and the numbers.
//!
//! A session takes numbers from memory, under the sequence's spinlock. When a block is used up, one session writes a note of the
//! next one's end into the catalog, in a transaction of the system's own, and those who want a number wait for the log
//! (`WRITELOG`) once a block: a number that a client has seen is never given again.

use std::sync::Arc;

use pikepole_transaction::{LockMode, Need, Stop};
use pikepole_types::SqlError;

use super::definitions::user_schema;
use super::now_us;
use super::{Database, lock};
use crate::catalog::definition::StoredObject;
use crate::catalog::property::PropertyHolder;
use crate::catalog::rows::{RowKind, row_key};
use crate::catalog::sequence::{Dealt, Position, Sequence, SequenceRecord, SequenceState};
use crate::catalog::{Catalog, Object};
use crate::error::Blocked;
use crate::security::Class;
use crate::transaction::Transaction;

/// Numbers that were given at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberRange {
    /// The first.
    pub first: i128,
    /// The last.
    pub last: i128,
    /// How often the range begins anew.
    pub cycles: i128,
}

/// The name of a column's default that the condition on its text holds for.
pub(super) fn default_of<'a>(catalog: &'a Catalog, names: &dyn Fn(&str) -> bool) -> Option<&'a str> {
    let defaults = catalog.tables().flat_map(|table| table.columns.iter().filter_map(|c| c.default.as_ref()));
    defaults.into_iter().find(|default| names(&default.text)).map(|default| default.name.as_str())
}

impl Database {
    /// CREATE SEQUENCE. The record's ids, moments and position are set here.
    ///
    /// # Errors
    /// 2714 when the name is taken; 2760 for an unknown schema.
    pub async fn create_sequence(&self, tx: &mut Transaction, mut record: SequenceRecord) -> Result<(), SqlError> {
        let (mark, mut catalog) = self.begin_definition(tx).await?;
        let schema = user_schema(&catalog, &record.schema)?;
        if catalog.object(&schema.name, &record.name).is_some()
            || catalog.constraint_exists(schema.schema_id, &record.name)
        {
            return Err(SqlError::object_exists(&record.name));
        }
        record.object_id = self.new_object_id();
        (record.schema_id, record.schema) = (schema.schema_id, schema.name.clone());
        record.position = Position::at(record.start);
        (record.created_us, record.modified_us) = (now_us(), now_us());
        // A note that a sequence has left which was never committed, under a number that is given again.
        self.remove_rows(tx, RowKind::Sequence, record.object_id, 0).await?;
        let version = self.new_version();
        let state = SequenceState::new(record.object_id, version, record.position, false, &self.statistics);
        self.store_object(tx, &StoredObject::Sequence(record.clone())).await?;
        catalog.put(Object::Sequence(Arc::new(Sequence::new(record, version, state))));
        self.end_definition(tx, mark, catalog, version);
        Ok(())
    }

    /// ALTER SEQUENCE: `change` makes the new definition of the present one, which tells where it stands. Numbers in memory
    /// are given up.
    ///
    /// # Errors
    /// 208 when there is none; what `change` reports.
    pub async fn alter_sequence(
        &self,
        tx: &mut Transaction,
        schema: &str,
        name: &str,
        change: &(dyn Fn(&mut SequenceRecord) -> Result<(), SqlError> + Send + Sync),
    ) -> Result<(), SqlError> {
        let (mark, mut catalog) = self.begin_definition(tx).await?;
        let missing = || SqlError::invalid_object(format!("{schema}.{name}"));
        let old = catalog.sequence(schema, name).cloned().ok_or_else(missing)?;
        let version = self.change_sequence(tx, &mut catalog, &old, change).await?;
        self.end_definition(tx, mark, catalog, version);
        Ok(())
    }

    /// sp_rename of a sequence.
    ///
    /// # Errors
    /// 208 when there is none; 15335 when the name is taken; 15336 when a default is made of it.
    pub async fn rename_sequence(
        &self,
        tx: &mut Transaction,
        schema: &str,
        name: &str,
        new_name: &str,
        names: &(dyn Fn(&str) -> bool + Send + Sync),
    ) -> Result<(), SqlError> {
        let (mark, mut catalog) = self.begin_definition(tx).await?;
        let missing = || SqlError::invalid_object(format!("{schema}.{name}"));
        let old = catalog.sequence(schema, name).cloned().ok_or_else(missing)?;
        let other = catalog.object(schema, new_name).filter(|other| other.object_id() != old.object_id);
        if other.is_some() || catalog.constraint_exists(old.schema_id, new_name) {
            return Err(SqlError::rename_name_in_use(new_name, "object"));
        }
        if default_of(&catalog, names).is_some() {
            return Err(SqlError::rename_of_enforced(old.full_name()));
        }
        let rename = |record: &mut SequenceRecord| {
            new_name.clone_into(&mut record.name);
            Ok(())
        };
        let version = self.change_sequence(tx, &mut catalog, &old, &rename).await?;
        self.end_definition(tx, mark, catalog, version);
        Ok(())
    }

    /// Puts what `change` makes of a sequence in its place; the new version.
    pub(super) async fn change_sequence(
        &self,
        tx: &mut Transaction,
        catalog: &mut Catalog,
        old: &Sequence,
        change: &(dyn Fn(&mut SequenceRecord) -> Result<(), SqlError> + Send + Sync),
    ) -> Result<u64, SqlError> {
        self.lock_sequence(tx, old).await?;
        let mut record = SequenceRecord::clone(old);
        record.position = old.position();
        change(&mut record)?;
        record.generation += 1;
        record.modified_us = now_us();
        let version = self.new_version();
        let state = SequenceState::new(record.object_id, version, record.position, false, &self.statistics);
        self.remove_rows(tx, RowKind::Sequence, record.object_id, old.generation).await?;
        catalog.remove(record.object_id);
        self.store_object(tx, &StoredObject::Sequence(record.clone())).await?;
        catalog.put(Object::Sequence(Arc::new(Sequence::new(record, version, state))));
        Ok(version)
    }

    /// DROP SEQUENCE.
    ///
    /// # Errors
    /// 3701 when there is none; 3729 when a default is made of it.
    pub async fn drop_sequence(
        &self,
        tx: &mut Transaction,
        schema: &str,
        name: &str,
        names: &(dyn Fn(&str) -> bool + Send + Sync),
    ) -> Result<(), SqlError> {
        let (mark, mut catalog) = self.begin_definition(tx).await?;
        let missing = || SqlError::object_missing("drop", "sequence", format!("{schema}.{name}"));
        let old = catalog.sequence(schema, name).cloned().ok_or_else(missing)?;
        if let Some(by) = default_of(&catalog, names) {
            return Err(SqlError::referenced_by("DROP SEQUENCE", old.full_name(), by));
        }
        self.lock_sequence(tx, &old).await?;
        self.remove_rows(tx, RowKind::Object, old.object_id, 0).await?;
        self.remove_rows(tx, RowKind::Sequence, old.object_id, old.generation).await?;
        self.forget_grants(tx, &mut catalog, Class::Object, old.object_id).await?;
        self.forget_properties(tx, &mut catalog, PropertyHolder::Object(old.object_id)).await?;
        catalog.remove(old.object_id);
        self.end_definition(tx, mark, catalog, self.new_version());
        Ok(())
    }

    /// Nobody takes numbers until the end of the transaction.
    async fn lock_sequence(&self, tx: &mut Transaction, sequence: &Sequence) -> Result<(), SqlError> {
        self.run(tx, |tx| {
            let locked = tx.inner.try_lock(&sequence.state.lock, LockMode::SchM);
            locked.map_err(|stop| self.stopped(tx, &sequence.full_name(), stop))
        })
        .await
    }

    /// The next number.
    ///
    /// # Errors
    /// Needs; 11728 when there is no next one; stale when the definition has changed.
    pub fn try_next_number(&self, tx: &mut Transaction, sequence: &Sequence) -> Result<i128, Blocked> {
        match self.try_numbers(tx, sequence, 1)? {
            Some(range) => Ok(range.first),
            None => Err(SqlError::sequence_exhausted(&sequence.name).into()),
        }
    }

    /// So many numbers at once; `None` when there are not so many.
    ///
    /// # Errors
    /// Needs; stale when the definition has changed.
    pub fn try_numbers(
        &self,
        tx: &mut Transaction,
        sequence: &Sequence,
        count: u64,
    ) -> Result<Option<NumberRange>, Blocked> {
        let locked = tx.inner.try_lock(&sequence.state.lock, LockMode::SchS);
        locked.map_err(|stop| self.stopped(tx, &sequence.full_name(), stop))?;
        if sequence.state.is_stale(sequence.version) {
            return Err(Blocked::Stale);
        }
        let count = i128::from(count);
        loop {
            match sequence.state.deal(sequence, count) {
                Dealt::Numbers(before, after, cycles) => {
                    // A sequence at its end begins its next lap with the first number.
                    let one = sequence.advanced(before, 1).map_or(before.next, |(position, _)| position.last);
                    return Ok(Some(NumberRange { first: one, last: after.last, cycles }));
                }
                Dealt::Exhausted => return Ok(None),
                Dealt::Note => {
                    let noted = self.try_note_sequence(sequence, count);
                    noted.map_err(|stop| self.stopped(tx, &sequence.full_name(), stop))?;
                }
                Dealt::Harden(lsn) if self.log.durable() >= lsn => sequence.state.hardened(self.log.durable()),
                Dealt::Harden(lsn) => return Err(Blocked::Need(Need::Durable(lsn))),
            }
        }
    }

    /// Notes the end of the next block, in a transaction of the system's own; its mutex lets one session do so at a time.
    fn try_note_sequence(&self, sequence: &Sequence, count: i128) -> Result<(), Stop> {
        let mut system = lock(&self.system);
        let Some((position, block, noted)) = sequence.state.to_note(sequence, count) else {
            return Ok(());
        };
        self.put_note(&mut system, sequence, position, noted)?;
        // The note's record lies below the end of the last one.
        sequence.state.noted(block, self.log.reserved());
        Ok(())
    }

    fn put_note(
        &self,
        system: &mut pikepole_transaction::Transaction,
        sequence: &Sequence,
        position: Position,
        noted: bool,
    ) -> Result<(), Stop> {
        let key = row_key(RowKind::Sequence, sequence.object_id, sequence.generation);
        self.write_note(system, &key, &position.to_bytes(), noted)
    }

    /// At a shutdown: notes where every sequence stands that has given numbers.
    pub(crate) async fn note_sequences(&self) {
        for sequence in self.current_catalog().sequences() {
            let Some(position) = sequence.state.to_note_at_end() else {
                continue;
            };
            loop {
                let noted = self.put_note(&mut lock(&self.system), sequence, position, true);
                match noted {
                    Err(Stop::Need(Need::Storage(need))) if self.satisfy_storage(need).await.is_ok() => (),
                    // Without the note, the next start goes on at the one before.
                    _ => break,
                }
            }
        }
    }
}
