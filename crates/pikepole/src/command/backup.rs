//! `pikepole backup` and `pikepole restore`: BACKUP DATABASE and RESTORE DATABASE of a folder or a server.

use super::output::{Format, Printer};
use super::session::{ServerArguments, Session};
use super::{CommandError, bracketed, quoted};
use pikepole::Options;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Where the databases are.
#[derive(clap::Args)]
struct Source {
    /// Folder of databases
    #[arg(
        short = 'd',
        long = "data",
        value_name = "FOLDER",
        default_value = "pikepole-data",
        conflicts_with = "server"
    )]
    data: PathBuf,
    #[command(flatten)]
    server: ServerArguments,
}

/// What to back up, and where to.
#[derive(clap::Args)]
#[command(after_help = BACKUP_HELP)]
pub struct BackupArguments {
    /// The database
    database: String,
    /// The file; with -S as the server sees it [without it: DATABASE.bak]
    file: Option<String>,
    /// Only the log since the last backup of it
    #[arg(long)]
    log: bool,
    /// Replaces the backups that are in the file; without it they stay and this one is added
    #[arg(long)]
    overwrite: bool,
    #[command(flatten)]
    source: Source,
}

/// What to restore, and as what.
#[derive(clap::Args)]
#[command(after_help = RESTORE_HELP)]
pub struct RestoreArguments {
    /// The file of backups; with -S as the server sees it
    file: String,
    /// The database [without it: the name in the backup]
    database: Option<String>,
    /// Replaces a database of this name
    #[arg(long)]
    replace: bool,
    #[command(flatten)]
    source: Source,
}

const BACKUP_HELP: &str = "\
It is BACKUP DATABASE, or BACKUP LOG with --log. Without -S no server may have the folder
open, and a relative name is of the current folder.

Exit status: 0 it is made, 1 it is not.

Examples:
  pikepole backup sales -d ./data
  pikepole backup sales /srv/backup/sales.bak --overwrite -d ./data
  pikepole backup sales sales.bak -S localhost -U sa --trust-server-certificate";

const RESTORE_HELP: &str = "\
It is RESTORE DATABASE of the newest backup of a whole database in the file. Logs, and points
of time, are restored by RESTORE LOG in T-SQL. Without -S no server may have the folder open.

Exit status: 0 it is restored, 1 it is not.

Examples:
  pikepole restore sales.bak -d ./data
  pikepole restore sales.bak sales_copy -d ./data
  pikepole restore sales.bak --replace -S localhost -U sa --trust-server-certificate";

/// Makes a backup.
pub fn backup(arguments: &BackupArguments) -> Result<ExitCode, CommandError> {
    let file = arguments.file.clone().unwrap_or_else(|| format!("{}.bak", arguments.database));
    let (mut session, file) = arguments.source.open(&file)?;
    let what = if arguments.log { "LOG" } else { "DATABASE" };
    let with = if arguments.overwrite { " WITH INIT" } else { "" };
    let sql = format!("BACKUP {what} {} TO DISK = {}{with}", bracketed(&arguments.database), quoted(&file));
    finish(session.print(&sql, 0, &mut Printer::new(Format::Table)), session)
}

/// Restores a database.
pub fn restore(arguments: &RestoreArguments) -> Result<ExitCode, CommandError> {
    let (mut session, file) = arguments.source.open(&arguments.file)?;
    let done = newest(&mut session, &file).and_then(|(position, own)| {
        let name = arguments.database.as_ref().unwrap_or(&own);
        if !arguments.replace {
            check_absent(&mut session, name)?;
        }
        let database = bracketed(name);
        let replace = if arguments.replace { ", REPLACE" } else { "" };
        let sql = format!("RESTORE DATABASE {database} FROM DISK = {} WITH FILE = {position}{replace}", quoted(&file));
        session.print(&sql, 0, &mut Printer::new(Format::Table))
    });
    finish(done, session)
}

/// The place in its file, and the database, of the newest backup of a whole database.
///
/// # Errors
/// There is none; the file is none of backups.
pub fn newest(session: &mut Session, file: &str) -> Result<(i32, String), CommandError> {
    let rows = session.query(&format!("RESTORE HEADERONLY FROM DISK = {}", quoted(file)))?;
    let mut found = None;
    for row in &rows {
        // 1 is the kind of a whole database.
        if row.get::<i32>("BackupType")? == 1 {
            found = Some((row.get("Position")?, row.get("DatabaseName")?));
        }
    }
    found.ok_or_else(|| CommandError::Usage(format!("{file}: no backup of a whole database is in it")))
}

/// Refuses the name of a database that is there: T-SQL replaces some of these unasked.
///
/// # Errors
/// It is there; the session's own.
pub fn check_absent(session: &mut Session, name: &str) -> Result<(), CommandError> {
    let rows = session.query(&format!("SELECT COUNT(*) AS n FROM sys.databases WHERE name = {}", quoted(name)))?;
    match rows.iter().next().map(|row| row.get::<i32>("n")).transpose()? {
        Some(0) => Ok(()),
        _ => Err(CommandError::Usage(format!("the database {name} is there already (`pikepole restore --replace`)"))),
    }
}

/// True when a database of this name is there and open.
///
/// # Errors
/// The session's own.
pub fn is_online(session: &mut Session, name: &str) -> Result<bool, CommandError> {
    let sql = format!("SELECT COUNT(*) AS n FROM sys.databases WHERE name = {} AND state = 0", quoted(name));
    let rows = session.query(&sql)?;
    Ok(rows.iter().next().map(|row| row.get::<i32>("n")).transpose()? == Some(1))
}

/// Closes the session, whatever has happened.
fn finish(done: Result<bool, CommandError>, session: Session) -> Result<ExitCode, CommandError> {
    let closed = session.close();
    let clean = done?;
    closed?;
    Ok(if clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl Source {
    /// A session where the databases are, and the file's name for T-SQL.
    fn open(&self, file: &str) -> Result<(Session, String), CommandError> {
        if let Some(server) = self.server.connect_options("pikepole backup")? {
            return Ok((Session::connect(&server)?, file.to_owned()));
        }
        let absolute = std::path::absolute(file).map_err(CommandError::io(file))?;
        let options = Options::new(&self.data).create(false).on_recovery(super::show_recovery);
        let folder = absolute.parent().unwrap_or(Path::new("/"));
        Ok((Session::open(options.backup_folder(folder))?, absolute.display().to_string()))
    }
}
