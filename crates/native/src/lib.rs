//! Machine code of natively compiled T-SQL modules.
//!
//! A program is a flat list of instructions over slots, numbered from 0. [`Builder`] takes the operations of each instruction and
//! makes one machine function of all; [`Code`] runs it. The crate knows nothing of SQL text, tables or sessions.
//!
//! ```text
//!             Frame ──► slots      ┌─────┬─────────┬─────┬─────────┬──
//!                                  │ tag │ payload │ tag │ payload │     `stride` bytes each
//!                                  └─────┴─────────┴─────┴─────────┴──
//!   run(frame, entry) ──► br_table ──► instruction 0 ──► instruction 1 ──► ... ──► end
//!                             └──────────────────────────────▲
//!   Exit { at, leave } ◄── any instruction
//! ```
//!
//! The code has no error handling of its own. It leaves to the caller's interpreter, with [`Leave::Interpret`], at an instruction
//! that has no code or that would overflow, divide by zero or meet a slot of another type. The interpreter runs that one
//! instruction, raises the error if there is one, and runs the code again from the next.
//!
//! A program of one instruction can also make a row: the bytes of its keys and of its columns, in two places of the caller's
//! ([`Builder::begin_row`]). Those are no effects: what stands there is of no use unless the program has come to its end.
//!
//! Invariants:
//!
//! * An instruction that is left with [`Leave::Interpret`] has changed nothing: all that can fault comes before its first effect.
//!   [`Builder::finish`] refuses a program in another order.
//! * Every loop counts [`Frame::budget`] down, because each jump to the same or an earlier instruction does. The code returns.
//! * A value lives in a slot between instructions, and in a register only within one. So every instruction can be an entry.
//! * Memory of code is never writable and executable at once.
//! * The NULL of an operand is data: what the payload of a NULL slot holds decides nothing.
//!
//! The code generator is Cranelift. Miri cannot run generated code, and so none of the tests that run it.

mod arithmetic;
mod builder;
mod bytes;
mod code;
mod error;
mod flow;
mod frame;
mod shape;
#[cfg(test)]
mod tests;
mod truth;

pub use arithmetic::{Op, Word};
pub use builder::Builder;
pub use bytes::{Form, KeyForm, RowEnd, SLACK_BYTES};
pub use code::Code;
pub use error::NativeError;
pub use frame::{Exit, Frame, Helper, INPUTS, Leave};
pub use shape::{SlotShape, Width, WidthShape};
pub use truth::{Comparison, Truth};
