//! Rows for a table with keys, a portion at a time: what parallel INSERT ... SELECT fills trees with.
//!
//! ```text
//!   worker ──► Portion (rows as they come) ──► the table, in the order of its key ──► each index, in the order of its own
//! ```
//! In order, a portion goes from leaf to leaf, each of which is looked for once; and where rows come with ascending keys, as
//! numbered rows do, workers that have ranges of their own write to leaves of their own. Each row and each entry of an index is
//! a change of its own, with a log record and an undo entry: nothing about them differs from rows that come one by one.
//!
//! A portion of a [`Fill`] writes to the trees that an empty table is to get, and neither logs nor undoes its rows.
//!
//! A portion belongs to one transaction (as a rule a child, see [`Database::try_begin_children`]) and one table.

use std::ops::Range;
use std::sync::Arc;

use pikepole_scheduler as scheduler;
use pikepole_transaction::{LockMode, TransactionId};
use pikepole_types::{RowError, Value};

use super::{Table, TableWriter, push_uniquifier};
use crate::database::{Database, Fill};
use crate::error::Blocked;
use crate::transaction::Transaction;

/// Rows of a portion, at most. More rows have more neighbours in each leaf; these are in the CPU's caches still.
const ROWS_MAX: usize = 16 * 1024;

/// Rows written between two looks at the quantum.
const ROWS_PER_LOOK: u32 = 32;

/// Rows on their way into a table; see the module. Buffers are kept from portion to portion.
pub struct Portion {
    /// Buffers of rows, of which the first `filled` are this portion's.
    rows: Vec<Vec<Value>>,
    filled: usize,
    columns: usize,
    /// What is being written: the table itself is 0, its indexes follow.
    structure: usize,
    /// The rows in the order of that structure's keys; empty until it is known.
    order: Vec<u32>,
    ordered: bool,
    /// How many of them are written.
    done: usize,
    keys: Keys,
    /// Where each row is; kept for a table with indexes.
    locators: Keys,
    /// The last portion came in the order of the table's key.
    ascends: bool,
    looks: u32,
    writer: TableWriter,
    /// Where the rows go instead of the table as it is.
    fill: Option<Arc<Fill>>,
}

/// A key for each row.
#[derive(Default)]
struct Keys {
    bytes: Vec<u8>,
    of_rows: Vec<Range<usize>>,
}

impl Keys {
    /// No keys yet, for so many rows.
    fn begin(&mut self, rows: usize) {
        self.bytes.clear();
        self.of_rows.clear();
        self.of_rows.resize(rows, 0..0);
    }

    fn of(&self, row: u32) -> &[u8] {
        &self.bytes[self.of_rows[row as usize].clone()]
    }

    fn set(&mut self, row: u32, key: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(key);
        self.of_rows[row as usize] = start..self.bytes.len();
    }
}

impl Portion {
    fn new(table: &Table) -> Portion {
        Portion {
            rows: Vec::new(),
            filled: 0,
            columns: table.columns.len(),
            structure: 0,
            order: Vec::new(),
            ordered: false,
            done: 0,
            keys: Keys::default(),
            locators: Keys::default(),
            ascends: true,
            looks: 0,
            writer: table.writer(),
            fill: None,
        }
    }

    pub(crate) fn of_fill(table: &Table, fill: Arc<Fill>) -> Portion {
        Portion { fill: Some(fill), ..Portion::new(table) }
    }

    /// The row that comes next, to be given its values: one for each column, of its type.
    pub fn add_row(&mut self) -> &mut [Value] {
        if self.filled == self.rows.len() {
            self.rows.push(vec![Value::Null; self.columns]);
        }
        self.filled += 1;
        &mut self.rows[self.filled - 1]
    }

    /// Whether nothing is gained by more rows before these are written.
    pub fn is_due(&self, table: &Table) -> bool {
        let in_order = self.ascends && table.secondary.is_empty();
        self.filled >= ROWS_MAX || (in_order && self.filled > 0)
    }

    /// Puts the rows into the order of the keys of the structure at hand.
    fn arrange(&mut self, table: &Table) -> Result<(), RowError> {
        let rows = &self.rows[..self.filled];
        let mut key = std::mem::take(&mut self.writer.old_key);
        self.order.clear();
        self.keys.begin(rows.len());
        // Rows that go into the table as it is get uniquifiers when they are inserted.
        let of_fill = self.fill.as_ref().filter(|_| table.uniquified && self.structure == 0);
        let first = of_fill.map(|fill| fill.take_counts(rows.len() as u64));
        for (at, row) in (0u32..).zip(rows) {
            key.clear();
            match self.structure.checked_sub(1).map(|index| &table.secondary[index]) {
                None => table.layout.encode_key(|i| &row[i], &mut key)?,
                Some(index) if !index.holds(|i| &row[i]) => continue,
                Some(index) => index.entry_key(|i| &row[i], self.locators.of(at), &mut key)?,
            }
            if let Some(first) = first {
                push_uniquifier(TransactionId::SYSTEM, first + u64::from(at), &mut key);
            }
            self.keys.set(at, &key);
            self.order.push(at);
        }
        self.writer.old_key = key;
        let keys = &self.keys;
        let ascends = self.order.is_sorted_by(|&a, &b| keys.of(a) <= keys.of(b));
        if !ascends {
            // Of equal keys the row that came first is the one that gets in.
            self.order.sort_unstable_by(|&a, &b| keys.of(a).cmp(keys.of(b)).then(a.cmp(&b)));
        }
        if self.structure == 0 {
            self.ascends = ascends;
            self.locators.begin(if table.secondary.is_empty() { 0 } else { rows.len() });
        }
        self.ordered = true;
        self.done = 0;
        Ok(())
    }

    /// Whether others of the scheduler are to run before the next row.
    fn is_to_yield(&mut self) -> bool {
        self.looks = self.looks.wrapping_add(1);
        self.looks.is_multiple_of(ROWS_PER_LOOK) && scheduler::quantum_over()
    }
}

impl Table {
    /// Rows to be inserted a portion at a time.
    pub fn portion(&self) -> Portion {
        Portion::new(self)
    }
}

impl Database {
    /// Inserts the rows of a portion, which is empty then. False: the quantum is over; call again. The same goes for a need: what
    /// was inserted stays, and the next call goes on.
    ///
    /// # Errors
    /// As of [`Database::try_insert`]; the portion is of no use then, and the statement must be rolled back.
    pub fn try_insert_portion(
        &self,
        tx: &mut Transaction,
        table: &Table,
        portion: &mut Portion,
    ) -> Result<bool, Blocked> {
        self.lock_for(tx, table, LockMode::IX)?;
        while portion.structure <= table.secondary.len() {
            if !portion.ordered {
                portion.arrange(table).map_err(|error| self.row_error(tx, table, error))?;
            }
            while let Some(&row) = portion.order.get(portion.done) {
                if portion.is_to_yield() {
                    return Ok(false);
                }
                self.insert_of_portion(tx, table, portion, row)?;
                portion.done += 1;
            }
            portion.structure += 1;
            portion.ordered = false;
        }
        portion.structure = 0;
        portion.filled = 0;
        Ok(true)
    }

    /// Inserts one row into the structure at hand.
    fn insert_of_portion(
        &self,
        tx: &mut Transaction,
        table: &Table,
        portion: &mut Portion,
        row: u32,
    ) -> Result<(), Blocked> {
        if let Some(fill) = &portion.fill {
            let fill = Arc::clone(fill);
            return self.insert_into_fill(tx, table, portion, row, &fill);
        }
        let Portion { rows, writer, locators, structure, .. } = portion;
        let values = &rows[row as usize];
        match structure.checked_sub(1) {
            None => {
                let inserted = self.insert_base(tx, table, writer, values, false)?;
                self.no_duplicate(table, table.clustered_at(), values, inserted)?;
                if !table.secondary.is_empty() {
                    locators.set(row, &writer.key);
                }
                Ok(())
            }
            Some(index) => {
                writer.key.clear();
                writer.key.extend_from_slice(locators.of(row));
                let inserted = self.insert_entry(tx, table, writer, index, values)?;
                self.no_duplicate(table, table.secondary[index].at, values, inserted)
            }
        }
    }

    /// The same for a portion of a fill.
    fn insert_into_fill(
        &self,
        tx: &mut Transaction,
        table: &Table,
        portion: &mut Portion,
        row: u32,
        fill: &Fill,
    ) -> Result<(), Blocked> {
        let Portion { rows, writer, keys, locators, structure, .. } = portion;
        let values = &rows[row as usize];
        let index = structure.checked_sub(1);
        table.check_key(index, values)?;
        let inserted = match index {
            None => {
                writer.old_key.clear();
                let encoded = table.layout.encode_rest(|i| &values[i], &mut writer.old_key);
                encoded.map_err(|error| self.row_error(tx, table, error))?;
                fill.insert(None, &mut writer.cursor, keys.of(row), &writer.old_key)
            }
            Some(at) => fill.insert(index, writer.cursor_of(at), keys.of(row), locators.of(row)),
        };
        if !inserted.map_err(|stop| self.stop(tx, table, stop.into()))? {
            let at = index.map_or_else(|| table.clustered_at(), |at| table.secondary[at].at);
            return Err(self.duplicate(table, at, values).into());
        }
        if index.is_none() && !table.secondary.is_empty() {
            locators.set(row, keys.of(row));
        }
        Ok(())
    }
}
