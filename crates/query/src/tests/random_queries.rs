//! Queries made by chance give what they give without the optimizer.
//!
//! Each query runs with all rules, with none, and without one of them; the rows must be the same, as a multiset. Every such query has an
//! answer that does not depend on the plan: TOP is by an order of all columns, windows number rows by one, and texts that are equal are the
//! same, because it depends on the plan which of `y` and `Y` stands for both.
//! `PIKEPOLE_QUERY_RUNS` asks for other than the usual number, `PIKEPOLE_QUERY_SEED` for another first one.

use super::joins::{Chance, TABLES, conditions, filter, from_of, schema, sorted};
use super::*;
use crate::optimizer::RULES;

/// Queries that are made where nothing says otherwise.
pub(super) const RUNS: u64 = 3_000;
/// Queries over the same tables.
const QUERIES_OF_TABLES: u64 = 20;
const COLUMNS: [&str; 4] = ["k", "a", "b", "c"];

/// A query with the columns k, a, b and c, and no order.
fn rows_query(chance: &mut Chance, depth: usize) -> String {
    let count = 1 + chance.below(3);
    let (from, sources) = from_of(chance, count);
    let mut filter = match chance.below(4) {
        0 => "1 = 1".to_owned(),
        1 => filter(chance, &sources),
        _ => loose_conditions(chance, &sources),
    };
    if chance.one_in(3) {
        filter += &format!(" AND {}", tested_by_subquery(chance, &sources));
    }
    let x = sources[chance.below(sources.len())].clone();
    let y = sources[chance.below(sources.len())].clone();
    let plain = format!("FROM {from} WHERE {filter}");
    match chance.below(if depth > 0 { 13 } else { 7 }) {
        0 | 1 => format!("SELECT {x}.k, {y}.a, {x}.b, {y}.c {plain}"),
        2 => format!("SELECT DISTINCT {x}.b AS k, {y}.a, {x}.b, {y}.c {plain}"),
        3 => {
            let having =
                chance.pick(&["", " HAVING COUNT(*) > 1", " HAVING MAX(x0.a) IS NOT NULL", " HAVING x0.b = 2"]);
            let other = chance.pick(&["COUNT(*)", "SUM(x0.a)", "COUNT(DISTINCT x0.k)", "MIN(x0.k)", "AVG(x0.a)"]);
            format!("SELECT {other} AS k, MAX(x0.a) AS a, x0.b, MAX({y}.c) AS c {plain} GROUP BY x0.b{having}")
        }
        4 => {
            let order = ordered_by(&sources);
            let number = chance.pick(&["ROW_NUMBER()", "RANK()", "DENSE_RANK()", "COUNT(*)", "SUM(x0.a)"]);
            let partition = chance.pick(&["PARTITION BY x0.b ", "PARTITION BY x0.c ", ""]);
            format!("SELECT {number} OVER ({partition}ORDER BY {order}) AS k, {y}.a, {x}.b, x0.c {plain}")
        }
        5 => {
            let correlated = conditions(chance, &["z".to_owned(), x.clone()], 1);
            let value = chance.pick(&["COUNT(*)", "MAX(z.a)", "MIN(z.k)", "SUM(z.b)"]);
            let table = chance.below(TABLES);
            format!("SELECT {x}.k, (SELECT {value} FROM t{table} z WHERE {correlated}) AS a, {y}.b, {x}.c {plain}")
        }
        6 => {
            let (top, order) = (1 + chance.below(6), ordered_by(&sources));
            let ties = chance.one_in(3);
            let order = if ties { chance.pick(&["x0.b", "x0.a DESC", "x0.c"]).to_owned() } else { order };
            let ties = if ties { " WITH TIES" } else { "" };
            format!("SELECT TOP ({top}){ties} {x}.k, {y}.a, {x}.b, {y}.c {plain} ORDER BY {order}")
        }
        7 => {
            let set = chance.pick(&["UNION", "UNION ALL", "EXCEPT", "INTERSECT"]);
            let (left, right) = (rows_query(chance, depth - 1), rows_query(chance, depth - 1));
            format!("SELECT k, a, b, c FROM ({left}) AS l {set} SELECT k, a, b, c FROM ({right}) AS r")
        }
        8 => {
            let within = rows_query(chance, depth - 1);
            let table = chance.below(TABLES);
            let on = conditions(chance, &["d".to_owned(), "x".to_owned()], 1);
            let kind = chance.pick(&["JOIN", "LEFT JOIN"]);
            let filter = loose_conditions(chance, &["d".to_owned(), "x".to_owned()]);
            format!("SELECT d.k, x.a, d.b, x.c FROM ({within}) AS d {kind} t{table} AS x ON {on} WHERE {filter}")
        }
        _ => {
            let within = rows_query(chance, depth - 1);
            let filter = loose_conditions(chance, &["d".to_owned()]);
            format!("SELECT d.k, d.a, d.b, d.c FROM ({within}) AS d WHERE {filter}")
        }
    }
}

/// One or two conditions that hold for many rows, and for NULL some of them.
fn loose_conditions(chance: &mut Chance, sources: &[String]) -> String {
    let count = 1 + chance.below(2);
    let all: Vec<String> = (0..count).map(|_| loose_condition(chance, sources)).collect();
    all.join(" AND ")
}

fn loose_condition(chance: &mut Chance, sources: &[String]) -> String {
    let (x, y) = (&sources[chance.below(sources.len())], &sources[chance.below(sources.len())]);
    let (p, q) = (chance.pick(&["k", "a", "b", "c"]), chance.pick(&["k", "a", "b"]));
    let (low, value) = (chance.below(3), chance.below(5));
    match chance.below(10) {
        0 => format!("{x}.{p} IS NULL"),
        1 => format!("{x}.{p} IS NOT NULL"),
        2 => format!("({x}.{p} IS NULL OR {y}.{q} IS NULL)"),
        3 => format!("NOT {x}.{q} = {value}"),
        4 => format!("{x}.{q} >= {low}"),
        5 => format!("{x}.{q} BETWEEN {low} AND {value}"),
        6 => format!("({x}.{q} <> {value} OR {y}.c = 'y')"),
        7 => format!("{x}.c LIKE '[w-y]%'"),
        8 => format!("ISNULL({x}.{q}, {low}) < {value}"),
        _ => format!("{x}.{q} IN (0, 1, {value})"),
    }
}

/// All columns of all sources: rows that are equal in it are equal.
fn ordered_by(sources: &[String]) -> String {
    let all = sources.iter().flat_map(|x| COLUMNS.map(|column| format!("{x}.{column}")));
    all.collect::<Vec<_>>().join(", ")
}

/// A condition that asks a subquery.
fn tested_by_subquery(chance: &mut Chance, sources: &[String]) -> String {
    let x = &sources[chance.below(sources.len())];
    let (column, other) = (chance.pick(&["k", "a", "b"]), chance.pick(&["k", "a", "b"]));
    let table = chance.below(TABLES);
    let own = loose_conditions(chance, &["z".to_owned()]);
    let not = chance.pick(&["", "", "NOT "]);
    match chance.below(5) {
        0 | 1 => format!("{x}.{column} {not}IN (SELECT z.{other} FROM t{table} z WHERE {own})"),
        2 => {
            let correlated = conditions(chance, &["z".to_owned(), x.clone()], 1);
            format!("{x}.{column} {not}IN (SELECT z.{other} FROM t{table} z WHERE {own} AND {correlated})")
        }
        3 => {
            let correlated = conditions(chance, &["z".to_owned(), x.clone()], 1);
            format!("{not}EXISTS (SELECT * FROM t{table} z WHERE {correlated})")
        }
        _ => format!("{x}.{column} >= (SELECT MIN(z.{other}) FROM t{table} z WHERE {own} AND z.b = {x}.b)"),
    }
}

fn number(variable: &str, usual: u64) -> u64 {
    std::env::var(variable).ok().map_or(usual, |text| text.parse().expect("a number"))
}

fn switched_off<'r>(rules: impl Iterator<Item = &'r str>) -> String {
    let hints: Vec<String> = rules.map(|rule| format!("QUERYRULEOFF {rule}")).collect();
    format!(" OPTION ({})", hints.join(", "))
}

/// A query that was made, and the script of its tables where they are new.
pub(super) struct Made {
    pub(super) seed: u64,
    pub(super) query: String,
    pub(super) tables: Option<String>,
}

/// Makes queries and their tables; `usual` of them where nothing says otherwise.
pub(super) fn for_queries(usual: u64, visit: impl FnMut(&mut Client, &mut Chance, &Made)) {
    let tables = |chance: &mut Chance| schema(chance).replace("'Y'", "'w'");
    for_queries_of(usual, tables, rows_query_of_all, visit);
}

fn rows_query_of_all(chance: &mut Chance) -> String {
    let (with, rows) = rows_of_all(chance);
    with + &rows
}

/// A WITH clause, where there is one, and the query behind it.
fn rows_of_all(chance: &mut Chance) -> (String, String) {
    let (with, rows) = match chance.one_in(6) {
        true => common_query(chance),
        false => (String::new(), rows_query(chance, 2)),
    };
    (with.replace("UPPER(", "LOWER("), rows.replace("UPPER(", "LOWER("))
}

/// A query that names a common table more than once.
fn common_query(chance: &mut Chance) -> (String, String) {
    let mut with = format!("WITH c AS ({})", rows_query(chance, 1));
    if chance.one_in(3) {
        with += ", e AS (SELECT x0.b AS k, MAX(x0.a) AS a, x0.b, MIN(x1.c) AS c FROM c AS x0 JOIN c AS x1 ON x1.b = x0.b GROUP BY x0.b)";
    }
    let mut named = || if with.contains(" e AS ") && chance.one_in(2) { "e" } else { "c" };
    let (x, y) = (named(), named());
    let both = ["x".to_owned(), "y".to_owned()];
    let on = conditions(chance, &both, 1);
    let (first, second) = (loose_conditions(chance, &both[..1]), loose_conditions(chance, &both[1..]));
    let columns = "x.k, y.a, x.b, y.c";
    let rows = match chance.below(6) {
        0 => format!("SELECT {columns} FROM {x} AS x JOIN {y} AS y ON {on} WHERE {first}"),
        1 => format!("SELECT {columns} FROM {x} AS x LEFT JOIN {y} AS y ON {on} AND {second} WHERE {first}"),
        2 => format!(
            "SELECT x.k, x.a, x.b, x.c FROM {x} AS x WHERE {first} UNION ALL SELECT y.k, y.a, y.b, y.c FROM {y} AS y WHERE {second}"
        ),
        3 => format!(
            "SELECT x.k, x.a, x.b, x.c FROM {x} AS x WHERE x.a >= (SELECT MIN(y.a) FROM {y} AS y WHERE y.b = x.b AND {second})"
        ),
        4 => format!(
            "SELECT x.k, x.a, x.b, x.c FROM {x} AS x WHERE {first} AND EXISTS (SELECT * FROM {y} AS y WHERE {on})"
        ),
        _ => format!("SELECT x.k, x.a, x.b, x.c FROM {x} AS x WHERE x.b IN (SELECT y.k FROM {y} AS y WHERE {second})"),
    };
    (with + " ", rows)
}

/// The same of tables that hundreds of rows are in, as groups of few rows: workers and batches take part in them.
pub(super) fn for_queries_of_many_rows(usual: u64, visit: impl FnMut(&mut Client, &mut Chance, &Made)) {
    let query = |chance: &mut Chance| {
        let (with, rows) = rows_of_all(chance);
        let by = chance.pick(&["b", "b", "c", "k"]);
        format!(
            "{with}SELECT COUNT(*) AS k, SUM(CAST(d.a AS bigint)) AS a, d.{by}, MAX(d.c) AS c FROM ({rows}) AS d GROUP BY d.{by}"
        )
    };
    for_queries_of(usual, many_rows, query, visit);
}

/// Tables `t0` to `t4` as those of [`schema`], some of them on many pages.
fn many_rows(chance: &mut Chance) -> String {
    let mut script = String::new();
    for table in 0..TABLES {
        let key =
            chance.pick(&["", ", UNIQUE (b, k)", ", PRIMARY KEY (b, k)", ", PRIMARY KEY (k)", ", PRIMARY KEY (k)"]);
        script += &format!("DROP TABLE IF EXISTS t{table};\n");
        script += &format!("CREATE TABLE t{table} (k int NOT NULL, a int, b int NOT NULL, c varchar(10), ");
        script += &format!("filler char(400) NOT NULL DEFAULT 'x'{key});\n");
        if chance.one_in(2) {
            script += &format!("CREATE INDEX i{table} ON t{table} ({});\n", chance.pick(&["a", "c", "a, b"]));
        }
        let rows = chance.pick(&[0, 20, 150, 700, 700, 2_500]);
        let (values, groups) = (chance.pick(&[6, 100, 1_000]), chance.pick(&[4, 40]));
        let all: Vec<String> = (0..rows).map(|row| row_of_many(chance, row, values, groups)).collect();
        for some in all.chunks(1_000) {
            script += &format!("INSERT t{table} (k, a, b, c) VALUES {};\n", some.join(", "));
        }
    }
    script
}

fn row_of_many(chance: &mut Chance, row: usize, values: usize, groups: usize) -> String {
    let a = if chance.one_in(5) { "NULL".to_owned() } else { chance.below(values).to_string() };
    let b = chance.below(groups);
    let c = if chance.one_in(5) { "NULL" } else { chance.pick(&["'x'", "'y'", "'z'", "'w'", "'xx'", "'v'"]) };
    format!("({row}, {a}, {b}, {c})")
}

fn for_queries_of(
    usual: u64,
    tables: impl Fn(&mut Chance) -> String,
    query: impl Fn(&mut Chance) -> String,
    mut visit: impl FnMut(&mut Client, &mut Chance, &Made),
) {
    let first = number("PIKEPOLE_QUERY_SEED", 1_000_000);
    let runs = number("PIKEPOLE_QUERY_RUNS", usual);
    let mut client = Client::alone();
    for seed in first..first + runs {
        let mut fresh = None;
        if (seed - first).is_multiple_of(QUERIES_OF_TABLES) {
            client = if (seed - first).is_multiple_of(10_000) { Client::alone() } else { client };
            let script = tables(&mut Chance(seed / QUERIES_OF_TABLES));
            client.quiet(&script);
            fresh = Some(script);
        }
        let mut chance = Chance(seed);
        let query = query(&mut chance);
        visit(&mut client, &mut chance, &Made { seed, query, tables: fresh });
    }
}

#[test]
fn random_queries_give_the_same_without_rules() {
    let none = switched_off(RULES.iter().map(|entry| entry.name));
    let (mut runs, mut given) = (0, 0);
    for_queries(RUNS, |client, chance, Made { seed, query, .. }| {
        let one = switched_off([RULES[chance.below(RULES.len())].name].into_iter());
        let with = sorted(client.lines(query));
        (runs, given) = (runs + 1, given + u64::from(with.len() > 1));
        for off in [&none, &one] {
            assert_eq!(with, sorted(client.lines(&format!("{query}{off}"))), "seed {seed}: {query}{off}");
        }
    });
    println!("{runs} queries, {given} of them with rows");
    assert!(given * 6 > runs, "{given} of {runs} queries have rows");
}
