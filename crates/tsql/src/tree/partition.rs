//! Partition functions and schemes.

use super::{DataType, Expr, Name};

/// A statement about partition functions and schemes.
#[derive(Debug, Clone, PartialEq)]
pub enum PartitionStatement {
    /// `CREATE PARTITION FUNCTION f (type) AS RANGE [LEFT | RIGHT] FOR VALUES (a, b, ...)`
    CreateFunction {
        /// Its name.
        name: Name,
        /// What it takes.
        data_type: DataType,
        /// `RIGHT`: a boundary belongs to the partition on its right.
        right: bool,
        /// The boundaries.
        boundaries: Vec<Expr>,
    },
    /// `ALTER PARTITION FUNCTION f () SPLIT RANGE (x)`, `... MERGE RANGE (x)`
    AlterFunction {
        /// Its name.
        name: Name,
        /// True for `SPLIT`, false for `MERGE`.
        split: bool,
        /// The boundary.
        boundary: Expr,
    },
    /// `CREATE PARTITION SCHEME s AS PARTITION f [ALL] TO (a, b, ...)`
    CreateScheme {
        /// Its name.
        name: Name,
        /// The function.
        function: Name,
        /// `ALL`: one filegroup for all partitions.
        all: bool,
        /// The filegroups.
        filegroups: Vec<Name>,
    },
    /// `ALTER PARTITION SCHEME s NEXT USED [f]`
    AlterScheme {
        /// Its name.
        name: Name,
        /// The filegroup; none: there is to be none.
        next_used: Option<Name>,
    },
    /// `DROP PARTITION FUNCTION f`, `DROP PARTITION SCHEME s`
    Drop {
        /// True for a scheme, false for a function.
        scheme: bool,
        /// Its name.
        name: Name,
    },
}
