//! Faults planted on purpose, to show that the crash simulation would catch them. Outside this crate's own tests
//! each answer is a constant, so no fault is in the program.

#[cfg(test)]
thread_local! {
    static PLANTED: std::cell::Cell<Option<Fault>> = const { std::cell::Cell::new(None) };
}

/// What a test can break.
#[cfg(test)]
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
}

/// Plants `fault` for the calling thread, or clears it away.
#[cfg(test)]
pub(crate) fn plant(fault: Option<Fault>) {
    PLANTED.set(fault);
}

#[cfg(test)]
fn planted(fault: Fault) -> bool {
    PLANTED.get() == Some(fault)
}

macro_rules! questions {
    ($($(#[$doc:meta])* $question:ident = $fault:ident;)+) => { $(
        $(#[$doc])*
        #[cfg(test)]
        pub(crate) fn $question() -> bool {
            planted(Fault::$fault)
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
    /// Whether checksums are not looked at.
    no_checksums = NoChecksums;
    /// Whether commits are acknowledged before they are written.
    acknowledge_first = AcknowledgeFirst;
    /// Whether an opening keeps the incarnation.
    no_raise = NoRaise;
    /// Whether a place is believed unseen.
    trust_place = TrustPlace;
}
