//! A file that is being loaded: what its workers share, and the operator that each of them has.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use pikepole_contention::sync::{Mutex, MutexGuard};
use pikepole_engine::LoadErrorFiles;
use pikepole_scheduler as scheduler;
use pikepole_types::SqlError;

use super::convert::{FieldTarget, convert};
use super::format_file::FieldFormat;
use super::options::{BulkOptions, TextFormat};
use super::portion::Portion;
use super::read_ahead::ReadAhead;
use super::reader::Reader;
use super::refusals::Refusals;
use crate::access::Stop;
use crate::executor::batch::Batch;
use crate::executor::parallel::Dispenser;
use crate::expression::Fault;
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
    /// None before [`BulkFile::start`].
    reader: Option<Reader>,
    /// Rows that the present batch still takes.
    left: u64,
}

/// What became of the beginning of a batch.
pub(crate) enum Begun {
    /// It begins with this row.
    Row(u64),
    /// The file has no more.
    End,
    /// The file must be waited for.
    Wait(Arc<ReadAhead>),
}

/// What became of the cutting of a portion.
enum Taken {
    /// It has rows.
    Rows,
    /// The batch or the file has no more.
    End,
    /// The file must be waited for.
    Wait(Arc<ReadAhead>),
}

impl std::fmt::Debug for BulkFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BulkFile").finish_non_exhaustive()
    }
}

impl BulkFile {
    /// A file of rows whose fields become values as `targets` say; `fields`: what they are, when they are not as the options say.
    pub(crate) fn new(
        options: &BulkOptions,
        targets: Vec<FieldTarget>,
        fields: Option<Arc<[FieldFormat]>>,
        progress: Arc<Progress>,
    ) -> BulkFile {
        BulkFile {
            targets,
            format: TextFormat { fields, ..options.format.clone() },
            errors_max: options.errors_max,
            state: Mutex::new(State { reader: None, left: 0 }),
            refusals: Mutex::default(),
            progress,
        }
    }

    /// Begins to read. There are no rows before.
    pub(crate) fn start(&self, file: ReadAhead, name: &str, options: &BulkOptions) {
        let bytes_max = self.targets.iter().map(FieldTarget::bytes_max).collect();
        self.state().reader = Some(Reader::new(Arc::new(file), name, (options, &self.format), bytes_max));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn refusals(&self) -> MutexGuard<'_, Refusals> {
        self.refusals.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Begins the next batch, of so many rows.
    ///
    /// # Errors
    /// 4862.
    pub(crate) fn begin_batch(&self, rows: u64) -> Result<Begun, SqlError> {
        let mut state = self.state();
        state.left = rows;
        let Some(reader) = &mut state.reader else { return Ok(Begun::End) };
        Ok(match reader.is_at_end()? {
            None => Begun::Wait(Arc::clone(reader.file())),
            Some(true) => Begun::End,
            Some(false) => Begun::Row(reader.row()),
        })
    }

    /// What workers share: the numbers of rows that may come in this batch, a guess.
    pub(crate) fn rows_guessed(&self) -> Range<u64> {
        let state = self.state();
        let Some(reader) = &state.reader else { return 0..0 };
        let bytes = reader.length() - reader.offset().min(reader.length());
        let row = reader.row();
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
    pub(crate) fn write_refused(&self, files: &LoadErrorFiles, name: &str) -> Result<(), SqlError> {
        let refusals = self.refusals();
        if refusals.is_empty() {
            return Ok(());
        }
        let (rows, notes) = refusals.files(self.format.encoding);
        let written = files.write(&rows, notes.as_bytes());
        written.map_err(|error| SqlError::bulk_error_file_not_written(name, system_error(&error)))
    }

    /// Cuts the next portion.
    fn take(&self, portion: &mut Portion) -> Result<Taken, (u64, SqlError)> {
        let mut state = self.state();
        let State { reader, left } = &mut *state;
        let Some(reader) = reader else { return Ok(Taken::End) };
        let row = reader.row();
        if !reader.take(*left, portion).map_err(|failure| (row, failure))? {
            return Ok(Taken::Wait(Arc::clone(reader.file())));
        }
        *left -= portion.rows() as u64;
        self.progress.set(reader.offset(), reader.length(), reader.row() - 1);
        Ok(if portion.rows() > 0 { Taken::Rows } else { Taken::End })
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

/// What messages quote for a name that a statement may not use.
pub(crate) const DENIED: &str = "5(Access is denied.)";

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
                Ok(Taken::Rows) => self.row = self.portion.first_row,
                Ok(Taken::End) => return Ok(None),
                Ok(Taken::Wait(file)) => return Err(Stop::File(file)),
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
