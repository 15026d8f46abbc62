//! Placement through T-SQL, with what the system says of the threads. One test in a process of its own: it looks at all
//! threads of the process.

use pikepole_embedded::blocking::Connection;
use pikepole_embedded::{Engine, Error, Options, SystemFiles};

struct Folder(std::path::PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        // What stays behind is in the folder for such things.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The CPUs of the threads whose names begin so, by name, as the system has them.
fn threads(prefix: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for task in std::fs::read_dir("/proc/self/task").expect("threads") {
        let folder = task.expect("a thread").path();
        let name = std::fs::read_to_string(folder.join("comm")).unwrap_or_default().trim().to_owned();
        if name.starts_with(prefix) {
            let status = std::fs::read_to_string(folder.join("status")).expect("a status");
            let cpus = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).expect("a mask");
            found.push((name, cpus.trim().to_owned()));
        }
    }
    found.sort();
    found
}

fn rows(connection: &mut Connection, sql: &str) -> Vec<String> {
    let rows = connection.query(sql, &[]).unwrap_or_else(|error| panic!("{sql}: {error}"));
    rows.iter().map(|row| row.get::<String>(0).expect("text")).collect()
}

const SCHEDULERS: &str = "SELECT CONCAT(cpu_id, ' ', status, ' ', is_online) FROM sys.dm_os_schedulers
                          WHERE scheduler_id < 1048576 ORDER BY scheduler_id";
const INFO: &str = "SELECT CONCAT(affinity_type_desc, ' ', softnuma_configuration_desc, ' ',
                    (SELECT COUNT(*) FROM sys.dm_os_nodes), ' ', (SELECT SUM(online_scheduler_count) FROM sys.dm_os_nodes))
                    FROM sys.dm_os_sys_info";

#[track_caller]
fn refused(connection: &mut Connection, sql: &str) {
    match connection.execute(sql, &[]) {
        Err(Error::Sql(error)) => {
            let wanted = "The affinity mask specified does not match the CPU mask on this system.";
            assert_eq!((error.number, error.severity, error.message.as_str()), (5832, 16, wanted), "{sql}");
        }
        other => panic!("{sql}: {:?}", other.err()),
    }
}

#[test]
fn schedulers_go_offline_and_their_threads_leave_the_cpu() {
    let folder = Folder(std::env::temp_dir().join(format!("pikepole-placement-{}", std::process::id())));
    // Two nodes of one CPU each, whatever this machine is; the schedulers run where they are allowed to.
    let allowed = threads("").first().map(|(_, cpus)| cpus.clone()).expect("a thread");
    let cpus: Vec<usize> = pikepole_machine::parse_list(&allowed).expect("a list");
    let [first, second, ..] = cpus[..] else {
        println!("a process with one CPU has nowhere to go: nothing was tested");
        return;
    };
    let nodes = SystemFiles::listing(&format!(
        "sys/devices/system/cpu/online {allowed}\n\
         sys/devices/system/node/online 0-1\n\
         sys/devices/system/node/node0/cpulist {first}\n\
         sys/devices/system/node/node1/cpulist {second}\n"
    ));
    let options = || Options::new(&folder.0).cpus(vec![first, second]).machine(nodes.clone());
    let engine = Engine::open(options()).expect("an engine");
    // Of the first two sessions each scheduler has one.
    let mut sessions = [engine.connect_blocking().expect("a session"), engine.connect_blocking().expect("a session")];
    let mut control = engine.connect_blocking().expect("a session");
    let both = [format!("{first} VISIBLE ONLINE 1"), format!("{second} VISIBLE ONLINE 1")];
    assert_eq!(rows(&mut control, SCHEDULERS), both);
    assert_eq!(rows(&mut control, INFO), ["AUTO OFF 2 2"]);
    let bound = |first: usize, second: usize| {
        [("scheduler 0".to_owned(), first.to_string()), ("scheduler 1".to_owned(), second.to_string())]
    };
    assert_eq!(threads("scheduler "), bound(first, second));

    control.execute(&format!("ALTER SERVER CONFIGURATION SET PROCESS AFFINITY CPU = {second}"), &[]).expect("a mask");
    let one = [format!("{first} VISIBLE OFFLINE 0"), format!("{second} VISIBLE ONLINE 1")];
    assert_eq!(rows(&mut control, SCHEDULERS), one);
    assert_eq!(rows(&mut control, INFO), ["MANUAL OFF 2 1"]);
    assert_eq!(threads("scheduler "), bound(second, second));
    for session in &mut sessions {
        assert_eq!(rows(session, "SELECT 'works'"), ["works"], "a session of either scheduler goes on");
    }
    let new: Vec<_> = (0..4).map(|_| engine.connect_blocking().expect("a session")).collect();
    let placed = "SELECT CONCAT(scheduler_id, '') FROM sys.dm_os_tasks WHERE session_id >= 54 GROUP BY scheduler_id";
    let placed = placed.replace("54", &new[0].session_id().to_string());
    assert_eq!(rows(&mut control, &placed), ["1"], "new sessions go to the scheduler that is online");

    for wrong in ["CPU = 4000", "CPU = 0 TO 4000000000", "NUMANODE = 2", "NUMANODE = 0 TO 2"] {
        refused(&mut control, &format!("ALTER SERVER CONFIGURATION SET PROCESS AFFINITY {wrong}"));
    }
    assert_eq!(threads("scheduler "), bound(second, second), "a refused mask changes nothing");
    control.execute("ALTER SERVER CONFIGURATION SET PROCESS AFFINITY NUMANODE = 0", &[]).expect("a node");
    assert_eq!(threads("scheduler "), bound(first, first));
    control.execute("ALTER SERVER CONFIGURATION SET SOFTNUMA ON", &[]).expect("an option");
    assert_eq!(rows(&mut control, INFO), ["MANUAL OFF 2 1"], "soft nodes are for the next start");
    drop((sessions, new, control));
    engine.shutdown().expect("closed");

    // The mask and soft nodes are those of the next start; flag 8015 makes one node of two.
    let engine = Engine::open(options().trace_flag(8015)).expect("an engine");
    let mut control = engine.connect_blocking().expect("a session");
    assert_eq!(threads("scheduler "), bound(first, first));
    assert_eq!(rows(&mut control, INFO), ["MANUAL ON 1 1"]);
    let flags = "DBCC TRACESTATUS(-1) WITH NO_INFOMSGS";
    let shown = control.query(flags, &[]).expect("flags");
    assert_eq!(shown.iter().map(|row| row.get::<i32>(0).expect("a flag")).collect::<Vec<_>>(), [8015]);
    control.execute("ALTER SERVER CONFIGURATION SET PROCESS AFFINITY CPU = AUTO", &[]).expect("no mask");
    assert_eq!(threads("scheduler "), bound(first, second));
    assert_eq!(rows(&mut control, SCHEDULERS), both);
    drop(control);
    engine.shutdown().expect("closed");

    log_writers_move_while_the_server_runs(options(), first, second);

    let kept = Engine::open(options().policy("LOG_WRITER_CPUS", "ISOLATED").policy("LOG_WRITERS", "PER NODE"));
    let engine = kept.expect("an engine");
    assert_eq!(threads("scheduler "), [("scheduler 0".to_owned(), second.to_string())]);
    let hidden = threads("hidden ");
    let bound = hidden.iter().filter(|(_, cpus)| *cpus == first.to_string()).count();
    assert_eq!(bound, 2, "one log writer a node on the core that is theirs: {hidden:?}");
    engine.shutdown().expect("closed");
}

/// The CPU of each log writer, from the view and from the system, and the schedulers.
fn log_writers(control: &mut Connection) -> Vec<String> {
    let sql = "SELECT CONCAT(s.cpu_id, ' ', t.affinity) FROM sys.dm_exec_requests r
               JOIN sys.dm_os_schedulers s ON s.scheduler_id = r.scheduler_id
               JOIN sys.dm_os_threads t ON t.scheduler_address = s.scheduler_address
               WHERE r.command = 'LOG WRITER' AND r.database_id = DB_ID('master') ORDER BY r.session_id";
    rows(control, sql)
}

fn log_writers_move_while_the_server_runs(options: Options, first: usize, second: usize) {
    let engine = Engine::open(options.policy("LOG_WRITERS", "2")).expect("an engine");
    let mut control = engine.connect_blocking().expect("a session");
    let at = |cpu: usize| format!("{cpu} {}", 1_u64 << cpu);
    let both_online = [format!("{first} VISIBLE ONLINE 1"), format!("{second} VISIBLE ONLINE 1")];
    let free = log_writers(&mut control);
    assert!(free.len() == 2 && free.iter().all(|row| row.starts_with("-1 ")), "{free:?}");
    let set = "ALTER SERVER CONFIGURATION SET PIKEPOLE LOG_WRITER_CPUS =";
    control.execute(&format!("{set} '{second}'"), &[]).expect("a CPU");
    assert_eq!(log_writers(&mut control), [at(second), at(second)]);
    // A log writer that comes later goes there, too.
    control.execute("ALTER SERVER CONFIGURATION SET PIKEPOLE LOG_WRITERS = 3", &[]).expect("a count");
    assert_eq!(log_writers(&mut control), [at(second), at(second), at(second)]);
    control.execute(&format!("{set} '{second},{first}'"), &[]).expect("two CPUs");
    // A list is kept in the order of the CPUs.
    assert_eq!(log_writers(&mut control), [at(first), at(second), at(first)]);
    let mask = "SELECT CONCAT(CAST(value AS bigint), ' ', CAST(value_in_use AS bigint)) FROM sys.configurations WHERE name = 'affinity I/O mask'";
    let both = (1_u64 << first) | (1 << second);
    assert_eq!(rows(&mut control, mask), [format!("{both} {both}")]);
    // The mask is another name of the same.
    let first_bit = 1_u64 << first;
    control.execute(&format!("EXEC sp_configure 'affinity I/O mask', {first_bit}"), &[]).expect("a mask");
    assert_eq!(log_writers(&mut control), [at(first), at(first), at(first)]);
    assert_eq!(rows(&mut control, SCHEDULERS), both_online);
    // The core is the log writers' own: its scheduler is offline.
    control.execute(&format!("{set} ISOLATED"), &[]).expect("a core");
    assert_eq!(log_writers(&mut control), [at(first), at(first), at(first)]);
    let apart = [format!("{first} VISIBLE OFFLINE 0"), format!("{second} VISIBLE ONLINE 1")];
    assert_eq!(rows(&mut control, SCHEDULERS), apart);
    refused(&mut control, &format!("ALTER SERVER CONFIGURATION SET PROCESS AFFINITY CPU = {first}"));
    assert_eq!(rows(&mut control, SCHEDULERS), apart, "a refused mask changes nothing");
    refused(&mut control, "EXEC sp_configure 'affinity64 I/O mask', 1073741824");
    assert!(control.execute(&format!("{set} '4095'"), &[]).is_err(), "a CPU that is not there");
    assert_eq!(log_writers(&mut control), [at(first), at(first), at(first)]);
    control.execute("EXEC sp_configure 'affinity I/O mask', 0", &[]).expect("no mask");
    assert_eq!(log_writers(&mut control), [&free[..], &free[..1]].concat());
    assert_eq!(rows(&mut control, SCHEDULERS), both_online);
    control.execute("CREATE TABLE #t (i int)", &[]).expect("tempdb is opened when it is used");
    let others = "SELECT CONCAT(command, ' ', COUNT(*)) FROM sys.dm_exec_requests
                  WHERE session_id < 51 AND database_id = DB_ID('tempdb') GROUP BY command ORDER BY command";
    assert_eq!(rows(&mut control, others), ["CHECKPOINT 1", "LAZY WRITER 1", "LOG WRITER 3"]);
    let dbid = "SELECT CONCAT(COUNT(*), '') FROM sys.sysprocesses WHERE cmd = 'LOG WRITER' AND dbid = DB_ID('tempdb')";
    assert_eq!(rows(&mut control, dbid), ["3"]);
    drop(control);
    engine.shutdown().expect("closed");
}
