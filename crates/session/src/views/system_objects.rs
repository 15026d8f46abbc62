//! The system's own objects, as `sys.system_objects` lists them and OBJECT_ID finds them: its views and functions, and the procedures
//! that are called by their names.

use crate::procedures;
use pikepole_query::CURSOR_PROCEDURES;

/// Numbers of procedures count down from here, behind those of all views.
const FIRST_PROCEDURE: i32 = -5000;
/// Procedures that are not the session's, but the machine's or the protocol's; and those in [`CURSOR_PROCEDURES`].
const OTHERS: &[&str] = &[
    "sp_addtype",
    "sp_droptype",
    "sp_execute",
    "sp_executesql",
    "sp_MSforeachdb",
    "sp_MSforeachtable",
    "sp_prepare",
    "sp_prepexec",
    "sp_prepexecrpc",
    "sp_reset_connection",
    "sp_unprepare",
];

/// An object of the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SystemObject {
    pub(crate) object_id: i32,
    pub(crate) schema: &'static str,
    pub(crate) name: &'static str,
    /// The two letters of its kind, and the kind in words.
    pub(crate) kind: (&'static str, &'static str),
}

/// All of them: views, functions, procedures.
pub(crate) fn all() -> impl Iterator<Item = SystemObject> {
    let views = super::all().enumerate().filter(|(_, view)| view.is_listed()).map(|(number, view)| SystemObject {
        object_id: super::object_id(number as u32),
        schema: view.schema,
        name: view.name,
        kind: super::object_kind(number as u32),
    });
    views.chain(all_procedures())
}

fn all_procedures() -> impl Iterator<Item = SystemObject> {
    let names = procedures::names().chain(OTHERS.iter().copied()).chain(CURSOR_PROCEDURES);
    (0..).zip(names).map(|(place, name)| SystemObject {
        object_id: FIRST_PROCEDURE - place,
        schema: "sys",
        name,
        kind: match is_extended(name) {
            true => ("X ", "EXTENDED_STORED_PROCEDURE"),
            false => ("P ", "SQL_STORED_PROCEDURE"),
        },
    })
}

/// The procedure of this name, which is found whether or not its schema is said.
pub(crate) fn procedure(schema: Option<&str>, name: &str) -> Option<SystemObject> {
    if schema.is_some_and(|schema| !["sys", "dbo"].iter().any(|own| own.eq_ignore_ascii_case(schema))) {
        return None;
    }
    all_procedures().find(|procedure| procedure.name.eq_ignore_ascii_case(name))
}

/// The procedure with this number.
pub(crate) fn procedure_by_id(object_id: i32) -> Option<SystemObject> {
    if object_id > FIRST_PROCEDURE { None } else { all_procedures().find(|one| one.object_id == object_id) }
}

/// Whether SQL Server has it as a part of its program, and not as a text.
fn is_extended(name: &str) -> bool {
    let is_of_protocol =
        OTHERS.contains(&name) && !matches!(name, "sp_addtype" | "sp_droptype") && !name.contains("MS");
    name.starts_with("xp_") || is_of_protocol
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_has_a_number_of_its_own() {
        let numbers: BTreeSet<i32> = all().map(|object| object.object_id).collect();
        assert_eq!(numbers.len(), all().count());
        let found = procedure(Some("DBO"), "SP_EXECUTESQL").expect("it is there");
        assert_eq!((found.kind.0, procedure_by_id(found.object_id)), ("X ", Some(found)));
        assert_eq!(procedure(None, "sp_help").map(|object| object.kind.0), Some("P "));
        assert_eq!(procedure(Some("own"), "sp_help"), None);
        assert_eq!(procedure_by_id(-1000), None);
    }
}
