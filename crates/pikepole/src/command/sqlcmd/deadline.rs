//! A limit to how long a batch may run: a thread takes it back when the time is over.

use pikepole_client::Canceller;
use pikepole_contention::sync::{Arc, Condvar, Mutex, MutexGuard, thread};
use std::time::Duration;

/// A batch's limit, under way.
pub struct Deadline {
    shared: Arc<Shared>,
    thread: thread::JoinHandle<()>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Default)]
struct State {
    /// The batch is over.
    has_ended: bool,
    /// It was taken back.
    was_late: bool,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        // Each change is a single store.
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Deadline {
    /// Takes the batch back after this time.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn start(limit: Duration, canceller: Canceller) -> std::io::Result<Deadline> {
        let shared = Arc::new(Shared::default());
        let ours = Arc::clone(&shared);
        let wait = move || {
            let waited = ours.ended.wait_timeout_while(ours.state(), limit, |state| !state.has_ended);
            let (mut state, _) = waited.unwrap_or_else(|poisoned| poisoned.into_inner());
            if !state.has_ended {
                state.was_late = true;
                drop(state);
                canceller.cancel();
            }
        };
        let thread = thread::Builder::new().name("query timeout".to_owned()).spawn(wait)?;
        Ok(Deadline { shared, thread })
    }

    /// The batch is over; whether it was taken back.
    pub fn finish(self) -> bool {
        self.shared.state().has_ended = true;
        self.shared.ended.notify_all();
        // The thread does not panic.
        let _ = self.thread.join();
        self.shared.state().was_late
    }
}
