//! What a session's statements have taken of the server's memory, and the end of those that have too much.

use super::{ExecutionContext, look};
use crate::executor::spill::{MemoryWait, POOL};
use crate::expression::Fault;
use pikepole_machine::memory;
use pikepole_types::SqlError;

impl ExecutionContext {
    /// Waits for memory, or for the file that rows are in which found none.
    ///
    /// # Errors
    /// As of [`Budget::await_memory`]; 3617 when the batch was cancelled.
    pub(crate) async fn await_memory(&self, wait: MemoryWait) -> Result<(), Fault> {
        self.budget.await_memory(wait, || look(&self.cancelled)).await
    }

    /// A batch begins: what was taken before is not its doing.
    pub(crate) fn begin_batch_memory(&mut self) {
        memory::forget_task_heap();
        self.heap_before = 0;
    }

    /// A statement begins: what other statements have made, and others free, does not count for it.
    #[inline]
    pub(crate) fn begin_statement_memory(&mut self) {
        self.heap_before = memory::task_heap().all;
    }

    /// Stops for a moment: ends the statement when memory is short and it holds much, it and its transaction together.
    ///
    /// # Errors
    /// 701.
    pub(super) fn look_at_memory(&self) -> Result<(), Fault> {
        match memory::is_pressed() {
            false => Ok(()),
            true => relieve(memory::task_heap().all - self.heap_before + self.transaction.undo_bytes() as i64),
        }
    }
}

/// Ends what holds so many bytes when memory is short.
///
/// # Errors
/// 701.
pub(crate) fn relieve(held: i64) -> Result<(), Fault> {
    memory::relieve(held).map_err(|_| Box::new(SqlError::insufficient_memory(POOL)))
}
