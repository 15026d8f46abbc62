//! `pikepole check`: verifies a folder of databases while no engine has it open.

use super::CommandError;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// What to check.
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    /// The folder of databases (the one given to `-d` elsewhere)
    folder: PathBuf,
}

const HELP: &str = "\
For each database of the folder it reads the log from its first block to its end,
replays what a crash left, and then verifies every page (its checksum, and that it
is the one that was written last), the order and the links of every tree, which
pages are in use, definitions, and rows against indexes, as DBCC CHECKDB does.
It prints what it looked at, and a line DAMAGE with the place for all that is wrong.

The folder must not be open elsewhere, and must be writable: its lock file is taken.
Exit status: 0 no damage, 1 damage, or the folder cannot be checked.

Example:
  pikepole check ./pikepole-data";

/// Prints what was looked at and every damage; status 1 on damage.
pub fn run(arguments: &Arguments) -> Result<ExitCode, CommandError> {
    let mut tell = |database: &str| {
        // Progress is for whoever watches; without a standard error nobody does.
        let _ = writeln!(std::io::stderr(), "checking {database}");
    };
    let report = pikepole::check(&arguments.folder, &mut tell)?;
    if report.lines.is_empty() && report.damage.is_empty() {
        return Err(CommandError::Usage(format!("{} holds no databases", arguments.folder.display())));
    }
    print(&report).map_err(CommandError::io("standard output"))?;
    Ok(if report.damage.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn print(report: &pikepole::CheckReport) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    for line in &report.lines {
        writeln!(out, "{line}")?;
    }
    for damage in &report.damage {
        writeln!(out, "DAMAGE: {damage}")?;
    }
    match report.damage.len() {
        0 => writeln!(out, "no damage found"),
        1 => writeln!(out, "1 damaged place"),
        count => writeln!(out, "{count} damaged places"),
    }
}
