//! One INSERT ... SELECT of many rows by parallel workers, once for each way to log it.
//!
//! ```text
//!   scripts/parallel-insert.sql: a table │ GO │ #BatchMe │ GO │ the published statement
//!        each worker: a range of the numbers at a time, in batches, under a child of the statement's transaction
//! ```
//! The statement is run as it stands in the script: 64 x 1024 x 1024 rows, MAXDOP 11. Fewer rows are a TOP in it, another degree
//! stands in the place of 11. The row production alone is measured too: the same rows, aggregated instead of inserted.

use super::drive::{self, Run, Work};
use super::target::{Link, Target};
use super::workload::DATABASE;
use super::{Durability, StressError};
use crate::profile::{Profiler, Taken};
use pikepole_embedded::Value;
use serde::Serialize;
use std::path::PathBuf;
use std::time::Instant;

const SCRIPT: &str = include_str!("../../scripts/parallel-insert.sql");

/// Rows of the statement in the script.
pub const ROWS: u64 = 64 << 20;
/// Its MAXDOP.
pub const MAXDOP: u32 = 11;

/// Drops the table of runs before.
pub(super) const DROP: &str = "DROP TABLE IF EXISTS dbo.parallel_insert";

pub(super) const COUNT: &str = "SELECT COUNT_BIG(*) FROM dbo.parallel_insert";

/// How one run logs its rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variant {
    /// The value of NESTED_TRANSACTIONS; `None` leaves what is in force.
    pub nested_transactions: Option<&'static str>,
    /// Only the use of pages is logged: SIMPLE recovery.
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
    /// MAXDOP of the statements.
    pub maxdop: u32,
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
    /// MAXDOP of the statement.
    pub maxdop: u32,
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
    let setup = [DROP, table(), session_setup()].map(str::to_string);
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
    let insert = statement(options.rows, options.maxdop);
    let mut taken = None;
    let work = |control: &mut Link| {
        drive::profiled(options.profiler.as_ref(), &mut taken, || {
            let begun = Instant::now();
            let rows = control.execute(&insert)?.rows_affected;
            let elapsed = begun.elapsed();
            Ok(Work { rows, elapsed, conflicts: 0, interrupted: false, series: Vec::new(), latency: None })
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

/// A batch of the script.
fn batch(place: usize) -> &'static str {
    SCRIPT.split("GO\n").nth(place).unwrap_or_default().trim_end()
}

/// The batch that makes the table.
pub(super) fn table() -> &'static str {
    batch(0)
}

/// The batch that each session runs before the statement.
pub(super) fn session_setup() -> &'static str {
    batch(1)
}

/// The statement that inserts `rows` rows, at most those of the script.
pub(super) fn statement(rows: u64, maxdop: u32) -> String {
    let mut text = batch(2).to_string();
    if rows != ROWS {
        text = text.replace("\nSELECT n,", &format!("\nSELECT TOP ({rows}) n,"));
    }
    if maxdop != MAXDOP {
        text = text.replace("(MAXDOP 11)", &format!("(MAXDOP {maxdop})"));
    }
    text
}

/// The query that makes the same rows and counts them.
fn production(rows: u64, maxdop: u32) -> String {
    let statement = statement(rows, maxdop);
    let (with, insert) = statement.split_once("\nINSERT ").unwrap_or_default();
    let (select, option) =
        insert.split_once("\nSELECT ").and_then(|(_, rest)| rest.split_once("\nOPTION")).unwrap_or_default();
    format!(
        "{with}\nSELECT COUNT_BIG(*), MAX(id), MAX(part), MAX(created)\nFROM (SELECT {select}) AS made (id, part, created)\nOPTION{option}"
    )
}

/// The seconds that it takes to make the rows.
fn produce(control: &mut Link, options: &ParallelOptions) -> Result<f64, StressError> {
    let query = production(options.rows, options.maxdop);
    let begun = Instant::now();
    let made = control.query(&query)?;
    let seconds = begun.elapsed().as_secs_f64();
    match made.iter().next().map(|row| row.get::<Value>(0)).transpose()? {
        Some(Value::BigInt(made)) if u64::try_from(made) == Ok(options.rows) => Ok(seconds),
        made => panic!("{} rows were to be made, not {made:?}", options.rows),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_s_statement_is_run_as_it_stands() {
        let script: Vec<&str> = SCRIPT.split("GO\n").map(str::trim).collect();
        assert_eq!((script.len(), script[3]), (4, ""), "three batches");
        assert!(
            table().contains("CREATE TABLE dbo.parallel_insert") && session_setup().contains("CREATE TABLE #BatchMe")
        );
        assert_eq!(statement(ROWS, MAXDOP), script[2]);
    }

    #[test]
    fn fewer_rows_and_another_degree_stand_in_the_statement() {
        let text = statement(1000, 3);
        assert!(text.contains("\nSELECT TOP (1000) n, 1, DATEADD(") && text.ends_with("OPTION (MAXDOP 3);"), "{text}");
        let query = production(1000, 3);
        assert!(
            query.contains("FROM (SELECT TOP (1000) n, 1, DATEADD(") && query.ends_with("OPTION (MAXDOP 3);"),
            "{query}"
        );
        assert!(!query.contains("INSERT"), "{query}");
    }
}
