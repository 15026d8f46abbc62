//! Reads a file ahead of whoever cuts it into rows. The reads block, so they are made on the threads for such work: a slow disk holds up
//! nobody but who waits for these bytes, and that wait ends at once when the batch is cancelled.
//!
//! ```text
//!   task: waits for room ──► read (helper thread) ──► chunks, 4 at most ──► take, by the reader
//!                                                     none: await `ready`
//! ```

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use super::file::{DENIED, system_error};
use pikepole_contention::WaitType;
use pikepole_contention::sync::{Mutex, MutexGuard};
use pikepole_engine::Server;
use pikepole_machine::File;
use pikepole_scheduler::{self as scheduler, JoinHandle, Placement, TaskInfo};
use pikepole_types::SqlError;

/// Bytes read at once.
pub(super) const CHUNK_BYTES: usize = 256 * 1024;

/// Chunks that nobody has taken, at most.
const CHUNKS_MAX: usize = 4;

/// A file to be loaded.
pub(crate) struct OpenFile {
    file: File,
    length: u64,
}

impl OpenFile {
    /// Opens a file that a statement names. Blocks.
    ///
    /// # Errors
    /// 4860 when it is not there; 4861 when it cannot be opened, is none to load, or is something else: reading a pipe may
    /// never end.
    pub(crate) fn open(server: &Server, name: &str) -> Result<OpenFile, SqlError> {
        let file = server.open_load_file(name).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => SqlError::bulk_file_missing(name),
            io::ErrorKind::PermissionDenied => SqlError::bulk_file_not_opened(name, DENIED),
            _ => SqlError::bulk_file_not_opened(name, system_error(&error)),
        })?;
        let length = file.len().map_err(|error| SqlError::bulk_file_not_read(name, system_error(&error)))?;
        Ok(OpenFile { file, length })
    }
}

impl OpenFile {
    /// The whole file of this name. Blocks.
    ///
    /// # Errors
    /// 4862 for a failed read, and for a file of more bytes than that.
    pub(crate) fn read_all_of(&self, name: &str, bytes_max: u64) -> Result<Vec<u8>, SqlError> {
        let read = || {
            let bytes = usize::try_from(self.length).ok().filter(|_| self.length <= bytes_max);
            let mut value = vec![0; bytes.ok_or(io::ErrorKind::FileTooLarge)?];
            self.file.read_at(&mut value, 0)?;
            Ok(value)
        };
        read().map_err(|error: io::Error| SqlError::bulk_file_not_read(name, system_error(&error)))
    }
}

/// What the task has read and nobody has taken.
#[derive(Default)]
struct Chunks {
    read: VecDeque<Vec<u8>>,
    /// Why there are no more.
    failure: Option<io::Error>,
    /// Who waits for a chunk.
    readers: Vec<Waker>,
    /// The task, when it waits for room.
    task: Option<Waker>,
}

/// A file that is read ahead. Dropping it ends the task.
pub(crate) struct ReadAhead {
    chunks: Arc<Mutex<Chunks>>,
    length: u64,
    task: JoinHandle<()>,
}

impl std::fmt::Debug for ReadAhead {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReadAhead").finish_non_exhaustive()
    }
}

fn lock(chunks: &Mutex<Chunks>) -> MutexGuard<'_, Chunks> {
    chunks.lock().unwrap_or_else(|e| e.into_inner())
}

impl ReadAhead {
    /// Begins to read a file for a session.
    pub(crate) fn start(file: OpenFile, session_id: i32) -> ReadAhead {
        let OpenFile { file, length } = file;
        let chunks = Arc::new(Mutex::new(Chunks::default()));
        let info = TaskInfo { session_id: Some(session_id), command: "BULK INSERT" };
        let task =
            scheduler::spawn_worker(info, Placement::LeastLoaded, read(Arc::new(file), length, Arc::clone(&chunks)));
        ReadAhead { chunks, length, task }
    }

    /// A file of which nothing comes.
    #[cfg(test)]
    pub(crate) fn stalled() -> ReadAhead {
        let info = TaskInfo { session_id: None, command: "TEST" };
        let task = scheduler::spawn(info, Placement::LeastLoaded, std::future::pending());
        ReadAhead { chunks: Arc::default(), length: 1, task }
    }

    /// The file's length when it was opened: what is appended later is not read.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// The next chunk; none: it has not come yet. Not to be called when the whole file was taken.
    ///
    /// # Errors
    /// A failed read.
    pub(super) fn take(&self) -> io::Result<Option<Vec<u8>>> {
        // Asked first: a task that has ended has given all its chunks.
        let has_ended = self.task.is_finished();
        let mut chunks = lock(&self.chunks);
        let chunk = chunks.read.pop_front();
        if chunk.is_none() && (has_ended || chunks.failure.is_some()) {
            return Err(chunks.failure.take().unwrap_or_else(|| io::Error::other("the task that reads it was lost")));
        }
        let task = chunks.task.take();
        drop(chunks);
        if let Some(task) = task {
            task.wake();
        }
        Ok(chunk)
    }

    /// Waits until [`ReadAhead::take`] has an answer. A failure is told there.
    ///
    /// # Errors
    /// None: the type is that of waits that can fail.
    pub(crate) async fn ready(&self) -> Result<(), SqlError> {
        let poll = |context: &mut Context<'_>| {
            let mut chunks = lock(&self.chunks);
            if !chunks.read.is_empty() || chunks.failure.is_some() || self.task.is_finished() {
                return Poll::Ready(());
            }
            if !chunks.readers.iter().any(|reader| reader.will_wake(context.waker())) {
                chunks.readers.push(context.waker().clone());
            }
            Poll::Pending
        };
        scheduler::wait(WaitType::IMPROV_IOWAIT, std::future::poll_fn(poll)).await;
        Ok(())
    }
}

impl Drop for ReadAhead {
    fn drop(&mut self) {
        self.task.cancel();
    }
}

/// Reads the file from its beginning to its end.
async fn read(file: Arc<File>, length: u64, chunks: Arc<Mutex<Chunks>>) {
    let mut at = 0;
    while at < length {
        std::future::poll_fn(|context| {
            let mut chunks = lock(&chunks);
            if chunks.read.len() < CHUNKS_MAX {
                return Poll::Ready(());
            }
            chunks.task = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
        let bytes = (length - at).min(CHUNK_BYTES as u64) as usize;
        let from = Arc::clone(&file);
        let read = scheduler::run_blocking(move || {
            let mut chunk = vec![0; bytes];
            from.read_at(&mut chunk, at).map(|()| chunk)
        });
        let read = read.await;
        let has_failed = read.is_err();
        let mut chunks = lock(&chunks);
        match read {
            Ok(chunk) => chunks.read.push_back(chunk),
            Err(failure) => chunks.failure = Some(failure),
        }
        let readers = std::mem::take(&mut chunks.readers);
        drop(chunks);
        readers.into_iter().for_each(Waker::wake);
        if has_failed {
            return;
        }
        at += bytes as u64;
    }
}
