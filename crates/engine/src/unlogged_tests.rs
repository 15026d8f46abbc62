//! Index builds, and loads into empty tables, that do not log what they put into trees: how much is in the log, what a failure in the
//! middle leaves, what a backup that begins meanwhile has, and what there is after a power loss at any write.

use std::sync::Arc;
use std::time::Duration;

use pikepole_machine::{Disk, SimulatedDisk};
use pikepole_scheduler::{Placement, TaskInfo};
use pikepole_types::{RowBytes, SqlError, Value};

use crate::backup::{BackupJob, device_of_test};
use crate::fault::{self, Fault};
use crate::tests::{Client, assert_sound, definition, index, options, primary_key, row, table_of, with_server};
use crate::*;

/// Rows of the table: more than the pages from which on builds are not logged.
pub(crate) const ROWS: i64 = 6_000;

/// The bytes of entries that an index of all rows has, at least.
const ENTRY_BYTES: u64 = ROWS as u64 * 20;

/// A row's text: so long that some 120 rows fill a page.
pub(crate) fn text(k: i64) -> String {
    format!("{:040}", k * 7919 % ROWS)
}

/// A heap of rows that come in no order of their keys.
pub(crate) async fn create(client: &mut Client) -> Arc<Table> {
    let t = client.create(definition("t", Vec::new())).await;
    let (db, tx) = (client.db.clone(), &mut client.tx);
    db.begin_statement(tx);
    db.drive(tx, |tx| db.try_lock_table(tx, &t, LockMode::BU)).await.map_err(drop).expect("nobody has it");
    let mut writer = db.bulk_writer(tx, &t).expect("a heap");
    for k in 0..ROWS {
        let k = k * 4_801 % ROWS;
        let mut bytes = Vec::new();
        let row = row(k, 0, &text(k));
        t.row_layout().encode_rest(|i| &row[i], &mut bytes).expect("a row");
        let mut rows = RowBytes::default();
        rows.push(&bytes);
        let rows = EncodedRows::Varying { lengths: rows.lengths(), bytes: rows.bytes() };
        db.bulk_append(tx, &t, &mut writer, rows).await.map_err(drop).expect("room");
    }
    db.drive(tx, |tx| db.try_bulk_finish(tx, &t, &mut writer)).await.map_err(drop).expect("room");
    db.end_statement(tx);
    client.commit().await;
    t
}

pub(crate) fn clustered() -> IndexDefinition {
    IndexDefinition { unique: true, name: Some("c".into()), ..index(IndexKind::Index, true, &["k"]) }
}

/// In the place of [`clustered`], by values that are almost all the same.
fn repeated() -> IndexDefinition {
    IndexDefinition { name: Some("c".into()), replaces: true, ..index(IndexKind::Index, true, &["v"]) }
}

pub(crate) fn by_text() -> IndexDefinition {
    index(IndexKind::UniqueConstraint, false, &["s"])
}

/// Builds an index, by so many workers.
pub(crate) async fn build(
    client: &mut Client,
    table: &Table,
    index: IndexDefinition,
    workers: usize,
) -> Result<Arc<Table>, SqlError> {
    let schedulers: Vec<usize> = (0..workers).collect();
    let built = client.db.create_index(&mut client.tx, table, index, &schedulers).await;
    // What a statement ends with.
    client.db.end_statement(&mut client.tx);
    built
}

/// The keys that each way to the rows leads to, and whether all ways lead to the same.
pub(crate) async fn rows_by_all_ways(client: &mut Client, table: &Table) -> Result<Vec<(i64, i32)>, String> {
    let plain = |row: &Vec<Value>| match (&row[0], &row[1], &row[2]) {
        (Value::BigInt(k), Value::Int(v), Value::Str(s)) if *s == text(*k) => Ok((*k, *v)),
        _ => Err(format!("{row:?} is no row")),
    };
    let mut rows: Vec<(i64, i32)> = client.rows(table).await.iter().map(plain).collect::<Result<_, _>>()?;
    rows.sort_unstable();
    for index in table.indexes.iter().filter(|index| !index.clustered) {
        let range = ScanRange { index: Some(index.index_id), ..ScanRange::all() };
        let found = client.rows_of(table, range).await;
        let mut found: Vec<(i64, i32)> = found.iter().map(plain).collect::<Result<_, _>>()?;
        found.sort_unstable();
        if found != rows {
            return Err(format!("{} rows by index {}, {} in all", found.len(), index.name, rows.len()));
        }
    }
    // Others may have the table.
    client.tx.rest();
    Ok(rows)
}

pub(crate) fn all_rows(value: i32) -> Vec<(i64, i32)> {
    (0..ROWS).map(|k| (k, value)).collect()
}

/// Bytes of log records that building an index appends.
async fn logged_by(client: &mut Client, index: IndexDefinition, workers: usize) -> u64 {
    let before = client.db.log().reserved().0;
    let t = build(client, &table_of(&client.db, "t"), index, workers).await.expect("keys are unique");
    client.commit().await;
    assert_eq!(rows_by_all_ways(client, &t).await, Ok(all_rows(0)));
    client.db.log().reserved().0 - before
}

#[test]
fn a_build_logs_its_entries_only_when_somebody_restores_from_the_log() {
    for workers in [0, 2] {
        let disk = SimulatedDisk::new(1);
        with_server(&disk, async |_, db| {
            let mut a = Client::new(&db, 51);
            create(&mut a).await;
            for index in [by_text(), clustered()] {
                let alone = logged_by(&mut a, index, workers).await;
                assert!(alone < ENTRY_BYTES / 10, "{alone} bytes by {workers} workers");
            }
        });
        assert_sound(&disk);
        with_server(&disk, async |_, db| {
            let mut a = Client::new(&db, 51);
            let t = table_of(&db, "t");
            assert_eq!(rows_by_all_ways(&mut a, &t).await, Ok(all_rows(0)));
            let simple = db.options();
            for (name, recovery) in [("i1", RecoveryModel::Full), ("i2", RecoveryModel::BulkLogged)] {
                db.set_options(DatabaseOptions { recovery, ..simple }).expect("an option");
                let index = IndexDefinition { name: Some(name.into()), ..index(IndexKind::Index, false, &["s"]) };
                let logged = logged_by(&mut a, index, workers).await;
                assert_eq!(logged > ENTRY_BYTES, recovery == RecoveryModel::Full, "{recovery:?}: {logged}");
            }
            db.set_options(simple).expect("an option");
            let before = db.log().reserved().0;
            db.rebuild_indexes(&mut a.tx, &table_of(&db, "t"), None).await.expect("room");
            db.end_statement(&mut a.tx);
            a.commit().await;
            let rebuilt = db.log().reserved().0 - before;
            assert!(rebuilt < ENTRY_BYTES / 10, "{rebuilt}");
            assert_eq!(rows_by_all_ways(&mut a, &table_of(&db, "t")).await, Ok(all_rows(0)));
        });
        assert_sound(&disk);
    }
}

#[test]
fn what_fails_in_the_middle_leaves_the_table_as_it_was() {
    let disk = SimulatedDisk::new(2);
    with_server(&disk, async |_, db| {
        let mut a = Client::new(&db, 51);
        create(&mut a).await;
        for workers in [0, 2] {
            let twice =
                IndexDefinition { unique: true, name: Some("twice".into()), ..index(IndexKind::Index, true, &["v"]) };
            let error = build(&mut a, &table_of(&db, "t"), twice, workers).await.expect_err("all values are 0");
            assert_eq!(error.number, 1505, "{error}");
            a.rollback().await;
            // Built whole, changed, and rolled back.
            a.tx.begin();
            let mark = a.tx.mark();
            let new = build(&mut a, &table_of(&db, "t"), clustered(), workers).await.expect("keys are unique");
            assert!(a.change(&new, 17, Some(&row(17, 1, &text(17)))).await.expect("an update"));
            db.rollback_to(&mut a.tx, mark).await.expect("a rollback");
            assert_eq!(rows_by_all_ways(&mut a, &table_of(&db, "t")).await, Ok(all_rows(0)));
            a.rollback().await;
            disk.set_capacity(Some(disk.used()));
            // The file has some room in itself.
            let error = loop {
                match build(&mut a, &table_of(&db, "t"), by_text(), workers).await {
                    Ok(_) => a.commit().await,
                    Err(error) => break error,
                }
            };
            assert!(matches!(error.number, 1105 | 9002), "{error}");
            a.rollback().await;
            disk.set_capacity(None);
            // The log writer tries again after a pause.
            pikepole_scheduler::sleep(std::time::Duration::from_millis(50)).await;
            assert_eq!(rows_by_all_ways(&mut a, &table_of(&db, "t")).await, Ok(all_rows(0)));
        }
    });
    assert_sound(&disk);
}

/// A build that is at work: by a session of its own, on the other scheduler.
pub(crate) async fn begin_build(db: &Arc<Database>, table: Arc<Table>) -> pikepole_scheduler::JoinHandle<()> {
    let before = db.log().reserved().0;
    let mut builder = Client::new(db, 52);
    let job = async move {
        build(&mut builder, &table, clustered(), 0).await.expect("keys are unique");
        builder.commit().await;
    };
    let info = TaskInfo { session_id: Some(52), command: "TEST" };
    let builder = pikepole_scheduler::spawn(info, Placement::On(1), job);
    while db.log().reserved().0 < before + 300 {
        pikepole_scheduler::yield_now().await;
    }
    assert!(!builder.is_finished() && db.log().reserved().0 < before + ENTRY_BYTES / 10, "it is at work");
    builder
}

pub(crate) fn begin_backup(disk: &SimulatedDisk, db: &Arc<Database>, kind: BackupKind, file: &str) -> BackupJob {
    let device = device_of_test(disk, file).expect("a name");
    BackupJob::begin(db.clone(), BackupOptions::new(kind, file), &device, 77).expect("a backup begins")
}

pub(crate) fn end_backup(mut job: BackupJob) {
    while !job.is_copied() {
        job.step().expect("a sound database");
    }
    job.end().expect("a whole backup");
}

#[test]
fn a_backup_that_begins_in_the_midst_of_a_build_has_the_entries() {
    let disk = SimulatedDisk::new(3);
    with_server(&disk, async |server, db| {
        let mut a = Client::new(&db, 51);
        let t = create(&mut a).await;
        let before = db.log().reserved().0;
        let builder = begin_build(&db, t).await;
        let job = begin_backup(&disk, &db, BackupKind::Database, "t.bak");
        builder.await.expect("it does not panic");
        assert!(db.log().reserved().0 > before + ENTRY_BYTES, "the pages are logged");
        end_backup(job);
        server.restore_database("copy", RestoreOptions::new("t.bak"), &mut |_| ()).await.expect("a restore");
        let copy = server.database("copy").expect("it is there");
        let t = table_of(&copy, "t");
        assert!(!t.is_heap(), "the build was committed when the backup ended");
        assert_eq!(rows_by_all_ways(&mut Client::new(&copy, 53), &t).await, Ok(all_rows(0)));
    });
    assert_sound(&disk);
}

/// The log is kept from the midst of a build on: it restores to each moment since.
#[test]
fn a_log_that_is_kept_from_the_midst_of_a_build_has_the_entries() {
    let disk = SimulatedDisk::new(4);
    with_server(&disk, async |server, db| {
        let mut a = Client::new(&db, 51);
        let t = create(&mut a).await;
        let builder = begin_build(&db, t).await;
        let options = DatabaseOptions { recovery: RecoveryModel::Full, ..db.options() };
        db.set_options(options).expect("an option");
        end_backup(begin_backup(&disk, &db, BackupKind::Database, "t.bak"));
        assert!(!builder.is_finished(), "the backup was made in the midst");
        builder.await.expect("it does not panic");
        pikepole_scheduler::sleep(Duration::from_millis(5)).await;
        let built_us = u64::try_from(pikepole_machine::clock::unix_time_us()).expect("after 1970");
        pikepole_scheduler::sleep(Duration::from_millis(5)).await;
        a.insert(&table_of(&db, "t"), &row(ROWS + 1, 1, "later")).await.expect("a new key");
        end_backup(begin_backup(&disk, &db, BackupKind::Log, "t.trn"));
        for (name, stop_at_us, rows) in [("whole", None, ROWS + 1), ("built", Some(built_us), ROWS)] {
            let data = RestoreOptions { recovery: false, ..RestoreOptions::new("t.bak") };
            server.restore_database(name, data, &mut |_| ()).await.expect("a restore");
            let log = RestoreOptions { stop_at_us, ..RestoreOptions::new("t.trn") };
            server.restore_log(name, log, &mut |_| ()).await.expect("a restore of the log");
            let copy = server.database(name).expect("it is there");
            let t = table_of(&copy, "t");
            assert!(!t.is_heap(), "{name}");
            let keys = Client::new(&copy, 53).keys(&t).await;
            assert!(keys.into_iter().eq((0..ROWS).chain((rows > ROWS).then_some(ROWS + 1))), "{name}");
        }
    });
    assert_sound(&disk);
}

/// Rows that each child of a load inserts, and how many children.
const LOADED: i64 = 700;
const CHILDREN: i64 = 2;

pub(crate) fn with_keys() -> TableDefinition {
    let mut indexes = primary_key();
    indexes.push(by_text());
    definition("t", indexes)
}

pub(crate) fn loaded_rows(value: i32) -> Vec<(i64, i32)> {
    (0..LOADED * CHILDREN).map(|k| (k, value)).collect()
}

async fn fill_part(
    db: Arc<Database>,
    table: Arc<Table>,
    fill: Arc<Fill>,
    mut child: Transaction,
    from: i64,
    value: i32,
) -> (Transaction, Result<(), SqlError>) {
    let mut portion = fill.portion();
    for at in 0..LOADED {
        let k = from + at * 307 % LOADED;
        portion.add_row().clone_from_slice(&row(k, value, &text(k)));
        if at % 50 < 49 && at + 1 < LOADED {
            continue;
        }
        loop {
            match db.drive(&mut child, |tx| db.try_insert_portion(tx, &table, &mut portion)).await {
                Ok(true) => break,
                Ok(false) => pikepole_scheduler::yield_now().await,
                Err(Interrupted::Error(error)) => return (child, Err(*error)),
                Err(Interrupted::Stale) => panic!("the definition is current"),
            }
        }
        pikepole_scheduler::yield_now().await;
    }
    (child, Ok(()))
}

/// The statement without its end; `overlap`: so many keys of the second child are those of the first.
pub(crate) async fn load(client: &mut Client, value: i32, overlap: i64) -> Result<Arc<Table>, SqlError> {
    let (db, tx) = (client.db.clone(), &mut client.tx);
    let table = db.catalog(tx).table("dbo", "t").expect("it was made before").clone();
    db.begin_statement(tx);
    let run = |interrupted| match interrupted {
        Interrupted::Error(error) => *error,
        Interrupted::Stale => panic!("the definition is current"),
    };
    db.drive(tx, |tx| db.try_lock_table(tx, &table, LockMode::X)).await.map_err(run)?;
    assert!(db.drive(tx, |tx| db.try_can_fill(tx, &table)).await.map_err(run)?, "it is empty");
    let fill = Arc::new(db.begin_fill(tx, &table).await?);
    let children = db.drive(tx, |tx| db.try_begin_children(tx, CHILDREN as usize, true)).await.map_err(run)?;
    let info = TaskInfo { session_id: Some(51), command: "TEST" };
    let mut workers = Vec::new();
    for (at, child) in children.into_iter().enumerate() {
        let from = at as i64 * (LOADED - overlap);
        let part = fill_part(db.clone(), table.clone(), fill.clone(), child, from, value);
        workers.push(pikepole_scheduler::spawn(info, Placement::On(at), part));
    }
    let (mut children, mut result) = (Vec::new(), Ok(()));
    for worker in workers {
        let (child, ended) = worker.await.expect("a worker does not panic");
        children.push(child);
        result = result.and(ended);
    }
    db.merge_children(tx, children);
    result?;
    db.end_fill(tx, &fill).await?;
    db.end_statement(tx);
    Ok(db.catalog(tx).table("dbo", "t").expect("it is there").clone())
}

async fn can_fill(client: &mut Client, table: &Table, mode: LockMode) -> bool {
    let (db, tx) = (client.db.clone(), &mut client.tx);
    db.drive(tx, |tx| db.try_lock_table(tx, table, mode)).await.map_err(drop).expect("nobody has it");
    let can = db.drive(tx, |tx| db.try_can_fill(tx, table)).await.map_err(drop).expect("a sound tree");
    client.rollback().await;
    can
}

#[test]
fn an_empty_table_is_filled_without_logging_and_undone_as_a_whole() {
    let disk = SimulatedDisk::new(7);
    with_server(&disk, async |_, db| {
        let (mut a, mut b) = (Client::new(&db, 51), Client::new(&db, 52));
        let t = a.create(with_keys()).await;
        let id = t.object_id;
        assert!(!can_fill(&mut a, &t, LockMode::IX).await, "others may insert");
        assert!(can_fill(&mut a, &t, LockMode::X).await);
        // A key that is there twice.
        let mark = a.tx.mark();
        a.tx.begin();
        let error = load(&mut a, 1, 10).await.expect_err("ten keys of one child are those of the other");
        assert_eq!(error.number, 2627, "{error}");
        db.rollback_to(&mut a.tx, mark).await.expect("a rollback");
        // In the same transaction again: whole, changed, seen by nobody else.
        let before = db.log().reserved().0;
        let new = load(&mut a, 2, 0).await.expect("room");
        let logged = db.log().reserved().0 - before;
        assert!(logged < (LOADED * CHILDREN) as u64 * 5, "{logged}");
        assert_eq!(rows_by_all_ways(&mut a, &new).await, Ok(loaded_rows(2)));
        assert!(a.change(&new, 3, Some(&row(3, 9, &text(3)))).await.expect("an update"));
        assert_eq!(db.current_catalog().table("dbo", "t").map(|t| t.version), Some(t.version), "nobody else sees it");
        a.rollback().await;
        let t = table_of(&db, "t");
        assert_eq!(rows_by_all_ways(&mut b, &t).await, Ok(Vec::new()));
        let new = load(&mut a, 3, 0).await.expect("room");
        a.commit().await;
        assert_eq!(
            (new.object_id, new.record().modified_us),
            (id, t.record().modified_us),
            "no definition was changed"
        );
        assert_eq!(rows_by_all_ways(&mut b, &table_of(&db, "t")).await, Ok(loaded_rows(3)));
        assert!(!can_fill(&mut a, &new, LockMode::X).await, "it has rows");
        let error = b.insert(&table_of(&db, "t"), &row(5, 0, "again")).await.expect_err("the key is there");
        assert_eq!(error.number, 2627, "{error}");
        b.tx.rest();
        db.truncate_table(&mut a.tx, &table_of(&db, "t")).await.expect("a table");
        a.commit().await;
        let t = table_of(&db, "t");
        assert!(can_fill(&mut a, &t, LockMode::X).await);
        let simple = db.options();
        for recovery in [RecoveryModel::Full, RecoveryModel::BulkLogged] {
            db.set_options(DatabaseOptions { recovery, ..simple }).expect("an option");
            let can = can_fill(&mut a, &t, LockMode::X).await;
            assert_eq!(can, recovery == RecoveryModel::BulkLogged, "{recovery:?}");
        }
        db.set_options(simple).expect("an option");
        let turn = db.begin_backup().expect("no other one is made");
        assert!(!can_fill(&mut a, &t, LockMode::X).await, "a backup is made");
        drop(turn);
        let heap = a.create(definition("h", Vec::new())).await;
        assert!(!can_fill(&mut a, &heap, LockMode::X).await, "its pages are filled one by one");
    });
    assert_sound(&disk);
}

/// What a run does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Run {
    /// Builds indexes of a table with rows.
    Builds,
    /// Loads rows into an empty table.
    Loads,
}

/// The indexes' names and all rows.
type State = (Vec<String>, Vec<(i64, i32)>);

/// What was committed, and what a commit under way would make of it.
struct Known {
    committed: State,
    under_way: Option<State>,
}

impl Known {
    async fn commit(&mut self, client: &mut Client, state: State) -> Result<(), ()> {
        self.under_way = Some(state);
        client.db.clone().commit(&mut client.tx, Durability::Full).await.map_err(drop)?;
        self.committed = self.under_way.take().ok_or(())?;
        Ok(())
    }
}

fn state(table: &Table, rows: &[(i64, i32)]) -> State {
    (table.indexes.iter().map(|index| index.name.clone()).collect(), rows.to_vec())
}

/// A server with the run's table, closed in order, and what it holds.
fn fresh_disk(run: Run) -> (SimulatedDisk, State) {
    let (disk, mut before) = (SimulatedDisk::new(5), State::default());
    with_server(&disk, async |_, db| {
        let mut a = Client::new(&db, 51);
        before = match run {
            Run::Builds => state(&*create(&mut a).await, &all_rows(0)),
            Run::Loads => state(&*a.create(with_keys()).await, &[]),
        };
    });
    (disk, before)
}

/// Works until the power goes off: committed and rolled back, with changes of rows in the same transactions.
fn work(disk: &SimulatedDisk, run: Run, known: &mut Known) {
    let mut open = options(disk);
    open.schedulers = SchedulerChoice::Simulated { seed: 5, count: 2 };
    let Ok(server) = Server::open(open) else { return };
    if let Ok(db) = server.database(MASTER) {
        server.schedulers().block_on(async {
            let mut a = Client::new(&db, 51);
            let _ended = match run {
                Run::Builds => work_on_indexes(&mut a, known).await,
                Run::Loads => work_on_loads(&mut a, known).await,
            };
        });
    }
    server.schedulers().shutdown();
}

async fn work_on_indexes(a: &mut Client, known: &mut Known) -> Result<(), ()> {
    let db = a.db.clone();
    let mut rows = all_rows(0);
    let builds = [
        (by_text(), 2, true),
        (clustered(), 0, false),
        (clustered(), 2, true),
        (repeated(), 2, false),
        (repeated(), 2, true),
    ];
    for (at, (index, workers, keeps)) in builds.into_iter().enumerate() {
        a.tx.begin();
        let t = build(a, &table_of(&db, "t"), index, workers).await.map_err(drop)?;
        let key = at as i64 * 100 + 5;
        a.change(&t, key, Some(&row(key, 1, &text(key)))).await.map_err(drop)?;
        if keeps {
            rows[key as usize].1 = 1;
            known.commit(a, state(&t, &rows)).await?;
        } else {
            db.rollback(&mut a.tx).await.map_err(drop)?;
        }
    }
    Ok(())
}

async fn work_on_loads(a: &mut Client, known: &mut Known) -> Result<(), ()> {
    let db = a.db.clone();
    for value in 1..=4 {
        a.tx.begin();
        let t = load(a, value, 0).await.map_err(drop)?;
        let mut rows = loaded_rows(value);
        rows[700].1 = 10;
        a.change(&t, 700, Some(&row(700, 10, &text(700)))).await.map_err(drop)?;
        if value % 2 == 1 {
            db.rollback(&mut a.tx).await.map_err(drop)?;
            continue;
        }
        known.commit(a, state(&t, &rows)).await?;
        if value == 2 {
            db.truncate_table(&mut a.tx, &table_of(&db, "t")).await.map_err(drop)?;
            known.commit(a, state(&t, &[])).await?;
        }
    }
    Ok(())
}

fn read_back(disk: &SimulatedDisk) -> Result<State, String> {
    let server = Server::open(options(disk)).map_err(|e| e.to_string())?;
    let db = server.database(MASTER).map_err(|e| e.to_string())?;
    let found = server.schedulers().block_on(async {
        let mut a = Client::new(&db, 51);
        let t = table_of(&db, "t");
        let rows = rows_by_all_ways(&mut a, &t).await?;
        drop(a);
        server.shutdown().await.map_err(|e| e.to_string())?;
        Ok(state(&t, &rows))
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
fn crash_run(fresh: &SimulatedDisk, before: &State, crash_at: u64, run: Run) -> Result<bool, String> {
    let mut known = Known { committed: before.clone(), under_way: None };
    let disk = fresh.crash(5);
    disk.crash_after_ops(crash_at);
    work(&disk, run, &mut known);
    let crashed = disk.is_off();
    disk.power_off();
    let found = read_back(&disk.crash(5 ^ crash_at))?;
    if found == known.committed || Some(&found) == known.under_way.as_ref() {
        return Ok(crashed);
    }
    Err(format!("{} rows, indexes {:?}", found.1.len(), found.0))
}

/// Crashes after each change of the disk: how many there were, or the first that did harm.
fn crash_runs(run: Run) -> Result<u64, String> {
    let (fresh, before) = fresh_disk(run);
    for crash_at in 1.. {
        match crash_run(&fresh, &before, crash_at, run) {
            Ok(true) => {}
            Ok(false) => return Ok(crash_at - 1),
            Err(why) => return Err(format!("{run:?}, crash after {crash_at} changes of the disk: {why}")),
        }
    }
    unreachable!("a workload ends")
}

#[test]
fn all_entries_are_there_or_none_after_a_power_loss_at_any_write() {
    for run in [Run::Builds, Run::Loads] {
        let points = crash_runs(run).unwrap_or_else(|why| panic!("{why}"));
        println!("{run:?}: {points} crash points");
        assert!(points > 40, "the workload changes the disk often enough: {points}");
    }
}

#[test]
fn trees_that_nobody_waits_for_are_found_out() {
    for run in [Run::Builds, Run::Loads] {
        fault::plant(Some(Fault::SettlesNothing));
        let found = crash_runs(run);
        fault::plant(None);
        println!("{found:?}");
        assert!(found.is_err(), "{run:?}");
    }
}
