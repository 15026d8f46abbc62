//! Counting the rows that statements change.

use super::ExecutionContext;
use pikepole_contention::Counter;

impl ExecutionContext {
    /// Counts the rows that statements have changed, whenever the batch pauses: a statement of one row only adds it up.
    pub(crate) fn count_rows_changed(&mut self) {
        let rows = std::mem::take(&mut self.rows_changed);
        if rows > 0 {
            self.database.statistics().add(Counter::RowsChanged, rows);
        }
    }
}
