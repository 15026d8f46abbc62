//! The catalog procedures of .NET's SqlClient: what it asks for to make the parameters of a call, whose types are numbers of its own
//! enumeration, `SqlDbType`, and for its schema collections.

use super::Arguments;
use super::odbc::is;
use crate::host::SessionHost;
use crate::modules;
use crate::result_set::{NAME, ResultSet, string, text};
use crate::views::index_type;
use pikepole_engine::{Catalog, Index, Module, Table};
use pikepole_query::{Declared, ExecutionContext, Host, Output};
use pikepole_types::{Length, SqlError, SqlType, Value};

const SMALL: SqlType = SqlType::SmallInt;

/// The ways a parameter goes, as OLE DB counts them.
const INPUT: i16 = 1;
const INPUT_OUTPUT: i16 = 2;
const RETURNED: i16 = 4;
/// `SqlDbType.Structured`.
const STRUCTURED: i16 = 30;

/// Calls the procedure of a name.
///
/// # Errors
/// What reading the catalog says.
pub(super) async fn call(
    name: &str,
    host: &mut SessionHost,
    arguments: &Arguments<'_>,
    context: &mut ExecutionContext,
    output: &mut dyn Output,
) -> Result<(), SqlError> {
    match name {
        "sp_columns_managed" => columns(host, arguments, context, output).await?,
        "sp_indexes_managed" => indexes(arguments, context, output),
        "sp_indexcolumns_managed" => index_columns(arguments, context, output),
        _ => parameters(arguments, context, output),
    }
    Ok(())
}

/// A type's number in `SqlDbType`.
fn managed_type(ty: &SqlType) -> i16 {
    match ty.name() {
        "bigint" => 0,
        "binary" => 1,
        "bit" => 2,
        "char" => 3,
        "datetime" => 4,
        "decimal" => 5,
        "float" => 6,
        "image" => 7,
        "int" => 8,
        "money" => 9,
        "nchar" => 10,
        "ntext" => 11,
        "nvarchar" => 12,
        "real" => 13,
        "uniqueidentifier" => 14,
        "smalldatetime" => 15,
        "smallint" => 16,
        "smallmoney" => 17,
        "text" => 18,
        "timestamp" => 19,
        "tinyint" => 20,
        "varbinary" => 21,
        "varchar" => 22,
        "xml" => 25,
        "date" => 31,
        "time" => 32,
        "datetime2" => 33,
        "datetimeoffset" => 34,
        "hierarchyid" | "geometry" | "geography" => 29,
        _ => 23,
    }
}

/// The procedures of a name, with the return value and the parameters of each.
fn parameters(arguments: &Arguments<'_>, context: &ExecutionContext, output: &mut dyn Output) {
    let mut set = ResultSet::new(&[
        ("PROCEDURE_CATALOG", NAME),
        ("PROCEDURE_SCHEMA", NAME),
        ("PROCEDURE_NAME", NAME),
        ("PARAMETER_NAME", NAME),
        ("ORDINAL_POSITION", SMALL),
        ("PARAMETER_TYPE", SMALL),
        ("PARAMETER_HASDEFAULT", SqlType::TinyInt),
        ("PARAMETER_DEFAULT", text(255)),
        ("IS_NULLABLE", SqlType::Bit),
        ("MANAGED_DATA_TYPE", SMALL),
        ("CHARACTER_MAXIMUM_LENGTH", SqlType::Int),
        ("CHARACTER_OCTET_LENGTH", SqlType::Int),
        ("NUMERIC_PRECISION", SMALL),
        ("NUMERIC_SCALE", SMALL),
        ("DESCRIPTION", text(255)),
        ("TYPE_NAME", NAME),
        ("LOCAL_TYPE_NAME", NAME),
        ("TYPE_CATALOG_NAME", NAME),
        ("TYPE_SCHEMA_NAME", NAME),
        ("XML_CATALOGNAME", NAME),
        ("XML_SCHEMANAME", NAME),
        ("XML_SCHEMACOLLECTIONNAME", NAME),
        ("SS_DATETIME_PRECISION", SqlType::Int),
    ]);
    let (name, schema, wanted) = (arguments.text(0), arguments.text(2), arguments.text(3));
    let catalog = context.catalog();
    let definitions = catalog.definitions();
    let own_schema = context.default_schema();
    // As a call without a schema finds it: the user's own comes before dbo's.
    let found = |schema: &str| {
        let mut procedures = definitions.procedures();
        procedures.find(|module| is(name.as_deref(), &module.name) && module.schema.eq_ignore_ascii_case(schema))
    };
    let module = match schema.as_deref() {
        Some(schema) => found(schema),
        None => own_schema.as_deref().and_then(found).or_else(|| found("dbo")),
    };
    let Some(module) = module else { return set.send(output) };
    let result = ("@RETURN_VALUE".to_owned(), Declared::System(SqlType::Int), RETURNED);
    let own = modules::parameters(definitions, module).into_iter();
    let own = own.map(|own| (own.name, own.declared, if own.output { INPUT_OUTPUT } else { INPUT }));
    for (place, (parameter, declared, way)) in std::iter::once(result).chain(own).enumerate() {
        if is(wanted.as_deref(), &parameter) {
            set.push(row(context.database().name(), module, (parameter, &declared), (place, way)));
        }
    }
    set.send(output);
}

fn row(
    database: &str,
    module: &Module,
    (parameter, declared): (String, &Declared),
    (place, way): (usize, i16),
) -> Vec<Value> {
    let scalar = declared.scalar();
    let user_type = declared.user_type().filter(|_| scalar.is_none());
    let characters = scalar.and_then(|ty| ty.declared_length()).map(|length| match length {
        // The client takes no length for the longest.
        Length::Max => 0,
        Length::Limit(length) => i32::from(length),
    });
    let octets =
        scalar.filter(|_| characters.is_some()).map(|ty| characters.unwrap_or(0) * if ty.is_unicode() { 2 } else { 1 });
    let (precision, scale) = match scalar {
        Some(SqlType::Decimal { precision, scale }) => (Some(precision), Some(scale)),
        _ => (None, None),
    };
    let fraction = match scalar {
        Some(SqlType::Time(scale) | SqlType::DateTime2(scale) | SqlType::DateTimeOffset(scale)) => Some(scale),
        _ => None,
    };
    let small = |number: u8| Value::SmallInt(number.into());
    let int = |number: Option<i32>| number.map_or(Value::Null, Value::Int);
    let type_name = user_type.map_or_else(|| scalar.map_or("", |ty| ty.name()), |user_type| &user_type.name);
    vec![
        string(database),
        string(&module.schema),
        string(&module.name),
        string(parameter),
        Value::SmallInt(place as i16),
        Value::SmallInt(way),
        Value::TinyInt(0),
        Value::Null,
        Value::Bit(way != RETURNED),
        Value::SmallInt(scalar.map_or(STRUCTURED, |ty| managed_type(&ty))),
        int(characters),
        int(octets),
        precision.map_or(Value::Null, small),
        scale.map_or(Value::Null, small),
        Value::Null,
        string(type_name),
        string(type_name),
        user_type.map_or(Value::Null, |_| string(database)),
        user_type.map_or(Value::Null, |user_type| string(&user_type.schema)),
        Value::Null,
        Value::Null,
        Value::Null,
        int(fraction.map(i32::from)),
    ]
}

/// `sp_columns_managed`: columns of tables and views, as INFORMATION_SCHEMA shows them, with what is newer than that. No table has a column
/// set, which is what the last argument asks for with 2.
///
/// # Errors
/// What reading the view says.
async fn columns(
    host: &mut SessionHost,
    arguments: &Arguments<'_>,
    context: &mut ExecutionContext,
    output: &mut dyn Output,
) -> Result<(), SqlError> {
    /// Up to COLLATION_CATALOG.
    const SHOWN: usize = 18;
    let Some(view) = host.virtual_table(Some("INFORMATION_SCHEMA"), "COLUMNS") else { return Ok(()) };
    let mut columns: Vec<(&str, SqlType)> =
        view.columns.iter().take(SHOWN).map(|own| (own.name.as_str(), own.ty)).collect();
    columns.extend(["IS_SPARSE", "IS_COLUMN_SET", "IS_FILESTREAM"].map(|name| (name, SqlType::Bit)));
    let mut set = ResultSet::new(&columns);
    let wanted: [Option<String>; 4] = std::array::from_fn(|at| arguments.text(at));
    let has_sets_only = arguments.text(4).as_deref() == Some("2");
    let rows = host.virtual_rows(view.id, &[], context).await?;
    let catalog = context.catalog();
    let definitions = catalog.definitions();
    for mut row in rows.into_iter().filter(|_| !has_sets_only) {
        let name = |at: usize| row.get(at).and_then(Value::as_str).unwrap_or_default();
        if (0..wanted.len()).any(|at| !is(wanted[at].as_deref(), name(at))) {
            continue;
        }
        let table = definitions.table(name(1), name(2));
        let column = table.and_then(|table| table.columns.iter().find(|column| column.name == name(3)));
        let is_sparse = column.is_some_and(|column| column.sparse);
        row.truncate(SHOWN);
        row.extend([Value::Bit(is_sparse), Value::Bit(false), Value::Bit(false)]);
        set.push(row);
    }
    set.send(output);
    Ok(())
}

/// The indexes of tables of a name in a schema, of a name; each with its table.
fn indexes_of<'a>(
    arguments: &'a Arguments<'_>,
    database: &'a str,
    definitions: &'a Catalog,
) -> impl Iterator<Item = (&'a Table, &'a Index)> {
    let wanted: [Option<String>; 4] = std::array::from_fn(|at| arguments.text(at));
    let [catalog, schema, table, index] = wanted;
    let tables = definitions.tables().filter(move |own| {
        is(catalog.as_deref(), database) && is(schema.as_deref(), &own.schema) && is(table.as_deref(), &own.name)
    });
    let all = tables.flat_map(|table| table.indexes.iter().map(move |index| (&**table, index)));
    all.filter(move |(_, own)| is(index.as_deref(), &own.name))
}

/// Where an index is: the columns that both procedures begin with.
const PLACE: [(&str, SqlType); 6] = [
    ("constraint_catalog", NAME),
    ("constraint_schema", NAME),
    ("constraint_name", NAME),
    ("table_catalog", NAME),
    ("table_schema", NAME),
    ("table_name", NAME),
];

fn place_of(database: &str, table: &Table, index: &Index) -> Vec<Value> {
    [database, &table.schema, &index.name, database, &table.schema, &table.name].map(string).into()
}

/// `sp_indexes_managed`: the indexes of tables.
fn indexes(arguments: &Arguments<'_>, context: &ExecutionContext, output: &mut dyn Output) {
    let mut set = ResultSet::new(&[&PLACE[..], &[("index_name", NAME), ("type_desc", text(60))]].concat());
    let catalog = context.catalog();
    let database = context.database().name();
    for (table, index) in indexes_of(arguments, database, catalog.definitions()) {
        let (_number, kind) = index_type(index);
        let mut row = place_of(database, table, index);
        row.extend([string(&index.name), string(kind)]);
        set.push(row);
    }
    set.send(output);
}

/// `sp_indexcolumns_managed`: the columns of their keys, with the numbers of the columns' types.
fn index_columns(arguments: &Arguments<'_>, context: &ExecutionContext, output: &mut dyn Output) {
    let own = [
        ("column_name", NAME),
        ("ordinal_position", SqlType::Int),
        ("KeyType", SqlType::TinyInt),
        ("index_name", NAME),
    ];
    let mut set = ResultSet::new(&[&PLACE[..], &own].concat());
    let catalog = context.catalog();
    let (database, wanted) = (context.database().name(), arguments.text(4));
    for (table, index) in indexes_of(arguments, database, catalog.definitions()) {
        for (place, key) in index.columns.iter().enumerate() {
            let column = &table.columns[key.column];
            if is(wanted.as_deref(), &column.name) {
                let mut row = place_of(database, table, index);
                let number = Value::Int(place as i32 + 1);
                row.extend([
                    string(&column.name),
                    number,
                    Value::TinyInt(column.ty.system_type_id()),
                    string(&index.name),
                ]);
                set.push(row);
            }
        }
    }
    set.send(output);
}
