//! The memory that a process may have: what its control groups leave it, or what the machine has.

use crate::SystemFiles;
use crate::cpu_limits::ancestors;

/// The source of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitSource {
    /// A control group of the process.
    ControlGroup,
    /// The machine has no more.
    Machine,
    /// The system does not say.
    Unknown,
}

/// The memory that a process may have, and who says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryLimit {
    /// Bytes; 0 where the system does not say.
    pub bytes: u64,
    /// The source of the number.
    pub source: LimitSource,
}

impl MemoryLimit {
    /// The smallest limit of all control groups from the process's own to the root, if one is below what the machine has.
    pub fn of(files: &SystemFiles) -> MemoryLimit {
        let machine = machine_bytes(files);
        let mut limit = match machine {
            0 => MemoryLimit { bytes: 0, source: LimitSource::Unknown },
            bytes => MemoryLimit { bytes, source: LimitSource::Machine },
        };
        for path in limit_files(files) {
            // No limit is written as a word, or as a number beyond any memory.
            let bytes = files.number(&path).and_then(|bytes| u64::try_from(bytes).ok());
            let Some(bytes) = bytes.filter(|bytes| *bytes > 0 && *bytes < NO_LIMIT) else { continue };
            if limit.bytes == 0 || bytes < limit.bytes {
                limit = MemoryLimit { bytes, source: LimitSource::ControlGroup };
            }
        }
        limit
    }
}

/// Version 1 writes "no limit" as the largest number that its counters hold, a little below 2^63.
const NO_LIMIT: u64 = 1 << 62;

/// The files with the limits of the process's control groups, its own first.
fn limit_files(files: &SystemFiles) -> Vec<String> {
    let mut paths = Vec::new();
    for line in files.read("proc/self/cgroup").unwrap_or_default().lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        for folder in ancestors(path) {
            if controllers.is_empty() {
                // The one hierarchy of version 2; beside those of version 1 it has a folder of its own.
                for root in ["sys/fs/cgroup", "sys/fs/cgroup/unified"] {
                    paths.push(format!("{root}{folder}/memory.max"));
                    paths.push(format!("{root}{folder}/memory.high"));
                }
            } else if controllers.split(',').any(|name| name == "memory") {
                paths.push(format!("sys/fs/cgroup/memory{folder}/memory.limit_in_bytes"));
            }
        }
    }
    paths
}

/// The machine's memory; 0 where the system does not say.
fn machine_bytes(files: &SystemFiles) -> u64 {
    let of = |path: &str| {
        let text = files.read(path)?;
        let (_, behind) = text.split_once("MemTotal:")?;
        behind.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
    };
    if let Some(bytes) = of("proc/meminfo") {
        return bytes;
    }
    // A machine that is only described says what its nodes have.
    let nodes = files.list("sys/devices/system/node/online").unwrap_or_default();
    nodes.iter().filter_map(|node| of(&format!("sys/devices/system/node/node{node}/meminfo"))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Shape;

    fn of(text: &str) -> (u64, LimitSource) {
        let limit = MemoryLimit::of(&SystemFiles::listing(text));
        (limit.bytes, limit.source)
    }

    #[test]
    fn the_smallest_limit_on_the_path_counts() {
        assert_eq!(of(""), (0, LimitSource::Unknown));
        let machine = "proc/meminfo MemTotal: 8000000 kB MemFree: 5 kB\n";
        assert_eq!(of(machine), (8_192_000_000, LimitSource::Machine));
        let nested = format!(
            "{machine}proc/self/cgroup 0::/pods/one/inner\n\
             sys/fs/cgroup/pods/one/inner/memory.max max\n\
             sys/fs/cgroup/pods/one/memory.max 500000000\n\
             sys/fs/cgroup/pods/memory.max 268435456\n"
        );
        assert_eq!(of(&nested), (268_435_456, LimitSource::ControlGroup));
        let throttled = format!("{nested}sys/fs/cgroup/pods/one/inner/memory.high 100000000\n");
        assert_eq!(of(&throttled), (100_000_000, LimitSource::ControlGroup));
        let elsewhere = format!("{machine}proc/self/cgroup 0::/one\nsys/fs/cgroup/two/memory.max 1000\n");
        assert_eq!(of(&elsewhere).1, LimitSource::Machine, "the limit of a group beside it is none of its own");
    }

    #[test]
    fn groups_of_version_1_and_groups_of_a_container_s_root() {
        let machine = "proc/meminfo MemTotal: 8000000 kB\n";
        let old = format!(
            "{machine}proc/self/cgroup 4:cpu,memory:/job/step\n\
             sys/fs/cgroup/memory/job/step/memory.limit_in_bytes 9223372036854771712\n\
             sys/fs/cgroup/memory/job/memory.limit_in_bytes 1073741824\n\
             sys/fs/cgroup/memory/memory.limit_in_bytes 9223372036854771712\n"
        );
        assert_eq!(of(&old), (1 << 30, LimitSource::ControlGroup));
        // In a namespace of its own a container's group is the root.
        let container = format!("{machine}proc/self/cgroup 0::/\nsys/fs/cgroup/memory.max 268435456\n");
        assert_eq!(of(&container), (256 << 20, LimitSource::ControlGroup));
        let both = format!("{machine}proc/self/cgroup 0::/x\nsys/fs/cgroup/unified/x/memory.max 7000000\n");
        assert_eq!(of(&both), (7_000_000, LimitSource::ControlGroup));
        let above = format!("{machine}proc/self/cgroup 0::/\nsys/fs/cgroup/memory.max 99999999999999\n");
        assert_eq!(of(&above), (8_192_000_000, LimitSource::Machine), "no group gives more than there is");
    }

    #[test]
    fn a_described_machine_has_the_memory_of_its_nodes() {
        let files = SystemFiles::of_shape(&Shape::new(2, 1, 4, 1));
        assert_eq!(MemoryLimit::of(&files), MemoryLimit { bytes: 128 << 30, source: LimitSource::Machine });
    }
}
