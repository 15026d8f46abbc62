//! The store of one database: its files, its pool, its log, and the loop that satisfies needs.
//!
//! ```text
//!   data/pages          the pages                         direct I/O
//!   data/double-write   copies of pages about to be overwritten (see `checkpoint::writer`)
//!   data/master         where recovery begins (see `checkpoint::master`)
//!   data/stamps         how each page was last written (see `stamps`)
//! ```
//!
//! Order of latches and locks, outermost first: checkpointing -> growth -> writer -> clock hand -> a heap's shared target ->
//! page latches (parent, child, new page, map page) -> space, free list, stamps. No latch and no spinlock is held across a need; the
//! first three are only taken by blocking code, which may satisfy needs while it holds them. See `docs/understand/locks.md`.

use std::collections::HashSet;
use std::io::IoSliceMut;
use std::path::Path;
use std::sync::{Arc, Weak};
use std::task::Poll;
use std::time::Duration;

use pikepole_contention::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use pikepole_contention::sync::{Condvar, Mutex, MutexGuard, thread};
use pikepole_contention::{CountedMutex, Counter, LatchClass, Spinlock, SpinlockClass, Statistics};
use pikepole_log::{FlushOutcome, Log, Lsn, LsnRange, Refused};
use pikepole_machine::memory::{Budget, Cache};
use pikepole_machine::{AlignedBuffer, Disk, File, MemoryGrant, OpenOptions, Pages, clock, is_full};

use crate::allocation::{EXTENT_PAGES, EXTENTS_FREE_MIN, Space};
use crate::checkpoint::{Master, TornPages, Writer};
use crate::error::{Need, PageId, Stop, StorageError};
use crate::fault;
use crate::growth::FileLimits;
use crate::io_totals::{IoStats, IoTotals};
use crate::page::{Lines, PAGE_BYTES, Page, PageBytes};
use crate::parts::PartUse;
use crate::pool::{FreeFrame, Pool, PoolGrowth};
use crate::records::Record;
use crate::row::LogContext;
use crate::rows_in_log::RowsInLog;
use crate::stamps::{Stamps, Verdict};
use crate::suspects::Suspects;

/// Name of the file of pages in the store's folder.
pub const PAGES_FILE: &str = "pages";
pub(crate) const DOUBLE_WRITE_FILE: &str = "double-write";
pub(crate) const MASTER_FILE: &str = "master";
pub(crate) const STAMPS_FILE: &str = "stamps";
/// How long a thread that may block leaves a flush of the log to whoever is at it.
const FLUSH_PAUSE: Duration = Duration::from_micros(50);

/// Threads that read many pages, and pages that make another one worth while.
const READ_THREADS: usize = 16;
const READS_A_THREAD: usize = 8;

/// Sizes of a store.
#[derive(Clone, Debug)]
pub struct StoreOptions {
    /// Bytes of pages kept in memory at most, until [`Store::set_pool_bytes`] says otherwise; at least 64 pages are.
    pub pool_bytes: usize,
    /// Bytes that [`Store::set_pool_bytes`] can raise that to: addresses are reserved for so many. No more than `pool_bytes` unless it
    /// is greater.
    pub pool_bytes_max: usize,
    /// The source of their memory; `None`: all of them are the store's own.
    pub budget: Option<Arc<Budget>>,
    /// The pages of the system that they are kept in.
    pub memory_pages: Pages,
    /// The memory nodes that schedulers are near to: with two or more, a part of the pool has memory of each.
    pub memory_nodes: Vec<usize>,
    /// Whether a thread touches the pool's memory ahead of its use.
    pub touch_ahead: bool,
    /// When more of them are kept.
    pub pool_growth: PoolGrowth,
    /// Largest step by which the data file grows, in bytes: a multiple of 64 KB.
    pub growth_bytes_max: u64,
    /// Whether files are opened past the page cache.
    pub direct: bool,
    /// Set when a page is found damaged: [`Store::take_suspects`] tells which. One for all stores of a server.
    pub damage_seen: Arc<AtomicBool>,
    /// Threads that apply the log when a store is opened that was not closed in order; 0: the caller's, which then does all
    /// of the opening. None: one a CPU, and on a simulated disk none, so that its runs can be replayed.
    pub redo_threads: Option<usize>,
}

impl Default for StoreOptions {
    fn default() -> StoreOptions {
        StoreOptions {
            pool_bytes: 256 << 20,
            pool_bytes_max: 0,
            budget: None,
            memory_pages: Pages::default(),
            memory_nodes: Vec::new(),
            touch_ahead: true,
            pool_growth: PoolGrowth::default(),
            growth_bytes_max: 256 << 20,
            direct: true,
            damage_seen: Arc::default(),
            redo_threads: None,
        }
    }
}

/// How many pages inserts into a heap work on at once (`HEAP_INSERT_TARGETS`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum HeapInsertTargets {
    /// One, under the spinlock `ALLOC_CACHES_HASH`.
    OneTarget,
    /// One for each scheduler.
    PerScheduler,
}

/// The pages of one database. Trees and heaps are handles on it.
pub struct Store {
    pub(crate) pool: Pool,
    pub(crate) log: Arc<Log>,
    pub(crate) options: StoreOptions,
    pub(crate) data: File,
    pub(crate) data_io: IoTotals,
    pub(crate) pages_in_file: AtomicU32,
    pub(crate) space: Spinlock<Space>,
    /// One checkpoint at a time: an older one must not put the redo start back.
    pub(crate) checkpointing: CountedMutex<()>,
    pub(crate) growth: CountedMutex<()>,
    /// The growth of the file; taken by itself.
    pub(crate) file_limits: Mutex<FileLimits>,
    pub(crate) writer: Mutex<Writer>,
    pub(crate) stamps: Mutex<Stamps>,
    pub(crate) suspects: Suspects,
    pub(crate) rows_in_log: RowsInLog,
    /// The redo start that the master names.
    pub(crate) redo_start: AtomicU64,
    pub(crate) stopping: AtomicBool,
    /// Threads of redo.
    pub(crate) redo_threads: usize,
    loading: Mutex<HashSet<u32>>,
    loaded: Condvar,
    /// Whether `poisoned` has a reason: what the hot path looks at.
    is_poisoned: AtomicBool,
    poisoned: Mutex<Option<String>>,
    heap_insert_targets: AtomicU8,
    torn_pages: AtomicU8,
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic elsewhere leaves these values whole: each is changed by single assignments.
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn cpus() -> usize {
    thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// The pool.
impl Cache for Store {
    fn bytes(&self) -> u64 {
        self.pool.granted_bytes()
    }

    fn give_way(&self, bytes: u64) -> u64 {
        self.pool.give_way(bytes)
    }
}

impl Store {
    /// Makes an empty store in `folder`, which must exist and hold none.
    ///
    /// # Errors
    /// Files that cannot be made; a full disk.
    pub fn create(
        disk: &Disk,
        folder: impl AsRef<Path>,
        options: StoreOptions,
        log: Arc<Log>,
        statistics: Arc<Statistics>,
    ) -> Result<Arc<Store>, StorageError> {
        let folder = folder.as_ref();
        if disk.exists(folder.join(MASTER_FILE)) {
            return Err(StorageError::bad_file(MASTER_FILE, "the folder holds a database already"));
        }
        let start = log.reserved();
        let master = Master::first(start);
        let store = Store::start(disk, folder, options, log, statistics, master)?;
        store.space.lock().rebuild(0);
        lock(&store.writer).allocate()?;
        store.grow(EXTENTS_FREE_MIN)?;
        store.checkpoint_now(&|| None, &|| 1, false)?;
        disk.sync_dir(folder).map_err(|error| StorageError::io("making the data files", error))?;
        Ok(store)
    }

    /// Opens the store in `folder`. Then, in this order: a [`Redo`](crate::Redo) of every record from
    /// [`Master::redo_lsn`] on, to its end, and only then anything else.
    ///
    /// # Errors
    /// Missing, damaged or truncated files.
    pub fn open(
        disk: &Disk,
        folder: impl AsRef<Path>,
        options: StoreOptions,
        log: Arc<Log>,
        statistics: Arc<Statistics>,
    ) -> Result<Arc<Store>, StorageError> {
        let folder = folder.as_ref();
        let master = Master::read(disk, folder)?;
        let had_stamps = disk.exists(folder.join(STAMPS_FILE));
        let pages_at_checkpoint = master.pages;
        let store = Store::start(disk, folder, options, log, statistics, master)?;
        let pages = store.pages_in_file.load(Ordering::Relaxed);
        if pages < pages_at_checkpoint {
            let why = format!("the data file was cut off: it has {pages} of {pages_at_checkpoint} pages");
            return Err(StorageError::corrupt(PageId(pages), why));
        }
        let mut writer = lock(&store.writer);
        if master.clean {
            // From the first change on this is no longer so, and a crash must find it out.
            writer.write_master(Master { sequence: master.sequence + 1, clean: false, ..master })?;
        } else {
            writer.restore_torn(&store.data)?;
            // From here on the double-write area may have what builds of an older format do not know.
            writer.write_master(Master { sequence: master.sequence + 1, ..master })?;
        }
        drop(writer);
        if !had_stamps {
            disk.sync_dir(folder).map_err(|error| StorageError::io("making the file of stamps", error))?;
        }
        let room = lock(&store.stamps).allocate(pages);
        match room {
            // It is the room of a folder without stamps that may be lacking; then there are none.
            Err(error) if !is_full(&error) => Err(StorageError::io("taking room for the stamps", error)),
            _ => Ok(store),
        }
    }

    /// What recovery must know before the log and the store can be opened.
    ///
    /// # Errors
    /// No master, a damaged one, or one of another format.
    pub fn read_master(disk: &Disk, folder: impl AsRef<Path>) -> Result<Master, StorageError> {
        Master::read(disk, folder.as_ref())
    }

    fn start(
        disk: &Disk,
        folder: &Path,
        options: StoreOptions,
        log: Arc<Log>,
        statistics: Arc<Statistics>,
        master: Master,
    ) -> Result<Arc<Store>, StorageError> {
        let open = |name: &str, direct| {
            let file_options = OpenOptions { create: true, direct, ..OpenOptions::default() };
            disk.open(folder.join(name), file_options).map_err(|error| StorageError::io("opening a data file", error))
        };
        let data = open(PAGES_FILE, options.direct)?;
        let writer = Writer::new(open(DOUBLE_WRITE_FILE, options.direct)?, open(MASTER_FILE, false)?, master);
        let stamps = Stamps::new(open(STAMPS_FILE, false)?, master.stamps, master.redo_lsn, options.pool_bytes);
        let len = data.len().map_err(|error| StorageError::io("reading the data file's length", error))?;
        let pool = Pool::new(&options, &statistics)
            .map_err(|error| StorageError::io("reserving memory for the buffer pool", error))?;
        let extent_bytes = PAGE_BYTES as u64 * EXTENT_PAGES as u64;
        let is_simulated = disk.as_simulated().is_some();
        statistics.add(Counter::DataFilesSize, len >> 10);
        let store = Arc::new(Store {
            pool,
            log,
            data,
            data_io: IoTotals::default(),
            pages_in_file: AtomicU32::new((len / extent_bytes) as u32 * EXTENT_PAGES),
            space: Spinlock::new(SpinlockClass::SPACE_MANAGER, &statistics, Space::default()),
            checkpointing: CountedMutex::new(LatchClass::DATABASE_CHECKPOINT, &statistics, ()),
            growth: CountedMutex::new(LatchClass::FGCB_ADD_REMOVE, &statistics, ()),
            file_limits: Mutex::new(FileLimits::default()),
            writer: Mutex::new(writer),
            stamps: Mutex::new(stamps),
            suspects: Suspects::default(),
            rows_in_log: RowsInLog::default(),
            redo_start: AtomicU64::new(master.redo_lsn.0),
            stopping: AtomicBool::new(false),
            redo_threads: options.redo_threads.unwrap_or(if is_simulated { 0 } else { cpus() }),
            loading: Mutex::new(HashSet::new()),
            loaded: Condvar::new(),
            is_poisoned: AtomicBool::new(false),
            poisoned: Mutex::new(None),
            heap_insert_targets: AtomicU8::new(HeapInsertTargets::PerScheduler as u8),
            torn_pages: AtomicU8::new(TornPages::Delta as u8),
            options,
        });
        if let Some(budget) = &store.options.budget {
            let cache: Weak<Store> = Arc::downgrade(&store);
            budget.add_cache(cache);
        }
        Ok(store)
    }

    /// Switches how inserts into heaps find their page; takes effect with the next insert.
    pub fn set_heap_insert_targets(&self, policy: HeapInsertTargets) {
        self.heap_insert_targets.store(policy as u8, Ordering::Relaxed);
    }

    /// The policy in force.
    pub fn heap_insert_targets(&self) -> HeapInsertTargets {
        if self.heap_insert_targets.load(Ordering::Relaxed) == HeapInsertTargets::OneTarget as u8 {
            HeapInsertTargets::OneTarget
        } else {
            HeapInsertTargets::PerScheduler
        }
    }

    /// Switches the part of a page that goes into the double-write area; takes effect with the next batch of pages.
    pub fn set_torn_pages(&self, policy: TornPages) {
        self.torn_pages.store(policy as u8, Ordering::Relaxed);
    }

    /// The policy in force.
    pub fn torn_pages(&self) -> TornPages {
        let is_whole = self.torn_pages.load(Ordering::Relaxed) == TornPages::Whole as u8;
        if is_whole { TornPages::Whole } else { TornPages::Delta }
    }

    /// The log that this store writes to.
    pub fn log(&self) -> &Arc<Log> {
        &self.log
    }

    /// The statistics that this store counts in.
    pub fn statistics(&self) -> &Arc<Statistics> {
        &self.pool.statistics
    }

    /// Empties the buffer pool of pages that are on disk as they are in it.
    pub fn drop_clean_pages(&self) {
        self.pool.evict_clean();
    }

    /// Bytes of the pool's frames that have memory.
    pub fn pool_bytes(&self) -> u64 {
        self.pool.granted_bytes()
    }

    /// Changes how many bytes of pages are kept at most, up to [`StoreOptions::pool_bytes_max`]. Pages beyond it leave as memory is asked
    /// back from the store, which is a cache of its budget, and as the lazy writer makes room.
    pub fn set_pool_bytes(&self, bytes: usize) {
        self.pool.set_target(bytes);
        self.stamps.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).fit(bytes);
    }

    /// Memory is not short any more: the pool may ask for frames again.
    pub fn lift_pool_limit(&self) {
        self.pool.lift_limit();
    }

    /// The pages of the system that the buffer pool is in.
    pub fn memory(&self) -> &MemoryGrant {
        self.pool.grant()
    }

    /// What each part of the buffer pool holds: one for each memory node.
    pub fn pool_parts(&self) -> impl Iterator<Item = PartUse> {
        self.pool.part_uses()
    }

    /// Pages of the data file, used or not.
    pub fn file_pages(&self) -> u32 {
        self.pages_in_file.load(Ordering::Relaxed)
    }

    /// Reads and writes of pages in the data file since it was opened; those of the double-write area are not among them.
    pub fn data_io(&self) -> IoStats {
        self.data_io.stats()
    }

    /// Recovery would begin here: what was logged below is in the data file.
    pub fn redo_start(&self) -> Lsn {
        Lsn(self.redo_start.load(Ordering::Relaxed))
    }

    /// The reason why the store takes no more changes, if there is one.
    pub fn poisoned(&self) -> Option<String> {
        lock(&self.poisoned).clone()
    }

    pub(crate) fn poison(&self, why: String) -> StorageError {
        let why = lock(&self.poisoned).get_or_insert(why).clone();
        // Relaxed: a change that slips through is logged; it is lost only if it is never made durable.
        self.is_poisoned.store(true, Ordering::Relaxed);
        StorageError::Poisoned { why }
    }

    /// Appends the record of a change, as its context asks, behind all earlier changes of the pages that it is about:
    /// `page_lsn` is the highest of theirs. The caller holds their latches.
    #[inline]
    pub(crate) fn append(&self, context: &LogContext, page_lsn: u64, record: &Record<'_>) -> Result<LsnRange, Stop> {
        if self.is_poisoned.load(Ordering::Relaxed) && !context.is_clr() {
            return Err(self.refuse_change());
        }
        let after = context.after.max(if fault::no_page_order() { Lsn::ZERO } else { Lsn(page_lsn) });
        let appended = if context.is_clr() {
            self.log.append_record_reserved_after(after, record)
        } else {
            self.log.append_record_after(after, record)
        };
        appended.map_err(|refused| self.refused(refused))
    }

    /// Appends a record that space is kept for, because it ends or undoes something, behind all that was appended so
    /// far.
    pub(crate) fn append_kept(&self, record: &Record<'_>) -> Result<LsnRange, Stop> {
        let appended = self.log.append_record_reserved_after(self.log.reserved(), record);
        appended.map_err(|refused| self.refused(refused))
    }

    #[cold]
    fn refuse_change(&self) -> Stop {
        Stop::Error(StorageError::Poisoned { why: self.poisoned().unwrap_or_default() })
    }

    #[cold]
    fn refused(&self, refused: Refused) -> Stop {
        match refused {
            Refused::BufferFull => Stop::Need(Need::LogBuffer),
            Refused::LogFull => Stop::Error(StorageError::LogFull),
            Refused::Poisoned => Stop::Error(StorageError::Poisoned { why: "writing the log failed".into() }),
        }
    }

    /// Blocks until the log is durable up to `lsn`.
    pub(crate) fn flush_log_to(&self, lsn: Lsn) -> Result<(), StorageError> {
        while self.log.durable() < lsn {
            self.flush_log_once()?;
        }
        Ok(())
    }

    /// Writes what the log's buffer holds, or lets whoever does that go on.
    fn flush_log_once(&self) -> Result<(), StorageError> {
        let outcome = self.log.flush_step();
        let prepared = self.log.prepare_step();
        if self.log.is_poisoned() {
            return Err(StorageError::Poisoned { why: "writing the log failed".into() });
        }
        match outcome {
            FlushOutcome::Wrote(_) => {}
            // A durable write is under way: it takes about that long.
            FlushOutcome::Busy => thread::sleep(FLUSH_PAUSE),
            FlushOutcome::Nothing if prepared => {}
            FlushOutcome::Nothing => thread::yield_now(),
            // Waiting here would hold what others need to make room.
            FlushOutcome::NoRoom => return Err(StorageError::LogFull),
        }
        Ok(())
    }

    /// Does what an operation lacked; call the operation again when this is done. Page reads and writes run on the
    /// scheduler's threads for blocking work.
    ///
    /// # Errors
    /// The page is damaged, the disk is full, or I/O failed.
    pub async fn satisfy(self: &Arc<Self>, need: Need) -> Result<(), StorageError> {
        match need {
            Need::LogBuffer => {
                self.log.buffer_space().await;
                Ok(())
            }
            Need::PageLatch(page) => {
                self.latch_freed(page).await;
                Ok(())
            }
            Need::Page(_) | Need::Pages(_) | Need::Frame | Need::Space => {
                let store = Arc::clone(self);
                pikepole_scheduler::run_blocking(move || store.satisfy_now(need)).await
            }
        }
    }

    /// Waits, by giving way to other tasks, until a page's latch is free. Whoever holds it is running, for microseconds.
    async fn latch_freed(&self, page: PageId) {
        let begin_us = clock::now_us();
        std::future::poll_fn(|context| {
            if !self.is_latched(page) {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
        self.pool.statistics.record_latch_wait(LatchClass::BUFFER, clock::now_us() - begin_us);
    }

    fn is_latched(&self, page: PageId) -> bool {
        self.pool.lookup(page).is_some_and(|frame| self.pool.header(frame).is_held_exclusively())
    }

    /// [`Store::satisfy`] for threads that may block: recovery, tools, tests.
    ///
    /// # Errors
    /// As of [`Store::satisfy`].
    pub fn satisfy_now(&self, need: Need) -> Result<(), StorageError> {
        match need {
            Need::Page(page) => self.load_page(page),
            Need::Pages(run) => self.load_run(run),
            Need::PageLatch(page) => {
                let begin_us = clock::now_us();
                while self.is_latched(page) {
                    thread::yield_now();
                }
                self.pool.statistics.record_latch_wait(LatchClass::BUFFER, clock::now_us() - begin_us);
                Ok(())
            }
            Need::Frame => self.make_room(),
            Need::Space => self.grow(EXTENTS_FREE_MIN),
            Need::LogBuffer => self.flush_log_once(),
        }
    }

    /// Calls `operation` until it is done, satisfying its needs here and now: for recovery, tools and tests.
    ///
    /// # Errors
    /// What the operation or a need ends with.
    pub fn until_done<T>(&self, mut operation: impl FnMut() -> Result<T, Stop>) -> Result<T, StorageError> {
        loop {
            match operation() {
                Ok(done) => return Ok(done),
                Err(Stop::Need(need)) => self.satisfy_now(need)?,
                Err(Stop::Error(error)) => return Err(error),
            }
        }
    }

    /// Brings a page into the pool. Blocks. One reader a page: others wait for it.
    pub(crate) fn load_page(&self, page: PageId) -> Result<(), StorageError> {
        if !self.begin_load(page) {
            return Ok(());
        }
        let result = self.until_done(|| self.pool.take_free()).and_then(|frame| self.read_frames(page, vec![frame]));
        self.end_load(&[page]);
        match result {
            // Somebody has made the page meanwhile: the disk has nothing of it yet.
            Err(StorageError::Corrupt { .. }) if self.pool.lookup(page).is_some() => Ok(()),
            result => result,
        }
    }

    /// Brings pages into the pool, several at a time where that helps. Blocks.
    pub(crate) fn load_pages(&self, pages: &[PageId]) -> Result<(), StorageError> {
        let threads = if self.redo_threads > 0 { (pages.len() / READS_A_THREAD).min(READ_THREADS) } else { 0 };
        if threads < 2 {
            return pages.iter().try_for_each(|&page| self.load_page(page));
        }
        // By turns: the first pages are not read last.
        let read = |first: usize| pages[first..].iter().step_by(threads).try_for_each(|&page| self.load_page(page));
        thread::scope(|scope| {
            let readers: Vec<_> = (0..threads).map(|first| scope.spawn(move || read(first))).collect();
            let join = |reader: thread::ScopedJoinHandle<'_, _>| {
                reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            readers.into_iter().map(join).fold(Ok(()), Result::and)
        })
    }

    /// After [`Store::begin_load`] said yes, in any case.
    pub(crate) fn end_load(&self, pages: &[PageId]) {
        let mut loading = lock(&self.loading);
        for page in pages {
            loading.remove(&page.0);
        }
        drop(loading);
        self.loaded.notify_all();
    }

    /// Whether the caller is to read the page, or to make it; if not, it is in the pool or another reader has just ended.
    pub(crate) fn begin_load(&self, page: PageId) -> bool {
        let mut loading = lock(&self.loading);
        if self.pool.lookup(page).is_some() {
            return false;
        }
        if loading.insert(page.0) {
            return true;
        }
        while loading.contains(&page.0) {
            loading = self.loaded.wait(loading).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
        false
    }

    /// Those of the pages that are not in the pool and that nobody reads or makes; the caller is to read them.
    pub(crate) fn begin_loads(&self, mut pages: Vec<PageId>) -> Vec<PageId> {
        let mut loading = lock(&self.loading);
        pages.retain(|&page| self.pool.lookup(page).is_none() && loading.insert(page.0));
        pages
    }

    /// The page's bytes on disk, unchecked.
    pub(crate) fn read_page(&self, page: PageId) -> Result<Box<PageBytes>, StorageError> {
        if page.0 >= self.pages_in_file.load(Ordering::Acquire) {
            return Err(StorageError::corrupt(page, "it lies beyond the end of the data file"));
        }
        let mut buffer = AlignedBuffer::zeroed(PAGE_BYTES);
        self.data_io
            .read(PAGE_BYTES, || self.data.read_at(&mut buffer, page.0 as u64 * PAGE_BYTES as u64))
            .map_err(|error| StorageError::io(format!("reading page {page}"), error))?;
        self.pool.count_reads(1);
        let mut bytes = Box::new([0; PAGE_BYTES]);
        bytes.copy_from_slice(&buffer);
        Ok(bytes)
    }

    /// Notes a page that was read, if it is damaged. One that was never written may only have been asked for too early.
    fn note_damage(&self, id: PageId, page: Page<'_>, error: &StorageError) {
        let is_empty = page.0.iter().all(|byte| *byte == 0);
        if matches!(error, StorageError::Corrupt { .. }) && !is_empty {
            self.suspect(id, page.stored_crc() != page.crc());
        }
    }

    /// Compares a page that was read, and found whole, with its last write. A text is returned for a page that is right, but
    /// whose stamp was lost.
    ///
    /// # Errors
    /// [`StorageError::Corrupt`] for an older page, and for one that is newer than the log; failed I/O.
    pub(crate) fn check_stamp(&self, id: PageId, page: Page<'_>) -> Result<Option<String>, StorageError> {
        if fault::trust_pages() {
            return Ok(None);
        }
        let mut stamps = lock(&self.stamps);
        // Behind the lock, which the writer of the page has taken too, after the log was durable.
        let durable = self.log.durable();
        if page.lsn() > durable.0 && !fault::no_wal_rule() {
            let (found, end) = (Lsn(page.lsn()).in_parts(), durable.in_parts());
            let why = format!("its log sequence number (LSN) ({found}) lies beyond the end of the log ({end})");
            return Err(StorageError::corrupt(id, why));
        }
        match stamps.judge(id, page).map_err(|error| StorageError::io("reading the stamps of pages", error))? {
            Verdict::Current => Ok(None),
            Verdict::Stale(why) => Err(StorageError::corrupt(id, why)),
            Verdict::StampLost(why) => Ok(Some(why)),
        }
    }

    /// Reads pages that follow each other, whose loading the caller has begun, into frames and puts these into the pool.
    ///
    /// # Errors
    /// Nothing was read, or a page is damaged: those behind it are not in the pool.
    pub(crate) fn read_frames(&self, first: PageId, mut frames: Vec<FreeFrame<'_>>) -> Result<(), StorageError> {
        if first.0 as usize + frames.len() > self.pages_in_file.load(Ordering::Acquire) as usize {
            return Err(StorageError::corrupt(first, "it lies beyond the end of the data file"));
        }
        let mut parts: Vec<IoSliceMut<'_>> =
            frames.iter_mut().map(|frame| IoSliceMut::new(frame.bytes_mut())).collect();
        self.data_io
            .read(parts.len() * PAGE_BYTES, || self.data.read_parts_at(&mut parts, first.0 as u64 * PAGE_BYTES as u64))
            .map_err(|error| StorageError::io(format!("reading page {first}"), error))?;
        self.pool.count_reads(frames.len());
        for (page, mut frame) in (first.0..).map(PageId).zip(frames) {
            let content = Page(frame.bytes_mut());
            if let Err(error) = content.validate(page).and_then(|()| self.check_stamp(page, content)) {
                self.note_damage(page, content, &error);
                return Err(error);
            }
            let level = content.level();
            if let Some(mut guard) = self.pool.publish(frame, page) {
                guard.header().set_changed(Lines::NONE);
                guard.set_level(level);
            }
        }
        Ok(())
    }
}
