//! Identity values and the numbers of rowversion columns: dealt from memory, below a high-water mark in the catalog that is
//! noted once in a block of values.
//!
//! A crash leaves out at most what is between the last value dealt and the mark; a value is never dealt twice, and one that
//! was dealt is not given back by a rollback. A clean shutdown notes the next value itself.
//!
//! Marks are noted one at a time, and each is computed in its turn: a session that was held up cannot put an older mark in the
//! place of a newer one, below values that were dealt since.

use pikepole_contention::sync::atomic::{AtomicU64, Ordering};
use pikepole_storage::TreeCursor;
use pikepole_transaction::{Need, Stop, Transaction as SystemTransaction};
use pikepole_types::SqlError;

use super::{Database, lock};
use crate::catalog::definition::Identity;
use crate::catalog::rows::{RowKind, row_key};
use crate::error::Blocked;
use crate::table::Table;
use crate::transaction::Transaction;

/// The id under which the catalog has the mark of rowversion numbers: no object has it.
pub(super) const ROWVERSIONS_ID: i32 = 0;
/// Rowversion numbers dealt out between two notes: what a crash can leave out.
const ROWVERSION_BLOCK: u64 = 100_000;

impl Database {
    /// The next value of the table's identity column.
    ///
    /// # Errors
    /// Needs; the log being full when a new high-water mark has to be noted.
    ///
    /// # Panics
    /// When the table has no identity column.
    pub fn try_next_identity(&self, tx: &mut Transaction, table: &Table) -> Result<i64, Blocked> {
        if tx.is_elsewhere(table) {
            if table.residence.is_session() {
                return Ok(table.state.next_unnoted(&identity_of(table)));
            }
            return tx.in_part(table, |database, part| database.try_next_identity(part, table));
        }
        self.try_next_identity_own(tx, table)
    }

    /// The same for a table of the transaction's own database.
    pub(super) fn try_next_identity_own(&self, tx: &mut Transaction, table: &Table) -> Result<i64, Blocked> {
        let identity = identity_of(table);
        if !table.outlives_restart() {
            return Ok(table.state.next_unnoted(&identity));
        }
        loop {
            if let Some(value) = table.state.next_identity(&identity) {
                return Ok(value);
            }
            if table.state.is_exhausted(&identity) {
                return Err(SqlError::arithmetic_overflow("IDENTITY", "bigint").into());
            }
            let state = &table.state;
            self.try_note(table.object_id, || state.mark_wanted(&identity), |mark| state.noted(&identity, mark))
                .map_err(|stop| self.stop(tx, table, stop))?;
        }
    }

    /// The next number for a rowversion column: one sequence for all tables of the database that the table is in.
    ///
    /// # Errors
    /// Needs; the log being full when a new high-water mark has to be noted.
    pub fn try_next_rowversion(&self, tx: &mut Transaction, table: &Table) -> Result<u64, Blocked> {
        if tx.is_elsewhere(table) {
            return tx.elsewhere(table, |database, part| database.try_next_rowversion_own(part));
        }
        self.try_next_rowversion_own(tx)
    }

    pub(super) fn try_next_rowversion_own(&self, tx: &mut Transaction) -> Result<u64, Blocked> {
        tx.inner.expect_number(self.row_versions.last() + 1);
        loop {
            if let Some(number) = self.row_versions.next() {
                return Ok(number);
            }
            let numbers = &self.row_versions;
            self.try_note(ROWVERSIONS_ID, || numbers.mark_wanted(), |mark| numbers.noted(mark))
                .map_err(|stop| self.stopped(tx, self.name(), stop))?;
        }
    }

    /// The last number that a rowversion column was given (`@@DBTS`).
    pub fn last_rowversion(&self) -> u64 {
        self.row_versions.last()
    }

    /// The lowest number of a rowversion column that a transaction which has not ended may have written; without one the next
    /// number (`MIN_ACTIVE_ROWVERSION`). All lower ones are committed or will never be.
    pub fn oldest_active_rowversion(&self) -> u64 {
        let next = self.row_versions.last() + 1;
        self.transactions.oldest_number().map_or(next, |oldest| oldest.min(next))
    }

    /// A value is about to be written that was not dealt (IDENTITY_INSERT): later ones come behind it, after a crash too.
    ///
    /// # Errors
    /// Needs; the log being full when a new high-water mark has to be noted.
    ///
    /// # Panics
    /// When the table has no identity column.
    pub fn try_pass_identity(&self, tx: &mut Transaction, table: &Table, value: i64) -> Result<(), Blocked> {
        if tx.is_elsewhere(table) && !table.residence.is_session() {
            return tx.in_part(table, |database, part| database.try_pass_identity(part, table, value));
        }
        let (identity, state) = (identity_of(table), &table.state);
        if state.pass(&identity, value) || !table.outlives_restart() {
            return Ok(());
        }
        self.try_note(table.object_id, || state.mark_wanted(&identity), |mark| state.noted(&identity, mark))
            .map_err(|stop| self.stop(tx, table, stop))
    }

    /// The same, waiting for what it needs.
    ///
    /// # Errors
    /// The log being full.
    ///
    /// # Panics
    /// When the table has no identity column.
    pub async fn pass_identity(&self, table: &Table, value: i64) -> Result<(), SqlError> {
        let mut tx = self.transaction(0);
        self.run(&mut tx, |tx| self.try_pass_identity(tx, table, value)).await
    }

    /// The last value dealt (IDENT_CURRENT); the seed when none was.
    pub fn last_identity(&self, table: &Table) -> Option<i64> {
        let identity = table.columns[table.identity_column()?].identity?;
        Some(table.state.last_identity(&identity).unwrap_or(identity.seed))
    }

    /// DBCC CHECKIDENT: the next value follows `value`; a table that has dealt none deals `value` itself first. A crash keeps it.
    ///
    /// # Errors
    /// The log being full.
    ///
    /// # Panics
    /// When the table has no identity column.
    pub async fn reseed(&self, table: &Table, value: i64) -> Result<(), SqlError> {
        let identity = identity_of(table);
        let state = &table.state;
        state.reseed(&identity, value);
        if !table.outlives_restart() {
            return Ok(());
        }
        let mut tx = self.transaction(0);
        self.run(&mut tx, |tx| {
            let noted =
                self.try_note(table.object_id, || state.mark_of_shutdown(), |mark| state.noted(&identity, mark));
            noted.map_err(|stop| self.stop(tx, table, stop))
        })
        .await
    }

    /// Whether the table has dealt an identity value since it was made or truncated, or was given one.
    pub fn has_dealt(&self, table: &Table) -> bool {
        table.state.mark_of_shutdown().is_some()
    }

    /// Writes the wanted high-water mark in a transaction of its own, then calls `noted`. Nothing is wanted when another
    /// session has noted one meanwhile.
    fn try_note(&self, id: i32, wanted: impl FnOnce() -> Option<Mark>, noted: impl FnOnce(Mark)) -> Result<(), Stop> {
        let mut system = lock(&self.system);
        let Some(mark) = wanted() else {
            return Ok(());
        };
        let key = row_key(RowKind::Identity, id, 0);
        self.write_note(&mut system, &key, &mark.value.to_le_bytes(), mark.replaces)?;
        // Whoever writes one of these values logs behind the note.
        self.log.now();
        noted(mark);
        Ok(())
    }

    /// Puts a row of the catalog that is no definition into its place, in a transaction of its own. `replaces`: there is one.
    pub(super) fn write_note(
        &self,
        system: &mut SystemTransaction,
        key: &[u8],
        bytes: &[u8],
        replaces: bool,
    ) -> Result<(), Stop> {
        let mut cursor = TreeCursor::new();
        if !replaces {
            let inserted = system.try_insert(&self.catalog_tree, &mut cursor, key, bytes, true)?;
            if inserted == pikepole_transaction::Inserted::Done {
                return Ok(());
            }
        }
        loop {
            let current = system.try_current(&self.catalog_tree, key, |_| ())?;
            let Some((header, ())) = current else {
                // Somebody dropped the table or sequence: the value goes nowhere.
                return Ok(());
            };
            if system.try_replace(&self.catalog_tree, &mut cursor, key, header, bytes, true)? {
                return Ok(());
            }
        }
    }

    /// At a shutdown: notes the next value of every table that has dealt some, and the last rowversion number.
    pub(crate) async fn note_identities(&self) {
        for table in self.current_catalog().tables().filter(|table| table.outlives_restart()) {
            self.note_at_shutdown(table.object_id, || table.state.mark_of_shutdown()).await;
        }
        self.note_at_shutdown(ROWVERSIONS_ID, || self.row_versions.mark_of_shutdown()).await;
    }

    async fn note_at_shutdown(&self, id: i32, mark: impl Fn() -> Option<Mark>) {
        loop {
            match self.try_note(id, &mark, |_| ()) {
                Err(Stop::Need(Need::Storage(need))) if self.satisfy_storage(need).await.is_ok() => (),
                // Without the note, the next start goes on at the mark noted before.
                _ => break,
            }
        }
    }
}

/// A high-water mark for the catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    /// The next value to be dealt after a start.
    pub value: i64,
    /// Whether the catalog has a mark already.
    pub replaces: bool,
}

/// The numbers of a database's rowversion columns.
pub(super) struct RowVersions {
    last: AtomicU64,
    /// Numbers below it may be dealt; 0: the catalog has no mark. Changed in the turn of [`Database::try_note`].
    mark: AtomicU64,
}

impl RowVersions {
    /// Goes on at the mark that the catalog has.
    pub fn resume(mark: Option<i64>) -> Self {
        let mark = mark.and_then(|mark| u64::try_from(mark).ok()).unwrap_or(0);
        RowVersions { last: AtomicU64::new(mark.saturating_sub(1)), mark: AtomicU64::new(mark) }
    }

    /// None: a mark must be noted first.
    fn next(&self) -> Option<u64> {
        // Acquire pairs with the Release in `noted`: what this session logs from now on is behind the mark's record.
        let mark = self.mark.load(Ordering::Acquire);
        let dealt = self
            .last
            // Release pairs with the Acquire in `last`: who knows of the number sees that its transaction expected it.
            .fetch_update(Ordering::Release, Ordering::Relaxed, |last| Some(last + 1).filter(|number| *number < mark));
        dealt.ok().map(|last| last + 1)
    }

    fn last(&self) -> u64 {
        // Acquire pairs with the Release in `next`.
        self.last.load(Ordering::Acquire)
    }

    fn mark_wanted(&self) -> Option<Mark> {
        let mark = self.mark.load(Ordering::Relaxed);
        (self.last() + 1 >= mark)
            .then(|| Mark { value: (self.last() + 1 + ROWVERSION_BLOCK).cast_signed(), replaces: mark != 0 })
    }

    fn noted(&self, mark: Mark) {
        // Release pairs with the Acquire in `next`.
        self.mark.store(mark.value.cast_unsigned(), Ordering::Release);
    }

    fn mark_of_shutdown(&self) -> Option<Mark> {
        (self.mark.load(Ordering::Relaxed) != 0)
            .then(|| Mark { value: (self.last() + 1).cast_signed(), replaces: true })
    }
}

fn identity_of(table: &Table) -> Identity {
    let column = table.identity_column().and_then(|at| table.columns[at].identity);
    column.expect("the caller asks for tables with an identity column")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Deals until a mark is needed.
    fn deal(numbers: &RowVersions) -> Vec<u64> {
        std::iter::from_fn(|| numbers.next()).collect()
    }

    #[test]
    fn numbers_stay_below_the_mark_that_was_noted() {
        let numbers = RowVersions::resume(None);
        assert_eq!(numbers.next(), None);
        let first = numbers.mark_wanted().expect("none is there");
        assert_eq!(first, Mark { value: 1 + ROWVERSION_BLOCK as i64, replaces: false });
        numbers.noted(first);
        assert_eq!(numbers.mark_wanted(), None, "another session has noted one");
        let dealt = deal(&numbers);
        assert_eq!((dealt[0], dealt[dealt.len() - 1]), (1, ROWVERSION_BLOCK));
        let second = numbers.mark_wanted().expect("all are dealt");
        assert_eq!(second, Mark { value: first.value + ROWVERSION_BLOCK as i64, replaces: true });
        let resumed = RowVersions::resume(Some(second.value));
        let third = resumed.mark_wanted().expect("none is dealt before a new mark");
        resumed.noted(third);
        assert_eq!(resumed.next(), Some(second.value as u64));
        for damaged in [i64::MIN, -1, i64::MAX] {
            let numbers = RowVersions::resume(Some(damaged));
            let mark = numbers.mark_wanted().expect("none is dealt before a new mark");
            numbers.noted(mark);
            assert!(numbers.next().is_some());
        }
    }
}
