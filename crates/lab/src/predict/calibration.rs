//! Calibration: the probes, and short runs of one session on one CPU, give the model's constants.
//!
//! An insert's CPU is what is left of the time of a row, delayed durability, when the locks' parts are taken off. A durable commit's is the
//! further CPU time of the process; what is then left of the time of a durable row, without the wake-ups, is the write. Log bytes and the
//! log writers' CPU are the runs' own. Runs of the policy sets and durabilities take turns; the quickest of each kind counts.

use super::layout::{Homes, Mask, layout};
use super::model::{CommitBy, Constants, Handoff, Layout, Policies, Scenario};
use super::probes::{self, Probes};
use crate::stress::{self, Amount, Durability, PolicySet, Progress, Run, StressError};
use pikepole_machine::{CpuLimits, SlowDevice, SystemFiles, Topology};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The format of a file of calibration.
const FORMAT: u32 = 1;
/// Bytes that may be in the ring before appends are refused: half of it (docs/understand/log.md).
const RING_BYTES: f64 = (16 << 20) as f64;

/// Why a prediction ended.
#[derive(Debug, thiserror::Error)]
pub enum PredictError {
    /// A run failed.
    #[error(transparent)]
    Run(#[from] StressError),
    /// A probe failed, or the machine could not be read.
    #[error("{0}: {1}")]
    Machine(&'static str, io::Error),
    /// A file could not be read or written, or is no calibration.
    #[error("{path}: {why}")]
    File {
        /// The file.
        path: String,
        /// The fault that was found.
        why: String,
    },
}

/// The figures of runs of one session under one set of policies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SetCosts {
    /// Nanoseconds of a row, delayed durability.
    pub delayed_row_ns: f64,
    /// Nanoseconds of a row, full durability.
    pub full_row_ns: f64,
    /// CPU time of the process for a row, full durability, beyond that of a row, delayed durability.
    pub commit_cpu_ns: f64,
    /// Bytes of log of a row.
    pub log_bytes: f64,
    /// CPU time beside the session's own, for each byte of log: log writers, checkpoints.
    pub background_byte_ns: f64,
}

/// All that a prediction needs to know of the machine that it was made on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// The file's format.
    pub format: u32,
    /// The processor's name.
    pub processor: String,
    /// Its clock, in GHz; 0 where the system does not say.
    pub clock_ghz: f64,
    /// CPUs that the process could use.
    pub cpus: usize,
    /// CPU of other processes meanwhile, in percent of the machine: the most of all runs.
    pub other_cpu_percent: f64,
    /// The probes.
    pub probes: Probes,
    /// Everything classic.
    pub classic: SetCosts,
    /// Everything as it is by default.
    pub best: SetCosts,
}

/// How to calibrate and to validate.
#[derive(Debug, Clone)]
pub struct Method {
    /// A folder on the disk of the log; what is made there is removed.
    pub folder: PathBuf,
    /// The time of each run.
    pub time: Duration,
    /// Runs of each kind, of which the quickest counts.
    pub repeats: usize,
    /// A slower device to act.
    pub slow_device: Option<SlowDevice>,
}

/// Rates and counts of the runs of one kind.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Measured {
    /// Rows a second.
    pub rows_per_second: f64,
    /// Collisions of XDESMGR, LOGCACHE_ACCESS and LOGFLUSHQ for a thousand rows.
    pub collisions_per_1000: [f64; 3],
    /// Bytes of log of a row.
    pub log_bytes: f64,
    /// CPU of the process for a row, in nanoseconds.
    pub cpu_ns: f64,
    /// CPU of other processes, in percent of the machine.
    pub other_cpu_percent: f64,
}

struct Silent;

impl Progress for Silent {
    fn begin(&mut self, _run: usize, _of: usize, _durability: Durability, _sessions: usize) {}
    fn tick(&mut self, _rows: u64, _part: f64) {}
    fn end(&mut self, _run: &Run) {}
}

/// Runs the singleton inserts once, on these CPUs, for each durability and number of sessions, in a folder that is removed.
pub(super) fn run_once(
    method: &Method,
    set: PolicySet,
    cpus: &[usize],
    sessions: &[usize],
) -> Result<Vec<(Durability, usize, Measured)>, StressError> {
    let folder = method.folder.join(format!("pikepole-predict-{}", std::process::id()));
    let options = stress::Options {
        sessions: sessions.to_vec(),
        durabilities: vec![Durability::Delayed, Durability::Full],
        amount: Amount::Time(method.time),
        policy_set: Some(set),
        cpus: Some(cpus.to_vec()),
        slow_device: method.slow_device,
        warmup: Some(method.time / 2),
        ..stress::Options::new(&folder)
    };
    let runs = stress::run(&options, &mut Silent);
    // The figures matter more than a folder that cannot be removed.
    let _ = std::fs::remove_dir_all(&folder);
    let of = |run: Run| {
        let durability = if run.durability == Durability::Full.name() { Durability::Full } else { Durability::Delayed };
        (durability, run.sessions, measured(&run))
    };
    Ok(runs?.into_iter().map(of).collect())
}

fn measured(run: &Run) -> Measured {
    let rows = run.rows.max(1) as f64;
    let collisions = |name: &str| {
        let row = run.statistics.spinlocks.iter().find(|row| row.name == name);
        row.map_or(0.0, |row| row.collisions as f64 * 1000.0 / rows)
    };
    Measured {
        rows_per_second: run.rows_per_second,
        collisions_per_1000: ["XDESMGR", "LOGCACHE_ACCESS", "LOGFLUSHQ"].map(collisions),
        log_bytes: run.log_bytes as f64 / rows,
        cpu_ns: run.cpu_seconds * 1e9 / rows,
        other_cpu_percent: run.other_cpu_percent.unwrap_or(0.0),
    }
}

/// The middle of figures.
pub(super) fn median(figures: impl IntoIterator<Item = f64>) -> f64 {
    let mut figures: Vec<f64> = figures.into_iter().collect();
    figures.sort_unstable_by(f64::total_cmp);
    match figures.len() {
        0 => 0.0,
        count if count % 2 == 1 => figures[count / 2],
        count => (figures[count / 2 - 1] + figures[count / 2]) / 2.0,
    }
}

/// The quickest of runs of one kind: whatever disturbs a run makes it slower. What others used is the most of all.
pub(super) fn quickest(runs: &[Measured]) -> Measured {
    let rate = |run: &&Measured| run.rows_per_second;
    let quickest = runs.iter().max_by(|a, b| rate(a).total_cmp(&rate(b))).copied().unwrap_or_default();
    Measured { other_cpu_percent: runs.iter().map(|run| run.other_cpu_percent).fold(0.0, f64::max), ..quickest }
}

/// The CPUs that this process may use, and the machine.
pub(super) fn here() -> Result<(Topology, Vec<usize>), PredictError> {
    let files = SystemFiles::below("/");
    let topology = Topology::of(&files).map_err(|error| PredictError::Machine("the machine", error))?;
    let usable = CpuLimits::of(&files).cpus(&topology);
    Ok((topology, usable))
}

/// Runs of one kind.
pub(super) struct Kind {
    pub cpus: usize,
    pub set: PolicySet,
    pub durability: Durability,
    pub sessions: usize,
    pub runs: Vec<Measured>,
}

/// Probes the machine, and runs one session on its first CPU, and as many CPUs and sessions besides as `further` names. All take
/// turns in each repeat, so that a busy minute meets all kinds of runs.
pub(super) fn measure(
    method: &Method,
    further: &[(usize, Vec<usize>)],
    tell: &mut impl FnMut(&str),
) -> Result<(Calibration, Vec<Kind>), PredictError> {
    let (_, usable) = here()?;
    let probe_time = (method.time / 10).max(Duration::from_millis(1));
    let mut found: Option<Probes> = None;
    let mut kinds: Vec<Kind> = Vec::new();
    let one = [(1, vec![1])];
    for repeat in 0..method.repeats.max(1) {
        tell(&format!("probing CPUs and disk, {} of {}", repeat + 1, method.repeats));
        let probes = probes::measure(&method.folder, method.slow_device, probe_time)
            .map_err(|error| PredictError::Machine("the probes", error))?;
        found = Some(found.map_or(probes.clone(), |found| found.quicker(&probes)));
        for (cpus, sessions) in one.iter().chain(further) {
            for set in PolicySet::ALL {
                tell(&format!("{cpus} CPU, {}, {} of {}", set.name(), repeat + 1, method.repeats));
                for (durability, sessions, run) in run_once(method, set, &usable[..*cpus], sessions)? {
                    let same = |kind: &&mut Kind| {
                        (kind.cpus, kind.set, kind.durability, kind.sessions) == (*cpus, set, durability, sessions)
                    };
                    match kinds.iter_mut().find(same) {
                        Some(kind) => kind.runs.push(run),
                        None => kinds.push(Kind { cpus: *cpus, set, durability, sessions, runs: vec![run] }),
                    }
                }
            }
        }
    }
    let alone = |set: PolicySet, durability: Durability| {
        let kind = kinds.iter().find(|kind| (kind.cpus, kind.set, kind.durability) == (1, set, durability));
        kind.map(|kind| quickest(&kind.runs)).unwrap_or_default()
    };
    let costs = |set| set_costs(&alone(set, Durability::Delayed), &alone(set, Durability::Full));
    let others = kinds.iter().filter(|kind| kind.cpus == 1).flat_map(|kind| &kind.runs);
    let (processor, clock_ghz) = processor();
    let calibration = Calibration {
        format: FORMAT,
        processor,
        clock_ghz,
        cpus: usable.len(),
        other_cpu_percent: others.map(|run| run.other_cpu_percent).fold(0.0, f64::max),
        probes: found.ok_or_else(|| PredictError::Machine("the probes", io::ErrorKind::NotFound.into()))?,
        classic: costs(PolicySet::Classic),
        best: costs(PolicySet::Best),
    };
    kinds.retain(|kind| kind.cpus > 1);
    Ok((calibration, kinds))
}

/// Probes the machine and runs one session on its first CPU.
///
/// # Errors
/// [`PredictError`].
pub fn calibrate(method: &Method, mut tell: impl FnMut(&str)) -> Result<Calibration, PredictError> {
    measure(method, &[], &mut tell).map(|(calibration, _)| calibration)
}

fn set_costs(delayed: &Measured, full: &Measured) -> SetCosts {
    // A neighbour's time on the CPU is in the clock's time, and the log writer's in the process's: the less is nearer.
    let row_ns = 1e9 / delayed.rows_per_second.max(1.0);
    let delayed_row_ns = if delayed.cpu_ns > 0.0 { row_ns.min(delayed.cpu_ns) } else { row_ns };
    let beside = (delayed.cpu_ns - delayed_row_ns).max(0.0);
    SetCosts {
        delayed_row_ns,
        full_row_ns: 1e9 / full.rows_per_second.max(1.0),
        commit_cpu_ns: (full.cpu_ns - delayed.cpu_ns).max(0.0),
        log_bytes: delayed.log_bytes.max(1.0),
        background_byte_ns: beside / delayed.log_bytes.max(1.0),
    }
}

/// The processor's name and its clock in GHz.
fn processor() -> (String, f64) {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let value = |key: &str| {
        let line = text.lines().find(|line| line.starts_with(key))?;
        line.split_once(':').map(|(_, value)| value.trim().to_owned())
    };
    let megahertz = value("cpu MHz").and_then(|value| value.parse::<f64>().ok()).unwrap_or(0.0);
    (value("model name").unwrap_or_else(|| "unknown".to_owned()), megahertz / 1e3)
}

impl Calibration {
    /// Reads one that was written by [`write`](Self::write).
    ///
    /// # Errors
    /// When the file is not there or holds something else.
    pub fn read(path: &Path) -> Result<Self, PredictError> {
        let file = |why: String| PredictError::File { path: path.display().to_string(), why };
        let text = std::fs::read(path).map_err(|error| file(error.to_string()))?;
        let found: Self =
            serde_json::from_slice(&text).map_err(|error| file(format!("it is no calibration: {error}")))?;
        if found.format != FORMAT {
            return Err(file(format!("it is a calibration of format {}, not {FORMAT}", found.format)));
        }
        Ok(found)
    }

    /// Writes it as JSON.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), PredictError> {
        let file = |why: String| PredictError::File { path: path.display().to_string(), why };
        let text = serde_json::to_vec_pretty(self).map_err(|error| file(error.to_string()))?;
        std::fs::write(path, text).map_err(|error| file(error.to_string()))
    }

    /// The policies of a set, as this engine has them.
    pub fn policies(set: PolicySet) -> Policies {
        match set {
            PolicySet::Classic => Policies::classic(),
            PolicySet::Best => Policies::best(),
        }
    }

    /// The constants of this machine under a set of policies. What the model adds by itself is taken off the measured times.
    pub fn constants(&self, set: PolicySet) -> Constants {
        let probes = &self.probes;
        let costs = if set == PolicySet::Classic { &self.classic } else { &self.best };
        let policies = Self::policies(set);
        let mut constants = Constants {
            insert_ns: 0.0,
            commit_ns: 0.0,
            // A transaction of one row is one record (ARCHITECTURE.md).
            records: 1,
            log_bytes: costs.log_bytes,
            id_hold_ns: probes.id_hold_ns,
            cache_hold_ns: probes.cache_hold_ns,
            queue_hold_ns: probes.queue_hold_ns,
            // As the code lays them out: XDESMGR's numbers are beside its word; `reserved`, and the list's memory, are not.
            lines_held: [0.0, 1.0, 1.0],
            add_ns: probes.add_ns,
            growth_ns: probes.growth_ns,
            handoff: Handoff { core_ns: probes.handoff_ns, socket_ns: probes.handoff_ns, far_ns: probes.handoff_ns },
            pause_ns: probes.pause_ns,
            yield_ns: probes.yield_ns,
            sleep_ns: probes.sleep_ns,
            wake_ns: probes.wake_ns,
            waker_ns: probes.waker_ns,
            busy_wake_ns: probes.busy_wake_ns,
            slice_ns: probes.busy_wake_p99_ns.max(100e3),
            block_ns: probes.write_cpu_ns,
            byte_ns: costs.background_byte_ns.max(probes.seal_byte_ns),
            together: probes.together,
            sibling: 1.0,
            device: probes.device,
            ring_bytes: RING_BYTES,
        };
        let bare = |constants: &Constants, full_durability: bool| Scenario {
            layout: Layout { cpus: Vec::new(), schedulers: vec![0], writers: Vec::new() },
            constants: constants.clone(),
            policies,
            full_durability,
            sessions: 1,
            rows: 1,
            spread: 0.0,
            seed: 0,
        };
        constants.insert_ns = (costs.delayed_row_ns - bare(&constants, false).service_ns()).max(1.0);
        let is_woken = policies.commit_by == CommitBy::LogWriter;
        let (wakes, wakers) = if is_woken { (constants.wake_ns, constants.waker_ns) } else { (0.0, 0.0) };
        constants.commit_ns = (costs.commit_cpu_ns - constants.block_ns - 2.0 * wakers).max(0.0);
        // What is left of a durable row is the write as the log meets it; not less than alone.
        let around = bare(&constants, true).service_ns() + constants.block_ns + 2.0 * wakes;
        constants.device.write_ns = (costs.full_row_ns - around).max(constants.device.write_ns);
        constants
    }
}

/// The CPUs `usable` of this machine under a set of policies, as this engine places its threads.
pub(super) fn own_layout(topology: &Topology, usable: &[usize], set: PolicySet, mask: Mask) -> Layout {
    let mut nodes: Vec<usize> =
        topology.cpus.iter().filter(|cpu| usable.contains(&cpu.id)).map(|cpu| cpu.node).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let writers = match set {
        PolicySet::Classic => 1,
        PolicySet::Best => (2 * nodes.len()).min(usable.len()).clamp(1, 8),
    };
    layout(topology, usable, mask, Homes::Free, writers)
}

#[cfg(test)]
pub(super) fn example() -> Calibration {
    let costs = |delayed_row_ns, full_row_ns| SetCosts {
        delayed_row_ns,
        full_row_ns,
        commit_cpu_ns: 25e3,
        log_bytes: 60.0,
        background_byte_ns: 1.0,
    };
    Calibration {
        format: FORMAT,
        processor: "example".to_owned(),
        clock_ghz: 2.6,
        cpus: 2,
        other_cpu_percent: 0.0,
        probes: Probes {
            id_hold_ns: 8.0,
            cache_hold_ns: 12.0,
            queue_hold_ns: 25.0,
            add_ns: 5.0,
            handoff_ns: 60.0,
            growth_ns: 0.0,
            pause_ns: 15.0,
            yield_ns: 400.0,
            sleep_ns: 120e3,
            wake_ns: 35e3,
            waker_ns: 8e3,
            busy_wake_ns: 500e3,
            busy_wake_p99_ns: 3e6,
            seal_byte_ns: 0.2,
            write_cpu_ns: 12e3,
            together: 0.95,
            device: DeviceTimes { write_ns: 120e3, gap_ns: 22e3, byte_ns: 0.4 },
        },
        classic: costs(800.0, 230e3),
        best: costs(650.0, 140e3),
    }
}

#[cfg(test)]
use super::model::DeviceTimes;

#[cfg(test)]
mod tests {
    use super::super::model::simulate;
    use super::*;

    #[test]
    fn a_calibration_is_read_as_it_was_written_and_nothing_else_is() {
        let path = std::env::temp_dir().join(format!("pikepole-calibration-{}.json", std::process::id()));
        let calibration = example();
        calibration.write(&path).expect("it is written");
        assert_eq!(Calibration::read(&path).expect("it is read"), calibration);
        std::fs::write(&path, "{\"format\":1}").expect("a file");
        let error = Calibration::read(&path).expect_err("it is none").to_string();
        assert!(error.contains("it is no calibration"), "{error}");
        std::fs::remove_file(&path).expect("it is there");
        assert!(Calibration::read(&path).is_err());
    }

    #[test]
    fn one_session_on_one_cpu_is_predicted_as_it_was_measured() {
        let calibration = example();
        let (topology, usable) = here().expect("a machine");
        for set in PolicySet::ALL {
            for full_durability in [false, true] {
                // A second CPU for the log writer, as where it was measured.
                let mut layout = own_layout(&topology, &usable[..1], set, Mask::Default);
                layout.cpus.push(layout.cpus[0]);
                let run = Scenario {
                    layout,
                    constants: calibration.constants(set),
                    policies: Calibration::policies(set),
                    full_durability,
                    sessions: 1,
                    rows: if full_durability { 3_000 } else { 100_000 },
                    spread: 0.3,
                    seed: 3,
                };
                let costs = if set == PolicySet::Classic { &calibration.classic } else { &calibration.best };
                let row_ns = if full_durability { costs.full_row_ns } else { costs.delayed_row_ns };
                let found = 1e9 / simulate(&run).rows_per_second;
                // The log writer at work beside it costs a little.
                assert!((found / row_ns - 1.0).abs() < 0.06, "{set:?} {full_durability}: {found} {row_ns}");
            }
        }
    }

    #[test]
    fn medians_are_in_the_middle() {
        assert_eq!((median([3.0, 1.0, 2.0]), median([4.0, 1.0]), median([])), (2.0, 2.5, 0.0));
    }
}
