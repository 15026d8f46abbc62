//! `:export` to a Parquet file: the file gets its name when it is whole.

use super::write::Writer;
use crate::command::CommandError;
use crate::command::output::{Format, Printer, column_keys};
use crate::command::session::Session;
use pikepole::{Column, Event};
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

/// A file that is written beside the one that it becomes; without that it is removed.
struct Partial {
    path: PathBuf,
    is_whole: bool,
}

impl Partial {
    fn beside(file: &Path) -> Partial {
        let mut name = file.file_name().unwrap_or_default().to_os_string();
        name.push(format!(".{}.partial", std::process::id()));
        Partial { path: file.with_file_name(name), is_whole: false }
    }

    /// Gives it the name of the file that it is for.
    fn become_file(&mut self, file: &Path) -> std::io::Result<()> {
        std::fs::rename(&self.path, file)?;
        self.is_whole = true;
        Ok(())
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if !self.is_whole {
            // A file that stays has a name that says that it is partial.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// A result on its way to a file.
struct Export<'a> {
    file: &'a str,
    partial: Partial,
    writer: Option<Writer<BufWriter<File>>>,
    /// Result sets that have begun; the first is the one that is written.
    sets: u64,
}

impl Export<'_> {
    fn wrong(&self, text: &str) -> CommandError {
        CommandError::Usage(format!("{}: {text}", self.file))
    }

    fn begin(&mut self, columns: &[Column]) -> Result<(), CommandError> {
        self.sets += 1;
        if self.sets > 1 {
            return Ok(());
        }
        let out = File::create(&self.partial.path).map_err(CommandError::io(self.file))?;
        let writer = Writer::new(BufWriter::new(out), columns, &column_keys(columns));
        self.writer = Some(writer.map_err(|why| self.wrong(&why))?);
        Ok(())
    }

    /// Takes what belongs to the file; gives what is left to be printed.
    fn take(&mut self, event: Event) -> Result<Option<Event>, CommandError> {
        match event {
            Event::Columns(columns) => self.begin(&columns)?,
            Event::Row(row) if self.sets == 1 => {
                let written = self.writer.as_mut().map_or(Ok(()), |writer| writer.row(&row));
                written.map_err(|why| self.wrong(&why))?;
            }
            Event::Row(_) | Event::Done { .. } => {}
            other => return Ok(Some(other)),
        }
        Ok(None)
    }

    /// Makes it the file; gives the number of its rows.
    fn finish(mut self) -> Result<u64, CommandError> {
        let Some(writer) = self.writer.take() else { return Err(self.wrong("the query has no result")) };
        let (out, rows) = writer.finish().map_err(|why| self.wrong(&why))?;
        let done = out.into_inner().map_err(std::io::IntoInnerError::into_error);
        let done = done.and_then(|out| out.sync_all());
        let done = done.and_then(|()| self.partial.become_file(Path::new(self.file)));
        done.map_err(CommandError::io(self.file))?;
        Ok(rows)
    }
}

/// Runs a query and writes its first result to a file. Returns the number of rows and that of results.
pub fn export(session: &mut Session, file: &str, query: &str) -> Result<(u64, u64), CommandError> {
    let partial = Partial::beside(Path::new(file));
    let mut export = Export { file, partial, writer: None, sets: 0 };
    let mut printer = Printer::new(Format::Csv);
    let is_clean = session.events(query, |events| {
        let rest = events.filter_map(|event| event.and_then(|event| export.take(event)).transpose());
        printer.print(rest, query, 0)
    })?;
    let sets = export.sets;
    match is_clean {
        true => export.finish().map(|rows| (rows, sets)),
        false => Err(export.wrong("it is not written, because the query has failed")),
    }
}
