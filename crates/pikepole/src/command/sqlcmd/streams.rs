//! The streams that sqlcmd writes to: results, errors and statistics each have one, which scripts can lead elsewhere.
//!
//! Results are gathered. They are flushed before anything goes to another stream, so that both come in order where they are one
//! terminal or one file.

use super::super::CommandError;
use super::super::output::Sink;
use pikepole_contention::sync::Arc;
use pikepole_types::CodePage;
use std::io::Write;
use std::path::Path;

/// Bytes that are gathered before they are written.
const GATHERED_BYTES_MAX: usize = 32 << 10;

/// The streams; see the module's page.
pub struct Streams {
    out: Sink,
    error: Sink,
    statistics: Option<Sink>,
    gathered: Vec<u8>,
    /// The code page of files.
    file_page: CodePage,
    /// The code page of the standard streams.
    stream_page: CodePage,
    /// `:error` or `-o` has said where errors go.
    error_is_set: bool,
}

impl Streams {
    /// Standard output and standard error.
    pub fn new(page: Option<CodePage>, is_unicode: bool) -> Streams {
        let stream_page = page.unwrap_or(CodePage::Utf8);
        let file_page = if is_unicode { CodePage::Utf16 } else { stream_page };
        let (out, error, gathered) = (Sink::Out, Sink::Error, Vec::new());
        Streams { out, error, statistics: None, gathered, file_page, stream_page, error_is_set: false }
    }

    /// `-o`: everything goes to a file.
    pub fn all_to_file(&mut self, path: &Path) -> Result<(), CommandError> {
        self.out = Sink::file(path)?;
        (self.error, self.error_is_set) = (self.out.clone(), true);
        Ok(())
    }

    /// `:out`
    pub fn set_out(&mut self, sink: Sink) -> Result<(), CommandError> {
        self.flush()?;
        self.out = sink;
        Ok(())
    }

    /// `:error`
    pub fn set_error(&mut self, sink: Sink) {
        (self.error, self.error_is_set) = (sink, true);
    }

    /// `:perftrace`
    pub fn set_statistics(&mut self, sink: Sink) {
        self.statistics = Some(sink);
    }

    /// Returns whether a script or `-o` has led errors elsewhere.
    pub fn error_is_set(&self) -> bool {
        self.error_is_set
    }

    /// Writes to the results' stream.
    pub fn write(&mut self, text: &str) -> Result<(), CommandError> {
        let page = self.page(&self.out);
        page.encode(text, &mut self.gathered);
        if self.gathered.len() >= GATHERED_BYTES_MAX { self.flush() } else { Ok(()) }
    }

    /// Writes to the errors' stream.
    pub fn write_error(&mut self, text: &str) -> Result<(), CommandError> {
        if is_same(&self.out, &self.error) {
            return self.write(text);
        }
        self.flush()?;
        self.write_now(&self.error, text)
    }

    /// Writes statistics.
    pub fn write_statistics(&mut self, text: &str) -> Result<(), CommandError> {
        match &self.statistics {
            None => self.write(text),
            Some(sink) if is_same(&self.out, sink) => self.write(text),
            Some(sink) => self.write_now(sink, text),
        }
    }

    /// Writes what has been gathered.
    pub fn flush(&mut self) -> Result<(), CommandError> {
        let mut writer = self.out.writer();
        let written = writer.write_all(&self.gathered).and_then(|()| writer.flush());
        drop(writer);
        self.gathered.clear();
        written.map_err(CommandError::io("the output"))
    }

    fn write_now(&self, sink: &Sink, text: &str) -> Result<(), CommandError> {
        let mut bytes = Vec::new();
        self.page(sink).encode(text, &mut bytes);
        let mut writer = sink.writer();
        writer.write_all(&bytes).and_then(|()| writer.flush()).map_err(CommandError::io("the output"))
    }

    fn page(&self, sink: &Sink) -> CodePage {
        if matches!(sink, Sink::File(_)) { self.file_page } else { self.stream_page }
    }
}

fn is_same(one: &Sink, other: &Sink) -> bool {
    match (one, other) {
        (Sink::Out, Sink::Out) | (Sink::Error, Sink::Error) => true,
        (Sink::File(one), Sink::File(other)) => Arc::ptr_eq(one, other),
        _ => false,
    }
}
