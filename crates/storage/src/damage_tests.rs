//! Damaged files: each ends in a typed error or a finding that names the page, never in a panic or a wrong answer.

use pikepole_contention::sync::thread;
use pikepole_machine::Operation;

use crate::page::PAGE_BYTES;
use crate::store::{DOUBLE_WRITE_FILE, MASTER_FILE};
use crate::test_support::{FOLDER, Fixture, Random, context};
use crate::{
    ChangeOutcome, Heap, LogContext, Need, OnlineCheck, PAGES_FILE, PageId, RowHeader, ScanRange, Stop, StorageError,
    Tree, TreeCursor,
};

const TREE: u32 = 20;

fn path(name: &str) -> String {
    format!("{FOLDER}/{name}")
}

/// A database with a tree of several levels, closed in order.
fn filled() -> (Fixture, PageId) {
    let fixture = Fixture::new(256);
    let store = &fixture.store;
    let tree = store.until_done(|| Tree::create(store, TREE, 8)).expect("a tree");
    let mut cursor = TreeCursor::new();
    for key in 0..3_000u64 {
        store.until_done(|| tree.insert(&mut cursor, &context(1), &key.to_be_bytes(), &[5; 200])).expect("an insert");
    }
    store.checkpoint_now(&|| None, &|| 1, true).expect("a checkpoint");
    fixture.log.shutdown().expect("the log is closed");
    let root = tree.root();
    (fixture, root)
}

fn reopen(fixture: &Fixture) -> Result<Fixture, StorageError> {
    Fixture::recover(fixture.simulated.crash(1), 64)
}

fn read_all(fixture: &Fixture, root: PageId) -> Result<usize, StorageError> {
    let mut scan = Tree::open(&fixture.store, TREE, root, 8).scan(ScanRange::ALL);
    let mut rows = 0;
    while fixture.store.until_done(|| scan.next_batch())? {
        rows += scan.len();
    }
    Ok(rows)
}

/// A check of all pages as it is done while the store is used.
fn checked_in_use(fixture: &Fixture) -> OnlineCheck {
    let mut check = OnlineCheck::default();
    while check.step(&fixture.store, &|_| true).expect("pages that can be read") {}
    check
}

#[test]
fn a_closed_database_opens_clean() {
    let (fixture, root) = filled();
    assert!(fixture.store.master().clean);
    let again = reopen(&fixture).expect("it opens");
    assert!(!again.store.master().clean, "a crash from here on is no orderly end");
    assert_eq!(read_all(&again, root).expect("all rows"), 3_000);
    let report = again.store.check().expect("a check");
    assert!(report.is_sound());
    let online = checked_in_use(&again);
    assert_eq!((online.findings.as_slice(), online.pages), (&[][..], u64::from(report.pages)));
    assert_eq!((report.objects[0].rows, report.objects[0].root), (3_000, Some(root)));
    assert!(report.objects[0].levels >= 2 && report.pages > 80, "{report:?}");
}

#[test]
fn a_flipped_bit_in_a_page_is_named() {
    let (fixture, root) = filled();
    let mut random = Random(5);
    for _ in 0..20 {
        let page = root.0 + random.below(80) as u32;
        let offset = page as u64 * PAGE_BYTES as u64 + random.below(PAGE_BYTES as u64);
        fixture.simulated.flip_bit(path(PAGES_FILE), offset).expect("a bit");
        let again = reopen(&fixture).expect("the map is whole");
        let report = again.store.check().expect("a check");
        assert!(report.findings.iter().any(|finding| finding.page.0 == page), "{page}: {:?}", report.findings);
        let online = checked_in_use(&again);
        assert!(online.findings.iter().any(|finding| finding.page.0 == page), "{page}: {:?}", online.findings);
        let read = read_all(&again, root);
        assert!(matches!(read, Err(StorageError::Corrupt { page: named, .. }) if named.0 == page), "{read:?}");
        fixture.simulated.flip_bit(path(PAGES_FILE), offset).expect("a bit");
    }
    assert_eq!(read_all(&reopen(&fixture).expect("it opens"), root).expect("all rows"), 3_000);
}

#[test]
fn a_page_with_a_good_checksum_and_a_bad_structure_is_refused() {
    use crate::page::{Page, PageMut};
    let (fixture, root) = filled();
    let good = fixture.store.read_page(root).expect("the root");
    let mut random = Random(11);
    let mut refused = 0;
    for _ in 0..3_000 {
        let mut bytes = *good;
        for _ in 0..=random.below(3) {
            let end = if random.below(2) == 0 { 200 } else { PAGE_BYTES as u64 };
            bytes[random.below(end) as usize] ^= 1 << random.below(8);
        }
        PageMut::new(&mut bytes).seal();
        let page = Page(&bytes);
        match page.validate(root) {
            Err(_) => refused += 1,
            // What passes can be read to its last entry.
            Ok(()) => {
                let slots: usize = (0..page.slots()).map(|slot| page.entry(slot).len()).sum();
                assert!(slots + page.low_fence().len() + page.high_fence().map_or(0, <[u8]>::len) < PAGE_BYTES);
            }
        }
    }
    assert!(refused > 100, "{refused}");
}

#[test]
fn a_truncated_data_file_is_told() {
    let (fixture, _) = filled();
    fixture.simulated.truncate(path(PAGES_FILE), 65 * PAGE_BYTES as u64).expect("cut");
    let error = reopen(&fixture).err().expect("an error");
    assert!(error.to_string().contains("cut off"), "{error}");
}

#[test]
fn a_damaged_map_or_master_is_told() {
    let (fixture, _) = filled();
    fixture.simulated.flip_bit(path(PAGES_FILE), 100).expect("a bit");
    assert!(matches!(reopen(&fixture).err(), Some(StorageError::Corrupt { page: PageId(0), .. })));
    fixture.simulated.flip_bit(path(PAGES_FILE), 100).expect("a bit");
    fixture.simulated.flip_bit(path(MASTER_FILE), 20).expect("a bit");
    assert!(reopen(&fixture).is_ok(), "the other copy serves");
    fixture.simulated.flip_bit(path(MASTER_FILE), 4096 + 20).expect("a bit");
    assert!(matches!(reopen(&fixture).err(), Some(StorageError::BadFile { .. })));
}

#[test]
fn a_missing_double_write_area_is_no_loss_when_nothing_is_torn() {
    let (fixture, root) = filled();
    fixture.simulated.truncate(path(DOUBLE_WRITE_FILE), 0).expect("cut");
    assert_eq!(read_all(&reopen(&fixture).expect("it opens"), root).expect("all rows"), 3_000);
}

#[test]
fn a_page_outside_of_the_file_is_an_error() {
    let fixture = Fixture::new(64);
    let error = fixture.store.satisfy_now(Need::Page(PageId(crate::pool::PAGES_MAX + 1))).expect_err("an error");
    assert!(matches!(error, StorageError::Corrupt { .. }));
}

#[test]
fn a_full_disk_is_told_and_passes() {
    let fixture = Fixture::new(64);
    let store = &fixture.store;
    let heap = Heap::open(store, 30);
    fixture.flush();
    // The log has what it needs ahead; the data file cannot grow any more.
    fixture.simulated.set_capacity(Some(fixture.simulated.used()));
    let mut rows = 0;
    let error = loop {
        match heap.insert(&context(1), &[3; 8000]) {
            Ok(_) => rows += 1,
            Err(Stop::Need(Need::Frame)) => match store.satisfy_now(Need::Frame) {
                Ok(()) => {}
                Err(error) => break error,
            },
            Err(Stop::Need(need)) => match store.satisfy_now(need) {
                Ok(()) => {}
                Err(error) => break error,
            },
            Err(Stop::Error(error)) => break error,
        }
    };
    let told = matches!(error, StorageError::DataFull { .. } | StorageError::LogFull | StorageError::Io { .. });
    assert!(told, "{error}");
    fixture.simulated.set_capacity(None);
    while fixture.log.prepare_step() {}
    store.until_done(|| heap.insert(&context(1), &[3; 8000])).expect("there is room again");
    let mut scan = heap.scan();
    let mut seen = 0;
    while store.until_done(|| scan.next_batch()).expect("a batch") {
        seen += scan.rows().count();
    }
    assert_eq!(seen, rows + 1);
}

#[test]
fn dropped_pages_are_used_again() {
    let fixture = Fixture::new(128);
    let store = &fixture.store;
    for object in 30..60 {
        let tree = store.until_done(|| Tree::create(store, object, 8)).expect("a tree");
        let mut cursor = TreeCursor::new();
        for key in 0..200u64 {
            store.until_done(|| tree.insert(&mut cursor, &context(1), &key.to_be_bytes(), &[1; 3000])).expect("a row");
        }
        if object % 2 == 0 {
            store.until_done(|| store.free_object(object)).expect("freed");
            store.until_done(|| store.free_object(object)).expect("freeing again does nothing");
        } else {
            store.until_done(|| store.free_unowned(&|live| live == 0)).expect("freed");
        }
        assert_eq!(store.object_of(tree.root()), None);
    }
    assert!(store.file_pages() <= 1024, "{}", store.file_pages());
    let report = store.check().expect("a check");
    assert!(report.is_sound() && report.objects.is_empty(), "{report:?}");
}

#[test]
fn a_stale_cursor_finds_another_object_in_its_page() {
    let fixture = Fixture::new(64);
    let store = &fixture.store;
    let old = store.until_done(|| Tree::create(store, 30, 8)).expect("a tree");
    let mut cursor = TreeCursor::new();
    store.until_done(|| old.insert(&mut cursor, &context(1), b"key", b"old")).expect("a row");
    store.until_done(|| store.free_object(30)).expect("freed");
    let new = store.until_done(|| Tree::create(store, 31, 8)).expect("a tree");
    assert_eq!(old.root(), new.root(), "the page is used again");
    let stop = old.insert(&mut cursor, &context(1), b"key", b"old");
    assert!(matches!(stop, Err(Stop::Error(StorageError::Corrupt { .. }))), "{stop:?}");
    store.until_done(|| new.insert(&mut cursor, &context(1), b"key", b"new")).expect("a row");
}

#[test]
fn one_reader_brings_a_page_for_all() {
    let (fixture, root) = filled();
    let again = reopen(&fixture).expect("it opens");
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(read_all(&again, root).expect("all rows"), 3_000));
        }
    });
}

#[test]
fn a_torn_page_that_the_log_does_not_rebuild_is_told() {
    let fixture = Fixture::new(64);
    let heap = Heap::open(&fixture.store, 30);
    let insert = |rest: &[u8]| fixture.store.until_done(|| heap.insert(&context(1), rest)).expect("a row").0;
    let first = insert(b"in the checkpoint");
    fixture.checkpoint();
    assert_eq!(insert(b"behind it").page, first.page);
    fixture.flush();
    assert!(reopen(&fixture).is_ok());
    fixture.simulated.flip_bit(path(PAGES_FILE), first.page.0 as u64 * PAGE_BYTES as u64 + 99).expect("a bit");
    for threads in [0, 3] {
        let error = Fixture::recover_with(fixture.simulated.crash(1), 64, threads).err().expect("damage");
        assert!(matches!(error, StorageError::Corrupt { page, .. } if page == first.page), "{error}");
    }
}

#[test]
fn pages_are_read_side_by_side_or_the_damage_is_told() {
    let (fixture, root) = filled();
    let pages: Vec<PageId> = (root.0..root.0 + 60).map(PageId).collect();
    for threads in [0, 3] {
        let disk = fixture.simulated.crash(1);
        let again = Fixture::recover_with(disk.clone(), 128, threads).expect("it opens");
        let before = disk.count(Operation::Read);
        again.store.load_pages(&pages).expect("read");
        again.store.load_pages(&pages).expect("there already");
        let reads = disk.count(Operation::Read) - before;
        assert!((50..=60).contains(&reads), "{reads} reads");
        assert!(pages.iter().all(|&page| again.store.pool.lookup(page).is_some()));
    }
    fixture.simulated.flip_bit(path(PAGES_FILE), (root.0 as u64 + 40) * PAGE_BYTES as u64 + 99).expect("a bit");
    for threads in [0, 3] {
        let again = Fixture::recover_with(fixture.simulated.crash(1), 128, threads).expect("it opens");
        let error = again.store.load_pages(&pages).expect_err("damage");
        assert!(matches!(error, StorageError::Corrupt { page, .. } if page.0 == root.0 + 40), "{error}");
    }
}

#[test]
fn a_failed_sync_stops_changes_and_leaves_reads() {
    let fixture = Fixture::new(64);
    let store = &fixture.store;
    let tree = store.until_done(|| Tree::create(store, TREE, 8)).expect("a tree");
    let mut cursor = TreeCursor::new();
    store.until_done(|| tree.insert(&mut cursor, &context(1), b"key", b"rest")).expect("a row");
    fixture.simulated.fail_nth(Operation::Sync, 1);
    let checkpoint = || store.checkpoint_now(&|| None, &|| 1, false);
    assert!(matches!(checkpoint(), Err(StorageError::Poisoned { .. })));
    assert!(matches!(checkpoint(), Err(StorageError::Poisoned { .. })), "it is not tried again");
    let stop = tree.insert(&mut cursor, &context(1), b"other", b"rest");
    assert!(matches!(stop, Err(Stop::Error(StorageError::Poisoned { .. }))), "{stop:?}");
    assert_eq!(store.until_done(|| tree.get(b"key", |_, rest| rest.len())).expect("a read"), Some(4));
    let clr = LogContext::new(1).with(LogContext::CLR);
    let undone = tree.remove(&mut cursor, &clr, b"key", RowHeader::new(0, 1));
    assert!(matches!(undone, Ok(ChangeOutcome::Done(_))), "rollback goes on");
}

#[test]
fn a_failed_write_of_pages_is_tried_again() {
    let fixture = Fixture::new(64);
    let store = &fixture.store;
    let tree = store.until_done(|| Tree::create(store, TREE, 8)).expect("a tree");
    let mut cursor = TreeCursor::new();
    store.until_done(|| tree.insert(&mut cursor, &context(1), b"key", b"rest")).expect("a row");
    fixture.flush();
    fixture.simulated.fail_nth(Operation::Write, 1);
    assert!(matches!(store.write_dirty_pages(fixture.log.durable()), Err(StorageError::Io { .. })));
    assert_eq!(store.poisoned(), None);
    fixture.checkpoint();
    let again = Fixture::recover(fixture.simulated.crash(3), 64).expect("it opens");
    let tree = Tree::open(&again.store, TREE, tree.root(), 8);
    assert_eq!(again.store.until_done(|| tree.get(b"key", |_, rest| rest.len())).expect("a read"), Some(4));
}
