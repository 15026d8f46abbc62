//! ERROR and INFO.

use crate::packet::MessageWriter;
use crate::put::Put;
use pikepole_types::SqlError;

const ERROR: u8 = 0xAA;
const INFO: u8 = 0xAB;
/// The longest text of a message, in UTF-16 units. A token's length has two bytes; names stand beside the text.
const TEXT_UNITS_MAX: usize = 32_000;

impl MessageWriter {
    /// An error, or a message: what is information by its severity is sent as such.
    pub fn message(&mut self, message: &SqlError, server: &str) {
        let is_wide = self.version.is_wide();
        let token = if message.is_information() { INFO } else { ERROR };
        self.counted(token, |out| {
            out.extend_from_slice(&message.number.to_le_bytes());
            out.put_u8(message.state);
            out.put_u8(class(message.severity));
            out.put_long_text(&message.message, TEXT_UNITS_MAX);
            out.put_short_text(server);
            out.put_short_text(message.procedure.as_deref().unwrap_or(""));
            if is_wide {
                out.put_u32(message.line);
            } else {
                out.put_u16(u16::try_from(message.line).unwrap_or(u16::MAX));
            }
        });
        self.cut();
    }
}

/// What clients are told of a severity: 10 is 0 to them, as SQL Server has it; some take anything above for an error.
fn class(severity: u8) -> u8 {
    if severity == 10 { 0 } else { severity }
}
