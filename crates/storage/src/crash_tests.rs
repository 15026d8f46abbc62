//! Crashes at many points of a workload: whatever the disk kept, recovery must come to exactly the state that the log
//! describes, on sound pages. Then the same with faults planted, which must be noticed.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use pikepole_machine::SimulatedDisk;

use crate::fault::{Fault, plant};
use crate::test_support::{Fixture, Random, Rows, context};
use crate::{
    BulkPages, ChangeOutcome, EncodedRows, Heap, InsertOutcome, PageId, Rid, RowHeader, ScanRange, Stop, StorageError,
    Tree, TreeCursor,
};

const TREE: u32 = 20;
const HEAP: u32 = 21;
const DROPPED: u32 = 22;
const FRAMES: usize = 64;
const KEY_BYTES: usize = 24;

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
}

impl Work {
    fn begin(disk: SimulatedDisk, seed: u64) -> Result<Work, StorageError> {
        let fixture = Fixture::on(disk, FRAMES)?;
        let tree = fixture.store.until_done(|| Tree::create(&fixture.store, TREE, KEY_BYTES))?;
        let heap = Heap::open(&fixture.store, HEAP);
        let (keys, rids) = (BTreeMap::new(), BTreeMap::new());
        let (bulk, bulk_pages) = (BulkPages::new(&heap, false), BTreeMap::new());
        let (cursor, random) = (TreeCursor::new(), Random(seed));
        Ok(Work { tree, heap, keys, rids, bulk, bulk_pages, cursor, random, xid: 0, fixture })
    }

    fn until_done<T>(&self, operation: impl FnMut() -> Result<T, Stop>) -> Result<T, StorageError> {
        self.fixture.store.until_done(operation)
    }

    fn run(&mut self, steps: usize) -> Result<(), StorageError> {
        for step in 0..steps {
            self.xid += 1;
            match self.random.below(22) {
                0..9 => self.insert()?,
                9..12 => self.replace()?,
                12 => self.remove()?,
                13..16 => self.insert_into_heap()?,
                16..18 => self.replace_in_heap()?,
                18 => self.remove_from_heap()?,
                20 => self.insert_pages()?,
                21 => self.free_page()?,
                _ => self.other(step)?,
            }
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
        let outcome = self.until_done(|| self.tree.replace(&mut cursor, &context, &key, old, new, &rest, |_, _| ()))?;
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
        let outcome = self.until_done(|| self.heap.replace(&context, rid, old, new, &rest, |_, _| ()))?;
        assert!(matches!(outcome, ChangeOutcome::Done(_)), "{outcome:?}");
        self.bulk_pages.remove(&rid.page);
        self.rids.insert(rid, new);
        Ok(())
    }

    fn remove_from_heap(&mut self) -> Result<(), StorageError> {
        let Some((rid, old)) = self.some_rid() else { return Ok(()) };
        let context = context(self.xid);
        self.until_done(|| self.heap.remove(&context, rid, old))?;
        self.bulk_pages.remove(&rid.page);
        self.rids.remove(&rid);
        Ok(())
    }

    /// Two pages at most, of rows of one length or of any, and then those that are left in a page of their own.
    fn insert_pages(&mut self) -> Result<(), StorageError> {
        let count = self.random.below(2 * 254) as usize;
        let lengths: Vec<u32> = (0..count).map(|_| self.random.below(60) as u32).collect();
        let bytes = vec![self.xid as u8; 60 * count];
        let fixed = EncodedRows::Fixed { row_bytes: 20, bytes: &bytes[..20 * count] };
        let varying = EncodedRows::Varying { lengths: &lengths, bytes: &bytes };
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
        self.until_done(|| self.heap.free_page(xid, page))?;
        self.rids.retain(|rid, _| rid.page != page);
        Ok(())
    }

    fn other(&mut self, step: usize) -> Result<(), StorageError> {
        match step % 4 {
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
fn a_redo_start_named_too_early_is_noticed() {
    is_noticed(Fault::EarlyMaster);
}

#[test]
fn half_a_split_is_noticed() {
    is_noticed(Fault::HalfSplit);
}
