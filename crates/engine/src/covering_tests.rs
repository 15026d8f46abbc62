//! Reading from the entries of an index alone, and who may use an index that is younger than its snapshot.

use pikepole_machine::SimulatedDisk;
use pikepole_types::Value;
use proptest::prelude::*;

use crate::tests::{Client, definition, index, primary_key, row, with_server};
use crate::*;

/// What a writer does in its transaction.
#[derive(Debug, Clone, Copy)]
enum Step {
    Put {
        k: i64,
        v: i32,
    },
    Delete {
        k: i64,
    },
    Commit,
    Rollback,
    /// The transaction of a reader with a lasting snapshot begins anew.
    Look,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..12_i64, -1..4_i32).prop_map(|(k, v)| Step::Put { k, v }),
        3 => (0..12_i64).prop_map(|k| Step::Delete { k }),
        2 => Just(Step::Commit),
        1 => Just(Step::Rollback),
        1 => Just(Step::Look),
    ]
}

/// A row whose second column is NULL for -1.
fn made(k: i64, v: i32) -> Vec<Value> {
    let mut row = row(k, v, "filler");
    if v == -1 {
        row[1] = Value::Null;
    }
    row
}

impl Client {
    /// These columns of what the client sees, in order of their texts; through an index, or from the rows.
    async fn columns(&mut self, table: &Table, index: Option<i32>, wanted: &[usize]) -> Vec<String> {
        let db = self.db.clone();
        let mut scan = table.scan(ScanRange { index, ..ScanRange::all() }, wanted);
        let mut found = Vec::new();
        db.begin_statement(&mut self.tx);
        loop {
            let mut out = vec![Value::Null; wanted.len()];
            let next = db.drive(&mut self.tx, |tx| db.try_next(tx, table, &mut scan, &mut out)).await;
            if !next.expect("a scan") {
                break;
            }
            found.push(format!("{out:?}"));
        }
        db.end_statement(&mut self.tx);
        found.sort();
        found
    }

    async fn count(&mut self, table: &Table, index: Option<i32>) -> u64 {
        let db = self.db.clone();
        let mut scan = table.scan(ScanRange { index, ..ScanRange::all() }, &[]);
        db.begin_statement(&mut self.tx);
        let counted = db.drive(&mut self.tx, |tx| db.try_count(tx, table, &mut scan)).await;
        db.end_statement(&mut self.tx);
        counted.expect("a count")
    }
}

fn entries_say_what_rows_say(clustered: bool, steps: &[Step]) {
    with_server(&SimulatedDisk::new(1), async |_, db| {
        let mut writer = Client::new(&db, 51);
        let mut indexes = if clustered { primary_key() } else { Vec::new() };
        let columns: &[&str] = if clustered { &["v"] } else { &["v", "k"] };
        let mut by_v = IndexDefinition { name: Some("by_v".into()), ..index(IndexKind::Index, false, columns) };
        // Largest first.
        by_v.columns[0].1 = true;
        indexes.push(by_v);
        let table = writer.create(definition("t", indexes)).await;
        let by_v = table.indexes.iter().find(|index| !index.clustered).map(|index| index.index_id);
        let mut lasting = Client::new(&db, 52);
        lasting.tx.set_isolation(Isolation::Snapshot);
        lasting.tx.begin();
        let mut passing = Client::new(&db, 53);
        writer.tx.begin();
        for step in steps {
            match *step {
                Step::Put { k, v } => {
                    let new = made(k, v);
                    if !writer.change(&table, k, Some(&new)).await.expect("nobody else writes") {
                        writer.insert(&table, &new).await.expect("a new key");
                    }
                }
                Step::Delete { k } => {
                    writer.change(&table, k, None).await.expect("nobody else writes");
                }
                Step::Commit => {
                    writer.commit().await;
                    writer.tx.begin();
                }
                Step::Rollback => {
                    writer.rollback().await;
                    writer.tx.begin();
                }
                Step::Look => {
                    lasting.rollback().await;
                    lasting.tx.begin();
                }
            }
            for client in [&mut writer, &mut lasting, &mut passing] {
                for wanted in [&[1, 0][..], &[0], &[1, 1, 0], &[]] {
                    let from_rows = client.columns(&table, None, wanted).await;
                    assert_eq!(client.columns(&table, by_v, wanted).await, from_rows, "{wanted:?} after {step:?}");
                    assert_eq!(client.count(&table, by_v).await, from_rows.len() as u64, "after {step:?}");
                }
            }
        }
        writer.rollback().await;
        lasting.rollback().await;
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn entries_of_a_clustered_table_say_what_its_rows_say(steps in prop::collection::vec(step(), 1..40)) {
        entries_say_what_rows_say(true, &steps);
    }

    #[test]
    fn entries_of_a_heap_say_what_its_rows_say(steps in prop::collection::vec(step(), 1..40)) {
        entries_say_what_rows_say(false, &steps);
    }
}

/// The reads of rows and of entries when `wanted` is read through the index of a table.
#[test]
fn rows_are_not_read_for_what_entries_say() {
    with_server(&SimulatedDisk::new(2), async |_, db| {
        let mut client = Client::new(&db, 51);
        let mut indexes = primary_key();
        indexes.push(IndexDefinition { name: Some("by_v".into()), ..index(IndexKind::Index, false, &["v"]) });
        let table = client.create(definition("t", indexes)).await;
        for k in 0..100 {
            client.insert(&table, &made(k, 1)).await.expect("a new key");
        }
        let mut pages = Vec::new();
        for wanted in [&[1, 0][..], &[1, 2]] {
            let meter = ReadMeter::default();
            let mut scan = table.scan(ScanRange { index: Some(2), ..ScanRange::all() }, wanted);
            db.begin_statement(&mut client.tx);
            let mut out = [Value::Null, Value::Null];
            while meter.during(|| db.try_next(&mut client.tx, &table, &mut scan, &mut out)).is_ok_and(|found| found) {}
            db.end_statement(&mut client.tx);
            pages.push(table.reads(&meter).map_or(0, |reads| reads.rows.logical));
        }
        assert!(pages[0] <= 2 && pages[1] >= 100, "{pages:?}");
    });
}

#[test]
fn an_index_is_not_used_under_an_older_snapshot() {
    with_server(&SimulatedDisk::new(3), async |_, db| {
        let (mut a, mut old) = (Client::new(&db, 51), Client::new(&db, 52));
        let t = a.create(definition("t", primary_key())).await;
        let other = a.create(definition("u", primary_key())).await;
        a.insert(&t, &made(1, 1)).await.expect("a new key");
        old.tx.set_isolation(Isolation::Snapshot);
        old.tx.begin();
        assert_eq!(old.keys(&other).await.len(), 0);
        a.change(&t, 1, None).await.expect("a delete");
        let by_v = IndexDefinition { name: Some("by_v".into()), ..index(IndexKind::Index, false, &["v"]) };
        let t = a.db.create_index(&mut a.tx, &t, by_v, &[]).await.expect("a new index");
        a.commit().await;
        let mut scan = t.scan(ScanRange { index: Some(2), ..ScanRange::all() }, &[0]);
        let mut out = [Value::Null];
        db.begin_statement(&mut old.tx);
        let read = db.drive(&mut old.tx, |tx| db.try_next(tx, &t, &mut scan, &mut out)).await;
        assert!(matches!(read, Err(Interrupted::Error(error)) if error.number == 3961));
        db.end_statement(&mut old.tx);
        assert_eq!(old.keys(&other).await.len(), 0, "other tables stay");
        old.rollback().await;
        old.tx.begin();
        assert_eq!(old.count(&t, Some(2)).await, 0);
        old.rollback().await;
    });
}
