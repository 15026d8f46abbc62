//! `pikepole log`: dumps, statistics and checks of logs that are not opened, and the log's bench.

mod bench;
mod dump;
mod picture;
mod stat;
mod verify;

use super::CommandError;
use clap::Subcommand;
use pikepole_engine::LogView;
use pikepole_machine::Disk;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// What to do with logs.
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const HELP: &str = "\
dump, stat and verify read the files and change nothing, not even the lock file. A
folder that a server has open may be looked at too; they say so then, and show the log
as it was on disk at that moment.

Examples:
  pikepole log dump ./data --database stress --limit 20
  pikepole log stat ./data
  pikepole log verify ./data && echo sound
  pikepole log bench --json bench.json";

#[derive(Subcommand)]
enum Command {
    /// Show every record of a log: position, kind, transaction, table, fields
    Dump(dump::Arguments),
    /// Count records, bytes, blocks and padding, and draw the segments
    Stat(stat::Arguments),
    /// Read every block and record; tell the end, what lies behind it, and all damage
    Verify(verify::Arguments),
    /// Measure appends and durable commits of the log alone, against what the machine can do
    Bench(bench::Arguments),
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<ExitCode, CommandError> {
    match &arguments.command {
        Command::Dump(arguments) => dump::run(arguments),
        Command::Stat(arguments) => stat::run(arguments),
        Command::Verify(arguments) => verify::run(arguments),
        Command::Bench(arguments) => bench::run(arguments),
    }
}

/// Which logs.
#[derive(clap::Args)]
struct Which {
    /// The folder of databases (the one given to `-d` elsewhere)
    folder: PathBuf,
    /// The database; without it, all of them, or the only one
    #[arg(long, value_name = "NAME")]
    database: Option<String>,
}

impl Which {
    /// The databases asked for.
    fn databases(&self) -> Result<Vec<String>, CommandError> {
        let databases = LogView::databases(&Disk::real(), &self.folder)?;
        if databases.is_empty() {
            return Err(CommandError::Usage(format!("{} holds no databases", self.folder.display())));
        }
        match &self.database {
            None => Ok(databases),
            Some(name) if databases.iter().any(|database| database.eq_ignore_ascii_case(name)) => {
                Ok(vec![name.clone()])
            }
            Some(name) => Err(CommandError::Usage(format!(
                "{} holds no database {name}; it holds {}",
                self.folder.display(),
                databases.join(", ")
            ))),
        }
    }

    /// Looks at a log, and says on standard error when it is in use.
    fn look(&self, database: &str) -> Result<LogView, CommandError> {
        let view = LogView::open(&Disk::real(), &self.folder, database)?;
        if let Some(process) = view.in_use() {
            // Without a standard error there is nobody to tell.
            let _ = writeln!(
                std::io::stderr(),
                "{} is open in {process}: this is its log as it was on disk a moment ago",
                self.folder.display()
            );
        }
        Ok(view)
    }
}

/// A number of bytes for people.
fn size(bytes: u64) -> String {
    match bytes {
        0..=9_999 => format!("{bytes} B"),
        10_000..=9_999_999 => format!("{:.1} KB", bytes as f64 / 1024.0),
        _ => format!("{:.1} MB", bytes as f64 / 1_048_576.0),
    }
}
