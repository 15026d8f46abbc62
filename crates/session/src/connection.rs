//! What the views show of a session's connection, and how a session is killed from another.

use pikepole_contention::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use pikepole_contention::sync::{Mutex, MutexGuard, OnceLock};
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// The connection that a session's client came over. The server that owns it counts; the views read.
#[derive(Debug)]
pub struct ConnectionInfo {
    /// The client's address.
    pub client: SocketAddr,
    /// The address it came to.
    pub local: SocketAddr,
    /// When it came, in microseconds since 1970.
    pub connected_us: u64,
    /// The protocol's version, as LOGIN7 names it.
    pub protocol_version: u32,
    /// Whether all of it is encrypted.
    pub encrypted: bool,
    /// The negotiated size of a packet in bytes.
    pub packet_bytes: u32,
    /// The client library's name, as it says itself.
    pub interface: String,
    /// The client library's version.
    pub client_version: u32,
    /// The client's process.
    pub process_id: u32,
    /// A number of its own.
    pub id: [u8; 16],
    /// Requests read.
    pub reads: AtomicU64,
    /// Writes to the socket.
    pub writes: AtomicU64,
    /// When the last request was read, in microseconds since 1970.
    pub last_read_us: AtomicU64,
    /// When the last write was, in microseconds since 1970.
    pub last_write_us: AtomicU64,
    /// The sessions that its client multiplexes (MARS).
    pub lines: Mutex<Vec<LineInfo>>,
}

/// A session of a connection with MARS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineInfo {
    /// Its number in the connection.
    pub number: u16,
    /// A number of its own among all connections.
    pub id: [u8; 16],
    /// When its first request came, in microseconds since 1970.
    pub connected_us: u64,
}

impl ConnectionInfo {
    /// The sessions that its client multiplexes, to be read or changed at once.
    pub fn lines(&self) -> MutexGuard<'_, Vec<LineInfo>> {
        // Nothing that holds it can panic.
        self.lines.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// How a session learns that it is to end.
#[derive(Debug, Default)]
pub(crate) struct KillSwitch {
    /// It is to end when no request runs.
    ending: AtomicBool,
    /// Its requests are to end, too.
    killed: AtomicBool,
    /// Ends the batch under way.
    cancel: OnceLock<Arc<AtomicBool>>,
    /// The session's task, while it waits for a request.
    waiting: Mutex<Option<Waker>>,
}

impl KillSwitch {
    /// The switch that ends the session's batches.
    pub(crate) fn cancels(&self, cancel: Arc<AtomicBool>) {
        // A session has one context at its beginning, and only that sets it.
        let _first = self.cancel.set(cancel);
    }

    /// Asks the session to end: the request under way is cancelled.
    pub(crate) fn kill(&self) {
        self.killed.store(true, Ordering::Relaxed);
        if let Some(cancel) = self.cancel.get() {
            cancel.store(true, Ordering::Relaxed);
        }
        self.end();
    }

    /// Asks the session to end once the request under way has ended.
    pub(crate) fn end(&self) {
        let mut waiting = self.waiting();
        self.ending.store(true, Ordering::Relaxed);
        let waker = waiting.take();
        drop(waiting);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    pub(crate) fn is_killed(&self) -> bool {
        self.killed.load(Ordering::Relaxed)
    }

    /// Ready when the session is to end.
    pub(crate) fn poll(&self, context: &mut Context<'_>) -> Poll<()> {
        // Under the mutex, as the store in `end`: who does not see it there leaves a waker.
        let mut waiting = self.waiting();
        if self.ending.load(Ordering::Relaxed) {
            return Poll::Ready(());
        }
        if waiting.as_ref().is_none_or(|waker| !waker.will_wake(context.waker())) {
            *waiting = Some(context.waker().clone());
        }
        Poll::Pending
    }

    fn waiting(&self) -> pikepole_contention::sync::MutexGuard<'_, Option<Waker>> {
        // Every change is one move.
        self.waiting.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_killed_session_is_told_and_its_batch_cancelled() {
        let switch = KillSwitch::default();
        let cancel = Arc::new(AtomicBool::new(false));
        switch.cancels(Arc::clone(&cancel));
        let mut context = Context::from_waker(Waker::noop());
        assert!(switch.poll(&mut context).is_pending());
        switch.kill();
        assert!(switch.poll(&mut context).is_ready());
        assert!(cancel.load(Ordering::Relaxed));
    }
}
