//! The waits of one task, by type: what `sys.dm_exec_session_wait_stats` shows of a session.
//!
//! Only the task's own thread counts, with plain loads and stores; whoever reads meanwhile may see a wait's count without its
//! time. The table is made when the task first waits: most system tasks need none.

use pikepole_contention::sync::OnceLock;
use pikepole_contention::sync::atomic::{AtomicU64, Ordering};
use pikepole_contention::{WaitRow, WaitType};

/// The waits of a task so far, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WaitTimes {
    /// For the log: WRITELOG.
    pub log_us: u64,
    /// For all else.
    pub others_us: u64,
    /// The part of both that it was runnable and waited for its scheduler.
    pub signal_us: u64,
}

#[derive(Debug, Default)]
struct Cell {
    count: AtomicU64,
    time_us: AtomicU64,
    max_us: AtomicU64,
    signal_us: AtomicU64,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    cells: OnceLock<Box<[Cell]>>,
}

impl Waits {
    /// Counts a wait that has ended.
    pub(crate) fn record(&self, wait_type: WaitType, time_us: u64, signal_us: u64) {
        let cells = self.cells.get_or_init(|| WaitType::ALL.iter().map(|_| Cell::default()).collect());
        let cell = &cells[wait_type as usize];
        let add = |total: &AtomicU64, amount: u64| {
            total.store(total.load(Ordering::Relaxed) + amount, Ordering::Relaxed);
        };
        add(&cell.count, 1);
        add(&cell.time_us, time_us);
        add(&cell.signal_us, signal_us);
        cell.max_us.store(cell.max_us.load(Ordering::Relaxed).max(time_us), Ordering::Relaxed);
    }

    /// The time of all waits so far.
    pub(crate) fn times(&self) -> WaitTimes {
        let mut times = WaitTimes::default();
        for (wait_type, cell) in WaitType::ALL.iter().zip(self.cells.get().iter().flat_map(|cells| cells.iter())) {
            let time_us = cell.time_us.load(Ordering::Relaxed);
            match *wait_type == WaitType::WRITELOG {
                true => times.log_us += time_us,
                false => times.others_us += time_us,
            }
            times.signal_us += cell.signal_us.load(Ordering::Relaxed);
        }
        times
    }

    /// The types that have been waited for.
    pub(crate) fn rows(&self) -> Vec<WaitRow> {
        let Some(cells) = self.cells.get() else { return Vec::new() };
        let row = |(wait_type, cell): (&WaitType, &Cell)| WaitRow {
            wait_type: wait_type.name(),
            waiting_tasks_count: cell.count.load(Ordering::Relaxed),
            wait_time_us: cell.time_us.load(Ordering::Relaxed),
            max_wait_time_us: cell.max_us.load(Ordering::Relaxed),
            signal_wait_time_us: cell.signal_us.load(Ordering::Relaxed),
        };
        WaitType::ALL.iter().zip(cells).map(row).filter(|row| row.waiting_tasks_count > 0).collect()
    }
}
