//! What programs call: parameters, rows, prepared statements, transactions, appenders, in both forms.

use pikepole_embedded::blocking::Connection;
use pikepole_embedded::{Decimal, Engine, Error, Value, params};

fn connection() -> (Engine, Connection) {
    let engine = Engine::in_memory().expect("memory is there");
    let connection = engine.connect_blocking().expect("connects");
    (engine, connection)
}

fn number<T: std::fmt::Debug>(result: Result<T, Error>) -> i32 {
    result.expect_err("it fails").number().expect("a statement's error")
}

/// A future that waits for the engine alone, run by this thread.
fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(std::thread::Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: std::sync::Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = std::sync::Arc::new(Unpark(std::thread::current())).into();
    let mut future = std::pin::pin!(future);
    loop {
        if let std::task::Poll::Ready(output) = future.as_mut().poll(&mut std::task::Context::from_waker(&waker)) {
            return output;
        }
        std::thread::park();
    }
}

#[test]
fn parameters_have_names_or_places_and_types() {
    let (_engine, mut connection) = connection();
    let sum: i64 = connection.query_value("SELECT @a + @b", params![@a = 1u8, @b = 2i64]).expect("a sum");
    assert_eq!(sum, 3);
    let text: String = connection.query_value("SELECT @p2 + @p1", params!["b", String::from("a")]).expect("a text");
    assert_eq!(text, "ab");
    let none: Option<String> = connection.query_value("SELECT @p1", params![None::<&str>]).expect("NULL");
    assert_eq!(none, None);
    let ty = "SELECT CAST(SQL_VARIANT_PROPERTY(@p1, 'BaseType') AS nvarchar(20))";
    let name = |connection: &mut Connection, value: Value| -> String {
        connection.query_value(ty, params![value]).expect("a type")
    };
    assert_eq!(name(&mut connection, Value::from(1i16)), "smallint");
    assert_eq!(name(&mut connection, Value::from(u64::MAX)), "decimal");
    assert_eq!(name(&mut connection, Value::from(1.5f32)), "real");
    // A NULL is of the type that its value would have: as a text it could not go into binary columns.
    connection.execute("CREATE TABLE t (b varbinary(10), d date)", []).expect("creates");
    connection.execute("INSERT t (b) VALUES (@p1)", params![None::<Vec<u8>>]).expect("a typed NULL");
    assert_eq!(number(connection.execute("INSERT t (b) VALUES (@p1)", params![None::<String>])), 257);
    // The old form is as good.
    let pairs = [("@a", Value::Int(1))];
    assert_eq!(connection.query_value::<i32>("SELECT @a", &pairs), Ok(1));
    let outcome = connection.execute("SET @a += 1", &pairs).expect("sets");
    assert_eq!(outcome.parameter::<i32>("@A"), Ok(2));
    assert!(matches!(outcome.parameter::<i32>("@b"), Err(Error::Usage(_))));
    assert!(matches!(outcome.parameter::<bool>("@a"), Ok(true)));
}

#[test]
fn a_value_that_is_no_number_is_refused_by_name() {
    let (_engine, mut connection) = connection();
    for value in [f64::NAN, f64::INFINITY] {
        let error = connection.execute("SELECT @x", params![@x = value]).expect_err("it is none");
        let error = error.sql().expect("a statement's error").clone();
        assert_eq!((error.number, error.severity, error.state), (8023, 16, 1));
        assert!(error.message.contains("Parameter 1 (\"@x\")"), "{error:?}");
    }
    connection.execute("CREATE TABLE t (x float)", []).expect("creates");
    let mut appender = connection.appender("t", &[]).expect("begins");
    assert_eq!(number(appender.append(params![f32::NAN])), 8023);
}

#[test]
fn one_row_or_none() {
    let (_engine, mut connection) = connection();
    let two = "SELECT n, t FROM (VALUES (2, N'b'), (1, N'a')) AS v(n, t) ORDER BY n; SELECT 'other'";
    let row = connection.query_row(two, []).expect("a row");
    assert_eq!((row.get(0), row.get("t")), (Ok(1), Ok("a".to_owned())));
    assert!(matches!(connection.query_row("SELECT 1 WHERE 1 = 0", []), Err(Error::NoRow)));
    assert!(matches!(connection.query_opt("SELECT 1 WHERE 1 = 0; SELECT 2", []), Ok(None)));
    assert!(matches!(connection.query_opt("PRINT 1", []), Err(Error::Usage(_))));
    assert_eq!(number(connection.query_row("SELECT 1;\nSELECT 1 / 0", [])), 8134);
    assert!(matches!(connection.query_value::<i32>("SELECT 'x'", []), Err(Error::Usage(_))));
    // What comes behind the row has its effect.
    connection.execute("CREATE TABLE t (id int)", []).expect("creates");
    connection.query_row("INSERT t OUTPUT inserted.id VALUES (1), (2), (3)", []).expect("a row");
    assert_eq!(connection.query_value("SELECT COUNT(*) FROM t", []), Ok(3));
}

/// How often the cache of plans was asked for a text, and how often anything was compiled.
fn looks(connection: &mut Connection, marker: &str) -> (i64, i64) {
    let uses = "SELECT ISNULL(SUM(CAST(p.usecounts AS bigint)), 0) FROM sys.dm_exec_cached_plans AS p \
                CROSS APPLY sys.dm_exec_sql_text(p.plan_handle) AS t WHERE t.text LIKE @p1";
    let uses = connection.query_value(uses, params![format!("%/* {marker} */%")]).expect("counts");
    let compilations =
        "SELECT cntr_value FROM sys.dm_os_performance_counters WHERE counter_name = 'SQL Compilations/sec'";
    (uses, connection.query_value(compilations, []).expect("a counter"))
}

#[test]
fn a_prepared_statement_is_neither_parsed_nor_looked_for_again() {
    let (_engine, mut connection) = connection();
    connection.execute("CREATE TABLE t (id int PRIMARY KEY, v nvarchar(20))", []).expect("creates");
    let prepared = connection.prepare("INSERT t VALUES (@id, @v) /* prepared */");
    let typed = connection
        .prepare_typed("INSERT t VALUES (@id, @v) /* typed */", "@id int, @v nvarchar(20)")
        .expect("compiles");
    let text = "INSERT t VALUES (@id, @v) /* text */";
    let markers = ["prepared", "typed", "text"];
    for id in 0..3 {
        connection.execute(&prepared, params![@id = id * 10, @v = "a"]).expect("inserts");
        connection.execute(&typed, params![@id = id * 10 + 1, @v = "a"]).expect("inserts");
        connection.execute(text, params![@id = id * 10 + 2, @v = "a"]).expect("inserts");
        // Warms the plans of the question itself.
        let _ = markers.map(|marker| looks(&mut connection, marker));
    }
    let before = markers.map(|marker| looks(&mut connection, marker));
    for id in 10..110 {
        connection.execute(&prepared, params![@id = id * 10, @v = "b"]).expect("inserts");
        connection.execute(&typed, params![@id = id * 10 + 1, @v = "b"]).expect("inserts");
        connection.execute(text, params![@id = id * 10 + 2, @v = "b"]).expect("inserts");
    }
    let after = markers.map(|marker| looks(&mut connection, marker));
    let asked = [0, 1, 2].map(|at| after[at].0 - before[at].0);
    assert_eq!(asked, [0, 0, 100], "lookups of the prepared texts and of the plain one");
    assert_eq!(after[2].1, before[0].1, "nothing was compiled");
    assert_eq!(connection.query_value("SELECT COUNT(*) FROM t", []), Ok(309));
}

#[test]
fn a_prepared_statement_follows_its_tables_and_its_values() {
    let (engine, mut connection) = connection();
    connection.execute("CREATE TABLE t (a int)", []).expect("creates");
    let select = connection.prepare("SELECT * FROM t");
    assert_eq!(connection.query(&select, []).expect("selects").columns().len(), 1);
    connection.execute("ALTER TABLE t ADD b int", []).expect("alters");
    assert_eq!(connection.query(&select, []).expect("selects").columns().len(), 2);
    let echo = connection.prepare("SELECT @p1 AS v");
    let long = "x".repeat(5000);
    for text in ["short", long.as_str(), "short again"] {
        assert_eq!(connection.query_value::<String>(&echo, params![text]), Ok(text.to_owned()));
    }
    let decimal = |mantissa, precision, scale| Decimal::new(mantissa, precision, scale).expect("a decimal");
    for (given, expected) in [(decimal(15, 2, 1), "1.5"), (decimal(12345, 5, 2), "123.45"), (decimal(7, 1, 0), "7.00")]
    {
        let row = connection.query_row(&echo, params![given]).expect("a row");
        assert_eq!(row.text(0), expected);
    }
    for number in [1i64, i64::MAX, 3] {
        assert_eq!(connection.query_value::<i64>(&echo, params![number]), Ok(number));
    }
    assert_eq!(connection.query_value::<Option<i32>>(&echo, params![None::<i32>]), Ok(None));
    // Assigned parameters come back, as those of a batch.
    let double = connection.prepare("SET @n *= 2");
    assert_eq!(connection.execute(&double, params![@n = 4]).expect("runs").parameter::<i32>("@n"), Ok(8));
    let typed = connection.prepare_typed("SET @n *= 2; SET @m = @n", "@n int, @m int OUTPUT").expect("compiles");
    let outcome = connection.execute(&typed, params![@n = 4, @m = 0]).expect("runs");
    assert_eq!((outcome.parameter::<i32>("@n"), outcome.parameter::<i32>("@m")), (Ok(4), Ok(8)));
    let by_place = connection.execute(&typed, params![5, 0]).expect("runs");
    assert_eq!(by_place.parameter::<i32>("@p2"), Ok(10));
    // Errors: of the text, of the values, of another connection.
    assert_eq!(number(connection.prepare_typed("SELECT\nFROM", "")), 156);
    assert_eq!(number(connection.prepare_typed("SELECT @a", "@a intt")), 2715);
    assert_eq!(number(connection.execute(&typed, params![@n = "x", @m = 0])), 8114);
    assert_eq!(number(connection.execute(&typed, params![@n = 1])), 8178);
    let syntax = connection.prepare("SELECT\nFROM");
    let error = connection.execute(&syntax, []).expect_err("no statement");
    assert_eq!(error.sql().map(|error| (error.number, error.line)), Some((156, 2)));
    let mut other = engine.connect_blocking().expect("connects");
    assert!(matches!(other.execute(&select, []), Err(Error::Usage(_))));
    drop((select, echo));
    assert_eq!(connection.query_value("SELECT 1", []), Ok(1));
}

#[test]
fn a_transaction_is_rolled_back_unless_it_is_committed() {
    let (engine, mut connection) = connection();
    let mut other = engine.connect_blocking().expect("connects");
    connection.execute("CREATE TABLE t (id int PRIMARY KEY)", []).expect("creates");
    let count = "SELECT COUNT(*) FROM t";
    let mut transaction = connection.transaction().expect("begins");
    transaction.execute("INSERT t VALUES (1)", []).expect("inserts");
    transaction.query("SELECT id FROM t", []).expect("selects");
    transaction.run("SELECT a.number FROM master..spt_values a CROSS JOIN master..spt_values b", []).expect("runs");
    drop(transaction);
    // When it has been dropped, its locks are gone.
    other.execute("SET LOCK_TIMEOUT 0; INSERT t VALUES (1); DELETE t", []).expect("no lock is met");
    let mut transaction = connection.transaction().expect("begins");
    transaction.execute("INSERT t VALUES (2)", []).expect("inserts");
    assert_eq!(transaction.query_value(count, []), Ok(1));
    transaction.commit().expect("commits");
    assert_eq!(other.query_value(count, []), Ok(1));
    let mut transaction = connection.transaction().expect("begins");
    transaction.execute("INSERT t VALUES (3)", []).expect("inserts");
    transaction.rollback().expect("rolls back");
    assert_eq!(other.query_value(count, []), Ok(1));
    // One at a time.
    connection.execute("BEGIN TRANSACTION", []).expect("begins");
    assert!(matches!(connection.transaction().map(drop), Err(Error::Usage(_))));
    connection.execute("ROLLBACK", []).expect("ends");
    // An error that ends it ends the guard: what follows must not run outside of it.
    let mut transaction = connection.transaction().expect("begins");
    assert_eq!(number(transaction.execute("SET XACT_ABORT ON; INSERT t VALUES (4), (2)", [])), 2627);
    assert!(matches!(transaction.execute("INSERT t VALUES (5)", []), Err(Error::TransactionEnded)));
    assert!(matches!(transaction.commit(), Err(Error::TransactionEnded)));
    assert_eq!(other.query_value(count, []), Ok(1));
}

#[test]
fn an_async_transaction_is_rolled_back_at_once_too() {
    let engine = Engine::in_memory().expect("memory is there");
    block_on(async {
        let (mut connection, mut other) = (engine.connect()?, engine.connect()?);
        connection.execute("CREATE TABLE t (id int PRIMARY KEY)", []).await?;
        for _ in 0..50 {
            let mut transaction = connection.transaction().await?;
            transaction.execute("INSERT t VALUES (1)", []).await?;
            // A batch that is still at work is ended with it.
            transaction.run("WHILE 1 = 1 DECLARE @i int", []).await?;
            drop(transaction);
            assert!(!connection.is_in_transaction());
            // The other waits for a lock at most until the rollback has come.
            other.execute("INSERT t VALUES (1); DELETE t", []).await?;
            connection.execute("INSERT t VALUES (2)", []).await?;
            assert!(!connection.is_in_transaction());
            connection.execute("DELETE t", []).await?;
        }
        let mut transaction = connection.transaction().await?;
        let mut appender = transaction.appender("t", &[]).await?;
        appender.append(params![7]).await?;
        assert_eq!(appender.finish().await?, 1);
        let insert = "INSERT t VALUES (@p1)";
        transaction.execute(insert, params![8]).await?;
        transaction.commit().await?;
        assert_eq!(other.query_value::<i32>("SELECT SUM(id) FROM t", []).await?, 15);
        Ok::<(), Error>(())
    })
    .expect("all runs");
}

#[test]
fn an_appender_does_what_an_insert_does() {
    let (_engine, mut connection) = connection();
    let sql = "CREATE TABLE t (id int IDENTITY PRIMARY KEY, n int NOT NULL CHECK (n < 100000), v varchar(10) DEFAULT 'none', \
               d decimal(10, 2), at datetime2(0), b varbinary(4), twice AS n * 2, stamp rowversion); \
               CREATE TABLE fired (n int);";
    connection.execute(sql, []).expect("creates");
    connection
        .execute("CREATE TRIGGER g ON t AFTER INSERT AS INSERT fired SELECT COUNT(*) FROM inserted", [])
        .expect("creates");
    let mut appender = connection.appender("dbo.t", &[]).expect("begins");
    let names: Vec<&str> = appender.columns().iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, ["n", "v", "d", "at", "b"]);
    for n in 0..20_000 {
        appender.append(params![n, format!("row {n}"), 1.5, "2026-11-27 12:00:00.6", [1u8, 2]]).expect("appends");
    }
    assert!(matches!(appender.append(params![1]), Err(Error::Usage(_))));
    assert!(matches!(appender.append(params![@a = 1, @b = 2, @c = 3, @d = 4, @e = 5]), Err(Error::Usage(_))));
    assert_eq!(appender.finish(), Ok(20_000));
    let row = connection.query_row("SELECT * FROM t WHERE id = 20000", []).expect("the last one");
    assert_eq!(row.get("n"), Ok(19_999));
    assert_eq!(
        (row.text(2), row.text(3), row.text(4)),
        ("row 19999".into(), "1.50".into(), "2026-11-27 12:00:01".into())
    );
    assert_eq!(row.get("twice"), Ok(39_998));
    // A trigger fires for each portion.
    let fired = "SELECT COUNT(*) AS portions, SUM(n) AS n FROM fired";
    let row = connection.query_row(fired, []).expect("a row");
    assert_eq!((row.get("portions"), row.get("n")), (Ok(2), Ok(20_000)));
    // Columns that are left out have their defaults; NULL is NULL.
    let mut appender = connection.appender("t", &["n"]).expect("begins");
    appender.append(params![1]).expect("appends");
    assert_eq!(appender.finish(), Ok(1));
    let mut appender = connection.appender("t", &["n", "v"]).expect("begins");
    appender.append(params![2, None::<String>]).expect("appends");
    assert_eq!(appender.finish(), Ok(1));
    let rows = connection.query("SELECT v FROM t WHERE id > 20000 ORDER BY id", []).expect("selects");
    let texts: Vec<String> = rows.iter().map(|row| row.text(0)).collect();
    assert_eq!(texts, ["none", "NULL"]);
    // Values for the identity column are taken when it is named.
    let mut appender = connection.appender("t", &["id", "n"]).expect("begins");
    appender.append(params![77_777, 3]).expect("appends");
    assert_eq!(appender.finish(), Ok(1));
    assert_eq!(connection.query_value("SELECT n FROM t WHERE id = 77777", []), Ok(3));
}

#[test]
fn a_portion_that_fails_leaves_nothing() {
    let (_engine, mut connection) = connection();
    connection.execute("CREATE TABLE t (n int PRIMARY KEY CHECK (n < 100), v varchar(3))", []).expect("creates");
    let failing = |connection: &mut Connection, n: i32, v: &str| {
        let mut appender = connection.appender("t", &[]).expect("begins");
        appender.append(params![50, "ok"]).expect("appends");
        appender.append(params![n, v]).expect("appends");
        let number = number(appender.flush());
        // It goes on with the next portion.
        appender.append(params![n.min(7), "ok"]).expect("appends");
        assert_eq!(appender.finish(), Ok(1));
        connection.execute("DELETE t WHERE n = 7", []).expect("deletes");
        number
    };
    assert_eq!(failing(&mut connection, 100, "x"), 547);
    assert_eq!(failing(&mut connection, 8, "long"), 2628);
    assert_eq!(failing(&mut connection, 50, "x"), 2627);
    assert_eq!(connection.query_value("SELECT COUNT(*) FROM t", []), Ok(0));
    let mut appender = connection.appender("t", &[]).expect("begins");
    appender.append(params!["no number", "x"]).expect("appends");
    assert_eq!(number(appender.flush()), 245);
    drop(appender);
    assert_eq!(number(connection.appender("missing", &[]).map(drop)), 208);
    assert_eq!(number(connection.appender("t", &["missing"]).map(drop)), 207);
    assert_eq!(number(connection.appender("t; DROP TABLE t", &[]).map(drop)), 208);
    assert_eq!(number(connection.appender("[t", &[]).map(drop)), 208);
    assert_eq!(number(connection.appender("t", &["n] FROM t; DROP TABLE t --"]).map(drop)), 207);
    // What was not flushed is dropped, and a transaction takes all portions back.
    let mut appender = connection.appender("t", &[]).expect("begins");
    appender.append(params![1, "x"]).expect("appends");
    drop(appender);
    let mut transaction = connection.transaction().expect("begins");
    let mut appender = transaction.appender("t", &[]).expect("begins");
    appender.append(params![2, "x"]).expect("appends");
    appender.flush().expect("inserts");
    appender.append(params![3, "x"]).expect("appends");
    assert_eq!(appender.finish(), Ok(2));
    assert_eq!(transaction.query_value("SELECT COUNT(*) FROM t", []), Ok(2));
    drop(transaction);
    assert_eq!(connection.query_value("SELECT COUNT(*) FROM t", []), Ok(0));
}
