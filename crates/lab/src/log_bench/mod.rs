//! The bench of the log alone: what an append costs, what a durable commit costs, and how near that is to what the
//! machine can do, measured in the same run.
//!
//! ```text
//!   limits      memcpy of a record, one shared atomic add, copy + CRC32C of one writer, durable writes of the disk
//!   append      tasks on the schedulers append records of one size; a log writer takes them to the device
//!   commit      tasks append a record and wait until it is durable, over and over
//! ```
//! - There is one log for each device and policy, made once; a controller truncates it, so that its segments come round.
//! - The disk is probed before each repeat of the commits, from each scheduler; the median of the quickest counts, and the first
//!   committer is there.
//! - Policies alternate within a repeat, so that a disturbance meets all of them; the median of the repeats is reported.
//! - A record of n bytes is what the caller writes: its kind and its fields. The log puts its length in front.
//! - Only records appended inside of the measured window count; a commit counts when it has become durable.

mod append;
mod commit;
mod limits;
mod options;
mod report;
mod setup;

pub use options::{Bench, CommitPolicy, Device, Options};
pub use report::{Bar, bar, print, write_json};

use serde::Serialize;
use setup::Logs;

/// Why the bench ended.
#[derive(Debug, thiserror::Error)]
pub enum LogBenchError {
    /// The log could not be made, or failed.
    #[error(transparent)]
    Log(#[from] pikepole_log::LogError),
    /// A file could not be read or written.
    #[error("{path}: {error}")]
    File {
        /// The file or folder.
        path: String,
        /// What the system said.
        error: std::io::Error,
    },
    /// The schedulers could not be started.
    #[error("the schedulers: {0}")]
    Schedulers(std::io::Error),
    /// A task ended by itself.
    #[error("a task of the bench ended unexpectedly: {0}")]
    Task(#[from] pikepole_scheduler::TaskError),
    /// The log took no more records while it was measured.
    #[error("the log failed while it was measured")]
    Poisoned,
}

impl LogBenchError {
    fn file(path: &std::path::Path) -> impl FnOnce(std::io::Error) -> LogBenchError {
        let path = path.display().to_string();
        move |error| LogBenchError::File { path, error }
    }
}

/// One measured configuration: the median of its repeats. What does not apply is null.
#[derive(Debug, Clone, Serialize)]
pub struct Run {
    /// `append` or `commit`.
    pub bench: &'static str,
    /// `append`: how appenders take their place. `commit`: who writes for a commit, or `CLASSIC` for the classic policies
    /// together.
    pub policy: String,
    /// `append`: tasks that append, at most as many as schedulers on each.
    pub threads: Option<usize>,
    /// `commit`: tasks that commit.
    pub committers: Option<usize>,
    /// Bytes of a record, its kind included, its length in front not.
    pub record_bytes: usize,
    /// Records appended, or commits, a second.
    pub records_per_second: f64,
    /// `append`: nanoseconds of an appending CPU for one record. Appenders beyond the schedulers share a CPU.
    pub ns_per_record: Option<f64>,
    /// `append`: bytes of records a second, in billions.
    pub gb_per_second: Option<f64>,
    /// `commit`: half of the commits took no longer, in microseconds.
    pub p50_us: Option<f64>,
    /// `commit`: 99 of 100 commits took no longer, in microseconds.
    pub p99_us: Option<f64>,
    /// Durable writes of 4096 bytes a second, one after the other, in the same run, from the CPU from which they are quickest; null
    /// where no disk is used.
    pub probe_writes_per_second: Option<f64>,
    /// As before, sixteen at a time.
    pub probe_parallel_writes_per_second: Option<f64>,
    /// `disk` or `null`.
    pub device: &'static str,
    /// Copying records of this size into a buffer of the log's size with as many threads, in billions of bytes a second.
    pub memcpy_gb_per_second: Option<f64>,
    /// Writes to the log a second.
    pub flushes_per_second: f64,
    /// Schedulers, one a CPU.
    pub schedulers: usize,
    /// Repeats of which this is the median.
    pub repeats: usize,
    /// The lowest and the highest rate of the repeats.
    pub records_per_second_range: [f64; 2],
}

/// All that was measured.
#[derive(Debug, Clone)]
pub struct Report {
    /// The configurations.
    pub runs: Vec<Run>,
    /// What the machine can do.
    pub limits: Limits,
}

pub use limits::Limits;

/// What the bench tells about its progress.
pub trait Progress {
    /// A step begins; `of` steps in all.
    fn begin(&mut self, step: usize, of: usize, what: &str);
    /// A step is over: a line for whoever watches.
    fn end(&mut self, line: &str);
}

/// What one measurement brought.
struct Sample {
    records_per_second: f64,
    flushes_per_second: f64,
    latency_us: Option<[f64; 2]>,
}

/// One configuration to be measured.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Plan {
    Append { device: Device, policy: pikepole_log::Reservation, threads: usize, record_bytes: usize },
    Commit { policy: CommitPolicy, committers: usize },
}

/// Runs everything that `options` ask for.
///
/// # Errors
/// [`LogBenchError`]; what was measured until then is lost.
pub fn run(options: &Options, progress: &mut dyn Progress) -> Result<Report, LogBenchError> {
    let plans = plan(options);
    let of = plans.len() * options.repeats + 1;
    progress.begin(1, of, "what the machine can do");
    let mut logs = Logs::start(options)?;
    let mut limits = Limits::measure(options, logs.schedulers())?;
    progress.end(&limits.line());
    let mut samples: Vec<Vec<Sample>> = plans.iter().map(|_| Vec::new()).collect();
    let mut step = 1;
    for bench in [Bench::Append, Bench::Commit] {
        let mut disks = Vec::new();
        for _ in 0..options.repeats {
            if bench == Bench::Commit && options.benches.contains(&bench) {
                // The disk is not the same all day: it is asked right beside what is compared with it.
                disks.push(limits::disk_limits(&options.folder, logs.schedulers())?);
            }
            for (place, plan) in plans.iter().enumerate().filter(|(_, plan)| plan.bench() == bench) {
                step += 1;
                progress.begin(step, of, &plan.title());
                let quickest = disks.last().map_or(0, limits::DiskLimits::quickest);
                let sample = plan.measure(&mut logs, quickest, options.seconds)?;
                progress.end(&format!("{}: {}", plan.title(), report::rate(sample.records_per_second)));
                samples[place].push(sample);
            }
        }
        disks.sort_by(|a, b| a.single().total_cmp(&b.single()));
        limits.disk = disks.get(disks.len() / 2).cloned().or(limits.disk);
    }
    logs.close()?;
    let schedulers = options.schedulers();
    let runs = plans.iter().zip(samples).map(|(plan, samples)| median(plan, samples, &limits, schedulers)).collect();
    Ok(Report { runs, limits })
}

/// Every configuration, the policies innermost.
fn plan(options: &Options) -> Vec<Plan> {
    let mut plans = Vec::new();
    if options.benches.contains(&Bench::Append) {
        for &device in &options.devices {
            for &record_bytes in &options.record_bytes {
                for &threads in &options.threads {
                    for &policy in &options.reservations {
                        plans.push(Plan::Append { device, policy, threads, record_bytes });
                    }
                }
            }
        }
    }
    if options.benches.contains(&Bench::Commit) {
        for &committers in &options.committers {
            for &policy in &options.commit_policies {
                plans.push(Plan::Commit { policy, committers });
            }
        }
    }
    plans
}

impl Plan {
    fn bench(&self) -> Bench {
        match self {
            Plan::Append { .. } => Bench::Append,
            Plan::Commit { .. } => Bench::Commit,
        }
    }

    /// Measures once; the first committer is on the scheduler `first`.
    fn measure(&self, logs: &mut Logs, first: usize, seconds: std::time::Duration) -> Result<Sample, LogBenchError> {
        match *self {
            Plan::Append { device, policy, threads, record_bytes } => {
                append::measure(logs, device, policy, threads, record_bytes, seconds)
            }
            Plan::Commit { policy, committers } => commit::measure(logs, policy, committers, first, seconds),
        }
    }

    fn title(&self) -> String {
        match *self {
            Plan::Append { device, policy, threads, record_bytes } => {
                format!("append {} {} x{threads} {record_bytes} B", device.name(), policy.name())
            }
            Plan::Commit { policy, committers } => format!("commit {} x{committers}", policy.name()),
        }
    }
}

fn median(plan: &Plan, mut samples: Vec<Sample>, limits: &Limits, schedulers: usize) -> Run {
    samples.sort_by(|a, b| a.records_per_second.total_cmp(&b.records_per_second));
    let range = [samples.first(), samples.last()].map(|end| end.map_or(0.0, |sample| sample.records_per_second));
    let repeats = samples.len();
    let sample = samples.swap_remove((repeats - 1) / 2);
    let rate = sample.records_per_second;
    let (threads, committers, record_bytes, policy, device) = match *plan {
        Plan::Append { device, policy, threads, record_bytes } => {
            (Some(threads), None, record_bytes, policy.name(), device)
        }
        Plan::Commit { policy, committers } => {
            (None, Some(committers), commit::RECORD_BYTES, policy.name(), Device::Disk)
        }
    };
    let cpus = threads.map(|threads| threads.min(schedulers));
    let (p50_us, p99_us) = (sample.latency_us.map(|us| us[0]), sample.latency_us.map(|us| us[1]));
    Run {
        bench: if threads.is_some() { "append" } else { "commit" },
        policy: policy.to_string(),
        threads,
        committers,
        record_bytes,
        records_per_second: rate,
        ns_per_record: cpus.map(|cpus| cpus as f64 * 1e9 / rate.max(1.0)),
        gb_per_second: threads.map(|_| rate * record_bytes as f64 / 1e9),
        p50_us,
        p99_us,
        probe_writes_per_second: limits.disk.as_ref().map(limits::DiskLimits::single),
        probe_parallel_writes_per_second: limits.disk.as_ref().map(|disk| disk.parallel),
        device: device.name(),
        memcpy_gb_per_second: cpus.and_then(|cpus| limits.memcpy_gb_per_second(record_bytes, cpus)),
        flushes_per_second: sample.flushes_per_second,
        schedulers,
        repeats,
        records_per_second_range: range,
    }
}

#[cfg(test)]
mod tests;
