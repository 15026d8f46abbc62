//! The commands, one module each.

pub mod backup;
pub mod check;
pub mod demo;
mod folders;
pub mod lab;
pub mod log;
mod numa;
mod output;
mod pager;
pub mod passwd;
mod password;
pub mod ping;
pub mod policies;
mod progress;
mod script;
pub mod serve;
mod session;
mod shell;
pub mod sql;
pub mod sqlcmd;
pub mod stress;
mod terminal;
pub mod trust;
pub mod unknown;
mod view;

pub use folders::{DataFolder, FileFolders};

/// A text of T-SQL.
fn quoted(text: &str) -> String {
    format!("N'{}'", text.replace('\'', "''"))
}

/// A name of T-SQL.
fn bracketed(name: &str) -> String {
    format!("[{}]", name.replace(']', "]]"))
}

/// Says on standard error how far a long recovery is.
fn show_recovery(progress: &pikepole::RecoveryProgress) {
    eprintln!("{}", recovery_line(progress));
}

/// Says on standard error which databases have no reserved pages although they were asked for.
fn show_refused_memory(engine: &pikepole::Engine) {
    for memory in engine.memory().iter().filter(|memory| memory.is_refused()) {
        eprintln!("{memory}");
    }
}

fn recovery_line(progress: &pikepole::RecoveryProgress) -> String {
    let percent = progress.bytes_done * 100 / progress.bytes.max(1);
    let rate = progress.bytes_done as f64 / 1e6 / progress.elapsed.as_secs_f64().max(1e-3);
    let megabytes = progress.bytes as f64 / 1e6;
    format!("recovering {}: {percent}% of {megabytes:.0} MB, {rate:.0} MB/s", progress.database)
}

/// Why a command ended.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// The engine refused something.
    #[error(transparent)]
    Engine(#[from] pikepole::Error),
    /// A server refused something, or cannot be reached.
    #[error("{}", session::worded(.0))]
    Client(#[from] pikepole_client::ClientError),
    /// The server could not start.
    #[error(transparent)]
    Serve(#[from] pikepole_server::StartError),
    /// The load driver stopped.
    #[error("{}", of_stress(.0))]
    Stress(#[from] pikepole_lab::stress::StressError),
    /// The log's bench stopped.
    #[error(transparent)]
    LogBench(#[from] pikepole_lab::log_bench::LogBenchError),
    /// An experiment stopped, or is none.
    #[error(transparent)]
    Experiment(#[from] pikepole_lab::experiment::ExperimentError),
    /// A prediction could not be made.
    #[error(transparent)]
    Predict(#[from] pikepole_lab::predict::PredictError),
    /// A folder or a log in it could not be looked at.
    #[error(transparent)]
    Look(#[from] pikepole_engine::OpenError),
    /// A log could not be read.
    #[error(transparent)]
    Log(#[from] pikepole_log::LogError),
    /// A file or the terminal could not be used.
    #[error("{what}: {error}")]
    Io {
        /// The file or stream.
        what: String,
        /// What the system said.
        error: std::io::Error,
    },
    /// The terminal's line editor failed.
    #[error("line editor: {0}")]
    Terminal(#[from] rustyline::error::ReadlineError),
    /// The command line asks for something that cannot be.
    #[error("{0}")]
    Usage(String),
}

/// The load driver's error; that of its connection has the options of this program.
fn of_stress(error: &pikepole_lab::stress::StressError) -> String {
    match error {
        pikepole_lab::stress::StressError::Client(error) => session::worded(error),
        other => other.to_string(),
    }
}

impl CommandError {
    /// Whether the reader at the other end of a pipe has gone, as with `| head`.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, CommandError::Io { error, .. } if error.kind() == std::io::ErrorKind::BrokenPipe)
    }

    /// For `map_err`: names the file or stream that failed.
    pub fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> CommandError {
        let what = what.into();
        move |error| CommandError::Io { what, error }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_recovery_shows_database_part_and_rate() {
        let elapsed = Duration::from_secs(2);
        let database = "sales".to_string();
        let progress =
            pikepole::RecoveryProgress { database, bytes: 4_000_000_000, bytes_done: 1_000_000_000, elapsed };
        assert_eq!(recovery_line(&progress), "recovering sales: 25% of 4000 MB, 500 MB/s");
    }
}
