//! SESSIONSTATE: what a client is to bring along should it have to log in again.

use crate::packet::MessageWriter;
use crate::put::Put;

const SESSION_STATE: u8 = 0xE4;
/// Longer values have their length in four bytes behind this one.
const LONG: u8 = 0xFF;

/// States of a session that have changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionState {
    /// How many of these tokens the connection has had before.
    pub sequence: u32,
    /// Whether a session with these states can be recovered.
    pub recoverable: bool,
    /// Their numbers and values, which mean what the server wants them to.
    pub states: Vec<(u8, Vec<u8>)>,
}

impl MessageWriter {
    /// States have changed; the end of the last statement or call is to follow.
    pub fn session_state(&mut self, state: &SessionState) {
        let out = &mut self.pending;
        out.put_u8(SESSION_STATE);
        let at = out.len();
        out.put_u32(0);
        out.put_u32(state.sequence);
        out.put_u8(u8::from(state.recoverable));
        state.states.iter().for_each(|(number, value)| put_state(out, *number, value));
        let bytes = (out.len() - at - 4) as u32;
        out[at..at + 4].copy_from_slice(&bytes.to_le_bytes());
        self.cut();
    }
}

/// A state, here and where a login is answered.
pub(super) fn put_state(out: &mut Vec<u8>, number: u8, value: &[u8]) {
    out.put_u8(number);
    match u8::try_from(value.len()) {
        Ok(bytes) if bytes < LONG => out.put_u8(bytes),
        _ => {
            out.put_u8(LONG);
            out.put_u32(value.len() as u32);
        }
    }
    out.extend_from_slice(value);
}
