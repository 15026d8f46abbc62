//! Statistics: what is known of the values in columns of a table.
//!
//! The statistics of one table are one stored object, as extended properties are: they go with the table, and are under its
//! number. Those of an index have the index's number; those of columns count from [`STATISTICS_FIRST`].

use super::definition::TableRecord;
use pikepole_types::Value;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The number of the first statistics of columns: behind those of all indexes.
pub(crate) const STATISTICS_FIRST: i32 = 1_000_000;

/// Origins of statistics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum StatisticsOrigin {
    /// An index has them.
    Index,
    /// A query needed them.
    Automatic,
    /// CREATE STATISTICS.
    User,
}

/// Statistics of one index, or of some columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StatisticsRecord {
    /// Its number in its table: that of the index, if it has one.
    pub stats_id: i32,
    /// Its name; that of an index is the index's.
    pub name: String,
    /// The places of its columns.
    pub columns: Vec<usize>,
    /// Its origin.
    pub origin: StatisticsOrigin,
    /// NORECOMPUTE: it is brought up to date by UPDATE STATISTICS alone.
    pub no_recompute: bool,
    /// The findings of the last update; none before the first one.
    pub values: Option<ValueStatistics>,
}

/// Findings in the rows of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ValueStatistics {
    /// The time of the update, in microseconds since 1970.
    pub updated_us: u64,
    /// About how many rows the table had.
    pub rows: u64,
    /// Rows that were read.
    pub sampled: u64,
    /// For each number of columns from the first on: how many different values they have.
    pub distinct: Vec<f64>,
    /// The average length of the first columns, in bytes, likewise.
    pub widths: Vec<f64>,
    /// The first column's values, ascending; a first step of NULL if it has such.
    pub steps: Vec<HistogramStep>,
    /// The table's count of changes at that time: see [`crate::Table::changes`]. It begins at zero with each run, and so does that.
    #[serde(skip)]
    pub changes: u64,
}

impl ValueStatistics {
    /// The table's count of changes from which on a query should not rely on them. The thresholds are SQL Server's: a fifth of the rows
    /// and 500, or for large tables the root of a thousand times their rows.
    pub fn changes_max(&self) -> u64 {
        let rows = self.rows as f64;
        let changes = (500.0 + 0.2 * rows).min((1_000.0 * rows).sqrt()).max(500.0);
        self.changes.saturating_add(changes as u64)
    }
}

/// A step of a histogram: the rows behind the step before, up to a value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HistogramStep {
    /// The highest value.
    #[serde(serialize_with = "value_to_text", deserialize_with = "value_of_text")]
    pub high: Value,
    /// Rows with a value between the step before and this value.
    pub range_rows: f64,
    /// Rows with this value.
    pub equal_rows: f64,
    /// Different values between the step before and this value.
    pub distinct_range: f64,
}

impl HistogramStep {
    /// Rows for each value between the step before and this one's.
    pub fn average_range_rows(&self) -> f64 {
        if self.distinct_range > 0.0 { self.range_rows / self.distinct_range } else { 1.0 }
    }
}

/// A value that brings its type along, in hexadecimal digits.
fn value_to_text<S: Serializer>(value: &Value, serializer: S) -> Result<S::Ok, S::Error> {
    let mut bytes = Vec::new();
    value.push_loose(&mut bytes);
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    serializer.serialize_str(&digits)
}

fn value_of_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
    let text = String::deserialize(deserializer)?;
    let byte = |at: usize| text.get(at..at + 2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
    let bytes: Option<Vec<u8>> = (0..text.len()).step_by(2).map(byte).collect();
    let value = bytes.as_deref().and_then(Value::take_loose).map(|(value, _)| value);
    value.ok_or_else(|| de::Error::custom("the value of a histogram's step is damaged"))
}

/// The statistics of a table, in the order of their numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableStatistics {
    /// The table.
    pub object_id: i32,
    /// The statistics of indexes that were updated at least once, and all of columns.
    pub entries: Vec<StatisticsRecord>,
}

impl TableStatistics {
    /// The statistics of this number.
    pub fn by_id(&self, stats_id: i32) -> Option<&StatisticsRecord> {
        self.entries.iter().find(|entry| entry.stats_id == stats_id)
    }

    /// The statistics of columns that have this name, whatever its case.
    pub fn by_name(&self, name: &str) -> Option<&StatisticsRecord> {
        let name = name.to_lowercase();
        let mut own = self.entries.iter().filter(|entry| entry.origin != StatisticsOrigin::Index);
        own.find(|entry| entry.name.to_lowercase() == name)
    }

    /// The statistics that begin with a column; of several those that were updated last.
    pub fn of_column(&self, column: usize) -> Option<&StatisticsRecord> {
        let own = self.entries.iter().filter(|entry| entry.columns.first() == Some(&column));
        own.max_by_key(|entry| entry.values.as_ref().map(|values| values.updated_us))
    }

    pub(crate) fn next_id(&self) -> i32 {
        self.entries.iter().map(|entry| entry.stats_id + 1).fold(STATISTICS_FIRST, i32::max)
    }

    /// Puts statistics in the place of those of the same number.
    pub(crate) fn put(&mut self, entry: StatisticsRecord) {
        match self.entries.binary_search_by_key(&entry.stats_id, |own| own.stats_id) {
            Ok(at) => self.entries[at] = entry,
            Err(at) => self.entries.insert(at, entry),
        }
    }

    /// The statistics that remain when the table's definition becomes `record` and its columns move: those of indexes with other keys go, and those
    /// of columns that are no more.
    pub(crate) fn moved(&self, record: &TableRecord, place: &dyn Fn(usize) -> Option<usize>) -> TableStatistics {
        let moved = |entry: &StatisticsRecord| {
            let columns = entry.columns.iter().map(|column| place(*column)).collect::<Option<Vec<usize>>>()?;
            let index = record.indexes.iter().find(|index| index.index_id == entry.stats_id);
            let is_kept = match (entry.origin, index) {
                (StatisticsOrigin::Index, None) => false,
                (StatisticsOrigin::Index, Some(index)) => {
                    index.columns.iter().map(|key| key.column).eq(columns.iter().copied())
                }
                _ => true,
            };
            is_kept.then(|| StatisticsRecord { columns, ..entry.clone() })
        };
        TableStatistics { object_id: self.object_id, entries: self.entries.iter().filter_map(moved).collect() }
    }
}
