//! Values longer than a page: written, read, changed, deleted, rolled back, moved to new trees, given back.

use std::time::Duration;

use pikepole_machine::{Disk, SimulatedDisk};
use pikepole_storage::ObjectReport;
use pikepole_types::{Length, RowBytes, SqlType, Value};

use crate::tests::{Client, column, definition, index, master, primary_key, row, server, stop};
use crate::*;

/// (k bigint, v int, s varchar(max)) with these indexes.
pub(crate) fn long_definition(name: &str, indexes: Vec<IndexDefinition>) -> TableDefinition {
    let mut table = definition(name, indexes);
    table.columns[2] = column("s", SqlType::VarChar(Length::Max));
    table
}

/// A text of so many bytes, another one for each seed.
pub(crate) fn text(seed: usize, bytes: usize) -> String {
    (0..bytes).map(|at| char::from(b'a' + ((at / 7 + at * seed + seed) % 26) as u8)).collect()
}

/// What the store has of a table's long values.
fn parts(db: &Database, table: &Table) -> ObjectReport {
    let object = table.overflow.as_ref().expect("a place for long values").structure.object();
    let report = db.store().check().expect("a check");
    assert!(report.is_sound(), "{:?}", report.findings);
    report.objects.into_iter().find(|report| report.object == object).unwrap_or_default()
}

/// Time in which deleted rows are removed.
fn clean(server: &Server) {
    server.schedulers().advance(Duration::from_secs(3));
}

#[test]
fn only_tables_whose_rows_can_outgrow_a_page_have_a_place_for_long_values() {
    let server = server(&SimulatedDisk::new(1));
    let db = master(&server);
    server.schedulers().block_on(async {
        let mut a = Client::new(&db, 51);
        let short = a.create(definition("short", primary_key())).await;
        let long = a.create(long_definition("long", primary_key())).await;
        assert_eq!((short.overflow.is_some(), long.overflow.is_some()), (false, true));
        let mut several = definition("several", Vec::new());
        several.columns[2] = column("s", SqlType::NVarChar(Length::Limit(1_300)));
        let one = a.create(several.clone()).await;
        several.columns.push(column("t", SqlType::NVarChar(Length::Limit(1_400))));
        several.name = "two".into();
        let two = a.create(several).await;
        assert_eq!((one.overflow.is_some(), two.overflow.is_some()), (false, true), "3,900 bytes, and 8,100");
    });
    stop(&server);
}

#[test]
fn a_table_of_an_older_folder_keeps_its_limit_until_it_is_made_anew() {
    let disk = SimulatedDisk::new(9);
    let first = server(&disk);
    let db = master(&first);
    first.schedulers().block_on(async {
        let mut a = Client::new(&db, 51);
        let t = a.create(long_definition("t", primary_key())).await;
        // As such a table is stored: no place for long values, and no marks.
        let old = |record: &mut TableRecord, _: &mut dyn FnMut() -> i32| {
            record.overflow = None;
            Ok(())
        };
        let t = db.alter_definition(&mut a.tx, &t, &old).await.expect("a table");
        a.commit().await;
        a.insert(&t, &row(1, 1, &text(1, 8_000))).await.expect("a new key");
        let error = a.insert(&t, &row(2, 1, &text(2, 9_000))).await.expect_err("no page has room for it");
        assert_eq!(error.number, 511);
    });
    stop(&first);
    drop((db, first));
    let second = server(&disk);
    let db = master(&second);
    second.schedulers().block_on(async {
        let mut a = Client::new(&db, 51);
        let t = db.current_catalog().table("dbo", "t").cloned().expect("the table");
        assert_eq!(a.rows(&t).await, [row(1, 1, &text(1, 8_000))]);
        db.truncate_table(&mut a.tx, &t).await.expect("a table");
        a.commit().await;
        let t = db.current_catalog().table("dbo", "t").cloned().expect("the table");
        a.insert(&t, &row(2, 1, &text(2, 9_000))).await.expect("it has a place for it now");
        assert_eq!(a.rows(&t).await, [row(2, 1, &text(2, 9_000))]);
    });
    stop(&second);
}

fn lives_as_statements_say(indexes: &[IndexDefinition]) {
    let disk = SimulatedDisk::new(2);
    let server = server(&disk);
    let db = master(&server);
    let t = server.schedulers().block_on(async {
        let mut a = Client::new(&db, 51);
        let t = a.create(long_definition("t", indexes.to_vec())).await;
        let lengths =
            [0, 1, 8_000, 8_060, 8_090, 8_091, 8_092, 8_093, 8_094, 8_110, 8_120, 16_183, 16_184, 16_185, 50_000];
        for (k, bytes) in lengths.into_iter().enumerate() {
            a.insert(&t, &row(k as i64, 1, &text(k, bytes))).await.expect("a new key");
        }
        let all: Vec<_> = lengths.iter().enumerate().map(|(k, bytes)| row(k as i64, 1, &text(k, *bytes))).collect();
        assert_eq!(a.rows(&t).await, all);
        let error = a.insert(&t, &row(14, 0, &text(3, 30_000))).await.expect_err("the key is there");
        assert_eq!(error.number, 2627);
        assert_eq!(a.rows(&t).await, all, "nothing of the refused row is left");
        // A change beside the long value, one of it, one to a short one and back, one of the key.
        for new in [
            row(14, 2, &text(14, 50_000)),
            row(14, 2, &text(15, 70_000)),
            row(14, 2, "s"),
            row(14, 3, &text(16, 20_000)),
        ] {
            assert!(a.change(&t, 14, Some(&new)).await.expect("an update"));
            assert_eq!(a.rows(&t).await.pop(), Some(new));
        }
        assert!(a.change(&t, 14, Some(&row(100, 3, &text(16, 20_000)))).await.expect("another key"));
        assert_eq!(a.rows(&t).await.pop(), Some(row(100, 3, &text(16, 20_000))));
        for k in 1..14 {
            assert!(a.change(&t, k, None).await.expect("a delete"));
        }
        assert_eq!(a.rows(&t).await, [row(0, 1, ""), row(100, 3, &text(16, 20_000))]);
        t
    });
    clean(&server);
    // 20,000 bytes are two pages of their own and a short part; other short parts were on that page.
    let report = parts(&db, &t);
    assert_eq!((report.rows, report.ghosts), (3, 0), "{report:?}");
    assert!(report.pages <= 5, "pages of deleted values are used no more: {report:?}");
    stop(&server);
    drop((t, db, server));
    let report = Server::check(&Disk::simulated(disk), "/server".as_ref(), &mut |_| ()).expect("a check");
    assert!(report.damage.is_empty(), "{:?}", report.damage);
}

#[test]
fn long_values_of_a_clustered_table_live_as_statements_say() {
    lives_as_statements_say(&primary_key());
}

#[test]
fn long_values_of_a_heap_with_indexes_live_as_statements_say() {
    let by_v = IndexDefinition { name: Some("by_v".into()), ..index(IndexKind::Index, false, &["v"]) };
    lives_as_statements_say(&[index(IndexKind::PrimaryKey, false, &["k"]), by_v]);
}

#[test]
fn the_largest_values_of_a_row_go_first_and_unchanged_ones_stay() {
    let server = server(&SimulatedDisk::new(3));
    let db = master(&server);
    server.schedulers().block_on(async {
        let mut a = Client::new(&db, 51);
        let mut several = definition("t", primary_key());
        several.columns[2] = column("s", SqlType::VarChar(Length::Limit(8_000)));
        several.columns.push(column("t", SqlType::NVarChar(Length::Limit(4_000))));
        several.columns.push(column("u", SqlType::VarBinary(Length::Max)));
        several.columns.push(column("c", SqlType::Char(3_000)));
        let t = a.create(several).await;
        let value = |s: usize, u: usize| {
            let mut new = row(1, 1, &text(1, s));
            let chars = format!("{}{}", text(3, 2_000), " ".repeat(1_000));
            new.extend([Value::Str("é".repeat(1_500)), Value::Bin(vec![7; u]), Value::Str(chars)]);
            new
        };
        let counts = |t: &Table| {
            let report = parts(&db, t);
            (report.rows, report.ghosts)
        };
        let read = |a: &mut Client, t: &Table| {
            let wanted = [0, 4, 2, 3, 5, 4];
            let (mut scan, mut out) = (t.scan(ScanRange::all(), &wanted), vec![Value::Null; wanted.len()]);
            assert!(db.try_next(&mut a.tx, t, &mut scan, &mut out).expect("it is in memory"));
            db.end_statement(&mut a.tx);
            out
        };
        let wanted = |row: &[Value]| [0, 4, 2, 3, 5, 4].map(|at: usize| row[at].clone()).to_vec();
        a.insert(&t, &value(2_000, 500)).await.expect("7,500 bytes");
        assert_eq!((read(&mut a, &t), counts(&t)), (wanted(&value(2_000, 500)), (0, 0)));
        assert!(a.change(&t, 1, Some(&value(4_000, 500))).await.expect("an update"));
        assert_eq!((read(&mut a, &t), counts(&t)), (wanted(&value(4_000, 500)), (1, 0)), "s has gone");
        let mut other = value(4_000, 500);
        other[1] = Value::Int(9);
        assert!(a.change(&t, 1, Some(&other)).await.expect("an update"));
        assert_eq!(counts(&t), (1, 0), "s has stayed where it was");
        assert!(a.change(&t, 1, Some(&value(2_500, 20_000))).await.expect("an update"));
        assert_eq!((read(&mut a, &t), counts(&t)), (wanted(&value(2_500, 20_000)), (3, 1)), "s is back, u has gone");
        let mut beyond = value(8_000, 20_000);
        beyond[0] = Value::BigInt(2);
        beyond[3] = Value::Str("€".repeat(4_000));
        a.insert(&t, &beyond).await.expect("several values are elsewhere");
        assert_eq!(counts(&t), (3 + 3 + 2 + 1, 1));
        let last = a.rows(&t).await.pop();
        assert_eq!(last.map(|row| row[2].clone()), Some(beyond[2].clone()));
    });
    stop(&server);
}

#[test]
fn rollbacks_savepoints_and_snapshots_hold_for_long_values() {
    let server = server(&SimulatedDisk::new(4));
    let db = master(&server);
    let t = server.schedulers().block_on(async {
        let (mut a, mut b) = (Client::new(&db, 51), Client::new(&db, 52));
        let t = a.create(long_definition("t", primary_key())).await;
        let old = [row(1, 1, &text(1, 20_000)), row(2, 1, &text(2, 9_000))];
        for row in &old {
            a.insert(&t, row).await.expect("a new key");
        }
        let mut snapshot = Client::new(&db, 53);
        snapshot.tx.set_isolation(Isolation::Snapshot);
        snapshot.tx.begin();
        assert_eq!(snapshot.rows(&t).await, old);
        a.tx.begin();
        assert!(a.change(&t, 1, Some(&row(1, 2, &text(3, 30_000)))).await.expect("an update"));
        let mark = a.tx.mark();
        assert!(a.change(&t, 2, None).await.expect("a delete"));
        a.insert(&t, &row(3, 2, &text(4, 40_000))).await.expect("a new key");
        assert_eq!(b.rows(&t).await, old, "nothing of it is committed");
        a.db.rollback_to(&mut a.tx, mark).await.expect("a savepoint");
        assert_eq!(a.rows(&t).await, [row(1, 2, &text(3, 30_000)), old[1].clone()]);
        a.rollback().await;
        assert_eq!(a.rows(&t).await, old);
        let mut dirty = Client::new(&db, 54);
        dirty.tx.set_isolation(Isolation::ReadUncommitted);
        a.tx.begin();
        assert!(a.change(&t, 1, None).await.expect("a delete"));
        assert!(a.change(&t, 2, Some(&row(2, 3, &text(5, 60_000)))).await.expect("an update"));
        assert_eq!(dirty.rows(&t).await, [row(2, 3, &text(5, 60_000))]);
        a.commit().await;
        pikepole_scheduler::sleep(Duration::from_secs(3)).await;
        assert_eq!(snapshot.rows(&t).await, old, "what the snapshot sees is kept, with all its parts");
        assert_eq!(b.rows(&t).await, [row(2, 3, &text(5, 60_000))]);
        snapshot.rollback().await;
        t
    });
    clean(&server);
    let report = parts(&db, &t);
    assert_eq!((report.rows, report.ghosts), (8, 0), "{report:?}");
    stop(&server);
}

#[test]
fn an_update_that_comes_too_late_leaves_no_parts() {
    let server = server(&SimulatedDisk::new(5));
    let db = master(&server);
    let t = server.schedulers().block_on(async {
        let (mut a, mut b) = (Client::new(&db, 51), Client::new(&db, 52));
        let t = a.create(long_definition("t", primary_key())).await;
        a.insert(&t, &row(1, 1, &text(1, 20_000))).await.expect("a new key");
        let (mut writer, mut scan, mut out) = (t.writer(), t.scan(ScanRange::all(), &[0]), [Value::Null]);
        let mut current = row(0, 0, "");
        a.tx.begin();
        db.begin_statement(&mut a.tx);
        assert!(db.try_next(&mut a.tx, &t, &mut scan, &mut out).expect("it is in memory"));
        let locator = scan.locator().clone();
        assert!(db.try_read_current(&mut a.tx, &t, &mut writer, &locator, &mut current).expect("it is in memory"));
        assert!(b.change(&t, 1, Some(&row(1, 2, &text(2, 30_000)))).await.expect("an update"));
        let new = row(1, 3, &text(3, 40_000));
        let late = db.drive(&mut a.tx, |tx| db.try_update(tx, &t, &mut writer, &locator, &new)).await;
        assert!(!late.expect("no error"), "the row has changed since it was read");
        let tx = &mut a.tx;
        assert!(
            db.drive(tx, |tx| db.try_read_current(tx, &t, &mut writer, &locator, &mut current)).await.expect("a row")
        );
        assert_eq!(current, row(1, 2, &text(2, 30_000)));
        let again = db.drive(tx, |tx| db.try_update(tx, &t, &mut writer, &locator, &new)).await;
        assert!(again.expect("no error"));
        db.end_statement(tx);
        a.commit().await;
        assert_eq!(a.rows(&t).await, [new]);
        t
    });
    clean(&server);
    let report = parts(&db, &t);
    assert_eq!((report.rows, report.ghosts), (5, 0), "{report:?}");
    stop(&server);
}

#[test]
fn long_values_move_with_their_tables_and_go_with_them() {
    let server = server(&SimulatedDisk::new(6));
    let db = master(&server);
    server.schedulers().block_on(async {
        let mut a = Client::new(&db, 51);
        let t = a.create(long_definition("t", Vec::new())).await;
        let rows: Vec<_> = (0..5).map(|k| row(k, 1, &text(k as usize, 9_000 + 9_000 * k as usize))).collect();
        for row in &rows {
            a.insert(&t, row).await.expect("a heap");
        }
        let clustered =
            IndexDefinition { unique: true, name: Some("c".into()), ..index(IndexKind::Index, true, &["k"]) };
        let t = db.create_index(&mut a.tx, &t, clustered, &[]).await.expect("keys are unique");
        a.commit().await;
        assert_eq!((t.is_heap(), a.rows(&t).await), (false, rows.clone()));
        let t = db.drop_index(&mut a.tx, &t, "c", false).await.expect("an index");
        a.commit().await;
        assert_eq!((t.is_heap(), a.rows(&t).await), (true, rows.clone()));
        let definitions = [("k", SqlType::BigInt), ("v", SqlType::Int), ("s", SqlType::VarChar(Length::Max))];
        let mut columns: Vec<NewColumn> = definitions
            .into_iter()
            .enumerate()
            .map(|(at, (name, ty))| NewColumn { definition: column(name, ty), source: Some(at), rowversion: false })
            .collect();
        columns.push(NewColumn {
            definition: column("more", SqlType::VarChar(Length::Max)),
            source: None,
            rowversion: false,
        });
        let map = |old: &[Value], new: &mut [Value]| {
            new[..3].clone_from_slice(old);
            new[3] = Value::Str(text(9, 12_000));
            Ok(())
        };
        let t = db.alter_columns(&mut a.tx, &t, &columns, &map).await.expect("another column");
        assert_eq!(a.rows(&t).await, rows, "before the commit");
        a.commit().await;
        assert_eq!((a.rows(&t).await, parts(&db, &t).rows), (rows.clone(), 2 + 3 + 4 + 5 + 6 + 5 * 2));
        db.truncate_table(&mut a.tx, &t).await.expect("a table");
        a.rollback().await;
        assert_eq!(a.rows(&t).await, rows, "the old pages are there again");
        db.truncate_table(&mut a.tx, &t).await.expect("a table");
        a.commit().await;
        let t = db.current_catalog().table("dbo", "t").cloned().expect("the table");
        assert_eq!((a.rows(&t).await, parts(&db, &t).pages), (Vec::new(), 0));
        a.insert(&t, &[&rows[4][..], &[Value::Null]].concat()).await.expect("a row");
        db.drop_table(&mut a.tx, "dbo", "t").await.expect("a table");
        a.commit().await;
    });
    clean(&server);
    assert_eq!(db.storage_to_free(), 0);
    let objects = db.store().check().expect("a check").objects;
    assert!(objects.iter().all(|report| report.object < 32), "all pages were given back: {objects:?}");
    stop(&server);
}

#[test]
fn rows_that_come_in_pages_can_be_long_too() {
    let server = server(&SimulatedDisk::new(7));
    let db = master(&server);
    server.schedulers().block_on(async {
        let mut a = Client::new(&db, 51);
        let t = a.create(long_definition("t", Vec::new())).await;
        let rows: Vec<_> = (0..60).map(|k| row(k, 1, &text(3, if k % 7 == 3 { 20_000 } else { 300 }))).collect();
        let mut encoded = RowBytes::default();
        for row in &rows {
            let mut bytes = Vec::new();
            t.row_layout().encode_rest(|i| &row[i], &mut bytes).expect("a row");
            encoded.push(&bytes);
        }
        a.tx.begin();
        db.begin_statement(&mut a.tx);
        let mut writer = db.bulk_writer(&a.tx, &t).expect("a heap");
        let encoded = EncodedRows::Varying { lengths: encoded.lengths(), bytes: encoded.bytes() };
        db.bulk_append(&mut a.tx, &t, &mut writer, encoded).await.expect("room");
        db.drive(&mut a.tx, |tx| db.try_bulk_finish(tx, &t, &mut writer)).await.expect("room");
        db.end_statement(&mut a.tx);
        let mut found = a.rows(&t).await;
        found.sort_by_key(|row| row[0].as_i64());
        assert!(found == rows, "every row is there and whole");
        a.rollback().await;
        assert_eq!(a.rows(&t).await, Vec::<Vec<Value>>::new());
    });
    stop(&server);
}

#[test]
fn a_part_that_is_not_where_it_should_be_is_damage() {
    let disk = SimulatedDisk::new(8);
    let server = server(&disk);
    let db = master(&server);
    server.schedulers().block_on(async {
        let mut a = Client::new(&db, 51);
        let t = a.create(long_definition("t", primary_key())).await;
        a.insert(&t, &row(1, 1, &text(1, 30_000))).await.expect("a new key");
        a.insert(&t, &row(2, 1, &text(2, 30_000))).await.expect("a new key");
        // The second value loses its last part: the short one at the end of the heap's shared page.
        let overflow = t.overflow.as_ref().expect("a place for long values");
        let pikepole_transaction::Structure::Heap(heap) = &overflow.structure else { panic!("a heap") };
        let mut scan = heap.scan();
        let mut shared = Vec::new();
        while db.store().until_done(|| scan.next_batch()).expect("pages") {
            shared.extend(scan.rows().filter(|row| row.rest.len() < 7_000).map(|row| (row.rid, row.header)));
        }
        let (rid, header) = *shared.last().expect("the rests of 30,000 bytes");
        db.store().until_done(|| heap.remove(&LogContext::new(0), rid, header)).expect("it is there");
        assert_eq!(a.get(&t, 1).await, Some(Value::Str(text(1, 30_000))));
        let (mut scan, mut out) = (t.scan(ScanRange::all(), &[0, 2]), [Value::Null, Value::Null]);
        db.begin_statement(&mut a.tx);
        assert!(db.drive(&mut a.tx, |tx| db.try_next(tx, &t, &mut scan, &mut out)).await.expect("the first row"));
        let error = db.drive(&mut a.tx, |tx| db.try_next(tx, &t, &mut scan, &mut out)).await;
        let Err(Interrupted::Error(error)) = error else { panic!("{error:?}") };
        assert_eq!(error.number, 824, "{error}");
        assert!(error.message.contains("does not hold part 3 of the long value"), "{error}");
        let (mut scan, mut out) = (t.scan(ScanRange::all(), &[0, 1]), [Value::Null, Value::Null]);
        assert!(db.drive(&mut a.tx, |tx| db.try_next(tx, &t, &mut scan, &mut out)).await.expect("a row"));
        assert!(db.drive(&mut a.tx, |tx| db.try_next(tx, &t, &mut scan, &mut out)).await.expect("its short columns"));
        db.end_statement(&mut a.tx);
        a.rollback().await;
    });
    stop(&server);
    drop((db, server));
    let report = Server::check(&Disk::simulated(disk), "/server".as_ref(), &mut |_| ()).expect("a check");
    // Once where the parts are followed from the pages, once where rows are read as CHECKDB does.
    assert_eq!(report.damage.len(), 2, "{:?}", report.damage);
    for damage in &report.damage {
        assert!(damage.contains("dbo.t") && damage.contains("does not hold part 3 of the long value"), "{damage}");
    }
}
