//! Tables that fit the terminal; rows one under the other where they do not.

use super::{BOLD, DIM, Vertical, View, cut, one_line, width};
use crate::command::output::is_number;
use pikepole::{Column, Row, Value};
use std::fmt::Write;

/// Columns of the terminal that a value keeps when it is cut.
const CELL_MIN: usize = 8;

/// What stands at a place of the table, and how.
struct Cell {
    text: String,
    is_number: bool,
    is_null: bool,
}

fn cell(row: &Row, place: usize) -> Cell {
    let value = &row.values()[place];
    Cell { text: row.text(place), is_number: is_number(value), is_null: matches!(value, Value::Null) }
}

/// The rows as a table; None where it is too wide and rows may be shown one under the other.
pub(super) fn table(view: &mut View, columns: &[Column], rows: &[Row]) -> Option<String> {
    let names: Vec<String> = columns.iter().map(|column| one_line(&column.name)).collect();
    let cells: Vec<Vec<Cell>> =
        rows.iter().map(|row| (0..columns.len()).map(|place| cell(row, place)).map(on_one_line).collect()).collect();
    let wanted: Vec<usize> = (0..columns.len())
        .map(|place| cells.iter().map(|row| width(&row[place].text)).chain([width(&names[place])]).max().unwrap_or(0))
        .collect();
    let is_text: Vec<bool> = (0..columns.len()).map(|place| cells.iter().any(|row| !row[place].is_number)).collect();
    let widths = match view.width {
        Some(width) => match fitted(&wanted, &is_text, width) {
            Some(widths) => widths,
            None if view.vertical == Vertical::Auto && !rows.is_empty() => return None,
            None => wanted.clone(),
        },
        None => wanted.clone(),
    };
    let mut lines = String::new();
    let heads = names.iter().zip(&widths).map(|(name, width)| {
        let shown = cut(name, *width);
        let blanks = " ".repeat(width - super::width(&shown));
        format!("{}{blanks}", view.painted(BOLD, &shown))
    });
    put_line(&mut lines, heads.collect());
    let rule = widths.iter().map(|width| "-".repeat(width + 2)).collect::<Vec<_>>().join("|");
    let _ = writeln!(lines, "|{rule}|");
    for row in &cells {
        let values = row.iter().zip(&widths).map(|(cell, width)| aligned(view, cell, *width)).collect();
        put_line(&mut lines, values);
    }
    if widths != wanted && !view.knows_cuts {
        view.knows_cuts = true;
        let _ =
            writeln!(lines, "{}", view.remark("(… ends a value that is cut to the terminal; \\x shows values whole)"));
    }
    Some(lines)
}

fn on_one_line(cell: Cell) -> Cell {
    Cell { text: one_line(&cell.text), ..cell }
}

fn aligned(view: &View, cell: &Cell, width: usize) -> String {
    let shown = cut(&cell.text, width);
    let blanks = " ".repeat(width.saturating_sub(super::width(&shown)));
    let painted = if cell.is_null { view.painted(DIM, &shown) } else { shown };
    if cell.is_number { format!("{blanks}{painted}") } else { format!("{painted}{blanks}") }
}

fn put_line(lines: &mut String, cells: Vec<String>) {
    let _ = writeln!(lines, "| {} |", cells.join(" | "));
}

/// The widths of the columns where the widest texts are cut until the table fits; None where it does not. Numbers are not cut.
fn fitted(wanted: &[usize], is_text: &[bool], terminal: usize) -> Option<Vec<usize>> {
    let mut widths = wanted.to_vec();
    // A bar and two blanks for each value, and the last bar.
    let frame = 3 * widths.len() + 1;
    let mut excess = (widths.iter().sum::<usize>() + frame).saturating_sub(terminal);
    while excess > 0 {
        let may_shrink = (0..widths.len()).filter(|place| is_text[*place] && widths[*place] > CELL_MIN);
        let widest = may_shrink.max_by_key(|place| widths[*place])?;
        // Down to the next widest text, so that long results are fitted in few steps.
        let others = (0..widths.len()).filter(|place| is_text[*place] && widths[*place] < widths[widest]);
        let floor = others.map(|place| widths[place]).max().unwrap_or(0).max(CELL_MIN);
        let by = excess.min(widths[widest] - floor).max(1);
        widths[widest] -= by;
        excess -= by;
    }
    Some(widths)
}

/// The rows one under the other.
pub(super) fn vertical(view: &View, columns: &[Column], rows: &[Row], before: u64) -> String {
    let names: Vec<String> = columns.iter().map(|column| one_line(&column.name)).collect();
    let widest = names.iter().map(|name| width(name)).max().unwrap_or(0);
    let mut lines = String::new();
    for (number, row) in (before + 1..).zip(rows) {
        let _ = writeln!(lines, "{}", view.painted(BOLD, &format!("-[ row {number} ]-")));
        for (place, name) in names.iter().enumerate() {
            let cell = cell(row, place);
            let margin = format!("{name}{}", " ".repeat(widest - width(name)));
            let text = cell.text.replace("\r\n", "\n");
            for (at, line) in text.split('\n').enumerate() {
                let shown = one_line(line);
                let shown = if cell.is_null { view.painted(DIM, &shown) } else { shown };
                let margin = if at == 0 { margin.clone() } else { " ".repeat(widest) };
                let _ = writeln!(lines, "{margin} | {shown}");
            }
        }
    }
    lines
}
