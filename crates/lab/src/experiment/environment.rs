//! What an experiment was run on.

use super::plan::Machine;
use super::record::Environment;
use pikepole_machine::{BLOCK, SystemFiles, probe};
use std::path::Path;
use std::time::Duration;

/// Time of the disk's probe.
const PROBE: Duration = Duration::from_millis(300);

/// Looks at the machine and probes the disk of a folder.
pub(super) fn look(machine: &Machine, folder: &Path) -> Environment {
    let files = SystemFiles::below("/");
    let cpuinfo = files.read("proc/cpuinfo").unwrap_or_default();
    let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let processor = model.map_or("unknown processor", |(_, name)| name.trim()).to_owned();
    let pages = files.read("sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
    let chosen = pages.split_once('[').and_then(|(_, behind)| behind.split_once(']')).map(|(chosen, _)| chosen);
    let durable = probe::durable_writes(folder, BLOCK, PROBE).ok();
    let build = if cfg!(debug_assertions) { "development build: figures mean little" } else { "release build" };
    Environment {
        processor,
        machine: machine.line(),
        memory_bytes: machine.topology.memory_nodes.iter().map(|node| node.memory_bytes).sum(),
        kernel: files.read("proc/sys/kernel/osrelease").unwrap_or_default().trim().to_owned(),
        transparent_pages: chosen.unwrap_or("unknown").to_owned(),
        durable_writes_per_second: durable.map(|probe| probe.writes_per_second),
        version: format!("pikepole {}, {build}", env!("CARGO_PKG_VERSION")),
    }
}
