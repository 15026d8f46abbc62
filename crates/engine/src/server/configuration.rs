//! The server's configuration: one policy for each serialisation point, by the names that the views show.
//!
//! `pikepole.toml` holds the values that differ from the defaults. One table below declares every policy: its values, the
//! default, and whether it can change while the server runs.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use pikepole_contention::Statistics;
use pikepole_log::{
    CommitBy, FLUSH_DELAY_MIN, FlushQueue, Gathering, LOG_WRITERS_MAX, LogIo, LogOptions, LogWriters, Policy,
    Reservation,
};
use pikepole_machine::memory::{Budget, MemoryLimit};
use pikepole_machine::{CpuLimits, Pages, Topology, affinity};
use pikepole_memory::Timestamps;
use pikepole_scheduler::{CpuIdle, Schedulers, SignalledFirst};
use pikepole_storage::{HeapInsertTargets, PoolGrowth, StoreOptions, TornPages};
use pikepole_transaction::{NestedTransactions, TransactionIds};
use pikepole_types::SqlError;
use serde::{Deserialize, Serialize};

use super::TraceFlags;
use super::WorkspaceLimits;
use super::kept_options::{KeptOption, MAX_SERVER_MEMORY, MIN_SERVER_MEMORY};
use super::options::{SchedulerChoice, ServerOptions};
use super::policy_table::{
    CALL_TRACE, COMMIT_ACKNOWLEDGE, COMMIT_BY, COMMIT_GATHERING, CPU_IDLE, CPU_LIST, EXCHANGE, FIRST_CORES,
    FIRST_NUMBER, HEAP_INSERT_TARGETS, ISOLATED, LARGE_PAGES, LOG_BLOCK, LOG_FLUSH_DELAY, LOG_FLUSH_QUEUE, LOG_IO,
    LOG_RESERVATION, LOG_WRITER_CPUS, LOG_WRITERS, MAX_DEGREE, NESTED_TRANSACTIONS, PER_NODE, POLICIES, POLICIES_NAME,
    POOL_GROWTH, PolicyDefinition, PolicySet, QUERY_MEMORY_MIN, QUERY_SHARE, QUERY_WAIT, RESERVED, SIGNALLED_FIRST,
    TIMESTAMPS, TORN_PAGES, TRANSACTION_IDS, TWICE_NODES, WORKSPACE_MEMORY, XTP_TIMESTAMPS,
};
use crate::database::{Database, OpenContext};
use crate::error::OpenError;
use crate::placement::{LogWriterCount, LogWriterHome, NodeRule, PlacementPlan, PlacementRules};

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

/// What a parallel INSERT gathers from its workers: the policies of X_PACKET_LIST.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Exchange {
    /// Packets of the rows, through a bounded list under a spinlock.
    Packets,
    /// How many rows each has inserted.
    #[default]
    Counts,
}

/// Who waits for the durability of calls that a client has sent in one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Acknowledge {
    /// Each call, for its own commits.
    Call,
    /// Their answers, together, before the first of them leaves.
    #[default]
    Message,
}

/// A policy as the views list it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyRow {
    /// The name.
    pub name: &'static str,
    /// The value.
    pub value: Cow<'static, str>,
    /// The value in force: another one when it changes at the next start only.
    pub running: Cow<'static, str>,
    /// What it may be; the classic way first.
    pub allowed: &'static [&'static str],
    /// The value that it has unless it is set.
    pub default: Cow<'static, str>,
    /// The number of the value, where views show numbers: of a word its place among those that it may be.
    pub number: i32,
    /// The number of the value in force.
    pub running_number: i32,
    /// What it is about.
    pub description: &'static str,
    /// When a new value is in force.
    pub takes_effect: Effect,
    /// The rows of the statistics that each value makes live; `None` when they do not depend on it.
    pub statistics_rows: Option<String>,
}

/// The least and the greatest value of an option that is a number.
fn bounds(at: usize) -> Option<(i64, i64)> {
    let number = |text: &str| text.parse::<i64>().ok();
    let allowed = (at >= FIRST_NUMBER).then_some(POLICIES[at].allowed)?;
    number(allowed.first()?).zip(number(allowed.last()?))
}

/// The number of the first of an option's words: the others count on from it. Words that are numbers have themselves.
pub fn first_number(allowed: &[&str]) -> usize {
    allowed.first().and_then(|first| first.parse().ok()).unwrap_or(0)
}

/// What an option has unless it is set.
fn default_text(at: usize) -> Cow<'static, str> {
    match bounds(at) {
        Some((least, _)) => (least + POLICIES[at].default as i64).to_string().into(),
        None => POLICIES[at].allowed[POLICIES[at].default].into(),
    }
}

/// The share of the server's memory that statements work in unless a size is set.
const WORKSPACE_PART: u64 = 4;
/// And what it is where the server has no limit.
const WORKSPACE_BYTES_UNKNOWN: u64 = 64 << 20;
/// The longest wait for memory unless one is set.
const QUERY_WAIT_MS: u64 = 600_000;

/// The file's content.
#[derive(Serialize, Deserialize)]
struct File {
    format: u32,
    #[serde(default)]
    policies: BTreeMap<String, String>,
    /// The CPUs of the process affinity; absent: all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    affinity: Option<String>,
    /// Whether large nodes are split.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    soft_numa: bool,
}

/// The value of every policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerConfiguration {
    values: [usize; POLICIES.len()],
    /// The list of `LOG_WRITER_CPUS`.
    log_writer_cpus: Vec<usize>,
    /// The process affinity; None: all CPUs.
    pub(super) affinity: Option<Vec<usize>>,
    /// Whether large nodes are split.
    pub(super) soft_numa: bool,
    /// The options that are only kept and have not their defaults.
    kept: BTreeMap<&'static str, i32>,
}

impl Default for ServerConfiguration {
    fn default() -> Self {
        Self {
            values: std::array::from_fn(|at| POLICIES[at].default),
            log_writer_cpus: Vec::new(),
            affinity: None,
            soft_numa: false,
            kept: BTreeMap::new(),
        }
    }
}

/// The CPUs that a list such as `1,4-7` names, ascending; None when it is no such list.
fn cpu_list(text: &str) -> Option<Vec<usize>> {
    const CPUS_MAX: usize = 4096;
    let mut cpus = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        if first > last || last >= CPUS_MAX {
            return None;
        }
        cpus.extend(first..=last);
    }
    cpus.sort_unstable();
    cpus.dedup();
    Some(cpus)
}

fn list_text(cpus: &[usize]) -> String {
    let numbers: Vec<String> = cpus.iter().map(usize::to_string).collect();
    numbers.join(",")
}

impl PolicyDefinition {
    /// Error 15129; of an option that SQL Server does not have it says the values.
    fn value_invalid(&self, value: &str, values: &str) -> SqlError {
        match self.name.contains(char::is_lowercase) {
            true => SqlError::configuration_value_invalid(value, self.name),
            false => SqlError::policy_value_invalid(value, self.name, values),
        }
    }
}

/// Values are compared without regard to case, blanks and underscores.
fn plain(text: &str) -> String {
    text.chars().filter(|c| !matches!(c, '_' | ' ' | '-')).map(|c| c.to_ascii_uppercase()).collect()
}

impl ServerConfiguration {
    /// Sets one policy.
    ///
    /// # Errors
    /// 15123 for a name and 15129 for a value that is not one; the text names those that there are.
    pub fn set(&mut self, name: &str, value: &str) -> Result<Effect, SqlError> {
        if plain(name) == POLICIES_NAME {
            return self.set_all(value);
        }
        let at = POLICIES.iter().position(|policy| plain(policy.name) == plain(name));
        if let (None, Some(option)) = (at, KeptOption::find(name)) {
            return self.keep(option, value);
        }
        let Some(at) = at else {
            let names: Vec<&str> = POLICIES.iter().map(|policy| policy.name).chain([POLICIES_NAME]).collect();
            return Err(SqlError::policy_unknown(name, names.join(", ")));
        };
        let policy = &POLICIES[at];
        if at == LOG_WRITER_CPUS
            && let Some(cpus) = cpu_list(value)
        {
            self.values[at] = CPU_LIST;
            self.log_writer_cpus = cpus;
            return Ok(policy.takes_effect);
        }
        if let Some((least, greatest)) = bounds(at) {
            let number = value.trim().parse::<i64>().ok().filter(|number| (least..=greatest).contains(number));
            let number = number.ok_or_else(|| {
                let values = format!("{least} to {greatest}");
                policy.value_invalid(value, &values)
            })?;
            self.values[at] = usize::try_from(number - least).unwrap_or(usize::MAX);
            return Ok(policy.takes_effect);
        }
        let is_word = |allowed: &&&str| at != LOG_WRITER_CPUS || **allowed != "CPU LIST";
        let words = || policy.allowed.iter().filter(is_word);
        let by_number = || {
            let place = value.trim().parse::<usize>().ok()?.checked_sub(first_number(policy.allowed))?;
            (place < words().count()).then_some(place)
        };
        // A number below zero is none of the words that are numbers.
        let is_below_zero = value.trim().parse::<i64>().is_ok_and(|number| number < 0);
        let by_word = words().position(|allowed| !is_below_zero && plain(allowed) == plain(value));
        let Some(chosen) = by_word.or_else(by_number) else {
            return Err(policy.value_invalid(value, &policy.allowed.join(", ")));
        };
        if at == XTP_TIMESTAMPS && !TIMESTAMPS[chosen].is_supported() {
            return Err(policy.value_invalid(value, "ATOMIC; CLOCK is for x86-64"));
        }
        self.values[at] = chosen;
        Ok(policy.takes_effect)
    }

    /// Sets every policy of a set. The effect is that of the last to be in force.
    fn set_all(&mut self, set: &str) -> Result<Effect, SqlError> {
        let found = PolicySet::ALL.into_iter().find(|known| known.name() == plain(set));
        let Some(found) = found else {
            let names = PolicySet::ALL.map(PolicySet::name).join(", ");
            return Err(SqlError::policy_value_invalid(set, POLICIES_NAME, names));
        };
        let mut effect = Effect::Now;
        for (at, policy) in POLICIES.iter().enumerate() {
            if let Some(value) = found.value(policy).filter(|value| *value != self.values[at]) {
                self.values[at] = value;
                effect = if policy.takes_effect == Effect::Now { effect } else { Effect::NextStart };
            }
        }
        Ok(effect)
    }

    /// The set whose values all its policies have; `None` when they are mixed.
    pub(super) fn policy_set(&self) -> Option<PolicySet> {
        let has = |set: PolicySet| {
            let mut values = POLICIES.iter().map(|policy| set.value(policy)).zip(self.values);
            values.all(|(wanted, value)| wanted.is_none_or(|wanted| wanted == value))
        };
        PolicySet::ALL.into_iter().find(|set| has(*set))
    }

    /// Policies of the sets that have other values when the server, started with `started`, is started next.
    pub(super) fn waiting_for_start(&self, started: &ServerConfiguration) -> Vec<&'static str> {
        let waits = |(at, policy): &(usize, &PolicyDefinition)| {
            policy.classic.is_some()
                && policy.takes_effect == Effect::NextStart
                && self.value(*at) != started.value(*at)
        };
        POLICIES.iter().enumerate().filter(waits).map(|(_, policy)| policy.name).collect()
    }

    /// Sets an option that is only kept.
    fn keep(&mut self, option: &'static KeptOption, value: &str) -> Result<Effect, SqlError> {
        let value = option.value(value)?;
        self.kept.insert(option.name, value);
        self.kept.retain(|name, value| KeptOption::find(name).is_some_and(|option| option.default != *value));
        Ok(if option.dynamic { Effect::Now } else { Effect::NextStart })
    }

    /// The value of an option that is only kept.
    pub(super) fn kept(&self, option: &KeptOption) -> i32 {
        self.kept.get(option.name).copied().unwrap_or(option.default)
    }

    fn value(&self, at: usize) -> Cow<'static, str> {
        match (at, self.values[at]) {
            (LOG_WRITER_CPUS, CPU_LIST) => list_text(&self.log_writer_cpus).into(),
            (at, _) if at >= FIRST_NUMBER => self.number(at).to_string().into(),
            (_, value) => POLICIES[at].allowed[value].into(),
        }
    }

    /// The number under which the views show the value.
    fn shown_number(&self, at: usize) -> i32 {
        let words = || (self.values[at] + first_number(POLICIES[at].allowed)) as i64;
        let number = if at >= FIRST_NUMBER { self.number(at) } else { words() };
        i32::try_from(number).unwrap_or(i32::MAX)
    }

    /// The value of an option that is a number.
    fn number(&self, at: usize) -> i64 {
        bounds(at).map_or(0, |(least, _)| least + self.values[at] as i64)
    }

    /// Memory that statements may work in, of so much of the server's.
    pub(super) fn workspace(&self, server_bytes: u64) -> WorkspaceLimits {
        let number = |at: usize| u64::try_from(self.number(at)).ok();
        let total_bytes = match number(WORKSPACE_MEMORY) {
            None | Some(0) if server_bytes == 0 => WORKSPACE_BYTES_UNKNOWN,
            None | Some(0) => server_bytes / WORKSPACE_PART,
            Some(megabytes) => megabytes << 20,
        };
        WorkspaceLimits {
            total_bytes,
            first_bytes: number(QUERY_MEMORY_MIN).unwrap_or(0) << 10,
            share_percent: number(QUERY_SHARE).unwrap_or(100),
            wait_ms: number(QUERY_WAIT).map_or(QUERY_WAIT_MS, |seconds| seconds * 1000),
        }
    }

    /// `max server memory (MB)` and `min server memory (MB)`, in bytes; no maximum unless it is set.
    pub(super) fn server_memory(&self) -> (Option<u64>, u64) {
        let megabytes = |option: &KeptOption| u64::try_from(self.kept(option)).unwrap_or(0) << 20;
        let is_set = self.kept(&MAX_SERVER_MEMORY) != MAX_SERVER_MEMORY.default;
        (is_set.then(|| megabytes(&MAX_SERVER_MEMORY)), megabytes(&MIN_SERVER_MEMORY))
    }

    /// Every policy, on a server that was started with `started`.
    pub fn rows(&self, started: &ServerConfiguration) -> Vec<PolicyRow> {
        POLICIES
            .iter()
            .enumerate()
            .map(|(at, policy)| PolicyRow {
                name: policy.name,
                value: self.value(at),
                running: if policy.takes_effect == Effect::Now { self.value(at) } else { started.value(at) },
                allowed: policy.allowed,
                default: default_text(at),
                number: self.shown_number(at),
                running_number: if policy.takes_effect == Effect::Now {
                    self.shown_number(at)
                } else {
                    started.shown_number(at)
                },
                description: policy.description,
                takes_effect: policy.takes_effect,
                statistics_rows: policy.statistics_rows(),
            })
            .collect()
    }

    pub(super) fn read_text(&mut self, text: &str) -> Result<(), String> {
        let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
        if file.format != FORMAT {
            return Err(format!("it has format {}; this build reads format {FORMAT}", file.format));
        }
        // A set comes first: policies of their own stand against it.
        let is_set = |name: &&String| plain(name) == POLICIES_NAME;
        let (sets, singles): (Vec<_>, Vec<_>) = file.policies.iter().partition(|(name, _)| is_set(name));
        for (name, value) in sets.into_iter().chain(singles) {
            self.set(name, value).map_err(|error| error.message)?;
        }
        self.affinity = match file.affinity {
            Some(list) => {
                let cpus = cpu_list(&list).ok_or_else(|| format!("'{list}' is not a list of CPUs"))?;
                Some(cpus)
            }
            None => None,
        };
        self.soft_numa = file.soft_numa;
        Ok(())
    }

    pub(super) fn to_text(&self) -> String {
        let differing = (0..POLICIES.len()).filter(|at| POLICIES[*at].default != self.values[*at]);
        let policies = differing.map(|at| (POLICIES[at].name.to_owned(), self.value(at).into_owned()));
        let kept = self.kept.iter().map(|(name, value)| ((*name).to_owned(), value.to_string()));
        let policies = policies.chain(kept).collect();
        let affinity = self.affinity.as_deref().map(list_text);
        let file = File { format: FORMAT, policies, affinity, soft_numa: self.soft_numa };
        toml::to_string(&file).expect("a configuration is plain data")
    }

    fn is_classic(&self, at: usize) -> bool {
        self.values[at] == 0
    }

    fn transaction_ids(&self) -> TransactionIds {
        if self.is_classic(TRANSACTION_IDS) { TransactionIds::Spinlock } else { TransactionIds::AtomicRanges }
    }

    fn timestamps(&self) -> Timestamps {
        TIMESTAMPS[self.values[XTP_TIMESTAMPS]]
    }

    fn reservation(&self) -> Reservation {
        match self.values[LOG_RESERVATION] {
            0 => Reservation::Spinlock,
            1 => Reservation::Atomic,
            _ => Reservation::Chunk,
        }
    }

    fn flush_queue(&self) -> FlushQueue {
        if self.is_classic(LOG_FLUSH_QUEUE) { FlushQueue::Spinlock } else { FlushQueue::LockFree }
    }

    fn commit_by(&self) -> CommitBy {
        if self.is_classic(COMMIT_BY) { CommitBy::LogWriter } else { CommitBy::Scheduler }
    }

    fn gathering(&self) -> Gathering {
        if self.is_classic(COMMIT_GATHERING) { Gathering::None } else { Gathering::Returning }
    }

    fn log_block_bytes(&self) -> usize {
        if self.is_classic(LOG_BLOCK) { pikepole_log::BLOCK_BYTES_CLASSIC } else { 1 << 20 }
    }

    fn log_flush_delay(&self) -> Duration {
        FLUSH_DELAY_MIN + Duration::from_millis(self.values[LOG_FLUSH_DELAY] as u64)
    }

    /// The number of requests that are traced.
    pub(super) fn traced_calls(&self) -> usize {
        self.values[CALL_TRACE]
    }

    fn log_writer_count(&self) -> LogWriterCount {
        match self.values[LOG_WRITERS] {
            value if value < LOG_WRITERS_MAX => LogWriterCount::Count(value + 1),
            PER_NODE => LogWriterCount::PerNode,
            TWICE_NODES => LogWriterCount::TwiceNodes,
            _ => LogWriterCount::Auto,
        }
    }

    /// How many log writers each database has where a plan put its schedulers.
    pub(super) fn log_writers(&self, plan: &PlacementPlan) -> LogWriters {
        LogWriters::Count(plan.log_writer_count(self.log_writer_count()).clamp(1, LOG_WRITERS_MAX) as u8)
    }

    fn log_io(&self) -> LogIo {
        [LogIo::Dsync, LogIo::WriteFlag, LogIo::IoUring, LogIo::Auto][self.values[LOG_IO]]
    }

    /// Trace flag 834.
    pub(super) fn reserve_large_pages(&mut self) {
        self.values[LARGE_PAGES] = RESERVED;
    }

    /// The pages that buffer pools and log buffers are asked for in.
    fn memory_pages(&self) -> Pages {
        [Pages::Small, Pages::Transparent, Pages::Reserved][self.values[LARGE_PAGES]]
    }

    /// Which CPUs the schedulers have, and which the log writers; an empty plan for a simulation.
    pub(super) fn plan(
        &self,
        options: &ServerOptions,
        topology: &Topology,
        ignores_nodes: bool,
    ) -> Result<PlacementPlan, OpenError> {
        let (cpus, busy_max) = match &options.schedulers {
            SchedulerChoice::Simulated { .. } => return Ok(PlacementPlan::default()),
            SchedulerChoice::Threads { cpus: Some(cpus), .. } => (cpus.clone(), None),
            SchedulerChoice::Threads { cpus: None, .. } => {
                let limits = CpuLimits::of(&options.machine);
                (affinity::allowed().map_err(OpenError::Schedulers)?, limits.busy_cpus_max())
            }
        };
        let home = self.log_writer_home().map_err(OpenError::Option)?;
        let nodes = match (ignores_nodes, self.soft_numa) {
            (true, _) => NodeRule::Ignored,
            (false, true) => NodeRule::Soft,
            (false, false) => NodeRule::Hardware,
        };
        let rules =
            PlacementRules { nodes, log_writers: self.log_writer_count(), home, affinity: self.affinity.clone() };
        Ok(PlacementPlan::on(topology, cpus, busy_max, &rules))
    }

    /// The home of the log writers.
    ///
    /// # Errors
    /// 15129 for a list with a CPU that this process may not use.
    pub(super) fn log_writer_home(&self) -> Result<LogWriterHome, SqlError> {
        Ok(match self.values[LOG_WRITER_CPUS] {
            ISOLATED => LogWriterHome::Isolated,
            FIRST_CORES => LogWriterHome::FirstCores,
            CPU_LIST => {
                let allowed = affinity::allowed().unwrap_or_default();
                if let Some(other) = self.log_writer_cpus.iter().find(|cpu| !allowed.contains(cpu)) {
                    let values = format!("the CPUs that this process may use: {}", list_text(&allowed));
                    return Err(SqlError::policy_value_invalid(other, "LOG_WRITER_CPUS", values));
                }
                LogWriterHome::Cpus(self.log_writer_cpus.clone())
            }
            _ => LogWriterHome::Shared,
        })
    }

    fn pool_growth(&self) -> PoolGrowth {
        if self.is_classic(POOL_GROWTH) { PoolGrowth::Demand } else { PoolGrowth::Reads }
    }

    fn heap_targets(&self) -> HeapInsertTargets {
        if self.is_classic(HEAP_INSERT_TARGETS) {
            HeapInsertTargets::OneTarget
        } else {
            HeapInsertTargets::PerScheduler
        }
    }

    fn torn_pages(&self) -> TornPages {
        if self.values[TORN_PAGES] == 0 { TornPages::Whole } else { TornPages::Delta }
    }

    /// Workers of a statement at most; 0: as many as there are schedulers.
    pub(super) fn max_degree(&self) -> usize {
        self.values[MAX_DEGREE]
    }

    pub(super) fn exchange(&self) -> Exchange {
        if self.is_classic(EXCHANGE) { Exchange::Packets } else { Exchange::Counts }
    }

    fn cpu_idle(&self) -> CpuIdle {
        if self.is_classic(CPU_IDLE) { CpuIdle::Kernel } else { CpuIdle::Shallow }
    }

    /// Puts in force what the schedulers take at once.
    pub(super) fn apply_to_schedulers(&self, schedulers: &Schedulers) {
        schedulers.set_cpu_idle(self.cpu_idle());
        let boosts = self.is_classic(SIGNALLED_FIRST);
        schedulers.set_signalled_first(if boosts { SignalledFirst::Boost1000 } else { SignalledFirst::InOrder });
    }

    pub(super) fn acknowledge(&self) -> Acknowledge {
        if self.is_classic(COMMIT_ACKNOWLEDGE) { Acknowledge::Call } else { Acknowledge::Message }
    }

    fn nested_transactions(&self) -> NestedTransactions {
        match self.values[NESTED_TRANSACTIONS] {
            0 => NestedTransactions::FairLatch,
            1 => NestedTransactions::UnfairLatch,
            _ => NestedTransactions::Private,
        }
    }

    /// Puts in force what can be changed while a database is open.
    pub(super) fn apply(&self, database: &Database, writers: LogWriters, writer_cpus: Vec<usize>) {
        database.set_log_writers(writers, writer_cpus);
        let log = database.log();
        let policies = [
            Policy::Reservation(self.reservation()),
            Policy::FlushQueue(self.flush_queue()),
            Policy::CommitBy(self.commit_by()),
            Policy::Gathering(self.gathering()),
            Policy::BlockBytesMax(self.log_block_bytes()),
            Policy::FlushDelay(self.log_flush_delay()),
        ];
        for policy in policies {
            // Block sizes beyond what a small log takes stay as they are.
            let _ = log.set_policy(policy);
        }
        database.transactions().set_ids(self.transaction_ids());
        database.transactions().set_nested(self.nested_transactions());
        database.store().set_heap_insert_targets(self.heap_targets());
        database.store().set_torn_pages(self.torn_pages());
        database.memory().set_timestamps(self.timestamps());
    }

    /// What databases are opened with.
    pub(super) fn context(
        &self,
        options: &ServerOptions,
        schedulers: &Arc<Schedulers>,
        statistics: &Arc<Statistics>,
        trace_flags: &Arc<TraceFlags>,
        memory: Option<(&Arc<Budget>, MemoryLimit)>,
    ) -> OpenContext {
        let mut log = if options.small { small_log() } else { LogOptions::default() };
        log.memory_pages = self.memory_pages();
        if let Some(bytes) = options.log_bytes_max {
            log.bytes_max = bytes.max(log.first_segment_bytes * 2);
            log.segment_bytes = log.segment_bytes.min(log.bytes_max / 4).max(log.first_segment_bytes);
        }
        log.reservation = self.reservation();
        log.flush_queue = self.flush_queue();
        log.commit_by = self.commit_by();
        log.io = self.log_io();
        log.flush_delay = self.log_flush_delay();
        log.block_bytes_max = log.block_bytes_max.min(self.log_block_bytes());
        let mut store = StoreOptions {
            memory_pages: self.memory_pages(),
            pool_growth: self.pool_growth(),
            ..StoreOptions::default()
        };
        if options.small {
            store.pool_bytes = 2 << 20;
            store.touch_ahead = false;
            store.growth_bytes_max = 1 << 20;
        }
        if let Some(bytes) = options.buffer_pool_bytes {
            store.pool_bytes = bytes as usize;
        }
        if let Some((budget, system)) = memory {
            super::budget::fit_to_memory(budget, system, options, &mut log, &mut store);
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
            torn_pages: self.torn_pages(),
            timestamps: self.timestamps(),
            recovery_watch: options.recovery_watch.clone(),
            opened: Arc::default(),
            waits: Arc::default(),
            log_writer_cpus: Vec::new(),
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
    fn a_set_gives_every_policy_its_value() {
        let mut configuration = ServerConfiguration::default();
        assert_eq!(configuration.policy_set(), Some(PolicySet::Best));
        configuration.set("LOG_IO", "O_DSYNC").expect("a value");
        assert_eq!(configuration.set("policies", "classic").expect("a set"), Effect::NextStart);
        assert_eq!(configuration.policy_set(), Some(PolicySet::Classic));
        let default = ServerConfiguration::default();
        assert_eq!(configuration.waiting_for_start(&default), ["LARGE_PAGES", "POOL_GROWTH"]);
        let mut read = ServerConfiguration::default();
        read.read_text(&configuration.to_text()).expect("its own text");
        assert_eq!(read, configuration);
        read.read_text("format = 1\n[policies]\nLOG_RESERVATION = \"ATOMIC\"\nPOLICIES = \"CLASSIC\"").expect("a text");
        assert_eq!((read.reservation(), read.flush_queue()), (Reservation::Atomic, FlushQueue::Spinlock));
        assert_eq!(read.policy_set(), None);
        assert_eq!(read.set("POLICIES", "Best").expect("a set"), Effect::NextStart);
        assert_eq!((read.policy_set(), read.log_io()), (Some(PolicySet::Best), LogIo::Dsync));
        assert_eq!(read.set("POLICIES", "MIXED").expect_err("no set").number, 15129);
    }

    /// The promise of the first place of `allowed`, and the names in the hints.
    #[test]
    fn the_sets_and_the_hints_name_values_that_there_are() {
        for policy in &POLICIES {
            assert!(policy.classic.is_none_or(|place| place < policy.allowed.len()), "{}", policy.name);
            for (value, rows) in policy.live {
                assert!(policy.allowed.contains(value) && !rows.is_empty(), "{}: {value}", policy.name);
            }
        }
    }

    #[test]
    fn values_are_kept_and_wrong_ones_named() {
        let mut configuration = ServerConfiguration::default();
        assert_eq!(configuration.set("log_reservation", "spinlock").expect("a value"), Effect::Now);
        assert_eq!(configuration.set("TRANSACTION_IDS", "atomic ranges").expect("a value"), Effect::Now);
        assert_eq!(configuration.set("max degree of parallelism", "12").expect("a value"), Effect::Now);
        assert_eq!(configuration.max_degree(), 12);
        assert_eq!(configuration.exchange(), Exchange::default());
        assert_eq!(configuration.set("Exchange", "packets").expect("a value"), Effect::Now);
        assert_eq!(configuration.exchange(), Exchange::Packets);
        assert_eq!(configuration.acknowledge(), Acknowledge::default());
        assert_eq!(configuration.set("COMMIT_ACKNOWLEDGE", "call").expect("a value"), Effect::Now);
        assert_eq!(configuration.acknowledge(), Acknowledge::Call);
        let text = configuration.to_text();
        let mut read = ServerConfiguration::default();
        read.read_text(&text).expect("its own text");
        assert_eq!(read, configuration);
        assert_eq!(read.reservation(), Reservation::Spinlock);
        let error = read.set("LOG_RESERVATION", "chunky").expect_err("no value");
        assert!(error.message.contains("SPINLOCK, ATOMIC"), "{error}");
        assert_eq!(read.set("min memory per query (KB)", "511").expect_err("too little").number, 15129);
        assert_eq!(read.set("Min Memory Per Query (KB)", "2048").expect("a value"), Effect::Now);
        assert_eq!(read.set("query wait (s)", "7").expect("a value"), Effect::Now);
        let limits = read.workspace(8 << 30);
        assert_eq!((limits.total_bytes, limits.first_bytes, limits.wait_ms), (2 << 30, 2 << 20, 7000));
        let defaults = ServerConfiguration::default().workspace(0);
        assert_eq!((defaults.total_bytes, defaults.first_bytes), (WORKSPACE_BYTES_UNKNOWN, 1 << 20));
        assert_eq!((defaults.share_percent, defaults.wait_ms), (25, QUERY_WAIT_MS));
        let row = read.rows(&ServerConfiguration::default()).swap_remove(QUERY_WAIT);
        assert_eq!((&*row.value, &*row.default), ("7", "-1"));
        let error = read.set("NOTHING", "x").expect_err("no option");
        assert!(error.message.contains("HEAP_INSERT_TARGETS"), "{error}");
        assert_eq!(read.set("LOG_WRITERS", "4").expect("a value"), Effect::Now);
        assert_eq!(
            (read.log_writer_count(), ServerConfiguration::default().log_writer_count()),
            (LogWriterCount::Count(4), LogWriterCount::Auto)
        );
        assert_eq!(read.set("LARGE_PAGES", "none").expect("a value"), Effect::NextStart);
        assert_eq!(
            (read.memory_pages(), ServerConfiguration::default().memory_pages()),
            (Pages::Small, Pages::default())
        );
        read.reserve_large_pages();
        assert_eq!((read.memory_pages(), &*read.value(LARGE_PAGES)), (Pages::Reserved, "RESERVED"));
        assert_eq!(read.set("max server memory (mb)", "512").expect("a value"), Effect::Now);
        assert_eq!(read.set("locks", "4999").expect_err("too few").number, 15129);
        assert_eq!(read.set("locks", "0").expect("the default"), Effect::NextStart);
        assert!(read.to_text().contains("max server memory (MB)") && !read.to_text().contains("locks"));
        assert_eq!(read.set("LOG_RESERVATION", "1").expect("the second word"), Effect::Now);
        assert_eq!(read.reservation(), Reservation::Atomic);
        assert_eq!(read.set("LOG_WRITERS", "9").expect("AUTO"), Effect::Now);
        assert_eq!(&*read.value(LOG_WRITERS), "AUTO");
        assert_eq!(read.set("LOG_RESERVATION", "3").expect_err("no word").number, 15129);
        read.set("LOG_IO", "o_dsync").expect("a value");
        assert_eq!(read.log_io(), LogIo::Dsync);
        for wrong in ["", "x", "3-1", "1,", "CPU LIST", "99999"] {
            read.set("LOG_WRITER_CPUS", wrong).expect_err("no list");
        }
        read.set("LOG_WRITER_CPUS", "3, 0-1").expect("a list");
        let mut again = ServerConfiguration::default();
        again.read_text(&read.to_text()).expect("its own text");
        assert_eq!(again, read);
        let row = again.rows(&ServerConfiguration::default()).swap_remove(LOG_WRITER_CPUS);
        assert_eq!((&*row.value, &*row.running), ("0,1,3", "0,1,3"));
        assert!(read.read_text("format = 9").is_err());
        assert!(read.read_text("format = 1\n[policies]\nLOG_RESERVATION = \"x\"").is_err());
    }
}

#[cfg(test)]
mod cpu_tests {
    use super::*;
    use pikepole_machine::{Shape, SystemFiles};

    fn plan(settings: &[(&str, &str)], cpus: Vec<usize>, ignores_nodes: bool) -> Result<PlacementPlan, OpenError> {
        let mut configuration = ServerConfiguration::default();
        for (name, value) in settings {
            configuration.set(name, value).expect("a value");
        }
        let topology = Topology::of(&SystemFiles::of_shape(&Shape::new(2, 1, 4, 1))).expect("a machine");
        let schedulers = SchedulerChoice::Threads { cpus: Some(cpus), pin: false };
        configuration.plan(&ServerOptions { schedulers, ..ServerOptions::new("/nowhere") }, &topology, ignores_nodes)
    }

    #[test]
    fn log_writers_are_where_the_policy_says() {
        let of = |value, cpus| {
            let plan = plan(&[("LOG_WRITER_CPUS", value)], cpus, false).expect("a plan");
            let schedulers: Vec<usize> = plan.schedulers.iter().filter_map(|scheduler| scheduler.cpu).collect();
            (schedulers, plan.log_writers.into_iter().flatten().collect::<Vec<_>>())
        };
        assert_eq!(of("SHARED", vec![4, 5]), (vec![4, 5], vec![]));
        assert_eq!(of("ISOLATED", vec![4, 5, 6]), (vec![5, 6], vec![4, 4]));
        assert_eq!(of("ISOLATED", vec![4]), (vec![4], vec![]));
        assert_eq!(of("FIRST CORES", vec![4, 5]), (vec![4, 5], vec![4, 5]));
        let own = affinity::allowed().expect("CPUs")[0];
        assert_eq!(of(&own.to_string(), vec![4, 5]), (vec![4, 5], vec![own, own]));
        let refused = plan(&[("LOG_WRITER_CPUS", "4095")], vec![4], false);
        assert!(refused.is_err_and(|error| error.to_string().contains("'4095'")));
    }

    #[test]
    fn log_writers_are_as_many_as_the_policy_says() {
        let count = |value, ignores_nodes| {
            let mut configuration = ServerConfiguration::default();
            configuration.set("LOG_WRITERS", value).expect("a value");
            configuration
                .log_writers(&plan(&[("LOG_WRITERS", value)], (0..8).collect(), ignores_nodes).expect("a plan"))
        };
        assert_eq!(count("AUTO", false), LogWriters::Count(4));
        assert_eq!(count("3", false), LogWriters::Count(3));
        assert_eq!((count("PER NODE", false), count("PER NODE", true)), (LogWriters::Count(2), LogWriters::Count(1)));
        assert_eq!(count("twice the nodes", false), LogWriters::Count(4));
    }

    #[test]
    fn the_affinity_and_soft_nodes_are_kept_in_the_file() {
        let configuration =
            ServerConfiguration { affinity: Some(vec![0, 2, 3]), soft_numa: true, ..ServerConfiguration::default() };
        let mut again = ServerConfiguration::default();
        again.read_text(&configuration.to_text()).expect("its own text");
        assert_eq!(again, configuration);
        assert!(again.read_text("format = 1\naffinity = \"x\"").is_err_and(|why| why.contains("'x'")));
    }
}
