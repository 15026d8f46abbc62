//! The segments of a log: files of fixed size that are prewritten once and used again and again.
//!
//! ```text
//!   prepare (prewrite) --> free --activate (header + first block, one durable write)--> active, the last one is written to
//!                            ^                                                                |
//!                            +------------------- truncate (below the point; marked free) ---+
//! ```
//! - A free segment has been written over its whole length, so a durable write into it changes no metadata.
//! - Active segments have consecutive sequences; the oldest becomes free first. So at any moment the good headers on
//!   disk have consecutive sequences, and a gap means damage. With several writes on their way this takes two rules: a
//!   segment is activated when the one before it has its header durable, and is not freed before the next one has.
//! - A segment is marked free, durably, before it can be activated: else a crash during the activation could leave
//!   its old header over new content, and a log that seems to begin with damage.

use crate::format::{BLOCK_HEADER_BYTES, SegmentHeader};
use crate::options::LogOptions;
use crate::policy::LogIo;
use crate::sizes::LogSizes;
use pikepole_contention::{Counter, Statistics};
use pikepole_machine::{AlignedBuffer, BLOCK, Disk, DurableMethod, File, OpenOptions};
use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};

/// Bytes prewritten in one step: the log's own writes wait behind so much only.
const PREWRITE_STEP_BYTES: u64 = 2 << 20;

/// A segment's file.
#[derive(Debug, Clone)]
pub(crate) struct SegmentFile {
    pub name: String,
    pub file: File,
    pub bytes: u64,
}

impl SegmentFile {
    /// Bytes that blocks can take.
    pub fn room(&self) -> u64 {
        self.bytes - BLOCK as u64
    }
}

/// A segment in use.
#[derive(Debug, Clone)]
pub(crate) struct Active {
    pub segment: SegmentFile,
    pub sequence: u64,
    /// The LSN of its first block.
    pub start: u64,
    /// The sequence of its first block, when this process wrote it: its header is durable when that is.
    pub first_block: u64,
}

/// A segment on its way to be free.
#[derive(Debug)]
pub(crate) struct Growing {
    segment: SegmentFile,
    prewritten: u64,
}

/// Where the files are and how they are opened.
#[derive(Debug, Clone)]
pub(crate) struct Folder {
    pub disk: Disk,
    pub path: PathBuf,
    pub direct: bool,
    pub io: LogIo,
}

impl Folder {
    /// The folder `path` for a log with these options.
    pub fn new(disk: &Disk, path: &Path, options: &LogOptions) -> Self {
        Self { disk: disk.clone(), path: path.to_path_buf(), direct: options.direct, io: options.io }
    }

    /// Opens a segment for the blocks of the log.
    pub fn open(&self, name: &str, create: bool) -> io::Result<File> {
        let options = OpenOptions { create, direct: self.direct, durable_writes: true, read_only: false };
        let file = self.disk.open(self.path.join(name), options)?;
        if self.io == LogIo::Dsync {
            file.write_durable_by(DurableMethod::Dsync);
        }
        Ok(file)
    }

    /// Opens a segment for reading.
    pub fn open_read_only(&self, name: &str) -> io::Result<File> {
        let options = OpenOptions { create: false, direct: self.direct, durable_writes: false, read_only: true };
        self.disk.open(self.path.join(name), options)
    }

    /// The numbers of the segment files in the folder.
    pub fn numbers(&self) -> io::Result<Vec<u32>> {
        let names = self.disk.list(&self.path)?;
        Ok(names.iter().filter_map(|name| segment_number(name)).collect())
    }

    /// Removes a segment file.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        self.disk.remove_file(self.path.join(name))?;
        self.disk.sync_dir(&self.path)
    }
}

/// The name of the segment file with this number.
pub(crate) fn segment_name(number: u32) -> String {
    format!("segment-{number:08}")
}

/// The number of the segment file of this name; `None` for another file's name.
pub(crate) fn segment_number(name: &str) -> Option<u32> {
    let number = name.strip_prefix("segment-")?.parse().ok()?;
    (segment_name(number) == name).then_some(number)
}

/// All segments, and how they may grow.
#[derive(Debug)]
pub(crate) struct Segments {
    pub folder: Folder,
    pub log_id: u64,
    pub active: VecDeque<Active>,
    pub free: Vec<SegmentFile>,
    /// Bytes of all files, the growing one too.
    pub bytes: u64,
    pub next_number: u32,
    pub first_bytes: u64,
    pub segment_bytes_max: u64,
    pub bytes_max: u64,
    /// The size that is asked for.
    pub sizes: LogSizes,
    /// Where the next block goes in the last active segment.
    pub offset: u64,
    /// Why the last attempt to prepare a segment failed. Cleared when one succeeds.
    pub growth_failed: Option<String>,
    /// Somebody was refused because of too few segments.
    pub growth_wanted: bool,
    /// Below this no record is needed any more.
    pub truncated: u64,
}

impl Segments {
    /// The segment that is written to.
    pub fn last(&self) -> Option<&Active> {
        self.active.back()
    }

    /// Whether the last segment has room for another block with a payload.
    pub fn last_has_room(&self) -> bool {
        self.last().is_some_and(|last| self.offset + BLOCK as u64 <= last.segment.bytes)
    }

    /// Bytes of blocks that fit into segments that are ready.
    pub fn ready_bytes(&self) -> u64 {
        let last = self.last().map_or(0, |last| last.segment.bytes.saturating_sub(self.offset));
        last + self.free.iter().map(SegmentFile::room).sum::<u64>()
    }

    /// Whether another segment is on the way, as far as is known.
    pub fn can_grow(&self) -> bool {
        self.next_bytes().is_some() && self.growth_failed.is_none()
    }

    /// Whether another segment should be prepared now: half a segment ahead, and a whole one once the log has shown that much is
    /// written to it.
    pub fn should_grow(&self) -> bool {
        match self.next_bytes() {
            Some(bytes) => {
                let ahead = if self.bytes >= 2 * bytes { bytes } else { bytes / 2 };
                self.growth_wanted || self.is_below_size() || self.ready_bytes() < ahead
            }
            None => false,
        }
    }

    /// Whether the header of the last segment is durable, when all blocks below `durable_sequence` are.
    pub fn last_is_durable(&self, durable_sequence: u64) -> bool {
        self.last().is_none_or(|last| last.first_block < durable_sequence)
    }

    /// Takes the oldest segment out of use if it lies wholly below the truncation point. It is to be marked free.
    pub fn take_truncated(&mut self, durable_sequence: u64) -> Option<SegmentFile> {
        let next = self.active.get(1)?;
        let is_needed = next.start > self.truncated || next.first_block >= durable_sequence;
        if is_needed && !crate::fault::reuse_early() {
            return None;
        }
        self.active.pop_front().map(|oldest| oldest.segment)
    }

    /// Takes a free segment into use as the last one and returns the header for it.
    pub fn activate(&mut self, segment: SegmentFile, first: FirstBlock) -> SegmentHeader {
        let sequence = self.active.back().map_or(0, |last| last.sequence) + 1;
        let bytes = segment.bytes;
        self.active.push_back(Active { segment, sequence, start: first.start, first_block: first.sequence });
        self.offset = BLOCK as u64;
        SegmentHeader {
            log_id: self.log_id,
            incarnation: first.incarnation,
            sequence,
            start: first.start,
            durable: first.durable,
            first_block: first.sequence,
            boundary: first.boundary,
            bytes,
        }
    }

    /// Takes the oldest free segment out.
    pub fn take_free(&mut self) -> Option<SegmentFile> {
        (!self.free.is_empty()).then(|| self.free.remove(0))
    }

    /// Notes that a segment is being prepared: its number and its bytes count from now on.
    pub fn begin_growth(&mut self, bytes: u64) -> u32 {
        let number = self.next_number;
        self.next_number += 1;
        self.bytes += bytes;
        number
    }

    /// Notes that a segment is ready.
    pub fn finish_growth(&mut self, segment: SegmentFile) {
        self.free.push(segment);
        self.growth_failed = None;
        self.growth_wanted = false;
    }

    /// Notes that a segment of `bytes` could not be prepared.
    pub fn fail_growth(&mut self, bytes: u64, why: String) {
        self.bytes -= bytes;
        self.growth_failed = Some(why);
        self.growth_wanted = false;
    }

    /// Shows the sizes as counters.
    pub fn count(&self, statistics: &Statistics) {
        statistics.set(Counter::LogFilesSize, self.bytes >> 10);
        let used = self.bytes.saturating_sub(self.ready_bytes());
        statistics.set(Counter::LogFilesUsed, used >> 10);
        statistics.set(Counter::PercentLogUsed, used * 100 / self.bytes.max(1));
    }
}

/// What a segment's header says of its first block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FirstBlock {
    pub incarnation: u64,
    pub sequence: u64,
    pub start: u64,
    pub durable: u64,
    pub boundary: u64,
}

/// The bytes of payload at most that a block may have in the `room` bytes left in a segment.
pub(crate) fn payload_room(room: u64) -> usize {
    (room / BLOCK as u64 * BLOCK as u64) as usize - BLOCK_HEADER_BYTES
}

/// What a step of preparing brought.
pub(crate) enum Grown {
    /// There is more to prewrite.
    Part,
    /// The segment is ready.
    Whole(SegmentFile),
}

impl Growing {
    /// Creates the file and takes its space, in one piece, so that a full disk shows now.
    ///
    /// # Errors
    /// When there is no room, or the file cannot be made. Nothing is left behind, as far as that can be told.
    pub fn begin(folder: &Folder, number: u32, bytes: u64) -> io::Result<Self> {
        let name = segment_name(number);
        let file = folder.open(&name, true)?;
        let growing = Self { segment: SegmentFile { name, file, bytes }, prewritten: 0 };
        match growing.segment.file.allocate(0, bytes) {
            Ok(()) => Ok(growing),
            Err(error) => {
                growing.give_up(folder);
                Err(error)
            }
        }
    }

    /// Bytes of the segment.
    pub fn bytes(&self) -> u64 {
        self.segment.bytes
    }

    /// Prewrites the next part; after the last one marks the segment free, durably.
    ///
    /// # Errors
    /// When writing fails; then [`give_up`](Self::give_up).
    pub fn step(&mut self, folder: &Folder, log_id: u64) -> io::Result<Grown> {
        let step = PREWRITE_STEP_BYTES.min(self.segment.bytes - self.prewritten);
        self.segment.file.write_zeros(self.prewritten, step)?;
        self.prewritten += step;
        if self.prewritten < self.segment.bytes {
            return Ok(Grown::Part);
        }
        // One sync for all steps: each makes the file system write its journal, which flushes then wait for.
        self.segment.file.sync()?;
        mark_free(&self.segment, log_id)?;
        folder.disk.sync_dir(&folder.path)?;
        Ok(Grown::Whole(self.segment.clone()))
    }

    /// Removes what there is of the file. If that fails, the next opening finds a segment without a header and
    /// removes it.
    pub fn give_up(self, folder: &Folder) {
        let _ = folder.remove(&self.segment.name);
    }
}

/// Overwrites a segment's header, durably, with one that says it is free.
pub(crate) fn mark_free(segment: &SegmentFile, log_id: u64) -> io::Result<()> {
    let mut block = AlignedBuffer::zeroed(BLOCK);
    SegmentHeader::free(log_id, segment.bytes).seal(&mut block);
    segment.file.write_durable_at(&block, 0)
}

/// Prepares a whole segment at once.
pub(crate) fn grow_now(folder: &Folder, number: u32, bytes: u64, log_id: u64) -> io::Result<SegmentFile> {
    let mut growing = Growing::begin(folder, number, bytes)?;
    loop {
        match growing.step(folder, log_id) {
            Ok(Grown::Part) => {}
            Ok(Grown::Whole(segment)) => return Ok(segment),
            Err(error) => {
                growing.give_up(folder);
                return Err(error);
            }
        }
    }
}

/// Makes the folder and refuses one that holds segments already.
pub(crate) fn prepare_folder(disk: &Disk, path: &Path, options: &LogOptions) -> Result<Folder, crate::LogError> {
    disk.create_dir_all(path)?;
    let folder = Folder::new(disk, path, options);
    if !folder.numbers()?.is_empty() {
        return Err(crate::LogError::Exists(path.to_path_buf()));
    }
    Ok(folder)
}
