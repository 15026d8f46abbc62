//! The kernel's files that say what a machine is: below a folder, or in a listing that a test or a question carries.
//!
//! ```text
//!   SystemFiles::below("/")         this machine
//!   SystemFiles::listing(text)      a machine taken down as text: `path<blank>content`, one line a file
//!   SystemFiles::of_shape(&shape)   a machine that is only described: sockets, nodes, cores, threads
//! ```

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// See the module.
#[derive(Clone, Debug)]
pub struct SystemFiles(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Folder(PathBuf),
    Listing(BTreeMap<String, String>),
}

/// A machine that is only described. CPUs are numbered as the kernel does on most machines: the first hyper-thread of
/// every core, node by node, then the second ones.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// Sockets.
    pub sockets: usize,
    /// Memory nodes of a socket; more than one with sub-NUMA clusters.
    pub nodes_per_socket: usize,
    /// Cores of a node.
    pub cores_per_node: usize,
    /// Hyper-threads of a core.
    pub threads: usize,
    /// Memory of a node, in bytes.
    pub node_memory_bytes: u64,
    /// CPUs that are offline.
    pub offline: Vec<usize>,
    /// The affinity mask of the process; `None`: all CPUs.
    pub affinity: Option<Vec<usize>>,
    /// The CPUs' worth of time that the control group grants; `None`: no limit.
    pub quota_cpus: Option<f64>,
}

impl Shape {
    /// A machine with all CPUs online and none withheld, and 64 GB a node.
    pub fn new(sockets: usize, nodes_per_socket: usize, cores_per_node: usize, threads: usize) -> Self {
        Self {
            sockets,
            nodes_per_socket,
            cores_per_node,
            threads,
            node_memory_bytes: 64 << 30,
            offline: Vec::new(),
            affinity: None,
            quota_cpus: None,
        }
    }

    /// A shape written `SOCKETSxCORESxTHREADS` or `SOCKETSxNODESxCORESxTHREADS`, where nodes are those of a socket and
    /// cores those of a node; `None` when it is not one, or has no CPU or more than 4,096.
    pub fn parse(text: &str) -> Option<Self> {
        let numbers: Vec<usize> =
            text.split(['x', 'X']).map(|number| number.trim().parse().ok()).collect::<Option<_>>()?;
        let (sockets, nodes, cores, threads) = match numbers[..] {
            [sockets, cores, threads] => (sockets, 1, cores, threads),
            [sockets, nodes, cores, threads] => (sockets, nodes, cores, threads),
            _ => return None,
        };
        let cpus = numbers.iter().try_fold(1usize, |product, number| product.checked_mul(*number))?;
        (1..=4_096).contains(&cpus).then(|| Self::new(sockets, nodes, cores, threads))
    }

    fn nodes(&self) -> usize {
        self.sockets * self.nodes_per_socket
    }

    fn cores(&self) -> usize {
        self.nodes() * self.cores_per_node
    }

    fn is_online(&self, cpu: usize) -> bool {
        !self.offline.contains(&cpu)
    }

    /// The CPUs online among all hyper-threads of these cores.
    fn cpus_of(&self, cores: std::ops::Range<usize>) -> Vec<usize> {
        let threads = (0..self.threads).flat_map(|thread| cores.clone().map(move |core| (thread, core)));
        threads.map(|(thread, core)| thread * self.cores() + core).filter(|cpu| self.is_online(*cpu)).collect()
    }

    /// The kernel's distance of two nodes: 10 to itself, 12 within the socket, 21 to another socket.
    fn distance(&self, from: usize, to: usize) -> u32 {
        match (from == to, from / self.nodes_per_socket == to / self.nodes_per_socket) {
            (true, _) => 10,
            (false, true) => 12,
            (false, false) => 21,
        }
    }
}

impl SystemFiles {
    /// The files below a folder: `/` for this machine.
    pub fn below(root: impl Into<PathBuf>) -> Self {
        Self(Kind::Folder(root.into()))
    }

    /// Files in a text, a line each: the path, a blank, the content in one line. Lines that begin with `#` say nothing.
    pub fn listing(text: &str) -> Self {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let files = lines.filter_map(|line| line.split_once(' '));
        Self(Kind::Listing(files.map(|(path, content)| (path.to_owned(), content.to_owned())).collect()))
    }

    /// The files that a machine of this shape would have.
    pub fn of_shape(shape: &Shape) -> Self {
        let mut files = BTreeMap::new();
        let mut put = |path: String, content: String| files.insert(path, content);
        let cpus = shape.cores() * shape.threads;
        let online: Vec<usize> = (0..cpus).filter(|cpu| shape.is_online(*cpu)).collect();
        let system = "sys/devices/system";
        put(format!("{system}/cpu/online"), list_text(&online));
        put(format!("{system}/cpu/present"), list_text(&(0..cpus).collect::<Vec<_>>()));
        for cpu in &online {
            let core = cpu % shape.cores();
            let node = core / shape.cores_per_node;
            let folder = format!("{system}/cpu/cpu{cpu}");
            put(format!("{folder}/topology/physical_package_id"), (node / shape.nodes_per_socket).to_string());
            put(format!("{folder}/topology/core_id"), (core % (shape.cores() / shape.sockets)).to_string());
            let siblings = shape.cpus_of(core..core + 1);
            put(format!("{folder}/topology/core_cpus_list"), list_text(&siblings));
            let first = node * shape.cores_per_node;
            let neighbours = shape.cpus_of(first..first + shape.cores_per_node);
            let caches = [
                ("1", "Data", "48K", &siblings),
                ("1", "Instruction", "32K", &siblings),
                ("2", "Unified", "2048K", &siblings),
                ("3", "Unified", "32768K", &neighbours),
            ];
            for (index, (level, kind, size, sharers)) in caches.into_iter().enumerate() {
                let folder = format!("{folder}/cache/index{index}");
                put(format!("{folder}/level"), level.to_owned());
                put(format!("{folder}/type"), kind.to_owned());
                put(format!("{folder}/size"), size.to_owned());
                put(format!("{folder}/coherency_line_size"), "64".to_owned());
                put(format!("{folder}/shared_cpu_list"), list_text(sharers));
            }
        }
        let nodes: Vec<usize> = (0..shape.nodes()).collect();
        put(format!("{system}/node/online"), list_text(&nodes));
        for node in &nodes {
            let first = node * shape.cores_per_node;
            let folder = format!("{system}/node/node{node}");
            put(format!("{folder}/cpulist"), list_text(&shape.cpus_of(first..first + shape.cores_per_node)));
            let distances: Vec<String> = nodes.iter().map(|to| shape.distance(*node, *to).to_string()).collect();
            put(format!("{folder}/distance"), distances.join(" "));
            let kilobytes = shape.node_memory_bytes >> 10;
            put(format!("{folder}/meminfo"), format!("Node {node} MemTotal: {kilobytes} kB"));
        }
        let affinity = shape.affinity.as_ref().unwrap_or(&online);
        put("proc/self/status".to_owned(), format!("Cpus_allowed_list:\t{}", list_text(affinity)));
        if let Some(quota) = shape.quota_cpus {
            put("proc/self/cgroup".to_owned(), "0::/".to_owned());
            put("sys/fs/cgroup/cpu.max".to_owned(), format!("{} 100000", (quota * 100_000.0) as u64));
        }
        Self(Kind::Listing(files))
    }

    /// The content of a file, by its path below the root; `None` when it is not there or is no text.
    pub fn read(&self, path: &str) -> Option<String> {
        match &self.0 {
            Kind::Folder(root) => fs::read_to_string(root.join(path)).ok(),
            Kind::Listing(files) => files.get(path).cloned(),
        }
    }

    /// The root folder, when these are files of a folder.
    pub fn root(&self) -> Option<&Path> {
        match &self.0 {
            Kind::Folder(root) => Some(root),
            Kind::Listing(_) => None,
        }
    }

    pub(crate) fn number(&self, path: &str) -> Option<i64> {
        self.read(path)?.trim().parse().ok()
    }

    pub(crate) fn list(&self, path: &str) -> Option<Vec<usize>> {
        parse_list(&self.read(path)?)
    }
}

/// A list such as `0-3,8,10-11`, ascending; `None` when it is not one or names a number beyond 65,535.
pub fn parse_list(text: &str) -> Option<Vec<usize>> {
    const ID_MAX: usize = 65_535;
    let mut numbers = std::collections::BTreeSet::new();
    for part in text.trim().split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        if first > last || last > ID_MAX {
            return None;
        }
        numbers.extend(first..=last);
    }
    Some(numbers.into_iter().collect())
}

/// Ascending numbers as the kernel lists them: `0-3,8,10-11`.
pub fn list_text(numbers: &[usize]) -> String {
    let mut parts: Vec<(usize, usize)> = Vec::new();
    for number in numbers {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == *number => *last = *number,
            _ => parts.push((*number, *number)),
        }
    }
    let text = |(first, last): &(usize, usize)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    parts.iter().map(text).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_read_as_they_are_written() {
        for text in ["", "0", "0-3", "0-3,8,10-11", "5,7,9"] {
            assert_eq!(list_text(&parse_list(text).expect("a list")), text);
        }
        assert_eq!(parse_list("0-2,7\n"), Some(vec![0, 1, 2, 7]));
        for text in ["x", "3-1", "1-", "0-99999999999", "-1"] {
            assert_eq!(parse_list(text), None, "{text}");
        }
    }

    #[test]
    fn shapes_are_read_and_bounded() {
        assert_eq!(Shape::parse("2x10x2"), Some(Shape::new(2, 1, 10, 2)));
        assert_eq!(Shape::parse("2x4x6x2"), Some(Shape::new(2, 4, 6, 2)));
        for text in ["", "2", "2x10", "2x0x2", "axbxc", "1x2x3x4x5", "100x100x100", "99999999999x99999999999x2"] {
            assert_eq!(Shape::parse(text), None, "{text}");
        }
    }
}
