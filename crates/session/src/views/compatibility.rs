//! The views of older versions that scripts still read: `sysobjects`, `syscolumns`, `sysdatabases`, `sysusers`.

use super::Kind::{Bytes, Code, DateTime, Int, Name, SmallInt, Text, TinyInt};
use super::Nullable::{No, Yes};
use super::objects::object_rows;
use super::{Rows, Source, View};
use pikepole_types::{Collated, SqlError, SqlType, Value};

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
];

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

fn objects(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    Ok(object_rows(source.catalog)
        .iter()
        .map(|object| {
            let row = view
                .row()
                .text("name", object.name)
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
        .collect())
}

fn columns(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let row = |object_id: i32, place: usize, name: &str, ty: &SqlType, nullable: bool, collated: Collated| {
        let collation = collated.shown();
        let bytes = || Value::Bin(collation.wire_bytes().to_vec());
        let row = view
            .row()
            .text("name", name)
            .integer("id", object_id)
            .integer("xtype", ty.system_type_id())
            .integer("xusertype", ty.system_type_id())
            .integer("length", ty.max_length())
            .integer("xprec", ty.precision())
            .integer("xscale", ty.scale())
            .integer("colid", place as i64 + 1)
            .integer("colorder", place as i64 + 1)
            .integer("number", 0)
            .integer("type", ty.system_type_id())
            .integer("prec", ty.precision())
            .integer("scale", ty.scale())
            .integer("isoutparam", 0)
            .bit("isnullable", nullable)
            .text_if("collation", ty.is_string().then_some(collation.name()));
        if ty.is_string() { row.value("tdscollation", bytes()) } else { row }
    };
    let mut rows = Vec::new();
    for table in source.catalog.tables() {
        for (place, column) in table.columns.iter().enumerate() {
            rows.push(
                row(table.object_id, place, &column.name, &column.ty, column.nullable, column.collated())
                    .integer("colstat", i32::from(column.identity.is_some()))
                    .integer("status", if column.identity.is_some() { 128 } else { 0 })
                    .integer("cdefault", column.default.as_ref().map_or(0, |default| default.object_id))
                    .bit("iscomputed", column.computed.is_some())
                    .done(),
            );
        }
    }
    for (object_id, columns) in &source.view_columns {
        for (place, column) in columns.iter().enumerate() {
            rows.push(
                row(*object_id, place, &column.name, &column.ty, column.nullable, column.collated)
                    .bit("iscomputed", false)
                    .done(),
            );
        }
    }
    Ok(rows)
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
