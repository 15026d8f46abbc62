//! The activation of a program: its program counter, its slots, the state of its statements.

use std::sync::Arc;

use super::atomic::AtomicBlock;
use super::bulk_insert::BulkLoad;
use super::definition_trigger::Defining;
use super::function::Called;
use super::statement::StatementState;
use super::trigger::TriggerFrame;
use crate::cache::PlanCache;
use crate::held::Held;
use crate::program::Program;
use crate::runs::Call;
use crate::settings::Settings;
use pikepole_engine::Database;
use pikepole_machine::memory;
use pikepole_tsql::ObjectName;
use pikepole_types::{SqlType, Value};

/// A slot of the called frame, the caller's variable that takes its value, each with its type behind it.
pub(crate) type Returned = (usize, SqlType, usize, SqlType);

/// What happens when a called frame returns.
#[derive(Debug, Default)]
pub(crate) struct Return {
    pub(crate) outputs: Vec<Returned>,
    /// Parameters that are cursors, each with the caller's variable that takes its cursor.
    pub(crate) cursors: Vec<(String, String)>,
    /// The caller's variable that takes the status.
    pub(crate) status: Option<(usize, SqlType)>,
}

/// One activation. It is some hundred bytes long, and is passed on by its address.
pub(crate) struct Frame {
    pub(crate) program: Arc<Held<Program>>,
    pub(crate) pc: usize,
    /// Variables, then registers.
    pub(crate) slots: Vec<Value>,
    /// One per late statement; kept from run to run with its buffers.
    pub(crate) states: Vec<Option<Box<StatementState>>>,
    /// A statement has been under way since [`Frame::reset_statements`].
    pub(crate) has_run: bool,
    pub(crate) on_return: Return,
    /// `@@TRANCOUNT` when the frame was entered.
    pub(crate) transaction_count: i32,
    /// The database that was used when the frame was entered.
    pub(crate) database: Option<Arc<Held<Database>>>,
    /// How many caught errors the frames below hold.
    pub(crate) caught_base: usize,
    /// The atomic block that runs in it.
    pub(crate) atomic: Option<AtomicBlock>,
    /// Of the caller: see [`crate::context::ExecutionContext::enter_module_context`].
    pub(crate) caller_context: (usize, bool),
    /// Of a text that sp_executesql runs.
    pub(crate) is_of_procedure: bool,
    /// Of a procedure: the name by which it was called, where that is not just its own.
    pub(crate) called_as: Option<Arc<ObjectName>>,
    /// Procedures that it has called, by the instructions that call them; kept from run to run.
    pub(crate) callees: Vec<KnownCallee>,
    /// The settings to restore when the frame ends.
    pub(crate) settings: Option<Settings>,
    /// The caller's `@@PROCID` and `SCOPE_IDENTITY()`.
    pub(crate) caller_procedure: i32,
    pub(crate) caller_identity: Value,
    /// The status of a frame in which an error occurred.
    pub(crate) error_status: i32,
    /// Of a trigger: its rows, and the statement that has fired it.
    pub(crate) trigger: Option<Box<TriggerFrame>>,
    /// Of a function: who gets its rows.
    pub(crate) function: Option<Called>,
    /// The statement under way has made the transaction that its triggers run in.
    pub(crate) began: bool,
    /// What the instruction at the program counter has begun and keeps nowhere else, while its triggers run.
    pub(crate) alone: Option<Alone>,
    /// Where calls of it are counted; nowhere in a text.
    pub(crate) calls: Option<Box<Call>>,
}

/// The procedure that a call has come to: it is the same as long as nothing has changed that it depends on.
pub(crate) struct KnownCallee {
    /// The instruction that calls it.
    pub(crate) at: usize,
    /// The database, and the version of its catalog.
    pub(crate) catalog: (i32, u64),
    /// The state of the session's permissions.
    pub(crate) serial: u64,
    /// The number of the cache that changes when a program goes from it.
    pub(crate) dropped: u64,
    /// Calls that the cache has not been told of.
    pub(crate) uses: u64,
    pub(crate) program: Arc<Held<Program>>,
    /// The name that the call has, without a database.
    pub(crate) name: Arc<ObjectName>,
}

impl KnownCallee {
    /// Tells the cache of the calls that it has not been told of: it has a lock, which sessions that call one procedure would take in turns.
    pub(crate) fn count_uses(&mut self, plans: &PlanCache) {
        if self.uses > 0 {
            plans.count_uses(self.catalog.0, &self.program, std::mem::take(&mut self.uses));
        }
    }
}

/// See [`Frame::alone`].
pub(crate) enum Alone {
    /// The rows of an INSERT ... EXEC, or of a client.
    Insert(Box<StatementState>),
    /// BULK INSERT.
    Load(Box<BulkLoad>),
    /// A definition that is made, and whose triggers run.
    Definition(Box<Defining>),
}

impl Frame {
    fn new(program: &Arc<Program>) -> Box<Frame> {
        Box::new(Frame {
            program: Held::new(program),
            pc: 0,
            slots: vec![Value::Null; program.slots],
            states: program.late.iter().map(|_| None).collect(),
            has_run: false,
            on_return: Return::default(),
            transaction_count: 0,
            database: None,
            caught_base: 0,
            atomic: None,
            caller_context: (1, false),
            is_of_procedure: false,
            called_as: None,
            callees: Vec::new(),
            settings: None,
            caller_procedure: 0,
            caller_identity: Value::Null,
            error_status: 0,
            trigger: None,
            function: None,
            began: false,
            alone: None,
            calls: None,
        })
    }

    fn reset(&mut self) {
        self.pc = 0;
        // Registers keep their buffers; variables start as NULL.
        let variables = self.program.variables.len();
        self.slots[..variables].fill(Value::Null);
        self.on_return = Return::default();
        self.caught_base = 0;
        self.atomic = None;
        self.is_of_procedure = false;
        self.called_as = None;
        self.settings = None;
        self.caller_procedure = 0;
        self.error_status = 0;
        self.trigger = None;
        self.function = None;
        self.reset_statements();
    }

    /// Tells the cache of the calls that the frame has made.
    pub(crate) fn count_calls(&mut self, plans: &PlanCache) {
        self.callees.iter_mut().for_each(|known| known.count_uses(plans));
    }

    /// No statement of the frame is under way any more.
    pub(crate) fn reset_statements(&mut self) {
        if std::mem::take(&mut self.has_run) {
            self.states.iter_mut().flatten().for_each(|state| state.reset());
        }
        self.began = false;
        self.alone = None;
    }
}

fn address_of(program: &Arc<Program>) -> usize {
    Arc::as_ptr(program).addr()
}

/// Frames of programs that have ended, kept so that the next run of the same program allocates nothing.
pub(crate) struct SpareFrames {
    #[allow(clippy::vec_box, reason = "frames go from here to machines and back")]
    frames: Vec<Box<Frame>>,
    /// Of each frame the address of its program, and when it was given back: what is looked through for each call.
    keys: Vec<(usize, u64)>,
    given: u64,
    nothing: Arc<Program>,
    /// The frame of no program, unless a machine has it.
    empty: Option<Box<Frame>>,
}

impl Default for SpareFrames {
    fn default() -> SpareFrames {
        let nothing = Arc::new(Program::of(Vec::new(), 0));
        SpareFrames { frames: Vec::new(), keys: Vec::new(), given: 0, nothing, empty: None }
    }
}

/// More than the statements that a client sends in turn: TPC-C's transactions have some forty. Each holds a few buffers.
const SPARE_FRAMES_MAX: usize = 64;

/// Bytes of large blocks that a session has when frames are no longer kept.
const KEPT_BYTES_MAX: i64 = 4 << 20;

impl SpareFrames {
    /// A frame for a program, with the buffers of its last run if it is here.
    pub(crate) fn take(&mut self, program: &Arc<Program>) -> Box<Frame> {
        match self.keys.iter().rposition(|(of, _)| *of == address_of(program)) {
            Some(at) => {
                self.keys.swap_remove(at);
                let mut frame = self.frames.swap_remove(at);
                frame.reset();
                frame
            }
            None => Frame::new(program),
        }
    }

    /// A frame of no program.
    pub(crate) fn empty(&mut self) -> Box<Frame> {
        self.empty.take().unwrap_or_else(|| Frame::new(&self.nothing))
    }

    /// Keeps the last frame of a machine that has ended, if it is of no program.
    pub(crate) fn keep_empty(&mut self, frame: Box<Frame>) {
        if frame.program.address() == address_of(&self.nothing) {
            self.empty = Some(frame);
        }
    }

    /// Lets all of them go.
    pub(crate) fn clear(&mut self) {
        self.keys.clear();
        self.frames.clear();
    }

    /// Keeps a frame; the one that was given back first makes room.
    pub(crate) fn give(&mut self, frame: Box<Frame>) {
        // One with large values in it is worth less than their memory.
        if frame.program.instructions.is_empty() || memory::task_heap().large > KEPT_BYTES_MAX {
            return;
        }
        if self.frames.len() >= SPARE_FRAMES_MAX
            && let Some(oldest) = (0..self.keys.len()).min_by_key(|at| self.keys[*at].1)
        {
            self.keys.swap_remove(oldest);
            self.frames.swap_remove(oldest);
        }
        self.given += 1;
        self.keys.push((frame.program.address(), self.given));
        self.frames.push(frame);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Instruction;

    fn program() -> Arc<Program> {
        Arc::new(Program::of(vec![Instruction::Clock], 1))
    }

    #[test]
    fn the_frame_that_was_used_longest_ago_makes_room() {
        let programs: Vec<_> = (0..=SPARE_FRAMES_MAX).map(|_| program()).collect();
        let mut spare = SpareFrames::default();
        programs[..SPARE_FRAMES_MAX].iter().for_each(|program| spare.give(Frame::new(program)));
        let used = spare.take(&programs[0]);
        spare.give(used);
        spare.give(Frame::new(&programs[SPARE_FRAMES_MAX]));
        let is_here = |program: &Arc<Program>| spare.keys.iter().any(|(of, _)| *of == address_of(program));
        assert!(is_here(&programs[0]) && !is_here(&programs[1]) && is_here(&programs[2]));
        assert_eq!((spare.frames.len(), spare.keys.len()), (SPARE_FRAMES_MAX, SPARE_FRAMES_MAX));
    }
}
