//! What a call of the load driver asks for.

use super::{PolicySet, Workload};
use std::path::PathBuf;
use std::time::Duration;

/// When a commit returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// After its log record is on stable storage.
    Full,
    /// At once; the log follows within milliseconds.
    Delayed,
}

impl Durability {
    /// The name in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Durability::Full => "FULL",
            Durability::Delayed => "DELAYED",
        }
    }

    /// The database option that forces it.
    pub(super) fn database_option(self) -> &'static str {
        match self {
            Durability::Full => "DISABLED",
            Durability::Delayed => "FORCED",
        }
    }
}

/// How long a run goes on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Amount {
    /// Until the time is over; the batch under way is finished.
    Time(Duration),
    /// Until each session has done this many iterations (rows, for the built-in workload).
    Iterations(u64),
}

/// Everything a call of the load driver asks for.
#[derive(Debug, Clone)]
pub struct Options {
    /// The server's folder.
    pub folder: PathBuf,
    /// The numbers of sessions, one run each.
    pub sessions: Vec<usize>,
    /// The durabilities, each with all numbers of sessions.
    pub durabilities: Vec<Durability>,
    /// How long each run goes on.
    pub amount: Amount,
    /// What the sessions do.
    pub workload: Workload,
    /// A named set of policies, set first; `None` leaves the server's own.
    pub policy_set: Option<PolicySet>,
    /// Policies by name, set before the first run.
    pub policies: Vec<(String, String)>,
    /// Bytes of the buffer pool; `None` leaves the engine's default.
    pub buffer_pool_bytes: Option<u64>,
}
