//! `pikepole lab`: the machine, the probes, the experiments. Nothing here depends on how fast anything is.

use crate::tool::Folder;
use serde_json::Value;
use std::io::Read;
use std::process::Stdio;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn the_machine_is_drawn_and_told() {
    let folder = Folder::new("topology");
    let here = folder.run(["lab", "topology"]);
    assert_eq!((here.status, here.err.as_str()), (0, ""));
    assert!(here.out.contains("socket 0") && here.out.contains("LOG_WRITERS = PER NODE"), "{}", here.out);
    let told = folder.run(["lab", "topology", "--like", "2x10x2", "--json"]);
    let told = json(&told.out);
    assert_eq!(told["cpus"].as_array().expect("CPUs").len(), 40);
    assert_eq!(told["nodes"][1]["distances"], serde_json::json!([21, 10]));
    let rule = |name: &str| {
        let rules = told["placement"].as_array().expect("rules");
        rules.iter().find(|rule| rule["rule"] == name).unwrap_or_else(|| panic!("no rule {name}")).clone()
    };
    assert_eq!(rule("LOG_WRITERS = TWICE THE NODES, FIRST CORES")["log_writers"], serde_json::json!([0, 1, 2, 3]));
    assert_eq!(rule("LOG_WRITERS = PER NODE, ISOLATED")["schedulers"], 38);
    let root = folder.path().join("machine");
    std::fs::create_dir_all(root.join("sys/devices/system/cpu")).expect("a folder");
    std::fs::write(root.join("sys/devices/system/cpu/online"), "0-2\n").expect("a file");
    let other = folder.run(["lab", "topology", "--root", "machine"]);
    assert!(other.out.starts_with("1 socket, 1 memory node, 3 cores, 3 CPUs\n"), "{}", other.out);
    folder.run(["lab", "topology", "--root", "nowhere"]).failed_with("pikepole: the machine: ");
    folder.run(["lab", "topology", "--like", "0x1x1"]).failed_with("pikepole: --like takes a shape");
}

#[test]
fn the_disk_is_probed_and_a_slower_one_acted() {
    let folder = Folder::new("lab-disk");
    let arguments = ["lab", "disk", "--seconds", "0.001", "--slow-disk", "3000,50", "--json"];
    let done = folder.run(arguments);
    assert_eq!((done.status, done.err.as_str()), (0, ""));
    let report = json(&done.out);
    let durable = report["durable"].as_array().expect("rows");
    let what: Vec<_> = durable.iter().map(|row| (row["write_bytes"].as_u64(), row["in_flight"].as_u64())).collect();
    assert_eq!(what.len(), 12);
    assert_eq!((what[0], what[11]), ((Some(4096), Some(1)), (Some(61_440), Some(32))));
    for row in durable {
        // At least the delay, and the transfer of the write at 50 MB/s.
        let least = 3000.0 + row["write_bytes"].as_f64().expect("bytes") / 50.0;
        assert!(row["p50_us"].as_f64().expect("a time") >= least, "{row}");
    }
    assert_eq!(report["sequential"].as_array().expect("rows").len(), 4);
    assert_eq!(std::fs::read_dir(folder.path()).expect("the folder").count(), 0, "the probe's file is gone");
    let table = folder.run(["lab", "disk", "--seconds", "0.001"]).out;
    assert!(table.contains("| durable write |") && table.contains("MB/s"), "{table}");
    folder.run(["lab", "disk", "-d", "nowhere"]).failed_saying("pikepole: nowhere is not a folder\n");
    folder.run(["lab", "disk", "--seconds", "0"]).failed_with("pikepole: --seconds takes");
    folder.run(["lab", "disk", "--slow-disk", "fast"]).failed_with("pikepole: --slow-disk takes");
}

#[test]
fn the_cpus_are_probed() {
    let folder = Folder::new("lab-cpu");
    let done = folder.run(["lab", "cpu", "--seconds", "0.02", "--tlb-memory", "4", "--json"]);
    assert_eq!((done.status, done.err.as_str()), (0, ""));
    let report = json(&done.out);
    let cpus = report["cpus"].as_array().expect("CPUs").len();
    let matrix = report["handoff_ns"].as_array().expect("a matrix");
    assert_eq!(matrix.len(), cpus.min(48));
    for (place, row) in matrix.iter().enumerate() {
        assert!(row[place].is_null());
        let others = row.as_array().expect("a row").iter().enumerate().filter(|(other, _)| *other != place);
        others.for_each(|(_, ns)| assert!(ns.as_f64().is_some_and(|ns| ns > 0.0), "{row}"));
    }
    for (table, figure) in [("shared_word", "ns_each"), ("wake", "p50_us"), ("memcpy", "bytes_per_second")] {
        let rows = report[table].as_array().expect(table);
        assert!(
            !rows.is_empty() && rows.iter().all(|row| row[figure].as_f64().is_some_and(|figure| figure > 0.0)),
            "{table}"
        );
    }
    let tlb = report["tlb"].as_array().expect("rows");
    assert_eq!(tlb.len(), 3);
    let said = |row: &Value| row["read_ns"].is_number() != row["why_not"].is_string();
    assert!(tlb.iter().all(said), "a figure, or why there is none: {tlb:?}");
}

#[test]
fn experiments_are_listed_run_compared_and_reported() {
    let folder = Folder::new("lab-run");
    let list = folder.run(["lab", "list"]).out;
    for phrase in ["affinity: ", "186,915 inserts/s", "large-pages: ", "263,766/s"] {
        assert!(list.contains(phrase), "{phrase}\n{list}");
    }
    let quick = ["--seconds", "0.05", "--warm-up", "0", "--repeats", "2", "-n", "2", "-o", "out"];
    let done = folder.run(["lab", "run", "distance", "Trace-Flags"].iter().chain(&quick));
    assert_eq!(done.status, 0, "{}", done.err);
    assert!(done.out.contains("out/distance.html") && done.out.contains("this machine cannot show"), "{}", done.out);
    let text = std::fs::read_to_string(folder.path().join("out/distance.json")).expect("the outcome");
    let outcome = json(&text);
    assert_eq!((&outcome["complete"], &outcome["panels"][0]["sessions"]), (&true.into(), &serde_json::json!([1])));
    for cell in outcome["panels"][0]["cells"].as_array().expect("cells") {
        assert_eq!(cell["runs"].as_array().expect("runs").len(), 2);
    }
    let mut names: Vec<_> = std::fs::read_dir(folder.path().join("out")).expect("the folder").collect();
    assert_eq!(names.len(), 4, "two pages, two files, and no databases: {names:?}");
    names.clear();

    let same = folder.run(["lab", "compare", "out/distance.json", "out/distance.json"]);
    assert!(same.status == 0 && same.out.contains("x 1.00"), "{}", same.out);
    let other = folder.run(["lab", "compare", "out/distance.json", "out/trace-flags.json"]);
    other.failed_with("pikepole: A is an outcome of distance, B of trace-flags");
    let page = std::fs::read(folder.path().join("out/distance.html")).expect("the page");
    std::fs::remove_file(folder.path().join("out/distance.html")).expect("it goes");
    let report = folder.run(["lab", "report", "-o", "out", "--without-prediction"]);
    assert_eq!((report.status, report.err.as_str()), (0, ""));
    assert_eq!(std::fs::read(folder.path().join("out/distance.html")).expect("the page"), page);
    // The predictor's constants lie beside the outcomes, and are none.
    std::fs::write(folder.path().join("out/calibration.json"), "{}").expect("a file");
    folder.run(["lab", "report", "-o", "out"]).failed_with("pikepole: out/calibration.json: it is no calibration");
    let index = std::fs::read_to_string(folder.path().join("out/index.html")).expect("the index");
    assert!(index.contains("href='trace-flags.html'") && index.contains("href='distance.html'"));
    let claims = std::fs::read_to_string(folder.path().join("out/claims.md")).expect("the table of claims");
    let verdict =
        |start: &str| claims.lines().find(|line| line.starts_with(start)).and_then(|line| line.rsplit(" | ").nth(1));
    assert_eq!(
        (claims.lines().count(), verdict("| 1 |"), verdict("| 9 |")),
        (37, Some("not run"), Some("figures only"))
    );
    assert!(
        verdict("| 8 |").is_some_and(|found| found != "not run") && index.contains("All published claims"),
        "{claims}"
    );
}

#[test]
fn memory_in_pages_of_each_size_is_scanned() {
    let folder = Folder::new("lab-large-pages");
    let quick = ["--seconds", "0.05", "--warm-up", "0.01", "--repeats", "2", "-n", "1", "-o", "out"];
    let done = folder.run(["lab", "run", "large-pages", "--table-mb", "16"].iter().chain(&quick));
    assert_eq!(done.status, 0, "{}", done.err);
    let text = std::fs::read_to_string(folder.path().join("out/large-pages.json")).expect("the outcome");
    let outcome = json(&text);
    let arms = outcome["panels"][0]["arms"].as_array().expect("arms").len();
    let cannot = outcome["cannot"].to_string();
    assert_eq!(arms, if cannot.contains("sysctl vm.nr_hugepages=") { 3 } else { 4 }, "with one again: {cannot}");
    for cell in outcome["panels"][0]["cells"].as_array().expect("cells") {
        for run in cell["runs"].as_array().expect("runs") {
            let number = |field: &str| run[field].as_f64().unwrap_or_else(|| panic!("no {field} in {run}"));
            assert!(number("start_seconds") > 0.0 && number("scan_seconds") > 0.0 && number("rows") >= 16384.0);
            assert!(run["pool"]["lookups"].as_u64() >= Some(2048), "{run}");
        }
    }
    let page = std::fs::read_to_string(folder.path().join("out/large-pages.html")).expect("the page");
    for phrase in ["page lookups a second", "a scan, ms", "start, ms", "memory in pages of 2 MB, MB", "222,220/s"] {
        assert!(page.contains(phrase), "{phrase}");
    }
}

#[test]
fn tables_in_memory_are_asked_about_the_next_point() {
    let folder = Folder::new("lab-in-memory");
    let quick = ["--seconds", "0.02", "--warm-up", "0", "--repeats", "1", "-n", "2", "-o", "out"];
    let done = folder.run(["lab", "run", "in-memory"].iter().chain(&quick));
    assert_eq!(done.status, 0, "{}", done.err);
    assert!(done.out.contains("\n- SCHEMA_ONLY, classic policies, delayed durability: "), "{}", done.out);
    assert!(
        done.out.contains("\n- SCHEMA_AND_DATA by a native procedure, best policies, full durability: "),
        "{}",
        done.out
    );
    let page = std::fs::read_to_string(folder.path().join("out/in-memory.html")).expect("the page");
    for phrase in [
        "SCHEMA_AND_DATA, best",
        "SCHEMA_ONLY, native procedure, best",
        "NATIVE_COMPILATION",
        "log records, bytes a row",
        "us waited a row",
        "press harder on a later point?",
    ] {
        assert!(page.contains(phrase), "{phrase}");
    }
}

#[test]
fn what_is_no_experiment_is_told_and_nothing_made() {
    let folder = Folder::new("lab-wrong");
    folder.run(["lab", "run", "nothing"]).failed_with("pikepole: there is no experiment nothing; there are policies,");
    folder
        .run(["lab", "run", "large-pages", "--table-mb", "1000000"])
        .failed_with("pikepole: large-pages cannot be run here: a table of 1,000,000 MB takes 1,125,");
    folder.run(["serve", "--numa-node", "4000"]).failed_with("pikepole: --numa-node 4000: there is no such node");
    folder.run(["lab", "report", "-o", "nowhere"]).failed_with("pikepole: nowhere: ");
    folder.run(["lab", "report"]).failed_with("pikepole: pikepole-lab: ");
    assert_eq!(std::fs::read_dir(folder.path()).expect("the folder").count(), 0);
    folder.write("strange.json", "{\"format\": 1}");
    folder
        .run(["lab", "compare", "strange.json", "strange.json"])
        .failed_with("pikepole: strange.json: it is no outcome");
    folder.run(["lab", "report", "-o", "."]).failed_with("pikepole: ./strange.json: it is no outcome");
}

#[test]
fn an_interrupt_keeps_what_is_done() {
    let folder = Folder::new("lab-stop");
    let mut command =
        folder.command(["lab", "run", "trace-flags", "--seconds", "30", "--warm-up", "0", "-n", "1", "-o", "out"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts");
    // The first run is under way when its databases are there.
    let work = folder.path().join(format!("out/work-{}/databases/stress", child.id()));
    while !work.exists() {
        assert!(child.try_wait().expect("a status").is_none(), "it runs until it is stopped");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    // SAFETY: the process is this test's child and has not been waited for, so the number is still its own.
    assert_eq!(unsafe { libc::kill(child.id() as i32, libc::SIGINT) }, 0);
    let mut out = String::new();
    child.stdout.take().expect("a pipe").read_to_string(&mut out).expect("text");
    assert_eq!(child.wait().expect("it ends").code(), Some(130), "{out}");
    assert!(out.contains("stopped before its end"), "{out}");
    let outcome = std::fs::read_to_string(folder.path().join("out/trace-flags.json")).expect("the outcome");
    assert_eq!(json(&outcome)["complete"], false);
    assert!(!folder.path().join(format!("out/work-{}", child.id())).exists(), "the databases are gone");
}

#[test]
fn trace_flags_are_on_from_the_start() {
    let folder = Folder::new("lab-flags");
    let status = "DBCC TRACESTATUS(-1) WITH NO_INFOMSGS; SELECT COUNT(*) FROM sys.dm_os_nodes";
    let done = folder.run(["sql", "-d", "data", "--csv", "-T", "9038", "-T", "8015", "-Q", status]);
    assert_eq!((done.status, done.err.as_str()), (0, ""));
    for flag in ["8015,1,1,0", "9038,1,1,0"] {
        assert!(done.out.lines().any(|line| line == flag), "{}", done.out);
    }
}

#[test]
fn another_machine_is_predicted_the_same_from_the_same_calibration() {
    let folder = Folder::new("lab-predict");
    let quick = ["--seconds", "0.02", "--repeats", "1", "--calibration", "here.json"];
    let ask =
        ["lab", "predict", "--like", "1x2x2", "--clock", "2.3", "-n", "1,4", "--draws", "2", "--durability", "both"];
    let first = folder.run(ask.iter().chain(&quick));
    assert_eq!(first.status, 0, "{}", first.err);
    assert!(first.out.starts_with("1x2x2 at 2.3 GHz, predicted from "), "{}", first.out);
    for phrase in ["DELAYED durability, classic, default mask", "FULL durability, best, log writer's core apart"] {
        assert!(first.out.contains(phrase), "{phrase}: {}", first.out);
    }
    assert_eq!(std::fs::read_dir(folder.path()).expect("the folder").count(), 1, "only the calibration is left");
    let again = folder.run(ask.iter().chain(&quick));
    assert_eq!((again.out, again.status), (first.out, 0));
    let told = folder.run(ask.iter().chain(&quick).chain(&["--json", "--html", "page.html"]));
    let told = json(&told.out);
    let curves = told["curves"].as_array().expect("curves");
    assert_eq!(curves.len(), 8);
    for point in curves.iter().flat_map(|curve| curve["points"].as_array().expect("points")) {
        let rate = |of: &str| point["rows_per_second"][of].as_f64().expect("a rate");
        assert!(0.0 < rate("low") && rate("low") <= rate("median") && rate("median") <= rate("high"), "{point}");
    }
    let page = std::fs::read_to_string(folder.path().join("page.html")).expect("the page");
    assert!(page.contains("Predicted: 1x2x2") && page.matches("<figure>").count() == 2, "{page}");
    folder.run(["lab", "predict", "--like", "4"]).failed_with("pikepole: --like takes a shape");
    folder.run(["lab", "predict", "--like", "1x1x1", "--clock", "0"]).failed_with("pikepole: --clock takes GHz");
    folder.run(["lab", "predict", "--disk", "fast"]).failed_with("pikepole: --disk takes microseconds");
    folder.run(["lab", "predict", "-d", "nowhere"]).failed_with("pikepole: nowhere is not a folder");
    std::fs::write(folder.path().join("strange.json"), "{}").expect("a file");
    folder
        .run(["lab", "predict", "--calibration", "strange.json"])
        .failed_with("pikepole: strange.json: it is no calibration");
}

#[test]
fn the_predictor_is_checked_on_this_machine() {
    let folder = Folder::new("lab-validate");
    let done = folder.run(["lab", "predict", "--validate", "--seconds", "0.02", "--repeats", "1", "--json"]);
    if done.status != 0 {
        assert!(done.err.contains("this process may use one CPU only"), "{}", done.err);
        return;
    }
    let told = json(&done.out);
    let rows = told["rows"].as_array().expect("rows");
    // Two sets of policies, two durabilities, two numbers of sessions.
    assert!(!rows.is_empty() && rows.len().is_multiple_of(8), "{told}");
    assert!(told["rate_error_median"].as_f64().is_some_and(|error| error >= 0.0), "{told}");
    assert_eq!(std::fs::read_dir(folder.path()).expect("the folder").count(), 0, "nothing is left behind");
}
