//! What a transaction must put back: its undo entries, in memory, and how one is undone.
//!
//! ```text
//!   [ structure 2 | kind 1 | key length 2 | key | old header 8 | old rest ... | entry length 4 ] [ next entry ] ...
//!                                                 (changes)      (replace)       read from here backwards
//! ```
//!
//! A page that got its rows by one record has one entry.
//!
//! # Undoing is idempotent
//! Pages are paired: the undo of a page leaves a record in the same step, and analysis takes the page off the list when it
//! meets it. Rows are not. Their entries are undone newest first, and one is undone only if its row still carries the transaction's own id. Recovery can
//! therefore undo everything the log names, whatever a rollback before the crash had undone already, without pairing records
//! of undo with records of change. Why that holds: when entry E is looked at, all later changes of the transaction to that
//! row are undone. If E was undone before the crash, the row either carries another's id (what E replaced was not ours, or
//! another has written since), and E is skipped; or is missing (E inserted it), and E is skipped; or carries our own id, and
//! then its content is what E replaced, and putting that back changes nothing.

use pikepole_log::Lsn;
use pikepole_storage::{ChangeOutcome, LogContext, RowHeader, Stop, TreeCursor};

use crate::id::TransactionId;
use crate::structure::Structure;

/// How a change is undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UndoKind {
    /// The row was inserted: remove it.
    Insert,
    /// The row was replaced: put the old header and body back.
    Replace,
    /// The header was set: put the old one back.
    SetHeader,
    /// A page got all its rows: take it out of use. The name is a rid of it.
    Page,
}

/// One change to undo.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UndoEntry<'a> {
    pub kind: UndoKind,
    /// Key or rid.
    pub name: &'a [u8],
    pub old_header: RowHeader,
    pub old_rest: &'a [u8],
}

/// Undoes one change of `id`, if it still stands; the record comes behind `after`, the transaction's last one.
pub(crate) fn undo_one(
    structure: &Structure,
    cursor: &mut TreeCursor,
    id: TransactionId,
    after: Lsn,
    entry: &UndoEntry<'_>,
) -> Result<(), Stop> {
    let context = LogContext::new(id.0).with(LogContext::CLR).after(after);
    if entry.kind == UndoKind::Page {
        return structure.free_page(&context, entry.name);
    }
    loop {
        let Some(header) = structure.get(entry.name, |header, _| header)? else {
            return Ok(());
        };
        if header.xid() != id.0 {
            return Ok(());
        }
        let keep = |_: RowHeader, _: &[u8]| ();
        let outcome = match entry.kind {
            UndoKind::Insert => structure.remove(cursor, &context, entry.name, header)?,
            UndoKind::Replace => {
                structure.replace(cursor, &context, entry.name, header, entry.old_header, entry.old_rest, keep)?
            }
            UndoKind::SetHeader => {
                structure.set_header(cursor, &context, entry.name, header, entry.old_header, keep)?
            }
            UndoKind::Page => unreachable!("it is undone above"),
        };
        match outcome {
            ChangeOutcome::Done(_) => return Ok(()),
            // Nobody else changes a row that carries our id, but the header may be ours in another state by now.
            ChangeOutcome::Changed(_) | ChangeOutcome::Missing | ChangeOutcome::Refused => continue,
        }
    }
}

const FIXED: usize = 2 + 1 + 2;

/// The undo entries of one transaction. Buffers are kept from transaction to transaction.
#[derive(Default)]
pub(crate) struct UndoLog {
    structures: Vec<Structure>,
    bytes: Vec<u8>,
    /// Entries that made a ghost.
    pub ghosts: usize,
}

/// Bytes that the buffers of an idle session may keep.
const KEEP_BYTES: usize = 1 << 20;
/// Bytes by which the log of a transaction grows at least, and at most.
const GROWTH_BYTES_MIN: usize = 256;
const GROWTH_BYTES_MAX: usize = 16 << 20;
/// Bytes of an entry beside its name and its old row.
const ENTRY_BYTES: usize = 17;

impl UndoLog {
    /// The position after the newest entry: a savepoint.
    pub fn position(&self) -> usize {
        self.bytes.len()
    }

    pub fn clear(&mut self) {
        self.structures.clear();
        self.bytes.clear();
        self.bytes.shrink_to(KEEP_BYTES);
        self.ghosts = 0;
    }

    fn structure_index(&mut self, structure: &Structure) -> u16 {
        let object = structure.object();
        let known = self.structures.iter().rposition(|s| s.object() == object);
        let index = known.unwrap_or_else(|| {
            self.structures.push(structure.clone());
            self.structures.len() - 1
        });
        u16::try_from(index).expect("a transaction changes fewer than 65536 structures")
    }

    /// Makes room for so many bytes: twice as much as before, up to a bound, since a long transaction's next half may never come.
    #[cold]
    fn grow(&mut self, bytes: usize) {
        self.bytes.reserve_exact(bytes.max(self.bytes.len().clamp(GROWTH_BYTES_MIN, GROWTH_BYTES_MAX)));
    }

    pub fn push(&mut self, structure: &Structure, entry: &UndoEntry<'_>) {
        let start = self.bytes.len();
        let bytes = ENTRY_BYTES + entry.name.len() + entry.old_rest.len();
        if self.bytes.capacity() - start < bytes {
            self.grow(bytes);
        }
        let index = self.structure_index(structure);
        self.bytes.extend_from_slice(&index.to_le_bytes());
        self.bytes.push(entry.kind as u8);
        self.bytes.extend_from_slice(&(entry.name.len() as u16).to_le_bytes());
        self.bytes.extend_from_slice(entry.name);
        if matches!(entry.kind, UndoKind::Replace | UndoKind::SetHeader) {
            self.bytes.extend_from_slice(&entry.old_header.0.to_le_bytes());
        }
        if entry.kind == UndoKind::Replace {
            self.bytes.extend_from_slice(entry.old_rest);
        }
        let len = (self.bytes.len() - start) as u32;
        self.bytes.extend_from_slice(&len.to_le_bytes());
    }

    /// The entry that ends at `end`, with its structure and its start.
    pub fn before(&self, end: usize) -> Option<(&Structure, UndoEntry<'_>, usize)> {
        let (rest, len) = self.bytes[..end].split_last_chunk::<4>()?;
        let start = rest.len() - u32::from_le_bytes(*len) as usize;
        let entry = &rest[start..];
        let structure = &self.structures[u16::from_le_bytes([entry[0], entry[1]]) as usize];
        let kind = match entry[2] {
            0 => UndoKind::Insert,
            1 => UndoKind::Replace,
            2 => UndoKind::SetHeader,
            _ => UndoKind::Page,
        };
        let name_len = u16::from_le_bytes([entry[3], entry[4]]) as usize;
        let (name, tail) = entry[FIXED..].split_at(name_len);
        let (old_header, old_rest) = match tail.split_first_chunk::<8>() {
            Some((header, rest)) => (RowHeader(u64::from_le_bytes(*header)), rest),
            None => (RowHeader::default(), tail),
        };
        let entry = UndoEntry { kind, name, old_header, old_rest };
        Some((structure, entry, start))
    }

    /// Takes over the entries of another log: they are newer than those that are here.
    pub fn append(&mut self, other: &UndoLog) {
        let indexes: Vec<u16> = other.structures.iter().map(|structure| self.structure_index(structure)).collect();
        let first = self.bytes.len();
        self.bytes.extend_from_slice(&other.bytes);
        let mut end = self.bytes.len();
        // From the newest on: an entry's length stands behind it.
        while end > first {
            let len = self.bytes[end - 4..end].try_into().expect("four bytes");
            let start = end - 4 - u32::from_le_bytes(len) as usize;
            let index = u16::from_le_bytes([self.bytes[start], self.bytes[start + 1]]);
            self.bytes[start..start + 2].copy_from_slice(&indexes[index as usize].to_le_bytes());
            end = start;
        }
        self.ghosts += other.ghosts;
    }

    /// Forgets the entries from `position` on.
    pub fn truncate(&mut self, position: usize) {
        self.bytes.truncate(position);
    }
}
