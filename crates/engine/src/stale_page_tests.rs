//! Older states of pages under a whole database: heap, clustered and secondary indexes, long values, the catalog, the map.
//!
//! A server is closed and opened some times, with changes in between. Then each page of its database is put back as it was at
//! one of the earlier ends. What the next start answers is right, or an error; `Server::check` names what is wrong.

use std::collections::BTreeMap;

use pikepole_machine::{Disk, OpenOptions, SimulatedDisk};
use pikepole_storage::PAGE_BYTES;
use pikepole_types::SqlError;

use crate::long_tests::{long_definition, text};
use crate::tests::{Client, index, options, primary_key, row, table_of, with_server};
use crate::*;

const PAGES: &str = "/server/master/data/pages";
const ROUNDS: i64 = 5;
/// Tries; each opens the server three times.
const TRIES_MAX: usize = 120;

fn pages(disk: &SimulatedDisk) -> Vec<u8> {
    Disk::simulated(disk.clone()).read(PAGES).expect("the pages")
}

async fn change(db: &std::sync::Arc<Database>, round: i64) {
    let mut a = Client::new(db, 51);
    if round == 0 {
        a.create(long_definition("heap", vec![index(IndexKind::Index, false, &["v"])])).await;
        a.create(long_definition("clustered", [primary_key(), vec![index(IndexKind::Index, false, &["v"])]].concat()))
            .await;
    } else {
        a.create(long_definition(&format!("new_{round}"), primary_key())).await;
    }
    for name in ["heap", "clustered"] {
        let t = table_of(db, name);
        a.tx.begin();
        for k in 0..60 {
            let bytes = if k % 20 == 0 { 12_000 } else { 30 + k as usize * 3 };
            let new = row(round * 100 + k, k as i32, &text(round as usize, bytes));
            a.insert(&t, &new).await.expect("a new key");
            if round > 0 && k % 3 == 0 {
                let old = (round - 1) * 100 + k;
                let changed = row(old, 1_000 + k as i32, &text(7, 20 + k as usize));
                a.change(&t, old, (k % 2 == 0).then_some(&changed[..])).await.expect("a row");
            }
        }
        a.commit().await;
    }
}

/// All rows of all tables, by their base and by their index; an error ends it.
async fn rows(db: &std::sync::Arc<Database>) -> Result<BTreeMap<String, Vec<String>>, SqlError> {
    let mut all = BTreeMap::new();
    for table in db.current_catalog().tables() {
        let ranges = table.indexes.iter().map(|index| Some(index.index_id)).chain([None]);
        for index in ranges {
            let mut tx = db.transaction(52);
            db.begin_statement(&mut tx);
            let mut scan = table.scan(ScanRange { index, ..ScanRange::all() }, &[0, 1, 2]);
            let (mut found, mut out) = (Vec::new(), row(0, 0, ""));
            loop {
                match db.drive(&mut tx, |tx| db.try_next(tx, table, &mut scan, &mut out)).await {
                    Ok(true) => found.push(format!("{out:?}")),
                    Ok(false) => break,
                    Err(Interrupted::Error(error)) => return Err(*error),
                    Err(Interrupted::Stale) => panic!("no session changes a definition"),
                }
                out = row(0, 0, "");
            }
            db.end_statement(&mut tx);
            found.sort();
            all.insert(format!("{}, {index:?}", table.full_name()), found);
        }
    }
    Ok(all)
}

/// The rows, or the error, after a start; None when the database does not open.
fn answers(disk: &SimulatedDisk) -> Option<Result<BTreeMap<String, Vec<String>>, SqlError>> {
    let server = Server::open(options(disk)).ok()?;
    let answer = server.database("master").ok().map(|db| server.schedulers().block_on(rows(&db)));
    server.schedulers().shutdown();
    answer
}

#[test]
fn no_older_page_gives_a_wrong_answer() {
    let disk = SimulatedDisk::new(9);
    let mut kept = Vec::new();
    let mut right = BTreeMap::new();
    for round in 0..ROUNDS {
        with_server(&disk, async |_, db| {
            change(&db, round).await;
            right = rows(&db).await.expect("sound");
        });
        kept.push(pages(&disk));
    }
    let last = kept.pop().expect("the last round");
    let mut older: Vec<(usize, Vec<u8>)> = Vec::new();
    for file in &kept {
        for (id, page) in file.chunks_exact(PAGE_BYTES).enumerate() {
            let at = id * PAGE_BYTES;
            let is_new = page != &last[at..at + PAGE_BYTES] && pikepole_storage::check_page(page).is_ok();
            if is_new && !older.iter().any(|(other, bytes)| *other == id && bytes == page) {
                older.push((id, page.to_vec()));
            }
        }
    }
    let step = older.len().div_ceil(TRIES_MAX);
    let (mut suspect, mut named, mut silent) = (0, 0, 0);
    for (id, page) in older.iter().step_by(step) {
        let hurt = disk.crash(1);
        let file = Disk::simulated(hurt.clone()).open(PAGES, OpenOptions::default()).expect("the pages");
        file.write_at(page, (id * PAGE_BYTES) as u64).expect("written");
        file.sync().expect("a sync");
        let checked =
            Server::check(&Disk::simulated(hurt.crash(1)), "/server".as_ref(), &mut |_| ()).expect("a folder");
        match answers(&hurt.crash(1)) {
            None => suspect += 1,
            Some(Err(error)) => {
                assert_eq!(error.number, 824, "page {id}: {error}");
                named += 1;
            }
            Some(Ok(rows)) => {
                assert_eq!(rows, right, "page {id}");
                silent += 1;
            }
        }
        assert!(!checked.damage.is_empty(), "page {id}: no damage found");
        assert!(checked.damage.iter().any(|line| line.contains(&format!("page {id}"))), "{:?}", checked.damage);
    }
    println!("{suspect} times suspect, {named} times error 824, {silent} times right");
    assert!(suspect > 5 && named > 25, "{suspect} times suspect, {named} times error 824, {silent} times right");
}

#[test]
fn error_824_names_both_lsns() {
    let disk = SimulatedDisk::new(10);
    with_server(&disk, async |_, db| change(&db, 0).await);
    let before = pages(&disk);
    with_server(&disk, async |_, db| change(&db, 1).await);
    let root = {
        let mut root = 0;
        with_server(&disk, async |_, db| {
            let t = table_of(&db, "clustered");
            root = db
                .store()
                .check()
                .expect("a check")
                .objects
                .iter()
                .find(|o| o.object == t.base.object())
                .and_then(|o| o.root)
                .expect("a tree")
                .0;
        });
        root as usize
    };
    let file = Disk::simulated(disk.clone()).open(PAGES, OpenOptions::default()).expect("the pages");
    file.write_at(&before[root * PAGE_BYTES..(root + 1) * PAGE_BYTES], (root * PAGE_BYTES) as u64).expect("written");
    file.sync().expect("a sync");
    let Some(Err(error)) = answers(&disk) else { panic!("an older page is read") };
    let text = "SQL Server detected a logical consistency-based I/O error: stale page (a page read returned a log sequence \
                number (LSN) (";
    assert_eq!((error.number, error.severity, error.state), (824, 24, 2));
    assert!(error.message.starts_with(text), "{error}");
    assert!(error.message.contains(") that is older than the last one that was written ("), "{error}");
    assert!(error.message.contains(&format!("It occurred during a read of page {root} in database ID 1")), "{error}");
}
