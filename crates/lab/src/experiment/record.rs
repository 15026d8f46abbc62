//! What an experiment found, as it is written down and read again.

use super::judge::Verdict;
use super::{ExperimentError, Metric, Spread};
use crate::profile::Profile;
use crate::stress::{LatchRow, PoolCounters, Run, Sample, SpinlockRow, TableKind, WaitRow};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The version of the JSON that this build writes and reads.
const FORMAT: u32 = 1;

/// What an experiment found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Version of this JSON.
    pub format: u32,
    /// The experiment's name.
    pub experiment: String,
    /// One line.
    pub title: String,
    /// What was asked.
    pub question: String,
    /// What was published.
    pub published: Vec<String>,
    /// What this machine can show.
    pub shows: Vec<String>,
    /// What it cannot.
    pub cannot: Vec<String>,
    /// How it was run.
    pub settings: Settings,
    /// On what.
    pub environment: Environment,
    /// The runs.
    pub panels: Vec<PanelRecord>,
    /// The verdicts.
    pub claims: Vec<ClaimRecord>,
    /// The answers to the experiment's questions, in sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<String>,
    /// All runs of the plan were made.
    pub complete: bool,
    /// When it began, in seconds since 1970.
    pub started: u64,
    /// How long it took.
    pub took_seconds: f64,
}

/// How an experiment was run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Seconds of a run.
    pub seconds: f64,
    /// Seconds before it that do not count.
    pub warmup_seconds: f64,
    /// Runs of each arm at each number of sessions.
    pub repeats: usize,
}

/// What it was run on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// The processor's name.
    pub processor: String,
    /// CPUs, cores, sockets, nodes.
    pub machine: String,
    /// Memory in bytes.
    pub memory_bytes: u64,
    /// The kernel's version.
    pub kernel: String,
    /// Transparent large pages: the kernel's setting.
    pub transparent_pages: String,
    /// Durable 4 KB writes a second, one after the other, on the disk of the runs.
    pub durable_writes_per_second: Option<f64>,
    /// This program's version and how it was built.
    pub version: String,
}

/// One panel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PanelRecord {
    /// One line.
    pub title: String,
    /// The workload's name.
    pub workload: String,
    /// FULL or DELAYED.
    pub durability: String,
    /// The device that was acted, in words; empty for the disk itself.
    pub device: String,
    /// The T-SQL of the workload.
    pub tsql: Vec<String>,
    /// Numbers of sessions.
    pub sessions: Vec<usize>,
    /// The arms.
    pub arms: Vec<ArmRecord>,
    /// What is drawn.
    pub charts: Vec<Metric>,
    /// The runs, by arm and sessions.
    pub cells: Vec<Cell>,
}

/// One arm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArmRecord {
    /// A few words.
    pub name: String,
    /// What differs from the defaults.
    pub settings: Vec<String>,
    /// The CPUs that it was bound to; null: all.
    #[serde(default)]
    pub cpus: Option<usize>,
    /// The arm that it repeats, with the same settings.
    #[serde(default)]
    pub twin_of: Option<usize>,
}

/// The runs of one arm at one number of sessions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// The arm's place.
    pub arm: usize,
    /// Sessions.
    pub sessions: usize,
    /// The runs, in their order.
    pub runs: Vec<RunRecord>,
    /// Where the CPU time of all of them went; kept at the most sessions only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
}

/// One run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Rows acknowledged, and counted in the table afterwards.
    pub rows: u64,
    /// The kind of table that was asked for; null for a workload that has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// The server says that the rows of that table are in memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_optimized: Option<bool>,
    /// Batches that an in-memory table refused because of another transaction, and that were run again.
    #[serde(default)]
    pub conflicts: u64,
    /// Seconds.
    pub seconds: f64,
    /// Rows a second.
    pub rows_per_second: f64,
    /// Bytes of log records.
    pub log_bytes: u64,
    /// Bytes written to the log files.
    pub log_bytes_written: u64,
    /// Writes to the log files.
    pub flushes: u64,
    /// Pages that the buffer pools were asked for.
    #[serde(default)]
    pub pool: PoolCounters,
    /// Seconds of one scan, for a workload of scans.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scan_seconds: Option<f64>,
    /// Seconds that opening the engine took.
    #[serde(default)]
    pub start_seconds: Option<f64>,
    /// What the process had in pages of 2 MB at the end, in bytes.
    #[serde(default)]
    pub large_page_bytes: u64,
    /// Memory that was asked for in reserved pages and is in others, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused_memory: Vec<String>,
    /// CPU seconds of the process.
    pub cpu_seconds: f64,
    /// CPU of other processes, in percent of the machine.
    pub other_cpu_percent: Option<f64>,
    /// Other processes used so much that the figures should not be compared.
    pub noisy: bool,
    /// Every policy during the run.
    pub policies: BTreeMap<String, String>,
    /// `sys.dm_os_wait_stats` of the run.
    pub waits: Vec<WaitRow>,
    /// `sys.dm_os_latch_stats` of the run.
    pub latches: Vec<LatchRow>,
    /// `sys.dm_os_spinlock_stats` of the run.
    pub spinlocks: Vec<SpinlockRow>,
    /// The run over time.
    pub series: Vec<Sample>,
    /// Samples of its profile by area; empty without one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub samples: BTreeMap<String, u64>,
}

impl From<Run> for RunRecord {
    fn from(run: Run) -> Self {
        Self {
            rows: run.rows,
            table: run.table.map(str::to_owned),
            memory_optimized: run.memory_optimized,
            conflicts: run.conflicts,
            seconds: run.seconds,
            rows_per_second: run.rows_per_second,
            log_bytes: run.log_bytes,
            log_bytes_written: run.log_bytes_written,
            flushes: run.flushes,
            pool: run.pool,
            scan_seconds: run.scan_seconds,
            start_seconds: run.start_seconds,
            large_page_bytes: run.large_page_bytes,
            refused_memory: run.refused_memory,
            cpu_seconds: run.cpu_seconds,
            other_cpu_percent: run.other_cpu_percent,
            noisy: run.noisy,
            policies: run.policies,
            waits: run.statistics.waits,
            latches: run.statistics.latches,
            spinlocks: run.statistics.spinlocks,
            series: run.series,
            samples: run.profile.map_or_else(BTreeMap::new, |profile| profile.areas),
        }
    }
}

/// One verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClaimRecord {
    /// What was claimed.
    pub text: String,
    /// The published figure.
    pub published: Option<String>,
    /// The verdict.
    pub verdict: Verdict,
    /// The figures behind it, in words.
    pub words: String,
    /// The figure of arm B against that of arm A; null where A's is 0, and for a bound.
    #[serde(default)]
    pub ratio: Option<f64>,
    /// The reason why nothing is concluded; null where something is.
    #[serde(default)]
    pub reason: Option<String>,
    /// The predictor's answer, where this machine cannot judge; null where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prediction: Option<PredictionRecord>,
}

/// The predictor's answer to a claim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PredictionRecord {
    /// Predicted, or predicted otherwise.
    pub verdict: Verdict,
    /// Its intervals with the published figures, in words.
    pub words: String,
}

impl PanelRecord {
    /// A figure of one arm at one number of sessions; `None` without a run.
    pub fn spread(&self, arm: usize, sessions: usize, metric: &Metric) -> Option<Spread> {
        let cell = self.cells.iter().find(|cell| cell.arm == arm && cell.sessions == sessions)?;
        Spread::of(cell.runs.iter().map(|run| metric.of(run)))
    }

    /// The part by which two arms with the same settings differ; 0 where there is no such pair.
    pub fn twin_difference(&self, sessions: usize, metric: &Metric) -> f64 {
        let pair = self.arms.iter().enumerate().find_map(|(place, arm)| Some((arm.twin_of?, place)));
        let both = pair.and_then(|(one, other)| {
            Some((self.spread(one, sessions, metric)?.median, self.spread(other, sessions, metric)?.median))
        });
        both.map_or(0.0, |(one, other)| (one - other).abs() / one.abs().max(other.abs()).max(f64::MIN_POSITIVE))
    }

    /// True when there is a profile of a run.
    pub fn has_samples(&self) -> bool {
        self.cells.iter().flat_map(|cell| &cell.runs).any(|run| !run.samples.is_empty())
    }

    /// What is drawn of the runs that there are: figures of profiles need one.
    pub fn charted(&self) -> impl Iterator<Item = &Metric> {
        let has_samples = self.has_samples();
        self.charts.iter().filter(move |metric| has_samples || !metric.needs_profile())
    }

    /// The reason why an arm's runs say nothing about tables in memory: the server has made ordinary ones. `None` where it has not.
    pub(super) fn not_in_memory(&self, arm: usize) -> Option<String> {
        let asked = |run: &RunRecord| run.table.as_deref().is_some_and(|table| table != TableKind::Disk.name());
        let runs = self.cells.iter().filter(|cell| cell.arm == arm).flat_map(|cell| &cell.runs);
        let is_ordinary = runs.into_iter().any(|run| asked(run) && run.memory_optimized == Some(false));
        let name = || self.arms.get(arm).map_or("?", |arm| arm.name.as_str());
        is_ordinary.then(|| format!("{}: this build has made an ordinary table", name()))
    }

    /// True when other processes were busy in most of an arm's runs.
    pub(super) fn is_noisy(&self, arm: usize, sessions: usize) -> bool {
        let cell = self.cells.iter().find(|cell| cell.arm == arm && cell.sessions == sessions);
        cell.is_some_and(|cell| cell.runs.iter().filter(|run| run.noisy).count() * 2 > cell.runs.len())
    }
}

impl Outcome {
    pub(super) fn format() -> u32 {
        FORMAT
    }

    /// Runs during which other processes used more of the machine than a figure bears.
    pub fn noisy_runs(&self) -> usize {
        self.runs().filter(|run| run.noisy).count()
    }

    /// All runs.
    pub fn runs(&self) -> impl Iterator<Item = &RunRecord> {
        self.panels.iter().flat_map(|panel| panel.cells.iter()).flat_map(|cell| cell.runs.iter())
    }

    /// Reads an outcome from its JSON.
    ///
    /// # Errors
    /// When the file is not there, or is not one.
    pub fn read(path: &Path) -> Result<Self, ExperimentError> {
        let file = |why: String| ExperimentError::File { path: path.display().to_string(), why };
        let text = std::fs::read_to_string(path).map_err(|error| file(error.to_string()))?;
        let read: Result<Outcome, _> = serde_json::from_str(&text);
        match read {
            Ok(outcome) if outcome.format == FORMAT => Ok(outcome),
            Ok(outcome) => Err(file(format!("it has format {}; this build reads format {FORMAT}", outcome.format))),
            Err(error) => Err(file(format!("it is no outcome of an experiment: {error}"))),
        }
    }

    /// The JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("an outcome is plain data")
    }
}
