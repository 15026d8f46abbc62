//! SMP, [MS-SMP]: several sessions over one connection, below the packets. Clients that want several results open at once (MARS)
//! ask for it at PRELOGIN; it begins behind the reply to LOGIN7.
//!
//! ```text
//!   byte  0     1      2 3      4..8                  8..12     12..16
//!         0x53  flags  session  length, header        sequence  window     all little-endian
//!                               included
//!
//!   client                                server
//!     SYN 0 ─────────────────────────────▶  session 0 is there
//!     DATA 0, sequence 1, window 4 ──────▶  a packet of a request
//!     ◀─────── DATA 0, sequences 1 to 4, windows 5  packets of the answer, as many as the window allows
//!     ACK 0, window 6 ───────────────────▶  two more may be sent
//!     FIN 0 ─────────────────────────────▶  what is not sent is dropped
//!     ◀──────────────────────────── FIN 0
//! ```
//!
//! [`Mux`] is what one connection knows of its sessions: bytes in, requests and frames out. It does no input or output, and holds what
//! a client has sent within a limit. Answers wait in a [`Queue`] per session until their windows open; what is too much for memory
//! the owner moves to a file.
//!
//! Invariants
//! - a frame is sent in no session that the client has not opened or has closed, but the one FIN that answers a FIN;
//! - no DATA is sent beyond the client's window, nor taken beyond the one that it was told;
//! - a session's window moves on only when the request that was sent in it is taken, so that each holds one and a window of packets.

mod frame;
mod mux;
mod queue;

pub use frame::{FrameHeader, FrameKind, SMP_HEADER_BYTES};
pub use mux::{Mux, SESSIONS_MAX};
pub use queue::{Queue, Region};

#[cfg(test)]
mod tests;
