//! The one table of the engine's log records.
//!
//! A row change names its page and slot, for redo, and its key and old image, for undo: redo is by page and tests the
//! page's lsn; undo is logical, because a row can have moved to another page since. The object of a change is the
//! owner of the page's extent ([`Store::object_of`](crate::Store::object_of)): it cannot change while a transaction
//! that touched the object is open, since extents are only freed after the commit of a drop. The image may be a part of the
//! row where its header tells whether the change stands ([`Record::ReplacePart`]).
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
    Byte, Bytes, FieldKind, FieldReader, FieldValue, FieldWriter, RecordError, Rest, Varint, Varint32, put_varint,
    varint_len,
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
        Ok(RowHeader::new((folded & 15) as u8, known_xid(folded >> 4)?))
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

/// The id of a transaction: a varint of at most 56 bits, as a row header holds.
#[derive(Debug)]
pub struct Xid;

impl FieldKind for Xid {
    type Value<'a> = u64;

    fn encoded_len(value: u64) -> usize {
        varint_len(value)
    }

    fn encode(value: u64, out: &mut FieldWriter<'_>) {
        out.put_varint(value);
    }

    fn decode<'a>(from: &mut FieldReader<'a>) -> Result<u64, RecordError> {
        known_xid(from.varint()?)
    }

    fn show(value: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{value}")
    }

    fn value<'a>(value: Self::Value<'a>) -> FieldValue<'a> {
        FieldValue::Unsigned(value)
    }
}

fn known_xid(xid: u64) -> Result<u64, RecordError> {
    if xid <= RowHeader::XID_MAX { Ok(xid) } else { Err(RecordError::Number) }
}

record_table! {
    /// A log record of the engine.
    pub enum Record<'a> {
        /// A new row of a tree or heap, written by `xid`.
        1 = Insert {
            /// Flags of the transaction (low half) and of the row (high half).
            flags: Byte,
            /// The transaction.
            xid: Xid,
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
            xid: Xid,
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
            xid: Xid,
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
            xid: Xid,
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
            xid: Xid,
            /// When, in microseconds since 1970.
            time_us: Varint,
        },
        /// A transaction was rolled back completely.
        8 = Abort {
            /// The transaction.
            xid: Xid,
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
            xid: Xid,
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
        /// A page of a heap or tree that was not in use is in use, with rows that are not in the log: the transaction goes on, or commits, after they are on disk and the redo start is above.
        11 = UsePage {
            /// Flags of the transaction.
            flags: Byte,
            /// The transaction.
            xid: Xid,
            /// The page.
            page: Varint32,
            /// The heap or tree.
            object: Varint32,
        },
        /// The undo of the two above, or, of transaction 0, the end of a page that loses its last row: the page is not in use any more. Its extent stays the heap's.
        12 = FreePage {
            /// Flags of the transaction.
            flags: Byte,
            /// The transaction.
            xid: Xid,
            /// The page.
            page: Varint32,
        },
        /// Pages of a tree that was filled without logging: so a log backup knows that it must take them. They change no page, and are neither redone nor undone.
        13 = BulkPages {
            /// The first page of their extent.
            page: Varint32,
            /// Which pages of the extent, a bit each.
            used: Byte,
            /// The tree.
            object: Varint32,
        },
        /// A row of a tree gets a new header, and a part of its columns is replaced: [`Record::Replace`] without what stays as it is.
        14 = ReplacePart {
            /// Flags of the transaction.
            flags: Byte,
            /// The transaction.
            xid: Xid,
            /// The page.
            page: Varint32,
            /// The row's slot.
            slot: Varint32,
            /// The key.
            key: Bytes,
            /// The header before.
            old_header: Header,
            /// The header after.
            new_header: Header,
            /// The offset of the part in the columns.
            at: Varint32,
            /// The part before.
            old_part: Bytes,
            /// The part after.
            part: Rest,
        },
        /// Changes of rows in memory, which redo leaves alone: they count when the transaction has committed, and there is no undo. A
        /// transaction of many has several such records, and the last one commits it.
        15 = InMemory {
            /// Flags of the transaction; FIRST: what the transaction has logged of rows in memory before does not count.
            flags: Byte,
            /// The transaction; 0 where the record is all of it.
            xid: Xid,
            /// The time of the commit in the order of transactions in memory; 0 in records before the last.
            time: Varint,
            /// The changes, one after the other, cut anywhere.
            changes: Rest,
        },
    }
}

/// Bytes that two versions of a row's columns have in common at their ends, for [`Record::ReplacePart`] to be worth it.
const COMMON_BYTES_MIN: usize = 32;

/// The bytes that differ between two versions of a row's columns: where they begin in both, and where they end in each. None: nearly all
/// of them may.
fn changed_part(old: &[u8], new: &[u8]) -> Option<(usize, usize, usize)> {
    let shorter = old.len().min(new.len());
    if shorter < COMMON_BYTES_MIN {
        return None;
    }
    let same = |pairs: &mut dyn Iterator<Item = (&[u8], &[u8])>| pairs.take_while(|(old, new)| old == new).count();
    let words = same(&mut old.chunks_exact(8).zip(new.chunks_exact(8))) * 8;
    let first = words + same(&mut old[words..].chunks(1).zip(new[words..].chunks(1)));
    let (old_tail, new_tail) = (&old[first..], &new[first..]);
    let words = same(&mut old_tail.rchunks_exact(8).zip(new_tail.rchunks_exact(8))) * 8;
    let (old_tail, new_tail) = (&old_tail[..old_tail.len() - words], &new_tail[..new_tail.len() - words]);
    let last = words + same(&mut old_tail.rchunks(1).zip(new_tail.rchunks(1)));
    (first + last >= COMMON_BYTES_MIN).then_some((first, old.len() - last, new.len() - last))
}

/// A row's columns after `bytes` of them from `at` on were replaced by `part`; None: there are not so many.
pub fn splice(rest: &[u8], at: usize, bytes: usize, part: &[u8]) -> Option<Vec<u8>> {
    Some([rest.get(..at)?, part, rest.get(at.checked_add(bytes)?..)?].concat())
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
    /// The other columns before the change, when it changed them and has them whole.
    pub old_rest: Option<&'a [u8]>,
    /// The part of them that it changed, when it has only that.
    pub old_part: Option<OldPart<'a>>,
}

/// A part of a row's columns before a change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OldPart<'a> {
    /// Its offset.
    pub at: usize,
    /// Its bytes before.
    pub bytes: &'a [u8],
    /// Bytes that it has become.
    pub new_bytes: usize,
}

/// What the first fields of a row record say, for those who pass most records on or over: a tenth of the cost of
/// reading all of it. The rest of the record may be anything.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RowHead {
    /// [`LogContext`] flags, and those of an inserted row in the high half.
    pub flags: u8,
    /// The transaction.
    pub xid: u64,
    /// The page.
    pub page: PageId,
}

impl RowHead {
    /// The head of a record, if it is a row record.
    #[inline]
    pub fn peek(record: &[u8]) -> Option<RowHead> {
        // The row records are these kinds of the table, and begin with the same three fields.
        let &[1..=4 | 14, flags, ref fields @ ..] = record else { return None };
        let mut fields = FieldReader::new(fields);
        let xid = fields.varint().ok()?;
        let page = u32::try_from(fields.varint().ok()?).ok()?;
        Some(RowHead { flags, xid, page: PageId(page) })
    }
}

impl<'a> Record<'a> {
    /// The transaction that the record is of; none for changes that belong to none. 0 is the system.
    pub fn xid(&self) -> Option<u64> {
        match *self {
            Record::Insert { xid, .. }
            | Record::Replace { xid, .. }
            | Record::ReplacePart { xid, .. }
            | Record::SetHeader { xid, .. }
            | Record::Remove { xid, .. }
            | Record::InsertPage { xid, .. }
            | Record::UsePage { xid, .. }
            | Record::FreePage { xid, .. }
            | Record::Commit { xid, .. }
            | Record::InMemory { xid, .. }
            | Record::Abort { xid } => Some(xid),
            Record::Structure { .. }
            | Record::FreeExtents { .. }
            | Record::Checkpoint { .. }
            | Record::BulkPages { .. } => None,
        }
    }

    /// The one page that the record changes, if it is one; its map page does not count. Of [`Record::BulkPages`] the first one of the extent.
    pub fn page(&self) -> Option<PageId> {
        match *self {
            Record::Insert { page, .. }
            | Record::Replace { page, .. }
            | Record::ReplacePart { page, .. }
            | Record::SetHeader { page, .. }
            | Record::Remove { page, .. }
            | Record::InsertPage { page, .. }
            | Record::UsePage { page, .. }
            | Record::FreePage { page, .. }
            | Record::FreeExtents { page, .. }
            | Record::BulkPages { page, .. } => Some(PageId(page)),
            Record::Structure { .. }
            | Record::Commit { .. }
            | Record::Abort { .. }
            | Record::Checkpoint { .. }
            | Record::InMemory { .. } => None,
        }
    }

    /// When it was written, in microseconds since 1970, if it says so.
    pub fn time_us(&self) -> Option<u64> {
        match *self {
            Record::Commit { time_us, .. } | Record::Checkpoint { time_us } => Some(time_us),
            _ => None,
        }
    }

    /// Whether its transaction ends with it.
    pub fn ends_transaction(&self) -> bool {
        match *self {
            Record::Commit { .. } | Record::Abort { .. } => true,
            Record::InMemory { flags, .. } => flags & LogContext::COMMIT != 0,
            _ => self.row_change().is_some_and(|change| change.flags & LogContext::COMMIT != 0),
        }
    }

    /// A replacement without the columns that stay as they are, where they are many.
    pub(crate) fn of_part(self) -> Record<'a> {
        let Record::Replace { flags, xid, page, slot, key, old_header, new_header, old_rest, rest } = self else {
            return self;
        };
        let Some((at, old_end, end)) = changed_part(old_rest, rest) else { return self };
        let (at, old_part, part) = (at as u32, &old_rest[at..old_end], &rest[at..end]);
        Record::ReplacePart { flags, xid, page, slot, key, old_header, new_header, at, old_part, part }
    }

    /// The record as a row change, if it is one.
    pub fn row_change(&self) -> Option<RowChange<'a>> {
        use RowChangeKind as Kind;
        let mut old_of_part = None;
        let (kind, flags, xid, page, slot, key, new_header, old_header, old_rest) = match *self {
            Record::Insert { flags, xid, page, slot, key, .. } => {
                let header = RowHeader::new(flags >> 4, xid);
                (Kind::Insert, flags, xid, page, slot, key, Some(header), None, None)
            }
            Record::Replace { flags, xid, page, slot, key, old_header, new_header, old_rest, .. } => {
                (Kind::Replace, flags, xid, page, slot, key, Some(new_header), Some(old_header), Some(old_rest))
            }
            Record::ReplacePart { flags, xid, page, slot, key, old_header, new_header, at, old_part, part } => {
                old_of_part = Some(OldPart { at: at as usize, bytes: old_part, new_bytes: part.len() });
                (Kind::Replace, flags, xid, page, slot, key, Some(new_header), Some(old_header), None)
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
        Some(RowChange {
            kind,
            flags: flags & 15,
            xid,
            page,
            slot,
            key,
            new_header,
            old_header,
            old_rest,
            old_part: old_of_part,
        })
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

    pub fn bytes(&self) -> &[u8] {
        &self.0
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
        self.put_bytes(high);
        self.number(next.unwrap_or_default().0 as u64);
    }

    pub fn add_child(&mut self, page: PageId, child: PageId, separator: &[u8]) {
        self.number(page.0 as u64);
        self.0.push(3);
        self.number(child.0 as u64);
        self.put_bytes(separator);
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

    fn put_bytes(&mut self, bytes: &[u8]) {
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

    /// What is not read yet: the bytes of the next change come first.
    pub fn rest(&self) -> &'a [u8] {
        let mut rest = self.0;
        rest.take_rest()
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
    fn a_peek_sees_what_reading_sees() {
        let (xid, page, slot, key, rest) = (RowHeader::XID_MAX, u32::MAX, 3, &b"key"[..], &b"rest"[..]);
        let header = RowHeader::new(1, 7);
        let records = [
            Record::Insert { flags: 0x1f, xid, page, slot, key, rest },
            Record::Replace {
                flags: 2,
                xid: 0,
                page: 0,
                slot,
                key,
                old_header: header,
                new_header: header,
                old_rest: rest,
                rest,
            },
            Record::SetHeader { flags: 4, xid, page: 300, slot, old_header: header, new_header: header, key },
            Record::Remove { flags: 0, xid: 300, page, slot, key },
            Record::Structure { changes: &[1, 2, 3, 4] },
            Record::FreeExtents { page, object: 20 },
            Record::Commit { xid, time_us: 1 },
            Record::Abort { xid },
            Record::Checkpoint { time_us: 1 },
            Record::InsertPage { flags: 1, xid, page, object: 20, rows: 1, row_bytes: 4, body: rest },
            Record::UsePage { flags: 0, xid, page, object: 20 },
            Record::FreePage { flags: 4, xid, page },
            Record::BulkPages { page, used: 0x81, object: 20 },
            Record::ReplacePart {
                flags: 2,
                xid,
                page,
                slot,
                key,
                old_header: header,
                new_header: header,
                at: 9,
                old_part: rest,
                part: key,
            },
            Record::InMemory { flags: 2, xid, time: 9, changes: rest },
        ];
        assert_eq!(records.len(), Record::TABLE.len(), "every kind of record");
        for record in records {
            let mut bytes = vec![0; record.encoded_len()];
            record.encode(&mut bytes);
            let seen = RowHead::peek(&bytes).map(|head| (head.flags & 15, head.xid, head.page));
            let read = record.row_change().map(|change| (change.flags, change.xid, change.page));
            assert_eq!(seen, read, "{record:?}");
            for cut in 0..bytes.len() {
                let _ = RowHead::peek(&bytes[..cut]);
            }
        }
    }

    #[test]
    fn the_part_that_differs_makes_one_version_of_the_other() {
        let long: Vec<u8> = (0..100).collect();
        let with = |at: usize, bytes: usize, part: &[u8]| splice(&long, at, bytes, part).expect("it is long enough");
        for (at, bytes, part) in
            [(50, 3, &b"xyz"[..]), (50, 0, b"longer"), (10, 60, b""), (0, 1, b"x"), (99, 1, b"xyz"), (40, 8, b"")]
        {
            let new = with(at, bytes, part);
            for (old, new) in [(&long, &new), (&new, &long)] {
                let (first, old_end, new_end) = changed_part(old, new).expect("much is the same");
                assert_eq!(splice(old, first, old_end - first, &new[first..new_end]), Some(new.clone()));
                assert!(
                    old_end - first <= bytes.max(part.len()) && new_end - first <= bytes.max(part.len()),
                    "no more than differs"
                );
            }
        }
        // Repeated bytes: beginning and end do not overlap.
        let (first, old_end, new_end) = changed_part(&[7; 90], &[7; 50]).expect("much is the same");
        assert_eq!(splice(&[7; 90], first, old_end - first, &[7; 50][first..new_end]), Some(vec![7; 50]));
        assert_eq!(changed_part(&long, &[1; 100]), None);
        assert_eq!(changed_part(&long[..31], &long[..31]), None);
        assert_eq!(
            (splice(&long, 101, 0, b""), splice(&long, 50, 51, b""), splice(&long, 1, usize::MAX, b"")),
            (None, None, None)
        );
    }

    #[test]
    fn lists_of_changes_are_read_back() {
        let mut bytes = [0; PAGE_BYTES];
        let mut page = PageMut::new(&mut bytes);
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
