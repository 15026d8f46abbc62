//! ALTER SCHEMA ... TRANSFER: an object moves to another schema.

use std::sync::Arc;

use pikepole_types::SqlError;

use super::Database;
use super::definitions::{now_us, user_schema};
use crate::catalog::Object;
use crate::catalog::definition::{Module, StoredObject, Trigger};
use crate::security::Class;
use crate::transaction::Transaction;

impl Database {
    /// Moves an object to the schema `to`, with its constraints and triggers. What was granted on it is forgotten.
    ///
    /// # Errors
    /// 15151 when there is no such schema or object; 15347 for a trigger, which goes with its table; 15530 when the name is taken there.
    pub async fn transfer(&self, tx: &mut Transaction, from: &str, name: &str, to: &str) -> Result<(), SqlError> {
        let (mark, mut catalog) = self.begin_definition(tx).await?;
        let schema = user_schema(&catalog, to).map_err(|_| SqlError::item_missing("alter", "schema", to))?;
        let missing = || SqlError::item_missing("find", "object", name);
        let object = catalog.object(from, name).cloned().ok_or_else(missing)?;
        if object.schema_id() == schema.schema_id {
            return Ok(());
        }
        let taken =
            |name: &str| catalog.object(to, name).is_some() || catalog.constraint_exists(schema.schema_id, name);
        let constraints = match &object {
            Object::Table(table) => table.constraint_names().map(str::to_owned).collect(),
            _ => Vec::new(),
        };
        let triggers: Vec<Arc<Trigger>> = catalog.triggers_of(object.object_id()).cloned().collect();
        let of_triggers = triggers.iter().map(|trigger| trigger.module.name.clone());
        let mut names = [name.to_owned()].into_iter().chain(constraints).chain(of_triggers);
        if let Some(name) = names.find(|name| taken(name)) {
            return Err(SqlError::transferred_name_exists(name));
        }
        let object_id = object.object_id();
        let moved = |module: &Module| Module {
            schema_id: schema.schema_id,
            schema: schema.name.clone(),
            modified_us: now_us(),
            ..module.clone()
        };
        match &object {
            Object::Table(_) => {
                let table = self.lock_table_to_change(tx, &catalog, object_id, missing()).await?;
                let mut record = table.record().clone();
                (record.schema_id, record.schema) = (schema.schema_id, schema.name.clone());
                catalog.remove(object_id);
                self.replace_table(tx, &mut catalog, &table, record, None).await?;
            }
            Object::Trigger(_) => return Err(SqlError::transfer_of_part()),
            Object::Sequence(_) => return Err(SqlError::transfer_unsupported("a sequence")),
            Object::Procedure(module) | Object::View(module) | Object::Function(module) | Object::Synonym(module) => {
                let module = moved(module);
                catalog.remove(object_id);
                let (stored, object) = match &object {
                    Object::Procedure(_) => {
                        (StoredObject::Procedure(module.clone()), Object::Procedure(Arc::new(module)))
                    }
                    Object::View(_) => (StoredObject::View(module.clone()), Object::View(Arc::new(module))),
                    Object::Function(_) => (StoredObject::Function(module.clone()), Object::Function(Arc::new(module))),
                    _ => (StoredObject::Synonym(module.clone()), Object::Synonym(Arc::new(module))),
                };
                self.store_object(tx, &stored).await?;
                catalog.put(object);
            }
        }
        for trigger in triggers {
            let trigger = Trigger { module: moved(&trigger.module), ..(*trigger).clone() };
            catalog.remove(trigger.module.object_id);
            self.store_object(tx, &StoredObject::Trigger(trigger.clone())).await?;
            catalog.put(Object::Trigger(Arc::new(trigger)));
        }
        self.forget_grants(tx, &mut catalog, Class::Object, object_id).await?;
        self.end_definition(tx, mark, catalog, self.new_version());
        Ok(())
    }
}
