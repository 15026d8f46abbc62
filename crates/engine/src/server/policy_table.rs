//! The table of policies: their values, the default, the classic value, and the rows of the statistics that each value makes live.
//!
//! The two sets of policies, CLASSIC and BEST, are columns of this table. All that switches every point at once reads them here:
//! `ALTER SERVER CONFIGURATION SET PIKEPOLE POLICIES`, `--policies`, and the lab's experiments.

use std::fmt;

use pikepole_contention::{LatchClass, SpinlockClass, WaitType};
use pikepole_memory::Timestamps;

use super::configuration::Effect;

/// The name that switches all policies of a set.
pub(super) const POLICIES_NAME: &str = "POLICIES";

/// A set of policies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PolicySet {
    /// Each serialisation point as the classic engine has it.
    Classic,
    /// Each as it is by default.
    Best,
}

impl PolicySet {
    /// Both sets, the classic one first.
    pub const ALL: [PolicySet; 2] = [PolicySet::Classic, PolicySet::Best];

    /// The word in statements and messages.
    pub const fn name(self) -> &'static str {
        match self {
            PolicySet::Classic => "CLASSIC",
            PolicySet::Best => "BEST",
        }
    }

    /// The place of a policy's value in this set; `None` for a policy that belongs to no set.
    pub(super) fn value(self, policy: &PolicyDefinition) -> Option<usize> {
        policy.classic.map(|classic| match self {
            PolicySet::Classic => classic,
            PolicySet::Best => policy.default,
        })
    }
}

/// A row of the statistics that a policy's value makes live: with the other values nothing moves it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StatisticsRow {
    Spinlock(SpinlockClass),
    Latch(LatchClass),
    Wait(WaitType),
    /// A column of another view.
    Column(&'static str),
}

impl fmt::Display for StatisticsRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StatisticsRow::Spinlock(class) => write!(f, "spinlock {}", class.name()),
            StatisticsRow::Latch(class) => write!(f, "latch {}", class.name()),
            StatisticsRow::Wait(wait) => write!(f, "wait {}", wait.name()),
            StatisticsRow::Column(column) => write!(f, "column {column}"),
        }
    }
}

pub(super) struct PolicyDefinition {
    pub(super) name: &'static str,
    pub(super) allowed: &'static [&'static str],
    pub(super) default: usize,
    /// The place of the value in the classic set; `None` for a policy that is no serialisation point and in no set.
    pub(super) classic: Option<usize>,
    /// The values that make rows of the statistics live; the others have none of their own.
    pub(super) live: &'static [(&'static str, &'static [StatisticsRow])],
    pub(super) description: &'static str,
    pub(super) takes_effect: Effect,
}

impl PolicyDefinition {
    /// The rows of the statistics for each value, as `SPINLOCK: spinlock XDESMGR; ATOMIC_RANGES: none`; `None` when no value has any.
    pub(super) fn statistics_rows(&self) -> Option<String> {
        if self.live.is_empty() {
            return None;
        }
        let rows_of =
            |value: &str| self.live.iter().find(|(live, _)| *live == value).map_or(&[][..], |(_, rows)| *rows);
        let text = |value: &&'static str| match rows_of(value) {
            [] => format!("{value}: none"),
            rows => {
                let rows: Vec<String> = rows.iter().map(StatisticsRow::to_string).collect();
                format!("{value}: {}", rows.join(", "))
            }
        };
        Some(self.allowed.iter().map(text).collect::<Vec<_>>().join("; "))
    }
}

pub(super) const TRANSACTION_IDS: usize = 0;
pub(super) const LOG_RESERVATION: usize = 1;
pub(super) const LOG_FLUSH_QUEUE: usize = 2;
pub(super) const COMMIT_BY: usize = 3;
pub(super) const LOG_BLOCK: usize = 4;
pub(super) const HEAP_INSERT_TARGETS: usize = 5;
pub(super) const LOG_WRITERS: usize = 6;
pub(super) const LOG_WRITER_CPUS: usize = 7;
pub(super) const LOG_IO: usize = 8;
pub(super) const NESTED_TRANSACTIONS: usize = 9;
pub(super) const MAX_DEGREE: usize = 10;
pub(super) const EXCHANGE: usize = 11;
pub(super) const LARGE_PAGES: usize = 12;
pub(super) const COMMIT_GATHERING: usize = 13;
pub(super) const POOL_GROWTH: usize = 14;
pub(super) const COMMIT_ACKNOWLEDGE: usize = 15;
pub(super) const CPU_IDLE: usize = 16;
pub(super) const SIGNALLED_FIRST: usize = 17;
pub(super) const TORN_PAGES: usize = 18;
pub(super) const XTP_TIMESTAMPS: usize = 19;
pub(super) const WORKSPACE_MEMORY: usize = 20;
pub(super) const QUERY_MEMORY_MIN: usize = 21;
pub(super) const QUERY_SHARE: usize = 22;
pub(super) const QUERY_WAIT: usize = 23;
pub(super) const LOG_FLUSH_DELAY: usize = 24;
pub(super) const CALL_TRACE: usize = 25;
/// From here on options are numbers between the two that `allowed` has, kept as what they are above the least.
pub(super) const FIRST_NUMBER: usize = WORKSPACE_MEMORY;

/// The place of `LOG_WRITER_CPUS`' values in its table.
pub(super) const ISOLATED: usize = 1;
pub(super) const FIRST_CORES: usize = 2;
pub(super) const CPU_LIST: usize = 3;
/// The places of `LOG_WRITERS`' words in its table.
pub(super) const PER_NODE: usize = 9;
pub(super) const TWICE_NODES: usize = 10;

/// `XTP_TIMESTAMPS`' values, as its table has them.
pub(super) const TIMESTAMPS: [Timestamps; 2] = [Timestamps::Atomic, Timestamps::Clock];

/// The place of `LARGE_PAGES`' values in its table.
pub(super) const RESERVED: usize = 2;

/// Workers of a statement: 0 for as many as there are schedulers.
pub(super) const DEGREES: [&str; 65] = [
    "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16", "17", "18", "19", "20",
    "21", "22", "23", "24", "25", "26", "27", "28", "29", "30", "31", "32", "33", "34", "35", "36", "37", "38", "39",
    "40", "41", "42", "43", "44", "45", "46", "47", "48", "49", "50", "51", "52", "53", "54", "55", "56", "57", "58",
    "59", "60", "61", "62", "63", "64",
];

pub(super) const POLICIES: [PolicyDefinition; 26] = [
    PolicyDefinition {
        name: "TRANSACTION_IDS",
        allowed: &["SPINLOCK", "ATOMIC_RANGES"],
        default: 1,
        classic: Some(0),
        live: &[("SPINLOCK", &[StatisticsRow::Spinlock(SpinlockClass::XDESMGR)])],
        description: "XDESMGR: dealing out and retiring transaction ids",
        takes_effect: Effect::Now,
    },
    PolicyDefinition {
        name: "LOG_RESERVATION",
        allowed: &["SPINLOCK", "ATOMIC", "CHUNK"],
        default: 2,
        classic: Some(0),
        live: &[("SPINLOCK", &[StatisticsRow::Spinlock(SpinlockClass::LOGCACHE_ACCESS)])],
        description: "LOGCACHE_ACCESS: reserving space in the log buffer; SPINLOCK: the log writers take it too",
        takes_effect: Effect::Now,
    },
    PolicyDefinition {
        name: "LOG_FLUSH_QUEUE",
        allowed: &["SPINLOCK", "LOCK_FREE"],
        default: 1,
        classic: Some(0),
        live: &[("SPINLOCK", &[StatisticsRow::Spinlock(SpinlockClass::LOGFLUSHQ)])],
        description: "LOGFLUSHQ: the queue between committers and the log writers; SPINLOCK: of blocks too, under every durability",
        takes_effect: Effect::Now,
    },
    PolicyDefinition {
        name: "COMMIT_BY",
        allowed: &["LOG_WRITER", "SCHEDULER"],
        default: 1,
        classic: Some(0),
        live: &[],
        description: "who writes the log for a commit: the log writer's thread, or the committing scheduler when it is idle",
        takes_effect: Effect::Now,
    },
    PolicyDefinition {
        name: "LOG_BLOCK",
        allowed: &["60KB", "1MB"],
        default: 1,
        classic: Some(0),
        live: &[],
        description: "the largest block that one flush writes",
        takes_effect: Effect::Now,
    },
    PolicyDefinition {
        name: "HEAP_INSERT_TARGETS",
        allowed: &["ONE", "PER_SCHEDULER"],
        default: 1,
        classic: Some(0),
        live: &[("ONE", &[StatisticsRow::Spinlock(SpinlockClass::ALLOC_CACHES_HASH)])],
        description: "ALLOC_CACHES_HASH: pages of a heap that take inserts at once",
        takes_effect: Effect::Now,
    },
    PolicyDefinition {
        name: "LOG_WRITERS",
        allowed: &["1", "2", "3", "4", "5", "6", "7", "8", "AUTO", "PER NODE", "TWICE THE NODES"],
        default: 8,
        classic: Some(0),
        live: &[],
        description: "log writers of each database, each with a write of its own on its way; one a node makes 4 at most, two a node 8, AUTO as two a node; trace flag 9038: one",
        takes_effect: Effect::Now,
    },
    PolicyDefinition {
        name: "LOG_WRITER_CPUS",
        allowed: &["SHARED", "ISOLATED", "FIRST CORES", "CPU LIST"],
        default: 0,
        classic: Some(0),
        live: &[],
        description: "home of the log writers: the schedulers' CPUs, the first core of the first node, whose schedulers are offline then, the first cores of that node beside them, or a list such as 1,4-7",
        takes_effect: Effect::Now,
    },
    PolicyDefinition {
        name: "LOG_IO",
        allowed: &["O_DSYNC", "RWF_DSYNC", "IO_URING", "AUTO"],
        default: 3,
        classic: None,
        live: &[],
        description: "how the log's durable writes are made; AUTO is RWF_DSYNC, and each goes on to the next way when the kernel refuses it",
        takes_effect: Effect::NextStart,
    },
    PolicyDefinition {
        name: "NESTED_TRANSACTIONS",
        allowed: &["FAIR_LATCH", "UNFAIR_LATCH", "PRIVATE"],
        default: 2,
        classic: Some(0),
        live: &[
            (
                "FAIR_LATCH",
                &[
                    StatisticsRow::Latch(LatchClass::NESTING_TRANSACTION_FULL),
                    StatisticsRow::Latch(LatchClass::NESTING_TRANSACTION_READONLY),
                    StatisticsRow::Wait(WaitType::LATCH_EX),
                ],
            ),
            (
                "UNFAIR_LATCH",
                &[
                    StatisticsRow::Latch(LatchClass::NESTING_TRANSACTION_FULL),
                    StatisticsRow::Latch(LatchClass::NESTING_TRANSACTION_READONLY),
                    StatisticsRow::Wait(WaitType::LATCH_EX),
                    StatisticsRow::Spinlock(SpinlockClass::LATCH_SPIN_STATS),
                ],
            ),
        ],
        description: "NESTING_TRANSACTION_FULL: log records of a statement's parallel workers; NESTING_TRANSACTION_READONLY: the rows that parallel readers take; trace flag 3933 makes fair unfair",
        takes_effect: Effect::Now,
    },
    PolicyDefinition {
        name: "max degree of parallelism",
        allowed: &DEGREES,
        default: 0,
        classic: None,
        live: &[],
        description: "workers of a statement that says no MAXDOP; 0: one for each scheduler",
        takes_effect: Effect::Now,
    },
    PolicyDefinition {
        name: "EXCHANGE",
        allowed: &["PACKETS", "COUNTS"],
        default: 1,
        classic: Some(0),
        live: &[(
            "PACKETS",
            &[StatisticsRow::Spinlock(SpinlockClass::X_PACKET_LIST), StatisticsRow::Wait(WaitType::CXPACKET)],
        )],
        description: "X_PACKET_LIST: what a parallel INSERT gathers from its workers, packets of the inserted rows or their number",
        takes_effect: Effect::Now,
    },
    PolicyDefinition {
        name: "LARGE_PAGES",
        allowed: &["NONE", "TRANSPARENT", "RESERVED"],
        default: 1,
        classic: Some(0),
        live: &[],
        description: "memory of buffer pools and log buffers: pages of 4 KB, of 2 MB where the kernel finds them, of 2 MB that were set aside (vm.nr_hugepages); trace flag 834: RESERVED",
        takes_effect: Effect::NextStart,
    },
    PolicyDefinition {
        name: "COMMIT_GATHERING",
        allowed: &["NONE", "RETURNING"],
        default: 1,
        classic: Some(0),
        live: &[],
        description: "whether an idle scheduler writes for its first committer, or waits up to half a write for as many as last time",
        takes_effect: Effect::Now,
    },
    PolicyDefinition {
        name: "POOL_GROWTH",
        allowed: &["DEMAND", "READS"],
        default: 1,
        classic: Some(0),
        live: &[],
        description: "when a buffer pool uses more memory: whenever a page needs a frame, or (above an eighth of it) when pages are read; what is only written makes room for the next",
        takes_effect: Effect::NextStart,
    },
    PolicyDefinition {
        name: "COMMIT_ACKNOWLEDGE",
        allowed: &["CALL", "MESSAGE"],
        default: 1,
        classic: Some(0),
        live: &[],
        description: "calls that a client sends in one message: each waits for its commit to be durable, or their answers do, together",
        takes_effect: Effect::Now,
    },
    PolicyDefinition {
        name: "CPU_IDLE",
        allowed: &["KERNEL", "SHALLOW"],
        default: 1,
        classic: Some(0),
        live: &[],
        description: "how deep idle CPUs sleep while requests and commits follow each other: as the kernel likes, or so that they wake at once",
        takes_effect: Effect::Now,
    },
    PolicyDefinition {
        name: "SIGNALLED_FIRST",
        allowed: &["BOOST_1000", "IN_ORDER"],
        default: 1,
        classic: Some(0),
        live: &[("BOOST_1000", &[StatisticsRow::Column("dm_os_workers.boost_count")])],
        description: "the runnable queue of a scheduler: a signalled task goes to its head, up to 1,000 times in a row, or behind those that were signalled before",
        takes_effect: Effect::Now,
    },
    PolicyDefinition {
        name: "TORN_PAGES",
        allowed: &["WHOLE_PAGES", "DELTA"],
        default: 1,
        classic: None,
        live: &[],
        description: "what goes into the double-write area before a page is overwritten, to rebuild it if a crash tears it: the page, or the lines of it that differ from the page on disk",
        takes_effect: Effect::Now,
    },
    PolicyDefinition {
        name: "XTP_TIMESTAMPS",
        allowed: &["ATOMIC", "CLOCK"],
        default: 0,
        classic: Some(0),
        live: &[],
        description: "times of commits in in-memory tables: a counter that each of them increases, or the machine's clock, which all CPUs read without writing (x86-64); spinlock XTP_COMMIT counts waits for transactions that commit",
        takes_effect: Effect::Now,
    },
    PolicyDefinition {
        name: "max workspace memory (MB)",
        allowed: &["0", "2147483647"],
        default: 0,
        classic: None,
        live: &[],
        description: "memory that all statements work in together, for sorts and hash tables; 0: a quarter of the server's",
        takes_effect: Effect::Now,
    },
    PolicyDefinition {
        name: "min memory per query (KB)",
        allowed: &["512", "2147483647"],
        default: 512,
        classic: None,
        live: &[],
        description: "memory that a statement is given before it sorts or hashes more than a little",
        takes_effect: Effect::Now,
    },
    PolicyDefinition {
        name: "max memory grant (%)",
        allowed: &["1", "100"],
        default: 24,
        classic: None,
        live: &[],
        description: "how much of the workspace memory a statement has at most; what needs more goes on in files of tempdb",
        takes_effect: Effect::Now,
    },
    PolicyDefinition {
        name: "query wait (s)",
        allowed: &["-1", "2147483647"],
        default: 0,
        classic: None,
        live: &[],
        description: "how long a statement waits for its first memory; -1: ten minutes",
        takes_effect: Effect::Now,
    },
    PolicyDefinition {
        name: "log flush delay (ms)",
        allowed: &["1", "10000"],
        default: 99,
        classic: None,
        live: &[],
        description: "how long what no session waits for, such as commits with delayed durability, may lie in the log buffer while there is little of it",
        takes_effect: Effect::Now,
    },
    PolicyDefinition {
        name: "call trace",
        allowed: &["0", "100000"],
        default: 0,
        classic: None,
        live: &[],
        description: "how many of the last requests over the network have their time lines in sys.dm_pikepole_call_trace; 0: none is timed",
        takes_effect: Effect::Now,
    },
];
