//! Reading a tree in key order, forward or backward.
//!
//! A scan copies the rows of one leaf at a time and holds nothing between two of them: it goes on at the fence where the
//! last leaf ended, wherever that key lives by then. So every row that is there during the whole scan is met exactly once;
//! one that comes or goes meanwhile may be met or not.

use std::ops::Bound;

use super::*;
use crate::copied::CopiedRows;
use crate::error::Need;
use crate::meter;
use crate::page::Page;
use crate::page::inner::Seek;
use crate::read_ahead::ReadAhead;

/// Which way a scan goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Keys ascend.
    Forward,
    /// Keys descend.
    Backward,
}

/// Which keys a scan is for.
#[derive(Clone, Copy, Debug)]
pub struct ScanRange<'a> {
    /// The lower end.
    pub low: Bound<&'a [u8]>,
    /// The upper end.
    pub high: Bound<&'a [u8]>,
    /// Which way.
    pub direction: Direction,
}

impl ScanRange<'_> {
    /// All keys, ascending.
    pub const ALL: ScanRange<'static> =
        ScanRange { low: Bound::Unbounded, high: Bound::Unbounded, direction: Direction::Forward };
}

/// A row as it was when its leaf was copied. Ghosts are rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanRow<'a> {
    /// Flags and last writer.
    pub header: RowHeader,
    /// The key.
    pub key: &'a [u8],
    /// The other columns.
    pub rest: &'a [u8],
}

enum Position {
    Start,
    /// Forward: the leaf that holds this key. Backward: the leaf that holds the keys below it.
    At,
    End,
}

/// Room for copies that a scan keeps when it begins again: that of a leaf.
const KEPT_BYTES: usize = 2 * crate::page::PAGE_BYTES;

/// A scan; see the module.
pub struct TreeScan {
    tree: Tree,
    low: Bound<Vec<u8>>,
    high: Bound<Vec<u8>>,
    direction: Direction,
    position: Position,
    fence: Vec<u8>,
    /// The rows of the last leaf.
    copied: CopiedRows,
    ahead: ReadAhead,
}

impl Tree {
    /// A scan of a range of keys. Nothing is read before [`TreeScan::next_batch`].
    pub fn scan(&self, range: ScanRange<'_>) -> TreeScan {
        let mut scan = TreeScan {
            tree: self.clone(),
            low: Bound::Unbounded,
            high: Bound::Unbounded,
            direction: Direction::Forward,
            position: Position::Start,
            fence: Vec::new(),
            copied: CopiedRows::default(),
            ahead: ReadAhead::new(self.object, 1),
        };
        scan.restart(self, range);
        scan
    }
}

impl TreeScan {
    /// Begins again with another range, of this tree or another; buffers are kept.
    pub fn restart(&mut self, tree: &Tree, range: ScanRange<'_>) {
        if !self.tree.is(tree) {
            self.tree = tree.clone();
        }
        set_bound(&mut self.low, range.low);
        set_bound(&mut self.high, range.high);
        self.direction = range.direction;
        self.position = Position::Start;
        self.ahead = ReadAhead::new(tree.object, 1);
        self.copied.clear();
        self.copied.shrink_to(KEPT_BYTES);
    }

    /// Copies the next rows; `false`: there are none. The rows of the last batch are gone then.
    ///
    /// # Errors
    /// Needs, then call again; a damaged page.
    pub fn next_batch(&mut self) -> Result<bool, Stop> {
        loop {
            self.copied.clear();
            if matches!(self.position, Position::End) {
                return Ok(false);
            }
            let tree = self.tree.clone();
            let guard = match tree.leaf_shared(self.seek()) {
                Err(Stop::Need(Need::Page(page))) if self.direction == Direction::Forward => {
                    return Err(self.ahead.need(&tree.store, page).into());
                }
                leaf => leaf?,
            };
            if matches!(self.position, Position::Start) {
                meter::scans(&tree.store, tree.object);
            }
            self.copy(guard.page());
            self.go_on(guard.page());
            meter::passes(&tree.store, tree.object);
            if !self.is_empty() {
                return Ok(true);
            }
        }
    }

    /// Goes back into the last batch: the next one begins at the row that is `index`-th in key order, or where that
    /// was, as the rows are then.
    ///
    /// # Panics
    /// When the batch has fewer rows.
    pub fn copy_again(&mut self, index: usize) {
        let key = Bound::Included(self.row(index).key.to_vec());
        match self.direction {
            Direction::Forward => self.low = key,
            Direction::Backward => self.high = key,
        }
        self.position = Position::Start;
        self.copied.clear();
    }

    /// The rows of the last batch, in the scan's direction.
    pub fn rows(&self) -> impl Iterator<Item = ScanRow<'_>> {
        let count = self.len();
        let backward = self.direction == Direction::Backward;
        (0..count).map(move |index| self.row(if backward { count - 1 - index } else { index }))
    }

    /// Rows in the last batch.
    pub fn len(&self) -> usize {
        self.copied.rows().len()
    }

    /// Whether the last batch has no rows.
    pub fn is_empty(&self) -> bool {
        self.copied.rows().is_empty()
    }

    /// The `index`-th row of the last batch in key order, whatever the direction.
    ///
    /// # Panics
    /// When the batch has fewer rows.
    pub fn row(&self, index: usize) -> ScanRow<'_> {
        let row = self.copied.rows()[index];
        ScanRow { header: row.header, key: self.copied.key(row), rest: self.copied.rest(row) }
    }

    /// The copy that the last batch is: rows in key order.
    pub fn copied(&mut self) -> &mut CopiedRows {
        &mut self.copied
    }

    fn seek(&self) -> Seek<'_> {
        match (&self.position, self.direction) {
            (Position::At, Direction::Forward) => Seek::At(&self.fence),
            (Position::At, Direction::Backward) => Seek::Before(&self.fence),
            (_, Direction::Forward) => match &self.low {
                Bound::Unbounded => Seek::At(&[]),
                Bound::Included(key) | Bound::Excluded(key) => Seek::At(key),
            },
            (_, Direction::Backward) => match &self.high {
                Bound::Unbounded => Seek::Last,
                Bound::Included(key) => Seek::At(key),
                // Nothing is below the empty key; its own leaf says so as well.
                Bound::Excluded(key) if key.is_empty() => Seek::At(key),
                Bound::Excluded(key) => Seek::Before(key),
            },
        }
    }

    fn copy(&mut self, page: Page<'_>) {
        let from = match &self.low {
            Bound::Unbounded => 0,
            Bound::Included(key) => page.find(key).unwrap_or_else(|slot| slot),
            Bound::Excluded(key) => page.find(key).map_or_else(|slot| slot, |slot| slot + 1),
        };
        let to = match &self.high {
            Bound::Unbounded => page.slots(),
            Bound::Included(key) => page.find(key).map_or_else(|slot| slot, |slot| slot + 1),
            Bound::Excluded(key) => page.find(key).unwrap_or_else(|slot| slot),
        };
        self.copied.copy_leaf(page, from..to);
    }

    /// Moves the position to the neighbour of the leaf that was copied.
    fn go_on(&mut self, page: Page<'_>) {
        let fence = match self.direction {
            Direction::Forward => page.high_fence().filter(|fence| match &self.high {
                Bound::Unbounded => true,
                Bound::Included(key) => *fence <= &key[..],
                Bound::Excluded(key) => *fence < &key[..],
            }),
            Direction::Backward => Some(page.low_fence()).filter(|fence| match &self.low {
                Bound::Unbounded => !fence.is_empty(),
                Bound::Included(key) | Bound::Excluded(key) => *fence > &key[..],
            }),
        };
        self.position = match fence {
            None => Position::End,
            Some(fence) => {
                self.fence.clear();
                self.fence.extend_from_slice(fence);
                Position::At
            }
        };
    }
}

/// Makes a bound this one; the key's room is used again.
fn set_bound(bound: &mut Bound<Vec<u8>>, to: Bound<&[u8]>) {
    let mut kept = match std::mem::replace(bound, Bound::Unbounded) {
        Bound::Included(key) | Bound::Excluded(key) => key,
        Bound::Unbounded => Vec::new(),
    };
    *bound = to.map(|key| {
        kept.clear();
        kept.extend_from_slice(key);
        kept
    });
}
