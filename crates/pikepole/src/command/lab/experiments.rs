//! `pikepole lab list`, `run`, `compare` and `report`.

use super::{CommandError, say, seconds};
use pikepole::SystemFiles;
use pikepole_lab::experiment::{self, EXPERIMENTS, Experiment, ExperimentError, Machine, Outcome};
use pikepole_lab::page;
use pikepole_lab::predict::{self, Calibration, ClaimPredictions, Method};
use pikepole_lab::profile::Profiler;
use pikepole_lab::stress;
use pikepole_machine::interrupt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use pikepole_contention::sync::atomic::{AtomicBool, Ordering};

/// Exit status of a command that an interrupt has ended.
const INTERRUPTED: i32 = 130;

/// What to run, and how long.
#[derive(clap::Args)]
#[command(after_help = RUN_HELP)]
pub struct RunArguments {
    /// The experiments; `all` for all of them
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    /// Where pages, JSON and the databases of the runs go; the databases are removed
    #[arg(short = 'o', long, value_name = "FOLDER", default_value = "pikepole-lab")]
    out: PathBuf,
    /// Seconds of each run
    #[arg(long, default_value_t = 2.0, value_name = "SECONDS", allow_negative_numbers = true)]
    seconds: f64,
    /// Seconds before each run that do not count
    #[arg(long, default_value_t = 0.5, value_name = "SECONDS")]
    warm_up: f64,
    /// Runs of each arm at each number of sessions
    #[arg(long, default_value_t = 3, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=1000))]
    repeats: u16,
    /// Numbers of sessions in the place of the experiment's own, for what sweeps them
    #[arg(short = 'n', long, value_name = "N,N...", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(1..=10_000))]
    sessions: Option<Vec<u16>>,
    /// Megabytes of the table that large-pages scans, in the place of 4096; memory and disk must have room for them
    #[arg(long, value_name = "MB", value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    table_mb: Option<u32>,
    /// Rows of a statement of parallel-insert, in the place of the published 67108864; the disk must have room for those of some
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..=stress::PARALLEL_INSERT_ROWS))]
    insert_rows: Option<u64>,
    /// Sample where the process spends its CPU time: shares, flame graphs and callers, on the page and as files
    #[arg(long)]
    profile: bool,
}

const RUN_HELP: &str = "\
Each run has a fresh server and is warmed up; arms alternate within a repeat; the rows in
the table are counted after each run. Verdicts compare medians, and say that nothing can
be concluded when the runs of an arm differ by more than the arms do. Runs during which
other processes were busy are flagged: quiet the machine first.

For each experiment there is a page, NAME.html, that needs nothing but itself, and
NAME.json. Control-c ends the run under way and keeps what is done; a second one ends the
program.

Examples:
  pikepole lab run all
  pikepole lab run affinity -n 1,16,64 --seconds 5 --repeats 5
  pikepole lab run policies --seconds 0.2 --repeats 2     a quick look
  pikepole lab run large-pages --table-mb 512             on a machine with little memory
  pikepole lab run parallel-insert --insert-rows 1048576  on a machine with little disk
  pikepole lab run affinity --profile                     who spins, and for whom";

/// Which outcomes.
#[derive(clap::Args)]
pub struct CompareArguments {
    /// The JSON of A
    a: PathBuf,
    /// The JSON of B
    b: PathBuf,
}

/// Which outcomes.
#[derive(clap::Args)]
#[command(after_help = REPORT_HELP)]
pub struct ReportArguments {
    /// JSON files of outcomes; without them, all in the folder
    files: Vec<PathBuf>,
    /// Where the pages go
    #[arg(short = 'o', long, value_name = "FOLDER", default_value = "pikepole-lab")]
    out: PathBuf,
    /// The predictor's constants of this machine; where the file is not there yet, they are measured and written. Without it,
    /// calibration.json in the folder
    #[arg(long, value_name = "FILE", conflicts_with = "without_prediction")]
    calibration: Option<PathBuf>,
    /// Leave out what the predictor says about claims that this machine cannot judge
    #[arg(long)]
    without_prediction: bool,
}

const REPORT_HELP: &str = "\
Claims that this machine cannot judge are predicted for the published machine, from
constants that are measured here: some twenty seconds of probes and short runs, kept in
the folder for the next report. Run it when the machine has nothing else to do.

Examples:
  pikepole lab report
  pikepole lab report --calibration quiet.json   constants of a quieter hour
  pikepole lab report --without-prediction       pages only";

/// The file of the predictor's constants in a folder of outcomes.
const CALIBRATION: &str = "calibration.json";
/// Runs of each kind for them, and the time of each.
const CALIBRATION_REPEATS: usize = 3;
const CALIBRATION_TIME: Duration = Duration::from_millis(500);
/// Machines drawn for each interval, and the seed of their chances: those of `lab predict`.
const DRAWS: usize = 8;
const SEED: u64 = 1;

/// Shows the experiments.
pub fn list() -> Result<ExitCode, CommandError> {
    let mut text = String::new();
    for experiment in EXPERIMENTS {
        text.push_str(&format!("{}: {}\n  {}\n", experiment.name, experiment.title, experiment.question));
        for line in experiment.published {
            text.push_str(&format!("  published: {line}\n"));
        }
        text.push('\n');
    }
    say(text.trim_end())?;
    Ok(ExitCode::SUCCESS)
}

/// Runs experiments and writes their pages.
pub fn run(arguments: &RunArguments) -> Result<ExitCode, CommandError> {
    let experiments = named(&arguments.names)?;
    let stop = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&stop);
    // Before any other thread starts: they inherit that the signal is not theirs.
    let listening = interrupt::on_interrupt(move || {
        if seen.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED);
        }
        eprintln!("stopping; what is done is kept");
    });
    listening.map_err(CommandError::io("control-c"))?;
    let mut machine = Machine::read(&SystemFiles::below("/"))?;
    if let Some(megabytes) = arguments.table_mb {
        machine.table_bytes = u64::from(megabytes) << 20;
    }
    if let Some(rows) = arguments.insert_rows {
        machine.insert_rows = rows;
    }
    let mut sessions: Option<Vec<usize>> =
        arguments.sessions.as_ref().map(|counts| counts.iter().map(|count| usize::from(*count)).collect());
    if let Some(sessions) = &mut sessions {
        sessions.sort_unstable();
        sessions.dedup();
    }
    if !(0.0..3600.0).contains(&arguments.warm_up) {
        return Err(CommandError::Usage("--warm-up takes a number of seconds".to_string()));
    }
    let work = arguments.out.join(format!("work-{}", std::process::id()));
    let options = experiment::Options {
        folder: work.clone(),
        time: seconds("--seconds", arguments.seconds)?,
        warmup: Duration::from_secs_f64(arguments.warm_up),
        repeats: usize::from(arguments.repeats),
        sessions,
        profiler: arguments.profile.then(Profiler::new),
        stop: Arc::clone(&stop),
    };
    let result = run_each(&experiments, &machine, &options, &arguments.out);
    // A folder that cannot be removed is left behind; the outcomes matter more.
    let _ = std::fs::remove_dir_all(&work);
    result?;
    Ok(if stop.load(Ordering::Relaxed) { ExitCode::from(INTERRUPTED as u8) } else { ExitCode::SUCCESS })
}

fn run_each(
    experiments: &[&'static Experiment],
    machine: &Machine,
    options: &experiment::Options,
    out: &Path,
) -> Result<(), CommandError> {
    for experiment in experiments {
        if options.stop.load(Ordering::Relaxed) {
            break;
        }
        let outcome = experiment::run(experiment, machine, options)?;
        let page = write(out, &outcome)?;
        say(&format!("{}{}\n", page::summary(&outcome), page.display()))?;
    }
    Ok(())
}

fn named(names: &[String]) -> Result<Vec<&'static Experiment>, CommandError> {
    if names.iter().any(|name| name.eq_ignore_ascii_case("all")) {
        return Ok(EXPERIMENTS.iter().collect());
    }
    names.iter().map(|name| experiment::find(name).map_err(CommandError::from)).collect()
}

/// Writes the JSON, the page and the profiles of an outcome; the page's path.
fn write(out: &Path, outcome: &Outcome) -> Result<PathBuf, CommandError> {
    put(&out.join(format!("{}.json", outcome.experiment)), &outcome.to_json())?;
    let page = out.join(format!("{}.html", outcome.experiment));
    put(&page, &page::page(outcome))?;
    for (name, text) in page::profile_files(outcome) {
        put(&out.join(name), &text)?;
    }
    Ok(page)
}

fn put(path: &Path, text: &str) -> Result<(), CommandError> {
    std::fs::write(path, text).map_err(CommandError::io(path.display().to_string()))
}

/// Puts two outcomes side by side.
pub fn compare(arguments: &CompareArguments) -> Result<ExitCode, CommandError> {
    let (a, b) = (Outcome::read(&arguments.a)?, Outcome::read(&arguments.b)?);
    say(&experiment::compare(&a, &b)?)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the pages of outcomes again, the page over all of them, and the table of all published claims.
pub fn report(arguments: &ReportArguments) -> Result<ExitCode, CommandError> {
    let out = &arguments.out;
    let mut files = arguments.files.clone();
    if files.is_empty() {
        let listed = std::fs::read_dir(out).map_err(CommandError::io(out.display().to_string()))?;
        let paths = listed.filter_map(|entry| entry.ok().map(|entry| entry.path()));
        let is_outcome = |path: &PathBuf| {
            path.extension().is_some_and(|extension| extension == "json") && !path.ends_with(CALIBRATION)
        };
        files = paths.filter(is_outcome).collect();
        files.sort();
    }
    if files.is_empty() {
        return Err(CommandError::Usage(format!("{} holds no outcomes; `pikepole lab run` makes them", out.display())));
    }
    let outcomes: Result<Vec<Outcome>, ExperimentError> = files.iter().map(|file| Outcome::read(file)).collect();
    let mut outcomes = outcomes?;
    std::fs::create_dir_all(out).map_err(CommandError::io(out.display().to_string()))?;
    let predictions = if arguments.without_prediction { None } else { Some(predictions(arguments)?) };
    if let Some(predictions) = &predictions {
        outcomes.iter_mut().for_each(|outcome| experiment::predict_outcome(outcome, predictions));
    }
    for outcome in &outcomes {
        // A name out of a file becomes the name of a file: it must be one of ours.
        experiment::find(&outcome.experiment)?;
        say(&write(out, outcome)?.display().to_string())?;
    }
    let index = out.join("index.html");
    put(&index, &page::index(&outcomes, predictions.as_ref()))?;
    say(&index.display().to_string())?;
    let table = out.join("claims.md");
    put(&table, &experiment::claims_table(&outcomes, predictions.as_ref()))?;
    say(&table.display().to_string())?;
    Ok(ExitCode::SUCCESS)
}

/// The predictor's answers, from constants that are read, or measured and kept.
fn predictions(arguments: &ReportArguments) -> Result<ClaimPredictions, CommandError> {
    let path = arguments.calibration.clone().unwrap_or_else(|| arguments.out.join(CALIBRATION));
    let calibration = if path.exists() {
        Calibration::read(&path)?
    } else {
        let method = Method {
            folder: arguments.out.clone(),
            time: CALIBRATION_TIME,
            repeats: CALIBRATION_REPEATS,
            slow_device: None,
        };
        let made = predict::calibrate(&method, |step| eprintln!("{step}"))?;
        made.write(&path)?;
        made
    };
    eprintln!("predicting the published machine");
    Ok(ClaimPredictions::of(&calibration, DRAWS, SEED))
}
