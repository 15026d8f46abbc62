//! Ctrl-C while a batch runs. (While a line is typed the terminal gives it to the line editor as a key.)

use crate::command::CommandError;
use crate::command::session::Cancel;
use pikepole_contention::sync::atomic::{AtomicBool, Ordering};
use pikepole_contention::sync::{Arc, Mutex, MutexGuard};

/// The handler of SIGINT.
pub struct Interrupt(Arc<State>);

#[derive(Default)]
struct State {
    /// What ends the batch that is running.
    running: Mutex<Option<Cancel>>,
    /// It came since the last line was typed.
    pressed: AtomicBool,
}

impl Interrupt {
    /// From now on Ctrl-C does not end the process.
    pub fn catch() -> Result<Interrupt, CommandError> {
        let state = Arc::new(State::default());
        let ours = Arc::clone(&state);
        let pressed = move || {
            ours.pressed.store(true, Ordering::Relaxed);
            if let Some(cancel) = &*ours.running() {
                cancel();
            }
        };
        pikepole_machine::interrupt::on_interrupt(pressed).map_err(CommandError::io("the interrupt signal"))?;
        Ok(Interrupt(state))
    }

    /// Set when it was pressed; for who runs several batches one after the other.
    pub fn pressed(&self) -> &AtomicBool {
        &self.0.pressed
    }

    /// Whether it was pressed since the last [`Interrupt::forget`].
    pub fn is_pressed(&self) -> bool {
        self.0.pressed.load(Ordering::Relaxed)
    }

    /// Forgets that it was pressed.
    pub fn forget(&self) {
        self.0.pressed.store(false, Ordering::Relaxed);
    }

    /// Has it end what `f` runs.
    pub fn ending<R>(&self, cancel: Cancel, f: impl FnOnce() -> R) -> R {
        *self.0.running() = Some(cancel);
        let result = f();
        *self.0.running() = None;
        result
    }
}

impl State {
    fn running(&self) -> MutexGuard<'_, Option<Cancel>> {
        // Each change is a single store.
        self.running.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
