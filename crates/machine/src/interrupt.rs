//! Signals that would end the process, as calls on a thread of its own: SIGINT, a terminal's interrupt key, and SIGTERM.

use pikepole_contention::sync::thread;
use std::io;

/// Calls `interrupted` for every SIGINT from now on. To be called before other threads start: they inherit that SIGINT is not
/// delivered to them.
///
/// # Errors
/// What the system says when the signal cannot be blocked or the thread not be started.
pub fn on_interrupt(interrupted: impl Fn() + Send + 'static) -> io::Result<()> {
    on_signals(&[libc::SIGINT], interrupted)
}

/// Calls `asked` for every SIGINT and every SIGTERM from now on; see [`on_interrupt`].
///
/// # Errors
/// As [`on_interrupt`].
pub fn on_termination(asked: impl Fn() + Send + 'static) -> io::Result<()> {
    on_signals(&[libc::SIGINT, libc::SIGTERM], asked)
}

fn on_signals(which: &[libc::c_int], arrived: impl Fn() + Send + 'static) -> io::Result<()> {
    let signals = set_of(which);
    // SAFETY: the set is alive and initialised; the former mask is not asked for.
    let status = unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const signals, std::ptr::null_mut()) };
    if status != 0 {
        return Err(io::Error::from_raw_os_error(status));
    }
    let wait = move || {
        let mut signal = 0;
        // SAFETY: the set is initialised, its signals are blocked in this thread, and `signal` is alive during the call.
        while unsafe { libc::sigwait(&raw const signals, &raw mut signal) } == 0 {
            arrived();
        }
    };
    thread::Builder::new().name("interrupt".to_string()).spawn(wait).map(drop)
}

/// The set of these signals.
fn set_of(which: &[libc::c_int]) -> libc::sigset_t {
    let mut signals = std::mem::MaybeUninit::uninit();
    // SAFETY: the first call initialises the set, the others add to it; all are signals, so none fails.
    unsafe {
        libc::sigemptyset(signals.as_mut_ptr());
        for signal in which {
            libc::sigaddset(signals.as_mut_ptr(), *signal);
        }
        signals.assume_init()
    }
}
