//! The command line: `pikepole demo | sql | sqlcmd | serve | ping | passwd | trust | backup | restore | stress | lab | log | check`.
//! By the name `sqlcmd` it is that command.

mod command;

use clap::{Parser, Subcommand};
use pikepole_machine::memory::CountingAllocator;
use std::ffi::OsString;
use std::io::Write;
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
  pikepole demo                        a server with a sample, a query's answer, how to connect
  pikepole stress                      insert with 1 to 32 sessions, see what waits
  pikepole stress --seconds 2 -n 8 --policy LOG_RESERVATION=SPINLOCK
  pikepole sql                         a T-SQL shell on ./pikepole-data
  pikepole sql -Q \"SELECT @@VERSION\"
  pikepole sql -d ./data -i script.sql --csv
  pikepole sqlcmd -C -U sa -Q \"SELECT 1\"   what health checks call sqlcmd for
  pikepole serve                       a server for SQL Server's clients on 127.0.0.1:1433
  pikepole backup sales -d ./data      a backup of the database sales, sales.bak
  pikepole check ./data                verify every page, tree and log block
  pikepole log stat ./data             what is in the logs, and a picture of their segments
  pikepole log bench                   measure the log alone against this machine
  pikepole lab run affinity            a published experiment on this machine, with a page

Nothing has to be set up: a folder of databases is made when it is not there, with
the database master in it. `pikepole <COMMAND> --help` has more on each command.";

#[derive(Subcommand)]
enum Command {
    /// Start a server with a sample, query it as a client, and show how drivers connect
    Demo(command::demo::Arguments),
    /// Run T-SQL: a script, a batch, or an interactive shell
    Sql(command::sql::Arguments),
    /// Run T-SQL on a server as the vendor's sqlcmd does; `sqlcmd -?` lists its options
    #[command(disable_help_flag = true)]
    Sqlcmd(SqlcmdArguments),
    /// Serve clients of SQL Server over the network
    Serve(command::serve::Arguments),
    /// Say whether a server answers
    Ping(command::ping::Arguments),
    /// Set a login's password in a folder that no server has open
    Passwd(command::passwd::Arguments),
    /// Make a certificate that clients accept, and the authority that signs it
    Trust(command::trust::Arguments),
    /// Back a database up
    Backup(command::backup::BackupArguments),
    /// Restore a database
    Restore(command::backup::RestoreArguments),
    /// Drive load against an engine in this process and show rates, waits, latches and spinlocks
    Stress(Box<command::stress::Arguments>),
    /// Look at the machine, probe it, and run the published experiments on it
    Lab(command::lab::Arguments),
    /// Look into the transaction logs of a folder of databases, or measure the log on this machine
    Log(command::log::Arguments),
    /// Verify the files of a folder of databases: every page checksum, tree order, row counts and the log
    Check(command::check::Arguments),
}

/// Options of one letter each, which sqlcmd reads itself.
#[derive(clap::Args)]
struct SqlcmdArguments {
    #[arg(value_name = "OPTIONS", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Counted, so that a server knows what it has and refuses what would be too much.
#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Ends with what is wrong with the command line, and with what does the same as a subcommand that there is not.
fn refuse(error: &clap::Error) -> ! {
    // Without a stream there is no place to say it.
    let _ = error.print();
    let word = match (error.kind(), error.get(clap::error::ContextKind::InvalidSubcommand)) {
        (clap::error::ErrorKind::InvalidSubcommand, Some(clap::error::ContextValue::String(word))) => Some(word),
        _ => None,
    };
    if let Some(instead) = word.and_then(|word| command::unknown::instead(word)) {
        let _ = writeln!(std::io::stderr(), "\n  instead: {instead}");
    }
    std::process::exit(error.exit_code())
}

fn main() -> ExitCode {
    // For the memory fuzz.
    #[cfg(debug_assertions)]
    if let Some(file) = std::env::var_os("UNASKED_MEMORY_FILE") {
        pikepole_machine::memory::audit_to(file.into());
    }
    // What a hash of a password or a large value took is not to stay with the process.
    pikepole_machine::allocator::give_large_blocks_back();
    let mut words = std::env::args_os();
    let program = words.next().unwrap_or_default();
    if command::sqlcmd::is_meant_by(&program) {
        return end(command::sqlcmd::run(&program, words.collect()));
    }
    let arguments = Arguments::try_parse().unwrap_or_else(|error| refuse(&error));
    end(match arguments.command {
        Command::Demo(arguments) => command::demo::run(&arguments),
        Command::Sql(arguments) => command::sql::run(&arguments),
        Command::Sqlcmd(arguments) => command::sqlcmd::run(&program, arguments.arguments),
        Command::Serve(arguments) => command::serve::run(&arguments),
        Command::Ping(arguments) => command::ping::run(&arguments),
        Command::Passwd(arguments) => command::passwd::run(&arguments),
        Command::Trust(arguments) => command::trust::run(&arguments),
        Command::Backup(arguments) => command::backup::backup(&arguments),
        Command::Restore(arguments) => command::backup::restore(&arguments),
        Command::Stress(arguments) => command::stress::run(&arguments),
        Command::Lab(arguments) => command::lab::run(&arguments),
        Command::Log(arguments) => command::log::run(&arguments),
        Command::Check(arguments) => command::check::run(&arguments),
    })
}

/// The exit status; an error is said.
fn end(result: Result<ExitCode, command::CommandError>) -> ExitCode {
    match result {
        Ok(status) => status,
        // Whoever read the output has seen enough.
        Err(error) if error.is_broken_pipe() => ExitCode::FAILURE,
        Err(error) => {
            // Without a standard error there is nobody to tell.
            let _ = writeln!(std::io::stderr(), "pikepole: {error}");
            ExitCode::FAILURE
        }
    }
}
