//! Machines as fixtures: folders that look like the kernel's.

use super::*;
use crate::tests::TestFolder;

/// One CPU of a fixture: its number, socket, core number as the kernel gives it, and the CPUs on that core.
type FixtureCpu = (usize, usize, usize, &'static str);

fn put(folder: &Path, file: &str, content: &str) {
    let path = folder.join(file);
    fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
    fs::write(path, format!("{content}\n")).expect("a file");
}

fn put_cpus(root: &Path, online: &str, cpus: &[FixtureCpu]) {
    let system = root.join("sys/devices/system");
    put(&system, "cpu/online", online);
    for (id, socket, core, siblings) in cpus {
        put(&system, &format!("cpu/cpu{id}/topology/physical_package_id"), &socket.to_string());
        put(&system, &format!("cpu/cpu{id}/topology/core_id"), &core.to_string());
        put(&system, &format!("cpu/cpu{id}/topology/thread_siblings_list"), siblings);
    }
}

fn put_cache(root: &Path, cpu: usize, index: usize, cache: [&str; 5]) {
    let folder = root.join(format!("sys/devices/system/cpu/cpu{cpu}/cache/index{index}"));
    let files = ["level", "type", "size", "coherency_line_size", "shared_cpu_list"];
    for (file, content) in files.iter().zip(cache) {
        put(&folder, file, content);
    }
}

#[test]
fn one_socket_with_hyper_threads() {
    let root = TestFolder::new("topology");
    let cpus = [(0, 0, 0, "0,2"), (1, 0, 1, "1,3"), (2, 0, 0, "0,2"), (3, 0, 1, "1,3")];
    put_cpus(root.path(), "0-3", &cpus);
    for (cpu, siblings) in [(0, "0,2"), (1, "1,3"), (2, "0,2"), (3, "1,3")] {
        put_cache(root.path(), cpu, 0, ["1", "Data", "48K", "64", siblings]);
        put_cache(root.path(), cpu, 1, ["1", "Instruction", "32K", "64", siblings]);
        put_cache(root.path(), cpu, 2, ["3", "Unified", "36M", "64", "0-3"]);
    }
    let machine = Topology::read(root.path()).expect("a machine");
    assert_eq!(machine.cpus.len(), 4);
    assert_eq!(machine.cores(), [0, 1]);
    assert_eq!((machine.sockets(), machine.nodes()), (vec![0], vec![0]));
    assert_eq!(machine.siblings(0), [2]);
    assert_eq!(machine.siblings(3), [1]);
    assert_eq!(machine.siblings(9), Vec::<usize>::new());
    assert_eq!(machine.caches.len(), 5);
    let last = machine.caches.last().expect("caches");
    assert_eq!((last.level, last.kind, last.size_bytes), (3, CacheKind::Unified, 36 << 20));
    assert_eq!((last.cpus.as_slice(), last.line_bytes), ([0, 1, 2, 3].as_slice(), 64));
    assert_eq!(machine.caches[0].size_bytes, 48 << 10);
}

#[test]
fn two_nodes_whose_cores_have_the_same_numbers() {
    let root = TestFolder::new("topology");
    // CPU 2 is offline; both sockets number their cores from 0.
    let cpus = [(0, 0, 0, "0"), (1, 0, 1, "1"), (3, 3, 0, "3"), (4, 3, 1, "4")];
    put_cpus(root.path(), "0-1,3-4", &cpus);
    let nodes = root.path().join("sys/devices/system/node");
    put(&nodes, "online", "0,2");
    put(&nodes, "node0/cpulist", "0-1");
    put(&nodes, "node2/cpulist", "3-4");
    let machine = Topology::read(root.path()).expect("a machine");
    let expected = [(0, 0, 0, 0), (1, 1, 0, 0), (3, 2, 1, 2), (4, 3, 1, 2)];
    let cpus = expected.map(|(id, core, socket, node)| Cpu { id, core, socket, node });
    assert_eq!(machine.cpus, cpus);
    assert_eq!(machine.nodes(), [0, 2]);
    assert_eq!(machine.cpus_of_node(2), [3, 4]);
    assert_eq!(machine.cpu(2), None);
    assert_eq!(machine.siblings(4), Vec::<usize>::new());
}

#[test]
fn a_machine_that_tells_only_its_cpus() {
    let root = TestFolder::new("topology");
    put(root.path(), "sys/devices/system/cpu/online", "0-2");
    let machine = Topology::read(root.path()).expect("a machine");
    assert_eq!(machine.cores(), [0, 1, 2]);
    assert_eq!((machine.sockets(), machine.nodes()), (vec![0], vec![0]));
    assert!(machine.caches.is_empty());
}

#[test]
fn lists_that_are_none() {
    assert_eq!(parse_list("0-2,7\n"), Some(vec![0, 1, 2, 7]));
    assert_eq!(parse_list("\n"), Some(Vec::new()));
    for text in ["x", "3-1", "1-", "0-99999999999", "-1"] {
        assert_eq!(parse_list(text), None, "{text}");
    }
    let root = TestFolder::new("topology");
    assert!(Topology::read(root.path()).is_err());
    put(root.path(), "sys/devices/system/cpu/online", "");
    assert!(Topology::read(root.path()).is_err());
}

#[test]
fn this_machine_has_the_cpus_we_may_use() {
    let machine = Topology::read("/").expect("a machine");
    for cpu in crate::affinity::allowed().expect("a mask") {
        assert!(machine.cpu(cpu).is_some());
    }
}
