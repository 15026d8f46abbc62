//! Triggers of definitions: CREATE TRIGGER ... ON DATABASE, and how they run.
//!
//! ```text
//!   definition ─► its events, and who watches them ─► it is made ─► the triggers, one after the other ─► end
//!                                                                    │ each a frame on the definition's
//!                                                                    └─ when it is left, the instruction is run again
//! ```
//! They run in the definition's transaction: a ROLLBACK or an error in one undoes the definition, as it undoes the statement that
//! a trigger of rows watches. Who is made by a definition does not watch it; who is changed by it does, as it is then.

use std::collections::VecDeque;
use std::sync::Arc;

use super::Machine;
use super::call::NESTING_MAX;
use super::define::{declared_names, put_mode};
use super::definition_event::Happening;
use super::frame::Alone;
use super::rules::{internal_names, show_values};
use super::trigger::{Transition, TriggerFrame};
use crate::errors::first_error;
use crate::executor::escape_xml;
use crate::expression::Fault;
use crate::output::{Done, DoneKind};
use crate::program::{ProcedureIdentity, Program, compile_trigger};
use crate::settings::{NullDefault, Settings};
use crate::state::RunningTrigger;
use pikepole_engine::{DBO, DEFAULT_SCHEMA, DefinitionEvent, DefinitionTrigger, ModuleDefinition};
use pikepole_tsql::{self as tree, ObjectName, Statement};
use pikepole_types::SqlError;

/// An event, and the object ids of the triggers that watch it.
pub(super) type Watched = (Happening, Vec<i32>);

/// One run of a trigger.
struct Fire {
    trigger: Arc<DefinitionTrigger>,
    /// What EVENTDATA() says.
    event: Arc<str>,
}

/// A definition that is made, while its triggers run.
pub(crate) struct Defining {
    queue: VecDeque<Fire>,
    /// What the client is told at the end; of the table that a SELECT ... INTO makes, nothing.
    kind: Option<DoneKind>,
}

impl Machine<'_> {
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

    /// The definition is made: its triggers run. True: there are none that do.
    pub(super) async fn begin_definition_triggers(
        &mut self,
        watched: Vec<Watched>,
        text: &str,
        kind: Option<DoneKind>,
    ) -> Result<bool, Fault> {
        // What must stand alone in a batch is told of as the whole batch is written.
        let command = match text {
            "" => self.statement_text(),
            _ => self.frame.program.text().to_owned(),
        };
        let around = self.surroundings().await?;
        let view = self.context.catalog();
        let mut queue = VecDeque::new();
        for (happening, watching) in &watched {
            let session_id = self.context.state.session_id;
            let event = event_text(happening, session_id, &around, &command, &self.context.settings);
            let event: Arc<str> = event.into();
            let triggers = watching.iter().filter_map(|id| view.catalog.definition_trigger_by_id(*id));
            for trigger in triggers.filter(|trigger| !trigger.disabled) {
                queue.push_back(Fire { trigger: Arc::clone(trigger), event: Arc::clone(&event) });
            }
        }
        self.frame.began |= self.context.begin_for_triggers();
        self.frame.alone = Some(Alone::Definition(Box::new(Defining { queue, kind })));
        self.next_definition_trigger().await
    }

    /// Enters the next trigger of the definition; true: all have run, and the definition has ended.
    pub(super) async fn next_definition_trigger(&mut self) -> Result<bool, Fault> {
        let Some(Alone::Definition(mut defining)) = self.frame.alone.take() else { return Ok(true) };
        if let Some(fire) = defining.queue.pop_front() {
            self.frame.alone = Some(Alone::Definition(defining));
            self.enter_definition_trigger(&fire)?;
            return Ok(false);
        }
        self.end_of_triggers();
        self.context.end_definition().await?;
        if let Some(kind) = defining.kind {
            self.done(Done { rows: None, kind });
        }
        Ok(true)
    }

    fn enter_definition_trigger(&mut self, fire: &Fire) -> Result<(), Fault> {
        if self.context.state.nest_level >= NESTING_MAX {
            return Err(Box::new(SqlError::nesting_level_exceeded(NESTING_MAX)));
        }
        let program = self.definition_trigger_program(&fire.trigger)?;
        let acting = self.context.module_context(&program)?;
        let mut frame = self.context.spare_frames.take(&program);
        let outer = self.context.suspend_statement();
        frame.trigger = Some(Box::new(TriggerFrame { rows: Arc::new(Transition::default()), outer }));
        let object_id = fire.trigger.module.object_id;
        let event = Some(Arc::clone(&fire.event));
        self.context.state.triggers.push(RunningTrigger { object_id, instead_of: false, event });
        self.push_frame(frame, &program);
        self.context.begin_module_context(acting);
        self.context.state.row_count = 0;
        if !self.context.settings.xact_abort {
            self.context.settings.xact_abort = true;
            self.host.settings_changed(self.context);
        }
        Ok(())
    }

    fn definition_trigger_program(&mut self, trigger: &DefinitionTrigger) -> Result<Arc<Program>, Fault> {
        let view = self.context.catalog();
        let module = &trigger.module;
        if let Some(program) = self.kept_program(&view, module) {
            return Ok(program);
        }
        let identity = ProcedureIdentity::of(module, DBO);
        let context = self.context.compile_context_of(&*self.host, module);
        let program = compile_trigger(&module.text, identity, None, &context).map_err(first_error)?;
        self.context.plans.keep_procedure(view.database.id(), module.object_id, &program);
        Ok(program)
    }

    /// The text of the statement at hand.
    fn statement_text(&self) -> String {
        let program = &self.frame.program;
        let span = program.spans.get(self.frame.pc);
        let text = span.and_then(|span| program.text().get(span.range())).unwrap_or_default();
        text.trim_end_matches(|c: char| c == ';' || c.is_whitespace()).to_owned()
    }

    /// What EVENTDATA() says of the moment and the session: the time, the server, the login, the user, the database.
    async fn surroundings(&mut self) -> Result<Vec<String>, Fault> {
        let base = self.frame.slots.len();
        let text = "SELECT CONVERT(nvarchar(23), GETDATE(), 126), @@SERVERNAME, SUSER_SNAME(), USER_NAME(), DB_NAME()";
        let plan = self.internal_statement(text, &internal_names(base, Vec::new()))?;
        show_values(&mut self.frame.slots, base, Vec::new(), plan.slots);
        self.functions.now = crate::clock::now();
        let read = self.select_rows(&plan).await;
        self.frame.slots.truncate(base);
        let (_, rows) = read?;
        let row = rows.into_iter().next().unwrap_or_default();
        Ok(row.iter().map(|value| value.as_str().unwrap_or_default().to_owned()).collect())
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

/// An event as EVENTDATA() says it.
fn event_text(happening: &Happening, session_id: i32, around: &[String], command: &str, settings: &Settings) -> String {
    let mut text = String::from("<EVENT_INSTANCE>");
    let part = |at: usize| around.get(at).map_or("", String::as_str);
    let target = happening.target.as_ref();
    let elements = [
        ("EventType", Some(happening.event.name)),
        ("PostTime", Some(part(0))),
        ("SPID", Some(&*session_id.to_string())),
        ("ServerName", Some(part(1))),
        ("LoginName", Some(part(2))),
        ("UserName", Some(part(3))),
        ("DatabaseName", Some(part(4))),
        ("SchemaName", Some(happening.schema.as_str())),
        ("ObjectName", Some(happening.object.as_str())),
        ("ObjectType", Some(happening.kind)),
        ("TargetObjectName", target.map(|(name, _)| name.as_str())),
        ("TargetObjectType", target.map(|(_, kind)| *kind)),
    ];
    for (name, value) in elements {
        let Some(value) = value else { continue };
        push_element(&mut text, name, value);
    }
    let on = |is_on: bool| if is_on { "ON" } else { "OFF" };
    let (nulls, quoted) = (on(settings.ansi_nulls), on(settings.quoted_identifier));
    let (null_default, padding) = (on(settings.null_default == NullDefault::On), on(settings.ansi_padding));
    text.push_str(&format!(
        r#"<TSQLCommand><SetOptions ANSI_NULLS="{nulls}" ANSI_NULL_DEFAULT="{null_default}" ANSI_PADDING="{padding}" QUOTED_IDENTIFIER="{quoted}" ENCRYPTED="FALSE"/>"#
    ));
    push_element(&mut text, "CommandText", command);
    text.push_str("</TSQLCommand></EVENT_INSTANCE>");
    text
}

fn push_element(text: &mut String, name: &str, value: &str) {
    text.push_str(&format!("<{name}>"));
    escape_xml(value, false, text);
    text.push_str(&format!("</{name}>"));
}
