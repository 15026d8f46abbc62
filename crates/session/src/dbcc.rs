//! DBCC: checks, statistics cleared, trace flags, log space and segments, open transactions.

use crate::host::SessionHost;
use crate::result_set::{NAME, ResultSet, print, string, text};
use crate::unsupported;
use crate::views::databases::{DATABASE_VERSION, last_good_check};
use crate::views::{self, log};
use crate::{check_identity, dbcc_check, dbcc_space, dbcc_statistics};
use pikepole_contention::Statistics;
use pikepole_engine::{Database, Permission, Securable, TraceFlag};
use pikepole_query::{ExecutionContext, Isolation, NullDefault, Output};
use pikepole_tsql::{Dbcc, DbccArgument};
use pikepole_types::{Length, SqlError, SqlType, Value, convert, to_text};
use std::collections::BTreeSet;
use std::sync::Arc;

/// In place of a trace flag: all sessions.
const GLOBAL: i32 = -1;

/// UTF-16 units of the text that INPUTBUFFER shows.
const EVENT_UNITS_MAX: u16 = 4000;

/// Commands that SQL Server has and this engine refuses by name.
const REFUSED: &[&str] =
    &["CLONEDATABASE", "DBREINDEX", "MEMORYSTATUS", "OUTPUTBUFFER", "PAGE", "PROCCACHE", "SHOWCONTIG", "SHRINKLOG"];

/// Runs one command.
pub(crate) async fn run(
    host: &mut SessionHost,
    command: &Dbcc,
    context: &mut ExecutionContext,
    line: u32,
    output: &mut dyn Output,
) -> Result<(), SqlError> {
    let mut notes = Vec::new();
    match command.name.as_str() {
        "SQLPERF" => sqlperf(host, command, output)?,
        "TRACEON" => trace(host, command, true)?,
        "TRACEOFF" => trace(host, command, false)?,
        "TRACESTATUS" => notes = trace_status(host, command, output)?,
        "DBINFO" => database_info(&*named_database(host, command, context)?, command, output),
        "LOGINFO" => log_info(host, command, context, output)?,
        "OPENTRAN" => open_transactions(host, command, context, output)?,
        "CHECKDB" | "CHECKALLOC" | "CHECKFILEGROUP" | "CHECKTABLE" | "CHECKCATALOG" => {
            dbcc_check::run(host, command, context, line, output).await?;
        }
        // The machine has looked at those that there are.
        "CHECKCONSTRAINTS" => {}
        "CHECKIDENT" => check_identity::run(command, context, output).await?,
        "USEROPTIONS" => user_options(context, output),
        "INPUTBUFFER" => input_buffer(host, command, context, output)?,
        "DROPCLEANBUFFERS" => {
            for info in host.server.databases() {
                if let Some(database) = host.server.database_by_id(info.id) {
                    database.store().drop_clean_pages();
                }
            }
        }
        // Since SQL Server 2005 tables cannot be pinned, and asking for it does nothing.
        "PINTABLE" | "UNPINTABLE" => {}
        "SHRINKFILE" => dbcc_space::shrink_file(command, context, output)?,
        "SHRINKDATABASE" => {
            let database = named_database(host, command, context)?;
            dbcc_space::shrink_database(command, &database, context, output)?;
        }
        "UPDATEUSAGE" | "CLEANTABLE" => {
            let database = named_database(host, command, context)?;
            dbcc_space::look_at_table(command, &database, context)?;
        }
        "INDEXDEFRAG" => {
            let database = named_database(host, command, context)?;
            dbcc_space::defragment(command, &database, context, output)?;
        }
        "SHOW_STATISTICS" => dbcc_statistics::show(host, command, context, output)?,
        "HELP" => help(command, output)?,
        // Connections to other servers are what it would forget.
        "FREESESSIONCACHE" => {}
        "FREESYSTEMCACHE" => free_system_cache(host, command)?,
        "FREEPROCCACHE" => host.registry.plans().clear(),
        name if REFUSED.contains(&name) => return Err(unsupported(format!("DBCC {name}"))),
        _ => return Err(SqlError::incorrect_dbcc()),
    }
    let quiet = command.options.iter().any(|option| option.name == "NO_INFOMSGS");
    if !quiet {
        notes.iter().for_each(|note| output.message(note));
        output.message(&SqlError::dbcc_completed());
    }
    Ok(())
}

/// The commands, as HELP shows them.
const SYNTAX: &[(&str, &str)] = &[
    (
        "checkalloc",
        "[ ({ 'database_name' | database_id | 0 } [, NOINDEX ]) ] [ WITH NO_INFOMSGS [, ESTIMATEONLY ] [, TABLERESULTS ] ]",
    ),
    ("checkcatalog", "[ ({ 'database_name' | database_id | 0 }) ] [ WITH NO_INFOMSGS ]"),
    (
        "checkconstraints",
        "[ ({ 'table_name' | table_id | 'constraint_name' | constraint_id }) ] [ WITH { ALL_CONSTRAINTS | ALL_ERRORMSGS } [, NO_INFOMSGS ] ]",
    ),
    (
        "checkdb",
        "[ ({ 'database_name' | database_id | 0 } [, NOINDEX ]) ] [ WITH NO_INFOMSGS [, PHYSICAL_ONLY ] [, ESTIMATEONLY ] [, TABLERESULTS ] ]",
    ),
    (
        "checkfilegroup",
        "[ ({ 'filegroup_name' | filegroup_id | 0 } [, NOINDEX ]) ] [ WITH NO_INFOMSGS [, PHYSICAL_ONLY ] [, ESTIMATEONLY ] [, TABLERESULTS ] ]",
    ),
    ("checkident", "('table_name' [, { NORESEED | { RESEED [, new_reseed_value ] } } ]) [ WITH NO_INFOMSGS ]"),
    (
        "checktable",
        "({ 'table_name' | table_id } [, { NOINDEX | index_id } ]) [ WITH NO_INFOMSGS [, PHYSICAL_ONLY ] [, ESTIMATEONLY ] [, TABLERESULTS ] ]",
    ),
    ("cleantable", "({ 'database_name' | database_id | 0 }, 'table_name' [, batch_size ]) [ WITH NO_INFOMSGS ]"),
    ("dropcleanbuffers", "[ WITH NO_INFOMSGS ]"),
    ("freeproccache", "[ WITH NO_INFOMSGS ]"),
    ("freesessioncache", "[ WITH NO_INFOMSGS ]"),
    ("freesystemcache", "('ALL' | 'SQL Plans' | 'Object Plans' [, pool_name ]) [ WITH NO_INFOMSGS ]"),
    ("help", "({ 'dbcc_statement' | '?' }) [ WITH NO_INFOMSGS ]"),
    ("indexdefrag", "({ 'database_name' | database_id | 0 }, 'table_name', 'index_name') [ WITH NO_INFOMSGS ]"),
    ("inputbuffer", "(session_id) [ WITH NO_INFOMSGS ]"),
    ("loginfo", "[ ({ 'database_name' | database_id | 0 }) ]"),
    ("opentran", "[ ({ 'database_name' | database_id | 0 }) ] [ WITH TABLERESULTS [, NO_INFOMSGS ] ]"),
    (
        "show_statistics",
        "('table_name', 'index_or_statistics_name') [ WITH { STAT_HEADER | DENSITY_VECTOR | HISTOGRAM | STATS_STREAM } [, ...n ] [, NO_INFOMSGS ] ]",
    ),
    (
        "shrinkdatabase",
        "({ 'database_name' | database_id | 0 } [, target_percent ] [, { NOTRUNCATE | TRUNCATEONLY } ]) [ WITH NO_INFOMSGS ]",
    ),
    (
        "shrinkfile",
        "({ 'file_name' | file_id } [, { EMPTYFILE | target_size } ] [, { NOTRUNCATE | TRUNCATEONLY } ]) [ WITH NO_INFOMSGS ]",
    ),
    ("sqlperf", "(LOGSPACE | 'sys.dm_os_wait_stats', CLEAR) [ WITH NO_INFOMSGS ]"),
    ("traceoff", "(trace# [, ...n ] [, -1 ]) [ WITH NO_INFOMSGS ]"),
    ("traceon", "(trace# [, ...n ] [, -1 ]) [ WITH NO_INFOMSGS ]"),
    ("tracestatus", "([ trace# [, ...n ] ] [, -1 ]) [ WITH NO_INFOMSGS ]"),
    ("updateusage", "({ 'database_name' | database_id | 0 } [, 'table_name' [, 'index_name' ] ]) [ WITH NO_INFOMSGS ]"),
    ("useroptions", "[ WITH NO_INFOMSGS ]"),
];

/// HELP: the commands for '?', how one is written for its name.
fn help(command: &Dbcc, output: &mut dyn Output) -> Result<(), SqlError> {
    let wanted = command.arguments.first().and_then(DbccArgument::text).ok_or_else(SqlError::dbcc_parameter_count)?;
    if wanted == "?" {
        SYNTAX.iter().for_each(|(name, _)| print(output, *name));
        return Ok(());
    }
    let found = SYNTAX.iter().find(|(name, _)| name.eq_ignore_ascii_case(&wanted));
    let (name, syntax) = found.ok_or_else(|| SqlError::dbcc_parameter_incorrect(1))?;
    print(output, format!("dbcc {name} {syntax}"));
    Ok(())
}

/// FREESYSTEMCACHE: of the stores of SQL Server that it names, plans are the one here that can be forgotten.
fn free_system_cache(host: &SessionHost, command: &Dbcc) -> Result<(), SqlError> {
    let wanted = command.arguments.first().and_then(DbccArgument::text).ok_or_else(SqlError::dbcc_parameter_count)?;
    if !["ALL", "SQL Plans", "Object Plans"].iter().any(|store| store.eq_ignore_ascii_case(&wanted)) {
        return Err(SqlError::dbcc_parameter_incorrect(1));
    }
    host.registry.plans().clear();
    Ok(())
}

fn sqlperf(host: &SessionHost, command: &Dbcc, output: &mut dyn Output) -> Result<(), SqlError> {
    let arguments: Vec<String> = command.arguments.iter().filter_map(DbccArgument::text).collect();
    match arguments.as_slice() {
        [space] if space.eq_ignore_ascii_case("LOGSPACE") => {
            log_space(host, output);
            Ok(())
        }
        [spinlocks] if spinlocks.eq_ignore_ascii_case("SPINLOCKSTATS") => {
            spinlock_stats(host.server.statistics(), output);
            Ok(())
        }
        [waits] if waits.eq_ignore_ascii_case("WAITSTATS") => {
            wait_stats(host.server.statistics(), output);
            Ok(())
        }
        [view, clear] if clear.eq_ignore_ascii_case("CLEAR") => clear_view(host.server.statistics(), view),
        [_] | [_, _] => Err(SqlError::incorrect_dbcc()),
        _ => Err(SqlError::dbcc_parameter_count()),
    }
}

fn clear_view(statistics: &Statistics, view: &str) -> Result<(), SqlError> {
    let view = view.to_ascii_lowercase();
    match view.strip_prefix("sys.").unwrap_or(&view) {
        "dm_os_wait_stats" => statistics.clear_waits(),
        "dm_os_latch_stats" => statistics.clear_latches(),
        "dm_os_spinlock_stats" => statistics.clear_spinlocks(),
        _ => return Err(SqlError::dbcc_parameter_incorrect(1)),
    }
    Ok(())
}

/// The rows of `dm_os_spinlock_stats`, as before there were such views.
fn spinlock_stats(statistics: &Statistics, output: &mut dyn Output) {
    let mut set = ResultSet::new(&[
        ("Spinlock Name", NAME),
        ("Collisions", SqlType::BigInt),
        ("Spins", SqlType::BigInt),
        ("Spins/Collision", SqlType::Real),
        ("Sleep Time (ms)", SqlType::BigInt),
        ("Backoffs", SqlType::BigInt),
    ]);
    let number = |number: u64| Value::BigInt(number.cast_signed());
    for row in statistics.spinlocks() {
        let each = if row.collisions == 0 { 0.0 } else { row.spins as f32 / row.collisions as f32 };
        let (slept, backoffs) = (number(row.sleep_time_us / 1000), number(row.backoffs));
        set.push(vec![string(row.name), number(row.collisions), number(row.spins), Value::Real(each), slept, backoffs]);
    }
    set.send(output);
}

/// The rows of `dm_os_wait_stats`, in the same way, and their sums.
fn wait_stats(statistics: &Statistics, output: &mut dyn Output) {
    let numbers = ["Requests", "Wait Time", "Signal Wait Time"];
    let columns: Vec<_> =
        std::iter::once(("Wait Type", NAME)).chain(numbers.map(|name| (name, SqlType::Real))).collect();
    let mut set = ResultSet::new(&columns);
    let mut sums = [0; 3];
    for row in statistics.waits() {
        let own = [row.waiting_tasks_count, row.wait_time_us / 1000, row.signal_wait_time_us / 1000];
        sums.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
        set.push(std::iter::once(string(row.wait_type)).chain(own.map(|own| Value::Real(own as f32))).collect());
    }
    set.push(std::iter::once(string("Total")).chain(sums.map(|sum| Value::Real(sum as f32))).collect());
    set.send(output);
}

fn log_space(host: &SessionHost, output: &mut dyn Output) {
    const MB: f32 = 1_048_576.0;
    let mut set = ResultSet::new(&[
        ("Database Name", NAME),
        ("Log Size (MB)", SqlType::Real),
        ("Log Space Used (%)", SqlType::Real),
        ("Status", SqlType::Int),
    ]);
    for info in host.server.databases() {
        let Some(database) = host.server.database_by_id(info.id) else { continue };
        let log = database.log_stats();
        let used_percent = log.bytes_used as f32 * 100.0 / log.bytes.max(1) as f32;
        let size = Value::Real(log.bytes as f32 / MB);
        set.push(vec![string(info.name), size, Value::Real(used_percent), Value::Int(0)]);
    }
    set.send(output);
}

/// The flags named, and whether -1 was among the arguments.
fn flags(command: &Dbcc) -> Result<(Vec<i32>, bool), SqlError> {
    let mut flags = Vec::new();
    for (place, argument) in command.arguments.iter().enumerate() {
        let number = argument.text().and_then(|text| text.parse().ok());
        flags.push(number.ok_or_else(|| SqlError::dbcc_parameter_incorrect(place + 1))?);
    }
    let global = flags.contains(&GLOBAL);
    flags.retain(|flag| *flag != GLOBAL);
    Ok((flags, global))
}

fn trace(host: &mut SessionHost, command: &Dbcc, on: bool) -> Result<(), SqlError> {
    let (flags, global) = flags(command)?;
    if flags.is_empty() {
        return Err(SqlError::dbcc_parameter_count());
    }
    for flag in flags {
        if global {
            host.server.set_trace_flag(flag, on);
        } else if on {
            host.trace_flags.insert(flag);
        } else {
            host.trace_flags.remove(&flag);
        }
    }
    Ok(())
}

/// All flags that are on, or the flags named whatever they are; -1 alone shows those of all sessions.
/// Shows flags, and notes those that are on and change nothing.
fn trace_status(host: &SessionHost, command: &Dbcc, output: &mut dyn Output) -> Result<Vec<SqlError>, SqlError> {
    let (named, only_global) = flags(command)?;
    let global: BTreeSet<i32> = host.server.trace_flags().all().into_iter().collect();
    let shown: Vec<i32> = match (named.is_empty(), only_global) {
        (false, _) => named,
        (true, true) => global.iter().copied().collect(),
        (true, false) => global.union(&host.trace_flags).copied().collect(),
    };
    let small = SqlType::SmallInt;
    let mut notes = Vec::new();
    let mut set = ResultSet::new(&[("TraceFlag", small), ("Status", small), ("Global", small), ("Session", small)]);
    for flag in shown {
        let (everywhere, here) = (global.contains(&flag), host.trace_flags.contains(&flag));
        let bit = |on: bool| Value::SmallInt(on.into());
        let number = Value::SmallInt(i16::try_from(flag).unwrap_or(i16::MAX));
        set.push(vec![number, bit(everywhere || here), bit(everywhere), bit(here)]);
        match TraceFlag::find(flag) {
            None if everywhere || here => notes.push(trace_flag_note(flag, "it changes nothing here")),
            Some(_) if here && !everywhere => {
                notes.push(trace_flag_note(flag, "it changes something only when it is on for all sessions (-1)"));
            }
            _ => {}
        }
    }
    set.send(output);
    Ok(notes)
}

fn trace_flag_note(flag: i32, what: &str) -> SqlError {
    SqlError::new(0, 0, 1, format!("Trace flag {flag} is kept: {what}."))
}

/// The database that a command's first argument names, by name or id; the current one for none, and for 0.
pub(crate) fn named_database(
    host: &SessionHost,
    command: &Dbcc,
    context: &ExecutionContext,
) -> Result<Arc<Database>, SqlError> {
    let Some(named) = command.arguments.first().and_then(DbccArgument::text) else {
        return Ok(Arc::clone(context.database()));
    };
    match named.parse() {
        Ok(0) => Ok(Arc::clone(context.database())),
        Ok(id) => host.server.database_by_id(id).ok_or_else(|| SqlError::database_not_found(&named)),
        Err(_) => host.server.database(&named).map_err(|_| SqlError::database_not_found(&named)),
    }
}

/// What the database's file says of it, as SQL Server's boot page would: its fields as rows, or as lines.
fn database_info(database: &Database, command: &Dbcc, output: &mut dyn Output) {
    let moment =
        |moment: &Value| match convert(moment, &SqlType::DateTime, &SqlType::VarChar(Length::Limit(23)), Some(121)) {
            Ok(Value::Str(text)) => text,
            _ => String::new(),
        };
    let fields = [
        ("dbi_version", DATABASE_VERSION.to_string()),
        ("dbi_createVersion", DATABASE_VERSION.to_string()),
        ("dbi_dbid", database.id().to_string()),
        ("dbi_dbname", database.name().to_owned()),
        ("dbi_crdate", moment(&views::datetime(database.created_us()))),
        ("dbi_dbccLastKnownGood", moment(&last_good_check(database))),
    ];
    let as_table = command.options.iter().any(|option| option.name == "TABLERESULTS");
    let column = text(255);
    let mut set = ResultSet::new(&[("ParentObject", column), ("Object", column), ("Field", column), ("VALUE", column)]);
    for (field, value) in fields {
        if as_table {
            set.push(vec![string("DBINFO STRUCTURE:"), string("DBINFO"), string(field), string(value)]);
        } else {
            print(output, format!("{field} = {value}"));
        }
    }
    if as_table {
        set.send(output);
    }
}

/// The segments of a database's log.
fn log_info(
    host: &SessionHost,
    command: &Dbcc,
    context: &ExecutionContext,
    output: &mut dyn Output,
) -> Result<(), SqlError> {
    let database = named_database(host, command, context)?;
    let lsn = SqlType::Decimal { precision: 25, scale: 0 };
    let mut set = ResultSet::new(&[
        ("RecoveryUnitId", SqlType::Int),
        ("FileId", SqlType::Int),
        ("FileSize", SqlType::BigInt),
        ("StartOffset", SqlType::BigInt),
        ("FSeqNo", SqlType::BigInt),
        ("Status", SqlType::Int),
        ("Parity", SqlType::TinyInt),
        ("CreateLSN", lsn),
    ]);
    let big = |number: u64| Value::BigInt(i64::try_from(number).unwrap_or(i64::MAX));
    for (begin, segment) in log::laid_out(&database) {
        let (sequence, status) = match segment.active {
            Some((sequence, _)) => (sequence, log::STATUS_ACTIVE),
            None => (0, log::STATUS_FREE),
        };
        set.push(vec![
            Value::Int(0),
            Value::Int(log::LOG_FILE_ID),
            big(segment.bytes),
            big(begin),
            big(sequence),
            Value::Int(status),
            Value::Null,
            Value::Null,
        ]);
    }
    set.send(output);
    Ok(())
}

/// The oldest transaction of a database that has changed something: as lines, or WITH TABLERESULTS as rows.
fn open_transactions(
    host: &SessionHost,
    command: &Dbcc,
    context: &ExecutionContext,
    output: &mut dyn Output,
) -> Result<(), SqlError> {
    /// Nobody here has a security id but this one.
    const SID: &str = "0x01";
    let database = named_database(host, command, context)?;
    let as_table = command.options.iter().any(|option| option.name == "TABLERESULTS");
    let open = database.open_transactions().into_iter();
    let changed = open.filter_map(|open| Some((open.changes.clone()?, open)));
    let oldest = changed.min_by_key(|(changes, _)| changes.first_lsn);
    let Some((changes, open)) = oldest else {
        if as_table {
            ResultSet::new(&[("", NAME), ("", text(128))]).send(output);
        } else {
            print(output, "No active open transactions.");
        }
        return Ok(());
    };
    let given = host.registry.row(open.session_id).and_then(|session| session.transaction_name);
    let name = given.filter(|_| open.is_explicit).unwrap_or_else(|| "user_transaction".to_string());
    let lsn = changes.first_lsn.map_or_else(String::new, |lsn| lsn.to_string());
    let started = to_text(&views::datetime(views::unix_us(open.begun_us)), &SqlType::DateTime);
    if as_table {
        let mut set = ResultSet::new(&[("", NAME), ("", text(128))]);
        let rows = [
            ("OLDACT_SPID", open.session_id.to_string()),
            ("OLDACT_UID", "-1".to_string()),
            ("OLDACT_NAME", name),
            ("OLDACT_RECOVERYUNITID", "0".to_string()),
            ("OLDACT_LSN", lsn),
            ("OLDACT_STARTTIME", started),
            ("OLDACT_SID", SID.to_string()),
        ];
        rows.into_iter().for_each(|(what, value)| set.push(vec![string(what), string(value)]));
        set.send(output);
        return Ok(());
    }
    output.message(&SqlError::open_transaction_information(database.name()));
    print(output, "\nOldest active transaction:");
    print(output, format!("    SPID (server process ID): {}", open.session_id));
    print(output, "    UID (user ID) : -1");
    print(output, format!("    Name          : {name}"));
    print(output, format!("    LSN           : ({lsn})"));
    print(output, format!("    Start time    : {started}"));
    print(output, format!("    SID           : {SID}"));
    Ok(())
}

/// What a session has sent last.
fn input_buffer(
    host: &SessionHost,
    command: &Dbcc,
    context: &ExecutionContext,
    output: &mut dyn Output,
) -> Result<(), SqlError> {
    let given = command.arguments.first().ok_or_else(SqlError::dbcc_parameter_count)?;
    let session_id = given.text().and_then(|text| text.parse::<i32>().ok());
    let session_id = session_id.ok_or_else(|| SqlError::dbcc_parameter_incorrect(1))?;
    let token = context.token();
    if session_id != host.session_id && !token.has(Permission::ViewServerState, Securable::Server) {
        return Err(SqlError::dbcc_permission(&token.user().name, &command.name));
    }
    let session = host.registry.row(session_id).ok_or_else(|| SqlError::spid_invalid(session_id))?;
    let mut set = ResultSet::new(&[
        ("EventType", text(30)),
        ("Parameters", SqlType::SmallInt),
        ("EventInfo", text(EVENT_UNITS_MAX)),
    ]);
    if let Some(running) = &session.text {
        let (event, sent) = views::texts::sent(running);
        let cut = String::from_utf16_lossy(&sent.encode_utf16().take(EVENT_UNITS_MAX.into()).collect::<Vec<u16>>());
        set.push(vec![string(event), Value::SmallInt(0), string(cut)]);
    }
    set.send(output);
    Ok(())
}

fn user_options(context: &ExecutionContext, output: &mut dyn Output) {
    let settings = &context.settings;
    let mut set = ResultSet::new(&[("Set Option", NAME), ("Value", text(128))]);
    let mut add = |name: &str, value: String| set.push(vec![string(name), string(value)]);
    add("textsize", settings.text_size.to_string());
    add("language", settings.language.name.to_string());
    add("dateformat", settings.date_format.name().to_string());
    add("datefirst", settings.date_first.to_string());
    add("lock_timeout", settings.lock_timeout_ms.to_string());
    let switches = [
        ("quoted_identifier", settings.quoted_identifier),
        ("arithabort", settings.arithabort),
        ("ansi_null_dflt_on", settings.null_default == NullDefault::On),
        ("ansi_null_dflt_off", settings.null_default == NullDefault::Off),
        ("ansi_warnings", settings.ansi_warnings),
        ("ansi_padding", settings.ansi_padding),
        ("ansi_nulls", settings.ansi_nulls),
        ("concat_null_yields_null", settings.concat_null_yields_null),
        ("nocount", settings.nocount),
        ("xact_abort", settings.xact_abort),
        ("implicit_transactions", settings.implicit_transactions),
    ];
    for (name, _) in switches.iter().filter(|(_, on)| *on) {
        add(name, "SET".to_string());
    }
    let database = context.database();
    // tempdb reads versions as others do, and has not the option.
    let versioned = settings.isolation == Isolation::ReadCommitted
        && database.options().read_committed_snapshot
        && !database.name().eq_ignore_ascii_case(pikepole_engine::TEMPDB);
    let suffix = if versioned { " snapshot" } else { "" };
    add("isolation level", format!("{}{suffix}", settings.isolation.name()));
    set.send(output);
}
