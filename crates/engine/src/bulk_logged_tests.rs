//! Loads under BULK_LOGGED: what a full backup and all log backups since restore, whatever happened between a load and
//! the log backup that has its pages; what is refused; and what there is after a power loss at any write.

use std::collections::BTreeMap;
use std::sync::Arc;

use pikepole_machine::{Disk, SimulatedDisk};
use pikepole_types::SqlError;

use crate::bulk_tests::{CHILDREN, Load, counts, load as load_heap};
use crate::fault::{self, Fault};
use crate::tests::{Client, assert_sound, definition, options, row, table_of, with_server};
use crate::unlogged_tests::{
    ROWS, all_rows, begin_backup, begin_build, build, by_text, clustered, create, end_backup, load as load_keys,
    loaded_rows, rows_by_all_ways, text, with_keys,
};
use crate::*;

/// Rows that each child of a load of the heap inserts.
const HEAP_ROWS: usize = 400;

/// What is in the heap, by value, and in the table with keys.
type State = (BTreeMap<i32, usize>, Vec<(i64, i32)>);

fn set_recovery(db: &Database, recovery: RecoveryModel) {
    db.set_options(DatabaseOptions { recovery, ..db.options() }).expect("an option");
}

/// Two tables under BULK_LOGGED, `h`, a heap, and `t`, with keys, both empty, and the full backup `t.bak`.
async fn begin_chain(disk: &SimulatedDisk, db: &Arc<Database>) {
    let mut a = Client::new(db, 51);
    a.create(definition("h", Vec::new())).await;
    a.create(with_keys()).await;
    set_recovery(db, RecoveryModel::BulkLogged);
    end_backup(begin_backup(disk, db, BackupKind::Database, "t.bak"));
}

fn back_up_log(disk: &SimulatedDisk, db: &Arc<Database>, file: &str) {
    end_backup(begin_backup(disk, db, BackupKind::Log, file));
}

/// A load of the heap, without its end.
async fn fill_heap(client: &mut Client, value: i32) -> Result<(), SqlError> {
    let h = table_of(&client.db, "h");
    load_heap(client, &h, Load::locked(HEAP_ROWS, value)).await
}

async fn state_of(db: &Arc<Database>) -> Result<State, String> {
    let mut client = Client::new(db, 59);
    let heap = counts(&mut client, &table_of(db, "h")).await;
    client.tx.rest();
    Ok((heap, rows_by_all_ways(&mut client, &table_of(db, "t")).await?))
}

/// Restores `t.bak` and then these log backups as the database `name`.
pub(crate) async fn restore(server: &Arc<Server>, name: &str, logs: &[&str]) -> Result<Arc<Database>, SqlError> {
    let full = RestoreOptions { recovery: false, replace: true, ..RestoreOptions::new("t.bak") };
    server.restore_database(name, full, &mut |_| ()).await?;
    for log in logs {
        let log = RestoreOptions { recovery: false, ..RestoreOptions::new(*log) };
        server.restore_log(name, log, &mut |_| ()).await?;
    }
    server.recover_database(name).await?;
    server.database(name)
}

async fn restored(server: &Arc<Server>, logs: &[&str]) -> Result<State, String> {
    let db = restore(server, "copy", logs).await.map_err(|error| error.to_string())?;
    let report = db.store().check().map_err(|error| error.to_string())?;
    match report.findings.first() {
        Some(finding) => Err(format!("page {}: {}", finding.page, finding.what)),
        None => state_of(&db).await,
    }
}

/// A load, and what is done between it and the log backup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum After {
    Nothing,
    /// Some of the rows are changed and deleted, and more come, all logged.
    Changes,
    /// The pages go away and are used again by rows that are logged, and by others that are not.
    Reuse,
    /// The database becomes FULL, and is opened anew.
    Full,
    /// The load was the second one of the transaction, which goes on.
    Open,
}

async fn go_on(a: &mut Client, after: After) {
    let db = a.db.clone();
    match after {
        After::Nothing => {}
        After::Open => {
            let h = table_of(&db, "h");
            a.tx.begin();
            fill_heap(a, 7).await.expect("room");
            a.insert(&h, &row(1, 8, "in the same transaction")).await.expect("an insert");
        }
        After::Changes => {
            let (h, t) = (table_of(&db, "h"), table_of(&db, "t"));
            for k in [1 << 40, (1 << 40) + 77] {
                assert!(a.change(&h, k, Some(&row(k, 9, &"long".repeat(12)))).await.expect("an update"));
                assert!(a.change(&h, k + 1, None).await.expect("a delete"));
            }
            for k in [3, 700, 1399] {
                assert!(a.change(&t, k, Some(&row(k, 9, &text(k)))).await.expect("an update"));
            }
            a.insert(&t, &row(5000, 9, &text(5000))).await.expect("a new key");
        }
        After::Reuse => {
            for (name, value) in [("h", 5), ("t", 6)] {
                db.truncate_table(&mut a.tx, &table_of(&db, name)).await.expect("a table");
                a.commit().await;
                // The pages are given back in the background.
                pikepole_scheduler::sleep(std::time::Duration::from_secs(1)).await;
                let h = table_of(&db, "h");
                load_heap(a, &h, Load::of(50, value)).await.expect("room");
                a.commit().await;
                fill_heap(a, value + 10).await.expect("room");
                a.commit().await;
            }
            load_keys(a, 5, 0).await.expect("room");
            a.commit().await;
        }
        After::Full => set_recovery(&db, RecoveryModel::Full),
    }
}

/// Both tables loaded; what comes then; and the state that it leaves.
fn load_and_go_on(disk: &SimulatedDisk, after: After) -> State {
    let mut state = State::default();
    with_server(disk, async |_, db| {
        begin_chain(disk, &db).await;
        let mut a = Client::new(&db, 51);
        let before = db.log().reserved().0;
        fill_heap(&mut a, 1).await.expect("room");
        load_keys(&mut a, 2, 0).await.expect("room");
        a.commit().await;
        let logged = db.log().reserved().0 - before;
        assert!(logged < 10_000, "{logged}");
        go_on(&mut a, after).await;
        state = state_of(&db).await.expect("sound tables");
        if after != After::Full {
            back_up_log(disk, &db, "1.trn");
        }
        if after == After::Open {
            a.commit().await;
            back_up_log(disk, &db, "2.trn");
        }
    });
    if after == After::Full {
        with_server(disk, async |_, db| back_up_log(disk, &db, "1.trn"));
    }
    state
}

#[test]
fn a_log_backup_restores_what_was_loaded_and_what_came_then() {
    for after in [After::Nothing, After::Changes, After::Reuse, After::Full, After::Open] {
        let disk = SimulatedDisk::new(1);
        let state = load_and_go_on(&disk, after);
        with_server(&disk, async |server, db| {
            assert_eq!(restored(&server, &["1.trn"]).await, Ok(state.clone()), "{after:?}");
            let sets = server.list_backups("1.trn").await.expect("a backup");
            assert!(sets[0].bulk_logged, "{after:?}");
            if after == After::Open {
                let all = state_of(&db).await.expect("sound tables");
                assert!(all.0.contains_key(&7) && !state.0.contains_key(&7));
                assert_eq!(restored(&server, &["1.trn", "2.trn"]).await, Ok(all));
                assert!(!server.list_backups("2.trn").await.expect("a backup")[0].bulk_logged, "it has no load");
            }
        });
        assert_sound(&disk);
    }
}

#[test]
fn a_log_backup_without_the_pages_or_a_redo_that_is_not_told_are_found_out() {
    for fault in [Fault::TakesNoPages, Fault::TellsNoRedo] {
        let disk = SimulatedDisk::new(1);
        fault::plant(Some(fault).filter(|fault| *fault == Fault::TakesNoPages));
        let state = load_and_go_on(&disk, After::Changes);
        with_server(&disk, async |server, _| {
            fault::plant(Some(fault));
            let found = restored(&server, &["1.trn"]).await;
            fault::plant(None);
            println!("{fault:?}: {}", found.as_ref().map_or_else(Clone::clone, |_| "another state".into()));
            assert_ne!(found, Ok(state), "{fault:?}");
        });
    }
}

#[test]
fn only_a_load_makes_a_log_backup_bulk_logged_and_the_backup_takes_it_once() {
    let disk = SimulatedDisk::new(2);
    with_server(&disk, async |server, db| {
        begin_chain(&disk, &db).await;
        let mut a = Client::new(&db, 51);
        set_recovery(&db, RecoveryModel::Full);
        a.insert(&table_of(&db, "t"), &row(9000, 1, &text(9000))).await.expect("a new key");
        back_up_log(&disk, &db, "1.trn");
        assert!(!db.log_chain().expect("it goes on").bulk_logged);
        set_recovery(&db, RecoveryModel::BulkLogged);
        fill_heap(&mut a, 1).await.expect("room");
        a.commit().await;
        // A copy takes the pages, too, and leaves them for the next.
        let device = crate::backup::device_of_test(&disk, "copy.trn").expect("a name");
        let copy = BackupOptions { copy_only: true, ..BackupOptions::new(BackupKind::Log, "copy.trn") };
        let job = crate::backup::BackupJob::begin(db.clone(), copy, &device, 78);
        end_backup(job.expect("a backup begins"));
        set_recovery(&db, RecoveryModel::Full);
        back_up_log(&disk, &db, "2.trn");
        assert!(!db.log_chain().expect("it goes on").bulk_logged);
        load_heap(&mut a, &table_of(&db, "h"), Load::locked(HEAP_ROWS, 2)).await.expect("room");
        a.commit().await;
        back_up_log(&disk, &db, "3.trn");
        let mut bulk_logged = Vec::new();
        for file in ["1.trn", "copy.trn", "2.trn", "3.trn"] {
            bulk_logged.push(server.list_backups(file).await.expect("a backup")[0].bulk_logged);
        }
        assert_eq!(bulk_logged, [false, true, true, false]);
        let state = state_of(&db).await;
        assert_eq!(restored(&server, &["1.trn", "2.trn", "3.trn"]).await, state);
        assert_eq!(restored(&server, &["1.trn", "copy.trn", "2.trn", "3.trn"]).await, state);
        // The chain is broken by SIMPLE, and what was loaded before is in the next full backup.
        set_recovery(&db, RecoveryModel::Simple);
        set_recovery(&db, RecoveryModel::BulkLogged);
        assert_eq!(db.log_chain(), None);
    });
    assert_sound(&disk);
}

/// What is loaded while a log backup is made is in the log with its rows, in that backup or the next one.
#[test]
fn a_load_during_a_log_backup_is_logged() {
    let disk = SimulatedDisk::new(7);
    with_server(&disk, async |server, db| {
        begin_chain(&disk, &db).await;
        let mut a = Client::new(&db, 51);
        let job = begin_backup(&disk, &db, BackupKind::Log, "1.trn");
        fill_heap(&mut a, 1).await.expect("room");
        a.commit().await;
        end_backup(job);
        let first = state_of(&db).await;
        // One that is under way when the backup begins goes on with its rows in the log.
        a.tx.begin();
        fill_heap(&mut a, 2).await.expect("room");
        let job = begin_backup(&disk, &db, BackupKind::Log, "2.trn");
        fill_heap(&mut a, 3).await.expect("room");
        a.commit().await;
        end_backup(job);
        let second = state_of(&db).await;
        let mut bulk_logged = Vec::new();
        for file in ["1.trn", "2.trn"] {
            bulk_logged.push(server.list_backups(file).await.expect("a backup")[0].bulk_logged);
        }
        assert_eq!(bulk_logged, [false, true]);
        assert_eq!(restored(&server, &["1.trn"]).await, first);
        assert_eq!(restored(&server, &["1.trn", "2.trn"]).await, second);
        assert!(second.is_ok_and(|(heap, _)| heap.len() == 3));
    });
    assert_sound(&disk);
}

/// A load that is rolled back leaves nothing; its pages, which others have by then, are theirs.
#[test]
fn a_load_that_is_rolled_back_is_not_restored() {
    let disk = SimulatedDisk::new(3);
    with_server(&disk, async |server, db| {
        begin_chain(&disk, &db).await;
        let mut a = Client::new(&db, 51);
        a.tx.begin();
        fill_heap(&mut a, 1).await.expect("room");
        load_keys(&mut a, 2, 0).await.expect("room");
        a.rollback().await;
        let h = table_of(&db, "h");
        load_heap(&mut a, &h, Load::of(60, 3)).await.expect("room");
        a.commit().await;
        // Open when the log backup begins, and rolled back before it ends.
        a.tx.begin();
        fill_heap(&mut a, 4).await.expect("room");
        load_keys(&mut a, 5, 0).await.expect("room");
        let job = begin_backup(&disk, &db, BackupKind::Log, "1.trn");
        a.rollback().await;
        end_backup(job);
        let state = (BTreeMap::from([(3, 60 * CHILDREN)]), Vec::new());
        assert_eq!(state_of(&db).await, Ok(state.clone()));
        assert_eq!(restored(&server, &["1.trn"]).await, Ok(state.clone()));
        // Rolled back behind it.
        fill_heap(&mut a, 6).await.expect("room");
        back_up_log(&disk, &db, "2.trn");
        a.rollback().await;
        back_up_log(&disk, &db, "3.trn");
        assert_eq!(restored(&server, &["1.trn", "2.trn"]).await, Ok(state.clone()));
        assert_eq!(restored(&server, &["1.trn", "2.trn", "3.trn"]).await, Ok(state));
    });
    assert_sound(&disk);
}

/// Backups, of the log and of all, that begin and end in the midst of a build, or begin in it and end behind it.
#[test]
fn backups_in_the_midst_of_a_build_and_behind_it_have_the_entries() {
    for (kind, overlaps) in [(BackupKind::Log, false), (BackupKind::Database, false), (BackupKind::Log, true)] {
        let disk = SimulatedDisk::new(4);
        with_server(&disk, async |server, db| {
            let mut a = Client::new(&db, 51);
            let t = create(&mut a).await;
            set_recovery(&db, RecoveryModel::BulkLogged);
            end_backup(begin_backup(&disk, &db, BackupKind::Database, "t.bak"));
            let builder = begin_build(&db, t).await;
            let job = begin_backup(&disk, &db, kind, "1.trn");
            assert!(!builder.is_finished(), "the backup begins in the midst");
            if overlaps {
                builder.await.expect("it does not panic");
                end_backup(job);
            } else {
                end_backup(job);
                assert!(!builder.is_finished(), "the backup was made in the midst");
                builder.await.expect("it does not panic");
            }
            back_up_log(&disk, &db, "2.trn");
            assert_eq!(server.list_backups("2.trn").await.expect("a backup")[0].bulk_logged, !overlaps, "{kind:?}");
            let logs: &[&str] = if kind == BackupKind::Log { &["1.trn", "2.trn"] } else { &["2.trn"] };
            let copy = restore(&server, "copy", logs).await.expect("a restore");
            let t = table_of(&copy, "t");
            assert!(!t.is_heap(), "{kind:?}");
            assert_eq!(rows_by_all_ways(&mut Client::new(&copy, 53), &t).await, Ok(all_rows(0)), "{kind:?}");
        });
        assert_sound(&disk);
    }
}

/// An index is built under BULK_LOGGED, by workers, and rows of it change before the log backup.
#[test]
fn an_index_that_was_built_is_restored_from_its_pages() {
    let disk = SimulatedDisk::new(5);
    with_server(&disk, async |server, db| {
        let mut a = Client::new(&db, 51);
        create(&mut a).await;
        set_recovery(&db, RecoveryModel::BulkLogged);
        end_backup(begin_backup(&disk, &db, BackupKind::Database, "t.bak"));
        for index in [by_text(), clustered()] {
            build(&mut a, &table_of(&db, "t"), index, 2).await.expect("keys are unique");
            a.commit().await;
        }
        let t = table_of(&db, "t");
        let mut rows = all_rows(0);
        for k in (0..ROWS).step_by(501) {
            assert!(a.change(&t, k, Some(&row(k, 1, &text(k)))).await.expect("an update"));
            rows[k as usize].1 = 1;
        }
        back_up_log(&disk, &db, "1.trn");
        let copy = restore(&server, "copy", &["1.trn"]).await.expect("a restore");
        let t = table_of(&copy, "t");
        assert_eq!(t.indexes.len(), 2);
        assert_eq!(rows_by_all_ways(&mut Client::new(&copy, 53), &t).await, Ok(rows));
    });
    assert_sound(&disk);
}

#[test]
fn a_point_within_a_log_that_lacks_rows_cannot_be_restored() {
    let disk = SimulatedDisk::new(6);
    with_server(&disk, async |server, db| {
        begin_chain(&disk, &db).await;
        let mut a = Client::new(&db, 51);
        let now = || u64::try_from(pikepole_machine::clock::unix_time_us()).expect("after 1970");
        let pause = || pikepole_scheduler::sleep(std::time::Duration::from_millis(5));
        let before = now();
        pause().await;
        fill_heap(&mut a, 1).await.expect("room");
        a.commit().await;
        // Dropped before the backup, which has no page of it and still lacks its rows.
        db.truncate_table(&mut a.tx, &table_of(&db, "h")).await.expect("a table");
        a.commit().await;
        pikepole_scheduler::sleep(std::time::Duration::from_secs(1)).await;
        back_up_log(&disk, &db, "1.trn");
        pause().await;
        let between = now();
        pause().await;
        a.insert(&table_of(&db, "h"), &row(1, 2, "later")).await.expect("an insert");
        back_up_log(&disk, &db, "2.trn");
        let full = RestoreOptions { recovery: false, ..RestoreOptions::new("t.bak") };
        server.restore_database("copy", full, &mut |_| ()).await.expect("a restore");
        let log = |file: &str, stop_at_us| RestoreOptions { stop_at_us: Some(stop_at_us), ..RestoreOptions::new(file) };
        let error = server.restore_log("copy", log("1.trn", before), &mut |_| ()).await.expect_err("within");
        assert_eq!(error.number, 4341, "{error}");
        // Behind it, the point is in a backup that lacks nothing.
        let outcome = server.restore_log("copy", log("1.trn", between), &mut |_| ()).await.expect("to its end");
        assert!(outcome.before_the_stop_point || server.database("copy").is_ok(), "{outcome:?}");
        if outcome.before_the_stop_point {
            server.restore_log("copy", log("2.trn", between), &mut |_| ()).await.expect("a point");
        }
        assert_eq!(state_of(&server.database("copy").expect("it is there")).await, Ok(State::default()));
    });
    assert_sound(&disk);
}

/// What the workload knew when the power went off.
#[derive(Clone, Default)]
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

/// Log backups of the workload, in their order, and the one that is made behind the crash.
const LOGS: [&str; 4] = ["1.trn", "2.trn", "3.trn", "last.trn"];

/// Loads, changes, rollbacks and log backups, until the power goes off.
async fn work(disk: &SimulatedDisk, a: &mut Client, known: &mut Known) -> Result<(), ()> {
    let db = a.db.clone();
    for (value, log) in (1..).zip(&LOGS[..3]) {
        a.tx.begin();
        fill_heap(a, value).await.map_err(drop)?;
        if value == 2 {
            db.rollback(&mut a.tx).await.map_err(drop)?;
            db.truncate_table(&mut a.tx, &table_of(&db, "t")).await.map_err(drop)?;
            known.commit(a, (known.committed.0.clone(), Vec::new())).await?;
        } else {
            let mut state = known.committed.clone();
            state.0.insert(value, CHILDREN * HEAP_ROWS);
            if state.1.is_empty() {
                load_keys(a, value, 0).await.map_err(drop)?;
                state.1 = loaded_rows(value);
            }
            let t = db.catalog(&a.tx).table("dbo", "t").ok_or(())?.clone();
            a.change(&t, 700, Some(&row(700, 10, &text(700)))).await.map_err(drop)?;
            state.1[700].1 = 10;
            known.commit(a, state).await?;
        }
        if value == 3 {
            set_recovery_while_it_is_there(&db, RecoveryModel::Full)?;
        }
        back_up(disk, &db, log)?;
    }
    Ok(())
}

fn set_recovery_while_it_is_there(db: &Database, recovery: RecoveryModel) -> Result<(), ()> {
    db.set_options(DatabaseOptions { recovery, ..db.options() }).map_err(drop)
}

fn back_up(disk: &SimulatedDisk, db: &Arc<Database>, file: &str) -> Result<(), ()> {
    let device = crate::backup::device_of_test(disk, file).map_err(drop)?;
    let options = BackupOptions::new(BackupKind::Log, file);
    let begun = crate::backup::BackupJob::begin(db.clone(), options, &device, 80);
    let mut job = begun.map_err(drop)?;
    while !job.is_copied() {
        job.step().map_err(drop)?;
    }
    job.end().map(drop).map_err(drop)
}

/// The state behind the crash, and what all backups restore, with one more of the log.
fn read_back(disk: &SimulatedDisk) -> Result<(State, State), String> {
    let server = Server::open(options(disk)).map_err(|e| e.to_string())?;
    let db = server.database(MASTER).map_err(|e| e.to_string())?;
    let found = server.schedulers().block_on(async {
        let state = state_of(&db).await?;
        back_up(disk, &db, LOGS[3]).map_err(|()| "the log cannot be backed up".to_owned())?;
        let mut logs = Vec::new();
        for log in LOGS {
            if server.list_backups(log).await.is_ok_and(|sets| sets.first().is_some_and(|set| !set.damaged)) {
                logs.push(log);
            }
        }
        let copy = restored(&server, &logs).await?;
        drop(db);
        server.shutdown().await.map_err(|e| e.to_string())?;
        Ok((state, copy))
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
fn crash_run(fresh: &SimulatedDisk, crash_at: u64) -> Result<bool, String> {
    let mut known = Known::default();
    let disk = fresh.crash(6);
    disk.crash_after_ops(crash_at);
    let mut open = options(&disk);
    open.schedulers = SchedulerChoice::Simulated { seed: 6, count: 2 };
    if let Ok(server) = Server::open(open) {
        if let Ok(db) = server.database(MASTER) {
            server.schedulers().block_on(async {
                let _ended = work(&disk, &mut Client::new(&db, 51), &mut known).await;
            });
        }
        server.schedulers().shutdown();
    }
    let crashed = disk.is_off();
    disk.power_off();
    let (state, copy) = read_back(&disk.crash(6 ^ crash_at))?;
    let brief = |(heap, keys): &State| format!("{heap:?} and {} keys", keys.len());
    if state != copy {
        return Err(format!("{}, restored {}", brief(&state), brief(&copy)));
    }
    match state == known.committed || Some(&state) == known.under_way.as_ref() {
        true => Ok(crashed),
        false => Err(brief(&state)),
    }
}

/// Crashes after changes of the disk, `step` apart: how many there were, or the first that did harm.
fn crash_runs(step: usize) -> Result<u64, String> {
    let fresh = SimulatedDisk::new(6);
    with_server(&fresh, async |_, db| begin_chain(&fresh, &db).await);
    let mut points = 0;
    for crash_at in (1..).step_by(step) {
        match crash_run(&fresh, crash_at) {
            Ok(true) => points += 1,
            Ok(false) => break,
            Err(why) => return Err(format!("crash after {crash_at} changes of the disk: {why}")),
        }
    }
    Ok(points)
}

#[test]
fn the_log_backups_restore_what_there_is_after_a_power_loss_at_any_write() {
    let points = crash_runs(1).unwrap_or_else(|why| panic!("{why}"));
    println!("{points} crash points");
    assert!(points > 80, "the workload changes the disk often enough: {points}");
    fault::plant(Some(Fault::TakesNoPages));
    let found = crash_runs(40);
    fault::plant(None);
    println!("{found:?}");
    assert!(found.is_err(), "pages that are not taken are missed");
}
