//! Durable in-memory tables after restarts and power losses.

use std::sync::Arc;

use pikepole_machine::SimulatedDisk;
use pikepole_memory::Timestamps;
use pikepole_types::Value;

use super::Occasion;
use crate::database::DatabaseOptions;
use crate::in_memory_tests::elevate;
use crate::tests::{
    Client, assert_sound, definition, index, master, options, row, server, stop, table_of, with_server,
};
use crate::unlogged_tests::{begin_backup, end_backup};
use crate::*;

/// A durable table with a hash index for its primary key, and an ordered index.
fn durable(name: &str) -> TableDefinition {
    let mut key = index(IndexKind::PrimaryKey, false, &["k"]);
    key.extras.hash = HashIndex::with_buckets(16);
    let by_v = IndexDefinition { name: Some("by_v".into()), ..index(IndexKind::Index, false, &["v"]) };
    let memory = Some(InMemory::new(InMemoryDurability::SchemaAndData));
    TableDefinition { memory, ..definition(name, vec![key, by_v]) }
}

/// Runs `work`, takes the power away, and opens the server again for `look`.
fn over_a_power_loss(
    seed: u64,
    work: impl AsyncFnOnce(Arc<Database>, Client),
    look: impl AsyncFnOnce(Arc<Database>, Client),
) {
    let disk = SimulatedDisk::new(seed);
    let first = server(&disk);
    let db = master(&first);
    first.schedulers().block_on(work(db.clone(), Client::new(&db, 51)));
    disk.power_off();
    drop(db);
    first.schedulers().shutdown();
    drop(first);
    let after = disk.crash(seed);
    let second = server(&after);
    let db = master(&second);
    second.schedulers().block_on(look(db.clone(), Client::new(&db, 52)));
    drop(db);
    stop(&second);
    drop(second);
    assert_sound(&after);
}

/// Runs `work` on a server of this disk, which is closed in order afterwards.
fn with_client<T>(disk: &SimulatedDisk, work: impl AsyncFnOnce(Arc<Database>, Client) -> T) -> T {
    let server = server(disk);
    let db = master(&server);
    let done = server.schedulers().block_on(work(db.clone(), Client::new(&db, 51)));
    drop(db);
    stop(&server);
    done
}

/// The number of a table in the log.
fn number_of(table: &Table) -> u32 {
    let rows = table.rows_in_memory().expect("it is in memory");
    rows.logged_as().expect("it is logged").object
}

/// The keys of a table, in order, which its hash index does not give.
async fn keys(client: &mut Client, table: &Table) -> Vec<i64> {
    let mut keys = client.keys(table).await;
    keys.sort_unstable();
    keys
}

async fn insert_all(client: &mut Client, table: &Table, keys: std::ops::Range<i64>) {
    for k in keys {
        client.insert(table, &row(k, k as i32 % 7, &"text".repeat(10))).await.expect("a row");
    }
}

#[test]
fn rows_outlive_restarts_of_any_kind() {
    let disk = SimulatedDisk::new(1);
    let mut expected: Vec<i64> = Vec::new();
    for round in 0..6_i64 {
        expected = with_client(&disk, async |db, mut a| {
            if round == 0 {
                a.create(durable("t")).await;
            }
            let t = table_of(&db, "t");
            assert_eq!(keys(&mut a, &t).await, expected, "round {round}");
            let first = round * 100;
            insert_all(&mut a, &t, first..first + 50).await;
            a.change(&t, first, None).await.expect("a row");
            a.change(&t, first + 1, Some(&row(first + 1, 9, "changed"))).await.expect("a row");
            if round % 2 == 1 {
                db.checkpoint_in_memory(Occasion::Asked).expect("a checkpoint");
                a.change(&t, first + 2, None).await.expect("a row");
                a.change(&t, first - 97, None).await.expect("a row that the file has");
            }
            keys(&mut a, &t).await
        });
    }
    assert_eq!(expected.len(), 6 * 49 - 6);
    assert_sound(&disk);
}

#[test]
fn times_go_on_over_restarts_whichever_way_they_come_by() {
    let disk = SimulatedDisk::new(3);
    let mut expected = Vec::new();
    for round in 0..8_i64 {
        expected = with_client(&disk, async |db, mut a| {
            if round == 0 {
                a.create(durable("t")).await;
            }
            let t = table_of(&db, "t");
            assert_eq!(keys(&mut a, &t).await, expected, "round {round}");
            let mut last = db.memory().now();
            let ways = [Timestamps::Clock, Timestamps::Atomic, Timestamps::Clock];
            for (at, way) in ways.into_iter().skip(round as usize % 2).enumerate() {
                db.memory().set_timestamps(way);
                assert_eq!(db.memory().timestamps(), way);
                insert_all(&mut a, &t, round * 10 + at as i64 * 3..round * 10 + at as i64 * 3 + 3).await;
                let now = db.memory().now();
                assert!(now > last, "round {round}: {now} behind {last}");
                last = now;
                if at as i64 == round % 3 {
                    db.checkpoint_in_memory(Occasion::Asked).expect("a checkpoint");
                }
            }
            keys(&mut a, &t).await
        });
    }
    assert_eq!(expected.len(), 4 * 9 + 4 * 6);
    assert_sound(&disk);
}

#[test]
fn a_checkpoint_between_the_records_of_a_transaction_loses_none() {
    over_a_power_loss(
        2,
        async |db, mut a| {
            elevate(&db);
            let t = a.create(durable("t")).await;
            a.tx.begin();
            insert_all(&mut a, &t, 0..1_000).await;
            db.run(&mut a.tx, |tx| db.try_log_in_memory(tx)).await.expect("records before the commit");
            let mut b = Client::new(&db, 52);
            insert_all(&mut b, &t, 2_000..2_001).await;
            db.checkpoint_in_memory(Occasion::Asked).expect("a checkpoint");
            a.commit().await;
        },
        async |db, mut a| {
            let t = table_of(&db, "t");
            assert_eq!(a.keys(&t).await.len(), 1_001);
        },
    );
}

#[test]
fn what_was_undone_after_it_was_logged_does_not_count() {
    over_a_power_loss(
        3,
        async |db, mut a| {
            elevate(&db);
            let t = a.create(durable("t")).await;
            insert_all(&mut a, &t, 0..1).await;
            a.tx.begin();
            insert_all(&mut a, &t, 1..2).await;
            let mark = a.tx.mark();
            insert_all(&mut a, &t, 2..1_000).await;
            db.run(&mut a.tx, |tx| db.try_log_in_memory(tx)).await.expect("records before the commit");
            db.rollback_to(&mut a.tx, mark).await.expect("a rollback");
            a.commit().await;
            a.tx.begin();
            insert_all(&mut a, &t, 2..1_000).await;
            db.run(&mut a.tx, |tx| db.try_log_in_memory(tx)).await.expect("records before the commit");
            a.rollback().await;
            insert_all(&mut a, &t, 5_000..5_001).await;
        },
        async |db, mut a| assert_eq!(keys(&mut a, &table_of(&db, "t")).await, [0, 1, 5_000]),
    );
}

#[test]
fn a_table_gets_no_rows_of_one_that_had_its_number() {
    let disk = SimulatedDisk::new(4);
    let number = with_client(&disk, async |db, mut a| {
        let t = a.create(durable("t")).await;
        insert_all(&mut a, &t, 0..20).await;
        db.checkpoint_in_memory(Occasion::Asked).expect("a checkpoint");
        insert_all(&mut a, &t, 20..40).await;
        let number = number_of(&t);
        db.drop_table(&mut a.tx, "dbo", "t").await.expect("it is there");
        a.commit().await;
        number
    });
    // Numbers go on behind the highest that there is when a database is opened.
    with_client(&disk, async |_, mut a| {
        let t = a.create(durable("t")).await;
        assert_eq!(number_of(&t), number);
        insert_all(&mut a, &t, 7..8).await;
    });
    with_client(&disk, async |db, mut a| assert_eq!(a.keys(&table_of(&db, "t")).await, [7]));
}

#[test]
fn the_log_is_let_go_behind_a_file_of_rows() {
    let disk = SimulatedDisk::new(5);
    with_client(&disk, async |db, mut a| {
        let t = a.create(durable("t")).await;
        let begun = db.in_memory_checkpoints().log_from().expect("there is a durable table");
        insert_all(&mut a, &t, 0..500).await;
        db.checkpoint_now(false).expect("a checkpoint");
        assert_eq!(db.in_memory_checkpoints().log_from(), Some(begun), "the log has the rows, and the disk not yet");
        db.checkpoint_in_memory(Occasion::Asked).expect("a checkpoint");
        let manifest = db.in_memory_checkpoints().manifest().expect("there is a durable table");
        assert_eq!((manifest.file, manifest.rows), (1, 500));
        assert!(manifest.log_from > begun.0);
        // Nothing of the table is logged from here on: the file stays, and the log goes.
        let disk_table = a.create(definition("disk", crate::tests::primary_key())).await;
        insert_all(&mut a, &disk_table, 0..100).await;
        db.checkpoint_in_memory(Occasion::Checkpoint).expect("a checkpoint");
        let later = db.in_memory_checkpoints().manifest().expect("there is a durable table");
        assert_eq!(later.file, 1);
        assert!(later.log_from > manifest.log_from);
        assert_eq!(a.keys(&t).await.len(), 500);
    });
    assert_sound(&disk);
}

#[test]
fn bad_bytes_in_the_file_of_rows_are_told() {
    let disk = SimulatedDisk::new(6);
    let path = with_client(&disk, async |db, mut a| {
        let t = a.create(durable("t")).await;
        insert_all(&mut a, &t, 0..500).await;
        db.checkpoint_in_memory(Occasion::Asked).expect("a checkpoint");
        db.in_memory_checkpoints().manifest().and_then(|own| own.path(db.folder())).expect("a file")
    });
    let plain = pikepole_machine::Disk::simulated(disk.clone());
    let file = plain.open(&path, pikepole_machine::OpenOptions::default()).expect("it is there");
    let mut bytes = vec![0; file.len().expect("a length") as usize];
    file.read_at(&mut bytes, 0).expect("it is read");
    for at in [0, 70, 5_000, bytes.len() - 4_000] {
        let mut bad = bytes.clone();
        bad[at] ^= 0x40;
        file.write_at(&bad, 0).expect("it is written");
        let Err(why) = Server::open(options(&disk)).and_then(|server| {
            let opened = server.database(MASTER).map(|_| ()).map_err(OpenError::Option);
            server.schedulers().shutdown();
            opened
        }) else {
            panic!("byte {at} has changed, and it was not told")
        };
        assert!(why.to_string().contains("rows-1"), "{why}");
    }
    file.write_at(&bytes, 0).expect("it is written");
    assert_sound(&disk);
}

#[test]
fn unique_keys_that_change_hands_are_loaded() {
    over_a_power_loss(
        7,
        async |db, mut a| {
            elevate(&db);
            let mut table = durable("t");
            let unique = index(IndexKind::UniqueConstraint, false, &["v"]);
            table.indexes[1] = unique;
            let t = a.create(table).await;
            for k in 0..10 {
                a.insert(&t, &row(k, k as i32, "first")).await.expect("a row");
            }
            db.checkpoint_in_memory(Occasion::Asked).expect("a checkpoint");
            for round in 0..5 {
                a.tx.begin();
                a.change(&t, 1, Some(&row(1, 100 + round, "away"))).await.expect("a change");
                a.change(&t, 2, Some(&row(2, 1, "taken"))).await.expect("a change");
                a.change(&t, 1, Some(&row(1, 2, "taken"))).await.expect("a change");
                a.change(&t, 2, Some(&row(2, 200, "away"))).await.expect("a change");
                a.change(&t, 1, Some(&row(1, 1, "back"))).await.expect("a change");
                a.change(&t, 2, Some(&row(2, 2, "back"))).await.expect("a change");
                a.change(&t, 3, None).await.expect("a change");
                a.insert(&t, &row(3, 3, "again")).await.expect("a row");
                a.commit().await;
            }
        },
        async |db, mut a| {
            let t = table_of(&db, "t");
            let rows = a.rows(&t).await;
            assert_eq!(rows.len(), 10);
            for found in rows {
                let [Value::BigInt(k), Value::Int(v), _] = &found[..] else { panic!("{found:?}") };
                assert_eq!(*k, i64::from(*v));
            }
        },
    );
}

#[test]
fn backups_have_the_rows_and_logs_go_on_behind_them() {
    let disk = SimulatedDisk::new(8);
    with_server(&disk, async |server, db| {
        let mut a = Client::new(&db, 51);
        let t = a.create(durable("t")).await;
        db.set_options(DatabaseOptions { recovery: RecoveryModel::Full, ..db.options() }).expect("an option");
        insert_all(&mut a, &t, 0..100).await;
        db.checkpoint_in_memory(Occasion::Asked).expect("a checkpoint");
        insert_all(&mut a, &t, 100..200).await;
        let job = begin_backup(&disk, &db, BackupKind::Database, "t.bak");
        // Another file takes the place of the one that is being copied.
        insert_all(&mut a, &t, 200..210).await;
        db.checkpoint_in_memory(Occasion::Asked).expect("a checkpoint");
        db.checkpoint_now(false).expect("a checkpoint");
        end_backup(job);
        insert_all(&mut a, &t, 210..300).await;
        a.change(&t, 5, None).await.expect("a row");
        end_backup(begin_backup(&disk, &db, BackupKind::Log, "1.trn"));
        db.checkpoint_in_memory(Occasion::Asked).expect("a checkpoint");
        insert_all(&mut a, &t, 5..6).await;
        insert_all(&mut a, &t, 300..400).await;
        end_backup(begin_backup(&disk, &db, BackupKind::Log, "2.trn"));
        for (logs, rows) in [(&[][..], 210), (&["1.trn"], 299), (&["1.trn", "2.trn"], 400)] {
            let copy = crate::bulk_logged_tests::restore(&server, "copy", logs).await.expect("a restore");
            let mut b = Client::new(&copy, 60);
            assert_eq!(keys(&mut b, &table_of(&copy, "t")).await.len(), rows, "{logs:?}");
            insert_all(&mut b, &table_of(&copy, "t"), 1_000..1_010).await;
        }
    });
    assert_sound(&disk);
}

#[test]
fn a_backup_whose_rows_were_changed_is_damaged() {
    let disk = SimulatedDisk::new(9);
    with_server(&disk, async |server, db| {
        let mut a = Client::new(&db, 51);
        let t = a.create(durable("t")).await;
        insert_all(&mut a, &t, 0..300).await;
        db.checkpoint_in_memory(Occasion::Asked).expect("a checkpoint");
        let manifest = db.in_memory_checkpoints().manifest().expect("there is a durable table");
        let path = manifest.path(db.folder()).expect("it has rows");
        // Bytes that change on the disk go into the backup as they are: the restored database tells.
        let file = db.disk().open(path, pikepole_machine::OpenOptions::default()).expect("it is there");
        let mut bytes = vec![0; 64];
        file.read_at(&mut bytes, 4_096).expect("it is read");
        bytes[50] ^= 1;
        file.write_at(&bytes, 4_096).expect("it is written");
        end_backup(begin_backup(&disk, &db, BackupKind::Database, "t.bak"));
        let restored = crate::bulk_logged_tests::restore(&server, "copy", &[]).await;
        assert!(restored.is_err(), "a bit has changed, and it was not told");
    });
}

#[test]
fn a_table_whose_columns_have_changed_is_loaded_as_it_is() {
    over_a_power_loss(
        10,
        async |db, mut a| {
            let t = a.create(durable("t")).await;
            insert_all(&mut a, &t, 0..100).await;
            db.checkpoint_in_memory(Occasion::Asked).expect("a checkpoint");
            let by_s = IndexDefinition { name: Some("by_s".into()), ..index(IndexKind::Index, false, &["s"]) };
            let t = db.create_index(&mut a.tx, &t, by_s, &[]).await.expect("an index");
            a.commit().await;
            insert_all(&mut a, &t, 100..110).await;
            a.change(&t, 3, None).await.expect("a row");
            // A change that does not commit leaves nothing.
            elevate(&db);
            a.tx.begin();
            let t = db.drop_index(&mut a.tx, &t, "by_v", false).await.expect("an index");
            a.insert(&t, &row(500, 1, "undone")).await.expect("a row");
            a.rollback().await;
        },
        async |db, mut a| {
            let t = table_of(&db, "t");
            assert_eq!(t.indexes.len(), 3);
            assert_eq!(keys(&mut a, &t).await.len(), 109);
        },
    );
}

#[test]
fn a_snapshot_that_is_older_than_a_change_of_columns_reads_no_more() {
    with_server(&SimulatedDisk::new(11), async |_, db| {
        elevate(&db);
        let (mut a, mut b) = (Client::new(&db, 51), Client::new(&db, 52));
        let (t, other) = (a.create(durable("t")).await, a.create(durable("other")).await);
        insert_all(&mut a, &t, 0..10).await;
        b.tx.begin();
        assert!(keys(&mut b, &other).await.is_empty());
        let by_s = IndexDefinition { name: Some("by_s".into()), ..index(IndexKind::Index, false, &["s"]) };
        let t = db.create_index(&mut a.tx, &t, by_s, &[]).await.expect("an index");
        a.commit().await;
        assert_eq!(b.insert(&t, &row(100, 1, "late")).await.expect_err("it sees no row of the table").number, 3961);
        b.rollback().await;
        assert_eq!(keys(&mut b, &t).await.len(), 10);
        // A change of columns in a transaction that began before others changed rows fails when it commits.
        b.tx.begin();
        assert_eq!(keys(&mut b, &t).await.len(), 10);
        a.change(&t, 1, None).await.expect("a row");
        db.drop_index(&mut b.tx, &t, "by_s", false).await.expect("an index");
        let committed = db.commit(&mut b.tx, Durability::Full).await;
        assert!(matches!(committed.expect_err("a row has gone").number, 41_305 | 41_325));
        b.rollback().await;
        assert_eq!(keys(&mut a, &table_of(&db, "t")).await.len(), 9);
    });
}

#[test]
fn a_disk_without_room_for_the_file_keeps_the_last_one_and_no_half() {
    let disk = SimulatedDisk::new(12);
    with_client(&disk, async |db, mut a| {
        let t = a.create(durable("t")).await;
        insert_all(&mut a, &t, 0..500).await;
        db.checkpoint_in_memory(Occasion::Asked).expect("a checkpoint");
        insert_all(&mut a, &t, 500..600).await;
        let before = db.in_memory_checkpoints().manifest();
        disk.fail_nth(pikepole_machine::Operation::Write, 1);
        db.checkpoint_in_memory(Occasion::Asked).expect_err("the write fails");
        assert_eq!(db.in_memory_checkpoints().manifest(), before);
        let names = db.disk().list(super::files::folder(db.folder())).expect("the folder is there");
        assert!(!names.iter().any(|name| name == "rows-2"), "{names:?}");
        db.checkpoint_in_memory(Occasion::Asked).expect("the next one");
        assert_eq!(keys(&mut a, &t).await.len(), 600);
    });
    assert_sound(&disk);
}
