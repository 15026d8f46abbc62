//! The durability of in-memory tables.
//!
//! ```text
//!   commit ──► its record in the log: all that the transaction changed, redo alone       (logging, changes)
//!   rows ────► a checkpoint file, now and then, so that the log need not be kept         (checkpoint)
//!   start ◄─── the file's rows, then what the log has behind them                        (load)
//! ```
//! Indexes are neither logged nor written: they come about as rows are loaded.

mod changes;
mod checkpoint;
mod files;
mod load;
mod logging;
#[cfg(test)]
mod tests;

pub use checkpoint::InMemoryCheckpoint;
pub(crate) use checkpoint::{InMemoryCheckpoints, Occasion};
pub(crate) use files::{Manifest, RestoredRows};
pub(crate) use logging::LoggedInMemory;
