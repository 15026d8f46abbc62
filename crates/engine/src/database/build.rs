//! Filling a new index by workers: CREATE INDEX, ALTER TABLE ADD PRIMARY KEY and UNIQUE, on a table with many rows.
//!
//! ```text
//!   worker: part of the table ──► entries of each new tree ──► sorted, so many at a time ──► the tree
//! ```
//! The trees are written by all workers at once; what each has in order spares it most descents. As in [`super::rebuild`] the entries are
//! the system's changes, and if the transaction rolls back the trees are given back as a whole, once all workers have ended: their
//! transactions are children of its own.

use std::ops::Range;
use std::sync::Arc;

use pikepole_contention::WaitType;
use pikepole_contention::sync::atomic::{AtomicUsize, Ordering};
use pikepole_scheduler::{self as scheduler, JoinHandle, Placement, TaskInfo};
use pikepole_storage::{InsertOutcome, LogContext, ReadMeter, TreeCursor};
use pikepole_transaction::TransactionId;
use pikepole_types::{RowError, SqlError, Value};

use super::Database;
use super::unlogged::NewTrees;
use crate::error::worker_lost;
use crate::table::{Copied, ReadHints, ScanRange, Table, TableParts};
use crate::transaction::Transaction;

/// A table of fewer pages is read by the session's own task, and what is made of its rows is logged: there is little to win. The
/// tables of this crate's tests are not so large.
pub(super) const PAGES_MIN: usize = if cfg!(test) { 16 } else { 128 };

/// Entries of a tree that a worker sorts at once.
const ENTRIES_MAX: usize = 64 * 1024;

/// Uniquifiers of a part are counted from its number times this.
const COUNTS_OF_PART: u64 = 1 << 36;

/// Who fills a new index: on each of these schedulers one worker.
pub(crate) struct Builders<'a> {
    pub database: &'a Arc<Database>,
    pub schedulers: &'a [usize],
}

/// What the workers share.
struct Build {
    database: Arc<Database>,
    old: Arc<Table>,
    new: Arc<Table>,
    parts: TableParts,
    /// The next part that nobody has.
    next: AtomicUsize,
    /// The least part that failed; those beyond it are not wanted.
    failed: AtomicUsize,
    trees: NewTrees,
    /// Counts what the workers read, if the statement has one.
    meter: Option<ReadMeter>,
}

/// Entries of one tree.
struct Entries {
    /// The position of the index among the table's other indexes; None: the clustered one.
    index: Option<usize>,
    bytes: Vec<u8>,
    places: Vec<Place>,
    cursor: TreeCursor,
}

/// Where key and rest of an entry are.
struct Place {
    key: Range<usize>,
    rest: Range<usize>,
}

impl Entries {
    fn new(index: Option<usize>) -> Entries {
        Entries { index, bytes: Vec::new(), places: Vec::new(), cursor: TreeCursor::new() }
    }

    fn push(&mut self, key: &[u8], rest: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(key);
        let middle = self.bytes.len();
        self.bytes.extend_from_slice(rest);
        self.places.push(Place { key: start..middle, rest: middle..self.bytes.len() });
    }

    fn sort(&mut self) {
        let bytes = &self.bytes;
        self.places.sort_unstable_by(|a, b| bytes[a.key.clone()].cmp(&bytes[b.key.clone()]));
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.places.clear();
    }
}

/// What a worker leaves: its transaction, and the part that failed and why.
type Left = (Transaction, Result<(), (usize, SqlError)>);

/// The workers of a build. Dropping them ends them.
struct Workers(Vec<JoinHandle<Left>>);

impl Drop for Workers {
    fn drop(&mut self) {
        self.0.iter().for_each(JoinHandle::cancel);
    }
}

impl Builders<'_> {
    /// Copies every row of `old` that the transaction sees into the trees of `new` that `old` does not have. False: it is not
    /// for workers, and nothing was done.
    ///
    /// # Errors
    /// 1505 for keys that are there twice; 1105, 9002 when there is no room.
    pub async fn fill(&self, tx: &mut Transaction, old: &Arc<Table>, new: &Arc<Table>) -> Result<bool, SqlError> {
        let database = self.database;
        let base_is_new = old.base.object() != new.base.object();
        // Values that outgrow their rows are copied one after the other.
        if self.schedulers.len() < 2 || (base_is_new && new.overflow.is_some()) {
            return Ok(false);
        }
        database.begin_statement(tx);
        let Some(parts) = database.run(tx, |tx| database.try_cut(tx, old, PAGES_MIN)).await? else {
            return Ok(false);
        };
        let count = self.schedulers.len().min(parts.count());
        let children = database.run(tx, |tx| database.try_begin_children(tx, count, false)).await?;
        let build = Arc::new(Build {
            database: Arc::clone(database),
            old: Arc::clone(old),
            new: Arc::clone(new),
            parts,
            next: AtomicUsize::new(0),
            failed: AtomicUsize::new(usize::MAX),
            trees: NewTrees::of(old, new, database.may_fill_unlogged(old)),
            meter: ReadMeter::current(),
        });
        let info = TaskInfo { session_id: Some(tx.session_id()), command: "CREATE INDEX" };
        let start = |(child, &on)| scheduler::spawn_worker(info, Placement::On(on), Arc::clone(&build).work(child));
        let mut workers = Workers(children.into_iter().zip(self.schedulers).map(start).collect());
        let (mut children, mut failure) = (Vec::new(), None);
        for worker in &mut workers.0 {
            let failed = match scheduler::wait(WaitType::CXCONSUMER, worker).await {
                Ok((child, result)) => {
                    children.push(child);
                    result.err()
                }
                Err(_) => Some((0, worker_lost())),
            };
            let first = failed.into_iter().chain(failure.take());
            failure = first.min_by_key(|(part, _)| *part);
        }
        database.merge_children(tx, children);
        database.end_statement(tx);
        if let Some((_, error)) = failure {
            return Err(error);
        }
        database.settle(tx, &build.trees).await?;
        Ok(true)
    }
}

impl Build {
    async fn work(self: Arc<Self>, mut child: Transaction) -> Left {
        let mut at = 0;
        let filled = self.fill(&mut child, &mut at);
        let result = match &self.meter {
            Some(meter) => meter.awaiting(filled).await,
            None => filled.await,
        };
        if result.is_err() {
            self.failed.fetch_min(at, Ordering::Relaxed);
        }
        (child, result.map_err(|error| (at, error)))
    }

    /// Puts the rows of one part after the other into the trees; `at` is the last one.
    async fn fill(&self, child: &mut Transaction, at: &mut usize) -> Result<(), SqlError> {
        let Build { database, old, parts, .. } = self;
        let wanted: Vec<usize> = (0..old.columns.len()).collect();
        let mut scan = old.scan(ScanRange::all(), &wanted).with_hints(ReadHints::VERSIONS);
        let mut row: Vec<Value> = wanted.iter().map(|_| Value::Null).collect();
        let base = self.trees.base().map(|_| None);
        let indexes = (0..self.new.secondary.len()).filter(|at| self.trees.index(*at).is_some());
        let mut trees: Vec<Entries> = base.into_iter().chain(indexes.map(Some)).map(Entries::new).collect();
        let (mut locator, mut key) = (Vec::new(), Vec::new());
        loop {
            let part = self.next.fetch_add(1, Ordering::Relaxed);
            if part >= parts.count() || part > self.failed.load(Ordering::Relaxed) {
                break;
            }
            *at = part;
            database.run(child, |tx| database.try_meet_family(tx)).await?;
            let mut uniquifiers = Copied::new(old, part as u64 * COUNTS_OF_PART);
            parts.restart(old, &mut scan, part);
            while database.run(child, |tx| database.try_next(tx, old, &mut scan, &mut row)).await? {
                locator.clear();
                locator.extend_from_slice(scan.locator().as_bytes());
                trees.iter().try_for_each(|tree| self.new.check_key(tree.index, &row))?;
                let taken = self.take(&row, &mut uniquifiers, &mut locator, &mut key, &mut trees);
                taken.map_err(|error| database.place(child, &self.new.full_name()).row(&error))?;
                if trees.iter().any(|tree| tree.places.len() >= ENTRIES_MAX) {
                    self.write(child, &mut trees).await?;
                }
                scheduler::yield_if_due().await;
            }
        }
        self.write(child, &mut trees).await
    }

    /// Makes the entries of a row, which is at `locator` so far.
    fn take(
        &self,
        row: &[Value],
        uniquifiers: &mut Copied<'_>,
        locator: &mut Vec<u8>,
        key: &mut Vec<u8>,
        trees: &mut [Entries],
    ) -> Result<(), RowError> {
        let new = &self.new;
        for tree in trees {
            match tree.index.map(|at| &new.secondary[at]) {
                None => {
                    key.clear();
                    if new.uniquified {
                        uniquifiers.put(row, locator, key)?;
                    }
                    locator.clear();
                    new.layout.encode_key(|i| &row[i], locator)?;
                    locator.append(key);
                    new.layout.encode_rest(|i| &row[i], key)?;
                    tree.push(locator, key);
                }
                Some(index) if index.holds(|i| &row[i]) => {
                    index.entry_key(|i| &row[i], locator, key)?;
                    tree.push(key, locator);
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// Puts the entries into their trees.
    async fn write(&self, child: &mut Transaction, trees: &mut [Entries]) -> Result<(), SqlError> {
        let Build { database, new, .. } = self;
        let context = LogContext::new(TransactionId::SYSTEM.0);
        for entries in trees {
            entries.sort();
            let Entries { index, bytes, places, cursor } = entries;
            let tree = match index {
                Some(at) => self.trees.index(*at),
                None => self.trees.base(),
            };
            let tree = tree.expect("entries are of new trees");
            for Place { key, rest } in places.iter() {
                let (key, rest) = (&bytes[key.clone()], &bytes[rest.clone()]);
                let inserted = database.run(child, |tx| {
                    let inserted = tree.insert(cursor, &context, key, rest);
                    inserted.map_err(|stop| database.stop(tx, new, stop.into()))
                });
                if let InsertOutcome::Exists(_) = inserted.await? {
                    return Err(self.twice(child, *index, key).await?);
                }
                scheduler::yield_if_due().await;
            }
            entries.clear();
        }
        Ok(())
    }

    /// Error 1505 for a key that is there already. Its text is in a row, which is looked for.
    async fn twice(&self, child: &mut Transaction, index: Option<usize>, twice: &[u8]) -> Result<SqlError, SqlError> {
        let Build { database, old, new, .. } = self;
        let wanted: Vec<usize> = (0..old.columns.len()).collect();
        let mut scan = old.scan(ScanRange::all(), &wanted).with_hints(ReadHints::VERSIONS);
        let mut row: Vec<Value> = wanted.iter().map(|_| Value::Null).collect();
        let mut key = Vec::new();
        while database.run(child, |tx| database.try_next(tx, old, &mut scan, &mut row)).await? {
            key.clear();
            let encoded = match index.map(|at| &new.secondary[at]) {
                None => new.layout.encode_key(|i| &row[i], &mut key),
                Some(index) if index.holds(|i| &row[i]) => index.entry_key(|i| &row[i], &[], &mut key),
                Some(_) => continue,
            };
            encoded.map_err(|error| database.place(child, &new.full_name()).row(&error))?;
            if key == twice {
                break;
            }
            scheduler::yield_if_due().await;
        }
        let at = match index {
            Some(at) => new.secondary[at].at,
            None => new.indexes.iter().position(|index| index.clustered).unwrap_or_default(),
        };
        let index = &new.indexes[at];
        let text = new.key_text(index, |i| &row[i]);
        Ok(SqlError::duplicate_key_at_create(new.full_name(), &index.name, text))
    }
}
