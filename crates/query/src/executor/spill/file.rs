//! The file that a session's operators write to: blocks of two sizes, used again when they are free.
//!
//! ```text
//!   tempdb/spill-<session>-<number>     0        16 KB     32 KB           160 KB
//!                                       │ small  │ small   │ large ...     │
//! ```
//! It is made with the first write, so an operator that ends before has made none.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crate::expression::Fault;
use pikepole_contention::sync::atomic::{AtomicU64, Ordering};
use pikepole_contention::sync::{Mutex, MutexGuard};
use pikepole_engine::{Server, TEMPDB};
use pikepole_machine::{Disk, File, OpenOptions, is_full};
use pikepole_scheduler::{self as scheduler, Placement, TaskInfo};
use pikepole_types::{SqlError, Value};

/// The sizes of blocks: for many tapes at once, and for one.
pub(super) const BLOCK_BYTES: [usize; 2] = [16 << 10, 128 << 10];

/// What error 1105 calls what is written here.
const OBJECT: &str = "<temporary system object>";

/// Numbers files apart that sessions of one number make one after the other.
static FILES: AtomicU64 = AtomicU64::new(0);

/// A block that is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    offset: u64,
    length: u32,
    /// Which of [`BLOCK_BYTES`] it has room for.
    size: u8,
    checksum: u32,
}

/// See the module.
pub(crate) struct SpillFile {
    server: Arc<Server>,
    name: String,
    open: Mutex<Option<File>>,
    space: Mutex<Space>,
    /// Values that no bytes stand for: nodes of documents in memory.
    kept: Mutex<Vec<Value>>,
}

#[derive(Default)]
struct Space {
    end: u64,
    free: [Vec<u64>; BLOCK_BYTES.len()],
}

/// Blocks to be written, or a block to be read.
pub(crate) struct SpillIo {
    file: Arc<SpillFile>,
    work: Mutex<Work>,
}

enum Work {
    Write(Vec<(Block, Vec<u8>)>),
    Read(Block),
    Done(Vec<u8>),
}

impl std::fmt::Debug for SpillIo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SpillIo").field("file", &self.file.name).finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl SpillFile {
    pub(super) fn new(server: &Arc<Server>, session_id: i32) -> Arc<SpillFile> {
        let number = FILES.fetch_add(1, Ordering::Relaxed);
        Arc::new(SpillFile {
            server: Arc::clone(server),
            name: format!("spill-{session_id}-{number}"),
            open: Mutex::default(),
            space: Mutex::default(),
            kept: Mutex::default(),
        })
    }

    /// The place for a block of so many bytes.
    pub(super) fn place(&self, bytes: &[u8]) -> Block {
        let size = usize::from(bytes.len() > BLOCK_BYTES[0]);
        assert!(bytes.len() <= BLOCK_BYTES[size], "a block has room for what it gets");
        let mut space = lock(&self.space);
        let offset = space.free[size].pop().unwrap_or_else(|| {
            let offset = space.end;
            space.end += BLOCK_BYTES[size] as u64;
            offset
        });
        Block { offset, length: bytes.len() as u32, size: size as u8, checksum: crc32c::crc32c(bytes) }
    }

    /// The blocks are not read any more.
    pub(super) fn free(&self, blocks: &[Block]) {
        let mut space = lock(&self.space);
        blocks.iter().for_each(|block| space.free[usize::from(block.size)].push(block.offset));
    }

    /// Keeps a value in memory that no bytes stand for; gives its number.
    pub(super) fn keep(&self, value: &Value) -> u32 {
        let mut kept = lock(&self.kept);
        kept.push(value.clone());
        kept.len() as u32 - 1
    }

    pub(super) fn kept(&self, number: u32) -> Option<Value> {
        lock(&self.kept).get(number as usize).cloned()
    }

    fn path(&self) -> PathBuf {
        self.server.folder().join(TEMPDB).join(&self.name)
    }

    /// The open file, made if it is not there. Blocks.
    fn opened(&self) -> io::Result<File> {
        let mut open = lock(&self.open);
        if let Some(file) = &*open {
            return Ok(file.clone());
        }
        let options = OpenOptions { create: true, ..OpenOptions::default() };
        let file = self.server.disk().open(self.path(), options)?;
        Ok(open.insert(file).clone())
    }
}

impl Drop for SpillFile {
    /// Removes the file, on a thread for such work: freeing a large file takes its time.
    fn drop(&mut self) {
        let Some(file) = lock(&self.open).take() else {
            return;
        };
        let (disk, path): (Disk, PathBuf) = (self.server.disk().clone(), self.path());
        let info = TaskInfo { session_id: None, command: "SPILL" };
        let removed = async move {
            scheduler::run_blocking(move || {
                drop(file);
                // What is left here goes with the folder at the next start.
                let _ = disk.remove_file(path);
            })
            .await;
        };
        self.server.schedulers().spawn(info, Placement::LeastLoaded, removed);
    }
}

impl SpillIo {
    pub(super) fn write(file: &Arc<SpillFile>, blocks: Vec<(Block, Vec<u8>)>) -> Arc<SpillIo> {
        Arc::new(SpillIo { file: Arc::clone(file), work: Mutex::new(Work::Write(blocks)) })
    }

    pub(super) fn read(file: &Arc<SpillFile>, block: Block) -> Arc<SpillIo> {
        Arc::new(SpillIo { file: Arc::clone(file), work: Mutex::new(Work::Read(block)) })
    }

    /// What was read; None before.
    pub(super) fn take(&self) -> Option<Vec<u8>> {
        match &mut *lock(&self.work) {
            Work::Done(bytes) => Some(std::mem::take(bytes)),
            Work::Write(_) | Work::Read(_) => None,
        }
    }

    /// Does it.
    ///
    /// # Errors
    /// 1105 for a full disk, 823 for one that refuses, 824 for one that gives other bytes than it got; 1802 when tempdb cannot be made.
    pub(crate) async fn perform(self: &Arc<Self>) -> Result<(), Fault> {
        let tempdb = self.file.server.tempdb().await?;
        let io = Arc::clone(self);
        let done = scheduler::run_blocking(move || io.perform_now()).await;
        done.map_err(|(error, operation, offset)| {
            if is_full(&error) {
                return Box::new(SqlError::no_space_for_object(OBJECT, TEMPDB, "PRIMARY"));
            }
            let file = self.file.path().display().to_string();
            let offset = format!("{offset:#018x}");
            Box::new(match error.kind() {
                io::ErrorKind::InvalidData => {
                    let page = format!("({})", self.file.name);
                    let what = "incorrect checksum";
                    SqlError::page_is_damaged(what, operation, page, tempdb.id(), offset, file)
                }
                _ => SqlError::operating_system_error(error.to_string(), operation, offset, file),
            })
        })
    }

    fn perform_now(&self) -> Result<(), (io::Error, &'static str, u64)> {
        let mut work = lock(&self.work);
        let bytes = match &*work {
            Work::Write(blocks) => {
                let file = self.file.opened().map_err(|error| (error, "write", 0))?;
                for (block, bytes) in blocks {
                    file.write_at(bytes, block.offset).map_err(|error| (error, "write", block.offset))?;
                }
                Vec::new()
            }
            Work::Read(block) => {
                let failed = |error: io::Error| (error, "read", block.offset);
                let mut bytes = vec![0; block.length as usize];
                self.file.opened().and_then(|file| file.read_at(&mut bytes, block.offset)).map_err(failed)?;
                #[cfg(test)]
                if super::fault::is(super::fault::Planted::GarbledBlock) {
                    bytes[0] ^= 1;
                }
                if crc32c::crc32c(&bytes) != block.checksum {
                    return Err(failed(io::ErrorKind::InvalidData.into()));
                }
                bytes
            }
            Work::Done(_) => return Ok(()),
        };
        *work = Work::Done(bytes);
        Ok(())
    }
}
