//! DBCC CHECKIDENT: the identity value of a table beside the values of its column, and setting it.

use pikepole_engine::{Identity, Interrupted, ReadHints, Residence, ScanRange};
use pikepole_query::{ExecutionContext, Output, Table};
use pikepole_tsql::{Dbcc, DbccArgument, ObjectName};
use pikepole_types::{SqlError, Value};

/// What the command is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// `NORESEED`
    Nothing,
    /// Nothing else is said: an identity value that the column is beyond follows it.
    Follow,
    /// `RESEED, value`
    Value(i64),
}

fn wanted(arguments: &[DbccArgument]) -> Result<Wanted, SqlError> {
    let word = arguments.get(1).and_then(DbccArgument::text).map(|word| word.to_ascii_uppercase());
    match (word.as_deref(), arguments.get(2)) {
        (None, None) | (Some("RESEED"), None) => Ok(Wanted::Follow),
        (Some("NORESEED"), None) => Ok(Wanted::Nothing),
        (Some("RESEED"), Some(DbccArgument::Expr(value))) if arguments.len() == 3 => {
            let value = value.to_string().parse().map_err(|_| SqlError::dbcc_parameter_incorrect(3))?;
            Ok(Wanted::Value(value))
        }
        (_, None) => Err(SqlError::dbcc_parameter_incorrect(2)),
        _ => Err(SqlError::dbcc_parameter_incorrect(3)),
    }
}

pub(crate) async fn run(
    command: &Dbcc,
    context: &mut ExecutionContext,
    output: &mut dyn Output,
) -> Result<(), SqlError> {
    let written = command.arguments.first().and_then(DbccArgument::text).ok_or_else(SqlError::dbcc_parameter_count)?;
    let wanted = wanted(&command.arguments)?;
    let missing = || SqlError::table_or_object_not_found(&written);
    let name = ObjectName::read(&written).ok_or_else(missing)?;
    let catalog = context.catalog();
    let table = catalog.table(&name).map_err(|fault| *fault)?.ok_or_else(missing)?;
    let none = || SqlError::no_identity_column(table.qualified_name());
    let column = table.identity.ok_or_else(none)?;
    let identity: Identity = table.engine.columns[column].identity.ok_or_else(none)?;
    let database = match table.engine.residence() {
        Residence::Other(id) => context.server().database_by_id(id).ok_or_else(missing)?,
        _ => context.database().clone(),
    };
    let dealt = database.last_identity(&table.engine).filter(|_| database.has_dealt(&table.engine));
    let shown = |value: Option<i64>| value.map_or_else(|| "NULL".to_owned(), |value| value.to_string());
    if let Wanted::Value(value) = wanted {
        output.message(&SqlError::identity_shown(shown(dealt)));
        return database.reseed(&table.engine, value).await;
    }
    context.begin_definition()?;
    context.take_parts(&catalog.others()).map_err(|fault| *fault)?;
    let found = outermost(context, &table, column, identity.increment > 0).await?;
    context.end_definition().await.map_err(|fault| *fault)?;
    output.message(&SqlError::identity_checked(shown(dealt), shown(found)));
    if let (Wanted::Follow, Some(found)) = (wanted, found) {
        // Does nothing when the values to come are beyond it already.
        database.pass_identity(&table.engine, found).await?;
    }
    Ok(())
}

/// The column's largest value, or its smallest.
async fn outermost(
    context: &mut ExecutionContext,
    table: &Table,
    column: usize,
    largest: bool,
) -> Result<Option<i64>, SqlError> {
    let database = context.database().clone();
    let mut scan = table.engine.scan(ScanRange::all(), &[column]).with_hints(ReadHints::VERSIONS);
    let mut row = [Value::Null];
    let mut found: Option<i64> = None;
    loop {
        let next =
            database.drive(context.transaction(), |tx| database.try_next(tx, &table.engine, &mut scan, &mut row));
        match next.await {
            Ok(false) => return Ok(found),
            Ok(true) => {}
            Err(Interrupted::Error(error)) => return Err(*error),
            Err(Interrupted::Stale) => return Err(SqlError::snapshot_schema_changed(database.name())),
        }
        if let Some(value) = row[0].as_i64() {
            let beyond = |known: i64| if largest { known.max(value) } else { known.min(value) };
            found = Some(found.map_or(value, beyond));
        }
        pikepole_scheduler::yield_if_due().await;
    }
}
