//! `pikepole passwd`: sets a login's password in a folder that no server has open.

use super::{CommandError, DataFolder, password};
use pikepole::Options;
use pikepole_engine::{LoginPrincipal, Server};
use std::io::{BufRead, Write};
use std::process::ExitCode;
use std::sync::Arc;

/// Whose password to set, and where.
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    /// The login
    #[arg(default_value = "sa")]
    login: String,
    #[command(flatten)]
    folder: DataFolder,
}

const HELP: &str = "\
The password is asked for twice at a terminal, else it is the first line of standard input.
The folder must not be open elsewhere; where a server runs, ALTER LOGIN ... WITH PASSWORD
does the same. Who may write the folder needs no other password.

Exit status: 0 it is set, 1 it is not.

Examples:
  pikepole passwd -d ./data
  pikepole passwd ann -d ./data < password.txt";

/// Sets the password.
pub fn run(arguments: &Arguments) -> Result<ExitCode, CommandError> {
    if !arguments.folder.data.join(pikepole_engine::MASTER).is_dir() {
        let text = format!("{} is no folder of databases: `pikepole serve` makes one", arguments.folder.data.display());
        return Err(CommandError::Usage(text));
    }
    let server = Server::open(Options::new(&arguments.folder.data).into_server_options())?;
    let done = set(&server, &arguments.login);
    let closed = server.schedulers().block_on(server.shutdown());
    server.schedulers().shutdown();
    done?;
    closed.map_err(|error| CommandError::Engine(error.into()))?;
    let mut out = std::io::stdout();
    writeln!(out, "the password of {} is set", arguments.login).map_err(CommandError::io("standard output"))?;
    Ok(ExitCode::SUCCESS)
}

fn set(server: &Arc<Server>, name: &str) -> Result<(), CommandError> {
    let failed = |error: pikepole::SqlError| CommandError::Engine(error.into());
    let logins = server.logins().map_err(failed)?;
    let unknown = || CommandError::Usage(format!("there is no login {name}"));
    let login = LoginPrincipal::find(&logins, name).ok_or_else(unknown)?;
    let password = new_password(&login.name)?;
    server.schedulers().block_on(server.change_password(login.id, &password)).map_err(failed)
}

/// A password that is not empty.
fn new_password(name: &str) -> Result<String, CommandError> {
    let none = || CommandError::Usage("no password was given, so it stays as it is".to_owned());
    if password::can_ask() {
        return password::ask_new(name, "it stays as it is")?.ok_or_else(none);
    }
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).map_err(CommandError::io("standard input"))?;
    let password = line.trim_end_matches(['\r', '\n']);
    if password.is_empty() { Err(none()) } else { Ok(password.to_owned()) }
}
