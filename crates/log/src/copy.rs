//! Copying a log block by block: out of a log that is in use, and into a new one.
//!
//! ```text
//!   a log in use   [b 70][b 71][b 72][b 73] ...            Blocks: the payloads from one LSN up to another, durable one
//!                       |     |     |
//!   elsewhere      (start, payload, time, begins incarnation) ...
//!                       |     |     |
//!   a new log      [mark][b 2 ][b 3 ][b 4 ]                LogBuilder: another log id, sequences from 1, the same LSNs
//! ```
//! - The stream of records below the durable horizon never changes, so what is copied up to one LSN goes on with what is
//!   copied from there later, byte by byte; a record may be cut in two by it.
//! - What is read must not be truncated meanwhile: whoever copies keeps the truncation point below the start.
//! - A built log has a log id of its own: no block of the old log passes for one of its own, or the other way round.
//! - Where an incarnation began in the old log, one begins in the new one: a record that a crash cut off there ends
//!   nowhere in both.
//!
//! Times. A block carries the time at which it was sealed. What is in it was appended before, and becomes durable after
//! that time. So to stop at a time T is to take the blocks up to T: a commit that was acknowledged as durable before T is in
//! one of them, a commit that was asked for after T is in none. Times never go back: while the wall clock is behind an
//! earlier block's time, blocks carry that one.

use crate::field::get_varint;
use crate::format::{BLOCK_HEADER_BYTES, BlockHeader, LENGTH_BYTES_MAX, SegmentHeader, block_disk_bytes};
use crate::log::Log;
use crate::open::new_log_id;
use crate::options::{LogOptions, RECORD_BYTES_MAX};
use crate::scan::BlockReader;
use crate::segments::{Active, Folder, SegmentFile, grow_now, payload_room, prepare_folder};
use crate::{LogError, Lsn};
use pikepole_contention::sync::atomic::Ordering;
use pikepole_machine::{AlignedBuffer, BLOCK, Disk, clock};
use std::path::Path;

/// A stretch of the stream of records, as it lies in one block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block<'a> {
    /// The position of the first byte.
    pub start: Lsn,
    /// The bytes; none for a block that only marks something.
    pub payload: &'a [u8],
    /// An incarnation begins here: a record that is not whole at the start ends nowhere.
    pub begins_incarnation: bool,
    /// When the block was sealed, in microseconds since 1970.
    pub time_us: u64,
}

impl Block<'_> {
    /// The position behind the last byte.
    pub fn end(&self) -> Lsn {
        Lsn(self.start.0 + self.payload.len() as u64)
    }
}

/// The blocks of a log between two positions. See [`Log::blocks`].
pub struct Blocks {
    log_id: u64,
    /// The segments that are still to be read, youngest first; the last one is being read.
    segments: Vec<Active>,
    reader: BlockReader,
    offset: u64,
    next_sequence: Option<u64>,
    next_lsn: u64,
    from: u64,
    to: u64,
}

impl Log {
    /// The log's id: drawn when it was created, and no other log's.
    pub fn id(&self) -> u64 {
        self.log_id
    }

    /// The time for a block that is being sealed: now, or the youngest block's when the wall clock is behind that.
    pub(crate) fn block_time_us(&self) -> u64 {
        let now = clock::unix_time_us().unsigned_abs();
        // Relaxed: blocks are sealed one after the other, under the flusher role.
        now.max(self.sealed_us.fetch_max(now, Ordering::Relaxed))
    }

    /// The time of the youngest block, in microseconds since 1970: all that was acknowledged as durable before is in
    /// that block or an older one.
    pub fn sealed_us(&self) -> u64 {
        self.sealed_us.load(Ordering::Relaxed)
    }

    /// The blocks that hold the bytes from `from` up to `to`, cut to these positions, with the marks between. Both are
    /// at or below the [durable](Log::durable) horizon; the log must not be truncated beyond `from` while they are
    /// read. Work goes on meanwhile.
    ///
    /// # Errors
    /// [`LogError::StartGone`] when the log begins behind `from`.
    ///
    /// # Panics
    /// When `to` is above the durable horizon.
    pub fn blocks(&self, from: Lsn, to: Lsn) -> Result<Blocks, LogError> {
        assert!(to <= self.durable(), "only what is durable is final");
        let segments = self.segments.lock();
        let first = segments.active.iter().rposition(|active| active.start <= from.0);
        let Some(first) = first else {
            let oldest = segments.active.front().map_or(Lsn(segments.truncated), |active| Lsn(active.start));
            return Err(LogError::StartGone { wanted: from, oldest });
        };
        let wanted: Vec<Active> = segments.active.iter().skip(first).rev().cloned().collect();
        let next_lsn = wanted.last().map_or(from.0, |active| active.start);
        Ok(Blocks {
            log_id: self.log_id,
            segments: wanted,
            reader: BlockReader::default(),
            offset: BLOCK as u64,
            next_sequence: None,
            next_lsn,
            from: from.0,
            to: to.0,
        })
    }
}

impl Blocks {
    /// The next block; None behind the last one.
    ///
    /// # Errors
    /// [`LogError::Corrupt`] when a block is not where it was, [`LogError::Io`].
    #[allow(clippy::should_implement_trait, reason = "the block is lent by the reader")]
    pub fn next(&mut self) -> Result<Option<Block<'_>>, LogError> {
        while self.next_lsn < self.to {
            let Some(header) = self.peek()? else {
                self.next_segment()?;
                continue;
            };
            let offset = self.offset;
            self.next_sequence = Some(header.sequence + 1);
            self.next_lsn = header.end();
            self.offset += header.disk_bytes();
            let is_mark = header.payload_len == 0 && header.start >= self.from;
            if header.end() > self.from || is_mark {
                return self.lend(offset).map(Some);
            }
        }
        Ok(None)
    }

    /// The header of the block at the present place, if that block is the next one.
    fn peek(&mut self) -> Result<Option<BlockHeader>, LogError> {
        let Some(current) = self.segments.last() else { return Ok(None) };
        let block = self.reader.block(&current.segment, self.offset, self.log_id)?;
        let follows = |header: &BlockHeader| {
            header.start == self.next_lsn && self.next_sequence.is_none_or(|next| next == header.sequence)
        };
        Ok(block.map(|(header, _)| header).filter(follows))
    }

    /// The block at `offset`, which was there a moment ago, cut to the wanted positions.
    fn lend(&mut self, offset: u64) -> Result<Block<'_>, LogError> {
        let current = self.segments.last().expect("a block was found in it");
        let name = current.segment.name.clone();
        let block = self.reader.block(&current.segment, offset, self.log_id)?;
        let Some((header, bytes)) = block else {
            let why = "a block changed while it was read".to_string();
            return Err(LogError::Corrupt { segment: name, offset, lsn: Lsn(self.next_lsn), why });
        };
        let payload = &bytes[BLOCK_HEADER_BYTES..BLOCK_HEADER_BYTES + header.payload_len];
        let skipped = self.from.saturating_sub(header.start) as usize;
        let kept = (self.to - header.start).min(header.payload_len as u64) as usize;
        Ok(Block {
            start: Lsn(header.start + skipped as u64),
            payload: &payload[skipped..kept],
            // Where the block is cut, what begins is not the incarnation.
            begins_incarnation: header.raise && skipped == 0,
            time_us: header.time_us,
        })
    }

    fn next_segment(&mut self) -> Result<(), LogError> {
        let gone = self.segments.pop();
        let goes_on = self.segments.last().is_some_and(|next| next.start == self.next_lsn);
        if !goes_on {
            let segment = gone.map_or_else(String::new, |active| active.segment.name);
            let why = "a block that was durable is missing or damaged".to_string();
            return Err(LogError::Corrupt { segment, offset: self.offset, lsn: Lsn(self.next_lsn), why });
        }
        self.offset = BLOCK as u64;
        self.reader.reset();
        Ok(())
    }
}

/// Where records begin in a stream that comes in pieces.
#[derive(Debug)]
struct Boundary {
    /// Where the next record begins, at or above all that was seen.
    next: u64,
    /// The bytes of its length that were seen.
    length: Vec<u8>,
}

impl Boundary {
    /// Where the first record at or above the end of what was seen begins, if `rest` comes next.
    fn first_behind(&self, rest: &[u8]) -> u64 {
        if self.length.is_empty() {
            return self.next;
        }
        let length: Vec<u8> = self.length.iter().chain(rest.iter().take(LENGTH_BYTES_MAX)).copied().collect();
        get_varint(&length).map_or(self.next + length.len() as u64, |(len, bytes)| self.next + len + bytes as u64)
    }

    fn see(&mut self, block: &Block<'_>) -> Result<(), &'static str> {
        if block.begins_incarnation {
            self.next = block.start.0;
            self.length.clear();
        }
        let end = block.end().0;
        while self.next + (self.length.len() as u64) < end {
            let at = (self.next + self.length.len() as u64 - block.start.0) as usize;
            self.length.push(block.payload[at]);
            match get_varint(&self.length) {
                // A record of no length is a byte of padding.
                Ok((len, bytes)) if len <= RECORD_BYTES_MAX as u64 => {
                    self.next += len + bytes as u64;
                    self.length.clear();
                }
                Err(_) if self.length.len() < LENGTH_BYTES_MAX => {}
                _ => return Err("a record's length is out of bounds"),
            }
        }
        Ok(())
    }
}

/// Makes a log from the blocks of another one: the same records at the same LSNs, under a log id of its own.
///
/// Nothing is durable before [`finish`](Self::finish); a crash before that leaves a folder to be thrown away.
pub struct LogBuilder {
    folder: Folder,
    segment_bytes: u64,
    log_id: u64,
    incarnation: u64,
    sequence: u64,
    lsn: u64,
    time_us: u64,
    boundary: Boundary,
    /// The segment that is written to, and where its next block goes.
    segment: Option<(SegmentFile, u64)>,
    segments: u32,
    buffer: AlignedBuffer,
}

impl LogBuilder {
    /// Begins a log in the folder `path`, which is made if need be. Its first record is the one that begins at `start`.
    ///
    /// # Errors
    /// [`LogError::Exists`], [`LogError::Options`], [`LogError::Io`].
    pub fn create(
        disk: &Disk,
        path: impl AsRef<Path>,
        options: &LogOptions,
        start: Lsn,
    ) -> Result<LogBuilder, LogError> {
        options.check()?;
        let folder = prepare_folder(disk, path.as_ref(), options)?;
        let mut builder = LogBuilder {
            folder,
            segment_bytes: options.segment_bytes,
            log_id: new_log_id(),
            incarnation: 0,
            sequence: 1,
            lsn: start.0,
            time_us: 0,
            boundary: Boundary { next: start.0, length: Vec::new() },
            segment: None,
            segments: 0,
            buffer: AlignedBuffer::new(),
        };
        builder.append(Block { start, payload: &[], begins_incarnation: true, time_us: 0 })?;
        Ok(builder)
    }

    /// The position behind the last byte so far.
    pub fn end(&self) -> Lsn {
        Lsn(self.lsn)
    }

    /// Takes the next block, which begins where the last one ended.
    ///
    /// # Errors
    /// [`LogError::Corrupt`] for a block that does not, or whose bytes are no records; [`LogError::Io`].
    pub fn append(&mut self, block: Block<'_>) -> Result<(), LogError> {
        let place = |why: &str| LogError::Corrupt {
            segment: "the copy".to_string(),
            offset: 0,
            lsn: block.start,
            why: why.to_string(),
        };
        if block.start.0 != self.lsn {
            return Err(place("the block does not begin where the one before ended"));
        }
        let mut rest = block.payload;
        let mut raise = block.begins_incarnation;
        self.incarnation += u64::from(raise);
        self.time_us = self.time_us.max(block.time_us);
        loop {
            let room = self.room(rest)?;
            let len = rest.len().min(room);
            let piece = Block { start: Lsn(self.lsn), payload: &rest[..len], begins_incarnation: raise, ..block };
            self.boundary.see(&piece).map_err(place)?;
            self.write(&rest[..len], raise)?;
            rest = &rest[len..];
            raise = false;
            if rest.is_empty() {
                return Ok(());
            }
        }
    }

    /// The payload that the next block can have; takes a new segment if the present one is full. `rest` comes next.
    fn room(&mut self, rest: &[u8]) -> Result<usize, LogError> {
        if let Some((segment, offset)) = &self.segment {
            if offset + BLOCK as u64 <= segment.bytes {
                return Ok(payload_room(segment.bytes - offset));
            }
            segment.file.sync()?;
        }
        self.segments += 1;
        let segment = grow_now(&self.folder, self.segments, self.segment_bytes, self.log_id)?;
        let mut header = AlignedBuffer::zeroed(BLOCK);
        SegmentHeader {
            log_id: self.log_id,
            incarnation: self.incarnation,
            sequence: u64::from(self.segments),
            start: self.lsn,
            durable: self.lsn,
            first_block: self.sequence,
            boundary: self.boundary.first_behind(rest),
            bytes: segment.bytes,
        }
        .seal(&mut header);
        segment.file.write_at(&header, 0)?;
        let room = payload_room(segment.room());
        self.segment = Some((segment, BLOCK as u64));
        Ok(room)
    }

    fn write(&mut self, payload: &[u8], raise: bool) -> Result<(), LogError> {
        let disk_bytes = block_disk_bytes(payload.len()) as usize;
        self.buffer.clear();
        self.buffer.resize(BLOCK_HEADER_BYTES, 0);
        self.buffer.extend_from_slice(payload);
        self.buffer.resize(disk_bytes, 0);
        BlockHeader {
            log_id: self.log_id,
            incarnation: self.incarnation,
            sequence: self.sequence,
            start: self.lsn,
            durable: self.lsn,
            durable_sequence: self.sequence,
            payload_len: payload.len(),
            raise,
            time_us: self.time_us,
        }
        .seal(&mut self.buffer);
        let (segment, offset) = self.segment.as_mut().expect("room was made");
        segment.file.write_at(&self.buffer, *offset)?;
        *offset += disk_bytes as u64;
        self.sequence += 1;
        self.lsn += payload.len() as u64;
        Ok(())
    }

    /// Makes all of it durable: from now on [`Log::open`] takes the folder.
    ///
    /// # Errors
    /// [`LogError::Io`].
    pub fn finish(self) -> Result<(), LogError> {
        if let Some((segment, _)) = &self.segment {
            segment.file.sync()?;
        }
        self.folder.disk.sync_dir(&self.folder.path)?;
        Ok(())
    }
}
