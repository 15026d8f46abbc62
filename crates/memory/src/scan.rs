//! A scan of an index of a table in memory, a batch of copied rows at a time: nothing of the table is held between batches.

use crossbeam_epoch::Guard;
use pikepole_contention::sync::Arc;

use crate::guarded::Guarded;
use crate::index::{KeyRange, Position, Wish};
use crate::node::Node;
use crate::table::{ID_BYTES, MemoryTable, Sight};
use crate::transaction::{Level, MemoryTransaction};

/// Nodes of the first batch; each has twice as many as the one before, up to the last.
const NODES_FIRST: usize = 8;
const NODES_MAX: usize = 4096;
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
    nodes: usize,
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
            nodes: NODES_FIRST,
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
        self.range = range;
        self.begin(index, reverse);
    }

    /// Begins again, over one whole key of an index. The key is copied into what the scan has.
    pub fn restart_equal(&mut self, index: usize, key: &[u8]) {
        if let KeyRange::Equal(own) = &mut self.range {
            own.clear();
            own.extend_from_slice(key);
        } else {
            self.range = KeyRange::Equal(key.to_vec());
        }
        self.begin(index, false);
    }

    fn begin(&mut self, index: usize, reverse: bool) {
        (self.index, self.reverse) = (index, reverse);
        self.position.begun = false;
        (self.is_begun, self.is_ended, self.all_own) = (false, false, false);
        self.nodes = NODES_FIRST;
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

    /// The bytes of the batch, in which [`MemoryScan::bodies`] has places.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The begin and the end of each body of the batch that is left, in [`MemoryScan::bytes`].
    pub fn bodies(&self) -> impl Iterator<Item = (usize, usize)> {
        self.rows[self.next..].iter().copied()
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
            if level >= Level::RepeatableRead {
                tx.keep_table(table);
            }
        }
        self.bytes.clear();
        self.rows.clear();
        self.next = 0;
        let sight = if self.all_own { tx.sight_of_all_own() } else { tx.sight() };
        if table.indexes[self.index].shape.unique && matches!(self.range, KeyRange::Equal(_)) {
            self.copy_one(tx, table, &sight, level);
        }
        while self.rows.is_empty() && !self.is_ended {
            let guard = crossbeam_epoch::pin();
            let position = std::mem::take(&mut self.position);
            let range = std::mem::replace(&mut self.range, KeyRange::Equal(Vec::new()));
            let (mut left, mut last) = (self.nodes, None);
            let index = &table.indexes[self.index].index;
            index.walk(&range, self.reverse, &position, &guard, |node| {
                self.copy_row(tx, table, &sight, level, node, &guard);
                last = Some(node);
                left = left.saturating_sub(1);
                if left == 0 || self.bytes.len() >= BYTES_MAX { Wish::KeyEnd } else { Wish::More }
            });
            self.range = range;
            self.position = position;
            self.is_ended = left > 0 && self.bytes.len() < BYTES_MAX;
            if let Some(node) = last {
                self.position.begun = true;
                self.position.key.clear();
                self.position.key.extend_from_slice(node.key());
                self.position.order = node.order;
            }
            self.nodes = (self.nodes * 2).min(NODES_MAX);
        }
        tx.note_seen(&sight);
        !self.rows.is_empty()
    }

    /// Copies the row of one key that no other has, and ends.
    fn copy_one(&mut self, tx: &mut MemoryTransaction, table: &MemoryTable, sight: &Sight, level: Level) {
        if std::mem::replace(&mut self.is_ended, true) {
            return;
        }
        let range = std::mem::replace(&mut self.range, KeyRange::Equal(Vec::new()));
        if let KeyRange::Equal(key) = &range {
            let guard = crossbeam_epoch::pin();
            let index = &table.indexes[self.index].index;
            index.find(key, key.len(), &guard, |node| self.copy_row(tx, table, sight, level, node, &guard));
        }
        self.range = range;
    }

    /// Copies a row that is found by a node; false: the transaction sees none there.
    fn copy_row<'g>(
        &mut self,
        tx: &mut MemoryTransaction,
        table: &MemoryTable,
        sight: &Sight,
        level: Level,
        node: Guarded<'g, Node>,
        guard: &'g Guard,
    ) -> bool {
        let row = node.row(guard);
        let Some(version) = sight.version(row, guard) else { return false };
        let Some(body) = version.body() else { return false };
        // Another version may be found by this node, not the one that is seen.
        if !version.is_found_by(node, self.index) {
            return false;
        }
        let Some(home) = version.node(0, guard) else { return false };
        self.bytes.extend_from_slice(table.indexes[0].group(home.key()));
        self.bytes.extend_from_slice(&row.id.to_be_bytes());
        let name = self.bytes.len();
        self.bytes.extend_from_slice(body);
        self.rows.push((name, self.bytes.len()));
        tx.note_read(row, version, level, guard);
        true
    }
}

const _: () = assert!(ID_BYTES == size_of::<u64>());
