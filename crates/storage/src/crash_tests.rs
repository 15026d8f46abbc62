//! Crashes at many points of a workload: whatever the disk kept, recovery must come to exactly the state that the log
//! describes, on sound pages. Then the same with faults planted, which must be noticed.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use std::sync::Arc;

use pikepole_contention::{Statistics, slot};
use pikepole_log::{Log, LogRecord, Lsn, LsnRange};
use pikepole_machine::{Disk, SimulatedDisk};

use crate::fault::{Fault, plant};
use crate::records::Record;
use crate::test_support::{FOLDER, Fixture, LOG_FOLDER, Random, Rows, context, log_options, store_options};
use crate::{
    BulkPages, ChangeOutcome, EXTENT_PAGES, EncodedRows, Heap, InsertOutcome, LogContext, MAP_EXTENTS, PAGES_FILE,
    PageId, Redo, Rid, RowHeader, ScanRange, Stop, StorageError, Store, StoreOptions, TornPages, Tree, TreeCursor,
};

const TREE: u32 = 20;
const HEAP: u32 = 21;
const DROPPED: u32 = 22;
const FRAMES: usize = 64;
const KEY_BYTES: usize = 24;
const SLOTS: [usize; 3] = [30, 31, 32];

/// What the workload did last, to go on from.
struct Work {
    fixture: Fixture,
    tree: Tree,
    heap: Heap,
    keys: BTreeMap<Vec<u8>, RowHeader>,
    rids: BTreeMap<Rid, RowHeader>,
    bulk: BulkPages,
    /// Pages that got their rows by one record, and their transactions; no row of them was changed since.
    bulk_pages: BTreeMap<PageId, u64>,
    cursor: TreeCursor,
    random: Random,
    xid: u64,
    /// Whether it writes checkpoints now and then; else recovery has all of the log to redo.
    checkpoints: bool,
}

thread_local! {
    /// The policy under which the thread's workloads write their pages.
    static TORN_PAGES: std::cell::Cell<TornPages> = const { std::cell::Cell::new(TornPages::Delta) };
}

impl Work {
    fn begin(disk: SimulatedDisk, seed: u64) -> Result<Work, StorageError> {
        let fixture = Fixture::on(disk, FRAMES)?;
        fixture.store.set_torn_pages(TORN_PAGES.get());
        let tree = fixture.store.until_done(|| Tree::create(&fixture.store, TREE, KEY_BYTES))?;
        let heap = Heap::open(&fixture.store, HEAP);
        let (keys, rids) = (BTreeMap::new(), BTreeMap::new());
        let (bulk, bulk_pages) = (BulkPages::new(&heap, false), BTreeMap::new());
        let (cursor, random) = (TreeCursor::new(), Random(seed));
        Ok(Work { tree, heap, keys, rids, bulk, bulk_pages, cursor, random, xid: 0, checkpoints: true, fixture })
    }

    fn until_done<T>(&self, operation: impl FnMut() -> Result<T, Stop>) -> Result<T, StorageError> {
        self.fixture.store.until_done(operation)
    }

    fn run(&mut self, steps: usize) -> Result<(), StorageError> {
        for step in 0..steps {
            self.xid += 1;
            // Several schedulers take turns; each has a chunk of the log of its own.
            slot::simulate(SLOTS[(self.xid / 5) as usize % SLOTS.len()], || match self.random.below(22) {
                0..9 => self.insert(),
                9..12 => self.replace(),
                12 => self.remove(),
                13..16 => self.insert_into_heap(),
                16..18 => self.replace_in_heap(),
                18 => self.remove_from_heap(),
                20 => self.insert_pages(),
                21 => self.free_page(),
                _ => self.other(step),
            })?;
        }
        Ok(())
    }

    fn insert(&mut self) -> Result<(), StorageError> {
        // Some keys ascend, others fall anywhere; some are long.
        let number = if self.xid.is_multiple_of(3) { self.random.next() } else { self.xid };
        let mut key = number.to_be_bytes().to_vec();
        key.resize(8 + (number % 3) as usize * 8, 7);
        let rest = vec![self.xid as u8; self.random.below(1200) as usize];
        let (mut cursor, xid) = (self.cursor.clone(), self.xid);
        let outcome = self.until_done(|| self.tree.insert(&mut cursor, &context(xid), &key, &rest))?;
        self.cursor = cursor;
        if matches!(outcome, InsertOutcome::Done(_)) {
            self.keys.insert(key, RowHeader::new(0, xid));
        }
        Ok(())
    }

    fn some_key(&mut self) -> Option<(Vec<u8>, RowHeader)> {
        let at = self.random.below(self.keys.len().max(1) as u64) as usize;
        self.keys.iter().nth(at).map(|(key, header)| (key.clone(), *header))
    }

    fn some_rid(&mut self) -> Option<(Rid, RowHeader)> {
        let at = self.random.below(self.rids.len().max(1) as u64) as usize;
        self.rids.iter().nth(at).map(|(rid, header)| (*rid, *header))
    }

    fn replace(&mut self) -> Result<(), StorageError> {
        let Some((key, old)) = self.some_key() else { return Ok(()) };
        let new = RowHeader::new(RowHeader::HAS_OLDER_VERSION, self.xid);
        let rest = vec![self.xid as u8; self.random.below(1500) as usize];
        let (mut cursor, context) = (TreeCursor::new(), context(self.xid));
        let outcome = self.until_done(|| {
            self.tree.replace(&mut cursor, &context, &key, old, new, &rest, |_: RowHeader, _: &[u8]| ())
        })?;
        assert!(matches!(outcome, ChangeOutcome::Done(_)), "{outcome:?}");
        self.keys.insert(key, new);
        Ok(())
    }

    fn remove(&mut self) -> Result<(), StorageError> {
        let Some((key, old)) = self.some_key() else { return Ok(()) };
        let (mut cursor, context) = (TreeCursor::new(), context(self.xid));
        self.until_done(|| self.tree.remove(&mut cursor, &context, &key, old))?;
        self.keys.remove(&key);
        Ok(())
    }

    fn insert_into_heap(&mut self) -> Result<(), StorageError> {
        let rest = vec![self.xid as u8; self.random.below(1200) as usize];
        let context = context(self.xid);
        let (rid, _) = self.until_done(|| self.heap.insert(&context, &rest))?;
        self.rids.insert(rid, RowHeader::new(0, self.xid));
        Ok(())
    }

    fn replace_in_heap(&mut self) -> Result<(), StorageError> {
        let Some((rid, old)) = self.some_rid() else { return Ok(()) };
        let new = RowHeader::new(0, self.xid);
        let rest = vec![self.xid as u8; self.random.below(3000) as usize];
        let context = context(self.xid);
        let outcome =
            self.until_done(|| self.heap.replace(&context, rid, old, new, &rest, |_: RowHeader, _: &[u8]| ()))?;
        assert!(matches!(outcome, ChangeOutcome::Done(_)), "{outcome:?}");
        self.bulk_pages.remove(&rid.page);
        self.rids.insert(rid, new);
        Ok(())
    }

    fn remove_from_heap(&mut self) -> Result<(), StorageError> {
        let Some((rid, old)) = self.some_rid() else { return Ok(()) };
        let context = context(self.xid);
        if self.xid.is_multiple_of(2) {
            self.until_done(|| self.heap.remove(&context, rid, old))?;
        } else {
            self.until_done(|| self.heap.remove_ghost(&LogContext::new(0), rid, old))?;
        }
        self.bulk_pages.remove(&rid.page);
        self.rids.remove(&rid);
        Ok(())
    }

    /// Two pages at most, of rows of one length or of any, and then those that are left in a page of their own.
    fn insert_pages(&mut self) -> Result<(), StorageError> {
        let count = self.random.below(2 * 254) as usize;
        let lengths: Vec<u32> = (0..count).map(|_| self.random.below(60) as u32).collect();
        let bytes = vec![self.xid as u8; 60 * count];
        // A byte that says its length in front of each.
        let with_lengths: Vec<u8> = lengths
            .iter()
            .flat_map(|&len| std::iter::once(len as u8).chain(vec![self.xid as u8; len as usize]))
            .collect();
        let fixed = EncodedRows::Fixed { row_bytes: 20, bytes: &bytes[..20 * count] };
        let varying = EncodedRows::Varying { lengths: &lengths, bytes: &with_lengths };
        let mut rest = if self.random.below(2) == 0 { fixed } else { varying };
        let context = context(self.xid);
        let Work { bulk, fixture, bulk_pages, .. } = self;
        let mut pages = Vec::new();
        while bulk.is_ready(&mut rest).is_ok_and(|ready| ready) {
            pages.push(fixture.store.until_done(|| bulk.place(&context, &mut rest))?.page);
        }
        if bulk.is_rest_ready() {
            pages.push(fixture.store.until_done(|| bulk.place(&context, &mut rest))?.page);
        }
        for page in pages {
            bulk_pages.insert(page, context.xid);
            let slots = fixture.store.until_done(|| fixture.store.pool.shared(page).map(|page| page.page().slots()));
            // A page that has left the pool already is met by no later step.
            for slot in 0..slots.unwrap_or_default() as u16 {
                self.rids.insert(Rid { page, slot }, RowHeader::new(0, context.xid));
            }
        }
        Ok(())
    }

    fn free_page(&mut self) -> Result<(), StorageError> {
        let Some((page, xid)) = self.bulk_pages.pop_last() else { return Ok(()) };
        self.until_done(|| self.heap.free_page(&context(xid).with(LogContext::CLR), page))?;
        self.rids.retain(|rid, _| rid.page != page);
        Ok(())
    }

    fn other(&mut self, step: usize) -> Result<(), StorageError> {
        match step % 4 {
            0 if !self.checkpoints => {}
            0 => {
                self.fixture.store.checkpoint_now(&|| None, &|| 1, false)?;
            }
            1 => self.fixture.store.flush_log_to(self.fixture.log.reserved())?,
            // Pages change their owner, also between a tree and the tree that is kept.
            2 => {
                let store = &self.fixture.store;
                store.until_done(|| store.free_object(DROPPED))?;
                let tree = store.until_done(|| Tree::create(store, DROPPED, 8))?;
                let mut cursor = TreeCursor::new();
                for key in 0..self.random.below(40) {
                    // The xid and the length of the key keep these rows apart from those of the model.
                    let key = key.to_be_bytes();
                    store.until_done(|| tree.insert(&mut cursor, &context(0), &key[1..], &[9; 900]))?;
                }
            }
            _ => self.until_done(|| self.fixture.store.free_object(DROPPED))?,
        }
        Ok(())
    }
}

fn rows_of(fixture: &Fixture, root: PageId) -> Result<Rows, StorageError> {
    let mut rows = Rows::default();
    let mut scan = Tree::open(&fixture.store, TREE, root, KEY_BYTES).scan(ScanRange::ALL);
    while fixture.store.until_done(|| scan.next_batch())? {
        rows.tree.extend(scan.rows().map(|row| (row.key.to_vec(), (row.header, row.rest.to_vec()))));
    }
    let mut scan = Heap::open(&fixture.store, HEAP).scan();
    while fixture.store.until_done(|| scan.next_batch())? {
        rows.heap.extend(scan.rows().map(|row| (row.rid, (row.header, row.rest.to_vec()))));
    }
    Ok(rows)
}

/// Recovers what a crash left and compares it with the log.
fn verify(disk: &SimulatedDisk, root: PageId, seed: u64) -> Result<Fixture, String> {
    let fixture = Fixture::recover(disk.crash(seed), FRAMES).map_err(|error| format!("recovery: {error}"))?;
    let mut wanted = Fixture::rows_by_log(&disk.crash(seed));
    wanted.tree.retain(|_, row| row.0.xid() != 0);
    let report = fixture.store.check().map_err(|error| format!("check: {error}"))?;
    if !report.is_sound() {
        return Err(format!("{:?}", report.findings));
    }
    if fixture.store.object_of(root).is_none() {
        // The creation of the tree was lost, and all that came after it.
        return if wanted.tree.is_empty() { Ok(fixture) } else { Err("the tree is gone".into()) };
    }
    let rows = rows_of(&fixture, root).map_err(|error| format!("reading: {error}"))?;
    if rows == wanted { Ok(fixture) } else { Err("the rows are not those of the log".into()) }
}

/// Mutations of the disk until the tree exists, and in the whole workload, and the tree's root.
fn dry_run(seed: u64, steps: usize) -> (u64, u64, PageId) {
    let disk = SimulatedDisk::new(seed);
    let mut work = Work::begin(disk.clone(), seed).expect("a database");
    let begin = disk.mutations();
    work.run(steps).expect("no crash");
    (begin, disk.mutations(), work.tree.root())
}

/// Crashes a workload at `point` and verifies what is left. `Ok` also when the crash came too early.
fn crash_at(point: u64, seed: u64, steps: usize, root: PageId) -> Result<(), String> {
    let disk = SimulatedDisk::new(seed);
    disk.crash_after_ops(point);
    let run = catch_unwind(AssertUnwindSafe(|| Work::begin(disk.clone(), seed).and_then(|mut work| work.run(steps))));
    if run.is_err() {
        return Err("the workload panicked".into());
    }
    let verified = catch_unwind(AssertUnwindSafe(|| {
        let fixture = verify(&disk, root, seed ^ point)?;
        // The recovered database goes through a second crash, right away or after a checkpoint.
        if point.is_multiple_of(2) {
            fixture.store.checkpoint_now(&|| None, &|| 1, false).map_err(|error| format!("checkpoint: {error}"))?;
        }
        verify(&fixture.simulated, root, point).map(|_| ())
    }));
    verified.unwrap_or_else(|_| Err("recovery panicked".into()))
}

fn crashes(seed: u64, steps: usize, points: u64) -> Result<(), String> {
    let (begin, end, root) = dry_run(seed, steps);
    for point in (begin + 1..=end).step_by(((end - begin) / points).max(1) as usize) {
        crash_at(point, seed, steps, root).map_err(|why| format!("seed {seed}, point {point} of {end}: {why}"))?;
    }
    Ok(())
}

#[test]
fn recovery_comes_to_the_state_of_the_log() {
    // More of them for a longer run by hand.
    let seeds = std::env::var("PIKEPOLE_CRASH_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(6);
    for seed in 1..=seeds {
        crashes(seed, 1500, 40).expect("a recovered database");
    }
}

#[test]
fn recovery_comes_to_the_state_of_the_log_also_with_whole_pages() {
    TORN_PAGES.set(TornPages::Whole);
    for seed in 1..=2 {
        crashes(seed, 1500, 40).expect("a recovered database");
    }
    TORN_PAGES.set(TornPages::Delta);
}

/// Makes the file longer until it has a second map page, and has the disk keep that.
fn grow_past_a_map_page(store: &Store) -> Result<(), StorageError> {
    while store.file_pages() <= MAP_EXTENTS * EXTENT_PAGES {
        store.grow(store.file_pages() / EXTENT_PAGES)?;
    }
    store.flush_log_to(store.log().reserved())
}

#[test]
fn growth_past_a_map_page_that_a_crash_cuts_off_is_done_again() {
    let disk = SimulatedDisk::new(1);
    let fixture = Fixture::on(disk.clone(), FRAMES).expect("a database");
    let begin = disk.mutations();
    grow_past_a_map_page(&fixture.store).expect("no crash");
    let end = disk.mutations();
    for (point, seed) in (begin + 1..=end + 1).flat_map(|point| (1..=8).map(move |seed| (point, seed))) {
        let disk = SimulatedDisk::new(seed);
        disk.crash_after_ops(point);
        let fixture = Fixture::on(disk.clone(), FRAMES).expect("a database");
        assert_eq!(grow_past_a_map_page(&fixture.store).is_err(), point <= end, "point {point}");
        let mut disk = disk;
        // The first recovery meets the growth that was cut off, the second one that was done again behind it.
        for life in 1..=2 {
            let recovered = Fixture::recover(disk.crash(seed), FRAMES);
            let fixture = recovered.unwrap_or_else(|error| panic!("point {point}, seed {seed}, life {life}: {error}"));
            grow_past_a_map_page(&fixture.store).expect("room");
            let report = fixture.store.check().expect("a check");
            assert!(report.is_sound(), "point {point}, seed {seed}, life {life}: {:?}", report.findings);
            disk = fixture.simulated;
        }
    }
}

fn is_noticed(fault: Fault) {
    plant(Some(fault));
    let noticed = (1..=12).find_map(|seed| crashes(seed, 1500, 40).err());
    plant(None);
    assert!(noticed.is_some(), "{fault:?} was not noticed");
}

#[test]
fn pages_ahead_of_the_log_are_noticed() {
    is_noticed(Fault::NoWalRule);
}

#[test]
fn unprotected_torn_pages_are_noticed() {
    is_noticed(Fault::NoDoubleWrite);
}

#[test]
fn changes_that_are_not_noted_are_noticed() {
    plant(Some(Fault::UnnotedChanges));
    // A build with debug assertions compares each page with the one on disk, also before the first crash.
    let found = |seed: u64| !matches!(catch_unwind(|| crashes(seed, 1500, 40)), Ok(Ok(())));
    let noticed = (1..=12).any(found);
    plant(None);
    assert!(noticed, "it was not noticed");
}

#[test]
fn deltas_without_all_changes_are_noticed() {
    is_noticed(Fault::ShortDelta);
}

#[test]
fn deltas_that_are_applied_in_part_are_noticed() {
    is_noticed(Fault::HalfRestored);
}

#[test]
fn a_redo_start_named_too_early_is_noticed() {
    is_noticed(Fault::EarlyMaster);
}

#[test]
fn records_below_those_of_their_page_are_noticed() {
    is_noticed(Fault::NoPageOrder);
}

#[test]
fn half_a_split_is_noticed() {
    is_noticed(Fault::HalfSplit);
}

#[test]
fn records_that_are_applied_twice_are_noticed() {
    is_noticed(Fault::NoLsnTest);
}

/// The data file as recovery with so many threads leaves it.
fn pages_after(disk: &SimulatedDisk, frames: usize, threads: usize) -> Result<Vec<u8>, StorageError> {
    let fixture = Fixture::recover_with(disk.crash(1), frames, threads)?;
    fixture.checkpoint();
    let report = fixture.store.check()?;
    assert!(report.is_sound(), "{:?}", report.findings);
    let path = format!("{FOLDER}/{PAGES_FILE}");
    Disk::simulated(fixture.simulated).read(path).map_err(|error| StorageError::io("test", error))
}

/// A log of several batches for each of three appliers, on a disk that has some of it in its pages already.
fn long_log(seed: u64) -> SimulatedDisk {
    let disk = SimulatedDisk::new(seed);
    let mut work = Work::begin(disk.clone(), seed).expect("a database");
    work.checkpoints = false;
    work.run(4_000).expect("no crash");
    work.fixture.flush();
    disk.crash(seed)
}

#[test]
fn redo_on_threads_comes_to_the_pages_of_one_thread() {
    for seed in 1..=3 {
        let disk = long_log(seed);
        // One pool holds all pages; the other one has to write and read while it redoes.
        for frames in [4_096, FRAMES] {
            let wanted = pages_after(&disk, frames, 0).expect("recovered");
            for threads in [1, 3] {
                let found = pages_after(&disk, frames, threads).expect("recovered");
                assert!(found == wanted, "seed {seed}, {frames} frames, {threads} threads");
            }
        }
    }
}

#[test]
fn a_page_that_several_threads_redo_is_noticed() {
    let disk = long_log(9);
    let wanted = pages_after(&disk, 4_096, 0).expect("recovered");
    plant(Some(Fault::NoOwner));
    let found = catch_unwind(AssertUnwindSafe(|| pages_after(&disk, 4_096, 3)));
    plant(None);
    assert!(!matches!(found, Ok(Ok(pages)) if pages == wanted), "nothing was noticed");
}

#[test]
fn threads_tell_the_error_that_one_thread_tells() {
    for seed in 1..=6 {
        let disk = long_log(seed);
        let statistics = Statistics::new();
        let mut records = Vec::new();
        let (_log, mut reader) =
            Log::open(&Disk::simulated(disk.crash(1)), LOG_FOLDER, log_options(), &statistics, Lsn::OLDEST)
                .expect("a log");
        while let Some((start, record, end)) = reader.next().expect("a record") {
            records.push((LsnRange { start, end }, record.to_vec()));
        }
        let mut random = Random(seed);
        // The slots of some rows are no slots: the first of them is to be told, whoever meets it.
        for _ in 0..5 {
            let at = records.len() / 2 + random.below(records.len() as u64 / 2) as usize;
            if let Ok(Record::Insert { flags, xid, page, key, rest, .. }) = Record::decode(&records[at].1.clone()) {
                let bad = Record::Insert { flags, xid, page, slot: 5_000, key, rest };
                let mut bytes = vec![0; bad.encoded_len()];
                bad.encode(&mut bytes);
                records[at].1 = bytes;
            }
        }
        let errors = [0, 1, 3].map(|threads| redo_all(&disk, &records, threads).expect_err("a bad record").to_string());
        assert!(errors[0].contains("slot 5000"), "{}", errors[0]);
        assert!(errors.iter().all(|error| *error == errors[0]), "{errors:?}");
    }
}

/// Redo of these records instead of those of the log.
fn redo_all(disk: &SimulatedDisk, records: &[(LsnRange, Vec<u8>)], threads: usize) -> Result<(), StorageError> {
    let disk = Disk::simulated(disk.crash(1));
    let statistics = Statistics::new();
    let master = Store::read_master(&disk, FOLDER)?;
    let (log, _) = Log::open(&disk, LOG_FOLDER, log_options(), &statistics, master.log_from()).expect("a log");
    let options = StoreOptions { redo_threads: Some(threads), ..store_options(256) };
    let store = Store::open(&disk, FOLDER, options, Arc::new(log), statistics)?;
    let mut redo = Redo::new(&store);
    for (range, record) in records.iter().filter(|(range, _)| range.start >= master.redo_lsn) {
        redo.record(*range, record)?;
    }
    redo.finish()
}
