//! System-versioned tables: a table that keeps its former rows in another one.
//!
//! ```text
//!   current table   key | ... | start | end = max      a row is valid from `start` on
//!   history table   key | ... | start | end            a row was valid from `start` to `end`, which is not in the period
//! ```
//! Both are ordinary tables: a statement that changes a row of the first writes what it was into the second, in the same
//! transaction, so nothing of this is known to the log and to recovery. The start of a row's period is when the transaction
//! began that wrote it. A table can have a period without being versioned; then its rows only tell since when they are so.

use super::definition::TableRecord;
use serde::{Deserialize, Serialize};

/// What a GENERATED ALWAYS column holds, numbered as the views number it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Generated {
    /// ROW START: since when the row is so.
    RowStart = 1,
    /// ROW END: until when it was.
    RowEnd = 2,
}

/// The unit of a retention period, numbered as the views number it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum RetentionUnit {
    /// DAY.
    Day = 3,
    /// WEEK.
    Week = 4,
    /// MONTH.
    Month = 5,
    /// YEAR.
    Year = 6,
}

impl RetentionUnit {
    /// All of them.
    pub const ALL: [RetentionUnit; 4] =
        [RetentionUnit::Day, RetentionUnit::Week, RetentionUnit::Month, RetentionUnit::Year];

    /// Its name in T-SQL.
    pub fn name(self) -> &'static str {
        match self {
            RetentionUnit::Day => "DAY",
            RetentionUnit::Week => "WEEK",
            RetentionUnit::Month => "MONTH",
            RetentionUnit::Year => "YEAR",
        }
    }
}

/// HISTORY_RETENTION_PERIOD: rows that ended longer ago are seen no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retention {
    /// How many units.
    pub count: i32,
    /// Which.
    pub unit: RetentionUnit,
}

/// What a table is to system versioning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Versioning {
    /// Its former rows are kept.
    Current {
        /// The object id of the table where they are.
        history: i32,
        /// How long; None: for ever.
        retention: Option<Retention>,
    },
    /// It holds the former rows of another table.
    History {
        /// The object id of that table.
        of: i32,
    },
}

impl TableRecord {
    /// The columns of PERIOD FOR SYSTEM_TIME: start and end.
    pub fn period(&self) -> Option<(usize, usize)> {
        let place = |wanted| self.columns.iter().position(|column| column.generated == Some(wanted));
        Some((place(Generated::RowStart)?, place(Generated::RowEnd)?))
    }

    /// The object id of the table that its former rows are in, while they are kept.
    pub fn history(&self) -> Option<i32> {
        match self.versioning {
            Some(Versioning::Current { history, .. }) => Some(history),
            _ => None,
        }
    }

    /// Whether it holds the former rows of another table.
    pub fn is_history(&self) -> bool {
        matches!(self.versioning, Some(Versioning::History { .. }))
    }

    /// Whether programs that know no system versioning would leave its periods or its history untrue.
    pub(crate) fn is_temporal(&self) -> bool {
        self.versioning.is_some() || self.period().is_some()
    }
}
