//! DBCC: statistics cleared, trace flags, log space, open transactions.

use crate::host::SessionHost;
use crate::result_set::{NAME, ResultSet, print, string, text};
use crate::unsupported;
use pikepole_contention::Statistics;
use pikepole_query::{ExecutionContext, Output};
use pikepole_tsql::{Dbcc, DbccArgument};
use pikepole_types::{SqlError, SqlType, Value};
use std::collections::BTreeSet;

/// In place of a trace flag: all sessions.
const GLOBAL: i32 = -1;

/// Commands that SQL Server has and this engine refuses by name.
const REFUSED: &[&str] = &[
    "CHECKALLOC",
    "CHECKCATALOG",
    "CHECKCONSTRAINTS",
    "CHECKDB",
    "CHECKFILEGROUP",
    "CHECKIDENT",
    "CHECKTABLE",
    "CLEANTABLE",
    "CLONEDATABASE",
    "DBREINDEX",
    "DROPCLEANBUFFERS",
    "FREESESSIONCACHE",
    "FREESYSTEMCACHE",
    "HELP",
    "INDEXDEFRAG",
    "INPUTBUFFER",
    "LOGINFO",
    "MEMORYSTATUS",
    "OUTPUTBUFFER",
    "PAGE",
    "PROCCACHE",
    "SHOWCONTIG",
    "SHOW_STATISTICS",
    "SHRINKDATABASE",
    "SHRINKFILE",
    "SHRINKLOG",
    "UPDATEUSAGE",
];

/// Runs one command.
pub(crate) async fn run(
    host: &mut SessionHost,
    command: &Dbcc,
    context: &mut ExecutionContext,
    output: &mut dyn Output,
) -> Result<(), SqlError> {
    match command.name.as_str() {
        "SQLPERF" => sqlperf(host, command, output)?,
        "TRACEON" => trace(host, command, true)?,
        "TRACEOFF" => trace(host, command, false)?,
        "TRACESTATUS" => trace_status(host, command, output)?,
        "OPENTRAN" => open_transactions(host, command, context, output)?,
        "USEROPTIONS" => user_options(context, output),
        "FREEPROCCACHE" => host.registry.plans().clear(),
        name if REFUSED.contains(&name) => return Err(unsupported(format!("DBCC {name}"))),
        _ => return Err(SqlError::incorrect_dbcc()),
    }
    let quiet = command.options.iter().any(|option| option.name == "NO_INFOMSGS");
    if !quiet {
        output.message(&SqlError::dbcc_completed());
    }
    Ok(())
}

fn sqlperf(host: &SessionHost, command: &Dbcc, output: &mut dyn Output) -> Result<(), SqlError> {
    let arguments: Vec<String> = command.arguments.iter().filter_map(DbccArgument::text).collect();
    match arguments.as_slice() {
        [space] if space.eq_ignore_ascii_case("LOGSPACE") => {
            log_space(host, output);
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
            host.server.trace_flags().set(flag, on);
        } else if on {
            host.trace_flags.insert(flag);
        } else {
            host.trace_flags.remove(&flag);
        }
    }
    Ok(())
}

/// All flags that are on, or the flags named whatever they are; -1 alone shows those of all sessions.
fn trace_status(host: &SessionHost, command: &Dbcc, output: &mut dyn Output) -> Result<(), SqlError> {
    let (named, only_global) = flags(command)?;
    let global: BTreeSet<i32> = host.server.trace_flags().all().into_iter().collect();
    let shown: Vec<i32> = match (named.is_empty(), only_global) {
        (false, _) => named,
        (true, true) => global.iter().copied().collect(),
        (true, false) => global.union(&host.trace_flags).copied().collect(),
    };
    let small = SqlType::SmallInt;
    let mut set = ResultSet::new(&[("TraceFlag", small), ("Status", small), ("Global", small), ("Session", small)]);
    for flag in shown {
        let (everywhere, here) = (global.contains(&flag), host.trace_flags.contains(&flag));
        let bit = |on: bool| Value::SmallInt(on.into());
        let number = Value::SmallInt(i16::try_from(flag).unwrap_or(i16::MAX));
        set.push(vec![number, bit(everywhere || here), bit(everywhere), bit(here)]);
    }
    set.send(output);
    Ok(())
}

/// The oldest transaction of a database that has changed something.
fn open_transactions(
    host: &SessionHost,
    command: &Dbcc,
    context: &ExecutionContext,
    output: &mut dyn Output,
) -> Result<(), SqlError> {
    let database = match command.arguments.first().and_then(DbccArgument::text) {
        None => std::sync::Arc::clone(context.database()),
        Some(named) => match named.parse() {
            Ok(id) => host.server.database_by_id(id).ok_or_else(|| SqlError::database_not_found(&named))?,
            Err(_) => host.server.database(&named).map_err(|_| SqlError::database_not_found(&named))?,
        },
    };
    let oldest = database.active_transactions().into_iter().min_by_key(|row| row.begun_us);
    match oldest {
        None => print(output, "No active open transactions."),
        Some(row) => {
            output.message(&SqlError::open_transaction_information(database.name()));
            print(output, "\nOldest active transaction:");
            print(output, format!("    SPID (server process ID): {}", row.session_id));
            print(output, format!("    Log records             : {}", row.log_records));
            if let Some(lsn) = row.first_lsn {
                print(output, format!("    LSN                     : {}", lsn.0));
            }
        }
    }
    Ok(())
}

fn user_options(context: &ExecutionContext, output: &mut dyn Output) {
    let settings = &context.settings;
    let mut set = ResultSet::new(&[("Set Option", NAME), ("Value", text(128))]);
    let mut add = |name: &str, value: String| set.push(vec![string(name), string(value)]);
    add("textsize", i32::MAX.to_string());
    add("language", "us_english".to_string());
    add("dateformat", "mdy".to_string());
    add("datefirst", settings.date_first.to_string());
    add("lock_timeout", settings.lock_timeout_ms.to_string());
    let switches = [
        ("quoted_identifier", settings.quoted_identifier),
        ("arithabort", true),
        ("ansi_null_dflt_on", true),
        ("ansi_warnings", true),
        ("ansi_padding", true),
        ("ansi_nulls", true),
        ("concat_null_yields_null", true),
        ("nocount", settings.nocount),
        ("xact_abort", settings.xact_abort),
        ("implicit_transactions", settings.implicit_transactions),
    ];
    for (name, _) in switches.iter().filter(|(_, on)| *on) {
        add(name, "SET".to_string());
    }
    add("isolation level", settings.isolation.name().to_string());
    set.send(output);
}
