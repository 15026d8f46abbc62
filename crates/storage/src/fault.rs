//! Faults planted on purpose, to show that the crash tests would catch them. Outside this crate's own tests each
//! answer is a constant, so no fault is in the program.

#[cfg(test)]
thread_local! {
    static PLANTED: std::cell::Cell<Option<Fault>> = const { std::cell::Cell::new(None) };
}

/// What a test can break.
#[cfg(test)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Pages are written before the log that changed them is durable.
    NoWalRule,
    /// Pages that have an older image on disk are overwritten without a copy elsewhere.
    NoDoubleWrite,
    /// A checkpoint names its redo start before its pages are written.
    EarlyMaster,
    /// A split logs the new page and its parent, but not what the old page lost.
    HalfSplit,
    /// Redo applies a record to a page that has it already.
    NoLsnTest,
    /// Redo deals the parts of one page out to several threads.
    NoOwner,
    /// A record may come below the ones of its page.
    NoPageOrder,
    /// A page that is whole is taken for the newest one.
    TrustPages,
    /// Changes of pages are not noted behind their headers.
    UnnotedChanges,
    /// The double-write area lacks the last of the lines of each page that were changed.
    ShortDelta,
    /// A torn page gets all but the last of the pieces that the double-write area has of it.
    HalfRestored,
}

/// Plants `fault` for the calling thread, or clears it away.
#[cfg(test)]
pub(crate) fn plant(fault: Option<Fault>) {
    PLANTED.set(fault);
}

macro_rules! questions {
    ($($(#[$doc:meta])* $question:ident = $fault:ident;)+) => { $(
        $(#[$doc])*
        #[cfg(test)]
        pub(crate) fn $question() -> bool {
            PLANTED.get() == Some(Fault::$fault)
        }

        $(#[$doc])*
        #[cfg(not(test))]
        #[inline(always)]
        pub(crate) const fn $question() -> bool {
            false
        }
    )+ };
}

questions! {
    /// Whether pages are written without regard to the log.
    no_wal_rule = NoWalRule;
    /// Whether the double-write area is left out.
    no_double_write = NoDoubleWrite;
    /// Whether a checkpoint skips its pages.
    early_master = EarlyMaster;
    /// Whether a split forgets its left half.
    half_split = HalfSplit;
    /// Whether redo does not look at a page's lsn.
    no_lsn_test = NoLsnTest;
    /// Whether redo deals parts out by turns.
    no_owner = NoOwner;
    /// Whether records are placed without regard to their pages.
    no_page_order = NoPageOrder;
    /// True when pages are read without regard to their stamps.
    trust_pages = TrustPages;
    /// Whether changed lines are forgotten.
    unnoted_changes = UnnotedChanges;
    /// Whether records of the double-write area are too short.
    short_delta = ShortDelta;
    /// Whether torn pages are rebuilt in part.
    half_restored = HalfRestored;
}
