//! Depth, size and nonsense: an error or a tree, never a panic, and no overflow of the stack.

use pikepole_tsql::{HEIGHT_MAX, NESTING_MAX, parse, split_batches};
use proptest::prelude::*;

/// Runs a closure on a stack of one megabyte, half of what threads usually have.
fn on_a_small_stack(run: impl FnOnce() + Send + 'static) {
    let small = std::thread::Builder::new().stack_size(1 << 20);
    small.spawn(run).expect("a thread").join().expect("no panic");
}

/// Parses, prints, compares and drops.
fn survives(text: &str) -> Option<i32> {
    match parse(text) {
        Ok(tree) => {
            assert!(tree.clone() == tree && !tree.to_string().is_empty());
            None
        }
        Err(error) => Some(error.number),
    }
}

#[test]
fn nesting_is_bounded() {
    on_a_small_stack(|| {
        let deep = 50_000;
        let nested = |before: &str, inside: &str, behind: &str| {
            format!("{}{inside}{}", before.repeat(deep), behind.repeat(deep))
        };
        let texts = [
            format!("SELECT {}", nested("(", "1", ")")),
            format!("SELECT {}", nested("f(", "1", ")")),
            format!("SELECT {}", nested("-(", "1", ")")),
            format!("SELECT {}", nested("CASE WHEN ", "1 = 1", " THEN 1 END = 1")),
            format!("SELECT {}", nested("(SELECT ", "1", ")")),
            format!("SELECT 1 WHERE {}", nested("(", "1 = 1", ")")),
            format!("SELECT 1 WHERE {}", nested("NOT (", "1 = 1", ")")),
            format!("SELECT 1 WHERE {}", nested("EXISTS (SELECT 1 WHERE ", "1 = 1", ")")),
            format!("SELECT 1 WHERE {} 1 = 1", "NOT ".repeat(deep)),
            format!("SELECT {}1", "- ".repeat(deep)),
            format!("SELECT {}1", "~".repeat(deep)),
            format!("SELECT 1 FROM {}", nested("(", "a", ")")),
            format!("SELECT 1 FROM {}", nested("(SELECT 1 FROM ", "a", ") AS x")),
            format!("SELECT 1 FROM a {}", "JOIN b ".repeat(deep)),
            nested("(", "SELECT 1", ")"),
            format!("{}SELECT 1", "IF 1 = 1 ".repeat(deep)),
            format!("{} SELECT 1", "IF 1 = 1 SELECT 1 ELSE ".repeat(deep)),
            format!("{}SELECT 1", "WHILE 1 = 1 ".repeat(deep)),
            "BEGIN ".repeat(deep),
            "BEGIN TRY ".repeat(deep),
            format!("ALTER DATABASE d SET {}", nested("a = (", "b", ")")),
            format!("SELECT 1 GROUP BY {}", nested("GROUPING SETS (", "a", ")")),
        ];
        for text in texts {
            assert_eq!(survives(&text), Some(191), "{}", &text[..60]);
        }
        assert_eq!(survives(&format!("SELECT {}", "(".repeat(1_000_000))), Some(191));
        assert_eq!(survives(&"IF 1 = 1 ".repeat(1_000_000)), Some(191));
    });
}

#[test]
fn chains_are_bounded() {
    on_a_small_stack(|| {
        let long = 100_000;
        for text in [
            format!("SELECT a{}", " * -a".repeat(long)),
            format!("SELECT a{}", " AT TIME ZONE x".repeat(long)),
            format!("SELECT 1 FROM a{}", " CROSS JOIN b".repeat(long)),
            format!("SELECT 1 FROM a{}", " PIVOT (SUM(x) FOR y IN (z)) AS p".repeat(long)),
            // Chains inside chains: each is short enough, but not the whole.
            format!(
                "SELECT {}a{}",
                "(".repeat(150),
                " AT TIME ZONE b AT TIME ZONE c AT TIME ZONE d AT TIME ZONE e)".repeat(150)
            ),
        ] {
            assert_eq!(survives(&text), Some(191), "{}", &text[..60]);
        }
    });
}

/// What is within the bounds survives on the small stack too, and everyday chains are far within.
#[test]
fn trees_within_the_bounds_are_safe() {
    on_a_small_stack(|| {
        let (max, high) = (NESTING_MAX as usize, HEIGHT_MAX as usize);
        for text in [
            format!("SELECT {}1{}", "(".repeat(max - 10), ")".repeat(max - 10)),
            format!("SELECT {}1{}", "f(".repeat(max - 10), ")".repeat(max - 10)),
            format!("SELECT {}1{}", "(SELECT ".repeat(max / 2 - 10), ")".repeat(max / 2 - 10)),
            format!("SELECT 1 FROM {}a{}", "(SELECT 1 FROM ".repeat(max / 4), ") AS x".repeat(max / 4)),
            format!("{}SELECT 1", "IF 1 = 1 ".repeat(max - 10)),
            format!("{}PRINT 1{}", "BEGIN ".repeat(max - 10), " END".repeat(max - 10)),
            format!("SELECT 1 WHERE {}1 = 1", "NOT ".repeat(high - 10)),
            // Operators of one precedence, AND, OR and lists are flat: they may be as long as they like.
            format!("SELECT a{}", " + a - b".repeat(50_000)),
            format!("SELECT a{}", " * a / b % c".repeat(30_000)),
            format!("SELECT a{}", " * b + c".repeat(50_000)),
            format!("SELECT 1{}", " UNION ALL SELECT 1 EXCEPT SELECT 2 INTERSECT SELECT 3".repeat(30_000)),
            format!("SELECT 1 WHERE a = 1{}", " OR a = 2".repeat(100_000)),
            format!("SELECT 1 WHERE a = 1{}", " AND a = 2".repeat(100_000)),
            format!("SELECT 1 WHERE a IN (1{})", ", 2".repeat(100_000)),
            format!("INSERT t VALUES (1){}", ", (2)".repeat(100_000)),
        ] {
            assert_eq!(survives(&text), None, "{}", &text[..60]);
        }
    });
}

/// Pieces of T-SQL, to be thrown together.
const SOUP: &[&str] = &[
    "SELECT",
    "FROM",
    "WHERE",
    "INSERT",
    "INTO",
    "VALUES",
    "UPDATE",
    "SET",
    "DELETE",
    "MERGE",
    "USING",
    "ON",
    "WHEN",
    "MATCHED",
    "THEN",
    "CREATE",
    "ALTER",
    "DROP",
    "TABLE",
    "PROCEDURE",
    "FUNCTION",
    "VIEW",
    "TRIGGER",
    "INDEX",
    "DATABASE",
    "SCHEMA",
    "AS",
    "BEGIN",
    "END",
    "TRY",
    "CATCH",
    "IF",
    "ELSE",
    "WHILE",
    "BREAK",
    "RETURN",
    "DECLARE",
    "EXEC",
    "WITH",
    "ORDER",
    "BY",
    "GROUP",
    "HAVING",
    "UNION",
    "ALL",
    "JOIN",
    "LEFT",
    "CROSS",
    "APPLY",
    "CASE",
    "NULL",
    "NOT",
    "AND",
    "OR",
    "IN",
    "LIKE",
    "BETWEEN",
    "EXISTS",
    "IS",
    "OVER",
    "PARTITION",
    "TOP",
    "DISTINCT",
    "OUTPUT",
    "DEFAULT",
    "PRIMARY",
    "KEY",
    "CONSTRAINT",
    "CHECK",
    "GO",
    "CAST",
    "CONVERT",
    "TRIM",
    "IIF",
    "NEXT",
    "VALUE",
    "FOR",
    "CURSOR",
    "FETCH",
    "DBCC",
    "BACKUP",
    "GRANT",
    "TO",
    "COMMIT",
    "TRAN",
    "THROW",
    "GOTO",
    "a",
    "b.c",
    "d..e",
    "[x y]",
    "\"q\"",
    "@v",
    "@@g",
    "#t",
    "$action",
    "'text'",
    "N'ü'",
    "0xF",
    "1",
    "2.5",
    "1e9",
    "$3",
    "(",
    ")",
    ",",
    ";",
    ".",
    "*",
    "+",
    "-",
    "=",
    "<>",
    "<",
    ">",
    "+=",
    ":",
    "::",
    "~",
    "!",
    "|",
    "--",
    "/*",
    "*/",
    "'",
    "[",
    "\"",
    "\n",
    "\r\n",
    "\u{FEFF}",
    "é",
    "日",
    "\u{1F600}",
    "\0",
    "?",
    "\\",
    "`",
    "{",
    "}",
];

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2000,
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(1),
        ..ProptestConfig::default()
    })]

    #[test]
    fn token_soup_never_panics(pieces in prop::collection::vec(prop::sample::select(SOUP), 0..40), glue in "[ ]?") {
        let text = pieces.join(&glue);
        if let Ok(tree) = parse(&text) {
            let printed = tree.to_string();
            let again = parse(&printed);
            prop_assert!(again.as_ref() == Ok(&tree), "{text:?} prints {printed:?}: {again:?}");
        }
        let _ = split_batches(&text);
    }

    #[test]
    fn any_text_never_panics(text in ".{0,60}") {
        let _ = parse(&text);
        let _ = split_batches(&text);
    }
}
