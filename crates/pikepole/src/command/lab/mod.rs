//! `pikepole lab`: the machine as the engine sees it, probes of it, and the experiments.

mod experiments;
mod predict;
mod probes;
mod topology;

use super::CommandError;
use clap::Subcommand;
use pikepole_machine::SlowDevice;
use std::io::Write;
use std::process::ExitCode;

/// What to do in the lab.
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const HELP: &str = "\
topology, disk and cpu say what this machine is and can do. list and run are the
experiments: each asks one question about log contention, states what was published about
it and what this machine can show, runs its arms in turn, and says whether the shape was
seen - or that the noise is larger than the difference. predict says what a larger machine
would do.

Examples:
  pikepole lab topology --like 2x10x2   where things would run on 2 sockets of 10 cores
  pikepole lab disk -d /mnt/fast        durable writes of this disk
  pikepole lab list
  pikepole lab run affinity distance    pages and JSON in ./pikepole-lab
  pikepole lab compare before.json after.json
  pikepole lab predict --like 2x10x2 --clock 2.3";

#[derive(Subcommand)]
enum Command {
    /// Draw the machine: sockets, nodes, cores, and where schedulers and log writers run
    Topology(topology::Arguments),
    /// Measure durable writes, 1 to 32 at once, and sequential bandwidth of a disk
    Disk(probes::DiskArguments),
    /// Measure atomics, cache-line hand-off, wake-ups, memcpy and the TLB
    Cpu(probes::CpuArguments),
    /// Show the experiments: their questions and what was published
    List,
    /// Run experiments, and write a page and a JSON file for each
    Run(experiments::RunArguments),
    /// Put two outcomes of one experiment side by side
    Compare(experiments::CompareArguments),
    /// Write the pages of outcomes again, and a page over all of them
    Report(experiments::ReportArguments),
    /// Predict other machines by a model that is calibrated here, and check it
    Predict(predict::Arguments),
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<ExitCode, CommandError> {
    match &arguments.command {
        Command::Topology(arguments) => topology::run(arguments),
        Command::Disk(arguments) => probes::disk(arguments),
        Command::Cpu(arguments) => probes::cpu(arguments),
        Command::List => experiments::list(),
        Command::Run(arguments) => experiments::run(arguments),
        Command::Compare(arguments) => experiments::compare(arguments),
        Command::Report(arguments) => experiments::report(arguments),
        Command::Predict(arguments) => predict::run(arguments),
    }
}

/// The slower device that `US` or `US,MB` describes.
pub fn slow_device(text: Option<&str>) -> Result<Option<SlowDevice>, CommandError> {
    let Some(text) = text else { return Ok(None) };
    SlowDevice::parse(text).map(Some).ok_or_else(|| {
        let wanted =
            "--slow-disk takes microseconds of a write, at most 10000000, and after a comma megabytes a second";
        CommandError::Usage(format!("{wanted}, not `{text}`"))
    })
}

/// Writes a result to standard output.
fn say(text: &str) -> Result<(), CommandError> {
    writeln!(std::io::stdout().lock(), "{text}").map_err(CommandError::io("standard output"))
}

fn json(value: &impl serde::Serialize) -> Result<String, CommandError> {
    serde_json::to_string_pretty(value).map_err(|error| CommandError::io("JSON")(error.into()))
}

/// A number of seconds above zero.
fn seconds(option: &str, value: f64) -> Result<std::time::Duration, CommandError> {
    if value.is_finite() && value > 0.0 && value < 86_400.0 {
        return Ok(std::time::Duration::from_secs_f64(value));
    }
    Err(CommandError::Usage(format!("{option} takes a number above zero")))
}
