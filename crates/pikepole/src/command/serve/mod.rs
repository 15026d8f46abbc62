//! `pikepole serve`: the network server.

mod config_file;
mod fresh;
mod init;
mod listen;
mod settings;
mod stop;

pub use listen::Listen;
pub use settings::given_password;
pub use stop::Stop;

use super::{CommandError, password};
use fresh::Fresh;
use init::{Init, State, Step};
use pikepole::Options;
use pikepole_engine::{OpenError, Server, ServerOptions};
use pikepole_machine::{Disk, FolderLock};
use pikepole_server::{Bound, LogFormat, NetworkServer, READY, TlsMode};
use pikepole_session::Registry;
use settings::Settings;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

/// The variable that holds the first password of `sa`.
pub const PASSWORD_VARIABLE: &str = "PIKEPOLE_SA_PASSWORD";

/// What to serve, where and how.
#[derive(clap::Args)]
#[command(after_help = HELP, args_override_self = true)]
pub struct Arguments {
    /// Folder of databases; made when it is not there [without it: pikepole-data]
    #[arg(short = 'd', long = "data", value_name = "FOLDER", env = "PIKEPOLE_DATA", hide_env_values = true)]
    data: Option<PathBuf>,
    /// Where clients connect: PORT, :PORT (every address), HOST:PORT, [ADDRESS]:PORT; may be given several times
    /// [without it: 127.0.0.1:1433]
    #[arg(long, value_name = "ADDRESS:PORT", env = "PIKEPOLE_LISTEN", hide_env_values = true, value_delimiter = ',')]
    listen: Vec<Listen>,
    /// Whether connections are encrypted [without it: optional]
    #[arg(long, value_enum, env = "PIKEPOLE_TLS", hide_env_values = true)]
    tls: Option<Encryption>,
    /// Certificate chain in PEM; without it a self-signed one is made at the first start
    #[arg(long, value_name = "FILE", requires = "key")]
    certificate: Option<PathBuf>,
    /// The certificate's private key in PEM
    #[arg(long, value_name = "FILE", requires = "certificate")]
    key: Option<PathBuf>,
    /// Scripts, programs and backups (.sql, .sql.gz, .sh, .bak), or a folder of them, that run once in a folder of databases, in the
    /// order of their names; may be given several times
    #[arg(long, value_name = "FILE|FOLDER", env = "PIKEPOLE_INIT", hide_env_values = true)]
    init: Vec<PathBuf>,
    /// A file of settings with the sections of mssql.conf; may be given several times
    #[arg(long, value_name = "FILE", env = "PIKEPOLE_CONFIG", hide_env_values = true)]
    config: Vec<PathBuf>,
    /// Where /healthz and /metrics are served, as plain HTTP
    #[arg(long, value_name = "ADDRESS:PORT", env = "PIKEPOLE_HEALTH", hide_env_values = true)]
    health: Option<SocketAddr>,
    /// How log lines look
    #[arg(long, value_enum, default_value = "human", env = "PIKEPOLE_LOG_FORMAT", hide_env_values = true)]
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
    /// A set of policies of the server for this run; --policy stands against it
    #[arg(long = "policies", value_name = "SET", value_enum)]
    set: Option<super::policies::SetChoice>,
    /// A policy of the server for this run; may be given several times
    #[arg(long = "policy", value_name = "NAME=VALUE")]
    policies: Vec<String>,
    /// Buffer pool of each database in megabytes at most [without it: what `max server memory (MB)` leaves]
    #[arg(long, value_name = "MB", value_parser = clap::value_parser!(u64).range(1..=1 << 24))]
    buffer_pool: Option<u64>,
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
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
PIKEPOLE_SA_PASSWORD, MSSQL_SA_PASSWORD or SA_PASSWORD; without that it is asked for at a
terminal, and elsewhere one is made and printed once.

Options win over PIKEPOLE_* variables, those over the MSSQL_* variables of SQL Server's image,
those over the file of --config, and that over pikepole.conf and mssql.conf in the folder of
databases. The log says which variables have no effect.

SIGTERM, SIGHUP and Ctrl-C end the server in order: running requests may finish, open
transactions are rolled back, the databases are closed. A first start that fails leaves no
folder.

Examples:
  PIKEPOLE_SA_PASSWORD='...' pikepole serve -d ./data
  pikepole serve --listen :1433 --tls required --certificate server.pem --key server.key
  pikepole serve -d ./data --init schema.sql --init ./testdata";

/// Serves until a signal asks for the end.
pub fn run(arguments: &Arguments) -> Result<ExitCode, CommandError> {
    let format = match arguments.log_format {
        Lines::Human => LogFormat::Human,
        Lines::Json => LogFormat::Json,
    };
    match (serve(arguments, format), format) {
        (Err(error), LogFormat::Json) => {
            pikepole_server::complain(format, true, &error.to_string());
            Ok(ExitCode::FAILURE)
        }
        (done, _) => done,
    }
}

fn serve(arguments: &Arguments, format: LogFormat) -> Result<ExitCode, CommandError> {
    if let Some(node) = arguments.numa_node {
        // Before the first thread starts: threads inherit it.
        super::numa::bind(node)?;
    }
    // Before the engine starts its threads: they are not to be interrupted.
    let stop = Stop::catch()?;
    let environment =
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let mut settings = Settings::gather(arguments, environment.collect())?;
    let (steps, notes) = init::steps(&arguments.init)?;
    settings.notes.extend(notes);
    // Before anything is made: a start that cannot succeed changes nothing.
    let mut bound = Bound::default();
    settings.listen.iter().try_for_each(|listen| listen.bind(settings.address, &mut bound))?;
    if let Some(health) = arguments.health {
        bound.add_health(health)?;
    }
    let network_options = network_options(arguments, &settings);
    pikepole_server::check_certificate(&network_options)?;
    let folders = Folders::take(&settings.data, settings.backups.as_deref())?;
    let start = Start { arguments, settings: &settings, steps: &steps, stop: &stop, format };
    let open = || start.open(&folders);
    let network = or_undo(&folders, format, open, |server| start.finish(server, bound, network_options))?;
    // From here on clients may have changed something: whatever comes, the folder stays.
    if let Err(error) = start.tell(&network) {
        network.shutdown().map_err(|error| CommandError::Engine(error.into()))?;
        return Err(error);
    }
    stop.wait();
    pikepole_server::notify::stopping("ending what runs, then closing the databases");
    network.shutdown().map_err(|error| CommandError::Engine(error.into()))?;
    Ok(ExitCode::SUCCESS)
}

/// Opens folders of databases and does what a start has to do with them. When one of the two fails, what it has made is gone again.
pub fn or_undo<T>(
    folders: &Folders,
    format: LogFormat,
    open: impl FnOnce() -> Result<Arc<Server>, CommandError>,
    finish: impl FnOnce(&Arc<Server>) -> Result<T, CommandError>,
) -> Result<T, CommandError> {
    let server = open().inspect_err(|_| folders.undo(format))?;
    finish(&server).inspect_err(|_| {
        let closed = server.schedulers().block_on(server.shutdown());
        server.schedulers().shutdown();
        if closed.is_ok() {
            folders.undo(format);
        }
    })
}

/// The folders of a start, which go again when it fails.
pub struct Folders {
    data: Fresh,
    /// The folders that backups need and that were not there. They have no lock, so only empty ones go.
    backups: Vec<PathBuf>,
}

impl Folders {
    /// Makes and locks the folder of databases; that of backups is made later.
    ///
    /// # Errors
    /// A folder that another server has, or that cannot be written.
    pub fn take(data: &Path, backups: Option<&Path>) -> Result<Folders, OpenError> {
        let backups = backups.map(fresh::missing).unwrap_or_default();
        Ok(Folders { data: Fresh::take(&Disk::real(), data)?, backups })
    }

    /// The lock of the folder of databases, for [`ServerOptions`].
    pub fn lock(&self) -> Arc<FolderLock> {
        self.data.lock()
    }

    /// Removes what a start that failed has made.
    pub fn undo(&self, format: LogFormat) {
        // A folder for backups may be within that of the databases, or that within it.
        for undone in [self.data.undo(), fresh::remove_empty(&self.backups)] {
            if let Err(error) = undone {
                let text = format!("what the start had made could not be removed: {error}");
                pikepole_server::complain(format, true, &text);
            }
        }
    }
}

/// A start under way.
struct Start<'a> {
    arguments: &'a Arguments,
    settings: &'a Settings,
    steps: &'a [Step],
    stop: &'a Stop,
    format: LogFormat,
}

impl Start<'_> {
    /// Opens the folder of databases.
    fn open(&self, folders: &Folders) -> Result<Arc<Server>, CommandError> {
        let (arguments, settings, format) = (self.arguments, self.settings, self.format);
        let mut options = Options::new(&settings.data).on_recovery(move |progress| {
            let line = super::recovery_line(progress);
            pikepole_server::complain(format, false, &line);
            pikepole_server::notify::starting(&line);
        });
        if let Some(megabytes) = &settings.memory_mb {
            options = options.policy("max server memory (MB)", megabytes);
        }
        for (name, value) in super::policies::policies(arguments.set, &arguments.policies)? {
            options = options.policy(&name, &value);
        }
        for flag in &arguments.trace_flags {
            options = options.trace_flag(*flag);
        }
        if let Some(megabytes) = arguments.buffer_pool {
            options = options.buffer_pool_bytes(megabytes << 20);
        }
        options = arguments.folders.add_to(options);
        if let Some(folder) = &settings.backups {
            options = options.backup_folder(folder);
        }
        let disk = Disk::real();
        if !State::read(&disk, &settings.data)?.is_finished() {
            let folders = self.steps.iter().filter_map(Step::backup_folder);
            options = folders.fold(options, Options::backup_folder);
        }
        let folder_lock = Some(folders.lock());
        let server = Server::open(ServerOptions { folder_lock, ..options.into_server_options() })?;
        if let Some(folder) = &settings.backups {
            disk.create_dir_all(folder).map_err(CommandError::io(folder.display().to_string()))?;
        }
        Ok(server)
    }

    /// Does what comes between an open folder and clients that may connect.
    fn finish(
        &self,
        server: &Arc<Server>,
        bound: Bound,
        options: pikepole_server::Options,
    ) -> Result<NetworkServer, CommandError> {
        let (settings, format) = (self.settings, self.format);
        // The folder is this process's own now.
        let log = pikepole_server::start_log(format, server.disk(), &settings.data);
        log.map_err(CommandError::io("the error log"))?;
        for note in &settings.notes {
            tracing::info!("{note}");
        }
        pikepole_server::log_machine(server);
        pikepole_server::log_open_modes(server);
        let registry = Registry::of_server(server);
        let had_password = server.has_sa_password();
        let given = settings.password.as_ref().map(|(_, password)| password.as_str());
        let made = first_password(server, given, password::can_ask())?;
        let mut network = NetworkServer::new(Arc::clone(server), Arc::clone(&registry), options)?;
        let init =
            Init { server, registry: &registry, network: &network, stop: self.stop, password: made.or_given(given) };
        init.run(settings.first.as_ref(), self.steps)?;
        self.stop.check()?;
        if let Some((variable, password)) = settings.password.as_ref().filter(|_| had_password) {
            warn_of_other_password(server, variable, password);
        }
        if let Made::Random(password) = &made {
            // A folder whose password was not printed would be locked for good.
            let line = format!("the password of sa is {password}");
            pikepole_server::announce(format, &line).map_err(CommandError::io("standard output"))?;
        }
        network.listen(bound)?;
        Ok(network)
    }

    /// Says that the server is ready, in all ways that somebody may wait for.
    fn tell(&self, network: &NetworkServer) -> Result<(), CommandError> {
        let written = || CommandError::io("standard output");
        for address in network.addresses() {
            pikepole_server::announce(self.format, &format!("listening at {address}")).map_err(written())?;
        }
        let addresses: Vec<_> = network.addresses().iter().map(ToString::to_string).collect();
        let addresses = addresses.join(", ");
        let (version, process) = (env!("CARGO_PKG_VERSION"), std::process::id());
        let folder = std::path::absolute(&self.settings.data).unwrap_or_else(|_| self.settings.data.clone());
        tracing::info!(
            target: READY,
            "SQL Server is now ready for client connections. This is an informational message; no user action is required."
        );
        tracing::info!(
            target: READY,
            "Pikepole {version}, process {process}, folder {}, listening at {addresses}: ready",
            folder.display()
        );
        // The last line: some wait for it alone.
        tracing::info!(
            target: READY,
            "Recovery is complete. This is an informational message only. No user action is required."
        );
        pikepole_server::notify::ready(&format!("listening at {addresses}"));
        Ok(())
    }
}

/// Says in the log that a password which was given is not the one that counts.
fn warn_of_other_password(server: &Arc<Server>, variable: &str, password: &str) {
    if !server.schedulers().block_on(server.is_password_of("sa", password)) {
        tracing::warn!(
            "sa cannot log in with the password of {variable}: this folder has another one, which stays; \
             `pikepole passwd` sets one while no server runs, ALTER LOGIN sa while one does"
        );
    }
}

fn network_options(arguments: &Arguments, settings: &Settings) -> pikepole_server::Options {
    pikepole_server::Options {
        tls: match settings.encryption {
            Encryption::Required => TlsMode::Required,
            Encryption::Optional => TlsMode::Optional,
            Encryption::Off => TlsMode::Off,
        },
        certificate: settings.certificate.clone(),
        key: settings.key.clone(),
        connections_max: arguments.connections,
        shutdown_time: Duration::from_secs(arguments.shutdown_seconds),
        password_policy: arguments.password_policy == Switch::On,
        ..pikepole_server::Options::new(&settings.data)
    }
}

/// What became of the first password of `sa`.
pub enum Made {
    /// It has one of an earlier start.
    Not,
    /// That of the environment.
    Given,
    Typed(String),
    Random(String),
}

impl Made {
    /// The password, as far as this start knows it; `given` is that of the environment.
    fn or_given<'a>(&'a self, given: Option<&'a str>) -> Option<&'a str> {
        match self {
            Made::Typed(password) | Made::Random(password) => Some(password),
            Made::Given | Made::Not => given,
        }
    }
}

/// Sets the password of `sa` at the first start: the one that is given, one that is asked for, one by chance.
///
/// # Errors
/// A password that the engine refuses; a terminal that ends.
pub fn first_password(server: &Arc<Server>, given: Option<&str>, asks: bool) -> Result<Made, CommandError> {
    if server.has_sa_password() {
        return Ok(Made::Not);
    }
    let set = |password: &str| server.set_sa_password(password).map_err(|error| CommandError::Engine(error.into()));
    if let Some(password) = given {
        return set(password).map(|()| Made::Given);
    }
    let typed = if asks { password::ask_new("sa", "one is made")? } else { None };
    match typed {
        Some(password) => set(&password).map(|()| Made::Typed(password)),
        None => {
            let password = random_password();
            set(&password).map(|()| Made::Random(password))
        }
    }
}

/// 24 letters and digits by chance.
fn random_password() -> String {
    const LETTERS: &[u8] = b"abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
    (0..24).map(|_| LETTERS[pikepole_server::random_below(LETTERS.len())] as char).collect()
}
