//! One limit for the memory of a server: what is too much for it ends with error 701 in its line, other sessions go on, caches give way, and
//! the views say what there is. The process's allocator counts, as the program's does.

use pikepole_engine::{SchedulerChoice, Server, ServerOptions};
use pikepole_machine::SystemFiles;
use pikepole_machine::memory::CountingAllocator;
use pikepole_query::Collected;
use pikepole_scheduler::Placement;
use pikepole_session::{Registry, Session, SessionOptions};
use pikepole_types::{SqlError, Value};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// The heap is the process's: what one test takes would be missing to the other.
static TURN: Mutex<()> = Mutex::new(());

const MB: u64 = 1 << 20;

struct Fixture {
    server: Arc<Server>,
    registry: Arc<Registry>,
    folder: PathBuf,
}

impl Fixture {
    /// A server in a control group with so many megabytes.
    fn new(name: &str, megabytes: u64) -> Fixture {
        Fixture::with(name, megabytes, |_| {})
    }

    /// The same with options of its own.
    fn with(name: &str, megabytes: u64, change: impl FnOnce(&mut ServerOptions)) -> Fixture {
        let folder = std::env::temp_dir().join(format!("pikepole-memory-{name}-{}", std::process::id()));
        let cpus: Vec<String> = ["online", "present"].map(|of| format!("sys/devices/system/cpu/{of} 0-1\n")).into();
        let machine = SystemFiles::listing(&format!(
            "{}proc/meminfo MemTotal: 16000000 kB MemAvailable: 9000000 kB\nproc/self/cgroup 0::/pods/one\n\
             sys/fs/cgroup/pods/one/memory.max max\nsys/fs/cgroup/pods/memory.max {}\n",
            cpus.concat(),
            megabytes * MB
        ));
        let schedulers = SchedulerChoice::Threads { cpus: None, pin: false };
        let mut options = ServerOptions { machine, schedulers, ..ServerOptions::new(&folder) };
        change(&mut options);
        let server = Server::open(options).expect("a folder of its own");
        let registry = Registry::of_server(&server);
        Fixture { server, registry, folder }
    }

    fn session(&self) -> Session {
        let (server, registry) = (Arc::clone(&self.server), Arc::clone(&self.registry));
        Session::new(server, registry, SessionOptions::default()).expect("a session begins")
    }

    /// Runs a batch as a task of its own; its rows as texts, and its errors.
    fn run(&self, session: Session, sql: &str) -> (Session, Vec<String>, Vec<SqlError>) {
        let (session, output) = self.collect(session, sql);
        let errors = output.errors().into_iter().cloned().collect();
        (session, texts(&output), errors)
    }

    fn collect(&self, session: Session, sql: &str) -> (Session, Collected) {
        let sql = sql.to_owned();
        let running = self.server.schedulers().spawn(session.task_info(), Placement::LeastLoaded, async move {
            let (mut session, mut output) = (session, Collected::default());
            session.run(&sql, &mut [], &mut output).await;
            (session, output)
        });
        self.server.schedulers().block_on(running).expect("no panic")
    }

    /// The rows of a batch that must not fail, in a session of its own.
    fn rows(&self, sql: &str) -> Vec<String> {
        let (_, rows, errors) = self.run(self.session(), sql);
        assert!(errors.is_empty(), "{sql}: {errors:?}");
        rows
    }

    fn number(&self, sql: &str) -> u64 {
        let rows = self.rows(sql);
        rows[0].parse().unwrap_or_else(|_| panic!("{sql}: {rows:?}"))
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Waits for what the server's monitor brings about: it looks a few times a second, if it gets to run.
fn eventually(holds: impl Fn() -> bool, what: impl Fn() -> String) {
    for _ in 0..600 {
        if holds() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    panic!("{}", what());
}

fn texts(output: &Collected) -> Vec<String> {
    let text = |value: &Value| match value {
        Value::Null => "NULL".to_string(),
        Value::Str(text) => text.clone(),
        value => value.as_i64().map_or_else(|| format!("{value:?}"), |number| number.to_string()),
    };
    output.rows().iter().map(|row| row.iter().map(text).collect::<Vec<_>>().join("|")).collect()
}

/// Each wants more than there is, in its second line; where little is free already in its first.
const TOO_MUCH: &[&str] = &[
    "DECLARE @x varchar(max) = REPLICATE(CAST('x' AS varchar(max)), 1000000); WHILE @@ERROR = 0\nSET @x = @x + @x",
    "DECLARE @x varchar(max);\nSET @x = REPLICATE(CAST('x' AS varchar(max)), 500000000)",
    "DECLARE @x varchar(max) = REPLICATE(CAST('a' AS varchar(max)), 1000000);\nSET @x = REPLACE(@x, 'a', REPLICATE('b', 8000))",
    "DECLARE @x varchar(max) = REPLICATE(CAST('a' AS varchar(max)), 100000);\nSELECT DATALENGTH((SELECT STRING_AGG(@x, '-') FROM sys.all_columns))",
    "DECLARE @b varbinary(max) = COMPRESS(REPLICATE(CAST('a' AS varchar(max)), 10000000)), @c int;\nSET @c = DATALENGTH(DECOMPRESS(@b) + DECOMPRESS(@b) + DECOMPRESS(@b) + DECOMPRESS(@b) + DECOMPRESS(@b) + DECOMPRESS(@b) + DECOMPRESS(@b) + DECOMPRESS(@b) + DECOMPRESS(@b) + DECOMPRESS(@b) + DECOMPRESS(@b) + DECOMPRESS(@b) + DECOMPRESS(@b) + DECOMPRESS(@b) + DECOMPRESS(@b) + DECOMPRESS(@b))",
    "DECLARE @j nvarchar(max) = '[' + REPLICATE(CAST('1,' AS nvarchar(max)), 5000000) + '1]';\nSELECT COUNT(*) FROM OPENJSON(@j)",
    "DECLARE @d varchar(max) = REPLICATE(CAST('<a/>' AS varchar(max)), 5000000);\nSELECT CAST(@d AS xml).value('count(/a)', 'int')",
    "DECLARE @d xml = REPLICATE(CAST('<a/>' AS varchar(max)), 3000);\nSELECT @d.query('for $x in /a, $y in /a return <z>{$x}{$y}</z>')",
    "DECLARE @x varchar(max) = REPLICATE(CAST('x' AS varchar(max)), 1000000);\nSELECT @x AS x FROM sys.all_columns FOR XML PATH",
    "DECLARE @x varchar(max) = REPLICATE(CAST('x' AS varchar(max)), 1000000);\nSELECT @x AS x FROM sys.all_columns FOR JSON PATH",
    "DECLARE @s nvarchar(max) = REPLICATE(CAST('PRINT 1;' AS nvarchar(max)), 1000000);\nEXEC (@s)",
    "DECLARE @a varchar(max) = REPLICATE(CAST('x' AS varchar(max)), 30000000), @b varchar(max), @c varchar(max), @d varchar(max);\nSELECT @b = @a + '1', @c = @a + '2', @d = @a + '3'",
    "DECLARE @i int;\nWITH r AS (SELECT REPLICATE(CAST('x' AS varchar(max)), 1000) AS t UNION ALL SELECT t + t FROM r) SELECT MAX(LEN(t)) FROM r OPTION (MAXRECURSION 0)",
];

#[test]
fn what_is_too_much_ends_with_its_error_and_others_go_on() {
    let _turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let fixture = Fixture::new("much", 256);
    fixture.rows("CREATE TABLE dbo.t (id int PRIMARY KEY, note varchar(100)); INSERT dbo.t VALUES (0, 'a')");
    for (number, sql) in TOO_MUCH.iter().enumerate() {
        let (session, _, errors) = fixture.run(fixture.session(), sql);
        let found: Vec<(i32, u8, u8, u32)> =
            errors.iter().map(|error| (error.number, error.severity, error.state, error.line)).collect();
        assert!(matches!(found[..], [(701, 17, 123, 1 | 2)]), "{sql}: {errors:?}");
        // The same session goes on, and so do others.
        let (_, rows, errors) = fixture.run(session, "SELECT COUNT(*) FROM dbo.t");
        assert!(errors.is_empty() && rows == [(number + 1).to_string()], "{sql}: {rows:?} {errors:?}");
        fixture.rows(&format!("INSERT dbo.t VALUES ({}, REPLICATE('b', 90))", number + 1));
        assert!(fixture.server.budget().used() < 256 * MB, "{sql}");
    }
}

#[test]
fn the_error_can_be_caught_and_memory_comes_back() {
    let _turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let fixture = Fixture::new("caught", 256);
    let rows = fixture.rows(
        "DECLARE @x varchar(max) = REPLICATE(CAST('x' AS varchar(max)), 1000000);
         BEGIN TRY WHILE 1 = 1 SET @x = @x + @x END TRY
         BEGIN CATCH SELECT ERROR_NUMBER(), ERROR_SEVERITY(), ERROR_STATE(), ERROR_MESSAGE() END CATCH",
    );
    assert_eq!(rows, ["701|17|123|There is insufficient system memory in resource pool 'default' to run this query."]);
    let used = || fixture.number("SELECT committed_kb / 1024 FROM sys.dm_os_sys_info");
    eventually(|| used() < 120, || format!("what the variable had is gone: {} MB", used()));
}

#[test]
fn the_limit_is_the_group_s_and_can_be_set_while_the_server_runs() {
    let _turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let fixture = Fixture::new("limit", 1000);
    let info = "SELECT physical_memory_kb / 1024, committed_target_kb / 1024 FROM sys.dm_os_sys_info";
    assert_eq!(fixture.rows(info), ["1000|800"]);
    assert_eq!(fixture.rows("SELECT total_physical_memory_kb / 1024 FROM sys.dm_os_sys_memory"), ["1000"]);
    let big = "DECLARE @x varchar(max) = REPLICATE(CAST('x' AS varchar(max)), 60000000); SELECT LEN(@x)";
    assert_eq!(fixture.rows(big), ["60000000"]);
    fixture.rows("EXEC sp_configure 'max server memory (MB)', 200; RECONFIGURE");
    assert_eq!(fixture.rows(info), ["1000|200"]);
    assert_eq!(fixture.run(fixture.session(), big).2[0].number, 701);
    fixture.rows("EXEC sp_configure 'max server memory (MB)', 700; RECONFIGURE");
    assert_eq!(fixture.rows(big), ["60000000"]);
    fixture.rows("EXEC sp_configure 'max server memory (MB)', 2147483647; RECONFIGURE");
    assert_eq!(fixture.rows(info), ["1000|800"]);
}

/// Megabytes that the pool of master is to have at most and has, by the views, and those of the server.
const POOL: &str =
    "SELECT target_kb / 1024 / (SELECT COUNT(*) FROM sys.dm_os_memory_clerks WHERE type = 'MEMORYCLERK_SQLBUFFERPOOL'),
                           (SELECT committed_target_kb / 1024 FROM sys.dm_os_sys_info)
                    FROM sys.dm_os_memory_nodes";

#[test]
fn the_pool_is_as_large_as_the_limit_of_now_leaves_it() {
    let _turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let fixture = Fixture::with("follows", 1000, |options| {
        options.policies = vec![("max server memory (MB)".to_string(), "128".to_string())];
    });
    assert_eq!(fixture.rows(POOL), ["96|128"], "a quarter is left to others");
    let change = |megabytes: u32| {
        let sql = format!("EXEC sp_configure 'max server memory (MB)', {megabytes}; RECONFIGURE");
        let (_, output) = fixture.collect(fixture.session(), &sql);
        output.messages().join("\n")
    };
    let pages = || fixture.number("SELECT COUNT(*) * 8 / 1024 FROM sys.dm_os_buffer_descriptors");
    fixture.rows(
        "CREATE TABLE dbo.big (id int IDENTITY PRIMARY KEY, v varchar(8000) NOT NULL);
         INSERT dbo.big (v) SELECT TOP (19000) REPLICATE('v', 7000) FROM sys.all_columns AS a CROSS JOIN sys.all_columns AS b",
    );
    let scan = || {
        // What is read is worth frames.
        for _ in 0..3 {
            assert_eq!(fixture.rows("SELECT COUNT(*), MAX(id) FROM dbo.big WHERE v <> 'w'"), ["19000|19000"]);
        }
    };
    scan();
    assert!(pages() <= 96, "{} MB of pages", pages());
    let said = change(700);
    assert!(said.ends_with("to install. Log buffers keep their size until the next start."), "{said}");
    assert_eq!(fixture.rows(POOL), ["525|700"]);
    scan();
    assert!(pages() > 128, "the pool has outgrown what the server was started with: {} MB of pages", pages());
    let said = change(160);
    assert!(said.ends_with("to install."), "what a start would choose is there: {said}");
    assert_eq!(fixture.rows(POOL), ["120|160"]);
    eventually(|| pages() <= 120, || format!("{} MB of pages", pages()));
    scan();
    assert!(pages() <= 120, "{} MB of pages", pages());
}

#[test]
fn a_table_larger_than_its_pool_works() {
    const PAGES: u64 = 16 << 20 >> 13;
    let _turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let fixture = Fixture::with("small", 1000, |options| options.buffer_pool_bytes = Some(16 << 20));
    assert_eq!(fixture.rows(POOL), ["16|800"]);
    fixture.rows(
        "CREATE TABLE dbo.big (id int PRIMARY KEY, n int NOT NULL, v varchar(8000) NOT NULL);
         INSERT dbo.big SELECT TOP (8000) ROW_NUMBER() OVER (ORDER BY (SELECT NULL)), 0, REPLICATE('v', 7000)
         FROM sys.all_columns AS a CROSS JOIN sys.all_columns AS b;
         CREATE INDEX n ON dbo.big (n) INCLUDE (v);
         UPDATE dbo.big SET n = id; DELETE dbo.big WHERE id % 10 = 0",
    );
    assert_eq!(fixture.rows("SELECT COUNT(*), SUM(n) FROM dbo.big WITH (INDEX (1)) WHERE v <> 'w'"), ["7200|28800000"]);
    assert_eq!(fixture.rows("SELECT COUNT(*), SUM(n) FROM dbo.big WITH (INDEX (n)) WHERE v <> 'w'"), ["7200|28800000"]);
    let pages = fixture.number("SELECT COUNT(*) FROM sys.dm_os_buffer_descriptors WHERE database_id = DB_ID()");
    assert!((PAGES / 2..=PAGES).contains(&pages), "{pages} pages");
    let counter = "SELECT cntr_value FROM sys.dm_os_performance_counters WHERE counter_name = 'Target pages'";
    assert_eq!(fixture.number(counter), PAGES);
}

#[test]
fn what_a_start_has_set_for_its_run_is_not_kept() {
    let _turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let info = "SELECT committed_target_kb / 1024 FROM sys.dm_os_sys_info";
    let fixture = Fixture::with("run", 1000, |options| {
        options.policies = vec![("max server memory (MB)".to_string(), "300".to_string())];
    });
    assert_eq!(fixture.rows(info), ["300"]);
    fixture.rows("EXEC sp_configure 'query wait (s)', 7");
    assert_eq!(fixture.rows(info), ["300"]);
    let file = std::fs::read_to_string(fixture.folder.join("pikepole.toml")).expect("it is written");
    assert!(file.contains("query wait") && !file.contains("server memory"), "{file}");
}

#[test]
fn pools_fill_what_is_free_and_give_way() {
    let _turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let fixture = Fixture::new("pools", 256);
    let pools = "SELECT SUM(pages_kb) / 1024 FROM sys.dm_os_memory_clerks WHERE type = 'MEMORYCLERK_SQLBUFFERPOOL'";
    let fill = |database: &str| {
        fixture.rows(&format!(
            "CREATE DATABASE {database}; EXEC ('USE {database};
             CREATE TABLE big (id int IDENTITY PRIMARY KEY, v varchar(8000) NOT NULL);
             INSERT big (v) SELECT TOP (12000) REPLICATE(''v'', 7000) FROM sys.all_columns AS a CROSS JOIN sys.all_columns AS b')"
        ));
        // What is read is worth frames.
        for _ in 0..3 {
            fixture.rows(&format!("SELECT COUNT(*) FROM {database}.dbo.big WHERE v <> 'w'"));
        }
    };
    fill("one");
    fill("two");
    let filled = fixture.number(pools);
    assert!((60..204).contains(&filled), "{filled} MB");
    let used = || fixture.number("SELECT committed_kb / 1024 FROM sys.dm_os_sys_info");
    eventually(|| used() <= 204, || format!("{} MB", used()));
    // Half of it is wanted by a statement.
    let big = "DECLARE @x varchar(max) = REPLICATE(CAST('x' AS varchar(max)), 70000000);
               SELECT SUM(pages_kb) / 1024 FROM sys.dm_os_memory_clerks WHERE type = 'MEMORYCLERK_SQLBUFFERPOOL'";
    let left = fixture.number(big);
    assert!(left < filled, "{left} of {filled} MB");
    // All clerks together are what the server has.
    let clerks = || fixture.number("SELECT SUM(pages_kb) / 1024 FROM sys.dm_os_memory_clerks");
    let total = || {
        fixture.number(
            "SELECT cntr_value / 1024 FROM sys.dm_os_performance_counters
             WHERE counter_name = 'Total Server Memory (KB)'",
        )
    };
    eventually(|| clerks().abs_diff(total()) <= 16, || format!("{} and {} MB", clerks(), total()));
    assert_eq!(fixture.rows("SELECT COUNT(*) FROM one.dbo.big; SELECT COUNT(*) FROM two.dbo.big"), ["12000", "12000"]);
}

#[test]
fn many_databases_share_the_limit_and_one_too_many_is_refused() {
    let _turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let fixture = Fixture::new("many", 256);
    let mut made = 0;
    let refused = loop {
        let sql = format!("CREATE DATABASE d{made}; EXEC ('USE d{made}; SELECT 1 AS a INTO t')");
        let (_, _, errors) = fixture.run(fixture.session(), &sql);
        match errors.first() {
            Some(error) => break Some(error.number),
            None if made == 60 => break None,
            None => made += 1,
        }
    };
    assert!(made >= 8 && refused.is_none_or(|number| number == 802), "{made} databases, then {refused:?}");
    for number in 0..made {
        assert_eq!(fixture.rows(&format!("SELECT a FROM d{number}.dbo.t")), ["1"]);
    }
    assert!(fixture.server.budget().used() <= 256 * MB);
}

#[test]
fn what_a_large_transaction_took_comes_back() {
    let _turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let fixture = Fixture::new("rollback", 4000);
    fixture.rows("CREATE TABLE dbo.t (id int PRIMARY KEY, v varchar(200))");
    let private = || pikepole_machine::memory::private_bytes(&SystemFiles::below("/")).expect("Linux") / MB;
    let frames = || fixture.server.budget().mapped(pikepole_machine::memory::Clerk::BufferPool) / MB;
    let before = private() - frames().min(private());
    fixture.rows(
        "BEGIN TRAN; INSERT dbo.t SELECT TOP (200000) ROW_NUMBER() OVER (ORDER BY (SELECT NULL)), REPLICATE('v', 200)
         FROM sys.all_columns AS a CROSS JOIN sys.all_columns AS b;
         UPDATE dbo.t SET v = REPLICATE('w', 200); UPDATE dbo.t SET v = REPLICATE('u', 199); ROLLBACK",
    );
    // Versions leave, and the monitor looks twice a second.
    let mut kept = u64::MAX;
    for _ in 0..120 {
        kept = private().saturating_sub(frames()).saturating_sub(before);
        if kept < 60 {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(250));
    }
    panic!("{kept} MB are not given back");
}
