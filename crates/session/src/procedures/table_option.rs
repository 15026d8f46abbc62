//! `sp_tableoption`: where tables keep long values, and the like. Rows lie as this engine lays them, so an option is checked and changes
//! nothing.

use super::Arguments;
use crate::names;
use pikepole_engine::Permission;
use pikepole_query::ExecutionContext;
use pikepole_types::SqlError;

/// The bytes of a value that may be kept in its row, as `text in row` takes them.
const TEXT_IN_ROW: std::ops::RangeInclusive<u32> = 24..=7000;

/// Checks the table, the option and its value.
pub(super) fn set(arguments: &Arguments<'_>, context: &ExecutionContext) -> Result<(), SqlError> {
    let [table, option, value] = [0, 1, 2].map(|place| arguments.text(place).unwrap_or_default());
    let catalog = context.catalog();
    let catalog = catalog.definitions();
    let found = names::parts(&table).and_then(|parts| {
        let schema = parts.schema.unwrap_or_else(|| pikepole_engine::DEFAULT_SCHEMA.to_owned());
        catalog.table(&schema, &parts.name)
    });
    let object = found.and_then(|table| catalog.object_by_id(table.object_id));
    if !object.is_some_and(|object| context.token().has(Permission::Alter, catalog.securable(object))) {
        return Err(SqlError::table_of_option_missing(table));
    }
    let is_switch = ["on", "off", "true", "false", "0", "1"].iter().any(|word| value.eq_ignore_ascii_case(word));
    match option.to_ascii_lowercase().as_str() {
        "text in row" => {
            let is_size = value.parse().is_ok_and(|bytes: u32| TEXT_IN_ROW.contains(&bytes));
            if is_switch || is_size { Ok(()) } else { Err(SqlError::text_in_row_invalid()) }
        }
        "large value types out of row" | "table lock on bulk load" | "vardecimal storage format" | "pintable"
            if is_switch =>
        {
            Ok(())
        }
        _ => Err(SqlError::invalid_parameter_or_option("sys.sp_tableoption")),
    }
}
