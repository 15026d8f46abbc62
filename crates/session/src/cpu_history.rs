//! What the process has used of the machine's CPUs, between one look and the next.
//!
//! Nobody samples by the clock: a view that shows the history adds what has passed since the look before, or since the server began. So a
//! monitor that asks each minute finds a row for each minute, and a server that nobody asks pays nothing.

use pikepole_contention::sync::Mutex;
use pikepole_machine::{SystemFiles, clock};
use std::collections::VecDeque;

/// Looks kept.
const SAMPLES_MAX: usize = 256;
/// Looks that come sooner after another show the same.
const BETWEEN_US_MIN: u64 = 1_000_000;
/// The unit of `/proc`, whatever the kernel's own is.
const TICK_US: u64 = 10_000;

/// What passed between two looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CpuSample {
    /// Its number, from 1.
    pub(crate) id: u64,
    /// When it ended, in microseconds of the server's clock.
    pub(crate) at_us: u64,
    /// Of all CPUs' time, what the process used, and what nobody used, in percent.
    pub(crate) process_percent: u64,
    pub(crate) idle_percent: u64,
    /// The process's time outside of the kernel and in it, in microseconds.
    pub(crate) user_us: u64,
    pub(crate) kernel_us: u64,
    /// Faults of its pages.
    pub(crate) page_faults: u64,
}

/// The history of a server.
#[derive(Debug)]
pub(crate) struct CpuHistory(Mutex<Samples>);

#[derive(Debug)]
struct Samples {
    last: Account,
    samples: VecDeque<CpuSample>,
    next_id: u64,
}

/// What the system has counted until a moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Account {
    at_us: u64,
    user_us: u64,
    kernel_us: u64,
    page_faults: u64,
    all_us: u64,
    idle_us: u64,
}

impl Account {
    fn now() -> Account {
        let files = SystemFiles::below("/");
        let read = |name: &str| files.read(name).unwrap_or_default();
        Account::of(clock::now_us(), &read("proc/self/stat"), &read("proc/stat"))
    }

    fn of(at_us: u64, process: &str, machine: &str) -> Account {
        // Behind the command's name, which is in parentheses and may hold blanks: minflt, majflt, utime and stime are these fields.
        let fields: Vec<&str> = process.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let field = |at: usize| fields.get(at).and_then(|field| field.parse::<u64>().ok()).unwrap_or(0);
        // Of the line of all CPUs: user, nice, system, idle, iowait, irq, softirq, steal; the times of guests are in the first two.
        let line = machine.lines().find_map(|line| line.strip_prefix("cpu ")).unwrap_or_default();
        let times: Vec<u64> = line.split_whitespace().take(8).map(|time| time.parse().unwrap_or(0)).collect();
        let idle: u64 = times.iter().skip(3).take(2).sum();
        Account {
            at_us,
            user_us: field(11) * TICK_US,
            kernel_us: field(12) * TICK_US,
            page_faults: field(7) + field(9),
            all_us: times.iter().sum::<u64>() * TICK_US,
            idle_us: idle * TICK_US,
        }
    }

    /// What passed since an earlier account.
    fn since(&self, earlier: &Account, id: u64) -> CpuSample {
        let passed = |now: u64, then: u64| now.saturating_sub(then);
        let all = passed(self.all_us, earlier.all_us).max(1);
        let percent = |part: u64| (part * 100 / all).min(100);
        let (user_us, kernel_us) = (passed(self.user_us, earlier.user_us), passed(self.kernel_us, earlier.kernel_us));
        CpuSample {
            id,
            at_us: self.at_us,
            process_percent: percent(user_us + kernel_us),
            idle_percent: percent(passed(self.idle_us, earlier.idle_us)),
            user_us,
            kernel_us,
            page_faults: passed(self.page_faults, earlier.page_faults),
        }
    }
}

/// The time that the process has spent on CPUs, in microseconds.
pub(crate) fn process_us() -> u64 {
    let now = Account::now();
    now.user_us + now.kernel_us
}

impl CpuHistory {
    /// Begins now.
    pub(crate) fn begin() -> CpuHistory {
        CpuHistory(Mutex::new(Samples { last: Account::now(), samples: VecDeque::new(), next_id: 1 }))
    }

    /// What has passed until now, the newest last.
    pub(crate) fn look(&self) -> Vec<CpuSample> {
        let now = Account::now();
        // A panic elsewhere leaves it whole: a sample is added in one step.
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).look(now)
    }
}

impl Samples {
    fn look(&mut self, now: Account) -> Vec<CpuSample> {
        if now.at_us.saturating_sub(self.last.at_us) >= BETWEEN_US_MIN {
            if self.samples.len() == SAMPLES_MAX {
                self.samples.pop_front();
            }
            self.samples.push_back(now.since(&self.last, self.next_id));
            (self.last, self.next_id) = (now, self.next_id + 1);
        }
        self.samples.iter().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fields 1 to 13 behind the name, as `/proc/self/stat` has them.
    fn account(at_us: u64, user: u64, kernel: u64, all: u64, idle: u64) -> Account {
        let process = format!("7 (a name) with ) R 1 1 1 0 -1 0 40 0 2 0 {user} {kernel} 0");
        let machine = format!("cpu  {} 0 0 {idle} 0 0 0 0 99 99\ncpu0 1 1 1 1\n", all - idle);
        Account::of(at_us, &process, &machine)
    }

    #[test]
    fn a_look_shows_what_passed_since_the_one_before() {
        let mut samples = Samples { last: account(0, 100, 10, 1000, 500), samples: VecDeque::new(), next_id: 1 };
        assert_eq!(samples.look(account(10, 100, 10, 1000, 500)), [], "too soon");
        let shown = samples.look(account(2_000_000, 130, 30, 1200, 600));
        let [sample] = shown[..] else { panic!("{shown:?}") };
        assert_eq!((sample.process_percent, sample.idle_percent, sample.id), (25, 50, 1));
        assert_eq!((sample.user_us, sample.kernel_us, sample.page_faults), (300_000, 200_000, 0));
        assert_eq!(samples.look(account(2_500_000, 999, 999, 9999, 99)).len(), 1, "too soon");
        let shown = samples.look(account(4_000_000, 130, 30, 1400, 800));
        assert_eq!(shown.iter().map(|sample| sample.process_percent).collect::<Vec<_>>(), [25, 0]);
        for round in 3..400 {
            samples.look(account(round * 2_000_000, 130, 30, 1400, 800));
        }
        assert_eq!((samples.samples.len(), samples.samples[0].id), (SAMPLES_MAX, 400 - SAMPLES_MAX as u64));
    }

    #[test]
    fn a_system_that_tells_nothing_is_no_division_by_zero() {
        assert_eq!(Account::of(5, "", "").since(&Account::default(), 1).process_percent, 0);
    }
}
