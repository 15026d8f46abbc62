//! Deadlocks from outside: who is the victim, what is kept of it, circles through application locks, KILL of who waits.

mod support;

use pikepole_query::Collected;
use pikepole_scheduler::{JoinHandle, Placement};
use pikepole_session::Session;
use pikepole_types::Value;
use support::{Fixture, numbers};

impl Fixture {
    /// Runs a batch in a task of its own, to where it waits.
    fn begin(&self, session: &mut Session, mut apart: Session, sql: &'static str) -> JoinHandle<(Session, Collected)> {
        let info = apart.task_info();
        let task = self.server.schedulers().spawn(info, Placement::LeastLoaded, async move {
            let mut output = Collected::default();
            apart.run(sql, &mut [], &mut output).await;
            (apart, output)
        });
        self.run(session, "WAITFOR DELAY '00:00:01'");
        task
    }

    fn end(&self, task: JoinHandle<(Session, Collected)>) -> (Session, Vec<i32>) {
        let (session, output) = self.server.schedulers().block_on(task).expect("no panic");
        (session, numbers(&output))
    }
}

fn texts(output: &Collected) -> Vec<Vec<String>> {
    let text = |value: &Value| value.as_str().map_or_else(|| format!("{value:?}"), str::to_owned);
    output.rows().iter().map(|row| row.iter().map(text).collect()).collect()
}

const TABLES: &str = "CREATE TABLE t1 (id int PRIMARY KEY, v int) CREATE TABLE t2 (id int PRIMARY KEY, v int)
    INSERT t1 VALUES (1, 1), (2, 2) INSERT t2 VALUES (1, 1), (2, 2)";

#[test]
fn a_deadlock_is_kept_with_its_graph() {
    let fixture = Fixture::new(3);
    let (mut one, mut two) = (fixture.session(), fixture.session());
    fixture.run(&mut one, TABLES);
    // The one that has logged less is not the one that closes the circle.
    fixture.run(&mut one, "BEGIN TRAN UPDATE t1 SET v = 10 INSERT t1 VALUES (3, 3), (4, 4)");
    fixture.run(&mut two, "BEGIN TRAN UPDATE t2 SET v = 20 WHERE id = 1");
    let task = fixture.begin(&mut one, two, "UPDATE t1 SET v = 21 WHERE id = 1 -- of <two> & \"more\"");
    let closed = fixture.run(&mut one, "UPDATE t2 SET v = 11 WHERE id = 1");
    assert_eq!(numbers(&closed), [0_i32; 0]);
    let (_two, errors) = fixture.end(task);
    assert_eq!(errors, [1205]);
    let output = fixture.run(
        &mut one,
        "COMMIT
        SELECT CONVERT(varchar(10), victim_session_id), session_ids, CONVERT(varchar(10), CONVERT(int, found_by_monitor)),
            LEFT(deadlock_graph.value('(/deadlock/victim-list/victimProcess/@id)[1]', 'varchar(40)'), 9),
            CONVERT(nvarchar(max), deadlock_graph)
        FROM sys.dm_pikepole_deadlocks",
    );
    let rows = texts(&output);
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!(rows[0][..4], ["52", "51, 52", "0", "process52"]);
    let graph = &rows[0][4];
    let count = |text: &str| graph.matches(text).count();
    assert_eq!(
        (count("<process "), count("<xactlock "), count("<owner-list>"), count("<waiter-list>")),
        (2, 2, 2, 2),
        "{graph}"
    );
    for id in ["process51_1", "process52_2"] {
        assert_eq!(count(&format!("<owner id=\"{id}\" mode=\"X\"/>")), 1, "{graph}");
        assert_eq!(count(&format!("<waiter id=\"{id}\" mode=\"X\" requestType=\"wait\"/>")), 1, "{graph}");
    }
    assert_eq!(count("<inputbuf>UPDATE t1 SET v = 21 WHERE id = 1 -- of &lt;two&gt; &amp; "), 1, "{graph}");
    let counted = fixture.run(
        &mut one,
        "SELECT CONVERT(varchar(20), MAX(cntr_value)) FROM sys.dm_os_performance_counters
        WHERE counter_name LIKE 'Number of Deadlocks/sec%'",
    );
    assert_eq!(texts(&counted), [["1"]]);
}

#[test]
fn deadlock_priority_comes_before_the_log() {
    let fixture = Fixture::new(3);
    let (mut one, mut two) = (fixture.session(), fixture.session());
    fixture.run(&mut one, TABLES);
    fixture.run(&mut one, "SET DEADLOCK_PRIORITY LOW BEGIN TRAN UPDATE t1 SET v = 10 INSERT t1 VALUES (3, 3), (4, 4)");
    fixture.run(&mut two, "SET DEADLOCK_PRIORITY 3 BEGIN TRAN UPDATE t2 SET v = 20 WHERE id = 1");
    let task = fixture.begin(&mut one, two, "UPDATE t1 SET v = 21 WHERE id = 1 COMMIT");
    assert_eq!(numbers(&fixture.run(&mut one, "UPDATE t2 SET v = 11 WHERE id = 1")), [1205]);
    let (_two, errors) = fixture.end(task);
    assert_eq!(errors, [0_i32; 0]);
}

#[test]
fn circles_through_application_locks_of_the_session_are_found() {
    let fixture = Fixture::new(3);
    let (mut one, mut two) = (fixture.session(), fixture.session());
    fixture.run(&mut one, TABLES);
    fixture.run(&mut one, "BEGIN TRAN UPDATE t1 SET v = 10");
    fixture.run(&mut two, "EXEC sp_getapplock 'a', 'Exclusive', 'Session'");
    let task = fixture.begin(&mut one, two, "UPDATE t1 SET v = 21 WHERE id = 1");
    // Its transaction has logged more, so the other one, which has the lock, is the victim; it keeps the lock of its session.
    let task_one = fixture.begin(
        &mut fixture.session(),
        one,
        "DECLARE @r int EXEC @r = sp_getapplock 'a', 'Exclusive', 'Session', 5000 IF @r = -1 ROLLBACK",
    );
    let (_two, errors) = fixture.end(task);
    assert_eq!(errors, [1205]);
    assert_eq!(fixture.end(task_one).1, [0_i32; 0]);
}

#[test]
fn a_session_is_not_in_its_own_way() {
    let fixture = Fixture::new(3);
    let mut one = fixture.session();
    let sql = "SET LOCK_TIMEOUT 100 BEGIN TRAN DECLARE @a int, @b int EXEC @a = sp_getapplock 'a', 'IntentExclusive', 'Transaction'
        EXEC @b = sp_getapplock 'a', 'Exclusive', 'Session' SELECT CONCAT(@a, ' ', @b)";
    assert_eq!(texts(&fixture.run(&mut one, sql)), [["0 0"]]);
    assert_eq!(
        texts(&fixture.run(&mut one, "SELECT CONCAT(APPLOCK_TEST('public', 'a', 'Shared', 'Transaction'), '')")),
        [["1"]]
    );
}

#[test]
fn definitions_see_what_was_defined_while_they_waited() {
    let fixture = Fixture::new(3);
    let (mut one, two) = (fixture.session(), fixture.session());
    fixture.run(&mut one, TABLES);
    fixture.run(&mut one, "BEGIN TRAN ALTER TABLE t1 ADD a int NULL");
    let task = fixture.begin(&mut one, two, "ALTER TABLE t1 ADD b int NULL");
    fixture.run(&mut one, "COMMIT");
    assert_eq!(fixture.end(task).1, [0_i32; 0]);
    let columns =
        fixture.run(&mut one, "SELECT name FROM sys.columns WHERE object_id = OBJECT_ID('t1') ORDER BY column_id");
    assert_eq!(texts(&columns), [["id"], ["v"], ["a"], ["b"]]);
    // What has changed nothing keeps nobody waiting.
    fixture.run(&mut one, "BEGIN TRAN DROP TABLE IF EXISTS nothing");
    let mut three = fixture.session();
    assert_eq!(numbers(&fixture.run(&mut three, "SET LOCK_TIMEOUT 100 CREATE TABLE t3 (a int)")), [0_i32; 0]);
    assert_eq!(numbers(&fixture.run(&mut one, "CREATE TABLE t1 (a int)")), [2714]);
    assert_eq!(numbers(&fixture.run(&mut three, "CREATE TABLE t4 (a int)")), [0_i32; 0]);
}

#[test]
fn kill_ends_a_waiting_session() {
    for (holds, waits) in [
        ("BEGIN TRAN UPDATE t1 SET v = 10", "UPDATE t1 SET v = 21 WHERE id = 1"),
        ("BEGIN TRAN UPDATE t1 SET v = 10", "CREATE INDEX i ON t1 (v)"),
        ("BEGIN TRAN UPDATE t1 SET v = 10", "ALTER TABLE t1 ADD a int NULL"),
        ("BEGIN TRAN UPDATE t1 SET v = 10", "INSERT t1 WITH (TABLOCK) SELECT id + 10, v FROM t2"),
        ("BEGIN TRAN ALTER TABLE t1 ADD a int NULL", "SELECT * FROM t1"),
        ("BEGIN TRAN SELECT * FROM t1 WITH (HOLDLOCK) WHERE id > 1", "INSERT t1 VALUES (9, 9)"),
        ("BEGIN TRAN EXEC sp_getapplock 'a', 'Exclusive'", "EXEC sp_getapplock 'a', 'Exclusive', 'Session'"),
    ] {
        let fixture = Fixture::new(3);
        let (mut one, two) = (fixture.session(), fixture.session());
        fixture.run(&mut one, TABLES);
        assert_eq!(numbers(&fixture.run(&mut one, holds)), [0_i32; 0], "{holds}");
        let task = fixture.begin(&mut one, two, waits);
        assert!(!task.is_finished(), "{waits} waits");
        fixture.run(&mut one, "KILL 52");
        let (_two, errors) = fixture.end(task);
        assert_eq!(errors.len(), 1, "{waits}: {errors:?}");
    }
}
