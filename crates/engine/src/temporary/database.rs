//! tempdb itself: made when a session first needs it, forgotten when the server ends.

use std::sync::Arc;

use pikepole_types::SqlError;

use crate::catalog::Object;
use crate::database::{
    Database, DatabaseOptions, DelayedDurability, Durability, NotMade, RecoveryModel, ScopedConfiguration, Switches,
    UserAccess,
};
use crate::file_operation::file_operation;
use crate::server::{DatabaseInfo, DatabaseState, Server};
use crate::transaction::Transaction;
use pikepole_transaction::LockMode;
use pikepole_types::Collation;

/// The object that error 1105 names when tempdb itself has no room.
const OBJECT: &str = "<temporary system object>";
/// The database of temporary tables.
pub const TEMPDB: &str = "tempdb";
/// Its id.
pub const TEMPDB_ID: i32 = 2;

/// Its options: nobody waits for its log, and nobody recovers it.
const OPTIONS: DatabaseOptions = DatabaseOptions {
    delayed_durability: DelayedDurability::Forced,
    recovery: RecoveryModel::Simple,
    read_committed_snapshot: true,
    allow_snapshot_isolation: true,
    recursive_triggers: false,
    user_access: UserAccess::Multi,
    switches: Switches::USUAL,
    scoped: ScopedConfiguration::USUAL,
    collation: Collation::DEFAULT,
};

impl Database {
    async fn drop_global(&self, session_id: i32, object_id: i32) -> Result<(), SqlError> {
        let mut tx = self.transaction(session_id);
        let dropped = self.drop_unused(&mut tx, object_id).await;
        match dropped {
            Ok(()) => self.commit(&mut tx, Durability::Delayed).await,
            Err(_) => dropped.and(self.rollback(&mut tx).await),
        }
    }

    async fn drop_unused(&self, tx: &mut Transaction, object_id: i32) -> Result<(), SqlError> {
        if let Some(table) = self.current_catalog().table_by_id(object_id) {
            // First, so that nobody who makes a table waits for its users.
            self.lock_whole(tx, &table.state.lock, LockMode::SchM).await?;
        }
        match self.current_catalog().object_by_id(object_id) {
            Some(Object::Table(table)) => self.drop_table(tx, &table.schema, &table.name).await,
            Some(Object::Procedure(module)) => self.drop_procedure(tx, &module.schema, &module.name).await,
            _ => Ok(()),
        }
    }
}

impl Server {
    /// tempdb, made if this server has not needed it yet.
    ///
    /// # Errors
    /// When its files cannot be made, 1105 on a full disk, else 1802.
    pub async fn tempdb(self: &Arc<Self>) -> Result<Arc<Database>, SqlError> {
        if let Ok(database) = self.database(TEMPDB) {
            return Ok(database);
        }
        let server = Arc::clone(self);
        let made = file_operation(move || server.make_tempdb()).await;
        made.map_err(|not_made| match not_made.is_full {
            true => SqlError::no_space_for_object(OBJECT, TEMPDB, "PRIMARY"),
            false => not_made.into_error(),
        })?;
        self.database(TEMPDB)
    }

    /// Drops what a session that has ended has made in tempdb for all sessions, each once nobody uses it.
    pub async fn drop_globals(&self, session_id: i32, objects: Vec<i32>) {
        let Ok(tempdb) = self.database(TEMPDB) else { return };
        for object_id in objects {
            // The victim of a deadlock waits again. Whatever else fails, tempdb's next beginning has none of it.
            while tempdb.drop_global(session_id, object_id).await.is_err_and(|error| error.number == 1205) {}
        }
    }

    fn make_tempdb(&self) -> Result<(), NotMade> {
        let _turn = self.tempdb_turn();
        if self.database(TEMPDB).is_ok() {
            return Ok(());
        }
        self.create_now(TEMPDB, TEMPDB_ID, Collation::DEFAULT)?;
        Ok(self.database(TEMPDB)?.set_options(OPTIONS)?)
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
