//! Finding objects by the names and numbers that functions and system procedures are given as text.

use crate::views;
use crate::views::system_objects::{self, SystemObject};
use pikepole_engine::{Catalog, DEFAULT_SCHEMA};
use pikepole_tsql::without_end_blanks;

/// The parts of a name as it stands in a text: `a.b`, `[a b].c`, `"x".y`, `db..t` (an empty part). One to four parts, without the
/// blanks at their ends.
pub(crate) fn split(text: &str) -> Option<Vec<String>> {
    let mut parts = vec![String::new()];
    let mut characters = text.trim().chars().peekable();
    while let Some(character) = characters.next() {
        let close = match character {
            '[' => ']',
            '"' => '"',
            '.' => {
                parts.push(String::new());
                continue;
            }
            other => {
                parts.last_mut()?.push(other);
                continue;
            }
        };
        loop {
            let inner = characters.next()?;
            if inner == close && characters.next_if_eq(&close).is_none() {
                break;
            }
            parts.last_mut()?.push(inner);
        }
    }
    parts.iter_mut().for_each(|part| part.truncate(without_end_blanks(part).len()));
    let part = parts.last()?;
    (parts.len() <= 4 && !part.is_empty()).then_some(parts)
}

/// The same name with each of its parts in brackets, so that nothing but a name can be in it; `None` for what is none.
pub fn bracketed(text: &str) -> Option<String> {
    let quoted = |part: &String| match part.as_str() {
        "" => String::new(),
        part => format!("[{}]", part.replace(']', "]]")),
    };
    Some(split(text)?.iter().map(quoted).collect::<Vec<_>>().join("."))
}

/// A name of one to three parts, taken apart. A fourth, a linked server, names nothing here.
pub(crate) struct Parts {
    pub(crate) database: Option<String>,
    pub(crate) schema: Option<String>,
    pub(crate) name: String,
}

/// Takes a name apart.
pub(crate) fn parts(text: &str) -> Option<Parts> {
    let mut parts = split(text)?;
    if parts.len() > 3 {
        return None;
    }
    let name = parts.pop()?;
    let mut given = || parts.pop().filter(|part| !part.is_empty());
    let schema = given();
    let database = given();
    Some(Parts { database, schema, name })
}

/// An object that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) object_id: i32,
    pub(crate) schema: String,
    pub(crate) name: String,
    /// The two letters of its kind.
    pub(crate) code: &'static str,
    /// The object it belongs to, or zero.
    pub(crate) parent_object_id: i32,
}

/// The object, constraint or system view of this name.
pub(crate) fn find(catalog: &Catalog, schema: Option<&str>, name: &str) -> Option<Found> {
    let own = catalog.object(schema.unwrap_or(DEFAULT_SCHEMA), name);
    if let Some(object) = own {
        return Some(found(catalog, &views::objects::of_object(object)));
    }
    if let Some((number, view)) = views::find(schema, name) {
        return Some(system_view(number, view));
    }
    if let Some(procedure) = system_objects::procedure(schema, name) {
        return Some(system_object(&procedure));
    }
    let schema_id = catalog.schema(schema.unwrap_or(DEFAULT_SCHEMA))?.schema_id;
    let wanted = name.to_lowercase();
    let parts = views::objects::parts_of_tables(catalog);
    let part = parts.iter().find(|part| part.schema_id == schema_id && part.name.to_lowercase() == wanted);
    part.map(|part| found(catalog, part))
}

/// The object, constraint or system view of this number.
pub(crate) fn by_id(catalog: &Catalog, object_id: i32) -> Option<Found> {
    if let Some(object) = catalog.object_by_id(object_id) {
        return Some(found(catalog, &views::objects::of_object(object)));
    }
    if let Some(view) = views::by_object_id(object_id) {
        let (number, view) = views::find(Some(view.schema), view.name)?;
        return Some(system_view(number, view));
    }
    if let Some(procedure) = system_objects::procedure_by_id(object_id) {
        return Some(system_object(&procedure));
    }
    let parts = views::objects::parts_of_tables(catalog);
    parts.iter().find(|part| part.object_id == object_id).map(|part| found(catalog, part))
}

fn found(catalog: &Catalog, object: &views::objects::ObjectRow<'_>) -> Found {
    Found {
        object_id: object.object_id,
        schema: schema_name(catalog, object.schema_id).unwrap_or_default(),
        name: object.name.to_string(),
        code: object.code,
        parent_object_id: object.parent_object_id,
    }
}

fn system_view(number: u32, view: &views::View) -> Found {
    Found {
        object_id: views::object_id(number),
        schema: view.schema.to_string(),
        name: view.name.to_string(),
        code: views::object_kind(number).0,
        parent_object_id: 0,
    }
}

fn system_object(object: &SystemObject) -> Found {
    Found {
        object_id: object.object_id,
        schema: object.schema.to_string(),
        name: object.name.to_string(),
        code: object.kind.0,
        parent_object_id: 0,
    }
}

/// The name of a schema.
pub(crate) fn schema_name(catalog: &Catalog, schema_id: i32) -> Option<String> {
    catalog.schemas().find(|schema| schema.schema_id == schema_id).map(|schema| schema.name.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bracketed_name_is_nothing_but_a_name() {
        assert_eq!(super::bracketed("dbo.t").as_deref(), Some("[dbo].[t]"));
        assert_eq!(super::bracketed("db..[a ]] b]").as_deref(), Some("[db]..[a ]] b]"));
        assert_eq!(super::bracketed("t; DROP TABLE t --").as_deref(), Some("[t; DROP TABLE t --]"));
        assert_eq!(super::bracketed("[t"), None);
        assert_eq!(super::bracketed(""), None);
    }

    #[test]
    fn names_are_split_as_they_are_quoted() {
        let split = |text: &str| split(text).map(|parts| parts.join("|"));
        assert_eq!(split("t").as_deref(), Some("t"));
        assert_eq!(split("dbo.t").as_deref(), Some("dbo|t"));
        assert_eq!(split("[a.b].[c]]d]").as_deref(), Some("a.b|c]d"));
        assert_eq!(split("\"x y\".z").as_deref(), Some("x y|z"));
        assert_eq!(split("db..t").as_deref(), Some("db||t"));
        assert_eq!(split("a.b.c.d.e"), None);
        assert_eq!(split("[open"), None);
        assert_eq!(split("dbo."), None);
        assert_eq!(split(""), None);
    }
}
