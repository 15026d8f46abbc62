//! All transactions of one database: what sessions share.

use std::collections::VecDeque;

use pikepole_contention::Statistics;
use pikepole_contention::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use pikepole_contention::sync::{Arc, Mutex};
use pikepole_log::{Log, Lsn};
use pikepole_storage::{LogContext, RowHeader, TreeCursor};

use crate::error::Stop;
use crate::id::{Dealer, RANGE_IDS, TransactionId, TransactionIds};
use crate::key_lock::KeyLocks;
use crate::nested::NestedTransactions;
use crate::registry::{LockRow, OpenTransaction, Registry, TransactionRow, lock};
use crate::status::{Status, StatusTable};
use crate::structure::Structure;
use crate::transaction::Transaction;
use crate::version::VersionStore;
use crate::wait::{Sleepers, WaitGraph};

/// Deleted rows remembered for removal; scans find what is beyond.
const GHOSTS_MAX: usize = 100_000;

/// A deleted row that is still on its page.
pub(crate) struct Ghost {
    pub structure: Structure,
    pub name: Box<[u8]>,
    pub header: RowHeader,
}

/// The transactions of one database.
pub struct Transactions {
    pub(crate) log: Arc<Log>,
    pub(crate) statistics: Arc<Statistics>,
    pub(crate) status: StatusTable,
    pub(crate) dealer: Dealer,
    pub(crate) registry: Arc<Registry>,
    pub(crate) versions: VersionStore,
    pub(crate) keys: Arc<KeyLocks>,
    pub(crate) sleepers: Sleepers,
    pub(crate) graph: Arc<WaitGraph>,
    /// A recent answer to "what is the oldest snapshot": too low at worst.
    oldest_known: AtomicU64,
    ghosts: Mutex<VecDeque<Ghost>>,
    orphans: Mutex<Vec<Transaction>>,
    /// Nobody takes orphans any more.
    closed: AtomicBool,
    nested: AtomicU8,
    /// READ_COMMITTED_SNAPSHOT is off.
    locks_reads: AtomicBool,
}

impl Transactions {
    /// No transaction is open, and every row there is was written by an id below `next`: the first ids dealt are at or
    /// above it. `graph` is the one of all databases whose sessions are the same.
    pub fn new(
        log: Arc<Log>,
        statistics: Arc<Statistics>,
        next: TransactionId,
        policy: TransactionIds,
        graph: Arc<WaitGraph>,
    ) -> Arc<Transactions> {
        let first = TransactionId(next.0.max(1).next_multiple_of(RANGE_IDS));
        Arc::new(Transactions {
            status: StatusTable::new(first),
            dealer: Dealer::new(first, policy, &statistics),
            registry: Arc::new(Registry::new()),
            versions: VersionStore::new(&statistics),
            keys: Arc::new(KeyLocks::new(&statistics)),
            sleepers: Sleepers::default(),
            graph,
            oldest_known: AtomicU64::new(0),
            ghosts: Mutex::new(VecDeque::new()),
            orphans: Mutex::new(Vec::new()),
            closed: AtomicBool::new(false),
            nested: AtomicU8::new(NestedTransactions::default() as u8),
            locks_reads: AtomicBool::new(false),
            log,
            statistics,
        })
    }

    /// The transaction descriptor of a new session.
    pub fn session(self: &Arc<Self>, session_id: i32) -> Transaction {
        Transaction::new(self.clone(), session_id)
    }

    /// The transaction descriptor of a session that has one in another database already: who waits for the one waits for the
    /// other.
    pub fn session_of(self: &Arc<Self>, other: &Transaction) -> Transaction {
        let (owner, session_id) = (other.cell.owner, other.cell.session_id);
        let mut transaction = Transaction::of_owner(self.clone(), owner, session_id);
        transaction.set_isolation(other.isolation());
        transaction
    }

    /// Switches the policy of XDESMGR.
    pub fn set_ids(&self, policy: TransactionIds) {
        self.dealer.set_policy(policy);
    }

    /// Switches how children log; for those that begin from now on.
    pub fn set_nested(&self, policy: NestedTransactions) {
        self.nested.store(policy as u8, Ordering::Relaxed);
    }

    /// How children log.
    pub fn nested(&self) -> NestedTransactions {
        NestedTransactions::of(self.nested.load(Ordering::Relaxed))
    }

    /// Switches whether READ COMMITTED reads under locks; for statements that begin from now on.
    pub fn set_locks_reads(&self, locks: bool) {
        self.locks_reads.store(locks, Ordering::Relaxed);
    }

    /// Tells if READ COMMITTED reads under locks.
    #[inline]
    pub fn locks_reads(&self) -> bool {
        self.locks_reads.load(Ordering::Relaxed)
    }

    /// The log of the database.
    pub fn log(&self) -> &Arc<Log> {
        &self.log
    }

    /// What became of `id`. Of one that was rolled back long ago it may say that it committed: then no row carries it.
    pub fn status(&self, id: TransactionId) -> Status {
        self.status.status(id)
    }

    /// No id at or above this was dealt: what a checkpoint notes.
    pub fn next_id(&self) -> TransactionId {
        self.dealer.above_all()
    }

    /// Where the log of the oldest open transaction begins. Call it after the checkpoint's begin record is reserved.
    pub fn oldest_first_lsn(&self) -> Option<Lsn> {
        self.registry.oldest_first_lsn()
    }

    /// The transactions that have changed something and not ended.
    pub fn active(&self) -> Vec<TransactionRow> {
        self.registry.rows()
    }

    /// At or below the lowest number that an open transaction has been dealt, see [`Transaction::expect_number`].
    pub fn oldest_number(&self) -> Option<u64> {
        self.registry.oldest_number()
    }

    /// The transactions that sessions have begun and not ended, in the order of their sessions.
    pub fn open(&self) -> Vec<OpenTransaction> {
        self.registry.open()
    }

    /// The locks of tables, rows and keys that sessions hold or wait for.
    pub fn locks(&self) -> Vec<LockRow> {
        // First, because who looks for a deadlock holds the graph while it asks the registry.
        let mut waits = self.graph.all(&self.registry);
        let blocker = |owner| self.graph.key_blocker(owner);
        self.registry.locks(|owner| waits.remove(&owner).unwrap_or_default(), self.keys.all(), blocker)
    }

    /// Older row versions in memory.
    pub fn versions_count(&self) -> usize {
        self.versions.count()
    }

    /// The time of a snapshot taken now.
    pub(crate) fn clock(&self) -> Lsn {
        self.log.now()
    }

    /// Gives back status pages that nobody needs. What is forgotten ended below all that is still to be logged: so nobody
    /// has to be told where, to come behind it.
    pub(crate) fn sweep(&self) {
        let seen = self.registry.snapshots(|| self.log.settled());
        let oldest = seen.held.iter().copied().min().unwrap_or(seen.horizon);
        self.oldest_known.fetch_max(oldest.0, Ordering::Relaxed);
        self.status.sweep(&seen);
    }

    /// The oldest snapshot in use, or the present when there is none.
    pub(crate) fn refresh_oldest(&self) -> Lsn {
        // What is cleaned away because it is older has ended below all that is still to be logged, its removal too.
        let seen = self.registry.snapshots(|| self.log.settled());
        let oldest = seen.held.iter().copied().min().unwrap_or(seen.horizon);
        self.oldest_known.fetch_max(oldest.0, Ordering::Relaxed);
        oldest
    }

    /// Whether `id` ended at or below every snapshot, by the last look at the snapshots.
    pub(crate) fn is_over(&self, id: TransactionId) -> bool {
        let oldest = Lsn(self.oldest_known.load(Ordering::Relaxed));
        self.status.ended_at(id).is_some_and(|end| end <= oldest)
    }

    pub(crate) fn add_ghost(&self, ghost: Ghost) {
        let mut ghosts = lock(&self.ghosts);
        if ghosts.len() < GHOSTS_MAX {
            ghosts.push_back(ghost);
        }
    }

    /// A reader met a deleted row: if nobody needs it, it is removed soon. So the ones are found that were not remembered
    /// when they were deleted, before the last start or beyond the limit.
    pub fn found_ghost(&self, structure: &Structure, row: &[u8], header: RowHeader) {
        let few = GHOSTS_MAX / 100;
        if !self.is_over(TransactionId(header.xid())) || lock(&self.ghosts).len() >= few {
            return;
        }
        self.add_ghost(Ghost { structure: structure.clone(), name: row.into(), header });
    }

    pub(crate) fn add_orphan(&self, orphan: Transaction) {
        lock(&self.orphans).push(orphan);
    }

    /// Returns true when a transaction whose session went away waits to be taken.
    pub fn has_orphans(&self) -> bool {
        !lock(&self.orphans).is_empty()
    }

    /// Transactions whose session went away before they ended, and which have no child at work: roll them back.
    pub fn take_orphans(&self) -> Vec<Transaction> {
        let mut orphans = lock(&self.orphans);
        let (busy, mut idle): (Vec<_>, Vec<_>) =
            std::mem::take(&mut *orphans).into_iter().partition(Transaction::has_children_at_work);
        *orphans = busy;
        drop(orphans);
        for orphan in &mut idle {
            // What its session has undone was logged elsewhere, and comes before the end.
            orphan.order_behind_all();
        }
        idle
    }

    /// The database is gone: transactions that lose their session from now on, or have lost it, are left to the next start.
    pub fn close(&self) {
        // Relaxed: an orphan that comes too late for the loop below is found by the next owner's close, or by none; then
        // it holds its memory and nothing else.
        self.closed.store(true, Ordering::Relaxed);
        let orphans = std::mem::take(&mut *lock(&self.orphans));
        for mut orphan in orphans {
            orphan.abandon();
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    /// Removes deleted rows that no snapshot needs, `rows_max` at most, and older versions likewise. True: there is more
    /// to do now.
    pub fn clean(&self, rows_max: usize) -> Result<bool, Stop> {
        self.refresh_oldest();
        self.versions.purge(&|id| self.is_over(id));
        let mut cursor = TreeCursor::default();
        for _ in 0..rows_max {
            let Some(ghost) = lock(&self.ghosts).pop_front() else {
                return Ok(false);
            };
            if !self.is_over(TransactionId(ghost.header.xid())) {
                // Those behind it were deleted later.
                lock(&self.ghosts).push_front(ghost);
                return Ok(false);
            }
            let context = LogContext::new(TransactionId::SYSTEM.0);
            // Changed: it was revived or is gone; then it is nobody's ghost.
            let removed = ghost.structure.remove_ghost(&mut cursor, &context, &ghost.name, ghost.header);
            if let Err(stop) = removed {
                lock(&self.ghosts).push_front(ghost);
                return Err(stop.into());
            }
        }
        Ok(!lock(&self.ghosts).is_empty())
    }

    /// Deleted rows that wait for removal.
    pub fn ghosts_count(&self) -> usize {
        lock(&self.ghosts).len()
    }

    /// Forgets the deleted rows of an object whose storage is about to be given back.
    pub fn forget_ghosts(&self, object: u32) {
        lock(&self.ghosts).retain(|ghost| ghost.structure.object() != object);
    }
}
