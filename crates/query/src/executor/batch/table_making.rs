//! How the table of a hash join is made.
//!
//! ```text
//!   large tables      workers read or join parts of them ──► batches with their keys ──► session: all of them, in order
//!   all else          the session reads it, row by row or batch by batch
//! ```
//! The session reads it all, too, where workers find no memory for what they read ([`super::gather`]). Where only the existence of a row
//! is asked for, each key is kept once.

use super::Batch;
use super::gather::{Asked, GatherCursor, Gathered, Gathering};
use super::key_table::{DistinctKeys, KeyTable, KeyTableBuilder, RowKeys};
use super::operator::Operator;
use crate::access::Stop;
use crate::executor::Run;
use crate::executor::spill::Charge;
use crate::plan::Spool;

/// A table on its way.
pub(super) struct PendingTable {
    table: KeyTableBuilder,
    stage: Stage,
    is_distinct: bool,
}

enum Stage {
    /// Nothing was read. Workers could take what this gives.
    Fresh(Option<Box<Operator>>),
    /// Workers are at it.
    Workers(Gathering),
    /// Their batches that are not in the table yet, and the bytes of all.
    Read(std::vec::IntoIter<Gathered>, usize),
    /// The session reads; the keys so far where each is kept once.
    Serial(Operator, Option<Box<DistinctKeys>>),
}

impl PendingTable {
    /// Of the rows of a spool, or of their keys alone.
    pub(super) fn new(spool: &Spool, is_distinct: bool, run: &Run<'_>) -> PendingTable {
        let table = KeyTableBuilder::new(spool.keys.len(), carried(spool, is_distinct, run).into_iter());
        let is_portable = spool.keys.iter().all(|key| key.inner.is_portable());
        let shared = Operator::of_scan(&spool.input).or_else(|| GatherCursor::operator_of(&spool.input));
        PendingTable { table, stage: Stage::Fresh(shared.filter(|_| is_portable).map(Box::new)), is_distinct }
    }

    /// Goes on until all rows are in the table. False: there is no room for it.
    pub(super) fn fill(&mut self, spool: &Spool, charge: &mut Charge, run: &mut Run<'_>) -> Result<bool, Stop> {
        loop {
            self.stage = match &mut self.stage {
                Stage::Fresh(shared) => {
                    let started = match shared {
                        Some(input) => start(input, spool, self.is_distinct, run)?,
                        None => None,
                    };
                    match started {
                        Some(started) => Stage::Workers(started),
                        None => self.serial(spool, run)?,
                    }
                }
                Stage::Workers(gathering) => match gathering.outcome(charge, None, run)? {
                    Some(read) => Stage::Read(read.into_iter(), charge.bytes()),
                    None => self.serial(spool, run)?,
                },
                Stage::Read(read, bytes) => {
                    while self.table.has_room() && charge.settle(run)? {
                        let Some(Gathered { batch, keys, .. }) = read.next() else {
                            charge.remove(*bytes);
                            return Ok(true);
                        };
                        charge.keep(self.table.add(&batch, &keys));
                    }
                    return Ok(false);
                }
                Stage::Serial(rows, distinct) => {
                    while self.table.has_room() && charge.settle(run)? {
                        let table = &mut self.table;
                        let add = |batch: Batch, run: &mut Run<'_>| {
                            let keys =
                                RowKeys::of(spool.keys.iter().map(|key| (&key.inner, key.collation)), &batch, run)?;
                            match distinct {
                                Some(distinct) => {
                                    distinct.add(&keys, batch.rows);
                                    charge.set(distinct.bytes());
                                }
                                None => charge.keep(table.add(&batch, &keys)),
                            }
                            Ok(())
                        };
                        if rows.take(&spool.input, run, add)?.is_none() {
                            if let Some(distinct) = distinct.take() {
                                let (batch, keys) = distinct.into_rows();
                                charge.set(table.add(&batch, &keys));
                            }
                            return Ok(true);
                        }
                    }
                    return Ok(false);
                }
            };
        }
    }

    /// The stage in which the session reads.
    fn serial(&self, spool: &Spool, run: &mut Run<'_>) -> Result<Stage, Stop> {
        let collations = spool.keys.iter().map(|key| key.collation);
        let distinct = self.is_distinct.then(|| Box::new(DistinctKeys::new(collations.collect())));
        Ok(Stage::Serial(Operator::of_all_rows(&spool.input, run)?, distinct))
    }

    /// The table, once it is filled.
    pub(super) fn finish(self) -> KeyTable {
        self.table.finish()
    }
}

/// The slots that the table has columns for.
fn carried(spool: &Spool, is_distinct: bool, run: &Run<'_>) -> Vec<usize> {
    spool.carry.iter().copied().filter(|slot| !is_distinct && run.live.is_carried(*slot)).collect()
}

/// Starts workers over the rows, when they are those of large tables.
fn start(input: &mut Operator, spool: &Spool, is_distinct: bool, run: &mut Run<'_>) -> Result<Option<Gathering>, Stop> {
    let keys = spool.keys.iter().map(|key| (key.inner.clone(), key.collation)).collect();
    let asked = Asked { keys, slots: carried(spool, is_distinct, run), is_distinct };
    Gathering::start((input, &spool.input), asked, run)
}
