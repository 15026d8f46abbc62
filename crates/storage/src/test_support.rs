//! A store on a simulated disk, and recovery as an engine would do it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use pikepole_contention::Statistics;
use pikepole_log::field::get_varint;
use pikepole_log::{Log, LogOptions, Lsn, LsnRange};
use pikepole_machine::{Disk, SimulatedDisk};

use crate::records::{Record, RowChange, splice};
use crate::{LogContext, PageId, Redo, Rid, RowHeader, StorageError, Store, StoreOptions};

pub(crate) const FOLDER: &str = "/db/data";
pub(crate) const LOG_FOLDER: &str = "/db/log";

/// A database on a simulated disk.
pub(crate) struct Fixture {
    pub simulated: SimulatedDisk,
    pub log: Arc<Log>,
    pub store: Arc<Store>,
}

pub(crate) fn log_options() -> LogOptions {
    LogOptions {
        first_segment_bytes: 256 << 10,
        segment_bytes: 1 << 20,
        bytes_max: 64 << 20,
        ring_bytes: 32 << 20,
        ..LogOptions::default()
    }
}

pub(crate) fn store_options(frames: usize) -> StoreOptions {
    StoreOptions { pool_bytes: frames * crate::PAGE_BYTES, touch_ahead: false, ..StoreOptions::default() }
}

impl Fixture {
    pub fn new(frames: usize) -> Fixture {
        Fixture::on(SimulatedDisk::new(1), frames).expect("a new database")
    }

    pub fn on(simulated: SimulatedDisk, frames: usize) -> Result<Fixture, StorageError> {
        let disk = Disk::simulated(simulated.clone());
        disk.create_dir_all(FOLDER).map_err(|error| StorageError::io("test", error))?;
        let statistics = Statistics::new();
        let log = Log::create(&disk, LOG_FOLDER, log_options(), &statistics);
        let log = Arc::new(log.map_err(|error| StorageError::io("test", std::io::Error::other(error)))?);
        let store = Store::create(&disk, FOLDER, store_options(frames), Arc::clone(&log), statistics)?;
        Ok(Fixture { simulated, log, store })
    }

    /// Opens what a crash left: redo, and the row records from the redo start on.
    pub fn recover(simulated: SimulatedDisk, frames: usize) -> Result<Fixture, StorageError> {
        Fixture::recover_with(simulated, frames, 0)
    }

    /// [`Fixture::recover`] with so many threads of redo.
    pub fn recover_with(simulated: SimulatedDisk, frames: usize, redo_threads: usize) -> Result<Fixture, StorageError> {
        let disk = Disk::simulated(simulated.clone());
        let statistics = Statistics::new();
        let master = Store::read_master(&disk, FOLDER)?;
        let (log, mut reader) = Log::open(&disk, LOG_FOLDER, log_options(), &statistics, master.log_from())
            .map_err(|error| StorageError::bad_file("log", error.to_string()))?;
        let log = Arc::new(log);
        let options = StoreOptions { redo_threads: Some(redo_threads), ..store_options(frames) };
        let store = Store::open(&disk, FOLDER, options, Arc::clone(&log), statistics)?;
        let mut redo = Redo::new(&store);
        while let Some((start, record, end)) =
            reader.next().map_err(|error| StorageError::bad_file("log", error.to_string()))?
        {
            if start >= master.redo_lsn {
                redo.record(LsnRange { start, end }, record)?;
            }
        }
        redo.finish()?;
        Ok(Fixture { simulated, log, store })
    }

    pub fn flush(&self) {
        self.store.flush_log_to(self.log.reserved()).expect("a flush");
    }

    pub fn checkpoint(&self) -> Lsn {
        self.store.checkpoint_now(&|| None, &|| 1, false).expect("a checkpoint")
    }

    /// What the log says the rows are, from its first record to its end: the model of a crash test.
    pub fn rows_by_log(simulated: &SimulatedDisk) -> Rows {
        let disk = Disk::simulated(simulated.clone());
        let (_, mut reader) =
            Log::open(&disk, LOG_FOLDER, log_options(), &Statistics::new(), Lsn::OLDEST).expect("the log opens");
        let mut rows = Rows::default();
        let mut moved: HashMap<Rid, Vec<u8>> = HashMap::new();
        while let Some((_, record, _)) = reader.next().expect("a sound log") {
            let record = Record::decode(record).expect("a record");
            match record {
                Record::InsertPage { xid, page, rows: count, row_bytes, mut body, .. } => {
                    for slot in 0..count as u16 {
                        let (len, bytes) = match row_bytes {
                            0 => get_varint(body).expect("a length"),
                            fixed => (u64::from(fixed), 0),
                        };
                        let (row, behind) = body[bytes..].split_at(len as usize);
                        body = behind;
                        let former =
                            rows.heap.insert(Rid { page: PageId(page), slot }, (RowHeader::new(0, xid), row.into()));
                        assert!(former.is_none(), "page {page} was in use");
                    }
                    assert!(body.is_empty());
                    continue;
                }
                Record::FreePage { page, .. } => {
                    rows.heap.retain(|rid, _| rid.page.0 != page);
                    continue;
                }
                _ => {}
            }
            let Some(change) = record.row_change() else { continue };
            let rid = Rid { page: change.page, slot: change.slot };
            let rest = match record {
                Record::Insert { flags, rest, .. } if flags >> 4 & RowHeader::MOVED != 0 => {
                    moved.insert(rid, rest[6..].to_vec());
                    continue;
                }
                Record::Replace { new_header, rest, .. } if new_header.flags() & RowHeader::FORWARDED != 0 => {
                    Some(moved[&Rid::from_bytes(rest.try_into().expect("a rid"))].clone())
                }
                Record::Insert { rest, .. } | Record::Replace { rest, .. } => Some(rest.to_vec()),
                Record::ReplacePart { at, old_part, part, key, .. } => {
                    splice(&rows.tree[key].1, at as usize, old_part.len(), part)
                }
                _ => None,
            };
            if change.key.is_empty() {
                if moved.contains_key(&rid) && change.xid == 0 {
                    moved.remove(&rid);
                } else {
                    follow(&mut rows.heap, rid, change, rest);
                }
            } else {
                follow(&mut rows.tree, change.key.to_vec(), change, rest);
            }
        }
        rows
    }
}

/// Rows of the one tree and the one heap of a test: header and columns.
#[derive(Default, PartialEq, Eq, Debug)]
pub(crate) struct Rows {
    pub tree: BTreeMap<Vec<u8>, (RowHeader, Vec<u8>)>,
    pub heap: BTreeMap<Rid, (RowHeader, Vec<u8>)>,
}

fn follow<K: Ord>(rows: &mut BTreeMap<K, (RowHeader, Vec<u8>)>, key: K, change: RowChange<'_>, rest: Option<Vec<u8>>) {
    match (change.new_header, rest) {
        (Some(header), Some(rest)) => drop(rows.insert(key, (header, rest))),
        (Some(header), None) => rows.get_mut(&key).expect("the row is there").0 = header,
        (None, _) => drop(rows.remove(&key)),
    }
}

/// The context of a change of transaction `xid`.
pub(crate) fn context(xid: u64) -> LogContext {
    LogContext::new(xid)
}

/// A small generator of numbers: the same seed, the same sequence.
pub(crate) struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}
