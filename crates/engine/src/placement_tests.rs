//! The rules on machines that are only described.

use super::*;
use pikepole_machine::{Shape, SystemFiles};

fn plan(shape: &Shape, rules: &PlacementRules) -> PlacementPlan {
    let files = SystemFiles::of_shape(shape);
    PlacementPlan::new(&Topology::of(&files).expect("a machine"), &CpuLimits::of(&files), rules)
}

fn rules(log_writers: LogWriterCount, home: LogWriterHome) -> PlacementRules {
    PlacementRules { log_writers, home, ..PlacementRules::default() }
}

fn cpus(plan: &PlacementPlan) -> Vec<usize> {
    plan.schedulers.iter().filter_map(|scheduler| scheduler.cpu).collect()
}

/// Node sizes, schedulers, log writers of "one a node" and "two a node" on the first cores.
fn summary(shape: &Shape) -> (Vec<usize>, usize, Vec<usize>, Vec<usize>) {
    let one = plan(shape, &rules(LogWriterCount::PerNode, LogWriterHome::FirstCores));
    let two = plan(shape, &rules(LogWriterCount::TwiceNodes, LogWriterHome::FirstCores));
    let homes = |plan: &PlacementPlan| plan.log_writers.iter().map(|cpu| cpu.expect("bound")).collect();
    let sizes = one.nodes.iter().map(|node| node.cpus.len()).collect();
    (sizes, one.schedulers.len(), homes(&one), homes(&two))
}

#[test]
fn counts_and_homes_follow_the_nodes() {
    let this = Shape::new(1, 1, 2, 1);
    assert_eq!(summary(&this), (vec![2], 2, vec![0], vec![0, 1]));
    let hyper_threads = Shape::new(1, 1, 6, 2);
    assert_eq!(summary(&hyper_threads), (vec![12], 12, vec![0], vec![0, 1]));
    let two_sockets = Shape::new(2, 1, 10, 2);
    assert_eq!(summary(&two_sockets), (vec![20, 20], 40, vec![0, 1], vec![0, 1, 2, 3]));
    let eight_nodes = Shape::new(8, 1, 24, 1);
    assert_eq!(summary(&eight_nodes), (vec![24; 8], 192, vec![0, 1, 2, 3], (0..8).collect()));
    let clusters = Shape::new(2, 4, 6, 2);
    assert_eq!(summary(&clusters), (vec![12; 8], 96, vec![0, 1, 2, 3], vec![0, 1, 2, 3, 4, 5, 0, 1]));
    let offline = Shape { offline: vec![0, 1, 5], ..Shape::new(1, 1, 4, 2) };
    assert_eq!(summary(&offline), (vec![5], 5, vec![2], vec![2, 3]));
    let one_cpu = Shape::new(1, 1, 1, 1);
    assert_eq!(summary(&one_cpu), (vec![1], 1, vec![0], vec![0]));
}

#[test]
fn the_writers_core_is_kept_with_all_its_hyper_threads() {
    let isolated = rules(LogWriterCount::TwiceNodes, LogWriterHome::Isolated);
    let found = plan(&Shape::new(2, 1, 10, 2), &isolated);
    assert_eq!(found.kept_apart, [0, 20]);
    assert_eq!(found.log_writers, [Some(0), Some(20), Some(0), Some(20)]);
    assert_eq!(cpus(&found), (1..20).chain(21..40).collect::<Vec<_>>(), "38 of 40 schedulers, as published");
    let found = plan(&Shape::new(1, 1, 2, 1), &isolated);
    assert_eq!((found.kept_apart.as_slice(), cpus(&found)), ([0].as_slice(), vec![1]));
    // One core, with or without hyper-threads: schedulers need it.
    for threads in [1, 2] {
        let found = plan(&Shape::new(1, 1, 1, threads), &isolated);
        assert_eq!((found.kept_apart.len(), found.schedulers.len()), (0, threads));
        assert!(found.log_writers.iter().all(Option::is_none));
    }
    let offline = Shape { offline: vec![0, 4], ..Shape::new(1, 1, 4, 2) };
    assert_eq!(plan(&offline, &isolated).kept_apart, [1, 5]);
}

#[test]
fn nodes_can_be_ignored_or_split() {
    let shape = Shape::new(2, 1, 10, 2);
    let ignored = plan(&shape, &PlacementRules { nodes: NodeRule::Ignored, ..PlacementRules::default() });
    assert_eq!(ignored.nodes.len(), 1);
    assert_eq!(ignored.nodes[0].cpus.len(), 40);
    assert_eq!(ignored.node_of(15), 0);
    let soft = plan(&shape, &PlacementRules { nodes: NodeRule::Soft, ..PlacementRules::default() });
    let sizes: Vec<_> = soft.nodes.iter().map(|node| (node.memory_node, node.cpus.len())).collect();
    assert_eq!(sizes, [(0, 10), (0, 10), (1, 10), (1, 10)], "hyper-threads of a core stay together");
    assert_eq!(soft.nodes[1].cpus, [5, 6, 7, 8, 9, 25, 26, 27, 28, 29]);
    let eight = plan(&Shape::new(1, 1, 8, 2), &PlacementRules { nodes: NodeRule::Soft, ..PlacementRules::default() });
    assert_eq!(eight.nodes.len(), 1, "8 cores are not too many");
    let counts =
        PlacementRules { nodes: NodeRule::Soft, log_writers: LogWriterCount::PerNode, ..PlacementRules::default() };
    assert_eq!(plan(&shape, &counts).log_writers.len(), 4);
}

#[test]
fn a_mask_takes_schedulers_offline() {
    let masked = PlacementRules { affinity: Some(vec![1, 3, 99]), ..PlacementRules::default() };
    let found = plan(&Shape::new(1, 1, 2, 2), &masked);
    let online: Vec<_> = found.schedulers.iter().map(|scheduler| scheduler.online).collect();
    assert_eq!(online, [false, true, false, true]);
    let limited = Shape { affinity: Some(vec![3, 4, 35]), ..Shape::new(2, 1, 16, 2) };
    let found = plan(&limited, &PlacementRules::default());
    assert_eq!((cpus(&found), found.nodes.len()), (vec![3, 4, 35], 1));
}

#[test]
fn a_quota_makes_few_schedulers_that_are_not_bound() {
    let container = Shape { quota_cpus: Some(2.5), ..Shape::new(2, 1, 16, 2) };
    for home in [LogWriterHome::Shared, LogWriterHome::Isolated, LogWriterHome::FirstCores] {
        let found = plan(&container, &rules(LogWriterCount::Auto, home));
        assert_eq!((found.schedulers.len(), found.is_bound()), (3, false));
        assert_eq!((found.log_writers, found.kept_apart.len()), (vec![None; 3], 0));
    }
    let roomy = Shape { quota_cpus: Some(64.0), ..Shape::new(2, 1, 16, 2) };
    assert!(plan(&roomy, &PlacementRules::default()).is_bound());
}

#[test]
fn a_quota_bounds_the_automatic_count_of_log_writers_only() {
    let counts = |quota| {
        let container = Shape { quota_cpus: quota, ..Shape::new(2, 1, 16, 2) };
        let found = plan(&container, &PlacementRules::default());
        let of = |rule| found.log_writer_count(rule);
        let (planned, auto) = (found.log_writers.len(), of(LogWriterCount::Auto));
        assert_eq!(planned, auto, "online and at the start by the same rule");
        (auto, of(LogWriterCount::TwiceNodes), of(LogWriterCount::PerNode), of(LogWriterCount::Count(6)))
    };
    assert_eq!(counts(None), (4, 4, 2, 6));
    assert_eq!(counts(Some(64.0)), (4, 4, 2, 6));
    assert_eq!(counts(Some(3.0)), (3, 4, 2, 6));
    assert_eq!(counts(Some(0.5)), (1, 4, 2, 6));
}

#[test]
fn memory_follows_the_nodes_of_schedulers() {
    let default = PlacementRules::default();
    let one = plan(&Shape::new(1, 1, 2, 1), &default);
    assert_eq!((one.memory_nodes(), one.near_schedulers()), (Vec::new(), Vec::new()), "near anyhow");
    let two = plan(&Shape::new(2, 1, 2, 1), &default);
    assert_eq!((two.memory_nodes(), two.near_schedulers()), (vec![0, 1], vec![0, 0, 1, 1]));
    let only_second = plan(&Shape { affinity: Some(vec![2, 3]), ..Shape::new(2, 1, 2, 1) }, &default);
    assert!(only_second.memory_nodes().is_empty());
    let soft = plan(&Shape::new(2, 1, 10, 1), &PlacementRules { nodes: NodeRule::Soft, ..default.clone() });
    assert_eq!((soft.nodes.len(), soft.memory_nodes()), (4, vec![0, 1]), "soft nodes share their memory");
    assert_eq!(soft.near_schedulers(), [[0; 10], [1; 10]].concat());
    let ignored = PlacementRules { nodes: NodeRule::Ignored, ..default.clone() };
    assert!(plan(&Shape::new(2, 1, 2, 1), &ignored).memory_nodes().is_empty());
    let quota = Shape { quota_cpus: Some(3.0), ..Shape::new(2, 1, 2, 1) };
    assert!(plan(&quota, &default).memory_nodes().is_empty(), "a scheduler that is not bound is near to none");
}

#[test]
fn the_ring_of_a_log_is_where_its_writer_is() {
    let shape = Shape::new(2, 1, 2, 1);
    let topology = Topology::of(&SystemFiles::of_shape(&shape)).expect("a machine");
    let node = |shape: &Shape, home| plan(shape, &rules(LogWriterCount::Auto, home)).log_memory_node(&topology);
    assert_eq!(node(&shape, LogWriterHome::Shared), Some(0), "the first node when they are anywhere");
    assert_eq!(node(&shape, LogWriterHome::FirstCores), Some(0));
    assert_eq!(node(&shape, LogWriterHome::Cpus(vec![3, 0])), Some(1));
    assert_eq!(node(&Shape::new(1, 1, 2, 1), LogWriterHome::FirstCores), None);
}
