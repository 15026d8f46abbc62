//! Queries made by chance give what SQLite gives.
//!
//! The queries of [`random_queries`](super::random_queries) are written in T-SQL, and are rewritten for SQLite where it has another form
//! or none:
//!
//! | T-SQL | SQLite |
//! |---|---|
//! | `TOP (n) ... ORDER BY` | `LIMIT n` |
//! | `TOP (n) WITH TIES` | the rows whose `RANK()` is at most `n` |
//! | `CROSS APPLY (SELECT ... FROM t WHERE ...)`, `OUTER APPLY` | `JOIN t ON ...`, `LEFT JOIN` |
//! | `GROUP BY ROLLUP (a, b)` | a query for each set of groups |
//! | `AVG` of integers | the same cut off to an integer |
//! | `LIKE '[w-y]%'`, `ISNULL` | `GLOB`, `IFNULL` |
//!
//! Collations fall away: texts that are equal in one of them are the same. Numbers of runs and seeds are asked for as there.

use super::Client;
use super::joins::{CLOSE, Chance, sorted};
use super::random_queries::{Made, RUNS, for_queries, for_queries_of_many_rows};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode};

/// Queries of many rows that are made where nothing says otherwise.
const RUNS_OF_MANY_ROWS: u64 = 30;
/// Steps of SQLite's machine after which a query is given up: joins of all rows with all have no end.
const STEPS_MAX: i32 = 20_000_000;

/// What only has another name.
const NAMES: [(&str, &str); 6] = [
    (" COLLATE Latin1_General_BIN2", ""),
    (" COLLATE SQL_Latin1_General_CP1_CI_AS", ""),
    ("ISNULL(", "IFNULL("),
    (" LIKE '[w-y]%'", " GLOB '[w-y]*'"),
    ("AVG(x0.a)", "CAST(AVG(x0.a) AS INTEGER)"),
    (CLOSE, ""),
];

/// The query in SQLite's dialect.
fn rewritten(query: &str) -> String {
    let named = NAMES.iter().fold(query.to_owned(), |query, (ours, theirs)| query.replace(ours, theirs));
    without_top(without_rollup(without_apply(named)))
}

/// The place behind the parenthesis that closes the one at `open`; the end of a text that does not open one.
fn closed(text: &str, open: usize) -> usize {
    let mut depth = 0;
    for (at, byte) in text.bytes().enumerate().skip(open) {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => continue,
        }
        if depth == 0 {
            return at + 1;
        }
    }
    text.len()
}

/// The place of the parenthesis, not closed before `at`, that stands around it, or the text's begin: that of a query.
fn opened(text: &str, at: usize) -> usize {
    let mut depth = 0;
    for (place, byte) in text[..at].bytes().enumerate().rev() {
        match byte {
            b')' => depth += 1,
            b'(' if depth == 0 => return place + 1,
            b'(' => depth -= 1,
            _ => {}
        }
    }
    0
}

fn without_apply(mut query: String) -> String {
    while let Some(at) = query.find(" APPLY (") {
        let (kind, join) = if query[..at].ends_with("CROSS") { ("CROSS", "JOIN") } else { ("OUTER", "LEFT JOIN") };
        let open = at + " APPLY ".len();
        let end = closed(&query, open);
        let (table, condition) = query[open + 1..end - 1].split_once(" z WHERE ").expect("a table and a condition");
        let table = table.rsplit(' ').next().expect("a name");
        let name = query[end + 1..].split([' ', ',', ')']).next().expect("a name");
        let condition = condition.replace("z.", &format!("{name}."));
        let joined = format!("{join} {table} {name} ON ({condition})");
        query.replace_range(at - kind.len()..end + 1 + name.len(), &joined);
    }
    query
}

fn without_rollup(mut query: String) -> String {
    const ROLLUP: &str = " GROUP BY ROLLUP (a, b)";
    while let Some(at) = query.find(ROLLUP) {
        let from = opened(&query, at);
        let source = &query[from..at];
        let source = &source[source.find(" FROM ").expect("a table")..];
        let sets = [("a, b", " GROUP BY a, b"), ("a, NULL", " GROUP BY a"), ("NULL, NULL", "")];
        let grouped = |(columns, by): (&str, &str)| {
            let (first, second) = columns.split_once(", ").expect("two columns");
            format!("SELECT MIN(k) k, {first} a, {second} b, MAX(c) c{source}{by}")
        };
        let all = sets.map(grouped).join(" UNION ALL ");
        query.replace_range(from..at + ROLLUP.len(), &all);
    }
    query
}

fn without_top(mut query: String) -> String {
    while let Some(at) = query.find("SELECT TOP (") {
        let count_at = at + "SELECT TOP (".len();
        let count_end = count_at + query[count_at..].find(')').expect("a number");
        let count = query[count_at..count_end].to_owned();
        let from = opened(&query, at);
        assert_eq!(from, at, "the query stands in parentheses of its own");
        let end = if from == 0 { query.len() } else { closed(&query, from - 1) - 1 };
        let rest = &query[count_end + 1..end];
        let limited = match rest.strip_prefix(" WITH TIES") {
            None => format!("SELECT{rest} LIMIT {count}"),
            Some(rest) => {
                let (rest, order) = rest.rsplit_once(" ORDER BY ").expect("an order");
                let (columns, source) = rest.split_once(" FROM ").expect("a table");
                let named: Vec<String> = columns.split(", ").zip(["k", "a", "b", "c"]).map(as_column).collect();
                let rank = format!("RANK() OVER (ORDER BY {order}) AS place");
                format!(
                    "SELECT k, a, b, c FROM (SELECT {}, {rank} FROM {source}) WHERE place <= {count}",
                    named.join(", ")
                )
            }
        };
        query.replace_range(from..end, &limited);
    }
    query
}

fn as_column((value, name): (&str, &str)) -> String {
    format!("{value} AS {name}")
}

/// The rows of a query as the tests of this folder show them.
fn rows(sqlite: &Connection, query: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = sqlite.prepare(query)?;
    let columns = statement.column_count();
    let mut rows = statement.query([])?;
    let mut lines = Vec::new();
    while let Some(row) = rows.next()? {
        let mut shown = Vec::with_capacity(columns);
        for column in 0..columns {
            shown.push(match row.get_ref(column)? {
                ValueRef::Null => "NULL".to_owned(),
                ValueRef::Integer(number) => number.to_string(),
                ValueRef::Real(number) => format!("{number:?}"),
                ValueRef::Text(text) | ValueRef::Blob(text) => String::from_utf8_lossy(text).into_owned(),
            });
        }
        lines.push(shown.join("|"));
    }
    lines.push(format!("({} rows)", lines.len()));
    Ok(lines)
}

/// Runs queries in both engines; gives how many had rows, and how many SQLite has given up.
fn compare(for_queries: impl FnOnce(&mut dyn FnMut(&mut Client, &mut Chance, &Made))) -> Compared {
    let mut sqlite = Connection::open_in_memory().expect("there is memory");
    sqlite.progress_handler(STEPS_MAX, Some(|| true)).expect("nothing else has one");
    let mut compared = Compared::default();
    for_queries(&mut |client, _, Made { seed, query, tables }| {
        if let Some(script) = tables {
            sqlite.execute_batch(&script.replace("INSERT t", "INSERT INTO t")).expect("its dialect has it");
        }
        compared.runs += 1;
        let theirs = rewritten(query);
        let rows = match rows(&sqlite, &theirs) {
            Ok(rows) => rows,
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) => {
                compared.given_up += 1;
                return;
            }
            Err(error) => panic!("seed {seed}: {error}: {theirs}\n{query}"),
        };
        let ours = sorted(client.lines(query));
        compared.given += u64::from(ours.len() > 1);
        assert_eq!(ours, sorted(rows), "seed {seed}: {query}\n{theirs}");
    });
    println!("{compared:?}");
    compared
}

/// What came of queries.
#[derive(Debug, Default)]
struct Compared {
    runs: u64,
    /// Those that had rows.
    given: u64,
    /// Those that SQLite had no answer to after [`STEPS_MAX`].
    given_up: u64,
}

#[test]
fn random_queries_give_what_sqlite_gives() {
    let Compared { runs, given, given_up } = compare(|visit| for_queries(RUNS, visit));
    assert!(given * 6 > runs && given_up == 0, "{given} of {runs} queries have rows");
}

#[test]
fn random_queries_of_many_rows_give_what_sqlite_gives() {
    let Compared { runs, given, given_up } = compare(|visit| for_queries_of_many_rows(RUNS_OF_MANY_ROWS, visit));
    assert!(given * 6 > runs && given_up * 3 < runs, "{given} of {runs} queries have rows");
}
