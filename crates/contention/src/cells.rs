//! Cells that each thread adds to without a locked instruction, summed when they are read.
//!
//! ```text
//! slot 0   | . . . . . . |   written by its owner alone (made when the slot first counts)
//! slot 7   | . . . . . . |
//! overflow | . . . . . . |   threads without a slot: atomic adds
//!          --- sum on read --->
//! ```
//!
//! Invariants
//! - A cell of a slot is stored by the slot's owner only, so an add is a load, an addition and a store. The witness is
//!   [`crate::slot`]: a slot has one owner at a time, and a later owner has seen all that the former one stored (the model
//!   `a_slot_has_one_owner_at_a_time` checks both).
//! - The cells are std's atomics even in a model: nothing synchronises through them, and modelling each would only
//!   multiply the schedules.

use crate::cache_padded::CachePadded;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// `N` cells for each slot, and once more for threads without one.
pub(crate) struct SlotCells<const N: usize> {
    slots: Box<[OnceLock<Box<Cells<N>>>]>,
    overflow: Box<Cells<N>>,
}

/// The cells of one slot.
type Cells<const N: usize> = CachePadded<[AtomicU64; N]>;

fn new_cells<const N: usize>() -> Box<Cells<N>> {
    Box::new(CachePadded::new([const { AtomicU64::new(0) }; N]))
}

/// Where the calling thread counts.
pub(crate) enum Place<'a, const N: usize> {
    /// In the slot that it owns.
    Own(&'a Cells<N>),
    /// In the cells that threads without a slot share.
    Shared(&'a Cells<N>),
}

impl<const N: usize> Place<'_, N> {
    /// Adds to a cell, wrapping.
    #[inline]
    pub fn add(&self, cell: usize, amount: u64) {
        self.add_to(cell, amount);
    }

    /// Adds to a cell, wrapping, and returns its value.
    #[inline]
    pub fn add_to(&self, cell: usize, amount: u64) -> u64 {
        match self {
            Place::Own(cells) => {
                let value = cells[cell].load(Ordering::Relaxed).wrapping_add(amount);
                cells[cell].store(value, Ordering::Relaxed);
                value
            }
            Place::Shared(cells) => cells[cell].fetch_add(amount, Ordering::Relaxed).wrapping_add(amount),
        }
    }

    /// Raises a maximum. A clear may set the cell to 0 meanwhile: each outcome is one that the clear a moment earlier or
    /// later gives.
    pub fn raise(&self, cell: usize, value: u64) {
        match self {
            Place::Own(cells) => {
                if cells[cell].load(Ordering::Relaxed) < value {
                    cells[cell].store(value, Ordering::Relaxed);
                }
            }
            Place::Shared(cells) => {
                cells[cell].fetch_max(value, Ordering::Relaxed);
            }
        }
    }
}

impl<const N: usize> SlotCells<N> {
    /// Cells with nothing counted yet.
    pub fn new() -> Self {
        Self { slots: (0..crate::slot::SLOTS_MAX).map(|_| OnceLock::new()).collect(), overflow: new_cells() }
    }

    /// The calling thread's place. A model claims no slots for counting: that would only multiply its schedules.
    #[inline]
    pub fn place(&self) -> Place<'_, N> {
        let slot = if cfg!(any(loom, shuttle)) { None } else { crate::slot::try_current() };
        match slot {
            Some(slot) => Place::Own(self.slots[slot].get_or_init(new_cells)),
            None => Place::Shared(&self.overflow),
        }
    }

    /// Adds to the cells that threads without a slot share, whoever the caller is.
    pub fn add_shared(&self, cell: usize, amount: u64) {
        self.overflow[cell].fetch_add(amount, Ordering::Relaxed);
    }

    /// Slots that have counted.
    pub fn slots_used(&self) -> usize {
        self.slots.iter().filter(|slot| slot.get().is_some()).count()
    }

    fn all(&self) -> impl Iterator<Item = &Cells<N>> {
        let slots = self.slots.iter().filter_map(|slot| slot.get());
        slots.map(|cells| &**cells).chain(std::iter::once(&*self.overflow))
    }

    /// The sum of a cell, wrapping.
    pub fn sum(&self, cell: usize) -> u64 {
        self.all().map(|cells| cells[cell].load(Ordering::Relaxed)).fold(0, u64::wrapping_add)
    }

    /// The largest value of a cell.
    pub fn max(&self, cell: usize) -> u64 {
        self.all().map(|cells| cells[cell].load(Ordering::Relaxed)).max().unwrap_or(0)
    }

    /// Sets a cell to 0 everywhere.
    pub fn reset(&self, cell: usize) {
        for cells in self.all() {
            cells[cell].store(0, Ordering::Relaxed);
        }
    }
}
/// A counter that threads add to without a locked instruction and without a shared line, summed when it is read.
pub struct SlotCounter(SlotCells<1>);

impl SlotCounter {
    /// Nothing counted yet.
    pub fn new() -> Self {
        Self(SlotCells::new())
    }

    /// Adds, wrapping.
    #[inline]
    pub fn add(&self, amount: u64) {
        self.0.place().add(0, amount);
    }

    /// Adds, wrapping, and returns the calling thread's part of the sum. A thread that has one of its own finds it raised by its own calls alone.
    #[inline]
    pub fn add_to_own(&self, amount: u64) -> u64 {
        self.0.place().add_to(0, amount)
    }

    /// All that was added.
    pub fn sum(&self) -> u64 {
        self.0.sum(0)
    }
}

/// Counters of one thing that are made, and mostly added to, together: each as a [`SlotCounter`], in the memory of one.
pub struct SlotCounters<const N: usize>(SlotCells<N>);

impl<const N: usize> SlotCounters<N> {
    /// Nothing counted yet.
    pub fn new() -> Self {
        Self(SlotCells::new())
    }

    /// Adds to a counter, wrapping.
    #[inline]
    pub fn add(&self, counter: usize, amount: u64) {
        self.0.place().add(counter, amount);
    }

    /// Adds to several, wrapping.
    #[inline]
    pub fn add_each<const M: usize>(&self, amounts: [(usize, u64); M]) {
        let place = self.0.place();
        amounts.into_iter().for_each(|(counter, amount)| place.add(counter, amount));
    }

    /// All that was added to a counter.
    pub fn sum(&self, counter: usize) -> u64 {
        self.0.sum(counter)
    }
}

impl<const N: usize> Default for SlotCounters<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl Default for SlotCounter {
    fn default() -> Self {
        Self::new()
    }
}
