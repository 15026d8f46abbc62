//! The cursors that a session has declared, as functions and views ask for them.

use super::ExecutionContext;
use crate::procedural::CursorShown;

impl ExecutionContext {
    /// `CURSOR_STATUS`: 1 for an open cursor with rows, 0 without, -1 for a closed one, -3 for none of this name.
    pub fn cursor_status(&self, name: &str, global: bool) -> i16 {
        self.cursors.status(name, global, self.state.nest_level)
    }

    /// The cursors that the session has declared, in the order of their declarations.
    pub fn cursors(&self) -> Vec<CursorShown> {
        self.cursors.shown()
    }
}
