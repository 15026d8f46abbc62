//! Faults planted on purpose, to show that a loom model would catch them.
//!
//! Code under a model asks [`planted`] at the place where a mistake would hurt. Outside `--cfg loom` the answer is
//! a constant `false`, so the fault is not in the program at all. Within a model, [`with`] plants one for the calls
//! below it: loom runs all threads of a model on the thread that started it, so a plain thread local reaches them.
//!
//! The canaries run with the models, in one command; each expects its model to fail.

#[cfg(loom)]
thread_local! {
    static PLANTED: std::cell::Cell<Option<&'static str>> = const { std::cell::Cell::new(None) };
}

/// Whether the fault of this name is planted.
#[inline(always)]
#[cfg(not(loom))]
pub const fn planted(_name: &'static str) -> bool {
    false
}

/// Whether the fault of this name is planted.
#[cfg(loom)]
pub fn planted(name: &'static str) -> bool {
    PLANTED.get() == Some(name)
}

/// Runs `model` with the fault `name` planted and returns the panic message of its failure, or None when the model
/// did not notice.
#[cfg(loom)]
pub fn with(name: &'static str, model: impl FnOnce() + std::panic::UnwindSafe) -> Option<String> {
    PLANTED.set(Some(name));
    let outcome = std::panic::catch_unwind(model);
    PLANTED.set(None);
    let panic = outcome.err()?;
    let text =
        panic.downcast_ref::<String>().cloned().or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string()));
    Some(text.unwrap_or_default())
}
