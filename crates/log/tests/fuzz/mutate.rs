//! A small mutator: random changes of bytes, in the ways in which parsers break.

/// A random number generator with a seed: the same seed gives the same run.
pub struct Random(u64);

impl Random {
    /// Numbers that follow from `seed`.
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// The next number (xorshift*).
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number below `end`; 0 when `end` is.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    /// A number that parsers like to be wrong about: small, near a power of two, near the largest, or any.
    pub fn edge(&mut self) -> u64 {
        let near = (self.below(5) as u64).wrapping_sub(2);
        match self.below(5) {
            0 => self.below(20) as u64,
            1 => (1u64 << self.below(64)).wrapping_add(near),
            2 => u64::MAX.wrapping_add(near),
            3 => i64::MAX as u64,
            _ => self.next(),
        }
    }
}

/// Changes `bytes` in one to four places; `other` is something of the same kind to take pieces from.
pub fn mutate(bytes: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len());
        match random.below(8) {
            0 if !bytes.is_empty() => bytes[at] ^= 1 << random.below(8),
            1 if !bytes.is_empty() => bytes[at] = random.next() as u8,
            2 if !bytes.is_empty() => {
                let width = [1, 2, 4, 8][random.below(4)].min(bytes.len() - at);
                let value = random.edge().to_le_bytes();
                bytes[at..at + width].copy_from_slice(&value[..width]);
            }
            3 => bytes.truncate(at),
            4 => bytes.insert(at, random.next() as u8),
            5 if !bytes.is_empty() => drop(bytes.drain(at..at + 1 + random.below((bytes.len() - at).min(16)))),
            6 => {
                let from = random.below(other.len());
                let piece = &other[from..from + random.below((other.len() - from).min(64))];
                bytes.splice(at..at, piece.iter().copied());
            }
            // Runs of one byte: 0xFF is a varint without an end.
            _ => bytes
                .splice(at..at, std::iter::repeat_n([0, 0xFF, 0x80][random.below(3)], random.below(12)))
                .for_each(drop),
        }
    }
}
