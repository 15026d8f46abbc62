//! The memory of an ordered index's leaves: it is leaves' until the index is dropped.
//!
//! A leaf that leaves the tree is kept here, with no key, and comes back as another one. Its version goes on from what it was, so a thread that
//! has noted one of before finds it changed, and the leaf need not wait for those who still read it, as what goes to the allocator does. A finger may
//! look at a leaf at any time, as long as the index is there: see `finger`.

use std::ptr::NonNull;

use pikepole_contention::sync::atomic::{AtomicUsize, Ordering};
use pikepole_contention::sync::{Mutex, MutexGuard};

use super::page::Page;
use crate::numbers;

/// See the module.
pub(super) struct Leaves {
    /// The number of the index in the process.
    pub number: u64,
    kept: Mutex<Vec<Kept>>,
    /// Leaves that are kept: who finds none does without the lock.
    count: AtomicUsize,
}

/// A leaf that is in no tree.
struct Kept(NonNull<Page>);

// SAFETY: a leaf belongs to no thread; all that changes in it is atomic.
unsafe impl Send for Kept {}

impl Default for Leaves {
    fn default() -> Self {
        Self { number: numbers::next(), kept: Mutex::default(), count: AtomicUsize::new(0) }
    }
}

impl Leaves {
    fn lock(&self) -> MutexGuard<'_, Vec<Kept>> {
        self.kept.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// A leaf without keys for the caller alone, who lets it enter the tree: see [`Page::enter`].
    pub fn take(&self) -> NonNull<Page> {
        if self.count() == 0 {
            return Page::new_leaf();
        }
        let mut kept = self.lock();
        let leaf = kept.pop();
        self.count.store(kept.len(), Ordering::Relaxed);
        drop(kept);
        let Some(Kept(leaf)) = leaf else { return Page::new_leaf() };
        // SAFETY: it stays in memory until the index is dropped.
        unsafe { leaf.as_ref() }.come_back();
        leaf
    }

    /// Keeps a leaf that has left the tree.
    pub fn keep(&self, leaf: NonNull<Page>) {
        let mut kept = self.lock();
        kept.push(Kept(leaf));
        self.count.store(kept.len(), Ordering::Relaxed);
    }

    /// The number of leaves that are kept.
    pub fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }
}

impl Drop for Leaves {
    fn drop(&mut self) {
        let kept = self.kept.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
        for Kept(leaf) in kept.drain(..) {
            // SAFETY: the index is dropped: no other thread has its pages, and no finger follows its pointer without the index.
            unsafe { Page::free(leaf) };
        }
    }
}
