//! The log writers: the tasks that write what nobody else does.
//!
//! | the first one | it waits for | until |
//! |---|---|---|
//! | working | nothing | what it is to write is written |
//! | ticking | a notification, or a millisecond | something is to be written, or nothing is left |
//! | idle | a notification | the first append after all was written finds `writer_idle` set and notifies |
//!
//! With [`CommitBy::LogWriter`](crate::CommitBy::LogWriter) each commit notifies one that is in no write: the first, else a
//! helper. Helpers do nothing but write when they are notified; the first one looks again after each of its writes, so
//! nothing depends on them.
//!
//! With [`FlushQueue::Spinlock`](crate::FlushQueue::Spinlock) they work as the classic ones do: blocks that are full or
//! due are queued under every durability, and each log writer takes one after the other from the queue, under LOGFLUSHQ.
//! Helpers are notified of blocks then, and the first writer does not wait until more than one is full.
//!
//! With [`CommitBy::Scheduler`](crate::CommitBy::Scheduler) the committing schedulers write, and the first one stands by: for
//! commits of schedulers that never come to rest, for waiters outside the schedulers, and for delayed durability. It leaves alone what is about to be written by others: a second thread that seals as soon as
//! something is there would make everybody's blocks smaller.

use crate::log::{Log, lock};
use crate::{FlushOutcome, FlushQueue, LOG_WRITERS_MAX, LogError};
use pikepole_contention::sync::atomic::{AtomicUsize, Ordering};
use pikepole_contention::sync::{Mutex, thread};
use pikepole_contention::{WaitType, clock};
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

/// The time that a commit of a scheduler that does not come to rest waits for a write of that scheduler.
const TICK: Duration = Duration::from_millis(1);
/// Flush delays from here on leave no chunk open: each scheduler's would be full by then, if it had anything to log.
const SEALING_DELAY: Duration = Duration::from_millis(8);
/// How long it leaves the disk alone after it could not prepare a segment, in microseconds.
const PAUSE_AFTER_FAILURE_US: u64 = 16_000;

/// Which of the log writers there are, and which are to be.
pub(crate) struct WriterTasks {
    /// Changed under the lock; read without it by those who only want a hint.
    wanted: AtomicUsize,
    /// Whether the task of each number is there, or about to be started.
    running: Mutex<[bool; LOG_WRITERS_MAX]>,
}

impl WriterTasks {
    /// So many, which the log's owner starts.
    pub fn new(wanted: usize) -> Self {
        Self { wanted: AtomicUsize::new(wanted), running: Mutex::new(std::array::from_fn(|number| number < wanted)) }
    }

    /// How many there are to be.
    #[inline]
    pub fn wanted(&self) -> usize {
        self.wanted.load(Ordering::Relaxed)
    }

    /// So many from now on; those that are to be started.
    pub fn set(&self, wanted: usize) -> Vec<usize> {
        let mut running = lock(&self.running);
        self.wanted.store(wanted, Ordering::Relaxed);
        let to_start: Vec<usize> = (0..wanted).filter(|number| !running[*number]).collect();
        running[..wanted].fill(true);
        to_start
    }

    /// Whether the task of this number goes on. If not, it has ended as far as others are concerned.
    fn goes_on(&self, number: usize) -> bool {
        if number < self.wanted() {
            return true;
        }
        let mut running = lock(&self.running);
        // Again, under the lock: it may have been asked back meanwhile.
        running[number] = number < self.wanted();
        running[number]
    }
}

/// The preparing of segments, on a thread for blocking work: the sync of a new file takes as long as a hundred writes, during
/// which the buffer would fill.
#[derive(Default)]
struct Preparation {
    running: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    /// Not before this time, after an attempt that failed.
    not_before_us: u64,
}

impl Preparation {
    /// Begins to prepare a segment if one is needed; Ready when one has just been prepared, or could not be.
    fn poll(&mut self, log: &Arc<Log>, cx: &mut Context<'_>) -> Poll<()> {
        if self.running.is_none() && log.wants_segment() && clock::now_us() >= self.not_before_us {
            let log = Arc::clone(log);
            let prepare = move || while log.goes_on() && log.prepare_step() {};
            self.running = Some(Box::pin(pikepole_scheduler::run_blocking(prepare)));
        }
        self.poll_running(log, cx)
    }

    /// The time at which a segment that is needed and could not be prepared is tried again.
    fn retry_us(&self, log: &Log) -> Option<u64> {
        (self.running.is_none() && log.wants_segment()).then_some(self.not_before_us)
    }

    fn poll_running(&mut self, log: &Log, cx: &mut Context<'_>) -> Poll<()> {
        let Some(running) = &mut self.running else { return Poll::Pending };
        let polled = running.as_mut().poll(cx);
        if polled.is_ready() {
            self.running = None;
            let has_failed = log.segments.lock().growth_failed.is_some();
            self.not_before_us = if has_failed { clock::now_us() + PAUSE_AFTER_FAILURE_US } else { 0 };
        }
        polled
    }

    /// Waits until nothing is being prepared: who closed the log may remove its files.
    async fn end(self) {
        if let Some(running) = self.running {
            running.await;
        }
    }
}

impl Log {
    /// Runs the log writer `number`, one of [`writer_count`](Self::writer_count), until [`shutdown`](Self::shutdown), or
    /// until [`set_writers`](Self::set_writers) says that there are fewer. For
    /// a hidden scheduler of its own: it blocks its thread while it writes.
    pub async fn run_log_writer(self: Arc<Self>, number: usize) {
        if number > 0 {
            return self.run_helper(number).await;
        }
        let mut preparation = Preparation::default();
        // Where `written` was at the last tick.
        let mut written_at_tick = u64::MAX;
        // What was appended two ticks ago is not kept waiting for chunks that are open before it.
        let (mut seal_below, mut at_last_tick) = (0, 0);
        // When what lies in the buffer is written at the latest.
        let mut due_us = u64::MAX;
        while self.goes_on() {
            let is_due = due_us <= clock::now_us();
            if is_due {
                due_us = clock::now_us() + TICK.as_micros() as u64;
                seal_below = if self.flush_delay() < SEALING_DELAY { seal_below } else { u64::MAX };
            }
            let wrote = (is_due || self.is_to_write(written_at_tick)) && self.write_as_writer(seal_below);
            if wrote {
                due_us = u64::MAX;
            }
            let prepared = poll_fn(|cx| Poll::Ready(preparation.poll(&self, cx).is_ready())).await;
            let touched = self.buffer.touch_ahead(self.opened_at, self.reservations.reserved());
            if wrote || prepared || touched {
                pikepole_scheduler::yield_if_due().await;
                continue;
            }
            let written = self.written.load(Ordering::Relaxed);
            let is_at_rest = self.in_flight.count() == 0 && preparation.retry_us(&self).is_none();
            if is_at_rest && self.reservations.sleep_unless_more(written) {
                (written_at_tick, due_us) = (u64::MAX, u64::MAX);
                let woken = poll_fn(|cx| self.poll_signal(&mut preparation, cx));
                pikepole_scheduler::wait(WaitType::LOGMGR_QUEUE, woken).await;
                self.reservations.wake_writer();
            } else {
                let now_us = clock::now_us();
                due_us = due_us.min(now_us + self.flush_delay_us.load(Ordering::Relaxed));
                let until_us = due_us.min(preparation.retry_us(&self).unwrap_or(u64::MAX));
                let pause = Duration::from_micros(until_us.saturating_sub(now_us));
                let is_short = self.in_flight.count() > 0 || self.commits.any_waits_above(written);
                written_at_tick = if is_short { written } else { u64::MAX };
                self.pauses_long.store(!is_short && pause > TICK, Ordering::Relaxed);
                let pause = if is_short { pause.min(TICK) } else { pause };
                pikepole_scheduler::wait(WaitType::LOGMGR_QUEUE, self.pause(&mut preparation, pause)).await;
                self.pauses_long.store(false, Ordering::Relaxed);
                (seal_below, at_last_tick) = (at_last_tick, self.reserved().0);
                self.reap();
            }
        }
        preparation.end().await;
    }

    /// Writes when asked to, beside the others.
    pub(crate) async fn run_helper(&self, number: usize) {
        while self.goes_on() && self.writer_tasks.goes_on(number) {
            if !self.help() {
                let notified = poll_fn(|cx| self.writers[number].poll(cx));
                pikepole_scheduler::wait(WaitType::LOGMGR_QUEUE, notified).await;
            }
            pikepole_scheduler::yield_if_due().await;
        }
    }

    /// A helper's turn: whether it has written.
    fn help(&self) -> bool {
        let is_classic = self.has_classic_queue();
        let is_asked = self.commits.asked() > self.written.load(Ordering::Relaxed);
        if is_asked || is_classic && self.is_streaming() {
            return self.write_as_writer(u64::MAX);
        }
        let write = || self.commits.take_block().map_or(FlushOutcome::Nothing, |block| self.write_from_queue(block));
        is_classic && self.as_writer(write)
    }

    pub(crate) fn goes_on(&self) -> bool {
        !self.closed.load(Ordering::Relaxed) && !self.is_poisoned()
    }

    /// Whether the first log writer is to write: it was asked, much lies in the buffer, or nobody wrote since the last tick.
    fn is_to_write(&self, written_at_tick: u64) -> bool {
        let written = self.written.load(Ordering::Relaxed);
        self.commits.asked() > written
            || self.commits.has_blocks()
            || written == written_at_tick
            || (self.reservations.reserved() - written) >> self.stream_shift.load(Ordering::Relaxed) != 0
            || self.has_classic_queue() && self.is_streaming()
            || self.space_waiters.any()
    }

    pub(crate) fn write_as_writer(&self, seal_below: u64) -> bool {
        let is_wanted = self.commits.asked() > self.written.load(Ordering::Relaxed) || self.space_waiters.any();
        let seal_below = if is_wanted { u64::MAX } else { seal_below };
        self.as_writer(|| {
            if self.has_classic_queue() {
                self.drain_flush_queue(seal_below)
            } else if self.is_streaming() {
                self.stream_sealing(seal_below)
            } else {
                self.flush_sealing(seal_below)
            }
        })
    }

    /// Makes a write of a log writer, which is counted as being in one meanwhile; whether it wrote.
    fn as_writer(&self, write: impl FnOnce() -> FlushOutcome) -> bool {
        self.writers_writing.fetch_add(1, Ordering::Relaxed);
        let outcome = write();
        self.writers_writing.fetch_sub(1, Ordering::Relaxed);
        matches!(outcome, FlushOutcome::Wrote(_))
    }

    /// True when log writers take blocks from the flush queue: the policy says so, or said so a moment ago.
    fn has_classic_queue(&self) -> bool {
        self.commits.policy() == FlushQueue::Spinlock || self.commits.has_blocks()
    }

    /// Notifies all helpers of a block that was queued.
    pub(crate) fn notify_helpers(&self) {
        self.writers.get(1..self.writer_count()).unwrap_or(&[]).iter().for_each(|helper| helper.notify());
    }

    /// Whether more than a block lies in the buffer: who appends is faster than one write after the other.
    pub(crate) fn is_streaming(&self) -> bool {
        let written = self.written.load(Ordering::Relaxed);
        self.reservations.reserved() - written > self.block_bytes_max.load(Ordering::Relaxed) as u64
    }

    /// Ready when the first log writer is notified, or a segment has been prepared.
    fn poll_signal(&self, preparation: &mut Preparation, cx: &mut Context<'_>) -> Poll<()> {
        if preparation.poll_running(self, cx).is_ready() { Poll::Ready(()) } else { self.writers[0].poll(cx) }
    }

    /// The same, or after a pause.
    async fn pause(&self, preparation: &mut Preparation, pause: Duration) {
        let mut timer = pin!(pikepole_scheduler::sleep(pause));
        poll_fn(|cx| match self.poll_signal(preparation, cx) {
            Poll::Ready(()) => Poll::Ready(()),
            Poll::Pending => timer.as_mut().poll(cx),
        })
        .await;
    }

    /// Refuses new records, writes all that was appended, and adds a block that names it durable, so that later
    /// damage to any of it would be noticed. The log writer ends. Blocks the calling thread.
    ///
    /// # Errors
    /// [`LogError::Poisoned`] when an earlier write failed; [`LogError::Io`] when there is no room for what is left.
    pub fn shutdown(&self) -> Result<(), LogError> {
        if self.closed.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        self.refuse_all();
        while self.reserved() > self.durable() {
            match self.flush_step() {
                FlushOutcome::Wrote(_) => {}
                _ if self.is_poisoned() => break,
                // Somebody fills a place or flushes: both end soon.
                FlushOutcome::Busy => thread::yield_now(),
                FlushOutcome::Nothing | FlushOutcome::NoRoom => match self.room_for_block() {
                    Ok(_) => thread::yield_now(),
                    Err(error) => {
                        self.notify_writers();
                        return Err(error.into());
                    }
                },
            }
        }
        let marked = self.write_mark(false);
        self.space_was_made();
        self.notify_writers();
        marked
    }
}
