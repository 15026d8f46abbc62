//! Triggers: what a statement notes for them while it works, and how they run.
//!
//! ```text
//!   rows changed ─► old and new rows noted ─► foreign keys, cascades ─► OUTPUT INTO ─► the triggers, one after the other ─► end
//!                   (INSTEAD OF: the rows are noted and not changed)                    │ each a frame on the statement's
//!                                                                                      └─ when it is left, the statement goes on
//! ```
//! The rows lie in memory, as those of a view of the host do, and are read in the same way. A trigger always runs in a
//! transaction: under autocommit the statement's changes become one when the first trigger is entered, and end with the
//! statement. XACT_ABORT is ON in a trigger until it says otherwise, and an error that leaves it takes the transaction along.

use std::collections::VecDeque;
use std::sync::Arc;

use super::Machine;
use super::call::NESTING_MAX;
use super::statement::StatementState;
use super::statement_rows::quantum_over;
use crate::access::{CatalogView, Stop};
use crate::bind::{Names, TriggerShape};
use crate::context::OuterStatement;
use crate::errors::first_error;
use crate::errors::unsupported;
use crate::expression::Fault;
use crate::plan::{Instead, Statement, Triggers};
use crate::program::{ProcedureIdentity, Program, compile_trigger};
use crate::state::{RunningTrigger, SessionState};
use pikepole_engine::{DBO, Module, Trigger, TriggerEvent};
use pikepole_types::{SqlError, Value};

/// The rows of `inserted` and `deleted`.
#[derive(Debug, Default)]
pub(crate) struct Transition {
    pub(crate) inserted: Arc<Vec<Vec<Value>>>,
    pub(crate) deleted: Arc<Vec<Vec<Value>>>,
}

/// One run of a trigger.
pub(crate) struct Fire {
    trigger: Arc<Trigger>,
    rows: Arc<Transition>,
    updated: Arc<[bool]>,
    /// `@@ROWCOUNT` when it begins.
    row_count: u64,
}

/// Rows that a cascade has changed, for the triggers of their table.
struct Cascaded {
    triggers: Arc<Triggers>,
    place: usize,
    rows: Transition,
}

/// What a statement keeps for the triggers that it fires.
#[derive(Default)]
pub(crate) struct Firing {
    /// The rows so far, in the places of what is watched.
    rows: Vec<Transition>,
    cascaded: Vec<Cascaded>,
    /// INSTEAD OF triggers run in the place of the changes.
    instead: bool,
    /// The runs that are left, once the last row is changed.
    queue: Option<VecDeque<Fire>>,
}

/// What a trigger's frame keeps of the statement that fired it.
pub(crate) struct TriggerFrame {
    pub(crate) rows: Arc<Transition>,
    pub(crate) outer: OuterStatement,
}

impl Firing {
    pub(crate) fn reset(&mut self) {
        self.rows.clear();
        self.cascaded.clear();
        self.instead = false;
        self.queue = None;
    }

    /// The statement begins. An INSTEAD OF trigger does not stand in for its own statements.
    pub(crate) fn begin(&mut self, triggers: &Triggers, state: &SessionState) {
        let stands_in = |trigger: &Arc<Trigger>| !is_innermost(trigger, state);
        self.instead = triggers.events.iter().filter_map(|event| event.instead.as_ref()).any(stands_in);
    }

    /// Whether rows are noted and not changed.
    pub(crate) fn is_instead(&self) -> bool {
        self.instead
    }

    /// Notes a row that was changed.
    pub(crate) fn note(
        &mut self,
        triggers: &Triggers,
        event: TriggerEvent,
        old: Option<&[Value]>,
        new: Option<&[Value]>,
    ) {
        let Some(place) = triggers.place(event) else { return };
        self.rows.resize_with(triggers.events.len(), Transition::default);
        let rows = &mut self.rows[place];
        // Nobody else has the rows before the last one is noted.
        if let (Some(old), Some(rows)) = (old, Arc::get_mut(&mut rows.deleted)) {
            rows.push(old.to_vec());
        }
        if let (Some(new), Some(rows)) = (new, Arc::get_mut(&mut rows.inserted)) {
            rows.push(new.to_vec());
        }
    }

    /// A cascade of the statement is done. The triggers of the tables furthest away run first, and once for all keys.
    pub(crate) fn absorb(&mut self, plan: &Statement, done: &mut Firing) {
        let own = plan.triggers.iter().flat_map(|triggers| {
            let rows = std::mem::take(&mut done.rows).into_iter().enumerate();
            rows.map(|(place, rows)| Cascaded { triggers: Arc::clone(triggers), place, rows })
        });
        let all: Vec<Cascaded> = done.cascaded.drain(..).chain(own).collect();
        for cascaded in all {
            let event = cascaded.triggers.events[cascaded.place].event;
            let same = |known: &&mut Cascaded| {
                known.triggers.table == cascaded.triggers.table && known.triggers.events[known.place].event == event
            };
            match self.cascaded.iter_mut().find(same) {
                Some(known) => known.rows.append(cascaded.rows),
                None => self.cascaded.push(cascaded),
            }
        }
    }

    /// The runs that are due when the last row is changed.
    fn due(&mut self, plan: &Statement, row_count: u64, runs: impl Fn(&Arc<Trigger>) -> bool) -> VecDeque<Fire> {
        let mut due = VecDeque::new();
        for Cascaded { triggers, place, rows } in self.cascaded.drain(..) {
            let event = &triggers.events[place];
            let row_count = rows.inserted.len().max(rows.deleted.len()) as u64;
            let rows = Arc::new(rows);
            for trigger in event.after.iter().filter(|trigger| runs(trigger)) {
                let (trigger, rows, updated) = (Arc::clone(trigger), Arc::clone(&rows), Arc::clone(&event.updated));
                due.push_back(Fire { trigger, rows, updated, row_count });
            }
        }
        let Some(triggers) = &plan.triggers else { return due };
        self.rows.resize_with(triggers.events.len(), Transition::default);
        for (event, rows) in triggers.events.iter().zip(self.rows.drain(..)) {
            let rows = Arc::new(rows);
            let own = if self.instead { event.instead.as_slice() } else { &event.after };
            for trigger in own.iter().filter(|trigger| runs(trigger)) {
                let (trigger, rows, updated) = (Arc::clone(trigger), Arc::clone(&rows), Arc::clone(&event.updated));
                due.push_back(Fire { trigger, rows, updated, row_count });
            }
        }
        due
    }
}

impl Transition {
    fn append(&mut self, other: Transition) {
        for (own, more) in [(&mut self.inserted, other.inserted), (&mut self.deleted, other.deleted)] {
            let more = Arc::unwrap_or_clone(more);
            Arc::make_mut(own).extend(more);
        }
    }
}

/// Whether a trigger is, of those of its kind, AFTER or INSTEAD OF, the one that was entered last: to fire it again is direct
/// recursion, whatever triggers of the other kind run in between.
fn is_innermost(trigger: &Trigger, state: &SessionState) -> bool {
    let mut of_kind = state.triggers.iter().rev().filter(|running| running.instead_of == trigger.instead_of);
    of_kind.next().is_some_and(|running| running.object_id == trigger.module.object_id)
}

impl Machine<'_> {
    /// Collects the rows of a change that an INSTEAD OF trigger of a view stands in for. False: the quantum is over, there are
    /// more.
    pub(crate) fn instead_rows(
        &mut self,
        plan: &Statement,
        instead: &Instead,
        state: &mut StatementState,
    ) -> Result<bool, Stop> {
        let Some(triggers) = &plan.triggers else { return Ok(true) };
        if !state.firing.is_instead() {
            // A procedure or another trigger that the trigger's statements run changes the view again; its plan is one for the
            // trigger.
            return Err(unsupported("Changing a view in what its INSTEAD OF trigger runs").into());
        }
        while self.next_row(plan, state, |machine, state| machine.note_instead(triggers, instead, state))? {
            if quantum_over(state.rows) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Notes the change that the row in the registers stands for.
    fn note_instead(
        &mut self,
        triggers: &Triggers,
        instead: &Instead,
        state: &mut StatementState,
    ) -> Result<(), Fault> {
        let old = instead.deleted.iter().map(|value| value.eval(&mut self.env()));
        let old = old.collect::<Result<Vec<Value>, Fault>>()?;
        let old = Some(old).filter(|old| !old.is_empty());
        if instead.inserted.is_empty() {
            state.firing.note(triggers, instead.event, old.as_deref(), None);
            state.rows += 1;
        }
        for values in &instead.inserted {
            let new = values.iter().map(|value| value.eval(&mut self.env()));
            let new = new.collect::<Result<Vec<Value>, Fault>>()?;
            state.firing.note(triggers, instead.event, old.as_deref(), Some(&new));
            state.rows += 1;
        }
        Ok(())
    }

    /// The next trigger that the statement has to run; none when all have run.
    pub(crate) fn next_fire(&mut self, plan: &Statement, firing: &mut Firing, rows: u64) -> Option<Fire> {
        if (plan.triggers.is_none() && firing.cascaded.is_empty()) || self.context.settings.fmtonly {
            return None;
        }
        if firing.queue.is_none() {
            let recursive = self.context.database().options().recursive_triggers;
            let state = &self.context.state;
            let runs = |trigger: &Arc<Trigger>| !is_innermost(trigger, state) || (recursive && !trigger.instead_of);
            firing.queue = Some(firing.due(plan, rows, runs));
        }
        let next = firing.queue.as_mut().and_then(VecDeque::pop_front)?;
        self.frame.began |= self.context.begin_for_triggers();
        Some(next)
    }

    /// All triggers of the statement have run: a transaction that was made for them ends with it.
    pub(crate) fn end_of_triggers(&mut self) {
        if std::mem::take(&mut self.frame.began) {
            self.context.end_for_triggers();
        }
    }

    /// Enters a trigger; the instruction that has fired it is run again when it is left.
    pub(crate) fn enter_trigger(&mut self, fire: Fire) -> Result<(), Fault> {
        if self.context.state.nest_level >= NESTING_MAX {
            return Err(Box::new(SqlError::nesting_level_exceeded(NESTING_MAX)));
        }
        let program = self.trigger_program(&fire.trigger)?;
        let acting = self.context.module_context(&program)?;
        let mut frame = self.context.spare_frames.take(&program);
        let updated = &fire.updated;
        // A DELETE says of no column that it was updated.
        let bits = program.trigger.as_ref().map(|shape| shape.updated_bits(updated));
        let bits = Value::Bin(bits.unwrap_or_default());
        let each = updated.iter().map(|updated| Value::Bit(*updated));
        let shown = program.trigger.as_ref().map_or(0, |shape| 1 + shape.len());
        for (slot, value) in frame.slots[..shown].iter_mut().zip([bits].into_iter().chain(each)) {
            *slot = value;
        }
        let outer = self.context.suspend_statement();
        frame.trigger = Some(Box::new(TriggerFrame { rows: fire.rows, outer }));
        let module = &fire.trigger.module;
        let running = RunningTrigger { object_id: module.object_id, instead_of: fire.trigger.instead_of, event: None };
        self.context.state.triggers.push(running);
        self.push_frame(frame, &program);
        self.context.begin_module_context(acting);
        self.context.state.row_count = i64::try_from(fire.row_count).unwrap_or(i64::MAX);
        if !self.context.settings.xact_abort {
            self.context.settings.xact_abort = true;
            self.host.settings_changed(self.context);
        }
        Ok(())
    }

    /// The program of a trigger's module that was compiled before, if nothing that it names has changed.
    pub(super) fn kept_program(&self, view: &CatalogView, module: &Module) -> Option<Arc<Program>> {
        let program = self.context.plans.procedure(view.database.id(), module.object_id, &module.text)?;
        let keeps = program.procedure.as_ref().is_some_and(|known| known.keeps(module));
        (keeps && program.fits(|| view.catalog.clone())).then_some(program)
    }

    fn trigger_program(&mut self, trigger: &Trigger) -> Result<Arc<Program>, Fault> {
        let view = self.context.catalog();
        let module = &trigger.module;
        if let Some(program) = self.kept_program(&view, module) {
            return Ok(program);
        }
        let shape = {
            let names = Names::of(&view, &*self.host);
            TriggerShape::of(module.object_id, trigger.parent_id, trigger.instead_of, &names)?
        };
        let owner = view.catalog.schema_by_id(module.schema_id).map_or(DBO, |schema| schema.owner);
        let identity = ProcedureIdentity::of(module, owner);
        let context = self.context.compile_context_of(&*self.host, module);
        let program = compile_trigger(&module.text, identity, Some(shape), &context).map_err(first_error)?;
        self.context.plans.keep_procedure(view.database.id(), module.object_id, &program);
        Ok(program)
    }

    /// The end of a trigger: back to the statement that has fired it.
    pub(crate) fn leave_trigger(&mut self) -> Result<(), Fault> {
        let doomed = self.context.state.doomed;
        self.count_call();
        self.drop_frame();
        if doomed {
            return Err(Box::new(SqlError::trigger_failed()));
        }
        if self.context.state.transaction_count == 0 {
            return Err(Box::new(SqlError::transaction_ended_in_trigger()));
        }
        Ok(())
    }

    /// Whether the running text is a trigger's, or was called by one's.
    pub(crate) fn is_in_trigger(&self) -> bool {
        !self.context.state.triggers.is_empty()
    }
}
