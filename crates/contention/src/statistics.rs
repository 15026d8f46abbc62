//! What a server counts: one instance a server, handed down to every primitive.
//!
//! ```text
//!            spinlocks x4        latches x3       waits x4        counters
//! slot 0   | . . . . . . . . | . . . . . . . | . . . . . . . | . . . . . . |   written by its owner alone
//! slot 7   | . . . . . . . . | . . . . . . . | . . . . . . . | . . . . . . |   (made when the slot first counts)
//! overflow | . . . . . . . . | . . . . . . . | . . . . . . . | . . . . . . |   threads without a slot: atomic adds
//!          --- sum on read, less the baseline that the last clear stored --->   rows of the views
//! ```
//!
//! Invariants
//! - A cell of a slot is stored by the slot's owner only, so an add is a load, an addition and a store, without a
//!   locked instruction. The witness is [`crate::slot`]: a slot has one owner at a time, and a later owner has seen all
//!   that the former one stored (the model `a_slot_has_one_owner_at_a_time` checks both).
//! - Cells grow only, except maxima, which a clear sets to 0, and levels, which go both ways (wrapping).
//! - The cells are std's atomics even in a model: nothing synchronises through them, and modelling each would only
//!   multiply the schedules.

use crate::cache_padded::CachePadded;
use crate::spinlock::Spinner;
use crate::tables::{Counter, CounterKind, LatchClass, SpinlockClass, WaitType};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// One row of `sys.dm_os_spinlock_stats`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpinlockRow {
    /// The spinlock's class.
    pub name: &'static str,
    /// Acquisitions that found a holder.
    pub collisions: u64,
    /// Iterations of the spin loop.
    pub spins: u64,
    /// Time slept in back-offs, in microseconds.
    pub sleep_time_us: u64,
    /// Times that the CPU was given away after spinning in vain.
    pub backoffs: u64,
}

/// One row of `sys.dm_os_latch_stats`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LatchRow {
    /// The latch's class.
    pub class: &'static str,
    /// Requests that were not granted at once; counted when the wait begins.
    pub waiting_requests_count: u64,
    /// Time of the waits that have ended, in microseconds.
    pub wait_time_us: u64,
    /// The longest of them, in microseconds.
    pub max_wait_time_us: u64,
}

/// One row of `sys.dm_os_wait_stats`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitRow {
    /// The wait's name.
    pub wait_type: &'static str,
    /// Waits that have ended.
    pub waiting_tasks_count: u64,
    /// Their time, signal time included, in microseconds.
    pub wait_time_us: u64,
    /// The longest of them, in microseconds.
    pub max_wait_time_us: u64,
    /// The part from the signal to running again, in microseconds.
    pub signal_wait_time_us: u64,
}

/// One row of `sys.dm_os_performance_counters`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CounterRow {
    /// The object, without the prefix of the server's instance.
    pub object: &'static str,
    /// The counter's name.
    pub name: &'static str,
    /// The instance within the object; empty when there is one only.
    pub instance: &'static str,
    /// How to read the value.
    pub kind: CounterKind,
    /// What is counted.
    pub help: &'static str,
    /// The value, in the unit that the name says.
    pub value: u64,
}

/// Columns kept for each spinlock class: collisions, spins, sleep time, back-offs.
const SPINLOCK_COLUMNS: usize = 4;
/// Columns kept for each latch class: waits begun, wait time, longest wait.
const LATCH_COLUMNS: usize = 3;
/// Columns kept for each wait type: waits ended, wait time, longest wait, signal time.
const WAIT_COLUMNS: usize = 4;
/// The column of the longest wait, of latches and waits alike.
const MAX_COLUMN: usize = 2;

const LATCHES_AT: usize = SpinlockClass::ALL.len() * SPINLOCK_COLUMNS;
const WAITS_AT: usize = LATCHES_AT + LatchClass::ALL.len() * LATCH_COLUMNS;
const COUNTERS_AT: usize = WAITS_AT + WaitType::ALL.len() * WAIT_COLUMNS;
const CELLS: usize = COUNTERS_AT + Counter::ALL.len();

const fn spinlock_cell(class: SpinlockClass) -> usize {
    class as usize * SPINLOCK_COLUMNS
}

const fn latch_cell(class: LatchClass) -> usize {
    LATCHES_AT + class as usize * LATCH_COLUMNS
}

const fn wait_cell(wait_type: WaitType) -> usize {
    WAITS_AT + wait_type as usize * WAIT_COLUMNS
}

const fn counter_cell(counter: Counter) -> usize {
    COUNTERS_AT + counter as usize
}

/// The cells of one slot.
type Cells = CachePadded<[AtomicU64; CELLS]>;

fn new_cells() -> Box<Cells> {
    Box::new(CachePadded::new([const { AtomicU64::new(0) }; CELLS]))
}

/// The statistics of one server.
pub struct Statistics {
    slots: Box<[OnceLock<Box<Cells>>]>,
    overflow: Box<Cells>,
    /// Values that are set as a whole ([`Statistics::set`]).
    levels: [AtomicU64; Counter::ALL.len()],
    /// The sums at the last clear of each view.
    baseline: Mutex<Box<[u64; CELLS]>>,
}

impl std::fmt::Debug for Statistics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let slots = self.slots.iter().filter(|slot| slot.get().is_some());
        f.debug_struct("Statistics").field("slots", &slots.count()).finish_non_exhaustive()
    }
}

/// Where the calling thread counts.
enum Place<'a> {
    /// In the slot that it owns.
    Own(&'a Cells),
    /// In the cells that threads without a slot share.
    Shared(&'a Cells),
}

impl Place<'_> {
    #[inline]
    fn add(&self, cell: usize, amount: u64) {
        match self {
            Place::Own(cells) => {
                let value = cells[cell].load(Ordering::Relaxed).wrapping_add(amount);
                cells[cell].store(value, Ordering::Relaxed);
            }
            Place::Shared(cells) => {
                cells[cell].fetch_add(amount, Ordering::Relaxed);
            }
        }
    }

    /// A clear may set the cell to 0 meanwhile: each outcome is one that the clear a moment earlier or later gives.
    fn raise(&self, cell: usize, value: u64) {
        match self {
            Place::Own(cells) => {
                if cells[cell].load(Ordering::Relaxed) < value {
                    cells[cell].store(value, Ordering::Relaxed);
                }
            }
            Place::Shared(cells) => {
                cells[cell].fetch_max(value, Ordering::Relaxed);
            }
        }
    }
}

impl Statistics {
    /// Statistics with nothing counted yet.
    #[allow(clippy::new_ret_no_self, reason = "every use shares it")]
    pub fn new() -> Arc<Statistics> {
        Arc::new(Statistics {
            slots: (0..crate::slot::SLOTS_MAX).map(|_| OnceLock::new()).collect(),
            overflow: new_cells(),
            levels: [const { AtomicU64::new(0) }; Counter::ALL.len()],
            baseline: Mutex::new(Box::new([0; CELLS])),
        })
    }

    /// A model claims no slots for counting: that would only multiply its schedules.
    #[inline]
    fn place(&self) -> Place<'_> {
        let slot = if cfg!(loom) { None } else { crate::slot::try_current() };
        match slot {
            Some(slot) => Place::Own(self.slots[slot].get_or_init(new_cells)),
            None => Place::Shared(&self.overflow),
        }
    }

    /// Adds to a counter, in the unit that its help names. A few nanoseconds, and no shared line.
    #[inline]
    pub fn add(&self, counter: Counter, amount: u64) {
        self.place().add(counter_cell(counter), amount);
    }

    /// Takes from a counter that is a level, such as the number of connections.
    #[inline]
    pub fn subtract(&self, counter: Counter, amount: u64) {
        debug_assert_eq!(counter.kind(), CounterKind::Raw);
        self.place().add(counter_cell(counter), amount.wrapping_neg());
    }

    /// Sets a counter that is known as a whole, such as a percentage. What was added to it stays added.
    pub fn set(&self, counter: Counter, value: u64) {
        debug_assert_eq!(counter.kind(), CounterKind::Raw);
        self.levels[counter as usize].store(value, Ordering::Relaxed);
    }

    /// The sum of what was added and set, in the unit that was added. Never below 0, though a reader may meet what one
    /// slot has taken away before what another has added.
    pub fn counter(&self, counter: Counter) -> u64 {
        let level = self.levels[counter as usize].load(Ordering::Relaxed);
        let sum = self.sum(counter_cell(counter)).wrapping_add(level);
        (sum as i64).max(0) as u64
    }

    /// Counts an acquisition of a spinlock that found a holder.
    pub fn spinlock_collides(&self, class: SpinlockClass) {
        self.place().add(spinlock_cell(class), 1);
    }

    /// Adds what the spinner did between such a collision and its acquisition.
    pub fn spinlock_spun(&self, class: SpinlockClass, spinner: &Spinner) {
        let (place, cell) = (self.place(), spinlock_cell(class));
        place.add(cell + 1, spinner.spins());
        if spinner.backoffs() > 0 {
            place.add(cell + 2, spinner.sleep_time_us());
            place.add(cell + 3, spinner.backoffs());
        }
    }

    /// Counts a latch request that begins to wait.
    pub fn latch_wait_begins(&self, class: LatchClass) {
        self.place().add(latch_cell(class), 1);
    }

    /// Adds the time of a latch wait that has ended, in microseconds.
    pub fn latch_wait_ends(&self, class: LatchClass, wait_time_us: u64) {
        let (place, cell) = (self.place(), latch_cell(class));
        place.add(cell + 1, wait_time_us);
        place.raise(cell + MAX_COLUMN, wait_time_us);
    }

    /// Counts a whole latch wait, for those who measure it themselves.
    pub fn record_latch_wait(&self, class: LatchClass, wait_time_us: u64) {
        self.latch_wait_begins(class);
        self.latch_wait_ends(class, wait_time_us);
    }

    /// Counts a wait that has ended: its whole time, and the part from the signal to running again.
    pub fn record_wait(&self, wait_type: WaitType, wait_time_us: u64, signal_time_us: u64) {
        let (place, cell) = (self.place(), wait_cell(wait_type));
        place.add(cell, 1);
        place.add(cell + 1, wait_time_us);
        place.raise(cell + MAX_COLUMN, wait_time_us);
        place.add(cell + 3, signal_time_us);
    }

    /// The rows of `sys.dm_os_spinlock_stats`, one for each class.
    pub fn spinlocks(&self) -> Vec<SpinlockRow> {
        let since = self.since_clear();
        let row = |class: &SpinlockClass| {
            let cell = spinlock_cell(*class);
            SpinlockRow {
                name: class.name(),
                collisions: since(cell),
                spins: since(cell + 1),
                sleep_time_us: since(cell + 2),
                backoffs: since(cell + 3),
            }
        };
        SpinlockClass::ALL.iter().map(row).collect()
    }

    /// The rows of `sys.dm_os_latch_stats`, one for each class.
    pub fn latches(&self) -> Vec<LatchRow> {
        let since = self.since_clear();
        let row = |class: &LatchClass| {
            let cell = latch_cell(*class);
            LatchRow {
                class: class.name(),
                waiting_requests_count: since(cell),
                wait_time_us: since(cell + 1),
                max_wait_time_us: self.max(cell + MAX_COLUMN),
            }
        };
        LatchClass::ALL.iter().map(row).collect()
    }

    /// The rows of `sys.dm_os_wait_stats`, one for each wait type.
    pub fn waits(&self) -> Vec<WaitRow> {
        let since = self.since_clear();
        let row = |wait_type: &WaitType| {
            let cell = wait_cell(*wait_type);
            WaitRow {
                wait_type: wait_type.name(),
                waiting_tasks_count: since(cell),
                wait_time_us: since(cell + 1),
                max_wait_time_us: self.max(cell + MAX_COLUMN),
                signal_wait_time_us: since(cell + 3),
            }
        };
        WaitType::ALL.iter().map(row).collect()
    }

    /// The rows of `sys.dm_os_performance_counters`: the table's, then those that follow from latches and waits.
    pub fn counters(&self) -> Vec<CounterRow> {
        let row = |counter: &Counter| CounterRow {
            object: counter.object(),
            name: counter.name(),
            instance: "",
            kind: counter.kind(),
            help: counter.help(),
            value: self.counter(*counter) / counter.divisor(),
        };
        let mut rows: Vec<CounterRow> = Counter::ALL.iter().map(row).collect();
        self.latch_counters(&mut rows);
        self.wait_counters(&mut rows);
        rows
    }

    fn latch_counters(&self, rows: &mut Vec<CounterRow>) {
        let total = |column: usize| -> u64 {
            let cells = LatchClass::ALL.iter().map(|class| latch_cell(*class) + column);
            cells.map(|cell| self.sum(cell)).sum()
        };
        let (waits, time_ms) = (total(0), total(1) / 1_000);
        let rows_of = [
            ("Latch Waits/sec", CounterKind::PerSecond, waits, "Latch requests that were not granted at once."),
            ("Average Latch Wait Time (ms)", CounterKind::Average, time_ms, "Milliseconds of latch waits."),
            ("Average Latch Wait Time Base", CounterKind::Base, waits, "Latch waits."),
            ("Total Latch Wait Time (ms)", CounterKind::PerSecond, time_ms, "Milliseconds of latch waits."),
        ];
        rows.extend(rows_of.map(|(name, kind, value, help)| CounterRow {
            object: "Latches",
            name,
            instance: "",
            kind,
            help,
            value,
        }));
    }

    fn wait_counters(&self, rows: &mut Vec<CounterRow>) {
        use WaitType::*;
        let groups: [(&'static str, &[WaitType]); 7] = [
            (
                "Lock waits",
                &[
                    LCK_M_BU,
                    LCK_M_IS,
                    LCK_M_IU,
                    LCK_M_IX,
                    LCK_M_S,
                    LCK_M_SCH_M,
                    LCK_M_SCH_S,
                    LCK_M_SIX,
                    LCK_M_U,
                    LCK_M_X,
                ],
            ),
            ("Log write waits", &[WRITELOG]),
            ("Log buffer waits", &[LOGBUFFER]),
            ("Network IO waits", &[ASYNC_NETWORK_IO]),
            ("Non-Page latch waits", &[LATCH_EX, LATCH_SH]),
            ("Page IO latch waits", &[PAGEIOLATCH_EX, PAGEIOLATCH_SH, PAGEIOLATCH_UP]),
            ("Page latch waits", &[PAGELATCH_EX, PAGELATCH_SH, PAGELATCH_UP]),
        ];
        for (name, types) in groups {
            let total =
                |column: usize| -> u64 { types.iter().map(|wait_type| self.sum(wait_cell(*wait_type) + column)).sum() };
            let (waits, time_ms) = (total(0), total(1) / 1_000);
            let rows_of = [
                ("Average wait time (ms)", CounterKind::Average, time_ms, "Milliseconds of the waits that have ended."),
                ("Average wait time base", CounterKind::Base, waits, "Waits that have ended."),
                (
                    "Cumulative wait time (ms) per second",
                    CounterKind::PerSecond,
                    time_ms,
                    "Milliseconds of the waits that have ended.",
                ),
                ("Waits started per second", CounterKind::PerSecond, waits, "Waits, counted when they end."),
            ];
            rows.extend(rows_of.map(|(instance, kind, value, help)| CounterRow {
                object: "Wait Statistics",
                name,
                instance,
                kind,
                help,
                value,
            }));
        }
    }

    /// Starts the rows of [`Statistics::spinlocks`] from 0.
    pub fn clear_spinlocks(&self) {
        self.clear(0..LATCHES_AT);
    }

    /// Starts the rows of [`Statistics::latches`] from 0.
    pub fn clear_latches(&self) {
        self.clear_maxima((LATCHES_AT..WAITS_AT).step_by(LATCH_COLUMNS));
        self.clear(LATCHES_AT..WAITS_AT);
    }

    /// Starts the rows of [`Statistics::waits`] from 0.
    pub fn clear_waits(&self) {
        self.clear_maxima((WAITS_AT..COUNTERS_AT).step_by(WAIT_COLUMNS));
        self.clear(WAITS_AT..COUNTERS_AT);
    }

    fn clear(&self, cells: std::ops::Range<usize>) {
        let mut baseline = self.baseline.lock().unwrap_or_else(PoisonError::into_inner);
        for cell in cells {
            baseline[cell] = self.sum(cell);
        }
    }

    fn clear_maxima(&self, rows: impl Iterator<Item = usize>) {
        for row in rows {
            for cells in self.all_cells() {
                cells[row + MAX_COLUMN].store(0, Ordering::Relaxed);
            }
        }
    }

    /// What a cell has grown by since its view was last cleared.
    fn since_clear(&self) -> impl Fn(usize) -> u64 + '_ {
        let baseline = self.baseline.lock().unwrap_or_else(PoisonError::into_inner);
        move |cell| self.sum(cell).saturating_sub(baseline[cell])
    }

    fn all_cells(&self) -> impl Iterator<Item = &Cells> {
        let slots = self.slots.iter().filter_map(|slot| slot.get());
        slots.map(|cells| &**cells).chain(std::iter::once(&*self.overflow))
    }

    fn sum(&self, cell: usize) -> u64 {
        self.all_cells().map(|cells| cells[cell].load(Ordering::Relaxed)).fold(0, u64::wrapping_add)
    }

    fn max(&self, cell: usize) -> u64 {
        let values = self.all_cells().map(|cells| cells[cell].load(Ordering::Relaxed));
        values.max().unwrap_or(0)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn wait_row(statistics: &Statistics, wait_type: WaitType) -> WaitRow {
        let rows = statistics.waits();
        rows[wait_type as usize]
    }

    #[test]
    fn adds_of_many_threads_are_summed() {
        let statistics = Statistics::new();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..10_000 {
                        statistics.add(Counter::PageLookups, 2);
                        statistics.record_wait(WaitType::WRITELOG, 10, 3);
                    }
                });
            }
        });
        assert_eq!(statistics.counter(Counter::PageLookups), 80_000);
        let expected = WaitRow {
            wait_type: "WRITELOG",
            waiting_tasks_count: 40_000,
            wait_time_us: 400_000,
            max_wait_time_us: 10,
            signal_wait_time_us: 120_000,
        };
        assert_eq!(wait_row(&statistics, WaitType::WRITELOG), expected);
    }

    #[test]
    fn a_clear_starts_one_view_from_zero_and_leaves_the_others() {
        let statistics = Statistics::new();
        statistics.record_wait(WaitType::WAITFOR, 900, 100);
        statistics.record_latch_wait(LatchClass::BUFFER, 70);
        statistics.spinlock_collides(SpinlockClass::XDESMGR);
        let mut spinner = Spinner::new();
        spinner.spin();
        statistics.spinlock_spun(SpinlockClass::XDESMGR, &spinner);
        statistics.clear_waits();
        assert_eq!(wait_row(&statistics, WaitType::WAITFOR).wait_time_us, 0);
        assert_eq!(wait_row(&statistics, WaitType::WAITFOR).max_wait_time_us, 0);
        statistics.record_wait(WaitType::WAITFOR, 50, 1);
        assert_eq!(wait_row(&statistics, WaitType::WAITFOR).waiting_tasks_count, 1);
        assert_eq!(wait_row(&statistics, WaitType::WAITFOR).max_wait_time_us, 50);

        let latch = statistics.latches()[LatchClass::BUFFER as usize];
        assert_eq!((latch.waiting_requests_count, latch.max_wait_time_us), (1, 70));
        statistics.clear_latches();
        let latch = statistics.latches()[LatchClass::BUFFER as usize];
        assert_eq!((latch.waiting_requests_count, latch.wait_time_us, latch.max_wait_time_us), (0, 0, 0));

        let spinlock = statistics.spinlocks()[SpinlockClass::XDESMGR as usize];
        assert_eq!((spinlock.collisions, spinlock.spins, spinlock.backoffs), (1, 1, 0));
        statistics.clear_spinlocks();
        assert_eq!(statistics.spinlocks()[SpinlockClass::XDESMGR as usize].spins, 0);
    }

    #[test]
    fn levels_go_both_ways_from_any_thread() {
        let statistics = Statistics::new();
        statistics.add(Counter::UserConnections, 3);
        std::thread::scope(|scope| {
            scope.spawn(|| statistics.subtract(Counter::UserConnections, 2));
        });
        assert_eq!(statistics.counter(Counter::UserConnections), 1);
        statistics.set(Counter::PercentLogUsed, 37);
        statistics.set(Counter::PercentLogUsed, 12);
        let rows = statistics.counters();
        let row = rows.iter().find(|row| row.name == "Percent Log Used").unwrap();
        assert_eq!((row.value, row.kind), (12, CounterKind::Raw));
    }

    #[test]
    fn views_show_the_unit_of_the_name_and_what_follows_from_waits() {
        let statistics = Statistics::new();
        statistics.add(Counter::LogFlushWaitTime, 5_400);
        statistics.record_wait(WaitType::LATCH_EX, 2_000, 0);
        statistics.record_latch_wait(LatchClass::LOG_MANAGER, 2_000);
        let rows = statistics.counters();
        let value = |name: &str, instance: &str| {
            let row = rows.iter().find(|row| row.name == name && row.instance == instance);
            row.unwrap().value
        };
        assert_eq!(value("Log Flush Wait Time", ""), 5);
        assert_eq!(value("Latch Waits/sec", ""), 1);
        assert_eq!(value("Total Latch Wait Time (ms)", ""), 2);
        assert_eq!(value("Non-Page latch waits", "Cumulative wait time (ms) per second"), 2);
    }
}
