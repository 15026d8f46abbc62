//! `sp_help` and `sp_helpindex`: what objects and types are made of.

use super::constraint;
use super::describe::{object, type_name, viewed};
use super::odbc_types::Odbc;
use crate::host::SessionHost;
use crate::modules;
use crate::names;
use crate::result_set::{NAME, ResultSet, string, text};
use crate::security;
use crate::views;
use pikepole_engine::{Catalog, Column, DEFAULT_SCHEMA, Module, Partitioned, Table, UserTypeKind};
use pikepole_query::{ExecutionContext, Host, Output};
use pikepole_types::{Collation, Decimal, SecondName, SqlError, SqlType, Value};

/// What `sp_help` calls an object's kind.
fn kind(code: &str) -> &'static str {
    match code.trim() {
        "U" => "user table",
        "V" => "view",
        "P" => "stored procedure",
        "PK" => "primary key cns",
        "UQ" => "unique cns",
        "F" => "foreign key cns",
        "FN" => "scalar function",
        "IF" => "inline function",
        "TF" => "table function",
        "TR" => "trigger",
        "C" => "check cns",
        "SP" => "security policy",
        _ => "default cns",
    }
}

/// `sp_help`: without a name, every object and the types of users; with one, its columns, identity, indexes and constraints, or its
/// parameters.
///
/// # Errors
/// 15009 for an object that is not there.
pub(super) fn help(
    name: Option<&str>,
    host: &SessionHost,
    context: &ExecutionContext,
    output: &mut dyn Output,
) -> Result<(), SqlError> {
    let catalog = &*security::catalog(context);
    let Some(name) = name else {
        help_all(catalog, output);
        return Ok(());
    };
    let found = match object(catalog, name, context.database().name()) {
        Ok(found) => found,
        Err(missing) => {
            let set = type_of(catalog, name).ok_or(missing)?;
            set.send(output);
            return Ok(());
        }
    };
    let row = views::objects::object_rows(catalog).into_iter().find(|row| row.object_id == found.object_id);
    let mut set =
        ResultSet::new(&[("Name", NAME), ("Owner", NAME), ("Type", text(31)), ("Created_datetime", SqlType::DateTime)]);
    let created = row.as_ref().map_or(Value::Null, |row| views::datetime(row.created_us));
    let owner = owner(catalog, row.map_or(0, |row| row.schema_id));
    set.push(vec![string(&found.name), owner, string(kind(found.code)), created]);
    set.send(output);
    if let Some(table) = catalog.table_by_id(found.object_id) {
        table_columns(&table.columns, output);
        table_identity(&table.columns, output);
        return help_table(table, name, host, context, output);
    }
    if catalog.view(&found.schema, &found.name).is_some() {
        let columns = host.columns_of_view(&found.schema, &found.name, context).unwrap_or_default();
        // An identity is the table's, not the view's.
        let columns: Vec<Column> = columns.into_iter().map(|info| Column { identity: None, ..viewed(info) }).collect();
        table_columns(&columns, output);
        table_identity(&columns, output);
    }
    let modules = catalog.procedures().chain(catalog.functions());
    if let Some(module) = modules.into_iter().find(|module| module.object_id == found.object_id) {
        module_parameters(catalog, module, context.database().options().collation, output);
    }
    Ok(())
}

/// What `sp_help` says of a table behind its columns.
fn help_table(
    table: &Table,
    name: &str,
    host: &SessionHost,
    context: &ExecutionContext,
    output: &mut dyn Output,
) -> Result<(), SqlError> {
    let mut set = ResultSet::new(&[("Data_located_on_filegroup", NAME)]);
    let catalog = security::catalog(context);
    set.push(vec![data_space(&catalog, table.row_partitions(), table.row_filegroup())]);
    set.send(output);
    table_indexes(&catalog, table, name, output);
    constraint::help((name, false), context, output)?;
    let is_view = |name: &str| {
        let parts = names::parts(name);
        parts
            .is_some_and(|parts| catalog.view(parts.schema.as_deref().unwrap_or(DEFAULT_SCHEMA), &parts.name).is_some())
    };
    let bound = host.bound_references(table.object_id, context).into_iter().map(|bound| bound.name);
    let views: Vec<String> = bound.filter(|name| is_view(name)).collect();
    if views.is_empty() {
        output.message(&SqlError::no_views_bound(name));
        return Ok(());
    }
    let mut set = ResultSet::new(&[("Table is referenced by views", text(257))]);
    views.into_iter().for_each(|view| set.push(vec![string(view)]));
    set.send(output);
    Ok(())
}

/// The name of a filegroup or partition scheme.
fn data_space_name(catalog: &Catalog, partitioned: Option<Partitioned>, filegroup: i32) -> Option<&str> {
    match partitioned {
        Some(partitioned) => catalog.partition_scheme_by_id(partitioned.scheme).map(|scheme| scheme.name.as_str()),
        None => catalog.filegroup_by_id(filegroup).map(|filegroup| filegroup.name.as_str()),
    }
}

/// The same as a value.
fn data_space(catalog: &Catalog, partitioned: Option<Partitioned>, filegroup: i32) -> Value {
    data_space_name(catalog, partitioned, filegroup).map_or(Value::Null, string)
}

/// The name of the owner of a schema.
fn owner(catalog: &Catalog, schema_id: i32) -> Value {
    let schema = catalog.schema_by_id(schema_id);
    let owner = schema.and_then(|schema| catalog.users().get(schema.owner));
    owner.map_or_else(|| string("dbo"), |owner| string(&owner.name))
}

fn help_all(catalog: &Catalog, output: &mut dyn Output) {
    let mut set = ResultSet::new(&[("Name", NAME), ("Owner", NAME), ("Object_type", text(31))]);
    for row in views::objects::object_rows(catalog) {
        set.push(vec![string(row.name), owner(catalog, row.schema_id), string(kind(row.code))]);
    }
    set.send(output);
    let mut set = set_of_types("User_type");
    for own in catalog.user_types() {
        if let UserTypeKind::Alias { ty, nullable } = &own.kind {
            set.push(type_row(&own.name, ty.name(), ty, *nullable));
        }
    }
    set.send(output);
}

/// What `sp_help` says of a type of the system's or of a user's; none for one that is not there or is a table.
fn type_of(catalog: &Catalog, name: &str) -> Option<ResultSet> {
    let parts = names::parts(name)?;
    let own = catalog.user_types().find(|user_type| {
        let schema = parts.schema.as_deref().unwrap_or(DEFAULT_SCHEMA);
        user_type.name.eq_ignore_ascii_case(&parts.name) && user_type.schema.eq_ignore_ascii_case(schema)
    });
    let second = SecondName::by_name(&parts.name).filter(|_| own.is_none());
    let (shown, ty, nullable) = match (own.map(|own| (&own.name, &own.kind)), second) {
        (Some((name, UserTypeKind::Alias { ty, nullable })), _) => (name.as_str(), *ty, *nullable),
        (Some((_, UserTypeKind::Table(_) | UserTypeKind::SchemaCollection { .. })), _) => return None,
        (None, Some(second)) => (second.name, second.ty, second.nullable),
        (None, None) => {
            let ty = views::columns::TYPES.iter().find(|ty| ty.name().eq_ignore_ascii_case(&parts.name))?;
            (ty.name(), *ty, true)
        }
    };
    let stored = second.filter(|second| second.system_type_id != ty.system_type_id());
    let mut set = set_of_types("Type_name");
    set.push(type_row(shown, stored.map_or(ty.name(), |second| second.name), &ty, nullable));
    Some(set)
}

fn set_of_types(name: &str) -> ResultSet {
    ResultSet::new(&[
        (name, NAME),
        ("Storage_type", NAME),
        ("Length", SqlType::SmallInt),
        ("Prec", SqlType::Int),
        ("Scale", SqlType::Int),
        ("Nullable", text(35)),
        ("Default_name", NAME),
        ("Rule_name", NAME),
        ("Collation", NAME),
    ])
}

fn type_row(name: &str, stored: &str, ty: &SqlType, nullable: bool) -> Vec<Value> {
    let shown = Odbc::asked("sp_help_100", None).shown(ty, None);
    vec![
        string(name),
        string(stored),
        Value::SmallInt(ty.max_length()),
        Value::Int(shown.precision),
        shown.scale.map_or(Value::Null, |scale| Value::Int(scale.into())),
        string(if nullable { "yes" } else { "no" }),
        string("none"),
        string("none"),
        if ty.is_string() { string(views::columns::COLLATION) } else { Value::Null },
    ]
}

fn table_columns(columns: &[Column], output: &mut dyn Output) {
    let mut set = ResultSet::new(&[
        ("Column_name", NAME),
        ("Type", NAME),
        ("Computed", text(35)),
        ("Length", SqlType::Int),
        ("Prec", SqlType::Char(5)),
        ("Scale", SqlType::Char(5)),
        ("Nullable", text(35)),
        ("TrimTrailingBlanks", text(35)),
        ("FixedLenNullInSource", text(35)),
        ("Collation", NAME),
    ]);
    for column in columns {
        let ty = &column.ty;
        let digits = |number: u8| string(if ty.is_number() { format!("{number:<5}") } else { " ".repeat(5) });
        let is_of_bytes = ty.is_binary() || ty.is_string() && !ty.is_unicode();
        let yes_or_no = |yes: bool| if yes { "yes" } else { "no" };
        let of_bytes = |yes: bool| string(if is_of_bytes { yes_or_no(yes) } else { "(n/a)" });
        set.push(vec![
            string(&column.name),
            string(type_name(column)),
            string(yes_or_no(column.computed.is_some())),
            Value::Int(column.ty.max_length().into()),
            digits(ty.precision()),
            digits(ty.scale()),
            string(yes_or_no(column.nullable)),
            of_bytes(false),
            of_bytes(column.nullable),
            if ty.is_string() { string(column.collation.name()) } else { Value::Null },
        ]);
    }
    set.send(output);
}

/// What a table or view has for an identity column, and for one that is marked as of unique numbers, of which there are none.
fn table_identity(columns: &[Column], output: &mut dyn Output) {
    let mut set = ResultSet::new(&[
        ("Identity", NAME),
        ("Seed", SqlType::Decimal { precision: 38, scale: 0 }),
        ("Increment", SqlType::Decimal { precision: 38, scale: 0 }),
        ("Not For Replication", SqlType::Int),
    ]);
    let identity = columns.iter().find_map(|column| Some((column, column.identity?)));
    let number = |number: i64| Decimal::new(number.into(), 38, 0).map_or(Value::Null, Value::Decimal);
    set.push(match identity {
        Some((column, identity)) => {
            vec![string(&column.name), number(identity.seed), number(identity.increment), Value::Int(0)]
        }
        None => vec![string("No identity column defined."), Value::Null, Value::Null, Value::Null],
    });
    set.send(output);
    let mut set = ResultSet::new(&[("RowGuidCol", NAME)]);
    set.push(vec![string("No rowguidcol column defined.")]);
    set.send(output);
}

fn table_indexes(catalog: &Catalog, table: &Table, name: &str, output: &mut dyn Output) {
    // Indexes of xml have no statistics, which is what the procedure goes by.
    let mut indexes: Vec<_> = table.indexes.iter().filter(|index| index.xml.is_none()).collect();
    if indexes.is_empty() {
        output.message(&SqlError::object_without_indexes(name));
        return;
    }
    let mut set = ResultSet::new(&[("index_name", NAME), ("index_description", text(210)), ("index_keys", text(2126))]);
    indexes.sort_by_key(|index| index.name.to_lowercase());
    for index in indexes {
        let mut description = String::from(if index.is_clustered() { "clustered" } else { "nonclustered" });
        if index.columnstore.is_some() {
            description.push_str(" columnstore");
        }
        if index.ignores_duplicates {
            description.push_str(", ignore duplicate keys");
        }
        if index.unique {
            description.push_str(", unique");
        }
        if index.hypothetical.is_some() {
            description.push_str(", hypothetical");
        }
        match (index.primary_key, index.constraint) {
            (true, _) => description.push_str(", primary key"),
            (false, true) => description.push_str(", unique key"),
            (false, false) => {}
        }
        let space = data_space_name(catalog, index.partitioned, index.options.filegroup);
        description.push_str(&format!(" located on {}", space.unwrap_or_default()));
        let keys: Vec<String> = index
            .columns
            .iter()
            .map(|key| format!("{}{}", table.columns[key.column].name, if key.descending { "(-)" } else { "" }))
            .collect();
        set.push(vec![string(&index.name), string(description), string(keys.join(", "))]);
    }
    set.send(output);
}

/// `sp_helpindex`: the indexes of a table.
pub(super) fn help_index(name: &str, context: &ExecutionContext, output: &mut dyn Output) -> Result<(), SqlError> {
    let catalog = context.catalog();
    let catalog = catalog.definitions();
    let found = object(catalog, name, context.database().name())?;
    let Some(table) = catalog.table_by_id(found.object_id) else { return Ok(()) };
    table_indexes(catalog, table, name, output);
    Ok(())
}

fn module_parameters(catalog: &Catalog, module: &Module, collation: Collation, output: &mut dyn Output) {
    let mut set = ResultSet::new(&[
        ("Parameter_name", NAME),
        ("Type", NAME),
        ("Length", SqlType::SmallInt),
        ("Prec", SqlType::Int),
        ("Scale", SqlType::Int),
        ("Param_order", SqlType::Int),
        ("Collation", NAME),
    ]);
    let odbc = Odbc::asked("sp_help_100", None);
    for (place, parameter) in modules::parameters(catalog, module).into_iter().enumerate() {
        let ty = parameter.declared.scalar();
        let (user_type, second) = (parameter.declared.user_type(), parameter.declared.second_name());
        let name = match (user_type, second) {
            (Some(user_type), _) => user_type.name.as_str(),
            (None, Some(second)) => second.name,
            (None, None) => ty.map_or("", |ty| ty.name()),
        };
        let shown = ty.map(|ty| odbc.shown(&ty, second));
        set.push(vec![
            string(parameter.name.as_str()),
            string(name),
            Value::SmallInt(ty.map_or(-1, |ty| ty.max_length())),
            Value::Int(shown.as_ref().map_or(0, |shown| shown.precision)),
            shown.and_then(|shown| shown.scale).map_or(Value::Null, |scale| Value::Int(scale.into())),
            Value::Int(place as i32 + 1),
            if ty.is_some_and(|ty| ty.is_string()) { string(collation.name()) } else { Value::Null },
        ]);
    }
    set.send(output);
}
