//! The embedded API on real threads and a real folder: opening and refusing, requests, streaming, cancelling, closing.

use pikepole_embedded::{Engine, Error, Event, Options, Value, check};
use std::path::{Path, PathBuf};

/// A folder of its own for a test, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("embedded-{name}-{}", std::process::id()));
        // Left behind by an earlier run that was killed.
        let _ = std::fs::remove_dir_all(&path);
        Folder(path)
    }

    fn options(&self) -> Options {
        Options::new(&self.0).buffer_pool_bytes(16 << 20).log_bytes_max(256 << 20)
    }

    fn open(&self) -> Engine {
        Engine::open(self.options()).expect("the folder opens")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder that stays behind is found by the next run.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn rows_outlive_the_engine() {
    let folder = Folder::new("outlive");
    let engine = folder.open();
    let mut connection = engine.connect_blocking().expect("connects");
    assert_eq!(connection.session_id(), 51);
    connection.execute("CREATE TABLE t (id int PRIMARY KEY, v varchar(10))", &[]).expect("creates");
    let outcome = connection.execute("INSERT t VALUES (1, 'a'), (2, 'b')", &[]).expect("inserts");
    assert_eq!(outcome.rows_affected, 2);
    connection.execute("BEGIN TRAN; INSERT t VALUES (3, 'c')", &[]).expect("inserts");
    drop(connection);
    engine.shutdown().expect("closes in order");
    assert!(matches!(engine.connect_blocking().err(), Some(Error::Closed)));
    engine.shutdown().expect("a second time does nothing");
    assert!(engine.policies().is_empty());
    let report = check(&folder.0, &mut |_| {}).expect("the folder can be checked");
    assert!(report.damage.is_empty(), "{:?}", report.damage);
    assert!(!report.lines.is_empty());
    let engine = folder.open();
    let mut connection = engine.connect_blocking().expect("connects");
    let rows = connection.query("SELECT id, v FROM t ORDER BY id", &[]).expect("selects");
    let texts: Vec<String> = rows.iter().map(|row| format!("{} {}", row.text(0), row.text(1))).collect();
    assert_eq!(texts, ["1 a", "2 b"]);
}

#[test]
fn the_last_owner_closes_the_folder() {
    let folder = Folder::new("owner");
    let engine = folder.open();
    let mut connection = engine.connect_blocking().expect("connects");
    drop(engine);
    connection.execute("CREATE TABLE t (id int)", &[]).expect("the connection keeps it open");
    drop(connection);
    let engine = folder.open();
    let mut connection = engine.connect_blocking().expect("connects");
    connection.query("SELECT * FROM t", &[]).expect("the table is there");
}

#[test]
fn folders_that_cannot_be_opened_say_why() {
    let folder = Folder::new("refused");
    let refusal = |options: Options| match Engine::open(options).err() {
        Some(Error::Open(why)) => why,
        other => panic!("{other:?}"),
    };
    let missing = refusal(folder.options().create(false));
    assert!(missing.contains("cannot be opened"), "{missing}");
    let engine = folder.open();
    let in_use = refusal(folder.options());
    assert!(in_use.contains("in use") && in_use.contains(&std::process::id().to_string()), "{in_use}");
    engine.shutdown().expect("closes");
    drop(engine);
    let policy = refusal(folder.options().policy("LOG_RESERVATION", "NOTHING"));
    assert!(policy.contains("SPINLOCK, ATOMIC"), "{policy}");
    let file = folder.0.join("a-file");
    std::fs::write(&file, "text").expect("writes");
    let not_a_folder = refusal(Options::new(&file));
    assert!(not_a_folder.contains("is a file"), "{not_a_folder}");
    std::fs::write(folder.0.join("pikepole.toml"), "format = 99\n").expect("writes");
    let version = refusal(folder.options());
    assert!(version.contains("format 99"), "{version}");
}

#[test]
fn policies_are_listed_and_set() {
    let folder = Folder::new("policies");
    let engine = Engine::open(folder.options().policy("LOG_RESERVATION", "SPINLOCK")).expect("opens");
    let value = |engine: &Engine| {
        let policies = engine.policies();
        policies.into_iter().find(|policy| policy.name == "LOG_RESERVATION").expect("it is there").value
    };
    assert_eq!(value(&engine), "SPINLOCK");
    engine.set_policy("LOG_RESERVATION", "ATOMIC").expect("a value");
    assert_eq!(value(&engine), "ATOMIC");
    assert!(matches!(engine.set_policy("LOG_RESERVATION", "x"), Err(Error::Usage(_))));
    let mut connection = engine.connect_blocking().expect("connects");
    let rows = connection
        .query("SELECT value_in_use FROM sys.dm_pikepole_policies WHERE name = 'LOG_RESERVATION'", &[])
        .expect("shows");
    let row = rows.iter().next().expect("one row");
    assert_eq!(row.get::<String>("value_in_use"), Ok("ATOMIC".to_string()));
}

#[test]
fn errors_carry_what_sql_server_says() {
    let folder = Folder::new("errors");
    let engine = folder.open();
    let mut connection = engine.connect_blocking().expect("connects");
    let error = connection.execute("SELECT 1;\nSELECT 1 / 0;", &[]).expect_err("divides by zero");
    let Error::Sql(error) = error else { panic!("{error:?}") };
    assert_eq!((error.number, error.severity, error.line), (8134, 16, 2));
    let caught = "BEGIN TRY SELECT 1 / 0 END TRY BEGIN CATCH PRINT ERROR_NUMBER() END CATCH";
    let outcome = connection.execute(caught, &[]).expect("the error is caught");
    assert_eq!(outcome.messages[0].text, "8134");
    assert!(matches!(connection.query("PRINT 1", &[]), Err(Error::Usage(_))));
    let rows = connection.query("SELECT CAST(NULL AS int) AS a, 'x' AS b", &[]).expect("selects");
    let row = rows.iter().next().expect("one row");
    assert_eq!(row.get::<Option<i32>>("a"), Ok(None));
    assert!(row.get::<i32>("a").is_err() && row.get::<i32>("B").is_err() && row.get::<i32>("c").is_err());
}

#[test]
fn values_of_every_type_go_in_and_come_back() {
    let folder = Folder::new("values");
    let engine = folder.open();
    let mut connection = engine.connect_blocking().expect("connects");
    let long = "ä".repeat(5000);
    let values = [
        ("@a", Value::Bit(true)),
        ("@b", Value::BigInt(i64::MIN)),
        ("@c", Value::Float(0.1)),
        ("@d", Value::from(long.as_str())),
        ("@e", Value::Bin(vec![7; 9000])),
        ("@f", Value::Null),
        ("@g", Value::from("short")),
        ("@h", Value::Guid([9; 16])),
    ];
    let outcome =
        connection.execute("SELECT @a, @b, @c, @d, @e, @f, @g, @h; SET @g = N'other'", &values).expect("selects");
    let row = outcome.sets[0].iter().next().expect("one row");
    for (got, (name, sent)) in row.values().iter().zip(&values) {
        assert_eq!(got, sent, "{name}");
    }
    assert_eq!(outcome.parameters[6], ("@g".to_string(), Value::from("other")));
    assert_eq!(outcome.parameters[0].1, Value::Bit(true));
}

/// A loop of statements that count nothing sends nothing.
#[test]
fn nocount_sends_no_events() {
    let folder = Folder::new("nocount");
    let engine = folder.open();
    let mut connection = engine.connect_blocking().expect("connects");
    fill(&mut connection);
    let sql = "SET NOCOUNT ON; UPDATE t SET id = id; DELETE t WHERE id < 5; SELECT COUNT(*) FROM t";
    let events: Vec<Event> = connection.run(sql, &[]).expect("runs").map(|event| event.expect("no error")).collect();
    assert!(matches!(events.as_slice(), [Event::Columns(_), Event::Row(_), Event::Done { rows: None }]), "{events:?}");
}

/// More rows than the mailbox holds: the session waits until the caller takes them.
#[test]
fn long_results_stream() {
    let folder = Folder::new("stream");
    let engine = folder.open();
    let mut connection = engine.connect_blocking().expect("connects");
    let mut observer = engine.connect_blocking().expect("connects");
    fill(&mut connection);
    let session_id = [("@id", Value::Int(connection.session_id()))];
    let mut events = connection.run("SELECT a.id FROM t a CROSS JOIN t b", &[]).expect("runs");
    let waiting =
        "SELECT wait_type FROM sys.dm_exec_requests WHERE session_id = @id AND wait_type = 'ASYNC_NETWORK_IO'";
    while observer.query(waiting, &session_id).expect("selects").is_empty() {
        std::thread::yield_now();
    }
    let mut sum = 0;
    for event in &mut events {
        if let Event::Row(row) = event.expect("no error") {
            sum += row.get::<i64>(0).expect("an integer");
        }
    }
    assert_eq!(sum, 100 * (99 * 100 / 2));
    let waits = "SELECT waiting_tasks_count FROM sys.dm_os_wait_stats WHERE wait_type = 'ASYNC_NETWORK_IO'";
    let rows = observer.query(waits, &[]).expect("selects");
    assert!(rows.iter().next().expect("one row").get::<i64>(0).expect("a number") > 0);
}

#[test]
fn an_answer_left_unread_is_given_up() {
    let folder = Folder::new("unread");
    let engine = folder.open();
    let mut connection = engine.connect_blocking().expect("connects");
    fill(&mut connection);
    connection.run("SELECT a.id FROM t a CROSS JOIN t b CROSS JOIN t c", &[]).expect("runs");
    let rows = connection.query("SELECT 3 AS n", &[]).expect("the next batch runs");
    assert_eq!(rows.iter().next().expect("one row").get::<i32>("n"), Ok(3));
    connection.run("WHILE 1 = 1 DECLARE @i int", &[]).expect("runs");
    drop(connection);
    let mut connection = engine.connect_blocking().expect("connects");
    connection.run("WHILE 1 = 1 DECLARE @i int", &[]).expect("runs");
    engine.shutdown().expect("an endless batch does not keep the engine open");
    assert!(matches!(connection.execute("SELECT 1", &[]), Err(Error::Closed)));
}

#[test]
fn many_sessions_work_at_once() {
    let folder = Folder::new("many");
    let engine = folder.open();
    let mut control = engine.connect_blocking().expect("connects");
    control.execute("CREATE TABLE t (id bigint PRIMARY KEY)", &[]).expect("creates");
    let threads: Vec<_> = (0..8)
        .map(|thread: i64| {
            let mut connection = engine.connect_blocking().expect("connects");
            std::thread::spawn(move || {
                for turn in 0..50 {
                    let id = Value::BigInt(thread * 1000 + turn);
                    connection.execute("INSERT t VALUES (@id)", &[("@id", id)]).expect("inserts");
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().expect("no panic");
    }
    let rows = control.query("SELECT COUNT(*) AS n FROM t", &[]).expect("counts");
    assert_eq!(rows.iter().next().expect("one row").get::<i32>("n"), Ok(400));
    let mut writers = || {
        let count = "SELECT COUNT(*) FROM sys.dm_exec_requests WHERE command = 'LOG WRITER'";
        let rows = control.query(count, &[]).expect("selects");
        rows.iter().next().expect("one row").get::<i32>(0)
    };
    let by_machine = writers().expect("a count");
    assert!((1..=8).contains(&by_machine), "{by_machine}");
    let mut other = engine.connect_blocking().expect("connects");
    other.execute("ALTER SERVER CONFIGURATION SET PIKEPOLE LOG_WRITERS = 5", &[]).expect("sets");
    assert_eq!(writers(), Ok(5));
    other.execute("CREATE DATABASE later", &[]).expect("creates");
    assert_eq!(writers(), Ok(10), "a new database has the policies of now");
    other.execute("ALTER SERVER CONFIGURATION SET PIKEPOLE LOG_WRITERS = AUTO", &[]).expect("sets");
    while writers() != Ok(2 * by_machine) {
        std::thread::yield_now();
    }
}

fn fill(connection: &mut pikepole_embedded::blocking::Connection) {
    let sql = "CREATE TABLE t (id int PRIMARY KEY);
               SET NOCOUNT ON;
               BEGIN TRAN;
               DECLARE @i int = 0;
               WHILE @i < 100 BEGIN INSERT t VALUES (@i); SET @i += 1; END;
               COMMIT;";
    connection.execute(sql, &[]).expect("fills");
}

#[test]
fn waitfor_time_ends_when_the_time_has_come() {
    let folder = Folder::new("waitfor");
    let mut connection = folder.open().connect_blocking().expect("connects");
    let waits = "DECLARE @until datetime = DATEADD(ms, 200, GETDATE()); WAITFOR TIME @until; SELECT IIF(GETDATE() >= @until, 1, 0) AS is_over";
    let rows = connection.query(waits, &[]).expect("waits");
    let over: Vec<i32> = rows.iter().map(|row| row.get("is_over").expect("a number")).collect();
    assert_eq!(over, [1]);
}

#[test]
fn what_is_raised_without_waiting_arrives_while_the_batch_runs() {
    let folder = Folder::new("nowait");
    let engine = folder.open();
    let mut connection = engine.connect_blocking().expect("a connection");
    let canceller = connection.canceller();
    let sql = "RAISERROR('on the way', 10, 1) WITH NOWAIT; WAITFOR DELAY '23:59:59';";
    let mut events = connection.run(sql, &[]).expect("it begins");
    let first = events.next().expect("an event").expect("the engine is open");
    assert!(matches!(&first, Event::Message(message) if message.text == "on the way"), "{first:?}");
    canceller.cancel();
    let last = events.last().expect("an event").expect("the engine is open");
    assert!(matches!(&last, Event::Error(error) if error.number == 3617), "{last:?}");
}

#[test]
fn a_connection_knows_where_its_last_batch_left_it() {
    let folder = Folder::new("place");
    let engine = folder.open();
    let mut connection = engine.connect_blocking().expect("a connection");
    assert_eq!((connection.database().as_str(), connection.is_in_transaction()), ("master", false));
    connection.execute("CREATE DATABASE sales", &[]).expect("it is made");
    connection.execute("USE sales BEGIN TRANSACTION", &[]).expect("it begins");
    assert_eq!((connection.database().as_str(), connection.is_in_transaction()), ("sales", true));
    connection.execute("RAISERROR('no', 16, 1)", &[]).expect_err("it fails");
    assert!(connection.is_in_transaction());
    connection.execute("ROLLBACK USE master", &[]).expect("it ends");
    assert_eq!((connection.database().as_str(), connection.is_in_transaction()), ("master", false));
}
