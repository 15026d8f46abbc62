//! A log's files, looked at without opening the log: for dumps, statistics and checks.
//!
//! ```text
//!   segment 3   [b 7][b 8][b 9][torn][b 5][b 6]......     b: a good block
//!                |<- of the log ->|   |<-left->|  empty
//!                                 end
//! ```
//! - Nothing is written: not a byte of a segment, no incarnation, no lock.
//! - What the log holds, and where it ends, is what opening it would find: the same code looks.
//! - The log may be in use by another process meanwhile. A block that was not there at the first look and is at the
//!   second is no damage; see [`LogFiles::open_live`].

use crate::format::{BLOCK_HEADER_BYTES, SegmentHeader};
use crate::reader::Reader;
use crate::scan::{BlockReader, Chain, Found, find_segments, follow_to_damage};
use crate::segments::{Folder, SegmentFile};
use crate::{LogError, LogOptions, Lsn};
use pikepole_machine::{BLOCK, Disk};
use std::path::Path;

/// How often a log that is in use is looked at again when its segments do not fit together: each look takes
/// milliseconds, and segments change their use a few times a second at most.
const LOOKS_MAX: usize = 10;

/// The files of a log, read only.
pub struct LogFiles {
    found: Vec<Found>,
    segments: Vec<SegmentFileInfo>,
    chain: Chain,
    damage: Option<LogError>,
}

/// A segment file as its header says.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SegmentFileInfo {
    /// The file's name.
    pub name: String,
    /// The file's length, in whole blocks of 4096 bytes.
    pub bytes: u64,
    /// What it is used for.
    pub usage: SegmentUsage,
}

/// What a segment is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SegmentUsage {
    /// It holds, or held until the end of the log moved before it, a part of the log.
    Active {
        /// Its place in the order of segments.
        sequence: u64,
        /// The opening of the log in which it was taken into use.
        incarnation: u64,
        /// The position of its first block.
        start: Lsn,
        /// Where the first record at or above `start` begins.
        first_record: Lsn,
    },
    /// Ready to be used.
    Free,
    /// Its header is torn or missing: a segment that was being prepared, or damage.
    NoHeader,
}

/// Where the log begins and ends.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogExtent {
    /// The position of the oldest record.
    pub start: Lsn,
    /// The position behind the last good byte.
    pub end: Lsn,
    /// The segment that the log ends in: an index of [`LogFiles::segments`].
    pub end_segment: usize,
    /// The byte of that file behind the last good block.
    pub end_offset: u64,
    /// The sequence that the next block would have.
    pub next_sequence: u64,
    /// Good blocks of the log.
    pub blocks: u64,
    /// The highest incarnation seen in any block or segment.
    pub incarnation: u64,
}

/// A good block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlockInfo {
    /// The file: an index of [`LogFiles::segments`].
    pub segment: usize,
    /// Where it begins in the file.
    pub offset: u64,
    /// Its bytes in the file: header, payload and padding.
    pub bytes: u64,
    /// Bytes of records in it.
    pub payload_bytes: u64,
    /// Bytes behind the records, up to the next block of the device.
    pub padding_bytes: u64,
    /// The position of its first byte of records.
    pub start: Lsn,
    /// Its number.
    pub sequence: u64,
    /// The opening of the log that wrote it.
    pub incarnation: u64,
    /// All below was durable when it was written.
    pub durable: Lsn,
    /// Whether it is the first of its incarnation.
    pub begins_incarnation: bool,
    /// Whether it is a part of the log; else it is left over from before, or was cut off by the end of the log.
    pub of_the_log: bool,
}

/// A stretch of a segment behind its header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stretch {
    /// A good block.
    Block(BlockInfo),
    /// 4096 bytes that begin like a block but are not a good one: torn, damaged, or of another log.
    Broken {
        /// The file: an index of [`LogFiles::segments`].
        segment: usize,
        /// Where they begin in the file.
        offset: u64,
    },
    /// Bytes that no block begins in: never written, or the inside of blocks that were partly written over.
    Empty {
        /// The file: an index of [`LogFiles::segments`].
        segment: usize,
        /// Where they begin in the file.
        offset: u64,
        /// How many.
        bytes: u64,
    },
}

impl LogFiles {
    /// Looks at the log in the folder `path`, which nobody has open.
    ///
    /// # Errors
    /// When there is no log, or nothing can be told about it: [`LogError::Missing`], [`LogError::Version`],
    /// [`LogError::Corrupt`] when the segments' headers contradict each other, [`LogError::Io`]. Damage of blocks is
    /// no error here: see [`LogFiles::damage`].
    pub fn open(disk: &Disk, path: impl AsRef<Path>) -> Result<LogFiles, LogError> {
        let folder = Folder::new(disk, path.as_ref(), &LogOptions::default());
        let found = find_segments(&folder, true)?;
        let (chain, damage) = follow_to_damage(&found, &Lsn::OLDEST.into())?;
        let segments = found.iter().map(segment_info).collect();
        Ok(LogFiles { found, segments, chain, damage })
    }

    /// Looks at the log in the folder `path`, which may be in use, by this process or another. What is seen is the log
    /// as it was at some moment of the call. A [`Reader`] can still find that segments were truncated and used again
    /// under it, and then fails with [`LogError::Corrupt`].
    ///
    /// # Errors
    /// As [`LogFiles::open`], when it stays so.
    pub fn open_live(disk: &Disk, path: impl AsRef<Path>) -> Result<LogFiles, LogError> {
        Self::settle(&mut || Self::open(disk, &path))
    }

    /// Looks until what is seen can have been the log at one moment.
    fn settle(look: &mut dyn FnMut() -> Result<LogFiles, LogError>) -> Result<LogFiles, LogError> {
        let mut last = look();
        for _ in 0..LOOKS_MAX {
            let again = match &last {
                Ok(files) if files.damage.is_none() => return last,
                Ok(_) | Err(LogError::Corrupt { .. }) => look(),
                Err(_) => return last,
            };
            match (last, again) {
                // The missing block was on its way: the log goes on where it seemed to be damaged.
                (Ok(files), Ok(again)) if again.chain.end > files.chain.end => {
                    return Ok(LogFiles { damage: None, ..files });
                }
                (Ok(_), Ok(again)) => return Ok(again),
                (_, again) => last = again,
            }
        }
        last
    }

    /// The segment files, by their names.
    pub fn segments(&self) -> &[SegmentFileInfo] {
        &self.segments
    }

    /// What blocks are missing that were durable, if any. The log is read up to there.
    pub fn damage(&self) -> Option<&LogError> {
        self.damage.as_ref()
    }

    /// Where the log begins and ends.
    pub fn extent(&self) -> LogExtent {
        let chain = &self.chain;
        LogExtent {
            start: Lsn(chain.start.min(chain.end)),
            end: Lsn(chain.end),
            end_segment: self.index_of(&chain.active[chain.last].segment.name),
            end_offset: chain.end_offset,
            next_sequence: chain.next_sequence,
            blocks: chain.blocks,
            incarnation: chain.incarnation_max,
        }
    }

    /// The records from the oldest one on.
    pub fn read(&self) -> Reader {
        Reader::new(&self.chain)
    }

    /// The records from some position at or below `lsn` on: reading begins at the segment that holds it, not at the
    /// oldest one.
    ///
    /// # Errors
    /// As [`LogFiles::open`].
    pub fn read_near(&self, lsn: Lsn) -> Result<Reader, LogError> {
        let firsts = self.segments.iter().filter_map(|segment| match segment.usage {
            SegmentUsage::Active { first_record, .. } => Some(first_record),
            _ => None,
        });
        let within = |first: &Lsn| *first <= lsn && first.0 > self.chain.start && first.0 < self.chain.end;
        let Some(start) = firsts.filter(within).max() else { return Ok(self.read()) };
        let (chain, _) = follow_to_damage(&self.found, &start.into())?;
        Ok(Reader::new(&chain))
    }

    /// Goes through all segments, byte by byte, in the order of [`LogFiles::segments`].
    ///
    /// # Errors
    /// [`LogError::Io`].
    pub fn walk(&self, tell: &mut dyn FnMut(Stretch)) -> Result<(), LogError> {
        for (index, found) in self.found.iter().enumerate() {
            let first = self.chain.active.iter().position(|active| active.segment.name == found.segment.name);
            let in_chain = first.is_some_and(|place| (self.chain.first..=self.chain.last).contains(&place));
            let next = in_chain.then(|| found.header.map_or(0, |header| header.first_block));
            Walk { files: self, index, segment: &found.segment, next, end: self.chain.next_sequence }.run(tell)?;
        }
        Ok(())
    }

    fn index_of(&self, name: &str) -> usize {
        self.segments.iter().position(|segment| segment.name == name).unwrap_or(0)
    }
}

fn segment_info(found: &Found) -> SegmentFileInfo {
    let usage = match found.header {
        None => SegmentUsage::NoHeader,
        Some(SegmentHeader { sequence: 0, .. }) => SegmentUsage::Free,
        Some(header) => SegmentUsage::Active {
            sequence: header.sequence,
            incarnation: header.incarnation,
            start: Lsn(header.start),
            first_record: Lsn(header.boundary),
        },
    };
    SegmentFileInfo { name: found.segment.name.clone(), bytes: found.segment.bytes, usage }
}

/// Going through one segment.
struct Walk<'a> {
    files: &'a LogFiles,
    index: usize,
    segment: &'a SegmentFile,
    /// The sequence of the next block that is a part of the log; `None` when no more of it is in this segment.
    next: Option<u64>,
    /// The sequence behind the log's last block.
    end: u64,
}

impl Walk<'_> {
    fn run(mut self, tell: &mut dyn FnMut(Stretch)) -> Result<(), LogError> {
        let mut blocks = BlockReader::default();
        let mut offset = BLOCK as u64;
        let mut empty = 0;
        while offset + BLOCK as u64 <= self.segment.bytes {
            let block = blocks.block(self.segment, offset, self.files.chain.log_id)?;
            let stretch = match block.map(|(header, _)| header) {
                Some(header) => {
                    let of_the_log = self.next == Some(header.sequence) && header.sequence < self.end;
                    self.next = of_the_log.then(|| header.sequence.saturating_add(1));
                    Stretch::Block(BlockInfo {
                        segment: self.index,
                        offset,
                        bytes: header.disk_bytes(),
                        payload_bytes: header.payload_len as u64,
                        padding_bytes: header.disk_bytes() - (BLOCK_HEADER_BYTES + header.payload_len) as u64,
                        start: Lsn(header.start),
                        sequence: header.sequence,
                        incarnation: header.incarnation,
                        durable: Lsn(header.durable),
                        begins_incarnation: header.raise,
                        of_the_log,
                    })
                }
                None if blocks.begins_like_a_block(offset) => Stretch::Broken { segment: self.index, offset },
                None => {
                    empty += BLOCK as u64;
                    offset += BLOCK as u64;
                    continue;
                }
            };
            self.tell_empty(offset, &mut empty, tell);
            offset += match stretch {
                Stretch::Block(block) => block.bytes,
                _ => BLOCK as u64,
            };
            tell(stretch);
        }
        self.tell_empty(offset, &mut empty, tell);
        Ok(())
    }

    /// Tells of the `empty` bytes in front of `offset`, if there are any.
    fn tell_empty(&self, offset: u64, empty: &mut u64, tell: &mut dyn FnMut(Stretch)) {
        let bytes = std::mem::take(empty);
        if bytes > 0 {
            tell(Stretch::Empty { segment: self.index, offset: offset - bytes, bytes });
        }
    }
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
