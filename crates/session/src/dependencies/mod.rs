//! What the texts of modules, constraints and computed columns refer to.
//!
//! Nothing of it is stored: a text is parsed when somebody asks, its tree is walked once, and the names in it are looked up in the
//! catalog as it is then. So there is no dependency that is out of date, as there is in SQL Server after an object was made
//! behind what refers to it.
//!
//! ```text
//!   statements   where a name is of a table that is read, of one that is changed, of a procedure, a type, ...
//!   queries      what FROM brings: names of columns mean columns of these sources, the innermost first
//! ```
//! Columns count only where all objects that a statement names are there: otherwise nobody can say whose column a name is.

mod queries;
mod statements;

pub(crate) use statements::is_bound;

use pikepole_engine::{Catalog, DEFAULT_SCHEMA, Object, SecurityToken, Table};
use pikepole_query::ColumnInfo;
use pikepole_tsql::{DataType, Name, ObjectName, Span, TypeArguments};
use std::collections::BTreeMap;

/// The kinds of what is referred to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// A table, view, procedure, function, synonym or sequence.
    Object,
    Type,
    SchemaCollection,
    PartitionFunction,
}

/// What becomes of something that a text refers to.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Usage {
    pub(crate) selected: bool,
    pub(crate) updated: bool,
}

impl Usage {
    const SELECTED: Usage = Usage { selected: true, updated: false };
    const UPDATED: Usage = Usage { selected: false, updated: true };

    fn add(&mut self, other: Usage) {
        self.selected |= other.selected;
        self.updated |= other.updated;
    }
}

/// A column that a text refers to, by its place from 1.
#[derive(Debug, Clone)]
pub(crate) struct ColumnReference {
    pub(crate) id: i32,
    pub(crate) name: String,
    pub(crate) usage: Usage,
}

/// Something that a text refers to by a name; each way of writing the name is a reference of its own.
#[derive(Debug, Clone)]
pub(crate) struct Reference {
    pub(crate) class: Class,
    /// The name as it is written.
    pub(crate) name: ObjectName,
    /// What it means now; None: nothing, something elsewhere, or what is known only when the text runs.
    pub(crate) id: Option<i32>,
    pub(crate) usage: Usage,
    /// EXECUTE calls it.
    pub(crate) called: bool,
    /// A function, perhaps, or a method of a column that is not known.
    pub(crate) ambiguous: bool,
    /// `*` stands for its columns.
    pub(crate) select_all: bool,
    /// INSERT names none of its columns.
    pub(crate) insert_all: bool,
    /// A statement that names it cannot be bound.
    pub(crate) incomplete: bool,
    pub(crate) columns: Vec<ColumnReference>,
}

impl Reference {
    /// Whether what it means depends on the schema of who runs the text.
    pub(crate) fn is_caller_dependent(&self) -> bool {
        self.called && self.name.schema.is_none()
    }

    /// What the older views show of it: its columns, and the object itself where rows are changed and not some columns of theirs, or
    /// no column is known.
    pub(crate) fn older_rows(&self) -> impl Iterator<Item = (Option<&ColumnReference>, Usage)> {
        let changes_rows = self.usage.updated && !self.columns.iter().any(|column| column.usage.updated);
        let whole = (self.columns.is_empty() || changes_rows).then_some((None, self.usage));
        whole.into_iter().chain(self.columns.iter().map(|column| (Some(column), column.usage)))
    }

    fn is_named(&self, class: Class, name: &ObjectName) -> bool {
        let same = |a: &Option<Name>, b: &Option<Name>| match (a, b) {
            (Some(a), Some(b)) => a.is(&b.text),
            (None, None) => true,
            _ => false,
        };
        self.class == class
            && self.name.name.is(&name.name.text)
            && same(&self.name.schema, &name.schema)
            && same(&self.name.database, &name.database)
            && same(&self.name.server, &name.server)
    }
}

/// References to the same things as one each, however they were written; those that mean nothing now are left out.
pub(crate) fn merged(references: &[Reference]) -> Vec<Reference> {
    let mut all: Vec<Reference> = Vec::new();
    for reference in references.iter().filter(|reference| reference.id.is_some()) {
        match all.iter_mut().find(|known| known.class == reference.class && known.id == reference.id) {
            None => all.push(reference.clone()),
            Some(known) => {
                known.usage.add(reference.usage);
                known.select_all |= reference.select_all;
                for column in &reference.columns {
                    add_column(&mut known.columns, column.clone());
                }
            }
        }
    }
    all
}

/// Adds a column to those of its object, which are in their order there.
fn add_column(columns: &mut Vec<ColumnReference>, column: ColumnReference) {
    match columns.binary_search_by_key(&column.id, |known| known.id) {
        Ok(place) => columns[place].usage.add(column.usage),
        Err(place) => columns.insert(place, column),
    }
}

/// What names are looked up in.
#[derive(Clone, Copy)]
pub(crate) struct Lookup<'a> {
    pub(crate) catalog: &'a Catalog,
    /// Who asks: what texts they may not read is not told of.
    pub(crate) token: &'a SecurityToken,
    /// The name of the database.
    pub(crate) database: &'a str,
    /// The schema that is searched first for names of one part: that of the text's own object.
    pub(crate) schema: &'a str,
    /// The columns of the views, by their ids.
    pub(crate) view_columns: &'a BTreeMap<i32, Vec<ColumnInfo>>,
}

impl<'a> Lookup<'a> {
    fn is_here(&self, name: &ObjectName) -> bool {
        name.server.is_none() && name.database_str().is_none_or(|database| database.eq_ignore_ascii_case(self.database))
    }

    /// What `find` has of this name in its schema, or in the text's and then the default one.
    fn in_schemas<T>(&self, name: &ObjectName, find: impl Fn(&str, &str) -> Option<T>) -> Option<T> {
        if !self.is_here(name) {
            return None;
        }
        match name.schema_str() {
            Some(schema) => find(schema, &name.name.text),
            None => find(self.schema, &name.name.text).or_else(|| find(DEFAULT_SCHEMA, &name.name.text)),
        }
    }

    /// The object of a name.
    fn object(&self, name: &ObjectName) -> Option<&'a Object> {
        self.in_schemas(name, |schema, name| self.catalog.object(schema, name))
    }

    /// The names of an object's columns, in their order; None: it has none that are known.
    fn columns(&self, object: &Object) -> Option<Vec<String>> {
        match object {
            Object::Table(table) => Some(table_columns(table)),
            Object::View(view) => {
                let columns = self.view_columns.get(&view.object_id)?;
                Some(columns.iter().map(|column| column.name.clone()).collect())
            }
            _ => None,
        }
    }

    /// Whether a name is one of the system's.
    fn is_system(&self, name: &ObjectName) -> bool {
        let schema = name.schema_str();
        let is_reserved =
            |schema: &str| ["sys", "INFORMATION_SCHEMA"].iter().any(|own| schema.eq_ignore_ascii_case(own));
        schema.is_some_and(is_reserved) || crate::views::find(schema, &name.name.text).is_some()
    }
}

fn table_columns(table: &Table) -> Vec<String> {
    table.columns.iter().map(|column| column.name.clone()).collect()
}

/// A walk through one text.
pub(crate) struct Walk<'a> {
    lookup: Lookup<'a>,
    references: Vec<Reference>,
    scopes: Vec<queries::Scope>,
    /// The columns of the statement being walked: their references' places, their numbers, names and uses.
    noted: Vec<(usize, i32, String, Usage)>,
    /// The references of the statement being walked.
    touched: Vec<usize>,
    /// True once the statement being walked has named what is not there.
    unbound: bool,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(lookup: Lookup<'a>) -> Walk<'a> {
        Walk {
            lookup,
            references: Vec::new(),
            scopes: Vec::new(),
            noted: Vec::new(),
            touched: Vec::new(),
            unbound: false,
        }
    }

    /// What the text referred to.
    pub(crate) fn into_references(self) -> Vec<Reference> {
        self.references
    }

    /// The expression of a computed column, a default or a check, of this table.
    pub(crate) fn of_table(&mut self, table: &Table, part: pikepole_tsql::Part<'_>) {
        let part_of = |text: &str| Name { text: text.to_owned(), span: Span::default() };
        let name = ObjectName { schema: Some(part_of(&table.schema)), ..ObjectName::of(part_of(&table.name)) };
        self.scopes.push(queries::Scope::default());
        let reference = self.refer(Class::Object, &name, Some(table.object_id));
        self.add_source(&table.name, Some(&table.schema), Some(reference), Some(table_columns(table)));
        self.part(part);
        self.scopes.pop();
        self.end_statement();
        // The table itself is no news, only those of its columns that are read.
        self.references.retain(|found| found.id != Some(table.object_id) || !found.columns.is_empty());
    }

    /// The place of a reference, which is made when it is the first of its name.
    fn refer(&mut self, class: Class, name: &ObjectName, id: Option<i32>) -> usize {
        let known = self.references.iter().position(|known| known.is_named(class, name));
        let place = known.unwrap_or_else(|| {
            self.references.push(Reference {
                class,
                name: name.clone(),
                id,
                usage: Usage::default(),
                called: false,
                ambiguous: false,
                select_all: false,
                insert_all: false,
                incomplete: false,
                columns: Vec::new(),
            });
            self.references.len() - 1
        });
        self.touched.push(place);
        place
    }

    /// What a statement has referred to is what it says, when all of it could be found.
    fn end_statement(&mut self) {
        let unbound = std::mem::take(&mut self.unbound);
        for place in self.touched.drain(..) {
            let reference = &mut self.references[place];
            reference.incomplete |= unbound && reference.id.is_none();
        }
        for (place, id, name, usage) in self.noted.drain(..).filter(|_| !unbound) {
            add_column(&mut self.references[place].columns, ColumnReference { id, name, usage });
        }
    }

    /// A user's type, or a collection of schemas of xml. Those without a schema are in the default one.
    fn data_type(&mut self, ty: &DataType) {
        let catalog = self.lookup.catalog;
        let schema_of = |schema: &Option<Name>| schema.as_ref().map_or(DEFAULT_SCHEMA, Name::as_str).to_owned();
        if let TypeArguments::Collection(collection) = &ty.arguments {
            let found = catalog.schema_collection(&schema_of(&collection.schema), &collection.name.text);
            self.refer(Class::SchemaCollection, collection, found.map(|found| found.user_type_id));
        }
        if ty.schema.as_ref().is_some_and(|schema| schema.is("sys")) {
            return;
        }
        let name = ObjectName { schema: ty.schema.clone(), ..ObjectName::of(ty.name.clone()) };
        let id = catalog.user_type(&schema_of(&ty.schema), &ty.name.text).map(|found| found.user_type_id);
        if id.is_some() || name.schema.is_some() {
            self.unbound |= id.is_none();
            self.refer(Class::Type, &name, id);
        }
    }
}
