//! Damage, full disks and power losses while backups are made and restored: an error says so, and what was there stays.

use crate::fixture::Fixture;
use pikepole_machine::{Disk, SimulatedDisk};
use pikepole_query::Collected;
use pikepole_session::{Session, SessionOptions};
use pikepole_types::Value;

/// `d` with three rows and its backup in `d.bak`, a log backup with a fourth row in `d.trn`, and `e`, a copy of the first
/// three in which the row 50 was added.
fn prepared() -> Fixture {
    let mut fixture = Fixture::new();
    fixture.ok("BACKUP DATABASE d TO DISK = 'd.bak'");
    fixture.in_d("INSERT t VALUES (4, 'd')");
    fixture.ok("BACKUP LOG d TO DISK = 'd.trn'; RESTORE DATABASE e FROM DISK = 'd.bak'");
    fixture.ok("USE e; INSERT t VALUES (50, 'e'); USE master");
    fixture
}

/// Errors that say that a backup is damaged.
pub const DAMAGE: &[i32] = &[3183, 3189, 3203, 3241, 3242, 3243, 3254, 3256, 4038];

#[test]
fn a_changed_bit_anywhere_is_told_or_harmless() {
    let mut fixture = prepared();
    let disk = Disk::simulated(fixture.disk.clone());
    for (file, restore) in [
        ("d.bak", "RESTORE DATABASE e FROM DISK = 'd.bak' WITH REPLACE"),
        ("d.trn", "RESTORE LOG f FROM DISK = 'd.trn' WITH NORECOVERY"),
    ] {
        let path = format!("/server/backup/{file}");
        let bytes = disk.read(&path).expect("the backup").len() as u64;
        if file == "d.trn" {
            fixture.ok("RESTORE DATABASE f FROM DISK = 'd.bak' WITH NORECOVERY");
        }
        // Both copies of the directory, heads, tails, and all regions between.
        let near_ends =
            (0..8192).step_by(397).chain((8192..8292).step_by(11)).chain((bytes - 4096..bytes).step_by(311));
        for at in near_ends.chain((8192..bytes).step_by(10_007)) {
            fixture.disk.flip_bit(&path, at).expect("a bit");
            let outcome = fixture.outcome(restore);
            let verified = fixture.outcome(&format!("RESTORE VERIFYONLY FROM DISK = '{file}'"));
            fixture.disk.flip_bit(&path, at).expect("the bit again");
            if at < 8192 {
                // The other copy of the directory is whole.
                assert_eq!((outcome, verified), (None, None), "{file}, byte {at}");
                if file == "d.bak" {
                    assert_eq!(fixture.keys("e"), [1, 2, 3]);
                    fixture.ok("USE e; INSERT t VALUES (50, 'e'); USE master");
                } else {
                    fixture.ok("RESTORE DATABASE f FROM DISK = 'd.bak' WITH REPLACE, NORECOVERY");
                }
            } else {
                assert!(outcome.is_some_and(|number| DAMAGE.contains(&number)), "{file}, byte {at}: {outcome:?}");
                assert!(verified.is_some_and(|number| DAMAGE.contains(&number)), "{file}, byte {at}: {verified:?}");
                assert_eq!(fixture.keys("e"), [1, 2, 3, 50], "{file}, byte {at}");
            }
        }
    }
    // Cut off anywhere, too.
    let bytes = disk.read("/server/backup/d.bak").expect("the backup");
    for cut in [0, 100, 4096, 8192, 9000, bytes.len() as u64 / 2, bytes.len() as u64 - 4096] {
        fixture.disk.truncate("/server/backup/d.bak", cut).expect("cut");
        let outcome = fixture.outcome("RESTORE DATABASE e FROM DISK = 'd.bak' WITH REPLACE");
        assert!(outcome.is_some_and(|number| DAMAGE.contains(&number)), "cut at {cut}: {outcome:?}");
        disk.replace("/server/backup/d.bak", &bytes).expect("whole again");
    }
    assert_eq!(fixture.keys("e"), [1, 2, 3, 50]);
    fixture.ok("RESTORE LOG f FROM DISK = 'd.trn'");
    assert_eq!(fixture.keys("f"), [1, 2, 3, 4]);
    fixture.check();
}

#[test]
fn a_full_disk_leaves_the_old_backup_and_the_old_database() {
    let mut fixture = prepared();
    let disk = fixture.disk.clone();
    let full = |extra: u64| disk.set_capacity(Some(disk.used() + extra));
    for extra in [0, 9_000, 30_000] {
        for backup in ["BACKUP DATABASE d TO DISK = 'd.bak' WITH INIT", "BACKUP DATABASE d TO DISK = 'd.bak'"] {
            full(extra);
            assert_eq!(fixture.outcome(backup), Some(3202), "{extra}: {backup}");
        }
        assert_eq!(fixture.outcome("RESTORE DATABASE e FROM DISK = 'd.bak' WITH REPLACE"), Some(3202));
        disk.set_capacity(None);
        assert_eq!(fixture.keys("e"), [1, 2, 3, 50]);
        assert_eq!(fixture.ok("RESTORE HEADERONLY FROM DISK = 'd.bak'").rows().len(), 1);
        fixture.ok("RESTORE VERIFYONLY FROM DISK = 'd.bak'");
    }
    // In the middle of a sequence: what is restored stays, and the statement can be given again.
    fixture.ok("RESTORE DATABASE f FROM DISK = 'd.bak' WITH NORECOVERY");
    full(0);
    assert_eq!(fixture.outcome("RESTORE LOG f FROM DISK = 'd.trn'"), Some(3202));
    disk.set_capacity(None);
    fixture.ok("RESTORE LOG f FROM DISK = 'd.trn' WITH NORECOVERY");
    full(0);
    assert_eq!(fixture.outcome("RESTORE DATABASE f WITH RECOVERY"), Some(3202));
    disk.set_capacity(None);
    assert_eq!(fixture.state("f"), "RESTORING");
    fixture.ok("RESTORE DATABASE f WITH RECOVERY");
    assert_eq!(fixture.keys("f"), [1, 2, 3, 4]);
    fixture.check();
}

/// Runs a statement on a disk whose power fails after `after` changes; the disk as the crash leaves it, and whether the
/// statement was done before.
pub fn crashed(disk: &SimulatedDisk, sql: &str, after: u64) -> (SimulatedDisk, bool) {
    let copy = disk.crash(after);
    let mut fixture = Fixture::on(copy.clone());
    copy.crash_after_ops(after);
    let done = fixture.outcome(sql).is_none() && !copy.is_off();
    copy.power_off();
    let left = copy.crash(after + 1);
    fixture.abandon();
    (left, done)
}

/// The disk of a server that was stopped in order, with what `prepared` has.
fn stopped() -> SimulatedDisk {
    prepared().stopped()
}

#[test]
fn a_power_loss_during_a_backup_leaves_the_database_and_a_whole_backup() {
    let disk = stopped();
    for sql in ["BACKUP DATABASE d TO DISK = 'd.bak' WITH INIT", "BACKUP DATABASE d TO DISK = 'd.bak'"] {
        let mut after = 1;
        loop {
            let (left, done) = crashed(&disk, sql, after);
            let mut fixture = Fixture::on(left);
            assert_eq!((fixture.keys("d"), fixture.keys("e")), (vec![1, 2, 3, 4], vec![1, 2, 3, 50]), "{sql}, {after}");
            let sets = fixture.ok("RESTORE HEADERONLY FROM DISK = 'd.bak'").rows().len();
            assert!((1..=2).contains(&sets));
            fixture.ok(&format!("RESTORE DATABASE f FROM DISK = 'd.bak' WITH FILE = {sets}"));
            let keys = fixture.keys("f");
            assert!(keys == [1, 2, 3, 4] || (!done && keys == [1, 2, 3]), "{sql}, {after}: {keys:?}");
            // The next backup finds its place whatever was left.
            fixture.ok("BACKUP DATABASE d TO DISK = 'd.bak'; RESTORE VERIFYONLY FROM DISK = 'd.bak' WITH FILE = 2");
            if done {
                break;
            }
            after += 1 + after / 6;
        }
    }
}

#[test]
fn a_power_loss_during_a_restore_leaves_the_old_database_or_the_new_one() {
    let disk = stopped();
    let mut both = [false; 2];
    let mut after = 1;
    loop {
        let (left, done) = crashed(&disk, "RESTORE DATABASE e FROM DISK = 'd.bak' WITH REPLACE", after);
        let mut fixture = Fixture::on(left);
        assert_eq!((fixture.keys("d"), fixture.state("e")), (vec![1, 2, 3, 4], "ONLINE".to_string()));
        let keys = fixture.keys("e");
        let is_new = keys == [1, 2, 3];
        assert!(is_new || (!done && keys == [1, 2, 3, 50]), "{after}: {keys:?}");
        both[usize::from(is_new)] = true;
        fixture.ok("RESTORE DATABASE e FROM DISK = 'd.bak' WITH REPLACE; CREATE DATABASE f");
        fixture.restart().check();
        if done {
            break;
        }
        after += 1 + after / 10;
    }
    assert_eq!(both, [true; 2]);
}

#[test]
fn a_power_loss_during_a_sequence_leaves_it_where_it_was_or_one_step_on() {
    let mut fixture = prepared();
    fixture.ok("RESTORE DATABASE f FROM DISK = 'd.bak' WITH NORECOVERY");
    let disk = fixture.stopped();
    let mut after = 1;
    loop {
        let (left, done) = crashed(&disk, "RESTORE LOG f FROM DISK = 'd.trn' WITH RECOVERY", after);
        let mut fixture = Fixture::on(left);
        if fixture.state("f") == "RESTORING" {
            assert!(!done);
            // The log is restored, and only the recovery is left, or it is as if nothing had been done.
            match fixture.outcome("RESTORE LOG f FROM DISK = 'd.trn' WITH RECOVERY") {
                Some(4326) => drop(fixture.ok("RESTORE DATABASE f WITH RECOVERY")),
                outcome => assert_eq!(outcome, None, "{after}"),
            }
        }
        assert_eq!(fixture.keys("f"), [1, 2, 3, 4], "{after}");
        fixture.restart().check();
        if done {
            break;
        }
        after += 1 + after / 10;
    }
}

#[test]
fn sessions_that_insert_during_a_backup_are_in_it_whole_or_not_at_all() {
    const SESSIONS: usize = 8;
    let mut fixture = Fixture::new();
    fixture.in_d("CREATE TABLE many (s int, k int, twin int, PRIMARY KEY (s, k))");
    fixture.in_d("CREATE TABLE heap (s int, k int, text varchar(50))");
    let inserts = |session: usize| {
        format!(
            "SET NOCOUNT ON; DECLARE @k int = 1; WHILE @k <= 60 BEGIN \
             INSERT many VALUES ({session}, @k, 0); \
             BEGIN TRANSACTION; UPDATE many SET twin = @k WHERE s = {session} AND k = @k; \
             INSERT heap VALUES ({session}, @k, 'row'); COMMIT; SET @k += 1 END"
        )
    };
    let schedulers = fixture.server.schedulers().clone();
    let tasks: Vec<_> = (0..SESSIONS)
        .map(|number| {
            let options = SessionOptions { database: "d".to_string(), ..SessionOptions::default() };
            let mut session =
                Session::new(fixture.server.clone(), fixture.registry.clone(), options).expect("a session");
            let (sql, info) = (inserts(number), session.task_info());
            schedulers.spawn(info, pikepole_scheduler::Placement::LeastLoaded, async move {
                let mut output = Collected::default();
                session.run(&sql, &mut [], &mut output).await;
                assert!(output.errors().is_empty(), "{:?}", output.errors());
                session.close().await;
            })
        })
        .collect();
    // While they insert: a full backup, and log backups.
    let mut restored_during = 0;
    fixture.ok("BACKUP DATABASE d TO DISK = 'live.bak'");
    for log in 1..=3 {
        fixture.ok(&format!("BACKUP LOG d TO DISK = 'live{log}.trn'"));
    }
    for task in tasks {
        schedulers.block_on(task).expect("a session that ends");
    }
    fixture.ok("BACKUP LOG d TO DISK = 'live4.trn'");
    let all = "SELECT s, k, twin FROM many ORDER BY s, k; SELECT s, k FROM heap ORDER BY s, k";
    for logs in 0..=4 {
        let name = format!("copy{logs}");
        fixture.ok(&format!("RESTORE DATABASE {name} FROM DISK = 'live.bak' WITH NORECOVERY"));
        for log in 1..=logs {
            fixture.ok(&format!("RESTORE LOG {name} FROM DISK = 'live{log}.trn' WITH NORECOVERY"));
        }
        fixture.ok(&format!("RESTORE DATABASE {name} WITH RECOVERY"));
        let number = |value: &Value| value.as_i64().expect("a number");
        let output = fixture.ok(&format!("USE {name}; {all}; USE master"));
        let mut rows = vec![Vec::new(); SESSIONS];
        let mut twins = [0; SESSIONS];
        let mut in_heap = [0; SESSIONS];
        for row in output.rows() {
            let session = number(&row[0]) as usize;
            match row.get(2) {
                Some(twin) => {
                    rows[session].push(number(&row[1]));
                    twins[session] += i64::from(number(twin) != 0);
                }
                None => in_heap[session] += 1,
            }
        }
        for session in 0..SESSIONS {
            // Each session's work in its order, without a gap; the second transaction of a pair whole or not at all.
            let count = rows[session].len() as i64;
            assert_eq!(rows[session], (1..=count).collect::<Vec<i64>>(), "{name}, session {session}");
            assert_eq!(twins[session], in_heap[session], "{name}, session {session}");
            assert!(twins[session] == count || twins[session] == count - 1);
            restored_during += usize::from(logs < 4 && count > 0 && count < 60);
            assert!(logs < 4 || (count == 60 && twins[session] == 60));
        }
    }
    assert!(restored_during > 0, "no backup was made while sessions worked");
    fixture.check();
}
