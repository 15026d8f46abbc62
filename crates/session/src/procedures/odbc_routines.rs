//! `sp_sproc_columns`: the parameters and results of procedures and functions.

use super::Arguments;
use super::odbc::{is, matches, small};
use super::odbc_types::Odbc;
use crate::modules;
use crate::result_set::{NAME, ResultSet, string, text};
use pikepole_engine::{Catalog, Module};
use pikepole_query::{Declared, ExecutionContext, Output};
use pikepole_types::{SqlType, Value};

const SMALL: SqlType = SqlType::SmallInt;
/// ODBC's numbers of what a row is about.
const INPUT: i16 = 1;
const INPUT_OUTPUT: i16 = 2;
const RESULT_COLUMN: i16 = 3;
const RETURN_VALUE: i16 = 5;
/// ODBC's number for tables.
const SS_TABLE: i16 = -153;

/// Where the type of a parameter is, if it is no type of the system's.
const SS_TYPE_COLUMNS: [&str; 8] = [
    "SS_TYPE_CATALOG_NAME",
    "SS_TYPE_SCHEMA_NAME",
    "SS_UDT_CATALOG_NAME",
    "SS_UDT_SCHEMA_NAME",
    "SS_UDT_ASSEMBLY_TYPE_NAME",
    "SS_XML_SCHEMACOLLECTION_CATALOG_NAME",
    "SS_XML_SCHEMACOLLECTION_SCHEMA_NAME",
    "SS_XML_SCHEMACOLLECTION_NAME",
];

/// A parameter, or what a routine gives back.
struct Part {
    name: String,
    kind: i16,
    place: i32,
    /// None: the table that a function gives.
    declared: Option<Declared>,
    nullable: bool,
}

/// The procedures and functions of a catalog by their schemas and names; true for procedures.
fn routines(catalog: &Catalog) -> Vec<(&Module, bool)> {
    let procedures = catalog.procedures().map(|module| (module.as_ref(), true));
    let functions = catalog.functions().map(|module| (module.as_ref(), false));
    let mut all: Vec<_> = procedures.chain(functions).collect();
    all.sort_by_cached_key(|(module, _)| (module.schema.to_lowercase(), module.name.to_lowercase()));
    all
}

fn parts(catalog: &Catalog, module: &Module, is_procedure: bool) -> Vec<Part> {
    let result = match is_procedure {
        true => Some(Declared::System(SqlType::Int)),
        false => modules::result_type(catalog, module),
    };
    let first = match result {
        None => {
            Part { name: "@TABLE_RETURN_VALUE".into(), kind: RESULT_COLUMN, place: 0, declared: None, nullable: false }
        }
        declared => {
            Part { name: "@RETURN_VALUE".into(), kind: RETURN_VALUE, place: 0, declared, nullable: !is_procedure }
        }
    };
    let own = modules::parameters(catalog, module).into_iter().zip(1..);
    let own = own.map(|(parameter, place)| Part {
        name: parameter.name,
        kind: if parameter.output { INPUT_OUTPUT } else { INPUT },
        place,
        declared: Some(parameter.declared),
        nullable: true,
    });
    std::iter::once(first).chain(own).collect()
}

/// The rows for the arguments: patterns of a name, an owner and a parameter, or names as they are where those are no patterns.
pub(super) fn columns(
    arguments: &Arguments<'_>,
    (with_types, odbc): (bool, Odbc),
    context: &ExecutionContext,
    output: &mut dyn Output,
) {
    let mut columns = vec![
        ("PROCEDURE_QUALIFIER", NAME),
        ("PROCEDURE_OWNER", NAME),
        ("PROCEDURE_NAME", text(134)),
        ("COLUMN_NAME", NAME),
        ("COLUMN_TYPE", SMALL),
        ("DATA_TYPE", SMALL),
        ("TYPE_NAME", NAME),
        ("PRECISION", SqlType::Int),
        ("LENGTH", SqlType::Int),
        ("SCALE", SMALL),
        ("RADIX", SMALL),
        ("NULLABLE", SMALL),
        ("REMARKS", text(254)),
        ("COLUMN_DEF", text(4000)),
        ("SQL_DATA_TYPE", SMALL),
        ("SQL_DATETIME_SUB", SMALL),
        ("CHAR_OCTET_LENGTH", SqlType::Int),
        ("ORDINAL_POSITION", SqlType::Int),
        ("IS_NULLABLE", text(254)),
    ];
    if with_types {
        columns.extend(SS_TYPE_COLUMNS.map(|name| (name, NAME)));
    }
    columns.push(("SS_DATA_TYPE", SqlType::TinyInt));
    let mut set = ResultSet::new(&columns);
    let [name, owner, qualifier, column, _, patterns] = std::array::from_fn(|place| arguments.text(place));
    let meets = if patterns.is_some_and(|flag| flag == "0") { is } else { matches };
    let database = context.database().name();
    let catalog = context.catalog();
    let all = if is(qualifier.as_deref(), database) { routines(catalog.definitions()) } else { Vec::new() };
    for (module, is_procedure) in all {
        if !meets(name.as_deref(), &module.name) || !meets(owner.as_deref(), &module.schema) {
            continue;
        }
        for part in parts(catalog.definitions(), module, is_procedure) {
            if meets(column.as_deref(), &part.name) {
                let routine = format!("{};{}", module.name, u8::from(is_procedure));
                let head = [string(database), string(&module.schema), string(routine), string(&part.name)];
                set.push(row(head, &part, with_types.then_some(database), odbc));
            }
        }
    }
    set.send(output);
}

/// A row; the database is given where the columns of types are asked for.
fn row(head: [Value; 4], part: &Part, with_types: Option<&str>, odbc: Odbc) -> Vec<Value> {
    let mut row = Vec::from(head);
    row.push(small(part.kind));
    let scalar = part.declared.as_ref().and_then(Declared::scalar);
    let (shown, number) = match (&part.declared, scalar) {
        (Some(declared), Some(ty)) => {
            let second = declared.second_name();
            let number = second.map_or(ty.system_type_id(), |second| second.system_type_id);
            (of_value(&ty, declared, part.nullable, odbc), number)
        }
        (Some(declared), None) => (of_table_parameter(declared), 0),
        (None, _) => (of_table(), 0),
    };
    row.extend(shown);
    row.push(Value::Int(part.place));
    row.push(string(if part.nullable { "YES" } else { "NO" }));
    if let Some(database) = with_types {
        let of_table = part.declared.as_ref().filter(|_| scalar.is_none()).and_then(Declared::user_type);
        let place = of_table.map(|user_type| [string(database), string(&user_type.schema)]);
        row.extend(place.into_iter().flatten().chain(std::iter::repeat(Value::Null)).take(SS_TYPE_COLUMNS.len()));
    }
    row.push(Value::TinyInt(number));
    row
}

/// DATA_TYPE to CHAR_OCTET_LENGTH of a value.
fn of_value(ty: &SqlType, declared: &Declared, nullable: bool, odbc: Odbc) -> [Value; 12] {
    let second = declared.second_name();
    let shown = odbc.shown(ty, second);
    [
        small(shown.data_type),
        string(second.map_or(ty.name(), |second| second.name)),
        Value::Int(shown.precision),
        Value::Int(shown.length),
        shown.scale.map_or(Value::Null, small),
        shown.radix.map_or(Value::Null, small),
        small(nullable.into()),
        Value::Null,
        Value::Null,
        small(shown.sql_data_type),
        shown.sub.map_or(Value::Null, small),
        if ty.is_string() || ty.is_binary() { Value::Int(shown.length) } else { Value::Null },
    ]
}

/// The same of a table-valued parameter.
fn of_table_parameter(declared: &Declared) -> [Value; 12] {
    let name = declared.user_type().map_or(Value::Null, |user_type| string(&user_type.name));
    let (number, none) = (|| small(SS_TABLE), || Value::Null);
    let longest = || Value::Int(i32::MAX);
    [number(), name, Value::Int(0), longest(), none(), none(), small(1), none(), none(), number(), none(), longest()]
}

/// The same of the table that a function gives.
fn of_table() -> [Value; 12] {
    let none = || Value::Null;
    let remarks = string("Result table returned by table valued function");
    let zero = || Value::Int(0);
    [none(), string("table"), zero(), zero(), small(0), small(0), small(0), remarks, none(), none(), none(), none()]
}
