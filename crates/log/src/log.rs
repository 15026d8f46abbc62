//! The log: appending, waiting, policies.

use crate::buffer::Buffer;
use crate::commit::{Commits, Waiter};
use crate::company::Company;
use crate::field::{put_varint, varint_len};
use crate::flush::Flusher;
use crate::in_flight::InFlight;
use crate::options::LogOptions;
use crate::policy::{CommitBy, FlushQueue, Gathering, Policy};
use crate::record::LogRecord;
use crate::reservation::{Place, Reservations, Space};
use crate::segments::{Growing, SegmentFile, Segments, segment_number};
use crate::signal::Signal;
use crate::space::SpaceWaiters;
use crate::stats::{LogStats, SegmentInfo, Totals};
use crate::writer::WriterTasks;
use crate::{LOG_WRITERS_MAX, LogError, LogWriters, Lsn, LsnRange, Poisoned, Refused};
use pikepole_contention::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use pikepole_contention::sync::{Mutex, MutexGuard};
use pikepole_contention::{CachePadded, CountedMutex, Statistics, slot};
use pikepole_machine::{AlignedBuffer, DurableMethod, MemoryGrant, WriteQueue};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// Amounts that are streamed, as a power of two: of bytes, and under the classic flush queue, whose blocks are full then.
const STREAM_SHIFT: u32 = 18;
const STREAM_SHIFT_CLASSIC: u32 = 16;

/// The part of a small log, as a power of two, beyond which nothing waits in the buffer: what lies there fills segments too.
const STREAM_PART_SHIFT: u32 = 5;

/// The power of two of the amounts that are streamed, in a log of this size at most.
pub(crate) fn stream_shift(flush_queue: FlushQueue, bytes_max: u64) -> u32 {
    let shift = match flush_queue {
        FlushQueue::Spinlock => STREAM_SHIFT_CLASSIC,
        FlushQueue::LockFree => STREAM_SHIFT,
    };
    shift.min((bytes_max >> STREAM_PART_SHIFT).max(1).ilog2())
}

/// A transaction log.
///
/// Shared by all threads. Appending never waits; whoever needs to know that a record is durable awaits
/// [`durable_after`](Self::durable_after). Something must flush: a task that runs
/// [`run_log_writer`](Self::run_log_writer), calls of [`idle_step`](Self::idle_step) by the schedulers, or of
/// [`flush_step`](Self::flush_step) by hand.
pub struct Log {
    pub(crate) reservations: Reservations,
    pub(crate) buffer: Buffer,
    pub(crate) written: CachePadded<AtomicU64>,
    pub(crate) commits: Commits,
    /// Who of each slot waits for `durable`.
    pub(crate) company: Box<[CachePadded<Company>]>,
    /// What a durable write took lately, in microseconds; 0 on a device that takes no time of its own.
    pub(crate) write_us: AtomicU64,
    /// Not simulated.
    pub(crate) device_takes_time: bool,
    /// The flusher role: its holder takes from the buffer into a block, and moves `written`.
    pub(crate) flusher: CountedMutex<Flusher>,
    /// Blocks on their way, and the horizon behind them.
    pub(crate) in_flight: InFlight,
    /// Writes beside other work, where the kernel can.
    pub(crate) queue: Option<WriteQueue>,
    /// The sequences of the blocks in `queue`, and when they were submitted.
    pub(crate) submitted: Mutex<Vec<(u64, u64)>>,
    /// For each slot, one above the sequence of the last block that it submitted.
    pub(crate) submitted_by: Box<[AtomicU64]>,
    pub(crate) spare_buffers: Mutex<Vec<AlignedBuffer>>,
    pub(crate) segments: CountedMutex<Segments>,
    /// The segment being prepared. Held over its I/O; taken before `segments`.
    pub(crate) growing: Mutex<Option<Growing>>,
    /// Ask the log writers to look. The first one is the backstop; the others only help.
    pub(crate) writers: [Signal; LOG_WRITERS_MAX],
    /// How many of them there are.
    pub(crate) writer_tasks: WriterTasks,
    /// Log writers that are in a write.
    pub(crate) writers_writing: AtomicUsize,
    pub(crate) space_waiters: SpaceWaiters,
    pub(crate) options: LogOptions,
    pub(crate) block_bytes_max: AtomicUsize,
    pub(crate) commit_by: AtomicU8,
    pub(crate) gathering: AtomicU8,
    /// See [`LogOptions::flush_delay`], in microseconds.
    pub(crate) flush_delay_us: AtomicU64,
    /// An append that crosses a multiple of two to this power wakes the log writer: so large amounts stream to disk
    /// although no session waits.
    pub(crate) stream_shift: AtomicU32,
    /// The first log writer is in a pause that is longer than a commit should wait.
    pub(crate) pauses_long: AtomicBool,
    /// Shut down: no more appends.
    pub(crate) closed: AtomicBool,
    pub(crate) statistics: Arc<Statistics>,
    pub(crate) totals: Totals,
    pub(crate) log_id: u64,
    pub(crate) incarnation: u64,
    /// Where this opening's records begin.
    pub(crate) opened_at: u64,
    /// The time of the youngest block, in microseconds since 1970.
    pub(crate) sealed_us: AtomicU64,
}

impl std::fmt::Debug for Log {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Log")
            .field("incarnation", &self.incarnation)
            .field("reserved", &self.reserved())
            .field("durable", &self.durable())
            .finish_non_exhaustive()
    }
}

/// Locks a mutex whose holders leave its content whole even when they panic.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl Log {
    /// Appends a record of `len` bytes, which `fill` writes: its kind first. `fill` also gets the record's LSN. The
    /// bytes that it gets hold anything, and are `len` long. Never waits.
    ///
    /// # Errors
    /// [`Refused`]; nothing was reserved then and `fill` was not called.
    ///
    /// # Panics
    /// When `len` is 0 or above [`LogOptions::record_bytes_max`]. If `fill` panics, the log takes no more records and
    /// no wait ends well any more: what it left is no record, and cannot be taken back.
    #[inline]
    pub fn append(&self, len: usize, fill: impl FnOnce(&mut [u8], Lsn)) -> Result<LsnRange, Refused> {
        self.append_in(Space::Ordinary, Lsn::ZERO, len, fill)
    }

    /// Appends a record at or above `after`: the end of a record, or a reading of the log. Without it, a record is only
    /// behind the earlier ones of its own thread. So say here what it depends on: the LSN of the page that it changes,
    /// the last record of its transaction, the commits that it has seen; or [`reserved`](Self::reserved), to come
    /// behind everything.
    ///
    /// # Errors
    /// As [`append`](Self::append).
    ///
    /// # Panics
    /// As [`append`](Self::append).
    #[inline]
    pub fn append_after(&self, after: Lsn, len: usize, fill: impl FnOnce(&mut [u8], Lsn)) -> Result<LsnRange, Refused> {
        self.append_in(Space::Ordinary, after, len, fill)
    }

    /// Appends a record that ends transactions or helps to: undo, commit, checkpoint. It may use the space that is
    /// kept back for them, so it is never refused for [`Refused::LogFull`].
    ///
    /// # Errors
    /// [`Refused::BufferFull`] and [`Refused::Poisoned`], as [`append`](Self::append).
    ///
    /// # Panics
    /// As [`append`](Self::append).
    #[inline]
    pub fn append_reserved(&self, len: usize, fill: impl FnOnce(&mut [u8], Lsn)) -> Result<LsnRange, Refused> {
        self.append_in(Space::KeptBack, Lsn::ZERO, len, fill)
    }

    /// Appends a record of a [`record_table!`](crate::record_table).
    ///
    /// # Errors
    /// As [`append`](Self::append).
    ///
    /// # Panics
    /// As [`append`](Self::append).
    #[inline]
    pub fn append_record(&self, record: &impl LogRecord) -> Result<LsnRange, Refused> {
        self.append(record.encoded_len(), |out, _| record.encode(out))
    }

    /// Appends a record of a table as [`append_after`](Self::append_after) does.
    ///
    /// # Errors
    /// As [`append`](Self::append).
    ///
    /// # Panics
    /// As [`append`](Self::append).
    #[inline]
    pub fn append_record_after(&self, after: Lsn, record: &impl LogRecord) -> Result<LsnRange, Refused> {
        self.append_in(Space::Ordinary, after, record.encoded_len(), |out, _| record.encode(out))
    }

    /// Appends a record of a table at or above `after`, as [`append_reserved`](Self::append_reserved) does.
    ///
    /// # Errors
    /// As [`append_reserved`](Self::append_reserved).
    ///
    /// # Panics
    /// As [`append`](Self::append).
    #[inline]
    pub fn append_record_reserved_after(&self, after: Lsn, record: &impl LogRecord) -> Result<LsnRange, Refused> {
        self.append_in(Space::KeptBack, after, record.encoded_len(), |out, _| record.encode(out))
    }

    #[inline]
    fn append_in(
        &self,
        space: Space,
        after: Lsn,
        len: usize,
        fill: impl FnOnce(&mut [u8], Lsn),
    ) -> Result<LsnRange, Refused> {
        assert!((1..=self.options.record_bytes_max).contains(&len), "a record has 1 to record_bytes_max bytes");
        let slot = slot::current();
        let length_bytes = varint_len(len as u64);
        let bytes = length_bytes + len;
        let place = match self.reservations.take(slot, bytes as u64, space, after.0) {
            Some(place) => place,
            None => self.take_slowly(slot, bytes as u64, space)?,
        };
        let (start, end, taken) = (place.start, place.start + bytes as u64, place.start + bytes as u64 + place.rest);
        // SAFETY: `place` is the reservation of exactly these bytes, and it is published below, after the last use of
        // the slice. At most RECORD_BYTES_MAX + 3 bytes, which the options keep far below the ring's size.
        let record = unsafe { self.buffer.place(start, bytes) };
        let unfinished = Unfinished(self);
        put_varint(record, len as u64);
        fill(&mut record[length_bytes..], Lsn(start));
        std::mem::forget(unfinished);
        if place.rest > 0 {
            // SAFETY: as above; the rest of the chunk is this place's too.
            unsafe { self.buffer.place(end, place.rest as usize) }.fill(0);
        }
        place.publish();
        if (start ^ taken) >> self.stream_shift.load(Ordering::Relaxed) != 0 || self.reservations.writer_is_idle() {
            self.wake_writer();
        }
        Ok(LsnRange { start: Lsn(start), end: Lsn(end) })
    }

    #[cold]
    fn take_slowly(&self, slot: usize, bytes: u64, space: Space) -> Result<Place<'_>, Refused> {
        loop {
            self.refuse(slot, bytes, space)?;
            // Whatever it must come behind: a place that is taken anew comes behind all.
            if let Some(place) = self.reservations.take(slot, bytes, space, u64::MAX) {
                return Ok(place);
            }
        }
    }

    #[cold]
    pub(crate) fn wake_writer(&self) {
        self.reservations.wake_writer();
        self.writers[0].notify();
    }

    /// Asks the log writers to write up to `end`.
    fn ask_writers(&self, end: Lsn) {
        self.commits.ask(end.0);
        // Those that write will look again. One that does not is worth waking for what is in no block yet.
        let writing = self.writers_writing.load(Ordering::Relaxed);
        if writing == 0 {
            self.wake_writer();
        } else if let Some(helper) = self.writers[..self.writer_count()].get(writing) {
            helper.notify();
        }
    }

    /// Says that open transactions may need `bytes` more of log, or less, to roll back. Kept per scheduler; the sum
    /// counts, so one may add and another take away. Ordinary appends are refused early enough that twice the sum
    /// still fits.
    #[inline]
    pub fn undo_reserve(&self, bytes: i64) {
        self.reservations.add_undo_bytes(slot::current(), bytes);
    }

    /// Ready when the log is durable up to `end`, the end of a record appended before. Await it under `WRITELOG`.
    /// Dropping it gives the wait up.
    #[inline]
    pub fn durable_after(&self, end: Lsn) -> DurableAfter<'_> {
        DurableAfter { log: self, end, slot: slot::current(), waiter: None, hurry: false }
    }

    /// As [`durable_after`](Self::durable_after), and asks the log writer to write now. For checkpoints and page
    /// writes.
    pub fn flush_to(&self, end: Lsn) -> DurableAfter<'_> {
        debug_assert!(end <= self.reserved(), "nothing beyond the last record can become durable");
        DurableAfter { log: self, end, slot: slot::current(), waiter: None, hurry: true }
    }

    /// Ready when all that was appended before the call is durable.
    pub fn flush_all(&self) -> DurableAfter<'_> {
        self.flush_to(self.reserved())
    }

    /// Below it, all records are on stable storage.
    #[inline]
    pub fn durable(&self) -> Lsn {
        Lsn(self.commits.durable())
    }

    /// Below it, all is in a block on its way to the device, and its place in the buffer is free.
    pub fn written(&self) -> Lsn {
        Lsn(self.written.load(Ordering::Relaxed))
    }

    /// Below it, all places were filled when the log was last flushed; nothing is appended below it any more.
    pub fn copied(&self) -> Lsn {
        Lsn(self.reservations.copied())
    }

    /// The end of the last record. All that was appended before the call lies below.
    pub fn reserved(&self) -> Lsn {
        Lsn(self.reservations.records_end())
    }

    /// The present, for those who use the log as a clock: all that was appended before the call lies below, and all that
    /// is appended after it at or above. Of a record below whose append is under way, or over, the caller sees what the
    /// appending thread did before.
    ///
    /// Costs other threads their chunks (see [`Reservation::Chunk`](crate::Reservation::Chunk)); those who only need
    /// the one half or the other take [`reserved`](Self::reserved) or [`settled`](Self::settled).
    pub fn now(&self) -> Lsn {
        Lsn(self.reservations.now())
    }

    /// All that is still to be appended, by any thread, lies at or above; all below is filled.
    pub fn settled(&self) -> Lsn {
        Lsn(self.reservations.settled())
    }

    /// Whether an earlier write failed, so that the log takes no more.
    pub fn is_poisoned(&self) -> bool {
        self.commits.is_poisoned()
    }

    /// Changes a policy while the log is in use.
    ///
    /// # Errors
    /// [`LogError::Options`] for a block size out of bounds.
    pub fn set_policy(&self, policy: Policy) -> Result<(), LogError> {
        match policy {
            Policy::Reservation(policy) => self.reservations.set_policy(policy),
            Policy::FlushQueue(policy) => {
                self.commits.set_policy(policy);
                self.stream_shift.store(stream_shift(policy, self.options.bytes_max), Ordering::Relaxed);
            }
            Policy::CommitBy(policy) => {
                self.commit_by.store(policy as u8, Ordering::Relaxed);
                // Whoever waits now must be seen to by somebody.
                self.wake_writer();
            }
            Policy::Gathering(policy) => self.gathering.store(policy as u8, Ordering::Relaxed),
            Policy::BlockBytesMax(bytes) => {
                LogOptions { block_bytes_max: bytes, ..self.options.clone() }.check()?;
                self.block_bytes_max.store(bytes, Ordering::Relaxed);
            }
            Policy::FlushDelay(delay) => {
                LogOptions { flush_delay: delay, ..self.options.clone() }.check()?;
                self.flush_delay_us.store(delay.as_micros() as u64, Ordering::Relaxed);
                // A pause under way is as long as the former delay.
                self.wake_writer();
            }
        }
        Ok(())
    }

    /// The policies in force.
    pub fn policies(&self) -> [Policy; 6] {
        [
            Policy::Reservation(self.reservations.policy()),
            Policy::FlushQueue(self.commits.policy()),
            Policy::CommitBy(self.commit_by()),
            Policy::Gathering(self.gathering()),
            Policy::BlockBytesMax(self.block_bytes_max.load(Ordering::Relaxed)),
            Policy::FlushDelay(self.flush_delay()),
        ]
    }

    pub(crate) fn flush_delay(&self) -> Duration {
        Duration::from_micros(self.flush_delay_us.load(Ordering::Relaxed))
    }

    pub(crate) fn commit_by(&self) -> CommitBy {
        match self.commit_by.load(Ordering::Relaxed) {
            0 => CommitBy::LogWriter,
            _ => CommitBy::Scheduler,
        }
    }

    pub(crate) fn gathering(&self) -> Gathering {
        match self.gathering.load(Ordering::Relaxed) {
            0 => Gathering::None,
            _ => Gathering::Returning,
        }
    }

    /// The pages of the system that the ring is in.
    pub fn memory(&self) -> &MemoryGrant {
        self.buffer.grant()
    }

    /// Bytes of the ring that were ever used, and so have memory.
    pub fn ring_bytes_used(&self) -> u64 {
        let taken = self.reservations.reserved() - self.opened_at;
        taken.min(self.memory().bytes as u64)
    }

    /// The log at this moment.
    pub fn stats(&self) -> LogStats {
        let total = |total: &AtomicU64| total.load(Ordering::Relaxed);
        let (padding_bytes, open_bytes) = self.reservations.padding();
        let taken = self.reservations.reserved() - self.opened_at;
        let segments = self.segments.lock();
        LogStats {
            reserved: self.reserved(),
            copied: self.copied(),
            written: self.written(),
            durable: self.durable(),
            truncated: Lsn(segments.truncated),
            incarnation: self.incarnation,
            record_bytes: taken.saturating_sub(padding_bytes + open_bytes),
            padding_bytes,
            chunks: self.reservations.chunks(),
            bytes_written: total(&self.totals.bytes_written),
            flushes: total(&self.totals.flushes),
            flush_waits: total(&self.totals.flush_waits),
            flush_wait_us: total(&self.totals.flush_wait_us),
            flush_write_us: total(&self.totals.flush_write_us),
            bytes: segments.bytes,
            bytes_used: segments.bytes.saturating_sub(segments.ready_bytes()),
            bytes_max: segments.bytes_limit(),
            undo_bytes: self.reservations.undo_bytes(),
            segments_active: segments.active.len(),
            segments_free: segments.free.len(),
            growth_failed: segments.growth_failed.clone(),
            poisoned: self.is_poisoned(),
            writes_in_flight: self.in_flight.count(),
            writes_in_flight_max: total(&self.totals.in_flight_max) as usize,
            write_method: self.write_method(&segments).name(),
            writers: self.writer_count(),
        }
    }

    /// The segments that are in use or ready to be used, in the order of their numbers.
    pub fn segments(&self) -> Vec<SegmentInfo> {
        let segments = self.segments.lock();
        let info = |segment: &SegmentFile, active| {
            let number = segment_number(&segment.name)?;
            Some(SegmentInfo { number, bytes: segment.bytes, active })
        };
        let active = segments.active.iter().map(|used| info(&used.segment, Some((used.sequence, Lsn(used.start)))));
        let free = segments.free.iter().map(|segment| info(segment, None));
        let mut infos: Vec<SegmentInfo> = active.chain(free).flatten().collect();
        drop(segments);
        infos.sort_unstable_by_key(|info| info.number);
        infos
    }

    /// Has all appends refused from now on: the limits say so already, or will by this call.
    pub(crate) fn refuse_all(&self) {
        self.update_limits(&self.segments.lock());
        // Records that find room in a chunk look at no limit.
        self.reservations.now();
    }

    fn write_method(&self, segments: &Segments) -> DurableMethod {
        match segments.last().map(|last| last.segment.file.durable_method()) {
            Some(DurableMethod::WriteFlag) if self.queue.is_some() => DurableMethod::IoUring,
            Some(method) => method,
            None => DurableMethod::Simulated,
        }
    }

    /// How many log writers there are to be: each is a task that runs [`run_log_writer`](Self::run_log_writer).
    #[inline]
    pub fn writer_count(&self) -> usize {
        self.writer_tasks.wanted()
    }

    /// Changes how many log writers there are. Returns the numbers of those that the caller is to start, each as a task that
    /// runs [`run_log_writer`](Self::run_log_writer); those that are too many end by themselves.
    ///
    /// # Errors
    /// [`LogError::Options`] for a count that is not 1 to [`LOG_WRITERS_MAX`].
    #[must_use = "log writers that nobody starts do not write"]
    pub fn set_writers(&self, writers: LogWriters) -> Result<Vec<usize>, LogError> {
        LogOptions { writers, ..self.options.clone() }.check()?;
        let to_start = self.writer_tasks.set(writers.count());
        self.notify_writers();
        Ok(to_start)
    }

    /// Ends all waits with an error and refuses all appends from now on.
    #[cold]
    pub(crate) fn poison(&self) {
        let mut wakers: Vec<Waker> = Vec::new();
        self.commits.poison(&mut wakers);
        self.refuse_all();
        self.space_waiters.take(&mut wakers);
        pikepole_scheduler::wake_all(wakers);
        self.notify_writers();
    }

    pub(crate) fn notify_writers(&self) {
        self.writers.iter().for_each(Signal::notify);
    }
}

/// Poisons the log when a record's closure panics: the place stays unpublished, so nothing behind it becomes durable.
struct Unfinished<'a>(&'a Log);

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        self.0.poison();
    }
}

/// See [`Log::durable_after`].
#[must_use = "futures do nothing unless awaited"]
pub struct DurableAfter<'a> {
    log: &'a Log,
    end: Lsn,
    /// Of the thread that waits.
    slot: usize,
    waiter: Option<Arc<Waiter>>,
    /// The log writer is to write at once.
    hurry: bool,
}

impl Future for DurableAfter<'_> {
    type Output = Result<(), Poisoned>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let is_new = this.waiter.is_none();
        let outcome = this.log.commits.poll(this.slot, this.end, &mut this.waiter, cx);
        if is_new && this.waiter.is_some() {
            this.log.company[this.slot].came();
        }
        if outcome.is_pending() && is_new {
            // On a scheduler, the idle hook writes; anywhere else only the log writer does.
            let by_writer = this.hurry
                || this.log.commit_by() == CommitBy::LogWriter
                || pikepole_scheduler::current_scheduler().is_none();
            if by_writer {
                this.log.ask_writers(this.end);
            }
        }
        outcome
    }
}

impl Drop for DurableAfter<'_> {
    fn drop(&mut self) {
        if let Some(waiter) = &self.waiter {
            waiter.forget();
            self.log.company[self.slot].left();
        }
    }
}
