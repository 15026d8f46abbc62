//! Flushing: what is copied becomes blocks, blocks become durable. Several writes can be on their way.
//!
//! ```text
//!   buffer   |####################|......     seal    (flusher role; no I/O)  1. compute `copied`
//!             written        copied                   2. copy [written, copied) behind a header into an aligned buffer
//!                  |                                  3. move `written`: the ring's bytes are free again
//!                  v                           write   (no role, no lock)     4. write, durably
//!   [header|payload|zeros] -> segment         finish  (lock of `in_flight`)  5. move `durable` over the longest prefix of
//!                                                        finished blocks, wake all whose commit it covers, in one batch
//! ```
//! - Sealing is short, and gives blocks their sequences and places in the order of the stream. Writes end in any order.
//! - A block names the horizon from before its own sealing, so a block is believed to be promised only by what was sealed
//!   after it had become durable.
//! - A block that begins a segment is sealed only when the header of the segment before is durable (`segments`).
//! - A failed write is never tried again: what the device holds is not known, so the log is poisoned, also when later
//!   blocks arrive.

use crate::commit::Hardened;
use crate::company::Company;
use crate::field::get_varint;
use crate::format::{BLOCK_HEADER_BYTES, BlockHeader, LENGTH_BYTES_MAX, block_disk_bytes};
use crate::log::{Log, lock};
use crate::policy::{CommitBy, Gathering};
use crate::segments::FirstBlock;
use crate::space::Room;
use crate::stats::add;
use crate::{LOG_WRITERS_MAX, LogError, Poisoned};
use pikepole_contention::sync::atomic::Ordering;
use pikepole_contention::sync::thread;
use pikepole_contention::{Counter, clock, slot};
use pikepole_machine::{AlignedBuffer, BLOCK, DurableWrite, Finished, WriteQueue};
use std::io;
use std::task::Waker;

/// Blocks on their way at most. Each has a buffer of its own.
pub(crate) const IN_FLIGHT_MAX: usize = 32;
/// Blocks of a stream on their way: the device writes one, the next waits there, others are made.
const STREAM_IN_FLIGHT: usize = 4;

/// What a step of flushing did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlushOutcome {
    /// There was nothing to write, or the log is poisoned.
    Nothing,
    /// There is no room on disk for what is to be written. It stays in the buffer, and the next call tries again.
    NoRoom,
    /// What there is to write waits for others: for the flusher role, or for writes on their way.
    Busy,
    /// So many bytes of blocks were written or begun to be.
    Wrote(u64),
}

/// What belongs to the flusher role.
pub(crate) struct Flusher {
    /// Where the first record at or above `written` begins.
    boundary: u64,
}

/// A block that is ready to be written.
pub(crate) struct Sealed {
    sequence: u64,
    end: u64,
    write: DurableWrite,
}

impl Sealed {
    fn bytes(&self) -> u64 {
        self.write.bytes.len() as u64
    }
}

impl Flusher {
    pub fn new(boundary: u64) -> Self {
        Self { boundary }
    }
}

impl Log {
    /// Writes one block of what was appended, if nobody else seals one just now. The caller's thread waits for the device.
    /// The block is durable then; `durable` moves when those before it are, too.
    pub fn flush_step(&self) -> FlushOutcome {
        self.flush_sealing(u64::MAX)
    }

    /// The same; chunks that others may still fill hold it back unless they could take a record below `seal_below`.
    pub(crate) fn flush_sealing(&self, seal_below: u64) -> FlushOutcome {
        self.reap();
        if self.commits.has_blocks()
            && let Some(block) = self.commits.take_block()
        {
            return self.write_now(block);
        }
        match self.seal_next(seal_below) {
            Ok(sealed) => self.write_now(sealed),
            Err(outcome) if self.reap_or_wait() == 0 => outcome,
            Err(_) => FlushOutcome::Busy,
        }
    }

    /// The classic way of a log writer: writes the first block of the flush queue. When there is none it closes the block
    /// that is due and those that are full, and queues them. Each one notifies all log writers, and each of them takes
    /// LOGFLUSHQ to look: what makes several of them dear where no session waits.
    pub(crate) fn drain_flush_queue(&self, seal_below: u64) -> FlushOutcome {
        self.reap();
        if let Some(block) = self.commits.take_block() {
            return self.write_from_queue(block);
        }
        let mut closed = 0;
        let outcome = loop {
            match self.seal_next(seal_below) {
                Ok(block) => self.commits.queue_block(block),
                Err(outcome) => break outcome,
            }
            self.notify_helpers();
            closed += 1;
            if closed == LOG_WRITERS_MAX || !self.is_streaming() {
                break FlushOutcome::Busy;
            }
        };
        match self.commits.take_block() {
            Some(block) => self.write_from_queue(block),
            None if self.reap_or_wait() == 0 => outcome,
            None => FlushOutcome::Busy,
        }
    }

    /// Writes a block of the flush queue; of a stream of them beside others, as [`stream_sealing`](Self::stream_sealing).
    pub(crate) fn write_from_queue(&self, block: Sealed) -> FlushOutcome {
        match &self.queue {
            Some(queue) if self.is_streaming() || self.commits.has_blocks() => {
                if self.in_flight.count() >= STREAM_IN_FLIGHT {
                    self.reap_or_wait();
                }
                self.submit(queue, block)
            }
            _ => self.write_now(block),
        }
    }

    /// The same, of a stream of blocks: the next one is made while the device writes those before.
    pub(crate) fn stream_sealing(&self, seal_below: u64) -> FlushOutcome {
        self.reap();
        if self.in_flight.count() >= STREAM_IN_FLIGHT {
            let bytes = self.reap_or_wait();
            if bytes > 0 {
                return FlushOutcome::Wrote(bytes);
            }
        }
        self.submit_sealing(seal_below)
    }

    /// As [`flush_step`](Self::flush_step), but only begins the write if the kernel can make it beside the thread's other
    /// work: then [`reap`](Self::reap) ends it.
    pub fn submit_step(&self) -> FlushOutcome {
        self.submit_sealing(u64::MAX)
    }

    fn submit_sealing(&self, seal_below: u64) -> FlushOutcome {
        let Some(queue) = &self.queue else { return self.flush_sealing(seal_below) };
        let sealed = match self.seal_next(seal_below) {
            Ok(sealed) => sealed,
            Err(outcome) => return outcome,
        };
        self.submit(queue, sealed)
    }

    fn submit(&self, queue: &WriteQueue, sealed: Sealed) -> FlushOutcome {
        let bytes = sealed.bytes();
        // In the table before the kernel has it: it may be finished at once.
        lock(&self.submitted).push((sealed.sequence, clock::now_us()));
        self.submitted_by[slot::current()].store(sealed.sequence + 1, Ordering::Relaxed);
        match queue.submit(sealed.sequence, sealed.write) {
            Ok(()) => FlushOutcome::Wrote(bytes),
            Err(write) => {
                self.submitted_at(sealed.sequence);
                self.write_now(Sealed { write, ..sealed })
            }
        }
    }

    /// Ends the writes that were begun by [`submit_step`](Self::submit_step) and that the device has finished. Never waits.
    /// Returns the bytes of their blocks.
    pub fn reap(&self) -> u64 {
        match &self.queue {
            Some(queue) if queue.in_flight() > 0 => self.reap_with(|finished| queue.reap(finished)),
            _ => 0,
        }
    }

    /// Waits, about a millisecond at most, until a write that was begun by [`submit_step`](Self::submit_step) is finished;
    /// 0 at once when there is none.
    pub(crate) fn reap_or_wait(&self) -> u64 {
        match &self.queue {
            Some(queue) if queue.in_flight() > 0 => self.reap_with(|finished| queue.wait(finished)).max(1),
            _ => 0,
        }
    }

    fn reap_with(&self, reap: impl FnOnce(&mut Vec<Finished>)) -> u64 {
        let mut finished = Vec::new();
        reap(&mut finished);
        let mut bytes = 0;
        for Finished { tag: sequence, write, outcome } in finished {
            let begun_us = self.submitted_at(sequence);
            bytes += write.bytes.len() as u64;
            // A failure has poisoned the log, which is how everybody learns of it.
            let _ = self.finish(sequence, write, begun_us, outcome);
        }
        bytes
    }

    /// Takes a block out of the table of those that were submitted; when that was.
    fn submitted_at(&self, sequence: u64) -> u64 {
        let mut submitted = lock(&self.submitted);
        let at = submitted.iter().position(|(other, _)| *other == sequence);
        at.map_or(0, |at| submitted.swap_remove(at).1)
    }

    /// Whether [`idle_step`](Self::idle_step) and [`busy_step`](Self::busy_step) have anything to do now, as far as this
    /// scheduler is concerned.
    pub fn wants_step(&self) -> bool {
        let is_in_flight = self.queue.as_ref().is_some_and(|queue| queue.in_flight() > 0);
        let is_by_scheduler = self.commit_by() == CommitBy::Scheduler && !self.is_poisoned();
        let is_wanted = || self.commits.wanted(slot::current()) > self.commits.durable() || self.space_waiters.any();
        is_in_flight || is_by_scheduler && is_wanted()
    }

    /// For schedulers that have nothing else to run: writes when commits of this scheduler are in no block yet, or appends
    /// wait for room. The thread waits for the device: nothing is as quick as that for a commit alone. [`Gathering::Returning`]
    /// may put the write off for a moment; the outcome is `Busy` then.
    pub fn idle_step(&self) -> FlushOutcome {
        self.step(self.gathering())
    }

    fn step(&self, gathering: Gathering) -> FlushOutcome {
        let reaped = self.reap();
        if reaped > 0 {
            return FlushOutcome::Wrote(reaped);
        }
        if self.is_poisoned() || self.commit_by() == CommitBy::LogWriter {
            return FlushOutcome::Nothing;
        }
        let wanted = self.commits.wanted(slot::current());
        let company = &self.company[slot::current()];
        if wanted > self.written.load(Ordering::Relaxed) || self.space_waiters.any() {
            if gathering == Gathering::Returning && self.awaits_more(company) {
                return FlushOutcome::Busy;
            }
            self.count_gathering(company.writes());
            // A simulated device has no time of its own: there, writes are on their way until the next look.
            let is_beside_another =
                self.queue.as_ref().is_some_and(|queue| queue.is_simulated() || queue.in_flight() > 0);
            let outcome = if is_beside_another { self.submit_step() } else { self.flush_step() };
            if let FlushOutcome::Wrote(_) = outcome {
                return outcome;
            }
        } else {
            self.count_gathering(company.has_nothing());
        }
        match self.reap_or_wait() {
            0 if wanted > self.commits.durable() => FlushOutcome::Busy,
            0 => FlushOutcome::Nothing,
            bytes => FlushOutcome::Wrote(bytes),
        }
    }

    /// Counts how long a write was put off, when it was, since `since_us`.
    fn count_gathering(&self, since_us: u64) {
        if since_us != 0 {
            self.statistics.add(Counter::GroupCommitTime, clock::now_us().saturating_sub(since_us));
        }
    }

    /// Whether a write that is due can wait for more committers.
    fn awaits_more(&self, company: &Company) -> bool {
        let write_us = self.write_us.load(Ordering::Relaxed);
        !self.space_waiters.any() && company.is_expected(clock::now_us(), write_us)
    }

    /// For schedulers that have other work, often: ends what the device has finished, and begins a write when commits of
    /// this scheduler are in no block yet and no write that it began is on its way. Never waits for the device, unless
    /// the kernel has no way to write beside other work and `quantum_over`.
    pub fn busy_step(&self, quantum_over: bool) -> FlushOutcome {
        let Some(queue) = &self.queue else {
            if quantum_over {
                return self.step(Gathering::None);
            }
            self.shorten_pause();
            return FlushOutcome::Nothing;
        };
        let mut outcome = FlushOutcome::Nothing;
        let is_by_scheduler = self.commit_by() == CommitBy::Scheduler && !self.is_poisoned();
        let slot = slot::current();
        let is_on_its_way = self.submitted_by[slot].load(Ordering::Relaxed) > self.in_flight.oldest();
        if is_by_scheduler && !is_on_its_way && self.commits.wanted(slot) > self.written.load(Ordering::Relaxed) {
            outcome = self.submit_step();
        }
        match self.reap() {
            0 if queue.in_flight() > 0 => FlushOutcome::Busy,
            0 => outcome,
            bytes => FlushOutcome::Wrote(bytes),
        }
    }

    /// Lets a log writer that is in a long pause know of a commit of this scheduler, which has no time to write for it.
    fn shorten_pause(&self) {
        let waits = self.commits.wanted(slot::current()) > self.written.load(Ordering::Relaxed);
        if waits && self.pauses_long.swap(false, Ordering::Relaxed) {
            self.wake_writer();
        }
    }

    /// Writes a block without records that begins an incarnation (`raise`) or just names the durable horizon: all that
    /// was written before.
    pub(crate) fn write_mark(&self, raise: bool) -> Result<(), LogError> {
        let sealed = loop {
            while self.in_flight.count() > 0 && !self.is_poisoned() {
                if let Some(block) = self.commits.take_block() {
                    self.write_now(block);
                } else if self.reap_or_wait() == 0 {
                    thread::yield_now();
                }
            }
            let mut flusher = self.flusher.lock();
            if self.is_poisoned() {
                return Err(Poisoned.into());
            }
            if self.in_flight.count() > 0 {
                continue;
            }
            if let Room::Payload(_) = self.room_for_block()? {
                break self.seal(&mut flusher, 0, raise);
            }
        };
        let begun_us = clock::now_us();
        let outcome = sealed.write.make();
        self.finish(sealed.sequence, sealed.write, begun_us, outcome)
    }

    /// Seals the next block of what is copied, if there is anything, room for it, and nobody else at it.
    pub(crate) fn seal_next(&self, seal_below: u64) -> Result<Sealed, FlushOutcome> {
        let Some(mut flusher) = self.flusher.try_lock() else { return Err(FlushOutcome::Busy) };
        if self.is_poisoned() {
            return Err(FlushOutcome::Nothing);
        }
        let access = self.reservations.access();
        let copied = self.reservations.publish_copied(seal_below);
        drop(access);
        let written = self.written.load(Ordering::Relaxed);
        debug_assert!(written <= copied);
        if copied == written {
            return Err(FlushOutcome::Nothing);
        }
        if self.in_flight.count() >= IN_FLIGHT_MAX {
            return Err(FlushOutcome::Busy);
        }
        let room = match self.room_for_block() {
            Ok(Room::Payload(room)) => room,
            Ok(Room::Later) => return Err(FlushOutcome::Busy),
            Err(_) => return Err(FlushOutcome::NoRoom),
        };
        let most = self.block_bytes_max.load(Ordering::Relaxed) - BLOCK_HEADER_BYTES;
        let len = ((copied - written) as usize).min(most).min(room);
        let boundary = self.boundary_behind(&flusher, written + len as u64, copied);
        let sealed = self.seal(&mut flusher, len, false);
        flusher.boundary = boundary;
        drop(flusher);
        let mut wakers: Vec<Waker> = Vec::new();
        self.space_waiters.take(&mut wakers);
        if crate::fault::acknowledge_first() {
            self.commits.advance(sealed.end);
            self.commits.wake_durable(&mut wakers);
        }
        pikepole_scheduler::wake_all(wakers);
        Ok(sealed)
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

    /// Puts the `len` bytes from `written` on into a block, gives it its place in a segment, and moves `written`. There is
    /// room for it.
    fn seal(&self, flusher: &mut Flusher, len: usize, raise: bool) -> Sealed {
        self.statistics.add(Counter::LogRecordBytes, len as u64);
        let written = self.written.load(Ordering::Relaxed);
        let end = written + len as u64;
        let disk_bytes = block_disk_bytes(len);
        let whole = BLOCK + disk_bytes as usize;
        let mut buffer = self.take_buffer(whole);
        let (segment_header, rest) = buffer.split_at_mut(BLOCK);
        let block = &mut rest[..disk_bytes as usize];
        let (payload, padding) = block[BLOCK_HEADER_BYTES..].split_at_mut(len);
        // SAFETY: the caller holds the flusher role (`flusher` is what its lock guards), and `len` bytes from
        // `written` on are at or below the `copied` that it computed.
        payload.copy_from_slice(unsafe { self.buffer.filled(written, len) });
        padding.fill(0);
        let (sequence, horizon) = self.in_flight.begin(end);
        let named = if crate::fault::name_own_sequence() { sequence } else { horizon.sequence };
        BlockHeader {
            log_id: self.log_id,
            incarnation: self.incarnation,
            sequence,
            start: written,
            durable: horizon.lsn,
            durable_sequence: named,
            payload_len: len,
            raise,
            time_us: self.block_time_us(),
        }
        .seal(block);
        let mut segments = self.segments.lock();
        let begins_segment = !segments.last_has_room();
        if begins_segment {
            let segment = segments.take_free().expect("room was made for this block");
            let first = FirstBlock {
                incarnation: self.incarnation,
                sequence,
                start: written,
                durable: horizon.lsn,
                boundary: flusher.boundary,
            };
            segments.activate(segment, first).seal(segment_header);
        }
        let offset = segments.offset;
        segments.offset += if crate::fault::rewrite_block() { 0 } else { disk_bytes };
        let file = segments.last().expect("one is active").segment.file.clone();
        segments.count(&self.statistics);
        let access = self.reservations.access();
        // Relaxed: the limits below carry to appenders that the ring's bytes were read.
        self.written.store(end, Ordering::Relaxed);
        self.update_limits(&segments);
        drop(access);
        // The header lies right in front of the first block: one write for both.
        let (offset, bytes) = if begins_segment { (offset - BLOCK as u64, 0..whole) } else { (offset, BLOCK..whole) };
        Sealed { sequence, end, write: DurableWrite { file, offset, buffer, bytes } }
    }

    /// A buffer of `bytes` or more.
    fn take_buffer(&self, bytes: usize) -> AlignedBuffer {
        let mut buffer = lock(&self.spare_buffers).pop().unwrap_or_default();
        if buffer.len() < bytes {
            buffer.resize(bytes, 0);
        }
        buffer
    }

    /// Makes the write on this thread.
    pub(crate) fn write_now(&self, sealed: Sealed) -> FlushOutcome {
        let bytes = sealed.bytes();
        let begun_us = clock::now_us();
        let outcome = sealed.write.make();
        self.finish(sealed.sequence, sealed.write, begun_us, outcome)
            .map_or(FlushOutcome::Nothing, |()| FlushOutcome::Wrote(bytes))
    }

    /// A write has ended: hardens what can be, or poisons.
    fn finish(
        &self,
        sequence: u64,
        write: DurableWrite,
        begun_us: u64,
        outcome: io::Result<()>,
    ) -> Result<(), LogError> {
        let write_us = clock::now_us().saturating_sub(begun_us);
        let in_flight = self.in_flight.count() as u64;
        if let Err(error) = outcome {
            self.poison();
            return Err(error.into());
        }
        if self.device_takes_time {
            // The mean of the last eight or so. Of writes that end at once one may go uncounted.
            let mean_us = self.write_us.load(Ordering::Relaxed);
            self.write_us.store(if mean_us == 0 { write_us } else { (mean_us * 7 + write_us) / 8 }, Ordering::Relaxed);
        }
        let mut wakers = Vec::new();
        let mut hardened = Hardened::default();
        if self.in_flight.finish(sequence, &self.commits) {
            hardened = self.commits.wake_durable(&mut wakers);
        }
        self.count_flush(write.bytes.len() as u64, write_us, hardened);
        self.totals.in_flight_max.fetch_max(in_flight, Ordering::Relaxed);
        lock(&self.spare_buffers).push(write.buffer);
        pikepole_scheduler::wake_all(wakers);
        Ok(())
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
