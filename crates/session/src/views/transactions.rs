//! `sys.dm_tran_active_transactions`, `dm_tran_session_transactions`, `dm_tran_database_transactions`, `dm_tran_locks`.
//!
//! Log records carry the id of a transaction that is unique in its database. The views' `transaction_id` is unique in the
//! server: [`DATABASE_IDS`] times the database's id, and the transaction's. A transaction is shown from BEGIN TRANSACTION on, or
//! from the first change of a statement of its own; such a statement that only reads is not shown.

use super::Kind::{BigInt, Bit, Bytes, DateTime, Guid, Int, Lsn, SmallInt, Text};
use super::Nullable::{No, Yes};
use super::{RowBuilder, Rows, Source, View};
use pikepole_engine::{
    Database, LockRow, LockedThing, NAMED_LOCK_FIRST, OpenTransaction, TransactionId, lock_description,
};
use pikepole_types::SqlError;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Transaction ids that each database has.
const DATABASE_IDS: i64 = 1_000_000_000_000_000;

/// What an explicit transaction without a name is called.
const UNNAMED: &str = "user_transaction";

/// `transaction_type`: a transaction that has changed something, one that has not.
const READ_WRITE: i32 = 1;
const READ_ONLY: i32 = 2;
/// `transaction_state`: active.
const ACTIVE: i32 = 2;
/// `database_transaction_state`: no log records yet, log records.
const WITHOUT_RECORDS: i32 = 3;
const WITH_RECORDS: i32 = 4;

/// `transaction_isolation_level` of SNAPSHOT.
const SNAPSHOT: i32 = 5;

pub(super) const VIEWS: &[View] = &[
    View {
        schema: "sys",
        name: "dm_tran_active_transactions",
        columns: &[
            ("transaction_id", BigInt, No),
            ("name", Text(32), No),
            ("transaction_begin_time", DateTime, No),
            ("transaction_type", Int, No),
            ("transaction_uow", Guid, Yes),
            ("transaction_state", Int, No),
            ("transaction_status", Int, Yes),
            ("transaction_status2", Int, Yes),
            ("dtc_state", Int, Yes),
            ("dtc_status", Int, Yes),
            ("dtc_isolation_level", Int, Yes),
            ("filestream_transaction_id", Bytes(128), Yes),
        ],
        rows: active_transactions,
    },
    View {
        schema: "sys",
        name: "dm_tran_current_transaction",
        columns: &[
            ("transaction_id", BigInt, No),
            ("transaction_sequence_num", BigInt, No),
            ("transaction_is_snapshot", Bit, No),
            ("first_snapshot_sequence_num", BigInt, Yes),
            ("last_transaction_sequence_num", BigInt, Yes),
            ("first_useful_sequence_num", BigInt, Yes),
        ],
        rows: current_transaction,
    },
    View {
        schema: "sys",
        name: "dm_tran_session_transactions",
        columns: &[
            ("session_id", Int, No),
            ("transaction_id", BigInt, No),
            ("transaction_descriptor", Bytes(8), Yes),
            ("enlist_count", Int, No),
            ("is_user_transaction", Bit, No),
            ("is_local", Bit, No),
            ("is_enlisted", Bit, No),
            ("is_bound", Bit, No),
            ("open_transaction_count", Int, No),
        ],
        rows: session_transactions,
    },
    View {
        schema: "sys",
        name: "dm_tran_database_transactions",
        columns: &[
            ("transaction_id", BigInt, No),
            ("database_id", Int, No),
            ("database_transaction_begin_time", DateTime, Yes),
            ("database_transaction_type", Int, No),
            ("database_transaction_state", Int, No),
            ("database_transaction_status", Int, Yes),
            ("database_transaction_status2", Int, Yes),
            ("database_transaction_log_record_count", BigInt, No),
            ("database_transaction_replicate_record_count", Int, No),
            ("database_transaction_log_bytes_used", BigInt, No),
            ("database_transaction_log_bytes_reserved", BigInt, No),
            ("database_transaction_log_bytes_used_system", Int, No),
            ("database_transaction_log_bytes_reserved_system", Int, No),
            ("database_transaction_begin_lsn", Lsn, Yes),
            ("database_transaction_last_lsn", Lsn, Yes),
            ("database_transaction_most_recent_savepoint_lsn", Lsn, Yes),
            ("database_transaction_commit_lsn", Lsn, Yes),
            ("database_transaction_last_rollback_lsn", Lsn, Yes),
            ("database_transaction_next_undo_lsn", Lsn, Yes),
        ],
        rows: database_transactions,
    },
    View {
        schema: "sys",
        name: "dm_tran_locks",
        columns: &[
            ("resource_type", Text(60), No),
            ("resource_subtype", Text(60), No),
            ("resource_database_id", Int, No),
            ("resource_description", Text(256), No),
            ("resource_associated_entity_id", BigInt, Yes),
            ("resource_lock_partition", Int, No),
            ("request_mode", Text(60), No),
            ("request_type", Text(60), No),
            ("request_status", Text(60), No),
            ("request_reference_count", SmallInt, No),
            ("request_lifetime", Int, No),
            ("request_session_id", Int, No),
            ("request_exec_context_id", Int, No),
            ("request_request_id", Int, No),
            ("request_owner_type", Text(60), No),
            ("request_owner_id", BigInt, Yes),
            ("request_owner_guid", Guid, Yes),
            ("request_owner_lockspace_id", Text(32), No),
            ("lock_owner_address", Bytes(8), Yes),
        ],
        rows: locks,
    },
];

/// A transaction's id as the views show it.
pub(crate) fn transaction_id(database: &Database, id: TransactionId) -> i64 {
    i64::from(database.id()) * DATABASE_IDS + i64::try_from(id.0).unwrap_or(i64::MAX) % DATABASE_IDS
}

/// The open transactions of all databases, by database and session.
fn open(source: &Source<'_>) -> Vec<(Arc<Database>, OpenTransaction)> {
    let databases = source.every_database().into_iter();
    databases
        .flat_map(|database| {
            let open = database.open_transactions();
            open.into_iter().map(move |transaction| (Arc::clone(&database), transaction))
        })
        .collect()
}

/// The id of each session's open transaction.
pub(super) fn ids_by_session(source: &Source<'_>) -> BTreeMap<i32, i64> {
    open(source).iter().map(|(database, open)| (open.session_id, transaction_id(database, open.id))).collect()
}

/// A session's wait for a lock.
pub(super) struct LockWait {
    /// A session that is in the way; None when it has just ended.
    pub(super) blocker: Option<i32>,
    /// What is waited for, as `dm_exec_requests` writes it.
    pub(super) resource: String,
    /// The same as `dm_os_waiting_tasks` writes it.
    pub(super) description: String,
}

/// Who waits for a lock, by session.
pub(super) fn lock_waits(source: &Source<'_>) -> BTreeMap<i32, LockWait> {
    let mut waits = BTreeMap::new();
    for database in source.every_database() {
        let rows = database.locks();
        if rows.iter().all(|row| row.is_granted) {
            continue;
        }
        let open = database.open_transactions();
        for waiter in rows.iter().filter(|row| !row.is_granted) {
            let blocker = match waiter.thing {
                LockedThing::RowOf(id) => open.iter().find(|open| open.id == id).map(|open| open.session_id),
                LockedThing::Keys(..) => waiter.blocker,
                LockedThing::Object(_) => rows
                    .iter()
                    .filter(|row| row.thing == waiter.thing && row.session_id != waiter.session_id)
                    .filter(|row| row.mode.conflicts(waiter.mode))
                    // Who holds it is in the way rather than who waits for it too.
                    .max_by_key(|row| row.is_granted)
                    .map(|row| row.session_id),
            };
            let (resource, description) = resource_of(&database, waiter);
            waits.insert(waiter.session_id, LockWait { blocker, resource, description });
        }
    }
    waits
}

/// What a waiter waits for, as requests and as waiting tasks show it.
fn resource_of(database: &Database, waiter: &LockRow) -> (String, String) {
    let (id, mode) = (database.id(), waiter.mode.name());
    match waiter.thing {
        LockedThing::Object(CATALOG) => {
            (format!("METADATA: database_id = {id}"), format!("metadatalock dbid={id} mode={mode}"))
        }
        LockedThing::Object(name) if name >= NAMED_LOCK_FIRST => {
            (format!("APPLICATION: {id}:{name}"), format!("applicationlock hash={name} dbid={id} mode={mode}"))
        }
        LockedThing::Object(object) => (
            format!("OBJECT: {id}:{object}:0"),
            format!(
                "objectlock lockPartition=0 objid={object} subresource=FULL dbid={id} mode={mode} associatedObjectId={object}"
            ),
        ),
        LockedThing::Keys(object, hash) => {
            let hash = lock_description(hash);
            (
                format!("KEY: {id}:{object} {hash}"),
                format!("keylock objid={object} hash={hash} dbid={id} mode={mode} associatedObjectId={object}"),
            )
        }
        LockedThing::RowOf(transaction) => {
            let transaction = transaction_id(database, transaction);
            (format!("XACT: {id}:{transaction}"), format!("xactlock xdesId={transaction} dbid={id} mode={mode}"))
        }
    }
}

/// The number of the lock that guards a database's catalog.
const CATALOG: u32 = 0;

fn active_transactions(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let tasks = source.server.schedulers().tasks();
    let name = |open: &OpenTransaction| {
        let given = source.registry.row(open.session_id).and_then(|session| session.transaction_name);
        let task = tasks.iter().find(|task| task.session_id == Some(open.session_id));
        match (open.is_explicit, given, task) {
            (true, Some(name), _) => name,
            (false, _, Some(task)) => task.command.to_string(),
            _ => UNNAMED.to_string(),
        }
    };
    let row = |(database, open): &(Arc<Database>, OpenTransaction)| {
        view.row()
            .integer("transaction_id", transaction_id(database, open.id))
            .text("name", name(open))
            .moment("transaction_begin_time", super::unix_us(open.begun_us))
            .integer("transaction_type", kind(open))
            .integer("transaction_state", ACTIVE)
            .done()
    };
    Ok(open(source).iter().map(row).collect())
}

fn kind(open: &OpenTransaction) -> i32 {
    if open.changes.is_some() { READ_WRITE } else { READ_ONLY }
}

/// The transaction of the session that asks. Sequence numbers are places in the log, which is the clock of snapshots.
fn current_transaction(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let isolation = source.registry.row(source.host.session_id).map(|session| session.shown.isolation);
    let is_own = |(_, open): &(Arc<Database>, OpenTransaction)| open.session_id == source.host.session_id;
    let row = |(database, open): (Arc<Database>, OpenTransaction)| {
        let first = open.changes.as_ref().and_then(|changes| changes.first_lsn);
        view.row()
            .integer("transaction_id", transaction_id(&database, open.id))
            .integer("transaction_sequence_num", first.map_or(0, |lsn| i64::try_from(lsn.0).unwrap_or(i64::MAX)))
            .bit("transaction_is_snapshot", isolation == Some(SNAPSHOT))
            .done()
    };
    Ok(self::open(source).into_iter().filter(is_own).map(row).collect())
}

fn session_transactions(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let row = |(database, open): &(Arc<Database>, OpenTransaction)| {
        let session = source.registry.row(open.session_id);
        let is_running = session.as_ref().is_some_and(|session| session.running);
        view.row()
            .integer("session_id", open.session_id)
            .integer("transaction_id", transaction_id(database, open.id))
            .integer("enlist_count", i64::from(is_running))
            .bit("is_user_transaction", open.is_explicit)
            .bit("is_local", true)
            .integer("open_transaction_count", session.map_or(0, |session| session.open_transactions))
            .done()
    };
    Ok(open(source).iter().map(row).collect())
}

fn database_transactions(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let row = |(database, open): &(Arc<Database>, OpenTransaction)| {
        let row = view
            .row()
            .integer("transaction_id", transaction_id(database, open.id))
            .integer("database_id", database.id())
            .integer("database_transaction_type", kind(open));
        let Some(changes) = &open.changes else {
            return row.integer("database_transaction_state", WITHOUT_RECORDS).done();
        };
        let state = if changes.log_records > 0 { WITH_RECORDS } else { WITHOUT_RECORDS };
        row.integer("database_transaction_state", state)
            .moment("database_transaction_begin_time", super::unix_us(changes.begun_us))
            .integer("database_transaction_log_record_count", changes.log_records)
            .integer("database_transaction_log_bytes_used", changes.log_bytes)
            .integer("database_transaction_log_bytes_reserved", changes.reserved_bytes)
            .lsn_if("database_transaction_begin_lsn", changes.first_lsn)
            .lsn_if("database_transaction_last_lsn", changes.last_lsn)
            .done()
    };
    Ok(open(source).iter().map(row).collect())
}

/// Locks of tables, rows and keys, held and waited for; and each transaction that has changed something as the lock on its rows, which those
/// who want one of them wait for.
fn locks(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let mut rows = Vec::new();
    for database in source.every_database() {
        for open in database.open_transactions().iter().filter(|open| open.changes.is_some()) {
            let held = LockRow {
                session_id: open.session_id,
                id: Some(open.id),
                thing: LockedThing::RowOf(open.id),
                mode: pikepole_engine::LockMode::X,
                is_granted: true,
                count: 1,
                blocker: None,
            };
            rows.push(lock_row(view, &database, &held).done());
        }
        rows.extend(database.locks().iter().map(|row| lock_row(view, &database, row).done()));
    }
    Ok(rows)
}

fn lock_row(view: &View, database: &Database, lock: &LockRow) -> RowBuilder {
    let row = view
        .row()
        .integer("resource_database_id", database.id())
        .text("request_mode", lock.mode.name())
        .text("request_type", "LOCK")
        .text("request_status", if lock.is_granted { "GRANT" } else { "WAIT" })
        .integer("request_reference_count", lock.count as u64)
        .integer("request_session_id", lock.session_id);
    let row = match lock.thing {
        LockedThing::Object(CATALOG) => row.text("resource_type", "METADATA"),
        LockedThing::Object(object) if object >= NAMED_LOCK_FIRST => row.text("resource_type", "APPLICATION"),
        LockedThing::Object(object) => {
            row.text("resource_type", "OBJECT").integer("resource_associated_entity_id", object)
        }
        LockedThing::Keys(object, hash) => row
            .text("resource_type", "KEY")
            .text("resource_description", lock_description(hash))
            .integer("resource_associated_entity_id", object),
        LockedThing::RowOf(id) => {
            row.text("resource_type", "XACT").text("resource_description", transaction_id(database, id).to_string())
        }
    };
    match lock.id {
        Some(id) => {
            row.text("request_owner_type", "TRANSACTION").integer("request_owner_id", transaction_id(database, id))
        }
        None => row.text("request_owner_type", "SESSION"),
    }
}
