//! What monitors ask: who runs what, at which statement, whom it waits for, what is kept in the cache.

use pikepole_engine::{SchedulerChoice, Server, ServerOptions};
use pikepole_machine::{Disk, SimulatedDisk};
use pikepole_query::Collected;
use pikepole_scheduler::{JoinHandle, Placement};
use pikepole_session::{Argument, Prepared, Registry, Session, SessionOptions};
use pikepole_types::{SqlType, Value};
use std::sync::Arc;

struct Fixture {
    server: Arc<Server>,
    registry: Arc<Registry>,
}

impl Fixture {
    fn new() -> Self {
        let options = ServerOptions {
            disk: Disk::simulated(SimulatedDisk::new(17)),
            schedulers: SchedulerChoice::Simulated { seed: 17, count: 2 },
            small: true,
            ..ServerOptions::new("/server")
        };
        let server = Server::open(options).expect("an empty disk can be opened");
        let registry = Registry::new(server.statistics());
        Fixture { server, registry }
    }

    fn session(&self) -> Session {
        let (server, registry) = (Arc::clone(&self.server), Arc::clone(&self.registry));
        Session::new(server, registry, SessionOptions::default()).expect("a session begins")
    }

    /// Runs a batch that must not fail, and gives its rows as texts.
    fn rows(&self, session: &mut Session, sql: &str) -> Vec<String> {
        let mut output = Collected::default();
        self.server.schedulers().block_on(session.run(sql, &mut [], &mut output));
        assert!(output.errors().is_empty(), "{sql}: {:?}", output.errors());
        texts(&output)
    }

    /// Begins a batch as a task of its own, up to where it waits.
    fn begin(&self, mut session: Session, sql: &'static str) -> JoinHandle<Session> {
        let running = self.server.schedulers().spawn(session.task_info(), Placement::LeastLoaded, async move {
            session.run(sql, &mut [], &mut Collected::default()).await;
            session
        });
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
    let fixture = Fixture::new();
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
    let fixture = Fixture::new();
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
    let fixture = Fixture::new();
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
    fixture.rows(&mut other, "DBCC FREEPROCCACHE");
    assert!(!fixture.rows(&mut other, CACHED).iter().any(|row| row.starts_with("Proc")));
}

#[test]
fn a_plan_is_found_by_its_handle() {
    let fixture = Fixture::new();
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
    let fixture = Fixture::new();
    let (mut session, mut watcher) = (fixture.session(), fixture.session());
    fixture.rows(&mut session, "CREATE LOGIN ann WITH PASSWORD = 'Secret_1'");
    let sent = format!("SELECT event_info FROM sys.dm_exec_input_buffer({}, 0)", session.id());
    let shown = fixture.rows(&mut watcher, &sent);
    assert!(shown.len() == 1 && !shown[0].contains("Secret"), "{shown:?}");
}
