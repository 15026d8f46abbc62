//! Rows by children of a transaction: together or not at all, whatever ends the statement.
//!
//! A statement here is what a parallel INSERT ... SELECT does: children on both schedulers, each with a writer of its own, fill a
//! heap page by page, or a table with keys in portions. The rows of child `c` have keys from `c` * 1000000 on, and the value that the statement gives all its rows.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use pikepole_contention::LatchClass;
use pikepole_machine::{Disk, SimulatedDisk};
use pikepole_scheduler::{Placement, TaskInfo};
use pikepole_types::{RowBytes, SqlError, Value};

use crate::backup::{BackupJob, device_of_test};
use crate::tests::{Client, assert_sound, definition, index, options, primary_key, row, table_of, with_server};
use crate::*;

pub(crate) const CHILDREN: usize = 3;

/// What the statement does.
#[derive(Clone, Copy)]
pub(crate) struct Load {
    /// Rows of each child.
    rows: usize,
    value: i32,
    /// Rows of differing lengths.
    varying: bool,
    table_lock: bool,
    /// The child and its row after which it goes away without a word.
    dies: Option<(usize, usize)>,
}

impl Load {
    pub const fn of(rows: usize, value: i32) -> Load {
        Load { rows, value, varying: false, table_lock: false, dies: None }
    }

    /// The same with TABLOCK.
    pub const fn locked(rows: usize, value: i32) -> Load {
        Load { table_lock: true, ..Load::of(rows, value) }
    }
}

/// Rows with their lengths in front, and without.
fn encoded(table: &Table, child: usize, rows: std::ops::Range<usize>, load: &Load) -> (RowBytes, Vec<u8>) {
    let (mut varying, mut fixed) = (RowBytes::default(), Vec::new());
    for at in rows {
        let text = if load.varying { "v".repeat(at % 50) } else { "fixed".to_owned() };
        let row = row((child * 1_000_000 + at) as i64 + (1 << 40), load.value, &text);
        let before = fixed.len();
        table.row_layout().encode_rest(|i| &row[i], &mut fixed).expect("a row");
        varying.push(&fixed[before..]);
    }
    (varying, fixed)
}

fn plain(interrupted: Interrupted) -> SqlError {
    match interrupted {
        Interrupted::Error(error) => *error,
        Interrupted::Stale => panic!("the definition is current"),
    }
}

async fn work(
    db: Arc<Database>,
    table: Arc<Table>,
    mut tx: Transaction,
    at: usize,
    load: Load,
) -> (Option<Transaction>, Result<(), SqlError>) {
    let Some(mut writer) = db.bulk_writer(&tx, &table) else {
        return work_on_keys(&db, &table, tx, at, load).await;
    };
    let mut done = 0;
    while done < load.rows {
        if load.dies.is_some_and(|(child, row)| child == at && done >= row) {
            // Writer and child go as they are.
            return (None, Ok(()));
        }
        let end = (done + 97).min(load.rows);
        let (varying, fixed) = encoded(&table, at, done..end, &load);
        let rows = match load.varying {
            true => EncodedRows::Varying { lengths: varying.lengths(), bytes: varying.bytes() },
            false => EncodedRows::Fixed { row_bytes: varying.lengths()[0] as usize, bytes: &fixed },
        };
        if let Err(error) = db.bulk_append(&mut tx, &table, &mut writer, rows).await {
            return (Some(tx), Err(plain(error)));
        }
        done = end;
        pikepole_scheduler::yield_now().await;
    }
    let finished = db.drive(&mut tx, |tx| db.try_bulk_finish(tx, &table, &mut writer)).await;
    (Some(tx), finished.map_err(plain))
}

/// The same for a table with keys: the rows of each portion come in no order.
async fn work_on_keys(
    db: &Database,
    table: &Table,
    mut tx: Transaction,
    at: usize,
    load: Load,
) -> (Option<Transaction>, Result<(), SqlError>) {
    let mut portion = table.portion();
    for done in 0..load.rows {
        if load.dies.is_some_and(|(child, row)| child == at && done >= row) {
            return (None, Ok(()));
        }
        let mixed = done - done % 50 + (done * 7) % 50;
        let text = if load.varying { "v".repeat(done % 50) } else { "fixed".to_owned() };
        portion.add_row().clone_from_slice(&row(key_of(load.value, at, mixed), load.value, &text));
        if done % 50 < 49 && done + 1 < load.rows {
            continue;
        }
        loop {
            let written = db.drive(&mut tx, |tx| db.try_insert_portion(tx, table, &mut portion)).await;
            match written {
                Ok(true) => break,
                Ok(false) => pikepole_scheduler::yield_now().await,
                Err(error) => return (Some(tx), Err(plain(error))),
            }
        }
        pikepole_scheduler::yield_now().await;
    }
    (Some(tx), Ok(()))
}

fn key_of(value: i32, child: usize, at: usize) -> i64 {
    i64::from(value) * 1_000_000 + (at * CHILDREN + child) as i64
}

/// A clustered key and two indexes, of which one is unique.
fn keys() -> Vec<IndexDefinition> {
    let mut all = primary_key();
    all.push(index(IndexKind::Index, false, &["s"]));
    all.push(index(IndexKind::UniqueConstraint, false, &["v", "k"]));
    all
}

/// The statement without its end.
pub(crate) async fn load(client: &mut Client, table: &Arc<Table>, load: Load) -> Result<(), SqlError> {
    let (db, tx) = (client.db.clone(), &mut client.tx);
    db.begin_statement(tx);
    let mode = if load.table_lock { LockMode::BU } else { LockMode::IX };
    db.drive(tx, |tx| db.try_lock_table(tx, table, mode)).await.map_err(plain)?;
    let children = db.drive(tx, |tx| db.try_begin_children(tx, CHILDREN, true)).await.map_err(plain)?;
    let info = TaskInfo { session_id: Some(51), command: "TEST" };
    let workers: Vec<_> = children
        .into_iter()
        .enumerate()
        .map(|(at, child)| {
            let work = work(db.clone(), table.clone(), child, at, load);
            pikepole_scheduler::spawn(info, Placement::On(at % 2), work)
        })
        .collect();
    let (mut children, mut result) = (Vec::new(), Ok(()));
    for worker in workers {
        let (child, ended) = worker.await.expect("a worker does not panic");
        children.extend(child);
        result = result.and(ended);
    }
    db.merge_children(tx, children);
    db.end_statement(tx);
    result
}

/// Rows of the table by value.
pub(crate) async fn counts(client: &mut Client, table: &Table) -> BTreeMap<i32, usize> {
    let mut counts = BTreeMap::new();
    for row in client.rows(table).await {
        let Value::Int(value) = row[1] else { panic!("{row:?} is no row") };
        *counts.entry(value).or_default() += 1;
    }
    counts
}

/// Rows of the table by way of each of its indexes.
async fn counts_of_indexes(client: &mut Client, table: &Table) -> Vec<u64> {
    let mut counts = Vec::new();
    let (db, tx) = (client.db.clone(), &mut client.tx);
    for index in table.indexes.iter().filter(|index| !index.clustered) {
        let range = ScanRange { index: Some(index.index_id), ..ScanRange::all() };
        let mut scan = table.scan(range, &[]);
        db.begin_statement(tx);
        counts.push(db.drive(tx, |tx| db.try_count(tx, table, &mut scan)).await.map_err(plain).expect("a count"));
        db.end_statement(tx);
    }
    counts
}

#[test]
fn children_fill_a_heap_that_others_see_after_the_commit() {
    let disk = SimulatedDisk::new(1);
    with_server(&disk, async |_, db| {
        let (mut a, mut b) = (Client::new(&db, 51), Client::new(&db, 52));
        let t = a.create(definition("t", Vec::new())).await;
        a.insert(&t, &row(1, 0, "alone")).await.expect("an insert");
        a.tx.begin();
        load(&mut a, &t, Load::of(3_000, 1)).await.expect("room");
        assert_eq!(counts(&mut b, &t).await, BTreeMap::from([(0, 1)]), "nothing is committed");
        assert_eq!(counts(&mut a, &t).await, BTreeMap::from([(0, 1), (1, 9_000)]), "own rows are seen");
        let open = db.active_transactions();
        assert_eq!((open.len(), open[0].session_id), (1, 51), "children are no transactions of their own");
        // The rows of a page that came as one can be changed one by one, and that undone.
        let mark = a.tx.mark();
        assert!(a.change(&t, (1 << 40) + 7, Some(&row(7, 2, &"long".repeat(12)))).await.expect("an update"));
        assert!(a.change(&t, (1 << 40) + 8, None).await.expect("a delete"));
        assert_eq!(counts(&mut a, &t).await, BTreeMap::from([(0, 1), (1, 8_998), (2, 1)]));
        db.rollback_to(&mut a.tx, mark).await.expect("a rollback");
        load(&mut a, &t, Load { varying: true, ..Load::of(777, 3) }).await.expect("room");
        a.commit().await;
        assert_eq!(counts(&mut b, &t).await, BTreeMap::from([(0, 1), (1, 9_000), (3, 2_331)]));
    });
    assert_sound(&disk);
    with_server(&disk, async |_, db| {
        let mut a = Client::new(&db, 51);
        let t = table_of(&db, "t");
        assert_eq!(counts(&mut a, &t).await, BTreeMap::from([(0, 1), (1, 9_000), (3, 2_331)]));
    });
}

#[test]
fn a_rollback_undoes_all_children_also_one_that_died() {
    for table_lock in [false, true] {
        let disk = SimulatedDisk::new(2);
        with_server(&disk, async |_, db| {
            let mut a = Client::new(&db, 51);
            let t = a.create(definition("t", Vec::new())).await;
            let all = Load { table_lock, ..Load::of(2_000, 1) };
            a.tx.begin();
            a.insert(&t, &row(1, 0, "before")).await.expect("an insert");
            let mark = a.tx.mark();
            load(&mut a, &t, Load { dies: Some((1, 900)), ..all }).await.expect("room");
            let pages = db.store().check().expect("a check").objects.iter().map(|o| o.pages).max();
            db.rollback_to(&mut a.tx, mark).await.expect("a rollback");
            assert_eq!(counts(&mut a, &t).await, BTreeMap::from([(0, 1)]));
            // The pages are taken again.
            load(&mut a, &t, all).await.expect("room");
            let again = db.store().check().expect("a check").objects.iter().map(|o| o.pages).max();
            assert!(again <= pages.map(|pages| pages + 16), "{pages:?}, then {again:?}");
            a.rollback().await;
            assert_eq!(counts(&mut a, &t).await, BTreeMap::new());
            // A session that goes away takes its children's work with it.
            a.tx.rest();
            let mut gone = Client::new(&db, 52);
            load(&mut gone, &t, all).await.expect("room");
            drop(gone);
            // Its locks go with its rollback.
            pikepole_scheduler::sleep(Duration::from_secs(1)).await;
            load(&mut a, &t, Load { value: 2, ..all }).await.expect("room");
            a.commit().await;
            pikepole_scheduler::sleep(Duration::from_secs(1)).await;
            assert_eq!(db.active_transactions(), []);
            assert_eq!(counts(&mut a, &t).await, BTreeMap::from([(2, 6_000)]));
        });
        assert_sound(&disk);
    }
}

#[test]
fn rows_with_keys_are_undone_for_all_children() {
    let disk = SimulatedDisk::new(6);
    with_server(&disk, async |_, db| {
        let (mut a, mut b) = (Client::new(&db, 51), Client::new(&db, 52));
        let t = a.create(definition("t", keys())).await;
        let some = Load::of(150, 1);
        a.insert(&t, &row(1, 0, "alone")).await.expect("an insert");
        a.tx.begin();
        a.insert(&t, &row(2, 0, "before")).await.expect("an insert");
        let mark = a.tx.mark();
        load(&mut a, &t, Load { dies: Some((1, 120)), ..some }).await.expect("room");
        assert_eq!(counts(&mut a, &t).await, BTreeMap::from([(0, 2), (1, 400)]));
        assert_eq!(counts(&mut b, &t).await, BTreeMap::from([(0, 1)]), "nothing is committed");
        db.rollback_to(&mut a.tx, mark).await.expect("a rollback");
        assert_eq!(counts(&mut a, &t).await, BTreeMap::from([(0, 2)]));
        // A key of one child is there already: the others' rows go, too.
        let taken = key_of(1, 1, 100);
        a.insert(&t, &row(taken, 7, "taken")).await.expect("an insert");
        let mark = a.tx.mark();
        let error = load(&mut a, &t, some).await.expect_err("a key that is there");
        assert_eq!(error.number, 2627, "{error}");
        assert!(error.message.contains("(1000301)"), "{error}");
        db.rollback_to(&mut a.tx, mark).await.expect("a rollback");
        assert_eq!(counts(&mut a, &t).await, BTreeMap::from([(0, 2), (7, 1)]));
        // A row that the transaction has deleted makes room.
        assert!(a.change(&t, taken, None).await.expect("a delete"));
        load(&mut a, &t, Load { varying: true, ..some }).await.expect("room");
        a.commit().await;
        assert_eq!(counts(&mut b, &t).await, BTreeMap::from([(0, 2), (1, 450)]));
        // More than the log takes.
        let error = load(&mut a, &t, Load::of(40_000, 2)).await.expect_err("2 MB of log");
        assert_eq!(error.number, 9002, "{error}");
        a.rollback().await;
        assert_eq!(counts(&mut b, &t).await, BTreeMap::from([(0, 2), (1, 450)]));
    });
    assert_sound(&disk);
}

#[test]
fn a_parent_waits_for_a_child_that_is_at_work() {
    with_server(&SimulatedDisk::new(3), async |server, db| {
        let mut a = Client::new(&db, 51);
        let t = a.create(definition("t", Vec::new())).await;
        let mut children = db.try_begin_children(&mut a.tx, 1, true).expect("no others are there");
        let child = children.pop().expect("one was asked for");
        let (db, t) = (db.clone(), t.clone());
        let late = async move {
            pikepole_scheduler::sleep(Duration::from_millis(5)).await;
            drop(work(db, t, child, 0, Load::of(500, 1)).await);
        };
        let info = TaskInfo { session_id: Some(51), command: "TEST" };
        let worker = pikepole_scheduler::spawn(info, Placement::On(1), late);
        a.rollback().await;
        assert!(worker.is_finished(), "the rollback came after the child");
        assert_eq!(a.keys(&table_of(&a.db, "t")).await, Vec::<i64>::new());
        let waits = server.statistics().waits();
        let waited = waits.iter().find(|wait| wait.wait_type == "XACTWORKSPACE_SYNC").expect("a wait type");
        assert_eq!(waited.waiting_tasks_count, 1);
    });
}

#[test]
fn more_data_than_the_pool_holds_and_a_full_log_or_disk_in_the_middle() {
    for table_lock in [false, true] {
        let disk = SimulatedDisk::new(4);
        with_server(&disk, async |_, db| {
            let mut a = Client::new(&db, 51);
            let t = a.create(definition("t", Vec::new())).await;
            let some = Load { table_lock, ..Load::of(6_000, 1) };
            load(&mut a, &t, some).await.expect("room");
            a.commit().await;
            let error = load(&mut a, &t, Load { value: 2, ..Load::of(200_000, 2) }).await.expect_err("2 MB of log");
            assert_eq!(error.number, 9002, "{error}");
            a.rollback().await;
            // 2 MB of log do not limit what is not logged.
            let many = Load { value: 3, table_lock: true, ..Load::of(20_000, 3) };
            load(&mut a, &t, many).await.expect("room");
            a.commit().await;
            disk.set_capacity(Some(disk.used()));
            let mut value = 4;
            let error = loop {
                match load(&mut a, &t, Load { value, ..many }).await {
                    Ok(()) => a.commit().await,
                    Err(error) => break error,
                }
                value += 1;
                assert!(value < 100, "the disk never fills");
            };
            assert_eq!(error.number, 1105, "{error}");
            assert!(error.message.contains("'dbo.t'"), "{error}");
            a.rollback().await;
            let mut wanted = BTreeMap::from([(1, 18_000)]);
            wanted.extend((3..value).map(|value| (value, 60_000)));
            assert_eq!(counts(&mut a, &t).await, wanted);
        });
        disk.set_capacity(None);
        assert_sound(&disk);
    }
}

#[test]
fn latch_policies_are_in_force() {
    with_server(&SimulatedDisk::new(5), async |server, db| {
        let mut a = Client::new(&db, 51);
        let heap = a.create(definition("t", Vec::new())).await;
        let keyed = a.create(definition("u", keys())).await;
        for (value, policy) in (1..).zip(["FAIR_LATCH", "UNFAIR_LATCH", "PRIVATE"]) {
            server.set_policy("NESTED_TRANSACTIONS", policy).expect("a value");
            for (t, rows) in [(&heap, 1_000), (&keyed, 150)] {
                load(&mut a, t, Load::of(rows, value)).await.expect("room");
                a.commit().await;
                let total = (1..=value).map(|value| (value, CHILDREN * rows)).collect();
                assert_eq!(counts(&mut a, t).await, total, "{policy}");
            }
        }
        server.set_policy("NESTED_TRANSACTIONS", "FAIR_LATCH").expect("a value");
        server.trace_flags().set(3933, true);
        assert_eq!(format!("{:?}", db.nested_transactions()), "UnfairLatch");
        server.trace_flags().set(3933, false);
        assert_eq!(format!("{:?}", db.nested_transactions()), "FairLatch");
        assert_eq!(LatchClass::NESTING_TRANSACTION_FULL.name(), "NESTING_TRANSACTION_FULL");
    });
}

/// The table of a run, and how its statements lock it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Run {
    Heap,
    LockedHeap,
    Keys,
}

impl Run {
    /// Rows of each child of a statement.
    fn rows(self) -> usize {
        if self == Run::Keys { 150 } else { 700 }
    }
}

/// The server with its table and some rows, closed in order.
fn fresh_disk(seed: u64, run: Run) -> SimulatedDisk {
    let disk = SimulatedDisk::new(seed);
    with_server(&disk, async |_, db| {
        let mut a = Client::new(&db, 51);
        let t = a.create(definition("t", if run == Run::Keys { keys() } else { Vec::new() })).await;
        a.insert(&t, &row(0, 0, "alone")).await.expect("an insert");
    });
    disk
}

/// What the workload knew when the power went off: the values that were committed, and the one under way.
type Known = (Vec<i32>, Option<i32>);

/// Statements one after the other: logged and not, committed and rolled back, over the same pages again and again.
fn run(disk: &SimulatedDisk, seed: u64, run: Run) -> Known {
    let mut known: Known = (Vec::new(), None);
    let mut open = options(disk);
    open.schedulers = SchedulerChoice::Simulated { seed, count: 2 };
    let Ok(server) = Server::open(open) else { return known };
    if let Ok(db) = server.database(MASTER) {
        server.schedulers().block_on(async {
            let mut a = Client::new(&db, 51);
            let t = table_of(&db, "t");
            for value in 1..=6 {
                let minimal = run != Run::Keys && (run == Run::LockedHeap) == (value % 3 != 0);
                let load_of = Load { table_lock: minimal, varying: value % 2 == 0, ..Load::of(run.rows(), value) };
                if load(&mut a, &t, load_of).await.is_err() {
                    return;
                }
                if value == 2 || value == 5 {
                    if db.rollback(&mut a.tx).await.is_err() {
                        return;
                    }
                    continue;
                }
                // Rows of the new pages are changed within the transaction.
                let changed = a.change_rows_of(&t, value).await;
                known.1 = Some(value);
                if changed.is_err() || db.commit(&mut a.tx, Durability::Full).await.is_err() {
                    return;
                }
                known.0.extend(known.1.take());
                if value == 4 {
                    let _ = db.checkpoint(&mut a.tx).await;
                }
            }
        });
    }
    server.schedulers().shutdown();
    known
}

impl Client {
    /// Inserts a row of its own beside those of the statement.
    async fn change_rows_of(&mut self, table: &Arc<Table>, value: i32) -> Result<(), SqlError> {
        let (db, mut writer) = (self.db.clone(), table.writer());
        let new = row(i64::from(value), value, "one more");
        let tx = &mut self.tx;
        let done = db.drive(tx, |tx| db.try_insert(tx, table, &mut writer, &new, RowCount::Many)).await;
        done.map_err(plain)
    }
}

fn read_back(disk: &SimulatedDisk) -> Result<BTreeMap<i32, usize>, String> {
    let server = Server::open(options(disk)).map_err(|e| e.to_string())?;
    let db = server.database(MASTER).map_err(|e| e.to_string())?;
    let found = server.schedulers().block_on(async {
        let mut a = Client::new(&db, 51);
        let t = table_of(&db, "t");
        let found = counts(&mut a, &t).await;
        let by_index = counts_of_indexes(&mut a, &t).await;
        drop(a);
        let rows = found.values().sum::<usize>() as u64;
        match by_index.iter().all(|&entries| entries == rows) {
            true => server.shutdown().await.map_err(|e| e.to_string()).map(|()| found),
            false => Err(format!("{rows} rows, and {by_index:?} in the indexes")),
        }
    });
    server.schedulers().shutdown();
    drop(server);
    let report = Server::check(&Disk::simulated(disk.clone()), "/server".as_ref(), &mut |_| ());
    match report.map_err(|e| e.to_string())?.damage.first() {
        Some(damage) => Err(damage.clone()),
        None => found,
    }
}

/// The power goes off after `crash_at` changes of the disk; false: the workload ended before.
fn crash_run(fresh: &SimulatedDisk, seed: u64, crash_at: u64, kind: Run) -> Result<bool, String> {
    let disk = fresh.crash(seed);
    disk.crash_after_ops(crash_at);
    let (committed, under_way) = run(&disk, seed, kind);
    let crashed = disk.is_off();
    disk.power_off();
    let mut after = disk.crash(seed ^ crash_at);
    if crash_at.is_multiple_of(3) && crashed {
        after.crash_after_ops(1 + crash_at % 23);
        let _ = read_back_quietly(&after);
        after.power_off();
        after = after.crash(seed ^ crash_at ^ 1);
    }
    let found = read_back(&after)?;
    let rows = CHILDREN * kind.rows() + 1;
    let mut wanted: BTreeMap<i32, usize> = committed.iter().map(|&value| (value, rows)).collect();
    wanted.insert(0, 1);
    let without = wanted.clone();
    wanted.extend(under_way.map(|value| (value, rows)));
    if found == wanted || found == without { Ok(crashed) } else { Err(format!("{found:?}, wanted {wanted:?}")) }
}

/// A recovery that is cut short itself.
fn read_back_quietly(disk: &SimulatedDisk) -> Result<(), String> {
    let server = Server::open(options(disk)).map_err(|e| e.to_string())?;
    server.schedulers().shutdown();
    Ok(())
}

#[test]
fn all_rows_or_none_after_a_power_loss_at_any_write() {
    let step = if std::env::var("PIKEPOLE_CRASH_SEEDS").is_ok() { 1 } else { 5 };
    for (seed, kind) in (31..).zip([Run::Heap, Run::LockedHeap, Run::Keys]) {
        let fresh = fresh_disk(seed, kind);
        let mut points = 0;
        for crash_at in (1..).step_by(step) {
            let ran = crash_run(&fresh, seed, crash_at, kind);
            match ran {
                Ok(true) => points += 1,
                Ok(false) => break,
                Err(why) => panic!("{kind:?}, crash after {crash_at} changes of the disk: {why}"),
            }
        }
        println!("{kind:?}: {points} crash points");
        assert!(points > 8, "the workload changes the disk often enough: {points}");
    }
}

/// Bytes of log records that a minimally logged statement of this many rows appends, commit included.
async fn logged_by(client: &mut Client, table: &Arc<Table>, value: i32) -> u64 {
    let before = client.db.log().reserved().0;
    load(client, table, Load { table_lock: true, ..Load::of(2_000, value) }).await.expect("room");
    client.commit().await;
    client.db.log().reserved().0 - before
}

#[test]
fn rows_are_in_the_log_when_somebody_restores_from_it() {
    with_server(&SimulatedDisk::new(6), async |_, db| {
        let mut a = Client::new(&db, 51);
        let t = a.create(definition("t", Vec::new())).await;
        let rows = 3 * 2_000 * 12;
        let alone = logged_by(&mut a, &t, 1).await;
        assert!(alone < rows / 10, "{alone}");
        let options = db.options();
        for (recovery, value) in [(RecoveryModel::Full, 2), (RecoveryModel::BulkLogged, 3)] {
            db.set_options(DatabaseOptions { recovery, ..options }).expect("an option");
            let logged = logged_by(&mut a, &t, value).await;
            assert_eq!(logged > rows, recovery == RecoveryModel::Full, "{recovery:?}: {logged}");
        }
        db.set_options(options).expect("an option");
        let turn = db.begin_backup().expect("no other one is made");
        assert!(logged_by(&mut a, &t, 4).await > rows, "a backup is made");
        drop(turn);
        let alone = logged_by(&mut a, &t, 5).await;
        assert!(alone < rows / 10, "{alone}");
        assert_eq!(counts(&mut a, &t).await.values().sum::<usize>(), 5 * 6_000);
    });
}

/// A statement that leaves its rows out of the log, and rows that others insert while a backup is made.
#[test]
fn a_backup_has_all_rows_of_bulk_inserts_around_it() {
    let disk = SimulatedDisk::new(7);
    with_server(&disk, async |server, db| {
        let mut a = Client::new(&db, 51);
        let t = a.create(definition("t", Vec::new())).await;
        let minimal = |value| Load { table_lock: true, ..Load::of(2_000, value) };
        load(&mut a, &t, minimal(1)).await.expect("room");
        a.commit().await;
        // Open when the backup begins, and ends before or after it.
        load(&mut a, &t, minimal(2)).await.expect("room");
        let device = device_of_test(&disk, "t.bak").expect("a name");
        let options = BackupOptions::new(BackupKind::Database, "t.bak");
        let mut job = BackupJob::begin(db.clone(), options, &device, 77).expect("a backup begins");
        a.commit().await;
        load(&mut a, &t, minimal(3)).await.expect("room");
        a.commit().await;
        while !job.is_copied() {
            job.step().expect("a sound database");
        }
        load(&mut a, &t, minimal(4)).await.expect("room");
        job.end().expect("a whole backup");
        a.rollback().await;
        server.restore_database("copy", RestoreOptions::new("t.bak"), &mut |_| ()).await.expect("a restore");
        let copy = server.database("copy").expect("it is there");
        let mut b = Client::new(&copy, 52);
        let t = table_of(&copy, "t");
        assert_eq!(counts(&mut b, &t).await, BTreeMap::from([(1, 6_000), (2, 6_000), (3, 6_000)]));
    });
    assert_sound(&disk);
}
