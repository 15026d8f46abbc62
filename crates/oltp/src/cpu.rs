//! CPU time of processes, from `/proc`.

use std::fs;
use std::time::Duration;

/// The processes whose CPU time is that of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerProcess {
    /// One process.
    Single(u32),
    /// A process and its children, those that have ended too.
    Family(u32),
}

/// The fields of `/proc/PID/stat` that are used.
#[derive(Debug, PartialEq, Eq)]
struct Stat {
    parent: u32,
    /// Ticks of the process, and of its children that have ended.
    own: u64,
    ended: u64,
}

impl ServerProcess {
    /// The CPU time so far; `None` when the process is not on this machine.
    pub fn cpu(self) -> Option<Duration> {
        let ticks = match self {
            ServerProcess::Single(process) => stat(process)?.own,
            ServerProcess::Family(process) => {
                let parent = stat(process)?;
                let children = processes().filter_map(stat).filter(|child| child.parent == process);
                parent.own + parent.ended + children.map(|child| child.own + child.ended).sum::<u64>()
            }
        };
        Some(duration(ticks))
    }
}

/// The process that started another.
pub fn parent(process: u32) -> Option<u32> {
    stat(process).map(|stat| stat.parent)
}

/// The CPU time of this process.
pub fn own() -> Option<Duration> {
    ServerProcess::Single(std::process::id()).cpu()
}

/// The CPU time of all processes of this machine, and what its host took of it for others.
pub fn machine() -> Option<Duration> {
    machine_ticks(&fs::read_to_string("/proc/stat").ok()?).map(duration)
}

/// The ticks of the first line of `/proc/stat`: user, nice, system, idle, iowait, irq, softirq, steal, without idle and iowait.
fn machine_ticks(text: &str) -> Option<u64> {
    let fields = text.lines().next()?.strip_prefix("cpu ")?.split_whitespace();
    let ticks: Vec<u64> = fields.map_while(|field| field.parse().ok()).take(8).collect();
    (ticks.len() == 8).then(|| ticks.iter().sum::<u64>() - ticks[3] - ticks[4])
}

fn duration(ticks: u64) -> Duration {
    Duration::from_secs_f64(ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
}

fn processes() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn stat(process: u32) -> Option<Stat> {
    parse(&fs::read_to_string(format!("/proc/{process}/stat")).ok()?)
}

fn parse(line: &str) -> Option<Stat> {
    // The program's name may hold anything; what follows its last parenthesis begins with the third field.
    let fields: Vec<&str> = line.rsplit_once(')')?.1.split_whitespace().collect();
    let number = |place: usize| fields.get(place - 3)?.parse::<u64>().ok();
    let parent = u32::try_from(number(4)?).ok()?;
    Some(Stat { parent, own: number(14)? + number(15)?, ended: number(16)? + number(17)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_behind_any_name() {
        let line = "7 (a ) b) S 3 7 7 0 -1 4194560 1 2 3 4 10 20 30 40 20 0 1 0 5";
        assert_eq!(parse(line), Some(Stat { parent: 3, own: 30, ended: 70 }));
        assert_eq!(parse("7 (a"), None);
    }

    #[test]
    fn idle_time_is_left_out() {
        let text = "cpu  1 2 4 1000 1000 8 16 32 0 0\ncpu0 1 2 4 1000 1000 8 16 32 0 0\n";
        assert_eq!(machine_ticks(text), Some(63));
        assert_eq!(machine_ticks("cpu 1 2"), None);
    }

    #[test]
    fn a_process_has_a_time_and_a_parent() {
        assert!(own().is_some() && parent(std::process::id()).is_some());
        assert_eq!(ServerProcess::Single(u32::MAX).cpu(), None);
    }
}
