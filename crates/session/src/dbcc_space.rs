//! DBCC commands on the space of files and tables: SHRINKFILE, SHRINKDATABASE, UPDATEUSAGE, CLEANTABLE and INDEXDEFRAG.
//!
//! A file of this engine has no free space at its end that could be given back while it is in use: pages of the data file and segments
//! of the log are used again where they are. So shrinking finds nothing to do, and says how large the files are. Counts of pages and rows
//! are never wrong, dropped columns leave nothing behind in rows, and trees keep their pages in order by themselves.

use crate::names;
use crate::result_set::ResultSet;
use crate::security;
use crate::views::files::{DATA_FILE_ID, PAGE_BYTES};
use crate::views::log::LOG_FILE_ID;
use pikepole_engine::{Database, FileState, Permission, Securable, Table};
use pikepole_query::{ExecutionContext, Output};
use pikepole_tsql::{Dbcc, DbccArgument};
use pikepole_types::{SqlError, SqlType, Value};
use std::sync::Arc;

fn argument(command: &Dbcc, place: usize) -> Option<String> {
    command.arguments.get(place).and_then(DbccArgument::text)
}

/// # Errors
/// 2571 for who may not change a database, which need not be the current one.
fn check_permission(command: &Dbcc, database: &Arc<Database>, context: &ExecutionContext) -> Result<(), SqlError> {
    let allowed = context.token_in(database).is_some_and(|token| token.has(Permission::Control, Securable::Database));
    if allowed { Ok(()) } else { Err(SqlError::dbcc_permission(&context.token().user().name, &command.name)) }
}

/// The words and numbers behind the file or database.
fn check_wishes(command: &Dbcc) -> Result<(), SqlError> {
    const WORDS: &[&str] = &["NOTRUNCATE", "TRUNCATEONLY", "EMPTYFILE"];
    for place in 1..command.arguments.len() {
        let wish = argument(command, place).unwrap_or_default();
        let is_known = wish.parse::<u32>().is_ok() || WORDS.iter().any(|word| word.eq_ignore_ascii_case(&wish));
        if !is_known {
            return Err(SqlError::dbcc_parameter_incorrect(place + 1));
        }
    }
    Ok(())
}

fn sizes() -> ResultSet {
    ResultSet::new(&[
        ("DbId", SqlType::SmallInt),
        ("FileId", SqlType::Int),
        ("CurrentSize", SqlType::Int),
        ("MinimumSize", SqlType::Int),
        ("UsedPages", SqlType::Int),
        ("EstimatedPages", SqlType::Int),
    ])
}

/// A file's pages: how many it has and needs.
fn size(database: &Database, file: i32, set: &mut ResultSet) {
    let (all, used) = if file == DATA_FILE_ID {
        let store = database.store();
        (u64::from(store.file_pages()), store.used_pages())
    } else {
        let log = database.log_stats();
        (log.bytes / PAGE_BYTES, log.bytes_used.div_ceil(PAGE_BYTES))
    };
    let pages = |count: u64| Value::Int(i32::try_from(count).unwrap_or(i32::MAX));
    let id = Value::SmallInt(i16::try_from(database.id()).unwrap_or(i16::MAX));
    set.push(vec![id, Value::Int(file), pages(all), pages(all), pages(used), pages(used)]);
}

pub(crate) fn shrink_file(command: &Dbcc, context: &ExecutionContext, output: &mut dyn Output) -> Result<(), SqlError> {
    let named = argument(command, 0).ok_or_else(SqlError::dbcc_parameter_count)?;
    let database = context.database();
    check_permission(command, database, context)?;
    check_wishes(command)?;
    let is_meant = |file: &FileState| named.parse() == Ok(file.file_id) || named.eq_ignore_ascii_case(&file.name);
    let found = database.files().into_iter().find(is_meant);
    let found = found.ok_or_else(|| SqlError::file_not_found(named, database.name()))?;
    let file = if found.is_log() { LOG_FILE_ID } else { DATA_FILE_ID };
    let mut set = sizes();
    size(database, file, &mut set);
    set.send(output);
    Ok(())
}

pub(crate) fn shrink_database(
    command: &Dbcc,
    database: &Arc<Database>,
    context: &ExecutionContext,
    output: &mut dyn Output,
) -> Result<(), SqlError> {
    check_permission(command, database, context)?;
    check_wishes(command)?;
    let mut set = sizes();
    [DATA_FILE_ID, LOG_FILE_ID].into_iter().for_each(|file| size(database, file, &mut set));
    set.send(output);
    Ok(())
}

/// The table that the second argument names.
fn table(command: &Dbcc, database: &Arc<Database>, context: &ExecutionContext) -> Result<Option<Arc<Table>>, SqlError> {
    let Some(named) = argument(command, 1) else { return Ok(None) };
    let catalog = security::catalog_of(context, database);
    let found = catalog.and_then(|catalog| {
        let by_id = || catalog.table_by_id(named.parse().ok()?).cloned();
        let by_name = || {
            let parts = names::parts(&named)?;
            catalog.table(parts.schema.as_deref().unwrap_or("dbo"), &parts.name).cloned()
        };
        by_id().or_else(by_name)
    });
    found.map(Some).ok_or_else(|| SqlError::table_or_object_not_found(named))
}

/// UPDATEUSAGE and CLEANTABLE, which find what they look for in order.
pub(crate) fn look_at_table(
    command: &Dbcc,
    database: &Arc<Database>,
    context: &ExecutionContext,
) -> Result<(), SqlError> {
    let most = if command.name == "CLEANTABLE" { 2..=3 } else { 1..=3 };
    if !most.contains(&command.arguments.len()) {
        return Err(SqlError::dbcc_parameter_count());
    }
    check_permission(command, database, context)?;
    table(command, database, context).map(|_| ())
}

pub(crate) fn defragment(
    command: &Dbcc,
    database: &Arc<Database>,
    context: &ExecutionContext,
    output: &mut dyn Output,
) -> Result<(), SqlError> {
    check_permission(command, database, context)?;
    let (Some(table), Some(index)) = (table(command, database, context)?, argument(command, 2)) else {
        return Err(SqlError::dbcc_parameter_count());
    };
    let is_it =
        |found: &pikepole_engine::Index| found.name.eq_ignore_ascii_case(&index) || index.parse() == Ok(found.index_id);
    if !table.indexes.iter().any(is_it) {
        return Err(SqlError::index_missing(index));
    }
    let big = SqlType::BigInt;
    let mut set = ResultSet::new(&[("Pages Scanned", big), ("Pages Moved", big), ("Pages Removed", big)]);
    let pages: u64 = table.storages().map(|storage| database.store().pages_of(storage.object).0).sum();
    set.push(vec![Value::BigInt(i64::try_from(pages).unwrap_or(i64::MAX)), Value::BigInt(0), Value::BigInt(0)]);
    set.send(output);
    Ok(())
}
