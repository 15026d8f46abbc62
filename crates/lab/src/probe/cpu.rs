//! The CPU probe: what threads pay when they share a line, a word, a CPU, or more memory than the TLB covers.
//!
//! | measured | how |
//! |---|---|
//! | atomic add | one word, by one thread and by a thread on every CPU |
//! | compare-and-swap | the same, each thread trying until it has its turn |
//! | hand-off | two threads pass a cache line to and fro; one way is half of a round trip |
//! | wake-up | a thread that sleeps in the kernel is woken by one on the same CPU, or on another |
//! | memcpy | within the level-2 cache, and far beyond the last one |
//! | TLB | dependent reads at random over memory in pages of 4 KB, of 2 MB, and of 2 MB set aside |

use crate::probe::heat_map;
use crate::progress::Bar;
use crate::show::{right, table};
use comfy_table::Cell;
use pikepole_contention::CachePadded;
use pikepole_contention::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use pikepole_contention::sync::{Arc, hint, thread};
use pikepole_machine::{Pages, Region, affinity};
use serde::Serialize;
use std::hint::black_box;
use std::io;
use std::time::{Duration, Instant};

/// Pairs of CPUs measured at most; of more CPUs, every so many.
const MATRIX_CPUS_MAX: usize = 48;
/// Bytes between two reads of the TLB's measurement: a cache line.
const LINE: usize = 64;

/// What to probe.
#[derive(Debug, Clone)]
pub struct Options {
    /// The time of each measurement.
    pub time: Duration,
    /// Memory of the TLB's measurement, in bytes.
    pub tlb_bytes: usize,
}

/// What was found.
#[derive(Debug, Clone, Serialize)]
pub struct CpuReport {
    /// The CPUs that the process may use.
    pub cpus: Vec<usize>,
    /// Work on one shared word.
    pub shared_word: Vec<SharedRow>,
    /// The CPUs of the matrix.
    pub handoff_cpus: Vec<usize>,
    /// Nanoseconds of one hand-off of a line, by the CPUs of `handoff_cpus`; null on the diagonal.
    pub handoff_ns: Vec<Vec<Option<f64>>>,
    /// Waking a sleeping thread.
    pub wake: Vec<WakeRow>,
    /// Copying.
    pub memcpy: Vec<CopyRow>,
    /// Random reads.
    pub tlb: Vec<TlbRow>,
    /// Bytes of the random reads' memory.
    pub tlb_bytes: usize,
}

/// Work on one shared word.
#[derive(Debug, Clone, Serialize)]
pub struct SharedRow {
    /// What is done.
    pub operation: &'static str,
    /// Threads, each on a CPU of its own.
    pub threads: usize,
    /// How many in all, a second.
    pub per_second: f64,
    /// Nanoseconds of a thread's CPU for each.
    pub ns_each: f64,
}

/// Waking a sleeping thread.
#[derive(Debug, Clone, Serialize)]
pub struct WakeRow {
    /// Waker's and sleeper's CPU.
    pub cpus: (usize, usize),
    /// Microseconds until the woken thread runs: half of the wakes took no longer.
    pub p50_us: f64,
    /// 99 of 100 took no longer.
    pub p99_us: f64,
    /// Microseconds of the waker's own time, at the middle.
    pub waker_us: f64,
}

/// Copying.
#[derive(Debug, Clone, Serialize)]
pub struct CopyRow {
    /// Bytes copied at a time.
    pub bytes: usize,
    /// Threads, each on a CPU of its own.
    pub threads: usize,
    /// Bytes a second, all threads together.
    pub bytes_per_second: f64,
}

/// Random reads over memory in one kind of pages.
#[derive(Debug, Clone, Serialize)]
pub struct TlbRow {
    /// The kind of pages.
    pub pages: &'static str,
    /// Nanoseconds of a dependent read; null when the pages were not granted.
    pub read_ns: Option<f64>,
    /// Seconds that the first touch of the memory took.
    pub touch_seconds: Option<f64>,
    /// Why there is no figure.
    pub why_not: Option<String>,
}

/// Probes the CPUs.
///
/// # Errors
/// When threads cannot be started or bound.
pub fn run(options: &Options) -> io::Result<CpuReport> {
    let cpus = affinity::allowed()?;
    let step = cpus.len().div_ceil(MATRIX_CPUS_MAX);
    let matrix: Vec<usize> = cpus.iter().copied().step_by(step.max(1)).collect();
    let pairs = matrix.len() * matrix.len().saturating_sub(1) / 2;
    let steps = 4 + pairs + 2 + 4 + 3 * 4;
    let mut bar = Bar::new(options.time * steps as u32);
    let mut shared_word = Vec::new();
    for contended in [false, true] {
        let on = if contended { &cpus[..] } else { &cpus[..1] };
        bar.begin(&format!("one shared word, {} CPUs", on.len()));
        shared_word.push(shared_row("atomic add", on, options.time, add)?);
        shared_word.push(shared_row("compare-and-swap", on, options.time, compare_and_swap)?);
        bar.end(options.time * 2);
    }
    let mut handoff_ns = vec![vec![None; matrix.len()]; matrix.len()];
    for first in 0..matrix.len() {
        for second in first + 1..matrix.len() {
            bar.begin(&format!("handing a line from CPU {} to {}", matrix[first], matrix[second]));
            let ns = handoff(matrix[first], matrix[second], options.time)?;
            handoff_ns[first][second] = Some(ns);
            handoff_ns[second][first] = Some(ns);
            bar.end(options.time);
        }
    }
    let mut wake = Vec::new();
    for sleeper in [cpus[0], cpus[cpus.len() - 1]] {
        bar.begin(&format!("waking a thread on CPU {sleeper}"));
        if sleeper != cpus[0] || wake.is_empty() {
            wake.push(wake_row(cpus[0], sleeper, options.time)?);
        }
        bar.end(options.time);
    }
    let mut memcpy = Vec::new();
    for bytes in [256 << 10, 64 << 20] {
        for threads in [1, cpus.len()] {
            bar.begin(&format!("copying {} KB, {threads} threads", bytes >> 10));
            memcpy.push(copy_row(bytes, &cpus[..threads], options.time)?);
            bar.end(options.time);
        }
    }
    memcpy.dedup_by_key(|row| (row.bytes, row.threads));
    let mut tlb = Vec::new();
    for (pages, name) in
        [(Pages::Small, "4 KB"), (Pages::Transparent, "2 MB, transparent"), (Pages::Reserved, "2 MB, set aside")]
    {
        bar.begin(&format!("random reads, pages of {name}"));
        tlb.push(tlb_row(pages, name, options));
        bar.end(options.time * 4);
    }
    Ok(CpuReport {
        cpus,
        shared_word,
        handoff_cpus: matrix,
        handoff_ns,
        wake,
        memcpy,
        tlb,
        tlb_bytes: options.tlb_bytes,
    })
}

/// Lets threads begin together. They come from other work to do the same at once, so they wait awake; nothing is handed over.
struct Meeting {
    wanted: usize,
    here: AtomicUsize,
}

impl Meeting {
    fn new(wanted: usize) -> Self {
        Self { wanted, here: AtomicUsize::new(0) }
    }

    /// Returns when as many threads as are wanted have come.
    fn wait(&self) {
        self.here.fetch_add(1, Ordering::Relaxed);
        while self.here.load(Ordering::Relaxed) < self.wanted {
            thread::yield_now();
        }
    }
}

fn panicked() -> io::Error {
    io::Error::other("a thread of the probe panicked")
}

fn add(word: &AtomicU64) {
    black_box(word.fetch_add(1, Ordering::Relaxed));
}

fn compare_and_swap(word: &AtomicU64) {
    let mut seen = word.load(Ordering::Relaxed);
    while let Err(now) = word.compare_exchange_weak(seen, seen.wrapping_add(1), Ordering::Relaxed, Ordering::Relaxed) {
        seen = now;
    }
}

fn shared_row(operation: &'static str, cpus: &[usize], time: Duration, step: fn(&AtomicU64)) -> io::Result<SharedRow> {
    const BATCH: u64 = 64;
    let word = CachePadded::new(AtomicU64::new(0));
    let stop = AtomicBool::new(false);
    let barrier = Meeting::new(cpus.len() + 1);
    let mut per_second = 0.0;
    thread::scope(|scope| {
        let (word, stop, barrier) = (&word, &stop, &barrier);
        let work = move |cpu: usize| -> io::Result<f64> {
            let pinned = affinity::pin(cpu);
            barrier.wait();
            pinned?;
            let (begun, mut done) = (Instant::now(), 0u64);
            while !stop.load(Ordering::Relaxed) {
                (0..BATCH).for_each(|_| step(word));
                done += BATCH;
            }
            Ok(done as f64 / begun.elapsed().as_secs_f64())
        };
        let threads: Vec<_> = cpus.iter().map(|cpu| scope.spawn(move || work(*cpu))).collect();
        barrier.wait();
        thread::sleep(time);
        stop.store(true, Ordering::Relaxed);
        for thread in threads {
            per_second += thread.join().map_err(|_| panicked())??;
        }
        io::Result::Ok(())
    })?;
    Ok(SharedRow { operation, threads: cpus.len(), per_second, ns_each: cpus.len() as f64 * 1e9 / per_second })
}

/// Nanoseconds of one hand-off between two CPUs.
fn handoff(first: usize, second: usize, time: Duration) -> io::Result<f64> {
    /// Turns between two looks at the clock.
    const TURNS: u64 = 1000;
    let turn = CachePadded::new(AtomicU64::new(0));
    let stop = AtomicBool::new(false);
    let barrier = Meeting::new(2);
    thread::scope(|scope| {
        let (turn, stop, barrier) = (&turn, &stop, &barrier);
        // Odd numbers are the second thread's to answer.
        let answer = scope.spawn(move || {
            let pinned = affinity::pin(second);
            barrier.wait();
            while pinned.is_ok() && !stop.load(Ordering::Relaxed) {
                let seen = turn.load(Ordering::Relaxed);
                if seen % 2 == 1 {
                    turn.store(seen + 1, Ordering::Relaxed);
                } else {
                    hint::spin_loop();
                }
            }
            pinned
        });
        let ask = scope.spawn(move || -> io::Result<f64> {
            let pinned = affinity::pin(first);
            barrier.wait();
            pinned?;
            let (begun, mut turns) = (Instant::now(), 0u64);
            while begun.elapsed() < time && !answer.is_finished() {
                for _ in 0..TURNS {
                    let own = turn.load(Ordering::Relaxed) + 1;
                    turn.store(own, Ordering::Relaxed);
                    while turn.load(Ordering::Relaxed) == own && !answer.is_finished() {
                        hint::spin_loop();
                    }
                }
                turns += TURNS;
            }
            let elapsed = begun.elapsed();
            stop.store(true, Ordering::Relaxed);
            answer.join().map_err(|_| panicked())??;
            Ok(elapsed.as_nanos() as f64 / (2 * turns) as f64)
        });
        ask.join().map_err(|_| panicked())?
    })
}

/// Wakes a thread that sleeps, over and over.
fn wake_row(waker: usize, sleeper: usize, time: Duration) -> io::Result<WakeRow> {
    let asked = Arc::new(AtomicU64::new(0));
    let ran_ns = Arc::new(AtomicU64::new(0));
    let stop = Arc::new(AtomicBool::new(false));
    let origin = Instant::now();
    let sleeping = {
        let (asked, ran_ns, stop) = (Arc::clone(&asked), Arc::clone(&ran_ns), Arc::clone(&stop));
        thread::spawn(move || -> io::Result<()> {
            affinity::pin(sleeper)?;
            let mut answered = 0;
            while !stop.load(Ordering::Relaxed) {
                let seen = asked.load(Ordering::Acquire); // pairs with the Release in the waker
                if seen == answered {
                    thread::park();
                    continue;
                }
                answered = seen;
                // Release pairs with the Acquire of the waker.
                ran_ns.store(u64::try_from(origin.elapsed().as_nanos()).unwrap_or(u64::MAX), Ordering::Release);
            }
            Ok(())
        })
    };
    let waking = move || -> io::Result<(Vec<u64>, Vec<u64>)> {
        affinity::pin(waker)?;
        let (mut latencies, mut costs) = (Vec::new(), Vec::new());
        let begun = Instant::now();
        while (latencies.is_empty() || begun.elapsed() < time) && !sleeping.is_finished() {
            // Long enough for the other thread to be asleep.
            thread::sleep(Duration::from_micros(200));
            ran_ns.store(0, Ordering::Relaxed);
            let before = origin.elapsed();
            asked.fetch_add(1, Ordering::Release); // pairs with the Acquire of the sleeper
            sleeping.thread().unpark();
            let after = origin.elapsed();
            let ran = loop {
                match ran_ns.load(Ordering::Acquire) {
                    0 if sleeping.is_finished() => break 0,
                    // On one CPU the other thread needs this one's place.
                    0 => thread::yield_now(),
                    ran => break ran,
                }
            };
            latencies.push(ran.saturating_sub(u64::try_from(before.as_nanos()).unwrap_or(0)));
            costs.push(u64::try_from((after - before).as_nanos()).unwrap_or(0));
        }
        stop.store(true, Ordering::Relaxed);
        sleeping.thread().unpark();
        sleeping.join().map_err(|_| panicked())??;
        Ok((latencies, costs))
    };
    let (mut latencies, mut costs) = thread::spawn(waking).join().map_err(|_| panicked())??;
    latencies.sort_unstable();
    costs.sort_unstable();
    let at = |times: &[u64], percent: usize| times[(times.len() * percent / 100).min(times.len() - 1)] as f64 / 1e3;
    let (p50_us, p99_us) = (at(&latencies, 50), at(&latencies, 99));
    Ok(WakeRow { cpus: (waker, sleeper), p50_us, p99_us, waker_us: at(&costs, 50) })
}

fn copy_row(bytes: usize, cpus: &[usize], time: Duration) -> io::Result<CopyRow> {
    let barrier = Meeting::new(cpus.len());
    let mut bytes_per_second = 0.0;
    thread::scope(|scope| {
        let barrier = &barrier;
        let work = move |cpu: usize| -> io::Result<f64> {
            let pinned = affinity::pin(cpu);
            let (from, mut to) = (vec![1u8; bytes], vec![0u8; bytes]);
            barrier.wait();
            pinned?;
            let (begun, mut copies) = (Instant::now(), 0u64);
            while begun.elapsed() < time {
                to.copy_from_slice(black_box(&from));
                black_box(&mut to);
                copies += 1;
            }
            Ok((copies * bytes as u64) as f64 / begun.elapsed().as_secs_f64())
        };
        let threads: Vec<_> = cpus.iter().map(|cpu| scope.spawn(move || work(*cpu))).collect();
        for thread in threads {
            bytes_per_second += thread.join().map_err(|_| panicked())??;
        }
        io::Result::Ok(())
    })?;
    Ok(CopyRow { bytes, threads: cpus.len(), bytes_per_second })
}

fn tlb_row(pages: Pages, name: &'static str, options: &Options) -> TlbRow {
    let refused = |why: String| TlbRow { pages: name, read_ns: None, touch_seconds: None, why_not: Some(why) };
    let region = match Region::with_pages(options.tlb_bytes, pages) {
        Ok(region) => region,
        Err(_) if pages == Pages::Reserved => {
            let wanted = options.tlb_bytes.div_ceil(2 << 20);
            return refused(format!("{wanted} pages are wanted: sysctl vm.nr_hugepages={wanted}"));
        }
        Err(error) => return refused(error.to_string()),
    };
    let lines = (region.len() / LINE).next_power_of_two() >> usize::from(!(region.len() / LINE).is_power_of_two());
    let begun = Instant::now();
    // SAFETY: the region is mapped, zeroed by the kernel, aligned to 2 MB and at least `lines * LINE` bytes long; any
    // bytes are u64s; nobody else has it, and the slice ends before the region does.
    let words = unsafe { std::slice::from_raw_parts_mut(region.as_ptr().cast::<u64>(), lines * LINE / 8) };
    // A walk that meets every line once before it comes back: a full-period congruence over a power of two.
    for line in 0..lines as u64 {
        let next =
            line.wrapping_mul(0x9E37_79B1_0000_0005 | 1).wrapping_mul(4).wrapping_add(line).wrapping_add(0x1234_5677);
        words[line as usize * (LINE / 8)] = next & (lines as u64 - 1);
    }
    let touch_seconds = begun.elapsed().as_secs_f64();
    let (begun, mut reads, mut line) = (Instant::now(), 0u64, 0u64);
    while reads == 0 || begun.elapsed() < options.time * 2 {
        for _ in 0..4096 {
            line = words[line as usize * (LINE / 8)];
        }
        reads += 4096;
    }
    black_box(line);
    let read_ns = begun.elapsed().as_nanos() as f64 / reads as f64;
    TlbRow { pages: name, read_ns: Some(read_ns), touch_seconds: Some(touch_seconds), why_not: None }
}

impl CpuReport {
    /// The tables.
    pub fn text(&self) -> String {
        let mut shared = table();
        shared.set_header(["one shared word", "CPUs", "million/s", "ns of a CPU each"].map(Cell::new));
        for row in &self.shared_word {
            shared.add_row([
                Cell::new(row.operation),
                right(row.threads),
                right(format!("{:.1}", row.per_second / 1e6)),
                right(format!("{:.1}", row.ns_each)),
            ]);
        }
        let mut wake = table();
        wake.set_header(["waker CPU", "sleeper CPU", "p50 us", "p99 us", "waker's own us"].map(Cell::new));
        for row in &self.wake {
            wake.add_row([
                right(row.cpus.0),
                right(row.cpus.1),
                right(format!("{:.1}", row.p50_us)),
                right(format!("{:.1}", row.p99_us)),
                right(format!("{:.1}", row.waker_us)),
            ]);
        }
        let mut copy = table();
        copy.set_header(["memcpy of", "CPUs", "GB/s"].map(Cell::new));
        for row in &self.memcpy {
            let gigabytes = format!("{:.1}", row.bytes_per_second / 1e9);
            copy.add_row([right(format!("{} KB", row.bytes >> 10)), right(row.threads), right(gigabytes)]);
        }
        let mut tlb = table();
        let over = format!("random reads over {} MB, pages of", self.tlb_bytes >> 20);
        tlb.set_header([over.as_str(), "ns a read", "first touch s", "not granted"].map(Cell::new));
        for row in &self.tlb {
            let figure =
                |value: Option<f64>, digits: usize| value.map_or("-".to_owned(), |value| format!("{value:.digits$}"));
            tlb.add_row([
                Cell::new(row.pages),
                right(figure(row.read_ns, 1)),
                right(figure(row.touch_seconds, 2)),
                Cell::new(row.why_not.as_deref().unwrap_or("")),
            ]);
        }
        let map = match self.handoff_cpus.len() {
            0 | 1 => "hand-off of a cache line: one CPU has nobody to hand it to".to_owned(),
            _ => format!(
                "hand-off of a cache line, ns one way, between CPUs\n{}",
                heat_map(&self.handoff_cpus, &self.handoff_ns)
            ),
        };
        format!("{shared}\n\n{map}\n\n{wake}\n\n{copy}\n\n{tlb}")
    }
}
