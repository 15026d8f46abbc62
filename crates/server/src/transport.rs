//! The two halves of a connection's socket, with TLS between them and the packets when it is on.
//!
//! ```text
//!   socket --> Receiver --(TLS)--> plain bytes --> packets
//!   socket <-- Sender   <--(TLS)-- plain bytes <-- packets
//! ```
//!
//! Both belong to the one task of the connection, on the scheduler whose runtime drives the socket. They are apart so that a
//! request can be watched for an attention while its answer is being written.

use crate::tls::Tls;
use pikepole_contention::sync::{Mutex, MutexGuard};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

/// Bytes read from the socket at once.
const READ_BYTES: usize = 8 * 1024;
/// Buffers larger than this are given back once they are empty.
const KEPT_BYTES: usize = 32 * 1024;

type SharedTls = Arc<Mutex<Tls>>;

fn lock(tls: &SharedTls) -> MutexGuard<'_, Tls> {
    // Only a panic within TLS could poison it, and that ends the connection's task.
    tls.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Makes the two halves of a socket.
pub(crate) fn halves(socket: TcpStream) -> (Receiver, Sender) {
    let (reading, writing) = socket.into_split();
    let receiver = Receiver { socket: reading, tls: None, raw: Vec::new() };
    let sender = Sender { socket: writing, tls: None, pending: Vec::new(), sent: 0, writes: 0, plain: Vec::new() };
    (receiver, sender)
}

/// Turns TLS on for both halves.
pub(crate) fn encrypt(receiver: &mut Receiver, sender: &mut Sender, tls: Tls) {
    let shared = Arc::new(Mutex::new(tls));
    receiver.tls = Some(Arc::clone(&shared));
    sender.tls = Some(shared);
}

/// Turns TLS off for both halves: a login alone was encrypted.
pub(crate) fn decrypt(receiver: &mut Receiver, sender: &mut Sender) {
    receiver.tls = None;
    sender.tls = None;
}

/// The half that reads.
pub(crate) struct Receiver {
    socket: OwnedReadHalf,
    tls: Option<SharedTls>,
    /// What is read from the socket; empty between two reads of a connection that sleeps.
    raw: Vec<u8>,
}

impl Receiver {
    /// Reads what is there and appends it to `plain`; false at the end of the stream. Ready without new bytes when TLS alone
    /// had something to say.
    pub(crate) fn poll_receive(&mut self, context: &mut Context<'_>, plain: &mut Vec<u8>) -> Poll<io::Result<bool>> {
        let Some(tls) = &self.tls else {
            return poll_read(&mut self.socket, context, plain).map_ok(|count| count > 0);
        };
        self.raw.clear();
        let count = ready!(poll_read(&mut self.socket, context, &mut self.raw))?;
        if count == 0 {
            return Poll::Ready(Ok(false));
        }
        let ended = lock(tls).receive(&self.raw, plain)?;
        Poll::Ready(Ok(!ended))
    }

    /// Gives memory back while nothing is expected.
    pub(crate) fn rest(&mut self) {
        self.raw = Vec::new();
    }
}

/// Reads once, behind what `bytes` holds.
fn poll_read(socket: &mut OwnedReadHalf, context: &mut Context<'_>, bytes: &mut Vec<u8>) -> Poll<io::Result<usize>> {
    let begin = bytes.len();
    bytes.resize(begin + READ_BYTES, 0);
    let mut buffer = ReadBuf::new(&mut bytes[begin..]);
    let polled = Pin::new(socket).poll_read(context, &mut buffer);
    let count = buffer.filled().len();
    bytes.truncate(begin + count);
    polled.map_ok(|()| count)
}

/// The half that writes.
pub(crate) struct Sender {
    socket: OwnedWriteHalf,
    tls: Option<SharedTls>,
    /// Bytes for the socket.
    pending: Vec<u8>,
    /// How many of them it has taken.
    sent: usize,
    /// Writes to the socket so far.
    writes: u64,
    /// What TLS is about to take.
    plain: Vec<u8>,
}

impl Sender {
    /// Where packets are put. [`Sender::seal`] or [`Sender::poll_flush`] takes them from there.
    pub(crate) fn packets(&mut self) -> &mut Vec<u8> {
        match self.tls {
            None => &mut self.pending,
            Some(_) => &mut self.plain,
        }
    }

    /// Bytes that the socket has not taken.
    pub(crate) fn waiting(&self) -> usize {
        self.pending.len() - self.sent + self.plain.len()
    }

    /// How many writes there have been.
    pub(crate) fn writes(&self) -> u64 {
        self.writes
    }

    /// Encrypts what has been put.
    fn seal(&mut self) -> io::Result<()> {
        if let Some(tls) = &self.tls {
            let mut tls = lock(tls);
            if !self.plain.is_empty() {
                tls.send(&self.plain)?;
                self.plain.clear();
            }
            tls.outgoing(&mut self.pending)?;
        }
        Ok(())
    }

    /// Ready when at most `left` bytes wait for the socket.
    pub(crate) fn poll_flush(&mut self, context: &mut Context<'_>, left: usize) -> Poll<io::Result<()>> {
        self.seal()?;
        while self.pending.len() - self.sent > left {
            let count = ready!(Pin::new(&mut self.socket).poll_write(context, &self.pending[self.sent..]))?;
            if count == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.writes += 1;
            self.sent += count;
        }
        if self.sent == self.pending.len() {
            self.sent = 0;
            self.pending.clear();
            if self.pending.capacity() > KEPT_BYTES {
                self.pending = Vec::new();
            }
            if self.plain.capacity() > KEPT_BYTES {
                self.plain = Vec::new();
            }
        } else if self.sent > KEPT_BYTES {
            self.pending.drain(..self.sent);
            self.sent = 0;
        }
        Poll::Ready(Ok(()))
    }

    /// Writes all that waits.
    pub(crate) async fn flush(&mut self) -> io::Result<()> {
        std::future::poll_fn(|context| self.poll_flush(context, 0)).await
    }

    /// Writes all that waits and ends the stream.
    pub(crate) async fn close(&mut self) -> io::Result<()> {
        if let Some(tls) = &self.tls {
            lock(tls).close();
        }
        self.flush().await?;
        std::future::poll_fn(|context| Pin::new(&mut self.socket).poll_shutdown(context)).await
    }

    /// Gives memory back while nothing is expected.
    pub(crate) fn rest(&mut self) {
        if self.pending.is_empty() {
            self.pending = Vec::new();
            self.plain = Vec::new();
        }
    }
}
