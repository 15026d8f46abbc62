//! An inbox: any thread puts items in, one thread takes them out and sleeps when there are none.
//!
//! ```text
//!   head --> item 3 --> item 2 --> item 1          pushed in the order 1, 2, 3; taken in that order
//! ```
//!
//! One word says both what is in it and whether its owner sleeps, so a push that finds the owner asleep and the
//! owner's falling asleep cannot miss each other:
//!
//! | head | means | who changes it |
//! |---|---|---|
//! | null | empty, owner awake | owner: to nobody by compare-exchange; pusher: to an item |
//! | nobody | empty, owner asleep or about to be | pusher: to an item, and must wake the owner; owner: to null |
//! | an item | the last one pushed | pusher: to a newer one; owner: takes all, to null |
//!
//! Of the pushes after the owner fell asleep exactly one is told to wake it. Items are linked through a field of
//! their own, so a push allocates nothing; a batch is linked first and pushed in one step.

use crate::fault;
use crate::sync::atomic::{AtomicPtr, Ordering};
use std::ptr;
use std::sync::Arc;

/// An item that has a link for one inbox.
pub trait Linked: Sized {
    /// The link. Only the inbox that the item is in touches it.
    fn link(&self) -> &Link<Self>;
}

/// The place in an item where an inbox links it to the next: null while the item is in no inbox and no chain, else
/// the item pushed before it, or nobody.
#[derive(Debug)]
pub struct Link<T>(AtomicPtr<T>);

impl<T> Default for Link<T> {
    fn default() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }
}

impl<T: Linked> Link<T> {
    /// Marks the item as linked, to nobody yet; turns the Arc into the address that the list owns.
    fn claim(item: Arc<T>) -> *mut T {
        // Relaxed: one word alone decides which of two claims wins.
        let before = item.link().0.swap(nobody(), Ordering::Relaxed);
        assert!(before.is_null(), "an item is in one inbox at a time");
        Arc::into_raw(item).cast_mut()
    }
}

/// An address that is no item's: a sleeping owner in a head, the end in a link. Nothing is ever mapped there.
fn nobody<T>() -> *mut T {
    ptr::without_provenance_mut(1)
}

/// See the module.
#[derive(Debug)]
pub struct Inbox<T: Linked> {
    head: AtomicPtr<T>,
    /// The items are owned as Arcs that were turned into addresses.
    owns: std::marker::PhantomData<Arc<T>>,
}

impl<T: Linked> Default for Inbox<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// Items linked to each other, to be pushed in one step. In the order in which they were added.
#[derive(Debug)]
pub struct Chain<T: Linked> {
    /// The first added: the end of the links.
    first: *mut T,
    /// The last added: what the inbox's head will point to.
    last: *mut T,
    owns: std::marker::PhantomData<Arc<T>>,
}

// SAFETY: a chain owns Arcs of its items, and nothing else.
unsafe impl<T: Linked + Send + Sync> Send for Chain<T> {}

impl<T: Linked> Chain<T> {
    /// A chain of one item.
    ///
    /// # Panics
    /// When the item is in an inbox or a chain already.
    pub fn of(item: Arc<T>) -> Self {
        let item = Link::claim(item);
        Self { first: item, last: item, owns: std::marker::PhantomData }
    }

    /// Adds an item.
    ///
    /// # Panics
    /// When the item is in an inbox or a chain already.
    pub fn add(&mut self, item: Arc<T>) {
        let item = Link::claim(item);
        // SAFETY: the chain owns the item from here on, and gives it up only as a whole.
        unsafe { &*item }.link().0.store(self.last, Ordering::Relaxed);
        self.last = item;
    }

    /// The item that was added first.
    pub fn first(&self) -> &T {
        // SAFETY: the chain owns its items, and the reference lives no longer than the borrow of the chain.
        unsafe { &*self.first }
    }

    /// The items, newest first, as their links have them.
    fn into_items(self) -> Taken<T> {
        let items = Taken { next: self.last, owns: std::marker::PhantomData };
        std::mem::forget(self);
        items
    }
}

impl<T: Linked> Drop for Chain<T> {
    fn drop(&mut self) {
        drop(Taken::<T> { next: self.last, owns: std::marker::PhantomData });
    }
}

/// Items taken out of an inbox or a chain. Iterates from the newest to the oldest.
#[derive(Debug)]
struct Taken<T: Linked> {
    next: *mut T,
    owns: std::marker::PhantomData<Arc<T>>,
}

impl<T: Linked> Iterator for Taken<T> {
    type Item = Arc<T>;

    fn next(&mut self) -> Option<Arc<T>> {
        if self.next == nobody() {
            return None;
        }
        // SAFETY: `next` came from `Arc::into_raw` in `Link::claim`, which lets an item into one list only, and this
        // `Taken` has the whole list for itself: out of a head by one swap, or out of a chain that was not pushed.
        // Each address is turned back once, since `next` moves on below.
        let item = unsafe { Arc::from_raw(self.next.cast_const()) };
        self.next = item.link().0.load(Ordering::Relaxed);
        item.link().0.store(ptr::null_mut(), Ordering::Relaxed);
        Some(item)
    }
}

impl<T: Linked> Drop for Taken<T> {
    fn drop(&mut self) {
        self.for_each(drop);
    }
}

impl<T: Linked> Inbox<T> {
    /// An empty inbox whose owner is awake.
    pub fn new() -> Self {
        Self { head: AtomicPtr::new(ptr::null_mut()), owns: std::marker::PhantomData }
    }

    /// Puts all items of the chain in. True when the owner was asleep: then the caller must wake it.
    #[must_use = "a sleeping owner must be woken"]
    pub fn push(&self, chain: Chain<T>) -> bool {
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            let below = if head.is_null() { nobody() } else { head };
            chain.first().link().0.store(below, Ordering::Relaxed);
            let ordering = if fault::planted("inbox_pushed_relaxed") {
                Ordering::Relaxed
            } else {
                // Release pairs with the Acquire in `take`.
                Ordering::Release
            };
            match self.head.compare_exchange_weak(head, chain.last, ordering, Ordering::Relaxed) {
                Ok(_) => break,
                Err(now) => head = now,
            }
        }
        // The inbox owns the items from here on.
        std::mem::forget(chain);
        head == nobody()
    }

    /// Whether there is nothing to take. Another thread may push at any time.
    #[inline]
    pub fn is_empty(&self) -> bool {
        let head = self.head.load(Ordering::Relaxed);
        head.is_null() || head == nobody()
    }

    /// Whether the owner has announced that it sleeps, and nobody has pushed since.
    pub fn is_asleep(&self) -> bool {
        self.head.load(Ordering::Relaxed) == nobody()
    }

    /// For the owner: takes all items, in the order in which they were pushed, and is awake again.
    pub fn take(&self, mut each: impl FnMut(Arc<T>)) {
        // Acquire pairs with the Release in `push`.
        let head = self.head.swap(ptr::null_mut(), Ordering::Acquire);
        if head.is_null() || head == nobody() {
            return;
        }
        // The links go from new to old: turn them round first.
        let taken = Taken::<T> { next: head, owns: std::marker::PhantomData };
        let mut turned: Option<Chain<T>> = None;
        for item in taken {
            match &mut turned {
                Some(chain) => chain.add(item),
                none => *none = Some(Chain::of(item)),
            }
        }
        turned.into_iter().flat_map(Chain::into_items).for_each(&mut each);
    }

    /// For the owner: announces that it will sleep. False when something has been pushed: then it must not.
    #[must_use = "an owner with items must not sleep"]
    pub fn sleep(&self) -> bool {
        if fault::planted("inbox_sleeps_blindly") {
            let was_empty = self.is_empty();
            if was_empty {
                self.head.store(nobody(), Ordering::Relaxed);
            }
            return was_empty;
        }
        let swap = self.head.compare_exchange(ptr::null_mut(), nobody(), Ordering::Relaxed, Ordering::Relaxed);
        swap.is_ok() || self.is_asleep()
    }
}

impl<T: Linked> Drop for Inbox<T> {
    fn drop(&mut self) {
        self.take(drop);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    struct Item(u32, Link<Item>);

    impl Linked for Item {
        fn link(&self) -> &Link<Item> {
            &self.1
        }
    }

    fn item(number: u32) -> Arc<Item> {
        Arc::new(Item(number, Link::default()))
    }

    fn taken(inbox: &Inbox<Item>) -> Vec<u32> {
        let mut numbers = Vec::new();
        inbox.take(|item| numbers.push(item.0));
        numbers
    }

    #[test]
    fn items_come_out_in_the_order_they_went_in() {
        let inbox = Inbox::new();
        assert!(inbox.is_empty());
        assert!(!inbox.push(Chain::of(item(1))));
        let mut chain = Chain::of(item(2));
        chain.add(item(3));
        assert!(!inbox.push(chain));
        assert!(!inbox.is_empty());
        assert_eq!(taken(&inbox), [1, 2, 3]);
        assert_eq!(taken(&inbox), []);
    }

    #[test]
    fn the_first_push_to_a_sleeper_wakes_it() {
        let inbox = Inbox::new();
        assert!(inbox.sleep());
        assert!(inbox.is_asleep() && inbox.is_empty());
        assert!(inbox.push(Chain::of(item(1))));
        assert!(!inbox.push(Chain::of(item(2))));
        assert!(!inbox.sleep());
        assert_eq!(taken(&inbox), [1, 2]);
        assert!(inbox.sleep() && inbox.sleep());
        assert_eq!(taken(&inbox), []);
        assert!(!inbox.is_asleep());
    }

    #[test]
    #[should_panic(expected = "one inbox at a time")]
    fn an_item_is_in_one_inbox_at_a_time() {
        let (inbox, item) = (Inbox::new(), item(1));
        let _woken = inbox.push(Chain::of(Arc::clone(&item)));
        let _chain = Chain::of(item);
    }

    #[test]
    fn what_is_not_taken_is_dropped() {
        let kept = item(1);
        let inbox = Inbox::new();
        assert!(!inbox.push(Chain::of(Arc::clone(&kept))));
        drop(inbox);
        drop(Chain::of(Arc::clone(&kept)));
        assert_eq!(Arc::strong_count(&kept), 1);
    }

    #[test]
    fn nothing_is_lost_between_threads() {
        let inbox = Inbox::new();
        let mut counts = [0u32; 4];
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let inbox = &inbox;
                scope.spawn(move || {
                    for number in 0..1_000 {
                        let _woken = inbox.push(Chain::of(item(thread * 1_000 + number)));
                    }
                });
            }
            while counts.iter().sum::<u32>() < 4_000 {
                inbox.take(|item| {
                    let thread = (item.0 / 1_000) as usize;
                    assert_eq!(item.0 % 1_000, counts[thread], "in the order of its pusher");
                    counts[thread] += 1;
                });
                std::thread::yield_now();
            }
        });
        assert_eq!(counts, [1_000; 4]);
    }
}
