//! What a server counts: one instance a server, handed down to every primitive.
//!
//! ```text
//!            spinlocks x4        latches x3       waits x4        counters
//! slot 0   | . . . . . . . . | . . . . . . . | . . . . . . . | . . . . . . |   written by its owner alone: `cells`
//! overflow | . . . . . . . . | . . . . . . . | . . . . . . . | . . . . . . |
//!          --- sum on read, less the baseline that the last clear stored --->   rows of the views
//! ```
//! A database gets an instance of its own by [`Statistics::of_database`]: the counters that databases have for themselves
//! are kept in it (`database_cells`), all else goes where the server's goes.
//!
//! Invariants
//! - Cells grow only, except maxima, which a clear sets to 0, and levels, which go both ways (wrapping).
//! - A counter is kept either by the server or by databases, never by both: a total is a sum, not a second count.

use crate::backoff_events::{BackoffEvent, BackoffEvents};
use crate::cells::{Place, SlotCells};
use crate::database_cells::{DatabaseCells, place_of};
use crate::spinlock::Spinner;
use crate::tables::{Counter, CounterKind, LatchClass, SpinlockClass, WaitType};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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
    /// Acquisitions, whether or not they found a holder: of each lock in steps of 64.
    pub acquisitions: u64,
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CounterRow {
    /// The object, without the prefix of the server's instance.
    pub object: &'static str,
    /// The counter's name.
    pub name: &'static str,
    /// The instance within the object, such as a database's name or `_Total`; empty when there is one only.
    pub instance: String,
    /// How to read the value.
    pub kind: CounterKind,
    /// What is counted.
    pub help: &'static str,
    /// The value, in the unit that the name says.
    pub value: u64,
}

/// Columns kept for each spinlock class: collisions, spins, sleep time, back-offs, acquisitions.
const SPINLOCK_COLUMNS: usize = 5;
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

/// What the server and its databases count in together.
struct Server {
    cells: SlotCells<CELLS>,
    /// Values that are set as a whole ([`Statistics::set`]).
    levels: [AtomicU64; Counter::ALL.len()],
    /// The sums at the last clear of each view.
    baseline: Mutex<Box<[u64; CELLS]>>,
    /// The databases that are open, in the order in which they came.
    databases: Mutex<Vec<Arc<DatabaseCells>>>,
    backoffs: BackoffEvents,
    /// What was counted for no database in particular, and by those that are gone.
    rest: Arc<DatabaseCells>,
}

/// The statistics of one server, or of one of its databases.
pub struct Statistics {
    server: Arc<Server>,
    database: Arc<DatabaseCells>,
}

impl std::fmt::Debug for Statistics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("Statistics");
        shown.field("slots", &self.server.cells.slots_used()).field("database", &self.database.name);
        shown.finish_non_exhaustive()
    }
}

impl Statistics {
    /// Statistics with nothing counted yet.
    #[allow(clippy::new_ret_no_self, reason = "every use shares it")]
    pub fn new() -> Arc<Statistics> {
        let rest = Arc::new(DatabaseCells::new(""));
        let server = Arc::new(Server {
            cells: SlotCells::new(),
            levels: [const { AtomicU64::new(0) }; Counter::ALL.len()],
            baseline: Mutex::new(Box::new([0; CELLS])),
            databases: Mutex::new(Vec::new()),
            backoffs: BackoffEvents::new(),
            rest: Arc::clone(&rest),
        });
        Arc::new(Statistics { server, database: rest })
    }

    /// Statistics for the database of this name, which is being opened: the counters of databases are its own, all others
    /// the server's. They end with [`Statistics::retire`], or when nobody has them any more.
    pub fn of_database(&self, name: &str) -> Arc<Statistics> {
        let database = Arc::new(DatabaseCells::new(name));
        self.databases().push(Arc::clone(&database));
        Arc::new(Statistics { server: Arc::clone(&self.server), database })
    }

    /// The database is gone: its totals stay in the sums over all databases, its levels and its rows go.
    pub fn retire(&self) {
        let mut databases = self.databases();
        let before = databases.len();
        databases.retain(|other| !Arc::ptr_eq(other, &self.database));
        if databases.len() < before {
            self.server.rest.take_over(&self.database);
        }
    }

    fn databases(&self) -> MutexGuard<'_, Vec<Arc<DatabaseCells>>> {
        self.server.databases.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[inline]
    fn place(&self) -> Place<'_, CELLS> {
        self.server.cells.place()
    }

    /// Adds to a counter, in the unit that its help names. A few nanoseconds, and no shared line.
    #[inline]
    pub fn add(&self, counter: Counter, amount: u64) {
        match place_of(counter) {
            Some(place) => self.database.cells.place().add(place, amount),
            None => self.place().add(counter_cell(counter), amount),
        }
    }

    /// Takes from a counter that is a level, such as the number of connections.
    #[inline]
    pub fn subtract(&self, counter: Counter, amount: u64) {
        debug_assert!(counter.is_level());
        self.add(counter, amount.wrapping_neg());
    }

    /// Sets a counter that is known as a whole, such as a percentage. What was added to it stays added.
    pub fn set(&self, counter: Counter, value: u64) {
        debug_assert!(counter.is_level());
        match place_of(counter) {
            Some(place) => self.database.set(place, value),
            None => self.server.levels[counter as usize].store(value, Ordering::Relaxed),
        }
    }

    /// The sum of what was added and set, over all databases, in the unit that was added; the percentage of the log is of
    /// all logs together. Never below 0, though a reader may meet what one slot has taken away before what another has
    /// added.
    pub fn counter(&self, counter: Counter) -> u64 {
        self.total(counter, &self.databases())
    }

    fn total(&self, counter: Counter, databases: &[Arc<DatabaseCells>]) -> u64 {
        if counter == Counter::PercentLogUsed {
            let size = self.total(Counter::LogFilesSize, databases);
            return self.total(Counter::LogFilesUsed, databases) * 100 / size.max(1);
        }
        let sum = match place_of(counter) {
            Some(place) => {
                let all = databases.iter().map(|database| database.sum(place));
                all.fold(self.server.rest.sum(place), u64::wrapping_add)
            }
            None => {
                let level = self.server.levels[counter as usize].load(Ordering::Relaxed);
                self.sum(counter_cell(counter)).wrapping_add(level)
            }
        };
        at_least_zero(sum)
    }

    /// Counts an acquisition of a spinlock that found a holder.
    pub fn spinlock_collides(&self, class: SpinlockClass) {
        self.place().add(spinlock_cell(class), 1);
    }

    /// Counts acquisitions of a spinlock.
    pub fn spinlock_acquired(&self, class: SpinlockClass, acquisitions: u32) {
        self.place().add(spinlock_cell(class) + 4, u64::from(acquisitions));
    }

    /// Adds what the spinner did between such a collision and its acquisition.
    pub fn spinlock_spun(&self, class: SpinlockClass, spinner: &Spinner) {
        let (place, cell) = (self.place(), spinlock_cell(class));
        place.add(cell + 1, spinner.spins());
        if spinner.backoffs() > 0 {
            place.add(cell + 2, spinner.sleep_time_us());
            place.add(cell + 3, spinner.backoffs());
            // The models have nothing to find here, and enough to do.
            if !cfg!(any(loom, shuttle)) {
                self.server.backoffs.note(class, spinner);
            }
        }
    }

    /// The last acquisitions of spinlocks that backed off, the oldest first.
    pub fn backoff_events(&self) -> Vec<BackoffEvent> {
        self.server.backoffs.look()
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
                acquisitions: since(cell + 4),
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

    /// The rows of `sys.dm_os_performance_counters`: the table's, those of databases for each of them too, then those that
    /// follow from latches and waits.
    pub fn counters(&self) -> Vec<CounterRow> {
        let row = |counter: Counter, instance: &str, value: u64| CounterRow {
            object: counter.object(),
            name: counter.name(),
            instance: instance.to_owned(),
            kind: counter.kind(),
            help: counter.help(),
            value: value / counter.divisor(),
        };
        let databases = self.databases();
        let mut rows = Vec::with_capacity(Counter::ALL.len() * (2 + databases.len()));
        for counter in Counter::ALL.iter().copied() {
            rows.push(row(counter, counter.instance(), self.total(counter, &databases)));
            let shown = databases.iter().filter(|_| counter.is_shown_by_database());
            rows.extend(shown.filter_map(|database| {
                Some(row(counter, &database.name, at_least_zero(database.sum(place_of(counter)?))))
            }));
        }
        drop(databases);
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
            instance: String::new(),
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
                    LCK_M_IX,
                    LCK_M_RIn_NL,
                    LCK_M_RS_S,
                    LCK_M_RS_U,
                    LCK_M_RX_X,
                    LCK_M_S,
                    LCK_M_SCH_M,
                    LCK_M_SCH_S,
                    LCK_M_U,
                    LCK_M_X,
                ],
            ),
            ("Log write waits", &[WRITELOG]),
            ("Log buffer waits", &[LOGBUFFER]),
            ("Network IO waits", &[ASYNC_NETWORK_IO]),
            ("Non-Page latch waits", &[LATCH_EX]),
            ("Page IO latch waits", &[PAGEIOLATCH_SH]),
            ("Page latch waits", &[PAGELATCH_EX]),
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
                instance: instance.to_owned(),
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
        let mut baseline = self.server.baseline.lock().unwrap_or_else(PoisonError::into_inner);
        for cell in cells {
            baseline[cell] = self.sum(cell);
        }
    }

    fn clear_maxima(&self, rows: impl Iterator<Item = usize>) {
        for row in rows {
            self.server.cells.reset(row + MAX_COLUMN);
        }
    }

    /// What a cell has grown by since its view was last cleared.
    fn since_clear(&self) -> impl Fn(usize) -> u64 + '_ {
        let baseline = self.server.baseline.lock().unwrap_or_else(PoisonError::into_inner);
        move |cell| self.sum(cell).saturating_sub(baseline[cell])
    }

    fn sum(&self, cell: usize) -> u64 {
        self.server.cells.sum(cell)
    }

    fn max(&self, cell: usize) -> u64 {
        self.server.cells.max(cell)
    }
}

impl Drop for Statistics {
    fn drop(&mut self) {
        self.retire();
    }
}

/// A sum of adds and of takings away that may not all have been seen.
fn at_least_zero(sum: u64) -> u64 {
    (sum as i64).max(0) as u64
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
        assert_eq!((row.value, row.kind), (0, CounterKind::Raw), "a share of logs that have no size");
    }

    #[test]
    fn a_total_is_the_sum_of_its_databases_and_of_those_that_are_gone() {
        let server = Statistics::new();
        let (a, b) = (server.of_database("a"), server.of_database("b"));
        let value = |name: &str, instance: &str| {
            let rows = server.counters();
            rows.iter().find(|row| row.name == name && row.instance == instance).map(|row| row.value)
        };
        a.add(Counter::Transactions, 3);
        b.add(Counter::Transactions, 4);
        for (database, size, used) in [(&a, 300, 30), (&b, 100, 50)] {
            database.set(Counter::LogFilesSize, size);
            database.set(Counter::LogFilesUsed, used);
            database.set(Counter::PercentLogUsed, used * 100 / size);
            database.add(Counter::TargetPages, size);
        }
        a.add(Counter::PageLookups, 9);
        let names = ["_Total", "a", "b", ""];
        assert_eq!(names.map(|name| value("Transactions/sec", name)), [Some(7), Some(3), Some(4), None]);
        assert_eq!(names.map(|name| value("Log File(s) Size (KB)", name)), [Some(400), Some(300), Some(100), None]);
        assert_eq!(names.map(|name| value("Percent Log Used", name)), [Some(20), Some(10), Some(50), None]);
        assert_eq!(names.map(|name| value("Target pages", name)), [None, None, None, Some(400)]);
        assert_eq!(names.map(|name| value("Page lookups/sec", name)), [None, None, None, Some(9)]);

        a.retire();
        a.retire();
        assert_eq!(names.map(|name| value("Transactions/sec", name)), [Some(7), None, Some(4), None]);
        assert_eq!(names.map(|name| value("Log File(s) Size (KB)", name)), [Some(100), None, Some(100), None]);
        assert_eq!(value("Target pages", ""), Some(100));
        drop(b);
        assert_eq!(names.map(|name| value("Transactions/sec", name)), [Some(7), None, None, None]);
        assert_eq!(value("Target pages", ""), Some(0));
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
        assert_eq!(value("Log Flush Wait Time", "_Total"), 5);
        assert_eq!(value("Latch Waits/sec", ""), 1);
        assert_eq!(value("Total Latch Wait Time (ms)", ""), 2);
        assert_eq!(value("Non-Page latch waits", "Cumulative wait time (ms) per second"), 2);
    }
}
