//! The command line: `pikepole sql | stress | check`.

mod command;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// A T-SQL database engine for insert-heavy transaction processing, whose log does not jam and which shows where it would.
#[derive(Parser)]
#[command(name = "pikepole", version, after_help = EXAMPLES)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  pikepole stress                              insert with 1 to 32 sessions, FULL and DELAYED, and show what waited
  pikepole stress --seconds 2 -n 8 --policy LOG_RESERVATION=SPINLOCK
  pikepole sql -d ./data                       a T-SQL shell on the databases in ./data
  pikepole sql -d ./data -i script.sql --csv   run a script, results as CSV
  pikepole sql -Q \"SELECT @@VERSION\"
  pikepole check ./data                        verify every page, tree and log block";

#[derive(Subcommand)]
enum Command {
    /// Run T-SQL: a script, a batch, or an interactive shell
    Sql(command::sql::Arguments),
    /// Drive load against an engine in this process and show rates, waits, latches and spinlocks
    Stress(command::stress::Arguments),
    /// Verify the files of a folder of databases: every page checksum, tree order, row counts and the log
    Check(command::check::Arguments),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match arguments.command {
        Command::Sql(arguments) => command::sql::run(&arguments),
        Command::Stress(arguments) => command::stress::run(&arguments),
        Command::Check(arguments) => command::check::run(&arguments),
    };
    match result {
        Ok(status) => status,
        Err(error) => {
            eprintln!("pikepole: {error}");
            ExitCode::FAILURE
        }
    }
}
