//! Plans: the rows of SHOWPLAN_ALL and STATISTICS PROFILE as a tree that fits the terminal.

use super::{cut, one_line, width};
use pikepole::{Column, Row};
use std::fmt::Write;

/// The figures of an operator beside its text, and the headings over them.
const MEASURES: [(&str, &str); 4] =
    [("Rows", "rows"), ("Executes", "runs"), ("EstimateRows", "est. rows"), ("TotalSubtreeCost", "est. cost")];

/// The drawing of a plan; None where the result is none.
pub(super) fn drawing(columns: &[Column], rows: &[Row], terminal: Option<usize>) -> Option<String> {
    let place = |name: &str| columns.iter().position(|column| column.name == name);
    let text = place("StmtText")?;
    if columns.len() == 1 {
        // SHOWPLAN_TEXT: a drawing already.
        return Some(lines_of(rows, text, &[], terminal));
    }
    let (_, _) = (place("NodeId")?, place("Parent")?);
    let measures: Vec<(usize, &str)> = MEASURES.iter().filter_map(|(name, head)| Some((place(name)?, *head))).collect();
    Some(lines_of(rows, text, &measures, terminal))
}

fn lines_of(rows: &[Row], text: usize, measures: &[(usize, &str)], terminal: Option<usize>) -> String {
    let value = |row: &Row, place: usize| match row.text(place) {
        text if text == "NULL" => String::new(),
        text => shortened(&text),
    };
    let widths: Vec<usize> = measures
        .iter()
        .map(|(place, head)| rows.iter().map(|row| value(row, *place).len()).chain([head.len()]).max().unwrap_or(0))
        .collect();
    let mut lines = String::new();
    let mut put = |cells: Vec<String>, text: &str| {
        let margin: String = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:>width$}  ")).collect();
        let room = terminal.map_or(usize::MAX, |terminal| terminal.saturating_sub(width(&margin)));
        let _ = writeln!(lines, "{margin}{}", cut(text, room));
    };
    if !measures.is_empty() {
        put(measures.iter().map(|(_, head)| (*head).to_owned()).collect(), "plan");
    }
    for row in rows {
        put(measures.iter().map(|(place, _)| value(row, *place)).collect(), &one_line(&row.text(text)));
    }
    lines
}

/// A number with as many digits as are of use.
fn shortened(text: &str) -> String {
    match text.parse::<f64>() {
        Ok(number) if text.contains(['.', 'e', 'E']) && number.abs() >= 100.0 => format!("{number:.0}"),
        Ok(number) if text.contains(['.', 'e', 'E']) => format!("{number:.4}"),
        _ => text.to_owned(),
    }
}
