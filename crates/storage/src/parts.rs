//! The frames of a pool that hold no page, in parts: one for each memory node.
//!
//! ```text
//!   part            0, of node 0                 1, of node 1
//!   frames   |used......|fresh..........||used...|fresh.............|
//!   touched  |------------->            ||---------->               |    ahead of what is used
//! ```
//! A thread takes frames of the part that it is near to, and those of the next parts when that has none: a page in the wrong place is
//! better than none. Which page lies in which part follows from who brought it into the pool; nobody moves it. Threads that
//! are near to no node take from all parts in turn. Where the schedulers have one node there is one part, whose memory is
//! nobody's in particular.
//!
//! A part begins at a whole large page of frames, so that its memory can be asked of its node.

use std::ops::Range;
use std::sync::Arc;

use pikepole_contention::sync::atomic::{AtomicUsize, Ordering};
use pikepole_contention::{CachePadded, Spinlock, SpinlockClass, Statistics};
use pikepole_machine::{LARGE_PAGE, NodePart, node_memory};

use crate::page::PAGE_BYTES;

/// The fewest frames of a part that is not the last one, and what all others are multiples of.
const PART_UNIT: u32 = (LARGE_PAGE / PAGE_BYTES) as u32;

/// Untouched memory is kept away from the frames in use: so many times what is in use, and this far at the most. A
/// database that is only looked at takes little memory, and its opening need not share the CPUs with the touching.
const TOUCHED_AHEAD_TIMES: usize = 4;
const TOUCHED_AHEAD_BYTES: usize = 32 << 20;

/// See the module.
pub(crate) struct Parts {
    parts: Box<[CachePadded<Part>]>,
    /// Frames of each part but the last, which has the rest too.
    part_frames: u32,
    /// Where the next thread that is near to no node begins.
    turn: AtomicUsize,
}

struct Part {
    /// The memory node; `None`: no part has one.
    node: Option<usize>,
    frames: Range<u32>,
    free: Spinlock<FreeFrames>,
    /// Bytes from its start on that have been touched ahead of their use, or never will be.
    touched: AtomicUsize,
}

struct FreeFrames {
    list: Vec<u32>,
    /// Frames whose memory was given back to the system.
    cold: Vec<u32>,
    /// Frames from here on were never used.
    fresh: u32,
    /// Frames from here on have been granted no memory.
    granted: u32,
}

/// Memory that is to be touched.
pub(crate) struct Untouched {
    part: usize,
    /// Bytes of the pool.
    pub bytes: Range<usize>,
    /// Where the part's bytes begin.
    start: usize,
}

/// What a part of a pool holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartUse {
    /// The memory node that its memory comes from; `None`: nobody said which.
    pub node: Option<usize>,
    /// Its frames: addresses, with memory or without.
    pub frames: u64,
    /// The most of them that are to hold pages.
    pub target: u64,
    /// Those that hold a page.
    pub pages: u64,
}

impl Parts {
    /// Parts of so many frames for these memory nodes, as equal as can be; one part where no two nodes are named.
    /// None of them has been granted memory unless `granted`.
    pub fn new(frames: u32, nodes: &[usize], granted: bool, statistics: &Arc<Statistics>) -> Parts {
        let count = (nodes.len() as u32).min(frames / PART_UNIT).max(1);
        let part_frames = if count == 1 { frames } else { frames / count / PART_UNIT * PART_UNIT };
        let part = |index: u32| {
            let first = index * part_frames;
            let end = if index + 1 == count { frames } else { first + part_frames };
            let granted = if granted { end } else { first };
            let free = FreeFrames { list: Vec::new(), cold: Vec::new(), fresh: first, granted };
            CachePadded::new(Part {
                node: (count > 1).then(|| nodes[index as usize]),
                frames: first..end,
                free: Spinlock::new(SpinlockClass::BUF_FREE_LIST, statistics, free),
                touched: AtomicUsize::new(0),
            })
        };
        Parts { parts: (0..count).map(part).collect(), part_frames, turn: AtomicUsize::new(0) }
    }

    /// The parts of a region that has so many bytes for each frame; none when there is but one part.
    pub fn of_region(&self, frame_bytes: usize) -> Vec<NodePart> {
        let part =
            |part: &CachePadded<Part>| Some(NodePart { node: part.node?, end: part.frames.end as usize * frame_bytes });
        self.parts.iter().filter_map(part).collect()
    }

    fn part_of(&self, frame: u32) -> usize {
        ((frame / self.part_frames) as usize).min(self.parts.len() - 1)
    }

    /// The part that the calling thread looks into first.
    fn near(&self) -> usize {
        if self.parts.len() == 1 {
            return 0;
        }
        let part_of = |node| self.parts.iter().position(|part| part.node == Some(node));
        let of_node = node_memory::near().and_then(part_of);
        of_node.unwrap_or_else(|| self.turn.fetch_add(1, Ordering::Relaxed) % self.parts.len())
    }

    /// A frame that holds no page, as near as there is one.
    pub fn take(&self) -> Option<u32> {
        let (near, count) = (self.near(), self.parts.len());
        (0..count).find_map(|step| self.take_of((near + step) % count))
    }

    /// The same, but a frame of the nearest part or none.
    pub fn take_near(&self) -> Option<u32> {
        self.take_of(self.near())
    }

    fn take_of(&self, part: usize) -> Option<u32> {
        let mut free = self.parts[part].free.lock();
        match free.list.pop() {
            None if free.fresh < free.granted => {
                free.fresh += 1;
                Some(free.fresh - 1)
            }
            frame => frame,
        }
    }

    /// Whether there are several, of which one is near.
    pub fn are_several(&self) -> bool {
        self.parts.len() > 1
    }

    /// Gives a frame back.
    pub fn give(&self, frame: u32) {
        self.parts[self.part_of(frame)].free.lock().list.push(frame);
    }

    /// Frames that have memory, or have been granted it.
    pub fn granted(&self) -> usize {
        let of = |part: &CachePadded<Part>| {
            let free = part.free.lock();
            (free.granted - part.frames.start) as usize - free.cold.len()
        };
        self.parts.iter().map(of).sum()
    }

    /// Grants memory to so many frames more, as near as there are some; to how many.
    pub fn grant(&self, count: usize) -> usize {
        let (near, parts) = (self.near(), self.parts.len());
        let mut left = count;
        for step in 0..parts {
            let part = &self.parts[(near + step) % parts];
            let mut free = part.free.lock();
            let warmed = left.min(free.cold.len());
            let at = free.cold.len() - warmed;
            let frames = free.cold.split_off(at);
            free.list.extend(frames);
            left -= warmed;
            let fresh = left.min((part.frames.end - free.granted) as usize);
            free.granted += fresh as u32;
            left -= fresh;
        }
        count - left
    }

    /// Takes free frames out, up to so many, ascending. Their memory is to be given back, and then they go to [`Parts::cool`].
    pub fn take_many(&self, count: usize) -> Vec<u32> {
        let mut taken = Vec::new();
        for part in &self.parts {
            let mut free = part.free.lock();
            while taken.len() < count {
                match free.list.pop() {
                    Some(frame) => taken.push(frame),
                    None if free.fresh < free.granted => {
                        taken.push(free.fresh);
                        free.fresh += 1;
                    }
                    None => break,
                }
            }
        }
        taken.sort_unstable();
        taken
    }

    /// Keeps frames that have no memory any more.
    pub fn cool(&self, frames: &[u32]) {
        for &frame in frames {
            self.parts[self.part_of(frame)].free.lock().cold.push(frame);
        }
    }

    /// Frames that memory is to be granted to before it can be touched ahead.
    pub fn ungranted(&self, worth: usize) -> usize {
        let of = |part: &Part| {
            let (fresh, granted) = {
                let free = part.free.lock();
                (free.fresh, free.granted)
            };
            let wanted = part.frames.start as usize + self.wanted_bytes(part, fresh, worth) / PAGE_BYTES;
            wanted.saturating_sub(granted as usize)
        };
        if self.is_touched_at_use() { 0 } else { self.parts.iter().map(|part| of(part)).sum() }
    }

    fn is_touched_at_use(&self) -> bool {
        self.parts.iter().all(|part| part.touched.load(Ordering::Relaxed) == usize::MAX)
    }

    /// Bytes from the start of a part that are to be touched when its frames up to `fresh` were used.
    fn wanted_bytes(&self, part: &Part, fresh: u32, worth: usize) -> usize {
        // What is not worth a frame yet is not worth touching either.
        let to_come = worth.saturating_sub(self.used().count());
        let bytes_used = (fresh - part.frames.start) as usize * PAGE_BYTES;
        let ahead = (bytes_used * TOUCHED_AHEAD_TIMES).min(TOUCHED_AHEAD_BYTES).min(to_come * PAGE_BYTES);
        (bytes_used + ahead).min(part.frames.len() * PAGE_BYTES)
    }

    /// The frames of each part that ever held a page.
    pub fn used(&self) -> Used {
        let used = |part: &CachePadded<Part>| part.frames.start..part.free.lock().fresh;
        Used { ranges: self.parts.iter().map(used).collect() }
    }

    /// The use of each part, where so many frames of all are to hold pages.
    pub fn uses(&self, target: usize) -> impl Iterator<Item = PartUse> {
        let all: u64 = self.parts.iter().map(|part| part.frames.len() as u64).sum();
        self.parts.iter().map(move |part| {
            let free = part.free.lock();
            let pages = (free.fresh - part.frames.start) as u64 - (free.list.len() + free.cold.len()) as u64;
            let frames = part.frames.len() as u64;
            PartUse { node: part.node, frames, target: frames * target as u64 / all.max(1), pages }
        })
    }

    /// Notes that all memory is there, or is to come at its first use.
    pub fn touch_nothing(&self) {
        for part in &self.parts {
            part.touched.store(usize::MAX, Ordering::Relaxed);
        }
    }

    /// The memory that will be used next and should be touched, if there is some; no more of the pool than `worth` frames.
    pub fn untouched(&self, worth: usize) -> Option<Untouched> {
        self.parts.iter().enumerate().find_map(|(index, part)| {
            let (fresh, granted) = {
                let free = part.free.lock();
                (free.fresh, free.granted)
            };
            let granted = (granted - part.frames.start) as usize * PAGE_BYTES;
            let wanted = self.wanted_bytes(part, fresh, worth).min(granted);
            let touched = part.touched.load(Ordering::Relaxed);
            let start = part.frames.start as usize * PAGE_BYTES;
            (touched < wanted).then(|| Untouched { part: index, bytes: start + touched..start + wanted, start })
        })
    }

    /// Notes what was touched of it: all up to the byte `end` of the pool; `None`: it cannot be, and each page is left to its first use.
    pub fn touched(&self, untouched: &Untouched, end: Option<usize>) {
        let touched = end.map_or(usize::MAX, |end| end - untouched.start);
        self.parts[untouched.part].touched.store(touched, Ordering::Relaxed);
    }
}

/// The frames that ever held a page, at one moment.
pub(crate) struct Used {
    ranges: Vec<Range<u32>>,
}

impl Used {
    pub fn count(&self) -> usize {
        self.ranges.iter().map(ExactSizeIterator::len).sum()
    }

    /// All of them, ascending.
    pub fn frames(&self) -> impl Iterator<Item = u32> {
        self.ranges.iter().cloned().flatten()
    }

    /// The one behind `frame`, the first one behind the last; `frame` itself when there is none.
    pub fn after(&self, frame: u32) -> u32 {
        let next = frame + 1;
        let behind = self.ranges.iter().find(|used| next < used.end && !used.is_empty());
        let first = || self.ranges.iter().find(|used| !used.is_empty()).map(|used| used.start);
        behind.map(|used| next.max(used.start)).or_else(first).unwrap_or(frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(frames: u32, nodes: &[usize]) -> Parts {
        Parts::new(frames, nodes, true, &Statistics::new())
    }

    fn take_near(parts: &Parts, node: Option<usize>, count: usize) -> Vec<u32> {
        node_memory::set_near(node);
        let taken = (0..count).map(|_| parts.take().expect("a frame")).collect();
        node_memory::set_near(None);
        taken
    }

    #[test]
    fn one_node_or_few_frames_are_one_part() {
        for (frames, nodes) in [(10_000, &[][..]), (10_000, &[3]), (PART_UNIT + 1, &[0, 1])] {
            let parts = parts(frames, nodes);
            assert!(parts.of_region(PAGE_BYTES).is_empty());
            let whole = PartUse { node: None, frames: frames.into(), target: 1_000, pages: 0 };
            assert_eq!(parts.uses(1_000).collect::<Vec<_>>(), [whole]);
        }
    }

    #[test]
    fn parts_are_whole_large_pages_and_the_last_has_the_rest() {
        let parts = parts(3 * PART_UNIT + 100, &[0, 2, 5]);
        let node = |node, end: usize| NodePart { node, end };
        let unit = LARGE_PAGE;
        let ends = [node(0, unit), node(2, 2 * unit), node(5, 3 * unit + 100 * PAGE_BYTES)];
        assert_eq!(parts.of_region(PAGE_BYTES), ends);
        let bounds = [0, PART_UNIT - 1, PART_UNIT, 3 * PART_UNIT - 1, 3 * PART_UNIT + 99];
        assert_eq!(bounds.map(|frame| parts.part_of(frame)), [0, 0, 1, 2, 2]);
    }

    #[test]
    fn a_thread_takes_what_is_near_and_then_what_there_is() {
        let parts = parts(2 * PART_UNIT, &[4, 7]);
        assert_eq!(take_near(&parts, Some(7), 3), [PART_UNIT, PART_UNIT + 1, PART_UNIT + 2]);
        assert_eq!(take_near(&parts, Some(4), 2), [0, 1]);
        parts.give(1);
        parts.give(PART_UNIT + 1);
        assert_eq!(take_near(&parts, Some(4), 2), [1, 2]);
        assert_eq!(take_near(&parts, Some(7), 2), [PART_UNIT + 1, PART_UNIT + 3]);
        let uses: Vec<_> = parts.uses(100).map(|part| (part.node, part.target, part.pages)).collect();
        assert_eq!(uses, [(Some(4), 50, 3), (Some(7), 50, 4)]);
        let rest = take_near(&parts, Some(7), 2 * PART_UNIT as usize - 7);
        assert_eq!((rest[0], rest[rest.len() - 1]), (PART_UNIT + 4, PART_UNIT - 1), "the other part's come last");
        assert_eq!(parts.take(), None);
    }

    #[test]
    fn frames_without_memory_are_granted_some_before_they_are_taken() {
        let parts = Parts::new(2 * PART_UNIT, &[], false, &Statistics::new());
        assert_eq!((parts.take(), parts.granted()), (None, 0));
        assert_eq!((parts.grant(3), parts.granted()), (3, 3));
        let taken: Vec<Option<u32>> = (0..4).map(|_| parts.take()).collect();
        assert_eq!(taken, [Some(0), Some(1), Some(2), None]);
        parts.give(2);
        parts.give(0);
        assert_eq!(parts.take_many(1), [0]);
        parts.cool(&[0]);
        assert_eq!(parts.granted(), 2);
        assert_eq!((parts.take(), parts.take()), (Some(2), None));
        assert_eq!(parts.uses(1).map(|part| part.pages).sum::<u64>(), 2);
        assert_eq!(parts.grant(2), 2);
        assert_eq!((parts.take(), parts.take(), parts.take()), (Some(0), Some(3), None), "cold ones first");
        assert_eq!(parts.grant(10_000), 2 * PART_UNIT as usize - 4);
    }

    #[test]
    fn threads_of_no_node_take_turns() {
        let parts = parts(2 * PART_UNIT, &[0, 1]);
        assert_eq!(take_near(&parts, None, 4), [0, PART_UNIT, 1, PART_UNIT + 1]);
        assert_eq!(take_near(&parts, Some(9), 2), [2, PART_UNIT + 2], "nor of one that has no part");
    }

    #[test]
    fn the_hand_goes_through_what_was_used() {
        let three = parts(3 * PART_UNIT, &[0, 1, 2]);
        assert_eq!(three.used().after(0), 0);
        take_near(&three, Some(1), 2);
        assert_eq!((three.used().after(0), three.used().after(PART_UNIT)), (PART_UNIT, PART_UNIT + 1));
        assert_eq!(three.used().after(PART_UNIT + 1), PART_UNIT, "round");
        take_near(&three, Some(0), 1);
        take_near(&three, Some(2), 1);
        let used = three.used();
        assert_eq!(used.frames().collect::<Vec<_>>(), [0, PART_UNIT, PART_UNIT + 1, 2 * PART_UNIT]);
        let round = [0, PART_UNIT, PART_UNIT + 1, 2 * PART_UNIT].map(|frame| used.after(frame));
        assert_eq!(round, [PART_UNIT, PART_UNIT + 1, 2 * PART_UNIT, 0]);
    }

    #[test]
    fn memory_is_touched_ahead_in_the_parts_that_are_used() {
        let parts = parts(2 * 16 * PART_UNIT, &[0, 1]);
        let all = 2 * 16 * PART_UNIT as usize;
        assert!(parts.untouched(all).is_none(), "what nobody uses is not touched");
        take_near(&parts, Some(1), 10);
        let start = 16 * LARGE_PAGE;
        let untouched = parts.untouched(all).expect("some");
        assert_eq!(untouched.bytes, start..start + 10 * (1 + TOUCHED_AHEAD_TIMES) * PAGE_BYTES);
        parts.touched(&untouched, Some(untouched.bytes.end));
        assert!(parts.untouched(all).is_none());
        take_near(&parts, Some(1), 5);
        assert!(parts.untouched(15 + 3).is_none(), "what is not worth a frame");
        let untouched = parts.untouched(all).expect("more");
        assert_eq!(untouched.bytes, start + 50 * PAGE_BYTES..start + 75 * PAGE_BYTES);
        parts.touched(&untouched, None);
        take_near(&parts, Some(1), 100);
        assert!(parts.untouched(all).is_none(), "a kernel that cannot do it is asked once");
    }
}
