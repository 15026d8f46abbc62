//! Scans of one table that is in the buffer pool as a whole.
//!
//! The table is a heap in `master`, so that the process has one buffer pool. It is made once and found by later runs in the same
//! folder, whatever their settings: what is compared is how it is read.

use super::StressError;
use super::drive::Run;
use super::statistics::PoolCounters;
use super::target::Link;

/// The database of the table.
pub(super) const DATABASE: &str = "master";
/// Rows that a page has room for, by their size. Their text has no blanks at its end, which would not be stored.
const ROWS_A_PAGE: u64 = 8;
/// Bytes of a page.
const PAGE_BYTES: u64 = 8 << 10;
/// Rows of one INSERT, so that none is too long to be stopped soon.
const ROWS_AN_INSERT: u64 = 1 << 18;
/// Page reads of a run, as a part of its page lookups, from which on the table is not in the pool.
const READS_MAX: f64 = 0.01;

const TABLE: &str = "
CREATE TABLE dbo.scan (
    id     bigint    NOT NULL,
    part   int       NOT NULL,
    filler char(960) NOT NULL
);";

/// What each scan does: every row is counted, and one column of it looked at.
pub(super) const STATEMENT: &str = "SELECT COUNT_BIG(*), SUM(CAST(part AS bigint)) FROM dbo.scan";

/// Rows of a table of so many bytes.
pub(super) fn rows(table_bytes: u64) -> u64 {
    table_bytes.div_ceil(PAGE_BYTES) * ROWS_A_PAGE
}

/// Bytes of a buffer pool that holds all of it, and what else a database reads.
pub fn scan_pool_bytes(table_bytes: u64) -> u64 {
    table_bytes + table_bytes / 8 + (64 << 20)
}

/// Batches that make the table, unless it is there.
pub(super) fn setup(table_bytes: u64) -> Vec<String> {
    let rows = rows(table_bytes);
    let fill = format!(
        "IF OBJECT_ID('dbo.scan') IS NULL
BEGIN
    EXEC('{table}');
    DECLARE @done bigint = 0;
    WHILE @done < {rows}
    BEGIN
        INSERT INTO dbo.scan WITH (TABLOCK) (id, part, filler)
        SELECT @done + n, n % 7, REPLICATE('pikepole', 120)
        FROM (SELECT TOP (CASE WHEN {rows} - @done < {ROWS_AN_INSERT} THEN {rows} - @done ELSE {ROWS_AN_INSERT} END)
                     ROW_NUMBER() OVER (ORDER BY (SELECT NULL)) AS n
              FROM (VALUES {list}) AS a (n) CROSS JOIN (VALUES {list}) AS b (n) CROSS JOIN (VALUES {list}) AS c (n)) AS numbers;
        SET @done += @@ROWCOUNT;
    END;
END;",
        table = TABLE.trim(),
        list = (0..64).map(|n| format!("({n})")).collect::<Vec<_>>().join(", ")
    );
    vec![format!("ALTER DATABASE {DATABASE} SET RECOVERY SIMPLE"), fill]
}

/// Scans once; an error when the table has not all of its rows.
pub(super) fn scan(connection: &mut Link, table_bytes: u64) -> Result<u64, StressError> {
    let found = connection.query(STATEMENT)?;
    let counted: i64 = found.iter().next().map_or(Ok(0), |row| row.get(0))?;
    let (wanted, counted) = (rows(table_bytes), u64::try_from(counted).unwrap_or(0));
    if counted == wanted { Ok(counted) } else { Err(StressError::TableDiffers { wanted, counted }) }
}

/// Whether a run of scans found all pages in the pool.
pub(super) fn check_resident(run: &Run) -> Result<(), StressError> {
    let PoolCounters { lookups, reads } = run.pool;
    if reads as f64 <= READS_MAX * lookups as f64 { Ok(()) } else { Err(StressError::NotResident { lookups, reads }) }
}
