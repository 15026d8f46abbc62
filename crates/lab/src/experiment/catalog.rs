//! The experiments: questions, published figures, arms and claims.

use super::plan::{Arm, Claim, Expect, Experiment, Machine, Metric, Needs, Panel, Plan};
use super::{ExperimentError, boost, in_memory, instances, large_pages, parallel_insert, serial_parallel};
use crate::profile::Area;
use crate::stress::{Durability, Workload};
use pikepole_machine::SlowDevice;
use std::time::Duration;

/// All experiments.
pub const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "policies",
        title: "Every point's policies over a sweep of sessions",
        question: "What does each serialisation point cost when threads take turns there the classic way, and what with the defaults?",
        published: &[
            "In one study of a log with 64 threads, 90% of the time was the mutex and 1.5% the copying.",
            "With native compilation out of the picture, the spinlock XDESMGR was 14.46% of the sampled CPU (2 x 10 cores).",
        ],
        plan: policies,
    },
    Experiment {
        name: "affinity",
        title: "The log writer's core kept to itself",
        question: "Does taking the log writer's physical core out of the process affinity raise the rate of singleton inserts?",
        published: &[
            "2 sockets x 10 cores x 2 hyper-threads, 2.3 GHz, delayed durability: 186,915 inserts/s with 40 threads and the default mask; 436,781 with 38 threads and the log writer's core out of the mask (x 2.34).",
            "Back-off fell from 23.89% to 1.43% of the sampled CPU; LOGCACHE_ACCESS spins stayed about equal; XDESMGR spins rose.",
            "Taking out other cores of that node does not help.",
        ],
        plan: affinity,
    },
    Experiment {
        name: "log-writers",
        title: "One log writer against several",
        question: "Do several log writers help full durability, and do they hurt delayed durability on a fast device?",
        published: &[
            "Several writers help full durability and hurt delayed durability on fast storage: they contend for LOGFLUSHQ, back-pressure reaches the log buffer, and LOGCACHE_ACCESS spins climb.",
        ],
        plan: log_writers,
    },
    Experiment {
        name: "trace-flags",
        title: "Trace flags 8015 and 8048 on top of the mask",
        question: "Does ignoring NUMA, and partitioning memory objects by CPU, raise the rate further?",
        published: &[
            "8015 on top of the mask without the log writer's core gave the best rate of all: over 500,000 inserts/s with 36 threads (2 x 10 cores x 2).",
        ],
        plan: trace_flags,
    },
    Experiment {
        name: "distance",
        title: "The distance of a session from the log writer",
        question: "What does one session with full durability gain when it runs nearer to the log writer?",
        published: &[
            "1,000,000 singleton inserts into a heap, one session: against the other socket, +100% on the log writer's own core, +50 to 60% on another core of its socket.",
            "LOGCACHE_ACCESS spins: 24,192 on the same core, 1,710,336 on another core of the same socket.",
        ],
        plan: distance,
    },
    Experiment {
        name: "parallel-insert",
        title: "Parallel inserts under the nested transactions' latch",
        question: "What do parallel workers of one INSERT ... SELECT pay for logging under one transaction, by a fair latch, an unfair one, and none?",
        published: &[
            "64 Mi rows (bigint, int, datetime) into a heap, MAXDOP 11, 6 cores x 2, fair latch: about 5.5 s; LATCH_EX 271,458 waits, 21,949 ms.",
            "The same with trace flag 3933, unfair latch: about 4.5 s; LATCH_EX 56 waits, 3 ms; LATCH_SPIN_STATS 337,110 collisions, 221,891,800 spins.",
            "Minimal logging lowers the pressure; a serial change never needs this latch.",
        ],
        plan: parallel_insert::plan,
    },
    Experiment {
        name: "serial-parallel",
        title: "Serial against parallel inserts, full against minimal logging",
        question: "What does an INSERT ... SELECT by one worker not pay for that one by many workers does, and how many bytes of log does a row take?",
        published: &[
            "A serial change never takes the latch of nested transactions; minimal logging lowers the pressure on it.",
            "64 Mi rows by 11 workers, fair latch: NESTING_TRANSACTION_FULL 271,609 waits, 22.6 s in sum.",
        ],
        plan: serial_parallel::plan,
    },
    Experiment {
        name: "boost",
        title: "The boost of signalled tasks, and the convoy",
        question: "What does it change that a signalled task goes to the head of the runnable queue, for sessions that wait for the log, and for workers that queue up at a latch?",
        published: &[
            "A signalled thread goes to the head of its scheduler's queue, up to 1,000 times in a row, then to the end.",
            "A fair latch signals the longest waiter: a context switch for each acquisition once a queue has formed, the convoy. LATCH_EX: 271,458 waits, 2,644 ms of them signal wait; with an unfair latch 56 waits.",
        ],
        plan: boost::plan,
    },
    Experiment {
        name: "instances",
        title: "Two instances, one a node, against one on both",
        question: "Do two instances, each bound to a memory node, make more inserts than one that has the CPUs of both?",
        published: &[
            "Two instances, each bound to its own node and memory: twice the spinlocks, none of the traffic between sockets.",
        ],
        plan: instances::plan,
    },
    Experiment {
        name: "large-pages",
        title: "Scans of memory in pages of 4 KB and of 2 MB",
        question: "What does a scan of a table in the buffer pool gain when that memory is in pages of 2 MB, and what does starting cost then?",
        published: &[
            "Scan of a 118 GB table with 40 GB of memory and 6 cores: page lookups rose from 222,220/s to 263,766/s with 2 MB pages (x 1.19), and the time fell by 28%.",
            "A start with them takes longer: their memory is taken at once.",
        ],
        plan: large_pages::plan,
    },
    Experiment {
        name: "in-memory",
        title: "Singleton inserts into tables in memory",
        question: "What does an insert gain when its table is in memory, and do sessions then press harder on the next point where they take turns?",
        published: &[
            "Memory-optimised tables: no latches, transaction ids from one atomic increment, one log record a transaction that is written at commit only, no undo in the log.",
            "With native compilation out of the picture, T-SQL language processing was 12.32% of the sampled CPU and XDESMGR's spin 14.46% (2 x 10 cores); whether less of the former presses harder on the latter was left open.",
        ],
        plan: in_memory::plan,
    },
];

/// The experiment of this name.
///
/// # Errors
/// When there is none, saying which there are.
pub fn find(name: &str) -> Result<&'static Experiment, ExperimentError> {
    EXPERIMENTS.iter().find(|experiment| experiment.name.eq_ignore_ascii_case(name)).ok_or_else(|| {
        let names: Vec<&str> = EXPERIMENTS.iter().map(|experiment| experiment.name).collect();
        ExperimentError::Usage(format!("there is no experiment {name}; there are {}", names.join(", ")))
    })
}

/// The classic way at every point: the server's set.
const CLASSIC: &[(&str, &str)] = &[("POLICIES", "CLASSIC")];

/// The policies of the log writers' experiments, without their number.
fn classic(name: &str) -> Arm {
    Arm::new(name).policies(CLASSIC)
}

/// The defaults of this engine, for what takes a function.
fn defaults(name: &str) -> Arm {
    Arm::new(name)
}

pub(super) fn lines(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

pub(super) fn few_cpus(machine: &Machine, published: &str) -> Vec<String> {
    let cpus = machine.cpus.len();
    if cpus >= 16 {
        Vec::new()
    } else {
        vec![format!("{cpus} CPUs are not {published}: spinlocks and back-off that need many spinners do not show")]
    }
}

pub(super) fn claim(text: &str, panel: usize, arms: (usize, usize), metric: Metric, expect: Expect) -> Claim {
    Claim { text: text.to_owned(), published: None, panel, from: arms.0, to: arms.1, metric, expect, cannot: None }
}

pub(super) fn published(
    text: &str,
    figure: &'static str,
    panel: usize,
    arms: (usize, usize),
    metric: Metric,
    expect: Expect,
) -> Claim {
    Claim { published: Some(figure), ..claim(text, panel, arms, metric, expect) }
}

/// Spins a millisecond of CPU that are noise: one is 64 pauses at most, less than a microsecond, so these take less than 0.2% of the CPU.
const NOISE: f64 = 2.0;

/// The claims on the panels of [`policies`]: 0 delayed, 1 full, 2 a heap; arm 0 has the defaults.
fn policies_claims() -> Vec<Claim> {
    let spins = |panel, text: &str, metric, limit| claim(text, panel, (0, 0), metric, Expect::Below(limit));
    let costs = |panel, arm, text: &str| claim(text, panel, (0, arm), Metric::Rows, Expect::Lower);
    let share = |panel, text: &str| claim(text, panel, (0, 0), Metric::share(Area::LogReserve), Expect::Below(3.0));
    let spinlock = Metric::spins;
    vec![
        spins(0, "With the defaults, no spinlock spins above noise, delayed durability", Metric::SpinsOfCpu, NOISE),
        spins(1, "With the defaults, no spinlock spins above noise, full durability", Metric::SpinsOfCpu, NOISE),
        spins(0, "With the defaults, LOGCACHE_ACCESS does not spin, delayed", spinlock("LOGCACHE_ACCESS"), 0.1),
        spins(0, "With the defaults, XDESMGR does not spin, delayed durability", spinlock("XDESMGR"), 0.1),
        spins(1, "With the defaults, LOGFLUSHQ does not spin, full durability", spinlock("LOGFLUSHQ"), 0.1),
        share(0, "With the defaults, less than 3% of the CPU samples are in log reservation, delayed durability"),
        share(1, "With the defaults, less than 3% of the CPU samples are in log reservation, full durability"),
        costs(0, 1, "The classic way at all points makes fewer inserts a second, delayed durability"),
        costs(1, 1, "The classic way at all points makes fewer inserts a second, full durability"),
        costs(0, 2, "Dealing out transaction ids under a spinlock alone costs inserts"),
        costs(0, 3, "Reserving log space under a spinlock alone costs inserts"),
        costs(0, 4, "One shared atomic addition a record costs inserts against chunks"),
        costs(2, 1, "One insertion target for all schedulers costs inserts into a heap"),
    ]
}

fn policies(machine: &Machine) -> Plan {
    let arm = |name: &str, value: &str| Arm::new(format!("{name} = {value}")).policies(&[(name, value)]);
    let panel = |title: &str, workload, durability, arms| Panel {
        title: title.to_owned(),
        workload,
        durability,
        slow_device: None,
        sessions: vec![1, 2, 8, 32],
        arms,
        charts: vec![Metric::Rows, Metric::AllSpins, Metric::CpuMicroseconds],
    };
    let delayed = vec![
        Arm::new("defaults"),
        classic("all classic"),
        arm("TRANSACTION_IDS", "SPINLOCK"),
        arm("LOG_RESERVATION", "SPINLOCK"),
        arm("LOG_RESERVATION", "ATOMIC"),
    ];
    let full = vec![
        Arm::new("defaults"),
        classic("all classic"),
        arm("COMMIT_BY", "LOG_WRITER"),
        arm("LOG_FLUSH_QUEUE", "SPINLOCK"),
        arm("LOG_BLOCK", "60KB"),
    ];
    let heap = vec![Arm::new("defaults"), arm("HEAP_INSERT_TARGETS", "ONE")];
    Plan {
        shows: lines(&["what each policy costs on the CPUs that are here, and whether the defaults spin at all"]),
        cannot: few_cpus(machine, "the 40 of the published figures"),
        refused: None,
        questions: Vec::new(),
        panels: vec![
            panel("delayed durability", Workload::SingletonInsert, Durability::Delayed, delayed),
            panel("full durability", Workload::SingletonInsert, Durability::Full, full),
            panel("a heap, delayed durability", Workload::HeapInsert, Durability::Delayed, heap),
        ],
        claims: policies_claims(),
    }
}

/// Arms of a mask: all CPUs, without the log writer's core, and without another core when there is one.
fn mask_arms(machine: &Machine, base: impl Fn(&str) -> Arm) -> Vec<Arm> {
    let writer = machine.writer_cpu().to_string();
    let home = |name: &str| base(name).policies(&[("LOG_WRITERS", "1"), ("LOG_WRITER_CPUS", &writer)]);
    let mut arms = vec![home("all CPUs")];
    let others = machine.others();
    if let (false, Some(last)) = (machine.writer_core.is_empty(), others.last()) {
        arms.push(home("log writer's core apart").affinity(&others));
        let core = machine.topology.cpu(*last).map(|cpu| cpu.core);
        let is_same = |cpu: &usize| machine.topology.cpu(*cpu).map(|cpu| cpu.core) == core;
        let rest: Vec<usize> = machine.cpus.iter().copied().filter(|cpu| !is_same(cpu)).collect();
        if !rest.is_empty() {
            arms.push(home("another core apart").affinity(&rest));
        }
    }
    arms
}

/// CPUs from which on a core taken from the sessions is not most of what they have.
const AFFINITY_CPUS_MIN: usize = 8;

/// The claims on the panels of [`affinity`]: 0 classic, 1 defaults.
fn affinity_claims(arms: &[Arm]) -> Vec<Claim> {
    let spins = |name| Metric::spins(name);
    let mut claims = Vec::new();
    if arms.len() > 1 {
        claims.push(published(
            "Inserts a second rise with the log writer's core out of the mask",
            "x 2.34",
            0,
            (0, 1),
            Metric::Rows,
            Expect::Higher,
        ));
        claims.push(published(
            "The log is written faster then",
            "rises with the inserts",
            0,
            (0, 1),
            Metric::LogMegabytes,
            Expect::Higher,
        ));
        claims.push(published(
            "LOGCACHE_ACCESS spins stay about equal",
            "about equal",
            0,
            (0, 1),
            spins("LOGCACHE_ACCESS"),
            Expect::Same,
        ));
        claims.push(published(
            "XDESMGR spins rise: the next bottleneck",
            "rise",
            0,
            (0, 1),
            spins("XDESMGR"),
            Expect::Higher,
        ));
        claims.push(published(
            "Back-off falls as a share of the sampled CPU",
            "23.89% against 1.43%",
            0,
            (0, 1),
            Metric::share(Area::BackOff),
            Expect::Lower,
        ));
        claims.push(claim(
            "With the defaults of this engine, keeping the core apart is not worth a core",
            1,
            (0, 1),
            Metric::Rows,
            Expect::Lower,
        ));
    }
    if arms.len() > 2 {
        claims.push(published(
            "It is the log writer's core that matters, not any core of its node",
            "right core only",
            0,
            (2, 1),
            Metric::Rows,
            Expect::Higher,
        ));
    }
    claims
}

fn affinity(machine: &Machine) -> Plan {
    let spins = |name| Metric::spins(name);
    let charts = vec![
        Metric::Rows,
        spins("LOGCACHE_ACCESS"),
        spins("XDESMGR"),
        Metric::LogMegabytes,
        Metric::share(Area::BackOff),
    ];
    let panel = |title: &str, arms| Panel {
        title: title.to_owned(),
        workload: Workload::SingletonInsert,
        durability: Durability::Delayed,
        slow_device: None,
        sessions: vec![1, 2, 4, 16, 32],
        arms,
        charts: charts.clone(),
    };
    let mut cannot = few_cpus(machine, "40");
    if machine.others().len() < 8 {
        cannot.push(format!(
            "taking the log writer's core away leaves {} of {} CPUs to the sessions, against 38 of 40: here the loss of CPUs outweighs what the log writer gains",
            machine.others().len(),
            machine.cpus.len()
        ));
    }
    let arms = mask_arms(machine, classic);
    let claims = affinity_claims(&arms);
    let claims = claims.into_iter().map(|claim| claim.needs(machine, Needs::Cpus(AFFINITY_CPUS_MIN))).collect();
    Plan {
        shows: lines(&[
            "rates, spins and log bandwidth with the log writer bound to a CPU that schedulers share, to one of its own, and with the wrong core taken away",
        ]),
        cannot,
        refused: None,
        questions: Vec::new(),
        panels: vec![panel("classic policies", arms), panel("default policies", mask_arms(machine, defaults))],
        claims,
    }
}

fn log_writers(machine: &Machine) -> Plan {
    let slow = SlowDevice { delay: Duration::from_micros(600), bytes_per_second: Some(200_000_000) };
    let arm = |count: &str| {
        let name = if count == "1" { "1 log writer".to_owned() } else { format!("{count} log writers") };
        classic(&name).policies(&[("LOG_WRITERS", count)])
    };
    let panel = |title: &str, durability, slow_device| Panel {
        title: title.to_owned(),
        workload: Workload::ExplicitTransactions,
        durability,
        slow_device,
        sessions: vec![1, 8, 32],
        arms: vec![arm("1"), arm("2"), arm("4")],
        charts: vec![Metric::Rows, Metric::RowsPerFlush, Metric::spins("LOGFLUSHQ"), Metric::spins("LOGCACHE_ACCESS")],
    };
    let several = |text: &str, panel, metric, expect| published(text, "shape only", panel, (0, 2), metric, expect);
    let mut cannot = few_cpus(machine, "the published machine's");
    if machine.topology.memory_nodes.len() == 1 {
        cannot.push(
            "one memory node: several writers here are threads that share one node's memory, so no distance between nodes shows"
                .to_owned(),
        );
    }
    Plan {
        shows: lines(&[
            "one, two and four writers at both durabilities, on this disk and on an acted device of 600 us a write and 200 MB/s",
        ]),
        cannot,
        refused: None,
        questions: Vec::new(),
        panels: vec![
            panel("full, this disk", Durability::Full, None),
            panel("full, slower device", Durability::Full, Some(slow)),
            panel("delayed, this disk", Durability::Delayed, None),
            panel("delayed, slower device", Durability::Delayed, Some(slow)),
        ],
        claims: vec![
            several("Several writers help full durability on this disk", 0, Metric::Rows, Expect::Higher),
            several("Several writers help full durability on a slower device", 1, Metric::Rows, Expect::Higher),
            several("Several writers hurt delayed durability on fast storage", 2, Metric::Rows, Expect::Lower),
            several(
                "LOGFLUSHQ spins rise with several writers, delayed durability",
                2,
                Metric::spins("LOGFLUSHQ"),
                Expect::Higher,
            ),
            several(
                "LOGCACHE_ACCESS spins climb with several writers, delayed durability",
                2,
                Metric::spins("LOGCACHE_ACCESS"),
                Expect::Higher,
            ),
        ],
    }
}

fn trace_flags(machine: &Machine) -> Plan {
    let writer = machine.writer_cpu().to_string();
    let base = |name: &str| {
        let arm = classic(name).policies(&[("LOG_WRITERS", "PER NODE"), ("LOG_WRITER_CPUS", &writer)]);
        if machine.writer_core.is_empty() { arm } else { arm.affinity(&machine.others()) }
    };
    let mut cannot = few_cpus(machine, "40");
    if machine.topology.memory_nodes.len() == 1 {
        cannot.push(
            "there is one memory node, so 8015 has nothing to ignore: equal rates are the right outcome here"
                .to_owned(),
        );
    }
    cannot.push("no memory object here is shared by threads, so 8048 asks for what is always so".to_owned());
    Plan {
        shows: lines(&[
            "rates with the flags on top of the mask without the log writer's core; 8015 makes one node of all CPUs, and so one log writer of one a node",
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
            arms: vec![base("no flag"), base("8015").flag(8015), base("8015 and 8048").flag(8015).flag(8048)],
            charts: vec![Metric::Rows, Metric::spins("LOGCACHE_ACCESS"), Metric::spins("XDESMGR")],
        }],
        claims: vec![
            published(
                "8015 raises the rate on top of the mask",
                "the best of all, over 500,000/s",
                0,
                (0, 1),
                Metric::Rows,
                Expect::Higher,
            )
            .needs(machine, Needs::Nodes(2)),
            claim("8048 changes nothing here", 0, (1, 2), Metric::Rows, Expect::Same),
        ],
    }
}

fn distance(machine: &Machine) -> Plan {
    let writer = machine.writer_cpu();
    let home = machine.topology.cpu(writer).copied();
    let number = writer.to_string();
    let at = |name: &str, cpu: usize| {
        classic(name).policies(&[("LOG_WRITERS", "1"), ("LOG_WRITER_CPUS", &number)]).affinity(&[cpu])
    };
    let far = |same_socket: bool| {
        let is_far = |cpu: &&usize| match (machine.topology.cpu(**cpu), &home) {
            (Some(cpu), Some(home)) => cpu.core != home.core && (cpu.socket == home.socket) == same_socket,
            _ => false,
        };
        machine.cpus.iter().find(is_far).copied()
    };
    let mut arms = vec![at("the log writer's core", writer)];
    let (mut claims, mut cannot) = (Vec::new(), Vec::new());
    if let Some(cpu) = far(true) {
        arms.push(at("another core, same socket", cpu));
        claims.push(published(
            "One session makes more inserts on the log writer's own core than on another core of the socket",
            "x 1.25 to 1.33",
            0,
            (1, 0),
            Metric::Rows,
            Expect::Higher,
        ));
        claims.push(published(
            "LOGCACHE_ACCESS spins are far fewer there",
            "24,192 against 1,710,336",
            0,
            (1, 0),
            Metric::spins("LOGCACHE_ACCESS"),
            Expect::Lower,
        ));
    }
    match far(false) {
        Some(cpu) => {
            let place = arms.len();
            arms.push(at("the other socket", cpu));
            claims.push(published(
                "It makes twice as many as on the other socket",
                "x 2",
                0,
                (place, 0),
                Metric::Rows,
                Expect::Higher,
            ));
        }
        None => cannot.push("there is one socket: the longest of the published distances is not here".to_owned()),
    }
    Plan {
        shows: lines(&["one session bound to the log writer's core, and to another core"]),
        cannot,
        refused: None,
        questions: Vec::new(),
        panels: vec![Panel {
            title: "one session, full durability".to_owned(),
            workload: Workload::HeapInsert,
            durability: Durability::Full,
            slow_device: None,
            sessions: vec![1],
            arms,
            charts: vec![
                Metric::Rows,
                Metric::CpuMicroseconds,
                Metric::Wait("WRITELOG".to_owned()),
                Metric::spins("LOGCACHE_ACCESS"),
            ],
        }],
        claims,
    }
}

#[cfg(test)]
#[path = "catalog_tests.rs"]
mod tests;
