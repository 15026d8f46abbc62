//! The server's configuration: one policy for each serialisation point, by the names of `contention.md`.
//!
//! `pikepole.toml` holds the values that differ from the defaults. One table below declares every policy: its values, the
//! default, and whether it can change while the server runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use pikepole_contention::Statistics;
use pikepole_log::{CommitBy, FlushQueue, LogOptions, Policy, Reservation};
use pikepole_scheduler::Schedulers;
use pikepole_storage::{HeapInsertTargets, StoreOptions};
use pikepole_transaction::{NestedTransactions, TransactionIds};
use pikepole_types::SqlError;
use serde::{Deserialize, Serialize};

use super::TraceFlags;
use super::options::ServerOptions;
use crate::database::{Database, OpenContext};

const FORMAT: u32 = 1;

/// Log bytes after which a checkpoint is due, at most.
const CHECKPOINT_BYTES_MAX: u64 = 256 << 20;

/// When a new value is in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// From now on.
    Now,
    /// When the server is started next.
    NextStart,
}

/// A policy as the views list it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyRow {
    /// The name.
    pub name: &'static str,
    /// The value.
    pub value: &'static str,
    /// What it may be; the classic way first.
    pub allowed: &'static [&'static str],
    /// The value that it has unless it is set.
    pub default: &'static str,
    /// What it is about.
    pub description: &'static str,
    /// When a new value is in force.
    pub takes_effect: Effect,
}

struct PolicyDefinition {
    name: &'static str,
    allowed: &'static [&'static str],
    default: usize,
    description: &'static str,
    takes_effect: Effect,
}

const TRANSACTION_IDS: usize = 0;
const LOG_RESERVATION: usize = 1;
const LOG_FLUSH_QUEUE: usize = 2;
const COMMIT_BY: usize = 3;
const LOG_BLOCK: usize = 4;
const HEAP_INSERT_TARGETS: usize = 5;
const NESTED_TRANSACTIONS: usize = 6;

const MAX_DEGREE: usize = 7;

/// Workers of a statement: 0 for as many as there are schedulers.
const DEGREES: [&str; 65] = [
    "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16", "17", "18", "19", "20",
    "21", "22", "23", "24", "25", "26", "27", "28", "29", "30", "31", "32", "33", "34", "35", "36", "37", "38", "39",
    "40", "41", "42", "43", "44", "45", "46", "47", "48", "49", "50", "51", "52", "53", "54", "55", "56", "57", "58",
    "59", "60", "61", "62", "63", "64",
];

const POLICIES: [PolicyDefinition; 8] = [
    PolicyDefinition {
        name: "TRANSACTION_IDS",
        allowed: &["SPINLOCK", "ATOMIC_RANGES"],
        default: 1,
        description: "XDESMGR: dealing out and retiring transaction ids",
        takes_effect: Effect::Now,
    },
    PolicyDefinition {
        name: "LOG_RESERVATION",
        allowed: &["SPINLOCK", "ATOMIC"],
        default: 1,
        description: "LOGCACHE_ACCESS: reserving space in the log buffer",
        takes_effect: Effect::Now,
    },
    PolicyDefinition {
        name: "LOG_FLUSH_QUEUE",
        allowed: &["SPINLOCK", "LOCK_FREE"],
        default: 1,
        description: "LOGFLUSHQ: the queue between committers and whoever writes the log",
        takes_effect: Effect::Now,
    },
    PolicyDefinition {
        name: "COMMIT_BY",
        allowed: &["LOG_WRITER", "SCHEDULER"],
        default: 1,
        description: "who writes the log for a commit: the log writer's thread, or the committing scheduler when it is idle",
        takes_effect: Effect::Now,
    },
    PolicyDefinition {
        name: "LOG_BLOCK",
        allowed: &["60KB", "1MB"],
        default: 1,
        description: "the largest block that one flush writes",
        takes_effect: Effect::Now,
    },
    PolicyDefinition {
        name: "HEAP_INSERT_TARGETS",
        allowed: &["ONE", "PER_SCHEDULER"],
        default: 1,
        description: "ALLOC_CACHES_HASH: pages of a heap that take inserts at once",
        takes_effect: Effect::Now,
    },
    PolicyDefinition {
        name: "NESTED_TRANSACTIONS",
        allowed: &["FAIR_LATCH", "UNFAIR_LATCH", "PRIVATE"],
        default: 2,
        description: "NESTING_TRANSACTION_FULL: log records of a statement's parallel workers; trace flag 3933 makes fair unfair",
        takes_effect: Effect::Now,
    },
    PolicyDefinition {
        name: "max degree of parallelism",
        allowed: &DEGREES,
        default: 0,
        description: "workers of a statement that says no MAXDOP; 0: one for each scheduler",
        takes_effect: Effect::Now,
    },
];

/// The file's content.
#[derive(Serialize, Deserialize)]
struct File {
    format: u32,
    #[serde(default)]
    policies: BTreeMap<String, String>,
}

/// The value of every policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerConfiguration {
    values: [usize; POLICIES.len()],
}

impl Default for ServerConfiguration {
    fn default() -> Self {
        Self { values: std::array::from_fn(|at| POLICIES[at].default) }
    }
}

fn unknown(text: String) -> SqlError {
    SqlError::new(15123, 16, 1, text)
}

/// Values are compared without regard to case, blanks and underscores.
fn plain(text: &str) -> String {
    text.chars().filter(|c| !matches!(c, '_' | ' ' | '-')).map(|c| c.to_ascii_uppercase()).collect()
}

impl ServerConfiguration {
    /// Sets one policy.
    ///
    /// # Errors
    /// 15123 for a name or a value that is not one; the text names those that there are.
    pub fn set(&mut self, name: &str, value: &str) -> Result<Effect, SqlError> {
        let at = POLICIES.iter().position(|policy| plain(policy.name) == plain(name));
        let Some(at) = at else {
            let names: Vec<&str> = POLICIES.iter().map(|policy| policy.name).collect();
            return Err(unknown(format!(
                "The configuration option '{name}' does not exist. The options are {}.",
                names.join(", ")
            )));
        };
        let policy = &POLICIES[at];
        let Some(chosen) = policy.allowed.iter().position(|allowed| plain(allowed) == plain(value)) else {
            return Err(unknown(format!(
                "'{value}' is not a value of the configuration option {}. The values are {}.",
                policy.name,
                policy.allowed.join(", ")
            )));
        };
        self.values[at] = chosen;
        Ok(policy.takes_effect)
    }

    /// Every policy.
    pub fn rows(&self) -> Vec<PolicyRow> {
        POLICIES
            .iter()
            .zip(self.values)
            .map(|(policy, value)| PolicyRow {
                name: policy.name,
                value: policy.allowed[value],
                allowed: policy.allowed,
                default: policy.allowed[policy.default],
                description: policy.description,
                takes_effect: policy.takes_effect,
            })
            .collect()
    }

    pub(super) fn read_text(&mut self, text: &str) -> Result<(), String> {
        let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
        if file.format != FORMAT {
            return Err(format!("it has format {}; this build reads format {FORMAT}", file.format));
        }
        for (name, value) in &file.policies {
            self.set(name, value).map_err(|error| error.message)?;
        }
        Ok(())
    }

    pub(super) fn to_text(&self) -> String {
        let differing = POLICIES.iter().zip(self.values).filter(|(policy, value)| policy.default != *value);
        let file = File {
            format: FORMAT,
            policies: differing
                .map(|(policy, value)| (policy.name.to_owned(), policy.allowed[value].to_owned()))
                .collect(),
        };
        toml::to_string(&file).expect("a configuration is plain data")
    }

    fn is_classic(&self, at: usize) -> bool {
        self.values[at] == 0
    }

    fn transaction_ids(&self) -> TransactionIds {
        if self.is_classic(TRANSACTION_IDS) { TransactionIds::Spinlock } else { TransactionIds::AtomicRanges }
    }

    fn reservation(&self) -> Reservation {
        if self.is_classic(LOG_RESERVATION) { Reservation::Spinlock } else { Reservation::Atomic }
    }

    fn flush_queue(&self) -> FlushQueue {
        if self.is_classic(LOG_FLUSH_QUEUE) { FlushQueue::Spinlock } else { FlushQueue::LockFree }
    }

    fn commit_by(&self) -> CommitBy {
        if self.is_classic(COMMIT_BY) { CommitBy::LogWriter } else { CommitBy::Scheduler }
    }

    fn log_block_bytes(&self) -> usize {
        if self.is_classic(LOG_BLOCK) { pikepole_log::BLOCK_BYTES_CLASSIC } else { 1 << 20 }
    }

    fn heap_targets(&self) -> HeapInsertTargets {
        if self.is_classic(HEAP_INSERT_TARGETS) {
            HeapInsertTargets::OneTarget
        } else {
            HeapInsertTargets::PerScheduler
        }
    }

    /// Workers of a statement at most; 0: as many as there are schedulers.
    pub(super) fn max_degree(&self) -> usize {
        self.values[MAX_DEGREE]
    }

    fn nested_transactions(&self) -> NestedTransactions {
        match self.values[NESTED_TRANSACTIONS] {
            0 => NestedTransactions::FairLatch,
            1 => NestedTransactions::UnfairLatch,
            _ => NestedTransactions::Private,
        }
    }

    /// Puts in force what can be changed while a database is open.
    pub(super) fn apply(&self, database: &Database) {
        let log = database.log();
        let policies = [
            Policy::Reservation(self.reservation()),
            Policy::FlushQueue(self.flush_queue()),
            Policy::CommitBy(self.commit_by()),
            Policy::BlockBytesMax(self.log_block_bytes()),
        ];
        for policy in policies {
            // Block sizes beyond what a small log takes stay as they are.
            let _ = log.set_policy(policy);
        }
        database.transactions().set_ids(self.transaction_ids());
        database.transactions().set_nested(self.nested_transactions());
        database.store().set_heap_insert_targets(self.heap_targets());
    }

    /// What databases are opened with.
    pub(super) fn context(
        &self,
        options: &ServerOptions,
        schedulers: &Arc<Schedulers>,
        statistics: &Arc<Statistics>,
        trace_flags: &Arc<TraceFlags>,
    ) -> OpenContext {
        let mut log = if options.small { small_log() } else { LogOptions::default() };
        if let Some(bytes) = options.log_bytes_max {
            log.bytes_max = bytes.max(log.first_segment_bytes * 2);
            log.segment_bytes = log.segment_bytes.min(log.bytes_max / 4).max(log.first_segment_bytes);
        }
        log.reservation = self.reservation();
        log.flush_queue = self.flush_queue();
        log.commit_by = self.commit_by();
        log.block_bytes_max = log.block_bytes_max.min(self.log_block_bytes());
        let mut store = StoreOptions::default();
        if options.small {
            store.pool_bytes = 2 << 20;
            store.touch_ahead = false;
            store.growth_bytes_max = 1 << 20;
        }
        if let Some(bytes) = options.buffer_pool_bytes {
            store.pool_bytes = bytes as usize;
        }
        OpenContext {
            disk: options.disk.clone(),
            schedulers: schedulers.clone(),
            statistics: statistics.clone(),
            trace_flags: trace_flags.clone(),
            checkpoint_bytes: (log.bytes_max / 4).min(CHECKPOINT_BYTES_MAX),
            log,
            store,
            ids: self.transaction_ids(),
            nested: self.nested_transactions(),
            heap_targets: self.heap_targets(),
        }
    }
}

/// A log that reaches its boundaries soon, with room for the records of pages.
fn small_log() -> LogOptions {
    LogOptions { record_bytes_max: 24 << 10, ring_bytes: 8 << 20, bytes_max: 2 << 20, ..LogOptions::small() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_kept_and_wrong_ones_named() {
        let mut configuration = ServerConfiguration::default();
        assert_eq!(configuration.set("log_reservation", "spinlock").expect("a value"), Effect::Now);
        assert_eq!(configuration.set("TRANSACTION_IDS", "atomic ranges").expect("a value"), Effect::Now);
        assert_eq!(configuration.set("max degree of parallelism", "12").expect("a value"), Effect::Now);
        assert_eq!(configuration.max_degree(), 12);
        let text = configuration.to_text();
        let mut read = ServerConfiguration::default();
        read.read_text(&text).expect("its own text");
        assert_eq!(read, configuration);
        assert_eq!(read.reservation(), Reservation::Spinlock);
        let error = read.set("LOG_RESERVATION", "chunky").expect_err("no value");
        assert!(error.message.contains("SPINLOCK, ATOMIC"), "{error}");
        let error = read.set("NOTHING", "x").expect_err("no option");
        assert!(error.message.contains("HEAP_INSERT_TARGETS"), "{error}");
        assert!(read.read_text("format = 9").is_err());
        assert!(read.read_text("format = 1\n[policies]\nLOG_RESERVATION = \"x\"").is_err());
    }
}
