//! Tests of what a person sees.

use super::*;
use pikepole::Value;
use pikepole_contention::sync::Arc;

fn columns(names: &[&str]) -> Vec<Column> {
    let column = |name: &&str| Column { name: (*name).to_owned(), sql_type: int(), nullable: true };
    names.iter().map(column).collect()
}

fn int() -> pikepole::SqlType {
    pikepole::SqlType::Int
}

fn rows(columns: &[Column], rows: Vec<Vec<Value>>) -> Vec<Row> {
    let columns: Arc<[Column]> = columns.to_vec().into();
    rows.into_iter().map(|row| Row::new(Arc::clone(&columns), row)).collect()
}

fn text(text: &str) -> Value {
    Value::from(text)
}

#[test]
fn tables_are_cut_to_the_terminal_and_say_so_once() {
    let columns = columns(&["id", "word"]);
    let rows = rows(
        &columns,
        vec![vec![Value::Int(7), text("a long text that does not fit")], vec![Value::Null, text("a\nb")]],
    );
    let mut view = View::new(Some(22), false);
    let expected = "| id   | word        |\n|------|-------------|\n|    7 | a long tex… |\n| NULL | a↵b         |\n";
    let first = view.rows(&columns, &rows, 0);
    assert!(first.starts_with(expected), "{first}");
    assert!(first.ends_with("\\x shows values whole)\n"), "{first}");
    assert_eq!(view.rows(&columns, &rows, 0), expected);
    assert!(expected.lines().all(|line| width(line) <= 22));
}

#[test]
fn rows_that_do_not_fit_stand_one_under_the_other() {
    let columns = columns(&["a", "second"]);
    let rows = rows(&columns, vec![vec![text("x y z and more"), text("one\r\ntwo")]]);
    let expected = "-[ row 5 ]-\na      | x y z and more\nsecond | one\n       | two\n";
    assert_eq!(View::new(Some(12), false).rows(&columns, &rows, 4), expected);
    let on = View { vertical: Vertical::On, ..View::new(None, false) };
    assert_eq!(on.clone().rows(&columns, &rows, 4), expected);
    let off = View { vertical: Vertical::Off, ..View::new(Some(12), false) };
    assert!(off.clone().rows(&columns, &rows, 4).starts_with("| a "));
}

#[test]
fn what_data_say_does_not_reach_the_terminal_as_a_command() {
    let columns = columns(&["a"]);
    let rows = rows(&columns, vec![vec![text("\u{1b}[2Jx\u{7}")]]);
    for view in [View::new(Some(80), true), View { vertical: Vertical::On, ..View::new(None, false) }] {
        let shown = view.clone().rows(&columns, &rows, 0);
        assert!(shown.contains("·[2Jx·"), "{shown:?}");
    }
}

#[test]
fn errors_show_their_line_and_what_they_name() {
    let batch = "SELECT 1\nSELECT nothingness, nothing FROM t";
    let error = |line: u32, message: &str| SqlError { line, ..SqlError::new(207, 16, 1, message) };
    let shown = View::new(Some(80), false).error("Msg", &error(2, "Invalid column name 'nothing'."), batch);
    let expected = "Msg\nInvalid column name 'nothing'.\n    2 | SELECT nothingness, nothing FROM t\n                            ^^^^^^^\n";
    assert_eq!(shown, expected);
    // Nothing is named that the line has: no caret. No such line: no line.
    let shown = View::new(None, false).error("Msg", &error(1, "Incorrect."), batch);
    assert_eq!(shown, "Msg\nIncorrect.\n    1 | SELECT 1\n");
    assert_eq!(View::new(None, false).error("Msg", &error(9, "x"), batch), "Msg\nx\n");
    assert_eq!(View::new(None, false).error("Msg", &error(0, "x"), batch), "Msg\nx\n");
    // A long line is shown where it matters.
    let long = format!("SELECT {} wrong", "é, ".repeat(60));
    let shown = View::new(Some(40), false).error("Msg", &error(1, "Invalid column name 'WRONG'."), &long);
    let lines: Vec<&str> = shown.lines().collect();
    assert!(width(lines[2]) < 40 && lines[2].ends_with("wrong") && lines[3].ends_with("^^^^^"), "{shown}");
    assert_eq!(width(lines[2]), lines[3].len());
}

#[test]
fn plans_are_trees_with_their_measures() {
    let columns = columns(&["Rows", "Executes", "StmtText", "NodeId", "Parent", "EstimateRows"]);
    let row = |rows: i64, text_of: &str| {
        vec![Value::BigInt(rows), Value::BigInt(1), text(text_of), Value::Int(1), Value::Int(0), Value::Float(2.0)]
    };
    let rows = rows(&columns, vec![row(3, "SELECT *\nFROM t"), row(300, "  |--Clustered Index Scan(OBJECT:(t))")]);
    let shown = View::new(Some(50), false).rows(&columns, &rows, 0);
    let expected = "\
rows  runs  est. rows  plan
   3     1          2  SELECT *↵FROM t
 300     1          2    |--Clustered Index Scan(…
";
    assert_eq!(shown, expected);
}
