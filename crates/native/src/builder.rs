//! The builder: the blocks of a program's instructions, their beginnings, ends and exits.
//!
//! Each instruction has a block, whose one parameter is the address of the slots. It is passed on from block to block because a
//! helper may change it. Within an instruction, code after a possible exit is in a block of its own.
//!
//! ```text
//!   entry ── br_table ──► block 0 (slots) ──► block 1 (slots) ──► ... ──► block n: End
//!                                │ overflow
//!                                └──► cold block: return (0, Interpret)
//! ```

use crate::code::{Code, host};
use crate::frame::{Exit, Frame, Leave};
use crate::{NativeError, SlotShape};
use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::ir::immediates::Offset32;
use cranelift_codegen::ir::{
    AbiParam, Block, BlockArg, Function, InstBuilder, JumpTableData, MemFlagsData, SigRef, Signature, Type,
    UserFuncName, Value, types,
};
use std::collections::BTreeMap;
use std::mem::offset_of;

/// Instructions of a program at most: an entry of the jump table is four bytes.
const INSTRUCTIONS_MAX: usize = 1 << 20;

/// Makes the machine code of one program.
///
/// No input makes it panic. The first mistake is kept, and [`Builder::finish`] reports it.
pub struct Builder {
    pub(crate) shape: SlotShape,
    func: Function,
    /// One for each instruction, and one after the last.
    blocks: Vec<Block>,
    begun: Vec<bool>,
    exits: BTreeMap<u64, Block>,
    frame: Value,
    helper: SigRef,
    /// The block that is written to.
    block: Block,
    /// The address of the slots there.
    pub(crate) slots: Value,
    /// The instruction that is written; none before the first.
    at: Option<u32>,
    /// True once the instruction has changed something.
    changed: bool,
    keeps_text: bool,
    error: Option<NativeError>,
}

impl std::fmt::Debug for Builder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Builder").field("instructions", &self.begun.len()).field("at", &self.at).finish_non_exhaustive()
    }
}

impl Builder {
    /// A builder of a program of so many instructions, none of which has code yet.
    ///
    /// # Errors
    /// The machine is not supported, the shape contradicts itself, or the instructions are too many.
    pub fn new(shape: SlotShape, instructions: usize) -> Result<Builder, NativeError> {
        shape.check()?;
        if instructions > INSTRUCTIONS_MAX {
            return Err(NativeError::TooManyInstructions(instructions));
        }
        let isa = host()?;
        let pointer = isa.pointer_type();
        if pointer != types::I64 {
            return Err(NativeError::Machine("its addresses are not of 64 bits".to_owned()));
        }
        let mut signature = Signature::new(isa.default_call_conv());
        signature.params.extend([AbiParam::new(pointer), AbiParam::new(types::I32)]);
        signature.returns.push(AbiParam::new(types::I64));
        let mut helper = Signature::new(isa.default_call_conv());
        helper.params.extend([AbiParam::new(pointer), AbiParam::new(types::I64)]);
        helper.returns.push(AbiParam::new(types::I32));
        let mut func = Function::with_name_signature(UserFuncName::default(), signature);
        let helper = func.import_signature(helper);
        let entry = new_block(&mut func);
        let frame = func.dfg.append_block_param(entry, pointer);
        let number = func.dfg.append_block_param(entry, types::I32);
        let blocks: Vec<Block> = (0..=instructions)
            .map(|_| {
                let block = new_block(&mut func);
                func.dfg.append_block_param(block, pointer);
                block
            })
            .collect();
        let mut builder = Builder {
            shape,
            func,
            blocks,
            begun: vec![false; instructions],
            exits: BTreeMap::new(),
            frame,
            helper,
            block: entry,
            slots: frame,
            at: None,
            changed: false,
            keeps_text: false,
            error: None,
        };
        builder.enter(number);
        Ok(builder)
    }

    /// Keeps the text of the machine code for [`Code::text`].
    pub fn keep_text(&mut self) {
        self.keeps_text = true;
    }

    /// Begins the code of an instruction. It goes on with the next one unless it jumps or leaves.
    pub fn begin(&mut self, at: usize) {
        self.fall_through();
        match self.begun.get_mut(at) {
            None => return self.fail(NativeError::Instruction(at)),
            Some(true) => return self.fail(NativeError::Twice(at)),
            Some(begun) => *begun = true,
        }
        self.block = self.blocks[at];
        self.slots = self.func.dfg.block_params(self.block)[0];
        self.at = Some(at as u32);
        self.changed = false;
    }

    /// Makes the machine code. Instructions that were not begun leave to the interpreter.
    ///
    /// # Errors
    /// The first mistake in the use of the builder, and what the code generator or the system refuses.
    pub fn finish(mut self) -> Result<Code, NativeError> {
        self.fall_through();
        for at in 0..self.begun.len() {
            if !self.begun[at] {
                self.block = self.blocks[at];
                self.leave(Exit { at: at as u32, leave: Leave::Interpret });
            }
        }
        let end = self.blocks.len() - 1;
        self.block = self.blocks[end];
        self.leave(Exit { at: end as u32, leave: Leave::End });
        match self.error {
            Some(error) => Err(error),
            None => Code::new(self.func, self.keeps_text),
        }
    }

    /// The entry: the address of the slots, and the jump to the instruction.
    fn enter(&mut self, number: Value) {
        self.reload_slots();
        let slots = BlockArg::Value(self.slots);
        let calls: Vec<_> = self.blocks.iter().map(|block| (*block, [slots])).collect();
        let calls: Vec<_> = calls.iter().map(|(block, args)| self.func.dfg.block_call(*block, args)).collect();
        // An entry after the last instruction is the end too.
        if let Some(end) = calls.last() {
            let table = JumpTableData::new(*end, &calls);
            let table = self.func.create_jump_table(table);
            self.cursor().ins().br_table(number, table);
        }
        self.enter_unreachable();
    }

    /// Keeps the first error.
    pub(crate) fn fail(&mut self, error: NativeError) {
        self.error.get_or_insert(error);
    }

    /// The instruction that is written. An operation outside of any is a mistake.
    pub(crate) fn at(&mut self) -> u32 {
        if self.at.is_none() {
            self.fail(NativeError::Outside);
        }
        self.at.unwrap_or(0)
    }

    /// The place where the next machine instruction goes.
    pub(crate) fn cursor(&mut self) -> FuncCursor<'_> {
        let block = self.block;
        FuncCursor::new(&mut self.func).at_bottom(block)
    }

    pub(crate) fn iconst(&mut self, ty: Type, value: i64) -> Value {
        self.cursor().ins().iconst(ty, value)
    }

    /// A new block, which the code goes on in once it is entered.
    pub(crate) fn block(&mut self) -> Block {
        new_block(&mut self.func)
    }

    pub(crate) fn cold_block(&mut self) -> Block {
        let block = new_block(&mut self.func);
        self.func.layout.set_cold(block);
        block
    }

    /// A new parameter of a block.
    pub(crate) fn parameter(&mut self, block: Block, ty: Type) -> Value {
        self.func.dfg.append_block_param(block, ty)
    }

    pub(crate) fn enter_block(&mut self, block: Block) {
        self.block = block;
    }

    /// The block of a jump's target.
    pub(crate) fn target(&mut self, target: usize) -> Option<Block> {
        let block = self.blocks.get(target).copied();
        if block.is_none() {
            self.fail(NativeError::Instruction(target));
        }
        block
    }

    /// Ends the block with a jump to an instruction.
    pub(crate) fn go(&mut self, block: Block) {
        let slots = BlockArg::Value(self.slots);
        self.cursor().ins().jump(block, &[slots]);
    }

    /// Ends the block by leaving.
    pub(crate) fn leave(&mut self, exit: Exit) {
        let packed = self.iconst(types::I64, exit.packed() as i64);
        self.cursor().ins().return_(&[packed]);
    }

    /// Goes on in a block that is never reached, after the end of one.
    pub(crate) fn enter_unreachable(&mut self) {
        self.block = new_block(&mut self.func);
    }

    /// The cold block that leaves so.
    pub(crate) fn exit(&mut self, exit: Exit) -> Block {
        if let Some(block) = self.exits.get(&exit.packed()) {
            return *block;
        }
        let here = self.block;
        let block = self.cold_block();
        self.block = block;
        self.leave(exit);
        self.block = here;
        self.exits.insert(exit.packed(), block);
        block
    }

    /// The cold block that leaves this instruction to the interpreter, which is a mistake after an effect.
    pub(crate) fn interpreter(&mut self) -> Block {
        let at = self.at();
        if self.changed {
            self.fail(NativeError::Order(at));
        }
        self.exit(Exit { at, leave: Leave::Interpret })
    }

    /// Notes that the instruction changes something.
    pub(crate) fn effect(&mut self) {
        self.at();
        self.changed = true;
    }

    /// True if the parts of an operand that `at` made are this instruction's. Another's are a mistake.
    pub(crate) fn own(&mut self, at: u32, values: [Option<(Value, Type)>; 2]) -> bool {
        let dfg = &self.func.dfg;
        let is_own = self.at == Some(at)
            && values
                .into_iter()
                .flatten()
                .all(|(value, ty)| (value.as_u32() as usize) < dfg.num_values() && dfg.value_type(value) == ty);
        if !is_own {
            let here = self.at();
            self.fail(NativeError::Operand(here));
        }
        is_own
    }

    /// The offset of a part of a slot.
    pub(crate) fn offset(&mut self, slot: usize, part: usize) -> Offset32 {
        let offset = slot.checked_mul(self.shape.stride).and_then(|start| start.checked_add(part));
        match offset.and_then(|offset| i32::try_from(offset).ok()) {
            Some(offset) => Offset32::new(offset),
            None => {
                self.fail(NativeError::Slot(slot));
                Offset32::new(0)
            }
        }
    }

    /// Reads a field of the frame.
    pub(crate) fn field(&mut self, ty: Type, offset: usize) -> Value {
        let frame = self.frame;
        self.cursor().ins().load(ty, memory(), frame, offset as i32)
    }

    /// Changes a field of the frame.
    pub(crate) fn set_field(&mut self, value: Value, offset: usize) {
        let frame = self.frame;
        self.cursor().ins().store(memory(), value, frame, offset as i32);
    }

    pub(crate) fn reload_slots(&mut self) {
        self.slots = self.field(types::I64, offset_of!(Frame, slots));
    }

    /// Calls a helper by its address; the answer.
    pub(crate) fn call_address(&mut self, address: usize, argument: u64) -> Value {
        let (frame, helper) = (self.frame, self.helper);
        let address = self.iconst(types::I64, address as i64);
        let argument = self.iconst(types::I64, argument as i64);
        let call = self.cursor().ins().call_indirect(helper, address, &[frame, argument]);
        self.func.dfg.first_result(call)
    }

    fn fall_through(&mut self) {
        let next = self.at.map_or(self.blocks.len() - 1, |at| at as usize + 1);
        self.go(self.blocks[next]);
        self.at = None;
    }
}

/// Accesses of memory that the caller promises is there.
pub(crate) fn memory() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}

fn new_block(func: &mut Function) -> Block {
    let block = func.dfg.make_block();
    func.layout.append_block(block);
    block
}
