//! Checkpoints: bringing the start of redo forward while work goes on.
//!
//! ```text
//!   append Checkpoint record at C, wait until it is durable      (all records below C are copied, so every page that
//!                                                                 they changed is marked or still latched)
//!   write every page whose first unwritten change is below C
//!   wait until the log is durable as far as it is reserved       (dropped objects' pages were thrown away unwritten:
//!                                                                 their drops must be durable before C counts)
//!   under the writer's lock: sync the data file, write and sync the stamps, write the master with redo start C
//! ```
//! The log may be truncated below the smaller of C and the first record of the oldest open transaction.

mod double_write;
mod lazy;
mod master;
mod writer;

pub use double_write::TornPages;
pub use master::{FORMAT_VERSION, Master};
pub(crate) use writer::{Purpose, Writer};

use std::sync::Arc;

use pikepole_contention::sync::atomic::Ordering;
use pikepole_contention::sync::thread;
use pikepole_log::Lsn;
use pikepole_machine::clock;

use crate::error::{PageId, StorageError};
use crate::fault;
use crate::records::Record;
use crate::store::{Store, lock};
use double_write::BATCH_PAGES;

impl Store {
    /// Writes a checkpoint and returns the LSN below which the log is no longer needed. Blocks; work goes on meanwhile.
    ///
    /// `oldest_active` gives the first LSN of the oldest transaction that has logged something and not ended; it is asked
    /// after the checkpoint's record was appended, and must count a transaction from before its first append on.
    /// `next_transaction` gives an id above all dealt so far. `clean` marks a shutdown in order: nothing may change
    /// afterwards.
    ///
    /// # Errors
    /// Failed writes; a failed sync also stops the store from taking changes.
    pub fn checkpoint_now(
        &self,
        oldest_active: &dyn Fn() -> Option<Lsn>,
        next_transaction: &dyn Fn() -> u64,
        clean: bool,
    ) -> Result<Lsn, StorageError> {
        if let Some(why) = self.poisoned() {
            return Err(StorageError::Poisoned { why });
        }
        let _turn = self.checkpointing.lock();
        let failures = lock(&self.writer).failures;
        let place = self.log.place();
        let record = Record::Checkpoint { time_us: clock::unix_time_us().unsigned_abs() };
        let range = self.until_done(|| self.append_kept(&record))?;
        self.flush_log_to(range.end)?;
        let recovery_lsn = oldest_active().map_or(range.start, |oldest| oldest.min(range.start));
        let next_transaction = next_transaction();
        if !fault::early_master() {
            self.write_dirty_pages(range.start)?;
        }
        self.flush_log_to(self.log.reserved())?;
        let mut writer = lock(&self.writer);
        if writer.failures != failures {
            return Err(StorageError::io(
                "writing a checkpoint",
                std::io::Error::other("some pages could not be written"),
            ));
        }
        let pages = self.pages_in_file.load(Ordering::Acquire);
        // The file's new length must be durable too, even when no page was written.
        writer.unsynced = true;
        self.sync_data(&mut writer)?;
        let stamps = lock(&self.stamps).save();
        let master = Master {
            sequence: writer.master.sequence + 1,
            checkpoint_lsn: range.start,
            redo_lsn: range.start,
            recovery_lsn,
            next_transaction,
            pages,
            clean,
            patched: false,
            stamps,
            end_lsn: range.end,
            place: Some(place),
        };
        writer.write_master(master).map_err(|error| self.poison(error.to_string()))?;
        // Relaxed: who asks has waited for the checkpoint, and sees it late at worst.
        self.redo_start.store(range.start.0, Ordering::Relaxed);
        Ok(recovery_lsn)
    }

    /// [`Store::checkpoint_now`] on a thread for blocking work.
    ///
    /// # Errors
    /// As of [`Store::checkpoint_now`].
    pub async fn checkpoint(
        self: &Arc<Self>,
        oldest_active: impl Fn() -> Option<Lsn> + Send + 'static,
        next_transaction: impl Fn() -> u64 + Send + 'static,
        clean: bool,
    ) -> Result<Lsn, StorageError> {
        let store = Arc::clone(self);
        pikepole_scheduler::run_blocking(move || store.checkpoint_now(&oldest_active, &next_transaction, clean)).await
    }

    /// Writes every page with a change below `up_to` that the disk lacks. Blocks. All records below `up_to` are copied.
    ///
    /// # Errors
    /// Failed writes.
    pub fn write_dirty_pages(&self, up_to: Lsn) -> Result<usize, StorageError> {
        let mut dirty: Vec<(PageId, u32)> = Vec::new();
        for frame in self.pool.used().frames() {
            let header = self.pool.header(frame);
            // A writer that has logged below `up_to` but not marked the page yet still holds the latch.
            while header.is_held_exclusively() {
                thread::yield_now();
            }
            let rec_lsn = header.rec_lsn.load(Ordering::Relaxed);
            if let Some(page) = header.page().filter(|_| rec_lsn != 0 && rec_lsn < up_to.0) {
                dirty.push((PageId(page), frame));
            }
        }
        dirty.sort_unstable();
        let mut written = 0;
        for chunk in dirty.chunks_mut(BATCH_PAGES) {
            // The lock is given up between batches, so that whoever needs a frame comes in between.
            written += self.write_frames(&mut lock(&self.writer), chunk, Purpose::Checkpoint)?;
        }
        Ok(written)
    }

    /// Bytes of log that recovery would have to read if the database stopped now.
    pub fn redo_bytes(&self) -> u64 {
        self.log.reserved().0 - lock(&self.writer).master.redo_lsn.0
    }

    /// The last master written.
    pub fn master(&self) -> Master {
        lock(&self.writer).master
    }
}
