//! Filegroups last: over a restart, and over a power loss at any write.

use pikepole_machine::SimulatedDisk;
use pikepole_types::Collation;

use crate::tests::{Client, definition, options, primary_key, server, stop, table_of};
use crate::*;

/// What is known of the filegroups of `grouped`: name, number, the default one; and where the table's rows are.
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
