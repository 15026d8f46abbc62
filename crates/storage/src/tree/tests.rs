use std::collections::BTreeMap;
use std::ops::Bound;

use pikepole_contention::sync::thread;
use proptest::prelude::*;

use super::*;
use crate::test_support::{Fixture, Random, context};
use crate::{LogContext, StorageError};

const OBJECT: u32 = 20;

fn tree(fixture: &Fixture, key_bytes_max: usize) -> Tree {
    fixture.store.until_done(|| Tree::create(&fixture.store, OBJECT, key_bytes_max)).expect("a tree")
}

fn insert(fixture: &Fixture, tree: &Tree, cursor: &mut TreeCursor, xid: u64, key: &[u8], rest: &[u8]) -> InsertOutcome {
    fixture.store.until_done(|| tree.insert(cursor, &context(xid), key, rest)).expect("an insert")
}

fn rows(fixture: &Fixture, tree: &Tree, range: ScanRange<'_>) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut scan = tree.scan(range);
    let mut rows = Vec::new();
    while fixture.store.until_done(|| scan.next_batch()).expect("a batch") {
        rows.extend(scan.rows().map(|row| (row.key.to_vec(), row.rest.to_vec())));
    }
    rows
}

fn sound(fixture: &Fixture) -> crate::ObjectReport {
    let report = fixture.store.check().expect("a check");
    assert!(report.is_sound(), "{:?}", report.findings);
    report.objects.into_iter().find(|object| object.object == OBJECT).expect("the tree")
}

#[test]
fn ascending_rows_fill_their_pages() {
    let fixture = Fixture::new(512);
    let tree = tree(&fixture, 8);
    let mut cursor = TreeCursor::new();
    for key in 0..20_000u64 {
        let outcome = insert(&fixture, &tree, &mut cursor, 1, &key.to_be_bytes(), &[7; 26]);
        assert!(matches!(outcome, InsertOutcome::Done(_)));
    }
    let report = sound(&fixture);
    assert_eq!(report.rows, 20_000);
    let full = report.bytes + report.rows * SLOT_BYTES as u64;
    assert!(full as f64 / (report.pages as f64 * PAGE_BYTES as f64) > 0.95, "{report:?}");
    assert_eq!(rows(&fixture, &tree, ScanRange::ALL).len(), 20_000);
}

#[test]
fn many_ascending_ranges_fill_their_pages() {
    let fixture = Fixture::new(2048);
    let tree = tree(&fixture, 8);
    let mut cursors = vec![TreeCursor::new(); 16];
    for index in 0..2_000u64 {
        for (session, cursor) in cursors.iter_mut().enumerate() {
            let key = (session as u64) << 32 | index;
            insert(&fixture, &tree, cursor, 1, &key.to_be_bytes(), &[7; 26]);
        }
    }
    let report = sound(&fixture);
    assert_eq!(report.rows, 32_000);
    let full = report.bytes + report.rows * SLOT_BYTES as u64;
    assert!(full as f64 / (report.pages as f64 * PAGE_BYTES as f64) > 0.85, "{report:?}");
}

#[test]
fn a_taken_key_is_told_with_its_header() {
    let fixture = Fixture::new(64);
    let tree = tree(&fixture, 8);
    let mut cursor = TreeCursor::new();
    insert(&fixture, &tree, &mut cursor, 5, b"key", b"rest");
    let taken = insert(&fixture, &tree, &mut cursor, 6, b"key", b"other");
    assert_eq!(taken, InsertOutcome::Exists(RowHeader::new(0, 5)));
    let got = fixture.store.until_done(|| tree.get(b"key", |header, rest| (header, rest.to_vec()))).expect("a row");
    assert_eq!(got, Some((RowHeader::new(0, 5), b"rest".to_vec())));
    assert_eq!(fixture.store.until_done(|| tree.get(b"kex", |_: RowHeader, _: &[u8]| ())).expect("no error"), None);
}

#[test]
fn changes_want_the_header_that_was_seen() {
    let fixture = Fixture::new(64);
    let tree = tree(&fixture, 8);
    let mut cursor = TreeCursor::new();
    insert(&fixture, &tree, &mut cursor, 5, b"key", b"old");
    let (five, six) = (RowHeader::new(0, 5), RowHeader::new(RowHeader::HAS_OLDER_VERSION, 6));
    let mut kept = Vec::new();
    let change = |expected, new, rest: &[u8], kept: &mut Vec<_>, cursor: &mut TreeCursor| {
        tree.replace(cursor, &context(6), b"key", expected, new, rest, |header: RowHeader, rest: &[u8]| {
            kept.push((header, rest.to_vec()))
        })
        .expect("no need")
    };
    let done = change(five, six, b"a longer one", &mut kept, &mut cursor);
    assert!(matches!(done, ChangeOutcome::Done(_)));
    assert_eq!(kept, [(five, b"old".to_vec())]);
    assert_eq!(change(five, six, b"x", &mut kept, &mut cursor), ChangeOutcome::Changed(six));
    let ghost = RowHeader::new(RowHeader::GHOST, 7);
    let outcome =
        tree.set_header(&mut cursor, &context(7), b"key", six, ghost, |_: RowHeader, _: &[u8]| ()).expect("no need");
    assert!(matches!(outcome, ChangeOutcome::Done(_)));
    assert_eq!(sound(&fixture).ghosts, 1);
    let outcome = tree.remove(&mut cursor, &context(0), b"key", six).expect("no need");
    assert_eq!(outcome, ChangeOutcome::Changed(ghost));
    assert!(matches!(tree.remove(&mut cursor, &context(0), b"key", ghost), Ok(ChangeOutcome::Done(_))));
    assert_eq!(tree.remove(&mut cursor, &context(0), b"key", ghost).expect("no need"), ChangeOutcome::Missing);
    assert_eq!(kept.len(), 1);
}

#[test]
fn rows_and_keys_that_are_too_long_are_refused() {
    let fixture = Fixture::new(64);
    let tree = tree(&fixture, 100);
    let mut cursor = TreeCursor::new();
    let stop = tree.insert(&mut cursor, &context(1), &[1; 101], b"");
    assert!(matches!(stop, Err(Stop::Error(StorageError::KeyTooLong { bytes: 101, bytes_max: 100, .. }))));
    let max = tree.row_bytes_max();
    let stop = tree.insert(&mut cursor, &context(1), &[1; 100], &vec![0; max - 99]);
    assert!(matches!(stop, Err(Stop::Error(StorageError::RowTooLong { .. }))));
    for key in 0..50u8 {
        insert(&fixture, &tree, &mut cursor, 1, &[key.wrapping_mul(77); 100], &vec![key; max - 100]);
    }
    assert_eq!(sound(&fixture).rows, 50);
    assert!(matches!(Tree::create(&fixture.store, 99, KEY_BYTES_MAX + 1), Err(Stop::Error(_))));
}

#[derive(Debug, Clone)]
enum Op {
    Insert(u16, u16),
    Replace(u16, u16),
    Ghost(u16),
    Remove(u16),
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => (any::<u16>(), 0..300u16).prop_map(|(key, len)| Op::Insert(key % 600, len)),
        3 => (any::<u16>(), 0..900u16).prop_map(|(key, len)| Op::Replace(key % 600, len)),
        1 => any::<u16>().prop_map(|key| Op::Ghost(key % 600)),
        2 => any::<u16>().prop_map(|key| Op::Remove(key % 600)),
    ]
}

/// Keys of very different lengths, up to the longest allowed, many with long common beginnings.
fn key_of(number: u16) -> Vec<u8> {
    let mut key = vec![b'a'; (number as usize % 7) * 200];
    key.extend_from_slice(&number.wrapping_mul(40_503).to_be_bytes());
    key
}

type Model = BTreeMap<Vec<u8>, (RowHeader, Vec<u8>)>;

fn apply(fixture: &Fixture, tree: &Tree, cursor: &mut TreeCursor, model: &mut Model, xid: u64, op: &Op) {
    let until_done = |operation: &mut dyn FnMut() -> Result<ChangeOutcome, Stop>| {
        fixture.store.until_done(operation).expect("no error")
    };
    match *op {
        Op::Insert(number, len) => {
            let (key, rest) = (key_of(number), vec![xid as u8; len as usize]);
            let outcome = insert(fixture, tree, cursor, xid, &key, &rest);
            match model.get(&key) {
                Some(&(header, _)) => assert_eq!(outcome, InsertOutcome::Exists(header)),
                None => {
                    assert!(matches!(outcome, InsertOutcome::Done(_)));
                    model.insert(key, (RowHeader::new(0, xid), rest));
                }
            }
        }
        Op::Replace(number, len) => {
            let (key, rest) = (key_of(number), vec![xid as u8; len as usize]);
            let new = RowHeader::new(RowHeader::HAS_OLDER_VERSION, xid);
            let expected = model.get(&key).cloned().unwrap_or_default();
            let mut kept = None;
            let outcome = until_done(&mut || {
                tree.replace(cursor, &context(xid), &key, expected.0, new, &rest, |h: RowHeader, r: &[u8]| {
                    kept = Some((h, r.to_vec()))
                })
            });
            if let Some(row) = model.get_mut(&key) {
                assert!(matches!(outcome, ChangeOutcome::Done(_)));
                assert_eq!(kept, Some(expected));
                *row = (new, rest);
            } else {
                assert_eq!((outcome, kept), (ChangeOutcome::Missing, None));
            }
        }
        Op::Ghost(number) => {
            let key = key_of(number);
            let expected = model.get(&key).map(|row| row.0).unwrap_or_default();
            let new = RowHeader::new(RowHeader::GHOST, xid);
            let outcome = until_done(&mut || {
                tree.set_header(cursor, &context(xid), &key, expected, new, |_: RowHeader, _: &[u8]| ())
            });
            assert_eq!(matches!(outcome, ChangeOutcome::Done(_)), model.contains_key(&key));
            model.entry(key).and_modify(|row| row.0 = new);
        }
        Op::Remove(number) => {
            let key = key_of(number);
            let expected = model.get(&key).map(|row| row.0).unwrap_or_default();
            let outcome = until_done(&mut || tree.remove(cursor, &context(xid), &key, expected));
            assert_eq!(matches!(outcome, ChangeOutcome::Done(_)), model.remove(&key).is_some());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// A tree does what an ordered map does, in a pool far smaller than the tree.
    #[test]
    fn behaves_as_an_ordered_map(ops in proptest::collection::vec(op(), 1..900), low in any::<u16>(), high in any::<u16>()) {
        let fixture = Fixture::new(64);
        let tree = tree(&fixture, 1202);
        let mut cursor = TreeCursor::new();
        let mut model = Model::new();
        for (xid, op) in ops.iter().enumerate() {
            apply(&fixture, &tree, &mut cursor, &mut model, xid as u64 + 1, op);
        }
        let all: Vec<_> = model.iter().map(|(key, row)| (key.clone(), row.1.clone())).collect();
        prop_assert_eq!(&rows(&fixture, &tree, ScanRange::ALL), &all);
        for (key, row) in &model {
            let got = fixture.store.until_done(|| tree.get(key, |header, rest| (header, rest.to_vec()))).expect("a row");
            prop_assert_eq!(got.as_ref(), Some(row));
        }
        let (low, high) = (key_of(low % 600), key_of(high % 600));
        for direction in [Direction::Forward, Direction::Backward] {
            for (from, to) in [
                (Bound::Included(&low[..]), Bound::Excluded(&high[..])),
                (Bound::Excluded(&low[..]), Bound::Included(&high[..])),
                (Bound::Unbounded, Bound::Included(&high[..])),
                (Bound::Included(&low[..]), Bound::Unbounded),
            ] {
                let inside = |key: &[u8]| {
                    (match from { Bound::Included(low) => key >= low, Bound::Excluded(low) => key > low, Bound::Unbounded => true })
                        && match to { Bound::Included(high) => key <= high, Bound::Excluded(high) => key < high, Bound::Unbounded => true }
                };
                let mut wanted: Vec<_> = all.iter().filter(|row| inside(&row.0)).cloned().collect();
                if direction == Direction::Backward {
                    wanted.reverse();
                }
                prop_assert_eq!(rows(&fixture, &tree, ScanRange { low: from, high: to, direction }), wanted);
            }
        }
        sound(&fixture);
    }
}

#[test]
fn random_keys_in_a_small_pool() {
    let fixture = Fixture::new(64);
    let tree = tree(&fixture, 8);
    let mut cursor = TreeCursor::new();
    let mut random = Random(3);
    let mut model = BTreeMap::new();
    for _ in 0..20_000 {
        let key = random.next().to_be_bytes();
        insert(&fixture, &tree, &mut cursor, 1, &key, &key[..4]);
        model.insert(key.to_vec(), key[..4].to_vec());
    }
    assert!(fixture.store.pool.frames() < sound(&fixture).pages as usize);
    assert_eq!(rows(&fixture, &tree, ScanRange::ALL), model.into_iter().collect::<Vec<_>>());
}

#[test]
fn several_threads_insert_read_and_scan() {
    let fixture = Fixture::new(256);
    let tree = tree(&fixture, 8);
    let threads = 4;
    let rows_each = 6_000u64;
    thread::scope(|scope| {
        for session in 0..threads {
            let (fixture, tree) = (&fixture, &tree);
            scope.spawn(move || {
                let mut random = Random(session);
                let mut cursor = TreeCursor::new();
                for index in 0..rows_each {
                    // Two threads insert upwards in ranges of their own, two all over the place.
                    let key = if session % 2 == 0 { session << 32 | index } else { random.next() >> 8 << 8 | session };
                    insert(fixture, tree, &mut cursor, session + 1, &key.to_be_bytes(), &session.to_be_bytes());
                    let found = fixture.store.until_done(|| tree.get(&key.to_be_bytes(), |header, _| header.xid()));
                    assert_eq!(found.expect("no error"), Some(session + 1));
                }
            });
        }
        let (fixture, tree) = (&fixture, &tree);
        scope.spawn(move || {
            for _ in 0..20 {
                let seen = rows(fixture, tree, ScanRange::ALL);
                assert!(seen.windows(2).all(|pair| pair[0].0 < pair[1].0), "in order, each once");
            }
        });
        scope.spawn(move || {
            for _ in 0..5 {
                fixture.checkpoint();
            }
        });
    });
    assert_eq!(sound(&fixture).rows, threads * rows_each);
}

#[test]
fn several_threads_split_the_same_inner_pages() {
    const KEY_BYTES: usize = 600;
    let fixture = Fixture::new(4_096);
    let tree = tree(&fixture, KEY_BYTES);
    let (threads, rows_each) = (4, 1_000u64);
    thread::scope(|scope| {
        for session in 0..threads {
            let (fixture, tree) = (&fixture, &tree);
            scope.spawn(move || {
                let mut cursor = TreeCursor::new();
                for index in 0..rows_each {
                    // What the keys have in common makes separators long, so that an inner page holds few; and the
                    // threads' rows lie side by side, so that they split the same ones.
                    let mut key = [0; KEY_BYTES];
                    key[KEY_BYTES - 8..].copy_from_slice(&(index * threads + session).to_be_bytes());
                    insert(fixture, tree, &mut cursor, session + 1, &key, &[7; 2_000]);
                }
            });
        }
    });
    assert_eq!(sound(&fixture).rows, threads * rows_each);
}

#[test]
fn a_full_log_is_told_and_undo_goes_on() {
    let fixture = Fixture::new(512);
    let tree = tree(&fixture, 8);
    let mut cursor = TreeCursor::new();
    let mut key = 0u64;
    let error = loop {
        let result = fixture.store.until_done(|| tree.insert(&mut cursor, &context(1), &key.to_be_bytes(), &[1; 4000]));
        match result {
            Ok(_) => key += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, StorageError::LogFull), "{error}");
    let clr = LogContext::new(1).with(LogContext::CLR);
    let expected = RowHeader::new(0, 1);
    let key = (key - 1).to_be_bytes();
    let outcome = fixture.store.until_done(|| tree.remove(&mut cursor, &clr, &key, expected)).expect("undo has room");
    assert!(matches!(outcome, ChangeOutcome::Done(_)));
    let before = fixture.checkpoint();
    fixture.log.truncate(before);
    insert(&fixture, &tree, &mut cursor, 2, &key, b"again");
    sound(&fixture);
}
