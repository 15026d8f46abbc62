//! A session's transaction in several databases at once.
//!
//! ```text
//!   Transaction (of the current database)
//!      |--- temporary   the session's own tables in tempdb: crate::temporary
//!      \--- parts       one Transaction for each other database that it has read or changed since it began
//! ```
//! A table that is reached from another database than its own says so ([`Residence::Other`]); calls on its rows find the part by
//! themselves, so whoever makes them need not know. A call of a procedure of another database, and USE, make the part the
//! session's transaction and its former one a part ([`Transaction::move_to`]).
//!
//! # Invariants
//! - parts end with the transaction, in commit and in rollback, and not before;
//! - all of them wait under one number: a circle of waits through several databases is found;
//! - one database at most is changed beside tempdb: a crash cannot keep the half of a transaction. What is in tempdb no crash
//!   leaves.

use std::sync::Arc;

use pikepole_transaction::Need;
use pikepole_types::SqlError;

use crate::catalog::Catalog;
use crate::database::{Database, Durability};
use crate::error::Blocked;
use crate::table::Table;
use crate::temporary::{Residence, TEMPDB_ID};
use crate::transaction::{Mark, Transaction};

/// The transaction's part in another database. While it is there the database cannot be dropped.
pub(crate) struct Part {
    database: Arc<Database>,
    /// Absent only while the part is being taken apart.
    transaction: Option<Box<Transaction>>,
}

impl Part {
    fn new(database: Arc<Database>, transaction: Transaction) -> Part {
        database.enter();
        Part { database, transaction: Some(Box::new(transaction)) }
    }

    fn id(&self) -> i32 {
        self.database.id()
    }

    /// The database, and the transaction in it.
    pub fn both(&mut self) -> (&Arc<Database>, &mut Transaction) {
        (&self.database, self.transaction.as_mut().expect("only a part that is gone has none"))
    }

    fn transaction(&self) -> &Transaction {
        self.transaction.as_ref().expect("only a part that is gone has none")
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        self.transaction = None;
        self.database.leave();
    }
}

impl Transaction {
    /// Gives the transaction a part in `database`, unless it is the transaction's own or has one.
    pub fn take_part(&mut self, database: &Arc<Database>) {
        if database.id() == self.database_id || self.has_part_in(database.id()) {
            return;
        }
        let mut transaction = Transaction::new(database.transactions().session_of(&self.inner), database.id());
        if self.is_explicit() {
            transaction.begin();
            transaction.is_of_statement = self.is_of_statement;
        }
        transaction.begin_statement();
        self.parts.push(Part::new(Arc::clone(database), transaction));
    }

    /// Whether the transaction has a part in another database.
    pub fn has_part_in(&self, id: i32) -> bool {
        self.parts.iter().any(|part| part.id() == id)
    }

    /// Makes the part in `to` the session's transaction; what was done in `from`, its own database so far, is a part from now on.
    pub fn move_to(&mut self, from: &Arc<Database>, to: &Arc<Database>) {
        self.take_part(to);
        let Some(at) = self.parts.iter().position(|part| part.id() == to.id()) else {
            return;
        };
        let mut part = self.parts.swap_remove(at);
        let Some(there) = part.transaction.take() else { return };
        let mut former = std::mem::replace(self, *there);
        self.temporary = former.temporary.take();
        self.parts = std::mem::take(&mut former.parts);
        self.parts.push(Part::new(Arc::clone(from), former));
        self.forget_idle_parts();
    }

    /// Between two transactions nothing is held anywhere.
    pub(crate) fn forget_idle_parts(&mut self) {
        let idle = |tx: &Transaction| !tx.is_explicit() && !tx.has_changes() && !tx.definitions.are_changed();
        if idle(self) && self.parts.iter().all(|part| idle(part.transaction())) {
            self.parts.clear();
        }
    }

    /// The definitions that the transaction has changed in another database than its own, by the database's id.
    pub fn changed_elsewhere(&self) -> impl Iterator<Item = (i32, &Arc<Catalog>)> {
        self.parts.iter().filter_map(|part| Some((part.id(), part.transaction().definitions.catalog.as_ref()?)))
    }

    /// The part that calls on `table` are for.
    pub(crate) fn part_of(&mut self, table: &Table) -> Option<(&Arc<Database>, &mut Transaction)> {
        let Residence::Other(id) = table.residence else { return None };
        self.part_in(id)
    }

    fn part_in(&mut self, id: i32) -> Option<(&Arc<Database>, &mut Transaction)> {
        self.parts.iter_mut().find(|part| part.id() == id).map(Part::both)
    }

    /// Makes a call in the part that `table` belongs to; a need is remembered as that part's.
    pub(crate) fn in_part<T>(
        &mut self,
        table: &Table,
        call: impl FnOnce(&Database, &mut Transaction) -> Result<T, Blocked>,
    ) -> Result<T, Blocked> {
        let Some((database, part)) = self.part_of(table) else {
            return Err(SqlError::invalid_object(&table.name).into());
        };
        let done = call(database, part);
        if matches!(done, Err(Blocked::Need(_))) {
            self.blocked_in = table.residence;
        }
        self.check_one_is_changed()?;
        done
    }

    /// Whether its own part, without those in other databases, has changed something that is not undone.
    fn is_changed(&self) -> bool {
        let in_memory = self.memory.as_ref().is_some_and(|memory| memory.has_changes());
        in_memory || self.inner.mark() != pikepole_transaction::Mark::START || self.definitions.catalog.is_some()
    }

    /// Refuses what would change a second database. It is asked behind each call that may have.
    #[inline]
    pub(crate) fn check_one_is_changed(&self) -> Result<(), SqlError> {
        let all = self.parts.iter().map(Part::transaction).chain([self]);
        let changed = all.filter(|tx| tx.database_id != TEMPDB_ID && tx.is_changed()).count();
        if changed > 1 { Err(SqlError::two_databases_changed()) } else { Ok(()) }
    }

    /// The transaction's own database is about to be changed.
    pub(crate) fn check_own_may_change(&self) -> Result<(), SqlError> {
        let other = |part: &Part| part.id() != TEMPDB_ID && part.transaction().is_changed();
        if self.database_id != TEMPDB_ID && self.parts.iter().any(other) {
            return Err(SqlError::two_databases_changed());
        }
        Ok(())
    }

    /// Notes where the parts are.
    pub(crate) fn mark_parts(&self, mark: &mut Mark) {
        for part in &self.parts {
            let transaction = part.transaction();
            // One whose changes were all undone is at its beginning, and must not be taken for the one that is changed.
            if transaction.is_changed() {
                mark.set(transaction);
            }
        }
    }

    pub(crate) fn any_part(&self, is_it: impl Fn(&Transaction) -> bool) -> bool {
        self.parts.iter().any(|part| is_it(part.transaction()))
    }

    pub(crate) fn for_each_part(&mut self, mut visit: impl FnMut(&mut Transaction)) {
        for part in &mut self.parts {
            visit(part.both().1);
        }
    }

    /// Logs what the records of their commits do not take of the parts' changes in in-memory tables.
    pub(crate) fn try_log_parts_in_memory(&mut self) -> Result<(), Blocked> {
        for part in &mut self.parts {
            let (database, transaction) = part.both();
            if let Err(blocked) = database.try_log_in_memory(transaction) {
                self.blocked_in = Residence::Other(database.id());
                return Err(blocked);
            }
        }
        Ok(())
    }

    /// Commits the parts in tempdb, or the others.
    pub(crate) fn try_commit_parts(&mut self, in_tempdb: bool, durability: Durability) -> Result<(), Blocked> {
        for part in self.parts.iter_mut().filter(|part| (part.id() == TEMPDB_ID) == in_tempdb) {
            let (database, transaction) = part.both();
            if let Err(blocked) = database.try_commit_own(transaction, durability) {
                self.blocked_in = Residence::Other(database.id());
                return Err(blocked);
            }
        }
        Ok(())
    }

    /// Undoes what was changed in the parts since `mark`.
    pub(crate) async fn rollback_parts_to(&mut self, mark: Mark) -> Result<(), SqlError> {
        for part in &mut self.parts {
            let (database, transaction) = part.both();
            database.rollback_own_to(transaction, mark.of(database.id()), mark.in_memory(database.id())).await?;
            transaction.forget_definitions_since(mark);
        }
        Ok(())
    }

    /// Undoes the parts, which end.
    pub(crate) async fn rollback_parts(&mut self) -> Result<(), SqlError> {
        let mut undone = Ok(());
        for mut part in std::mem::take(&mut self.parts) {
            let (database, transaction) = part.both();
            undone = undone.and(database.rollback_own(transaction).await);
        }
        undone
    }

    /// Awaits what an operation in another database lacks.
    pub(crate) async fn satisfy_part(&mut self, id: i32, need: Need) -> Result<(), SqlError> {
        self.rest();
        match self.part_in(id) {
            Some((database, part)) => database.satisfy_own(part, need).await,
            None => Ok(()),
        }
    }
}
