//! Which filtered indexes plans read tables by.

use super::joins::plan;
use super::*;

/// The index that the only table of a query is read by.
fn index_of(client: &mut Client, query: &str) -> Option<String> {
    let mut found = None;
    plan(client, query).source.visit_scans(&mut |scan| {
        let name =
            |id| scan.table.engine.indexes.iter().find(|index| index.index_id == id).map(|index| index.name.clone());
        found = scan.range.index.and_then(name);
    });
    found
}

#[test]
fn a_filtered_index_is_read_only_where_it_has_every_row() {
    let mut client = Client::alone();
    client.quiet(
        "CREATE TABLE f (a int NOT NULL, b int NULL, c varchar(10) NULL, d date NULL, e decimal(9, 2) NULL, g bit NOT NULL)
         CREATE INDEX by_b ON f (a) WHERE b > 5 AND b <> 9",
    );
    let by = |client: &mut Client, filter: &str, conditions: &[(&str, bool)]| {
        client.quiet(&format!("CREATE INDEX by_b ON f (a) WHERE {filter} WITH (DROP_EXISTING = ON)"));
        for (condition, used) in conditions {
            let query = format!("SELECT d FROM f WHERE a = 1 AND {condition}");
            let found = index_of(client, &query);
            assert_eq!(found.is_some(), *used, "WHERE {filter}: {query}");
        }
    };
    let c = &mut client;
    by(
        c,
        "b > 5 AND b <> 9",
        &[
            ("b = 6", true),
            ("b = 5", false),
            ("b = 9", false),
            ("7 = b", true),
            ("b > 9", true),
            ("b >= 9", false),
            ("b > 5", false),
            ("b > 5 AND b <> 9", true),
            ("b BETWEEN 10 AND 20", true),
            ("b IN (6, 7, 10)", true),
            ("b IN (6, 9)", false),
            ("b > 5 OR b <> 9", false),
            ("NOT b <= 9", false),
            ("b IS NULL", false),
            ("c = 'x'", false),
        ],
    );
    by(c, "b IS NULL", &[("b IS NULL", true), ("b IS NOT NULL", false), ("b = 1", false), ("a = 1", false)]);
    by(
        c,
        "b IS NOT NULL",
        &[
            ("b IS NOT NULL", true),
            ("b < 0", true),
            ("b = a", true),
            ("b <> 1", true),
            ("b IN (1, NULL)", true),
            ("(b = 1 OR b = 2)", false),
            ("b IS NULL", false),
        ],
    );
    by(
        c,
        "c IN ('x', 'y')",
        &[
            ("c = 'X'", true),
            ("c = 'x '", true),
            ("c IN ('y', 'x')", true),
            ("c IN ('y', 'z')", false),
            ("c LIKE 'x'", false),
            ("c = 'x' COLLATE Latin1_General_CS_AS", false),
        ],
    );
    by(c, "d >= '2024-01-01'", &[("d = CAST('2024-05-01' AS date)", true), ("d > CAST('2023-12-31' AS date)", false)]);
    // A constant of another type than the column's says nothing of the filter.
    by(c, "e < 10.5", &[("e < 10.5", true), ("e <= 10.5", false), ("e < 10", false), ("e < 10.501", false)]);
    by(c, "g = 0", &[("g = 0", true), ("g = CAST(0 AS bit)", true), ("g = 1", false), ("g <> 1", false)]);
}
