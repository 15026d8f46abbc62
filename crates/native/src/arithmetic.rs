//! Integers: words, their arithmetic, and their slots.
//!
//! A word is computed as 64 bits, as the interpreter does. Its width bounds its value, so that most tests fall away: two words of
//! int cannot overflow 64 bits, and what is `int & int` fits an int.

use crate::builder::{Builder, memory};
use crate::truth::Flag;
use crate::{Width, WidthShape};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Type, Value, types};

/// An integer or NULL, as an operand of the instruction that made it.
#[derive(Debug, Clone, Copy)]
pub struct Word {
    /// 64 bits. Anything if the word is NULL.
    pub(crate) value: Value,
    pub(crate) null: Flag,
    /// The value fits this width if it is not NULL.
    pub(crate) width: Width,
    pub(crate) at: u32,
}

/// An operator on two integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`, toward zero
    Divide,
    /// `%`, with the sign of the dividend
    Modulo,
    /// `&`
    And,
    /// `|`
    Or,
    /// `^`
    Xor,
}

impl Builder {
    /// NULL.
    pub fn null(&mut self) -> Word {
        self.word(0, Flag::Yes)
    }

    /// A constant.
    pub fn constant(&mut self, value: i64) -> Word {
        self.word(value, Flag::No)
    }

    fn word(&mut self, constant: i64, null: Flag) -> Word {
        let fits = |width: &Width| match width {
            Width::Bit => constant == 0 || constant == 1,
            Width::Tiny => u8::try_from(constant).is_ok(),
            Width::Small => i16::try_from(constant).is_ok(),
            Width::Int => i32::try_from(constant).is_ok(),
            Width::Big => true,
        };
        let width = Width::ALL.into_iter().find(fits).unwrap_or(Width::Big);
        let at = self.at();
        Word { value: self.iconst(types::I64, constant), null, width, at }
    }

    /// A number that is not NULL.
    pub(crate) fn big_word(&mut self, value: Value) -> Word {
        Word { value, null: Flag::No, width: Width::Big, at: self.at() }
    }

    /// The integer in a slot. A slot that holds neither this width nor NULL leaves to the interpreter.
    pub fn load(&mut self, slot: usize, width: Width) -> Word {
        let WidthShape { tag: own, offset } = self.shape.of(width);
        let tag = self.tag(slot);
        let own = self.iconst(types::I8, own.into());
        let is_own = self.cursor().ins().icmp(IntCC::Equal, tag, own);
        let (loaded, other, leave) = (self.block(), self.cold_block(), self.interpreter());
        self.cursor().ins().brif(is_own, loaded, &[], other, &[]);
        self.enter_block(other);
        let is_null = self.is_null_tag(tag);
        self.cursor().ins().brif(is_null, loaded, &[], leave, &[]);
        self.enter_block(loaded);
        let null = self.cursor().ins().icmp(IntCC::NotEqual, tag, own);
        let (slots, offset) = (self.slots, self.offset(slot, offset.into()));
        let mut cursor = self.cursor();
        let value = match width {
            Width::Bit | Width::Tiny => cursor.ins().uload8(types::I64, memory(), slots, offset),
            Width::Small => cursor.ins().sload16(types::I64, memory(), slots, offset),
            Width::Int => cursor.ins().sload32(memory(), slots, offset),
            Width::Big => cursor.ins().load(types::I64, memory(), slots, offset),
        };
        Word { value, null: Flag::Value(null), width, at: self.at() }
    }

    /// The flag of a slot that holds NULL.
    pub(crate) fn null_slot(&mut self, slot: usize) -> Value {
        let tag = self.tag(slot);
        self.is_null_tag(tag)
    }

    fn tag(&mut self, slot: usize) -> Value {
        let (slots, offset) = (self.slots, self.offset(slot, 0));
        self.cursor().ins().load(types::I8, memory(), slots, offset)
    }

    fn is_null_tag(&mut self, tag: Value) -> Value {
        let null = self.iconst(types::I8, self.shape.null.into());
        self.cursor().ins().icmp(IntCC::Equal, tag, null)
    }

    /// The operands, if they are this instruction's; NULL instead, if not.
    pub(crate) fn owned(&mut self, word: Word) -> Word {
        if self.own(word.at, [Some((word.value, types::I64)), word.null.part()]) { word } else { self.null() }
    }

    /// An operation on two words, with the width that the result must fit. NULL if one is NULL.
    pub fn binary(&mut self, op: Op, width: Width, left: Word, right: Word) -> Word {
        let (left, right) = (self.owned(left), self.owned(right));
        let null = self.flag_or(left.null, right.null);
        if null == Flag::Yes {
            return self.null();
        }
        let (a, b) = (left.value, right.value);
        let widest = left.width.max(right.width);
        let (value, bound, null) = match op {
            Op::Add | Op::Subtract | Op::Multiply => self.checked(op, null, a, b, widest),
            Op::Divide | Op::Modulo => self.divided(op, width, null, left, right),
            Op::And => (self.cursor().ins().band(a, b), widest, null),
            Op::Or => (self.cursor().ins().bor(a, b), widest, null),
            Op::Xor => (self.cursor().ins().bxor(a, b), widest, null),
        };
        self.fitted(Word { value, null, width: bound, at: left.at }, width)
    }

    /// A sum, difference or product in 64 bits, its width, and the flag of NULL. It leaves where the bits are too few.
    fn checked(&mut self, op: Op, null: Flag, a: Value, b: Value, widest: Width) -> (Value, Width, Flag) {
        let mut cursor = self.cursor();
        if widest < Width::Big {
            let value = match op {
                Op::Add => cursor.ins().iadd(a, b),
                Op::Subtract => cursor.ins().isub(a, b),
                _ => cursor.ins().imul(a, b),
            };
            return (value, Width::Big, null);
        }
        let (value, overflow) = match op {
            Op::Add => cursor.ins().sadd_overflow(a, b),
            Op::Subtract => cursor.ins().ssub_overflow(a, b),
            _ => cursor.ins().smul_overflow(a, b),
        };
        (value, Width::Big, self.leave_if(overflow, null))
    }

    /// A quotient or remainder, the width that bounds it, and the flag of NULL. The machine's own division traps at 0 and at the smallest integer by
    /// -1, so neither may reach it, not even from the payload of a NULL.
    fn divided(&mut self, op: Op, width: Width, null: Flag, left: Word, right: Word) -> (Value, Width, Flag) {
        let (a, mut b) = (left.value, right.value);
        let one = self.iconst(types::I64, 1);
        let is_zero = self.compared(IntCC::Equal, b, 0);
        let null = self.leave_if(is_zero, null);
        if let Flag::Value(null) = null {
            b = self.cursor().ins().select(null, one, b);
        }
        let is_minus_one = self.compared(IntCC::Equal, b, -1);
        let ty = if left.width.max(right.width) < Width::Big { types::I32 } else { types::I64 };
        if op == Op::Modulo {
            // The remainder by -1 is the remainder by 1.
            let b = self.cursor().ins().select(is_minus_one, one, b);
            return (self.division(ty, a, b, op), left.width, null);
        }
        let least = if ty == types::I32 { i32::MIN.into() } else { i64::MIN };
        let is_least = self.compared(IntCC::Equal, a, least);
        let overflow = self.cursor().ins().band(is_least, is_minus_one);
        let null = self.leave_if(overflow, null);
        let bound = if ty == types::I32 && width >= Width::Int { Width::Int } else { Width::Big };
        (self.division(ty, a, b, op), bound, null)
    }

    /// The machine's division, in 32 bits where these hold both operands: it is faster there. The dividend of a NULL is anything, but its
    /// divisor is 1, and nothing by 1 traps.
    fn division(&mut self, ty: Type, a: Value, b: Value, op: Op) -> Value {
        let (mut a, mut b) = (a, b);
        let mut cursor = self.cursor();
        if ty == types::I32 {
            a = cursor.ins().ireduce(ty, a);
            b = cursor.ins().ireduce(ty, b);
        }
        let result = match op {
            Op::Modulo => cursor.ins().srem(a, b),
            _ => cursor.ins().sdiv(a, b),
        };
        if ty == types::I32 { cursor.ins().sextend(types::I64, result) } else { result }
    }

    /// `-x`, which must fit the width.
    pub fn negate(&mut self, word: Word, width: Width) -> Word {
        let mut word = self.owned(word);
        if word.width == Width::Big {
            let is_least = self.compared(IntCC::Equal, word.value, i64::MIN);
            word.null = self.leave_if(is_least, word.null);
        }
        let value = self.cursor().ins().ineg(word.value);
        self.fitted(Word { value, width: Width::Big, ..word }, width)
    }

    /// `~x`: of a bit the other bit, of a tinyint its eight bits, else all.
    pub fn complement(&mut self, word: Word, width: Width) -> Word {
        let word = self.owned(word);
        let (one, byte) = (self.iconst(types::I64, 1), self.iconst(types::I64, 0xff));
        let mut cursor = self.cursor();
        let (value, width) = match width {
            Width::Bit if word.width == Width::Bit => (cursor.ins().isub(one, word.value), Width::Bit),
            Width::Bit => (cursor.ins().isub(one, word.value), Width::Big),
            Width::Tiny => {
                let value = cursor.ins().bnot(word.value);
                (cursor.ins().band(value, byte), Width::Tiny)
            }
            width => (cursor.ins().bnot(word.value), width.max(word.width)),
        };
        Word { value, width, ..word }
    }

    /// A conversion to another width: to a bit, the value is 1 unless it is 0; to the others, it must fit.
    pub fn narrow(&mut self, word: Word, width: Width) -> Word {
        let word = self.owned(word);
        if width != Width::Bit || word.width == Width::Bit {
            return self.fitted(word, width);
        }
        let value = self.compared(IntCC::NotEqual, word.value, 0);
        let value = self.cursor().ins().uextend(types::I64, value);
        Word { value, width, ..word }
    }

    /// Stores a word into a slot. One that is known to fit costs no test; another leaves to the interpreter unless it fits.
    pub fn store(&mut self, slot: usize, width: Width, word: Word) {
        let word = self.owned(word);
        let word = self.fitted(word, width);
        self.effect();
        let WidthShape { tag, offset } = self.shape.of(width);
        let (slots, tag_offset, offset) = (self.slots, self.offset(slot, 0), self.offset(slot, offset.into()));
        let own = self.iconst(types::I8, tag.into());
        let null = self.iconst(types::I8, self.shape.null.into());
        let mut cursor = self.cursor();
        let tag = match word.null {
            Flag::No => own,
            Flag::Yes => null,
            Flag::Value(is_null) => cursor.ins().select(is_null, null, own),
        };
        cursor.ins().store(memory(), tag, slots, tag_offset);
        if word.null == Flag::Yes {
            return;
        }
        match width {
            Width::Bit | Width::Tiny => cursor.ins().istore8(memory(), word.value, slots, offset),
            Width::Small => cursor.ins().istore16(memory(), word.value, slots, offset),
            Width::Int => cursor.ins().istore32(memory(), word.value, slots, offset),
            Width::Big => cursor.ins().store(memory(), word.value, slots, offset),
        };
    }

    /// The values of two words that are compared, and the flag that one is NULL.
    pub(crate) fn pair(&mut self, left: Word, right: Word) -> (Value, Value, Flag) {
        let (left, right) = (self.owned(left), self.owned(right));
        (left.value, right.value, self.flag_or(left.null, right.null))
    }

    /// The word, of the width that it must fit; it leaves if it does not.
    fn fitted(&mut self, mut word: Word, width: Width) -> Word {
        if word.width > width && word.null != Flag::Yes {
            let misfit = match width {
                Width::Bit => self.compared(IntCC::UnsignedGreaterThan, word.value, 1),
                Width::Tiny => self.compared(IntCC::UnsignedGreaterThan, word.value, 0xff),
                Width::Small => self.cut(types::I16, word.value),
                Width::Int => self.cut(types::I32, word.value),
                // No width is larger.
                Width::Big => return word,
            };
            word.null = self.leave_if(misfit, word.null);
        }
        Word { width: word.width.min(width), ..word }
    }

    /// The flag of a value that a type cannot hold.
    fn cut(&mut self, ty: Type, value: Value) -> Value {
        let mut cursor = self.cursor();
        let cut = cursor.ins().ireduce(ty, value);
        let cut = cursor.ins().sextend(types::I64, cut);
        cursor.ins().icmp(IntCC::NotEqual, cut, value)
    }

    fn compared(&mut self, condition: IntCC, value: Value, constant: i64) -> Value {
        let constant = self.iconst(types::I64, constant);
        self.cursor().ins().icmp(condition, value, constant)
    }

    /// Leaves to the interpreter if a fault is a word's that is not NULL. Faults are rare, so NULL is looked at only after one.
    ///
    /// The answer is the flag of NULL from here on. It is a block's parameter, so that the code generator does not compute the flags
    /// of a long expression again in the cold block of each fault.
    fn leave_if(&mut self, fault: Value, null: Flag) -> Flag {
        if null == Flag::Yes {
            return null;
        }
        let (on, leave) = (self.block(), self.interpreter());
        let Flag::Value(is_null) = null else {
            self.cursor().ins().brif(fault, leave, &[], on, &[]);
            self.enter_block(on);
            return null;
        };
        let cold = self.cold_block();
        self.cursor().ins().brif(fault, cold, &[], on, &[BlockArg::Value(is_null)]);
        self.enter_block(cold);
        let yes = self.iconst(types::I8, 1);
        self.cursor().ins().brif(is_null, on, &[BlockArg::Value(yes)], leave, &[]);
        self.enter_block(on);
        Flag::Value(self.parameter(on, types::I8))
    }
}
