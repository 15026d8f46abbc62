//! `sys.schemas`, `objects`, `all_objects`, `tables`, `views`, `procedures`, `key_constraints`, `default_constraints`,
//! `sql_modules`.

use super::Kind::{Bit, Code, DateTime, Int, LongText, Name, Text, TinyInt};
use super::Nullable::{No, Yes};
use super::system_objects::{self, SystemObject};
use super::{ColumnOf, RowBuilder, Rows, Source, View, columns_of, shown_name};
use crate::modules;
use pikepole_engine::{
    Catalog, Check, ForeignKey, Index, Object, Schema, SecurityPolicy, Sequence, Table, TableRecord, Trigger,
};
use pikepole_types::SqlError;

/// The columns that every view of objects begins with.
pub(super) const OBJECT: &[ColumnOf] = &[
    ("name", Name, No),
    ("object_id", Int, No),
    ("principal_id", Int, Yes),
    ("schema_id", Int, No),
    ("parent_object_id", Int, No),
    ("type", Code, Yes),
    ("type_desc", Text(60), Yes),
    ("create_date", DateTime, No),
    ("modify_date", DateTime, No),
    ("is_ms_shipped", Bit, No),
    ("is_published", Bit, No),
    ("is_schema_published", Bit, No),
];

/// The columns of the views of modules' texts.
pub(super) const MODULE: &[ColumnOf] = &[
    ("object_id", Int, No),
    ("definition", LongText, Yes),
    ("uses_ansi_nulls", Bit, Yes),
    ("uses_quoted_identifier", Bit, Yes),
    ("is_schema_bound", Bit, Yes),
    ("uses_database_collation", Bit, Yes),
    ("is_recompiled", Bit, Yes),
    ("null_on_null_input", Bit, Yes),
    ("execute_as_principal_id", Int, Yes),
    ("uses_native_compilation", Bit, Yes),
    ("inline_type", Bit, Yes),
    ("is_inlineable", Bit, Yes),
];

/// The columns of the views of views.
const VIEW: &[ColumnOf] = columns_of![OBJECT;
    ("is_replicated", Bit, Yes),
    ("has_replication_filter", Bit, Yes),
    ("has_opaque_metadata", Bit, No),
    ("has_unchecked_assembly_data", Bit, No),
    ("with_check_option", Bit, No),
    ("is_date_correlation_view", Bit, No),
    ("is_tracked_by_cdc", Bit, Yes),
    ("has_snapshot", Bit, Yes),
    ("ledger_view_type", TinyInt, Yes),
    ("ledger_view_type_desc", Text(60), Yes),
    ("is_dropped_ledger_view", Bit, Yes),
];

pub(super) const VIEWS: &[View] = &[
    View {
        schema: "sys",
        name: "schemas",
        columns: &[("name", Name, No), ("schema_id", Int, No), ("principal_id", Int, Yes)],
        rows: schemas,
    },
    View { schema: "sys", name: "objects", columns: OBJECT, rows: objects },
    View { schema: "sys", name: "all_objects", columns: OBJECT, rows: all_objects },
    View { schema: "sys", name: "system_objects", columns: OBJECT, rows: all_system_objects },
    View { schema: "sys", name: "system_views", columns: VIEW, rows: system_views },
    View { schema: "sys", name: "all_views", columns: VIEW, rows: all_views },
    View {
        schema: "sys",
        name: "tables",
        columns: columns_of![OBJECT;
            ("lob_data_space_id", Int, No),
            ("filestream_data_space_id", Int, Yes),
            ("max_column_id_used", Int, No),
            ("lock_on_bulk_load", Bit, No),
            ("uses_ansi_nulls", Bit, Yes),
            ("is_replicated", Bit, Yes),
            ("has_replication_filter", Bit, Yes),
            ("is_merge_published", Bit, Yes),
            ("is_sync_tran_subscribed", Bit, Yes),
            ("has_unchecked_assembly_data", Bit, No),
            ("text_in_row_limit", Int, Yes),
            ("large_value_types_out_of_row", Bit, Yes),
            ("is_tracked_by_cdc", Bit, Yes),
            ("lock_escalation", TinyInt, Yes),
            ("lock_escalation_desc", Text(60), Yes),
            ("is_filetable", Bit, Yes),
            ("is_memory_optimized", Bit, Yes),
            ("durability", TinyInt, Yes),
            ("durability_desc", Text(60), Yes),
            ("temporal_type", TinyInt, Yes),
            ("temporal_type_desc", Text(60), Yes),
            ("history_table_id", Int, Yes),
            ("is_remote_data_archive_enabled", Bit, Yes),
            ("is_external", Bit, No),
            ("history_retention_period", Int, Yes),
            ("history_retention_period_unit", Int, Yes),
            ("history_retention_period_unit_desc", Text(10), Yes),
            ("is_node", Bit, Yes),
            ("is_edge", Bit, Yes),
            ("data_retention_period", Int, Yes),
            ("data_retention_period_unit", Int, Yes),
            ("data_retention_period_unit_desc", Text(10), Yes),
            ("ledger_type", TinyInt, Yes),
            ("ledger_type_desc", Text(60), Yes),
            ("ledger_view_id", Int, Yes),
            ("is_dropped_ledger_table", Bit, Yes),
        ],
        rows: tables,
    },
    View { schema: "sys", name: "views", columns: VIEW, rows: views },
    View {
        schema: "sys",
        name: "synonyms",
        columns: columns_of![OBJECT; ("base_object_name", Text(1035), Yes)],
        rows: synonyms,
    },
    View {
        schema: "sys",
        name: "procedures",
        columns: columns_of![OBJECT;
            ("is_auto_executed", Bit, No),
            ("is_execution_replicated", Bit, Yes),
            ("is_repl_serializable_only", Bit, Yes),
            ("skips_repl_constraints", Bit, Yes),
        ],
        rows: procedures,
    },
    View {
        schema: "sys",
        name: "key_constraints",
        columns: columns_of![OBJECT;
            ("unique_index_id", Int, Yes),
            ("is_system_named", Bit, No),
            ("is_enforced", Bit, No),
        ],
        rows: key_constraints,
    },
    View {
        schema: "sys",
        name: "default_constraints",
        columns: columns_of![OBJECT;
            ("parent_column_id", Int, No),
            ("definition", LongText, Yes),
            ("is_system_named", Bit, No),
        ],
        rows: default_constraints,
    },
    View { schema: "sys", name: "sql_modules", columns: MODULE, rows: sql_modules },
    View { schema: "sys", name: "all_sql_modules", columns: MODULE, rows: sql_modules },
];

/// What every view of objects shows of one.
pub(crate) struct ObjectRow<'a> {
    pub(crate) name: &'a str,
    pub(crate) object_id: i32,
    pub(crate) schema_id: i32,
    pub(crate) parent_object_id: i32,
    /// The two letters of its kind.
    pub(crate) code: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) created_us: u64,
    pub(super) modified_us: u64,
}

impl ObjectRow<'_> {
    pub(super) fn row(&self, view: &View) -> RowBuilder {
        view.row()
            .text("name", shown_name(self.name, self.object_id))
            .integer("object_id", self.object_id)
            .integer("schema_id", self.schema_id)
            .integer("parent_object_id", self.parent_object_id)
            .text("type", self.code)
            .text("type_desc", self.kind)
            .moment("create_date", self.created_us)
            .moment("modify_date", self.modified_us)
    }
}

fn of_table(table: &TableRecord) -> ObjectRow<'_> {
    ObjectRow {
        name: &table.name,
        object_id: table.object_id,
        schema_id: table.schema_id,
        parent_object_id: 0,
        code: "U ",
        kind: "USER_TABLE",
        created_us: table.created_us,
        modified_us: table.modified_us,
    }
}

pub(super) fn of_sequence(sequence: &Sequence) -> ObjectRow<'_> {
    ObjectRow {
        name: &sequence.name,
        object_id: sequence.object_id,
        schema_id: sequence.schema_id,
        parent_object_id: 0,
        code: "SO",
        kind: "SEQUENCE_OBJECT",
        created_us: sequence.created_us,
        modified_us: sequence.modified_us,
    }
}

pub(super) fn of_trigger(trigger: &Trigger) -> ObjectRow<'_> {
    ObjectRow {
        name: &trigger.module.name,
        object_id: trigger.module.object_id,
        schema_id: trigger.module.schema_id,
        parent_object_id: trigger.parent_id,
        code: "TR",
        kind: "SQL_TRIGGER",
        created_us: trigger.module.created_us,
        modified_us: trigger.module.modified_us,
    }
}

pub(super) fn of_policy(policy: &SecurityPolicy) -> ObjectRow<'_> {
    ObjectRow {
        name: &policy.module.name,
        object_id: policy.module.object_id,
        schema_id: policy.module.schema_id,
        parent_object_id: 0,
        code: "SP",
        kind: "SECURITY_POLICY",
        created_us: policy.module.created_us,
        modified_us: policy.module.modified_us,
    }
}

fn of_constraint<'a>(
    table: &TableRecord,
    name: &'a str,
    object_id: i32,
    code: &'static str,
    kind: &'static str,
) -> ObjectRow<'a> {
    ObjectRow {
        name,
        object_id,
        schema_id: table.schema_id,
        parent_object_id: table.object_id,
        code,
        kind,
        created_us: table.modified_us,
        modified_us: table.modified_us,
    }
}

pub(super) fn of_check<'a>(table: &TableRecord, check: &'a Check) -> ObjectRow<'a> {
    of_constraint(table, &check.name, check.object_id, "C ", "CHECK_CONSTRAINT")
}

pub(super) fn of_foreign_key<'a>(table: &TableRecord, key: &'a ForeignKey) -> ObjectRow<'a> {
    of_constraint(table, &key.name, key.object_id, "F ", "FOREIGN_KEY_CONSTRAINT")
}

fn of_key<'a>(table: &TableRecord, index: &'a Index) -> ObjectRow<'a> {
    let (code, kind) = if index.primary_key { ("PK", "PRIMARY_KEY_CONSTRAINT") } else { ("UQ", "UNIQUE_CONSTRAINT") };
    of_constraint(table, &index.name, index.constraint_id, code, kind)
}

/// What the views show of an object that has a name of its own.
pub(crate) fn of_object(object: &Object) -> ObjectRow<'_> {
    let (module, code, kind) = match object {
        Object::Table(table) => return of_table(table),
        Object::Sequence(sequence) => return of_sequence(sequence),
        Object::Trigger(trigger) => return of_trigger(trigger),
        Object::SecurityPolicy(policy) => return of_policy(policy),
        Object::Procedure(module) => (module, "P ", "SQL_STORED_PROCEDURE"),
        Object::View(module) => (module, "V ", "VIEW"),
        Object::Synonym(synonym) => (synonym, "SN", "SYNONYM"),
        Object::Function(module) => {
            let (code, kind) = modules::function_kind(&module.text);
            (module, code, kind)
        }
    };
    ObjectRow {
        name: &module.name,
        object_id: module.object_id,
        schema_id: module.schema_id,
        parent_object_id: 0,
        code,
        kind,
        created_us: module.created_us,
        modified_us: module.modified_us,
    }
}

/// Every object of a catalog, constraints behind their table.
pub(crate) fn object_rows(catalog: &Catalog) -> Vec<ObjectRow<'_>> {
    let mut rows = Vec::new();
    for object in catalog.objects() {
        rows.push(of_object(object));
        if let Object::Table(table) = object {
            push_constraints(table, &mut rows);
        }
    }
    push_table_types(catalog, &mut rows);
    rows
}

/// The constraints of all tables, and the table types with theirs: what no catalog finds by its name.
pub(crate) fn parts_of_tables(catalog: &Catalog) -> Vec<ObjectRow<'_>> {
    let mut rows = Vec::new();
    catalog.tables().for_each(|table| push_constraints(table, &mut rows));
    push_table_types(catalog, &mut rows);
    rows
}

fn push_table_types<'a>(catalog: &'a Catalog, rows: &mut Vec<ObjectRow<'a>>) {
    for shape in catalog.user_types().filter_map(|user_type| user_type.table()) {
        rows.push(ObjectRow { code: "TT", kind: "TYPE_TABLE", ..of_table(shape) });
        push_constraints(shape, rows);
    }
}

/// The constraints of a table.
fn push_constraints<'a>(table: &'a TableRecord, rows: &mut Vec<ObjectRow<'a>>) {
    let keys = table.indexes.iter().filter(|index| index.constraint);
    rows.extend(keys.map(|index| of_key(table, index)));
    rows.extend(table.checks.iter().map(|check| of_check(table, check)));
    rows.extend(table.foreign_keys.iter().map(|key| of_foreign_key(table, key)));
    let defaults = table.columns.iter().filter_map(|column| column.default.as_ref());
    rows.extend(
        defaults.map(|default| of_constraint(table, &default.name, default.object_id, "D ", "DEFAULT_CONSTRAINT")),
    );
}

fn schemas(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let row = |schema: &Schema| {
        let row = view.row().text("name", &schema.name).integer("schema_id", schema.schema_id);
        row.integer("principal_id", schema.owner).done()
    };
    Ok(source.catalog.schemas().map(|schema| row(schema)).collect())
}

fn objects(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    Ok(object_rows(source.catalog).iter().map(|object| object.row(view).done()).collect())
}

fn synonyms(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let rows = object_rows(source.catalog).into_iter().filter_map(|object| {
        let Object::Synonym(synonym) = source.catalog.object_by_id(object.object_id)? else { return None };
        Some(object.row(view).text("base_object_name", &synonym.text).done())
    });
    Ok(rows.collect())
}

/// Users' objects, then the system's.
fn all_objects(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let mut rows = objects(view, source)?;
    rows.extend(all_system_objects(view, source)?);
    Ok(rows)
}

fn all_system_objects(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    Ok(system_objects::all().map(|object| system_row(view, source, &object).done()).collect())
}

/// The system's views, its functions not among them.
fn system_views(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let views = system_objects::all().filter(|object| object.kind.0.trim() == "V");
    Ok(views.map(|object| of_view(system_row(view, source, &object)).done()).collect())
}

fn all_views(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let mut rows = views(view, source)?;
    rows.extend(system_views(view, source)?);
    Ok(rows)
}

/// What the views of objects say of one of the system's.
fn system_row(view: &View, source: &Source<'_>, object: &SystemObject) -> RowBuilder {
    let schema_id = source.catalog.schema(object.schema).map_or(0, |schema| schema.schema_id);
    let (code, kind) = object.kind;
    let row = view.row().text("name", object.name).integer("object_id", object.object_id);
    let row = row.integer("schema_id", schema_id).text("type", code).text("type_desc", kind);
    let started_us = source.server.started_us();
    row.moment("create_date", started_us).moment("modify_date", started_us).bit("is_ms_shipped", true)
}

/// The data space of a table's long values; 0: it has no column of such.
fn long_data_space(table: &Table) -> i32 {
    let has_long = table.columns.iter().any(|column| column.ty.is_max());
    if has_long { table.text_filegroup.unwrap_or(table.row_filegroup()) } else { 0 }
}

fn tables(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let row = |table: &Table| {
        of_table(table)
            .row(view)
            .integer("lob_data_space_id", long_data_space(table))
            .integer("max_column_id_used", table.column_numbers_used())
            .bit("uses_ansi_nulls", true)
            .bit("is_replicated", false)
            .bit("has_replication_filter", false)
            .bit("is_merge_published", false)
            .bit("is_sync_tran_subscribed", false)
            .integer("text_in_row_limit", 0)
            .bit("large_value_types_out_of_row", false)
            .bit("is_tracked_by_cdc", false)
            .integer("lock_escalation", table.lock_escalation as i64)
            .text("lock_escalation_desc", table.lock_escalation.name())
            .bit("is_filetable", false)
            .bit("is_memory_optimized", table.is_in_memory())
            .integer("durability", table.memory.map_or(0, |memory| memory.durability.number()))
            .text("durability_desc", table.memory.map_or("SCHEMA_AND_DATA", |memory| memory.durability.name()))
            .bit("is_remote_data_archive_enabled", false)
            .bit("is_node", false)
            .bit("is_edge", false)
            .integer("ledger_type", 0)
            .text("ledger_type_desc", "NON_LEDGER_TABLE")
            .bit("is_dropped_ledger_table", false)
    };
    let row = |table: &Table| super::periods::with_versioning(row(table), table).done();
    Ok(source.catalog.tables().map(|table| row(table)).collect())
}

/// The rows of [`object_rows`] with one of these codes.
fn coded<'a>(source: &Source<'a>, codes: &'static [&'static str]) -> impl Iterator<Item = ObjectRow<'a>> {
    object_rows(source.catalog).into_iter().filter(move |object| codes.contains(&object.code))
}

fn views(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    Ok(coded(source, &["V "]).map(|object| of_view(object.row(view)).done()).collect())
}

/// What is so of every view.
fn of_view(row: RowBuilder) -> RowBuilder {
    row.bit("is_replicated", false)
        .bit("has_replication_filter", false)
        .bit("is_tracked_by_cdc", false)
        .bit("has_snapshot", false)
        .integer("ledger_view_type", 0)
        .text("ledger_view_type_desc", "NON_LEDGER_VIEW")
        .bit("is_dropped_ledger_view", false)
}

fn procedures(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let row = |object: ObjectRow<'_>| {
        object
            .row(view)
            .bit("is_execution_replicated", false)
            .bit("is_repl_serializable_only", false)
            .bit("skips_repl_constraints", false)
            .done()
    };
    Ok(coded(source, &["P "]).map(row).collect())
}

fn key_constraints(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let mut rows = Vec::new();
    for table in source.catalog.table_shapes() {
        for index in table.indexes.iter().filter(|index| index.constraint) {
            let row = of_key(table, index).row(view).integer("unique_index_id", index.index_id);
            let row = row.bit("is_system_named", is_system_named(&index.name, index.constraint_id));
            rows.push(row.bit("is_enforced", true).done());
        }
    }
    Ok(rows)
}

/// Whether a key or default was given no name: the name that it got then ends with its number.
fn is_system_named(name: &str, object_id: i32) -> bool {
    name.ends_with(&format!("__{object_id:016X}")) || name.ends_with(&format!("__{object_id:08X}"))
}

fn default_constraints(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let mut rows = Vec::new();
    for table in source.catalog.table_shapes() {
        for (place, column) in table.columns.iter().enumerate() {
            let Some(default) = &column.default else { continue };
            let object = of_constraint(table, &default.name, default.object_id, "D ", "DEFAULT_CONSTRAINT");
            let row = object.row(view).integer("parent_column_id", column.number(place));
            let row = row.bit("is_system_named", is_system_named(&default.name, default.object_id));
            rows.push(row.text("definition", &default.text).done());
        }
    }
    Ok(rows)
}

fn sql_modules(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    Ok(source
        .catalog
        .modules()
        .map(|module| {
            let row = view
                .row()
                .integer("object_id", module.object_id)
                .text_if("definition", source.shown_text(module))
                .bit("uses_ansi_nulls", module.ansi_nulls)
                .bit("uses_quoted_identifier", module.quoted_identifier)
                .bit("is_schema_bound", modules::says(&module.text, "SCHEMABINDING"))
                .bit("uses_database_collation", false)
                .bit("is_recompiled", modules::says(&module.text, "RECOMPILE"))
                .bit("null_on_null_input", modules::says(&module.text, "RETURNS NULL ON NULL INPUT"))
                .bit("uses_native_compilation", modules::says(&module.text, "NATIVE_COMPILATION"))
                .bit("inline_type", false)
                .bit("is_inlineable", false);
            match module.execute_as {
                Some(user) => row.integer("execute_as_principal_id", user).done(),
                None => row.done(),
            }
        })
        .collect())
}
