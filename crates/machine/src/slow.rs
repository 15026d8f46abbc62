//! A device slower than the one that is there: durable writes and syncs that take longer.
//!
//! ```text
//!   requests -->  [ transfer: one after the other, len / bandwidth ] --> [ delay: side by side ] --> done
//! ```
//! The real write is made first; its caller is then kept until the moment at which the slower device would have been
//! done. A device that is slower than the model already is not made slower.

use std::time::{Duration, Instant};

use pikepole_contention::sync::{Mutex, thread};

/// Sleeping ends this much too late; the rest is waited for awake.
const OVERSLEEP: Duration = Duration::from_micros(120);

/// What a slower device is like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlowDevice {
    /// What each durable write and each sync takes, beside the transfer.
    pub delay: Duration,
    /// Bytes a second of all durable writes together; `None`: no limit.
    pub bytes_per_second: Option<u64>,
}

impl SlowDevice {
    /// A device written `DELAY_US` or `DELAY_US,MB_PER_SECOND`; `None` when it is not one.
    pub fn parse(text: &str) -> Option<Self> {
        let (delay, rate) = match text.split_once(',') {
            Some((delay, rate)) => (delay, Some(rate)),
            None => (text, None),
        };
        let delay: u64 = delay.trim().parse().ok().filter(|delay| *delay <= 10_000_000)?;
        let bytes_per_second = match rate {
            Some(rate) => {
                let megabytes = rate.trim().parse::<u64>().ok().filter(|rate| (1..=1_000_000).contains(rate))?;
                Some(megabytes * 1_000_000)
            }
            None => None,
        };
        Some(Self { delay: Duration::from_micros(delay), bytes_per_second })
    }
}

/// The device at work.
#[derive(Debug)]
pub(crate) struct Slowed {
    device: SlowDevice,
    /// When the last transfer ends.
    free_at: Mutex<Option<Instant>>,
}

impl Slowed {
    pub(crate) fn new(device: SlowDevice) -> Self {
        Self { device, free_at: Mutex::new(None) }
    }

    /// When a request of `bytes` that arrives at `now` is done.
    fn done_at(&self, bytes: usize, now: Instant) -> Instant {
        let rate = self.device.bytes_per_second.map(|rate| rate.max(1) as f64);
        let transfer = rate.map_or(Duration::ZERO, |rate| Duration::from_secs_f64(bytes as f64 / rate));
        // A panic leaves an instant behind, and any instant will do.
        let mut free_at = self.free_at.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let end = free_at.map_or(now, |free| free.max(now)) + transfer;
        *free_at = Some(end);
        end + self.device.delay
    }

    /// Makes `request`, of `bytes`, and returns when the slower device would have.
    pub(crate) fn make<T>(&self, bytes: usize, request: impl FnOnce() -> T) -> T {
        let done = self.done_at(bytes, Instant::now());
        let outcome = request();
        let left = done.saturating_duration_since(Instant::now());
        if left > OVERSLEEP {
            thread::sleep(left - OVERSLEEP);
        }
        while Instant::now() < done {
            thread::yield_now();
        }
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transfers_queue_and_delays_overlap() {
        let slowed = Slowed::new(SlowDevice { delay: Duration::from_millis(10), bytes_per_second: Some(1_000_000) });
        let now = Instant::now();
        let after = |instant: Instant| (instant - now).as_micros();
        assert_eq!(after(slowed.done_at(4_000, now)), 14_000);
        assert_eq!(after(slowed.done_at(4_000, now)), 18_000, "the second transfer waits for the first");
        assert_eq!(after(slowed.done_at(1_000, now + Duration::from_millis(100))), 111_000, "the device was free");
        let unlimited = Slowed::new(SlowDevice { delay: Duration::from_millis(10), bytes_per_second: None });
        assert_eq!(after(unlimited.done_at(1 << 30, now)), 10_000);
        assert_eq!(after(unlimited.done_at(1 << 30, now)), 10_000);
    }

    #[test]
    fn the_request_is_made_and_takes_at_least_the_delay() {
        let slowed = Slowed::new(SlowDevice { delay: Duration::from_millis(2), bytes_per_second: None });
        let begun = Instant::now();
        assert_eq!(slowed.make(512, || 7), 7);
        assert!(begun.elapsed() >= Duration::from_millis(2));
    }

    #[test]
    fn devices_are_read() {
        let device = |delay_us, rate| SlowDevice { delay: Duration::from_micros(delay_us), bytes_per_second: rate };
        assert_eq!(SlowDevice::parse("500"), Some(device(500, None)));
        assert_eq!(SlowDevice::parse("500, 200"), Some(device(500, Some(200_000_000))));
        for text in ["", "x", "1,", "1,0", "-1", "1,2,3", "99999999999"] {
            assert_eq!(SlowDevice::parse(text), None, "{text}");
        }
    }
}
