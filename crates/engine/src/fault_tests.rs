//! Full and failing disks under the table API: which error the statement ends with, what it leaves behind, what goes on, and
//! what a restart finds.

use std::sync::Arc;
use std::time::Duration;

use pikepole_machine::{Disk, Operation, SimulatedDisk};
use pikepole_scheduler::sleep;
use pikepole_types::{Length, SqlError, SqlType, Value};

use crate::tests::{
    Client, assert_sound, definition, index, master, options, primary_key, row, server, stop, table_of, with_server,
};
use crate::*;

/// A text that leaves no room for a second one in its page.
fn long(letter: char) -> String {
    letter.to_string().repeat(7_000)
}

/// (k bigint, v int, s varchar(8000)).
fn wide(name: &str, indexes: Vec<IndexDefinition>) -> TableDefinition {
    let mut table = definition(name, indexes);
    table.columns[2].ty = SqlType::VarChar(Length::Limit(8_000));
    table
}

/// Inserts long rows from `first` on until one fails: the key that failed, and why.
async fn insert_until_full(client: &mut Client, table: &Table, first: i64) -> (i64, SqlError) {
    for k in first..first + 20_000 {
        if let Err(error) = client.insert(table, &row(k, 0, &long('f'))).await {
            return (k, error);
        }
    }
    panic!("the disk never fills");
}

/// Updates the rows of `keys` over and over until one update fails.
async fn update_until_full(client: &mut Client, table: &Table, keys: std::ops::Range<i64>) -> SqlError {
    for turn in 0..20_000 {
        let k = keys.start + turn % (keys.end - keys.start);
        let new = row(k, 1, &long(char::from(b'a' + (turn % 26) as u8)));
        if let Err(error) = client.change(table, k, Some(&new)).await {
            return error;
        }
    }
    panic!("the log never fills");
}

/// Lets the log become as large as it may be, so that only the data file meets a full disk.
async fn grow_log(client: &mut Client, table: &Table) {
    client.tx.begin();
    client.insert(table, &row(-1, 0, &long('l'))).await.expect("room");
    let error = update_until_full(client, table, -1..0).await;
    assert_log_full(&error, "ACTIVE_TRANSACTION");
    client.rollback().await;
    let log = client.db.log_stats();
    assert!(log.bytes + (64 << 10) > log.bytes_max, "{log:?}");
}

fn fill_disk(disk: &SimulatedDisk) {
    disk.set_capacity(Some(disk.used()));
}

fn assert_data_full(error: &SqlError, object: &str) {
    assert_eq!((error.number, error.severity, error.state), (1105, 17, 2), "{error}");
    let text = format!(
        "Could not allocate space for object '{object}' in database 'master' because the 'PRIMARY' filegroup is full. "
    );
    assert!(error.message.starts_with(&text), "{error}");
}

fn assert_log_full(error: &SqlError, reason: &str) {
    assert_eq!((error.number, error.severity, error.state), (9002, 17, 4), "{error}");
    assert_eq!(error.message, format!("The transaction log for database 'master' is full due to '{reason}'."));
}

fn assert_no_log(error: &SqlError) {
    assert_eq!((error.number, error.severity, error.state), (9001, 21, 1), "{error}");
    assert!(error.message.starts_with("The log for database 'master' is not available."), "{error}");
}

/// What a restart after a power failure finds, without more room than there was.
fn keys_after_crash(disk: &SimulatedDisk, seed: u64, table: &str) -> Vec<i64> {
    let disk = disk.crash(seed);
    let mut keys = Vec::new();
    with_server(&disk, async |_, db| {
        let mut a = Client::new(&db, 51);
        keys = a.keys(&table_of(&db, table)).await;
    });
    assert_sound(&disk);
    keys
}

#[test]
fn a_data_file_that_cannot_grow_ends_one_statement() {
    let disk = SimulatedDisk::new(3);
    with_server(&disk, async |_, db| {
        let mut a = Client::new(&db, 51);
        let t = a.create(wide("t", primary_key())).await;
        grow_log(&mut a, &t).await;
        fill_disk(&disk);
        let (end, error) = insert_until_full(&mut a, &t, 0).await;
        assert_data_full(&error, "dbo.t");
        assert!(end > 500, "the file had {end} pages left");
        assert!(a.tx.id().is_none(), "the statement was rolled back");
        // It stays readable, takes what needs no page, and refuses the next one too.
        assert_eq!(a.keys(&t).await.len() as i64, end);
        assert!(a.change(&t, 5, Some(&row(5, 9, "short"))).await.expect("a log with room"));
        let error = a.insert(&t, &row(end, 0, &long('x'))).await.expect_err("no page");
        assert_data_full(&error, "dbo.t");
        let error = db.create_table(&mut a.tx, wide("u", primary_key())).await.expect_err("no page for its root");
        assert_data_full(&error, "sys.objects");
        a.rollback().await;
        disk.set_capacity(None);
        a.insert(&t, &row(end, 0, &long('x'))).await.expect("room again");
        assert_eq!(a.keys(&t).await, (0..=end).collect::<Vec<_>>());
    });
    assert_sound(&disk);
}

/// The file of options finds no room: the time of a check that found nothing, an option, the chain of backups.
#[test]
fn options_that_find_no_room_are_told_as_a_full_disk() {
    let disk = SimulatedDisk::new(31);
    with_server(&disk, async |server, db| {
        fill_disk(&disk);
        let errors = [
            db.note_good_check(1).expect_err("no room"),
            server.set_database_option("master", DatabaseOption::RecursiveTriggers(true)).expect_err("no room"),
        ];
        for error in errors {
            assert_data_full(&error, "database.toml");
        }
        let error = server.create_database("other", pikepole_types::Collation::DEFAULT).await.expect_err("no room");
        assert_eq!(error.number, 1802, "{error}");
        assert!(error.message.contains("no storage space") || error.message.contains("No space left"), "{error}");
        let used = disk.used();
        let error = server.tempdb().await.map(drop).expect_err("no room");
        assert_eq!((error.number, error.severity, error.state), (1105, 17, 2), "{error}");
        assert!(error.message.contains("'<temporary system object>' in database 'tempdb'"), "{error}");
        assert!(disk.used() <= used, "what was not made takes no room");
        disk.set_capacity(None);
        server.tempdb().await.map(drop).expect("room again");
        db.note_good_check(1).expect("room again");
    });
    assert_sound(&disk);
}

#[test]
fn a_full_data_file_names_the_table_of_heaps_and_indexes() {
    let disk = SimulatedDisk::new(4);
    with_server(&disk, async |_, db| {
        let mut a = Client::new(&db, 51);
        let heap = a.create(wide("heap", Vec::new())).await;
        let indexed = a.create(wide("indexed", vec![index(IndexKind::Index, false, &["v", "k"])])).await;
        grow_log(&mut a, &heap).await;
        fill_disk(&disk);
        let (end, error) = insert_until_full(&mut a, &heap, 0).await;
        assert_data_full(&error, "dbo.heap");
        let (none, error) = insert_until_full(&mut a, &indexed, 0).await;
        assert_data_full(&error, "dbo.indexed");
        assert!(none < 8, "all pages but those of an extent are taken");
        assert_eq!(a.keys(&heap).await.len() as i64, end);
        disk.set_capacity(None);
        a.insert(&indexed, &row(none, 0, &long('x'))).await.expect("room again");
    });
    assert_sound(&disk);
}

/// The disk fills in the middle of a transaction of many rows. The statement that met it is undone, the transaction goes on
/// and is rolled back; then the power fails.
#[test]
fn a_disk_that_fills_within_a_transaction_leaves_nothing_of_it() {
    for (seed, spare) in [(1, 0), (2, 100 << 10), (3, 700 << 10), (4, 3 << 20), (5, 9 << 20)] {
        let disk = SimulatedDisk::new(seed);
        let server = server(&disk);
        let db = master(&server);
        server.schedulers().block_on(async {
            let mut a = Client::new(&db, 51);
            let t = a.create(wide("t", primary_key())).await;
            for k in 0..20 {
                a.insert(&t, &row(k, 0, &long('k'))).await.expect("room");
            }
            disk.set_capacity(Some(disk.used() + spare));
            a.tx.begin();
            let (end, error) = insert_until_full(&mut a, &t, 1_000).await;
            assert!(matches!(error.number, 1105 | 9002), "{error}");
            assert!(a.tx.is_explicit());
            assert_eq!(a.keys(&t).await.len() as i64, 20 + end - 1_000, "what it did before stands");
            assert_eq!(Client::new(&db, 52).keys(&t).await, (0..20).collect::<Vec<_>>());
            a.rollback().await;
            assert_eq!(a.keys(&t).await, (0..20).collect::<Vec<_>>());
            db.flush_log(&mut a.tx).await.expect("there is room for undo");
        });
        for crash in 0..4 {
            assert_eq!(keys_after_crash(&disk, seed * 10 + crash, "t"), (0..20).collect::<Vec<_>>());
        }
        stop(&server);
        drop((db, server));
        assert_sound(&disk);
    }
}

#[test]
fn a_log_held_by_a_transaction_is_full_until_that_ends() {
    let disk = SimulatedDisk::new(5);
    let server = server(&disk);
    let db = master(&server);
    let mut keys = Vec::new();
    server.schedulers().block_on(async {
        let (mut a, mut b) = (Client::new(&db, 51), Client::new(&db, 52));
        let t = a.create(wide("t", primary_key())).await;
        for k in 0..40 {
            a.insert(&t, &row(k, 0, &long('k'))).await.expect("room");
        }
        disk.set_capacity(Some(disk.used() + (300 << 10)));
        a.tx.begin();
        let error = update_until_full(&mut a, &t, 0..20).await;
        assert_log_full(&error, "ACTIVE_TRANSACTION");
        // Readers go on, writers are told the same, time and again: that uses up nothing that the rollback needs.
        assert_eq!(b.get(&t, 7).await, Some(Value::Str(long('k'))));
        let (last, error) = insert_until_full(&mut b, &t, 100).await;
        assert_log_full(&error, "ACTIVE_TRANSACTION");
        // What these have appended is written by now.
        sleep(Duration::from_secs(1)).await;
        let written = db.log_stats().bytes_written;
        for _ in 0..2_000 {
            let error = b.insert(&t, &row(last, 0, &long('b'))).await.expect_err("no log");
            assert_log_full(&error, "ACTIVE_TRANSACTION");
            sleep(Duration::from_millis(5)).await;
        }
        let spent = db.log_stats().bytes_written - written;
        assert!(spent < 32 << 10, "{spent} bytes of log for statements that were refused");
        a.rollback().await;
        db.flush_log(&mut a.tx).await.expect("there is room for undo");
        // The next statement waits for the checkpoint that frees the log.
        b.insert(&t, &row(last, 0, &long('b'))).await.expect("room after a checkpoint");
        for k in 0..40 {
            assert_eq!(b.get(&t, k).await, Some(Value::Str(long('k'))));
        }
        keys = b.keys(&t).await;
        assert_eq!(keys, (0..40).chain(100..=last).collect::<Vec<_>>());
    });
    for seed in 0..4 {
        assert_eq!(keys_after_crash(&disk, seed, "t"), keys);
    }
    stop(&server);
    drop((db, server));
    assert_sound(&disk);
}

#[test]
fn a_log_that_cannot_grow_is_used_again_without_an_error() {
    let disk = SimulatedDisk::new(6);
    with_server(&disk, async |_, db| {
        let mut a = Client::new(&db, 51);
        let t = a.create(wide("t", primary_key())).await;
        for k in 0..20 {
            a.insert(&t, &row(k, 0, &long('k'))).await.expect("room");
        }
        while db.log_stats().segments_active + db.log_stats().segments_free < 3 {
            a.change(&t, 1, Some(&row(1, 1, &long('m')))).await.expect("room");
            sleep(Duration::from_millis(1)).await;
        }
        fill_disk(&disk);
        let bytes = db.log_stats().bytes;
        for turn in 0..600 {
            let k = turn % 20;
            assert!(a.change(&t, k, Some(&row(k, turn as i32, &long('u')))).await.expect("a checkpoint makes room"));
        }
        assert_eq!(db.log_stats().bytes, bytes);
    });
    assert_sound(&disk);
}

/// Rows that were made short, in pages that others have filled since: undoing needs more pages than there are.
#[test]
fn an_undo_that_finds_no_page_is_finished_when_there_is_room() {
    for way in ["room", "close", "crash"] {
        let disk = SimulatedDisk::new(7);
        // More log than data, or the open transaction would fill it first.
        let roomy = ServerOptions { log_bytes_max: Some(40 << 20), ..options(&disk) };
        let server = Server::open(roomy).expect("an empty disk");
        let db = master(&server);
        server.schedulers().block_on(undo_without_pages(&disk, &db, way));
        let disk = match way {
            "crash" => disk.crash(70),
            _ => {
                stop(&server);
                disk
            }
        };
        drop((db, server));
        let data = "/server/master/data";
        let master = pikepole_storage::Store::read_master(&Disk::simulated(disk.clone()), data).expect("a master");
        assert_eq!(master.clean, way == "room", "there is something to undo");
        disk.set_capacity(None);
        with_server(&disk, async |_, db| {
            let mut b = Client::new(&db, 52);
            assert_undone(&mut b, &table_of(&db, "t")).await;
        });
        assert_sound(&disk);
    }
}

const SHORTENED: i64 = 60;

async fn assert_undone(client: &mut Client, t: &Table) {
    for k in 0..SHORTENED {
        assert_eq!(client.get(t, k * 10).await, Some(Value::Str(long('o'))), "row {k}");
        let next = (k < SHORTENED - 1).then(|| Value::Str(long('n')));
        assert_eq!(client.get(t, k * 10 + 1).await, next, "row {k}");
    }
}

async fn undo_without_pages(disk: &SimulatedDisk, db: &Arc<Database>, way: &str) {
    let (mut a, mut b) = (Client::new(db, 51), Client::new(db, 52));
    let t = a.create(wide("t", primary_key())).await;
    grow_log(&mut a, &t).await;
    for k in 0..SHORTENED {
        a.insert(&t, &row(k * 10, 0, &long('o'))).await.expect("room");
    }
    a.tx.begin();
    for k in 0..SHORTENED {
        assert!(a.change(&t, k * 10, Some(&row(k * 10, 1, "short"))).await.expect("room"));
    }
    fill_disk(disk);
    let (_, error) = insert_until_full(&mut b, &t, 1_000_000).await;
    assert_data_full(&error, "dbo.t");
    // The last one's page was not left by a split: a long row of the other session follows in it.
    for k in 0..SHORTENED - 1 {
        b.insert(&t, &row(k * 10 + 1, 0, &long('n'))).await.unwrap_or_else(|error| panic!("row {k}: {error}"));
    }
    let error = db.rollback(&mut a.tx).await.expect_err("no pages");
    assert_eq!(error.number, 1105);
    // The session is free; nobody sees what is half undone, and it stays so over a checkpoint.
    assert!(!a.tx.is_explicit() && a.tx.id().is_none());
    assert_undone(&mut b, &t).await;
    db.checkpoint(&mut b.tx).await.expect("a checkpoint");
    db.checkpoint(&mut b.tx).await.expect("a checkpoint");
    assert_eq!(db.active_transactions().len(), 1);
    if way == "room" {
        disk.set_capacity(None);
        while !db.active_transactions().is_empty() {
            sleep(Duration::from_millis(20)).await;
        }
        assert_undone(&mut b, &t).await;
        assert!(b.change(&t, 0, Some(&row(0, 0, &long('o')))).await.expect("its lock is gone"));
    }
}

#[test]
fn a_failed_write_of_the_log_stops_changes_and_nothing_else() {
    let disk = SimulatedDisk::new(8);
    let server = server(&disk);
    let db = master(&server);
    server.schedulers().block_on(async {
        let (mut a, mut b) = (Client::new(&db, 51), Client::new(&db, 52));
        let t = a.create(wide("t", primary_key())).await;
        for k in 0..10 {
            a.insert(&t, &row(k, 0, "kept")).await.expect("room");
        }
        b.tx.begin();
        b.insert(&t, &row(50, 0, "open")).await.expect("room");
        disk.fail_nth(Operation::DurableWrite, 1);
        assert_no_log(&a.insert(&t, &row(10, 0, "lost")).await.expect_err("the write fails"));
        // The device answers again, but what it holds is not known.
        assert_no_log(&a.insert(&t, &row(11, 0, "refused")).await.expect_err("no log"));
        assert_no_log(&a.change(&t, 3, None).await.expect_err("no log"));
        assert_no_log(&b.insert(&t, &row(51, 0, "open")).await.expect_err("no log"));
        assert_no_log(&db.checkpoint(&mut a.tx).await.expect_err("no log"));
        assert_no_log(&db.flush_log(&mut a.tx).await.expect_err("no log"));
        b.rollback().await;
        for client in [&mut a, &mut b] {
            let keys = client.keys(&t).await;
            assert_eq!(keys[..10], (0..10).collect::<Vec<_>>());
            assert!(!keys.contains(&11) && !keys.contains(&50), "{keys:?}");
        }
    });
    let closed = server.schedulers().block_on(server.shutdown());
    assert!(closed.is_err(), "it cannot be closed in order");
    server.schedulers().shutdown();
    drop((db, server));
    for disk in [disk.crash(80), disk.crash(81), disk] {
        let mut keys = Vec::new();
        with_server(&disk, async |_, db| {
            let (mut a, t) = (Client::new(&db, 51), table_of(&db, "t"));
            keys = a.keys(&t).await;
            a.insert(&t, &row(11, 0, "again")).await.expect("a log that works");
        });
        // The commit that was not acknowledged may have come through.
        assert!(keys == (0..10).collect::<Vec<_>>() || keys == (0..11).collect::<Vec<_>>(), "{keys:?}");
        assert_sound(&disk);
    }
}

/// A log that no opening and no closing has room to write to: an answer instead of a wait without end.
#[test]
fn a_disk_without_room_for_a_block_keeps_nobody_waiting() {
    let disk = SimulatedDisk::new(9);
    let mut small = options(&disk);
    small.log_bytes_max = Some(128 << 10);
    let server = Server::open(small.clone()).expect("an empty disk");
    let db = master(&server);
    server.schedulers().block_on(async {
        let (mut a, mut b) = (Client::new(&db, 51), Client::new(&db, 52));
        let t = a.create(wide("t", primary_key())).await;
        a.insert(&t, &row(0, 0, "kept")).await.expect("room");
        fill_disk(&disk);
        a.tx.begin();
        a.insert(&t, &row(1, 0, "open")).await.expect("room");
        // Each checkpoint leaves a block in the log, which the open transaction keeps.
        let mut failed = None;
        for _ in 0..2_000 {
            if let Err(error) = db.checkpoint(&mut b.tx).await {
                failed = Some(error);
                break;
            }
        }
        assert_log_full(&failed.expect("the log has an end"), "ACTIVE_TRANSACTION");
        assert_eq!(b.keys(&t).await, [0]);
        a.rollback().await;
        disk.set_capacity(None);
        // The log writer finds the room once somebody has asked for it.
        while let Err(error) = b.insert(&t, &row(2, 0, "more")).await {
            assert_log_full(&error, "NOTHING");
            sleep(Duration::from_millis(20)).await;
        }
    });
    stop(&server);
    drop((db, server));
    assert_sound(&disk);
}
