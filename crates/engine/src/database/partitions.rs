//! CREATE, ALTER and DROP of partition functions and schemes as calls, each part of the caller's transaction.

use std::sync::Arc;

use pikepole_types::SqlError;

use super::Database;
use super::now_us;
use crate::catalog::definition::StoredObject;
use crate::catalog::partition::{PartitionFunction, PartitionScheme};
use crate::catalog::property::PropertyHolder;
use crate::catalog::rows::RowKind;
use crate::transaction::Transaction;

impl Database {
    /// CREATE PARTITION FUNCTION; its number and its times are given here.
    ///
    /// # Errors
    /// 2714 when the name is taken.
    pub async fn create_partition_function(
        &self,
        tx: &mut Transaction,
        function: PartitionFunction,
    ) -> Result<(), SqlError> {
        let (mark, mut catalog) = self.begin_definition(tx).await?;
        if catalog.partition_function(&function.name).is_some() {
            return Err(SqlError::object_exists(&function.name));
        }
        let (function_id, _) = catalog.free_partition_ids();
        let now = now_us();
        let function = PartitionFunction { function_id, created_us: now, modified_us: now, ..function };
        self.store_object(tx, &StoredObject::PartitionFunction(function.clone())).await?;
        catalog.put_partition_function(Arc::new(function));
        self.end_definition(tx, mark, catalog, self.new_version());
        Ok(())
    }

    /// ALTER PARTITION FUNCTION, and what becomes of its schemes.
    ///
    /// # Errors
    /// What the catalog's rows end with.
    pub async fn alter_partition_function(
        &self,
        tx: &mut Transaction,
        function: PartitionFunction,
        schemes: Vec<PartitionScheme>,
    ) -> Result<(), SqlError> {
        let (mark, mut catalog) = self.begin_definition(tx).await?;
        let function = PartitionFunction { modified_us: now_us(), ..function };
        self.store_object(tx, &StoredObject::PartitionFunction(function.clone())).await?;
        catalog.put_partition_function(Arc::new(function));
        for scheme in schemes {
            self.store_object(tx, &StoredObject::PartitionScheme(scheme.clone())).await?;
            catalog.put_partition_scheme(Arc::new(scheme));
        }
        self.end_definition(tx, mark, catalog, self.new_version());
        Ok(())
    }

    /// CREATE PARTITION SCHEME, whose number is given here, and ALTER.
    ///
    /// # Errors
    /// 2714 when the name is taken.
    pub async fn put_partition_scheme(
        &self,
        tx: &mut Transaction,
        scheme: PartitionScheme,
        creates: bool,
    ) -> Result<(), SqlError> {
        let (mark, mut catalog) = self.begin_definition(tx).await?;
        if creates && catalog.partition_scheme(&scheme.name).is_some() {
            return Err(SqlError::object_exists(&scheme.name));
        }
        let (_, free) = catalog.free_partition_ids();
        let data_space_id = if creates { free } else { scheme.data_space_id };
        let scheme = PartitionScheme { data_space_id, ..scheme };
        self.store_object(tx, &StoredObject::PartitionScheme(scheme.clone())).await?;
        catalog.put_partition_scheme(Arc::new(scheme));
        self.end_definition(tx, mark, catalog, self.new_version());
        Ok(())
    }

    /// DROP PARTITION FUNCTION.
    ///
    /// # Errors
    /// 3701 when there is none, 7706 while a scheme uses it.
    pub async fn drop_partition_function(&self, tx: &mut Transaction, name: &str) -> Result<(), SqlError> {
        let (mark, mut catalog) = self.begin_definition(tx).await?;
        let missing = || SqlError::object_missing("drop", "partition function", name);
        let id = catalog.partition_function(name).ok_or_else(missing)?.function_id;
        if catalog.partition_schemes().any(|scheme| scheme.function_id == id) {
            return Err(SqlError::partition_function_in_use(name));
        }
        self.remove_rows(tx, RowKind::Object, id, 0).await?;
        self.forget_properties(tx, &mut catalog, PropertyHolder::Object(id)).await?;
        catalog.remove_partition_object(id);
        self.end_definition(tx, mark, catalog, self.new_version());
        Ok(())
    }

    /// DROP PARTITION SCHEME.
    ///
    /// # Errors
    /// 3701 when there is none, 7717 while a table uses it.
    pub async fn drop_partition_scheme(&self, tx: &mut Transaction, name: &str) -> Result<(), SqlError> {
        let (mark, mut catalog) = self.begin_definition(tx).await?;
        let missing = || SqlError::object_missing("drop", "partition scheme", name);
        let id = catalog.partition_scheme(name).ok_or_else(missing)?.data_space_id;
        if catalog.tables().any(|table| table.uses_scheme(id)) {
            return Err(SqlError::partition_scheme_in_use(name));
        }
        self.remove_rows(tx, RowKind::Object, id, 0).await?;
        self.forget_properties(tx, &mut catalog, PropertyHolder::Object(id)).await?;
        catalog.remove_partition_object(id);
        self.end_definition(tx, mark, catalog, self.new_version());
        Ok(())
    }
}
