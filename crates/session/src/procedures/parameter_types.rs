//! The types of system procedures' parameters, for those who prepare calls of them. Arguments are taken as they come.

use super::PROCEDURES;
use crate::result_set::{NAME, text};
use pikepole_types::{Length, SqlType};

/// A name with its qualifiers.
const QUALIFIED_NAME: SqlType = text(776);
/// A pattern of names, with room for brackets and for marks that take its characters as they are.
const PATTERN: SqlType = text(384);
/// The same behind a procedure's name, with the number of a group.
const NUMBERED_PATTERN: SqlType = text(390);

/// The parameters of a procedure with their types; none for a type that is not known here.
pub(crate) fn of(id: u32) -> Vec<(&'static str, Option<SqlType>)> {
    let Some(procedure) = PROCEDURES.get(id as usize) else { return Vec::new() };
    procedure.parameters.iter().map(|parameter| (*parameter, type_of(procedure.name, parameter))).collect()
}

fn type_of(procedure: &str, parameter: &str) -> Option<SqlType> {
    let is = |names: &[&str]| names.contains(&procedure);
    let varchar = |length| SqlType::VarChar(Length::Limit(length));
    Some(match parameter {
        "@table_name" | "@table_owner" | "@column_name"
            if is(&["sp_tables", "sp_tableswc", "sp_columns", "sp_columns_100", "sp_table_privileges"]) =>
        {
            PATTERN
        }
        "@column_name" if is(&["sp_column_privileges", "sp_sproc_columns", "sp_sproc_columns_100"]) => PATTERN,
        "@sp_owner" | "@procedure_owner" => PATTERN,
        "@sp_name" | "@procedure_name" => NUMBERED_PATTERN,
        "@table_type" => varchar(100),
        "@fUsePattern" | "@read_only" => SqlType::Bit,
        "@is_unique" | "@accuracy" | "@col_type" | "@scope" | "@nullable" => SqlType::Char(1),
        "@ODBCVer" if is(&["sp_datatype_info", "sp_datatype_info_100"]) => SqlType::TinyInt,
        "@ODBCVer" | "@NameScope" | "@data_type" | "@attribute_id" | "@configvalue" | "@LockTimeout" => SqlType::Int,
        "@objname" if procedure == "sp_rename" => text(1035),
        "@objname" | "@viewname" => QUALIFIED_NAME,
        "@objtype" => varchar(13),
        "@configname" => varchar(35),
        "@nomsg" | "@updateusage" => varchar(5),
        "@Resource" => text(255),
        "@LockMode" | "@LockOwner" => varchar(32),
        "@value" if !procedure.starts_with("xp_") => SqlType::Variant,
        "@tsql" | "@params" => SqlType::NVarChar(Length::Max),
        "@browse_information_mode" => SqlType::TinyInt,
        "@table_name"
        | "@table_owner"
        | "@table_qualifier"
        | "@column_name"
        | "@index_name"
        | "@sp_qualifier"
        | "@procedure_qualifier"
        | "@pktable_name"
        | "@pktable_owner"
        | "@pktable_qualifier"
        | "@fktable_name"
        | "@fktable_owner"
        | "@fktable_qualifier"
        | "@qualifier"
        | "@columnname"
        | "@loginame"
        | "@rolename"
        | "@membername"
        | "@newname"
        | "@dbname"
        | "@language"
        | "@DbPrincipal"
        | "@key"
        | "@name" => NAME,
        _ => return None,
    })
}
