//! Writing dirty pages: the lazy writer's and the checkpoint's one way to the disk.
//!
//! ```text
//!   dirty frames -> sorted by page -> copied under a shared latch (clean from then on) -> sealed
//!     -> log durable up to their highest lsn
//!     -> pages that overwrite an older image: first all into the double-write area, durably
//!     -> runs of neighbouring pages, one write each
//! ```
//!
//! Torn pages. A write of 8 KB can be cut by a crash. What is behind it then?
//! - The page was rebuilt as a whole by a log record at or above the redo start (a fresh page): redo rebuilds it again.
//!   Most pages of an insert load are of this kind, and cost nothing.
//! - Otherwise its new image lies whole in the double-write area: that was durable before the page was touched. The area
//!   is used again only when the pages that it covered were synced.
//!
//! An image of the area is believed only above the redo start. Were it older, the page would have been synced since (the
//! checkpoint that moved the redo start did so), and what tore it was a write of a fresh page.
//!
//! One batch is written at a time (the writer's lock), and the checkpoint syncs and names its redo start under the same
//! lock: so no fresh page is in flight while the redo start passes its record.

use pikepole_contention::Counter;
use pikepole_contention::sync::atomic::Ordering;
use pikepole_contention::sync::thread;
use pikepole_log::Lsn;
use pikepole_machine::{AlignedBuffer, File, is_full};
use std::collections::BTreeMap;

use crate::checkpoint::Master;
use crate::error::{PageId, StorageError};
use crate::fault;
use crate::frame::{IO_IDLE, IO_WRITING};
use crate::page::{PAGE_BYTES, Page, PageBytes, PageMut};
use crate::store::{Store, lock};

/// Pages of a batch, and of the double-write area.
pub(crate) const BATCH_PAGES: usize = 512;

/// Who writes; decides what is counted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Checkpoint,
    Lazy,
}

/// The state of the one who writes pages.
pub(crate) struct Writer {
    pub master: Master,
    master_file: File,
    double_write: File,
    batch: AlignedBuffer,
    copies: AlignedBuffer,
    /// Pages were written in place since the last sync.
    pub unsynced: bool,
    /// Batches that failed.
    pub failures: u64,
}

/// A page in the batch.
struct Copied {
    frame: u32,
    page: PageId,
    rec_lsn: u64,
    fresh: bool,
}

fn page_of(buffer: &mut AlignedBuffer, index: usize) -> &mut PageBytes {
    let at = index * PAGE_BYTES;
    (&mut buffer[at..at + PAGE_BYTES]).try_into().expect("a page's length")
}

impl Writer {
    pub fn new(double_write: File, master_file: File, master: Master) -> Writer {
        Writer {
            master,
            master_file,
            double_write,
            batch: AlignedBuffer::new(),
            copies: AlignedBuffer::new(),
            unsynced: false,
            failures: 0,
        }
    }

    /// Takes the space of the whole double-write area, so that pages can be written on a full disk.
    ///
    /// # Errors
    /// No room for it.
    pub fn allocate(&self) -> Result<(), StorageError> {
        let bytes = (BATCH_PAGES * PAGE_BYTES) as u64;
        self.double_write.allocate(0, bytes).map_err(|error| StorageError::io("making the double-write area", error))
    }

    /// Makes a new master the one that counts.
    pub fn write_master(&mut self, master: Master) -> Result<(), StorageError> {
        master.write(&self.master_file).map_err(|error| StorageError::io("writing the master", error))?;
        self.master = master;
        Ok(())
    }

    /// After a crash: puts the images that the double-write area holds over pages that are torn, and makes that durable
    /// before the area is used again.
    pub fn restore_torn(&mut self, data: &File) -> Result<(), StorageError> {
        let io = |error| StorageError::io("restoring torn pages", error);
        let len = self.double_write.len().map_err(io)? as usize;
        self.copies.resize((len / PAGE_BYTES).min(BATCH_PAGES) * PAGE_BYTES, 0);
        if self.copies.is_empty() {
            return Ok(());
        }
        self.double_write.read_at(&mut self.copies, 0).map_err(io)?;
        let mut images: BTreeMap<PageId, usize> = BTreeMap::new();
        let mut lsns: BTreeMap<PageId, u64> = BTreeMap::new();
        for index in 0..self.copies.len() / PAGE_BYTES {
            let page = Page(page_of(&mut self.copies, index));
            let (id, lsn) = (page.id(), page.lsn());
            // Only an image above the redo start is that of the write that a crash can have torn: see the module.
            let believed = page.is_whole(id) && lsn > self.master.redo_lsn.0;
            if believed && lsns.get(&id).is_none_or(|&other| other < lsn) {
                images.insert(id, index);
                lsns.insert(id, lsn);
            }
        }
        let data_bytes = data.len().map_err(io)?;
        self.batch.resize(PAGE_BYTES, 0);
        for (id, index) in images {
            let offset = id.0 as u64 * PAGE_BYTES as u64;
            if offset + PAGE_BYTES as u64 <= data_bytes {
                data.read_at(&mut self.batch, offset).map_err(io)?;
                if Page(page_of(&mut self.batch, 0)).is_whole(id) {
                    continue;
                }
            }
            data.write_at(&self.copies[index * PAGE_BYTES..(index + 1) * PAGE_BYTES], offset).map_err(io)?;
        }
        // Also what the last run wrote and this one found whole must be durable before the area loses its images.
        data.sync().map_err(io)
    }
}

impl Store {
    /// Writes the pages of these frames that are dirty. Blocks.
    pub(crate) fn write_frames(
        &self,
        writer: &mut Writer,
        frames: &mut [(PageId, u32)],
        purpose: Purpose,
    ) -> Result<usize, StorageError> {
        frames.sort_unstable();
        let mut written = 0;
        for frames in frames.chunks(BATCH_PAGES) {
            let batch = self.copy_batch(writer, frames, purpose);
            let result = self.write_batch(writer, &batch);
            if result.is_ok() {
                self.note_stamps(writer, &batch);
            }
            for copied in &batch {
                self.end_write(copied, result.is_ok());
            }
            if result.is_err() {
                writer.failures += 1;
            }
            result?;
            written += batch.len();
            let counter = if purpose == Purpose::Lazy { Counter::LazyWrites } else { Counter::CheckpointPages };
            self.pool.statistics.add(counter, batch.len() as u64);
            self.pool.statistics.add(Counter::PageWrites, batch.len() as u64);
        }
        Ok(written)
    }

    /// Copies what is dirty; from here on the frames are clean.
    fn copy_batch(&self, writer: &mut Writer, frames: &[(PageId, u32)], purpose: Purpose) -> Vec<Copied> {
        let redo_lsn = writer.master.redo_lsn.0;
        writer.batch.resize(frames.len() * PAGE_BYTES, 0);
        let mut batch: Vec<Copied> = Vec::with_capacity(frames.len());
        for &(page, frame) in frames {
            let guard = loop {
                match self.pool.try_shared_at(frame) {
                    None if purpose == Purpose::Checkpoint => thread::yield_now(),
                    guard => break guard,
                }
            };
            let Some(guard) = guard else { continue };
            let header = guard.header();
            if header.page() != Some(page.0) {
                continue;
            }
            // The shared latch keeps writers of the page away: bytes, mark and lsn belong together.
            let rec_lsn = header.rec_lsn.swap(0, Ordering::Relaxed);
            if rec_lsn == 0 {
                continue;
            }
            *page_of(&mut writer.batch, batch.len()) = *guard.page().0;
            let format_lsn = header.format_lsn.load(Ordering::Relaxed);
            header.io.store(IO_WRITING, Ordering::Relaxed);
            batch.push(Copied { frame, page, rec_lsn, fresh: format_lsn != 0 && format_lsn >= redo_lsn });
        }
        batch
    }

    fn write_batch(&self, writer: &mut Writer, batch: &[Copied]) -> Result<(), StorageError> {
        let mut lsn = 0;
        for index in 0..batch.len() {
            let mut page = PageMut(page_of(&mut writer.batch, index));
            page.seal();
            lsn = lsn.max(page.as_page().lsn());
        }
        if !fault::no_wal_rule() {
            self.flush_log_to(Lsn(lsn))?;
        }
        self.protect(writer, batch)?;
        let mut first = 0;
        for next in 1..=batch.len() {
            if next < batch.len() && batch[next].page.0 == batch[next - 1].page.0 + 1 {
                continue;
            }
            let bytes = &writer.batch[first * PAGE_BYTES..next * PAGE_BYTES];
            let offset = batch[first].page.0 as u64 * PAGE_BYTES as u64;
            self.data_io
                .write(bytes.len(), || self.data.write_at(bytes, offset))
                .map_err(|error| StorageError::io("writing pages", error))?;
            first = next;
        }
        writer.unsynced |= !batch.is_empty();
        Ok(())
    }

    /// Notes how the pages of a batch were written. Before their frames may lose them: who reads one finds its stamp.
    fn note_stamps(&self, writer: &mut Writer, batch: &[Copied]) {
        let mut stamps = lock(&self.stamps);
        for (index, copied) in batch.iter().enumerate() {
            stamps.written(copied.page, Page(page_of(&mut writer.batch, index)));
        }
    }

    /// Puts the pages that are not fresh into the double-write area.
    fn protect(&self, writer: &mut Writer, batch: &[Copied]) -> Result<(), StorageError> {
        let old: Vec<usize> = (0..batch.len()).filter(|&index| !batch[index].fresh).collect();
        if old.is_empty() || fault::no_double_write() {
            return Ok(());
        }
        self.sync_data(writer)?;
        writer.copies.resize(old.len() * PAGE_BYTES, 0);
        for (to, &from) in old.iter().enumerate() {
            *page_of(&mut writer.copies, to) = *page_of(&mut writer.batch, from);
        }
        writer.double_write.write_durable_at(&writer.copies, 0).map_err(|error| match is_full(&error) {
            // The area was cut, or is on a file system without preallocation. Nothing is lost: what it covered is synced.
            true => StorageError::io("writing the double-write area", error),
            false => self.poison(format!("writing the double-write area: {error}")),
        })
    }

    /// Makes the pages written so far durable. A failure is final.
    pub(crate) fn sync_data(&self, writer: &mut Writer) -> Result<(), StorageError> {
        if writer.unsynced {
            self.data.sync().map_err(|error| self.poison(format!("syncing the data file: {error}")))?;
            writer.unsynced = false;
        }
        Ok(())
    }

    fn end_write(&self, copied: &Copied, written: bool) {
        let header = self.pool.header(copied.frame);
        if !written {
            // The disk still lacks what was copied: the page is as old as it was. A change made meanwhile is newer; the
            // latch keeps its writer from marking the page at this moment.
            let _latched = loop {
                match self.pool.try_shared_at(copied.frame) {
                    Some(guard) => break guard,
                    None => thread::yield_now(),
                }
            };
            header.rec_lsn.store(copied.rec_lsn, Ordering::Relaxed);
        }
        // Relaxed: whoever takes the frame next also takes its latch.
        header.io.store(IO_IDLE, Ordering::Relaxed);
    }

    /// Frees frames: clean ones at once, dirty ones by writing them. Blocks.
    pub(crate) fn make_room(&self) -> Result<(), StorageError> {
        self.pool.statistics.add(Counter::FreeListStalls, 1);
        let mut writer = crate::store::lock(&self.writer);
        for _ in 0..64 {
            if self.pool.free_frames() > 0 {
                return Ok(());
            }
            self.free_some(&mut writer)?;
        }
        // Every page is in use at this moment: let the others go on before the caller tries again.
        drop(writer);
        thread::yield_now();
        Ok(())
    }

    /// One step of the lazy writer.
    pub(crate) fn free_some(&self, writer: &mut Writer) -> Result<usize, StorageError> {
        let want = (self.pool.frames() / 8).clamp(8, BATCH_PAGES);
        let swept = self.pool.sweep(want);
        let page_of = |frame: u32| self.pool.header(frame).page().map(|page| (PageId(page), frame));
        let mut dirty: Vec<(PageId, u32)> = swept.dirty.into_iter().filter_map(page_of).collect();
        let written = self.write_frames(writer, &mut dirty, Purpose::Lazy)?;
        for &(_, frame) in &dirty {
            self.pool.evict(frame);
        }
        Ok(swept.freed + written)
    }
}
