//! The experiment on the latch that parallel workers of one statement log under.

use super::catalog::{claim, few_cpus, lines, published};
use super::plan::{Arm, Claim, Expect, Machine, Metric, Panel, Plan};
use crate::show::grouped;
use crate::stress::{Durability, PARALLEL_INSERT_MAXDOP, Workload};

const FAIR: usize = 0;
const FLAG: usize = 1;
const UNFAIR: usize = 2;
const PRIVATE: usize = 3;
const PRIVATE_MINIMAL: usize = 4;

fn workload(rows: u64, minimal_logging: bool) -> Workload {
    Workload::ParallelInsert { rows, maxdop: PARALLEL_INSERT_MAXDOP, minimal_logging }
}

fn arms(rows: u64) -> Vec<Arm> {
    let nested = |name: &str, value: &str| Arm::new(name).policies(&[("NESTED_TRANSACTIONS", value)]);
    vec![
        nested("fair latch", "FAIR_LATCH"),
        nested("fair latch, 3933", "FAIR_LATCH").flag(3933),
        nested("unfair latch", "UNFAIR_LATCH"),
        nested("private chains", "PRIVATE"),
        nested("private chains, minimal logging", "PRIVATE").workload(workload(rows, true)),
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
        shows: lines(&[&format!(
            "the waits, spins and rates of the latch by its kind, of no latch, and of logging only the use of pages; the published statement, of {} rows, one after the other",
            grouped(machine.insert_rows)
        )]),
        cannot: few_cpus(machine, "the published 12 threads"),
        refused: None,
        questions: Vec::new(),
        panels: vec![Panel {
            title: "one INSERT ... SELECT after the other, MAXDOP 11".to_owned(),
            workload: workload(machine.insert_rows, false),
            durability: Durability::Full,
            slow_device: None,
            sessions: vec![1],
            arms: arms(machine.insert_rows),
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
