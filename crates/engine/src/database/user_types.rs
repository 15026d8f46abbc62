//! CREATE and DROP of types and of collections of schemas of xml as calls, each part of the caller's transaction.

use std::sync::Arc;

use pikepole_types::SqlError;

use super::Database;
use super::definitions::user_schema;
use super::now_us;
use crate::catalog::Catalog;
use crate::catalog::definition::{StoredObject, TableRecord};
use crate::catalog::property::PropertyHolder;
use crate::catalog::rows::RowKind;
use crate::catalog::user_type::{UserType, UserTypeKind};
use crate::security::Class;
use crate::transaction::{Mark, Transaction};

impl Database {
    /// CREATE TYPE. Of a table type `kind` holds the definition of a table variable that has been made of what is to be the
    /// type; it is given the name and number that the views show.
    ///
    /// # Errors
    /// 219 and 6348 when the name is taken; 2760 for an unknown schema.
    pub async fn create_type(
        &self,
        tx: &mut Transaction,
        schema: &str,
        name: &str,
        kind: UserTypeKind,
    ) -> Result<(), SqlError> {
        let (mark, mut catalog) = self.begin_definition(tx).await?;
        let schema = user_schema(&catalog, schema)?;
        if matches!(kind, UserTypeKind::SchemaCollection { .. }) {
            if catalog.schema_collection(&schema.name, name).is_some() {
                return Err(SqlError::schema_collection_exists(name));
            }
        } else if catalog.user_type(&schema.name, name).is_some() {
            return Err(SqlError::type_exists(format!("{}.{name}", schema.name)));
        }
        let kind = match kind {
            UserTypeKind::Table(record) => UserTypeKind::Table(Box::new(self.shape(*record, name))),
            UserTypeKind::SchemaCollection { text, .. } => {
                UserTypeKind::SchemaCollection { text, created_us: now_us() }
            }
            alias => alias,
        };
        let made = UserType {
            user_type_id: catalog.user_type_id_free(),
            schema_id: schema.schema_id,
            schema: schema.name.clone(),
            name: name.to_owned(),
            kind,
        };
        self.store_object(tx, &StoredObject::Type(made.clone())).await?;
        catalog.put_type(Arc::new(made));
        self.end_definition(tx, mark, catalog, self.new_version());
        Ok(())
    }

    /// The definition that a table type keeps: `TT_name_number` of the schema `sys`, with numbers of this database, and its
    /// constraints named after both.
    fn shape(&self, record: TableRecord, name: &str) -> TableRecord {
        let former: String = record.name.chars().take(9).collect();
        let begins: String = format!("TT_{name}").chars().take(9).collect();
        let renamed = |own: &str, number: i32| {
            let own = own.replacen(&format!("__{former}__"), &format!("__{begins}__"), 1);
            let (front, _) = own.rsplit_once("__").unwrap_or((&own, ""));
            format!("{front}__{number:08X}")
        };
        let mut record = record.without_storage();
        record.object_id = self.new_object_id();
        record.name = format!("TT_{name}_{:08X}", record.object_id);
        (record.schema_id, record.schema) = (4, "sys".to_owned());
        for index in record.indexes.iter_mut().filter(|index| index.constraint) {
            index.constraint_id = self.new_object_id();
            index.name = renamed(&index.name, index.constraint_id);
        }
        for default in record.columns.iter_mut().filter_map(|column| column.default.as_mut()) {
            default.object_id = self.new_object_id();
            default.name = renamed(&default.name, default.object_id);
        }
        for check in &mut record.checks {
            check.object_id = self.new_object_id();
            check.name = renamed(&check.name, check.object_id);
        }
        record
    }

    /// DROP TYPE. `names` says whether the text of a procedure or function has a parameter of the type.
    ///
    /// # Errors
    /// 218 when there is none; 3732 when a column or a parameter is of the type.
    pub async fn drop_type(
        &self,
        tx: &mut Transaction,
        schema: &str,
        name: &str,
        names: &(dyn Fn(&str) -> bool + Send + Sync),
    ) -> Result<(), SqlError> {
        let (mark, catalog) = self.begin_definition(tx).await?;
        let Some(found) = catalog.user_type(schema, name).cloned() else {
            return Err(SqlError::type_not_found(format!("{schema}.{name}")));
        };
        if let Some(by) = used_by(&catalog, found.user_type_id, names) {
            return Err(SqlError::type_is_referenced(found.full_name(), by));
        }
        self.drop_found(tx, mark, catalog, &found).await
    }

    /// ALTER XML SCHEMA COLLECTION ... ADD.
    ///
    /// # Errors
    /// 6347 when there is none.
    pub async fn extend_schema_collection(
        &self,
        tx: &mut Transaction,
        schema: &str,
        name: &str,
        added: &str,
    ) -> Result<(), SqlError> {
        let (mark, mut catalog) = self.begin_definition(tx).await?;
        let missing = || SqlError::schema_collection_not_altered(name);
        let mut made = UserType::clone(catalog.schema_collection(schema, name).ok_or_else(missing)?);
        if let UserTypeKind::SchemaCollection { text, .. } = &mut made.kind {
            text.push_str(added);
        }
        self.store_object(tx, &StoredObject::Type(made.clone())).await?;
        catalog.put_type(Arc::new(made));
        self.end_definition(tx, mark, catalog, self.new_version());
        Ok(())
    }

    /// DROP XML SCHEMA COLLECTION. `names` as in [`Database::drop_type`].
    ///
    /// # Errors
    /// 15151 when there is none; 6328 when a column or a parameter is of the collection.
    pub async fn drop_schema_collection(
        &self,
        tx: &mut Transaction,
        schema: &str,
        name: &str,
        names: &(dyn Fn(&str) -> bool + Send + Sync),
    ) -> Result<(), SqlError> {
        let (mark, catalog) = self.begin_definition(tx).await?;
        let Some(found) = catalog.schema_collection(schema, name).cloned() else {
            return Err(SqlError::item_missing("drop", "xml schema collection", name));
        };
        if let Some(by) = used_by(&catalog, found.user_type_id, names) {
            return Err(SqlError::schema_collection_is_used(name, by));
        }
        self.drop_found(tx, mark, catalog, &found).await
    }

    async fn drop_found(
        &self,
        tx: &mut Transaction,
        mark: Mark,
        mut catalog: Catalog,
        found: &UserType,
    ) -> Result<(), SqlError> {
        let id = found.user_type_id;
        self.remove_rows(tx, RowKind::Type, id, 0).await?;
        self.forget_grants(tx, &mut catalog, Class::Type, id).await?;
        self.forget_properties(tx, &mut catalog, PropertyHolder::Type(id)).await?;
        catalog.remove_type(found);
        self.end_definition(tx, mark, catalog, self.new_version());
        Ok(())
    }
}

/// What has a column or a parameter of a type.
fn used_by(catalog: &Catalog, id: i32, names: &(dyn Fn(&str) -> bool + Send + Sync)) -> Option<String> {
    let table = catalog.tables().find(|table| table.uses_type(id)).map(|table| table.name.clone());
    let user = || {
        let mut types = catalog.user_types();
        types.find(|other| other.uses(id)).and_then(|other| Some(other.table()?.name.clone()))
    };
    let module = || {
        let mut modules = catalog.procedures().chain(catalog.functions());
        modules.find(|module| names(&module.text)).map(|module| module.name.clone())
    };
    table.or_else(user).or_else(module)
}
