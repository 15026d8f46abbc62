//! Redo: bringing pages to the state of the log, page by page, on several threads.
//!
//! ```text
//!   log reader --> Redo: which page?      --batch--> applier 0: pages with hash 0, in the order of the log
//!                    |    (kind, varints)  --batch--> applier 1: pages with hash 1
//!                    |                         ...
//!                    +-- pages named for the first time --> readers ahead: into the pool
//!                                          few frames free --> writer: dirty pages out
//! ```
//! A record is applied to a page whose lsn is at or below the record's start; otherwise the page has it already. A page
//! that a crash tore was restored from the double-write area when the store was opened, or a record of the redo range
//! rebuilds it as a whole: records before that one are skipped for it. A torn page that is neither is damage: an error, if
//! the page is still in use when redo ends.
//!
//! A page whose rows were not logged ([`Record::UsePage`]) is met here only if its transaction did not commit: a commit waits
//! until the redo start is above; or if its tree's pages were logged as they were in the end. So nothing is redone to it, and what the disk has of it is of no account, until a record
//! rebuilds it for somebody else. Undo takes it out of use. In a restored store there are others, see below.
//!
//! # Pages of log backups
//! Of a store whose redo start lies before the loads of a log that was kept for log backups, the rows that the log
//! lacks are in pages that came with these backups and were put into their places before
//! ([`Master::patched`](crate::Master)). Such a page is as old as its lsn says, as any other, and its rows are all
//! there. So what is logged below is in it, and the record that takes it into use, or makes it anew, must look at it
//! first: it may not throw away what no record brings back.
//!
//! # The rule, and why the end is that of one thread
//! Each page belongs to one applier, and each applier takes its parts in the order of the log. A part is a record about one
//! page, or one change of a structure record. A record that takes a page into use is two parts: the page, and the change
//! of its map page. Records about no page go to nobody.
//!
//! - What applying a part does depends on nothing but the part, its page, and whether that page is noted as torn or not logged; and it
//!   changes nothing but that page and its note. So a page goes through the same states whatever happens to others
//!   meanwhile, and ends as it would with one thread. In particular the parts of a structure record need no common moment:
//!   each tests the lsn of its own page, also when one thread does it all, and one of the pages was on disk already.
//! - One thing is shared: the length of the file, which images may extend. It is a maximum, so the order does not
//!   matter. A page that ends behind the file, however long that is by then, is torn like any other.
//! - Reading ahead and writing out change where a page is, not what it is: a page that is not in the pool is read by
//!   one thread at a time, which others wait for, also one that is to be rebuilt; so no old image comes after a new one.
//! - When a part cannot be applied, its applier stops, and what was dealt out is done by the others. All parts in front
//!   of the one with the lowest LSN among the failed ones were applied: this is where one thread would have stopped,
//!   and the error that is told.
//!
//! A log that is short is applied by the caller's thread; so is every log where threads are not wanted (the simulated disk,
//! whose runs are to be replayed), by the same code.
//!
//! Nothing read here is trusted: a record that does not fit its page is an error that names the page.

mod apply;
mod threads;

use std::collections::HashMap;
use std::sync::Arc;

use pikepole_log::LsnRange;
use pikepole_log::field::RecordError;

use crate::allocation::map_page_of;
use crate::error::{PageId, StorageError};
use crate::fault;
use crate::page::PAGE_BYTES;
use crate::pool::PAGES_MAX;
use crate::records::{ChangeList, Changes, PageChange, Record, RowHead};
use crate::store::Store;
use apply::{Applier, Part};
use threads::{Batch, Threads};

fn bad_record(range: LsnRange, error: &RecordError) -> StorageError {
    StorageError::bad_file("log", format!("the record at {}: {error}", range.start))
}

/// Redo of one store, from its opening to [`Redo::finish`].
pub struct Redo {
    store: Arc<Store>,
    /// See [`Master::patched`](crate::Master::patched).
    patched: bool,
    /// Used when no threads run.
    applier: Applier,
    /// The batch that is being filled for each applier; empty when there are to be no threads.
    filling: Vec<Batch>,
    threads: Option<Threads>,
    seen: Seen,
}

impl Redo {
    /// For a store that was just opened.
    pub fn new(store: &Arc<Store>) -> Redo {
        let appliers = store.redo_threads;
        let filling = (0..appliers).map(|_| Batch::default()).collect();
        let patched = store.master().patched;
        let (store, applier) = (Arc::clone(store), Applier::new(patched));
        Redo { store, patched, applier, filling, threads: None, seen: Seen::default() }
    }

    /// Takes the next record; `record` is kind and payload as the log's reader gives them. In the order of the log, from
    /// [`Master::redo_lsn`](crate::Master::redo_lsn) on. Blocks.
    ///
    /// # Errors
    /// A record that is none of this version, or one, this or an earlier one, that does not fit its page; failed I/O.
    /// Redo is over then.
    pub fn record(&mut self, range: LsnRange, record: &[u8]) -> Result<(), StorageError> {
        let bad = |error: RecordError| bad_record(range, &error);
        if let Some(head) = RowHead::peek(record) {
            return self.deal(range, head.page, Part::Record, record, false);
        }
        match Record::decode(record).map_err(bad)? {
            Record::Structure { changes } => {
                let mut list = Changes::new(changes);
                let mut rest = list.rest();
                while let Some(change) = list.next() {
                    let (page, change) = change.map_err(bad)?;
                    let (bytes, behind) = rest.split_at(rest.len() - list.rest().len());
                    rest = behind;
                    let whole = matches!(change, PageChange::Image(_));
                    self.deal(range, page, Part::Change, bytes, whole)?;
                }
                Ok(())
            }
            Record::FreeExtents { page, .. } => self.deal(range, PageId(page), Part::Record, record, false),
            Record::InsertPage { page, object, .. } | Record::UsePage { page, object, .. } => {
                let page = PageId(page);
                self.deal(range, page, Part::Record, record, true)?;
                let mut of_map = ChangeList::new();
                of_map.use_page(map_page_of(page), page, object);
                self.deal(range, map_page_of(page), Part::Change, of_map.bytes(), false)
            }
            Record::FreePage { page, .. } => self.deal(range, map_page_of(PageId(page)), Part::Record, record, false),
            _ => Ok(()),
        }
    }

    /// Gives a part to the applier of its page. `whole`: what the disk has of the page does not matter.
    fn deal(
        &mut self,
        range: LsnRange,
        page: PageId,
        part: Part,
        bytes: &[u8],
        whole: bool,
    ) -> Result<(), StorageError> {
        if self.filling.is_empty() {
            self.applier.apply(&self.store, range, part, bytes);
            return if self.applier.has_failed() { self.fail() } else { Ok(()) };
        }
        let to = applier_of(page, self.filling.len());
        let is_new = self.seen.is_new(page);
        let batch = &mut self.filling[to];
        batch.push(range, part, bytes);
        if is_new && (!whole || self.patched) {
            batch.wanted.push(page.0);
        }
        if !batch.is_full() {
            return Ok(());
        }
        let batch = std::mem::take(batch);
        let threads = match &mut self.threads {
            Some(threads) => threads,
            none => none.insert(Threads::start(&self.store, self.filling.len(), self.patched)?),
        };
        self.filling[to] = threads.give(to, batch);
        if threads.have_failed() { self.fail() } else { Ok(()) }
    }

    /// The error with which redo ends.
    fn fail(&mut self) -> Result<(), StorageError> {
        self.apply_all().map(|_| ())
    }

    /// Has everything applied that was dealt out. What is left torn.
    fn apply_all(&mut self) -> Result<HashMap<u32, String>, StorageError> {
        let mut ends = Vec::new();
        match self.threads.take() {
            Some(threads) => ends = threads.finish(std::mem::take(&mut self.filling)),
            None => {
                for batch in &self.filling {
                    let mut applier = Applier::new(self.patched);
                    batch.apply(&self.store, &mut applier);
                    ends.push(applier.end());
                }
                ends.push(std::mem::replace(&mut self.applier, Applier::new(self.patched)).end());
            }
        }
        let mut broken = HashMap::new();
        let mut first: Option<(u64, StorageError)> = None;
        for end in ends {
            match end {
                Ok(torn) => broken.extend(torn),
                Err(failed) if first.as_ref().is_none_or(|(lsn, _)| failed.0 < *lsn) => first = Some(failed),
                Err(_) => {}
            }
        }
        first.map_or(Ok(broken), |(_, error)| Err(error))
    }

    /// Ends redo: waits until all records are applied, checks that no page in use is left torn, and reads the allocation
    /// map.
    ///
    /// # Errors
    /// As of [`Redo::record`]; [`StorageError::Corrupt`] for a torn page that nothing rebuilt.
    pub fn finish(mut self) -> Result<(), StorageError> {
        let broken = self.apply_all()?;
        let store = &self.store;
        let bytes = store.file_pages() as u64 * PAGE_BYTES as u64;
        let io = |error| StorageError::io("restoring the data file's length", error);
        if store.data.len().map_err(io)? < bytes {
            store.data.set_len(bytes).map_err(io)?;
        }
        store.load_space()?;
        let mut broken: Vec<(u32, String)> = broken.into_iter().collect();
        broken.sort();
        for (page, why) in broken {
            if store.object_of(PageId(page)).is_some() {
                return Err(StorageError::corrupt(PageId(page), why));
            }
        }
        Ok(())
    }
}

/// The applier that a page belongs to. Neighbours are spread, and so are the pages of the allocation map.
fn applier_of(page: PageId, appliers: usize) -> usize {
    if fault::no_owner() {
        // Whoever comes next.
        use std::cell::Cell;
        thread_local!(static NEXT: Cell<usize> = const { Cell::new(0) });
        return NEXT.replace(NEXT.get() + 1) % appliers;
    }
    (page.0.wrapping_mul(0x9E37_79B1) >> 16) as usize % appliers
}

/// The pages that were named so far.
#[derive(Default)]
struct Seen(Vec<u64>);

impl Seen {
    /// Notes a page. Whether it is named for the first time.
    fn is_new(&mut self, page: PageId) -> bool {
        if page.0 >= PAGES_MAX {
            return false;
        }
        let (word, bit) = ((page.0 / 64) as usize, 1 << (page.0 % 64));
        if word >= self.0.len() {
            self.0.resize((word + 1).next_power_of_two(), 0);
        }
        let is_new = self.0[word] & bit == 0;
        self.0[word] |= bit;
        is_new
    }
}
