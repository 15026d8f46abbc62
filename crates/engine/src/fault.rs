//! A fault planted on purpose, to show that the crash tests would catch it. Outside of this crate's own tests there is none.

#[cfg(test)]
thread_local! {
    static SETTLES_NOTHING: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Plants the fault for the calling thread, or clears it away: trees that were filled without logging count as safe at once.
#[cfg(test)]
pub(crate) fn plant_settles_nothing(planted: bool) {
    SETTLES_NOTHING.set(planted);
}

/// Whether nobody waits until trees are safe that were filled without logging.
#[cfg(test)]
pub(crate) fn settles_nothing() -> bool {
    SETTLES_NOTHING.get()
}

/// Whether nobody waits until trees are safe that were filled without logging.
#[cfg(not(test))]
#[inline(always)]
pub(crate) const fn settles_nothing() -> bool {
    false
}
