//! Several sessions over one connection (MARS): the answers that wait until their windows open.
//!
//! ```text
//!   Incoming ── bytes ──▶ Mux ── requests, one at a time ──▶ Session ──▶ Reply ──▶ writer ── packets ──▶ Mux: a queue per session
//!                          ▲ windows                                                                      │ frames ──▶ socket
//!                          └── ACK                                                         too much ──▶ a file
//! ```
//!
//! Requests run one after the other, in the order in which they have come whole. A request whose client does not read waits, as on any
//! connection, until somebody else of the connection sends a request: from then on its answer is gathered, so that it ends and the other
//! can run. What is gathered beyond [`HELD_BYTES_MAX`] goes to a file without a name, of [`FILE_BYTES_MAX`] at most; an answer that does
//! not fit ends with error 1105. The answers that are whole are sent while other requests run or none does, whenever a window opens.

use pikepole_contention::sync::{Mutex, MutexGuard};
use pikepole_scheduler as scheduler;
use pikepole_tds::{Mux, Queue, Region};
use std::fs::File;
use std::future::Future;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// Bytes of answers that wait in memory, for one connection.
const HELD_BYTES_MAX: usize = 1 << 20;
/// Bytes of answers that wait in its file.
const FILE_BYTES_MAX: u64 = 4 << 30;
/// A part of the file is read into memory in pieces of this size.
const REGION_BYTES: usize = 256 << 10;

/// What both halves of a connection know of its sessions.
#[derive(Clone)]
pub(crate) struct SharedMux(Arc<Mutex<Mux>>);

impl SharedMux {
    pub(crate) fn new(mux: Mux) -> SharedMux {
        SharedMux(Arc::new(Mutex::new(mux)))
    }

    /// The two halves are of one task: nobody waits here.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Mux> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// What work on the file has brought.
enum Moved {
    Written(u16, Vec<Region>),
    Read(u16, Vec<u8>),
}

type Work = Pin<Box<dyn Future<Output = io::Result<Moved>> + Send>>;

/// The answers of one connection.
pub(crate) struct Spool {
    mux: SharedMux,
    /// The session whose request runs, or ran last.
    session: u16,
    folder: PathBuf,
    file: Option<Arc<File>>,
    /// Where the file ends.
    end: u64,
    /// What is being written or read. The mutex is never waited for: it lets the connection's task be moved.
    work: Mutex<Option<Work>>,
}

impl Spool {
    /// Nothing waits; a file is made in the folder when one is needed.
    pub(crate) fn new(mux: SharedMux, folder: PathBuf) -> Spool {
        Spool { mux, session: 0, folder, file: None, end: 0, work: Mutex::new(None) }
    }

    pub(crate) fn mux(&self) -> MutexGuard<'_, Mux> {
        self.mux.lock()
    }

    /// Packets from now on are the answer of this session.
    pub(crate) fn set_session(&mut self, session: u16) {
        self.session = session;
    }

    /// Takes packets of the answer under way.
    pub(crate) fn add(&mut self, packets: &[u8]) {
        self.mux().answer(self.session, packets);
    }

    /// Drops what waits of the session's answers.
    pub(crate) fn forget(&mut self) {
        if let Some(queue) = self.mux().queue(self.session) {
            *queue = Queue::default();
        }
    }

    /// Bytes of the answer under way that wait in memory.
    pub(crate) fn held(&self) -> usize {
        self.mux().queue(self.session).map_or(0, |queue| queue.held())
    }

    /// The same of all answers.
    pub(crate) fn held_by_all(&self) -> usize {
        self.mux().queues().map(|(_, queue)| queue.held()).sum()
    }

    /// Whether the request under way is to go on although its client does not read.
    fn is_gathering(&self) -> bool {
        let mux = self.mux();
        mux.others_wait() || mux.is_running_closed()
    }

    /// Goes on with what is read from and written to the file; whether there is such work. Begins to read what can be sent.
    ///
    /// # Errors
    /// What the file says.
    pub(crate) fn poll_work(&mut self, context: &mut Context<'_>) -> io::Result<bool> {
        loop {
            if let Some(work) = self.work() {
                let Poll::Ready(moved) = work.as_mut().poll(context) else { return Ok(true) };
                *self.work() = None;
                self.has_moved(moved?);
            }
            let Some(file) = self.file.clone() else { return Ok(false) };
            let wanted = self.mux().begin_in();
            let Some((session, region)) = wanted else {
                self.forget_file();
                return Ok(false);
            };
            *self.work() = Some(Box::pin(scheduler::run_blocking(move || {
                let mut bytes = vec![0; region.length];
                file.read_exact_at(&mut bytes, region.offset)?;
                Ok(Moved::Read(session, bytes))
            })));
        }
    }

    /// Whether a part of the file could be sent and is not being read.
    pub(crate) fn wants_work(&self) -> bool {
        self.file.is_some() && self.mux().wants_in()
    }

    fn work(&mut self) -> &mut Option<Work> {
        self.work.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn has_moved(&mut self, moved: Moved) {
        let mut mux = self.mux();
        // A session that was closed in between has no queue any more.
        match moved {
            Moved::Written(session, regions) => {
                if let Some(queue) = mux.queue(session) {
                    queue.end_out(regions);
                }
            }
            Moved::Read(session, bytes) => {
                if let Some(queue) = mux.queue(session) {
                    queue.end_in(bytes);
                }
            }
        }
    }

    /// The file is begun anew when nothing waits in it.
    fn forget_file(&mut self) {
        if self.end > 0 && self.mux().queues().all(|(_, queue)| !queue.is_in_file()) {
            self.file = None;
            self.end = 0;
        }
    }

    /// Whether the request under way may go on: ready when its answer waits with fewer than `left` bytes, or when others wait and
    /// there is room to gather it.
    ///
    /// # Errors
    /// What the file says; [`io::ErrorKind::StorageFull`] when there is no room for the answer.
    pub(crate) fn poll_room(&mut self, context: &mut Context<'_>, left: usize) -> Poll<io::Result<()>> {
        loop {
            let is_working = self.poll_work(context)?;
            if self.held() <= left {
                return Poll::Ready(Ok(()));
            }
            if !self.is_gathering() {
                return Poll::Pending;
            }
            if self.held_by_all() <= HELD_BYTES_MAX {
                return Poll::Ready(Ok(()));
            }
            if is_working {
                return Poll::Pending;
            }
            self.begin_to_write()?;
        }
    }

    /// Moves what waits of the answer under way to the file.
    fn begin_to_write(&mut self) -> io::Result<()> {
        let session = self.session;
        let bytes = self.mux().queue(session).map(Queue::begin_out).unwrap_or_default();
        let offset = self.end;
        if offset + bytes.len() as u64 > FILE_BYTES_MAX {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.end += bytes.len() as u64;
        let file = match &self.file {
            Some(file) => Arc::clone(file),
            None => Arc::clone(self.file.insert(Arc::new(unnamed_file(&self.folder)?))),
        };
        *self.work() = Some(Box::pin(scheduler::run_blocking(move || {
            file.write_all_at(&bytes, offset)?;
            Ok(Moved::Written(session, regions(&bytes, offset)))
        })));
        Ok(())
    }
}

/// Packets that have been written, in pieces of whole packets that are read at once.
fn regions(packets: &[u8], offset: u64) -> Vec<Region> {
    let mut regions: Vec<Region> = Vec::new();
    let mut at = 0;
    while let Some(header) = packets.get(at..at + 4) {
        let length = usize::from(u16::from_be_bytes([header[2], header[3]])).max(1);
        match regions.last_mut() {
            Some(region) if region.length + length <= REGION_BYTES => region.length += length,
            _ => regions.push(Region { offset: offset + at as u64, length }),
        }
        at += length;
    }
    regions
}

/// A file that is gone when nobody has it open.
fn unnamed_file(folder: &std::path::Path) -> io::Result<File> {
    use pikepole_contention::sync::atomic::{AtomicU64, Ordering};
    use std::os::unix::fs::OpenOptionsExt;
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let path = folder.join(format!("answers-{}-{number}.tmp", std::process::id()));
    let file = File::options().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}
