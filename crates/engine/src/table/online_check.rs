//! Checking a table while it is in use: its rows, its long values, and its indexes against its rows.
//!
//! ```text
//!   one snapshot:   rows ──► a sum of hashes for each index: of the entries that there should be
//!                   index ─► a sum of hashes of the entries that there are
//! ```
//! Rows and entries are read as a statement reads them, so nobody waits for the check, and it finds what its snapshot has.
//! The sums are small however large the table is. Only where they differ is the index read again, with a hash of each entry
//! in memory, to tell which rows and entries do not belong together.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use pikepole_transaction::Structure;
use pikepole_types::{SqlError, Value};

use super::{ReadHints, ScanRange, SecondaryIndex, Table, TableScan};
use crate::database::Database;
use crate::error::Interrupted;
use crate::transaction::Transaction;

/// Rows between two calls of the watch.
const ROWS_PER_LOOK: u64 = 256;
/// Findings of one table, at most.
const FINDINGS_MAX: usize = 200;

/// What a check calls now and then, with the rows and entries that it has read since: an error ends it.
pub type CheckWatch<'a> = &'a mut (dyn FnMut(u64) -> Result<(), SqlError> + Send);

/// What a check has seen of one table.
#[derive(Debug, Default)]
pub struct TableCheck {
    /// Rows of the snapshot.
    pub rows: u64,
    /// What is wrong.
    pub findings: Vec<TableFinding>,
}

/// What is wrong with a table.
#[derive(Debug, Clone, PartialEq)]
pub enum TableFinding {
    /// A row, a value beside it or a page cannot be read; what comes behind it in this index was not looked at.
    Unreadable {
        /// The index, or 0 for a heap.
        index_id: i32,
        /// Why.
        why: String,
    },
    /// A key is not above the one before it.
    OutOfOrder {
        /// The index.
        index_id: i32,
    },
    /// A row has no entry in an index.
    NoEntry {
        /// The index.
        index_id: i32,
        /// The columns of the row's key and of the index, with their values.
        row: String,
    },
    /// An entry of an index leads to no row that it belongs to.
    NoRow {
        /// The index.
        index_id: i32,
        /// The columns of the index with their values.
        entry: String,
    },
}

impl TableFinding {
    /// The finding in words, for people.
    pub(crate) fn text(&self, table: &Table) -> String {
        let index = |index_id: i32| {
            let index = table.indexes.iter().find(|index| index.index_id == index_id);
            index.map_or_else(|| "its heap".to_owned(), |index| format!("index {}", index.name))
        };
        let what = match self {
            TableFinding::Unreadable { index_id, why } => {
                format!("not all of {} can be read: {why}", index(*index_id))
            }
            TableFinding::OutOfOrder { index_id } => format!("keys of {} are out of order", index(*index_id)),
            TableFinding::NoEntry { index_id, row } => format!("{} has no entry for the row {row}", index(*index_id)),
            TableFinding::NoRow { index_id, entry } => {
                format!("{} has an entry without a row: {entry}", index(*index_id))
            }
        };
        format!("{}: {what}", table.full_name())
    }
}

/// The entries of one index as they are counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Sum {
    entries: u64,
    hashes: u64,
}

impl Sum {
    fn add(&mut self, hash: u64) {
        self.entries += 1;
        self.hashes = self.hashes.wrapping_add(hash);
    }
}

fn hash_of(key: &[u8], locator: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    (key, locator).hash(&mut hasher);
    hasher.finish()
}

/// A reading of the table's rows, or of the entries of one index, by one snapshot.
struct Sweep<'a> {
    database: &'a Database,
    tx: &'a mut Transaction,
    table: &'a Table,
    watch: &'a mut (dyn FnMut(u64) -> Result<(), SqlError> + Send),
    check: TableCheck,
}

impl Database {
    /// Checks a table as the running statement of `tx` sees it; without `indexes` only its rows and their long values.
    ///
    /// # Errors
    /// What ends a statement, but for damage, which is a [`TableFinding`]; what `watch` ends with; a definition that is no
    /// longer current.
    pub async fn check_table(
        &self,
        tx: &mut Transaction,
        table: &Table,
        indexes: bool,
        watch: CheckWatch<'_>,
    ) -> Result<TableCheck, Interrupted> {
        let mut sweep = Sweep { database: self, tx, table, watch, check: TableCheck::default() };
        let secondary = if indexes { &table.secondary[..] } else { &[] };
        let mut wanted = vec![Sum::default(); secondary.len()];
        let mut key = Vec::new();
        let read_all = sweep
            .rows(|_, scan, row| {
                for (index, sum) in secondary.iter().zip(&mut wanted) {
                    if index.holds(|column| &row[column])
                        && index.entry_key(|column| &row[column], &scan.locator.0, &mut key).is_ok()
                    {
                        sum.add(hash_of(&key, &scan.locator.0));
                    }
                }
            })
            .await?;
        for (index, wanted) in secondary.iter().zip(wanted) {
            let mut there = Sum::default();
            let whole = sweep.entries(index, |_, scan| there.add(hash_of(&scan.key, &scan.locator.0))).await?;
            if read_all && whole && there != wanted {
                sweep.differences(index).await?;
            }
        }
        Ok(sweep.check)
    }
}

impl Sweep<'_> {
    fn find(&mut self, finding: TableFinding) {
        if self.check.findings.len() < FINDINGS_MAX {
            self.check.findings.push(finding);
        }
    }

    /// Whether an error is damage, which then is noted.
    fn is_damage(&mut self, index_id: i32, error: &SqlError) -> bool {
        let damage = matches!(error.number, 823 | 824);
        if damage {
            self.find(TableFinding::Unreadable { index_id, why: error.message.clone() });
        }
        damage
    }

    /// Reads all rows whole, in the order of their keys; false: damage was in the way.
    async fn rows(&mut self, mut each: impl FnMut(&mut Self, &TableScan, &[Value])) -> Result<bool, Interrupted> {
        let index_id = self.table.base_index_id();
        let columns: Vec<usize> = (0..self.table.columns.len()).collect();
        let mut scan = self.table.scan(ScanRange::all(), &columns).with_hints(ReadHints::VERSIONS);
        let mut row = vec![Value::Null; columns.len()];
        let ordered = matches!(self.table.base, Structure::Tree(_));
        let (mut last, mut rows) = (Vec::new(), 0);
        loop {
            let (database, table) = (self.database, self.table);
            let next = database.drive(self.tx, |tx| database.try_next(tx, table, &mut scan, &mut row)).await;
            match next {
                Ok(true) => {}
                Ok(false) => break,
                Err(Interrupted::Error(error)) if self.is_damage(index_id, &error) => return Ok(false),
                Err(interrupted) => return Err(interrupted),
            }
            rows += 1;
            if ordered {
                self.judge_order(index_id, rows, &mut last, &scan.locator.0);
            }
            each(self, &scan, &row);
            self.look(rows).await?;
        }
        (self.watch)(rows % ROWS_PER_LOOK)?;
        self.check.rows = rows;
        Ok(true)
    }

    /// Reads all entries of an index; false: damage was in the way.
    async fn entries(
        &mut self,
        index: &SecondaryIndex,
        mut each: impl FnMut(&mut Self, &TableScan),
    ) -> Result<bool, Interrupted> {
        let index_id = self.table.indexes[index.at].index_id;
        let range = ScanRange { index: Some(index_id), ..ScanRange::all() };
        // Entries of in-memory tables are the rows themselves.
        let in_memory = self.table.is_in_memory();
        let columns: Vec<usize> = (0..if in_memory { self.table.columns.len() } else { 0 }).collect();
        let mut row = vec![Value::Null; columns.len()];
        let mut scan = self.table.scan(range, &columns).with_hints(ReadHints::VERSIONS);
        let (mut last, mut entries) = (Vec::new(), 0);
        loop {
            let (database, table) = (self.database, self.table);
            let next = database.drive(self.tx, |tx| database.try_next(tx, table, &mut scan, &mut row)).await;
            match next {
                Ok(true) => {}
                Ok(false) => break,
                Err(Interrupted::Error(error)) if self.is_damage(index_id, &error) => return Ok(false),
                Err(interrupted) => return Err(interrupted),
            }
            entries += 1;
            if in_memory {
                self.judge_order_in_memory(index, entries, &mut last, &row);
                // One that cannot be made is none of the row's.
                let _ = index.entry_key(|column| &row[column], &scan.locator.0, &mut scan.key);
            } else {
                self.judge_order(index_id, entries, &mut last, &scan.key);
            }
            each(self, &scan);
            self.look(entries).await?;
        }
        (self.watch)(entries % ROWS_PER_LOOK)?;
        Ok(true)
    }

    fn judge_order(&mut self, index_id: i32, number: u64, last: &mut Vec<u8>, key: &[u8]) {
        if number > 1 && last.as_slice() >= key {
            self.find(TableFinding::OutOfOrder { index_id });
        }
        last.clear();
        last.extend_from_slice(key);
    }

    /// The same for a row of an in-memory table: a hash index has no order, and in others equal keys may repeat.
    fn judge_order_in_memory(&mut self, index: &SecondaryIndex, number: u64, last: &mut Vec<u8>, row: &[Value]) {
        let definition = &self.table.indexes[index.at];
        let mut key = Vec::new();
        if definition.hash.is_some() || index.layout.encode_key(|column| &row[column], &mut key).is_err() {
            return;
        }
        if number > 1 && *last > key {
            self.find(TableFinding::OutOfOrder { index_id: definition.index_id });
        }
        *last = key;
    }

    /// Lets others run, and the watch look, now and then.
    async fn look(&mut self, number: u64) -> Result<(), Interrupted> {
        if number.is_multiple_of(ROWS_PER_LOOK) {
            (self.watch)(ROWS_PER_LOOK)?;
            pikepole_scheduler::yield_if_due().await;
        }
        Ok(())
    }

    /// Which rows have no entry, and which entries have no row.
    async fn differences(&mut self, index: &SecondaryIndex) -> Result<(), Interrupted> {
        let definition = &self.table.indexes[index.at];
        let index_id = definition.index_id;
        let mut entries = HashSet::new();
        self.entries(index, |_, scan| {
            entries.insert(hash_of(&scan.key, &scan.locator.0));
        })
        .await?;
        let mut key = Vec::new();
        self.rows(|sweep, scan, row| {
            let holds = index.holds(|column| &row[column])
                && index.entry_key(|column| &row[column], &scan.locator.0, &mut key).is_ok();
            if holds && !entries.remove(&hash_of(&key, &scan.locator.0)) {
                let row = sweep.row_text(index, row);
                sweep.find(TableFinding::NoEntry { index_id, row });
            }
        })
        .await?;
        self.entries(index, |sweep, scan| {
            if entries.contains(&hash_of(&scan.key, &scan.locator.0)) {
                let entry = sweep.entry_text(index, &scan.key);
                sweep.find(TableFinding::NoRow { index_id, entry });
            }
        })
        .await?;
        Ok(())
    }

    /// The values of a row's key and of an index's columns.
    fn row_text(&self, index: &SecondaryIndex, row: &[Value]) -> String {
        let clustered = self.table.clustered().into_iter().flat_map(|clustered| &clustered.columns);
        let of_index = self.table.indexes[index.at].columns.iter();
        let mut columns: Vec<usize> = Vec::new();
        for key in clustered.chain(of_index) {
            if !columns.contains(&key.column) {
                columns.push(key.column);
            }
        }
        self.values_text(&columns, |at| &row[columns[at]])
    }

    /// The values that the key of an entry has; its bytes where they do not tell.
    fn entry_text(&self, index: &SecondaryIndex, key: &[u8]) -> String {
        let columns: Vec<usize> = self.table.indexes[index.at].columns.iter().map(|key| key.column).collect();
        let projection = index.entry.projection(&columns);
        let mut values = vec![Value::Null; columns.len()];
        if projection.is_of_key() && index.entry.decode(key, &[], &projection, &mut values).is_ok() {
            return self.values_text(&columns, |at| &values[at]);
        }
        let digits: String = key.iter().map(|byte| format!("{byte:02X}")).collect();
        format!("0x{digits}")
    }

    fn values_text<'v>(&self, columns: &[usize], value: impl Fn(usize) -> &'v Value) -> String {
        let shown = columns.iter().enumerate().map(|(at, column)| {
            let column = &self.table.columns[*column];
            let value = value(at);
            if value.is_null() {
                return format!("{} = NULL", column.name);
            }
            format!("{} = '{}'", column.name, pikepole_types::to_text(value, &column.ty))
        });
        shown.collect::<Vec<String>>().join(" and ")
    }
}
