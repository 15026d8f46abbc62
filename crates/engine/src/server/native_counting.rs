//! The runs of natively compiled modules that are counted: none, unless somebody asks, because counting a short one takes as long as it runs.

use pikepole_contention::sync::atomic::{AtomicBool, Ordering};

/// The choice of a server, until it stops.
#[derive(Debug, Default)]
pub struct NativeCounting {
    calls: AtomicBool,
    statements: AtomicBool,
}

impl NativeCounting {
    /// Tells if each call of a module is counted, for `sys.dm_exec_procedure_stats`.
    #[inline]
    pub fn counts_calls(&self) -> bool {
        self.calls.load(Ordering::Relaxed)
    }

    /// Tells if each run of a statement in one is counted, for `sys.dm_exec_query_stats`: not only those that are run as in other modules.
    #[inline]
    pub fn counts_statements(&self) -> bool {
        self.statements.load(Ordering::Relaxed)
    }

    /// Begins or ends the counting of calls; the choice before that.
    pub fn count_calls(&self, on: bool) -> bool {
        self.calls.swap(on, Ordering::Relaxed)
    }

    /// Begins or ends the counting of all statements; the choice before that.
    pub fn count_statements(&self, on: bool) -> bool {
        self.statements.swap(on, Ordering::Relaxed)
    }
}
