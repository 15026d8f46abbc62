//! Sorts by workers give what the session's own give, in the same order.

use super::Client;
use super::parallel::{roomy, waits_of};
use super::parallel_joins::with_joined_tables;
use super::spill::limits;

/// Sorts of many rows: keys of each kind, equal ones, NULLs, ends of them, and functions over windows.
const SORTS: &[&str] = &[
    "SELECT id, k FROM facts ORDER BY k",
    "SELECT id, k FROM facts ORDER BY k DESC, id",
    "SELECT id, mark FROM facts ORDER BY mark, k2 DESC",
    "SELECT id, day, price FROM facts ORDER BY day DESC, price",
    "SELECT id FROM facts ORDER BY price * k2, day",
    "SELECT id, mark FROM facts ORDER BY mark COLLATE Latin1_General_BIN2 DESC",
    "SELECT id FROM facts ORDER BY REPLICATE(mark, 10) + CAST(k AS varchar(9))",
    "SELECT id, filler FROM facts WHERE k2 < 9 ORDER BY filler, mark, price",
    "SELECT id FROM facts ORDER BY CAST(id % 100 AS varbinary(4)), CAST(k AS float) DESC",
    "SELECT id FROM facts ORDER BY CASE WHEN k2 < 3 THEN CAST(k AS sql_variant) WHEN k2 < 5 THEN CAST(mark AS sql_variant) ELSE CAST(price AS sql_variant) END, day",
    "SELECT TOP (1) id FROM facts ORDER BY k2, price DESC",
    "SELECT TOP (10) id, mark FROM facts ORDER BY mark DESC",
    "SELECT TOP (100) id FROM facts WHERE k > 20 ORDER BY price, k2",
    "SELECT TOP (1000) id, day FROM facts ORDER BY k2 DESC, day",
    "SELECT TOP (3990) id FROM facts ORDER BY k2",
    "SELECT TOP (10) PERCENT id FROM facts ORDER BY k",
    "SELECT TOP (7) WITH TIES id, k FROM facts ORDER BY k",
    "SELECT id FROM facts ORDER BY k2, id DESC OFFSET 700 ROWS FETCH NEXT 50 ROWS ONLY",
    "SELECT id FROM facts WHERE price < 0 ORDER BY k",
    "SELECT id, 7 AS seven, NULL AS nothing FROM facts ORDER BY k2, k",
    "SELECT id, ROW_NUMBER() OVER (PARTITION BY mark ORDER BY price, k2) FROM facts",
    "SELECT id, RANK() OVER (PARTITION BY k2 ORDER BY k DESC), SUM(price) OVER (PARTITION BY k2 ORDER BY day) FROM facts",
    "SELECT f.id, m.n FROM facts f JOIN many m ON m.k = f.k AND m.k2 = f.k2 ORDER BY m.worth, f.day",
    "SELECT TOP (20) f.id, m.n, m.name FROM facts f LEFT JOIN many m ON m.k = f.k ORDER BY m.name, f.price DESC",
    "SELECT u.id, u.k FROM (SELECT id, k FROM facts UNION ALL SELECT id, k2 FROM facts WHERE k > 9) u ORDER BY u.k",
    "SELECT TOP (30) u.id, u.k FROM (SELECT id, k FROM facts UNION ALL SELECT -id, k2 FROM facts) u ORDER BY u.k DESC",
    "SELECT id, 100 / (id - 2000) FROM facts ORDER BY 100 / (id - 1000), k",
    "SELECT x.k, x.s FROM (SELECT k2 * 1000 + k AS k, SUM(price) AS s FROM facts GROUP BY k2 * 1000 + k) x ORDER BY x.s, x.k",
];

#[test]
fn sorts_by_workers_agree() {
    let mut client = roomy();
    with_joined_tables(&mut client);
    for sort in SORTS {
        let serial = client.lines(&format!("{sort} OPTION (MAXDOP 1)"));
        let before = waits_of(&client, "CXCONSUMER");
        assert_eq!(client.lines(&format!("{sort} OPTION (MAXDOP 3)")), serial, "{sort}");
        assert!(waits_of(&client, "CXCONSUMER") > before, "{sort}");
    }
}

#[test]
fn sorts_that_find_no_room_are_the_sessions() {
    let mut client = roomy();
    with_joined_tables(&mut client);
    for sort in SORTS {
        client.server.workspace().set_limits(limits(1 << 20));
        let all = client.lines(&format!("{sort} OPTION (MAXDOP 1)"));
        client.server.workspace().set_limits(limits(64));
        assert_eq!(client.lines(&format!("{sort} OPTION (MAXDOP 3)")), all, "{sort}");
    }
    let totals = client.server.workspace().totals();
    assert_eq!((totals.given_bytes, totals.grants, totals.waiting), (0, 0, 0), "all is given back");
}

#[test]
fn sorts_by_workers_start_over_with_each_statement() {
    let mut client = roomy();
    with_joined_tables(&mut client);
    client.quiet("CREATE PROCEDURE sorted AS SELECT TOP (3) id FROM facts ORDER BY price DESC, id OPTION (MAXDOP 3)");
    assert_eq!(client.lines("EXEC sorted"), client.lines("EXEC sorted"));
    let before = client.lines("EXEC sorted");
    client.quiet("UPDATE facts SET price = 9999 WHERE id = 17");
    assert_ne!(client.lines("EXEC sorted"), before);
}

#[test]
fn rows_that_variables_take_are_sorted_by_workers() {
    let mut client = roomy();
    with_joined_tables(&mut client);
    let run = |client: &mut Client, query: &str, degree: usize| {
        client.value(&format!(
            "DECLARE @v int = 7, @n bigint = 0; {query} OPTION (MAXDOP {degree}); SELECT CONCAT(@v, ' ', @n)"
        ))
    };
    for (query, is_shared) in [
        ("SELECT @v = id FROM facts ORDER BY price, id", true),
        ("SELECT @v = id, @n += 1 FROM facts ORDER BY k DESC, id", true),
        (
            "SELECT @v = f.id FROM facts AS f JOIN many AS m ON m.k = f.k AND m.k2 = f.k2 ORDER BY m.worth, f.day, f.id",
            true,
        ),
        // Later rows may see what earlier ones have left.
        ("SELECT @v = id FROM facts WHERE id <> @v ORDER BY price, id", false),
        ("SELECT @n += @v, @v = id FROM facts ORDER BY k2 + @v % 2, id", false),
    ] {
        let serial = run(&mut client, query, 1);
        let before = waits_of(&client, "CXCONSUMER");
        assert_eq!(run(&mut client, query, 3), serial, "{query}");
        assert_eq!(waits_of(&client, "CXCONSUMER") > before, is_shared, "{query}");
    }
}

#[test]
fn plans_show_that_workers_sort() {
    let mut client = roomy();
    with_joined_tables(&mut client);
    client.context.settings.statistics_xml = true;
    for (degree, is_shared) in [(3, true), (1, false)] {
        let lines = client.lines(&format!("SELECT id FROM facts ORDER BY price OPTION (MAXDOP {degree})"));
        let plan = lines.iter().find(|line| line.contains("<ShowPlanXML")).expect("a plan");
        let physical: Vec<&str> =
            plan.split("PhysicalOp=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        let expected = ["Parallelism", "Sort", "Clustered Index Scan"];
        assert_eq!(physical, expected[usize::from(!is_shared)..], "{plan}");
    }
}

#[test]
fn what_is_sorted_to_be_looked_up_is_sorted_once() {
    let mut client = roomy();
    with_joined_tables(&mut client);
    client.context.settings.statistics_xml = true;
    for derived in [
        "SELECT n AS id, ROW_NUMBER() OVER (PARTITION BY k2 ORDER BY worth) AS r FROM many",
        "SELECT n AS id, SUM(worth) OVER (PARTITION BY k2 ORDER BY n) AS r FROM many",
        "SELECT TOP (500) n AS id, k AS r FROM many ORDER BY worth",
    ] {
        let query = format!("SELECT f.grp, d.r FROM few AS f LEFT JOIN ({derived}) AS d ON d.id = f.grp");
        let lines = client.lines(&query);
        let plan = lines.iter().find(|line| line.contains("<ShowPlanXML")).expect("a plan");
        assert!(plan.contains("PhysicalOp=\"Sort\"") && !plan.contains("ActualExecutions=\"2\""), "{plan}");
    }
}
