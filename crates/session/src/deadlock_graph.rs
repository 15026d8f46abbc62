//! A deadlock as XML, in the shape of SQL Server's event `xml_deadlock_report`, which tools draw.
//!
//! ```text
//!   deadlock / victim-list / victimProcess id
//!            / process-list / process id spid waitresource ... / executionStack / frame, inputbuf
//!            / resource-list / keylock | objectlock | xactlock | applicationlock | metadatalock
//!                              / owner-list / owner id mode, waiter-list / waiter id mode requestType
//! ```
//! A row that another transaction has changed is locked by that transaction's id, so the wait for it is an `xactlock`, as under
//! SQL Server's optimized locking. An owner that only waits in front of the waiter has `requestType="wait"`.

use crate::registry::{Registry, SessionRow};
use crate::views::texts;
use crate::views::transactions::transaction_id;
use pikepole_engine::{
    Database, Deadlock, DeadlockProcess, Isolation, LockedName, LockedThing, Server, lock_description,
};
use std::fmt::Write;
use std::sync::Arc;

/// Characters of a statement or a batch that are shown.
const TEXT_CHARS_MAX: usize = 4000;

/// What is known of a process while it waits.
struct Seen<'d> {
    process: &'d DeadlockProcess,
    id: String,
    database: Option<Arc<Database>>,
    session: Option<SessionRow>,
}

/// The first sessions of a server bring what describes its deadlocks.
pub(crate) fn describe_deadlocks(server: &Arc<Server>, registry: &Arc<Registry>) {
    if server.deadlocks().is_described() {
        return;
    }
    let (weak_server, registry) = (Arc::downgrade(server), Arc::downgrade(registry));
    server.deadlocks().describe_by(move |deadlock, at_us| {
        // While a session waits both are there.
        Some(graph(&*weak_server.upgrade()?, &*registry.upgrade()?, deadlock, at_us))
    });
}

fn graph(server: &Server, registry: &Registry, deadlock: &Deadlock, at_us: i64) -> String {
    let seen: Vec<Seen<'_>> = deadlock
        .processes
        .iter()
        .enumerate()
        .map(|(at, process)| Seen {
            process,
            id: format!("process{}_{}", process.standing.session_id, at + 1),
            database: server.database_of(process),
            session: registry.row(process.standing.session_id),
        })
        .collect();
    let mut out = String::from("<deadlock><victim-list>");
    element(&mut out, "victimProcess", &[("id", seen[deadlock.victim].id.clone())]);
    out += "</victim-list><process-list>";
    for process in &seen {
        process_element(&mut out, process, at_us);
    }
    out += "</process-list><resource-list>";
    for (at, process) in seen.iter().enumerate() {
        resource(&mut out, process, &seen[(at + 1) % seen.len()]);
    }
    out += "</resource-list></deadlock>";
    out
}

fn opening(out: &mut String, name: &str, attributes: &[(&str, String)]) {
    let _ = write!(out, "<{name}");
    for (attribute, value) in attributes {
        let _ = write!(out, " {attribute}=\"{}\"", xml_escaped(value));
    }
}

fn element(out: &mut String, name: &str, attributes: &[(&str, String)]) {
    opening(out, name, attributes);
    *out += "/>";
}

/// A text between tags or quotes; characters that no XML can have become blanks.
fn xml_escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\t' | '\n' | '\r' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

fn cut(text: &str) -> &str {
    text.char_indices().nth(TEXT_CHARS_MAX).map_or(text, |(end, _)| &text[..end])
}

fn process_element(out: &mut String, seen: &Seen<'_>, at_us: i64) {
    let Seen { process, id, database, session } = seen;
    let standing = process.standing;
    let transaction = database.as_ref().zip(process.transaction).map(|(database, id)| transaction_id(database, id));
    let isolation = match standing.isolation {
        Isolation::ReadUncommitted => "read uncommitted (1)",
        Isolation::ReadCommitted => "read committed (2)",
        Isolation::RepeatableRead => "repeatable read (3)",
        Isolation::Serializable => "serializable (4)",
        Isolation::Snapshot => "snapshot (5)",
    };
    let mut attributes = vec![
        ("id", id.clone()),
        ("taskpriority", standing.priority.to_string()),
        ("logused", process.log_bytes.to_string()),
        ("waitresource", database.as_ref().map(|database| wait_resource(database, process)).unwrap_or_default()),
        ("waittime", (process.waited_us / 1000).to_string()),
        ("ownerId", transaction.unwrap_or_default().to_string()),
        ("lockMode", process.wanted.name().to_string()),
        ("status", "suspended".to_string()),
        ("spid", standing.session_id.to_string()),
        ("sbid", "0".to_string()),
        ("ecid", "0".to_string()),
        ("priority", standing.priority.to_string()),
    ];
    if let Some(session) = session {
        let begun_us = i64::try_from(session.batch_started_us).unwrap_or(at_us);
        attributes.extend([
            ("trancount", session.open_transactions.to_string()),
            ("lastbatchstarted", crate::error_log::time(begun_us).replace(' ', "T")),
            ("clientapp", session.program_name.clone()),
            ("hostname", session.host_name.clone()),
            ("loginname", session.login_name.clone()),
            ("isolationlevel", isolation.to_string()),
            ("currentdb", session.database_id.to_string()),
            ("lockTimeout", session.shown.lock_timeout_ms.cast_unsigned().to_string()),
        ]);
        let name = session.transaction_name.clone();
        attributes.extend(name.map(|name| ("transactionname", name)));
    }
    attributes.extend(database.as_ref().map(|database| ("currentdbname", database.name().to_string())));
    opening(out, "process", &attributes);
    *out += "><executionStack>";
    let running = session.as_ref().and_then(|session| session.text.as_ref());
    if let Some(running) = running {
        let frame = texts::frame(running);
        let attributes = [
            ("procname", frame.procedure.unwrap_or_else(|| "adhoc".to_string())),
            ("stmtstart", frame.start.to_string()),
            ("stmtend", frame.end.to_string()),
            ("sqlhandle", frame.handle),
        ];
        opening(out, "frame", &attributes);
        let _ = write!(out, ">{}</frame>", xml_escaped(cut(&frame.statement)));
    }
    *out += "</executionStack><inputbuf>";
    if let Some(running) = running {
        *out += &xml_escaped(cut(&texts::sent(running).1));
    }
    *out += "</inputbuf></process>";
}

fn wait_resource(database: &Database, process: &DeadlockProcess) -> String {
    let id = database.id();
    match (database.locked_name(process.thing), process.thing) {
        (LockedName::Keys(storage, ..), LockedThing::Keys(_, hash)) => {
            format!("KEY: {id}:{storage} {}", lock_description(hash))
        }
        (LockedName::Catalog, _) => format!("METADATA: database_id = {id}"),
        (LockedName::Application(number), _) => format!("APPLICATION: {id}:{number}"),
        (LockedName::Object(object, _), _) => format!("OBJECT: {id}:{object}:0"),
        (_, LockedThing::RowOf(transaction)) => format!("XACT: {id}:{}", transaction_id(database, transaction)),
        (LockedName::Keys(storage, ..), _) => format!("KEY: {id}:{storage}"),
        (LockedName::Transaction, _) => format!("XACT: {id}"),
    }
}

/// What `waiter` waits for, and `owner` has.
fn resource(out: &mut String, waiter: &Seen<'_>, owner: &Seen<'_>) {
    let process = waiter.process;
    let (dbid, named) = match &waiter.database {
        Some(database) => (database.id().to_string(), database.locked_name(process.thing)),
        None => ("0".to_string(), LockedName::Transaction),
    };
    let full = |name: Option<String>| match (&waiter.database, name) {
        (Some(database), Some(name)) => format!("{}.{name}", database.name()),
        (_, name) => name.unwrap_or_default(),
    };
    let (kind, mut attributes) = match named {
        LockedName::Catalog => {
            ("metadatalock", vec![("subresource", "DATABASE".to_string()), ("classid", "0".to_string())])
        }
        LockedName::Application(number) => {
            ("applicationlock", vec![("hash", number.to_string()), ("databasePrincipalId", "0".to_string())])
        }
        LockedName::Object(object, name) => (
            "objectlock",
            vec![
                ("lockPartition", "0".to_string()),
                ("objid", object.to_string()),
                ("subresource", "FULL".to_string()),
                ("objectname", full(name)),
                ("associatedObjectId", object.to_string()),
            ],
        ),
        LockedName::Keys(storage, table, index) => (
            "keylock",
            vec![
                ("hobtid", storage.to_string()),
                ("objectname", full(table)),
                ("indexname", index.unwrap_or_default()),
                ("associatedObjectId", storage.to_string()),
            ],
        ),
        LockedName::Transaction => {
            let transaction = match (&waiter.database, process.thing) {
                (Some(database), LockedThing::RowOf(id)) => transaction_id(database, id),
                _ => 0,
            };
            ("xactlock", vec![("xdesId", transaction.to_string())])
        }
    };
    attributes.extend([
        ("dbid", dbid),
        ("id", format!("lock{}", waiter.id)),
        ("mode", process.held.name().to_string()),
    ]);
    opening(out, kind, &attributes);
    *out += "><owner-list>";
    let mut of_owner = vec![("id", owner.id.clone()), ("mode", process.held.name().to_string())];
    if !process.is_held {
        of_owner.push(("requestType", "wait".to_string()));
    }
    element(out, "owner", &of_owner);
    *out += "</owner-list><waiter-list>";
    let of_waiter =
        [("id", waiter.id.clone()), ("mode", process.wanted.name().to_string()), ("requestType", "wait".to_string())];
    element(out, "waiter", &of_waiter);
    let _ = write!(out, "</waiter-list></{kind}>");
}
