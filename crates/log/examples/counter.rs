//! A key-value store of one counter a key, durable by this log alone: no pages, no SQL.
//!
//! ```text
//!   open ----> read every record, build the counters
//!   add -----> append `Add`, append `Commit`, wait until the commit is durable, change the counter in memory
//!   snapshot-> append all counters, wait, truncate what lies before
//! ```
//! `cargo run -p pikepole-log --example counter -- FOLDER apples 3`: each run adds, and prints all counters.

use pikepole_contention::Statistics;
use pikepole_log::field::{Bytes, Varint, Zigzag};
use pikepole_log::{FlushOutcome, Log, LogError, LogOptions, Lsn, LsnRange, Refused, record_table};
use pikepole_machine::Disk;
use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;

record_table! {
    /// The records of this store.
    enum Record<'a> {
        /// A counter grows. It counts once the transaction's `Commit` is there.
        1 = Add {
            /// The transaction.
            transaction: Varint,
            /// The counter's name.
            key: Bytes,
            /// By how much.
            by: Zigzag,
        },
        /// A transaction is complete.
        2 = Commit {
            /// Which.
            transaction: Varint,
        },
        /// A counter's value, whatever was there before.
        3 = Value {
            /// The counter's name.
            key: Bytes,
            /// The value.
            value: Zigzag,
        },
    }
}

/// The counters and their log.
struct Store {
    log: Log,
    counters: BTreeMap<Vec<u8>, i64>,
    next_transaction: u64,
}

impl Store {
    /// Opens the store, or makes one.
    fn open(disk: &Disk, folder: &Path) -> Result<Store, Box<dyn Error>> {
        let statistics = Statistics::new();
        let opened = Log::open(disk, folder, LogOptions::small(), &statistics, Lsn::OLDEST);
        let (log, mut reader) = match opened {
            Ok(opened) => opened,
            Err(LogError::Missing(_)) => {
                let log = Log::create(disk, folder, LogOptions::small(), &statistics)?;
                return Ok(Store { log, counters: BTreeMap::new(), next_transaction: 1 });
            }
            Err(error) => return Err(error.into()),
        };
        let (mut counters, mut next_transaction) = (BTreeMap::new(), 1);
        let mut open: BTreeMap<u64, Vec<(Vec<u8>, i64)>> = BTreeMap::new();
        while let Some((_, bytes, _)) = reader.next()? {
            match Record::decode(bytes)? {
                Record::Add { transaction, key, by } => {
                    open.entry(transaction).or_default().push((key.to_vec(), by));
                    next_transaction = next_transaction.max(transaction + 1);
                }
                Record::Commit { transaction } => {
                    for (key, by) in open.remove(&transaction).unwrap_or_default() {
                        *counters.entry(key).or_default() += by;
                    }
                }
                Record::Value { key, value } => {
                    counters.insert(key.to_vec(), value);
                }
            }
        }
        // What is left in `open` never committed: it is as if it had never been.
        Ok(Store { log, counters, next_transaction })
    }

    /// Adds to a counter; when this returns, it lasts.
    fn add(&mut self, key: &str, by: i64) -> Result<(), Box<dyn Error>> {
        let transaction = self.next_transaction;
        self.next_transaction += 1;
        self.append(&Record::Add { transaction, key: key.as_bytes(), by })?;
        let commit = self.append(&Record::Commit { transaction })?;
        self.wait(commit.end)?;
        *self.counters.entry(key.as_bytes().to_vec()).or_default() += by;
        Ok(())
    }

    /// Appends. A full buffer is written out; a full log makes room by a snapshot first.
    fn append(&self, record: &Record<'_>) -> Result<LsnRange, Box<dyn Error>> {
        loop {
            match self.log.append_record(record) {
                Ok(place) => return Ok(place),
                Err(Refused::BufferFull) => self.flush()?,
                Err(refused) => return Err(refused.into()),
            }
        }
    }

    /// Waits until the log is durable up to `end`. This thread writes; in a server, schedulers or a log writer do, and
    /// tasks await `durable_after(end)`.
    fn wait(&self, end: Lsn) -> Result<(), Box<dyn Error>> {
        while self.log.durable() < end {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&self) -> Result<(), Box<dyn Error>> {
        match self.log.flush_step() {
            FlushOutcome::Wrote(_) | FlushOutcome::Busy => Ok(()),
            FlushOutcome::Nothing | FlushOutcome::NoRoom if self.log.is_poisoned() => {
                Err(pikepole_log::Poisoned.into())
            }
            // Nothing was there, or the next segment is not prepared.
            FlushOutcome::Nothing | FlushOutcome::NoRoom => {
                self.log.prepare_step();
                Ok(())
            }
        }
    }

    /// Writes all counters anew, so that nothing before is needed, and lets go of it.
    fn snapshot(&self) -> Result<(), Box<dyn Error>> {
        let before = self.log.reserved();
        for (key, value) in &self.counters {
            self.append(&Record::Value { key, value: *value })?;
        }
        self.wait(self.log.reserved())?;
        self.log.truncate(before);
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().unwrap_or_else(|| {
        std::env::temp_dir().join(format!("pikepole-counter-{}", std::process::id())).display().to_string()
    });
    let key = arguments.next().unwrap_or_else(|| "apples".to_string());
    let by = arguments.next().map_or(Ok(1), |by| by.parse())?;

    let mut store = Store::open(&Disk::real(), Path::new(&folder))?;
    store.add(&key, by)?;
    for (key, value) in &store.counters {
        println!("{} {value}", String::from_utf8_lossy(key));
    }
    if store.log.stats().record_bytes > 100 {
        store.snapshot()?;
    }
    let stats = store.log.stats();
    println!("durable up to LSN {}, opened {} times, in {folder}", stats.durable, stats.incarnation);
    store.log.shutdown()?;
    Ok(())
}
