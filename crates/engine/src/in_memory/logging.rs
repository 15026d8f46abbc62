//! The changes of a transaction in in-memory tables on their way into the log.
//!
//! ```text
//!   changes ── more than a record takes ──► records of the transaction, before it is prepared
//!        └──── the last ones ─────────────► the record that commits it, behind all commits that it has seen
//! ```
//! Few changes are in the commit's record alone. Nothing is logged of a transaction that is rolled back, unless it had so many changes that
//! its commit had begun.

use pikepole_log::Lsn;
use pikepole_memory::MemoryTransaction;
use pikepole_transaction::{ChangesInMemory, Stop};

use super::InMemoryCheckpoints;
use super::changes::ChangeWriter;

/// Bytes of changes in one record.
const RECORD_BYTES: usize = 16_000;
/// Bytes that are kept room for between transactions.
const KEPT_BYTES: usize = 4 * RECORD_BYTES;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct LoggedInMemory {
    changes: ChangeWriter,
    /// Changes that were written to these.
    written: usize,
    /// Bytes of these that are in the log.
    logged: usize,
    /// A record of the transaction is in the log that counts.
    has_logged: bool,
    /// Some of what is in the log was undone: the next record says that nothing of it counts.
    begins_again: bool,
}

impl LoggedInMemory {
    /// The transaction has ended.
    pub fn clear(&mut self) {
        self.changes.clear();
        if self.changes.bytes.capacity() > KEPT_BYTES {
            self.changes.bytes.shrink_to(KEPT_BYTES);
        }
        (self.written, self.logged) = (0, 0);
        (self.has_logged, self.begins_again) = (false, false);
    }

    /// Changes from the one of this number on were undone.
    pub fn undone_to(&mut self, mark: usize) {
        if mark < self.written {
            self.begins_again |= self.has_logged;
            self.has_logged = false;
            self.changes.clear();
            (self.written, self.logged) = (0, 0);
        }
    }

    fn record(&self, bytes: usize, time: u64) -> ChangesInMemory<'_> {
        let bytes = &self.changes.bytes[self.logged..self.logged + bytes];
        ChangesInMemory { begins_again: self.begins_again, time, bytes }
    }

    /// Writes changes until there is more than one record of them, or no more; how many bytes are not logged yet.
    fn gather(&mut self, memory: &MemoryTransaction) -> usize {
        if self.logged == self.changes.bytes.len() {
            self.changes.bytes.clear();
            self.logged = 0;
        }
        let Self { changes, written, logged, .. } = self;
        if changes.bytes.len() - *logged <= RECORD_BYTES {
            *written = memory.changes(*written, |table, change| {
                changes.add(table, change);
                changes.bytes.len() - *logged <= RECORD_BYTES
            });
        }
        changes.bytes.len() - *logged
    }

    /// Logs changes until one record takes the rest.
    ///
    /// # Errors
    /// Needs; the next call goes on.
    pub fn try_log(
        &mut self,
        inner: &mut pikepole_transaction::Transaction,
        memory: &MemoryTransaction,
        checkpoints: &InMemoryCheckpoints,
    ) -> Result<(), Stop> {
        while self.gather(memory) > RECORD_BYTES {
            inner.order_behind(Lsn(memory.after()));
            checkpoints.count_logged(RECORD_BYTES);
            inner.try_log_in_memory(self.record(RECORD_BYTES, 0))?;
            checkpoints.count_record(RECORD_BYTES);
            self.logged += RECORD_BYTES;
            (self.has_logged, self.begins_again) = (true, false);
        }
        Ok(())
    }

    /// The last changes of a prepared transaction, for which [`LoggedInMemory::try_log`] has made room; None: it has logged none.
    pub fn last(&self, memory: &MemoryTransaction) -> Option<ChangesInMemory<'_>> {
        let bytes = self.changes.bytes.len() - self.logged;
        let is_empty = bytes == 0 && !self.has_logged && !self.begins_again;
        (!is_empty).then(|| self.record(bytes, memory.prepared().unwrap_or(0)))
    }
}
