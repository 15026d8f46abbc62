//! Tables in memory by one thread, sessions in turn; and by several at once.

use std::collections::BTreeMap;
use std::ops::{Bound, RangeBounds};
use std::sync::Arc;

use pikepole_contention::{SpinlockClass, Statistics};

use super::*;

mod fingers;
mod freed;
mod histories;
mod sharing;

/// A table with a unique key in hash or in order, and values that may repeat in both kinds of index.
fn table(key: IndexKind) -> Arc<MemoryTable> {
    let shape = |kind, unique| IndexShape { kind, unique };
    let hash = IndexKind::Hash { buckets: 2 };
    Arc::new(MemoryTable::new(&[shape(key, true), shape(IndexKind::Range, false), shape(hash, false)]))
}

fn keys(key: u32, value: u32) -> Keys {
    let mut keys = Keys::default();
    for part in [key, value, value] {
        keys.push::<()>(|bytes| {
            bytes.extend_from_slice(&part.to_be_bytes());
            Ok(())
        })
        .expect("nothing fails");
    }
    keys
}

fn body(key: u32, value: u32) -> [u8; 8] {
    let mut body = [0; 8];
    body[..4].copy_from_slice(&key.to_be_bytes());
    body[4..].copy_from_slice(&value.to_be_bytes());
    body
}

fn row_of(body: &[u8]) -> (u32, u32) {
    let part = |at: usize| u32::from_be_bytes(body[at..at + 4].try_into().expect("four bytes"));
    (part(0), part(4))
}

fn insert(tx: &mut MemoryTransaction, table: &Arc<MemoryTable>, key: u32, value: u32) -> Result<(), Refusal> {
    tx.begin_statement();
    let mark = tx.mark();
    let done = tx.insert(table, &keys(key, value), &body(key, value), &mut Fingers::default(), &pin()).map(|_| ());
    if done.is_err() {
        tx.rollback_to(mark);
    }
    done
}

/// Rows of a range of an index, with their names, in the order of the scan.
fn scan(
    tx: &mut MemoryTransaction,
    table: &Arc<MemoryTable>,
    index: usize,
    range: KeyRange,
    reverse: bool,
    level: Level,
) -> Vec<(Vec<u8>, (u32, u32))> {
    tx.begin_statement();
    let mut scan = MemoryScan::default();
    scan.restart(index, range, reverse);
    let mut rows = Vec::new();
    while tx.scan(&mut scan, table, level) {
        while scan.next_row() {
            let (name, body) = scan.row();
            rows.push((name.to_vec(), row_of(body)));
        }
    }
    rows
}

const WAYS: [Timestamps; 2] = [Timestamps::Atomic, Timestamps::Clock];

/// Transactions with times by a way, or by the counter where it is not supported.
fn home_by(way: Timestamps) -> Arc<MemoryTransactions> {
    let home = Arc::new(MemoryTransactions::default());
    home.set_timestamps(way);
    home
}

fn all() -> KeyRange {
    KeyRange::Between(Bound::Unbounded, Bound::Unbounded)
}

fn equal(key: u32) -> KeyRange {
    KeyRange::Equal(key.to_be_bytes().to_vec())
}

/// All rows by the first index, which must be what the second gives.
fn rows(tx: &mut MemoryTransaction, table: &Arc<MemoryTable>, level: Level) -> Vec<(u32, u32)> {
    let sorted = |index| {
        let mut rows: Vec<_> = scan(tx, table, index, all(), false, level).into_iter().map(|(_, row)| row).collect();
        rows.sort_unstable();
        rows
    };
    let [first, second, third] = [0, 1, 2].map(sorted);
    assert_eq!(first, second, "indexes agree");
    assert_eq!(first, third, "indexes agree");
    first
}

fn name_of(tx: &mut MemoryTransaction, table: &Arc<MemoryTable>, key: u32) -> Option<Vec<u8>> {
    scan(tx, table, 0, equal(key), false, Level::Snapshot).pop().map(|(name, _)| name)
}

/// Changes the row of a key, or deletes it; false: there is none.
fn change(
    tx: &mut MemoryTransaction,
    table: &Arc<MemoryTable>,
    key: u32,
    to: Option<(u32, u32)>,
) -> Result<bool, Refusal> {
    let Some(name) = name_of(tx, table, key) else { return Ok(false) };
    let mark = tx.mark();
    let done = tx.read_current(table, &name, &mut Vec::new()).and_then(|found| match to {
        _ if !found => Ok(false),
        Some((key, value)) => tx.update(table, &name, &keys(key, value), &body(key, value), &mut Vec::new()),
        None => tx.delete(table, &name),
    });
    if done.is_err() {
        tx.rollback_to(mark);
    }
    done
}

fn commit(tx: &mut MemoryTransaction) -> Result<(), Invalid> {
    let valid = tx.prepare();
    match valid {
        Ok(()) => tx.commit(0),
        Err(_) => tx.rollback(),
    }
    valid
}

/// Has the epochs free what they hold, which the tests beside this one can keep for a while, until something is so; false: it did not come.
fn free_until(is_so: impl Fn() -> bool) -> bool {
    (0..10_000).any(|_| {
        pin().flush();
        std::thread::sleep(std::time::Duration::from_micros(100));
        is_so()
    })
}

const KINDS: [IndexKind; 2] = [IndexKind::Range, IndexKind::Hash { buckets: 1 }];

#[test]
fn what_is_committed_is_seen_by_later_snapshots_alone() {
    for kind in KINDS {
        let (home, table) = (Arc::new(MemoryTransactions::default()), table(kind));
        let [mut a, mut b, mut c] = [home.session(), home.session(), home.session()];
        assert_eq!(insert(&mut a, &table, 1, 10), Ok(()));
        assert_eq!(rows(&mut a, &table, Level::Snapshot), [(1, 10)]);
        assert_eq!(rows(&mut b, &table, Level::Snapshot), []);
        assert_eq!(commit(&mut a), Ok(()));
        assert_eq!(rows(&mut b, &table, Level::Snapshot), [], "the snapshot of b is older");
        assert_eq!(rows(&mut c, &table, Level::Snapshot), [(1, 10)]);
        let name = name_of(&mut c, &table, 1).expect("the row is there");
        assert_eq!(change(&mut a, &table, 1, Some((1, 11))), Ok(true));
        assert_eq!(commit(&mut a), Ok(()));
        let mut bytes = Vec::new();
        let mut read =
            |tx: &mut MemoryTransaction| tx.read(&table, &name, Level::Snapshot, &mut bytes).then(|| row_of(&bytes));
        assert_eq!([&mut a, &mut b, &mut c].map(&mut read), [Some((1, 11)), None, Some((1, 10))]);
        assert_eq!(rows(&mut c, &table, Level::Snapshot), [(1, 10)]);
        assert_eq!(change(&mut c, &table, 1, Some((1, 12))), Err(Refusal::Conflict));
        c.rollback();
        assert_eq!(change(&mut c, &table, 1, None), Ok(true));
        assert_eq!(rows(&mut c, &table, Level::Snapshot), []);
        assert_eq!(rows(&mut a, &table, Level::Snapshot), [(1, 11)]);
        assert_eq!(change(&mut a, &table, 1, None), Err(Refusal::Conflict), "c has not ended");
        a.rollback();
        assert_eq!(commit(&mut c), Ok(()));
        b.rollback();
        assert_eq!(rows(&mut b, &table, Level::Snapshot), []);
        b.rollback();
        assert_eq!((home.sweep(), table.rows()), (0, 0), "nothing is left of the row");
    }
}

#[test]
fn keys_are_unique_also_among_transactions_that_have_not_ended() {
    for kind in KINDS {
        let (home, table) = (Arc::new(MemoryTransactions::default()), table(kind));
        let [mut a, mut b] = [home.session(), home.session()];
        assert_eq!(insert(&mut a, &table, 1, 10), Ok(()));
        assert_eq!(insert(&mut a, &table, 1, 11), Err(Refusal::Duplicate(0)));
        assert_eq!(insert(&mut b, &table, 1, 12), Err(Refusal::Conflict));
        b.rollback();
        assert_eq!(commit(&mut a), Ok(()));
        assert_eq!(insert(&mut b, &table, 1, 13), Err(Refusal::Duplicate(0)));
        assert_eq!(insert(&mut b, &table, 2, 20), Ok(()));
        assert_eq!(change(&mut b, &table, 2, Some((1, 20))), Err(Refusal::Duplicate(0)));
        assert_eq!(change(&mut b, &table, 1, None), Ok(true));
        assert_eq!(change(&mut b, &table, 2, Some((1, 20))), Ok(true));
        assert_eq!(insert(&mut a, &table, 1, 14), Err(Refusal::Conflict), "b may give the key back");
        a.rollback();
        assert_eq!(rows(&mut b, &table, Level::Snapshot), [(1, 20)]);
        b.rollback();
        assert_eq!(rows(&mut a, &table, Level::Snapshot), [(1, 10)]);
        a.rollback();
        assert_eq!((home.sweep(), table.rows()), (0, 1));
    }
}

#[test]
fn what_was_read_holds_at_the_end_as_far_as_the_level_says() {
    let row_changes = |level| {
        let (home, table) = (Arc::new(MemoryTransactions::default()), table(IndexKind::Range));
        let [mut a, mut b] = [home.session(), home.session()];
        insert(&mut a, &table, 1, 10).expect("no conflict");
        commit(&mut a).expect("valid");
        rows(&mut a, &table, level);
        insert(&mut a, &table, 9, 90).expect("no conflict");
        change(&mut b, &table, 1, Some((1, 11))).expect("no conflict");
        commit(&mut b).expect("valid");
        commit(&mut a)
    };
    assert_eq!(row_changes(Level::Snapshot), Ok(()));
    assert_eq!(row_changes(Level::RepeatableRead), Err(Invalid::RepeatableRead));
    assert_eq!(row_changes(Level::Serializable), Err(Invalid::RepeatableRead));
    let row_comes = |level, range: KeyRange, index| {
        let (home, table) = (Arc::new(MemoryTransactions::default()), table(IndexKind::Hash { buckets: 1 }));
        let [mut a, mut b] = [home.session(), home.session()];
        scan(&mut a, &table, index, range, false, level);
        insert(&mut a, &table, 9, 90).expect("no conflict");
        insert(&mut b, &table, 5, 50).expect("no conflict");
        commit(&mut b).expect("valid");
        commit(&mut a)
    };
    assert_eq!(row_comes(Level::RepeatableRead, all(), 1), Ok(()));
    assert_eq!(row_comes(Level::Serializable, all(), 1), Err(Invalid::Serializable));
    assert_eq!(row_comes(Level::Serializable, equal(50), 1), Err(Invalid::Serializable));
    assert_eq!(row_comes(Level::Serializable, equal(50), 2), Err(Invalid::Serializable));
    assert_eq!(row_comes(Level::Serializable, equal(5), 0), Err(Invalid::Serializable));
    assert_eq!(row_comes(Level::Serializable, equal(6), 0), Ok(()));
}

#[test]
fn scans_go_on_behind_their_batches_in_both_directions() {
    let (home, table) = (Arc::new(MemoryTransactions::default()), table(IndexKind::Hash { buckets: 1 }));
    let mut a = home.session();
    for key in 0..3_000 {
        insert(&mut a, &table, key, key % 3).expect("no conflict");
    }
    commit(&mut a).expect("valid");
    let buckets = table.buckets(0).expect("a hash index");
    assert!((256..=4096).contains(&buckets), "{buckets} buckets for 3,000 keys");
    assert_eq!(rows(&mut a, &table, Level::Snapshot).len(), 3_000);
    let values = |reverse, tx: &mut MemoryTransaction| {
        let bound = |value: u32| Bound::Included(value.to_be_bytes().to_vec());
        let range = KeyRange::Between(bound(1), Bound::Excluded(3u32.to_be_bytes().to_vec()));
        scan(tx, &table, 1, range, reverse, Level::Snapshot).into_iter().map(|(_, row)| row).collect::<Vec<_>>()
    };
    let (forward, mut backward) = (values(false, &mut a), values(true, &mut a));
    assert_eq!(forward.len(), 2_000);
    assert!(forward.is_sorted_by_key(|row| row.1), "in the order of the index");
    backward.reverse();
    assert_eq!(forward, backward);
    assert_eq!(scan(&mut a, &table, 2, equal(2), false, Level::Snapshot).len(), 1_000);
}

/// The rows that a session in the middle of a transaction must see.
struct Expected {
    tx: MemoryTransaction,
    seen: Option<BTreeMap<u32, u32>>,
    marks: Vec<(usize, BTreeMap<u32, u32>)>,
}

#[test]
fn sessions_in_any_turn_see_their_snapshots_and_leave_nothing() {
    let mut seed = 1u64;
    let mut random = move |below: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % below
    };
    for round in 0..60 {
        let (home, table) = (home_by(WAYS[round / 2 % 2]), table(KINDS[round % 2]));
        let session = || Expected { tx: home.session(), seen: None, marks: Vec::new() };
        let mut sessions = [session(), session(), session()];
        let mut committed = BTreeMap::new();
        for _ in 0..300 {
            let at = random(3) as usize;
            let own = &mut sessions[at];
            let seen = own.seen.get_or_insert_with(|| committed.clone());
            assert_eq!(rows(&mut own.tx, &table, Level::Snapshot), Vec::from_iter(seen.clone()));
            let (key, value) = (random(6) as u32, random(4) as u32);
            match random(10) {
                0..3 => match insert(&mut own.tx, &table, key, value) {
                    Ok(()) => assert_eq!(seen.insert(key, value), None, "the key was free"),
                    Err(Refusal::Duplicate(_)) => assert!(seen.contains_key(&key)),
                    Err(Refusal::Conflict) => (),
                },
                3..5 => match change(&mut own.tx, &table, key, Some((key, value))) {
                    Ok(found) => assert_eq!(seen.get_mut(&key).map(|old| *old = value).is_some(), found),
                    Err(refusal) => assert_eq!(refusal, Refusal::Conflict),
                },
                5 => {
                    let to = random(6) as u32;
                    match change(&mut own.tx, &table, key, Some((to, value))) {
                        Ok(true) => {
                            assert!(seen.remove(&key).is_some());
                            assert_eq!(seen.insert(to, value), None, "the key was free");
                        }
                        Ok(false) => assert!(!seen.contains_key(&key)),
                        Err(Refusal::Duplicate(_)) => assert!(seen.contains_key(&to)),
                        Err(Refusal::Conflict) => (),
                    }
                }
                6 => match change(&mut own.tx, &table, key, None) {
                    Ok(found) => assert_eq!(seen.remove(&key).is_some(), found),
                    Err(refusal) => assert_eq!(refusal, Refusal::Conflict),
                },
                7 => own.marks.push((own.tx.mark(), seen.clone())),
                8 => {
                    if let Some((mark, before)) = own.marks.pop() {
                        own.tx.rollback_to(mark);
                        *seen = before;
                    }
                }
                _ => {
                    let seen = own.seen.take().expect("it has begun");
                    own.marks.clear();
                    if random(3) == 0 {
                        own.tx.rollback();
                    } else {
                        // What it has changed is what differs from its snapshot; no other session has changed those rows since.
                        let before = std::mem::take(&mut committed);
                        commit(&mut own.tx).expect("a snapshot needs nothing more");
                        let mut fresh = home.session();
                        committed = BTreeMap::from_iter(rows(&mut fresh, &table, Level::Snapshot));
                        for (key, value) in &committed {
                            let known = [before.get(key), seen.get(key)].contains(&Some(value));
                            assert!(known, "a value that somebody has written");
                        }
                    }
                }
            }
        }
        drop(sessions);
        assert_eq!(home.sweep(), 0, "no row waits without snapshots");
        assert_eq!(table.rows(), committed.len() as u64, "one version a row is left");
    }
}

#[test]
fn transfers_by_threads_keep_the_sum() {
    const ACCOUNTS: u32 = 8;
    for (kind, way) in KINDS.into_iter().flat_map(|kind| WAYS.map(|way| (kind, way))) {
        let (home, table) = (home_by(way), table(kind));
        let mut setup = home.session();
        for key in 0..ACCOUNTS {
            insert(&mut setup, &table, key, 100).expect("no conflict");
        }
        commit(&mut setup).expect("valid");
        std::thread::scope(|threads| {
            for thread in 0..4u32 {
                let (home, table) = (home.clone(), table.clone());
                threads.spawn(move || {
                    let mut tx = home.session();
                    for round in 0..500u32 {
                        let seen = rows(&mut tx, &table, Level::Snapshot);
                        assert_eq!(seen.iter().map(|row| row.1).sum::<u32>(), ACCOUNTS * 100);
                        let (from, to) = ((round + thread) % ACCOUNTS, (round * 3 + 1) % ACCOUNTS);
                        let (has, gets) = (seen[from as usize].1, seen[to as usize].1);
                        if from == to || has == 0 {
                            tx.rollback();
                            continue;
                        }
                        let moved = change(&mut tx, &table, from, Some((from, has - 1)))
                            .and_then(|_| change(&mut tx, &table, to, Some((to, gets + 1))));
                        match moved {
                            Ok(_) => commit(&mut tx).expect("a snapshot needs nothing more"),
                            Err(_) => tx.rollback(),
                        }
                    }
                });
            }
        });
        let counts = home.counts();
        assert!(counts.commits > 1, "somebody came through");
        assert_eq!((home.sweep(), table.rows()), (0, u64::from(ACCOUNTS)));
    }
}

/// A reader that comes too late for a commit does not wait for it: then there is another commit.
#[test]
fn waits_for_a_commit_are_counted() {
    let statistics = Statistics::new();
    let (home, table) = (Arc::new(MemoryTransactions::new(&statistics)), table(KINDS[0]));
    let counted = || statistics.spinlocks()[SpinlockClass::XTP_COMMIT as usize];
    let mut tx = home.session();
    insert(&mut tx, &table, 1, 0).expect("no conflict");
    commit(&mut tx).expect("valid");
    assert_eq!(counted().collisions, 0, "no transaction has waited");
    for value in 1.. {
        change(&mut tx, &table, 1, Some((1, value))).expect("no conflict");
        tx.prepare().expect("valid");
        let (told, heard) = std::sync::mpsc::channel();
        std::thread::scope(|threads| {
            let reader = threads.spawn(|| {
                let mut reader = home.session();
                told.send(()).expect("the other end is there");
                assert_eq!(rows(&mut reader, &table, Level::Snapshot), [(1, value)], "its time is before the look");
            });
            heard.recv().expect("the other end is there");
            std::thread::yield_now();
            tx.commit(1);
            reader.join().expect("no panic");
        });
        if counted().collisions > 0 {
            break;
        }
    }
    assert!(counted().spins >= counted().collisions);
}

/// A key from a few, of any length and with long common beginnings.
fn odd_key(mut seed: u64) -> Vec<u8> {
    let mut part = |below: u64| {
        let part = seed % below;
        seed /= below;
        part
    };
    let mut key = [vec![], vec![7; 5], vec![7; 8], vec![7; 20], vec![0; 9]][part(5) as usize].clone();
    key.extend_from_slice(&(part(40) as u16).to_be_bytes());
    key.extend(std::iter::repeat_n(0, part(4) as usize));
    key
}

#[test]
fn keys_of_any_shape_are_in_their_order_while_rows_come_and_go() {
    let home = Arc::new(MemoryTransactions::default());
    let ordered = IndexShape { kind: IndexKind::Range, unique: true };
    let table = Arc::new(MemoryTable::new(&[ordered]));
    let mut tx = home.session();
    let mut names: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
    let mut seed = 7u64;
    let mut random = move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    let mut bytes = Vec::new();
    for round in 0..6_000 {
        let key = odd_key(random() / 3);
        tx.begin_statement();
        // Rows come, most go, and come again.
        let is_there = names.contains_key(&key);
        if is_there && round / 1_000 % 2 == 1 || random() % 4 == 0 {
            if let Some(name) = names.remove(&key) {
                assert_eq!(tx.delete(&table, &name), Ok(true));
            }
        } else {
            let mut keys = Keys::default();
            keys.push::<()>(|bytes| {
                bytes.extend_from_slice(&key);
                Ok(())
            })
            .expect("nothing fails");
            let mark = tx.mark();
            let done = tx.insert(&table, &keys, &key, &mut Fingers::default(), &pin());
            assert_eq!(done.err(), is_there.then_some(Refusal::Duplicate(0)));
            match done {
                Ok(number) => {
                    let mut name = Vec::new();
                    keys.name_row(number, &mut name);
                    names.insert(key, name);
                }
                Err(_) => tx.rollback_to(mark),
            }
        }
        commit(&mut tx).expect("valid");
        if round % 100 == 0 {
            home.sweep();
            let bound = |kind: u64, key: Vec<u8>| match kind % 3 {
                0 => Bound::Unbounded,
                1 => Bound::Included(key),
                _ => Bound::Excluded(key),
            };
            let (mut low, mut high) = (odd_key(random()), odd_key(random()));
            if low > high {
                std::mem::swap(&mut low, &mut high);
            }
            let (low, high) = (bound(random(), low), bound(random(), high));
            let wanted = (low.clone(), high.clone());
            let expected: Vec<&Vec<u8>> = names.keys().filter(|key| wanted.contains(*key)).collect();
            for reverse in [false, true] {
                let mut scan = MemoryScan::default();
                scan.restart(0, KeyRange::Between(low.clone(), high.clone()), reverse);
                let mut seen = Vec::new();
                while tx.scan(&mut scan, &table, Level::Snapshot) {
                    while scan.next_row() {
                        seen.push(scan.row().1.to_vec());
                    }
                }
                if reverse {
                    seen.reverse();
                }
                assert_eq!(seen.iter().collect::<Vec<_>>(), expected, "{low:?} to {high:?}, reverse: {reverse}");
            }
            for (key, name) in &names {
                assert!(tx.read(&table, name, Level::Snapshot, &mut bytes) && bytes == *key);
            }
            tx.rollback();
        }
    }
    for (_, name) in std::mem::take(&mut names) {
        assert_eq!(tx.delete(&table, &name), Ok(true));
    }
    commit(&mut tx).expect("valid");
    assert_eq!((home.sweep(), table.rows()), (0, 0));
}

#[test]
fn rows_that_stay_are_seen_by_scans_while_others_come_and_go_beside_them() {
    const STAY: u32 = 200;
    let (home, table) = (Arc::new(MemoryTransactions::default()), table(IndexKind::Range));
    let mut setup = home.session();
    for key in 0..STAY {
        insert(&mut setup, &table, key * 100, 0).expect("no conflict");
    }
    commit(&mut setup).expect("valid");
    std::thread::scope(|threads| {
        for thread in 1..3u32 {
            let (home, table) = (home.clone(), table.clone());
            threads.spawn(move || {
                let mut tx = home.session();
                for round in 0..20_000u32 {
                    let key = round.wrapping_mul(7_919) % STAY * 100 + thread * 10 + round / 1_000 % 10;
                    match name_of(&mut tx, &table, key) {
                        Some(name) => assert_eq!(tx.delete(&table, &name), Ok(true)),
                        None => insert(&mut tx, &table, key, 1).expect("the key is this thread's"),
                    }
                    commit(&mut tx).expect("a snapshot needs nothing more");
                }
            });
        }
        for reverse in [false, true] {
            let (home, table) = (home.clone(), table.clone());
            threads.spawn(move || {
                let mut tx = home.session();
                for _ in 0..100 {
                    let rows = scan(&mut tx, &table, 0, all(), reverse, Level::Snapshot);
                    let mut keys: Vec<u32> = rows.iter().map(|row| row.1.0).collect();
                    if reverse {
                        keys.reverse();
                    }
                    assert!(keys.is_sorted_by(|a, b| a < b), "in the order of the index");
                    assert_eq!(keys.iter().filter(|key| **key % 100 == 0).count(), STAY as usize);
                    tx.rollback();
                }
            });
        }
    });
    assert_eq!(home.sweep(), 0);
}

/// Threads insert, find and delete rows of keys of their own while buckets are split off, and others look through all rows.
#[test]
fn rows_are_found_in_hash_indexes_that_grow_under_several_threads() {
    const STAY: u32 = 50;
    const OWN: u32 = 3_000;
    for round in 0..4 {
        let home = Arc::new(MemoryTransactions::default());
        let hash = |unique| IndexShape { kind: IndexKind::Hash { buckets: 1 }, unique };
        let table = Arc::new(MemoryTable::new(&[hash(true), hash(false), hash(false)]));
        let mut setup = home.session();
        for key in 0..STAY {
            insert(&mut setup, &table, key, key % 5).expect("no conflict");
        }
        commit(&mut setup).expect("valid");
        std::thread::scope(|threads| {
            for thread in 1..4u32 {
                let (home, table) = (home.clone(), table.clone());
                threads.spawn(move || {
                    let mut tx = home.session();
                    let key_of = |number: u32| (number * 3 + thread) * 100;
                    for number in 0..OWN {
                        insert(&mut tx, &table, key_of(number), number % 5).expect("the key is this thread's");
                        commit(&mut tx).expect("valid");
                        let before = key_of(number * 7_919 % (number + 1));
                        assert!(name_of(&mut tx, &table, before).is_some(), "{before}, round {round}");
                        assert!(name_of(&mut tx, &table, before + 1).is_none(), "{before}, round {round}");
                        tx.rollback();
                    }
                    for number in (0..OWN).filter(|number| number % 3 > 0) {
                        assert_eq!(change(&mut tx, &table, key_of(number), None), Ok(true), "{number}, round {round}");
                        commit(&mut tx).expect("valid");
                    }
                });
            }
            let (home, table) = (home.clone(), table.clone());
            threads.spawn(move || {
                let mut tx = home.session();
                for _ in 0..30 {
                    let seen = rows(&mut tx, &table, Level::Snapshot);
                    assert!(seen.is_sorted_by(|a, b| a.0 < b.0), "a key is there twice");
                    assert_eq!(seen.iter().filter(|row| row.0 < STAY).count(), STAY as usize);
                    tx.rollback();
                }
            });
        });
        assert_eq!((home.sweep(), table.rows()), (0, u64::from(STAY + OWN)));
        assert_eq!(rows(&mut home.session(), &table, Level::Snapshot).len(), (STAY + OWN) as usize);
        assert!(table.buckets(0).expect("hash") > OWN as usize);
    }
}

#[test]
fn buckets_can_be_there_before_their_rows() {
    let home = Arc::new(MemoryTransactions::default());
    let table = table(IndexKind::Hash { buckets: 4 });
    let mut tx = home.session();
    for key in 0..100 {
        insert(&mut tx, &table, key, key).expect("new keys");
    }
    commit(&mut tx).expect("valid");
    table.reserve(50_000);
    assert_eq!(table.buckets(0), Some(50_000));
    for key in 100..3_000 {
        insert(&mut tx, &table, key, key).expect("new keys");
    }
    commit(&mut tx).expect("valid");
    assert_eq!(rows(&mut tx, &table, Level::Snapshot).len(), 3_000);
    let chains = table.chains(0).expect("hash");
    assert_eq!((chains.buckets, chains.nodes), (50_000, 3_000));
    assert!((2_800..=3_000).contains(&chains.used_buckets) && chains.longest < 8, "{chains:?}");
}

/// An index has what it began with after all that was put into it has left.
#[test]
fn memory_of_indexes_is_counted_as_it_comes_and_goes() {
    let home = Arc::new(MemoryTransactions::default());
    let table = table(IndexKind::Range);
    let memory = |at| table.index_memory(at).expect("it is there");
    let mut tx = home.session();
    assert_eq!(table.pages(0), Some(PageCounts { leaves: 1, ..PageCounts::default() }));
    let empty = [memory(0), memory(1), memory(2)];
    assert!(empty.iter().all(|memory| memory.structure > 0 && memory.nodes == 0));
    assert!(table.index_memory(3).is_none() && table.pages(2).is_none() && table.chains(0).is_none());

    for key in 0..1000 {
        insert(&mut tx, &table, key, key % 3).expect("new keys");
    }
    commit(&mut tx).expect("no others");
    // A node has a head of 24 bytes and its key: 4 bytes and, where keys may repeat, 8 more of the row's number.
    assert_eq!((memory(0).nodes, memory(1).nodes, memory(2).nodes), (32_000, 40_000, 40_000));
    assert_eq!(memory(0).bytes() + memory(1).bytes() + memory(2).bytes(), table.indexes_bytes());
    let pages = table.pages(0).expect("an ordered index");
    // Keys that come in their order fill pages.
    assert_eq!(pages, PageCounts { leaves: 16, inner: 1, splits: 15, ..PageCounts::default() });
    assert!(memory(0).structure > 16 * empty[0].structure);
    // 8 bytes a bucket; there is room for as many again.
    let all = table.buckets(2).expect("hash") as u64 * 16;
    assert!((1..=all).contains(&memory(2).structure) && memory(2).structure >= empty[2].structure);

    insert(&mut tx, &table, 5, 5).expect_err("a key that is there");
    tx.rollback();
    for key in 0..1000 {
        change(&mut tx, &table, key, Some((key, 7))).expect("no others");
    }
    for key in 0..1000 {
        change(&mut tx, &table, key, None).expect("no others");
    }
    commit(&mut tx).expect("no others");
    assert_eq!(home.sweep(), 0);
    assert_eq!((memory(0).nodes, memory(1).nodes, memory(2).nodes), (0, 0, 0));
    let pages = table.pages(0).expect("an ordered index");
    assert_eq!((pages.leaves, pages.removed, memory(0)), (1, 15, memory(0)));
    let counts = TableCounts { inserts: 1001, updates: 1000, deletes: 1000, write_conflicts: 0, unique_violations: 1 };
    assert_eq!(table.counts(), counts);
}

#[test]
fn chains_are_those_of_the_buckets() {
    let home = Arc::new(MemoryTransactions::default());
    let hash = |unique| IndexShape { kind: IndexKind::Hash { buckets: 4096 }, unique };
    let table = Arc::new(MemoryTable::new(&[hash(true), hash(false), hash(false)]));
    assert_eq!(table.chains(0), Some(ChainCounts { buckets: 4096, ..ChainCounts::default() }));
    let mut tx = home.session();
    for key in 0..3000 {
        insert(&mut tx, &table, key, key % 3).expect("new keys");
    }
    commit(&mut tx).expect("no others");
    let chains = table.chains(0).expect("hash");
    assert_eq!((chains.buckets, chains.nodes), (4096, 3000));
    // About half of the buckets have one at least, whatever the hash's seed is.
    assert!((1600..2700).contains(&chains.used_buckets), "{chains:?}");
    assert!((2..50).contains(&chains.longest), "{chains:?}");
    let repeated = table.chains(1).expect("hash");
    assert_eq!(repeated.nodes, 3000);
    // Three keys, which may meet in a bucket.
    assert_eq!(repeated.longest as usize, 1000 * (4 - repeated.used_buckets as usize).min(3), "{repeated:?}");
}

#[test]
fn transactions_are_counted_by_their_ends() {
    let home = Arc::new(MemoryTransactions::default());
    let table = table(IndexKind::Range);
    let (mut a, mut b) = (home.session_of(51), home.session_of(52));
    assert_eq!(home.open(), []);
    insert(&mut a, &table, 1, 1).expect("a new key");
    assert_eq!(home.open(), [OpenMemoryTransaction { session_id: 51, begin: 0 }]);
    let before = a.mark();
    insert(&mut a, &table, 2, 2).expect("a new key");
    a.rollback_to_savepoint(before);
    a.rollback_to_savepoint(before);
    commit(&mut a).expect("no others");
    // A conflict; a read; a rollback by the user; a key that is there; what had been read has changed.
    change(&mut a, &table, 1, Some((1, 2))).expect("no others");
    change(&mut b, &table, 1, Some((1, 3))).expect_err("a is at it");
    b.rollback();
    commit(&mut a).expect("no others");
    assert_eq!(rows(&mut b, &table, Level::Snapshot).len(), 1);
    b.end_reads();
    insert(&mut b, &table, 3, 3).expect("a new key");
    b.rollback();
    insert(&mut b, &table, 1, 3).expect_err("the key is there");
    b.rollback();
    assert_eq!(rows(&mut b, &table, Level::RepeatableRead).len(), 1);
    change(&mut a, &table, 1, Some((1, 5))).expect("no others");
    commit(&mut a).expect("no others");
    assert!(home.garbage().used_bytes > 0 && home.garbage().allocated_bytes >= home.garbage().used_bytes);
    b.prepare().expect_err("the row has changed");
    b.rollback();
    assert_eq!((home.open(), home.sweep(), home.garbage().rows), (Vec::new(), 0, 0));
    let counts = home.counts();
    let expected = MemoryCounts {
        commits: 3,
        aborts: 4,
        write_conflicts: 1,
        validation_failures: 1,
        unique_violations: 1,
        reads: 1,
        system_aborts: 2,
        partial_rollbacks: 1,
        rows_swept: 2,
        rows_swept_aside: counts.rows_swept_aside,
    };
    assert_eq!(counts, expected);
    assert!((1..=2).contains(&counts.rows_swept_aside));
}

#[test]
fn a_transaction_comes_behind_all_that_it_has_seen_and_found_gone() {
    for kind in KINDS {
        let (home, table) = (Arc::new(MemoryTransactions::default()), table(kind));
        let [mut a, mut b] = [home.session(), home.session()];
        let commit_at = |tx: &mut MemoryTransaction, position: u64| {
            tx.prepare().expect("nothing to look at");
            tx.commit(position);
        };
        insert(&mut a, &table, 1, 10).expect("a row");
        commit_at(&mut a, 100);
        insert(&mut a, &table, 2, 20).expect("a row");
        commit_at(&mut a, 150);
        insert(&mut b, &table, 3, 30).expect("a row");
        assert_eq!(b.after(), 0, "{kind:?}: it has seen no row");
        assert!(name_of(&mut b, &table, 1).is_some());
        assert_eq!(b.after(), 100, "{kind:?}: it has read one row");
        commit_at(&mut b, 160);
        assert_eq!(change(&mut a, &table, 2, None), Ok(true));
        assert_eq!(a.after(), 150, "{kind:?}: it has changed a row");
        commit_at(&mut a, 200);
        assert!(name_of(&mut b, &table, 2).is_none());
        assert_eq!(b.after(), 200, "{kind:?}: it has seen that a row is gone");
        commit_at(&mut b, 0);
        home.sweep();
        insert(&mut b, &table, 2, 21).expect("the key is free");
        assert_eq!(b.after(), 200, "{kind:?}: the row that had the key is in no index any more");
        commit_at(&mut b, 300);
    }
}
