//! The counters that each database has of its own.
//!
//! ```text
//!   Statistics of database a --> cells of a --\
//!   Statistics of database b --> cells of b ----> sums: the rows `_Total`
//!   databases dropped or closed --> the rest --/    (their totals; their levels are gone with them)
//! ```
//!
//! A counter is kept in one place only, so the sum of the databases and of the rest is the total by construction.

use crate::cells::SlotCells;
use crate::tables::Counter;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many counters a database has of its own.
pub(crate) const DATABASE_COUNTERS: usize = count();

const fn count() -> usize {
    let (mut at, mut found) = (0, 0);
    while at < Counter::ALL.len() {
        found += Counter::ALL[at].is_of_database() as usize;
        at += 1;
    }
    found
}

/// The place of each counter among those of a database; `usize::MAX` for the server's.
const PLACES: [usize; Counter::ALL.len()] = {
    let mut places = [usize::MAX; Counter::ALL.len()];
    let (mut at, mut next) = (0, 0);
    while at < Counter::ALL.len() {
        if Counter::ALL[at].is_of_database() {
            places[at] = next;
            next += 1;
        }
        at += 1;
    }
    places
};

/// The counter's place among those of a database; `None`: it is the server's.
#[inline]
pub(crate) const fn place_of(counter: Counter) -> Option<usize> {
    match PLACES[counter as usize] {
        usize::MAX => None,
        place => Some(place),
    }
}

/// The counters of one database, or of none in particular.
pub(crate) struct DatabaseCells {
    pub(crate) name: String,
    pub(crate) cells: SlotCells<DATABASE_COUNTERS>,
    /// Values that are set as a whole.
    levels: [AtomicU64; DATABASE_COUNTERS],
}

impl DatabaseCells {
    pub fn new(name: &str) -> Self {
        let levels = [const { AtomicU64::new(0) }; DATABASE_COUNTERS];
        Self { name: name.to_owned(), cells: SlotCells::new(), levels }
    }

    /// Sets a level.
    pub fn set(&self, place: usize, value: u64) {
        self.levels[place].store(value, Ordering::Relaxed);
    }

    /// What was added and set, wrapping: one slot may have taken away what another has added.
    pub fn sum(&self, place: usize) -> u64 {
        self.cells.sum(place).wrapping_add(self.levels[place].load(Ordering::Relaxed))
    }

    /// Adds the totals of a database that is gone to these. Its levels - sizes, open transactions - went with it.
    pub fn take_over(&self, gone: &DatabaseCells) {
        for counter in Counter::ALL {
            if let Some(place) = place_of(*counter)
                && !counter.is_level()
            {
                self.cells.add_shared(place, gone.sum(place));
            }
        }
    }
}
