//! `pikepole lab predict`.

use super::{CommandError, json, say, seconds, slow_device};
use pikepole::SystemFiles;
use pikepole_lab::page;
use pikepole_lab::predict::{self, Calibration, Mask, Method, Prediction, Question, Target};
use pikepole_lab::probe::disk;
use pikepole_lab::stress::{Durability, PolicySet};
use pikepole_machine::{CpuLimits, Shape, Topology};
use std::path::PathBuf;
use std::process::ExitCode;

/// The machine of the published figures.
const PUBLISHED_SHAPE: &str = "2x10x2";
const PUBLISHED_GHZ: f64 = 2.3;
/// Its numbers of sessions; the last three are those of published points.
const PUBLISHED_SESSIONS: [usize; 9] = [1, 4, 8, 16, 24, 32, 36, 38, 40];

/// The machine that is asked about, and the source of its constants.
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    /// The machine: SOCKETSxCORESxTHREADS, or SOCKETSxNODESxCORESxTHREADS; without it, this one
    #[arg(long, value_name = "SHAPE")]
    like: Option<String>,
    /// Its clock in GHz; without it, its cores are as fast as those here
    #[arg(long, value_name = "GHZ", requires = "like", allow_negative_numbers = true)]
    clock: Option<f64>,
    /// Its log's device: microseconds of a durable write, and megabytes a second; without it, the disk of --folder
    #[arg(long, value_name = "US[,MB]")]
    disk: Option<String>,
    /// Numbers of sessions; without them 1, 2, 4 ... to twice its CPUs
    #[arg(short = 'n', long, value_name = "N,N...", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(1..=10_000))]
    sessions: Vec<u16>,
    /// Policies: classic, best, or both
    #[arg(long, value_name = "SET", default_value = "both", value_parser = ["classic", "best", "both"])]
    policies: String,
    /// Schedulers on all CPUs, on all but the log writers' core, or both
    #[arg(long, value_name = "MASK", default_value = "both", value_parser = ["default", "apart", "both"])]
    mask: String,
    /// When commits return: delayed, full, or both
    #[arg(long, value_name = "WHEN", default_value = "delayed", value_parser = ["delayed", "full", "both"])]
    durability: String,
    /// The published machine, 2x10x2 at 2.3 GHz, with the published figures beside their predictions
    #[arg(long, conflicts_with_all = ["like", "clock"])]
    published: bool,
    /// Check the model on this machine: calibrate with 1 CPU, predict 2, 4 ..., measure those, and show the errors
    #[arg(long, conflicts_with_all = ["like", "clock", "published", "sessions", "disk", "html", "calibration"])]
    validate: bool,
    /// Read the calibration from this file; where it is not there yet, calibrate and write it
    #[arg(long, value_name = "FILE")]
    calibration: Option<PathBuf>,
    /// A folder on the disk of the log; what the calibration makes there is removed
    #[arg(short = 'd', long, value_name = "FOLDER", default_value = ".")]
    folder: PathBuf,
    /// Seconds of each run of the calibration and of the check
    #[arg(long, default_value_t = 0.5, value_name = "SECONDS", allow_negative_numbers = true)]
    seconds: f64,
    /// Runs of each kind, of which the quickest counts
    #[arg(long, default_value_t = 3, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=1000))]
    repeats: u16,
    /// Machines drawn for each interval
    #[arg(long, default_value_t = 8, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=1000))]
    draws: u16,
    /// The seed of all chances: the same seed and calibration give the same prediction
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    seed: u64,
    /// Write a page with the curves
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

const HELP: &str = "\
A simulation of the way from an insert to the disk: sessions, schedulers, XDESMGR,
LOGCACHE_ACCESS, the ring, LOGFLUSHQ, log writers, device. Its constants are measured here
by probes and by runs of one session; what is not known of another machine is drawn from
published ranges, and each figure is an interval over the draws. docs/understand/predictor.md
says what is in it. The machine should have nothing else to do while it is measured.

Examples:
  pikepole lab predict                                   more sessions on this machine
  pikepole lab predict --like 2x32x2 --clock 3 -n 16,64,128 --html page.html
  pikepole lab predict --published --calibration here.json
  pikepole lab predict --validate                        is the model right on this machine?";

/// Predicts, or checks the predictor.
pub fn run(arguments: &Arguments) -> Result<ExitCode, CommandError> {
    // What is wrong with the question is said before anything is measured.
    let target = target(arguments)?;
    let sessions = sessions(arguments, &target);
    let calibration_of = method(arguments)?;
    let tell = |step: &str| eprintln!("{step}");
    if arguments.validate {
        let validation = predict::validate(&calibration_of, tell)?;
        say(&if arguments.json { json(&validation)? } else { validation.text() })?;
        return Ok(ExitCode::SUCCESS);
    }
    let calibration = calibration(arguments, &calibration_of)?;
    let question = Question {
        sessions,
        sets: PolicySet::ALL.into_iter().filter(|set| is_asked(&arguments.policies, set.name())).collect(),
        masks: [Mask::Default, Mask::Apart].into_iter().filter(|mask| is_asked(&arguments.mask, mask.name())).collect(),
        durabilities: [Durability::Delayed, Durability::Full]
            .into_iter()
            .filter(|durability| is_asked(&arguments.durability, &durability.name().to_ascii_lowercase()))
            .collect(),
        draws: usize::from(arguments.draws),
        seed: arguments.seed,
    };
    let curves = predict::answer(&calibration, &target, &question, tell);
    let figures = match arguments.published {
        true => {
            tell("the published figures");
            predict::figures(&calibration, &target, question.draws, question.seed)
        }
        false => Vec::new(),
    };
    let prediction = Prediction {
        machine: target.name,
        clock_ghz: target.clock_ghz,
        draws: question.draws,
        seed: question.seed,
        calibration,
        curves,
        figures,
    };
    if let Some(path) = &arguments.html {
        let written = std::fs::write(path, page::prediction_page(&prediction));
        written.map_err(CommandError::io(path.display().to_string()))?;
    }
    say(&if arguments.json { json(&prediction)? } else { prediction.text() })?;
    Ok(ExitCode::SUCCESS)
}

fn is_asked(asked: &str, name: &str) -> bool {
    asked == "both" || asked == name
}

fn target(arguments: &Arguments) -> Result<Target, CommandError> {
    let shape = if arguments.published { Some(PUBLISHED_SHAPE) } else { arguments.like.as_deref() };
    let clock_ghz = if arguments.published { Some(PUBLISHED_GHZ) } else { arguments.clock };
    if clock_ghz.is_some_and(|ghz| !(0.1..=100.0).contains(&ghz)) {
        return Err(CommandError::Usage("--clock takes GHz, 0.1 to 100".to_string()));
    }
    let files = match shape {
        None => SystemFiles::below("/"),
        Some(text) => {
            let shape = Shape::parse(text).ok_or_else(|| {
                let wanted = "--like takes a shape such as 2x10x2 or 2x4x6x2, of at most 4,096 CPUs";
                CommandError::Usage(format!("{wanted}, not `{text}`"))
            })?;
            SystemFiles::of_shape(&shape)
        }
    };
    let topology = Topology::of(&files).map_err(CommandError::io("the machine"))?;
    let usable = CpuLimits::of(&files).cpus(&topology);
    let device = match slow_device(arguments.disk.as_deref()) {
        Ok(device) => device,
        Err(_) => {
            let wanted = "--disk takes microseconds of a write, at most 10000000, and after a comma megabytes a second";
            return Err(CommandError::Usage(wanted.to_string()));
        }
    };
    let name = shape.map_or_else(|| "this machine".to_owned(), str::to_owned);
    Ok(Target { name, topology, usable, is_here: shape.is_none(), clock_ghz, device })
}

fn sessions(arguments: &Arguments, target: &Target) -> Vec<usize> {
    let mut sessions: Vec<usize> = arguments.sessions.iter().map(|count| usize::from(*count)).collect();
    if sessions.is_empty() && arguments.published {
        sessions.extend(PUBLISHED_SESSIONS);
    }
    if sessions.is_empty() {
        let most = 2 * target.usable.len();
        sessions.extend(std::iter::successors(Some(1), |count| Some(count * 2)).take_while(|count| *count < most));
        sessions.push(most);
    }
    sessions.sort_unstable();
    sessions.dedup();
    sessions
}

fn method(arguments: &Arguments) -> Result<Method, CommandError> {
    let folder = arguments.folder.clone();
    if !disk::is_folder(&folder) {
        return Err(CommandError::Usage(format!("{} is not a folder", folder.display())));
    }
    let (time, repeats) = (seconds("--seconds", arguments.seconds)?, usize::from(arguments.repeats));
    Ok(Method { folder, time, repeats, slow_device: None })
}

fn calibration(arguments: &Arguments, method: &Method) -> Result<Calibration, CommandError> {
    if let Some(path) = arguments.calibration.as_ref().filter(|path| path.exists()) {
        return Ok(Calibration::read(path)?);
    }
    let made = predict::calibrate(method, |step| eprintln!("{step}"))?;
    if let Some(path) = &arguments.calibration {
        made.write(path)?;
    }
    Ok(made)
}
