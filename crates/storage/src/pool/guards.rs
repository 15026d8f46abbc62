//! Latches that are held: of a free frame, of a page to read, of a page to change.

use std::ops::{Deref, DerefMut};

use pikepole_contention::sync::atomic::Ordering;
use pikepole_log::{Lsn, LsnRange};

use super::Pool;
use crate::frame::FrameHeader;
use crate::page::inner;
use crate::page::{Lines, Page, PageBytes, PageMut};

/// A frame taken from the free list, latched; goes back when dropped unused.
pub(crate) struct FreeFrame<'a>(pub(super) Option<Exclusive<'a>>);

impl<'a> FreeFrame<'a> {
    pub(super) fn guard(&mut self) -> &mut Exclusive<'a> {
        self.0.as_mut().expect("only using it up takes the latch out")
    }

    /// The bytes of the page to come.
    pub fn bytes_mut(&mut self) -> &mut PageBytes {
        self.guard().bytes_mut()
    }
}

impl Drop for FreeFrame<'_> {
    fn drop(&mut self) {
        if let Some(guard) = self.0.take() {
            let (pool, frame) = (guard.pool, guard.frame);
            drop(guard);
            pool.give_free(frame);
        }
    }
}

/// A shared latch.
pub(crate) struct Shared<'a> {
    pub(super) pool: &'a Pool,
    pub frame: u32,
}

impl Shared<'_> {
    pub fn page(&self) -> Page<'_> {
        // SAFETY: this guard's shared latch excludes writers; optimistic readers only load.
        Page(unsafe { &*self.pool.bytes_at(self.frame) })
    }

    pub fn header(&self) -> &FrameHeader {
        self.pool.header(self.frame)
    }
}

impl Drop for Shared<'_> {
    fn drop(&mut self) {
        self.pool.header(self.frame).release_shared();
    }
}

/// An exclusive latch.
pub(crate) struct Exclusive<'a> {
    pub(super) pool: &'a Pool,
    pub frame: u32,
}

impl<'a> Exclusive<'a> {
    #[inline]
    pub fn header(&self) -> &'a FrameHeader {
        self.pool.header(self.frame)
    }

    #[inline]
    pub fn page(&self) -> Page<'_> {
        // SAFETY: this guard's exclusive latch excludes other writers, and `&self` excludes `page_mut`.
        Page(unsafe { &*self.pool.bytes_at(self.frame) })
    }

    /// The page of a frame of level 0, to be changed in place.
    #[inline]
    pub fn page_mut(&mut self) -> ChangedPage<'_> {
        let header = self.header();
        ChangedPage { page: PageMut::new(self.bytes_mut()), header }
    }

    /// The bytes of a frame of level 0, for a page to be put into them as a whole.
    fn bytes_mut(&mut self) -> &mut PageBytes {
        assert!(self.header().level.load(Ordering::Relaxed) == 0, "inner pages are changed in a copy");
        // SAFETY: the exclusive latch excludes all holders of latches; the level is 0, and no optimistic reader that saw
        // a higher level of this frame is still inside (`retype` and `discard` waited), so no other thread reads these bytes.
        unsafe { &mut *self.pool.bytes_at(self.frame) }
    }

    /// Puts a page built elsewhere into the frame, whatever it held before.
    pub fn set_page(&mut self, page: &PageBytes) {
        let header = self.header();
        header.set_changed(header.changed().with(Lines::differing(self.page().0, page)));
        let (old, new) = (header.level.load(Ordering::Relaxed), Page(page).level());
        if old > 0 && new > 0 {
            inner::store(self.pool.words(self.frame).0, page);
        } else {
            self.retype_to_plain();
            *self.bytes_mut() = *page;
        }
        self.set_level(new);
    }

    /// After this the bytes may be written plainly.
    pub fn retype_to_plain(&mut self) {
        let header = self.header();
        if header.level.load(Ordering::Relaxed) > 0 {
            header.level.store(0, Ordering::Release);
            self.pool.readers.quiesce();
        }
    }

    /// Tells optimistic readers what the bytes, complete now, are.
    pub fn set_level(&mut self, level: u8) {
        // Release pairs with the Acquire load in the descent: the plain writes before are seen.
        self.header().level.store(level, Ordering::Release);
    }

    /// Notes that the change of this record is in the page. For inner pages the lsn is in the copy already.
    #[inline]
    pub fn logged(&mut self, range: LsnRange) {
        let header = self.header();
        if header.level.load(Ordering::Relaxed) == 0 {
            self.page_mut().set_lsn(range.end.0);
        }
        if header.rec_lsn.load(Ordering::Relaxed) == 0 {
            header.rec_lsn.store(range.start.0, Ordering::Relaxed);
        }
        if header.referenced.load(Ordering::Relaxed) == 0 {
            header.referenced.store(1, Ordering::Relaxed);
        }
    }

    /// Notes that a leaf has a change that no record tells of: the next checkpoint writes the page. Its lsn, which stays.
    pub fn changed(&mut self) -> Lsn {
        let lsn = self.page().lsn();
        let header = self.header();
        if header.rec_lsn.load(Ordering::Relaxed) == 0 {
            // The page's last record begins before that, and every checkpoint to come behind it.
            header.rec_lsn.store(lsn - 1, Ordering::Relaxed);
        }
        if header.referenced.load(Ordering::Relaxed) == 0 {
            header.referenced.store(1, Ordering::Relaxed);
        }
        Lsn(lsn)
    }

    /// Notes that this record rebuilds the page as a whole.
    pub fn formatted(&mut self, range: LsnRange) {
        self.header().format_lsn.store(range.start.0, Ordering::Relaxed);
        self.logged(range);
    }
}

/// A page that is changed in its frame, which notes the lines when this is dropped.
pub(crate) struct ChangedPage<'a> {
    page: PageMut<'a>,
    header: &'a FrameHeader,
}

impl<'a> Deref for ChangedPage<'a> {
    type Target = PageMut<'a>;

    #[inline]
    fn deref(&self) -> &PageMut<'a> {
        &self.page
    }
}

impl<'a> DerefMut for ChangedPage<'a> {
    #[inline]
    fn deref_mut(&mut self) -> &mut PageMut<'a> {
        &mut self.page
    }
}

impl Drop for ChangedPage<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.page.changed() != Lines::NONE {
            self.header.set_changed(self.header.changed().with(self.page.changed()));
        }
    }
}

impl Drop for Exclusive<'_> {
    #[inline]
    fn drop(&mut self) {
        self.header().release_exclusive();
    }
}
