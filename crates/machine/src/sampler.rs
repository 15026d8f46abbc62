//! Where the threads of this process are while they use a CPU: registers and the top of the stack, some hundred times for
//! each second of CPU time.
//!
//! ```text
//!   kernel: a timer on each thread's CPU time ── SIGPROF to that thread ──▶ handler: a slot of the ring
//!                                                                              │  registers, bytes of the stack
//!   the sampler's owner: follow() arms timers of new threads                   ▼
//!                        take() ◀──────────────────────────────────── FULL slots
//! ```
//! The handler only copies; finding out which functions the bytes mean is the owner's work, in ordinary code, later. So the
//! program needs no frame pointers, and stacks are known through libraries that have none.
//!
//! | slot's state | means | who changes it |
//! |---|---|---|
//! | FREE | nothing in it | a handler, to FILLING, by compare-and-swap, Acquire |
//! | FILLING | one handler writes it | that handler, to FULL, Release |
//! | FULL | the owner of the sampler reads it | the owner, to FREE, Release |
//!
//! Timers are those of each thread, not one of the process: the kernel gives a process one signal a tick, however many CPUs it
//! uses. They are looked at when the kernel ticks, so there are at most so many samples a second as it has ticks (100 to 1,000).
//! What a thread does in the kernel shows as the call it made: the signal is delivered on the way back.
//!
//! # Why the handler is safe wherever it interrupts
//! It may run between any two instructions, of this code or the C library's, with any lock held. It
//! - touches the ring, which is made before the handler is installed and never freed, by atomics and by plain writes to the one
//!   slot that its compare-and-swap gave it, and takes no lock, allocates nothing, panics nowhere;
//! - makes two system calls, `gettid` and `process_vm_readv`, the only functions it calls. The second copies the stack: for
//!   addresses that are not mapped it answers less, where a read of our own would fault;
//! - leaves `errno` as it found it, since the interrupted code may be about to look at it;
//! - is not interrupted by itself (its signal is blocked while it runs), and needs less than 1 KB of the thread's stack beside
//!   what the kernel puts there.
//!
//! The handler stays installed once it was: a signal that is still under way when its timer is gone finds the ring switched off
//! and does nothing, where without a handler it would end the process.

use crate::Region;
use crate::affinity::thread_number;
use pikepole_contention::sync::OnceLock;
use pikepole_contention::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use pikepole_contention::{CachePadded, sync::UnsafeCell};
use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

/// Slots of the ring.
const SLOTS: usize = 256;
/// Bytes of a stack that a slot has room for.
pub const STACK_BYTES: usize = 64 << 10;
/// Pieces of a stack: a page each, and one for the part up to the first page's end.
const PIECES: usize = STACK_BYTES / crate::BLOCK + 1;

const FREE: u32 = 0;
const FILLING: u32 = 1;
const FULL: u32 = 2;

/// The registers that tell where a thread is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Registers {
    /// The next instruction.
    pub instruction: u64,
    /// The stack's lowest byte in use.
    pub stack: u64,
    /// The frame pointer, where code keeps one.
    pub frame: u64,
}

/// A thread at one moment.
#[derive(Debug)]
pub struct Sample<'a> {
    /// The thread's number, as the system counts threads.
    pub thread: i32,
    /// Its registers.
    pub registers: Registers,
    /// The bytes of its stack from `registers.stack` on, as many as there are and a slot takes.
    pub stack: &'a [u8],
    /// It was in a system call.
    pub in_call: bool,
}

#[derive(Default)]
struct Head {
    thread: i32,
    registers: Registers,
    stack_bytes: usize,
}

struct Slot {
    state: AtomicU32,
    head: UnsafeCell<Head>,
}

struct Ring {
    /// There is a sampler.
    owned: AtomicBool,
    /// Samples are wanted.
    on: AtomicBool,
    /// Where the next handler begins to look for a free slot.
    next: AtomicUsize,
    /// Samples that found no slot.
    lost: AtomicU64,
    process: i32,
    slots: Box<[CachePadded<Slot>]>,
    /// The slots' stacks, one after the other.
    stacks: Region,
}

// SAFETY: a slot's head and stack are written by the one handler that took its state from FREE to FILLING, and read by the one
// owner (`owned` is set by a swap) that found it FULL and has not yet set it FREE; the rest is atomics, or never changes.
unsafe impl Sync for Ring {}

static RING: OnceLock<Ring> = OnceLock::new();

/// Samples this process's threads until it is dropped. There is one at a time.
#[derive(Debug)]
pub struct Sampler {
    every: Duration,
    /// Timers by thread.
    timers: BTreeMap<i32, Timer>,
    ring: &'static Ring,
}

impl std::fmt::Debug for Ring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ring")
    }
}

impl Sampler {
    /// A sampler that takes a sample of each thread it follows for so much CPU time that the thread uses; see
    /// [`follow`](Self::follow). The kernel's tick is the least it can do.
    ///
    /// # Errors
    /// `WouldBlock` when there is one already; `Unsupported` on processors whose stacks it does not know; what the system says.
    pub fn start(every: Duration) -> io::Result<Self> {
        if cfg!(not(target_arch = "x86_64")) {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "samples are taken on x86-64 only"));
        }
        let ring = match RING.get() {
            Some(ring) => ring,
            None => {
                let ring = Ring::new()?;
                RING.get_or_init(move || ring)
            }
        };
        // Acquire: pairs with the Release in the drop of the sampler before.
        if ring.owned.swap(true, Ordering::Acquire) {
            return Err(io::Error::new(io::ErrorKind::WouldBlock, "another profile is being taken"));
        }
        // From here on it is given back by the sampler's drop.
        let mut sampler = Self { every, timers: BTreeMap::new(), ring };
        install()?;
        // What the one before has left.
        sampler.take(|_| ());
        ring.lost.store(0, Ordering::Relaxed);
        ring.on.store(true, Ordering::Relaxed);
        Ok(sampler)
    }

    /// Arms the timers of threads that have come since the last call, and drops those of threads that have gone. The calling
    /// thread is left out.
    ///
    /// # Errors
    /// What the system says: most often that the user may have no more timers (`RLIMIT_SIGPENDING`).
    pub fn follow(&mut self) -> io::Result<()> {
        let own = thread_number();
        let mut threads = Vec::new();
        for entry in std::fs::read_dir("/proc/self/task")? {
            let name = entry?.file_name();
            threads.extend(name.to_str().and_then(|name| name.parse::<i32>().ok()).filter(|thread| *thread != own));
        }
        self.timers.retain(|thread, _| threads.contains(thread));
        for thread in threads {
            if self.timers.contains_key(&thread) {
                continue;
            }
            match Timer::arm(thread, self.every) {
                Ok(timer) => drop(self.timers.insert(thread, timer)),
                // It has ended since it was listed.
                Err(error) if matches!(error.raw_os_error(), Some(libc::EINVAL | libc::ESRCH)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Hands out the samples that are there and makes room for others. To be called often: a ring has 512 slots.
    pub fn take(&mut self, mut each: impl FnMut(&Sample<'_>)) {
        for (place, slot) in self.ring.slots.iter().enumerate() {
            // Acquire: pairs with the Release in `Ring::fill`.
            if slot.state.load(Ordering::Acquire) != FULL {
                continue;
            }
            slot.head.with(|head| {
                // SAFETY: the slot is FULL, so its handler has left it and no other takes it before it is FREE; `&mut self` and the
                // one owner that there is rule out another reader.
                let head = unsafe { &*head };
                // SAFETY: as above; `stack_bytes` of the slot's part of the region were written.
                let stack = unsafe { std::slice::from_raw_parts(self.ring.stack(place), head.stack_bytes) };
                let in_call = is_in_call(self.ring.process, head.registers.instruction);
                each(&Sample { thread: head.thread, registers: head.registers, stack, in_call });
            });
            // Release: pairs with the Acquire of the compare-and-swap in `Ring::fill`.
            slot.state.store(FREE, Ordering::Release);
        }
    }

    /// Samples that found the ring full since the start.
    pub fn lost(&self) -> u64 {
        self.ring.lost.load(Ordering::Relaxed)
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.ring.on.store(false, Ordering::Relaxed);
        self.timers.clear();
        // Release: pairs with the Acquire in `Sampler::start`; what this one read is read before another one does.
        self.ring.owned.store(false, Ordering::Release);
    }
}

impl Ring {
    fn new() -> io::Result<Self> {
        let slot = || CachePadded::new(Slot { state: AtomicU32::new(FREE), head: UnsafeCell::new(Head::default()) });
        Ok(Self {
            owned: AtomicBool::new(false),
            on: AtomicBool::new(false),
            next: AtomicUsize::new(0),
            lost: AtomicU64::new(0),
            process: i32::try_from(std::process::id()).map_err(io::Error::other)?,
            slots: (0..SLOTS).map(|_| slot()).collect(),
            stacks: Region::with_pages(SLOTS * STACK_BYTES, crate::Pages::Small)?,
        })
    }

    /// The first byte of a slot's stack; `place` is below `SLOTS`.
    fn stack(&self, place: usize) -> *mut u8 {
        // Without an addition that could panic: this is called by the handler.
        self.stacks.as_ptr().wrapping_add(place * STACK_BYTES)
    }

    /// Puts a sample into a free slot. Called in the signal's handler: see the module.
    fn fill(&self, registers: Registers) {
        let first = self.next.fetch_add(1, Ordering::Relaxed);
        for step in 0..SLOTS {
            let place = first.wrapping_add(step) % SLOTS;
            let Some(slot) = self.slots.get(place) else { return };
            // Acquire: pairs with the Release in `Sampler::take`.
            if slot.state.compare_exchange(FREE, FILLING, Ordering::Acquire, Ordering::Relaxed).is_err() {
                continue;
            }
            let stack_bytes = copy(self.process, registers.stack, self.stack(place), STACK_BYTES);
            // SAFETY: the call has no arguments and cannot fail.
            let thread = unsafe { libc::gettid() };
            let content = Head { thread, registers, stack_bytes };
            // SAFETY: the swap above gave this slot to this handler alone; a `Head` has nothing to drop.
            slot.head.with_mut(|head| unsafe { head.write(content) });
            // Release: pairs with the Acquire in `Sampler::take`.
            slot.state.store(FULL, Ordering::Release);
            return;
        }
        self.lost.fetch_add(1, Ordering::Relaxed);
    }
}

/// Copies up to `len` bytes of this process from an address that need not be mapped; how many there were, in whole pieces of at
/// most a page.
fn copy(process: i32, from: u64, to: *mut u8, len: usize) -> usize {
    let nothing = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
    let mut pieces = [nothing; PIECES];
    let (mut at, mut left) = (from as usize, len);
    for piece in &mut pieces {
        let bytes = (crate::BLOCK - at % crate::BLOCK).min(left);
        *piece = libc::iovec { iov_base: at as *mut libc::c_void, iov_len: bytes };
        at = at.wrapping_add(bytes);
        left -= bytes;
    }
    let into = libc::iovec { iov_base: to.cast(), iov_len: len };
    // SAFETY: both lists of pieces are alive during the call; `to` has room for `len` bytes that nobody else touches (the callers'
    // own memory); what is read is looked at by the kernel, which stops at what is not mapped.
    let copied =
        unsafe { libc::process_vm_readv(process, &raw const into, 1, pieces.as_ptr(), PIECES as libc::c_ulong, 0) };
    usize::try_from(copied).unwrap_or(0)
}

/// Whether the instruction before `instruction`, or that one, enters the kernel. The second when a call is about to be made again
/// because a signal interrupted it.
fn is_in_call(process: i32, instruction: u64) -> bool {
    const SYSCALL: [u8; 2] = [0x0f, 0x05];
    let mut code = [0; 4];
    let read = copy(process, instruction.wrapping_sub(2), code.as_mut_ptr(), code.len());
    (read >= 2 && code[..2] == SYSCALL) || (read == 4 && code[2..] == SYSCALL)
}

/// Has SIGPROF handled by [`on_signal`], whatever was there before.
fn install() -> io::Result<()> {
    // SAFETY: an all-zero `sigaction` is a valid value of that plain C struct: no flags, an empty mask.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = on_signal as *const () as usize;
    // Calls that a signal interrupts are made again by the kernel where it can.
    action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
    // SAFETY: `action` is alive during the call and names a handler of the form that SA_SIGINFO asks for, which is safe to run at
    // any time (see the module).
    match unsafe { libc::sigaction(libc::SIGPROF, &raw const action, std::ptr::null_mut()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The handler: see the module for why it is safe.
extern "C" fn on_signal(_: libc::c_int, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let Some(ring) = RING.get() else { return };
    if !ring.on.load(Ordering::Relaxed) {
        return;
    }
    // SAFETY: the call gives the address of this thread's `errno`, which lives as long as the thread.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above, and nobody else writes it.
    let before = unsafe { *errno };
    if let Some(registers) = registers(context) {
        ring.fill(registers);
    }
    // SAFETY: as above.
    unsafe { *errno = before };
}

#[cfg(target_arch = "x86_64")]
fn registers(context: *mut libc::c_void) -> Option<Registers> {
    // SAFETY: the kernel hands a handler that was installed with SA_SIGINFO a context that lives until the handler returns.
    let context = unsafe { &*context.cast::<libc::ucontext_t>() };
    let registers = &context.uc_mcontext.gregs;
    let value = |which: libc::c_int| registers[which as usize] as u64;
    Some(Registers { instruction: value(libc::REG_RIP), stack: value(libc::REG_RSP), frame: value(libc::REG_RBP) })
}

#[cfg(not(target_arch = "x86_64"))]
fn registers(_: *mut libc::c_void) -> Option<Registers> {
    None
}

/// A timer on one thread's CPU time.
#[derive(Debug)]
struct Timer(libc::timer_t);

// SAFETY: a timer's name is a number of the process, not of a thread.
unsafe impl Send for Timer {}

impl Timer {
    fn arm(thread: i32, every: Duration) -> io::Result<Self> {
        // SAFETY: an all-zero `sigevent` is a valid value of that plain C struct.
        let mut event: libc::sigevent = unsafe { std::mem::zeroed() };
        event.sigev_signo = libc::SIGPROF;
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_notify_thread_id = thread;
        let mut timer: libc::timer_t = std::ptr::null_mut();
        // SAFETY: `event` and `timer` are alive during the call, which reads the one and writes the other.
        if unsafe { libc::timer_create(cpu_clock(thread), &raw mut event, &raw mut timer) } != 0 {
            return Err(io::Error::last_os_error());
        }
        let timer = Self(timer);
        let time = libc::timespec {
            tv_sec: libc::time_t::try_from(every.as_secs()).unwrap_or(libc::time_t::MAX),
            tv_nsec: every.subsec_nanos().max(1).into(),
        };
        let setting = libc::itimerspec { it_interval: time, it_value: time };
        // SAFETY: `setting` is alive during the call, and the timer is one that was created above.
        match unsafe { libc::timer_settime(timer.0, 0, &raw const setting, std::ptr::null_mut()) } {
            0 => Ok(timer),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        // SAFETY: the timer was created by `arm` and is deleted once.
        unsafe { libc::timer_delete(self.0) };
    }
}

/// The clock of a thread's CPU time, as the kernel names it (`clock_getres(2)`, `CPUCLOCK_SCHED` of one thread).
fn cpu_clock(thread: i32) -> libc::clockid_t {
    (!thread << 3) | 4 | 2
}

/// CPU time that the calling thread has used.
pub fn thread_cpu_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is alive during the call, which writes it; the clock is one that every thread has.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use pikepole_contention::sync::{Arc, thread};

    #[inline(never)]
    fn busy(stop: &AtomicBool, begun: &AtomicU64) {
        // Not known to the compiler, which would keep a constant elsewhere; too large for the bytes below the stack's end that a
        // function without calls may use.
        let mark = std::hint::black_box([0x5eed_u64; 64]);
        begun.store(mark.as_ptr() as u64, Ordering::Relaxed);
        let mut sum = 0_u64;
        while !stop.load(Ordering::Relaxed) {
            sum = std::hint::black_box(sum.wrapping_add(std::hint::black_box(&mark)[3]));
        }
    }

    fn until(mut done: impl FnMut() -> bool) {
        let begun = std::time::Instant::now();
        while !done() {
            assert!(begun.elapsed() < Duration::from_secs(60), "nothing was sampled");
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// One test: there is one sampler in a process at a time.
    #[test]
    fn threads_that_use_a_cpu_are_found_with_their_stacks() {
        let mut sampler = Sampler::start(Duration::from_millis(1)).expect("a sampler");
        assert_eq!(
            Sampler::start(Duration::from_millis(1)).expect_err("one at a time").kind(),
            io::ErrorKind::WouldBlock
        );
        let (stop, begun) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let own = Arc::new(AtomicU64::new(0));
        let worker = {
            let (stop, begun, own) = (Arc::clone(&stop), Arc::clone(&begun), Arc::clone(&own));
            thread::spawn(move || {
                own.store(thread_number() as u64, Ordering::Relaxed);
                busy(&stop, &begun);
            })
        };
        let caller = {
            let stop = Arc::clone(&stop);
            thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let _unused = std::fs::metadata("/proc/self/status");
                }
            })
        };
        let (mut found, mut calls) = (0, 0);
        let begun_at = std::time::Instant::now();
        while found < 5 || calls == 0 {
            assert!(begun_at.elapsed() < Duration::from_secs(60), "{found} marks and {calls} calls were seen");
            thread::sleep(Duration::from_millis(2));
            sampler.follow().expect("threads");
            sampler.take(|sample| {
                calls += usize::from(sample.in_call);
                if sample.thread as u64 == own.load(Ordering::Relaxed) {
                    let mark = begun.load(Ordering::Relaxed);
                    let inside = mark.wrapping_sub(sample.registers.stack) as usize;
                    let bytes = sample.stack.get(inside..inside.saturating_add(8));
                    found += usize::from(bytes == Some(&0x5eed_u64.to_ne_bytes()[..]));
                    assert!(!sample.in_call, "it makes no calls");
                }
            });
        }
        stop.store(true, Ordering::Relaxed);
        worker.join().expect("it ends");
        caller.join().expect("it ends");
        assert_eq!(sampler.lost(), 0);
        until(|| {
            sampler.follow().expect("threads");
            !sampler.timers.contains_key(&(own.load(Ordering::Relaxed) as i32))
        });
        drop(sampler);
        Sampler::start(Duration::from_millis(1)).expect("another one, after the first");
    }

    #[test]
    fn what_is_not_mapped_is_not_copied() {
        let process = i32::try_from(std::process::id()).expect("a number");
        let mut bytes = [7_u8; 64];
        assert_eq!(copy(process, 8, bytes.as_mut_ptr(), 64), 0);
        assert_eq!(bytes, [7; 64]);
        let from = [9_u8; 64];
        assert_eq!(copy(process, from.as_ptr() as u64, bytes.as_mut_ptr(), 64), 64);
        assert_eq!(bytes, from);
    }
}
