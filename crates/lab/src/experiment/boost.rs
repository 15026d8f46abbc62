//! The experiment on the classic rule of the runnable queue, and the convoy that it is said to shorten.

use super::catalog::{claim, few_cpus, lines, published};
use super::plan::{Arm, Claim, Expect, Machine, Metric, Panel, Plan};
use crate::stress::{Durability, PARALLEL_INSERT_MAXDOP, Workload};

/// Arms of both panels.
const ORDER: usize = 0;
const BOOST: usize = 1;
/// A further arm of the second panel.
const BOOST_UNFAIR: usize = 2;

/// Rows of a parallel statement for each CPU, at the most.
const ROWS_A_CPU: u64 = 2 << 20;
/// Boosts for a thousand rows that are none: a stray task's.
const NONE: f64 = 0.001;

fn arm(name: &str, policies: &[(&str, &str)], rule: &str) -> Arm {
    Arm::new(name).policies(policies).policies(&[("SIGNALLED_FIRST", rule)])
}

fn claims() -> Vec<Claim> {
    let signal = |name: &str| Metric::SignalWait(name.to_owned());
    vec![
        published(
            "Sessions that the log writer signals are boosted",
            "to the head of the queue, up to 1,000 times in a row",
            0,
            (ORDER, BOOST),
            Metric::Boosts,
            Expect::Higher,
        ),
        claim("In order none is", 0, (ORDER, ORDER), Metric::Boosts, Expect::Below(NONE)),
        claim(
            "The rule costs no inserts against the order of signals",
            0,
            (ORDER, BOOST),
            Metric::Rows,
            Expect::NotLower,
        ),
        claim(
            "A session that is boosted runs sooner after its signal",
            0,
            (ORDER, BOOST),
            signal("WRITELOG"),
            Expect::Lower,
        ),
        claim(
            "In the convoy at a fair latch, a worker that is boosted runs sooner after its signal",
            1,
            (ORDER, BOOST),
            signal("LATCH_EX"),
            Expect::Lower,
        ),
        published(
            "The boost does not end the convoy: an unfair latch still brings more rows",
            "x 1.22",
            1,
            (BOOST, BOOST_UNFAIR),
            Metric::Rows,
            Expect::Higher,
        ),
        published(
            "It is the latch's hand-over that makes the convoy: an unfair latch has far fewer waits",
            "271,458 against 56",
            1,
            (BOOST, BOOST_UNFAIR),
            Metric::WaitCount("LATCH_EX".to_owned()),
            Expect::Lower,
        ),
    ]
}

/// The runs and claims; the same on every machine but for the number of rows.
pub(super) fn plan(machine: &Machine) -> Plan {
    let classic = [("POLICIES", "CLASSIC")];
    let (fair, unfair) = ([("NESTED_TRANSACTIONS", "FAIR_LATCH")], [("NESTED_TRANSACTIONS", "UNFAIR_LATCH")]);
    let rows = machine.insert_rows.min(ROWS_A_CPU * machine.cpus.len().max(1) as u64);
    Plan {
        shows: lines(&[
            "how often sessions are boosted, how long signalled tasks wait for their turn, and the rates, under both rules: for sessions that the log writer signals, and for workers that queue up at a fair latch",
        ]),
        cannot: few_cpus(machine, "the published 12 threads"),
        refused: None,
        questions: Vec::new(),
        panels: vec![
            Panel {
                title: "sessions signalled by the log writer, classic policies".to_owned(),
                workload: Workload::SingletonInsert,
                durability: Durability::Full,
                slow_device: None,
                sessions: vec![4, 16, 32],
                arms: vec![arm("in order", &classic, "IN_ORDER"), arm("boost", &classic, "BOOST_1000")],
                charts: vec![Metric::Rows, Metric::Boosts, Metric::SignalWait("WRITELOG".to_owned())],
            },
            Panel {
                title: "workers of one INSERT ... SELECT, MAXDOP 11".to_owned(),
                workload: Workload::ParallelInsert { rows, maxdop: PARALLEL_INSERT_MAXDOP, minimal_logging: false },
                durability: Durability::Full,
                slow_device: None,
                sessions: vec![1],
                arms: vec![
                    arm("fair latch, in order", &fair, "IN_ORDER"),
                    arm("fair latch, boost", &fair, "BOOST_1000"),
                    arm("unfair latch, boost", &unfair, "BOOST_1000"),
                ],
                charts: vec![
                    Metric::Rows,
                    Metric::WaitCount("LATCH_EX".to_owned()),
                    Metric::SignalWait("LATCH_EX".to_owned()),
                ],
            },
        ],
        claims: claims(),
    }
}
