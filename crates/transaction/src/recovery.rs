//! Recovery: finding the transactions that did not end, and undoing them.
//!
//! ```text
//!   log   redo start ............................................. end
//!           [T1 a][T2 single][T1 b][T3 c][T1 commit][T3 undo of c]
//!   one pass: the store redoes every record; the analysis keeps T3's c (T1 is let go at its commit)
//!   then: losers are undone by the code that rollback uses, and get their abort records
//! ```
//!
//! A crash during the undo does no harm: undoing again changes nothing where it was done already (see the module `undo`).
//!
//! The analysis keeps the old images of transactions that have not ended at that point of the log, in memory.

use std::collections::{HashMap, HashSet};

use pikepole_log::Lsn;
use pikepole_storage::records::{Record, RowChangeKind, RowHead, splice};
use pikepole_storage::{LogContext, PageId, Rid, RowHeader, StorageError, Store, TreeCursor};

use crate::error::{Need, Stop, TransactionError};
use crate::id::TransactionId;
use crate::structure::Structure;
use crate::undo::{UndoEntry, UndoKind, undo_one};

struct Change {
    kind: UndoKind,
    page: PageId,
    name: Box<[u8]>,
    old_header: RowHeader,
    /// The columns before, or the part of them that was changed.
    old_rest: Box<[u8]>,
    /// Of a part: where it begins, and the bytes that it has become.
    part: Option<(usize, usize)>,
    /// A page whose rows are not in the log.
    unlogged: bool,
}

impl Change {
    /// The columns before a change of a part of them, if the change of transaction `id` still stands.
    fn whole_before(
        &self,
        (at, bytes): (usize, usize),
        structure: &Structure,
        id: u64,
    ) -> Result<Option<Vec<u8>>, Stop> {
        let whole =
            |header: RowHeader, rest: &[u8]| (header.xid() == id).then(|| splice(rest, at, bytes, &self.old_rest));
        let Some(whole) = structure.get(&self.name, whole)?.flatten() else { return Ok(None) };
        let no_part = || StorageError::BadFile {
            file: "log".to_owned(),
            why: "a changed row lacks the part that was changed".to_owned(),
        };
        whole.map(Some).ok_or_else(|| Stop::from(TransactionError::from(no_part())))
    }
}

/// What the pass over the log finds out about transactions.
#[derive(Default)]
pub struct Analysis {
    open: HashMap<u64, Vec<Change>>,
    id_max: u64,
    records: u64,
}

impl Analysis {
    /// Takes the next record of the log, as its reader gives it.
    ///
    /// # Errors
    /// Bytes that are no record.
    pub fn record(&mut self, record: &[u8]) -> Result<(), StorageError> {
        self.records += 1;
        // Most records are whole transactions: only their ids matter.
        if let Some(head) = RowHead::peek(record)
            && head.flags & (LogContext::CLR | LogContext::COMMIT) != 0
        {
            self.id_max = self.id_max.max(head.xid);
            return Ok(());
        }
        let record = Record::decode(record)
            .map_err(|error| StorageError::BadFile { file: "log".to_owned(), why: error.to_string() })?;
        match record {
            Record::Commit { xid, .. } | Record::Abort { xid } => {
                self.id_max = self.id_max.max(xid);
                self.open.remove(&xid);
                return Ok(());
            }
            Record::InMemory { flags, xid, .. } => {
                self.id_max = self.id_max.max(xid);
                if flags & LogContext::COMMIT != 0 {
                    self.open.remove(&xid);
                }
                return Ok(());
            }
            Record::InsertPage { xid, page, .. } => return self.page(xid, PageId(page), false),
            Record::UsePage { xid, page, .. } => return self.page(xid, PageId(page), true),
            // The system's: a page whose only row nobody needed any more.
            Record::FreePage { xid, .. } if xid == TransactionId::SYSTEM.0 => return Ok(()),
            Record::FreePage { xid, page, .. } => {
                let changes = self.open.entry(xid).or_default();
                let undone = changes.iter().rposition(|c| c.kind == UndoKind::Page && c.page.0 == page);
                // It is the newest entry of the page that stands, and nearly always the newest at all.
                undone.map(|at| changes.remove(at));
                return Ok(());
            }
            _ => (),
        }
        let Some(change) = record.row_change() else {
            return Ok(());
        };
        self.id_max = self.id_max.max(change.xid);
        let of_transaction = change.xid != TransactionId::SYSTEM.0;
        if !of_transaction {
            return Ok(());
        }
        let kind = match change.kind {
            RowChangeKind::Insert => UndoKind::Insert,
            RowChangeKind::Replace => UndoKind::Replace,
            RowChangeKind::SetHeader => UndoKind::SetHeader,
            RowChangeKind::Remove => return Ok(()),
        };
        let name: Box<[u8]> = if change.key.is_empty() {
            let rid = Rid { page: change.page, slot: change.slot };
            rid.to_bytes().into()
        } else {
            change.key.into()
        };
        self.open.entry(change.xid).or_default().push(Change {
            kind,
            page: change.page,
            name,
            old_header: public(change.old_header.unwrap_or_default()),
            old_rest: change.old_part.map(|part| part.bytes).or(change.old_rest).unwrap_or_default().into(),
            part: change.old_part.map(|part| (part.at, part.new_bytes)),
            unlogged: false,
        });
        Ok(())
    }

    /// A page got all its rows.
    fn page(&mut self, xid: u64, page: PageId, unlogged: bool) -> Result<(), StorageError> {
        self.id_max = self.id_max.max(xid);
        if xid == TransactionId::SYSTEM.0 {
            return Ok(());
        }
        self.open.entry(xid).or_default().push(Change {
            kind: UndoKind::Page,
            page,
            name: Rid { page, slot: 0 }.to_bytes().into(),
            old_header: RowHeader::default(),
            old_rest: Box::default(),
            part: None,
            unlogged,
        });
        Ok(())
    }

    /// Records seen.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Transactions that have not ended.
    pub fn losers(&self) -> usize {
        self.open.len()
    }

    /// An id above every id that the log names, and at or above `next`, which the last checkpoint noted.
    pub fn next_id(&self, next: TransactionId) -> TransactionId {
        TransactionId(next.0.max(self.id_max + 1))
    }

    /// Undoes every transaction that has not ended. `structure_of` knows the structure of an object; objects it does not
    /// know were made by a transaction that did not commit, and go away as a whole.
    ///
    /// # Errors
    /// Whatever the store reports; needs are satisfied on the spot.
    pub fn undo(
        mut self,
        store: &Store,
        mut structure_of: impl FnMut(u32) -> Result<Option<Structure>, TransactionError>,
    ) -> Result<(), TransactionError> {
        let mut ids: Vec<u64> = self.open.keys().copied().collect();
        // Every row belongs to one open transaction at most, so the order among them does not matter; newest first is
        // the same each time.
        ids.sort_unstable_by(|a, b| b.cmp(a));
        let mut cursor = TreeCursor::default();
        for id in ids {
            let changes = self.open.remove(&id).unwrap_or_default();
            let unlogged: HashSet<PageId> = changes.iter().filter(|c| c.unlogged).map(|c| c.page).collect();
            for change in changes.iter().rev() {
                // Such a page goes out of use as a whole; what the disk has of it need not be a page.
                if change.kind != UndoKind::Page && unlogged.contains(&change.page) {
                    continue;
                }
                let Some(object) = store.object_of(change.page) else {
                    continue;
                };
                let Some(structure) = structure_of(object)? else {
                    continue;
                };
                let whole = match change.part {
                    None => None,
                    Some(part) => match now(store, || change.whole_before(part, &structure, id))? {
                        None => continue,
                        whole => whole,
                    },
                };
                let entry = UndoEntry {
                    kind: change.kind,
                    name: &change.name,
                    old_header: change.old_header,
                    old_rest: whole.as_deref().unwrap_or(&change.old_rest),
                };
                now(store, || {
                    undo_one(&structure, &mut cursor, TransactionId(id), Lsn::ZERO, &entry).map_err(Stop::from)
                })?;
            }
            now(store, || append_abort(store, id))?;
        }
        Ok(())
    }
}

/// A header as callers of a heap give it: where the row is, the heap knows itself.
fn public(header: RowHeader) -> RowHeader {
    let flags = RowHeader::GHOST | RowHeader::HAS_OLDER_VERSION;
    RowHeader::new(header.flags() & flags, header.xid())
}

fn append_abort(store: &Store, id: u64) -> Result<(), Stop> {
    let record = Record::Abort { xid: id };
    let appended = store.log().append_record_reserved_after(store.log().reserved(), &record);
    match appended {
        Ok(_) => Ok(()),
        Err(pikepole_log::Refused::Poisoned) => Err(TransactionError::Poisoned(pikepole_log::Poisoned).into()),
        Err(_) => Err(Need::Storage(pikepole_storage::Need::LogBuffer).into()),
    }
}

/// Runs an operation to its end, satisfying needs on the spot: for recovery and other work that nobody runs beside.
///
/// # Errors
/// What the operation or the store reports. An operation that waits for another transaction never ends here; recovery has
/// none.
pub fn now<T>(store: &Store, mut operation: impl FnMut() -> Result<T, Stop>) -> Result<T, TransactionError> {
    loop {
        match operation() {
            Ok(done) => return Ok(done),
            Err(Stop::Error(error)) => return Err(error),
            Err(Stop::Need(Need::Storage(need))) => store.satisfy_now(need)?,
            Err(Stop::Need(need)) => unreachable!("nobody else is there to wait for: {need:?}"),
        }
    }
}
