//! What the management views count is what was done: exact numbers of transactions, flushes and bytes; options, waits and
//! transactions of the sessions that have them.

mod support;

use pikepole_machine::OpenOptions;
use pikepole_query::Collected;
use pikepole_scheduler::{JoinHandle, Placement};
use pikepole_session::Session;
use pikepole_types::{SqlType, Value, to_text};
use std::collections::BTreeMap;
use std::sync::Arc;
use support::Fixture;

impl Fixture {
    /// Runs a batch that must not fail, and gives its rows as texts.
    fn rows(&self, session: &mut Session, sql: &str) -> Vec<String> {
        let output = self.run(session, sql);
        assert!(output.errors().is_empty(), "{sql}: {:?}", output.errors());
        texts(&output)
    }

    /// A batch as a task of its own, which takes its turns when others do.
    fn spawn(&self, mut session: Session, sql: &'static str) -> JoinHandle<(Session, Vec<String>)> {
        self.server.schedulers().spawn(session.task_info(), Placement::LeastLoaded, async move {
            let mut output = Collected::default();
            session.run(sql, &mut [], &mut output).await;
            (session, texts(&output))
        })
    }

    /// Begins a batch as a task of its own, up to where it waits.
    fn begin(&self, session: Session, sql: &'static str) -> JoinHandle<(Session, Vec<String>)> {
        let running = self.spawn(session, sql);
        self.server.schedulers().run_until_idle();
        running
    }

    /// The counters of the object Databases, by instance and name.
    fn counters(&self, session: &mut Session) -> BTreeMap<(String, String), i64> {
        let rows = self.rows(
            session,
            "SELECT instance_name, counter_name, cntr_value FROM sys.dm_os_performance_counters
             WHERE object_name = 'SQLServer:Databases'",
        );
        let row = |row: &String| {
            let parts: Vec<&str> = row.split('|').collect();
            ((parts[0].to_string(), parts[1].to_string()), parts[2].parse().expect("a number"))
        };
        rows.iter().map(row).collect()
    }

    fn counter(&self, session: &mut Session, instance: &str, name: &str) -> i64 {
        self.counters(session)[&(instance.to_string(), name.to_string())]
    }
}

fn texts(output: &Collected) -> Vec<String> {
    let text = |value: &Value| match value {
        Value::Null => "NULL".to_string(),
        Value::Str(text) => text.clone(),
        Value::DateTime(_) => to_text(value, &SqlType::DateTime),
        Value::Bit(bit) => u8::from(*bit).to_string(),
        value => value.as_i64().map_or_else(|| format!("{value:?}"), |number| number.to_string()),
    };
    output.rows().iter().map(|row| row.iter().map(text).collect::<Vec<_>>().join("|")).collect()
}

#[test]
fn transactions_and_flushes_are_counted_once_and_in_their_database() {
    const NAMES: [&str; 5] =
        ["Transactions/sec", "Write Transactions/sec", "Log Flush Waits/sec", "Active Transactions", "Log Truncations"];
    let fixture = Fixture::new(11);
    let mut session = fixture.session();
    fixture.rows(&mut session, "CREATE DATABASE other");
    fixture
        .rows(&mut session, "USE other; CREATE TABLE k (id int PRIMARY KEY, v int); CREATE TABLE h (id int IDENTITY)");
    // The first value of an identity column notes a mark in a transaction of the system's, which is nobody's.
    fixture.rows(&mut session, "INSERT h DEFAULT VALUES");
    let before = fixture.counters(&mut session);
    let steps = [
        // Begun, committed with changes, waited for its flush.
        ("INSERT k VALUES (1, 1)", [1, 1, 1]),
        ("INSERT h DEFAULT VALUES", [1, 1, 1]),
        ("INSERT k VALUES (2, 1), (3, 1), (4, 1)", [1, 1, 1]),
        ("UPDATE k SET v = 2", [1, 1, 1]),
        ("UPDATE k SET v = 2 WHERE id = 77", [1, 0, 0]),
        ("SELECT * FROM k", [1, 0, 0]),
        ("SELECT 1; SELECT COUNT(*) FROM sys.objects", [0, 0, 0]),
        ("BEGIN TRAN; INSERT k VALUES (5, 1); BEGIN TRAN; INSERT k VALUES (6, 1); COMMIT; COMMIT", [1, 1, 1]),
        ("BEGIN TRAN; INSERT k VALUES (7, 1); ROLLBACK", [1, 0, 0]),
        ("BEGIN TRAN; SELECT * FROM k; COMMIT", [1, 0, 0]),
        ("BEGIN TRAN; COMMIT", [1, 0, 0]),
        (
            "SET IMPLICIT_TRANSACTIONS ON; INSERT k VALUES (8, 1); INSERT k VALUES (9, 1); COMMIT; SET IMPLICIT_TRANSACTIONS OFF",
            [1, 1, 1],
        ),
        ("DELETE k WHERE id = 9; INSERT k VALUES (9, 1)", [2, 2, 2]),
    ];
    let mut sums = [0; 3];
    for (sql, expected) in steps {
        fixture.rows(&mut session, sql);
        let after = fixture.counters(&mut session);
        for place in 0..3 {
            sums[place] += expected[place];
            for instance in ["other", "_Total"] {
                let key = (instance.to_string(), NAMES[place].to_string());
                assert_eq!(after[&key] - before[&key], sums[place], "{key:?} after {sql}");
            }
            let elsewhere = ("master".to_string(), NAMES[place].to_string());
            assert_eq!(after[&elsewhere], before[&elsewhere], "{elsewhere:?} after {sql}");
        }
    }
    fixture.rows(&mut session, "BEGIN TRAN; INSERT k VALUES (10, 1)");
    assert_eq!(fixture.counter(&mut session, "other", "Active Transactions"), 1);
    fixture.rows(&mut session, "COMMIT");
    assert_eq!(fixture.counter(&mut session, "other", "Active Transactions"), 0);
}

#[test]
fn the_logs_counters_are_what_the_log_has_written() {
    let fixture = Fixture::new(11);
    let mut session = fixture.session();
    fixture.rows(&mut session, "CREATE TABLE k (id int PRIMARY KEY, v varchar(200))");
    for id in 0..20 {
        fixture.rows(&mut session, &format!("INSERT k VALUES ({id}, '{}')", "x".repeat(id * 10)));
    }
    fixture.rows(&mut session, "EXEC sp_flush_log");
    let database = fixture.server.database("master").expect("it is there");
    let (counters, log) = (fixture.counters(&mut session), database.log_stats());
    assert_eq!(log.durable, log.reserved, "nothing is left to be written");
    let value = |name: &str| counters[&("master".to_string(), name.to_string())];
    // The whole stream, the padding between chunks of records included; it began when the server was made.
    assert_eq!(value("Log Record Bytes/sec"), (log.durable.0 - pikepole_engine::Lsn::FIRST.0) as i64);
    assert_eq!(value("Log Bytes Flushed/sec"), log.bytes_written as i64);
    assert_eq!(value("Log Flushes/sec"), log.flushes as i64);
    assert_eq!(value("Log Flush Waits/sec"), log.flush_waits as i64);
    assert_eq!(value("Log File(s) Size (KB)"), log.bytes as i64 / 1024);
    assert_eq!(value("Log File(s) Used Size (KB)"), log.bytes_used as i64 / 1024);
    assert_eq!(value("Percent Log Used"), (log.bytes_used * 100 / log.bytes) as i64);
    assert!(value("Log Bytes Flushed/sec") > value("Log Record Bytes/sec"), "headers and padding");
    let shown = fixture.rows(
        &mut session,
        "SELECT num_of_writes, num_of_bytes_written, size_on_disk_bytes FROM sys.dm_io_virtual_file_stats(DB_ID(), 2)",
    );
    let log = database.log_stats();
    assert_eq!(shown, [format!("{}|{}|{}", log.flushes, log.bytes_written, log.bytes)]);
}

#[test]
fn a_scan_looks_up_each_page_and_a_seek_each_level() {
    let fixture = Fixture::new(11);
    let mut session = fixture.session();
    fixture.rows(&mut session, "CREATE TABLE heap (a int NOT NULL, filler char(1900) NOT NULL)");
    fixture.rows(&mut session, "CREATE TABLE tree (a int NOT NULL PRIMARY KEY, filler char(1900) NOT NULL)");
    let fill = "INSERT t SELECT TOP (200) ROW_NUMBER() OVER (ORDER BY (SELECT NULL)), REPLICATE('x', 1900) FROM sys.all_columns";
    for table in ["heap", "tree"] {
        fixture.rows(&mut session, &fill.replace("INSERT t", &format!("INSERT {table}")));
    }
    let mut lookups = |sql: &str| {
        // Once for its plan.
        fixture.rows(&mut session, sql);
        let counter = "SELECT cntr_value FROM sys.dm_os_performance_counters WHERE counter_name = 'Page lookups/sec'";
        let read = |session: &mut Session| fixture.rows(session, counter)[0].parse::<i64>().expect("a number");
        let before = read(&mut session);
        let rows = fixture.rows(&mut session, sql);
        let after = read(&mut session);
        (rows, after - before)
    };
    // What reading the counter itself looks up is in each figure.
    let (_, none) = lookups("SELECT 1");
    for table in ["heap", "tree"] {
        let (rows, scan) = lookups(&format!("SELECT COUNT(*) FROM {table}"));
        // 200 rows of 2 KB, at most 4 a page: 50 pages, and of the tree the pages above, for each of them.
        assert_eq!(rows, ["200"]);
        let pages = scan - none;
        assert!((50..=if table == "heap" { 60 } else { 130 }).contains(&pages), "{table}: {pages} lookups");
    }
    let (rows, seek) = lookups("SELECT a FROM tree WHERE a = 77");
    assert_eq!((rows.as_slice(), seek - none), (&["77".to_string()][..], 2), "the root and a leaf");
}

#[test]
fn a_total_is_the_sum_of_all_databases_and_a_dropped_one_gives_back_what_it_held() {
    const POOL: &str = "SELECT counter_name, cntr_value FROM sys.dm_os_performance_counters
        WHERE counter_name IN ('Target pages', 'Database pages') ORDER BY counter_name";
    let fixture = Fixture::new(11);
    let (mut session, mut other) = (fixture.session(), fixture.session());
    let before = fixture.rows(&mut session, POOL);
    fixture.rows(&mut session, "CREATE DATABASE a; CREATE DATABASE b");
    fixture.rows(&mut session, "USE a; CREATE TABLE t (id int PRIMARY KEY)");
    fixture.rows(&mut session, "INSERT t VALUES (1); SELECT * FROM t; CHECKPOINT");
    fixture.rows(&mut other, "USE a");
    fixture.rows(&mut other, "SELECT * FROM t");
    let counters = fixture.counters(&mut session);
    let names: Vec<&String> =
        counters.keys().filter(|(instance, _)| instance == "_Total").map(|(_, name)| name).collect();
    assert!(names.len() > 15);
    for name in names {
        let value = |instance: &str| counters[&(instance.to_string(), name.clone())];
        let sum: i64 = ["master", "a", "b"].iter().map(|database| value(database)).sum();
        if name == "Percent Log Used" {
            let size = counters[&("_Total".to_string(), "Log File(s) Size (KB)".to_string())];
            let used = counters[&("_Total".to_string(), "Log File(s) Used Size (KB)".to_string())];
            assert_eq!(value("_Total"), used * 100 / size);
        } else {
            assert_eq!(value("_Total"), sum, "{name}");
        }
    }
    assert!(!counters.keys().any(|(instance, _)| instance.is_empty()));
    assert_ne!(fixture.rows(&mut session, POOL), before);
    fixture.rows(&mut other, "USE master");
    fixture.rows(&mut session, "USE master; DROP DATABASE a; DROP DATABASE b");
    assert_eq!(fixture.rows(&mut session, POOL), before, "although sessions keep compiled statements");
    let after = fixture.counters(&mut session);
    for name in ["Data File(s) Size (KB)", "Log File(s) Size (KB)", "Log File(s) Used Size (KB)", "Active Transactions"]
    {
        let value = |instance: &str| after[&(instance.to_string(), name.to_string())];
        assert_eq!(value("_Total"), value("master"), "{name}");
    }
    assert!(!after.keys().any(|(instance, _)| instance == "a"));
    let transactions = counters[&("_Total".to_string(), "Transactions/sec".to_string())];
    assert!(fixture.counter(&mut session, "_Total", "Transactions/sec") >= transactions, "what was done stays done");
}

#[test]
fn extents_and_pages_are_counted_when_a_table_grows() {
    let fixture = Fixture::new(11);
    let mut session = fixture.session();
    let read = |session: &mut Session, name: &str| -> i64 {
        let sql = format!(
            "SELECT cntr_value FROM sys.dm_os_performance_counters WHERE counter_name = '{name} Allocated/sec'"
        );
        fixture.rows(session, &sql)[0].parse().expect("a number")
    };
    fixture.rows(&mut session, "CREATE TABLE dbo.wide (id int NOT NULL, filler char(4000) NOT NULL)");
    let before = ["Extents", "Pages"].map(|name| read(&mut session, name));
    // Two rows a page, eight pages an extent.
    fixture.rows(&mut session, "INSERT dbo.wide SELECT value, REPLICATE('x', 4000) FROM GENERATE_SERIES(1, 64)");
    let after = ["Extents", "Pages"].map(|name| read(&mut session, name));
    let [extents, pages] = [after[0] - before[0], after[1] - before[1]];
    assert!(pages >= 32 && (4..=pages).contains(&extents), "{extents} extents, {pages} pages");
    fixture.rows(&mut session, "INSERT dbo.wide SELECT value, 'x' FROM GENERATE_SERIES(1, 1)");
    assert!(read(&mut session, "Extents") - after[0] <= 1, "a row needs no extent of its own");
}

#[test]
fn clear_starts_one_view_from_zero_and_no_other() {
    let fixture = Fixture::new(11);
    let mut session = fixture.session();
    let statistics = Arc::clone(fixture.server.statistics());
    let read = |session: &mut Session| {
        fixture.rows(
            session,
            "SELECT (SELECT waiting_tasks_count FROM sys.dm_os_wait_stats WHERE wait_type = 'WAITFOR'),
                    (SELECT waiting_requests_count FROM sys.dm_os_latch_stats WHERE latch_class = 'LOG_MANAGER'),
                    (SELECT collisions FROM sys.dm_os_spinlock_stats WHERE name = 'X_PACKET_LIST')",
        )
    };
    let clear = |session: &mut Session, view: &str| {
        fixture.rows(session, &format!("DBCC SQLPERF('sys.{view}', CLEAR) WITH NO_INFOMSGS"))
    };
    let running = fixture.begin(fixture.session(), "WAITFOR DELAY '00:00:01'");
    fixture.server.schedulers().block_on(running).expect("it ends");
    statistics.record_latch_wait(pikepole_contention::LatchClass::LOG_MANAGER, 5);
    statistics.spinlock_collides(pikepole_contention::SpinlockClass::X_PACKET_LIST);
    assert_eq!(read(&mut session), ["1|1|1"]);
    clear(&mut session, "dm_os_latch_stats");
    assert_eq!(read(&mut session), ["1|0|1"]);
    clear(&mut session, "dm_os_wait_stats");
    assert_eq!(read(&mut session), ["0|0|1"]);
    let batches = "SELECT cntr_value FROM sys.dm_os_performance_counters WHERE counter_name = 'Batch Requests/sec'";
    let before: i64 = fixture.rows(&mut session, batches)[0].parse().expect("a number");
    clear(&mut session, "dm_os_spinlock_stats");
    assert_eq!(read(&mut session), ["0|0|0"]);
    assert_eq!(fixture.rows(&mut session, batches), [(before + 3).to_string()], "counters are not cleared");
}

#[test]
fn a_load_tells_how_far_it_is() {
    let fixture = Fixture::new(11);
    let mut watcher = fixture.session();
    let loader = fixture.session();
    let path = fixture.server.folder().join("rows.csv");
    let file = fixture.server.disk().open(path, OpenOptions { create: true, ..OpenOptions::default() });
    let rows: String = (0..3_000).map(|row| format!("{row},some text\n")).collect();
    file.and_then(|file| file.write_at(rows.as_bytes(), 0)).expect("a file that can be written");
    fixture.rows(&mut watcher, "CREATE TABLE t (a int PRIMARY KEY, b varchar(20))");
    let request = format!(
        "SELECT CASE WHEN percent_complete > 0 THEN 1 ELSE 0 END, CASE WHEN row_count > 0 THEN 1 ELSE 0 END
         FROM sys.dm_exec_requests WHERE session_id = {}",
        loader.id()
    );
    // It waits in the middle for the end of a transaction that has one of its keys.
    fixture.rows(&mut watcher, "BEGIN TRAN INSERT t VALUES (2000, 'x')");
    let running = fixture.begin(loader, "BULK INSERT t FROM 'rows.csv' WITH (FORMAT = 'CSV')");
    assert_eq!(fixture.rows(&mut watcher, &request), ["1|1"]);
    fixture.rows(&mut watcher, "ROLLBACK");
    let (loader, _) = fixture.server.schedulers().block_on(running).expect("it ends");
    assert_eq!(fixture.rows(&mut watcher, "SELECT COUNT(*) FROM t"), ["3000"]);
    let running = fixture.begin(loader, "WAITFOR DELAY '00:00:01'");
    // The rows are now those of the batch before.
    assert_eq!(fixture.rows(&mut watcher, &request), ["0|1"]);
    fixture.server.schedulers().block_on(running).expect("it ends");
}

#[test]
fn a_backup_tells_how_far_it_is() {
    /// Far more than it takes.
    const LOOKS: usize = 50_000;
    let fixture = Fixture::new(11);
    let mut watcher = fixture.session();
    let worker = fixture.session();
    fixture.rows(&mut watcher, "CREATE DATABASE d");
    fixture.rows(&mut watcher, "CREATE TABLE d.dbo.t (a int, b char(4000))");
    fixture.rows(&mut watcher, "INSERT d.dbo.t SELECT value, 'x' FROM GENERATE_SERIES(1, 500)");
    let request = format!(
        "SELECT CASE WHEN percent_complete > 0 THEN 1 ELSE 0 END FROM sys.dm_exec_requests WHERE session_id = {}",
        worker.id()
    );
    let running = fixture.spawn(worker, "BACKUP DATABASE d TO DISK = 'd.bak'");
    assert!((0..LOOKS).any(|_| fixture.rows(&mut watcher, &request) == ["1"]), "it is never told");
    let (worker, _) = fixture.server.schedulers().block_on(running).expect("it ends");
    let after = fixture.begin(worker, "WAITFOR DELAY '00:00:01'");
    assert_eq!(fixture.rows(&mut watcher, &request), ["0"], "it is the next batch's no more");
    fixture.server.schedulers().block_on(after).expect("it ends");
}

#[test]
fn sessions_show_the_options_that_they_have_set() {
    const OPTIONS: &str =
        "date_first, quoted_identifier, arithabort, ansi_nulls, transaction_isolation_level, lock_timeout,
        deadlock_priority, text_size, open_transaction_count, database_id";
    let fixture = Fixture::new(11);
    let mut watcher = fixture.session();
    let watched = fixture.session();
    let id = watched.id();
    let look = |watcher: &mut Session, view: &str| {
        fixture.rows(watcher, &format!("SELECT {OPTIONS} FROM sys.{view} WHERE session_id = {id}"))
    };
    assert_eq!(look(&mut watcher, "dm_exec_sessions"), ["7|1|1|1|2|-1|0|2147483647|0|1"]);
    let sql = "SET QUOTED_IDENTIFIER OFF; SET ARITHABORT OFF; SET TRANSACTION ISOLATION LEVEL SNAPSHOT;
               SET LOCK_TIMEOUT 1500; SET DEADLOCK_PRIORITY LOW; SET TEXTSIZE 100; BEGIN TRAN; BEGIN TRAN;
               WAITFOR DELAY '00:00:01'; COMMIT; COMMIT; SET ARITHABORT ON; USE other; WAITFOR DELAY '00:00:01'";
    fixture.rows(&mut watcher, "CREATE DATABASE other");
    let running = fixture.begin(watched, sql);
    let set = "7|0|0|1|5|1500|-5|100|2|1";
    assert_eq!(look(&mut watcher, "dm_exec_requests"), [set], "while the batch runs");
    assert_eq!(look(&mut watcher, "dm_exec_sessions"), [set]);
    let (mut watched, _) = fixture.server.schedulers().block_on(running).expect("it ends");
    let own = fixture.rows(&mut watched, "SELECT DB_ID()");
    assert_eq!(look(&mut watcher, "dm_exec_sessions"), [format!("7|0|1|1|5|1500|-5|100|0|{}", own[0])]);
    assert!(look(&mut watcher, "dm_exec_requests").is_empty());
    let kept = "SET ARITHIGNORE ON; SET CURSOR_CLOSE_ON_COMMIT ON; SET TEXTSIZE -1; SELECT @@OPTIONS & 132, @@TEXTSIZE";
    assert_eq!(fixture.rows(&mut watched, kept), ["132|-1"]);
    fixture.rows(&mut watched, "SET ARITHIGNORE OFF; SET CURSOR_CLOSE_ON_COMMIT OFF");
    assert_eq!(fixture.rows(&mut watched, "SET TEXTSIZE 0; SELECT @@OPTIONS & 132, @@TEXTSIZE"), ["0|4096"]);
    fixture.rows(&mut watched, "SET TEXTSIZE 100");
    let own_options = fixture.rows(&mut watched, "SET ARITHABORT OFF; SELECT @@OPTIONS & 64, @@OPTIONS & 256");
    assert_eq!(own_options, ["0|0"]);
    // A procedure's own options end with it.
    fixture.rows(&mut watched, "CREATE PROCEDURE p AS SET TRANSACTION ISOLATION LEVEL SERIALIZABLE");
    let within = "EXEC p; SELECT transaction_isolation_level FROM sys.dm_exec_sessions WHERE session_id = @@SPID";
    assert_eq!(fixture.rows(&mut watched, within), ["5"]);
}

#[test]
fn transactions_and_their_locks_are_shown_from_their_beginning_to_their_end() {
    const ALL: &str =
        "SELECT a.name, a.transaction_type, s.session_id, s.is_user_transaction, s.open_transaction_count,
            DB_NAME(d.database_id), d.database_transaction_state, d.database_transaction_log_record_count
        FROM sys.dm_tran_active_transactions a
        JOIN sys.dm_tran_session_transactions s ON s.transaction_id = a.transaction_id
        JOIN sys.dm_tran_database_transactions d ON d.transaction_id = a.transaction_id ORDER BY s.session_id";
    let fixture = Fixture::new(11);
    let (mut a, mut b, mut watcher) = (fixture.session(), fixture.session(), fixture.session());
    fixture.rows(&mut a, "CREATE DATABASE other");
    fixture.rows(&mut a, "CREATE TABLE k (id int PRIMARY KEY, v int); INSERT k VALUES (1, 1), (2, 2)");
    assert!(fixture.rows(&mut watcher, ALL).is_empty());
    fixture.rows(&mut a, "BEGIN TRAN mine; SELECT * FROM k");
    fixture.rows(&mut b, "USE other; BEGIN TRAN; BEGIN TRAN");
    let (one, two) = (a.id(), b.id());
    let idle = format!("user_transaction|2|{two}|1|2|other|3|0");
    assert_eq!(fixture.rows(&mut watcher, ALL), [format!("mine|2|{one}|1|1|master|3|0"), idle.clone()]);
    fixture.rows(&mut a, "UPDATE k SET v = 5 WHERE id = 1; UPDATE k SET v = 5 WHERE id = 2");
    assert_eq!(fixture.rows(&mut watcher, ALL), [format!("mine|1|{one}|1|1|master|4|2"), idle]);
    let bytes = "SELECT database_transaction_log_bytes_used, database_transaction_log_bytes_reserved,
                   database_transaction_last_lsn - database_transaction_begin_lsn
                 FROM sys.dm_tran_database_transactions WHERE database_transaction_state = 4";
    let row = fixture.server.database("master").expect("it is there").active_transactions().remove(0);
    assert_eq!(row.log_records, 2);
    let span = row.last_lsn.expect("it has records").0 - row.first_lsn.expect("it has records").0;
    assert!(span < row.log_bytes, "the last record begins where the others end");
    let expected = format!("{}|{}|", row.log_bytes, row.reserved_bytes);
    assert!(fixture.rows(&mut watcher, bytes)[0].starts_with(&expected));

    // Another session wants a row of it.
    fixture.rows(&mut b, "COMMIT; COMMIT; USE master");
    let waiting = fixture.begin(b, "UPDATE k SET v = 6 WHERE id = 1");
    let request = "SELECT session_id, blocking_session_id, wait_type, command FROM sys.dm_exec_requests WHERE blocking_session_id > 0";
    assert_eq!(fixture.rows(&mut watcher, request), [format!("{two}|{one}|LCK_M_X|UPDATE")]);
    let old = format!("SELECT blocked FROM sysprocesses WHERE spid = {two}");
    assert_eq!(fixture.rows(&mut watcher, &old), [one.to_string()]);
    let locks = "SELECT resource_type, request_mode, request_status, request_session_id,
                   (SELECT COUNT(*) FROM sys.dm_tran_locks o WHERE o.resource_description = l.resource_description
                    AND o.request_session_id <> l.request_session_id)
                 FROM sys.dm_tran_locks l WHERE resource_type = 'XACT' ORDER BY request_session_id";
    let row = |status: &str, session: i32| format!("XACT|X|{status}|{session}|1");
    assert_eq!(fixture.rows(&mut watcher, locks), [row("GRANT", one), row("WAIT", two)]);
    let tables = "SELECT DISTINCT OBJECT_NAME(resource_associated_entity_id), request_mode, request_session_id
                  FROM sys.dm_tran_locks WHERE resource_type = 'OBJECT' AND request_status = 'GRANT' AND request_mode = 'IX'";
    assert!(fixture.rows(&mut watcher, tables).contains(&format!("k|IX|{one}")));
    let mut output = Collected::default();
    fixture.server.schedulers().block_on(watcher.run("DBCC OPENTRAN('master')", &mut [], &mut output));
    let said: Vec<&str> = output.messages().iter().map(|message| message.trim_end()).collect();
    assert!(said.contains(&format!("    SPID (server process ID): {one}").as_str()), "{said:?}");
    assert!(said.contains(&"    Name          : mine"), "{said:?}");
    let table = fixture.rows(&mut watcher, "DBCC OPENTRAN WITH TABLERESULTS, NO_INFOMSGS");
    assert_eq!(table[..3], [format!("OLDACT_SPID|{one}"), "OLDACT_UID|-1".to_string(), "OLDACT_NAME|mine".to_string()]);

    fixture.rows(&mut a, "COMMIT");
    fixture.server.schedulers().block_on(waiting).expect("it ends");
    assert!(fixture.rows(&mut watcher, ALL).is_empty());
    assert!(fixture.rows(&mut watcher, locks).is_empty());
}

#[test]
fn what_holds_the_log_is_named() {
    const REASON: &str = "SELECT d.log_reuse_wait, d.log_reuse_wait_desc, s.log_truncation_holdup_reason
        FROM sys.databases d CROSS APPLY sys.dm_db_log_stats(d.database_id) s WHERE d.database_id = DB_ID()";
    let fixture = Fixture::new(11);
    let (mut session, mut watcher) = (fixture.session(), fixture.session());
    fixture.rows(&mut session, "CREATE TABLE k (id int PRIMARY KEY, v varchar(8000)); CHECKPOINT");
    assert_eq!(fixture.rows(&mut watcher, REASON), ["0|NOTHING|NOTHING"]);
    fixture.rows(&mut session, "BEGIN TRAN; INSERT k VALUES (0, 'a'); CHECKPOINT");
    assert_eq!(fixture.rows(&mut watcher, REASON), ["4|ACTIVE_TRANSACTION|ACTIVE_TRANSACTION"]);
    fixture.rows(&mut session, "COMMIT");
    assert_eq!(fixture.rows(&mut watcher, REASON), ["0|NOTHING|NOTHING"]);
    let database = fixture.server.database("master").expect("it is there");
    let enough = database.log_stats().bytes_max / 16;
    let mut id = 0;
    while database.log_since_checkpoint() <= enough {
        id += 1;
        fixture.rows(&mut session, &format!("INSERT k VALUES ({id}, '{}')", "x".repeat(7000)));
    }
    assert_eq!(fixture.rows(&mut watcher, REASON), ["1|CHECKPOINT|CHECKPOINT"]);
    fixture.rows(&mut session, "CHECKPOINT");
    assert_eq!(fixture.rows(&mut watcher, REASON), ["0|NOTHING|NOTHING"]);
}

#[test]
fn the_machine_and_its_tasks_fit_together() {
    let fixture = Fixture::new(11);
    let watched = fixture.session();
    let id = watched.id();
    let running = fixture.begin(watched, "WAITFOR DELAY '00:00:05'");
    let mut session = fixture.session();
    let joined = format!(
        "SELECT w.state, w.last_wait_type, s.scheduler_id - r.scheduler_id, n.node_state_desc,
                CASE WHEN i.ms_ticks >= w.wait_started_ms_ticks THEN 1 ELSE 0 END, m.memory_node_id
         FROM sys.dm_exec_requests r JOIN sys.dm_os_tasks t ON t.task_address = r.task_address
         JOIN sys.dm_os_workers w ON w.worker_address = t.worker_address AND w.task_address = t.task_address
         JOIN sys.dm_os_schedulers s ON s.scheduler_address = w.scheduler_address
         JOIN sys.dm_os_nodes n ON n.node_id = s.parent_node_id
         JOIN sys.dm_os_memory_nodes m ON m.memory_node_id = n.memory_node_id
         CROSS JOIN sys.dm_os_sys_info i WHERE r.session_id = {id}"
    );
    assert_eq!(fixture.rows(&mut session, &joined), ["SUSPENDED|NULL|0|ONLINE|1|0"]);
    let counts = "SELECT scheduler_count, (SELECT SUM(online_scheduler_count) FROM sys.dm_os_nodes),
                         (SELECT COUNT(*) FROM sys.dm_os_schedulers WHERE status = 'VISIBLE ONLINE') FROM sys.dm_os_sys_info";
    assert_eq!(fixture.rows(&mut session, counts), ["2|2|2"]);
    let files = "SELECT name, file_id, type_desc FROM sys.master_files ORDER BY file_id";
    assert_eq!(fixture.rows(&mut session, files), ["master|1|ROWS", "master_log|2|LOG"]);
    let pages = "SELECT CASE WHEN num_of_writes > 0 AND num_of_bytes_written >= 8192 * num_of_writes
                   AND num_of_bytes_written % 8192 = 0 THEN 1 ELSE 0 END FROM sys.dm_io_virtual_file_stats(1, 1)";
    fixture.rows(&mut session, "CREATE TABLE t (id int PRIMARY KEY); INSERT t VALUES (1); CHECKPOINT");
    assert_eq!(fixture.rows(&mut session, pages), ["1"]);
    fixture.server.schedulers().block_on(running).expect("it ends");
}

#[test]
fn a_spinlock_acquisition_that_backed_off_is_an_event() {
    let fixture = Fixture::new(11);
    let mut session = fixture.session();
    let sql = "SELECT x.value('(//data[@name=\"type\"]/text)[1]', 'varchar(60)'),
                      x.value('(//data[@name=\"backoffs\"]/value)[1]', 'int'), x.value('(//data[@name=\"spins\"]/value)[1]', 'int')
               FROM (SELECT CAST(record AS xml) AS x FROM sys.dm_os_ring_buffers
                     WHERE ring_buffer_type = 'RING_BUFFER_SPINLOCK_BACKOFF') r";
    assert!(fixture.rows(&mut session, sql).is_empty());
    let mut spinner = pikepole_contention::Spinner::new();
    while spinner.backoffs() < 2 {
        spinner.spin();
        spinner.back_off_if_due();
    }
    let statistics = fixture.server.statistics();
    statistics.spinlock_spun(pikepole_contention::SpinlockClass::LOGCACHE_ACCESS, &spinner);
    statistics.spinlock_spun(pikepole_contention::SpinlockClass::XDESMGR, &pikepole_contention::Spinner::new());
    assert_eq!(fixture.rows(&mut session, sql), [format!("LOGCACHE_ACCESS|2|{}", spinner.spins())]);
}
