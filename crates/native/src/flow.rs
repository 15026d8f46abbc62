//! Jumps, effects other than stores, and calls.

use crate::builder::{Builder, memory};
use crate::frame::{Exit, Frame, Helper, Leave};
use crate::truth::{Flag, Truth};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use std::mem::offset_of;

impl Builder {
    /// Jumps. To the same or an earlier instruction, it counts [`Frame::budget`] down first; with none left, it leaves with
    /// [`Leave::Poll`] at the target. A target after the last instruction is the end.
    pub fn jump(&mut self, target: usize) {
        self.jump_away(target);
        self.enter_unreachable();
    }

    fn jump_away(&mut self, target: usize) {
        if let Some(block) = self.target(target) {
            self.count(target);
            self.go(block);
        }
    }

    /// Jumps, as [`Builder::jump`] does, unless the truth holds; UNKNOWN does not.
    pub fn jump_unless(&mut self, truth: Truth, target: usize) {
        match self.holds(truth) {
            Flag::Yes => {}
            Flag::No => self.jump(target),
            Flag::Value(holds) => {
                let (on, away) = (self.block(), self.block());
                self.cursor().ins().brif(holds, on, &[], away, &[]);
                self.enter_block(away);
                self.jump_away(target);
                self.enter_block(on);
            }
        }
    }

    /// Counts a jump back.
    fn count(&mut self, target: usize) {
        let at = self.at();
        if target > at as usize {
            return;
        }
        let offset = offset_of!(Frame, budget);
        let budget = self.field(types::I32, offset);
        let poll = self.exit(Exit { at: target as u32, leave: Leave::Poll });
        let on = self.block();
        self.cursor().ins().brif(budget, on, &[], poll, &[]);
        self.enter_block(on);
        let one = self.iconst(types::I32, 1);
        let less = self.cursor().ins().isub(budget, one);
        self.set_field(less, offset);
    }

    /// Stores a number through [`Frame::row_count`].
    pub fn set_row_count(&mut self, rows: i64) {
        self.effect();
        let place = self.field(types::I64, offset_of!(Frame, row_count));
        let rows = self.iconst(types::I64, rows);
        self.cursor().ins().store(memory(), rows, place, 0);
    }

    /// Stores 0 through [`Frame::last_error`].
    pub fn clear_error(&mut self) {
        self.effect();
        let place = self.field(types::I64, offset_of!(Frame, last_error));
        let zero = self.iconst(types::I32, 0);
        self.cursor().ins().store(memory(), zero, place, 0);
    }

    /// Calls a helper; an answer other than 0 leaves with [`Leave::Stopped`].
    pub fn call(&mut self, helper: Helper, argument: u64) {
        let answer = self.called(helper, argument);
        let stopped = self.stopped();
        let on = self.block();
        self.cursor().ins().brif(answer, stopped, &[], on, &[]);
        self.enter_block(on);
        self.reload_slots();
    }

    /// Calls a helper that decides a condition: 0 is false, 1 true, 2 UNKNOWN; another answer leaves with [`Leave::Stopped`].
    pub fn call_for_truth(&mut self, helper: Helper, argument: u64) -> Truth {
        let answer = self.called(helper, argument);
        let stopped = self.stopped();
        let on = self.block();
        let is_other = self.answered(IntCC::UnsignedGreaterThan, answer, 2);
        self.cursor().ins().brif(is_other, stopped, &[], on, &[]);
        self.enter_block(on);
        self.reload_slots();
        let (holds, fails) = (self.answered(IntCC::Equal, answer, 1), self.answered(IntCC::Equal, answer, 0));
        self.known_unless(Flag::No, holds, fails)
    }

    /// Leaves this instruction to the interpreter.
    pub fn interpret(&mut self) {
        self.interpreter();
        let at = self.at();
        self.leave(Exit { at, leave: Leave::Interpret });
        self.enter_unreachable();
    }

    /// Leaves with [`Leave::End`].
    pub fn end(&mut self) {
        let at = self.at();
        self.leave(Exit { at, leave: Leave::End });
        self.enter_unreachable();
    }

    fn called(&mut self, helper: Helper, argument: u64) -> Value {
        self.effect();
        self.call_address(helper as usize, argument)
    }

    fn stopped(&mut self) -> Block {
        let at = self.at();
        self.exit(Exit { at, leave: Leave::Stopped })
    }

    fn answered(&mut self, condition: IntCC, answer: Value, constant: i64) -> Value {
        let constant = self.iconst(types::I32, constant);
        self.cursor().ins().icmp(condition, answer, constant)
    }
}
