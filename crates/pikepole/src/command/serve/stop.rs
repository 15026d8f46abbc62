//! The signal that ends a server, also while it starts.

use super::super::CommandError;
use super::super::session::Cancel;
use pikepole_contention::sync::atomic::{AtomicBool, Ordering};
use pikepole_contention::sync::{Arc, Mutex, MutexGuard};
use std::sync::mpsc;

/// Waits for SIGTERM, SIGINT or SIGHUP.
pub struct Stop {
    state: Arc<State>,
    asked: mpsc::Receiver<()>,
}

#[derive(Default)]
struct State {
    asked: AtomicBool,
    /// What ends that which the start is waiting for.
    running: Mutex<Option<Cancel>>,
}

impl State {
    fn running(&self) -> MutexGuard<'_, Option<Cancel>> {
        // Each change is a single store.
        self.running.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Stop {
    /// From now on these signals do not end the process.
    ///
    /// # Errors
    /// The system refuses it.
    pub fn catch() -> Result<Stop, CommandError> {
        let (ask, asked) = mpsc::channel();
        let state = Arc::new(State::default());
        let ours = Arc::clone(&state);
        pikepole_machine::interrupt::on_termination(move || {
            ours.asked.store(true, Ordering::Relaxed);
            if let Some(cancel) = &*ours.running() {
                cancel();
            }
            // A second signal changes nothing.
            let _ = ask.send(());
        })
        .map_err(CommandError::io("the signals"))?;
        Ok(Stop { state, asked })
    }

    /// Blocks until a signal comes.
    pub fn wait(&self) {
        // The sender is never gone: its thread lives as long as the process.
        let _ = self.asked.recv();
    }

    /// Whether a signal has come.
    pub fn asked(&self) -> &AtomicBool {
        &self.state.asked
    }

    /// An error when a signal has come.
    ///
    /// # Errors
    /// The signal.
    pub fn check(&self) -> Result<(), CommandError> {
        match self.state.asked.load(Ordering::Relaxed) {
            true => Err(CommandError::Usage("ended by a signal before the server was ready".to_owned())),
            false => Ok(()),
        }
    }

    /// Runs something that the signal cancels.
    pub fn cancelling<T>(&self, cancel: Cancel, run: impl FnOnce() -> T) -> T {
        *self.state.running() = Some(cancel);
        // One that came before the line above has found nothing to cancel.
        if self.state.asked.load(Ordering::Relaxed)
            && let Some(cancel) = &*self.state.running()
        {
            cancel();
        }
        let done = run();
        *self.state.running() = None;
        done
    }
}
