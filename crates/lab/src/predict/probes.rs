//! Probes for the model: what is done under each lock, the pauses and back-offs of a spinner, wake-ups on busy CPUs, and a log
//! writer's work. Nothing here is fitted to a rate.
//!
//! | figure | from |
//! |---|---|
//! | hold of LOGCACHE_ACCESS | the log's own append under SPINLOCK, less the same under ATOMIC, and the addition that both have |
//! | holds of XDESMGR, LOGFLUSHQ | the engine's spinlock around what the engine does under it: a number dealt and counted; a waiter pushed, and taken out again |
//! | hand-offs, wake-ups, atomic addition, speed together | `lab cpu` |
//! | device | `lab disk` |
//! | wait for a busy CPU | how much later a sleeper comes back on a CPU that another thread keeps busy |
//! | log writer | copying and checksum of blocks; CPU time of a durable write |

use super::model::DeviceTimes;
use crate::load::CpuUse;
use crate::probe::{cpu, disk};
use pikepole_contention::sync::atomic::{AtomicBool, Ordering};
use pikepole_contention::sync::{Arc, hint, thread};
use pikepole_contention::{Spinlock, SpinlockClass, Statistics};
use pikepole_log::{Log, LogOptions, Reservation};
use pikepole_machine::{Disk, SlowDevice, affinity, probe};
use serde::{Deserialize, Serialize};
use std::hint::black_box;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// Turns of a loop between two readings of the clock.
const TURNS: u32 = 20_000;
/// Repeats of a loop, of which the quickest counts: whatever disturbs it makes it slower.
const REPEATS: usize = 7;
/// Rounds of all probes.
const ROUNDS: usize = 3;
/// A record of about an insert's size.
const RECORD_BYTES: usize = 48;
/// The sleep of a back-off (`contention::spinlock`).
const SLEEP: Duration = Duration::from_micros(50);

/// The findings of the probes, in nanoseconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Probes {
    /// XDESMGR, taken, used and given back by one thread.
    pub id_hold_ns: f64,
    /// LOGCACHE_ACCESS.
    pub cache_hold_ns: f64,
    /// LOGFLUSHQ.
    pub queue_hold_ns: f64,
    /// An addition to a word that no other CPU uses.
    pub add_ns: f64,
    /// A line from one core to the next; the least of all pairs.
    pub handoff_ns: f64,
    /// A compare-and-swap on a word that all CPUs change, less the hand-off, for each further CPU; 0 where it is less.
    pub growth_ns: f64,
    /// A pause.
    pub pause_ns: f64,
    /// A yield without another thread.
    pub yield_ns: f64,
    /// A back-off's sleep.
    pub sleep_ns: f64,
    /// A wake-up until the thread runs.
    pub wake_ns: f64,
    /// The waker's own time.
    pub waker_ns: f64,
    /// A wake-up on a busy CPU: the mean, and what 99 of 100 do not exceed.
    pub busy_wake_ns: f64,
    /// See `busy_wake_ns`.
    pub busy_wake_p99_ns: f64,
    /// A log writer's copying and checksum, for each byte.
    pub seal_byte_ns: f64,
    /// CPU of a durable write.
    pub write_cpu_ns: f64,
    /// The speed of a CPU while all work on memory of their own, against alone.
    pub together: f64,
    /// The device.
    pub device: DeviceTimes,
}

/// Probes the machine [`ROUNDS`] times, and the disk below `folder`; the quickest of each counts, because all that disturbs a probe
/// makes it slower.
///
/// # Errors
/// An error of the system, the disk or the log.
pub fn measure(folder: &Path, slow_device: Option<SlowDevice>, time: Duration) -> io::Result<Probes> {
    let mut quickest = once(folder, slow_device, time)?;
    for _ in 1..ROUNDS {
        quickest = quickest.quicker(&once(folder, slow_device, time)?);
    }
    Ok(quickest)
}

impl Probes {
    /// The quicker of two for each figure.
    pub fn quicker(&self, other: &Probes) -> Probes {
        let least = |figure: fn(&Probes) -> f64| figure(self).min(figure(other));
        Probes {
            id_hold_ns: least(|one| one.id_hold_ns),
            cache_hold_ns: least(|one| one.cache_hold_ns),
            queue_hold_ns: least(|one| one.queue_hold_ns),
            add_ns: least(|one| one.add_ns),
            handoff_ns: least(|one| one.handoff_ns),
            growth_ns: least(|one| one.growth_ns),
            pause_ns: least(|one| one.pause_ns),
            yield_ns: least(|one| one.yield_ns),
            sleep_ns: least(|one| one.sleep_ns),
            wake_ns: least(|one| one.wake_ns),
            waker_ns: least(|one| one.waker_ns),
            busy_wake_ns: least(|one| one.busy_wake_ns),
            busy_wake_p99_ns: least(|one| one.busy_wake_p99_ns),
            seal_byte_ns: least(|one| one.seal_byte_ns),
            write_cpu_ns: least(|one| one.write_cpu_ns),
            together: self.together.max(other.together),
            device: DeviceTimes {
                write_ns: least(|one| one.device.write_ns),
                gap_ns: least(|one| one.device.gap_ns),
                byte_ns: least(|one| one.device.byte_ns),
            },
        }
    }
}

fn once(folder: &Path, slow_device: Option<SlowDevice>, time: Duration) -> io::Result<Probes> {
    let machine = cpu::run(&cpu::Options { time, tlb_bytes: 4 << 20 })?;
    let found = disk::run(&disk::Options { folder: folder.to_owned(), time, slow_device })?;
    let handoffs = machine.handoff_ns.iter().flatten().flatten().copied();
    let least = handoffs.fold(f64::INFINITY, f64::min);
    let handoff_ns = if least.is_finite() { least } else { 0.0 };
    let shared = |operation: &str, contended: bool| {
        let mut rows = machine.shared_word.iter().filter(|row| row.operation == operation);
        if contended { rows.next_back() } else { rows.next() }
    };
    let add_ns = shared("atomic add", false).map_or(5.0, |row| row.ns_each);
    let contended = shared("compare-and-swap", true);
    let growth_ns = contended.map_or(0.0, |row| {
        let others = (row.threads as f64 - 1.0).max(1.0);
        ((row.ns_each / row.threads as f64 - handoff_ns) / others).max(0.0)
    });
    let last = machine.wake.last();
    let small = machine.memcpy.first();
    let all = machine.memcpy.iter().rfind(|row| Some(row.bytes) == small.map(|one| one.bytes));
    let together = match (small, all) {
        (Some(one), Some(all)) => (all.bytes_per_second / all.threads as f64 / one.bytes_per_second).clamp(0.3, 1.0),
        _ => 1.0,
    };
    let idle_sleep_ns = slept(SLEEP, 60);
    let (busy_wake_ns, busy_wake_p99_ns) = busy_wake(machine.cpus[0])?;
    Ok(Probes {
        id_hold_ns: id_hold(),
        cache_hold_ns: cache_hold(add_ns)?,
        queue_hold_ns: queue_hold(),
        add_ns,
        handoff_ns,
        growth_ns,
        pause_ns: quickest(|| (0..TURNS).for_each(|_| hint::spin_loop())),
        yield_ns: quickest(|| (0..TURNS).for_each(|_| thread::yield_now())),
        sleep_ns: idle_sleep_ns,
        wake_ns: last.map_or(0.0, |row| row.p50_us * 1e3),
        waker_ns: last.map_or(0.0, |row| row.waker_us * 1e3),
        busy_wake_ns,
        busy_wake_p99_ns,
        seal_byte_ns: seal_byte(),
        write_cpu_ns: write_cpu(folder, time)?,
        together,
        device: device(&found),
    })
}

/// Nanoseconds of one of the [`TURNS`] that a call makes.
fn quickest(mut turns: impl FnMut()) -> f64 {
    let mut least = f64::INFINITY;
    for _ in 0..REPEATS {
        let begun = Instant::now();
        turns();
        least = least.min(begun.elapsed().as_nanos() as f64 / f64::from(TURNS));
    }
    least
}

/// The work of the dealer of ids under its lock.
#[derive(Default)]
struct Dealt {
    next: u64,
    end: u64,
    active: u64,
}

fn id_hold() -> f64 {
    let statistics = Statistics::new();
    let lock = Spinlock::new(SpinlockClass::XDESMGR, &statistics, Dealt { end: u64::MAX, ..Dealt::default() });
    let ns = quickest(|| {
        for _ in 0..TURNS {
            let mut dealt = lock.lock();
            if dealt.next < dealt.end {
                dealt.next += 1;
                dealt.active += 1;
            }
            black_box(dealt.next);
        }
    });
    black_box(lock.lock().active);
    ns
}

fn queue_hold() -> f64 {
    let statistics = Statistics::new();
    let lock = Spinlock::new(SpinlockClass::LOGFLUSHQ, &statistics, Vec::new());
    let waiter = Arc::new(0u64);
    let mut taken = Vec::new();
    quickest(|| {
        for turn in 0..TURNS {
            lock.lock().push(Arc::clone(&waiter));
            if turn % 16 == 15 {
                taken.append(&mut lock.lock());
                taken.clear();
            }
        }
    })
}

/// The log's append under the spinlock, less that under the addition, and the addition itself.
fn cache_hold(add_ns: f64) -> io::Result<f64> {
    let with = |reservation: Reservation| -> io::Result<f64> {
        // A gigabyte is a log's usual limit; what is appended here is far below, and no writer takes it out.
        let options = LogOptions { reservation, ..LogOptions::default() };
        let log = Log::create(&Disk::null(), "/predict", options, &Statistics::new()).map_err(io::Error::other)?;
        let record = [1u8; RECORD_BYTES];
        let mut refused = false;
        let ns = quickest(|| {
            for _ in 0..TURNS {
                refused |= log.append(RECORD_BYTES, |out, _| out.copy_from_slice(&record)).is_err();
            }
        });
        log.shutdown().map_err(io::Error::other)?;
        if refused { Err(io::Error::other("the probe's log took no more records")) } else { Ok(ns) }
    };
    let (spinlock, atomic) = (with(Reservation::Spinlock)?, with(Reservation::Atomic)?);
    Ok((spinlock - atomic).max(0.0) + add_ns)
}

/// The time of a sleep: of half of them.
fn slept(time: Duration, count: usize) -> f64 {
    let mut times: Vec<f64> = sleeps(time, count);
    times.sort_unstable_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(0.0)
}

fn sleeps(time: Duration, count: usize) -> Vec<f64> {
    let one = |_| {
        let begun = Instant::now();
        thread::sleep(time);
        begun.elapsed().as_nanos() as f64
    };
    (0..count).map(one).collect()
}

/// How much longer sleeps take on a CPU that another thread keeps busy: their mean, and 99 of 100.
fn busy_wake(cpu: usize) -> io::Result<(f64, f64)> {
    const COUNT: usize = 200;
    let stop = AtomicBool::new(false);
    let sleeper = || -> io::Result<Vec<f64>> {
        affinity::pin(cpu)?;
        Ok(sleeps(SLEEP, COUNT))
    };
    let panicked = |_| io::Error::other("a thread of the probe panicked");
    thread::scope(|scope| {
        let idle = scope.spawn(sleeper).join().map_err(panicked)??;
        let busy = scope.spawn(|| {
            let pinned = affinity::pin(cpu);
            while pinned.is_ok() && !stop.load(Ordering::Relaxed) {
                hint::spin_loop();
            }
            pinned
        });
        let late = scope.spawn(sleeper).join();
        stop.store(true, Ordering::Relaxed);
        busy.join().map_err(panicked)??;
        let mut late = late.map_err(panicked)??;
        let usual = idle.iter().sum::<f64>() / idle.len() as f64;
        late.iter_mut().for_each(|time| *time = (*time - usual).max(0.0));
        late.sort_unstable_by(f64::total_cmp);
        let mean = late.iter().sum::<f64>() / late.len() as f64;
        Ok((mean, late[late.len() * 99 / 100]))
    })
}

fn seal_byte() -> f64 {
    const BLOCK_BYTES: usize = 60 << 10;
    const BLOCKS: usize = 200;
    let ring = vec![1u8; 16 << 20];
    let mut block = vec![0u8; BLOCK_BYTES];
    let mut at = 0;
    let ns = quickest(|| {
        for _ in 0..BLOCKS {
            block.copy_from_slice(&ring[at..at + BLOCK_BYTES]);
            black_box(crc32c::crc32c(&block));
            at = (at + BLOCK_BYTES) % (ring.len() - BLOCK_BYTES);
        }
    });
    ns * f64::from(TURNS) / (BLOCKS * BLOCK_BYTES) as f64
}

/// CPU time of this process for each durable write that one thread makes.
fn write_cpu(folder: &Path, time: Duration) -> io::Result<f64> {
    let before = CpuUse::now();
    let probed = probe::durable_writes(folder, 4096, time * 4)?;
    let with_file = before.spent().own_seconds;
    // The file's making is in it; a run of one write shows how much.
    let before = CpuUse::now();
    probe::durable_writes(folder, 4096, Duration::ZERO)?;
    let of_file = before.spent().own_seconds;
    Ok((with_file - of_file).max(0.0) * 1e9 / probed.writes as f64)
}

fn device(found: &disk::DiskReport) -> DeviceTimes {
    let rows = |bytes: usize| found.durable.iter().filter(move |row| row.write_bytes == bytes);
    let most = |bytes: usize| rows(bytes).map(|row| row.writes_per_second).fold(1.0, f64::max);
    // Half of the writes took no longer: a mean would be of a neighbour's writes too.
    let write_ns = rows(4096).next().map_or(0.0, |row| row.p50_us * 1e3);
    let (gap_ns, large_ns) = ((1e9 / most(4096)).min(write_ns), 1e9 / most(60 << 10));
    DeviceTimes { write_ns, gap_ns, byte_ns: (large_ns - gap_ns).max(0.0) / ((60 << 10) - 4096) as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Figures themselves are not tested.
    #[test]
    fn every_probe_gives_a_figure_and_leaves_nothing_behind() {
        let folder = std::env::temp_dir().join(format!("pikepole-predict-probes-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let found = measure(&folder, None, Duration::from_millis(2)).expect("it is measured");
        let figures = [
            found.id_hold_ns,
            found.cache_hold_ns,
            found.queue_hold_ns,
            found.add_ns,
            found.pause_ns,
            found.yield_ns,
            found.sleep_ns,
            found.seal_byte_ns,
            found.together,
            found.device.write_ns,
            found.device.gap_ns,
        ];
        assert!(figures.iter().all(|figure| figure.is_finite() && *figure > 0.0), "{found:?}");
        assert!(found.busy_wake_ns >= 0.0 && found.busy_wake_p99_ns >= 0.0 && found.write_cpu_ns >= 0.0, "{found:?}");
        assert_eq!(std::fs::read_dir(&folder).expect("the folder").count(), 0);
        std::fs::remove_dir(&folder).expect("it is empty");
    }
}
