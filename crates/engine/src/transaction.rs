//! A session's transaction in one database: the rows' part, and the definitions that it has changed.
//!
//! ```text
//!   CREATE TABLE t          catalog of the transaction: current + t        published by the commit,
//!   savepoint               (mark, catalog before the change) kept         forgotten by the rollback
//! ```
//! What it does to temporary tables and table variables is in transactions of tempdb: [`crate::temporary`]; what it does in other
//! databases is in parts of it: [`crate::part`].

use std::sync::Arc;

use pikepole_contention::WaitType;
use pikepole_contention::sync::atomic::AtomicBool;
use pikepole_log::Lsn;
use pikepole_memory::MemoryTransaction;
use pikepole_scheduler as scheduler;
use pikepole_storage::StorageError;
use pikepole_transaction::{Isolation, Need, NestedTransactions, Stop, TransactionError, TransactionId};
use pikepole_types::SqlError;

use crate::catalog::Catalog;
use crate::database::{Database, Durability};
use crate::error::{Blocked, Interrupted, Place};
use crate::in_memory::LoggedInMemory;
use crate::memory_level::MemoryLevel;
use crate::part::Part;
use crate::patience::{Patience, is_for_lock};
use crate::server::TraceFlag;
use crate::table::{Counts, IdentityValues, ReadHints, ReadRules, Table, TableState};
use crate::temporary::{Residence, TEMPDB_ID, Temporary};

/// A point of a transaction to roll back to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// The database that was changed, or else the transaction's own: beside tempdb there is one at most.
    database: i32,
    rows: pikepole_transaction::Mark,
    /// In that database's in-memory tables.
    memory: usize,
    /// In what all sessions see of tempdb.
    tempdb_rows: pikepole_transaction::Mark,
    /// In the session's own tables: rows, and how often definitions have changed.
    temporary_rows: pikepole_transaction::Mark,
    temporary_definitions: usize,
}

impl Mark {
    /// Before the first change.
    pub const START: Mark = Mark {
        database: 0,
        rows: pikepole_transaction::Mark::START,
        memory: 0,
        tempdb_rows: pikepole_transaction::Mark::START,
        temporary_rows: pikepole_transaction::Mark::START,
        temporary_definitions: 0,
    };

    /// The point in a database.
    pub(crate) fn of(self, database: i32) -> pikepole_transaction::Mark {
        match database {
            TEMPDB_ID => self.tempdb_rows,
            _ if database == self.database => self.rows,
            _ => pikepole_transaction::Mark::START,
        }
    }

    /// The same in its in-memory tables.
    pub(crate) fn in_memory(self, database: i32) -> usize {
        if database == self.database { self.memory } else { 0 }
    }

    /// Notes where a transaction is in its database.
    pub(crate) fn set(&mut self, tx: &Transaction) {
        match tx.database_id {
            TEMPDB_ID => self.tempdb_rows = tx.inner.mark(),
            id => {
                (self.database, self.rows) = (id, tx.inner.mark());
                self.memory = tx.memory.as_ref().map_or(0, |memory| memory.mark());
            }
        }
    }
}

/// Definitions changed by a transaction that has not ended.
#[derive(Default)]
pub(crate) struct Definitions {
    /// The catalog that the transaction sees, when it has changed any.
    pub catalog: Option<Arc<Catalog>>,
    /// The catalogs before each change, with the mark before it.
    history: Vec<(Mark, Option<Arc<Catalog>>)>,
    /// Numbers in the store of the trees and heaps that it made.
    pub created: Vec<u32>,
    /// Tables whose identity values began anew, with the values before, after these many changes.
    reseeded: Vec<(usize, Arc<TableState>, IdentityValues)>,
}

impl Definitions {
    /// Only so many changes are left: identity values that began anew after them are as they were.
    fn restore_identities(&mut self, changes: usize) {
        while let Some((_, state, before)) = self.reseeded.pop_if(|(at, ..)| *at > changes) {
            state.restore_identity(before);
        }
    }

    /// Whether something was changed that has not ended yet.
    pub fn are_changed(&self) -> bool {
        self.catalog.is_some() || !self.created.is_empty()
    }
}

/// The transaction of a session in one database; reused from transaction to transaction.
pub struct Transaction {
    pub(crate) inner: pikepole_transaction::Transaction,
    pub(crate) database_id: i32,
    pub(crate) definitions: Definitions,
    /// The object that the data file is to grow for: error 1105 names it. Set with the need of space, taken by the next
    /// satisfying.
    growing_for: String,
    /// Its part in in-memory tables; none before the first.
    pub(crate) memory: Option<Box<MemoryTransaction>>,
    /// Its changes there on their way into the log.
    pub(crate) logged_in_memory: LoggedInMemory,
    /// The level at which its statements use in-memory tables, whatever their hints and its own level are; None: those decide.
    pub(crate) memory_level: Option<MemoryLevel>,
    /// Bytes by which the session's rows in memory have grown since it asked for some.
    pub(crate) grown_in_memory: usize,
    /// It was begun for one statement of a session that is in none.
    pub(crate) is_of_statement: bool,
    /// The session's part in tempdb.
    pub(crate) temporary: Option<Box<Temporary>>,
    /// What it does in other databases.
    pub(crate) parts: Vec<Part>,
    /// Where the operation that stopped for a need was made.
    pub(crate) blocked_in: Residence,
    /// How long it waits for others.
    patience: Patience,
    /// Counts its statements.
    statements: u64,
    /// The statement locks the rows that it changes as it finds them.
    locks_targets: bool,
    /// Counts the rows whose keys it has made different from equal ones.
    pub(crate) counts: Counts,
}

impl Transaction {
    pub(crate) fn new(inner: pikepole_transaction::Transaction, database_id: i32) -> Self {
        Self {
            inner,
            database_id,
            definitions: Definitions::default(),
            growing_for: String::new(),
            memory: None,
            logged_in_memory: LoggedInMemory::default(),
            memory_level: None,
            grown_in_memory: 0,
            is_of_statement: false,
            temporary: None,
            parts: Vec::new(),
            blocked_in: Residence::Database,
            patience: Patience::default(),
            statements: 0,
            locks_targets: false,
            counts: Counts::default(),
        }
    }

    /// An explicit transaction begins: the session's outermost BEGIN TRANSACTION.
    pub fn begin(&mut self) {
        self.inner.begin();
        self.is_of_statement = false;
        if let Some(temporary) = &mut self.temporary {
            temporary.begin();
        }
        self.for_each_part(Transaction::begin);
    }

    /// The same for one statement with its triggers, of a session that has begun no transaction.
    pub fn begin_for_statement(&mut self) {
        self.begin();
        self.is_of_statement = true;
        self.for_each_part(|part| part.is_of_statement = true);
    }

    /// Tells if a user has begun it, with a statement of its own or by IMPLICIT_TRANSACTIONS.
    pub(crate) fn is_of_user(&self) -> bool {
        self.is_explicit() && !self.is_of_statement
    }

    /// Where the last commit ends that nobody has waited for; zero when there is none.
    pub fn unhardened(&self) -> Lsn {
        self.inner.unhardened()
    }

    /// Whether an explicit transaction is open.
    pub fn is_explicit(&self) -> bool {
        self.inner.is_explicit()
    }

    /// Bytes that are kept to undo it.
    pub fn undo_bytes(&self) -> usize {
        self.inner.undo_bytes()
    }

    /// Whether anything was changed that has not ended yet.
    pub fn has_changes(&self) -> bool {
        self.inner.has_changes() || self.memory.as_ref().is_some_and(|memory| memory.has_changes())
    }

    /// The id of the open transaction; None while it has changed nothing.
    pub fn id(&self) -> Option<TransactionId> {
        self.inner.id()
    }

    /// The number of the session.
    pub fn session_id(&self) -> i32 {
        self.inner.session_id()
    }

    /// What it sees of others.
    pub fn isolation(&self) -> Isolation {
        self.inner.isolation()
    }

    /// Sets what later statements see of others.
    pub fn set_isolation(&mut self, isolation: Isolation) {
        self.inner.set_isolation(isolation);
        self.for_each_part(|part| part.set_isolation(isolation));
    }

    /// The rules that scans read by, beside their hints.
    #[inline]
    pub(crate) fn read_rules(&self) -> ReadRules {
        let (isolation, locks_committed) = (self.inner.isolation(), self.inner.locks_reads());
        ReadRules { isolation, locks_committed, locks_targets: self.locks_targets }
    }

    /// Tells if a scan with these hints reads versions, so that workers may share it.
    pub fn reads_versions(&self, hints: &ReadHints) -> bool {
        hints.reads_versions(&self.read_rules())
    }

    /// From now on statements lock the rows that they change as they find them, or no more: one that has met rows that
    /// changed under it meets none when it runs again.
    pub fn lock_targets(&mut self, locks: bool) {
        self.locks_targets = locks;
        self.for_each_part(|part| part.locks_targets = locks);
    }

    /// Tells if the statement has waited for others since it took its snapshot, in the database of the table.
    pub fn has_outwaited_snapshot(&mut self, table: &Table) -> bool {
        match self.part_of(table) {
            Some((_, part)) => part.inner.has_outwaited_snapshot(),
            None => self.inner.has_outwaited_snapshot(),
        }
    }

    /// A row was found to be another than the scan had found: what was copied with it is outdated.
    pub fn saw_change(&mut self, table: &Table) {
        match self.part_of(table) {
            Some((_, part)) => part.inner.saw_change(),
            None => self.inner.saw_change(),
        }
    }

    /// How long operations wait for the locks of others from now on ([`Database::await_need`]), and DEADLOCK_PRIORITY: of a deadlock's
    /// sessions, one of the lowest is the victim.
    #[inline]
    pub fn set_patience(&mut self, timeout_ms: Option<u64>, cancelled: &Arc<AtomicBool>, priority: i32) {
        self.patience.set(timeout_ms, cancelled, priority);
        self.for_each_part(|part| part.patience.set(timeout_ms, cancelled, priority));
    }

    /// Before a wait for others: each of its transactions knows what the session has logged in the others, which decides who is
    /// the victim of a deadlock. None of them keeps a lock that it does not need.
    fn prepare_to_wait(&mut self) {
        self.rest();
        if self.parts.is_empty() {
            return;
        }
        let mut total = self.inner.log_bytes();
        self.for_each_part(|part| total += part.inner.log_bytes());
        let note = |tx: &mut Transaction| {
            let elsewhere = total - tx.inner.log_bytes();
            tx.inner.set_elsewhere_bytes(elsewhere);
        };
        note(self);
        self.for_each_part(note);
    }

    /// The present point of the transaction: a savepoint.
    #[inline]
    pub fn mark(&self) -> Mark {
        let mut mark = Mark::START;
        mark.set(self);
        if let Some(temporary) = &self.temporary {
            mark.temporary_rows = temporary.rows_mark();
            mark.temporary_definitions = temporary.definitions();
        }
        if !self.parts.is_empty() {
            self.mark_parts(&mut mark);
        }
        mark
    }

    /// The batch is over, or a long wait begins: locks that are only kept for the next statement are given back.
    pub fn rest(&mut self) {
        self.inner.rest();
        if let Some(temporary) = &mut self.temporary {
            temporary.rest();
        }
        self.for_each_part(Transaction::rest);
    }

    /// A statement begins that is part of the running one: it sees what that sees, and the newest rows of the session's own
    /// tables.
    pub fn begin_part(&mut self) {
        if let Some(temporary) = &mut self.temporary {
            temporary.begin_statement();
        }
        if let Some(memory) = &mut self.memory {
            memory.begin_statement();
        }
    }

    /// A statement begins.
    #[inline]
    pub(crate) fn begin_statement(&mut self) {
        self.statements += 1;
        if let Some(memory) = &mut self.memory {
            memory.begin_statement();
        }
        self.inner.begin_statement();
    }

    /// A statement is over: its snapshot is given back; that of in-memory tables when no transaction goes on.
    #[inline]
    fn end_reads(&mut self) {
        self.inner.end_statement();
        if let Some(memory) = &mut self.memory
            && !self.inner.is_explicit()
        {
            memory.end_reads();
        }
    }

    /// The number of the statement that has begun last.
    pub(crate) fn statement(&self) -> u64 {
        self.statements
    }

    /// A definition is about to change: from now on the transaction sees `catalog`.
    pub(crate) fn see_catalog(&mut self, before: Mark, catalog: Arc<Catalog>) {
        let former = self.definitions.catalog.replace(catalog);
        self.definitions.history.push((before, former));
    }

    /// The rows were rolled back to `mark`: definitions changed since are as they were.
    pub(crate) fn forget_definitions_since(&mut self, mark: Mark) {
        let own = self.database_id;
        while let Some((_, former)) = self.definitions.history.pop_if(|(at, _)| at.of(own) >= mark.of(own)) {
            self.definitions.catalog = former;
        }
        self.definitions.restore_identities(self.definitions.history.len());
    }

    /// The table's identity values begin anew, as part of the change of definitions made last.
    pub(crate) fn begin_identity_anew(&mut self, table: &Table) {
        let Some(place) = table.identity_column() else { return };
        let Some(identity) = &table.columns[place].identity else { return };
        let before = table.state.begin_anew_within(identity);
        self.definitions.reseeded.push((self.definitions.history.len(), Arc::clone(&table.state), before));
    }
}

impl Database {
    /// The transaction descriptor of a session that begins to use the database.
    pub fn transaction(&self, session_id: i32) -> Transaction {
        Transaction::new(self.transactions().session(session_id), self.id())
    }

    /// A transaction of a session beside `other`, its own in this database or another one: those who wait for the one wait for the
    /// other.
    pub fn transaction_beside(&self, other: &Transaction) -> Transaction {
        Transaction::new(self.transactions().session_of(&other.inner), self.id())
    }

    /// Children of the statement's transaction, one for each worker: they see what it sees, and change rows for it (`changes`)
    /// or only read. Take the locks of the statement's tables before. Until they are merged or dropped the parent makes no
    /// change; its commit and its rollback wait for them.
    ///
    /// # Errors
    /// The need to wait for children that were made before.
    pub fn try_begin_children(
        &self,
        parent: &mut Transaction,
        count: usize,
        changes: bool,
    ) -> Result<Vec<Transaction>, Blocked> {
        let begun = parent.inner.try_begin_children(self.nested_transactions(), count, changes);
        let children = begun.map_err(|stop| self.place(parent, "").stop(stop))?;
        let child = |inner| Transaction {
            patience: parent.patience.clone(),
            definitions: Definitions { catalog: parent.definitions.catalog.clone(), ..Definitions::default() },
            counts: if changes { parent.counts_of_child() } else { Counts::default() },
            ..Transaction::new(inner, parent.database_id)
        };
        Ok(children.into_iter().map(child).collect())
    }

    /// A child that only reads is about to take rows; under the classic policies it passes the latch of its family.
    ///
    /// # Errors
    /// The need to wait for the latch.
    pub fn try_meet_family(&self, child: &mut Transaction) -> Result<(), Blocked> {
        let met = child.inner.try_meet_family();
        met.map_err(|stop| self.place(child, "").stop(stop))
    }

    /// The children have ended their work, each wherever it came to: what they changed is the parent's from now on.
    pub fn merge_children(&self, parent: &mut Transaction, children: Vec<Transaction>) {
        parent.inner.merge(children.into_iter().map(|child| child.inner).collect());
    }

    /// The policy in force: trace flag 3933 makes a fair latch an unfair one.
    pub(crate) fn nested_transactions(&self) -> NestedTransactions {
        match self.transactions().nested() {
            NestedTransactions::FairLatch if self.trace_flags.is_on(TraceFlag::UnfairNesting) => {
                NestedTransactions::UnfairLatch
            }
            policy => policy,
        }
    }

    /// What error texts name.
    pub(crate) fn place<'a>(&'a self, tx: &Transaction, object: &'a str) -> Place<'a> {
        Place { database: self, object, session_id: tx.session_id() }
    }

    /// What stopped an operation on `object`.
    #[cold]
    pub(crate) fn stopped(&self, tx: &mut Transaction, object: &str, stop: Stop) -> Blocked {
        if matches!(stop, Stop::Need(Need::Storage(pikepole_storage::Need::Space))) {
            object.clone_into(&mut tx.growing_for);
        }
        self.place(tx, object).stop(stop)
    }

    /// A statement begins. The mark is what to roll back to if it fails within an explicit transaction.
    #[inline]
    pub fn begin_statement(&self, tx: &mut Transaction) -> Mark {
        tx.begin_statement();
        if let Some(temporary) = &mut tx.temporary {
            temporary.begin_statement();
        }
        tx.for_each_part(Transaction::begin_statement);
        tx.mark()
    }

    /// A statement is over, whatever its end: its snapshot is given back.
    #[inline]
    pub fn end_statement(&self, tx: &mut Transaction) {
        tx.end_reads();
        tx.for_each_part(Transaction::end_reads);
    }

    /// A statement of an open transaction has done what it was to do. What it did to table variables is kept from now on.
    ///
    /// # Errors
    /// Needs; 9001 when the log of tempdb failed.
    #[inline]
    pub fn try_end_statement(&self, tx: &mut Transaction) -> Result<(), Blocked> {
        if let Some(temporary) = &mut tx.temporary
            && let Err(blocked) = temporary.try_end_statement()
        {
            tx.blocked_in = Residence::Variable;
            return Err(blocked);
        }
        self.end_statement(tx);
        Ok(())
    }

    /// Commits, and waits (by need) until the commit is durable if the database's option and `durability` say so. It is also
    /// the end of an autocommit statement, whether that changed anything or not.
    ///
    /// # Errors
    /// Needs; 41305 and 41325 for what was promised about rows in memory; 9001 when the log failed.
    #[inline(always)]
    pub fn try_commit(&self, tx: &mut Transaction, durability: Durability) -> Result<(), Blocked> {
        if tx.is_bound_in_memory() {
            self.try_commit_bound(tx, durability)
        } else {
            self.try_commit_prepared(tx, durability)
        }
    }

    /// What was promised about rows in memory is looked at before anything is committed, whichever database or table of the session it is in.
    /// Other transactions wait for this one from then on, so they are released when the commit cannot go on.
    #[inline(never)]
    fn try_commit_bound(&self, tx: &mut Transaction, durability: Durability) -> Result<(), Blocked> {
        self.try_log_in_memory(tx)?;
        let committed = match tx.prepare_in_memory() {
            Ok(()) => self.try_commit_prepared(tx, durability),
            Err(error) => Err(error.into()),
        };
        if committed.is_err() {
            tx.unprepare_in_memory();
        }
        committed
    }

    #[inline(always)]
    fn try_commit_prepared(&self, tx: &mut Transaction, durability: Durability) -> Result<(), Blocked> {
        if let Some(temporary) = &mut tx.temporary
            && let Err(blocked) = temporary.try_commit()
        {
            tx.blocked_in = Residence::Temporary;
            return Err(blocked);
        }
        if tx.parts.is_empty() {
            self.try_commit_own(tx, durability)?;
        } else {
            self.try_commit_all(tx, durability)?;
        }
        if let Some(temporary) = &mut tx.temporary {
            temporary.committed();
        }
        Ok(())
    }

    /// Commits in all databases; first in the one that a crash leaves.
    #[cold]
    fn try_commit_all(&self, tx: &mut Transaction, durability: Durability) -> Result<(), Blocked> {
        // A promise is about one log.
        let durability = if durability == Durability::Promised { Durability::Full } else { durability };
        tx.try_commit_parts(false, durability)?;
        self.try_commit_own(tx, durability)?;
        tx.try_commit_parts(true, durability)?;
        tx.parts.clear();
        Ok(())
    }

    #[inline(always)]
    pub(crate) fn try_commit_own(&self, tx: &mut Transaction, durability: Durability) -> Result<(), Blocked> {
        let Transaction { inner, definitions, memory, logged_in_memory, .. } = tx;
        let mut changes = None;
        if let Some(memory) = memory {
            inner.order_behind(Lsn(memory.after()));
            changes = if memory.logs() { logged_in_memory.last(memory) } else { None };
        }
        let bytes = changes.as_ref().map(|changes| changes.bytes.len());
        if let Some(bytes) = bytes {
            self.in_memory_checkpoints().count_logged(bytes);
        }
        if definitions.catalog.is_some() {
            // The rows of a new storage were logged by whoever built it.
            inner.order_behind_all();
        }
        inner
            .try_commit(changes, |end| {
                self.publish(definitions);
                if let Some(memory) = memory {
                    memory.commit(end.0);
                }
                if let Some(bytes) = bytes {
                    self.in_memory_checkpoints().count_record(bytes);
                }
            })
            .and_then(|()| {
                logged_in_memory.clear();
                let full = self.is_full(durability);
                if full && durability == Durability::Promised { Ok(()) } else { inner.try_harden(full) }
            })
            .map_err(|stop| self.place(tx, "").stop(stop))
    }

    /// Commits; see [`Database::try_commit`].
    ///
    /// # Errors
    /// 9001 when the log failed.
    pub async fn commit(&self, tx: &mut Transaction, durability: Durability) -> Result<(), SqlError> {
        self.run(tx, |tx| self.try_commit(tx, durability)).await
    }

    /// Waits until commits up to `end` are durable: what was [`Durability::Promised`].
    ///
    /// # Errors
    /// 9001 when the log failed.
    pub async fn harden(&self, end: Lsn) -> Result<(), SqlError> {
        if self.log().durable() >= end {
            return Ok(());
        }
        let durable = scheduler::wait(WaitType::WRITELOG, self.log().durable_after(end)).await;
        durable.map_err(|_| SqlError::log_not_available(self.name()))
    }

    /// Undoes what was changed since `mark`.
    ///
    /// # Errors
    /// 9001 when the log failed: then the whole transaction must be rolled back.
    pub async fn rollback_to(&self, tx: &mut Transaction, mark: Mark) -> Result<(), SqlError> {
        self.rollback_own_to(tx, mark.of(self.id()), mark.in_memory(self.id())).await?;
        tx.forget_definitions_since(mark);
        self.unlock_catalog_of_undone(tx);
        tx.rollback_parts_to(mark).await?;
        if let Some(temporary) = &mut tx.temporary {
            temporary.rollback_to(mark.temporary_rows, mark.temporary_definitions).await?;
        }
        Ok(())
    }

    pub(crate) async fn rollback_own_to(
        &self,
        tx: &mut Transaction,
        mark: pikepole_transaction::Mark,
        in_memory: usize,
    ) -> Result<(), SqlError> {
        if let Some(memory) = &mut tx.memory {
            memory.rollback_to_savepoint(in_memory);
            tx.logged_in_memory.undone_to(in_memory);
        }
        self.run(tx, |tx| {
            let undone = tx.inner.try_rollback_to(mark);
            undone.map_err(|stop| self.place(tx, "").stop(stop))
        })
        .await
    }

    /// Undoes the whole transaction and ends it. When the log has failed, the rows stay as they are, invisible, until the
    /// next start undoes them.
    ///
    /// # Errors
    /// What keeps a change from being undone: damage, or no space for a row that was longer. `tx` is at its beginning all
    /// the same; what is not undone yet keeps its locks and its log, and is tried again in the background until it is.
    pub async fn rollback(&self, tx: &mut Transaction) -> Result<(), SqlError> {
        let own = self.rollback_own(tx).await;
        let own = own.and(tx.rollback_parts().await);
        let temporary = match &mut tx.temporary {
            Some(temporary) => temporary.rollback().await,
            None => Ok(()),
        };
        own.and(temporary)
    }

    pub(crate) async fn rollback_own(&self, tx: &mut Transaction) -> Result<(), SqlError> {
        if let Some(memory) = &mut tx.memory {
            memory.rollback();
            tx.logged_in_memory.clear();
        }
        loop {
            match tx.inner.try_rollback() {
                Ok(()) => break,
                Err(Stop::Need(need)) => {
                    if let Err(error) = self.satisfy(tx, need).await {
                        return self.defer(tx, error);
                    }
                }
                Err(Stop::Error(error)) if is_poisoned(&error) => {
                    tx.inner.abandon();
                    break;
                }
                Err(Stop::Error(error)) => {
                    let error = self.place(tx, "").transaction(&error);
                    return self.defer(tx, error);
                }
            }
        }
        self.forget_definitions(&mut tx.definitions);
        Ok(())
    }

    /// Puts a transaction aside whose rollback cannot go on now. It must not end: its rows would pass for committed once its
    /// log is gone.
    #[cold]
    fn defer(&self, tx: &mut Transaction, why: SqlError) -> Result<(), SqlError> {
        let mut fresh = self.transaction(tx.session_id());
        fresh.set_isolation(tx.isolation());
        fresh.memory_level = tx.memory_level;
        fresh.temporary = tx.temporary.take();
        fresh.parts = std::mem::take(&mut tx.parts);
        self.put_aside(std::mem::replace(tx, fresh));
        Err(why)
    }

    /// A transaction that has changed definitions has been rolled back.
    fn forget_definitions(&self, definitions: &mut Definitions) {
        self.free_later(definitions.created.drain(..));
        definitions.catalog = None;
        definitions.history.clear();
        definitions.restore_identities(0);
    }

    /// The commit of a transaction that has changed definitions: what it saw is what all see from now on.
    fn publish(&self, definitions: &mut Definitions) {
        let Some(catalog) = definitions.catalog.take() else {
            return;
        };
        for (_, state, _) in definitions.reseeded.drain(..) {
            state.forget_mark();
        }
        let created = std::mem::take(&mut definitions.created);
        definitions.history.clear();
        // Whoever acts on the new definitions logs behind their commit.
        let log_end = self.log().now();
        self.publish_catalog(catalog, &created, log_end);
    }

    /// Awaits what an operation lacks, under its wait type.
    ///
    /// # Errors
    /// 1205 when waiting would never end; 9001 when the log failed; what reading a page or growing a file ends with.
    pub async fn satisfy(&self, tx: &mut Transaction, need: Need) -> Result<(), SqlError> {
        let blocked_in = std::mem::take(&mut tx.blocked_in);
        if is_for_lock(&need) {
            tx.prepare_to_wait();
        }
        if let Residence::Other(id) = blocked_in {
            return Box::pin(tx.satisfy_part(id, need)).await;
        }
        if blocked_in != Residence::Database
            && let Some(temporary) = &mut tx.temporary
        {
            return Box::pin(temporary.satisfy(blocked_in, need)).await;
        }
        self.satisfy_own(tx, need).await
    }

    /// The rarely needed parts are behind a pointer: no wait for the log carries its state along.
    pub(crate) async fn satisfy_own(&self, tx: &mut Transaction, need: Need) -> Result<(), SqlError> {
        let satisfied = match need {
            Need::Storage(need) => {
                tx.inner.rest();
                Box::pin(self.satisfy_storage(need)).await.map_err(TransactionError::from)
            }
            Need::LogSpace => {
                tx.inner.rest();
                Box::pin(self.make_log_space()).await;
                Ok(())
            }
            Need::Checkpoint(lsn) => {
                tx.inner.rest();
                Box::pin(self.redo_start_above(lsn)).await.map_err(TransactionError::from)
            }
            need => {
                tx.inner.set_deadlock_priority(tx.patience.priority());
                tx.inner.satisfy(&need).await
            }
        };
        let growing_for = std::mem::take(&mut tx.growing_for);
        satisfied.map_err(|error| self.place(tx, &growing_for).transaction(&error))
    }

    /// Awaits what an operation lacks; for the locks of others as long as the session's patience lasts.
    ///
    /// # Errors
    /// As of [`Database::satisfy`]; 1222 when LOCK_TIMEOUT has passed, 3617 for a cancelled request.
    pub async fn await_need(&self, tx: &mut Transaction, need: Need) -> Result<(), Box<SqlError>> {
        if !is_for_lock(&need) {
            return self.satisfy(tx, need).await.map_err(Box::from);
        }
        let patience = tx.patience.clone();
        Box::pin(patience.awaited(self.satisfy(tx, need))).await
    }

    /// Runs an operation to its end: tries, satisfies what it lacks, tries again.
    ///
    /// # Errors
    /// What the operation or a need ends with; [`Interrupted::Stale`] is for the caller to compile anew.
    pub async fn drive<T>(
        &self,
        tx: &mut Transaction,
        mut operation: impl FnMut(&mut Transaction) -> Result<T, Blocked>,
    ) -> Result<T, Interrupted> {
        loop {
            match operation(tx) {
                Ok(done) => return Ok(done),
                Err(Blocked::Need(need)) => self.await_need(tx, need).await.map_err(Interrupted::Error)?,
                Err(Blocked::Error(error)) => return Err(Interrupted::Error(error)),
                Err(Blocked::Stale) => return Err(Interrupted::Stale),
            }
        }
    }

    /// [`Database::drive`] for operations on what cannot become stale.
    pub(crate) async fn run<T>(
        &self,
        tx: &mut Transaction,
        operation: impl FnMut(&mut Transaction) -> Result<T, Blocked>,
    ) -> Result<T, SqlError> {
        self.drive(tx, operation).await.map_err(|interrupted| match interrupted {
            Interrupted::Error(error) => *error,
            Interrupted::Stale => SqlError::snapshot_schema_changed(self.name()),
        })
    }
}

fn is_poisoned(error: &TransactionError) -> bool {
    matches!(error, TransactionError::Poisoned(_) | TransactionError::Storage(StorageError::Poisoned { .. }))
}
