//! The network server: TDS connections, TLS, logins, requests.
//!
//! ```text
//!   listener ──socket──▶ a task on the scheduler with the fewest
//!                          login: PRELOGIN, TLS, LOGIN7
//!                          then the session's task, on the same scheduler:
//!                            Incoming ──message──▶ request ──▶ Session ──▶ Reply ──▶ Sender
//!                               └── while it runs: attention, end of the stream ──▶ cancel switch
//! ```
//!
//! A connection's task owns its socket and its session: between a packet and the rows it asks for lies no other thread. Sockets
//! are driven by the runtime of the task's own scheduler.

mod bound;
mod bulk;
mod call_clock;
mod connection;
mod cursor;
mod cursor_writes;
mod cursors;
mod error_log;
mod health;
mod incoming;
mod listener;
mod lobby;
mod login;
mod mars;
pub mod notify;
mod options;
mod procedures;
mod reply;
mod requests;
mod sent_columns;
mod tls;
mod transport;

#[cfg(test)]
mod start_tests;

pub use bound::Bound;
pub use error_log::{LogFormat, READY, announce, complain, start_log, start_log_file};
pub use options::{Options, PORT, TlsMode};
pub use tls::{make_authority, make_signed_pair, own_pair_files};

use lobby::Lobby;
use pikepole_contention::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use pikepole_engine::Server;
use pikepole_scheduler::JoinHandle;
use pikepole_session::{ConnectionInfo, Registry};
use pikepole_types::SqlError;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tls::TlsSettings;

/// Why a server could not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// An address could not be listened at.
    #[error("{address} cannot be listened at: {error}{}", cure(.error))]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        error: std::io::Error,
    },
    /// The certificate or its key is not usable.
    #[error("TLS: {0}")]
    Tls(String),
}

/// What helps where an address cannot be listened at.
fn cure(error: &std::io::Error) -> &'static str {
    match error.kind() {
        std::io::ErrorKind::AddrInUse => "; another server has the port: end it, or give another one with --listen",
        std::io::ErrorKind::PermissionDenied => "; ports below 1024 are the system's: give another one with --listen",
        std::io::ErrorKind::AddrNotAvailable => "; this machine does not have the address",
        _ => "",
    }
}

/// What all connections share.
struct Shared {
    server: Arc<Server>,
    registry: Arc<Registry>,
    options: Options,
    tls: Option<TlsSettings>,
    /// How many there are.
    connections: AtomicUsize,
    /// Those that have not logged in.
    lobby: Arc<Lobby>,
    closing: AtomicBool,
}

impl Shared {
    fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Relaxed)
    }
}

/// A running network server over an open folder of databases.
pub struct NetworkServer {
    shared: Arc<Shared>,
    addresses: Vec<SocketAddr>,
    health: Option<SocketAddr>,
    listeners: Vec<JoinHandle<()>>,
}

/// Connections before their login are at most this part of all.
const LOBBY_PART: usize = 4;
/// How often a shutdown looks whether the sessions have ended.
const SHUTDOWN_LOOK: Duration = Duration::from_millis(2);
/// How long sessions may take to end once their requests are cancelled.
const CANCELLED_TIME: Duration = Duration::from_secs(5);

impl NetworkServer {
    /// Listens at the addresses of the options.
    ///
    /// # Errors
    /// An address that cannot be listened at; a certificate that cannot be used or made.
    pub fn start(server: Arc<Server>, registry: Arc<Registry>, options: Options) -> Result<NetworkServer, StartError> {
        let bound = Bound::of(&options)?;
        let mut network = NetworkServer::new(server, registry, options)?;
        network.listen(bound)?;
        Ok(network)
    }

    /// A server that does not listen yet.
    ///
    /// # Errors
    /// A certificate that cannot be used or made.
    pub fn new(server: Arc<Server>, registry: Arc<Registry>, options: Options) -> Result<NetworkServer, StartError> {
        let tls = match options.tls {
            TlsMode::Off => None,
            _ => {
                let (certificate, key) = (options.certificate.as_deref(), options.key.as_deref());
                Some(TlsSettings::load(server.disk(), certificate, key, &options.folder)?)
            }
        };
        let connections = AtomicUsize::new(0);
        registry.log_into(|session, text| tracing::info!(session, "{text}"));
        if !options.password_policy {
            registry.take_any_password();
        }
        let (lobby, closing) = (Arc::new(Lobby::new(options.connections_max / LOBBY_PART)), AtomicBool::new(false));
        let shared = Arc::new(Shared { server, registry, options, tls, connections, lobby, closing });
        shared.server.deadlocks().heard_by(|report| {
            let sessions: Vec<String> = report.sessions.iter().map(i32::to_string).collect();
            let by = if report.by_monitor { "the deadlock monitor" } else { "the wait that closed it" };
            tracing::info!(
                session = report.victim,
                "deadlock {} of sessions {}, found by {by}: session {} is the victim; its graph is in sys.dm_pikepole_deadlocks",
                report.number,
                sessions.join(", "),
                report.victim,
            );
        });
        Ok(NetworkServer { shared, addresses: Vec::new(), health: None, listeners: Vec::new() })
    }

    /// Lets clients connect to the addresses that were bound.
    ///
    /// # Errors
    /// An address that another process listens at since it was bound.
    pub fn listen(&mut self, bound: Bound) -> Result<(), StartError> {
        let (clients, health) = bound.listening()?;
        for (socket, address) in clients {
            self.addresses.push(address);
            self.listeners.push(self.accept(socket));
        }
        if let Some((socket, address)) = health {
            self.health = Some(address);
            self.listeners.push(health::start(socket, &self.shared));
        }
        Ok(())
    }

    fn accept(&self, socket: std::net::TcpListener) -> JoinHandle<()> {
        let accepting = listener::accept(socket, Arc::clone(&self.shared));
        self.shared.server.schedulers().hidden("LISTENER", None, accepting)
    }

    /// Listens at a port of the loopback address that the system chooses, for programs that this process starts, until the answer is
    /// dropped. Sessions that are open then go on.
    ///
    /// # Errors
    /// The system has no port.
    pub fn listen_privately(&self) -> Result<PrivateListener, StartError> {
        let mut bound = Bound::default();
        bound.add(SocketAddr::from((std::net::Ipv4Addr::LOCALHOST, 0)))?;
        let (clients, _) = bound.listening()?;
        let address = clients.first().map_or(SocketAddr::from(([127, 0, 0, 1], 0)), |(_, address)| *address);
        let listeners = clients.into_iter().map(|(socket, _)| self.accept(socket)).collect();
        Ok(PrivateListener { address, listeners })
    }

    /// The addresses that it listens at, with the ports that the system has given.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Where `/healthz` and `/metrics` are served.
    pub fn health_address(&self) -> Option<SocketAddr> {
        self.health
    }

    /// How many connections there are.
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::Relaxed)
    }

    /// Ends the connections: idle ones at once, others when their request has ended, or is cancelled because it takes too long.
    /// Then closes the databases. Blocks: not for a scheduler's thread.
    ///
    /// # Errors
    /// The first database that could not be closed in order; it recovers at the next start.
    pub fn shutdown(self) -> Result<(), SqlError> {
        let shared = &self.shared;
        tracing::info!("shutting down: running requests have {} s", shared.options.shutdown_time.as_secs());
        shared.closing.store(true, Ordering::Relaxed);
        for listener in &self.listeners {
            listener.cancel();
        }
        shared.registry.end_all(false);
        if !self.wait_for_connections(shared.options.shutdown_time) {
            tracing::warn!("{} connections are still at work; their requests are cancelled", self.connections());
            shared.registry.end_all(true);
            self.wait_for_connections(CANCELLED_TIME);
        }
        let server = &shared.server;
        let closed = server.schedulers().block_on(server.shutdown());
        server.schedulers().shutdown();
        if closed.is_ok() {
            tracing::info!("the databases are closed");
        }
        closed
    }

    /// Stops listening and ends the connections, as a shutdown does; the databases and the sessions of this process stay open. Blocks: not
    /// for a scheduler's thread.
    pub fn stop(self) {
        let shared = &self.shared;
        shared.closing.store(true, Ordering::Relaxed);
        for listener in &self.listeners {
            listener.cancel();
        }
        if !self.end_connections(shared.options.shutdown_time, false) {
            self.end_connections(CANCELLED_TIME, true);
        }
        for listener in self.listeners {
            // A cancelled task is over when its socket is closed.
            let _ = listener.join();
        }
    }

    /// Ends the connections, those that come meanwhile too; whether there is none within the time.
    fn end_connections(&self, time: Duration, cancel: bool) -> bool {
        let begun = Instant::now();
        let is_own = |info: &ConnectionInfo| self.addresses.iter().any(|own| own.port() == info.local.port());
        loop {
            self.shared.lobby.close();
            self.shared.registry.end_connections(is_own, cancel);
            if self.connections() == 0 {
                return true;
            }
            if begun.elapsed() >= time {
                return false;
            }
            pikepole_contention::sync::thread::sleep(SHUTDOWN_LOOK);
        }
    }

    /// Whether all sessions have ended within the time.
    fn wait_for_connections(&self, time: Duration) -> bool {
        let begun = Instant::now();
        while self.shared.registry.count() > 0 {
            if begun.elapsed() >= time {
                return false;
            }
            pikepole_contention::sync::thread::sleep(SHUTDOWN_LOOK);
        }
        true
    }
}

/// A port that only this computer reaches; dropping it ends the listening.
pub struct PrivateListener {
    address: SocketAddr,
    listeners: Vec<JoinHandle<()>>,
}

impl PrivateListener {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for PrivateListener {
    fn drop(&mut self) {
        for listener in &self.listeners {
            listener.cancel();
        }
    }
}

/// Writes into the log of this process what the machine granted: in which pages the memory of each database is, and why not in those
/// asked for; why CPUs sleep deeper than `CPU_IDLE` asks.
pub fn log_machine(server: &Server) {
    for memory in server.memory() {
        match memory.is_refused() {
            true => tracing::warn!("{memory}"),
            false => tracing::info!("{memory}"),
        }
    }
    if let Some(refusal) = server.cpu_idle_refusal() {
        tracing::info!("CPU_IDLE = SHALLOW is not in force, CPUs sleep as deep as the kernel likes: {refusal}");
    }
}

/// Writes into the log of this process what others than its owner may read or change in the server's folder. The server makes its
/// files for its owner alone, but leaves what it finds as it is.
pub fn log_open_modes(server: &Server) {
    let folder = server.folder();
    if let Some((count, first)) = server.disk().open_to_others(folder) {
        tracing::warn!(
            "{count} files and folders can be read or changed by others than their owner, {} first: `chmod -R go= {}` ends that",
            first.display(),
            folder.display()
        );
    }
}

/// Looks at the certificate and the key that the options name, before anything is made for them.
///
/// # Errors
/// Files that cannot be read, or are no pair.
pub fn check_certificate(options: &Options) -> Result<(), StartError> {
    match (options.tls, &options.certificate) {
        (TlsMode::Off, _) | (_, None) => Ok(()),
        (_, certificate) => {
            let disk = pikepole_machine::Disk::real();
            TlsSettings::load(&disk, certificate.as_deref(), options.key.as_deref(), &options.folder).map(drop)
        }
    }
}

/// A random number below `bound`, fit for a password.
pub fn random_below(bound: usize) -> usize {
    tls::random_below(bound)
}
