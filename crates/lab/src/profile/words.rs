//! Words for the innermost function of a stack, where its own name says little: a pause loop, a copy, a wake-up.
//!
//! The C library, the kernel's calls and the loops of the spinlock have names that people must look up. The table says what they
//! do; the function that called them stays in the stack below.

use super::names::Frame;

/// The work of a spinning thread until it has its lock.
pub(super) const SPINNING: &str = "spinlock back-off";

/// Functions of the spinlock in which threads spin and back off, in contrast to taking a lock that is free.
const SPIN_LOOPS: [&str; 5] = ["spin", "back_off", "back_off_if_due", "spin_loop", "yield_now"];
const SPINLOCK: &str = "pikepole_contention::spinlock";

/// Names of functions, and what they do.
const WORDS: [(&[&str], &str); 12] = [
    (&["memcpy", "memmove", "__memcpy_chk", "__memmove_chk"], "memory copy"),
    (&["memset"], "memory fill"),
    (&["memcmp", "bcmp"], "memory comparison"),
    (
        &[
            "malloc",
            "__libc_malloc",
            "calloc",
            "__libc_calloc",
            "realloc",
            "__libc_realloc",
            "free",
            "cfree",
            "__libc_free",
        ],
        "memory allocation",
    ),
    (&["madvise", "mmap", "mmap64", "munmap", "brk", "sbrk"], "memory from the system"),
    (
        &["pwrite", "pwrite64", "__libc_pwrite", "pwritev", "pwritev2", "fsync", "fdatasync", "io_uring_enter"],
        "write to a file",
    ),
    (&["pread", "pread64", "__libc_pread", "preadv", "preadv2"], "read of a file"),
    (&["epoll_wait", "epoll_pwait", "epoll_pwait2", "read", "__read", "__libc_read"], "wait for events"),
    (&["syscall", "eventfd_write"], "wake-up of a thread"),
    (&["clock_gettime", "__clock_gettime", "__vdso_clock_gettime", "__vdso_gettimeofday"], "clock"),
    (&["sched_yield", "yield_now"], "turn given up"),
    (&["nanosleep", "clock_nanosleep", "__clock_nanosleep", "usleep"], "sleep"),
];

/// Crates whose functions all do one thing, and the modules of the language's library that do.
const CRATES: [(&str, &str); 3] =
    [("crc32c", "checksum"), ("std::sys::pal::unix::time", "clock"), ("core::ptr::drop_in_place", "memory allocation")];

fn is_below(name: &str, path: &str) -> bool {
    name.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// Words for the innermost function of a stack, whose frames come innermost first; `None` where its name is good enough.
pub(super) fn of_stack(frames: &[Frame]) -> Option<&'static str> {
    let innermost = frames.first()?.name.as_str();
    let spins = |name: &str| {
        let last = name.rsplit("::").next().unwrap_or(name);
        is_below(name, SPINLOCK) && SPIN_LOOPS.contains(&last)
    };
    let is_ours = innermost.starts_with("pikepole");
    // A pause, a yield or a sleep, whatever the library calls it, that the spinlock asked for.
    let is_asked = !is_ours && frames.get(1).is_some_and(|caller| is_below(&caller.name, SPINLOCK));
    if spins(innermost) || is_asked {
        return Some(SPINNING);
    }
    if is_ours {
        return None;
    }
    // The same call wakes a thread and answers a client.
    if ["write", "__write", "__libc_write"].contains(&innermost) {
        let is_answer = frames.iter().any(|frame| is_below(&frame.name, "pikepole_server"));
        return Some(if is_answer { "write to a connection" } else { "wake-up of a thread" });
    }
    // Variants for kinds of processors: __memmove_avx_unaligned_erms.
    let plain = innermost.trim_start_matches('_');
    let of_memory =
        ["memmove", "memcpy", "memset", "memcmp"].into_iter().find(|name| plain.starts_with(&format!("{name}_")));
    let name = of_memory.unwrap_or(innermost);
    let word = WORDS.iter().find(|(names, _)| names.contains(&name)).map(|(_, word)| *word);
    word.or_else(|| CRATES.iter().find(|(path, _)| is_below(innermost, path)).map(|(_, word)| *word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(names: &[&str]) -> Option<&'static str> {
        let frames: Vec<Frame> = names.iter().map(|name| Frame { name: (*name).to_owned() }).collect();
        of_stack(&frames)
    }

    #[test]
    fn a_pause_loop_is_back_off_whatever_it_is_called() {
        let lock = "pikepole_contention::spinlock::lock";
        for innermost in [
            "sched_yield",
            "core_arch::x86::sse2::_mm_pause",
            "core::hint::spin_loop",
            "a_library::yield_now",
            "nanosleep",
        ] {
            assert_eq!(said(&[innermost, lock]), Some(SPINNING), "{innermost}");
        }
        for spinning in ["pikepole_contention::spinlock::spin", "pikepole_contention::spinlock::Spinner::back_off"] {
            assert_eq!(said(&[spinning, lock]), Some(SPINNING), "{spinning}");
        }
        assert_eq!(said(&[lock, "pikepole_transaction::id::retire"]), None, "a lock that is free is taken");
        assert_eq!(said(&["sched_yield", "pikepole_scheduler::worker::run"]), Some("turn given up"));
    }

    #[test]
    fn copies_wake_ups_and_files_have_words() {
        for (name, wanted) in [
            ("memcpy", Some("memory copy")),
            ("__memmove_avx512_unaligned_erms", Some("memory copy")),
            ("__memset_evex_unaligned", Some("memory fill")),
            ("__memcmp_avx2_movbe", Some("memory comparison")),
            ("__libc_malloc", Some("memory allocation")),
            ("pwritev2", Some("write to a file")),
            ("syscall", Some("wake-up of a thread")),
            ("write", Some("wake-up of a thread")),
            ("epoll_wait", Some("wait for events")),
            ("crc32c::hw_x86_64::crc_u64_parallel3", Some("checksum")),
            ("[libc.so.6]", None),
            ("memories", None),
            ("pikepole_log::log::append", None),
        ] {
            assert_eq!(said(&[name, "pikepole_log::flush::write"]), wanted, "{name}");
        }
        assert_eq!(said(&["write", "pikepole_server::connection::send"]), Some("write to a connection"));
        assert_eq!(said(&[]), None);
    }
}
