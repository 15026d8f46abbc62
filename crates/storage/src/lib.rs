//! Pages, buffer pool, allocation, heaps, B+trees and checkpoints.
//!
//! ```text
//!   Tree, Heap        rows by key, rows by place       sync; return what they need and never wait
//!      |
//!   Store             satisfies needs; create, open, redo, checkpoint, check
//!      |
//!   pool, allocation  page -> frame, latches; object -> extents
//!      |
//!   data file         8 KB pages, direct I/O           Log: a record for every change, while the page is latched
//! ```
//!
//! Every operation returns `Result<T, Stop>`. [`Stop::Need`] says what it lacks, and that nothing was changed: await
//! [`Store::satisfy`] and call it again. Between two calls no latch is held.
//!
//! To open a database: [`Store::read_master`], then the log from [`Master::log_from`], then [`Store::open`], then
//! [`Redo::record`] for every record from [`Master::redo_lsn`] on, then [`Redo::finish`]; then the caller undoes what did
//! not commit, by the row records ([`records::Record::row_change`]), and calls [`Store::free_unowned`].

mod allocation;
mod backup;
#[cfg(test)]
mod backup_tests;
mod check;
mod checkpoint;
mod copied;
#[cfg(test)]
mod crash_tests;
#[cfg(test)]
mod damage_tests;
mod error;
mod fault;
mod frame;
mod glance;
mod growth;
mod heap;
mod io_totals;
mod meter;
mod online_check;
mod page;
mod parts;
mod pool;
mod pooled;
mod read_ahead;
pub mod records;
mod redo;
mod row;
mod rows_in_log;
mod shape;
#[cfg(test)]
mod stale_tests;
mod stamps;
mod store;
mod suspects;
#[cfg(test)]
mod test_support;
#[cfg(test)]
mod torn_page_tests;
mod tree;

pub use allocation::{EXTENT_PAGES, MAP_EXTENTS, OBJECT_FIRST};
pub use backup::{PagesInUse, RestoredPages, check_page};
pub use check::{CheckReport, Finding, ObjectReport};
pub use checkpoint::{FORMAT_VERSION, Master, TornPages};
pub use copied::{CopiedRow, CopiedRows};
pub use error::{Need, PageId, PageRun, Stop, StorageError};
pub use glance::Glance;
pub use growth::{FileGrowth, FileLimits};
pub use heap::{BulkPage, BulkPages, EncodedRows, Heap, HeapRow, HeapScan, Rid};
pub use io_totals::IoStats;
pub use meter::{ReadKey, ReadMeter, Reads, pages_read};
pub use online_check::OnlineCheck;
pub use page::{PAGE_BYTES, PAGE_HEADER_BYTES, PageKind};
pub use parts::PartUse;
pub use pool::PoolGrowth;
pub use pooled::PooledPage;
pub use redo::Redo;
pub use row::{LogContext, ROW_HEADER_BYTES, RowHeader};
pub use rows_in_log::Unneeded;
pub use shape::{LevelShape, ShapeDepth};
pub use store::{HeapInsertTargets, PAGES_FILE, Store, StoreOptions};
pub use suspects::SuspectPage;
pub use tree::{
    ChangeOutcome, Direction, InsertOutcome, KEY_BYTES_MAX, LoggedPages, ScanRange, ScanRow, Tree, TreeCursor,
    TreeScan, UnderLatch,
};
