//! The interface between the code and its caller at run time: the frame going in, the exit coming out.

use std::ffi::c_void;

/// The memory that the code works on. The caller fills it in; the code reads `slots` at each entry and after each helper.
#[repr(C)]
#[derive(Debug)]
pub struct Frame {
    /// The first slot.
    pub slots: *mut u8,
    /// The place of @@ROWCOUNT; used by [`crate::Builder::set_row_count`] alone.
    pub row_count: *mut i64,
    /// The place of @@ERROR; used by [`crate::Builder::clear_error`] alone.
    pub last_error: *mut i32,
    /// The caller's own, for its helpers. The code does not look at it.
    pub context: *mut c_void,
    /// The place of a row's bytes; used by [`crate::Builder::begin_row`] and the pieces behind it alone.
    pub row: *mut u8,
    /// The place of its keys; used by the pieces of keys alone.
    pub keys: *mut u8,
    /// Bytes of the row that was made last.
    pub row_len: usize,
    /// Numbers of the caller's, for [`crate::Builder::input`].
    pub inputs: [i64; INPUTS],
    /// Jumps back until the code leaves with [`Leave::Poll`].
    pub budget: u32,
}

/// Numbers that the caller can leave in a frame.
pub const INPUTS: usize = 4;

impl Frame {
    /// A frame over slots, without anything else, for so many jumps back.
    pub fn new(slots: *mut u8, budget: u32) -> Frame {
        Frame {
            slots,
            row_count: std::ptr::null_mut(),
            last_error: std::ptr::null_mut(),
            context: std::ptr::null_mut(),
            row: std::ptr::null_mut(),
            keys: std::ptr::null_mut(),
            row_len: 0,
            inputs: [0; INPUTS],
            budget,
        }
    }
}

/// A function of the caller's that the code calls: 0 goes on, any other answer leaves with [`Leave::Stopped`]. The argument is the
/// one given to the builder.
///
/// It may read and change the whole frame. It must not unwind: an `extern "C"` function of Rust aborts the process if it panics,
/// because generated frames have no unwinding tables.
pub type Helper = unsafe extern "C" fn(frame: *mut Frame, argument: u64) -> u32;

/// The reason for which the code returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leave {
    /// The interpreter must run the instruction, which has changed nothing yet.
    Interpret,
    /// A helper of the instruction asked to stop. What came before the helper in the instruction is done.
    Stopped,
    /// The budget of jumps back is used up. The instruction is the jump's target, not yet begun.
    Poll,
    /// The program is over.
    End,
}

/// The place where the code returned, and the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exit {
    /// The instruction.
    pub at: u32,
    /// The reason.
    pub leave: Leave,
}

impl Exit {
    /// The answer of the machine function: the instruction above the reason's byte.
    pub(crate) const fn packed(self) -> u64 {
        (self.at as u64) << 8 | self.leave as u64
    }

    /// The exit of an answer.
    pub(crate) const fn unpacked(packed: u64) -> Exit {
        let leave = match packed & 0xff {
            1 => Leave::Stopped,
            2 => Leave::Poll,
            3 => Leave::End,
            _ => Leave::Interpret,
        };
        Exit { at: (packed >> 8) as u32, leave }
    }
}
