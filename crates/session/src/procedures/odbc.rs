//! The catalog procedures of ODBC, JDBC and OLE DB: what tables, keys, indexes, procedures and types there are, in the shape
//! that drivers expect.

use super::Arguments;
use super::describe::type_name;
use super::odbc_types::Odbc;
use crate::functions::PRODUCT_VERSION;
use crate::host::SessionHost;
use crate::result_set::{NAME, ResultSet, string, text};
use pikepole_engine::{Index, ReferentialAction, Table};
use pikepole_query::{ColumnInfo, ExecutionContext, Output, Provenance};
use pikepole_types::{ClrType, Length, LikePattern, SecondName, SqlError, SqlType, Value};
use std::sync::Arc;

const SMALL: SqlType = SqlType::SmallInt;

pub(super) fn matches(pattern: Option<&str>, name: &str) -> bool {
    pattern.is_none_or(|pattern| LikePattern::new(pattern, None, Default::default()).matches(name))
}

pub(super) fn is(wanted: Option<&str>, name: &str) -> bool {
    wanted.is_none_or(|wanted| wanted.eq_ignore_ascii_case(name))
}

pub(super) fn small(number: i16) -> Value {
    Value::SmallInt(number)
}

/// The tables that a name and an owner mean, without patterns. An empty owner is none.
fn tables_named(context: &ExecutionContext, name: Option<&str>, owner: Option<&str>) -> Vec<Arc<Table>> {
    let owner = owner.filter(|owner| !owner.is_empty());
    let catalog = context.catalog();
    let tables = catalog.definitions().tables();
    tables.filter(|table| is(name, &table.name) && is(owner, &table.schema)).cloned().collect()
}

/// What `sp_tables` lists for `%` in one place and nothing in the others: all databases, all schemas, or all kinds of tables. None: it is asked
/// for tables. The places are those of name, owner, qualifier and type.
fn listed(asked: &[&Option<String>; 4], host: &SessionHost, context: &ExecutionContext) -> Option<Vec<[Value; 5]>> {
    let all = asked.iter().position(|text| text.as_deref().is_some_and(|text| text.trim_matches('\'') == "%"))?;
    let is_nothing = |(place, text): (usize, &&Option<String>)| {
        place == all || text.as_deref().is_none_or(str::is_empty) && (place > 1 || text.is_some())
    };
    if !asked.iter().enumerate().all(is_nothing) {
        return None;
    }
    let row = |place: usize, text: &str| {
        let mut row = [Value::Null, Value::Null, Value::Null, Value::Null, Value::Null];
        row[place] = string(text);
        row
    };
    match all {
        1 => {
            let mut schemas: Vec<String> =
                context.catalog().definitions().schemas().map(|one| one.name.clone()).collect();
            schemas.sort_unstable();
            Some(schemas.iter().map(|schema| row(1, schema)).collect())
        }
        2 => {
            let mut names: Vec<String> = host.server.databases().into_iter().map(|database| database.name).collect();
            names.sort_unstable();
            Some(names.iter().map(|name| row(0, name)).collect())
        }
        3 => Some(["SYSTEM TABLE", "TABLE", "VIEW"].iter().map(|kind| row(3, kind)).collect()),
        _ => None,
    }
}

/// `sp_tables`: tables and views whose names match patterns.
pub(super) fn tables(
    arguments: &Arguments<'_>,
    host: &SessionHost,
    context: &ExecutionContext,
    output: &mut dyn Output,
) {
    let mut set = ResultSet::new(&[
        ("TABLE_QUALIFIER", NAME),
        ("TABLE_OWNER", NAME),
        ("TABLE_NAME", NAME),
        ("TABLE_TYPE", text(32)),
        ("REMARKS", text(254)),
    ]);
    let (name, owner, kinds) = (arguments.text(0), arguments.text(1), arguments.text(3));
    if let Some(list) = listed(&[&name, &owner, &arguments.text(2), &kinds], host, context) {
        list.into_iter().for_each(|row| set.push(row.to_vec()));
        return set.send(output);
    }
    let database = context.database().name();
    if arguments.text(2).is_some_and(|qualifier| !matches(Some(&qualifier), database)) {
        return set.send(output);
    }
    let kinds = kinds.map(|kinds| kinds.to_ascii_uppercase());
    let wants = |kind: &str| kinds.as_ref().is_none_or(|kinds| kinds.contains(&format!("'{kind}'")) || kinds == kind);
    let catalog = context.catalog();
    let definitions = catalog.definitions();
    let own_tables = definitions.tables().map(|table| (&table.schema, &table.name, "TABLE"));
    let own_views = definitions.views().map(|view| (&view.schema, &view.name, "VIEW"));
    let mut rows: Vec<(&str, &str, &str)> =
        own_tables.chain(own_views).map(|(schema, name, kind)| (kind, schema.as_str(), name.as_str())).collect();
    rows.extend(crate::views::all().filter(|view| view.is_listed()).map(|view| ("VIEW", view.schema, view.name)));
    rows.sort_unstable();
    for (kind, schema, table) in rows {
        if wants(kind) && matches(name.as_deref(), table) && matches(owner.as_deref(), schema) {
            set.push(vec![string(database), string(schema), string(table), string(kind), Value::Null]);
        }
    }
    set.send(output);
}

/// `sp_pkeys`: the columns of a table's primary key.
pub(super) fn primary_keys(arguments: &Arguments<'_>, context: &ExecutionContext, output: &mut dyn Output) {
    let mut set = ResultSet::new(&[
        ("TABLE_QUALIFIER", NAME),
        ("TABLE_OWNER", NAME),
        ("TABLE_NAME", NAME),
        ("COLUMN_NAME", NAME),
        ("KEY_SEQ", SMALL),
        ("PK_NAME", NAME),
    ]);
    for table in tables_named(context, arguments.text(0).as_deref(), arguments.text(1).as_deref()) {
        let Some(key) = table.indexes.iter().find(|index| index.primary_key) else { continue };
        for (place, column) in key.columns.iter().enumerate() {
            set.push(vec![
                string(context.database().name()),
                string(&table.schema),
                string(&table.name),
                string(&table.columns[column.column].name),
                small(place as i16 + 1),
                string(&key.name),
            ]);
        }
    }
    set.send(output);
}

/// What ODBC calls an action.
fn rule(action: ReferentialAction) -> Value {
    small(match action {
        ReferentialAction::Cascade => 0,
        ReferentialAction::NoAction => 1,
        ReferentialAction::SetNull => 2,
        ReferentialAction::SetDefault => 3,
    })
}

/// `sp_fkeys`: the foreign keys that refer to one table, or are another's.
pub(super) fn foreign_keys(arguments: &Arguments<'_>, context: &ExecutionContext, output: &mut dyn Output) {
    let mut set = ResultSet::new(&[
        ("PKTABLE_QUALIFIER", NAME),
        ("PKTABLE_OWNER", NAME),
        ("PKTABLE_NAME", NAME),
        ("PKCOLUMN_NAME", NAME),
        ("FKTABLE_QUALIFIER", NAME),
        ("FKTABLE_OWNER", NAME),
        ("FKTABLE_NAME", NAME),
        ("FKCOLUMN_NAME", NAME),
        ("KEY_SEQ", SMALL),
        ("UPDATE_RULE", SMALL),
        ("DELETE_RULE", SMALL),
        ("FK_NAME", NAME),
        ("PK_NAME", NAME),
        ("DEFERRABILITY", SMALL),
    ]);
    let argument = |place: usize| arguments.text(place);
    let (pk_name, pk_owner, fk_name, fk_owner) = (argument(0), argument(1), argument(3), argument(4));
    let database = context.database().name();
    let catalog = context.catalog();
    for table in tables_named(context, fk_name.as_deref(), fk_owner.as_deref()) {
        for key in &table.foreign_keys {
            let Some(target) = catalog.definitions().table_by_id(key.referenced) else { continue };
            if !is(pk_name.as_deref(), &target.name)
                || !is(pk_owner.as_deref().filter(|owner| !owner.is_empty()), &target.schema)
            {
                continue;
            }
            let index = target.indexes.iter().find(|index| index.index_id == key.index_id);
            for (place, (own, other)) in key.columns.iter().zip(key.referenced_columns(target)).enumerate() {
                set.push(vec![
                    string(database),
                    string(&target.schema),
                    string(&target.name),
                    string(&target.columns[other].name),
                    string(database),
                    string(&table.schema),
                    string(&table.name),
                    string(&table.columns[*own].name),
                    small(place as i16 + 1),
                    rule(key.on_update),
                    rule(key.on_delete),
                    string(&key.name),
                    index.map_or(Value::Null, |index| string(&index.name)),
                    // Not deferrable.
                    small(7),
                ]);
            }
        }
    }
    set.send(output);
}

/// `sp_statistics`: the indexes of a table, after a row about the table itself.
pub(super) fn statistics(arguments: &Arguments<'_>, context: &ExecutionContext, output: &mut dyn Output) {
    let mut set = ResultSet::new(&[
        ("TABLE_QUALIFIER", NAME),
        ("TABLE_OWNER", NAME),
        ("TABLE_NAME", NAME),
        ("NON_UNIQUE", SMALL),
        ("INDEX_QUALIFIER", NAME),
        ("INDEX_NAME", NAME),
        ("TYPE", SMALL),
        ("SEQ_IN_INDEX", SMALL),
        ("COLUMN_NAME", NAME),
        ("COLLATION", SqlType::Char(1)),
        ("CARDINALITY", SqlType::Int),
        ("PAGES", SqlType::Int),
        ("FILTER_CONDITION", text(128)),
    ]);
    let index_name = arguments.text(3);
    let unique_only = arguments.text(4).is_some_and(|unique| unique.eq_ignore_ascii_case("Y"));
    let database = context.database().name();
    for table in tables_named(context, arguments.text(0).as_deref(), arguments.text(1).as_deref()) {
        let of_table = || vec![string(database), string(&table.schema), string(&table.name)];
        let mut row = of_table();
        row.extend([Value::Null, Value::Null, Value::Null, small(0)]);
        row.extend(std::iter::repeat_n(Value::Null, 6));
        set.push(row);
        let wanted = |index: &&Index| matches(index_name.as_deref(), &index.name) && (!unique_only || index.unique);
        for index in table.indexes.iter().filter(wanted) {
            for (place, key) in index.columns.iter().enumerate() {
                let mut row = of_table();
                row.extend([
                    small(i16::from(!index.unique)),
                    string(&table.name),
                    string(&index.name),
                    small(if index.clustered { 1 } else { 3 }),
                    small(place as i16 + 1),
                    string(&table.columns[key.column].name),
                    string(if key.descending { "D" } else { "A" }),
                    Value::Null,
                    Value::Null,
                    index.filter.as_ref().map_or(Value::Null, string),
                ]);
                set.push(row);
            }
        }
    }
    set.send(output);
}

/// `sp_special_columns`: the columns that tell a row from all others, or those that change by themselves (`@col_type` V).
pub(super) fn special_columns(
    arguments: &Arguments<'_>,
    odbc: Odbc,
    context: &ExecutionContext,
    output: &mut dyn Output,
) {
    let mut set = ResultSet::new(&[
        ("SCOPE", SMALL),
        ("COLUMN_NAME", NAME),
        ("DATA_TYPE", SMALL),
        ("TYPE_NAME", NAME),
        ("PRECISION", SqlType::Int),
        ("LENGTH", SqlType::Int),
        ("SCALE", SMALL),
        ("PSEUDO_COLUMN", SMALL),
    ]);
    let versions = arguments.text(3).is_some_and(|kind| kind.eq_ignore_ascii_case("V"));
    for table in tables_named(context, arguments.text(0).as_deref(), arguments.text(1).as_deref()) {
        let primary = table.indexes.iter().find(|index| index.primary_key);
        let key = primary.or_else(|| table.indexes.iter().find(|index| index.unique && index.filter.is_none()));
        let columns: Vec<usize> = if versions {
            (0..table.columns.len()).filter(|at| table.columns[*at].rowversion).collect()
        } else {
            key.map(|key| key.columns.iter().map(|key| key.column).collect()).unwrap_or_default()
        };
        for column in columns.into_iter().map(|at| &table.columns[at]) {
            let shown = odbc.shown(&column.ty, column.second_name());
            set.push(vec![
                if versions { Value::Null } else { small(0) },
                string(&column.name),
                small(shown.data_type),
                string(type_name(column)),
                Value::Int(shown.precision),
                Value::Int(shown.length),
                shown.scale.map_or(Value::Null, small),
                small(1),
            ]);
        }
    }
    set.send(output);
}

/// `sp_stored_procedures`: procedures and functions whose names match patterns; `;1`, of functions `;0`, is the number that ODBC
/// expects behind a name.
pub(super) fn procedures(arguments: &Arguments<'_>, context: &ExecutionContext, output: &mut dyn Output) {
    let mut set = ResultSet::new(&[
        ("PROCEDURE_QUALIFIER", NAME),
        ("PROCEDURE_OWNER", NAME),
        ("PROCEDURE_NAME", text(134)),
        ("NUM_INPUT_PARAMS", SqlType::Int),
        ("NUM_OUTPUT_PARAMS", SqlType::Int),
        ("NUM_RESULT_SETS", SqlType::Int),
        ("REMARKS", text(254)),
        ("PROCEDURE_TYPE", SMALL),
    ]);
    let (name, owner) = (arguments.text(0), arguments.text(1));
    let catalog = context.catalog();
    let procedures = catalog.definitions().procedures().map(|procedure| (procedure, 1));
    let functions = catalog.definitions().functions().map(|function| (function, 0));
    let mut modules: Vec<_> = procedures.chain(functions).collect();
    modules.sort_by(|(one, _), (other, _)| (&one.schema, &one.name).cmp(&(&other.schema, &other.name)));
    for (module, number) in modules {
        if matches(name.as_deref(), &module.name) && matches(owner.as_deref(), &module.schema) {
            set.push(vec![
                string(context.database().name()),
                string(&module.schema),
                string(format!("{};{number}", module.name)),
                Value::Int(-1),
                Value::Int(-1),
                Value::Int(-1),
                Value::Null,
                small(2),
            ]);
        }
    }
    set.send(output);
}

/// What `sp_server_info` says: number, name and value of each attribute.
const ATTRIBUTES: &[(i32, &str, &str)] = &[
    (1, "DBMS_NAME", "Microsoft SQL Server"),
    (2, "DBMS_VER", PRODUCT_VERSION),
    (10, "OWNER_TERM", "owner"),
    (11, "TABLE_TERM", "table"),
    (12, "MAX_OWNER_NAME_LENGTH", "128"),
    (13, "TABLE_LENGTH", "128"),
    (14, "MAX_QUAL_LENGTH", "128"),
    (15, "COLUMN_LENGTH", "128"),
    (16, "IDENTIFIER_CASE", "MIXED"),
    (17, "TX_ISOLATION", "2"),
    (18, "COLLATION_SEQ", "charset=iso_1 sort_order=nocase_iso charset_num=1 sort_order_num=52"),
    (19, "SAVEPOINT_SUPPORT", "Y"),
    (20, "MULTI_RESULT_SETS", "Y"),
    (22, "ACCESSIBLE_TABLES", "Y"),
    (100, "USERID_LENGTH", "128"),
    (101, "QUALIFIER_TERM", "database"),
    (102, "NAMED_TRANSACTIONS", "Y"),
    (103, "SPROC_AS_LANGUAGE", "Y"),
    (104, "ACCESSIBLE_SPROC", "Y"),
    (105, "MAX_INDEX_COLS", "16"),
    (106, "RENAME_TABLE", "Y"),
    (107, "RENAME_COLUMN", "Y"),
    (108, "DROP_COLUMN", "Y"),
    (109, "INCREASE_COLUMN_LENGTH", "Y"),
    (110, "DDL_IN_TRANSACTION", "Y"),
    (111, "DESCENDING_INDEXES", "Y"),
    (112, "SP_RENAME", "Y"),
    (113, "REMOTE_SPROC", "N"),
];

/// `sp_server_info`: what the server is and can do.
pub(super) fn server_info(arguments: &Arguments<'_>, output: &mut dyn Output) {
    let mut set =
        ResultSet::new(&[("attribute_id", SqlType::Int), ("attribute_name", text(60)), ("attribute_value", text(255))]);
    let wanted: Option<i32> = arguments.text(0).and_then(|number| number.parse().ok());
    for (number, name, value) in ATTRIBUTES {
        if wanted.is_none_or(|wanted| wanted == *number) {
            set.push(vec![Value::Int(*number), string(*name), string(*value)]);
        }
    }
    set.send(output);
}

/// `sp_tablecollations_100`: the collations of a table's columns, which bulk loads ask for.
pub(super) fn table_collations(arguments: &Arguments<'_>, context: &ExecutionContext, output: &mut dyn Output) {
    let mut set = ResultSet::new(&[
        ("colid", SqlType::Int),
        ("name", NAME),
        ("tds_collation", SqlType::Binary(5)),
        ("collation", NAME),
    ]);
    let name = arguments.text(0).unwrap_or_default();
    let parts = crate::names::parts(&name);
    let catalog = context.catalog();
    let found = parts.and_then(|parts| {
        if parts.name.starts_with('#') {
            return context.temporary_table(&parts.name);
        }
        let schema = parts.schema.unwrap_or_else(|| pikepole_engine::DEFAULT_SCHEMA.to_owned());
        catalog.definitions().table(&schema, &parts.name).cloned()
    });
    for (place, column) in found.iter().flat_map(|table| table.columns.iter().enumerate()) {
        let has = column.ty.is_string();
        set.push(vec![
            Value::Int(column.number(place)),
            string(&column.name),
            if has { Value::Bin(column.collation.wire_bytes().to_vec()) } else { Value::Null },
            if has { string(column.collation.name()) } else { Value::Null },
        ]);
    }
    set.send(output);
}

/// What `sp_describe_first_result_set` says of a text.
///
/// # Errors
/// What is wrong with the text.
pub(crate) fn described_columns(
    sql: &str,
    declared: &str,
    context: &ExecutionContext,
    host: &SessionHost,
) -> Result<ResultSet, SqlError> {
    Ok(described(columns_of_text(sql, declared, context, host)?, context))
}

/// The columns of a text's first result; None: it gives none that is known before it runs.
///
/// # Errors
/// What is wrong with the text.
pub(super) fn columns_of_text(
    sql: &str,
    declared: &str,
    context: &ExecutionContext,
    host: &SessionHost,
) -> Result<Option<Vec<ColumnInfo>>, SqlError> {
    pikepole_query::first_result_set(sql, declared, context, host).map_err(|errors| {
        let first = errors.into_iter().next();
        first.unwrap_or_else(SqlError::batch_not_analyzed)
    })
}

/// What `sp_describe_first_result_set` says of columns.
pub(super) fn described(columns: Option<Vec<ColumnInfo>>, context: &ExecutionContext) -> ResultSet {
    let mut set = ResultSet::new(&[
        ("is_hidden", SqlType::Bit),
        ("column_ordinal", SqlType::Int),
        ("name", NAME),
        ("is_nullable", SqlType::Bit),
        ("system_type_id", SqlType::Int),
        ("system_type_name", text(256)),
        ("max_length", SMALL),
        ("precision", SqlType::TinyInt),
        ("scale", SqlType::TinyInt),
        ("collation_name", NAME),
        ("user_type_id", SqlType::Int),
        ("user_type_database", NAME),
        ("user_type_schema", NAME),
        ("user_type_name", NAME),
        ("assembly_qualified_type_name", text(4000)),
        ("xml_collection_id", SqlType::Int),
        ("xml_collection_database", NAME),
        ("xml_collection_schema", NAME),
        ("xml_collection_name", NAME),
        ("is_xml_document", SqlType::Bit),
        ("is_case_sensitive", SqlType::Bit),
        ("is_fixed_length_clr_type", SqlType::Bit),
        ("source_server", NAME),
        ("source_database", NAME),
        ("source_schema", NAME),
        ("source_table", NAME),
        ("source_column", NAME),
        ("is_identity_column", SqlType::Bit),
        ("is_part_of_unique_key", SqlType::Bit),
        ("is_updateable", SqlType::Bit),
        ("is_computed_column", SqlType::Bit),
        ("is_sparse_column_set", SqlType::Bit),
        ("ordinal_in_order_by_list", SMALL),
        ("order_by_list_length", SMALL),
        ("order_by_is_descending", SMALL),
        ("tds_type_id", SqlType::Int),
        ("tds_length", SqlType::Int),
        ("tds_collation_id", SqlType::Int),
        ("tds_collation_sort_id", SqlType::TinyInt),
    ]);
    for (place, column) in columns.into_iter().flatten().enumerate() {
        let (ty, collation) = (column.ty, column.collated.shown());
        let clr = if let SqlType::Clr(clr) = ty { Some(clr) } else { None };
        let of_text = |value: Value| if ty.is_string() { value } else { Value::Null };
        let (system_type_id, system_type_name) = system_type(&column);
        let tds_type = column.second_name().map_or(ty.system_type_id(), |second| second.system_type_id);
        let mut row = vec![
            Value::Bit(false),
            Value::Int(place as i32 + 1),
            if column.name.is_empty() { Value::Null } else { string(&column.name) },
            Value::Bit(column.nullable),
            Value::Int(system_type_id.into()),
            clr.map_or(string(system_type_name), |_| Value::Null),
            Value::SmallInt(ty.max_length()),
            Value::TinyInt(ty.precision()),
            Value::TinyInt(ty.scale()),
            of_text(string(collation.name())),
        ];
        row.extend(match column.user_type {
            Some(id) => alias_type(id, context),
            None => user_type(clr),
        });
        row.extend(std::iter::repeat_n(Value::Null, 4));
        let is_case_sensitive = ty.is_string() && collation.is_case_sensitive();
        row.extend([Value::Bit(false), Value::Bit(is_case_sensitive), Value::Bit(false)]);
        row.extend(std::iter::repeat_n(Value::Null, 5));
        let is = |provenance| Value::Bit(column.provenance == provenance);
        row.extend([is(Provenance::Identity), Value::Null]);
        row.extend([is(Provenance::Stored), is(Provenance::Computed), Value::Bit(false)]);
        row.extend(std::iter::repeat_n(Value::Null, 3));
        row.extend([Value::Int(tds_type.into()), Value::Int(tds_length(&ty))]);
        row.extend([Value::Int(collation.wire_info() as i32), Value::TinyInt(collation.sort_order())].map(of_text));
        set.push(row);
    }
    set
}

/// The number and the name of a column's system type, that of a rowversion by the older name.
fn system_type(column: &ColumnInfo) -> (u8, String) {
    const ROWVERSION: u8 = 189;
    let ty = column.ty;
    match column.second_name() {
        Some(second) => (second.system_type_id, ty.to_string().replacen(ty.name(), second.name, 1)),
        None if column.provenance == Provenance::RowVersion => (ROWVERSION, "timestamp".to_owned()),
        None => (ty.system_type_id(), ty.to_string()),
    }
}

/// The length of a type's values in the protocol.
pub(super) fn tds_length(ty: &SqlType) -> i32 {
    /// What the protocol has where a length has no limit.
    const NO_LIMIT: i32 = 0xFFFF;
    match ty {
        SqlType::Text | SqlType::Image => i32::MAX,
        SqlType::NText => i32::MAX - 1,
        _ if ty.declared_length() == Some(Length::Max) => NO_LIMIT,
        _ => ty.max_length().into(),
    }
}

/// The same of an alias type, or of `sysname`: its number, its database, schema and name; it has no class.
fn alias_type(id: i32, context: &ExecutionContext) -> [Value; 5] {
    let catalog = context.catalog();
    let names = match SecondName::by_id(id) {
        Some(second) => Some(("sys", second.name)),
        None => catalog.definitions().user_type_by_id(id).map(|own| (own.schema.as_str(), own.name.as_str())),
    };
    let Some((schema, name)) = names else { return [const { Value::Null }; 5] };
    [Value::Int(id), string(context.database().name()), string(schema), string(name), Value::Null]
}

/// What `sp_describe_first_result_set` says of a type that is no name of a type that holds values by itself: its number, its database,
/// schema and name, and its class.
fn user_type(clr: Option<ClrType>) -> [Value; 5] {
    let Some(clr) = clr else { return [const { Value::Null }; 5] };
    [Value::Int(clr.user_type_id()), string("master"), string("sys"), string(clr.name()), string(clr.qualified_name())]
}
