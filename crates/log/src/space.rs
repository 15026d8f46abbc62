//! Room: in the buffer, in the segments, on the disk.
//!
//! Two limits stop appends (`reservation`): the buffer's, for all, and the segments', for ordinary work only.
//!
//! ```text
//!   ready bytes = rest of the last segment + free segments
//!   |-- taken, not yet written --|-- given to ordinary appends: a quarter --|-- ... --|-- kept back --|
//!                                                                              2 x undo bytes + a fixed part
//! ```
//! - Only segments that exist and are prewritten count. A full disk shows while the next one is prepared, and then
//!   refuses new work; it never fails a write of records.
//! - Each computing gives ordinary appends a quarter of what is left. So while open transactions announce more undo
//!   bytes than were known when the limit was set, the space to roll them back is still there. The limit is computed
//!   at every flush and before every refusal.
//! - The fixed part is for the blocks in which transactions end: each takes 4096 bytes at least, however short its
//!   records.
//! - If transactions end with more than all that, one more segment is prepared on the spot, beyond the size limit.

use crate::log::{Log, lock};
use crate::reservation::Space;
use crate::segments::{Growing, Grown, Segments, mark_free, payload_room};
use crate::{Lsn, Refused};
use pikepole_contention::Counter;
use pikepole_contention::sync::Mutex;
use pikepole_contention::sync::atomic::Ordering;
use pikepole_machine::BLOCK;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// Tasks that wait for room.
#[derive(Default)]
pub(crate) struct SpaceWaiters(Mutex<Vec<Waker>>);

impl SpaceWaiters {
    fn push(&self, waker: &Waker) {
        let mut waiting = lock(&self.0);
        if !waiting.iter().any(|other| other.will_wake(waker)) {
            waiting.push(waker.clone());
        }
    }

    /// Moves all of them to `wakers`.
    pub fn take(&self, wakers: &mut Vec<Waker>) {
        wakers.append(&mut lock(&self.0));
    }

    /// Whether somebody waits.
    pub fn any(&self) -> bool {
        !lock(&self.0).is_empty()
    }
}

impl Log {
    /// Computes both limits anew. The lock that `segments` comes from orders the computings.
    pub(crate) fn update_limits(&self, segments: &Segments) {
        // Relaxed: a flag read late is read by the closing thread's own call.
        if self.is_poisoned() || self.closed.load(Ordering::Relaxed) {
            self.reservations.set_limits(0, 0);
            return;
        }
        let written = self.written.load(Ordering::Relaxed);
        let ring = written + self.options.ring_bytes as u64 - self.options.ring_margin();
        let reserved = self.reservations.reserved().max(written);
        let pending = reserved - written;
        let spoken_for = pending + pending / 8 + BLOCK as u64 + self.kept_back(segments);
        let left = segments.ready_bytes().saturating_sub(spoken_for);
        self.reservations.set_limits(ring.min(reserved + left / 4), ring);
    }

    fn kept_back(&self, segments: &Segments) -> u64 {
        let fixed = (segments.bytes / 16).clamp(16 << 10, 4 << 20);
        fixed + 2 * self.reservations.undo_bytes()
    }

    /// Says why an append of `bytes` is refused, or Ok when it should be tried again.
    pub(crate) fn refuse(&self, slot: usize, bytes: u64, space: Space) -> Result<(), Refused> {
        if self.is_poisoned() || self.closed.load(Ordering::Relaxed) {
            return Err(Refused::Poisoned);
        }
        let mut segments = self.segments.lock();
        self.update_limits(&segments);
        let wanted = self.reservations.last_end(slot) + bytes;
        if wanted <= self.reservations.limit(space) {
            return Ok(());
        }
        let refused = if wanted > self.reservations.limit(Space::KeptBack) {
            Refused::BufferFull
        } else {
            segments.growth_wanted = true;
            if segments.can_grow() { Refused::BufferFull } else { Refused::LogFull }
        };
        drop(segments);
        self.wake_writer();
        Err(refused)
    }

    /// Ready when an append that was refused for [`Refused::BufferFull`] may be tried again. Await it under
    /// `LOGBUFFER`.
    ///
    /// It may be ready too early: append in a loop.
    pub fn buffer_space(&self) -> BufferSpace<'_> {
        BufferSpace { log: self }
    }

    /// Whether trying again makes sense.
    fn has_space(&self) -> bool {
        if self.is_poisoned() || self.closed.load(Ordering::Relaxed) {
            return true;
        }
        let mut segments = self.segments.lock();
        self.update_limits(&segments);
        let wanted = self.reservations.reserved() + self.options.record_bytes_max as u64;
        if wanted <= self.reservations.limit(Space::Ordinary) {
            return true;
        }
        if wanted > self.reservations.limit(Space::KeptBack) {
            return false;
        }
        // The buffer has room. If no segment is on its way, the answer is LogFull, which is an answer.
        segments.growth_wanted = true;
        !segments.can_grow()
    }

    /// Computes the limits after room was made, and wakes those who wait for it.
    pub(crate) fn space_was_made(&self) {
        self.update_limits(&self.segments.lock());
        let mut wakers = Vec::new();
        self.space_waiters.take(&mut wakers);
        pikepole_scheduler::wake_all(wakers);
    }

    /// Says that no record below `before` is needed any more: segments that lie wholly below are used again. What is
    /// not durable yet is kept anyway.
    ///
    /// Writes one block to each segment that it frees.
    pub fn truncate(&self, before: Lsn) {
        let before = before.min(self.durable());
        let mut freed = 0;
        loop {
            let mut segments = self.segments.lock();
            segments.truncated = segments.truncated.max(before.0);
            let Some(segment) = segments.take_truncated(self.in_flight.oldest()) else { break };
            drop(segments);
            // Oldest first, each durable before the next: what is left on disk has no gap.
            let marked = mark_free(&segment, self.log_id);
            let mut segments = self.segments.lock();
            match marked {
                Ok(()) => segments.free.push(segment),
                Err(_) => {
                    // It held nothing that is needed, so nothing is lost but its room.
                    segments.bytes -= segment.bytes;
                    let folder = segments.folder.clone();
                    drop(segments);
                    let _ = folder.remove(&segment.name);
                }
            }
            freed += 1;
        }
        if freed > 0 {
            self.statistics.add(Counter::LogTruncations, 1);
            self.segments.lock().count(&self.statistics);
            self.space_was_made();
        }
    }

    /// Whether [`truncate`](Self::truncate) with this LSN would free a segment, once all is durable.
    pub fn would_free(&self, before: Lsn) -> bool {
        self.segments.lock().active.get(1).is_some_and(|next| next.start <= before.0)
    }

    /// Prepares a part of the next segment when one will be needed soon. The first log writer has it done beside its flushes;
    /// without one, call it after flushes. Returns whether there was something to do.
    ///
    /// A failure, such as a full disk, is no error: new work is refused from then on, and the next call tries again.
    pub fn prepare_step(&self) -> bool {
        let Ok(mut growing) = self.growing.try_lock() else { return false };
        let wanted = growing.is_some() || self.wants_segment();
        if !wanted || self.is_poisoned() {
            return false;
        }
        self.grow_step(&mut growing, false).is_ok()
    }

    /// Whether a segment should be prepared.
    pub(crate) fn wants_segment(&self) -> bool {
        self.segments.lock().should_grow()
    }

    /// Prepares a part of a segment; `beyond` the size limit if need be. Ok(true) when it is ready.
    pub(crate) fn grow_step(&self, growing: &mut Option<Growing>, beyond: bool) -> io::Result<bool> {
        let folder = self.segments.lock().folder.clone();
        let mut current = match growing.take() {
            Some(current) => current,
            None => self.begin_growth(&folder, beyond)?,
        };
        match current.step(&folder, self.log_id) {
            Ok(Grown::Part) => {
                *growing = Some(current);
                Ok(false)
            }
            Ok(Grown::Whole(segment)) => {
                let mut segments = self.segments.lock();
                segments.finish_growth(segment);
                segments.count(&self.statistics);
                drop(segments);
                self.statistics.add(Counter::LogGrowths, 1);
                self.space_was_made();
                Ok(true)
            }
            Err(error) => {
                let bytes = current.bytes();
                current.give_up(&folder);
                self.growth_failed(bytes, &error);
                Err(error)
            }
        }
    }

    fn begin_growth(&self, folder: &crate::segments::Folder, beyond: bool) -> io::Result<Growing> {
        let mut segments = self.segments.lock();
        let least = if beyond { Some(segments.first_bytes) } else { None };
        let Some(bytes) = segments.next_bytes().or(least) else {
            return Err(io::ErrorKind::StorageFull.into());
        };
        let number = segments.begin_growth(bytes);
        drop(segments);
        Growing::begin(folder, number, bytes).inspect_err(|error| self.growth_failed(bytes, error))
    }

    fn growth_failed(&self, bytes: u64, error: &io::Error) {
        self.segments.lock().fail_growth(bytes, error.to_string());
        // Those who wait for this segment are to be told that the log is full.
        self.space_was_made();
    }

    /// The room for the next block, with a segment prepared on the spot if none is ready.
    pub(crate) fn room_for_block(&self) -> io::Result<Room> {
        loop {
            {
                let segments = self.segments.lock();
                if segments.last_has_room() {
                    let last = segments.last().expect("it has room");
                    return Ok(Room::Payload(payload_room(last.segment.bytes - segments.offset)));
                }
                let may_activate = segments.last_is_durable(self.in_flight.oldest());
                if !may_activate && !crate::fault::activate_early() {
                    return Ok(Room::Later);
                }
                if let Some(next) = segments.free.first() {
                    return Ok(Room::Payload(payload_room(next.room())));
                }
            }
            let mut growing = lock(&self.growing);
            while !self.grow_step(&mut growing, true)? {}
        }
    }
}

/// What [`Log::room_for_block`] found.
pub(crate) enum Room {
    /// A block can have so many bytes of payload.
    Payload(usize),
    /// The block would begin a segment while the header of the one before it is still on its way.
    Later,
}

/// See [`Log::buffer_space`].
#[must_use = "futures do nothing unless awaited"]
pub struct BufferSpace<'a> {
    log: &'a Log,
}

impl Future for BufferSpace<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // Queued before the look, under the same lock that the waking side takes after it has made room.
        self.log.space_waiters.push(cx.waker());
        if self.log.has_space() {
            return Poll::Ready(());
        }
        self.log.wake_writer();
        Poll::Pending
    }
}
