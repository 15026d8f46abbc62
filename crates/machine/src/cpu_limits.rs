//! Which of the machine's CPUs the process may use, and how much of them: affinity mask and control groups.
//!
//! A container on a big machine sees all of its CPUs. What it may use is said in three places, and the least counts:
//! the affinity mask, the CPU set of the control group, and the group's quota of CPU time - of every group from the
//! process's own up to the root, since each limits those below.

use crate::{SystemFiles, Topology};

/// What the process may use.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CpuLimits {
    /// The affinity mask; `None` where the system does not tell.
    pub affinity: Option<Vec<usize>>,
    /// The control group's CPUs; `None`: no group says so.
    pub cpuset: Option<Vec<usize>>,
    /// CPU time that the control group grants, in CPUs; `None`: as much as there is.
    pub quota_cpus: Option<f64>,
}

impl CpuLimits {
    /// The limits of the process that these files call `self`.
    pub fn of(files: &SystemFiles) -> Self {
        let status = files.read("proc/self/status").unwrap_or_default();
        let affinity = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        let mut limits = Self { affinity: affinity.and_then(crate::parse_list), ..Self::default() };
        let groups = files.read("proc/self/cgroup").unwrap_or_default();
        for line in groups.lines() {
            let mut parts = line.splitn(3, ':');
            let (Some(_), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next()) else { continue };
            for folder in ancestors(path) {
                if controllers.is_empty() {
                    // One hierarchy for all; beside the old ones it has a folder of its own.
                    for root in ["sys/fs/cgroup", "sys/fs/cgroup/unified"] {
                        limits.add_group(files, &format!("{root}{folder}"));
                    }
                }
                for controller in controllers.split(',').filter(|name| matches!(*name, "cpu" | "cpuset")) {
                    limits.add_old_group(files, &format!("sys/fs/cgroup/{controller}{folder}"));
                }
            }
        }
        limits
    }

    fn add_group(&mut self, files: &SystemFiles, folder: &str) {
        if let Some(cpus) = files.list(&format!("{folder}/cpuset.cpus.effective")).filter(|cpus| !cpus.is_empty()) {
            self.meet_cpuset(cpus);
        }
        let text = files.read(&format!("{folder}/cpu.max")).unwrap_or_default();
        let mut numbers = text.split_whitespace().map(str::parse::<f64>);
        if let (Some(Ok(quota)), Some(Ok(period))) = (numbers.next(), numbers.next()) {
            self.meet_quota(quota, period);
        }
    }

    fn add_old_group(&mut self, files: &SystemFiles, folder: &str) {
        let cpus = files.list(&format!("{folder}/cpuset.effective_cpus"));
        let cpus = cpus.or_else(|| files.list(&format!("{folder}/cpuset.cpus")));
        if let Some(cpus) = cpus.filter(|cpus| !cpus.is_empty()) {
            self.meet_cpuset(cpus);
        }
        let number = |name| files.number(&format!("{folder}/{name}")).map(|number| number as f64);
        if let (Some(quota), Some(period)) = (number("cpu.cfs_quota_us"), number("cpu.cfs_period_us")) {
            self.meet_quota(quota, period);
        }
    }

    fn meet_cpuset(&mut self, cpus: Vec<usize>) {
        match &mut self.cpuset {
            Some(known) => known.retain(|cpu| cpus.contains(cpu)),
            None => self.cpuset = Some(cpus),
        }
    }

    /// No limit is written as -1 or as a word.
    fn meet_quota(&mut self, quota: f64, period: f64) {
        if quota > 0.0 && period > 0.0 {
            let cpus = quota / period;
            self.quota_cpus = Some(self.quota_cpus.map_or(cpus, |known: f64| known.min(cpus)));
        }
    }

    /// The CPUs online that the process may run on, ascending.
    pub fn cpus(&self, topology: &Topology) -> Vec<usize> {
        let allows = |list: &Option<Vec<usize>>, cpu| list.as_ref().is_none_or(|list| list.contains(&cpu));
        let cpus = topology.cpus.iter().map(|cpu| cpu.id);
        cpus.filter(|cpu| allows(&self.affinity, *cpu) && allows(&self.cpuset, *cpu)).collect()
    }

    /// How many of its CPUs the process can keep busy at once: the quota, rounded up.
    pub fn busy_cpus_max(&self) -> Option<usize> {
        self.quota_cpus.map(|cpus| (cpus.ceil() as usize).max(1))
    }
}

/// The path of a control group and of all groups above it, without the slash at the end.
pub(crate) fn ancestors(path: &str) -> Vec<&str> {
    let mut found = vec![path.trim_end_matches('/')];
    while let Some((above, _)) = found[found.len() - 1].rsplit_once('/') {
        found.push(above);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Shape;

    #[test]
    fn the_least_of_all_groups_counts() {
        let files = SystemFiles::listing(
            "proc/self/status Cpus_allowed_list:\t0-7\n\
             proc/self/cgroup 0::/pods/one\n\
             sys/fs/cgroup/pods/cpu.max 350000 100000\n\
             sys/fs/cgroup/pods/one/cpu.max 600000 100000\n\
             sys/fs/cgroup/cpu.max max 100000\n\
             sys/fs/cgroup/pods/cpuset.cpus.effective 2-6\n\
             sys/fs/cgroup/pods/one/cpuset.cpus.effective 0-4\n",
        );
        let limits = CpuLimits::of(&files);
        assert_eq!(limits.quota_cpus, Some(3.5));
        assert_eq!(limits.busy_cpus_max(), Some(4));
        let machine = Topology::of(&SystemFiles::of_shape(&Shape::new(1, 1, 8, 1))).expect("a machine");
        assert_eq!(limits.cpus(&machine), [2, 3, 4]);
    }

    #[test]
    fn old_groups_and_no_groups() {
        let files = SystemFiles::listing(
            "proc/self/cgroup 4:cpu:/job\n\
             sys/fs/cgroup/cpu/job/cpu.cfs_quota_us 50000\n\
             sys/fs/cgroup/cpu/job/cpu.cfs_period_us 100000\n\
             sys/fs/cgroup/cpu/cpu.cfs_quota_us -1\n\
             sys/fs/cgroup/cpu/cpu.cfs_period_us 100000\n",
        );
        let limits = CpuLimits::of(&files);
        assert_eq!((limits.quota_cpus, limits.busy_cpus_max()), (Some(0.5), Some(1)));
        assert_eq!(CpuLimits::of(&SystemFiles::listing("")), CpuLimits::default());
    }
}
