//! BULK INSERT: the rows of a text file.
//!
//! ```text
//!   file ──[ Reader: rows and fields, in order ]──► Portion ──[ worker: values ]──► Batch ──► as any INSERT's rows
//!             one at a time, under a lock              (some thousand rows)   │
//!                                                                             └─► Refusals: rows that do not convert
//! ```
//! Where rows and fields end is found by one reader after the other, as it depends on all that came before: a quote may hide a
//! row's end, and outside of CSV a row that lacks a field goes on in the next line. What the fields mean is found in parallel.
//!
//! Invariants
//! - rows are numbered by the file, from 1, also those that FIRSTROW leaves out; portions come in that order;
//! - memory is bounded by portions: one for each worker, and one more row;
//! - of the rows that are refused, those kept are the first ones of the file, however many workers meet them.

mod convert;
mod file;
mod options;
mod portion;
mod reader;
mod refusals;

pub(crate) use convert::FieldTarget;
pub(crate) use file::{BulkFile, FileRows, notes_beside};
pub(crate) use options::BulkOptions;
pub(crate) use refusals::is_fatal;
