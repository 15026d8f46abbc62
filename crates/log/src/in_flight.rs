//! Blocks on their way to the disk, and the durable horizon behind them.
//!
//! ```text
//!   sequence     70        71         72        73         74
//!             | done  |  done  |  on its way |  done  |  on its way |
//!             '------ durable -'  ^ the oldest that is not done: the horizon goes no further
//! ```
//! The holder of the flusher role begins blocks, in the order of their sequences; whoever made a write finishes it, in any
//! order. The horizon is the end of the longest prefix of finished blocks.
//!
//! Why nobody is forgotten. Finishing a block notes it and moves the horizon over all finished blocks at the front, under
//! one lock. So of two that finish at once, the second one to get the lock moves the horizon over both. A block that failed
//! is never finished, and the horizon stays below it for ever, whatever becomes of later ones.

use crate::commit::Commits;
use pikepole_contention::sync::MutexGuard;
use pikepole_contention::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use pikepole_contention::{CountedMutex, LatchClass, Statistics, fault};
use std::collections::VecDeque;
use std::sync::Arc;

/// The durable horizon at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Horizon {
    /// All blocks below this sequence are durable.
    pub sequence: u64,
    /// The end of the last of them.
    pub lsn: u64,
}

/// A block that was begun.
#[derive(Debug, Clone, Copy)]
struct Begun {
    end: u64,
    is_done: bool,
}

struct State {
    durable: Horizon,
    /// The blocks from `durable.sequence` on.
    blocks: VecDeque<Begun>,
}

/// See the module.
pub(crate) struct InFlight {
    state: CountedMutex<State>,
    /// Blocks begun and not durable, and the sequence of the oldest: as of the last change, for those who only look.
    count: AtomicUsize,
    oldest: AtomicU64,
}

impl InFlight {
    /// Nothing on its way; everything below `sequence`, whose end is `lsn`, is durable.
    pub fn new(sequence: u64, lsn: u64, statistics: &Arc<Statistics>) -> Self {
        let state = State { durable: Horizon { sequence, lsn }, blocks: VecDeque::new() };
        let state = CountedMutex::new(LatchClass::LOG_BLOCKS_IN_FLIGHT, statistics, state);
        Self { state, count: AtomicUsize::new(0), oldest: AtomicU64::new(sequence) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing that is done under the lock panics half-way.
        self.state.lock()
    }

    /// Blocks that were begun and are not below the horizon.
    #[inline]
    pub fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// The sequence of the oldest block that is not durable; an older one when the horizon is just moving.
    #[inline]
    pub fn oldest(&self) -> u64 {
        self.oldest.load(Ordering::Relaxed)
    }

    /// The sequence of the next block. For the holder of the flusher role.
    pub fn next_sequence(&self) -> u64 {
        let state = self.lock();
        state.durable.sequence + state.blocks.len() as u64
    }

    /// Begins the next block, which ends at `end`: its sequence, and the horizon for it to name. For the holder of the
    /// flusher role.
    pub fn begin(&self, end: u64) -> (u64, Horizon) {
        let mut state = self.lock();
        let last = state.blocks.back().map_or(state.durable.lsn, |block| block.end);
        assert!(end >= last, "blocks are begun in the order of the stream");
        let sequence = state.durable.sequence + state.blocks.len() as u64;
        state.blocks.push_back(Begun { end, is_done: false });
        self.count.store(state.blocks.len(), Ordering::Relaxed);
        (sequence, state.durable)
    }

    /// Notes that the block `sequence` is on stable storage, and moves the horizon in `commits` as far as it goes. Whether it
    /// moved: then the waits below it are to be ended.
    pub fn finish(&self, sequence: u64, commits: &Commits) -> bool {
        let mut state = self.lock();
        let at = (sequence - state.durable.sequence) as usize;
        let end = state.blocks[at].end;
        state.blocks[at].is_done = true;
        let mut moved = false;
        while let Some(block) = state.blocks.front().filter(|block| block.is_done).copied() {
            state.blocks.pop_front();
            state.durable = Horizon { sequence: state.durable.sequence + 1, lsn: block.end };
            moved = true;
            if fault::planted("harden_one_block") {
                break;
            }
        }
        self.count.store(state.blocks.len(), Ordering::Relaxed);
        self.oldest.store(state.durable.sequence, Ordering::Relaxed);
        if crate::fault::harden_out_of_order() || fault::planted("harden_out_of_order") {
            commits.advance(end.max(commits.durable()));
            return true;
        }
        if moved {
            // Under the lock, so that the horizon never goes back.
            commits.advance(state.durable.lsn);
        }
        moved
    }
}

#[cfg(all(test, loom))]
#[path = "in_flight_models.rs"]
mod models;

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::policy::FlushQueue;

    #[test]
    fn the_horizon_is_the_longest_finished_prefix() {
        let commits = Commits::new(10, FlushQueue::LockFree, &Statistics::new());
        let in_flight = InFlight::new(5, 10, &Statistics::new());
        let begin = |end| in_flight.begin(end);
        assert_eq!(begin(20), (5, Horizon { sequence: 5, lsn: 10 }));
        assert_eq!(begin(20), (6, Horizon { sequence: 5, lsn: 10 }));
        assert_eq!(begin(35), (7, Horizon { sequence: 5, lsn: 10 }));
        assert!(!in_flight.finish(7, &commits));
        assert!(!in_flight.finish(6, &commits));
        assert_eq!((commits.durable(), in_flight.count(), in_flight.oldest()), (10, 3, 5));
        assert!(in_flight.finish(5, &commits));
        assert_eq!((commits.durable(), in_flight.count(), in_flight.oldest()), (35, 0, 8));
        assert_eq!(begin(36), (8, Horizon { sequence: 8, lsn: 35 }));
        assert!(in_flight.finish(8, &commits));
        assert_eq!(commits.durable(), 36);
    }
}
