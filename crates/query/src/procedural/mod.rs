//! The machine: runs programs.
//!
//! ```text
//!   run ──► advance (sync, tight loop over instructions) ──► Pause / Stop
//!    ▲                                                          │
//!    └──── awaits what the pause names: a need of the engine, ◄─┘
//!          the log's durable horizon, the host, a yield
//! ```
//! Everything a statement has done so far lives in frames and cursors, so the loop can stop at any instruction, await, and go
//! on where it was. Calls push frames on an explicit stack: nothing recurses, whatever the nesting.

mod administer;
mod atomic;
mod block_rules;
mod bulk_insert;
mod bulk_rowset;
mod call;
mod change;
mod check_constraints;
mod client_cursor;
mod cursor_changes;
mod declared_cursor;
mod definition_trigger;
mod former_rows;
mod frame;
mod function;
mod gone;
mod masks;
mod modify;
mod native;
mod output_rows;
mod prepared;
mod promise;
mod reads;
mod recover;
mod request;
mod rules;
mod short;
mod show_plan;
mod statement;
mod statement_rows;
mod statistics;
mod step;
mod table_variables;
mod text_procedure;
mod transaction;
mod trigger;
mod wait_for;

use std::sync::Arc;

pub use call::CURSOR_PROCEDURES;
pub use client_cursor::{ClientCursor, CursorTarget, open_cursor, read_cursor_again, refill_cursor};
pub use declared_cursor::CursorShown;
pub(crate) use declared_cursor::Cursors;
pub(crate) use frame::{Frame, SpareFrames};
#[cfg(test)]
pub(crate) use native::interpreted;
pub use output_rows::cut_long_values;
pub(crate) use request::CallRoom;
pub use request::{Prepared, RowTarget, call, insert_rows};
#[cfg(test)]
pub(crate) use short::{MADE, TAKEN};
pub use transaction::RAISED_MIN;

use crate::access::Stop;
use crate::context::ExecutionContext;
use crate::ddl::Definer;
use crate::executor::{Around, Run, SharedTables};
use crate::expression::{Env, Expr, Fault, integer_of};
use crate::host::{Host, HostFuture, TableRows};
use crate::output::{CapturedRows, ColumnInfo, Done, DoneKind, Output};
use crate::plan::Statement;
use crate::program::Program;
use pikepole_contention::WaitType;
use pikepole_contention::sync::atomic::Ordering;
use pikepole_machine::memory;
use pikepole_scheduler as scheduler;
use pikepole_types::{Context, SqlError, Value};
use promise::Promise;
use recover::Origin;
use trigger::Fire;

/// Why the sync loop handed over.
pub(crate) enum Pause {
    /// The quantum is over.
    Yield,
    /// The instruction at the program counter needs to await.
    Instruction,
    /// The statement `late[i]` needs its virtual tables' rows.
    VirtualRows(usize),
    /// The plan of the statement `late[i]` is not to be run before there are statistics of its tables.
    Statistics(usize),
    /// A statement cannot be bound before this format file is read.
    FormatFile(String),
    /// The statement has done what it was to do: a trigger is to run before it ends.
    Fire(Box<Fire>),
    /// Another frame is the current one: the loop over instructions goes on in that.
    Frame,
}

/// The rows an INSERT ... EXEC collects.
pub(crate) struct Capture {
    /// Those of the same types together.
    pub(crate) results: Vec<CapturedRows>,
    /// A result had another number of columns than the first.
    is_uneven: bool,
    /// The number of frames below the call.
    depth: usize,
    /// `@@TRANCOUNT` when the call began: what is called ends no transaction but its own.
    transaction_count: i32,
}

impl Capture {
    /// A result with these columns begins; false: with another number of columns than the first.
    fn begin_result(&mut self, columns: &[ColumnInfo]) -> bool {
        let same = |known: &CapturedRows| known.columns.iter().map(|c| c.ty).eq(columns.iter().map(|c| c.ty));
        match self.results.last_mut() {
            Some(first) if first.columns.is_empty() => first.columns = columns.to_vec(),
            Some(last) if last.columns.len() != columns.len() => return false,
            Some(last) if same(last) => {}
            _ => self.results.push(CapturedRows { columns: columns.to_vec(), rows: Vec::new() }),
        }
        true
    }

    /// A row of the result that began last.
    fn push(&mut self, row: Vec<Value>) {
        if let Some(last) = self.results.last_mut() {
            last.rows.push(row);
        }
    }
}

/// A session's machine while a program runs.
pub(crate) struct Machine<'a> {
    /// The outermost program's parameters, as they were given and as it leaves them.
    arguments: &'a mut [Value],
    /// The rows of its table-valued parameters, in their places; of a program that inserts what a client loads, those rows.
    pub(crate) tables: Vec<Option<TableRows>>,
    /// What the views were told that the session does.
    pub(crate) command: &'static str,
    /// The address of the text that they were told last.
    told: usize,
    pub(crate) context: &'a mut ExecutionContext,
    pub(crate) host: &'a mut dyn Host,
    pub(crate) output: &'a mut dyn Output,
    pub(crate) functions: Context,
    pub(crate) frame: Box<Frame>,
    #[allow(clippy::vec_box, reason = "they come from the place of the current one, and go back there")]
    pub(crate) callers: Vec<Box<Frame>>,
    pub(crate) captures: Vec<Capture>,
    /// What calls under way are to send.
    pub(crate) promises: Vec<Promise>,
    pub(crate) scratch: Value,
    /// What raises the error on its way.
    pub(crate) origin: Origin,
    /// The return status of the outermost frame.
    status: i32,
    /// True once the outermost frame has ended.
    ended: bool,
    /// Statements begun again because definitions changed.
    restarts: u32,
    /// Attempts of the present statement that others' changes have ended.
    pub(crate) attempts: u32,
}

/// Bytes of large blocks that a session keeps for its next batch.
const KEPT_BYTES_MAX: i64 = 1 << 20;

/// Attempts of one statement whose rows others change while it runs.
const ATTEMPTS_MAX: u32 = 1000;

/// Statements of one batch that are begun again because a definition changed; more is an error, not patience.
const RESTARTS_MAX: u32 = 100;

/// Runs a compiled batch to its end. The arguments are the values of the program's parameters, in order, and the tables those
/// of its table-valued ones; missing ones take their defaults, and the values given are afterwards what the batch left in them.
/// Errors go to `output`; the result is the return status.
///
/// # Errors
/// The error that ended the batch, after it went to `output`; `Ok` when the batch ran to its end, also when single statements
/// in it failed.
pub async fn run(
    program: &Arc<Program>,
    arguments: &mut [Value],
    tables: Vec<Option<TableRows>>,
    context: &mut ExecutionContext,
    host: &mut dyn Host,
    output: &mut dyn Output,
) -> Result<i32, SqlError> {
    run_at(0, program, arguments, tables, context, host, output).await
}

/// [`run`] at a level of nesting: 0 for a batch, 1 for what a client calls as a procedure.
async fn run_at(
    level: i32,
    program: &Arc<Program>,
    arguments: &mut [Value],
    tables: Vec<Option<TableRows>>,
    context: &mut ExecutionContext,
    host: &mut dyn Host,
    output: &mut dyn Output,
) -> Result<i32, SqlError> {
    match begin_at(level, program, arguments, tables, context, host, output) {
        Begun::Ended(outcome) => outcome,
        Begun::Waits(rest) => rest.await,
    }
}

/// The state of a program that has been begun.
enum Begun<'a> {
    /// To its end.
    Ended(Result<i32, SqlError>),
    /// It waits for something, or does what may wait.
    Waits(HostFuture<'a, Result<i32, SqlError>>),
}

/// Begins a program and runs it as far as it comes without a wait: for most calls of single statements that is the end, and nothing is
/// allocated for them.
///
/// The rest is a future behind a pointer so that all that the language does is compiled once, here: an `async fn` is compiled in each
/// crate whose task awaits it.
fn begin_at<'a>(
    level: i32,
    program: &Arc<Program>,
    arguments: &'a mut [Value],
    tables: Vec<Option<TableRows>>,
    context: &'a mut ExecutionContext,
    host: &'a mut dyn Host,
    output: &'a mut dyn Output,
) -> Begun<'a> {
    let mut frame = context.spare_frames.take(program);
    frame.transaction_count = context.state.transaction_count;
    context.state.nest_level = level;
    context.state.batch_aborted = false;
    context.state.procedure_levels = 0;
    context.state.procedure_id = 0;
    context.state.caught.clear();
    context.state.triggers.clear();
    context.functions = 0;
    context.activity.begins(program);
    context.begin_batch_memory();
    (context.impersonations_below, context.module_acts) = (1, false);
    if let Err(fault) = context.refresh_security() {
        context.state.last_error = fault.number;
        output.error(&fault);
        return Begun::Ended(Err(*fault));
    }
    for (slot, parameter) in program.parameters.iter().enumerate() {
        match (arguments.get_mut(slot), &parameter.default) {
            // They are swapped back at the end.
            (Some(value), _) => std::mem::swap(value, &mut frame.slots[slot]),
            (None, Some(Expr::Const(value))) => frame.slots[slot].clone_from(value),
            (None, _) => {}
        }
    }
    let mut machine = Machine::new((arguments, tables), context, host, output, frame);
    if machine.context.settings.noexec {
        machine.skip_unexecuted(0);
    }
    let shown = machine.context.settings.show_plan;
    if let Some(format) = shown.filter(|_| !machine.frame.program.sets_show_plan()) {
        let shown = async move {
            let shown = machine.show_plans(format).await;
            machine.return_arguments();
            shown
        };
        return Begun::Waits(Box::pin(shown));
    }
    match machine.advance() {
        Ok(Pause::Instruction) if machine.is_at_end() => {
            let status = machine.end_program();
            machine.recycle();
            Begun::Ended(Ok(status))
        }
        stopped => Begun::Waits(Box::pin(async move {
            let outcome = machine.run(stopped).await;
            machine.recycle();
            outcome
        })),
    }
}

impl<'a> Machine<'a> {
    fn new(
        (arguments, tables): (&'a mut [Value], Vec<Option<TableRows>>),
        context: &'a mut ExecutionContext,
        host: &'a mut dyn Host,
        output: &'a mut dyn Output,
        frame: Box<Frame>,
    ) -> Machine<'a> {
        let functions = context.function_context();
        Machine {
            arguments,
            tables,
            command: "",
            told: 0,
            context,
            host,
            output,
            functions,
            frame,
            callers: Vec::new(),
            captures: Vec::new(),
            promises: Vec::new(),
            scratch: Value::Null,
            origin: Origin::default(),
            status: 0,
            ended: false,
            restarts: 0,
            attempts: 0,
        }
    }

    /// The machine has ended: the next one has its empty frame.
    fn recycle(self) {
        let Machine { frame, context, .. } = self;
        context.spare_frames.keep_empty(frame);
    }

    /// A machine for queries within the statement at hand.
    fn of_no_program(
        context: &'a mut ExecutionContext,
        host: &'a mut dyn Host,
        output: &'a mut dyn Output,
    ) -> Machine<'a> {
        let frame = context.spare_frames.empty();
        Machine::new((&mut [], Vec::new()), context, host, output, frame)
    }
}

impl Machine<'_> {
    /// True when nothing of the program is left, and its end waits for nothing.
    fn is_at_end(&self) -> bool {
        let frame = &self.frame;
        frame.pc >= frame.program.instructions.len() && self.callers.is_empty() && !self.context.state.doomed
    }

    /// Ends the program where [`is_at_end`](Self::is_at_end) holds; its status.
    fn end_program(&mut self) -> i32 {
        self.show_place();
        self.context.count_rows_changed();
        let status = self.frame.error_status;
        self.leave_outermost();
        status
    }

    /// Runs the program from where it has stopped to its end. What rarely happens is behind a pointer: a call that waits for the log does
    /// not carry its state along.
    async fn run(&mut self, stopped: Result<Pause, Stop>) -> Result<i32, SqlError> {
        let mut pause = stopped;
        loop {
            self.show_place();
            self.context.count_rows_changed();
            let handled = match pause {
                Ok(Pause::Yield) | Err(Stop::Yield) => {
                    self.give_way().await;
                    self.check_cancelled().and_then(|()| self.context.refresh_security())
                }
                Ok(Pause::Instruction) => self.perform().await,
                Ok(Pause::VirtualRows(index)) => Box::pin(self.fetch_virtual_rows(index)).await,
                Ok(Pause::Statistics(index)) => Box::pin(self.need_statistics(index)).await,
                Ok(Pause::FormatFile(name)) => Box::pin(self.fetch_format_file(name)).await,
                Ok(Pause::Fire(fire)) => self.enter_trigger(*fire),
                Ok(Pause::Frame) => Ok(()),
                Err(Stop::Blocked(need)) => self.context.satisfy(need).await,
                Err(Stop::Stale) => Box::pin(self.restart_statement()).await,
                Err(Stop::Again(table)) => Box::pin(self.begin_again(&table)).await,
                Err(Stop::Rows(call)) => self.call_source(call).await,
                Err(Stop::Team(team)) => {
                    team.ended().await;
                    Ok(())
                }
                Err(Stop::File(file)) => Box::pin(self.context.await_file(&file)).await,
                Err(Stop::Memory(wait)) => Box::pin(self.context.await_memory(wait)).await,
                Err(Stop::Fill(filling)) => {
                    let (database, tx) = self.context.engine();
                    Box::pin(filling.step(database, tx)).await
                }
                Err(Stop::Error(fault)) => Err(fault),
            };
            if let Err(fault) = handled {
                let ended = Box::pin(self.handle(*fault)).await;
                if let Some(error) = ended {
                    self.finish().await;
                    return Err(error);
                }
                // An error that is pushed leaves before what follows it begins.
                if self.output.is_full() {
                    self.give_way().await;
                }
            }
            if self.ended {
                break;
            }
            pause = self.advance();
        }
        self.finish().await;
        Ok(self.status)
    }

    /// Tells the views which statement is about to wait. The text that was told last lives as long as that, so that no other one has its
    /// address.
    #[inline]
    fn show_place(&mut self) {
        let program = self.frame.program.address();
        if self.told != program {
            self.told = program;
            self.context.activity.runs(&self.frame.program);
        }
        self.context.activity.is_at(self.frame.pc);
    }

    /// A definition changed while the statement ran: it is undone, and bound and run again.
    async fn restart_statement(&mut self) -> Result<(), Fault> {
        self.restarts += 1;
        if self.restarts > RESTARTS_MAX {
            return Err(crate::errors::definition_changed());
        }
        self.context.abort_statement().await
    }

    /// A row changed under the statement: it is undone and runs again.
    async fn begin_again(&mut self, table: &str) -> Result<(), Fault> {
        self.attempts += 1;
        if self.attempts > ATTEMPTS_MAX {
            return Err(crate::errors::row_changed_under_subquery(table));
        }
        self.check_cancelled()?;
        self.context.transaction().lock_targets(true);
        self.context.abort_statement().await
    }

    /// The statement has come to its end: the next one begins without what was done to let it.
    #[cold]
    pub(crate) fn forget_attempts(&mut self) {
        self.attempts = 0;
        self.context.transaction().lock_targets(false);
    }

    fn check_cancelled(&self) -> Result<(), Fault> {
        self.context.check_cancelled()
    }

    /// The end of the batch: a doomed transaction is rolled back.
    async fn finish(&mut self) {
        if self.context.state.doomed {
            self.context.roll_back_all().await;
            let error = SqlError::doomed_at_end_of_batch();
            self.context.state.last_error = error.number;
            self.output.error(&error);
        }
        self.leave_outermost();
    }

    /// The variables of the outermost frame go back to where the arguments came from.
    fn return_arguments(&mut self) {
        let parameters = self.frame.program.parameters.len();
        for (argument, slot) in self.arguments.iter_mut().zip(&mut self.frame.slots[..parameters]) {
            std::mem::swap(argument, slot);
        }
    }

    /// The outermost frame goes back for the next run.
    fn leave_outermost(&mut self) {
        self.context.rand_state = Some(self.functions.rand_state());
        self.context.state.caught.clear();
        self.context.state.nest_level = 0;
        self.context.state.procedure_levels = 0;
        self.context.state.procedure_id = 0;
        self.context.end_batch();
        self.context.rest();
        self.return_arguments();
        let nothing = self.context.spare_frames.empty();
        let mut frame = std::mem::replace(&mut self.frame, nothing);
        frame.count_calls(&self.context.plans);
        self.context.spare_frames.give(frame);
        if memory::task_heap().large > KEPT_BYTES_MAX {
            // The next batch may be long in coming, and may be of another kind.
            self.context.spare_frames.clear();
        }
    }

    /// Waits for the client when it lags behind; otherwise lets the others of the scheduler run.
    async fn give_way(&mut self) {
        if self.output.is_full() {
            if self.context.harden().await.is_err() {
                // Nobody may hear of what was promised: the batch ends, and whoever gathers its answer asks, too.
                self.context.cancelled.store(true, Ordering::Relaxed);
                return;
            }
            let room = std::future::poll_fn(|context| self.output.poll_room(context));
            scheduler::wait(WaitType::ASYNC_NETWORK_IO, room).await;
            // A client that always has room would else keep the others of the scheduler out.
            scheduler::yield_if_due().await;
        } else {
            scheduler::yield_now().await;
        }
    }

    /// The operators' view of the machine.
    #[inline]
    pub(crate) fn run_view<'b>(
        &'b mut self,
        virtual_rows: &'b [Arc<Vec<Vec<Value>>>],
        shared: &'b SharedTables,
        plan: &'b Statement,
    ) -> Run<'b> {
        Run {
            slots: &mut self.frame.slots,
            around: Around::Session { context: self.context, host: self.host },
            functions: &mut self.functions,
            virtual_rows,
            shared: Some(shared),
            live: &plan.live,
            degree_wanted: plan.degree,
            null_eliminated: false,
            scratch: std::mem::take(&mut self.scratch),
        }
    }

    /// The machine as definitions see it.
    pub(crate) fn definer(&mut self) -> Definer<'_> {
        let line = self.line();
        Definer {
            context: self.context,
            host: self.host,
            output: self.output,
            functions: &mut self.functions,
            variables: &self.frame.program.variables,
            slots: &self.frame.slots,
            line,
            hides_rows: false,
            ask: rules::holds,
        }
    }

    /// The expressions' view of the machine.
    #[inline]
    pub(crate) fn env(&mut self) -> Env<'_> {
        Env {
            slots: &self.frame.slots,
            state: &self.context.state,
            functions: &mut self.functions,
            host: Some((self.host, self.context)),
        }
    }

    /// Stores an expression's value into a slot of the current frame.
    #[inline]
    pub(crate) fn assign(&mut self, slot: usize, expr: &Expr) -> Result<(), Fault> {
        if let Expr::Integer(integer, width) = expr {
            let value = integer.value(&mut self.env())?;
            width.store(value, &mut self.frame.slots[slot]);
            return Ok(());
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        let result = expr.eval_into(&mut self.env(), &mut scratch);
        self.scratch = scratch;
        result?;
        std::mem::swap(&mut self.frame.slots[slot], &mut self.scratch);
        Ok(())
    }

    /// The integer value of any expression.
    pub(crate) fn integer_value(&mut self, expr: &Expr) -> Result<Option<i64>, Fault> {
        Ok(integer_of(&expr.eval(&mut self.env())?))
    }

    /// Sends the end of a statement, unless its rows are being captured. NOCOUNT leaves out the count, and the whole report of
    /// a statement that has nothing but a count to tell.
    pub(crate) fn done(&mut self, done: Done) {
        if !self.captures.is_empty() || self.context.functions > 0 {
            return;
        }
        if !self.context.settings.nocount {
            return self.report(done);
        }
        let only_counts = matches!(done.kind, DoneKind::Insert | DoneKind::Update | DoneKind::Delete | DoneKind::Merge);
        if !only_counts {
            self.report(Done { rows: None, ..done });
        }
    }

    /// Warns of a statement whose aggregates have passed over NULL.
    pub(crate) fn tell_eliminated(&mut self, state: &statement::StatementState) {
        if state.null_eliminated && self.context.settings.ansi_warnings {
            self.output.message(&SqlError::null_eliminated().at_line(self.line()));
        }
    }

    /// Tells of the end of a statement that counts nothing.
    #[inline]
    pub(crate) fn done_without_count(&mut self) {
        if !self.context.settings.nocount && self.captures.is_empty() && self.context.functions == 0 {
            self.output.ended_without_count(!self.callers.is_empty());
        }
    }

    /// Tells of variables that were assigned to.
    #[inline]
    pub(crate) fn done_assigning(&mut self, rows: u64) {
        if !self.context.settings.nocount && self.captures.is_empty() && self.context.functions == 0 {
            self.output.assigned(rows, !self.callers.is_empty());
        }
    }

    fn report(&mut self, done: Done) {
        if self.callers.is_empty() {
            self.output.done(done);
        } else {
            self.output.done_in_procedure(done);
        }
    }
}
