//! The hash index: a chain of nodes for each bucket, and buckets that grow as nodes come.
//!
//! ```text
//!   bucket 0   a b c e f END(1)        there are 2^1 buckets
//!   bucket 1   g h END(1)
//!
//!   bucket 0   a b c END(2)            bucket 2 was split off: c -> e was exchanged for c -> END(2)
//!   bucket 2   e f END(1)              END(1) and END(2) say the same here: both blocks end before g
//!   bucket 1   g h END(1)
//! ```
//! Chains are in the order of reversed hashes, then of keys, so the nodes that a new bucket takes are the rest of its parent's chain, and
//! nothing moves. The order is that of split-ordered lists (Shalev and Shavit, 2006), but buckets are no links of the list: a search
//! looks at a head of 8 bytes and at nodes, and at nothing behind them. Instead the end of a chain tells how far it goes, as a page of a
//! B-link tree does (Lehman and Yao, 1981): a search that was overtaken by a cut finds it there, and goes on in the bucket that was cut off.
//! Nodes leave as Michael's lists have it (2002): the link of one that leaves is marked, then it is unlinked. Nodes of one key are
//! beside each other, new ones first.
//!
//! # Growth
//! A thread looks after some hundred nodes that it puts, and after a long walk, if there are more nodes than buckets. Then it splits off
//! as many as are missing, up to a limit. They are beside each other, so their heads and those of their parents share lines, and
//! the nodes are asked for ahead. A bucket that the first search for it splits off would cost more misses, and readers would write. A split,
//! by the thread that has claimed the bucket:
//!
//! 1. In the parent's chain find the last link that stays, and the first node S that goes, or the end.
//! 2. Store S | COMING, or a new end, as the head. No other thread uses or changes it yet.
//! 3. Exchange the link that stays: S for the new end. If that fails, again from 1.
//! 4. Take COMING away. A thread that comes to the new end, and wants what is behind it, does this itself: no search waits.
//!
//! # Proof
//! *The rest is what the head says.* The exchange in 3 compares the link with S. A node is put once, and the guard that the thread has held
//! since it found S keeps the address from being another's. So S is linked there, and what is behind it is the rest, whatever has come and
//! gone in between. If there was no S, the link has the end that was seen: chains are cut by the one thread that has claimed
//! the bucket, so the end is not another chain's, and no node is behind the link.
//!
//! *A head that is coming may have a node that has left.* S may be unlinked between 2 and 3. Then 3 fails, since the link is another,
//! and the head is stored again. Only threads that have seen the cut go on at the head, and S was linked when that was made.
//!
//! *A node that was removed is not come to any more.* A node marks its own link first, so neither an exchange before it nor a cut behind it
//! succeeds by that link. [`HashIndex::remove`] then seeks its place: each pair of neighbours that a search finds were neighbours at the moment
//! when the link between them was read, since the first of them was not marked; the end of a chain is a neighbour of all orders up to the
//! end of its block. A pair around the place that has not the node proves that the chain has not, and no other chain ever has its order.
//!
//! *Two nodes of one key see each other.* Both are put by exchanging the link before the key's place. If a cut has come between, the link
//! that the earlier search has found has an end of a greater depth, which its exchange does not expect. Depths only grow.

use std::hash::BuildHasher;

use crossbeam_epoch::Guard;
use hashbrown::DefaultHashBuilder;
use pikepole_contention::SlotCounter;
use pikepole_contention::fault::planted;
use pikepole_contention::sync::atomic::Ordering;
use pikepole_contention::sync::thread;

use super::Wish;
use super::buckets::{
    BUCKETS_MAX, Buckets, Head, Start, behind_block, coming, depth_of_end, end_of, is_in_block, low_of, make_ready,
    parent_of,
};
use crate::guarded::{Guarded, prefetch};
use crate::node::{Node, is_marked, prefetch_row, unmarked};
use crate::statistics::balance;

/// Nodes that a search may pass to put one before it asks if there are more nodes than buckets.
const WALK_MAX: usize = if cfg!(shuttle) { 2 } else { 8 };
/// A thread asks at each so many nodes that it puts, too.
const PUTS_A_LOOK: u64 = if cfg!(shuttle) { 2 } else { 256 };
/// Buckets that one such thread splits off at most.
const SPLITS_MAX: usize = if cfg!(shuttle) { 2 } else { 1024 };
/// Buckets that are split off under one guard when many are reserved.
const RESERVED_A_GUARD: usize = 1 << 14;
/// Splits that are between the prefetch of a chain's first node and the split of that chain.
const SPLITS_AHEAD: usize = 8;
/// Chains that are between the prefetch of a head and the walk along its chain; its first row is asked for at half of them.
const CHAINS_AHEAD: u64 = 16;

/// The place of a node in the order of an index.
#[derive(Clone, Copy)]
pub(crate) struct HashPlace<'k> {
    pub order: u64,
    pub key: &'k [u8],
}

/// See the module.
pub(crate) struct HashIndex {
    hasher: DefaultHashBuilder,
    buckets: Buckets,
    /// Nodes that were put in, less those that have left.
    nodes: SlotCounter,
}

/// The node that a link leads to; None: it ends a chain.
#[inline]
fn node_at<'g>(link: *mut Node, guard: &'g Guard) -> Option<Guarded<'g, Node>> {
    if depth_of_end(link).is_some() {
        return None;
    }
    // SAFETY: it was read from a head or from a node under the guard, so the node was linked while the guard is held, and goes to the
    // epochs after it was unlinked.
    unsafe { Guarded::of_raw(link, guard) }
}

/// The place of a node against another, as the orderings say.
#[inline]
fn compare(node: Guarded<'_, Node>, place: HashPlace<'_>) -> std::cmp::Ordering {
    node.order.cmp(&place.order).then_with(|| match is_same(node.key(), place.key) {
        true => std::cmp::Ordering::Equal,
        false => node.key().cmp(place.key),
    })
}

/// Tells if keys are equal; those of eight bytes without a call.
#[inline(always)]
fn is_same(a: &[u8], b: &[u8]) -> bool {
    match (<&[u8; 8]>::try_from(a), <&[u8; 8]>::try_from(b)) {
        (Ok(a), Ok(b)) => a == b,
        _ => a == b,
    }
}

/// The end of a way into a chain.
struct Found<'g> {
    /// The link before the first node that is not before the place, or that is behind it.
    before: &'g Head,
    /// The order of the node, or of the bucket, that has this link.
    order: u64,
    /// The link as it was read: to that node, or the end of the chain.
    at: *mut Node,
    /// The node is at the place.
    is_equal: bool,
    walked: usize,
}

impl HashIndex {
    pub fn new(buckets: usize) -> HashIndex {
        HashIndex { hasher: DefaultHashBuilder::default(), buckets: Buckets::new(buckets), nodes: SlotCounter::new() }
    }

    pub fn buckets(&self) -> usize {
        self.buckets.len()
    }

    pub fn buckets_bytes(&self) -> u64 {
        self.buckets.bytes()
    }

    /// The order of a key's nodes, by the bytes that are hashed. It is odd: behind the lowest one of its bucket.
    pub fn order_of(&self, group: &[u8]) -> u64 {
        self.hasher.hash_one(group).reverse_bits() | 1
    }

    /// The link before the first node that is not before `place`, or with `past` the first that is behind it, and that node. Nodes on the
    /// way that leave are unlinked.
    #[inline]
    fn seek<'g, const ROWS: bool>(&'g self, place: HashPlace<'_>, past: bool, guard: &'g Guard) -> Found<'g> {
        'again: loop {
            let mut walked = 0;
            let Start { head: mut before, low: mut order } = self.buckets.start(place.order);
            loop {
                // Acquire pairs with the AcqRel that has put the link there.
                let at = before.load(Ordering::Acquire);
                if is_marked(at) {
                    // The one before leaves: its link must not be changed. A head never leaves.
                    continue 'again;
                }
                let Some(node) = node_at(at, guard) else {
                    if self.is_behind_cut(at, order, place.order) {
                        Start { head: before, low: order } = self.buckets.behind_cut(order, place.order);
                        continue;
                    }
                    return Found { before, order, at, is_equal: false, walked };
                };
                if ROWS {
                    prefetch_row(at.cast());
                }
                let next = node.next.load(Ordering::Acquire);
                if is_marked(next) {
                    // AcqRel: a thread that comes by it sees what is behind.
                    let unlinked = before.compare_exchange(at, unmarked(next), Ordering::AcqRel, Ordering::Relaxed);
                    if unlinked.is_err() {
                        continue 'again;
                    }
                    continue;
                }
                let ordering = compare(node, place);
                if ordering.is_gt() || ordering.is_eq() && !past {
                    return Found { before, order, at, is_equal: ordering.is_eq(), walked };
                }
                walked += 1;
                (before, order) = (&node.get().next, node.order);
            }
        }
    }

    /// Returns true if an end of a chain, read behind the order `before`, says that a wanted order is in another bucket.
    #[inline]
    fn is_behind_cut(&self, end: *mut Node, before: u64, wanted: u64) -> bool {
        let is_in_chain = depth_of_end(end).is_some_and(|depth| is_in_block(depth, before, wanted));
        !is_in_chain && !planted("memory: the end of a chain is one for all")
    }

    /// Puts a node in front of those of its key, unless `check` refuses one of these. Two who put nodes of one key at the same time
    /// see each other: the later one's exchange fails, and it checks the earlier one's.
    pub fn put<'g, E>(
        &'g self,
        node: Guarded<'g, Node>,
        guard: &'g Guard,
        mut check: impl FnMut(Guarded<'g, Node>) -> Result<(), E>,
    ) -> Result<(), E> {
        let place = HashPlace { order: node.order, key: node.key() };
        let mut is_checked = false;
        loop {
            let found = self.seek::<false>(place, false, guard);
            let mut same = node_at(found.at, guard).filter(|_| found.is_equal);
            while let Some(other) = same.filter(|_| !is_checked) {
                if !other.is_leaving() {
                    check(other)?;
                }
                same = node_at(following(other), guard).filter(|at| compare(*at, place).is_eq());
            }
            is_checked = planted("memory: keys are compared once");
            let own = node.as_ptr();
            node.next.store(found.at, Ordering::Relaxed);
            if planted("memory: nodes are linked without looking") {
                found.before.store(own, Ordering::Release);
                return Ok(());
            }
            // AcqRel: pairs with the Acquire of those who walk, and of the next one who puts a node of the key: it sees the version that
            // this one leads to.
            if found.before.compare_exchange(found.at, own, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                let of_thread = self.nodes.add_to_own(1);
                if found.walked > WALK_MAX || of_thread.is_multiple_of(PUTS_A_LOOK) {
                    self.grow_if_due(guard);
                }
                return Ok(());
            }
        }
    }

    /// Splits off some of the buckets that are missing until there are as many as nodes.
    #[cold]
    fn grow_if_due(&self, guard: &Guard) {
        let nodes = usize::try_from(balance(&self.nodes)).unwrap_or(usize::MAX);
        let wanted = nodes.saturating_sub(self.buckets.claimed());
        if wanted > 0 {
            self.grow(wanted.min(SPLITS_MAX), guard);
        }
    }

    /// Splits off up to `wanted` buckets; how many.
    fn grow(&self, wanted: usize, guard: &Guard) -> usize {
        let claimed = self.buckets.claim(wanted);
        let count = claimed.len();
        for bucket in claimed {
            if let Some(head) = self.buckets.head(parent_of(bucket).0 + SPLITS_AHEAD) {
                // Relaxed: it is no more than a guess of what will be there.
                prefetch_node(head.load(Ordering::Relaxed));
            }
            self.split_off(bucket, guard);
        }
        self.buckets.note_ready(count);
        count
    }

    /// Makes a bucket ready that the calling thread has claimed. See the module.
    fn split_off(&self, bucket: usize, guard: &Guard) {
        let (parent, depth) = parent_of(bucket);
        let (head, parent) = (self.buckets.head_to_fill(bucket), self.buckets.head_to_fill(parent));
        let (place, new_end) = (HashPlace { order: low_of(bucket), key: &[] }, end_of(depth + 1));
        loop {
            // Acquire pairs with the AcqRel that has put the link there.
            let link = parent.load(Ordering::Acquire);
            let (before, at) = if depth_of_end(link).is_some() {
                (parent, link)
            } else {
                let found = self.seek::<false>(place, false, guard);
                (found.before, found.at)
            };
            let first = if depth_of_end(at).is_some() { new_end } else { at };
            let is_early = planted("memory: a bucket is used before it is cut off");
            // Relaxed: other threads go by it when they have seen the cut.
            head.store(if is_early { first } else { coming(first) }, Ordering::Relaxed);
            if planted("memory: a chain is cut without looking") {
                before.store(new_end, Ordering::Release);
                return make_ready(head);
            }
            // AcqRel pairs with the Acquire of those who walk.
            if before.compare_exchange(at, new_end, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                return make_ready(head);
            }
        }
    }

    /// Splits off buckets until there are as many as nodes that will come. Threads that do so at the same time share the work, and wait
    /// for each other where the number of buckets is a power of two.
    pub fn reserve(&self, nodes: usize) {
        loop {
            let wanted = nodes.min(BUCKETS_MAX).saturating_sub(self.buckets.claimed());
            if wanted == 0 {
                return;
            }
            let guard = crossbeam_epoch::pin();
            if self.grow(wanted.min(RESERVED_A_GUARD), &guard) == 0 {
                drop(guard);
                thread::yield_now();
            }
        }
    }

    /// Asks the processor for the head of a key's bucket.
    pub fn prefetch_head(&self, group: &[u8]) {
        self.buckets.prefetch_head(self.order_of(group));
    }

    /// Asks the processor for the first node of a key's bucket, whose head was asked for.
    pub fn prefetch_node(&self, group: &[u8]) {
        self.prefetch_beside(self.order_of(group));
    }

    /// The same by the order of the key's nodes.
    pub fn prefetch_beside(&self, order: u64) {
        // Relaxed: it is no more than a guess of what will be there.
        prefetch_node(self.buckets.start(order).head.load(Ordering::Relaxed));
    }

    /// Takes a node out: no walk comes to it any more but those that hold guards.
    pub fn remove<'g>(&'g self, node: Guarded<'g, Node>, guard: &'g Guard) {
        node.leave();
        self.seek::<false>(HashPlace { order: node.order, key: node.key() }, true, guard);
        self.nodes.add(1u64.wrapping_neg());
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
        let found = self.seek::<true>(place, false, guard);
        let mut at = node_at(found.at, guard).filter(|_| found.is_equal);
        while let Some(node) = at {
            if !node.is_leaving() && give(node) {
                return;
            }
            at = node_at(following(node), guard).filter(|at| compare(*at, place).is_eq());
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
        let begin = HashPlace { order: order.unwrap_or(0), key: equal.unwrap_or(&[]) };
        let mut found = self.seek::<true>(behind.unwrap_or(begin), behind.is_some(), guard);
        let mut last: Option<Guarded<'g, Node>> = None;
        loop {
            // One that leaves still leads on. It was linked when the walk came to it, and then nothing was between it and what it leads to:
            // what the walk misses has come since.
            while let Some(node) = node_at(found.at, guard) {
                let is_past = order.is_some_and(|order| node.order != order);
                if is_past || last.is_some_and(|last| last.key() != node.key()) {
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
                (found.order, found.at) = (node.order, following(node));
            }
            // Nodes of one order are in one chain.
            let depth = depth_of_end(found.at).filter(|_| order.is_none() && last.is_none());
            let Some(next) = depth.and_then(|depth| behind_block(depth, found.order)) else { return };
            self.prefetch_behind(next, depth.unwrap_or(0));
            found = self.seek::<true>(HashPlace { order: next, key: &[] }, false, guard);
        }
    }

    /// Asks the processor for what a walk over all buckets comes to some chains behind an order, among `2^depth` buckets.
    fn prefetch_behind(&self, order: u64, depth: u32) {
        let behind = |chains: u64| order.checked_add(chains.checked_shl(u64::BITS - depth)?);
        if depth <= CHAINS_AHEAD.ilog2() {
            return;
        }
        if let Some(order) = behind(CHAINS_AHEAD) {
            self.buckets.prefetch_head(order);
        }
        if let Some(order) = behind(CHAINS_AHEAD / 2) {
            // Relaxed: it is no more than a guess of what will be there.
            let link = self.buckets.start(order).head.load(Ordering::Relaxed);
            if depth_of_end(link).is_none() {
                prefetch_row(link.cast());
            }
        }
    }
}

/// Asks the processor for the node that a link leads to. A prefetch of the end's address, where nothing is, costs as much as a miss.
#[inline]
fn prefetch_node(link: *mut Node) {
    if depth_of_end(link).is_none() {
        prefetch(link.cast(), 1);
    }
}

/// The link of a node, as a walk goes by it.
#[inline]
fn following(node: Guarded<'_, Node>) -> *mut Node {
    // Acquire pairs with the AcqRel that has put the link there.
    unmarked(node.next.load(Ordering::Acquire))
}

impl Drop for HashIndex {
    fn drop(&mut self) {
        // SAFETY: no other thread has the index, and none comes to its rows: they are freed at once.
        let guard = unsafe { crossbeam_epoch::unprotected() };
        for mut at in self.buckets.links() {
            while let Some(node) = node_at(at, guard) {
                at = following(node);
                // SAFETY: the index is dropped: no other thread has its nodes, and each goes once.
                unsafe { Node::retire(node.pointer(), guard) };
            }
        }
    }
}
