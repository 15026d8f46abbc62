//! The threads of a long redo: appliers, readers ahead, one writer.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use pikepole_contention::sync::atomic::{AtomicBool, Ordering};
use pikepole_contention::sync::{Condvar, Mutex, thread};
use pikepole_log::LsnRange;

use super::apply::{Applier, Part};
use crate::error::{PageId, StorageError};
use crate::store::{Store, lock};

/// Bytes of parts in a batch: large enough that a hand-over does not count, small enough that all get work soon.
const BATCH_BYTES: usize = 128 << 10;
const BATCH_PARTS: usize = BATCH_BYTES / 32;
/// Batches that may wait for an applier.
const WAITING_MAX: usize = 8;
/// Readers ahead: enough to keep a device busy that serves its reads side by side.
const READERS: usize = 8;
/// Pages that may wait to be read ahead; what is beyond is left to the appliers.
const WANTED_MAX: usize = 4096;
const WRITER_PAUSE: Duration = Duration::from_millis(1);

struct Dealt {
    range: LsnRange,
    part: Part,
    at: u32,
    len: u32,
}

/// Parts for one applier, in the order of the log.
#[derive(Default)]
pub(super) struct Batch {
    bytes: Vec<u8>,
    parts: Vec<Dealt>,
    /// Pages that may have to be read.
    pub wanted: Vec<u32>,
}

impl Batch {
    pub fn push(&mut self, range: LsnRange, part: Part, bytes: &[u8]) {
        if self.parts.capacity() == 0 {
            self.parts.reserve(BATCH_PARTS);
            self.bytes.reserve(BATCH_BYTES + 4096);
        }
        self.parts.push(Dealt { range, part, at: self.bytes.len() as u32, len: bytes.len() as u32 });
        self.bytes.extend_from_slice(bytes);
    }

    pub fn is_full(&self) -> bool {
        self.bytes.len() >= BATCH_BYTES || self.parts.len() >= BATCH_PARTS
    }

    pub fn apply(&self, store: &Store, applier: &mut Applier) {
        for dealt in &self.parts {
            let bytes = &self.bytes[dealt.at as usize..][..dealt.len as usize];
            applier.apply(store, dealt.range, dealt.part, bytes);
        }
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.parts.clear();
        self.wanted.clear();
    }
}

/// A queue that ends.
struct Queue<T> {
    waiting: Mutex<Waiting<T>>,
    filled: Condvar,
    /// Only the dealer waits for it.
    emptied: Condvar,
}

struct Waiting<T> {
    items: VecDeque<T>,
    ended: bool,
}

impl<T> Queue<T> {
    fn new() -> Queue<T> {
        let waiting = Waiting { items: VecDeque::new(), ended: false };
        Queue { waiting: Mutex::new(waiting), filled: Condvar::new(), emptied: Condvar::new() }
    }

    /// Puts something in when fewer than `most` wait.
    fn put(&self, item: T, most: usize) {
        let mut waiting = lock(&self.waiting);
        while waiting.items.len() >= most {
            waiting = self.emptied.wait(waiting).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
        waiting.items.push_back(item);
        drop(waiting);
        self.filled.notify_one();
    }

    /// Puts in what there is room for.
    fn offer(&self, items: impl Iterator<Item = T>, most: usize) {
        let mut waiting = lock(&self.waiting);
        let room = most.saturating_sub(waiting.items.len());
        waiting.items.extend(items.take(room));
        drop(waiting);
        self.filled.notify_all();
    }

    /// The next item; `None` when the queue has ended and is empty.
    fn take(&self) -> Option<T> {
        let mut waiting = lock(&self.waiting);
        loop {
            if let Some(item) = waiting.items.pop_front() {
                drop(waiting);
                self.emptied.notify_one();
                return Some(item);
            }
            if waiting.ended {
                return None;
            }
            waiting = self.filled.wait(waiting).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
    }

    fn end(&self) {
        lock(&self.waiting).ended = true;
        self.filled.notify_all();
    }
}

struct Shared {
    store: Arc<Store>,
    /// One queue an applier.
    batches: Vec<Queue<Batch>>,
    /// Batches to fill again.
    empty: Mutex<Vec<Batch>>,
    wanted: Queue<u32>,
    /// Relaxed: it only makes the dealer stop sooner; what failed is handed over by the threads' ends.
    failed: AtomicBool,
    /// Relaxed: it carries nothing; the writer is joined.
    done: AtomicBool,
}

type End = Result<HashMap<u32, String>, (u64, StorageError)>;

/// The threads of one redo.
pub(super) struct Threads {
    shared: Arc<Shared>,
    appliers: Vec<thread::JoinHandle<End>>,
    others: Vec<thread::JoinHandle<()>>,
}

impl Threads {
    pub fn start(store: &Arc<Store>, appliers: usize, patched: bool) -> Result<Threads, StorageError> {
        let shared = Arc::new(Shared {
            store: Arc::clone(store),
            batches: (0..appliers).map(|_| Queue::new()).collect(),
            empty: Mutex::new(Vec::new()),
            wanted: Queue::new(),
            failed: AtomicBool::new(false),
            done: AtomicBool::new(false),
        });
        let mut threads = Threads { shared: Arc::clone(&shared), appliers: Vec::new(), others: Vec::new() };
        for index in 0..appliers {
            let shared = Arc::clone(&shared);
            threads.appliers.push(spawn("redo", move || apply_batches(&shared, index, patched))?);
        }
        for _ in 0..READERS {
            let shared = Arc::clone(&shared);
            threads.others.push(spawn("redo reader", move || read_ahead(&shared))?);
        }
        threads.others.push(spawn("redo writer", move || write_out(&shared))?);
        Ok(threads)
    }

    /// Hands a batch over, and gives one to be filled. Blocks while the applier is far behind.
    pub fn give(&self, applier: usize, mut batch: Batch) -> Batch {
        let shared = &self.shared;
        if !batch.wanted.is_empty() && shared.store.pool.free_frames() > shared.store.pool.frames() / 4 {
            batch.wanted.sort_unstable();
            shared.wanted.offer(batch.wanted.drain(..), WANTED_MAX);
        }
        shared.batches[applier].put(batch, WAITING_MAX);
        lock(&shared.empty).pop().unwrap_or_default()
    }

    pub fn have_failed(&self) -> bool {
        self.shared.failed.load(Ordering::Relaxed)
    }

    /// Has the rest applied, and ends the threads. How each applier ended.
    pub fn finish(mut self, rest: Vec<Batch>) -> Vec<End> {
        for (queue, batch) in self.shared.batches.iter().zip(rest) {
            queue.put(batch, usize::MAX);
        }
        self.end()
    }

    fn end(&mut self) -> Vec<End> {
        self.shared.batches.iter().for_each(Queue::end);
        self.shared.wanted.end();
        let join =
            |thread: thread::JoinHandle<End>| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let ends = self.appliers.drain(..).map(join).collect();
        self.shared.done.store(true, Ordering::Relaxed);
        for thread in self.others.drain(..) {
            // A thread that only reads ahead or writes out owes nothing: who needs the page meets the same.
            let _ = thread.join();
        }
        ends
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        // Given up in the middle: what waits is applied still, which does no harm, and the threads end.
        if !self.appliers.is_empty() {
            self.end();
        }
    }
}

fn spawn<T: Send + 'static>(
    name: &str,
    run: impl FnOnce() -> T + Send + 'static,
) -> Result<thread::JoinHandle<T>, StorageError> {
    let spawned = thread::Builder::new().name(name.to_owned()).spawn(run);
    spawned.map_err(|error| StorageError::io("starting a thread for redo", error))
}

fn apply_batches(shared: &Shared, index: usize, patched: bool) -> End {
    let mut applier = Applier::new(patched);
    while let Some(mut batch) = shared.batches[index].take() {
        batch.apply(&shared.store, &mut applier);
        if applier.has_failed() {
            shared.failed.store(true, Ordering::Relaxed);
        }
        batch.clear();
        lock(&shared.empty).push(batch);
    }
    applier.end()
}

fn read_ahead(shared: &Shared) {
    while let Some(page) = shared.wanted.take() {
        // A page that cannot be read is met again by its applier, which knows what that means.
        let _ = shared.store.load_page(PageId(page));
    }
}

/// Keeps frames free, so that appliers seldom write themselves.
fn write_out(shared: &Shared) {
    while !shared.done.load(Ordering::Relaxed) {
        if !matches!(shared.store.keep_frames_free(), Ok(true)) {
            thread::sleep(WRITER_PAUSE);
        }
    }
}
