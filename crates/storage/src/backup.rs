//! Pages out of a store that is in use, and into the files of a new one.
//!
//! ```text
//!   pages in use, before        checkpoint, redo start R        pages in use, after
//!        |                            |                              |
//!        +-------- union -------------|------------------------------+--> copied one after the other while work goes on
//! ```
//! A copy need not be of one moment. Every page of it is at least as new as R, for the checkpoint wrote what was older;
//! and no newer than the log that is durable when the copying ends. So redo from R to there brings all of them to the same
//! moment, as it does after a crash: each record looks at the page's lsn.
//!
//! Why both lists of pages in use: what was freed before the second one may have records behind R that the copy must be
//! able to take, and what was taken into use after the first one may be on disk only. What is taken into use behind R is
//! rebuilt by the log, and what is not in use is not copied.
//!
//! A page that is being written while it is read comes out torn: it is read again, or taken from the pool.
//!
//! A log backup copies pages in the same way: those whose rows its log lacks, as many of them as are still in use. They
//! are put over the pages of the store that is restored ([`RestoredPages::reopen`]), as old as they say they are.

use std::path::Path;
use std::time::Duration;

use pikepole_contention::sync::thread;
use pikepole_log::Lsn;
use pikepole_machine::{AlignedBuffer, Disk, File, OpenOptions};

use crate::allocation::{EXTENT_PAGES, page_bit};
use crate::checkpoint::Master;
use crate::error::{PageId, StorageError};
use crate::page::{PAGE_BYTES, Page, PageBytes, PageMut};
use crate::pool::PAGES_MAX;
use crate::stamps::Stamps;
use crate::store::{DOUBLE_WRITE_FILE, MASTER_FILE, PAGES_FILE, STAMPS_FILE, Store};

/// Extents that are read at once: a megabyte.
const EXTENTS_AT_ONCE: usize = 16;
/// How often a page that came out torn is looked at again, and the time between.
const LOOKS: u32 = 200;
const LOOK_PAUSE: Duration = Duration::from_millis(1);
/// Blocks of stamps that restored pages keep in memory.
const STAMPS_UNSAVED_MAX: usize = 512;

/// The pages of a store that are in use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PagesInUse {
    /// For each extent, a bit for each page.
    extents: Vec<u8>,
}

impl PagesInUse {
    /// How many pages.
    pub fn count(&self) -> u32 {
        self.extents.iter().map(|used| used.count_ones()).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.extents.iter().all(|&used| used == 0)
    }

    /// Adds a page.
    pub fn insert(&mut self, page: PageId) {
        self.insert_of_extent(page, page_bit(page));
    }

    /// Adds pages of the extent that `page` is in: a bit for each.
    pub fn insert_of_extent(&mut self, page: PageId, used: u8) {
        let extent = (page.0 / EXTENT_PAGES) as usize;
        if extent >= self.extents.len() {
            self.extents.resize(extent + 1, 0);
        }
        self.extents[extent] |= used;
    }

    /// Adds what is in use according to `other`.
    pub fn add(&mut self, other: &PagesInUse) {
        let longer = self.extents.len().max(other.extents.len());
        self.extents.resize(longer, 0);
        for (used, other) in self.extents.iter_mut().zip(&other.extents) {
            *used |= other;
        }
    }

    /// The number of extents that the list reaches over.
    pub fn extents(&self) -> u32 {
        self.extents.len() as u32
    }
}

impl Store {
    /// The pages that are in use at this moment.
    pub fn pages_in_use(&self) -> PagesInUse {
        let space = self.space.lock();
        let used = |extent| space.entry(extent).map_or(0, |(_, used)| used);
        PagesInUse { extents: (0..space.extents()).map(used).collect() }
    }

    /// Takes those out of the list that nobody uses, or is about to use, at this moment.
    pub fn keep_taken(&self, pages: &mut PagesInUse) {
        let space = self.space.lock();
        for (extent, used) in (0..).zip(&mut pages.extents) {
            *used &= space.taken(extent);
        }
    }

    /// Copies pages of `pages`, from the extent `first` on, to the end of `out`: as they are on disk, sealed, ascending.
    /// Returns the extent to go on with, and None behind the last one. Blocks.
    ///
    /// # Errors
    /// [`StorageError::Corrupt`] for a page that is in use and damaged; failed I/O.
    pub fn copy_pages(
        &self,
        pages: &PagesInUse,
        first: u32,
        out: &mut AlignedBuffer,
    ) -> Result<Option<u32>, StorageError> {
        let rest = pages.extents.get(first as usize..).unwrap_or_default();
        let Some(skipped) = rest.iter().position(|&used| used != 0) else { return Ok(None) };
        let first = first as usize + skipped;
        let end = (first + EXTENTS_AT_ONCE).min(pages.extents.len());
        let used = &pages.extents[first..end];
        let extent_bytes = EXTENT_PAGES as usize * PAGE_BYTES;
        let mut buffer = AlignedBuffer::zeroed(used.len() * extent_bytes);
        self.data
            .read_at(&mut buffer, (first * extent_bytes) as u64)
            .map_err(|error| StorageError::io("reading pages for a backup", error))?;
        for (index, bytes) in buffer.chunks_exact(PAGE_BYTES).enumerate() {
            if used[index / EXTENT_PAGES as usize] >> (index % EXTENT_PAGES as usize) & 1 == 0 {
                continue;
            }
            let id = PageId((first * EXTENT_PAGES as usize + index) as u32);
            let bytes: &PageBytes = bytes.try_into().expect("a page's length");
            if Page(bytes).is_whole(id) && self.check_stamp(id, Page(bytes)).is_ok() {
                out.extend_from_slice(bytes);
            } else if let Some(bytes) = self.look_again(id)? {
                out.extend_from_slice(&bytes[..]);
            }
        }
        Ok((end < pages.extents.len()).then_some(end as u32))
    }

    /// A page that was not whole: as the pool has it, or as the disk has it later. None when it is not in use any more.
    fn look_again(&self, id: PageId) -> Result<Option<Box<PageBytes>>, StorageError> {
        let mut why = String::new();
        for _ in 0..LOOKS {
            if self.pool.lookup(id).is_some() {
                let mut copy = self.until_done(|| self.pool.shared(id).map(|guard| Box::new(*guard.page().0)));
                if let Ok(bytes) = &mut copy {
                    PageMut::new(bytes).seal();
                    if Page(bytes).is_whole(id) {
                        return copy.map(Some);
                    }
                }
            }
            let bytes = self.read_page(id)?;
            match Page(&bytes).validate(id).and_then(|()| self.check_stamp(id, Page(&bytes))) {
                Ok(_) => return Ok(Some(bytes)),
                Err(error) => why = error.to_string(),
            }
            if self.object_of(id).is_none() {
                return Ok(None);
            }
            thread::sleep(LOOK_PAUSE);
        }
        Err(StorageError::corrupt(id, why))
    }

    /// Makes all of the log durable and returns the durable horizon. Blocks.
    ///
    /// # Errors
    /// A failed write of the log.
    pub fn harden_log(&self) -> Result<Lsn, StorageError> {
        self.flush_log_to(self.log.reserved())?;
        Ok(self.log.durable())
    }
}

/// Whether `bytes` are a sealed page: the page's number if so. For pages that were copied.
///
/// # Errors
/// What is wrong with it, with the number that it gives.
pub fn check_page(bytes: &[u8]) -> Result<PageId, (PageId, String)> {
    let Ok(bytes) = <&PageBytes>::try_from(bytes) else {
        return Err((PageId(0), "it is not as long as a page".into()));
    };
    let id = Page(bytes).id();
    match Page(bytes).validate(id) {
        Ok(()) => Ok(id),
        Err(StorageError::Corrupt { why, .. }) => Err((id, why)),
        Err(error) => Err((id, error.to_string())),
    }
}

fn restored_stamps(disk: &Disk, folder: &Path) -> Result<Stamps, StorageError> {
    let options = OpenOptions { create: true, ..OpenOptions::default() };
    let file = disk.open(folder.join(STAMPS_FILE), options);
    let file = file.map_err(|error| StorageError::io("opening the file of stamps", error))?;
    Ok(Stamps::new(file, true, Lsn::ZERO, 0))
}

/// The files of a store that is made from copied pages.
pub struct RestoredPages {
    disk: Disk,
    folder: std::path::PathBuf,
    data: File,
    stamps: Stamps,
    pages: u32,
    /// Pages behind the end make the file longer.
    grows: bool,
    run: AlignedBuffer,
}

impl RestoredPages {
    /// Makes the data file in `folder`, which exists and holds no store, with room for `pages` pages.
    ///
    /// # Errors
    /// No room; failed I/O.
    pub fn create(disk: &Disk, folder: &Path, pages: u32, direct: bool) -> Result<RestoredPages, StorageError> {
        let io = |error| StorageError::io("making the data file", error);
        let options = OpenOptions { create: true, direct, ..OpenOptions::default() };
        let data = disk.open(folder.join(PAGES_FILE), options).map_err(io)?;
        let bytes = u64::from(pages) * PAGE_BYTES as u64;
        data.allocate(0, bytes).map_err(io)?;
        if data.len().map_err(io)? < bytes {
            data.set_len(bytes).map_err(io)?;
        }
        let (disk, folder) = (disk.clone(), folder.to_path_buf());
        let stamps = restored_stamps(&disk, &folder)?;
        Ok(RestoredPages { disk, folder, data, stamps, pages, grows: false, run: AlignedBuffer::new() })
    }

    /// The files in `folder`, which were [made](RestoredPages::finish) so and not opened since, for pages from log
    /// backups, oldest backup first. What is [finished](RestoredPages::finish) then must be recovered with all of the
    /// log that came with these pages.
    ///
    /// # Errors
    /// Failed I/O.
    pub fn reopen(disk: &Disk, folder: &Path, direct: bool) -> Result<RestoredPages, StorageError> {
        let io = |error| StorageError::io("opening the data file", error);
        let options = OpenOptions { direct, ..OpenOptions::default() };
        let data = disk.open(folder.join(PAGES_FILE), options).map_err(io)?;
        let pages = (data.len().map_err(io)? / PAGE_BYTES as u64) as u32;
        let (disk, folder) = (disk.clone(), folder.to_path_buf());
        let stamps = restored_stamps(&disk, &folder)?;
        Ok(RestoredPages { disk, folder, data, stamps, pages, grows: true, run: AlignedBuffer::new() })
    }

    /// Writes copied pages, which were [checked](check_page), to their places.
    ///
    /// # Errors
    /// A page behind the end of the file; failed I/O.
    pub fn write(&mut self, pages: &[u8]) -> Result<(), StorageError> {
        let mut at = 0;
        while at < pages.len() {
            let number = |at: usize| pages.get(at + 4..at + 8).map(|b| u32::from_le_bytes(b.try_into().expect("four")));
            let first = number(at).unwrap_or(u32::MAX);
            let mut end = at + PAGE_BYTES;
            while number(end).is_some_and(|next| (next - first.min(next)) as usize == (end - at) / PAGE_BYTES) {
                end += PAGE_BYTES;
            }
            let behind = u64::from(first) + ((end - at) / PAGE_BYTES) as u64;
            if end > pages.len() || behind > u64::from(if self.grows { PAGES_MAX } else { self.pages }) {
                return Err(StorageError::corrupt(PageId(first), "it lies beyond the end of the data file"));
            }
            self.reach(behind as u32)?;
            self.run.clear();
            self.run.extend_from_slice(&pages[at..end]);
            self.data
                .write_at(&self.run, u64::from(first) * PAGE_BYTES as u64)
                .map_err(|error| StorageError::io("writing restored pages", error))?;
            self.note_stamps(first);
            at = end;
        }
        Ok(())
    }

    /// Notes how the pages of the run, from `first` on, were written.
    fn note_stamps(&mut self, first: u32) {
        let (pages, _) = self.run.as_chunks::<PAGE_BYTES>();
        for (id, bytes) in (first..).map(PageId).zip(pages) {
            self.stamps.written(id, Page(bytes));
        }
        if self.stamps.unsaved() >= STAMPS_UNSAVED_MAX {
            // No store is opened before it is finished: so the pages need not be durable first.
            self.stamps.save();
        }
    }

    /// Makes the file as long as so many pages need, in whole extents.
    fn reach(&mut self, pages: u32) -> Result<(), StorageError> {
        if pages > self.pages {
            self.pages = pages.next_multiple_of(EXTENT_PAGES);
            let longer = self.data.set_len(u64::from(self.pages) * PAGE_BYTES as u64);
            longer.map_err(|error| StorageError::io("growing the data file", error))?;
        }
        Ok(())
    }

    /// Makes it durable, with `master` as where recovery begins.
    ///
    /// # Errors
    /// Failed I/O.
    pub fn finish(mut self, master: &Master) -> Result<(), StorageError> {
        let io = |error| StorageError::io("making the data files durable", error);
        self.data.sync().map_err(io)?;
        let options = OpenOptions { create: true, ..OpenOptions::default() };
        self.disk.open(self.folder.join(DOUBLE_WRITE_FILE), options).map_err(io)?;
        let file = self.disk.open(self.folder.join(MASTER_FILE), options).map_err(io)?;
        let stamps = self.stamps.save();
        Master { clean: false, stamps, ..*master }.write(&file).map_err(io)?;
        self.disk.sync_dir(&self.folder).map_err(io)
    }
}
