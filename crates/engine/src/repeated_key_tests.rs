//! Clustered indexes whose keys repeat: rows of equal keys are told apart wherever rows are, and nobody who writes one meets another.

use std::ops::Bound;
use std::sync::Arc;

use pikepole_machine::SimulatedDisk;
use pikepole_types::Value;

use crate::catalog::definition::StoredObject;
use crate::catalog::rows::encode;
use crate::tests::{Client, assert_sound, definition, index, row, table_of, with_server};
use crate::*;

/// By `v`, which repeats; `k` is the primary key, and `s` has an index too.
fn indexes() -> Vec<IndexDefinition> {
    let primary = index(IndexKind::PrimaryKey, false, &["k"]);
    vec![primary, by_value(), named("by_s", index(IndexKind::Index, false, &["s"]))]
}

fn named(name: &str, index: IndexDefinition) -> IndexDefinition {
    IndexDefinition { name: Some(name.into()), ..index }
}

fn by_value() -> IndexDefinition {
    named("by_v", index(IndexKind::Index, true, &["v"]))
}

/// The rows by the table's order, and that each index leads to the same ones.
async fn rows_by_all_ways(client: &mut Client, table: &Table) -> Vec<Vec<Value>> {
    let rows = client.rows(table).await;
    let sorted = |mut rows: Vec<Vec<Value>>| {
        rows.sort_by_key(|row| row[0].as_i64());
        rows
    };
    for index in table.indexes.iter().filter(|index| !index.clustered) {
        let range = ScanRange { index: Some(index.index_id), ..ScanRange::all() };
        assert_eq!(sorted(client.rows_of(table, range).await), sorted(rows.clone()), "by {}", index.name);
    }
    client.tx.rest();
    rows
}

fn equal_to(v: i32) -> ScanRange {
    let key = Bound::Included(vec![Value::Int(v)]);
    ScanRange { from: key.clone(), to: key, ..ScanRange::all() }
}

fn keys_of(rows: &[Vec<Value>]) -> Vec<i64> {
    rows.iter().map(|row| row[0].as_i64().expect("a key")).collect()
}

#[test]
fn rows_of_equal_keys_live_side_by_side() {
    let disk = SimulatedDisk::new(1);
    with_server(&disk, async |_, db| {
        let mut a = Client::new(&db, 51);
        let t = a.create(definition("t", indexes())).await;
        assert!(!t.is_heap());
        a.tx.begin();
        for k in 0..300 {
            a.insert(&t, &row(k, (k % 3) as i32, "in one transaction")).await.expect("keys may repeat");
        }
        a.commit().await;
        for k in 300..600 {
            a.insert(&t, &row(k, (k % 3) as i32, "alone")).await.expect("keys may repeat");
        }
        let rows = rows_by_all_ways(&mut a, &t).await;
        let in_order = |v: i64| (0..600).filter(move |k| k % 3 == v);
        assert_eq!(keys_of(&rows), (0..3).flat_map(in_order).collect::<Vec<_>>(), "equal keys in the order they came");
        assert_eq!(keys_of(&a.rows_of(&t, equal_to(1)).await), in_order(1).collect::<Vec<_>>());
        let error = a.insert(&t, &row(7, 9, "again")).await.expect_err("the primary key is unique");
        assert_eq!(error.number, 2627);
        // In place, to another key and back, away.
        assert!(a.change(&t, 4, Some(&row(4, 1, "longer than it was before"))).await.expect("an update"));
        assert!(a.change(&t, 7, Some(&row(7, 2, "moved"))).await.expect("an update"));
        assert!(a.change(&t, 7, Some(&row(7, 1, "back"))).await.expect("an update"));
        assert!(a.change(&t, 10, None).await.expect("a delete"));
        let left: Vec<i64> = in_order(1).filter(|k| *k != 7 && *k != 10).chain([7]).collect();
        assert_eq!(keys_of(&a.rows_of(&t, equal_to(1)).await), left, "the row that came back is the last one");
        assert_eq!(rows_by_all_ways(&mut a, &t).await.len(), 599);
    });
    assert_sound(&disk);
    with_server(&disk, async |_, db| {
        let mut a = Client::new(&db, 51);
        let t = table_of(&db, "t");
        a.insert(&t, &row(10, 1, "after a restart")).await.expect("keys may repeat");
        assert_eq!(rows_by_all_ways(&mut a, &t).await.len(), 600);
    });
}

#[test]
fn equal_keys_of_two_transactions_neither_meet_nor_wait() {
    with_server(&SimulatedDisk::new(2), async |_, db| {
        let mut clients: Vec<Client> = (51..54).map(|session| Client::new(&db, session)).collect();
        let t = clients[0].create(definition("t", vec![by_value()])).await;
        let mut before = Client::new(&db, 60);
        before.tx.set_isolation(Isolation::Snapshot);
        before.tx.begin();
        assert!(before.rows(&t).await.is_empty());
        clients.iter_mut().for_each(|client| client.tx.begin());
        for round in 0..40 {
            for (at, client) in clients.iter_mut().enumerate() {
                let mut writer = t.writer();
                let new = row(round * 10 + at as i64, 5, "five");
                let inserted = db.try_insert(&mut client.tx, &t, &mut writer, &new, RowCount::One);
                assert!(inserted.is_ok(), "nobody is waited for");
            }
        }
        // A key that was left, and a row that was taken back.
        assert!(clients[0].change(&t, 0, Some(&row(0, 6, "left"))).await.expect("an update"));
        clients[1].rollback().await;
        clients[0].commit().await;
        clients[2].commit().await;
        let keys = keys_of(&clients[1].rows_of(&t, equal_to(5)).await);
        assert_eq!(keys.len(), 79);
        assert!(keys.iter().all(|key| key % 10 != 1), "{keys:?}");
        assert!(before.rows(&t).await.is_empty(), "a snapshot is of its time");
        before.rollback().await;
    });
}

#[test]
fn a_heap_is_clustered_and_a_heap_again() {
    let disk = SimulatedDisk::new(3);
    with_server(&disk, async |_, db| {
        let mut a = Client::new(&db, 51);
        let own = indexes().into_iter().filter(|index| !index.clustered).collect();
        let t = a.create(definition("t", own)).await;
        for k in 0..200 {
            a.insert(&t, &row(k, (k % 4) as i32, &format!("{}", k % 7))).await.expect("a heap");
        }
        let rows = a.rows(&t).await;
        // Taken back, and done.
        a.tx.begin();
        a.db.create_index(&mut a.tx, &t, by_value(), &[]).await.expect("keys may repeat");
        a.rollback().await;
        assert!(table_of(&db, "t").is_heap());
        assert_eq!(rows_by_all_ways(&mut a, &t).await, rows);
        let t = a.db.create_index(&mut a.tx, &t, by_value(), &[]).await.expect("keys may repeat");
        a.commit().await;
        assert!(!t.is_heap() && !t.clustered().expect("it was made").unique);
        assert_eq!(rows_by_all_ways(&mut a, &t).await.len(), 200);
        a.insert(&t, &row(500, 1, "new")).await.expect("keys may repeat");
        // The entries of indexes that are not rebuilt lead to the rows still.
        a.db.rebuild_indexes(&mut a.tx, &t, Some("by_v")).await.expect("room");
        a.commit().await;
        let t = table_of(&db, "t");
        assert_eq!(rows_by_all_ways(&mut a, &t).await.len(), 201);
        assert!(a.change(&t, 500, Some(&row(500, 1, "in place"))).await.expect("an update"));
        // By another key, by a unique one, and without any.
        let by_text = IndexDefinition { replaces: true, ..named("by_v", index(IndexKind::Index, true, &["s", "v"])) };
        let t = a.db.create_index(&mut a.tx, &t, by_text, &[]).await.expect("keys may repeat");
        a.commit().await;
        assert_eq!(rows_by_all_ways(&mut a, &t).await.len(), 201);
        let unique =
            IndexDefinition { unique: true, replaces: true, ..named("by_v", index(IndexKind::Index, true, &["k"])) };
        let t = a.db.create_index(&mut a.tx, &t, unique, &[]).await.expect("the key is unique");
        a.commit().await;
        assert_eq!(keys_of(&rows_by_all_ways(&mut a, &t).await), (0..200).chain([500]).collect::<Vec<_>>());
        let t = a.db.drop_index(&mut a.tx, &t, "by_v", false).await.expect("an index");
        a.commit().await;
        assert!(t.is_heap());
        assert_eq!(rows_by_all_ways(&mut a, &t).await.len(), 201);
        let t = a.db.create_index(&mut a.tx, &t, by_value(), &[]).await.expect("keys may repeat");
        a.commit().await;
        let t = a.db.drop_index(&mut a.tx, &t, "by_v", false).await.expect("an index");
        a.commit().await;
        assert_eq!(rows_by_all_ways(&mut a, &t).await.len(), 201);
        a.db.truncate_table(&mut a.tx, &t).await.expect("a table");
        a.commit().await;
        let empty = table_of(&db, "t");
        let t = a.db.create_index(&mut a.tx, &empty, by_value(), &[]).await.expect("no rows");
        a.commit().await;
        a.insert(&t, &row(1, 1, "new")).await.expect("an empty table");
        a.insert(&t, &row(2, 1, "new")).await.expect("keys may repeat");
        a.db.truncate_table(&mut a.tx, &t).await.expect("a table");
        a.commit().await;
        assert!(rows_by_all_ways(&mut a, &table_of(&db, "t")).await.is_empty());
    });
    assert_sound(&disk);
}

#[test]
fn an_index_takes_the_place_of_another_only_where_it_can() {
    with_server(&SimulatedDisk::new(4), async |_, db| {
        let mut a = Client::new(&db, 51);
        let own = vec![
            named("pk", index(IndexKind::PrimaryKey, true, &["k"])),
            named("by_s", index(IndexKind::Index, false, &["s"])),
        ];
        let t = a.create(definition("t", own)).await;
        let replacing = |definition: IndexDefinition| IndexDefinition { replaces: true, ..definition };
        let refused = [
            (named("none", index(IndexKind::Index, false, &["s"])), 7999),
            (named("by_s", index(IndexKind::Index, true, &["s"])), 1902),
            (IndexDefinition { unique: true, ..named("pk", index(IndexKind::Index, true, &["k", "v"])) }, 1907),
            (IndexDefinition { unique: true, ..named("pk", index(IndexKind::Index, false, &["k"])) }, 1925),
        ];
        for (definition, number) in refused {
            let error = a.db.create_index(&mut a.tx, &t, replacing(definition), &[]).await.expect_err("it cannot");
            assert_eq!(error.number, number);
            a.rollback().await;
        }
        let same = IndexDefinition { unique: true, ..named("pk", index(IndexKind::Index, true, &["k"])) };
        let t = a.db.create_index(&mut a.tx, &t, replacing(same), &[]).await.expect("it is the same key");
        let wider = replacing(named("by_s", index(IndexKind::Index, false, &["s", "v"])));
        let t = a.db.create_index(&mut a.tx, &t, wider, &[]).await.expect("it can");
        a.commit().await;
        let told: Vec<_> =
            t.indexes.iter().map(|index| (index.name.as_str(), index.index_id, index.primary_key)).collect();
        assert_eq!(told, [("pk", 1, true), ("by_s", 2, false)]);
        assert_eq!(t.indexes[1].columns.len(), 2);
    });
}

#[test]
fn portions_and_fills_of_several_workers_repeat_keys() {
    let disk = SimulatedDisk::new(5);
    with_server(&disk, async |_, db| {
        let mut a = Client::new(&db, 51);
        let t = a.create(definition("t", indexes())).await;
        load(&mut a, &t, 0, true).await;
        let t = table_of(&db, "t");
        assert_eq!(rows_by_all_ways(&mut a, &t).await.len(), 600);
        // Twice in one transaction, so that children of two statements have one id.
        a.tx.begin();
        load(&mut a, &t, 1_000, false).await;
        load(&mut a, &t, 2_000, false).await;
        a.commit().await;
        assert_eq!(rows_by_all_ways(&mut a, &t).await.len(), 1_800);
    });
    assert_sound(&disk);
}

/// Inserts 600 rows by three children, into the table or, `fill`, into trees that it gets then.
async fn load(client: &mut Client, table: &Arc<Table>, from: i64, fill: bool) {
    let (db, explicit) = (client.db.clone(), client.tx.is_explicit());
    let tx = &mut client.tx;
    db.begin_statement(tx);
    let fill = if fill {
        db.drive(tx, |tx| db.try_lock_table(tx, table, LockMode::X)).await.map_err(drop).expect("nobody has it");
        assert!(db.drive(tx, |tx| db.try_can_fill(tx, table)).await.map_err(drop).expect("no need"));
        Some(Arc::new(db.begin_fill(tx, table).await.expect("room")))
    } else {
        db.drive(tx, |tx| db.try_lock_table(tx, table, LockMode::IX)).await.map_err(drop).expect("nobody has it");
        None
    };
    let begun = db.drive(tx, |tx| db.try_begin_children(tx, 3, true)).await;
    let mut children = begun.map_err(drop).expect("no need");
    for (at, child) in children.iter_mut().enumerate() {
        let mut portion = fill.as_ref().map_or_else(|| table.portion(), Fill::portion);
        for k in 0..200 {
            let k = from + at as i64 * 200 + k * 7 % 200;
            portion.add_row().clone_from_slice(&row(k, (k % 2) as i32, "loaded"));
            if k % 50 == 0 || portion.is_due(table) {
                while !db
                    .drive(child, |tx| db.try_insert_portion(tx, table, &mut portion))
                    .await
                    .map_err(drop)
                    .expect("room")
                {}
            }
        }
        while !db.drive(child, |tx| db.try_insert_portion(tx, table, &mut portion)).await.map_err(drop).expect("room") {
        }
    }
    db.merge_children(tx, children);
    db.end_statement(tx);
    if let Some(fill) = fill {
        db.end_fill(tx, &fill).await.expect("room");
    }
    if !explicit {
        client.commit().await;
    }
}

/// Workers build an index of rows that they read at once.
#[test]
fn workers_build_an_index_of_repeated_keys() {
    let disk = SimulatedDisk::new(6);
    with_server(&disk, async |_, db| {
        let mut a = Client::new(&db, 51);
        let t = a.create(definition("t", vec![named("by_s", index(IndexKind::Index, false, &["s"]))])).await;
        for k in 0..4_000 {
            a.insert(&t, &row(k, (k % 5) as i32, &format!("{:040}", k % 100))).await.expect("a heap");
        }
        let t = a.db.create_index(&mut a.tx, &t, by_value(), &[0, 1]).await.expect("keys may repeat");
        a.db.end_statement(&mut a.tx);
        a.commit().await;
        assert_eq!(rows_by_all_ways(&mut a, &t).await.len(), 4_000);
        assert_eq!(a.rows_of(&t, equal_to(3)).await.len(), 800);
        let by_k = named("by_k", index(IndexKind::Index, false, &["k"]));
        let t = a.db.create_index(&mut a.tx, &t, by_k, &[0, 1]).await.expect("room");
        a.db.end_statement(&mut a.tx);
        a.commit().await;
        assert_eq!(rows_by_all_ways(&mut a, &t).await.len(), 4_000);
    });
    assert_sound(&disk);
}

/// A program that knows of no uniquifiers would give rows keys that are there.
#[test]
fn older_programs_do_not_open_what_they_would_misread() {
    with_server(&SimulatedDisk::new(7), async |_, db| {
        let mut a = Client::new(&db, 51);
        let format = |table: &Table| {
            let stored = StoredObject::Table(table.definition().clone());
            encode(&stored)[0][0]
        };
        let t = a.create(definition("t", vec![by_value()])).await;
        assert_eq!(format(&t), 3);
        let t = a.db.drop_index(&mut a.tx, &t, "by_v", false).await.expect("an index");
        a.commit().await;
        assert_eq!(format(&t), 1);
    });
}
