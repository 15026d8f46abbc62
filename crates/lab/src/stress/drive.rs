//! Running the runs: sessions on threads of their own, each with a connection, started together.

use super::rpc::{self, Called, Callers, Latency};
use super::scan;
use super::series::{Sample, Sampler};
use super::statistics::{self, PoolCounters, Statistics};
use super::target::{Link, Target};
use super::{Amount, Durability, Options, PolicySet, StressError, TableKind, Workload};
use crate::load::{self, CpuUse};
use crate::profile::{Profile, Profiler, Taken};
use pikepole_contention::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use pikepole_contention::sync::{Arc, thread};
use pikepole_embedded::Options as EngineOptions;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

/// A run in which other processes used more of the machine than this is flagged.
const OTHER_CPU_PERCENT_MAX: f64 = 5.0;
/// Time that one call of the procedure should take: long against its cost, short against a run.
const CALL_TIME: Duration = Duration::from_millis(50);
/// Rows of a session's first call, before its speed is known.
const FIRST_CALL_ROWS: u64 = 16;
/// Rows of one call at the most.
const CALL_ROWS_MAX: u64 = 1 << 20;

/// What one run did and what it cost.
#[derive(Debug, Clone, Serialize)]
pub struct Run {
    /// The workload's name.
    pub workload: &'static str,
    /// Concurrent sessions.
    pub sessions: usize,
    /// The kind of table that was asked for; `None` for a workload that has its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub table: Option<&'static str>,
    /// The server says that the rows of that table are in memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_optimized: Option<bool>,
    /// FULL or DELAYED.
    pub durability: &'static str,
    /// The named set of policies that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy_set: Option<&'static str>,
    /// Every policy of the server and its value during the run.
    pub policies: BTreeMap<String, String>,
    /// Rows acknowledged; for a workload of the user's own, those that its statements touched.
    pub rows: u64,
    /// Rows that the engine has counted as inserted, updated and deleted in the database.
    pub rows_changed: u64,
    /// The table was counted after the run and holds exactly the rows acknowledged.
    pub rows_counted: bool,
    /// Batches that an in-memory table refused because of another transaction, and that were run again.
    pub conflicts: u64,
    /// Seconds from the common start to the last session's end.
    pub seconds: f64,
    /// Rows acknowledged a second.
    pub rows_per_second: f64,
    /// Bytes of log records appended.
    pub log_bytes: u64,
    /// Bytes written to the log files, headers and padding included.
    pub log_bytes_written: u64,
    /// Writes to the log files.
    pub flushes: u64,
    /// Pages that the buffer pools were asked for.
    pub pool: PoolCounters,
    /// Seconds of one scan, for a workload of scans.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scan_seconds: Option<f64>,
    /// Seconds that opening the engine took; `None` for a server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_seconds: Option<f64>,
    /// What the engine's process had in pages of 2 MB at the end, in bytes.
    pub large_page_bytes: u64,
    /// Memory that was asked for in reserved pages and is in others, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refused_memory: Vec<String>,
    /// CPU seconds of the engine's process: this one, or the server.
    pub cpu_seconds: f64,
    /// CPU seconds of this process, when a server was driven.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_cpu_seconds: Option<f64>,
    /// How long calls over the wire took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency: Option<Latency>,
    /// What other processes used of the machine's CPUs, in percent; `None` where the system does not tell.
    pub other_cpu_percent: Option<f64>,
    /// Other processes used so much that the figures should not be compared.
    pub noisy: bool,
    /// Highest resident memory of the engine's process since it started, in bytes; `None` for a server's.
    pub peak_memory_bytes: Option<u64>,
    /// The three statistics.
    #[serde(flatten)]
    pub statistics: Statistics,
    /// The run was stopped before its time.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// What had been done and used at moments of the run, when it was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<Sample>,
    /// Where its CPU time went, when that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
}

impl Run {
    /// The durability, and the set of policies where one was asked for.
    pub(crate) fn label(&self) -> String {
        self.policy_set.map_or(self.durability.to_string(), |set| format!("{} {set}", self.durability))
    }
}

impl Run {
    /// Adds what another instance in this process did in the same time. CPU and memory are the process's, and so in both.
    pub(crate) fn add(&mut self, other: Run) {
        self.sessions += other.sessions;
        self.rows += other.rows;
        self.rows_changed += other.rows_changed;
        self.rows_counted &= other.rows_counted;
        self.conflicts += other.conflicts;
        self.rows_per_second += other.rows_per_second;
        self.seconds = self.seconds.max(other.seconds);
        self.log_bytes += other.log_bytes;
        self.log_bytes_written += other.log_bytes_written;
        self.flushes += other.flushes;
        self.pool.lookups += other.pool.lookups;
        self.pool.reads += other.pool.reads;
        self.cpu_seconds = self.cpu_seconds.max(other.cpu_seconds);
        self.other_cpu_percent = self.other_cpu_percent.into_iter().chain(other.other_cpu_percent).reduce(f64::max);
        self.noisy |= other.noisy;
        self.interrupted |= other.interrupted;
        self.statistics.add(other.statistics);
        // Samples of equal numbers are of about the same moment.
        self.series.truncate(other.series.len());
        self.series.iter_mut().zip(&other.series).for_each(|(sample, other)| sample.add(other));
    }
}

/// What the driver tells about its progress.
pub trait Progress {
    /// A run begins; `of` runs in all.
    fn begin(&mut self, run: usize, of: usize, durability: Durability, sessions: usize);
    /// The run goes on: rows acknowledged so far, and the part of the run that is over (0 to 1).
    fn tick(&mut self, rows: u64, part: f64);
    /// The run is over.
    fn end(&mut self, run: &Run);
}

/// Runs everything that `options` ask for, one run after another.
pub fn run(options: &Options, progress: &mut dyn Progress) -> Result<Vec<Run>, StressError> {
    let (workload, kind) = (&options.workload, options.table);
    if kind != TableKind::Disk && !workload.takes_table_kinds() {
        return Err(StressError::NoSuchTable { workload: workload.name(), kind });
    }
    let target = target(options)?;
    let mut control = prepare(&target, options.database(), &options.statements, &workload.setup(kind))?;
    let before = statistics::delayed_durability(&mut control)?;
    let runs = run_all(&target, &mut control, options, progress);
    if options.database.is_some() {
        control.execute(&delayed_durability(options.database(), &before))?;
    }
    drop(control);
    if runs.is_ok() {
        target.close()?;
    }
    runs
}

/// The server, or an engine that is opened.
fn target(options: &Options) -> Result<Target, StressError> {
    let mut policies: Vec<_> = options.policy_set.into_iter().map(PolicySet::policy).collect();
    policies.extend_from_slice(&options.policies);
    if let Some(server) = &options.server {
        return Ok(Target::Server(Box::new(server.clone())));
    }
    let mut engine_options = engine_options(&options.folder, &policies, options.buffer_pool_bytes);
    for flag in &options.trace_flags {
        engine_options = engine_options.trace_flag(*flag);
    }
    if let Some(cpus) = &options.cpus {
        engine_options = engine_options.cpus(cpus.clone());
    }
    if let Some(device) = options.slow_device {
        engine_options = engine_options.slow_device(device);
    }
    Target::open(engine_options)
}

fn run_all(
    target: &Target,
    control: &mut Link,
    options: &Options,
    progress: &mut dyn Progress,
) -> Result<Vec<Run>, StressError> {
    let total = options.durabilities.len() * options.sessions.len();
    let mut runs = Vec::with_capacity(total);
    for durability in &options.durabilities {
        for sessions in &options.sessions {
            progress.begin(runs.len() + 1, total, *durability, *sessions);
            if !runs.is_empty() {
                make_again(control, options)?;
            }
            if let Some(time) = options.warmup {
                let warm = Options { amount: Amount::Time(time), sample: None, profiler: None, ..options.clone() };
                run_once(target, control, &warm, *durability, *sessions, progress)?;
                make_again(control, options)?;
            }
            let run = run_once(target, control, options, *durability, *sessions, progress)?;
            if options.warmup.is_some() && options.workload.keeps_its_table() {
                scan::check_resident(&run)?;
            }
            progress.end(&run);
            let interrupted = run.interrupted;
            runs.push(run);
            if interrupted {
                return Ok(runs);
            }
        }
    }
    Ok(runs)
}

pub(super) fn engine_options(
    folder: &Path,
    policies: &[(String, String)],
    buffer_pool_bytes: Option<u64>,
) -> EngineOptions {
    let mut engine_options = EngineOptions::new(folder);
    for (name, value) in policies {
        engine_options = engine_options.policy(name, value);
    }
    if let Some(bytes) = buffer_pool_bytes {
        engine_options = engine_options.buffer_pool_bytes(bytes);
    }
    engine_options
}

/// A connection to a database, which is made after the server's own `statements`, and the batches of `setup`.
pub(super) fn prepare(
    target: &Target,
    database: &str,
    statements: &[String],
    setup: &[String],
) -> Result<Link, StressError> {
    let mut control = target.connect()?;
    for statement in statements {
        control.execute(statement)?;
    }
    let (text, name) = (database.replace('\'', "''"), quoted(database));
    control.execute(&format!("IF DB_ID(N'{text}') IS NULL CREATE DATABASE {name}"))?;
    control.execute(&format!("USE {name}"))?;
    for batch in setup {
        control.execute(batch)?;
    }
    Ok(control)
}

/// A name as T-SQL takes it, whatever is in it.
fn quoted(name: &str) -> String {
    format!("[{}]", name.replace(']', "]]"))
}

fn delayed_durability(database: &str, option: &str) -> String {
    format!("ALTER DATABASE {} SET DELAYED_DURABILITY = {option}", quoted(database))
}

/// Makes the tables of a workload of the user's own again, as they were before the first run: in the driver's own database, which
/// is made again too. In one that the user has named the batches of `setup` see to it.
fn make_again(control: &mut Link, options: &Options) -> Result<(), StressError> {
    let Workload::Batch { setup, .. } = &options.workload else { return Ok(()) };
    if setup.is_empty() {
        return Ok(());
    }
    if options.database.is_none() {
        let name = quoted(options.database());
        for batch in [
            "USE master".to_string(),
            // Sessions of the run before may be at their end still.
            format!("ALTER DATABASE {name} SET SINGLE_USER WITH ROLLBACK IMMEDIATE"),
            format!("DROP DATABASE {name}"),
            format!("CREATE DATABASE {name}"),
            format!("USE {name}"),
        ] {
            control.execute(&batch)?;
        }
    }
    for batch in setup {
        control.execute(batch)?;
    }
    Ok(())
}

fn run_once(
    target: &Target,
    control: &mut Link,
    options: &Options,
    durability: Durability,
    sessions: usize,
    progress: &mut dyn Progress,
) -> Result<Run, StressError> {
    for batch in options.workload.reset(options.table) {
        control.execute(&batch)?;
    }
    let database = options.database();
    control.execute(&delayed_durability(database, durability.database_option()))?;
    let shared = Arc::new(Shared::new(options.amount));
    let drivers = Drivers::connect(target, options, sessions, &shared)?;
    let mut taken = None;
    let work = |_: &mut Link| {
        let sampler = match options.sample {
            Some(every) => Some(Sampler::start(target, database, Arc::clone(&shared.rows), every)?),
            None => None,
        };
        let driven = profiled(options.profiler.as_ref(), &mut taken, || drive(drivers, &shared, options, progress));
        let series = sampler.map_or_else(Vec::new, Sampler::finish);
        driven.map(|work| Work { series, ..work })
    };
    let mut run = measured(target, control, options.workload.name(), database, durability, sessions, work)?;
    run.profile = taken.map(Taken::named);
    run.policy_set = options.policy_set.map(PolicySet::name);
    if options.workload.takes_table_kinds() {
        run.table = Some(options.table.name());
        run.memory_optimized = Some(statistics::is_memory_optimized(control, "dbo.singleton_insert")?);
    }
    if matches!(options.workload, Workload::Batch { .. }) && run.rows == 0 {
        // SET NOCOUNT ON: the statements have told nothing. Where they tell, the engine's count has the rows of triggers too.
        run.rows = run.rows_changed;
        run.rows_per_second = run.rows as f64 / run.seconds;
    }
    if let Some(count) = options.workload.count() {
        check_rows(control, count, &run)?;
        run.rows_counted = true;
    }
    if let Workload::Scan { table_bytes } = options.workload {
        let scans = run.rows as f64 / scan::rows(table_bytes) as f64;
        run.scan_seconds = (scans > 0.0).then(|| run.seconds * sessions as f64 / scans);
        run.rows_counted = true;
    }
    Ok(run)
}

/// Does work, and takes a profile meanwhile if there is a profiler; its names come later, when nothing is measured any more.
pub(super) fn profiled(
    profiler: Option<&Profiler>,
    taken: &mut Option<Taken>,
    work: impl FnOnce() -> Result<Work, StressError>,
) -> Result<Work, StressError> {
    let Some(profiler) = profiler else { return work() };
    let running = profiler.start().map_err(StressError::Profile)?;
    let done = work();
    *taken = Some(running.stop().map_err(StressError::Profile)?);
    done
}

/// What a run did.
pub(super) struct Work {
    /// Rows acknowledged.
    pub rows: u64,
    /// The time they took.
    pub elapsed: Duration,
    /// Batches that were run again, because an in-memory table had refused them.
    pub conflicts: u64,
    /// It was stopped before its time.
    pub interrupted: bool,
    /// What had been done and used at moments of it, when that was asked for.
    pub series: Vec<Sample>,
    /// How long its calls took, for a workload of calls over the wire.
    pub latency: Option<Latency>,
}

/// Does work and reads what it cost.
pub(super) fn measured(
    target: &Target,
    control: &mut Link,
    workload: &'static str,
    database: &str,
    durability: Durability,
    sessions: usize,
    work: impl FnOnce(&mut Link) -> Result<Work, StressError>,
) -> Result<Run, StressError> {
    statistics::clear(control)?;
    statistics::flush_log(control)?;
    let before = statistics::database_counters(control, database)?;
    let pool_before = statistics::pool_counters(control)?;
    let server_before = target.server_cpu_seconds(control)?;
    let cpu_before = CpuUse::now();
    let Work { rows, elapsed, conflicts, interrupted, series, latency } = work(control)?;
    let spent = cpu_before.spent();
    let server_after = target.server_cpu_seconds(control)?;
    let server_seconds = server_after.zip(server_before).map(|(after, before)| after - before);
    let pool_after = statistics::pool_counters(control)?;
    let statistics = statistics::read(control)?;
    statistics::flush_log(control)?;
    let after = statistics::database_counters(control, database)?;

    let seconds = elapsed.as_secs_f64();
    let cpus = thread::available_parallelism().map_or(1, usize::from) as f64;
    let server_here = server_seconds.filter(|_| target.is_here()).unwrap_or(0.0);
    let other_cpu_percent = spent.other_seconds.map(|other| 100.0 * (other - server_here).max(0.0) / (seconds * cpus));
    Ok(Run {
        workload,
        sessions,
        table: None,
        memory_optimized: None,
        durability: durability.name(),
        policy_set: None,
        policies: target.policies(control)?,
        rows,
        rows_counted: false,
        conflicts,
        rows_changed: difference(after.rows_changed, before.rows_changed),
        seconds,
        rows_per_second: rows as f64 / seconds,
        log_bytes: difference(after.record_bytes, before.record_bytes),
        log_bytes_written: difference(after.written_bytes, before.written_bytes),
        flushes: difference(after.flushes, before.flushes),
        pool: PoolCounters {
            lookups: pool_after.lookups.saturating_sub(pool_before.lookups),
            reads: pool_after.reads.saturating_sub(pool_before.reads),
        },
        scan_seconds: None,
        start_seconds: target.start_seconds(),
        large_page_bytes: statistics::large_page_bytes(control)?,
        refused_memory: target.refused_memory(),
        cpu_seconds: server_seconds.unwrap_or(spent.own_seconds),
        client_cpu_seconds: server_seconds.map(|_| spent.own_seconds),
        latency,
        other_cpu_percent,
        noisy: other_cpu_percent.is_some_and(|percent| percent > OTHER_CPU_PERCENT_MAX),
        peak_memory_bytes: load::peak_memory_bytes().filter(|_| server_seconds.is_none()),
        statistics,
        interrupted,
        series,
        profile: None,
    })
}

fn difference(after: i64, before: i64) -> u64 {
    u64::try_from(after - before).unwrap_or(0)
}

/// Counts the rows of a run by the query `count`; an error when they are not those acknowledged.
pub(super) fn check_rows(control: &mut Link, count: &str, run: &Run) -> Result<(), StressError> {
    let rows = control.query(count)?;
    let counted: i64 = rows.iter().next().map_or(Ok(0), |row| row.get(0))?;
    let counted = u64::try_from(counted).unwrap_or(0);
    if counted == run.rows {
        return Ok(());
    }
    let (acknowledged, durability, sessions) = (run.rows, run.durability, run.sessions);
    Err(StressError::RowsDiffer { acknowledged, counted, durability, sessions })
}

/// What the sessions of one run share; touched once a call, not once a row.
pub(super) struct Shared {
    started: AtomicBool,
    pub(super) stopped: AtomicBool,
    pub(super) rows: Arc<AtomicU64>,
    conflicts: AtomicU64,
    pub(super) amount: Amount,
}

impl Shared {
    fn new(amount: Amount) -> Self {
        Shared {
            started: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
            rows: Arc::new(AtomicU64::new(0)),
            conflicts: AtomicU64::new(0),
            amount,
        }
    }

    /// Whether a session that has done so much is to end.
    pub(super) fn is_over(&self, done: u64) -> bool {
        let enough = matches!(self.amount, Amount::Iterations(count) if done >= count);
        enough || self.stopped.load(Ordering::Relaxed)
    }

    /// Waits for the common start.
    pub(super) fn await_start(&self) {
        // Acquire: pairs with the Release in `drive`.
        while !self.started.load(Ordering::Acquire) {
            thread::park();
        }
    }
}

/// Those who work in a run: a thread a session, or threads that call for many.
enum Drivers {
    Sessions(Vec<Driver>),
    Callers(Vec<Callers>),
}

impl Drivers {
    fn connect(
        target: &Target,
        options: &Options,
        sessions: usize,
        shared: &Arc<Shared>,
    ) -> Result<Drivers, StressError> {
        let links = (0..sessions).map(|_| target.connect()).collect::<Result<Vec<_>, _>>()?;
        if let Workload::RpcInsert { calls } = options.workload {
            return rpc::callers(links, calls, shared).map(Drivers::Callers);
        }
        let mut drivers = Vec::with_capacity(sessions);
        for link in links {
            drivers.push(Driver::new(link, options, Arc::clone(shared))?);
        }
        Ok(Drivers::Sessions(drivers))
    }

    fn sessions(&self) -> u64 {
        match self {
            Drivers::Sessions(drivers) => drivers.len() as u64,
            Drivers::Callers(groups) => groups.iter().map(Callers::len).sum::<usize>() as u64,
        }
    }

    fn spawn(self) -> Vec<thread::JoinHandle<Result<Called, StressError>>> {
        match self {
            Drivers::Sessions(drivers) => drivers.into_iter().map(|one| thread::spawn(move || one.run())).collect(),
            Drivers::Callers(groups) => groups.into_iter().map(|one| thread::spawn(move || one.run())).collect(),
        }
    }
}

/// Starts the sessions and watches them until the last has ended.
fn drive(
    drivers: Drivers,
    shared: &Arc<Shared>,
    options: &Options,
    progress: &mut dyn Progress,
) -> Result<Work, StressError> {
    let amount = options.amount;
    let mut interrupted = false;
    let sessions = drivers.sessions();
    let threads = drivers.spawn();
    let begun = Instant::now();
    // Release: pairs with the Acquire in `Shared::await_start`; the threads begin after the clock has been read.
    shared.started.store(true, Ordering::Release);
    for thread in &threads {
        thread.thread().unpark();
    }
    while !threads.iter().all(thread::JoinHandle::is_finished) {
        thread::sleep(Duration::from_millis(20));
        let rows = shared.rows.load(Ordering::Relaxed);
        let part = match amount {
            Amount::Time(time) => begun.elapsed().as_secs_f64() / time.as_secs_f64(),
            Amount::Iterations(count) => rows as f64 / (count * sessions).max(1) as f64,
        };
        progress.tick(rows, part.min(1.0));
        if matches!(amount, Amount::Time(time) if begun.elapsed() >= time) {
            shared.stopped.store(true, Ordering::Relaxed);
        }
        if !interrupted && options.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            interrupted = true;
            shared.stopped.store(true, Ordering::Relaxed);
        }
    }
    let (mut rows, mut times) = (0, Vec::new());
    let mut ended = begun;
    for thread in threads {
        let (done, at, took) = thread.join().map_err(|_| StressError::SessionLost)??;
        rows += done;
        times.push(took);
        ended = ended.max(at);
    }
    let conflicts = shared.conflicts.load(Ordering::Relaxed);
    Ok(Work { rows, elapsed: ended - begun, conflicts, interrupted, series: Vec::new(), latency: rpc::latency(times) })
}

/// One session of a run.
struct Driver {
    connection: Link,
    workload: Workload,
    shared: Arc<Shared>,
}

impl Driver {
    fn new(mut connection: Link, options: &Options, shared: Arc<Shared>) -> Result<Self, StressError> {
        connection.execute(&format!("USE {}", quoted(options.database())))?;
        if let Some(batch) = options.workload.session_setup() {
            connection.execute(batch)?;
        }
        Ok(Driver { connection, workload: options.workload.clone(), shared })
    }

    /// The rows acknowledged and when the last of them was.
    fn run(mut self) -> Result<Called, StressError> {
        self.shared.await_start();
        let result = match self.workload.clone() {
            Workload::SingletonInsert
            | Workload::RpcInsert { .. }
            | Workload::ExplicitTransactions
            | Workload::NativeInsert(_)
            | Workload::HeapInsert => self.singleton_inserts(),
            workload @ Workload::ParallelInsert { .. } => self.batches(workload.statement().as_slice()),
            Workload::Scan { table_bytes } => self.scans(table_bytes),
            Workload::Batch { batches, .. } => self.batches(&batches),
        };
        if result.is_err() {
            self.shared.stopped.store(true, Ordering::Relaxed);
        }
        Ok((result?, Instant::now(), Vec::new()))
    }

    fn singleton_inserts(&mut self) -> Result<u64, StressError> {
        let mut done = 0;
        let mut rows = FIRST_CALL_ROWS;
        while !self.shared.is_over(done) {
            if let Amount::Iterations(count) = self.shared.amount {
                rows = rows.min(count - done);
            }
            let begun = Instant::now();
            let parameters = [("@first", done as i64), ("@rows", rows as i64)];
            self.connection.execute_with("EXEC dbo.insert_rows @first = @first, @rows = @rows", &parameters)?;
            done += rows;
            self.shared.rows.fetch_add(rows, Ordering::Relaxed);
            rows = next_call(rows, begun.elapsed());
        }
        Ok(done)
    }

    fn scans(&mut self, table_bytes: u64) -> Result<u64, StressError> {
        let (mut rows, mut scans) = (0, 0);
        // One at least, however short the run: behind a warm-up the table is in memory.
        loop {
            let counted = scan::scan(&mut self.connection, table_bytes)?;
            rows += counted;
            self.shared.rows.fetch_add(counted, Ordering::Relaxed);
            scans += 1;
            if self.shared.is_over(scans) {
                return Ok(rows);
            }
        }
    }

    fn batches(&mut self, batches: &[String]) -> Result<u64, StressError> {
        let mut rows = 0;
        let mut iterations = 0;
        while !self.shared.is_over(iterations) {
            for batch in batches {
                let Some(affected) = self.until_done(batch)? else { return Ok(rows) };
                rows += affected;
                self.shared.rows.fetch_add(affected, Ordering::Relaxed);
            }
            iterations += 1;
        }
        Ok(rows)
    }

    /// Runs a batch, and again while in-memory tables refuse it because of other transactions; `None` when the run is over before
    /// it has succeeded.
    fn until_done(&mut self, batch: &str) -> Result<Option<u64>, StressError> {
        loop {
            match self.connection.execute(batch) {
                Ok(done) => return Ok(Some(done.rows_affected)),
                Err(error) if error.is_conflict() => self.shared.conflicts.fetch_add(1, Ordering::Relaxed),
                Err(error) => return Err(error),
            };
            if self.shared.stopped.load(Ordering::Relaxed) {
                return Ok(None);
            }
        }
    }
}

/// Rows of the next call, so that it takes about `CALL_TIME`; at most four times the last one's.
fn next_call(rows: u64, took: Duration) -> u64 {
    let ideal = rows as f64 * CALL_TIME.as_secs_f64() / took.as_secs_f64().max(1e-6);
    (ideal as u64).clamp(1, rows * 4).min(CALL_ROWS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Silent;

    impl Progress for Silent {
        fn begin(&mut self, _run: usize, _of: usize, _durability: Durability, _sessions: usize) {}
        fn tick(&mut self, _rows: u64, _part: f64) {}
        fn end(&mut self, _run: &Run) {}
    }

    #[test]
    fn workloads_without_such_a_table_are_refused_before_anything_is_made() {
        let options =
            Options { workload: Workload::HeapInsert, table: TableKind::Memory, ..Options::new("/proc/none") };
        let refused = run(&options, &mut Silent).expect_err("refused").to_string();
        assert_eq!(refused, "the workload heap-insert has no memory table");
    }

    #[test]
    fn calls_grow_towards_their_time_by_four_at_most() {
        assert_eq!(next_call(16, Duration::from_micros(10)), 64);
        assert_eq!(next_call(1000, CALL_TIME), 1000);
        assert_eq!(next_call(1000, CALL_TIME * 2), 500);
        assert_eq!(next_call(1, Duration::from_secs(9)), 1);
    }
}
