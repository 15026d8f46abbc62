//! Rows: their keys and their bytes, written into two places of the frame.
//!
//! ```text
//!   Frame::keys ──► key of index 0 | key of index 1 | slack        at offsets that are known when the code is made
//!   Frame::row  ──► bytes | number | bytes | number | .. slack     each behind the one before, however long that is
//! ```
//! An instruction may leave to the interpreter behind a write: bytes that are there are of no use until it has ended.

use crate::arithmetic::Word;
use crate::builder::{Builder, memory};
use crate::frame::{Exit, Frame, INPUTS, Leave};
use crate::truth::Flag;
use crate::{NativeError, Width};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use std::mem::offset_of;

/// Bytes behind a key or a row that may be written over: numbers are stored eight bytes at a time.
pub const SLACK_BYTES: usize = 8;

/// The end of what is written of a row.
#[derive(Debug, Clone, Copy)]
pub struct RowEnd {
    place: Value,
    at: u32,
}

/// The form of a number in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Its lowest byte.
    Byte,
    /// Groups of seven bits, the lowest first; the top bit of a byte says that more follow. A number of 64 bits leaves to the interpreter.
    Varint,
    /// The same of twice the number, or of the complement of that for one below zero.
    Zigzag,
}

/// The form of a number in a key: its last bytes, the highest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyForm {
    /// Bytes: one to eight.
    pub bytes: usize,
    /// The highest bit is turned, so that numbers below zero come first.
    pub is_signed: bool,
    /// Each bit is turned, then.
    pub descending: bool,
}

impl Builder {
    /// A number that the caller has left in the frame.
    pub fn input(&mut self, number: usize) -> Word {
        let at = self.at();
        if number >= INPUTS {
            self.fail(NativeError::Operand(at));
        }
        let value = self.field(types::I64, offset_of!(Frame, inputs) + 8 * number.min(INPUTS - 1));
        self.big_word(value)
    }

    /// Begins a row at [`Frame::row`].
    pub fn begin_row(&mut self) -> RowEnd {
        let place = self.field(types::I64, offset_of!(Frame, row));
        RowEnd { place, at: self.at() }
    }

    /// Writes constant bytes.
    pub fn put_bytes(&mut self, end: RowEnd, bytes: &[u8]) -> RowEnd {
        let place = self.owned_end(end);
        self.store_bytes(place, 0, bytes);
        self.moved(place, bytes.len() as i64)
    }

    /// Writes a number. One that is NULL leaves to the interpreter.
    pub fn put_number(&mut self, end: RowEnd, word: Word, form: Form) -> RowEnd {
        let (place, word) = (self.owned_end(end), self.owned(word));
        self.leave_if_null(word.null);
        let length = self.store_number(place, word, form);
        self.moved_by(place, length)
    }

    /// Writes a number, or nothing if it is NULL: then this bit is set, counted from the lowest one of the row's first byte.
    pub fn put_nullable(&mut self, end: RowEnd, word: Word, form: Form, null_bit: usize) -> RowEnd {
        let (place, word) = (self.owned_end(end), self.owned(word));
        if word.null == Flag::Yes {
            let set = self.iconst(types::I8, 1 << (null_bit % 8));
            self.set_in_row(null_bit / 8, set);
            return self.moved(place, 0);
        }
        let Flag::Value(is_null) = word.null else { return self.put_number(end, word, form) };
        let (mask, zero) = (self.iconst(types::I8, 1 << (null_bit % 8)), self.iconst(types::I8, 0));
        let set = self.cursor().ins().select(is_null, mask, zero);
        self.set_in_row(null_bit / 8, set);
        // What a NULL holds may have any number of bits.
        let nothing = self.iconst(types::I64, 0);
        let value = self.cursor().ins().select(is_null, nothing, word.value);
        let length = self.store_number(place, Word { value, ..word }, form);
        let length = self.cursor().ins().select(is_null, nothing, length);
        self.moved_by(place, length)
    }

    /// Ends the row: its length goes to [`Frame::row_len`].
    pub fn end_row(&mut self, end: RowEnd) {
        let place = self.owned_end(end);
        let start = self.field(types::I64, offset_of!(Frame, row));
        let length = self.cursor().ins().isub(place, start);
        self.set_field(length, offset_of!(Frame, row_len));
    }

    /// Writes constant bytes of a key, so many bytes behind [`Frame::keys`]. What is in the places behind is to be written later.
    pub fn put_key_bytes(&mut self, offset: usize, bytes: &[u8]) {
        let keys = self.field(types::I64, offset_of!(Frame, keys));
        self.store_bytes(keys, offset, bytes);
    }

    /// The same of a number. One that is NULL leaves to the interpreter.
    pub fn put_key_number(&mut self, offset: usize, word: Word, form: KeyForm) {
        let word = self.owned(word);
        self.leave_if_null(word.null);
        let KeyForm { bytes, is_signed, descending } = form;
        let Some(unused) = 8usize.checked_sub(bytes).filter(|unused| *unused < 8) else {
            let at = self.at();
            return self.fail(NativeError::Operand(at));
        };
        let keys = self.field(types::I64, offset_of!(Frame, keys));
        let top = self.iconst(types::I64, i64::MIN);
        let mut cursor = self.cursor();
        let mut value = cursor.ins().ishl_imm_u(word.value, 8 * unused as i64);
        if is_signed {
            value = cursor.ins().bxor(value, top);
        }
        if descending {
            value = cursor.ins().bnot(value);
        }
        let value = cursor.ins().bswap(value);
        cursor.ins().store(memory(), value, keys, offset as i32);
    }

    /// Stores the bytes of a number that is not NULL; their count.
    fn store_number(&mut self, place: Value, word: Word, form: Form) -> Value {
        let value = match form {
            Form::Byte => {
                self.cursor().ins().store(memory(), word.value, place, 0);
                return self.iconst(types::I64, 1);
            }
            Form::Varint => word.value,
            Form::Zigzag => {
                let mut cursor = self.cursor();
                let (twice, sign) = (cursor.ins().ishl_imm_u(word.value, 1), cursor.ins().sshr_imm_u(word.value, 63));
                cursor.ins().bxor(twice, sign)
            }
        };
        // Halves of 28 bits, quarters of 14, then eighths of 7 get a byte each.
        let halves = self.spread(value, 0x0FFF_FFFF, 0x00FF_FFFF_F000_0000, 4);
        let quarters = self.spread(halves, 0x0000_3FFF_0000_3FFF, 0x0FFF_C000_0FFF_C000, 2);
        let groups = self.spread(quarters, 0x007F_007F_007F_007F, 0x3F80_3F80_3F80_3F80, 1);
        let (all_more, one) = (self.iconst(types::I64, 0x8080_8080_8080_8080_u64 as i64), self.iconst(types::I64, 1));
        let mut cursor = self.cursor();
        let highest = cursor.ins().bor(groups, one);
        let zeros = cursor.ins().clz(highest);
        let bit = cursor.ins().bxor_imm_u(zeros, 63);
        // The bits below the last byte.
        let below = cursor.ins().band_imm_u(bit, 0x38);
        let last = cursor.ins().ishl(one, below);
        let below_last = cursor.ins().iadd_imm_s(last, -1);
        let more = cursor.ins().band(all_more, below_last);
        let before = cursor.ins().ushr_imm_u(bit, 3);
        let length = cursor.ins().iadd_imm_s(before, 1);
        let (more, length) = match word.width {
            Width::Big => self.store_ninth(place, value, (more, all_more), length),
            _ => (more, length),
        };
        let bytes = self.cursor().ins().bor(groups, more);
        self.cursor().ins().store(memory(), bytes, place, 0);
        length
    }

    /// Stores a ninth byte of a number that may have one: the bits then that say what follows, and the count of bytes.
    fn store_ninth(
        &mut self,
        place: Value,
        value: Value,
        (more, all_more): (Value, Value),
        length: Value,
    ) -> (Value, Value) {
        let ninth = self.cursor().ins().ushr_imm_u(value, 56);
        let (top, zero, nine) = (self.iconst(types::I64, 0x80), self.iconst(types::I64, 0), self.iconst(types::I64, 9));
        let is_long = self.cursor().ins().icmp(IntCC::UnsignedGreaterThanOrEqual, ninth, top);
        let (on, leave) = (self.block(), self.interpreter());
        self.cursor().ins().brif(is_long, leave, &[], on, &[]);
        self.enter_block(on);
        let mut cursor = self.cursor();
        cursor.ins().istore8(memory(), ninth, place, 8);
        let has_ninth = cursor.ins().icmp(IntCC::NotEqual, ninth, zero);
        (cursor.ins().select(has_ninth, all_more, more), cursor.ins().select(has_ninth, nine, length))
    }

    /// The bits of one mask, and those of another moved up.
    fn spread(&mut self, value: Value, stay: i64, move_up: i64, by: i64) -> Value {
        let (stay, move_up) = (self.iconst(types::I64, stay), self.iconst(types::I64, move_up));
        let mut cursor = self.cursor();
        let low = cursor.ins().band(value, stay);
        let high = cursor.ins().band(value, move_up);
        let high = cursor.ins().ishl_imm_u(high, by);
        cursor.ins().bor(low, high)
    }

    fn store_bytes(&mut self, place: Value, offset: usize, bytes: &[u8]) {
        for (number, part) in bytes.chunks(8).enumerate() {
            let mut eight = [0; 8];
            eight[..part.len()].copy_from_slice(part);
            let value = self.iconst(types::I64, i64::from_le_bytes(eight));
            self.cursor().ins().store(memory(), value, place, (offset + 8 * number) as i32);
        }
    }

    /// Sets bits in a byte of the row.
    fn set_in_row(&mut self, byte: usize, bits: Value) {
        let start = self.field(types::I64, offset_of!(Frame, row));
        let mut cursor = self.cursor();
        let own = cursor.ins().load(types::I8, memory(), start, byte as i32);
        let own = cursor.ins().bor(own, bits);
        cursor.ins().store(memory(), own, start, byte as i32);
    }

    fn moved(&mut self, place: Value, by: i64) -> RowEnd {
        let by = self.iconst(types::I64, by);
        self.moved_by(place, by)
    }

    fn moved_by(&mut self, place: Value, by: Value) -> RowEnd {
        let place = self.cursor().ins().iadd(place, by);
        RowEnd { place, at: self.at() }
    }

    fn leave_if_null(&mut self, null: Flag) {
        match null {
            Flag::No => {}
            Flag::Yes => {
                let leave = Exit { at: self.at(), leave: Leave::Interpret };
                self.leave(leave);
                self.enter_unreachable();
            }
            Flag::Value(is_null) => {
                let (on, leave) = (self.block(), self.interpreter());
                self.cursor().ins().brif(is_null, leave, &[], on, &[]);
                self.enter_block(on);
            }
        }
    }

    /// The place, if it is this instruction's; the row's start instead, if not.
    fn owned_end(&mut self, end: RowEnd) -> Value {
        if self.own(end.at, [Some((end.place, types::I64)), None]) { end.place } else { self.begin_row().place }
    }
}
