//! `sys.extended_properties` and `fn_listextendedproperty`, and finding what a property is about by types and names.

use super::Kind::{Int, Name, Text, TinyInt, Variant};
use super::Nullable::{No, Yes};
use super::columns::column_number;
use super::{Function, Rows, Source, View};
use pikepole_engine::{
    Catalog, DEFAULT_SCHEMA, ExtendedProperty, Filegroup, Module, Object, PropertyHolder, PropertyPart, PropertyValue,
    Schema, Table, UserType,
};
use pikepole_query::declared_names;
use pikepole_types::{Length, SqlError, SqlType, Value};
use std::sync::Arc;

/// The longest value of a property.
pub(crate) const VALUE_BYTES_MAX: usize = 7_500;

pub(super) const VIEWS: &[View] = &[View {
    schema: "sys",
    name: "extended_properties",
    columns: &[
        ("class", TinyInt, No),
        ("class_desc", Text(60), Yes),
        ("major_id", Int, No),
        ("minor_id", Int, No),
        ("name", Name, No),
        ("value", Variant, Yes),
    ],
    rows: extended_properties,
}];

pub(super) const FUNCTIONS: &[Function] = &[Function {
    view: View {
        schema: "sys",
        name: "fn_listextendedproperty",
        columns: &[("objtype", Name, Yes), ("objname", Name, Yes), ("name", Name, No), ("value", Variant, Yes)],
        rows: list,
    },
    parameters: &[Name, Name, Name, Name, Name, Name, Name],
}];

const FILEGROUP: &str = "FILEGROUP";
const FILE: &str = "LOGICAL FILE NAME";
const TYPE: &str = "TYPE";
const TABLE_TYPE: &str = "TABLE_TYPE";
const COLLECTION: &str = "XML SCHEMA COLLECTION";
const PARTITION_FUNCTION: &str = "PARTITION FUNCTION";
const PARTITION_SCHEME: &str = "PARTITION SCHEME";

/// The types of each level: the database's, a schema's or a filegroup's, and the parts of what is in a schema. Of the last
/// ones of each level there are none here, whatever name is given.
const TYPES: [&[&str]; 3] = [
    &[
        "SCHEMA",
        "USER",
        "TRIGGER",
        FILEGROUP,
        TYPE,
        PARTITION_FUNCTION,
        PARTITION_SCHEME,
        "ASSEMBLY",
        "CONTRACT",
        "EVENT NOTIFICATION",
        "MESSAGE TYPE",
        "PLAN GUIDE",
        "REMOTE SERVICE BINDING",
        "ROUTE",
        "SERVICE",
    ],
    &[
        "TABLE",
        "VIEW",
        "PROCEDURE",
        "FUNCTION",
        "SEQUENCE",
        "SYNONYM",
        TYPE,
        TABLE_TYPE,
        COLLECTION,
        FILE,
        "AGGREGATE",
        "DEFAULT",
        "QUEUE",
        "RULE",
    ],
    &["COLUMN", "INDEX", "CONSTRAINT", "TRIGGER", "PARAMETER", "EVENT NOTIFICATION"],
];

/// The types and names that lead to what has properties; no name stands for all of the type.
pub(crate) struct Path {
    levels: Vec<(&'static str, Option<String>)>,
}

/// Something that properties are given to.
pub(crate) struct Place {
    /// Its type as the path has it; none for the database.
    kind: Option<&'static str>,
    name: Option<String>,
    pub(crate) holder: PropertyHolder,
    pub(crate) part: PropertyPart,
}

impl Place {
    fn new(kind: &'static str, name: &str, holder: PropertyHolder, part: PropertyPart) -> Place {
        Place { kind: Some(kind), name: Some(name.to_owned()), holder, part }
    }
}

fn fits(wanted: Option<&str>, name: &str) -> bool {
    wanted.is_none_or(|wanted| wanted.to_lowercase() == name.to_lowercase())
}

impl Path {
    /// A path of types and names, the highest level first. None: a type that is none of its level, a name without a type, or a
    /// level below one without a name.
    pub(crate) fn of(given: [(Option<String>, Option<String>); 3]) -> Option<Path> {
        let mut levels: Vec<(&'static str, Option<String>)> = Vec::new();
        for (at, (kind, name)) in given.into_iter().enumerate() {
            let Some(kind) = kind else {
                if name.is_some() {
                    return None;
                }
                continue;
            };
            if levels.len() < at || levels.last().is_some_and(|(_, name)| name.is_none()) {
                return None;
            }
            let kind = TYPES[at].iter().find(|known| known.eq_ignore_ascii_case(&kind))?;
            levels.push((kind, name));
        }
        Some(Path { levels })
    }

    /// Whether its last level stands for all of a type.
    pub(crate) fn is_open(&self) -> bool {
        self.levels.last().is_some_and(|(_, name)| name.is_none())
    }

    /// What errors call what it leads to.
    pub(crate) fn title(&self) -> String {
        let names: Vec<&str> = self.levels.iter().filter_map(|(_, name)| name.as_deref()).collect();
        if names.is_empty() { "object specified".to_owned() } else { names.join(".") }
    }

    /// What it leads to in a database. Schemas of the system have no properties.
    pub(crate) fn places(&self, catalog: &Catalog, database: &str) -> Vec<Place> {
        let mut levels = self.levels.iter().map(|(kind, name)| (*kind, name.as_deref()));
        let Some((kind, name)) = levels.next() else {
            return vec![Place { kind: None, name: None, holder: PropertyHolder::Database, part: PropertyPart::Whole }];
        };
        let is_own = |schema: &&Schema| is_own(schema) && fits(name, &schema.name);
        if kind == FILEGROUP {
            return in_filegroups((database, catalog), name, levels.next());
        }
        let Some(within) = levels.next() else { return in_database(catalog, kind, name) };
        if !matches!(kind, "SCHEMA" | "USER") {
            return Vec::new();
        }
        let schemas = catalog.schemas().map(AsRef::as_ref).filter(is_own);
        let part = levels.next();
        schemas.flat_map(|schema| in_schema(catalog, schema, within, part)).collect()
    }
}

/// Tells if a schema is none of the system's.
fn is_own(schema: &Schema) -> bool {
    !matches!(schema.schema_id, 3 | 4)
}

/// Things of a type that a database has in no schema.
fn in_database(catalog: &Catalog, kind: &'static str, name: Option<&str>) -> Vec<Place> {
    let found: Vec<(PropertyHolder, &str)> = match kind {
        "SCHEMA" => {
            let own = catalog.schemas().map(AsRef::as_ref).filter(|schema| is_own(schema));
            own.map(|own| (PropertyHolder::Schema(own.schema_id), own.name.as_str())).collect()
        }
        "USER" => catalog.users().iter().map(|own| (PropertyHolder::Principal(own.id), own.name.as_str())).collect(),
        "TRIGGER" => {
            let own = catalog.definition_triggers().map(|trigger| &trigger.module);
            own.map(|own| (PropertyHolder::Object(own.object_id), own.name.as_str())).collect()
        }
        // As types were named before there were schemas: those of dbo.
        TYPE => {
            let own = catalog.user_types().filter(|own| own.schema.eq_ignore_ascii_case(DEFAULT_SCHEMA));
            own.map(|own| (PropertyHolder::Type(own.user_type_id), own.name.as_str())).collect()
        }
        PARTITION_FUNCTION => {
            let own = catalog.partition_functions();
            own.map(|own| (PropertyHolder::Object(own.function_id), own.name.as_str())).collect()
        }
        PARTITION_SCHEME => {
            let own = catalog.partition_schemes();
            own.map(|own| (PropertyHolder::Object(own.data_space_id), own.name.as_str())).collect()
        }
        _ => Vec::new(),
    };
    let found = found.into_iter().filter(|(_, own)| fits(name, own));
    found.map(|(holder, name)| Place::new(kind, name, holder, PropertyPart::Whole)).collect()
}

/// The filegroups of a name, or the files of a name in them.
fn in_filegroups(
    (database, catalog): (&str, &Catalog),
    name: Option<&str>,
    file: Option<(&'static str, Option<&str>)>,
) -> Vec<Place> {
    let found = catalog.filegroups().filter(|own| fits(name, &own.name));
    let places = |own: &Arc<Filegroup>| match file {
        None => {
            let part = PropertyPart::Filegroup(own.data_space_id);
            vec![Place::new(FILEGROUP, &own.name, PropertyHolder::Database, part)]
        }
        Some((FILE, name)) => {
            let files = catalog.files().filter(|file| file.filegroup == own.data_space_id);
            let named = files.map(|file| (file.file_id, file.name_in(database)));
            let meant = named.filter(|(_, own)| fits(name, own));
            meant.map(|(id, own)| Place::new(FILE, &own, PropertyHolder::Database, PropertyPart::File(id))).collect()
        }
        Some(_) => Vec::new(),
    };
    found.flat_map(places).collect()
}

fn is_of_type(object: &Object, kind: &str) -> bool {
    match object {
        Object::Table(_) => kind == "TABLE",
        Object::View(_) => kind == "VIEW",
        Object::Procedure(_) => kind == "PROCEDURE",
        Object::Function(_) => kind == "FUNCTION",
        Object::Sequence(_) => kind == "SEQUENCE",
        Object::Synonym(_) => kind == "SYNONYM",
        Object::Trigger(_) | Object::SecurityPolicy(_) => false,
    }
}

/// What is in a schema under a type and a name, or the parts of it.
fn in_schema(
    catalog: &Catalog,
    schema: &Schema,
    (kind, name): (&'static str, Option<&str>),
    part: Option<(&'static str, Option<&str>)>,
) -> Vec<Place> {
    if matches!(kind, TYPE | TABLE_TYPE | COLLECTION) {
        return types(catalog, schema, (kind, name), part);
    }
    let own = catalog.objects().filter(|object| {
        object.schema_id() == schema.schema_id && is_of_type(object, kind) && fits(name, object.name())
    });
    match part {
        None => own
            .map(|object| {
                Place::new(kind, object.name(), PropertyHolder::Object(object.object_id()), PropertyPart::Whole)
            })
            .collect(),
        Some((kind, name)) => {
            let mut places: Vec<Place> = own.flat_map(|object| parts(catalog, object, kind)).collect();
            places.retain(|place| place.name.as_deref().is_some_and(|own| fits(name, own)));
            places
        }
    }
}

/// The types and collections of a schema, or the columns of table types.
fn types(
    catalog: &Catalog,
    schema: &Schema,
    (kind, name): (&'static str, Option<&str>),
    part: Option<(&'static str, Option<&str>)>,
) -> Vec<Place> {
    let own: Vec<&UserType> = if kind == COLLECTION {
        catalog.schema_collections().map(AsRef::as_ref).collect()
    } else {
        catalog.user_types().map(AsRef::as_ref).filter(|own| kind == TYPE || own.table().is_some()).collect()
    };
    let own = own.into_iter().filter(|own| own.schema_id == schema.schema_id && fits(name, &own.name));
    let holder = |own: &UserType| PropertyHolder::Type(own.user_type_id);
    match part {
        None => own.map(|own| Place::new(kind, &own.name, holder(own), PropertyPart::Whole)).collect(),
        Some(("COLUMN", name)) if kind == TABLE_TYPE => {
            let columns = own.flat_map(|own| {
                let columns = own.table().into_iter().flat_map(|table| table.columns.iter().enumerate());
                columns.map(move |(at, column)| (holder(own), at, column.name.as_str()))
            });
            let columns = columns.filter(|(.., own)| fits(name, own));
            columns.map(|(holder, at, name)| Place::new("COLUMN", name, holder, PropertyPart::Column(at))).collect()
        }
        Some(_) => Vec::new(),
    }
}

/// The parts of an object that are of a type.
fn parts(catalog: &Catalog, object: &Object, kind: &'static str) -> Vec<Place> {
    if kind == "TRIGGER" {
        let place = |id, name: &str| Place::new(kind, name, PropertyHolder::Object(id), PropertyPart::Whole);
        let triggers = catalog.triggers_of(object.object_id());
        return triggers.map(|trigger| place(trigger.module.object_id, &trigger.module.name)).collect();
    }
    if let Object::View(module) | Object::Function(module) | Object::Procedure(module) = object {
        return parts_of_module(module, kind);
    }
    let Object::Table(table) = object else { return Vec::new() };
    let place =
        |(name, part): (&str, PropertyPart)| Place::new(kind, name, PropertyHolder::Object(table.object_id), part);
    match kind {
        "COLUMN" => {
            let columns = table.columns.iter().enumerate();
            columns.map(|(at, column)| place((&column.name, PropertyPart::Column(at)))).collect()
        }
        "INDEX" => {
            let indexes = table.indexes.iter();
            indexes.map(|index| place((&index.name, PropertyPart::Index(index.index_id)))).collect()
        }
        "CONSTRAINT" => constraints(table).map(|(name, id)| place((name, PropertyPart::Constraint(id)))).collect(),
        _ => Vec::new(),
    }
}

/// The columns or the parameters of a module.
fn parts_of_module(module: &Module, kind: &'static str) -> Vec<Place> {
    let holder = PropertyHolder::Object(module.object_id);
    let place = |name: &str, part| Place::new(kind, name, holder, part);
    match kind {
        "COLUMN" if module.columns.is_empty() => {
            let columns = declared_names(&module.text).columns;
            columns.iter().enumerate().map(|(at, name)| place(name, PropertyPart::Column(at))).collect()
        }
        "COLUMN" => {
            let columns = module.columns.iter().enumerate();
            columns.map(|(at, column)| place(&column.name, PropertyPart::Column(at))).collect()
        }
        "PARAMETER" => {
            let parameters = declared_names(&module.text).parameters;
            parameters.iter().zip(1..).map(|(name, id)| place(name, PropertyPart::Parameter(id))).collect()
        }
        _ => Vec::new(),
    }
}

/// The names and object ids of a table's constraints.
fn constraints(table: &Table) -> impl Iterator<Item = (&str, i32)> {
    let keys = table.indexes.iter().filter(|index| index.constraint);
    let keys = keys.map(|index| (index.name.as_str(), index.constraint_id));
    let defaults = table.columns.iter().filter_map(|column| column.default.as_ref());
    let defaults = defaults.map(|default| (default.name.as_str(), default.object_id));
    let checks = table.checks.iter().map(|check| (check.name.as_str(), check.object_id));
    let foreign = table.foreign_keys.iter().map(|key| (key.name.as_str(), key.object_id));
    keys.chain(defaults).chain(checks).chain(foreign)
}

/// Class, its name, and the two numbers under which the view shows a property.
fn shown(catalog: &Catalog, holder: PropertyHolder, part: PropertyPart) -> (i32, &'static str, i32, i32) {
    const OBJECT: (i32, &str) = (1, "OBJECT_OR_COLUMN");
    let ((class, name), major, minor) = match (holder, part) {
        (PropertyHolder::Database, PropertyPart::Filegroup(id)) => ((20, "DATASPACE"), id, 0),
        (PropertyHolder::Database, PropertyPart::File(id)) => ((22, "DATABASE_FILE"), id, 0),
        (PropertyHolder::Database, _) => ((0, "DATABASE"), 0, 0),
        (PropertyHolder::Schema(id), _) => ((3, "SCHEMA"), id, 0),
        (PropertyHolder::Principal(id), _) => ((4, "DATABASE_PRINCIPAL"), id, 0),
        (PropertyHolder::Type(id), PropertyPart::Column(at)) => ((8, "TYPE_COLUMN"), id, at as i32 + 1),
        (PropertyHolder::Type(id), _) => ((6, "TYPE"), id, 0),
        (PropertyHolder::Object(id), _) if is_partition_function(catalog, id) => ((21, "PARTITION_FUNCTION"), id, 0),
        (PropertyHolder::Object(id), _) if is_partition_scheme(catalog, id) => ((20, "DATASPACE"), id, 0),
        (PropertyHolder::Object(id), PropertyPart::Whole) => (OBJECT, id, 0),
        (PropertyHolder::Object(id), PropertyPart::Column(at)) => (OBJECT, id, column_number(catalog, id, at)),
        (PropertyHolder::Object(id), PropertyPart::Index(index_id)) => ((7, "INDEX"), id, index_id),
        (PropertyHolder::Object(_), PropertyPart::Constraint(id)) => (OBJECT, id, 0),
        (PropertyHolder::Object(id), PropertyPart::Parameter(number)) => ((2, "PARAMETER"), id, number),
        (PropertyHolder::Object(id), PropertyPart::Filegroup(_) | PropertyPart::File(_)) => (OBJECT, id, 0),
    };
    (class, name, major, minor)
}

fn is_partition_function(catalog: &Catalog, id: i32) -> bool {
    catalog.partition_functions().any(|own| own.function_id == id)
}

fn is_partition_scheme(catalog: &Catalog, id: i32) -> bool {
    catalog.partition_schemes().any(|own| own.data_space_id == id)
}

/// Tells if properties that an object's number stands for are those of a partition function or scheme.
pub(crate) fn is_of_partitions(catalog: &Catalog, id: i32) -> bool {
    is_partition_function(catalog, id) || is_partition_scheme(catalog, id)
}

fn is_collection(catalog: &Catalog, id: i32) -> bool {
    catalog.user_type_by_id(id).is_some_and(|own| own.is_collection())
}

/// The style that texts of a type have which are read again without loss.
fn style(ty: &SqlType) -> Option<i32> {
    match ty {
        SqlType::Float | SqlType::Real => Some(3),
        SqlType::Money | SqlType::SmallMoney => Some(2),
        SqlType::Binary(_) | SqlType::VarBinary(_) => Some(1),
        ty if ty.is_date_or_time() => Some(126),
        _ => None,
    }
}

/// A value of the type sql_variant as it is stored.
///
/// # Errors
/// What a conversion to text reports.
pub(crate) fn stored_value(value: Option<Value>) -> Result<PropertyValue, SqlError> {
    let Some(Value::Variant(variant)) = value else { return Ok(PropertyValue { text: None, ty: None }) };
    let (ty, value) = (*variant.ty(), variant.value());
    let text = pikepole_types::convert(value, &ty, &SqlType::NVarChar(Length::Max), style(&ty))?;
    Ok(PropertyValue { text: text.as_str().map(str::to_owned), ty: Some(ty) })
}

/// A property's value. A text without a type that is too long for an `nvarchar` of as many bytes as a value may have was given as
/// `varchar`.
fn shown_value(property: &ExtendedProperty) -> Value {
    let Some(text) = &property.value else { return Value::Null };
    if let Some(ty) = property.ty {
        let text = Value::from(text.as_str());
        let value = pikepole_types::convert(&text, &SqlType::NVarChar(Length::Max), &ty, style(&ty));
        return value.map_or(Value::Null, |value| super::in_variant(ty, value));
    }
    let is_wide = text.encode_utf16().count() <= VALUE_BYTES_MAX / 2;
    let ty = if is_wide { SqlType::NVarChar(Length::Limit(4000)) } else { SqlType::VarChar(Length::Limit(8000)) };
    super::in_variant(ty, Value::from(text.as_str()))
}

fn extended_properties(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let row = |holder: PropertyHolder, property: &ExtendedProperty| {
        let (class, class_name, major, minor) = match holder {
            PropertyHolder::Type(id) if is_collection(source.catalog, id) => (10, "XML_SCHEMA_COLLECTION", id, 0),
            holder => shown(source.catalog, holder, property.part),
        };
        view.row()
            .integer("class", class)
            .text("class_desc", class_name)
            .integer("major_id", major)
            .integer("minor_id", minor)
            .text("name", &property.name)
            .value("value", shown_value(property))
            .done()
    };
    let all = source.catalog.properties();
    Ok(all.flat_map(|own| own.entries.iter().map(|property| row(own.holder, property))).collect())
}

/// What a path leads to that has properties; a wrong path leads nowhere.
fn list(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    // 'default' in quotes says the same as the word, and blanks at the end say nothing.
    let text = |at: usize| {
        let text = source.arguments.get(at).and_then(Value::as_str).map(|text| text.trim_end_matches(' '));
        text.filter(|text| !text.eq_ignore_ascii_case("default")).map(str::to_owned)
    };
    let wanted = text(0);
    let Some(path) = Path::of([(text(1), text(2)), (text(3), text(4)), (text(5), text(6))]) else {
        return Ok(Rows::new());
    };
    let mut rows = Rows::new();
    for place in path.places(source.catalog, source.database.name()) {
        let Some(own) = source.catalog.properties_of(place.holder) else { continue };
        let entries = own.entries.iter().filter(|entry| entry.part == place.part);
        rows.extend(entries.filter(|entry| fits(wanted.as_deref(), &entry.name)).map(|entry| {
            view.row()
                .text_if("objtype", place.kind)
                .text_if("objname", place.name.as_deref())
                .text("name", &entry.name)
                .value("value", shown_value(entry))
                .done()
        }));
    }
    Ok(rows)
}
