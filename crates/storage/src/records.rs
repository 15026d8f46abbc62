//! The one table of the engine's log records.
//!
//! A row change names its page and slot, for redo, and its key and old image, for undo: redo is by page and tests the
//! page's lsn; undo is logical, because a row can have moved to another page since. The object of a change is the
//! owner of the page's extent ([`Store::object_of`](crate::Store::object_of)): it cannot change while a transaction
//! that touched the object is open, since extents are only freed after the commit of a drop.
//!
//! ```text
//!  flags of a row record:  | row flags 4 (GHOST, HAS_OLDER_VERSION, ...) | 0 | CLR | COMMIT | FIRST |
//!  an insert of the first experiment's row (key 8 bytes, rest some 26):
//!  [length 1][kind 1][flags 1][xid 3-4][page 2-3][slot 1-2][key length 1][key 8][rest 26]  = 45-50 bytes
//! ```
//!
//! A change of structure (a split, a new page) is one record for all the pages that it touches, so that it is redone
//! whole or not at all, and it is never undone. Its changes are a list:
//!
//! | op | bytes | on its page |
//! |---|---|---|
//! | 1 image | length varint, bytes | the page becomes this image: such a page needs no torn-write protection |
//! | 2 truncate | slots kept varint, high fence (length varint, bytes), next page varint | the left half of a split |
//! | 3 add child | child varint, separator (length varint, bytes) | an inner page gets a child |
//! | 4 use page | page varint, owner varint | a map page: the page's extent belongs to the owner, the page is in use |
//!
//! each behind the varint number of the page that it changes.

use std::fmt;

use pikepole_log::field::{
    Byte, Bytes, FieldKind, FieldReader, FieldWriter, RecordError, Rest, Varint, Varint32, put_varint, varint_len,
};
use pikepole_log::record_table;

use crate::error::PageId;
use crate::page::Page;
use crate::row::{LogContext, RowHeader};

/// A row header in a record: a varint of `xid << 4 | flags`.
#[derive(Debug)]
pub struct Header;

impl FieldKind for Header {
    type Value<'a> = RowHeader;

    fn encoded_len(value: RowHeader) -> usize {
        varint_len(Self::fold(value))
    }

    fn encode(value: RowHeader, out: &mut FieldWriter<'_>) {
        out.put_varint(Self::fold(value));
    }

    fn decode<'a>(from: &mut FieldReader<'a>) -> Result<RowHeader, RecordError> {
        let folded = from.varint()?;
        Ok(RowHeader::new((folded & 15) as u8, folded >> 4))
    }

    fn show(value: RowHeader, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", value)
    }
}

impl Header {
    fn fold(value: RowHeader) -> u64 {
        value.xid() << 4 | (value.flags() & 15) as u64
    }
}

record_table! {
    /// A log record of the engine.
    pub enum Record<'a> {
        /// A new row of a tree or heap, written by `xid`.
        1 = Insert {
            /// Flags of the transaction (low half) and of the row (high half).
            flags: Byte,
            /// The transaction.
            xid: Varint,
            /// The page.
            page: Varint32,
            /// The slot that the row gets.
            slot: Varint32,
            /// The key; empty in a heap.
            key: Bytes,
            /// The other columns.
            rest: Rest,
        },
        /// A row gets a new header and new columns.
        2 = Replace {
            /// Flags of the transaction.
            flags: Byte,
            /// The transaction.
            xid: Varint,
            /// The page.
            page: Varint32,
            /// The row's slot.
            slot: Varint32,
            /// The key; empty in a heap.
            key: Bytes,
            /// The header before.
            old_header: Header,
            /// The header after.
            new_header: Header,
            /// The columns before.
            old_rest: Bytes,
            /// The columns after.
            rest: Rest,
        },
        /// A row gets a new header: it becomes a ghost, or is one no longer.
        3 = SetHeader {
            /// Flags of the transaction.
            flags: Byte,
            /// The transaction.
            xid: Varint,
            /// The page.
            page: Varint32,
            /// The row's slot.
            slot: Varint32,
            /// The header before.
            old_header: Header,
            /// The header after.
            new_header: Header,
            /// The key; empty in a heap.
            key: Rest,
        },
        /// A row is taken from its page: the undo of an insert, or the removal of a ghost that nobody needs.
        4 = Remove {
            /// Flags of the transaction.
            flags: Byte,
            /// The transaction.
            xid: Varint,
            /// The page.
            page: Varint32,
            /// The row's slot.
            slot: Varint32,
            /// The key; empty in a heap.
            key: Rest,
        },
        /// Pages change their structure, all at once: see the module's table of ops.
        5 = Structure {
            /// The changes.
            changes: Rest,
        },
        /// All extents of `object` in one map page are free again. After the commit of the drop; repeatable.
        6 = FreeExtents {
            /// The map page.
            page: Varint32,
            /// The object that is gone.
            object: Varint32,
        },
        /// A transaction committed. Its end is the commit time.
        7 = Commit {
            /// The transaction.
            xid: Varint,
            /// When, in microseconds since 1970.
            time_us: Varint,
        },
        /// A transaction was rolled back completely.
        8 = Abort {
            /// The transaction.
            xid: Varint,
        },
        /// A checkpoint began: pages changed before this record are on disk once the master names it.
        9 = Checkpoint {
            /// When, in microseconds since 1970.
            time_us: Varint,
        },
        /// A page of a heap that was not in use gets these rows and is in use: on the page, and in its map page.
        10 = InsertPage {
            /// Flags of the transaction.
            flags: Byte,
            /// The transaction.
            xid: Varint,
            /// The page.
            page: Varint32,
            /// The heap.
            object: Varint32,
            /// How many rows; they get the slots from 0 on.
            rows: Varint32,
            /// The length of each row's columns; 0: they differ, and a varint in front of each row says it.
            row_bytes: Varint32,
            /// The columns of one row after the other.
            body: Rest,
        },
        /// The same, with rows that are not in the log: the commit comes after they are on disk and the redo start is above.
        11 = UsePage {
            /// Flags of the transaction.
            flags: Byte,
            /// The transaction.
            xid: Varint,
            /// The page.
            page: Varint32,
            /// The heap.
            object: Varint32,
        },
        /// The undo of the two above: the page is not in use any more. Its extent stays the heap's.
        12 = FreePage {
            /// Flags of the transaction.
            flags: Byte,
            /// The transaction.
            xid: Varint,
            /// The page.
            page: Varint32,
        },
    }
}

/// What a row record did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RowChangeKind {
    /// Undone by removing the row.
    Insert,
    /// Undone by replacing the row by its old header and columns.
    Replace,
    /// Undone by setting the old header.
    SetHeader,
    /// Only ever an undo itself, or a cleanup: not undone.
    Remove,
}

/// A row record as analysis and undo want it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RowChange<'a> {
    /// What was done.
    pub kind: RowChangeKind,
    /// [`LogContext`] flags.
    pub flags: u8,
    /// The transaction; 0: none, such a change is never undone.
    pub xid: u64,
    /// The page at the time: its extent's owner is the object; with `slot`, the rid in a heap.
    pub page: PageId,
    /// The slot at the time.
    pub slot: u16,
    /// The key; empty in a heap.
    pub key: &'a [u8],
    /// The header after the change; none after a removal.
    pub new_header: Option<RowHeader>,
    /// The header before the change, when the row was there.
    pub old_header: Option<RowHeader>,
    /// The other columns before the change, when it changed them.
    pub old_rest: Option<&'a [u8]>,
}

impl<'a> Record<'a> {
    /// The record as a row change, if it is one.
    pub fn row_change(&self) -> Option<RowChange<'a>> {
        use RowChangeKind as Kind;
        let (kind, flags, xid, page, slot, key, new_header, old_header, old_rest) = match *self {
            Record::Insert { flags, xid, page, slot, key, .. } => {
                let header = RowHeader::new(flags >> 4, xid);
                (Kind::Insert, flags, xid, page, slot, key, Some(header), None, None)
            }
            Record::Replace { flags, xid, page, slot, key, old_header, new_header, old_rest, .. } => {
                (Kind::Replace, flags, xid, page, slot, key, Some(new_header), Some(old_header), Some(old_rest))
            }
            Record::SetHeader { flags, xid, page, slot, old_header, new_header, key } => {
                (Kind::SetHeader, flags, xid, page, slot, key, Some(new_header), Some(old_header), None)
            }
            Record::Remove { flags, xid, page, slot, key } => {
                (Kind::Remove, flags, xid, page, slot, key, None, None, None)
            }
            _ => return None,
        };
        let (page, slot) = (PageId(page), slot as u16);
        let (new_header, old_header) = (new_header.map(RowHeader::public), old_header.map(RowHeader::public));
        Some(RowChange { kind, flags: flags & 15, xid, page, slot, key, new_header, old_header, old_rest })
    }
}

/// The flags byte of an insert.
pub(crate) fn insert_flags(context: &LogContext, row_flags: u8) -> u8 {
    debug_assert!(context.flags < 16 && row_flags < 16);
    context.flags | row_flags << 4
}

/// One change of a structure record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PageChange<'a> {
    Image(&'a [u8]),
    Truncate { keep: usize, high: &'a [u8], next: Option<PageId> },
    AddChild { child: PageId, separator: &'a [u8] },
    UsePage { page: PageId, owner: u32 },
}

/// Builds the list of a structure record.
#[derive(Default)]
pub(crate) struct ChangeList(Vec<u8>);

impl ChangeList {
    pub fn new() -> ChangeList {
        ChangeList(Vec::with_capacity(256))
    }

    pub fn record(&self) -> Record<'_> {
        Record::Structure { changes: &self.0 }
    }

    pub fn image(&mut self, page: Page<'_>) {
        let (head, tail) = page.image();
        self.number(page.id().0 as u64);
        self.0.push(1);
        self.number((head.len() + tail.len()) as u64);
        self.0.extend_from_slice(head);
        self.0.extend_from_slice(tail);
    }

    pub fn truncate(&mut self, page: PageId, keep: usize, high: &[u8], next: Option<PageId>) {
        self.number(page.0 as u64);
        self.0.push(2);
        self.number(keep as u64);
        self.bytes(high);
        self.number(next.unwrap_or_default().0 as u64);
    }

    pub fn add_child(&mut self, page: PageId, child: PageId, separator: &[u8]) {
        self.number(page.0 as u64);
        self.0.push(3);
        self.number(child.0 as u64);
        self.bytes(separator);
    }

    pub fn use_page(&mut self, map: PageId, page: PageId, owner: u32) {
        self.number(map.0 as u64);
        self.0.push(4);
        self.number(page.0 as u64);
        self.number(owner as u64);
    }

    fn number(&mut self, value: u64) {
        let mut bytes = [0; 10];
        let len = put_varint(&mut bytes, value);
        self.0.extend_from_slice(&bytes[..len]);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }
}

/// Reads the list of a structure record.
pub(crate) struct Changes<'a>(FieldReader<'a>);

impl<'a> Changes<'a> {
    pub fn new(changes: &'a [u8]) -> Changes<'a> {
        Changes(FieldReader::new(changes))
    }

    fn read(&mut self) -> Result<(PageId, PageChange<'a>), RecordError> {
        let from = &mut self.0;
        let page = PageId(Varint32::decode(from)?);
        let change = match Byte::decode(from)? {
            1 => PageChange::Image(Bytes::decode(from)?),
            2 => PageChange::Truncate {
                keep: Varint32::decode(from)? as usize,
                high: Bytes::decode(from)?,
                next: Some(PageId(Varint32::decode(from)?)).filter(|next| next.0 != 0),
            },
            3 => PageChange::AddChild { child: PageId(Varint32::decode(from)?), separator: Bytes::decode(from)? },
            4 => PageChange::UsePage { page: PageId(Varint32::decode(from)?), owner: Varint32::decode(from)? },
            op => return Err(RecordError::Kind(op)),
        };
        Ok((page, change))
    }
}

impl<'a> Iterator for Changes<'a> {
    type Item = Result<(PageId, PageChange<'a>), RecordError>;

    fn next(&mut self) -> Option<Self::Item> {
        (self.0.left() > 0).then(|| self.read())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::{PAGE_BYTES, PageKind, PageMut};
    use pikepole_log::LogRecord;

    #[test]
    fn an_insert_of_the_first_experiment_is_small() {
        let record = Record::Insert {
            flags: LogContext::FIRST | LogContext::COMMIT,
            xid: 20_000_000,
            page: 1_000_000,
            slot: 150,
            key: &[7; 8],
            rest: &[1; 27],
        };
        // One byte of length goes in front of it.
        assert!(record.encoded_len() < 60, "{} bytes", record.encoded_len());
        let mut bytes = vec![0; record.encoded_len()];
        record.encode(&mut bytes);
        assert_eq!(Record::decode(&bytes), Ok(record));
        let change = record.row_change().expect("a row change");
        assert_eq!((change.flags, change.slot), (3, 150));
    }

    #[test]
    fn lists_of_changes_are_read_back() {
        let mut bytes = [0; PAGE_BYTES];
        let mut page = PageMut(&mut bytes);
        page.format(PageId(9), 20, PageKind::Leaf, 0);
        let mut list = ChangeList::new();
        list.image(page.as_page());
        list.truncate(PageId(3), 4, b"high", Some(PageId(9)));
        list.add_child(PageId(2), PageId(9), b"high");
        list.use_page(PageId(0), PageId(9), 20);
        let Record::Structure { changes } = list.record() else { panic!("a structure record") };
        let read: Vec<_> = Changes::new(changes).map(|change| change.expect("a change")).collect();
        assert_eq!(read.len(), 4);
        assert_eq!(read[1].1, PageChange::Truncate { keep: 4, high: b"high", next: Some(PageId(9)) });
        assert_eq!(read[3], (PageId(0), PageChange::UsePage { page: PageId(9), owner: 20 }));
        for cut in 1..changes.len() {
            // A list cut short is an error or a shorter list, never a panic.
            let _ = Changes::new(&changes[..cut]).collect::<Vec<_>>();
        }
    }
}
