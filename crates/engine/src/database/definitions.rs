//! Changing definitions: CREATE, ALTER and DROP as calls. Each is part of the caller's transaction.
//!
//! The first change takes the catalog's lock to the end of the transaction, so that one transaction changes definitions at a
//! time. What a table's change touches is locked with Sch-M: nobody else is in the table then.

use std::sync::Arc;

use pikepole_storage::{Tree, TreeCursor};
use pikepole_transaction::{Inserted, LockMode, TableLock};
use pikepole_types::{Collation, SecondName, SqlError, SqlType, Value};

use super::limits::{check_key, check_row};
use super::rebuild::RowMap;
use super::{Database, lock, now_us};
use crate::catalog::definition::{
    Column, Default, Identity, LockEscalation, Schema, StorageRef, StoredObject, TableRecord,
};
use crate::catalog::filter::{FilterOp, FilterTest, Passes};
use crate::catalog::in_memory::{HashIndex, InMemory};
use crate::catalog::index::{Index, IndexColumn};
use crate::catalog::property::PropertyHolder;
use crate::catalog::rows::{RowKind, encode, row_key};
use crate::catalog::security_policy::SecurityPolicy;
use crate::catalog::storage_options::{StorageOptions, StorageWish};
use crate::catalog::{Catalog, Object};
use crate::error::Blocked;
use crate::security::Class;
use crate::table::{Table, TableState, can_be_key, can_outgrow, constant_layout, key_bytes_max};
use crate::temporary::Residence;
use crate::transaction::{Mark, Transaction};
use pikepole_contention::sync::atomic::Ordering;

/// Columns of a table at most.
const COLUMNS_MAX: usize = 1_024;

/// A column to be made.
#[derive(Debug, Clone)]
pub struct ColumnDefinition {
    /// The name.
    pub name: String,
    /// The type.
    pub ty: SqlType,
    /// Whether it may hold NULL.
    pub nullable: bool,
    /// The default: the constraint's name, if it was given one, and the expression as T-SQL.
    pub default: Option<(Option<String>, String)>,
    /// Set for the identity column.
    pub identity: Option<Identity>,
    /// The id of the name that was written for the type: a user's, or a second one of the system's.
    pub user_type: Option<i32>,
    /// How its texts compare.
    pub collation: Collation,
}

/// What kind of index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexKind {
    /// PRIMARY KEY.
    PrimaryKey,
    /// UNIQUE, as a constraint.
    UniqueConstraint,
    /// CREATE INDEX.
    Index,
}

/// What an index can have beside its key.
#[derive(Debug, Clone, Default)]
pub struct IndexExtras {
    /// INCLUDE.
    pub included: Vec<String>,
    /// WHERE, as T-SQL.
    pub filter: Option<String>,
    /// What WHERE says: none of these columns is NULL.
    pub not_null: Vec<String>,
    /// What it says of other columns beside that; constants are of the columns' types.
    pub tests: Vec<(String, Tested)>,
    /// IGNORE_DUP_KEY.
    pub ignores_duplicates: bool,
    /// FILLFACTOR, PAD_INDEX and DATA_COMPRESSION.
    pub storage: StorageWish,
    /// HASH.
    pub hash: Option<HashIndex>,
}

/// What a filter wants of a column.
#[derive(Debug, Clone)]
pub enum Tested {
    /// NULL.
    Null,
    /// That it compares so with a constant.
    Compared(FilterOp, Value),
    /// One of these constants.
    Among(Vec<Value>),
}

/// An index to be made.
#[derive(Debug, Clone)]
pub struct IndexDefinition {
    /// The name; None: one is made up, as for constraints without a name.
    pub name: Option<String>,
    /// What kind.
    pub kind: IndexKind,
    /// No two rows may have the same key; implied by constraints.
    pub unique: bool,
    /// The table's rows are in it.
    pub clustered: bool,
    /// The columns of the key; true: descending.
    pub columns: Vec<(String, bool)>,
    /// INCLUDE, WHERE and options.
    pub extras: IndexExtras,
    /// DROP_EXISTING: it takes the place of the index of its name.
    pub replaces: bool,
}

/// A table to be made.
#[derive(Debug, Clone, Default)]
pub struct TableDefinition {
    /// The schema.
    pub schema: String,
    /// The name.
    pub name: String,
    /// The columns.
    pub columns: Vec<ColumnDefinition>,
    /// The indexes and constraints.
    pub indexes: Vec<IndexDefinition>,
    /// The number of the filegroup that `ON` names; None: the default one.
    pub filegroup: Option<i32>,
    /// That of TEXTIMAGE_ON.
    pub text_filegroup: Option<i32>,
    /// Set for an in-memory table.
    pub memory: Option<InMemory>,
}

/// Changes a table's definition but for its columns and indexes; the function given deals object ids.
pub type RecordChange<'a> =
    &'a (dyn Fn(&mut TableRecord, &mut dyn FnMut() -> i32) -> Result<(), SqlError> + Send + Sync);

impl Database {
    /// Locks the catalog for the transaction and gives a copy of it to change.
    pub(crate) async fn begin_definition(&self, tx: &mut Transaction) -> Result<(Mark, Catalog), SqlError> {
        tx.check_own_may_change()?;
        self.lock_whole(tx, &self.catalog_lock, LockMode::X).await?;
        Ok((tx.mark(), Catalog::clone(&self.catalog(tx))))
    }

    /// Locks the catalog for a definition before its names are looked up: what it decides by what it finds there is still so when
    /// it changes the catalog. The mark is for [`Database::unlock_unchanged_catalog`].
    ///
    /// # Errors
    /// As of any wait for a lock.
    pub async fn lock_catalog(&self, tx: &mut Transaction) -> Result<Mark, SqlError> {
        self.lock_whole(tx, &self.catalog_lock, LockMode::X).await?;
        Ok(tx.mark())
    }

    /// A definition has come to its end: where it has changed nothing, and the transaction no definition before, the catalog is
    /// given back.
    pub fn unlock_unchanged_catalog(&self, tx: &mut Transaction, before: Mark) {
        if tx.definitions.catalog.is_none() && tx.mark() == before {
            tx.inner.unlock(&self.catalog_lock);
        }
    }

    /// A statement was undone: where no definition of the transaction is left, the catalog is given back.
    pub(crate) fn unlock_catalog_of_undone(&self, tx: &mut Transaction) {
        if tx.definitions.catalog.is_none() {
            tx.inner.unlock(&self.catalog_lock);
        }
    }

    /// As [`Database::begin_definition`], for a change of `table`: one that is in no catalog needs no lock of it.
    pub(super) async fn begin_change(&self, tx: &mut Transaction, table: &Table) -> Result<(Mark, Catalog), SqlError> {
        if !table.residence().is_session() {
            return self.begin_definition(tx).await;
        }
        let mut catalog = Catalog::default();
        catalog.put(Object::Table(Arc::new(table.same())));
        Ok((tx.mark(), catalog))
    }

    pub(super) fn end_change(&self, tx: &mut Transaction, mark: Mark, catalog: Catalog, table: &Table) {
        if !table.residence().is_session() {
            self.end_definition(tx, mark, catalog, table.version);
        }
    }

    pub(crate) async fn lock_whole(
        &self,
        tx: &mut Transaction,
        table: &Arc<TableLock>,
        mode: LockMode,
    ) -> Result<(), SqlError> {
        self.run(tx, |tx| {
            let locked = tx.inner.try_lock(table, mode);
            locked.map_err(|stop| self.place(tx, "").stop(stop))
        })
        .await
    }

    pub(crate) fn end_definition(&self, tx: &mut Transaction, mark: Mark, mut catalog: Catalog, version: u64) {
        catalog.version = version;
        tx.see_catalog(mark, Arc::new(catalog));
    }

    pub(super) fn new_object_id(&self) -> i32 {
        self.object_id_next.fetch_add(1, Ordering::Relaxed)
    }

    /// Puts an object into the catalog's tree, in the place of the one of the same id.
    pub(crate) async fn store_object(&self, tx: &mut Transaction, object: &StoredObject) -> Result<(), SqlError> {
        let chunks = encode(object);
        let (kind, id) = (object.row_kind(), object.stored_id());
        let mut cursor = TreeCursor::new();
        for (chunk, bytes) in chunks.iter().enumerate() {
            let key = row_key(kind, id, chunk as u32);
            self.run(tx, |tx| self.try_put_row(tx, &mut cursor, &key, bytes)).await?;
        }
        self.remove_rows(tx, kind, id, chunks.len() as u32).await
    }

    fn try_put_row(
        &self,
        tx: &mut Transaction,
        cursor: &mut TreeCursor,
        key: &[u8],
        bytes: &[u8],
    ) -> Result<(), Blocked> {
        let tree = &self.catalog_tree;
        let put = || loop {
            match tx.inner.try_current(tree, key, |_| ())? {
                Some((header, ())) => {
                    if tx.inner.try_replace(tree, cursor, key, header, bytes, false)? {
                        return Ok(());
                    }
                }
                None => {
                    if tx.inner.try_insert(tree, cursor, key, bytes, false)? == Inserted::Done {
                        return Ok(());
                    }
                }
            }
        };
        let mut put = put;
        let done: Result<(), pikepole_transaction::Stop> = put();
        done.map_err(|stop| self.stopped(tx, "sys.objects", stop))
    }

    /// Removes the rows of an object from `chunk` on.
    pub(crate) async fn remove_rows(
        &self,
        tx: &mut Transaction,
        kind: RowKind,
        id: i32,
        chunk: u32,
    ) -> Result<(), SqlError> {
        let mut cursor = TreeCursor::new();
        for chunk in chunk.. {
            let key = row_key(kind, id, chunk);
            let removed = self
                .run(tx, |tx| {
                    let tree = &self.catalog_tree;
                    let mut remove = || loop {
                        let Some((header, ())) = tx.inner.try_current(tree, &key, |_| ())? else {
                            return Ok(false);
                        };
                        if tx.inner.try_delete(tree, &mut cursor, &key, header, false)? {
                            return Ok(true);
                        }
                    };
                    let removed: Result<bool, pikepole_transaction::Stop> = remove();
                    removed.map_err(|stop| self.stopped(tx, "sys.objects", stop))
                })
                .await?;
            if !removed {
                break;
            }
        }
        Ok(())
    }

    /// Makes a tree or a heap in the store; the transaction remembers it for the case that it rolls back.
    pub(super) async fn create_storage(
        &self,
        tx: &mut Transaction,
        key_bytes_max: Option<u16>,
    ) -> Result<StorageRef, SqlError> {
        let object = self.storage_next.fetch_add(1, Ordering::Relaxed);
        tx.definitions.created.push(object);
        let root = self
            .run(tx, |tx| {
                let root = match key_bytes_max {
                    Some(bytes) => Tree::create(&self.store, object, bytes.into()).map(|tree| Some(tree.root().0)),
                    None => Ok(None),
                };
                root.map_err(|stop| self.stopped(tx, "sys.objects", stop.into()))
            })
            .await?;
        Ok(StorageRef { object, root, key_bytes_max: key_bytes_max.unwrap_or(0) })
    }

    /// Gives a table whose rows are to be written anew its own place for long values, if it can have such.
    pub(super) async fn renew_overflow(&self, tx: &mut Transaction, record: &mut TableRecord) -> Result<(), SqlError> {
        record.overflow = if can_outgrow(record) { Some(self.create_storage(tx, None).await?) } else { None };
        Ok(())
    }

    /// CREATE SCHEMA, owned by this user or role.
    ///
    /// # Errors
    /// 2714 when there is one of this name.
    pub async fn create_schema(&self, tx: &mut Transaction, name: &str, owner: i32) -> Result<(), SqlError> {
        let (mark, mut catalog) = self.begin_definition(tx).await?;
        if catalog.schema(name).is_some() {
            return Err(SqlError::object_exists(name));
        }
        let schema_id = catalog.next_schema_id();
        let schema = Schema { schema_id, name: name.to_owned(), owner };
        self.store_object(tx, &StoredObject::Schema(schema.clone())).await?;
        catalog.put_schema(schema);
        self.end_definition(tx, mark, catalog, self.new_version());
        Ok(())
    }

    /// ALTER AUTHORIZATION ON SCHEMA. What was granted on the schema is forgotten.
    ///
    /// # Errors
    /// 15151 when there is none; 15150 for one of the system's.
    pub async fn set_schema_owner(&self, tx: &mut Transaction, name: &str, owner: i32) -> Result<(), SqlError> {
        let (mark, mut catalog) = self.begin_definition(tx).await?;
        let schema = catalog.schema(name).cloned().ok_or_else(|| SqlError::item_missing("find", "schema", name))?;
        if schema.schema_id <= 4 {
            return Err(SqlError::principal_cannot("alter", "schema", name));
        }
        if schema.owner == owner {
            return Ok(());
        }
        let schema = Schema { owner, ..Schema::clone(&schema) };
        self.store_object(tx, &StoredObject::Schema(schema.clone())).await?;
        self.forget_grants(tx, &mut catalog, Class::Schema, schema.schema_id).await?;
        catalog.remove_schema(name);
        catalog.put_schema(schema);
        self.end_definition(tx, mark, catalog, self.new_version());
        Ok(())
    }

    /// DROP SCHEMA.
    ///
    /// # Errors
    /// 15151 when there is none; 3729 when objects are in it.
    pub async fn drop_schema(&self, tx: &mut Transaction, name: &str) -> Result<(), SqlError> {
        let (mark, mut catalog) = self.begin_definition(tx).await?;
        let Some(schema) = catalog.schema(name).cloned().filter(|s| s.schema_id > 4) else {
            return Err(SqlError::item_missing("drop", "schema", name));
        };
        let object = catalog.objects().find(|o| o.schema_id() == schema.schema_id).map(Object::name);
        let user_type =
            || catalog.types_and_collections().find(|t| t.schema_id == schema.schema_id).map(|t| t.name.as_str());
        if let Some(within) = object.or_else(user_type) {
            return Err(SqlError::referenced_by("drop schema", name, within));
        }
        self.remove_rows(tx, RowKind::Object, -schema.schema_id, 0).await?;
        self.forget_grants(tx, &mut catalog, Class::Schema, schema.schema_id).await?;
        self.forget_properties(tx, &mut catalog, PropertyHolder::Schema(schema.schema_id)).await?;
        catalog.remove_schema(name);
        self.end_definition(tx, mark, catalog, self.new_version());
        Ok(())
    }

    /// CREATE TABLE.
    ///
    /// # Errors
    /// 2714, 2760, 2705, 8110, 1902, 1911, 1909, 1919 and their like for definitions that cannot be; 1105, 9002 when there
    /// is no room.
    pub async fn create_table(&self, tx: &mut Transaction, table: TableDefinition) -> Result<Arc<Table>, SqlError> {
        let (mark, mut catalog) = self.begin_definition(tx).await?;
        let schema = user_schema(&catalog, &table.schema)?;
        if catalog.object(&schema.name, &table.name).is_some()
            || catalog.constraint_exists(schema.schema_id, &table.name)
        {
            return Err(SqlError::object_exists(&table.name));
        }
        let table = self.build_in(tx, &catalog, &schema, &table, Residence::Database).await?;
        let version = table.version;
        self.store_object(tx, &StoredObject::Table(table.record().clone())).await?;
        catalog.put(Object::Table(table.clone()));
        self.end_definition(tx, mark, catalog, version);
        Ok(table)
    }

    /// Makes a table that is in no catalog.
    pub(crate) async fn build_table(
        &self,
        tx: &mut Transaction,
        table: &TableDefinition,
        residence: Residence,
    ) -> Result<Arc<Table>, SqlError> {
        let schema = Schema { schema_id: 1, name: table.schema.clone(), owner: crate::security::DBO };
        self.build_in(tx, &Catalog::default(), &schema, table, residence).await
    }

    /// Makes a table variable of a table type.
    pub(crate) async fn build_of_shape(
        &self,
        tx: &mut Transaction,
        shape: &TableRecord,
        name: &str,
    ) -> Result<Arc<Table>, SqlError> {
        let mut record = shape.of_variable(-self.new_object_id(), name, now_us());
        if record.heap.is_some() {
            record.heap = Some(self.create_storage(tx, None).await?);
        }
        for index in record.live_indexes_mut() {
            index.storage = self.create_storage(tx, Some(index.storage.key_bytes_max)).await?;
        }
        self.renew_overflow(tx, &mut record).await?;
        let version = self.new_version();
        let state = TableState::new(record.object_id, version, &self.statistics);
        self.lock_whole(tx, &state.lock, LockMode::SchM).await?;
        Ok(Arc::new(Table::new(record, version, state, &self.store).with_residence(Residence::Variable)))
    }

    async fn build_in(
        &self,
        tx: &mut Transaction,
        catalog: &Catalog,
        schema: &Schema,
        table: &TableDefinition,
        residence: Residence,
    ) -> Result<Arc<Table>, SqlError> {
        let object_id = match residence {
            Residence::Database | Residence::Other(_) => self.new_object_id(),
            // Never the number of a table of the session's database.
            Residence::Temporary | Residence::Variable => -self.new_object_id(),
        };
        let now = now_us();
        let mut record = TableRecord {
            object_id,
            schema_id: schema.schema_id,
            schema: schema.name.clone(),
            name: table.name.clone(),
            columns: Vec::new(),
            indexes: Vec::new(),
            heap: None,
            overflow: None,
            checks: Vec::new(),
            foreign_keys: Vec::new(),
            lock_escalation: LockEscalation::default(),
            versioning: None,
            text_filegroup: table.text_filegroup,
            partitioned: None,
            memory: self.mark_in_memory(table.memory)?,
            options: StorageOptions::in_filegroup(table.filegroup.unwrap_or(catalog.default_filegroup())),
            column_number_max: 0,
            created_us: now,
            modified_us: now,
        };
        record.columns = self.columns(catalog, &record, &table.columns)?;
        for index in clustered_first(&table.indexes) {
            self.add_index(tx, catalog, &mut record, index).await?;
        }
        if record.clustered().is_none() {
            record.heap = Some(self.create_storage(tx, None).await?);
        }
        self.renew_overflow(tx, &mut record).await?;
        let version = self.new_version();
        let state = TableState::new(object_id, version, &self.statistics);
        self.lock_whole(tx, &state.lock, LockMode::SchM).await?;
        Ok(Arc::new(Table::new(record, version, state, &self.store).with_residence(residence)))
    }

    /// The columns of a table to be made, or after a change.
    pub(super) fn columns(
        &self,
        catalog: &Catalog,
        record: &TableRecord,
        definitions: &[ColumnDefinition],
    ) -> Result<Vec<Column>, SqlError> {
        if definitions.len() > COLUMNS_MAX {
            return Err(SqlError::too_many_columns(&definitions[COLUMNS_MAX].name, &record.name, COLUMNS_MAX));
        }
        let mut columns: Vec<Column> = Vec::with_capacity(definitions.len());
        for (place, definition) in definitions.iter().enumerate() {
            let lower = definition.name.to_lowercase();
            let is_gone = |id: &i32| SecondName::by_id(*id).is_none() && catalog.user_type_by_id(*id).is_none();
            if let Some(id) = definition.user_type.filter(is_gone) {
                // It was dropped since the statement looked.
                return Err(SqlError::type_unknown(place + 1, id));
            }
            if columns.iter().any(|c| c.name.to_lowercase() == lower) {
                return Err(SqlError::column_name_twice(&definition.name, &record.name));
            }
            if definition.identity.is_some() && columns.iter().any(|c| c.identity.is_some()) {
                return Err(SqlError::identity_twice(&record.name));
            }
            let default = match &definition.default {
                None => None,
                Some((name, text)) => {
                    let object_id = self.new_object_id();
                    let generated = || generated_name("DF", &record.name, &definition.name, object_id);
                    let name = name.clone().unwrap_or_else(generated);
                    self.check_constraint_name(catalog, record, &name)?;
                    Some(Default { name, object_id, text: text.clone() })
                }
            };
            columns.push(Column {
                name: definition.name.clone(),
                ty: definition.ty,
                nullable: definition.nullable && definition.identity.is_none(),
                default,
                identity: definition.identity,
                computed: None,
                rowversion: false,
                user_type: definition.user_type,
                collation: definition.collation,
                sparse: false,
                generated: None,
                hidden: false,
                mask: None,
                id: 0,
            });
        }
        check_row(&record.name, &columns)?;
        Ok(columns)
    }

    fn check_constraint_name(&self, catalog: &Catalog, record: &TableRecord, name: &str) -> Result<(), SqlError> {
        let lower = name.to_lowercase();
        if record.constraint_names().any(|n| n.to_lowercase() == lower)
            || catalog.object(&record.schema, name).is_some()
            || catalog.constraint_exists(record.schema_id, name)
        {
            return Err(SqlError::object_exists(name).with_state(5));
        }
        Ok(())
    }

    /// Adds an index, with storage of its own, to a table's definition.
    pub(super) async fn add_index(
        &self,
        tx: &mut Transaction,
        catalog: &Catalog,
        record: &mut TableRecord,
        definition: &IndexDefinition,
    ) -> Result<(), SqlError> {
        let primary_key = definition.kind == IndexKind::PrimaryKey;
        let constraint = definition.kind != IndexKind::Index;
        if primary_key && record.indexes.iter().any(|index| index.primary_key) {
            return Err(SqlError::primary_key_twice(&record.name));
        }
        if let Some(other) = record.indexes.iter().find(|index| definition.clustered && index.is_clustered()) {
            return Err(SqlError::clustered_index_exists("table", &record.name, &other.name));
        }
        if definition.clustered && !definition.extras.included.is_empty() {
            return Err(SqlError::included_columns_of_clustered());
        }
        let columns = index_columns(record, definition)?;
        let included = included_columns(record, definition, &columns)?;
        let constraint_id = if constraint { self.new_object_id() } else { 0 };
        let prefix = if primary_key { "PK" } else { "UQ" };
        let generated = || generated_name(prefix, &record.name, "", constraint_id);
        let name = definition.name.clone().unwrap_or_else(generated);
        if constraint {
            self.check_constraint_name(catalog, record, &name)?;
        }
        if catalog.has_index_or_statistics(record, &name) {
            return Err(SqlError::index_exists(&name, "table", record.full_name()));
        }
        check_key(record, &name, &columns, definition.clustered)?;
        if primary_key {
            for key in &columns {
                record.columns[key.column].nullable = false;
            }
        }
        let unique = definition.unique || constraint;
        let index_id = if definition.clustered { 1 } else { record.next_index_id() };
        let bytes = key_bytes_max(record, &columns, definition.clustered, unique);
        let storage = self.create_storage(tx, Some(bytes)).await?;
        let former = match definition.clustered {
            true => record.options,
            false => StorageOptions::in_filegroup(record.row_filegroup()),
        };
        let index = Index {
            index_id,
            name,
            constraint_id,
            unique,
            primary_key,
            constraint,
            clustered: definition.clustered,
            columns,
            included,
            filter: definition.extras.filter.clone(),
            not_null: places(record, &definition.extras.not_null)?,
            tests: self.filter_tests(tx, record, &definition.extras)?,
            ignores_duplicates: definition.extras.ignores_duplicates,
            disabled: false,
            hash: definition.extras.hash,
            // A clustered index lies as the heap did, if nothing else is said.
            options: definition.extras.storage.over(former),
            storage,
            ..Index::definition(index_id, "")
        };
        if definition.clustered {
            record.indexes.insert(0, index);
        } else {
            record.indexes.push(index);
        }
        Ok(())
    }

    /// What a filter tests, with constants as bytes.
    fn filter_tests(
        &self,
        tx: &Transaction,
        record: &TableRecord,
        extras: &IndexExtras,
    ) -> Result<Vec<FilterTest>, SqlError> {
        let test = |(name, tested): &(String, Tested)| {
            let column = record.column(name).ok_or_else(|| SqlError::invalid_column(name))?;
            let layout = constant_layout(record, column);
            let bytes =
                |value: &Value| layout.bytes(value).map_err(|error| self.place(tx, &record.full_name()).row(&error));
            let passes = match tested {
                Tested::Null => Passes::Null,
                Tested::Compared(op, value) => Passes::Compared(*op, bytes(value)?),
                Tested::Among(values) => Passes::Among(values.iter().map(bytes).collect::<Result<_, _>>()?),
            };
            Ok(FilterTest { column, passes })
        };
        extras.tests.iter().map(test).collect()
    }

    /// The table as the transaction sees it, locked with Sch-M.
    pub(super) async fn lock_table_to_change(
        &self,
        tx: &mut Transaction,
        catalog: &Catalog,
        object_id: i32,
        missing: SqlError,
    ) -> Result<Arc<Table>, SqlError> {
        let table = catalog.table_by_id(object_id).cloned().ok_or(missing)?;
        self.lock_whole(tx, &table.state.lock, LockMode::SchM).await?;
        Ok(table)
    }

    /// Stores a changed definition of `old`; the new table has the same lock and identity values.
    pub(super) async fn replace_table(
        &self,
        tx: &mut Transaction,
        catalog: &mut Catalog,
        old: &Table,
        record: TableRecord,
        map: Option<RowMap<'_>>,
    ) -> Result<Arc<Table>, SqlError> {
        let table = self.successor(old, record);
        if let Some(map) = map {
            self.fill(tx, old, &table, map).await?;
        }
        self.keep_table(tx, catalog, &table).await?;
        Ok(table)
    }

    /// The next version of a table, in no catalog yet.
    pub(super) fn successor(&self, old: &Table, mut record: TableRecord) -> Arc<Table> {
        record.modified_us = now_us();
        Arc::new(Table::succeeding(old, record, self.new_version(), &self.store))
    }

    /// Stores a version of a table.
    pub(super) async fn keep_table(
        &self,
        tx: &mut Transaction,
        catalog: &mut Catalog,
        table: &Arc<Table>,
    ) -> Result<(), SqlError> {
        if !table.residence().is_session() {
            self.store_object(tx, &StoredObject::Table(table.record().clone())).await?;
        }
        catalog.put(Object::Table(table.clone()));
        Ok(())
    }

    /// DROP TABLE.
    ///
    /// # Errors
    /// 3701 when there is none; 3726 and 3729 when something refers to it.
    pub async fn drop_table(&self, tx: &mut Transaction, schema: &str, name: &str) -> Result<(), SqlError> {
        let (mark, mut catalog) = self.begin_definition(tx).await?;
        let missing = || SqlError::object_missing("drop", "table", name);
        let found = catalog.table(schema, name).ok_or_else(missing)?;
        if found.versioning.is_some() {
            return Err(SqlError::versioned_not_dropped(self.full_name_of(found)));
        }
        let object_id = found.object_id;
        if catalog.references_to(object_id).any(|(other, _)| other.object_id != object_id) {
            return Err(SqlError::object_is_referenced(name));
        }
        let names = |policy: &&Arc<SecurityPolicy>| policy.predicates.iter().any(|own| own.target == object_id);
        if let Some(policy) = catalog.security_policies().find(names) {
            return Err(SqlError::referenced_by("DROP TABLE", format!("{schema}.{name}"), &policy.module.name));
        }
        let table = self.lock_table_to_change(tx, &catalog, object_id, missing()).await?;
        self.remove_rows(tx, RowKind::Object, table.object_id, 0).await?;
        self.remove_rows(tx, RowKind::Identity, table.object_id, 0).await?;
        self.forget_grants(tx, &mut catalog, Class::Object, table.object_id).await?;
        self.forget_properties(tx, &mut catalog, PropertyHolder::Object(table.object_id)).await?;
        self.forget_statistics(tx, &mut catalog, table.object_id).await?;
        self.remove_triggers(tx, &mut catalog, table.object_id).await?;
        catalog.remove(table.object_id);
        self.end_definition(tx, mark, catalog, self.new_version());
        Ok(())
    }

    /// `database.schema.table`, as errors about system versioning name a table.
    pub fn full_name_of(&self, table: &TableRecord) -> String {
        format!("{}.{}", self.name(), table.full_name())
    }

    /// Storage that waits to be given back.
    #[doc(hidden)]
    pub fn storage_to_free(&self) -> usize {
        lock(&self.to_free).len()
    }
}

/// The places of columns by their names.
fn places(record: &TableRecord, names: &[String]) -> Result<Vec<usize>, SqlError> {
    names.iter().map(|name| record.column(name).ok_or_else(|| SqlError::key_column_unknown(name))).collect()
}

pub(super) fn user_schema(catalog: &Catalog, name: &str) -> Result<Arc<Schema>, SqlError> {
    let schema = catalog.schema(name).ok_or_else(|| SqlError::schema_unknown(name))?;
    if schema.schema_id == 3 || schema.schema_id == 4 {
        return Err(SqlError::schema_unknown(name));
    }
    Ok(schema.clone())
}

fn clustered_first(indexes: &[IndexDefinition]) -> impl Iterator<Item = &IndexDefinition> {
    let clustered = indexes.iter().filter(|index| index.clustered);
    clustered.chain(indexes.iter().filter(|index| !index.clustered))
}

pub(super) fn index_columns(record: &TableRecord, definition: &IndexDefinition) -> Result<Vec<IndexColumn>, SqlError> {
    let mut columns: Vec<IndexColumn> = Vec::with_capacity(definition.columns.len());
    for (name, descending) in &definition.columns {
        let Some(column) = record.column(name) else {
            return Err(SqlError::key_column_unknown(name));
        };
        if columns.iter().any(|key| key.column == column) {
            return Err(SqlError::key_column_twice("index", name));
        }
        if !can_be_key(&record.columns[column].ty) {
            return Err(SqlError::key_column_type_invalid(name, &record.name));
        }
        columns.push(IndexColumn { column, descending: *descending });
    }
    Ok(columns)
}

/// The places of the columns that an index holds beside its key.
pub(super) fn included_columns(
    record: &TableRecord,
    definition: &IndexDefinition,
    key: &[IndexColumn],
) -> Result<Vec<usize>, SqlError> {
    let included = places(record, &definition.extras.included)?;
    if let Some(column) = included.iter().map(|at| &record.columns[*at]).find(|column| column.ty.is_text_or_image()) {
        return Err(SqlError::included_column_type_invalid(&column.name, &record.name));
    }
    for (at, column) in included.iter().enumerate() {
        if key.iter().any(|key| key.column == *column) || included[..at].contains(column) {
            return Err(SqlError::key_column_twice("index", &record.columns[*column].name));
        }
    }
    Ok(included)
}

/// A name for a constraint that was given none, of 30 characters at most: `PK__Orders__00000000000F4243` of a table,
/// `FK__Orders__PersonID__000F4244` of a column. What is left of the names of both has 14 characters, nine of them the table's if it has
/// so many.
pub fn generated_name(prefix: &str, table: &str, column: &str, object_id: i32) -> String {
    let first = |name: &str, count: usize| -> String { name.chars().take(count).collect() };
    if column.is_empty() {
        return match prefix {
            "PK" | "UQ" => format!("{prefix}__{}__{object_id:016X}", first(table, 8)),
            _ => format!("{prefix}__{}__{object_id:08X}", first(table, 16)),
        };
    }
    let table = first(table, 14_usize.saturating_sub(column.chars().count()).max(9));
    let column = first(column, 14 - table.chars().count());
    format!("{prefix}__{table}__{column}__{object_id:08X}")
}
