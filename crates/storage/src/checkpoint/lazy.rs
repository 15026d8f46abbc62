//! The lazy writer: keeps frames free ahead of need, on a hidden scheduler.
//!
//! It starts when less than an eighth of the pool (at most 64 MB) is free and goes on until that much is, so that an
//! insert load that dirties hundreds of megabytes a second finds clean frames without waiting. It also keeps a step of
//! free space in the data file, so that inserts rarely wait for growth, and touches the pool's memory ahead of its use.

use std::sync::Arc;
use std::time::Duration;

use pikepole_contention::WaitType;
use pikepole_contention::sync::atomic::Ordering;

use crate::error::StorageError;
use crate::store::{Store, lock};

/// Batches of pages written before others' work is looked at: a thread that a busy machine has given back is long in coming.
const BATCHES_A_STEP: usize = 8;
/// Between two looks while pages are used.
const PAUSE: Duration = Duration::from_millis(5);
/// Between two looks when none has been used for a while: a burst that begins meanwhile lives on the free frames.
const PAUSE_MAX: Duration = Duration::from_millis(200);

impl Store {
    /// Runs until [`Store::stop`]. Errors are left to those who need frames: they meet the same ones.
    pub async fn run_writer(self: Arc<Self>) {
        let (mut free_before, mut pause) = (0, PAUSE);
        while !self.stopping.load(Ordering::Relaxed) {
            // Most looks find nothing: a thread for blocking work is asked only when there is some.
            let wants = self.has_lazy_work();
            if wants {
                let store = Arc::clone(&self);
                if matches!(pikepole_scheduler::run_blocking(move || store.lazy_step()).await, Ok(true)) {
                    pause = PAUSE;
                    continue;
                }
            }
            let free = self.pool.free_frames();
            let rests = !wants && free == free_before;
            pause = if rests { (pause * 2).min(PAUSE_MAX) } else { PAUSE };
            free_before = free;
            pikepole_scheduler::wait(WaitType::LAZYWRITER_SLEEP, pikepole_scheduler::sleep(pause)).await;
        }
    }

    /// Ends [`Store::run_writer`] soon.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    /// Whether [`Store::lazy_step`] would find something to do.
    fn has_lazy_work(&self) -> bool {
        self.pool.wants_touch()
            || self.pool.is_short_of_frames()
            || self.space.lock().free_extents() < self.extents_ahead()
    }

    /// One step of the lazy writer: whether there was something to do. Blocks.
    ///
    /// # Errors
    /// Failed writes.
    pub fn lazy_step(&self) -> Result<bool, StorageError> {
        let mut worked = false;
        for _ in 0..BATCHES_A_STEP {
            if !self.keep_frames_free()? {
                break;
            }
            worked = true;
        }
        worked |= self.pool.touch_ahead();
        if self.space.lock().free_extents() < self.extents_ahead() {
            // A full disk concerns those who need space, not this one.
            worked |= self.grow(self.extents_ahead()).is_ok();
        }
        Ok(worked)
    }

    /// Frees some frames if few are free. Whether it did. Blocks.
    pub(crate) fn keep_frames_free(&self) -> Result<bool, StorageError> {
        Ok(self.pool.is_short_of_frames() && self.free_some(&mut lock(&self.writer))? > 0)
    }
}
