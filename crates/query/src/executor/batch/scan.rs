//! Rows of a table, in batches: a worker is dealt one part of the table after the other, a session's own scan has all of it.

use std::sync::Arc;

use super::vector::Vector;
use super::{BATCH_ROWS, Batch};
use crate::access::{Pace, Stop};
use crate::executor::Run;
use crate::executor::parallel::{Dispenser, Ordinals, SCAN_PAGES_MIN};
use crate::expression::Fault;
use crate::plan::Scan;
use pikepole_engine::{ScanRange, TableParts, TableScan};
use pikepole_types::ColumnReader;

/// A table's rows.
#[derive(Default)]
pub(crate) struct ScanRows {
    /// It is one of several inputs: workers may be worth it though this table is small.
    is_branch: bool,
    /// Made for all workers.
    parts: Option<Arc<TableParts>>,
    /// Where a worker gets its parts from.
    dispenser: Option<Arc<Dispenser>>,
    /// The session reads the whole table itself; none left once it has begun.
    is_own: bool,
    scan: Option<TableScan>,
    /// The part at hand, and how many batches of it were made.
    part: Option<u64>,
    batches: u64,
    /// The last batch, see [`ScanRows::ordinal`].
    last: u64,
    /// The rows of a batch on its way: a column for each that is wanted.
    columns: Vec<ColumnReader>,
    rows: usize,
}

impl ScanRows {
    /// The rows of a branch of UNION ALL.
    pub(crate) fn branch() -> ScanRows {
        ScanRows { is_branch: true, ..ScanRows::default() }
    }

    /// The rows of the whole table, for the session itself.
    pub(crate) fn own() -> ScanRows {
        ScanRows { is_own: true, ..ScanRows::default() }
    }

    /// Whether the session reads a whole table in batches, and not row by row.
    pub(super) fn is_worth_columns(plan: &Scan, run: &mut Run<'_>) -> Result<bool, Fault> {
        let (database, tx) = run.engine()?;
        Ok(database.is_worth_columns(tx, &plan.table.engine, &plan.hints, SCAN_PAGES_MIN))
    }

    pub(crate) fn open(&mut self) {
        // What it has was made for one statement.
        *self = ScanRows { is_branch: self.is_branch, ..ScanRows::default() };
    }

    /// Cuts the table into parts. None when it is too small for workers.
    pub(crate) fn prepare(&mut self, plan: &Scan, run: &mut Run<'_>) -> Result<Option<Ordinals>, Stop> {
        let (database, tx) = run.engine()?;
        // Rows that are locked are read one after the other, by the session itself.
        if !tx.reads_versions(&plan.hints) {
            return Ok(None);
        }
        let mut parts = database.try_cut(tx, &plan.table.engine, SCAN_PAGES_MIN)?;
        let mut worthwhile = PARTS_MIN;
        if self.is_branch && parts.is_none() {
            // However many small tables there are, workers are worth it for another branch only.
            (parts, worthwhile) = (database.try_cut(tx, &plan.table.engine, 0)?, u64::MAX);
        }
        self.parts = parts.map(Arc::new);
        Ok(self.parts.as_ref().map(|parts| {
            let parts = parts.count() as u64;
            Ordinals { batch_bits: BATCH_BITS, ..Ordinals::below(parts, 1, worthwhile) }.loose()
        }))
    }

    /// The same table for a worker, which is dealt its parts.
    pub(crate) fn fork(&self, dispenser: &Arc<Dispenser>) -> ScanRows {
        ScanRows { parts: self.parts.clone(), dispenser: Some(Arc::clone(dispenser)), ..ScanRows::default() }
    }

    /// Tells which of several batches comes first: those of a part behind all of the parts before.
    pub(crate) fn ordinal(&self) -> u64 {
        self.last
    }

    /// The next rows.
    pub(crate) fn next(&mut self, plan: &Scan, run: &mut Run<'_>) -> Result<Option<Batch>, Stop> {
        loop {
            if self.part.is_none() && !self.begin_part(plan) {
                return Ok(None);
            }
            self.read(plan, run)?;
            if self.rows == 0 {
                continue;
            }
            let mut batch = Batch::new(std::mem::take(&mut self.rows));
            for (column, reader) in plan.wanted.iter().zip(self.columns.drain(..)) {
                batch.set(plan.registers.first + column, Vector::of_reader(reader));
            }
            return Ok(Some(batch));
        }
    }

    /// Takes the next part. False: there is none, or nobody wants it any more.
    fn begin_part(&mut self, plan: &Scan) -> bool {
        let table = &plan.table.engine;
        if std::mem::take(&mut self.is_own) {
            self.scan = Some(table.scan(ScanRange::all(), &plan.wanted).with_hints(plan.hints));
            self.part = Some(0);
            return true;
        }
        let (Some(parts), Some(dispenser)) = (&self.parts, &self.dispenser) else {
            return false;
        };
        let dealt = dispenser.take();
        let ordinal = dealt.start << BATCH_BITS;
        if dealt.is_empty() || dispenser.is_past_failure(ordinal) {
            return false;
        }
        let scan = self.scan.get_or_insert_with(|| table.scan(ScanRange::all(), &plan.wanted).with_hints(plan.hints));
        parts.restart(table, scan, dealt.start as usize);
        (self.part, self.batches, self.last) = (Some(dealt.start), 0, ordinal);
        true
    }

    /// Reads pages of the part until their rows are a batch or the part ends.
    fn read(&mut self, plan: &Scan, run: &mut Run<'_>) -> Result<(), Stop> {
        let (Some(part), Some(scan)) = (self.part, &mut self.scan) else {
            return Ok(());
        };
        let table = &plan.table.engine;
        if self.columns.is_empty() {
            self.columns = table.column_readers(&plan.wanted);
            self.last = part << BATCH_BITS | self.batches;
            self.batches += 1;
        }
        let (database, tx) = run.engine()?;
        while self.rows < ROWS_WANTED && self.columns.iter().map(ColumnReader::heap_bytes).sum::<usize>() < BYTES_WANTED
        {
            Pace::page()?;
            match database.try_next_columns(tx, table, scan, &mut self.columns)? {
                Some(rows) => self.rows += rows,
                None => {
                    self.part = None;
                    break;
                }
            }
        }
        Ok(())
    }
}

/// A batch with so many rows takes no further page.
const ROWS_WANTED: usize = BATCH_ROWS / 2;

/// Nor does one with so many bytes of texts and long values.
const BYTES_WANTED: usize = 1 << 20;

/// Parts that are worth workers.
const PARTS_MIN: u64 = 2;

/// Bits of an ordinal that number the batches of a part.
const BATCH_BITS: u32 = 40;
