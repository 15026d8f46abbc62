//! The bench measures what it says, in every policy and on both devices; figures themselves are not tested.

use super::*;
use std::time::Duration;

struct Lines(Vec<String>);

impl Progress for Lines {
    fn begin(&mut self, step: usize, of: usize, _what: &str) {
        assert!((1..=of).contains(&step));
    }

    fn end(&mut self, line: &str) {
        self.0.push(line.to_string());
    }
}

/// One test, because each opens schedulers on all CPUs.
#[test]
fn every_configuration_gives_a_run_and_leaves_nothing_behind() {
    let folder = std::env::temp_dir().join(format!("pikepole-log-bench-test-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let options = Options {
        threads: vec![1, 5],
        record_bytes: vec![48, 65536],
        committers: vec![3],
        seconds: Duration::from_millis(5),
        repeats: 1,
        ..Options::new(&folder)
    };
    let mut lines = Lines(Vec::new());
    let report = run(&options, &mut lines).expect("it runs");
    let reservations = pikepole_log::Reservation::all().count();
    let commit_policies = CommitPolicy::all().count();
    assert_eq!(report.runs.len(), 2 * 2 * 2 * reservations + commit_policies);
    assert_eq!(lines.0.len(), report.runs.len() + 1);
    for run in &report.runs {
        assert!(run.records_per_second >= 0.0 && run.probe_writes_per_second > Some(0.0), "{run:?}");
        match run.bench {
            "append" => assert!(run.memcpy_gb_per_second > Some(0.0) && run.p50_us.is_none(), "{run:?}"),
            _ => assert!(run.p50_us <= run.p99_us && run.p50_us.is_some() && run.ns_per_record.is_none(), "{run:?}"),
        }
    }
    // A window of milliseconds may be empty on a busy machine, all of them hardly.
    assert!(report.runs.iter().any(|run| run.records_per_second > 0.0));
    for policy in pikepole_log::Reservation::all() {
        assert!(report.runs.iter().any(|run| run.policy == policy.name()), "{policy:?}");
    }
    let json = folder.join("runs.json");
    write_json(&report, &json).expect("it is written");
    let read: serde_json::Value = serde_json::from_slice(&std::fs::read(&json).expect("it is there")).expect("JSON");
    assert_eq!(read.as_array().map(Vec::len), Some(report.runs.len()));
    assert!(read[0]["p50_us"].is_null() && read[0]["gb_per_second"].is_number());
    let mut text = Vec::new();
    print(&report, &mut text).expect("it is printed");
    let text = String::from_utf8(text).expect("text");
    for phrase in
        ["memcpy GB/s", "p99 us", "copying alone", "one after the other", "durable 1 MB writes", "3 committers"]
    {
        assert!(text.contains(phrase), "{phrase}\n{text}");
    }
    std::fs::remove_file(&json).expect("it is there");
    assert_eq!(std::fs::read_dir(&folder).expect("the folder").count(), 0, "nothing is left behind");
    std::fs::remove_dir(&folder).expect("it is empty");
}
