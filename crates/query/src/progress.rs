//! How far a session's load is, for the views.

use pikepole_contention::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Written by whoever does the work, read by the views. All of it is counters for people: nothing follows from them.
#[derive(Debug, Default)]
pub struct Progress {
    /// Thousandths of a percent.
    done: AtomicU32,
    rows: AtomicU64,
}

impl Progress {
    /// So much of a whole is done, and so many rows.
    pub fn set(&self, done: u64, whole: u64, rows: u64) {
        let share = u128::from(done.min(whole)) * 100_000 / u128::from(whole.max(1));
        self.done.store(share as u32, Ordering::Relaxed);
        self.rows.store(rows, Ordering::Relaxed);
    }

    /// Nothing is under way.
    pub fn clear(&self) {
        self.set(0, 0, 0);
    }

    /// Percent done; 0 when nothing is under way that tells.
    pub fn percent(&self) -> f32 {
        self.done.load(Ordering::Relaxed) as f32 / 1000.0
    }

    /// Rows read so far.
    pub fn rows(&self) -> u64 {
        self.rows.load(Ordering::Relaxed)
    }
}
