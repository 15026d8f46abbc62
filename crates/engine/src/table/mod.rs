//! A table as statements use it: its definition, its trees and heaps, the codec of its rows.
//!
//! ```text
//!   clustered:  tree  key -> rest                      nonclustered:  tree  index key -> locator
//!               (a key that may repeat has a uniquifier at its end)
//!   heap:       rid -> rest (all columns)                             (a locator is the clustered key, or a rid)
//! ```
//!
//! A [`Table`] belongs to one version of the catalog. What all versions of one table share (its lock, its identity values)
//! is in its [`TableState`].

mod bulk;
mod check;
mod columns;
mod ignored;
mod in_memory;
mod long;
mod moved;
mod newest;
mod online_check;
mod overflow;
mod parts;
mod portion;
mod read_lock;
mod reference;
mod row_place;
mod scan;
mod state;
mod uniquifier;
mod uses;
mod writer;

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;

use pikepole_memory::TableSlot;
use pikepole_storage::{Heap, PageId, ReadMeter, Reads, Store, Tree};
use pikepole_transaction::{RID_BYTES, Structure};
use pikepole_types::{ColumnType, KeyColumn, Length, RowError, RowLayout, SqlError, SqlType, Value};

use crate::catalog::definition::{Column, StorageRef, TableRecord};
use crate::catalog::filter::{ConstantLayout, RowTest};
use crate::catalog::index::{Index, IndexColumn};
use crate::database::limits;
use crate::temporary::Residence;
pub use bulk::BulkWriter;
pub use ignored::Placed;
pub(crate) use in_memory::KeyColumns;
pub use in_memory::{KeyLookup, MadeRow, MemoryUse, RowRecipe};
pub use newest::Met;
pub use online_check::{CheckWatch, TableCheck, TableFinding};
use overflow::Overflow;
pub(crate) use overflow::can_outgrow;
pub use parts::TableParts;
pub use portion::Portion;
pub(crate) use read_lock::ReadRules;
pub use read_lock::{ReadHints, ReadLevel, ReadMode};
pub use reference::Reference;
pub use row_place::{RowPlace, lock_description};
pub use scan::{ScanRange, TableScan};
pub(crate) use state::{IdentityValues, TableState};
use uniquifier::UNIQUIFIER_BYTES_MAX;
pub(crate) use uniquifier::{Copied, Counts, push_uniquifier};
pub(crate) use uses::IndexUses;
pub use uses::{IndexUse, UseCount, UseCounter};
pub use writer::{Locator, RowCount, TableWriter};

/// Bytes of the encoded columns of a clustered key, at most: values of 900 bytes take up to twice as many.
pub(crate) const CLUSTERED_KEY_BYTES_MAX: usize = 1_840;
/// Bytes of an entry's encoded key, with the locator behind it where it has one, at most.
pub(crate) const INDEX_KEY_BYTES_MAX: usize = pikepole_storage::KEY_BYTES_MAX;

/// An index whose entries lead to the table's rows.
pub(crate) struct SecondaryIndex {
    /// Position in the table's list of indexes.
    pub at: usize,
    pub structure: Structure,
    pub layout: RowLayout,
    /// Of an entry's whole key: where it ends with the row's locator, the columns of the clustered index are in it too.
    pub entry: RowLayout,
    pub unique: bool,
    /// Rows with NULL in one of these columns have no entry.
    not_null: Vec<usize>,
    /// Nor have rows that do not pass these tests.
    tests: Vec<RowTest>,
}

impl SecondaryIndex {
    /// Whether the row has an entry.
    #[inline]
    pub fn holds<'v>(&self, row: impl Fn(usize) -> &'v Value) -> bool {
        self.not_null.iter().all(|column| !row(*column).is_null())
            && self.tests.iter().all(|test| test.holds(row(test.column)))
    }

    /// Puts the key of the entry that leads from `row` to the row at `locator` into `key`.
    pub fn entry_key<'v>(
        &self,
        row: impl Fn(usize) -> &'v Value,
        locator: &[u8],
        key: &mut Vec<u8>,
    ) -> Result<(), RowError> {
        key.clear();
        self.layout.encode_key(row, key)?;
        if !self.unique {
            key.extend_from_slice(locator);
        }
        Ok(())
    }
}

/// What a meter has counted for a table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TableReads {
    /// Of its rows and its indexes.
    pub rows: Reads,
    /// Of the values that are kept beside rows.
    pub long: Reads,
    /// How many trees and heaps the meter had met before one of these.
    pub met: usize,
}

/// A table of one catalog version.
pub struct Table {
    record: TableRecord,
    pub(crate) residence: Residence,
    pub(crate) version: u64,
    pub(crate) state: Arc<TableState>,
    pub(crate) base: Structure,
    pub(crate) layout: RowLayout,
    /// Keys of the clustered index may repeat: each ends with a uniquifier.
    pub(crate) uniquified: bool,
    pub(crate) secondary: Vec<SecondaryIndex>,
    pub(crate) overflow: Option<Overflow>,
    /// Rows may be left out of an INSERT: an index has IGNORE_DUP_KEY.
    pub(crate) ignores_duplicates: bool,
    /// The rows of an in-memory table: its storage has none.
    pub(crate) in_memory: Option<Arc<TableSlot>>,
}

impl Deref for Table {
    type Target = TableRecord;

    fn deref(&self) -> &TableRecord {
        &self.record
    }
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Table({} version {})", self.full_name(), self.version)
    }
}

impl Table {
    /// The version: no other definition of the table, committed or not, has the same.
    pub fn version(&self) -> u64 {
        self.version
    }

    pub(crate) fn new(record: TableRecord, version: u64, state: Arc<TableState>, store: &Arc<Store>) -> Table {
        Self::with_structures(record, version, state, None, |at, of_parts| open_storage(store, at, of_parts))
    }

    /// The same table as one of a session's own.
    pub(crate) fn with_residence(mut self, residence: Residence) -> Table {
        self.residence = residence;
        self
    }

    /// The table as a session reaches it that uses another database than the one with this id, where it is.
    pub fn seen_from_elsewhere(&self, database: i32) -> Table {
        self.same().with_residence(Residence::Other(database))
    }

    /// The same version of the table once more.
    pub(crate) fn same(&self) -> Table {
        let (state, rows) = (self.state.clone(), self.in_memory.clone());
        Self::with_structures(self.record.clone(), self.version, state, rows, |at, _| {
            let own = self.structures().find(|structure| structure.object() == at.object);
            own.cloned().unwrap_or_else(|| unreachable!("a table has handles of all its storage"))
        })
        .with_residence(self.residence)
    }

    /// Every tree and heap of the table.
    pub(crate) fn structures(&self) -> impl Iterator<Item = &Structure> {
        let indexes = self.secondary.iter().map(|index| &index.structure);
        indexes.chain([&self.base]).chain(self.overflow.as_ref().map(|overflow| &overflow.structure))
    }

    /// The id of the heap or of the clustered index.
    pub fn base_index_id(&self) -> i32 {
        self.clustered().map_or(0, |index| index.index_id)
    }

    /// Whether all of these columns can be read from the entries of an index.
    pub fn covers(&self, index_id: i32, wanted: &[usize]) -> bool {
        let index = self.index_of(index_id).and_then(|(at, _)| self.secondary.iter().find(|index| index.at == at));
        index.is_some_and(|index| self.reads_from_entries(index, wanted).is_some())
    }

    /// A plan whose runs `counter` counts uses an index, or the heap, which is 0.
    pub fn tell_use(&self, index_id: i32, how: IndexUse, counter: &Arc<dyn UseCounter>) {
        self.state.uses.add(index_id, how, counter);
    }

    /// How the indexes were used since the database was opened.
    pub fn index_uses(&self) -> BTreeMap<(i32, IndexUse), UseCount> {
        self.state.uses.totals()
    }

    /// What a meter has counted for it; None: nothing was read.
    pub fn reads(&self, meter: &ReadMeter) -> Option<TableReads> {
        let long = self.overflow.as_ref().and_then(|overflow| meter.of(overflow.structure.read_key()));
        let indexes = self.secondary.iter().map(|index| &index.structure);
        let rows = indexes.chain([&self.base]).filter_map(|structure| meter.of(structure.read_key()));
        let (mut counted, mut sum) = (None, TableReads::default());
        for (met, reads) in rows {
            sum.rows += reads;
            counted = Some(counted.map_or(met, |first: usize| first.min(met)));
        }
        if let Some((met, reads)) = long {
            sum.long = reads;
            counted = Some(counted.map_or(met, |first| first.min(met)));
        }
        counted.map(|met| TableReads { met, ..sum })
    }

    /// Tells if its rows are there after a restart.
    pub(crate) fn outlives_restart(&self) -> bool {
        let is_emptied = self.record.memory.is_some_and(|memory| !memory.is_durable());
        !self.residence.is_session() && !is_emptied
    }

    /// Where the table lives.
    pub fn residence(&self) -> Residence {
        self.residence
    }

    /// The next version of `former`: trees and heaps that both have keep their handles.
    pub(crate) fn succeeding(former: &Table, record: TableRecord, version: u64, store: &Arc<Store>) -> Table {
        let rows = former.kept_rows(&record);
        Self::with_structures(record, version, former.state.clone(), rows, |at, of_parts| {
            let kept = former.structures().find(|structure| structure.object() == at.object);
            kept.cloned().unwrap_or_else(|| open_storage(store, at, of_parts))
        })
        .with_residence(former.residence)
    }

    fn with_structures(
        record: TableRecord,
        version: u64,
        state: Arc<TableState>,
        former_rows: Option<Arc<TableSlot>>,
        open: impl Fn(StorageRef, bool) -> Structure,
    ) -> Table {
        let clustered = record.clustered();
        let base = match (clustered, record.heap) {
            (Some(index), _) => open(index.storage, false),
            (None, Some(heap)) => open(heap, false),
            (None, None) => unreachable!("a table has a heap or a clustered index"),
        };
        let uniquified = clustered.is_some_and(|index| !index.unique);
        let layout = layout(&record, clustered.map_or(&[], |index| &index.columns));
        let layout = if record.overflow.is_some() { layout.marked() } else { layout };
        let layout = match record.is_in_memory() {
            true => layout,
            false => limits::with_row_limit(layout, &record.columns).with_key_limit(limits::key_bytes_max(true)),
        };
        let overflow = record.overflow.map(|at| Overflow::new(open(at, true), &record));
        let secondary = record
            .indexes
            .iter()
            .enumerate()
            .filter(|(_, index)| !index.clustered && !index.disabled)
            .map(|(at, index)| SecondaryIndex {
                at,
                structure: open(index.storage, false),
                layout: self::layout(&record, &index.columns).with_key_limit(limits::key_bytes_max(false)),
                entry: match clustered.filter(|_| !index.unique) {
                    Some(clustered) => self::layout(&record, &[&index.columns[..], &clustered.columns].concat()),
                    None => self::layout(&record, &index.columns),
                },
                unique: index.unique,
                not_null: index.not_null.clone(),
                tests: index.tests.iter().map(|test| RowTest::new(test, layout.columns()[test.column])).collect(),
            })
            .collect();
        let residence = Residence::default();
        let ignores_duplicates = record.live_indexes().any(|index| index.ignores_duplicates);
        let new_rows = || Arc::new(TableSlot::new(in_memory::rows_of(&record)));
        let in_memory = record.is_in_memory().then(|| former_rows.unwrap_or_else(new_rows));
        Table {
            residence,
            version,
            state,
            base,
            layout,
            uniquified,
            secondary,
            overflow,
            ignores_duplicates,
            in_memory,
            record,
        }
    }

    /// Bytes to count on for a key whose columns take so many: with a uniquifier of any length, since another try has another.
    pub(crate) fn key_room(&self, columns: usize) -> usize {
        columns + if self.uniquified { UNIQUIFIER_BYTES_MAX } else { 0 }
    }

    /// Checks that the values of a row's key are not too long, in the clustered index or in a secondary one.
    ///
    /// # Errors
    /// 1946.
    #[inline]
    pub(crate) fn check_key(&self, secondary: Option<usize>, row: &[Value]) -> Result<(), SqlError> {
        let layout = secondary.map_or(&self.layout, |at| &self.secondary[at].layout);
        match layout.key_excess(|i| &row[i]) {
            None => Ok(()),
            Some(excess) => Err(self.key_too_long(secondary, excess)),
        }
    }

    #[cold]
    fn key_too_long(&self, secondary: Option<usize>, (bytes, bytes_max): (usize, usize)) -> SqlError {
        let index = &self.indexes[secondary.map_or_else(|| self.clustered_at(), |at| self.secondary[at].at)];
        SqlError::key_too_long(
            bytes,
            &index.name,
            bytes_max,
            if index.clustered { "clustered" } else { "nonclustered" },
        )
    }

    /// The position of the clustered index among the table's indexes.
    pub(crate) fn clustered_at(&self) -> usize {
        self.record.indexes.iter().position(|index| index.clustered).unwrap_or_default()
    }

    /// Whether an INSERT may leave rows out: an index has IGNORE_DUP_KEY.
    pub fn ignores_duplicates(&self) -> bool {
        self.ignores_duplicates
    }

    /// The definition.
    pub fn definition(&self) -> &TableRecord {
        &self.record
    }

    /// The definition, to be changed and stored anew.
    pub(crate) fn record(&self) -> &TableRecord {
        &self.record
    }

    /// The name of its schema.
    pub fn schema(&self) -> &str {
        &self.record.schema
    }

    /// About how many pages its rows are in, without its indexes and long values: cheap, for guesses.
    pub fn pages_guessed(&self) -> u64 {
        self.pages_in_memory().unwrap_or_else(|| self.base.pages_guessed())
    }

    /// Counts rows that a statement has changed: see [`Table::changes`].
    #[inline]
    pub fn count_changes(&self, rows: u64) {
        self.state.count_changes(rows);
    }

    /// Rows that statements have changed since the database was opened, those of rolled back ones too: statistics are brought up to
    /// date by it.
    pub fn changes(&self) -> u64 {
        self.state.changes()
    }

    /// The codec of its rows.
    pub fn row_layout(&self) -> &RowLayout {
        &self.layout
    }

    /// The bytes of a constant as tests of filtered indexes have them; None: it is not of the column's type.
    pub fn constant_bytes(&self, column: usize, value: &Value) -> Option<Vec<u8>> {
        ConstantLayout::new(self.layout.columns()[column]).bytes(value).ok()
    }

    /// Cursors and buffers for changing the table; kept by a session's compiled statement.
    pub fn writer(&self) -> TableWriter {
        TableWriter::new(self.columns.len())
    }

    /// A scan of `range` that gives the columns `wanted`, in that order; kept by a session's compiled statement.
    pub fn scan(&self, range: ScanRange, wanted: &[usize]) -> TableScan {
        TableScan::new(self, range, wanted)
    }

    /// Whether it has CHECK or FOREIGN KEY constraints that are enabled.
    pub fn has_constraints(&self) -> bool {
        self.checks.iter().any(|check| !check.disabled) || self.foreign_keys.iter().any(|key| !key.disabled)
    }

    /// Which of its secondary indexes have trees that a former version has not.
    pub(crate) fn new_indexes(&self, former: &Table) -> Vec<usize> {
        let is_new = |at: &usize| {
            let object = self.secondary[*at].structure.object();
            former.storages().all(|storage| storage.object != object)
        };
        (0..self.secondary.len()).filter(is_new).collect()
    }

    pub(crate) fn index_of(&self, index_id: i32) -> Option<(usize, &Index)> {
        self.record.indexes.iter().enumerate().find(|(_, index)| index.index_id == index_id)
    }

    /// The key of the row in the clustered index, as error texts show it.
    pub(crate) fn key_text<'v>(&self, index: &Index, row: impl Fn(usize) -> &'v Value) -> String {
        let texts: Vec<String> = index
            .columns
            .iter()
            .map(|key| {
                let value = row(key.column);
                if value.is_null() {
                    return "<NULL>".to_owned();
                }
                pikepole_types::to_text(value, &self.record.columns[key.column].ty)
            })
            .collect();
        format!("({})", texts.join(", "))
    }
}

/// Opens a tree or heap of a table; `of_parts`: the heap of its long values.
pub(crate) fn open_storage(store: &Arc<Store>, at: StorageRef, of_parts: bool) -> Structure {
    match at.root {
        None if of_parts => Structure::Heap(Heap::open_parts(store, at.object)),
        Some(root) => Structure::Tree(Tree::open(store, at.object, PageId(root), at.key_bytes_max.into())),
        None => Structure::Heap(Heap::open(store, at.object)),
    }
}

/// How constants of a column are laid out.
pub(crate) fn constant_layout(record: &TableRecord, column: usize) -> ConstantLayout {
    ConstantLayout::new(layout(record, &[]).columns()[column])
}

fn layout(record: &TableRecord, key: &[IndexColumn]) -> RowLayout {
    let columns: Vec<ColumnType> = record
        .columns
        .iter()
        .map(|column| ColumnType { ty: column.ty, nullable: column.nullable, collation: column.collation })
        .collect();
    let key: Vec<KeyColumn> =
        key.iter().map(|column| KeyColumn { column: column.column, descending: column.descending }).collect();
    RowLayout::new(&columns, &key)
}

/// Bytes of an encoded key of these columns at most: what a tree is created for.
pub(crate) fn key_bytes_max(record: &TableRecord, columns: &[IndexColumn], clustered: bool, unique: bool) -> u16 {
    let cap = if clustered { CLUSTERED_KEY_BYTES_MAX } else { INDEX_KEY_BYTES_MAX };
    let own: usize = columns.iter().map(|key| column_key_bytes_max(&record.columns[key.column])).sum();
    let behind = match record.clustered() {
        _ if unique => 0,
        _ if clustered => UNIQUIFIER_BYTES_MAX,
        Some(index) => usize::from(index.storage.key_bytes_max),
        None => RID_BYTES,
    };
    (own.min(cap) + behind).min(INDEX_KEY_BYTES_MAX) as u16
}

/// Bytes of one column in a key at most; strings take room for weights, escapes and an end.
fn column_key_bytes_max(column: &Column) -> usize {
    let string = |units: usize| units * column.collation.comparing(&column.ty).key_bytes_per_unit() + 8;
    match &column.ty {
        SqlType::Char(n) | SqlType::NChar(n) | SqlType::Binary(n) => string(usize::from(*n)),
        SqlType::VarChar(length) | SqlType::NVarChar(length) | SqlType::VarBinary(length) => match length {
            Length::Limit(n) => string(usize::from(*n)),
            Length::Max => INDEX_KEY_BYTES_MAX,
        },
        SqlType::Variant => INDEX_KEY_BYTES_MAX,
        _ => 24,
    }
}

/// Whether a column of this type can be in a key.
pub(crate) fn can_be_key(ty: &SqlType) -> bool {
    !ty.is_max()
}
