//! CPU use of this process and of the rest of the machine, so that a run can say whether it was alone.

use std::time::Duration;

/// CPU time used so far by this process and by everything on the machine.
#[derive(Debug, Clone, Copy)]
pub struct CpuUse {
    own: Duration,
    machine: Option<Duration>,
}

/// What was used between two readings.
#[derive(Debug, Clone, Copy)]
pub struct CpuSpent {
    /// CPU seconds of this process, user and system.
    pub own_seconds: f64,
    /// CPU seconds of all other processes; `None` where the system does not tell.
    pub other_seconds: Option<f64>,
}

impl CpuUse {
    /// Reads both clocks.
    pub fn now() -> Self {
        CpuUse { own: own_cpu(), machine: machine_cpu() }
    }

    /// What was used since this reading.
    pub fn spent(&self) -> CpuSpent {
        let now = CpuUse::now();
        let own_seconds = now.own.saturating_sub(self.own).as_secs_f64();
        let machine = now.machine.zip(self.machine).map(|(now, then)| now.saturating_sub(then).as_secs_f64());
        CpuSpent { own_seconds, other_seconds: machine.map(|seconds| (seconds - own_seconds).max(0.0)) }
    }
}

fn own_cpu() -> Duration {
    // SAFETY: an all-zero `rusage` is a valid value of that plain C struct.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is a live, writable rusage; the call only fills it in.
    let status = unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut usage) };
    if status != 0 {
        return Duration::ZERO;
    }
    duration(usage.ru_utime) + duration(usage.ru_stime)
}

fn duration(time: libc::timeval) -> Duration {
    Duration::from_secs(time.tv_sec.max(0) as u64) + Duration::from_micros(time.tv_usec.max(0) as u64)
}

/// User, nice, system, irq, softirq and steal time of all CPUs; idle and I/O wait are left out.
fn machine_cpu() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/stat").ok()?;
    // SAFETY: sysconf reads a constant of the system and has no preconditions.
    let ticks_per_second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    busy_ticks(&text).map(|ticks| Duration::from_secs_f64(ticks as f64 / ticks_per_second.max(1) as f64))
}

fn busy_ticks(stat: &str) -> Option<u64> {
    let line = stat.lines().find(|line| line.starts_with("cpu "))?;
    let fields: Vec<u64> = line.split_whitespace().skip(1).map_while(|field| field.parse().ok()).collect();
    let [user, nice, system, _idle, _iowait, rest @ ..] = fields.as_slice() else { return None };
    Some(user + nice + system + rest.iter().take(3).sum::<u64>())
}

/// The highest resident memory of this process so far, in bytes.
pub fn peak_memory_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::busy_ticks;

    #[test]
    fn idle_and_io_wait_are_not_use() {
        assert_eq!(busy_ticks("cpu  10 1 5 1000 700 2 3 4 0 0\ncpu0 1 1 1 1\n"), Some(25));
    }

    #[test]
    fn a_strange_file_gives_nothing() {
        assert_eq!(busy_ticks("cpu ten\n"), None);
        assert_eq!(busy_ticks(""), None);
    }
}
