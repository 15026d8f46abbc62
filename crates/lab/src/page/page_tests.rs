//! The page of an outcome that is made up.

use super::*;
use crate::experiment::{ArmRecord, Cell, Environment, Metric, PanelRecord, RunRecord, Settings, Verdict};
use crate::stress::{Sample, SpinlockRow};

pub(super) fn run(rate: f64) -> RunRecord {
    let sample = |seconds: f64| Sample {
        seconds,
        rows: (seconds * rate) as u64,
        cpu_seconds: 2.0 * seconds,
        ..Sample::default()
    };
    RunRecord {
        rows: rate as u64,
        table: None,
        memory_optimized: None,
        conflicts: 0,
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

pub(crate) fn outcome() -> Outcome {
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
            ratio: Some(1.98),
            reason: None,
            prediction: None,
        }],
        answers: Vec::new(),
        complete: true,
        started: 1,
        took_seconds: 2.0,
    }
}

#[test]
fn the_page_has_charts_tables_verdicts_and_its_own_figures() {
    let outcome = outcome();
    let page = page(&outcome);
    // Two charts of the panel and one of back-offs, four over time, two marks of the legend, and the picture of the way.
    assert_eq!(page.matches("<svg").count(), 3 + 4 + 2 + 1);
    assert_eq!(page.matches("<figure>").count(), 7);
    assert!(page.contains("<figcaption><a class='term' href='#term-xdesmgr'>XDESMGR</a>"), "back-offs are drawn");
    let zero = page.split("0 in every run: ").nth(1).and_then(|rest| rest.split("</p>").next()).expect("a line");
    assert!(
        zero.contains("LOGCACHE_ACCESS</a>") && zero.contains("LOGFLUSHQ</a>") && !zero.contains("XDESMGR"),
        "{zero}"
    );
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

/// A page of the experiment on the log writer's core, whose published figures are known.
fn affinity() -> Outcome {
    let mut outcome = outcome();
    outcome.panels[0].title = "classic policies".to_owned();
    for (arm, name) in outcome.panels[0].arms.iter_mut().zip(["all CPUs", "log writer's core apart"]) {
        arm.name = name.to_owned();
    }
    outcome
}

#[test]
fn published_points_stand_beside_ours_with_both_steps() {
    let page = page(&affinity());
    assert_eq!(page.matches("class='hollow'").count(), 2, "of rates; there is no profile for the others");
    assert!(page.contains(">186,915</text>") && page.contains(">436,781</text>"), "{page}");
    let said = "From all CPUs to log writer&#39;s core apart: x 1.98 here with 8 sessions, x 2.34 as published.";
    assert!(page.contains(said), "{page}");
    let mut none = affinity();
    none.panels[0].cells.clear();
    assert!(!super::page(&none).contains("NaN"));
}

#[test]
fn a_reader_who_has_not_read_the_studies_finds_result_picture_words_and_sources() {
    let outcome = affinity();
    let (page, index) = (page(&outcome), index(std::slice::from_ref(&outcome), None));
    for shown in [&page, &index] {
        let result = shown.split("<b>Result</b> ").nth(1).and_then(|rest| rest.split("</p>").next());
        assert_eq!(result, Some("Two is more: seen (x 1.98 here, published: x 2)."));
        for phrase in ["An insert&#39;s way to the disk", "<svg class='way'", "Words on this page", "Published sources"]
        {
            assert!(shown.contains(phrase), "{phrase}");
        }
        // Every word that is linked is explained on the same page.
        for link in shown.split("href='#").skip(1) {
            let id = link.split('\'').next().expect("an end");
            assert!(shown.contains(&format!("id='{id}'")), "{id}");
        }
    }
    assert!(page.contains("href='index.html#claim-1'") && index.contains("<tr id='claim-1'>"));
    // Settings that no point of the picture knows switch none.
    assert!(page.contains("The arms below differ in none of these points."));
    let mut other = outcome;
    other.panels[0].arms[1].settings = vec!["TRANSACTION_IDS = SPINLOCK".to_owned()];
    let page = super::page(&other);
    assert!(
        page.contains("The arms below differ at: XDESMGR.") && page.contains("<g class='point switched'>"),
        "{page}"
    );
}

#[test]
fn what_is_wrong_with_the_runs_is_told() {
    let mut outcome = outcome();
    assert!(!page(&outcome).contains("class='warn'") && !summary(&outcome).contains("quote"));
    outcome.complete = false;
    outcome.panels[0].cells[0].runs[0] = run(2e6);
    let page = page(&outcome);
    assert!(page.contains("Stopped before its end") && page.contains("in 1 of 12 runs"));
    let index = index(std::slice::from_ref(&outcome), None);
    assert!(index.contains("Stopped before its end") && index.contains("in 1 of 12 runs"), "{index}");
    let text = summary(&outcome);
    assert!(text.contains("\n\nTwo is more: seen (x 1.98 here, published: x 2).\n\n"), "{text}");
    assert!(text.contains("[seen] Two is more\n    published: x 2\n    8 sessions"), "{text}");
    assert!(text.contains("in 1 of 12 runs") && text.contains("stopped before its end"), "{text}");
}

#[test]
fn answers_stand_before_the_verdicts() {
    let mut outcome = outcome();
    let heading = "press harder on a later point?</h3>";
    assert!(!page(&outcome).contains(heading));
    outcome.answers = vec!["A: yes. XDESMGR 1 to 2.".to_owned(), "B: no.".to_owned()];
    let page = page(&outcome);
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("no {text}"));
    assert!(at(heading) < at("<li>B: no.</li>") && at("<li>B: no.</li>") < at("<h2>Verdicts</h2>"));
    let text = summary(&outcome);
    assert!(text.contains("\n- A: yes. XDESMGR 1 to 2.\n- B: no.\n\n[seen] Two is more"), "{text}");
}

#[test]
fn figures_of_profiles_have_no_column_without_one() {
    let mut outcome = outcome();
    outcome.panels[0].charts.push(Metric::share(crate::profile::Area::TSql));
    assert!(!page(&outcome).contains("T-SQL, % of samples"));
    outcome.panels[0].cells[0].runs[0].samples.insert("T-SQL".to_owned(), 1);
    assert!(page(&outcome).contains(">T-SQL, % of samples</th>"));
}

#[test]
fn predictions_stand_beside_the_verdicts_and_in_the_table() {
    let mut outcome = outcome();
    outcome.claims[0].text = "XDESMGR spins rise: the next bottleneck".to_owned();
    outcome.claims[0].verdict = Verdict::CannotBeJudged;
    let predictions = crate::predict::example_predictions(false);
    crate::experiment::predict_outcome(&mut outcome, &predictions);
    let page = page(&outcome);
    assert!(
        page.contains("<b>cannot be judged here</b><b class='PredictedOtherwise'>predicted otherwise</b>"),
        "{page}"
    );
    assert!(summary(&outcome).contains("    [predicted otherwise] an example: XDESMGR spins a row"));
    let index = index(std::slice::from_ref(&outcome), Some(&predictions));
    assert!(index.contains("<td>cannot be judged here; predicted otherwise</td>"), "{index}");
    assert!(index.contains("<td>predicted otherwise: 1.50 to 2.50</td>") && index.contains("Predictions: an example."));
}

#[test]
fn an_outcome_without_runs_is_a_page_all_the_same() {
    let mut outcome = outcome();
    outcome.panels[0].cells.clear();
    let page = page(&outcome);
    assert!(!page.contains("NaN") && page.contains("A panel"));
    let index = index(&[outcome], None);
    assert!(index.contains("href='affinity.html'") && index.contains("Two is more"));
}
