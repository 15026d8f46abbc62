//! BACKUP and RESTORE: options read, messages sent; the server does the work.

use crate::host::SessionHost;
use crate::{backup_lists, msdb, unsupported};
use pikepole_contention::sync::Arc;
use pikepole_engine::{
    BackupKind, BackupOptions, BackupOutcome, BackupSetRow, DATA_FILE, LOG_FILE, MediaRow, RestoreOptions,
};
use pikepole_query::{ExecutionContext, Output, Progress};
use pikepole_tsql::{Backup, Literal, SettingOption, SettingValue};
use pikepole_types::{Length, SqlError, SqlType, Value, convert};

/// Ticks of 100 ns from 0001-01-01 to 1970-01-01.
const UNIX_EPOCH_TICKS: i64 = 621_355_968_000_000_000;
/// Options without a meaning here: what they ask for is so, or is about tapes.
const IGNORED: &[&str] = &[
    "BLOCKSIZE",
    "BUFFERCOUNT",
    "CHECKSUM",
    "MAXTRANSFERSIZE",
    "MEDIADESCRIPTION",
    "MEDIANAME",
    "NOFORMAT",
    "NOINIT",
    "NOREWIND",
    "NOSKIP",
    "NOUNLOAD",
    "NO_ENCRYPTION",
    "REWIND",
    "SKIP",
    "STOP_ON_ERROR",
    "UNLOAD",
];

/// The percentages that STATS asks for, and that `sys.dm_exec_requests` shows.
struct Percents<'a> {
    output: &'a mut dyn Output,
    progress: Arc<Progress>,
    step: u8,
    next: u8,
}

impl<'a> Percents<'a> {
    fn new(output: &'a mut dyn Output, context: &ExecutionContext, step: Option<u8>) -> Self {
        let step = step.unwrap_or(0);
        Percents { output, progress: Arc::clone(&context.progress), step, next: step }
    }

    /// So many percent are done.
    fn reached(&mut self, percent: u8) {
        self.progress.set(percent.into(), 100, 0);
        while self.step > 0 && self.next <= percent.min(100) {
            self.output.message(&SqlError::percent_processed(self.next));
            self.next = self.next.saturating_add(self.step);
        }
    }

    /// All is done.
    fn end(mut self) {
        self.reached(100);
    }
}

impl Drop for Percents<'_> {
    fn drop(&mut self) {
        self.progress.clear();
    }
}

/// BACKUP.
pub(crate) async fn backup(
    host: &SessionHost,
    statement: &Backup,
    context: &mut ExecutionContext,
    output: &mut dyn Output,
) -> Result<(), SqlError> {
    let kind = match statement.kind.as_str() {
        "DATABASE" => BackupKind::Database,
        "LOG" => BackupKind::Log,
        other => return Err(unsupported(format!("BACKUP {other}"))),
    };
    let database = whole_database(statement, context, "BACKUP")?;
    let (options, stats) = backup_options(kind, statement)?;
    let device = options.device.clone();
    let server = host.server.clone();
    let uses_it = context.database().name().eq_ignore_ascii_case(&database);
    if options.norecovery && kind == BackupKind::Log && uses_it {
        return Err(SqlError::in_use_by_this_session("BACKUP LOG", &database));
    }
    context.transaction().rest();
    let mut percents = Percents::new(output, context, stats);
    let made = server.backup(&database, options, &mut |percent| percents.reached(percent)).await?;
    percents.end();
    processed((host, output), "BACKUP", kind, &database, &made.outcome);
    note(host, &device, (&made.set, &made.media), context, None).await;
    Ok(())
}

/// Writes a restore of the set of this number to msdb.
async fn note_restore(
    host: &SessionHost,
    device: &str,
    position: usize,
    context: &ExecutionContext,
    restored: msdb::Restored<'_>,
) {
    let Ok(sets) = host.server.list_backups(device).await else { return };
    let Ok(media) = host.server.backup_media(device).await else { return };
    let Some(set) = position.checked_sub(1).and_then(|index| sets.get(index)) else { return };
    note(host, device, (set, &media), context, Some(restored)).await;
}

/// Writes what was done to msdb. The backup is whole whatever becomes of that.
async fn note(
    host: &SessionHost,
    device: &str,
    (set, media): (&BackupSetRow, &MediaRow),
    context: &ExecutionContext,
    restored: Option<msdb::Restored<'_>>,
) {
    let Ok(msdb) = host.registry.system_databases().msdb(&host.server, host.session_id).await else { return };
    let event = msdb::Event {
        session_id: host.session_id,
        set,
        media,
        device,
        user: &context.security().login().name,
        server: host.registry.server_name(),
    };
    // msdb itself being full or offline is no matter of the backup.
    let _ = match restored {
        None => msdb::backed_up(&msdb, event).await,
        Some(restored) => msdb::restored(&msdb, event, restored).await,
    };
}

fn backup_options(kind: BackupKind, statement: &Backup) -> Result<(BackupOptions, Option<u8>), SqlError> {
    let mut options = BackupOptions::new(kind, device(statement)?);
    let mut stats = None;
    for option in &statement.options {
        match option.name.as_str() {
            "INIT" => options.init = true,
            "FORMAT" => options.format = true,
            "COPY_ONLY" => options.copy_only = true,
            "NO_TRUNCATE" if kind == BackupKind::Log => options.copy_only = true,
            "NORECOVERY" if kind == BackupKind::Log => options.norecovery = true,
            "NAME" => options.name = option_text(option)?,
            "DESCRIPTION" => options.description = option_text(option)?,
            "STATS" => stats = Some(percentage(option)?),
            "COMPRESSION" => options.compression = true,
            "NO_COMPRESSION" => options.compression = false,
            name if IGNORED.contains(&name) => {}
            name => return Err(unsupported(format!("BACKUP {} ... WITH {name}", kind.name()))),
        }
    }
    let longest = [(&options.name, "NAME", 128), (&options.description, "DESCRIPTION", 255)];
    for (value, name, longest) in longest {
        if value.chars().count() > longest {
            return Err(SqlError::backup_option_invalid(name));
        }
    }
    Ok((options, stats))
}

/// RESTORE.
pub(crate) async fn restore(
    host: &SessionHost,
    statement: &Backup,
    context: &mut ExecutionContext,
    output: &mut dyn Output,
) -> Result<(), SqlError> {
    match statement.kind.as_str() {
        "DATABASE" | "LOG" => {
            let kind = if statement.kind == "LOG" { BackupKind::Log } else { BackupKind::Database };
            restore_database(host, kind, statement, context, output).await
        }
        "HEADERONLY" => {
            let sets = host.server.list_backups(&device(statement)?).await?;
            let position = restore_options(statement)?.0.position;
            // FILE = 1 is what is meant when nothing is said: all sets are shown then.
            let shown = sets.iter().filter(|set| position == 1 || set.position == position);
            backup_lists::headers(shown, output);
            Ok(())
        }
        "FILELISTONLY" => {
            let position = restore_options(statement)?.0.position;
            let device = device(statement)?;
            backup_lists::files(&backup_set(host, &device, position).await?, output);
            Ok(())
        }
        "LABELONLY" => {
            let media = host.server.backup_media(&device(statement)?).await?;
            backup_lists::label(&media, output);
            Ok(())
        }
        "VERIFYONLY" => {
            let (options, stats) = restore_options(statement)?;
            host.server.verify_backup(&options.device, options.position).await?;
            Percents::new(output, context, stats).end();
            output.message(&SqlError::backup_set_valid(options.position));
            Ok(())
        }
        other => Err(unsupported(format!("RESTORE {other}"))),
    }
}

/// The set at a position of a file of backups.
async fn backup_set(host: &SessionHost, device: &str, position: usize) -> Result<BackupSetRow, SqlError> {
    let sets = host.server.list_backups(device).await?;
    let set = position.checked_sub(1).and_then(|place| sets.into_iter().nth(place));
    set.ok_or_else(|| SqlError::backup_file_unknown(position, device))
}

/// MOVE names files of the database that was backed up. Where they come to lie is the folder of the database, whatever it says: a database
/// of this engine is a folder of the server's.
///
/// # Errors
/// 3234 for a file that the backup does not have.
async fn check_moved(host: &SessionHost, statement: &Backup, options: &RestoreOptions) -> Result<(), SqlError> {
    let moved: Vec<String> =
        statement.options.iter().filter(|option| option.name == "MOVE").map(moved_file).collect::<Result<_, _>>()?;
    if moved.is_empty() {
        return Ok(());
    }
    let BackupSetRow { database, files, .. } = backup_set(host, &options.device, options.position).await?;
    match moved.iter().find(|file| !files.iter().any(|name| name.eq_ignore_ascii_case(file))) {
        Some(unknown) => Err(SqlError::backup_has_no_file(unknown, database)),
        None => Ok(()),
    }
}

/// The logical name behind MOVE.
fn moved_file(option: &SettingOption) -> Result<String, SqlError> {
    match &option.value {
        Some(SettingValue::List(pair)) => {
            pair.first().map(option_text).unwrap_or_else(|| Err(SqlError::backup_option_invalid("MOVE")))
        }
        _ => Err(SqlError::backup_option_invalid("MOVE")),
    }
}

async fn restore_database(
    host: &SessionHost,
    kind: BackupKind,
    statement: &Backup,
    context: &mut ExecutionContext,
    output: &mut dyn Output,
) -> Result<(), SqlError> {
    let database = whole_database(statement, context, "RESTORE")?;
    let verb = format!("RESTORE {}", kind.name());
    if context.database().name().eq_ignore_ascii_case(&database) && !database.eq_ignore_ascii_case("master") {
        return Err(SqlError::in_use_by_this_session(verb, &database));
    }
    context.transaction().rest();
    let server = host.server.clone();
    if statement.devices.is_empty() {
        let recovery = only_recovery(statement)?;
        let outcome = if recovery { server.recover_database(&database).await? } else { return Ok(()) };
        output.message(&SqlError::backup_processed(verb, 0, seconds(outcome.time_us), "0.000"));
        return Ok(());
    }
    let (options, stats) = restore_options(statement)?;
    check_moved(host, statement, &options).await?;
    let to_be_recovered = options.recovery;
    let device = options.device.clone();
    let restored = msdb::Restored {
        database: &database,
        replace: options.replace,
        recovery: options.recovery,
        stop_at_us: options.stop_at_us,
        at_us: u64::try_from(pikepole_machine::clock::unix_time_us()).unwrap_or(0),
    };
    let mut percents = Percents::new(output, context, stats);
    let mut progress = |percent| percents.reached(percent);
    let outcome = match kind {
        BackupKind::Database => server.restore_database(&database, options, &mut progress).await?,
        BackupKind::Log => server.restore_log(&database, options, &mut progress).await?,
    };
    percents.end();
    if outcome.before_the_stop_point && to_be_recovered {
        output.message(&SqlError::before_the_stop_point());
    }
    processed((host, output), "RESTORE", kind, &database, &outcome);
    if !database.eq_ignore_ascii_case(pikepole_engine::MSDB) {
        note_restore(host, &device, outcome.position, context, restored).await;
    }
    Ok(())
}

/// `RESTORE DATABASE x WITH RECOVERY`, without a device.
fn only_recovery(statement: &Backup) -> Result<bool, SqlError> {
    let mut recovery = true;
    for option in &statement.options {
        match option.name.as_str() {
            "RECOVERY" => recovery = true,
            "NORECOVERY" => recovery = false,
            "STATS" => drop(percentage(option)?),
            _ => return Err(SqlError::device_missing()),
        }
    }
    Ok(recovery)
}

fn restore_options(statement: &Backup) -> Result<(RestoreOptions, Option<u8>), SqlError> {
    let mut options = RestoreOptions::new(device(statement)?);
    let mut stats = None;
    for option in &statement.options {
        match option.name.as_str() {
            "FILE" => options.position = number(option)?,
            "REPLACE" => options.replace = true,
            "RECOVERY" => options.recovery = true,
            "NORECOVERY" => options.recovery = false,
            "STOPAT" => options.stop_at_us = Some(moment(option)?),
            "STATS" => stats = Some(percentage(option)?),
            // Looked at where the backup is known.
            "MOVE" => {}
            name if IGNORED.contains(&name) => {}
            name => return Err(unsupported(format!("RESTORE {} ... WITH {name}", statement.kind))),
        }
    }
    Ok((options, stats))
}

/// The database that a statement names, when it is about all of it.
fn whole_database(statement: &Backup, context: &ExecutionContext, verb: &str) -> Result<String, SqlError> {
    if context.state.transaction_count > 0 {
        return Err(SqlError::backup_in_transaction());
    }
    if let Some(part) = statement.parts.first() {
        return Err(unsupported(format!("{verb} {} ... {}", statement.kind, part.name)));
    }
    match &statement.database {
        Some(name) if !name.text.starts_with('@') => Ok(name.text.clone()),
        _ => Err(SqlError::incorrect_syntax(verb)),
    }
}

/// The one file that a statement names.
fn device(statement: &Backup) -> Result<String, SqlError> {
    match statement.devices.as_slice() {
        [] => Err(SqlError::device_missing()),
        [device] if device.name == "DISK" => option_text(device),
        [device] if device.value.is_some() => Err(unsupported(format!("The backup device type {}", device.name))),
        [device] => Err(SqlError::device_unknown(&device.name)),
        _ => Err(SqlError::too_many_devices(1)),
    }
}

fn literal(option: &SettingOption) -> Option<&Literal> {
    match &option.value {
        Some(SettingValue::Expr(expr)) => expr.literal(),
        _ => None,
    }
}

fn option_text(option: &SettingOption) -> Result<String, SqlError> {
    match literal(option) {
        Some(Literal::String { value, .. }) => Ok(value.clone()),
        _ => Err(SqlError::backup_option_invalid(&option.name)),
    }
}

fn number(option: &SettingOption) -> Result<usize, SqlError> {
    let number = match literal(option) {
        Some(Literal::Int(number)) => usize::try_from(*number).ok(),
        Some(Literal::String { value, .. }) => value.trim().parse().ok(),
        _ => None,
    };
    number.ok_or_else(|| SqlError::backup_option_invalid(&option.name))
}

/// STATS: a message at each so many percent; 10 when nothing is said.
fn percentage(option: &SettingOption) -> Result<u8, SqlError> {
    if option.value.is_none() {
        return Ok(10);
    }
    let number = number(option)?;
    u8::try_from(number).ok().filter(|n| (1..=100).contains(n)).ok_or_else(|| SqlError::backup_option_invalid("STATS"))
}

/// STOPAT: microseconds since 1970.
fn moment(option: &SettingOption) -> Result<u64, SqlError> {
    let given = Value::Str(option_text(option)?);
    let from = SqlType::NVarChar(Length::Limit(4000));
    match convert(&given, &from, &SqlType::DateTime2(7), None)? {
        Value::DateTime2(at) => {
            let ticks = at.ticks() - UNIX_EPOCH_TICKS;
            u64::try_from(ticks / 10).map_err(|_| SqlError::backup_option_invalid("STOPAT"))
        }
        _ => Err(SqlError::backup_option_invalid("STOPAT")),
    }
}

fn seconds(time_us: u64) -> String {
    format!("{}.{:03}", time_us / 1_000_000, time_us / 1000 % 1000)
}

/// What a backup or a restore says at its end.
fn processed(
    (host, output): (&SessionHost, &mut dyn Output),
    verb: &str,
    kind: BackupKind,
    database: &str,
    outcome: &BackupOutcome,
) {
    let position = outcome.position;
    let files = host.server.database(database).map(|open| open.files()).unwrap_or_default();
    let name = |file_id: i32, unsaid: String| {
        files.iter().find(|file| file.file_id == file_id).map_or(unsaid, |file| file.name.clone())
    };
    if kind == BackupKind::Database || outcome.pages > 0 {
        let file = name(DATA_FILE, database.to_owned());
        output.message(&SqlError::pages_processed(outcome.pages, database, file, position));
    }
    let file = name(LOG_FILE, format!("{database}_log"));
    output.message(&SqlError::pages_processed(outcome.log_pages, database, file, position));
    let pages = outcome.pages + outcome.log_pages;
    // Pages of 8 KB in MB, in thousandths.
    let speed = pages * 1_000_000_000 / 128 / outcome.time_us.max(1);
    let speed = format!("{}.{:03}", speed / 1000, speed % 1000);
    let statement = format!("{verb} {}", kind.name());
    output.message(&SqlError::backup_processed(statement, pages, seconds(outcome.time_us), speed));
}

pub(crate) fn guid(number: u64) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    bytes[8..].copy_from_slice(&number.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes());
    bytes
}
