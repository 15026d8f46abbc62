//! Where schedulers and log writers run: the rules, as pure functions of the machine.
//!
//! | what | rule |
//! |---|---|
//! | schedulers | one for each CPU that the process may use; those out of the process affinity are offline. With a quota of CPU time below that, as many as the quota, rounded up, and none bound to a CPU: neighbours may have the same CPUs |
//! | nodes | the hardware's; trace flag 8015: one; soft nodes: a node of more than 8 cores becomes equal parts of at most 8 |
//! | log writers, count | a number; one a node, at most 4; two a node, at most the CPUs of the first node and 8; AUTO: as two a node, and no more than the CPUs that the quota of CPU time keeps busy |
//! | memory | with two memory nodes or more a part of each buffer pool comes from each; the ring of a log from the node of the first log writer's CPU, or the first one |
//! | log writers, home | `SHARED`: not bound. `FIRST CORES`: the first CPU of each core of the first node, in turn. `ISOLATED`: the first core of the first node, which has no scheduler then, when there is another core. A list: its CPUs in turn |
//!
//! The first node is the one of the lowest number that has CPUs to use.

use std::collections::BTreeSet;

use pikepole_machine::{CpuLimits, Topology};

/// Log writers of the rule "one a node", at most.
const PER_NODE_MAX: usize = 4;
/// Log writers of the rule "two a node", at most.
const TWICE_NODES_MAX: usize = 8;
/// Cores of a soft node, at most.
const SOFT_NODE_CORES_MAX: usize = 8;

/// What makes a node of schedulers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum NodeRule {
    /// The hardware's memory nodes.
    #[default]
    Hardware,
    /// One node, whatever the hardware says: trace flag 8015.
    Ignored,
    /// The hardware's, and large ones split.
    Soft,
}

/// How many log writers there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LogWriterCount {
    /// As `TwiceNodes`, and at most as many as CPUs can be kept busy at once.
    #[default]
    Auto,
    /// So many.
    Count(usize),
    /// One a node, at most 4.
    PerNode,
    /// Two a node, at most the CPUs of the first node and 8.
    TwiceNodes,
}

/// Where log writers run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum LogWriterHome {
    /// On the schedulers' CPUs, wherever the kernel puts them.
    #[default]
    Shared,
    /// On the first core of the first node, without schedulers.
    Isolated,
    /// On the first CPU of each core of the first node, beside the schedulers.
    FirstCores,
    /// On these CPUs, in turn.
    Cpus(Vec<usize>),
}

/// What a server is asked to do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlacementRules {
    /// What makes a node.
    pub nodes: NodeRule,
    /// How many log writers.
    pub log_writers: LogWriterCount,
    /// Where they run.
    pub home: LogWriterHome,
    /// The process affinity; `None`: all CPUs.
    pub affinity: Option<Vec<usize>>,
}

/// A node of schedulers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedNode {
    /// From 0.
    pub id: usize,
    /// The hardware's node whose memory is near, or the first of them.
    pub memory_node: usize,
    /// Its CPUs that the process may use, ascending.
    pub cpus: Vec<usize>,
}

/// A scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedScheduler {
    /// Its CPU; `None`: not bound to one.
    pub cpu: Option<usize>,
    /// Its node.
    pub node: usize,
    /// It takes work.
    pub online: bool,
}

/// Where everything runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlacementPlan {
    /// The nodes, by number.
    pub nodes: Vec<PlannedNode>,
    /// The schedulers, by number.
    pub schedulers: Vec<PlannedScheduler>,
    /// The log writers of a database and their CPUs; `None`: not bound to one.
    pub log_writers: Vec<Option<usize>>,
    /// CPUs that have no scheduler because the log writers have them for their own.
    pub kept_apart: Vec<usize>,
    /// CPUs that can be kept busy at once; `None`: all of them.
    pub busy_max: Option<usize>,
}

impl PlacementPlan {
    /// What the rules give on this machine.
    pub fn new(topology: &Topology, limits: &CpuLimits, rules: &PlacementRules) -> Self {
        Self::on(topology, limits.cpus(topology), limits.busy_cpus_max(), rules)
    }

    /// What they give for these CPUs, of which `busy_max` can be kept busy at once.
    pub fn on(topology: &Topology, usable: Vec<usize>, busy_max: Option<usize>, rules: &PlacementRules) -> Self {
        let nodes = nodes(topology, &usable, rules.nodes);
        let is_bound = busy_max.is_none_or(|most| most >= usable.len());
        let log_writer_count = log_writer_count(rules.log_writers, &nodes, busy_max);
        let home = writer_cpus(topology, &nodes, is_bound, &rules.home);
        let kept_apart = if rules.home == LogWriterHome::Isolated { home.clone() } else { Vec::new() };
        let log_writers = (0..log_writer_count).map(|writer| home.get(writer % home.len().max(1)).copied()).collect();
        let schedulers = if is_bound {
            let node_of = |cpu| nodes.iter().find(|node| node.cpus.contains(&cpu)).map_or(0, |node| node.id);
            let is_online = |cpu| rules.affinity.as_ref().is_none_or(|mask| mask.contains(&cpu));
            let cpus = usable.into_iter().filter(|cpu| !kept_apart.contains(cpu));
            cpus.map(|cpu| PlannedScheduler { cpu: Some(cpu), node: node_of(cpu), online: is_online(cpu) }).collect()
        } else {
            let count = busy_max.unwrap_or(1).min(usable.len());
            vec![PlannedScheduler { cpu: None, node: 0, online: true }; count]
        };
        Self { nodes, schedulers, log_writers, kept_apart, busy_max }
    }

    /// How many log writers a rule gives with the nodes of this plan.
    pub fn log_writer_count(&self, rule: LogWriterCount) -> usize {
        log_writer_count(rule, &self.nodes, self.busy_max)
    }

    /// The CPUs that log writers have in turn by a rule, with the nodes of this plan; none: they are not bound.
    pub fn log_writer_cpus(&self, topology: &Topology, home: &LogWriterHome) -> Vec<usize> {
        writer_cpus(topology, &self.nodes, self.is_bound(), home)
    }

    /// Whether schedulers are bound to CPUs.
    pub fn is_bound(&self) -> bool {
        self.schedulers.iter().any(|scheduler| scheduler.cpu.is_some())
    }

    /// The memory nodes that its schedulers are near to, ascending; empty when that is one, or nobody can say.
    pub fn memory_nodes(&self) -> Vec<usize> {
        let nodes: BTreeSet<usize> = self.nodes.iter().map(|node| node.memory_node).collect();
        if self.is_bound() && nodes.len() > 1 { nodes.into_iter().collect() } else { Vec::new() }
    }

    /// The memory node of each scheduler, by number; empty as [`memory_nodes`](Self::memory_nodes).
    pub fn near_schedulers(&self) -> Vec<usize> {
        if self.memory_nodes().is_empty() {
            return Vec::new();
        }
        self.schedulers.iter().map(|scheduler| self.nodes[scheduler.node].memory_node).collect()
    }

    /// The memory node of the rings of logs: where the first log writer is bound to, else the first node; none as
    /// [`memory_nodes`](Self::memory_nodes).
    pub fn log_memory_node(&self, topology: &Topology) -> Option<usize> {
        let first = *self.memory_nodes().first()?;
        let writer = self.log_writers.first().copied().flatten();
        Some(writer.map_or(first, |cpu| node_of(topology, cpu)))
    }

    /// The node of a CPU; the first one for a CPU that is in none.
    pub fn node_of(&self, cpu: usize) -> usize {
        self.nodes.iter().find(|node| node.cpus.contains(&cpu)).map_or(0, |node| node.id)
    }
}

/// The nodes with CPUs to use, numbered from 0.
fn nodes(topology: &Topology, usable: &[usize], rule: NodeRule) -> Vec<PlannedNode> {
    let hardware = topology.nodes();
    let mut parts: Vec<(usize, Vec<usize>)> = match rule {
        NodeRule::Ignored => vec![(hardware.first().copied().unwrap_or(0), usable.to_vec())],
        NodeRule::Hardware | NodeRule::Soft => {
            let own = |node| usable.iter().copied().filter(|cpu| node_of(topology, *cpu) == node).collect();
            hardware.iter().map(|node| (*node, own(*node))).collect()
        }
    };
    parts.retain(|(_, cpus)| !cpus.is_empty());
    if parts.is_empty() {
        parts.push((0, usable.to_vec()));
    }
    if rule == NodeRule::Soft {
        parts = parts.into_iter().flat_map(|(node, cpus)| split(topology, node, &cpus)).collect();
    }
    let numbered = parts.into_iter().enumerate();
    numbered.map(|(id, (memory_node, cpus))| PlannedNode { id, memory_node, cpus }).collect()
}

/// The soft nodes of a node: as few as have at most 8 cores each, as equal as can be, each of neighbouring cores.
fn split(topology: &Topology, node: usize, cpus: &[usize]) -> Vec<(usize, Vec<usize>)> {
    let cores: Vec<usize> =
        cpus.iter().map(|cpu| core_of(topology, *cpu)).collect::<BTreeSet<_>>().into_iter().collect();
    let parts = cores.len().div_ceil(SOFT_NODE_CORES_MAX).max(1);
    let part_of =
        |cpu: usize| cores.iter().position(|core| *core == core_of(topology, cpu)).unwrap_or(0) * parts / cores.len();
    (0..parts).map(|part| (node, cpus.iter().copied().filter(|cpu| part_of(*cpu) == part).collect())).collect()
}

fn log_writer_count(rule: LogWriterCount, nodes: &[PlannedNode], busy_max: Option<usize>) -> usize {
    let first_node_cpus = nodes.first().map_or(1, |node| node.cpus.len());
    let twice_nodes = (2 * nodes.len()).min(first_node_cpus).clamp(1, TWICE_NODES_MAX);
    match rule {
        LogWriterCount::Count(count) => count.max(1),
        LogWriterCount::PerNode => nodes.len().clamp(1, PER_NODE_MAX),
        LogWriterCount::TwiceNodes => twice_nodes,
        // Writers beyond the quota would take their time from the sessions.
        LogWriterCount::Auto => twice_nodes.min(busy_max.unwrap_or(usize::MAX)).max(1),
    }
}

/// The CPUs that log writers have in turn; none: they are not bound.
fn writer_cpus(topology: &Topology, nodes: &[PlannedNode], is_bound: bool, home: &LogWriterHome) -> Vec<usize> {
    let first_node = nodes.first().map_or(&[][..], |node| &node.cpus);
    match home {
        LogWriterHome::Cpus(cpus) => cpus.clone(),
        LogWriterHome::Isolated if is_bound => {
            first_core(topology, first_node, nodes.iter().map(|node| node.cpus.len()).sum())
        }
        LogWriterHome::FirstCores if is_bound => first_cpus_of_cores(topology, first_node),
        LogWriterHome::Shared | LogWriterHome::Isolated | LogWriterHome::FirstCores => Vec::new(),
    }
}

/// The usable CPUs of the first core of the first node; none when schedulers would have no CPU left.
fn first_core(topology: &Topology, first_node: &[usize], usable: usize) -> Vec<usize> {
    let Some(first) = first_node.first() else { return Vec::new() };
    let core = core_of(topology, *first);
    let cpus: Vec<usize> = first_node.iter().copied().filter(|cpu| core_of(topology, *cpu) == core).collect();
    if cpus.len() < usable { cpus } else { Vec::new() }
}

/// The lowest CPU of each core.
fn first_cpus_of_cores(topology: &Topology, cpus: &[usize]) -> Vec<usize> {
    let mut seen = BTreeSet::new();
    cpus.iter().copied().filter(|cpu| seen.insert(core_of(topology, *cpu))).collect()
}

/// A CPU that the topology does not know is a core of its own, beyond all others.
fn core_of(topology: &Topology, cpu: usize) -> usize {
    topology.cpu(cpu).map_or(topology.cpus.len() + cpu, |cpu| cpu.core)
}

fn node_of(topology: &Topology, cpu: usize) -> usize {
    topology.cpu(cpu).map_or_else(|| topology.nodes().first().copied().unwrap_or(0), |cpu| cpu.node)
}

#[cfg(test)]
#[path = "placement_tests.rs"]
mod tests;
