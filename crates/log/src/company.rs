//! Whether an idle scheduler puts off a write for sessions that are about to commit again.
//!
//! Sessions whose clients ask over sockets come back from a commit one after the other. The first one finds its scheduler idle;
//! a write that begins at once carries it alone, and the others arrive while the thread waits for the device, for the write after. So
//! writes with one commit and with all the others take turns, and each session waits for two. Half the wait is saved by putting the
//! first write off until as many wait as waited before the last one, and never by more than half the time of a write.
//! Sessions that commit one row after the other inside the engine are all there before the scheduler is idle, and put nothing off.
//!
//! ```text
//!   a wait begins   -> waiting, most
//!   a look          -> waiting < expected, and the first look is not long ago: not yet
//!   a write         -> expected = most, and most begins anew: whoever has left is missed once
//! ```
//!
//! Nothing depends on these numbers but when a write begins: all are relaxed, and those that only the slot's owner reads are
//! stored without care for others.

use pikepole_contention::sync::atomic::{AtomicU64, Ordering};

/// A write is put off by this at most, in microseconds: the scheduler spins meanwhile.
const PUT_OFF_US_MAX: u64 = 500;

/// The committers of one slot.
#[derive(Default)]
pub(crate) struct Company {
    /// Waits for the durable horizon that have begun and not ended.
    waiting: AtomicU64,
    /// The most at once since the owner last wrote.
    most: AtomicU64,
    /// The same, of the time before that.
    expected: AtomicU64,
    /// When the owner first put off the write that is due; 0: it has not.
    put_off_since_us: AtomicU64,
}

impl Company {
    /// A wait begins.
    pub fn came(&self) {
        let waiting = self.waiting.fetch_add(1, Ordering::Relaxed) + 1;
        if waiting > self.most.load(Ordering::Relaxed) {
            self.most.store(waiting, Ordering::Relaxed);
        }
    }

    /// A wait has ended, whichever way.
    pub fn left(&self) {
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether to wait for more; asked each time when there is something to write. `write_us` is what a write takes.
    pub fn is_expected(&self, now_us: u64, write_us: u64) -> bool {
        if self.waiting.load(Ordering::Relaxed) >= self.expected.load(Ordering::Relaxed) {
            return false;
        }
        let mut since_us = self.put_off_since_us.load(Ordering::Relaxed);
        if since_us == 0 {
            since_us = now_us;
            self.put_off_since_us.store(now_us, Ordering::Relaxed);
        }
        now_us.saturating_sub(since_us) < (write_us / 2).min(PUT_OFF_US_MAX)
    }

    /// The owner writes. When it first put this write off; 0: it has not.
    pub fn writes(&self) -> u64 {
        self.expected.store(self.most.load(Ordering::Relaxed), Ordering::Relaxed);
        self.most.store(0, Ordering::Relaxed);
        self.has_nothing()
    }

    /// There is nothing to write: others took it along. When the owner first put it off; 0: it has not.
    pub fn has_nothing(&self) -> u64 {
        let since_us = self.put_off_since_us.load(Ordering::Relaxed);
        if since_us != 0 {
            self.put_off_since_us.store(0, Ordering::Relaxed);
        }
        since_us
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn come(company: &Company, count: usize) {
        (0..count).for_each(|_| company.came());
    }

    fn leave(company: &Company, count: usize) {
        (0..count).for_each(|_| company.left());
    }

    #[test]
    fn a_lone_committer_is_never_put_off() {
        let company = Company::default();
        for now_us in 1..10 {
            come(&company, 1);
            assert!(!company.is_expected(now_us, 400));
            company.writes();
            leave(&company, 1);
        }
    }

    #[test]
    fn as_many_are_awaited_as_waited_before_the_last_write() {
        let company = Company::default();
        come(&company, 4);
        assert!(!company.is_expected(1, 400));
        company.writes();
        leave(&company, 4);
        for present in 1..4 {
            come(&company, 1);
            assert!(company.is_expected(2, 400), "{present} of 4");
        }
        come(&company, 1);
        assert!(!company.is_expected(2, 400));
    }

    #[test]
    fn the_wait_is_half_a_write_and_the_missing_are_missed_once() {
        let company = Company::default();
        come(&company, 2);
        company.writes();
        leave(&company, 2);
        come(&company, 1);
        assert!(company.is_expected(1_000, 400));
        assert!(company.is_expected(1_199, 400));
        assert!(!company.is_expected(1_200, 400));
        company.writes();
        leave(&company, 1);
        come(&company, 1);
        assert!(!company.is_expected(2_000, 400));
    }

    #[test]
    fn a_slow_device_and_one_without_a_time_of_its_own() {
        let company = Company::default();
        come(&company, 2);
        company.writes();
        leave(&company, 1);
        assert!(!company.is_expected(1, 0), "a write that takes no time is not worth a wait");
        company.has_nothing();
        assert!(company.is_expected(1_000, 20_000));
        assert!(!company.is_expected(1_500, 20_000));
    }

    #[test]
    fn what_others_wrote_is_no_longer_put_off() {
        let company = Company::default();
        come(&company, 2);
        company.writes();
        leave(&company, 2);
        come(&company, 1);
        assert!(company.is_expected(1_000, 400));
        company.has_nothing();
        // The next one has the whole time again.
        assert!(company.is_expected(5_000, 400));
    }
}
