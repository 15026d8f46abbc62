//! Statements that the machine leaves to the session: SET options, CHECKPOINT, DBCC, configuration, and those that are
//! refused by name.

use crate::host::SessionHost;
use crate::{backups, configuration, dbcc, unsupported};
use pikepole_engine::ProcessAffinity;
use pikepole_query::{ExecutionContext, Output};
use pikepole_tsql::{Literal, ServerConfiguration, SettingValue, Statement, StatementKind};
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
    match &statement.kind {
        StatementKind::SetOption(option) => host.options.set(statement, option, context, output),
        StatementKind::Checkpoint(_) => {
            let database = Arc::clone(context.database());
            database.checkpoint(context.transaction()).await
        }
        StatementKind::Dbcc(command) => dbcc::run(host, command, context, output).await,
        StatementKind::AlterServerConfiguration(change) => configure(host, change, output),
        // Options take effect when they are set.
        StatementKind::Reconfigure { .. } => Ok(()),
        StatementKind::Kill(_) => Err(unsupported("KILL")),
        StatementKind::Shutdown { .. } => Err(unsupported("SHUTDOWN")),
        StatementKind::Backup(backup) => backups::backup(host, backup, context, output).await,
        StatementKind::Restore(restore) => backups::restore(host, restore, context, output).await,
        StatementKind::Permission(_) => Err(unsupported("GRANT, DENY or REVOKE")),
        StatementKind::Principal(principal) => {
            let verb = if principal.alter { "ALTER" } else { "CREATE" };
            Err(unsupported(format!("{verb} {}", principal.kind)))
        }
        // There are no statistics to be made or brought up to date.
        StatementKind::UpdateStatistics(_) => Ok(()),
        StatementKind::CreateStatistics(_) => Err(unsupported("CREATE STATISTICS")),
        _ => Err(unsupported("This statement")),
    }
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
        _ => "EXECUTE",
    }
}

/// ALTER SERVER CONFIGURATION.
fn configure(host: &SessionHost, change: &ServerConfiguration, output: &mut dyn Output) -> Result<(), SqlError> {
    match change {
        ServerConfiguration::Pikepole { name, value } => {
            let Some(text) = value_text(value) else {
                return Err(SqlError::configuration_value_invalid("?", name.as_str()));
            };
            let message = configuration::set(&host.server, name.as_str(), &text)?;
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
        SettingValue::List(_) | SettingValue::OnWith(_) => None,
    }
}
