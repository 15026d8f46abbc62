//! Conditions: three-valued logic.

use crate::Width;
use crate::arithmetic::Word;
use crate::builder::Builder;
use cranelift_codegen::ir::condcodes::{CondCode, IntCC};
use cranelift_codegen::ir::{InstBuilder, Type, Value, types};

/// A flag: known while compiling, or a byte of 0 or 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flag {
    No,
    Yes,
    Value(Value),
}

impl Flag {
    fn of(flag: bool) -> Flag {
        if flag { Flag::Yes } else { Flag::No }
    }

    /// The value with its type, if the flag has one.
    pub(crate) fn part(self) -> Option<(Value, Type)> {
        match self {
            Flag::Value(value) => Some((value, types::I8)),
            _ => None,
        }
    }
}

/// True, false or UNKNOWN, as an operand of the instruction that made it. At most one of the flags is set: NOT exchanges them.
#[derive(Debug, Clone, Copy)]
pub struct Truth {
    is_true: Flag,
    is_false: Flag,
    at: u32,
}

/// A comparison operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `<>`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

impl Comparison {
    fn condition(self) -> IntCC {
        match self {
            Comparison::Equal => IntCC::Equal,
            Comparison::NotEqual => IntCC::NotEqual,
            Comparison::Less => IntCC::SignedLessThan,
            Comparison::LessOrEqual => IntCC::SignedLessThanOrEqual,
            Comparison::Greater => IntCC::SignedGreaterThan,
            Comparison::GreaterOrEqual => IntCC::SignedGreaterThanOrEqual,
        }
    }
}

impl Builder {
    /// A constant truth value; `None` is UNKNOWN.
    pub fn truth_constant(&mut self, truth: Option<bool>) -> Truth {
        let at = self.at();
        Truth { is_true: Flag::of(truth == Some(true)), is_false: Flag::of(truth == Some(false)), at }
    }

    /// Two words compared; UNKNOWN if one is NULL.
    pub fn compare(&mut self, comparison: Comparison, left: Word, right: Word) -> Truth {
        let (left, right, null) = self.pair(left, right);
        if null == Flag::Yes {
            return self.truth_constant(None);
        }
        let condition = comparison.condition();
        let holds = self.cursor().ins().icmp(condition, left, right);
        let fails = self.cursor().ins().icmp(condition.complement(), left, right);
        self.known_unless(null, holds, fails)
    }

    /// `x IS NULL`
    pub fn is_null(&mut self, word: Word) -> Truth {
        let null = self.owned(word).null;
        self.certain(null)
    }

    /// `x IS NULL` of a slot of any type.
    pub fn slot_is_null(&mut self, slot: usize) -> Truth {
        let null = self.null_slot(slot);
        self.certain(Flag::Value(null))
    }

    /// The truth value that a slot holds as a bit or NULL.
    pub fn truth_of_bit_slot(&mut self, slot: usize) -> Truth {
        let bit = self.load(slot, Width::Bit);
        let zero = self.constant(0);
        self.compare(Comparison::NotEqual, bit, zero)
    }

    /// Both hold.
    pub fn and(&mut self, left: Truth, right: Truth) -> Truth {
        let (left, right) = (self.owned_truth(left), self.owned_truth(right));
        Truth {
            is_true: self.flag_and(left.is_true, right.is_true),
            is_false: self.flag_or(left.is_false, right.is_false),
            at: left.at,
        }
    }

    /// One of them holds.
    pub fn or(&mut self, left: Truth, right: Truth) -> Truth {
        let (left, right) = (self.not(left), self.not(right));
        let neither = self.and(left, right);
        self.not(neither)
    }

    /// The opposite. That of UNKNOWN is UNKNOWN.
    pub fn not(&mut self, truth: Truth) -> Truth {
        let truth = self.owned_truth(truth);
        Truth { is_true: truth.is_false, is_false: truth.is_true, at: truth.at }
    }

    /// The truth of two flags of which one is set, unless the third is.
    pub(crate) fn known_unless(&mut self, null: Flag, holds: Value, fails: Value) -> Truth {
        let at = self.at();
        Truth {
            is_true: self.flag_and_not(Flag::Value(holds), null),
            is_false: self.flag_and_not(Flag::Value(fails), null),
            at,
        }
    }

    fn certain(&mut self, flag: Flag) -> Truth {
        let at = self.at();
        Truth { is_true: flag, is_false: self.flag_not(flag), at }
    }

    /// The flag that the truth holds. UNKNOWN does not.
    pub(crate) fn holds(&mut self, truth: Truth) -> Flag {
        self.owned_truth(truth).is_true
    }

    fn owned_truth(&mut self, truth: Truth) -> Truth {
        if self.own(truth.at, [truth.is_true.part(), truth.is_false.part()]) {
            truth
        } else {
            self.truth_constant(None)
        }
    }

    fn flag_and(&mut self, left: Flag, right: Flag) -> Flag {
        match (left, right) {
            (Flag::No, _) | (_, Flag::No) => Flag::No,
            (Flag::Yes, other) | (other, Flag::Yes) => other,
            (Flag::Value(left), Flag::Value(right)) => Flag::Value(self.cursor().ins().band(left, right)),
        }
    }

    pub(crate) fn flag_or(&mut self, left: Flag, right: Flag) -> Flag {
        match (left, right) {
            (Flag::Yes, _) | (_, Flag::Yes) => Flag::Yes,
            (Flag::No, other) | (other, Flag::No) => other,
            (Flag::Value(left), Flag::Value(right)) => Flag::Value(self.cursor().ins().bor(left, right)),
        }
    }

    fn flag_not(&mut self, flag: Flag) -> Flag {
        match flag {
            Flag::No => Flag::Yes,
            Flag::Yes => Flag::No,
            Flag::Value(value) => {
                let one = self.iconst(types::I8, 1);
                Flag::Value(self.cursor().ins().bxor(value, one))
            }
        }
    }

    pub(crate) fn flag_and_not(&mut self, left: Flag, right: Flag) -> Flag {
        let right = self.flag_not(right);
        self.flag_and(left, right)
    }
}
