//! Commits that return before they are durable, because nobody hears of them before the session has waited for the log.
//!
//! ```text
//!   call 1   commit -> promised up to its end
//!   call 2   commit -> promised up to its end
//!   ...      harden -> one wait for the last end; only then do the answers leave
//! ```

use super::ExecutionContext;
use pikepole_engine::{Database, Durability, Lsn};
use pikepole_types::SqlError;
use std::sync::Arc;

/// Commits that have returned and are not durable yet, as far as the session knows.
pub(super) struct Promise {
    database: Arc<Database>,
    /// Where the last of them ends in the log.
    end: Lsn,
}

impl ExecutionContext {
    /// From now on commits return before they are durable, or no longer do. Who says so calls [`harden`](Self::harden) before
    /// anybody outside hears of them.
    pub fn promise_commits(&mut self, promises: bool) {
        self.promises = promises;
    }

    #[inline]
    pub(super) fn durability(&self) -> Durability {
        if !self.promises {
            return Durability::Full;
        }
        // One log is waited for in the end: commits in another database wait for themselves.
        let is_elsewhere =
            self.promise.as_ref().is_some_and(|promise| !Arc::ptr_eq(&promise.database, self.database()));
        if is_elsewhere { Durability::Full } else { Durability::Promised }
    }

    #[inline]
    pub(super) fn note_promise(&mut self, durability: Durability) {
        if durability != Durability::Promised {
            return;
        }
        let end = self.transaction.unhardened();
        match &mut self.promise {
            Some(promise) => promise.end = promise.end.max(end),
            None if end > Lsn::ZERO => self.promise = Some(Promise { database: Arc::clone(self.database()), end }),
            None => {}
        }
    }

    /// Waits until all that was promised is durable.
    ///
    /// # Errors
    /// 9001 when the log failed: what was promised is not kept, and stays so.
    pub async fn harden(&mut self) -> Result<(), SqlError> {
        if let Some(promise) = &self.promise {
            promise.database.harden(promise.end).await?;
            self.promise = None;
        }
        Ok(())
    }
}
