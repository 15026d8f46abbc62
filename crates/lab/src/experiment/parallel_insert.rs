//! The experiment on the latch that parallel workers of one statement log under.

use super::catalog::{claim, few_cpus, lines, published};
use super::plan::{Arm, Claim, Expect, Machine, Metric, Panel, Plan};
use crate::stress::{Durability, Workload};

/// Rows of one statement: many enough for all workers, few enough for several statements a second.
const ROWS: u64 = 1 << 20;
/// The published number of workers.
const MAXDOP: u32 = 11;

const FAIR: usize = 0;
const FLAG: usize = 1;
const UNFAIR: usize = 2;
const PRIVATE: usize = 3;
const PRIVATE_MINIMAL: usize = 4;

fn workload(minimal_logging: bool) -> Workload {
    Workload::ParallelInsert { rows: ROWS, maxdop: MAXDOP, minimal_logging }
}

fn arms() -> Vec<Arm> {
    let nested = |name: &str, value: &str| Arm::new(name).policies(&[("NESTED_TRANSACTIONS", value)]);
    vec![
        nested("fair latch", "FAIR_LATCH"),
        nested("fair latch, 3933", "FAIR_LATCH").flag(3933),
        nested("unfair latch", "UNFAIR_LATCH"),
        nested("private chains", "PRIVATE"),
        nested("private chains, minimal logging", "PRIVATE").workload(workload(true)),
    ]
}

fn claims() -> Vec<Claim> {
    let latch = || Metric::WaitCount("LATCH_EX".to_owned());
    let spins = || Metric::spins("LATCH_SPIN_STATS");
    vec![
        published(
            "Under an unfair latch the rows are in sooner",
            "x 1.22",
            0,
            (FAIR, UNFAIR),
            Metric::Rows,
            Expect::Higher,
        ),
        published(
            "Workers wait for an unfair latch far less often",
            "271,458 against 56",
            0,
            (FAIR, UNFAIR),
            latch(),
            Expect::Lower,
        ),
        published("They spin for it instead", "221,891,800 spins", 0, (FAIR, UNFAIR), spins(), Expect::Higher),
        claim(
            "Trace flag 3933 takes the waits from a fair latch as the policy does",
            0,
            (FAIR, FLAG),
            latch(),
            Expect::Lower,
        ),
        claim(
            "Private chains are not slower than an unfair latch",
            0,
            (UNFAIR, PRIVATE),
            Metric::Rows,
            Expect::NotLower,
        ),
        claim(
            "With private chains workers do not wait for a latch",
            0,
            (PRIVATE, PRIVATE),
            latch(),
            Expect::Below(0.01),
        ),
        published(
            "Minimal logging writes less log",
            "lowers the pressure",
            0,
            (PRIVATE, PRIVATE_MINIMAL),
            Metric::LogMegabytes,
            Expect::Lower,
        ),
    ]
}

/// What is run and claimed; the same on every machine.
pub(super) fn plan(machine: &Machine) -> Plan {
    Plan {
        shows: lines(&[
            "the waits, spins and rates of the latch by its kind, of no latch, and of logging only the use of pages; statements of 1 Mi rows, one after the other, with 11 workers each",
        ]),
        cannot: few_cpus(machine, "the published 12 threads"),
        refused: None,
        panels: vec![Panel {
            title: "one INSERT ... SELECT after the other, MAXDOP 11".to_owned(),
            workload: workload(false),
            durability: Durability::Full,
            slow_device: None,
            sessions: vec![1],
            arms: arms(),
            charts: vec![
                Metric::Rows,
                Metric::WaitCount("LATCH_EX".to_owned()),
                Metric::spins("LATCH_SPIN_STATS"),
                Metric::LogMegabytes,
            ],
        }],
        claims: claims(),
    }
}
