//! Sessions from outside: parameters, what outlives a batch, bad input, cancelling, leaving with a transaction open.

mod support;

use pikepole_contention::sync::atomic::Ordering;
use pikepole_machine::SimulatedDisk;
use pikepole_query::Collected;
use pikepole_scheduler::Placement;
use pikepole_session::{Parameter, Session, SessionOptions};
use pikepole_types::{Length, SqlError, SqlType, Value};
use std::fmt::Write;
use std::sync::Arc;
use support::{Fixture, numbers};

fn only_error(output: &Collected) -> SqlError {
    assert_eq!(output.errors().len(), 1, "{:?}", output.errors());
    output.errors()[0].clone()
}

fn scalar(output: &Collected) -> Value {
    output.rows().first().and_then(|row| row.first()).cloned().unwrap_or(Value::Null)
}

#[test]
fn parameters_are_variables_and_come_back() {
    let fixture = Fixture::new(3);
    let mut session = fixture.session();
    let parameter =
        |name: &str, value, ty, output| Parameter { name: name.to_string(), value, ty, output, table: None };
    let mut parameters = [
        parameter("@a", Value::Int(20), SqlType::Int, false),
        parameter("@b", Value::Int(1), SqlType::Int, true),
        parameter("@text", Value::from("täxt"), SqlType::NVarChar(Length::Limit(4000)), true),
        parameter("@none", Value::Null, SqlType::Null, true),
    ];
    let sql = "SELECT @a + @b, @text, @none; SET @b = @a * 2; SET @none = 'now'";
    for _ in 0..2 {
        let output = fixture.run_with(&mut session, sql, &mut parameters);
        assert_eq!(numbers(&output), [0_i32; 0]);
        assert_eq!(output.rows().len(), 1);
        assert_eq!(parameters[1].value, Value::Int(40));
        assert_eq!(parameters[2].value, Value::from("täxt"));
        assert_eq!(parameters[3].value, Value::from("now"));
    }
}

#[test]
fn state_outlives_a_batch() {
    let fixture = Fixture::new(3);
    let mut session = fixture.session();
    fixture.run(&mut session, "CREATE TABLE t (id int PRIMARY KEY); SET NOCOUNT ON; BEGIN TRAN; INSERT t VALUES (1)");
    let output = fixture.run(&mut session, "SELECT @@TRANCOUNT");
    assert_eq!(scalar(&output), Value::Int(1));
    let failed = fixture.run(&mut session, "INSERT t VALUES (1)");
    assert_eq!(numbers(&failed), [2627]);
    assert_eq!(scalar(&fixture.run(&mut session, "SELECT @@ERROR")), Value::Int(2627));
    let unparsed = fixture.run(&mut session, "SELECT FROM");
    assert_eq!(numbers(&unparsed), [156]);
    assert_eq!(scalar(&fixture.run(&mut session, "SELECT @@ERROR")), Value::Int(156));
}

#[test]
fn a_session_that_goes_away_rolls_back() {
    let fixture = Fixture::new(3);
    let mut first = fixture.session();
    let mut second = fixture.session();
    assert_eq!((first.id(), second.id()), (51, 52));
    fixture.run(&mut first, "CREATE TABLE t (id int PRIMARY KEY)");
    fixture.run(&mut first, "BEGIN TRAN; INSERT t VALUES (1)");
    drop(first);
    fixture.server.schedulers().run_until_idle();
    let output = fixture.run(&mut second, "INSERT t VALUES (1); SELECT COUNT(*) FROM t");
    assert_eq!(numbers(&output), [0_i32; 0]);
    let third = fixture.session();
    assert_eq!(third.id(), 51, "the number is free again");
    fixture.run(&mut second, "BEGIN TRAN; INSERT t VALUES (2)");
    fixture.server.schedulers().block_on(second.close());
    let mut fourth = fixture.session();
    assert_eq!(scalar(&fixture.run(&mut fourth, "SELECT COUNT(*) FROM t")), Value::Int(1));
}

#[test]
fn a_batch_can_be_cancelled() {
    let fixture = Fixture::new(3);
    let mut session = fixture.session();
    let switch = session.cancel_switch();
    let info = session.task_info();
    let running = fixture.server.schedulers().spawn(info, Placement::LeastLoaded, async move {
        let mut output = Collected::default();
        session.run("WHILE 1 = 1 DECLARE @i int", &mut [], &mut output).await;
        (session, output)
    });
    switch.store(true, Ordering::Relaxed);
    let (mut session, output) = fixture.server.schedulers().block_on(running).expect("no panic");
    assert_eq!(output.errors().len(), 1);
    switch.store(false, Ordering::Relaxed);
    assert_eq!(scalar(&fixture.run(&mut session, "SELECT 7")), Value::Int(7));
}

#[test]
fn that_reads_lock_survives_restarts_and_restores() {
    let disk = SimulatedDisk::new(3);
    let fixture = Fixture::on(disk.clone(), 3);
    let mut session = fixture.session();
    for sql in [
        "CREATE DATABASE d",
        "ALTER DATABASE d SET READ_COMMITTED_SNAPSHOT OFF",
        "CREATE TABLE d.dbo.t (id int PRIMARY KEY); INSERT d.dbo.t VALUES (1)",
        "BACKUP DATABASE d TO DISK = 'd.bak'; RESTORE DATABASE e FROM DISK = 'd.bak'",
    ] {
        assert_eq!(numbers(&fixture.run(&mut session, sql)), [0_i32; 0], "{sql}");
    }
    fixture.server.schedulers().block_on(session.close());
    fixture.server.schedulers().block_on(fixture.server.shutdown()).expect("the databases close");
    drop(fixture);
    let fixture = Fixture::on(disk, 3);
    let (mut writer, mut reader) = (fixture.session(), fixture.session());
    let shown = "SELECT COUNT(*) FROM sys.databases WHERE name IN ('d', 'e') AND is_read_committed_snapshot_on = 0";
    assert_eq!(scalar(&fixture.run(&mut reader, shown)), Value::Int(2));
    for database in ["d", "e"] {
        fixture.run(&mut writer, &format!("BEGIN TRAN; INSERT {database}.dbo.t VALUES (2)"));
        let read = fixture.run(&mut reader, &format!("SET LOCK_TIMEOUT 0; SELECT COUNT(*) FROM {database}.dbo.t"));
        assert_eq!(numbers(&read), [1222], "{database}");
        fixture.run(&mut writer, "ROLLBACK");
    }
    fixture.run(&mut writer, "ALTER DATABASE d SET READ_COMMITTED_SNAPSHOT ON; BEGIN TRAN; INSERT d.dbo.t VALUES (2)");
    assert_eq!(scalar(&fixture.run(&mut reader, "SELECT COUNT(*) FROM d.dbo.t")), Value::Int(1));
}

#[test]
fn an_unknown_database_refuses_the_session() {
    let fixture = Fixture::new(3);
    let options = SessionOptions { database: "nowhere".to_string(), ..SessionOptions::default() };
    let refused = Session::new(Arc::clone(&fixture.server), Arc::clone(&fixture.registry), options);
    assert_eq!(refused.err().map(|error| error.number), Some(4060));
}

#[test]
fn every_view_can_be_selected_from_whole() {
    let fixture = Fixture::new(3);
    let mut session = fixture.session();
    fixture.run(&mut session, "CREATE TABLE t (id int IDENTITY PRIMARY KEY, v varchar(10) NULL DEFAULT 'x' UNIQUE)");
    fixture.run(&mut session, "CREATE PROCEDURE p @a int AS SELECT @a");
    fixture.run(&mut session, "CREATE VIEW v AS SELECT id FROM t");
    let views = fixture.run(
        &mut session,
        "SELECT SCHEMA_NAME(schema_id), name, type, (SELECT COUNT(*) FROM sys.all_columns c WHERE c.object_id = o.object_id)
         FROM sys.all_objects o WHERE is_ms_shipped = 1 AND type NOT IN ('P', 'X')",
    );
    assert_eq!(numbers(&views), [0_i32; 0]);
    assert!(views.rows().len() > 30);
    for row in views.rows() {
        let [Value::Str(schema), Value::Str(name), Value::Str(kind), Value::Int(columns)] = row else {
            panic!("{row:?}")
        };
        // Functions are called with NULL for all that they take.
        let calls = match kind.as_str() {
            "TF" => [0, 1, 2, 3, 4, 5, 7].map(|arguments| format!("({})", vec!["NULL"; arguments].join(", "))).to_vec(),
            _ => vec![String::new()],
        };
        let outputs =
            calls.iter().map(|call| fixture.run(&mut session, &format!("SELECT * FROM {schema}.{name}{call}")));
        let outputs: Vec<Collected> = outputs.filter(|output| output.errors().is_empty()).collect();
        let [output] = outputs.as_slice() else { panic!("{schema}.{name} cannot be selected from") };
        for row in output.rows() {
            assert_eq!(row.len() as i32, *columns, "{schema}.{name}");
        }
    }
}

// ---- bad input ----

#[test]
fn a_syntax_error_names_its_line_and_nothing_of_the_batch_runs() {
    let fixture = Fixture::new(3);
    let mut session = fixture.session();
    let output =
        fixture.run(&mut session, "CREATE TABLE t (id int);\nINSERT t VALUES (1);\nSELECT * FORM t;\nDROP TABLE t;");
    let error = only_error(&output);
    assert_eq!((error.number, error.severity, error.state, error.line), (102, 15, 1, 3));
    assert_eq!(error.message, "Incorrect syntax near 'FORM'.");
    assert_eq!(scalar(&fixture.run(&mut session, "SELECT OBJECT_ID('t')")), Value::Null);
}

#[test]
fn texts_and_comments_that_do_not_end_are_errors() {
    let fixture = Fixture::new(3);
    let mut session = fixture.session();
    let text = only_error(&fixture.run(&mut session, "SELECT 1;\nSELECT 'open"));
    assert_eq!((text.number, text.line), (105, 2));
    let comment = only_error(&fixture.run(&mut session, "SELECT 1 /* open"));
    assert_eq!(comment.number, 113);
}

#[test]
fn deep_nesting_is_an_error() {
    let fixture = Fixture::new(3);
    let mut session = fixture.session();
    let deep = |open: &str, close: &str| format!("SELECT {}1{}", open.repeat(20_000), close.repeat(20_000));
    for sql in [
        deep("(", ")"),
        deep("(SELECT ", ")"),
        deep("-(", ")"),
        format!("{}SELECT 1", "IF 1 = 1 ".repeat(20_000)),
        format!("{} SELECT 1 {}", "BEGIN ".repeat(20_000), "END ".repeat(20_000)),
        format!("SELECT {}0{}", "CASE WHEN 1 = 1 THEN ".repeat(20_000), " END".repeat(20_000)),
    ] {
        assert_eq!(only_error(&fixture.run(&mut session, &sql)).number, 191, "{}", &sql[..40]);
    }
    let output = fixture.run(&mut session, &format!("SELECT 1{}", " + 1".repeat(20_000)));
    assert!(output.errors().iter().all(|error| error.number == 191), "{:?}", output.errors());
    assert_eq!(scalar(&fixture.run(&mut session, "SELECT 5")), Value::Int(5));
}

#[test]
fn a_script_of_10_mb_runs() {
    let fixture = Fixture::new(3);
    let mut session = fixture.session();
    let mut sql = String::with_capacity(11 << 20);
    sql.push_str("CREATE TABLE t (id int NOT NULL PRIMARY KEY, text varchar(8000) NOT NULL);\nSET NOCOUNT ON;\n");
    let mut rows = 0;
    while sql.len() < 10 << 20 {
        rows += 1;
        // Writing to a String cannot fail.
        let _ = writeln!(sql, "INSERT t VALUES ({rows}, '{}');", "x".repeat(5000));
    }
    sql.push_str("SELECT COUNT(*) FROM t;");
    let output = fixture.run(&mut session, &sql);
    assert_eq!(numbers(&output), [0_i32; 0]);
    assert_eq!(scalar(&output), Value::Int(rows));
}

#[test]
fn a_long_text_and_many_statements_are_no_trouble() {
    let fixture = Fixture::new(3);
    let mut session = fixture.session();
    let long = "y".repeat(3 << 20);
    let output = fixture.run(&mut session, &format!("DECLARE @s varchar(max) = '{long}'; SELECT LEN(@s)"));
    assert_eq!(numbers(&output), [0_i32; 0]);
    let many = "SET NOCOUNT ON;".repeat(200_000);
    assert_eq!(numbers(&fixture.run(&mut session, &many)), [0_i32; 0]);
}

#[test]
fn who_has_counted_the_rows_of_tables_keeps_no_definition() {
    let fixture = Fixture::new(3);
    let (mut reader, mut owner) = (fixture.session(), fixture.session());
    fixture.run(&mut owner, "CREATE TABLE kept (a int); CREATE TABLE gone (a int); SET LOCK_TIMEOUT 0");
    for look in ["SELECT SUM(rows) FROM sys.partitions", "EXEC sp_spaceused", "EXEC sp_spaceused 'gone'"] {
        assert_eq!(numbers(&fixture.run(&mut reader, look)), [0_i32; 0], "{look}");
        let changed = fixture.run(&mut owner, "DROP TABLE gone; CREATE TABLE gone (a int)");
        assert_eq!(numbers(&changed), [0_i32; 0], "{look}");
    }
    // Within a statement that touches a table of its own, and in a transaction.
    let look = "BEGIN TRAN; SELECT (SELECT SUM(rows) FROM sys.partitions), COUNT(*) FROM kept";
    assert_eq!(numbers(&fixture.run(&mut reader, look)), [0_i32; 0]);
    assert_eq!(numbers(&fixture.run(&mut owner, "DROP TABLE gone")), [0_i32; 0]);
}

#[test]
fn what_changes_definitions_waits_with_the_patience_of_its_session() {
    let fixture = Fixture::new(3);
    let (mut user, mut owner) = (fixture.session(), fixture.session());
    fixture.run(&mut user, "CREATE TABLE used (a int); BEGIN TRAN; INSERT used VALUES (1)");
    for change in ["DROP TABLE used", "ALTER TABLE used ADD b int", "CREATE INDEX i ON used (a)", "TRUNCATE TABLE used"]
    {
        let sql = format!("SET LOCK_TIMEOUT 20; {change}");
        assert_eq!(numbers(&fixture.run(&mut owner, &sql)), [1222], "{change}");
    }
    let (switch, info) = (owner.cancel_switch(), owner.task_info());
    let changing = fixture.server.schedulers().spawn(info, Placement::LeastLoaded, async move {
        let mut output = Collected::default();
        owner.run("SET LOCK_TIMEOUT -1; DROP TABLE used", &mut [], &mut output).await;
        numbers(&output)
    });
    fixture.run(&mut user, "WAITFOR DELAY '00:00:01'");
    switch.store(true, Ordering::Relaxed);
    assert_eq!(fixture.server.schedulers().block_on(changing).expect("no panic"), [3617]);
    assert_eq!(numbers(&fixture.run(&mut user, "COMMIT; DROP TABLE used")), [0_i32; 0]);
}

#[test]
fn application_locks_are_of_the_session_or_the_transaction() {
    let fixture = Fixture::new(3);
    let (mut one, mut two) = (fixture.session(), fixture.session());
    let take = |owner: &str, mode: &str, name: &str| {
        format!("DECLARE @r int EXEC @r = sp_getapplock N'{name}', '{mode}', '{owner}', 0 SELECT @r")
    };
    let release = |owner: &str, name: &str| {
        format!("DECLARE @r int EXEC @r = sp_releaseapplock @Resource = '{name}', @LockOwner = '{owner}' SELECT @r")
    };
    let status = |session: &mut Session, sql: &str| scalar(&fixture.run(session, sql));
    let (exclusive, shared) = (take("Session", "Exclusive", "job"), take("Session", "Shared", "job"));
    assert_eq!(status(&mut one, &exclusive), Value::Int(0));
    assert_eq!(status(&mut one, &exclusive), Value::Int(0), "the owner has it again");
    assert_eq!(status(&mut two, &shared), Value::Int(-1));
    assert_eq!(status(&mut two, &take("Session", "Exclusive", "JOB")), Value::Int(0), "names have their case");
    let kinds = "SELECT COUNT(*) FROM sys.dm_tran_locks WHERE resource_type = 'APPLICATION'";
    assert_eq!(status(&mut two, kinds), Value::Int(2));
    let give = release("Session", "job");
    assert_eq!(status(&mut one, &give), Value::Int(0));
    assert_eq!(status(&mut two, &shared), Value::Int(-1), "it was taken twice");
    assert_eq!(status(&mut one, &give), Value::Int(0));
    assert_eq!(status(&mut two, &shared), Value::Int(0));
    assert_eq!(numbers(&fixture.run(&mut one, &give)), [1223]);
    assert_eq!(status(&mut one, &shared), Value::Int(0), "shared locks are");
    fixture.server.schedulers().block_on(two.close());
    assert_eq!(status(&mut one, &exclusive), Value::Int(0), "a session's locks end with it");

    let mut two = fixture.session();
    let transactional = take("Transaction", "Exclusive", "batch");
    assert_eq!(numbers(&fixture.run(&mut two, &transactional)), [15626]);
    assert_eq!(status(&mut two, &format!("BEGIN TRAN {transactional}")), Value::Int(0));
    assert_eq!(status(&mut one, &take("Session", "Shared", "batch")), Value::Int(-1));
    fixture.run(&mut two, "COMMIT");
    assert_eq!(status(&mut one, &take("Session", "Shared", "batch")), Value::Int(0));
    for (sql, number) in [
        ("EXEC sp_getapplock 'a', 'Strong', 'Session'", 15021),
        ("EXEC sp_getapplock 'a', 'Shared', 'Nobody'", 15021),
        ("EXEC sp_getapplock 'a', 'Shared', 'Session', -5", 15021),
        ("EXEC sp_getapplock 'a', 'Shared', 'Session', 0, 'nobody'", 15021),
        ("EXEC sp_getapplock 'a'", 201),
    ] {
        assert_eq!(numbers(&fixture.run(&mut one, sql)), [number], "{sql}");
    }
}

#[test]
fn an_application_lock_is_waited_for() {
    let fixture = Fixture::new(3);
    let (mut one, mut two) = (fixture.session(), fixture.session());
    fixture.run(&mut one, "EXEC sp_getapplock 'job', 'Exclusive', 'Session'");
    let info = two.task_info();
    let waiting = fixture.server.schedulers().spawn(info, Placement::LeastLoaded, async move {
        let mut output = Collected::default();
        two.run("DECLARE @r int EXEC @r = sp_getapplock 'job', 'Exclusive', 'Session' SELECT @r", &mut [], &mut output)
            .await;
        scalar(&output)
    });
    fixture.run(&mut one, "WAITFOR DELAY '00:00:01' EXEC sp_releaseapplock 'job', 'Session'");
    assert_eq!(fixture.server.schedulers().block_on(waiting).expect("no panic"), Value::Int(1));
}

#[test]
fn plans_that_have_run_tell_rows_and_times() {
    let fixture = Fixture::new(3);
    let mut session = fixture.session();
    fixture.run(
        &mut session,
        "CREATE TABLE dbo.t (id int PRIMARY KEY, a int); INSERT dbo.t VALUES (1, 5), (2, 6), (3, 7)",
    );
    fixture.run(&mut session, "SET STATISTICS XML ON; SET STATISTICS TIME ON");
    let output = fixture.run(&mut session, "SELECT id FROM dbo.t WHERE a > 5 ORDER BY a");
    let rows = output.rows();
    assert_eq!(rows.len(), 3, "two rows and a document");
    let document = rows[2][0].as_str().expect("a text");
    for part in
        ["PhysicalOp=\"Sort\"", "ActualRows=\"2\" ActualRowsRead=\"3\"", "ActualExecutions=\"1\" ActualElapsedms=\""]
    {
        assert!(document.contains(part), "{part} in {document}");
    }
    let [message] = output.messages()[..] else { panic!("{:?}", output.messages()) };
    assert!(message.contains("SQL Server Execution Times:\n   CPU time = "), "{message}");
    fixture.run(&mut session, "SET STATISTICS XML OFF; SET STATISTICS TIME OFF");
    let output = fixture.run(&mut session, "SELECT id FROM dbo.t WHERE a > 5 ORDER BY a");
    assert_eq!((output.rows().len(), output.messages().len()), (2, 0));
}
