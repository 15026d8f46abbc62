//! `--numa-node`: the process on the CPUs and in the memory of one node.

use super::CommandError;
use pikepole_machine::{CpuLimits, SystemFiles, Topology, affinity, list_text, node_memory};

/// Binds the calling thread, and so all that it starts later, to the node's CPUs that the process may use, and its memory to
/// the node. Called from the main thread, whose CPUs are the process's.
pub fn bind(node: usize) -> Result<(), CommandError> {
    let files = SystemFiles::below("/");
    let topology = Topology::of(&files).map_err(CommandError::io("the machine's CPUs"))?;
    let cpus = cpus(&topology, &CpuLimits::of(&files), node).map_err(CommandError::Usage)?;
    affinity::pin_to(&cpus).map_err(CommandError::io(format!("the CPUs of node {node}")))?;
    node_memory::bind(node).map_err(CommandError::io(format!("binding memory to node {node}")))
}

/// The CPUs of a node that the process may use.
fn cpus(topology: &Topology, limits: &CpuLimits, node: usize) -> Result<Vec<usize>, String> {
    let Some(found) = topology.memory_nodes.iter().find(|known| known.id == node) else {
        let nodes: Vec<usize> = topology.memory_nodes.iter().map(|node| node.id).collect();
        return Err(format!("--numa-node {node}: there is no such node; this machine has {}", list_text(&nodes)));
    };
    let usable = limits.cpus(topology);
    let cpus: Vec<usize> = found.cpus.iter().copied().filter(|cpu| usable.contains(cpu)).collect();
    if cpus.is_empty() {
        return Err(format!(
            "--numa-node {node}: this process may use none of its CPUs; it may use {}",
            list_text(&usable)
        ));
    }
    Ok(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pikepole_machine::Shape;

    fn on(shape: &Shape, node: usize) -> Result<Vec<usize>, String> {
        let files = SystemFiles::of_shape(shape);
        cpus(&Topology::of(&files).expect("a machine"), &CpuLimits::of(&files), node)
    }

    #[test]
    fn a_node_is_its_cpus_that_may_be_used() {
        let sockets = Shape::new(2, 1, 4, 2);
        assert_eq!(on(&sockets, 1).expect("a node"), [4, 5, 6, 7, 12, 13, 14, 15]);
        let limited = Shape { affinity: Some(vec![3, 4, 12]), ..sockets.clone() };
        assert_eq!(on(&limited, 1).expect("a node"), [4, 12]);
        let refused = on(&sockets, 2).expect_err("no such node");
        assert_eq!(refused, "--numa-node 2: there is no such node; this machine has 0-1");
        let elsewhere = Shape { affinity: Some(vec![0, 1]), ..sockets };
        let refused = on(&elsewhere, 1).expect_err("no CPUs");
        assert_eq!(refused, "--numa-node 1: this process may use none of its CPUs; it may use 0-1");
    }
}
