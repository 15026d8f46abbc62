//! What sessions run and what the cache keeps, by handles: `sys.dm_exec_sql_text`, `dm_exec_input_buffer`, `dm_exec_cached_plans`, and
//! the plans.
//!
//! A `sql_handle` names a text. A `plan_handle` is the handle of its text with another first byte, and the database it was compiled in
//! behind that. Both find a text while a session runs it or ran it last, and while the cache keeps it.

use super::Kind::{BigInt, Bit, Bytes, Int, LongText, Name, SmallInt, Text, Variant, Xml};
use super::Nullable::{No, Yes};
use super::{Function, Rows, Source, View};
use crate::modules;
use crate::registry::SessionRow;
use pikepole_query::{CachedProgram, Program, Running, TextHandle};
use pikepole_types::{Length, SqlError, SqlType, Value};
use std::sync::Arc;

/// The first byte of the plan handle of a module, and of a batch.
const PLAN_OF_MODULE: u8 = 5;
const PLAN_OF_BATCH: u8 = 6;
/// The first byte of the text handle of a module, and of a batch.
const TEXT_OF_MODULE: u8 = 3;
const TEXT_OF_BATCH: u8 = 2;

pub(super) const VIEWS: &[View] = &[
    View {
        schema: "sys",
        name: "dm_os_memory_cache_counters",
        columns: &[
            ("cache_address", Bytes(8), No),
            ("name", Text(256), No),
            ("type", Text(60), No),
            ("pages_kb", BigInt, Yes),
            ("pages_in_use_kb", BigInt, Yes),
            ("entries_count", BigInt, No),
            ("entries_in_use_count", BigInt, No),
        ],
        rows: cache_counters,
    },
    View {
        schema: "sys",
        name: "dm_exec_cached_plans",
        columns: &[
            ("bucketid", Int, No),
            ("refcounts", Int, No),
            ("usecounts", Int, No),
            ("size_in_bytes", Int, No),
            ("memory_object_address", Bytes(8), No),
            ("cacheobjtype", Text(34), No),
            ("objtype", Text(16), No),
            ("plan_handle", Bytes(64), No),
            ("pool_id", Int, No),
            ("parent_plan_handle", Bytes(64), Yes),
        ],
        rows: cached_plans,
    },
];

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        view: View {
            schema: "sys",
            name: "dm_exec_sql_text",
            columns: &[
                ("dbid", SmallInt, Yes),
                ("objectid", Int, Yes),
                ("number", SmallInt, Yes),
                ("encrypted", Bit, No),
                ("text", LongText, Yes),
            ],
            rows: sql_text,
        },
        parameters: &[Bytes(64)],
    },
    Function {
        view: View {
            schema: "sys",
            name: "dm_exec_query_plan",
            columns: &[
                ("dbid", SmallInt, Yes),
                ("objectid", Int, Yes),
                ("number", SmallInt, Yes),
                ("encrypted", Bit, No),
                ("query_plan", Xml, Yes),
            ],
            rows: query_plan,
        },
        parameters: &[Bytes(64)],
    },
    Function {
        view: View {
            schema: "sys",
            name: "dm_exec_text_query_plan",
            columns: &[
                ("dbid", SmallInt, Yes),
                ("objectid", Int, Yes),
                ("number", SmallInt, Yes),
                ("encrypted", Bit, No),
                ("query_plan", LongText, Yes),
            ],
            rows: query_plan,
        },
        parameters: &[Bytes(64), Int, Int],
    },
    Function {
        view: View {
            schema: "sys",
            name: "dm_exec_query_statistics_xml",
            columns: &[
                ("session_id", SmallInt, No),
                ("request_id", Int, No),
                ("sql_handle", Bytes(64), Yes),
                ("plan_handle", Bytes(64), Yes),
                ("query_plan", Xml, Yes),
            ],
            rows: running_plan,
        },
        parameters: &[SmallInt],
    },
    Function {
        view: View {
            schema: "sys",
            name: "dm_exec_plan_attributes",
            columns: &[("attribute", Name, No), ("value", Variant, Yes), ("is_cache_key", Bit, No)],
            rows: plan_attributes,
        },
        parameters: &[Bytes(64)],
    },
    Function {
        view: View {
            schema: "sys",
            name: "dm_exec_input_buffer",
            columns: &[("event_type", Text(256), No), ("parameters", SmallInt, Yes), ("event_info", LongText, Yes)],
            rows: input_buffer,
        },
        parameters: &[SmallInt, Int],
    },
];

/// The handle of a program's text; NULL when it has none.
pub(super) fn sql_handle(program: &Program) -> Value {
    program.handle().map_or(Value::Null, |handle| Value::Bin(handle.bytes().to_vec()))
}

/// The handle of a program; NULL when it was made of no text.
pub(super) fn plan_handle(program: &Program) -> Value {
    let Some(handle) = program.handle() else { return Value::Null };
    let mut bytes = handle.bytes().to_vec();
    bytes[0] = if program.procedure().is_some() { PLAN_OF_MODULE } else { PLAN_OF_BATCH };
    bytes[1..4].copy_from_slice(&program.database_id().to_be_bytes()[1..]);
    Value::Bin(bytes)
}

/// The program that a handle of either kind names.
///
/// # Errors
/// 569 for what is no handle.
fn by_handle(source: &Source<'_>, function: &str) -> Result<Option<Arc<Program>>, SqlError> {
    let Some(bytes) = source.bytes(0) else { return Ok(None) };
    let invalid = || SqlError::handle_invalid(function);
    let mut text = bytes.to_vec();
    let database = match text.first() {
        Some(&(TEXT_OF_BATCH | TEXT_OF_MODULE)) => None,
        Some(&kind @ (PLAN_OF_BATCH | PLAN_OF_MODULE)) if text.len() > 4 => {
            text[0] = if kind == PLAN_OF_MODULE { TEXT_OF_MODULE } else { TEXT_OF_BATCH };
            let database = i32::from_be_bytes([0, text[1], text[2], text[3]]);
            text[1..4].fill(0);
            Some(database)
        }
        _ => return Err(invalid()),
    };
    let handle = TextHandle::from_bytes(&text).ok_or_else(invalid)?;
    let is_it = |program: &Arc<Program>| {
        program.handle() == Some(handle) && database.is_none_or(|database| database == program.database_id())
    };
    if let Some(program) = source.registry.plans().by_handle(handle).filter(is_it) {
        return Ok(Some(program));
    }
    let running = source.registry.rows().into_iter().filter_map(|session| session.text);
    Ok(running.flat_map(|running| [running.text, running.batch]).find(is_it))
}

/// The text of a program as those see it who may see the state of the server: nobody is shown a password.
pub(crate) fn shown_text(program: &Program) -> String {
    let text = program.text();
    let lower = text.to_ascii_lowercase();
    if lower.contains("password") && lower.contains("login") {
        return "-- The text holds a password and is not shown.".to_string();
    }
    text.to_string()
}

/// The statement that a session runs, for the stack of a deadlock's graph.
pub(crate) struct Frame {
    /// The name of the module; None: a batch.
    pub(crate) procedure: Option<String>,
    /// The statement's first and last character, in bytes of UTF-16.
    pub(crate) start: i32,
    pub(crate) end: i32,
    pub(crate) handle: String,
    /// Its text; hidden for a module WITH ENCRYPTION.
    pub(crate) statement: String,
}

/// What a session is at.
pub(crate) fn frame(running: &Running) -> Frame {
    let program = &running.text;
    let (start, end) = running.statement().unwrap_or((0, -1));
    let procedure = program.procedure().map(|procedure| procedure.name.to_string());
    let handle = match sql_handle(program) {
        Value::Bin(bytes) => bytes.iter().fold("0x".to_string(), |text, byte| format!("{text}{byte:02x}")),
        _ => "0x".to_string(),
    };
    let units: Vec<u16> = match is_encrypted(program) {
        true => Vec::new(),
        false => shown_text(program).encode_utf16().collect(),
    };
    let place = |bytes: i32| usize::try_from(bytes / 2).unwrap_or(0).min(units.len());
    let last = if end < 0 { units.len() } else { place(end.saturating_add(2)) };
    let statement = String::from_utf16_lossy(units.get(place(start)..last).unwrap_or_default());
    Frame { procedure, start, end, handle, statement }
}

fn sql_text(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let Some(program) = by_handle(source, "sys.dm_exec_sql_text")? else { return Ok(Rows::new()) };
    let row = of_program(view, &program);
    let shown = (!is_encrypted(&program)).then(|| shown_text(&program));
    Ok(vec![row.text_if("text", shown).done()])
}

/// Whether a program is that of a module WITH ENCRYPTION, whose text and plans nobody is shown.
fn is_encrypted(program: &Program) -> bool {
    program.procedure().is_some() && modules::is_encrypted(program.text())
}

/// The columns that texts and plans have in common.
fn of_program(view: &View, program: &Program) -> super::RowBuilder {
    let row = view.row().integer("dbid", program.database_id()).bit("encrypted", is_encrypted(program));
    match program.procedure() {
        Some(procedure) => row.integer("objectid", procedure.object_id),
        None => row,
    }
}

fn query_plan(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let function = format!("sys.{}", view.name);
    let Some(program) = by_handle(source, &function)? else { return Ok(Rows::new()) };
    // From 0 to -1 is the whole text, which is what no offsets mean, too.
    let whole = source.integer(1).unwrap_or(0) == 0 && source.integer(2).unwrap_or(-1) == -1;
    let place = source.integer(1).filter(|_| !whole).and_then(|start| i32::try_from(start).ok());
    let plan = if is_encrypted(&program) {
        None
    } else {
        program.plan_document(place, source.host, source.server.max_degree())
    };
    Ok(vec![of_program(view, &program).text_if("query_plan", plan).done()])
}

/// The session that a function's first argument names.
fn asked_session(source: &Source<'_>) -> Option<SessionRow> {
    let session_id = i32::try_from(source.integer(0)?).ok()?;
    source.registry.row(session_id)
}

/// The plan of the statement that a session runs; what its operators have done so far is counted for nobody.
fn running_plan(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let session = asked_session(source).filter(|session| session.running);
    let Some((session_id, running)) = session.and_then(|session| Some((session.session_id, session.text?))) else {
        return Ok(Rows::new());
    };
    let place = running.statement().map(|(start, _)| start);
    let row = view
        .row()
        .integer("session_id", session_id)
        .value("sql_handle", sql_handle(&running.text))
        .value("plan_handle", plan_handle(&running.text))
        .text_if("query_plan", running.text.plan_document(place, source.host, source.server.max_degree()));
    Ok(vec![row.done()])
}

fn plan_attributes(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let Some(program) = by_handle(source, "sys.dm_exec_plan_attributes")? else { return Ok(Rows::new()) };
    let row = |name: &str, value: i32, is_key: bool| {
        view.row().text("attribute", name).integer("value", value).bit("is_cache_key", is_key).done()
    };
    let object_id = program.procedure().map_or(0, |procedure| procedure.object_id);
    let mut rows = vec![row("dbid", program.database_id(), true), row("objectid", object_id, true)];
    if let Value::Bin(handle) = sql_handle(&program) {
        let handle = super::in_variant(SqlType::VarBinary(Length::Limit(64)), Value::Bin(handle));
        rows.push(view.row().text("attribute", "sql_handle").value("value", handle).bit("is_cache_key", false).done());
    }
    Ok(rows)
}

fn cached_plans(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let row = |cached: &CachedProgram| {
        let program = &cached.program;
        let kind = match program.procedure() {
            Some(_) if program.is_trigger() => "Trigger",
            Some(_) => "Proc",
            None if cached.is_prepared => "Prepared",
            None => "Adhoc",
        };
        view.row()
            .integer("refcounts", cached.holders as u64)
            .integer("usecounts", cached.uses)
            .text("cacheobjtype", "Compiled Plan")
            .text("objtype", kind)
            .value("plan_handle", plan_handle(program))
            .done()
    };
    Ok(source.registry.plans().programs().iter().map(row).collect())
}

/// The plans of procedures and functions, and those of texts. What memory they have is not counted by cache.
fn cache_counters(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let programs = source.registry.plans().programs();
    let row = |(number, name, kind, modules): (u64, &str, &str, bool)| {
        let own: Vec<_> = programs.iter().filter(|own| own.program.procedure().is_some() == modules).collect();
        // The cache holds each itself.
        let in_use = own.iter().filter(|own| own.holders > 1).count();
        view.row()
            .address("cache_address", number)
            .text("name", name)
            .text("type", kind)
            .integer("entries_count", own.len() as u64)
            .integer("entries_in_use_count", in_use as u64)
            .done()
    };
    let caches = [(1, "Object Plans", "CACHESTORE_OBJCP", true), (2, "SQL Plans", "CACHESTORE_SQLCP", false)];
    Ok(caches.into_iter().map(row).collect())
}

/// What a session has sent last.
fn input_buffer(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let Some(running) = asked_session(source).and_then(|session| session.text) else { return Ok(Rows::new()) };
    let (event, text) = sent(&running);
    Ok(vec![view.row().text("event_type", event).integer("parameters", 0).text("event_info", text).done()])
}

/// What a client has sent: the kind of the request, and its text.
pub(crate) fn sent(running: &Running) -> (&'static str, String) {
    let event = if running.batch.parameters().is_empty() { "Language Event" } else { "RPC Event" };
    (event, shown_text(&running.batch))
}
