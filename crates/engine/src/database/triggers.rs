//! CREATE, ALTER, DROP, ENABLE and DISABLE TRIGGER as calls, each part of the caller's transaction.
//!
//! A trigger is an object of its own, but what a statement does to a table depends on the table's triggers: each change of
//! them gives the table a new version, under a lock that nobody else is in the table with. So a plan that knows of other
//! triggers than there are is stale, as one that knows of other columns is.

use std::sync::Arc;

use pikepole_transaction::LockMode;
use pikepole_types::SqlError;

use super::now_us;
use super::{Database, PutMode};
use crate::catalog::definition::{Module, ReferentialAction, StoredObject, Trigger, TriggerEvent, TriggerPlace};
use crate::catalog::property::PropertyHolder;
use crate::catalog::rows::RowKind;
use crate::catalog::{Catalog, Object};
use crate::table::Table;
use crate::transaction::Transaction;

/// A trigger to be made or changed.
#[derive(Debug, Clone)]
pub struct TriggerDefinition {
    /// The name; its schema is that of what it watches.
    pub name: String,
    /// The whole CREATE statement.
    pub text: String,
    /// The table or view.
    pub parent_id: i32,
    /// What it watches.
    pub events: Vec<TriggerEvent>,
    /// INSTEAD OF; otherwise AFTER.
    pub instead_of: bool,
    /// NOT FOR REPLICATION.
    pub not_for_replication: bool,
    /// See [`Module::execute_as`].
    pub execute_as: Option<i32>,
    /// See [`Module::ansi_nulls`].
    pub ansi_nulls: bool,
    /// See [`Module::quoted_identifier`].
    pub quoted_identifier: bool,
}

impl Database {
    /// CREATE or ALTER TRIGGER.
    ///
    /// # Errors
    /// 2714 when the name is taken; 208 when there is nothing to alter; 2110 when that is a trigger of another object; 2111 for
    /// a second INSTEAD OF trigger; 2113 where foreign keys cascade to the table; 8197 when it is not there any more.
    pub async fn put_trigger(
        &self,
        tx: &mut Transaction,
        definition: TriggerDefinition,
        mode: PutMode,
    ) -> Result<(), SqlError> {
        let (mark, mut catalog) = self.begin_definition(tx).await?;
        let TriggerDefinition {
            name,
            text,
            parent_id,
            events,
            instead_of,
            not_for_replication,
            execute_as,
            ansi_nulls,
            quoted_identifier,
        } = definition;
        let parent = catalog.object_by_id(parent_id).cloned();
        let parent = parent.ok_or_else(|| SqlError::trigger_target_invalid(&name))?;
        let schema = catalog.schema_by_id(parent.schema_id()).cloned();
        let schema = schema.ok_or_else(|| SqlError::trigger_target_invalid(&name))?;
        let existing = match catalog.object(&schema.name, &name) {
            Some(Object::Trigger(trigger)) if mode != PutMode::Create => Some(Arc::clone(trigger)),
            Some(_) if mode == PutMode::Alter => return Err(SqlError::incompatible_object_kind("alter", &name)),
            Some(_) => return Err(SqlError::object_exists(&name)),
            None if mode == PutMode::Alter => return Err(SqlError::invalid_object(&name)),
            None if catalog.constraint_exists(schema.schema_id, &name) => return Err(SqlError::object_exists(&name)),
            None => None,
        };
        if existing.as_ref().is_some_and(|existing| existing.parent_id != parent_id) {
            return Err(SqlError::trigger_of_other_object(&name, parent.name()));
        }
        let object_id = existing.as_ref().map(|existing| existing.module.object_id);
        if instead_of {
            check_instead_of(&catalog, &parent, &name, object_id, &events)?;
        }
        let now = now_us();
        let trigger = Trigger {
            module: Module {
                object_id: object_id.unwrap_or_else(|| self.new_object_id()),
                schema_id: schema.schema_id,
                schema: schema.name.clone(),
                name,
                text,
                created_us: existing.as_ref().map_or(now, |existing| existing.module.created_us),
                modified_us: now,
                execute_as,
                ansi_nulls,
                quoted_identifier,
                columns: Vec::new(),
            },
            parent_id,
            events,
            instead_of,
            not_for_replication,
            disabled: existing.is_some_and(|existing| existing.disabled),
            // ALTER TRIGGER takes its place from it.
            first: Vec::new(),
            last: Vec::new(),
        };
        self.renew_parent(tx, &mut catalog, parent_id).await?;
        self.store_object(tx, &StoredObject::Trigger(trigger.clone())).await?;
        catalog.remove(trigger.module.object_id);
        catalog.put(Object::Trigger(Arc::new(trigger)));
        self.end_definition(tx, mark, catalog, self.new_version());
        Ok(())
    }

    /// DROP TRIGGER.
    ///
    /// # Errors
    /// 3701 when there is none.
    pub async fn drop_trigger(&self, tx: &mut Transaction, schema: &str, name: &str) -> Result<(), SqlError> {
        let (mark, mut catalog) = self.begin_definition(tx).await?;
        let missing = || SqlError::object_missing("drop", "trigger", name);
        let trigger = catalog.trigger(schema, name).cloned().ok_or_else(missing)?;
        self.renew_parent(tx, &mut catalog, trigger.parent_id).await?;
        self.remove_rows(tx, RowKind::Object, trigger.module.object_id, 0).await?;
        self.forget_properties(tx, &mut catalog, PropertyHolder::Object(trigger.module.object_id)).await?;
        catalog.remove(trigger.module.object_id);
        self.end_definition(tx, mark, catalog, self.new_version());
        Ok(())
    }

    /// ENABLE and DISABLE TRIGGER, of triggers of one table or view.
    ///
    /// # Errors
    /// What the catalog's rows end with.
    pub async fn enable_triggers(
        &self,
        tx: &mut Transaction,
        parent_id: i32,
        triggers: &[i32],
        enable: bool,
    ) -> Result<(), SqlError> {
        let (mark, mut catalog) = self.begin_definition(tx).await?;
        self.renew_parent(tx, &mut catalog, parent_id).await?;
        let changed = catalog.triggers_of(parent_id).filter(|trigger| triggers.contains(&trigger.module.object_id));
        let changed: Vec<Trigger> =
            changed.map(|trigger| Trigger { disabled: !enable, ..Trigger::clone(trigger) }).collect();
        for trigger in changed {
            self.store_object(tx, &StoredObject::Trigger(trigger.clone())).await?;
            catalog.put(Object::Trigger(Arc::new(trigger)));
        }
        self.end_definition(tx, mark, catalog, self.new_version());
        Ok(())
    }

    /// `sp_settriggerorder`: gives a trigger its place among the others of its table for one event.
    ///
    /// # Errors
    /// 15130 when another one has that place.
    pub async fn place_trigger(
        &self,
        tx: &mut Transaction,
        trigger: &Trigger,
        event: TriggerEvent,
        place: TriggerPlace,
    ) -> Result<(), SqlError> {
        let (mark, mut catalog) = self.begin_definition(tx).await?;
        let own = |other: &Trigger| other.module.object_id == trigger.module.object_id;
        let taken = |other: &Arc<Trigger>| !own(other) && other.place(event) == place;
        if place != TriggerPlace::Anywhere && catalog.triggers_of(trigger.parent_id).any(taken) {
            let order = if place == TriggerPlace::First { "first" } else { "last" };
            return Err(SqlError::trigger_order_taken(order, event.name()));
        }
        self.renew_parent(tx, &mut catalog, trigger.parent_id).await?;
        let mut placed = trigger.clone();
        placed.first.retain(|other| *other != event);
        placed.last.retain(|other| *other != event);
        match place {
            TriggerPlace::First => placed.first.push(event),
            TriggerPlace::Last => placed.last.push(event),
            TriggerPlace::Anywhere => {}
        }
        self.store_object(tx, &StoredObject::Trigger(placed.clone())).await?;
        catalog.put(Object::Trigger(Arc::new(placed)));
        self.end_definition(tx, mark, catalog, self.new_version());
        Ok(())
    }

    /// The triggers of a table or view go with it.
    pub(super) async fn remove_triggers(
        &self,
        tx: &mut Transaction,
        catalog: &mut Catalog,
        parent_id: i32,
    ) -> Result<(), SqlError> {
        let gone: Vec<i32> = catalog.triggers_of(parent_id).map(|trigger| trigger.module.object_id).collect();
        for object_id in gone {
            self.remove_rows(tx, RowKind::Object, object_id, 0).await?;
            self.forget_properties(tx, catalog, PropertyHolder::Object(object_id)).await?;
            catalog.remove(object_id);
        }
        Ok(())
    }

    /// Locks a table whose triggers or security policies change and gives it a new version. A view has no rows, so nobody is in it.
    pub(super) async fn renew_parent(
        &self,
        tx: &mut Transaction,
        catalog: &mut Catalog,
        parent_id: i32,
    ) -> Result<(), SqlError> {
        let Some(table) = catalog.table_by_id(parent_id).cloned() else {
            return Ok(());
        };
        self.lock_whole(tx, &table.state.lock, LockMode::SchM).await?;
        let renewed = Table::succeeding(&table, table.record().clone(), self.new_version(), &self.store);
        catalog.put(Object::Table(Arc::new(renewed)));
        Ok(())
    }
}

/// A change has one INSTEAD OF trigger at most, and none where referring rows follow by themselves.
fn check_instead_of(
    catalog: &Catalog,
    parent: &Object,
    name: &str,
    own: Option<i32>,
    events: &[TriggerEvent],
) -> Result<(), SqlError> {
    let others = || {
        let others = catalog.triggers_of(parent.object_id()).filter(|other| other.instead_of);
        others.filter(|other| Some(other.module.object_id) != own)
    };
    if let Some(event) = events.iter().find(|event| others().any(|other| other.events.contains(event))) {
        return Err(SqlError::instead_of_exists(name, parent.kind(), parent.name(), event.name()));
    }
    if let Object::Table(table) = parent {
        let cascades = table.foreign_keys.iter().any(|key| {
            (key.on_delete != ReferentialAction::NoAction && events.contains(&TriggerEvent::Delete))
                || (key.on_update != ReferentialAction::NoAction && events.contains(&TriggerEvent::Update))
        });
        if cascades {
            return Err(SqlError::instead_of_with_cascade(name, &table.name));
        }
    }
    Ok(())
}
