//! What an experiment is made of: panels, arms, metrics, claims.

use super::ExperimentError;
use super::pressure::Pressure;
use super::record::RunRecord;
use crate::profile::Area;
use crate::show::counted;
use crate::stress::{Durability, PARALLEL_INSERT_ROWS, SpinlockRow, TableKind, Workload};
use pikepole_embedded::SystemFiles;
use pikepole_embedded::placement::{LogWriterHome, PlacementPlan, PlacementRules};
use pikepole_machine::{CpuLimits, ReservedPages, SlowDevice, Topology, available_memory, list_text};
use serde::{Deserialize, Serialize};

/// A named question.
#[derive(Debug)]
pub struct Experiment {
    /// The name on the command line.
    pub name: &'static str,
    /// One line.
    pub title: &'static str,
    /// What is asked.
    pub question: &'static str,
    /// What was published, with its machine.
    pub published: &'static [&'static str],
    /// What is done about it on a machine.
    pub plan: fn(&Machine) -> Plan,
}

/// Bytes of the table that is scanned, unless another size is asked for.
pub const TABLE_BYTES: u64 = 4 << 30;

/// The machine that an experiment is planned for.
#[derive(Debug, Clone)]
pub struct Machine {
    /// Its CPUs, caches and nodes.
    pub topology: Topology,
    /// The CPUs that schedulers can be bound to.
    pub cpus: Vec<usize>,
    /// The first core of the first node, where published log writers live.
    pub writer_core: Vec<usize>,
    /// Bytes of memory that the process can take; `None` where the system does not tell.
    pub available_memory: Option<u64>,
    /// Large pages that are set aside.
    pub reserved_pages: ReservedPages,
    /// Bytes of a table to be scanned: how much of the memory an experiment may use.
    pub table_bytes: u64,
    /// Rows of one parallel insert: how much of the disk an experiment may use.
    pub insert_rows: u64,
}

impl Machine {
    /// Reads the machine.
    ///
    /// # Errors
    /// When the files name no CPUs.
    pub fn read(files: &SystemFiles) -> Result<Self, ExperimentError> {
        let topology = Topology::of(files).map_err(ExperimentError::Machine)?;
        let limits = CpuLimits::of(files);
        let cpus = limits.cpus(&topology);
        let rules = PlacementRules { home: LogWriterHome::Isolated, ..PlacementRules::default() };
        let plan = PlacementPlan::new(&topology, &limits, &rules);
        Ok(Self {
            topology,
            cpus,
            writer_core: plan.kept_apart,
            available_memory: available_memory(files),
            reserved_pages: ReservedPages::of(files),
            table_bytes: TABLE_BYTES,
            insert_rows: PARALLEL_INSERT_ROWS,
        })
    }

    /// The log writer's CPU.
    pub fn writer_cpu(&self) -> usize {
        self.writer_core.first().or(self.cpus.first()).copied().unwrap_or(0)
    }

    /// The CPUs without those of the log writer's core.
    pub fn others(&self) -> Vec<usize> {
        self.cpus.iter().copied().filter(|cpu| !self.writer_core.contains(cpu)).collect()
    }

    /// One line: what there is.
    pub fn line(&self) -> String {
        let topology = &self.topology;
        format!(
            "{} to use ({}), {}, {}, {}",
            counted(self.cpus.len(), "CPU"),
            list_text(&self.cpus),
            counted(topology.cores().len(), "core"),
            counted(topology.sockets().len(), "socket"),
            counted(topology.memory_nodes.len(), "memory node")
        )
    }
}

/// What is run and what is claimed.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// What this machine can show of it.
    pub shows: Vec<String>,
    /// What it cannot.
    pub cannot: Vec<String>,
    /// Why it cannot be run on this machine at all.
    pub refused: Option<String>,
    /// The runs.
    pub panels: Vec<Panel>,
    /// What is judged.
    pub claims: Vec<Claim>,
    /// What is asked about all points at once.
    pub questions: Vec<Pressure>,
}

/// One workload at one durability on one device.
#[derive(Debug, Clone)]
pub struct Panel {
    /// One line.
    pub title: String,
    /// What the sessions do.
    pub workload: Workload,
    /// When a commit returns.
    pub durability: Durability,
    /// A slower device to act.
    pub slow_device: Option<SlowDevice>,
    /// Numbers of sessions, ascending.
    pub sessions: Vec<usize>,
    /// The settings that are compared.
    pub arms: Vec<Arm>,
    /// What is drawn.
    pub charts: Vec<Metric>,
}

/// One set of settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arm {
    /// A few words.
    pub name: String,
    /// Policies that differ from the defaults.
    pub policies: Vec<(String, String)>,
    /// Trace flags.
    pub trace_flags: Vec<i32>,
    /// T-SQL before the first run.
    pub statements: Vec<String>,
    /// What its sessions do in the place of the panel's workload.
    pub workload: Option<Workload>,
    /// The kind of table that they insert into.
    pub table: TableKind,
    /// The CPUs of each of several instances; none: one instance.
    pub instances: Vec<Vec<usize>>,
    /// The CPUs that it is bound to; `None`: all.
    pub cpus: Option<usize>,
    /// The arm that it repeats: what these two differ by is the machine's doing.
    pub twin_of: Option<usize>,
}

impl Panel {
    /// Adds a second arm with the settings of the first, so that each metric has its A/A difference.
    pub(super) fn add_twin(&mut self) {
        if let Some(first) = self.arms.first() {
            let twin = Arm { name: format!("{}, again", first.name), twin_of: Some(0), ..first.clone() };
            self.arms.push(twin);
        }
    }
}

impl Arm {
    /// An arm with the defaults.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// With these policies.
    pub fn policies(mut self, policies: &[(&str, &str)]) -> Self {
        self.policies.extend(policies.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        self
    }

    /// With this trace flag.
    pub fn flag(mut self, flag: i32) -> Self {
        self.trace_flags.push(flag);
        self
    }

    /// With sessions that do this in the place of the panel's workload.
    pub fn workload(mut self, workload: Workload) -> Self {
        self.workload = Some(workload);
        self
    }

    /// With a table of this kind.
    pub fn table(mut self, kind: TableKind) -> Self {
        self.table = kind;
        self
    }

    /// With an instance on each of these lists of CPUs, which share the sessions.
    pub fn instances(mut self, cpus: &[Vec<usize>]) -> Self {
        self.instances = cpus.to_vec();
        self
    }

    /// With the process bound to these CPUs.
    pub fn affinity(mut self, cpus: &[usize]) -> Self {
        self.cpus = Some(cpus.len());
        let ranges = list_text(cpus).replace('-', " TO ").replace(',', ", ");
        self.statements.push(format!("ALTER SERVER CONFIGURATION SET PROCESS AFFINITY CPU = {ranges}"));
        self
    }

    /// Its settings in words, one each.
    pub fn settings(&self) -> Vec<String> {
        let policies = self.policies.iter().map(|(name, value)| format!("{name} = {value}"));
        let flags = self.trace_flags.iter().map(|flag| format!("trace flag {flag}"));
        let workload = self.workload.iter().flat_map(Workload::settings);
        let cpus: Vec<String> = self.instances.iter().map(|cpus| list_text(cpus)).collect();
        let instances =
            (!cpus.is_empty()).then(|| format!("{} instances, on the CPUs {}", cpus.len(), cpus.join(" and ")));
        let table = self.table.options().map(str::to_owned);
        let more = self.statements.iter().cloned().chain(table).chain(workload).chain(instances);
        policies.chain(flags).chain(more).collect()
    }
}

/// A figure of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Metric {
    /// Rows acknowledged a second.
    Rows,
    /// Megabytes written to the log files a second.
    LogMegabytes,
    /// Pages looked up in the buffer pools a second.
    PageLookups,
    /// Milliseconds of one scan.
    ScanMilliseconds,
    /// Milliseconds that opening the engine took.
    StartMilliseconds,
    /// Megabytes that the process had in pages of 2 MB.
    LargePageMegabytes,
    /// Microseconds of CPU for a row.
    CpuMicroseconds,
    /// Rows of one write to the log.
    RowsPerFlush,
    /// Spins of one spinlock for a thousand rows.
    Spins(String),
    /// Back-offs of one spinlock for a thousand rows.
    BackOffs(String),
    /// Spins of all spinlocks for a thousand rows.
    AllSpins,
    /// Spins of all spinlocks in a millisecond of CPU: what part of the work is spinning, however few rows a slow disk lets through.
    SpinsOfCpu,
    /// Microseconds waited under one wait type for a row, over all sessions.
    Wait(String),
    /// Completed waits under one wait type for a thousand rows.
    WaitCount(String),
    /// Waits for latches of one class for a thousand rows.
    LatchWaits(String),
    /// Microseconds from a signal to running again, for each wait under one wait type.
    SignalWait(String),
    /// Bytes of log records for a row.
    LogBytes,
    /// Times that sessions' tasks were boosted to the head of the runnable queue, for a thousand rows.
    Boosts,
    /// Percent of the samples of its profile in an area, by its name.
    Share(String),
    /// Microseconds of CPU that a statement takes by itself for a row: those of the samples in the areas of T-SQL, storage and
    /// transactions.
    StatementMicroseconds,
}

impl Metric {
    /// The areas of a statement by itself: none where sessions take turns, and none of the log.
    const STATEMENT: [Area; 3] = [Area::TSql, Area::Storage, Area::Transactions];

    /// True for a figure of the run's profile.
    pub fn needs_profile(&self) -> bool {
        matches!(self, Metric::Share(_) | Metric::StatementMicroseconds)
    }

    /// Spins of this spinlock.
    pub fn spins(name: &str) -> Self {
        Self::Spins(name.to_owned())
    }

    /// Percent of the samples in this area.
    pub fn share(area: Area) -> Self {
        Self::Share(area.name().to_owned())
    }

    /// What it is, with its unit.
    pub fn title(&self) -> String {
        match self {
            Metric::Rows => "rows a second".to_owned(),
            Metric::PageLookups => "page lookups a second".to_owned(),
            Metric::ScanMilliseconds => "a scan, ms".to_owned(),
            Metric::StartMilliseconds => "start, ms".to_owned(),
            Metric::LargePageMegabytes => "memory in pages of 2 MB, MB".to_owned(),
            Metric::LogMegabytes => "log written, MB/s".to_owned(),
            Metric::CpuMicroseconds => "CPU, us a row".to_owned(),
            Metric::RowsPerFlush => "rows a log write".to_owned(),
            Metric::Spins(name) => format!("{name} spins per 1,000 rows"),
            Metric::BackOffs(name) => format!("{name} back-offs per 1,000 rows"),
            Metric::AllSpins => "spins of all spinlocks per 1,000 rows".to_owned(),
            Metric::SpinsOfCpu => "spins of all spinlocks per ms of CPU".to_owned(),
            Metric::Wait(name) => format!("{name}, us waited a row"),
            Metric::WaitCount(name) => format!("{name} waits per 1,000 rows"),
            Metric::LatchWaits(name) => format!("{name} waits per 1,000 rows"),
            Metric::SignalWait(name) => format!("{name}, us of signal wait a wait"),
            Metric::LogBytes => "log records, bytes a row".to_owned(),
            Metric::Boosts => "boosts per 1,000 rows".to_owned(),
            Metric::Share(name) => format!("{name}, % of samples"),
            Metric::StatementMicroseconds => "CPU of T-SQL, storage and transactions, us a row".to_owned(),
        }
    }

    /// The figure of a run.
    pub fn of(&self, run: &RunRecord) -> f64 {
        let rows = run.rows.max(1) as f64;
        match self {
            Metric::Rows => run.rows_per_second,
            Metric::LogMegabytes => run.log_bytes_written as f64 / run.seconds.max(1e-9) / 1e6,
            Metric::PageLookups => run.pool.lookups as f64 / run.seconds.max(1e-9),
            Metric::ScanMilliseconds => run.scan_seconds.unwrap_or(0.0) * 1e3,
            Metric::StartMilliseconds => run.start_seconds.unwrap_or(0.0) * 1e3,
            Metric::LargePageMegabytes => run.large_page_bytes as f64 / f64::from(1 << 20),
            Metric::CpuMicroseconds => run.cpu_seconds * 1e6 / rows,
            Metric::RowsPerFlush => rows / run.flushes.max(1) as f64,
            Metric::Spins(name) => of_spinlock(run, name, |row| row.spins) * 1e3 / rows,
            Metric::BackOffs(name) => of_spinlock(run, name, |row| row.backoffs) * 1e3 / rows,
            Metric::AllSpins => all_spins(run) * 1e3 / rows,
            Metric::SpinsOfCpu => all_spins(run) / (run.cpu_seconds * 1e3).max(1.0),
            Metric::Wait(name) => {
                let waits = run.waits.iter().filter(|row| row.wait_type == *name).map(|row| row.wait_time_ms as f64);
                waits.fold(0.0, |sum, waited| sum + waited) * 1e3 / rows
            }
            Metric::WaitCount(name) => {
                let waits = run.waits.iter().filter(|row| row.wait_type == *name);
                waits.fold(0.0, |sum, row| sum + row.waiting_tasks_count as f64) * 1e3 / rows
            }
            Metric::LatchWaits(name) => {
                let waits = run.latches.iter().filter(|row| row.latch_class == *name);
                waits.fold(0.0, |sum, row| sum + row.waiting_requests_count as f64) * 1e3 / rows
            }
            Metric::SignalWait(name) => {
                let row = run.waits.iter().find(|row| row.wait_type == *name && row.waiting_tasks_count > 0);
                row.map_or(0.0, |row| row.signal_wait_time_ms as f64 * 1e3 / row.waiting_tasks_count as f64)
            }
            Metric::LogBytes => run.log_bytes as f64 / rows,
            Metric::Boosts => {
                let most = run.series.iter().map(|sample| sample.boosts).max().unwrap_or(0);
                most as f64 * 1e3 / rows
            }
            Metric::Share(name) => 100.0 * part_of_samples(run, name),
            Metric::StatementMicroseconds => {
                let part: f64 = Metric::STATEMENT.iter().map(|area| part_of_samples(run, area.name())).sum();
                part * Metric::CpuMicroseconds.of(run)
            }
        }
    }
}

fn of_spinlock(run: &RunRecord, name: &str, of: fn(&SpinlockRow) -> i64) -> f64 {
    run.spinlocks.iter().filter(|row| row.name == name).map(|row| of(row) as f64).fold(0.0, |sum, count| sum + count)
}

fn part_of_samples(run: &RunRecord, area: &str) -> f64 {
    let samples = run.samples.values().sum::<u64>().max(1) as f64;
    run.samples.get(area).copied().unwrap_or(0) as f64 / samples
}

fn all_spins(run: &RunRecord) -> f64 {
    run.spinlocks.iter().fold(0.0, |sum, row| sum + row.spins as f64)
}

/// A shape that was published, or that this project promises.
#[derive(Debug, Clone)]
pub struct Claim {
    /// One sentence.
    pub text: String,
    /// The published figure, in words.
    pub published: Option<&'static str>,
    /// Which panel.
    pub panel: usize,
    /// Arm A.
    pub from: usize,
    /// Arm B.
    pub to: usize,
    /// The figure.
    pub metric: Metric,
    /// What B is to be.
    pub expect: Expect,
    /// Why it cannot be judged on this machine.
    pub cannot: Option<String>,
}

/// The hardware that a claim needs to be judged at all.
#[derive(Debug, Clone, Copy)]
pub(super) enum Needs {
    /// CPUs for the sessions and the log writer.
    Cpus(usize),
    /// Nodes of memory.
    Nodes(usize),
}

impl Needs {
    /// What a machine has too little of, in words; `None` where it has enough.
    pub(super) fn missing(self, machine: &Machine) -> Option<String> {
        let (wanted, there, what) = match self {
            Needs::Cpus(count) => (count, machine.cpus.len(), "CPU"),
            Needs::Nodes(count) => (count, machine.topology.memory_nodes.len(), "memory node"),
        };
        (there < wanted).then(|| format!("it takes {} or more, and here there are {there}", counted(wanted, what)))
    }
}

impl Claim {
    /// The same, which cannot be judged on a machine that has less than this.
    pub(super) fn needs(mut self, machine: &Machine, needs: Needs) -> Self {
        self.cannot = needs.missing(machine).or(self.cannot);
        self
    }
}

/// What arm B is to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Expect {
    /// More than A.
    Higher,
    /// Less than A.
    Lower,
    /// About as much as A: no difference beyond noise, or one below a tenth.
    Same,
    /// Not less than A.
    NotLower,
    /// Below this number, whatever A is.
    Below(f64),
}
