//! Rows and ranges that are read under locks: by hints, and at REPEATABLE READ and SERIALIZABLE.

use super::{Client, World, line};
use pikepole_scheduler::{JoinHandle, Placement, TaskInfo};

/// Keys 1 to 20 by tens, an index on `v`, and nothing on `note`.
const TABLE: &str = "CREATE TABLE t (id int PRIMARY KEY, v int, note varchar(10), INDEX iv (v))
    INSERT t VALUES (1, 10, 'a'), (2, 20, 'b'), (10, 100, 'a'), (20, 200, 'b')";

/// What a statement comes to that may not wait.
fn at_once(client: &mut Client, statement: &str) -> Result<Vec<String>, String> {
    let lines = client.lines(&format!("SET LOCK_TIMEOUT 0 {statement}"));
    match lines.iter().find(|line| line.starts_with("Msg")) {
        Some(error) => Err(error[4..].split(',').next().unwrap_or_default().to_owned()),
        None => Ok(lines.into_iter().filter(|line| !line.ends_with("rows)")).collect()),
    }
}

/// One session has run `held` in a transaction that is open; another then runs each statement, by itself and in vain, or not.
fn check(held: &str, waits: &[&str], goes_on: &[&str]) {
    let mut world = World::new();
    let (mut one, mut two) = (world.client(), world.client());
    one.quiet(TABLE);
    one.quiet(&format!("BEGIN TRAN {held}"));
    for statement in waits {
        assert_eq!(at_once(&mut two, statement), Err("1222".to_owned()), "{held}: {statement}");
    }
    for statement in goes_on {
        let done = at_once(&mut two, &format!("BEGIN TRAN {statement} ROLLBACK"));
        assert!(done.is_ok(), "{held}: {statement}: {done:?}");
    }
    one.quiet("ROLLBACK");
    assert_eq!(one.value("SELECT COUNT(*) FROM t"), "4");
    for statement in waits {
        let done = at_once(&mut two, &format!("BEGIN TRAN {statement} ROLLBACK"));
        assert!(done.is_ok(), "after {held}: {statement}: {done:?}");
    }
}

#[test]
fn rows_are_locked_as_hints_say() {
    let change = ["UPDATE t SET note = 'x' WHERE id = 1", "DELETE t WHERE id = 1", "UPDATE t SET id = 3 WHERE v = 10"];
    let update = "SELECT * FROM t WITH (UPDLOCK) WHERE id = 1";
    let by_index = "SELECT * FROM t WITH (UPDLOCK) WHERE v = 10";
    let scan = "SELECT * FROM t WITH (UPDLOCK, ROWLOCK) WHERE id < 2 AND note = 'a'";
    let share = "SELECT * FROM t WITH (REPEATABLEREAD) WHERE id = 1";
    let elsewhere = "INSERT t VALUES (3, 30, 'c') UPDATE t SET v = 21 WHERE id = 2 DELETE t WHERE id = 10";
    let plain = "SELECT * FROM t SELECT * FROM t WITH (NOLOCK) WHERE id = 1";
    for held in [update, by_index, scan] {
        let waits = [&change[..], &[update, by_index, "SELECT * FROM t WITH (XLOCK) WHERE id = 1"]].concat();
        check(held, &waits, &[elsewhere, plain, share, "SELECT * FROM t WITH (UPDLOCK) WHERE id = 2"]);
    }
    check(share, &[&change[..], &["SELECT * FROM t WITH (XLOCK) WHERE id = 1"]].concat(), &[elsewhere, plain, update]);
    let exclusive = "SELECT * FROM t WITH (XLOCK) WHERE id = 1";
    check(exclusive, &[&change[..], &[update, share, "SELECT * FROM t WITH (READCOMMITTEDLOCK)"]].concat(), &[plain]);
    // A hint that is kept for no longer than the read.
    check("SELECT * FROM t WITH (READCOMMITTEDLOCK)", &[], &[change[0], change[1], update]);
    let whole = "SELECT * FROM t WITH (TABLOCKX)";
    check(whole, &[&change[..], &[update, share, "INSERT t VALUES (3, 30, 'c')"]].concat(), &[plain]);
}

#[test]
fn rows_that_the_condition_leaves_out_are_not_kept_locked() {
    let others = "UPDATE t SET v = 1 WHERE note = 'b' SELECT * FROM t WITH (UPDLOCK) WHERE note = 'b' AND id = 20";
    check("SELECT * FROM t WITH (UPDLOCK) WHERE note = 'a'", &["UPDATE t SET v = 1 WHERE id = 10"], &[others]);
    check("SELECT * FROM t WITH (UPDLOCK) WHERE id = 7", &[], &["INSERT t VALUES (7, 7, '')"]);
}

#[test]
fn ranges_are_locked_with_the_keys_that_no_row_has() {
    let insert = |id: i32| format!("INSERT t VALUES ({id}, {id}0, 'c')");
    let (i5, i6, i9, i15, i21) = (insert(5), insert(6), insert(9), insert(15), insert(21));
    let absent = "SELECT * FROM t WITH (HOLDLOCK) WHERE id = 5";
    let absent_update = "SELECT * FROM t WITH (UPDLOCK, SERIALIZABLE) WHERE id = 5";
    check(absent, &[&i5, "UPDATE t SET id = 5 WHERE id = 1"], &[&i6, absent, absent_update]);
    check(absent_update, &[&i5, absent_update], &[&i6, absent]);
    let between = "SELECT * FROM t WITH (HOLDLOCK) WHERE id BETWEEN 10 AND 20";
    let waits =
        [&i15, "UPDATE t SET v = 1 WHERE id = 10", "DELETE t WHERE id = 20", "UPDATE t SET id = 11 WHERE id = 1"];
    check(between, &waits, &[&i9, &i21, "UPDATE t SET v = 1 WHERE id = 2", between]);
    check("SELECT * FROM t WITH (HOLDLOCK) WHERE id > 10", &[&i15, &i21], &[&i5, "DELETE t WHERE id = 10"]);
    let by_index = "SELECT * FROM t WITH (HOLDLOCK) WHERE v = 100";
    let waits =
        ["INSERT t VALUES (3, 100, '')", "UPDATE t SET v = 100 WHERE id = 1", "UPDATE t SET note = '' WHERE id = 10"];
    check(by_index, &waits, &["INSERT t VALUES (3, 101, '')", "UPDATE t SET note = '' WHERE id = 1", by_index]);
    // Without a key, it is the table.
    let by_text = "SELECT * FROM t WITH (HOLDLOCK) WHERE note = 'zz'";
    check(by_text, &[&i5, "DELETE t WHERE id = 1"], &[by_text, absent, "SELECT * FROM t"]);
    check("SELECT COUNT(*) FROM t WITH (HOLDLOCK)", &[&i5], &["SELECT * FROM t"]);
    let to_update = "SELECT * FROM t WITH (UPDLOCK, HOLDLOCK) WHERE note = 'zz'";
    check(to_update, &[&i5, to_update], &["SELECT * FROM t", by_text]);
}

#[test]
fn readpast_leaves_out_and_nowait_gives_up() {
    let mut world = World::new();
    let (mut one, mut two) = (world.client(), world.client());
    one.quiet(TABLE);
    one.quiet("BEGIN TRAN UPDATE t SET v = 11 WHERE id = 1 SELECT * FROM t WITH (UPDLOCK) WHERE id = 2");
    assert_eq!(two.shown("SELECT id FROM t WITH (UPDLOCK, READPAST)"), ["10", "20"]);
    assert_eq!(two.shown("SELECT id FROM t WITH (READPAST)"), ["2", "10", "20"]);
    assert_eq!(two.shown("SELECT id FROM t WITH (UPDLOCK, READPAST) WHERE id = 2"), [""; 0]);
    assert_eq!(two.lines("BEGIN TRAN DELETE t WITH (READPAST) ROLLBACK"), ["(2 rows)"]);
    assert_eq!(two.lines("BEGIN TRAN UPDATE t WITH (READPAST) SET v = 0 WHERE v < 150 ROLLBACK"), ["(1 rows)"]);
    for source in
        ["t WITH (UPDLOCK, NOWAIT) WHERE id = 2", "t WITH (UPDLOCK, NOWAIT)", "t WITH (XLOCK, NOWAIT) WHERE v = 20"]
    {
        assert!(two.lines(&format!("SELECT id FROM {source}"))[0].starts_with("Msg 1222"), "{source}");
    }
    assert!(two.lines("SELECT id FROM t WITH (READPAST, HOLDLOCK)")[0].starts_with("Msg 650"));
    assert!(two.lines("SELECT id FROM t WITH (NOLOCK, HOLDLOCK)")[0].starts_with("Msg 1047"));
    assert!(two.lines("SELECT id FROM t WITH (NOLOCK, UPDLOCK)")[0].starts_with("Msg 1047"));
    assert!(two.lines("DELETE t WITH (NOLOCK)")[0].starts_with("Msg 1065"));
}

/// Runs a script in a task of its own; its lines when it is awaited.
fn apart(world: &World, mut client: Client, script: String) -> JoinHandle<Vec<String>> {
    let info = TaskInfo { session_id: Some(60), command: "SELECT" };
    world.server.schedulers().spawn(info, Placement::LeastLoaded, async move {
        let mut output = crate::Collected::default();
        client.execute(&script, &mut output).await;
        output.events.iter().filter_map(line).collect()
    })
}

fn ended(world: &World, task: JoinHandle<Vec<String>>) -> Vec<String> {
    world.server.schedulers().block_on(task).expect("no panic")
}

#[test]
fn a_wait_for_a_lock_reads_what_is_newest_then() {
    for (source, shown) in [("WITH (UPDLOCK) WHERE id = 1", "11"), ("WITH (UPDLOCK) WHERE v >= 11 AND id < 2", "11")] {
        let mut world = World::new();
        let (mut one, two) = (world.client(), world.client());
        one.quiet(TABLE);
        one.quiet("BEGIN TRAN UPDATE t SET v = 11 WHERE id = 1");
        let task = apart(&world, two, format!("SET NOCOUNT ON BEGIN TRAN SELECT v FROM t {source} COMMIT"));
        one.quiet("WAITFOR DELAY '00:00:01' COMMIT");
        assert_eq!(ended(&world, task), [shown], "{source}");
    }
}

const SESSIONS: usize = 6;

/// Sessions that all count up random keys of a few, each in its own way; the sum of the counts must be the number of turns.
fn upserts(table: &str, upsert: &str) {
    let mut world = World::new();
    let mut one = world.client();
    one.quiet(table);
    let script = |seed: usize| {
        format!(
            "SET NOCOUNT ON DECLARE @turn int = 0, @k int
            WHILE @turn < 12
            BEGIN
                SET @k = (@turn * 7 + {seed} * (@turn % 3)) % 11
                BEGIN TRAN
                {upsert}
                COMMIT
                SET @turn += 1
            END"
        )
    };
    let tasks: Vec<_> = (0..SESSIONS).map(|seed| (world.client(), seed)).collect();
    let tasks: Vec<_> = tasks.into_iter().map(|(client, seed)| apart(&world, client, script(seed))).collect();
    for task in tasks {
        assert_eq!(ended(&world, task), [""; 0], "{upsert}");
    }
    assert_eq!(one.value("SELECT SUM(n) FROM c"), (SESSIONS * 12).to_string(), "{upsert}");
    assert_eq!(one.value("SELECT COUNT(*) - COUNT(DISTINCT k) FROM c"), "0", "{upsert}");
}

fn all_upserts(table: &str) {
    let pause = "WAITFOR DELAY '00:00:00.003'";
    let insert_first = format!(
        "IF NOT EXISTS (SELECT * FROM c WITH (UPDLOCK, HOLDLOCK) WHERE k = @k)
            BEGIN {pause} INSERT c VALUES (@k, 1) END
        ELSE BEGIN {pause} UPDATE c SET n = n + 1 WHERE k = @k END"
    );
    let update_first = format!(
        "UPDATE c WITH (UPDLOCK, SERIALIZABLE) SET n = n + 1 WHERE k = @k
        IF @@ROWCOUNT = 0 BEGIN {pause} INSERT c VALUES (@k, 1) END"
    );
    let read_first = format!(
        "DECLARE @n int = NULL SET @n = NULL
        SELECT @n = n FROM c WITH (UPDLOCK, HOLDLOCK) WHERE k = @k
        {pause}
        IF @n IS NULL INSERT c VALUES (@k, 1) ELSE UPDATE c SET n = @n + 1 WHERE k = @k"
    );
    let merge = format!(
        "MERGE c WITH (HOLDLOCK) AS c USING (SELECT @k AS k) AS s ON c.k = s.k
            WHEN MATCHED THEN UPDATE SET n = c.n + 1 WHEN NOT MATCHED THEN INSERT VALUES (s.k, 1); {pause}"
    );
    for upsert in [&insert_first, &update_first, &read_first, &merge] {
        upserts(table, upsert);
    }
}

#[test]
fn upserts_by_a_clustered_key_lose_nothing() {
    all_upserts("CREATE TABLE c (k int PRIMARY KEY, n int)");
}

#[test]
fn upserts_by_a_unique_index_lose_nothing() {
    all_upserts("CREATE TABLE c (k int UNIQUE NONCLUSTERED, n int)");
}

#[test]
fn upserts_by_no_key_lose_nothing() {
    all_upserts("CREATE TABLE c (k int, n int)");
}

#[test]
fn each_row_of_a_queue_is_taken_once_and_nobody_waits() {
    let by_delete = "DELETE TOP (1) FROM q WITH (ROWLOCK, READPAST) OUTPUT deleted.id INTO @taken";
    let in_order = ";WITH first AS (SELECT TOP (1) * FROM q WITH (ROWLOCK, READPAST) ORDER BY id)
        DELETE FROM first OUTPUT deleted.id INTO @taken";
    let by_update =
        ";WITH first AS (SELECT TOP (1) * FROM q WITH (ROWLOCK, UPDLOCK, READPAST) WHERE state = 0 ORDER BY id)
        UPDATE first SET state = 1 OUTPUT inserted.id INTO @taken";
    let by_select = "INSERT @taken SELECT TOP (1) id FROM q WITH (UPDLOCK, READPAST) WHERE state = 0 ORDER BY id
        UPDATE q SET state = 1 WHERE id = (SELECT MAX(id) FROM @taken)";
    for take in [by_delete, in_order, by_update, by_select] {
        // What is to be sorted is read, and so locked, as a whole: only a key gives each session its own first row.
        let keys: &[&str] = if take == by_delete { &["PRIMARY KEY", ""] } else { &["PRIMARY KEY"] };
        for key in keys {
            let mut world = World::new();
            let mut one = world.client();
            one.quiet(&format!(
                "CREATE TABLE q (id int {key}, state int) CREATE TABLE done (id int)
                INSERT q SELECT value, 0 FROM GENERATE_SERIES(1, 60)"
            ));
            let script = format!(
                "SET NOCOUNT ON SET LOCK_TIMEOUT 0 DECLARE @turn int = 0 DECLARE @taken TABLE (id int)
                WHILE @turn < 10
                BEGIN
                    BEGIN TRAN
                    DELETE @taken
                    {take}
                    WAITFOR DELAY '00:00:00.002'
                    INSERT done SELECT id FROM @taken
                    IF @turn % 4 = 3 ROLLBACK ELSE COMMIT
                    SET @turn += 1
                END"
            );
            let clients: Vec<_> = (0..SESSIONS).map(|_| world.client()).collect();
            let tasks: Vec<_> = clients.into_iter().map(|client| apart(&world, client, script.clone())).collect();
            for task in tasks {
                assert_eq!(ended(&world, task), [""; 0], "{take}");
            }
            // Eight of ten turns are kept.
            assert_eq!(one.value("SELECT COUNT(*) FROM done"), (SESSIONS * 8).to_string(), "{take} {key}");
            assert_eq!(one.value("SELECT COUNT(DISTINCT id) FROM done"), (SESSIONS * 8).to_string(), "{take} {key}");
        }
    }
}

#[test]
fn locks_are_shown_and_deadlocks_among_them_found() {
    use pikepole_engine::{LockMode, LockedThing};
    let mut world = World::new();
    let (mut one, two) = (world.client(), world.client());
    one.quiet(TABLE);
    one.quiet("BEGIN TRAN SELECT * FROM t WITH (UPDLOCK) WHERE id = 1 SELECT * FROM t WITH (HOLDLOCK) WHERE id > 15");
    let locks = world.server.database("master").expect("it is there").locks();
    let keys: Vec<LockMode> =
        locks.iter().filter(|lock| matches!(lock.thing, LockedThing::Keys(..))).map(|lock| lock.mode).collect();
    assert!(keys.contains(&LockMode::U) && keys.contains(&LockMode::RangeSS) && keys.len() == 2, "{locks:?}");
    // Each has locked what the other wants.
    let task = apart(
        &world,
        two,
        "SET NOCOUNT ON BEGIN TRAN SELECT id FROM t WITH (UPDLOCK) WHERE id = 2 INSERT t VALUES (30, 3, '') COMMIT"
            .into(),
    );
    one.quiet("WAITFOR DELAY '00:00:01'");
    let database = world.server.database("master").expect("it is there");
    let waits: Vec<_> = database.locks().into_iter().filter(|lock| !lock.is_granted).collect();
    assert_eq!((waits.len(), waits[0].mode, waits[0].blocker), (1, LockMode::RangeIN, Some(51)), "{waits:?}");
    let lines = one.lines("UPDATE t SET v = 0 WHERE id = 2");
    assert!(lines[0].starts_with("Msg 1205, Level 13"), "{lines:?}");
    assert_eq!(ended(&world, task), ["2"]);
    assert!(database.locks().iter().all(|lock| !matches!(lock.thing, LockedThing::Keys(..))));
}

#[test]
fn nolock_sees_what_nobody_has_committed() {
    let mut world = World::new();
    let (mut one, mut two) = (world.client(), world.client());
    one.quiet(TABLE);
    one.quiet(
        "BEGIN TRAN INSERT t VALUES (50, 50, 'x') UPDATE t SET note = 'dirty' WHERE id = 1 DELETE t WHERE id = 2",
    );
    assert_eq!(two.value("SELECT COUNT(*) FROM t WITH (NOLOCK) WHERE id IN (2, 50)"), "1");
    assert_eq!(two.value("SELECT note FROM t WITH (READUNCOMMITTED) WHERE id = 1"), "dirty");
    assert_eq!(two.value("SELECT COUNT(*) FROM t WITH (NOLOCK) WHERE v = 50"), "1", "through an index");
    assert_eq!(two.value("SELECT COUNT(*) FROM t WITH (READCOMMITTED) WHERE id = 50"), "0");
    two.quiet("SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED");
    assert_eq!(two.value("SELECT COUNT(*) FROM t WHERE id = 50"), "1");
    assert_eq!(two.value("SELECT COUNT(*) FROM t WITH (READCOMMITTED) WHERE id = 50"), "0", "the hint decides");
    one.quiet("ROLLBACK");
    assert_eq!(two.value("SELECT COUNT(*) FROM t WHERE id = 50"), "0");
}
