//! Limits of definitions: columns of a key, bytes of a key and of a row, indexes of a table.
//!
//! These are SQL Server's limits, which scripts rely on to be told. What a page has room for is looked at when rows come.

use crate::catalog::definition::{Column, TableRecord};
use crate::catalog::index::{Index, IndexColumn};
use crate::table::Table;
use pikepole_types::{RowLayout, SqlError, SqlType};

/// Columns of a key.
const KEY_COLUMNS_MAX: usize = 32;

/// Nonclustered indexes of a table.
const NONCLUSTERED_MAX: usize = 999;

/// Bytes of a clustered key, and of a nonclustered one.
const CLUSTERED_KEY_BYTES_MAX: usize = 900;
const NONCLUSTERED_KEY_BYTES_MAX: usize = 1_700;

/// Bytes of a row whose columns of varying length are empty or elsewhere.
const ROW_BYTES_MAX: usize = 8_060;

/// Bytes that every row has beside its columns: a header and the count of its columns. A bit for each column comes on top.
const ROW_OVERHEAD_BYTES: usize = 6;

/// Bytes of a column's values, at least and at most.
fn value_bytes(ty: &SqlType) -> (usize, usize) {
    let bytes = usize::try_from(ty.max_length()).unwrap_or(0);
    if ty.has_fixed_length() { (bytes, bytes) } else { (0, bytes) }
}

/// Checks the key of an index that is to be made.
///
/// # Errors
/// 1904 and 1944 for the key, 1910 for one index too many.
pub(super) fn check_key(
    record: &TableRecord,
    name: &str,
    columns: &[IndexColumn],
    clustered: bool,
) -> Result<(), SqlError> {
    if columns.len() > KEY_COLUMNS_MAX {
        return Err(SqlError::too_many_key_columns("index", name, record.full_name(), columns.len(), KEY_COLUMNS_MAX));
    }
    if !clustered && record.indexes.iter().filter(|index| !index.is_clustered()).count() >= NONCLUSTERED_MAX {
        return Err(SqlError::too_many_indexes("nonclustered index", name, NONCLUSTERED_MAX));
    }
    let bytes: usize = columns.iter().map(|key| value_bytes(&record.columns[key.column].ty).0).sum();
    let bytes_max = key_bytes_max(clustered);
    if bytes > bytes_max {
        return Err(SqlError::key_not_made(name, bytes, bytes_max));
    }
    Ok(())
}

/// Bytes that the values of a key may have together.
pub(crate) fn key_bytes_max(clustered: bool) -> usize {
    if clustered { CLUSTERED_KEY_BYTES_MAX } else { NONCLUSTERED_KEY_BYTES_MAX }
}

/// Warning 1945 when some keys of an index would be too long.
pub fn key_warning(record: &TableRecord, index: &Index) -> Option<SqlError> {
    let is_plain = index.columnstore.is_none() && index.xml.is_none() && index.hypothetical.is_none();
    let bytes: usize = index.columns.iter().map(|key| value_bytes(&record.columns[key.column].ty).1).sum();
    let kind = if index.clustered { "clustered" } else { "nonclustered" };
    let bytes_max = key_bytes_max(index.clustered);
    (is_plain && bytes > bytes_max).then(|| SqlError::key_may_be_too_long(kind, bytes_max, &index.name, bytes))
}

/// Bytes of a row beside its columns of varying length, and how many of them are none of a column.
fn fixed_bytes(columns: &[Column]) -> (usize, usize) {
    let is_bit = |column: &&Column| column.ty == SqlType::Bit;
    let bits = columns.iter().filter(is_bit).count();
    let fixed = columns.iter().filter(|column| !is_bit(column) && !column.sparse);
    let overhead = ROW_OVERHEAD_BYTES + columns.len().div_ceil(8);
    (fixed.map(|column| value_bytes(&column.ty).0).sum::<usize>() + bits.div_ceil(8) + overhead, overhead)
}

/// Checks that the columns of fixed length leave a row short enough.
///
/// # Errors
/// 1701.
pub(super) fn check_row(table: &str, columns: &[Column]) -> Result<(), SqlError> {
    let (bytes, overhead) = fixed_bytes(columns);
    if bytes > ROW_BYTES_MAX {
        return Err(SqlError::row_size_too_large(table, bytes, overhead, ROW_BYTES_MAX));
    }
    Ok(())
}

/// A layout that refuses rows that are too long.
pub(crate) fn with_row_limit(layout: RowLayout, columns: &[Column]) -> RowLayout {
    layout.with_row_limit(fixed_bytes(columns).0, ROW_BYTES_MAX)
}

/// Warning 1708 when some rows of a table would be too long.
pub fn row_warning(table: &Table) -> Option<SqlError> {
    table.row_layout().can_be_too_long().then(|| SqlError::row_may_be_too_long(&table.name, ROW_BYTES_MAX))
}
