//! The experiment on what a parallel insert pays for being parallel, and what minimal logging takes off.

use super::catalog::{claim, few_cpus, lines, published};
use super::plan::{Arm, Claim, Expect, Machine, Metric, Needs, Panel, Plan};
use crate::show::grouped;
use crate::stress::{Durability, PARALLEL_INSERT_MAXDOP, Workload};

const PARALLEL: usize = 0;
const SERIAL: usize = 1;
const PARALLEL_MINIMAL: usize = 2;
const SERIAL_MINIMAL: usize = 3;

/// The published latch: a parallel plan's, which a serial one has no need of.
const LATCH: &str = "NESTING_TRANSACTION_FULL";
/// Rows of a statement for each CPU, at the most: a statement is to take some tenths of a second.
const ROWS_A_CPU: u64 = 2 << 20;

fn arm(name: &str, rows: u64, maxdop: u32, minimal_logging: bool) -> Arm {
    Arm::new(name).policies(&[("NESTED_TRANSACTIONS", "FAIR_LATCH")]).workload(Workload::ParallelInsert {
        rows,
        maxdop,
        minimal_logging,
    })
}

fn claims(machine: &Machine) -> Vec<Claim> {
    let latch = || Metric::LatchWaits(LATCH.to_owned());
    let pressure = "lowers the pressure";
    vec![
        published(
            "A serial insert never waits for the latch of nested transactions",
            "never needs this latch",
            0,
            (SERIAL, SERIAL),
            latch(),
            Expect::Below(0.001),
        ),
        published(
            "The workers of a parallel insert wait for it",
            "271,609 waits",
            0,
            (SERIAL, PARALLEL),
            latch(),
            Expect::Higher,
        )
        .needs(machine, Needs::Cpus(2)),
        published(
            "With minimal logging they wait less for it",
            pressure,
            0,
            (PARALLEL, PARALLEL_MINIMAL),
            latch(),
            Expect::Lower,
        )
        .needs(machine, Needs::Cpus(2)),
        published(
            "Minimal logging writes fewer bytes of log a row, parallel",
            pressure,
            0,
            (PARALLEL, PARALLEL_MINIMAL),
            Metric::LogBytes,
            Expect::Lower,
        ),
        claim(
            "Minimal logging writes fewer bytes of log a row, serial",
            0,
            (SERIAL, SERIAL_MINIMAL),
            Metric::LogBytes,
            Expect::Lower,
        ),
        claim("A parallel insert is quicker than a serial one", 0, (SERIAL, PARALLEL), Metric::Rows, Expect::Higher)
            .needs(machine, Needs::Cpus(2)),
    ]
}

/// The runs and claims; the same on every machine but for the number of rows.
pub(super) fn plan(machine: &Machine) -> Plan {
    let rows = machine.insert_rows.min(ROWS_A_CPU * machine.cpus.len().max(1) as u64);
    let maxdop = PARALLEL_INSERT_MAXDOP;
    Plan {
        shows: lines(&[&format!(
            "the waits for the latch, the rates and the bytes of log a row of the published statement by one worker and by {maxdop}, under FULL and under SIMPLE recovery; {} rows, one statement after the other",
            grouped(rows)
        )]),
        cannot: few_cpus(machine, "the published 12 threads"),
        refused: None,
        questions: Vec::new(),
        panels: vec![Panel {
            title: "one INSERT ... SELECT after the other, a fair latch".to_owned(),
            workload: Workload::ParallelInsert { rows, maxdop, minimal_logging: false },
            durability: Durability::Full,
            slow_device: None,
            sessions: vec![1],
            arms: vec![
                arm("parallel, FULL", rows, maxdop, false),
                arm("serial, FULL", rows, 1, false),
                arm("parallel, SIMPLE", rows, maxdop, true),
                arm("serial, SIMPLE", rows, 1, true),
            ],
            charts: vec![Metric::Rows, Metric::LatchWaits(LATCH.to_owned()), Metric::LogBytes, Metric::CpuMicroseconds],
        }],
        claims: claims(machine),
    }
}
