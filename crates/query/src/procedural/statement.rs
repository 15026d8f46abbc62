//! Statements that touch rows: bound, opened, driven, ended.
//!
//! A statement's progress is its state's phase, its cursors and its row buffers. So after a need has been awaited the machine
//! comes back to the same instruction and goes on.

use std::sync::Arc;

use super::change::ChangeState;
use super::function::Called;
use super::modify::ModifyState;
use super::output_rows::OutputState;
use super::rules::rules_fault;
use super::short::Short;
use super::show_plan::Began;
use super::trigger::{Firing, Transition};
use super::{Machine, Pause};
use crate::access::{CatalogStamp, HostCall, Stop};
use crate::bind::{self, Names};
use crate::executor::Cursor;
use crate::executor::{Making, Profile, SharedTables};
use crate::expression::{Expr, Fault};
use crate::output::{Done, DoneKind};
use crate::plan::{Action, Statement, Told, VirtualSource};
use crate::program::{Instruction, Late, LateKind, Program};
use crate::runs::{OwnCell, Paused, Taken, Turn};
use pikepole_engine::{Function, ReadMeter, TriggerEvent};
use pikepole_scheduler as scheduler;
use pikepole_types::{SqlError, Value};

/// A function that is to be run, and its arguments.
type FunctionCall = (Arc<Function>, Vec<Value>);

/// How far a statement has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Phase {
    /// Not begun.
    #[default]
    Idle,
    /// Its rows are being worked on.
    Running,
    /// All rows are changed; those of OUTPUT ... INTO are being inserted.
    Adding,
    /// What it changes is changed; its triggers are running.
    Firing,
    /// All is done; under autocommit it is committing.
    Ending,
    /// It has ended; the rows of OUTPUT are being sent.
    Sending,
}

/// The state of one statement of a frame; kept from run to run.
#[derive(Default)]
pub(crate) struct StatementState {
    plan: Option<Arc<Statement>>,
    /// The shortest way of the plan, if it has one; see [`super::short`].
    short: Option<Box<Short>>,
    pub(crate) cursor: Option<Cursor>,
    phase: Phase,
    pub(crate) rows: u64,
    pub(crate) virtual_rows: Vec<Arc<Vec<Vec<Value>>>>,
    /// The rows of common tables that names have made.
    pub(crate) shared: SharedTables,
    virtual_ready: bool,
    pub(super) out: Vec<Value>,
    pub(crate) modify: ModifyState,
    pub(crate) change: ChangeState,
    pub(crate) output: OutputState,
    /// What triggers are to see.
    pub(crate) firing: Firing,
    pub(super) null_eliminated: bool,
    /// The session's serial when the plan's permissions were last checked; zero: not yet.
    checked: u64,
    /// How often a plan with joins has been run.
    runs: u32,
    /// Statistics have been asked for, for the present run; when there are none now, the plan does without.
    asked: bool,
    /// All rows are done, not all that follows from them.
    rows_done: bool,
    /// The client is not told how many rows there were.
    quiet: bool,
    /// Where its operators count what they do, when somebody wants to know.
    pub(super) profile: Option<Arc<Profile>>,
    /// When it began, likewise.
    began: Option<Began>,
    /// Counts what it reads, likewise.
    pub(super) meter: Option<ReadMeter>,
    /// What the present run has taken before it awaited something.
    paused: Option<Paused>,
    /// Where runs are counted; nowhere when it belongs to no instruction.
    counted_at: Option<OwnCell>,
}

/// How often a session runs a plan between two looks at the sizes of its tables.
const RUNS_PER_LOOK: u32 = 16;

impl StatementState {
    /// Whether the plan's tables have grown so much that it is to be made anew; looks now and then.
    #[inline]
    fn is_outgrown(&mut self) -> bool {
        let Some(plan) = self.plan.as_ref().filter(|plan| !plan.sizes.is_empty()) else {
            return false;
        };
        self.runs = self.runs.wrapping_add(1);
        self.runs.is_multiple_of(RUNS_PER_LOOK) && plan.is_outgrown()
    }

    /// True when there should be statistics of the plan's tables before it runs; asked once for a run.
    fn asks_for_statistics(&mut self) -> bool {
        let wants = self.plan.as_ref().is_some_and(|plan| plan.sizes.iter().any(|size| !size.wanted.is_empty()));
        let asks = wants && !self.asked;
        self.asked = wants;
        asks
    }

    /// Back to the beginning, buffers kept.
    pub(crate) fn reset(&mut self) {
        // Rows that a statement kept which did not come to its end are those of its snapshot.
        if self.phase != Phase::Idle {
            self.forget_kept();
        }
        self.phase = Phase::Idle;
        self.virtual_ready = false;
        self.virtual_rows.clear();
        self.rows_done = false;
        self.meter = None;
        self.paused = None;
        self.modify.reset();
        self.modify.late.reset();
        self.firing.reset();
    }

    /// Takes the shortest way of the plan, if it has one and no run is under way, for a run that ends before the state is looked at again.
    #[inline]
    pub(super) fn take_short(&mut self) -> Option<Box<Short>> {
        if self.phase == Phase::Idle { self.short.take() } else { None }
    }

    #[inline]
    pub(super) fn put_short_back(&mut self, short: Box<Short>) {
        self.short = Some(short);
    }

    /// Tells if the permissions for its plan were checked for this state of the session's.
    #[inline]
    pub(super) fn is_checked(&self, serial: u64) -> bool {
        self.checked == serial
    }

    pub(crate) fn plan(&self) -> Option<Arc<Statement>> {
        self.plan.clone()
    }

    /// The client is not to be told how many rows there are.
    pub(crate) fn silence(&mut self) {
        self.quiet = true;
    }

    pub(crate) fn has_rows_done(&self) -> bool {
        self.rows_done
    }

    pub(crate) fn set_rows_done(&mut self) {
        self.rows_done = true;
    }

    /// Begins a statement within another one.
    pub(crate) fn begin_inner(&mut self, plan: Arc<Statement>) {
        self.set_plan(plan, false);
        if let Some(cursor) = &mut self.cursor {
            cursor.open();
        }
        self.modify.reset();
        self.modify.late.reset();
        self.change.reset();
        self.output.reset();
        self.firing.reset();
        self.forget_kept();
    }

    /// Lets go of the rows that operators keep.
    fn forget_kept(&mut self) {
        if let Some(cursor) = &mut self.cursor {
            cursor.forget();
        }
        self.shared.clear();
    }

    /// Empties what an earlier run of the plan may have left: of the parts that this plan uses, since most use few of them.
    fn clear(&mut self, plan: &Statement) {
        self.modify.reset();
        if plan.rules.is_some() {
            self.modify.late.reset();
        }
        if plan.rules.is_some() || plan.triggers.is_some() {
            self.firing.reset();
        }
        self.forget_rows(plan);
    }

    /// Lets go of the rows that a change by joins and OUTPUT have kept.
    fn forget_rows(&mut self, plan: &Statement) {
        if matches!(plan.action, Action::Change(_)) {
            self.change.reset();
        }
        if plan.action.output().is_some() {
            self.output.reset();
        }
    }

    /// Whether rows of the plan's sources have been fetched for the run to come.
    fn has_fetched(&self) -> bool {
        self.virtual_ready || !self.virtual_rows.is_empty()
    }

    /// Whether rows have left the machine, so that it cannot begin again.
    fn has_sent(&self) -> bool {
        let action = self.plan.as_ref().map(|plan| &plan.action);
        self.rows > 0 && matches!(action, Some(Action::Select { .. } | Action::Assign { .. }))
    }

    /// Keeps where the row is that the cursor has just found. False: the plan has no such row.
    pub(crate) fn take_locator(&mut self) -> bool {
        let scan = self.cursor.as_mut().and_then(Cursor::target_scan);
        match scan.and_then(|scan| scan.locator()) {
            Some(locator) => {
                self.modify.locator.clone_from(locator);
                true
            }
            None => false,
        }
    }

    /// Takes a plan of a program, whose runs are counted from now on.
    fn set_counted(&mut self, late: &Late, plan: Arc<Statement>, profiled: bool) {
        let cell = late.runs.cell();
        plan.tell_uses(&cell.counter());
        self.counted_at = Some(cell);
        self.set_plan(plan, profiled);
    }

    fn set_plan(&mut self, plan: Arc<Statement>, profiled: bool) {
        self.profile = profiled.then(Arc::default);
        // Rows are changed where the scan stands that has found them.
        let regroups = !matches!(plan.action, Action::Update(_) | Action::Delete(_));
        let gathers = plan.may_gather();
        let making = Making { live: &plan.live, profile: self.profile.as_deref(), regroups, gathers, tells: false };
        self.cursor = Some(Cursor::new(&plan.source, making));
        self.modify = ModifyState::new(&plan);
        self.change = ChangeState::default();
        self.output = OutputState::default();
        self.short = if self.profile.is_none() { Short::of(&plan).map(Box::new) } else { None };
        self.plan = Some(plan);
        self.virtual_rows.clear();
        self.virtual_ready = false;
        self.checked = 0;
    }
}

impl Machine<'_> {
    /// Runs, or goes on with, `late[index]`. A pause means that the same instruction is to be run again.
    #[inline]
    pub(crate) fn statement(&mut self, program: &Program, index: usize) -> Result<Option<Pause>, Stop> {
        self.frame.has_run = true;
        let mut state = self.frame.states[index].take().unwrap_or_default();
        let result = self.run_statement(&program.late[index], index, &mut state);
        match &result {
            Err(Stop::Again(_)) => state.reset(),
            Err(Stop::Error(_)) => {
                state.reset();
                if self.attempts > 0 {
                    self.forget_attempts();
                }
            }
            Ok(None) if self.attempts > 0 => self.forget_attempts(),
            Err(Stop::Stale) => {
                let sent = state.has_sent();
                state.reset();
                (state.plan, state.short) = (None, None);
                if sent {
                    self.frame.states[index] = Some(state);
                    return Err(crate::errors::definition_changed().into());
                }
            }
            _ => {}
        }
        self.frame.states[index] = Some(state);
        result
    }

    fn run_statement(&mut self, late: &Late, index: usize, state: &mut StatementState) -> Result<Option<Pause>, Stop> {
        // A function that has been run for the plan has made and dropped tables of its own: the plan is none the older for that.
        if state.phase == Phase::Idle && !state.has_fetched() {
            let stamp = self.context.catalog_stamp();
            let counts_right = state.profile.is_some() == self.context.settings.profiles_plans();
            let fits = state.plan.as_ref().is_some_and(|plan| self.fits(plan, stamp));
            let anew = !fits || !counts_right || state.is_outgrown();
            let bound = if anew { self.bind(late, state) } else { Ok(()) };
            match bound.and_then(|()| self.check_identity(late, state)) {
                Ok(bound_again) if anew || bound_again => {
                    self.context.format_files.clear();
                    if state.asks_for_statistics() {
                        return Ok(Some(Pause::Statistics(index)));
                    }
                }
                Ok(_) => {}
                Err(fault) => {
                    if let Some(name) = self.context.format_files.take_wanted() {
                        return Ok(Some(Pause::FormatFile(name)));
                    }
                    self.context.format_files.clear();
                    return Err(Stop::Error(fault));
                }
            }
        }
        let Some(plan) = state.plan.take() else {
            return Ok(None);
        };
        let result = self.drive_statement(&plan, index, state);
        state.plan = Some(plan);
        result
    }

    /// Runs a plan that belongs to no instruction: rows that an INSERT ... EXEC has collected, or those of a file.
    pub(crate) fn drive_alone(&mut self, state: &mut StatementState) -> Result<Option<Pause>, Stop> {
        let Some(plan) = state.plan.take() else {
            return Ok(None);
        };
        if plan.virtual_sources.iter().any(VirtualSource::is_function) {
            return Err(function_elsewhere().into());
        }
        let result = self.drive_statement(&plan, 0, state);
        state.plan = Some(plan);
        result
    }

    /// The state of a plan that belongs to no instruction.
    pub(crate) fn state_of(plan: Arc<Statement>) -> StatementState {
        let mut state = StatementState::default();
        state.set_plan(plan, false);
        state
    }

    fn drive_statement(
        &mut self,
        plan: &Arc<Statement>,
        index: usize,
        state: &mut StatementState,
    ) -> Result<Option<Pause>, Stop> {
        let begun = Turn::begin();
        let driven = self.drive_metered(plan, index, state);
        let turn = begun.end();
        if turn.read != [0; 2] {
            self.context.activity.has_read(turn.read);
        }
        if driven.as_ref().is_ok_and(Option::is_none) && state.paused.is_none() {
            if let Some(cell) = &state.counted_at {
                cell.add(&Taken { rows: state.rows, ..turn });
            }
        } else {
            count_turn(state, begun, &turn, &driven);
        }
        driven
    }

    pub(super) fn drive_on(
        &mut self,
        plan: &Arc<Statement>,
        index: usize,
        state: &mut StatementState,
    ) -> Result<Option<Pause>, Stop> {
        if state.phase == Phase::Idle {
            let serial = self.context.security_serial();
            if state.checked != serial {
                self.context.check(&plan.requirements, self.procedure_owner())?;
                state.checked = serial;
            }
            self.show_command(command(&plan.action));
            state.began = self.context.settings.statistics_time.then(Began::now);
            if !plan.virtual_sources.is_empty() && !state.virtual_ready {
                if plan.virtual_sources.iter().any(VirtualSource::is_function) {
                    // Functions run before the first row: what they read ends with the statement, whatever its end.
                    self.context.begin_statement(false)?;
                }
                return Ok(Some(Pause::VirtualRows(index)));
            }
            self.begin(plan, state)?;
            state.phase = Phase::Running;
        }
        if state.phase == Phase::Running {
            match self.rows_and_rules(plan, state) {
                Ok(true) => {}
                Ok(false) | Err(Stop::Yield) => return Ok(Some(Pause::Yield)),
                Err(stop) => return Err(stop),
            }
            state.phase = Phase::Adding;
        }
        let output = plan.action.output();
        if state.phase == Phase::Adding {
            if let Some(into) = output.and_then(|output| output.into.as_ref())
                && !self.insert_output(into, state)?
            {
                return Ok(Some(Pause::Yield));
            }
            state.phase = Phase::Firing;
        }
        if state.phase == Phase::Firing {
            if let Some(fire) = self.next_fire(plan, &mut state.firing, state.rows) {
                return Ok(Some(Pause::Fire(Box::new(fire))));
            }
            self.end_of_triggers();
            state.phase = Phase::Ending;
        }
        if state.phase == Phase::Ending {
            if plan.touches {
                self.context.end_statement()?;
            }
            state.phase = Phase::Sending;
        }
        if let Some(output) = output.filter(|output| output.sends())
            && !self.send_output(output, state)?
        {
            return Ok(Some(Pause::Yield));
        }
        self.end(plan, state);
        if let Some(meter) = state.meter.as_ref().filter(|_| self.context.settings.statistics_io) {
            self.send_reads(plan, meter);
        }
        if let Some(profile) = state.profile.clone() {
            self.send_profile(plan, index, &profile, state.rows);
        }
        if let Some(began) = state.began.take() {
            self.send_times(began);
        }
        Ok(None)
    }

    /// Binds the statement against the present catalog, or takes the plan another session has bound.
    fn bind(&mut self, late: &Late, state: &mut StatementState) -> Result<(), Fault> {
        self.context.refresh_security()?;
        let profiled = self.context.settings.profiles_plans();
        let stamp = self.context.catalog_stamp();
        let shared = late.plan.lock().unwrap_or_else(|e| e.into_inner()).clone();
        let recompiles = shared.as_ref().is_some_and(|plan| plan.recompiles);
        if let Some(plan) = shared
            && self.fits(&plan, stamp)
            && !plan.is_outgrown()
            && !self.sniffs(&plan)
        {
            state.set_counted(late, plan, profiled);
            return Ok(());
        }
        let program = &self.frame.program;
        let values = if recompiles { program.variables.len() } else { self.parameters_sniffed() };
        let plan = self.context.count_compiling(|| self.bind_kind(&late.kind, &self.frame.slots[..values]))?;
        late.runs.compiled_again();
        *late.plan.lock().unwrap_or_else(|e| e.into_inner()) = Some(Arc::clone(&plan));
        state.set_counted(late, plan, profiled);
        Ok(())
    }

    /// Whether a plan is good for the definitions as the session sees them now.
    #[inline]
    pub(super) fn fits(&self, plan: &Statement, now: CatalogStamp) -> bool {
        plan.bound_to.fits(now) && (plan.others.is_empty() || self.context.others_fit(&plan.others))
    }

    /// True if a plan that was made before its program ran would be another one by the values of the call.
    fn sniffs(&self, plan: &Statement) -> bool {
        let parameters = self.frame.program.parameters.len();
        plan.asked.iter().any(|slot| *slot < parameters) && self.parameters_sniffed() > 0
    }

    /// The number of parameters whose values plans are made for: they are the first variables.
    fn parameters_sniffed(&self) -> usize {
        if self.context.database().sniffs_parameters() { self.frame.program.parameters.len() } else { 0 }
    }

    /// Binds for these values of the first variables.
    pub(super) fn bind_kind(&self, kind: &LateKind, values: &[Value]) -> Result<Arc<Statement>, Fault> {
        let catalog = self.context.catalog();
        let variables = &self.frame.program.variables;
        let identity_insert = self.context.identity_table();
        let trigger = self.frame.program.trigger.as_deref();
        let names = Names { variables, identity_insert, trigger, values, ..Names::of(&catalog, &*self.host) };
        bind::bind(kind, &names, variables.len())
    }

    /// A plan is shared between sessions, IDENTITY_INSERT is not: a plan bound under another setting is bound again, which
    /// finds the errors 544 and 545. Whether it was.
    fn check_identity(&mut self, late: &Late, state: &mut StatementState) -> Result<bool, Fault> {
        let Some(plan) = &state.plan else {
            return Ok(false);
        };
        let Action::Insert(insert) = &plan.action else {
            return Ok(false);
        };
        if insert.table.identity.is_none() || matches!(late.kind, LateKind::Into(_)) {
            return Ok(false);
        }
        let own = self.context.database().id();
        let on = self.context.identity_table() == Some(insert.table.identity_key(own));
        let switched = insert.explicit_identity.is_some() != on;
        if switched {
            let plan = self.bind_kind(&late.kind, &[])?;
            state.set_counted(late, plan, self.context.settings.profiles_plans());
        }
        Ok(switched)
    }

    /// Tells the views what the session does; a loop over one kind of statement tells them once.
    #[inline]
    fn show_command(&mut self, command: &'static str) {
        if !std::ptr::eq(self.command, command) {
            self.command = command;
            scheduler::set_command(command);
        }
    }

    fn begin(&mut self, plan: &Statement, state: &mut StatementState) -> Result<(), Stop> {
        if self.frame.slots.len() < plan.slots {
            self.frame.slots.resize(plan.slots, Value::Null);
        }
        if plan.touches {
            if !plan.others.is_empty() {
                self.context.take_parts(&plan.others)?;
            }
            let writes = !matches!(plan.action, Action::Select { .. } | Action::Assign { .. });
            self.context.begin_statement(writes)?;
        } else if !plan.virtual_sources.is_empty() {
            self.context.begin_implicitly();
        }
        if plan.reads_clock {
            self.functions.now = crate::clock::now();
        }
        if self.context.functions == 0 {
            self.context.begin_statement_memory();
        }
        if (plan.memory_percent.is_some() || self.context.budget.is_touched()) && self.context.functions == 0 {
            self.context.budget.begin(plan.memory_percent);
        }
        self.show_masked(plan);
        if let Some(profile) = &state.profile {
            profile.clear();
        }
        if let Some(cursor) = &mut state.cursor {
            cursor.open();
        }
        if let Some(fault) = rules_fault(plan) {
            return Err(Stop::Error(fault));
        }
        state.rows = 0;
        state.rows_done = false;
        state.null_eliminated = false;
        state.clear(plan);
        if let Some(triggers) = &plan.triggers {
            if let Some(fault) = &triggers.fault {
                return Err(Stop::Error(fault.clone()));
            }
            state.firing.begin(triggers, &self.context.state);
        }
        if let Action::Select { columns, values } = &plan.action {
            state.out.resize(values.len(), Value::Null);
            match self.captures.last_mut() {
                None => self.send_columns(columns)?,
                Some(capture) => {
                    if !capture.begin_result(columns) {
                        return Err(Stop::Error(Box::new(SqlError::values_do_not_match_table())));
                    }
                }
            }
        }
        Ok(())
    }

    fn rows_and_rules(&mut self, plan: &Statement, state: &mut StatementState) -> Result<bool, Stop> {
        if !state.rows_done {
            if !self.rows(plan, state)? {
                return Ok(false);
            }
            state.rows_done = true;
        }
        self.finish_rows(plan, state)
    }

    /// Works on the rows. False: the quantum is over, there are more.
    pub(crate) fn rows(&mut self, plan: &Statement, state: &mut StatementState) -> Result<bool, Stop> {
        if self.context.settings.fmtonly {
            return Ok(true);
        }
        match &plan.action {
            Action::Select { .. } | Action::Assign { .. } => self.read_rows(plan, state),
            Action::Insert(insert) => self.insert_rows(plan, insert, state),
            Action::Update(update) => self.update_rows(plan, update, state),
            Action::Delete(delete) => self.delete_rows(plan, delete, state),
            Action::Change(change) => self.change_rows(plan, change, state),
            Action::Instead(instead) => self.instead_rows(plan, instead, state),
        }
    }

    fn end(&mut self, plan: &Statement, state: &mut StatementState) {
        state.phase = Phase::Idle;
        state.asked = false;
        state.virtual_ready = false;
        state.virtual_rows.clear();
        // An INSERT of changed rows tells of those that it has inserted.
        let inserts = plan.action.output().is_some_and(crate::plan::OutputPlan::inserts_changed);
        if inserts {
            state.rows = state.output.inserted();
        }
        state.forget_rows(plan);
        state.forget_kept();
        self.tell_eliminated(state);
        self.tell_failed_arithmetic();
        if state.modify.left_out {
            self.output.message(&SqlError::duplicate_key_ignored().at_line(self.line()));
        }
        let kind = match &plan.action {
            _ if inserts => DoneKind::Insert,
            Action::Select { .. } => DoneKind::Select,
            Action::Assign { told, .. } => {
                let rows = if *told == Told::Rows { state.rows } else { 1 };
                self.context.state.row_count = i64::try_from(rows).unwrap_or(i64::MAX);
                if *told != Told::Nothing {
                    self.done_assigning(rows);
                }
                return;
            }
            Action::Insert(_) => DoneKind::Insert,
            Action::Update(_) => DoneKind::Update,
            Action::Delete(_) => DoneKind::Delete,
            Action::Change(change) => change.kind,
            Action::Instead(instead) => match instead.event {
                TriggerEvent::Insert => DoneKind::Insert,
                TriggerEvent::Update => DoneKind::Update,
                TriggerEvent::Delete => DoneKind::Delete,
            },
        };
        if kind != DoneKind::Select && state.rows > 0 {
            self.context.rows_changed += state.rows;
            if let Some(table) = plan.action.changed_table() {
                table.engine.count_changes(state.rows);
            }
        }
        self.context.state.row_count = i64::try_from(state.rows).unwrap_or(i64::MAX);
        self.tell_cursor(plan, state);
        let sends = plan.action.output().is_some_and(crate::plan::OutputPlan::sends);
        if sends && self.context.settings.nocount && self.captures.is_empty() {
            // A result set has an end, also where counts are not told.
            return self.output.done(Done { rows: None, kind });
        }
        if !state.quiet {
            self.done(Done { rows: Some(state.rows), kind });
        }
    }

    /// Fetches the rows of the virtual tables that `late[index]` reads.
    pub(crate) async fn fetch_virtual_rows(&mut self, index: usize) -> Result<(), Fault> {
        let Some(mut state) = self.frame.states[index].take() else {
            return Ok(());
        };
        let fetched = self.fetch_all(&mut state).await;
        self.frame.states[index] = Some(state);
        match fetched? {
            None => Ok(()),
            Some((function, arguments)) => self.enter_function(&function, arguments, Called::Source(index)),
        }
    }

    /// Fetches the rows of a plan's sources that are not there yet. It ends early where a function is to be run, whose rows are
    /// those of the next source.
    pub(crate) async fn fetch_all(&mut self, state: &mut StatementState) -> Result<Option<FunctionCall>, Fault> {
        let sources = match &state.plan {
            Some(plan) => plan.virtual_sources.clone(),
            None => Vec::new(),
        };
        let fired = |rows: fn(&Transition) -> &Arc<Vec<Vec<Value>>>| {
            let trigger = self.frame.trigger.as_ref();
            trigger.map(|trigger| Arc::clone(rows(&trigger.rows))).unwrap_or_default()
        };
        let (inserted, deleted) = (fired(|rows| &rows.inserted), fired(|rows| &rows.deleted));
        for source in sources.iter().skip(state.virtual_rows.len()) {
            let rows = match source {
                VirtualSource::Inserted => Arc::clone(&inserted),
                VirtualSource::Deleted => Arc::clone(&deleted),
                VirtualSource::File(file) => Arc::new(vec![vec![self.file_value(file).await?]]),
                VirtualSource::FileTable(table) => Arc::new(self.file_rows(table).await?),
                VirtualSource::Host { arguments: None, .. } | VirtualSource::Function { arguments: None, .. } => {
                    Arc::default()
                }
                VirtualSource::Current(current) => Arc::new(vec![self.current_row(current).await?]),
                VirtualSource::CurrentAgain(current) => Arc::new(self.current_row_again(current).await?),
                VirtualSource::Host { id, arguments: Some(arguments) } => {
                    let values = self.values_of(arguments)?;
                    Arc::new(self.host.virtual_rows(*id, &values, self.context).await?)
                }
                VirtualSource::Function { function, arguments: Some(arguments) } => {
                    return Ok(Some((Arc::clone(function), self.values_of(arguments)?)));
                }
            };
            state.virtual_rows.push(rows);
        }
        state.virtual_ready = true;
        Ok(None)
    }

    fn values_of(&mut self, arguments: &[Expr]) -> Result<Vec<Value>, Fault> {
        arguments.iter().map(|argument| argument.eval(&mut self.env())).collect()
    }

    /// Fetches what a function of the host's gives to a query that is no instruction.
    pub(crate) async fn fetch_call(&mut self, state: &mut StatementState, call: HostCall) -> Result<(), Fault> {
        let plan = state.plan();
        let source = plan.as_ref().and_then(|plan| plan.virtual_sources.get(call.index));
        match source {
            Some(VirtualSource::Host { id, .. }) => {
                let rows = self.host.virtual_rows(*id, &call.arguments, self.context).await?;
                state.virtual_rows[call.index] = Arc::new(rows);
                Ok(())
            }
            Some(VirtualSource::Function { .. }) => Err(function_elsewhere()),
            _ => Ok(()),
        }
    }

    /// Fetches what a function of the host's gives for the arguments that the present statement has for it.
    pub(crate) async fn call_source(&mut self, call: HostCall) -> Result<(), Fault> {
        let Some(Instruction::Statement(index)) = self.frame.program.instructions.get(self.frame.pc) else {
            return Ok(());
        };
        let index = *index;
        let plan = self.frame.states[index].as_ref().and_then(|state| state.plan.as_ref());
        let source = plan.and_then(|plan| plan.virtual_sources.get(call.index));
        let id = match source {
            Some(VirtualSource::Host { id, .. }) => id,
            Some(VirtualSource::Function { function, .. }) => {
                let function = Arc::clone(function);
                return self.enter_function(&function, call.arguments, Called::Row(index, call.index));
            }
            _ => return Ok(()),
        };
        let rows = self.host.virtual_rows(*id, &call.arguments, self.context).await?;
        if let Some(state) = &mut self.frame.states[index] {
            state.virtual_rows[call.index] = Arc::new(rows);
        }
        Ok(())
    }
}

/// A turn of a run that has awaited something, or is about to, has ended.
#[cold]
fn count_turn(state: &mut StatementState, begun: Turn, turn: &Taken, driven: &Result<Option<Pause>, Stop>) {
    let paused = Paused::after(state.paused.take(), begun, turn);
    match driven {
        Ok(None) => {
            if let Some(cell) = &state.counted_at {
                cell.add(&Taken { rows: state.rows, ..paused.end() });
            }
        }
        Err(Stop::Error(_)) => {}
        _ => state.paused = Some(paused),
    }
}

/// Only statements of a program run functions of several statements.
pub(crate) fn function_elsewhere() -> Fault {
    crate::errors::unsupported("A function of several statements for a cursor, a load or rows that follow a key")
}

/// What the views show a session to do.
fn command(action: &Action) -> &'static str {
    match action {
        Action::Select { .. } | Action::Assign { .. } => "SELECT",
        Action::Insert(_) => "INSERT",
        Action::Update(_) => "UPDATE",
        Action::Delete(_) => "DELETE",
        Action::Change(change) => match change.kind {
            DoneKind::Delete => "DELETE",
            DoneKind::Merge => "MERGE",
            _ => "UPDATE",
        },
        Action::Instead(instead) => instead.event.name(),
    }
}
