//! Changing rows, and seeing them as a snapshot does.
//!
//! | a writer meets | and |
//! |---|---|
//! | no row of this key | inserts |
//! | a row of its own | changes it; inserting is a duplicate, or revives its own ghost |
//! | a row of an active transaction | waits for its end, then looks again: that id is the row's lock |
//! | a committed row | changes it; inserting is a duplicate |
//! | a committed ghost | revives it when inserting; otherwise there is no row |
//! | a row or a key that another transaction has locked | waits for its end, then looks again |
//!
//! Changes name the header they expect, and storage compares it under the page's latch: whatever was found out about the
//! header before holds at the moment of the change, or the change is not made and the writer looks again. Under the same latch
//! it asks whether others have locked the row or its key (`key_lock`); a row of its own is its lock already.

use pikepole_contention::sync::{hint, thread};
use pikepole_log::{Lsn, LsnRange};
use pikepole_storage::{ChangeOutcome, InsertOutcome, LogContext, Rid, RowHeader, TreeCursor, UnderLatch};

use crate::error::{Need, Stop, TransactionError};
use crate::id::TransactionId;
use crate::key_lock::{KeyLock, KeyLocks, LockedKeys};
use crate::lock::LockMode;
use crate::status::Status;
use crate::structure::Structure;
use crate::transaction::{Isolation, Transaction};
use crate::transactions::Transactions;
use crate::undo::{UndoEntry, UndoKind};
use crate::version::row_name;

/// Looks at a committing word before the CPU is offered to others.
const COMMITTING_SPINS: u32 = 200;

/// What an insert did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inserted {
    /// The row is there.
    Done,
    /// A committed row (or an own one) has this key.
    Duplicate,
}

/// A snapshot as a reader uses it.
#[derive(Debug, Clone, Copy)]
pub struct View {
    own: u64,
    snapshot: Lsn,
    uncommitted: bool,
}

/// What a snapshot sees of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// The row as it is on the page.
    Row,
    /// An older version: its body was put into the caller's buffer.
    Older,
    /// No row.
    Nothing,
}

/// The standing of a row that was copied, by its writer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowStanding {
    /// It is the transaction itself, or had committed when the row was copied: the row is what it is.
    Settled,
    /// It has ended since: the row is to be copied again.
    Outdated,
    /// It has not ended.
    Claimed(TransactionId),
}

/// A change that others may have locked the row against.
struct Guarded<'a, K> {
    /// None: the row is the writer's own.
    locks: Option<&'a KeyLocks>,
    owner: u64,
    object: u32,
    row: &'a [u8],
    mode: LockMode,
    keep: K,
}

impl<K: FnOnce(RowHeader, &[u8])> UnderLatch for Guarded<'_, K> {
    #[inline]
    fn admits(&self) -> bool {
        self.locks.is_none_or(|locks| locks.admits(self.owner, self.object, self.row, self.mode))
    }

    fn keep(self, header: RowHeader, rest: &[u8]) {
        (self.keep)(header, rest);
    }
}

/// How a row of this header is locked that is changed: a ghost's key is a place for a new row.
fn mode_of_change(old: RowHeader) -> LockMode {
    if old.is_ghost() { LockMode::RangeIN } else { LockMode::X }
}

/// The header of the ghost that `id` makes of a row.
pub(crate) fn ghost_header(old: RowHeader, id: TransactionId) -> RowHeader {
    RowHeader::new(older_flag(old, id) | RowHeader::GHOST, id.0)
}

/// HAS_OLDER_VERSION as a row that replaces `old` carries it: the row's own older version when it was written by the same
/// transaction, else what is about to be kept.
fn older_flag(old: RowHeader, id: TransactionId) -> u8 {
    if old.xid() == id.0 { old.flags() & RowHeader::HAS_OLDER_VERSION } else { RowHeader::HAS_OLDER_VERSION }
}

impl Transactions {
    /// What became of `writer`, once it is not in the middle of its commit. The middle is a few instructions long.
    pub fn settled(&self, writer: TransactionId) -> Status {
        let mut spins = 0;
        loop {
            match self.status.status(writer) {
                Status::Committing if spins < COMMITTING_SPINS => {
                    spins += 1;
                    hint::spin_loop();
                }
                // Its thread lost the CPU.
                Status::Committing => thread::yield_now(),
                settled => return settled,
            }
        }
    }

    #[inline]
    fn sees(&self, view: &View, writer: u64) -> bool {
        if writer == view.own || view.uncommitted {
            return true;
        }
        match self.settled(TransactionId(writer)) {
            Status::Committed(lsn) => lsn <= view.snapshot,
            _ => false,
        }
    }

    /// Finds the version of a row that `view` sees. `header` is the row's as copied from its page; an older version's body
    /// is put into `older`. `name` is scratch space.
    #[inline]
    pub fn resolve(
        &self,
        view: &View,
        structure: &Structure,
        row: &[u8],
        header: RowHeader,
        older: &mut Vec<u8>,
        name: &mut Vec<u8>,
    ) -> Seen {
        if self.sees(view, header.xid()) {
            return if header.is_ghost() { Seen::Nothing } else { Seen::Row };
        }
        if !header.has_older_version() {
            return Seen::Nothing;
        }
        row_name(structure.object(), row, name);
        let writer = TransactionId(header.xid());
        let found = self.versions.find(name, writer, &|id| self.sees(view, id.0), older);
        match found {
            Some(header) if !header.is_ghost() => Seen::Older,
            _ => Seen::Nothing,
        }
    }
}

impl Transaction {
    /// What this transaction's statement sees; the snapshot is taken if there is none.
    pub fn view(&mut self) -> View {
        self.view_of(self.isolation() == Isolation::ReadUncommitted)
    }

    /// The same, with what nobody has committed or without it, whatever the level is.
    pub fn view_of(&mut self, uncommitted: bool) -> View {
        View { own: self.own_id_if_dealt(), snapshot: self.snapshot(), uncommitted }
    }

    /// A view of all that has committed; older versions are held for it.
    pub fn newest_view(&mut self) -> View {
        self.snapshot();
        View { own: self.own_id_if_dealt(), snapshot: Lsn(u64::MAX), uncommitted: false }
    }

    /// The snapshot that is held, taken when there is none.
    #[inline]
    pub fn held_snapshot(&mut self) -> Lsn {
        self.snapshot()
    }

    /// The moment for [`Transaction::standing`]: what has committed before is in every copy made later.
    pub fn moment(&self) -> Lsn {
        self.home.clock()
    }

    /// The quick judgement of a row's header: true when its writer is the transaction itself, or has committed by the
    /// snapshot that is held. False says nothing.
    #[inline]
    pub fn is_settled(&self, header: RowHeader) -> bool {
        let Some(snapshot) = self.snapshot else { return false };
        let writer = header.xid();
        writer == self.own_id_if_dealt()
            || matches!(self.home.settled(TransactionId(writer)), Status::Committed(lsn) if lsn <= snapshot)
    }

    /// Judges a row by its header in a copy made at `moment`.
    ///
    /// # Errors
    /// The log failed: the row could not be undone.
    #[inline]
    pub fn standing(&mut self, header: RowHeader, moment: Lsn) -> Result<RowStanding, Stop> {
        let writer = TransactionId(header.xid());
        if writer.0 == self.own_id_if_dealt() {
            return Ok(RowStanding::Settled);
        }
        match self.home.settled(writer) {
            Status::Committed(lsn) if lsn <= moment => {
                if self.snapshot.is_none_or(|snapshot| lsn > snapshot) {
                    // It acts on what came behind its snapshot.
                    self.after = self.after.max(lsn);
                }
                Ok(RowStanding::Settled)
            }
            Status::Active => Ok(RowStanding::Claimed(writer)),
            _ => {
                self.refuse_undone(header)?;
                Ok(RowStanding::Outdated)
            }
        }
    }

    fn context(&mut self, single: bool) -> LogContext {
        if single { self.begin_single() } else { self.announce() }
    }

    /// After a call that was to place a record: what was promised to others is put right.
    #[inline]
    fn placed(&mut self, single: bool, placed: Option<LsnRange>) {
        match placed {
            Some(range) if single => self.finish_single(range),
            Some(range) => self.changed(range),
            None if single => self.abandon_single(),
            None => (),
        }
    }

    /// Inserts a row into a tree. `single`: the statement changes this row only; under autocommit the record is then the
    /// whole transaction, which has committed when this returns.
    ///
    /// # Errors
    /// Needs, [`Need::TransactionEnd`] among them; the log or the disk being full.
    pub fn try_insert(
        &mut self,
        structure: &Structure,
        cursor: &mut TreeCursor,
        key: &[u8],
        rest: &[u8],
        single: bool,
    ) -> Result<Inserted, Stop> {
        let Structure::Tree(tree) = structure else {
            unreachable!("rows with a key live in trees");
        };
        let single = self.can_be_single(single);
        loop {
            let nested = self.kinship.enter()?;
            let context = self.context(single);
            let (home, owner) = (&self.home, self.cell.owner);
            let admits = || home.keys.admits(owner, tree.object(), key, LockMode::RangeIN);
            let outcome = tree.insert_if(cursor, &context, key, rest, admits);
            let found = match outcome {
                Ok(InsertOutcome::Done(range)) => {
                    self.placed(single, Some(range));
                    if !single {
                        let entry = UndoEntry {
                            kind: UndoKind::Insert,
                            name: key,
                            old_header: RowHeader::default(),
                            old_rest: &[],
                        };
                        self.undo.push(structure, &entry);
                    }
                    return Ok(Inserted::Done);
                }
                Ok(InsertOutcome::Exists(found)) => {
                    self.placed(single, None);
                    found
                }
                Ok(InsertOutcome::Refused) => {
                    self.placed(single, None);
                    return Err(wait_for_keys(structure, key, LockMode::RangeIN));
                }
                Err(stop) => {
                    self.placed(single, None);
                    return Err(stop.into());
                }
            };
            // Reviving a ghost below enters for itself.
            drop(nested);
            self.wait_for_writer(found)?;
            // The id had ended when it was asked about. Only if the row still carries it, it committed.
            if structure.get(key, |header, _| header)? != Some(found) {
                continue;
            }
            self.refuse_undone(found)?;
            if !found.is_ghost() {
                if self.isolation() == Isolation::Serializable && !self.is_child() {
                    // That the key is there has been read.
                    let keys = LockedKeys::One(key.into());
                    if self.try_lock_keys(KeyLock { object: structure.object(), keys, mode: LockMode::RangeSS })? {
                        continue;
                    }
                }
                return Ok(Inserted::Duplicate);
            }
            self.refuse_newer(found)?;
            if self.try_replace(structure, cursor, key, found, rest, single)? {
                return Ok(Inserted::Done);
            }
        }
    }

    /// Inserts a row into a heap; `single` as for [`Transaction::try_insert`].
    ///
    /// # Errors
    /// Needs; the log or the disk being full.
    pub fn try_insert_heap(&mut self, structure: &Structure, rest: &[u8], single: bool) -> Result<Rid, Stop> {
        let Structure::Heap(heap) = structure else {
            unreachable!("rows without a key live in heaps");
        };
        let _nested = self.kinship.enter()?;
        let single = self.can_be_single(single);
        let context = self.context(single);
        match heap.insert(&context, rest) {
            Ok((rid, range)) => {
                self.placed(single, Some(range));
                if !single {
                    let entry = UndoEntry {
                        kind: UndoKind::Insert,
                        name: &rid.to_bytes(),
                        old_header: RowHeader::default(),
                        old_rest: &[],
                    };
                    self.undo.push(structure, &entry);
                }
                Ok(rid)
            }
            Err(stop) => {
                self.placed(single, None);
                Err(stop.into())
            }
        }
    }

    /// Inserts a part of a value into a heap of parts.
    ///
    /// # Errors
    /// As of [`Transaction::try_insert_heap`].
    pub fn try_insert_part(&mut self, structure: &Structure, rest: &[u8]) -> Result<Rid, Stop> {
        let Structure::Heap(heap) = structure else {
            unreachable!("parts live in heaps");
        };
        if !heap.is_alone(rest.len()) {
            return self.try_insert_heap(structure, rest, false);
        }
        let _nested = self.kinship.enter()?;
        let context = self.announce();
        let (rid, range) = heap.insert_alone(&context, rest)?;
        self.changed_with_undo(range, 0);
        let entry =
            UndoEntry { kind: UndoKind::Page, name: &rid.to_bytes(), old_header: RowHeader::default(), old_rest: &[] };
        self.undo.push(structure, &entry);
        Ok(rid)
    }

    /// The other writer of a row must have ended before anything is said about the row.
    fn wait_for_writer(&mut self, found: RowHeader) -> Result<(), Stop> {
        let writer = TransactionId(found.xid());
        if writer.0 != self.own_id_if_dealt() && self.settled(writer) == Status::Active {
            return Err(Stop::Need(Need::TransactionEnd(writer)));
        }
        Ok(())
    }

    /// A row that still carries an aborted id could not be undone: the log failed.
    fn refuse_undone(&mut self, found: RowHeader) -> Result<(), Stop> {
        let writer = TransactionId(found.xid());
        if writer.0 != self.own_id_if_dealt() && self.settled(writer) == Status::Aborted && self.home.log.is_poisoned()
        {
            return Err(TransactionError::Poisoned(pikepole_log::Poisoned).into());
        }
        Ok(())
    }

    /// Under a snapshot of the transaction, a row that somebody changed since is not changed again.
    fn refuse_newer(&mut self, found: RowHeader) -> Result<(), Stop> {
        if found.xid() == self.own_id_if_dealt() || !self.isolation().is_per_transaction() {
            return Ok(());
        }
        match (self.snapshot, self.settled(TransactionId(found.xid()))) {
            (Some(snapshot), Status::Committed(lsn)) if lsn > snapshot => {
                Err(TransactionError::SnapshotConflict.into())
            }
            _ => Ok(()),
        }
    }

    /// The row as it is now, for changing it: what `look` makes of it, with the header to expect. None: there is no row.
    ///
    /// # Errors
    /// The need to wait for the transaction that wrote it; a snapshot conflict.
    pub fn try_current<R>(
        &mut self,
        structure: &Structure,
        row: &[u8],
        mut look: impl FnMut(&[u8]) -> R,
    ) -> Result<Option<(RowHeader, R)>, Stop> {
        let found = structure.get(row, |header, rest| (header, look(rest)))?;
        let Some((header, looked)) = found else {
            return Ok(None);
        };
        self.wait_for_writer(header)?;
        self.refuse_undone(header)?;
        self.refuse_newer(header)?;
        Ok((!header.is_ghost()).then_some((header, looked)))
    }

    /// Replaces a row's body (or revives a ghost) if its header is still `expected`, as [`Transaction::try_current`] gave it.
    ///
    /// # Errors
    /// Needs; the log or the disk being full.
    pub fn try_replace(
        &mut self,
        structure: &Structure,
        cursor: &mut TreeCursor,
        row: &[u8],
        expected: RowHeader,
        rest: &[u8],
        single: bool,
    ) -> Result<bool, Stop> {
        let _nested = self.kinship.enter()?;
        let single = self.can_be_single(single);
        let context = self.context(single);
        let id = TransactionId(context.xid);
        let new = RowHeader::new(older_flag(expected, id), id.0);
        let Self { home, undo, name, cell, .. } = self;
        row_name(structure.object(), row, name);
        let keep = |old_header: RowHeader, old_rest: &[u8]| {
            if old_header.xid() != id.0 {
                home.versions.push(name, id, old_header, old_rest, &|id| home.is_over(id));
            }
            if !single {
                let entry = UndoEntry { kind: UndoKind::Replace, name: row, old_header, old_rest };
                undo.push(structure, &entry);
            }
        };
        let locks = (expected.xid() != id.0).then_some(&*home.keys);
        let (owner, object, mode) = (cell.owner, structure.object(), mode_of_change(expected));
        let guarded = Guarded { locks, owner, object, row, mode, keep };
        let outcome = structure.replace(cursor, &context, row, expected, new, rest, guarded);
        self.finish_change(structure, row, mode, single, outcome)
    }

    /// Makes a row a ghost if its header is still `expected`.
    ///
    /// # Errors
    /// Needs; the log being full.
    pub fn try_delete(
        &mut self,
        structure: &Structure,
        cursor: &mut TreeCursor,
        row: &[u8],
        expected: RowHeader,
        single: bool,
    ) -> Result<bool, Stop> {
        self.make_ghost(structure, cursor, row, expected, single, true)
    }

    /// Makes a part of a value a ghost. No older version is kept: whoever sees a row that leads to the part reads it, ghost or not.
    ///
    /// # Errors
    /// As of [`Transaction::try_delete`].
    pub fn try_delete_part(&mut self, structure: &Structure, part: &[u8], expected: RowHeader) -> Result<bool, Stop> {
        self.make_ghost(structure, &mut TreeCursor::default(), part, expected, false, false)
    }

    fn make_ghost(
        &mut self,
        structure: &Structure,
        cursor: &mut TreeCursor,
        row: &[u8],
        expected: RowHeader,
        single: bool,
        versioned: bool,
    ) -> Result<bool, Stop> {
        let _nested = self.kinship.enter()?;
        let single = self.can_be_single(single);
        let context = self.context(single);
        let id = TransactionId(context.xid);
        let new = ghost_header(expected, id);
        let Self { home, undo, name, cell, .. } = self;
        row_name(structure.object(), row, name);
        let keep = |old_header: RowHeader, old_rest: &[u8]| {
            if versioned && old_header.xid() != id.0 {
                home.versions.push(name, id, old_header, old_rest, &|id| home.is_over(id));
            }
            if !single {
                let entry = UndoEntry { kind: UndoKind::SetHeader, name: row, old_header, old_rest: &[] };
                undo.push(structure, &entry);
                undo.ghosts += 1;
            }
        };
        let locks = (versioned && expected.xid() != id.0).then_some(&*home.keys);
        let (owner, object, mode) = (cell.owner, structure.object(), mode_of_change(expected));
        let guarded = Guarded { locks, owner, object, row, mode, keep };
        let outcome = structure.set_header(cursor, &context, row, expected, new, guarded);
        let done = self.finish_change(structure, row, mode, single, outcome)?;
        if done && single {
            self.home.add_ghost(crate::transactions::Ghost {
                structure: structure.clone(),
                name: row.into(),
                header: new,
            });
        }
        Ok(done)
    }

    fn finish_change(
        &mut self,
        structure: &Structure,
        row: &[u8],
        mode: LockMode,
        single: bool,
        outcome: Result<ChangeOutcome, pikepole_storage::Stop>,
    ) -> Result<bool, Stop> {
        let placed = match &outcome {
            Ok(ChangeOutcome::Done(range)) => Some(*range),
            _ => None,
        };
        self.placed(single, placed);
        match outcome? {
            ChangeOutcome::Refused => Err(wait_for_keys(structure, row, mode)),
            _ => Ok(placed.is_some()),
        }
    }
}

/// Others have locked the row or the key.
#[cold]
fn wait_for_keys(structure: &Structure, key: &[u8], mode: LockMode) -> Stop {
    let lock = KeyLock { object: structure.object(), keys: LockedKeys::One(key.into()), mode };
    Stop::Need(Need::Keys(Box::new(lock)))
}
