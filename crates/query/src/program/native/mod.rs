//! Machine code of natively compiled modules, made of their programs.
//!
//! ```text
//!   integers over variables   compiled: values stay in the frame's slots, where the machine finds them
//!   statements of tables      calls of the machine, from the code
//!   all else                  left to the machine, an instruction at a time
//! ```
//! The code is another form of [`Machine::advance`](crate::procedural)'s loop, not another machine: each instruction does the same in both,
//! and the program goes on in either behind any of them. An error is always raised by the machine, which runs the instruction again that the
//! code has left without a trace.

mod row;

use pikepole_native::{
    Builder, Code, Comparison as Compare, Helper, NativeError, Op, SlotShape, Truth, WidthShape, Word,
};
use pikepole_types::Value;

pub(crate) use row::row_code_of;

use super::{Instruction, Program};
use crate::expression::{Comparison, Expr, Integer, IntegerOp, Predicate, Width, integer_of};

/// The functions of the machine that the code calls; each takes the number of the instruction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Helpers {
    /// Assigns the value of an expression that is not compiled.
    pub(crate) assign: Helper,
    /// Tells if a condition holds that is not compiled: 0, 1 or [`Builder::call_for_truth`]'s others.
    pub(crate) holds: Helper,
    /// Runs a statement.
    pub(crate) statement: Helper,
    /// Takes the present time.
    pub(crate) clock: Helper,
}

/// Instructions of a program that becomes machine code. The generator takes its time, in which the scheduler runs nothing else, and more of it
/// for each instruction the more there are.
pub(crate) const INSTRUCTIONS_MAX: usize = 2_000;
/// Operands and operators that are compiled; for the same reason. The machine evaluates the expressions behind.
const PARTS_MAX: usize = 10_000;

/// Makes the machine code of a natively compiled module; None: it has too many instructions, and is interpreted.
///
/// # Errors
/// A machine without a code generator; what the generator refuses.
pub(crate) fn code_of(program: &Program, helpers: &Helpers) -> Result<Option<Code>, NativeError> {
    if program.instructions.len() > INSTRUCTIONS_MAX {
        return Ok(None);
    }
    let builder = Builder::new(shape(), program.instructions.len())?;
    let mut lowering = Lowering { program, builder, parts_left: PARTS_MAX };
    for (at, instruction) in program.instructions.iter().enumerate() {
        lowering.builder.begin(at);
        lowering.instruction(at as u64, instruction, helpers);
    }
    lowering.builder.finish().map(Some)
}

/// The places of integers in a [`Value`].
fn shape() -> SlotShape {
    let values = [Value::Bit(true), Value::TinyInt(1), Value::SmallInt(1), Value::Int(1), Value::BigInt(1)];
    let payload = |value: &Value| match value {
        Value::Bit(payload) => std::ptr::from_ref(payload).addr(),
        Value::TinyInt(payload) => std::ptr::from_ref(payload).addr(),
        Value::SmallInt(payload) => std::ptr::from_ref(payload).addr(),
        Value::Int(payload) => std::ptr::from_ref(payload).addr(),
        Value::BigInt(payload) => std::ptr::from_ref(payload).addr(),
        _ => 0,
    };
    let widths = values.each_ref().map(|value| WidthShape {
        tag: value.tag(),
        offset: payload(value).wrapping_sub(std::ptr::from_ref(value).addr()) as u8,
    });
    SlotShape { stride: size_of::<Value>(), null: Value::Null.tag(), widths }
}

struct Lowering<'p> {
    program: &'p Program,
    builder: Builder,
    parts_left: usize,
}

impl Lowering<'_> {
    fn instruction(&mut self, at: u64, instruction: &Instruction, helpers: &Helpers) {
        match instruction {
            Instruction::Assign { slot, value } => {
                let compiled = self.width_of(*slot).and_then(|width| Some((width, self.value(value, width)?)));
                match compiled {
                    Some((width, word)) => {
                        self.builder.store(*slot, native_width(width), word);
                        self.builder.set_row_count(1);
                        self.builder.clear_error();
                    }
                    None => self.builder.call(helpers.assign, at),
                }
            }
            Instruction::Jump(target) => self.builder.jump(*target),
            Instruction::JumpUnless(condition, target) => {
                let truth = self.condition(condition);
                let truth = truth.unwrap_or_else(|| self.builder.call_for_truth(helpers.holds, at));
                self.builder.set_row_count(0);
                self.builder.clear_error();
                self.builder.jump_unless(truth, *target);
            }
            Instruction::Statement(_) => self.builder.call(helpers.statement, at),
            Instruction::Clock => self.builder.call(helpers.clock, at),
            _ => self.builder.interpret(),
        }
    }

    /// Counts a part of an expression; None: there were too many.
    fn take_part(&mut self) -> Option<()> {
        self.parts_left = self.parts_left.checked_sub(1)?;
        Some(())
    }

    /// The width of a variable that is an integer.
    fn width_of(&self, slot: usize) -> Option<Width> {
        Width::of(&self.program.variables.get(slot)?.ty)
    }

    /// The value of an expression that is stored into a place of this width.
    fn value(&mut self, expr: &Expr, width: Width) -> Option<Word> {
        match expr {
            Expr::Integer(integer, _) => self.integer(integer),
            Expr::Slot(slot) if self.width_of(*slot) == Some(width) => {
                Some(self.builder.load(*slot, native_width(width)))
            }
            Expr::Const(Value::Null) => Some(self.builder.null()),
            Expr::Const(value) => Some(self.builder.constant(integer_of(value)?)),
            _ => None,
        }
    }

    /// An integer expression; None: it has parts that are not compiled. What was made of the others is dead code then, without effect.
    fn integer(&mut self, integer: &Integer) -> Option<Word> {
        self.take_part()?;
        Some(match integer {
            Integer::Const(None) => self.builder.null(),
            Integer::Const(Some(value)) => self.builder.constant(*value),
            Integer::Slot(slot) => {
                let width = self.width_of(*slot)?;
                self.builder.load(*slot, native_width(width))
            }
            Integer::Binary { op, width, operands } => {
                let left = self.integer(&operands[0])?;
                let right = self.integer(&operands[1])?;
                self.builder.binary(native_op(*op), native_width(*width), left, right)
            }
            Integer::Negate(inner, width) => {
                let inner = self.integer(inner)?;
                self.builder.negate(inner, native_width(*width))
            }
            Integer::Complement(inner, width) => {
                let inner = self.integer(inner)?;
                self.builder.complement(inner, native_width(*width))
            }
            Integer::Narrow(inner, _, width) => {
                let inner = self.integer(inner)?;
                self.builder.narrow(inner, native_width(*width))
            }
            Integer::Global(_) | Integer::Short(_) | Integer::Other(_) => return None,
        })
    }

    /// A condition; None: it has parts that are not compiled.
    fn condition(&mut self, condition: &Predicate) -> Option<Truth> {
        self.take_part()?;
        Some(match condition {
            Predicate::Const(truth) => self.builder.truth_constant(*truth),
            Predicate::Integers(op, operands) => {
                let left = self.integer(&operands[0])?;
                let right = self.integer(&operands[1])?;
                self.builder.compare(native_comparison(*op), left, right)
            }
            Predicate::And(all) => self.all_of(all, true)?,
            Predicate::Or(any) => self.all_of(any, false)?,
            Predicate::Not(inner) => {
                let inner = self.condition(inner)?;
                self.builder.not(inner)
            }
            Predicate::IsNull(expr) => match &**expr {
                Expr::Slot(slot) if *slot < self.program.variables.len() => self.builder.slot_is_null(*slot),
                Expr::Integer(integer, _) => {
                    let word = self.integer(integer)?;
                    self.builder.is_null(word)
                }
                _ => return None,
            },
            Predicate::Slot(slot) if *slot < self.program.slots => self.builder.truth_of_bit_slot(*slot),
            _ => return None,
        })
    }

    /// AND of all, or OR. A part that would fail behind one that decides leaves to the machine, which does not come to it.
    fn all_of(&mut self, parts: &[Predicate], and: bool) -> Option<Truth> {
        let mut whole = self.builder.truth_constant(Some(and));
        for part in parts {
            let part = self.condition(part)?;
            whole = if and { self.builder.and(whole, part) } else { self.builder.or(whole, part) };
        }
        Some(whole)
    }
}

fn native_width(width: Width) -> pikepole_native::Width {
    match width {
        Width::Bit => pikepole_native::Width::Bit,
        Width::Tiny => pikepole_native::Width::Tiny,
        Width::Small => pikepole_native::Width::Small,
        Width::Int => pikepole_native::Width::Int,
        Width::Big => pikepole_native::Width::Big,
    }
}

fn native_op(op: IntegerOp) -> Op {
    match op {
        IntegerOp::Add => Op::Add,
        IntegerOp::Subtract => Op::Subtract,
        IntegerOp::Multiply => Op::Multiply,
        IntegerOp::Divide => Op::Divide,
        IntegerOp::Modulo => Op::Modulo,
        IntegerOp::And => Op::And,
        IntegerOp::Or => Op::Or,
        IntegerOp::Xor => Op::Xor,
    }
}

fn native_comparison(op: Comparison) -> Compare {
    match op {
        Comparison::Equal => Compare::Equal,
        Comparison::NotEqual => Compare::NotEqual,
        Comparison::Less => Compare::Less,
        Comparison::LessOrEqual => Compare::LessOrEqual,
        Comparison::Greater => Compare::Greater,
        Comparison::GreaterOrEqual => Compare::GreaterOrEqual,
    }
}
