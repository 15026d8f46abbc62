//! Natively compiled modules do in machine code what they do interpreted: on bodies and arguments made by chance.
//!
//! `PIKEPOLE_NATIVE_RUNS` asks for other than the usual number of bodies, `PIKEPOLE_NATIVE_SEED` for another first one.

use std::fmt::Write as _;

use super::joins::Chance;
use super::*;
use crate::procedural::{MADE, TAKEN, interpreted};
use crate::program::INSTRUCTIONS_MAX;

/// Bodies that are made where nothing says otherwise.
const RUNS: u64 = 400;
/// Calls of each body.
const CALLS: usize = 4;
const VARIABLES: [(&str, &str); 6] =
    [("@a", "bit"), ("@b", "tinyint"), ("@c", "smallint"), ("@d", "int"), ("@e", "bigint"), ("@s", "varchar(8)")];

fn constant(chance: &mut Chance) -> String {
    let constants =
        ["0", "1", "2", "-1", "7", "255", "256", "-32768", "32767", "2147483647", "-2147483648", "NULL", "100", "13"];
    chance.pick(&constants).to_owned()
}

/// An expression over the integer variables.
fn integer(chance: &mut Chance, depth: usize) -> String {
    if depth == 0 || chance.one_in(3) {
        return if chance.one_in(3) { constant(chance) } else { VARIABLES[chance.below(5)].0.to_owned() };
    }
    let operand = |chance: &mut Chance| integer(chance, depth - 1);
    match chance.below(8) {
        0 => format!("(-{})", operand(chance)),
        1 => format!("(~{})", operand(chance)),
        2 => format!("CAST({} AS {})", operand(chance), VARIABLES[chance.below(5)].1),
        3 => format!("ISNULL({}, {})", operand(chance), operand(chance)),
        _ => {
            let op = chance.pick(&["+", "-", "*", "/", "%", "&", "|", "^"]);
            format!("({} {op} {})", operand(chance), operand(chance))
        }
    }
}

fn condition(chance: &mut Chance, depth: usize) -> String {
    match chance.below(if depth > 0 { 7 } else { 4 }) {
        0 => format!("{} IS NULL", VARIABLES[chance.below(6)].0),
        1 => format!("@s LIKE '{}%'", chance.pick(&["a", "1", ""])),
        2 => format!("{} IS NOT NULL", integer(chance, 1)),
        3 => {
            let op = chance.pick(&["=", "<>", "<", "<=", ">", ">="]);
            format!("{} {op} {}", integer(chance, 2), integer(chance, 2))
        }
        4 => format!("NOT ({})", condition(chance, depth - 1)),
        5 => format!("({} AND {})", condition(chance, depth - 1), condition(chance, depth - 1)),
        _ => format!("({} OR {})", condition(chance, depth - 1), condition(chance, depth - 1)),
    }
}

/// A statement about the row of a key, or behind one.
fn row_of_a_key(chance: &mut Chance) -> String {
    let key = integer(chance, 1);
    match chance.below(9) {
        0 => format!("UPDATE dbo.t SET v = {} WHERE k = {key}", integer(chance, 2)),
        1 => format!("UPDATE dbo.t SET v = v + {}, w = ISNULL(w, 0) + 1 WHERE k = {key}", integer(chance, 1)),
        2 => format!("UPDATE dbo.t SET s = @s WHERE k = {key} AND {}", condition(chance, 1)),
        3 => format!("UPDATE dbo.t SET k = {} WHERE k = {key}", integer(chance, 1)),
        4 => format!("DELETE dbo.t WHERE k = {key}"),
        5 => format!("DELETE dbo.t WHERE k = {key} AND v > {}", integer(chance, 1)),
        6 => format!("SELECT @d = v, @s = s FROM dbo.t WHERE k = {key}"),
        7 => "SET @d = @@ROWCOUNT".to_owned(),
        _ => format!("IF @d = 1234567 RETURN {}", integer(chance, 1)),
    }
}

/// An INSERT of integers, which machine code makes, or with a text that is none of its constants.
fn new_row(chance: &mut Chance) -> String {
    if chance.one_in(3) {
        return format!("INSERT INTO dbo.t (k, v, s) VALUES ({}, {}, @s)", integer(chance, 1), integer(chance, 2));
    }
    let values: Vec<String> = (0..5).map(|at| integer(chance, at % 2)).collect();
    let text = chance.pick(&["'text'", "NULL", "''"]);
    format!("INSERT INTO dbo.u (k, b, c, f, d, s) VALUES ({}, {text})", values.join(", "))
}

/// A statement; loops count with a variable of their depth, so they end.
fn statement(chance: &mut Chance, depth: usize) -> String {
    let inner = |chance: &mut Chance| {
        let count = 1 + chance.below(3);
        (0..count).map(|_| statement(chance, depth - 1)).collect::<Vec<_>>().join("\n")
    };
    match chance.below(if depth > 0 { 12 } else { 8 }) {
        0..=3 => format!("SET {} = {}", VARIABLES[chance.below(5)].0, integer(chance, 3)),
        4 => format!("SET @s = CAST({} AS varchar(8))", integer(chance, 1)),
        5 => {
            format!("SET {} {} {}", VARIABLES[chance.below(5)].0, chance.pick(&["+=", "-=", "*="]), integer(chance, 1))
        }
        6 => new_row(chance),
        7 => row_of_a_key(chance),
        8 | 9 => format!("IF {} BEGIN {} END ELSE BEGIN {} END", condition(chance, 2), inner(chance), inner(chance)),
        10 => format!(
            "SET @n{depth} = 0 WHILE @n{depth} < {} BEGIN SET @n{depth} += 1 {} {} END",
            chance.below(70),
            inner(chance),
            chance.pick(&["", "IF @e > 5 BREAK", "IF @c > 100 CONTINUE"])
        ),
        _ => format!(
            "BEGIN TRY {} END TRY BEGIN CATCH SET @s = CAST(ERROR_NUMBER() AS varchar(8)) {} END CATCH",
            inner(chance),
            inner(chance)
        ),
    }
}

fn procedure(chance: &mut Chance) -> String {
    let parameters: Vec<String> = VARIABLES.iter().map(|(name, ty)| format!("{name} {ty} OUTPUT")).collect();
    let count = 2 + chance.below(6);
    let body: Vec<String> = (0..count).map(|_| statement(chance, 3)).collect();
    format!(
        "CREATE PROCEDURE dbo.p {} WITH NATIVE_COMPILATION, SCHEMABINDING AS
         BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english')
         DECLARE @n1 int = 0, @n2 int = 0, @n3 int = 0
         {}
         RETURN {}
         END",
        parameters.join(", "),
        body.join("\n"),
        integer(chance, 1)
    )
}

fn calls(chance: &mut Chance) -> String {
    let mut script = String::new();
    for _ in 0..CALLS {
        let small = |chance: &mut Chance| chance.pick(&["0", "1", "3", "NULL", "9", "200"]).to_owned();
        let values = [small(chance), small(chance), small(chance), constant(chance), constant(chance)];
        let [a, b, c, d, e] = values;
        write!(
            script,
            "DECLARE @r int, @a bit = {a}, @b tinyint = {b}, @c smallint = {c}, @d int = {d}, @e bigint = {e}, @s varchar(8) = 'ab'
             EXEC @r = dbo.p @a OUTPUT, @b OUTPUT, @c OUTPUT, @d OUTPUT, @e OUTPUT, @s OUTPUT
             SELECT @r, @a, @b, @c, @d, @e, @s, @@TRANCOUNT
             SELECT k, v, s, w FROM dbo.t ORDER BY k
             SELECT k, b, c, f, d, s FROM dbo.u ORDER BY k DESC, b
             SELECT k, ROW_NUMBER() OVER (ORDER BY n) FROM dbo.u ORDER BY b, n DESC
             GO
             "
        )
        .expect("a text takes it");
    }
    script
}

#[test]
fn native_modules_do_what_interpreted_ones_do() {
    let asked = |name: &str| std::env::var(name).ok().and_then(|value| value.parse().ok());
    let (runs, first) = (asked("PIKEPOLE_NATIVE_RUNS").unwrap_or(RUNS), asked("PIKEPOLE_NATIVE_SEED").unwrap_or(1));
    let (mut compiled, made) = (0, MADE.get());
    for seed in first..first + runs {
        let chance = &mut Chance(seed);
        let (procedure, calls) = (procedure(chance), calls(chance));
        let run = || {
            let mut client = Client::alone();
            let hash = if seed % 2 == 0 { "HASH WITH (BUCKET_COUNT = 8)" } else { "" };
            client.shown(&format!(
                "CREATE TABLE dbo.t (k int NOT NULL PRIMARY KEY NONCLUSTERED {hash}, v bigint NULL, s varchar(8) NULL, w smallint NULL, INDEX by_s (s))
                 WITH (MEMORY_OPTIMIZED = ON)
                 GO
                 CREATE TABLE dbo.u (k bigint NOT NULL, b tinyint NOT NULL, c smallint NULL, n int NOT NULL IDENTITY, f bit NULL, d int NULL, s varchar(8) NULL,
                 PRIMARY KEY NONCLUSTERED (k DESC, b), INDEX by_b (b, n DESC)) WITH (MEMORY_OPTIMIZED = ON)"
            ));
            client.shown("INSERT dbo.t (k, v, s) VALUES (1, 10, 'x'), (2, NULL, 'y'), (3, 30, NULL), (7, 70, 'z')");
            let made = client.shown(&procedure);
            (made, client.shown(&calls))
        };
        let native = run();
        compiled += u64::from(native.0.is_empty());
        assert_eq!(native, interpreted(run), "seed {seed}:\n{procedure}\n{calls}");
    }
    assert!(compiled * 3 > runs, "{compiled} of {runs} bodies are valid");
    assert!(u64::from(MADE.get() - made) > runs / 10, "machine code has made {} rows", MADE.get() - made);
}

/// Runs a natively compiled procedure with this body, whose status is to be `status`; tells if it has machine code.
fn has_code(body: &str, status: &str) -> bool {
    let mut client = Client::alone();
    client.shown(&format!(
        "CREATE PROCEDURE dbo.p WITH NATIVE_COMPILATION, SCHEMABINDING AS
         BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english')
         DECLARE @i int = 0 {body} RETURN @i END"
    ));
    assert_eq!(client.value("DECLARE @r int EXEC @r = dbo.p SELECT @r"), status);
    let catalog = client.context.catalog();
    let module = catalog.catalog.procedure("dbo", "p").expect("a procedure");
    let (database, text) = (client.context.database().id(), &module.text);
    let program = client.context.plans.procedure(database, module.object_id, text).expect("a program");
    program.code.get().is_some_and(Option::is_some)
}

#[test]
fn a_native_module_has_machine_code_unless_it_is_very_long() {
    assert!(has_code("WHILE @i < 1000 OR @i IS NULL SET @i += 1", "1000"));
    let turns = |count: usize| "SET @i += 1 ".repeat(count);
    assert!(has_code(&turns(INSTRUCTIONS_MAX - 10), &(INSTRUCTIONS_MAX - 10).to_string()));
    assert!(!has_code(&turns(INSTRUCTIONS_MAX), &INSTRUCTIONS_MAX.to_string()));
    // More parts than are compiled: the rest is the machine's, and the sum is right.
    let long = format!("SET @i = @i {} ", "+ (@i + 1) ".repeat(20)).repeat(2) + "SET @i = 0 ";
    assert!(has_code(&(long.repeat(300) + "SET @i += 7"), "7"));
}

#[test]
fn statements_about_one_row_go_the_shortest_way_from_the_second_time_on() {
    let statements = [
        "INSERT dbo.t (k, v) VALUES (@i, 0)",
        "UPDATE dbo.t SET v = v + 1 WHERE k = @i",
        "UPDATE dbo.t SET v += @i WHERE k = @i AND v < 100",
        "SELECT @v = v FROM dbo.t WHERE k = @i",
        "DELETE dbo.t WHERE k = @i",
        "DELETE dbo.t WHERE k = @i AND v < 100",
    ];
    for (statement, index) in statements.into_iter().flat_map(|own| [(own, ""), (own, ", INDEX by_v (v)")]) {
        let mut client = Client::alone();
        client.shown(&format!(
            "CREATE TABLE dbo.t (k int NOT NULL PRIMARY KEY NONCLUSTERED HASH WITH (BUCKET_COUNT = 8), v bigint NULL{index}) WITH (MEMORY_OPTIMIZED = ON)
             GO
             CREATE PROCEDURE dbo.p WITH NATIVE_COMPILATION, SCHEMABINDING AS
             BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english')
             DECLARE @i int = 0, @v bigint WHILE @i < 10 BEGIN {statement} SET @i += 1 END END"
        ));
        let before = TAKEN.get();
        client.shown("EXEC dbo.p");
        // The rows of an update may get other places in an index over what it changes.
        let is_short = !statement.starts_with("UPDATE") || index.is_empty();
        assert_eq!(TAKEN.get() - before, if is_short { 9 } else { 0 }, "{statement} {index}");
    }
}

#[test]
fn rows_of_numbers_and_times_are_made_by_machine_code() {
    let mut client = Client::alone();
    client.shown(
        "CREATE TABLE dbo.t (id bigint NOT NULL, at datetime NOT NULL, exact datetime2(7) NOT NULL, utc datetime NULL, s varchar(100) NOT NULL, n int NULL, \
         c bigint NULL, i int IDENTITY(5, 5) NOT NULL, PRIMARY KEY NONCLUSTERED (id), INDEX by_time (at, i)) WITH (MEMORY_OPTIMIZED = ON)
         GO
         CREATE PROCEDURE dbo.p @first bigint WITH NATIVE_COMPILATION, SCHEMABINDING AS
         BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english')
         DECLARE @i int = 0, @no bigint WHILE @i < 10 BEGIN
         INSERT dbo.t (id, at, exact, utc, s, n, c) VALUES (@first + @i, GETDATE(), SYSDATETIME(), GETUTCDATE(), 'text', @i * @i, @no) SET @i += 1 END END",
    );
    let made = MADE.get();
    client.quiet("EXEC dbo.p -5 EXEC dbo.p 1000000000000");
    assert_eq!(MADE.get() - made, 19, "all rows but the first");
    let right = "exact BETWEEN DATEADD(minute, -1, SYSDATETIME()) AND SYSDATETIME() AND ABS(DATEDIFF(millisecond, exact, at)) <= 4 AND at = utc";
    assert_eq!(client.value(&format!("SELECT COUNT(*) FROM dbo.t WHERE {right} AND s = 'text' AND c IS NULL")), "20");
    assert_eq!(
        client.value(
            "SELECT COUNT(*) FROM dbo.t WHERE n = SQUARE(CASE WHEN id < 100 THEN id + 5 ELSE id - 1000000000000 END)"
        ),
        "20"
    );
    assert_eq!(client.value("SELECT SUM(i) FROM dbo.t"), (5 * (1..=20).sum::<i32>()).to_string());
    // Each index leads to each row.
    for range in ["at > '2000-01-01'", "id >= -5"] {
        assert_eq!(client.value(&format!("SELECT COUNT(*) FROM dbo.t WHERE {range}")), "20");
    }
    // What fails is raised as of any INSERT, and the row after it is made again.
    let made = MADE.get();
    let overflow = client.shown("EXEC dbo.p 9223372036854775800");
    assert!(overflow.iter().any(|line| line.starts_with("Msg 8115")), "{overflow:?}");
    let duplicate = client.shown("EXEC dbo.p -12");
    assert!(duplicate.iter().any(|line| line.starts_with("Msg 2627") && line.contains("(-5)")), "{duplicate:?}");
    assert_eq!(MADE.get() - made, 7, "those before the duplicate; numbers of 64 bits are evaluated as of any INSERT");
    client.quiet("EXEC dbo.p 500");
    assert_eq!(MADE.get() - made, 7 + 10);
    assert_eq!(client.value("SELECT COUNT(*) FROM dbo.t"), "30");
}

#[test]
fn rows_of_many_numbers_or_long_constants_are_evaluated() {
    let columns = |ty: &str, count: usize| (0..count).map(|at| format!(", c{at} {ty} NOT NULL")).collect::<String>();
    let long = "x".repeat(3_000);
    for (columns, values, is_made) in [
        (columns("int", 90), ", @i".repeat(90), true),
        (columns("int", 110), ", @i".repeat(110), false),
        (columns("varchar(8000)", 1), ", 'short'".to_owned(), true),
        (columns("varchar(8000)", 1), format!(", '{long}'"), false),
    ] {
        let mut client = Client::alone();
        let made = MADE.get();
        client.quiet(&format!(
            "CREATE TABLE dbo.t (k int NOT NULL PRIMARY KEY NONCLUSTERED{columns}) WITH (MEMORY_OPTIMIZED = ON)
             GO
             CREATE PROCEDURE dbo.p WITH NATIVE_COMPILATION, SCHEMABINDING AS
             BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english')
             DECLARE @i int = 0 WHILE @i < 4 BEGIN INSERT dbo.t VALUES (@i{values}) SET @i += 1 END END
             GO
             EXEC dbo.p"
        ));
        assert_eq!(MADE.get() - made, if is_made { 3 } else { 0 });
        assert_eq!(client.value("SELECT COUNT(DISTINCT k) + COUNT(c0) FROM dbo.t"), "8");
    }
}
