//! A machine of two memory nodes, which the test describes: each session's pages come into the part of the buffer pool that is its
//! scheduler's node's.

use pikepole_embedded::blocking::Connection;
use pikepole_embedded::{Engine, Options, SystemFiles};

struct Folder(std::path::PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        // What stays behind is in the folder for such things.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn integers(connection: &mut Connection, sql: &str) -> Vec<i64> {
    let rows = connection.query(sql, &[]).unwrap_or_else(|error| panic!("{sql}: {error}"));
    rows.iter().map(|row| row.get::<i64>(0).expect("a number")).collect()
}

/// The pages that each memory node has, by node.
fn pages(connection: &mut Connection) -> Vec<i64> {
    integers(connection, "SELECT pages_kb / 8 FROM sys.dm_os_memory_nodes ORDER BY memory_node_id")
}

/// The memory node that the session's scheduler is near to.
fn near(connection: &mut Connection) -> usize {
    let sql = "SELECT CAST(n.memory_node_id AS bigint) FROM sys.dm_exec_requests r
               JOIN sys.dm_os_schedulers s ON s.scheduler_id = r.scheduler_id
               JOIN sys.dm_os_nodes n ON n.node_id = s.parent_node_id WHERE r.session_id = @@SPID";
    usize::try_from(integers(connection, sql)[0]).expect("a node")
}

/// Fills some 500 pages.
fn fill(connection: &mut Connection, table: &str) {
    let sql = format!(
        "CREATE TABLE dbo.{table} (id int PRIMARY KEY, filler char(3900) NOT NULL);
         DECLARE @i int = 0; WHILE @i < 1000 BEGIN INSERT dbo.{table} VALUES (@i, REPLICATE('x', 3900)); SET @i += 1 END"
    );
    connection.execute(&sql, &[]).expect("rows");
}

/// Memory that this process has in pages of a node other than the one it was asked from, as the kernel tells: `prefer:1 ... N0=12`.
/// Nothing where the kernel knows of no nodes, or of one.
fn misplaced() -> Vec<String> {
    let maps = std::fs::read_to_string("/proc/self/numa_maps").unwrap_or_default();
    let is_misplaced = |line: &&str| {
        let node = line.split_whitespace().find_map(|word| word.strip_prefix("prefer:"));
        node.is_some_and(|node| {
            let of_nodes = line.split_whitespace().filter_map(|word| word.strip_prefix('N')?.split_once('='));
            of_nodes.into_iter().any(|(of, _)| of != node)
        })
    };
    maps.lines().filter(is_misplaced).map(str::to_owned).collect()
}

#[test]
fn pages_are_near_to_who_brings_them() {
    let folder = Folder(std::env::temp_dir().join(format!("pikepole-memory-nodes-{}", std::process::id())));
    let cpus = pikepole_machine::affinity::allowed().expect("CPUs");
    let [first, second, ..] = cpus[..] else {
        println!("a process with one CPU has one node: nothing was tested");
        return;
    };
    let nodes = SystemFiles::listing(&format!(
        "sys/devices/system/cpu/online {}\n\
         sys/devices/system/node/online 0-1\n\
         sys/devices/system/node/node0/cpulist {first}\n\
         sys/devices/system/node/node1/cpulist {second}\n",
        pikepole_machine::list_text(&cpus)
    ));
    let options = || Options::new(&folder.0).cpus(vec![first, second]).machine(nodes.clone());
    let engine = Engine::open(options()).expect("an engine");
    let mut control = engine.connect_blocking().expect("a session");
    let targets = "SELECT target_kb FROM sys.dm_os_memory_nodes ORDER BY memory_node_id";
    let [of_first, of_second] = integers(&mut control, targets)[..] else { panic!("two nodes") };
    assert!(of_first > 0 && (of_second - of_first) * 10 < of_first, "{of_first} KB and {of_second} KB");
    // The next two sessions are on a scheduler each.
    let mut sessions = [engine.connect_blocking().expect("a session"), engine.connect_blocking().expect("a session")];
    let mut seen = Vec::new();
    for (index, session) in sessions.iter_mut().enumerate() {
        let own = near(session);
        let before = pages(&mut control);
        fill(session, &format!("t{index}"));
        let after = pages(&mut control);
        let more = [after[0] - before[0], after[1] - before[1]];
        assert!(more[own] >= 450 && more[1 - own] < 100, "a session of node {own}: {more:?}");
        seen.push(own);
    }
    seen.sort_unstable();
    assert_eq!(seen, [0, 1]);
    assert_eq!(misplaced(), Vec::<String>::new());
    let counted = "SELECT cntr_value FROM sys.dm_os_performance_counters
                   WHERE object_name = 'SQLServer:Buffer Node' ORDER BY instance_name";
    assert_eq!(integers(&mut control, counted), pages(&mut control));
    drop((sessions, control));
    engine.shutdown().expect("it closes");

    // Pages that are read from the disk too, though other threads read them.
    let engine = Engine::open(options()).expect("an engine");
    let mut session = engine.connect_blocking().expect("a session");
    let own = near(&mut session);
    let before = pages(&mut session);
    assert_eq!(integers(&mut session, "SELECT COUNT_BIG(filler) FROM dbo.t0 OPTION (MAXDOP 1)"), [1000]);
    let after = pages(&mut session);
    let more = [after[0] - before[0], after[1] - before[1]];
    assert!(more[own] >= 450 && more[1 - own] < 100, "a session of node {own}: {more:?}");
}

#[test]
fn trace_flag_8015_leaves_one_node() {
    let folder = Folder(std::env::temp_dir().join(format!("pikepole-one-node-{}", std::process::id())));
    let nodes = SystemFiles::of_shape(&pikepole_machine::Shape::new(2, 1, 1, 1));
    let engine = Engine::open(Options::new(&folder.0).machine(nodes).trace_flag(8015)).expect("an engine");
    let mut session = engine.connect_blocking().expect("a session");
    assert_eq!(pages(&mut session).len(), 1);
}
