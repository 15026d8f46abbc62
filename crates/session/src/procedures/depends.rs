//! `sp_depends`: what an object refers to, and what refers to it.

use crate::dependencies::{Class, Lookup, Reference, merged};
use crate::host::SessionHost;
use crate::names;
use crate::result_set::{NAME, ResultSet, string, text};
use crate::security;
use crate::views::dependencies::entities;
use pikepole_engine::{Catalog, DEFAULT_SCHEMA};
use pikepole_query::{ExecutionContext, Output};
use pikepole_types::{SqlError, Value};
use std::collections::BTreeSet;

/// The letters of kinds of objects, and what the procedure calls them.
const KINDS: &[(&str, &str)] = &[
    ("C", "check cns"),
    ("D", "default (maybe c"),
    ("FN", "scalar function"),
    ("IF", "inline function"),
    ("P", "stored procedure"),
    ("SN", "synonym"),
    ("TF", "table function"),
    ("TR", "trigger"),
    ("U", "user table"),
    ("V", "view"),
];

/// Tells of the object of this name.
pub(super) fn depends(
    name: &str,
    host: &SessionHost,
    context: &ExecutionContext,
    output: &mut dyn Output,
) -> Result<(), SqlError> {
    let database = context.database().name();
    let catalog = security::catalog(context);
    let unknown = || SqlError::object_not_in_database(name, database);
    let parts = names::parts(name).ok_or_else(unknown)?;
    let object = names::find(&catalog, parts.schema.as_deref(), &parts.name).ok_or_else(unknown)?;
    let view_columns = host.view_columns(context);
    let token = context.token();
    let lookup = Lookup { catalog: &catalog, token, database, schema: DEFAULT_SCHEMA, view_columns: &view_columns };
    let all = entities(lookup);
    let mut referenced = ResultSet::new(&[
        ("name", text(257)),
        ("type", text(16)),
        ("updated", text(7)),
        ("selected", text(8)),
        ("column", NAME),
    ]);
    let mut found = false;
    let own = all.iter().filter(|entity| entity.id == object.object_id);
    let own: Vec<Reference> = own.flat_map(|entity| merged(&entity.references)).collect();
    for reference in own.iter().filter(|reference| reference.class == Class::Object) {
        let Some((name, kind)) = reference.id.and_then(|id| described(&catalog, id)) else { continue };
        for (column, usage) in reference.older_rows() {
            found = true;
            let column = column.map_or(Value::Null, |column| string(&column.name));
            let answer = |is: bool| string(if is { "yes" } else { "no" });
            let selected = usage.selected || reference.select_all;
            referenced.push(vec![string(&name), string(kind), answer(usage.updated), answer(selected), column]);
        }
    }
    if found {
        output.message(&SqlError::object_references_following());
        referenced.send(output);
    }
    let refers = |references: &[Reference]| {
        references.iter().any(|reference| reference.class == Class::Object && reference.id == Some(object.object_id))
    };
    let referring = all.iter().filter(|entity| refers(&entity.references));
    let referring: BTreeSet<_> = referring.filter_map(|entity| described(&catalog, entity.id)).collect();
    if !referring.is_empty() {
        output.message(&SqlError::object_referenced_by_following());
        let mut set = ResultSet::new(&[("name", text(257)), ("type", text(16))]);
        referring.into_iter().for_each(|(name, kind)| set.push(vec![string(name), string(kind)]));
        set.send(output);
    } else if !found {
        output.message(&SqlError::object_without_dependencies());
    }
    Ok(())
}

/// `schema.name` of an object, and what its kind is called.
fn described(catalog: &Catalog, object_id: i32) -> Option<(String, &'static str)> {
    let found = names::by_id(catalog, object_id)?;
    let (_, kind) = KINDS.iter().find(|(code, _)| *code == found.code.trim())?;
    Some((format!("{}.{}", found.schema, found.name), kind))
}
