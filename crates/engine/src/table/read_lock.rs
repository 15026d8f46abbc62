//! Reading rows under locks: what is newest, and nobody else changes it before the transaction ends.
//!
//! ```text
//!   level or hint                       reads           locks                             until
//!   READ COMMITTED, SNAPSHOT            a snapshot      nothing                           -
//!   READ UNCOMMITTED, NOLOCK            what is newest  nothing                           -
//!   READ_COMMITTED_SNAPSHOT OFF,        what is newest  the table, shared; see `newest`   the statement ends
//!     READCOMMITTEDLOCK, READPAST
//!   rows to change, READ COMMITTED      what is newest  nothing; see `newest`             -
//!   UPDLOCK, XLOCK                      what is newest  each row that the filter takes    the transaction ends
//!   REPEATABLE READ                     what is newest  each row                          the transaction ends
//!   SERIALIZABLE, HOLDLOCK              what is newest  the range of keys, and the rows   the transaction ends
//!                                                       that an index leads to; of a heap
//!                                                       the table
//!   TABLOCK with one of these, TABLOCKX what is newest  the table                         the transaction ends
//! ```
//! A row is locked before it is looked at, a range before its first page is (see `key_lock` in the transaction crate). A row that
//! another transaction has changed is waited for without its lock being kept: so its writer may go on with it.
//!
//! Through an index, the table's row is locked first; then the entry that leads to it must still be there. Whoever changes an entry
//! has changed the row before, and so is waited for.

use std::ops::Bound;

use pikepole_transaction::{Isolation, KeyLock, LockMode, LockedKeys};
use pikepole_types::SqlError;

use super::newest::Newest;
use super::scan::encode_bound;
use super::{Table, TableScan};
use crate::database::Database;
use crate::error::Blocked;
use crate::memory_level::MemoryLevel;
use crate::patience::is_for_lock;
use crate::transaction::Transaction;

/// What a table hint says in place of the transaction's level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadLevel {
    /// NOLOCK, READUNCOMMITTED: nothing is locked, and nothing need be committed.
    Uncommitted,
    /// SNAPSHOT: nothing is locked.
    Versions,
    /// READCOMMITTED: versions, or under locks, as the database's option says.
    ReadCommitted,
    /// READCOMMITTEDLOCK
    Committed,
    /// REPEATABLEREAD
    Repeatable,
    /// HOLDLOCK, SERIALIZABLE
    Serializable,
}

/// How strong the locks of rows are that a scan takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum ReadMode {
    /// As the level says: others may read them under locks too.
    #[default]
    Shared,
    /// UPDLOCK
    Update,
    /// XLOCK
    Exclusive,
}

/// The table hints of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReadHints {
    /// In place of the transaction's level.
    pub level: Option<ReadLevel>,
    /// The locks asked for.
    pub mode: ReadMode,
    /// The statement changes the rows: what is locked, is locked for update.
    pub changes: bool,
    /// TABLOCK: the table is locked rather than its rows.
    pub table: bool,
    /// TABLOCKX: the table is locked, and nobody else reads it under locks.
    pub table_exclusive: bool,
    /// READPAST: rows that others have locked are left out.
    pub skips: bool,
    /// NOWAIT: a lock of others is error 1222 at once.
    pub no_wait: bool,
    /// SNAPSHOT, REPEATABLEREAD or SERIALIZABLE of an in-memory table, which takes no lock.
    pub memory: Option<MemoryLevel>,
}

/// What a scan locks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Locking {
    mode: ReadMode,
    /// Also rows that the statement has no use for.
    is_lasting: bool,
    /// Keys without rows are locked too.
    ranges: bool,
    /// The table is locked instead.
    table: bool,
}

impl Locking {
    fn of_row(self) -> LockMode {
        match (self.mode, self.ranges) {
            (ReadMode::Shared, false) => LockMode::S,
            (ReadMode::Update, false) => LockMode::U,
            (ReadMode::Exclusive, false) => LockMode::X,
            (ReadMode::Shared, true) => LockMode::RangeSS,
            (ReadMode::Update, true) => LockMode::RangeSU,
            (ReadMode::Exclusive, true) => LockMode::RangeXX,
        }
    }

    /// The lock of the table; `whole`: in place of those of rows. There is no mode between S and X that would let others read
    /// under locks and keep them from updating: update locks of a whole table are exclusive.
    fn of_table(self, whole: bool) -> LockMode {
        match (whole, self.mode) {
            (true, ReadMode::Shared) => LockMode::S,
            (true, _) => LockMode::X,
            (false, ReadMode::Shared) => LockMode::IS,
            (false, _) => LockMode::IX,
        }
    }
}

impl ReadHints {
    /// Versions, whatever the level and the database's options are: for what looks at rows beside the statements of
    /// users.
    pub const VERSIONS: ReadHints = ReadHints {
        level: Some(ReadLevel::Versions),
        mode: ReadMode::Shared,
        changes: false,
        table: false,
        table_exclusive: false,
        skips: false,
        no_wait: false,
        memory: None,
    };

    /// Tells if a scan may read anything but versions, whatever the level and the database's options are.
    pub fn asks_for_newest(&self) -> bool {
        let by_level =
            matches!(self.level, Some(ReadLevel::Committed | ReadLevel::Repeatable | ReadLevel::Serializable));
        by_level || self.mode != ReadMode::Shared || self.skips || self.table_exclusive || self.changes
    }

    /// Tells if a scan reads versions of rows.
    pub(crate) fn reads_versions(&self, rules: &ReadRules) -> bool {
        let is_versioned = matches!(self.level_under(rules), ReadLevel::Versions | ReadLevel::Uncommitted);
        let is_plain = self.mode == ReadMode::Shared && !self.skips && !self.table_exclusive && !self.changes;
        is_plain && is_versioned
    }

    /// Whether a scan that locks nothing sees what is not committed, at this level.
    #[inline]
    pub(super) fn sees_uncommitted(&self, isolation: Isolation) -> bool {
        match self.level {
            None => isolation == Isolation::ReadUncommitted,
            Some(level) => level == ReadLevel::Uncommitted,
        }
    }

    /// The level at which a scan reads.
    #[inline]
    fn level_under(&self, rules: &ReadRules) -> ReadLevel {
        let level = self.level.unwrap_or(match rules.isolation {
            Isolation::ReadUncommitted => ReadLevel::Uncommitted,
            Isolation::ReadCommitted => ReadLevel::ReadCommitted,
            Isolation::Snapshot => ReadLevel::Versions,
            Isolation::RepeatableRead => ReadLevel::Repeatable,
            Isolation::Serializable => ReadLevel::Serializable,
        });
        match level {
            ReadLevel::ReadCommitted if rules.locks_committed => ReadLevel::Committed,
            ReadLevel::ReadCommitted => ReadLevel::Versions,
            level => level,
        }
    }

    /// The way a scan reads. A session's own tables are no other session's, and in-memory ones have versions alone.
    #[inline]
    pub(super) fn reading(&self, rules: &ReadRules, table: &Table) -> Reading {
        if self.reads_versions(rules) || table.residence.is_session() || table.in_memory.is_some() {
            return Reading::Versions { uncommitted: self.sees_uncommitted(rules.isolation) };
        }
        self.reading_newest(self.level_under(rules), rules)
    }

    fn reading_newest(&self, level: ReadLevel, rules: &ReadRules) -> Reading {
        let is_lasting = matches!(level, ReadLevel::Repeatable | ReadLevel::Serializable);
        let mode = if self.table_exclusive { ReadMode::Exclusive } else { self.mode };
        let is_locked = is_lasting || mode != ReadMode::Shared || self.changes && (self.skips || rules.locks_targets);
        if is_locked {
            let mode = if self.changes { mode.max(ReadMode::Update) } else { mode };
            let (ranges, table) = (level == ReadLevel::Serializable, self.table_exclusive || self.table);
            return Reading::Locking(Locking { mode, is_lasting, ranges, table });
        }
        if self.changes && rules.isolation == Isolation::Snapshot && level == ReadLevel::Versions {
            return Reading::Versions { uncommitted: false };
        }
        let table = match (self.changes, self.table) {
            (true, _) => LockMode::SchS,
            (false, true) => LockMode::S,
            (false, false) => LockMode::IS,
        };
        Reading::Newest(Newest { table, heeds_keys: !self.changes, skips: self.skips })
    }

    /// The terms of a scan that reads the newest rows and keeps none locked.
    pub(super) fn newest(&self, rules: &ReadRules, table: &Table) -> Option<Newest> {
        match self.reading(rules, table) {
            Reading::Newest(newest) => Some(newest),
            Reading::Versions { .. } | Reading::Locking(_) => None,
        }
    }
}

/// The rules, beside its hints, that a scan reads by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReadRules {
    /// The level of the transaction.
    pub isolation: Isolation,
    /// READ COMMITTED reads under locks: READ_COMMITTED_SNAPSHOT was off when the statement began.
    pub locks_committed: bool,
    /// The rows that a statement changes are locked as they are found: it has met rows that changed under it before.
    pub locks_targets: bool,
}

/// The ways to read.
#[derive(Debug, Clone, Copy)]
pub(super) enum Reading {
    /// The rows that a snapshot sees, or also uncommitted ones.
    Versions { uncommitted: bool },
    /// The newest rows; none is kept locked.
    Newest(Newest),
    /// The newest rows, locked.
    Locking(Locking),
}

impl TableScan {
    /// Tells if the range that is locked is one of the table's own keys, which holds the rows: all of them where nothing
    /// bounds the scan.
    fn locks_own_range(&self) -> bool {
        self.secondary.is_none() || !self.range.is_bounded()
    }
}

impl Database {
    /// Locks the table as the scan needs it. True: as a whole, so that nothing else need be locked.
    fn lock_to_read(
        &self,
        tx: &mut Transaction,
        table: &Table,
        scan: &TableScan,
        locking: Locking,
        is_point: bool,
    ) -> Result<bool, Blocked> {
        if locking.ranges && scan.hints.skips {
            return Err(SqlError::readpast_level().into());
        }
        let has_keys = is_point || scan.range.is_bounded() || !table.is_heap();
        let whole = locking.table || locking.ranges && !has_keys;
        let locked = tx.inner.try_lock(&table.state.lock, locking.of_table(whole));
        self.waited(scan, locked.map_err(|stop| self.stop(tx, table, stop)))?;
        if table.state.is_stale(table.version) {
            return Err(Blocked::Stale);
        }
        Ok(whole)
    }

    /// Makes a wait for others an error, under NOWAIT.
    pub(super) fn waited<T>(&self, scan: &TableScan, result: Result<T, Blocked>) -> Result<T, Blocked> {
        match result {
            Err(Blocked::Need(need)) if scan.hints.no_wait && is_for_lock(&need) => {
                Err(SqlError::lock_timeout().into())
            }
            result => result,
        }
    }

    /// Moves to the next row that the scan is to give, and locks it: its locator and body are in the scan then.
    #[cold]
    pub(super) fn advance_locked(
        &self,
        tx: &mut Transaction,
        table: &Table,
        scan: &mut TableScan,
        locking: Locking,
    ) -> Result<bool, Blocked> {
        let whole = self.lock_to_read(tx, table, scan, locking, false)?;
        // What the rows lead to stays where it is while the snapshot is held.
        tx.inner.view();
        if scan.source.is_none() {
            if locking.ranges && !whole {
                self.lock_range(tx, table, scan, locking)?;
            }
            scan.open(table).map_err(|error| self.place(tx, &table.full_name()).row(&error))?;
        }
        // A range of the table's own keys holds its rows.
        let locks_rows = !(whole || locking.ranges && scan.locks_own_range());
        loop {
            if !scan.batch {
                let more = scan.next_batch();
                if !more.map_err(|stop| self.stop(tx, table, stop.into()))? {
                    return Ok(false);
                }
            }
            let before = scan.next;
            if scan.next_of_batch().is_none() {
                scan.batch = false;
                continue;
            }
            let read = match self.read_locked(tx, table, scan, locking, locks_rows) {
                Err(Blocked::Need(need)) if scan.hints.skips && is_for_lock(&need) => Ok(false),
                read => self.waited(scan, read),
            };
            match read {
                Ok(true) => return Ok(true),
                Ok(false) => continue,
                Err(blocked) => {
                    scan.next = before;
                    return Err(blocked);
                }
            }
        }
    }

    fn lock_range(
        &self,
        tx: &mut Transaction,
        table: &Table,
        scan: &TableScan,
        locking: Locking,
    ) -> Result<(), Blocked> {
        let (structure, layout) = match scan.secondary {
            Some(at) if !scan.locks_own_range() => (&table.secondary[at].structure, &table.secondary[at].layout),
            _ => (&table.base, &table.layout),
        };
        let bound = |bound: &Bound<Vec<_>>, upper| encode_bound(layout, bound, upper);
        let bounds = bound(&scan.range.from, false).and_then(|low| Ok((low, bound(&scan.range.to, true)?)));
        let (low, high) = bounds.map_err(|error| self.place(tx, &table.full_name()).row(&error))?;
        let keys = LockedKeys::Range(low, high);
        let lock = KeyLock { object: structure.object(), keys, mode: locking.of_row() };
        let locked = tx.inner.try_lock_keys(lock.clone());
        if locked.is_err() && !scan.range.reverse {
            tx.inner.lock_free_part(&lock);
        }
        self.waited(scan, locked.map_err(|stop| self.stop(tx, table, stop)))?;
        Ok(())
    }

    /// Locks the row that the scan is at, and reads it as it is now. False: there is none any more.
    fn read_locked(
        &self,
        tx: &mut Transaction,
        table: &Table,
        scan: &mut TableScan,
        locking: Locking,
        locks_rows: bool,
    ) -> Result<bool, Blocked> {
        match scan.secondary {
            None => std::mem::swap(&mut scan.locator.0, &mut scan.key),
            // An entry of an index holds the locator of its row.
            Some(_) => std::mem::swap(&mut scan.locator.0, &mut scan.rest),
        }
        self.hold_row(tx, table, scan, locking, locks_rows, |database, tx, scan| {
            if let Some(at) = scan.secondary {
                let TableScan { key, locator, .. } = &*scan;
                let entry = tx.inner.try_current(&table.secondary[at].structure, key, |leads_to| leads_to == locator.0);
                let entry = entry.map_err(|stop| database.stop(tx, table, stop))?;
                if !entry.is_some_and(|(_, is_same)| is_same) {
                    return Ok(false);
                }
            }
            database.read_newest(tx, table, scan)
        })
    }

    /// Reads the row of the key at `scan.locator` into `scan.rest`, and locks it. False: there is none.
    pub(super) fn get_locked(
        &self,
        tx: &mut Transaction,
        table: &Table,
        scan: &mut TableScan,
        locking: Locking,
    ) -> Result<bool, Blocked> {
        let whole = self.lock_to_read(tx, table, scan, locking, true)?;
        tx.inner.view();
        let read = self.hold_row(tx, table, scan, locking, !whole, |database, tx, scan| {
            let found = database.read_newest(tx, table, scan)?;
            // The key is what is locked, with a row or without.
            Ok(found || locking.ranges && !whole)
        });
        match read {
            Err(Blocked::Need(need)) if scan.hints.skips && is_for_lock(&need) => Ok(false),
            read => self.waited(scan, read).map(|held| held && scan.found),
        }
    }

    /// Locks the row at `scan.locator`, if rows are locked, for what `read` says of it: the lock stays if that is true.
    fn hold_row(
        &self,
        tx: &mut Transaction,
        table: &Table,
        scan: &mut TableScan,
        locking: Locking,
        locks_rows: bool,
        read: impl FnOnce(&Database, &mut Transaction, &mut TableScan) -> Result<bool, Blocked>,
    ) -> Result<bool, Blocked> {
        scan.fresh = false;
        let mut is_new = false;
        if locks_rows {
            let keys = LockedKeys::One(scan.locator.0.as_slice().into());
            let lock = KeyLock { object: table.base.object(), keys, mode: locking.of_row() };
            is_new = tx.inner.try_lock_keys(lock).map_err(|stop| self.stop(tx, table, stop))?;
        }
        let read = read(self, tx, scan);
        let stays = matches!(read, Ok(true));
        if is_new && !stays {
            tx.inner.unlock_row(table.base.object(), &scan.locator.0);
        }
        scan.fresh = is_new && stays && !locking.is_lasting;
        read
    }

    /// Reads the row at `scan.locator` as it is now into `scan.rest`. False: there is none.
    fn read_newest(&self, tx: &mut Transaction, table: &Table, scan: &mut TableScan) -> Result<bool, Blocked> {
        let TableScan { rest, locator, found, .. } = scan;
        let current = tx.inner.try_current(&table.base, &locator.0, |bytes| {
            rest.clear();
            rest.extend_from_slice(bytes);
        });
        *found = current.map_err(|stop| self.stop(tx, table, stop))?.is_some();
        Ok(*found)
    }

    /// The statement has no use for the row that the scan has given last: it is not kept locked for it.
    ///
    /// # Errors
    /// None of its own.
    pub fn pass_over(&self, tx: &mut Transaction, table: &Table, scan: &mut TableScan) -> Result<(), Blocked> {
        if !std::mem::take(&mut scan.fresh) {
            return Ok(());
        }
        if tx.is_elsewhere(table) {
            return tx.elsewhere(table, |_, tx| {
                tx.inner.unlock_row(table.base.object(), &scan.locator.0);
                Ok(())
            });
        }
        tx.inner.unlock_row(table.base.object(), &scan.locator.0);
        Ok(())
    }
}
