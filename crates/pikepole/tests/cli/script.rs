//! Scripts with mistakes in them, and scripts of unusual size and shape.

use crate::tool::{Done, Folder};
use std::fmt::Write;

#[test]
fn a_syntax_error_names_its_line() {
    let folder = Folder::new("syntax");
    folder.write("bad.sql", "PRINT 'one';\nPRINT 'two';\nSELECT 1 +;\nPRINT 'four';\nGO\nPRINT 'next batch';\n");
    let done = folder.run(["sql", "-i", "bad.sql"]);
    assert_eq!(done.status, 1);
    assert_eq!(done.err, "Msg 102, Level 15, State 1, Line 3\nIncorrect syntax near ';'.\n");
    assert_eq!(done.out, "next batch\n", "nothing of a batch that does not parse runs");
    folder
        .sql("PRINT 1\nGO\n\nSELECT FROM t")
        .failed_saying_after("1\n", "Msg 156, Level 15, State 1, Line 4\nIncorrect syntax near the keyword 'FROM'.\n");
    folder.sql("SELECT 'never ended").failed_with("Msg 105, Level 15");
}

impl Done {
    #[track_caller]
    fn failed_saying_after(&self, out: &str, err: &str) {
        assert_eq!((self.status, self.out.as_str(), self.err.as_str()), (1, out, err));
    }
}

#[test]
fn ten_megabytes_of_inserts() {
    let folder = Folder::new("large");
    let mut script = String::from(
        "ALTER DATABASE master SET DELAYED_DURABILITY = FORCED\nGO\n\
         CREATE TABLE dbo.large (id int NOT NULL PRIMARY KEY, text varchar(100) NOT NULL)\nGO\nSET NOCOUNT ON\n",
    );
    let mut rows = 0;
    while script.len() < 10 << 20 {
        writeln!(script, "INSERT INTO dbo.large (id, text) VALUES ({rows}, 'row {rows} of a script of ten megabytes')")
            .expect("memory");
        rows += 1;
    }
    script.push_str("GO\nSELECT COUNT(*) AS n FROM dbo.large\n");
    folder.write("large.sql", &script);
    let done = folder.run(["sql", "-d", "data", "--csv", "-i", "large.sql"]);
    assert_eq!((done.status, done.out, done.err.as_str()), (0, format!("n\n{rows}\n"), ""));
    let last = format!("SELECT COUNT(*) FROM dbo.large WHERE id = {} AND text LIKE 'row % megabytes'", rows - 1);
    assert_eq!(folder.number(&last), 1);
}

const TOO_DEEP: &str = "Msg 191, Level 15, State 1, Line 1\n\
    Some part of your SQL statement is nested too deeply. Rewrite the query or break it up into smaller queries.\n";

#[test]
fn deep_nesting_is_refused_and_never_a_crash() {
    let folder = Folder::new("deep");
    let deep = [
        ("parentheses", format!("SELECT {}1{}", "(".repeat(10_000), ")".repeat(10_000))),
        ("blocks", format!("{}PRINT 'x' {}", "BEGIN ".repeat(5_000), "END ".repeat(5_000))),
        ("signs", format!("SELECT {}1", "- ".repeat(100_000))),
        ("not", format!("IF {}1 = 1 PRINT 'x'", "NOT ".repeat(100_000))),
        ("case", format!("SELECT {}1 {}", "CASE WHEN 1 = 1 THEN ".repeat(20_000), "END ".repeat(20_000))),
        ("subqueries", format!("SELECT {}1 {}", "(SELECT ".repeat(20_000), ")".repeat(20_000))),
        ("calls", format!("SELECT {}1{}", "ABS(".repeat(20_000), ")".repeat(20_000))),
        ("if", format!("{}PRINT 'x'", "IF 1 = 1 ".repeat(100_000))),
        ("try", format!("{}PRINT 'x' {}", "BEGIN TRY ".repeat(5_000), "END TRY BEGIN CATCH END CATCH ".repeat(5_000))),
    ];
    for (name, text) in deep {
        folder.write("deep.sql", text);
        let done = folder.run(["sql", "-d", "data", "-i", "deep.sql"]);
        assert_eq!((done.status, done.out.as_str(), done.err.as_str()), (1, "", TOO_DEEP), "{name}");
    }
}

#[test]
fn what_is_long_but_not_deep_runs() {
    let folder = Folder::new("long-script");
    let long = [
        ("and", format!("IF 1 = 1{} PRINT 'x'", " AND 1 = 1".repeat(100_000))),
        ("or", format!("IF 1 = 0{} PRINT 'x'", " OR 1 = 1".repeat(100_000))),
        ("in", format!("IF 5 IN (1{}, 5) PRINT 'x'", ", 1".repeat(100_000))),
        ("comments", format!("{}{} PRINT 'x'", "/*".repeat(50_000), "*/".repeat(50_000))),
        ("some depth", format!("{}PRINT 'x' {}", "BEGIN ".repeat(50), "END ".repeat(50))),
        ("some parentheses", format!("IF {}1{} = 1 PRINT 'x'", "(".repeat(50), ")".repeat(50))),
    ];
    for (name, text) in long {
        folder.write("long.sql", text);
        let done = folder.run(["sql", "-d", "data", "-i", "long.sql"]);
        assert_eq!((done.status, done.out.as_str(), done.err.as_str()), (0, "x\n", ""), "{name}");
    }
}

const LOOP: &str = "CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT pk_t PRIMARY KEY, turn int NOT NULL)
GO
CREATE PROCEDURE dbo.fill AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @i int = 0, @failed int = 0;
    WHILE @i < 6
    BEGIN
        INSERT dbo.t (id, turn)
        VALUES (@i % 4, @i);
        IF @@ERROR = 2627 SET @failed += 1;
        SET @i += 1;
    END;
    PRINT CONCAT('turns ', @i, ', failed ', @failed);
END
GO
";

fn violation(key: i32) -> String {
    format!(
        "Msg 2627, Level 14, State 1, Procedure dbo.fill, Line 7\n\
         Violation of PRIMARY KEY constraint 'pk_t'. Cannot insert duplicate key in object 'dbo.t'. \
         The duplicate key value is ({key}).\n"
    )
}

#[test]
fn a_key_violation_ends_its_statement_and_the_loop_goes_on() {
    let folder = Folder::new("violation");
    folder.sql_clean(LOOP);
    let done = folder.sql("EXEC dbo.fill");
    assert_eq!(done.status, 1);
    let terminated = "The statement has been terminated.\n";
    assert_eq!(done.out, format!("{terminated}{terminated}turns 6, failed 2\n"));
    assert_eq!(done.err, violation(0) + &violation(1));
    assert_eq!(folder.number("SELECT COUNT(*) FROM dbo.t"), 4);
    assert_eq!(folder.number("SELECT SUM(turn) FROM dbo.t"), 6, "the rows are those of the first four turns");
    assert_eq!(folder.check().status, 0);
}

#[test]
fn under_xact_abort_a_key_violation_ends_the_batch_and_the_transaction() {
    let folder = Folder::new("abort");
    folder.sql_clean(LOOP);
    let done = folder
        .sql("SET XACT_ABORT ON;\nBEGIN TRANSACTION;\nEXEC dbo.fill;\nPRINT 'not reached';\nGO\nPRINT @@TRANCOUNT");
    assert_eq!((done.status, done.out.as_str(), done.err), (1, "0\n", violation(0)));
    assert_eq!(folder.number("SELECT COUNT(*) FROM dbo.t"), 0);
}

#[test]
fn a_caught_key_violation_leaves_no_error() {
    let folder = Folder::new("caught");
    folder.sql_clean(LOOP);
    let out = folder.sql_clean(
        "DECLARE @rows int;
         BEGIN TRY
             INSERT dbo.t VALUES (7, 0), (8, 0), (7, 1);
         END TRY
         BEGIN CATCH
             SELECT @rows = COUNT(*) FROM dbo.t;
             PRINT CONCAT(ERROR_NUMBER(), ' line ', ERROR_LINE(), ' rows ', @rows);
         END CATCH",
    );
    assert_eq!(out, "2627 line 3 rows 0\n", "a statement is done as a whole or not at all");
}

#[test]
fn arithmetic_errors_have_their_numbers_and_end_their_statement_only() {
    let folder = Folder::new("arithmetic");
    let done = folder.sql(
        "DECLARE @i int = 2147483647, @t tinyint = 7;
SET @i = @i + 1;
SET @i = 5 / (@i - @i);
SET @t = @i;
PRINT CONCAT(@i, ' ', @t);
GO
SELECT CAST(9223372036854775807 AS bigint) + 1 AS x;
GO
SELECT CAST(1e10 AS int) AS x;
GO
SELECT CAST('1e' AS int) AS x;
GO
SELECT 1 % 0 AS x;
GO
CREATE TABLE dbo.t (n smallint NOT NULL, d decimal(4, 1) NOT NULL);
GO
INSERT dbo.t VALUES (40000, 1);
GO
INSERT dbo.t VALUES (1, 12345);
GO
INSERT dbo.t VALUES (32767, 999.9);
UPDATE dbo.t SET n = n + 1;
PRINT 'after';",
    );
    let numbers: Vec<(&str, &str)> = done
        .err
        .lines()
        .filter_map(|line| Some((line.strip_prefix("Msg ")?.split(',').next()?, line.rsplit(' ').next()?)))
        .collect();
    let expected = [
        ("8115", "2"),
        ("8134", "3"),
        ("220", "4"),
        ("8115", "7"),
        ("232", "9"),
        ("245", "11"),
        ("8134", "13"),
        ("220", "17"),
        ("8115", "19"),
        ("220", "22"),
    ];
    assert_eq!(numbers, expected, "{}", done.err);
    assert!(done.err.contains("Arithmetic overflow error converting expression to data type int.\n"), "{}", done.err);
    assert!(done.err.contains("Divide by zero error encountered.\n"));
    assert!(done.out.contains("2147483647 7\n") && done.out.ends_with("after\n"), "{}", done.out);
    assert_eq!(done.status, 1);
    assert_eq!(folder.number("SELECT n FROM dbo.t"), 32767);
}

#[test]
fn scripts_of_the_field_s_tools_run() {
    let folder = Folder::new("sqlcmd");
    folder.write("part.sql", "PRINT 'part of $(DatabaseName)';\r\n:setvar Inner \"set \"\"inside\"\"\"");
    let script = "/*\n$(NoSuchVariable) in a comment\n*/\nGO\n:setvar DatabaseName \"sales\"\n:setvar DefaultFilePrefix \"sales\"\n\
        :on error exit\nGO\n:setvar __IsSqlCmdEnabled \"True\"\nGO\n\
        IF N'$(__IsSqlCmdEnabled)' NOT LIKE N'True'\n    BEGIN\n        PRINT N'SQLCMD mode must be enabled.';\n        SET NOEXEC ON;\n    END\nGO\n\
        PRINT N'Creating $(DatabaseName)...'\nGO\nCREATE DATABASE [$(DatabaseName)];\nGO\nUSE [$(DatabaseName)];\nGO\n\
        SELECT DB_NAME() AS name, '$(given)' AS given, '$(CARGO_PKG_NAME)' AS package, '$( not a name)' AS kept;\n:r part.sql\nPRINT '$(inner)';\nGO\n\
        RAISERROR('stop', 16, 1);\nGO\nPRINT 'never';\n";
    folder.write("deploy.sql", script);
    let done = folder.run(["sql", "-d", "data", "-i", "deploy.sql", "--csv", "-v", "given=a b"]);
    assert_eq!(done.status, 1);
    assert_eq!(done.out, "name,given,package,kept\nsales,a b,pikepole,$( not a name)\n");
    let said = "Creating sales...\nChanged database context to 'sales'.\npart of sales\nset \"inside\"\nMsg 50000, Level 16, State 1, Line 27\nstop\n";
    assert_eq!(done.err, said);
}

#[test]
fn results_and_errors_go_where_a_script_says() {
    let folder = Folder::new("sinks");
    let script = ":out results.txt\n:error errors.txt\nPRINT 'one';\nGO\nRAISERROR('stop', 16, 1);\nGO\n:out stdout\n:error stderr\n\
        PRINT 'two';\n:list\nGO\nPRINT 'dropped';\n:reset\n:quit\nPRINT 'never';\n";
    folder.write("sinks.sql", script);
    let done = folder.run(["sql", "-d", "data", "-i", "sinks.sql"]);
    assert_eq!((done.status, done.out.as_str(), done.err.as_str()), (1, "PRINT 'two';\ntwo\n", ""));
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("it is there");
    assert_eq!(read("results.txt"), "one\n");
    assert_eq!(read("errors.txt"), "Msg 50000, Level 16, State 1, Line 5\nstop\n");
    let done = folder.run(["sql", "-d", "data", "-o", "out.txt", "-x", "-Q", "PRINT '$(x)'"]);
    assert_eq!((done.status, done.out.as_str(), read("out.txt").as_str()), (0, "", "$(x)\n"));
}

#[test]
fn what_a_script_cannot_have_ends_it() {
    let folder = Folder::new("refused");
    for (line, said) in [
        ("PRINT '$(NoSuchVariable)'", "'NoSuchVariable' scripting variable not defined.\n"),
        (":connect other", "line 3: pikepole sql does not have :connect\n"),
        (":setvar", "Syntax error at line 3 near command ':setvar'.\n"),
    ] {
        let done = folder.sql(&format!("PRINT 'before'\nGO\n{line}\nGO\nPRINT 'never'"));
        assert_eq!((done.status, done.out.as_str(), done.err.as_str()), (1, "before\n", said));
    }
    folder.write("self.sql", "PRINT 'x'\nGO\n:r self.sql\n");
    let done = folder.run(["sql", "-d", "data", "-i", "self.sql"]);
    assert_eq!((done.status, done.out.lines().count()), (1, 33));
}
