//! What definitions say is there after a crash; what sessions had of their own is not.

use super::World;
use crate::PlanCache;
use pikepole_engine::{SchedulerChoice, Server, ServerOptions};
use pikepole_machine::{Disk, SimulatedDisk};

pub(super) fn world(disk: &SimulatedDisk) -> World {
    let options = ServerOptions {
        disk: Disk::simulated(disk.clone()),
        schedulers: SchedulerChoice::Simulated { seed: 7, count: 2 },
        small: true,
        log_bytes_max: Some(256 << 20),
        ..ServerOptions::new("/server")
    };
    World { server: Server::open(options).expect("the folder is usable"), plans: PlanCache::new(), next_session: 51 }
}

#[test]
fn rules_outlive_a_crash() {
    let disk = SimulatedDisk::new(3);
    let mut before = world(&disk);
    let mut client = before.client();
    client.quiet(
        "CREATE TABLE p (id int PRIMARY KEY) INSERT p VALUES (1), (2)
         CREATE TABLE c (pid int CONSTRAINT fk REFERENCES p ON DELETE CASCADE, n int CONSTRAINT ck CHECK (n > 0), twice AS n * 2, v rowversion)
         CREATE UNIQUE INDEX u ON c (n) WHERE n IS NOT NULL
         INSERT c (pid, n) VALUES (1, 1), (2, NULL), (2, NULL)
         GO
         CREATE FUNCTION half (@x int) RETURNS int AS BEGIN RETURN @x / 2 END
         GO
         CREATE TABLE #own (a int) INSERT #own VALUES (1)
         SELECT pid, n INTO copied FROM c WHERE n IS NOT NULL",
    );
    client.quiet(
        "BEGIN TRAN ALTER TABLE c ADD CONSTRAINT late CHECK (pid < 0 OR pid > 0) INSERT c (pid, n) VALUES (2, 7)",
    );
    let last = client.value("SELECT CONVERT(varchar(20), MAX(v), 1) FROM c");
    disk.power_off();
    let after = disk.crash(9);
    drop(client);
    drop(before);
    let mut world = world(&after);
    let mut client = world.client();
    assert_eq!(
        client.shown("SELECT pid, n, twice FROM c ORDER BY pid, n SELECT dbo.half(9) SELECT pid, n FROM copied"),
        ["1|1|2", "2|NULL|NULL", "2|NULL|NULL", "4", "1|1"]
    );
    assert!(client.lines("INSERT c (pid, n) VALUES (9, 3)")[0].contains("\"fk\""));
    assert!(client.lines("INSERT c (pid, n) VALUES (1, -3)")[0].contains("\"ck\""));
    assert!(client.lines("INSERT c (pid, n) VALUES (1, 1)")[0].starts_with("Msg 2601"));
    assert!(client.lines("ALTER TABLE c DROP CONSTRAINT late")[0].starts_with("Msg 3728"));
    assert!(client.lines("SELECT * FROM #own")[0].starts_with("Msg 208"));
    client.quiet("INSERT c (pid, n) VALUES (2, 5)");
    let grown = format!("SELECT CASE WHEN MAX(v) > CONVERT(binary(8), '{last}', 1) THEN 'grown' END FROM c");
    assert_eq!(client.value(&grown), "grown");
    client.quiet("DELETE p WHERE id = 2 CREATE TABLE #own (b int) INSERT #own VALUES (2)");
    assert_eq!(client.shown("SELECT COUNT(*) FROM c SELECT b FROM #own"), ["1", "2"]);
}
