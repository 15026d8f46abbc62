//! Engines in memory and in folders that go with them. One test: it looks at the files of its whole process.

use pikepole_embedded::{Engine, Error, Options, params};
use std::path::PathBuf;

/// The files that this process has open and that are on a disk.
fn open_files() -> Vec<PathBuf> {
    let links = std::fs::read_dir("/proc/self/fd").expect("the process has files").flatten();
    let targets = links.filter_map(|link| std::fs::read_link(link.path()).ok());
    let mut files: Vec<PathBuf> =
        targets.filter(|file| std::fs::metadata(file).is_ok_and(|about| about.is_file())).collect();
    files.sort();
    files
}

#[test]
fn what_is_in_memory_or_temporary_leaves_nothing() {
    let before = open_files();
    let engine = Engine::in_memory().expect("memory is there");
    let folder = engine.folder().expect("it is open");
    let mut connection = engine.connect_blocking().expect("connects");
    connection
        .execute("CREATE DATABASE sales; CREATE TABLE sales.dbo.t (id int PRIMARY KEY, v char(1000))", [])
        .expect("creates");
    connection
        .execute("SELECT 1 AS n INTO #t; CHECKPOINT; BACKUP DATABASE sales TO DISK = 'sales.bak'", [])
        .expect("runs");
    let mut appender = connection.appender("sales.dbo.t", &[]).expect("begins");
    for id in 0..20_000 {
        appender.append(params![id, "x"]).expect("appends");
    }
    assert_eq!(appender.finish(), Ok(20_000));
    connection.execute("RESTORE DATABASE copy FROM DISK = 'sales.bak'; CHECKPOINT", []).expect("restores");
    assert_eq!(connection.query_value("SELECT COUNT(*) FROM sales.dbo.t", []), Ok(20_000));
    assert_eq!(open_files(), before, "no file of a disk is open");
    assert!(!folder.exists(), "{}", folder.display());
    connection.execute("DBCC CHECKDB (sales) WITH NO_INFOMSGS", []).expect("it is whole");
    drop(connection);
    engine.shutdown().expect("closes in order");
    assert_eq!(open_files(), before);
    // Each has its own.
    let (one, other) = (Engine::in_memory().expect("opens"), Engine::in_memory().expect("opens"));
    one.connect_blocking().expect("connects").execute("CREATE TABLE t (id int)", []).expect("creates");
    other.connect_blocking().expect("connects").execute("CREATE TABLE t (id int)", []).expect("creates");
    drop((one, other));
    a_full_memory_is_an_error();
    temporary();
}

/// The files of an engine in memory are bounded, and the engine lives on when they are full.
fn a_full_memory_is_an_error() {
    let options = Options::in_memory().memory_bytes_max(256 << 20).buffer_pool_bytes(16 << 20).log_bytes_max(32 << 20);
    let engine = Engine::open(options).expect("opens");
    let mut connection = engine.connect_blocking().expect("connects");
    connection.execute("CREATE TABLE t (id int IDENTITY, v varchar(8000) NOT NULL)", []).expect("creates");
    let text = "x".repeat(7900);
    let error = loop {
        let mut appender = connection.appender("t", &[]).expect("begins");
        let appended = (0..500).try_for_each(|_| appender.append(params![text.as_str()]));
        if let Err(error) = appended.and_then(|()| appender.finish().map(drop)) {
            break error;
        }
    };
    let Error::Sql(error) = error else { panic!("{error:?}") };
    assert!([1105, 9002].contains(&error.number), "{error:?}");
    let rows: i32 = connection.query_value("SELECT COUNT(*) FROM t", []).expect("it lives");
    assert_eq!(rows % 500, 0, "whole portions: {rows}");
    drop(connection);
    // Whether the last checkpoint has room is no matter: nothing of it stays.
    let _ = engine.shutdown();
}

fn temporary() {
    let engine = Engine::temporary().expect("opens");
    let folder = engine.folder().expect("it is open");
    assert!(folder.starts_with(std::env::temp_dir()) && folder.join("master").is_dir(), "{}", folder.display());
    let mut connection = engine.connect_blocking().expect("connects");
    connection.execute("CREATE TABLE t (id int)", []).expect("creates");
    drop(engine);
    assert!(folder.is_dir(), "the connection keeps it");
    drop(connection);
    assert!(!folder.exists(), "{}", folder.display());
    let engine = Engine::open(Options::temporary().buffer_pool_bytes(16 << 20)).expect("opens");
    let folder = engine.folder().expect("it is open");
    engine.shutdown().expect("closes in order");
    assert!(!folder.exists(), "{}", folder.display());
    assert_eq!(engine.folder(), None);
}
