//! The format files of the statement that is being bound. Binding is synchronous, reading is not: what a binder misses is noted, the session
//! reads it, and the statement is bound again.

use std::sync::Arc;

use super::format_file::FormatFile;
use crate::errors;
use crate::expression::Fault;
use pikepole_contention::sync::{Mutex, MutexGuard};

/// See the module. A session has one.
#[derive(Default)]
pub(crate) struct FormatFiles {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    read: Vec<(String, Arc<FormatFile>)>,
    wanted: Option<String>,
}

impl FormatFiles {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// A format file by its name, as it is written.
    ///
    /// # Errors
    /// It must be read first; whoever cannot do that says so.
    pub(crate) fn of(&self, name: &str) -> Result<Arc<FormatFile>, Fault> {
        let mut state = self.state();
        if let Some((_, file)) = state.read.iter().find(|(known, _)| known == name) {
            return Ok(Arc::clone(file));
        }
        state.wanted = Some(name.to_owned());
        Err(errors::unsupported("OPENROWSET(BULK ...) with a format file in a definition, a cursor or a description"))
    }

    /// The file that was missing since this was last asked.
    pub(crate) fn take_wanted(&self) -> Option<String> {
        self.state().wanted.take()
    }

    /// A file was read.
    pub(crate) fn put(&self, name: String, file: Arc<FormatFile>) {
        self.state().read.push((name, file));
    }

    /// The statement is bound: the next one reads its files anew.
    pub(crate) fn clear(&self) {
        *self.state() = State::default();
    }
}
