//! A session's transaction in the tables in memory of one database.
//!
//! ```text
//!   begin ── a snapshot: the present time
//!   reads ── versions of the snapshot, and its own; what must hold until the end is noted
//!   writes ─ new versions at the heads of rows; somebody else's at the head, or one from after the snapshot: a conflict, at once
//!   prepare  takes a time; looks again at what it has noted, as of that time
//!   commit ─ says so, in one word that all its versions lead to; then gives them their time, one by one
//! ```
//! Nothing here waits but for a transaction between its time and its end, which is doing nothing else then.

mod commit;
mod point;

use std::cell::Cell;
use std::ptr::NonNull;

use crossbeam_epoch::Guard;
use pikepole_contention::fault::planted;
use pikepole_contention::sync::Arc;
use pikepole_contention::sync::atomic::Ordering;

use crate::guarded::Guarded;
use crate::index::{Fingers, KeyRange};
use crate::node::Node;
use crate::row::{Row, STATEMENT_MAX, Version};
use crate::scan::MemoryScan;
use crate::statistics::Count;
use crate::table::{Keys, LoggedAs, MemoryTable, Refusal, Sight, suffix_of};
use crate::transactions::{Garbage, MemoryTransactions, NO_SNAPSHOT, Snapshot, free_left, retire};
use crate::writer::{State, Writer, Writers};

/// Items that a session's lists keep room for between transactions.
const KEPT: usize = 1024;
/// Tables that are kept from one transaction to the next.
const KEPT_TABLES: usize = 8;

/// The promise of a read about the end of the transaction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Nothing.
    #[default]
    Snapshot,
    /// The rows that it has read are the same then.
    RepeatableRead,
    /// No others have come to what it has looked through, either.
    Serializable,
}

/// The reason for which a transaction cannot commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Invalid {
    /// A row that it has read has changed: error 41305.
    RepeatableRead,
    /// A row has come to a range that it has looked through: error 41325.
    Serializable,
}

/// A change of a row that is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change<'a> {
    /// The row has these bytes from now on, whether it was there or not.
    Put(&'a [u8]),
    /// The row of this key is gone.
    Delete(&'a [u8]),
}

/// A new version at the head of a row.
struct Write {
    /// One of the transaction's tables.
    table: NonNull<MemoryTable>,
    row: NonNull<Row>,
    version: NonNull<Version>,
}

/// A row that the transaction sees, of a table that it keeps: it is there until the transaction ends, or goes back to a mark.
#[derive(Clone, Copy)]
struct Current {
    table: *const MemoryTable,
    id: u64,
    row: NonNull<Row>,
}

/// A version that must be the row's one still.
struct Read {
    row: NonNull<Row>,
    time: u64,
}

/// Keys that were looked through.
struct Scanned {
    table: Arc<MemoryTable>,
    index: usize,
    range: KeyRange,
}

/// See the module.
pub struct MemoryTransaction {
    home: Arc<MemoryTransactions>,
    snapshot: Arc<Snapshot>,
    time: Option<u64>,
    /// The time of its last snapshot.
    last: u64,
    writers: Writers,
    writer: Option<NonNull<Writer>>,
    statement: u64,
    /// The highest position in the log of what it has seen of others, but for rows that it found gone.
    after: u64,
    /// It may have changed rows that are logged.
    logs: bool,
    /// The tables of its writes and reads, and of those of the transactions before it.
    tables: Vec<Arc<MemoryTable>>,
    writes: Vec<Write>,
    reads: Vec<Read>,
    scanned: Vec<Scanned>,
    /// The time that it has got to commit at.
    prepared: Option<u64>,
    /// The reason for which one of its changes was refused, a conflict before others; a conflict, too, if what it has read does not hold.
    refusal: Option<Refusal>,
    /// The row that was read last for changing it.
    current: Option<Current>,
    /// Room for the garbage of a commit.
    garbage: Vec<Garbage>,
}

// SAFETY: its rows and versions stay until it ends, and all that threads do with those is made for many of them.
unsafe impl Send for MemoryTransaction {}
// SAFETY: what can be called by reference reads its own fields, and follows no pointer.
unsafe impl Sync for MemoryTransaction {}

impl std::fmt::Debug for MemoryTransaction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "MemoryTransaction({} writes)", self.writes.len())
    }
}

impl MemoryTransaction {
    pub(crate) fn new(home: Arc<MemoryTransactions>, snapshot: Arc<Snapshot>) -> Self {
        Self {
            home,
            snapshot,
            time: None,
            last: 0,
            writers: Writers::default(),
            writer: None,
            statement: 0,
            after: 0,
            logs: false,
            tables: Vec::new(),
            writes: Vec::new(),
            reads: Vec::new(),
            scanned: Vec::new(),
            prepared: None,
            refusal: None,
            current: None,
            garbage: Vec::new(),
        }
    }

    /// A statement begins: it sees what the ones before it have done.
    pub fn begin_statement(&mut self) {
        self.statement = (self.statement + 1).min(STATEMENT_MAX);
    }

    /// The number of changes so far: a point to go back to.
    pub fn mark(&self) -> usize {
        self.writes.len()
    }

    /// The time of its snapshot, which it takes now if it has none.
    pub fn take_snapshot(&mut self) -> u64 {
        self.begin()
    }

    #[inline]
    fn begin(&mut self) -> u64 {
        match self.time {
            Some(time) => time,
            None => {
                let time = self.home.take(&self.snapshot, self.last);
                self.last = time;
                *self.time.insert(time)
            }
        }
    }

    pub(crate) fn sight(&mut self) -> Sight {
        Sight {
            time: self.begin(),
            writer: self.writer,
            statement: self.statement,
            after: Cell::new(0),
            waits: Cell::default(),
        }
    }

    /// Notes what was seen.
    pub(crate) fn note_seen(&mut self, sight: &Sight) {
        self.after = self.after.max(sight.after.get());
        sight.waits.take().iter().for_each(|spinner| self.home.count_wait(spinner));
    }

    /// What this transaction logs must come behind this position in the log: behind the commits of all that it has seen, and has found gone.
    /// Otherwise a crash could leave it without them, and recovery would do again in another order what was done to one key.
    pub fn after(&self) -> u64 {
        self.after.max(self.home.removed())
    }

    /// The same with what the running statement has changed.
    pub(crate) fn sight_of_all_own(&mut self) -> Sight {
        Sight { statement: u64::MAX, ..self.sight() }
    }

    fn writer(&mut self) -> NonNull<Writer> {
        *self.writer.get_or_insert_with(|| self.writers.take())
    }

    /// Keeps a table until the transaction ends.
    pub(crate) fn keep_table(&mut self, table: &Arc<MemoryTable>) {
        if !self.tables.iter().any(|own| Arc::ptr_eq(own, table)) {
            self.tables.push(table.clone());
        }
    }

    /// Notes what must hold at the end of a row that was read, of a table that is kept.
    pub(crate) fn note_read(
        &mut self,
        row: Guarded<'_, Row>,
        version: Guarded<'_, Version>,
        level: Level,
        guard: &Guard,
    ) {
        if level >= Level::RepeatableRead
            && !version.is_of(self.writer, guard)
            && let Some(time) = version.committed_by(u64::MAX, |spinner| self.home.count_wait(&spinner), guard)
        {
            self.reads.push(Read { row: row.pointer(), time });
        }
    }

    pub(crate) fn note_scan(&mut self, table: &Arc<MemoryTable>, index: usize, range: &KeyRange, level: Level) {
        if level >= Level::Serializable {
            self.scanned.push(Scanned { table: table.clone(), index, range: range.clone() });
        }
    }

    /// Notes a version that was put. The write holds the row, if the version is not its first: the nodes of that do.
    #[inline]
    fn note_write(
        &mut self,
        table: &Arc<MemoryTable>,
        row: NonNull<Row>,
        version: NonNull<Version>,
        body: Option<usize>,
    ) {
        table.count_made(body);
        self.logs |= table.logged.is_some();
        self.keep_table(table);
        // SAFETY: the address of what an `Arc` has is not null.
        let table = unsafe { NonNull::new_unchecked(Arc::as_ptr(table).cast_mut()) };
        self.writes.push(Write { table, row, version });
    }

    /// Puts a version before `newest`, which this transaction has found it may replace; false: somebody else was faster, and the version is
    /// the caller's still.
    fn put_version(
        &mut self,
        table: &Arc<MemoryTable>,
        row: Guarded<'_, Row>,
        newest: Guarded<'_, Version>,
        version: NonNull<Version>,
        body: Option<usize>,
    ) -> bool {
        // SAFETY: the version is the caller's, and no other thread has seen it.
        unsafe { version.as_ref() }.older.store(newest.as_ptr(), Ordering::Relaxed);
        if !row.put(newest.as_ptr(), version) {
            return false;
        }
        row.hold();
        self.note_write(table, row.pointer(), version, body);
        true
    }

    /// Counts a change that was refused.
    #[cold]
    fn note_refusal(&mut self, refusal: Refusal) {
        let counter = match refusal {
            Refusal::Conflict => &self.home.write_conflicts,
            Refusal::Duplicate(_) => &self.home.unique_violations,
        };
        counter.add(1);
        if self.refusal != Some(Refusal::Conflict) {
            self.refusal = Some(refusal);
        }
    }

    /// The head of a row if the transaction may put a version before it: it is its own, or one of its snapshot. None: the row is gone.
    fn writable<'g>(
        &mut self,
        table: &MemoryTable,
        row: Guarded<'g, Row>,
        guard: &'g Guard,
    ) -> Result<Option<Guarded<'g, Version>>, Refusal> {
        let time = self.begin();
        let Some(newest) = row.newest(guard) else { return Ok(None) };
        if !newest.is_of(self.writer, guard) {
            let is_overlooked = planted("memory: changes since the snapshot are overlooked");
            let latest = if is_overlooked { u64::MAX } else { time };
            if newest.committed_by(latest, |spinner| self.home.count_wait(&spinner), guard).is_none() {
                self.note_refusal(Refusal::Conflict);
                table.count_refusal(Refusal::Conflict);
                return Err(Refusal::Conflict);
            }
            self.after = self.after.max(newest.position(guard));
        }
        Ok(newest.body_len().map(|_| newest))
    }

    /// Inserts a row; its number, see [`Keys::name_row`]. The fingers are those of inserts before: keys that ascend are put faster.
    ///
    /// # Errors
    /// A key that is there; a conflict with another transaction about a key. Then the caller goes back to its mark.
    #[inline]
    pub fn insert(
        &mut self,
        table: &Arc<MemoryTable>,
        keys: &Keys,
        body: &[u8],
        fingers: &mut Fingers,
        guard: &Guard,
    ) -> Result<u64, Refusal> {
        self.begin();
        let (id, indexes) = (fingers.next_id(table), &table.indexes);
        if table.has_hash {
            // They come while the row is made.
            table.prefetch_heads(keys);
        }
        let suffix = suffix_of(id);
        let key_len = |at: usize| indexes[at].node_key_len(keys.get(at));
        let key = |at: usize| indexes[at].node_key(keys.get(at), &suffix);
        let row = Row::new(id, self.writer(), self.statement, indexes.len(), body, key_len, key);
        // SAFETY: it was just made; its nodes go with its version, which is the transaction's own.
        let row = unsafe { Guarded::new(row, guard) };
        let Some(version) = row.newest(guard) else { return Ok(id) };
        if table.has_hash {
            table.prefetch_beside(version, guard);
        }
        self.note_write(table, row.pointer(), version.pointer(), Some(body.len()));
        fingers.fit(table);
        for at in 0..indexes.len() {
            // Mostly keys ascend, and there is nothing to look at.
            let append = |node| table.append_node(at, node, fingers.at(at), guard);
            if !version.node(at, guard).is_some_and(append) {
                self.put_nodes(table, version, (at, None), Some(fingers), guard)?;
                break;
            }
        }
        Ok(id)
    }

    /// Puts the nodes of a version into their indexes from the index at `first` on, but for those that a `former` one has.
    fn put_nodes(
        &mut self,
        table: &Arc<MemoryTable>,
        version: Guarded<'_, Version>,
        (first, former): (usize, Option<Guarded<'_, Version>>),
        mut fingers: Option<&mut Fingers>,
        guard: &Guard,
    ) -> Result<(), Refusal> {
        let sight = self.sight();
        for at in first..version.nodes().len() {
            let Some(node) = version.node(at, guard) else { break };
            if former.is_some_and(|former| former.is_found_by(node, at)) {
                continue;
            }
            let mut finger = fingers.as_deref_mut().and_then(|fingers| fingers.at(at));
            if table.append_node(at, node, finger.as_deref_mut(), guard) {
                continue;
            }
            let put = table.put_node(at, node, finger, &sight, guard);
            if let Err(refusal) = put {
                self.note_seen(&sight);
                self.note_refusal(refusal);
                return put;
            }
        }
        self.note_seen(&sight);
        Ok(())
    }

    /// Reads the newest version of a row for changing it. False: the row is gone.
    ///
    /// # Errors
    /// A conflict: another transaction has changed it since the snapshot, or is about to.
    pub fn read_current(&mut self, table: &Arc<MemoryTable>, name: &[u8], body: &mut Vec<u8>) -> Result<bool, Refusal> {
        let guard = crossbeam_epoch::pin();
        self.current = None;
        match table.row(name, &guard) {
            Some(row) => self.hold_current(table, row, body, &guard),
            None => Ok(false),
        }
    }

    /// Makes a row the one that is about to be changed, and copies the bytes of its newest version. False: the row is gone.
    fn hold_current(
        &mut self,
        table: &Arc<MemoryTable>,
        row: Guarded<'_, Row>,
        body: &mut Vec<u8>,
        guard: &Guard,
    ) -> Result<bool, Refusal> {
        let Some(version) = self.writable(table, row, guard)? else { return Ok(false) };
        self.keep_table(table);
        self.current = Some(Current { table: Arc::as_ptr(table), id: row.id, row: row.pointer() });
        body.clear();
        body.extend_from_slice(version.body().unwrap_or_default());
        Ok(true)
    }

    /// The row of a name, for changing it.
    fn row<'g>(&self, table: &'g Arc<MemoryTable>, name: &[u8], guard: &'g Guard) -> Option<Guarded<'g, Row>> {
        let id = name.last_chunk().map(|id| u64::from_be_bytes(*id));
        match self.current {
            Some(Current { table: of, id: own, row }) if of == Arc::as_ptr(table) && Some(own) == id => {
                // SAFETY: its nodes hold the row: they are those of a version of the snapshot, which is in use still, or of the transaction's own.
                Some(unsafe { Guarded::new(row, guard) })
            }
            _ => table.row(name, guard),
        }
    }

    /// Gives a row other values; its name from now on goes to `new_name`. False: the row is gone.
    ///
    /// # Errors
    /// As of [`MemoryTransaction::insert`].
    pub fn update(
        &mut self,
        table: &Arc<MemoryTable>,
        name: &[u8],
        keys: &Keys,
        body: &[u8],
        new_name: &mut Vec<u8>,
    ) -> Result<bool, Refusal> {
        let guard = crossbeam_epoch::pin();
        let Some(row) = self.row(table, name, &guard) else { return Ok(false) };
        loop {
            let Some(version) = self.writable(table, row, &guard)? else { return Ok(false) };
            let new = self.changed(table, row, version, keys, body, &guard);
            let is_put = self.put_version(table, row, version, new, Some(body.len()));
            table.counters.add(Count::Updates, u64::from(is_put));
            // SAFETY: it is the transaction's own, at the head of a row that is held; or no other thread has seen it.
            let new = unsafe { Guarded::new(new, &guard) };
            if !is_put {
                let is_new = |(at, node): &(usize, &NonNull<Node>)| version.nodes().get(*at) != Some(*node);
                for (_, node) in new.nodes().iter().enumerate().filter(is_new) {
                    // SAFETY: it was made for the version that was not put, and is in no index.
                    unsafe { Node::retire(*node, &guard) };
                }
                // SAFETY: no other thread has seen it.
                unsafe { Version::free(new.pointer()) };
                continue;
            }
            keys.name_row(row.id, new_name);
            self.put_nodes(table, new, (0, Some(version)), None, &guard)?;
            return Ok(true);
        }
    }

    /// A version of a row with other values, which is found by the nodes of the former one where the keys are the same.
    fn changed(
        &mut self,
        table: &MemoryTable,
        row: Guarded<'_, Row>,
        former: Guarded<'_, Version>,
        keys: &Keys,
        body: &[u8],
        guard: &Guard,
    ) -> NonNull<Version> {
        let nodes = former.nodes();
        // SAFETY: its nodes are put below.
        let new = unsafe { Version::new(self.writer(), self.statement, nodes.len(), Some(body)) };
        let suffix = suffix_of(row.id);
        for (at, node) in nodes.iter().enumerate() {
            let (index, key) = (&table.indexes[at], keys.get(at));
            let is_same = former.node(at, guard).is_some_and(|node| index.group(node.key()) == key);
            let node = if is_same { *node } else { Node::new(row, index.node_key(key, &suffix)) };
            // SAFETY: no other thread has seen the version, and it has as many.
            unsafe { Version::put_node(new, at, node) };
        }
        new
    }

    /// Deletes a row. False: the row is gone.
    ///
    /// # Errors
    /// A conflict.
    pub fn delete(&mut self, table: &Arc<MemoryTable>, name: &[u8]) -> Result<bool, Refusal> {
        let guard = crossbeam_epoch::pin();
        let Some(row) = self.row(table, name, &guard) else { return Ok(false) };
        loop {
            let Some(version) = self.writable(table, row, &guard)? else { return Ok(false) };
            // SAFETY: it has no nodes.
            let mark = unsafe { Version::new(self.writer(), self.statement, 0, None) };
            if self.put_version(table, row, version, mark, None) {
                return Ok(true);
            }
            // SAFETY: no other thread has seen it.
            unsafe { Version::free(mark) };
        }
    }

    /// Reads the row of a name as the transaction sees it. False: it sees none.
    pub fn read(&mut self, table: &Arc<MemoryTable>, name: &[u8], level: Level, body: &mut Vec<u8>) -> bool {
        let guard = crossbeam_epoch::pin();
        let sight = self.sight();
        let Some(row) = table.row(name, &guard) else { return false };
        let version = sight.version(row, &guard);
        self.note_seen(&sight);
        let Some((version, bytes)) = version.and_then(|version| Some((version, version.body()?))) else { return false };
        body.clear();
        body.extend_from_slice(bytes);
        self.note_read(row, version, level, &guard);
        if level >= Level::RepeatableRead {
            self.keep_table(table);
        }
        true
    }

    /// Makes the commit depend on a row, by its name: it must be the one then that it is now.
    pub fn promise_row(&mut self, table: &Arc<MemoryTable>, name: &[u8]) {
        let guard = crossbeam_epoch::pin();
        let sight = self.sight_of_all_own();
        if let Some(row) = table.row(name, &guard)
            && let Some(version) = sight.version(row, &guard)
        {
            self.note_seen(&sight);
            self.note_read(row, version, Level::RepeatableRead, &guard);
            self.keep_table(table);
        }
    }

    /// Makes the commit depend on keys of an index: no other transaction's row may have come to them by then.
    pub fn promise_none(&mut self, table: &Arc<MemoryTable>, index: usize, range: KeyRange) {
        self.begin();
        self.note_scan(table, index, &range, Level::Serializable);
    }

    /// Undoes what was changed since a mark, and counts that: a statement has failed, or a user goes back to a savepoint.
    pub fn rollback_to_savepoint(&mut self, mark: usize) {
        if self.writes.len() > mark {
            self.home.partial_rollbacks.add(1);
            self.rollback_to(mark);
        }
    }

    /// Undoes what was changed since a mark.
    pub fn rollback_to(&mut self, mark: usize) {
        let undone = self.writes.len().saturating_sub(mark);
        self.current = None;
        self.undo_to(mark, &crossbeam_epoch::pin());
        free_left(undone);
    }

    fn undo_to(&mut self, mark: usize, guard: &Guard) {
        while self.writes.len() > mark {
            let Some(Write { table, row, version }) = self.writes.pop() else { return };
            // SAFETY: the version is the transaction's own, at the head: no other transaction puts one before it; the write holds the row, or the
            // nodes of this version do.
            let (held, own) = unsafe { (Guarded::new(row, guard), Guarded::new(version, guard)) };
            let is_first = own.is_first();
            // SAFETY: the transaction keeps its tables until it ends.
            let table = unsafe { table.as_ref() };
            table.count_let_go(&own);
            held.take_off(&own);
            // SAFETY: it has left the chain.
            unsafe { retire(table, held, own, own.older(guard), guard) };
            if !is_first {
                // SAFETY: the write has held it.
                unsafe { Row::release(row, guard) };
            }
        }
    }

    /// Gives its snapshot back, unless it is bound: what it reads next, it reads as of then.
    pub fn end_reads(&mut self) {
        if self.time.is_some() && !self.is_bound() {
            self.home.reads.add(1);
            self.end();
        }
    }

    /// Undoes all, and ends.
    pub fn rollback(&mut self) {
        if self.refusal == Some(Refusal::Conflict) {
            self.home.system_aborts.add(1);
        }
        if self.refusal.is_some() || !self.writes.is_empty() {
            self.home.aborts.add(1);
        } else if self.time.is_some() {
            self.home.reads.add(1);
        }
        if let Some(writer) = self.writer {
            // SAFETY: the writer is the transaction's own until `end`.
            unsafe { writer.as_ref() }.set(State::Aborted);
        }
        self.rollback_to(0);
        self.end();
    }

    /// Tells if its commit can fail or changes something: it is more than the end of a snapshot.
    pub fn is_bound(&self) -> bool {
        !(self.writes.is_empty() && self.reads.is_empty() && self.scanned.is_empty())
    }

    /// Tells if it has changed something.
    pub fn has_changes(&self) -> bool {
        !self.writes.is_empty()
    }

    /// The time that it has got to commit at, while it is prepared.
    pub fn prepared(&self) -> Option<u64> {
        self.prepared
    }

    /// Tells if it may have changed rows that are logged.
    pub fn logs(&self) -> bool {
        self.logs
    }

    /// Goes through its changes of rows that are logged, from the one of number `from` on, as long as `visit` says so; the number of the next
    /// one. A row that was changed twice is there as it is now, where it was changed last.
    pub fn changes(&self, from: usize, mut visit: impl FnMut(u32, Change<'_>) -> bool) -> usize {
        let guard = crossbeam_epoch::pin();
        for (at, write) in self.writes.iter().enumerate().skip(from) {
            // SAFETY: the transaction keeps its tables until it ends.
            let table = unsafe { write.table.as_ref() };
            let Some(LoggedAs { object, primary }) = table.logged else { continue };
            // SAFETY: the version is the transaction's own; the write holds the row, or the nodes of this version do.
            let (row, version) = unsafe { (Guarded::new(write.row, &guard), Guarded::new(write.version, &guard)) };
            if row.newest(&guard).is_some_and(|newest| newest.pointer() != write.version) {
                continue;
            }
            let change = match version.body() {
                Some(body) => Change::Put(body),
                None => {
                    // The version before a deletion has the nodes of the row.
                    let node = version.older(&guard).and_then(|older| older.node(primary, &guard));
                    let Some(node) = node else { continue };
                    Change::Delete(table.indexes[primary].group(node.key()))
                }
            };
            if !visit(object, change) {
                return at + 1;
            }
        }
        self.writes.len()
    }

    /// The snapshot and what was noted go; the writer too, which nothing leads to.
    fn end(&mut self) {
        self.prepared = None;
        self.refusal = None;
        self.current = None;
        self.time = None;
        self.statement = 0;
        self.after = 0;
        self.logs = false;
        // Release pairs with the load of `ask_oldest`: who finds the snapshot gone comes behind its reads.
        self.snapshot.store(NO_SNAPSHOT, Ordering::Release);
        empty(&mut self.writes);
        empty(&mut self.garbage);
        empty(&mut self.reads);
        self.scanned.clear();
        // The next transaction is mostly about the same tables, and sessions change the count of a table's owners in turns.
        if self.tables.len() > KEPT_TABLES || self.tables.iter().any(|table| table.is_dropped()) {
            self.tables.clear();
        }
        if self.writer.take().is_some() {
            // SAFETY: all its versions have a time or have left their chains.
            unsafe { self.writers.put_back(crossbeam_epoch::pin) };
        }
    }

    /// The session is to wait for its client: it keeps no table in memory that others may drop, unless a transaction is open.
    pub fn rest(&mut self) {
        if self.time.is_none() && !self.is_bound() {
            self.tables.clear();
        }
    }

    /// A scan of a table; see [`MemoryScan`].
    pub fn scan(&mut self, scan: &mut MemoryScan, table: &Arc<MemoryTable>, level: Level) -> bool {
        scan.next_batch(self, table, level)
    }
}

/// Empties a list of a transaction that has ended; the room of a large one is given back.
fn empty<T>(list: &mut Vec<T>) {
    list.clear();
    if list.capacity() > KEPT {
        list.shrink_to(KEPT);
    }
}

impl Drop for MemoryTransaction {
    fn drop(&mut self) {
        self.rollback();
        // SAFETY: the last of its transactions has ended.
        unsafe { self.writers.end() };
        self.home.forget(&self.snapshot);
    }
}
