//! Natively compiled modules as they run: the machine calls their code, and the code the machine.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use pikepole_native::{Code, Frame, Leave};

use super::{Machine, Pause};
use crate::access::Stop;
use crate::clock::now;
use crate::program::{Helpers, Instruction, Program};

/// Jumps back after which the code asks if the machine is to pause. Statements that they jump over stop by themselves.
const BUDGET: u32 = 64;

/// The machine that runs a code, and why the code has come back.
struct Running {
    /// A [`Machine`], which nothing else uses while its code runs.
    machine: *mut std::ffi::c_void,
    program: *const Program,
    stopped: Option<Result<Pause, Stop>>,
    panicked: Option<Box<dyn Any + Send>>,
}

/// An answer that goes on.
const ON: u32 = 0;
/// An answer that leaves the code, of helpers that say nothing else; see [`Helpers::holds`] for the others.
const STOPPED: u32 = 3;

const HELPERS: Helpers = Helpers { assign, holds, statement, clock };

/// Does what an instruction of the code asks of the machine, which stands at that instruction meanwhile. Panics stay on this side: nothing
/// unwinds through frames of the code.
///
/// # Safety
/// `frame` is the one that [`Machine::run_code`] has given to the code which calls.
unsafe fn help(
    frame: *mut Frame,
    at: u64,
    act: impl FnOnce(&mut Machine<'_>, &Program) -> Result<Option<Pause>, Stop>,
) -> u32 {
    // SAFETY: the code passes on the frame that it was given.
    let frame = unsafe { &mut *frame };
    // SAFETY: `run_code` has put it there, and uses it when the code has come back.
    let running = unsafe { &mut *frame.context.cast::<Running>() };
    // SAFETY: `run_code` has borrowed the machine for this run, and does not use it while the code runs. The program is held by it.
    let (machine, program) = unsafe { (&mut *running.machine.cast::<Machine<'_>>(), &*running.program) };
    machine.frame.pc = at as usize;
    let acted = catch_unwind(AssertUnwindSafe(|| act(machine, program)));
    machine.show_to_code(frame);
    match acted {
        Ok(Ok(None)) => return ON,
        Ok(Ok(Some(pause))) => running.stopped = Some(Ok(pause)),
        Ok(Err(stop)) => running.stopped = Some(Err(stop)),
        Err(panic) => running.panicked = Some(panic),
    }
    STOPPED
}

/// See [`Helpers::assign`].
///
/// # Safety
/// As of [`help`].
unsafe extern "C" fn assign(frame: *mut Frame, at: u64) -> u32 {
    let act = |machine: &mut Machine<'_>, program: &Program| {
        let Some(Instruction::Assign { slot, value }) = program.instructions.get(at as usize) else { return Ok(None) };
        machine.assign(*slot, value)?;
        machine.tell_failed_arithmetic();
        machine.context.state.row_count = 1;
        machine.context.state.last_error = 0;
        Ok(None)
    };
    // SAFETY: as the caller says.
    unsafe { help(frame, at, act) }
}

/// See [`Helpers::holds`].
///
/// # Safety
/// As of [`help`].
unsafe extern "C" fn holds(frame: *mut Frame, at: u64) -> u32 {
    let mut truth = 0;
    let act = |machine: &mut Machine<'_>, program: &Program| {
        if let Some(Instruction::JumpUnless(condition, _)) = program.instructions.get(at as usize) {
            truth = u32::from(condition.holds(&mut machine.env())?);
            machine.tell_failed_arithmetic();
        }
        Ok(None)
    };
    // SAFETY: as the caller says.
    match unsafe { help(frame, at, act) } {
        ON => truth,
        stopped => stopped,
    }
}

/// See [`Helpers::statement`].
///
/// # Safety
/// As of [`help`].
unsafe extern "C" fn statement(frame: *mut Frame, at: u64) -> u32 {
    let act = |machine: &mut Machine<'_>, program: &Program| {
        let Some(Instruction::Statement(index)) = program.instructions.get(at as usize) else { return Ok(None) };
        if machine.short_statement(program, *index)? {
            machine.context.state.last_error = 0;
            return Ok(None);
        }
        let pause = machine.statement(program, *index)?;
        machine.begin_turn();
        if pause.is_none() {
            machine.context.state.last_error = 0;
        }
        Ok(pause)
    };
    // SAFETY: as the caller says.
    unsafe { help(frame, at, act) }
}

/// See [`Helpers::clock`].
///
/// # Safety
/// As of [`help`].
unsafe extern "C" fn clock(frame: *mut Frame, at: u64) -> u32 {
    let act = |machine: &mut Machine<'_>, _: &Program| {
        machine.functions.now = now();
        Ok(None)
    };
    // SAFETY: as the caller says.
    unsafe { help(frame, at, act) }
}

#[cfg(test)]
std::thread_local! {
    static IS_INTERPRETED: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Runs what is natively compiled without its machine code, on this thread.
#[cfg(test)]
pub(crate) fn interpreted<T>(run: impl FnOnce() -> T) -> T {
    IS_INTERPRETED.set(true);
    let result = run();
    IS_INTERPRETED.set(false);
    result
}

/// The machine code of a module; made at the first call. None: there is none, and the module is interpreted.
pub(super) fn code_of(program: &Program) -> Option<&Code> {
    #[cfg(test)]
    if IS_INTERPRETED.get() {
        return None;
    }
    program.code.get_or_init(|| crate::program::code_of(program, &HELPERS).ok().flatten()).as_ref()
}

impl Machine<'_> {
    /// [`Machine::advance`] of a natively compiled module.
    pub(super) fn advance_native(&mut self, program: &Program, code: &Code) -> Result<Pause, Stop> {
        loop {
            if let Some(Instruction::BeginAtomic(atomic)) = program.instructions.get(self.frame.pc) {
                self.begin_atomic(atomic)?;
                self.has_done_block();
            }
            let (leave, stopped) = self.run_code(program, code);
            match leave {
                Leave::Interpret | Leave::End => {
                    if let Some(Instruction::EndAtomic) = program.instructions.get(self.frame.pc) {
                        self.end_atomic()?;
                        self.has_done_block();
                    }
                    if let Some(pause) = self.step(program)? {
                        return Ok(pause);
                    }
                }
                Leave::Poll => {
                    if self.is_to_pause() {
                        return Ok(Pause::Yield);
                    }
                }
                Leave::Stopped => return stopped.unwrap_or(Ok(Pause::Yield)),
            }
        }
    }

    /// A block has begun or ended.
    fn has_done_block(&mut self) {
        self.context.state.last_error = 0;
        self.frame.pc += 1;
    }

    /// Gives the code what it works on, which may have another place than before.
    fn show_to_code(&mut self, frame: &mut Frame) {
        frame.slots = self.frame.slots.as_mut_ptr().cast();
        frame.row_count = &raw mut self.context.state.row_count;
        frame.last_error = &raw mut self.context.state.last_error;
    }

    /// Runs the code from the program counter on, which is where it has left afterwards.
    fn run_code(&mut self, program: &Program, code: &Code) -> (Leave, Option<Result<Pause, Stop>>) {
        // Each short statement reads rows under a guard of its own, which is a count where the thread has one.
        let _pinned = pikepole_engine::pin();
        self.begin_turn();
        let entry = self.frame.pc as u32;
        let mut frame = Frame::new(std::ptr::null_mut(), BUDGET);
        self.show_to_code(&mut frame);
        let machine = std::ptr::from_mut(self).cast();
        let mut running = Running { machine, program: std::ptr::from_ref(program), stopped: None, panicked: None };
        frame.context = (&raw mut running).cast();
        // SAFETY: the slots are the variables and registers of the program's frame, which has as many as the program names: the code names
        // variables alone, and stores integers into those that are declared so, which hold nothing else. The helpers use the machine
        // by `running`, and nothing here does until the code has come back; they leave the slots' new place in the frame.
        let exit = unsafe { code.run(&mut frame, entry) };
        self.frame.pc = exit.at as usize;
        if let Some(panic) = running.panicked {
            resume_unwind(panic);
        }
        (exit.leave, running.stopped)
    }
}
