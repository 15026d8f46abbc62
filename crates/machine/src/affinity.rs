//! Which CPUs threads may run on.

use std::io;

/// Words of a CPU mask as first offered to the kernel: 1024 CPUs.
const MASK_WORDS: usize = 16;

/// Words of the largest mask ever offered: 65,536 CPUs.
const MASK_WORDS_MAX: usize = 1024;

/// The CPUs, ascending, that this process may run on: what its main thread was given.
///
/// # Errors
/// What the kernel answers.
pub fn allowed() -> io::Result<Vec<usize>> {
    let process = i32::try_from(std::process::id()).map_err(io::Error::other)?;
    read_mask(process)
}

/// The CPUs, ascending, that the calling thread may run on.
///
/// # Errors
/// What the kernel answers.
pub fn current() -> io::Result<Vec<usize>> {
    read_mask(0)
}

/// Binds the calling thread to one CPU.
///
/// # Errors
/// `InvalidInput` when there is no such CPU or the process may not use it.
pub fn pin(cpu: usize) -> io::Result<()> {
    pin_to(&[cpu])
}

/// Binds the calling thread to these CPUs.
///
/// # Errors
/// `InvalidInput` when the process may use none of them.
pub fn pin_to(cpus: &[usize]) -> io::Result<()> {
    pin_thread(0, cpus)
}

/// The calling thread's number, as the system counts threads.
pub fn thread_number() -> i32 {
    // SAFETY: the call has no arguments and cannot fail.
    unsafe { libc::gettid() }
}

/// The CPUs, ascending, that a thread of this process may run on, by its [`thread_number`].
///
/// # Errors
/// What the kernel answers when there is no such thread.
pub fn of_thread(thread: i32) -> io::Result<Vec<usize>> {
    read_mask(thread)
}

/// Binds a thread of this process, by its [`thread_number`], to these CPUs; 0 is the calling thread.
///
/// # Errors
/// `InvalidInput` when the process may use none of them; what the kernel answers when there is no such thread.
pub fn pin_thread(thread: i32, cpus: &[usize]) -> io::Result<()> {
    let bits = u64::BITS as usize;
    if cpus.iter().any(|cpu| *cpu >= MASK_WORDS_MAX * bits) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let words = cpus.iter().max().map_or(1, |cpu| cpu / bits + 1).max(MASK_WORDS);
    let mut mask = vec![0u64; words];
    for cpu in cpus {
        mask[cpu / bits] |= 1 << (cpu % bits);
    }
    // SAFETY: `mask` is `size_of_val` bytes long and lives through the call, which only reads it.
    let set = unsafe { libc::sched_setaffinity(thread, size_of_val(&mask[..]), mask.as_ptr().cast()) };
    if set == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The mask of a thread: 0 is the calling one, a process id its main thread.
fn read_mask(thread: i32) -> io::Result<Vec<usize>> {
    let mut words = MASK_WORDS;
    loop {
        let mut mask = vec![0u64; words];
        // SAFETY: `mask` is `size_of_val` bytes long, aligned for the kernel's words, lives through the call, and
        // any bits are a u64.
        let read = unsafe { libc::sched_getaffinity(thread, size_of_val(&mask[..]), mask.as_mut_ptr().cast()) };
        if read == 0 {
            let bits = u64::BITS as usize;
            let is_set = |cpu: &usize| mask[cpu / bits] >> (cpu % bits) & 1 == 1;
            return Ok((0..words * bits).filter(is_set).collect());
        }
        let error = io::Error::last_os_error();
        // The kernel knows more CPUs than the mask has bits.
        if error.raw_os_error() != Some(libc::EINVAL) || words >= MASK_WORDS_MAX {
            return Err(error);
        }
        words *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pikepole_contention::sync::thread;

    #[test]
    fn a_thread_goes_where_it_is_pinned() {
        let cpus = allowed().expect("a mask");
        assert!(!cpus.is_empty());
        assert!(cpus.is_sorted());
        // On a thread of its own: the test harness's is not ours to bind.
        thread::scope(|scope| {
            scope.spawn(|| {
                for cpu in &cpus {
                    pin(*cpu).expect("an allowed CPU");
                    assert_eq!(current().expect("a mask"), [*cpu]);
                }
                let own = thread_number();
                thread::scope(|other| {
                    other.spawn(|| pin_thread(own, &cpus[..1]).expect("from another thread"));
                });
                assert_eq!(of_thread(own).expect("a mask"), cpus[..1]);
                pin_to(&cpus).expect("all of them");
                assert_eq!(current().expect("a mask"), cpus);
            });
        });
    }

    #[test]
    fn a_cpu_that_is_not_there_is_refused() {
        assert_eq!(pin(60_000).expect_err("refused").kind(), io::ErrorKind::InvalidInput);
        assert_eq!(pin(usize::MAX).expect_err("refused").kind(), io::ErrorKind::InvalidInput);
        assert_eq!(pin_to(&[]).expect_err("refused").kind(), io::ErrorKind::InvalidInput);
    }
}
