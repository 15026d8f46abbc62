//! The server's log: lines for people or JSON on standard error, and the same lines in a file that sp_readerrorlog reads.
//!
//! The file is `error.log` in the folder of databases, anew at each start; the ones before it are `error.log.1` and so on. A line
//! is a time, the session or `Server`, and the text, divided by tabs.

use pikepole_contention::sync::{Arc, Mutex};
use pikepole_machine::{Disk, File, OpenOptions};
use pikepole_session::error_log::{self, FILES_KEPT};
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::Path;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

/// How lines on standard error look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogFormat {
    /// For people.
    #[default]
    Human,
    /// One JSON object a line.
    Json,
}

/// The target of events that go to standard output, where what waits for a server looks for them; the others go to standard error.
pub const READY: &str = "ready";

/// Starts the log of this process. A second call changes nothing.
///
/// # Errors
/// When the file cannot be made.
pub fn start_log(format: LogFormat, disk: &Disk, folder: &Path) -> io::Result<()> {
    let file = ErrorFile { file: Mutex::new((next_file(disk, folder)?, 0)) };
    let registry = tracing_subscriber::registry().with(LevelFilter::INFO).with(file);
    let lines = tracing_subscriber::fmt::layer().with_writer(Streams).with_target(false);
    // Only a process that has started its log already refuses another; that one goes on.
    let _ = match format {
        LogFormat::Human => tracing::subscriber::set_global_default(registry.with(lines.with_ansi(false))),
        LogFormat::Json => tracing::subscriber::set_global_default(registry.with(lines.json().flatten_event(true))),
    };
    if format == LogFormat::Json {
        std::panic::set_hook(Box::new(|panic| tracing::error!("{panic}")));
    }
    Ok(())
}

/// Starts the log of this process with lines in the file only. A second call changes nothing.
///
/// # Errors
/// When the file cannot be made.
pub fn start_log_file(disk: &Disk, folder: &Path) -> io::Result<()> {
    let file = ErrorFile { file: Mutex::new((next_file(disk, folder)?, 0)) };
    // Only a process that has started its log already refuses another; that one goes on.
    let _ = tracing::subscriber::set_global_default(tracing_subscriber::registry().with(LevelFilter::INFO).with(file));
    Ok(())
}

/// Writes a line of the process to standard output, as JSON where the log is. It does not come into the log's file.
///
/// # Errors
/// Standard output cannot be written.
pub fn announce(format: LogFormat, text: &str) -> io::Result<()> {
    match format {
        LogFormat::Human => writeln!(io::stdout(), "{text}"),
        LogFormat::Json => {
            // The layer hides what its writer refuses, so the line is gathered before it is written.
            let line = Arc::new(Mutex::new(Vec::new()));
            let gathered = Arc::clone(&line);
            as_json(move || Gathered(Arc::clone(&gathered)), || tracing::info!("{text}"));
            let line = line.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            let mut out = io::stdout();
            out.write_all(&line)?;
            out.flush()
        }
    }
}

/// Writes a line of the process to standard error, as JSON where the log is; for what happens before the log has begun, or ends it.
pub fn complain(format: LogFormat, is_error: bool, text: &str) {
    match format {
        // Without a standard error there is nothing to tell.
        LogFormat::Human => drop(writeln!(io::stderr(), "{text}")),
        LogFormat::Json if is_error => as_json(io::stderr, || tracing::error!("{text}")),
        LogFormat::Json => as_json(io::stderr, || tracing::info!("{text}")),
    }
}

fn as_json<W: io::Write>(stream: impl Fn() -> W + Send + Sync + 'static, write: impl FnOnce()) {
    let lines = tracing_subscriber::fmt::layer().with_writer(stream).with_target(false).json().flatten_event(true);
    tracing::subscriber::with_default(tracing_subscriber::registry().with(LevelFilter::INFO).with(lines), write);
}

/// Bytes of a line that is not written yet.
struct Gathered(Arc<Mutex<Vec<u8>>>);

impl io::Write for Gathered {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Standard output for what [`READY`] says, standard error for all else.
struct Streams;

impl<'a> MakeWriter<'a> for Streams {
    type Writer = Stream;

    fn make_writer(&'a self) -> Stream {
        Stream::Error
    }

    fn make_writer_for(&'a self, meta: &tracing::Metadata<'_>) -> Stream {
        if meta.target() == READY { Stream::Out } else { Stream::Error }
    }
}

enum Stream {
    Out,
    Error,
}

impl io::Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A stream whose reader has gone must not stop the server.
        let _ = match self {
            Stream::Out => io::stdout().write_all(bytes),
            Stream::Error => io::stderr().write_all(bytes),
        };
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let _ = io::stdout().flush();
        Ok(())
    }
}

/// Moves the files of earlier starts on by one, and makes a new one, durably.
pub(crate) fn next_file(disk: &Disk, folder: &Path) -> io::Result<File> {
    disk.create_dir_all(folder)?;
    for number in (0..FILES_KEPT - 1).rev() {
        let file = error_log::file(folder, number);
        if disk.exists(&file) {
            disk.rename(file, error_log::file(folder, number + 1))?;
        }
    }
    let file = disk.open(error_log::file(folder, 0), OpenOptions { create: true, ..OpenOptions::default() })?;
    disk.sync_dir(folder)?;
    Ok(file)
}

/// What writes the file: it, and its length.
struct ErrorFile {
    file: Mutex<(File, u64)>,
}

impl<S: tracing::Subscriber + for<'a> LookupSpan<'a>> Layer<S> for ErrorFile {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        let mut line = Line::default();
        event.record(&mut line);
        let now_us = pikepole_machine::clock::unix_time_us();
        let text = error_log::line(now_us, &line.process(), &format!("{}{}", line.text, line.fields));
        // A panic elsewhere leaves the file as it is. A full disk must not stop the server.
        let mut file = self.file.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let (file, length) = &mut *file;
        if file.write_at(text.as_bytes(), *length).is_ok() {
            *length += text.len() as u64;
        }
    }
}

/// An event's text and fields.
#[derive(Default)]
struct Line {
    text: String,
    fields: String,
    session: Option<String>,
}

impl Line {
    fn process(&self) -> String {
        self.session.as_ref().map_or("Server".to_string(), |session| format!("spid{session}"))
    }
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        // Writing to a String cannot fail.
        let _ = match field.name() {
            "message" => write!(self.text, "{value:?}"),
            "session" => {
                self.session = Some(format!("{value:?}"));
                Ok(())
            }
            name => write!(self.fields, " [{name}: {value:?}]"),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_become_lines_and_files_move_on() {
        let folder = std::env::temp_dir().join(format!("pikepole-error-log-{}", std::process::id()));
        for start in 0..2 {
            let file = ErrorFile { file: Mutex::new((next_file(&Disk::real(), &folder).expect("a file"), 0)) };
            let registry = tracing_subscriber::registry().with(LevelFilter::INFO).with(file);
            tracing::subscriber::with_default(registry, || {
                tracing::info!("start {start}");
                tracing::warn!(session = 51, client = "a", "two\nlines");
                tracing::debug!("not this");
            });
        }
        let entries = |number| error_log::read(&folder, number).expect("it is there");
        let texts: Vec<(String, String)> = entries(0).into_iter().map(|entry| (entry.process, entry.text)).collect();
        let expected = [("Server", "start 1"), ("spid51", "two lines [client: \"a\"]")];
        assert_eq!(texts, expected.map(|(process, text)| (process.to_string(), text.to_string())));
        assert_eq!(entries(1)[0].text, "start 0");
        std::fs::remove_dir_all(&folder).expect("it was there");
    }
}
