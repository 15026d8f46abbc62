//! Trace flags that ask for what is always so here, 8008 and 8048, and for what takes several files, 1117. With them and
//! without, the same is read back; of 8048, that parts what no threads share, there is nothing to read but that it is on.

use pikepole_embedded::blocking::Connection;
use pikepole_embedded::{Engine, Options};

struct Folder(std::path::PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        // What stays behind is in the folder for such things.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn numbers(connection: &mut Connection, sql: &str) -> Vec<i64> {
    let rows = connection.query(sql, &[]).unwrap_or_else(|error| panic!("{sql}: {error}"));
    rows.iter().map(|row| row.get::<i64>(0).expect("a number")).collect()
}

/// Sessions of each scheduler, the one that asks included.
const PLACES: &str = "SELECT COUNT_BIG(t.session_id) FROM sys.dm_os_schedulers s
                      LEFT JOIN sys.dm_os_tasks t ON t.scheduler_id = s.scheduler_id AND t.session_id >= 51
                      WHERE s.scheduler_id < 1048576 GROUP BY s.scheduler_id ORDER BY s.scheduler_id";

#[test]
fn what_these_flags_ask_for_is_always_so() {
    let allowed = std::fs::read_to_string("/proc/self/status").expect("a status");
    let allowed = allowed.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).expect("a mask");
    let cpus = pikepole_machine::parse_list(allowed).expect("a list");
    for flags in [&[][..], &[8008, 8048, 1117]] {
        let folder =
            Folder(std::env::temp_dir().join(format!("pikepole-flags-{}-{}", flags.len(), std::process::id())));
        let options = flags.iter().fold(Options::new(&folder.0), |options, flag| options.trace_flag(*flag));
        let engine = Engine::open(options.cpus(cpus[..cpus.len().min(2)].to_vec())).expect("an engine");
        let mut control = engine.connect_blocking().expect("a session");
        let status = "DBCC TRACESTATUS(-1) WITH NO_INFOMSGS";
        let shown = control.query(status, &[]).expect("flags");
        assert_eq!(shown.iter().count(), flags.len(), "they are accepted and shown");

        // 8008: a new session goes to the scheduler with the fewest.
        let mut sessions: Vec<Connection> = (0..7).map(|_| engine.connect_blocking().expect("a session")).collect();
        if cpus.len() > 1 {
            assert_eq!(numbers(&mut control, PLACES), [4, 4], "{flags:?}");
            let place = "SELECT CAST(scheduler_id AS bigint) FROM sys.dm_os_tasks WHERE session_id = @@SPID";
            let first = numbers(&mut control, place)[0];
            sessions.retain_mut(|session| numbers(session, place)[0] == first);
            assert_eq!(sessions.len(), 3);
            // A session that was dropped ends by itself, soon.
            let begun = std::time::Instant::now();
            while numbers(&mut control, PLACES)[1 - first as usize] > 0 {
                assert!(begun.elapsed().as_secs() < 60, "sessions that were dropped are still there");
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            sessions.extend((0..4).map(|_| engine.connect_blocking().expect("a session")));
            assert_eq!(numbers(&mut control, PLACES), [4, 4], "the emptier one takes all of them: {flags:?}");
        }

        // 1117: all files of the filegroup grow; of a new database it is one.
        let files = "SELECT COUNT_BIG(*) FROM sys.database_files WHERE type = 0";
        assert_eq!(numbers(&mut control, files), [1]);
        drop((sessions, control));
        engine.shutdown().expect("closed");
    }
}
