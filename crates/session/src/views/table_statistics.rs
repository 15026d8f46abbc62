//! Statistics of tables: `sys.stats`, `stats_columns`, and what is known of the values, `dm_db_stats_properties` and
//! `dm_db_stats_histogram`.

use super::Kind::{BigInt, Bit, DateTime, Float, Int, LongText, Name, Real, Text, Variant};
use super::Nullable::{No, Yes};
use super::{Function, Rows, Source, View, in_variant};
use crate::statistics::{ShownStatistics, modifications, of_table, shows_values};
use pikepole_engine::{HistogramStep, StatisticsOrigin, Table};
use pikepole_types::{SqlError, Value};
use std::sync::Arc;

pub(super) const VIEWS: &[View] = &[
    View {
        schema: "sys",
        name: "stats",
        columns: &[
            ("object_id", Int, No),
            ("name", Name, Yes),
            ("stats_id", Int, No),
            ("auto_created", Bit, Yes),
            ("user_created", Bit, Yes),
            ("no_recompute", Bit, Yes),
            ("has_filter", Bit, Yes),
            ("filter_definition", LongText, Yes),
            ("is_temporary", Bit, Yes),
            ("is_incremental", Bit, Yes),
            ("has_persisted_sample", Bit, Yes),
            ("stats_generation_method", Int, No),
            ("stats_generation_method_desc", Text(80), No),
            ("auto_drop", Bit, Yes),
        ],
        rows: all,
    },
    View {
        schema: "sys",
        name: "stats_columns",
        columns: &[("object_id", Int, No), ("stats_id", Int, No), ("stats_column_id", Int, No), ("column_id", Int, No)],
        rows: columns,
    },
];

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        view: View {
            schema: "sys",
            name: "dm_db_stats_properties",
            columns: &[
                ("object_id", Int, No),
                ("stats_id", Int, No),
                ("last_updated", DateTime, Yes),
                ("rows", BigInt, Yes),
                ("rows_sampled", BigInt, Yes),
                ("steps", Int, Yes),
                ("unfiltered_rows", BigInt, Yes),
                ("modification_counter", BigInt, Yes),
                ("persisted_sample_percent", Float, Yes),
            ],
            rows: properties,
        },
        parameters: &[Int, Int],
    },
    Function {
        view: View {
            schema: "sys",
            name: "dm_db_stats_histogram",
            columns: &[
                ("object_id", Int, No),
                ("stats_id", Int, No),
                ("step_number", Int, No),
                ("range_high_key", Variant, Yes),
                ("range_rows", Real, Yes),
                ("equal_rows", Real, Yes),
                ("distinct_range_rows", BigInt, Yes),
                ("average_range_rows", Real, Yes),
            ],
            rows: histogram,
        },
        parameters: &[Int, Int],
    },
];

/// Each index has statistics of its name and number, which tools join it to.
fn all(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let mut rows = Vec::new();
    for table in source.catalog.table_shapes() {
        for own in of_table(source.catalog, table) {
            rows.push(
                view.row()
                    .integer("object_id", table.object_id)
                    .text("name", own.name)
                    .integer("stats_id", own.stats_id)
                    .bit("auto_created", own.origin() == StatisticsOrigin::Automatic)
                    .bit("user_created", own.origin() == StatisticsOrigin::User)
                    .bit("no_recompute", own.no_recompute())
                    .bit("has_filter", own.filter.is_some())
                    .text_if("filter_definition", own.filter)
                    .bit("is_temporary", false)
                    .bit("is_incremental", false)
                    .bit("has_persisted_sample", false)
                    .integer("stats_generation_method", 0)
                    .text("stats_generation_method_desc", "Sort based statistics")
                    .bit("auto_drop", false)
                    .done(),
            );
        }
    }
    Ok(rows)
}

fn columns(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let mut rows = Vec::new();
    for table in source.catalog.table_shapes() {
        for own in of_table(source.catalog, table) {
            for (place, column) in own.columns.iter().enumerate() {
                rows.push(
                    view.row()
                        .integer("object_id", table.object_id)
                        .integer("stats_id", own.stats_id)
                        .integer("stats_column_id", place as i64 + 1)
                        .integer("column_id", table.column_number(*column))
                        .done(),
                );
            }
        }
    }
    Ok(rows)
}

/// The statistics that the arguments name, with their table, unless values of its columns are not for the session to see.
fn named<'a>(source: &'a Source<'_>) -> Option<(&'a Arc<Table>, ShownStatistics<'a>)> {
    let number = |place: usize| source.integer(place).and_then(|number| i32::try_from(number).ok());
    let (object_id, stats_id) = (number(0)?, number(1)?);
    let table = source.catalog.table_by_id(object_id)?;
    let own = of_table(source.catalog, table).into_iter().find(|own| own.stats_id == stats_id)?;
    shows_values(source.token, source.catalog, table, &own.columns).then_some((table, own))
}

fn properties(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let Some((table, own)) = named(source) else { return Ok(Rows::new()) };
    let row = view.row().integer("object_id", table.object_id).integer("stats_id", own.stats_id);
    let row = match own.values() {
        None => row,
        Some(values) => row
            .moment("last_updated", values.updated_us)
            .integer("rows", values.rows)
            .integer("rows_sampled", values.sampled)
            .integer("steps", values.steps.len() as i64)
            .integer("unfiltered_rows", values.rows)
            .integer("modification_counter", modifications(table, values))
            .float("persisted_sample_percent", 0.0),
    };
    Ok(vec![row.done()])
}

fn histogram(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let Some((table, own)) = named(source) else { return Ok(Rows::new()) };
    let Some((values, first)) = own.values().zip(own.columns.first()) else { return Ok(Rows::new()) };
    let ty = table.columns[*first].ty;
    let key = |value: &Value| match value {
        Value::Variant(_) => value.clone(),
        value => in_variant(ty, value.clone()),
    };
    let row = |(number, step): (usize, &HistogramStep)| {
        view.row()
            .integer("object_id", table.object_id)
            .integer("stats_id", own.stats_id)
            .integer("step_number", number as i64 + 1)
            .value("range_high_key", key(&step.high))
            .float("range_rows", step.range_rows)
            .float("equal_rows", step.equal_rows)
            .integer("distinct_range_rows", step.distinct_range.round() as i64)
            .float("average_range_rows", step.average_range_rows())
            .done()
    };
    Ok(values.steps.iter().enumerate().map(row).collect())
}
