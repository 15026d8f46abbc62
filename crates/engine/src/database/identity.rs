//! Identity values: dealt from memory, with a high-water mark in the catalog that is noted once in a thousand values.
//!
//! A crash leaves out at most what is between the last value dealt and the mark; a value is never dealt twice, and one that
//! was dealt is not given back by a rollback. A clean shutdown notes the next value itself.

use pikepole_storage::TreeCursor;
use pikepole_transaction::{Need, Stop};

use super::{Database, lock};
use crate::catalog::definition::Identity;
use crate::catalog::rows::{RowKind, row_key};
use crate::error::Blocked;
use crate::table::Table;
use crate::transaction::Transaction;

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
            return Ok(table.state.next_unnoted(&identity_of(table)));
        }
        let identity = identity_of(table);
        loop {
            if let Some(value) = table.state.next_identity(&identity) {
                return Ok(value);
            }
            let (mark, noted) = table.state.high_water(&identity);
            self.try_note(table, mark, noted).map_err(|stop| self.stop(tx, table, stop))?;
            // Whoever inserts one of these values logs behind the note.
            self.log.now();
            table.state.noted();
        }
    }

    /// A value was inserted that was not dealt (IDENTITY_INSERT): later ones come behind it.
    ///
    /// # Panics
    /// When the table has no identity column.
    pub fn pass_identity(&self, table: &Table, value: i64) {
        table.state.pass(&identity_of(table), value);
    }

    /// The last value dealt (IDENT_CURRENT); the seed when none was.
    pub fn last_identity(&self, table: &Table) -> Option<i64> {
        let identity = table.columns[table.identity_column()?].identity?;
        Some(table.state.last_identity(&identity).unwrap_or(identity.seed))
    }

    /// Writes a high-water mark in a transaction of its own.
    fn try_note(&self, table: &Table, mark: i64, noted: bool) -> Result<(), Stop> {
        let key = row_key(RowKind::Identity, table.object_id, 0);
        let bytes = mark.to_le_bytes();
        let mut cursor = TreeCursor::new();
        let mut system = lock(&self.system);
        if !noted {
            let inserted = system.try_insert(&self.catalog_tree, &mut cursor, &key, &bytes, true)?;
            if inserted == pikepole_transaction::Inserted::Done {
                return Ok(());
            }
        }
        loop {
            let current = system.try_current(&self.catalog_tree, &key, |_| ())?;
            let Some((header, ())) = current else {
                // Somebody dropped the table: the value goes nowhere.
                return Ok(());
            };
            if system.try_replace(&self.catalog_tree, &mut cursor, &key, header, &bytes, true)? {
                return Ok(());
            }
        }
    }

    /// At a shutdown: notes the next value of every table that has dealt some.
    pub(crate) async fn note_identities(&self) {
        for table in self.current_catalog().tables() {
            let Some(at) = table.identity_column() else {
                continue;
            };
            let identity = table.columns[at].identity.expect("it is the identity column");
            let Some(last) = table.state.last_identity(&identity) else {
                continue;
            };
            let next = last.saturating_add(identity.increment);
            let (_, noted) = table.state.high_water(&identity);
            loop {
                match self.try_note(table, next, noted) {
                    Err(Stop::Need(Need::Storage(need))) if self.satisfy_storage(need).await.is_ok() => (),
                    // Without the note, the next start goes on at the mark noted before.
                    _ => break,
                }
            }
        }
    }
}

fn identity_of(table: &Table) -> Identity {
    let column = table.identity_column().and_then(|at| table.columns[at].identity);
    column.expect("the caller asks for tables with an identity column")
}
