//! What a client sends: bytes put together to messages.

use crate::transport::Receiver;
use pikepole_tds::{Limits, Message, PacketKind, Reassembler, TdsError};
use std::io;
use std::task::{Context, Poll, ready};

/// A buffer larger than this is given back once it is empty.
const KEPT_BYTES: usize = 64 * 1024;

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

/// See the module.
pub(crate) struct Incoming {
    receiver: Receiver,
    reassembler: Reassembler,
    /// Bytes that have been read, of which `taken` have been looked at.
    input: Vec<u8>,
    taken: usize,
    /// A request that came while another was running.
    early: Option<Message>,
}

impl Incoming {
    pub(crate) fn new(receiver: Receiver, reassembler: Reassembler) -> Incoming {
        Incoming { receiver, reassembler, input: Vec::new(), taken: 0, early: None }
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

    /// The next message.
    pub(crate) fn poll_message(&mut self, context: &mut Context<'_>) -> Poll<Result<Message, Broken>> {
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
                return Poll::Ready(Ok(message));
            }
            if !ready!(self.receiver.poll_receive(context, &mut self.input))? && self.input.is_empty() {
                return Poll::Ready(Err(Broken::Closed));
            }
        }
    }

    /// [`Incoming::poll_message`] as a future.
    pub(crate) async fn message(&mut self) -> Result<Message, Broken> {
        std::future::poll_fn(|context| self.poll_message(context)).await
    }

    /// Looks out for an attention while a request runs. Ready with `Ok` when one has come; with an error when the client has
    /// gone. A further request is kept for later, and nothing is read beyond it.
    pub(crate) fn poll_attention(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Broken>> {
        if self.early.is_some() {
            return Poll::Pending;
        }
        let message = ready!(self.poll_arrival(context))?;
        if message.kind == PacketKind::Attention {
            return Poll::Ready(Ok(()));
        }
        self.early = Some(message);
        Poll::Pending
    }
}
