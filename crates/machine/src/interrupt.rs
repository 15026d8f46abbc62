//! Signals that would end the process, as calls on a thread of its own: SIGINT, a terminal's interrupt key, SIGTERM, and
//! SIGHUP, which a terminal sends when it is closed.

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

/// Calls `asked` for every SIGINT, SIGTERM and SIGHUP from now on; see [`on_interrupt`]. A SIGHUP that whoever started the process has
/// it ignore, as `nohup` does, stays ignored.
///
/// # Errors
/// As [`on_interrupt`].
pub fn on_termination(asked: impl Fn() + Send + 'static) -> io::Result<()> {
    let hang_up = (!is_ignored(libc::SIGHUP)?).then_some(libc::SIGHUP);
    let which: Vec<libc::c_int> = [libc::SIGINT, libc::SIGTERM].into_iter().chain(hang_up).collect();
    on_signals(&which, asked)
}

/// Whether a signal is ignored. One that is blocked, as `on_signals` does, would no longer be.
fn is_ignored(signal: libc::c_int) -> io::Result<bool> {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: nothing is changed without a new action, and the old one is written to `action`, which is alive.
    if unsafe { libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call above succeeded, so it has written the action.
    Ok(unsafe { action.assume_init() }.sa_sigaction == libc::SIG_IGN)
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
