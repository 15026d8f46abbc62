//! The experiment on two instances, one a node, against one on both nodes; and how several instances run side by side.
//!
//! Each instance has a folder, an engine and its part of the sessions. They begin each run together; what they did is added up.

use super::catalog::{few_cpus, lines, published};
use super::plan::{Arm, Claim, Expect, Machine, Metric, Needs, Panel, Plan};
use crate::stress::{self, Durability, Run, StressError, Workload};
use pikepole_contention::sync::Arc;
use pikepole_contention::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use pikepole_contention::sync::thread;
use std::time::Duration;

/// Between two looks whether the other instances are ready.
const LOOK: Duration = Duration::from_millis(1);

/// The CPUs of two instances: of each node, of the first two; where there is one node, its halves. None for a single CPU.
fn halves(machine: &Machine) -> Option<Vec<Vec<usize>>> {
    let on = |node: usize| {
        let is_there = |cpu: &&usize| machine.topology.cpu(**cpu).is_some_and(|cpu| cpu.node == node);
        machine.cpus.iter().filter(is_there).copied().collect::<Vec<_>>()
    };
    let nodes: Vec<Vec<usize>> =
        machine.topology.memory_nodes.iter().map(|node| on(node.id)).filter(|cpus| !cpus.is_empty()).collect();
    if nodes.len() >= 2 {
        return Some(nodes.into_iter().take(2).collect());
    }
    let (first, second) = machine.cpus.split_at(machine.cpus.len() / 2);
    (!first.is_empty()).then(|| vec![first.to_vec(), second.to_vec()])
}

fn claims(machine: &Machine) -> Vec<Claim> {
    let fewer =
        |text: &str, name: &str| published(text, "twice the spinlocks", 0, (0, 1), Metric::spins(name), Expect::Lower);
    let claims = [
        published(
            "Two instances, one a node, make more inserts a second than one on both",
            "none of the traffic between sockets",
            0,
            (0, 1),
            Metric::Rows,
            Expect::Higher,
        ),
        fewer("Each has a XDESMGR of its own: fewer spins a row", "XDESMGR"),
        fewer("Each has a LOGCACHE_ACCESS of its own: fewer spins a row", "LOGCACHE_ACCESS"),
    ];
    claims.into_iter().map(|claim| claim.needs(machine, Needs::Nodes(2))).collect()
}

/// The runs and claims.
pub(super) fn plan(machine: &Machine) -> Plan {
    let classic = |name: &str| Arm::new(name).policies(&[("POLICIES", "CLASSIC")]);
    let halves = halves(machine);
    let has_nodes = machine.topology.memory_nodes.len() >= 2;
    let mut cannot = few_cpus(machine, "the published machine's");
    if !has_nodes {
        cannot.push(
            "there is one memory node: two instances have half of its CPUs each, and no distance goes away".to_owned(),
        );
    }
    let mut arms = vec![classic("one instance")];
    if let Some(halves) = &halves {
        arms.push(
            classic(if has_nodes { "two instances, one a node" } else { "two instances, half each" }).instances(halves),
        );
    }
    Plan {
        shows: lines(&[
            "rates and spins of one instance on all CPUs, and of two on one half each, with the same number of sessions in all",
        ]),
        cannot,
        refused: None,
        questions: Vec::new(),
        panels: vec![Panel {
            title: "classic policies".to_owned(),
            workload: Workload::SingletonInsert,
            durability: Durability::Delayed,
            slow_device: None,
            sessions: vec![2, 16, 32],
            arms,
            charts: vec![
                Metric::Rows,
                Metric::spins("LOGCACHE_ACCESS"),
                Metric::spins("XDESMGR"),
                Metric::LogMegabytes,
            ],
        }],
        claims: if halves.is_some() { claims(machine) } else { Vec::new() },
    }
}

/// The point at which instances wait for each other.
struct Together {
    ready: AtomicUsize,
    /// One of them has ended.
    is_over: AtomicBool,
    all: usize,
}

/// The progress of one instance: it begins when all are ready.
struct Instance {
    together: Arc<Together>,
    /// The first instance begins a bar's step; a run tells no more.
    begun: bool,
}

impl stress::Progress for Instance {
    fn begin(&mut self, _run: usize, _of: usize, _durability: Durability, _sessions: usize) {
        if std::mem::replace(&mut self.begun, true) {
            return;
        }
        self.together.ready.fetch_add(1, Ordering::Relaxed);
        while self.together.ready.load(Ordering::Relaxed) < self.together.all
            && !self.together.is_over.load(Ordering::Relaxed)
        {
            thread::sleep(LOOK);
        }
    }

    fn tick(&mut self, _rows: u64, _part: f64) {}

    fn end(&mut self, _run: &Run) {}
}

/// Runs the same on several instances at once, each on its CPUs and with its part of the sessions; what they did together.
pub(super) fn run_together(wanted: &stress::Options, cpus: &[Vec<usize>]) -> Result<Vec<Run>, StressError> {
    let together = Arc::new(Together { ready: AtomicUsize::new(0), is_over: AtomicBool::new(false), all: cpus.len() });
    let part = |place: usize, sessions: usize| (sessions + cpus.len() - 1 - place) / cpus.len();
    let options = |place: usize| stress::Options {
        folder: wanted.folder.join(format!("instance-{place}")),
        sessions: wanted.sessions.iter().map(|sessions| part(place, *sessions).max(1)).collect(),
        cpus: Some(cpus[place].clone()),
        // One profile is of the whole process.
        profiler: wanted.profiler.clone().filter(|_| place == 0),
        ..wanted.clone()
    };
    let work = |place: usize| {
        let (options, together) = (options(place), Arc::clone(&together));
        move || {
            let mut instance = Instance { together: Arc::clone(&together), begun: false };
            let done = stress::run(&options, &mut instance);
            together.is_over.store(true, Ordering::Relaxed);
            done
        }
    };
    let threads: Vec<_> = (0..cpus.len()).map(|place| thread::spawn(work(place))).collect();
    let done: Vec<Result<Vec<Run>, StressError>> =
        threads.into_iter().map(|thread| thread.join().unwrap_or(Err(StressError::SessionLost))).collect();
    let mut all = done.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter();
    let mut sum = all.next().unwrap_or_default();
    for other in all {
        sum.truncate(other.len());
        sum.iter_mut().zip(other).for_each(|(run, other)| run.add(other));
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::super::run::alone;
    use super::*;
    use pikepole_embedded::SystemFiles;
    use pikepole_machine::Shape;

    fn plan_of(shape: &Shape) -> Plan {
        plan(&Machine::read(&SystemFiles::of_shape(shape)).expect("a machine"))
    }

    #[test]
    fn instances_have_a_node_each_where_there_are_two() {
        let two = plan_of(&Shape::new(2, 1, 2, 1));
        assert_eq!(two.panels[0].arms[1].instances, [[0, 1], [2, 3]]);
        assert!(two.claims.iter().all(|claim| claim.cannot.is_none()), "it can be judged there");
        let one = plan_of(&Shape::new(1, 1, 4, 1));
        assert_eq!(one.panels[0].arms[1].name, "two instances, half each");
        let why = one.claims[0].cannot.as_deref();
        assert_eq!(why, Some("it takes 2 memory nodes or more, and here there are 1"));
        let least = plan_of(&Shape::new(1, 1, 1, 1));
        assert_eq!((least.panels[0].arms.len(), least.claims.len()), (1, 0));
    }

    #[test]
    fn two_instances_run_together_and_their_rows_add_up() {
        let _alone = alone();
        let folder = std::env::temp_dir().join(format!("pikepole-instances-{}", std::process::id()));
        let options = stress::Options {
            sessions: vec![3],
            durabilities: vec![Durability::Delayed],
            amount: stress::Amount::Iterations(500),
            policies: vec![("POLICIES".to_owned(), "CLASSIC".to_owned())],
            ..stress::Options::new(&folder)
        };
        let runs = run_together(&options, &[vec![0], vec![0]]);
        // What stays behind is in the folder for such things.
        let _ = std::fs::remove_dir_all(&folder);
        let runs = runs.expect("runs");
        assert_eq!((runs.len(), runs[0].sessions, runs[0].rows), (1, 3, 1_500));
        assert!(runs[0].log_bytes > 0 && runs[0].rows_counted, "{runs:?}");
    }

    #[test]
    fn an_instance_that_cannot_begin_lets_the_other_one_end() {
        let _alone = alone();
        let options =
            stress::Options { amount: stress::Amount::Iterations(1), ..stress::Options::new("/proc/no/such/folder") };
        assert!(run_together(&options, &[vec![0], vec![0]]).is_err());
    }
}
