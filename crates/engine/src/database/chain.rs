//! How far the log is kept: for recovery, for the next log backup, for a backup that is being made.
//! Under FULL, and while a backup is made, it gets all rows, also those of bulk inserts
//! ([`Store::need_rows_in_log`](pikepole_storage::Store)); what it lacks under BULK_LOGGED, log backups take from the
//! pages ([`super::bulk_changed`]).
//!
//! ```text
//!   truncation point = the lowest of
//!       the last checkpoint's recovery start          always
//!       where the next log backup begins              FULL and BULK_LOGGED, once a full backup has begun a chain
//!       where the backup under way reads              while one is
//!       what in-memory tables' file of rows lacks     where there are durable ones
//! ```

use std::sync::Arc;

use pikepole_log::Lsn;
use pikepole_types::SqlError;

use super::files::LogChain;
use super::{Database, DatabaseFile, RecoveryModel, lock};

/// Why the log cannot be truncated further, as `log_reuse_wait_desc` names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFullReason {
    /// Nothing holds it; it is smaller than the work needs, or the disk is full.
    Nothing,
    /// A checkpoint has to be written.
    Checkpoint,
    /// It is kept for a log backup.
    LogBackup,
    /// A backup is being made.
    ActiveBackupOrRestore,
    /// The oldest open transaction.
    ActiveTransaction,
    /// A checkpoint of in-memory tables has to be written.
    XtpCheckpoint,
}

impl LogFullReason {
    /// True when a checkpoint makes room.
    pub fn is_for_checkpoint(self) -> bool {
        matches!(self, LogFullReason::Checkpoint | LogFullReason::XtpCheckpoint)
    }

    /// As error 9002 names it.
    pub fn name(self) -> &'static str {
        match self {
            LogFullReason::Nothing => "NOTHING",
            LogFullReason::Checkpoint => "CHECKPOINT",
            LogFullReason::LogBackup => "LOG_BACKUP",
            LogFullReason::ActiveBackupOrRestore => "ACTIVE_BACKUP_OR_RESTORE",
            LogFullReason::ActiveTransaction => "ACTIVE_TRANSACTION",
            LogFullReason::XtpCheckpoint => "XTP_CHECKPOINT",
        }
    }

    /// As `sys.databases.log_reuse_wait` numbers it.
    pub fn number(self) -> u8 {
        match self {
            LogFullReason::Nothing => 0,
            LogFullReason::Checkpoint => 1,
            LogFullReason::LogBackup => 2,
            LogFullReason::ActiveBackupOrRestore => 3,
            LogFullReason::ActiveTransaction => 4,
            LogFullReason::XtpCheckpoint => 16,
        }
    }
}

/// What the log is kept for besides recovery.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Kept {
    pub chain: Option<LogChain>,
    /// The backup that is being made reads the log from here.
    hold: Option<Lsn>,
}

impl Kept {
    /// What `database.toml` says, and the recovery model there.
    pub fn new(chain: Option<LogChain>, recovery: RecoveryModel) -> Kept {
        Kept { chain: chain.map(|chain| chain.under(recovery)), hold: None }
    }
}

impl LogChain {
    /// The chain when the database is of this recovery model.
    pub fn under(self, recovery: RecoveryModel) -> LogChain {
        LogChain { bulk_logged: self.bulk_logged || recovery == RecoveryModel::BulkLogged, ..self }
    }
}

/// The turn of a backup: there is one at a time. The log is kept from where it says.
pub(crate) struct Hold(Arc<Database>);

impl Drop for Hold {
    fn drop(&mut self) {
        lock(&self.0.chain).hold = None;
        self.0.store.need_rows_no_more();
        self.0.leave();
    }
}

impl Hold {
    /// The log before `from` is not read any more.
    pub fn release_before(&self, from: Lsn) {
        lock(&self.0.chain).hold = Some(from);
    }
}

impl Database {
    /// A backup begins: the log is kept from the last checkpoint's recovery start on, and the database cannot be dropped.
    ///
    /// # Errors
    /// 3023 while another one is being made.
    pub(crate) fn begin_backup(self: &Arc<Self>) -> Result<Hold, SqlError> {
        // Whatever checkpoint truncates at this moment: the backup's own checkpoint comes later, and reads from behind.
        let from = self.store.master().recovery_lsn;
        let from = self.in_memory.log_from().map_or(from, |own| own.min(from));
        let mut kept = lock(&self.chain);
        if kept.hold.is_some() {
            return Err(SqlError::backup_is_under_way());
        }
        kept.hold = Some(from.min(kept.chain.map_or(from, |chain| Lsn(chain.backed_up_to))));
        self.enter();
        drop(kept);
        // A page whose rows come to the disk behind the copy's back must be in the log that goes with it.
        self.store.need_rows_in_log();
        Ok(Hold(self.clone()))
    }

    /// The chain of log backups, if the recovery model has one and a full backup has begun it.
    pub(crate) fn log_chain(&self) -> Option<LogChain> {
        lock(&self.chain).chain
    }

    /// Changes the chain of log backups, durably.
    ///
    /// # Errors
    /// What writing the file of options ends with.
    pub(crate) fn set_log_chain(&self, chain: LogChain) -> std::io::Result<()> {
        // Nobody changes the recovery model, or the file, meanwhile.
        let options = lock(&self.options);
        if options.recovery == RecoveryModel::Simple {
            return Ok(());
        }
        let chain = chain.under(options.recovery);
        let file = DatabaseFile { chain: Some(chain), ..self.file(&options) };
        file.write(&self.disk, &self.folder)?;
        lock(&self.chain).chain = Some(chain);
        Ok(())
    }

    /// `database.toml` as it is now.
    pub(crate) fn database_file(&self) -> DatabaseFile {
        self.file(&lock(&self.options))
    }

    /// Says that recovery needs no record below `before`; what is kept for backups stays.
    pub(crate) fn truncate_log(&self, before: Lsn) {
        let before = self.needed_for_backups(before);
        let in_memory = self.in_memory.log_from();
        self.log.truncate(in_memory.map_or(before, |from| from.min(before)));
    }

    /// What keeps the log from being reused: error 9002 names it, and `log_reuse_wait` shows it at any time.
    pub fn log_full_reason(&self) -> LogFullReason {
        let oldest = self.transactions.oldest_first_lsn();
        let recovery = oldest.unwrap_or(self.log.reserved());
        // A checkpoint now would free what lies below all of them.
        if self.log.would_free(self.needed_for_backups(recovery)) {
            let store = self.store.master().recovery_lsn;
            let of_memory = self.in_memory.log_from().is_some_and(|from| from < store);
            return if of_memory { LogFullReason::XtpCheckpoint } else { LogFullReason::Checkpoint };
        }
        match self.kept_for_backups(recovery) {
            Some(reason) => reason,
            None if oldest.is_some() => LogFullReason::ActiveTransaction,
            None => LogFullReason::Nothing,
        }
    }

    /// Where the next log backup begins, once a full backup has begun a chain of them.
    pub fn next_log_backup(&self) -> Option<Lsn> {
        lock(&self.chain).chain.map(|chain| Lsn(chain.backed_up_to))
    }

    /// Where the log must be kept from when recovery needs it from `recovery` on.
    fn needed_for_backups(&self, recovery: Lsn) -> Lsn {
        let kept = *lock(&self.chain);
        let chain = kept.chain.map(|chain| Lsn(chain.backed_up_to));
        [chain, kept.hold].into_iter().flatten().fold(recovery, Lsn::min)
    }

    /// Whether backups need more of the log than recovery, which needs it from `recovery` on.
    fn kept_for_backups(&self, recovery: Lsn) -> Option<LogFullReason> {
        let kept = *lock(&self.chain);
        let chain = kept.chain.map(|chain| Lsn(chain.backed_up_to)).filter(|&lsn| lsn < recovery);
        let hold = kept.hold.filter(|&lsn| lsn < recovery);
        match (chain, hold) {
            (Some(chain), Some(hold)) if hold < chain => Some(LogFullReason::ActiveBackupOrRestore),
            (Some(_), _) => Some(LogFullReason::LogBackup),
            (None, Some(_)) => Some(LogFullReason::ActiveBackupOrRestore),
            (None, None) => None,
        }
    }
}
