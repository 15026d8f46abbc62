//! Unique identifiers that grow, for NEWSEQUENTIALID.
//!
//! ```text
//!   compared last                                        compared first
//!   0  1  2  3 │ 4  5 │ 6  7 │ 8  9 │ 10 11 12 13 14 15
//!   ── counter ───────│ chosen by chance when the server starts, with the version and the variant of such identifiers
//! ```
//! The bytes are in the order in which they are stored; that of comparison is SQL Server's. The counter begins at the clock's
//! time in units of 16 microseconds, 48 bits that last for a century and a half.

use pikepole_contention::sync::atomic::{AtomicU64, Ordering};
use std::hash::{BuildHasher, RandomState};
use std::time::SystemTime;

/// Bits that the start's time is moved down by.
const CLOCK_SHIFT: u32 = 4;

/// Deals identifiers, each greater than the one before it.
pub(crate) struct GuidSequence {
    /// What all of them have in common: bytes 6 to 15.
    node: [u8; 10],
    next: AtomicU64,
}

impl GuidSequence {
    pub(crate) fn new() -> GuidSequence {
        // The standard library's hashers are keyed by chance, each by another key.
        let chance = |salt: u8| RandomState::new().hash_one(salt).to_be_bytes();
        let (first, second) = (chance(0), chance(1));
        let mut node = [0; 10];
        node[..8].copy_from_slice(&first);
        node[8..].copy_from_slice(&second[..2]);
        // Version 1 in the highest bits of the third group, the variant in those of the fourth.
        node[1] = 0x10 | (node[1] & 0x0F);
        node[2] = 0x80 | (node[2] & 0x3F);
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        GuidSequence { node, next: AtomicU64::new((now.as_micros() as u64) >> CLOCK_SHIFT) }
    }

    /// The next identifier, as it is stored.
    pub(crate) fn next(&self) -> [u8; 16] {
        // Each is dealt once whatever the order in which others see the counter.
        let number = self.next.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        let mut guid = [0; 16];
        guid[4..6].copy_from_slice(&number[2..4]);
        guid[..4].copy_from_slice(&number[4..]);
        guid[6..].copy_from_slice(&self.node);
        guid
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pikepole_types::{Collation, Value, compare};
    use std::cmp::Ordering::Less;

    #[test]
    fn each_is_greater_than_the_one_before() {
        let guids = GuidSequence::new();
        guids.next.store(0x1234_FFFF_FFFF, Ordering::Relaxed);
        let dealt: Vec<Value> = (0..3).map(|_| Value::Guid(guids.next())).collect();
        let ascends = |pair: &[Value]| compare(&pair[0], &pair[1], Collation::default()).unwrap() == Some(Less);
        assert!(dealt.windows(2).all(ascends), "{dealt:?}");
    }
}
