//! Keys changed as a set, beside other sessions and crashes.

use super::World;
use super::crash::{after_power_loss, world};
use pikepole_machine::SimulatedDisk;

#[test]
fn others_see_the_old_keys_until_the_new_ones_are_committed() {
    let mut world = World::new();
    let (mut client, mut other) = (world.client(), world.client());
    client.quiet(
        "CREATE TABLE t (id int PRIMARY KEY, u int UNIQUE, n int)
         INSERT t SELECT value, value * 10, value FROM GENERATE_SERIES(1, 500)
         BEGIN TRAN UPDATE t SET id = id + 1, u = u + 10",
    );
    assert_eq!(other.shown("SELECT MIN(id), MAX(id), COUNT(*), SUM(u) FROM t"), ["1|500|500|1252500"]);
    assert_eq!(client.shown("SELECT MIN(id), MAX(id), COUNT(*), SUM(u) FROM t"), ["2|501|500|1257500"]);
    other.quiet("SET LOCK_TIMEOUT 0");
    for taken in ["INSERT t VALUES (1, 1, 1)", "INSERT t VALUES (501, 1, 1)", "UPDATE t SET id = 0 WHERE id = 1"] {
        assert!(other.lines(taken)[0].starts_with("Msg 1222"), "{taken}");
    }
    client.quiet("COMMIT");
    other.quiet("INSERT t VALUES (1, 1, 1)");
    assert!(other.lines("INSERT t VALUES (501, 2, 1)")[0].starts_with("Msg 2627"));
    assert_eq!(other.shown("SELECT COUNT(*) FROM t WHERE u = id * 10 AND n = id - 1"), ["500"]);
}

#[test]
fn a_violation_undoes_the_whole_statement_and_leaves_nothing_for_the_next() {
    let mut client = World::new().client();
    client.quiet(
        "CREATE TABLE t (id int PRIMARY KEY, u int, s varchar(max)) CREATE UNIQUE INDEX ux ON t (u)
         INSERT t SELECT value, value, REPLICATE(CAST('x' AS varchar(max)), 9000) FROM GENERATE_SERIES(1, 40)",
    );
    for _ in 0..2 {
        assert!(client.lines("UPDATE t SET id = id + 100, u = u / 2")[0].contains("'ux'"));
        assert!(client.lines("UPDATE t SET id = id / 2")[0].starts_with("Msg 2627"));
        assert_eq!(client.shown("SELECT SUM(id), SUM(u), SUM(LEN(s)), COUNT(*) FROM t"), ["820|820|360000|40"]);
    }
    assert_eq!(client.lines("UPDATE t SET id = id + 1, u = 41 - u"), ["(40 rows)"]);
    assert_eq!(
        client.shown("SELECT SUM(id), SUM(u), SUM(LEN(s)), COUNT(*) FROM t SELECT id FROM t WHERE u = 1"),
        ["860|820|360000|40", "41"]
    );
}

#[test]
fn after_a_crash_all_keys_are_the_old_ones_or_all_are_the_new_ones() {
    let mut seen = Vec::new();
    for (seed, crash_at, commits) in [(1, None, true), (2, None, false), (3, Some(3), true), (4, Some(1), true)] {
        let disk = SimulatedDisk::new(seed);
        let mut before = world(&disk);
        let mut client = before.client();
        client.quiet(
            "CREATE TABLE t (id int PRIMARY KEY, u int UNIQUE)
             INSERT t SELECT value, value FROM GENERATE_SERIES(1, 3000) CHECKPOINT",
        );
        if let Some(crash_at) = crash_at {
            disk.crash_after_ops(crash_at);
        }
        let end = if commits { "COMMIT" } else { "" };
        let told = client.lines(&format!("BEGIN TRAN UPDATE t SET id = id + 1, u = u + 1 {end}"));
        let committed = commits && !disk.is_off() && told == ["(3000 rows)"];
        let mut world = after_power_loss(&disk, seed, before, client);
        let mut client = world.client();
        let found = client.value("SELECT MIN(id), MAX(id), MIN(u), MAX(u), COUNT(*) FROM t WHERE id = u");
        assert!(found == "1|3000|1|3000|3000" || found == "2|3001|2|3001|3000", "{found}");
        assert!(!committed || found.starts_with('2'), "what was committed is lost");
        assert!(commits || found.starts_with('1'), "what was not committed is there");
        seen.push(found.starts_with('2'));
        assert_eq!(client.lines("UPDATE t SET id = id + 1, u = u + 1"), ["(3000 rows)"]);
    }
    assert!(seen.contains(&true) && seen.contains(&false), "{seen:?}");
}
