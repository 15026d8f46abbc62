//! A scan of an index of a table in memory, a batch of copied rows at a time: nothing of the table is held between batches.

use crossbeam_epoch::Guard;
use pikepole_contention::sync::Arc;

use crate::cell::Cell;
use crate::index::{KeyRange, Position};
use crate::table::{ID_BYTES, MemoryTable, Sight};
use crate::transaction::{Level, MemoryTransaction};

/// Cells of the first batch; each has twice as many as the one before, up to the last.
const CELLS_FIRST: usize = 8;
const CELLS_MAX: usize = 4096;
/// Bytes after which a batch ends.
const BYTES_MAX: usize = 1 << 20;

/// See the module.
#[derive(Debug)]
pub struct MemoryScan {
    index: usize,
    range: KeyRange,
    reverse: bool,
    position: Position,
    is_begun: bool,
    is_ended: bool,
    cells: usize,
    /// It sees all that its transaction has changed, of the running statement too.
    all_own: bool,
    bytes: Vec<u8>,
    /// The ends of each row's name and body in `bytes`.
    rows: Vec<(usize, usize)>,
    next: usize,
}

impl Default for MemoryScan {
    fn default() -> Self {
        Self {
            index: 0,
            range: KeyRange::Equal(Vec::new()),
            reverse: false,
            position: Position::default(),
            is_begun: false,
            is_ended: true,
            cells: CELLS_FIRST,
            all_own: false,
            bytes: Vec::new(),
            rows: Vec::new(),
            next: 0,
        }
    }
}

impl MemoryScan {
    /// Begins again, over a range of an index.
    pub fn restart(&mut self, index: usize, range: KeyRange, reverse: bool) {
        (self.index, self.range, self.reverse) = (index, range, reverse);
        self.position.begun = false;
        (self.is_begun, self.is_ended, self.all_own) = (false, false, false);
        self.cells = CELLS_FIRST;
        self.bytes.clear();
        self.rows.clear();
        self.next = 0;
    }

    /// From now on it sees what the running statement has changed, too.
    pub fn see_all_own(&mut self) {
        self.all_own = true;
    }

    /// The row that the scan is at: its name and its bytes. The scan is at none before the first [`MemoryScan::next_row`].
    pub fn row(&self) -> (&[u8], &[u8]) {
        let at = self.next - 1;
        let start = at.checked_sub(1).map_or(0, |before| self.rows[before].1);
        let (name, body) = self.rows[at];
        (&self.bytes[start..name], &self.bytes[name..body])
    }

    /// Goes to the next row of the batch; false: the batch is used up.
    pub fn next_row(&mut self) -> bool {
        let more = self.next < self.rows.len();
        self.next += usize::from(more);
        more
    }

    /// Copies the next batch; false: there are no more rows.
    pub(crate) fn next_batch(&mut self, tx: &mut MemoryTransaction, table: &Arc<MemoryTable>, level: Level) -> bool {
        if !self.is_begun {
            self.is_begun = true;
            tx.note_scan(table, self.index, &self.range, level);
        }
        self.bytes.clear();
        self.rows.clear();
        self.next = 0;
        let sight = if self.all_own { tx.sight_of_all_own() } else { tx.sight() };
        while self.rows.is_empty() && !self.is_ended {
            let guard = crossbeam_epoch::pin();
            let (range, mut position) = (self.range.clone(), std::mem::take(&mut self.position));
            let (mut left, mut last) = (self.cells, None);
            let index = &table.indexes[self.index].index;
            index.walk(&range, self.reverse, &position, &guard, &mut |cell| {
                self.copy_cell(tx, table, &sight, level, cell, &guard);
                last = Some(cell);
                left -= 1;
                left == 0 || self.bytes.len() >= BYTES_MAX
            });
            self.is_ended = left > 0 && self.bytes.len() < BYTES_MAX;
            if let Some(cell) = last {
                position.begun = true;
                position.key.clear();
                position.key.extend_from_slice(&cell.key);
                position.order = cell.order;
            }
            self.position = position;
            self.cells = (self.cells * 2).min(CELLS_MAX);
        }
        !self.rows.is_empty()
    }

    fn copy_cell(
        &mut self,
        tx: &mut MemoryTransaction,
        table: &MemoryTable,
        sight: &Sight,
        level: Level,
        cell: &Cell,
        guard: &Guard,
    ) {
        for entry in cell.entries(guard) {
            // SAFETY: a linked entry holds its row.
            let row = unsafe { &*entry.row.as_ptr() };
            let Some(version) = sight.version(row, guard) else { continue };
            let Some(body) = version.body.as_deref() else { continue };
            // Another version may be found by this entry, not the one that is seen.
            if !version.entries.get(self.index).is_some_and(|own| std::ptr::eq(own.as_ptr(), entry)) {
                continue;
            }
            // SAFETY: a version's entries are there as long as it is.
            let Some(home) = (unsafe { version.entries[0].as_ref() }).cell(guard) else { continue };
            self.bytes.extend_from_slice(table.indexes[0].group(&home.key));
            self.bytes.extend_from_slice(&row.id.to_be_bytes());
            let name = self.bytes.len();
            self.bytes.extend_from_slice(body);
            self.rows.push((name, self.bytes.len()));
            tx.note_read(row, version, level, guard);
        }
    }
}

const _: () = assert!(ID_BYTES == size_of::<u64>());
