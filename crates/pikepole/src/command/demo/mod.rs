//! `pikepole demo`: a server with a sample that a client has talked to, and how other clients reach it.
//!
//! ```text
//!   folder ─▶ engine ─▶ server on localhost ◀─ TDS in TLS ─ visit: our client, sample.sql, queries.sql
//!                                           ◀─ TDS in TLS ─ any driver, by the strings of `strings`
//! ```
//!
//! A password that the demo has made counts once it has been printed: a demo that fails before that leaves nothing in its folder.

mod report;
mod strings;
mod visit;

use super::serve::{self, Folders, Listen, Made, Stop};
use super::{CommandError, password};
use pikepole::Options;
use pikepole_contention::sync::Arc;
use pikepole_engine::{Server, ServerOptions};
use pikepole_server::{Bound, LogFormat, NetworkServer};
use pikepole_session::Registry;
use report::Report;
use std::io::{self, IsTerminal, Write};
use std::net::{IpAddr, Ipv4Addr};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;
use strings::Endpoint;

/// The addresses to listen at, the next one when one cannot be had.
const PLACES: [&str; 3] = ["localhost:1433", "localhost:0", "127.0.0.1:0"];

/// Where the databases are, and how long they are served.
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    /// Folder of databases, which stays [without it: a temporary one, removed at the end]
    #[arg(short = 'd', long = "data", value_name = "FOLDER")]
    data: Option<PathBuf>,
    /// Ends when everything is shown, as it does when standard output is no terminal
    #[arg(long, conflicts_with = "keep")]
    once: bool,
    /// Serves until Ctrl-C, as it does when standard output is a terminal
    #[arg(long)]
    keep: bool,
    /// One JSON object on a line of its own instead of text
    #[arg(long)]
    json: bool,
}

const HELP: &str = "\
It starts a server on localhost, at port 1433 or, when that is taken, at one that is free;
makes the database demo with four tables; connects over TDS and TLS as any driver does; runs
a query and a procedure; and prints what came back, the times, and connection strings for
sqlcmd, ODBC, JDBC, go-mssqldb, tedious, SqlClient, SQLAlchemy and tiberius.

The password of sa is made for the run, unless PIKEPOLE_SA_PASSWORD gives one. A folder that
has a password keeps it: PIKEPOLE_SA_PASSWORD must be that one, and is not printed.

Exit status: 0 when the queries were answered, also after Ctrl-C; 1 after an error.

Examples:
  pikepole demo
  pikepole demo -d ./data              the folder stays: pikepole serve -d ./data
  pikepole demo --json --keep          for a program, which ends it with SIGTERM";

/// Serves the sample and shows it.
pub fn run(arguments: &Arguments) -> Result<ExitCode, CommandError> {
    // Before the engine starts its threads: they are not to be interrupted.
    let stop = Stop::catch()?;
    let stays = arguments.keep || (!arguments.once && io::stdout().is_terminal());
    let place = Place::new(arguments.data.as_deref())?;
    serve_sample(arguments, &place, stays, &stop)?;
    let (folder, program) = (place.folder.display().to_string(), program());
    let kept = place.is_kept;
    place.remove()?;
    let end = match (arguments.json, kept) {
        (true, _) => return Ok(ExitCode::SUCCESS),
        (false, true) => format!("The server has ended. `{program} serve -d {folder}` serves the folder again."),
        (false, false) if stays => format!("The server has ended and {folder} is removed."),
        (false, false) => {
            format!("The server has ended and {folder} is removed. `{program} demo --keep` serves until Ctrl-C.")
        }
    };
    writeln!(io::stdout(), "{end}").map_err(CommandError::io("standard output"))?;
    Ok(ExitCode::SUCCESS)
}

/// Serves a folder until everything is shown, or until a signal.
fn serve_sample(arguments: &Arguments, place: &Place, stays: bool, stop: &Stop) -> Result<(), CommandError> {
    let begun = Instant::now();
    let folders = Folders::take(&place.folder, None)?;
    let open = || {
        let options = Options::new(&place.folder).on_recovery(super::show_recovery);
        Ok(Server::open(ServerOptions { folder_lock: Some(folders.lock()), ..options.into_server_options() })?)
    };
    let (server, network, login) = serve::or_undo(&folders, LogFormat::Human, open, |server| {
        let (network, login) = start(server, &place.folder)?;
        Ok((Arc::clone(server), network, login))
    })?;
    let shown = show(arguments, place, stays, stop, begun, &network, &login);
    if shown.is_ok() && stays {
        stop.wait();
    }
    let closed = network.shutdown().map_err(|error| CommandError::Engine(error.into()));
    if shown.is_err() && closed.is_ok() && login.is_made {
        // No other client knew the password.
        folders.undo(LogFormat::Human);
    }
    drop(server);
    shown.and(closed)
}

/// The password of `sa`.
struct Login {
    password: String,
    /// It was made by this start, so it may be shown.
    is_made: bool,
}

/// Lets clients connect to an open folder.
fn start(server: &Arc<Server>, folder: &Path) -> Result<(NetworkServer, Login), CommandError> {
    pikepole_server::start_log_file(server.disk(), folder).map_err(CommandError::io("the error log"))?;
    let login = log_in(server, folder)?;
    let registry = Registry::of_server(server);
    let mut network = NetworkServer::new(Arc::clone(server), registry, pikepole_server::Options::new(folder))?;
    listen(&mut network)?;
    Ok((network, login))
}

/// The password of `sa`, which is made when the folder has none.
fn log_in(server: &Arc<Server>, folder: &Path) -> Result<Login, CommandError> {
    let given = serve::given_password();
    let made = serve::first_password(server, given.as_ref().map(|(_, password)| password.as_str()), false)?;
    let (password, whose) = match (made, given) {
        (Made::Random(password) | Made::Typed(password), _) => return Ok(Login { password, is_made: true }),
        (Made::Given, Some((_, password))) => return Ok(Login { password, is_made: false }),
        (_, Some((variable, password))) => (password, format!("that of {variable} is another one")),
        (_, None) if password::can_ask() => (password::ask("sa")?, "this is another one".to_owned()),
        (_, None) => (String::new(), format!("give it in {}", serve::PASSWORD_VARIABLE)),
    };
    match server.schedulers().block_on(server.is_password_of("sa", &password)) {
        true => Ok(Login { password, is_made: false }),
        false => {
            let folder = folder.display();
            let cure = format!("`{} passwd -d {folder}` sets one", program());
            Err(CommandError::Usage(format!("{folder} has a password of sa already, {whose}; {cure}")))
        }
    }
}

/// Listens at the first place that can be had.
fn listen(network: &mut NetworkServer) -> Result<(), CommandError> {
    let mut refused = None;
    for place in PLACES {
        let listen: Listen = place.parse().map_err(CommandError::Usage)?;
        let mut bound = Bound::default();
        let bind = listen.bind(IpAddr::V4(Ipv4Addr::LOCALHOST), &mut bound);
        match bind.and_then(|()| Ok(network.listen(bound)?)) {
            Ok(()) => return Ok(()),
            Err(error) => refused = Some(error),
        }
    }
    refused.map_or(Ok(()), Err)
}

/// Visits the server as a client, and prints what a person or a program wants to know of it.
fn show(
    arguments: &Arguments,
    place: &Place,
    stays: bool,
    stop: &Stop,
    begun: Instant,
    network: &NetworkServer,
    login: &Login,
) -> Result<(), CommandError> {
    let started = begun.elapsed();
    let port = network.addresses().first().map_or(pikepole_server::PORT, |address| address.port());
    let [certificate, _] = pikepole_server::own_pair_files(&place.folder);
    let visit = visit::visit(port, &login.password, &certificate, arguments.json, stop)?;
    let endpoint =
        Endpoint { port, password: login.is_made.then_some(login.password.as_str()), certificate: &certificate };
    let addresses = network.addresses();
    let (folder, is_kept) = (place.folder.as_path(), place.is_kept);
    let report = Report { endpoint, addresses, started, folder, is_kept, stays, visit: &visit, program: program() };
    let text = if arguments.json { report.json() } else { report.text() };
    let mut out = io::stdout();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(CommandError::io("standard output"))
}

/// What this program was called as, for commands to type.
fn program() -> String {
    std::env::args_os().next().map_or_else(|| "pikepole".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// The folder of databases.
struct Place {
    folder: PathBuf,
    is_kept: bool,
}

impl Place {
    /// The folder that is named, or a new one that only its owner may look into.
    fn new(named: Option<&Path>) -> Result<Place, CommandError> {
        let failed = |path: &Path| CommandError::io(path.display().to_string());
        if let Some(folder) = named {
            return Ok(Place { folder: std::path::absolute(folder).map_err(failed(folder))?, is_kept: true });
        }
        let number = pikepole_server::random_below(1 << 20);
        let folder = std::env::temp_dir().join(format!("pikepole-demo-{}-{number:05x}", std::process::id()));
        std::fs::DirBuilder::new().mode(0o700).create(&folder).map_err(failed(&folder))?;
        Ok(Place { folder, is_kept: false })
    }

    /// Removes what does not stay.
    fn remove(mut self) -> Result<(), CommandError> {
        if self.is_kept {
            return Ok(());
        }
        self.is_kept = true;
        std::fs::remove_dir_all(&self.folder).map_err(CommandError::io(self.folder.display().to_string()))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.is_kept {
            // What went wrong before is what has to be said.
            let _ = std::fs::remove_dir_all(&self.folder);
        }
    }
}
