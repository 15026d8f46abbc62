//! Procedures that describe objects of the current database.

use super::Arguments;
use super::odbc::matches;
use super::odbc_types::Odbc;
use crate::dependencies::is_bound;
use crate::host::SessionHost;
use crate::modules;
use crate::names::{self, Found};
use crate::result_set::{NAME, ResultSet, string, text};
use crate::security;
use crate::views;
use pikepole_engine::{
    Catalog, Column, Identity, ModuleDefinition, Object, Permission, PutMode, UserType, UserTypeKind,
};
use pikepole_query::{ColumnInfo, ExecutionContext, Output, Provenance, columns_made_now, declared_names};
use pikepole_tsql::{ParseOptions, parse_with};
use pikepole_types::{SqlError, SqlType, Value};
use std::borrow::Cow;
use std::sync::Arc;

/// Characters of one row of `sp_helptext`.
const TEXT_ROW_CHARACTERS: usize = 255;

/// The object that a procedure is asked about: 15009 when it is not there.
pub(super) fn object(catalog: &Catalog, name: &str, database: &str) -> Result<Found, SqlError> {
    let found = names::parts(name).and_then(|parts| names::find(catalog, parts.schema.as_deref(), &parts.name));
    found.ok_or_else(|| SqlError::object_not_in_database(name, database))
}

/// `sp_recompile`: plans that use an object are made again.
///
/// # Errors
/// 15009 for an object that is not there.
pub(super) fn recompile(
    name: &str,
    host: &SessionHost,
    context: &ExecutionContext,
    output: &mut dyn Output,
) -> Result<(), SqlError> {
    let parts = names::parts(name);
    let is_view_of_system =
        parts.is_some_and(|parts| crate::views::find(parts.schema.as_deref(), &parts.name).is_some());
    if !is_view_of_system {
        object(&crate::security::catalog(context), name, context.database().name())?;
        // A plan does not know which others it would be the same without: all are made again when they are next asked for.
        host.registry.plans().clear();
    }
    output.message(&SqlError::marked_for_recompilation(name));
    Ok(())
}

/// `sp_refreshview`, `sp_refreshsqlmodule`: modules are bound anew whenever what they name has changed, so all there is to do is
/// to keep the columns that a view or function has now, or to say what is wrong with it. One that is bound to the schema has no others.
pub(super) async fn refresh(
    procedure: &str,
    arguments: &Arguments<'_>,
    context: &mut ExecutionContext,
    host: &SessionHost,
) -> Result<(), SqlError> {
    let name = &arguments.text(0).unwrap_or_default();
    let only_views = procedure == "sp_refreshview";
    let missing = || {
        let text = format!("Could not find object '{name}' or you do not have permission.");
        SqlError::new(15165, 16, 1, text)
    };
    let catalog = Arc::clone(context.catalog().definitions());
    let found = object(&catalog, name, context.database().name()).map_err(|_| missing())?;
    let object = catalog.object_by_id(found.object_id).ok_or_else(missing)?;
    let module = match object {
        Object::View(module) => module,
        Object::Function(module) | Object::Procedure(module) if !only_views => module,
        Object::Trigger(_) if !only_views => return Ok(()),
        _ => return Err(missing()),
    };
    let may = context.token().has(Permission::Alter, catalog.securable(object));
    let options = ParseOptions { quoted_identifier: module.quoted_identifier };
    if !may || parse_with(&module.text, options).is_ok_and(|batch| is_bound(&batch)) {
        return Err(missing());
    }
    let columns = columns_made_now(module, context, host)?;
    if columns == module.columns {
        return Ok(());
    }
    let definition = ModuleDefinition {
        schema: &module.schema,
        name: &module.name,
        text: &module.text,
        execute_as: module.execute_as,
        ansi_nulls: module.ansi_nulls,
        quoted_identifier: module.quoted_identifier,
        columns: &columns,
        declared: declared_names,
    };
    context.begin_definition()?;
    let database = Arc::clone(context.database());
    let tx = context.transaction();
    let refreshed = match object {
        Object::View(_) => database.put_view(tx, definition, PutMode::Alter).await,
        _ => database.put_function(tx, definition, PutMode::Alter).await,
    };
    context.end_definition().await.map_err(|fault| *fault)?;
    refreshed
}

/// `sp_helptext`: the text of a procedure, view or default, a row for each line.
pub(super) fn help_text(name: &str, context: &ExecutionContext, output: &mut dyn Output) -> Result<(), SqlError> {
    let catalog = &*security::catalog(context);
    let found = object(catalog, name, context.database().name())?;
    let module = catalog.modules().find(|module| module.object_id == found.object_id);
    let Some(module) = module else {
        return Err(SqlError::new(15197, 16, 1, format!("There is no text for object '{name}'.")));
    };
    let mut set = ResultSet::new(&[("Text", text(255))]);
    if !security::shows_text(context.token(), catalog, module.object_id) {
        return Err(SqlError::object_not_in_database(name, context.database().name()));
    }
    if modules::is_encrypted(&module.text) {
        output.message(&SqlError::text_is_encrypted(name));
        return Ok(());
    }
    for line in module.text.split_inclusive('\n') {
        let characters: Vec<char> = line.chars().collect();
        for part in characters.chunks(TEXT_ROW_CHARACTERS) {
            set.push(vec![string(part.iter().collect::<String>())]);
        }
    }
    set.send(output);
    Ok(())
}

/// What `sp_columns_100` says of a column beyond `sp_columns`.
const EXTENDED: &[(&str, SqlType)] = &[
    ("SS_IS_SPARSE", SqlType::SmallInt),
    ("SS_IS_COLUMN_SET", SqlType::SmallInt),
    ("SS_IS_COMPUTED", SqlType::SmallInt),
    ("SS_IS_IDENTITY", SqlType::SmallInt),
    ("SS_UDT_CATALOG_NAME", NAME),
    ("SS_UDT_SCHEMA_NAME", NAME),
    ("SS_UDT_ASSEMBLY_TYPE_NAME", text(4000)),
    ("SS_XML_SCHEMACOLLECTION_CATALOG_NAME", NAME),
    ("SS_XML_SCHEMACOLLECTION_SCHEMA_NAME", NAME),
    ("SS_XML_SCHEMACOLLECTION_NAME", NAME),
];

/// The name of a column's type; rowversion by the older one, which these procedures know alone.
pub(super) fn type_name(column: &Column) -> &'static str {
    if column.rowversion { "timestamp" } else { column.type_name() }
}

/// The patterns that `sp_columns` is asked with.
pub(super) struct Wanted<'a> {
    pub(super) table: Option<&'a str>,
    pub(super) owner: Option<&'a str>,
    pub(super) column: Option<&'a str>,
}

impl Wanted<'_> {
    fn has_table(&self, schema: &str, name: &str) -> bool {
        matches(self.table, name) && matches(self.owner, schema)
    }
}

/// The schema, name and columns of a table or view.
type Shape<'a> = (&'a str, &'a str, Cow<'a, [Column]>);

/// A view's column as one of a table.
pub(super) fn viewed(info: ColumnInfo) -> Column {
    let identity = (info.provenance == Provenance::Identity).then_some(Identity { seed: 1, increment: 1 });
    let user_type = info.second_name().map(|second| second.user_type_id);
    Column {
        name: info.name,
        ty: info.ty,
        nullable: info.nullable,
        default: None,
        identity,
        computed: None,
        rowversion: false,
        user_type,
        collation: info.collated.shown(),
        sparse: false,
        generated: None,
        hidden: false,
        mask: None,
        id: 0,
    }
}

/// The views that match patterns: the users', as far as they can be compiled, and the system's.
fn shapes_of_views<'a>(
    wanted: &Wanted<'_>,
    catalog: &'a Catalog,
    host: &SessionHost,
    context: &ExecutionContext,
) -> Vec<Shape<'a>> {
    let shape = |columns: Vec<ColumnInfo>| Cow::Owned(columns.into_iter().map(viewed).collect());
    let own = catalog.views().filter(|view| wanted.has_table(&view.schema, &view.name)).filter_map(|view| {
        let columns = host.columns_of_view(&view.schema, &view.name, context)?;
        Some((view.schema.as_str(), view.name.as_str(), shape(columns)))
    });
    let system = views::all().filter(|view| view.is_listed() && wanted.has_table(view.schema, view.name));
    own.chain(system.map(|view| (view.schema, view.name, shape(view.column_infos())))).collect()
}

/// `sp_columns` and, `extended`, `sp_columns_100`: the columns of the tables and views whose names match patterns, as ODBC's
/// catalog function gives them.
pub(super) fn columns(
    (extended, odbc): (bool, Odbc),
    wanted: &Wanted<'_>,
    host: &SessionHost,
    context: &ExecutionContext,
    output: &mut dyn Output,
) {
    let catalog = security::catalog(context);
    let temporary = context.temporary_tables().into_iter().flat_map(|tables| tables.entries());
    let temporary = temporary.map(|entry| &entry.table);
    let tables = catalog.tables().chain(temporary).filter(|table| wanted.has_table(&table.schema, &table.name));
    let shapes = tables
        .map(|table| (table.schema.as_str(), table.name.as_str(), Cow::Borrowed(&table.columns[..])))
        .chain(shapes_of_views(wanted, &catalog, host, context))
        .collect();
    send_columns((extended, odbc), shapes, wanted, context, output);
}

/// `sp_table_type_columns_100`: the columns of table types, as drivers ask for them that describe table-valued parameters.
pub(super) fn columns_of_types(odbc: Odbc, wanted: &Wanted<'_>, context: &ExecutionContext, output: &mut dyn Output) {
    let catalog = security::catalog(context);
    let shape = |ty: &'_ Arc<UserType>| -> Option<(String, String, Vec<Column>)> {
        let UserTypeKind::Table(table) = &ty.kind else { return None };
        wanted.has_table(&ty.schema, &ty.name).then(|| (ty.schema.clone(), ty.name.clone(), table.columns.clone()))
    };
    let found: Vec<_> = catalog.user_types().filter_map(shape).collect();
    let shapes =
        found.iter().map(|(schema, name, columns)| (schema.as_str(), name.as_str(), Cow::Borrowed(&columns[..])));
    send_columns((true, odbc), shapes.collect(), wanted, context, output);
}

fn send_columns(
    (extended, odbc): (bool, Odbc),
    mut shapes: Vec<Shape<'_>>,
    wanted: &Wanted<'_>,
    context: &ExecutionContext,
    output: &mut dyn Output,
) {
    let mut shown = vec![
        ("TABLE_QUALIFIER", NAME),
        ("TABLE_OWNER", NAME),
        ("TABLE_NAME", NAME),
        ("COLUMN_NAME", NAME),
        ("DATA_TYPE", SqlType::SmallInt),
        ("TYPE_NAME", NAME),
        ("PRECISION", SqlType::Int),
        ("LENGTH", SqlType::Int),
        ("SCALE", SqlType::SmallInt),
        ("RADIX", SqlType::SmallInt),
        ("NULLABLE", SqlType::SmallInt),
        ("REMARKS", text(254)),
        ("COLUMN_DEF", text(4000)),
        ("SQL_DATA_TYPE", SqlType::SmallInt),
        ("SQL_DATETIME_SUB", SqlType::SmallInt),
        ("CHAR_OCTET_LENGTH", SqlType::Int),
        ("ORDINAL_POSITION", SqlType::Int),
        ("IS_NULLABLE", text(254)),
    ];
    shown.extend_from_slice(if extended { EXTENDED } else { &[] });
    shown.push(("SS_DATA_TYPE", SqlType::TinyInt));
    let mut set = ResultSet::new(&shown);
    shapes.sort_by_key(|(schema, name, _)| (schema.to_lowercase(), name.to_lowercase()));
    for (schema, name, columns) in &shapes {
        for (place, column) in columns.iter().enumerate().filter(|(_, column)| matches(wanted.column, &column.name)) {
            let mut row = vec![string(context.database().name()), string(*schema), string(*name)];
            row.extend(column_values(place, column, odbc));
            if extended {
                row.extend(extended_values(column));
            }
            let first = column.ty.system_type_id();
            row.push(Value::TinyInt(column.second_name().map_or(first, |second| second.system_type_id)));
            set.push(row);
        }
    }
    set.send(output);
}

/// What `sp_columns` says of a column behind the names of its table.
fn column_values(place: usize, column: &Column, odbc: Odbc) -> Vec<Value> {
    let ty = &column.ty;
    let shown = odbc.shown(ty, column.second_name());
    let name = type_name(column);
    let small = |number: Option<i16>| number.map_or(Value::Null, Value::SmallInt);
    vec![
        string(&column.name),
        Value::SmallInt(shown.data_type),
        string(if column.identity.is_some() { format!("{name} identity") } else { name.to_owned() }),
        Value::Int(shown.precision),
        Value::Int(shown.length),
        small(shown.scale),
        small(shown.radix),
        Value::SmallInt(column.nullable.into()),
        Value::Null,
        column.default.as_ref().map_or(Value::Null, |default| string(&default.text)),
        Value::SmallInt(shown.sql_data_type),
        small(shown.sub),
        if ty.is_string() || ty.is_binary() { Value::Int(shown.length) } else { Value::Null },
        Value::Int(place as i32 + 1),
        string(if column.nullable { "YES" } else { "NO" }),
    ]
}

/// The values of [`EXTENDED`].
fn extended_values(column: &Column) -> Vec<Value> {
    let flags = [false, false, column.computed.is_some(), column.identity.is_some()];
    let mut values: Vec<Value> = flags.iter().map(|flag| Value::SmallInt((*flag).into())).collect();
    values.resize(EXTENDED.len(), Value::Null);
    values
}
