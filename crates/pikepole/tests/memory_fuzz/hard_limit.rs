//! A hard limit on a process's memory: a control group where one can be made, else a watch that kills.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU64, Ordering};

/// See the module.
pub struct HardLimit {
    bytes: u64,
    /// The control group, if there is one.
    group: Option<Group>,
    /// The most that was seen.
    peak: AtomicU64,
}

struct Group {
    folder: PathBuf,
    /// The file that says how much the group had at most.
    peak: PathBuf,
}

impl std::fmt::Display for HardLimit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.group.is_some() { "a control group" } else { "a watch that kills" })
    }
}

impl HardLimit {
    pub fn new(bytes: u64) -> HardLimit {
        let name = format!("pikepole-memory-{}", std::process::id());
        let kinds = [
            ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.max_usage_in_bytes"),
            ("/sys/fs/cgroup", "memory.max", "memory.peak"),
        ];
        let group = kinds.into_iter().find_map(|(root, limit, peak)| {
            let folder = Path::new(root).join(&name);
            if !Path::new(root).join("cgroup.procs").exists() || fs::create_dir(&folder).is_err() {
                return None;
            }
            if fs::write(folder.join(limit), bytes.to_string()).is_err() {
                let _ = fs::remove_dir(&folder);
                return None;
            }
            // Swap would hide what is too much.
            let _ = fs::write(folder.join("memory.memsw.limit_in_bytes"), bytes.to_string());
            let _ = fs::write(folder.join("memory.swap.max"), "0");
            Some(Group { peak: folder.join(peak), folder })
        });
        HardLimit { bytes, group, peak: AtomicU64::new(0) }
    }

    /// A command that runs a program under the limit.
    pub fn command(&self, program: &Path) -> Command {
        match &self.group {
            None => Command::new(program),
            Some(group) => {
                let mut command = Command::new("sh");
                command.args(["-c", "echo $$ > \"$0/cgroup.procs\" && exec \"$@\""]).arg(&group.folder).arg(program);
                command
            }
        }
    }

    /// The policy that tells the server of a limit that it cannot find out.
    pub fn policy(&self) -> Option<String> {
        let megabytes = (self.bytes / 5 * 4) >> 20;
        self.group.is_none().then(|| format!("max server memory (MB)={megabytes}"))
    }

    /// Kills a process that has more, where no group does.
    pub fn watch(&self, program: &mut Child) {
        if self.group.is_some() {
            return;
        }
        let status = fs::read_to_string(format!("/proc/{}/status", program.id())).unwrap_or_default();
        let kilobytes = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0)
        };
        let bytes = (kilobytes("RssAnon:") + kilobytes("RssShmem:")) << 10;
        self.peak.fetch_max(bytes, Ordering::Relaxed);
        if bytes > self.bytes {
            let _ = program.kill();
        }
    }

    /// The most that the process had, in bytes.
    pub fn peak(&self) -> u64 {
        let of_group = self.group.as_ref().and_then(|group| fs::read_to_string(&group.peak).ok()?.trim().parse().ok());
        of_group.unwrap_or_else(|| self.peak.load(Ordering::Relaxed))
    }
}

impl Drop for HardLimit {
    fn drop(&mut self) {
        if let Some(group) = &self.group {
            let _ = fs::remove_dir(&group.folder);
        }
    }
}
