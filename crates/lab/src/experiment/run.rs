//! Running an experiment: warm-up, arms in turn, repeats; what is done is kept when it is stopped.

use super::instances::run_together;
use super::judge::judge;
use super::plan::{Arm, Experiment, Machine, Panel, Plan};
use super::record::{ArmRecord, Cell, ClaimRecord, Outcome, PanelRecord, RunRecord, Settings};
use super::{ExperimentError, environment, pressure};
use crate::profile::{Profile, Profiler};
use crate::progress::Bar;
use crate::stress::{self, Amount, Durability, StressError, TableKind, Workload};
use pikepole_contention::sync::Arc;
use pikepole_contention::sync::atomic::{AtomicBool, Ordering};
use pikepole_machine::SlowDevice;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

/// What starting and closing a server takes, about.
const START: Duration = Duration::from_millis(900);
/// Samples of a run for its time series.
const SAMPLES: u32 = 20;

/// How to run.
#[derive(Debug, Clone)]
pub struct Options {
    /// A folder for the databases of the runs; what is made in it is removed.
    pub folder: PathBuf,
    /// The time of a run.
    pub time: Duration,
    /// The time before it that does not count.
    pub warmup: Duration,
    /// Runs of each arm at each number of sessions.
    pub repeats: usize,
    /// Numbers of sessions in the place of the experiment's own, for panels that sweep them.
    pub sessions: Option<Vec<usize>>,
    /// Takes a profile of each run; `None`: none is taken.
    pub profiler: Option<Profiler>,
    /// Ends the experiment when it becomes true; what is done is kept.
    pub stop: Arc<AtomicBool>,
}

/// One run to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Step {
    panel: usize,
    arm: usize,
    sessions: usize,
}

/// The runs in their order: repeats outside, arms inside, backwards in every second repeat.
fn steps(plan: &Plan, repeats: usize) -> Vec<Step> {
    let mut steps = Vec::new();
    for repeat in 0..repeats {
        for (panel, of) in plan.panels.iter().enumerate() {
            for &sessions in &of.sessions {
                let arms = 0..of.arms.len();
                let forwards = arms.clone().map(|arm| Step { panel, arm, sessions });
                let backwards = arms.rev().map(|arm| Step { panel, arm, sessions });
                if repeat % 2 == 0 { steps.extend(forwards) } else { steps.extend(backwards) }
            }
        }
    }
    steps
}

/// Runs an experiment and judges its claims.
///
/// # Errors
/// When a run fails; the runs before it are lost then.
pub fn run(experiment: &'static Experiment, machine: &Machine, options: &Options) -> Result<Outcome, ExperimentError> {
    let mut plan = (experiment.plan)(machine);
    plan.panels.iter_mut().for_each(Panel::add_twin);
    if options.profiler.is_none() {
        plan.claims.retain(|claim| !claim.metric.needs_profile());
    }
    if let Some(sessions) = &options.sessions {
        for panel in plan.panels.iter_mut().filter(|panel| panel.sessions.len() > 1) {
            panel.sessions.clone_from(sessions);
        }
    }
    if let Some(why) = plan.refused {
        return Err(ExperimentError::Usage(format!("{} cannot be run here: {why}", experiment.name)));
    }
    let begun = Instant::now();
    let file = |error: std::io::Error| ExperimentError::File {
        path: options.folder.display().to_string(),
        why: error.to_string(),
    };
    std::fs::create_dir_all(&options.folder).map_err(file)?;
    let environment = environment::look(machine, &options.folder);
    let steps = steps(&plan, options.repeats);
    let planned = options.time + options.warmup + START;
    let mut bar = Bar::new(planned * steps.len() as u32);
    let mut panels: Vec<PanelRecord> = plan.panels.iter().map(panel_record).collect();
    let mut done = 0;
    for panel in plan.panels.iter().filter(|panel| panel.workload.keeps_its_table()) {
        bar.begin(&format!("{}: {}, making the table", experiment.name, panel.title));
        let made = make_table(panel, options);
        made.map_err(|error| ExperimentError::Run { experiment: experiment.name, arm: "the table".to_owned(), error })?;
    }
    for step in &steps {
        if options.stop.load(Ordering::Relaxed) {
            break;
        }
        let panel = &plan.panels[step.panel];
        let arm = &panel.arms[step.arm];
        bar.begin(&format!("{}: {}, {} sessions, {}", experiment.name, panel.title, step.sessions, arm.name));
        let run = one_run(panel, arm, step.sessions, options);
        let run =
            run.map_err(|error| ExperimentError::Run { experiment: experiment.name, arm: arm.name.clone(), error })?;
        let Some((run, profile)) = run else { break };
        bar.line(&format!(
            "{:>3}/{} {:<44} {:>3} sessions {:>12} rows/s{}",
            done + 1,
            steps.len(),
            format!("{} | {}", panel.title, arm.name),
            step.sessions,
            crate::show::grouped(run.rows_per_second as u64),
            if run.noisy { "  (other processes were busy)" } else { "" }
        ));
        run.refused_memory.iter().for_each(|refused| bar.line(&format!("        {refused}")));
        add(&mut panels[step.panel], step, run, profile);
        bar.end(planned);
        done += 1;
    }
    drop(bar);
    // A folder that cannot be removed is in the way of the next experiment, which will say so.
    let _ = std::fs::remove_dir_all(databases(options));
    let answers: Vec<ClaimRecord> = plan.questions.iter().map(|question| question.judge(&panels)).collect();
    let sentences = pressure::sentences(&answers);
    let claims = answers.into_iter().chain(plan.claims.iter().map(|claim| judge(claim, &panels))).collect();
    Ok(Outcome {
        format: Outcome::format(),
        experiment: experiment.name.to_owned(),
        title: experiment.title.to_owned(),
        question: experiment.question.to_owned(),
        published: experiment.published.iter().map(|line| (*line).to_owned()).collect(),
        shows: plan.shows,
        cannot: plan.cannot,
        settings: Settings {
            seconds: options.time.as_secs_f64(),
            warmup_seconds: options.warmup.as_secs_f64(),
            repeats: options.repeats,
        },
        environment,
        panels,
        claims,
        answers: sentences,
        complete: done == steps.len(),
        started: SystemTime::UNIX_EPOCH
            .elapsed()
            .map_or(0, |now| now.as_secs().saturating_sub(begun.elapsed().as_secs())),
        took_seconds: begun.elapsed().as_secs_f64(),
    })
}

fn device_words(device: Option<SlowDevice>) -> String {
    let Some(device) = device else { return String::new() };
    let rate = device.bytes_per_second.map_or_else(String::new, |rate| format!(" and {} MB/s", rate / 1_000_000));
    format!("acts a device of {} us a write{rate}", device.delay.as_micros())
}

/// The panels of a plan before their first run.
#[cfg(test)]
pub(crate) fn panel_records(plan: &Plan) -> Vec<PanelRecord> {
    plan.panels.iter().map(panel_record).collect()
}

fn panel_record(panel: &Panel) -> PanelRecord {
    let arm = |arm: &Arm| ArmRecord {
        name: arm.name.clone(),
        settings: arm.settings(),
        cpus: arm.cpus,
        twin_of: arm.twin_of,
    };
    let tables: Vec<TableKind> = panel.arms.iter().map(|arm| arm.table).collect();
    let mut tsql = panel.workload.tsql(&tables);
    for batch in panel.arms.iter().filter_map(|arm| arm.workload.as_ref()).flat_map(Workload::own_procedures) {
        if !tsql.contains(&batch) {
            tsql.push(batch);
        }
    }
    PanelRecord {
        title: panel.title.clone(),
        workload: panel.workload.name().to_owned(),
        durability: panel.durability.name().to_owned(),
        device: device_words(panel.slow_device),
        tsql: tsql.iter().map(|text| text.trim().to_owned()).collect(),
        sessions: panel.sessions.clone(),
        arms: panel.arms.iter().map(arm).collect(),
        charts: panel.charts.clone(),
        cells: Vec::new(),
    }
}

fn add(panel: &mut PanelRecord, step: &Step, run: RunRecord, profile: Option<Profile>) {
    let is_most = panel.sessions.last() == Some(&step.sessions);
    let place = panel.cells.iter().position(|cell| cell.arm == step.arm && cell.sessions == step.sessions);
    let place = place.unwrap_or_else(|| {
        panel.cells.push(Cell { arm: step.arm, sessions: step.sessions, runs: Vec::new(), profile: None });
        panel.cells.len() - 1
    });
    let cell = &mut panel.cells[place];
    cell.runs.push(run);
    if let (true, Some(profile)) = (is_most, profile) {
        cell.profile.get_or_insert_default().add(&profile);
    }
}

/// A run and its profile, if one was taken.
type Made = (RunRecord, Option<Profile>);

/// The folder of the servers of the runs.
fn databases(options: &Options) -> PathBuf {
    options.folder.join("databases")
}

/// Makes the table that all runs of a panel work on.
fn make_table(panel: &Panel, options: &Options) -> Result<(), StressError> {
    let folder = databases(options);
    // Left behind by runs that were killed.
    let _ = std::fs::remove_dir_all(&folder);
    let wanted = stress::Options {
        sessions: Vec::new(),
        workload: panel.workload.clone(),
        buffer_pool_bytes: panel.workload.buffer_pool_bytes(),
        ..stress::Options::new(&folder)
    };
    stress::run(&wanted, &mut Quiet).map(|_| ())
}

/// One run on a server of its own; `None` when it was stopped.
fn one_run(panel: &Panel, arm: &Arm, sessions: usize, options: &Options) -> Result<Option<Made>, StressError> {
    let folder = databases(options);
    let is_fresh = !panel.workload.keeps_its_table();
    if is_fresh {
        // Left behind by a run that was killed.
        let _ = std::fs::remove_dir_all(&folder);
    }
    // A table that is there already is not yet in memory: its first scan is warm-up, however short that is to be.
    let warmup = if is_fresh { options.warmup } else { options.warmup.max(Duration::from_millis(1)) };
    let wanted = stress::Options {
        sessions: vec![sessions],
        durabilities: vec![panel.durability],
        amount: Amount::Time(options.time),
        warmup: Some(warmup).filter(|time| !time.is_zero()),
        workload: arm.workload.as_ref().unwrap_or(&panel.workload).clone(),
        table: arm.table,
        buffer_pool_bytes: panel.workload.buffer_pool_bytes(),
        policies: arm.policies.clone(),
        trace_flags: arm.trace_flags.clone(),
        statements: arm.statements.clone(),
        slow_device: panel.slow_device,
        sample: Some(options.time / SAMPLES),
        profiler: options.profiler.clone(),
        stop: Some(Arc::clone(&options.stop)),
        ..stress::Options::new(&folder)
    };
    let runs = match arm.instances.as_slice() {
        [] => stress::run(&wanted, &mut Quiet),
        instances => run_together(&wanted, instances),
    };
    if is_fresh {
        // A folder that cannot be removed is in the way of the next run, which will say so.
        let _ = std::fs::remove_dir_all(&folder);
    }
    let made = |run: stress::Run| {
        let profile = run.profile.clone();
        (RunRecord::from(run), profile)
    };
    Ok(runs?.into_iter().find(|run| !run.interrupted).map(made))
}

/// The bar of the experiment says enough.
struct Quiet;

impl stress::Progress for Quiet {
    fn begin(&mut self, _run: usize, _of: usize, _durability: Durability, _sessions: usize) {}
    fn tick(&mut self, _rows: u64, _part: f64) {}
    fn end(&mut self, _run: &stress::Run) {}
}

#[cfg(test)]
pub(super) use tests::alone;

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
