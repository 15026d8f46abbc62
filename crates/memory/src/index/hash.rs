//! The hash index: one list of all nodes in the order of their reversed hashes, and buckets that lead into it.
//!
//! ```text
//!   buckets   [0]           [1]        [2]   [3] ...       each is its own mark in the list
//!              |             |                |
//!   list      [0] a b c [2] [1] d e [..] f g [3] h --> end
//! ```
//! In this order the nodes of a bucket stay together when the number of buckets doubles: a new bucket's mark is put in the middle of an
//! old one's nodes, and nothing moves (split-ordered lists: Shalev and Shavit, 2006). Nodes leave as Michael's lists have it
//! (2002): the link of one that leaves is marked, then it is unlinked. The buckets double when somebody who puts
//! a node in walks far and there are more nodes than buckets. Nodes of one key are beside each other, new ones first.
//!
//! | a bucket's link | means | who changes it |
//! |---|---|---|
//! | `VACANT` | it is not in the list | who wants it first, to `COMING` |
//! | a link with the bit `COMING` | that thread is putting it there; others begin at its parent | that thread; a thread that comes to it by the list takes the bit away |
//! | a link | it is in the list | as any other link |

use std::hash::BuildHasher;
use std::ptr::NonNull;

use crossbeam_epoch::Guard;
use hashbrown::DefaultHashBuilder;
use pikepole_contention::SlotCounter;
use pikepole_contention::fault::planted;
use pikepole_contention::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use super::Wish;
use crate::guarded::Guarded;
use crate::node::{Link, Node, is_marked, prefetch_row, unmarked};

/// Nodes that somebody may pass to put one in before it is asked if there are more nodes than buckets.
const WALK_MAX: usize = if cfg!(shuttle) { 2 } else { 8 };
const BUCKETS_MAX: usize = 1 << 30;
/// Buckets that an index can be asked to begin with; it comes to more by doubling.
const FIRST_MAX: usize = 1 << 20;

/// The link of a bucket that is not in the list. It is no address of a link, since those are even.
const VACANT: usize = 3;
/// The bit of the link of a bucket that is being put there.
const COMING: usize = 2;

/// The place of a node in the list.
#[derive(Clone, Copy)]
pub(crate) struct HashPlace<'k> {
    pub order: u64,
    pub key: &'k [u8],
}

/// See the module.
pub(crate) struct HashIndex {
    hasher: DefaultHashBuilder,
    first: usize,
    size: AtomicUsize,
    /// Nodes that were put in, and that have left.
    put: SlotCounter,
    left: SlotCounter,
    /// The first buckets, and as many again for each doubling.
    segments: [AtomicPtr<Link>; 32],
}

/// The order of a bucket's mark: even, before all nodes of the bucket.
fn order_of_bucket(bucket: usize) -> u64 {
    (bucket as u64).reverse_bits() & !1
}

/// The node that a link belongs to; None: it is a bucket's.
fn node_of(link: Guarded<'_, Link>) -> Option<NonNull<Node>> {
    (link.order & 1 == 1).then(|| link.pointer().cast())
}

/// The position of the bytes of a link against a place: -1, 0 or 1 as the orderings say.
fn compare<'g>(link: Guarded<'g, Link>, place: HashPlace<'_>, guard: &'g Guard) -> std::cmp::Ordering {
    let by_key = || match node_of(link) {
        // SAFETY: the link is the head of the node.
        Some(node) => unsafe { Guarded::new(node, guard) }.key().cmp(place.key),
        None => std::cmp::Ordering::Equal,
    };
    link.order.cmp(&place.order).then_with(by_key)
}

/// The end of a way into the list.
struct Found<'g> {
    /// The link before the first node that is not before the place, or that is behind it.
    before: &'g AtomicPtr<Link>,
    at: Option<Guarded<'g, Link>>,
    walked: usize,
}

impl Found<'_> {
    fn at_raw(&self) -> *mut Link {
        self.at.map_or(std::ptr::null_mut(), Guarded::as_ptr)
    }
}

impl HashIndex {
    pub fn new(buckets: usize) -> HashIndex {
        let first = buckets.clamp(1, FIRST_MAX).next_power_of_two();
        let segments = std::array::from_fn(|_| AtomicPtr::new(std::ptr::null_mut()));
        let (put, left) = (SlotCounter::new(), SlotCounter::new());
        let (hasher, size) = (DefaultHashBuilder::default(), AtomicUsize::new(first));
        let index = HashIndex { hasher, first, size, put, left, segments };
        index.bucket(0).next.store(std::ptr::null_mut(), Ordering::Relaxed);
        index
    }

    pub fn buckets(&self) -> usize {
        self.size.load(Ordering::Relaxed)
    }

    /// Bytes of the buckets that were made.
    pub fn buckets_bytes(&self) -> u64 {
        let is_made = |segment: &usize| !self.segments[*segment].load(Ordering::Relaxed).is_null();
        let made = (0..self.segments.len()).filter(is_made).map(|segment| self.segment_len(segment));
        (made.sum::<usize>() * size_of::<Link>()) as u64
    }

    /// Buckets of a segment.
    fn segment_len(&self, segment: usize) -> usize {
        if segment == 0 { self.first } else { self.first << (segment - 1) }
    }

    fn bucket(&self, bucket: usize) -> &Link {
        let segment = if bucket < self.first { 0 } else { (bucket / self.first).ilog2() as usize + 1 };
        let begin = if segment == 0 { 0 } else { self.segment_len(segment) };
        // Acquire pairs with the AcqRel that has put the segment there.
        let mut buckets = self.segments[segment].load(Ordering::Acquire);
        if buckets.is_null() {
            buckets = self.make_segment(segment, begin);
        }
        // SAFETY: a segment has `segment_len` buckets, stays as long as the index, and this is one of them.
        unsafe { &*buckets.add(bucket - begin) }
    }

    #[cold]
    fn make_segment(&self, segment: usize, begin: usize) -> *mut Link {
        let vacant = |bucket| Link {
            next: AtomicPtr::new(std::ptr::without_provenance_mut(VACANT)),
            order: order_of_bucket(begin + bucket),
        };
        let new: Box<[Link]> = (0..self.segment_len(segment)).map(vacant).collect();
        let len = new.len();
        let new = Box::into_raw(new).cast::<Link>();
        // AcqRel pairs with the Acquire of `bucket`, here too if another thread was first.
        match self.segments[segment].compare_exchange(std::ptr::null_mut(), new, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => new,
            Err(theirs) => {
                // SAFETY: it was made above and no other thread has seen it.
                drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(new, len)) });
                theirs
            }
        }
    }

    /// The order of a key's nodes, by the bytes that are hashed.
    pub fn order_of(&self, group: &[u8]) -> u64 {
        self.hasher.hash_one(group).reverse_bits() | 1
    }

    /// The mark of the bucket that nodes of this order are behind.
    #[inline]
    fn mark_of<'g>(&'g self, order: u64, guard: &'g Guard) -> &'g Link {
        // Relaxed: with the former number of buckets the way is longer.
        let size = self.size.load(Ordering::Relaxed);
        self.mark(order.reverse_bits() as usize & (size - 1), guard)
    }

    /// The mark of a bucket, or one before it.
    #[inline]
    fn mark<'g>(&'g self, bucket: usize, guard: &'g Guard) -> &'g Link {
        let mark = self.bucket(bucket);
        // Acquire pairs with the AcqRel that has put the link there.
        if mark.next.load(Ordering::Acquire).addr() & COMING == 0 { mark } else { self.put_mark(bucket, mark, guard) }
    }

    /// Puts a bucket's mark into the list, behind that of the bucket that it was part of. A thread that finds another one at that uses the
    /// mark of the former bucket.
    #[cold]
    fn put_mark<'g>(&'g self, bucket: usize, mark: &'g Link, guard: &'g Guard) -> &'g Link {
        let parent = self.mark(bucket & !(1 << bucket.ilog2()), guard);
        let (vacant, coming) = (std::ptr::without_provenance_mut(VACANT), std::ptr::without_provenance_mut(COMING));
        if mark.next.compare_exchange(vacant, coming, Ordering::Relaxed, Ordering::Relaxed).is_err() {
            return parent;
        }
        let place = HashPlace { order: mark.order, key: &[] };
        loop {
            let found = self.seek(parent, place, false, guard);
            let next = found.at_raw();
            mark.next.store(next.map_addr(|addr| addr | COMING), Ordering::Relaxed);
            let own = std::ptr::from_ref(mark).cast_mut();
            // AcqRel: pairs with the Acquire of those who walk.
            if found.before.compare_exchange(next, own, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                settle(mark);
                return mark;
            }
        }
    }

    /// The link before the first node that is not before `place`, or with `past` the first that is behind it, and that node. Nodes on the
    /// way that leave are unlinked.
    fn seek<'g>(&'g self, from: &'g Link, place: HashPlace<'_>, past: bool, guard: &'g Guard) -> Found<'g> {
        'again: loop {
            let mut walked = 0;
            let mut before = &from.next;
            loop {
                // Acquire pairs with the AcqRel that has put the link there.
                let at = before.load(Ordering::Acquire);
                if is_marked(at) {
                    // The one before leaves: its link must not be changed. A mark never leaves.
                    continue 'again;
                }
                // SAFETY: a node that was linked while the guard is held stays alive as long as it, marks as long as the index.
                let Some(link) = (unsafe { Guarded::of_raw(at, guard) }) else {
                    return Found { before, at: None, walked };
                };
                prefetch_row(at.cast());
                let mut next = link.next.load(Ordering::Acquire);
                if next.addr() & COMING != 0 {
                    // The mark of a bucket, which is linked: it was come to.
                    next = settle(link.get());
                }
                if is_marked(next) {
                    // AcqRel: who comes by it sees what is behind.
                    let unlinked = before.compare_exchange(at, unmarked(next), Ordering::AcqRel, Ordering::Relaxed);
                    if unlinked.is_err() {
                        continue 'again;
                    }
                    continue;
                }
                let order = compare(link, place, guard);
                if order.is_gt() || order.is_eq() && !past {
                    return Found { before, at: Some(link), walked };
                }
                walked += 1;
                before = &link.get().next;
            }
        }
    }

    /// Puts a node in front of those of its key, unless `check` refuses one of these. Two who put nodes of one key at the same time
    /// see each other: the later one's exchange fails, and it checks the earlier one's.
    pub fn put<'g, E>(
        &'g self,
        node: Guarded<'g, Node>,
        guard: &'g Guard,
        mut check: impl FnMut(Guarded<'g, Node>) -> Result<(), E>,
    ) -> Result<(), E> {
        let place = HashPlace { order: node.link.order, key: node.key() };
        let mut is_checked = false;
        loop {
            let found = self.seek(self.mark_of(place.order, guard), place, false, guard);
            let mut same = found.at.filter(|at| compare(*at, place, guard).is_eq());
            while let Some(other) = same.and_then(node_of).filter(|_| !is_checked) {
                // SAFETY: it was linked while the guard is held.
                let other = unsafe { Guarded::new(other, guard) };
                if !other.is_leaving() {
                    check(other)?;
                }
                same = following(&other.get().link, guard).filter(|at| compare(*at, place, guard).is_eq());
            }
            is_checked = planted("memory: keys are compared once");
            if found.walked > WALK_MAX {
                self.grow_if_due();
            }
            let (next, own) = (found.at_raw(), node.pointer().cast::<Link>().as_ptr());
            node.link.next.store(next, Ordering::Relaxed);
            if planted("memory: nodes are linked without looking") {
                found.before.store(own, Ordering::Release);
                return Ok(());
            }
            // AcqRel: pairs with the Acquire of those who walk, and of the next one who puts a node of the key: it sees the version that
            // this one leads to.
            if found.before.compare_exchange(next, own, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                self.put.add(1);
                return Ok(());
            }
        }
    }

    /// Doubles the buckets if there are more nodes. The way to a node is longer than it will be while marks are missing, so its length alone
    /// says nothing.
    #[cold]
    fn grow_if_due(&self) {
        let size = self.size.load(Ordering::Relaxed);
        let nodes = self.put.sum().saturating_sub(self.left.sum());
        if size < BUCKETS_MAX && nodes > size as u64 {
            // Who comes second has found it done. Relaxed: see `mark_of`.
            _ = self.size.compare_exchange(size, size * 2, Ordering::Relaxed, Ordering::Relaxed);
        }
    }

    /// Takes a node out: no walk comes to it any more but those that hold guards.
    pub fn remove<'g>(&'g self, node: Guarded<'g, Node>, guard: &'g Guard) {
        node.leave();
        let place = HashPlace { order: node.link.order, key: node.key() };
        self.seek(self.mark_of(place.order, guard), place, true, guard);
        self.left.add(1);
    }

    /// Gives the nodes of a key, which may have bytes behind the `group` that are hashed.
    pub fn find<'g>(
        &'g self,
        key: &[u8],
        group: usize,
        guard: &'g Guard,
        mut give: impl FnMut(Guarded<'g, Node>) -> bool,
    ) {
        let place = HashPlace { order: self.order_of(&key[..group]), key };
        let mut at = self.seek(self.mark_of(place.order, guard), place, false, guard).at;
        while let Some(link) = at.filter(|at| compare(*at, place, guard).is_eq()) {
            // SAFETY: the order of a key's place is odd; it was linked while the guard is held.
            let node = unsafe { Guarded::new(link.pointer().cast::<Node>(), guard) };
            if !node.is_leaving() && give(node) {
                return;
            }
            at = following(link.get(), guard);
        }
    }

    /// Gives the nodes behind a place: all, or those of one key, which may have bytes behind it that tell rows apart.
    pub fn walk<'g>(
        &'g self,
        equal: Option<&[u8]>,
        behind: Option<HashPlace<'_>>,
        guard: &'g Guard,
        mut give: impl FnMut(Guarded<'g, Node>) -> Wish,
    ) {
        let order = equal.map(|key| self.order_of(key));
        let place = behind.unwrap_or(HashPlace { order: order.unwrap_or(0), key: equal.unwrap_or(&[]) });
        let mut at = self.seek(self.mark_of(place.order, guard), place, behind.is_some(), guard).at;
        let mut last: Option<Guarded<'g, Node>> = None;
        while let Some(link) = at {
            if order.is_some_and(|order| link.order != order) {
                return;
            }
            if let Some(node) = node_of(link) {
                // SAFETY: it was linked while the guard is held.
                let node = unsafe { Guarded::new(node, guard) };
                if last.is_some_and(|last| last.key() != node.key()) {
                    return;
                }
                let is_wanted = equal.is_none_or(|key| node.key().starts_with(key));
                if is_wanted && !node.is_leaving() {
                    match give(node) {
                        Wish::More => (),
                        Wish::KeyEnd => last = Some(node),
                        Wish::Nothing => return,
                    }
                }
            }
            at = following(link.get(), guard);
        }
    }
}

/// The next one in the list, as a walk sees it: one that leaves still leads on.
fn following<'g>(link: &Link, guard: &'g Guard) -> Option<Guarded<'g, Link>> {
    let next = link.next.load(Ordering::Acquire).map_addr(|addr| addr & !(COMING | 1));
    // SAFETY: as of `seek`.
    unsafe { Guarded::of_raw(next, guard) }
}

/// Says of a bucket's mark that it is in the list; the link that it has.
fn settle(mark: &Link) -> *mut Link {
    loop {
        let next = mark.next.load(Ordering::Acquire);
        let settled = next.map_addr(|addr| addr & !COMING);
        // AcqRel: who begins at the mark from now on sees what is behind it.
        if next == settled || mark.next.compare_exchange(next, settled, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            return settled;
        }
    }
}

impl Drop for HashIndex {
    fn drop(&mut self) {
        // SAFETY: no other thread has the index, and none comes to its rows: they are freed at once.
        let guard = unsafe { crossbeam_epoch::unprotected() };
        let mut at = following(self.bucket(0), guard);
        while let Some(link) = at {
            at = following(link.get(), guard);
            if let Some(node) = node_of(link) {
                // SAFETY: the index is dropped: no other thread has its nodes, and each goes once.
                unsafe { Node::retire(node, guard) };
            }
        }
        for segment in 0..self.segments.len() {
            let buckets = *self.segments[segment].get_mut();
            if !buckets.is_null() {
                let all = std::ptr::slice_from_raw_parts_mut(buckets, self.segment_len(segment));
                // SAFETY: made in `make_segment` with this length, and no other thread has it.
                drop(unsafe { Box::from_raw(all) });
            }
        }
    }
}
