//! Writes that the disk has lost: an older page with a good checksum is never read as the newest one.
//!
//! A database goes through some rounds of changes, each with a checkpoint; its pages are kept after each. Then every page is put
//! back as it was after each of the earlier rounds, one at a time. A reader gets all rows as they were last, or an error;
//! both checks name the page.

use std::collections::BTreeMap;

use pikepole_machine::{Disk, OpenOptions, SimulatedDisk};

use crate::fault::{Fault, plant};
use crate::page::{PAGE_BYTES, Page, PageBytes};
use crate::store::STAMPS_FILE;
use crate::test_support::{FOLDER, Fixture, Random, Rows, context};
use crate::{
    ChangeOutcome, Heap, OnlineCheck, PAGES_FILE, PageId, RowHeader, ScanRange, StorageError, Tree, TreeCursor,
};

const TREE: u32 = 20;
const HEAP: u32 = 21;
const PARTS: u32 = 22;
const UNLOGGED: u32 = 23;
const ROUNDS: u64 = 9;

fn pages_path() -> String {
    format!("{FOLDER}/{PAGES_FILE}")
}

/// A database in the making.
struct Story {
    fixture: Fixture,
    tree: Tree,
    heap: Heap,
    parts: Heap,
    rows: Rows,
    random: Random,
    /// The file of pages after each round.
    files: Vec<Vec<u8>>,
}

impl Story {
    fn new(frames: usize) -> Story {
        let fixture = Fixture::new(frames);
        let store = &fixture.store;
        let tree = store.until_done(|| Tree::create(store, TREE, 8)).expect("a tree");
        let (heap, parts) = (Heap::open(store, HEAP), Heap::open_parts(store, PARTS));
        Story { fixture, tree, heap, parts, rows: Rows::default(), random: Random(7), files: Vec::new() }
    }

    /// Changes some rows everywhere.
    fn change(&mut self) {
        let store = &self.fixture.store;
        let mut cursor = TreeCursor::new();
        for _ in 0..200 {
            let key = self.random.below(4_000).to_be_bytes();
            let rest = vec![self.random.next() as u8; 60 + self.random.below(100) as usize];
            let header = RowHeader::new(0, 1);
            match self.rows.tree.get(&key[..]) {
                None => {
                    let insert = || self.tree.insert(&mut cursor, &context(1), &key, &rest);
                    store.until_done(insert).expect("a row");
                }
                Some(_) => {
                    let replace = || self.tree.replace(&mut cursor, &context(1), &key, header, header, &rest, unseen);
                    let done = store.until_done(replace).expect("a change");
                    assert!(matches!(done, ChangeOutcome::Done(_)), "{done:?}");
                }
            }
            self.rows.tree.insert(key.to_vec(), (header, rest.clone()));
            let (rid, _) = store.until_done(|| self.heap.insert(&context(1), &rest)).expect("a row");
            self.rows.heap.insert(rid, (header, rest));
        }
        let part = vec![self.random.next() as u8; 6_000];
        let (rid, _) = store.until_done(|| self.parts.insert_alone(&context(1), &part)).expect("a part");
        self.rows.heap.insert(rid, (RowHeader::new(0, 1), part));
    }

    /// Keeps the pages as the disk has them after a checkpoint.
    fn keep(&mut self) {
        self.fixture.checkpoint();
        let file = Disk::simulated(self.fixture.simulated.clone()).read(pages_path()).expect("the pages");
        self.files.push(file);
    }

    /// After all rounds: closed in order, or stopped with changes behind the last checkpoint.
    fn told(clean: bool) -> Story {
        let mut story = Story::new(512);
        for _ in 0..ROUNDS {
            story.change();
            story.keep();
        }
        let store = &story.fixture.store;
        if clean {
            store.checkpoint_now(&|| None, &|| 2, true).expect("a checkpoint");
            story.fixture.log.shutdown().expect("the log is closed");
        } else {
            story.change();
            let store = &story.fixture.store;
            // Some pages are on disk as they were later than the checkpoint.
            store.write_dirty_pages(story.fixture.log.reserved()).expect("written");
            story.change();
            story.fixture.flush();
        }
        story
    }

    fn read(&self, fixture: &Fixture) -> Result<Rows, StorageError> {
        let store = &fixture.store;
        let mut rows = Rows::default();
        let mut scan = Tree::open(store, TREE, self.tree.root(), 8).scan(ScanRange::ALL);
        while store.until_done(|| scan.next_batch())? {
            rows.tree.extend(scan.rows().map(|row| (row.key.to_vec(), (row.header, row.rest.to_vec()))));
        }
        for heap in [Heap::open(store, HEAP), Heap::open_parts(store, PARTS)] {
            let mut scan = heap.scan();
            while store.until_done(|| scan.next_batch())? {
                rows.heap.extend(scan.rows().map(|row| (row.rid, (row.header, row.rest.to_vec()))));
            }
        }
        Ok(rows)
    }

    /// Older states of pages: those that are whole and not as the disk has them in the end.
    fn older(&self) -> BTreeMap<(u32, usize), &PageBytes> {
        let last = Disk::simulated(self.fixture.simulated.clone()).read(pages_path()).expect("the pages");
        let mut older: BTreeMap<(u32, usize), &PageBytes> = BTreeMap::new();
        for (round, file) in self.files.iter().enumerate() {
            let (pages, _) = file.as_chunks::<PAGE_BYTES>();
            for (id, page) in (0..).zip(pages) {
                let at = id as usize * PAGE_BYTES;
                let before = (0..round).rev().find_map(|round| older.get(&(id, round)));
                let is_new = last[at..at + PAGE_BYTES] != page[..] && before != Some(&page);
                if Page(page).is_whole(PageId(id)) && is_new {
                    older.insert((id, round), page);
                }
            }
        }
        older
    }

    fn with_older(&self, id: u32, page: &PageBytes) -> SimulatedDisk {
        let simulated = self.fixture.simulated.crash(1);
        put(&simulated, id, page);
        simulated
    }
}

/// Puts a page into its place, durably and without a trace.
fn put(simulated: &SimulatedDisk, id: u32, page: &PageBytes) {
    let file = Disk::simulated(simulated.clone()).open(pages_path(), OpenOptions::default()).expect("the pages");
    file.write_at(&page[..], u64::from(id) * PAGE_BYTES as u64).expect("written");
    file.sync().expect("a sync");
}

/// How a try ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    /// All rows were right, and nothing was noticed.
    Right,
    /// The page was named.
    Named,
    /// Rows were wrong, without an error.
    Wrong,
}

/// Opens, checks and reads what is on a disk with an older page.
fn look(story: &Story, simulated: &SimulatedDisk, id: u32) -> End {
    let reopen = || Fixture::recover(simulated.crash(1), 512);
    let names_page = |error: &StorageError| matches!(error, StorageError::Corrupt { page, .. } if page.0 == id);
    let opened = match reopen() {
        Err(error) => {
            assert!(names_page(&error) || crate::fault::trust_pages(), "page {id}: {error}");
            return End::Named;
        }
        Ok(opened) => opened,
    };
    let found = |findings: &[crate::Finding]| findings.iter().any(|finding| finding.page.0 == id);
    let all_at_once = found(&opened.store.check().expect("a check").findings);
    let in_use = reopen().expect("as before");
    let mut online = OnlineCheck::default();
    while online.step(&in_use.store, &|_| true).expect("pages that can be read") {}
    let trusted = crate::fault::trust_pages();
    assert!(trusted || found(&online.findings) == all_at_once, "page {id}: the two checks see the same");
    let end = match story.read(&reopen().expect("as before")) {
        Ok(rows) if rows == story.rows => End::Right,
        Ok(_) => End::Wrong,
        Err(error) => {
            assert!(names_page(&error) || crate::fault::trust_pages(), "page {id}: {error}");
            End::Named
        }
    };
    assert!(end == End::Right || all_at_once || trusted, "page {id}: {end:?}, and no check said so");
    end
}

/// Puts back every older page, and counts the ends.
fn put_all_back(clean: bool) -> BTreeMap<&'static str, usize> {
    let story = Story::told(clean);
    let whole = Fixture::recover(story.fixture.simulated.crash(1), 512).expect("it opens");
    assert_eq!(story.read(&whole).expect("sound"), story.rows);
    let mut ends = BTreeMap::new();
    for ((id, _), page) in story.older() {
        let end = look(&story, &story.with_older(id, page), id);
        let named = match end {
            End::Right => "right",
            End::Named => "named",
            End::Wrong => "wrong",
        };
        *ends.entry(named).or_insert(0) += 1;
    }
    println!("closed in order: {clean}; {ends:?}");
    ends
}

#[test]
fn an_older_page_is_named_after_a_shutdown() {
    let ends = put_all_back(true);
    assert!(ends["named"] > 100, "{ends:?}");
    assert_eq!(ends.len(), 1, "every older page is read or checked: {ends:?}");
}

#[test]
fn an_older_page_is_named_or_brought_up_to_date_after_a_crash() {
    let ends = put_all_back(false);
    assert!(ends["named"] > 100 && ends["right"] > 20, "{ends:?}");
    assert!(!ends.contains_key("wrong"), "{ends:?}");
}

#[test]
fn pages_that_are_trusted_give_wrong_rows() {
    plant(Some(Fault::TrustPages));
    let ends = put_all_back(true);
    plant(None);
    assert!(ends["wrong"] > 20, "the test would see it: {ends:?}");
}

#[test]
fn a_write_that_is_lost_while_the_store_is_used_is_named() {
    let (mut named, mut right) = (0, 0);
    for seed in 0..40 {
        let mut story = Story::new(64);
        story.random = Random(seed);
        for _ in 0..2 {
            story.change();
        }
        story.fixture.checkpoint();
        let page = 8 + story.random.below(60);
        let lost = page * PAGE_BYTES as u64..(page + 1) * PAGE_BYTES as u64;
        let simulated = story.fixture.simulated.clone();
        simulated.lose_writes(pages_path(), Some(lost)).expect("the file");
        let mut damage = None;
        for _ in 0..3 {
            let store = &story.fixture.store;
            let mut cursor = TreeCursor::new();
            for _ in 0..200 {
                let key = story.random.below(4_000).to_be_bytes();
                let rest = vec![seed as u8; 100];
                let header = RowHeader::new(0, 1);
                let put = match story.rows.tree.contains_key(&key[..]) {
                    false => store.until_done(|| story.tree.insert(&mut cursor, &context(1), &key, &rest)).map(drop),
                    true => store
                        .until_done(|| {
                            story.tree.replace(&mut cursor, &context(1), &key, header, header, &rest, unseen)
                        })
                        .map(drop),
                };
                match put {
                    Ok(()) => drop(story.rows.tree.insert(key.to_vec(), (header, rest))),
                    Err(error) => damage = damage.or(Some(error)),
                }
            }
            if damage.is_none() {
                story.fixture.checkpoint();
            }
        }
        story.fixture.store.drop_clean_pages();
        let read = damage.map_or_else(|| story.read(&story.fixture), Err);
        match read {
            Ok(rows) => {
                assert_eq!(rows, story.rows, "seed {seed}");
                right += 1;
            }
            Err(StorageError::Corrupt { page: at, why }) => {
                assert_eq!(u64::from(at.0), page, "{why}");
                assert!(why.contains("stale page") || why.contains("never written"), "{why}");
                named += 1;
            }
            Err(error) => panic!("seed {seed}: {error}"),
        }
    }
    println!("{named} named, {right} right");
    assert!(named > 10, "{named} named, {right} right");
}

/// Rows that are not logged leave their page's lsn as it is.
#[test]
fn an_older_page_of_the_same_lsn_is_named() {
    let fixture = Fixture::new(256);
    let store = &fixture.store;
    let tree = store.until_done(|| Tree::create(store, UNLOGGED, 8)).expect("a tree").unlogged();
    let mut cursor = TreeCursor::new();
    let mut insert = |key: u64| {
        store.until_done(|| tree.insert(&mut cursor, &context(1), &key.to_be_bytes(), &[1; 50])).expect("a row");
    };
    insert(1);
    fixture.checkpoint();
    let before = store.read_page(tree.root()).expect("the root");
    insert(2);
    store.checkpoint_now(&|| None, &|| 1, true).expect("a checkpoint");
    fixture.log.shutdown().expect("the log is closed");
    let after = store.read_page(tree.root()).expect("the root");
    assert_eq!(Page(&before).lsn(), Page(&after).lsn());
    assert_ne!(before[..], after[..]);
    let simulated = fixture.simulated.crash(1);
    put(&simulated, tree.root().0, &before);
    let again = Fixture::recover(simulated, 64).expect("it opens");
    let error = again.store.satisfy_now(crate::Need::Page(tree.root())).expect_err("an older page");
    assert!(error.to_string().contains("but not the checksum"), "{error}");
}

#[test]
fn a_master_that_is_older_than_the_pages_does_no_harm() {
    let mut story = Story::told(true);
    let disk = Disk::simulated(story.fixture.simulated.clone());
    let closed = disk.read(format!("{FOLDER}/master")).expect("the master");
    // Opened, changed and stopped: but the master still says that it was closed in order.
    story.fixture = Fixture::recover(story.fixture.simulated.crash(1), 512).expect("it opens");
    story.tree = Tree::open(&story.fixture.store, TREE, story.tree.root(), 8);
    (story.heap, story.parts) = (Heap::open(&story.fixture.store, HEAP), Heap::open_parts(&story.fixture.store, PARTS));
    story.change();
    story.fixture.checkpoint();
    let simulated = story.fixture.simulated.crash(1);
    let disk = Disk::simulated(simulated.clone());
    let file = disk.open(format!("{FOLDER}/master"), OpenOptions::default()).expect("the master");
    file.write_at(&closed, 0).expect("written");
    file.sync().expect("a sync");
    // The log goes on behind the end that the master names, and is followed there.
    let again = Fixture::recover(simulated, 512).expect("it opens");
    assert_eq!(story.read(&again).expect("sound"), story.rows);
}

#[test]
fn stamps_that_are_lost_are_told_by_checks_and_harm_nobody() {
    let story = Story::told(true);
    let path = format!("{FOLDER}/{STAMPS_FILE}");
    // An older file of stamps.
    let mut earlier = Story::new(512);
    earlier.change();
    earlier.keep();
    let old = Disk::simulated(earlier.fixture.simulated.clone()).read(&path).expect("the stamps");
    let simulated = story.fixture.simulated.crash(1);
    let disk = Disk::simulated(simulated.clone());
    let put = |bytes: &[u8]| {
        let file = disk.open(&path, OpenOptions::default()).expect("the stamps");
        file.write_at(bytes, 0).expect("written");
        file.sync().expect("a sync");
    };
    put(&old);
    let again = Fixture::recover(simulated.crash(1), 512).expect("it opens");
    assert_eq!(story.read(&again).expect("sound"), story.rows);
    let again = Fixture::recover(simulated.crash(1), 512).expect("it opens");
    let findings = again.store.check().expect("a check").findings;
    assert!(findings.iter().any(|finding| finding.what.contains("a write of the file of stamps was lost")));
    let again = Fixture::recover(simulated.crash(1), 512).expect("it opens");
    let mut online = OnlineCheck::default();
    while online.step(&again.store, &|_| true).expect("pages that can be read") {}
    assert!(online.findings.iter().any(|finding| finding.what.contains("file of stamps")), "{:?}", online.findings);
    // A folder of a program without stamps.
    simulated.truncate(&path, 0).expect("cut");
    let again = Fixture::recover(simulated.crash(1), 512).expect("it opens");
    assert!(again.store.check().expect("a check").is_sound());
    assert_eq!(story.read(&again).expect("sound"), story.rows);
    again.checkpoint();
    assert!(again.store.master().stamps);
}

/// Keeps nothing of a row that changes.
fn unseen(_: RowHeader, _: &[u8]) {}
