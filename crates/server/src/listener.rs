//! Accepting connections: each becomes a task on the scheduler with the fewest.

use crate::Shared;
use crate::connection;
use crate::lobby::Visit;
use pikepole_contention::sync::atomic::Ordering;
use pikepole_scheduler::{Placement, TaskInfo};
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

/// How long nothing is accepted after the system had no room for a connection.
const PAUSE: Duration = Duration::from_millis(100);
/// A connection that is silent for so long is asked whether it is still there, and so often again.
const KEEP_ALIVE: Duration = Duration::from_secs(30);
const KEEP_ALIVE_AGAIN: Duration = Duration::from_secs(1);

/// Accepts for ever; runs on a hidden scheduler.
pub(crate) async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let listener = match tokio::net::TcpListener::from_std(listener) {
        Ok(listener) => listener,
        Err(error) => return tracing::error!("the listener could not be watched: {error}"),
    };
    while !shared.is_closing() {
        match listener.accept().await {
            Ok((socket, client)) => {
                if let Err(error) = admit(socket, client, &shared) {
                    tracing::warn!(client = %client, "a connection could not be taken: {error}");
                }
            }
            Err(error) => {
                tracing::warn!("no connection could be accepted: {error}");
                pikepole_scheduler::sleep(PAUSE).await;
            }
        }
    }
}

/// Hands a connection to the scheduler that will run it.
fn admit(socket: tokio::net::TcpStream, client: SocketAddr, shared: &Arc<Shared>) -> io::Result<()> {
    // Away from this thread's runtime; the connection's own scheduler watches it.
    let socket = socket.into_std()?;
    prepare(&socket)?;
    let visit = shared.lobby.enter(client.ip());
    let open = shared.connections.fetch_add(1, Ordering::Relaxed);
    let place = Place { shared: Arc::clone(shared), visit: Some(visit) };
    // Those that have been told to go are as good as gone.
    if open.saturating_sub(shared.lobby.leaving()) >= shared.options.connections_max {
        return Err(io::Error::other(format!("there are {open} already")));
    }
    let info = TaskInfo { session_id: None, command: "LOGIN" };
    let work = connection::run(socket, client, place);
    shared.server.schedulers().spawn(info, Placement::LeastLoaded, work);
    Ok(())
}

fn prepare(socket: &TcpStream) -> io::Result<()> {
    socket.set_nodelay(true)?;
    let alive = socket2::TcpKeepalive::new().with_time(KEEP_ALIVE).with_interval(KEEP_ALIVE_AGAIN);
    socket2::SockRef::from(socket).set_tcp_keepalive(&alive)
}

/// A connection's place among those that there may be; dropping it makes room.
pub(crate) struct Place {
    pub(crate) shared: Arc<Shared>,
    /// Up to the login. It goes after the connection has been counted out.
    visit: Option<Visit>,
}

impl Place {
    /// Ready when the connection has to go before its login.
    pub(crate) async fn told_to_go(&self) {
        match &self.visit {
            Some(visit) => visit.told().await,
            None => std::future::pending().await,
        }
    }

    /// Leaves the lobby with a login; `false` where the connection has been told to go.
    pub(crate) fn logged_in(&mut self) -> bool {
        self.visit.take().is_some_and(Visit::end)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.shared.connections.fetch_sub(1, Ordering::Relaxed);
    }
}
