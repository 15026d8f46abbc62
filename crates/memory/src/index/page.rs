//! The pages of the ordered index: keys in order, with rows' nodes in leaves and with pages in inner ones.
//!
//! ```text
//!   inner  | version, count, prefix | heads of bounds | bounds | pages |      page i: bound i-1 <= key < bound i
//!   leaf   | version, count, prefix | heads of keys   | nodes |              each the newest of its key, others behind it
//! ```
//! A head is the eight bytes of a key behind the prefix that all keys of the page have, as a number: most comparisons need no more.
//!
//! | a version's bits | mean |
//! |---|---|
//! | 0 | a thread changes the page |
//! | 1 | the page has left the tree |
//! | others | changes so far |
//!
//! A reader notes the version, reads, and looks if the version is the same: if not it reads again (sequence lock). What it reads in between
//! may be of several moments, but each pointer is null or to something that was in the page while its guard was held. A writer goes the
//! same way and then takes the lock, if the version is still the one that it has noted. A leaf that has left the tree may come back as another
//! one: its version goes on.

use std::cmp::Ordering as KeyOrder;
use std::ptr::NonNull;

use crossbeam_epoch::Guard;
use pikepole_contention::Spinner;
use pikepole_contention::fault::planted;
use pikepole_contention::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering, fence};

use super::leaves::Leaves;
use crate::guarded::Guarded;
use crate::node::Node;

/// Keys of a page.
pub(super) const SLOTS: usize = if cfg!(shuttle) { 3 } else { 64 };
/// Bytes of the prefix of a page's keys that are kept in it.
const PREFIX_MAX: usize = 16;

const LOCKED: u64 = 1;
const GONE: u64 = 2;
const CHANGE: u64 = 4;

/// A key between two pages.
pub(super) struct Bound(Box<[u8]>);

/// The head of a page, and all of it but the pointers.
#[repr(C, align(64))]
pub(super) struct Page {
    version: AtomicU64,
    count: AtomicU32,
    is_leaf: bool,
    /// Bytes that all keys begin with, [`PREFIX_MAX`] at most.
    prefix_len: AtomicU32,
    prefix: [AtomicU64; PREFIX_MAX / 8],
    /// Changes of a leaf's bounds that leave keys out: splits, and leaving the tree.
    bounds: AtomicU64,
    heads: [AtomicU64; SLOTS],
}

#[repr(C)]
struct Leaf {
    page: Page,
    nodes: [AtomicPtr<Node>; SLOTS],
}

#[repr(C)]
struct Inner {
    page: Page,
    bounds: [AtomicPtr<Bound>; SLOTS],
    pages: [AtomicPtr<Page>; SLOTS + 1],
}

/// The heads of a leaf's keys against one that belongs behind them all.
#[derive(Clone, Copy)]
pub(super) enum Behind {
    /// Its prefix is theirs, and this its head.
    Head(u64),
    /// Its prefix is shorter.
    Prefix,
}

/// A place among the keys of a page.
#[derive(Clone, Copy)]
pub(super) struct Slot {
    pub at: usize,
    /// The key itself is there.
    pub is_equal: bool,
}

/// The number that a key's bytes from `from` on begin with.
#[inline]
pub(super) fn head_of(key: &[u8], from: usize) -> u64 {
    if let Some(first) = key.get(from..).and_then(<[u8]>::first_chunk) {
        return u64::from_be_bytes(*first);
    }
    let Some(len @ 1..) = key.len().checked_sub(from) else { return 0 };
    match key.last_chunk() {
        Some(last) => u64::from_be_bytes(*last) << (64 - 8 * len),
        None => short_head(key) << (8 * from),
    }
}

/// The same of a whole key of one to seven bytes.
fn short_head(key: &[u8]) -> u64 {
    let len = key.len();
    let end = 64 - 8 * len;
    match (key.first_chunk(), key.last_chunk()) {
        // They overlap.
        (Some(first), Some(last)) => {
            u64::from(u32::from_be_bytes(*first)) << 32 | u64::from(u32::from_be_bytes(*last)) << end
        }
        _ => {
            let middle = len / 2;
            u64::from(key[0]) << 56 | u64::from(key[middle]) << (56 - 8 * middle) | u64::from(key[len - 1]) << end
        }
    }
}

fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// Moves each value to the next place, the last one first.
fn shift<T>(values: &[T], put: impl Fn(&T, &T)) {
    let Some((_, from)) = values.split_last() else { return };
    for (from, to) in from.iter().zip(&values[1..]).rev() {
        put(from, to);
    }
}

fn nulls<T, const N: usize>() -> [AtomicPtr<T>; N] {
    std::array::from_fn(|_| AtomicPtr::new(std::ptr::null_mut()))
}

impl Page {
    /// Bytes of a leaf and of an inner page.
    pub const LEAF_BYTES: u64 = size_of::<Leaf>() as u64;
    pub const INNER_BYTES: u64 = size_of::<Inner>() as u64;

    fn new(is_leaf: bool) -> Page {
        Page {
            version: AtomicU64::new(0),
            count: AtomicU32::new(0),
            is_leaf,
            prefix_len: AtomicU32::new(0),
            prefix: std::array::from_fn(|_| AtomicU64::new(0)),
            bounds: AtomicU64::new(0),
            heads: std::array::from_fn(|_| AtomicU64::new(0)),
        }
    }

    /// An empty leaf.
    pub fn new_leaf() -> NonNull<Page> {
        NonNull::from(Box::leak(Box::new(Leaf { page: Page::new(true), nodes: nulls() }))).cast()
    }

    fn new_inner() -> NonNull<Page> {
        let inner = Inner { page: Page::new(false), bounds: nulls(), pages: nulls() };
        NonNull::from(Box::leak(Box::new(inner))).cast()
    }

    pub fn is_leaf(&self) -> bool {
        self.is_leaf
    }

    /// The number of its keys. A reader's may be wrong until the version is looked at.
    pub fn count(&self) -> usize {
        (self.count.load(Ordering::Relaxed) as usize).min(SLOTS)
    }

    pub fn is_full(&self) -> bool {
        self.count() == SLOTS
    }

    /// Begins to read: the version. None: the page has left the tree. Acquire pairs with the Release of `unlock`.
    pub fn begin(&self) -> Option<u64> {
        let mut spinner = Spinner::new();
        loop {
            let version = self.version.load(Ordering::Acquire);
            if version & LOCKED == 0 {
                return (version & GONE == 0).then_some(version);
            }
            spinner.spin();
            spinner.back_off_if_due();
        }
    }

    /// The version if no thread changes the page and it is in the tree. Acquire pairs with the Release of `unlock`.
    #[inline]
    pub fn begin_at_once(&self) -> Option<u64> {
        let version = self.version.load(Ordering::Acquire);
        (version & (LOCKED | GONE) == 0).then_some(version)
    }

    /// Tells if all that was read since `begin` is of one moment.
    pub fn is_at(&self, version: u64) -> bool {
        // Acquire pairs with the Release fence of `lock`: who has read a change sees that the page was locked for it.
        fence(Ordering::Acquire);
        self.version.load(Ordering::Relaxed) == version || planted("memory: a page is not looked at again")
    }

    /// Locks the page if it is as it was at `version`.
    pub fn lock(&self, version: u64) -> bool {
        // Acquire pairs with the Release of `unlock`.
        let is_locked =
            self.version.compare_exchange(version, version | LOCKED, Ordering::Acquire, Ordering::Relaxed).is_ok();
        // Release pairs with the Acquire fence of `is_at`.
        fence(Ordering::Release);
        is_locked
    }

    fn set_version(&self, version: u64) {
        // Release pairs with the Acquire of `begin` and of `lock`.
        self.version.store(version, Ordering::Release);
    }

    /// Ends a change.
    pub fn unlock(&self, version: u64) {
        self.set_version(version + CHANGE);
    }

    /// Unlocks a page that was not changed.
    pub fn unlock_unchanged(&self, version: u64) {
        self.set_version(version);
    }

    /// Unlocks a page that has left the tree.
    pub fn unlock_gone(&self, version: u64) {
        self.set_version((version + CHANGE) | GONE);
    }

    /// The count of changes of a leaf's bounds that leave keys out.
    #[inline]
    pub fn bounds(&self) -> u64 {
        self.bounds.load(Ordering::Relaxed)
    }

    /// Counts one, of a leaf that is locked.
    pub fn count_bounds(&self) {
        self.bounds.store(self.bounds() + 1, Ordering::Relaxed);
    }

    /// Makes a leaf that has left the tree ready to become another: who has it alone may change it from now on.
    pub fn come_back(&self) {
        // Release pairs with the Acquire fence of `is_at`: who has read what is put there now sees that the leaf has left the tree.
        fence(Ordering::Release);
    }

    /// Ends the making of a leaf that is about to enter the tree. Its version is one that it has never had.
    pub fn enter(&self) {
        let version = self.version.load(Ordering::Relaxed);
        if version & GONE != 0 {
            let begins_at_zero = planted("memory: a leaf begins at zero");
            self.set_version(if begins_at_zero { CHANGE } else { (version + CHANGE) & !GONE });
        }
    }

    fn set_count(&self, count: usize) {
        self.count.store(count as u32, Ordering::Relaxed);
    }

    fn set_head(&self, at: usize, head: u64) {
        self.heads[at].store(head, Ordering::Relaxed);
    }

    fn head(&self, at: usize) -> u64 {
        self.heads[at].load(Ordering::Relaxed)
    }

    fn prefix_len(&self) -> usize {
        (self.prefix_len.load(Ordering::Relaxed) as usize).min(PREFIX_MAX)
    }

    fn prefix(&self) -> [u8; PREFIX_MAX] {
        let mut bytes = [0; PREFIX_MAX];
        for (part, to) in self.prefix.iter().zip(bytes.chunks_exact_mut(8)) {
            to.copy_from_slice(&part.load(Ordering::Relaxed).to_be_bytes());
        }
        bytes
    }

    fn set_prefix(&self, prefix: &[u8]) {
        for (at, part) in self.prefix.iter().enumerate() {
            part.store(head_of(prefix, 8 * at), Ordering::Relaxed);
        }
        self.prefix_len.store(prefix.len() as u32, Ordering::Relaxed);
    }

    /// The first place from `from` to `to` whose head is not below `head`, or with `past` the first whose head is above it.
    fn by_head(&self, mut from: usize, to: usize, head: u64, past: bool) -> usize {
        let is_before = |at: usize| {
            let other = self.head(at);
            if past { other <= head } else { other < head }
        };
        let mut len = to - from;
        if len == 0 {
            return from;
        }
        while len > 1 {
            // No branch: which half it is cannot be foretold.
            let half = len / 2;
            from = std::hint::select_unpredictable(is_before(from + half - 1), from + half, from);
            len -= half;
        }
        from + usize::from(is_before(from))
    }

    /// Tells if a key begins with the prefix of all keys of the page.
    #[inline]
    fn has_prefix(&self, key: &[u8], prefix_len: usize) -> bool {
        if prefix_len > 8 || key.len() < prefix_len {
            return self.compare_prefix(key, prefix_len) == KeyOrder::Equal;
        }
        let differ = head_of(key, 0) ^ self.prefix[0].load(Ordering::Relaxed);
        prefix_len == 0 || differ >> (64 - 8 * prefix_len) == 0
    }

    /// The place of a key's beginning against the prefix of all keys of the page.
    fn compare_prefix(&self, key: &[u8], prefix_len: usize) -> KeyOrder {
        if key.len() < prefix_len {
            return key.cmp(&self.prefix()[..prefix_len]);
        }
        let part = |at: usize| {
            let bytes = prefix_len.saturating_sub(8 * at).min(8);
            let mask = if bytes == 8 { u64::MAX } else { !(u64::MAX >> (8 * bytes)) };
            (head_of(key, 8 * at) & mask).cmp(&self.prefix[at].load(Ordering::Relaxed))
        };
        let first = part(0);
        if prefix_len > 8 { first.then_with(|| part(1)) } else { first }
    }
}

/// Changes of a page are made by the thread that has locked it, or that has it alone.
impl<'g> Guarded<'g, Page> {
    fn leaf(self) -> &'g Leaf {
        debug_assert!(self.is_leaf);
        // SAFETY: `new_leaf` makes pages that are leaves.
        unsafe { self.pointer().cast::<Leaf>().as_ref() }
    }

    fn inner(self) -> &'g Inner {
        debug_assert!(!self.is_leaf);
        // SAFETY: `new_inner` makes all others.
        unsafe { self.pointer().cast::<Inner>().as_ref() }
    }

    /// The newest node of a key of a leaf. Acquire pairs with the Release of `put_node`.
    pub fn node(self, at: usize, guard: &'g Guard) -> Option<Guarded<'g, Node>> {
        // SAFETY: null, or linked while the guard is held: places behind the last key are null.
        unsafe { Guarded::of_raw(self.leaf().nodes[at].load(Ordering::Acquire), guard) }
    }

    /// The page at a place of an inner one. Acquire pairs with the Release of `put_page`.
    pub fn page(self, at: usize, guard: &'g Guard) -> Option<Guarded<'g, Page>> {
        // SAFETY: as of `node`.
        unsafe { Guarded::of_raw(self.inner().pages[at].load(Ordering::Acquire), guard) }
    }

    /// The key of a place. None: the page is being changed.
    pub fn key(self, at: usize, guard: &'g Guard) -> Option<&'g [u8]> {
        if self.is_leaf {
            return self.node(at, guard).map(|node| node.key());
        }
        // SAFETY: as of `node`. Acquire pairs with the Release of `put_bound`.
        let bound = unsafe { Guarded::of_raw(self.inner().bounds[at].load(Ordering::Acquire), guard) };
        bound.map(|bound| &*bound.get().0)
    }

    /// The first place whose key is not below `key`. None: the page is being changed.
    pub fn seek(self, key: &[u8], guard: &'g Guard) -> Option<Slot> {
        let (count, prefix_len) = (self.count(), self.prefix_len());
        if !self.has_prefix(key, prefix_len) {
            match self.compare_prefix(key, prefix_len) {
                KeyOrder::Less => return Some(Slot { at: 0, is_equal: false }),
                KeyOrder::Greater => return Some(Slot { at: count, is_equal: false }),
                KeyOrder::Equal => (),
            }
        }
        let head = head_of(key, prefix_len);
        // Keys that ascend end here.
        if count == 0 || self.head(count - 1) < head {
            return Some(Slot { at: count, is_equal: false });
        }
        let mut from = self.by_head(0, count, head, false);
        if from == count || self.head(from) != head {
            return Some(Slot { at: from, is_equal: false });
        }
        // Keys with the same head: mostly one.
        let mut to = self.by_head(from + 1, count, head, true);
        while from < to {
            let middle = from.midpoint(to);
            match self.key(middle, guard)?.cmp(key) {
                KeyOrder::Less => from = middle + 1,
                KeyOrder::Equal => return Some(Slot { at: middle, is_equal: true }),
                KeyOrder::Greater => to = middle,
            }
        }
        Some(Slot { at: from, is_equal: false })
    }

    /// The place of a key behind all `count` keys of a leaf; None: it belongs elsewhere.
    #[inline]
    pub fn behind(self, key: &[u8], count: usize, guard: &'g Guard) -> Option<Behind> {
        let prefix_len = self.prefix_len();
        if !self.has_prefix(key, prefix_len) {
            let is_behind = self.compare_prefix(key, prefix_len) == KeyOrder::Greater;
            return is_behind.then_some(Behind::Prefix);
        }
        let (head, last) = (head_of(key, prefix_len), self.head(count - 1));
        let is_behind = last < head || last == head && self.key(count - 1, guard).is_some_and(|last| last < key);
        is_behind.then_some(Behind::Head(head))
    }

    /// The address of a leaf's node, for comparison.
    pub fn node_address(self, at: usize) -> usize {
        self.payload(at).addr()
    }

    /// Puts the newest node of a key; `None`: there is none. Release pairs with the Acquire of `node`.
    pub fn put_node(self, at: usize, node: *mut Node) {
        self.leaf().nodes[at].store(node, Ordering::Release);
    }

    /// Release pairs with the Acquire of `page`.
    fn put_page(self, at: usize, page: *mut Page) {
        self.inner().pages[at].store(page, Ordering::Release);
    }

    /// Release pairs with the Acquire of `key`.
    fn put_bound(self, at: usize, bound: *mut Bound) {
        self.inner().bounds[at].store(bound, Ordering::Release);
    }

    /// The node of a leaf, or the bound of an inner page, at a key.
    fn payload(self, at: usize) -> *mut () {
        if self.is_leaf {
            self.leaf().nodes[at].load(Ordering::Relaxed).cast()
        } else {
            self.inner().bounds[at].load(Ordering::Relaxed).cast()
        }
    }

    fn put_payload(self, at: usize, payload: *mut ()) {
        if self.is_leaf { self.put_node(at, payload.cast()) } else { self.put_bound(at, payload.cast()) }
    }

    /// Makes the prefix one that `key` has as well.
    fn shorten_prefix(self, key: &[u8], guard: &'g Guard) {
        let (count, former) = (self.count(), self.prefix_len());
        if count == 0 {
            return self.set_prefix(&key[..key.len().min(PREFIX_MAX)]);
        }
        if !self.has_prefix(key, former) {
            let prefix = self.prefix();
            self.set_prefix(&prefix[..common_prefix(&prefix[..former], key)]);
            self.set_heads(guard);
        }
    }

    /// Makes the prefix the longest. Of a page that is `new` it is not set, nor are the heads.
    fn lengthen_prefix(self, is_new: bool, guard: &'g Guard) {
        let Some(last) = self.count().checked_sub(1) else { return };
        if let (Some(first), Some(last)) = (self.key(0, guard), self.key(last, guard)) {
            let len = common_prefix(first, last).min(PREFIX_MAX);
            if is_new || len > self.prefix_len() {
                self.set_prefix(&first[..len]);
                self.set_heads(guard);
            }
        }
    }

    fn set_heads(self, guard: &'g Guard) {
        let prefix_len = self.prefix_len();
        for at in 0..self.count() {
            self.set_head(at, head_of(self.key(at, guard).unwrap_or_default(), prefix_len));
        }
    }

    /// Puts a key at a place; there is room.
    fn insert(self, at: usize, key: &[u8], payload: *mut (), guard: &'g Guard) {
        self.shorten_prefix(key, guard);
        let count = self.count();
        if at < count {
            shift(&self.heads[at..=count], |from, to| to.store(from.load(Ordering::Relaxed), Ordering::Relaxed));
            // Release pairs with the Acquire of `node` and of `key`.
            if self.is_leaf {
                let nodes = &self.leaf().nodes[at..=count];
                shift(nodes, |from, to| to.store(from.load(Ordering::Relaxed), Ordering::Release));
            } else {
                let bounds = &self.inner().bounds[at..=count];
                shift(bounds, |from, to| to.store(from.load(Ordering::Relaxed), Ordering::Release));
            }
        }
        self.set_head(at, head_of(key, self.prefix_len()));
        self.put_payload(at, payload);
        self.set_count(count + 1);
    }

    /// Puts a node with a key that the leaf does not have.
    pub fn insert_node(self, at: usize, node: Guarded<'g, Node>, guard: &'g Guard) {
        self.insert(at, node.key(), node.as_ptr().cast(), guard);
    }

    /// Puts a node behind all `count` nodes of a leaf that has room.
    #[inline]
    pub fn append_node(self, count: usize, behind: Behind, node: Guarded<'g, Node>, guard: &'g Guard) {
        match behind {
            Behind::Head(head) => {
                self.set_head(count, head);
                self.put_node(count, node.as_ptr());
                self.set_count(count + 1);
            }
            Behind::Prefix => self.insert_node(count, node, guard),
        }
    }

    /// Takes a key away.
    pub fn take_out(self, at: usize) {
        let count = self.count();
        for to in at..count - 1 {
            self.set_head(to, self.head(to + 1));
            self.put_payload(to, self.payload(to + 1));
        }
        // No stale pointer stays.
        self.put_payload(count - 1, std::ptr::null_mut());
        self.set_count(count - 1);
    }

    /// Puts a page behind a bound, into an inner page that has room.
    fn insert_page(self, bound: Bound, page: NonNull<Page>, guard: &'g Guard) {
        let Some(Slot { at, .. }) = self.seek(&bound.0, guard) else { return };
        for from in (at + 1..=self.count()).rev() {
            self.put_page(from + 1, self.inner().pages[from].load(Ordering::Relaxed));
        }
        self.put_page(at + 1, page.as_ptr());
        let bound = Box::into_raw(Box::new(bound));
        // SAFETY: just made; it goes to the epochs when it is taken out.
        self.insert(at, unsafe { &(*bound).0 }, bound.cast(), guard);
    }

    /// Takes a page out of an inner one that has two at least, and a bound beside it.
    pub fn take_page_out(self, page: Guarded<'_, Page>, guard: &Guard) {
        let inner = self.inner();
        let count = self.count();
        let is_it = |at: &usize| std::ptr::eq(inner.pages[*at].load(Ordering::Relaxed), page.as_ptr());
        let Some(at) = (0..=count).find(is_it) else { return };
        for to in at..count {
            self.put_page(to, inner.pages[to + 1].load(Ordering::Relaxed));
        }
        self.put_page(count, std::ptr::null_mut());
        let bound_at = at.saturating_sub(1);
        let bound = inner.bounds[bound_at].load(Ordering::Relaxed);
        self.take_out(bound_at);
        // SAFETY: it has left its page, which is locked, and goes once.
        unsafe { guard.defer_unchecked(move || drop(Box::from_raw(bound))) };
    }

    /// Moves keys from `from` on to a new page; what stands between the two. The page is full and locked.
    fn split_off(self, from: usize, leaves: &Leaves, guard: &'g Guard) -> (Bound, Guarded<'g, Page>) {
        let new = if self.is_leaf { leaves.take() } else { Page::new_inner() };
        // SAFETY: just made, or in memory as long as the index.
        let new = unsafe { Guarded::new(new, guard) };
        let count = self.count();
        let first = self.key(from, guard).unwrap_or_default();
        let bound = if self.is_leaf {
            let last = self.key(from - 1, guard).unwrap_or_default();
            Bound(first[..first.len().min(common_prefix(first, last) + 1)].into())
        } else {
            Bound(first.into())
        };
        // The bound between two inner pages goes up.
        let moved = if self.is_leaf { from } else { from + 1 };
        for (to, at) in (moved..count).enumerate() {
            new.put_payload(to, self.payload(at));
        }
        if !self.is_leaf {
            for (to, at) in (moved..=count).enumerate() {
                new.put_page(to, self.inner().pages[at].load(Ordering::Relaxed));
                self.put_page(at, std::ptr::null_mut());
            }
            let up = self.payload(from).cast::<Bound>();
            // SAFETY: it leaves its page below, which is locked, and goes once.
            unsafe { guard.defer_unchecked(move || drop(Box::from_raw(up))) };
        }
        for at in from..count {
            self.put_payload(at, std::ptr::null_mut());
        }
        new.set_count(count - moved);
        self.set_count(from);
        new.lengthen_prefix(true, guard);
        self.lengthen_prefix(false, guard);
        new.enter();
        self.count_bounds();
        (bound, new)
    }

    /// Splits a full page below `parent`, which has room; both are locked. The keys from `from` on go to another one.
    pub fn split_below(self, parent: Guarded<'g, Page>, from: usize, leaves: &Leaves, guard: &'g Guard) {
        let (bound, new) = self.split_off(from, leaves, guard);
        parent.insert_page(bound, new.pointer(), guard);
    }

    /// Splits a full page that is locked and has no parent: a new one for both parts.
    pub fn split_root(self, from: usize, leaves: &Leaves, guard: &'g Guard) -> NonNull<Page> {
        let root = Page::new_inner();
        // SAFETY: just made.
        let new = unsafe { Guarded::new(root, guard) };
        new.put_page(0, self.as_ptr());
        self.split_below(new, from, leaves, guard);
        root
    }

    /// Gives an inner page to the epochs.
    ///
    /// # Safety
    /// It has left the tree, and its bounds and nodes are of no other use.
    pub unsafe fn retire(self, guard: &Guard) {
        let page = self.as_ptr();
        // SAFETY: readers who come by it hold guards.
        unsafe { guard.defer_unchecked(move || Page::free(NonNull::new_unchecked(page))) };
    }
}

impl Page {
    /// Frees a page and its bounds.
    ///
    /// # Safety
    /// Nothing leads to it.
    pub unsafe fn free(page: NonNull<Page>) {
        // SAFETY: the caller has it alone; `new_leaf` and `new_inner` made it as what it is.
        unsafe {
            if page.as_ref().is_leaf {
                drop(Box::from_raw(page.cast::<Leaf>().as_ptr()));
                return;
            }
            let inner = Box::from_raw(page.cast::<Inner>().as_ptr());
            for bound in &inner.bounds {
                let bound = bound.load(Ordering::Relaxed);
                if !bound.is_null() {
                    drop(Box::from_raw(bound));
                }
            }
        }
    }
}

#[cfg(all(test, not(shuttle), not(loom)))]
mod tests {
    use super::head_of;

    #[test]
    fn heads_are_the_bytes_of_keys_with_zeros_behind_them() {
        let key: Vec<u8> = (1..=20).collect();
        for len in 0..=key.len() {
            for from in 0..=len + 2 {
                let mut first = [0; 8];
                key[..len].iter().skip(from).zip(&mut first).for_each(|(byte, to)| *to = *byte);
                assert_eq!(head_of(&key[..len], from), u64::from_be_bytes(first), "{len} bytes from {from}");
            }
        }
    }
}
