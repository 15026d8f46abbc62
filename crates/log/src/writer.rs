//! The log writer: the task that writes what nobody else does.
//!
//! | state | it waits for | until |
//! |---|---|---|
//! | working | nothing | all is written |
//! | ticking | a notification, or a millisecond | something was appended, or nothing is left |
//! | idle | a notification | the first append after all was written finds `writer_idle` set and notifies |
//!
//! With [`CommitBy::LogWriter`](crate::CommitBy::LogWriter) each commit notifies it. With
//! [`CommitBy::Scheduler`](crate::CommitBy::Scheduler) the committing schedulers write, and it stands by: for commits
//! of schedulers that never come to rest, for waiters outside the schedulers, for delayed durability, and for
//! preparing segments.

use crate::log::{Log, lock};
use crate::{FlushOutcome, LogError};
use pikepole_contention::sync::atomic::Ordering;
use pikepole_contention::sync::thread;
use pikepole_contention::{WaitType, clock};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

/// How long what was appended may lie in the buffer while nobody asks for it.
const TICK: Duration = Duration::from_millis(1);
/// How long it leaves the disk alone after it could not prepare a segment, in microseconds.
const PAUSE_AFTER_FAILURE_US: u64 = 16_000;

impl Log {
    /// Runs the log writer until [`shutdown`](Self::shutdown). For a hidden scheduler: it blocks its thread while it
    /// writes.
    pub async fn run_log_writer(self: Arc<Self>) {
        let mut attempt_at_us = 0;
        // What was appended two ticks ago is not kept waiting for chunks that are open before it.
        let (mut seal_below, mut at_last_tick) = (0, 0);
        while !self.closed.load(Ordering::Relaxed) && !self.is_poisoned() {
            let wanted = self.commits.has_any_waiters() || self.space_waiters.any();
            let sealing = if wanted { u64::MAX } else { seal_below };
            let wrote = matches!(self.flush_sealing(sealing), FlushOutcome::Wrote(_));
            let prepared = self.prepare_in_turn(&mut attempt_at_us);
            let touched = self.buffer.touch_ahead(self.opened_at, self.reservations.reserved());
            if wrote || prepared || touched {
                pikepole_scheduler::yield_if_due().await;
                continue;
            }
            let written = self.written.load(Ordering::Relaxed);
            if self.reservations.sleep_unless_more(written) {
                let notified = poll_fn(|cx| self.writer.poll(cx));
                pikepole_scheduler::wait(WaitType::LOGMGR_QUEUE, notified).await;
                self.reservations.wake_writer();
            } else {
                pikepole_scheduler::wait(WaitType::LOGMGR_QUEUE, self.tick()).await;
                (seal_below, at_last_tick) = (at_last_tick, self.reserved().0);
            }
        }
    }

    /// Prepares a part of the next segment if one is needed, but not soon after an attempt that failed.
    fn prepare_in_turn(&self, attempt_at_us: &mut u64) -> bool {
        let has_failed = || lock(&self.segments).growth_failed.is_some();
        if has_failed() && clock::now_us() < *attempt_at_us {
            return false;
        }
        let prepared = self.prepare_step();
        if has_failed() {
            *attempt_at_us = clock::now_us() + PAUSE_AFTER_FAILURE_US;
        }
        prepared
    }

    /// Ready at a notification, or after a tick.
    async fn tick(&self) {
        let mut timer = pin!(pikepole_scheduler::sleep(TICK));
        poll_fn(|cx| match self.writer.poll(cx) {
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
                        self.writer.notify();
                        return Err(error.into());
                    }
                },
            }
        }
        let marked = self.write_mark(false);
        self.space_was_made();
        self.writer.notify();
        marked
    }
}
