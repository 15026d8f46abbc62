//! The parts of a table's definition that make it an in-memory one.
//!
//! Such a table has a heap and nonclustered indexes alone, its primary key among them. Their storage is created with the table and stays empty:
//! rows are versions in memory.

use serde::{Deserialize, Serialize};

/// The mark of an in-memory table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct InMemory {
    /// `DURABILITY`
    pub durability: InMemoryDurability,
    /// The LSN behind which the table was made, in whose log its rows are; zero where they are in none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub since: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl InMemory {
    /// The mark of a table to be made.
    pub fn new(durability: InMemoryDurability) -> InMemory {
        InMemory { durability, since: 0 }
    }

    /// True when its rows are logged.
    pub fn is_durable(self) -> bool {
        self.durability == InMemoryDurability::SchemaAndData
    }
}

/// The parts of an in-memory table that outlive a restart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum InMemoryDurability {
    /// The definition and the rows.
    SchemaAndData,
    /// The definition; the table is empty then.
    SchemaOnly,
}

impl InMemoryDurability {
    /// Its number in the views.
    pub fn number(self) -> u8 {
        match self {
            InMemoryDurability::SchemaAndData => 0,
            InMemoryDurability::SchemaOnly => 1,
        }
    }

    /// Its name in T-SQL and in the views.
    pub fn name(self) -> &'static str {
        match self {
            InMemoryDurability::SchemaAndData => "SCHEMA_AND_DATA",
            InMemoryDurability::SchemaOnly => "SCHEMA_ONLY",
        }
    }
}

/// The mark of a hash index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HashIndex {
    /// The buckets that it begins with, a power of two.
    pub bucket_count: u32,
}

impl HashIndex {
    /// The largest `BUCKET_COUNT`.
    pub const BUCKETS_MAX: u32 = 1 << 30;

    /// A hash index of at least as many buckets; None for no bucket and for more than the maximum.
    pub fn with_buckets(asked: u32) -> Option<HashIndex> {
        let is_allowed = (1..=HashIndex::BUCKETS_MAX).contains(&asked);
        is_allowed.then(|| HashIndex { bucket_count: asked.next_power_of_two() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bucket_counts_are_rounded_up_to_powers_of_two() {
        let count = |asked| HashIndex::with_buckets(asked).map(|hash| hash.bucket_count);
        assert_eq!((count(1), count(1_000), count(1_024)), (Some(1), Some(1_024), Some(1_024)));
        assert_eq!((count(0), count(1 << 30), count((1 << 30) + 1)), (None, Some(1 << 30), None));
    }
}
