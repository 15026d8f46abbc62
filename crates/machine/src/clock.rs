//! Clocks: cheap ticks, microseconds that never go back, and the time of day.
//!
//! On x86-64 a tick is one of the CPU's time stamp counter, where that counter runs at one rate whatever the CPU
//! does (the CPU says so) and the kernel keeps it among its own clock sources (it drops it when CPUs disagree).
//! Everywhere else a tick is a nanosecond of the kernel's monotonic clock.
//!
//! Two CPUs' counters can be some nanoseconds apart: take differences of ticks read on two threads with
//! `saturating_sub`.

#[cfg(target_arch = "x86_64")]
use std::cell::Cell;
use std::time::{Duration, Instant, SystemTime};

use pikepole_contention::sync::OnceLock;
#[cfg(target_arch = "x86_64")]
use pikepole_contention::sync::thread;

/// How long the counter is watched to learn its rate. The rate is then good to about one part in 100,000.
#[cfg(target_arch = "x86_64")]
const CALIBRATION: Duration = Duration::from_millis(4);

/// Units of [`unix_time_100ns`] in a microsecond.
const UNITS_PER_US: u64 = 10;
/// The time for which the counter goes on from a look at the system's clock. The clock may be set meanwhile.
#[cfg(target_arch = "x86_64")]
const LOOK_US: u64 = 1000;
/// The longest time that a look may take, and by which the counter may be ahead of the clock at the next one.
#[cfg(target_arch = "x86_64")]
const LOOK_WIDTH_US: u64 = 1;

/// A look at the system's clock.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
struct Look {
    /// The counter then.
    count: u64,
    time_100ns: i64,
}

#[cfg(target_arch = "x86_64")]
thread_local! {
    static LOOK: Cell<Look> = const { Cell::new(Look { count: 0, time_100ns: i64::MIN }) };
}

/// What is known about the counter since the first use of the clock.
struct Calibration {
    /// Whether the CPU's counter is used.
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "no other counter is used"))]
    counter: bool,
    /// Where the nanoseconds start when it is not.
    origin: Instant,
    /// The count at the first use.
    base: u64,
    ticks_per_us: u64,
    /// Microseconds per tick, times 2^64.
    us_per_tick: u64,
}

fn calibration() -> &'static Calibration {
    static CALIBRATION: OnceLock<Calibration> = OnceLock::new();
    CALIBRATION.get_or_init(calibrate)
}

/// Learns the counter's rate now, which takes some milliseconds once, instead of at the first use.
pub fn prepare() {
    calibration();
}

/// A count that grows at a constant rate: the cheapest clock there is.
#[inline]
pub fn ticks() -> u64 {
    let calibration = calibration();
    #[cfg(target_arch = "x86_64")]
    if calibration.counter {
        return read_counter();
    }
    nanoseconds_since(calibration.origin)
}

/// Ticks of one microsecond, to the nearest.
#[inline]
pub fn ticks_per_us() -> u64 {
    calibration().ticks_per_us
}

/// A difference of [`ticks`] in microseconds.
#[inline]
pub fn ticks_to_us(ticks: u64) -> u64 {
    let us = u128::from(ticks) * u128::from(calibration().us_per_tick);
    (us >> 64) as u64
}

/// Nanoseconds as a difference of [`ticks`].
pub fn ns_to_ticks(nanoseconds: u64) -> u64 {
    let ticks = (u128::from(nanoseconds) << 64) / (u128::from(calibration().us_per_tick) * 1000);
    u64::try_from(ticks).unwrap_or(u64::MAX)
}

/// Microseconds since the first use of the clock in this process; never goes back on one thread.
#[inline]
pub fn now_us() -> u64 {
    ticks_to_us(ticks().saturating_sub(calibration().base))
}

/// Microseconds since 1970-01-01 00:00 UTC, by the system's clock, which can be set; negative before that day.
pub fn unix_time_us() -> i64 {
    system_time_100ns() / UNITS_PER_US as i64
}

/// Units of 100 ns since 1970-01-01 00:00 UTC, by the system's clock; negative before that day. A thread looks at that clock once in a
/// millisecond, and the CPU's counter goes on from there, which costs less. So the time follows a clock that is set a millisecond later.
#[inline]
pub fn unix_time_100ns() -> i64 {
    #[cfg(target_arch = "x86_64")]
    if calibration().counter {
        let look = LOOK.get();
        return match after(&look, read_counter()) {
            Some(time) => time,
            None => look_again(&look),
        };
    }
    system_time_100ns()
}

fn system_time_100ns() -> i64 {
    let units = |duration: Duration| {
        let whole = duration.as_secs().saturating_mul(1_000_000 * UNITS_PER_US);
        i64::try_from(whole.saturating_add(u64::from(duration.subsec_nanos()) / 100)).unwrap_or(i64::MAX)
    };
    match SystemTime::now().duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => units(after),
        Err(before) => -units(before.duration()),
    }
}

/// The time at a count after a look; None: that is too long ago.
#[cfg(target_arch = "x86_64")]
#[inline]
fn after(look: &Look, count: u64) -> Option<i64> {
    let ticks = count.wrapping_sub(look.count);
    let calibration = calibration();
    // The product fits: the ticks are those of a millisecond, and the factor is below 2^32 as a tick is shorter than a microsecond.
    (ticks < LOOK_US * calibration.ticks_per_us)
        .then(|| look.time_100ns + ((ticks * (calibration.us_per_tick >> 32) * UNITS_PER_US) >> 32) as i64)
}

#[cfg(target_arch = "x86_64")]
#[cold]
fn look_again(former: &Look) -> i64 {
    let before = read_counter();
    let system = system_time_100ns();
    let width = read_counter().wrapping_sub(before);
    // The counter is a bit fast or slow: where it was ahead by that, time stands still rather than go back.
    let expected = former.time_100ns.saturating_add(units_of(before.wrapping_sub(former.count)));
    let ahead = expected.saturating_sub(system);
    let time_100ns = if (0..=(LOOK_WIDTH_US * UNITS_PER_US) as i64).contains(&ahead) { expected } else { system };
    // The thread may have been interrupted between the two readings.
    if width <= LOOK_WIDTH_US * calibration().ticks_per_us {
        LOOK.set(Look { count: before, time_100ns });
    }
    time_100ns
}

/// Units of 100 ns in so many ticks.
#[cfg(target_arch = "x86_64")]
fn units_of(ticks: u64) -> i64 {
    let units = (u128::from(ticks) * u128::from(calibration().us_per_tick) * u128::from(UNITS_PER_US)) >> 64;
    i64::try_from(units).unwrap_or(i64::MAX)
}

fn nanoseconds_since(origin: Instant) -> u64 {
    // 64 bits of nanoseconds are 584 years.
    origin.elapsed().as_nanos() as u64
}

fn calibrate() -> Calibration {
    let origin = Instant::now();
    #[cfg(target_arch = "x86_64")]
    if counter_is_steady()
        && let Some(calibration) = calibrate_counter(origin)
    {
        return calibration;
    }
    Calibration { counter: false, origin, base: 0, ticks_per_us: 1000, us_per_tick: u64::MAX / 1000 }
}

#[cfg(target_arch = "x86_64")]
fn calibrate_counter(origin: Instant) -> Option<Calibration> {
    let (base, first) = read_both();
    thread::sleep(CALIBRATION);
    let (later, second) = read_both();
    let nanoseconds = u64::try_from((second - first).as_nanos()).ok()?;
    let ticks = later.checked_sub(base)?;
    // Counters from 100 MHz to 20 GHz are believed.
    if !(nanoseconds / 10..=nanoseconds.saturating_mul(20)).contains(&ticks) || ticks == 0 {
        return None;
    }
    let ticks_per_us = (ticks * 1000 + nanoseconds / 2) / nanoseconds;
    let us_per_tick = (u128::from(nanoseconds) << 64) / (u128::from(ticks) * 1000);
    let us_per_tick = u64::try_from(us_per_tick).ok()?;
    Some(Calibration { counter: true, origin, base, ticks_per_us, us_per_tick })
}

/// The counter and the kernel's clock at one moment: the closest of some readings, so that an interruption between
/// the two does no harm.
#[cfg(target_arch = "x86_64")]
fn read_both() -> (u64, Instant) {
    let reading = |_| {
        let before = read_counter();
        let now = Instant::now();
        let after = read_counter();
        (after.saturating_sub(before), before / 2 + after / 2, now)
    };
    let closest = (0..16).map(reading).min_by_key(|(width, ..)| *width);
    let (_, count, now) = closest.expect("some readings were taken");
    (count, now)
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn read_counter() -> u64 {
    // SAFETY: every x86-64 CPU has the instruction; it touches no memory.
    unsafe { std::arch::x86_64::_rdtsc() }
}

#[cfg(target_arch = "x86_64")]
fn counter_is_steady() -> bool {
    use std::arch::x86_64::__cpuid;
    /// The leaf that tells of power management, and its bit for a counter of constant rate.
    const POWER: u32 = 0x8000_0007;
    const INVARIANT_COUNTER: u32 = 1 << 8;
    let says_cpu = __cpuid(0x8000_0000).eax >= POWER && __cpuid(POWER).edx & INVARIANT_COUNTER != 0;
    // Where the list cannot be read the CPU's word has to do.
    let sources = "/sys/devices/system/clocksource/clocksource0/available_clocksource";
    let says_kernel = std::fs::read_to_string(sources)
        .map_or(true, |sources| sources.split_whitespace().any(|source| source == "tsc"));
    says_cpu && says_kernel
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_never_go_back() {
        let mut last = (ticks(), now_us());
        for _ in 0..10_000 {
            let now = (ticks(), now_us());
            assert!(now.0 >= last.0 && now.1 >= last.1);
            last = now;
        }
    }

    #[test]
    fn the_time_of_day_is_the_systems() {
        let mut last = 0;
        for turn in 0..200_000 {
            let before = system_time_100ns();
            let time = unix_time_100ns();
            let after = system_time_100ns();
            assert!(time >= last, "turn {turn}: {time} after {last}");
            assert!((before - 20..=after + 20).contains(&time), "turn {turn}: {time} between {before} and {after}");
            last = time;
        }
    }

    #[test]
    fn units_agree() {
        let per_us = ticks_per_us();
        assert!(per_us > 0);
        let second = ticks_to_us(per_us * 1_000_000);
        // `ticks_per_us` is rounded: half of one in at least a hundred.
        assert!((990_000..=1_010_000).contains(&second), "{second}");
        assert_eq!(ticks_to_us(0), 0);
        for us in [1, 1_000, 86_400_000_000] {
            assert!(ticks_to_us(ns_to_ticks(us * 1000)).abs_diff(us) <= 1, "{us}");
        }
        // 200 years of ticks stay within the numbers.
        let years = 200 * 366 * 86_400 * 1_000_000_u64;
        if let Some(ticks) = years.checked_mul(per_us) {
            assert!(ticks_to_us(ticks) > years / 2);
        }
    }

    #[test]
    fn the_clock_keeps_up_with_the_kernels() {
        let (us, instant) = (now_us(), Instant::now());
        thread::sleep(Duration::from_millis(2));
        // However long the thread was kept waiting in between, both clocks saw it; the bracket is one-sided.
        let passed = now_us() - us;
        assert!(passed >= 1_900, "{passed}");
        let later = instant.elapsed();
        assert!(later >= Duration::from_millis(2));
    }

    #[test]
    fn the_time_of_day_is_in_this_century() {
        let year_2020 = 1_577_836_800_000_000;
        assert!((year_2020..year_2020 * 3).contains(&unix_time_us()));
    }
}
