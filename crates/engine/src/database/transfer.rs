//! ALTER SCHEMA ... TRANSFER, by which an object moves to another schema, and sp_rename of modules.

use std::sync::Arc;

use pikepole_types::SqlError;

use super::Database;
use super::definitions::user_schema;
use super::now_us;
use super::sequences::default_of;
use crate::catalog::definition::{Module, StoredObject, Trigger};
use crate::catalog::security_policy::SecurityPolicy;
use crate::catalog::sequence::SequenceRecord;
use crate::catalog::user_type::UserType;
use crate::catalog::{Catalog, Object};
use crate::security::Class;
use crate::transaction::Transaction;

impl Database {
    /// Moves an object to the schema `to`, with its constraints and triggers. What was granted on it is forgotten. `names` says whether
    /// the text of a default names the object, if that is a sequence.
    ///
    /// # Errors
    /// 15151 when there is no such schema or object; 15347 for a trigger, which goes with its table; 15348 for a sequence that a default
    /// is made of; 15530 when the name is taken there.
    pub async fn transfer(
        &self,
        tx: &mut Transaction,
        from: &str,
        name: &str,
        to: &str,
        names: &(dyn Fn(&str) -> bool + Send + Sync),
    ) -> Result<(), SqlError> {
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
        let mut moving = [name.to_owned()].into_iter().chain(constraints).chain(of_triggers);
        if let Some(name) = moving.find(|name| taken(name)) {
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
            Object::Sequence(_) if default_of(&catalog, names).is_some() => {
                return Err(SqlError::transfer_of_schema_bound());
            }
            Object::Sequence(sequence) => {
                let change = |record: &mut SequenceRecord| {
                    (record.schema_id, record.schema) = (schema.schema_id, schema.name.clone());
                    Ok(())
                };
                self.change_sequence(tx, &mut catalog, sequence, &change).await?;
            }
            _ => self.change_module(tx, &mut catalog, &object, &moved).await?,
        }
        for trigger in triggers {
            self.change_module(tx, &mut catalog, &Object::Trigger(trigger), &moved).await?;
        }
        self.forget_grants(tx, &mut catalog, Class::Object, object_id).await?;
        self.end_definition(tx, mark, catalog, self.new_version());
        Ok(())
    }

    /// Moves a type to the schema `to`. What was granted on it is forgotten.
    ///
    /// # Errors
    /// 15151 when there is no such schema or type; 15530 when the name is taken there.
    pub async fn transfer_type(&self, tx: &mut Transaction, from: &str, name: &str, to: &str) -> Result<(), SqlError> {
        let (mark, mut catalog) = self.begin_definition(tx).await?;
        let schema = user_schema(&catalog, to).map_err(|_| SqlError::item_missing("alter", "schema", to))?;
        let missing = || SqlError::item_missing("find", "type", name);
        let old = catalog.user_type(from, name).cloned().ok_or_else(missing)?;
        if old.schema_id == schema.schema_id {
            return Ok(());
        }
        if catalog.user_type(to, name).is_some() {
            return Err(SqlError::transferred_name_exists(name));
        }
        let moved = UserType { schema_id: schema.schema_id, schema: schema.name.clone(), ..UserType::clone(&old) };
        self.store_object(tx, &StoredObject::Type(moved.clone())).await?;
        catalog.remove_type(&old);
        catalog.put_type(Arc::new(moved));
        self.forget_grants(tx, &mut catalog, Class::Type, old.user_type_id).await?;
        self.end_definition(tx, mark, catalog, self.new_version());
        Ok(())
    }

    /// sp_rename of a procedure, view, function, trigger or synonym. Its text stays as it was written.
    ///
    /// # Errors
    /// 15151 when there is no such object; 15335 when the name is taken.
    pub async fn rename_module(
        &self,
        tx: &mut Transaction,
        schema: &str,
        name: &str,
        new_name: &str,
    ) -> Result<(), SqlError> {
        let (mark, mut catalog) = self.begin_definition(tx).await?;
        let missing = || SqlError::item_missing("find", "object", name);
        let object = catalog.object(schema, name).cloned().ok_or_else(missing)?;
        let other = catalog.object(schema, new_name).filter(|other| other.object_id() != object.object_id());
        if other.is_some() || catalog.constraint_exists(object.schema_id(), new_name) {
            return Err(SqlError::rename_name_in_use(new_name, "object"));
        }
        let renamed = |module: &Module| Module { name: new_name.to_owned(), modified_us: now_us(), ..module.clone() };
        self.change_module(tx, &mut catalog, &object, &renamed).await?;
        self.end_definition(tx, mark, catalog, self.new_version());
        Ok(())
    }

    /// Puts a changed module in the place of what it was. Tables and sequences are none: they stay as they are.
    async fn change_module(
        &self,
        tx: &mut Transaction,
        catalog: &mut Catalog,
        object: &Object,
        change: &(dyn Fn(&Module) -> Module + Sync),
    ) -> Result<(), SqlError> {
        let (stored, changed) = match object {
            Object::Procedure(module) => {
                let module = change(module);
                (StoredObject::Procedure(module.clone()), Object::Procedure(Arc::new(module)))
            }
            Object::View(module) => {
                let module = change(module);
                (StoredObject::View(module.clone()), Object::View(Arc::new(module)))
            }
            Object::Function(module) => {
                let module = change(module);
                (StoredObject::Function(module.clone()), Object::Function(Arc::new(module)))
            }
            Object::Synonym(module) => {
                let module = change(module);
                (StoredObject::Synonym(module.clone()), Object::Synonym(Arc::new(module)))
            }
            Object::Trigger(trigger) => {
                let trigger = Trigger { module: change(&trigger.module), ..Trigger::clone(trigger) };
                (StoredObject::Trigger(trigger.clone()), Object::Trigger(Arc::new(trigger)))
            }
            Object::SecurityPolicy(policy) => {
                let policy = SecurityPolicy { module: change(&policy.module), ..SecurityPolicy::clone(policy) };
                (StoredObject::SecurityPolicy(policy.clone()), Object::SecurityPolicy(Arc::new(policy)))
            }
            Object::Table(_) | Object::Sequence(_) => return Ok(()),
        };
        catalog.remove(object.object_id());
        self.store_object(tx, &stored).await?;
        catalog.put(changed);
        Ok(())
    }
}
