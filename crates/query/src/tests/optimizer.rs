//! Each rule of the optimizer changes a plan, and no result.
//!
//! `tests/plans` has a script a rule: its last batch is a query whose plan differs without the rule. The `.out` file beside it has both;
//! `BLESS=1` writes it again.

use super::*;
use crate::optimizer::RULES;
use crate::settings::ShowPlan;
use std::path::{Path, PathBuf};

/// The operators of a query's plan.
fn plan_lines(client: &mut Client, query: &str) -> Vec<String> {
    client.context.settings.show_plan = Some(ShowPlan::Text);
    let events = client.batch(query).events;
    client.context.settings.show_plan = None;
    let errors: Vec<&Event> = events.iter().filter(|event| matches!(event, Event::Error(_))).collect();
    assert!(errors.is_empty(), "{query}: {errors:?}");
    events.iter().filter_map(line).filter(|line| line.contains("|--")).collect()
}

/// `early_semi_join` of `EarlySemiJoin`.
fn file_name(rule: &str) -> String {
    let mut name = String::new();
    for letter in rule.chars() {
        if letter.is_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

fn plans_folder() -> PathBuf {
    Path::new(&std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("tests").join("plans")
}

#[test]
fn each_rule_changes_the_plan_that_is_written_down() {
    let mut wrong = Vec::new();
    for entry in RULES {
        let path = plans_folder().join(file_name(entry.name)).with_extension("sql");
        let script = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let (made, query) = script.trim_end().rsplit_once("GO\n").expect("a schema, GO, a query");
        let mut client = Client::alone();
        client.quiet(made);
        let on = plan_lines(&mut client, query);
        let off = plan_lines(&mut client, &format!("{query}\nOPTION (QUERYRULEOFF {})", entry.name));
        assert!(!on.is_empty(), "{}", entry.name);
        if on == off {
            wrong.push(format!("{} changes nothing in\n{}", entry.name, on.join("\n")));
        }
        let found = format!("with {0}\n{1}\nwithout\n{2}\n", entry.name, on.join("\n"), off.join("\n"));
        let written = path.with_extension("out");
        if std::env::var("BLESS").is_ok() {
            std::fs::write(&written, &found).expect("the folder can be written");
        }
        if std::fs::read_to_string(&written).ok().as_ref() != Some(&found) {
            wrong.push(format!("{} is not\n{found}", written.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_documents_list_the_rules() {
    let mut rows = String::from("| rule | where it stands, and why |\n|---|---|\n");
    for entry in RULES {
        rows += &format!("| `{}` | {} |\n", entry.name, entry.place);
    }
    let root = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let path = Path::new(&root).join("../../docs/reference/rules.md");
    let text = std::fs::read_to_string(&path).expect("the page is there");
    let (head, _) = text.split_once("| rule |").expect("it has the table");
    let wanted = format!("{head}{rows}");
    if std::env::var("BLESS").is_ok() {
        std::fs::write(&path, &wanted).expect("the page can be written");
    }
    assert_eq!(std::fs::read_to_string(&path).expect("the page is there"), wanted, "BLESS=1 writes it");
}

#[test]
fn a_rule_that_is_none_is_an_error() {
    let mut client = Client::alone();
    let lines = client.lines("SELECT 1 OPTION (QUERYRULEOFF JoinOrder, QUERYRULEOFF sortelimination)");
    assert_eq!(lines, ["1", "(1 rows)"]);
    let lines = client.lines("SELECT 1 OPTION (QUERYRULEOFF JoinOrders)");
    assert!(lines[0].contains("'JOINORDERS' is not a rule of the optimizer. The rules are ViewMerging, "), "{lines:?}");
}

/// How far an operator stands below the plan's first one.
fn depth(lines: &[String], operator: &str) -> usize {
    let line = lines.iter().find(|line| line.contains(operator));
    line.and_then(|line| line.find("|--")).unwrap_or_else(|| panic!("{operator}: {lines:?}"))
}

#[test]
fn a_test_that_runs_for_each_row_comes_before_a_join_that_makes_rows_many() {
    let mut client = Client::alone();
    client.quiet(
        "CREATE TABLE town (id int NOT NULL, size int NOT NULL) CREATE TABLE street (town int NOT NULL, length int NOT NULL)
         CREATE TABLE day (number int NOT NULL PRIMARY KEY)
         INSERT town SELECT value, value FROM GENERATE_SERIES(1, 200) INSERT street SELECT value, value * 7 % 500 FROM GENERATE_SERIES(1, 300)
         INSERT day SELECT value FROM GENERATE_SERIES(1, 400)",
    );
    for test in [
        "EXISTS (SELECT * FROM street s WHERE s.length < t.size)",
        "NOT EXISTS (SELECT * FROM street s WHERE s.length < t.size)",
        "t.id IN (SELECT s.town FROM street s WHERE s.length > t.size)",
        "EXISTS (SELECT * FROM day e WHERE e.number = 7 AND t.id < t.size)",
        "t.id >= (SELECT MIN(s.length) FROM street s WHERE s.length < t.size)",
    ] {
        let semi = if test.contains("MIN") { "Left Outer Join" } else { "Left Semi Join" };
        for from in ["town t CROSS JOIN day d", "day d CROSS JOIN town t"] {
            let many = plan_lines(&mut client, &format!("SELECT COUNT(*) FROM {from} WHERE {test}"));
            assert!(depth(&many, semi) > depth(&many, "(Inner Join"), "{many:#?}");
        }
        let few = plan_lines(
            &mut client,
            &format!("SELECT COUNT(*) FROM town t JOIN day d ON d.number = t.id WHERE t.id = 7 AND {test}"),
        );
        assert!(depth(&few, semi) < depth(&few, "(Inner Join"), "{few:#?}");
        // It may fail for a row that is never joined.
        let fails = test.replace("t.size)", "100 / t.size)").replace("MIN(", "SUM(");
        let fails = plan_lines(&mut client, &format!("SELECT COUNT(*) FROM town t CROSS JOIN day d WHERE {fails}"));
        assert!(depth(&fails, semi) < depth(&fails, "(Inner Join"), "{fails:#?}");
    }
}

#[test]
fn what_is_joined_anew_is_made_once() {
    let mut client = Client::alone();
    client.quiet(
        "CREATE TABLE a (x int NOT NULL) CREATE TABLE b (x int NOT NULL) CREATE TABLE c (x int NOT NULL, y int)",
    );
    // A whole outer join; groups below a condition that reads the row before them.
    for query in [
        "SELECT COUNT(*) FROM a LEFT JOIN (b LEFT JOIN c ON c.x = b.x) ON ISNULL(c.y, b.x) < a.x",
        "SELECT COUNT(*) FROM a LEFT JOIN (SELECT x, MAX(y) AS y FROM c GROUP BY x) AS g ON g.y < a.x OR g.y > a.x + 9",
    ] {
        let lines = plan_lines(&mut client, query);
        let (join, spool) = (depth(&lines, "Nested Loops"), depth(&lines, "Table Spool"));
        assert!(join < spool, "{lines:#?}");
    }
    client.quiet("INSERT b SELECT value FROM GENERATE_SERIES(1, 2000) INSERT c SELECT value, value FROM GENERATE_SERIES(1, 2000)");
    let many = "SELECT COUNT(*) FROM a LEFT JOIN (b LEFT JOIN c ON c.x >= b.x) ON ISNULL(c.y, b.x) < a.x";
    let lines = plan_lines(&mut client, many);
    assert!(!lines.iter().any(|line| line.contains("Spool")), "more rows than may be kept: {lines:#?}");
}
