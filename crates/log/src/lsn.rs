//! Log sequence numbers: positions in the stream of records.

use std::fmt;

/// A byte position in the stream of records. Block headers and padding are not in the stream.
///
/// LSNs only grow, over restarts too. Zero is before every record: it says "never logged".
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lsn(pub u64);

impl Lsn {
    /// Before every record.
    pub const ZERO: Lsn = Lsn(0);
    /// Where the first record of a new log begins.
    pub const FIRST: Lsn = Lsn(1);
    /// As a start for [`Log::open`](crate::Log::open): the oldest record that the log still holds.
    pub const OLDEST: Lsn = Lsn::ZERO;
}

impl Lsn {
    /// The position as `xxxxxxxx:xxxxxxxx:xxxx`, in which tools of the field show log sequence numbers: bits 79 to 48 of
    /// the position (the upper 16 of them are zero), bits 47 to 16, bits 15 to 0, in hexadecimal. So the texts are in the
    /// order of the positions.
    pub fn in_parts(self) -> String {
        format!("{:08x}:{:08x}:{:04x}", self.0 >> 48, self.0 >> 16 & 0xFFFF_FFFF, self.0 & 0xFFFF)
    }

    /// Reads a position in decimal, or in the parts that [`in_parts`](Self::in_parts) writes, each with up to as many
    /// digits, `0x` in front or not.
    pub fn parse(text: &str) -> Option<Lsn> {
        let text = text.trim();
        let plain = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
        let parts: Vec<&str> = plain.split(':').collect();
        let [upper, middle, lower] = parts[..] else { return digits(text, 10, 20).map(Lsn) };
        let (upper, middle, lower) = (digits(upper, 16, 8)?, digits(middle, 16, 8)?, digits(lower, 16, 4)?);
        (upper <= 0xFFFF).then_some(Lsn(upper << 48 | middle << 16 | lower))
    }
}

/// A number of at most so many digits, and nothing else.
fn digits(text: &str, radix: u32, most: usize) -> Option<u64> {
    let plain = !text.is_empty() && text.len() <= most && text.chars().all(|digit| digit.is_digit(radix));
    if plain { u64::from_str_radix(text, radix).ok() } else { None }
}

impl fmt::Display for Lsn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Where one record lies: `start` is its first byte, `end` the byte after its last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LsnRange {
    /// The first byte.
    pub start: Lsn,
    /// The byte after the last: durable once [`Log::durable`](crate::Log::durable) is here or above.
    pub end: Lsn,
}

#[cfg(test)]
mod tests {
    use super::Lsn;

    #[test]
    fn positions_are_read_back_and_keep_their_order_as_texts() {
        assert_eq!(Lsn(0x0001_0000_002A_0007).in_parts(), "00000001:0000002a:0007");
        let mut before = String::new();
        for position in [0, 1, 0xFFFF, 0x1_0000, 0xFFFF_FFFF_FFFF, 0x1_0000_0000_0000, u64::MAX] {
            let text = Lsn(position).in_parts();
            assert!(text > before, "{text}");
            assert_eq!(Lsn::parse(&text), Some(Lsn(position)));
            assert_eq!(Lsn::parse(&format!("0x{text}")), Some(Lsn(position)));
            assert_eq!(Lsn::parse(&format!(" {position} ")), Some(Lsn(position)));
            before = text;
        }
        assert_eq!(Lsn::parse("1:2a:7"), Some(Lsn(0x0001_0000_002A_0007)));
        for wrong in ["", "x", "-1", "+1", "1:2", "1:2:3:4", "10000:0:0", "0:100000000:0", "0:0:10000", "0x12", "::"] {
            assert_eq!(Lsn::parse(wrong), None, "{wrong}");
        }
    }
}
