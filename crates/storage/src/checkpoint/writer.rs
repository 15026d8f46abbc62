//! Writing dirty pages: the lazy writer's and the checkpoint's one way to the disk.
//!
//! ```text
//!   dirty frames -> sorted by page -> copied under a shared latch (clean from then on) -> sealed
//!     -> log durable up to their highest lsn
//!     -> pages that overwrite an older image: first what they change there into the double-write area, durably
//!     -> runs of neighbouring pages, one write each
//! ```
//!
//! Torn pages. A write of 8 KB can be cut by a crash. What is behind it then?
//! - The page was rebuilt as a whole by a log record at or above the redo start (a fresh page): redo rebuilds it again.
//!   Most pages of an insert load are of this kind, and cost nothing.
//! - Otherwise all that it changes on disk lies in the double-write area ([`super::double_write`]): that was durable before
//!   the page was touched. The area is used again only when the pages that it covered were synced.
//!
//! One batch is written at a time (the writer's lock), and the checkpoint syncs and names its redo start under the same
//! lock: so no fresh page is in flight while the redo start passes its record.

use pikepole_contention::Counter;
use pikepole_contention::sync::atomic::Ordering;
use pikepole_contention::sync::thread;
use pikepole_log::Lsn;
use pikepole_machine::{AlignedBuffer, File, is_full};

use crate::checkpoint::Master;
use crate::checkpoint::double_write::{BATCH_PAGES, DoubleWrite};
use crate::error::{PageId, StorageError};
use crate::fault;
use crate::frame::{IO_IDLE, IO_WRITING};
use crate::page::{Lines, PAGE_BYTES, Page, PageBytes, PageMut};
use crate::store::{Store, lock};

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
    double_write: DoubleWrite,
    batch: AlignedBuffer,
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
    /// The lines in which it may differ from the page on disk.
    changed: Lines,
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
            double_write: DoubleWrite::new(double_write),
            batch: AlignedBuffer::new(),
            unsynced: false,
            failures: 0,
        }
    }

    /// Takes the space of the whole double-write area, so that pages can be written on a full disk.
    ///
    /// # Errors
    /// No room for it.
    pub fn allocate(&self) -> Result<(), StorageError> {
        self.double_write.allocate().map_err(|error| StorageError::io("making the double-write area", error))
    }

    /// Makes a new master the one that counts.
    pub fn write_master(&mut self, master: Master) -> Result<(), StorageError> {
        master.write(&self.master_file).map_err(|error| StorageError::io("writing the master", error))?;
        self.master = master;
        Ok(())
    }

    /// After a crash: rebuilds torn pages from the double-write area.
    pub fn restore_torn(&mut self, data: &File) -> Result<(), StorageError> {
        let restored = self.double_write.restore(data, self.master.redo_lsn.0);
        restored.map_err(|error| StorageError::io("restoring torn pages", error))
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
            let changed = header.changed();
            header.set_changed(Lines::NONE);
            header.io.store(IO_WRITING, Ordering::Relaxed);
            let fresh = format_lsn != 0 && format_lsn >= redo_lsn;
            batch.push(Copied { frame, page, rec_lsn, fresh, changed });
        }
        batch
    }

    fn write_batch(&self, writer: &mut Writer, batch: &[Copied]) -> Result<(), StorageError> {
        let mut lsn = 0;
        for index in 0..batch.len() {
            let mut page = PageMut::new(page_of(&mut writer.batch, index));
            page.seal();
            lsn = lsn.max(page.as_page().lsn());
        }
        if !fault::no_wal_rule() {
            self.flush_log_to(Lsn(lsn))?;
        }
        self.protect(writer, batch)?;
        // Also if one of the writes fails: those before it must be durable before the area has another batch.
        writer.unsynced |= !batch.is_empty();
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
        Ok(())
    }

    /// Notes how the pages of a batch were written. Before their frames may lose them: who reads one finds its stamp.
    fn note_stamps(&self, writer: &mut Writer, batch: &[Copied]) {
        let mut stamps = lock(&self.stamps);
        for (index, copied) in batch.iter().enumerate() {
            stamps.written(copied.page, Page(page_of(&mut writer.batch, index)));
        }
    }

    /// Puts what the pages that are not fresh change on disk into the double-write area.
    fn protect(&self, writer: &mut Writer, batch: &[Copied]) -> Result<(), StorageError> {
        if batch.iter().all(|copied| copied.fresh) || fault::no_double_write() {
            return Ok(());
        }
        self.sync_data(writer)?;
        let pages = writer.batch.as_chunks::<PAGE_BYTES>().0;
        let old = || batch.iter().zip(pages).filter(|(copied, _)| !copied.fresh);
        debug_assert!(old().all(|(copied, page)| self.has_noted_changes(copied, page)), "changes that were not noted");
        let old = old().map(|(copied, page)| (copied.page, page, copied.changed));
        let bytes = writer.double_write.write(old, self.torn_pages()).map_err(|error| match is_full(&error) {
            // The area was cut, or is on a file system without preallocation. Nothing is lost: what it covered is synced.
            true => StorageError::io("writing the double-write area", error),
            false => self.poison(format!("writing the double-write area: {error}")),
        })?;
        self.pool.statistics.add(Counter::DoubleWriteBytes, bytes as u64);
        Ok(())
    }

    /// Compares a page with the one on disk. True if they differ in noted lines only, or if that one is not what was last written.
    fn has_noted_changes(&self, copied: &Copied, page: &PageBytes) -> bool {
        let mut buffer = AlignedBuffer::zeroed(PAGE_BYTES);
        if self.data.read_at(&mut buffer, copied.page.0 as u64 * PAGE_BYTES as u64).is_err() {
            return true;
        }
        let old = page_of(&mut buffer, 0);
        let noted = copied.changed.with(Lines::HEADER);
        let is_last = Page(old).is_whole(copied.page) && lock(&self.stamps).is_last(copied.page, Page(old));
        !is_last || noted.with(Lines::differing(old, page)) == noted
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
            // What a failed write has left there is not known.
            header.set_changed(Lines::ALL);
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
