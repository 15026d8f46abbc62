//! The files of the server's log, as the server writes them and sp_readerrorlog reads them.

use pikepole_types::{DateTime2, Length, SqlType, Value};
use std::io;
use std::path::{Path, PathBuf};

/// Files kept: the present one, and those of earlier starts.
pub const FILES_KEPT: u32 = 7;
/// Bytes of a file that are read at most: the last ones.
const BYTES_READ_MAX: u64 = 16 << 20;

/// A line of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The time, as it is written.
    pub time: String,
    /// The session, `spid51`, or `Server`.
    pub process: String,
    /// The text.
    pub text: String,
}

/// The file of a number: 0 is the present one.
pub fn file(folder: &Path, number: u32) -> PathBuf {
    folder.join(if number == 0 { "error.log".to_string() } else { format!("error.log.{number}") })
}

/// A line for the file, at a time in microseconds since 1970. What would look like another line or field becomes a space.
pub fn line(unix_us: i64, process: &str, text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("{}\t{process}\t{plain}\n", time(unix_us))
}

/// The time in UTC, with milliseconds.
pub(crate) fn time(unix_us: i64) -> String {
    /// Days from 0001-01-01 to 1970-01-01.
    const EPOCH_DAYS: i64 = 719_162;
    const DAY_TICKS: i64 = 86_400 * 10_000_000;
    let ticks = EPOCH_DAYS * DAY_TICKS + unix_us * 10;
    let moment = DateTime2::from_ticks(ticks).map_or(Value::Null, Value::DateTime2);
    let ty = SqlType::VarChar(Length::Limit(30));
    let text = pikepole_types::convert(&moment, &SqlType::DateTime2(3), &ty, None);
    text.ok()
        .and_then(|value| value.as_str().map(|text| text.get(..23).unwrap_or(text).to_string()))
        .unwrap_or_default()
}

/// A file of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogFile {
    /// Its number.
    pub number: u32,
    /// When it was last written, as the lines write times.
    pub written: String,
    /// Its size.
    pub bytes: u64,
}

/// The files that there are.
pub fn files(folder: &Path) -> Vec<LogFile> {
    let of = |number: u32| {
        let metadata = std::fs::metadata(file(folder, number)).ok()?;
        let since_1970 = metadata.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
        let written = time(i64::try_from(since_1970.as_micros()).ok()?);
        Some(LogFile { number, written, bytes: metadata.len() })
    };
    (0..FILES_KEPT).filter_map(of).collect()
}

/// The lines of a file.
///
/// # Errors
/// What the system says, above all that there is no such file.
pub fn read(folder: &Path, number: u32) -> io::Result<Vec<Entry>> {
    use std::io::{Read, Seek, SeekFrom};
    let mut opened = std::fs::File::open(file(folder, number))?;
    let length = opened.metadata()?.len();
    opened.seek(SeekFrom::Start(length.saturating_sub(BYTES_READ_MAX)))?;
    let mut bytes = Vec::new();
    opened.take(BYTES_READ_MAX).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let entry = |line: &str| {
        let mut parts = line.splitn(3, '\t').map(str::to_string);
        Some(Entry { time: parts.next()?, process: parts.next()?, text: parts.next()? })
    };
    Ok(text.lines().filter_map(entry).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_line() {
        let written = line(1_795_253_400_123_456, "spid51", "a\tb\nc");
        assert_eq!(written, "2026-11-21 09:30:00.123\tspid51\ta b c\n");
    }
}
