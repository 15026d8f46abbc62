//! CREATE, ALTER, DROP, ENABLE and DISABLE TRIGGER ... ON DATABASE as calls, each part of the caller's transaction.
//!
//! Definitions are made one at a time, under the catalog's lock: whoever makes one sees the triggers that watch it.

use std::sync::Arc;

use pikepole_types::SqlError;

use super::now_us;
use super::{Database, ModuleDefinition, PutMode};
use crate::catalog::DEFAULT_SCHEMA;
use crate::catalog::definition::{DefinitionTrigger, Module, StoredObject};
use crate::catalog::property::PropertyHolder;
use crate::catalog::rows::RowKind;
use crate::transaction::Transaction;

impl Database {
    /// CREATE or ALTER TRIGGER ... ON DATABASE.
    ///
    /// # Errors
    /// 2714 when the name is taken; 208 when there is nothing to alter.
    pub async fn put_definition_trigger(
        &self,
        tx: &mut Transaction,
        definition: ModuleDefinition<'_>,
        events: Vec<i32>,
        mode: PutMode,
    ) -> Result<(), SqlError> {
        let (mark, mut catalog) = self.begin_definition(tx).await?;
        let existing = catalog.definition_trigger(definition.name).cloned();
        match (&existing, mode) {
            (Some(_), PutMode::Create) => return Err(SqlError::object_exists(definition.name)),
            (None, PutMode::Alter) => return Err(SqlError::invalid_object(definition.name)),
            _ => {}
        }
        let schema_id = catalog.schema(DEFAULT_SCHEMA).map_or(1, |schema| schema.schema_id);
        let now = now_us();
        let former = existing.as_ref().map(|existing| &existing.module);
        let module = Module {
            object_id: former.map_or_else(|| self.new_object_id(), |former| former.object_id),
            schema_id,
            schema: DEFAULT_SCHEMA.to_owned(),
            name: definition.name.to_owned(),
            text: definition.text.to_owned(),
            created_us: former.map_or(now, |former| former.created_us),
            modified_us: now,
            execute_as: definition.execute_as,
            ansi_nulls: definition.ansi_nulls,
            quoted_identifier: definition.quoted_identifier,
            columns: Vec::new(),
        };
        let disabled = existing.is_some_and(|existing| existing.disabled);
        let trigger = DefinitionTrigger { module, events, disabled };
        self.store_object(tx, &StoredObject::DefinitionTrigger(trigger.clone())).await?;
        catalog.put_definition_trigger(Arc::new(trigger));
        self.end_definition(tx, mark, catalog, self.new_version());
        Ok(())
    }

    /// DROP TRIGGER ... ON DATABASE.
    ///
    /// # Errors
    /// 3701 when there is none.
    pub async fn drop_definition_trigger(&self, tx: &mut Transaction, name: &str) -> Result<(), SqlError> {
        let (mark, mut catalog) = self.begin_definition(tx).await?;
        let missing = || SqlError::object_missing("drop", "trigger", name);
        let object_id = catalog.definition_trigger(name).ok_or_else(missing)?.module.object_id;
        self.remove_rows(tx, RowKind::Object, object_id, 0).await?;
        self.forget_properties(tx, &mut catalog, PropertyHolder::Object(object_id)).await?;
        catalog.remove_definition_trigger(object_id);
        self.end_definition(tx, mark, catalog, self.new_version());
        Ok(())
    }

    /// ENABLE and DISABLE TRIGGER ... ON DATABASE.
    ///
    /// # Errors
    /// What the catalog's rows end with.
    pub async fn enable_definition_triggers(
        &self,
        tx: &mut Transaction,
        triggers: &[i32],
        enable: bool,
    ) -> Result<(), SqlError> {
        let (mark, mut catalog) = self.begin_definition(tx).await?;
        for object_id in triggers {
            let Some(trigger) = catalog.definition_trigger_by_id(*object_id) else { continue };
            let changed = DefinitionTrigger { disabled: !enable, ..DefinitionTrigger::clone(trigger) };
            self.store_object(tx, &StoredObject::DefinitionTrigger(changed.clone())).await?;
            catalog.put_definition_trigger(Arc::new(changed));
        }
        self.end_definition(tx, mark, catalog, self.new_version());
        Ok(())
    }
}
