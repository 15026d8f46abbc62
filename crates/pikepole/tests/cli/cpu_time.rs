//! CPU time as it is shown: that of all threads that work for a statement, and no more than they can have used.

use crate::tool::Folder;

/// CPU time and elapsed time of each statement, in milliseconds.
fn times(messages: &str) -> Vec<(u64, u64)> {
    let number = |text: &str| text.split(" ms").next().and_then(|number| number.trim().parse().ok());
    let of_line = |line: &str| {
        let (cpu, elapsed) = line.trim().strip_prefix("CPU time = ")?.split_once("elapsed time = ")?;
        Some((number(cpu)?, number(elapsed)?))
    };
    messages.lines().filter_map(of_line).collect()
}

#[test]
fn a_statement_with_workers_tells_what_they_used() {
    let folder = Folder::new("cpu");
    folder.sql_clean(
        "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, a int NOT NULL, b varchar(40) NOT NULL);
         INSERT dbo.t SELECT value, value % 97, REPLICATE('x', 30) FROM GENERATE_SERIES(1, 400000);",
    );
    let script = "SET STATISTICS TIME ON;
         SELECT COUNT(*) AS n FROM dbo.t WHERE b LIKE '%y%' OR a * 3 > 5;
         SET STATISTICS TIME OFF;
         SELECT total_worker_time, total_elapsed_time FROM sys.dm_exec_query_stats AS s
         CROSS APPLY sys.dm_exec_sql_text(s.sql_handle) AS t
         WHERE SUBSTRING(t.text, s.statement_start_offset / 2 + 1, 30) LIKE 'SELECT COUNT(*) AS n FROM%';
         SELECT cpu_time FROM sys.dm_exec_sessions WHERE session_id = @@SPID;";
    let done = folder.run(["sql", "-d", "data", "--csv", "-Q", script]);
    assert_eq!(done.status, 0, "{}", done.err);
    // Its workers, and the session itself.
    let threads = std::thread::available_parallelism().map_or(1, usize::from) as u64 + 1;
    let [(cpu, elapsed)] = times(&done.err)[..] else { panic!("{}", done.err) };
    assert!(cpu > 0 && cpu <= (elapsed + 1) * threads, "{cpu} ms of {elapsed} ms");
    let lines: Vec<&str> = done.out.lines().collect();
    let (worker, passed) = lines[3].split_once(',').expect("two numbers");
    let (worker, passed): (u64, u64) = (worker.parse().expect("a number"), passed.parse().expect("a number"));
    assert!(worker / 1000 > 0 && worker <= passed * threads, "{worker} of {passed}");
    assert!(worker / 1000 <= cpu + 1 && cpu <= worker / 1000 + 1, "two views of one statement: {worker} us, {cpu} ms");
    assert!(lines[5].parse::<u64>().expect("a number") + 1 >= cpu, "{} of the session", lines[5]);
}

#[test]
fn a_loop_uses_the_cpu_and_a_wait_does_not() {
    let folder = Folder::new("cpu-loop");
    let script = "DECLARE @i int = 0;
         WHILE @i < 300000 SET @i += 1;
         SELECT r.cpu_time, r.total_elapsed_time, s.cpu_time
         FROM sys.dm_exec_requests AS r JOIN sys.dm_exec_sessions AS s ON s.session_id = r.session_id
         WHERE r.session_id = @@SPID;
         SET STATISTICS TIME ON;
         WAITFOR DELAY '00:00:00.500';";
    let done = folder.run(["sql", "-d", "data", "--csv", "-Q", script]);
    assert_eq!(done.status, 0, "{}", done.err);
    let numbers: Vec<u64> = done.out.lines().nth(1).unwrap_or_default().split(',').flat_map(str::parse).collect();
    let [cpu, elapsed, session] = numbers[..] else { panic!("{}", done.out) };
    assert!(cpu > 0 && cpu <= elapsed + 1 && session >= cpu, "{}", done.out);
    for (cpu, elapsed) in times(&done.err) {
        assert!(cpu < 500 && cpu <= elapsed, "{}", done.err);
    }
}
