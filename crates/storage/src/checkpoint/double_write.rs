//! The double-write area: the bytes from which a page is rebuilt that a crash tore while it was overwritten.
//!
//! ```text
//!   0     4        8       12        16
//!   | crc | "PKDW" | bytes | records | record | record | ... | zeros up to a multiple of 4096
//!
//!   record   | page u32 | pieces u32 | piece: at u16, length u16 | ... | bytes of the first piece | of the second | ...
//! ```
//! A batch of pages is written from offset 0 on, durably, and only then the pages in their places. A record has the lines of
//! its page that differ from the page on disk ([`Lines`]), the header's always. It has all of the page when these lines are
//! more than half of it, when nothing is known of the page on disk, and under [`TornPages::Whole`].
//!
//! Why the changed lines suffice. Before the batch is written, all earlier writes of its pages are durable: the older version
//! of a page is on disk as a whole. A write that is cut off then leaves a mix of the older version and the newer one. Bytes
//! that are equal in both are right in every mix, and the record has all others. What is assumed of the device: each byte that
//! it was to write is as it was or as it should be, and no other byte is changed. That is less than what devices promise (a
//! logical block, of 512 bytes or 4096, is written whole or not at all), so records need not have whole sectors. A device
//! that breaks the promise and leaves a sector that is neither is what [`TornPages::Whole`] is for.
//!
//! After a crash:
//! - a batch whose checksum does not hold was cut off itself. None of its pages had been touched, and what the batch before it
//!   covered was durable by then: nothing is to be rebuilt;
//! - a page that is whole stays as it is: the log has what the older version lacks;
//! - else the record's pieces are put over it, and the page counts if its checksum holds then. A piece is put where it belongs
//!   as often as one likes: a crash in the middle of that does no harm;
//! - a record is believed only above the redo start. Were it older, its page would have been synced since (the checkpoint that
//!   moved the redo start did so), and what tore it was a write of a fresh page.
//!
//! Builds of format version 1 wrote whole pages there, one behind the other and without a header. A batch begins with a magic
//! number where such a page has its own, which is lower.

use std::collections::BTreeMap;
use std::io;

use pikepole_machine::{AlignedBuffer, BLOCK, File};

use crate::error::PageId;
use crate::fault;
use crate::page::{Lines, PAGE_BYTES, Page, PageBytes, get_u32, get_u64};
use crate::pool::PAGES_MAX;

/// Bytes of the area.
const AREA_BYTES: usize = 4 << 20;
/// Most pages of a batch.
pub(crate) const BATCH_PAGES: usize = 511;
const MAGIC: &[u8; 4] = b"PKDW";
const HEADER_BYTES: usize = 16;
const RECORD_HEADER_BYTES: usize = 8;
const PIECE_BYTES: usize = 4;
const _: () = assert!(HEADER_BYTES + BATCH_PAGES * (RECORD_HEADER_BYTES + PIECE_BYTES + PAGE_BYTES) <= AREA_BYTES);
const _: () = assert!(u32::from_le_bytes(*MAGIC) >= PAGES_MAX);

/// The part of a page that goes into the double-write area (`TORN_PAGES`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum TornPages {
    /// All of it.
    Whole,
    /// The lines that differ from the page on disk.
    Delta,
}

/// The file.
pub(super) struct DoubleWrite {
    file: File,
    batch: AlignedBuffer,
}

/// The lines of a page's record: `changed` are those in which it differs from the page on disk.
fn lines_of_record(changed: Lines, policy: TornPages) -> Lines {
    let lines = changed.with(Lines::HEADER);
    let bytes: usize = lines.runs().map(|run| run.len()).sum();
    if policy == TornPages::Whole || bytes > PAGE_BYTES / 2 { Lines::ALL } else { lines }
}

/// A record of a batch.
struct Rebuilt<'a> {
    page: PageId,
    /// Ascending, and inside a page.
    pieces: Vec<(usize, &'a [u8])>,
}

impl<'a> Rebuilt<'a> {
    /// The first record of `batch`, and what is behind it.
    fn decode(batch: &'a [u8]) -> Option<(Rebuilt<'a>, &'a [u8])> {
        let (head, rest) = batch.split_at_checked(RECORD_HEADER_BYTES)?;
        let (page, count) = (PageId(get_u32(head, 0)), get_u32(head, 4) as usize);
        let (places, mut rest) = rest.split_at_checked(count.checked_mul(PIECE_BYTES)?)?;
        let mut pieces = Vec::with_capacity(count);
        for place in places.as_chunks::<PIECE_BYTES>().0 {
            let at = u16::from_le_bytes([place[0], place[1]]) as usize;
            let (bytes, behind) = rest.split_at_checked(u16::from_le_bytes([place[2], place[3]]) as usize)?;
            rest = behind;
            (at + bytes.len() <= PAGE_BYTES).then(|| pieces.push((at, bytes)))?;
        }
        (page.0 < PAGES_MAX).then_some((Rebuilt { page, pieces }, rest))
    }

    /// The lsn that the page has then, if the header is among the pieces.
    fn lsn(&self) -> Option<u64> {
        let (0, header) = *self.pieces.first()? else { return None };
        (header.len() >= 16).then(|| get_u64(header, 8))
    }

    fn put_over(&self, page: &mut PageBytes) {
        for (at, bytes) in &self.pieces[..self.pieces.len() - usize::from(fault::half_restored())] {
            page[*at..*at + bytes.len()].copy_from_slice(bytes);
        }
    }
}

/// The records of a batch; none when it was cut off.
fn records(batch: &[u8]) -> Vec<Rebuilt<'_>> {
    let bytes = get_u32(batch, 8) as usize;
    let Some(batch) = batch.get(..bytes).filter(|batch| batch.len() >= HEADER_BYTES) else { return Vec::new() };
    if crc32c::crc32c(&batch[4..]) != get_u32(batch, 0) {
        return Vec::new();
    }
    let mut rest = &batch[HEADER_BYTES..];
    let next = || {
        let (record, behind) = Rebuilt::decode(rest)?;
        rest = behind;
        Some(record)
    };
    std::iter::from_fn(next).take(get_u32(batch, 12) as usize).collect()
}

/// The pages of an area of format version 1, of each the youngest: batches of several sizes lie over each other.
fn images(area: &[u8]) -> Vec<Rebuilt<'_>> {
    let mut youngest: BTreeMap<PageId, &PageBytes> = BTreeMap::new();
    for image in area.as_chunks::<PAGE_BYTES>().0 {
        let page = Page(image);
        let is_younger = |other: &&PageBytes| Page(other).lsn() < page.lsn();
        if page.is_whole(page.id()) && page.id().0 < PAGES_MAX && youngest.get(&page.id()).is_none_or(is_younger) {
            youngest.insert(page.id(), image);
        }
    }
    youngest.into_iter().map(|(page, image)| Rebuilt { page, pieces: vec![(0, &image[..])] }).collect()
}

impl DoubleWrite {
    pub fn new(file: File) -> DoubleWrite {
        DoubleWrite { file, batch: AlignedBuffer::new() }
    }

    /// Takes the space of the whole area, so that pages can be written on a full disk.
    pub fn allocate(&self) -> io::Result<()> {
        self.file.allocate(0, AREA_BYTES as u64)
    }

    /// Writes a batch of pages, each with the lines in which it differs from the page on disk; durably. How many bytes it took.
    pub fn write<'a>(
        &mut self,
        pages: impl Iterator<Item = (PageId, &'a PageBytes, Lines)>,
        policy: TornPages,
    ) -> io::Result<usize> {
        let batch = &mut self.batch;
        batch.clear();
        batch.resize(HEADER_BYTES, 0);
        let mut count: u32 = 0;
        for (id, page, changed) in pages {
            count += 1;
            let lines = lines_of_record(changed, policy);
            let pieces = || lines.runs().take(lines.runs().count() - usize::from(fault::short_delta()));
            batch.extend_from_slice(&id.0.to_le_bytes());
            batch.extend_from_slice(&(pieces().count() as u32).to_le_bytes());
            for piece in pieces() {
                let place = piece.start as u32 | (piece.len() as u32) << 16;
                batch.extend_from_slice(&place.to_le_bytes());
            }
            pieces().for_each(|piece| batch.extend_from_slice(&page[piece]));
        }
        let bytes = batch.len() as u32;
        batch[4..8].copy_from_slice(MAGIC);
        batch[8..12].copy_from_slice(&bytes.to_le_bytes());
        batch[12..16].copy_from_slice(&count.to_le_bytes());
        let crc = crc32c::crc32c(&batch[4..]);
        batch[..4].copy_from_slice(&crc.to_le_bytes());
        batch.pad_to(BLOCK);
        self.file.write_durable_at(batch, 0)?;
        Ok(batch.len())
    }

    /// After a crash: rebuilds the pages of the file `data` that are torn, and makes that durable before the area is used again.
    pub fn restore(&mut self, data: &File, redo_lsn: u64) -> io::Result<()> {
        let bytes = self.file.len()?.min(AREA_BYTES as u64) as usize / BLOCK * BLOCK;
        if bytes == 0 {
            return Ok(());
        }
        self.batch.clear();
        self.batch.resize(bytes, 0);
        self.file.read_at(&mut self.batch, 0)?;
        let is_batch = self.batch[4..8] == *MAGIC;
        let rebuilt = if is_batch { records(&self.batch) } else { images(&self.batch) };
        for record in rebuilt.iter().filter(|record| record.lsn().is_some_and(|lsn| lsn > redo_lsn)) {
            restore_page(data, record)?;
        }
        // Also what the last run wrote and this one found whole must be durable before the area has another batch.
        data.sync()
    }
}

fn restore_page(data: &File, record: &Rebuilt<'_>) -> io::Result<()> {
    let (id, offset) = (record.page, record.page.0 as u64 * PAGE_BYTES as u64);
    let mut buffer = AlignedBuffer::zeroed(PAGE_BYTES);
    if offset + PAGE_BYTES as u64 <= data.len()? {
        data.read_at(&mut buffer, offset)?;
    }
    let page: &mut PageBytes = (&mut buffer[..]).try_into().expect("a page's length");
    if Page(page).is_whole(id) {
        return Ok(());
    }
    record.put_over(page);
    // A page that was put together wrongly is left as it is: redo names it, unless a record of the log rebuilds it.
    if Page(page).is_whole(id) { data.write_at(&buffer, offset) } else { Ok(()) }
}

#[cfg(test)]
mod tests;
