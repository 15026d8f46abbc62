//! An empty table that the workers of an INSERT fill without logging: what their session does before and after.

use std::sync::Arc;

use crate::expression::Fault;
use pikepole_contention::sync::{Mutex, MutexGuard};
use pikepole_engine::{Database, Fill, Table, Transaction};

/// See the module. The session takes a step whenever its statement stops for one ([`crate::access::Stop::Fill`]).
pub(crate) struct Filling {
    table: Arc<Table>,
    /// What the table is filled with, once that has begun.
    fill: Mutex<Option<Arc<Fill>>>,
}

impl std::fmt::Debug for Filling {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Filling").finish_non_exhaustive()
    }
}

impl Filling {
    pub(crate) fn new(table: &Arc<Table>) -> Arc<Filling> {
        Arc::new(Filling { table: Arc::clone(table), fill: Mutex::new(None) })
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<Fill>>> {
        self.fill.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// What workers fill, once the first step was taken.
    pub(crate) fn begun(&self) -> Option<Arc<Fill>> {
        self.lock().clone()
    }

    /// The first step makes the storage that is filled, the second one gives it to the table.
    ///
    /// # Errors
    /// As of [`Database::begin_fill`] and [`Database::end_fill`].
    pub(crate) async fn step(&self, database: &Database, tx: &mut Transaction) -> Result<(), Fault> {
        match self.begun() {
            None => {
                let fill = database.begin_fill(tx, &self.table).await?;
                *self.lock() = Some(Arc::new(fill));
            }
            Some(fill) => database.end_fill(tx, &fill).await?,
        }
        Ok(())
    }
}
