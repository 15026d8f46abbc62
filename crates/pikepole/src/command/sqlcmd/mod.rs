//! `pikepole sqlcmd`, also by the name `sqlcmd`: the vendor's tool for scripts and health checks, as far as people and scripts rely on it.
//! `docs/use/sqlcmd.md` has each option and what became of it.
//!
//! ```text
//!   options ──▶ settings (variables) ──▶ connect ──▶ run: reader ──▶ batches, commands
//!                                                         printer ◀── events ◀── server
//!                                                         streams: results, errors, statistics
//! ```

mod connect;
mod deadline;
mod options;
mod printer;
mod run;
mod settings;
mod streams;
mod usage;
mod values;

use super::CommandError;
use options::Options;
use run::Tool;
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

/// The name that the binary can be called by.
pub const NAME: &str = "sqlcmd";
/// The folder of the vendor's tools before version 18.
const OLDER_FOLDER: &str = "mssql-tools";

/// Returns whether a program's name is sqlcmd's.
pub fn is_meant_by(program: &OsString) -> bool {
    Path::new(program).file_stem().is_some_and(|name| name == NAME)
}

/// Runs sqlcmd with the arguments behind its name; its exit status.
pub fn run(program: &OsString, arguments: Vec<OsString>) -> Result<ExitCode, CommandError> {
    let is_older_tool = Path::new(program).components().any(|part| part.as_os_str() == OLDER_FOLDER);
    let arguments: Result<Vec<String>, OsString> = arguments.into_iter().map(OsString::into_string).collect();
    let options = match arguments {
        Ok(arguments) => Options::parse(&arguments),
        Err(argument) => Err(format!("'{}': The argument is no text.", argument.display())),
    };
    let status = match options {
        Ok(options) if options.shows_usage => {
            let text =
                format!("Pikepole SQL command line tool\nVersion {}\n\n{}", env!("CARGO_PKG_VERSION"), usage::USAGE);
            std::io::stdout().write_all(text.as_bytes()).map_err(CommandError::io("standard output"))?;
            0
        }
        Ok(options) => Tool::run(options, is_older_tool)?,
        Err(wrong) => {
            complain(&format!("Sqlcmd: {wrong}\n"))?;
            1
        }
    };
    // The system passes the low byte on.
    Ok(ExitCode::from((status & 0xFF) as u8))
}

/// Reports something before there are streams.
fn complain(text: &str) -> Result<(), CommandError> {
    std::io::stderr().write_all(text.as_bytes()).map_err(CommandError::io("standard error"))
}
