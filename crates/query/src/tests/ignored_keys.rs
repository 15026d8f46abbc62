//! IGNORE_DUP_KEY: rows that are left out, beside transactions of others, in loads and after crashes.

use super::World;
use super::crash::{after_power_loss, world};
use pikepole_machine::SimulatedDisk;

const HEAP: &str =
    "CREATE TABLE h (n int, u int) CREATE UNIQUE INDEX u ON h (u) WITH (IGNORE_DUP_KEY = ON) CREATE INDEX n ON h (n)";

/// Inserts a row whose key another session has inserted and `end`s; what came of it, and the rows then.
fn beside_another(end: &str) -> (Vec<String>, Vec<String>) {
    let mut world = World::new();
    let (mut one, mut two) = (world.client(), world.client());
    one.quiet(HEAP);
    one.quiet("BEGIN TRAN INSERT h VALUES (1, 1)");
    let info = pikepole_scheduler::TaskInfo { session_id: Some(52), command: "INSERT" };
    let waiting = world.server.schedulers().spawn(info, pikepole_scheduler::Placement::LeastLoaded, async move {
        let mut output = crate::Collected::default();
        two.execute("INSERT h VALUES (2, 1), (3, 3)", &mut output).await;
        output
    });
    one.quiet("WAITFOR DELAY '00:00:01'");
    assert!(!waiting.is_finished(), "it waits for the key");
    one.quiet(end);
    let output = world.server.schedulers().block_on(waiting).expect("no panic");
    let told = output.events.iter().filter_map(super::line).collect();
    // By the table, and by each index.
    let by_index =
        "SELECT COUNT(*) FROM h WHERE n > 0 SELECT COUNT(*) FROM h WHERE u > 0 SELECT n, u FROM h ORDER BY n";
    (told, one.shown(by_index))
}

#[test]
fn a_key_of_a_transaction_under_way_is_waited_for() {
    let (told, rows) = beside_another("COMMIT");
    assert_eq!(told, ["Duplicate key was ignored.", "(1 rows)"]);
    assert_eq!(rows, ["2", "2", "1|1", "3|3"]);
    let (told, rows) = beside_another("ROLLBACK");
    assert_eq!(told, ["(2 rows)"]);
    assert_eq!(rows, ["2", "2", "2|1", "3|3"]);
}

#[test]
fn the_option_outlives_a_crash() {
    let disk = SimulatedDisk::new(12);
    let mut before = world(&disk);
    let mut client = before.client();
    client.quiet(HEAP);
    client.quiet("CREATE TABLE t (id int PRIMARY KEY WITH (IGNORE_DUP_KEY = ON)) INSERT t VALUES (1)");
    client.quiet("ALTER INDEX u ON h SET (IGNORE_DUP_KEY = OFF) INSERT h VALUES (1, 1), (2, 2)");
    client.quiet("BEGIN TRAN ALTER INDEX u ON h SET (IGNORE_DUP_KEY = ON) INSERT h VALUES (3, 1), (4, 4)");
    let mut world = after_power_loss(&disk, 3, before, client);
    let mut client = world.client();
    assert_eq!(client.lines("INSERT t VALUES (1), (2)"), ["Duplicate key was ignored.", "(1 rows)"]);
    assert!(client.lines("INSERT h VALUES (3, 1)")[0].starts_with("Msg 2601"));
    assert_eq!(client.shown("SELECT n, u FROM h ORDER BY n"), ["1|1", "2|2"]);
}

#[test]
fn a_snapshot_does_not_see_the_key_and_leaves_the_row_out() {
    let mut world = World::new();
    let (mut one, mut two) = (world.client(), world.client());
    one.quiet(HEAP);
    two.quiet("SET TRANSACTION ISOLATION LEVEL SNAPSHOT BEGIN TRAN SELECT COUNT(*) FROM h");
    one.quiet("INSERT h VALUES (1, 1)");
    assert_eq!(two.lines("INSERT h VALUES (2, 1), (3, 3)"), ["Duplicate key was ignored.", "(1 rows)"]);
    two.quiet("COMMIT");
    assert_eq!(one.shown("SELECT n, u FROM h ORDER BY n"), ["1|1", "3|3"]);
}

#[test]
fn loads_and_large_inserts_leave_rows_out() {
    let mut client = World::with_log(64 << 20).client();
    let rows: String = (0..20_000).map(|row| format!("{},{}\n", row, row % 5_000)).collect();
    client.file("f", rows);
    client.quiet(HEAP);
    let load = "BULK INSERT h FROM 'f' WITH (FORMAT = 'CSV', TABLOCK)";
    assert_eq!(client.lines(load), ["Duplicate key was ignored.", "(5000 rows)"]);
    assert_eq!(client.value("SELECT CONCAT(COUNT(*), ' ', MAX(n)) FROM h"), "5000 4999");
    client.quiet("TRUNCATE TABLE h");
    let batches = "BULK INSERT h FROM 'f' WITH (FORMAT = 'CSV', BATCHSIZE = 5000)";
    let told = client.lines(batches);
    assert_eq!(told.iter().filter(|line| line.starts_with("Duplicate")).count(), 3, "{told:?}");
    client.quiet("CREATE TABLE k (n int PRIMARY KEY WITH (IGNORE_DUP_KEY = ON), u int)");
    let insert = "INSERT k WITH (TABLOCK) SELECT value % 9999, value FROM GENERATE_SERIES(1, 140000) OPTION (MAXDOP 3)";
    assert_eq!(client.lines(insert), ["Duplicate key was ignored.", "(9999 rows)"]);
}
