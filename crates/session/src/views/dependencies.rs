//! What refers to what: `sys.sql_expression_dependencies`, `sys.sql_dependencies`, `sys.dm_sql_referenced_entities` and
//! `sys.dm_sql_referencing_entities`. The texts are read whenever one of them is asked (see [`crate::dependencies`]).

use super::Kind::{Bit, Int, Name, Text, TinyInt};
use super::Nullable::{No, Yes};
use super::columns::column_number;
use super::{Function, RowBuilder, Rows, Source, View};
use crate::dependencies::{Class, ColumnReference, Lookup, Reference, Usage, Walk, is_bound, merged};
use crate::names;
use crate::security;
use pikepole_engine::{DEFAULT_SCHEMA, Module, Object, SecurityPolicy, Table};
use pikepole_tsql::{ObjectName, ParseOptions, Part, parse, parse_condition, parse_expression, parse_with};
use pikepole_types::{SqlError, Value};

pub(super) const VIEWS: &[View] = &[
    View {
        schema: "sys",
        name: "sql_expression_dependencies",
        columns: &[
            ("referencing_id", Int, No),
            ("referencing_minor_id", Int, No),
            ("referencing_class", TinyInt, Yes),
            ("referencing_class_desc", Text(60), Yes),
            ("is_schema_bound_reference", Bit, No),
            ("referenced_class", TinyInt, Yes),
            ("referenced_class_desc", Text(60), Yes),
            ("referenced_server_name", Name, Yes),
            ("referenced_database_name", Name, Yes),
            ("referenced_schema_name", Name, Yes),
            ("referenced_entity_name", Name, Yes),
            ("referenced_id", Int, Yes),
            ("referenced_minor_id", Int, No),
            ("is_caller_dependent", Bit, No),
            ("is_ambiguous", Bit, No),
        ],
        rows: expression_dependencies,
    },
    View {
        schema: "sys",
        name: "sql_dependencies",
        columns: &[
            ("class", TinyInt, No),
            ("class_desc", Text(60), Yes),
            ("object_id", Int, No),
            ("column_id", Int, No),
            ("referenced_major_id", Int, No),
            ("referenced_minor_id", Int, No),
            ("is_selected", Bit, No),
            ("is_updated", Bit, No),
            ("is_select_all", Bit, No),
        ],
        rows: dependencies,
    },
];

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        view: View {
            schema: "sys",
            name: "dm_sql_referenced_entities",
            columns: &[
                ("referencing_minor_id", Int, No),
                ("referenced_server_name", Name, Yes),
                ("referenced_database_name", Name, Yes),
                ("referenced_schema_name", Name, Yes),
                ("referenced_entity_name", Name, Yes),
                ("referenced_minor_name", Name, Yes),
                ("referenced_id", Int, Yes),
                ("referenced_minor_id", Int, No),
                ("referenced_class", TinyInt, Yes),
                ("referenced_class_desc", Text(60), Yes),
                ("is_caller_dependent", Bit, No),
                ("is_ambiguous", Bit, No),
                ("is_selected", Bit, No),
                ("is_updated", Bit, No),
                ("is_select_all", Bit, No),
                ("is_all_columns_found", Bit, No),
                ("is_insert_all", Bit, No),
                ("is_incomplete", Bit, No),
            ],
            rows: referenced_entities,
        },
        parameters: &[Text(517), Text(60)],
    },
    Function {
        view: View {
            schema: "sys",
            name: "dm_sql_referencing_entities",
            columns: &[
                ("referencing_schema_name", Name, Yes),
                ("referencing_entity_name", Name, Yes),
                ("referencing_id", Int, No),
                ("referencing_class", TinyInt, Yes),
                ("referencing_class_desc", Text(60), Yes),
                ("is_caller_dependent", Bit, No),
            ],
            rows: referencing_entities,
        },
        parameters: &[Text(517), Text(60)],
    },
];

/// The class of a trigger of definitions.
const DATABASE_TRIGGER: (i64, &str) = (12, "DATABASE_DDL_TRIGGER");
const OBJECT: (i64, &str) = (1, "OBJECT_OR_COLUMN");

impl Class {
    /// Its number and name in the younger views.
    fn shown(self) -> (i64, &'static str) {
        match self {
            Class::Object => OBJECT,
            Class::Type => (6, "TYPE"),
            Class::SchemaCollection => (10, "XML_SCHEMA_COLLECTION"),
            Class::PartitionFunction => (21, "PARTITION_FUNCTION"),
        }
    }

    /// Its number and name in the older ones.
    fn shown_before(self, bound: bool) -> (i64, &'static str) {
        match (self, bound) {
            (Class::Object, false) => (0, "OBJECT_OR_COLUMN_REFERENCE_NON_SCHEMA_BOUND"),
            (Class::Object, true) => (1, "OBJECT_OR_COLUMN_REFERENCE_SCHEMA_BOUND"),
            (Class::Type, _) => (2, "TYPE_REFERENCE"),
            (Class::SchemaCollection, _) => (3, "XML_SCHEMA_COLLECTION_REFERENCE"),
            (Class::PartitionFunction, _) => (4, "PARTITION_FUNCTION_REFERENCE"),
        }
    }
}

/// What refers to something.
pub(crate) struct Entity {
    pub(crate) id: i32,
    /// The column, of a computed column.
    column: i32,
    schema: Option<String>,
    pub(crate) name: String,
    class: (i64, &'static str),
    /// Its text is WITH SCHEMABINDING, or part of a table.
    bound: bool,
    /// It is part of a table.
    of_table: bool,
    pub(crate) references: Vec<Reference>,
}

/// All that refers to something in a database.
pub(crate) fn entities(lookup: Lookup<'_>) -> Vec<Entity> {
    entities_of(lookup, &|_| true)
}

/// The modules, and the tables' columns and constraints, of wanted numbers which refer to something.
fn entities_of(lookup: Lookup<'_>, wanted: &dyn Fn(i32) -> bool) -> Vec<Entity> {
    let catalog = lookup.catalog;
    let is_shown = |id: i32| wanted(id) && security::shows_text(lookup.token, catalog, id);
    let mut all = Vec::new();
    let of_schemas = catalog.modules().filter(|module| catalog.definition_trigger_by_id(module.object_id).is_none());
    for module in of_schemas.filter(|module| is_shown(module.object_id)) {
        all.push(of_module(lookup, module, OBJECT));
    }
    for trigger in catalog.definition_triggers().filter(|trigger| is_shown(trigger.module.object_id)) {
        let entity = of_module(lookup, &trigger.module, DATABASE_TRIGGER);
        all.push(Entity { schema: None, ..entity });
    }
    for table in catalog.tables().filter(|table| is_shown(table.object_id)) {
        all.extend(of_table(lookup, table));
    }
    for policy in catalog.security_policies().filter(|policy| is_shown(policy.module.object_id)) {
        all.push(of_policy(lookup, policy));
    }
    all.retain(|entity| !entity.references.is_empty());
    all
}

/// What is bound to an object and no part of it, with the columns of the object that it names; the oldest first. Only texts that say the
/// object's name are read.
pub(crate) fn bound_to(lookup: Lookup<'_>, object: &Object) -> Vec<Entity> {
    let name = object.name().to_lowercase();
    let says = |text: &str, word: &str| text.to_lowercase().contains(word);
    let modules = lookup.catalog.modules().filter(|module| module.object_id != object.object_id());
    let modules = modules.filter(|module| says(&module.text, "schemabinding") && says(&module.text, &name));
    let mut all: Vec<Entity> = modules.map(|module| of_module(lookup, module, OBJECT)).collect();
    for table in lookup.catalog.tables().filter(|table| table.object_id != object.object_id()) {
        if texts_of(table).any(|text| says(text, &name)) {
            all.extend(of_table(lookup, table));
        }
    }
    let policies = lookup.catalog.security_policies();
    all.extend(policies.map(|policy| of_policy(lookup, policy)));
    let refers = |entity: &Entity| {
        let mut references = entity.references.iter();
        references.any(|found| found.class == Class::Object && found.id == Some(object.object_id()))
    };
    all.retain(|entity| entity.bound && refers(entity));
    all.sort_by_key(|entity| entity.id);
    all
}

/// The texts of a table's columns and constraints.
fn texts_of(table: &Table) -> impl Iterator<Item = &str> {
    let columns = table.columns.iter();
    let computed = columns.clone().filter_map(|column| column.computed.as_ref()).map(|computed| computed.text.as_str());
    let defaults = columns.filter_map(|column| column.default.as_ref()).map(|default| default.text.as_str());
    computed.chain(defaults).chain(table.checks.iter().map(|check| check.text.as_str()))
}

fn lookup<'a>(source: &'a Source<'_>) -> Lookup<'a> {
    Lookup {
        catalog: source.catalog,
        token: source.token,
        database: source.database.name(),
        schema: DEFAULT_SCHEMA,
        view_columns: &source.view_columns,
    }
}

/// What a module refers to; nothing, for who may not read its text.
pub(super) fn references_of(source: &Source<'_>, module: &Module) -> Vec<Reference> {
    let lookup = lookup(source);
    match security::shows_text(lookup.token, lookup.catalog, module.object_id) {
        true => of_module(lookup, module, OBJECT).references,
        false => Vec::new(),
    }
}

fn of_module(lookup: Lookup<'_>, module: &Module, class: (i64, &'static str)) -> Entity {
    let mut walk = Walk::new(Lookup { schema: &module.schema, ..lookup });
    let options = ParseOptions { quoted_identifier: module.quoted_identifier };
    let batch = parse_with(&module.text, options).ok();
    batch.iter().for_each(|batch| walk.module(batch));
    Entity {
        id: module.object_id,
        column: 0,
        schema: Some(module.schema.clone()),
        name: module.name.clone(),
        class,
        bound: batch.as_ref().is_some_and(is_bound),
        of_table: false,
        references: walk.into_references(),
    }
}

/// The functions and tables of a security policy, with the columns that it passes.
fn of_policy(lookup: Lookup<'_>, policy: &SecurityPolicy) -> Entity {
    let mut walk = Walk::new(Lookup { schema: &policy.module.schema, ..lookup });
    for predicate in &policy.predicates {
        let Some(table) = lookup.catalog.table_by_id(predicate.target) else { continue };
        let quoted = |name: &str| format!("[{}]", name.replace(']', "]]"));
        let call = predicate.call.trim_start_matches('(').strip_suffix(')').unwrap_or_default();
        let table = format!("{}.{}", quoted(&table.schema), quoted(&table.name));
        if let Ok(batch) = parse(&format!("CREATE VIEW v AS SELECT 1 AS n FROM {table} AS t CROSS APPLY {call} AS f")) {
            walk.module(&batch);
        }
    }
    Entity {
        id: policy.module.object_id,
        column: 0,
        schema: Some(policy.module.schema.clone()),
        name: policy.module.name.clone(),
        class: OBJECT,
        bound: policy.schema_bound,
        of_table: false,
        references: walk.into_references(),
    }
}

/// The computed columns and constraints of a table.
fn of_table(lookup: Lookup<'_>, table: &Table) -> Vec<Entity> {
    let entity = |id, column, name: &str, part: Option<Part<'_>>| {
        let mut walk = Walk::new(Lookup { schema: &table.schema, ..lookup });
        part.into_iter().for_each(|part| walk.of_table(table, part));
        let (schema, name) = (Some(table.schema.clone()), name.to_owned());
        let references = walk.into_references();
        Entity { id, column, schema, name, class: OBJECT, bound: true, of_table: true, references }
    };
    let mut all = Vec::new();
    for (place, column) in table.columns.iter().enumerate() {
        if let Some(computed) = &column.computed {
            let expr = parse_expression(&computed.text).ok();
            all.push(entity(table.object_id, column.number(place), &table.name, expr.as_ref().map(Part::Expr)));
        }
        if let Some(default) = &column.default {
            let expr = parse_expression(&default.text).ok();
            all.push(entity(default.object_id, 0, &default.name, expr.as_ref().map(Part::Expr)));
        }
    }
    for check in &table.checks {
        let condition = parse_condition(&check.text).ok();
        all.push(entity(check.object_id, 0, &check.name, condition.as_ref().map(Part::Condition)));
    }
    all
}

impl Entity {
    /// The columns that are dependencies of their own, where the entity depends on columns by their numbers.
    fn bound_columns<'r>(&self, reference: &'r Reference) -> &'r [ColumnReference] {
        if self.bound { &reference.columns } else { &[] }
    }

    /// Whether the object itself is a dependency beside its columns.
    fn names_object(&self, reference: &Reference) -> bool {
        !self.of_table || reference.columns.is_empty()
    }
}

/// The parts of a name, in the columns that both kinds of rows have.
fn named(row: RowBuilder, reference: &Reference) -> RowBuilder {
    let ObjectName { server, database, schema, name } = &reference.name;
    let (class, class_name) = reference.class.shown();
    row.text_if("referenced_server_name", server.as_ref().map(|name| name.text.clone()))
        .text_if("referenced_database_name", database.as_ref().map(|name| name.text.clone()))
        .text_if("referenced_schema_name", schema.as_ref().map(|name| name.text.clone()))
        .text("referenced_entity_name", &name.text)
        .integer("referenced_class", class)
        .text("referenced_class_desc", class_name)
        .value("referenced_id", reference.id.map_or(Value::Null, Value::Int))
        .bit("is_caller_dependent", reference.is_caller_dependent())
        .bit("is_ambiguous", reference.ambiguous)
}

/// The number under which a column that is referred to is shown.
fn shown_number(source: &Source<'_>, reference: &Reference, column: &ColumnReference) -> i32 {
    let place = column.id as usize - 1;
    reference.id.map_or(column.id, |object_id| column_number(source.catalog, object_id, place))
}

fn expression_dependencies(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let mut rows = Rows::new();
    for entity in entities(lookup(source)) {
        for reference in &entity.references {
            let row = |column: i32| {
                named(view.row(), reference)
                    .integer("referencing_id", entity.id)
                    .integer("referencing_minor_id", entity.column)
                    .integer("referencing_class", entity.class.0)
                    .text("referencing_class_desc", entity.class.1)
                    .bit("is_schema_bound_reference", entity.bound)
                    .integer("referenced_minor_id", column)
                    .done()
            };
            rows.extend(entity.names_object(reference).then(|| row(0)));
            let columns = entity.bound_columns(reference).iter();
            rows.extend(columns.map(|column| row(shown_number(source, reference, column))));
        }
    }
    Ok(rows)
}

fn dependencies(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let mut rows = Rows::new();
    for entity in entities(lookup(source)) {
        for reference in merged(&entity.references) {
            let Some(id) = reference.id else { continue };
            let (class, class_name) = reference.class.shown_before(entity.bound);
            let row = |(column, usage): (Option<&ColumnReference>, Usage)| {
                view.row()
                    .integer("class", class)
                    .text("class_desc", class_name)
                    .integer("object_id", entity.id)
                    .integer("column_id", entity.column)
                    .integer("referenced_major_id", id)
                    .integer("referenced_minor_id", column.map_or(0, |column| shown_number(source, &reference, column)))
                    .bit("is_selected", usage.selected)
                    .bit("is_updated", usage.updated)
                    .bit("is_select_all", reference.select_all)
                    .done()
            };
            rows.extend(reference.older_rows().map(row));
        }
    }
    Ok(rows)
}

/// The text that a function was given for the argument at this place.
fn argument<'a>(source: &Source<'a>, place: usize) -> Option<&'a str> {
    source.arguments.get(place).and_then(Value::as_str)
}

/// What a text like `schema.name` says, both parts given.
fn two_parts(text: &str) -> Option<(String, String)> {
    let parts = names::parts(text)?;
    Some((parts.schema?, parts.name))
}

fn referenced_entities(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let (Some(name), Some(class)) = (argument(source, 0), argument(source, 1)) else { return Ok(Rows::new()) };
    // The object with this number, and what has its text: of a constraint its table.
    let found = match class.to_ascii_uppercase().as_str() {
        "OBJECT" => {
            let found = two_parts(name).and_then(|(schema, name)| names::find(source.catalog, Some(&schema), &name));
            found.map(|found| match found.code.trim() {
                "C" | "D" => (found.object_id, found.parent_object_id),
                _ => (found.object_id, found.object_id),
            })
        }
        "DATABASE_DDL_TRIGGER" => {
            let trigger = names::parts(name).and_then(|parts| source.catalog.definition_trigger(&parts.name));
            trigger.map(|trigger| (trigger.module.object_id, trigger.module.object_id))
        }
        _ => None,
    };
    let Some((id, holder)) = found else { return Ok(Rows::new()) };
    let mut rows = Rows::new();
    let entities = entities_of(lookup(source), &|wanted| wanted == holder);
    for entity in entities.iter().filter(|entity| entity.id == id) {
        for reference in &entity.references {
            let row = |column: Option<&ColumnReference>| {
                let usage = column.map_or(reference.usage, |column| column.usage);
                named(view.row(), reference)
                    .integer("referencing_minor_id", entity.column)
                    .text_if("referenced_minor_name", column.map(|column| column.name.as_str()))
                    .integer("referenced_minor_id", column.map_or(0, |column| shown_number(source, reference, column)))
                    .bit("is_selected", usage.selected)
                    .bit("is_updated", usage.updated)
                    .bit("is_select_all", column.is_none() && reference.select_all)
                    .bit("is_insert_all", column.is_none() && reference.insert_all)
                    .bit("is_all_columns_found", !reference.incomplete)
                    .bit("is_incomplete", reference.incomplete)
                    .done()
            };
            rows.extend(entity.names_object(reference).then(|| row(None)));
            rows.extend(reference.columns.iter().map(|column| row(Some(column))));
        }
    }
    Ok(rows)
}

/// What a name and its class mean, by its number.
fn referenced(source: &Source<'_>, text: &str, class: &str) -> Option<(Class, i32, String)> {
    let catalog = source.catalog;
    if class == "PARTITION_FUNCTION" {
        let name = names::parts(text)?.name;
        return Some((Class::PartitionFunction, catalog.partition_function(&name)?.function_id, name));
    }
    let (schema, name) = two_parts(text)?;
    Some(match class {
        "OBJECT" => (Class::Object, catalog.object(&schema, &name)?.object_id(), name),
        "TYPE" => (Class::Type, catalog.user_type(&schema, &name)?.user_type_id, name),
        "XML_SCHEMA_COLLECTION" => {
            (Class::SchemaCollection, catalog.schema_collection(&schema, &name)?.user_type_id, name)
        }
        _ => return None,
    })
}

fn referencing_entities(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let (Some(text), Some(class)) = (argument(source, 0), argument(source, 1)) else { return Ok(Rows::new()) };
    let Some((class, id, name)) = referenced(source, text, &class.to_ascii_uppercase()) else {
        return Ok(Rows::new());
    };
    let is_other = |entity: &Entity| class != Class::Object || entity.id != id || entity.column != 0;
    let mut found: Vec<(Entity, bool)> = Vec::new();
    for entity in entities(lookup(source)).into_iter().filter(is_other) {
        let mut of_class = entity.references.iter().filter(|reference| reference.class == class);
        let is_certain = of_class.clone().any(|reference| reference.id == Some(id));
        // Whoever calls it by its name alone may mean this one.
        let is_possible = of_class.any(|found| found.is_caller_dependent() && found.name.name.is(&name));
        let is_known = found.iter().any(|(known, _)| known.id == entity.id);
        if !is_known && (is_certain || is_possible) {
            found.push((entity, !is_certain));
        }
    }
    found.sort_by_cached_key(|(entity, _)| (entity.schema.clone(), entity.name.to_lowercase()));
    let row = |(entity, is_caller_dependent): &(Entity, bool)| {
        view.row()
            .text_if("referencing_schema_name", entity.schema.as_deref())
            .text("referencing_entity_name", &entity.name)
            .integer("referencing_id", entity.id)
            .integer("referencing_class", entity.class.0)
            .text("referencing_class_desc", entity.class.1)
            .bit("is_caller_dependent", *is_caller_dependent)
            .done()
    };
    Ok(found.iter().map(row).collect())
}
