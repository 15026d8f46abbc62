//! The interrupt key of a terminal: SIGINT as a call on a thread of its own, instead of the end of the process.

use pikepole_contention::sync::thread;
use std::io;

/// Calls `interrupted` for every SIGINT from now on. To be called before other threads start: they inherit that SIGINT is not
/// delivered to them.
///
/// # Errors
/// What the system says when the signal cannot be blocked or the thread not be started.
pub fn on_interrupt(interrupted: impl Fn() + Send + 'static) -> io::Result<()> {
    let signals = interrupt_alone();
    // SAFETY: the set is alive and initialised; the former mask is not asked for.
    let status = unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const signals, std::ptr::null_mut()) };
    if status != 0 {
        return Err(io::Error::from_raw_os_error(status));
    }
    let wait = move || {
        let mut signal = 0;
        // SAFETY: the set is initialised, its signal is blocked in this thread, and `signal` is alive during the call.
        while unsafe { libc::sigwait(&raw const signals, &raw mut signal) } == 0 {
            interrupted();
        }
    };
    thread::Builder::new().name("interrupt".to_string()).spawn(wait).map(drop)
}

/// The set of SIGINT.
fn interrupt_alone() -> libc::sigset_t {
    let mut signals = std::mem::MaybeUninit::uninit();
    // SAFETY: the first call initialises the set, the second adds to it; SIGINT is a signal, so neither fails.
    unsafe {
        libc::sigemptyset(signals.as_mut_ptr());
        libc::sigaddset(signals.as_mut_ptr(), libc::SIGINT);
        signals.assume_init()
    }
}
