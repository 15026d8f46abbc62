//! Parquet files: read as rows for INSERT, and written from results.
//!
//! | what | where |
//! |---|---|
//! | the footer of a file, looked through before it is decoded | `footer` |
//! | pages, decompressed and looked at before they are decoded | `pages` |
//! | the columns of a file, and what their values are in T-SQL | `column` |
//! | panics of the decoders, as errors | `guard` |
//! | rows of a file | `read` |
//! | the columns of a result, and what their values are in Parquet | `write` |
//! | results in files, whole or not at all | `export` |

mod column;
mod export;
mod footer;
#[cfg(test)]
mod fuzz;
mod guard;
mod pages;
mod read;
mod write;

pub use export::export;
pub use read::ParquetRows;

use parquet::errors::ParquetError;

/// Days from 0001-01-01 to 1970-01-01, which dates of Parquet count from.
const DAYS_TO_1970: i64 = 719_162;
/// Ticks of 100 ns in a day.
const DAY: i64 = 86_400 * 10_000_000;

/// The text of an error, without its kind.
fn worded(error: &ParquetError) -> String {
    match error {
        ParquetError::General(text) | ParquetError::NYI(text) | ParquetError::EOF(text) => text.clone(),
        ParquetError::External(error) => error.to_string(),
        other => other.to_string(),
    }
}

/// A GUID with the bytes of its first three groups swapped: T-SQL has them little-endian, Parquet big-endian.
fn swapped(mut guid: [u8; 16]) -> [u8; 16] {
    guid[..4].reverse();
    guid[4..6].reverse();
    guid[6..8].reverse();
    guid
}
