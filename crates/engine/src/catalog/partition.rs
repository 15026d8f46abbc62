//! Partition functions and schemes, and what tables and indexes say of them.
//!
//! ```text
//!   function   boundaries b1 < b2 < ... cut the values of a type into partitions 1, 2, ...; RIGHT: a boundary is the first of its partition
//!   scheme     a function, and a filegroup for each partition
//!   table      a scheme and a column: which partition a row is in
//! ```
//! They promise where rows lie and nothing about which rows there are. Here all rows of a table stay in one heap or tree; a
//! partition is a range of them, which the views count and `$PARTITION` names.

use pikepole_types::{Collation, SqlType, Value};
use serde::{Deserialize, Serialize};

/// The first number of a partition function, and of a partition scheme, which numbers beside filegroups.
pub(crate) const FUNCTION_FIRST: i32 = 65_536;
pub(crate) const SCHEME_FIRST: i32 = 65_601;

/// A partition function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartitionFunction {
    /// Its number.
    pub function_id: i32,
    /// Its name.
    pub name: String,
    /// What it takes.
    pub ty: SqlType,
    /// How its texts compare.
    pub collation: Collation,
    /// RANGE RIGHT.
    pub right: bool,
    /// The boundaries as texts, ascending.
    pub boundaries: Vec<String>,
    /// When it was created, in microseconds since 1970.
    pub created_us: u64,
    /// When its boundaries changed last, in microseconds since 1970.
    pub modified_us: u64,
}

impl PartitionFunction {
    /// The boundaries as values of its type.
    pub fn values(&self) -> Vec<Value> {
        let text = SqlType::NVarChar(pikepole_types::Length::Max);
        let value = |of: &String| pikepole_types::convert(&Value::Str(of.clone()), &text, &self.ty, None);
        self.boundaries.iter().filter_map(|boundary| value(boundary).ok()).collect()
    }

    /// How many partitions there are.
    pub fn fanout(&self) -> usize {
        self.boundaries.len() + 1
    }

    /// The partition, from 1, that a value is in; `values` are the boundaries.
    pub fn partition(&self, values: &[Value], value: &Value) -> usize {
        if value.is_null() {
            return 1;
        }
        let below = |boundary: &Value| {
            let order = pikepole_types::order(boundary, value, self.collation.comparing(&self.ty));
            order.is_lt() || (self.right && order.is_eq())
        };
        1 + values.partition_point(below)
    }
}

/// A partition scheme.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartitionScheme {
    /// Its number among data spaces.
    pub data_space_id: i32,
    /// Its name.
    pub name: String,
    /// The function.
    pub function_id: i32,
    /// The filegroups, one for each partition, as they were written.
    pub filegroups: Vec<String>,
    /// NEXT USED.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_used: Option<String>,
}

/// What a table, or an index, is partitioned by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Partitioned {
    /// The scheme's number.
    pub scheme: i32,
    /// The column.
    pub column: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_boundary_is_the_last_of_its_left_partition_or_the_first_of_its_right_one() {
        let function = |right| PartitionFunction {
            function_id: FUNCTION_FIRST,
            name: "pf".into(),
            ty: SqlType::Int,
            collation: Collation::default(),
            right,
            boundaries: vec!["1".into(), "100".into()],
            created_us: 0,
            modified_us: 0,
        };
        for (right, wanted) in [(false, [1, 1, 1, 2, 2, 3]), (true, [1, 1, 2, 2, 3, 3])] {
            let function = function(right);
            let values = function.values();
            let of = [Value::Null, Value::Int(0), Value::Int(1), Value::Int(2), Value::Int(100), Value::Int(101)];
            assert_eq!(of.map(|value| function.partition(&values, &value)), wanted);
        }
    }
}
