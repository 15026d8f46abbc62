//! A file that is being loaded: what its workers share, and the operator that each of them has.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pikepole_contention::sync::{Mutex, MutexGuard};
use pikepole_machine::{Disk, OpenOptions};
use pikepole_scheduler as scheduler;
use pikepole_types::SqlError;

use super::convert::{FieldTarget, convert};
use super::options::{BulkOptions, TextFormat};
use super::portion::Portion;
use super::reader::Reader;
use super::refusals::Refusals;
use crate::access::Stop;
use crate::batch::Batch;
use crate::expression::Fault;
use crate::parallel::Dispenser;
use crate::progress::Progress;

/// Bytes that a row is taken to have when it is to be known how many there will be.
const ROW_BYTES_GUESS: u64 = 32;

/// A file that is being loaded.
pub(crate) struct BulkFile {
    targets: Vec<FieldTarget>,
    format: TextFormat,
    errors_max: u64,
    state: Mutex<State>,
    refusals: Mutex<Refusals>,
    progress: Arc<Progress>,
}

struct State {
    reader: Reader,
    /// Rows that the present batch still takes.
    left: u64,
}

impl std::fmt::Debug for BulkFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BulkFile").finish_non_exhaustive()
    }
}

impl BulkFile {
    /// A file of rows whose fields become values as `targets` say.
    ///
    /// # Errors
    /// 4860, 4861, 4862.
    pub(crate) fn open(
        disk: &Disk,
        path: &Path,
        name: &str,
        options: &BulkOptions,
        targets: Vec<FieldTarget>,
        progress: Arc<Progress>,
    ) -> Result<BulkFile, SqlError> {
        if disk.is_dir(path) {
            return Err(SqlError::bulk_file_not_opened(name, "5(Access is denied.)"));
        }
        let file = disk.open(path, OpenOptions { read_only: true, ..OpenOptions::default() });
        let file = file.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => SqlError::bulk_file_missing(name),
            _ => SqlError::bulk_file_not_opened(name, system_error(&error)),
        })?;
        let bytes_max = targets.iter().map(FieldTarget::bytes_max).collect();
        let reader = Reader::new(file, name, options, bytes_max)?;
        Ok(BulkFile {
            targets,
            format: options.format.clone(),
            errors_max: options.errors_max,
            state: Mutex::new(State { reader, left: 0 }),
            refusals: Mutex::default(),
            progress,
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn refusals(&self) -> MutexGuard<'_, Refusals> {
        self.refusals.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Begins the next batch, of so many rows; gives the number of its first row, or none at the end of the file.
    ///
    /// # Errors
    /// 4862.
    pub(crate) fn begin_batch(&self, rows: u64) -> Result<Option<u64>, SqlError> {
        let mut state = self.state();
        state.left = rows;
        if state.reader.is_at_end()? { Ok(None) } else { Ok(Some(state.reader.row())) }
    }

    /// What workers share: the numbers of rows that may come in this batch, a guess.
    pub(crate) fn rows_guessed(&self) -> Range<u64> {
        let state = self.state();
        let bytes = state.reader.length() - state.reader.offset().min(state.reader.length());
        let row = state.reader.row();
        row..row + (bytes / ROW_BYTES_GUESS).min(state.left)
    }

    /// The errors of the rows refused from this one on.
    pub(crate) fn refused_from(&self, row: u64) -> Vec<SqlError> {
        self.refusals().errors_from(row).collect()
    }

    /// Writes the refused rows into a file, and why they are into another beside it.
    ///
    /// # Errors
    /// 4870.
    pub(crate) fn write_refused(&self, disk: &Disk, path: &Path, name: &str) -> Result<(), SqlError> {
        let refusals = self.refusals();
        if refusals.is_empty() {
            return Ok(());
        }
        let (rows, notes) = refusals.files(self.format.encoding);
        let write = |path: &Path, bytes: &[u8]| {
            let file = disk.open(path, OpenOptions { create: true, ..OpenOptions::default() })?;
            file.write_at(bytes, 0)
        };
        let written = write(path, &rows).and_then(|()| write(&notes_beside(path), notes.as_bytes()));
        written.map_err(|error| SqlError::bulk_error_file_not_written(name, system_error(&error)))
    }

    /// Cuts the next portion; false at the end of the batch or of the file.
    fn take(&self, portion: &mut Portion) -> Result<bool, (u64, SqlError)> {
        let mut state = self.state();
        let State { reader, left } = &mut *state;
        let row = reader.row();
        reader.take(*left, portion).map_err(|failure| (row, failure))?;
        *left -= portion.rows() as u64;
        self.progress.set(reader.offset(), reader.length(), reader.row() - 1);
        Ok(portion.rows() > 0)
    }

    /// The values of a portion's rows.
    ///
    /// # Errors
    /// 4865.
    fn convert(&self, portion: &Portion) -> Result<Batch, Fault> {
        let mut is_over = false;
        let batch = convert(&self.targets, portion, &self.format, |row, error| {
            let offset = portion.offset + self.format.encoding.bytes_in_file(portion.before(row));
            let number = portion.first_row + row as u64;
            is_over |= self.refusals().add(number, error, portion.row(row), offset, self.errors_max);
        });
        if is_over {
            return Err(Box::new(SqlError::bulk_errors_exceeded(self.errors_max)));
        }
        Ok(batch)
    }
}

/// The file beside an error file that says why each row was refused.
pub(crate) fn notes_beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".Error.Txt");
    PathBuf::from(name)
}

/// An error of the file system as messages quote it.
pub(super) fn system_error(error: &io::Error) -> String {
    let text = error.to_string();
    match error.raw_os_error() {
        Some(number) => format!("{number}({text})"),
        None => format!("({text})"),
    }
}

/// Gives the rows of a file.
pub(crate) struct FileRows {
    file: Arc<BulkFile>,
    /// Who tells of failures of other workers; none for a worker alone.
    dispenser: Option<Arc<Dispenser>>,
    portion: Portion,
    /// The number of the row that the last portion began with.
    row: u64,
}

impl FileRows {
    pub(crate) fn new(file: &Arc<BulkFile>) -> FileRows {
        FileRows { file: Arc::clone(file), dispenser: None, portion: Portion::default(), row: 0 }
    }

    pub(crate) fn fork(&self, dispenser: &Arc<Dispenser>) -> FileRows {
        FileRows { dispenser: Some(Arc::clone(dispenser)), ..FileRows::new(&self.file) }
    }

    /// See [`BulkFile::rows_guessed`].
    pub(crate) fn rows_guessed(&self) -> Range<u64> {
        self.file.rows_guessed()
    }

    /// The number of the row that tells which of several failures came first.
    pub(crate) fn ordinal(&self) -> u64 {
        self.row
    }

    /// The next rows, at least one.
    pub(crate) fn next(&mut self) -> Result<Option<Batch>, Stop> {
        loop {
            if scheduler::quantum_over() {
                return Err(Stop::Yield);
            }
            match self.file.take(&mut self.portion) {
                Ok(true) => self.row = self.portion.first_row,
                Ok(false) => return Ok(None),
                Err((row, failure)) => {
                    self.row = row;
                    return Err(Stop::Error(Box::new(failure)));
                }
            }
            if self.dispenser.as_ref().is_some_and(|dispenser| dispenser.is_past_failure(self.row)) {
                return Ok(None);
            }
            let batch = self.file.convert(&self.portion)?;
            if batch.rows > 0 {
                return Ok(Some(batch));
            }
        }
    }
}
