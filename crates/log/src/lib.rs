//! The transaction log: records, reservation, flushes, horizons, segments, reader.
//!
//! A log is a stream of records. A record's place in it is its LSN ([`Lsn`]), a byte position that only grows. Four
//! horizons move along the stream:
//!
//! ```text
//!            durable        written         copied         reserved
//!   ------------|--------------|---------------|---------------|------>
//!   on stable   | in a block   | filled, to be | being filled  | free
//!   storage     | on its way   | taken         | by appenders  |
//! ```
//! | horizon | below it | moved by |
//! |---|---|---|
//! | `reserved` | every byte has an owner | appends, by an atomic addition: each, or one for a chunk of records |
//! | `copied` | every byte is filled | the holder of the flusher role, from the appenders' slots |
//! | `written` | every byte is in a block on its way to disk; its place in the buffer is free | the holder of the flusher role |
//! | `durable` | every byte survives a power failure | whoever ends the oldest write on its way |
//!
//! `reserved >= copied >= written >= durable`, always.
//!
//! # The protocol
//!
//! | step | call | says |
//! |---|---|---|
//! | open | [`Log::create`], [`Log::open`] | the second also reads: a [`Reader`] from any record's LSN, or the oldest, to the end |
//! | append | [`Log::append`], [`Log::append_record`] | copies the record into the ring or refuses ([`Refused`]); never waits; gives its [`LsnRange`] |
//! | make room | [`Log::buffer_space`] on [`Refused::BufferFull`]; [`Log::truncate`] on [`Refused::LogFull`] | [`Log::append_reserved`] is for what ends transactions: never refused as full |
//! | flush | [`Log::flush_step`], [`Log::idle_step`], [`Log::run_log_writer`] | one thread at a time takes all that is copied and writes it durably |
//! | wait | [`Log::durable_after`] with the record's end | ready when `durable` has passed it, or [`Poisoned`] |
//! | truncate | [`Log::truncate`] | whole segments below an LSN are used again |
//! | close | [`Log::shutdown`] | writes what is left and names it durable |
//!
//! What holds, always: a record is durable only if all before it are; a crash keeps a prefix of the stream that has at
//! least what was durable; no write is tried again after it failed; a closure that fills a record runs once, on the
//! calling thread, under no lock. The example `counter` is a whole store on these calls; [`LogFiles`] looks at a log
//! without opening it.
//!
//! The parts: [`field`] and [`record_table!`] are the records' codec; `reservation` and `buffer` are appending;
//! `flush`, `in_flight`, `commit` and `writer` make durable and wake; `space` and `segments` are the room; `format`, `scan` and
//! `reader` are the disk's bytes, the end of the log after a crash, and reading; `copy` is blocks going from one log to
//! another, for backups. The crate knows a record as a kind
//! byte and a payload, and nothing of pages or transactions.
//!
//! ```
//! use pikepole_contention::Statistics;
//! use pikepole_log::{FlushOutcome, Log, LogOptions, Lsn};
//! use pikepole_machine::{Disk, SimulatedDisk};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let disk = Disk::simulated(SimulatedDisk::new(1));
//! let statistics = Statistics::new();
//! let log = Log::create(&disk, "/db/log", LogOptions::small(), &statistics)?;
//! let place = log.append(6, |record, _lsn| record.copy_from_slice(b"\x01hello"))?;
//! assert!(matches!(log.flush_step(), FlushOutcome::Wrote(_)));
//! assert!(log.durable() >= place.end);
//! drop(log);
//!
//! let (_log, mut reader) = Log::open(&disk, "/db/log", LogOptions::small(), &statistics, Lsn::OLDEST)?;
//! let (lsn, record, _end) = reader.next()?.expect("one record");
//! assert_eq!((lsn, record), (place.start, &b"\x01hello"[..]));
//! assert!(reader.next()?.is_none());
//! # Ok(())
//! # }
//! ```
//!
//! Models: `RUSTFLAGS="--cfg loom" cargo test -p pikepole-log --release --lib loom`. Under loom only the modules that
//! are models' subjects are compiled.

#[cfg_attr(loom, allow(dead_code, reason = "a model uses a part of it"))]
mod commit;
#[cfg(not(loom))]
mod company;
mod error;
pub mod field;
#[cfg_attr(loom, allow(dead_code, reason = "a model uses a part of it"))]
mod in_flight;
mod lsn;
mod policy;
mod record;
#[cfg_attr(loom, allow(dead_code, reason = "a model uses a part of it"))]
mod reservation;
#[cfg_attr(loom, allow(dead_code, reason = "a model uses a part of it"))]
mod signal;

#[cfg(not(loom))]
mod buffer;
#[cfg(all(test, not(loom)))]
mod chunk_tests;
#[cfg(not(loom))]
mod copy;
#[cfg(all(test, not(loom)))]
mod copy_tests;
#[cfg(all(test, not(loom)))]
mod crash_matrix;
#[cfg(all(test, not(loom)))]
mod crash_tests;
mod fault;
#[cfg(not(loom))]
mod files;
#[cfg(not(loom))]
mod flush;
#[cfg(not(loom))]
mod format;
#[cfg(not(loom))]
mod log;
#[cfg(not(loom))]
mod open;
#[cfg(not(loom))]
mod options;
#[cfg(not(loom))]
mod reader;
#[cfg(not(loom))]
mod scan;
#[cfg(not(loom))]
mod segments;
#[cfg(all(test, shuttle, not(loom)))]
mod shuttle_models;
#[cfg(not(loom))]
mod sizes;
#[cfg(not(loom))]
mod space;
#[cfg(not(loom))]
mod stats;
#[cfg(all(test, not(loom)))]
mod tests;
#[cfg(not(loom))]
mod writer;
#[cfg(all(test, not(loom)))]
mod writer_tests;

#[cfg(not(loom))]
pub use copy::{Block, Blocks, LogBuilder};
pub use error::{LogError, Poisoned, Refused};
#[cfg(not(loom))]
pub use files::{BlockInfo, LogExtent, LogFiles, SegmentFileInfo, SegmentUsage, Stretch};
#[cfg(not(loom))]
pub use flush::FlushOutcome;
#[cfg(not(loom))]
pub use log::{DurableAfter, Log};
pub use lsn::{Lsn, LsnRange};
#[cfg(not(loom))]
pub use options::{FLUSH_DELAY_MAX, FLUSH_DELAY_MIN, LogOptions, RECORD_BYTES_MAX};
pub use policy::{
    BLOCK_BYTES_CLASSIC, CommitBy, FlushQueue, Gathering, LOG_WRITERS_MAX, LogIo, LogWriters, Policy, Reservation,
};
#[cfg(not(loom))]
pub use reader::{Entry, Reader};
#[doc(hidden)]
pub use record::finish;
pub use record::{FieldDoc, LogRecord, RecordDoc, docs_table};
#[cfg(not(loom))]
pub use scan::{OpenFrom, Place};
#[cfg(not(loom))]
pub use sizes::{LogGrowth, LogSizes};
#[cfg(not(loom))]
pub use space::BufferSpace;
#[cfg(not(loom))]
pub use stats::{LogReport, LogStats, SegmentInfo};
