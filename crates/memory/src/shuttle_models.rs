//! Transactions on a few rows in memory, under threads that are switched by chance, by shuttle: indexes, versions, snapshots, validation
//! and garbage as they are. What is freed is in the hands of the epochs, whose threads are one here: a model does not see a use after it.
//!
//! ```text
//!   transfers    3 sessions move amounts between rows, one row is deleted and inserted again: each look sees the same sum, twice
//!   same key     3 sessions insert rows, some with the same key: a key is there once, and both indexes have it
//!   write skew   2 sessions read two rows and empty one each, SERIALIZABLE: one row stays full
//!   buckets      3 sessions insert rows of keys of their own into an index that begins with one bucket, find them, and delete some; a fourth
//!                looks through all rows: it sees those that were there before, once
//!   ordered      2 sessions insert and delete rows between others of an ordered index with pages of 3 keys, a third looks through it both
//!                ways: it sees those others, in their order
//!   by key       as transfers, each row found and changed by its key
//!   fingers      2 sessions insert rows of ascending keys in the same leaves, a third reads them
//!   behind       3 sessions add one to a row and tell of it; a session that has heard it sees it
//!   by clock     transfers, write skew and behind, with times by a clock that goes on by chance
//!   ways         transfers and behind, while another thread changes the way to times; a look at rows while the clock gives way to the counter
//!   reuse        a session inserts rows of ascending keys; those before them leave, and another uses their leaf; a third reads
//!                them, or does not
//! ```
//!
//! ```sh
//! .ci/shuttle                                       # some seconds
//! PIKEPOLE_SHUTTLE_RUNS=20000 .ci/shuttle           # for each model and kind of schedule
//! ```

use pikepole_contention::fault;
use pikepole_contention::shuttle_runs::{canary, check, runs};
use pikepole_contention::sync::atomic::{AtomicU8, Ordering};
use pikepole_contention::sync::{Arc, thread};
use std::ops::Bound;

use super::*;

/// Runs of a model for each kind of schedule unless `PIKEPOLE_SHUTTLE_RUNS` says how many.
const RUNS: usize = 300;
/// The ways in which a model fails by a planted fault: by any of its assertions, since schedules differ from machine to machine, or
/// by what a link to freed memory leads to.
const FAILURES: [&str; 15] = [
    "a bucket is claimed before its chain is cut off",
    "a commit is not seen by who begins behind it",
    "a key is there twice",
    "a row that is seen is gone",
    "both rows are empty",
    "garbage is left",
    "indexes differ",
    "keys are in another order",
    "rows that stay are not seen",
    "rows that were inserted are not there",
    "the sum is another",
    "versions are left",
    // A link to a node that was freed: shuttle finds its atomic in use, a page has lost its keys, or a chain its end.
    "already borrowed",
    "index out of bounds",
    "exceeded max_steps bound",
];
/// Runs within which a planted fault must show.
const RUNS_TO_NOTICE: usize = 8000;

fn table() -> Arc<MemoryTable> {
    table_by(IndexKind::Hash { buckets: 1 })
}

fn table_by(kind: IndexKind) -> Arc<MemoryTable> {
    let key = IndexShape { kind, unique: true };
    let value = IndexShape { kind: IndexKind::Range, unique: false };
    Arc::new(MemoryTable::new(&[key, value]))
}

fn keys(key: u8, value: u8) -> Keys {
    let mut keys = Keys::default();
    for part in [key, value] {
        let pushed = keys.push::<()>(|bytes| {
            bytes.push(part);
            Ok(())
        });
        assert_eq!(pushed, Ok(()));
    }
    keys
}

fn insert(tx: &mut MemoryTransaction, table: &Arc<MemoryTable>, key: u8, value: u8) -> Result<(), Refusal> {
    tx.begin_statement();
    tx.insert(table, &keys(key, value), &[key, value], &mut Fingers::default(), &pin()).map(|_| ())
}

/// The key of a row that is in one index.
fn key_alone(key: u8) -> Keys {
    let mut keys = Keys::default();
    let pushed = keys.push::<()>(|bytes| {
        bytes.push(key);
        Ok(())
    });
    assert_eq!(pushed, Ok(()));
    keys
}

/// Rows as the transaction sees them by an index, in the order of their keys, with their names.
fn rows(tx: &mut MemoryTransaction, table: &Arc<MemoryTable>, index: usize, level: Level) -> Vec<(u8, u8, Vec<u8>)> {
    tx.begin_statement();
    let mut scan = MemoryScan::default();
    scan.restart(index, KeyRange::Between(Bound::Unbounded, Bound::Unbounded), false);
    let mut rows = scanned(tx, table, scan, level);
    rows.sort_unstable();
    rows
}

/// The rows of a scan, in its order.
fn scanned(
    tx: &mut MemoryTransaction,
    table: &Arc<MemoryTable>,
    mut scan: MemoryScan,
    level: Level,
) -> Vec<(u8, u8, Vec<u8>)> {
    let mut rows = Vec::new();
    while tx.scan(&mut scan, table, level) {
        while scan.next_row() {
            let (name, body) = scan.row();
            rows.push((body[0], body[1], name.to_vec()));
        }
    }
    rows
}

fn set(tx: &mut MemoryTransaction, table: &Arc<MemoryTable>, row: &(u8, u8, Vec<u8>), to: u8) -> Result<(), Refusal> {
    let found = tx.read_current(table, &row.2, &mut Vec::new())?;
    assert!(found, "a row that is seen is gone without a conflict");
    tx.update(table, &row.2, &keys(row.0, to), &[row.0, to], &mut Vec::new())?;
    Ok(())
}

fn end(tx: &mut MemoryTransaction, done: Result<(), Refusal>) {
    match done {
        Ok(()) if tx.prepare().is_ok() => tx.commit(0),
        _ => tx.rollback(),
    }
}

/// Nothing waits to be freed, and each row has one version.
fn is_tidy(home: &MemoryTransactions, table: &MemoryTable, rows: usize) {
    assert_eq!(home.sweep(), 0, "garbage is left");
    assert_eq!(table.rows(), rows as u64, "versions are left");
}

fn filled(home: &Arc<MemoryTransactions>, table: &Arc<MemoryTable>, count: u8) {
    let mut tx = home.session();
    for key in 0..count {
        assert_eq!(insert(&mut tx, table, key, 10), Ok(()));
    }
    end(&mut tx, Ok(()));
}

/// The transactions of a database whose times come by this way.
fn home_by(timestamps: Timestamps) -> Arc<MemoryTransactions> {
    let home = MemoryTransactions::default();
    home.set_timestamps(timestamps);
    Arc::new(home)
}

/// Runs a model's sessions while a thread changes the way to times, there and back.
fn while_ways_change(home: &Arc<MemoryTransactions>, sessions: impl FnOnce()) {
    let home = home.clone();
    let changes = thread::spawn(move || {
        for to in [Timestamps::Clock, Timestamps::Atomic, Timestamps::Clock] {
            home.set_timestamps(to);
        }
    });
    sessions();
    changes.join().expect("no panic");
}

fn transfers() {
    transfers_of(&home_by(Timestamps::Atomic));
}

fn transfers_by_clock() {
    transfers_of(&home_by(Timestamps::Clock));
}

fn transfers_while_ways_change() {
    let home = home_by(Timestamps::Atomic);
    while_ways_change(&home, || transfers_of(&home));
}

fn transfers_of(home: &Arc<MemoryTransactions>) {
    let table = table();
    filled(home, &table, 2);
    let session = |number: u8| {
        let (home, table) = (home.clone(), table.clone());
        thread::spawn(move || {
            let mut tx = home.session();
            for round in 0..2 {
                let seen = rows(&mut tx, &table, 0, Level::Snapshot);
                assert_eq!(seen.iter().map(|row| row.1).sum::<u8>(), 20, "the sum is another");
                assert_eq!(seen, rows(&mut tx, &table, 1, Level::Snapshot), "indexes differ");
                let (from, to) = (&seen[usize::from(number % 2)], &seen[usize::from(1 - number % 2)]);
                let moved = if number == 2 && round == 1 {
                    // The row goes and comes again, as another.
                    tx.delete(&table, &from.2).and_then(|found| {
                        assert!(found, "a row that is seen is gone without a conflict");
                        insert(&mut tx, &table, from.0, from.1)
                    })
                } else {
                    set(&mut tx, &table, from, from.1 - 1).and_then(|()| set(&mut tx, &table, to, to.1 + 1))
                };
                end(&mut tx, moved);
            }
        })
    };
    let threads: Vec<_> = (0..3).map(session).collect();
    threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
    let mut tx = home.session();
    let left = rows(&mut tx, &table, 0, Level::Snapshot);
    assert_eq!(left.iter().map(|row| row.1).sum::<u8>(), 20, "the sum is another");
    drop(tx);
    is_tidy(home, &table, 2);
}

/// A session moves an amount between rows, and another looks twice, while the clock gives way to the counter.
fn looks_while_the_way_changes() {
    let key = IndexShape { kind: IndexKind::Hash { buckets: 1 }, unique: true };
    let (home, table) = (home_by(Timestamps::Clock), Arc::new(MemoryTable::new(&[key])));
    filled_by_key(&home, &table, 2);
    let changes = {
        let home = home.clone();
        thread::spawn(move || home.set_timestamps(Timestamps::Atomic))
    };
    let writer = {
        let (home, table) = (home.clone(), table.clone());
        thread::spawn(move || {
            let mut tx = home.session();
            let moved = set_by_key(&mut tx, &table, 0, Some(9)).and_then(|()| set_by_key(&mut tx, &table, 1, Some(11)));
            end(&mut tx, moved);
        })
    };
    let mut tx = home.session();
    let seen = [0, 1, 0].map(|key| value_of(&mut tx, &table, key));
    assert!([[10, 10, 10], [9, 11, 9]].contains(&seen), "the sum is another");
    drop(tx);
    [changes, writer].into_iter().for_each(|thread| thread.join().expect("no panic"));
    is_tidy(&home, &table, 2);
}

/// The value of the row of a key, which is there.
fn value_of(tx: &mut MemoryTransaction, table: &Arc<MemoryTable>, key: u8) -> u8 {
    tx.begin_statement();
    let value = tx.look_up(table, 0, &[key], Level::Snapshot, |body| body[1]);
    value.expect("rows that stay are not seen")
}

/// Changes the row of a key by that; None: deletes it.
fn set_by_key(tx: &mut MemoryTransaction, table: &Arc<MemoryTable>, key: u8, to: Option<u8>) -> Result<(), Refusal> {
    tx.begin_statement();
    let found = tx.find_current(table, 0, &[key], Level::Snapshot, &mut Vec::new())?;
    assert!(found, "a row that is seen is gone without a conflict");
    let changed = match to {
        Some(to) => tx.replace_current(table, &[key, to])?,
        None => tx.delete_current(table)?,
    };
    assert!(changed, "a row that is seen is gone without a conflict");
    Ok(())
}

/// Inserts a row into a table with one index.
fn put(tx: &mut MemoryTransaction, table: &Arc<MemoryTable>, key: u8, value: u8) -> Result<(), Refusal> {
    tx.begin_statement();
    tx.insert(table, &key_alone(key), &[key, value], &mut Fingers::default(), &pin()).map(|_| ())
}

fn filled_by_key(home: &Arc<MemoryTransactions>, table: &Arc<MemoryTable>, count: u8) {
    let mut tx = home.session();
    for key in 0..count {
        assert_eq!(put(&mut tx, table, key, 10), Ok(()));
    }
    end(&mut tx, Ok(()));
}

fn transfers_by_key() {
    let key = IndexShape { kind: IndexKind::Hash { buckets: 1 }, unique: true };
    let (home, table) = (Arc::new(MemoryTransactions::default()), Arc::new(MemoryTable::new(&[key])));
    filled_by_key(&home, &table, 2);
    let session = |number: u8| {
        let (home, table) = (home.clone(), table.clone());
        thread::spawn(move || {
            let mut tx = home.session();
            for round in 0..2 {
                let [a, b] = [0, 1].map(|key| value_of(&mut tx, &table, key));
                assert_eq!(a + b, 20, "the sum is another");
                let (from, to) = (number % 2, 1 - number % 2);
                let [has, gets] = if from == 0 { [a, b] } else { [b, a] };
                let moved = if number == 2 && round == 1 {
                    // The row goes and comes again, as another.
                    set_by_key(&mut tx, &table, from, None).and_then(|()| put(&mut tx, &table, from, has))
                } else {
                    let taken = set_by_key(&mut tx, &table, from, Some(has - 1));
                    taken.and_then(|()| set_by_key(&mut tx, &table, to, Some(gets + 1)))
                };
                end(&mut tx, moved);
            }
        })
    };
    let threads: Vec<_> = (0..3).map(session).collect();
    threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
    let mut tx = home.session();
    assert_eq!(value_of(&mut tx, &table, 0) + value_of(&mut tx, &table, 1), 20, "the sum is another");
    drop(tx);
    is_tidy(&home, &table, 2);
}

fn same_key() {
    same_key_by(IndexKind::Hash { buckets: 1 });
}

fn same_key_ordered() {
    same_key_by(IndexKind::Range);
}

fn same_key_by(kind: IndexKind) {
    let (home, table) = (Arc::new(MemoryTransactions::default()), table_by(kind));
    let session = |number: u8| {
        let (home, table) = (home.clone(), table.clone());
        thread::spawn(move || {
            let mut tx = home.session();
            let mut committed = 0;
            for key in [number, 9, 10 + number] {
                let done = insert(&mut tx, &table, key, number);
                committed += usize::from(done.is_ok());
                end(&mut tx, done);
            }
            committed
        })
    };
    let threads: Vec<_> = (0..3).map(session).collect();
    let committed: usize = threads.into_iter().map(|thread| thread.join().expect("no panic")).sum();
    let mut tx = home.session();
    let seen = rows(&mut tx, &table, 0, Level::Snapshot);
    assert_eq!(seen, rows(&mut tx, &table, 1, Level::Snapshot), "indexes differ");
    assert_eq!(seen.len(), committed, "rows that were inserted are not there");
    assert!(seen.windows(2).all(|two| two[0].0 < two[1].0), "a key is there twice");
    drop(tx);
    is_tidy(&home, &table, committed);
}

fn ordered() {
    const STAY: [u8; 4] = [10, 20, 30, 40];
    let (home, table) = (Arc::new(MemoryTransactions::default()), table_by(IndexKind::Range));
    let mut setup = home.session();
    for key in STAY {
        assert_eq!(insert(&mut setup, &table, key, 0), Ok(()));
    }
    end(&mut setup, Ok(()));
    let writer = |number: u8| {
        let (home, table) = (home.clone(), table.clone());
        thread::spawn(move || {
            let mut tx = home.session();
            let keys = [11, 21, 12, 22].map(|key| key + 2 * number);
            for key in keys {
                let done = insert(&mut tx, &table, key, 1);
                assert_eq!(done, Ok(()), "the key is this session's");
                end(&mut tx, done);
            }
            let own = |row: &(u8, u8, Vec<u8>)| keys.contains(&row.0);
            let rows: Vec<_> = rows(&mut tx, &table, 0, Level::Snapshot).into_iter().filter(own).collect();
            assert_eq!(rows.len(), keys.len(), "rows that were inserted are not there");
            for (_, _, name) in rows {
                let done = tx.delete(&table, &name);
                assert_eq!(done, Ok(true), "a row that is seen is gone without a conflict");
                end(&mut tx, Ok(()));
                home.sweep();
            }
        })
    };
    let reader = {
        let (home, table) = (home.clone(), table.clone());
        thread::spawn(move || {
            let mut tx = home.session();
            for reverse in [false, true, false] {
                let mut scan = MemoryScan::default();
                scan.restart(0, KeyRange::Between(Bound::Unbounded, Bound::Unbounded), reverse);
                tx.begin_statement();
                let mut keys: Vec<u8> =
                    scanned(&mut tx, &table, scan, Level::Snapshot).into_iter().map(|row| row.0).collect();
                if reverse {
                    keys.reverse();
                }
                assert!(keys.is_sorted_by(|a, b| a < b), "keys are in another order");
                keys.retain(|key| STAY.contains(key));
                assert_eq!(keys, STAY, "rows that stay are not seen");
                tx.rollback();
            }
        })
    };
    let threads = [writer(0), writer(1), reader];
    threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
    is_tidy(&home, &table, STAY.len());
}

fn buckets() {
    const STAY: u8 = 2;
    let key = IndexShape { kind: IndexKind::Hash { buckets: 1 }, unique: true };
    let (home, table) = (Arc::new(MemoryTransactions::default()), Arc::new(MemoryTable::new(&[key])));
    filled(&home, &table, STAY);
    let writer = |number: u8| {
        let (home, table) = (home.clone(), table.clone());
        thread::spawn(move || {
            let mut tx = home.session();
            let own = [10, 20, 30].map(|key| key + number);
            for key in own {
                let done = insert(&mut tx, &table, key, key);
                assert_eq!(done, Ok(()), "the key is this session's");
                end(&mut tx, done);
            }
            for (at, key) in own.into_iter().enumerate() {
                tx.begin_statement();
                let mut scan = MemoryScan::default();
                scan.restart_equal(0, &[key]);
                let found = scanned(&mut tx, &table, scan, Level::Snapshot);
                assert_eq!(found.len(), 1, "rows that were inserted are not there");
                if at > 0 {
                    let done = tx.delete(&table, &found[0].2);
                    assert_eq!(done, Ok(true), "a row that is seen is gone without a conflict");
                }
                end(&mut tx, Ok(()));
                home.sweep();
            }
        })
    };
    let reader = {
        let (home, table) = (home.clone(), table.clone());
        thread::spawn(move || {
            let mut tx = home.session();
            for _ in 0..2 {
                let mut seen = rows(&mut tx, &table, 0, Level::Snapshot);
                assert!(seen.windows(2).all(|two| two[0].0 < two[1].0), "a key is there twice");
                seen.retain(|row| row.0 < STAY);
                assert_eq!(seen.len(), usize::from(STAY), "rows that stay are not seen");
                tx.rollback();
            }
        })
    };
    let threads = [writer(0), writer(1), writer(2), reader];
    threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
    let mut tx = home.session();
    assert_eq!(rows(&mut tx, &table, 0, Level::Snapshot).len(), usize::from(STAY) + 3, "rows that stay are not seen");
    drop(tx);
    is_tidy(&home, &table, usize::from(STAY) + 3);
    assert!(table.buckets(0) >= Some(4), "it has not grown");
}

fn insert_by(
    home: &Arc<MemoryTransactions>,
    table: &Arc<MemoryTable>,
    (tx, fingers): &mut (MemoryTransaction, Fingers),
    key: u8,
) {
    tx.begin_statement();
    let done = tx.insert(table, &key_alone(key), &[key, 0], fingers, &pin()).map(|_| ());
    assert_eq!(done, Ok(()), "the key is this session's");
    end(tx, done);
    home.sweep();
}

/// The name of the row of a key.
fn found(tx: &mut MemoryTransaction, table: &Arc<MemoryTable>, key: u8) -> Vec<u8> {
    tx.begin_statement();
    let mut scan = MemoryScan::default();
    scan.restart_equal(0, &[key]);
    let mut found = scanned(tx, table, scan, Level::Snapshot);
    assert_eq!(found.len(), 1, "rows that were inserted are not there");
    found.remove(0).2
}

/// Looks through an index both ways: its keys are in order, and these among them.
fn look(home: &Arc<MemoryTransactions>, table: &Arc<MemoryTable>, stay: &[u8]) -> Vec<u8> {
    let mut tx = home.session();
    let mut keys: Vec<u8> = Vec::new();
    for reverse in [true, false] {
        let mut scan = MemoryScan::default();
        scan.restart(0, KeyRange::Between(Bound::Unbounded, Bound::Unbounded), reverse);
        tx.begin_statement();
        keys = scanned(&mut tx, table, scan, Level::Snapshot).into_iter().map(|row| row.0).collect();
        if reverse {
            keys.reverse();
        }
        assert!(keys.is_sorted_by(|a, b| a < b), "keys are in another order");
        assert!(stay.iter().all(|key| keys.contains(key)), "rows that stay are not seen");
        tx.rollback();
    }
    keys
}

/// A table with an ordered index, and rows that stay.
fn ordered_by(stay: &[u8]) -> (Arc<MemoryTransactions>, Arc<MemoryTable>) {
    let key = IndexShape { kind: IndexKind::Range, unique: true };
    let (home, table) = (Arc::new(MemoryTransactions::default()), Arc::new(MemoryTable::new(&[key])));
    let mut own = (home.session(), Fingers::default());
    stay.iter().for_each(|key| insert_by(&home, &table, &mut own, *key));
    (home, table)
}

fn fingers() {
    const STAY: [u8; 3] = [10, 30, 40];
    const KEYS: [&[u8]; 2] = [&[11, 12, 14, 16, 18, 35], &[13, 15, 17, 36]];
    let (home, table) = ordered_by(&STAY);
    let writer = |keys: &'static [u8]| {
        let (home, table) = (home.clone(), table.clone());
        thread::spawn(move || {
            let mut own = (home.session(), Fingers::default());
            keys.iter().for_each(|key| insert_by(&home, &table, &mut own, *key));
            for key in keys {
                found(&mut own.0, &table, *key);
            }
        })
    };
    let reader = {
        let (home, table) = (home.clone(), table.clone());
        thread::spawn(move || _ = look(&home, &table, &STAY))
    };
    let threads = [writer(KEYS[0]), writer(KEYS[1]), reader];
    threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
    let mut all = [KEYS[0], KEYS[1], &STAY].concat();
    all.sort_unstable();
    assert_eq!(look(&home, &table, &STAY), all, "rows that were inserted are not there");
    is_tidy(&home, &table, all.len());
}

fn reuse() {
    reuse_by(false);
}

fn reuse_read() {
    reuse_by(true);
}

fn reuse_by(is_read: bool) {
    const STAY: [u8; 5] = [10, 18, 30, 40, 50];
    // The last two are alone in the leaf to which the finger points; no snapshot sees them any more, and the next sweep takes them out.
    const BEFORE: [u8; 3] = [20, 21, 22];
    const BEHIND: [u8; 2] = [23, 24];
    // The leaf comes back with 10 when 3 is put.
    const OTHERS: [u8; 3] = [1, 2, 3];
    let (home, table) = ordered_by(&STAY);
    let mut own = (home.session(), Fingers::default());
    BEFORE.iter().for_each(|key| insert_by(&home, &table, &mut own, *key));
    let mut old = home.session();
    old.take_snapshot();
    for key in BEFORE {
        let name = found(&mut own.0, &table, key);
        let done = own.0.delete(&table, &name);
        assert_eq!(done, Ok(true), "a row that is seen is gone without a conflict");
    }
    end(&mut own.0, Ok(()));
    drop(old);
    let writer = |mut own: (MemoryTransaction, Fingers), keys: &'static [u8]| {
        let (home, table) = (home.clone(), table.clone());
        move || {
            keys.iter().for_each(|key| insert_by(&home, &table, &mut own, *key));
            for key in keys {
                found(&mut own.0, &table, *key);
            }
        }
    };
    let other = (home.session(), Fingers::default());
    let (behind, mut others) = (writer(own, &BEHIND), writer(other, &OTHERS));
    let user = {
        let home = home.clone();
        thread::spawn(move || {
            home.sweep();
            others();
        })
    };
    let mut threads = vec![thread::spawn(behind), user];
    if is_read {
        let (home, table) = (home.clone(), table.clone());
        threads.push(thread::spawn(move || _ = look(&home, &table, &STAY)));
    }
    threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
    let mut all = [&OTHERS[..], &BEHIND, &STAY].concat();
    all.sort_unstable();
    assert_eq!(look(&home, &table, &STAY), all, "rows that were inserted are not there");
    is_tidy(&home, &table, all.len());
}

/// Sessions add one to a row, and each tells of its commit; a session that has heard of one sees it, or another's behind it.
fn behind_of(home: &Arc<MemoryTransactions>) {
    let key = IndexShape { kind: IndexKind::Hash { buckets: 1 }, unique: true };
    let table = Arc::new(MemoryTable::new(&[key]));
    filled_by_key(home, &table, 1);
    let heard = Arc::new(AtomicU8::new(10));
    let session = |_: u8| {
        let (home, table, heard) = (home.clone(), table.clone(), heard.clone());
        thread::spawn(move || {
            let mut tx = home.session();
            for _ in 0..2 {
                let told = heard.load(Ordering::SeqCst);
                let value = value_of(&mut tx, &table, 0);
                assert!(value >= told, "a commit is not seen by who begins behind it");
                let done = set_by_key(&mut tx, &table, 0, Some(value + 1));
                let is_done = done.is_ok();
                end(&mut tx, done);
                if is_done {
                    heard.fetch_max(value + 1, Ordering::SeqCst);
                }
            }
        })
    };
    let threads: Vec<_> = (0..3).map(session).collect();
    threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
    let mut tx = home.session();
    let last = value_of(&mut tx, &table, 0);
    assert_eq!(last, heard.load(Ordering::SeqCst), "a commit is not seen by who begins behind it");
}

fn behind() {
    behind_of(&home_by(Timestamps::Atomic));
}

fn behind_by_clock() {
    behind_of(&home_by(Timestamps::Clock));
}

fn behind_while_ways_change() {
    let home = home_by(Timestamps::Atomic);
    while_ways_change(&home, || behind_of(&home));
}

fn write_skew() {
    write_skew_of(&home_by(Timestamps::Atomic));
}

fn write_skew_by_clock() {
    write_skew_of(&home_by(Timestamps::Clock));
}

fn write_skew_of(home: &Arc<MemoryTransactions>) {
    let table = table();
    filled(home, &table, 2);
    let session = |number: usize| {
        let (home, table) = (home.clone(), table.clone());
        thread::spawn(move || {
            let mut tx = home.session();
            let seen = rows(&mut tx, &table, 0, Level::Serializable);
            let done = if seen.iter().all(|row| row.1 == 10) { set(&mut tx, &table, &seen[number], 0) } else { Ok(()) };
            end(&mut tx, done);
        })
    };
    let threads: Vec<_> = (0..2).map(session).collect();
    threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
    let mut tx = home.session();
    assert!(rows(&mut tx, &table, 1, Level::Snapshot).iter().any(|row| row.1 == 10), "both rows are empty");
    drop(tx);
    is_tidy(home, &table, 2);
}

#[test]
fn shuttle_transfers() {
    check(transfers, runs(RUNS));
}

#[test]
fn shuttle_transfers_by_clock() {
    check(transfers_by_clock, runs(RUNS));
}

#[test]
fn shuttle_transfers_while_ways_change() {
    check(transfers_while_ways_change, runs(RUNS));
}

#[test]
fn shuttle_looks_while_the_way_changes() {
    check(looks_while_the_way_changes, runs(RUNS));
}

#[test]
fn shuttle_behind() {
    check(behind, runs(RUNS));
}

#[test]
fn shuttle_behind_by_clock() {
    check(behind_by_clock, runs(RUNS));
}

#[test]
fn shuttle_behind_while_ways_change() {
    check(behind_while_ways_change, runs(RUNS));
}

#[test]
fn shuttle_write_skew_by_clock() {
    check(write_skew_by_clock, runs(RUNS));
}

#[test]
fn shuttle_same_key() {
    check(same_key, runs(RUNS));
}

#[test]
fn shuttle_same_key_ordered() {
    check(same_key_ordered, runs(RUNS));
}

#[test]
fn shuttle_buckets() {
    check(buckets, runs(RUNS));
}

#[test]
fn shuttle_transfers_by_key() {
    check(transfers_by_key, runs(RUNS));
}

#[test]
fn shuttle_ordered() {
    check(ordered, runs(RUNS));
}

#[test]
fn shuttle_fingers() {
    check(fingers, runs(RUNS));
}

#[test]
fn shuttle_reuse() {
    check(reuse, runs(RUNS));
}

#[test]
fn shuttle_reuse_read() {
    check(reuse_read, runs(RUNS));
}

#[test]
fn shuttle_write_skew() {
    check(write_skew, runs(RUNS));
}

macro_rules! canaries {
    ($($name:ident: $model:ident with $fault:literal;)+) => { $(
        #[test]
        fn $name() {
            canary(concat!("shuttle_models::", stringify!($name)), || fault::plant($fault), $model, RUNS_TO_NOTICE, &FAILURES);
        }
    )+ };
}

canaries! {
    shuttle_canary_nodes_are_linked_without_looking:
        same_key with "memory: nodes are linked without looking";
    shuttle_canary_keys_are_compared_once:
        same_key with "memory: keys are compared once";
    shuttle_canary_a_bucket_is_used_before_it_is_cut_off:
        buckets with "memory: a bucket is used before it is cut off";
    shuttle_canary_the_end_of_a_chain_is_one_for_all:
        buckets with "memory: the end of a chain is one for all";
    shuttle_canary_a_chain_is_cut_without_looking:
        buckets with "memory: a chain is cut without looking";
    shuttle_canary_buckets_come_in_any_order:
        buckets with "memory: buckets come in any order";
    shuttle_canary_a_page_is_not_looked_at_again:
        ordered with "memory: a page is not looked at again";
    shuttle_canary_a_leaf_is_changed_as_it_was:
        same_key_ordered with "memory: a leaf is changed as it was";
    shuttle_canary_a_fingers_leaf_is_changed_as_it_was:
        fingers with "memory: a finger's leaf is changed as it was";
    shuttle_canary_a_finger_overlooks_a_split:
        fingers with "memory: a finger overlooks a split";
    shuttle_canary_a_finger_overlooks_its_bound:
        fingers with "memory: a finger overlooks its bound";
    shuttle_canary_a_leaf_leaves_its_finger_behind:
        reuse with "memory: a leaf leaves its finger behind";
    shuttle_canary_a_leaf_begins_at_zero:
        reuse with "memory: a leaf begins at zero";
    shuttle_canary_changes_of_a_key_are_overlooked:
        transfers_by_key with "memory: changes since the snapshot are overlooked";
    shuttle_canary_changes_since_the_snapshot_are_overlooked:
        transfers with "memory: changes since the snapshot are overlooked";
    shuttle_canary_a_snapshot_is_taken_before_it_is_told:
        transfers with "memory: a snapshot is taken before it is published";
    shuttle_canary_a_commit_has_the_present_time:
        transfers_by_clock with "memory: a commit has the present time";
    shuttle_canary_a_commit_ends_before_its_time:
        behind_by_clock with "memory: a commit ends before its time";
    shuttle_canary_the_way_to_times_is_not_looked_at_again:
        looks_while_the_way_changes with "memory: the way to times is not looked at again";
    shuttle_canary_a_writer_of_the_same_time_is_overlooked:
        write_skew_by_clock with "memory: a writer of the same time is overlooked";
    shuttle_canary_nothing_is_validated:
        write_skew with "memory: nothing is validated";
}
