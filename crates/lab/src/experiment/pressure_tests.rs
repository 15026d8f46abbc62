//! Answers to runs that are made up, one of each outcome.

use super::super::record::{ArmRecord, Cell, RunRecord};
use super::*;
use serde_json::{Value, json};

/// A run of a thousand rows.
#[derive(Clone, Copy)]
struct MadeUp {
    /// Microseconds of CPU a row.
    cpu: f64,
    /// Spins of XDESMGR and of LOGCACHE_ACCESS.
    spins: [i64; 2],
    /// Milliseconds waited under WRITELOG.
    writelog_ms: i64,
    noisy: bool,
    in_memory: bool,
    /// Percent of the samples in the language; the others are back-offs. None without a profile.
    language: Option<u64>,
}

const COSTLY: MadeUp =
    MadeUp { cpu: 3.0, spins: [100, 0], writelog_ms: 2, noisy: false, in_memory: true, language: None };
const CHEAP: MadeUp = MadeUp { cpu: 2.0, ..COSTLY };

fn run(of: MadeUp) -> RunRecord {
    let spinlock = |name: &str, spins: i64| json!({"name": name, "collisions": 1, "spins": spins, "spins_per_collision": 1.0, "sleep_time": 0, "backoffs": 0});
    let wait = json!({"wait_type": "WRITELOG", "waiting_tasks_count": 1, "wait_time_ms": of.writelog_ms,
        "max_wait_time_ms": 1, "signal_wait_time_ms": 0});
    let samples = of.language.map_or(json!({}), |part| json!({"T-SQL": part, "back-off": 100 - part}));
    let run: Result<RunRecord, _> = serde_json::from_value::<RunRecord>(json!({
        "rows": 1000, "seconds": 1.0, "rows_per_second": 1000.0, "log_bytes": 1, "log_bytes_written": 1, "flushes": 1,
        "cpu_seconds": of.cpu / 1000.0, "other_cpu_percent": 1.0, "noisy": of.noisy, "policies": {}, "waits": [wait],
        "latches": [], "series": [], "samples": samples, "table": "memory", "memory_optimized": of.in_memory,
        "spinlocks": [spinlock("XDESMGR", of.spins[0]), spinlock("LOGCACHE_ACCESS", of.spins[1])],
    }));
    run.expect("a run")
}

fn panel(sessions: usize, from: &[MadeUp], to: &[MadeUp]) -> PanelRecord {
    let arm = |name: &str| ArmRecord { name: name.to_owned(), settings: Vec::new(), cpus: None, twin_of: None };
    let cell =
        |arm, runs: &[MadeUp]| Cell { arm, sessions, runs: runs.iter().copied().map(run).collect(), profile: None };
    PanelRecord {
        title: "made up".to_owned(),
        workload: "singleton-insert".to_owned(),
        durability: "DELAYED".to_owned(),
        device: String::new(),
        tsql: Vec::new(),
        sessions: vec![sessions],
        arms: vec![arm("costly"), arm("cheap")],
        charts: Vec::new(),
        cells: vec![cell(0, from), cell(1, to)],
    }
}

fn ask(cannot: Option<&str>) -> Pressure {
    let cannot = cannot.map(str::to_owned);
    Pressure { text: "It presses harder: B".to_owned(), published: None, panel: 0, from: 0, to: 1, cannot }
}

fn judged(from: &[MadeUp], to: &[MadeUp]) -> ClaimRecord {
    ask(None).judge(&[panel(32, from, to)])
}

#[test]
fn a_point_that_grew_is_named_with_its_figures() {
    let found = judged(&[COSTLY; 2], &[MadeUp { spins: [300, 0], ..CHEAP }; 2]);
    assert_eq!(found.verdict, Verdict::Seen, "{}", found.words);
    assert_eq!(
        found.words,
        "32 sessions, CPU, us a row: 3.00 to 2.00; pressed harder: XDESMGR 100 to 300 spins per 1,000 rows"
    );
    let waits = judged(&[COSTLY; 2], &[MadeUp { spins: [90, 40], writelog_ms: 5, ..CHEAP }; 2]);
    assert!(
        waits.words.ends_with(
            "pressed harder: LOGCACHE_ACCESS 0 to 40.0 spins per 1,000 rows; WRITELOG 2.00 to 5.00 us waited a row"
        ),
        "{}",
        waits.words
    );
    assert_eq!(
        sentences(&[found])[0],
        "B: yes. 32 sessions, CPU, us a row: 3.00 to 2.00; pressed harder: XDESMGR 100 to 300 spins per 1,000 rows."
    );
}

#[test]
fn none_that_grew_is_an_answer_too() {
    let found = judged(&[COSTLY; 2], &[MadeUp { spins: [40, 0], ..CHEAP }; 2]);
    assert_eq!((found.verdict, found.reason), (Verdict::NotSeen, None));
    assert_eq!(
        found.words,
        "32 sessions, CPU, us a row: 3.00 to 2.00; no point is pressed harder: XDESMGR 100 to 40.0 spins per 1,000 rows; \
         WRITELOG 2.00 to 2.00 us waited a row; 0 in both: LOGCACHE_ACCESS, LOGBUFFER, LOGFLUSHQ"
    );
    // A growth that is certain and takes less than a hundredth of a microsecond a row is none.
    let trifle = judged(&[COSTLY; 2], &[MadeUp { spins: [100, 9], ..CHEAP }; 2]);
    assert_eq!(trifle.verdict, Verdict::NotSeen, "{}", trifle.words);
    let idle = MadeUp { spins: [0, 0], writelog_ms: 0, ..COSTLY };
    let all_idle = judged(&[idle; 2], &[MadeUp { cpu: 2.0, ..idle }; 2]);
    assert!(
        all_idle.words.ends_with(
            "no point is pressed harder; 0 in both: XDESMGR, LOGCACHE_ACCESS, LOGBUFFER, LOGFLUSHQ, WRITELOG"
        )
    );
    assert!(sentences(&[all_idle])[0].starts_with("B: no. 32 sessions, "));
}

#[test]
fn rows_that_cost_no_less_ask_nothing() {
    for to in [COSTLY, MadeUp { cpu: 4.0, ..COSTLY }] {
        let found = judged(&[COSTLY; 2], &[MadeUp { spins: [900, 900], ..to }; 2]);
        assert_eq!(found.verdict, Verdict::CannotBeJudged, "{}", found.words);
        assert!(found.words.contains("a row costs no less by itself (CPU, us a row: 3.00 to "), "{}", found.words);
    }
}

#[test]
fn spins_are_no_cost_of_the_row_itself_where_a_profile_tells_them_apart() {
    // All of the CPU is more, because of back-offs; the language's part of it is less.
    let costly = MadeUp { language: Some(90), ..COSTLY };
    let cheap = MadeUp { cpu: 4.0, spins: [900, 0], language: Some(25), ..COSTLY };
    let found = judged(&[costly; 2], &[cheap; 2]);
    assert_eq!(found.verdict, Verdict::Seen, "{}", found.words);
    assert!(found.words.contains("us a row: 2.70 to 1.00; pressed harder: XDESMGR"), "{}", found.words);
}

#[test]
fn noise_concludes_nothing() {
    let hidden =
        judged(&[COSTLY, MadeUp { spins: [900, 0], ..COSTLY }], &[CHEAP, MadeUp { spins: [1000, 0], ..CHEAP }]);
    assert_eq!(hidden.verdict, Verdict::TooNoisy, "{}", hidden.words);
    assert!(hidden.words.contains("noise hides the pressure"), "{}", hidden.words);
    let cost = judged(&[COSTLY, MadeUp { cpu: 1.0, ..COSTLY }], &[CHEAP; 2]);
    assert_eq!(cost.verdict, Verdict::TooNoisy, "{}", cost.words);
    assert!(cost.words.contains("noise hides what a row costs"), "{}", cost.words);
    let busy = judged(&[COSTLY; 2], &[MadeUp { noisy: true, ..CHEAP }; 2]);
    assert_eq!(
        (busy.verdict, busy.reason.as_deref()),
        (Verdict::TooNoisy, Some("other processes were busy in most of the runs"))
    );
    assert_eq!(judged(&[COSTLY], &[CHEAP]).verdict, Verdict::Open, "one run has no spread");
    assert_eq!(judged(&[], &[]).verdict, Verdict::Open, "there are none");
    assert_eq!(ask(None).judge(&[]).verdict, Verdict::Open);
}

#[test]
fn what_cannot_show_it_says_why() {
    let ordinary = judged(&[COSTLY; 2], &[MadeUp { in_memory: false, ..CHEAP }; 2]);
    assert_eq!(ordinary.verdict, Verdict::CannotBeJudged);
    assert!(ordinary.words.contains("cheap: this build has made an ordinary table"), "{}", ordinary.words);
    let alone = ask(None).judge(&[panel(1, &[COSTLY; 2], &[CHEAP; 2])]);
    assert_eq!((alone.verdict, alone.reason.is_some()), (Verdict::CannotBeJudged, true));
    let small = ask(Some("it takes 2 CPUs or more")).judge(&[panel(32, &[COSTLY; 2], &[CHEAP; 2])]);
    assert_eq!(small.reason.as_deref(), Some("it takes 2 CPUs or more"));
    let text: Value = serde_json::to_value(&small).expect("plain data");
    assert_eq!(text["verdict"], "CannotBeJudged");
}
