//! Statistics as calls: a sample is read first, then the catalog is locked and takes what it says.

use std::sync::Arc;

use pikepole_contention::sync::atomic::AtomicBool;
use pikepole_scheduler as scheduler;
use pikepole_types::{SqlError, Value};

use super::{Database, Durability, lock, now_us};
use crate::catalog::Catalog;
use crate::catalog::definition::{StoredObject, TableRecord};
use crate::catalog::statistics::{StatisticsOrigin, StatisticsRecord, TableStatistics};
use crate::statistics::Sample;
use crate::table::{ReadHints, ScanRange, Table};
use crate::transaction::Transaction;

/// Parts of a page that are read of a large table, unless more are asked for; fewer where they have more rows than a sample keeps.
const PARTS_DEFAULT: usize = 1_024;

/// Pages of a table from which on a part of it is read. In smaller ones a value that stands in few pages would weigh nothing or too much.
const PAGES_MIN: usize = 2 * PARTS_DEFAULT;

/// The longest wait of statistics that a query needs for a definition of another session. Without them the query has a plan, too.
const PATIENCE_MS: u64 = 20;

/// The rows that statistics are made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SampleSize {
    /// So many pages as tell enough.
    Default,
    /// All rows.
    Full,
    /// A part of the table, from 0 to 1.
    Share(f64),
    /// About so many rows.
    Rows(u64),
}

/// Statistics of columns that are to be made.
#[derive(Debug, Clone)]
pub struct StatisticsDefinition<'a> {
    /// Its name.
    pub name: &'a str,
    /// The places of its columns.
    pub columns: &'a [usize],
    /// Its origin.
    pub origin: StatisticsOrigin,
    /// NORECOMPUTE
    pub no_recompute: bool,
}

/// Statistics of a column that a query wants to be brought up to date in the background.
#[derive(Debug, Clone)]
pub(super) struct WantedStatistics {
    table: Arc<Table>,
    column: usize,
}

/// The name of statistics that a query needed: `_WA_Sys_00000002_000F4243`.
fn automatic_name(table: &Table, column: usize) -> String {
    format!("_WA_Sys_{:08X}_{:08X}", column + 1, table.object_id)
}

impl Database {
    /// CREATE STATISTICS.
    ///
    /// # Errors
    /// 1927 when an index or statistics of the table have the name.
    pub async fn create_statistics(
        &self,
        tx: &mut Transaction,
        table: &Table,
        definition: &StatisticsDefinition<'_>,
        size: SampleSize,
    ) -> Result<(), SqlError> {
        let &StatisticsDefinition { name, columns, origin, no_recompute } = definition;
        let exists = |own: Option<&Arc<TableStatistics>>| {
            own.is_some_and(|own| own.by_name(name).is_some())
                || table.indexes.iter().any(|index| index.name.eq_ignore_ascii_case(name))
        };
        let taken = || SqlError::statistics_exist(name, &table.name);
        if exists(self.catalog(tx).statistics_of(table.object_id)) {
            return Err(taken());
        }
        let (sample, rows) = self.sample(tx, table, columns, size).await?;
        let places: Vec<usize> = (0..columns.len()).collect();
        let values = sample.values_of(&places, rows, now_us(), table.changes());
        let (mark, mut catalog) = self.begin_definition(tx).await?;
        self.check_same_definition(&catalog, table)?;
        let own = catalog.statistics_of(table.object_id);
        if exists(own) {
            return Err(taken());
        }
        let mut statistics = statistics_or_none(own, table.object_id);
        let entry = StatisticsRecord {
            stats_id: statistics.next_id(),
            name: name.to_owned(),
            columns: columns.to_vec(),
            origin,
            no_recompute,
            values: Some(values),
        };
        statistics.put(entry);
        self.store_statistics(tx, &mut catalog, statistics).await?;
        self.end_definition(tx, mark, catalog, self.new_version());
        Ok(())
    }

    /// UPDATE STATISTICS of these numbers, which are of indexes of the table or of columns; others are passed over. `no_recompute` is
    /// what they say from now on.
    ///
    /// # Errors
    /// As of reading the table and of definitions.
    pub async fn update_statistics(
        &self,
        tx: &mut Transaction,
        table: &Table,
        wanted: &[i32],
        size: SampleSize,
        no_recompute: bool,
    ) -> Result<(), SqlError> {
        let mut entries = self.entries_of(&self.catalog(tx), table, wanted);
        let mut columns: Vec<usize> = entries.iter().flat_map(|entry| entry.columns.iter().copied()).collect();
        columns.sort_unstable();
        columns.dedup();
        if columns.is_empty() {
            return Ok(());
        }
        let (sample, rows) = self.sample(tx, table, &columns, size).await?;
        let now = now_us();
        for entry in &mut entries {
            let places = entry.columns.iter().filter_map(|column| columns.binary_search(column).ok());
            let places: Vec<usize> = places.collect();
            entry.no_recompute = no_recompute;
            entry.values = Some(sample.values_of(&places, rows, now, table.changes()));
            scheduler::yield_if_due().await;
        }
        let (mark, mut catalog) = self.begin_definition(tx).await?;
        self.check_same_definition(&catalog, table)?;
        let own = catalog.statistics_of(table.object_id);
        let mut statistics = statistics_or_none(own, table.object_id);
        // What was dropped meanwhile stays so.
        let is_there = self.entries_of(&catalog, table, wanted);
        for entry in entries.into_iter().filter(|entry| is_there.iter().any(|own| own.stats_id == entry.stats_id)) {
            statistics.put(entry);
        }
        self.store_statistics(tx, &mut catalog, statistics).await?;
        self.end_definition(tx, mark, catalog, self.new_version());
        Ok(())
    }

    /// DROP STATISTICS. False: there are none of this name that are no index's.
    ///
    /// # Errors
    /// As of definitions.
    pub async fn drop_statistics(&self, tx: &mut Transaction, table: &Table, name: &str) -> Result<bool, SqlError> {
        let (mark, mut catalog) = self.begin_definition(tx).await?;
        let mut statistics = statistics_or_none(catalog.statistics_of(table.object_id), table.object_id);
        let Some(stats_id) = statistics.by_name(name).map(|entry| entry.stats_id) else { return Ok(false) };
        statistics.entries.retain(|entry| entry.stats_id != stats_id);
        self.store_statistics(tx, &mut catalog, statistics).await?;
        self.end_definition(tx, mark, catalog, self.new_version());
        Ok(true)
    }

    /// Makes the statistics of columns that a query needs, or brings them up to date, in a transaction of their own. What cannot be had
    /// now stays as it is: the query has a plan without it.
    ///
    /// # Errors
    /// 3617 when the request was cancelled.
    pub async fn need_statistics(
        &self,
        beside: &Transaction,
        cancelled: &Arc<AtomicBool>,
        table: &Table,
        columns: &[usize],
    ) -> Result<(), SqlError> {
        if beside.definitions.are_changed() || beside.is_elsewhere(table) {
            return Ok(());
        }
        let mut tx = self.transaction_beside(beside);
        tx.set_patience(Some(PATIENCE_MS), cancelled, 0);
        tx.begin();
        let made = self.make_needed(&mut tx, table, columns).await;
        match made {
            Ok(()) => self.commit(&mut tx, Durability::Delayed).await,
            Err(error) => {
                self.rollback(&mut tx).await?;
                if error.number == pikepole_types::CANCELLED { Err(error) } else { Ok(()) }
            }
        }
    }

    /// Has statistics of columns brought up to date in the background, where they are not waiting for that already: as
    /// AUTO_UPDATE_STATISTICS_ASYNC has it, the query goes on with those that there are.
    pub fn want_statistics(&self, beside: &Transaction, table: &Arc<Table>, columns: &[usize]) {
        if beside.definitions.are_changed() || beside.is_elsewhere(table) {
            return;
        }
        let mut waiting = lock(&self.statistics_wanted);
        for &column in columns {
            let is_same = |one: &WantedStatistics| one.table.object_id == table.object_id && one.column == column;
            if !waiting.iter().any(is_same) {
                waiting.push(WantedStatistics { table: Arc::clone(table), column });
            }
        }
    }

    /// Makes the statistics that queries want and do not wait for, one table after the other. What cannot be had now is wanted again by
    /// the next query that looks.
    pub(crate) async fn update_wanted_statistics(&self) {
        let none = Arc::new(AtomicBool::new(false));
        while !self.is_stopping() {
            let waiting = lock(&self.statistics_wanted).clone();
            let Some(WantedStatistics { table, .. }) = waiting.first() else { return };
            let is_its = |one: &&WantedStatistics| one.table.object_id == table.object_id;
            let columns: Vec<usize> = waiting.iter().filter(is_its).map(|one| one.column).collect();
            let now = self.current_catalog().table_by_id(table.object_id).map(|now| now.version);
            if now == Some(table.version) {
                // Without a session that could cancel it, and with nothing to tell an error to.
                let _ = self.need_statistics(&self.transaction(0), &none, table, &columns).await;
            }
            // They have been on the list until here, so that they were not wanted twice.
            lock(&self.statistics_wanted).retain(|one| !(is_its(&one) && columns.contains(&one.column)));
        }
    }

    async fn make_needed(&self, tx: &mut Transaction, table: &Table, columns: &[usize]) -> Result<(), SqlError> {
        let catalog = self.catalog(tx);
        let own = catalog.statistics_of(table.object_id);
        let mut update = Vec::new();
        for &column in columns {
            let of_index = table.indexes.iter().find(|index| leads(index, column)).map(|index| index.index_id);
            let known = own.and_then(|own| own.of_column(column)).map(|entry| entry.stats_id);
            match known.or(of_index) {
                Some(stats_id) => update.push(stats_id),
                None => {
                    let name = automatic_name(table, column);
                    let definition = StatisticsDefinition {
                        name: &name,
                        columns: &[column],
                        origin: StatisticsOrigin::Automatic,
                        no_recompute: false,
                    };
                    self.create_statistics(tx, table, &definition, SampleSize::Default).await?;
                }
            }
        }
        self.update_statistics(tx, table, &update, SampleSize::Default, false).await
    }

    /// A sample has the columns of the definition that the table had when it was read.
    ///
    /// # Errors
    /// 3961 for a table that was altered or dropped since.
    fn check_same_definition(&self, catalog: &Catalog, table: &Table) -> Result<(), SqlError> {
        let now = catalog.table_by_id(table.object_id);
        match now.is_some_and(|now| now.version == table.version) {
            true => Ok(()),
            false => Err(SqlError::snapshot_schema_changed(self.name())),
        }
    }

    /// The statistics of a table with these numbers, those of indexes too that were never updated.
    fn entries_of(&self, catalog: &Catalog, table: &Table, wanted: &[i32]) -> Vec<StatisticsRecord> {
        let own = catalog.statistics_of(table.object_id);
        let of = |stats_id: &i32| {
            if let Some(known) = own.and_then(|own| own.by_id(*stats_id)) {
                return Some(known.clone());
            }
            let index = table.indexes.iter().find(|index| index.index_id == *stats_id)?;
            Some(StatisticsRecord {
                stats_id: *stats_id,
                name: index.name.clone(),
                columns: index.columns.iter().map(|key| key.column).collect(),
                origin: StatisticsOrigin::Index,
                no_recompute: false,
                values: None,
            })
        };
        wanted.iter().filter_map(of).filter(|entry| !entry.columns.is_empty()).collect()
    }

    /// Rows of a table with these columns, and about how many rows it has.
    async fn sample(
        &self,
        tx: &mut Transaction,
        table: &Table,
        columns: &[usize],
        size: SampleSize,
    ) -> Result<(Sample, u64), SqlError> {
        let collations = columns.iter().map(|column| table.columns[*column].collation).collect();
        let mut sample = Sample::new(collations);
        self.begin_statement(tx);
        let read = self.read_sample(tx, table, columns, size, &mut sample).await;
        self.end_statement(tx);
        let share = read?;
        let rows = (sample.seen() as f64 / share).round() as u64;
        Ok((sample, rows))
    }

    /// The share of the table that was read.
    async fn read_sample(
        &self,
        tx: &mut Transaction,
        table: &Table,
        columns: &[usize],
        size: SampleSize,
        sample: &mut Sample,
    ) -> Result<f64, SqlError> {
        let mut scan = table.scan(ScanRange::all(), columns).with_hints(ReadHints::VERSIONS);
        let pages = table.pages_guessed().max(1) as f64;
        let wanted = match size {
            SampleSize::Default => PARTS_DEFAULT as f64 / pages,
            SampleSize::Full => 1.0,
            SampleSize::Share(share) => share,
            SampleSize::Rows(rows) => rows as f64 / (pages * ROWS_OF_PAGE),
        };
        let is_part = wanted < 1.0 || size == SampleSize::Default;
        let parts = match is_part {
            true => self.run(tx, |tx| self.try_cut_finely(tx, table, PAGES_MIN)).await?,
            false => None,
        };
        let Some(parts) = parts else {
            self.offer_all(tx, table, &mut scan, columns.len(), sample).await?;
            return Ok(1.0);
        };
        let count = parts.count();
        let most = ((count as f64 * wanted).ceil() as usize).clamp(1, count);
        let mut read = 0;
        for part in sample.some_parts(count).take(most) {
            parts.restart(table, &mut scan, part);
            sample.begin_part();
            self.offer_all(tx, table, &mut scan, columns.len(), sample).await?;
            read += 1;
            if size == SampleSize::Default && sample.is_full() {
                break;
            }
        }
        Ok(f64::from(read) / count as f64)
    }

    async fn offer_all(
        &self,
        tx: &mut Transaction,
        table: &Table,
        scan: &mut crate::table::TableScan,
        columns: usize,
        sample: &mut Sample,
    ) -> Result<(), SqlError> {
        let mut row = vec![Value::Null; columns];
        while self.run(tx, |tx| self.try_next(tx, table, scan, &mut row)).await? {
            sample.offer(&row);
            scheduler::yield_if_due().await;
        }
        Ok(())
    }

    async fn store_statistics(
        &self,
        tx: &mut Transaction,
        catalog: &mut Catalog,
        statistics: TableStatistics,
    ) -> Result<(), SqlError> {
        let stored = StoredObject::Statistics(statistics.clone());
        if statistics.entries.is_empty() {
            self.remove_rows(tx, stored.row_kind(), stored.stored_id(), 0).await?;
        } else {
            self.store_object(tx, &stored).await?;
        }
        catalog.put_statistics(statistics);
        Ok(())
    }

    /// A table is dropped: its statistics go with it.
    pub(super) async fn forget_statistics(
        &self,
        tx: &mut Transaction,
        catalog: &mut Catalog,
        object_id: i32,
    ) -> Result<(), SqlError> {
        if catalog.statistics_of(object_id).is_none() {
            return Ok(());
        }
        self.store_statistics(tx, catalog, TableStatistics { object_id, entries: Vec::new() }).await
    }

    /// The statistics of a table whose definition becomes `record` and whose columns move; `place` finds the new place of a column.
    pub(super) async fn move_statistics(
        &self,
        tx: &mut Transaction,
        catalog: &mut Catalog,
        record: &TableRecord,
        place: &(dyn Fn(usize) -> Option<usize> + Send + Sync),
    ) -> Result<(), SqlError> {
        let Some(former) = catalog.statistics_of(record.object_id) else { return Ok(()) };
        let moved = former.moved(record, place);
        if moved == **former {
            return Ok(());
        }
        self.store_statistics(tx, catalog, moved).await
    }
}

/// Rows of a page, where a number of rows is asked for.
const ROWS_OF_PAGE: f64 = 50.0;

fn leads(index: &crate::catalog::index::Index, column: usize) -> bool {
    index.columns.first().is_some_and(|key| key.column == column) && index.filter.is_none() && !index.disabled
}

fn statistics_or_none(own: Option<&Arc<TableStatistics>>, object_id: i32) -> TableStatistics {
    own.map_or(TableStatistics { object_id, entries: Vec::new() }, |own| (**own).clone())
}
