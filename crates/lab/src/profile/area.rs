//! What a sample's time was spent on: one table, by crate and module.

use super::names::Frame;

/// What time is spent on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Area {
    /// Spinning for a spinlock and backing off, but for those of ids.
    BackOff,
    /// Spinning for the spinlock of transaction ids.
    IdSpinlock,
    /// Taking a place in the log.
    LogReserve,
    /// Putting a record into its place.
    LogCopy,
    /// Flushing, committing, log writers.
    LogFlush,
    /// Dealing out transaction ids.
    Ids,
    /// Transactions: status, versions, row and table locks, undo; those of in-memory tables.
    Transactions,
    /// Latches: taking, waiting, handing on.
    Latches,
    /// Pages, trees, heaps, rows, catalog; rows and indexes of in-memory tables.
    Storage,
    /// The language: parsing, planning, running statements, values.
    TSql,
    /// Connections: protocol, sessions' mailboxes.
    Connections,
    /// Files: reading, writing, syncing, in the kernel too.
    Io,
    /// Schedulers: run queues, wake-ups, looking for work.
    Scheduler,
    /// System calls that are none of files nor of back-offs.
    Kernel,
    /// The load driver.
    Driver,
    /// Nothing of the table.
    Other,
}

impl Area {
    /// All, in the order in which they are shown.
    pub const ALL: [Area; 16] = [
        Area::TSql,
        Area::Storage,
        Area::Transactions,
        Area::Ids,
        Area::IdSpinlock,
        Area::LogReserve,
        Area::LogCopy,
        Area::LogFlush,
        Area::BackOff,
        Area::Latches,
        Area::Io,
        Area::Kernel,
        Area::Scheduler,
        Area::Connections,
        Area::Driver,
        Area::Other,
    ];

    /// The name in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Area::BackOff => "back-off",
            Area::IdSpinlock => "id spinlock",
            Area::LogReserve => "log reserve",
            Area::LogCopy => "log copy",
            Area::LogFlush => "log flush",
            Area::Ids => "ids",
            Area::Transactions => "transactions",
            Area::Latches => "latches",
            Area::Storage => "storage",
            Area::TSql => "T-SQL",
            Area::Connections => "connections",
            Area::Io => "I/O",
            Area::Scheduler => "scheduler",
            Area::Kernel => "kernel",
            Area::Driver => "driver",
            Area::Other => "other",
        }
    }

    /// The colour in flame graphs.
    pub(super) fn colour(self) -> &'static str {
        match self {
            Area::TSql => "#8fbce6",
            Area::Storage => "#8fd0a5",
            Area::Transactions => "#c5dd7c",
            Area::Ids => "#e6d36b",
            Area::IdSpinlock => "#e8923c",
            Area::LogReserve => "#e57373",
            Area::LogCopy => "#f2a59d",
            Area::LogFlush => "#e7b2cf",
            Area::BackOff => "#d9342b",
            Area::Latches => "#b58ad6",
            Area::Io => "#d8b48a",
            Area::Kernel => "#b9b2a8",
            Area::Scheduler => "#8ecfd0",
            Area::Connections => "#a9b4ee",
            Area::Driver => "#d0d4d8",
            Area::Other => "#e9e9e9",
        }
    }
}

/// Areas by the path of a function: the longest that fits decides. What no path fits is its caller's: the language's and the
/// C library, counters and clocks.
const AREAS: &[(&str, Area)] = &[
    (super::words::SPINNING, Area::BackOff),
    ("pikepole_contention::spinlock", Area::BackOff),
    ("pikepole_contention::latch", Area::Latches),
    ("pikepole_contention::inbox", Area::Scheduler),
    ("pikepole_contention::run_state", Area::Scheduler),
    ("pikepole_machine::real", Area::Io),
    ("pikepole_machine::disk", Area::Io),
    ("pikepole_machine::slow", Area::Io),
    ("pikepole_machine::null", Area::Io),
    ("pikepole_machine::simulated", Area::Io),
    ("pikepole_machine::write_queue", Area::Io),
    ("io_uring", Area::Io),
    ("pikepole_scheduler", Area::Scheduler),
    ("tokio", Area::Scheduler),
    ("mio", Area::Scheduler),
    ("pikepole_log", Area::LogFlush),
    ("pikepole_log::reservation", Area::LogReserve),
    ("pikepole_log::chunk", Area::LogReserve),
    ("pikepole_log::space", Area::LogReserve),
    ("pikepole_log::log", Area::LogCopy),
    ("pikepole_log::buffer", Area::LogCopy),
    ("pikepole_log::record", Area::LogCopy),
    ("pikepole_log::field", Area::LogCopy),
    ("pikepole_storage::records", Area::LogCopy),
    ("pikepole_storage", Area::Storage),
    ("pikepole_engine", Area::Storage),
    ("pikepole_memory", Area::Storage),
    ("pikepole_transaction", Area::Transactions),
    ("pikepole_transaction::id", Area::Ids),
    ("pikepole_memory::transaction", Area::Transactions),
    ("pikepole_memory::transactions", Area::Transactions),
    ("pikepole_memory::writer", Area::Transactions),
    ("pikepole_types", Area::TSql),
    ("pikepole_native", Area::TSql),
    ("pikepole_clr", Area::TSql),
    ("pikepole_tsql", Area::TSql),
    ("pikepole_query", Area::TSql),
    ("pikepole_session", Area::TSql),
    ("pikepole_tds", Area::Connections),
    ("pikepole_server", Area::Connections),
    ("pikepole_embedded", Area::Connections),
    ("pikepole_client", Area::Driver),
    ("pikepole_lab", Area::Driver),
    ("pikepole", Area::Driver),
];

/// Modules of ours whose time is their callers'.
#[cfg(test)]
const CALLERS: &[&str] = &["pikepole_contention", "pikepole_machine"];

/// The mark of a function that was in a system call.
pub(super) const KERNEL: &str = " [kernel]";

/// The area that a function's path alone tells.
pub(super) fn of_name(name: &str) -> Option<Area> {
    let name = name.strip_suffix(KERNEL).unwrap_or(name);
    let fits = |path: &str| name.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"));
    AREAS.iter().filter(|(path, _)| fits(path)).max_by_key(|(path, _)| path.len()).map(|(_, area)| *area)
}

/// The area of a sample: its frames, the innermost first, and whether it was in a system call.
pub(super) fn of_stack(frames: &[Frame], in_call: bool) -> Area {
    let mut areas = frames.iter().filter_map(|frame| of_name(&frame.name));
    let area = areas.next().unwrap_or(Area::Other);
    match area {
        Area::BackOff if areas.find(|area| *area != Area::BackOff) == Some(Area::Ids) => Area::IdSpinlock,
        Area::BackOff | Area::Io => area,
        _ if in_call => Area::Kernel,
        area => area,
    }
}

#[cfg(test)]
mod tests {
    use super::super::names::readable;
    use super::*;
    use object::{Object, ObjectSymbol};
    use std::path::{Path, PathBuf};

    fn crates() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
    }

    fn stack(names: &[&str]) -> Vec<Frame> {
        names.iter().map(|name| Frame { name: (*name).to_owned() }).collect()
    }

    #[test]
    fn the_innermost_function_that_says_something_decides() {
        let append = "pikepole_log::log::Log::append_in";
        let take = "pikepole_log::reservation::Reservations::take";
        let (spin, ids) = ("pikepole_contention::spinlock::Spinlock::spin", "pikepole_transaction::id::Ids::begin");
        for (names, in_call, wanted) in [
            (&[append, take][..], false, Area::LogCopy),
            (&[take, append], false, Area::LogReserve),
            (&["memmove", append], false, Area::LogCopy),
            (&["pikepole_contention::statistics::Statistics::count", take], false, Area::LogReserve),
            (&[spin, take], false, Area::BackOff),
            (&["sched_yield", spin, take], true, Area::BackOff),
            (&[spin, ids], false, Area::IdSpinlock),
            (&["sched_yield", spin, ids, append], true, Area::IdSpinlock),
            (&[ids], false, Area::Ids),
            (&["pwrite64", "pikepole_machine::real::RealFile::write_at"], true, Area::Io),
            (&["epoll_wait", "mio::poll"], true, Area::Kernel),
            (&["pikepole_tsqlish::f"], false, Area::Other),
            (&["[unknown]"], true, Area::Kernel),
            (&[], false, Area::Other),
        ] {
            assert_eq!(of_stack(&stack(names), in_call), wanted, "{names:?}");
        }
    }

    /// A module that is renamed must be renamed in the table too: each path of ours is a source file or a folder of them.
    #[test]
    fn every_path_of_the_table_is_a_module() {
        for (path, _) in AREAS.iter().filter(|(path, _)| path.starts_with("pikepole")) {
            let mut parts = path.split("::");
            let name = parts.next().and_then(|name| name.strip_prefix("pikepole")).expect("ours");
            let of_crate = crates().join(if name.is_empty() { "pikepole" } else { &name[1..] }).join("src");
            let module: PathBuf = std::iter::once(of_crate).chain(parts.map(PathBuf::from)).collect();
            assert!(
                module.is_dir() || module.with_extension("rs").is_file(),
                "{path}: there is no {}",
                module.display()
            );
        }
    }

    /// Every function of ours that is in this program, which has the whole engine in it, is in an area; and what is in the areas
    /// of the log, ids and spinlocks is there, by the names that the compiler gives it.
    #[test]
    fn symbols_of_ours_have_areas() {
        let program = std::fs::read("/proc/self/exe").expect("this program");
        let program = object::File::parse(&*program).expect("a program");
        let mut found = std::collections::BTreeMap::new();
        for symbol in program.symbols().filter(|symbol| symbol.size() > 0) {
            let Ok(name) = symbol.name() else { continue };
            let name = readable(&addr2line::demangle_auto(name.into(), None));
            if !name.starts_with("pikepole") {
                continue;
            }
            let area = of_name(&name);
            let is_callers = CALLERS.iter().any(|path| name.starts_with(path));
            assert!(area.is_some() || is_callers, "{name} is in no area");
            let longest = AREAS.iter().filter(|(path, _)| name.starts_with(path)).max_by_key(|(path, _)| path.len());
            *found.entry(longest.map(|(path, _)| *path)).or_insert(0) += 1;
        }
        for path in [
            "pikepole_contention::spinlock",
            "pikepole_contention::latch",
            "pikepole_machine::real",
            "pikepole_machine::write_queue",
            "pikepole_scheduler",
            "pikepole_log",
            "pikepole_log::reservation",
            "pikepole_log::space",
            "pikepole_log::log",
            "pikepole_storage",
            "pikepole_storage::records",
            "pikepole_engine",
            "pikepole_transaction",
            "pikepole_transaction::id",
            "pikepole_types",
            "pikepole_tsql",
            "pikepole_query",
            "pikepole_session",
            "pikepole_embedded",
            "pikepole_lab",
        ] {
            assert!(found.contains_key(&Some(path)), "no function of {path} is in this program: {found:?}");
        }
    }

    #[test]
    fn every_area_is_shown_once() {
        let mut names: Vec<&str> = Area::ALL.iter().map(|area| area.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Area::ALL.len());
        assert!(AREAS.iter().all(|(_, area)| Area::ALL.contains(area)));
    }
}
