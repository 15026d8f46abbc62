//! Tests of the machine code on slots of the tests' own.

mod expressions;
mod programs;
mod rows;

use crate::{Frame, SlotShape, Width, WidthShape};

/// A slot, as the caller's enum of values is one: more variants than the code knows, and payloads at two offsets.
#[repr(u8)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Slot {
    Null = 3,
    Float(f64) = 5,
    Bit(bool) = 7,
    Tiny(u8) = 11,
    Small(i16) = 13,
    Int(i32) = 200,
    Big(i64) = 255,
}

pub(super) fn shape() -> SlotShape {
    let offsets = [(7, 1), (11, 1), (13, 2), (200, 4), (255, 8)];
    SlotShape { stride: size_of::<Slot>(), null: 3, widths: offsets.map(|(tag, offset)| WidthShape { tag, offset }) }
}

impl Slot {
    pub(super) fn of(width: Width, value: Option<i64>) -> Slot {
        match (value, width) {
            (None, _) => Slot::Null,
            (Some(value), Width::Bit) => Slot::Bit(value != 0),
            (Some(value), Width::Tiny) => Slot::Tiny(value as u8),
            (Some(value), Width::Small) => Slot::Small(value as i16),
            (Some(value), Width::Int) => Slot::Int(value as i32),
            (Some(value), Width::Big) => Slot::Big(value),
        }
    }

    pub(super) fn integer(self) -> Option<i64> {
        match self {
            Slot::Null | Slot::Float(_) => None,
            Slot::Bit(value) => Some(value.into()),
            Slot::Tiny(value) => Some(value.into()),
            Slot::Small(value) => Some(value.into()),
            Slot::Int(value) => Some(value.into()),
            Slot::Big(value) => Some(value),
        }
    }
}

/// The places that a frame points at.
#[derive(Default)]
pub(super) struct Globals {
    pub(super) row_count: i64,
    pub(super) last_error: i32,
}

/// A frame over slots; its budget is large.
pub(super) fn frame(slots: &mut [Slot], globals: &mut Globals) -> Frame {
    Frame {
        row_count: &raw mut globals.row_count,
        last_error: &raw mut globals.last_error,
        ..Frame::new(slots.as_mut_ptr().cast(), u32::MAX)
    }
}

/// Makes a slot NULL whose payload, at each offset, is the upper part of these bytes.
pub(super) fn null_over(slot: &mut Slot, bytes: i64) {
    let start: *mut u8 = (&raw mut *slot).cast();
    // SAFETY: all writes are within the slot. Its tag becomes NULL's, whose other bytes are padding.
    unsafe {
        start.add(8).cast::<i64>().write(bytes);
        start.add(4).cast::<i32>().write((bytes >> 32) as i32);
        start.add(2).cast::<i16>().write((bytes >> 48) as i16);
        start.add(1).write((bytes >> 56) as u8);
        start.write(3);
    }
}
