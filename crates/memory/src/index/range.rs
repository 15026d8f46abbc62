//! The ordered index: a B+tree whose readers write nothing and wait for nothing but a page that is being changed, read in both directions.
//!
//! ```text
//!              root
//!             /    \
//!        inner      inner                 pages: see `page`
//!        /   \      /   \
//!     leaf  leaf  leaf  leaf --> node of a key --next--> older node of the same key
//! ```
//! On the way down each page's version is noted before its parent's is looked at again (optimistic lock coupling: Leis and others, 2016).
//! A writer splits full pages on its way, so there is room in a parent; it locks two pages at most, and waits for nothing while it has them.
//! Leaves do not know each other: a walk goes down again for each, behind the bound of the one before. A leaf that gets empty leaves the
//! tree, with the pages above it that have no other. A writer whose keys ascend has a finger at the leaf of the last one, and needs no way. Nodes of one key are chained, new ones first, and chains change under their leaf's lock.

use std::ops::Bound as KeyBound;
use std::ptr::NonNull;

use crossbeam_epoch::Guard;
use pikepole_contention::fault::planted;
use pikepole_contention::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use super::finger::Finger;
use super::leaves::Leaves;
use super::page::{Page, SLOTS, Slot};
use super::{KeyRange, Position, RangeBounds, Wish};
use crate::guarded::{Guarded, LINE, prefetch};
use crate::node::{Node, prefetch_row};
use crate::statistics::PageCounts;

/// Rows that a walk asks the processor for before it comes to them.
const AHEAD: usize = 4;

/// See the module.
pub(crate) struct RangeIndex {
    root: AtomicPtr<Page>,
    counters: Box<PageCounters>,
    leaves: Leaves,
}

/// Counts of pages, which change when pages come and go.
#[derive(Default)]
struct PageCounters {
    /// Splits of leaves and of inner pages, and new roots: one page more each.
    leaf_splits: AtomicU64,
    inner_splits: AtomicU64,
    root_splits: AtomicU64,
    split_retries: AtomicU64,
    leaves_removed: AtomicU64,
    inner_removed: AtomicU64,
}

/// A page and the version at which it is read.
type At<'g> = (Guarded<'g, Page>, u64);

/// A step on the way to a leaf.
struct Step<'g> {
    below: At<'g>,
    /// The place of the page below, and of its upper bound if it is not the last one.
    place: usize,
    is_last: bool,
}

/// The way to a leaf.
struct Way<'g> {
    leaf: At<'g>,
    /// The bounds of the leaf's keys: from the first, which belongs to it, to before the second.
    low: Option<&'g [u8]>,
    high: Option<&'g [u8]>,
}

/// A leaf with room for a key.
struct Room<'g> {
    leaf: At<'g>,
    /// The page that has the leaf's upper bound, and its place there; None: it has none.
    high: Option<(At<'g>, usize)>,
}

/// The end of a range that a way leads to.
#[derive(Clone, Copy)]
enum Goal<'k> {
    /// The leaf that has a key, or would have it.
    Key(&'k [u8]),
    /// The leaf of the last key before this one.
    Before(&'k [u8]),
    Last,
}

impl Default for RangeIndex {
    fn default() -> Self {
        let leaves = Leaves::default();
        Self { root: AtomicPtr::new(leaves.take().as_ptr()), counters: Box::default(), leaves }
    }
}

impl RangeIndex {
    pub fn pages(&self) -> PageCounts {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let own = &self.counters;
        let (leaf_splits, inner_splits) = (count(&own.leaf_splits), count(&own.inner_splits));
        let (leaves_removed, inner_removed) = (count(&own.leaves_removed), count(&own.inner_removed));
        PageCounts {
            leaves: (1 + leaf_splits).saturating_sub(leaves_removed),
            inner: (inner_splits + count(&own.root_splits)).saturating_sub(inner_removed),
            splits: leaf_splits + inner_splits,
            split_retries: count(&own.split_retries),
            removed: leaves_removed + inner_removed,
        }
    }

    /// Bytes of the pages, with those that are kept.
    pub fn pages_bytes(&self) -> u64 {
        let pages = self.pages();
        (pages.leaves + self.leaves.count() as u64) * Page::LEAF_BYTES + pages.inner * Page::INNER_BYTES
    }

    /// The root and its version.
    fn begin<'g>(&'g self, guard: &'g Guard) -> Option<At<'g>> {
        // Acquire pairs with the Release of `split`.
        let root = self.root.load(Ordering::Acquire);
        // SAFETY: inner pages go to the epochs after they have left the tree, leaves when the index is dropped; a root leaves it never.
        let page = unsafe { Guarded::of_raw(root, guard) }?;
        let version = page.begin()?;
        // It may have been split before its version was noted, and be the root no more.
        (self.root.load(Ordering::Acquire) == root).then_some((page, version))
    }

    /// The page of an inner one that the goal is behind. None: the page is being changed.
    fn step<'g>(&self, (page, version): At<'g>, goal: Goal<'_>, guard: &'g Guard) -> Option<Step<'g>> {
        let at = match goal {
            Goal::Key(key) => {
                let slot = page.seek(key, guard)?;
                slot.at + usize::from(slot.is_equal)
            }
            Goal::Before(key) => page.seek(key, guard)?.at,
            Goal::Last => page.count(),
        };
        let below = page.page(at, guard)?;
        prefetch_page(below.as_ptr());
        let below_version = below.begin()?;
        let is_last = at == page.count();
        page.is_at(version).then_some(Step { below: (below, below_version), place: at, is_last })
    }

    /// A way to a leaf. None: a page was changed meanwhile.
    fn try_way<'g>(&'g self, goal: Goal<'_>, guard: &'g Guard) -> Option<Way<'g>> {
        let mut at = self.begin(guard)?;
        let (mut low, mut high) = (None, None);
        while !at.0.is_leaf() {
            let Step { below, place, is_last } = self.step(at, goal, guard)?;
            let (page, version) = at;
            if place > 0 {
                low = Some(page.key(place - 1, guard)?);
            }
            if !is_last {
                high = Some(page.key(place, guard)?);
            }
            if !page.is_at(version) {
                return None;
            }
            at = below;
        }
        Some(Way { leaf: at, low, high })
    }

    /// The leaf of a key, read only. None: a page was changed meanwhile.
    fn try_leaf<'g>(&'g self, key: &[u8], guard: &'g Guard) -> Option<At<'g>> {
        let mut at = self.begin(guard)?;
        while !at.0.is_leaf() {
            at = self.step(at, Goal::Key(key), guard)?.below;
        }
        Some(at)
    }

    /// The leaf of a key, with room; full pages on the way are split. None: a page was changed meanwhile.
    fn try_leaf_with_room<'g>(&'g self, key: &[u8], finger: Option<&Finger>, guard: &'g Guard) -> Option<Room<'g>> {
        let mut parent: Option<At<'g>> = None;
        let mut at = self.begin(guard)?;
        let mut high = None;
        loop {
            if at.0.is_full() {
                let from = cut(at.0, key, high.is_none(), finger, guard)?;
                self.split(parent, at, from, guard);
                return None;
            }
            if at.0.is_leaf() {
                return Some(Room { leaf: at, high });
            }
            let Step { below, place, is_last } = self.step(at, Goal::Key(key), guard)?;
            if !is_last {
                high = Some((at, place));
            }
            parent = Some(at);
            at = below;
        }
    }

    /// Splits a full page, unless something has changed.
    #[cold]
    fn split<'g>(&'g self, parent: Option<At<'g>>, (page, version): At<'g>, from: usize, guard: &'g Guard) {
        let is_split = self.split_locked(parent, (page, version), from, guard);
        let own = &self.counters;
        let splits = if page.is_leaf() { &own.leaf_splits } else { &own.inner_splits };
        let counter = if is_split { splits } else { &own.split_retries };
        counter.fetch_add(1, Ordering::Relaxed);
        if is_split && parent.is_none() {
            own.root_splits.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// False: something has changed.
    fn split_locked<'g>(
        &'g self,
        parent: Option<At<'g>>,
        (page, version): At<'g>,
        from: usize,
        guard: &'g Guard,
    ) -> bool {
        if let Some((parent, parent_version)) = parent {
            if !parent.lock(parent_version) {
                return false;
            }
            if !page.lock(version) {
                parent.unlock_unchanged(parent_version);
                return false;
            }
            page.split_below(parent, from, &self.leaves, guard);
            page.unlock(version);
            parent.unlock(parent_version);
            return true;
        }
        if !page.lock(version) {
            return false;
        }
        // Only who has the root's lock makes another the root.
        let is_root = self.root.load(Ordering::Relaxed) == page.as_ptr();
        if is_root {
            let root = page.split_root(from, &self.leaves, guard);
            // Release pairs with the Acquire of `begin`.
            self.root.store(root.as_ptr(), Ordering::Release);
            page.unlock(version);
        } else {
            page.unlock_unchanged(version);
        }
        is_root
    }

    /// The newest node of a key. None: a page was changed meanwhile.
    fn try_find<'g>(&'g self, key: &[u8], guard: &'g Guard) -> Option<Option<Guarded<'g, Node>>> {
        let (leaf, version) = self.try_leaf(key, guard)?;
        let slot = leaf.seek(key, guard)?;
        let node = if slot.is_equal { Some(leaf.node(slot.at, guard)?) } else { None };
        leaf.is_at(version).then_some(node)
    }

    /// Gives the nodes of a key.
    pub fn find<'g>(&'g self, key: &[u8], guard: &'g Guard, give: impl FnMut(Guarded<'g, Node>) -> bool) {
        let mut give = give;
        let mut at = again(|| self.try_find(key, guard));
        while let Some(node) = at.filter(|node| !give(*node)) {
            at = node.older(guard);
        }
    }

    /// Puts a node behind the last one of the finger's leaf, if its key belongs there. False: it is to be put by way of the root.
    #[inline]
    pub fn append<'g>(&'g self, node: Guarded<'g, Node>, finger: &mut Finger, guard: &'g Guard) -> bool {
        // SAFETY: the index is borrowed as long as the guard.
        let leaf = unsafe { finger.leaf(self.leaves.number, guard) };
        leaf.is_some_and(|leaf| finger.is_below_bound(node.key()) && append(leaf, finger, node, guard))
    }

    /// Puts a node in front of those of its key, unless `check` refuses one of these. A leaf that others have changed meanwhile is looked at
    /// again, so no two of them put nodes of one key without seeing each other.
    pub fn put<'g, E>(
        &'g self,
        node: Guarded<'g, Node>,
        mut finger: Option<&mut Finger>,
        guard: &'g Guard,
        mut check: impl FnMut(Guarded<'g, Node>) -> Result<(), E>,
    ) -> Result<(), E> {
        let key = node.key();
        let mut put = || -> Option<Result<(), E>> {
            let Room { leaf: (leaf, version), high } = self.try_leaf_with_room(key, finger.as_deref(), guard)?;
            let Slot { at, is_equal } = leaf.seek(key, guard)?;
            let first = if is_equal { Some(leaf.node(at, guard)?) } else { None };
            let (is_last, bounds) = (at == leaf.count(), leaf.bounds());
            if !leaf.is_at(version) {
                return None;
            }
            // Nothing is locked: a check may wait for another transaction's end.
            let mut other = first;
            while let Some(this) = other {
                if let Err(refusal) = check(this) {
                    return Some(Err(refusal));
                }
                other = this.older(guard);
            }
            node.next.store(first.map_or(std::ptr::null_mut(), |first| first.as_ptr()), Ordering::Relaxed);
            let version = if planted("memory: a leaf is changed as it was") { leaf.begin()? } else { version };
            if !leaf.lock(version) {
                return None;
            }
            let follows = finger.as_deref().is_some_and(|finger| finger.is_next(leaf, at));
            match first {
                Some(_) => leaf.put_node(at, node.as_ptr()),
                None => leaf.insert_node(at, node, guard),
            }
            leaf.unlock(version);
            if let Some(finger) = finger.as_deref_mut() {
                finger.note(node, follows);
                if is_last {
                    self.point(finger, leaf, bounds, high, guard);
                }
            }
            Some(Ok(()))
        };
        again(&mut put)
    }

    /// Points the finger at a leaf, which was locked at a version at which its bounds had been counted as this and the way had led to it: the
    /// upper bound is that of then. If the page that has it has changed since, the finger stays as it is.
    fn point<'g>(
        &'g self,
        finger: &mut Finger,
        leaf: Guarded<'g, Page>,
        bounds: u64,
        high: Option<(At<'g>, usize)>,
        guard: &'g Guard,
    ) {
        let key = match high {
            None => None,
            Some(((page, version), place)) => {
                let key = page.key(place, guard);
                if key.is_none() || !page.is_at(version) {
                    return;
                }
                key
            }
        };
        finger.point(self.leaves.number, leaf.pointer(), bounds, key);
    }

    /// Takes a node out: no walk comes to it any more but those that hold guards.
    pub fn remove<'g>(&'g self, node: Guarded<'g, Node>, guard: &'g Guard) {
        let key = node.key();
        let is_empty = again(|| {
            let (leaf, version) = self.try_leaf(key, guard)?;
            let slot = leaf.seek(key, guard)?;
            if !leaf.lock(version) {
                return None;
            }
            debug_assert!(slot.is_equal, "a node that is linked is found by its key");
            let first = leaf.node(slot.at.min(SLOTS - 1), guard).filter(|_| slot.is_equal);
            let next = node.next.load(Ordering::Relaxed);
            match first {
                Some(first) if first.pointer() != node.pointer() => unchain(first, node, next, guard),
                Some(_) if next.is_null() => leaf.take_out(slot.at),
                Some(_) => leaf.put_node(slot.at, next.cast()),
                None => (),
            }
            let is_empty = leaf.count() == 0;
            leaf.unlock(version);
            Some(is_empty)
        });
        if is_empty {
            again(|| self.try_prune(key, guard));
        }
    }

    /// Takes the leaf of a key out of the tree if it is empty, with the pages above it that have no other. None: a page was changed meanwhile.
    #[cold]
    fn try_prune<'g>(&'g self, key: &[u8], guard: &'g Guard) -> Option<()> {
        let mut way = vec![self.begin(guard)?];
        while let Some(at) = way.last().filter(|at| !at.0.is_leaf()) {
            way.push(self.step(*at, Goal::Key(key), guard)?.below);
        }
        let is_empty = way.last().is_none_or(|leaf| leaf.0.count() == 0);
        // The lowest page that has something else.
        let keeps = way.iter().rposition(|(page, _)| !page.is_leaf() && page.count() > 0);
        if way.iter().any(|(page, version)| !page.is_at(*version)) {
            return None;
        }
        let Some(keeps) = keeps.filter(|_| is_empty) else { return Some(()) };
        let locked = way[keeps..].iter().take_while(|(page, version)| page.lock(*version)).count();
        if locked < way.len() - keeps {
            for (page, version) in &way[keeps..keeps + locked] {
                page.unlock_unchanged(*version);
            }
            return None;
        }
        let (parent, version) = way[keeps];
        parent.take_page_out(way[keeps + 1].0, guard);
        for (page, version) in &way[keeps + 1..] {
            if !page.is_leaf() {
                page.unlock_gone(*version);
                self.counters.inner_removed.fetch_add(1, Ordering::Relaxed);
                // SAFETY: it has left the tree, with the only page above it that led to it; it has no bounds.
                unsafe { page.retire(guard) };
                continue;
            }
            if !planted("memory: a leaf leaves its finger behind") {
                page.count_bounds();
            }
            page.unlock_gone(*version);
            self.counters.leaves_removed.fetch_add(1, Ordering::Relaxed);
            self.leaves.keep(page.pointer());
        }
        parent.unlock(version);
        Some(())
    }

    /// Copies the nodes of a leaf from a bound on, in the direction of a walk; the bound behind which the next leaf's are.
    fn try_nodes<'g>(
        &'g self,
        bound: KeyBound<&[u8]>,
        reverse: bool,
        nodes: &mut Batch<'g>,
        guard: &'g Guard,
    ) -> Option<Option<&'g [u8]>> {
        let goal = match bound {
            KeyBound::Unbounded if reverse => Goal::Last,
            KeyBound::Unbounded => Goal::Key(&[]),
            KeyBound::Excluded(key) if reverse => Goal::Before(key),
            KeyBound::Included(key) | KeyBound::Excluded(key) => Goal::Key(key),
        };
        let Way { leaf: (leaf, version), low, high } = self.try_way(goal, guard)?;
        let count = leaf.count();
        let (from, to) = match bound {
            KeyBound::Unbounded => (0, count),
            KeyBound::Included(key) | KeyBound::Excluded(key) => {
                let slot = leaf.seek(key, guard)?;
                let with = usize::from(slot.is_equal && matches!(bound, KeyBound::Included(_)) == reverse);
                let without = usize::from(slot.is_equal && !matches!(bound, KeyBound::Included(_)));
                if reverse { (0, slot.at + with) } else { (slot.at + without, count) }
            }
        };
        nodes.len = 0;
        for at in from..to.max(from) {
            nodes.nodes[nodes.len] = Some(leaf.node(at, guard)?);
            nodes.len += 1;
        }
        leaf.is_at(version).then_some(if reverse { low } else { high })
    }

    /// Gives the nodes of a range behind a position.
    pub fn walk<'g>(
        &'g self,
        range: &KeyRange,
        reverse: bool,
        position: &Position,
        guard: &'g Guard,
        mut give: impl FnMut(Guarded<'g, Node>) -> Wish,
    ) {
        let mut last = Vec::new();
        let bounds = RangeBounds::new(range, reverse, position, &mut last);
        let mut nodes = Batch { nodes: [None; SLOTS], len: 0 };
        let mut bound = if reverse { bounds.high } else { bounds.low };
        loop {
            let next = again(|| self.try_nodes(bound, reverse, &mut nodes, guard));
            for step in 0..nodes.len {
                let nth = |step: usize| nodes.nodes[if reverse { nodes.len - 1 - step } else { step }];
                if let Some(ahead) = (step + AHEAD < nodes.len).then(|| nth(step + AHEAD)).flatten() {
                    prefetch_row(ahead.as_ptr().cast());
                }
                let mut at = nth(step);
                if at.is_none_or(|node| bounds.is_past(node.key(), reverse)) {
                    return;
                }
                let mut is_enough = false;
                while let Some(node) = at {
                    match give(node) {
                        Wish::More => (),
                        Wish::KeyEnd => is_enough = true,
                        Wish::Nothing => return,
                    }
                    at = node.older(guard);
                }
                if is_enough {
                    return;
                }
            }
            let Some(next) = next else { return };
            if bounds.is_past(next, reverse) {
                return;
            }
            bound = if reverse { KeyBound::Excluded(next) } else { KeyBound::Included(next) };
        }
    }
}

/// The nodes of a leaf, as they were at one moment.
struct Batch<'g> {
    nodes: [Option<Guarded<'g, Node>>; SLOTS],
    len: usize,
}

/// Tries until nothing has changed meanwhile. Someone else has come further then, or is about to unlock a page.
fn again<T>(mut attempt: impl FnMut() -> Option<T>) -> T {
    loop {
        if let Some(done) = attempt() {
            return done;
        }
        pikepole_contention::sync::hint::spin_loop();
    }
}

/// Puts a node behind the last one of the finger's leaf, where its key belongs if it is below the finger's bound: so there is no other of its
/// key. False: it belongs elsewhere, or has to be put by way of the root.
#[inline]
fn append<'g>(leaf: Guarded<'g, Page>, finger: &mut Finger, node: Guarded<'g, Node>, guard: &'g Guard) -> bool {
    let Some(version) = leaf.begin_at_once() else { return false };
    let count = leaf.count();
    if !finger.is_of(leaf.bounds()) || count == 0 || count == SLOTS {
        return false;
    }
    let Some(behind) = leaf.behind(node.key(), count, guard) else {
        // Others are behind it, or keys do not ascend.
        finger.lift();
        return false;
    };
    node.next.store(std::ptr::null_mut(), Ordering::Relaxed);
    let is_as_it_was = planted("memory: a finger's leaf is changed as it was");
    let version = if is_as_it_was { leaf.begin_at_once().unwrap_or(version) } else { version };
    // All that was read is of this version then.
    if !leaf.lock(version) {
        return false;
    }
    let follows = finger.is_next(leaf, count);
    leaf.append_node(count, behind, node, guard);
    leaf.unlock(version);
    finger.note(node, follows);
    true
}

/// The place from which on the keys of a full page go to another one, when the page is on the way of a key. Behind the last key of the whole
/// index, or of those that ascend, others are awaited: so nearly all keys stay there, and those behind the place of ascending ones leave it.
#[cold]
fn cut<'g>(
    page: Guarded<'g, Page>,
    key: &[u8],
    is_last: bool,
    finger: Option<&Finger>,
    guard: &'g Guard,
) -> Option<usize> {
    let at = page.seek(key, guard)?.at;
    let runs_on = page.is_leaf() && finger.is_some_and(|finger| finger.runs_on(page, at));
    Some(match at {
        SLOTS if is_last || runs_on => SLOTS - 1,
        at if runs_on => at,
        _ => SLOTS / 2,
    })
}

/// Takes a node out of the chain of its key, of which it is not the first. The leaf is locked.
fn unchain<'g>(first: Guarded<'g, Node>, node: Guarded<'g, Node>, next: *mut Node, guard: &'g Guard) {
    let mut before = Some(first);
    while let Some(this) = before {
        let behind = this.older(guard);
        if behind.is_some_and(|behind| behind.pointer() == node.pointer()) {
            // Release pairs with the Acquire of `older`.
            this.next.store(next, Ordering::Release);
            return;
        }
        before = behind;
    }
}

/// Asks the processor for the head of a page and the heads of its keys: their lines come together.
fn prefetch_page(page: *mut Page) {
    prefetch(page.cast(), size_of::<Page>() / LINE);
}

impl Drop for RangeIndex {
    /// The last nodes go with a table that is dropped, and rows with them.
    fn drop(&mut self) {
        // SAFETY: no other thread has the index, and none comes to its rows: they are freed at once.
        let guard = unsafe { crossbeam_epoch::unprotected() };
        let mut left: Vec<NonNull<Page>> = NonNull::new(*self.root.get_mut()).into_iter().collect();
        while let Some(page) = left.pop() {
            // SAFETY: the index is dropped: no other thread has its pages.
            let page = unsafe { Guarded::new(page, guard) };
            if page.is_leaf() {
                for at in 0..page.count() {
                    let mut node = page.node(at, guard);
                    while let Some(this) = node {
                        node = this.older(guard);
                        // SAFETY: as above, and each goes once.
                        unsafe { Node::retire(this.pointer(), guard) };
                    }
                }
            } else {
                left.extend((0..=page.count()).filter_map(|at| page.page(at, guard)).map(Guarded::pointer));
            }
            // SAFETY: as above.
            unsafe { Page::free(page.pointer()) };
        }
    }
}
