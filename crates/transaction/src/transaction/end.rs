//! The ends of a transaction: commit, rollback, and what both have in common.

use pikepole_contention::Counter;
use pikepole_contention::sync::atomic::Ordering;
use pikepole_log::{Lsn, LsnRange, Refused};
use pikepole_machine::clock;
use pikepole_storage::records::Record;
use pikepole_storage::{LogContext, StorageError};

use super::{Mark, Transaction};
use crate::error::{Need, Stop, TransactionError};
use crate::id::{Dealt, TransactionId};
use crate::nested::Kinship;
use crate::registry::NONE;
use crate::status::WordPlace;
use crate::transactions::Ghost;
use crate::undo::{UndoKind, undo_one};

/// Changes of rows in memory, as they are logged.
#[derive(Debug, Clone, Copy)]
pub struct ChangesInMemory<'a> {
    /// What the transaction has logged of such rows before does not count.
    pub begins_again: bool,
    /// The time of the commit in the order of transactions in memory; of no account in a record before the commit.
    pub time: u64,
    /// The bytes of the changes.
    pub bytes: &'a [u8],
}

impl<'a> ChangesInMemory<'a> {
    fn record(self, xid: u64, flags: u8) -> Record<'a> {
        let first = if self.begins_again { LogContext::FIRST } else { 0 };
        let time = if flags & LogContext::COMMIT != 0 { self.time } else { 0 };
        Record::InMemory { flags: flags | first, xid, time, changes: self.bytes }
    }
}

impl Transaction {
    /// Appends changes of rows in memory, for whose rollback no space is kept back.
    fn append_change(&self, record: &Record<'_>) -> Result<LsnRange, Stop> {
        let appended = self.home.log.append_record_after(self.after, record);
        appended.map_err(|refused| match refused {
            Refused::BufferFull => Stop::Need(Need::Storage(pikepole_storage::Need::LogBuffer)),
            Refused::LogFull => TransactionError::Storage(StorageError::LogFull).into(),
            Refused::Poisoned => TransactionError::Poisoned(pikepole_log::Poisoned).into(),
        })
    }

    fn append_end(&self, record: &Record<'_>) -> Result<LsnRange, Stop> {
        let appended = self.home.log.append_record_reserved_after(self.after, record);
        appended.map_err(|refused| match refused {
            Refused::BufferFull | Refused::LogFull => Stop::Need(Need::Storage(pikepole_storage::Need::LogBuffer)),
            Refused::Poisoned => TransactionError::Poisoned(pikepole_log::Poisoned).into(),
        })
    }

    /// Logs changes of rows in memory, of a transaction that has too many of them for the record of its commit.
    ///
    /// # Errors
    /// A need of room in the log buffer; a log that is full, or failed earlier.
    pub fn try_log_in_memory(&mut self, changes: ChangesInMemory<'_>) -> Result<(), Stop> {
        self.try_adopt()?;
        let context = self.announce();
        let record = changes.record(context.xid, 0);
        let range = self.append_change(&record)?;
        self.changed_with_undo(range, 0);
        Ok(())
    }

    /// Commits what was changed, with `in_memory`, the last changes of rows in memory, in the same record; with nothing changed it only ends
    /// the transaction. The commit is in the log, and everybody sees it; [`Transaction::try_harden`] makes it durable. `publish` is called
    /// once it has committed, while its locks are still held, with the end of its record, or what it has to come behind.
    ///
    /// # Errors
    /// A need of room in the log buffer; a log that is full, or failed earlier. Nothing has ended then.
    #[inline]
    pub fn try_commit(
        &mut self,
        in_memory: Option<ChangesInMemory<'_>>,
        publish: impl FnOnce(Lsn),
    ) -> Result<(), Stop> {
        assert!(!self.is_child(), "a child ends with its parent");
        self.try_adopt()?;
        if let Some(unlogged) = &self.unlogged {
            unlogged.try_settled()?;
        }
        if !self.logged {
            if let Some(changes) = in_memory {
                self.append_alone(changes)?;
            }
            publish(self.after);
            self.ended();
            return Ok(());
        }
        let (dealt, place) = self.dealt.expect("a change has an id");
        let xid = dealt.id.0;
        self.home.status.committing(place);
        let appended = match in_memory {
            Some(changes) => self.append_change(&changes.record(xid, LogContext::COMMIT)),
            None => self.append_end(&Record::Commit { xid, time_us: clock::unix_time_us().unsigned_abs() }),
        };
        let range = match appended {
            Ok(range) => range,
            Err(stop) => {
                self.home.status.not_committing(place);
                return Err(stop);
            }
        };
        self.remember_ghosts();
        self.end_word(dealt, place, range.end, true);
        self.unhardened = range.end;
        self.after = range.end;
        self.count_write();
        publish(range.end);
        self.ended();
        Ok(())
    }

    /// Commits changes of rows in memory that are all there is: one record, of no id, since no row on a page needs one.
    fn append_alone(&mut self, changes: ChangesInMemory<'_>) -> Result<(), Stop> {
        let record = changes.record(TransactionId::SYSTEM.0, LogContext::FIRST | LogContext::COMMIT);
        let range = self.append_change(&record)?;
        self.unhardened = range.end;
        self.after = range.end;
        self.count_write();
        Ok(())
    }

    fn end_word(&mut self, dealt: Dealt, place: WordPlace, lsn: Lsn, committed: bool) {
        self.dealt = None;
        if self.home.status.end(place, lsn, committed) {
            self.home.sleepers.wake(dealt.id);
        }
        self.home.dealer.retire(dealt);
    }

    /// The deleted rows of a committing transaction are removed once nobody needs them.
    fn remember_ghosts(&mut self) {
        if self.undo.ghosts == 0 {
            return;
        }
        let (id, _) = self.own_id();
        let mut at = self.undo.position();
        while let Some((structure, entry, start)) = self.undo.before(at) {
            at = start;
            if entry.kind != UndoKind::SetHeader || entry.old_header.is_ghost() {
                continue;
            }
            self.home.add_ghost(Ghost {
                structure: structure.clone(),
                name: entry.name.into(),
                header: crate::rows::ghost_header(entry.old_header, id),
            });
        }
    }

    /// What both ends have in common.
    pub(super) fn ended(&mut self) {
        if self.announced {
            self.announced = false;
            self.cell.id.store(0, Ordering::Relaxed);
            self.cell.log_bytes.store(0, Ordering::Relaxed);
            self.cell.log_records.store(0, Ordering::Relaxed);
            // Release: the checkpoint that no longer sees the transaction sees its end in the log.
            self.cell.first_lsn.store(NONE, Ordering::Release);
            self.cell.last_lsn.store(NONE, Ordering::Relaxed);
            self.cell.reserved_bytes.store(0, Ordering::Relaxed);
            self.home.statistics.subtract(Counter::ActiveTransactions, 1);
            self.home.log.undo_reserve(-self.undo_bytes);
            self.undo_bytes = 0;
            self.records = 0;
            self.undo.clear();
            self.unlogged = None;
        }
        if std::mem::take(&mut self.numbered) {
            // Release: who no longer sees the number sees the transaction's end. Pairs with the Acquire in `oldest_number`.
            self.cell.first_number.store(NONE, Ordering::Release);
        }
        self.logged = false;
        self.begun = false;
        if self.explicit {
            self.explicit = false;
            self.cell.explicit_id.store(0, Ordering::Relaxed);
        }
        self.drop_snapshot();
        self.end_locks();
        if !self.keys.is_empty() {
            self.unlock_keys();
        }
    }

    /// Makes the last commit durable when `full`; otherwise that is left to the next flush.
    ///
    /// # Errors
    /// The need to wait for the log.
    #[inline]
    pub fn try_harden(&mut self, full: bool) -> Result<(), Stop> {
        if full && self.unhardened > self.home.log.durable() {
            return Err(Stop::Need(Need::Durable(self.unhardened)));
        }
        self.unhardened = Lsn::ZERO;
        Ok(())
    }

    /// Where the last commit ends that nobody has waited for; zero when there is none.
    pub fn unhardened(&self) -> Lsn {
        self.unhardened
    }

    /// Undoes all changes made since `mark`.
    ///
    /// # Errors
    /// Needs; what was undone so far stays undone, and the next call goes on.
    pub fn try_rollback_to(&mut self, mark: Mark) -> Result<(), Stop> {
        self.try_adopt()?;
        let Some((dealt, _)) = self.dealt else {
            return Ok(());
        };
        while self.undo.position() > mark.0 {
            let Some((structure, entry, start)) = self.undo.before(self.undo.position()) else {
                break;
            };
            undo_one(structure, &mut self.cursor, dealt.id, self.after, &entry)?;
            self.undo.truncate(start);
        }
        Ok(())
    }

    /// Undoes all changes and ends the transaction.
    ///
    /// # Errors
    /// Needs, as [`Transaction::try_rollback_to`]; a store that takes no more changes: then [`Transaction::abandon`].
    pub fn try_rollback(&mut self) -> Result<(), Stop> {
        assert!(!self.is_child(), "a child ends with its parent");
        self.try_rollback_to(Mark::START)?;
        if self.logged {
            let (dealt, place) = self.dealt.expect("a change has an id");
            let range = self.append_end(&Record::Abort { xid: dealt.id.0 })?;
            self.end_word(dealt, place, range.end, false);
        }
        self.ended();
        Ok(())
    }

    /// Ends a transaction whose changes cannot be undone because the log failed. Its rows stay invisible; the database
    /// takes no changes any more, and the next start undoes them.
    pub fn abandon(&mut self) {
        // Children that are at work cannot change anything either; what they hand in is of no use any more.
        self.kinship = Kinship::Alone;
        if let Some((dealt, place)) = self.dealt.filter(|_| self.logged) {
            self.end_word(dealt, place, Lsn(u64::MAX >> 8), false);
        }
        self.ended();
    }
}
