//! The two halves of a connection's socket, with TLS between them and the packets when it is on.
//!
//! ```text
//!   socket --> Receiver --(TLS)--> plain bytes --> messages
//!   socket <-- Sender   <--(TLS)-- packets     <-- tokens
//! ```
//!
//! Both belong to the one task of the connection, on the scheduler whose runtime drives the socket. They are apart so that a
//! request can be watched for an attention while its answer is being written.

use crate::mars::Spool;
use crate::sent_columns::SentColumns;
use crate::tls::Tls;
use pikepole_contention::sync::{Mutex, MutexGuard};
use pikepole_tds::{HEADER_BYTES, MessageWriter, PACKET_BYTES_DEFAULT, PacketKind, PacketStatus, write_packets};
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncReadExt, AsyncWrite};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

/// Bytes read from the socket at once.
const READ_BYTES: usize = 8 * 1024;
/// Frames are made while fewer bytes than these wait for the socket.
const FRAMED_BYTES_MAX: usize = 64 * 1024;
/// Buffers larger than this are given back once they are empty.
const KEPT_BYTES: usize = 32 * 1024;

type SharedTls = Arc<Mutex<Tls>>;

fn lock(tls: &SharedTls) -> MutexGuard<'_, Tls> {
    // Only a panic within TLS could poison it, and that ends the connection's task.
    tls.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Makes the two halves of a socket.
pub(crate) fn halves(socket: TcpStream, writer: MessageWriter) -> (Receiver, Sender) {
    let (reading, writing) = socket.into_split();
    let receiver = Receiver { socket: reading, tls: None, raw: Vec::new() };
    let sender = Sender {
        socket: writing,
        tls: None,
        writer,
        columns: SentColumns::default(),
        spool: None,
        raw: Vec::new(),
        sent: 0,
        writes: 0,
    };
    (receiver, sender)
}

/// Turns TLS off for both halves: the login alone was encrypted.
pub(crate) fn decrypt(receiver: &mut Receiver, sender: &mut Sender) {
    receiver.tls = None;
    sender.tls = None;
}

/// Makes a TLS handshake and turns TLS on for both halves. `plain` holds what came behind what was read so far; afterwards what
/// came behind the handshake. A wrapped handshake travels in PRELOGIN packets. Returns whether a session was resumed.
///
/// # Errors
/// What the socket says; bytes that are no TLS; the end of the stream.
pub(crate) async fn encrypt(
    receiver: &mut Receiver,
    sender: &mut Sender,
    mut tls: Tls,
    wrapped: bool,
    plain: &mut Vec<u8>,
) -> io::Result<bool> {
    let mut early = std::mem::take(plain);
    while tls.is_handshaking() {
        let arrived =
            if wrapped { unwrap(&mut early)? } else { (!early.is_empty()).then(|| std::mem::take(&mut early)) };
        match arrived {
            Some(bytes) => {
                let received = tls.receive(&bytes, plain);
                let mut answer = Vec::new();
                // An alert that says what was wrong is sent, too.
                tls.outgoing(&mut answer)?;
                if wrapped && !answer.is_empty() {
                    write_packets(
                        PacketKind::PreLogin,
                        PacketStatus::default(),
                        &answer,
                        PACKET_BYTES_DEFAULT,
                        &mut sender.raw,
                    );
                } else {
                    sender.raw.extend_from_slice(&answer);
                }
                sender.flush().await?;
                received?;
            }
            None => {
                if !receiver.receive(&mut early).await? {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
        }
    }
    if !early.is_empty() {
        tls.receive(&early, plain)?;
    }
    let is_resumed = tls.is_resumed();
    let shared = Arc::new(Mutex::new(tls));
    receiver.tls = Some(Arc::clone(&shared));
    sender.tls = Some(shared);
    Ok(is_resumed)
}

/// Takes the payload of the first packet, when it is whole.
fn unwrap(bytes: &mut Vec<u8>) -> io::Result<Option<Vec<u8>>> {
    let Some(header) = bytes.first_chunk::<HEADER_BYTES>() else { return Ok(None) };
    let header = pikepole_tds::PacketHeader::parse(*header)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))?;
    if header.kind != PacketKind::PreLogin {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "a TLS handshake was expected"));
    }
    let length = usize::from(header.length);
    if bytes.len() < length {
        return Ok(None);
    }
    let payload = bytes[HEADER_BYTES..length].to_vec();
    bytes.drain(..length);
    Ok(Some(payload))
}

/// The half that reads.
pub(crate) struct Receiver {
    socket: OwnedReadHalf,
    tls: Option<SharedTls>,
    /// What is read from the socket, before TLS has seen it.
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

    /// [`Receiver::poll_receive`] as a future.
    pub(crate) async fn receive(&mut self, plain: &mut Vec<u8>) -> io::Result<bool> {
        std::future::poll_fn(|context| self.poll_receive(context, plain)).await
    }
}

/// Reads once, behind what `bytes` holds.
fn poll_read(socket: &mut OwnedReadHalf, context: &mut Context<'_>, bytes: &mut Vec<u8>) -> Poll<io::Result<usize>> {
    bytes.reserve(READ_BYTES);
    // A future that holds nothing between two polls, so it need not be kept.
    pin!(socket.read_buf(bytes)).poll(context)
}

/// The half that writes.
pub(crate) struct Sender {
    socket: OwnedWriteHalf,
    tls: Option<SharedTls>,
    /// Makes packets of tokens.
    pub(crate) writer: MessageWriter,
    /// The columns of the result set under way.
    pub(crate) columns: SentColumns,
    /// Where packets wait for their sessions' windows, on a connection with MARS.
    spool: Option<Box<Spool>>,
    /// Bytes for the socket that go before the writer's packets: those of TLS, and frames.
    raw: Vec<u8>,
    /// How many of them it has taken.
    sent: usize,
    /// Writes to the socket so far.
    writes: u64,
}

impl Sender {
    /// Bytes of the answer under way that wait, for the socket or for a window.
    pub(crate) fn waiting(&self) -> usize {
        self.unsent() + self.spool.as_ref().map_or(0, |spool| spool.held() + self.writer.ready().len())
    }

    /// Bytes that could be written and are not.
    fn unsent(&self) -> usize {
        let packets = if self.spool.is_some() { 0 } else { self.writer.ready().len() };
        self.raw.len() - self.sent + packets
    }

    /// Packets belong to sessions from now on.
    pub(crate) fn multiplex(&mut self, spool: Spool) {
        self.spool = Some(Box::new(spool));
    }

    /// The answer under way is whole: what follows is another's.
    pub(crate) fn end_answer(&mut self) {
        if let Some(spool) = &mut self.spool {
            let packets = self.writer.ready();
            let count = packets.len();
            spool.add(packets);
            self.writer.consume(count);
            spool.mux().end_request();
        }
    }

    /// The answers of a connection with MARS.
    pub(crate) fn spool(&mut self) -> Option<&mut Spool> {
        self.spool.as_deref_mut()
    }

    /// How many writes there have been.
    pub(crate) fn writes(&self) -> u64 {
        self.writes
    }

    /// Makes frames of the packets that are ready, where there are sessions, and encrypts.
    fn seal(&mut self) -> io::Result<()> {
        let framed = self.framed();
        if let Some(tls) = &self.tls {
            let mut tls = lock(tls);
            let packets = framed.as_deref().unwrap_or_else(|| self.writer.ready());
            let count = packets.len();
            if count > 0 {
                tls.send(packets)?;
                if framed.is_none() {
                    self.writer.consume(count);
                }
            }
            tls.outgoing(&mut self.raw)?;
        } else if let Some(framed) = framed {
            self.raw.extend_from_slice(&framed);
        }
        Ok(())
    }

    /// The frames that can be sent now; none on a connection without sessions.
    fn framed(&mut self) -> Option<Vec<u8>> {
        let room = FRAMED_BYTES_MAX.saturating_sub(self.raw.len() - self.sent);
        let spool = self.spool.as_mut()?;
        let packets = self.writer.ready();
        let count = packets.len();
        if count > 0 {
            spool.add(packets);
            self.writer.consume(count);
        }
        let mut framed = Vec::new();
        spool.mux().frames(&mut framed, room);
        Some(framed)
    }

    /// Ready when at most `left` bytes wait for the socket.
    pub(crate) fn poll_flush(&mut self, context: &mut Context<'_>, left: usize) -> Poll<io::Result<()>> {
        loop {
            self.seal()?;
            if self.unsent() <= left {
                return Poll::Ready(Ok(()));
            }
            let raw_waits = self.sent < self.raw.len();
            let bytes = if raw_waits { &self.raw[self.sent..] } else { self.writer.ready() };
            let count = ready!(Pin::new(&mut self.socket).poll_write(context, bytes))?;
            if count == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.writes += 1;
            if raw_waits {
                self.sent += count;
                self.forget_sent();
            } else {
                self.writer.consume(count);
            }
        }
    }

    /// Ready when the answer under way may grow: at most `left` bytes of it wait, or they wait for a window while others have sent
    /// requests.
    pub(crate) fn poll_room(&mut self, context: &mut Context<'_>, left: usize) -> Poll<io::Result<()>> {
        loop {
            // The client may wait for a frame of a few bytes before it sends what this one waits for.
            let flushed = self.poll_flush(context, if self.spool.is_some() { 0 } else { left })?;
            let Some(spool) = &mut self.spool else { return flushed.map(Ok) };
            if spool.poll_room(context, left)?.is_ready() {
                return Poll::Ready(Ok(()));
            }
            if !self.can_send_more() {
                return Poll::Pending;
            }
        }
    }

    /// Sends what waits for windows that have opened, as far as the socket takes it; never ready with success.
    pub(crate) fn poll_spool(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            let Some(spool) = &mut self.spool else { return Poll::Pending };
            let is_working = spool.poll_work(context)?;
            let _written = self.poll_flush(context, 0)?;
            let wants_work = !is_working && self.spool.as_ref().is_some_and(|spool| spool.wants_work());
            if !wants_work && !self.can_send_more() {
                return Poll::Pending;
            }
        }
    }

    /// Whether there are frames for windows that are open, and nothing that keeps them from the socket.
    fn can_send_more(&self) -> bool {
        self.unsent() == 0 && self.spool.as_ref().is_some_and(|spool| spool.mux().has_frames())
    }

    fn forget_sent(&mut self) {
        if self.sent == self.raw.len() {
            self.sent = 0;
            self.raw.clear();
            if self.raw.capacity() > KEPT_BYTES {
                self.raw = Vec::new();
            }
        }
    }

    /// Forgets what was answered and not sent.
    pub(crate) fn forget_answers(&mut self) {
        self.writer.abandon();
        self.writer.consume(self.writer.ready().len());
        if let Some(spool) = &mut self.spool {
            spool.forget();
        }
    }

    /// Writes all that waits.
    pub(crate) async fn flush(&mut self) -> io::Result<()> {
        std::future::poll_fn(|context| self.poll_flush(context, 0)).await
    }

    /// Writes all that waits and ends the stream.
    pub(crate) async fn close(&mut self) -> io::Result<()> {
        self.seal()?;
        if let Some(tls) = &self.tls {
            lock(tls).close();
        }
        self.flush().await?;
        self.cut().await
    }

    /// Resets the connection instead of ending it, as soon as its other half is dropped.
    pub(crate) fn reset(self) -> io::Result<()> {
        self.socket.as_ref().set_zero_linger()?;
        // To drop it would end the stream first.
        self.socket.forget();
        Ok(())
    }

    /// Ends the stream where it stands.
    pub(crate) async fn cut(&mut self) -> io::Result<()> {
        std::future::poll_fn(|context| Pin::new(&mut self.socket).poll_shutdown(context)).await
    }
}
