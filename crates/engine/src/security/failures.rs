//! Failed logins: how often, how much later the next answer comes, and when a password is not even looked at.
//!
//! | counted by | what it does |
//! |---|---|
//! | name | answers to failures of the name come later |
//! | address | answers to failures from the address come later |
//! | name and address | likewise; and until the delay of the last failure is over, no other password of this name is looked at from this address |
//!
//! So a guesser who does not wait for answers gets one look for each delay. A right password is not delayed, and a name that is
//! attacked from one address is as open as ever from others. Names that there are and names that there are not are counted alike.

use std::collections::HashMap;
use std::time::Duration;

use pikepole_contention::sync::{Mutex, MutexGuard};

/// The delay of the first failure; each further one doubles it.
const DELAY_FIRST: Duration = Duration::from_millis(100);
/// The longest delay.
const DELAY_MAX: Duration = Duration::from_secs(3);
/// Failures older than this are forgotten.
const KEPT_US: u64 = 15 * 60 * 1_000_000;
/// Names, addresses and pairs that are counted; beyond that the oldest are forgotten.
const COUNTED_MAX: usize = 4_096;
/// Failures whose answers are delayed at a time, of one address and of all; further ones are answered at once.
const HELD_OF_ADDRESS_MAX: usize = 128;
const HELD_MAX: usize = 1_024;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    Name(String),
    Address(String),
    Both(String, String),
}

/// The failures of one key.
#[derive(Debug, Clone, Copy, Default)]
struct Failures {
    count: u32,
    last_us: u64,
}

/// The failures of late.
#[derive(Default)]
pub(super) struct LoginFailures {
    counted: Mutex<HashMap<Key, Failures>>,
    held: Mutex<HashMap<String, usize>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

/// The time between a failed login's arrival and its answer.
pub(super) fn delay(failures: u32) -> Duration {
    let doublings = failures.saturating_sub(1).min(16);
    DELAY_FIRST.saturating_mul(1 << doublings).min(DELAY_MAX)
}

fn keys(name: &str, host: &str) -> Vec<Key> {
    let (name, host) = (name.to_lowercase(), host.to_owned());
    if host.is_empty() {
        return vec![Key::Name(name)];
    }
    vec![Key::Name(name.clone()), Key::Both(name, host.clone()), Key::Address(host)]
}

impl LoginFailures {
    /// Whether a password of this name from this address (empty: not known, and then always) is looked at now; else the
    /// failures that keep it from that.
    ///
    /// # Errors
    /// The count.
    pub fn may_look(&self, name: &str, host: &str, now_us: u64) -> Result<(), u32> {
        let pair = Key::Both(name.to_lowercase(), host.to_owned());
        match lock(&self.counted).get(&pair) {
            Some(failures) if now_us < failures.last_us + delay(failures.count).as_micros() as u64 => {
                Err(failures.count)
            }
            _ => Ok(()),
        }
    }

    /// Whether this name has failed from this address lately.
    pub fn has_failed(&self, name: &str, host: &str, now_us: u64) -> bool {
        let pair = Key::Both(name.to_lowercase(), host.to_owned());
        lock(&self.counted).get(&pair).is_some_and(|failures| now_us.saturating_sub(failures.last_us) <= KEPT_US)
    }

    /// Counts a failure; the most that its name, its address or both have.
    pub fn count(&self, name: &str, host: &str, now_us: u64) -> u32 {
        let mut counted = lock(&self.counted);
        if counted.len() + 3 > COUNTED_MAX {
            let mut times: Vec<u64> = counted.values().map(|failures| failures.last_us).collect();
            // An eighth at a time, so that a flood of names does not sort for each of them.
            let (_, newest_to_go, _) = times.select_nth_unstable(COUNTED_MAX / 8);
            let newest_to_go = *newest_to_go;
            counted.retain(|_, failures| failures.last_us > newest_to_go);
        }
        let mut most = 0;
        for key in keys(name, host) {
            let failures = counted.entry(key).or_default();
            if now_us.saturating_sub(failures.last_us) > KEPT_US {
                failures.count = 0;
            }
            *failures = Failures { count: failures.count.saturating_add(1), last_us: now_us };
            most = most.max(failures.count);
        }
        most
    }

    /// Forgets what was counted of a name, and of it and an address: its password was right. The address's own count stays: one
    /// good login must not pay for guesses at others.
    pub fn forget(&self, name: &str, host: &str) {
        let mut counted = lock(&self.counted);
        for key in keys(name, host) {
            if !matches!(key, Key::Address(_)) {
                counted.remove(&key);
            }
        }
    }

    /// Forgets what was counted of a name from anywhere: ALTER LOGIN ... UNLOCK.
    pub fn forget_name(&self, name: &str) {
        let name = name.to_lowercase();
        lock(&self.counted).retain(|key, _| !matches!(key, Key::Name(of) | Key::Both(of, _) if *of == name));
    }

    /// A place among the delayed answers of `host`; none when it or the server has too many, whatever their names.
    pub fn hold(&self, host: &str) -> Option<Held<'_>> {
        let mut held = lock(&self.held);
        let all: usize = held.values().sum();
        let of_address = held.entry(host.to_owned()).or_default();
        if *of_address >= HELD_OF_ADDRESS_MAX || all >= HELD_MAX {
            if *of_address == 0 {
                held.remove(host);
            }
            return None;
        }
        *of_address += 1;
        Some(Held { failures: self, host: host.to_owned() })
    }
}

/// A place among the delayed answers.
pub(super) struct Held<'a> {
    failures: &'a LoginFailures,
    host: String,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let mut held = lock(&self.failures.held);
        if let Some(count) = held.get_mut(&self.host) {
            *count -= 1;
            if *count == 0 {
                held.remove(&self.host);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_counted_by_name_and_by_host_and_forgotten() {
        let failures = LoginFailures::default();
        assert_eq!(failures.count("SA", "a", 1), 1);
        assert_eq!(failures.count("sa", "b", 2), 2);
        assert_eq!(failures.count("other", "b", 3), 2);
        failures.forget("sa", "b");
        assert_eq!(failures.count("sa", "c", 4), 1);
        assert_eq!(failures.count("other", "d", 5 + KEPT_US), 1);
    }

    #[test]
    fn a_guesser_gets_one_look_for_each_delay_and_only_where_it_guesses() {
        let failures = LoginFailures::default();
        let look = |host: &str, now_us: u64| failures.may_look("ann", host, now_us).is_ok();
        assert!(look("a", 0));
        failures.count("ann", "a", 10);
        assert!(!look("a", 11) && !look("a", 100_009) && look("a", 100_010), "the first delay is a tenth of a second");
        failures.count("ann", "a", 200_000);
        assert!(!look("a", 399_999) && look("a", 400_000), "the second is twice that");
        for _ in 0..100 {
            failures.count("ann", "a", 500_000);
        }
        assert!(!look("a", 3_499_999) && look("a", 3_500_000), "none is longer than three seconds");
        assert!(failures.has_failed("Ann", "a", 500_001) && !failures.has_failed("ann", "b", 500_001));
        assert!(look("b", 500_001), "another address is not concerned");
        assert!(failures.may_look("bob", "a", 500_001).is_ok(), "nor is another name");
        failures.forget_name("ANN");
        assert!(look("a", 500_001));
    }

    #[test]
    fn many_names_do_not_fill_the_memory_and_the_oldest_go_first() {
        let failures = LoginFailures::default();
        for number in 0..3 * COUNTED_MAX {
            failures.count(&number.to_string(), "a", number as u64);
        }
        let counted = lock(&failures.counted);
        assert!(counted.len() <= COUNTED_MAX, "{}", counted.len());
        let address = counted.get(&Key::Address("a".to_owned())).map(|failures| failures.count);
        assert_eq!(address, Some(3 * COUNTED_MAX as u32), "who floods with names is remembered by its address");
    }

    #[test]
    fn delays_grow_to_a_bound() {
        let delays: Vec<u128> = (1..8).map(|failures| delay(failures).as_millis()).collect();
        assert_eq!(delays, [100, 200, 400, 800, 1600, 3000, 3000]);
        assert_eq!(delay(u32::MAX), DELAY_MAX);
    }

    #[test]
    fn failures_that_wait_to_be_told_are_bounded() {
        let failures = LoginFailures::default();
        let held: Vec<Held<'_>> = std::iter::from_fn(|| failures.hold("a")).collect();
        assert_eq!(held.len(), HELD_OF_ADDRESS_MAX);
        let others: Vec<Held<'_>> = (0..2 * HELD_MAX).filter_map(|number| failures.hold(&number.to_string())).collect();
        assert_eq!(held.len() + others.len(), HELD_MAX);
        drop((held, others));
        assert!(lock(&failures.held).is_empty());
    }
}
