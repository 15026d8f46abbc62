//! Variables, flow, errors, procedures, transactions.

use super::Client;

#[test]
fn variables_and_loops() {
    let mut client = Client::alone();
    assert_eq!(
        client.shown(
            "DECLARE @i int = 0, @t varchar(10) = 'a'
             WHILE @i < 5 BEGIN SET @i += 1 IF @i = 2 CONTINUE IF @i = 4 BREAK SET @t = @t + CAST(@i AS varchar(9)) END
             SELECT @i, @t, @@ROWCOUNT
             IF @i > 3 PRINT 'big' ELSE PRINT 'small'"
        ),
        ["4|a13|0", "big"]
    );
}

#[test]
fn errors_have_reach() {
    let mut client = Client::alone();
    assert_eq!(
        client.shown("SELECT 1/0\nPRINT 'on'\nGO\nSELECT CAST('x' AS int)\nPRINT 'never'"),
        [
            "Msg 8134, Level 16, State 1, Line 1: Divide by zero error encountered.",
            "on",
            "Msg 245, Level 16, State 1, Line 1: Conversion failed when converting the varchar value 'x' to data type int.",
        ]
    );
    assert_eq!(
        client.shown("SELECT * FROM missing\nPRINT 'never'"),
        ["Msg 208, Level 16, State 1, Line 1: Invalid object name 'missing'."]
    );
    assert_eq!(
        client.shown("PRINT 'never'\nSET @x = 1\nSET @y = 1"),
        [
            "Msg 137, Level 15, State 2, Line 2: Must declare the scalar variable \"@x\".",
            "Msg 137, Level 15, State 2, Line 3: Must declare the scalar variable \"@y\".",
        ]
    );
    assert_eq!(
        client.shown("DECLARE @e int SELECT 1/0 SET @e = @@ERROR SELECT @e"),
        ["Msg 8134, Level 16, State 1, Line 1: Divide by zero error encountered.", "8134",]
    );
}

#[test]
fn try_catch_and_throw() {
    let mut client = Client::alone();
    assert_eq!(
        client.shown(
            "BEGIN TRY
               SELECT 1/0
               PRINT 'never'
             END TRY
             BEGIN CATCH
               SELECT ERROR_NUMBER(), ERROR_LINE(), ERROR_SEVERITY(), ERROR_STATE(), ERROR_MESSAGE(), ERROR_PROCEDURE()
             END CATCH
             SELECT ERROR_NUMBER()"
        ),
        ["8134|2|16|1|Divide by zero error encountered.|NULL", "NULL"]
    );
    assert_eq!(
        client.shown(
            "BEGIN TRY
               BEGIN TRY THROW 50001, 'inner', 3 END TRY
               BEGIN CATCH PRINT ERROR_MESSAGE(); THROW END CATCH
             END TRY
             BEGIN CATCH PRINT CONCAT('outer ', ERROR_NUMBER(), ' ', ERROR_STATE()) END CATCH;
             THROW 50002, 'last', 1
             PRINT 'never'"
        ),
        ["inner", "outer 50001 3", "Msg 50002, Level 16, State 1, Line 6: last"]
    );
    assert_eq!(
        client.shown(
            "RAISERROR('n=%d s=%s', 16, 2, 5, 'x') PRINT 'on' RAISERROR('info', 10, 1)
             DECLARE @i int = 0
             WHILE 1 = 1 BEGIN
               BEGIN TRY SET @i += 1 IF @i = 3 RAISERROR('stop', 16, 1) END TRY
               BEGIN CATCH BREAK END CATCH
             END
             SELECT @i, ERROR_NUMBER()"
        ),
        ["Msg 50000, Level 16, State 2, Line 1: n=5 s=x", "on", "info", "3|NULL"]
    );
}

#[test]
fn procedures_take_and_give() {
    let mut client = Client::alone();
    client.quiet(
        "CREATE PROCEDURE dbo.p @a int, @b varchar(10) = 'def', @c int OUTPUT AS
         BEGIN SET NOCOUNT ON SET @c = @a * 2 SELECT @a AS a, @b AS b RETURN @a + 1 END",
    );
    assert_eq!(
        client.shown(
            "DECLARE @rc int, @out int
             EXEC @rc = dbo.p 5, @c = @out OUTPUT
             SELECT @rc, @out
             EXEC p @a = 1, @b = 'x', @c = NULL
             EXEC('SELECT 42')
             EXEC sp_executesql N'SET @y = @x + 1', N'@x int, @y int OUTPUT', @x = 4, @y = @out OUTPUT
             SELECT @out"
        ),
        ["5|def", "6|10", "1|x", "42", "5"]
    );
    let shown = client.shown("EXEC p\nEXEC p 1, 'a', 2, 3\nEXEC p @z = 1\nEXEC nope\nEXEC p 'x', 'b', 1");
    let numbers: Vec<_> = shown.iter().map(|line| &line[..8]).collect();
    assert_eq!(numbers, ["Msg 201,", "Msg 8144", "Msg 8145", "Msg 2812", "Msg 8114"]);
    assert_eq!(client.shown("DECLARE @x int = 4, @rc int EXEC @rc = sp_double @x OUTPUT SELECT @x, @rc"), ["8", "8|7"]);
}

#[test]
fn a_procedure_gives_settings_back() {
    let mut client = Client::alone();
    client.quiet("CREATE TABLE t (a int)");
    client.quiet("CREATE PROCEDURE quiet AS SET NOCOUNT ON INSERT t VALUES (1)");
    assert_eq!(client.lines("EXEC quiet INSERT t VALUES (2)"), ["(1 rows)"]);
    client.quiet("SET NOCOUNT ON");
    assert_eq!(client.lines("INSERT t VALUES (3)"), [""; 0]);
}

#[test]
fn nesting_and_recursion() {
    let mut client = Client::alone();
    client.quiet(
        "CREATE PROCEDURE deep @n int AS
         BEGIN IF @n = 0 BEGIN SELECT @@NESTLEVEL RETURN END DECLARE @m int = @n - 1 EXEC deep @m END",
    );
    assert_eq!(client.value("EXEC deep 5"), "6");
    let shown = client.shown("EXEC deep 50\nPRINT 'never'");
    assert_eq!(shown.len(), 1);
    assert!(shown[0].starts_with("Msg 217,"), "{shown:?}");
    assert_eq!(client.value("SELECT @@NESTLEVEL"), "0");
    let sum = format!("SELECT {}", vec!["1"; 400].join("+"));
    assert_eq!(client.value(&sum), "400");
}

#[test]
fn transactions_count_and_roll_back() {
    let mut client = Client::alone();
    client.quiet("CREATE TABLE t (id int PRIMARY KEY, v int)");
    assert_eq!(
        client.shown(
            "SET NOCOUNT ON
             BEGIN TRAN BEGIN TRAN INSERT t VALUES (1, 1) COMMIT SELECT @@TRANCOUNT
             SAVE TRAN s INSERT t VALUES (2, 2) ROLLBACK TRAN s
             SELECT COUNT(*) FROM t
             ROLLBACK SELECT @@TRANCOUNT SELECT COUNT(*) FROM t
             COMMIT
             ROLLBACK"
        ),
        [
            "1",
            "1",
            "0",
            "0",
            "Msg 3902, Level 16, State 1, Line 6: The COMMIT TRANSACTION request has no corresponding BEGIN TRANSACTION.",
            "Msg 3903, Level 16, State 1, Line 7: The ROLLBACK TRANSACTION request has no corresponding BEGIN TRANSACTION.",
        ]
    );
}

#[test]
fn statements_are_atomic_and_xact_abort_ends_all() {
    let mut client = Client::alone();
    client.quiet("CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL)");
    let shown = client.shown(
        "SET NOCOUNT ON
         BEGIN TRAN
         INSERT t VALUES (1, 1)
         INSERT t VALUES (2, 2), (1, 3)
         INSERT t VALUES (3, 3)
         COMMIT
         SELECT id FROM t
         GO
         SET XACT_ABORT ON
         BEGIN TRAN INSERT t VALUES (10, 1) INSERT t VALUES (1, 1) COMMIT
         GO
         SELECT COUNT(*), @@TRANCOUNT FROM t",
    );
    assert!(shown[0].starts_with("Msg 2627, Level 14, State 1, Line 4: Violation of PRIMARY KEY"), "{shown:?}");
    assert_eq!(shown[1], "The statement has been terminated.");
    assert_eq!(shown[2..4], ["1", "3"]);
    assert!(shown[4].starts_with("Msg 2627"));
    assert_eq!(shown[5], "2|0");
}

#[test]
fn a_doomed_transaction_can_only_roll_back() {
    let mut client = Client::alone();
    client.quiet("CREATE TABLE t (id int PRIMARY KEY)");
    let shown = client.shown(
        "SET XACT_ABORT ON SET NOCOUNT ON
         BEGIN TRAN INSERT t VALUES (1)
         BEGIN TRY INSERT t VALUES (1) END TRY
         BEGIN CATCH
           SELECT XACT_STATE(), @@TRANCOUNT
           BEGIN TRY INSERT t VALUES (2) END TRY BEGIN CATCH SELECT ERROR_NUMBER() END CATCH
         END CATCH
         GO
         SELECT @@TRANCOUNT, (SELECT COUNT(*) FROM t)",
    );
    assert_eq!(shown[..2], ["-1|1", "3930"]);
    assert!(shown[2].starts_with("Msg 3998"), "{shown:?}");
    assert_eq!(shown[3], "0|0");
    client.quiet("SET XACT_ABORT OFF");
    assert_eq!(
        client.shown("SET NOCOUNT ON BEGIN TRAN INSERT t VALUES (5) BEGIN TRY INSERT t VALUES (5) END TRY BEGIN CATCH SELECT XACT_STATE() COMMIT END CATCH SELECT COUNT(*) FROM t"),
        ["1", "1"]
    );
}

#[test]
fn a_procedure_must_leave_the_count_as_it_found_it() {
    let mut client = Client::alone();
    client.quiet("CREATE PROCEDURE opens AS BEGIN TRAN");
    let shown = client.shown("EXEC opens\nSELECT @@TRANCOUNT\nROLLBACK");
    assert!(shown[0].starts_with("Msg 266, Level 16, State 2, Procedure opens"), "{shown:?}");
    assert_eq!(shown[1], "1");
}

#[test]
fn names_are_resolved_when_a_statement_runs() {
    let mut client = Client::alone();
    client.quiet("CREATE PROCEDURE late AS BEGIN SELECT 'before' SELECT id FROM later END");
    let shown = client.shown("EXEC late\nPRINT 'on'");
    assert_eq!(shown[0], "before");
    assert!(shown[1].starts_with("Msg 208, Level 16, State 1, Procedure late"), "{shown:?}");
    assert_eq!(shown[2], "on");
    client.quiet("CREATE TABLE later (id int)\nINSERT later VALUES (7)");
    assert_eq!(client.shown("EXEC late"), ["before", "7"]);
    client.quiet("DROP TABLE later\nCREATE TABLE later (id varchar(5))\nINSERT later VALUES ('x')");
    assert_eq!(client.shown("EXEC late"), ["before", "x"]);
}

#[test]
fn the_hot_loop() {
    let mut client = Client::alone();
    client.quiet(
        "CREATE TABLE dbo.t (id bigint NOT NULL PRIMARY KEY CLUSTERED, at datetime NOT NULL, note char(111) NOT NULL, a int, b int, c bigint)
         GO
         CREATE PROCEDURE dbo.fill @n int AS
         BEGIN
           SET NOCOUNT ON
           DECLARE @i int = 1
           WHILE @i <= @n
           BEGIN
             INSERT dbo.t (id, at, note, a, b, c) VALUES (@@SPID * 10000000000 + @i, GETDATE(), 'text', @i, 1, NULL)
             SET @i += 1
           END
         END
         GO
         EXEC dbo.fill 300",
    );
    assert_eq!(
        client.value("SELECT COUNT(*), MIN(id) - @@SPID * 10000000000, MAX(a), SUM(b), COUNT(ISNULL(c, 1)) FROM dbo.t WHERE LEN(note) = 4 AND at <= GETDATE()"),
        "300|1|300|300|300"
    );
}

#[test]
fn deep_nesting_is_an_error_or_runs() {
    let mut client = Client::alone();
    let nested = |depth: usize, open: &str, inner: &str, close: &str| {
        format!("{}{inner}{}", open.repeat(depth), close.repeat(depth))
    };
    for depth in [20, 60, 100, 200, 400, 1_000, 20_000] {
        let texts = [
            format!("SELECT {}", nested(depth, "(", "1", ")")),
            format!("SELECT {}", nested(depth, "-(", "1", ")")),
            format!("SELECT {}", nested(depth, "ABS(", "1", ")")),
            format!("SELECT {}", nested(depth, "CASE WHEN 1 = 1 THEN ", "1", " END")),
            format!("SELECT {}", nested(depth, "(SELECT ", "1", ")")),
            format!("SELECT 1 WHERE {}", nested(depth, "NOT (", "1 = 1", ")")),
            format!("SELECT 1 WHERE 1 = 1{}", " AND 1 = 1".repeat(depth)),
            format!("SELECT 1{}", " UNION ALL SELECT 1".repeat(depth)),
            nested(depth, "IF 1 = 1 BEGIN ", "PRINT 'x'", " END"),
            nested(depth, "BEGIN TRY ", "PRINT 'x'", " END TRY BEGIN CATCH END CATCH"),
        ];
        for text in texts {
            let lines = client.lines(&text);
            let fine =
                !lines.is_empty() && lines.iter().all(|line| !line.starts_with("Msg") || line.starts_with("Msg 191"));
            assert!(fine, "{depth}: {} {lines:?}", &text[..40]);
        }
    }
}
