//! `pikepole check`: verifies a folder of databases while no engine has it open.

use super::CommandError;
use std::path::PathBuf;
use std::process::ExitCode;

/// What to check.
#[derive(clap::Args)]
pub struct Arguments {
    /// The folder of databases (the one given to `-d` elsewhere)
    folder: PathBuf,
}

/// Prints what was looked at and every damage; status 1 on damage.
pub fn run(arguments: &Arguments) -> Result<ExitCode, CommandError> {
    let report = pikepole::check(&arguments.folder, &mut |progress| eprintln!("{progress}"))?;
    for line in &report.lines {
        println!("{line}");
    }
    for damage in &report.damage {
        println!("DAMAGE: {damage}");
    }
    if report.damage.is_empty() {
        println!("no damage found");
        return Ok(ExitCode::SUCCESS);
    }
    println!("{} damaged places", report.damage.len());
    Ok(ExitCode::FAILURE)
}
