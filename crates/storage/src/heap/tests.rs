use std::collections::BTreeMap;

use pikepole_contention::sync::thread;
use proptest::prelude::*;

use super::*;
use crate::test_support::{Fixture, context};

const OBJECT: u32 = 20;

type Model = BTreeMap<Rid, (RowHeader, Vec<u8>)>;

fn rows(fixture: &Fixture, heap: &Heap) -> Model {
    let mut scan = heap.scan();
    let mut rows = Model::new();
    while fixture.store.until_done(|| scan.next_batch()).expect("a batch") {
        for row in scan.rows() {
            assert!(rows.insert(row.rid, (row.header, row.rest.to_vec())).is_none(), "each row once");
        }
    }
    rows
}

fn sound(fixture: &Fixture) -> crate::ObjectReport {
    let report = fixture.store.check().expect("a check");
    assert!(report.is_sound(), "{:?}", report.findings);
    report.objects.first().copied().unwrap_or_default()
}

#[derive(Debug, Clone)]
enum Op {
    Insert(u16),
    Replace(usize, u16),
    Ghost(usize),
    Remove(usize),
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        5 => (0..400u16).prop_map(Op::Insert),
        5 => (any::<usize>(), 0..3000u16).prop_map(|(row, len)| Op::Replace(row, len)),
        1 => any::<usize>().prop_map(Op::Ghost),
        2 => any::<usize>().prop_map(Op::Remove),
    ]
}

fn apply(fixture: &Fixture, heap: &Heap, model: &mut Model, xid: u64, op: &Op) {
    let store = &fixture.store;
    let pick = |row: usize, model: &Model| {
        let at = row % model.len().max(1);
        model.iter().nth(at).map(|(rid, row)| (*rid, row.clone()))
    };
    match *op {
        Op::Insert(len) => {
            let rest = vec![xid as u8; len as usize];
            let (rid, _) = store.until_done(|| heap.insert(&context(xid), &rest)).expect("an insert");
            assert!(model.insert(rid, (RowHeader::new(0, xid), rest)).is_none());
        }
        Op::Replace(row, len) => {
            let Some((rid, old)) = pick(row, model) else { return };
            let (new, rest) = (RowHeader::new(RowHeader::HAS_OLDER_VERSION, xid), vec![xid as u8; len as usize]);
            let mut kept = None;
            let outcome = store.until_done(|| {
                heap.replace(&context(xid), rid, old.0, new, &rest, |header: RowHeader, rest: &[u8]| {
                    kept = Some((header, rest.to_vec()))
                })
            });
            assert!(matches!(outcome, Ok(ChangeOutcome::Done(_))));
            assert_eq!(kept, Some(old.clone()));
            let stale = heap.replace(&context(xid), rid, old.0, new, &rest, |_: RowHeader, _: &[u8]| ());
            assert_eq!(
                store.until_done(|| stale.clone()).unwrap_or(ChangeOutcome::Changed(new)),
                ChangeOutcome::Changed(new)
            );
            model.insert(rid, (new, rest));
        }
        Op::Ghost(row) => {
            let Some((rid, old)) = pick(row, model) else { return };
            let new = RowHeader::new(RowHeader::GHOST, xid);
            let mut kept = None;
            let outcome = store.until_done(|| {
                heap.set_header(&context(xid), rid, old.0, new, |header: RowHeader, rest: &[u8]| {
                    kept = Some((header, rest.to_vec()))
                })
            });
            assert!(matches!(outcome, Ok(ChangeOutcome::Done(_))));
            assert_eq!(kept, Some(old.clone()));
            model.insert(rid, (new, old.1));
        }
        Op::Remove(row) => {
            let Some((rid, old)) = pick(row, model) else { return };
            let outcome = store.until_done(|| heap.remove(&context(xid), rid, old.0));
            assert!(matches!(outcome, Ok(ChangeOutcome::Done(_))));
            model.remove(&rid);
            let gone = store.until_done(|| heap.remove(&context(xid), rid, old.0));
            assert!(matches!(gone, Ok(ChangeOutcome::Missing)));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    /// A heap does what a map from rid to row does, in a small pool; rows keep their rid when they move.
    #[test]
    fn behaves_as_a_map(ops in proptest::collection::vec(op(), 1..500)) {
        let fixture = Fixture::new(64);
        let heap = Heap::open(&fixture.store, OBJECT);
        let mut model = Model::new();
        for (xid, op) in ops.iter().enumerate() {
            apply(&fixture, &heap, &mut model, xid as u64 + 1, op);
        }
        prop_assert_eq!(&rows(&fixture, &heap), &model);
        for (rid, row) in &model {
            let got = fixture.store.until_done(|| heap.get(*rid, |header, rest| (header, rest.to_vec()))).expect("a row");
            prop_assert_eq!(got.as_ref(), Some(row));
        }
        sound(&fixture);
    }
}

#[test]
fn targets_follow_the_policy() {
    let fixture = Fixture::new(256);
    let heap = Heap::open(&fixture.store, OBJECT);
    let inserts = |threads: u64| {
        thread::scope(|scope| {
            for session in 0..threads {
                let (fixture, heap) = (&fixture, &heap);
                scope.spawn(move || {
                    let mut pages = std::collections::BTreeSet::new();
                    for _ in 0..500 {
                        let (rid, _) =
                            fixture.store.until_done(|| heap.insert(&context(session), &[1; 40])).expect("a row");
                        pages.insert(rid.page);
                    }
                    pages
                });
            }
        });
    };
    assert_eq!(fixture.store.heap_insert_targets(), HeapInsertTargets::PerScheduler);
    inserts(2);
    fixture.store.set_heap_insert_targets(HeapInsertTargets::OneTarget);
    assert_eq!(fixture.store.heap_insert_targets(), HeapInsertTargets::OneTarget);
    inserts(4);
    let report = sound(&fixture);
    assert_eq!(report.rows, 3_000);
    assert_eq!(rows(&fixture, &heap).len(), 3_000);
}

#[test]
fn one_target_fills_one_page_after_the_other() {
    let fixture = Fixture::new(64);
    fixture.store.set_heap_insert_targets(HeapInsertTargets::OneTarget);
    let heap = Heap::open(&fixture.store, OBJECT);
    thread::scope(|scope| {
        for session in 0..3 {
            let (fixture, heap) = (&fixture, &heap);
            scope.spawn(move || {
                for _ in 0..300 {
                    fixture.store.until_done(|| heap.insert(&context(session), &[1; 88])).expect("a row");
                }
            });
        }
    });
    // 900 rows of 100 bytes with their slots, 81 a page.
    assert_eq!(sound(&fixture).pages, 12);
}

/// Inserts rows, and removes them as ghosts that no snapshot needs, or as an undo does.
fn insert_and_remove(fixture: &Fixture, heap: &Heap, rows: usize, as_undo: bool) {
    let (store, ghost, system) = (&fixture.store, RowHeader::new(RowHeader::GHOST, 1), LogContext::new(0));
    let insert = |at: usize| store.until_done(|| heap.insert(&context(1), &vec![1; 80 + at % 40])).expect("a row").0;
    let rids: Vec<Rid> = (0..rows).map(insert).collect();
    for rid in rids {
        let header = RowHeader::new(0, 1);
        let removed = if as_undo {
            store.until_done(|| heap.remove(&context(1).with(LogContext::CLR), rid, header))
        } else {
            let unseen = |_: RowHeader, _: &[u8]| ();
            store.until_done(|| heap.set_header(&context(1), rid, header, ghost, unseen)).expect("a ghost");
            store.until_done(|| heap.remove_ghost(&system, rid, ghost))
        };
        assert!(matches!(removed, Ok(ChangeOutcome::Done(_))), "{removed:?}");
    }
}

#[test]
fn pages_that_lose_all_their_rows_are_used_again() {
    for policy in [HeapInsertTargets::PerScheduler, HeapInsertTargets::OneTarget] {
        for as_undo in [false, true] {
            let fixture = Fixture::new(256);
            fixture.store.set_heap_insert_targets(policy);
            let heap = Heap::open(&fixture.store, OBJECT);
            for _ in 0..30 {
                insert_and_remove(&fixture, &heap, 1_000, as_undo);
            }
            let (used, own) = fixture.store.pages_of(OBJECT);
            assert!(used <= 2 && own <= 32, "{policy:?}, as undo: {as_undo}: {used} of {own} pages");
            assert_eq!(sound(&fixture).rows, 0);
        }
    }
}

#[test]
fn a_page_that_goes_out_of_use_takes_no_row_along() {
    for policy in [HeapInsertTargets::OneTarget, HeapInsertTargets::PerScheduler] {
        let fixture = Fixture::new(256);
        fixture.store.set_heap_insert_targets(policy);
        let heap = Heap::open(&fixture.store, OBJECT);
        thread::scope(|scope| {
            for _ in 0..3 {
                let (fixture, heap) = (&fixture, &heap);
                scope.spawn(move || {
                    for _ in 0..10 {
                        insert_and_remove(fixture, heap, 300, false);
                        for _ in 0..10 {
                            fixture.store.until_done(|| heap.insert(&context(2), &[2; 900])).expect("a row");
                        }
                    }
                });
            }
        });
        assert_eq!(rows(&fixture, &heap).len(), 300);
        assert_eq!(sound(&fixture).rows, 300);
    }
}

#[test]
fn a_rid_of_nothing_is_no_row() {
    let fixture = Fixture::new(64);
    let heap = Heap::open(&fixture.store, OBJECT);
    let (rid, _) = fixture.store.until_done(|| heap.insert(&context(1), b"row")).expect("a row");
    assert_eq!(Rid::from_bytes(rid.to_bytes()), rid);
    let none = Rid { slot: 9, ..rid };
    assert_eq!(fixture.store.until_done(|| heap.get(none, |_: RowHeader, _: &[u8]| ())).expect("no error"), None);
    let map = Rid { page: PageId(0), slot: 0 };
    assert_eq!(fixture.store.until_done(|| heap.get(map, |_: RowHeader, _: &[u8]| ())).expect("no error"), None);
    let long = heap.insert(&context(1), &[0; Heap::ROW_BYTES_MAX + 1]);
    assert!(matches!(long, Err(Stop::Error(StorageError::RowTooLong { .. }))));
    fixture.store.until_done(|| heap.insert(&context(1), &[0; Heap::ROW_BYTES_MAX])).expect("the longest row");
    sound(&fixture);
}
