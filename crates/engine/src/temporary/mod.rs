//! Temporary tables and table variables: tables of one session, in tempdb.
//!
//! ```text
//!   Transaction of the session (in its database)
//!      \--- Temporary
//!             |--- names       name, nest level -> Table          in no catalog: nobody else can find them
//!             |--- tables      transaction in tempdb, ends with the session's
//!             \--- variables   transaction in tempdb, commits with each statement
//! ```
//! Calls that change or read rows find out by [`Table::residence`] which transaction they are for, so that whoever makes them
//! need not know. Nothing waits for tempdb's log.
//!
//! # Invariants
//! - a table of a session is locked and changed by that session only;
//! - `variables` holds no change between two statements: what rolls back rolls back the running statement at most;
//! - storage is given back after the end of the transaction whose undo may need it.

mod database;
mod definitions;
mod names;

use std::sync::Arc;

use pikepole_types::SqlError;

use crate::database::{Database, Durability};
use crate::error::Blocked;
use crate::table::Table;
use crate::transaction::Transaction;
pub use database::TEMPDB;
pub use database::TEMPDB_ID;
pub use names::{TemporaryEntry, TemporaryTables};

/// Where a table lives, and with what its changes end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Residence {
    /// In the catalog of its database.
    #[default]
    Database,
    /// A temporary table: its changes end with the session's transaction.
    Temporary,
    /// A table variable: no rollback of the transaction undoes its changes.
    Variable,
    /// In the catalog of the database with this id, reached from another one.
    Other(i32),
}

impl Residence {
    /// Whether it is a temporary table or a table variable of one session.
    #[inline]
    pub fn is_session(self) -> bool {
        matches!(self, Residence::Temporary | Residence::Variable)
    }
}

/// A session's part in tempdb.
pub(crate) struct Temporary {
    pub database: Arc<Database>,
    tables: Transaction,
    variables: Transaction,
    names: Arc<TemporaryTables>,
    /// The tables before each change of their definitions in the open transaction.
    history: Vec<Arc<TemporaryTables>>,
    /// Storage of tables that are gone, or were given up; freed when no undo can need it.
    gone: Vec<u32>,
    /// The last field: dropped when the transactions are, and wait to be rolled back.
    left: LeftBehind,
}

/// Storage of a session that ended in the middle of a transaction.
struct LeftBehind {
    database: Arc<Database>,
    objects: Vec<u32>,
}

impl Drop for LeftBehind {
    fn drop(&mut self) {
        self.database.free_after_rollbacks(std::mem::take(&mut self.objects));
    }
}

impl Temporary {
    fn part(&mut self, residence: Residence) -> (&Database, &mut Transaction) {
        let part = match residence {
            Residence::Variable => &mut self.variables,
            Residence::Database | Residence::Other(_) | Residence::Temporary => &mut self.tables,
        };
        (&self.database, part)
    }

    /// How often definitions changed in the open transaction.
    pub fn definitions(&self) -> usize {
        self.history.len()
    }

    pub fn rows_mark(&self) -> pikepole_transaction::Mark {
        self.tables.inner.mark()
    }

    pub fn begin(&mut self) {
        self.tables.begin();
    }

    pub fn rest(&mut self) {
        self.tables.rest();
        self.variables.rest();
    }

    pub fn begin_statement(&mut self) {
        self.tables.begin_statement();
        self.variables.begin_statement();
    }

    /// The statement is over: what it did to table variables is kept.
    pub fn try_end_statement(&mut self) -> Result<(), Blocked> {
        self.database.try_commit(&mut self.variables, Durability::Delayed)?;
        self.tables.inner.end_statement();
        Ok(())
    }

    /// The session's transaction commits.
    pub fn try_commit(&mut self) -> Result<(), Blocked> {
        // Neither can need anything but room in tempdb's log, which either can await.
        self.database.try_commit(&mut self.variables, Durability::Delayed)?;
        self.database.try_commit(&mut self.tables, Durability::Delayed)
    }

    /// Awaits what an operation in tempdb lacks.
    pub async fn satisfy(&mut self, blocked_in: Residence, need: pikepole_transaction::Need) -> Result<(), SqlError> {
        self.rest();
        let (database, part) = self.part(blocked_in);
        database.satisfy_own(part, need).await
    }

    /// The session's transaction has committed.
    pub fn committed(&mut self) {
        self.history.clear();
        self.free_gone();
    }

    /// Undoes what the running statement did to table variables, and what was done to temporary tables since the mark.
    pub async fn rollback_to(&mut self, rows: pikepole_transaction::Mark, definitions: usize) -> Result<(), SqlError> {
        self.database.rollback_own(&mut self.variables).await?;
        self.database.rollback_own_to(&mut self.tables, rows, 0).await?;
        self.forget_definitions_since(definitions);
        Ok(())
    }

    /// Undoes the whole transaction.
    pub async fn rollback(&mut self) -> Result<(), SqlError> {
        let variables = self.database.rollback_own(&mut self.variables).await;
        let tables = self.database.rollback_own(&mut self.tables).await;
        self.forget_definitions_since(0);
        self.free_gone();
        variables.and(tables)
    }

    /// Definitions are again what they were after so many changes of the transaction.
    fn forget_definitions_since(&mut self, definitions: usize) {
        let Some(former) = self.history.get(definitions).cloned() else {
            return;
        };
        self.history.truncate(definitions);
        let lost: Vec<u32> = self.names.storages().filter(|object| !former.holds(*object)).collect();
        self.gone.extend(lost);
        // What the names mean has changed once more: no plan of before or after the change fits.
        self.names = Arc::new(former.renewed(self.database.new_version()));
    }

    /// Definitions change: `change` makes the new tables of the present ones.
    fn change_names(&mut self, change: impl FnOnce(&mut TemporaryTables)) {
        let mut names = self.names.renewed(self.database.new_version());
        change(&mut names);
        self.history.push(std::mem::replace(&mut self.names, Arc::new(names)));
    }

    /// Names change that no rollback brings back: they are so from now on, whatever becomes of the transaction.
    fn change_always(&mut self, mut change: impl FnMut(&mut TemporaryTables)) {
        let version = self.database.new_version();
        for names in self.history.iter_mut().chain([&mut self.names]) {
            let mut changed = names.renewed(version);
            change(&mut changed);
            *names = Arc::new(changed);
        }
    }

    /// Storage that a change of definitions has made belongs to the names from now on, and is given back when they no longer
    /// hold it.
    fn adopt_created(&mut self) {
        self.gone.append(&mut self.tables.definitions.created);
        self.gone.append(&mut self.variables.definitions.created);
    }

    /// The tables made at `level` and below it end: their scope has.
    fn end_scope(&mut self, level: i32, variables_only: bool) {
        let ends = |entry: &TemporaryEntry| entry.ends_with(level, variables_only);
        if !self.names.entries().any(ends) && !self.history.iter().any(|names| names.entries().any(ends)) {
            return;
        }
        let mut ended: Vec<Arc<Table>> = Vec::new();
        for names in self.history.iter().chain([&self.names]) {
            ended.extend(names.entries().filter(|entry| ends(entry)).map(|entry| Arc::clone(&entry.table)));
        }
        let version = self.database.new_version();
        self.names = Arc::new(self.names.without(version, ends));
        for names in &mut self.history {
            *names = Arc::new(names.without(version, ends));
        }
        for table in ended {
            // One that was lent is there still, by another name.
            if self.names.by_id(table.object_id).is_none() {
                table.forget_rows_unless_kept(None);
            }
            self.gone.extend(table.storages().map(|storage| storage.object));
        }
        self.free_gone();
    }

    /// Gives back what no undo can need any more.
    fn free_gone(&mut self) {
        if self.tables.has_changes() || self.tables.is_explicit() || self.variables.has_changes() {
            return;
        }
        let mut gone = std::mem::take(&mut self.gone);
        gone.sort_unstable();
        gone.dedup();
        gone.retain(|object| !self.names.holds(*object));
        self.database.free_later(gone);
    }
}

impl Drop for Temporary {
    /// The session ends. What its last transaction has not undone yet keeps its storage until that is done.
    fn drop(&mut self) {
        self.adopt_created();
        let mut gone = std::mem::take(&mut self.gone);
        gone.extend(self.names.storages());
        gone.extend(self.history.iter().flat_map(|names| names.storages()));
        gone.sort_unstable();
        gone.dedup();
        if self.tables.has_changes() || self.variables.has_changes() {
            self.left.objects = gone;
        } else {
            self.database.free_later(gone);
        }
    }
}

impl Transaction {
    /// Whether the session has been given a part in tempdb.
    pub fn has_temporary(&self) -> bool {
        self.temporary.is_some()
    }

    /// Gives the session a part in `tempdb`, if it has none.
    pub fn use_temporary(&mut self, tempdb: &Arc<Database>) {
        if self.temporary.is_some() {
            return;
        }
        let session_id = self.session_id();
        let mut temporary = Temporary {
            tables: tempdb.transaction(session_id),
            variables: tempdb.transaction(session_id),
            names: Arc::new(TemporaryTables::new(tempdb.new_version())),
            history: Vec::new(),
            gone: Vec::new(),
            database: Arc::clone(tempdb),
            left: LeftBehind { database: Arc::clone(tempdb), objects: Vec::new() },
        };
        if self.is_explicit() {
            temporary.begin();
        }
        temporary.begin_statement();
        self.temporary = Some(Box::new(temporary));
    }

    /// The temporary tables and table variables that the session has; None: it never had any.
    pub fn temporary_tables(&self) -> Option<&Arc<TemporaryTables>> {
        self.temporary.as_ref().map(|temporary| &temporary.names)
    }

    /// tempdb, once the session has a part in it.
    pub fn tempdb(&self) -> Option<&Arc<Database>> {
        self.temporary.as_ref().map(|temporary| &temporary.database)
    }

    /// The scope of this nest level has ended: its tables are dropped, whatever the transaction becomes.
    pub fn end_temporary_scope(&mut self, level: i32) {
        if let Some(temporary) = &mut self.temporary {
            temporary.end_scope(level, false);
        }
    }

    /// The batch has ended: its table variables, and the tables of calls that it has left in the middle, are dropped.
    pub fn end_temporary_batch(&mut self) {
        if let Some(temporary) = &mut self.temporary {
            temporary.end_scope(1, false);
            temporary.end_scope(0, true);
        }
    }

    /// Whether a call that is about `table` is one for another transaction of the session: its descriptor in tempdb or in another
    /// database. Those have no descriptors elsewhere.
    #[inline]
    pub(crate) fn is_elsewhere(&self, table: &Table) -> bool {
        match table.residence {
            Residence::Database => false,
            Residence::Other(id) => id != self.database_id,
            Residence::Temporary | Residence::Variable => self.temporary.is_some(),
        }
    }

    /// Makes a call in the transaction that `table` belongs to; a need is remembered as that transaction's.
    pub(crate) fn elsewhere<T>(
        &mut self,
        table: &Table,
        call: impl FnOnce(&Database, &mut Transaction) -> Result<T, Blocked>,
    ) -> Result<T, Blocked> {
        if !table.residence.is_session() {
            return self.in_part(table, call);
        }
        let Some(temporary) = &mut self.temporary else {
            return Err(SqlError::invalid_object(&table.name).into());
        };
        let (database, part) = temporary.part(table.residence);
        let done = call(database, part);
        if matches!(done, Err(Blocked::Need(_))) {
            self.blocked_in = table.residence;
        }
        done
    }
}
