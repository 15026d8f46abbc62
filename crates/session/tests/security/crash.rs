//! Principals after a power loss: what was acknowledged is there, what was rolled back is not.

use crate::fixture::{Fixture, PASSWORD};
use pikepole_machine::SimulatedDisk;
use pikepole_types::Value;

#[test]
fn what_was_made_survives_a_power_loss() {
    let disk = SimulatedDisk::new(5);
    let fixture = Fixture::on(&disk);
    fixture.server.set_sa_password("the first").expect("it can be set");
    let mut sa = fixture.sa();
    fixture.succeeds(&mut sa, "CREATE DATABASE d");
    fixture.succeeds(&mut sa, &format!("CREATE LOGIN ann WITH PASSWORD = '{PASSWORD}'"));
    fixture.succeeds(&mut sa, "CREATE LOGIN bob WITH PASSWORD = 'x'; ALTER LOGIN bob DISABLE");
    fixture.succeeds(&mut sa, "CREATE LOGIN eve WITH PASSWORD = 'x'; DROP LOGIN eve; GRANT VIEW SERVER STATE TO ann");
    fixture.succeeds(&mut sa, "USE d");
    fixture
        .succeeds(&mut sa, "CREATE TABLE dbo.t (k int); CREATE USER ann; CREATE ROLE r; ALTER ROLE r ADD MEMBER ann");
    fixture.succeeds(&mut sa, "GRANT SELECT ON dbo.t TO r; BEGIN TRAN; GRANT INSERT ON dbo.t TO r");
    // Its definitions are in the log, its commit is not.
    let after = disk.crash(9);
    drop(sa);
    let fixture = Fixture::on(&after);
    assert!(fixture.server.has_sa_password());
    assert!(fixture.server.verify_login_from("sa", "the first", "").is_ok());
    let number = |name: &str| fixture.server.verify_login_from(name, "x", "").err().map(|failure| failure.error.number);
    assert_eq!((number("bob"), number("eve")), (Some(18470), Some(18456)));
    let mut ann = fixture.login("ann");
    fixture.succeeds(&mut ann, "SELECT k FROM dbo.t; SELECT * FROM sys.dm_os_wait_stats");
    assert_eq!(fixture.value(&mut ann, "SELECT IS_MEMBER('r')"), Value::Int(1));
    fixture.fails(&mut ann, 229, "INSERT dbo.t VALUES (1)");
}

/// The power fails at each change of the disk that making a login takes: it is there whole, with its password, or not at all,
/// and it is there once that was acknowledged.
#[test]
fn a_login_is_there_whole_or_not_at_all() {
    let mut seen = [false; 2];
    for crash_at in 1.. {
        let disk = SimulatedDisk::new(5);
        let fixture = Fixture::on(&disk);
        let mut sa = fixture.sa();
        disk.crash_after_ops(crash_at);
        let made = fixture.run(&mut sa, &format!("CREATE LOGIN ann WITH PASSWORD = '{PASSWORD}'"));
        let acknowledged = made.errors().is_empty();
        let after = disk.crash(crash_at);
        let done = !disk.is_off();
        drop((sa, fixture));
        let fixture = Fixture::on(&after);
        let there = fixture.server.verify_login_from("ann", PASSWORD, "").is_ok();
        assert!(there || !acknowledged, "acknowledged and lost, crash at {crash_at}");
        seen[usize::from(there)] = true;
        if done {
            break;
        }
    }
    assert_eq!(seen, [true; 2], "both ends are met");
}
