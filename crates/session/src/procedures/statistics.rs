//! `sp_updatestats` and `sp_helpstats`.

use super::Arguments;
use super::describe::object;
use crate::result_set::{NAME, ResultSet, string, text};
use crate::security;
use crate::statistics::{ShownStatistics, of_table, resampled, update_these};
use pikepole_engine::{SampleSize, StatisticsOrigin, Table};
use pikepole_query::{ExecutionContext, Output};
use pikepole_types::SqlError;
use std::sync::Arc;

/// `sp_updatestats`: those of all tables of which rows have changed, each table in a statement of its own.
///
/// # Errors
/// 15600 for a word that is not `resample`; as of UPDATE STATISTICS.
pub(super) async fn update_all(
    resample: Option<&str>,
    context: &mut ExecutionContext,
    output: &mut dyn Output,
) -> Result<(), SqlError> {
    let resamples = match resample.map(str::to_ascii_lowercase).as_deref() {
        None | Some("no") => false,
        Some("resample") => true,
        Some(_) => return Err(SqlError::invalid_parameter_or_option("sp_updatestats")),
    };
    let tables: Vec<i32> = context.catalog().definitions().tables().map(|table| table.object_id).collect();
    for object_id in tables {
        update_table(object_id, resamples, context, output).await?;
    }
    output.message(&SqlError::statistics_updated());
    Ok(())
}

async fn update_table(
    object_id: i32,
    resamples: bool,
    context: &mut ExecutionContext,
    output: &mut dyn Output,
) -> Result<(), SqlError> {
    let catalog = Arc::clone(context.catalog().definitions());
    // Another session may have dropped it meanwhile.
    let Some(table) = catalog.table_by_id(object_id) else { return Ok(()) };
    let all = of_table(&catalog, table);
    if all.is_empty() {
        return Ok(());
    }
    output.message(&SqlError::updating_statistics_of(format!("[{}].[{}]", table.schema, table.name)));
    let (due, others): (Vec<_>, Vec<_>) = all.iter().partition(|own| is_updatable(own) && own.are_out_of_date(table));
    update_due(table, &due, resamples, context).await?;
    for own in &all {
        let name = format!("[{}]", own.name);
        output.message(&match due.iter().any(|due| due.stats_id == own.stats_id) {
            true => SqlError::statistics_are_updated(name),
            false => SqlError::statistics_are_up_to_date(name),
        });
    }
    output.message(&SqlError::statistics_were_updated(due.len(), others.len()));
    Ok(())
}

/// Statistics of a filtered index are not made, and those of a columnstore of the whole table have no columns.
fn is_updatable(own: &ShownStatistics<'_>) -> bool {
    own.filter.is_none() && !own.columns.is_empty()
}

/// NORECOMPUTE stays as it is.
async fn update_due(
    table: &Table,
    due: &[&ShownStatistics<'_>],
    resamples: bool,
    context: &mut ExecutionContext,
) -> Result<(), SqlError> {
    let size = |own: &ShownStatistics<'_>| if resamples { resampled(own) } else { SampleSize::Default };
    for no_recompute in [false, true] {
        let alike = due.iter().filter(|own| own.no_recompute() == no_recompute);
        let wanted: Vec<(i32, SampleSize)> = alike.map(|own| (own.stats_id, size(own))).collect();
        if !wanted.is_empty() {
            update_these(table, &wanted, no_recompute, context).await?;
        }
    }
    Ok(())
}

/// `sp_helpstats`: the statistics of columns, with `ALL` those of indexes, too.
///
/// # Errors
/// 15009 for an object that is not there, 15600 for a word that is neither `STATS` nor `ALL`.
pub(super) fn help(
    arguments: &Arguments<'_>,
    context: &ExecutionContext,
    output: &mut dyn Output,
) -> Result<(), SqlError> {
    let shows_all = match arguments.text(1).map(|word| word.to_ascii_uppercase()).as_deref() {
        None | Some("STATS") => false,
        Some("ALL") => true,
        Some(_) => return Err(SqlError::invalid_parameter_or_option("sp_helpstats")),
    };
    let catalog = security::catalog(context);
    let found = object(&catalog, &arguments.text(0).unwrap_or_default(), context.database().name())?;
    let mut set = ResultSet::new(&[("statistics_name", NAME), ("statistics_keys", text(2078))]);
    let mut is_empty = true;
    if let Some(table) = catalog.table_by_id(found.object_id) {
        let all = of_table(&catalog, table);
        for own in all.iter().filter(|own| shows_all || own.origin() != StatisticsOrigin::Index) {
            let names: Vec<&str> = own.columns.iter().map(|column| table.columns[*column].name.as_str()).collect();
            set.push(vec![string(own.name), string(names.join(", "))]);
            is_empty = false;
        }
    }
    if is_empty {
        output.message(&match shows_all {
            true => SqlError::object_without_statistics_or_indexes(),
            false => SqlError::object_without_statistics(),
        });
        return Ok(());
    }
    set.send(output);
    Ok(())
}
