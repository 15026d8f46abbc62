//! What a database does by itself: the log writer, the lazy writer, and the loop that checkpoints and cleans.
//!
//! | task | on a hidden scheduler of its own | does |
//! |---|---|---|
//! | LOG WRITER, one or more | yes | flushes for committers, prepares segments |
//! | LAZY WRITER | yes | keeps free frames |
//! | CHECKPOINT | yes | checkpoints when enough log has gathered, truncates the log, gives back dropped storage, removes deleted rows and old versions, rolls back what lost its session, brings statistics up to date for which queries do not wait |

use std::sync::Arc;
use std::time::Duration;

use pikepole_contention::WaitType;
use pikepole_contention::sync::atomic::Ordering;
use pikepole_log::{LOG_WRITERS_MAX, LogWriters, Lsn};
use pikepole_scheduler::{self as scheduler, JoinHandle};
use pikepole_storage::StorageError;
use pikepole_transaction::{Need, Stop};
use pikepole_types::SqlError;

use super::{Database, LogFullReason, lock};
use crate::in_memory::Occasion;
use crate::temporary::TEMPDB_ID;
use crate::transaction::Transaction;

/// How often the checkpoint task looks whether a checkpoint is due.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A look that comes when nothing has been logged since the last one counts for so many, and comes so much later.
const LOOKS_WHEN_IDLE: u32 = 4;

/// It cleans when so many looks have passed.
const CLEAN_EVERY: u32 = 5;

/// How often somebody who waits for log space looks whether the checkpoint is done.
const SPACE_EVERY: Duration = Duration::from_millis(2);

/// After a checkpoint that failed, so many looks pass before the next one: each leaves a record in the log.
const LOOKS_AFTER_FAILURE: u32 = 50;

/// Deleted rows removed in one go.
const CLEAN_ROWS: usize = 500;

/// The system tasks of a database.
#[derive(Default)]
pub(super) struct SystemTasks {
    /// The CPUs that log writers are bound to, in turn; none: the kernel places them.
    log_writer_cpus: Vec<usize>,
    /// By number; those that have ended stay until they are started again.
    log_writers: [Option<JoinHandle<()>>; LOG_WRITERS_MAX],
    lazy_writer: Option<JoinHandle<()>>,
    checkpoint: Option<JoinHandle<()>>,
}

impl SystemTasks {
    /// None yet; log writers to come have these CPUs.
    pub(super) fn new(log_writer_cpus: Vec<usize>) -> Self {
        Self { log_writer_cpus, ..Self::default() }
    }

    fn cpu_of_log_writer(&self, number: usize) -> Option<usize> {
        self.log_writer_cpus.get(number % self.log_writer_cpus.len().max(1)).copied()
    }
}

impl Database {
    /// Starts the database's system tasks.
    pub(crate) fn start(self: &Arc<Self>) {
        let mut tasks = lock(&self.tasks);
        (0..self.log.writer_count()).for_each(|number| self.start_log_writer(&mut tasks, number));
        tasks.lazy_writer = Some(self.schedulers.hidden("LAZY WRITER", None, self.store.clone().run_writer()));
        let database = self.clone();
        let checkpoints = async move { database.run_checkpoints().await };
        tasks.checkpoint = Some(self.schedulers.hidden("CHECKPOINT", None, checkpoints));
    }

    fn start_log_writer(&self, tasks: &mut SystemTasks, number: usize) {
        let (log, cpu) = (self.log.clone(), tasks.cpu_of_log_writer(number));
        let task = self.schedulers.hidden("LOG WRITER", cpu, log.run_log_writer(number));
        tasks.log_writers[number] = Some(task);
    }

    /// The numbers of its system tasks ([`pikepole_scheduler::TaskRow::task_id`]).
    pub(crate) fn system_tasks(&self) -> Vec<u64> {
        let tasks = lock(&self.tasks);
        let single = [&tasks.lazy_writer, &tasks.checkpoint];
        tasks.log_writers.iter().chain(single).flatten().filter_map(JoinHandle::task_id).collect()
    }

    /// So many log writers from now on, on these CPUs in turn.
    pub(crate) fn set_log_writers(&self, count: LogWriters, cpus: Vec<usize>) {
        let mut tasks = lock(&self.tasks);
        if tasks.log_writer_cpus != cpus {
            tasks.log_writer_cpus = cpus;
            for (number, task) in tasks.log_writers.iter().enumerate() {
                let Some(task) = task else { continue };
                // A CPU that has just gone offline: the writer stays where it is.
                let _ = self.schedulers.move_hidden(task, tasks.cpu_of_log_writer(number));
            }
        }
        // A count out of bounds leaves those that there are; the configuration has none.
        let to_start = self.log.set_writers(count).unwrap_or_default();
        to_start.into_iter().for_each(|number| self.start_log_writer(&mut tasks, number));
    }

    /// Bytes that the log can have: as configured, or what it has when the disk gives it no more.
    pub(crate) fn log_room(&self) -> u64 {
        let log = self.log.stats();
        if log.growth_failed.is_some() { log.bytes } else { log.bytes_max }
    }

    /// Bytes written to the log since a checkpoint was last tried, padding included.
    pub fn log_since_checkpoint(&self) -> u64 {
        let written = self.log.stats().bytes_written;
        written.saturating_sub(self.written_at_checkpoint.load(Ordering::Relaxed))
    }

    /// Whether a full log will have room after a checkpoint, as far as can be told: one that failed just now is no hope.
    pub(crate) fn can_make_log_space(&self) -> bool {
        let failed = self.checkpoint_failed.load(Ordering::Relaxed);
        !self.is_stopping() && !failed && self.log_full_reason().is_for_checkpoint()
    }

    /// Waits for the next checkpoint.
    pub(crate) async fn make_log_space(&self) {
        let done = self.checkpoints.load(Ordering::Relaxed);
        self.want_log_space();
        let made = async {
            while self.checkpoints.load(Ordering::Relaxed) == done && !self.is_stopping() {
                scheduler::sleep(SPACE_EVERY).await;
            }
        };
        scheduler::wait(WaitType::LOGMGR_RESERVE_APPEND, made).await;
    }

    /// Waits for a checkpoint whose redo start is at or above `lsn`; of a database that is not recovered there is none.
    ///
    /// # Errors
    /// A checkpoint that failed.
    pub(crate) async fn redo_start_above(&self, lsn: Lsn) -> Result<(), StorageError> {
        while self.is_recovered() && self.store.redo_start() < lsn {
            let done = self.checkpoints.load(Ordering::Relaxed);
            self.want_checkpoint();
            let made = async {
                while self.checkpoints.load(Ordering::Relaxed) == done && !self.is_stopping() {
                    scheduler::sleep(SPACE_EVERY).await;
                }
            };
            scheduler::wait(WaitType::SLEEP_BPOOL_FLUSH, made).await;
            // One that was under way may have begun too early; then the next one does it.
            let failed = self.checkpoint_failed.load(Ordering::Relaxed);
            if self.store.redo_start() < lsn && (self.is_stopping() || failed) {
                let why = lock(&self.checkpoint_error).clone();
                return Err(why.unwrap_or_else(|| StorageError::Io {
                    what: "writing a checkpoint".into(),
                    error: Arc::new(std::io::Error::other("the rows that were not logged could not be written")),
                }));
            }
        }
        Ok(())
    }

    /// A statement found the log full: a checkpoint may make room, of the pages or of in-memory tables.
    pub(crate) fn want_log_space(&self) {
        self.log_space_wanted.store(true, Ordering::Relaxed);
        self.want_checkpoint();
    }

    fn want_checkpoint(&self) {
        self.checkpoint_wanted.store(true, Ordering::Relaxed);
    }

    /// The occasion of a checkpoint, if one is due.
    fn checkpoint_due(&self) -> Option<Occasion> {
        if self.checkpoint_wanted.swap(false, Ordering::Relaxed) {
            let is_for_memory = self.log_space_wanted.swap(false, Ordering::Relaxed)
                && self.log_full_reason() == LogFullReason::XtpCheckpoint;
            return Some(if is_for_memory { Occasion::LogSpace } else { Occasion::Checkpoint });
        }
        let is_due =
            self.store.redo_bytes() >= self.checkpoint_bytes || self.log_since_checkpoint() >= self.log_room() / 4;
        is_due.then_some(Occasion::Checkpoint)
    }

    async fn run_checkpoints(self: Arc<Self>) {
        let (mut looks, mut pause) = (0u32, 0u32);
        let mut reserved = self.log.reserved();
        while !self.is_stopping() {
            let before = std::mem::replace(&mut reserved, self.log.reserved());
            let passed = if before == reserved { LOOKS_WHEN_IDLE } else { 1 };
            scheduler::wait(WaitType::CHECKPOINT_QUEUE, scheduler::sleep(LOOK_EVERY * passed)).await;
            if self.is_stopping() {
                return;
            }
            if !self.is_recovered() {
                self.let_go_of_log();
            } else if pause > 0 {
                pause = pause.saturating_sub(passed);
            } else if let Some(occasion) = self.checkpoint_due() {
                let failed = self.checkpoint_in_background(occasion).await.is_err();
                pause = if failed { LOOKS_AFTER_FAILURE } else { 0 };
                self.checkpoints.fetch_add(1, Ordering::Relaxed);
            }
            self.update_wanted_statistics().await;
            looks += passed;
            if looks >= CLEAN_EVERY {
                looks = 0;
                self.roll_back_orphans().await;
                self.clean().await;
            }
        }
    }

    /// Returns false for tempdb, which every start makes again: its log serves rollbacks only.
    pub(crate) fn is_recovered(&self) -> bool {
        self.id() != TEMPDB_ID
    }

    /// Takes the place of a checkpoint in a database that is not recovered: the log below the oldest open transaction is used
    /// again, and no page is written.
    fn let_go_of_log(&self) {
        let wanted = self.checkpoint_wanted.swap(false, Ordering::Relaxed);
        let horizon = self.log.durable();
        let needed = self.transactions.oldest_first_lsn().map_or(horizon, |oldest| oldest.min(horizon));
        if wanted || self.log.would_free(needed) {
            self.written_at_checkpoint.store(self.log.stats().bytes_written, Ordering::Relaxed);
            self.truncate_log(needed);
            self.checkpoints.fetch_add(1, Ordering::Relaxed);
        }
    }

    async fn checkpoint_in_background(self: &Arc<Self>, occasion: Occasion) -> Result<(), StorageError> {
        let (oldest, next) = (self.transactions.clone(), self.transactions.clone());
        let written = self.log.stats().bytes_written;
        let database = self.clone();
        let in_memory = scheduler::run_blocking(move || database.checkpoint_in_memory(occasion)).await;
        let truncate = self.store.checkpoint(move || oldest.oldest_first_lsn(), move || next.next_id().0, false).await;
        // After a failure too: whoever finds the log full is told so then, and does not wait again and again.
        self.written_at_checkpoint.store(written, Ordering::Relaxed);
        let error = truncate.as_ref().err().or(in_memory.as_ref().err());
        *lock(&self.checkpoint_error) = error.cloned();
        self.checkpoint_failed.store(error.is_some(), Ordering::Relaxed);
        // The log is kept where in-memory tables need it, whatever became of their checkpoint.
        self.truncate_log(truncate?);
        in_memory
    }

    /// Rolls back the transactions of sessions that went away, and those whose rollback could not be finished.
    pub(crate) async fn roll_back_orphans(&self) {
        // Before the orphans: a session gives up its transaction before it leaves storage behind.
        let left = std::mem::take(&mut *lock(&self.left_behind));
        let mut orphans = std::mem::take(&mut *lock(&self.deferred));
        orphans.extend(self.transactions.take_orphans().into_iter().map(|orphan| Transaction::new(orphan, self.id())));
        for mut orphan in orphans {
            // One that still cannot be undone is deferred again.
            let _ = self.rollback(&mut orphan).await;
        }
        if lock(&self.deferred).is_empty() && !self.transactions.has_orphans() {
            self.free_later(left);
        } else {
            lock(&self.left_behind).extend(left);
        }
    }

    /// Gives back dropped storage, removes deleted rows and older versions that nobody needs.
    async fn clean(self: &Arc<Self>) {
        if !lock(&self.to_free).is_empty() {
            let database = self.clone();
            // A failure keeps the object on the list.
            let _ = scheduler::run_blocking(move || database.free_now()).await;
        }
        loop {
            match self.transactions.clean(CLEAN_ROWS) {
                Ok(true) => scheduler::yield_now().await,
                Ok(false) => return,
                Err(Stop::Need(Need::Storage(need))) => {
                    if self.satisfy_storage(need).await.is_err() {
                        return;
                    }
                }
                Err(_) => return,
            }
        }
    }

    /// CHECKPOINT: writes what is dirty and lets go of the log before it.
    ///
    /// # Errors
    /// 9001 when the log failed; what writing pages ends with.
    pub async fn checkpoint(self: &Arc<Self>, tx: &mut Transaction) -> Result<(), SqlError> {
        tx.rest();
        let checkpoint = self.checkpoint_in_background(Occasion::Asked);
        let done = scheduler::wait(WaitType::SLEEP_BPOOL_FLUSH, checkpoint).await;
        done.map_err(|error| self.place(tx, "").storage(&error))
    }

    /// `sp_flush_log`: everything committed so far becomes durable.
    ///
    /// # Errors
    /// 9001 when the log failed.
    pub async fn flush_log(&self, tx: &mut Transaction) -> Result<(), SqlError> {
        tx.rest();
        let flushed = scheduler::wait(WaitType::LOGMGR_FLUSH, self.log.flush_all()).await;
        flushed.map_err(|_| SqlError::log_not_available(self.name()))
    }

    /// Ends the database's work: sessions are gone. Rolls back what they left, writes a last checkpoint.
    ///
    /// # Errors
    /// What could not be written; the next start recovers.
    pub(crate) async fn close(self: &Arc<Self>) -> Result<(), SqlError> {
        if self.stopping.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        let task = lock(&self.tasks).checkpoint.take();
        if let Some(task) = task {
            // A checkpoint under way is finished first; one that failed has left its mark in the store.
            let _ = task.await;
        }
        self.roll_back_orphans().await;
        self.note_identities().await;
        self.note_sequences().await;
        self.store.stop();
        let database = self.clone();
        let closed = scheduler::run_blocking(move || database.close_files()).await;
        // What is still open is the next start's to undo.
        self.transactions.close();
        let left = std::mem::take(&mut *lock(&self.deferred));
        drop(left);
        closed.map_err(|why| {
            let what = format!("checkpoint of database {}", self.name());
            SqlError::operating_system_error(why, what, 0, self.folder().display())
        })
    }
}
