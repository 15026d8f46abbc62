//! Flushing: one holder of the flusher role at a time takes what is copied, puts it into a block, and writes that
//! durably.
//!
//! ```text
//!   buffer   |####################|......          1. take the role, compute `copied`
//!             written        copied                2. copy [written, copied) behind a header into an aligned buffer
//!                  |                               3. move `written`: the ring's bytes are free again
//!                  v                               4. write, durably
//!   [header|payload|zeros] -> segment              5. move `durable`, wake all whose commit it covers, in one batch
//! ```
//! - A block names the durable horizon from before its own write, so a block is believed to be promised only by what
//!   came later.
//! - A failed write is never tried again: what the device holds is not known, so the log is poisoned.

use crate::commit::Hardened;
use crate::field::get_varint;
use crate::format::{BLOCK_HEADER_BYTES, BlockHeader, LENGTH_BYTES_MAX, block_disk_bytes};
use crate::log::{Log, lock};
use crate::policy::CommitBy;
use crate::segments::FirstBlock;
use crate::stats::add;
use crate::{LogError, Poisoned};
use pikepole_contention::sync::atomic::Ordering;
use pikepole_contention::{Counter, clock, slot};
use pikepole_machine::{AlignedBuffer, BLOCK, File};
use std::io;
use std::task::Waker;

/// What a call of [`Log::flush_step`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlushOutcome {
    /// There was nothing to write, or the log is poisoned.
    Nothing,
    /// There is no room on disk for what is to be written. It stays in the buffer, and the next call tries again.
    NoRoom,
    /// Another thread is flushing.
    Busy,
    /// A block of so many bytes was written.
    Wrote(u64),
}

/// What belongs to the flusher role.
pub(crate) struct Flusher {
    /// Room for a segment's header, then the block.
    buffer: AlignedBuffer,
    /// The sequence of the next block. One write at a time is in flight, so all before it are durable.
    sequence: u64,
    /// Where the first record at or above `written` begins.
    boundary: u64,
}

/// A block that is ready to be written.
struct Sealed {
    file: File,
    offset: u64,
    /// Which part of the buffer.
    bytes: std::ops::Range<usize>,
}

impl Flusher {
    pub fn new(sequence: u64, boundary: u64) -> Self {
        Self { buffer: AlignedBuffer::new(), sequence, boundary }
    }

    /// The sequence of the next block.
    pub fn next_sequence(&self) -> u64 {
        self.sequence
    }
}

impl Log {
    /// Writes one block of what was appended, if nobody else is flushing. The caller's thread waits for the device.
    pub fn flush_step(&self) -> FlushOutcome {
        self.flush_sealing(u64::MAX)
    }

    /// The same; chunks that others may still fill hold it back unless they could take a record below `seal_below`.
    pub(crate) fn flush_sealing(&self, seal_below: u64) -> FlushOutcome {
        let Ok(mut flusher) = self.flusher.try_lock() else { return FlushOutcome::Busy };
        if self.is_poisoned() {
            return FlushOutcome::Nothing;
        }
        let copied = self.reservations.publish_copied(seal_below);
        let written = self.written.load(Ordering::Relaxed);
        debug_assert!(written <= copied);
        if copied == written {
            return FlushOutcome::Nothing;
        }
        let Ok(room) = self.room_for_block() else { return FlushOutcome::NoRoom };
        let most = self.block_bytes_max.load(Ordering::Relaxed) - BLOCK_HEADER_BYTES;
        let len = ((copied - written) as usize).min(most).min(room);
        let boundary = self.boundary_behind(&flusher, written + len as u64, copied);
        let mut wakers = Vec::new();
        let outcome = self.write_block(&mut flusher, len, false, &mut wakers);
        flusher.boundary = boundary;
        drop(flusher);
        pikepole_scheduler::wake_all(wakers);
        match outcome {
            Ok(bytes) => FlushOutcome::Wrote(bytes),
            Err(_) => {
                self.poison();
                FlushOutcome::Nothing
            }
        }
    }

    /// For the schedulers' idle hook: writes when commits of this scheduler wait, or those that a flush left over, or
    /// appends for room.
    pub fn idle_step(&self) -> FlushOutcome {
        if self.wants_idle_step() { self.flush_step() } else { FlushOutcome::Nothing }
    }

    /// Whether [`idle_step`](Self::idle_step) would write now, as far as this scheduler is concerned.
    pub fn wants_idle_step(&self) -> bool {
        self.commit_by() != CommitBy::LogWriter
            && (self.commits.has_waiters(slot::current()) || self.space_waiters.any())
    }

    /// Writes a block without records that begins an incarnation (`raise`) or just names the durable horizon.
    pub(crate) fn write_mark(&self, raise: bool) -> Result<(), LogError> {
        let mut flusher = lock(&self.flusher);
        if self.is_poisoned() {
            return Err(Poisoned.into());
        }
        self.room_for_block()?;
        let mut wakers = Vec::new();
        let outcome = self.write_block(&mut flusher, 0, raise, &mut wakers);
        drop(flusher);
        pikepole_scheduler::wake_all(wakers);
        if let Err(error) = outcome {
            self.poison();
            return Err(error.into());
        }
        Ok(())
    }

    /// Where the first record at or above `end` begins: `copied` if all of it is taken, else found by going from
    /// record to record.
    fn boundary_behind(&self, flusher: &Flusher, end: u64, copied: u64) -> u64 {
        if end == copied {
            return copied;
        }
        let mut boundary = flusher.boundary;
        while boundary < end {
            let length_bytes = LENGTH_BYTES_MAX.min((copied - boundary) as usize);
            // SAFETY: the caller holds the flusher role, and a record that begins below `copied` lies below it as a
            // whole.
            let length = get_varint(unsafe { self.buffer.filled(boundary, length_bytes) });
            let (len, length_bytes) = length.expect("the log itself put a length in front of each record");
            // A length of 0 is a byte of padding.
            boundary += len + length_bytes as u64;
        }
        boundary
    }

    /// Writes the `len` bytes from `written` on as one block. There is room for it.
    fn write_block(&self, flusher: &mut Flusher, len: usize, raise: bool, wakers: &mut Vec<Waker>) -> io::Result<u64> {
        let written = self.written.load(Ordering::Relaxed);
        let end = written + len as u64;
        let sealed = self.seal(flusher, written, len, raise);
        // Relaxed: the limits below carry to appenders that the ring's bytes were read.
        self.written.store(end, Ordering::Relaxed);
        self.update_limits(&lock(&self.segments));
        self.space_waiters.take(wakers);
        if crate::fault::acknowledge_first() {
            self.commits.harden(end, wakers);
        }
        let begun_us = clock::now_us();
        let bytes = sealed.bytes.len() as u64;
        sealed.file.write_durable_at(&flusher.buffer[sealed.bytes], sealed.offset)?;
        let write_us = clock::now_us().saturating_sub(begun_us);
        flusher.sequence += 1;
        let hardened = self.commits.harden(end, wakers);
        self.statistics.add(Counter::LogRecordBytes, len as u64);
        self.count_flush(bytes, write_us, hardened);
        Ok(bytes)
    }

    /// Puts the block together and takes its place in a segment.
    fn seal(&self, flusher: &mut Flusher, written: u64, len: usize, raise: bool) -> Sealed {
        let disk_bytes = block_disk_bytes(len);
        let whole = BLOCK + disk_bytes as usize;
        if flusher.buffer.len() < whole {
            flusher.buffer.resize(whole, 0);
        }
        let (segment_header, rest) = flusher.buffer.split_at_mut(BLOCK);
        let block = &mut rest[..disk_bytes as usize];
        let (payload, padding) = block[BLOCK_HEADER_BYTES..].split_at_mut(len);
        // SAFETY: the caller holds the flusher role (`flusher` is what its lock guards), and `len` bytes from
        // `written` on are at or below the `copied` that it computed.
        payload.copy_from_slice(unsafe { self.buffer.filled(written, len) });
        padding.fill(0);
        let durable = self.commits.durable();
        BlockHeader {
            log_id: self.log_id,
            incarnation: self.incarnation,
            sequence: flusher.sequence,
            start: written,
            durable,
            durable_sequence: flusher.sequence,
            payload_len: len,
            raise,
            time_us: self.block_time_us(),
        }
        .seal(block);
        let mut segments = lock(&self.segments);
        let begins_segment = !segments.last_has_room();
        if begins_segment {
            let segment = segments.take_free().expect("room was made for this block");
            let first = FirstBlock {
                incarnation: self.incarnation,
                sequence: flusher.sequence,
                start: written,
                durable,
                boundary: flusher.boundary,
            };
            segments.activate(segment, first).seal(segment_header);
        }
        let offset = segments.offset;
        segments.offset += disk_bytes;
        let file = segments.last().expect("one is active").segment.file.clone();
        segments.count(&self.statistics);
        if begins_segment {
            // The header lies right in front of the first block: one write for both.
            Sealed { file, offset: offset - BLOCK as u64, bytes: 0..whole }
        } else {
            Sealed { file, offset, bytes: BLOCK..whole }
        }
    }

    fn count_flush(&self, bytes: u64, write_us: u64, hardened: Hardened) {
        let totals = &self.totals;
        add(&totals.flushes, 1);
        add(&totals.bytes_written, bytes);
        add(&totals.flush_write_us, write_us);
        add(&totals.flush_waits, hardened.waits);
        add(&totals.flush_wait_us, hardened.wait_us);
        self.statistics.add(Counter::LogFlushes, 1);
        self.statistics.add(Counter::LogBytesFlushed, bytes);
        self.statistics.add(Counter::LogFlushWriteTime, write_us);
        self.statistics.add(Counter::LogFlushWaits, hardened.waits);
        self.statistics.add(Counter::LogFlushWaitTime, hardened.wait_us);
    }
}
