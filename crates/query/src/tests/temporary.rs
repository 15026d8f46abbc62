//! Temporary tables, table variables, SELECT INTO.

use super::{Client, World};

#[test]
fn a_temporary_table_is_its_sessions_own() {
    let mut world = World::new();
    let (mut one, mut other) = (world.client(), world.client());
    one.quiet("CREATE TABLE #t (a int PRIMARY KEY, b varchar(5) NOT NULL DEFAULT 'x') INSERT #t (a) VALUES (2), (1)");
    assert_eq!(one.shown("SELECT * FROM #t ORDER BY a"), ["1|x", "2|x"]);
    assert!(
        other.lines("SELECT * FROM #t")[0].starts_with("Msg 208, Level 16, State 1, Line 1: Invalid object name '#t'")
    );
    other.quiet("CREATE TABLE #t (z int) INSERT #t VALUES (9)");
    assert_eq!(one.shown("SELECT COUNT(*) FROM #t"), ["2"]);
    assert_eq!(other.shown("SELECT * FROM tempdb..#t"), ["9"]);
    assert!(one.lines("CREATE TABLE #t (a int)")[0].starts_with("Msg 2714"));
    assert!(one.lines("INSERT #t (a) VALUES (1)")[0].contains("Cannot insert duplicate key in object 'dbo.#t'"));
    let lines = one.lines("INSERT #t VALUES (5, NULL)");
    assert!(lines[0].contains("column 'b', table 'tempdb.dbo.#t____"), "{lines:?}");
    one.quiet("UPDATE #t SET b = 'y' WHERE a = 1 DELETE #t WHERE a = 2");
    assert_eq!(one.shown("SELECT * FROM #t"), ["1|y"]);
    one.quiet("DROP TABLE #t DROP TABLE IF EXISTS #t");
    assert!(one.lines("DROP TABLE #t")[0].starts_with("Msg 3701"));
    assert_eq!(other.shown("SELECT * FROM #t"), ["9"]);
}

#[test]
fn plans_follow_the_session_that_runs_them() {
    let mut world = World::new();
    let (mut one, mut other) = (world.client(), world.client());
    one.quiet(
        "CREATE PROCEDURE fill @n int AS BEGIN CREATE TABLE #w (a int) INSERT #w VALUES (@n) SELECT a FROM #w END",
    );
    for n in 0..3 {
        assert_eq!(one.shown(&format!("EXEC fill {n}")), [n.to_string()]);
        assert_eq!(other.shown(&format!("EXEC fill {}", n + 10)), [(n + 10).to_string()]);
    }
    assert!(one.lines("SELECT * FROM #w")[0].starts_with("Msg 208"));
}

#[test]
fn scopes_nest() {
    let mut client = Client::alone();
    client.quiet(
        "CREATE PROCEDURE inner_one AS BEGIN SELECT 'sees', a FROM #t CREATE TABLE #t (b int) INSERT #t VALUES (7) SELECT b FROM #t END
         GO
         CREATE PROCEDURE outer_one AS BEGIN CREATE TABLE #t (a int) INSERT #t VALUES (1) EXEC inner_one SELECT a FROM #t END",
    );
    assert_eq!(client.shown("EXEC outer_one"), ["sees|1", "7", "1"]);
    client.quiet("CREATE TABLE #t (a int) INSERT #t VALUES (100)");
    assert_eq!(client.shown("EXEC outer_one SELECT a FROM #t"), ["sees|1", "7", "1", "100"]);
    assert_eq!(client.shown("EXEC('SELECT a + 1 FROM #t')"), ["101"]);
    client.quiet("EXEC('CREATE TABLE #dynamic (a int)')");
    assert!(client.lines("SELECT * FROM #dynamic")[0].starts_with("Msg 208"));
}

#[test]
fn temporary_tables_roll_back_and_table_variables_do_not() {
    let mut client = Client::alone();
    client.quiet("CREATE TABLE p (a int) CREATE TABLE #t (a int PRIMARY KEY, b int) INSERT #t VALUES (1, 1)");
    let lines = client.shown(
        "DECLARE @v TABLE (a int)
         BEGIN TRAN INSERT p VALUES (1) INSERT #t VALUES (2, 2) INSERT @v VALUES (3), (4) UPDATE #t SET b = 5
         SAVE TRAN s INSERT #t VALUES (4, 4) INSERT @v VALUES (5), (6) ROLLBACK TRAN s
         SELECT COUNT(*), SUM(b) FROM #t
         CREATE TABLE #made (a int) DROP TABLE #t
         ROLLBACK
         SELECT a, b FROM #t SELECT COUNT(*) FROM p SELECT a FROM @v ORDER BY a",
    );
    assert_eq!(lines, ["2|10", "1|1", "0", "3", "4", "5", "6"]);
    assert!(client.lines("SELECT * FROM #made")[0].starts_with("Msg 208"));
}

#[test]
fn a_failed_statement_undoes_its_own_changes_everywhere() {
    let mut client = Client::alone();
    client.quiet("CREATE TABLE #t (a int PRIMARY KEY)");
    let lines = client.shown(
        "DECLARE @v TABLE (a int UNIQUE) INSERT @v VALUES (1)
         BEGIN TRAN INSERT #t VALUES (1) INSERT #t VALUES (2), (1) INSERT @v VALUES (2), (1) COMMIT
         SELECT a FROM #t SELECT a FROM @v",
    );
    assert!(lines[0].starts_with("Msg 2627") && lines[0].contains("dbo.#t"), "{lines:?}");
    assert!(lines[2].starts_with("Msg 2627") && lines[2].contains("dbo.@v"), "{lines:?}");
    assert_eq!(lines[4..], ["1", "1"]);
}

#[test]
fn temporary_tables_are_altered_and_indexed() {
    let mut client = Client::alone();
    client.quiet("CREATE TABLE #t (a int NOT NULL, b int) INSERT #t VALUES (1, 10), (2, 20), (3, 30)");
    client.quiet("CREATE INDEX i ON #t (b) ALTER TABLE #t ADD c int NULL ALTER TABLE #t DROP COLUMN c");
    assert!(!client.lines("ALTER TABLE #t DROP COLUMN c").is_empty());
    client.quiet("ALTER TABLE #t ADD CONSTRAINT pk_t PRIMARY KEY (a)");
    assert_eq!(client.shown("SELECT a FROM #t WHERE b = 20 SELECT b FROM #t WHERE a = 3"), ["2", "30"]);
    client.quiet("BEGIN TRAN TRUNCATE TABLE #t ROLLBACK");
    assert_eq!(client.shown("SELECT COUNT(*) FROM #t"), ["3"]);
    client.quiet("BEGIN TRAN CREATE INDEX j ON #t (b) ALTER TABLE #t ADD d int ROLLBACK TRUNCATE TABLE #t");
    assert_eq!(client.shown("SELECT COUNT(*) FROM #t"), ["0"]);
    assert!(client.lines("SELECT d FROM #t")[0].starts_with("Msg 207"));
}

#[test]
fn table_variables_belong_to_their_call() {
    let mut client = Client::alone();
    client.quiet(
        "CREATE PROCEDURE count_down @n int AS BEGIN
           DECLARE @t TABLE (n int IDENTITY(5, 5), v int)
           INSERT @t (v) VALUES (@n), (@n + 1)
           DECLARE @less int = @n - 1
           IF @n > 0 EXEC count_down @less
           SELECT COUNT(*), MIN(n), MAX(v) FROM @t
         END",
    );
    assert_eq!(client.shown("EXEC count_down 1"), ["2|5|1", "2|5|2"]);
    assert_eq!(client.shown("EXEC count_down 1"), ["2|5|1", "2|5|2"]);
    assert!(client.lines("SELECT * FROM @nope")[0].starts_with("Msg 1087, Level 15, State 2"));
    assert!(client.lines("INSERT @t VALUES (1) DECLARE @t TABLE (a int)")[0].starts_with("Msg 1087"));
    assert!(client.lines("DECLARE @t TABLE (a int) DECLARE @t int")[0].starts_with("Msg 134"));
    let once = "DECLARE @i int = 0 WHILE @i < 3 BEGIN DECLARE @t TABLE (a int) INSERT @t VALUES (@i) SET @i += 1 END SELECT COUNT(*) FROM @t";
    assert_eq!(client.shown(once), ["3"]);
    let unreached =
        "IF 1 = 0 DECLARE @t TABLE (a int) INSERT @t VALUES (1) UPDATE @t SET a = 2 SELECT x.a FROM @t AS x";
    assert_eq!(client.shown(unreached), ["2"]);
    let called = "DECLARE @t TABLE (a int) INSERT @t EXEC('SELECT 1 UNION ALL SELECT 2') DECLARE @n int = (SELECT COUNT(*) FROM @t) SELECT @n";
    assert_eq!(client.shown(called), ["2"]);
}

#[test]
fn select_into_makes_the_table() {
    let mut client = Client::alone();
    client.quiet("CREATE TABLE s (id int IDENTITY(3, 2), name varchar(9) NOT NULL, n decimal(5,2)) INSERT s VALUES ('a', 1.5), ('b', NULL)");
    assert_eq!(client.lines("SELECT * INTO #c FROM s"), ["(2 rows)"]);
    client.quiet("INSERT #c (name) VALUES ('c')");
    assert_eq!(client.shown("SELECT id, name FROM #c ORDER BY id"), ["3|a", "5|b", "7|c"]);
    assert!(client.lines("INSERT #c (name) VALUES (NULL)")[0].starts_with("Msg 515"));
    client.quiet("SELECT TOP 1 id + 0 AS id, name + 'z' AS name, n INTO plain FROM s ORDER BY id DESC INSERT plain VALUES (NULL, 'q', 2)");
    assert_eq!(client.shown("SELECT * FROM plain ORDER BY id DESC"), ["5|bz|NULL", "NULL|q|2.00"]);
    assert!(client.lines("SELECT 1 INTO #d")[0].starts_with("Msg 1038"));
    assert!(client.lines("SELECT 1 AS a INTO plain")[0].starts_with("Msg 2714"));
    assert!(client.lines("SELECT 1 AS a, 2 AS a INTO #d")[0].starts_with("Msg 2705"));
    client.quiet("SELECT 1 AS a INTO #u UNION ALL SELECT 2");
    assert_eq!(client.shown("SELECT COUNT(*), @@ROWCOUNT FROM #u"), ["2|2"]);
    let half = client.lines("SELECT 1 / (id - 5) AS x INTO half FROM s SELECT COUNT(*) FROM half");
    assert!(half[0].starts_with("Msg 8134"), "{half:?}");
    assert_eq!(half.last().map(String::as_str), Some("(1 rows)"));
    client.quiet("BEGIN TRAN SELECT * INTO gone FROM s ROLLBACK");
    assert!(client.lines("SELECT * FROM gone")[0].starts_with("Msg 208"));
}

#[test]
fn temporary_tables_stay_when_the_database_changes() {
    let mut client = Client::alone();
    client.quiet("CREATE TABLE #t (a int) INSERT #t VALUES (1)");
    client.quiet("CREATE DATABASE lab");
    assert_eq!(
        client.shown("USE lab INSERT #t SELECT a + 1 FROM #t SELECT COUNT(*) FROM #t"),
        ["Changed database context to 'lab'.", "2"]
    );
}

#[test]
fn many_rows_and_a_session_that_ends() {
    let mut world = World::new();
    let mut client = world.client();
    client.quiet(
        "CREATE TABLE #t (a int PRIMARY KEY, b int) INSERT #t SELECT value, value % 7 FROM GENERATE_SERIES(1, 350)",
    );
    client.quiet("CREATE INDEX i ON #t (b) UPDATE #t SET a = a + 1000 DELETE #t WHERE b = 3");
    assert_eq!(client.shown("SELECT COUNT(*), MIN(a), MAX(a) FROM #t"), ["300|1001|1350"]);
    drop(client);
    let mut next = world.client();
    assert!(next.lines("SELECT * FROM #t")[0].starts_with("Msg 208"));
}

#[test]
fn temporary_procedures_are_a_sessions_own() {
    let mut world = World::new();
    let (mut client, mut other) = (world.client(), world.client());
    client.quiet("CREATE TABLE t (a int)");
    client
        .quiet("CREATE PROCEDURE #p @a int, @b int OUTPUT AS BEGIN SET @b = @a * 2 INSERT t VALUES (@b) RETURN 3 END");
    let call = "DECLARE @b int, @s int EXEC @s = #p 4, @b OUTPUT SELECT @b, @s, COUNT(*) FROM t";
    assert_eq!(client.shown(call), ["8|3|1"]);
    assert!(other.lines("EXEC #p 1, 2")[0].starts_with("Msg 2812"));
    assert!(client.lines("CREATE PROCEDURE #P AS SELECT 1")[0].starts_with("Msg 2714"));
    client.quiet("ALTER PROCEDURE #p AS SELECT 5");
    assert_eq!(client.shown("EXEC #p"), ["5"]);
    client.quiet("CREATE OR ALTER PROCEDURE #p AS SELECT 6");
    assert_eq!(client.shown("EXEC ('EXEC #p')"), ["6"]);
    // Names in it are looked up in the database that is used when it runs.
    client.quiet("CREATE DATABASE d");
    client.quiet("CREATE PROCEDURE #where AS SELECT DB_NAME(), (SELECT COUNT(*) FROM t)");
    client.quiet("USE d CREATE TABLE t (a int) INSERT t VALUES (1), (2), (3)");
    assert_eq!(client.shown("EXEC #where"), ["d|3"]);
    let lines = client
        .lines("CREATE PROCEDURE #e AS BEGIN TRY SELECT 1 / 0 END TRY BEGIN CATCH PRINT ERROR_PROCEDURE() END CATCH");
    assert!(lines.is_empty(), "{lines:?}");
    assert!(client.lines("EXEC #e").contains(&"#e".to_string()));
    client.quiet("DROP PROCEDURE #p DROP PROCEDURE IF EXISTS #p");
    assert!(client.lines("DROP PROCEDURE #p")[0].starts_with("Msg 3701"));
    assert!(client.lines("EXEC #p")[0].starts_with("Msg 2812"));
    assert!(client.lines("ALTER PROCEDURE #p AS SELECT 5")[0].starts_with("Msg 208"));
}

/// Lets the tasks of tempdb do their work.
fn rest(client: &mut Client) {
    client.quiet("WAITFOR DELAY '00:00:02'");
}

/// Pages that are in use in tempdb, and bytes of its log.
fn tempdb_sizes(client: &Client) -> (u64, u64) {
    let tempdb = client.server.database("tempdb").expect("it was used");
    (tempdb.store().used_pages(), tempdb.log_stats().bytes)
}

#[test]
fn rows_that_come_and_go_do_not_make_tempdb_larger() {
    let mut world = World::new();
    let mut client = world.client();
    client.quiet("CREATE TABLE #h (i int, t varchar(200))");
    let turn = "INSERT #h SELECT value, REPLICATE('x', 100) FROM GENERATE_SERIES(1, 500) DELETE #h
        DECLARE @v TABLE (i int, t varchar(200)) INSERT @v SELECT value, REPLICATE('x', 100) FROM GENERATE_SERIES(1, 500)
        DELETE @v INSERT @v SELECT value, REPLICATE('x', 100) FROM GENERATE_SERIES(1, 500)
        BEGIN TRAN INSERT #h SELECT value, REPLICATE('y', 100) FROM GENERATE_SERIES(1, 500) ROLLBACK
        SELECT * INTO #c FROM #h CREATE INDEX i ON #c (t) DROP TABLE #c";
    let mut first = None;
    for _ in 0..40 {
        client.quiet(turn);
        rest(&mut client);
        let sizes = tempdb_sizes(&client);
        let (pages, log) = *first.get_or_insert(sizes);
        assert!(sizes.0 <= pages + 8 && sizes.1 <= log * 2, "{sizes:?} after {:?}", (pages, log));
    }
}

#[test]
fn the_log_of_tempdb_is_used_again_without_a_checkpoint() {
    let mut world = World::new();
    let mut client = world.client();
    client.quiet("CREATE TABLE #t (i int NOT NULL PRIMARY KEY, t char(2000))");
    let tempdb = client.server.database("tempdb").expect("it was used");
    let (before, first) = (tempdb.store().master().sequence, tempdb.log_stats().bytes);
    let written = tempdb.log_stats().bytes_written;
    for _ in 0..4000 {
        client.quiet("INSERT #t SELECT value, 'x' FROM GENERATE_SERIES(1, 50) DELETE #t");
        rest(&mut client);
        let stats = tempdb.log_stats();
        if stats.bytes_written - written > stats.bytes_max {
            break;
        }
    }
    let stats = tempdb.log_stats();
    assert!(stats.bytes_written - written > stats.bytes_max, "{} bytes of log", stats.bytes_written - written);
    assert_eq!(tempdb.store().master().sequence, before, "no page is written for the log's sake");
    assert!(stats.bytes * 2 < stats.bytes_written - written, "{} bytes, {first} at first", stats.bytes);
}

#[test]
fn a_session_that_goes_away_in_a_transaction_leaves_nothing_in_tempdb() {
    let mut world = World::new();
    let mut stays = world.client();
    stays.quiet("CREATE TABLE #s (i int)");
    rest(&mut stays);
    let (before, _) = tempdb_sizes(&stays);
    for _ in 0..10 {
        let mut goes = world.client();
        goes.quiet(
            "CREATE TABLE #t (i int, t char(2000)) BEGIN TRAN INSERT #t SELECT value, 'x' FROM GENERATE_SERIES(1, 100)",
        );
        drop(goes);
        rest(&mut stays);
    }
    assert_eq!(tempdb_sizes(&stays).0, before);
}
