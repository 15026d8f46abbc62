//! Faults planted on purpose, to show that the crash simulation would catch them. Outside this crate's own tests
//! each answer is a constant, so no fault is in the program.

#[cfg(all(test, not(loom)))]
thread_local! {
    static PLANTED: std::cell::Cell<Option<Fault>> = const { std::cell::Cell::new(None) };
}

/// What a test can break.
#[cfg(all(test, not(loom)))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Recovery believes every block whose header looks right.
    NoChecksums,
    /// The durable horizon moves before the write.
    AcknowledgeFirst,
    /// Recovery does not raise the incarnation.
    NoRaise,
    /// Recovery begins at a place without looking what lies there.
    TrustPlace,
    /// The durable horizon moves to the end of each block that is finished, whatever became of those before it.
    HardenOutOfOrder,
    /// Recovery steps over a bad block to the next good one.
    IgnoreHole,
    /// A block says that all blocks before it were durable, though some are on their way.
    NameOwnSequence,
    /// A second segment is taken into use while the first one's header is on its way.
    ActivateEarly,
    /// A block is written over the one before it in its segment.
    RewriteBlock,
    /// A segment is freed as soon as there is another one, whatever is in it.
    ReuseEarly,
}

/// Plants `fault` for the calling thread, or clears it away.
#[cfg(all(test, not(loom)))]
pub(crate) fn plant(fault: Option<Fault>) {
    PLANTED.set(fault);
}

#[cfg(all(test, not(loom)))]
fn planted(fault: Fault) -> bool {
    PLANTED.get() == Some(fault)
}

macro_rules! questions {
    ($($(#[$doc:meta])* $question:ident = $fault:ident;)+) => { $(
        $(#[$doc])*
        #[cfg(all(test, not(loom)))]
        pub(crate) fn $question() -> bool {
            planted(Fault::$fault)
        }

        $(#[$doc])*
        #[cfg(any(not(test), loom))]
        #[cfg_attr(loom, allow(dead_code, reason = "a model uses a part of it"))]
        #[inline(always)]
        pub(crate) const fn $question() -> bool {
            false
        }
    )+ };
}

questions! {
    /// Whether checksums are not looked at.
    no_checksums = NoChecksums;
    /// Whether commits are acknowledged before they are written.
    acknowledge_first = AcknowledgeFirst;
    /// Whether an opening keeps the incarnation.
    no_raise = NoRaise;
    /// Whether a place is believed unseen.
    trust_place = TrustPlace;
    /// Whether blocks harden in any order.
    harden_out_of_order = HardenOutOfOrder;
    /// Whether a hole is no end.
    ignore_hole = IgnoreHole;
    /// Whether a block names itself as the durable horizon.
    name_own_sequence = NameOwnSequence;
    /// Whether segments are taken into use without waiting.
    activate_early = ActivateEarly;
    /// Whether blocks are rewritten in place.
    rewrite_block = RewriteBlock;
    /// Whether segments are freed while they are needed.
    reuse_early = ReuseEarly;
}
