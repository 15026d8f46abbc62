//! A deadlock as it was found: who waited for whom, for what, and who is the victim.

use pikepole_contention::sync::Arc;

use crate::id::TransactionId;
use crate::lock::LockMode;
use crate::registry::LockedThing;
use crate::transaction::Isolation;
use crate::transactions::Transactions;

/// What a search knows of a session that waits.
#[derive(Debug, Clone, Copy, Default)]
pub struct Standing {
    /// The number of the session.
    pub session_id: i32,
    /// DEADLOCK_PRIORITY: the lower, the rather it is a victim.
    pub priority: i32,
    /// What its transaction sees of others.
    pub isolation: Isolation,
    /// Bytes that its transaction has logged in other databases than the one it waits in.
    pub elsewhere_bytes: u64,
}

/// One session of a deadlock, and what it waits for.
#[derive(Clone)]
pub struct DeadlockProcess {
    /// The session.
    pub standing: Standing,
    /// Its transaction; None: a statement of its own that has changed nothing.
    pub transaction: Option<TransactionId>,
    /// Bytes that it has logged.
    pub log_bytes: u64,
    /// How long it had waited when the deadlock was found.
    pub waited_us: u64,
    /// The database that it waits in.
    pub home: Arc<Transactions>,
    /// What it waits for.
    pub thing: LockedThing,
    /// How it wants that.
    pub wanted: LockMode,
    /// How the next process has it, or wants it.
    pub held: LockMode,
    /// Whether the next process holds it, rather than waiting for it in front of this one.
    pub is_held: bool,
    /// Later waits have higher numbers.
    pub(crate) number: u64,
}

/// Sessions that wait for each other.
#[derive(Clone)]
pub struct Deadlock {
    /// Each waits for the next one, the last one for the first.
    pub processes: Vec<DeadlockProcess>,
    /// The place of the one that is ended.
    pub victim: usize,
    /// Whether the monitor found it, rather than the wait that closed it.
    pub by_monitor: bool,
}
