//! Reading rows of a table as a snapshot sees them: in key order, in heap order, through an index, or one by its key.
//!
//! A scan works on a copy of one leaf at a time; nothing of the store is held between calls. For each row of the copy the
//! version that the snapshot sees is found, and the wanted columns are decoded into the caller's values.

use std::ops::Bound;

use pikepole_storage::{Direction, HeapScan, Rid, RowHeader, ScanRange as StorageRange, TreeScan};
use pikepole_transaction::{LockMode, Seen, Structure, View};
use pikepole_types::{Projection, RowPlaces, SqlError, SqlType, Value};

use super::in_memory::MemoryRows;
use super::newest::{Claim, Copied, Met};
use super::overflow::LongReader;
use super::parts::Part;
use super::read_lock::{ReadHints, Reading};
use super::{Locator, SecondaryIndex, Table};
use crate::database::Database;
use crate::error::Blocked;
use crate::transaction::Transaction;

/// What a scan covers.
#[derive(Debug, Clone)]
pub struct ScanRange {
    /// The index, by its id; None: the clustered index, or the heap.
    pub index: Option<i32>,
    /// The first key, or the first columns of it.
    pub from: Bound<Vec<Value>>,
    /// The last key, or the first columns of it.
    pub to: Bound<Vec<Value>>,
    /// From the last to the first.
    pub reverse: bool,
}

impl ScanRange {
    /// Every row, in the order of the clustered index or of the heap.
    pub fn all() -> Self {
        Self { index: None, from: Bound::Unbounded, to: Bound::Unbounded, reverse: false }
    }
}

pub(super) enum Source {
    Tree(Box<TreeScan>),
    Heap(Box<HeapBatches>),
    Memory(Box<MemoryRows>),
}

/// A scan of a heap that can go back into its last batch.
pub(super) struct HeapBatches {
    pub(super) scan: HeapScan,
    /// The page is copied again: the rows before this one were given.
    from: Option<Rid>,
}

impl HeapBatches {
    /// Goes back to the page, from the row on that was at this position: where it is when the page is copied.
    pub(super) fn copy_again(&mut self, at: usize) -> usize {
        if at >= self.scan.len() {
            return at;
        }
        self.from = Some(self.scan.row(at).rid);
        self.scan.copy_again();
        0
    }

    /// The place of the first row that was not given yet.
    fn begin(&mut self) -> usize {
        let Some(from) = self.from.take() else { return 0 };
        let is_given = |rid: Rid| rid.page == from.page && rid.slot < from.slot;
        self.scan.rows().take_while(|row| is_given(row.rid)).count()
    }
}

/// A scan of a table; kept and reused by a session's compiled statement.
pub struct TableScan {
    pub(super) range: ScanRange,
    pub(super) hints: ReadHints,
    /// The row that was given last was locked for it, and can be given back.
    pub(super) fresh: bool,
    /// Whether the row was there that was read last under a lock.
    pub(super) found: bool,
    /// The part of the whole table that is wanted.
    part: Option<Part>,
    pub(super) projection: Projection,
    /// The columns that it gives.
    pub(super) wanted: Box<[usize]>,
    pub(super) long: LongReader,
    /// The row that the scan is at was not given yet: a long value is on its way.
    pub(super) pending: bool,
    /// Position of the index among the table's secondary ones.
    pub(super) secondary: Option<usize>,
    /// Where the index's entries have all that is wanted in their keys: how it is read from them.
    pub(super) covering: Option<Projection>,
    /// The row that the scan is at is known by its entry in the index: the row itself was not read.
    pub(super) in_entry: bool,
    /// The claimed row that the scan stands before.
    pub(super) claim: Option<Claim>,
    /// The moment of the copy, where the newest rows are read.
    pub(super) copied: Copied,
    pub(super) source: Option<Source>,
    /// The last run's scan of a tree, for its buffers.
    spare: Option<Box<TreeScan>>,
    /// The last scan of rows in memory.
    pub(super) spare_memory: Option<Box<MemoryRows>>,
    /// The bytes that bound it.
    bounds: [Bound<Vec<u8>>; 2],
    /// The next row of the batch.
    pub(super) next: usize,
    pub(super) batch: bool,
    pub(super) locator: Locator,
    pub(super) key: Vec<u8>,
    pub(super) rest: Vec<u8>,
    pub(super) older: Vec<u8>,
    pub(super) name: Vec<u8>,
    /// The rows of the batch that are seen, where columns are read.
    pub(super) places: RowPlaces,
    counted: u64,
}

impl Table {
    /// How columns are read from the entries of an index, if all of them can be.
    pub(super) fn reads_from_entries(&self, index: &SecondaryIndex, wanted: &[usize]) -> Option<Projection> {
        // A key has no negative zero.
        let is_float = |column: &usize| matches!(self.columns[*column].ty, SqlType::Float | SqlType::Real);
        let read = index.entry.projection(wanted);
        (read.is_of_key() && !wanted.iter().any(is_float)).then_some(read)
    }
}

impl TableScan {
    pub(crate) fn new(table: &Table, range: ScanRange, wanted: &[usize]) -> Self {
        let mut scan = Self {
            range: ScanRange::all(),
            hints: ReadHints::default(),
            fresh: false,
            found: false,
            part: None,
            projection: table.layout.projection(wanted),
            wanted: wanted.into(),
            long: LongReader::default(),
            pending: false,
            secondary: None,
            covering: None,
            in_entry: false,
            claim: None,
            copied: Copied::default(),
            source: None,
            spare: None,
            spare_memory: None,
            bounds: [Bound::Unbounded, Bound::Unbounded],
            next: 0,
            batch: false,
            locator: Locator::default(),
            key: Vec::new(),
            rest: Vec::new(),
            older: Vec::new(),
            name: Vec::new(),
            places: RowPlaces::default(),
            counted: 0,
        };
        scan.restart(table, range);
        scan
    }

    /// Reads as table hints say.
    pub fn with_hints(mut self, hints: ReadHints) -> Self {
        self.hints = hints;
        self
    }

    /// Begins again, over `range`; buffers are kept.
    pub fn restart(&mut self, table: &Table, range: ScanRange) {
        let secondary = range.index.and_then(|id| {
            let (at, _) = table.index_of(id)?;
            table.secondary.iter().position(|index| index.at == at)
        });
        if self.secondary != secondary {
            self.secondary = secondary;
            self.covering = secondary.and_then(|at| table.reads_from_entries(&table.secondary[at], &self.wanted));
        }
        self.range = range;
        self.part = None;
        self.rewind();
    }

    /// Begins again, over one part of the whole table.
    pub(super) fn restart_part(&mut self, table: &Table, part: Part) {
        self.restart(table, ScanRange::all());
        self.part = Some(part);
    }

    /// The range, for a caller who fills it for [`restart`](Self::restart): its values' room is used again.
    pub fn take_range(&mut self) -> ScanRange {
        std::mem::replace(&mut self.range, ScanRange::all())
    }

    /// Begins again, over the same range.
    pub fn rewind(&mut self) {
        match self.source.take() {
            Some(Source::Tree(scan)) => self.spare = Some(scan),
            Some(Source::Memory(rows)) => self.spare_memory = Some(rows),
            Some(Source::Heap(_)) | None => {}
        }
        self.pending = false;
        self.next = 0;
        self.batch = false;
        self.fresh = false;
        self.counted = 0;
    }

    /// The row that the last call gave.
    pub fn locator(&self) -> &Locator {
        &self.locator
    }

    pub(super) fn open(&mut self, table: &Table) -> Result<(), pikepole_types::RowError> {
        let (structure, layout) = match self.secondary {
            Some(at) => (&table.secondary[at].structure, &table.secondary[at].layout),
            None => (&table.base, &table.layout),
        };
        self.source = Some(match structure {
            Structure::Heap(heap) => {
                let scan = match &self.part {
                    Some(Part::Extents(extents)) => heap.scan_extents(extents.clone()),
                    _ => heap.scan(),
                };
                Source::Heap(Box::new(HeapBatches { scan, from: None }))
            }
            Structure::Tree(tree) => {
                let [low, high] = &mut self.bounds;
                match &self.part {
                    Some(Part::Keys(from, to)) => (*low, *high) = (from.clone(), to.clone()),
                    _ => {
                        encode_bound_into(layout, &self.range.from, false, low)?;
                        encode_bound_into(layout, &self.range.to, true, high)?;
                    }
                }
                let range = StorageRange {
                    low: low.as_ref().map(|key| key.as_slice()),
                    high: high.as_ref().map(|key| key.as_slice()),
                    direction: if self.range.reverse { Direction::Backward } else { Direction::Forward },
                };
                Source::Tree(match self.spare.take() {
                    Some(mut scan) => {
                        scan.restart(tree, range);
                        scan
                    }
                    None => Box::new(tree.scan(range)),
                })
            }
        });
        self.next = 0;
        self.batch = false;
        Ok(())
    }

    /// The next row of the copy into `key` (or the rid) and `rest`; None: the copy is used up.
    pub(super) fn next_of_batch(&mut self) -> Option<RowHeader> {
        let reverse = self.range.reverse;
        let Self { source, next, key, rest, .. } = self;
        let at = *next;
        let header = match source.as_ref()? {
            Source::Tree(scan) => {
                let last = scan.len().checked_sub(at + 1)?;
                let row = scan.row(if reverse { last } else { at });
                key.clear();
                key.extend_from_slice(row.key);
                rest.clear();
                rest.extend_from_slice(row.rest);
                row.header
            }
            Source::Heap(heap) => {
                if at >= heap.scan.len() {
                    return None;
                }
                let row = heap.scan.row(at);
                key.clear();
                key.extend_from_slice(&row.rid.to_bytes());
                rest.clear();
                rest.extend_from_slice(row.rest);
                row.header
            }
            Source::Memory(_) => return None,
        };
        *next += 1;
        Some(header)
    }

    pub(super) fn next_batch(&mut self) -> Result<bool, pikepole_storage::Stop> {
        let more = match self.source.as_mut() {
            Some(Source::Tree(scan)) => scan.next_batch()?,
            Some(Source::Heap(heap)) => heap.scan.next_batch()?,
            Some(Source::Memory(_)) | None => false,
        };
        self.next = 0;
        self.batch = more;
        Ok(more)
    }

    /// The same, of which the rows are left out that were given before the copy was made again.
    pub(super) fn next_batch_from(&mut self) -> Result<bool, pikepole_storage::Stop> {
        let more = self.next_batch()?;
        if let Some(Source::Heap(heap)) = self.source.as_mut() {
            self.next = heap.begin();
        }
        Ok(more)
    }
}

impl ScanRange {
    /// Whether keys bound it.
    pub(super) fn is_bounded(&self) -> bool {
        !matches!((&self.from, &self.to), (Bound::Unbounded, Bound::Unbounded))
    }
}

/// The bytes that bound a scan. A prefix of a key stands for all keys that begin with it: an inclusive upper bound (or an
/// exclusive lower one) therefore lies behind all of them.
pub(super) fn encode_bound(
    layout: &pikepole_types::RowLayout,
    bound: &Bound<Vec<Value>>,
    upper: bool,
) -> Result<Bound<Vec<u8>>, pikepole_types::RowError> {
    let mut out = Bound::Unbounded;
    encode_bound_into(layout, bound, upper, &mut out)?;
    Ok(out)
}

/// The same in the place of another bound, whose room is used again.
fn encode_bound_into(
    layout: &pikepole_types::RowLayout,
    bound: &Bound<Vec<Value>>,
    upper: bool,
    out: &mut Bound<Vec<u8>>,
) -> Result<(), pikepole_types::RowError> {
    let key = match std::mem::replace(out, Bound::Unbounded) {
        Bound::Included(key) | Bound::Excluded(key) => key,
        Bound::Unbounded => Vec::new(),
    };
    *out = bound_of(layout, bound, upper, key)?;
    Ok(())
}

fn bound_of(
    layout: &pikepole_types::RowLayout,
    bound: &Bound<Vec<Value>>,
    upper: bool,
    mut key: Vec<u8>,
) -> Result<Bound<Vec<u8>>, pikepole_types::RowError> {
    let (values, inclusive) = match bound {
        Bound::Unbounded => return Ok(Bound::Unbounded),
        Bound::Included(values) => (values, true),
        Bound::Excluded(values) => (values, false),
    };
    key.clear();
    layout.encode_key_prefix(values, &mut key)?;
    if inclusive != upper {
        return Ok(if upper { Bound::Excluded(key) } else { Bound::Included(key) });
    }
    // The least key that is greater than all that begin with these bytes.
    while key.pop_if(|last| *last == u8::MAX).is_some() {}
    let Some(last) = key.last_mut() else {
        return Ok(if upper {
            Bound::Unbounded
        } else {
            // Nothing lies behind keys of 0xFF bytes only.
            Bound::Excluded(vec![u8::MAX; super::INDEX_KEY_BYTES_MAX])
        });
    };
    *last += 1;
    Ok(if upper { Bound::Excluded(key) } else { Bound::Included(key) })
}

impl Database {
    /// The next row that the statement sees: its wanted columns go to `out`. False: there are no more.
    ///
    /// # Errors
    /// Needs; damage; a definition that is no longer current.
    pub fn try_next(
        &self,
        tx: &mut Transaction,
        table: &Table,
        scan: &mut TableScan,
        out: &mut [Value],
    ) -> Result<bool, Blocked> {
        if tx.is_elsewhere(table) {
            return tx.elsewhere(table, |database, tx| database.try_next(tx, table, scan, out));
        }
        if scan.pending {
            // The wait may have given the lock back.
            self.lock_for(tx, table, LockMode::SchS)?;
        } else if !self.advance(tx, table, scan)? {
            return Ok(false);
        }
        self.decode(tx, table, scan, out)?;
        Ok(true)
    }

    /// Decodes the row that the scan is at.
    #[inline]
    pub(super) fn decode(
        &self,
        tx: &mut Transaction,
        table: &Table,
        scan: &mut TableScan,
        out: &mut [Value],
    ) -> Result<(), Blocked> {
        if let (true, Some(at), Some(covering)) = (scan.in_entry, scan.secondary, &scan.covering) {
            let decoded = table.secondary[at].entry.decode(&scan.key, &[], covering, out);
            return decoded.map_err(|error| self.place(tx, &table.full_name()).row(&error).into());
        }
        let TableScan { locator, rest, projection, wanted, long, hints, .. } = scan;
        let key = if table.is_heap() { &[][..] } else { &locator.0 };
        match &table.overflow {
            None => {
                let decoded = table.layout.decode(key, rest, projection, out);
                decoded.map_err(|error| self.place(tx, &table.full_name()).row(&error).into())
            }
            Some(overflow) => {
                scan.pending = true;
                let may_be_lost = hints.sees_uncommitted(tx.isolation());
                let read = self.try_decode_wanted(tx, table, overflow, long, (key, rest), (projection, wanted), out)?;
                self.check_read(tx, table, read, may_be_lost)?;
                scan.pending = false;
                Ok(())
            }
        }
    }

    /// Counts the rows that the statement sees in the scan's range, decoding none. The scan keeps what it counted, so that
    /// the next call goes on after a need.
    ///
    /// # Errors
    /// As [`Database::try_next`].
    pub fn try_count(&self, tx: &mut Transaction, table: &Table, scan: &mut TableScan) -> Result<u64, Blocked> {
        if tx.is_elsewhere(table) {
            return tx.elsewhere(table, |database, tx| database.try_count(tx, table, scan));
        }
        while self.advance(tx, table, scan)? {
            scan.counted += 1;
        }
        Ok(scan.counted)
    }

    /// Moves to the next visible row: its locator is in the scan then, and its body, or the key of its entry.
    fn advance(&self, tx: &mut Transaction, table: &Table, scan: &mut TableScan) -> Result<bool, Blocked> {
        scan.in_entry = false;
        if let Some(rows) = &table.in_memory {
            return self.advance_in_memory(tx, table, rows, scan);
        }
        let uncommitted = match scan.hints.reading(&tx.read_rules(), table) {
            Reading::Versions { uncommitted } => uncommitted,
            Reading::Locking(locking) => return self.advance_locked(tx, table, scan, locking),
            Reading::Newest(newest) => {
                let met = self.advance_newest(tx, table, scan, newest)?;
                return self.found_newest(tx, table, scan, met);
            }
        };
        self.lock_for(tx, table, LockMode::SchS)?;
        let view = tx.inner.view_of(uncommitted);
        if scan.source.is_none() {
            scan.open(table).map_err(|error| self.place(tx, &table.full_name()).row(&error))?;
        }
        loop {
            if !scan.batch {
                let more = scan.next_batch();
                if !more.map_err(|stop| self.stop(tx, table, stop.into()))? {
                    return Ok(false);
                }
            }
            let before = scan.next;
            let Some(header) = scan.next_of_batch() else {
                scan.batch = false;
                continue;
            };
            match self.found(tx, table, scan, &view, header) {
                Ok(true) => return Ok(true),
                Ok(false) => continue,
                Err(blocked) => {
                    scan.next = before;
                    return Err(blocked);
                }
            }
        }
    }

    /// Whether the view sees the row in `scan.key` and `scan.rest`; through an index, the table's row is fetched, unless its entry
    /// says all that is wanted. Entries have versions as rows have, and change with them: who sees one sees its row.
    fn found(
        &self,
        tx: &mut Transaction,
        table: &Table,
        scan: &mut TableScan,
        view: &View,
        header: RowHeader,
    ) -> Result<bool, Blocked> {
        let structure = match scan.secondary {
            Some(at) => &table.secondary[at].structure,
            None => &table.base,
        };
        let home = self.transactions();
        let TableScan { key, rest, older, name, .. } = scan;
        match home.resolve(view, structure, key, header, older, name) {
            Seen::Nothing => {
                if header.is_ghost() {
                    home.found_ghost(structure, key, header);
                }
                return Ok(false);
            }
            Seen::Older => std::mem::swap(rest, older),
            Seen::Row => (),
        }
        if scan.secondary.is_none() {
            std::mem::swap(&mut scan.locator.0, &mut scan.key);
            return Ok(true);
        }
        // An entry of an index holds the locator of its row.
        std::mem::swap(&mut scan.locator.0, &mut scan.rest);
        if scan.covering.is_some() {
            scan.in_entry = true;
            return Ok(true);
        }
        self.fetch(tx, table, scan, view)
    }

    /// Reads the row at `scan.locator` into `scan.rest`. False: the view sees none there.
    fn fetch(&self, tx: &Transaction, table: &Table, scan: &mut TableScan, view: &View) -> Result<bool, Blocked> {
        let rest = &mut scan.rest;
        let found = table.base.get(&scan.locator.0, |header, bytes| {
            rest.clear();
            rest.extend_from_slice(bytes);
            header
        });
        let Some(header) = found.map_err(|stop| self.place(tx, &table.full_name()).stop(stop.into()))? else {
            return Ok(false);
        };
        let TableScan { locator, older, name, rest, .. } = scan;
        let home = self.transactions();
        match home.resolve(view, &table.base, &locator.0, header, older, name) {
            Seen::Nothing => Ok(false),
            Seen::Row => Ok(true),
            Seen::Older => {
                std::mem::swap(rest, older);
                Ok(true)
            }
        }
    }

    /// Reads the row of this whole key of the clustered index: its wanted columns go to `out`. False: there is none.
    ///
    /// # Errors
    /// As [`Database::try_next`]; 8624 for a table that has no clustered index, or one whose keys may repeat.
    pub fn try_get(
        &self,
        tx: &mut Transaction,
        table: &Table,
        scan: &mut TableScan,
        key: &[&Value],
        out: &mut [Value],
    ) -> Result<bool, Blocked> {
        if table.is_heap() || table.uniquified {
            let text = "Internal Query Processor Error: the table has no unique key to look rows up by.";
            return Err(SqlError::new(8624, 16, 1, text).into());
        }
        if tx.is_elsewhere(table) {
            return tx.elsewhere(table, |database, tx| database.try_get(tx, table, scan, key, out));
        }
        self.stand_at(tx, table, scan, key)?;
        self.read_at_locator(tx, table, scan, out)
    }

    /// The same, or a claim of another transaction where the scan reads what is newest.
    ///
    /// # Errors
    /// As of [`Database::try_get`].
    pub fn try_get_or_claim(
        &self,
        tx: &mut Transaction,
        table: &Table,
        scan: &mut TableScan,
        key: &[&Value],
        out: &mut [Value],
    ) -> Result<Met, Blocked> {
        if tx.is_elsewhere(table) {
            return tx.elsewhere(table, |database, tx| database.try_get_or_claim(tx, table, scan, key, out));
        }
        let is_keyed = !table.is_heap() && !table.uniquified;
        let Some(newest) = scan.hints.newest(&tx.read_rules(), table).filter(|_| is_keyed) else {
            let found = self.try_get(tx, table, scan, key, out)?;
            return Ok(if found { Met::Row } else { Met::End });
        };
        self.stand_at(tx, table, scan, key)?;
        let met = self.get_newest(tx, table, scan, newest)?;
        if met == Met::Row {
            self.decode(tx, table, scan, out)?;
        }
        Ok(met)
    }

    /// Puts the place of a whole key into the scan's locator.
    fn stand_at(&self, tx: &Transaction, table: &Table, scan: &mut TableScan, key: &[&Value]) -> Result<(), Blocked> {
        scan.locator.0.clear();
        let encoded = table.layout.encode_key_prefix(key.iter().copied(), &mut scan.locator.0);
        Ok(encoded.map_err(|error| self.place(tx, &table.full_name()).row(&error))?)
    }

    /// Reads the row at a place, as the statement sees it, or under the locks that the scan's hints ask for: its wanted columns go to `out`.
    /// False: there is none any more.
    ///
    /// # Errors
    /// As [`Database::try_next`].
    pub fn try_get_at(
        &self,
        tx: &mut Transaction,
        table: &Table,
        scan: &mut TableScan,
        place: &Locator,
        out: &mut [Value],
    ) -> Result<bool, Blocked> {
        if tx.is_elsewhere(table) {
            return tx.elsewhere(table, |database, tx| database.try_get_at(tx, table, scan, place, out));
        }
        scan.locator.0.clone_from(&place.0);
        self.read_at_locator(tx, table, scan, out)
    }

    /// The row at the scan's locator, as the statement sees it or under locks.
    fn read_at_locator(
        &self,
        tx: &mut Transaction,
        table: &Table,
        scan: &mut TableScan,
        out: &mut [Value],
    ) -> Result<bool, Blocked> {
        scan.in_entry = false;
        if let Some(rows) = &table.in_memory {
            let found = self.get_in_memory(tx, table, rows, scan)?;
            if found {
                self.decode(tx, table, scan, out)?;
            }
            return Ok(found);
        }
        let found = match scan.hints.reading(&tx.read_rules(), table) {
            Reading::Versions { uncommitted } => {
                self.lock_for(tx, table, LockMode::SchS)?;
                let view = tx.inner.view_of(uncommitted);
                self.fetch(tx, table, scan, &view)?
            }
            Reading::Locking(locking) => self.get_locked(tx, table, scan, locking)?,
            Reading::Newest(newest) => {
                let met = self.get_newest(tx, table, scan, newest)?;
                self.found_newest(tx, table, scan, met)?
            }
        };
        if found {
            self.decode(tx, table, scan, out)?;
        }
        Ok(found)
    }

    /// Tells if there is a row; a claimed one is waited for.
    fn found_newest(&self, tx: &mut Transaction, table: &Table, scan: &TableScan, met: Met) -> Result<bool, Blocked> {
        match met {
            Met::End => Ok(false),
            Met::Row => Ok(true),
            Met::Claimed(writer) => Err(self.wait_for_claim(tx, table, scan, writer)),
        }
    }
}
