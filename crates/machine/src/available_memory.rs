//! How much memory the process can still take: what the machine has free, or what its control groups leave it, if that is less.

use crate::SystemFiles;
use crate::cpu_limits::ancestors;

/// Bytes that the process can take before the system runs short or a control group ends it; `None` where the system does not
/// tell. Pages that are reserved as large ones are not among them.
pub fn available_memory(files: &SystemFiles) -> Option<u64> {
    let meminfo = files.read("proc/meminfo").unwrap_or_default();
    let line = meminfo.lines().find_map(|line| line.split_once("MemAvailable:"));
    let kilobytes = line.and_then(|(_, rest)| rest.split_whitespace().next()?.parse::<u64>().ok());
    let mut available = kilobytes.map(|kilobytes| kilobytes << 10);
    let number = |path: String| files.number(&path).and_then(|number| u64::try_from(number).ok());
    let mut meet = |limit: Option<u64>, used: Option<u64>| {
        // No limit is written as a word, or as a number beyond any memory.
        if let (Some(limit), Some(used)) = (limit, used) {
            let left = limit.saturating_sub(used);
            available = Some(available.map_or(left, |known| known.min(left)));
        }
    };
    for line in files.read("proc/self/cgroup").unwrap_or_default().lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        for folder in ancestors(path) {
            if controllers.is_empty() {
                let folder = format!("sys/fs/cgroup{folder}");
                meet(number(format!("{folder}/memory.max")), number(format!("{folder}/memory.current")));
            } else if controllers.split(',').any(|name| name == "memory") {
                let folder = format!("sys/fs/cgroup/memory{folder}");
                let used = number(format!("{folder}/memory.usage_in_bytes"));
                meet(number(format!("{folder}/memory.limit_in_bytes")), used);
            }
        }
    }
    available
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_that_is_left_anywhere_counts() {
        let of = |text: &str| available_memory(&SystemFiles::listing(text));
        assert_eq!(of(""), None);
        let machine = "proc/meminfo MemFree: 5 kB MemAvailable:    4000 kB\n";
        assert_eq!(of(machine), Some(4000 << 10));
        let groups = format!(
            "{machine}proc/self/cgroup 0::/pods/one\n\
             sys/fs/cgroup/pods/one/memory.max max\nsys/fs/cgroup/pods/one/memory.current 7\n\
             sys/fs/cgroup/pods/memory.max 1000000\nsys/fs/cgroup/pods/memory.current 400000\n"
        );
        assert_eq!(of(&groups), Some(600_000));
        let old = format!(
            "{machine}proc/self/cgroup 3:cpu,memory:/job\n\
             sys/fs/cgroup/memory/job/memory.limit_in_bytes 100\nsys/fs/cgroup/memory/job/memory.usage_in_bytes 120\n\
             sys/fs/cgroup/memory/memory.limit_in_bytes 9223372036854771712\n\
             sys/fs/cgroup/memory/memory.usage_in_bytes 5\n"
        );
        assert_eq!(of(&old), Some(0));
    }
}
