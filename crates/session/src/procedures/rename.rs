//! `sp_rename` and `sp_renamedb`: tables, columns, indexes, constraints, modules, sequences and databases get other names.

use super::Arguments;
use crate::host::SessionHost;
use crate::names;
use crate::unsupported;
use pikepole_engine::{
    Catalog, Database, Durability, ModuleDefinition, Object, Permission, PutMode, Table, TableRecord, Transaction, View,
};
use pikepole_query::{BoundReference, ColumnInfo, ExecutionContext, Host, Output, declared_names, names_sequence};
use pikepole_tsql::{ParseOptions, StatementKind, parse_with};
use pikepole_types::SqlError;
use std::sync::Arc;

const CAUTION: &str = "Caution: Changing any part of an object name could break scripts and stored procedures.";

fn ambiguous(kind: &str) -> SqlError {
    let text = format!("Either the parameter @objname is ambiguous or the claimed @objtype ({kind}) is wrong.");
    SqlError::new(15248, 11, 1, text)
}

fn missing(name: &str, database: &str, kind: Option<&str>) -> SqlError {
    SqlError::rename_not_found(name, database, kind.unwrap_or("(null)"))
}

/// What `@objtype` can say.
const KINDS: [&str; 6] = ["COLUMN", "DATABASE", "INDEX", "OBJECT", "USERDATATYPE", "STATISTICS"];

/// The error of the procedure for a name that another column, index or object has.
fn in_use(error: SqlError, new: &str) -> SqlError {
    match error.number {
        2705 => SqlError::rename_name_in_use(new, "COLUMN"),
        1913 => SqlError::rename_name_in_use(new, "INDEX"),
        2714 => SqlError::rename_name_in_use(new, "object"),
        _ => error,
    }
}

/// Checks `@objtype`, in upper case.
fn check_known(kind: Option<&str>, arguments: &Arguments<'_>) -> Result<(), SqlError> {
    if kind.is_some_and(|kind| !KINDS.contains(&kind)) {
        return Err(SqlError::rename_kind_unknown(arguments.text(2).unwrap_or_default()));
    }
    Ok(())
}

/// Checks that the database in an object's name is the current one.
fn check_qualifier(named: Option<&str>, database: &Database) -> Result<(), SqlError> {
    let is_other = |own: &str| !own.is_empty() && own.to_lowercase() != database.name().to_lowercase();
    if named.is_some_and(is_other) {
        return Err(SqlError::qualifier_is_another_database());
    }
    Ok(())
}

/// Runs it, within the session's transaction or in one of its own.
pub(super) async fn rename(
    procedure: &str,
    arguments: &Arguments<'_>,
    host: &SessionHost,
    context: &mut ExecutionContext,
    output: &mut dyn Output,
) -> Result<(), SqlError> {
    let (old, new) = (arguments.text(0).unwrap_or_default(), arguments.text(1).unwrap_or_default());
    let given = arguments.text(2).map(|kind| kind.trim_end().to_ascii_uppercase());
    let mut kind = given.clone();
    check_known(given.as_deref(), arguments)?;
    if new.is_empty() {
        return Err(SqlError::new(15223, 11, 1, "Error: The input parameter '@newname' is not allowed to be null."));
    }
    if procedure == "sp_renamedb" || kind.as_deref() == Some("DATABASE") {
        return rename_database(&old, &new, context, output).await;
    }
    let database = Arc::clone(context.database());
    let catalog = Arc::clone(context.catalog().definitions());
    let missing = || missing(&old, database.name(), given.as_deref());
    if kind.is_none() {
        kind = names::split(&old).map_or(Ok(None), |parts| meant(&catalog, &parts))?.map(str::to_owned);
    }
    check_kind(kind.as_deref())?;
    let part_of_table = matches!(kind.as_deref(), Some("COLUMN" | "INDEX"));
    let mut parts = names::split(&old).ok_or_else(missing)?;
    let part = if part_of_table { parts.pop() } else { None };
    let name = parts.pop().ok_or_else(|| ambiguous(kind.as_deref().unwrap_or("(null)")))?;
    let schema = parts.pop().filter(|schema| !schema.is_empty());
    let schema = schema.unwrap_or_else(|| pikepole_engine::DEFAULT_SCHEMA.to_owned());
    check_qualifier(parts.pop().as_deref(), &database)?;
    let table = catalog.table(&schema, &name).cloned();
    let of_part = || names::find(&catalog, Some(&schema), &name).map(|found| found.parent_object_id);
    let object = catalog.object(&schema, &name).cloned();
    // A sequence looks at the defaults that are made of it itself.
    let is_bindable = |object: &&Object| !matches!(object, Object::Sequence(_)) && kind.as_deref() != Some("INDEX");
    let object_id = object.as_ref().filter(is_bindable).map(Object::object_id);
    let object = object.or_else(|| catalog.table_by_id(of_part()?).cloned().map(Object::Table));
    let view = match &object {
        Some(Object::View(view)) if kind.as_deref() == Some("COLUMN") => {
            Some((Arc::clone(view), host.columns_of_view(&view.schema, &view.name, context).unwrap_or_default()))
        }
        _ => None,
    };
    if object.is_some_and(|object| !context.token().has(Permission::Alter, catalog.securable(&object))) {
        return Err(missing());
    }
    check_unbound(&old, object_id, part.as_deref(), host, context)?;
    let explicit = context.transaction().is_explicit();
    let tx = context.transaction();
    let done = match (kind.as_deref(), part, table) {
        (Some("COLUMN"), Some(part), Some(table)) => {
            check_column(&old, &table, &part)?;
            let change = |record: &mut TableRecord, _: &mut dyn FnMut() -> i32| rename_column(record, &part, &new);
            let history = table.history().and_then(|history| catalog.table_by_id(history));
            match (database.alter_definition(tx, &table, &change).await, history) {
                (Ok(_), Some(history)) => database.alter_definition(tx, history, &change).await.map(drop),
                (renamed, _) => renamed.map(drop),
            }
        }
        (Some("COLUMN"), Some(part), None) => match &view {
            Some((view, columns)) => rename_view_column(&database, tx, (view, columns), (&part, &new)).await,
            None => Err(ambiguous("COLUMN")),
        },
        (Some("INDEX"), Some(part), Some(table)) => {
            database.alter_definition(tx, &table, &|record, _| rename_index(record, &part, &new)).await.map(drop)
        }
        (None | Some("OBJECT"), None, Some(table)) => {
            let change = |record: &mut TableRecord, _: &mut dyn FnMut() -> i32| {
                record.name.clone_from(&new);
                Ok(())
            };
            database.alter_definition(tx, &table, &change).await.map(drop)
        }
        (None | Some("OBJECT"), None, None) => {
            rename_object(&database, tx, &catalog, (&schema, &name), &new).await.unwrap_or_else(|| Err(missing()))
        }
        (kind, ..) => Err(ambiguous(kind.unwrap_or("(null)"))),
    };
    let done = done.map_err(|error| in_use(error, &new));
    match (done, explicit) {
        (done, true) => done?,
        (Ok(()), false) => database.commit(tx, Durability::Full).await?,
        (Err(error), false) => {
            database.rollback(tx).await?;
            return Err(error);
        }
    }
    output.message(&SqlError::new(15477, 10, 1, CAUTION));
    Ok(())
}

/// Renames a constraint, a module or a sequence. None: there is nothing of that name.
async fn rename_object(
    database: &Database,
    tx: &mut Transaction,
    catalog: &Catalog,
    (schema, name): (&str, &str),
    new: &str,
) -> Option<Result<(), SqlError>> {
    let found = names::find(catalog, Some(schema), name)?;
    Some(match found.code.trim() {
        "PK" | "UQ" | "C" | "F" | "D" => {
            let table = catalog.table_by_id(found.parent_object_id)?;
            let change = |record: &mut TableRecord, _: &mut dyn FnMut() -> i32| rename_constraint(record, name, new);
            database.alter_definition(tx, table, &change).await.map(drop)
        }
        "P" | "V" | "FN" | "IF" | "TF" | "TR" | "SN" => database.rename_module(tx, schema, name, new).await,
        "SO" => {
            let names = |default: &str| names_sequence(default, schema, name);
            database.rename_sequence(tx, schema, name, new, &names).await
        }
        code => Err(unsupported(format!("sp_rename of an object of type {code}"))),
    })
}

/// `sp_renamedb`, and `sp_rename` of a database.
async fn rename_database(
    old: &str,
    new: &str,
    context: &mut ExecutionContext,
    output: &mut dyn Output,
) -> Result<(), SqlError> {
    if context.transaction().is_explicit() {
        return Err(SqlError::procedure_in_transaction("sys.sp_renamedb"));
    }
    // A name may come with its delimiters.
    let plain = |name: &str| names::split(name).filter(|parts| parts.len() == 1).and_then(|mut parts| parts.pop());
    let (old, new) = (plain(old).unwrap_or_else(|| old.to_owned()), plain(new).unwrap_or_else(|| new.to_owned()));
    if new.is_empty() {
        return Err(SqlError::new(15223, 11, 1, "Error: The input parameter '@newname' is not allowed to be null."));
    }
    let server = Arc::clone(context.server());
    let of_system = |error: &SqlError| error.number == 5016;
    match server.check_rename(&old, &new) {
        Err(error) if of_system(&error) => return Err(SqlError::database_not_renamed(old)),
        Err(error) if error.number == 911 => return Err(SqlError::database_of_procedure_unknown(old)),
        Err(error) if error.number == 1801 => return Err(SqlError::database_name_taken(new)),
        checked => checked?,
    }
    if !context.has_on_database(Permission::Alter, &old) {
        return Err(SqlError::no_permission());
    }
    let messages = context.rename_database(&old, &new).await.map_err(|fault| *fault)?;
    messages.iter().for_each(|message| output.message(message));
    Ok(())
}

/// Types have no other names here.
fn check_kind(kind: Option<&str>) -> Result<(), SqlError> {
    if kind == Some("USERDATATYPE") { Err(unsupported("sp_rename of a type")) } else { Ok(()) }
}

/// What a name without a type means: one thing of an object, which is none of these, a type, and `table.column` or `table.index`,
/// with the schema or without.
///
/// # Errors
/// 15248 for a name that means several.
fn meant(catalog: &Catalog, parts: &[String]) -> Result<Option<&'static str>, SqlError> {
    let [before @ .., part] = parts else { return Ok(None) };
    let schema = |schemas: &[String]| {
        let given = schemas.last().filter(|schema| !schema.is_empty());
        given.cloned().unwrap_or_else(|| pikepole_engine::DEFAULT_SCHEMA.to_owned())
    };
    let own = schema(before);
    let mut found = Vec::new();
    found.extend(names::find(catalog, Some(&own), part).map(|_| None));
    found.extend(catalog.user_type(&own, part).map(|_| Some("USERDATATYPE")));
    let table = before.split_last().and_then(|(table, schemas)| catalog.table(&schema(schemas), table));
    if let Some(table) = table {
        found.extend(table.column(part).map(|_| Some("COLUMN")));
        let is_it = |index: &&pikepole_engine::Index| index.name.eq_ignore_ascii_case(part);
        found.extend(table.indexes.iter().find(is_it).map(|_| Some("INDEX")));
    }
    match found[..] {
        [] => Ok(None),
        [kind] => Ok(kind),
        _ => Err(ambiguous("(null)")),
    }
}

/// # Errors
/// 15336 for an object, or a column of one, that something is bound to.
fn check_unbound(
    renamed: &str,
    object_id: Option<i32>,
    part: Option<&str>,
    host: &SessionHost,
    context: &ExecutionContext,
) -> Result<(), SqlError> {
    let Some(object_id) = object_id else { return Ok(()) };
    let bound = host.bound_references(object_id, context);
    let catalog = context.catalog();
    let is_meant = |bound: &BoundReference| match part {
        None => true,
        Some(part) => {
            let table = catalog.definitions().table_by_id(object_id);
            table.and_then(|table| table.column(part)).is_some_and(|place| bound.columns.contains(&place))
        }
    };
    if bound.iter().any(is_meant) { Err(SqlError::rename_of_enforced(renamed)) } else { Ok(()) }
}

/// Texts of the table's definition name columns: those stay as they are.
fn check_column(renamed: &str, table: &Table, column: &str) -> Result<(), SqlError> {
    let named = |text: &str| text.to_lowercase().contains(&column.to_lowercase());
    let texts = table.checks.iter().map(|check| &check.text);
    let computed = table.columns.iter().filter_map(|column| column.computed.as_ref());
    if texts.chain(computed.map(|computed| &computed.text)).any(|text| named(text)) {
        return Err(SqlError::rename_of_enforced(renamed));
    }
    Ok(())
}

fn rename_column(record: &mut TableRecord, old: &str, new: &str) -> Result<(), SqlError> {
    let at = record.column(old).ok_or_else(|| ambiguous("COLUMN"))?;
    if record.column(new).is_some_and(|other| other != at) {
        return Err(SqlError::column_name_twice(new, &record.name));
    }
    new.clone_into(&mut record.columns[at].name);
    Ok(())
}

/// A view's columns have their names from its text: there the list of them has the new one, and is put in when there is none.
async fn rename_view_column(
    database: &Database,
    tx: &mut Transaction,
    (view, columns): (&View, &[ColumnInfo]),
    (old, new): (&str, &str),
) -> Result<(), SqlError> {
    let at = columns.iter().position(|column| column.name.eq_ignore_ascii_case(old));
    let at = at.ok_or_else(|| ambiguous("COLUMN"))?;
    let is_taken = |(place, column): (usize, &ColumnInfo)| place != at && column.name.eq_ignore_ascii_case(new);
    if columns.iter().enumerate().any(is_taken) {
        return Err(SqlError::rename_name_in_use(new, "COLUMN"));
    }
    let options = ParseOptions { quoted_identifier: view.quoted_identifier };
    let batch = parse_with(&view.text, options).map_err(|_| ambiguous("COLUMN"))?;
    let Some(StatementKind::CreateView(create)) = batch.statements.first().map(|statement| &statement.kind) else {
        return Err(ambiguous("COLUMN"));
    };
    let mut kept = view.columns.clone();
    if let Some(column) = kept.get_mut(at) {
        new.clone_into(&mut column.name);
    }
    let quoted = |name: &str| format!("[{}]", name.replace(']', "]]"));
    let mut text = view.text.clone();
    match create.columns.get(at) {
        Some(written) => text.replace_range(written.span.range(), &quoted(new)),
        None => {
            let names = columns.iter().enumerate();
            let names = names.map(|(place, column)| quoted(if place == at { new } else { &column.name }));
            let list = format!(" ({})", names.collect::<Vec<_>>().join(", "));
            text.insert_str(create.name.name.span.range().end, &list);
        }
    }
    let definition = ModuleDefinition {
        schema: &view.schema,
        name: &view.name,
        text: &text,
        execute_as: view.execute_as,
        ansi_nulls: view.ansi_nulls,
        quoted_identifier: view.quoted_identifier,
        columns: &kept,
        // The name of a column is kept beside the text.
        declared: declared_names,
    };
    database.put_view(tx, definition, PutMode::Alter).await
}

fn rename_index(record: &mut TableRecord, old: &str, new: &str) -> Result<(), SqlError> {
    if record.indexes.iter().any(|index| index.name.eq_ignore_ascii_case(new)) {
        return Err(SqlError::index_exists(new, "table", record.full_name()));
    }
    let found = record.indexes.iter_mut().find(|index| index.name.eq_ignore_ascii_case(old));
    new.clone_into(&mut found.ok_or_else(|| ambiguous("INDEX"))?.name);
    Ok(())
}

fn rename_constraint(record: &mut TableRecord, old: &str, new: &str) -> Result<(), SqlError> {
    let indexes = record.indexes.iter_mut().map(|index| &mut index.name);
    let defaults =
        record.columns.iter_mut().filter_map(|column| column.default.as_mut()).map(|default| &mut default.name);
    let checks = record.checks.iter_mut().map(|check| &mut check.name);
    let keys = record.foreign_keys.iter_mut().map(|key| &mut key.name);
    let mut names = indexes.chain(defaults).chain(checks).chain(keys);
    let found = names.find(|name| name.eq_ignore_ascii_case(old)).ok_or_else(|| ambiguous("OBJECT"))?;
    new.clone_into(found);
    Ok(())
}
