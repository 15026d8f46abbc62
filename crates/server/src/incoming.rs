//! What a client sends: bytes put together to messages.

use crate::mars::SharedMux;
use crate::transport::Receiver;
use pikepole_machine::memory;
use pikepole_tds::{Limits, Message, PacketKind, Reassembler, TdsError};
use std::io;
use std::task::{Context, Poll, ready};

/// A buffer larger than this is given back once it is empty.
const KEPT_BYTES: usize = 64 * 1024;
/// Frames that bring no message are read so many times before others of the scheduler run.
const READS_AT_ONCE: usize = 16;

/// Why nothing more comes from a client.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Broken {
    /// The client has closed the connection.
    #[error("the client has closed the connection")]
    Closed,
    /// The socket failed.
    #[error("{0}")]
    Socket(#[from] io::Error),
    /// The bytes are not the protocol's.
    #[error("{0}")]
    Protocol(#[from] TdsError),
}

/// Bytes of a message between two times that memory is asked for.
const MESSAGE_STEP_BYTES: usize = 1 << 20;

/// See the module.
pub(crate) struct Incoming {
    receiver: Receiver,
    reassembler: Reassembler,
    /// Bytes that have been read, of which `taken` have been looked at.
    input: Vec<u8>,
    taken: usize,
    /// Bytes of the message that is being gathered when memory for it was last asked for.
    asked: usize,
    /// A request that came while another was running.
    early: Option<Message>,
    /// The sessions that messages come in, on a connection with MARS.
    mux: Option<SharedMux>,
    /// The session of the last message.
    session: u16,
}

/// What a running request is told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Noticed {
    /// Its client has taken it back.
    Attention,
    /// A window has moved, or somebody else of the connection has sent something: its answer may go on.
    Change,
}

impl Incoming {
    pub(crate) fn new(receiver: Receiver, reassembler: Reassembler) -> Incoming {
        Incoming { receiver, reassembler, input: Vec::new(), taken: 0, asked: 0, early: None, mux: None, session: 0 }
    }

    /// The socket's half, and what was read beyond the last message; for what speaks TLS between messages.
    pub(crate) fn parts(&mut self) -> (&mut Receiver, &mut Vec<u8>) {
        self.input.drain(..self.taken);
        self.taken = 0;
        (&mut self.receiver, &mut self.input)
    }

    /// Sets other limits.
    pub(crate) fn set_limits(&mut self, limits: Limits) {
        self.reassembler.set_limits(limits);
    }

    /// Messages come in sessions from now on.
    pub(crate) fn multiplex(&mut self, mux: SharedMux) {
        self.mux = Some(mux);
    }

    /// The session of the last message; 0 on a connection without MARS.
    pub(crate) fn session(&self) -> u16 {
        self.session
    }

    /// Gives a message's buffer back for the next one.
    pub(crate) fn recycle(&mut self, buffer: Vec<u8>) {
        self.reassembler.recycle(buffer);
    }

    /// The first byte that the client sends; it stays to be read.
    pub(crate) async fn first_byte(&mut self) -> Result<u8, Broken> {
        while self.input.is_empty() {
            if !self.receiver.receive(&mut self.input).await? {
                return Err(Broken::Closed);
            }
        }
        Ok(self.input[0])
    }

    /// The next message; `of_last` of the session of the last one only, as long as that is open.
    pub(crate) fn poll_message(&mut self, context: &mut Context<'_>, of_last: bool) -> Poll<Result<Message, Broken>> {
        if let Some(mux) = self.mux.clone() {
            return self.poll_sessions(context, |session| {
                let mut mux = mux.lock();
                let only = (of_last && mux.is_open(*session)).then_some(*session);
                let (of, message) = mux.take(only)?;
                *session = of;
                Some(message)
            });
        }
        if let Some(message) = self.early.take() {
            return Poll::Ready(Ok(message));
        }
        self.poll_arrival(context)
    }

    fn poll_arrival(&mut self, context: &mut Context<'_>) -> Poll<Result<Message, Broken>> {
        loop {
            let mut rest = &self.input[self.taken..];
            let fed = self.reassembler.feed(&mut rest);
            self.taken = self.input.len() - rest.len();
            if self.taken == self.input.len() {
                self.input.clear();
                self.taken = 0;
                if self.input.capacity() > KEPT_BYTES {
                    self.input = Vec::new();
                }
            }
            if let Some(message) = fed? {
                self.asked = 0;
                return Poll::Ready(Ok(message));
            }
            self.ask_for_message()?;
            if !ready!(self.receiver.poll_receive(context, &mut self.input))? && self.input.is_empty() {
                return Poll::Ready(Err(Broken::Closed));
            }
        }
    }

    /// Asks for the memory of a long message, as it grows.
    fn ask_for_message(&mut self) -> Result<(), Broken> {
        let gathered = self.reassembler.gathered();
        if gathered < self.asked + MESSAGE_STEP_BYTES {
            return Ok(());
        }
        self.asked = gathered;
        // The buffer doubles.
        let refused = |_| TdsError::Limit { what: "bytes of a message, for want of memory", limit: gathered };
        memory::ask(gathered).map_err(refused)?;
        Ok(())
    }

    /// [`Incoming::poll_message`] as a future.
    pub(crate) async fn message(&mut self) -> Result<Message, Broken> {
        std::future::poll_fn(|context| self.poll_message(context, false)).await
    }

    /// Reads frames until they bring what is looked for.
    fn poll_sessions<T>(
        &mut self,
        context: &mut Context<'_>,
        mut look: impl FnMut(&mut u16) -> Option<T>,
    ) -> Poll<Result<T, Broken>> {
        let Some(mux) = self.mux.clone() else { return Poll::Pending };
        for _ in 0..READS_AT_ONCE {
            mux.lock().feed(&self.input[self.taken..])?;
            self.input.clear();
            self.taken = 0;
            if let Some(found) = look(&mut self.session) {
                return Poll::Ready(Ok(found));
            }
            // A client that does not read what it is told is not heard either; who sends wakes the task when there is room.
            if mux.lock().is_clogged() {
                return Poll::Pending;
            }
            if !ready!(self.receiver.poll_receive(context, &mut self.input))? && self.input.is_empty() {
                return Poll::Ready(Err(Broken::Closed));
            }
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }

    /// Looks out for an attention while a request runs. Ready with `Ok` when one has come, or something else that the request is to
    /// know; with an error when the client has gone. A further request is kept for later, and nothing is read beyond it unless there are
    /// sessions. A request whose session has been closed is taken back, too.
    pub(crate) fn poll_attention(&mut self, context: &mut Context<'_>) -> Poll<Result<Noticed, Broken>> {
        if let Some(mux) = self.mux.clone() {
            return self.poll_sessions(context, |_| {
                let mut mux = mux.lock();
                let is_change = mux.has_changed();
                match mux.take_attention() || mux.is_running_closed() {
                    true => Some(Noticed::Attention),
                    false => is_change.then_some(Noticed::Change),
                }
            });
        }
        if self.early.is_some() {
            return Poll::Pending;
        }
        let message = ready!(self.poll_arrival(context))?;
        if message.kind == PacketKind::Attention {
            return Poll::Ready(Ok(Noticed::Attention));
        }
        self.early = Some(message);
        Poll::Pending
    }
}
