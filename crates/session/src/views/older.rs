//! More views of older versions, whose rows are those of the views that took their places: `systypes` those of `sys.types`,
//! `sysconstraints` those of the four views of constraints, and so on.
//!
//! A view is a row of [`VIEWS`], and one or more of [`BASES`]: a younger view, which of its columns are shown under which older name,
//! and what is the same in each row. What has no younger name stays as an empty row has it.

use super::Kind::{BigInt, Bit, Bytes, DateTime, Guid, Int, Name, SmallInt, Text, TinyInt};
use super::Nullable::{No, Yes};
use super::{ColumnOf, Kind, Rows, Source, View, columns_of, find};
use pikepole_types::{SqlError, Value};

pub(super) const VIEWS: &[View] = &[
    View { schema: "sys", name: "systypes", columns: TYPES, rows: mapped },
    View {
        schema: "sys",
        name: "sysindexkeys",
        columns: &[("id", Int, No), ("indid", SmallInt, Yes), ("colid", SmallInt, Yes), ("keyno", SmallInt, Yes)],
        rows: mapped,
    },
    View {
        schema: "sys",
        name: "sysforeignkeys",
        columns: &[
            ("constid", Int, No),
            ("fkeyid", Int, No),
            ("rkeyid", Int, No),
            ("fkey", SmallInt, Yes),
            ("rkey", SmallInt, Yes),
            ("keyno", SmallInt, Yes),
        ],
        rows: mapped,
    },
    View { schema: "sys", name: "sysreferences", columns: REFERENCES, rows: references },
    View {
        schema: "sys",
        name: "sysconstraints",
        columns: &[
            ("constid", Int, No),
            ("id", Int, No),
            ("colid", SmallInt, Yes),
            ("spare1", TinyInt, Yes),
            ("status", Int, Yes),
            ("actions", Int, Yes),
            ("error", Int, Yes),
        ],
        rows: mapped,
    },
    View {
        schema: "sys",
        name: "sysprotects",
        columns: &[
            ("id", Int, No),
            ("uid", SmallInt, Yes),
            ("action", TinyInt, Yes),
            ("protecttype", TinyInt, Yes),
            ("columns", Bytes(4000), Yes),
            ("grantor", SmallInt, Yes),
        ],
        rows: protects,
    },
    View {
        schema: "sys",
        name: "syspermissions",
        columns: &[
            ("id", Int, Yes),
            ("grantee", SmallInt, Yes),
            ("grantor", SmallInt, Yes),
            ("actadd", SmallInt, Yes),
            ("actmod", SmallInt, Yes),
            ("seladd", Bytes(4000), Yes),
            ("selmod", Bytes(4000), Yes),
            ("updadd", Bytes(4000), Yes),
            ("updmod", Bytes(4000), Yes),
            ("refadd", Bytes(4000), Yes),
            ("refmod", Bytes(4000), Yes),
        ],
        rows: mapped,
    },
    View {
        schema: "sys",
        name: "sysmembers",
        columns: &[("memberuid", SmallInt, Yes), ("groupuid", SmallInt, Yes)],
        rows: mapped,
    },
    View {
        schema: "sys",
        name: "sysdepends",
        columns: &[
            ("id", Int, No),
            ("depid", Int, Yes),
            ("number", SmallInt, Yes),
            ("depnumber", SmallInt, Yes),
            ("status", SmallInt, Yes),
            ("deptype", TinyInt, No),
            ("depdbid", SmallInt, Yes),
            ("depsiteid", SmallInt, Yes),
            ("selall", Bit, No),
            ("resultobj", Bit, No),
            ("readobj", Bit, No),
        ],
        rows: mapped,
    },
    View {
        schema: "sys",
        name: "sysfiles",
        columns: columns_of!(FILES; ("name", Name, No), ("filename", Text(260), Yes)),
        rows: mapped,
    },
    View {
        schema: "sys",
        name: "sysaltfiles",
        columns: columns_of!(FILES;
            ("dbid", SmallInt, Yes),
            ("name", Name, No),
            ("filename", Text(260), Yes),
            ("createlsn", Bytes(10), Yes),
            ("droplsn", Bytes(10), Yes),
        ),
        rows: mapped,
    },
    View {
        schema: "sys",
        name: "sysfilegroups",
        columns: &[
            ("groupid", SmallInt, Yes),
            ("allocpolicy", SmallInt, Yes),
            ("status", Int, Yes),
            ("groupname", Name, No),
        ],
        rows: mapped,
    },
    View {
        schema: "sys",
        name: "sysmessages",
        columns: &[
            ("error", Int, No),
            ("severity", TinyInt, Yes),
            ("dlevel", SmallInt, Yes),
            ("description", Text(255), Yes),
            ("msglangid", SmallInt, No),
        ],
        rows: mapped,
    },
    View {
        schema: "sys",
        name: "sysperfinfo",
        columns: &[
            ("object_name", Name, No),
            ("counter_name", Name, No),
            ("instance_name", Name, Yes),
            ("cntr_value", BigInt, No),
            ("cntr_type", Int, No),
        ],
        rows: mapped,
    },
    View {
        schema: "sys",
        name: "syscurconfigs",
        columns: &[
            ("value", Int, Yes),
            ("config", SmallInt, No),
            ("comment", Text(255), No),
            ("status", SmallInt, Yes),
        ],
        rows: mapped,
    },
    View {
        schema: "sys",
        name: "sysconfigures",
        columns: &[("value", Int, Yes), ("config", Int, No), ("comment", Text(255), No), ("status", SmallInt, Yes)],
        rows: mapped,
    },
    View {
        schema: "sys",
        name: "syscharsets",
        columns: &[
            ("type", SmallInt, No),
            ("id", TinyInt, No),
            ("csid", TinyInt, No),
            ("status", SmallInt, Yes),
            ("name", Name, No),
            ("description", Text(255), Yes),
            ("binarydefinition", Bytes(6000), Yes),
            ("definition", Bytes(8000), Yes),
        ],
        rows: character_sets,
    },
    View { schema: "sys", name: "sysservers", columns: SERVERS, rows: mapped },
    View { schema: "sys", name: "syslockinfo", columns: LOCKS, rows: locks },
];

const TYPES: &[ColumnOf] = &[
    ("name", Name, No),
    ("xtype", TinyInt, No),
    ("status", TinyInt, Yes),
    ("xusertype", SmallInt, Yes),
    ("length", SmallInt, No),
    ("xprec", TinyInt, No),
    ("xscale", TinyInt, No),
    ("tdefault", Int, No),
    ("domain", Int, No),
    ("uid", SmallInt, Yes),
    ("reserved", SmallInt, Yes),
    ("collationid", Int, Yes),
    ("usertype", SmallInt, Yes),
    ("variable", Bit, No),
    ("allownulls", Bit, Yes),
    ("type", TinyInt, No),
    ("printfmt", Text(255), Yes),
    ("prec", SmallInt, Yes),
    ("scale", TinyInt, Yes),
    ("collation", Name, Yes),
];

/// What `sysfiles` and `sysaltfiles` have in common.
const FILES: &[ColumnOf] = &[
    ("fileid", SmallInt, Yes),
    ("groupid", SmallInt, Yes),
    ("size", Int, No),
    ("maxsize", Int, No),
    ("growth", Int, No),
    ("status", Int, Yes),
    ("perf", Int, Yes),
];

/// The columns that `sysreferences` has for those of a key, which older versions allowed sixteen of.
const REFERENCING: [&str; 16] = [
    "fkey1", "fkey2", "fkey3", "fkey4", "fkey5", "fkey6", "fkey7", "fkey8", "fkey9", "fkey10", "fkey11", "fkey12",
    "fkey13", "fkey14", "fkey15", "fkey16",
];
const REFERENCED: [&str; 16] = [
    "rkey1", "rkey2", "rkey3", "rkey4", "rkey5", "rkey6", "rkey7", "rkey8", "rkey9", "rkey10", "rkey11", "rkey12",
    "rkey13", "rkey14", "rkey15", "rkey16",
];
const REFERENCES: &[ColumnOf] = &{
    let mut all = [("", SmallInt, Yes); 41];
    (all[0], all[1], all[2]) = (("constid", Int, No), ("fkeyid", Int, No), ("rkeyid", Int, No));
    (all[3], all[4]) = (("rkeyindid", SmallInt, Yes), ("keycnt", SmallInt, Yes));
    (all[5], all[6]) = (("forkeys", Bytes(32), Yes), ("refkeys", Bytes(32), Yes));
    (all[7], all[8]) = (("fkeydbid", SmallInt, Yes), ("rkeydbid", SmallInt, Yes));
    let mut place = 0;
    while place < REFERENCING.len() {
        all[9 + place].0 = REFERENCING[place];
        all[25 + place].0 = REFERENCED[place];
        place += 1;
    }
    all
};

const SERVERS: &[ColumnOf] = &[
    ("srvid", SmallInt, Yes),
    ("srvstatus", SmallInt, Yes),
    ("srvname", Name, No),
    ("srvproduct", Name, No),
    ("providername", Name, No),
    ("datasource", Text(4000), Yes),
    ("location", Text(4000), Yes),
    ("providerstring", Text(4000), Yes),
    ("schemadate", DateTime, No),
    ("topologyx", Int, Yes),
    ("topologyy", Int, Yes),
    ("catalog", Name, Yes),
    ("srvcollation", Name, Yes),
    ("connecttimeout", Int, Yes),
    ("querytimeout", Int, Yes),
    ("srvnetname", Text(30), Yes),
    ("isremote", Bit, Yes),
    ("rpc", Bit, No),
    ("pub", Bit, No),
    ("sub", Bit, Yes),
    ("dist", Bit, Yes),
    ("dpub", Bit, Yes),
    ("rpcout", Bit, No),
    ("dataaccess", Bit, No),
    ("collationcompatible", Bit, No),
    ("system", Bit, No),
    ("useremotecollation", Bit, No),
    ("lazyschemavalidation", Bit, No),
    ("collation", Name, Yes),
    ("nonsqlsub", Bit, Yes),
];

const LOCKS: &[ColumnOf] = &[
    ("rsc_text", Text(32), No),
    ("rsc_bin", Bytes(16), No),
    ("rsc_valblk", Bytes(16), No),
    ("rsc_dbid", SmallInt, No),
    ("rsc_indid", SmallInt, No),
    ("rsc_objid", Int, No),
    ("rsc_type", TinyInt, No),
    ("rsc_flag", TinyInt, No),
    ("req_mode", TinyInt, No),
    ("req_status", TinyInt, No),
    ("req_refcnt", SmallInt, No),
    ("req_cryrefcnt", SmallInt, No),
    ("req_lifetime", Int, No),
    ("req_spid", Int, No),
    ("req_ecid", Int, No),
    ("req_ownertype", SmallInt, No),
    ("req_transactionID", BigInt, Yes),
    ("req_transactionUOW", Guid, Yes),
];

/// A younger view that an older one shows.
struct Base {
    older: &'static str,
    younger: &'static str,
    /// Names, the older ones first.
    columns: &'static [(&'static str, &'static str)],
    /// What each row has.
    constants: &'static [(&'static str, i64)],
}

/// The columns of `sysconstraints`, of which the last says for a single column where it is.
const CONSTRAINT: &[(&str, &str)] = &[("constid", "object_id"), ("id", "parent_object_id")];
const COLUMN_CONSTRAINT: &[(&str, &str)] =
    &[("constid", "object_id"), ("id", "parent_object_id"), ("colid", "parent_column_id")];

const BASES: &[Base] = &[
    Base {
        older: "systypes",
        younger: "types",
        columns: &[
            ("name", "name"),
            ("xtype", "system_type_id"),
            ("xusertype", "user_type_id"),
            ("length", "max_length"),
            ("xprec", "precision"),
            ("xscale", "scale"),
            ("uid", "schema_id"),
            ("usertype", "user_type_id"),
            ("allownulls", "is_nullable"),
            ("type", "system_type_id"),
            ("prec", "precision"),
            ("scale", "scale"),
            ("collation", "collation_name"),
        ],
        constants: &[("status", 0), ("reserved", 0)],
    },
    Base {
        older: "sysindexkeys",
        younger: "index_columns",
        columns: &[("id", "object_id"), ("indid", "index_id"), ("colid", "column_id"), ("keyno", "key_ordinal")],
        constants: &[],
    },
    Base {
        older: "sysforeignkeys",
        younger: "foreign_key_columns",
        columns: &[
            ("constid", "constraint_object_id"),
            ("fkeyid", "parent_object_id"),
            ("rkeyid", "referenced_object_id"),
            ("fkey", "parent_column_id"),
            ("rkey", "referenced_column_id"),
            ("keyno", "constraint_column_id"),
        ],
        constants: &[],
    },
    Base {
        older: "sysconstraints",
        younger: "foreign_keys",
        columns: CONSTRAINT,
        constants: &[("status", 3), ("colid", 0)],
    },
    Base {
        older: "sysconstraints",
        younger: "check_constraints",
        columns: COLUMN_CONSTRAINT,
        constants: &[("status", 4)],
    },
    Base {
        older: "sysconstraints",
        younger: "default_constraints",
        columns: COLUMN_CONSTRAINT,
        constants: &[("status", 5)],
    },
    Base {
        older: "sysconstraints",
        younger: "key_constraints",
        columns: CONSTRAINT,
        constants: &[("status", 1), ("colid", 0)],
    },
    Base {
        older: "syspermissions",
        younger: "database_permissions",
        columns: &[("id", "major_id"), ("grantee", "grantee_principal_id"), ("grantor", "grantor_principal_id")],
        constants: &[],
    },
    Base {
        older: "sysmembers",
        younger: "database_role_members",
        columns: &[("memberuid", "member_principal_id"), ("groupuid", "role_principal_id")],
        constants: &[],
    },
    Base {
        older: "sysdepends",
        younger: "sql_dependencies",
        columns: &[
            ("id", "object_id"),
            ("depid", "referenced_major_id"),
            ("number", "column_id"),
            ("depnumber", "referenced_minor_id"),
            ("deptype", "class"),
            ("selall", "is_select_all"),
            ("resultobj", "is_updated"),
            ("readobj", "is_selected"),
        ],
        constants: &[("status", 0), ("depdbid", 0), ("depsiteid", 0)],
    },
    Base {
        older: "sysfiles",
        younger: "database_files",
        columns: &[
            ("fileid", "file_id"),
            ("groupid", "data_space_id"),
            ("size", "size"),
            ("maxsize", "max_size"),
            ("growth", "growth"),
            ("name", "name"),
            ("filename", "physical_name"),
        ],
        constants: &[("status", 0), ("perf", 0)],
    },
    Base {
        older: "sysaltfiles",
        younger: "master_files",
        columns: &[
            ("fileid", "file_id"),
            ("groupid", "data_space_id"),
            ("size", "size"),
            ("maxsize", "max_size"),
            ("growth", "growth"),
            ("dbid", "database_id"),
            ("name", "name"),
            ("filename", "physical_name"),
        ],
        constants: &[("status", 0), ("perf", 0)],
    },
    Base {
        older: "sysfilegroups",
        younger: "filegroups",
        columns: &[("groupid", "data_space_id"), ("groupname", "name")],
        constants: &[("allocpolicy", 0), ("status", 0)],
    },
    Base {
        older: "sysmessages",
        younger: "messages",
        columns: &[
            ("error", "message_id"),
            ("severity", "severity"),
            ("description", "text"),
            ("msglangid", "language_id"),
        ],
        constants: &[("dlevel", 0)],
    },
    Base {
        older: "sysperfinfo",
        younger: "dm_os_performance_counters",
        columns: &[
            ("object_name", "object_name"),
            ("counter_name", "counter_name"),
            ("instance_name", "instance_name"),
            ("cntr_value", "cntr_value"),
            ("cntr_type", "cntr_type"),
        ],
        constants: &[],
    },
    Base {
        older: "syscurconfigs",
        younger: "configurations",
        columns: &[("value", "value_in_use"), ("config", "configuration_id"), ("comment", "description")],
        constants: &[("status", 0)],
    },
    Base {
        older: "sysconfigures",
        younger: "configurations",
        columns: &[("value", "value"), ("config", "configuration_id"), ("comment", "description")],
        constants: &[("status", 0)],
    },
    Base {
        older: "sysservers",
        younger: "servers",
        columns: &[
            ("srvid", "server_id"),
            ("srvname", "name"),
            ("srvproduct", "product"),
            ("providername", "provider"),
            ("datasource", "data_source"),
            ("location", "location"),
            ("providerstring", "provider_string"),
            ("schemadate", "modify_date"),
            ("catalog", "catalog"),
            ("connecttimeout", "connect_timeout"),
            ("querytimeout", "query_timeout"),
            ("srvnetname", "name"),
            ("rpcout", "is_rpc_out_enabled"),
            ("dataaccess", "is_data_access_enabled"),
            ("collationcompatible", "is_collation_compatible"),
            ("system", "is_system"),
            ("useremotecollation", "uses_remote_collation"),
            ("lazyschemavalidation", "lazy_schema_validation"),
        ],
        constants: &[("isremote", 0), ("rpc", 1), ("srvstatus", 0)],
    },
];

/// The rows of a view of `sys`, and where its columns are.
struct Younger {
    columns: &'static [ColumnOf],
    rows: Rows,
}

impl Younger {
    fn of(name: &str, source: &Source<'_>) -> Result<Younger, SqlError> {
        let Some((_, view)) = find(Some("sys"), name) else { return Ok(Younger { columns: &[], rows: Vec::new() }) };
        Ok(Younger { columns: view.columns, rows: (view.rows)(view, source)? })
    }

    /// The value of a column; NULL for one that there is not.
    fn value<'a>(&self, row: &'a [Value], column: &str) -> &'a Value {
        let place = self.columns.iter().position(|(name, _, _)| *name == column);
        place.and_then(|place| row.get(place)).unwrap_or(&Value::Null)
    }
}

/// A value as a column of a kind has it.
fn in_kind(value: &Value, kind: Kind) -> Value {
    let inner = if let Value::Variant(variant) = value { variant.value() } else { value };
    match (inner, kind) {
        (Value::Str(text), Text(length)) => Value::Str(text.chars().take(usize::from(length)).collect()),
        (Value::Str(_) | Value::DateTime(_) | Value::Bin(_), _) => inner.clone(),
        (number, _) => number.as_i64().map_or(Value::Null, |number| kind.integer(number)),
    }
}

/// Sets a column that the row has nothing to say about where the younger view says NULL.
fn set(view: &View, row: &mut [Value], column: &str, value: &Value) {
    let Some(place) = view.columns.iter().position(|(name, _, _)| *name == column) else { return };
    let value = in_kind(value, view.columns[place].1);
    if !value.is_null() {
        row[place] = value;
    }
}

fn mapped(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let mut rows = Vec::new();
    for base in BASES.iter().filter(|base| base.older == view.name) {
        let younger = Younger::of(base.younger, source)?;
        for from in &younger.rows {
            let mut row = view.row().done();
            for (column, name) in base.columns {
                set(view, &mut row, column, younger.value(from, name));
            }
            for (column, number) in base.constants {
                set(view, &mut row, column, &Value::BigInt(*number));
            }
            if base.younger == "key_constraints"
                && younger.value(from, "type").as_str().is_some_and(|code| code.trim() == "UQ")
            {
                set(view, &mut row, "status", &Value::Int(UNIQUE_CONSTRAINT));
            }
            rows.push(row);
        }
    }
    Ok(rows)
}

/// `sysconstraints.status` of UNIQUE.
const UNIQUE_CONSTRAINT: i32 = 2;

/// A row for each foreign key, with up to sixteen columns beside each other.
fn references(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let mut rows = Vec::new();
    for table in source.catalog.tables() {
        for key in &table.foreign_keys {
            let mut row = view
                .row()
                .integer("constid", key.object_id)
                .integer("fkeyid", table.object_id)
                .integer("rkeyid", key.referenced)
                .integer("rkeyindid", key.index_id)
                .integer("keycnt", key.columns.len() as i64)
                .integer("fkeydbid", source.database.id())
                .integer("rkeydbid", source.database.id());
            let referenced = source.catalog.referenced_columns(key);
            let other = source.catalog.table_by_id(key.referenced);
            let of_sides = [(REFERENCING, &key.columns, Some(table)), (REFERENCED, &referenced, other)];
            for (names, columns, side) in of_sides {
                let number = |at: usize| Some(side?.column_number(*columns.get(at)?));
                for (at, name) in names.into_iter().enumerate() {
                    row = row.integer(name, number(at).unwrap_or(0));
                }
            }
            rows.push(row.done());
        }
    }
    Ok(rows)
}

/// The permissions that older versions know, by their numbers there.
const ACTIONS: &[(&str, i64)] = &[
    ("REFERENCES", 26),
    ("CREATE FUNCTION", 178),
    ("SELECT", 193),
    ("INSERT", 195),
    ("DELETE", 196),
    ("UPDATE", 197),
    ("CREATE TABLE", 198),
    ("CREATE DATABASE", 203),
    ("CREATE VIEW", 207),
    ("CREATE PROCEDURE", 222),
    ("EXECUTE", 224),
    ("BACKUP DATABASE", 228),
    ("BACKUP LOG", 235),
];

fn protects(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let younger = Younger::of("database_permissions", source)?;
    let mut rows = Vec::new();
    for from in &younger.rows {
        let text = |column: &str| younger.value(from, column).as_str().unwrap_or_default().trim().to_owned();
        let Some((_, action)) = ACTIONS.iter().find(|(name, _)| *name == text("permission_name")) else { continue };
        let kind = match text("state").as_str() {
            "W" => 204,
            "D" => 206,
            _ => 205,
        };
        let number = |column: &str| younger.value(from, column).as_i64().unwrap_or(0);
        rows.push(
            view.row()
                .integer("id", number("major_id"))
                .integer("uid", number("grantee_principal_id"))
                .integer("action", *action)
                .integer("protecttype", kind)
                .integer("grantor", number("grantor_principal_id"))
                .done(),
        );
    }
    Ok(rows)
}

/// The character set and the sort order of the server's own collation.
fn character_sets(view: &View, _: &Source<'_>) -> Result<Rows, SqlError> {
    const CHARACTER_SET: i64 = 1001;
    const SORT_ORDER: i64 = 2001;
    let row = |kind: i64, id: i64, set: i64, name: &str, description: &str| {
        let row = view.row().integer("type", kind).integer("id", id).integer("csid", set).integer("status", 0);
        row.text("name", name).text("description", description).done()
    };
    Ok(vec![
        row(CHARACTER_SET, 1, 0, "iso_1", "ISO 8859-1 (Latin-1) - Western European 8-bit character set."),
        row(
            SORT_ORDER,
            52,
            1,
            "nocase_iso",
            "Case-insensitive dictionary sort order for use with several Western-European languages.",
        ),
    ])
}

/// What `rsc_type` and `req_mode` call a lock's resource and mode.
const RESOURCES: &[(&str, i64)] = &[
    ("DATABASE", 2),
    ("FILE", 3),
    ("OBJECT", 5),
    ("PAGE", 6),
    ("KEY", 7),
    ("EXTENT", 8),
    ("RID", 9),
    ("APPLICATION", 10),
];
const MODES: &[(&str, i64)] = &[
    ("Sch-S", 1),
    ("Sch-M", 2),
    ("S", 3),
    ("U", 4),
    ("X", 5),
    ("IS", 6),
    ("IU", 7),
    ("IX", 8),
    ("SIU", 9),
    ("SIX", 10),
    ("UIX", 11),
    ("BU", 12),
    ("RangeS-S", 13),
    ("RangeS-U", 14),
    ("RangeI-N", 15),
    ("RangeX-X", 21),
];

fn locks(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let younger = Younger::of("dm_tran_locks", source)?;
    let mut rows = Vec::new();
    for from in &younger.rows {
        let text = |column: &str| younger.value(from, column).as_str().unwrap_or_default().trim().to_owned();
        let number = |column: &str| younger.value(from, column).as_i64().unwrap_or(0);
        let known = |all: &[(&str, i64)], column: &str| {
            all.iter().find(|(name, _)| *name == text(column)).map_or(0, |(_, number)| *number)
        };
        let status = match text("request_status").as_str() {
            "GRANT" => 1,
            "CONVERT" => 2,
            _ => 3,
        };
        let is_object = text("resource_type") == "OBJECT";
        rows.push(
            view.row()
                .text("rsc_text", text("resource_description"))
                .integer("rsc_dbid", number("resource_database_id"))
                .integer("rsc_objid", if is_object { number("resource_associated_entity_id") } else { 0 })
                .integer("rsc_type", known(RESOURCES, "resource_type"))
                .integer("req_mode", known(MODES, "request_mode"))
                .integer("req_status", status)
                .integer("req_refcnt", number("request_reference_count"))
                .integer("req_spid", number("request_session_id"))
                .integer("req_ownertype", 1)
                .integer("req_transactionID", number("request_owner_id"))
                .done(),
        );
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_column_of_a_base_is_one_of_both_views() {
        for base in BASES {
            let columns = |name: &str| find(Some("sys"), name).expect(name).1.columns;
            let has = |name: &str, column: &str| columns(name).iter().any(|(known, _, _)| *known == column);
            for (older, younger) in base.columns {
                assert!(has(base.older, older), "{}.{older}", base.older);
                assert!(has(base.younger, younger), "{}.{younger}", base.younger);
            }
            for (older, _) in base.constants {
                assert!(has(base.older, older), "{}.{older}", base.older);
            }
        }
    }
}
