//! Results as a person at a terminal reads them.
//!
//! | what | where |
//! |---|---|
//! | tables that fit the terminal, rows one under the other | `table` |
//! | plans as trees | `plan` |
//! | errors with the line of the source that they are about | `source` |

mod plan;
mod source;
mod table;

use pikepole::{Column, Row, SqlError};
use unicode_width::UnicodeWidthChar;

/// Rows shown of a result until the user says otherwise.
const ROWS_MAX: u64 = 1000;

const RED: &str = "\x1b[31m";
const DIM: &str = "\x1b[2m";
const BOLD: &str = "\x1b[1m";
const PLAIN: &str = "\x1b[0m";

/// Rows one under the other, a column a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vertical {
    /// Never.
    Off,
    /// Always.
    On,
    /// Where the columns are too many for the terminal.
    Auto,
}

/// How results are shown to a person.
#[derive(Debug, Clone)]
pub struct View {
    /// Columns of the terminal; None: nothing is cut.
    pub width: Option<usize>,
    /// Rows one under the other.
    pub vertical: Vertical,
    /// Rows shown of a result; 0 for all.
    pub rows_max: u64,
    /// Colours.
    pub colour: bool,
    /// The user knows how values are seen that are cut.
    knows_cuts: bool,
}

impl View {
    /// Of a terminal of this width.
    pub fn new(width: Option<usize>, colour: bool) -> View {
        View { width, vertical: Vertical::Auto, rows_max: ROWS_MAX, colour, knows_cuts: false }
    }

    /// Whether the row behind so many others is shown.
    pub fn shows_row(&self, before: u64) -> bool {
        self.rows_max == 0 || before < self.rows_max
    }

    /// A remark that is no data.
    pub fn remark(&self, text: &str) -> String {
        self.painted(DIM, text)
    }

    /// An error: its head, its message, and the line of the batch that it is about.
    pub fn error(&self, head: &str, error: &SqlError, batch: &str) -> String {
        let mut shown = format!("{}\n{}\n", self.painted(RED, head), self.painted(RED, &error.message));
        if error.procedure.is_none() {
            shown.push_str(&source::excerpt(self, error, batch));
        }
        shown
    }

    /// Rows of a result set, of which so many have been shown before.
    pub fn rows(&mut self, columns: &[Column], rows: &[Row], before: u64) -> String {
        if let Some(plan) = plan::drawing(columns, rows, self.width) {
            return plan;
        }
        let table = if self.vertical == Vertical::On { None } else { table::table(self, columns, rows) };
        table.unwrap_or_else(|| table::vertical(self, columns, rows, before))
    }

    /// A text in a colour, where there are colours.
    fn painted(&self, colour: &str, text: &str) -> String {
        if self.colour && !text.is_empty() { format!("{colour}{text}{PLAIN}") } else { text.to_owned() }
    }
}

/// A text on one line: neither line ends nor control characters reach the terminal.
fn one_line(text: &str) -> String {
    let visible = |c: char| match c {
        '\n' => '↵',
        '\t' => ' ',
        c if c.is_control() => '·',
        c => c,
    };
    text.replace("\r\n", "\n").chars().map(visible).collect()
}

/// Columns that a text takes.
fn width(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// The text as far as it fits into so many columns; what is cut ends with a sign of it.
fn cut(text: &str, room: usize) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let (mut kept, mut taken) = (String::new(), 0);
    for c in text.chars() {
        taken += c.width().unwrap_or(0);
        if taken >= room {
            break;
        }
        kept.push(c);
    }
    if room > 0 {
        kept.push('…');
    }
    kept
}

#[cfg(test)]
mod tests;
