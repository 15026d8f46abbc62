//! Wrong statements, and what is said about them.

use pikepole_tsql::{ParseOptions, parse, parse_condition, parse_expression, parse_parameters, parse_with};

/// A text, and the number, line and message of its error.
type Wrong = (&'static str, i32, u32, &'static str);

const NEAR: &[Wrong] = &[
    ("SELECT 1 +", 102, 1, "Incorrect syntax near '+'."),
    ("SELECT * FROM", 102, 1, "Incorrect syntax near 'FROM'."),
    ("SELECT", 102, 1, "Incorrect syntax near 'SELECT'."),
    ("SELECT * FROM WHERE a = 1", 156, 1, "Incorrect syntax near the keyword 'WHERE'."),
    ("SELECT 1,\nFROM t", 156, 2, "Incorrect syntax near the keyword 'FROM'."),
    ("SELECT a FROM t\nWHERE\n)", 102, 3, "Incorrect syntax near ')'."),
    ("SELECT (1", 102, 1, "Incorrect syntax near '1'."),
    ("SELECT 1)", 102, 1, "Incorrect syntax near ')'."),
    ("SELECT a b c FROM t", 102, 1, "Incorrect syntax near 'c'."),
    ("SELECT a FROM t ORDER a", 102, 1, "Incorrect syntax near 'a'."),
    ("SELECT a FROM t GROUP a", 102, 1, "Incorrect syntax near 'a'."),
    ("SELECT order FROM t", 156, 1, "Incorrect syntax near the keyword 'order'."),
    ("SELECT 1 AS from", 156, 1, "Incorrect syntax near the keyword 'from'."),
    ("SELECT a > 1 FROM t", 102, 1, "Incorrect syntax near '>'."),
    ("SELECT (a = 1)", 102, 1, "Incorrect syntax near '='."),
    ("SELECT a = b = c", 102, 1, "Incorrect syntax near '='."),
    ("SELECT f(1,) FROM t", 102, 1, "Incorrect syntax near ')'."),
    ("SELECT CASE END", 156, 1, "Incorrect syntax near the keyword 'END'."),
    ("SELECT CASE WHEN 1 = 1 THEN 2", 102, 1, "Incorrect syntax near '2'."),
    ("SELECT CAST(1 int)", 102, 1, "Incorrect syntax near 'int'."),
    ("SELECT * FROM (SELECT 1)", 102, 1, "Incorrect syntax near ')'."),
    ("SELECT * FROM a JOIN b", 102, 1, "Incorrect syntax near 'b'."),
    ("SELECT * FROM a JOIN b WHERE 1 = 1", 156, 1, "Incorrect syntax near the keyword 'WHERE'."),
    ("SELECT 1 FROM t WHERE a IN ()", 102, 1, "Incorrect syntax near ')'."),
    ("SELECT 'a' 'b' 'c'", 102, 1, "Incorrect syntax near 'c'."),
    ("DECLARE @a int\nSET @a 5", 102, 2, "Incorrect syntax near '5'."),
    ("DECLARE a int", 102, 1, "Incorrect syntax near 'int'."),
    ("DECLARE @a", 102, 1, "Incorrect syntax near '@a'."),
    ("DECLARE @a int, ", 102, 1, "Incorrect syntax near ','."),
    ("IF 1 = 1", 102, 1, "Incorrect syntax near '1'."),
    ("IF 1 = 1 PRINT 'a' ELSE", 102, 1, "Incorrect syntax near 'ELSE'."),
    ("ELSE PRINT 1", 156, 1, "Incorrect syntax near the keyword 'ELSE'."),
    ("BEGIN", 102, 1, "Incorrect syntax near 'BEGIN'."),
    ("BEGIN\nEND", 102, 2, "Incorrect syntax near 'END'."),
    ("BEGIN PRINT 1", 102, 1, "Incorrect syntax near '1'."),
    ("END", 156, 1, "Incorrect syntax near the keyword 'END'."),
    ("BEGIN TRY PRINT 1 END TRY PRINT 2", 156, 1, "Incorrect syntax near the keyword 'PRINT'."),
    ("BEGIN TRY PRINT 1 END CATCH", 102, 1, "Incorrect syntax near 'CATCH'."),
    ("PRINT 1 THROW", 102, 1, "Incorrect syntax near 'THROW'."),
    ("PRINT 1\nfoo", 102, 2, "Incorrect syntax near 'foo'."),
    ("PRINT 1 foo 2", 102, 1, "Incorrect syntax near 'foo'."),
    ("INSERT INTO t (a VALUES (1)", 156, 1, "Incorrect syntax near the keyword 'VALUES'."),
    ("INSERT INTO t VALUES 1", 102, 1, "Incorrect syntax near '1'."),
    ("INSERT INTO t VALUES (1", 102, 1, "Incorrect syntax near '1'."),
    ("INSERT INTO t", 102, 1, "Incorrect syntax near 't'."),
    ("UPDATE t SET", 102, 1, "Incorrect syntax near 'SET'."),
    ("UPDATE t a = 1", 102, 1, "Incorrect syntax near 'a'."),
    ("DELETE FROM WHERE a = 1", 156, 1, "Incorrect syntax near the keyword 'WHERE'."),
    ("CREATE TABLE t", 102, 1, "Incorrect syntax near 't'."),
    ("CREATE TABLE t ()", 102, 1, "Incorrect syntax near ')'."),
    ("CREATE TABLE t (a)", 102, 1, "Incorrect syntax near ')'."),
    ("CREATE TABLE t (\n  a int,\n  b int NOT,\n  c int)", 156, 3, "Incorrect syntax near the keyword 'NOT'."),
    ("CREATE TABLE table (a int)", 156, 1, "Incorrect syntax near the keyword 'table'."),
    ("CREATE TABLE t (a int PRIMARY)", 102, 1, "Incorrect syntax near ')'."),
    ("CREATE FOO x", 102, 1, "Incorrect syntax near 'FOO'."),
    ("DROP t", 102, 1, "Incorrect syntax near 't'."),
    ("DROP TABLE IF t", 156, 1, "Incorrect syntax near the keyword 'IF'."),
    ("CREATE INDEX ON t (a)", 156, 1, "Incorrect syntax near the keyword 'ON'."),
    ("EXEC", 102, 1, "Incorrect syntax near 'EXEC'."),
    ("EXEC p 1 + 2", 102, 1, "Incorrect syntax near '+'."),
    ("EXEC p @a = 1 OUTPUT", 102, 1, "Incorrect syntax near 'OUTPUT'."),
    ("SELEC * FROM t", 102, 1, "Incorrect syntax near '*'."),
    ("SET FOO ON", 195, 1, "'FOO' is not a recognized SET option."),
    ("SET NOCOUNT", 102, 1, "Incorrect syntax near 'NOCOUNT'."),
    ("WAITFOR 5", 102, 1, "Incorrect syntax near '5'."),
    ("SELECT ? FROM t", 102, 1, "Incorrect syntax near '?'."),
    ("SELECT 1 \u{1F600}", 102, 1, "Incorrect syntax near '\u{1F600}'."),
    ("SELECT [a b] [c d] [e]]f]", 102, 1, "Incorrect syntax near 'e]f'."),
    ("CREATE VIEW v AS SELECT 1 AS a; SELECT 2", 156, 1, "Incorrect syntax near the keyword 'SELECT'."),
    ("CREATE PROCEDURE p @a int = 1 + 2 AS SELECT 1", 102, 1, "Incorrect syntax near '+'."),
    ("CREATE TRIGGER g ON t AFTER INSERT AS", 102, 1, "Incorrect syntax near 'AS'."),
    ("ALTER DATABASE d SET RECOVERY SIMPLE WITH ROLLBACK", 102, 1, "Incorrect syntax near 'ROLLBACK'."),
    ("ALTER SERVER CONFIGURATION SET PROCESS AFFINITY CPU = x", 102, 1, "Incorrect syntax near 'x'."),
    ("SELECT 1\r\n\r\nSELECT 2 +\r\n", 102, 3, "Incorrect syntax near '+'."),
];

const OTHER: &[Wrong] = &[
    ("SELECT 'abc", 105, 1, "Unclosed quotation mark after the character string 'abc'."),
    ("SELECT 1\nPRINT 'it''s\n", 105, 2, "Unclosed quotation mark after the character string 'it''s\n'."),
    ("SELECT [abc", 105, 1, "Unclosed quotation mark after the character string 'abc'."),
    ("SELECT \"abc", 105, 1, "Unclosed quotation mark after the character string 'abc'."),
    ("SELECT 1\n/* a /* b */", 113, 2, "Missing end comment mark '*/'."),
    ("SELECT 1 + * 'x", 102, 1, "Incorrect syntax near '*'."),
    (
        "IF 1 PRINT 'a'",
        4145,
        1,
        "An expression of non-boolean type specified in a context where a condition is expected, near 'PRINT'.",
    ),
    (
        "SELECT 1\nWHERE\na",
        4145,
        3,
        "An expression of non-boolean type specified in a context where a condition is expected, near 'a'.",
    ),
    (
        "WHILE (1) BREAK",
        4145,
        1,
        "An expression of non-boolean type specified in a context where a condition is expected, near 'BREAK'.",
    ),
    (
        "IF a = 1 AND b PRINT 1",
        4145,
        1,
        "An expression of non-boolean type specified in a context where a condition is expected, near 'PRINT'.",
    ),
    (
        "SELECT 1 FROM t WHERE a NOT = 1",
        4145,
        1,
        "An expression of non-boolean type specified in a context where a condition is expected, near 'NOT'.",
    ),
    (
        "SELECT 1 WHERE a ! b",
        4145,
        1,
        "An expression of non-boolean type specified in a context where a condition is expected, near '!'.",
    ),
    ("BREAK", 135, 1, "Cannot use a BREAK statement outside the scope of a WHILE statement."),
    ("IF 1 = 1\nCONTINUE", 136, 2, "Cannot use a CONTINUE statement outside the scope of a WHILE statement."),
    (
        "a: PRINT 1\nA:",
        132,
        2,
        "The label 'A' has already been declared. Label names must be unique within a query batch or stored procedure.",
    ),
    ("PRINT 1\nGOTO b", 133, 2, "A GOTO statement references the label 'b' but the label has not been declared."),
    (
        "SELECT 1\nCREATE PROCEDURE p AS SELECT 1",
        111,
        2,
        "'CREATE/ALTER PROCEDURE' must be the first statement in a query batch.",
    ),
    ("IF 1 = 1 CREATE VIEW v AS SELECT 1", 111, 1, "'CREATE VIEW' must be the first statement in a query batch."),
    (
        "PRINT 1 ALTER FUNCTION f () RETURNS int AS BEGIN RETURN 1 END",
        111,
        1,
        "'ALTER FUNCTION' must be the first statement in a query batch.",
    ),
    ("BEGIN CREATE SCHEMA s END", 111, 1, "'CREATE SCHEMA' must be the first statement in a query batch."),
    (
        "EXEC p @a = 1, 2",
        119,
        1,
        "Must pass parameter number 2 and subsequent parameters as '@name = value'. After the form '@name = value' has been used, all subsequent parameters must be passed in the form '@name = value'.",
    ),
    (
        "SELECT 1 FROM t\nWITH a AS (SELECT 1 x) SELECT * FROM a",
        319,
        2,
        "Incorrect syntax near the keyword 'WITH'. If this statement is a common table expression, an xmlnamespaces clause or a change tracking context clause, the previous statement must be terminated with a semicolon.",
    ),
    (
        "MERGE t USING u ON 1 = 1 WHEN MATCHED THEN DELETE\nSELECT 1",
        10713,
        2,
        "A MERGE statement must be terminated by a semi-colon (;).",
    ),
    (
        "SELECT 1 AS []",
        1038,
        1,
        "An object or column name is missing or empty. For SELECT INTO statements, verify each column has a name. For other statements, look for empty alias names. Aliases defined as \"\" or [] are not allowed. Change the alias to a valid name.",
    ),
    (
        "SELECT * FROM t WITH (NOLOK)",
        321,
        1,
        "\"NOLOK\" is not a recognized table hints option. If it is intended as a parameter to a table-valued function or to the CHANGETABLE function, ensure that your database compatibility mode is set to 90.",
    ),
    (
        "SELECT * FROM a.b.c.d.e",
        117,
        1,
        "The object name 'a.b.c.d.e' contains more than the maximum number of prefixes. The maximum is 3.",
    ),
    (
        "SELECT 123456789012345678901234567890123456789",
        1007,
        1,
        "The number '123456789012345678901234567890123456789' is out of the range for numeric representation (maximum precision 38).",
    ),
    (
        "SELECT 1e400",
        168,
        1,
        "The floating point value '1e400' is out of the range of computer representation (8 bytes).",
    ),
];

fn check(table: &[Wrong]) {
    let mut failures = String::new();
    for (text, number, line, message) in table {
        let told = match parse(text) {
            Err(error) if error.number == *number && error.line == *line && error.message == *message => {
                assert_eq!(error.severity, 15);
                continue;
            }
            Err(error) => error.to_string(),
            Ok(tree) => format!("parses: {tree}"),
        };
        failures += &format!("{text}\n  wanted {number}, line {line}: {message}\n  got {told}\n");
    }
    assert!(failures.is_empty(), "{failures}");
}

#[test]
fn errors_of_syntax() {
    check(NEAR);
}

#[test]
fn other_errors() {
    check(OTHER);
}

#[test]
fn names_are_limited_to_128_characters() {
    let longest = "ä".repeat(128);
    assert!(parse(&format!("SELECT {longest}, [{longest}], @{}", "v".repeat(127))).is_ok());
    for text in [format!("SELECT {longest}x"), format!("SELECT [{longest}x]"), format!("SELECT\n @{}", "v".repeat(128))]
    {
        let error = parse(&text).unwrap_err();
        assert_eq!(error.number, 103);
        assert!(error.message.ends_with("' is too long. Maximum length is 128."), "{}", error.message);
        assert_eq!(error.line, text.lines().count() as u32);
    }
}

#[test]
fn long_tokens_are_quoted_in_part() {
    let error = parse(&format!("PRINT '{}", "x".repeat(1_000_000))).unwrap_err();
    assert_eq!(error.number, 105);
    assert!(error.message.len() < 250);
}

#[test]
fn double_quotes_follow_the_option() {
    let off = ParseOptions { quoted_identifier: false };
    assert_ne!(parse("SELECT \"a\"\"b\"").unwrap(), parse_with("SELECT \"a\"\"b\"", off).unwrap());
    assert_eq!(parse("SELECT 'a\"b'").unwrap(), parse_with("SELECT \"a\"\"b\"", off).unwrap());
    assert_eq!(parse("SELECT 1 FROM [a]").unwrap(), parse("SELECT 1 FROM \"a\"").unwrap());
    assert_eq!(parse_with("SELECT 1 FROM \"a\"", off).unwrap_err().number, 102);
    assert!(parse_with("PRINT \"\"", off).is_ok());
}

#[test]
fn fragments_parse_alone() {
    assert_eq!(parse_expression("(getdate())").unwrap().to_string(), "getdate()");
    assert_eq!(parse_condition("([a]>(0) and b=1)").unwrap().to_string(), "a > 0 AND b = 1");
    assert_eq!(parse_expression("1 2").unwrap_err().number, 102);
    assert_eq!(parse_condition("1").unwrap_err().number, 4145);
    let parameters = parse_parameters("@a int, @b nvarchar(20) = N'x' OUTPUT").unwrap();
    assert_eq!((parameters.len(), parameters[1].output), (2, true));
    assert!(parse_parameters(" -- none").unwrap().is_empty());
    assert_eq!(parse_parameters("@a").unwrap_err().number, 102);
}
