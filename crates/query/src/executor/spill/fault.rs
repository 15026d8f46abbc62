//! Faults that tests plant, to see that they would be caught.

use std::cell::Cell;

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Planted {
    /// Every hundredth row of a tape is passed over.
    LostRow,
    /// Runs are merged in the wrong order where their rows are equal.
    UnstableMerge,
    /// Rows of one hash are divided by chance.
    TornPart,
    /// A block is read otherwise than it was written.
    GarbledBlock,
}

thread_local! {
    static PLANTED: Cell<Option<Planted>> = const { Cell::new(None) };
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

/// Plants a fault for what the calling thread runs.
pub(crate) fn plant(fault: Option<Planted>) {
    PLANTED.set(fault);
}

/// Whether this fault is planted.
pub(super) fn is(fault: Planted) -> bool {
    PLANTED.get() == Some(fault)
}

/// Whether it is planted and comes now: every hundredth time.
pub(super) fn comes(fault: Planted) -> bool {
    is(fault) && {
        COUNT.set(COUNT.get() + 1);
        COUNT.get().is_multiple_of(100)
    }
}
