//! The number of runs of a subquery that reads the row outside.

use super::*;

const VISITS: &str = "CREATE TABLE visit (id int NOT NULL PRIMARY KEY, town int NULL, note varchar(20) NULL)
    INSERT visit SELECT value, NULLIF(value % 5, 0), CASE WHEN value % 2 = 0 THEN 'even' ELSE 'odd' END FROM GENERATE_SERIES(1, 60)";

/// The number of runs of the scan of `b`.
fn executions(client: &mut Client, query: &str) -> String {
    client.context.settings.statistics_profile = true;
    let lines = client.lines(query);
    client.context.settings.statistics_profile = false;
    let scan = lines.iter().find(|line| line.contains(" AS [b]"));
    let scan = scan.unwrap_or_else(|| panic!("{query}: {lines:?}"));
    scan.split('|').nth(1).unwrap_or_default().trim().to_string()
}

#[test]
fn a_subquery_that_reads_nothing_outside_runs_once_where_rows_are_looked_up_again_and_again() {
    let mut client = Client::alone();
    client.quiet(VISITS);
    for test in
        ["c.town IN (SELECT b.town FROM visit AS b WHERE b.id > 57)", "c.id > (SELECT MIN(b.id) FROM visit AS b)"]
    {
        let first = format!("(SELECT TOP (1) c.id FROM visit AS c WHERE c.id >= a.id AND {test} ORDER BY c.id) AS d");
        let query = format!("SELECT COUNT(*), SUM(d.id) FROM visit AS a CROSS APPLY {first}");
        assert_eq!(executions(&mut client, &query), "1", "{test}");
        let mut answer = || client.lines(&query);
        assert_eq!(answer(), answer(), "{test}: the next run has its own");
    }
    let kept = "SELECT COUNT(*) FROM visit AS a CROSS APPLY (SELECT TOP (1) c.id FROM visit AS c WHERE c.id >= a.id
        AND c.town IN (SELECT b.town FROM visit AS b)) AS d";
    assert_eq!(client.value(kept), "59");
    client.quiet("UPDATE visit SET town = NULL WHERE id > 30");
    assert_eq!(client.value(kept), "29", "rows that have changed since");
}

#[test]
fn a_subquery_runs_once_for_each_value_that_it_reads() {
    let mut client = Client::alone();
    client.quiet(VISITS);
    let mut of = |subquery: &str, options: &str| {
        executions(&mut client, &format!("SELECT COUNT(*) FROM visit AS a WHERE {subquery} {options}"))
    };
    let below = "EXISTS (SELECT 1 FROM visit AS b WHERE b.id > 57 AND b.town < a.town)";
    // Four rows, and then five values, NULL among them.
    assert_eq!(of(below, ""), "9");
    assert_eq!(of(below, "OPTION (QUERYRULEOFF Memoize)"), "60");
    assert_eq!(of("a.note < ANY (SELECT b.note FROM visit AS b WHERE b.town > a.town)", ""), "14");
    assert_eq!(of("a.town IN (SELECT b.town + a.town FROM visit AS b WHERE b.id > 57)", ""), "9");
    // Another one each time, or another value in each row.
    assert_eq!(of("EXISTS (SELECT 1 FROM visit AS b WHERE b.town < a.town AND NEWID() IS NOT NULL)", ""), "60");
    assert_eq!(of("a.note + LEFT(NEWID(), 1) NOT IN (SELECT b.note FROM visit AS b WHERE b.town > a.town)", ""), "60");
    assert_eq!(of("EXISTS (SELECT 1 FROM visit AS b WHERE b.id < a.id)", ""), "60");
    // A single row is found as quickly.
    assert_eq!(of("EXISTS (SELECT 1 FROM visit AS b WHERE b.id = a.town)", ""), "60");
}

#[test]
fn what_a_statement_changes_is_not_remembered_in_the_next() {
    let mut client = Client::alone();
    client.quiet(VISITS);
    let counts = client.lines(
        "DECLARE @i int = 0
         WHILE @i < 3 BEGIN
             SELECT COUNT(*) FROM visit AS a WHERE EXISTS (SELECT 1 FROM visit AS b WHERE b.id > 57 AND b.town < a.town)
             DELETE visit WHERE id = 60 - @i
             SET @i += 1
         END",
    );
    let counts: Vec<&String> = counts.iter().filter(|line| !line.contains("rows")).collect();
    assert_eq!(counts, ["12", "12", "11"]);
}
