//! The answer to a batch, printed as sqlcmd prints it.
//!
//! ```text
//!   id          name        a heading, unless -h says otherwise: names at the left, as wide as the column's type
//!   ----------- ----------
//!             1 one         numbers and times at the right, the others at the left, padded to the column's width
//!                           a blank line stands before the count, and between result sets without counts
//!   (1 rows affected)
//! ```

use super::super::CommandError;
use super::options::{ControlCharacters, Redirection};
use super::streams::Streams;
use super::values::{self, Limits, Place};
use pikepole::{Column, Event, Message, Row, SqlError, Value};

/// The state of RAISERROR that ends sqlcmd.
const ENDING_STATE: u8 = 127;
/// Severities above this one are errors.
const INFORMATION_MAX: u8 = 10;
/// A column is padded to at most so many characters.
const PADDING_MAX: usize = 8000;

/// The look of results.
#[derive(Debug, Clone)]
pub struct Layout {
    /// Rows to a heading; 0: one a result set, -1: none.
    pub headers: i64,
    /// The text between columns.
    pub separator: String,
    /// Characters of a line; 0: as many as there are.
    pub width: usize,
    /// The limits of columns' widths.
    pub limits: Limits,
    /// `-W`
    pub trims: bool,
    /// `-k`
    pub controls: ControlCharacters,
    /// `:xml on`
    pub is_stream: bool,
}

/// The messages that are printed, and their stream.
#[derive(Debug, Clone, Copy)]
pub struct Messages {
    /// `-m`: those below it are not; -1: all have a heading.
    pub level: i32,
    /// `-r`
    pub redirection: Redirection,
    /// `-j`: none has a heading.
    pub is_raw: bool,
}

/// The end of a batch.
#[derive(Debug, Default)]
pub struct Ending {
    /// The highest severity of its errors.
    pub severity_max: u8,
    /// The last error's severity at or above `-V`.
    pub last_severity: Option<u8>,
    /// The number of a message whose state ends sqlcmd.
    pub ending_number: Option<i32>,
    /// The first column's value of the last row, as text; none without rows.
    pub last_value: Option<String>,
}

/// Prints the events of one batch.
pub struct Printer<'a> {
    streams: &'a mut Streams,
    server: &'a str,
    layout: Layout,
    messages: Messages,
    /// The errors that count for `-V`.
    severity: Option<u8>,
    columns: Vec<Column>,
    places: Vec<Place>,
    rows: u64,
    is_in_set: bool,
    /// A result set has ended without a count: a blank line stands before the next one.
    owes_line: bool,
    ending: Ending,
}

impl<'a> Printer<'a> {
    /// Nothing has been printed yet.
    pub fn new(
        streams: &'a mut Streams,
        server: &'a str,
        layout: Layout,
        messages: Messages,
        severity: Option<u8>,
    ) -> Printer<'a> {
        Printer {
            streams,
            server,
            layout,
            messages,
            severity,
            columns: Vec::new(),
            places: Vec::new(),
            rows: 0,
            is_in_set: false,
            owes_line: false,
            ending: Ending::default(),
        }
    }

    /// Prints an event.
    pub fn print(&mut self, event: Event) -> Result<(), CommandError> {
        match event {
            Event::Columns(columns) => self.begin(columns),
            Event::Row(row) => self.row(&row),
            Event::Done { rows } => self.done(rows),
            Event::Message(message) => self.message(message),
            Event::Error(error) => self.error(&error),
        }
    }

    /// Returns how the batch ended.
    pub fn finish(mut self) -> Result<Ending, CommandError> {
        self.end_stream()?;
        self.streams.flush()?;
        Ok(self.ending)
    }

    fn begin(&mut self, columns: Vec<Column>) -> Result<(), CommandError> {
        self.end_stream()?;
        if std::mem::take(&mut self.owes_line) {
            self.streams.write("\n")?;
        }
        self.places = columns.iter().map(|column| values::place(column, self.layout.limits)).collect();
        self.columns = columns;
        (self.rows, self.is_in_set) = (0, true);
        if self.layout.headers >= 0 { self.heading() } else { Ok(()) }
    }

    fn heading(&mut self) -> Result<(), CommandError> {
        if self.layout.is_stream || self.layout.limits.variable == 0 {
            return Ok(());
        }
        let (mut names, mut dashes) = (String::new(), String::new());
        for (at, (column, place)) in self.columns.iter().zip(&self.places).enumerate() {
            if at > 0 {
                names.push_str(&self.layout.separator);
                dashes.push_str(&self.layout.separator);
            }
            let width = place.width.unwrap_or(0).min(PADDING_MAX);
            let name: String = column.name.chars().take(width).collect();
            let length = name.chars().count();
            // A name of nothing has a place, too.
            let width = if self.layout.trims { length.max(1) } else { width };
            names.push_str(&name);
            names.extend(std::iter::repeat_n(' ', width.saturating_sub(length)));
            dashes.extend(std::iter::repeat_n('-', width));
        }
        self.line(&names)?;
        self.line(&dashes)
    }

    fn row(&mut self, row: &Row) -> Result<(), CommandError> {
        self.ending.last_value = row.values().first().map(|value| match value {
            Value::Bit(bit) => u8::from(*bit).to_string(),
            _ => row.text(0),
        });
        if self.layout.is_stream {
            let text: String = (0..row.values().len()).map(|at| values::text(row, at)).collect();
            return self.streams.write(&text);
        }
        if self.rows > 0 && self.layout.headers > 0 && self.rows.is_multiple_of(self.layout.headers.unsigned_abs()) {
            self.streams.write("\n")?;
            self.heading()?;
        }
        self.rows += 1;
        let mut line = String::new();
        for (at, place) in self.places.iter().enumerate() {
            if at > 0 {
                line.push_str(&self.layout.separator);
            }
            let text = values::without_controls(values::text(row, at), self.layout.controls);
            // NULL is not cut: NUL could be a value.
            let least = if matches!(row.values()[at], Value::Null) { text.len() } else { 0 };
            let place = Place { width: place.width.map(|width| width.max(least)), ..*place };
            put_value(&text, place, self.layout.trims, &mut line);
        }
        self.line(&line)
    }

    /// The end of a statement, and of its result set.
    fn done(&mut self, rows: Option<u64>) -> Result<(), CommandError> {
        self.end_stream()?;
        let ended_set = std::mem::take(&mut self.is_in_set);
        match rows {
            Some(_) if self.layout.is_stream => Ok(()),
            Some(rows) => {
                self.owes_line = false;
                self.streams.write(&format!("\n({rows} rows affected)\n"))
            }
            None => {
                self.owes_line |= ended_set;
                Ok(())
            }
        }
    }

    /// Ends the line of a stream's values.
    fn end_stream(&mut self) -> Result<(), CommandError> {
        if self.layout.is_stream && self.is_in_set {
            self.is_in_set = false;
            return self.streams.write("\n");
        }
        Ok(())
    }

    fn message(&mut self, message: Message) -> Result<(), CommandError> {
        if message.state == ENDING_STATE {
            self.ending.ending_number = Some(message.number);
        }
        let Message { number, severity, state, line, procedure, text } = message;
        let severity = if severity == INFORMATION_MAX { 0 } else { severity };
        if !self.layout.is_stream && i32::from(severity) >= self.messages.level {
            let error = SqlError { line, procedure, ..SqlError::new(number, severity, state, text) };
            let to_error = self.messages.redirection == Redirection::All;
            self.print_message(&error, severity > 0, to_error)?;
        }
        // WITH NOWAIT is for readers who wait.
        self.streams.flush()
    }

    fn error(&mut self, error: &SqlError) -> Result<(), CommandError> {
        self.end_stream()?;
        if error.state == ENDING_STATE {
            self.ending.ending_number = Some(error.number);
        }
        self.ending.severity_max = self.ending.severity_max.max(error.severity);
        if self.severity.is_none_or(|level| error.severity >= level) {
            self.ending.last_severity = Some(error.severity);
        }
        if i32::from(error.severity) < self.messages.level {
            return Ok(());
        }
        let redirected = self.messages.redirection != Redirection::Nothing || self.streams.error_is_set();
        self.print_message(error, true, redirected)
    }

    fn print_message(&mut self, error: &SqlError, has_heading: bool, to_error: bool) -> Result<(), CommandError> {
        let mut text = String::new();
        if (has_heading || self.messages.level == -1) && !self.messages.is_raw {
            text = wrapped(&heading(error, self.server), self.layout.width) + "\n";
        }
        text += &wrapped(&error.message, self.layout.width);
        text.push('\n');
        if to_error { self.streams.write_error(&text) } else { self.streams.write(&text) }
    }

    fn line(&mut self, line: &str) -> Result<(), CommandError> {
        self.streams.write(&wrapped(line, self.layout.width))?;
        self.streams.write("\n")
    }
}

/// The line before the text of a message.
fn heading(error: &SqlError, server: &str) -> String {
    let (number, severity, state, line) = (error.number, error.severity, error.state, error.line);
    let procedure = error.procedure.as_ref().map(|name| format!(", Procedure {name}")).unwrap_or_default();
    format!("Msg {number}, Level {severity}, State {state}, Server {server}{procedure}, Line {line}")
}

/// Appends a value, cut and padded to its place.
fn put_value(text: &str, place: Place, trims: bool, line: &mut String) {
    let Some(width) = place.width else {
        return line.push_str(if trims { text.trim_end_matches(' ') } else { text });
    };
    let end = text.char_indices().nth(width).map_or(text.len(), |(at, _)| at);
    let text = &text[..end];
    if trims {
        return line.push_str(text.trim_end_matches(' '));
    }
    let padding = width.min(PADDING_MAX).saturating_sub(text.chars().count());
    let blanks = std::iter::repeat_n(' ', padding);
    if place.is_right {
        line.extend(blanks);
        line.push_str(text);
    } else {
        line.push_str(text);
        line.extend(blanks);
    }
}

/// A text whose lines have at most so many characters.
fn wrapped(text: &str, width: usize) -> String {
    if width == 0 || text.chars().count() <= width {
        return text.to_owned();
    }
    let (mut out, mut used) = (String::with_capacity(text.len()), 0);
    for c in text.chars() {
        if used == width && c != '\n' {
            out.push('\n');
            used = 0;
        }
        out.push(c);
        used = if c == '\n' { 0 } else { used + 1 };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::wrapped;

    #[test]
    fn lines_are_broken_where_they_are_full() {
        for (text, expected) in [
            ("12345678", "12345678"),
            ("123456789", "123456789"),
            ("123456789A", "123456789\nA"),
            ("12345678\n9A", "12345678\n9A"),
            ("123456789\nA", "123456789\nA"),
        ] {
            assert_eq!(wrapped(text, 9), expected);
        }
        assert_eq!(wrapped("123456789A", 0), "123456789A");
    }
}
