//! What BACKUP and RESTORE leave in msdb.

use std::sync::Arc;

use pikepole_engine::{
    BackupKind, BackupSetRow, DEFAULT_SCHEMA, Database, Durability, Interrupted, MediaRow, ReadHints, RecoveryModel,
    RowCount, ScanRange, SuspectPage, Table, Transaction,
};
use pikepole_types::{Decimal, SqlError, SqlType, Value};

use crate::backups::guid;
use crate::result_set::string;
use crate::views::datetime;

/// A row of a table on its way there: NULL where nothing is said.
struct Row<'a> {
    table: &'a Table,
    values: Vec<Value>,
}

impl<'a> Row<'a> {
    fn new(table: &'a Table) -> Row<'a> {
        Row { table, values: vec![Value::Null; table.columns.len()] }
    }

    fn set(mut self, column: &str, value: Value) -> Self {
        if let Some(at) = self.table.column(column) {
            self.values[at] = value;
        }
        self
    }

    /// A number, as the column's type has it.
    fn number(self, column: &str, number: u64) -> Self {
        let ty = self.table.column(column).map(|at| self.table.columns[at].ty);
        let value = match ty {
            Some(SqlType::TinyInt) => u8::try_from(number).map_or(Value::Null, Value::TinyInt),
            Some(SqlType::SmallInt) => i16::try_from(number).map_or(Value::Null, Value::SmallInt),
            Some(SqlType::Int) => i32::try_from(number).map_or(Value::Null, Value::Int),
            Some(SqlType::Decimal { precision, .. }) => {
                Decimal::new(i128::from(number), precision, 0).map_or(Value::Null, Value::Decimal)
            }
            _ => Value::Null,
        };
        self.set(column, value)
    }

    fn bits(mut self, columns: &[(&str, bool)]) -> Self {
        for (column, on) in columns {
            self = self.set(column, Value::Bit(*on));
        }
        self
    }

    fn text(self, column: &str, text: &str) -> Self {
        let value = if text.is_empty() { Value::Null } else { string(text) };
        self.set(column, value)
    }
}

/// msdb while a history is written: all of it is one transaction.
struct History<'a> {
    msdb: &'a Database,
    tx: Transaction,
}

fn plain(interrupted: Interrupted, msdb: &Database) -> SqlError {
    match interrupted {
        Interrupted::Error(error) => *error,
        Interrupted::Stale => SqlError::snapshot_schema_changed(msdb.name()),
    }
}

impl History<'_> {
    fn table(&self, name: &str) -> Result<Arc<Table>, SqlError> {
        let found = self.msdb.catalog(&self.tx).table(DEFAULT_SCHEMA, name).cloned();
        found.ok_or_else(|| SqlError::invalid_object(format!("msdb.dbo.{name}")))
    }

    /// Inserts a row; the number that its identity column got, if there is one.
    async fn insert(&mut self, row: Row<'_>) -> Result<u64, SqlError> {
        let (msdb, table, mut values) = (self.msdb, row.table, row.values);
        let mut number = 0;
        if let Some(at) = table.identity_column() {
            let dealt = msdb.drive(&mut self.tx, |tx| msdb.try_next_identity(tx, table)).await;
            let dealt = dealt.map_err(|stop| plain(stop, msdb))?;
            number = u64::try_from(dealt).unwrap_or(0);
            values[at] = i32::try_from(dealt).map_or(Value::Null, Value::Int);
        }
        let mut writer = table.writer();
        let inserted =
            msdb.drive(&mut self.tx, |tx| msdb.try_insert(tx, table, &mut writer, &values, RowCount::One)).await;
        inserted.map_err(|stop| plain(stop, msdb))?;
        Ok(number)
    }
}

/// What a statement has done, and where.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Event<'a> {
    pub(crate) session_id: i32,
    /// The set that was written or read, and the file that it is in.
    pub(crate) set: &'a BackupSetRow,
    pub(crate) media: &'a MediaRow,
    pub(crate) device: &'a str,
    /// The login, and the name of the server.
    pub(crate) user: &'a str,
    pub(crate) server: &'a str,
}

/// Notes a backup: its media set, its file, the set and the two files of the database.
///
/// # Errors
/// The error of writing to msdb.
pub(crate) async fn backed_up(msdb: &Database, event: Event<'_>) -> Result<(), SqlError> {
    let mut history = History { msdb, tx: msdb.transaction(event.session_id) };
    history.tx.begin();
    let written = write_backup(&mut history, event).await.map(drop);
    end(history, written).await
}

/// `event_type` of `suspect_pages`: error 824 of another kind than the next, and a bad checksum.
const EVENT_DAMAGED: i32 = 1;
const EVENT_BAD_CHECKSUM: i32 = 2;

/// Notes damaged pages of databases: a row for each page and kind of damage, with the number of errors.
///
/// # Errors
/// The error of writing to msdb.
pub(crate) async fn suspects(msdb: &Database, session_id: i32, pages: &[(i32, SuspectPage)]) -> Result<(), SqlError> {
    let mut history = History { msdb, tx: msdb.transaction(session_id) };
    history.tx.begin();
    let written = write_suspects(&mut history, pages).await;
    end(history, written).await
}

async fn write_suspects(history: &mut History<'_>, pages: &[(i32, SuspectPage)]) -> Result<(), SqlError> {
    let table = history.table("suspect_pages")?;
    for (database_id, suspect) in pages {
        let event = if suspect.bad_checksum { EVENT_BAD_CHECKSUM } else { EVENT_DAMAGED };
        let key = [Value::Int(*database_id), Value::Int(1), Value::BigInt(suspect.page.0.into()), Value::Int(event)];
        let errors = i32::try_from(suspect.errors).unwrap_or(i32::MAX);
        let before = history.take_suspect(&table, &key).await?;
        let row = Row::new(&table).set("database_id", key[0].clone()).set("file_id", key[1].clone());
        let row = row.set("page_id", key[2].clone()).set("event_type", key[3].clone());
        let row = row.set("error_count", Value::Int(before.saturating_add(errors)));
        let at_us = u64::try_from(suspect.last_us).unwrap_or(0);
        history.insert(row.set("last_update_date", datetime(at_us))).await?;
    }
    Ok(())
}

impl History<'_> {
    /// Deletes the row of a page, if there is one; the number of its errors.
    async fn take_suspect(&mut self, table: &Table, key: &[Value; 4]) -> Result<i32, SqlError> {
        let (msdb, mut writer) = (self.msdb, table.writer());
        let columns: Vec<usize> = (0..table.columns.len()).collect();
        let mut scan = table.scan(ScanRange::all(), &columns);
        let mut row = vec![Value::Null; columns.len()];
        let plain = |stop| plain(stop, msdb);
        msdb.begin_statement(&mut self.tx);
        let mut errors = 0;
        while msdb.drive(&mut self.tx, |tx| msdb.try_next(tx, table, &mut scan, &mut row)).await.map_err(plain)? {
            if row[..key.len()] != key[..] {
                continue;
            }
            let locator = scan.locator().clone();
            let read = msdb.drive(&mut self.tx, |tx| msdb.try_read_current(tx, table, &mut writer, &locator, &mut row));
            if read.await.map_err(plain)? {
                let deleted = msdb.drive(&mut self.tx, |tx| msdb.try_delete(tx, table, &mut writer, &locator));
                if deleted.await.map_err(plain)? {
                    errors = row[4].as_i64().and_then(|count| i32::try_from(count).ok()).unwrap_or(0);
                }
            }
        }
        msdb.end_statement(&mut self.tx);
        Ok(errors)
    }
}

async fn end(mut history: History<'_>, written: Result<(), SqlError>) -> Result<(), SqlError> {
    match written {
        Ok(()) => history.msdb.commit(&mut history.tx, Durability::Full).await,
        Err(error) => {
            history.msdb.rollback(&mut history.tx).await?;
            Err(error)
        }
    }
}

/// The number of the set is the result.
async fn write_backup(history: &mut History<'_>, event: Event<'_>) -> Result<u64, SqlError> {
    let Event { set, media, device, .. } = event;
    let table = history.table("backupmediaset")?;
    let row = Row::new(&table).set("media_uuid", Value::Guid(guid(media.media_id))).number("media_family_count", 1);
    let row = row.text("software_name", "Pikepole").number("MTF_major_version", 1).number("mirror_count", 1);
    let is = [("is_password_protected", false), ("is_compressed", set.compressed), ("is_encrypted", false)];
    let media_set = history.insert(row.bits(&is)).await?;
    let table = history.table("backupmediafamily")?;
    let row = Row::new(&table).number("media_set_id", media_set).number("family_sequence_number", 1);
    let row = row.set("media_family_id", Value::Guid(guid(media.media_id))).number("media_count", 1);
    let row = row.text("physical_device_name", device).number("device_type", 2).number("physical_block_size", 4096);
    history.insert(row.number("mirror", 0)).await?;
    let table = history.table("backupset")?;
    let row = set_row(&table, event).number("media_set_id", media_set);
    let set_id = history.insert(row).await?;
    let table = history.table("backupfile")?;
    let pages = u64::from(set.file_pages);
    let page_bytes = 8192;
    let [data_name, log_name] = crate::backup_lists::logical_names(set);
    let files = [(1, "D", data_name, pages * page_bytes, "PRIMARY"), (2, "L", log_name, set.log_bytes, "")];
    for (number, kind, name, bytes, group) in files {
        let row = Row::new(&table).number("backup_set_id", set_id).number("first_family_number", 1);
        let row = row.number("first_media_number", 1).text("filegroup_name", group).number("page_size", page_bytes);
        let row = row.number("file_number", number).number("backed_up_page_count", bytes / page_bytes);
        let row = row.set("file_type", string(kind)).number("source_file_block_size", 512).number("file_size", bytes);
        let row = row.text("logical_name", &name).number("state", 0).text("state_desc", "ONLINE");
        let row = row.number("backup_size", bytes).bits(&[("is_readonly", false), ("is_present", true)]);
        history.insert(row).await?;
    }
    Ok(set_id)
}

fn set_row<'a>(table: &'a Table, event: Event<'_>) -> Row<'a> {
    let Event { set, user, server, .. } = event;
    let kind = match set.kind {
        BackupKind::Database => "D",
        BackupKind::Log => "L",
    };
    let recovery = match set.recovery {
        RecoveryModel::BulkLogged => "BULK-LOGGED",
        model => model.name(),
    };
    let row = Row::new(table)
        .set("backup_set_uuid", Value::Guid(guid(set.set_id)))
        .number("position", set.position as u64)
        .text("name", &set.name)
        .text("description", &set.description)
        .text("user_name", user)
        .number("first_lsn", set.first_lsn)
        .number("last_lsn", set.last_lsn)
        .number("checkpoint_lsn", set.checkpoint_lsn)
        .number("database_backup_lsn", set.database_backup_lsn)
        .set("database_creation_date", datetime(set.database_created_us))
        .set("backup_start_date", datetime(set.started_us))
        .set("backup_finish_date", datetime(set.finished_us))
        .set("type", string(kind))
        .number("backup_size", set.plain_bytes)
        .number("compressed_backup_size", set.bytes)
        .text("database_name", &set.database)
        .text("server_name", server)
        .text("machine_name", server)
        .text("recovery_model", recovery)
        .set("first_recovery_fork_guid", Value::Guid(guid(set.log_id)))
        .set("last_recovery_fork_guid", Value::Guid(guid(set.log_id)))
        .set("family_guid", Value::Guid(guid(set.family)))
        .text("collation_name", pikepole_types::Collation::default().name())
        .number("compatibility_level", 160)
        .number("flags", if set.copy_only { 1024 } else { 0 } | 16);
    let one = ["first_family_number", "first_media_number", "last_family_number", "last_media_number"];
    let row = one.iter().fold(row, |row, column| row.number(column, 1));
    row.bits(&[
        ("is_password_protected", false),
        ("has_bulk_logged_data", set.bulk_logged),
        ("is_snapshot", false),
        ("is_readonly", false),
        ("is_single_user", false),
        ("has_backup_checksums", true),
        ("is_damaged", set.damaged),
        ("begins_log_chain", set.kind == BackupKind::Log && set.first_lsn <= set.database_backup_lsn),
        ("has_incomplete_metadata", false),
        ("is_force_offline", false),
        ("is_copy_only", set.copy_only),
    ])
}

/// What RESTORE has done beside reading a set.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Restored<'a> {
    /// The database that it is now.
    pub(crate) database: &'a str,
    pub(crate) replace: bool,
    pub(crate) recovery: bool,
    /// STOPAT, in microseconds since 1970.
    pub(crate) stop_at_us: Option<u64>,
    pub(crate) at_us: u64,
}

/// Notes a restore. A set that this server has not made gets a row of `backupset` too.
///
/// # Errors
/// The error of writing to msdb.
pub(crate) async fn restored(msdb: &Database, event: Event<'_>, restored: Restored<'_>) -> Result<(), SqlError> {
    let mut history = History { msdb, tx: msdb.transaction(event.session_id) };
    history.tx.begin();
    let written = write_restore(&mut history, event, restored).await;
    end(history, written).await
}

/// The number that a set has in `backupset`.
async fn known_set(history: &mut History<'_>, wanted: [u8; 16]) -> Result<Option<u64>, SqlError> {
    let table = history.table("backupset")?;
    let (Some(id), Some(uuid)) = (table.column("backup_set_id"), table.column("backup_set_uuid")) else {
        return Ok(None);
    };
    let mut scan = table.scan(ScanRange::all(), &[id, uuid]).with_hints(ReadHints::VERSIONS);
    let (msdb, mut row) = (history.msdb, [Value::Null, Value::Null]);
    msdb.begin_statement(&mut history.tx);
    let found = loop {
        let next = msdb.drive(&mut history.tx, |tx| msdb.try_next(tx, &table, &mut scan, &mut row)).await;
        match next {
            Ok(true) if row[1] == Value::Guid(wanted) => {
                break Ok(row[0].as_i64().and_then(|id| u64::try_from(id).ok()));
            }
            Ok(true) => {}
            Ok(false) => break Ok(None),
            Err(stop) => break Err(plain(stop, msdb)),
        }
    };
    msdb.end_statement(&mut history.tx);
    found
}

async fn write_restore(history: &mut History<'_>, event: Event<'_>, restored: Restored<'_>) -> Result<(), SqlError> {
    let set_id = match known_set(history, guid(event.set.set_id)).await? {
        Some(id) => id,
        None => write_backup(history, event).await?,
    };
    let table = history.table("restorehistory")?;
    let kind = match event.set.kind {
        BackupKind::Database => "D",
        BackupKind::Log => "L",
    };
    let row = Row::new(&table)
        .set("restore_date", datetime(restored.at_us))
        .text("destination_database_name", restored.database)
        .text("user_name", event.user)
        .number("backup_set_id", set_id)
        .set("restore_type", string(kind))
        .set("stop_at", restored.stop_at_us.map_or(Value::Null, datetime))
        .number("device_count", 1)
        .bits(&[("replace", restored.replace), ("recovery", restored.recovery), ("restart", false)]);
    let restore_id = history.insert(row).await?;
    let table = history.table("restorefile")?;
    for (number, name) in [(1, restored.database.to_owned()), (2, format!("{}_log", restored.database))] {
        let row = Row::new(&table).number("restore_history_id", restore_id).number("file_number", number);
        history.insert(row.text("destination_phys_name", &name)).await?;
    }
    let table = history.table("restorefilegroup")?;
    let row = Row::new(&table).number("restore_history_id", restore_id).text("filegroup_name", "PRIMARY");
    history.insert(row).await.map(drop)
}
