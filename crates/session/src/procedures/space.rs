//! `sp_spaceused`: rows and pages of a table, or the size of the database and what its pages are used for.

use super::Arguments;
use super::describe::object;
use crate::host::count_table;
use crate::result_set::{NAME, ResultSet, string, text};
use crate::security;
use crate::views;
use pikepole_engine::{Database, Table};
use pikepole_query::{ExecutionContext, Output};
use pikepole_types::{SqlError, SqlType, Value};

/// The parameters.
pub(super) const PARAMETERS: &[&str] = &["@objname", "@updateusage", "@mode", "@oneresultset"];

const PAGE_KILOBYTES: u64 = 8;

/// Pages of a table: those that it uses, those in its extents, and of the first those of its nonclustered indexes.
#[derive(Default)]
struct Pages {
    used: u64,
    reserved: u64,
    of_indexes: u64,
}

impl Pages {
    fn of(table: &Table, database: &Database) -> Pages {
        let store = database.store();
        let indexes = table.live_indexes().filter(|index| !index.clustered).map(|index| index.storage.object);
        let mut pages = Pages { of_indexes: indexes.map(|object| store.pages_of(object).0).sum(), ..Pages::default() };
        for storage in table.storages() {
            let (used, reserved) = store.pages_of(storage.object);
            pages.used += used;
            pages.reserved += reserved;
        }
        pages
    }
}

fn kilobytes(pages: u64) -> Value {
    string(format!("{} KB", pages * PAGE_KILOBYTES))
}

/// Answers a call: of a table its rows and pages, long values among the data; of the database what its files have, in two
/// results unless one is asked for.
///
/// # Errors
/// 15009 for a table that is not there, 15600 for a mode that is none.
pub(super) async fn used(
    arguments: &Arguments<'_>,
    context: &mut ExecutionContext,
    output: &mut dyn Output,
) -> Result<(), SqlError> {
    let mode = arguments.text(2).unwrap_or_default().to_ascii_uppercase();
    // There is no storage elsewhere.
    if !matches!(mode.as_str(), "" | "ALL" | "LOCAL_ONLY") {
        return Err(SqlError::invalid_parameter_or_option("sys.sp_spaceused"));
    }
    let Some(name) = arguments.text(0) else {
        of_database(context, arguments.text(3).is_some_and(|one| one != "0"), output);
        return Ok(());
    };
    of_table(&name, context, output).await
}

fn of_database(context: &ExecutionContext, is_one: bool, output: &mut dyn Output) {
    let database = context.database();
    let (data, log) = (views::files::data_bytes(database), database.log_stats().bytes);
    let mut pages = Pages::default();
    for table in context.catalog().definitions().tables() {
        let own = Pages::of(table, database);
        pages.used += own.used;
        pages.reserved += own.reserved;
        pages.of_indexes += own.of_indexes;
    }
    // What is neither a table's nor free is the catalog's.
    let total = u64::from(database.store().file_pages());
    let of_catalog = database.store().used_pages().saturating_sub(pages.used);
    let reserved = (pages.reserved + of_catalog).min(total);
    let megabytes = |bytes: u64| string(format!("{:.2} MB", bytes as f64 / 1_048_576.0));
    let sizes = [string(database.name()), megabytes(data + log), megabytes((total - reserved) * PAGE_KILOBYTES * 1024)];
    let uses = [
        kilobytes(reserved),
        kilobytes(pages.used - pages.of_indexes + of_catalog),
        kilobytes(pages.of_indexes),
        kilobytes(reserved.saturating_sub(pages.used + of_catalog)),
    ];
    let of_sizes = [("database_name", NAME), ("database_size", text(18)), ("unallocated space", text(18))];
    let of_uses = [("reserved", text(18)), ("data", text(18)), ("index_size", text(18)), ("unused", text(18))];
    if is_one {
        let mut set = ResultSet::new(&[&of_sizes[..], &of_uses].concat());
        set.push(sizes.into_iter().chain(uses).collect());
        set.send(output);
        return;
    }
    let mut set = ResultSet::new(&of_sizes);
    set.push(sizes.into());
    set.send(output);
    let mut set = ResultSet::new(&of_uses);
    set.push(uses.into());
    set.send(output);
}

async fn of_table(name: &str, context: &mut ExecutionContext, output: &mut dyn Output) -> Result<(), SqlError> {
    let catalog = security::catalog(context);
    let found = object(&catalog, name, context.database().name())?;
    let Some(table) = catalog.table_by_id(found.object_id).cloned() else {
        return Err(SqlError::object_not_in_database(name, context.database().name()));
    };
    let rows = count_table(context, &table).await?;
    let mut set = ResultSet::new(&[
        ("name", NAME),
        ("rows", SqlType::Char(20)),
        ("reserved", text(18)),
        ("data", text(18)),
        ("index_size", text(18)),
        ("unused", text(18)),
    ]);
    let Pages { used, reserved, of_indexes } = Pages::of(&table, context.database());
    set.push(vec![
        string(found.name),
        string(format!("{rows:<20}")),
        kilobytes(reserved),
        kilobytes(used - of_indexes),
        kilobytes(of_indexes),
        kilobytes(reserved - used),
    ]);
    set.send(output);
    Ok(())
}
