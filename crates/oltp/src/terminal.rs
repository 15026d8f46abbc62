//! Terminals: a connection each, of which one thread drives many.
//!
//! ```text
//!   thread ── poll: each terminal sends its first request ──▶ server
//!          ◀── epoll: those whose answer is there: take it, send the next
//! ```
//!
//! A transaction is a future that waits after each request. A thread for each terminal would cost the machine two switches between
//! threads a request, and the server works on the same CPUs.

use crate::random::Rng;
use crate::session::{Answer, Session, SessionError};
use pikepole_embedded::Value;
use rustix::event::{Timespec, epoll};
use rustix::io::Errno;
use std::future::Future;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// Events taken from the system at once.
const EVENTS_MAX: usize = 64;
/// The longest time between two answers of a server.
const ANSWER_TIME: Timespec = Timespec { tv_sec: 60, tv_nsec: 0 };

/// A connection that runs transactions.
pub struct Terminal {
    session: Box<dyn Session>,
    /// Its place among the terminals of the run, from 0 on.
    pub number: usize,
    /// Its random numbers.
    pub random: Rng,
    /// It is the only one of its thread: it waits within the call.
    is_alone: bool,
}

impl Terminal {
    /// A terminal whose statements are prepared.
    pub fn new(session: Box<dyn Session>, number: usize, seed: u64, is_alone: bool) -> Terminal {
        Terminal { session, number, random: Rng::with_seed(seed), is_alone }
    }

    /// Executes a prepared statement.
    pub async fn run(&mut self, statement: usize, values: &[Value]) -> Result<Answer, SessionError> {
        self.session.send(statement, values)?;
        self.answer().await
    }

    /// Ends the transaction.
    pub async fn end(&mut self, commits: bool) -> Result<(), SessionError> {
        self.session.send_end(commits)?;
        self.answer().await.map(|_| ())
    }

    async fn answer(&mut self) -> Result<Answer, SessionError> {
        if !self.is_alone {
            Readable { is_waited_for: false }.await;
        }
        self.session.receive()
    }
}

/// Pending once: a terminal is polled again when its socket is readable.
struct Readable {
    is_waited_for: bool,
}

impl Future for Readable {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if self.is_waited_for {
            return Poll::Ready(());
        }
        self.is_waited_for = true;
        Poll::Pending
    }
}

/// Drives terminals to their ends, on this thread: `work` makes the future of each. The results come in the order of the terminals.
///
/// # Errors
/// No terminal had an answer for a minute.
pub fn drive<T, F>(terminals: Vec<Terminal>, work: impl Fn(Terminal) -> F) -> Result<Vec<T>, SessionError>
where
    F: Future<Output = T>,
{
    let sockets = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(broken)?;
    let mut results = Vec::new();
    let mut futures = Vec::new();
    for (place, terminal) in terminals.into_iter().enumerate() {
        watch(&sockets, place, &terminal)?;
        results.push(None);
        futures.push(Box::pin(work(terminal)));
    }
    let mut context = Context::from_waker(Waker::noop());
    // True when the terminal has come to its end by this step.
    let mut step = |place: usize, results: &mut Vec<Option<T>>| {
        if results[place].is_none()
            && let Poll::Ready(result) = futures[place].as_mut().poll(&mut context)
        {
            results[place] = Some(result);
            return true;
        }
        false
    };
    let mut running = results.len();
    for place in 0..results.len() {
        running -= usize::from(step(place, &mut results));
    }
    let mut events = Vec::with_capacity(EVENTS_MAX);
    while running > 0 {
        events.clear();
        match epoll::wait(&sockets, rustix::buffer::spare_capacity(&mut events), Some(&ANSWER_TIME)) {
            Ok(0) => return Err(SessionError::other("no answer for a minute")),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(broken(error)),
        }
        for event in &events {
            let place = event.data.u64() as usize;
            if step(place, &mut results) {
                running -= 1;
            }
        }
    }
    Ok(results.into_iter().flatten().collect())
}

fn watch(sockets: &OwnedFd, place: usize, terminal: &Terminal) -> Result<(), SessionError> {
    let data = epoll::EventData::new_u64(place as u64);
    epoll::add(sockets, terminal.session.socket(), data, epoll::EventFlags::IN).map_err(broken)
}

fn broken(error: Errno) -> SessionError {
    SessionError::Other(format!("the system does not wait for sockets: {error}"))
}
