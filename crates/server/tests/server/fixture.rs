//! A server in a folder of its own, on a port that the system gives.

use crate::client::Client;
use pikepole_engine::{PasswordCost, SchedulerChoice, Server, ServerOptions};
use pikepole_server::{NetworkServer, Options, TlsMode};
use pikepole_session::Registry;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

pub const PASSWORD: &str = "Correct horse 1";

pub struct Fixture {
    folder: PathBuf,
    network: Option<NetworkServer>,
}

impl Fixture {
    /// Without TLS.
    pub fn new() -> Fixture {
        Fixture::with(|_| {})
    }

    /// With options of its own.
    pub fn with(change: impl FnOnce(&mut Options)) -> Fixture {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("pikepole-server-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        Fixture::open(folder, change)
    }

    fn open(folder: PathBuf, change: impl FnOnce(&mut Options)) -> Fixture {
        let options = ServerOptions {
            schedulers: SchedulerChoice::Threads { cpus: None, pin: false },
            small: true,
            password_cost: PasswordCost::LEAST,
            ..ServerOptions::new(&folder)
        };
        let server = Server::open(options).expect("the folder is opened");
        if !server.has_sa_password() {
            server.set_sa_password(PASSWORD).expect("a password");
        }
        let registry = Registry::new(server.statistics());
        let mut options = Options {
            listen: vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 0))],
            tls: TlsMode::Off,
            ..Options::new(&folder)
        };
        change(&mut options);
        let network = NetworkServer::start(server, registry, options).expect("it listens");
        Fixture { folder, network: Some(network) }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn network(&self) -> &NetworkServer {
        self.network.as_ref().expect("it runs")
    }

    pub fn address(&self) -> SocketAddr {
        self.network().addresses()[0]
    }

    /// A client that has logged in as `sa`.
    pub fn client(&self) -> Client {
        let mut client = Client::connect(self.address());
        client.log_in("sa", PASSWORD);
        client
    }

    /// Ends the server and opens the folder again, without TLS.
    pub fn restart(self) -> Fixture {
        self.restart_with(|_| {})
    }

    /// The same with options of its own.
    pub fn restart_with(mut self, change: impl FnOnce(&mut Options)) -> Fixture {
        let folder = self.folder.clone();
        self.stop();
        let other = Fixture::open(folder, change);
        self.folder = PathBuf::new();
        other
    }

    pub fn stop(&mut self) {
        if let Some(network) = self.network.take() {
            network.shutdown().expect("the databases close in order");
        }
    }

    /// Waits until there are so many connections.
    pub fn await_connections(&self, count: usize) {
        for _ in 0..5_000 {
            if self.network().connections() == count {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        panic!("there are {} connections, not {count}", self.network().connections());
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        self.stop();
        if !self.folder.as_os_str().is_empty() {
            std::fs::remove_dir_all(&self.folder).ok();
        }
    }
}
