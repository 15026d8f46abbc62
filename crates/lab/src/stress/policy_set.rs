//! Policies that belong together, so that whole ways of doing things can be compared in one call.

/// A named set of policies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PolicySet {
    /// Each serialisation point as the classic engine has it.
    Classic,
    /// Each as it is by default.
    Best,
}

/// Policy, its classic value, its default.
const POLICIES: [(&str, &str, &str); 10] = [
    ("TRANSACTION_IDS", "SPINLOCK", "ATOMIC_RANGES"),
    ("LOG_RESERVATION", "SPINLOCK", "CHUNK"),
    ("LOG_FLUSH_QUEUE", "SPINLOCK", "LOCK_FREE"),
    ("COMMIT_BY", "LOG_WRITER", "SCHEDULER"),
    ("COMMIT_GATHERING", "NONE", "RETURNING"),
    ("COMMIT_ACKNOWLEDGE", "CALL", "MESSAGE"),
    ("CPU_IDLE", "KERNEL", "SHALLOW"),
    ("LOG_WRITERS", "1", "AUTO"),
    ("LOG_BLOCK", "60KB", "1MB"),
    ("HEAP_INSERT_TARGETS", "ONE", "PER_SCHEDULER"),
];

impl PolicySet {
    /// Every one, the classic way first.
    pub const ALL: [PolicySet; 2] = [PolicySet::Classic, PolicySet::Best];

    /// The name on the command line, in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            PolicySet::Classic => "classic",
            PolicySet::Best => "best",
        }
    }

    /// The policies and their values.
    pub fn policies(self) -> Vec<(String, String)> {
        let value = |(name, classic, best): (&str, &str, &str)| match self {
            PolicySet::Classic => (name.to_string(), classic.to_string()),
            PolicySet::Best => (name.to_string(), best.to_string()),
        };
        POLICIES.into_iter().map(value).collect()
    }
}
