//! What a session runs, for the views.
//!
//! The machine says so when a batch begins and whenever it must await something: who is seen to wait is seen at its statement. What runs
//! without waiting is seen where it was when its quantum ended. The text is stored when it is another one than before, the place in it
//! by itself: a view that looks meanwhile may see the place of one with the text of the other.

use std::sync::Arc;

use crate::program::Program;
use crate::reading::Reading;
use pikepole_contention::CachePadded;
use pikepole_contention::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use pikepole_contention::sync::{Mutex, MutexGuard};

/// The texts that a session runs, or ran last. Its task writes it, views read it.
#[derive(Debug, Default)]
pub struct Activity(CachePadded<Inner>);

#[derive(Debug, Default)]
struct Inner {
    texts: Mutex<Texts>,
    at: AtomicUsize,
    /// Pages looked up, and those of them that were read from disk.
    read: [AtomicU64; 2],
    /// The same when the batch began.
    read_before: [AtomicU64; 2],
}

#[derive(Debug, Default)]
struct Texts {
    batch: Option<Arc<Program>>,
    running: Option<Arc<Program>>,
    /// A statement that reads large tables whole, while it runs.
    reading: Option<Reading>,
}

/// What a session runs.
#[derive(Debug, Clone)]
pub struct Running {
    /// The batch, or the text that the client calls.
    pub batch: Arc<Program>,
    /// The text that runs for it: itself, or what it calls.
    pub text: Arc<Program>,
    /// The instruction of it.
    at: usize,
}

impl Activity {
    /// A batch begins.
    pub(crate) fn begins(&self, program: &Arc<Program>) {
        let mut texts = self.lock();
        keep(&mut texts.batch, program);
        keep(&mut texts.running, program);
        // One that a cancelled batch was within is no more.
        texts.reading = None;
        self.is_at(0);
        for (before, read) in self.0.read_before.iter().zip(self.read()) {
            before.store(read, Ordering::Relaxed);
        }
    }

    /// Statements have read so many pages more. Only the session's task calls this.
    #[inline]
    pub(crate) fn has_read(&self, pages: [u64; 2]) {
        for (read, pages) in self.0.read.iter().zip(pages) {
            read.store(read.load(Ordering::Relaxed).wrapping_add(pages), Ordering::Relaxed);
        }
    }

    /// The pages that the session's statements have looked up, and those of them that had to be read from disk.
    #[inline]
    pub fn read(&self) -> [u64; 2] {
        self.0.read.each_ref().map(|read| read.load(Ordering::Relaxed))
    }

    /// The same of the batch that began last.
    pub fn read_by_batch(&self) -> [u64; 2] {
        let before = self.0.read_before.each_ref().map(|read| read.load(Ordering::Relaxed));
        let now = self.read();
        [now[0].wrapping_sub(before[0]), now[1].wrapping_sub(before[1])]
    }

    /// This text runs, for the batch that began last.
    pub(crate) fn runs(&self, program: &Arc<Program>) {
        keep(&mut self.lock().running, program);
    }

    /// This instruction of the text runs.
    #[inline]
    pub(crate) fn is_at(&self, instruction: usize) {
        self.0.at.store(instruction, Ordering::Relaxed);
    }

    /// A statement that reads large tables whole begins, or none does any more.
    pub(crate) fn reads(&self, reading: Option<Reading>) {
        self.lock().reading = reading;
    }

    /// The statement that reads large tables whole; None: there is no such now.
    pub fn reading(&self) -> Option<Reading> {
        self.lock().reading.clone()
    }

    /// What runs, or ran last; None before the first batch.
    pub fn running(&self) -> Option<Running> {
        let texts = self.lock();
        let at = self.0.at.load(Ordering::Relaxed);
        Some(Running { batch: texts.batch.clone()?, text: texts.running.clone()?, at })
    }

    fn lock(&self) -> MutexGuard<'_, Texts> {
        // Its parts are stored one by one.
        self.0.texts.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Stores a program unless it is there: its count of references, which sessions share, stays untouched when a text runs again.
fn keep(place: &mut Option<Arc<Program>>, program: &Arc<Program>) {
    if !place.as_ref().is_some_and(|known| Arc::ptr_eq(known, program)) {
        *place = Some(Arc::clone(program));
    }
}

impl Running {
    /// Where the statement stands in its text, as the views count: the first and the last of its characters, in bytes of UTF-16. None in
    /// a program that was made of no text.
    pub fn statement(&self) -> Option<(i32, i32)> {
        self.text.place_of(self.at)
    }
}
