//! tempdb itself: made when a session first needs it, forgotten when the server ends.

use std::sync::Arc;

use pikepole_types::SqlError;

use crate::database::{Database, DatabaseOptions, DelayedDurability, RecoveryModel};
use crate::server::{DatabaseInfo, DatabaseState, Server};

/// The database of temporary tables.
pub const TEMPDB: &str = "tempdb";
/// Its id.
pub(crate) const TEMPDB_ID: i32 = 2;

/// Its options: nobody waits for its log, and nobody recovers it.
const OPTIONS: DatabaseOptions = DatabaseOptions {
    delayed_durability: DelayedDurability::Forced,
    recovery: RecoveryModel::Simple,
    read_committed_snapshot: true,
    allow_snapshot_isolation: true,
    recursive_triggers: false,
};

impl Server {
    /// tempdb, made if this server has not needed it yet.
    ///
    /// # Errors
    /// 1802 when its files cannot be made.
    pub async fn tempdb(self: &Arc<Self>) -> Result<Arc<Database>, SqlError> {
        if let Ok(database) = self.database(TEMPDB) {
            return Ok(database);
        }
        let server = Arc::clone(self);
        let made = pikepole_scheduler::run_blocking(move || server.make_tempdb()).await;
        made.map_err(|why| {
            let mut error = SqlError::create_database_failed();
            error.message = format!("{} ({why})", error.message);
            error
        })?;
        self.database(TEMPDB)
    }

    fn make_tempdb(&self) -> Result<(), String> {
        let _turn = self.tempdb_turn();
        if self.database(TEMPDB).is_ok() {
            return Ok(());
        }
        self.create_now(TEMPDB, TEMPDB_ID)?;
        let database = self.database(TEMPDB).map_err(|error| error.message)?;
        database.set_options(OPTIONS).map_err(|error| error.message)
    }

    /// The row of `sys.databases` for a tempdb that nobody has needed yet.
    pub(crate) fn tempdb_row(&self) -> DatabaseInfo {
        DatabaseInfo {
            id: TEMPDB_ID,
            name: TEMPDB.to_owned(),
            created_us: u64::try_from(self.started_us()).unwrap_or(0),
            state: DatabaseState::Online,
            options: OPTIONS,
        }
    }
}
