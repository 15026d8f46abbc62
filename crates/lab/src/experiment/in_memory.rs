//! The experiment on tables in memory: singleton inserts into an ordinary table, and into in-memory ones with and without a log.

use super::catalog::{claim, few_cpus, lines, published};
use super::plan::{Arm, Claim, Expect, Machine, Metric, Needs, Panel, Plan};
use super::pressure::{POINTS, Pressure};
use crate::profile::Area;
use crate::stress::{Durability, NativeCalls, TableKind, Workload};

/// Panels.
const DELAYED: usize = 0;
const FULL: usize = 1;

/// Arms of both panels: the kinds of table, each by an interpreted and then by a natively compiled procedure, under the classic policies and
/// then under the best ones.
const DISK: usize = 0;
const DISK_NATIVE: usize = 1;
const MEMORY: usize = 2;
const MEMORY_NATIVE: usize = 3;
const SCHEMA_ONLY: usize = 4;
const SCHEMA_ONLY_NATIVE: usize = 5;
const CLASSIC: usize = 0;
const BEST: usize = 6;
/// Behind these, with delayed durability alone: what commits the most, with times by the machine's clock.
const CLOCK: usize = 12;

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

/// See [`DISK`].
fn arms() -> Vec<Arm> {
    let arm = |set: &'static str, kind: TableKind, native: bool| {
        let words = kind_words(kind);
        let name = if native { format!("{words}, native procedure, {set}") } else { format!("{words}, {set}") };
        let arm = Arm::new(name).policies(&[("POLICIES", &set.to_ascii_uppercase())]).table(kind);
        if native { arm.workload(Workload::NativeInsert(NativeCalls::Row)) } else { arm }
    };
    let of_set =
        |set| TableKind::ALL.into_iter().flat_map(move |kind| [false, true].map(|native| arm(set, kind, native)));
    of_set("classic").chain(of_set("best")).collect()
}

/// See [`CLOCK`].
fn clock_arm() -> Arm {
    Arm::new("SCHEMA_ONLY, native procedure, best, times by the clock")
        .policies(&[("POLICIES", "BEST"), ("XTP_TIMESTAMPS", "CLOCK")])
        .table(TableKind::SchemaOnly)
        .workload(Workload::NativeInsert(NativeCalls::Row))
}

/// The study's open question, once for each in-memory kind, procedure and set of policies. Nothing waits for the log of a SCHEMA_ONLY table,
/// so the panel of full durability asks about durable ones.
fn questions(machine: &Machine) -> Vec<Pressure> {
    let ask = |panel, set: usize, to: usize| {
        let words = match to {
            MEMORY => "SCHEMA_AND_DATA",
            MEMORY_NATIVE => "SCHEMA_AND_DATA by a native procedure",
            SCHEMA_ONLY => "SCHEMA_ONLY",
            _ => "SCHEMA_ONLY by a native procedure",
        };
        let policies = if set == CLASSIC { "classic" } else { "best" };
        let durability = if panel == DELAYED { "delayed" } else { "full" };
        let what = format!("{words}, {policies} policies, {durability} durability");
        let text = format!("A row that costs less by itself presses harder on a later point: {what}");
        let (from, to) = (set + DISK, set + to);
        Pressure { text, published: Some("an open question"), panel, from, to, cannot: None }
            .needs(machine, Needs::Cpus(2))
    };
    let of_set = |set| {
        let delayed = [SCHEMA_ONLY_NATIVE, SCHEMA_ONLY, MEMORY_NATIVE, MEMORY].map(|to| ask(DELAYED, set, to));
        delayed.into_iter().chain([MEMORY_NATIVE, MEMORY].map(|to| ask(FULL, set, to)))
    };
    of_set(CLASSIC).chain(of_set(BEST)).collect()
}

fn claims(machine: &Machine) -> Vec<Claim> {
    let language = || Metric::share(Area::TSql);
    vec![
        published(
            "A row of a durable in-memory table takes fewer bytes of log than one of an ordinary table",
            "one record a transaction, at commit, without undo",
            DELAYED,
            (BEST + DISK, BEST + MEMORY),
            Metric::LogBytes,
            Expect::Lower,
        ),
        claim(
            "A row of a SCHEMA_ONLY table takes no log",
            DELAYED,
            (BEST + SCHEMA_ONLY, BEST + SCHEMA_ONLY),
            Metric::LogBytes,
            Expect::Below(LOG_OF_OTHERS),
        ),
        claim(
            "SCHEMA_ONLY makes more inserts a second, classic policies",
            DELAYED,
            (CLASSIC + DISK, CLASSIC + SCHEMA_ONLY),
            Metric::Rows,
            Expect::Higher,
        ),
        claim(
            "SCHEMA_ONLY makes more inserts a second, best policies",
            DELAYED,
            (BEST + DISK, BEST + SCHEMA_ONLY),
            Metric::Rows,
            Expect::Higher,
        ),
        claim(
            "A durable in-memory table makes more inserts a second, best policies",
            DELAYED,
            (BEST + DISK, BEST + MEMORY),
            Metric::Rows,
            Expect::Higher,
        ),
        claim(
            "A row of a SCHEMA_ONLY table takes less CPU, best policies",
            DELAYED,
            (BEST + DISK, BEST + SCHEMA_ONLY),
            Metric::CpuMicroseconds,
            Expect::Lower,
        ),
        claim(
            "Language processing is a larger share of the CPU with SCHEMA_ONLY, best policies",
            DELAYED,
            (BEST + DISK, BEST + SCHEMA_ONLY),
            language(),
            Expect::Higher,
        ),
        published(
            "Language processing is a smaller share of the CPU with a native procedure, best policies",
            "native procedures against the overhead of language processing: 12.32% of the CPU",
            DELAYED,
            (BEST + MEMORY, BEST + MEMORY_NATIVE),
            language(),
            Expect::Lower,
        ),
        claim(
            "A native procedure makes more inserts a second into a SCHEMA_ONLY table, best policies",
            DELAYED,
            (BEST + SCHEMA_ONLY, BEST + SCHEMA_ONLY_NATIVE),
            Metric::Rows,
            Expect::Higher,
        ),
        claim(
            "A native procedure makes more inserts a second into an ordinary table, best policies",
            DELAYED,
            (BEST + DISK, BEST + DISK_NATIVE),
            Metric::Rows,
            Expect::Higher,
        ),
        claim(
            "Times of commits by the machine's clock make more inserts a second than by one counter, SCHEMA_ONLY by a native procedure",
            DELAYED,
            (BEST + SCHEMA_ONLY_NATIVE, CLOCK),
            Metric::Rows,
            Expect::Higher,
        )
        .needs(machine, Needs::Cpus(2)),
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
    let panel = |title: &str, durability, arms| Panel {
        title: title.to_owned(),
        workload: Workload::SingletonInsert,
        durability,
        slow_device: None,
        sessions: sessions.clone(),
        arms,
        charts: charts.clone(),
    };
    let cannot = few_cpus(machine, "the 40 of the published figures");
    Plan {
        shows: lines(&[
            "the same loop of singleton inserts into three kinds of table, interpreted and by a call of a natively compiled procedure for each row, under the classic and the best policies: rates, bytes of log, CPU, and the points where sessions take turns beside each other",
        ]),
        cannot,
        refused: None,
        panels: vec![
            panel("delayed durability", Durability::Delayed, arms().into_iter().chain([clock_arm()]).collect()),
            panel("full durability", Durability::Full, arms()),
        ],
        claims: claims(machine),
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
    fn arms_are_three_kinds_interpreted_and_native_under_two_sets() {
        let plan = plan_of(&Shape::new(1, 1, 2, 1));
        for panel in &plan.panels {
            assert_eq!(panel.sessions, [1, 2, 32]);
            let name = |at: usize| panel.arms[at].name.as_str();
            assert_eq!(name(CLASSIC + DISK), "ordinary table, classic");
            assert_eq!(name(CLASSIC + DISK_NATIVE), "ordinary table, native procedure, classic");
            assert_eq!(name(CLASSIC + MEMORY), "SCHEMA_AND_DATA, classic");
            assert_eq!(name(BEST + MEMORY_NATIVE), "SCHEMA_AND_DATA, native procedure, best");
            assert_eq!(name(BEST + SCHEMA_ONLY), "SCHEMA_ONLY, best");
            let settings = panel.arms[BEST + SCHEMA_ONLY_NATIVE].settings();
            let kind = "MEMORY_OPTIMIZED = ON, DURABILITY = SCHEMA_ONLY";
            assert_eq!(settings, ["POLICIES = BEST", kind, "a natively compiled procedure for each row"]);
        }
        let [delayed, full] = &plan.panels[..] else { panic!("two panels") };
        assert_eq!((delayed.arms.len(), full.arms.len()), (CLOCK + 1, CLOCK));
        let (counter, clock) = (&delayed.arms[BEST + SCHEMA_ONLY_NATIVE], &delayed.arms[CLOCK]);
        assert_eq!(
            (counter.table, &counter.workload),
            (clock.table, &clock.workload),
            "they differ by the times alone"
        );
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
