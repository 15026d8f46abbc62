//! Conditions on all rows of a table, tested a batch at a time.
//!
//! Only the rows that are left come into the slots, one after the other: most of what a scan with a condition costs is for rows that it
//! passes over. Whether the table is large enough for that is known when the first row is asked for.

use std::sync::Arc;

use super::Batch;
use super::evaluate::filter;
use super::scan::ScanRows;
use crate::access::Stop;
use crate::executor::{Counts, Cursor, Making, Run};
use crate::expression::Fault;
use crate::plan::{Node, Scan};

/// The state of filters over a scan.
pub(crate) struct FilteredScan {
    /// Reads a small table, or one whose rows are locked.
    serial: Cursor,
    way: Way,
    /// The counts of the scan.
    counts: Option<Arc<Counts>>,
}

enum Way {
    /// No row was asked for.
    Fresh,
    Rows,
    Batches {
        scan: Box<ScanRows>,
        /// The rows at hand that have passed, and how many of them were given.
        batch: Batch,
        next: usize,
        /// What a condition reported for the row behind them.
        failed: Option<Fault>,
    },
}

impl FilteredScan {
    /// The state of a plan that is filters over a scan of a whole table; for others the cursor that reads them row by row.
    pub(crate) fn of(node: &Node, serial: Cursor, making: Making<'_>) -> Result<FilteredScan, Cursor> {
        let Some((below, _)) = scan_of(node).filter(|_| making.regroups && !making.tells) else { return Err(serial) };
        let counts = making.profile.map(|profile| profile.counts(below));
        Ok(FilteredScan { serial, way: Way::Fresh, counts })
    }

    /// Starts over.
    pub(crate) fn open(&mut self) {
        self.serial.open();
        self.way = Way::Fresh;
    }

    /// See [`Cursor::forget`].
    pub(crate) fn forget(&mut self) {
        self.serial.forget();
        self.way = Way::Fresh;
    }

    /// Moves to the next row.
    pub(crate) fn next(&mut self, node: &Node, run: &mut Run<'_>) -> Result<bool, Stop> {
        let Some((_, plan)) = scan_of(node) else { return Ok(false) };
        loop {
            match &mut self.way {
                Way::Fresh => self.way = way(plan, run)?,
                Way::Rows => return self.serial.give(node, run, |_| Ok(true)),
                Way::Batches { batch, next, .. } if *next < batch.rows => {
                    batch.read(*next, run.slots);
                    *next += 1;
                    return Ok(true);
                }
                Way::Batches { scan, batch, next, failed } => {
                    if let Some(fault) = failed.take() {
                        return Err(fault.into());
                    }
                    let Some(read) = scan.next(plan, run)? else { return Ok(false) };
                    self.counts.iter().for_each(|counts| counts.add_batch(read.rows as u64));
                    (*batch, *failed) = passed(node, &read, run);
                    *next = 0;
                }
            }
        }
    }
}

/// The scan below filters, as a node and as what it is.
fn scan_of(node: &Node) -> Option<(&Node, &Scan)> {
    let Node::Filter { input, .. } = node else { return None };
    match &**input {
        Node::Scan(scan) if scan.is_whole() => Some((&**input, scan)),
        below => scan_of(below),
    }
}

fn way(plan: &Scan, run: &mut Run<'_>) -> Result<Way, Fault> {
    Ok(match ScanRows::is_worth_columns(plan, run)? {
        true => Way::Batches { scan: Box::new(ScanRows::own()), batch: Batch::default(), next: 0, failed: None },
        false => Way::Rows,
    })
}

/// The rows that pass all filters, up to the first one for which a filter has an error: the error is only reported when a row behind
/// them is asked for.
fn passed(node: &Node, read: &Batch, run: &mut Run<'_>) -> (Batch, Option<Fault>) {
    if let Ok(batch) = filtered(node, read.clone(), run) {
        return (batch, None);
    }
    let mut kept = Vec::new();
    for row in 0..read.rows {
        match filtered(node, read.cut(row..row + 1), run) {
            Ok(one) if one.rows == 1 => kept.push(row as u32),
            Ok(_) => {}
            Err(fault) => return (read.take(&kept), Some(fault)),
        }
    }
    (read.take(&kept), None)
}

fn filtered(node: &Node, batch: Batch, run: &mut Run<'_>) -> Result<Batch, Fault> {
    match node {
        Node::Filter { input, predicate } => {
            let batch = filtered(input, batch, run)?;
            filter(predicate, batch, run)
        }
        _ => Ok(batch),
    }
}
