//! Values that a row has no room for: where they are, and reading them.
//!
//! ```text
//!   row whose page has room     | values                    | 0 |
//!   row that would be longer    | values, some left empty   | pointer ... | count u16 | 1 |
//!                                                               |
//!   heap of parts                                               +--> part 0 --> part 1 --> ... (the last one points nowhere)
//!
//!   pointer   | column u16 | rid of part 0, 6 | value id u64 | bytes u32 |
//!   part      | value id u64 | number u32 | rid of the next part, 6, or zeros | bytes |
//! ```
//! Only tables whose columns could outgrow a page have such rows, and a heap of parts for them; it takes no page before the first value.
//! The largest values of a row go first, until the rest of it fits.
//!
//! Parts are rows of the transaction that writes the row: logged, undone and recovered as rows. They are never changed. A value that
//! is replaced or deleted makes its parts ghosts; these stay as long as any snapshot may see a row that leads to them, so readers
//! follow pointers without asking who wrote a part.
//!
//! The id is the value's for ever: a place that was given to another value's part is recognised.

use pikepole_storage::{Heap, PageId, Rid, RowHeader, StorageError, Tree};
use pikepole_transaction::{RID_BYTES, Structure};
use pikepole_types::{RowError, RowLayout, SqlType, Value, content_bytes_max};

use crate::catalog::definition::TableRecord;

/// Bytes of a pointer.
pub(crate) const POINTER_BYTES: usize = 2 + RID_BYTES + 8 + 4;
/// Bytes of a part before those of the value.
const PART_HEADER_BYTES: usize = 8 + 4 + RID_BYTES;
/// Bytes of a value in each of its parts but the last.
pub(super) const PART_BYTES: usize = Heap::ROW_BYTES_MAX - PART_HEADER_BYTES;
/// The longest value, in bytes as rows have them.
pub(super) const VALUE_BYTES_MAX: usize = i32::MAX as usize;
/// Of a value's buffer so much is allocated before its bytes come.
const TRUSTED_BYTES: usize = 1 << 20;

/// Bytes of a `sql_variant` at most: its type, and a text of 4000 UTF-16 units. It is never elsewhere.
const VARIANT_BYTES_MAX: usize = 4000 * 3 + 6;

const MARK_POINTERS: u8 = 1;

/// Where a table keeps values that its rows have no room for, and which can be.
pub(crate) struct Overflow {
    /// The heap of parts.
    pub structure: Structure,
    room: Room,
}

/// How the columns of a table share a page.
struct Room {
    /// The columns whose values can be elsewhere: strings and binaries longer than a pointer.
    columns: Box<[usize]>,
    /// Bytes of everything else in a rest, at most.
    others_bytes_max: usize,
    /// Bytes of key and rest together.
    row_bytes_max: usize,
}

impl Room {
    fn of(record: &TableRecord) -> Room {
        let row_bytes_max = match record.clustered() {
            Some(index) => Tree::row_bytes_max_of(index.storage.key_bytes_max.into()),
            None => Heap::ROW_BYTES_MAX,
        };
        // The bitmap and the mark; a length takes up to five bytes.
        let mut others_bytes_max = record.columns.len().div_ceil(8) + 1;
        let mut columns = Vec::new();
        for (at, column) in record.columns.iter().enumerate() {
            match content_bytes_max(&column.ty) {
                None if column.ty == SqlType::Variant => others_bytes_max += VARIANT_BYTES_MAX,
                None => others_bytes_max += 26,
                Some(bytes) if bytes <= POINTER_BYTES => others_bytes_max += bytes + 1,
                Some(_) => {
                    others_bytes_max += 5;
                    columns.push(at);
                }
            }
        }
        Room { columns: columns.into(), others_bytes_max, row_bytes_max }
    }
}

/// True when a row of the table can be longer than a page has room for. Rows in memory are in no page.
pub(crate) fn can_outgrow(record: &TableRecord) -> bool {
    if record.is_in_memory() {
        return false;
    }
    let room = Room::of(record);
    let longest = |at: &usize| content_bytes_max(&record.columns[*at].ty).unwrap_or(0);
    let key = record.clustered().map_or(0, |index| index.storage.key_bytes_max.into());
    room.others_bytes_max + key + room.columns.iter().map(longest).sum::<usize>() > room.row_bytes_max
}

impl Overflow {
    pub fn new(structure: Structure, record: &TableRecord) -> Overflow {
        Overflow { structure, room: Room::of(record) }
    }

    /// Whether a row surely fits a page as it is, by the lengths of its long values.
    #[inline]
    pub fn surely_fits(&self, layout: &RowLayout, key_bytes: usize, row: &[Value]) -> bool {
        let room = &self.room;
        let mut bytes = room.others_bytes_max + key_bytes;
        for column in &room.columns {
            bytes += layout.content(*column, &row[*column]).map_or(0, <[u8]>::len);
        }
        bytes <= room.row_bytes_max
    }

    /// The columns whose values are to be elsewhere, so that the row fits: the longest first, those of the key last.
    pub fn choose(&self, layout: &RowLayout, key_bytes: usize, row: &[Value]) -> Result<Vec<usize>, RowError> {
        let content = |column: usize| layout.content(column, &row[column]).map_or(0, <[u8]>::len);
        let mut rest = Vec::new();
        let is_long = |column: usize| self.room.columns.contains(&column) && !row[column].is_null();
        let value = |i: usize| if is_long(i) { RowLayout::without_content(&row[i]) } else { &row[i] };
        layout.encode_rest(value, &mut rest)?;
        // Each long value has one byte there: the length of an empty one.
        let in_row = |bytes: usize| bytes + varint_bytes(bytes) - 1;
        let mut candidates: Vec<usize> = self.room.columns.iter().copied().filter(|c| is_long(*c)).collect();
        let mut bytes = key_bytes + rest.len() + candidates.iter().map(|c| in_row(content(*c))).sum::<usize>();
        let of_key = |column: usize| layout.key_columns().iter().any(|key| key.column == column);
        candidates.sort_by_key(|c| (of_key(*c), std::cmp::Reverse(content(*c))));
        let mut chosen = Vec::new();
        for column in candidates {
            let tail = if chosen.is_empty() { 0 } else { size_of::<u16>() };
            if bytes + tail <= self.room.row_bytes_max || content(column) <= POINTER_BYTES {
                continue;
            }
            bytes = bytes - in_row(content(column)) + POINTER_BYTES;
            chosen.push(column);
        }
        Ok(chosen)
    }
}

fn varint_bytes(number: usize) -> usize {
    (usize::BITS - (number | 1).leading_zeros()).div_ceil(7) as usize
}

/// What a row has instead of a long value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pointer {
    pub column: usize,
    pub first: Rid,
    pub id: u64,
    pub bytes: usize,
}

impl Pointer {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&(self.column as u16).to_le_bytes());
        out.extend_from_slice(&self.first.to_bytes());
        out.extend_from_slice(&self.id.to_le_bytes());
        out.extend_from_slice(&(self.bytes as u32).to_le_bytes());
    }

    fn decode(bytes: &[u8; POINTER_BYTES]) -> Pointer {
        let (column, bytes) = bytes.split_first_chunk::<2>().expect("a pointer is longer");
        let (first, bytes) = bytes.split_first_chunk::<RID_BYTES>().expect("a pointer is longer");
        let (id, bytes) = bytes.split_first_chunk::<8>().expect("a pointer is longer");
        let bytes = bytes.first_chunk::<4>().expect("a pointer is as long");
        Pointer {
            column: u16::from_le_bytes(*column).into(),
            first: Rid::from_bytes(*first),
            id: u64::from_le_bytes(*id),
            bytes: u32::from_le_bytes(*bytes) as usize,
        }
    }

    /// How many parts its value has.
    pub fn parts(&self) -> u32 {
        self.bytes.div_ceil(PART_BYTES).max(1) as u32
    }
}

/// The pointers of a row.
#[derive(Clone, Copy, Default)]
pub(crate) struct Pointers<'a>(&'a [[u8; POINTER_BYTES]]);

impl<'a> Pointers<'a> {
    /// Takes the mark and what belongs to it off the rest of a marked row; None: that is damaged.
    #[inline]
    pub fn split(rest: &'a [u8]) -> Option<(&'a [u8], Pointers<'a>)> {
        match rest.split_last()? {
            (0, values) => Some((values, Pointers::default())),
            (&MARK_POINTERS, rest) => {
                let (rest, count) = rest.split_last_chunk::<2>()?;
                let count = usize::from(u16::from_le_bytes(*count));
                let (values, pointers) = rest.split_at_checked(rest.len().checked_sub(count * POINTER_BYTES)?)?;
                Some((values, Pointers(pointers.as_chunks().0)))
            }
            _ => None,
        }
    }

    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(self) -> impl Iterator<Item = Pointer> + 'a {
        self.0.iter().map(Pointer::decode)
    }

    /// Puts pointers in the place of the mark 0 that ends a rest.
    pub fn put(pointers: impl ExactSizeIterator<Item = Pointer>, rest: &mut Vec<u8>) {
        let count = pointers.len() as u16;
        if count == 0 {
            return;
        }
        rest.pop();
        pointers.for_each(|pointer| pointer.encode(rest));
        rest.extend_from_slice(&count.to_le_bytes());
        rest.push(MARK_POINTERS);
    }
}

/// A part of a value.
pub(super) struct Part<'a> {
    pub id: u64,
    pub number: u32,
    pub next: Option<Rid>,
    pub bytes: &'a [u8],
}

impl<'a> Part<'a> {
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.clear();
        out.extend_from_slice(&self.id.to_le_bytes());
        out.extend_from_slice(&self.number.to_le_bytes());
        out.extend_from_slice(&self.next.map_or([0; RID_BYTES], Rid::to_bytes));
        out.extend_from_slice(self.bytes);
    }

    pub fn decode(part: &'a [u8]) -> Option<Part<'a>> {
        let (id, part) = part.split_first_chunk::<8>()?;
        let (number, part) = part.split_first_chunk::<4>()?;
        let (next, bytes) = part.split_first_chunk::<RID_BYTES>()?;
        let next = (*next != [0; RID_BYTES]).then(|| Rid::from_bytes(*next));
        Some(Part { id: u64::from_le_bytes(*id), number: u32::from_le_bytes(*number), next, bytes })
    }
}

/// Why a value could not be read.
#[derive(Debug)]
pub(crate) enum Unread {
    Stop(pikepole_storage::Stop),
    /// A part is not where it should be: the row that leads there is gone meanwhile, or there is damage.
    Lost(PageId, String),
}

impl Unread {
    /// The same as damage.
    pub fn damage(self) -> pikepole_storage::Stop {
        match self {
            Unread::Stop(stop) => stop,
            Unread::Lost(page, why) => StorageError::Corrupt { page, why }.into(),
        }
    }
}

/// A walk through the parts of a value.
#[derive(Clone)]
pub(super) struct Walk {
    pointer: Pointer,
    /// The next part's number and place.
    pub number: u32,
    pub next: Option<Rid>,
    /// Bytes of the parts passed.
    passed: usize,
}

impl Walk {
    pub fn new(pointer: Pointer) -> Walk {
        Walk { pointer, number: 0, next: Some(pointer.first), passed: 0 }
    }

    pub fn id(&self) -> u64 {
        self.pointer.id
    }

    /// Shows the next part, which is where it should be, and passes it.
    pub fn step<R>(
        &mut self,
        structure: &Structure,
        look: impl FnOnce(RowHeader, &[u8]) -> R,
    ) -> Result<Option<R>, Unread> {
        let Some(at) = self.next else {
            return Ok(None);
        };
        let (id, number) = (self.pointer.id, self.number);
        let left = self.pointer.bytes - self.passed;
        let found = structure.get(&at.to_bytes(), |header, part| {
            let part = Part::decode(part).filter(|part| part.id == id && part.number == number)?;
            let is_last = part.next.is_none();
            let whole = if is_last { part.bytes.len() == left } else { part.bytes.len() < left };
            whole.then(|| (part.next, part.bytes.len(), look(header, part.bytes)))
        });
        let Some((next, bytes, looked)) = found.map_err(Unread::Stop)?.flatten() else {
            let column = self.pointer.column + 1;
            let why = format!("slot {} does not hold part {number} of the long value {id} of column {column}", at.slot);
            return Err(Unread::Lost(at.page, why));
        };
        self.number += 1;
        self.next = next;
        self.passed += bytes;
        Ok(Some(looked))
    }
}

/// Long values on their way from their parts into a row. What was read when one stops for a need is kept for the next call.
#[derive(Default)]
pub(crate) struct LongReader {
    whole: Vec<(u64, Vec<u8>)>,
    begun: Option<(Walk, Vec<u8>)>,
}

impl LongReader {
    /// Forgets what was read.
    pub fn clear(&mut self) {
        self.whole.clear();
        self.begun = None;
    }

    /// Reads values, those that are not here yet.
    pub fn read(&mut self, structure: &Structure, pointers: impl Iterator<Item = Pointer>) -> Result<(), Unread> {
        for pointer in pointers {
            if !self.whole.iter().any(|(id, _)| *id == pointer.id) {
                let bytes = self.read_one(structure, pointer)?;
                self.whole.push((pointer.id, bytes));
            }
        }
        Ok(())
    }

    fn read_one(&mut self, structure: &Structure, pointer: Pointer) -> Result<Vec<u8>, Unread> {
        let begun = self.begun.take().filter(|(walk, _)| walk.id() == pointer.id);
        let fresh = || (Walk::new(pointer), Vec::with_capacity(pointer.bytes.min(TRUSTED_BYTES)));
        let (mut walk, mut bytes) = begun.unwrap_or_else(fresh);
        loop {
            match walk.step(structure, |_, part| bytes.extend_from_slice(part)) {
                Ok(Some(())) => {}
                Ok(None) => return Ok(bytes),
                Err(unread) => {
                    if matches!(unread, Unread::Stop(_)) {
                        self.begun = Some((walk, bytes));
                    }
                    return Err(unread);
                }
            }
        }
    }

    /// The bytes of a value that was read.
    pub fn take(&mut self, pointer: &Pointer) -> Vec<u8> {
        let at = self.whole.iter().position(|(id, _)| *id == pointer.id);
        at.map(|at| self.whole.swap_remove(at).1).unwrap_or_default()
    }
}
