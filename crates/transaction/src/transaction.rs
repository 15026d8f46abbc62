//! A session's transaction: one descriptor for all the transactions that a session runs, one after the other.
//!
//! ```text
//!   idle --first change, explicit or of many rows--> active --commit record--> committed --\
//!    |                                                 |  \--undo, abort record--> aborted ----> idle
//!    \--one row, autocommit--> committing --record placed--> committed --> idle
//! ```
//!
//! # Invariants
//! - an id is dealt when an explicit transaction begins, else at the first change; one that changed nothing is kept for the session's next transaction;
//! - a row carries the id only between the reservation of its record and the commit or the undo of that record;
//! - a transaction of one record is never Active with a row in place: COMMITTING is stored before the row's record is
//!   reserved, under the page's latch, and the end right after the call that placed it. A reader that copies the page in
//!   between meets COMMITTING and waits the few instructions until the end is there; it then compares as always;
//! - the table locks of a session that rests or waits are those that its open transaction needs; while it runs from statement
//!   to statement it keeps the weak ones it used last, as long as nobody wants the table for himself.

mod end;
mod locking;

pub use end::ChangesInMemory;

use pikepole_contention::sync::Arc;
use pikepole_contention::sync::atomic::Ordering;
use pikepole_contention::{CachePadded, Counter};
use pikepole_log::{Lsn, LsnRange};
use pikepole_machine::clock;
use pikepole_scheduler as scheduler;
use pikepole_storage::{LogContext, TreeCursor};

use crate::bulk::Unlogged;
use crate::deadlock::Standing;
use crate::error::{Need, TransactionError};
use crate::id::{Dealt, TransactionId};
use crate::key_lock::{Kept, KeyLock, KeyWait};
use crate::lock::{Grant, LockMode, LockWait, TableLock};
use crate::nested::{Family, Handed, Kinship};
use crate::registry::{NONE, SessionCell};
use crate::status::{Status, WordPlace};
use crate::transactions::Transactions;
use crate::undo::UndoLog;
use crate::wait::{Edge, EndWait, WaitedFor};

/// Log space kept back for the undo of a change, beyond the length of its record, in bytes.
const UNDO_SLACK: i64 = 64;

/// Log space kept back for the end of a transaction, in bytes.
const END_RECORD: i64 = 64;

/// What a transaction sees of others, and what conflicts it accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Isolation {
    /// Everything, committed or not.
    ReadUncommitted,
    /// What was committed when the statement began; what is newest where the database or a hint says so, and for rows
    /// that are changed.
    #[default]
    ReadCommitted,
    /// What is newest; what was read stays as it is until the transaction ends.
    RepeatableRead,
    /// What is newest; what was read stays as it is, and nothing comes to it, until the transaction ends.
    Serializable,
    /// What was committed when the transaction first read; changing a row that somebody changed since is a conflict.
    Snapshot,
}

impl Isolation {
    /// Whether one snapshot serves the whole transaction.
    pub fn is_per_transaction(self) -> bool {
        self == Isolation::Snapshot
    }
}

/// A point of a transaction to roll back to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark(usize);

impl Mark {
    /// Before the first change.
    pub const START: Mark = Mark(0);
}

struct Held {
    lock: Arc<TableLock>,
    grant: Grant,
    in_use: bool,
    /// To the end of the transaction, not of the statement.
    lasts: bool,
}

impl Held {
    /// True for one that the session may keep when its transaction has ended: it is weak, and no other session wants the table.
    #[inline]
    fn may_idle(&self) -> bool {
        let is_weak = matches!(self.grant.mode, LockMode::SchS | LockMode::IS | LockMode::IX);
        is_weak && !self.lock.is_wanted_against(self.grant.mode)
    }
}

/// The transaction of a session.
pub struct Transaction {
    pub(crate) home: Arc<Transactions>,
    pub(crate) cell: Arc<CachePadded<SessionCell>>,
    dealt: Option<(Dealt, WordPlace)>,
    explicit: bool,
    /// A session began it, by BEGIN TRANSACTION or by a statement of its own: it counts as a transaction.
    begun: bool,
    isolation: Isolation,
    pub(crate) snapshot: Option<Lsn>,
    pub(crate) undo: UndoLog,
    /// The cell shows the id and the first LSN.
    announced: bool,
    /// Its cell has a number that it was dealt.
    numbered: bool,
    /// A record with the id is in the log.
    logged: bool,
    records: u64,
    undo_bytes: i64,
    /// Where the last commit ends that nobody has waited for; zero: none.
    unhardened: Lsn,
    /// What the next record must come behind: the session's last record, and the commits of others that it acts on.
    pub(crate) after: Lsn,
    held: Vec<Held>,
    /// Rows and keys that it has locked.
    keys: Vec<Kept>,
    /// The keys that it has waited for last, and its ticket there, until it asks for keys again.
    turn: Option<(Box<KeyLock>, u64)>,
    /// The number of waits for other transactions, and what it was when the snapshot was taken.
    waits: u64,
    snapshot_waits: u64,
    /// The statement reads under locks at READ COMMITTED.
    locks_reads: bool,
    pub(crate) kinship: Kinship,
    /// Pages whose rows are not in the log.
    pub(crate) unlogged: Option<Unlogged>,
    pub(crate) name: Vec<u8>,
    cursor: TreeCursor,
    /// DEADLOCK_PRIORITY.
    priority: i32,
    /// Bytes that the session's transaction has logged in other databases.
    elsewhere_bytes: u64,
}

impl Transaction {
    pub(crate) fn new(home: Arc<Transactions>, session_id: i32) -> Self {
        let owner = home.graph.new_owner();
        Self::of_owner(home, owner, session_id)
    }

    pub(crate) fn of_owner(home: Arc<Transactions>, owner: u64, session_id: i32) -> Self {
        let cell = home.registry.register(owner, session_id);
        Self::with_cell(home, cell)
    }

    fn with_cell(home: Arc<Transactions>, cell: Arc<CachePadded<SessionCell>>) -> Self {
        let locks_reads = home.locks_reads();
        Self {
            home,
            cell,
            dealt: None,
            explicit: false,
            begun: false,
            isolation: Isolation::default(),
            snapshot: None,
            undo: UndoLog::default(),
            announced: false,
            numbered: false,
            logged: false,
            records: 0,
            undo_bytes: 0,
            unhardened: Lsn::ZERO,
            after: Lsn::ZERO,
            held: Vec::new(),
            keys: Vec::new(),
            waits: 0,
            turn: None,
            snapshot_waits: 0,
            locks_reads,
            kinship: Kinship::default(),
            unlogged: None,
            name: Vec::new(),
            cursor: TreeCursor::default(),
            priority: 0,
            elsewhere_bytes: 0,
        }
    }

    /// A child of the transaction, which has been prepared for it.
    pub(crate) fn child(&self, family: &Arc<Family>) -> Transaction {
        family.join();
        let cell = self.home.registry.register(self.cell.owner, self.cell.session_id);
        let mut child = Self::with_cell(self.home.clone(), cell);
        child.dealt = self.dealt;
        child.isolation = self.isolation;
        child.after = self.after;
        child.locks_reads = self.locks_reads;
        child.snapshot = self.snapshot;
        child.priority = self.priority;
        child.elsewhere_bytes = self.elsewhere_bytes;
        if let Some(snapshot) = self.snapshot {
            // SeqCst: as any snapshot; the parent holds it at this moment.
            child.cell.snapshot.store(snapshot.0, Ordering::SeqCst);
        }
        child.kinship = Kinship::Child(family.clone(), None);
        child
    }

    /// Before children are made: what they share with their parent is there.
    pub(crate) fn prepare_for_children(&mut self, changes: bool) {
        self.snapshot();
        if changes {
            self.announce();
        }
    }

    /// Whether the transaction holds this lock, or one that makes it needless.
    pub fn holds(&self, table: &Arc<TableLock>, mode: LockMode) -> bool {
        let held = self.held.iter().any(|h| h.in_use && h.grant.mode.covers(mode) && Arc::ptr_eq(&h.lock, table));
        held || matches!(&self.kinship, Kinship::Child(family, _) if family.covers(table, mode))
    }

    /// The table locks that are in use.
    pub(crate) fn locks_held(&self) -> Vec<(Arc<TableLock>, LockMode)> {
        self.held.iter().filter(|held| held.in_use).map(|held| (held.lock.clone(), held.grant.mode)).collect()
    }

    /// Takes over what a child has done.
    pub(crate) fn adopt(&mut self, child: Handed) {
        self.undo.append(&child.undo);
        self.after = self.after.max(child.after);
        self.logged |= child.records > 0;
        self.records += child.records;
        self.undo_bytes += child.undo_bytes;
        let cell = &self.cell;
        cell.log_bytes.store(cell.log_bytes.load(Ordering::Relaxed) + child.log_bytes, Ordering::Relaxed);
        cell.log_records.store(self.records, Ordering::Relaxed);
        let last_lsn =
            [cell.last_lsn.load(Ordering::Relaxed), child.last_lsn].into_iter().filter(|lsn| *lsn != NONE).max();
        cell.last_lsn.store(last_lsn.unwrap_or(NONE), Ordering::Relaxed);
        cell.reserved_bytes.store(self.undo_bytes.unsigned_abs(), Ordering::Relaxed);
        self.unlogged = match self.unlogged.take() {
            Some(unlogged) => Some(unlogged.with(child.unlogged)),
            None => child.unlogged,
        };
    }

    /// The end of a child: what it did is its parent's.
    fn hand_in(&mut self) {
        let Kinship::Child(family, waited) = std::mem::take(&mut self.kinship) else {
            return;
        };
        debug_assert!(self.keys.is_empty(), "a child locks no rows");
        drop(waited);
        self.drop_snapshot();
        self.held.iter_mut().for_each(|held| held.in_use = false);
        self.rest();
        self.dealt = None;
        let handed = Handed {
            undo: std::mem::take(&mut self.undo),
            records: self.records,
            log_bytes: self.cell.log_bytes.load(Ordering::Relaxed),
            undo_bytes: self.undo_bytes,
            after: self.after,
            last_lsn: self.cell.last_lsn.load(Ordering::Relaxed),
            unlogged: self.unlogged.take(),
        };
        self.home.registry.unregister(&self.cell);
        family.leave(handed);
    }

    /// The transactions this one is among.
    pub fn home(&self) -> &Arc<Transactions> {
        &self.home
    }

    /// An explicit transaction begins.
    pub fn begin(&mut self) {
        self.count_begin();
        self.explicit = true;
        let (id, _) = self.own_id();
        self.cell.explicit_us.store(clock::now_us(), Ordering::Relaxed);
        self.cell.explicit_id.store(id.0, Ordering::Relaxed);
    }

    fn count_begin(&mut self) {
        if !self.begun {
            self.begun = true;
            self.home.statistics.add(Counter::Transactions, 1);
        }
    }

    /// Whether an explicit transaction is open.
    pub fn is_explicit(&self) -> bool {
        self.explicit
    }

    /// Whether anything was changed that has not ended yet.
    pub fn has_changes(&self) -> bool {
        self.logged
    }

    /// The id of the open transaction; None while it has changed nothing.
    pub fn id(&self) -> Option<TransactionId> {
        self.dealt.filter(|_| self.announced).map(|(dealt, _)| dealt.id)
    }

    /// The number of the session.
    pub fn session_id(&self) -> i32 {
        self.cell.session_id
    }

    /// What it sees of others.
    pub fn isolation(&self) -> Isolation {
        self.isolation
    }

    /// Sets what later statements see of others.
    pub fn set_isolation(&mut self, isolation: Isolation) {
        self.isolation = isolation;
    }

    /// Sets DEADLOCK_PRIORITY: of the sessions in a deadlock, one of the lowest priority is the victim.
    pub fn set_deadlock_priority(&mut self, priority: i32) {
        self.priority = priority;
    }

    /// Sets the bytes that the session's transaction has logged in other databases: of a deadlock's sessions of one priority, the
    /// one that has logged least is the victim.
    pub fn set_elsewhere_bytes(&mut self, bytes: u64) {
        self.elsewhere_bytes = bytes;
    }

    /// Bytes of log records of its changes so far.
    pub fn log_bytes(&self) -> u64 {
        self.cell.log_bytes.load(Ordering::Relaxed)
    }

    /// The present point of the transaction.
    pub fn mark(&self) -> Mark {
        Mark(self.undo.position())
    }

    /// Bytes that are kept to undo it.
    pub fn undo_bytes(&self) -> usize {
        self.undo.position()
    }

    /// A statement begins: under READ COMMITTED its first read takes a new snapshot.
    pub fn begin_statement(&mut self) -> Mark {
        if self.is_child() {
            return self.mark();
        }
        self.count_begin();
        self.locks_reads = self.home.locks_reads();
        if !self.isolation.is_per_transaction() {
            self.drop_snapshot();
        }
        self.mark()
    }

    /// A statement is over: its snapshot and its locks on definitions are no longer needed.
    pub fn end_statement(&mut self) {
        if !self.isolation.is_per_transaction() || !self.explicit {
            self.drop_snapshot();
        }
        for held in self.held.iter_mut().filter(|h| !h.lasts) {
            held.in_use = false;
        }
        self.give_back_wanted();
    }

    fn drop_snapshot(&mut self) {
        if self.snapshot.take().is_some() {
            // Release: what the reads of this snapshot found is no longer used.
            self.cell.snapshot.store(NONE, Ordering::Release);
        }
    }

    /// The snapshot that the transaction has for as long as it lasts, once it has read.
    pub fn lasting_snapshot(&self) -> Option<Lsn> {
        self.snapshot.filter(|_| self.isolation == Isolation::Snapshot)
    }

    /// The snapshot of the statement or the transaction, taken when there is none.
    pub(crate) fn snapshot(&mut self) -> Lsn {
        match self.snapshot {
            Some(snapshot) => snapshot,
            None => {
                let home = &self.home;
                let snapshot = home.registry.take_snapshot(&self.cell, || home.clock());
                self.snapshot = Some(snapshot);
                self.snapshot_waits = self.waits;
                snapshot
            }
        }
    }

    /// The id that the rows carry which it writes, dealt when it has none.
    #[inline]
    pub fn writer_id(&mut self) -> TransactionId {
        self.own_id().0
    }

    /// The session's id, dealt when it has none.
    #[inline]
    pub(crate) fn own_id(&mut self) -> (TransactionId, WordPlace) {
        if let Some((dealt, place)) = self.dealt {
            return (dealt.id, place);
        }
        assert!(!self.is_child(), "a child that changes rows has its parent's id");
        let home = &self.home;
        let dealt = home.dealer.deal(&home.status, || home.sweep());
        let place = home.status.locate(dealt.id);
        self.dealt = Some((dealt, place));
        (dealt.id, place)
    }

    /// The id if one was dealt, which a row may carry or not.
    pub(crate) fn own_id_if_dealt(&self) -> u64 {
        self.dealt.map_or(0, |(dealt, _)| dealt.id.0)
    }

    /// Whether a change of one row now can be a transaction of its own in one record.
    pub(crate) fn can_be_single(&self, single: bool) -> bool {
        single && !self.explicit && !self.logged && !self.is_child()
    }

    /// Before a change that is one of many: others must know the transaction before its first record is reserved.
    pub(crate) fn announce(&mut self) -> LogContext {
        let (id, _) = self.own_id();
        debug_assert!(!self.has_children_at_work(), "the parent changes nothing while its children do");
        if !self.announced && !self.is_child() {
            self.announced = true;
            // SeqCst: see the module `registry` on the first LSN. Nothing is appended below `copied` any more.
            self.cell.first_lsn.store(self.home.log.copied().0, Ordering::SeqCst);
            self.cell.id.store(id.0, Ordering::Relaxed);
            self.cell.begun_us.store(clock::now_us(), Ordering::Relaxed);
            self.home.statistics.add(Counter::ActiveTransactions, 1);
            self.keep_back(END_RECORD);
        }
        let flags = if self.logged { 0 } else { LogContext::FIRST };
        LogContext::new(id.0).with(flags).after(self.after)
    }

    /// A number of an order that all transactions share is about to be dealt to this one, `next` or a higher one. Until it ends
    /// [`crate::Transactions::oldest_number`] is no higher. The Release by which the number is dealt publishes it.
    pub fn expect_number(&mut self, next: u64) {
        if !self.numbered {
            self.numbered = true;
            self.cell.first_number.store(next, Ordering::Relaxed);
        }
    }

    /// What is logged from now on comes behind this position: for what depends on rows in memory that others have committed.
    #[inline]
    pub fn order_behind(&mut self, position: Lsn) {
        self.after = self.after.max(position);
    }

    /// What is logged from now on comes behind everything that has been: for what depends on more than rows that were
    /// read and pages that were changed.
    pub fn order_behind_all(&mut self) {
        self.after = self.after.max(self.home.log.reserved());
    }

    /// A transaction of one record is about to place it.
    #[inline]
    pub(crate) fn begin_single(&mut self) -> LogContext {
        let (id, place) = self.own_id();
        self.home.status.committing_single(place);
        LogContext::new(id.0).with(LogContext::FIRST | LogContext::COMMIT).after(self.after)
    }

    /// The record was not placed.
    pub(crate) fn abandon_single(&mut self) {
        let (_, place) = self.own_id();
        self.home.status.not_committing_single(place);
    }

    /// The record was placed: the transaction is over.
    #[inline]
    pub(crate) fn finish_single(&mut self, range: LsnRange) {
        let (dealt, place) = self.dealt.take().expect("a record was placed with an id");
        self.home.status.committed_single(place, range.end);
        self.home.dealer.retire(dealt);
        self.count_write();
        self.unhardened = range.end;
        self.after = range.end;
    }

    /// Changes were committed: the system's own are nobody's transactions.
    #[inline]
    fn count_write(&self) {
        if self.begun {
            self.home.statistics.add(Counter::WriteTransactions, 1);
        }
    }

    /// A record of a transaction of many was placed.
    pub(crate) fn changed(&mut self, range: LsnRange) {
        self.changed_with_undo(range, range.end.0 - range.start.0);
    }

    /// The same for a change whose undo takes at most `undo_bytes` and a little.
    pub(crate) fn changed_with_undo(&mut self, range: LsnRange, undo_bytes: u64) {
        self.logged = true;
        self.after = range.end;
        self.records += 1;
        let bytes = range.end.0 - range.start.0;
        self.keep_back(undo_bytes as i64 + UNDO_SLACK);
        let cell = &self.cell;
        let total = cell.log_bytes.load(Ordering::Relaxed) + bytes;
        cell.log_bytes.store(total, Ordering::Relaxed);
        cell.log_records.store(self.records, Ordering::Relaxed);
        cell.last_lsn.store(range.start.0, Ordering::Relaxed);
    }

    fn keep_back(&mut self, bytes: i64) {
        self.home.log.undo_reserve(bytes);
        self.undo_bytes += bytes;
        self.cell.reserved_bytes.store(self.undo_bytes.unsigned_abs(), Ordering::Relaxed);
    }

    /// Waits for the end of another transaction, for a lock or for the log, under the wait's type. Needs of the store and
    /// of log space are the caller's to satisfy.
    ///
    /// # Errors
    /// Deadlock: this session is the victim. Poisoned: the log failed.
    pub async fn satisfy(&mut self, need: &Need) -> Result<(), TransactionError> {
        self.rest();
        let home = self.home.clone();
        if matches!(need, Need::TransactionEnd(_) | Need::Keys(_) | Need::Lock(..)) {
            self.waits += 1;
        }
        match need {
            Need::Storage(_) | Need::LogSpace | Need::Checkpoint(_) => Ok(()),
            Need::Nesting(family) => {
                let guard = family.latched().await;
                if let Kinship::Child(_, waited) = &mut self.kinship {
                    *waited = guard;
                }
                Ok(())
            }
            Need::Children(family) => {
                family.ended().await;
                Ok(())
            }
            Need::Durable(lsn) => {
                let wait = home.log.durable_after(*lsn);
                let durable = scheduler::wait(pikepole_contention::WaitType::WRITELOG, wait).await;
                if durable.is_err() {
                    // Told once: what the session only reads from now on ends well.
                    self.unhardened = Lsn::ZERO;
                }
                Ok(durable?)
            }
            Need::TransactionEnd(id) => {
                let edge = self.wait_in_graph(WaitedFor::Transaction(*id))?;
                let wait = EndWait { id: *id, sleepers: &home.sleepers, table: &home.status };
                edge.awaited(LockMode::X.wait_type(), wait).await
            }
            Need::Keys(wanted) => {
                let edge = self.wait_in_graph(WaitedFor::Keys((**wanted).clone()))?;
                let wait = KeyWait { locks: &home.keys, object: wanted.object, ticket: edge.ticket() };
                edge.awaited(wanted.mode.wait_type(), wait).await?;
                self.turn = Some((wanted.clone(), edge.ticket()));
                Ok(())
            }
            Need::Lock(table, mode) => {
                let own = self.all_own_modes(table);
                let edge = self.wait_in_graph(WaitedFor::Lock(table.clone(), *mode, own.clone()))?;
                let wait = LockWait { lock: table, own: &own, ticket: edge.ticket() };
                let granted = edge.awaited(mode.wait_type(), wait).await;
                drop(edge);
                // The call that asks again says how long it is for.
                self.hold(table.clone(), granted?, false);
                Ok(())
            }
        }
    }

    fn wait_in_graph(&self, waited: WaitedFor) -> Result<Edge, TransactionError> {
        self.home.statistics.add(Counter::LockWaits, 1);
        let standing = Standing {
            session_id: self.cell.session_id,
            priority: self.priority,
            isolation: self.isolation,
            elsewhere_bytes: self.elsewhere_bytes,
        };
        self.home.graph.begin(self.cell.owner, waited, &self.home, standing)
    }

    /// What became of the writer of a row, once it is not in the middle of its commit. The transaction acts on it: what it
    /// logs comes behind that commit.
    pub(crate) fn settled(&mut self, writer: TransactionId) -> Status {
        let status = self.home.settled(writer);
        if let Status::Committed(end) = status {
            self.after = self.after.max(end);
        }
        status
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        if self.is_child() {
            self.hand_in();
            return;
        }
        let changes = self.logged || matches!(self.kinship, Kinship::Parent(_));
        if changes && self.home.is_closed() {
            self.abandon();
        } else if changes {
            // The session went away in the middle: somebody else rolls back, see `Transactions::take_orphans`. What is
            // dropped here is a fresh descriptor in its place.
            let fresh = Transaction::new(self.home.clone(), self.cell.session_id);
            let orphan = std::mem::replace(self, fresh);
            self.home.add_orphan(orphan);
        } else {
            if let Some((dealt, place)) = self.dealt.take() {
                self.home.status.end(place, Lsn::ZERO, false);
                self.home.dealer.retire(dealt);
            }
            self.ended();
        }
        self.rest();
        self.home.registry.unregister(&self.cell);
    }
}
