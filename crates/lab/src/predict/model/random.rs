//! A small generator of pseudo-random numbers: the same seed gives the same run on every machine.

/// Xorshift of 64 bits with a multiplication at the end.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    /// A generator; any seed will do.
    pub fn new(seed: u64) -> Self {
        // An odd constant spreads small seeds, and zero is no state of a xorshift.
        Self(seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// The next number from 0 to 1, 1 excluded.
    pub fn unit(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number around `mean`: even between `1 - spread` and `1 + spread` times it.
    pub fn around(&mut self, mean: f64, spread: f64) -> f64 {
        mean * (1.0 + spread * (2.0 * self.unit() - 1.0))
    }

    /// A number between two.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }
}
