//! ERROR and INFO.

use crate::packet::MessageWriter;
use crate::put::Put;
use pikepole_types::SqlError;

/// The longest text of a message, in UTF-16 units. A token's length has two bytes; names stand beside the text.
const TEXT_UNITS_MAX: usize = 32_000;

impl MessageWriter {
    /// An error, or a message: what is information by its severity is sent as such.
    pub fn message(&mut self, message: &SqlError, server: &str) {
        let is_wide = self.version.is_wide();
        let out = &mut self.pending;
        out.put_u8(if message.is_information() { 0xAB } else { 0xAA });
        let at = out.len();
        out.put_u16(0);
        out.extend_from_slice(&message.number.to_le_bytes());
        out.put_u8(message.state);
        out.put_u8(message.severity);
        out.put_long_text(&message.message, TEXT_UNITS_MAX);
        out.put_short_text(server);
        out.put_short_text(message.procedure.as_deref().unwrap_or(""));
        if is_wide {
            out.put_u32(message.line);
        } else {
            out.put_u16(u16::try_from(message.line).unwrap_or(u16::MAX));
        }
        let length = (out.len() - at - 2) as u16;
        out[at..at + 2].copy_from_slice(&length.to_le_bytes());
        self.cut();
    }
}
