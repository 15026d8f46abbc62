//! What statements and modules took, of those whose programs the cache keeps: `sys.dm_exec_query_stats`, `dm_exec_procedure_stats`,
//! `dm_exec_trigger_stats`, `dm_exec_function_stats`.

use super::Kind::{BigInt, Bytes, Code, DateTime, Int, Text};
use super::Nullable::{No, Yes};
use super::texts::{plan_handle, sql_handle};
use super::{ColumnOf, RowBuilder, Rows, Source, View, unix_us};
use pikepole_query::{Measure, Program, RunTotals, StatementRuns};
use pikepole_types::{SqlError, Value};

/// The columns of one measure: of all runs, of the last, the least and the most.
macro_rules! measure {
    ($total:literal, $last:literal, $min:literal, $max:literal) => {
        [($total, BigInt, No), ($last, BigInt, No), ($min, BigInt, No), ($max, BigInt, No)]
    };
}

/// Some lists of columns as one.
const fn joined<const N: usize>(lists: &[&[ColumnOf]]) -> [ColumnOf; N] {
    let mut all = [("", BigInt, No); N];
    let (mut list, mut at) = (0, 0);
    while list < lists.len() {
        let mut column = 0;
        while column < lists[list].len() {
            all[at] = lists[list][column];
            at += 1;
            column += 1;
        }
        list += 1;
    }
    assert!(at == N, "as many columns as were told");
    all
}

const WORKER: [ColumnOf; 4] = measure!("total_worker_time", "last_worker_time", "min_worker_time", "max_worker_time");
const PHYSICAL: [ColumnOf; 4] =
    measure!("total_physical_reads", "last_physical_reads", "min_physical_reads", "max_physical_reads");
const WRITES: [ColumnOf; 4] =
    measure!("total_logical_writes", "last_logical_writes", "min_logical_writes", "max_logical_writes");
const LOGICAL: [ColumnOf; 4] =
    measure!("total_logical_reads", "last_logical_reads", "min_logical_reads", "max_logical_reads");
const ELAPSED: [ColumnOf; 4] =
    measure!("total_elapsed_time", "last_elapsed_time", "min_elapsed_time", "max_elapsed_time");
const SPILLS: [ColumnOf; 4] = measure!("total_spills", "last_spills", "min_spills", "max_spills");
/// Reads of disks and of page servers: of the latter there are none.
const SERVED: [ColumnOf; 12] = joined(&[
    &measure!(
        "total_num_physical_reads",
        "last_num_physical_reads",
        "min_num_physical_reads",
        "max_num_physical_reads"
    ),
    &measure!("total_page_server_reads", "last_page_server_reads", "min_page_server_reads", "max_page_server_reads"),
    &measure!(
        "total_num_page_server_reads",
        "last_num_page_server_reads",
        "min_num_page_server_reads",
        "max_num_page_server_reads"
    ),
]);

const STATEMENT: [ColumnOf; 88] = joined(&[
    &[
        ("sql_handle", Bytes(64), No),
        ("statement_start_offset", Int, No),
        ("statement_end_offset", Int, No),
        ("plan_generation_num", BigInt, No),
        ("plan_handle", Bytes(64), No),
        ("creation_time", DateTime, No),
        ("last_execution_time", DateTime, No),
        ("execution_count", BigInt, No),
    ],
    &WORKER,
    &PHYSICAL,
    &WRITES,
    &LOGICAL,
    &measure!("total_clr_time", "last_clr_time", "min_clr_time", "max_clr_time"),
    &ELAPSED,
    &[("query_hash", Bytes(8), No), ("query_plan_hash", Bytes(8), No)],
    &measure!("total_rows", "last_rows", "min_rows", "max_rows"),
    &[("statement_sql_handle", Bytes(64), Yes), ("statement_context_id", BigInt, Yes)],
    &measure!("total_dop", "last_dop", "min_dop", "max_dop"),
    &measure!("total_grant_kb", "last_grant_kb", "min_grant_kb", "max_grant_kb"),
    &measure!("total_used_grant_kb", "last_used_grant_kb", "min_used_grant_kb", "max_used_grant_kb"),
    &measure!("total_ideal_grant_kb", "last_ideal_grant_kb", "min_ideal_grant_kb", "max_ideal_grant_kb"),
    &measure!("total_reserved_threads", "last_reserved_threads", "min_reserved_threads", "max_reserved_threads"),
    &measure!("total_used_threads", "last_used_threads", "min_used_threads", "max_used_threads"),
    &measure!(
        "total_columnstore_segment_reads",
        "last_columnstore_segment_reads",
        "min_columnstore_segment_reads",
        "max_columnstore_segment_reads"
    ),
    &measure!(
        "total_columnstore_segment_skips",
        "last_columnstore_segment_skips",
        "min_columnstore_segment_skips",
        "max_columnstore_segment_skips"
    ),
    &SPILLS,
    &SERVED,
]);

const MODULE_BEGIN: [ColumnOf; 9] = [
    ("database_id", Int, No),
    ("object_id", Int, No),
    ("type", Code, Yes),
    ("type_desc", Text(60), Yes),
    ("sql_handle", Bytes(64), No),
    ("plan_handle", Bytes(64), No),
    ("cached_time", DateTime, Yes),
    ("last_execution_time", DateTime, Yes),
    ("execution_count", BigInt, No),
];

const PROCEDURE: [ColumnOf; 45] =
    joined(&[&MODULE_BEGIN, &WORKER, &PHYSICAL, &WRITES, &LOGICAL, &ELAPSED, &SPILLS, &SERVED]);
/// Spills of functions are not told.
const FUNCTION: [ColumnOf; 41] = joined(&[&MODULE_BEGIN, &WORKER, &PHYSICAL, &WRITES, &LOGICAL, &ELAPSED, &SERVED]);

pub(super) const VIEWS: &[View] = &[
    View { schema: "sys", name: "dm_exec_query_stats", columns: &STATEMENT, rows: statements },
    View { schema: "sys", name: "dm_exec_procedure_stats", columns: &PROCEDURE, rows: procedures },
    View { schema: "sys", name: "dm_exec_trigger_stats", columns: &PROCEDURE, rows: triggers },
    View { schema: "sys", name: "dm_exec_function_stats", columns: &FUNCTION, rows: functions },
];

/// The measures that all of these views have.
fn measured(row: RowBuilder, totals: &RunTotals) -> RowBuilder {
    let row = row.integer("execution_count", totals.count).moment("last_execution_time", unix_us(totals.began_us));
    let measures = [
        (&WORKER, &totals.worker),
        (&PHYSICAL, &totals.physical_reads),
        (&LOGICAL, &totals.logical_reads),
        (&ELAPSED, &totals.elapsed),
    ];
    measures.into_iter().fold(row, |row, (columns, measure)| with(row, columns, measure))
}

fn with(row: RowBuilder, columns: &[ColumnOf; 4], measure: &Measure) -> RowBuilder {
    let values = [measure.total, measure.last, measure.min, measure.max];
    columns.iter().zip(values).fold(row, |row, ((name, _, _), value)| row.integer(name, value))
}

fn statements(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let mut rows = Vec::new();
    for cached in source.registry.plans().programs() {
        let program = &cached.program;
        let ran = program.statement_runs(source.host);
        rows.extend(ran.iter().map(|statement| statement_row(view, program, statement)));
    }
    Ok(rows)
}

fn statement_row(view: &View, program: &Program, statement: &StatementRuns) -> Vec<Value> {
    let totals = &statement.totals;
    let hash = |number: u64| Value::Bin(number.to_be_bytes().to_vec());
    let row = view
        .row()
        .value("sql_handle", sql_handle(program))
        .value("plan_handle", plan_handle(program))
        .integer("statement_start_offset", statement.place.0)
        .integer("statement_end_offset", statement.place.1)
        .integer("plan_generation_num", totals.compilations)
        .moment("creation_time", unix_us(totals.compiled_us))
        .value("query_hash", hash(statement.shape))
        .value("query_plan_hash", hash(statement.plan_shape))
        .integer("total_rows", totals.rows.total)
        .integer("last_rows", totals.rows.last)
        .integer("min_rows", totals.rows.min)
        .integer("max_rows", totals.rows.max);
    measured(row, totals).done()
}

/// The modules that a view shows: their type, when it is one of its.
fn modules(
    view: &View,
    source: &Source<'_>,
    kind_of: fn(&Program) -> Option<(&'static str, &'static str)>,
) -> Result<Rows, SqlError> {
    let row = |program: &Program| {
        let (module, kind, totals) = (program.procedure()?, kind_of(program)?, program.calls()?);
        let row = view
            .row()
            .integer("database_id", program.database_id())
            .integer("object_id", module.object_id)
            .text("type", kind.0)
            .text("type_desc", kind.1)
            .value("sql_handle", sql_handle(program))
            .value("plan_handle", plan_handle(program))
            .moment("cached_time", unix_us(totals.compiled_us));
        Some(measured(row, &totals).done())
    };
    Ok(source.registry.plans().programs().iter().filter_map(|cached| row(&cached.program)).collect())
}

fn procedures(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    modules(view, source, |program| {
        let is_it = !program.is_trigger() && !program.is_function();
        is_it.then_some(("P ", "SQL_STORED_PROCEDURE"))
    })
}

fn triggers(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    modules(view, source, |program| program.is_trigger().then_some(("TR", "SQL_TRIGGER")))
}

fn functions(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    modules(view, source, |program| program.is_scalar_function().then_some(("FN", "SQL_SCALAR_FUNCTION")))
}
