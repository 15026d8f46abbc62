//! BULK INSERT and OPENROWSET(BULK ...): the rows of a file.
//!
//! ```text
//!   file ──[ ReadAhead ]──► bytes ──[ Reader: rows and fields, in order ]──► Portion ──[ worker: values ]──► Batch ──► as any INSERT's rows
//!            threads that may block      one at a time, under a lock         (some thousand rows)   │
//!                                                                                                   └─► Refusals: rows that do not convert
//! ```
//! Where rows and fields end is found by one reader after the other, as it depends on all that came before: a quote may hide a
//! row's end, and outside of CSV a row that lacks a field goes on in the next line. What the fields mean is found in parallel.
//!
//! Invariants
//! - rows are numbered by the file, from 1, also those that FIRSTROW leaves out; portions come in that order;
//! - memory is bounded: a portion for each worker, what was read ahead, and one more row;
//! - of the rows that are refused, those kept are the first ones of the file, however many workers meet them.

mod convert;
mod described;
mod file;
mod format_file;
mod format_files;
mod native;
mod options;
mod portion;
mod read_ahead;
mod reader;
mod refusals;
mod rowset;
mod value;

pub(crate) use convert::FieldTarget;
pub(crate) use file::{Begun, BulkFile, DENIED, FileRows};
pub(crate) use format_file::{FORMAT_FILE_BYTES_MAX, FieldFormat, FormatColumn, FormatFile, Host};
pub(crate) use format_files::FormatFiles;
pub(crate) use native::field_of as native_field;
pub(crate) use options::{BulkOptions, Layout};
pub(crate) use read_ahead::{OpenFile, ReadAhead};
pub(crate) use refusals::is_fatal;
pub use rowset::FileTable;
pub use value::{FileValue, ValueKind};
