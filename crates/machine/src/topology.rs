//! What CPUs the machine has, and which share a core, a socket, a memory node or a cache.
//!
//! Read from the kernel's files below a root folder: `/` on a live machine, a fixture in a test. What a machine does
//! not tell (small virtual machines, containers) is taken for the simplest: every CPU its own core, all in one socket
//! and one node.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

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

/// The CPUs and caches of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    /// Those online, by ascending number.
    pub cpus: Vec<Cpu>,
    /// By level, kind and CPUs.
    pub caches: Vec<Cache>,
}

impl Topology {
    /// Reads the machine whose files are below `root`.
    ///
    /// # Errors
    /// When the list of online CPUs is missing or names none.
    pub fn read(root: impl AsRef<Path>) -> io::Result<Self> {
        let system = root.as_ref().join("sys/devices/system");
        let online = fs::read_to_string(system.join("cpu/online"))?;
        let ids = parse_list(&online).filter(|ids| !ids.is_empty());
        let ids = ids.ok_or_else(|| io::Error::other("the list of online CPUs is not one"))?;
        let nodes = read_nodes(&system.join("node"));

        let mut sockets = Numbering::default();
        let mut cores = Numbering::default();
        let mut cpus = Vec::with_capacity(ids.len());
        let mut caches = BTreeSet::new();
        for id in ids {
            let folder = system.join(format!("cpu/cpu{id}"));
            let socket = read_number(&folder.join("topology/physical_package_id")).unwrap_or(0);
            // The kernel counts cores within a socket, and in some machines within a die of it; the CPUs of a core
            // say it plainly. The lowest of them stands for the core.
            let core = read_list(&folder.join("topology/core_cpus_list"))
                .or_else(|| read_list(&folder.join("topology/thread_siblings_list")))
                .and_then(|siblings| siblings.first().copied())
                .unwrap_or(id);
            let node = nodes.iter().find(|(_, cpus)| cpus.contains(&id)).map_or(0, |(node, _)| *node);
            let (core, socket) = (cores.number(core as i64), sockets.number(socket));
            cpus.push(Cpu { id, core, socket, node });
            caches.extend(read_caches(&folder.join("cache")));
        }
        Ok(Self { cpus, caches: caches.into_iter().collect() })
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
fn read_nodes(folder: &Path) -> Vec<(usize, Vec<usize>)> {
    let ids = read_list(&folder.join("online")).unwrap_or_default();
    let cpus = |id| read_list(&folder.join(format!("node{id}/cpulist"))).unwrap_or_default();
    ids.into_iter().map(|id| (id, cpus(id))).collect()
}

fn read_caches(folder: &Path) -> Vec<Cache> {
    let mut caches = Vec::new();
    for index in 0.. {
        let folder = folder.join(format!("index{index}"));
        let Some(level) = read_number(&folder.join("level")) else { break };
        let kind = match fs::read_to_string(folder.join("type")).as_deref().map(str::trim_end) {
            Ok("Data") => CacheKind::Data,
            Ok("Instruction") => CacheKind::Instruction,
            _ => CacheKind::Unified,
        };
        caches.push(Cache {
            level: u32::try_from(level).unwrap_or(0),
            kind,
            cpus: read_list(&folder.join("shared_cpu_list")).unwrap_or_default(),
            size_bytes: read_size(&folder.join("size")).unwrap_or(0),
            line_bytes: read_number(&folder.join("coherency_line_size"))
                .and_then(|line| u32::try_from(line).ok())
                .unwrap_or(0),
        });
    }
    caches
}

fn read_number(path: &Path) -> Option<i64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

fn read_list(path: &Path) -> Option<Vec<usize>> {
    parse_list(&fs::read_to_string(path).ok()?)
}

/// A size such as `32K` or `8M`.
fn read_size(path: &Path) -> Option<u64> {
    let text = fs::read_to_string(path).ok()?;
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

/// A list such as `0-3,8,10-11`, ascending; `None` when it is not one or names a CPU beyond 65,535.
fn parse_list(text: &str) -> Option<Vec<usize>> {
    const ID_MAX: usize = 65_535;
    let mut numbers = BTreeSet::new();
    for part in text.trim().split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        if first > last || last > ID_MAX {
            return None;
        }
        numbers.extend(first..=last);
    }
    Some(numbers.into_iter().collect())
}

#[cfg(test)]
#[path = "topology_tests.rs"]
mod tests;
