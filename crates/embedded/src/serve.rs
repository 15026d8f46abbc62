//! Serving TDS from an embedded engine: programs of other processes on the databases of this one.

use crate::Error;
use crate::engine::{Engine, Opened, ServiceId};
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;

pub use pikepole_server::{Options as ServeOptions, TlsMode};

/// A port that the engine serves clients of SQL Server at, until it is stopped or dropped. It keeps the engine open, as a connection does.
///
/// ```
/// use pikepole_embedded::{Engine, Error};
///
/// let engine = Engine::in_memory()?;
/// let mut connection = engine.connect_blocking()?;
/// connection.execute("CREATE LOGIN app WITH PASSWORD = 'Correct horse 1'", [])?;
/// let serving = engine.serve("127.0.0.1:0")?;
/// println!("Server=127.0.0.1,{};User Id=app;Password=...", serving.address().port());
/// serving.stop();
/// # Ok::<(), Error>(())
/// ```
#[must_use = "the port is closed when this is dropped"]
pub struct Serving {
    opened: Arc<Opened>,
    id: ServiceId,
    address: SocketAddr,
}

impl Serving {
    /// The address that it listens at, with the port that the system has given; of several the first.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Closes the port and ends its connections: idle ones at once, others when their request has ended, or is cancelled after
    /// [`ServeOptions::shutdown_time`].
    ///
    /// # Panics
    /// On one of the engine's own threads, as when it is dropped there.
    pub fn stop(self) {}
}

impl Drop for Serving {
    fn drop(&mut self) {
        if let Some(network) = self.opened.take_service(self.id) {
            network.stop();
        }
    }
}

impl Engine {
    /// Serves clients of SQL Server at an address; port 0 is one that the system chooses. Who may log in is as on any server: `sa` when it has
    /// a password, and the logins that CREATE LOGIN makes. A client that asks for encryption gets it, with a certificate that is made.
    ///
    /// # Errors
    /// [`Error::Open`] for an address that cannot be listened at; [`Error::Closed`] after a shutdown.
    pub fn serve(&self, address: impl ToSocketAddrs) -> Result<Serving, Error> {
        let addresses = address.to_socket_addrs().map_err(|error| Error::Open(format!("no address: {error}")))?;
        let folder = self.folder().ok_or(Error::Closed)?;
        self.serve_with(ServeOptions { listen: addresses.collect(), ..ServeOptions::new(folder) })
    }

    /// The same with options of the server: TLS, limits, a certificate.
    ///
    /// # Errors
    /// As [`Engine::serve`], and for a certificate that cannot be used.
    pub fn serve_with(&self, options: ServeOptions) -> Result<Serving, Error> {
        let opened = self.opened();
        let (id, address) = opened.start_service(options)?;
        Ok(Serving { opened: Arc::clone(opened), id, address })
    }
}
