//! How much a client may send.

/// Bounds on what a client sends. What exceeds one is refused before it is gathered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one packet, header included.
    pub packet_bytes_max: usize,
    /// Bytes of one message, headers of its packets left out. A bulk load is read packet by packet and may be longer.
    pub message_bytes_max: usize,
    /// Parameters of one procedure call.
    pub parameters_max: usize,
    /// Columns of a bulk load or of a table-valued parameter.
    pub columns_max: usize,
    /// Bytes of one row of a bulk load.
    pub bulk_row_bytes_max: usize,
}

impl Limits {
    /// Before the login is through: a LOGIN7 message has less than 128 KB.
    pub fn before_login() -> Limits {
        Limits { message_bytes_max: (128 << 10) - 1, ..Limits::default() }
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            packet_bytes_max: crate::PACKET_BYTES_MAX,
            message_bytes_max: 64 << 20,
            parameters_max: 2100,
            columns_max: 4096,
            bulk_row_bytes_max: 64 << 20,
        }
    }
}
