//! An experiment at its smallest, on the real engine; nothing here depends on how fast anything is.

use super::*;
use crate::experiment::{Claim, Expect, Metric, Verdict};
use crate::stress::Workload;
use pikepole_contention::sync::{Mutex, MutexGuard};
use pikepole_embedded::SystemFiles;

static ENGINES: Mutex<()> = Mutex::new(());

/// Held by tests that run engines: what one of them has in large pages is the whole process's.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    ENGINES.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn tiny(_: &Machine) -> Plan {
    let arms = vec![Arm::new("defaults"), Arm::new("spinlock").policies(&[("TRANSACTION_IDS", "SPINLOCK")]).flag(9038)];
    let panel = |workload, durability| Panel {
        title: "tiny".to_owned(),
        workload,
        durability,
        slow_device: None,
        sessions: vec![2],
        arms: arms.clone(),
        charts: vec![Metric::Rows],
    };
    let claim = Claim {
        text: "arms differ".to_owned(),
        published: Some("never"),
        panel: 0,
        from: 0,
        to: 1,
        metric: Metric::Rows,
        expect: Expect::Higher,
        cannot: None,
    };
    Plan {
        panels: vec![
            panel(Workload::ExplicitTransactions, Durability::Delayed),
            panel(Workload::HeapInsert, Durability::Full),
        ],
        claims: vec![claim],
        ..Plan::default()
    }
}

static TINY: Experiment =
    Experiment { name: "tiny", title: "Tiny", question: "Does it run?", published: &["nothing"], plan: tiny };

fn options(name: &str, stop: bool) -> Options {
    Options {
        folder: std::env::temp_dir().join(format!("pikepole-experiment-{name}-{}", std::process::id())),
        time: Duration::from_millis(40),
        warmup: Duration::from_millis(5),
        repeats: 1,
        sessions: Some(vec![7]),
        profiler: None,
        stop: Arc::new(AtomicBool::new(stop)),
    }
}

fn machine() -> Machine {
    Machine::read(&SystemFiles::below("/")).expect("a machine")
}

#[test]
fn a_run_is_recorded_judged_and_read_back() {
    let _alone = alone();
    let options = options("run", false);
    let outcome = run(&TINY, &machine(), &options).expect("an outcome");
    assert!(outcome.complete);
    let sessions: Vec<_> = outcome.panels.iter().map(|panel| panel.sessions.clone()).collect();
    assert_eq!(sessions, [[2], [2]], "a panel that sweeps nothing keeps its sessions");
    for panel in &outcome.panels {
        assert_eq!(
            panel.cells.iter().map(|cell| (cell.arm, cell.runs.len())).collect::<Vec<_>>(),
            [(0, 1), (1, 1), (2, 1)]
        );
        for cell in &panel.cells {
            let run = &cell.runs[0];
            assert!(run.rows > 0 && run.series.len() >= 2, "{run:?}");
            assert_eq!(run.series[0].rows, 0);
            let ids = ["ATOMIC_RANGES", "SPINLOCK", "ATOMIC_RANGES"][cell.arm];
            assert_eq!(run.policies["TRANSACTION_IDS"], ids, "the arm's policy is in force");
        }
        assert_eq!(panel.arms[1].settings, ["TRANSACTION_IDS = SPINLOCK", "trace flag 9038"]);
        assert_eq!((panel.arms[2].name.as_str(), panel.arms[2].twin_of), ("defaults, again", Some(0)));
    }
    assert_eq!(outcome.claims[0].verdict, Verdict::Open, "one run concludes nothing: {:?}", outcome.claims);
    assert!(outcome.claims[0].words.contains("one run has no spread"));
    let file = options.folder.join("tiny.json");
    std::fs::write(&file, outcome.to_json()).expect("the file");
    assert_eq!(Outcome::read(&file).expect("the outcome"), outcome);
    std::fs::write(&file, "{}").expect("the file");
    assert!(Outcome::read(&file).expect_err("refused").to_string().contains("no outcome"));
    std::fs::remove_dir_all(&options.folder).expect("the folder goes");
}

#[test]
fn what_is_stopped_keeps_what_is_done() {
    let _alone = alone();
    let options = options("stop", true);
    let outcome = run(&TINY, &machine(), &options).expect("an outcome");
    assert!(!outcome.complete && outcome.panels.iter().all(|panel| panel.cells.is_empty()));
    assert_eq!(outcome.claims[0].verdict, Verdict::Open);
    std::fs::remove_dir_all(&options.folder).expect("the folder goes");
}

#[test]
fn arms_alternate_and_turn_round() {
    let plan = tiny(&machine());
    let order: Vec<_> = steps(&plan, 2).iter().map(|step| (step.panel, step.arm)).collect();
    assert_eq!(order, [(0, 0), (0, 1), (1, 0), (1, 1), (0, 1), (0, 0), (1, 1), (1, 0)]);
}

/// The arms of the parallel insert at its smallest: each run's policy, trace flag and way of logging are in force.
#[test]
fn parallel_inserts_are_counted_whatever_way_they_are_logged() {
    let _alone = alone();
    let options = Options { warmup: Duration::ZERO, ..options("parallel", false) };
    let machine = Machine { insert_rows: 200_000, ..machine() };
    let experiment = crate::experiment::find("parallel-insert").expect("an experiment");
    let outcome = run(experiment, &machine, &options).expect("an outcome");
    let panel = &outcome.panels[0];
    let runs: Vec<&RunRecord> = panel.cells.iter().map(|cell| &cell.runs[0]).collect();
    let nested: Vec<&str> = runs.iter().map(|run| run.policies["NESTED_TRANSACTIONS"].as_str()).collect();
    assert_eq!(nested, ["FAIR_LATCH", "FAIR_LATCH", "UNFAIR_LATCH", "PRIVATE", "PRIVATE", "FAIR_LATCH"]);
    assert!(runs.iter().all(|run| run.rows > 0 && run.rows % 200_000 == 0), "whole statements");
    assert!(runs[3].log_bytes / runs[3].rows >= 10, "every row is logged");
    assert!(runs[4].log_bytes / runs[4].rows < 10, "only the use of pages is: {} bytes", runs[4].log_bytes);
    let settings = &panel.arms[4].settings;
    assert_eq!(settings.last().map(String::as_str), Some("SIMPLE recovery, MAXDOP 11"));
    assert!(panel.tsql.last().is_some_and(|text| text.contains("INSERT INTO dbo.parallel_insert WITH (TABLOCK) (id")));
    std::fs::remove_dir_all(&options.folder).expect("the folder goes");
}

/// Scans of a small table: made once, in memory in every run, each run in the pages that its arm asks for.
#[test]
fn scans_find_their_table_in_the_pages_of_their_arm() {
    let _alone = alone();
    const TABLE_BYTES: u64 = 8 << 20;
    let options = Options { repeats: 2, sessions: Some(vec![1, 2]), ..options("scan", false) };
    let machine = Machine { table_bytes: TABLE_BYTES, ..machine() };
    let experiment = crate::experiment::find("large-pages").expect("an experiment");
    let outcome = run(experiment, &machine, &options).expect("an outcome");
    assert!(outcome.complete);
    let panel = &outcome.panels[0];
    let (pages, rows) = (TABLE_BYTES >> 13, TABLE_BYTES >> 10);
    for cell in &panel.cells {
        for run in &cell.runs {
            let scans = run.rows / rows;
            assert!(run.rows == scans * rows && scans >= cell.sessions as u64, "whole scans: {}", run.rows);
            // Each page of the heap once a scan; statistics, maps and the catalog are looked up too.
            let lookups = run.pool.lookups as f64 / scans as f64 / pages as f64;
            assert!((1.0..1.5).contains(&lookups), "{lookups} lookups for each page");
            assert!(run.scan_seconds.is_some_and(|seconds| seconds > 0.0) && run.start_seconds > Some(0.0));
            let arm = panel.arms[cell.arm].twin_of.unwrap_or(cell.arm);
            assert_eq!(run.policies["LARGE_PAGES"], ["NONE", "TRANSPARENT", "RESERVED"][arm]);
            let is_always = outcome.environment.transparent_pages == "always";
            match arm {
                // Where large pages are for all, the allocator has some.
                0 => assert!(run.large_page_bytes == 0 || is_always, "{} bytes", run.large_page_bytes),
                1 => {}
                _ => assert!(run.large_page_bytes > 64 << 20 && run.refused_memory.is_empty(), "{run:?}"),
            }
        }
    }
    assert!(panel.tsql.last().is_some_and(|text| text.contains("FROM dbo.scan")));
    assert_eq!(std::fs::read_dir(&options.folder).expect("the folder").count(), 0, "the table is gone");
    let short = Machine { available_memory: Some(1 << 20), ..machine };
    let refused = run_refused(experiment, &short, &options);
    assert!(refused.starts_with("large-pages cannot be run here: a table of 8 MB takes"), "{refused}");
    std::fs::remove_dir_all(&options.folder).expect("the folder goes");
}

/// The kinds of table at their smallest: each arm's table is there, and what the server has made of it is recorded.
#[test]
fn kinds_of_tables_are_made_and_told() {
    let _alone = alone();
    let options = Options { sessions: Some(vec![2]), repeats: 2, ..options("memory", false) };
    let experiment = crate::experiment::find("in-memory").expect("an experiment");
    let outcome = run(experiment, &machine(), &options).expect("an outcome");
    assert!(outcome.complete);
    for panel in &outcome.panels {
        for cell in &panel.cells {
            let arm = panel.arms[cell.arm].twin_of.unwrap_or(cell.arm);
            for run in &cell.runs {
                // The last one has the times of its commits by the clock.
                let (set, kind, times) = if arm == 12 { (1, 2, "CLOCK") } else { (arm / 6, arm / 2 % 3, "ATOMIC") };
                assert_eq!(run.table.as_deref(), Some(["disk", "memory", "schema-only"][kind]));
                assert_eq!(run.policies["TRANSACTION_IDS"], ["SPINLOCK", "ATOMIC_RANGES"][set]);
                assert_eq!(run.policies["XTP_TIMESTAMPS"], times);
                match kind {
                    0 => assert_eq!(run.memory_optimized, Some(false)),
                    1 => assert!(run.memory_optimized.is_some(), "durable ones may be ordinary tables"),
                    _ => assert_eq!((run.memory_optimized, run.log_bytes / run.rows), (Some(true), 0)),
                }
                assert!(run.rows > 0 && run.conflicts == 0, "{run:?}");
            }
        }
        assert_eq!(panel.tsql.iter().filter(|text| text.contains("CREATE TABLE")).count(), 3);
    }
    let is_asked = |text: &str| outcome.claims.iter().filter(|claim| claim.text.starts_with(text)).count();
    assert_eq!((outcome.answers.len(), is_asked("A row that costs less by itself")), (12, 12));
    assert_eq!(is_asked("Language processing is a larger share"), 0, "that takes a profile");
    std::fs::remove_dir_all(&options.folder).expect("the folder goes");
}

fn run_refused(experiment: &'static Experiment, machine: &Machine, options: &Options) -> String {
    run(experiment, machine, options).expect_err("refused").to_string()
}
