//! Reads of the newest committed rows that keep no row locked: of the rows that a statement changes, and of all rows
//! where READ COMMITTED locks.
//!
//! ```text
//!   the last writer of a row       the scan
//!   is the transaction itself      gives the row
//!   has committed                  gives the row; copies its leaf again if that was after the copy
//!   is active: the row is claimed  waits for its end; leaves the row out under READPAST; or reports the claim, if the
//!                                  caller asks its conditions about both versions of the row
//! ```
//! A claimed row becomes what it is now or goes back to what it was. A statement whose conditions hold for neither need
//! not wait for it. Through an index, a version counts only where the range has an entry for it.
//!
//! # Invariants
//! - A row is given as it was when no wait was left: what was copied before a wait is copied again, from the row on at
//!   which the scan stood.
//! - A row through an index is one whose entry was there when its writer had ended: a row written after the copy of the
//!   entries makes the scan copy them again.
//! - The snapshot of the statement is held: older versions, and parts of long values, stay for as long as they are read.
//!
//! A moment costs other threads their chunks of the log, so the statement's snapshot serves until a row is newer.

use pikepole_log::Lsn;
use pikepole_storage::RowHeader;
use pikepole_transaction::{LockMode, Need, RowStanding, Seen, TransactionId};
use pikepole_types::{SqlError, Value};

use super::overflow::Unread;
use super::scan::Source;
use super::{Table, TableScan};
use crate::database::Database;
use crate::error::Blocked;
use crate::patience::is_for_lock;
use crate::transaction::Transaction;

/// The outcome of a scan's next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Met {
    /// There are no more rows.
    End,
    /// A row, which is in the caller's values.
    Row,
    /// A row that this transaction has changed and not ended. The scan stands before it: see
    /// [`Database::try_read_claimed`] and [`TableScan::pass_claimed`]; to wait for it, return
    /// [`Database::wait_for_claim`] and call again.
    Claimed(TransactionId),
}

/// The terms of a read of the newest rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Newest {
    /// The lock of the table, for the statement.
    pub table: LockMode,
    /// Rows that others have locked exclusively are waited for too.
    pub heeds_keys: bool,
    /// READPAST: what would be waited for is left out.
    pub skips: bool,
}

/// The versions of a claimed row that the scan's range has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Claim {
    writer: TransactionId,
    /// True when the versions are known.
    is_known: bool,
    /// The range has the newest version, which is in `rest`.
    newest: bool,
    /// The range has the former version, which is in `older`.
    former: bool,
}

/// The outcome of a look at one row.
enum Look {
    Row,
    Nothing,
    /// The copy is older than the row.
    Outdated,
    Claimed(Claim),
}

/// The moment of the last copy of a leaf.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Copied {
    /// Commits before this are in the copy; zero: the statement's snapshot.
    at: Lsn,
    /// Waits of the transaction before it.
    waits: u64,
}

impl TableScan {
    /// Leaves out the claimed row that the scan stands before.
    pub fn pass_claimed(&mut self) {
        if self.claim.take().is_some() {
            self.given_or_passed();
        }
    }

    /// The next row of a point is none; that of a range the one behind.
    fn given_or_passed(&mut self) {
        if self.source.is_some() {
            self.next += 1;
        }
    }

    /// Copies the leaf again, from the row on that comes next.
    fn copy_again(&mut self) {
        let (at, reverse) = (self.next, self.range.reverse);
        match self.source.as_mut() {
            Some(Source::Tree(scan)) if at < scan.len() => {
                let last = scan.len() - 1;
                scan.copy_again(if reverse { last - at } else { at });
                self.next = 0;
            }
            Some(Source::Heap(scan)) => self.next = scan.copy_again(at),
            _ => {}
        }
        self.batch = false;
    }
}

impl Database {
    /// The next row, as [`Database::try_next`] gives it, or a claim of another transaction where the scan reads what is
    /// newest.
    ///
    /// # Errors
    /// As of [`Database::try_next`].
    pub fn try_next_or_claim(
        &self,
        tx: &mut Transaction,
        table: &Table,
        scan: &mut TableScan,
        out: &mut [Value],
    ) -> Result<Met, Blocked> {
        if tx.is_elsewhere(table) {
            return tx.elsewhere(table, |database, tx| database.try_next_or_claim(tx, table, scan, out));
        }
        let reads_newest = scan.hints.newest(&tx.read_rules(), table);
        let (Some(newest), false) = (reads_newest, scan.pending) else {
            let found = self.try_next(tx, table, scan, out)?;
            return Ok(if found { Met::Row } else { Met::End });
        };
        let met = self.advance_newest(tx, table, scan, newest)?;
        if met == Met::Row {
            self.decode(tx, table, scan, out)?;
        }
        Ok(met)
    }

    /// The need to wait for the writer that claims a row; error 1222 under NOWAIT.
    pub fn wait_for_claim(
        &self,
        tx: &mut Transaction,
        table: &Table,
        scan: &TableScan,
        writer: TransactionId,
    ) -> Blocked {
        let wait = |_: &Database, _: &mut Transaction| -> Result<(), Blocked> {
            Err(Blocked::Need(Need::TransactionEnd(writer)))
        };
        let waiting = match tx.is_elsewhere(table) {
            true => tx.elsewhere(table, wait),
            false => wait(self, tx),
        };
        match self.waited(scan, waiting) {
            Err(blocked) => blocked,
            Ok(()) => SqlError::lock_timeout().into(),
        }
    }

    /// The wanted columns of a claimed row, as they are now or, `former`, as they were before its writer came. None:
    /// they cannot be read now. Some(false): it is no row of the scan then.
    ///
    /// # Errors
    /// Needs; damage.
    pub fn try_read_claimed(
        &self,
        tx: &mut Transaction,
        table: &Table,
        scan: &mut TableScan,
        former: bool,
        out: &mut [Value],
    ) -> Result<Option<bool>, Blocked> {
        if tx.is_elsewhere(table) {
            return tx.elsewhere(table, |database, tx| database.try_read_claimed(tx, table, scan, former, out));
        }
        let Some(claim) = scan.claim.filter(|claim| claim.is_known) else { return Ok(None) };
        let TableScan { locator, rest, older, projection, wanted, long, .. } = scan;
        let (is_there, body) = if former { (claim.former, &*older) } else { (claim.newest, &*rest) };
        if !is_there {
            return Ok(Some(false));
        }
        let key = if table.is_heap() { &[][..] } else { &locator.0 };
        let Some(overflow) = &table.overflow else {
            let decoded = table.layout.decode(key, body, projection, out);
            decoded.map_err(|error| self.place(tx, &table.full_name()).row(&error))?;
            return Ok(Some(true));
        };
        match self.try_decode_wanted(tx, table, overflow, long, (key, body), (projection, wanted), out)? {
            Ok(()) => Ok(Some(true)),
            Err(Unread::Lost(..)) => Ok(None),
            Err(unread) => Err(self.stop(tx, table, unread.damage().into())),
        }
    }

    /// Moves to the next row: its locator is in the scan then, and its body, or the key of its entry.
    pub(super) fn advance_newest(
        &self,
        tx: &mut Transaction,
        table: &Table,
        scan: &mut TableScan,
        newest: Newest,
    ) -> Result<Met, Blocked> {
        scan.in_entry = false;
        scan.claim = None;
        self.lock_for_newest(tx, table, scan, newest)?;
        if scan.source.is_none() {
            scan.open(table).map_err(|error| self.place(tx, &table.full_name()).row(&error))?;
            scan.copied = Copied::default();
        } else if scan.batch && scan.copied.waits != tx.inner.waits() {
            scan.copied.at = tx.inner.moment();
            scan.copy_again();
        }
        loop {
            if !scan.batch {
                scan.copied.waits = tx.inner.waits();
                let more = scan.next_batch_from();
                if !more.map_err(|stop| self.stop(tx, table, stop.into()))? {
                    return Ok(Met::End);
                }
            }
            let before = scan.next;
            let Some(header) = scan.next_of_batch() else {
                scan.batch = false;
                continue;
            };
            if scan.secondary.is_none() && !newest.heeds_keys && !header.is_ghost() && tx.inner.is_settled(header) {
                std::mem::swap(&mut scan.locator.0, &mut scan.key);
                return Ok(Met::Row);
            }
            let looked = self.look_newest(tx, table, scan, header);
            if matches!(looked, Ok(Look::Nothing)) {
                continue;
            }
            if let Ok(Look::Row) = looked {
                match self.pass_key(tx, table, scan, newest) {
                    Ok(true) => return Ok(Met::Row),
                    Ok(false) => continue,
                    Err(blocked) => {
                        scan.next = before;
                        return Err(blocked);
                    }
                }
            }
            scan.next = before;
            match looked? {
                Look::Claimed(_) if newest.skips => scan.next += 1,
                Look::Claimed(claim) => {
                    scan.claim = Some(claim);
                    return Ok(Met::Claimed(claim.writer));
                }
                _ => {
                    scan.copied.at = tx.inner.moment();
                    scan.copy_again();
                }
            }
        }
    }

    /// Reads the row at `scan.locator`.
    pub(super) fn get_newest(
        &self,
        tx: &mut Transaction,
        table: &Table,
        scan: &mut TableScan,
        newest: Newest,
    ) -> Result<Met, Blocked> {
        scan.in_entry = false;
        scan.claim = None;
        self.lock_for_newest(tx, table, scan, newest)?;
        loop {
            let looked = match self.base_header(tx, table, scan)? {
                None => Look::Nothing,
                Some(header) => self.judge(tx, table, scan, header, Lsn(u64::MAX), true)?,
            };
            match looked {
                Look::Nothing => return Ok(Met::End),
                Look::Row => {
                    return Ok(if self.pass_key(tx, table, scan, newest)? { Met::Row } else { Met::End });
                }
                Look::Claimed(_) if newest.skips => return Ok(Met::End),
                Look::Claimed(claim) => {
                    scan.claim = Some(claim);
                    return Ok(Met::Claimed(claim.writer));
                }
                Look::Outdated => {}
            }
        }
    }

    fn lock_for_newest(
        &self,
        tx: &mut Transaction,
        table: &Table,
        scan: &TableScan,
        newest: Newest,
    ) -> Result<(), Blocked> {
        let locked = tx.inner.try_lock_for_statement(&table.state.lock, newest.table);
        self.waited(scan, locked.map_err(|stop| self.stop(tx, table, stop)))?;
        if table.state.is_stale(table.version) {
            return Err(Blocked::Stale);
        }
        // What the rows lead to stays where it is while the snapshot is held.
        tx.inner.view();
        Ok(())
    }

    /// Tells if the row at `scan.locator` may be read: others may have locked it exclusively without having changed it.
    #[inline]
    fn pass_key(&self, tx: &mut Transaction, table: &Table, scan: &TableScan, newest: Newest) -> Result<bool, Blocked> {
        if !newest.heeds_keys || scan.in_entry {
            return Ok(true);
        }
        let passed = tx.inner.try_pass_key(table.base.object(), &scan.locator.0, LockMode::S);
        match passed.map_err(|stop| self.stop(tx, table, stop)) {
            Err(Blocked::Need(need)) if newest.skips && is_for_lock(&need) => Ok(false),
            passed => self.waited(scan, passed).map(|()| true),
        }
    }

    /// Judges the row, or the entry of an index, that was copied into `scan.key` and `scan.rest`.
    fn look_newest(
        &self,
        tx: &mut Transaction,
        table: &Table,
        scan: &mut TableScan,
        header: RowHeader,
    ) -> Result<Look, Blocked> {
        let moment = match scan.copied.at {
            Lsn(0) => tx.inner.held_snapshot(),
            at => at,
        };
        let Some(at) = scan.secondary else {
            if header.is_ghost() {
                let standing = tx.inner.standing(header, moment).map_err(|stop| self.stop(tx, table, stop))?;
                if standing == RowStanding::Settled {
                    self.transactions().found_ghost(&table.base, &scan.key, header);
                    return Ok(Look::Nothing);
                }
            }
            std::mem::swap(&mut scan.locator.0, &mut scan.key);
            return self.judge(tx, table, scan, header, moment, true);
        };
        let structure = &table.secondary[at].structure;
        let standing = tx.inner.standing(header, moment).map_err(|stop| self.stop(tx, table, stop))?;
        if standing == RowStanding::Outdated {
            return Ok(Look::Outdated);
        }
        if standing == RowStanding::Settled && header.is_ghost() {
            self.transactions().found_ghost(structure, &scan.key, header);
            return Ok(Look::Nothing);
        }
        // Whether the entry was there before its writer came.
        let was_there = standing == RowStanding::Settled || {
            let view = tx.inner.newest_view();
            let TableScan { key, older, name, .. } = &mut *scan;
            self.transactions().resolve(&view, structure, key, header, older, name) != Seen::Nothing
        };
        // An entry holds the locator of its row.
        std::mem::swap(&mut scan.locator.0, &mut scan.rest);
        if standing == RowStanding::Settled && scan.covering.is_some() {
            scan.in_entry = true;
            return Ok(Look::Row);
        }
        let Some(base) = self.base_header(tx, table, scan)? else {
            return Ok(Look::Nothing);
        };
        let looked = self.judge(tx, table, scan, base, moment, was_there)?;
        let RowStanding::Claimed(writer) = standing else { return Ok(looked) };
        Ok(match looked {
            Look::Claimed(claim) if claim.writer == writer => {
                Look::Claimed(Claim { newest: claim.newest && !header.is_ghost(), ..claim })
            }
            // The writer of the entry has ended meanwhile, or is not at the row yet.
            _ => Look::Claimed(Claim { writer, is_known: false, newest: false, former: false }),
        })
    }

    /// Judges a row by its header; its body is in `scan.rest`. `was_there`: the range has what the row was before
    /// its writer came, if that has not ended.
    fn judge(
        &self,
        tx: &mut Transaction,
        table: &Table,
        scan: &mut TableScan,
        header: RowHeader,
        moment: Lsn,
        was_there: bool,
    ) -> Result<Look, Blocked> {
        Ok(match tx.inner.standing(header, moment).map_err(|stop| self.stop(tx, table, stop))? {
            RowStanding::Settled if header.is_ghost() => Look::Nothing,
            RowStanding::Settled => Look::Row,
            RowStanding::Outdated => Look::Outdated,
            RowStanding::Claimed(writer) => {
                let view = tx.inner.newest_view();
                let TableScan { locator, older, name, .. } = scan;
                let seen = self.transactions().resolve(&view, &table.base, &locator.0, header, older, name);
                match seen {
                    // It has committed at this moment.
                    Seen::Row => Look::Outdated,
                    seen => {
                        let former = was_there && seen == Seen::Older;
                        Look::Claimed(Claim { writer, is_known: true, newest: !header.is_ghost(), former })
                    }
                }
            }
        })
    }

    /// Reads the row at `scan.locator` into `scan.rest`, whatever it is: its header.
    fn base_header(
        &self,
        tx: &mut Transaction,
        table: &Table,
        scan: &mut TableScan,
    ) -> Result<Option<RowHeader>, Blocked> {
        let TableScan { rest, locator, .. } = scan;
        let found = table.base.get(&locator.0, |header, bytes| {
            rest.clear();
            rest.extend_from_slice(bytes);
            header
        });
        found.map_err(|stop| self.stop(tx, table, stop.into()))
    }
}
