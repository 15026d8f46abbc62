//! Statements that the machine leaves to the session: SET options, CHECKPOINT, DBCC, configuration, and those that are
//! refused by name.

use crate::host::SessionHost;
use crate::{backups, configuration, dbcc, security, statistics, unsupported};
use pikepole_engine::{Permission, ProcessAffinity, Securable};
use pikepole_query::{ExecutionContext, Output};
use pikepole_tsql::{
    Backup, Dbcc, DropKind, Kill, Literal, ServerConfiguration, SettingValue, Statement, StatementKind,
};
use pikepole_types::SqlError;
use std::sync::Arc;

/// Runs one statement.
pub(crate) async fn run(
    host: &mut SessionHost,
    statement: &Statement,
    context: &mut ExecutionContext,
    output: &mut dyn Output,
) -> Result<(), SqlError> {
    pikepole_scheduler::set_command(command(&statement.kind));
    check(&statement.kind, context)?;
    match &statement.kind {
        StatementKind::SetOption(option) => host.options.set(statement, option, context, output),
        StatementKind::Checkpoint(_) => {
            let database = Arc::clone(context.database());
            database.checkpoint(context.transaction()).await
        }
        StatementKind::Dbcc(command) => dbcc::run(host, command, context, statement.line(), output).await,
        StatementKind::AlterServerConfiguration(change) => configure(host, change, output),
        // Options take effect when they are set.
        StatementKind::Reconfigure { .. } => Ok(()),
        StatementKind::Kill(kill) => self::kill(host, kill),
        StatementKind::Shutdown { .. } => Err(unsupported("SHUTDOWN")),
        StatementKind::Backup(backup) => backups::backup(host, backup, context, output).await,
        StatementKind::Restore(restore) => backups::restore(host, restore, context, output).await,
        StatementKind::Permission(permission) => security::change_permissions(host, permission, context, output).await,
        StatementKind::Principal(principal) => security::define_principal(host, principal, context).await,
        StatementKind::Drop(drop) if drop.kind == DropKind::Statistics => statistics::drop(host, drop, context).await,
        StatementKind::Drop(drop) => security::drop_principals(host, drop, context).await,
        StatementKind::ExecuteAs(execute_as) => security::execute_as(execute_as, context),
        StatementKind::Revert => security::revert(context),
        StatementKind::UpdateStatistics(update) => statistics::update(host, update, context).await,
        StatementKind::CreateStatistics(create) => statistics::create(host, create, context).await,
        _ => Err(unsupported("This statement")),
    }
}

/// The permissions of statements about the server and its databases. Statements that change principals check their own.
fn check(kind: &StatementKind, context: &mut ExecutionContext) -> Result<(), SqlError> {
    context.refresh_security().map_err(|fault| *fault)?;
    let needs = |permission, securable, error: fn() -> SqlError| {
        if context.token().has(permission, securable) { Ok(()) } else { Err(error()) }
    };
    match kind {
        StatementKind::Checkpoint(_) => context.require_of_database(Permission::Checkpoint),
        StatementKind::AlterServerConfiguration(_) | StatementKind::Reconfigure { .. } => {
            needs(Permission::AlterSettings, Securable::Server, SqlError::no_permission)
        }
        StatementKind::Kill(_) => needs(Permission::AlterAnyConnection, Securable::Server, SqlError::kill_denied),
        StatementKind::Shutdown { .. } => needs(Permission::Shutdown, Securable::Server, SqlError::no_permission),
        StatementKind::Backup(backup) => check_backup(backup, context),
        // A restore puts its own users and permissions in the place of those that are there.
        StatementKind::Restore(_) => needs(Permission::CreateAnyDatabase, Securable::Server, || {
            SqlError::database_permission_denied("CREATE DATABASE", pikepole_engine::MASTER)
        }),
        StatementKind::Dbcc(command) => check_dbcc(command, context),
        _ => Ok(()),
    }
}

fn check_backup(backup: &Backup, context: &ExecutionContext) -> Result<(), SqlError> {
    let permission = if backup.kind == "LOG" { Permission::BackupLog } else { Permission::BackupDatabase };
    let current = context.database();
    let name = backup.database.as_ref().map_or(current.name(), |name| name.as_str());
    let database = context.server().database(name).unwrap_or_else(|_| Arc::clone(current));
    let allowed = context.token_in(&database).is_some_and(|token| token.has(permission, Securable::Database));
    if allowed { Ok(()) } else { Err(SqlError::database_permission_denied(permission.name(), name)) }
}

/// What DBCC shows of a session is the session's; the rest is the server's administrators', or the database's owner's.
fn check_dbcc(command: &Dbcc, context: &ExecutionContext) -> Result<(), SqlError> {
    const OF_EVERYBODY: &[&str] = &["USEROPTIONS", "HELP", "INPUTBUFFER", "SHOW_STATISTICS"];
    const OF_THE_OWNER: &[&str] = &[
        "CHECKALLOC",
        "CHECKCATALOG",
        "CHECKCONSTRAINTS",
        "CHECKDB",
        "CHECKFILEGROUP",
        "CHECKIDENT",
        "CHECKTABLE",
        "CLEANTABLE",
        "INDEXDEFRAG",
        "LOGINFO",
        "OPENTRAN",
        "SHOWFILESTATS",
        "SHRINKDATABASE",
        "SHRINKFILE",
        "SQLPERF",
        "UPDATEUSAGE",
    ];
    let token = context.token();
    let name = command.name.as_str();
    let allowed = OF_EVERYBODY.contains(&name)
        || OF_THE_OWNER.contains(&name) && token.has(Permission::Control, Securable::Database)
        || name == "SQLPERF" && token.has(Permission::ViewServerState, Securable::Server)
        || token.has(Permission::AlterServerState, Securable::Server);
    if allowed {
        return Ok(());
    }
    let error = format!("User '{}' does not have permission to run DBCC {name}.", token.user().name);
    Err(SqlError::new(2571, 14, 3, error))
}

/// What the views show a session to do.
fn command(kind: &StatementKind) -> &'static str {
    match kind {
        StatementKind::SetOption(_) => "SET OPTION ON",
        StatementKind::Checkpoint(_) => "CHECKPOINT",
        StatementKind::Dbcc(_) => "DBCC",
        StatementKind::Backup(backup) if backup.kind == "LOG" => "BACKUP LOG",
        StatementKind::Backup(_) => "BACKUP DATABASE",
        StatementKind::Restore(restore) if restore.kind == "LOG" => "RESTORE LOG",
        StatementKind::Restore(restore) if restore.kind == "DATABASE" => "RESTORE DATABASE",
        StatementKind::Restore(_) => "RESTORE HEADERONLY",
        StatementKind::AlterServerConfiguration(_) => "ALTER SERVER CONFIGURATION",
        StatementKind::Reconfigure { .. } => "RECONFIGURE",
        StatementKind::CreateStatistics(_) => "CREATE STATISTICS",
        StatementKind::UpdateStatistics(_) => "UPDATE STATISTICS",
        _ => "EXECUTE",
    }
}

/// KILL of a session: its request is cancelled, it ends, and what it has open is rolled back.
fn kill(host: &SessionHost, kill: &Kill) -> Result<(), SqlError> {
    if kill.status_only {
        return Err(unsupported("KILL ... WITH STATUSONLY"));
    }
    let Some(Literal::Int(session)) = kill.target.literal() else {
        return Err(unsupported("KILL of a unit of work"));
    };
    let session = *session;
    if session <= 0 {
        return Err(SqlError::session_id_invalid(session));
    }
    if session == host.session_id {
        return Err(SqlError::kill_own_process());
    }
    if host.registry.kill(session) { Ok(()) } else { Err(SqlError::process_not_active(session)) }
}

/// ALTER SERVER CONFIGURATION.
fn configure(host: &SessionHost, change: &ServerConfiguration, output: &mut dyn Output) -> Result<(), SqlError> {
    match change {
        ServerConfiguration::Pikepole { name, value } => {
            let Some(text) = value_text(value) else {
                return Err(SqlError::configuration_value_invalid("?", name.as_str()));
            };
            let message = if name.is(configuration::POLICIES) {
                configuration::set_policies(&host.server, &text)?
            } else {
                configuration::set(&host.server, name.as_str(), &text)?
            };
            output.message(&message);
            Ok(())
        }
        ServerConfiguration::AffinityCpu(cpus) if cpus.is_empty() => {
            host.server.set_process_affinity(&ProcessAffinity::Auto)
        }
        ServerConfiguration::AffinityCpu(cpus) => {
            host.server.set_process_affinity(&ProcessAffinity::Cpus(cpus.clone()))
        }
        ServerConfiguration::AffinityNumaNode(nodes) => {
            host.server.set_process_affinity(&ProcessAffinity::Nodes(nodes.clone()))
        }
        ServerConfiguration::SoftNuma(on) => host.server.set_soft_numa(*on),
        ServerConfiguration::Other { name, .. } => Err(unsupported(format!("ALTER SERVER CONFIGURATION SET {name}"))),
    }
}

/// A policy's value as text.
fn value_text(value: &SettingValue) -> Option<String> {
    let literal = |literal: &Literal| match literal {
        Literal::Int(number) => Some(number.to_string()),
        Literal::Decimal(text) => Some(text.clone()),
        Literal::String { value, .. } => Some(value.clone()),
        _ => None,
    };
    match value {
        SettingValue::On => Some("ON".to_string()),
        SettingValue::Off => Some("OFF".to_string()),
        SettingValue::Word(word) => Some(word.clone()),
        SettingValue::Expr(expr) => expr.literal().and_then(literal),
        SettingValue::Measure(expr, unit) => Some(format!("{}{unit}", expr.literal().and_then(literal)?)),
        SettingValue::Name(name) => Some(name.dotted()),
        SettingValue::List(_) | SettingValue::OnWith(_) | SettingValue::Place(_) | SettingValue::OnPartitions(..) => {
            None
        }
    }
}
