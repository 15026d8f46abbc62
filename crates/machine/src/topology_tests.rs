//! Machines as fixtures: folders that look like the kernel's.

use super::*;
use crate::tests::TestFolder;
use crate::{CpuLimits, Shape};
use std::fs;

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
fn a_list_of_cpus_that_is_none() {
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

fn shaped(shape: &Shape) -> Topology {
    Topology::of(&SystemFiles::of_shape(shape)).expect("a machine")
}

#[test]
fn a_small_virtual_machine_taken_down_as_text() {
    let files = SystemFiles::listing(include_str!("../fixtures/two_cpus.txt"));
    let machine = Topology::of(&files).expect("a machine");
    let cpu = |id| Cpu { id, core: id, socket: 0, node: 0 };
    assert_eq!(machine.cpus, [cpu(0), cpu(1)]);
    assert!(machine.offline.is_empty());
    let [node] = &machine.memory_nodes[..] else { panic!("{machine:?}") };
    assert_eq!((node.id, node.cpus.as_slice(), node.distances.as_slice()), (0, [0, 1].as_slice(), [10].as_slice()));
    assert_eq!(node.memory_bytes >> 30, 23);
    let last = machine.caches.last().expect("caches");
    assert_eq!((last.level, last.cpus.as_slice()), (3, [0, 1].as_slice()));
    let limits = CpuLimits::of(&files);
    assert_eq!((limits.cpus(&machine), limits.quota_cpus), (vec![0, 1], None));
}

#[test]
fn two_sockets_of_ten_cores_with_hyper_threads() {
    let machine = shaped(&Shape::new(2, 1, 10, 2));
    assert_eq!((machine.cpus.len(), machine.cores().len()), (40, 20));
    assert_eq!((machine.sockets(), machine.nodes()), (vec![0, 1], vec![0, 1]));
    assert_eq!(machine.siblings(0), [20]);
    assert_eq!(machine.siblings(39), [19]);
    assert_eq!(machine.cpus_of_node(1), (10..20).chain(30..40).collect::<Vec<_>>());
    assert_eq!(machine.memory_nodes[0].distances, [10, 21]);
    assert_eq!(machine.caches.iter().filter(|cache| cache.level == 3).count(), 2);
}

#[test]
fn eight_nodes_of_24_cores() {
    let machine = shaped(&Shape::new(8, 1, 24, 1));
    assert_eq!((machine.cpus.len(), machine.nodes().len()), (192, 8));
    assert_eq!(machine.cpus_of_node(7), (168..192).collect::<Vec<_>>());
    assert_eq!(machine.siblings(5), Vec::<usize>::new());
}

#[test]
fn sub_numa_clusters_are_nodes_of_one_socket() {
    let machine = shaped(&Shape::new(2, 4, 6, 2));
    assert_eq!((machine.cpus.len(), machine.sockets().len(), machine.nodes().len()), (96, 2, 8));
    assert_eq!(machine.cpu(7).map(|cpu| (cpu.node, cpu.socket)), Some((1, 0)));
    assert_eq!(machine.cpu(24).map(|cpu| (cpu.node, cpu.socket)), Some((4, 1)));
    assert_eq!(machine.memory_nodes[1].distances, [12, 10, 12, 12, 21, 21, 21, 21]);
}

#[test]
fn offline_cpus_are_told_and_left_out() {
    let shape = Shape { offline: vec![1, 5], ..Shape::new(1, 1, 4, 2) };
    let machine = shaped(&shape);
    assert_eq!(machine.offline, [1, 5]);
    assert_eq!(machine.cpus.iter().map(|cpu| cpu.id).collect::<Vec<_>>(), [0, 2, 3, 4, 6, 7]);
    assert_eq!(machine.cores().len(), 3);
    // The sibling of an offline hyper-thread has its core alone.
    let shape = Shape { offline: vec![4], ..Shape::new(1, 1, 4, 2) };
    assert_eq!(shaped(&shape).siblings(0), Vec::<usize>::new());
}

#[test]
fn a_container_with_three_cpus_of_a_big_machine() {
    let shape = Shape { quota_cpus: Some(3.0), ..Shape::new(2, 1, 16, 2) };
    let files = SystemFiles::of_shape(&shape);
    let (machine, limits) = (Topology::of(&files).expect("a machine"), CpuLimits::of(&files));
    assert_eq!((limits.cpus(&machine).len(), limits.busy_cpus_max()), (64, Some(3)));
    let shape = Shape { affinity: Some(vec![3, 4, 35]), ..Shape::new(2, 1, 16, 2) };
    let files = SystemFiles::of_shape(&shape);
    let (machine, limits) = (Topology::of(&files).expect("a machine"), CpuLimits::of(&files));
    assert_eq!((limits.cpus(&machine), limits.busy_cpus_max()), (vec![3, 4, 35], None));
}
