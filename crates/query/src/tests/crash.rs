//! What definitions say is there after a crash, and what statements that were under way have left; what sessions had of their own is not.

use super::World;
use crate::PlanCache;
use pikepole_engine::{SchedulerChoice, Server, ServerOptions};
use pikepole_machine::{Disk, SimulatedDisk};

pub(super) fn world(disk: &SimulatedDisk) -> World {
    let options = ServerOptions {
        disk: Disk::simulated(disk.clone()),
        schedulers: SchedulerChoice::Simulated { seed: 7, count: 2 },
        small: true,
        log_bytes_max: Some(256 << 20),
        ..ServerOptions::new("/server")
    };
    World { server: Server::open(options).expect("the folder is usable"), plans: PlanCache::new(), next_session: 51 }
}

/// What there is after the power fails while `before` runs and its sessions, `clients`, are connected.
pub(super) fn after_power_loss<C>(disk: &SimulatedDisk, seed: u64, before: World, clients: C) -> World {
    disk.power_off();
    let after = disk.crash(seed);
    drop(clients);
    drop(before);
    world(&after)
}

#[test]
fn rules_outlive_a_crash() {
    let disk = SimulatedDisk::new(3);
    let mut before = world(&disk);
    let mut client = before.client();
    client.quiet(
        "CREATE TABLE p (id int PRIMARY KEY) INSERT p VALUES (1), (2)
         CREATE TABLE c (pid int CONSTRAINT fk REFERENCES p ON DELETE CASCADE, n int CONSTRAINT ck CHECK (n > 0), twice AS n * 2, v rowversion)
         CREATE UNIQUE INDEX u ON c (n) WHERE n IS NOT NULL
         INSERT c (pid, n) VALUES (1, 1), (2, NULL), (2, NULL)
         GO
         CREATE FUNCTION half (@x int) RETURNS int AS BEGIN RETURN @x / 2 END
         GO
         CREATE TABLE #own (a int) INSERT #own VALUES (1)
         SELECT pid, n INTO copied FROM c WHERE n IS NOT NULL",
    );
    client.quiet(
        "BEGIN TRAN ALTER TABLE c ADD CONSTRAINT late CHECK (pid < 0 OR pid > 0) INSERT c (pid, n) VALUES (2, 7)",
    );
    let last = client.value("SELECT CONVERT(varchar(20), MAX(v), 1) FROM c");
    let mut world = after_power_loss(&disk, 9, before, client);
    let mut client = world.client();
    assert_eq!(
        client.shown("SELECT pid, n, twice FROM c ORDER BY pid, n SELECT dbo.half(9) SELECT pid, n FROM copied"),
        ["1|1|2", "2|NULL|NULL", "2|NULL|NULL", "4", "1|1"]
    );
    assert!(client.lines("INSERT c (pid, n) VALUES (9, 3)")[0].contains("\"fk\""));
    assert!(client.lines("INSERT c (pid, n) VALUES (1, -3)")[0].contains("\"ck\""));
    assert!(client.lines("INSERT c (pid, n) VALUES (1, 1)")[0].starts_with("Msg 2601"));
    assert!(client.lines("ALTER TABLE c DROP CONSTRAINT late")[0].starts_with("Msg 3728"));
    assert!(client.lines("SELECT * FROM #own")[0].starts_with("Msg 208"));
    client.quiet("INSERT c (pid, n) VALUES (2, 5)");
    let grown = format!("SELECT CASE WHEN MAX(v) > CONVERT(binary(8), '{last}', 1) THEN 'grown' END FROM c");
    assert_eq!(client.value(&grown), "grown");
    client.quiet("DELETE p WHERE id = 2 CREATE TABLE #own (b int) INSERT #own VALUES (2)");
    assert_eq!(client.shown("SELECT COUNT(*) FROM c SELECT b FROM #own"), ["1", "2"]);
}

#[test]
fn numbers_of_an_added_identity_column_are_not_given_again_after_a_crash() {
    let disk = SimulatedDisk::new(4);
    let mut before = world(&disk);
    let mut client = before.client();
    client.quiet("CREATE TABLE t (a int) INSERT t VALUES (1), (2), (3) ALTER TABLE t ADD id int IDENTITY");
    client.quiet("CREATE TABLE late (a int) INSERT late VALUES (1) BEGIN TRAN ALTER TABLE late ADD id int IDENTITY");
    let mut world = after_power_loss(&disk, 5, before, client);
    let mut client = world.client();
    assert_eq!(client.shown("SELECT a, id FROM t ORDER BY id SELECT * FROM late"), ["1|1", "2|2", "3|3", "1"]);
    client.quiet("INSERT t (a) VALUES (4)");
    assert_eq!(client.value("SELECT CASE WHEN id > 3 THEN 'new' END FROM t WHERE a = 4"), "new");
    client.quiet("ALTER TABLE late ADD id int IDENTITY");
    assert_eq!(client.shown("SELECT * FROM late"), ["1|1"]);
}

#[test]
fn identity_values_that_were_given_are_not_dealt_after_a_crash() {
    let disk = SimulatedDisk::new(6);
    let mut before = world(&disk);
    let mut client = before.client();
    client.quiet(
        "CREATE TABLE given (id int IDENTITY PRIMARY KEY, v int) CREATE TABLE dealt (id int IDENTITY(1, 2), v int)",
    );
    client
        .quiet("SET IDENTITY_INSERT given ON INSERT given (id, v) VALUES (5, 0), (9, 0) SET IDENTITY_INSERT given OFF");
    client.quiet("INSERT dealt VALUES (0) SET IDENTITY_INSERT dealt ON INSERT dealt (id, v) SELECT 5001, 0");
    client.quiet("SET IDENTITY_INSERT dealt OFF CREATE TABLE last (id bigint IDENTITY(9223372036854775807, 1), v int)");
    let mut world = after_power_loss(&disk, 7, before, client);
    let mut client = world.client();
    client.quiet("INSERT given VALUES (1) INSERT dealt VALUES (1)");
    assert_eq!(client.value("SELECT CASE WHEN id > 9 THEN 'new' END FROM given WHERE v = 1"), "new");
    assert_eq!(client.value("SELECT CASE WHEN id > 5001 AND id % 2 = 1 THEN 'new' END FROM dealt WHERE v = 1"), "new");
    assert!(client.lines("INSERT last VALUES (1)")[0].starts_with("Msg 8115"));
}

#[test]
fn a_parallel_insert_into_a_table_with_keys_is_there_whole_or_not_at_all() {
    let (mut whole, mut cut) = (0, 0);
    for (seed, crash_at) in [(5, Some(40)), (6, Some(160)), (7, Some(420)), (8, None)] {
        let disk = SimulatedDisk::new(seed);
        let mut before = world(&disk);
        let mut client = before.client();
        client.quiet("CREATE TABLE t (n bigint NOT NULL PRIMARY KEY, v int, INDEX ix (v)) INSERT t VALUES (-1, 3)");
        if let Some(crash_at) = crash_at {
            disk.crash_after_ops(crash_at);
        }
        let insert =
            "INSERT t SELECT value * 7919 % 262147, value % 8 FROM GENERATE_SERIES(1, 140000) OPTION (MAXDOP 3)";
        let committed = client.lines(insert) == ["(140000 rows)"];
        let crashed = disk.is_off();
        assert!(super::parallel::waits_of(&client, "CXCONSUMER") > 0 || crashed);
        let mut world = after_power_loss(&disk, seed, before, client);
        let mut client = world.client();
        let counts = client.lines("SELECT COUNT(*), SUM(n) FROM t SELECT COUNT(*) FROM t WHERE v = 3");
        if committed || counts[0].starts_with("140001") {
            whole += 1;
            assert_eq!(
                (counts[0].split('|').next(), &*counts[2]),
                (Some("140001"), "17501"),
                "crash after {crash_at:?}"
            );
        } else {
            cut += 1;
            assert_eq!((&*counts[0], &*counts[2]), ("1|-1", "1"), "crash after {crash_at:?}");
        }
        // The same rows find room.
        client.quiet("DELETE t");
        assert_eq!(client.lines(insert), ["(140000 rows)"]);
    }
    assert!(whole > 0 && cut > 1, "{whole} whole, {cut} cut short");
}

#[test]
fn what_reaches_another_database_outlives_a_crash_as_a_whole() {
    let disk = SimulatedDisk::new(4);
    let mut before = world(&disk);
    let (mut client, mut other) = (before.client(), before.client());
    client.quiet(
        "CREATE DATABASE far
         GO
         CREATE SCHEMA s
         GO
         CREATE TABLE far..t (id int IDENTITY PRIMARY KEY, n int) CREATE TABLE moved (n int) INSERT moved VALUES (1)
         CREATE SYNONYM near FOR far.dbo.t CREATE SYNONYM gone FOR far..t DROP SYNONYM gone
         ALTER SCHEMA s TRANSFER moved
         BEGIN TRAN INSERT near (n) VALUES (1), (2) CREATE TABLE ##g (a int) INSERT ##g VALUES (1) COMMIT
         ALTER INDEX ALL ON far..t REBUILD",
    );
    other.quiet("BEGIN TRAN INSERT near (n) VALUES (3)");
    client.quiet("BEGIN TRAN CREATE SYNONYM lost FOR far..t");
    let mut world = after_power_loss(&disk, 9, before, (client, other));
    let mut client = world.client();
    assert_eq!(client.shown("SELECT n FROM near ORDER BY n SELECT n FROM s.moved"), ["1", "2", "1"]);
    for name in ["lost", "gone", "moved", "##g"] {
        assert!(client.lines(&format!("SELECT * FROM {name}"))[0].starts_with("Msg 208"), "{name}");
    }
    client.quiet("INSERT near (n) VALUES (9) CREATE TABLE ##g (a int) CREATE SYNONYM gone FOR s.moved");
    assert_eq!(client.shown("SELECT COUNT(*) FROM far..t SELECT n FROM gone"), ["3", "1"]);
}

#[test]
fn an_index_that_workers_build_is_there_whole_or_not_at_all() {
    let (mut whole, mut cut) = (0, 0);
    for (seed, crash_at) in [(11, Some(4)), (12, Some(20)), (13, Some(35)), (14, None)] {
        let disk = SimulatedDisk::new(seed);
        let mut before = world(&disk);
        let mut client = before.client();
        client.quiet(
            "CREATE TABLE t (n int NOT NULL, pad varchar(2000), INDEX ix (n))
             INSERT t SELECT value * 7919 % 15013, REPLICATE('x', 1400) FROM GENERATE_SERIES(1, 1000)",
        );
        if let Some(crash_at) = crash_at {
            disk.crash_after_ops(crash_at);
        }
        let make = "ALTER TABLE t ADD CONSTRAINT pk PRIMARY KEY (n) WITH (MAXDOP = 3)";
        let committed = client.lines(make).is_empty();
        let mut world = after_power_loss(&disk, seed, before, client);
        let mut client = world.client();
        let counts = "SELECT COUNT(*), SUM(n) FROM t SELECT COUNT(*) FROM t WHERE n BETWEEN 1 AND 15013";
        let expected = client.lines(counts);
        assert!(expected[0].starts_with("1000|"), "crash after {crash_at:?}: {expected:?}");
        let is_there = client.lines("INSERT t VALUES (7919, '')")[0].starts_with("Msg 2627");
        assert!(is_there || !committed, "crash after {crash_at:?}");
        if is_there {
            whole += 1;
        } else {
            cut += 1;
            client.quiet("DELETE t WHERE pad = ''");
            client.quiet(make);
        }
        assert_eq!(client.lines(counts), expected);
    }
    assert!(whole > 0 && cut > 0, "{whole} whole, {cut} cut short");
}

#[test]
fn triggers_outlive_a_crash() {
    let disk = SimulatedDisk::new(5);
    let mut before = world(&disk);
    let mut client = before.client();
    client.quiet(
        "CREATE TABLE t (a int) CREATE TABLE told (a int, b varchar(20))
         GO
         CREATE TRIGGER kept ON t AFTER INSERT, DELETE AS
         INSERT told SELECT a, 'kept' FROM inserted UNION ALL SELECT -a, 'kept' FROM deleted
         GO
         CREATE TRIGGER quiet ON t AFTER INSERT AS INSERT told SELECT a, 'quiet' FROM inserted
         GO
         CREATE TRIGGER gone ON t AFTER INSERT AS INSERT told SELECT a, 'gone' FROM inserted
         GO
         DISABLE TRIGGER quiet ON t DROP TRIGGER gone
         CREATE TABLE away (a int)
         GO
         CREATE TRIGGER with_its_table ON away AFTER INSERT AS PRINT 'away'
         GO
         DROP TABLE away
         INSERT t VALUES (1)
         GO
         BEGIN TRANSACTION
         GO
         CREATE TRIGGER uncommitted ON t AFTER INSERT AS INSERT told SELECT a, 'uncommitted' FROM inserted
         GO
         INSERT t VALUES (2)",
    );
    let mut world = after_power_loss(&disk, 11, before, client);
    let mut client = world.client();
    client.quiet("INSERT t VALUES (3) DELETE t WHERE a = 1");
    assert_eq!(client.shown("SELECT a, b FROM told ORDER BY a"), ["-1|kept", "1|kept", "3|kept"]);
    assert!(client.lines("CREATE TRIGGER kept ON t AFTER INSERT AS PRINT 'x'")[0].starts_with("Msg 2714"));
    client.quiet("ENABLE TRIGGER ALL ON t DELETE told INSERT t VALUES (4)");
    assert_eq!(client.shown("SELECT a, b FROM told ORDER BY b"), ["4|kept", "4|quiet"]);
}
