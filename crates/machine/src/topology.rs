//! What CPUs the machine has, and which share a core, a socket, a memory node or a cache.
//!
//! Read from the kernel's files below a root folder, `/` on a live machine, or from a description of a machine
//! ([`SystemFiles`]). What a machine does not tell (small virtual machines, containers) is taken for the simplest: every CPU its own core, all in one socket
//! and one node.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use crate::{SystemFiles, parse_list};

/// One logical CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cpu {
    /// Its number, as affinity masks count.
    pub id: usize,
    /// Its core: numbered from 0 through the whole machine. CPUs with one core are hyper-threads of it.
    pub core: usize,
    /// Its socket, numbered from 0.
    pub socket: usize,
    /// Its memory node, as the kernel numbers it.
    pub node: usize,
}

/// What a cache holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CacheKind {
    /// Data only.
    Data,
    /// Code only.
    Instruction,
    /// Both.
    Unified,
}

/// One cache.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cache {
    /// 1 is next to the core.
    pub level: u32,
    /// What it holds.
    pub kind: CacheKind,
    /// The CPUs that share it, ascending.
    pub cpus: Vec<usize>,
    /// Its size in bytes; 0 when it is not told.
    pub size_bytes: u64,
    /// Its line in bytes; 0 when it is not told.
    pub line_bytes: u32,
}

/// Memory that some CPUs reach sooner than the rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryNode {
    /// Its number, as the kernel counts.
    pub id: usize,
    /// Its CPUs online, ascending; none for a node that is only memory.
    pub cpus: Vec<usize>,
    /// Its memory in bytes; 0 when it is not told.
    pub memory_bytes: u64,
    /// The kernel's distances to all nodes by their order, 10 to itself; empty when they are not told.
    pub distances: Vec<u32>,
}

/// The CPUs, caches and memory nodes of a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    /// Those online, by ascending number.
    pub cpus: Vec<Cpu>,
    /// CPUs that are there and not online, ascending.
    pub offline: Vec<usize>,
    /// By level, kind and CPUs.
    pub caches: Vec<Cache>,
    /// By ascending number; one node with all CPUs where the kernel knows of none.
    pub memory_nodes: Vec<MemoryNode>,
}

impl Topology {
    /// Reads the machine whose files are below `root`.
    ///
    /// # Errors
    /// When the list of online CPUs is missing or names none.
    pub fn read(root: impl AsRef<Path>) -> io::Result<Self> {
        Self::of(&SystemFiles::below(root.as_ref()))
    }

    /// Reads the machine that these files tell of.
    ///
    /// # Errors
    /// As [`Topology::read`].
    pub fn of(files: &SystemFiles) -> io::Result<Self> {
        let online = files.read(&format!("{SYSTEM}/cpu/online"));
        let online =
            online.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "there is no list of online CPUs"))?;
        let ids = parse_list(&online).filter(|ids| !ids.is_empty());
        let ids = ids.ok_or_else(|| io::Error::other("the list of online CPUs is not one"))?;
        let mut memory_nodes = read_nodes(files);
        if memory_nodes.is_empty() {
            let memory_bytes = read_memory(files, "proc/meminfo").unwrap_or(0);
            memory_nodes.push(MemoryNode { id: 0, cpus: ids.clone(), memory_bytes, distances: vec![10] });
        }

        let mut sockets = Numbering::default();
        let mut cores = Numbering::default();
        let mut cpus = Vec::with_capacity(ids.len());
        let mut caches = BTreeSet::new();
        for &id in &ids {
            let folder = format!("{SYSTEM}/cpu/cpu{id}");
            let socket = files.number(&format!("{folder}/topology/physical_package_id")).unwrap_or(0);
            // The kernel counts cores within a socket, and in some machines within a die of it; the CPUs of a core
            // say it plainly. The lowest of them stands for the core.
            let core = files
                .list(&format!("{folder}/topology/core_cpus_list"))
                .or_else(|| files.list(&format!("{folder}/topology/thread_siblings_list")))
                .and_then(|siblings| siblings.first().copied())
                .unwrap_or(id);
            let node = memory_nodes.iter().find(|node| node.cpus.contains(&id)).map_or(0, |node| node.id);
            let (core, socket) = (cores.number(core as i64), sockets.number(socket));
            cpus.push(Cpu { id, core, socket, node });
            caches.extend(read_caches(files, &folder));
        }
        let present = files.list(&format!("{SYSTEM}/cpu/present")).unwrap_or_default();
        let offline = present.into_iter().filter(|cpu| !ids.contains(cpu)).collect();
        Ok(Self { cpus, offline, caches: caches.into_iter().collect(), memory_nodes })
    }

    /// The CPU numbered `id`, if it is online.
    pub fn cpu(&self, id: usize) -> Option<&Cpu> {
        self.cpus.binary_search_by_key(&id, |cpu| cpu.id).ok().map(|index| &self.cpus[index])
    }

    /// The memory nodes that have CPUs, ascending.
    pub fn nodes(&self) -> Vec<usize> {
        distinct(self.cpus.iter().map(|cpu| cpu.node))
    }

    /// The sockets, ascending.
    pub fn sockets(&self) -> Vec<usize> {
        distinct(self.cpus.iter().map(|cpu| cpu.socket))
    }

    /// The cores, ascending.
    pub fn cores(&self) -> Vec<usize> {
        distinct(self.cpus.iter().map(|cpu| cpu.core))
    }

    /// The CPUs of a memory node, ascending.
    pub fn cpus_of_node(&self, node: usize) -> Vec<usize> {
        self.cpus.iter().filter(|cpu| cpu.node == node).map(|cpu| cpu.id).collect()
    }

    /// The other CPUs, ascending, on the core of the CPU `id`.
    pub fn siblings(&self, id: usize) -> Vec<usize> {
        let Some(own) = self.cpu(id) else { return Vec::new() };
        let shares = |cpu: &&Cpu| cpu.core == own.core && cpu.id != id;
        self.cpus.iter().filter(shares).map(|cpu| cpu.id).collect()
    }
}

/// Where the kernel describes the hardware.
const SYSTEM: &str = "sys/devices/system";

fn distinct(numbers: impl Iterator<Item = usize>) -> Vec<usize> {
    numbers.collect::<BTreeSet<_>>().into_iter().collect()
}

/// Gives names numbers from 0, in the order of their first use.
#[derive(Default)]
struct Numbering(Vec<i64>);

impl Numbering {
    fn number(&mut self, name: i64) -> usize {
        self.0.iter().position(|known| *known == name).unwrap_or_else(|| {
            self.0.push(name);
            self.0.len() - 1
        })
    }
}

/// The nodes and their CPUs; none where the kernel knows of no nodes.
fn read_nodes(files: &SystemFiles) -> Vec<MemoryNode> {
    let ids = files.list(&format!("{SYSTEM}/node/online")).unwrap_or_default();
    let node = |id| {
        let folder = format!("{SYSTEM}/node/node{id}");
        let distances = files.read(&format!("{folder}/distance")).unwrap_or_default();
        MemoryNode {
            id,
            cpus: files.list(&format!("{folder}/cpulist")).unwrap_or_default(),
            memory_bytes: read_memory(files, &format!("{folder}/meminfo")).unwrap_or(0),
            distances: distances.split_whitespace().map_while(|number| number.parse().ok()).collect(),
        }
    };
    ids.into_iter().map(node).collect()
}

/// The bytes of the line `MemTotal` of a file.
fn read_memory(files: &SystemFiles, path: &str) -> Option<u64> {
    let text = files.read(path)?;
    let (_, behind) = text.split_once("MemTotal:")?;
    behind.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

fn read_caches(files: &SystemFiles, cpu_folder: &str) -> Vec<Cache> {
    let mut caches = Vec::new();
    for index in 0.. {
        let folder = format!("{cpu_folder}/cache/index{index}");
        let Some(level) = files.number(&format!("{folder}/level")) else { break };
        let kind = match files.read(&format!("{folder}/type")).as_deref().map(str::trim_end) {
            Some("Data") => CacheKind::Data,
            Some("Instruction") => CacheKind::Instruction,
            _ => CacheKind::Unified,
        };
        caches.push(Cache {
            level: u32::try_from(level).unwrap_or(0),
            kind,
            cpus: files.list(&format!("{folder}/shared_cpu_list")).unwrap_or_default(),
            size_bytes: read_size(files, &format!("{folder}/size")).unwrap_or(0),
            line_bytes: files
                .number(&format!("{folder}/coherency_line_size"))
                .and_then(|line| u32::try_from(line).ok())
                .unwrap_or(0),
        });
    }
    caches
}

/// A size such as `32K` or `8M`.
fn read_size(files: &SystemFiles, path: &str) -> Option<u64> {
    let text = files.read(path)?;
    let text = text.trim();
    let (digits, unit) = match text.strip_suffix(['K', 'M', 'G']) {
        Some(digits) => (digits, text.as_bytes()[digits.len()]),
        None => (text, b' '),
    };
    let shift = match unit {
        b'K' => 10,
        b'M' => 20,
        b'G' => 30,
        _ => 0,
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

#[cfg(test)]
#[path = "topology_tests.rs"]
mod tests;
