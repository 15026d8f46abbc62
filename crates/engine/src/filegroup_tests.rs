//! Filegroups and files last: over a restart, and over a power loss at any write.

use pikepole_machine::SimulatedDisk;
use pikepole_types::Collation;

use crate::tests::{Client, definition, options, primary_key, server, stop, table_of};
use crate::*;

/// The filegroups of `grouped` as they are known: name, number, the default one; and where the table's rows are.
fn read(server: &Server) -> (Vec<(String, i32, bool)>, Option<i32>) {
    let db = server.database("grouped").expect("it opens");
    let catalog = db.current_catalog();
    let groups = catalog.filegroups().map(|own| (own.name.clone(), own.data_space_id, own.is_default)).collect();
    (groups, catalog.table("dbo", "t").map(|table| table.row_filegroup()))
}

async fn change(db: &Database, name: &str, change: FilegroupChange) {
    db.change_filegroup(51, name, &change).await.expect("a change of a filegroup");
}

#[test]
fn filegroups_are_there_after_a_restart() {
    let disk = SimulatedDisk::new(8);
    let first = server(&disk);
    first.schedulers().block_on(async {
        first.create_database("grouped", Collation::DEFAULT).await.expect("a new database");
        let db = first.database("grouped").expect("it is there");
        change(&db, "history", FilegroupChange::Add(FilegroupContents::Rows)).await;
        change(&db, "gone", FilegroupChange::Add(FilegroupContents::Rows)).await;
        change(&db, "memory", FilegroupChange::Add(FilegroupContents::MemoryOptimized)).await;
        change(&db, "gone", FilegroupChange::Remove).await;
        change(&db, "history", FilegroupChange::Name("former".into())).await;
        let mut client = Client::new(&db, 51);
        client.create(TableDefinition { filegroup: Some(2), ..definition("t", primary_key()) }).await;
        change(&db, "former", FilegroupChange::Default).await;
        drop(client);
    });
    let before = read(&first);
    let named = |name: &str, id: i32, is_default: bool| (name.to_owned(), id, is_default);
    assert_eq!(before.0, [named("PRIMARY", 1, false), named("former", 2, true), named("memory", 4, false)]);
    assert_eq!(before.1, Some(2));
    stop(&first);
    drop(first);
    let second = server(&disk);
    assert_eq!(read(&second), before);
    assert!(table_of(&second.database("grouped").expect("it opens"), "t").row_filegroup() == 2);
    stop(&second);
}

#[test]
fn a_change_of_filegroups_is_whole_or_not_there_after_a_power_loss() {
    let fresh = SimulatedDisk::new(9);
    let first = server(&fresh);
    first.schedulers().block_on(async {
        first.create_database("grouped", Collation::DEFAULT).await.expect("a new database");
    });
    stop(&first);
    drop(first);
    for crash_at in 1.. {
        let disk = fresh.crash(crash_at);
        disk.crash_after_ops(crash_at);
        let mut acknowledged = 0;
        if let Ok(server) = Server::open(options(&disk)) {
            server.schedulers().block_on(async {
                let Ok(db) = server.database("grouped") else { return };
                for name in ["a", "b", "c"] {
                    if db.change_filegroup(51, name, &FilegroupChange::Add(FilegroupContents::Rows)).await.is_err() {
                        return;
                    }
                    acknowledged += 1;
                }
            });
            server.schedulers().shutdown();
        }
        let crashed = disk.is_off();
        disk.power_off();
        let after = server(&disk.crash(crash_at ^ 7));
        let (groups, _) = read(&after);
        let made = groups.len() - 1;
        assert!(
            made >= acknowledged && made <= acknowledged + 1,
            "{crash_at}: {groups:?}, {acknowledged} acknowledged"
        );
        let names: Vec<&str> = groups.iter().skip(1).map(|(name, ..)| name.as_str()).collect();
        assert_eq!(names, &["a", "b", "c"][..made]);
        stop(&after);
        if !crashed {
            return;
        }
    }
}

#[test]
fn sizes_of_files_hold_and_are_there_after_a_restart() {
    const MB: u64 = 1 << 20;
    let disk = SimulatedDisk::new(10);
    let first = server(&disk);
    let files = |server: &Server| server.database("grouped").expect("it opens").files();
    first.schedulers().block_on(async {
        first.create_database_to_size("grouped", Collation::DEFAULT, true).await.expect("a new database");
        let db = first.database("grouped").expect("it is there");
        let data = FileWish {
            name: Some("rows".into()),
            size_bytes: Some(6 * MB),
            growth: Some(Growth::Percent(10)),
            max_bytes: Some(Some(9 * MB)),
        };
        db.set_file(51, DATA_FILE, &data).await.expect("room for data");
        let log = FileWish { size_bytes: Some(MB), growth: Some(Growth::Bytes(MB / 2)), ..FileWish::default() };
        db.set_file(51, LOG_FILE, &log).await.expect("room for the log");
        let more = FileWish { name: Some("more".into()), size_bytes: Some(2 * MB), ..FileWish::default() };
        db.add_file(51, 1, &more).await.expect("room for another file");
        assert!(db.log_stats().bytes >= MB);
    });
    let before = files(&first);
    let sizes: Vec<(&str, u64)> = before.iter().map(|file| (file.name.as_str(), file.bytes)).collect();
    assert_eq!((sizes[0], sizes[2]), (("rows", 6 * MB), ("more", 2 * MB)));
    assert_eq!((before[0].growth, before[0].max_bytes), (Growth::Percent(10), Some(9 * MB)));
    assert_eq!(before[1].growth, Growth::Bytes(MB / 2));
    stop(&first);
    drop(first);
    let second = server(&disk);
    assert_eq!(files(&second), before);
    // The limits of one that has none are none for all.
    second.schedulers().block_on(async {
        let db = second.database("grouped").expect("it opens");
        let more = files(&second).remove(2);
        db.remove_file(51, &more).await.expect("it goes");
        assert_eq!(files(&second)[0].bytes, 8 * MB, "its room is the first file's");
        let limit = FileWish { max_bytes: Some(Some(8 * MB)), growth: Some(Growth::Bytes(MB)), ..FileWish::default() };
        db.set_file(51, DATA_FILE, &limit).await.expect("a limit");
        assert_eq!(db.store().growth_bytes(), 0, "the limit is reached");
    });
    stop(&second);
}

#[test]
fn a_log_with_a_limit_is_full_there() {
    let disk = SimulatedDisk::new(11);
    let server = server(&disk);
    server.schedulers().block_on(async {
        server.create_database("grouped", Collation::DEFAULT).await.expect("a new database");
        let db = server.database("grouped").expect("it is there");
        let log = FileWish { growth: Some(Growth::Bytes(0)), size_bytes: Some(256 << 10), ..FileWish::default() };
        db.set_file(51, LOG_FILE, &log).await.expect("a log that does not grow");
        let has = db.log_stats().bytes;
        let mut client = Client::new(&db, 51);
        let table = client.create(definition("t", primary_key())).await;
        client.tx.begin();
        let mut refused = None;
        for key in 0..100_000 {
            if let Err(error) = client.insert(&table, &crate::tests::row(key, 1, &"x".repeat(900))).await {
                refused = Some(error.number);
                break;
            }
        }
        assert_eq!(refused, Some(9002));
        assert!(db.log_stats().bytes <= has + (64 << 10), "it did not grow, but to end the transaction");
        let _ = db.rollback(&mut client.tx).await;
        drop(client);
    });
    stop(&server);
}

#[test]
fn all_files_grow_where_the_filegroup_or_the_trace_flag_says_so() {
    const MB: u64 = 1 << 20;
    let disk = SimulatedDisk::new(12);
    let server = server(&disk);
    server.schedulers().block_on(async {
        server.create_database_to_size("grouped", Collation::DEFAULT, true).await.expect("a new database");
        let db = server.database("grouped").expect("it is there");
        let grows = |bytes: u64| FileWish { growth: Some(Growth::Bytes(bytes)), ..FileWish::default() };
        db.set_file(51, DATA_FILE, &grows(MB)).await.expect("a step");
        for name in ["b", "c"] {
            let file = FileWish { name: Some(name.into()), size_bytes: Some(MB), ..grows(2 * MB) };
            db.add_file(51, 1, &file).await.expect("room for another file");
        }
        assert_eq!(db.store().growth_bytes(), MB, "the step of the first");
        server.set_trace_flag(TraceFlag::GrowsAllFiles as i32, true);
        assert_eq!(db.store().growth_bytes(), 5 * MB, "of all");
        server.set_trace_flag(TraceFlag::GrowsAllFiles as i32, false);
        assert_eq!(db.store().growth_bytes(), MB);
        change(&db, "PRIMARY", FilegroupChange::GrowsAllFiles(true)).await;
        assert_eq!(db.store().growth_bytes(), 5 * MB);
        change(&db, "PRIMARY", FilegroupChange::GrowsAllFiles(false)).await;
        db.set_file(51, DATA_FILE, &grows(0)).await.expect("no step");
        assert_eq!(db.store().growth_bytes(), 2 * MB, "the first that may grow");
    });
    stop(&server);
}
