//! The views of older versions that scripts still read: `sysobjects`, `syscolumns`, `sysdatabases`, `sysindexes`, `syscomments`.

use super::Kind::{BigInt, Bit, Bytes, Code, DateTime, Int, Name, SmallInt, Text, TinyInt};
use super::Nullable::{No, Yes};
use super::objects::object_rows;
use super::partitions::data_space;
use super::{Rows, Source, View, shown_name, system_objects};
use crate::statistics;
use pikepole_engine::MASTER;
use pikepole_types::{Collated, Length, SqlError, SqlType, Value};

/// The bit of `category` of what comes with the server.
const IS_SHIPPED: i32 = 2;

pub(super) const VIEWS: &[View] = &[
    View {
        schema: "sys",
        name: "sysobjects",
        columns: &[
            ("name", Name, No),
            ("id", Int, No),
            ("xtype", Code, No),
            ("uid", SmallInt, Yes),
            ("info", SmallInt, Yes),
            ("status", Int, Yes),
            ("base_schema_ver", Int, Yes),
            ("replinfo", Int, Yes),
            ("parent_obj", Int, No),
            ("crdate", DateTime, No),
            ("ftcatid", SmallInt, Yes),
            ("schema_ver", Int, Yes),
            ("stats_schema_ver", Int, Yes),
            ("type", Code, Yes),
            ("userstat", SmallInt, Yes),
            ("sysstat", SmallInt, Yes),
            ("indexdel", SmallInt, Yes),
            ("refdate", DateTime, No),
            ("version", Int, Yes),
            ("deltrig", Int, Yes),
            ("instrig", Int, Yes),
            ("updtrig", Int, Yes),
            ("seltrig", Int, Yes),
            ("category", Int, Yes),
            ("cache", SmallInt, Yes),
        ],
        rows: objects,
    },
    View {
        schema: "sys",
        name: "syscolumns",
        columns: &[
            ("name", Name, Yes),
            ("id", Int, No),
            ("xtype", TinyInt, No),
            ("typestat", TinyInt, Yes),
            ("xusertype", SmallInt, Yes),
            ("length", SmallInt, No),
            ("xprec", TinyInt, No),
            ("xscale", TinyInt, No),
            ("colid", SmallInt, Yes),
            ("xoffset", SmallInt, Yes),
            ("bitpos", TinyInt, Yes),
            ("reserved", TinyInt, Yes),
            ("colstat", SmallInt, Yes),
            ("cdefault", Int, No),
            ("domain", Int, No),
            ("number", SmallInt, Yes),
            ("colorder", SmallInt, Yes),
            ("autoval", Bytes(8000), Yes),
            ("offset", SmallInt, Yes),
            ("collationid", Int, Yes),
            ("language", Int, Yes),
            ("status", TinyInt, Yes),
            ("type", TinyInt, No),
            ("usertype", SmallInt, Yes),
            ("printfmt", Text(255), Yes),
            ("prec", SmallInt, Yes),
            ("scale", Int, Yes),
            ("iscomputed", Int, Yes),
            ("isoutparam", Int, Yes),
            ("isnullable", Int, Yes),
            ("collation", Name, Yes),
            ("tdscollation", Bytes(5), Yes),
        ],
        rows: columns,
    },
    View {
        schema: "sys",
        name: "sysdatabases",
        columns: &[
            ("name", Name, No),
            ("dbid", SmallInt, Yes),
            ("sid", Bytes(85), Yes),
            ("mode", SmallInt, Yes),
            ("status", Int, Yes),
            ("status2", Int, Yes),
            ("crdate", DateTime, No),
            ("reserved", DateTime, Yes),
            ("category", Int, Yes),
            ("cmptlevel", TinyInt, No),
            ("filename", Text(260), Yes),
            ("version", SmallInt, Yes),
        ],
        rows: databases,
    },
    View {
        schema: "sys",
        name: "sysindexes",
        columns: &[
            ("id", Int, No),
            ("status", Int, Yes),
            ("first", Bytes(6), Yes),
            ("indid", SmallInt, Yes),
            ("root", Bytes(6), Yes),
            ("minlen", SmallInt, Yes),
            ("keycnt", SmallInt, Yes),
            ("groupid", SmallInt, Yes),
            ("dpages", Int, Yes),
            ("reserved", Int, Yes),
            ("used", Int, Yes),
            ("rowcnt", BigInt, Yes),
            ("rowmodctr", Int, Yes),
            ("reserved3", TinyInt, Yes),
            ("reserved4", TinyInt, Yes),
            ("xmaxlen", SmallInt, Yes),
            ("maxirow", SmallInt, Yes),
            ("OrigFillFactor", TinyInt, Yes),
            ("StatVersion", TinyInt, Yes),
            ("reserved2", Int, Yes),
            ("FirstIAM", Bytes(6), Yes),
            ("impid", SmallInt, Yes),
            ("lockflags", SmallInt, Yes),
            ("pgmodctr", Int, Yes),
            ("keys", Bytes(1088), Yes),
            ("name", Name, Yes),
            ("statblob", Bytes(8000), Yes),
            ("maxlen", Int, Yes),
            ("rows", Int, Yes),
        ],
        rows: indexes,
    },
    View {
        schema: "sys",
        name: "syscomments",
        columns: &[
            ("id", Int, No),
            ("number", SmallInt, Yes),
            ("colid", SmallInt, No),
            ("status", SmallInt, No),
            ("ctext", Bytes(8000), Yes),
            ("texttype", SmallInt, Yes),
            ("language", SmallInt, Yes),
            ("encrypted", Bit, No),
            ("compressed", Bit, No),
            ("text", Text(TEXT_UNITS), Yes),
        ],
        rows: comments,
    },
];

/// UTF-16 units of a text that one row of `syscomments` holds; longer ones have several rows.
const TEXT_UNITS: u16 = 4000;
/// `sysindexes.status` of an index without equal keys.
const UNIQUE: i64 = 0x2;
/// `sysindexes.status` of a clustered index.
const CLUSTERED: i64 = 0x10;
/// `sysindexes.status` of the index of a primary key.
const PRIMARY_KEY: i64 = 0x800;
/// `sysindexes.status` of the index of a UNIQUE constraint.
const UNIQUE_KEY: i64 = 0x1000;

/// Keys of both kinds are `K ` among the older types.
fn old_type(code: &'static str) -> &'static str {
    if matches!(code, "PK" | "UQ") { "K " } else { code }
}

/// The low four bits of `sysstat`, which scripts of old ask for what an object is.
fn kind_bits(code: &str) -> Option<i64> {
    match code.trim() {
        "S" => Some(1),
        "V" => Some(2),
        "U" => Some(3),
        "P" => Some(4),
        "TR" => Some(8),
        _ => None,
    }
}

/// The database's objects; those of `master` are the system's, too.
fn objects(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let mut rows: Rows = object_rows(source.catalog)
        .iter()
        .map(|object| {
            let row = view
                .row()
                .text("name", shown_name(object.name, object.object_id))
                .integer("id", object.object_id)
                .text("xtype", object.code)
                .integer("uid", object.schema_id)
                .integer("info", 0)
                .integer("status", 0)
                .integer("parent_obj", object.parent_object_id)
                .moment("crdate", object.created_us)
                .text("type", old_type(object.code))
                .moment("refdate", object.modified_us)
                .integer("version", 0)
                .integer("category", 0);
            match kind_bits(object.code) {
                Some(bits) => row.integer("sysstat", bits).done(),
                None => row.done(),
            }
        })
        .collect();
    if source.database.name().eq_ignore_ascii_case(MASTER) {
        let started_us = source.server.started_us();
        rows.extend(system_objects::all().map(|object| {
            let schema_id = source.catalog.schema(object.schema).map_or(0, |schema| schema.schema_id);
            let row = view.row().text("name", object.name).integer("id", object.object_id);
            let row = row.text("xtype", object.kind.0).integer("uid", schema_id).integer("parent_obj", 0);
            let row = row.moment("crdate", started_us).text("type", old_type(object.kind.0));
            row.moment("refdate", started_us).integer("category", IS_SHIPPED).done()
        }));
    }
    Ok(rows)
}

fn columns(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let row = |object_id: i32, number: i32, name: &str, ty: &SqlType, nullable: bool, collated: Collated| {
        let collation = collated.shown();
        let bytes = || Value::Bin(collation.wire_bytes().to_vec());
        let row = view
            .row()
            .text("name", name)
            .integer("id", object_id)
            .integer("xtype", ty.system_type_id())
            .integer("xusertype", ty.user_type_id())
            .integer("length", ty.max_length())
            .integer("xprec", ty.precision())
            .integer("xscale", ty.scale())
            .integer("colid", number)
            .integer("colorder", number)
            .integer("number", 0)
            .integer("type", ty.system_type_id())
            .integer("prec", declared_precision(ty))
            .value("scale", if ty.is_number() { Value::Int(ty.scale().into()) } else { Value::Null })
            .integer("isoutparam", 0)
            .bit("isnullable", nullable)
            .text_if("collation", ty.is_string().then_some(collation.name()));
        if ty.is_string() { row.value("tdscollation", bytes()) } else { row }
    };
    let mut rows = Vec::new();
    for table in source.catalog.tables() {
        for (place, column) in table.columns.iter().enumerate() {
            let number = column.number(place);
            let row = row(table.object_id, number, &column.name, &column.ty, column.nullable, column.collated())
                .integer("colstat", i32::from(column.identity.is_some()))
                .integer("status", if column.identity.is_some() { 128 } else { 0 })
                .integer("cdefault", column.default.as_ref().map_or(0, |default| default.object_id))
                .bit("iscomputed", column.computed.is_some());
            rows.push(match column.second_name() {
                None => row.done(),
                Some(second) => {
                    row.integer("xtype", second.system_type_id).integer("xusertype", second.user_type_id).done()
                }
            });
        }
    }
    for (object_id, columns) in &source.view_columns {
        for (place, column) in columns.iter().enumerate() {
            rows.push(
                row(*object_id, place as i32 + 1, &column.name, &column.ty, column.nullable, column.collated)
                    .bit("iscomputed", false)
                    .done(),
            );
        }
    }
    Ok(rows)
}

/// The digits of a number, the length of a text in characters, of bytes in bytes; -1 for what has no limit.
fn declared_precision(ty: &SqlType) -> i64 {
    match ty {
        SqlType::NChar(_) | SqlType::NVarChar(Length::Limit(_)) => i64::from(ty.max_length()) / 2,
        SqlType::Xml => -1,
        _ if ty.is_string() || ty.is_binary() => ty.max_length().into(),
        _ => ty.precision().into(),
    }
}

fn databases(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let listed = source.server.databases();
    Ok(listed
        .iter()
        .map(|database| {
            view.row()
                .text("name", &database.name)
                .integer("dbid", database.id)
                .value("sid", Value::Bin(vec![1]))
                .moment("crdate", database.created_us)
                .integer("status", 0)
                .integer("cmptlevel", super::databases::COMPATIBILITY_LEVEL)
                .done()
        })
        .collect())
}

/// Heaps and indexes, with their rows and pages.
fn indexes(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let mut rows = Vec::new();
    for table in source.catalog.tables() {
        let count = source.row_counts.get(&table.object_id).copied().unwrap_or(0);
        let statistics = statistics::of_table(source.catalog, table);
        let modified = |index_id: i32| {
            let own = statistics.iter().find(|own| own.stats_id == index_id);
            let values = own.and_then(|own| own.values());
            values.map_or(table.changes(), |values| statistics::modifications(table, values))
        };
        let row = |index_id: i32, storage: u32, space: i32| {
            let (used, reserved) = source.database.store().pages_of(storage);
            view.row()
                .integer("id", table.object_id)
                .integer("indid", index_id)
                .integer("groupid", space)
                .integer("dpages", used)
                .integer("reserved", reserved)
                .integer("used", used)
                .integer("rowcnt", count)
                .integer("rowmodctr", modified(index_id))
                .integer("OrigFillFactor", 0)
                .integer("rows", count)
        };
        if let Some(heap) = table.heap {
            rows.push(
                row(0, heap.object, data_space(table.partitioned, table.options))
                    .integer("status", 0)
                    .integer("keycnt", 0)
                    .done(),
            );
        }
        for index in &table.indexes {
            let flags = [
                (index.unique, UNIQUE),
                (index.clustered, CLUSTERED),
                (index.primary_key, PRIMARY_KEY),
                (index.constraint && !index.primary_key, UNIQUE_KEY),
            ];
            let status: i64 = flags.iter().filter(|(on, _)| *on).map(|(_, flag)| flag).sum();
            let space = data_space(index.partitioned, index.options);
            let row = row(index.index_id, index.storage.object, space).integer("status", status);
            rows.push(row.integer("keycnt", index.columns.len() as i64).text("name", &index.name).done());
        }
    }
    Ok(rows)
}

/// The texts of modules, defaults and CHECK constraints.
fn comments(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let mut rows = Vec::new();
    let mut add = |object_id: i32, number: i64, text: &str| {
        for (place, part) in portions(text).into_iter().enumerate() {
            let bytes = part.encode_utf16().flat_map(u16::to_le_bytes).collect();
            rows.push(
                view.row()
                    .integer("id", object_id)
                    .integer("number", number)
                    .integer("colid", place as i64 + 1)
                    .value("ctext", Value::Bin(bytes))
                    .integer("texttype", 2)
                    .integer("language", 0)
                    .text("text", part)
                    .done(),
            );
        }
    };
    for module in source.catalog.modules() {
        let is_procedure = source.catalog.procedure(&module.schema, &module.name).is_some();
        if let Some(text) = source.shown_text(module) {
            add(module.object_id, is_procedure.into(), text);
        }
    }
    for table in source.catalog.table_shapes() {
        for default in table.columns.iter().filter_map(|column| column.default.as_ref()) {
            add(default.object_id, 0, &default.text);
        }
        for check in &table.checks {
            add(check.object_id, 0, &check.text);
        }
    }
    Ok(rows)
}

/// A text in parts of [`TEXT_UNITS`] at most.
fn portions(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut units) = (0, 0);
    for (at, character) in text.char_indices() {
        if units + character.len_utf16() > usize::from(TEXT_UNITS) {
            parts.push(&text[start..at]);
            (start, units) = (at, 0);
        }
        units += character.len_utf16();
    }
    parts.push(&text[start..]);
    parts
}
