//! The experiment on tables in memory: singleton inserts into an ordinary table, and into in-memory ones with and without a log.

use super::catalog::{claim, few_cpus, lines, published};
use super::plan::{Arm, Claim, Expect, Machine, Metric, Needs, Panel, Plan};
use super::pressure::{POINTS, Pressure};
use crate::profile::Area;
use crate::stress::{Durability, TableKind, Workload};

/// Panels.
const DELAYED: usize = 0;
const FULL: usize = 1;

/// Arms of both: a kind of table under a set of policies.
const DISK_CLASSIC: usize = 0;
const MEMORY_CLASSIC: usize = 1;
const SCHEMA_ONLY_CLASSIC: usize = 2;
const DISK_BEST: usize = 3;
const MEMORY_BEST: usize = 4;
const SCHEMA_ONLY_BEST: usize = 5;

/// Sessions that overcommit every small machine.
const SESSIONS_MOST: usize = 32;
/// Bytes of log a row that are none of the rows': what the system logs beside them.
const LOG_OF_OTHERS: f64 = 1.0;

/// An arm's name for a kind of table.
fn kind_words(kind: TableKind) -> &'static str {
    match kind {
        TableKind::Disk => "ordinary table",
        TableKind::Memory => "SCHEMA_AND_DATA",
        TableKind::SchemaOnly => "SCHEMA_ONLY",
    }
}

/// The kinds under the classic policies, then under the best ones.
fn arms() -> Vec<Arm> {
    let arm = |set: &'static str| {
        move |kind: TableKind| {
            let name = format!("{}, {set}", kind_words(kind));
            Arm::new(name).policies(&[("POLICIES", &set.to_ascii_uppercase())]).table(kind)
        }
    };
    TableKind::ALL.map(arm("classic")).into_iter().chain(TableKind::ALL.map(arm("best"))).collect()
}

/// The study's open question, once for each in-memory kind and set of policies. Nothing waits for the log of a SCHEMA_ONLY table,
/// so the panel of full durability asks about durable ones.
fn questions(machine: &Machine) -> Vec<Pressure> {
    let ask = |panel, from, to, what: &str| {
        let text = format!("A row that costs less by itself presses harder on a later point: {what}");
        Pressure { text, published: Some("an open question"), panel, from, to, cannot: None }
            .needs(machine, Needs::Cpus(2))
    };
    vec![
        ask(DELAYED, DISK_CLASSIC, SCHEMA_ONLY_CLASSIC, "SCHEMA_ONLY, classic policies, delayed durability"),
        ask(DELAYED, DISK_CLASSIC, MEMORY_CLASSIC, "SCHEMA_AND_DATA, classic policies, delayed durability"),
        ask(FULL, DISK_CLASSIC, MEMORY_CLASSIC, "SCHEMA_AND_DATA, classic policies, full durability"),
        ask(DELAYED, DISK_BEST, SCHEMA_ONLY_BEST, "SCHEMA_ONLY, best policies, delayed durability"),
        ask(DELAYED, DISK_BEST, MEMORY_BEST, "SCHEMA_AND_DATA, best policies, delayed durability"),
        ask(FULL, DISK_BEST, MEMORY_BEST, "SCHEMA_AND_DATA, best policies, full durability"),
    ]
}

fn claims() -> Vec<Claim> {
    let language = || Metric::share(Area::TSql);
    vec![
        published(
            "A row of a durable in-memory table takes fewer bytes of log than one of an ordinary table",
            "one record a transaction, at commit, without undo",
            DELAYED,
            (DISK_BEST, MEMORY_BEST),
            Metric::LogBytes,
            Expect::Lower,
        ),
        claim(
            "A row of a SCHEMA_ONLY table takes no log",
            DELAYED,
            (SCHEMA_ONLY_BEST, SCHEMA_ONLY_BEST),
            Metric::LogBytes,
            Expect::Below(LOG_OF_OTHERS),
        ),
        claim(
            "SCHEMA_ONLY makes more inserts a second, classic policies",
            DELAYED,
            (DISK_CLASSIC, SCHEMA_ONLY_CLASSIC),
            Metric::Rows,
            Expect::Higher,
        ),
        claim(
            "SCHEMA_ONLY makes more inserts a second, best policies",
            DELAYED,
            (DISK_BEST, SCHEMA_ONLY_BEST),
            Metric::Rows,
            Expect::Higher,
        ),
        claim(
            "A durable in-memory table makes more inserts a second, best policies",
            DELAYED,
            (DISK_BEST, MEMORY_BEST),
            Metric::Rows,
            Expect::Higher,
        ),
        claim(
            "A row of a SCHEMA_ONLY table takes less CPU, best policies",
            DELAYED,
            (DISK_BEST, SCHEMA_ONLY_BEST),
            Metric::CpuMicroseconds,
            Expect::Lower,
        ),
        claim(
            "Language processing is a larger share of the CPU with SCHEMA_ONLY, best policies",
            DELAYED,
            (DISK_BEST, SCHEMA_ONLY_BEST),
            language(),
            Expect::Higher,
        ),
    ]
}

/// The runs, claims and questions; the same on every machine but for the numbers of sessions.
pub(super) fn plan(machine: &Machine) -> Plan {
    let mut sessions = vec![1, machine.cpus.len().max(1), SESSIONS_MOST];
    sessions.sort_unstable();
    sessions.dedup();
    let mut charts = vec![
        Metric::Rows,
        Metric::LogBytes,
        Metric::CpuMicroseconds,
        Metric::share(Area::TSql),
        Metric::StatementMicroseconds,
    ];
    charts.extend(POINTS.iter().map(|point| point.metric()));
    let panel = |title: &str, durability| Panel {
        title: title.to_owned(),
        workload: Workload::SingletonInsert,
        durability,
        slow_device: None,
        sessions: sessions.clone(),
        arms: arms(),
        charts: charts.clone(),
    };
    let mut cannot = few_cpus(machine, "the 40 of the published figures");
    cannot.push(
        "natively compiled procedures are not in this version: the loop of every arm is interpreted T-SQL".to_owned(),
    );
    Plan {
        shows: lines(&[
            "the same loop of singleton inserts into three kinds of table, under the classic and the best policies: rates, bytes of log, CPU, and the points where sessions take turns beside each other",
        ]),
        cannot,
        refused: None,
        panels: vec![panel("delayed durability", Durability::Delayed), panel("full durability", Durability::Full)],
        claims: claims(),
        questions: questions(machine),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pikepole_embedded::SystemFiles;
    use pikepole_machine::Shape;

    fn plan_of(shape: &Shape) -> Plan {
        plan(&Machine::read(&SystemFiles::of_shape(shape)).expect("a machine"))
    }

    #[test]
    fn arms_are_three_kinds_under_two_sets() {
        let plan = plan_of(&Shape::new(1, 1, 2, 1));
        for panel in &plan.panels {
            assert_eq!(panel.sessions, [1, 2, 32]);
            let names: Vec<&str> = panel.arms.iter().map(|arm| arm.name.as_str()).collect();
            assert_eq!(names[DISK_CLASSIC], "ordinary table, classic");
            assert_eq!(names[MEMORY_CLASSIC], "SCHEMA_AND_DATA, classic");
            assert_eq!(names[SCHEMA_ONLY_CLASSIC], "SCHEMA_ONLY, classic");
            assert_eq!(names[DISK_BEST..], ["ordinary table, best", "SCHEMA_AND_DATA, best", "SCHEMA_ONLY, best"]);
            let settings = panel.arms[SCHEMA_ONLY_BEST].settings();
            assert_eq!(settings, ["POLICIES = BEST", "MEMORY_OPTIMIZED = ON, DURABILITY = SCHEMA_ONLY"]);
        }
    }

    #[test]
    fn questions_compare_kinds_under_one_set_of_policies() {
        for shape in [Shape::new(1, 1, 1, 1), Shape::new(2, 1, 10, 2)] {
            let plan = plan_of(&shape);
            assert!(!plan.questions.is_empty());
            for question in &plan.questions {
                let arms = &plan.panels[question.panel].arms;
                let (from, to) = (&arms[question.from], &arms[question.to]);
                assert_eq!((from.table, &from.policies), (TableKind::Disk, &to.policies), "{}", question.text);
                assert!(to.table.asks_for_memory() && question.text.contains(kind_words(to.table)));
                assert_eq!(question.cannot.is_some(), shape == Shape::new(1, 1, 1, 1), "one CPU has no turns to take");
            }
        }
        assert_eq!(plan_of(&Shape::new(1, 1, 32, 1)).panels[0].sessions, [1, 32]);
    }
}
