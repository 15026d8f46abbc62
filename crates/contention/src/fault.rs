//! Faults planted on purpose, to show that a model would catch them.
//!
//! Code under a model asks [`planted`] at the place where a mistake would hurt. Outside of models the answer is
//! a constant `false`, so the fault is not in the program at all. Under loom and shuttle `plant` plants one for the calling
//! thread: both run all threads of a model on the thread that started it, so a plain thread local reaches them.
//!
//! The canaries run with the models, in one command; each expects its model to fail.

#[cfg(any(loom, shuttle))]
thread_local! {
    static PLANTED: std::cell::Cell<Option<&'static str>> = const { std::cell::Cell::new(None) };
}

/// Whether the fault of this name is planted.
#[inline(always)]
#[cfg(not(any(loom, shuttle)))]
pub const fn planted(_name: &'static str) -> bool {
    false
}

/// Whether the fault of this name is planted.
#[cfg(any(loom, shuttle))]
pub fn planted(name: &'static str) -> bool {
    PLANTED.get() == Some(name)
}

/// Plants the fault of this name for the models that the calling thread checks from now on.
#[cfg(any(loom, shuttle))]
pub fn plant(name: &'static str) {
    PLANTED.set(Some(name));
}
