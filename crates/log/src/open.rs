//! Creating, opening and checking logs.
//!
//! Opening an existing log:
//! 1. follow the chain of blocks to its end (`scan`), or report damage;
//! 2. sync the segments: a block that was read may still be on its way to stable storage;
//! 3. mark the segments behind the end free, youngest first, and remove files that never became segments;
//! 4. write the first block of a higher incarnation at the end, durably. Only then are appends taken.
//!
//! A crash in between leaves a log with the same end.

use crate::buffer::Buffer;
use crate::commit::Commits;
use crate::flush::{Flusher, IN_FLIGHT_MAX};
use crate::in_flight::InFlight;
use crate::log::{Log, stream_shift};
use crate::options::LogOptions;
use crate::reader::Reader;
use crate::reservation::Reservations;
use crate::scan::{Chain, Found, OpenFrom, Place, find_segments, follow};
use crate::segments::{Active, Folder, SegmentFile, Segments, grow_now, mark_free, prepare_folder};
use crate::signal::Signal;
use crate::sizes::LogSizes;
use crate::space::SpaceWaiters;
use crate::stats::{LogReport, Totals};
use crate::writer::WriterTasks;
use crate::{LogError, LogIo, Lsn};
use pikepole_contention::slot::SLOTS_MAX;
use pikepole_contention::sync::Mutex;
use pikepole_contention::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use pikepole_contention::{CachePadded, CountedMutex, LatchClass, Statistics};
use pikepole_machine::{Disk, WriteQueue};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::Path;
use std::sync::Arc;

/// Where a log goes on.
struct Position {
    log_id: u64,
    incarnation: u64,
    /// The LSN of the next byte.
    lsn: u64,
    /// The sequence of the next block.
    sequence: u64,
    /// The place of the next block in the last active segment.
    offset: u64,
    active: Vec<Active>,
    free: Vec<SegmentFile>,
    next_number: u32,
    /// The time of the youngest block.
    time_us: u64,
}

impl Log {
    /// Creates a log in the folder `path`, which is made if need be.
    ///
    /// A crash meanwhile leaves a folder that neither this nor [`open`](Self::open) takes: create it under a name
    /// that counts only when this has returned.
    ///
    /// # Errors
    /// [`LogError::Exists`], [`LogError::Options`], [`LogError::Io`].
    pub fn create(
        disk: &Disk,
        path: impl AsRef<Path>,
        options: LogOptions,
        statistics: &Arc<Statistics>,
    ) -> Result<Log, LogError> {
        options.check()?;
        let folder = prepare_folder(disk, path.as_ref(), &options)?;
        let log_id = new_log_id();
        let first = grow_now(&folder, 1, options.first_segment_bytes, log_id)?;
        let position = Position {
            log_id,
            incarnation: 1,
            lsn: Lsn::FIRST.0,
            sequence: 1,
            offset: 0,
            active: Vec::new(),
            free: vec![first],
            next_number: 2,
            time_us: 0,
        };
        let log = Log::at(position, folder, options, statistics)?;
        log.begin()?;
        Ok(log)
    }

    /// Opens the log in the folder `path` and reads its records from `from` on: a record's LSN, [`Lsn::OLDEST`], or an
    /// [`OpenFrom`] that says more, so that less has to be read.
    ///
    /// What was not durable at a crash may be there or not; up to some point in the stream all of it is, behind it
    /// nothing. New records go behind that point. The reader may be used while records are appended, which it does
    /// not see.
    ///
    /// # Errors
    /// [`LogError::Corrupt`] when blocks are missing or damaged that were durable; [`LogError::Missing`],
    /// [`LogError::Version`], [`LogError::StartGone`], [`LogError::Options`], [`LogError::Io`].
    pub fn open(
        disk: &Disk,
        path: impl AsRef<Path>,
        options: LogOptions,
        statistics: &Arc<Statistics>,
        from: impl Into<OpenFrom>,
    ) -> Result<(Log, Reader), LogError> {
        options.check()?;
        let folder = Folder::new(disk, path.as_ref(), &options);
        let found = find_segments(&folder, false)?;
        let chain = follow(&found, &from.into())?;
        for active in &chain.active[chain.first..=chain.last] {
            active.segment.file.sync()?;
        }
        let free = free_segments(&folder, &found, &chain)?;
        let reader = Reader::new(&chain);
        let raise = if crate::fault::no_raise() { 0 } else { 1 };
        let position = Position {
            log_id: chain.log_id,
            incarnation: chain.incarnation_max + raise,
            lsn: chain.end,
            sequence: chain.next_sequence,
            offset: chain.end_offset,
            active: chain.active[..=chain.last].to_vec(),
            free,
            next_number: found.iter().map(|found| found.number).max().unwrap_or(0) + 1,
            time_us: chain.time_us,
        };
        let log = Log::at(position, folder, options, statistics)?;
        if raise > 0 {
            log.begin()?;
        }
        Ok((log, reader))
    }

    /// Reads a whole log without changing anything: all blocks, and the lengths of all records.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn check(disk: &Disk, path: impl AsRef<Path>) -> Result<LogReport, LogError> {
        let options = LogOptions { direct: false, ..LogOptions::default() };
        let folder = Folder::new(disk, path.as_ref(), &options);
        let found = find_segments(&folder, true)?;
        let chain = follow(&found, &Lsn::OLDEST.into())?;
        let mut reader = Reader::new(&chain);
        let (mut records, mut record_bytes) = (0, 0);
        while let Some((start, _, end)) = reader.next()? {
            records += 1;
            record_bytes += end.0 - start.0;
        }
        let free = |found: &&Found| found.header.is_some_and(|header| header.sequence == 0);
        Ok(LogReport {
            segments: chain.active.len(),
            segments_free: found.iter().filter(free).count(),
            bytes: found.iter().map(|found| found.segment.bytes).sum(),
            blocks: chain.blocks,
            records,
            record_bytes,
            padding_bytes: reader.padding_bytes(),
            start: Lsn(chain.start),
            end: Lsn(chain.end),
            incarnation: chain.incarnation_max,
        })
    }

    /// Where the next block will lie: what is appended from now on is there or behind it. For a later
    /// [`OpenFrom`]. Waits for a write that is under way.
    pub fn place(&self) -> Place {
        let _flusher = self.flusher.lock();
        let segments = self.segments.lock();
        Place {
            segment: segments.last().map_or(0, |last| last.sequence),
            offset: segments.offset,
            block: self.in_flight.next_sequence(),
            incarnation: self.incarnation,
            lsn: Lsn(self.written.load(Ordering::Relaxed)),
        }
    }

    fn at(
        position: Position,
        folder: Folder,
        options: LogOptions,
        statistics: &Arc<Statistics>,
    ) -> Result<Log, LogError> {
        let files = position.active.iter().map(|active| &active.segment);
        let bytes = files.chain(&position.free).map(|segment| segment.bytes).sum();
        let truncated = position.active.first().map_or(position.lsn, |active| active.start);
        let segments = Segments {
            folder,
            log_id: position.log_id,
            active: position.active.into(),
            free: position.free,
            bytes,
            next_number: position.next_number,
            first_bytes: options.first_segment_bytes,
            segment_bytes_max: options.segment_bytes,
            bytes_max: options.bytes_max,
            sizes: LogSizes::default(),
            offset: position.offset,
            growth_failed: None,
            growth_wanted: false,
            truncated,
        };
        let lsn = position.lsn;
        let disk = &segments.folder.disk;
        let device_takes_time = disk.takes_time();
        let queue = match options.io {
            LogIo::IoUring => WriteQueue::new(disk, IN_FLIGHT_MAX as u32),
            // In a simulation, writes are on their way whenever the real disk could have them so.
            LogIo::Auto if !device_takes_time => WriteQueue::new(disk, IN_FLIGHT_MAX as u32),
            LogIo::Auto | LogIo::WriteFlag | LogIo::Dsync => None,
        };
        let log = Log {
            reservations: Reservations::new(lsn, options.reservation, options.chunk_bytes_max(), statistics),
            buffer: Buffer::new(options.ring_bytes, options.memory_pages, options.memory_node)?,
            written: CachePadded::new(AtomicU64::new(lsn)),
            commits: Commits::new(lsn, options.flush_queue, statistics),
            company: (0..SLOTS_MAX).map(|_| CachePadded::default()).collect(),
            write_us: AtomicU64::new(0),
            device_takes_time,
            flusher: CountedMutex::new(LatchClass::LOG_FLUSHER, statistics, Flusher::new(lsn)),
            in_flight: InFlight::new(position.sequence, lsn, statistics),
            queue,
            submitted: Mutex::new(Vec::new()),
            submitted_by: (0..SLOTS_MAX).map(|_| AtomicU64::new(0)).collect(),
            spare_buffers: Mutex::new(Vec::new()),
            segments: CountedMutex::new(LatchClass::LOG_MANAGER, statistics, segments),
            growing: Mutex::new(None),
            writers: std::array::from_fn(|_| Signal::default()),
            writer_tasks: WriterTasks::new(options.writers.count()),
            writers_writing: AtomicUsize::new(0),
            space_waiters: SpaceWaiters::default(),
            block_bytes_max: AtomicUsize::new(options.block_bytes_max),
            commit_by: AtomicU8::new(options.commit_by as u8),
            gathering: AtomicU8::new(options.gathering as u8),
            flush_delay_us: AtomicU64::new(options.flush_delay.as_micros() as u64),
            stream_shift: AtomicU32::new(stream_shift(options.flush_queue, options.bytes_max)),
            pauses_long: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            statistics: Arc::clone(statistics),
            totals: Totals::default(),
            log_id: position.log_id,
            incarnation: position.incarnation,
            opened_at: lsn,
            sealed_us: AtomicU64::new(position.time_us),
            options,
        };
        log.update_limits(&log.segments.lock());
        Ok(log)
    }

    /// Writes the first block of this incarnation.
    fn begin(&self) -> Result<(), LogError> {
        self.write_mark(true)
    }
}

/// The files that are not part of the chain, ready to be used: marked free if they are not, or removed if they never
/// were segments.
fn free_segments(folder: &Folder, found: &[Found], chain: &Chain) -> Result<Vec<SegmentFile>, LogError> {
    let mut free = Vec::new();
    for behind in chain.active[chain.last + 1..].iter().rev() {
        mark_free(&behind.segment, chain.log_id)?;
        free.push(behind.segment.clone());
    }
    for found in found {
        match found.header {
            Some(header) if header.sequence == 0 => free.push(found.segment.clone()),
            Some(_) => {}
            None => folder.remove(&found.segment.name)?,
        }
    }
    Ok(free)
}

/// A number that no other log of this machine has: from the time, the process and the seeds of a hash map, which no two maps share.
pub(crate) fn new_log_id() -> u64 {
    let seeds = RandomState::new().build_hasher().finish();
    let time = pikepole_machine::clock::unix_time_us() as u64;
    let process = u64::from(std::process::id());
    // Multiplied apart by an odd constant, so that close values end far from each other.
    (time ^ process.rotate_left(40) ^ seeds).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}
