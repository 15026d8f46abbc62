//! What monitors ask: who runs what, at which statement, whom it waits for, what is kept in the cache.

mod support;

use pikepole_query::Collected;
use pikepole_scheduler::{JoinHandle, Placement};
use pikepole_session::{Argument, Prepared, Session};
use pikepole_types::{SqlType, Value};
use support::Fixture;

impl Fixture {
    /// Runs a batch that must not fail, and gives its rows as texts.
    fn rows(&self, session: &mut Session, sql: &str) -> Vec<String> {
        let output = self.run(session, sql);
        assert!(output.errors().is_empty(), "{sql}: {:?}", output.errors());
        texts(&output)
    }

    /// Makes a table of 3,000 rows, two in a page.
    fn make_large(&self, session: &mut Session) {
        self.rows(session, "CREATE TABLE large (id int CONSTRAINT of_large PRIMARY KEY, v int, filler char(4000))");
        for first in (1..3_000).step_by(50) {
            let rows = format!("GENERATE_SERIES({first}, {})", first + 49);
            self.rows(
                session,
                &format!("INSERT large SELECT value, value, REPLICATE('x', 4000) FROM {rows}; CHECKPOINT"),
            );
        }
    }

    fn spawn(&self, mut session: Session, sql: &'static str) -> JoinHandle<Session> {
        self.server.schedulers().spawn(session.task_info(), Placement::LeastLoaded, async move {
            session.run(sql, &mut [], &mut Collected::default()).await;
            session
        })
    }

    /// Begins a batch as a task of its own, up to where it waits.
    fn begin(&self, session: Session, sql: &'static str) -> JoinHandle<Session> {
        let running = self.spawn(session, sql);
        self.server.schedulers().run_until_idle();
        running
    }
}

/// The rows, their values parted by bars.
fn texts(output: &Collected) -> Vec<String> {
    let text = |value: &Value| match value {
        Value::Null => String::new(),
        Value::Str(text) => text.clone(),
        value => value.as_i64().map_or_else(|| format!("{value:?}"), |number| number.to_string()),
    };
    output.rows().iter().map(|row| row.iter().map(text).collect::<Vec<_>>().join("|")).collect()
}

/// The statement of each request that another session keeps waiting, as scripts cut it out of its text.
const BLOCKED: &str = "SELECT OBJECT_NAME(t.objectid),
        SUBSTRING(t.text, r.statement_start_offset / 2 + 1, (r.statement_end_offset - r.statement_start_offset) / 2 + 1)
    FROM sys.dm_exec_requests AS r CROSS APPLY sys.dm_exec_sql_text(r.sql_handle) AS t WHERE r.blocking_session_id > 0";

#[test]
fn who_waits_is_seen_at_its_statement_in_whatever_text_that_is() {
    let fixture = Fixture::new(17);
    let (mut holder, mut watcher) = (fixture.session(), fixture.session());
    fixture.rows(&mut holder, "CREATE TABLE k (id int PRIMARY KEY, v nvarchar(9)); INSERT k VALUES (1, N'a')");
    fixture.rows(
        &mut holder,
        "CREATE PROCEDURE change AS DECLARE @é int = 1; UPDATE k SET v = N'ü' WHERE id = @é; PRINT 'x'",
    );
    fixture.rows(&mut holder, "BEGIN TRAN; UPDATE k SET v = N'b' WHERE id = 1");
    let cases = [
        ("PRINT N'ä 𝄞'; UPDATE k SET v = N'c'; PRINT 'end'", "|UPDATE k SET v = N'c'"),
        ("EXEC change", "change|UPDATE k SET v = N'ü' WHERE id = @é"),
        (
            "PRINT 1; EXEC sp_executesql N'SELECT @v AS v; DELETE k WHERE v = @v', N'@v nvarchar(9)', N'a'",
            "|DELETE k WHERE v = @v",
        ),
        ("IF 1 = 1 BEGIN SELECT 1; EXEC ('/* */ DELETE k') END", "|DELETE k"),
    ];
    for (sql, wanted) in cases {
        let session = fixture.session();
        let cancel = session.cancel_switch();
        let waiting = fixture.begin(session, sql);
        assert_eq!(fixture.rows(&mut watcher, BLOCKED), [wanted], "{sql}");
        cancel.store(true, pikepole_contention::sync::atomic::Ordering::Relaxed);
        let ended = fixture.server.schedulers().block_on(waiting).expect("it ends");
        let sent = format!("SELECT event_type, event_info FROM sys.dm_exec_input_buffer({}, 0)", ended.id());
        assert_eq!(fixture.rows(&mut watcher, &sent), [format!("Language Event|{sql}")], "also when it has ended");
    }
    assert!(fixture.rows(&mut watcher, BLOCKED).is_empty());
}

#[test]
fn waiting_tasks_name_what_they_wait_for_and_who_is_in_the_way() {
    let fixture = Fixture::new(17);
    let (mut holder, mut watcher) = (fixture.session(), fixture.session());
    fixture.rows(
        &mut holder,
        "CREATE TABLE k (id int PRIMARY KEY); INSERT k VALUES (1); BEGIN TRAN; SELECT * FROM k WITH (TABLOCKX)",
    );
    let waiter = fixture.session();
    let (one, two) = (holder.id(), waiter.id());
    let waiting = fixture.begin(waiter, "DELETE k");
    let waits = "SELECT session_id, blocking_session_id, wait_type, resource_description FROM sys.dm_os_waiting_tasks
        WHERE session_id >= 51 AND blocking_session_id IS NOT NULL";
    let object = fixture.rows(&mut watcher, "SELECT OBJECT_ID('k')").remove(0);
    let described = format!(
        "objectlock lockPartition=0 objid={object} subresource=FULL dbid=1 mode=IX associatedObjectId={object}"
    );
    assert_eq!(fixture.rows(&mut watcher, waits), [format!("{two}|{one}|LCK_M_IX|{described}")]);
    let resource = format!("SELECT wait_resource FROM sys.dm_exec_requests WHERE session_id = {two}");
    assert_eq!(fixture.rows(&mut watcher, &resource), [format!("OBJECT: 1:{object}:0")]);
    let old = format!("SELECT waitresource FROM sysprocesses WHERE spid = {two}");
    assert_eq!(fixture.rows(&mut watcher, &old), [format!("OBJECT: 1:{object}:0")]);
    // Each task that waits is there, also those that nobody blocks, and no other one.
    let system = "SELECT COUNT(*) FROM sys.dm_os_waiting_tasks WHERE wait_type = 'LOGMGR_QUEUE' AND session_id < 51";
    assert_ne!(fixture.rows(&mut watcher, system), ["0"]);
    let own = "SELECT COUNT(*) FROM sys.dm_os_waiting_tasks WHERE session_id = @@SPID";
    assert_eq!(fixture.rows(&mut watcher, own), ["0"]);
    fixture.rows(&mut holder, "COMMIT");
    fixture.server.schedulers().block_on(waiting).expect("it ends");
    assert!(fixture.rows(&mut watcher, waits).is_empty());
}

#[test]
fn the_cache_counts_each_time_that_a_text_is_looked_up() {
    const CACHED: &str = "SELECT p.objtype, p.usecounts, t.text FROM sys.dm_exec_cached_plans AS p
        CROSS APPLY sys.dm_exec_sql_text(p.plan_handle) AS t WHERE t.text LIKE N'%counted%' AND t.text NOT LIKE N'%cached%'
        ORDER BY p.objtype";
    let fixture = Fixture::new(17);
    let (mut session, mut other) = (fixture.session(), fixture.session());
    let procedure = "CREATE PROCEDURE p AS SELECT 1 AS counted";
    fixture.rows(&mut session, procedure);
    for _ in 0..3 {
        fixture.rows(&mut session, "SELECT 2 AS counted");
        fixture.rows(&mut other, "EXEC p");
    }
    let mut prepared = Prepared::new("SELECT @a AS counted".to_string(), "@a int".to_string());
    for _ in 0..2 {
        let mut arguments =
            [Argument { name: None, value: Value::Int(1), ty: SqlType::Int, output: false, table: None }];
        let mut output = Collected::default();
        let called = session.call(&mut prepared, &mut arguments, &mut output);
        fixture.server.schedulers().block_on(called).expect("it runs");
    }
    // A prepared text is looked up once. What defines the procedure is a text, too.
    let rows = fixture.rows(&mut other, CACHED);
    let wanted = [
        format!("Adhoc|1|{procedure}"),
        "Adhoc|3|SELECT 2 AS counted".to_string(),
        "Prepared|1|SELECT @a AS counted".to_string(),
        format!("Proc|3|{procedure}"),
    ];
    let mut sorted = rows.clone();
    sorted.sort();
    assert_eq!(sorted, wanted);
    let sent = format!("SELECT event_type, event_info FROM sys.dm_exec_input_buffer({}, NULL)", session.id());
    assert_eq!(fixture.rows(&mut other, &sent), ["RPC Event|SELECT @a AS counted"]);
    let uses = |session: &mut Session| {
        let rows = fixture.rows(session, CACHED);
        rows.iter().find_map(|row| row.strip_prefix("Proc|")?.split('|').next()?.parse::<u32>().ok())
    };
    // Each call of a loop counts, also of a program that has gone from the cache in between.
    fixture.rows(&mut session, "DECLARE @i int = 0; WHILE @i < 1500 BEGIN EXEC p; SET @i += 1 END");
    assert_eq!(uses(&mut other), Some(1_503));
    fixture.rows(&mut other, "DBCC FREEPROCCACHE");
    assert_eq!(uses(&mut other), None);
    let dropped_between =
        "DECLARE @i int = 0; WHILE @i < 4 BEGIN EXEC p; IF @i = 1 DBCC FREEPROCCACHE; SET @i += 1 END";
    fixture.rows(&mut session, dropped_between);
    assert_eq!(uses(&mut other), Some(2));
}

#[test]
fn a_plan_is_found_by_its_handle() {
    let fixture = Fixture::new(17);
    let mut session = fixture.session();
    fixture.rows(&mut session, "CREATE TABLE k (id int PRIMARY KEY)");
    fixture.rows(&mut session, "SELECT id FROM k; DELETE k");
    let statements = "SELECT p.query_plan.value('declare default element namespace
            \"http://schemas.microsoft.com/sqlserver/2004/07/showplan\"; count(//StmtSimple)', 'int')
        FROM sys.dm_exec_cached_plans AS c CROSS APPLY sys.dm_exec_sql_text(c.plan_handle) AS t
        CROSS APPLY sys.dm_exec_query_plan(c.plan_handle) AS p WHERE t.text = N'SELECT id FROM k; DELETE k'";
    assert_eq!(fixture.rows(&mut session, statements), ["2"]);
    let one = "SELECT CHARINDEX(N'DELETE', p.query_plan), CHARINDEX(N'SELECT', p.query_plan)
        FROM sys.dm_exec_cached_plans AS c CROSS APPLY sys.dm_exec_sql_text(c.plan_handle) AS t
        CROSS APPLY sys.dm_exec_text_query_plan(c.plan_handle, 36, -1) AS p WHERE t.text = N'SELECT id FROM k; DELETE k'";
    let found = fixture.rows(&mut session, one);
    assert!(found.len() == 1 && found[0].ends_with("|0") && !found[0].starts_with("0|"), "{found:?}");
    let own = "SELECT COUNT(*) FROM sys.dm_exec_query_statistics_xml(@@SPID) WHERE query_plan IS NOT NULL";
    assert_eq!(fixture.rows(&mut session, own), ["1"]);
    let attributes = "SELECT a.attribute, CAST(a.value AS int) FROM sys.dm_exec_cached_plans AS c
        CROSS APPLY sys.dm_exec_sql_text(c.plan_handle) AS t CROSS APPLY sys.dm_exec_plan_attributes(c.plan_handle) AS a
        WHERE t.text = N'SELECT id FROM k; DELETE k' AND a.is_cache_key = 1";
    assert_eq!(fixture.rows(&mut session, attributes), ["dbid|1", "objectid|0"]);
}

#[test]
fn passwords_are_shown_to_nobody() {
    let fixture = Fixture::new(17);
    let (mut session, mut watcher) = (fixture.session(), fixture.session());
    fixture.rows(&mut session, "CREATE LOGIN ann WITH PASSWORD = 'Secret_1'");
    let sent = format!("SELECT event_info FROM sys.dm_exec_input_buffer({}, 0)", session.id());
    let shown = fixture.rows(&mut watcher, &sent);
    assert!(shown.len() == 1 && !shown[0].contains("Secret"), "{shown:?}");
}

/// What `columns` of the statistics of statements say, of statements whose text holds `text`.
fn statement_stats(columns: &str, text: &str) -> String {
    format!(
        "SELECT {columns} FROM sys.dm_exec_query_stats AS s CROSS APPLY sys.dm_exec_sql_text(s.sql_handle) AS t
        CROSS APPLY (SELECT SUBSTRING(t.text, s.statement_start_offset / 2 + 1,
            (s.statement_end_offset - s.statement_start_offset) / 2 + 1) AS statement) AS x
        WHERE x.statement LIKE N'{text}%' ORDER BY x.statement"
    )
}

#[test]
fn runs_of_statements_are_counted_exactly_whoever_runs_them() {
    let fixture = Fixture::new(17);
    let mut watcher = fixture.session();
    fixture.rows(&mut watcher, "CREATE TABLE k (id int PRIMARY KEY, filler char(500) NOT NULL DEFAULT 'x')");
    let mut sessions: Vec<Session> = (0..4).map(|_| fixture.session()).collect();
    for round in 0..25 {
        for (number, session) in sessions.iter_mut().enumerate() {
            let mut prepared = Prepared::new("INSERT k (id) VALUES (@id)".to_string(), "@id int".to_string());
            let id = Value::Int(round * 4 + number as i32);
            let mut arguments = [Argument { name: None, value: id, ty: SqlType::Int, output: false, table: None }];
            let mut output = Collected::default();
            let called = session.call(&mut prepared, &mut arguments, &mut output);
            fixture.server.schedulers().block_on(called).expect("it runs");
            fixture.rows(session, "UPDATE k SET filler = 'y' WHERE id < 2; SELECT id FROM k WHERE id >= 10");
        }
    }
    drop(sessions.split_off(2));
    let counted = "s.execution_count, s.total_rows, s.last_rows, s.min_rows, s.max_rows";
    assert_eq!(fixture.rows(&mut watcher, &statement_stats(counted, "INSERT k")), ["100|100|1|1|1"]);
    assert_eq!(fixture.rows(&mut watcher, &statement_stats(counted, "UPDATE k")), ["100|199|2|1|2"]);
    // Each of the 90 rows is read by the runs from its own on.
    assert_eq!(fixture.rows(&mut watcher, &statement_stats(counted, "SELECT id FROM k")), ["100|4095|90|0|90"]);
    let sound = "MIN(CASE WHEN s.total_worker_time <= s.total_elapsed_time AND s.min_elapsed_time <= s.max_elapsed_time
        AND s.total_logical_reads >= s.max_logical_reads AND s.max_logical_reads > 0
        AND s.last_execution_time >= s.creation_time AND s.plan_generation_num > 0 THEN 1 END)";
    let of_selects = statement_stats(sound, "SELECT id FROM k").replace("ORDER BY x.statement", "");
    assert_eq!(fixture.rows(&mut watcher, &of_selects), ["1"]);
    let own = format!(
        "SELECT CASE WHEN logical_reads > 0 THEN 1 END FROM sys.dm_exec_sessions WHERE session_id = {}",
        sessions[0].id()
    );
    assert_eq!(fixture.rows(&mut watcher, &own), ["1"]);
    let plan =
        "SELECT COUNT(*) FROM sys.dm_exec_query_stats AS s CROSS APPLY sys.dm_exec_query_plan(s.plan_handle) AS p
        CROSS APPLY sys.dm_exec_sql_text(s.sql_handle) AS t WHERE t.text = N'INSERT k (id) VALUES (@id)'
        AND p.query_plan IS NOT NULL";
    assert_eq!(fixture.rows(&mut watcher, plan), ["1"]);
}

#[test]
fn a_prepared_text_is_counted_anew_when_the_cache_was_emptied() {
    let fixture = Fixture::new(17);
    let (mut session, mut watcher) = (fixture.session(), fixture.session());
    let mut prepared = Prepared::new("SELECT @a AS kept".to_string(), "@a int".to_string());
    let mut call = |session: &mut Session| {
        let mut arguments =
            [Argument { name: None, value: Value::Int(1), ty: SqlType::Int, output: false, table: None }];
        let mut output = Collected::default();
        let called = session.call(&mut prepared, &mut arguments, &mut output);
        fixture.server.schedulers().block_on(called).expect("it runs");
    };
    call(&mut session);
    call(&mut session);
    let stats = statement_stats("s.execution_count", "SELECT @a AS kept");
    assert_eq!(fixture.rows(&mut watcher, &stats), ["2"]);
    fixture.rows(&mut watcher, "DBCC FREEPROCCACHE");
    assert!(fixture.rows(&mut watcher, &stats).is_empty());
    call(&mut session);
    assert_eq!(fixture.rows(&mut watcher, &stats), ["1"]);
}

#[test]
fn calls_of_modules_are_counted() {
    let fixture = Fixture::new(17);
    let mut session = fixture.session();
    fixture.rows(&mut session, "CREATE TABLE k (id int PRIMARY KEY)");
    fixture.rows(&mut session, "CREATE TRIGGER kt ON k AFTER INSERT AS RETURN");
    fixture.rows(
        &mut session,
        "CREATE FUNCTION dbo.f (@a int) RETURNS int AS BEGIN DECLARE @b int = @a; RETURN @b + 1 END",
    );
    fixture.rows(&mut session, "CREATE PROCEDURE p @id int AS INSERT k VALUES (@id); SELECT dbo.f(id) FROM k");
    for id in 0..3 {
        fixture.rows(&mut session, &format!("EXEC p {id}"));
    }
    let stats = |view: &str| {
        format!(
            "SELECT OBJECT_NAME(object_id), type, execution_count, CASE WHEN total_worker_time <= total_elapsed_time
            AND total_elapsed_time >= max_elapsed_time AND cached_time <= last_execution_time THEN 1 END
            FROM sys.dm_exec_{view}_stats WHERE database_id = DB_ID()"
        )
    };
    assert_eq!(fixture.rows(&mut session, &stats("procedure")), ["p|P |3|1"]);
    assert_eq!(fixture.rows(&mut session, &stats("trigger")), ["kt|TR|3|1"]);
    assert_eq!(fixture.rows(&mut session, &stats("function")), ["f|FN|6|1"]);
    let hashes = "SELECT COUNT(DISTINCT query_hash) FROM sys.dm_exec_query_stats AS s
        CROSS APPLY sys.dm_exec_sql_text(s.sql_handle) AS t WHERE t.text LIKE 'EXEC%' OR t.text LIKE 'SELECT id FROM k WHERE%'";
    fixture.rows(&mut session, "SELECT id FROM k WHERE id = 1");
    fixture.rows(&mut session, "SELECT id FROM k WHERE id = 2");
    assert_eq!(fixture.rows(&mut session, hashes), ["1"]);
}

#[test]
fn uses_of_indexes_are_counted_once_a_run() {
    const USES: &str = "SELECT i.name, u.user_seeks, u.user_scans, u.user_lookups, u.user_updates,
            CASE WHEN u.last_user_seek <= GETDATE() THEN 1 END, CASE WHEN u.last_user_update <= GETDATE() THEN 1 END
        FROM sys.dm_db_index_usage_stats AS u JOIN sys.indexes AS i ON i.object_id = u.object_id AND i.index_id = u.index_id
        WHERE u.database_id = DB_ID() AND u.object_id = OBJECT_ID('k') ORDER BY i.name";
    let fixture = Fixture::new(17);
    let mut watcher = fixture.session();
    fixture.rows(
        &mut watcher,
        "CREATE TABLE k (id int CONSTRAINT pk PRIMARY KEY, a int, b int, INDEX ka (a), INDEX kb (b))",
    );
    assert!(fixture.rows(&mut watcher, USES).is_empty());
    for round in 0..2 {
        // A session that has ended has counted all the same.
        let mut session = fixture.session();
        fixture.rows(&mut session, &format!("INSERT k VALUES ({round}1, 1, 1), ({round}2, 2, 2), ({round}3, 3, 3)"));
        for _ in 0..10 {
            fixture.rows(&mut session, "SELECT a, id FROM k WHERE a = 2");
            fixture.rows(&mut session, "SELECT b FROM k WHERE id = 1");
            fixture.rows(&mut session, "UPDATE k SET b = b + 1 WHERE id > 1");
        }
        fixture.rows(&mut session, "SELECT b, id FROM k WITH (INDEX (ka)) WHERE a = 2; SELECT b FROM k");
    }
    let uses = fixture.rows(&mut watcher, USES);
    assert_eq!(uses, ["ka|22|0|0|2|1|1", "kb|0|0|0|22||1", "pk|40|2|2|22|1|1"]);
    // Definitions that change keep what was counted.
    fixture.rows(&mut watcher, "ALTER TABLE k ADD c int");
    assert_eq!(fixture.rows(&mut watcher, USES), uses);
}

#[test]
fn the_pages_of_indexes_are_shown_by_level() {
    let fixture = Fixture::new(17);
    let mut session = fixture.session();
    fixture.rows(&mut session, "CREATE TABLE k (id int CONSTRAINT pk PRIMARY KEY, a char(700) NOT NULL, INDEX ka (a))");
    fixture.rows(&mut session, "CREATE TABLE h (b char(700))");
    fixture.rows(
        &mut session,
        "INSERT k SELECT value, STR(value) FROM GENERATE_SERIES(1, 900); INSERT h SELECT a FROM k; DELETE h WHERE b LIKE '% 7'",
    );
    let asked = |columns: &str, table: &str, mode: &str| {
        format!(
            "SELECT {columns} FROM sys.dm_db_index_physical_stats(DB_ID(), OBJECT_ID('{table}'), NULL, NULL, '{mode}') AS s
            ORDER BY s.index_id, s.index_level"
        )
    };
    let sound = "s.index_id, s.index_type_desc, s.index_level, CASE WHEN s.page_count >= s.fragment_count
        AND s.avg_fragmentation_in_percent BETWEEN 0 AND 100 AND s.index_depth > s.index_level THEN 1 END, s.record_count";
    let limited = fixture.rows(&mut session, &asked(sound, "k", "LIMITED"));
    assert_eq!(limited, ["1|CLUSTERED INDEX|0|1|", "2|NONCLUSTERED INDEX|0|1|"]);
    let detailed = fixture.rows(&mut session, &asked(sound, "k", "DETAILED"));
    assert!(detailed.len() > 3 && detailed[0] == "1|CLUSTERED INDEX|0|1|900", "{detailed:?}");
    assert!(detailed[1].starts_with("1|CLUSTERED INDEX|1|1|"), "{detailed:?}");
    let heap = "s.index_type_desc, s.index_depth, s.record_count + s.ghost_record_count, s.forwarded_record_count,
        CASE WHEN s.avg_record_size_in_bytes BETWEEN 8 AND 800 AND s.avg_page_space_used_in_percent BETWEEN 1 AND 100 THEN 1 END";
    assert_eq!(fixture.rows(&mut session, &asked(heap, "h", "SAMPLED")), ["HEAP|1|900|0|1"]);
    let pages = "SELECT COUNT(*) FROM sys.dm_db_index_physical_stats(DB_ID(), OBJECT_ID('k'), 1, NULL, NULL) AS s
        JOIN sys.dm_db_partition_stats AS p ON p.object_id = s.object_id AND p.index_id = s.index_id
        AND p.used_page_count >= s.page_count AND p.used_page_count < s.page_count * 2";
    assert_eq!(fixture.rows(&mut session, pages), ["1"]);
}

#[test]
fn how_far_a_definition_is_that_copies_a_large_table_is_seen() {
    /// Far more than it takes.
    const LOOKS: usize = 50_000;
    let fixture = Fixture::new(18);
    let (mut session, mut watcher) = (fixture.session(), fixture.session());
    fixture.make_large(&mut session);
    let request =
        format!("SELECT CAST(percent_complete AS int) FROM sys.dm_exec_requests WHERE session_id = {}", session.id());
    for sql in [
        "CREATE INDEX by_v ON large (v)",
        "ALTER INDEX by_v ON large REBUILD",
        "DROP INDEX large.by_v; ALTER TABLE large DROP CONSTRAINT of_large",
        "ALTER TABLE large ALTER COLUMN v bigint NOT NULL",
        "ALTER TABLE large ADD twice AS v * 2 PERSISTED",
    ] {
        let running = fixture.spawn(session, sql);
        let mut look = || fixture.rows(&mut watcher, &request).pop().map_or(0, |percent| percent.parse().unwrap_or(0));
        let seen: Vec<i32> = (0..LOOKS).map(|_| look()).take_while(|_| !running.is_finished()).collect();
        let middle = seen.iter().filter(|percent| (5..95).contains(*percent)).count();
        assert!(middle > 3, "{sql}: {seen:?}");
        session = fixture.server.schedulers().block_on(running).expect("it ends");
        let after = fixture.begin(session, "WAITFOR DELAY '00:00:01'");
        assert_eq!(fixture.rows(&mut watcher, &request), ["0"], "it is the next batch's no more");
        session = fixture.server.schedulers().block_on(after).expect("it ends");
    }
}

#[test]
fn how_far_a_statement_is_that_reads_a_large_table_is_seen() {
    const OPERATORS: &str = "SELECT physical_operator_name, OBJECT_NAME(object_id), index_id,
            CASE WHEN logical_read_count > 700 THEN 'many pages' ELSE 'no pages' END,
            CASE WHEN estimate_row_count > 1000 THEN 'many rows' ELSE 'few rows' END
        FROM sys.dm_exec_query_profiles ORDER BY node_id";
    let fixture = Fixture::new(17);
    let (mut holder, mut watcher) = (fixture.session(), fixture.session());
    fixture.rows(&mut holder, "CREATE TABLE small (id int PRIMARY KEY, v int); INSERT small VALUES (1, 1), (2, 2)");
    fixture.make_large(&mut holder);
    fixture
        .rows(&mut holder, "BEGIN TRAN; UPDATE large SET v = 0 WHERE id = 1500; UPDATE small SET v = 0 WHERE id = 2");
    let percent = |watcher: &mut Session, id: i32| {
        let sql = format!("SELECT CAST(percent_complete AS int) FROM sys.dm_exec_requests WHERE session_id = {id}");
        fixture.rows(watcher, &sql).remove(0).parse::<i32>().expect("a number")
    };
    let begin = |sql| {
        let session = fixture.session();
        (session.id(), session.cancel_switch(), fixture.begin(session, sql))
    };
    let end = |waiting: JoinHandle<Session>| fixture.server.schedulers().block_on(waiting).expect("it ends");

    // It stands at the row that another one has changed.
    let (id, cancel, waiting) = begin("SELECT SUM(v) FROM large WITH (READCOMMITTEDLOCK) WHERE v >= 0");
    assert!((40..=60).contains(&percent(&mut watcher, id)), "{}", percent(&mut watcher, id));
    let expected = ["Stream Aggregate||0|no pages|few rows", "Clustered Index Scan|large|1|many pages|many rows"];
    assert_eq!(fixture.rows(&mut watcher, OPERATORS), expected);
    cancel.store(true, pikepole_contention::sync::atomic::Ordering::Relaxed);
    let session = end(waiting);
    assert!(fixture.rows(&mut watcher, OPERATORS).is_empty(), "it does not run any more");
    drop(session);

    // A table that is read whole before: half of all pages.
    let both = "SELECT COUNT(*) FROM large a WITH (READCOMMITTEDLOCK)
        JOIN large b WITH (READCOMMITTEDLOCK) ON a.v = b.v + 100000";
    let (id, cancel, waiting) = begin(both);
    assert!((20..=30).contains(&percent(&mut watcher, id)), "{}", percent(&mut watcher, id));
    cancel.store(true, pikepole_contention::sync::atomic::Ordering::Relaxed);
    end(waiting);

    // A small table, and a row that is found by its key, tell nothing.
    for sql in [
        "SELECT SUM(v) FROM small WITH (READCOMMITTEDLOCK)",
        "SELECT v FROM large WITH (READCOMMITTEDLOCK) WHERE id = 1500",
    ] {
        let (id, cancel, waiting) = begin(sql);
        assert_eq!(percent(&mut watcher, id), 0, "{sql}");
        assert!(fixture.rows(&mut watcher, OPERATORS).is_empty(), "{sql}");
        cancel.store(true, pikepole_contention::sync::atomic::Ordering::Relaxed);
        end(waiting);
    }
}

#[test]
fn rows_of_operators_are_counted_where_the_session_asks_for_it() {
    let fixture = Fixture::new(17);
    let (mut holder, mut watcher) = (fixture.session(), fixture.session());
    fixture.make_large(&mut holder);
    fixture.rows(&mut holder, "BEGIN TRAN; UPDATE large SET v = 0 WHERE id = 1500");
    let waiting = fixture.begin(
        fixture.session(),
        "SET STATISTICS PROFILE ON; SELECT COUNT(*) FROM large l WITH (READCOMMITTEDLOCK) WHERE l.v % 2 = 0",
    );
    let counted =
        "SELECT physical_operator_name, row_count, rebind_count FROM sys.dm_exec_query_profiles ORDER BY node_id";
    assert_eq!(fixture.rows(&mut watcher, counted), ["Stream Aggregate|0|1", "Clustered Index Scan|749|1"]);
    fixture.rows(&mut holder, "ROLLBACK");
    fixture.server.schedulers().block_on(waiting).expect("it ends");
}
