//! DDL triggers: CREATE, ALTER, DROP, ENABLE and DISABLE TRIGGER ... ON DATABASE, and those that watch a definition.

use super::Definer;
use super::define::{declared_names, put_mode};
use super::definition_event::Happening;
use crate::expression::Fault;
use crate::program::{ProcedureIdentity, compile_trigger};
use pikepole_engine::{DEFAULT_SCHEMA, DefinitionEvent, ModuleDefinition};
use pikepole_tsql::{self as tree, ObjectName, Statement};
use pikepole_types::SqlError;

/// An event, and the object ids of the triggers that watch it.
pub(crate) type Watched = (Happening, Vec<i32>);

impl Definer<'_> {
    /// The events of a definition that is about to be made, as far as somebody watches them.
    pub(super) fn watched(&self, statement: &Statement) -> Vec<Watched> {
        self.watched_of(|machine| machine.happenings(statement))
    }

    /// The table that a SELECT ... INTO is about to make, if somebody watches that.
    pub(super) fn watched_into(&self, target: &ObjectName) -> Vec<Watched> {
        self.watched_of(|machine| machine.happening("CREATE", "TABLE", target).into_iter().collect())
    }

    fn watched_of(&self, happenings: impl FnOnce(&Self) -> Vec<Happening>) -> Vec<Watched> {
        let view = self.context.catalog();
        if !view.has_definition_triggers() {
            return Vec::new();
        }
        // A trigger does not watch what it does itself.
        let own = self.context.state.triggers.last().map(|running| running.object_id);
        let watching = |happening: &Happening| -> Vec<i32> {
            let all = view.catalog.definition_triggers().filter(|trigger| trigger.watches(happening.event));
            all.map(|trigger| trigger.module.object_id).filter(|id| Some(*id) != own).collect()
        };
        let all = happenings(self).into_iter();
        all.map(|happening| (watching(&happening), happening))
            .filter(|(watching, _)| !watching.is_empty())
            .map(|(watching, happening)| (happening, watching))
            .collect()
    }

    /// CREATE and ALTER TRIGGER ... ON DATABASE.
    ///
    /// # Errors
    /// 1084 for what is no event, 1094 for a name with a schema, 1098 for events of the server; those of its statements.
    pub(super) async fn create_definition_trigger(
        &mut self,
        create: &tree::CreateTrigger,
        text: &str,
    ) -> Result<(), Fault> {
        if create.name.schema.is_some() {
            return Err(Box::new(SqlError::trigger_name_with_schema()));
        }
        if create.instead_of {
            return Err(Box::new(SqlError::incorrect_syntax("INSTEAD")));
        }
        if tree::execute_as(&create.options).is_some_and(|says| says.eq_ignore_ascii_case("OWNER")) {
            return Err(Box::new(SqlError::owner_of_database_trigger()));
        }
        let mut events = Vec::with_capacity(create.events.len());
        for name in &create.events {
            let event = DefinitionEvent::by_name(name);
            let event = event.ok_or_else(|| Box::new(SqlError::trigger_event_unknown(name)))?;
            if !event.is_of_database() {
                return Err(Box::new(SqlError::events_not_on_target()));
            }
            if !events.contains(&event.number) {
                events.push(event.number);
            }
        }
        let name = create.name.name.text.as_str();
        let execute_as = self.module_principal(&create.options, DEFAULT_SCHEMA)?;
        let identity = ProcedureIdentity::to_be(name, DEFAULT_SCHEMA, &self.context.settings);
        let context = self.compile_context_in(DEFAULT_SCHEMA);
        if let Err(found) = compile_trigger(text, identity, None, &context) {
            return Err(self.report_all(found));
        }
        let settings = &self.context.settings;
        let (ansi_nulls, quoted_identifier) = (settings.ansi_nulls, settings.quoted_identifier);
        let definition = ModuleDefinition {
            schema: DEFAULT_SCHEMA,
            name,
            text,
            execute_as,
            ansi_nulls,
            quoted_identifier,
            columns: &[],
            declared: declared_names,
        };
        let (database, tx) = self.context.engine();
        Ok(database.put_definition_trigger(tx, definition, events, put_mode(create.mode)).await?)
    }

    /// DROP TRIGGER ... ON DATABASE, one of those named.
    pub(super) async fn drop_definition_trigger(&mut self, drop: &tree::Drop, name: &ObjectName) -> Result<(), Fault> {
        let exists = self.context.catalog().catalog.definition_trigger(&name.name.text).is_some();
        if !exists && drop.if_exists {
            return Ok(());
        }
        let (database, tx) = self.context.engine();
        Ok(database.drop_definition_trigger(tx, &name.name.text).await?)
    }

    /// ENABLE and DISABLE TRIGGER ... ON DATABASE.
    ///
    /// # Errors
    /// 1088 for a name that none has.
    pub(super) async fn enable_definition_triggers(&mut self, set: &tree::SetTrigger) -> Result<(), Fault> {
        let view = self.context.catalog();
        let mut found = Vec::new();
        for name in &set.names {
            let trigger = view.catalog.definition_trigger(&name.name.text);
            let missing = || Box::new(SqlError::object_not_found(name.dotted()));
            found.push(trigger.ok_or_else(missing)?.module.object_id);
        }
        if set.names.is_empty() {
            found.extend(view.catalog.definition_triggers().map(|trigger| trigger.module.object_id));
        }
        let (database, tx) = self.context.engine();
        Ok(database.enable_definition_triggers(tx, &found, set.enable).await?)
    }
}
