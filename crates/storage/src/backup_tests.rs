//! Copies of pages taken while a store is in use, and stores made of them.

use pikepole_log::LogBuilder;
use pikepole_machine::{AlignedBuffer, Disk, SimulatedDisk};

use crate::test_support::*;
use crate::{
    LoggedPages, Master, PageId, PagesInUse, RestoredPages, StorageError, Store, Tree, TreeCursor, check_page,
};

const OBJECT: u32 = 20;

fn insert(fixture: &Fixture, tree: &Tree, keys: std::ops::Range<u32>) {
    let mut cursor = TreeCursor::new();
    for key in keys {
        let key = key.to_be_bytes();
        let inserted = fixture.store.until_done(|| tree.insert(&mut cursor, &context(0), &key, &[7; 300]));
        assert!(matches!(inserted, Ok(crate::InsertOutcome::Done(_))));
    }
}

#[test]
fn pages_of_many_moments_and_their_log_are_one_store() {
    let fixture = Fixture::new(96);
    let tree = fixture.store.until_done(|| Tree::create(&fixture.store, OBJECT, 8)).expect("a tree");
    insert(&fixture, &tree, 0..900);
    let mut pages = fixture.store.pages_in_use();
    fixture.checkpoint();
    let master = fixture.store.master();
    pages.add(&fixture.store.pages_in_use());
    // Between two stretches of the copy, rows are inserted everywhere and pages go to the disk.
    let (mut out, mut next, mut key) = (AlignedBuffer::new(), Some(0), 900);
    while let Some(first) = next {
        next = fixture.store.copy_pages(&pages, first, &mut out).expect("sound pages");
        insert(&fixture, &tree, key..key + 200);
        key += 200;
        fixture.store.write_dirty_pages(fixture.log.reserved()).expect("written");
    }
    let end = fixture.store.harden_log().expect("durable");
    assert_eq!(out.len() / crate::PAGE_BYTES, pages.count() as usize);

    let simulated = SimulatedDisk::new(2);
    let disk = Disk::simulated(simulated.clone());
    disk.create_dir_all(FOLDER).expect("a folder");
    let mut restored = RestoredPages::create(&disk, FOLDER.as_ref(), master.pages, true).expect("room");
    restored.write(&out).expect("written");
    restored.finish(&master).expect("durable");
    let mut builder = LogBuilder::create(&disk, LOG_FOLDER, &log_options(), master.recovery_lsn).expect("a log");
    let mut blocks = fixture.log.blocks(master.recovery_lsn, end).expect("the log is kept");
    while let Some(block) = blocks.next().expect("a sound log") {
        builder.append(block).expect("written");
    }
    builder.finish().expect("durable");
    let copy = Fixture::recover(simulated, 256).expect("it recovers");
    let report = copy.store.check().expect("readable");
    assert!(report.is_sound(), "{:?}", report.findings);
    assert_eq!(report.objects.iter().map(|object| object.rows).collect::<Vec<_>>(), [u64::from(key)]);
}

#[test]
fn a_damaged_page_in_use_ends_the_copy_and_one_that_is_not_is_left_out() {
    let fixture = Fixture::new(64);
    let tree = fixture.store.until_done(|| Tree::create(&fixture.store, OBJECT, 8)).expect("a tree");
    insert(&fixture, &tree, 0..3000);
    fixture.checkpoint();
    let pages = fixture.store.pages_in_use();
    let copy = || {
        let (mut out, mut next) = (AlignedBuffer::new(), Some(0));
        while let Some(first) = next {
            next = fixture.store.copy_pages(&pages, first, &mut out)?;
        }
        Ok::<usize, StorageError>(out.len() / crate::PAGE_BYTES)
    };
    let all = copy().expect("sound");
    // A page that the pool does not have: what the disk has counts.
    let in_use = (8..fixture.store.file_pages()).map(PageId).filter(|&page| fixture.store.object_of(page).is_some());
    let page = in_use.clone().find(|&page| fixture.store.pool.lookup(page).is_none()).expect("a small pool");
    let at = u64::from(page.0) * crate::PAGE_BYTES as u64 + 5000;
    fixture.simulated.flip_bit(format!("{FOLDER}/{}", crate::PAGES_FILE), at).expect("a bit");
    match copy() {
        Err(StorageError::Corrupt { page: found, .. }) => assert_eq!(found, page),
        other => panic!("{other:?}"),
    }
    // Dropped meanwhile: nobody needs it, and the list still names it.
    fixture.store.until_done(|| fixture.store.free_object(OBJECT)).expect("freed");
    assert_eq!(copy().expect("left out"), all - 1);
}

#[test]
fn only_sealed_pages_in_their_places_are_taken() {
    let disk = Disk::simulated(SimulatedDisk::new(1));
    disk.create_dir_all(FOLDER).expect("a folder");
    let fixture = Fixture::new(64);
    fixture.checkpoint();
    let mut out = AlignedBuffer::new();
    fixture.store.copy_pages(&fixture.store.pages_in_use(), 0, &mut out).expect("sound");
    assert_eq!(check_page(&out[..crate::PAGE_BYTES]), Ok(PageId(0)));
    assert!(check_page(&out[..100]).is_err());
    let mut changed = out[..crate::PAGE_BYTES].to_vec();
    changed[300] ^= 1;
    assert!(matches!(check_page(&changed), Err((PageId(0), _))));
    let mut pages = RestoredPages::create(&disk, FOLDER.as_ref(), 8, true).expect("room");
    pages.write(&out[..crate::PAGE_BYTES]).expect("page 0");
    changed[4] = 9;
    assert!(matches!(pages.write(&changed), Err(StorageError::Corrupt { page: PageId(9), .. })));
    let full = SimulatedDisk::new(1);
    full.set_capacity(Some(10_000));
    let full = Disk::simulated(full);
    full.create_dir_all(FOLDER).expect("a folder");
    assert!(RestoredPages::create(&full, FOLDER.as_ref(), 800, true).is_err());
    // Nothing of it is a store before it is finished.
    let master = Store::read_master(&disk, FOLDER);
    assert!(matches!(master, Err(StorageError::BadFile { .. })));
}

fn copied(fixture: &Fixture, pages: &PagesInUse) -> AlignedBuffer {
    let (mut out, mut next) = (AlignedBuffer::new(), Some(0));
    while let Some(first) = next {
        next = fixture.store.copy_pages(pages, first, &mut out).expect("sound pages");
    }
    out
}

/// A store as a full backup and a log backup have it: pages from before a tree was there, the pages that the tree was
/// filled with, the log.
struct Parts {
    master: Master,
    full: AlignedBuffer,
    patch: AlignedBuffer,
    fixture: Fixture,
    rows: u64,
}

impl Parts {
    fn make() -> Parts {
        let fixture = Fixture::new(512);
        let store = &fixture.store;
        let full = store.pages_in_use();
        fixture.checkpoint();
        let (master, full) = (store.master(), copied(&fixture, &full));
        let tree = store.until_done(|| Tree::create(store, OBJECT, 8)).expect("a tree");
        insert(&fixture, &tree.unlogged(), 0..9_000);
        let before = store.rows_unneeded().expect("nobody needs them");
        let mut at = LoggedPages::default();
        while store.until_done(|| tree.note_pages(&mut at)).expect("room") {}
        assert!(store.unlogged_end(before).is_some());
        // Logged: behind the notes, before the pages are copied and after.
        insert(&fixture, &tree, 9_000..9_500);
        let mut noted = PagesInUse::default();
        for page in (8..store.file_pages()).map(PageId).filter(|page| store.object_of(*page) == Some(OBJECT)) {
            noted.insert(page);
        }
        fixture.checkpoint();
        let patch = copied(&fixture, &noted);
        assert!(patch.len() > 300 * crate::PAGE_BYTES);
        insert(&fixture, &tree, 9_500..12_000);
        Parts { master, full, patch, fixture, rows: 12_000 }
    }

    /// Recovers a store that is made of them.
    fn recover(&self, patched: bool, frames: usize, threads: usize) -> Result<u64, StorageError> {
        let simulated = SimulatedDisk::new(2);
        let disk = Disk::simulated(simulated.clone());
        disk.create_dir_all(FOLDER).expect("a folder");
        let mut restored = RestoredPages::create(&disk, FOLDER.as_ref(), self.master.pages, true).expect("room");
        restored.write(&self.full).expect("written");
        restored.finish(&self.master).expect("durable");
        let mut pages = RestoredPages::reopen(&disk, FOLDER.as_ref(), true).expect("it was made");
        pages.write(&self.patch).expect("written");
        let sequence = self.master.sequence + 1;
        pages.finish(&Master { sequence, patched, ..self.master }).expect("durable");
        let end = self.fixture.store.harden_log().expect("durable");
        let from = self.master.recovery_lsn;
        let mut builder = LogBuilder::create(&disk, LOG_FOLDER, &log_options(), from).expect("a log");
        let mut blocks = self.fixture.log.blocks(from, end).expect("the log is kept");
        while let Some(block) = blocks.next().expect("a sound log") {
            builder.append(block).expect("written");
        }
        builder.finish().expect("durable");
        let copy = Fixture::recover_with(simulated, frames, threads)?;
        let report = copy.store.check()?;
        match report.findings.first() {
            Some(finding) => Err(StorageError::corrupt(finding.page, finding.what.clone())),
            None => Ok(report.objects.iter().map(|object| object.rows).sum()),
        }
    }
}

#[test]
fn redo_leads_on_from_pages_of_a_log_backup_also_by_threads_and_with_few_frames() {
    let parts = Parts::make();
    for (frames, threads) in [(1024, 0), (64, 0), (1024, 3), (96, 3)] {
        assert_eq!(parts.recover(true, frames, threads).ok(), Some(parts.rows), "{frames} frames, {threads} threads");
    }
    // Redo that is not told loses what no record has.
    assert_ne!(parts.recover(false, 1024, 0).ok(), Some(parts.rows));
}

#[test]
fn who_comes_between_two_looks_is_noticed() {
    let fixture = Fixture::new(64);
    let store = &fixture.store;
    let before = store.rows_unneeded().expect("nobody needs them");
    assert!(store.unlogged_end(before).is_some());
    store.need_rows_in_log();
    assert_eq!((store.rows_unneeded(), store.unlogged_end(before)), (None, None));
    store.need_rows_no_more();
    assert_eq!(store.unlogged_end(before), None, "a log backup has begun and ended");
    assert!(store.rows_unneeded().is_some_and(|now| now != before && store.unlogged_end(now).is_some()));
}
