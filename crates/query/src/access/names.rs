//! Where names lead: the definitions of the session's database, and from there those of others; synonyms; `##t` in tempdb.

use std::borrow::Cow;
use std::sync::Arc;

use super::{CatalogStamp, Table};
use crate::bulk::{FormatFile, FormatFiles};
use crate::expression::Fault;
use pikepole_contention::sync::Mutex;
use pikepole_contention::sync::atomic::{AtomicBool, Ordering};
use pikepole_engine::{
    self as engine, Catalog, Database, Module, Residence, Server, TEMPDB, TemporaryEntry, TemporaryTables, View,
};
use pikepole_tsql::{DataType, Name, ObjectName, ParseOptions};
use pikepole_types::{Collation, SqlError};

/// The error of a database that is not there.
const DATABASE_UNKNOWN: i32 = 911;

/// A database that a plan uses beside the session's own, and the version of its catalog that it was bound against.
pub(crate) type OtherStamp = (i32, u64);

/// The definitions of a database as one transaction sees them, and the way from there to those of other databases.
#[derive(Clone)]
pub struct CatalogView {
    pub(crate) database: Arc<Database>,
    pub(crate) catalog: Arc<Catalog>,
    around: Arc<Around>,
    /// The session's temporary tables, when it has had any, and the nest level that their names are looked up at.
    temporary: Option<Arc<TemporaryTables>>,
    level: i32,
    /// The session's format files, when it can read some.
    format_files: Option<Arc<FormatFiles>>,
    /// Names without a schema are looked up in this one before `dbo`.
    default_schema: Option<Arc<str>>,
    /// ANSI_NULLS of the text whose names are looked up: OFF, `= NULL` and a variable that is NULL are found where NULL is.
    pub(crate) ansi_nulls: bool,
    /// QUOTED_IDENTIFIER of the module whose names are looked up: how its text is read.
    pub(crate) quoted_identifier: bool,
    /// NO_BROWSETABLE of the text whose names are looked up; a module's queries do without.
    pub(crate) browses: bool,
}

/// What the views have in common that names of one statement are looked up in.
struct Around {
    server: Arc<Server>,
    /// The session's database.
    own: i32,
    /// Catalogs of other databases that the session's transaction has changed.
    changed: Vec<(i32, Arc<Catalog>)>,
    /// Whether a temporary table was found.
    found_temporary: AtomicBool,
    /// The other databases that names were found in.
    others: Mutex<Vec<OtherStamp>>,
}

/// Where the name of an object leads to: the definitions of its database, its schema and its name there.
pub(crate) struct Place<'n> {
    pub(crate) view: CatalogView,
    pub(crate) schema: Cow<'n, str>,
    pub(crate) name: Cow<'n, str>,
}

impl Place<'_> {
    pub(crate) fn object(&self) -> Option<&engine::Object> {
        self.view.catalog.object(&self.schema, &self.name)
    }

    /// What a synonym at this place stands for; None: there is none.
    ///
    /// # Errors
    /// 5313 when that is not there, 470 when it is a synonym itself.
    pub(crate) fn behind<'n>(&self) -> Result<Option<Place<'n>>, Fault> {
        let Some(engine::Object::Synonym(synonym)) = self.object() else { return Ok(None) };
        let invalid = || SqlError::synonym_invalid(format!("{}.{}", synonym.schema, synonym.name));
        let base = ObjectName::read(&synonym.text).ok_or_else(invalid)?;
        let place = self.view.place_itself(&base)?.ok_or_else(invalid)?;
        let is_there = match place.object() {
            Some(engine::Object::Synonym(other)) => {
                let own = format!("{}.{}", synonym.schema, synonym.name);
                return Err(Box::new(SqlError::synonym_chain(own, format!("{}.{}", other.schema, other.name))));
            }
            Some(_) => true,
            // What the system has is in no catalog.
            None => is_system_schema(&place.schema),
        };
        if !is_there {
            return Err(Box::new(invalid()));
        }
        let (schema, name) = (place.schema.into_owned().into(), place.name.into_owned().into());
        Ok(Some(Place { view: place.view, schema, name }))
    }
}

/// A type as its name is meant where names without a schema mean this one first.
pub(crate) fn meant_type<'a>(catalog: &Catalog, schema: Option<&str>, written: &'a DataType) -> Cow<'a, DataType> {
    let own = schema.filter(|own| written.schema.is_none() && catalog.user_type(own, &written.name.text).is_some());
    match own {
        Some(own) => {
            let schema = Name { text: own.to_owned(), span: written.name.span };
            Cow::Owned(DataType { schema: Some(schema), ..written.clone() })
        }
        None => Cow::Borrowed(written),
    }
}

impl CatalogView {
    /// A view of a catalog. `changed` are catalogs of other databases, by their ids, as the transaction has changed them.
    pub fn new(
        server: &Arc<Server>,
        database: Arc<Database>,
        catalog: Arc<Catalog>,
        changed: Vec<(i32, Arc<Catalog>)>,
    ) -> CatalogView {
        let (server, own) = (Arc::clone(server), database.id());
        let around =
            Around { server, own, changed, found_temporary: AtomicBool::new(false), others: Mutex::new(Vec::new()) };
        let (around, default_schema) = (Arc::new(around), None);
        CatalogView {
            database,
            catalog,
            around,
            temporary: None,
            level: 0,
            format_files: None,
            default_schema,
            ansi_nulls: true,
            quoted_identifier: true,
            browses: false,
        }
    }

    /// The collation of texts that nothing else gives one.
    pub(crate) fn collation(&self) -> Collation {
        self.database.options().collation
    }

    /// The same view with a session's temporary tables as a call of this nest level sees them.
    pub(crate) fn with_temporary(self, temporary: Option<&Arc<TemporaryTables>>, level: i32) -> CatalogView {
        CatalogView { temporary: temporary.cloned(), level, ..self }
    }

    /// The same view for a session that can read format files.
    pub(crate) fn with_format_files(self, files: &Arc<FormatFiles>) -> CatalogView {
        CatalogView { format_files: Some(Arc::clone(files)), ..self }
    }

    /// The same view where names without a schema are looked up in this one before `dbo`.
    pub(crate) fn with_default_schema(self, schema: Option<Arc<str>>) -> CatalogView {
        CatalogView { default_schema: schema, ..self }
    }

    /// The same view for what a module of this schema names.
    /// The same for a text that is compiled with this setting of ANSI_NULLS.
    pub(crate) fn with_nulls(self, ansi_nulls: bool) -> CatalogView {
        CatalogView { ansi_nulls, ..self }
    }

    /// The same for a text that is compiled with this setting of NO_BROWSETABLE.
    pub(crate) fn with_browsing(self, browses: bool) -> CatalogView {
        CatalogView { browses, ..self }
    }

    /// The same for the text of a module.
    pub(crate) fn of_module(self, module: &Module) -> CatalogView {
        let view = self.in_schema(&module.schema).with_nulls(module.ansi_nulls);
        CatalogView { quoted_identifier: module.quoted_identifier, browses: false, ..view }
    }

    /// How the text of the module is read.
    pub(crate) fn parse_options(&self) -> ParseOptions {
        ParseOptions { quoted_identifier: self.quoted_identifier }
    }

    pub(crate) fn in_schema(self, schema: &str) -> CatalogView {
        let own = (!schema.eq_ignore_ascii_case("dbo")).then(|| schema.into());
        self.with_default_schema(own)
    }

    /// The schema that a name of this catalog means which says none.
    fn implied_schema(&self, name: &str) -> Cow<'static, str> {
        match &self.default_schema {
            Some(own) if self.catalog.object(own, name).is_some() => own.to_string().into(),
            _ => "dbo".into(),
        }
    }

    /// A type as its name is meant here: one that names no schema may be of the schema that such names mean.
    pub(crate) fn meant<'a>(&self, written: &'a DataType) -> Cow<'a, DataType> {
        meant_type(&self.catalog, self.default_schema.as_deref(), written)
    }

    /// A format file by its name.
    ///
    /// # Errors
    /// As of [`FormatFiles::of`].
    pub(crate) fn format_file(&self, name: &str) -> Result<Arc<FormatFile>, Fault> {
        self.format_files.as_deref().unwrap_or(&FormatFiles::default()).of(name)
    }

    /// Whether a format file was missing since this was last asked.
    pub(crate) fn wants_format_file(&self) -> bool {
        self.format_files.as_ref().is_some_and(|files| files.take_wanted().is_some())
    }

    /// The view of a database; None when there is no such one.
    ///
    /// # Errors
    /// 926, 927 and 942 for one that cannot be used now.
    fn of_database(&self, name: &str) -> Result<Option<CatalogView>, Fault> {
        if name.eq_ignore_ascii_case(self.database.name()) {
            return Ok(Some(self.clone()));
        }
        match self.around.server.database(name) {
            Ok(database) => Ok(self.moved(database)),
            Err(error) if error.number == DATABASE_UNKNOWN => Ok(None),
            Err(error) => Err(Box::new(error)),
        }
    }

    /// The view of the database that a table is in.
    pub(crate) fn of_table(&self, table: &Table) -> CatalogView {
        self.of_reached(&table.engine)
    }

    /// The same for a table as [`CatalogView::reached`] gives it.
    pub(crate) fn of_reached(&self, table: &engine::Table) -> CatalogView {
        let moved = match table.residence() {
            Residence::Other(id) if id != self.database.id() => {
                self.around.server.database_by_id(id).and_then(|database| self.moved(database))
            }
            _ => None,
        };
        moved.unwrap_or_else(|| self.clone())
    }

    fn moved(&self, database: Arc<Database>) -> Option<CatalogView> {
        let changed = self.around.changed.iter().find(|(id, _)| *id == database.id());
        let catalog = changed.map_or_else(|| database.current_catalog(), |(_, catalog)| Arc::clone(catalog));
        let view = CatalogView { database, catalog, ..self.clone() };
        view.note_use();
        Some(view)
    }

    /// Plans that look here are bound anew when definitions change here.
    fn note_use(&self) {
        let used = (self.database.id(), self.catalog.version());
        let mut others = self.around.others.lock().unwrap_or_else(|e| e.into_inner());
        if used.0 != self.around.own && !others.contains(&used) {
            others.push(used);
        }
    }

    /// The databases, other than the session's own, that names were found in so far.
    pub fn others(&self) -> Vec<(i32, u64)> {
        self.around.others.lock().unwrap_or_else(|e| e.into_inner()).clone()
    }

    /// A table of this catalog as the session reaches it.
    pub(crate) fn reached(&self, table: &Arc<engine::Table>) -> Arc<engine::Table> {
        if self.database.id() == self.around.own {
            return Arc::clone(table);
        }
        Arc::new(table.seen_from_elsewhere(self.database.id()))
    }

    /// Whether somebody watches definitions of the database.
    pub(crate) fn has_definition_triggers(&self) -> bool {
        self.catalog.definition_triggers().any(|trigger| !trigger.disabled)
    }

    /// The temporary table (`#t`) or table variable (`@t`) of a name.
    fn temporary_table(&self, name: &str) -> Option<Table> {
        let tables = self.temporary.as_ref()?;
        let found = if name.starts_with('@') {
            let own = tables.variable(name, self.level);
            own.map(|own| Table { readonly: own.readonly, ..Table::new(&own.table, TEMPDB) })
        } else {
            tables.table(name, self.level).map(|table| Table::new(table, TEMPDB))
        };
        if found.is_some() {
            self.around.found_temporary.store(true, Ordering::Relaxed);
        }
        found
    }

    /// The table variable of a name, as it was declared.
    pub(crate) fn table_variable(&self, name: &str) -> Option<&TemporaryEntry> {
        self.temporary.as_ref()?.variable(name, self.level)
    }

    /// The definitions themselves.
    pub fn definitions(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// The version the view is of.
    pub fn stamp(&self) -> CatalogStamp {
        let uses = self.around.found_temporary.load(Ordering::Relaxed);
        let temporary = self.temporary.as_ref().filter(|_| uses).map_or(0, |tables| tables.version());
        CatalogStamp { database: self.database.id(), version: self.catalog.version(), temporary, level: self.level }
    }

    /// Where a name leads to, and what a synonym there stands for. None: there is no such database.
    ///
    /// # Errors
    /// As [`CatalogView::place_itself`]; 5313 for a synonym of what is not there.
    pub(crate) fn place<'n>(&self, name: &'n ObjectName) -> Result<Option<Place<'n>>, Fault> {
        let Some(place) = self.place_itself(name)? else { return Ok(None) };
        match place.behind()? {
            Some(behind) => Ok(Some(behind)),
            None => Ok(Some(place)),
        }
    }

    /// Where a name leads to: the default schema or `dbo` when it says none; tempdb for `##t`. None: there is no such database.
    ///
    /// # Errors
    /// A name on a linked server is refused by name; as of [`CatalogView::of_database`].
    pub(crate) fn place_itself<'n>(&self, name: &'n ObjectName) -> Result<Option<Place<'n>>, Fault> {
        if name.server.is_some() {
            return Err(crate::errors::unsupported("A linked server"));
        }
        let database = if name.is_global_temporary() { Some(TEMPDB) } else { name.database_str() };
        let view = match database {
            Some(database) => self.of_database(database)?,
            None => Some(self.clone()),
        };
        let Some(view) = view else { return Ok(None) };
        let schema = match name.schema_str() {
            Some(schema) => schema.into(),
            None if database.is_some() => "dbo".into(),
            None => view.implied_schema(&name.name.text),
        };
        Ok(Some(Place { view, schema, name: name.name.text.as_str().into() }))
    }

    /// The table of a name.
    ///
    /// # Errors
    /// A name on a linked server is refused by name.
    pub fn table(&self, name: &ObjectName) -> Result<Option<Arc<Table>>, Fault> {
        if name.is_temporary() || name.name.text.starts_with('@') {
            let found = self.temporary_table(&name.name.text);
            return Ok(found.map(Arc::new));
        }
        let Some(place) = self.place(name)? else {
            return Ok(None);
        };
        let view = &place.view;
        let found = view.catalog.table(&place.schema, &place.name);
        Ok(found.map(|table| {
            let statistics = view.catalog.statistics_of(table.object_id).cloned();
            Arc::new(Table { statistics, ..Table::new(&view.reached(table), view.database.name()) })
        }))
    }

    /// The database, the schema and the name of what a synonym of the system's own views stands for.
    pub(crate) fn system_name(&self, name: &ObjectName) -> Result<Option<(String, String, String)>, Fault> {
        let Some(place) = self.place_itself(name)? else { return Ok(None) };
        let behind = place.behind()?;
        Ok(behind.map(|behind| {
            let (schema, name) = (behind.schema.into_owned(), behind.name.into_owned());
            (behind.view.database.name().to_owned(), schema, name)
        }))
    }

    /// The view of a name, and what the names in its text are looked up in.
    ///
    /// # Errors
    /// A name on a linked server is refused by name.
    pub fn view(&self, name: &ObjectName) -> Result<Option<(Arc<View>, CatalogView)>, Fault> {
        let Some(place) = self.place(name)? else {
            return Ok(None);
        };
        let found = place.view.catalog.view(&place.schema, &place.name).cloned();
        Ok(found.map(|view| (Arc::clone(&view), place.view.of_module(&view))))
    }
}

fn is_system_schema(schema: &str) -> bool {
    schema.eq_ignore_ascii_case("sys") || schema.eq_ignore_ascii_case("information_schema")
}
