//! Statistics of tables: made, kept over restarts, taken back, and gone with what they are about.

use std::sync::Arc;

use pikepole_contention::sync::atomic::AtomicBool;
use pikepole_machine::SimulatedDisk;
use pikepole_types::Value;

use crate::tests::{Client, definition, index, primary_key, row, server, stop, table_of, with_server};
use crate::*;

const OF_V: StatisticsDefinition<'static> =
    StatisticsDefinition { name: "s_v", columns: &[1, 2], origin: StatisticsOrigin::User, no_recompute: false };

/// A table of 600 rows: `v` has ten values, of which one is NULL, and `s` has three of each.
async fn filled(client: &mut Client, name: &str) -> Arc<Table> {
    let by_v = IndexDefinition { name: Some("by_v".into()), ..index(IndexKind::Index, false, &["v"]) };
    let table = client.create(definition(name, primary_key().into_iter().chain([by_v]).collect())).await;
    client.tx.begin();
    for k in 0..600_i32 {
        let mut values = row(k.into(), k % 10, &format!("text {}", k % 30));
        if k % 10 == 0 {
            values[1] = Value::Null;
        }
        client.insert(&table, &values).await.expect("a new key");
    }
    client.commit().await;
    table
}

fn statistics_of(db: &Database, table: &Table) -> Option<Arc<TableStatistics>> {
    db.current_catalog().statistics_of(table.object_id).cloned()
}

#[test]
fn statistics_are_kept_over_a_restart() {
    let disk = SimulatedDisk::new(3);
    let first = server(&disk);
    let before = first.schedulers().block_on(async {
        first.create_database("d", pikepole_types::Collation::DEFAULT).await.expect("a new database");
        let db = first.database("d").expect("it is there");
        let mut a = Client::new(&db, 51);
        let t = filled(&mut a, "t").await;
        db.create_statistics(&mut a.tx, &t, &OF_V, SampleSize::Full).await.expect("a new name");
        a.commit().await;
        let own = statistics_of(&db, &t).expect("it has some");
        let values = own.by_name("S_V").and_then(|entry| entry.values.clone()).expect("they were made");
        assert_eq!((values.rows, values.sampled), (600, 600));
        assert_eq!(values.distinct, [10.0, 30.0]);
        assert_eq!((&values.steps[0].high, values.steps[0].equal_rows), (&Value::Null, 60.0));
        assert_eq!((&values.steps[9].high, values.steps[9].equal_rows), (&Value::Int(9), 60.0));
        let twice = db.create_statistics(&mut a.tx, &t, &OF_V, SampleSize::Full).await;
        assert_eq!(twice.expect_err("the name is taken").number, 1927);
        own
    });
    stop(&first);
    drop(first);
    let second = server(&disk);
    let db = second.database("d").expect("it is there");
    let table = table_of(&db, "t");
    assert_eq!(statistics_of(&db, &table).as_deref(), Some(&*before));
    stop(&second);
}

#[test]
fn they_are_taken_back_and_go_with_what_they_are_about() {
    let disk = SimulatedDisk::new(4);
    with_server(&disk, async |_, db| {
        let mut a = Client::new(&db, 51);
        let t = filled(&mut a, "t").await;
        a.tx.begin();
        db.create_statistics(&mut a.tx, &t, &OF_V, SampleSize::Full).await.expect("a new name");
        db.rollback(&mut a.tx).await.expect("a rollback");
        assert_eq!(statistics_of(&db, &t), None, "rolled back");

        let of_index = t.indexes.iter().find(|index| index.name == "by_v").map(|index| index.index_id);
        let of_index = of_index.expect("it is there");
        db.create_statistics(&mut a.tx, &t, &OF_V, SampleSize::Full).await.expect("a new name");
        db.update_statistics(&mut a.tx, &t, &[of_index, 77], SampleSize::Full, true).await.expect("an update");
        a.commit().await;
        let own = statistics_of(&db, &t).expect("it has some");
        assert_eq!(own.entries.len(), 2);
        assert!(own.by_id(of_index).is_some_and(|entry| entry.no_recompute && entry.origin == StatisticsOrigin::Index));

        db.drop_index(&mut a.tx, &t, "by_v", false).await.expect("it is there");
        a.commit().await;
        let own = statistics_of(&db, &t).expect("it has some");
        assert_eq!(own.entries.iter().map(|entry| &*entry.name).collect::<Vec<_>>(), ["s_v"]);

        let t = table_of(&db, "t");
        assert!(!db.drop_statistics(&mut a.tx, &t, "no such").await.expect("nothing is done"));
        assert!(db.drop_statistics(&mut a.tx, &t, "s_V").await.expect("it is there"));
        a.commit().await;
        assert_eq!(statistics_of(&db, &t), None);

        db.create_statistics(&mut a.tx, &t, &OF_V, SampleSize::Full).await.expect("a new name");
        a.commit().await;
        db.drop_table(&mut a.tx, "dbo", "t").await.expect("it is there");
        a.commit().await;
        assert_eq!(statistics_of(&db, &t), None, "gone with the table");
    });
}

#[test]
fn what_a_query_needs_is_made_beside_its_transaction() {
    let disk = SimulatedDisk::new(5);
    with_server(&disk, async |_, db| {
        let mut a = Client::new(&db, 51);
        let t = filled(&mut a, "t").await;
        let cancelled = Arc::new(AtomicBool::new(false));
        a.tx.begin();
        a.insert(&t, &row(1_000, 5, "mine")).await.expect("a new key");
        db.need_statistics(&a.tx, &cancelled, &t, &[1, 2]).await.expect("it was not cancelled");
        db.rollback(&mut a.tx).await.expect("a rollback");
        let own = statistics_of(&db, &t).expect("they were made");
        let kinds: Vec<_> = own.entries.iter().map(|entry| (entry.columns.as_slice(), entry.origin)).collect();
        assert_eq!(kinds, [([1].as_slice(), StatisticsOrigin::Index), (&[2], StatisticsOrigin::Automatic)]);
        assert!(own.entries[1].name.starts_with("_WA_Sys_00000003_"), "{}", own.entries[1].name);
        assert!(own.entries.iter().all(|entry| entry.values.as_ref().is_some_and(|values| values.rows == 600)));

        // Another session's definition is not waited for: the query has a plan without them.
        let mut b = Client::new(&db, 52);
        db.drop_statistics(&mut b.tx, &t, &own.entries[1].name).await.expect("it is there");
        b.tx.begin();
        db.lock_catalog(&mut b.tx).await.expect("it is free");
        db.need_statistics(&a.tx, &cancelled, &t, &[2]).await.expect("it was not cancelled");
        db.rollback(&mut b.tx).await.expect("a rollback");
    });
}
