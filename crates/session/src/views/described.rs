//! The columns of what a text or a module would give: `sys.dm_exec_describe_first_result_set` and `..._for_object`. They show the rows
//! of `sp_describe_first_result_set`; a text that is wrong is a row that says how, and no error.

use super::Kind::{Bit, Int, LongText, Name, SmallInt, Text, TinyInt};
use super::Nullable::Yes;
use super::{Function, Rows, View};
use crate::host::SessionHost;
use crate::procedures::described_columns;
use crate::security;
use pikepole_query::ExecutionContext;
use pikepole_types::{SqlError, Value};

/// Columns that a text which can be described has values for: the first ones.
const DESCRIBED: usize = 35;
/// What `error_type` calls errors of syntax, and all others.
const SYNTAX: (i32, &str) = (2, "SYNTAX");
const OTHER: (i32, &str) = (1, "MISC");
/// The severity of errors of syntax.
const SEVERITY_SYNTAX: u8 = 15;

const COLUMNS: &[super::ColumnOf] = &[
    ("is_hidden", Bit, Yes),
    ("column_ordinal", Int, Yes),
    ("name", Name, Yes),
    ("is_nullable", Bit, Yes),
    ("system_type_id", Int, Yes),
    ("system_type_name", Text(256), Yes),
    ("max_length", SmallInt, Yes),
    ("precision", TinyInt, Yes),
    ("scale", TinyInt, Yes),
    ("collation_name", Name, Yes),
    ("user_type_id", Int, Yes),
    ("user_type_database", Name, Yes),
    ("user_type_schema", Name, Yes),
    ("user_type_name", Name, Yes),
    ("assembly_qualified_type_name", Text(4000), Yes),
    ("xml_collection_id", Int, Yes),
    ("xml_collection_database", Name, Yes),
    ("xml_collection_schema", Name, Yes),
    ("xml_collection_name", Name, Yes),
    ("is_xml_document", Bit, Yes),
    ("is_case_sensitive", Bit, Yes),
    ("is_fixed_length_clr_type", Bit, Yes),
    ("source_server", Name, Yes),
    ("source_database", Name, Yes),
    ("source_schema", Name, Yes),
    ("source_table", Name, Yes),
    ("source_column", Name, Yes),
    ("is_identity_column", Bit, Yes),
    ("is_part_of_unique_key", Bit, Yes),
    ("is_updateable", Bit, Yes),
    ("is_computed_column", Bit, Yes),
    ("is_sparse_column_set", Bit, Yes),
    ("ordinal_in_order_by_list", SmallInt, Yes),
    ("order_by_list_length", SmallInt, Yes),
    ("order_by_is_descending", SmallInt, Yes),
    ("error_number", Int, Yes),
    ("error_severity", Int, Yes),
    ("error_state", Int, Yes),
    ("error_message", Text(4000), Yes),
    ("error_type", Int, Yes),
    ("error_type_desc", Text(60), Yes),
];

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        view: View { schema: "sys", name: "dm_exec_describe_first_result_set", columns: COLUMNS, rows: read_by_host },
        parameters: &[LongText, LongText, Bit],
    },
    Function {
        view: View {
            schema: "sys",
            name: "dm_exec_describe_first_result_set_for_object",
            columns: COLUMNS,
            rows: read_by_host,
        },
        parameters: &[Int, Bit],
    },
];

/// What `error_type` and `error_type_desc` say of an error.
fn kind_of(error: &SqlError) -> (i32, &'static str) {
    match error.number {
        _ if error.severity == SEVERITY_SYNTAX => SYNTAX,
        11509..=11512 => (3, "CONFLICTING_RESULTS"),
        11513 | 11514 => (4, "DYNAMIC_SQL"),
        11521 => (8, "UNDECLARED_PARAMETER"),
        11525 | 11526 => (10, "TEMPORARY_TABLE"),
        208 => (13, "OBJECT_DOES_NOT_EXIST"),
        _ => OTHER,
    }
}

/// In another database than the current one nothing is described.
fn read_by_host(_: &View, _: &super::Source<'_>) -> Result<Rows, SqlError> {
    Ok(Rows::new())
}

/// The rows for the arguments of one of the functions.
pub(crate) fn read(arguments: &[Value], host: &SessionHost, context: &ExecutionContext) -> Rows {
    let Some((text, declarations)) = asked(arguments, context) else { return Rows::new() };
    match described_columns(&text, &declarations, context, host) {
        Ok(set) => set.into_rows().into_iter().map(|row| filled(row.into_iter().take(DESCRIBED))).collect(),
        Err(error) => {
            let (number, name) = kind_of(&error);
            let told = [
                Value::Int(error.number),
                Value::Int(error.severity.into()),
                Value::Int(error.state.into()),
                Value::Str(error.message),
                Value::Int(number),
                Value::Str(name.to_string()),
            ];
            vec![std::iter::repeat_n(Value::Null, DESCRIBED).chain(told).collect()]
        }
    }
}

/// What is to be described, and its declarations: a text, or a call of the module with this number.
fn asked(arguments: &[Value], context: &ExecutionContext) -> Option<(String, String)> {
    if let Some(id) = arguments.first().and_then(Value::as_i64) {
        // Nobody is told of a module that is hidden from them.
        let catalog = security::catalog(context);
        let module = catalog.procedures().find(|module| i64::from(module.object_id) == id)?;
        let quoted = |part: &str| format!("[{}]", part.replace(']', "]]"));
        return Some((format!("EXEC {}.{}", quoted(&module.schema), quoted(&module.name)), String::new()));
    }
    let text = |at: usize| arguments.get(at).and_then(Value::as_str).map(str::to_owned);
    Some((text(0)?, text(1).unwrap_or_default()))
}

fn filled(row: impl Iterator<Item = Value>) -> Vec<Value> {
    row.chain(std::iter::repeat(Value::Null)).take(COLUMNS.len()).collect()
}
