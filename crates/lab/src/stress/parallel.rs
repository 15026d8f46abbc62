//! One INSERT ... SELECT of many rows by parallel workers, once for each way to log it.
//!
//! ```text
//!   lists of VALUES, cross-joined, numbered, TOP (rows) --LEFT JOIN that changes nothing--> columns computed --> heap
//!        each worker: a range of the numbers at a time, in batches, under a child of the statement's transaction
//! ```
//! The rows are those of the published experiment: (bigint, int, datetime), 64 x 1024 x 1024 of them by default. The row
//! production alone is measured too: the same rows, aggregated instead of inserted.

use super::drive::{self, Run, Work};
use super::target::{Link, Target};
use super::workload::DATABASE;
use super::{Durability, StressError};
use crate::profile::{Profiler, Taken};
use pikepole_embedded::Value;
use serde::Serialize;
use std::path::PathBuf;
use std::time::Instant;

/// Rows of one list of VALUES.
const LIST_ROWS: u64 = 16;

pub(super) const TABLE: &str = "
CREATE TABLE dbo.parallel_insert (
    id      bigint   NOT NULL,
    part    int      NOT NULL,
    created datetime NOT NULL
);";

pub(super) const COUNT: &str = "SELECT COUNT_BIG(*) FROM dbo.parallel_insert";

/// How one run logs its rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variant {
    /// The value of NESTED_TRANSACTIONS; `None` leaves what is in force.
    pub nested_transactions: Option<&'static str>,
    /// Only the use of pages is logged: TABLOCK under SIMPLE recovery.
    pub minimal_logging: bool,
}

impl Variant {
    /// Every way there is.
    pub fn all() -> Vec<Variant> {
        let of = |name, minimal_logging| Variant { nested_transactions: Some(name), minimal_logging };
        vec![of("FAIR_LATCH", false), of("UNFAIR_LATCH", false), of("PRIVATE", false), of("PRIVATE", true)]
    }
}

/// What a call asks for.
#[derive(Debug, Clone)]
pub struct ParallelOptions {
    /// The server's folder.
    pub folder: PathBuf,
    /// Rows of each run.
    pub rows: u64,
    /// MAXDOP of the statements; `None`: what the server's option says.
    pub maxdop: Option<u32>,
    /// One run each.
    pub variants: Vec<Variant>,
    /// Policies by name, set before the first run.
    pub policies: Vec<(String, String)>,
    /// Trace flags that are on from the start.
    pub trace_flags: Vec<i32>,
    /// Bytes of the buffer pool; `None` leaves the engine's default.
    pub buffer_pool_bytes: Option<u64>,
    /// Takes a profile of each insert; `None`: none is taken.
    pub profiler: Option<Profiler>,
}

/// What one run did and what it cost.
#[derive(Debug, Clone, Serialize)]
pub struct ParallelRun {
    /// The value of NESTED_TRANSACTIONS in the run.
    pub nested_transactions: String,
    /// The trace flags that were on for the whole server.
    pub trace_flags: Vec<i32>,
    /// Only the use of pages was logged.
    pub minimal_logging: bool,
    /// MAXDOP of the statement; null: what the server's option said.
    pub maxdop: Option<u32>,
    /// Seconds that making the rows took, without inserting them.
    pub production_seconds: f64,
    /// The rest.
    #[serde(flatten)]
    pub run: Run,
}

/// Runs every variant, one after the other; `begin` hears of each before it begins.
///
/// # Errors
/// What the engine refuses; rows that are missing or too many.
pub fn run_parallel(
    options: &ParallelOptions,
    begin: &mut dyn FnMut(usize, usize, &Variant),
) -> Result<Vec<ParallelRun>, StressError> {
    let mut engine_options = drive::engine_options(&options.folder, &options.policies, options.buffer_pool_bytes);
    for flag in &options.trace_flags {
        engine_options = engine_options.trace_flag(*flag);
    }
    let target = Target::open(engine_options)?;
    let setup = ["DROP TABLE IF EXISTS dbo.parallel_insert".to_string(), TABLE.to_string()];
    let mut control = drive::prepare(&target, DATABASE, &[], &setup)?;
    let mut runs = Vec::with_capacity(options.variants.len());
    for (index, variant) in options.variants.iter().enumerate() {
        begin(index + 1, options.variants.len(), variant);
        runs.push(run_once(&target, &mut control, options, variant)?);
    }
    drop(control);
    target.close()?;
    Ok(runs)
}

fn run_once(
    target: &Target,
    control: &mut Link,
    options: &ParallelOptions,
    variant: &Variant,
) -> Result<ParallelRun, StressError> {
    for batch in ["TRUNCATE TABLE dbo.parallel_insert", "CHECKPOINT"] {
        control.execute(batch)?;
    }
    if let Some(value) = variant.nested_transactions {
        control.execute(&format!("ALTER SERVER CONFIGURATION SET PIKEPOLE NESTED_TRANSACTIONS = {value}"))?;
    }
    let recovery = if variant.minimal_logging { "SIMPLE" } else { "FULL" };
    control.execute(&format!("ALTER DATABASE {DATABASE} SET RECOVERY {recovery}"))?;
    let production_seconds = produce(control, options)?;
    let insert = statement(options.rows, options.maxdop, variant.minimal_logging);
    let mut taken = None;
    let work = |control: &mut Link| {
        drive::profiled(options.profiler.as_ref(), &mut taken, || {
            let begun = Instant::now();
            let rows = control.execute(&insert)?.rows_affected;
            Ok(Work { rows, elapsed: begun.elapsed(), interrupted: false, series: Vec::new(), latency: None })
        })
    };
    let mut run = drive::measured(target, control, "parallel-insert", DATABASE, Durability::Full, 1, work)?;
    run.profile = taken.map(Taken::named);
    drive::check_rows(control, COUNT, &run)?;
    run.rows_counted = true;
    let nested_transactions = run.policies.get("NESTED_TRANSACTIONS").cloned().unwrap_or_default();
    let on = control.query("DBCC TRACESTATUS (-1)")?;
    let trace_flags = on.iter().filter_map(|row| row.values().first()?.as_i64()).map(|flag| flag as i32).collect();
    let (minimal_logging, maxdop) = (variant.minimal_logging, options.maxdop);
    Ok(ParallelRun { nested_transactions, trace_flags, minimal_logging, maxdop, production_seconds, run })
}

/// The rows, as a common table expression `rows`.
fn source(rows: u64) -> String {
    let values: Vec<String> = (0..LIST_ROWS).map(|n| format!("({n})")).collect();
    let mut lists = String::from("list AS l0");
    let mut made = LIST_ROWS;
    for place in 1.. {
        if made >= rows {
            break;
        }
        lists.push_str(&format!(" CROSS JOIN list AS l{place}"));
        made = made.saturating_mul(LIST_ROWS);
    }
    format!(
        "WITH list AS (SELECT n FROM (VALUES {}) AS v (n)),
numbers AS (SELECT TOP ({rows}) ROW_NUMBER() OVER (ORDER BY (SELECT NULL)) AS n FROM {lists}),
rows AS (
    SELECT n AS id, CAST(n % 1000 AS int) AS part, DATEADD(second, n % 86400, CAST('2020-01-01' AS datetime)) AS created
    FROM numbers LEFT JOIN (VALUES (1)) AS nothing (k) ON 1 = 0
)",
        values.join(", ")
    )
}

fn option(maxdop: Option<u32>) -> String {
    maxdop.map_or(String::new(), |maxdop| format!("\nOPTION (MAXDOP {maxdop})"))
}

/// The statement that inserts `rows` rows.
pub(super) fn statement(rows: u64, maxdop: Option<u32>, tablock: bool) -> String {
    let hint = if tablock { " WITH (TABLOCK)" } else { "" };
    format!(
        "{}\nINSERT INTO dbo.parallel_insert{hint} (id, part, created) SELECT id, part, created FROM rows{}",
        source(rows),
        option(maxdop)
    )
}

/// The seconds that it takes to make the rows.
fn produce(control: &mut Link, options: &ParallelOptions) -> Result<f64, StressError> {
    let (rows, maxdop) = (source(options.rows), option(options.maxdop));
    let begun = Instant::now();
    let made =
        control.query(&format!("{rows}\nSELECT COUNT_BIG(*), MAX(id), MAX(part), MAX(created) FROM rows{maxdop}"))?;
    let seconds = begun.elapsed().as_secs_f64();
    match made.iter().next().map(|row| row.get::<Value>(0)).transpose()? {
        Some(Value::BigInt(made)) if u64::try_from(made) == Ok(options.rows) => Ok(seconds),
        made => panic!("{} rows were to be made, not {made:?}", options.rows),
    }
}

#[cfg(test)]
mod tests {
    use super::source;

    #[test]
    fn as_many_lists_are_joined_as_the_rows_need() {
        let lists = |rows| source(rows).matches("list AS l").count();
        assert_eq!([1, 16, 17, 256, 257, 64 << 20].map(lists), [1, 1, 2, 2, 3, 7]);
    }
}
