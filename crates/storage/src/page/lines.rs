//! The lines of a page that were changed since the disk had it.
//!
//! ```text
//!   page   | line 0: the header | line 1 | line 2 | ... | line 127 |     64 bytes each
//!   Lines  | bit 0              | bit 1  | ...            bit 127  |
//! ```
//! [`PageMut`] is the one way to change a page's bytes, and notes the lines. A page that is written has line 0 changed in any
//! case: its checksum and its lsn are there. So changes of the header are not noted.
//!
//! # Invariant
//! A frame's lines (`FrameHeader`) are at least those in which its page differs from the page on disk. A page that the disk may
//! lack, or that a failed write has left in an unknown state there, has all of them.

use std::ops::Range;

use crate::fault;

use super::{PAGE_BYTES, PAGE_HEADER_BYTES, Page, PageBytes};

/// Bytes of a line.
const LINE_BYTES: usize = 64;
const LINES: usize = PAGE_BYTES / LINE_BYTES;
const _: () = assert!(LINES == u128::BITS as usize && PAGE_HEADER_BYTES == LINE_BYTES);

/// A set of lines.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Lines(pub u128);

impl Lines {
    pub const NONE: Lines = Lines(0);
    pub const ALL: Lines = Lines(u128::MAX);
    /// The line of the header.
    pub const HEADER: Lines = Lines(1);

    /// The lines of these bytes of a page, which are some.
    #[inline]
    pub fn of(bytes: Range<usize>) -> Lines {
        let (first, last) = (bytes.start / LINE_BYTES, (bytes.end - 1) / LINE_BYTES);
        Lines((u128::MAX << first) & (u128::MAX >> (LINES - 1 - last)))
    }

    /// The lines in which two pages differ.
    pub fn differing(one: &PageBytes, other: &PageBytes) -> Lines {
        let (one, other) = (one.as_chunks::<LINE_BYTES>().0, other.as_chunks::<LINE_BYTES>().0);
        let differs = |line: &usize| one[*line] != other[*line];
        Lines((0..LINES).filter(differs).fold(0, |lines, line| lines | 1 << line))
    }

    #[inline]
    pub fn with(self, other: Lines) -> Lines {
        Lines(self.0 | other.0)
    }

    /// The bytes of neighbouring lines, ascending.
    pub fn runs(self) -> impl Iterator<Item = Range<usize>> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            if left == 0 {
                return None;
            }
            let first = left.trailing_zeros();
            let count = (!(left >> first)).trailing_zeros().min(u128::BITS - first);
            left &= !(u128::MAX >> (u128::BITS - count) << first);
            Some(first as usize * LINE_BYTES..(first + count) as usize * LINE_BYTES)
        })
    }
}

/// A page to change.
pub(crate) struct PageMut<'a> {
    bytes: &'a mut PageBytes,
    changed: Lines,
}

impl<'a> PageMut<'a> {
    pub fn new(bytes: &'a mut PageBytes) -> PageMut<'a> {
        PageMut { bytes, changed: Lines::NONE }
    }

    pub fn as_page(&self) -> Page<'_> {
        Page(self.bytes)
    }

    /// The lines that were changed by this.
    #[inline]
    pub fn changed(&self) -> Lines {
        self.changed
    }

    /// The header, to change.
    #[inline]
    pub fn header(&mut self) -> &mut [u8] {
        &mut self.bytes[..PAGE_HEADER_BYTES]
    }

    /// Some bytes behind the header, to change.
    #[inline]
    pub fn change(&mut self, bytes: Range<usize>) -> &mut [u8] {
        if !bytes.is_empty() && !fault::unnoted_changes() {
            self.changed = self.changed.with(Lines::of(bytes.clone()));
        }
        &mut self.bytes[bytes]
    }

    /// All bytes, to change.
    pub fn change_all(&mut self) -> &mut PageBytes {
        self.changed = Lines::ALL;
        self.bytes
    }

    /// Puts `new` at `at`, which changes the lines that have other bytes there.
    pub fn overwrite(&mut self, at: usize, new: &[u8]) {
        let (mut at, mut new) = (at, new);
        while !new.is_empty() {
            let (here, behind) = new.split_at(new.len().min(LINE_BYTES - at % LINE_BYTES));
            if self.bytes[at..at + here.len()] != *here {
                self.change(at..at + here.len()).copy_from_slice(here);
            }
            (at, new) = (at + here.len(), behind);
        }
    }

    /// Changes the page from end to end by `change`, which may leave much as it was.
    pub fn rearrange(&mut self, change: impl FnOnce(&mut PageMut<'_>, Page<'_>)) {
        let (old, before) = (*self.bytes, self.changed);
        change(self, Page(&old));
        self.changed = before.with(Lines::differing(&old, self.bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_the_lines() {
        let lines =
            |ranges: &[Range<usize>]| ranges.iter().fold(Lines::NONE, |all, one| all.with(Lines::of(one.clone())));
        let runs = |lines: Lines| lines.runs().map(|run| (run.start, run.end)).collect::<Vec<_>>();
        assert_eq!(runs(Lines::NONE), []);
        assert_eq!(runs(Lines::ALL), [(0, 8192)]);
        assert_eq!(runs(Lines::HEADER), [(0, 64)]);
        assert_eq!(runs(lines(&[0..1, 63..65, 200..201, 8191..8192])), [(0, 128), (192, 256), (8128, 8192)]);
        assert_eq!(runs(Lines::of(64..8192)), [(64, 8192)]);
    }

    #[test]
    fn what_is_overwritten_by_the_same_bytes_is_not_changed() {
        let mut bytes = [7; PAGE_BYTES];
        let mut page = PageMut::new(&mut bytes);
        let mut new = [7; 300];
        page.overwrite(100, &new);
        assert_eq!(page.changed(), Lines::NONE);
        (new[0], new[299]) = (8, 9);
        page.overwrite(100, &new);
        assert_eq!(page.changed(), Lines::of(100..101).with(Lines::of(399..400)));
        assert_eq!(bytes[100..400], new);
    }
}
