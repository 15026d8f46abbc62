//! The page of an outcome that is made up.

use super::*;
use crate::experiment::{ArmRecord, Cell, Environment, Metric, Settings, Verdict};
use crate::stress::{Sample, SpinlockRow};

fn run(rate: f64) -> RunRecord {
    let sample = |seconds: f64| Sample {
        seconds,
        rows: (seconds * rate) as u64,
        cpu_seconds: 2.0 * seconds,
        ..Sample::default()
    };
    RunRecord {
        rows: rate as u64,
        seconds: 1.0,
        rows_per_second: rate,
        log_bytes: 100,
        log_bytes_written: 4096,
        flushes: 1,
        pool: crate::stress::PoolCounters::default(),
        scan_seconds: None,
        start_seconds: Some(0.1),
        large_page_bytes: 0,
        refused_memory: Vec::new(),
        cpu_seconds: 2.0,
        other_cpu_percent: Some(1.0),
        noisy: rate > 1e6,
        policies: std::collections::BTreeMap::new(),
        waits: Vec::new(),
        latches: Vec::new(),
        spinlocks: vec![SpinlockRow {
            name: "XDESMGR".to_owned(),
            collisions: 3,
            spins: 9,
            spins_per_collision: 3.0,
            sleep_time: 0,
            backoffs: 1,
        }],
        series: [0.0, 0.5, 1.0].map(sample).to_vec(),
        samples: std::collections::BTreeMap::new(),
    }
}

fn outcome() -> Outcome {
    let cell = |arm, sessions, rates: [f64; 3]| Cell { arm, sessions, runs: rates.map(run).to_vec(), profile: None };
    let arm = |name: &str| ArmRecord {
        name: name.to_owned(),
        settings: vec!["A = <B>".to_owned()],
        cpus: None,
        twin_of: None,
    };
    Outcome {
        format: 1,
        experiment: "affinity".to_owned(),
        title: "A title".to_owned(),
        question: "Is 1 < 2?".to_owned(),
        published: vec!["x 2".to_owned()],
        shows: vec!["something".to_owned()],
        cannot: vec!["2 are not 40".to_owned()],
        settings: Settings { seconds: 1.0, warmup_seconds: 0.2, repeats: 3 },
        environment: Environment {
            processor: "A processor".to_owned(),
            machine: "2 CPUs".to_owned(),
            memory_bytes: 1 << 34,
            kernel: "6.1".to_owned(),
            transparent_pages: "madvise".to_owned(),
            durable_writes_per_second: Some(8_000.0),
            version: "pikepole".to_owned(),
        },
        panels: vec![PanelRecord {
            title: "A panel".to_owned(),
            workload: "singleton-insert".to_owned(),
            durability: "FULL".to_owned(),
            device: String::new(),
            tsql: vec!["SELECT '</script>'".to_owned()],
            sessions: vec![1, 8],
            arms: vec![arm("one"), arm("two & more")],
            charts: vec![Metric::Rows, Metric::spins("XDESMGR")],
            cells: vec![
                cell(0, 1, [100.0, 110.0, 120.0]),
                cell(1, 1, [200.0, 210.0, 220.0]),
                cell(0, 8, [400.0, 410.0, 420.0]),
                cell(1, 8, [800.0, 810.0, 820.0]),
            ],
        }],
        claims: vec![ClaimRecord {
            text: "Two is more".to_owned(),
            published: Some("x 2".to_owned()),
            verdict: Verdict::Seen,
            words: "8 sessions: 410 against 810".to_owned(),
        }],
        complete: true,
        started: 1,
        took_seconds: 2.0,
    }
}

#[test]
fn the_page_has_charts_tables_verdicts_and_its_own_figures() {
    let outcome = outcome();
    let page = page(&outcome);
    // Two charts of the panel, four over time, and two marks of the legend.
    assert_eq!(page.matches("<svg").count(), 2 + 4 + 2);
    assert_eq!(page.matches("<figure>").count(), 6);
    assert!(page.contains("<td class='n'>810 <small>&plusmn;1%</small></td>"), "the median with half its range");
    assert!(page.contains("claim Seen") && page.contains("Is 1 &lt; 2?") && page.contains("two &amp; more"));
    assert!(page.contains("A = &lt;B&gt;") && page.contains("It cannot: 2 are not 40."));
    assert!(!page.contains("http://") && !page.contains("https://"), "it needs nothing but itself");
    let json = page.split("id='outcome'>").nth(1).and_then(|rest| rest.split("</script>").next()).expect("the JSON");
    let read: Outcome = serde_json::from_str(json).expect("an outcome");
    assert_eq!(read, outcome, "the raw figures are in the page");
    for tag in ["table", "div", "details", "figure", "svg", "main"] {
        let opened = page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
        assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{tag}");
    }
}

#[test]
fn rates_over_time_are_between_samples_of_the_run() {
    let sample = |seconds: f64, rows| Sample { seconds, rows, ..Sample::default() };
    let mut run = run(100.0);
    // One sample too close to the one before it, one behind the run's end.
    run.series = vec![sample(0.0, 0), sample(0.5, 50), sample(0.51, 90), sample(1.0, 100), sample(1.4, 100)];
    assert_eq!(points(&run, SERIES[0].1), [(0.25, 100.0), (0.75, 100.0)]);
    run.series.clear();
    assert!(points(&run, SERIES[0].1).is_empty());
}

#[test]
fn what_is_wrong_with_the_runs_is_told() {
    let mut outcome = outcome();
    assert!(!page(&outcome).contains("class='warn'") && !summary(&outcome).contains("quote"));
    outcome.complete = false;
    outcome.panels[0].cells[0].runs[0] = run(2e6);
    let page = page(&outcome);
    assert!(page.contains("Stopped before its end") && page.contains("in 1 of 12 runs"));
    let index = index(std::slice::from_ref(&outcome));
    assert!(index.contains("Stopped before its end") && index.contains("in 1 of 12 runs"), "{index}");
    let text = summary(&outcome);
    assert!(text.contains("[seen] Two is more\n    published: x 2\n    8 sessions"), "{text}");
    assert!(text.contains("in 1 of 12 runs") && text.contains("stopped before its end"), "{text}");
}

#[test]
fn an_outcome_without_runs_is_a_page_all_the_same() {
    let mut outcome = outcome();
    outcome.panels[0].cells.clear();
    let page = page(&outcome);
    assert!(!page.contains("NaN") && page.contains("A panel"));
    let index = index(&[outcome]);
    assert!(index.contains("href='affinity.html'") && index.contains("Two is more"));
}
