//! The buckets of a hash index: heads of chains, the words that links have, and the buckets' number, which grows.
//!
//! ```text
//!   segments   0: [first buckets]   1: [as many again]   2: [as many as both] ...     made when a bucket in them is split off
//!   buckets    0 ........ ready ........ claimed ............................ 2^30
//!               ready       |  being split off  |   vacant
//! ```
//! Orders are hashes with their bits reversed, so the block of a bucket, which is all orders that belong to it, is one piece: among 2^d
//! buckets those with the same highest d bits. Bucket `b + 2^d` is the upper half of what was the block of `b`.
//!
//! | a link | means |
//! |---|---|
//! | an address | the next node |
//! | `depth << 3 \| END` | the chain's end. The block is that of 2^depth buckets or a part with the same end: there is nothing behind this link up to there |
//! | either `\| MARK` | the node that has this link is leaving |
//!
//! | a head | means | who changes it |
//! |---|---|---|
//! | 0 | vacant: its nodes are in the chain of its parent | the thread that has claimed it |
//! | a link `\| COMING` | its chain is about to be cut off its parent's, or was | that thread, until it is cut off; then each thread that finds the cut takes the bit away |
//! | a link | ready | as any other link |
//!
//! Buckets are claimed in the order of their numbers, a few at a time, and those from 2^d on when all below are ready: so a bucket's
//! parent is ready before it, and one thread at most is splitting a chain. A thread that stops in the midst of its buckets
//! delays the growth, and nothing else.

use std::ops::Range;

use pikepole_contention::fault::planted;
use pikepole_contention::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use crate::guarded::prefetch;
use crate::node::Node;

/// The most buckets of an index.
pub(super) const BUCKETS_MAX: usize = 1 << 30;
/// Buckets that a definition can ask for; an index comes to more by its rows.
const FIRST_MAX: usize = 1 << 20;

/// The bit of a link that ends a chain.
const END: usize = 4;
const DEPTH_SHIFT: u32 = 3;
/// The bit of the head of a bucket that is not ready.
const COMING: usize = 2;

/// The head of a chain.
pub(super) type Head = AtomicPtr<Node>;

/// See the module.
pub(super) struct Buckets {
    /// Buckets to begin with: a power of two.
    first: usize,
    /// The next bucket to be split off.
    claimed: AtomicUsize,
    /// The number of buckets that are ready. While a power of two is not reached by it, no bucket from there on is claimed.
    ready: AtomicUsize,
    segments: [AtomicPtr<Head>; 32],
}

/// A bucket that a search can begin at.
pub(super) struct Start<'g> {
    pub head: &'g Head,
    /// The lowest order of its block.
    pub low: u64,
}

/// The link that ends a chain whose block is that of `2^depth` buckets.
pub(super) fn end_of(depth: u32) -> *mut Node {
    std::ptr::without_provenance_mut((depth as usize) << DEPTH_SHIFT | END)
}

/// The depth of a link that ends a chain; None: it leads to a node.
#[inline]
pub(super) fn depth_of_end(link: *mut Node) -> Option<u32> {
    (link.addr() & END != 0).then(|| (link.addr() >> DEPTH_SHIFT) as u32)
}

/// The head of a bucket that is being split off.
pub(super) fn coming(link: *mut Node) -> *mut Node {
    link.map_addr(|addr| addr | COMING)
}

/// Returns true if the block of `2^depth` buckets that has `order` has another order, too.
#[inline]
pub(super) fn is_in_block(depth: u32, order: u64, other: u64) -> bool {
    (order ^ other).leading_zeros() >= depth
}

/// The lowest order behind the block of `2^depth` buckets that has `order`; None: it is the last one.
pub(super) fn behind_block(depth: u32, order: u64) -> Option<u64> {
    let inner = u64::MAX.checked_shr(depth).unwrap_or(0);
    (order | inner).checked_add(1)
}

/// The bucket of an order among so many.
#[inline]
pub(crate) fn bucket_of(order: u64, buckets: usize) -> usize {
    let inner = buckets.next_power_of_two() - 1;
    let bucket = order.reverse_bits() as usize & inner;
    if bucket < buckets { bucket } else { bucket & inner >> 1 }
}

/// The lowest order of a bucket.
pub(super) fn low_of(bucket: usize) -> u64 {
    (bucket as u64).reverse_bits()
}

/// The bucket that another is split off, and their depth until then. The bucket is not the first.
pub(super) fn parent_of(bucket: usize) -> (usize, u32) {
    let depth = bucket.ilog2();
    (bucket & !(1 << depth), depth)
}

/// Vacant heads. Memory of many comes from the system as zeros, so no thread pays for all of it.
fn vacant(len: usize) -> Box<[Head]> {
    if cfg!(any(loom, shuttle)) {
        return (0..len).map(|_| Head::new(std::ptr::null_mut())).collect();
    }
    let heads = Box::into_raw(vec![std::ptr::null_mut::<Node>(); len].into_boxed_slice());
    // SAFETY: outside of models a head is a std AtomicPtr, which has the size, alignment and bits of the pointer in it.
    unsafe { Box::from_raw(heads as *mut [Head]) }
}

impl Buckets {
    pub fn new(buckets: usize) -> Buckets {
        let first = buckets.clamp(1, FIRST_MAX).next_power_of_two();
        let end = end_of(first.ilog2());
        let heads: Box<[Head]> = (0..first).map(|_| Head::new(end)).collect();
        let segments: [AtomicPtr<Head>; 32] = std::array::from_fn(|_| AtomicPtr::new(std::ptr::null_mut()));
        segments[0].store(Box::into_raw(heads).cast(), Ordering::Relaxed);
        Buckets { first, claimed: AtomicUsize::new(first), ready: AtomicUsize::new(first), segments }
    }

    /// The number of buckets that are ready.
    pub fn len(&self) -> usize {
        self.ready.load(Ordering::Relaxed)
    }

    /// The number of buckets that are ready or will soon be.
    pub fn claimed(&self) -> usize {
        self.claimed.load(Ordering::Relaxed)
    }

    /// Bytes of the segments that were made.
    pub fn bytes(&self) -> u64 {
        let is_made = |segment: &usize| !self.segments[*segment].load(Ordering::Relaxed).is_null();
        let made = (0..self.segments.len()).filter(is_made).map(|segment| self.segment_len(segment));
        (made.sum::<usize>() * size_of::<Head>()) as u64
    }

    fn segment_len(&self, segment: usize) -> usize {
        if segment == 0 { self.first } else { self.first << (segment - 1) }
    }

    /// The segment of a bucket, and its first bucket.
    #[inline]
    fn segment_of(&self, bucket: usize) -> (usize, usize) {
        if bucket < self.first {
            return (0, 0);
        }
        let begin = 1 << bucket.ilog2();
        (1 + (bucket.ilog2() - self.first.ilog2()) as usize, begin)
    }

    /// The head of a bucket; None: its segment was not made.
    #[inline]
    pub fn head(&self, bucket: usize) -> Option<&Head> {
        let (segment, begin) = self.segment_of(bucket);
        // Acquire pairs with the AcqRel of `make_segment`.
        let heads = self.segments[segment].load(Ordering::Acquire);
        // SAFETY: a segment has `segment_len` heads, stays as long as the index, and this is one of them.
        (!heads.is_null()).then(|| unsafe { &*heads.add(bucket - begin) })
    }

    /// The head of a bucket, in a segment that is made if need be.
    pub fn head_to_fill(&self, bucket: usize) -> &Head {
        loop {
            if let Some(head) = self.head(bucket) {
                return head;
            }
            self.make_segment(self.segment_of(bucket).0);
        }
    }

    #[cold]
    fn make_segment(&self, segment: usize) {
        let len = self.segment_len(segment);
        let new = Box::into_raw(vacant(len)).cast::<Head>();
        // AcqRel pairs with the Acquire of `head`.
        let put =
            self.segments[segment].compare_exchange(std::ptr::null_mut(), new, Ordering::AcqRel, Ordering::Relaxed);
        if put.is_err() {
            // SAFETY: it was made above with this length, and no other thread has seen it.
            drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(new, len)) });
        }
    }

    /// The nearest ready bucket of an order: its own, or one that it is still a part of.
    #[inline]
    pub fn start(&self, order: u64) -> Start<'_> {
        // Relaxed: each number gives a bucket that the order is or was in, and ends of chains lead on from there.
        let mut bucket = bucket_of(order, self.ready.load(Ordering::Relaxed));
        loop {
            if let Some(head) = self.head(bucket) {
                // Acquire pairs with the AcqRel that has put the link there.
                let link = head.load(Ordering::Acquire);
                if !link.is_null() && link.addr() & COMING == 0 {
                    return Start { head, low: low_of(bucket) };
                }
            }
            bucket = parent_of(bucket).0;
        }
    }

    /// Asks the processor for the head of an order's bucket.
    pub fn prefetch_head(&self, order: u64) {
        if let Some(head) = self.head(bucket_of(order, self.len())) {
            prefetch(std::ptr::from_ref(head).cast(), 1);
        }
    }

    /// The bucket behind a cut: a chain has ended before `order`, at a node or a head of the order `before`, and its block has once had
    /// both. It was split where they differ first.
    #[cold]
    pub fn behind_cut(&self, before: u64, order: u64) -> Start<'_> {
        let common = (before ^ order).leading_zeros();
        let bucket = order.reverse_bits() as usize & ((2 << common) - 1);
        let head = self.head_to_fill(bucket);
        make_ready(head);
        Start { head, low: low_of(bucket) }
    }

    /// Claims up to `wanted` buckets that the calling thread splits off then; none while some of those before them are not ready.
    pub fn claim(&self, wanted: usize) -> Range<usize> {
        // Relaxed: an older number is not exchanged.
        let mut begin = self.claimed.load(Ordering::Relaxed);
        loop {
            let level = 1 << begin.ilog2();
            // Acquire pairs with the Release of `note_ready`: this thread sees the cuts of all chains that it splits again.
            let is_due = self.ready.load(Ordering::Acquire) >= level || planted("memory: buckets come in any order");
            if !is_due || begin >= BUCKETS_MAX {
                return begin..begin;
            }
            let end = (begin + wanted).min(level * 2);
            match self.claimed.compare_exchange_weak(begin, end, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return begin..end,
                Err(now) => begin = now,
            }
        }
    }

    /// Notes that claimed buckets are ready.
    pub fn note_ready(&self, buckets: usize) {
        // Release pairs with the Acquire of `claim`; each addition goes on what those before it have released.
        self.ready.fetch_add(buckets, Ordering::Release);
    }

    /// The links of ready heads, of an index that no other thread has.
    pub fn links(&self) -> impl Iterator<Item = *mut Node> {
        let heads = (0..self.claimed()).map_while(|bucket| self.head(bucket));
        let links = heads.map(|head| head.load(Ordering::Relaxed));
        links.filter(|link| !link.is_null() && link.addr() & COMING == 0)
    }
}

/// Makes a bucket ready whose chain was cut off.
pub(super) fn make_ready(head: &Head) {
    loop {
        // Acquire pairs with the AcqRel that has cut it off, by which this thread came here, or with that below.
        let link = head.load(Ordering::Acquire);
        assert!(!link.is_null(), "a bucket is claimed before its chain is cut off");
        let ready = link.map_addr(|addr| addr & !COMING);
        // AcqRel pairs with the Acquire of those who begin at it.
        if link == ready || head.compare_exchange(link, ready, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            return;
        }
    }
}

impl Drop for Buckets {
    fn drop(&mut self) {
        for segment in 0..self.segments.len() {
            let heads = *self.segments[segment].get_mut();
            if !heads.is_null() {
                let all = std::ptr::slice_from_raw_parts_mut(heads, self.segment_len(segment));
                // SAFETY: made in `new` or `make_segment` with this length, and no other thread has it.
                drop(unsafe { Box::from_raw(all) });
            }
        }
    }
}
