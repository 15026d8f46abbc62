//! A client of a server: it connects, logs in, runs batches and prepared statements, and gives what comes back as the events
//! of the embedded API, so that a program can show or count both alike.
//!
//! ```text
//!   ConnectOptions ──▶ connect: socket, TLS (TDS 8.0: before all else), PRELOGIN, LOGIN7
//!                      Connection ── run, prepare ──▶ packets ──▶ Wire ──▶ server
//!                      Events     ◀── tokens ──────── packets ◀── Wire ◀──
//!                      Canceller  ── attention, from another thread ──▶
//! ```
//!
//! A call blocks its thread. A connection does one request at a time; an answer that is not taken to its end is cancelled by
//! the next request. Whoever drives many connections from one thread sends on each, and takes the answers of those whose
//! sockets have something to read ([`Connection::start`], [`Connection::finish`], `AsFd`).

mod connection;
mod error;
mod login;
mod options;
mod tls;
mod wire;

pub use connection::{Canceller, Connection, Events, Statement};
pub use error::{ClientError, TlsCure};
pub use login::ping;
pub use options::{Address, ConnectOptions, Encryption, Trust};

pub use pikepole_types::Length;
