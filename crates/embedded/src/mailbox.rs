//! The mailbox between a caller and its session's task: one request at a time goes in, events come out.
//!
//! ```text
//!   caller                           session's task
//!     put(request) ----------------->  poll_request()
//!     poll_take() <------------------  send(events), poll_room() when EVENTS_MAX are waiting
//!                          <---------  finish(last events, parameters)
//!     forget(id), roll_back() ------>  come with poll_request()
//!     close()      ----------------->  poll_request() gives None, the task ends
//! ```
//!
//! Invariants, under the one mutex:
//! - a request is put only when none is there and the last answer has been taken to its end (the caller's `&mut`);
//! - `answer` is `Some` from `finish` until the caller has taken it;
//! - whoever changes the state wakes the other side after it has let go of the mutex, and only if that waits for this
//!   change: a wake-up of another core's thread costs more than a small statement.

use crate::answer::Event;
use crate::parameter::GivenParameter;
use crate::statement::PreparedText;
use crate::{Error, Value};
use pikepole_contention::sync::atomic::{AtomicBool, Ordering};
use pikepole_contention::sync::{Condvar, Mutex, MutexGuard};
use std::collections::VecDeque;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// Events that may wait for the caller; then the session waits.
const EVENTS_MAX: usize = 1024;

/// Bytes of texts and binaries in them, likewise.
const EVENTS_BYTES_MAX: usize = 4 << 20;

/// What a session is asked for.
pub(crate) enum Request {
    /// A batch with its parameters.
    Batch { sql: String, parameters: Vec<GivenParameter> },
    /// A statement of given declarations is to be compiled, and kept.
    Prepare(PreparedText),
    /// A statement with its parameters; one without declarations is kept from its first run on.
    Execute { statement: PreparedText, parameters: Vec<GivenParameter> },
    /// A load begins: the answer is the table's columns, without rows. The names of columns are as T-SQL writes them.
    BeginLoad { id: u64, table: String, columns: Vec<String> },
    /// A portion of a load.
    Load { id: u64, rows: Vec<Vec<Value>> },
    /// The transaction is rolled back.
    RollBack,
}

/// What the session does next.
#[derive(Default)]
pub(crate) struct Work {
    /// Statements and loads that the caller has dropped.
    pub(crate) forgotten: Vec<u64>,
    /// A transaction that the caller has dropped; before the request.
    pub(crate) rolls_back: bool,
    pub(crate) request: Option<Request>,
}

/// What the caller takes: the events, then the end.
pub(crate) enum Taken {
    Event(Event),
    /// The batch is over; the parameters as it left them.
    End(Vec<(String, Value)>),
}

#[derive(Default)]
struct State {
    work: Work,
    events: VecDeque<Event>,
    /// Bytes of texts and binaries that were sent since the caller had taken all events.
    bytes: usize,
    answer: Option<Vec<(String, Value)>>,
    /// The session's database after the last batch; empty before the first one.
    database: String,
    is_in_transaction: bool,
    /// The caller drops what is left of the batch under way.
    cancelled: bool,
    caller_closed: bool,
    session_ended: bool,
    /// The caller's task, while it waits for events.
    caller: Option<Waker>,
    /// The caller's thread waits on `arrived`.
    caller_blocks: bool,
    /// The session's task, while it waits for a request.
    session: Option<Waker>,
    /// The session's task, while it waits for room.
    wants_room: Option<Waker>,
}

impl State {
    /// Who is to be woken now that events have been taken.
    fn room_made(&mut self) -> Option<Waker> {
        if self.cancelled || self.has_room(EVENTS_MAX / 2) { self.wants_room.take() } else { None }
    }

    /// True while there is room, when no more than so many events wait.
    fn has_room(&self, events_max: usize) -> bool {
        self.events.len() < events_max && (self.bytes < EVENTS_BYTES_MAX || self.events.is_empty())
    }
}

/// See the module's head.
pub(crate) struct Mailbox {
    state: Mutex<State>,
    /// For callers that block their thread.
    arrived: Condvar,
    /// Ends the session's running batch; the session looks at it once in a while.
    cancel_switch: Arc<AtomicBool>,
}

impl Mailbox {
    pub(crate) fn new(cancel_switch: Arc<AtomicBool>) -> Self {
        Mailbox { state: Mutex::default(), arrived: Condvar::new(), cancel_switch }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic of the other side cannot leave the state half changed: every change is a single move.
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    // ---- the caller's side ----

    pub(crate) fn put(&self, request: Request) -> Result<(), Error> {
        let mut state = self.lock();
        if state.session_ended {
            return Err(Error::Closed);
        }
        assert!(state.work.request.is_none(), "one request at a time");
        state.events.clear();
        state.bytes = 0;
        state.answer = None;
        state.cancelled = false;
        self.cancel_switch.store(false, Ordering::Relaxed);
        state.work.request = Some(request);
        let session = state.session.take();
        drop(state);
        wake(session);
        Ok(())
    }

    pub(crate) fn poll_take(&self, context: &mut Context<'_>) -> Poll<Result<Taken, Error>> {
        let mut state = self.lock();
        match next(&mut state) {
            Some(taken) => {
                let session = state.room_made();
                drop(state);
                wake(session);
                Poll::Ready(taken)
            }
            None => {
                state.caller = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }

    /// Runs a future that waits for nothing but this mailbox, and blocks the thread where it waits.
    pub(crate) fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        let mut future = pin!(future);
        let mut context = Context::from_waker(Waker::noop());
        loop {
            if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
                return output;
            }
            let mut state = self.lock();
            while state.events.is_empty() && state.answer.is_none() && !state.session_ended {
                state.caller_blocks = true;
                state = self.arrived.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
            }
            state.caller_blocks = false;
        }
    }

    /// The session forgets a statement or a load before its next request.
    pub(crate) fn forget(&self, id: u64) {
        self.lock().work.forgotten.push(id);
    }

    /// The session rolls its transaction back, as soon as the batch under way is over.
    pub(crate) fn roll_back(&self) {
        let mut state = self.lock();
        state.work.rolls_back = true;
        state.is_in_transaction = false;
        let session = state.session.take();
        drop(state);
        wake(session);
    }

    /// The database that the last batch left the session in, and whether a transaction is open; None before the first batch.
    pub(crate) fn place(&self) -> Option<(String, bool)> {
        let state = self.lock();
        (!state.database.is_empty()).then(|| (state.database.clone(), state.is_in_transaction))
    }

    /// Asks the session to end the batch under way; what it sends until then arrives.
    pub(crate) fn interrupt(&self) {
        // A caller that has put its request since sees what this thread did before.
        let _state = self.lock();
        self.cancel_switch.store(true, Ordering::Relaxed);
    }

    /// Drops what is left of the batch under way and asks the session to end it.
    pub(crate) fn cancel(&self) {
        let mut state = self.lock();
        if state.answer.is_some() {
            // It has ended.
            state.events.clear();
            state.bytes = 0;
        } else {
            self.abandon(state);
        }
    }

    /// The caller goes away.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.caller_closed = true;
        self.abandon(state);
    }

    fn abandon(&self, mut state: MutexGuard<'_, State>) {
        state.cancelled = true;
        state.events.clear();
        state.bytes = 0;
        self.cancel_switch.store(true, Ordering::Relaxed);
        let waiting = [state.session.take(), state.room_made()];
        drop(state);
        waiting.into_iter().for_each(wake);
    }

    // ---- the session's side ----

    /// What to do next; `None` when the caller has gone.
    pub(crate) fn poll_request(&self, context: &mut Context<'_>) -> Poll<Option<Work>> {
        let mut state = self.lock();
        if state.work.request.is_some() || state.work.rolls_back {
            return Poll::Ready(Some(std::mem::take(&mut state.work)));
        }
        if state.caller_closed {
            return Poll::Ready(None);
        }
        state.session = Some(context.waker().clone());
        Poll::Pending
    }

    /// Hands a batch of events over; `events` is empty afterwards. Whether the caller has room for more.
    pub(crate) fn send(&self, events: &mut Vec<Event>, bytes: usize) -> bool {
        let mut state = self.lock();
        if state.cancelled {
            events.clear();
            return true;
        }
        state.events.extend(events.drain(..));
        state.bytes += bytes;
        let has_room = state.has_room(EVENTS_MAX);
        self.wake_caller(state);
        has_room
    }

    /// Ready when the caller has room for more events.
    pub(crate) fn poll_room(&self, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        if state.cancelled || state.has_room(EVENTS_MAX / 2) {
            return Poll::Ready(());
        }
        state.wants_room = Some(context.waker().clone());
        Poll::Pending
    }

    /// Hands over the last events of a batch and its parameters, and where it has left the session.
    pub(crate) fn finish(
        &self,
        events: &mut Vec<Event>,
        parameters: Vec<(String, Value)>,
        database: &str,
        is_in_transaction: bool,
    ) {
        let mut state = self.lock();
        if state.database != database {
            state.database = database.to_owned();
        }
        // One that was dropped meanwhile is on its way to be rolled back.
        state.is_in_transaction = is_in_transaction && !state.work.rolls_back;
        if state.cancelled {
            events.clear();
        }
        state.events.extend(events.drain(..));
        state.answer = Some(parameters);
        self.wake_caller(state);
    }

    /// The session is gone: the caller gets what is left, then [`Error::Closed`].
    pub(crate) fn session_ended(&self) {
        let mut state = self.lock();
        state.session_ended = true;
        self.wake_caller(state);
    }

    fn wake_caller(&self, mut state: MutexGuard<'_, State>) {
        let (caller, blocks) = (state.caller.take(), state.caller_blocks);
        drop(state);
        if blocks {
            self.arrived.notify_one();
        }
        wake(caller);
    }
}

fn next(state: &mut State) -> Option<Result<Taken, Error>> {
    if let Some(event) = state.events.pop_front() {
        if state.events.is_empty() {
            state.bytes = 0;
        }
        return Some(Ok(Taken::Event(event)));
    }
    if let Some(parameters) = state.answer.take() {
        return Some(Ok(Taken::End(parameters)));
    }
    state.session_ended.then_some(Err(Error::Closed))
}

fn wake(waker: Option<Waker>) {
    if let Some(waker) = waker {
        waker.wake();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;

    fn mailbox() -> Mailbox {
        Mailbox::new(Arc::new(AtomicBool::new(false)))
    }

    fn take(mailbox: &Mailbox) -> Result<Taken, Error> {
        mailbox.block_on(poll_fn(|context| mailbox.poll_take(context)))
    }

    fn request() -> Request {
        Request::Batch { sql: "SELECT 1".to_string(), parameters: Vec::new() }
    }

    fn events(count: usize) -> Vec<Event> {
        (0..count).map(|_| Event::Done { rows: None }).collect()
    }

    #[test]
    fn events_come_in_order_and_then_the_end() {
        let mailbox = mailbox();
        let mut context = Context::from_waker(Waker::noop());
        assert!(mailbox.put(request()).is_ok());
        assert!(matches!(mailbox.poll_request(&mut context), Poll::Ready(Some(_))));
        assert!(mailbox.send(&mut events(1), 0));
        mailbox.finish(&mut events(1), Vec::new(), "master", false);
        assert!(matches!(take(&mailbox), Ok(Taken::Event(_))));
        assert!(matches!(take(&mailbox), Ok(Taken::Event(_))));
        assert!(matches!(take(&mailbox), Ok(Taken::End(_))));
        assert!(mailbox.poll_take(&mut context).is_pending());
    }

    #[test]
    fn a_caller_that_lags_behind_makes_the_session_wait() {
        let mailbox = mailbox();
        let mut context = Context::from_waker(Waker::noop());
        assert!(mailbox.put(request()).is_ok());
        assert!(mailbox.send(&mut events(EVENTS_MAX - 1), 0));
        assert!(!mailbox.send(&mut events(1), 0));
        for _ in 0..=EVENTS_MAX / 2 {
            assert!(mailbox.poll_room(&mut context).is_pending());
            assert!(matches!(take(&mailbox), Ok(Taken::Event(_))));
        }
        assert!(mailbox.poll_room(&mut context).is_ready());
    }

    #[test]
    fn a_caller_that_gives_up_frees_and_cancels_the_session() {
        let mailbox = mailbox();
        let mut context = Context::from_waker(Waker::noop());
        assert!(mailbox.put(request()).is_ok());
        assert!(!mailbox.send(&mut events(EVENTS_MAX), 0));
        assert!(mailbox.poll_room(&mut context).is_pending());
        mailbox.cancel();
        assert!(mailbox.cancel_switch.load(Ordering::Relaxed));
        assert!(mailbox.poll_room(&mut context).is_ready());
        assert!(mailbox.send(&mut events(1), 0), "what is sent now is dropped");
        mailbox.finish(&mut events(1), Vec::new(), "master", false);
        assert!(matches!(take(&mailbox), Ok(Taken::End(_))));
    }

    #[test]
    fn either_side_learns_that_the_other_is_gone() {
        let mailbox = mailbox();
        let mut context = Context::from_waker(Waker::noop());
        mailbox.close();
        assert!(matches!(mailbox.poll_request(&mut context), Poll::Ready(None)));
        mailbox.session_ended();
        assert!(matches!(take(&mailbox), Err(Error::Closed)));
        assert!(matches!(mailbox.put(request()), Err(Error::Closed)));
    }
}
