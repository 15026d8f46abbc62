//! `pikepole serve`: the network server.

use super::{CommandError, password};
use pikepole::Options;
use pikepole_engine::Server;
use pikepole_server::{LogFormat, NetworkServer, TlsMode};
use pikepole_session::Registry;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// The variable that holds the first password of `sa`.
const PASSWORD_VARIABLE: &str = "PIKEPOLE_SA_PASSWORD";

/// What to serve, where and how.
#[derive(clap::Args)]
#[command(after_help = HELP, args_override_self = true)]
pub struct Arguments {
    /// Folder of databases; made when it is not there
    #[arg(short = 'd', long = "data", value_name = "FOLDER", default_value = "pikepole-data")]
    data: PathBuf,
    /// Where clients connect; may be given several times
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:1433")]
    listen: Vec<SocketAddr>,
    /// Whether connections are encrypted
    #[arg(long, value_enum, default_value = "optional")]
    tls: Encryption,
    /// Certificate chain in PEM; without it a self-signed one is made at the first start
    #[arg(long, value_name = "FILE", requires = "key")]
    certificate: Option<PathBuf>,
    /// The certificate's private key in PEM
    #[arg(long, value_name = "FILE", requires = "certificate")]
    key: Option<PathBuf>,
    /// Where /healthz and /metrics are served, as plain HTTP
    #[arg(long, value_name = "ADDRESS:PORT")]
    health: Option<SocketAddr>,
    /// How log lines look
    #[arg(long, value_enum, default_value = "human")]
    log_format: Lines,
    /// Connections at the same time
    #[arg(long, value_name = "COUNT", default_value_t = 4096)]
    connections: usize,
    /// Seconds that requests may still run when the server shuts down
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    shutdown_seconds: u64,
    /// Whether CHECK_POLICY, which logins have unless they are made without it, asks something of new passwords; off is for tests
    #[arg(long, value_enum, default_value = "on")]
    password_policy: Switch,
    /// A policy of the server for this run; may be given several times
    #[arg(long = "policy", value_name = "NAME=VALUE")]
    policies: Vec<String>,
    #[command(flatten)]
    folders: super::FileFolders,
    /// Binds the process to the CPUs and the memory of this NUMA node, as `pikepole lab topology` numbers the hardware's
    #[arg(long, value_name = "NODE")]
    numa_node: Option<usize>,
    /// A trace flag that is on from the start, such as 9038; may be given several times
    #[arg(short = 'T', value_name = "FLAG")]
    trace_flags: Vec<i32>,
}

/// On or off.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Switch {
    /// On
    On,
    /// Off
    Off,
}

/// How log lines look.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Lines {
    /// For people
    Human,
    /// One JSON object a line
    Json,
}

/// How connections are encrypted.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Encryption {
    /// Every connection is encrypted
    Required,
    /// As the client wishes; the login is encrypted whenever the client can
    Optional,
    /// Nothing is encrypted, passwords neither
    Off,
}

const HELP: &str = "\
The login `sa` may do everything. At the first start its password is taken from
PIKEPOLE_SA_PASSWORD; without that it is asked for at a terminal, and elsewhere one is made
and printed once.

SIGTERM, SIGHUP and Ctrl-C end the server in order: running requests may finish, open
transactions are rolled back, the databases are closed.

Examples:
  PIKEPOLE_SA_PASSWORD='...' pikepole serve -d ./data
  pikepole serve --listen 0.0.0.0:1433 --tls required --certificate server.pem --key server.key";

/// Serves until a signal asks for the end.
pub fn run(arguments: &Arguments) -> Result<ExitCode, CommandError> {
    if let Some(node) = arguments.numa_node {
        // Before the first thread starts: threads inherit it.
        super::numa::bind(node)?;
    }
    let (ask, asked) = mpsc::channel();
    // Before the engine starts its threads: they are not to be interrupted.
    pikepole_machine::interrupt::on_termination(move || {
        // A second signal changes nothing.
        let _ = ask.send(());
    })
    .map_err(CommandError::io("the signals"))?;
    let format = match arguments.log_format {
        Lines::Human => LogFormat::Human,
        Lines::Json => LogFormat::Json,
    };
    let mut options = Options::new(&arguments.data).on_recovery(tell_recovery);
    for (name, value) in super::stress::policies(&arguments.policies)? {
        options = options.policy(&name, &value);
    }
    for flag in &arguments.trace_flags {
        options = options.trace_flag(*flag);
    }
    options = arguments.folders.add_to(options);
    let server = Server::open(options.into_server_options())?;
    // The folder is this process's own now.
    pikepole_server::start_log(format, server.disk(), &arguments.data).map_err(CommandError::io("the error log"))?;
    pikepole_server::log_machine(&server);
    pikepole_server::log_open_modes(&server);
    let registry = Registry::of_server(&server);
    let password = first_password(&server)?;
    let network = NetworkServer::start(server, registry, network_options(arguments))?;
    let mut out = io::stdout();
    let written = || CommandError::io("standard output");
    for address in network.addresses() {
        writeln!(out, "listening at {address}").map_err(written())?;
    }
    if let Some(password) = password {
        writeln!(out, "the password of sa is {password}").map_err(written())?;
    }
    let addresses: Vec<_> = network.addresses().iter().map(ToString::to_string).collect();
    pikepole_server::notify::ready(&format!("listening at {}", addresses.join(", ")));
    // Whoever asks is never gone: its thread lives as long as the process.
    let _ = asked.recv();
    pikepole_server::notify::stopping("ending what runs, then closing the databases");
    network.shutdown().map_err(|error| CommandError::Engine(error.into()))?;
    Ok(ExitCode::SUCCESS)
}

/// Says how far a long recovery is, to systemd too.
fn tell_recovery(progress: &pikepole::RecoveryProgress) {
    super::show_recovery(progress);
    pikepole_server::notify::starting(&super::recovery_line(progress));
}

fn network_options(arguments: &Arguments) -> pikepole_server::Options {
    pikepole_server::Options {
        listen: arguments.listen.clone(),
        tls: match arguments.tls {
            Encryption::Required => TlsMode::Required,
            Encryption::Optional => TlsMode::Optional,
            Encryption::Off => TlsMode::Off,
        },
        certificate: arguments.certificate.clone(),
        key: arguments.key.clone(),
        health: arguments.health,
        connections_max: arguments.connections,
        shutdown_time: Duration::from_secs(arguments.shutdown_seconds),
        password_policy: arguments.password_policy == Switch::On,
        ..pikepole_server::Options::new(&arguments.data)
    }
}

/// Sets the password of `sa` at the first start; the password, when it was made here.
fn first_password(server: &Arc<Server>) -> Result<Option<String>, CommandError> {
    if server.has_sa_password() {
        return Ok(None);
    }
    let given = match std::env::var(PASSWORD_VARIABLE) {
        Ok(password) if !password.is_empty() => Some(password),
        _ if password::can_ask() => password::ask_new("sa")?,
        _ => None,
    };
    let set = |password: &str| server.set_sa_password(password).map_err(|error| CommandError::Engine(error.into()));
    match given {
        Some(password) => set(&password).map(|()| None),
        None => {
            let password = random_password();
            set(&password).map(|()| Some(password))
        }
    }
}

/// 24 letters and digits that nobody can guess.
fn random_password() -> String {
    const LETTERS: &[u8] = b"abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
    (0..24).map(|_| LETTERS[pikepole_server::random_below(LETTERS.len())] as char).collect()
}
