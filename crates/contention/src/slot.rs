//! Slots: a small index of its own for each live thread.
//!
//! A thread claims a slot when it first asks and gives it back when it exits. Between those two moments nobody else
//! has that index, so what is kept per slot needs no atomic read-modify-write: its owner loads, adds and stores.
//!
//! | flag | means | who changes it |
//! |---|---|---|
//! | false | free | a claimer, to true, Acquire |
//! | true | owned by one thread | its owner, to false, Release |
//!
//! The Acquire of a claim pairs with the Release of the former owner's giving back, so a new owner sees all that
//! the former one wrote under the index.

use crate::sync::atomic::{AtomicBool, Ordering};

/// How many threads can own a slot at once.
pub const SLOTS_MAX: usize = if cfg!(loom) {
    4
} else if cfg!(shuttle) {
    8
} else {
    256
};

/// A table of slots. The process has one; models make their own.
pub(crate) struct Slots {
    claimed: [AtomicBool; SLOTS_MAX],
}

impl Slots {
    #[cfg(not(any(loom, shuttle)))]
    const fn new() -> Self {
        Self { claimed: [const { AtomicBool::new(false) }; SLOTS_MAX] }
    }

    #[cfg(any(loom, shuttle))]
    pub(crate) fn new() -> Self {
        Self { claimed: std::array::from_fn(|_| AtomicBool::new(false)) }
    }

    /// The lowest free slot, now the caller's; None when all are taken.
    pub(crate) fn claim(&self) -> Option<usize> {
        self.claimed.iter().position(|claimed| {
            if crate::fault::planted("slot_claim_by_store") {
                let free = !claimed.load(Ordering::Acquire);
                claimed.store(true, Ordering::Relaxed);
                return free;
            }
            // Acquire pairs with the Release in `give_back`.
            !claimed.load(Ordering::Relaxed)
                && claimed.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok()
        })
    }

    /// Frees a slot that the caller claimed.
    #[cfg_attr(all(shuttle, not(loom)), allow(dead_code, reason = "a model's threads keep their slots"))]
    pub(crate) fn give_back(&self, slot: usize) {
        debug_assert!(self.claimed[slot].load(Ordering::Relaxed));
        let ordering = if crate::fault::planted("slot_given_back_relaxed") {
            Ordering::Relaxed
        } else {
            // Release pairs with the Acquire in `claim`.
            Ordering::Release
        };
        self.claimed[slot].store(false, ordering);
    }
}

#[cfg(not(any(loom, shuttle)))]
pub use of_process::{current, simulate, try_current};

/// The process's table and each thread's own index in it.
#[cfg(not(any(loom, shuttle)))]
mod of_process {
    use super::{SLOTS_MAX, Slots};
    use std::cell::Cell;

    static SLOTS: Slots = Slots::new();

    /// The thread has not asked yet.
    const UNCLAIMED: usize = usize::MAX;

    thread_local! {
        static CURRENT: Cell<usize> = const { Cell::new(UNCLAIMED) };
        static OWNED: Owned = const { Owned(Cell::new(None)) };
    }

    /// Gives the thread's slot back when the thread exits.
    struct Owned(Cell<Option<usize>>);

    impl Drop for Owned {
        fn drop(&mut self) {
            if let Some(slot) = self.0.take() {
                // Destructors of other thread locals may still count: they must not do so under this index.
                CURRENT.set(UNCLAIMED);
                SLOTS.give_back(slot);
            }
        }
    }

    /// The calling thread's slot, below [`SLOTS_MAX`].
    ///
    /// # Panics
    /// When [`SLOTS_MAX`] threads own one already. Schedulers and their helpers are far fewer; threads from outside
    /// go through [`try_current`].
    #[inline]
    pub fn current() -> usize {
        try_current().expect("more threads than slots")
    }

    /// The calling thread's slot, or None when all slots are taken or the thread is at its end.
    #[inline]
    pub fn try_current() -> Option<usize> {
        match CURRENT.get() {
            UNCLAIMED => claim(),
            slot => Some(slot),
        }
    }

    #[cold]
    fn claim() -> Option<usize> {
        OWNED
            .try_with(|owned| {
                let slot = SLOTS.claim()?;
                let before = owned.0.replace(Some(slot));
                assert!(before.is_none(), "a thread claims one slot");
                CURRENT.set(slot);
                Some(slot)
            })
            .ok()
            .flatten()
    }

    /// Runs `f` with [`current`] answering `slot`: the simulated scheduler plays several schedulers on one thread, and
    /// the same seed must meet the same slots whatever else the process does.
    ///
    /// That nobody else has the slot holds by the caller's promise only: all that `f` touches belongs to the
    /// simulation, which runs on one thread at a time. So a proof of memory safety must not rest on slots.
    pub fn simulate<R>(slot: usize, f: impl FnOnce() -> R) -> R {
        struct Restore(usize);
        impl Drop for Restore {
            fn drop(&mut self) {
                CURRENT.set(self.0);
            }
        }
        assert!(slot < SLOTS_MAX);
        let _restore = Restore(CURRENT.replace(slot));
        f()
    }
}

#[cfg(loom)]
pub use of_model::{current, try_current};
#[cfg(all(shuttle, not(loom)))]
pub use of_model::{current, simulate, try_current};

/// The same for the threads of one model.
#[cfg(any(loom, shuttle))]
mod of_model {
    use super::Slots;
    #[cfg(loom)]
    use loom as model;
    #[cfg(not(loom))]
    use shuttle as model;
    use std::cell::Cell;

    model::lazy_static! {
        static ref SLOTS: Slots = Slots::new();
    }
    model::thread_local! {
        static CURRENT: Cell<Option<usize>> = Cell::new(None);
    }

    /// The calling thread's slot. In a model it is kept until the model ends.
    pub fn current() -> usize {
        try_current().expect("more threads than slots")
    }

    /// The calling thread's slot, or None when all slots are taken.
    pub fn try_current() -> Option<usize> {
        CURRENT.with(|current| {
            if current.get().is_none() {
                current.set(SLOTS.claim());
            }
            current.get()
        })
    }

    /// Runs `f` with [`current`] answering `slot`, as outside of models.
    #[cfg(not(loom))]
    pub fn simulate<R>(slot: usize, f: impl FnOnce() -> R) -> R {
        let before = CURRENT.with(|current| current.replace(Some(slot)));
        let result = f();
        CURRENT.with(|current| current.set(before));
        result
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use std::sync::{Arc, Barrier, Mutex};

    #[test]
    fn live_threads_have_different_slots_and_exits_free_them() {
        // More threads in all than there are slots: it works only if exits give back.
        for _ in 0..SLOTS_MAX / 8 + 2 {
            let barrier = Arc::new(Barrier::new(8));
            let seen = Arc::new(Mutex::new(Vec::new()));
            let threads: Vec<_> = (0..8)
                .map(|_| {
                    let (barrier, seen) = (Arc::clone(&barrier), Arc::clone(&seen));
                    std::thread::spawn(move || {
                        let slot = current();
                        assert_eq!(slot, current());
                        seen.lock().unwrap().push(slot);
                        barrier.wait();
                    })
                })
                .collect();
            for thread in threads {
                thread.join().unwrap();
            }
            let mut slots = seen.lock().unwrap().clone();
            slots.sort_unstable();
            slots.dedup();
            assert_eq!(slots.len(), 8);
            assert!(slots.iter().all(|slot| *slot < SLOTS_MAX));
        }
    }

    #[test]
    fn a_simulated_slot_is_in_force_inside_only() {
        let own = current();
        let simulated = (own + 1) % SLOTS_MAX;
        assert_eq!(simulate(simulated, current), simulated);
        assert_eq!(current(), own);
        let panicked = std::panic::catch_unwind(|| simulate(simulated, || panic!("inside")));
        assert!(panicked.is_err());
        assert_eq!(current(), own);
    }
}
