//! Where schedulers and log writers run on a machine, as the model sees it.

use super::model::{CpuPlace, Layout};
use pikepole_machine::Topology;

/// Which CPUs have schedulers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mask {
    /// All of them.
    Default,
    /// All but those of the first core of the first node, which the log writers have for themselves.
    Apart,
}

impl Mask {
    /// The name on the command line, in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Mask::Default => "default",
            Mask::Apart => "apart",
        }
    }
}

/// The CPUs of log writers that share them with schedulers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Homes {
    /// Any that the system finds free.
    Free,
    /// On the first CPU of each core of the first node, in turn.
    FirstCores,
}

/// The CPUs `usable` of a machine, with so many log writers. Schedulers are in the order of the CPUs' numbers.
pub fn layout(topology: &Topology, usable: &[usize], mask: Mask, homes: Homes, writers: usize) -> Layout {
    let mut cpus: Vec<_> = topology.cpus.iter().filter(|cpu| usable.contains(&cpu.id)).collect();
    // The hyper-threads of a core are neighbours.
    cpus.sort_by_key(|cpu| (cpu.node, cpu.socket, cpu.core, cpu.id));
    let first_core = cpus.first().map(|cpu| cpu.core);
    let node = cpus.first().map(|cpu| cpu.node);
    let in_first_core: Vec<usize> = (0..cpus.len()).filter(|place| Some(cpus[*place].core) == first_core).collect();
    let is_apart = mask == Mask::Apart && in_first_core.len() < cpus.len();
    let mut schedulers: Vec<usize> =
        (0..cpus.len()).filter(|place| !(is_apart && in_first_core.contains(place))).collect();
    schedulers.sort_by_key(|place| cpus[*place].id);
    let mut first_of_cores: Vec<usize> = Vec::new();
    for place in (0..cpus.len()).filter(|place| Some(cpus[*place].node) == node) {
        if first_of_cores.last().is_none_or(|last| cpus[*last].core != cpus[place].core) {
            first_of_cores.push(place);
        }
    }
    let home = |writer: usize| match (is_apart, homes) {
        (true, _) => Some(in_first_core[writer % in_first_core.len()]),
        (false, Homes::FirstCores) => Some(first_of_cores[writer % first_of_cores.len()]),
        (false, Homes::Free) => None,
    };
    Layout {
        writers: (0..writers).map(home).collect(),
        schedulers,
        cpus: cpus.iter().map(|cpu| CpuPlace { core: cpu.core, socket: cpu.socket }).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pikepole_machine::{Shape, SystemFiles};

    fn topology(shape: &str) -> Topology {
        let shape = Shape::parse(shape).expect("a shape");
        Topology::of(&SystemFiles::of_shape(&shape)).expect("a machine")
    }

    #[test]
    fn the_log_writers_core_is_the_first_one_and_its_siblings_go_too() {
        let machine = topology("2x10x2");
        let all: Vec<usize> = (0..40).collect();
        let shared = layout(&machine, &all, Mask::Default, Homes::FirstCores, 2);
        assert_eq!((shared.schedulers.len(), &shared.writers), (40, &vec![Some(0), Some(2)]));
        assert_eq!(shared.cpus[0], shared.cpus[1]);
        assert_ne!(shared.cpus[1].core, shared.cpus[2].core);
        let apart = layout(&machine, &all, Mask::Apart, Homes::Free, 2);
        assert_eq!((apart.schedulers.len(), &apart.writers), (38, &vec![Some(0), Some(1)]));
        assert!(!apart.schedulers.contains(&0) && !apart.schedulers.contains(&1));
        // In the order of the numbers, socket 1 comes behind the first threads of socket 0.
        assert_eq!(apart.cpus[apart.schedulers[0]].socket, 0);
        assert_eq!(apart.cpus[apart.schedulers[9]].socket, 1);
    }

    #[test]
    fn a_machine_of_one_core_has_nothing_to_set_apart() {
        let one = layout(&topology("1x1x2"), &[0, 1], Mask::Apart, Homes::Free, 1);
        assert_eq!((one.schedulers.len(), one.writers), (2, vec![None]));
    }
}
