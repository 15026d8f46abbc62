//! `sp_describe_undeclared_parameters`: the types that the parameters of a text should have, for drivers that prepare it.

use super::Arguments;
use super::odbc::tds_length;
use crate::host::SessionHost;
use crate::result_set::{NAME, ResultSet, string, text};
use pikepole_query::{Declared, ExecutionContext, Output, undeclared_parameters};
use pikepole_types::{SecondName, SqlError, SqlType, Value};

/// The columns behind the type's own: of users' types, of XML, and what the wire says.
const MORE: &[(&str, SqlType)] = &[
    ("suggested_user_type_id", SqlType::Int),
    ("suggested_user_type_database", NAME),
    ("suggested_user_type_schema", NAME),
    ("suggested_user_type_name", NAME),
    ("suggested_assembly_qualified_type_name", text(4000)),
    ("suggested_xml_collection_id", SqlType::Int),
    ("suggested_xml_collection_database", NAME),
    ("suggested_xml_collection_schema", NAME),
    ("suggested_xml_collection_name", NAME),
];

/// How many of [`MORE`] tell of a user's type.
const USERS_TYPE_COLUMNS: usize = 4;
/// The number of tables, as types, in the catalog and on the wire.
const TABLE_TYPE: i32 = 243;

/// The number, database, schema and name of a user's type; NULLs for the system's.
fn users_type(declared: &Declared, context: &ExecutionContext) -> [Value; USERS_TYPE_COLUMNS] {
    match declared.user_type() {
        Some(ty) => {
            [Value::Int(ty.user_type_id), string(context.database().name()), string(&*ty.schema), string(&*ty.name)]
        }
        None => [Value::Null, Value::Null, Value::Null, Value::Null],
    }
}

/// `sp_describe_undeclared_parameters`: a row for each parameter of the text that is not declared.
pub(super) fn describe_undeclared(
    host: &SessionHost,
    arguments: &Arguments<'_>,
    context: &mut ExecutionContext,
    output: &mut dyn Output,
) -> Result<(), SqlError> {
    let (sql, declared) = (arguments.text(0).unwrap_or_default(), arguments.text(1).unwrap_or_default());
    let found = undeclared_parameters(&sql, &declared, context, host)
        .map_err(|errors| errors.into_iter().next().unwrap_or_else(SqlError::batch_not_analyzed))?;
    let mut columns = vec![
        ("parameter_ordinal", SqlType::Int),
        ("name", NAME),
        ("suggested_system_type_id", SqlType::Int),
        ("suggested_system_type_name", text(256)),
        ("suggested_max_length", SqlType::SmallInt),
        ("suggested_precision", SqlType::TinyInt),
        ("suggested_scale", SqlType::TinyInt),
    ];
    columns.extend(MORE);
    columns.extend([
        ("suggested_is_xml_document", SqlType::Bit),
        ("suggested_is_case_sensitive", SqlType::Bit),
        ("suggested_is_fixed_length_clr_type", SqlType::Bit),
        ("suggested_is_input", SqlType::Bit),
        ("suggested_is_output", SqlType::Bit),
        ("formal_parameter_name", NAME),
        ("suggested_tds_type_id", SqlType::Int),
        ("suggested_tds_length", SqlType::Int),
    ]);
    let mut set = ResultSet::new(&columns);
    for (place, parameter) in found.into_iter().enumerate() {
        let declared = parameter.declared;
        let mut row = vec![Value::Int(place as i32 + 1), string(parameter.name)];
        let (tds_type, tds_length) = match declared.scalar() {
            Some(ty) => {
                let (number, name) = match (SecondName::by_name("numeric"), ty) {
                    (Some(second), SqlType::Decimal { precision, scale }) if parameter.is_numeric => {
                        (second.system_type_id, format!("{}({precision},{scale})", second.name))
                    }
                    _ => (ty.system_type_id(), ty.to_string()),
                };
                row.extend([Value::Int(number.into()), string(name)]);
                row.extend([Value::SmallInt(ty.max_length()), Value::TinyInt(ty.precision())]);
                row.push(Value::TinyInt(ty.scale()));
                (i32::from(number), tds_length(&ty))
            }
            None => {
                row.extend([Value::Int(TABLE_TYPE), Value::Null, Value::SmallInt(-1)]);
                row.extend([Value::TinyInt(0), Value::TinyInt(0)]);
                (TABLE_TYPE, -1)
            }
        };
        row.extend(users_type(&declared, context));
        row.extend(MORE.iter().skip(USERS_TYPE_COLUMNS).map(|_| Value::Null));
        row.extend([false, false, false, true, parameter.output].map(Value::Bit));
        row.push(parameter.formal.map_or(Value::Null, string));
        row.extend([Value::Int(tds_type), Value::Int(tds_length)]);
        set.push(row);
    }
    set.send(output);
    Ok(())
}
