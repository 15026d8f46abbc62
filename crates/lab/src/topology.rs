//! `lab topology`: the machine as a picture in text, and where the rules would put schedulers and log writers on it.
//!
//! ```text
//!   socket 0
//!     node 0   64.0 GB   L3 32.0 MB
//!       [0|20 w] [1|21] [2|22] ...      a bracket is a core; w: log writers have it; x: not for this process; -: offline
//! ```

use crate::show::{counted, right, table};
use comfy_table::Cell;
use pikepole_embedded::SystemFiles;
use pikepole_embedded::placement::{LogWriterCount, LogWriterHome, NodeRule, PlacementPlan, PlacementRules};
use pikepole_machine::{CacheKind, CpuLimits, Topology, list_text};
use serde::Serialize;
use std::fmt::Write;

/// Brackets of a line, at most.
const CORES_A_LINE: usize = 8;

/// The machine and the rules' outcome on it, as JSON shows them.
#[derive(Debug, Clone, Serialize)]
pub struct TopologyReport {
    /// The CPUs online.
    pub cpus: Vec<CpuRow>,
    /// CPUs that are there and not online.
    pub offline: Vec<usize>,
    /// The memory nodes.
    pub nodes: Vec<NodeRow>,
    /// Caches that data goes through.
    pub caches: Vec<CacheRow>,
    /// What the process may use.
    pub limits: LimitsRow,
    /// What each rule gives, by its name.
    pub placement: Vec<RuleRow>,
    #[serde(skip)]
    topology: Topology,
    #[serde(skip)]
    usable: Vec<usize>,
}

/// One CPU.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct CpuRow {
    /// Its number.
    pub cpu: usize,
    /// Its core, its socket and its memory node.
    pub core: usize,
    /// See `core`.
    pub socket: usize,
    /// See `core`.
    pub node: usize,
    /// The process may use it.
    pub usable: bool,
}

/// One memory node.
#[derive(Debug, Clone, Serialize)]
pub struct NodeRow {
    /// Its number.
    pub node: usize,
    /// Its CPUs.
    pub cpus: Vec<usize>,
    /// Its memory, in bytes.
    pub memory_bytes: u64,
    /// Its distances to all nodes.
    pub distances: Vec<u32>,
}

/// One cache.
#[derive(Debug, Clone, Serialize)]
pub struct CacheRow {
    /// 1 is next to the core.
    pub level: u32,
    /// Its bytes.
    pub size_bytes: u64,
    /// Who shares it.
    pub cpus: Vec<usize>,
}

/// What the process may use.
#[derive(Debug, Clone, Serialize)]
pub struct LimitsRow {
    /// The affinity mask.
    pub affinity: Option<Vec<usize>>,
    /// The control group's CPUs.
    pub cpuset: Option<Vec<usize>>,
    /// The control group's CPU time, in CPUs.
    pub quota_cpus: Option<f64>,
}

/// What one rule gives.
#[derive(Debug, Clone, Serialize)]
pub struct RuleRow {
    /// The configuration that it stands for.
    pub rule: String,
    /// CPUs of each node of schedulers.
    pub nodes: Vec<Vec<usize>>,
    /// CPUs with a scheduler; empty when schedulers are not bound.
    pub scheduler_cpus: Vec<usize>,
    /// Schedulers.
    pub schedulers: usize,
    /// CPUs of the log writers of a database, null where one is not bound.
    pub log_writers: Vec<Option<usize>>,
    /// Memory nodes that a part of each buffer pool comes from; empty where memory is not bound.
    pub pool_nodes: Vec<usize>,
    /// The memory node of the logs' rings, null where it is not bound.
    pub log_node: Option<usize>,
}

impl TopologyReport {
    /// Reads the machine.
    ///
    /// # Errors
    /// When the files name no CPUs.
    pub fn read(files: &SystemFiles) -> std::io::Result<Self> {
        let (topology, limits) = (Topology::of(files)?, CpuLimits::of(files));
        let usable = limits.cpus(&topology);
        let cpu = |cpu: &pikepole_machine::Cpu| CpuRow {
            cpu: cpu.id,
            core: cpu.core,
            socket: cpu.socket,
            node: cpu.node,
            usable: usable.contains(&cpu.id),
        };
        let caches = topology.caches.iter().filter(|cache| cache.kind != CacheKind::Instruction);
        let node = |node: &pikepole_machine::MemoryNode| NodeRow {
            node: node.id,
            cpus: node.cpus.clone(),
            memory_bytes: node.memory_bytes,
            distances: node.distances.clone(),
        };
        Ok(Self {
            cpus: topology.cpus.iter().map(cpu).collect(),
            offline: topology.offline.clone(),
            nodes: topology.memory_nodes.iter().map(node).collect(),
            caches: caches
                .map(|cache| CacheRow { level: cache.level, size_bytes: cache.size_bytes, cpus: cache.cpus.clone() })
                .collect(),
            placement: placements(&topology, &limits),
            limits: LimitsRow { affinity: limits.affinity, cpuset: limits.cpuset, quota_cpus: limits.quota_cpus },
            topology,
            usable,
        })
    }

    /// The picture and the tables.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let topology = &self.topology;
        // Writing to a string cannot fail; so everywhere below.
        let _ = writeln!(
            out,
            "{}, {}, {}, {}",
            counted(topology.sockets().len(), "socket"),
            counted(self.nodes.len(), "memory node"),
            counted(topology.cores().len(), "core"),
            counted(topology.cpus.len(), "CPU")
        );
        let _ = writeln!(out, "this process may use {}\n", self.usable_text());
        let isolated = PlacementRules { home: LogWriterHome::Isolated, ..PlacementRules::default() };
        let writers = PlacementPlan::on(topology, self.usable.clone(), None, &isolated).kept_apart;
        for socket in topology.sockets() {
            let _ = writeln!(out, "socket {socket}");
            for node in topology.memory_nodes.iter().filter(|node| self.socket_of(node.id) == Some(socket)) {
                self.draw_node(node.id, &writers, &mut out);
            }
        }
        for node in topology.memory_nodes.iter().filter(|node| node.cpus.is_empty()) {
            let _ = writeln!(out, "node {}   {} without CPUs", node.id, bytes_text(node.memory_bytes));
        }
        if !self.offline.is_empty() {
            let _ = writeln!(out, "offline: CPU {}", list_text(&self.offline));
        }
        let _ = writeln!(
            out,
            "\n[..] a core and its CPUs; w: the log writers' with LOG_WRITER_CPUS = ISOLATED; x: not for this process\n"
        );
        self.distances(&mut out);
        let _ = writeln!(out, "{}", self.rules());
        out
    }

    fn usable_text(&self) -> String {
        let mut text = match self.usable.len() == self.cpus.len() {
            true => "all of them".to_owned(),
            false => format!("CPU {}", list_text(&self.usable)),
        };
        if let Some(quota) = self.limits.quota_cpus {
            let _ = write!(text, ", and the time of {quota} CPUs: schedulers are not bound to CPUs then");
        }
        text
    }

    fn socket_of(&self, node: usize) -> Option<usize> {
        self.topology.cpus.iter().find(|cpu| cpu.node == node).map(|cpu| cpu.socket)
    }

    fn draw_node(&self, node: usize, writers: &[usize], out: &mut String) {
        let topology = &self.topology;
        let memory = topology.memory_nodes.iter().find(|each| each.id == node).map_or(0, |node| node.memory_bytes);
        let cpus = topology.cpus_of_node(node);
        let last_level = topology.caches.iter().map(|cache| cache.level).max().unwrap_or(0);
        let shared = topology.caches.iter().filter(|cache| cache.level == last_level && last_level > 1);
        let near: Vec<u64> = shared
            .filter(|cache| cache.cpus.iter().any(|cpu| cpus.contains(cpu)))
            .map(|cache| cache.size_bytes)
            .collect();
        let cache = match near[..] {
            [] => String::new(),
            [one] => format!("   L{last_level} {}", bytes_text(one)),
            [one, ..] => format!("   {} x L{last_level} {}", near.len(), bytes_text(one)),
        };
        let _ = writeln!(out, "  node {node}   {}{cache}", bytes_text(memory));
        let mut cores: Vec<usize> = topology.cpus.iter().filter(|cpu| cpu.node == node).map(|cpu| cpu.core).collect();
        cores.sort_unstable();
        cores.dedup();
        let cell = |core: &usize| {
            let own: Vec<usize> = topology.cpus.iter().filter(|cpu| cpu.core == *core).map(|cpu| cpu.id).collect();
            let mark = match () {
                () if own.iter().any(|cpu| !self.usable.contains(cpu)) => " x",
                () if own.iter().any(|cpu| writers.contains(cpu)) => " w",
                () => "",
            };
            let numbers: Vec<String> = own.iter().map(usize::to_string).collect();
            format!("[{}{mark}]", numbers.join("|"))
        };
        let cells: Vec<String> = cores.iter().map(cell).collect();
        let width = cells.iter().map(String::len).max().unwrap_or(0);
        for line in cells.chunks(CORES_A_LINE) {
            let line: Vec<String> = line.iter().map(|cell| format!("{cell:<width$}")).collect();
            let _ = writeln!(out, "    {}", line.join(" ").trim_end());
        }
    }

    fn distances(&self, out: &mut String) {
        if self.nodes.len() < 2 || self.nodes.iter().any(|node| node.distances.is_empty()) {
            return;
        }
        let mut grid = table();
        let head = self.nodes.iter().map(|node| right(format!("to {}", node.node)));
        grid.set_header(std::iter::once(Cell::new("distance from node")).chain(head));
        for node in &self.nodes {
            grid.add_row(std::iter::once(right(node.node)).chain(node.distances.iter().map(right)));
        }
        let _ = writeln!(out, "{grid}\n");
    }

    fn rules(&self) -> comfy_table::Table {
        let mut rules = table();
        rules.set_header(
            ["configuration", "nodes", "schedulers", "log writers", "on CPU", "pools of nodes", "logs"].map(Cell::new),
        );
        for row in &self.placement {
            let cpus: Vec<String> =
                row.log_writers.iter().map(|cpu| cpu.map_or("any".to_owned(), |cpu| cpu.to_string())).collect();
            let schedulers = match row.scheduler_cpus.is_empty() {
                true => format!("{}, not bound", row.schedulers),
                false => format!("{} on {}", row.schedulers, list_text(&row.scheduler_cpus)),
            };
            rules.add_row([
                Cell::new(&row.rule),
                right(row.nodes.len()),
                Cell::new(schedulers),
                right(row.log_writers.len()),
                Cell::new(cpus.join(" ")),
                Cell::new(if row.pool_nodes.is_empty() { "any".to_owned() } else { list_text(&row.pool_nodes) }),
                Cell::new(row.log_node.map_or("any".to_owned(), |node| node.to_string())),
            ]);
        }
        rules
    }
}

fn placements(topology: &Topology, limits: &CpuLimits) -> Vec<RuleRow> {
    use LogWriterCount::{Auto, Count, PerNode, TwiceNodes};
    use LogWriterHome::{FirstCores, Isolated, Shared};
    let wanted = [
        ("default", NodeRule::Hardware, Auto, Shared),
        ("trace flag 9038, FIRST CORES", NodeRule::Hardware, Count(1), FirstCores),
        ("LOG_WRITERS = PER NODE, FIRST CORES", NodeRule::Hardware, PerNode, FirstCores),
        ("LOG_WRITERS = TWICE THE NODES, FIRST CORES", NodeRule::Hardware, TwiceNodes, FirstCores),
        ("LOG_WRITERS = PER NODE, ISOLATED", NodeRule::Hardware, PerNode, Isolated),
        ("trace flag 8015, LOG_WRITERS = PER NODE, FIRST CORES", NodeRule::Ignored, PerNode, FirstCores),
        ("SOFTNUMA ON, LOG_WRITERS = PER NODE, FIRST CORES", NodeRule::Soft, PerNode, FirstCores),
    ];
    let row = |(rule, nodes, log_writers, home): (&str, _, _, _)| {
        let rules = PlacementRules { nodes, log_writers, home, affinity: None };
        let plan = PlacementPlan::new(topology, limits, &rules);
        RuleRow {
            rule: rule.to_owned(),
            nodes: plan.nodes.iter().map(|node| node.cpus.clone()).collect(),
            scheduler_cpus: plan.schedulers.iter().filter_map(|scheduler| scheduler.cpu).collect(),
            schedulers: plan.schedulers.len(),
            pool_nodes: plan.memory_nodes(),
            log_node: plan.log_memory_node(topology),
            log_writers: plan.log_writers,
        }
    };
    wanted.into_iter().map(row).collect()
}

fn bytes_text(bytes: u64) -> String {
    match bytes {
        0 => "?".to_owned(),
        1..0x10_0000 => format!("{} KB", bytes >> 10),
        0x10_0000..0x4000_0000 => format!("{:.1} MB", bytes as f64 / f64::from(1 << 20)),
        _ => format!("{:.1} GB", bytes as f64 / f64::from(1 << 30)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pikepole_machine::Shape;

    fn text(shape: &Shape) -> String {
        TopologyReport::read(&SystemFiles::of_shape(shape)).expect("a machine").text()
    }

    #[test]
    fn two_sockets_are_drawn_with_their_cores_and_distances() {
        let text = text(&Shape::new(2, 1, 10, 2));
        for line in [
            "2 sockets, 2 memory nodes, 20 cores, 40 CPUs",
            "  node 1   64.0 GB   L3 32.0 MB",
            "    [0|20 w] [1|21]   [2|22]   [3|23]   [4|24]   [5|25]   [6|26]   [7|27]",
            "|                  1 |   21 |   10 |",
        ] {
            assert!(text.lines().any(|each| each == line), "{line}\n{text}");
        }
        assert!(text.contains("38 on 1-19,21-39"), "{text}");
        let default = text.lines().find(|line| line.contains("default")).expect("a rule");
        assert!(default.ends_with("| any any any any | 0-1            | 0    |"), "{default}");
        assert!(text.lines().all(|line| line.len() <= 140), "{text}");
    }

    #[test]
    fn what_the_process_may_not_use_is_marked() {
        let shape = Shape { offline: vec![7], affinity: Some(vec![0, 2]), ..Shape::new(1, 1, 8, 1) };
        let text = text(&shape);
        assert!(text.contains("[0 w] [1 x] [2]   [3 x]"), "{text}");
        assert!(text.contains("this process may use CPU 0,2"), "{text}");
        assert!(text.contains("offline: CPU 7"), "{text}");
        let quota = Shape { quota_cpus: Some(3.0), ..Shape::new(1, 1, 8, 1) };
        let text = super::tests::text(&quota);
        assert!(text.contains("the time of 3 CPUs") && text.contains("3, not bound"), "{text}");
    }
}
