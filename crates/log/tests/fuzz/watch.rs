//! What a fuzz run must never see: a panic, an endless loop, a huge allocation. Each names the input that does it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// One input may take so many seconds, if nothing else is said: thousands of times what the slowest one needs.
static INPUT_SECONDS_MAX: AtomicU64 = AtomicU64::new(20);
/// One allocation may be so large, if nothing else is said: a window of a segment, with room.
static ALLOCATION_BYTES_MAX: AtomicUsize = AtomicUsize::new(64 << 20);

/// The system's allocator, which refuses what no input should ask for.
pub struct Bounded;

static REFUSED: AtomicUsize = AtomicUsize::new(0);

// SAFETY: passes everything on to the system's allocator, or refuses by a null pointer, as the trait allows.
unsafe impl GlobalAlloc for Bounded {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() > ALLOCATION_BYTES_MAX.load(Ordering::Relaxed) {
            REFUSED.store(layout.size(), Ordering::Relaxed);
            return std::ptr::null_mut();
        }
        // SAFETY: the caller keeps the contract, which is the system's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract, which is the system's.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Bounded = Bounded;

/// The seed of the input under way, and a count that says that inputs go on.
static SEED: AtomicU64 = AtomicU64::new(0);
static INPUTS: AtomicU64 = AtomicU64::new(0);

/// What to run.
pub struct Run {
    /// For how long.
    pub time: Duration,
    /// The first seed; each input has the next one.
    pub seed: u64,
    /// Only this one input.
    pub only: bool,
}

impl Run {
    /// From the command line: `--seconds N` (default 2), `--seed N` for that one input again, `--from N` to start there.
    pub fn from_arguments() -> Run {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        let value = |name: &str| {
            let place = arguments.iter().position(|argument| argument == name)?;
            Some(
                arguments
                    .get(place + 1)
                    .and_then(|value| value.parse::<u64>().ok())
                    .expect("a number behind the option"),
            )
        };
        let only = value("--seed");
        let time = Duration::from_secs(value("--seconds").unwrap_or(2));
        Run { time, seed: only.or_else(|| value("--from")).unwrap_or(1), only: only.is_some() }
    }

    /// One allocation may be so large, and one input may take so long, from now on.
    #[allow(dead_code, reason = "what is read from one file or packet has no need of it")]
    pub fn allow(&self, bytes: usize, seconds: u64) {
        ALLOCATION_BYTES_MAX.store(bytes, Ordering::Relaxed);
        INPUT_SECONDS_MAX.store(seconds, Ordering::Relaxed);
    }

    /// Calls `input` with one seed after the other until the time is over. A panic is told with its seed; so is an input
    /// without an end, and one that asks for too much memory.
    pub fn each(&self, name: &str, mut input: impl FnMut(u64)) {
        let name = name.to_string();
        let told = name.clone();
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let refused = REFUSED.load(Ordering::Relaxed);
            let _ = writeln!(
                std::io::stderr(),
                "{told}: failed at --seed {} (bytes refused: {refused})",
                SEED.load(Ordering::Relaxed)
            );
            hook(panic);
        }));
        let watched = name.clone();
        std::thread::spawn(move || watch(&watched));
        let (begun, mut seed) = (Instant::now(), self.seed);
        loop {
            SEED.store(seed, Ordering::Relaxed);
            INPUTS.fetch_add(1, Ordering::Relaxed);
            input(seed);
            seed += 1;
            if self.only || begun.elapsed() >= self.time {
                break;
            }
        }
        println!(
            "{name}: {} inputs in {:.1} s, seeds {} to {}",
            seed - self.seed,
            begun.elapsed().as_secs_f64(),
            self.seed,
            seed - 1
        );
        let _ = std::panic::take_hook();
    }
}

/// Ends the process when one input takes for ever.
fn watch(name: &str) {
    let (mut inputs, mut since) = (INPUTS.load(Ordering::Relaxed), Instant::now());
    loop {
        std::thread::sleep(Duration::from_millis(200));
        let now = INPUTS.load(Ordering::Relaxed);
        if now != inputs {
            (inputs, since) = (now, Instant::now());
        } else if since.elapsed().as_secs() >= INPUT_SECONDS_MAX.load(Ordering::Relaxed) {
            let _ = writeln!(std::io::stderr(), "{name}: no end at --seed {}", SEED.load(Ordering::Relaxed));
            std::process::exit(1);
        }
    }
}
