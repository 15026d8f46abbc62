//! Definitions with triggers that watch them, and how those run.
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
use super::frame::Alone;
use super::rules::{internal_names, show_values};
use super::trigger::{Transition, TriggerFrame};
use crate::ddl::{Happening, Watched, definition_kind};
use crate::errors::first_error;
use crate::expression::Fault;
use crate::output::{Done, DoneKind};
use crate::program::{ProcedureIdentity, Program, SelectInto, compile_trigger};
use crate::settings::{NullDefault, Settings};
use crate::state::RunningTrigger;
use crate::xml_text::escape_xml;
use pikepole_engine::{DBO, DefinitionTrigger};
use pikepole_tsql::Statement;
use pikepole_types::SqlError;

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
    /// Runs a definition. False: a trigger that watches it runs first.
    ///
    /// # Errors
    /// As [`Definer::define`](crate::ddl::Definer::define), and those of the triggers.
    pub(super) async fn define(&mut self, statement: &Statement, text: &str) -> Result<bool, Fault> {
        if matches!(self.frame.alone, Some(Alone::Definition(_))) {
            return self.next_definition_trigger().await;
        }
        let watched = self.definer().define(statement, text).await?;
        let kind = definition_kind(&statement.kind);
        if !watched.is_empty() {
            return self.begin_definition_triggers(watched, text, Some(kind)).await;
        }
        self.done(Done { rows: None, kind });
        Ok(true)
    }

    /// The table that a SELECT ... INTO makes. False: a trigger that watches it runs first.
    pub(super) async fn create_into(&mut self, into: &SelectInto) -> Result<bool, Fault> {
        if matches!(self.frame.alone, Some(Alone::Definition(_))) {
            return self.next_definition_trigger().await;
        }
        let watched = self.definer().create_into(into).await?;
        match watched.is_empty() {
            true => Ok(true),
            false => self.begin_definition_triggers(watched, "", None).await,
        }
    }

    /// The definition is made: its triggers run. True: there are none that do.
    async fn begin_definition_triggers(
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
    async fn next_definition_trigger(&mut self) -> Result<bool, Fault> {
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
