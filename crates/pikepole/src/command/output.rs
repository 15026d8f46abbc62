//! Printing what a batch sends back: aligned tables, JSON or CSV; messages and errors go to standard error for programs.

use super::CommandError;
use super::pager::{Paged, Paging};
use super::progress::Line;
use super::view::View;
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets::ASCII_MARKDOWN};
use pikepole::{Column, Event, Row, SqlError, Value};
use pikepole_contention::sync::Arc;
use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

/// Where something is printed to.
#[derive(Clone)]
pub enum Sink {
    /// Standard output.
    Out,
    /// Standard error.
    Error,
    /// A file, which was emptied when it was opened.
    File(Arc<File>),
    /// Something that takes whole lines.
    Lines(Arc<dyn Fn(&str) + Send + Sync>),
}

/// Gathers what is written to lines.
struct LineWriter<'a> {
    rest: Vec<u8>,
    take: &'a (dyn Fn(&str) + Send + Sync),
}

impl Write for LineWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.rest.extend_from_slice(part);
            if self.rest.ends_with(b"\n") {
                (self.take)(String::from_utf8_lossy(&std::mem::take(&mut self.rest)).trim_end());
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for LineWriter<'_> {
    fn drop(&mut self) {
        if !self.rest.is_empty() {
            (self.take)(&String::from_utf8_lossy(&self.rest));
        }
    }
}

impl Sink {
    /// A new file, or one that is emptied.
    pub fn file(path: &Path) -> Result<Sink, CommandError> {
        let file = File::create(path).map_err(CommandError::io(&path.display().to_string()))?;
        Ok(Sink::File(Arc::new(file)))
    }

    /// Whether somebody looks at it as it comes.
    fn is_terminal(&self) -> bool {
        match self {
            Sink::Out => io::stdout().is_terminal(),
            Sink::Error => io::stderr().is_terminal(),
            Sink::File(_) | Sink::Lines(_) => false,
        }
    }

    /// What writes there.
    pub fn writer(&self) -> Box<dyn Write + '_> {
        match self {
            Sink::Out => Box::new(io::BufWriter::new(io::stdout().lock())),
            Sink::Error => Box::new(io::stderr().lock()),
            Sink::File(file) => Box::new(io::BufWriter::new(&**file)),
            Sink::Lines(take) => Box::new(LineWriter { rest: Vec::new(), take: &**take }),
        }
    }
}

/// How results are shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Aligned columns, for reading.
    Table,
    /// One array of objects a result set, each on a line.
    Json,
    /// A header line and a line a row.
    Csv,
}

/// Rows of one table: a longer result set continues in a further table, so that memory stays bounded.
const TABLE_ROWS_MAX: usize = 1000;

/// Prints the events of batches in one format.
pub struct Printer {
    format: Format,
    out: Sink,
    /// Where errors go, and what is no data where programs read.
    error: Sink,
    columns: Vec<Column>,
    /// The names of the columns in JSON objects, where each must be its own.
    keys: Vec<String>,
    rows: Vec<Row>,
    printed: u64,
    /// Whether the columns' names have been shown: each table has them, an empty result set too.
    headed: bool,
    /// The view of tables for a person; None where a program may read them.
    view: Option<View>,
    /// What is longer than the terminal goes to a pager.
    paging: Option<Paging>,
    /// The line that is erased before anything is printed.
    progress: Option<Line>,
}

impl Printer {
    /// A printer to standard output.
    pub fn new(format: Format) -> Self {
        let (out, error) = (Sink::Out, Sink::Error);
        Printer {
            format,
            out,
            error,
            columns: Vec::new(),
            keys: Vec::new(),
            rows: Vec::new(),
            printed: 0,
            headed: false,
            view: None,
            paging: None,
            progress: None,
        }
    }

    /// This line is erased before anything is printed.
    pub fn set_progress(&mut self, line: Line) {
        self.progress = Some(line);
    }

    /// Tables are for a person from now on.
    pub fn set_view(&mut self, view: Option<View>) {
        self.view = view;
    }

    /// How a person sees tables.
    pub fn view_mut(&mut self) -> Option<&mut View> {
        self.view.as_mut()
    }

    /// What is longer than the terminal goes to a pager, or does not.
    pub fn set_paging(&mut self, paging: Option<Paging>) {
        self.paging = paging;
    }

    /// Rows of the last result set so far.
    pub fn rows_printed(&self) -> u64 {
        self.printed
    }

    /// Whether results go to the terminal.
    pub fn is_on_terminal(&self) -> bool {
        self.out.is_terminal()
    }

    /// Results go elsewhere from now on.
    pub fn set_out(&mut self, out: Sink) {
        self.out = out;
    }

    /// Errors go elsewhere from now on.
    pub fn set_error(&mut self, error: Sink) {
        self.error = error;
    }

    /// Prints an error of the shell's own.
    pub fn complain(&self, text: &str) -> Result<(), CommandError> {
        let _printing = self.progress.as_ref().map(Line::printing);
        let mut err = self.error.writer();
        writeln!(err, "{text}").and_then(|()| err.flush()).map_err(CommandError::io("standard error"))
    }

    /// Prints lines of the shell's own.
    pub fn say(&self, text: &str) -> Result<(), CommandError> {
        let _printing = self.progress.as_ref().map(Line::printing);
        let mut out = self.out.writer();
        writeln!(out, "{text}").and_then(|()| out.flush()).map_err(CommandError::io("standard output"))
    }

    /// Where results go, by way of the pager where there is one.
    fn writer<'s>(&self, sink: &'s Sink) -> Box<dyn Write + 's> {
        match &self.paging {
            Some(paging) if matches!(sink, Sink::Out) => Box::new(Paged::new(paging.clone())),
            _ => sink.writer(),
        }
    }

    /// Prints a batch's events as they come; whether there was no error. `line_offset` is what precedes the batch in its script.
    pub fn print<E>(
        &mut self,
        events: impl Iterator<Item = Result<Event, E>>,
        batch: &str,
        line_offset: u32,
    ) -> Result<bool, CommandError>
    where
        CommandError: From<E>,
    {
        let mut clean = true;
        let (sink, errors) = (self.out.clone(), self.error.clone());
        let mut out = self.writer(&sink);
        let progress = self.progress.clone();
        for event in events {
            let event = event?;
            let _printing = progress.as_ref().map(Line::printing);
            match event {
                Event::Columns(columns) => self.begin(columns, &mut out),
                Event::Row(row) => self.row(row, &mut out),
                Event::Done { rows } => self.done(rows, &mut out),
                Event::Message(message) => self.message(&message.text, &mut out),
                Event::Error(error) => {
                    clean = false;
                    self.done(None, &mut out).and_then(|()| out.flush()).and_then(|()| {
                        report(&errors, &error, line_offset, self.view.as_ref().map(|view| (view, batch)))
                    })
                }
            }
            .map_err(CommandError::io("standard output"))?;
        }
        let _printing = progress.as_ref().map(Line::printing);
        self.done(None, &mut out).and_then(|()| out.flush()).map_err(CommandError::io("standard output"))?;
        Ok(clean)
    }

    fn begin(&mut self, columns: Vec<Column>, out: &mut impl Write) -> io::Result<()> {
        self.done(None, out)?;
        self.columns = columns;
        self.printed = 0;
        self.headed = false;
        match self.format {
            Format::Table => Ok(()),
            Format::Json => {
                self.keys = column_keys(&self.columns);
                write!(out, "[")
            }
            Format::Csv => {
                let names: Vec<String> = self.columns.iter().map(|column| csv_field(&column.name)).collect();
                writeln!(out, "{}", names.join(","))
            }
        }
    }

    fn row(&mut self, row: Row, out: &mut impl Write) -> io::Result<()> {
        match self.format {
            Format::Table => {
                let is_shown = self.view.as_ref().is_none_or(|view| view.shows_row(self.printed));
                self.printed += 1;
                if is_shown {
                    self.rows.push(row);
                }
                if self.rows.len() == TABLE_ROWS_MAX { self.table(out) } else { Ok(()) }
            }
            Format::Json => {
                let comma = if self.printed > 0 { "," } else { "" };
                self.printed += 1;
                write!(out, "{comma}{}", serde_json::Value::Object(json_row(&self.keys, &row)))
            }
            Format::Csv => {
                self.printed += 1;
                let fields: Vec<String> = (0..self.columns.len()).map(|place| csv_value(&row, place)).collect();
                writeln!(out, "{}", fields.join(","))
            }
        }
    }

    /// Ends the result set under way, if any, and tells how many rows a statement touched.
    fn done(&mut self, rows: Option<u64>, out: &mut impl Write) -> io::Result<()> {
        if !self.columns.is_empty() {
            match self.format {
                Format::Table => {
                    self.rest(out)?;
                    self.left_out(out)?;
                }
                Format::Json => writeln!(out, "]")?,
                Format::Csv => {}
            }
            self.columns.clear();
        }
        match rows {
            Some(1) if self.format == Format::Table => writeln!(out, "(1 row affected)"),
            Some(rows) if self.format == Format::Table => writeln!(out, "({rows} rows affected)"),
            _ => Ok(()),
        }
    }

    /// Shows what is there of the result set under way and has not been shown.
    fn rest(&mut self, out: &mut impl Write) -> io::Result<()> {
        if self.rows.is_empty() && self.headed { Ok(()) } else { self.table(out) }
    }

    /// Tells of rows that were counted and not shown.
    fn left_out(&self, out: &mut impl Write) -> io::Result<()> {
        let Some(view) = self.view.as_ref().filter(|view| view.rows_max > 0 && self.printed > view.rows_max) else {
            return Ok(());
        };
        let count = self.printed - view.rows_max;
        let text = match count {
            1 => "(1 more row is not shown; \\rows 0 shows all)".to_owned(),
            _ => format!("({count} more rows are not shown; \\rows 0 shows all)"),
        };
        writeln!(out, "{}", view.remark(&text))
    }

    fn table(&mut self, out: &mut impl Write) -> io::Result<()> {
        self.headed = true;
        if let Some(view) = &mut self.view {
            let shown_before = self.printed.min(if view.rows_max == 0 { u64::MAX } else { view.rows_max });
            let rows = std::mem::take(&mut self.rows);
            let shown = view.rows(&self.columns, &rows, shown_before.saturating_sub(rows.len() as u64));
            return out.write_all(shown.as_bytes());
        }
        // The lines of a plan are a drawing already.
        if let [column] = self.columns.as_slice()
            && column.name == "StmtText"
        {
            return self.rows.drain(..).try_for_each(|row| writeln!(out, "{}", row.text(0)));
        }
        let mut table = Table::new();
        table.load_style(ASCII_MARKDOWN).set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(self.columns.iter().map(|column| Cell::new(&column.name)));
        for row in self.rows.drain(..) {
            table.add_row((0..self.columns.len()).map(|place| {
                let alignment =
                    if is_number(&row.values()[place]) { CellAlignment::Right } else { CellAlignment::Left };
                Cell::new(row.text(place)).set_alignment(alignment)
            }));
        }
        writeln!(out, "{table}")
    }

    fn message(&mut self, text: &str, out: &mut impl Write) -> io::Result<()> {
        if self.format != Format::Table {
            return writeln!(self.error.writer(), "{text}");
        }
        if !self.columns.is_empty() {
            self.rest(out)?;
        }
        writeln!(out, "{text}")?;
        // Somebody may watch how a long batch gets on.
        if self.out.is_terminal() { out.flush() } else { Ok(()) }
    }
}

/// Prints an error the way the field's tools do, with the line in the script.
fn report(sink: &Sink, error: &SqlError, line_offset: u32, person: Option<(&View, &str)>) -> io::Result<()> {
    let mut err = sink.writer();
    let (number, severity, state) = (error.number, error.severity, error.state);
    let head = match &error.procedure {
        Some(procedure) => {
            let line = error.line;
            format!("Msg {number}, Level {severity}, State {state}, Procedure {procedure}, Line {line}")
        }
        // A request that was taken back does not say where it was.
        None if error.line == 0 => format!("Msg {number}, Level {severity}, State {state}"),
        None => format!("Msg {number}, Level {severity}, State {state}, Line {}", error.line + line_offset),
    };
    match person.filter(|_| sink.is_terminal()) {
        Some((view, batch)) => err.write_all(view.error(&head, error, batch).as_bytes())?,
        None => writeln!(err, "{head}\n{}", error.message)?,
    }
    err.flush()
}

pub(super) fn is_number(value: &Value) -> bool {
    matches!(
        value,
        Value::Bit(_)
            | Value::TinyInt(_)
            | Value::SmallInt(_)
            | Value::Int(_)
            | Value::BigInt(_)
            | Value::Decimal(_)
            | Value::Money(_)
            | Value::SmallMoney(_)
            | Value::Real(_)
            | Value::Float(_)
    )
}

/// The columns' names; `column` and its place for one that has no name, or the name of a column before it.
pub(super) fn column_keys(columns: &[Column]) -> Vec<String> {
    let mut keys: Vec<String> = Vec::with_capacity(columns.len());
    for (place, column) in columns.iter().enumerate() {
        let taken = column.name.is_empty() || keys.contains(&column.name);
        keys.push(if taken { format!("column{}", place + 1) } else { column.name.clone() });
    }
    keys
}

fn json_row(keys: &[String], row: &Row) -> serde_json::Map<String, serde_json::Value> {
    keys.iter().enumerate().map(|(place, key)| (key.clone(), json_value(row, place))).collect()
}

/// Integers, floats and bits as JSON's own; everything exact or textual as a string.
fn json_value(row: &Row, place: usize) -> serde_json::Value {
    match &row.values()[place] {
        Value::Null => serde_json::Value::Null,
        Value::Bit(bit) => (*bit).into(),
        Value::TinyInt(number) => (*number).into(),
        Value::SmallInt(number) => (*number).into(),
        Value::Int(number) => (*number).into(),
        Value::BigInt(number) => (*number).into(),
        // By its shortest text: 0.1 is 0.1, not the double next to it.
        Value::Real(number) => number.to_string().parse::<f64>().unwrap_or_default().into(),
        Value::Float(number) => (*number).into(),
        Value::Str(text) => text.clone().into(),
        _ => row.text(place).into(),
    }
}

/// NULL is an empty field, an empty text is two quotes.
fn csv_value(row: &Row, place: usize) -> String {
    match &row.values()[place] {
        Value::Null => String::new(),
        Value::Str(text) if text.is_empty() => "\"\"".to_owned(),
        _ => csv_field(&row.text(place)),
    }
}

fn csv_field(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_string() }
}

#[cfg(test)]
mod tests {
    use super::csv_field;

    #[test]
    fn csv_quotes_what_needs_it() {
        assert_eq!(csv_field("plain"), "plain");
        assert_eq!(csv_field("a,b"), "\"a,b\"");
        assert_eq!(csv_field("say \"x\""), "\"say \"\"x\"\"\"");
    }
}
