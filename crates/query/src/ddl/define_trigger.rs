//! CREATE, ALTER, DROP, ENABLE and DISABLE TRIGGER.

use super::Definer;
use super::define::{as_written, put_mode};
use crate::bind::{Names, TriggerShape};
use crate::errors;
use crate::expression::Fault;
use crate::program::{ProcedureIdentity, compile_trigger};
use pikepole_engine::{Object, TriggerDefinition, TriggerEvent};
use pikepole_tsql::{self as tree, ObjectName};
use pikepole_types::SqlError;

impl Definer<'_> {
    /// CREATE and ALTER TRIGGER.
    pub(crate) async fn create_trigger(&mut self, create: &tree::CreateTrigger, text: &str) -> Result<(), Fault> {
        if create.on == tree::TriggerTarget::Database {
            return self.create_definition_trigger(create, text).await;
        }
        if create.name.database.is_some() {
            let statement = if create.mode == tree::ModuleMode::Alter { "ALTER TRIGGER" } else { "CREATE TRIGGER" };
            return Err(Box::new(SqlError::database_prefix_not_allowed(statement)));
        }
        if matches!(&create.on, tree::TriggerTarget::Table(name) if name.is_temporary()) {
            return Err(Box::new(SqlError::trigger_on_temporary()));
        }
        let parent = self.trigger_target(&create.on)?;
        let events = events(&create.events)?;
        let is_view = match &parent {
            Object::Table(_) => false,
            Object::View(_) if create.instead_of => true,
            _ => return Err(Box::new(SqlError::trigger_target_invalid(target_name(&create.on)))),
        };
        let name = create.name.name.text.clone();
        let view = self.context.catalog();
        let schema = view.catalog.schema_by_id(parent.schema_id()).cloned();
        let own = create.name.schema_str();
        if own.is_some_and(|own| schema.as_ref().is_none_or(|schema| !schema.name.eq_ignore_ascii_case(own))) {
            let verb = if create.mode == tree::ModuleMode::Alter { "alter" } else { "create" };
            return Err(Box::new(SqlError::trigger_in_other_schema(verb, create.name.dotted())));
        }
        if let Object::Table(table) = &parent
            && (table.is_history() || (create.instead_of && table.history().is_some()))
        {
            let table = self.context.database().full_name_of(table);
            return Err(Box::new(SqlError::versioned_takes_no_trigger(table)));
        }
        if is_view && view_checks(&view.catalog, parent.object_id()) {
            return Err(Box::new(SqlError::trigger_on_checked_view(&name, parent.name())));
        }
        let shape = {
            let names = Names::of(&view, &*self.host);
            let own = schema.as_ref().and_then(|schema| view.catalog.trigger(&schema.name, &name));
            let own = own.map_or(0, |own| own.module.object_id);
            TriggerShape::of(own, parent.object_id(), create.instead_of, &names)?
        };
        let own_schema = schema.as_ref().map_or("dbo", |schema| schema.name.as_str());
        let acts_for = self.module_principal(&create.options, own_schema)?;
        let identity = ProcedureIdentity::to_be(&name, own_schema, &self.context.settings);
        let context = self.compile_context_in(own_schema);
        if let Err(found) = compile_trigger(text, identity, Some(shape), &context) {
            return Err(self.report_all(found));
        }
        let definition = TriggerDefinition {
            name,
            text: text.to_owned(),
            parent_id: parent.object_id(),
            events,
            instead_of: create.instead_of,
            not_for_replication: create.not_for_replication,
            execute_as: acts_for,
            ansi_nulls: self.context.settings.ansi_nulls,
            quoted_identifier: self.context.settings.quoted_identifier,
        };
        let (database, tx) = self.context.engine();
        let put = database.put_trigger(tx, definition, put_mode(create.mode)).await;
        Ok(put.map_err(|error| as_written(error, &create.name))?)
    }

    /// DROP TRIGGER, one of those named.
    pub(crate) async fn drop_trigger(&mut self, drop: &tree::Drop, name: &ObjectName) -> Result<(), Fault> {
        if drop.trigger_on == Some(tree::TriggerTarget::Database) {
            return self.drop_definition_trigger(drop, name).await;
        }
        if let Some(on) = &drop.trigger_on {
            self.trigger_target(on)?;
        }
        let schema = self.own_schema(name)?;
        let view = self.context.catalog();
        if view.catalog.trigger(&schema, &name.name.text).is_none() {
            return match drop.if_exists {
                true => Ok(()),
                false => Err(Box::new(SqlError::object_missing("drop", "trigger", name.dotted()))),
            };
        }
        let (database, tx) = self.context.engine();
        Ok(database.drop_trigger(tx, &schema, &name.name.text).await?)
    }

    /// ENABLE and DISABLE TRIGGER.
    pub(crate) async fn set_triggers(&mut self, set: &tree::SetTrigger) -> Result<(), Fault> {
        if set.on == tree::TriggerTarget::Database {
            return self.enable_definition_triggers(set).await;
        }
        let parent = self.trigger_target(&set.on)?;
        let names = set.names.iter().map(|name| (name.name.text.as_str(), name.dotted()));
        let names: Vec<(&str, String)> = names.collect();
        let found = self.triggers_named(&parent, &names).map_err(SqlError::object_not_found)?;
        let (database, tx) = self.context.engine();
        Ok(database.enable_triggers(tx, parent.object_id(), &found, set.enable).await?)
    }

    /// ALTER TABLE ... ENABLE and DISABLE TRIGGER.
    pub(crate) async fn set_triggers_of_table(
        &mut self,
        table: &ObjectName,
        enable: bool,
        names: &[tree::Name],
    ) -> Result<(), Fault> {
        let found = self.altered(table)?;
        let parent = Object::Table(found.engine.clone());
        let names: Vec<(&str, String)> = names.iter().map(|name| (name.as_str(), name.text.clone())).collect();
        let triggers = self.triggers_named(&parent, &names);
        let triggers = triggers.map_err(|name| SqlError::trigger_of_table_missing(name, &found.name))?;
        let (database, tx) = self.context.engine();
        Ok(database.enable_triggers(tx, parent.object_id(), &triggers, enable).await?)
    }

    /// The triggers of a table or view with these names, or all of them; the first name that none has.
    fn triggers_named(&self, parent: &Object, names: &[(&str, String)]) -> Result<Vec<i32>, String> {
        let view = self.context.catalog();
        let mut own = view.catalog.triggers_of(parent.object_id());
        if names.is_empty() {
            return Ok(own.map(|trigger| trigger.module.object_id).collect());
        }
        let own: Vec<_> = own.by_ref().collect();
        let find = |(name, shown): &(&str, String)| {
            let found = own.iter().find(|trigger| trigger.module.name.to_lowercase() == name.to_lowercase());
            found.map(|trigger| trigger.module.object_id).ok_or_else(|| shown.clone())
        };
        names.iter().map(find).collect()
    }

    /// The object that a trigger watches.
    fn trigger_target(&self, on: &tree::TriggerTarget) -> Result<Object, Fault> {
        let name = match on {
            tree::TriggerTarget::Table(name) => name,
            tree::TriggerTarget::Database => return Err(Box::new(SqlError::trigger_target_invalid("DATABASE"))),
            tree::TriggerTarget::Server => return Err(errors::unsupported("A trigger of the server (ON ALL SERVER)")),
        };
        let invalid = || Box::new(SqlError::trigger_target_invalid(name.dotted()).with_state(4));
        if name.is_temporary() {
            return Err(invalid());
        }
        let view = self.context.catalog();
        let place = view.place_itself(name)?.ok_or_else(invalid)?;
        if place.view.database.id() != view.database.id() {
            return Err(Box::new(SqlError::trigger_target_elsewhere(name.dotted())));
        }
        place.object().cloned().ok_or_else(invalid)
    }
}

fn target_name(on: &tree::TriggerTarget) -> String {
    match on {
        tree::TriggerTarget::Table(name) => name.dotted(),
        other => other.to_string(),
    }
}

/// Whether a view says WITH CHECK OPTION.
fn view_checks(catalog: &pikepole_engine::Catalog, object_id: i32) -> bool {
    let Some(Object::View(view)) = catalog.object_by_id(object_id) else { return false };
    let Ok(batch) = tree::parse(&view.text) else { return false };
    matches!(
        batch.statements.first().map(|statement| &statement.kind),
        Some(tree::StatementKind::CreateView(view)) if view.check_option
    )
}

/// The events as they are written.
///
/// # Errors
/// 1084 for a word that is none, 1034 for one that is said twice.
fn events(written: &[String]) -> Result<Vec<TriggerEvent>, Fault> {
    let mut events: Vec<TriggerEvent> = Vec::new();
    for word in written {
        let event = TriggerEvent::ALL.into_iter().find(|event| event.name() == word);
        let event = event.ok_or_else(|| SqlError::trigger_event_unknown(word))?;
        if events.contains(&event) {
            return Err(Box::new(SqlError::trigger_event_twice(event.name())));
        }
        events.push(event);
    }
    events.sort_unstable();
    Ok(events)
}
