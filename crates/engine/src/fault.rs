//! Faults planted on purpose, to show that the crash tests would catch them. Outside of this crate's own tests there
//! are none.

#[cfg(test)]
thread_local! {
    static PLANTED: std::cell::Cell<Option<Fault>> = const { std::cell::Cell::new(None) };
}

/// What a test can break.
#[cfg(test)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Trees that were filled without logging count as safe at once.
    SettlesNothing,
    /// A log backup has no pages.
    TakesNoPages,
    /// The pages of log backups are put in, and redo is not told.
    TellsNoRedo,
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
    /// Whether nobody waits until trees are safe that were filled without logging.
    settles_nothing = SettlesNothing;
    /// Whether log backups leave out the pages whose rows the log lacks.
    takes_no_pages = TakesNoPages;
    /// Whether redo of a restored database takes such pages for ones that it may make anew.
    tells_no_redo = TellsNoRedo;
}
