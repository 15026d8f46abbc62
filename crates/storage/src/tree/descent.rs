//! Finding a leaf: optimistic coupling through the inner pages, a latch on the leaf.
//!
//! Step by step, within one read section: note the child's latch word, check that the parent is unchanged since its word
//! was noted (so the child was the right one when its word was noted), read the child's words, check that the child is
//! unchanged (so what was read is one state of it), go on. Any check that fails starts again from the root. Nothing waits
//! inside a section.

use std::ops::ControlFlow;

use pikepole_contention::sync::atomic::Ordering;
use pikepole_contention::{Counter, SpinlockClass, Spinner};
use pikepole_scheduler::chaos::{self, Site};

use super::*;
use crate::error::Need;
use crate::frame::FrameHeader;
use crate::meter;
use crate::page::Page;
use crate::page::inner::Seek;
use crate::pool::{Exclusive, Pool, Shared};

/// Tries before a descent becomes a need.
const RESTARTS_MAX: u32 = 100;

/// An inner page found by a descent, and the latch word it was read under.
#[derive(Clone, Copy)]
pub(super) struct Found {
    pub frame: u32,
    pub word: u64,
    pub level: u8,
}

/// Whether to begin again, and which page was in the way.
type Step<T> = Result<ControlFlow<T, PageId>, Stop>;

struct Parent<'a> {
    header: &'a FrameHeader,
    word: u64,
    level: u8,
}

impl Tree {
    /// The leaf asked for, latched by `take`, which tries once.
    fn descend<'a, G>(
        &'a self,
        seek: Seek<'_>,
        take: impl Fn(&'a Pool, u32) -> Option<G>,
        page_of: impl Fn(&G) -> Page<'_>,
    ) -> Result<G, Stop> {
        self.retry(|| {
            let step = self.walk(seek, 0, |found, page| match take(&self.store.pool, found.frame) {
                Some(guard) => ControlFlow::Break(guard),
                None => ControlFlow::Continue(page),
            })?;
            let guard = match step {
                ControlFlow::Break(guard) => guard,
                ControlFlow::Continue(busy) => return Ok(ControlFlow::Continue(busy)),
            };
            // Its parent was seen unchanged after the latch was taken: this is the leaf, or the root has just grown.
            let page = page_of(&guard);
            if page.level() > 0 {
                return Ok(ControlFlow::Continue(self.root));
            }
            if page.kind() != Some(PageKind::Leaf) || page.object() != self.object || !seek.fits(page) {
                return Err(StorageError::corrupt(page.id(), "it is not the leaf that its parent names").into());
            }
            Ok(ControlFlow::Break(guard))
        })
    }

    pub(super) fn leaf_exclusive(&self, seek: Seek<'_>) -> Result<Exclusive<'_>, Stop> {
        self.descend(seek, |pool, frame| pool.try_exclusive_at(frame), |guard| guard.page())
    }

    pub(super) fn leaf_shared(&self, seek: Seek<'_>) -> Result<Shared<'_>, Stop> {
        self.descend(seek, |pool, frame| pool.try_shared_at(frame), |guard| guard.page())
    }

    /// The page of this level, or the root if it is lower, on the way to a key.
    pub(super) fn find_at_level(&self, key: &[u8], level: u8) -> Result<Found, Stop> {
        self.retry(|| self.walk(Seek::At(key), level, |found, _| ControlFlow::Break(found)))
    }

    fn retry<T>(&self, mut step: impl FnMut() -> Step<T>) -> Result<T, Stop> {
        if chaos::stops(Site::Descent) {
            return Err(Stop::Need(Need::PageLatch(self.root)));
        }
        let mut busy = match step()? {
            ControlFlow::Break(found) => return Ok(found),
            ControlFlow::Continue(busy) => busy,
        };
        let statistics = &self.store.pool.statistics;
        statistics.spinlock_collides(SpinlockClass::BUF_PAGE_LATCH);
        let mut spinner = Spinner::new();
        let mut outcome = Err(Stop::Need(Need::PageLatch(busy)));
        for _ in 0..RESTARTS_MAX {
            spinner.spin();
            match step() {
                Ok(ControlFlow::Continue(page)) => busy = page,
                Ok(ControlFlow::Break(found)) => {
                    outcome = Ok(found);
                    break;
                }
                Err(stop) => {
                    outcome = Err(stop);
                    break;
                }
            }
            outcome = Err(Stop::Need(Need::PageLatch(busy)));
        }
        statistics.spinlock_spun(SpinlockClass::BUF_PAGE_LATCH, &spinner);
        outcome
    }

    /// One descent to the page at `target` level or, for level 0, its leaf; `take` is called inside the section.
    fn walk<T>(&self, seek: Seek<'_>, target: u8, take: impl Fn(Found, PageId) -> ControlFlow<T, PageId>) -> Step<T> {
        let mut lookups = 0;
        let step = self.walk_counting(seek, target, take, &mut lookups);
        self.store.pool.statistics.add(Counter::PageLookups, lookups);
        meter::looked(&self.store, self.object, lookups);
        if matches!(step, Err(Stop::Need(Need::Page(_)))) {
            meter::missed(&self.store, self.object);
        }
        step
    }

    fn walk_counting<T>(
        &self,
        seek: Seek<'_>,
        target: u8,
        take: impl Fn(Found, PageId) -> ControlFlow<T, PageId>,
        lookups: &mut u64,
    ) -> Step<T> {
        let pool = &self.store.pool;
        let _section = pool.readers.enter();
        let mut page = self.root;
        let mut parent: Option<Parent<'_>> = None;
        loop {
            let valid = |parent: &Option<Parent<'_>>| parent.as_ref().is_none_or(|p| p.header.unchanged_since(p.word));
            *lookups += 1;
            let Some(frame) = pool.lookup(page) else {
                return if valid(&parent) {
                    Err(Stop::Need(Need::Page(page)))
                } else {
                    Ok(ControlFlow::Continue(page))
                };
            };
            let header = pool.header(frame);
            let Some(word) = header.optimistic() else { return Ok(ControlFlow::Continue(page)) };
            // Acquire pairs with the Release in `Exclusive::set_level`.
            let level = header.level.load(Ordering::Acquire);
            if header.page() != Some(page.0) || !valid(&parent) {
                return Ok(ControlFlow::Continue(page));
            }
            if parent.as_ref().is_some_and(|parent| parent.level != level + 1) {
                return self.misplaced(header, word, page, level);
            }
            if level <= target {
                let taken = take(Found { frame, word, level }, page);
                let same = header.page() == Some(page.0) && valid(&parent);
                return Ok(if same { taken } else { ControlFlow::Continue(page) });
            }
            if header.referenced.load(Ordering::Relaxed) != 1 {
                header.referenced.store(1, Ordering::Relaxed);
            }
            let child = pool.words(frame).seek(seek);
            if !header.unchanged_since(word) {
                return Ok(ControlFlow::Continue(page));
            }
            let Some((_, child)) = child else {
                return Err(StorageError::corrupt(page, "its children cannot be read").into());
            };
            parent = Some(Parent { header, word, level });
            page = child;
        }
    }

    #[cold]
    fn misplaced<T>(&self, header: &FrameHeader, word: u64, page: PageId, level: u8) -> Step<T> {
        if !header.unchanged_since(word) {
            return Ok(ControlFlow::Continue(page));
        }
        Err(StorageError::corrupt(page, format!("a page of level {level} where its parent has another")).into())
    }
}
