//! Checks of databases in use: sound ones, ones that others write to meanwhile, and indexes that do not fit their rows.

use pikepole_machine::SimulatedDisk;
use pikepole_scheduler::{Placement, TaskInfo};
use pikepole_storage::{LogContext, TreeCursor};
use pikepole_transaction::Structure;
use pikepole_types::{SqlError, Value};

use crate::tests::{Client, definition, index, master, primary_key, row, server, stop};
use crate::*;

fn indexed() -> TableDefinition {
    let mut indexes = primary_key();
    let mut by_v = index(IndexKind::Index, false, &["v"]);
    by_v.name = Some("by_v".into());
    indexes.push(by_v);
    definition("t", indexes)
}

async fn checked(client: &mut Client, table: &Table) -> TableCheck {
    let db = client.db.clone();
    db.begin_statement(&mut client.tx);
    let check = db.check_table(&mut client.tx, table, true, &mut |_| Ok(())).await;
    db.end_statement(&mut client.tx);
    check.expect("a check")
}

#[test]
fn entries_without_rows_and_rows_without_entries_are_told() {
    let server = server(&SimulatedDisk::new(1));
    let db = master(&server);
    server.schedulers().block_on(async {
        let mut a = Client::new(&db, 51);
        let table = a.create(indexed()).await;
        for k in 0..700 {
            a.insert(&table, &row(k, k as i32 % 10, "x")).await.expect("a row");
        }
        let sound = checked(&mut a, &table).await;
        assert_eq!((sound.rows, sound.findings), (700, Vec::new()));
        let Structure::Tree(tree) = &table.secondary[0].structure else { panic!("an index is a tree") };
        let mut keys = Vec::new();
        let mut scan = tree.scan(pikepole_storage::ScanRange::ALL);
        while db.store().until_done(|| scan.next_batch()).expect("entries") {
            keys.extend(scan.rows().map(|row| (row.key.to_vec(), row.header)));
        }
        let (mut cursor, context) = (TreeCursor::new(), LogContext::default());
        let (gone, header) = keys[3].clone();
        db.store().until_done(|| tree.remove(&mut cursor, &context, &gone, header)).expect("it is there");
        let missing = checked(&mut a, &table).await;
        let expected = TableFinding::NoEntry { index_id: 2, row: "k = '30' and v = '0'".into() };
        assert_eq!(missing.findings, [expected]);
        let mut made_up = keys[5].0.clone();
        let last = made_up.len() - 1;
        made_up[last] ^= 0x40;
        db.store().until_done(|| tree.insert(&mut cursor, &context, &made_up, &[1, 2])).expect("a new key");
        let both = checked(&mut a, &table).await;
        assert_eq!(both.findings.len(), 2, "{:?}", both.findings);
        assert!(
            matches!(&both.findings[1], TableFinding::NoRow { index_id: 2, entry } if entry == "v = '0'"),
            "{both:?}"
        );
    });
    stop(&server);
}

#[test]
fn a_check_is_sound_while_others_write() {
    let server = server(&SimulatedDisk::new(2));
    let db = master(&server);
    let table = server.schedulers().block_on(async { Client::new(&db, 51).create(indexed()).await });
    let writers: Vec<_> = (0..3)
        .map(|writer: i64| {
            let (db, table) = (db.clone(), table.clone());
            let task = async move {
                let mut client = Client::new(&db, 60 + writer as i32);
                for k in 0..40 {
                    client.insert(&table, &row(k * 3 + writer, k as i32, "y")).await.expect("a row");
                    if k % 3 == 0 {
                        client
                            .change(&table, k * 3 + writer, Some(&row(k * 3 + writer, -1, "z")))
                            .await
                            .expect("a change");
                    }
                }
            };
            let info = TaskInfo { session_id: None, command: "TEST" };
            server.schedulers().spawn(info, Placement::LeastLoaded, task)
        })
        .collect();
    server.schedulers().block_on(async {
        let mut a = Client::new(&db, 52);
        let mut last = 0;
        while last < 3 * 40 {
            let check = checked(&mut a, &table).await;
            assert_eq!(check.findings, Vec::new());
            assert!(check.rows >= last);
            last = check.rows;
            let pages = db.check_pages(None, &mut |_| Ok(())).await.expect("pages");
            assert_eq!(pages.findings, Vec::new());
            pikepole_scheduler::yield_now().await;
        }
        for writer in writers {
            writer.await.expect("a writer does not panic");
        }
    });
    assert_eq!(db.check_catalog(), Vec::<String>::new());
    stop(&server);
}

#[test]
fn a_watch_ends_a_check() {
    let server = server(&SimulatedDisk::new(3));
    let db = master(&server);
    server.schedulers().block_on(async {
        let mut a = Client::new(&db, 51);
        let table = a.create(indexed()).await;
        for k in 0..300 {
            a.insert(&table, &[Value::BigInt(k), Value::Int(1), Value::Null]).await.expect("a row");
        }
        let enough = || SqlError::new(3617, 11, 0, "enough");
        db.begin_statement(&mut a.tx);
        let ended = db.check_table(&mut a.tx, &table, true, &mut |_| Err(enough())).await;
        db.end_statement(&mut a.tx);
        assert!(matches!(ended, Err(Interrupted::Error(error)) if error.number == 3617));
        let ended = db.check_pages(Some(&table), &mut |_| Err(enough())).await;
        assert_eq!(ended.err().map(|error| error.number), Some(3617));
    });
    stop(&server);
}
