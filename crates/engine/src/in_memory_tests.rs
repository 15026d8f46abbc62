//! In-memory tables: their definitions, and transactions in them and in tables on disk as one.

use std::sync::Arc;

use pikepole_machine::SimulatedDisk;
use pikepole_types::{SqlError, Value};

use crate::database::DatabaseOptions;
use crate::tests::{Client, definition, index, primary_key, row, server, stop, table_of, with_server};
use crate::*;

const SCHEMA_ONLY: InMemory = InMemory { durability: InMemoryDurability::SchemaOnly, since: 0 };

/// A table with a hash index of a thousand buckets for its primary key, and an ordered index.
fn in_memory(name: &str) -> TableDefinition {
    let mut key = index(IndexKind::PrimaryKey, false, &["k"]);
    key.extras.hash = HashIndex::with_buckets(1_000);
    let by_v = IndexDefinition { name: Some("by_v".into()), ..index(IndexKind::Index, false, &["v"]) };
    TableDefinition { memory: Some(SCHEMA_ONLY), ..definition(name, vec![key, by_v]) }
}

#[test]
fn a_definition_is_kept_over_a_restart() {
    let disk = SimulatedDisk::new(7);
    let first = server(&disk);
    let before = first.schedulers().block_on(async {
        first.create_database("d", pikepole_types::Collation::DEFAULT).await.expect("a new database");
        let db = first.database("d").expect("it is there");
        let mut a = Client::new(&db, 51);
        a.create(definition("disk", Vec::new())).await;
        a.create(in_memory("t")).await
    });
    stop(&first);
    drop(first);
    let second = server(&disk);
    let db = second.database("d").expect("it is there");
    let after = table_of(&db, "t");
    assert_eq!(after.definition(), before.definition());
    assert_eq!(after.memory, Some(SCHEMA_ONLY));
    assert!(after.is_in_memory() && after.is_heap() && after.clustered().is_none());
    assert!(!table_of(&db, "disk").is_in_memory());
    let hashes: Vec<Option<u32>> = after.indexes.iter().map(|index| index.hash.map(|hash| hash.bucket_count)).collect();
    assert_eq!(hashes, [Some(1_024), None]);
    stop(&second);
}

/// Statements in explicit transactions read in-memory tables as of SNAPSHOT.
pub(crate) fn elevate(db: &Database) {
    let options = db.options();
    let switches = options.switches.with("MEMORY_OPTIMIZED_ELEVATE_TO_SNAPSHOT", true);
    db.set_options(DatabaseOptions { switches, ..options }).expect("options");
}

/// Reads all rows at a level; how many there were.
async fn read_all(client: &mut Client, table: &Table, level: MemoryLevel) -> Result<usize, SqlError> {
    let db = client.db.clone();
    db.begin_statement(&mut client.tx);
    let hints = ReadHints { memory: Some(level), ..ReadHints::default() };
    let (mut scan, mut out, mut rows) = (table.scan(ScanRange::all(), &[0]).with_hints(hints), [Value::Null], 0);
    while db.run(&mut client.tx, |tx| db.try_next(tx, table, &mut scan, &mut out)).await? {
        rows += 1;
    }
    db.end_statement(&mut client.tx);
    Ok(rows)
}

async fn commit(client: &mut Client) -> Result<(), i32> {
    let committed = client.db.commit(&mut client.tx, Durability::Full).await;
    if committed.is_err() {
        client.rollback().await;
    }
    committed.map_err(|error| error.number)
}

#[test]
fn a_transaction_of_a_user_names_its_level() {
    with_server(&SimulatedDisk::new(1), async |_, db| {
        let mut a = Client::new(&db, 51);
        let t = a.create(in_memory("t")).await;
        a.insert(&t, &row(1, 1, "alone")).await.expect("a statement by itself");
        a.tx.begin();
        assert_eq!(a.insert(&t, &row(2, 2, "no level")).await.expect_err("refused").number, 41368);
        a.rollback().await;
        a.tx.begin_for_statement();
        a.insert(&t, &row(2, 2, "with its triggers")).await.expect("no transaction of a user");
        a.commit().await;
        elevate(&db);
        a.tx.begin();
        a.insert(&t, &row(3, 3, "elevated")).await.expect("SNAPSHOT");
        a.commit().await;
        assert_eq!(a.rows(&t).await.len(), 3);
    });
}

#[test]
fn the_second_one_to_change_a_row_fails_at_once() {
    with_server(&SimulatedDisk::new(2), async |_, db| {
        elevate(&db);
        let (mut a, mut b) = (Client::new(&db, 51), Client::new(&db, 52));
        let (t, disk) = (a.create(in_memory("t")).await, a.create(definition("disk", primary_key())).await);
        a.insert(&t, &row(1, 1, "one")).await.expect("a row");
        a.tx.begin();
        b.tx.begin();
        assert!(a.change(&t, 1, Some(&row(1, 10, "a"))).await.expect("the first"));
        b.insert(&disk, &row(1, 1, "b")).await.expect("a row on disk");
        assert_eq!(b.change(&t, 1, None).await.expect_err("the second").number, 41302);
        b.rollback().await;
        assert_eq!(commit(&mut a).await, Ok(()));
        assert_eq!((b.rows(&t).await, b.rows(&disk).await), (vec![row(1, 10, "a")], Vec::new()));
        // One that began before a change sees what was, and cannot change it.
        a.tx.begin();
        assert_eq!(a.rows(&t).await.len(), 1);
        b.insert(&t, &row(2, 2, "later")).await.expect("a row");
        b.change(&t, 1, Some(&row(1, 11, "b"))).await.expect("a change");
        assert_eq!(a.rows(&t).await, [row(1, 10, "a")]);
        assert_eq!(a.change(&t, 1, None).await.expect_err("changed since").number, 41302);
        a.rollback().await;
        assert_eq!(db.memory().counts().write_conflicts, 2);
    });
}

#[test]
fn reads_that_must_hold_are_looked_at_by_the_commit() {
    with_server(&SimulatedDisk::new(3), async |_, db| {
        elevate(&db);
        let (mut a, mut b) = (Client::new(&db, 51), Client::new(&db, 52));
        let (t, disk) = (a.create(in_memory("t")).await, a.create(definition("disk", primary_key())).await);
        a.insert(&t, &row(1, 1, "one")).await.expect("a row");
        // What another one does between a read and the commit, and the commit's error at each level.
        let cases = [(true, [None, Some(41305), Some(41305)]), (false, [None, None, Some(41325)])];
        let levels = [MemoryLevel::Snapshot, MemoryLevel::RepeatableRead, MemoryLevel::Serializable];
        let mut k = 1;
        for (changes, failures) in cases {
            for (level, failure) in levels.into_iter().zip(failures) {
                k += 1;
                a.tx.begin();
                read_all(&mut a, &t, level).await.expect("rows");
                a.insert(&disk, &row(k, 0, "a")).await.expect("a row on disk");
                match changes {
                    true => assert!(b.change(&t, 1, Some(&row(1, k as i32, "b"))).await.expect("a change")),
                    false => b.insert(&t, &row(100 + k, 1, "b")).await.expect("a row"),
                }
                assert_eq!(commit(&mut a).await.err(), failure, "{level:?} {changes}");
                let is_there = a.keys(&disk).await.contains(&k);
                assert_eq!(is_there, failure.is_none(), "both kinds of tables commit as one");
            }
        }
        // Its own changes break no promise.
        a.tx.begin();
        read_all(&mut a, &t, MemoryLevel::Serializable).await.expect("rows");
        a.change(&t, 1, None).await.expect("its own");
        a.insert(&t, &row(50, 1, "a")).await.expect("its own");
        assert_eq!(commit(&mut a).await, Ok(()));
    });
}

#[test]
fn a_commit_that_fails_holds_nobody_up() {
    with_server(&SimulatedDisk::new(7), async |_, db| {
        elevate(&db);
        let (mut a, mut b) = (Client::new(&db, 51), Client::new(&db, 52));
        let (t, disk) = (a.create(in_memory("t")).await, a.create(definition("disk", primary_key())).await);
        for k in 1..=2 {
            a.insert(&t, &row(k, 0, "before")).await.expect("a row");
        }
        a.tx.begin();
        read_all(&mut a, &t, MemoryLevel::RepeatableRead).await.expect("rows");
        a.change(&t, 1, Some(&row(1, 1, "a"))).await.expect("a row");
        b.change(&t, 2, Some(&row(2, 1, "b"))).await.expect("a row");
        let failed = db.commit(&mut a.tx, Durability::Full).await.expect_err("what was read has changed");
        assert_eq!(failed.number, 41305);
        // The session is in a CATCH, and takes its time there. Others read what was before it, and do not wait.
        let rows = b.rows(&t).await;
        assert!(rows.len() == 2 && rows.contains(&row(1, 0, "before")) && rows.contains(&row(2, 1, "b")), "{rows:?}");
        assert_eq!(b.change(&t, 1, None).await.expect_err("it has not ended").number, 41302);
        a.rollback().await;
        assert!(b.change(&t, 1, None).await.expect("it has"));
        // A statement by itself: its row on disk does not commit before the promise is looked at.
        read_all(&mut a, &t, MemoryLevel::Serializable).await.expect("rows");
        b.insert(&t, &row(3, 0, "b")).await.expect("a row");
        let mut writer = disk.writer();
        let inserted =
            db.run(&mut a.tx, |tx| db.try_insert(tx, &disk, &mut writer, &row(1, 0, "a"), RowCount::One)).await;
        inserted.expect("a row");
        assert_eq!(commit(&mut a).await, Err(41325));
        assert_eq!(a.rows(&disk).await, Vec::<Vec<Value>>::new());
    });
}

#[test]
fn foreign_keys_hold_between_transactions() {
    with_server(&SimulatedDisk::new(4), async |_, db| {
        elevate(&db);
        let (mut a, mut b) = (Client::new(&db, 51), Client::new(&db, 52));
        let (parent, child) = (a.create(in_memory("parent")).await, a.create(in_memory("child")).await);
        for k in 1..=2 {
            a.insert(&parent, &row(k, 0, "parent")).await.expect("a row");
        }
        let look = |client: &mut Client, table: &Arc<Table>, k: i64| {
            let mut reference = Reference::new(table, &[0]);
            db.try_find_now(&mut client.tx, table, &mut reference, &[Value::BigInt(k)]).expect("no need")
        };
        // The child first: it relies on the parent's row.
        for (k, child_first) in [(1, true), (2, false)] {
            a.tx.begin();
            b.tx.begin();
            a.insert(&child, &row(k, 0, "child")).await.expect("a row");
            assert!(look(&mut a, &parent, k));
            assert!(b.change(&parent, k, None).await.expect("a row"));
            assert!(!look(&mut b, &child, k));
            let (first, second, error) = if child_first { (&mut a, &mut b, 41325) } else { (&mut b, &mut a, 41305) };
            assert_eq!(commit(first).await, Ok(()));
            assert_eq!(commit(second).await, Err(error));
        }
        assert_eq!((a.keys(&parent).await, a.keys(&child).await), (vec![1], vec![1]));
        // A row of the running statement is found.
        a.tx.begin();
        a.insert(&parent, &row(7, 0, "own")).await.expect("a row");
        assert!(look(&mut a, &parent, 7));
        assert_eq!(commit(&mut a).await, Ok(()));
    });
}

#[test]
fn a_savepoint_holds_for_both_kinds_of_tables() {
    with_server(&SimulatedDisk::new(5), async |_, db| {
        elevate(&db);
        let mut a = Client::new(&db, 51);
        let (t, disk) = (a.create(in_memory("t")).await, a.create(definition("disk", primary_key())).await);
        a.tx.begin();
        a.insert(&t, &row(1, 1, "kept")).await.expect("a row");
        a.insert(&disk, &row(1, 1, "kept")).await.expect("a row");
        let mark = a.tx.mark();
        for k in 2..10 {
            a.insert(&t, &row(k, 1, "undone")).await.expect("a row");
            a.insert(&disk, &row(k, 1, "undone")).await.expect("a row");
        }
        a.change(&t, 1, Some(&row(1, 2, "undone"))).await.expect("a change");
        a.change(&disk, 1, None).await.expect("a change");
        db.rollback_to(&mut a.tx, mark).await.expect("a rollback");
        assert_eq!((a.rows(&t).await, a.rows(&disk).await), (vec![row(1, 1, "kept")], vec![row(1, 1, "kept")]));
        a.commit().await;
        assert_eq!((a.rows(&t).await, a.rows(&disk).await), (vec![row(1, 1, "kept")], vec![row(1, 1, "kept")]));
    });
}

#[test]
fn a_dropped_table_gives_its_rows_back() {
    with_server(&SimulatedDisk::new(6), async |_, db| {
        let mut a = Client::new(&db, 51);
        let t = a.create(in_memory("t")).await;
        for k in 0..100 {
            a.insert(&t, &row(k, 1, "row")).await.expect("a row");
        }
        a.change(&t, 1, None).await.expect("a row");
        let slot = t.in_memory.clone().expect("it has rows");
        let rows = Arc::downgrade(slot.get(&pikepole_memory::pin()).expect("it is there"));
        db.drop_table(&mut a.tx, "dbo", "t").await.expect("it is there");
        a.commit().await;
        // A plan that is kept keeps the table, and none of its rows.
        for _ in 0..1_000 {
            db.memory().sweep();
        }
        assert!(rows.upgrade().is_none());
        assert!(slot.get(&pikepole_memory::pin()).is_none());
    });
}

#[test]
fn a_variable_keeps_no_rows_in_memory_when_its_scope_has_ended() {
    with_server(&SimulatedDisk::new(7), async |server, db| {
        let tempdb = server.tempdb().await.expect("room");
        let mut a = Client::new(&db, 51);
        a.tx.use_temporary(&tempdb);
        let made = a.tx.create_temporary(in_memory("@t"), Residence::Variable, 1).await.expect("a variable");
        a.tx.lend_variable("@t", 1, "@lent", 2).expect("it is there");
        // As a plan does, the test holds the table.
        let rows = || made.rows_in_memory().map(|rows| rows.rows());
        db.begin_statement(&mut a.tx);
        let (mut writer, values) = (made.writer(), row(1, 1, "x"));
        db.run(&mut a.tx, |tx| db.try_insert(tx, &made, &mut writer, &values, RowCount::One)).await.expect("a row");
        db.end_statement(&mut a.tx);
        a.tx.end_temporary_scope(2);
        assert_eq!(rows(), Some(1), "the scope of the parameter is not that of the variable");
        a.tx.end_temporary_scope(1);
        assert_eq!(rows(), None);
        assert!(tempdb.in_memory_checkpoints().manifest().is_none(), "nothing is kept of such tables");
    });
}
