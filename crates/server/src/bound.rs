//! Addresses that are bound before anything else of a start, and listened at when the server is ready.
//!
//! A bound socket that does not listen refuses connections: who waits for the port waits for the server. A port that another
//! process listens at cannot be bound, so a start that cannot succeed changes nothing.

use crate::{Options, StartError};
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::{SocketAddr, TcpListener};

/// Connections that wait to be accepted.
const BACKLOG: i32 = 1024;

/// Sockets that are bound and do not listen yet.
#[derive(Debug, Default)]
pub struct Bound {
    clients: Vec<(Socket, SocketAddr)>,
    health: Option<(Socket, SocketAddr)>,
}

/// Sockets that listen, and where.
type Listening = (Vec<(TcpListener, SocketAddr)>, Option<(TcpListener, SocketAddr)>);

impl Bound {
    /// Binds the addresses of the options.
    ///
    /// # Errors
    /// An address that cannot be listened at.
    pub fn of(options: &Options) -> Result<Bound, StartError> {
        let mut bound = Bound::default();
        for address in &options.listen {
            bound.add(*address)?;
        }
        if let Some(address) = options.health {
            bound.add_health(address)?;
        }
        Ok(bound)
    }

    /// Binds an address for clients; the address, with the port that the system has given.
    ///
    /// # Errors
    /// An address that cannot be listened at.
    pub fn add(&mut self, address: SocketAddr) -> Result<SocketAddr, StartError> {
        let bound = bind(address)?;
        let address = bound.1;
        self.clients.push(bound);
        Ok(address)
    }

    /// Binds the address of `/healthz` and `/metrics`.
    ///
    /// # Errors
    /// An address that cannot be listened at.
    pub fn add_health(&mut self, address: SocketAddr) -> Result<(), StartError> {
        self.health = Some(bind(address)?);
        Ok(())
    }

    /// Listens at all of them.
    pub(crate) fn listening(self) -> Result<Listening, StartError> {
        let clients = self.clients.into_iter().map(listen).collect::<Result<Vec<_>, _>>()?;
        Ok((clients, self.health.map(listen).transpose()?))
    }
}

fn bind(address: SocketAddr) -> Result<(Socket, SocketAddr), StartError> {
    let bound = || -> io::Result<(Socket, SocketAddr)> {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
        // A restart must not wait for connections of the last run to be forgotten.
        socket.set_reuse_address(true)?;
        if address.is_ipv6() {
            socket.set_only_v6(true)?;
        }
        socket.bind(&address.into())?;
        socket.set_nonblocking(true)?;
        let given = socket.local_addr()?.as_socket().unwrap_or(address);
        Ok((socket, given))
    };
    bound().map_err(|error| StartError::Listen { address, error })
}

fn listen((socket, address): (Socket, SocketAddr)) -> Result<(TcpListener, SocketAddr), StartError> {
    socket.listen(BACKLOG).map_err(|error| StartError::Listen { address, error })?;
    Ok((socket.into(), address))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpStream;

    #[test]
    fn a_bound_address_refuses_until_it_is_listened_at_and_is_nobody_elses() {
        let mut bound = Bound::default();
        let address = bound.add(SocketAddr::from(([127, 0, 0, 1], 0))).expect("a port");
        let refused = TcpStream::connect(address).expect_err("nothing listens");
        assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
        let (clients, _) = bound.listening().expect("it is ours");
        TcpStream::connect(address).expect("it listens");
        let busy = Bound::default().add(address).expect_err("it is taken").to_string();
        assert!(busy.contains("another server has the port"), "{busy}");
        drop(clients);
        Bound::default().add(address).expect("it is free again");
    }
}
