//! Bulk inserts: pages of rows, one log record each.
//!
//! ```text
//!   rows, encoded --> [ of one page ] --+-- copied into the log: one record, the columns of all rows and their number
//!                                       +-- written into a new frame: headers and slots are made from the record's fields
//!   the writer's own extent: | full | full | full | next | . | . | . | . |
//! ```
//! A page gets its rows, its record and its place in the map at once, under the latches of page and map page. Before, nobody
//! knows of it: the map has it unused, in memory and on disk. Afterwards it is a page as any other; but nobody else puts rows
//! into it as long as the transaction is open, since it is no insertion target. So the undo of the record is to take the page
//! out of use.
//!
//! Invariants
//! - the page that redo builds from the record is the page, byte for byte: both are made by [`PageMut::fill_heap`];
//! - rows that were taken are in the log or in the writer: a need loses none;
//! - rows stay out of the log ([`Record::UsePage`]) only while nobody needs the log to have them ([`crate::rows_in_log`]).

use std::sync::Arc;

use pikepole_log::LsnRange;
use pikepole_log::field::{get_varint, put_varint};

use super::*;
use crate::allocation::OwnExtent;
use crate::page::slotted::HEAP_ENTRY_BYTES_MIN;
use crate::pool::FreeFrame;

/// Columns of rows, one row after the other, as the row codec gives them.
#[derive(Clone, Copy, Debug)]
pub enum EncodedRows<'a> {
    /// Rows of one length, which is not 0; there are `bytes.len() / row_bytes` of them.
    Fixed {
        /// Bytes of a row.
        row_bytes: usize,
        /// The rows.
        bytes: &'a [u8],
    },
    /// Rows of any lengths.
    Varying {
        /// The length of each row.
        lengths: &'a [u32],
        /// The rows, in front of each its length as a varint: as the log has them, so that a page of them need not be copied first.
        bytes: &'a [u8],
    },
}

impl<'a> EncodedRows<'a> {
    /// How many rows.
    pub fn len(&self) -> usize {
        match self {
            EncodedRows::Fixed { row_bytes, bytes } => bytes.len() / row_bytes,
            EncodedRows::Varying { lengths, .. } => lengths.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The first row; empty when there is none.
    pub fn first(&self) -> &'a [u8] {
        match *self {
            EncodedRows::Fixed { row_bytes, bytes } => bytes.get(..row_bytes).unwrap_or_default(),
            EncodedRows::Varying { lengths, bytes } => lengths.first().map_or(&[], |&len| {
                let behind = bytes_with_length(len);
                &bytes[behind - len as usize..behind]
            }),
        }
    }

    /// The rows before the first one that is longer than `bytes_max`.
    pub fn up_to_bytes(self, bytes_max: usize) -> EncodedRows<'a> {
        match self {
            EncodedRows::Fixed { row_bytes, .. } if row_bytes > bytes_max => {
                EncodedRows::Varying { lengths: &[], bytes: &[] }
            }
            EncodedRows::Fixed { .. } => self,
            EncodedRows::Varying { lengths, bytes } => {
                let count = lengths.iter().position(|len| *len as usize > bytes_max).unwrap_or(lengths.len());
                EncodedRows::Varying { lengths: &lengths[..count], bytes }
            }
        }
    }

    /// The rows behind the first `count`.
    pub fn skip(self, count: usize) -> EncodedRows<'a> {
        let skipped = match self {
            EncodedRows::Fixed { row_bytes, .. } => row_bytes * count,
            EncodedRows::Varying { lengths, .. } => lengths[..count].iter().map(|&len| bytes_with_length(len)).sum(),
        };
        self.behind(count, skipped)
    }

    /// The rows behind the first `count`, which have so many bytes.
    fn behind(self, count: usize, skipped: usize) -> EncodedRows<'a> {
        match self {
            EncodedRows::Fixed { row_bytes, bytes } => EncodedRows::Fixed { row_bytes, bytes: &bytes[skipped..] },
            EncodedRows::Varying { lengths, bytes } => {
                EncodedRows::Varying { lengths: &lengths[count..], bytes: &bytes[skipped..] }
            }
        }
    }
}

/// Bytes of a row with its length in front.
fn bytes_with_length(len: u32) -> usize {
    let bits = 32 - (len | 1).leading_zeros();
    len as usize + bits.div_ceil(7) as usize
}

/// The rows of one page as its record has them.
#[derive(Clone, Copy)]
pub(crate) struct PackedRows<'a> {
    pub count: usize,
    /// 0: a varint in front of each row says its length.
    pub row_bytes: usize,
    pub body: &'a [u8],
}

/// Bytes that a row takes from a page, its slot not counted.
fn taken_by(row_bytes: usize) -> usize {
    (ROW_HEADER_BYTES + row_bytes).max(HEAP_ENTRY_BYTES_MIN)
}

/// How many rows of one length a page takes.
fn rows_of_page(row_bytes: usize) -> usize {
    (PAGE_BYTES - PAGE_HEADER_BYTES) / (taken_by(row_bytes) + SLOT_BYTES)
}

impl PageMut<'_> {
    /// Makes a heap page that is full of these rows; `Err` when they are not rows of one page.
    pub(crate) fn fill_heap(
        &mut self,
        id: PageId,
        object: u32,
        header: RowHeader,
        rows: &PackedRows<'_>,
    ) -> Result<(), String> {
        let slots_end = PAGE_HEADER_BYTES + SLOT_BYTES * rows.count;
        let start = if rows.row_bytes == 0 {
            self.fill_varying(slots_end, header, rows)?
        } else {
            if rows.body.len() != rows.count * rows.row_bytes || rows.count > rows_of_page(rows.row_bytes) {
                return Err(format!("{} rows of {} bytes in {}", rows.count, rows.row_bytes, rows.body.len()));
            }
            match rows.row_bytes {
                // The lengths of rows of a few numbers: the copy of each row is a few moves then.
                12 => self.fill_fixed::<12>(header, rows.body),
                16 => self.fill_fixed::<16>(header, rows.body),
                20 => self.fill_fixed::<20>(header, rows.body),
                24 => self.fill_fixed::<24>(header, rows.body),
                28 => self.fill_fixed::<28>(header, rows.body),
                _ => self.fill_any(rows.row_bytes, header, rows.body),
            }
            PAGE_BYTES - rows.count * taken_by(rows.row_bytes)
        };
        self.change(slots_end..start).fill(0);
        self.finish_heap(id, object, rows.count, start);
        Ok(())
    }

    fn fill_fixed<const ROW_BYTES: usize>(&mut self, header: RowHeader, body: &[u8]) {
        let taken = ROW_HEADER_BYTES + ROW_BYTES;
        let (rows, _) = body.as_chunks::<ROW_BYTES>();
        let (slots, entries) = self.change_all().split_at_mut(PAGE_BYTES - rows.len() * taken);
        let slots = slots[PAGE_HEADER_BYTES..].chunks_exact_mut(SLOT_BYTES);
        let entries = entries.chunks_exact_mut(taken).rev();
        let mut at = PAGE_BYTES as u32;
        let len = (taken as u32) << 16;
        let header = header.0.to_le_bytes();
        for ((row, entry), slot) in rows.iter().zip(entries).zip(slots) {
            at -= taken as u32;
            slot.copy_from_slice(&(at | len).to_le_bytes());
            entry[..ROW_HEADER_BYTES].copy_from_slice(&header);
            entry[ROW_HEADER_BYTES..].copy_from_slice(row);
        }
    }

    fn fill_any(&mut self, row_bytes: usize, header: RowHeader, body: &[u8]) {
        let taken = taken_by(row_bytes);
        let mut at = PAGE_BYTES;
        for (slot, row) in body.chunks_exact(row_bytes).enumerate() {
            at -= taken;
            self.put_entry(slot, at, header, row, taken);
        }
    }

    fn fill_varying(&mut self, slots_end: usize, header: RowHeader, rows: &PackedRows<'_>) -> Result<usize, String> {
        let (mut at, mut body) = (PAGE_BYTES, rows.body);
        for slot in 0..rows.count {
            let (len, bytes) = match body.first() {
                Some(&len) if len < 0x80 => (len.into(), 1),
                _ => get_varint(body).map_err(|error| error.to_string())?,
            };
            let row = usize::try_from(len).ok().and_then(|len| body.get(bytes..bytes.checked_add(len)?));
            let row = row.ok_or("a row reaches over the end")?;
            let taken = taken_by(row.len());
            at = at.checked_sub(taken).filter(|&at| at >= slots_end).ok_or("more rows than a page has room for")?;
            self.put_entry(slot, at, header, row, taken);
            body = &body[bytes + row.len()..];
        }
        if body.is_empty() { Ok(at) } else { Err(format!("{} bytes behind the last row", body.len())) }
    }

    fn put_entry(&mut self, slot: usize, at: usize, header: RowHeader, row: &[u8], taken: usize) {
        let len = ROW_HEADER_BYTES + row.len();
        let place = PAGE_HEADER_BYTES + SLOT_BYTES * slot;
        self.change(place..place + SLOT_BYTES).copy_from_slice(&(at as u32 | (len as u32) << 16).to_le_bytes());
        let entry = self.change(at..at + taken);
        entry[..ROW_HEADER_BYTES].copy_from_slice(&header.0.to_le_bytes());
        copy_row(&mut entry[ROW_HEADER_BYTES..len], row);
        if len < taken {
            entry[len..].fill(0);
        }
    }
}

/// Copies a row, short ones by two moves that may overlap: a call for each would take as long as all the rest.
#[inline(always)]
fn copy_row(to: &mut [u8], row: &[u8]) {
    fn ends<const BYTES: usize>(to: &mut [u8], row: &[u8]) -> Option<()> {
        *to.first_chunk_mut::<BYTES>()? = *row.first_chunk()?;
        *to.last_chunk_mut::<BYTES>()? = *row.last_chunk()?;
        Some(())
    }
    let copied = match row.len() {
        8..=16 => ends::<8>(to, row),
        17..=32 => ends::<16>(to, row),
        _ => None,
    };
    if copied.is_none() {
        to.copy_from_slice(row);
    }
}

/// Rows on their way into pages of a heap; for one transaction and one task.
pub struct BulkPages {
    heap: Heap,
    extent: Option<OwnExtent>,
    /// Rows are not logged, only the pages that they take.
    unlogged: bool,
    /// Rows that are not in a page yet, as [`PackedRows`] has them.
    count: usize,
    row_bytes: usize,
    body: Vec<u8>,
    /// Bytes that they take from a page, slots included.
    taken: usize,
    /// They are to become a page: there is no room for the next row, or there is none.
    full: bool,
    /// The first rows of those that are being given, when they fill a page as they are: how many, and their bytes.
    direct: Option<(usize, usize)>,
}

/// A page that has got its rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BulkPage {
    /// The page.
    pub page: PageId,
    /// Its record.
    pub range: LsnRange,
    /// Its rows are not in the log.
    pub unlogged: bool,
}

const PAGE_ROOM: usize = PAGE_BYTES - PAGE_HEADER_BYTES;

impl BulkPages {
    /// A writer of pages; `unlogged`: the log gets only which pages are used, as long as nobody needs the rows there
    /// ([`Store::need_rows_in_log`]), and the transaction is not to commit before the redo start is above their records
    /// ([`Store::redo_start`]).
    pub fn new(heap: &Heap, unlogged: bool) -> BulkPages {
        BulkPages {
            heap: heap.clone(),
            extent: None,
            unlogged,
            count: 0,
            row_bytes: 0,
            body: Vec::with_capacity(PAGE_BYTES),
            taken: 0,
            full: false,
            direct: None,
        }
    }

    /// The heap.
    pub fn heap(&self) -> &Heap {
        &self.heap
    }

    /// The store of the heap.
    pub fn store(&self) -> &Arc<Store> {
        &self.heap.store
    }

    /// Takes rows until a page of them is ready to be placed; false: all rows are taken, and it is too little for a page.
    ///
    /// # Errors
    /// A row that is too long: it and those behind it are not taken.
    pub fn is_ready(&mut self, rest: &mut EncodedRows<'_>) -> Result<bool, Stop> {
        while !self.full && !rest.is_empty() {
            self.direct = if self.count == 0 { whole_page(rest) } else { None };
            if self.direct.is_some() {
                return Ok(true);
            }
            self.keep(rest)?;
        }
        Ok(self.full)
    }

    /// The last rows are to become a page now, if there are any; false: there are none.
    pub fn is_rest_ready(&mut self) -> bool {
        self.full = self.count > 0;
        self.full
    }

    /// Places the page that is ready.
    ///
    /// # Errors
    /// Needs, then call again; a full disk or log. The rows stay where they are then.
    pub fn place(&mut self, context: &LogContext, rest: &mut EncodedRows<'_>) -> Result<BulkPage, Stop> {
        let rows = match (self.direct, *rest) {
            (Some((count, end)), EncodedRows::Fixed { row_bytes, bytes }) => {
                PackedRows { count, row_bytes, body: &bytes[..end] }
            }
            (Some((count, end)), EncodedRows::Varying { bytes, .. }) => {
                PackedRows { count, row_bytes: 0, body: &bytes[..end] }
            }
            (None, _) => PackedRows { count: self.count, row_bytes: self.row_bytes, body: &self.body },
        };
        let page = place_in_extent(&self.heap, &mut self.extent, self.unlogged, context, &rows)?;
        if let Some((count, end)) = self.direct.take() {
            *rest = rest.behind(count, end);
        } else {
            self.body.clear();
            (self.count, self.row_bytes, self.taken, self.full) = (0, 0, 0, false);
        }
        Ok(page)
    }

    /// Takes rows until the page is full or there are none left.
    fn keep(&mut self, rest: &mut EncodedRows<'_>) -> Result<(), Stop> {
        match *rest {
            EncodedRows::Fixed { row_bytes, bytes } => {
                check_length(row_bytes)?;
                if self.count == 0 {
                    self.row_bytes = row_bytes;
                } else if self.row_bytes != row_bytes {
                    self.name_lengths();
                }
                let room = (PAGE_ROOM - self.taken) / (taken_by(row_bytes) + SLOT_BYTES);
                let count = room.min(bytes.len() / row_bytes);
                let body = &bytes[..row_bytes * count];
                if self.row_bytes == 0 {
                    put_with_lengths(&mut self.body, row_bytes, body);
                } else {
                    self.body.extend_from_slice(body);
                }
                self.count += count;
                self.taken += count * (taken_by(row_bytes) + SLOT_BYTES);
                self.full |= count == room;
                *rest = rest.skip(count);
            }
            EncodedRows::Varying { lengths, bytes } => {
                self.name_lengths();
                let fitting = Fitting::of(lengths, self.taken);
                if let Some(&len) = lengths.get(fitting.rows).filter(|_| self.count + fitting.rows == 0) {
                    // An empty page has room for every row that is not too long.
                    check_length(len as usize)?;
                }
                self.body.extend_from_slice(&bytes[..fitting.bytes]);
                self.count += fitting.rows;
                self.taken = fitting.taken;
                self.full |= fitting.rows < lengths.len();
                *rest = rest.behind(fitting.rows, fitting.bytes);
            }
        }
        Ok(())
    }

    /// The rows have differing lengths from now on.
    fn name_lengths(&mut self) {
        if self.count == 0 {
            self.row_bytes = 0;
        }
        if self.row_bytes == 0 {
            return;
        }
        let fixed = std::mem::take(&mut self.body);
        put_with_lengths(&mut self.body, self.row_bytes, &fixed);
        self.row_bytes = 0;
    }
}

/// Rows of one length, with that in front of each.
fn put_with_lengths(body: &mut Vec<u8>, row_bytes: usize, rows: &[u8]) {
    let mut length = [0; 10];
    let count = put_varint(&mut length, row_bytes as u64);
    for row in rows.chunks_exact(row_bytes) {
        body.extend_from_slice(&length[..count]);
        body.extend_from_slice(row);
    }
}

/// Rows that a page has room for.
struct Fitting {
    rows: usize,
    /// Their bytes, lengths included.
    bytes: usize,
    /// What they and those before take from the page.
    taken: usize,
}

impl Fitting {
    /// The first of the rows of these lengths, behind ones that take so much.
    fn of(lengths: &[u32], taken: usize) -> Fitting {
        let mut fitting = Fitting { rows: 0, bytes: 0, taken };
        for &len in lengths {
            let behind = fitting.taken + taken_by(len as usize) + SLOT_BYTES;
            if behind > PAGE_ROOM || check_length(len as usize).is_err() {
                break;
            }
            fitting.rows += 1;
            fitting.bytes += bytes_with_length(len);
            fitting.taken = behind;
        }
        fitting
    }
}

/// How many of the first rows fill a page, and their bytes.
fn whole_page(rows: &EncodedRows<'_>) -> Option<(usize, usize)> {
    match *rows {
        EncodedRows::Fixed { row_bytes, bytes } => {
            let count = rows_of_page(row_bytes);
            (count > 0 && row_bytes * count <= bytes.len()).then_some((count, row_bytes * count))
        }
        EncodedRows::Varying { lengths, .. } => {
            let fitting = Fitting::of(lengths, 0);
            (0 < fitting.rows && fitting.rows < lengths.len()).then_some((fitting.rows, fitting.bytes))
        }
    }
}

pub(super) fn check_length(bytes: usize) -> Result<(), Stop> {
    if bytes > Heap::ROW_BYTES_MAX {
        let bytes_max = Heap::ROW_BYTES_MAX;
        return Err(Stop::Error(StorageError::RowTooLong { bytes, bytes_max }));
    }
    Ok(())
}

/// Puts rows into the next page of the writer's extent.
fn place_in_extent(
    heap: &Heap,
    extent: &mut Option<OwnExtent>,
    unlogged: bool,
    context: &LogContext,
    rows: &PackedRows<'_>,
) -> Result<BulkPage, Stop> {
    let store = &heap.store;
    let spare = store.pool.take_free()?;
    let (own, page) = match extent.as_ref().and_then(|own| Some((own, own.next()?))) {
        Some((_, page)) => (extent.as_mut().expect("it has a page"), page),
        None => {
            *extent = None;
            let own = extent.insert(OwnExtent::take(store, heap.object)?);
            let page = own.next().expect("an extent is taken for its unused pages");
            (own, page)
        }
    };
    let placed = place(heap, spare, page, unlogged, context, rows)?;
    own.used(page);
    Ok(placed)
}

/// Puts rows into a page that the caller has taken: the one place where a page, its map page and the log meet.
pub(super) fn place(
    heap: &Heap,
    spare: FreeFrame<'_>,
    page: PageId,
    unlogged: bool,
    context: &LogContext,
    rows: &PackedRows<'_>,
) -> Result<BulkPage, Stop> {
    let store = &heap.store;
    let (mut frame, fresh) = store.pool.install(spare, page)?;
    let header = RowHeader::new(0, context.xid);
    frame.retype_to_plain();
    let filled = frame.page_mut().fill_heap(page, heap.object, header, rows);
    filled.map_err(|why| StorageError::corrupt(page, why))?;
    frame.set_level(0);
    let (flags, xid, object) = (context.flags, context.xid, heap.object);
    let placing = if unlogged { store.rows_in_log.try_without() } else { None };
    let unlogged = placing.is_some();
    let record = if unlogged {
        Record::UsePage { flags, xid, page: page.0, object }
    } else {
        let (count, row_bytes) = (rows.count as u32, rows.row_bytes as u32);
        Record::InsertPage { flags, xid, page: page.0, object, rows: count, row_bytes, body: rows.body }
    };
    let logged = store.latch_map(page).and_then(|map| {
        // What the page was before, its map page has seen the end of.
        Ok((store.append(context, map.page().lsn(), &record)?, map))
    });
    let (range, mut map) = match logged {
        Ok(logged) => logged,
        Err(stop) => {
            if fresh {
                store.pool.discard(frame);
            }
            return Err(stop);
        }
    };
    map.page_mut().use_page(page, heap.object);
    map.logged(range);
    drop(map);
    frame.formatted(range);
    // A page of a load is not used lately before somebody reads it.
    frame.header().referenced.store(0, Ordering::Relaxed);
    drop(frame);
    Ok(BulkPage { page, range, unlogged })
}

impl Heap {
    /// Undoes that a page got all its rows by one record.
    ///
    /// # Errors
    /// Needs; a poisoned log.
    pub fn free_page(&self, context: &LogContext, page: PageId) -> Result<(), Stop> {
        debug_assert!(context.is_clr(), "it undoes");
        self.store.free_page(context, page).map(|_| ())
    }
}
