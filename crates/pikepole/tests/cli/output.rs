//! What `pikepole sql` prints: tables, JSON, CSV, messages; where scripts come from; GO and -b.

use crate::tool::Folder;
use std::io::Read;
use std::process::Stdio;

const RESULTS: &str =
    "SELECT 1 AS a, N'ü,\"x\"' AS b, NULL AS c, CAST(1.50 AS decimal(5, 2)) AS d, CAST('2020-01-02' AS date) AS e,
    0x01FF AS f, CAST(0.1 AS real) AS g, CAST(1 AS bit) AS h, CAST(-9007199254740993 AS bigint) AS i;
SELECT 'first' AS a, 'second' AS a, 3 WHERE 1 = 0;
SELECT 'first' AS a, 'second' AS a, 3;
PRINT 'a message';
CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY);
INSERT dbo.t VALUES (1), (2);
INSERT dbo.t VALUES (3);
SELECT id FROM dbo.t ORDER BY id DESC;
DROP TABLE dbo.t;";

#[test]
fn tables_are_aligned() {
    let folder = Folder::new("tables");
    let expected = "\
| a | b     | c    | d    | e          | f      | g   | h | i                 |
|---|-------|------|------|------------|--------|-----|---|-------------------|
| 1 | ü,\"x\" | NULL | 1.50 | 2020-01-02 | 0x01FF | 0.1 | 1 | -9007199254740993 |
(1 row affected)
| a | a |   |
|---|---|---|
(0 rows affected)
| a     | a      |   |
|-------|--------|---|
| first | second | 3 |
(1 row affected)
a message
(2 rows affected)
(1 row affected)
| id |
|----|
|  3 |
|  2 |
|  1 |
(3 rows affected)
";
    assert_eq!(folder.sql_clean(RESULTS), expected);
}

#[test]
fn json_is_an_array_a_result_set_and_nothing_else() {
    let folder = Folder::new("json");
    let done = folder.run(["sql", "--json", "-Q", RESULTS]);
    let expected = r#"[{"a":1,"b":"ü,\"x\"","c":null,"d":"1.50","e":"2020-01-02","f":"0x01FF","g":0.1,"h":true,"i":-9007199254740993}]
[]
[{"a":"first","column2":"second","column3":3}]
[{"id":3},{"id":2},{"id":1}]
"#;
    assert_eq!((done.status, done.out.as_str(), done.err.as_str()), (0, expected, "a message\n"));
    for line in done.out.lines() {
        let set: serde_json::Value = serde_json::from_str(line).expect("each line is JSON");
        assert!(set.is_array());
    }
    assert!(folder.path().join("pikepole-data/master").is_dir(), "the folder that the help names");
}

#[test]
fn csv_has_a_header_and_quotes_what_needs_it() {
    let folder = Folder::new("csv");
    let done = folder.run(["sql", "--csv", "-Q", RESULTS]);
    let expected = "\
a,b,c,d,e,f,g,h,i
1,\"ü,\"\"x\"\"\",,1.50,2020-01-02,0x01FF,0.1,1,-9007199254740993
a,a,
a,a,
first,second,3
id
3
2
1
";
    assert_eq!((done.status, done.out.as_str(), done.err.as_str()), (0, expected, "a message\n"));
}

#[test]
fn csv_tells_null_from_an_empty_text() {
    let folder = Folder::new("csv-null");
    let done = folder.run(["sql", "--csv", "-Q", "SELECT NULL AS a, '' AS b, N'x' AS c, 0x AS d"]);
    assert_eq!((done.status, done.out.as_str()), (0, "a,b,c,d\n,\"\",x,0x\n"), "{}", done.err);
}

#[test]
fn a_long_result_continues_in_a_further_table() {
    let folder = Folder::new("long");
    let out = folder.sql_clean(
        "SET NOCOUNT ON;
         CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY);
         DECLARE @i int = 0;
         BEGIN TRANSACTION;
         WHILE @i < 2000 BEGIN INSERT dbo.t VALUES (@i); SET @i += 1; END;
         COMMIT;
         SELECT id FROM dbo.t;",
    );
    let headers = out.lines().filter(|line| *line == "| id  |" || *line == "| id   |").count();
    let rows = out.lines().filter(|line| line.starts_with("| ") && !line.contains("id")).count();
    assert_eq!((headers, rows), (2, 2000), "{out}");
}

#[test]
fn a_message_after_a_failed_result_comes_after_its_columns() {
    let folder = Folder::new("order");
    let out = folder.sql_clean("BEGIN TRY SELECT 1 / 0 AS x; END TRY BEGIN CATCH PRINT ERROR_MESSAGE(); END CATCH;");
    assert_eq!(out, "| x |\n|---|\nDivide by zero error encountered.\n");
}

#[test]
fn go_runs_a_batch_so_many_times_and_errors_count_the_lines_of_the_script() {
    let folder = Folder::new("go");
    let script = "PRINT 'a'\nGO 3\n\nPRINT 'b';\nSELECT nothing;\ngo -- the next one runs\nPRINT 'c'\nGO 0\nPRINT 'd'";
    let path = folder.write("script.sql", script);
    let path = path.to_str().expect("text");
    let error = "Msg 207, Level 16, State 1, Line 5\nInvalid column name 'nothing'.\n";
    let done = folder.run(["sql", "-i", path]);
    assert_eq!((done.status, done.out.as_str(), done.err.as_str()), (1, "a\na\na\nd\n", error));
    let done = folder.run(["sql", "-b", "-i", path]);
    assert_eq!((done.status, done.out.as_str(), done.err.as_str()), (1, "a\na\na\n", error));
    folder.sql("PRINT 'a'\nGO -1").failed_with("Msg 102, Level 15, State 1, Line 2");
    folder.sql("PRINT 'a'\nGO now").failed_with("Msg 102, Level 15, State 1, Line 2");
    let out = folder.sql_clean("PRINT 'a line with\nGO\nin it' /*\nGO\n*/");
    assert_eq!(out, "a line with\nGO\nin it\n");
}

#[test]
fn scripts_come_from_files_and_from_standard_input() {
    let folder = Folder::new("input");
    let text = "PRINT 'één'\nGO\nPRINT 'two'";
    let expected = (0, "één\ntwo\n");
    let utf16: Vec<u8> = std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    folder.write("utf8.sql", text);
    folder.write("utf16.sql", utf16);
    for name in ["utf8.sql", "utf16.sql"] {
        let done = folder.run(["sql", "-i", name]);
        assert_eq!((done.status, done.out.as_str()), expected, "{name}: {}", done.err);
    }
    for arguments in [&["sql"][..], &["sql", "-i", "-"]] {
        let done = folder.run_with_input(arguments, text.as_bytes());
        assert_eq!((done.status, done.out.as_str()), expected, "{}", done.err);
    }
    let done = folder.run_with_input(["sql"], b"");
    assert_eq!((done.status, done.out.as_str(), done.err.as_str()), (0, "", ""));
}

#[test]
fn a_script_that_cannot_be_read_is_named_and_no_folder_is_made() {
    let folder = Folder::new("unreadable");
    folder.write("latin1.sql", b"PRINT 'caf\xe9'");
    folder.run(["sql", "-i", "none.sql"]).failed_saying("pikepole: none.sql: No such file or directory (os error 2)\n");
    folder.run(["sql", "-i", "."]).failed_saying("pikepole: .: Is a directory (os error 21)\n");
    folder
        .run(["sql", "-i", "latin1.sql"])
        .failed_saying("pikepole: latin1.sql is not UTF-8 text (byte 10); save it as UTF-8 or UTF-16\n");
    assert!(!folder.path().join("pikepole-data").exists());
}

#[test]
fn policies_are_in_force_for_the_run_and_wrong_ones_say_which_there_are() {
    let folder = Folder::new("policy");
    let query = "SELECT * FROM sys.dm_pikepole_policies";
    let value = |policies: &[&str]| {
        let done = folder.run(["sql", "--json", "-Q", query].iter().chain(policies));
        assert_eq!(done.status, 0, "{}", done.err);
        let rows: serde_json::Value = serde_json::from_str(&done.out).expect("JSON");
        let rows = rows.as_array().expect("an array").clone();
        let row = rows.iter().find(|row| row["name"] == "LOG_RESERVATION").expect("a policy").clone();
        row["value_in_use"].as_str().expect("text").to_string()
    };
    assert_eq!(value(&["--policy", "log_reservation = spinlock"]), "SPINLOCK");
    assert_eq!(value(&[]), "CHUNK");
    let done = folder.run(["sql", "--policy", "NOTHING=1", "-Q", "PRINT 1"]);
    done.failed_with("pikepole: Msg 15123");
    assert!(done.err.contains("LOG_RESERVATION") && done.err.contains("TRANSACTION_IDS"), "{}", done.err);
    let done = folder.run(["sql", "--policy", "LOG_RESERVATION=FAST", "-Q", "PRINT 1"]);
    assert!(done.err.contains("SPINLOCK, ATOMIC"), "{}", done.err);
    let done = folder.run(["sql", "--policy", "LOG_RESERVATION", "-Q", "PRINT 1"]);
    done.failed_saying("pikepole: --policy takes NAME=VALUE, not `LOG_RESERVATION`\n");
}

#[test]
fn a_reader_that_has_seen_enough_ends_it_quietly() {
    let folder = Folder::new("pipe");
    let script = "DECLARE @i int = 0; WHILE @i < 20000 BEGIN PRINT 'a line of some length'; SET @i += 1; END";
    let mut command = folder.command(["sql", "-Q", script]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts");
    let mut first = [0; 6];
    child.stdout.take().expect("it was asked for").read_exact(&mut first).expect("output");
    assert_eq!(&first, b"a line");
    let output = child.wait_with_output().expect("the binary ends");
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(1), &b""[..]));
    assert_eq!(folder.run(["check", "pikepole-data"]).status, 0);
}
