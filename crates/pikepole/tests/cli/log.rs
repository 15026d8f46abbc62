//! `pikepole log`: dump, stat and verify of real folders, closed, open elsewhere and damaged; the bench's output.

use crate::tool::Folder;
use pikepole::{Engine, Options};
use serde_json::Value;
use std::path::PathBuf;

const SETUP: &str = "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, name varchar(9) NOT NULL);\n\
    INSERT dbo.t VALUES (1, 'one');\n\
    BEGIN TRAN; INSERT dbo.t VALUES (2, 'two'), (3, 'three'); COMMIT;";

fn array(text: &str) -> Vec<Value> {
    serde_json::from_str::<Value>(text).expect("JSON").as_array().expect("an array").clone()
}

#[test]
fn a_dump_shows_every_record_with_its_table_and_filters_them() {
    let folder = Folder::new("log-dump");
    folder.sql_clean(SETUP);
    let done = folder.run(["log", "dump", "data"]);
    assert_eq!((done.status, done.err.as_str()), (0, ""));
    let inserts: Vec<&str> = done.out.lines().filter(|line| line.contains(" dbo.t.PK")).collect();
    assert_eq!(inserts.len(), 3, "{}", done.out);
    assert!(inserts[0].contains(" Insert flags=3 ") && inserts[0].contains("key=0x80000001"), "{}", inserts[0]);
    let all = array(&folder.run(["log", "dump", "data", "--json"]).out);
    assert_eq!(all.len(), done.out.lines().count());
    let own: Vec<&Value> =
        all.iter().filter(|row| row["table"].as_str().is_some_and(|name| name.starts_with("dbo.t.PK"))).collect();
    assert_eq!((own[1]["fields"]["key"].as_str(), own[1]["fields"]["flags"].as_u64()), (Some("0x80000002"), Some(1)));
    assert_eq!(own[2]["previous_lsn"], own[1]["lsn"]);
    let transaction = own[1]["transaction"].to_string();
    let of_one = array(&folder.run(["log", "dump", "data", "--json", "--transaction", &transaction]).out);
    let names: Vec<&str> = of_one.iter().filter_map(|row| row["name"].as_str()).collect();
    assert_eq!(names, ["Insert", "Insert", "Commit"]);
    let commits = array(&folder.run(["log", "dump", "data", "--json", "--kind", "commit,8"]).out);
    assert!(!commits.is_empty() && commits.iter().all(|row| row["kind"] == 7));
    let range =
        ["log", "dump", "data", "--json", "--from", &own[1]["lsn"].to_string(), "--to", &own[2]["lsn"].to_string()];
    assert_eq!(array(&folder.run(range).out).len(), 2);
    let limited = folder.run(["log", "dump", "data", "--limit", "3"]);
    assert_eq!(limited.out.lines().count(), 3);
}

#[test]
fn statistics_add_up_and_draw_the_segments() {
    let folder = Folder::new("log-stat");
    folder.sql_clean(SETUP);
    let done = folder.run(["log", "stat", "data"]);
    assert_eq!((done.status, done.err.as_str()), (0, ""));
    for phrase in ["| Insert ", "bytes up to", "segment-00000001", "[#", "# blocks of the log", "padding"] {
        assert!(done.out.contains(phrase), "{phrase}\n{}", done.out);
    }
    let stat = &array(&folder.run(["log", "stat", "data", "--json"]).out)[0];
    let number = |name: &str| stat[name].as_u64().expect("a number");
    let sum = |list: &str, name: &str| -> u64 {
        stat[list].as_array().expect("a list").iter().map(|row| row[name].as_u64().expect("a number")).sum()
    };
    assert_eq!((sum("kinds", "records"), sum("kinds", "bytes")), (number("records"), number("record_bytes")));
    assert_eq!((sum("sizes", "records"), sum("sizes", "bytes")), (number("records"), number("record_bytes")));
    assert_eq!(number("end_lsn") - number("start_lsn"), number("record_bytes") + number("gap_bytes"));
    let not_records = number("block_header_bytes") + number("block_padding_bytes");
    assert_eq!(number("block_bytes") - not_records, number("record_bytes") + number("gap_bytes"));
    assert_eq!(stat["damage"], Value::Null);
}

#[test]
fn verify_tells_damage_with_its_place_and_fails() {
    let folder = Folder::new("log-verify");
    folder.sql_clean(SETUP);
    let sound = folder.run(["log", "verify", "data"]);
    assert_eq!((sound.status, sound.err.as_str()), (0, ""), "{}", sound.out);
    assert!(sound.out.ends_with("no damage found\n") && sound.out.contains("ends in segment-00000001 at byte"));
    let path: PathBuf = folder.data().join("master/log/segment-00000001");
    let mut bytes = std::fs::read(&path).expect("a segment");
    bytes[3 * 4096 + 100] ^= 1;
    std::fs::write(&path, &bytes).expect("it is ours");
    let done = folder.run(["log", "verify", "data"]);
    assert_eq!(done.status, 1);
    let damage = done.out.lines().find(|line| line.starts_with("DAMAGE: master: ")).expect("a line");
    assert!(damage.contains("in segment-00000001 at byte 12288 (LSN "), "{damage}");
    assert!(damage.contains("good blocks go on with block 4 in segment-00000001 at byte 16384"), "{damage}");
    assert!(done.out.contains("1 torn") && done.out.ends_with("1 damaged place\n"), "{}", done.out);
    let dump = folder.run(["log", "dump", "data"]);
    assert_eq!(dump.status, 1);
    assert!(dump.err.contains("the log is damaged in segment-00000001 at byte 12288") && !dump.out.is_empty());
    assert_eq!(std::fs::read(&path).expect("a segment"), bytes, "nothing was written");
}

#[test]
fn a_log_that_is_in_use_is_read_and_said_to_be() {
    let folder = Folder::new("log-live");
    let options = Options::new(folder.data()).buffer_pool_bytes(16 << 20);
    let engine = Engine::open(options).expect("the folder is free");
    let mut connection = engine.connect_blocking().expect("it is open");
    connection.execute(SETUP, &[]).expect("it works");
    let process = format!("data is open in process {}: this is its log as it was on disk", std::process::id());
    for (command, phrase) in [("dump", "dbo.t.PK"), ("stat", "| Insert "), ("verify", "no damage found")] {
        let done = folder.run(["log", command, "data"]);
        assert_eq!(done.status, 0, "{done:?}");
        assert!(done.err.starts_with(&process) && done.out.contains(phrase), "{done:?}");
    }
    connection.execute("INSERT dbo.t VALUES (4, 'four')", &[]).expect("nothing was taken from the one that has it");
    drop(connection);
    engine.shutdown().expect("it closes");
}

#[test]
fn what_cannot_be_looked_at_is_named() {
    let folder = Folder::new("log-none");
    folder.sql_clean("CREATE DATABASE other");
    let which = "pikepole: which database? --database takes one of master, other\n";
    folder.run(["log", "dump", "data"]).failed_saying(which);
    let none = "pikepole: data holds no database third; it holds master, other\n";
    folder.run(["log", "stat", "data", "--database", "third"]).failed_saying(none);
    assert_eq!(folder.run(["log", "dump", "data", "--database", "OTHER"]).status, 0);
    std::fs::create_dir(folder.path().join("empty")).expect("a folder");
    folder.run(["log", "verify", "empty"]).failed_saying("pikepole: empty holds no databases\n");
    let missing = folder.run(["log", "verify", "missing"]);
    assert_eq!(missing.status, 1);
    assert!(missing.err.starts_with("pikepole: the folder missing cannot be used: "), "{}", missing.err);
    let wrong = folder.run(["log", "dump", "data", "--from", "here"]);
    assert_eq!(wrong.status, 2);
}

#[test]
fn the_bench_prints_tables_words_and_json() {
    let folder = Folder::new("log-bench");
    let done = folder.run([
        "log",
        "bench",
        "--sizes",
        "48",
        "--threads",
        "1",
        "--committers",
        "2",
        "--devices",
        "null",
        "--seconds",
        "0.01",
        "--repeats",
        "1",
        "--commit-policies",
        "scheduler",
        "--json",
        "bench.json",
    ]);
    assert_eq!(done.status, 0, "{done:?}");
    for phrase in ["ns/record", "memcpy GB/s", "p99 us", "copying alone", "one log writer can", "one after the other"] {
        assert!(done.out.contains(phrase), "{phrase}\n{}", done.out);
    }
    let runs = array(&std::fs::read_to_string(folder.path().join("bench.json")).expect("it is there"));
    let policies: Vec<&str> =
        runs.iter().filter(|run| run["bench"] == "append").filter_map(|run| run["policy"].as_str()).collect();
    assert!(policies.starts_with(&["SPINLOCK", "ATOMIC"]), "{policies:?}");
    let commit = runs.last().expect("a run");
    assert_eq!((commit["bench"].as_str(), commit["committers"].as_u64()), (Some("commit"), Some(2)));
    assert!(commit["threads"].is_null() && commit["probe_writes_per_second"].is_number());
    let wrong: [(&[&str], &str); 4] = [
        (&["--bench", "read"], "--bench takes append, commit, not `read`"),
        (&["--policies", "none"], "--policies takes SPINLOCK, ATOMIC"),
        (&["--sizes", "0"], "--sizes takes numbers from 1 to 65536, not 0"),
        (&["--seconds", "-1"], "--seconds takes a number above zero"),
    ];
    for (arguments, words) in wrong {
        let done = folder.run([&["log", "bench"], arguments].concat());
        assert_eq!((done.status, done.out.as_str()), (1, ""));
        assert!(done.err.starts_with(&format!("pikepole: {words}")), "{}", done.err);
    }
    assert_eq!(std::fs::read_dir(folder.path()).expect("the folder").count(), 1, "only the file that was asked for");
}
