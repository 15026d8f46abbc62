//! Loads under BULK_LOGGED: their log backups, damaged, on full disks, and with the power off in the middle of a
//! restore.

use crate::faults::{DAMAGE, crashed};
use crate::fixture::Fixture;
use pikepole_machine::{Disk, SimulatedDisk};
use pikepole_types::Value;

/// Rows of the heap: as many as workers insert.
const ROWS: i64 = 140_000;

/// `d` under BULK_LOGGED, its full backup in `d.bak`, and in `d.trn` the log of a heap that was loaded since, of an
/// index on it, and of a row changed afterwards.
fn prepared() -> Fixture {
    let mut fixture = Fixture::new();
    fixture.in_d("CREATE TABLE h (i int NOT NULL, s varchar(20))");
    fixture.ok("ALTER DATABASE d SET RECOVERY BULK_LOGGED; BACKUP DATABASE d TO DISK = 'd.bak'");
    fixture.in_d(&format!(
        "INSERT INTO h WITH (TABLOCK) SELECT value, 'row' FROM GENERATE_SERIES(1, {ROWS}) OPTION (MAXDOP 2); \
         CREATE UNIQUE INDEX u ON h (i); UPDATE h SET s = 'changed' WHERE i = 77; INSERT t VALUES (4, 'd')"
    ));
    let output = fixture.ok("BACKUP LOG d TO DISK = 'd.trn'");
    let pages = |message: &str| message.split(' ').nth(1).and_then(|word| word.parse::<u64>().ok());
    let messages = output.messages();
    assert!(messages[0].ends_with(" pages for database 'd', file 'd' on file 1."), "{messages:?}");
    assert!(pages(messages[0]).is_some_and(|pages| pages > 400), "{messages:?}");
    assert!(pages(messages[1]).is_some_and(|pages| pages < 100), "{messages:?}");
    fixture
}

/// What is in the heap, by its rows and by its index.
fn rows_of(fixture: &mut Fixture, database: &str) -> Vec<i64> {
    let sql = "SELECT COUNT_BIG(*), SUM(CAST(i AS bigint)), COUNT(CASE s WHEN 'changed' THEN 1 END) FROM h; \
               SELECT COUNT_BIG(*) FROM h WITH (INDEX (u)) WHERE i > 0";
    let output = fixture.ok(&format!("USE {database}; {sql}; USE master"));
    output.rows().iter().flat_map(|row| row.iter()).map(|value| value.as_i64().expect("a number")).collect()
}

fn all_rows() -> Vec<i64> {
    vec![ROWS, ROWS * (ROWS + 1) / 2, 1, ROWS]
}

#[test]
fn a_log_with_loads_is_restored_as_a_whole_and_says_what_it_is() {
    let mut fixture = prepared();
    let has_bulk_logged_data = |fixture: &mut Fixture, file: &str| {
        fixture.ok(&format!("RESTORE HEADERONLY FROM DISK = '{file}'")).rows()[0][34].clone()
    };
    assert_eq!(has_bulk_logged_data(&mut fixture, "d.trn"), Value::Bit(true));
    fixture.in_d("DELETE h WHERE i <= 100");
    fixture.ok("ALTER DATABASE d SET RECOVERY FULL; BACKUP LOG d TO DISK = '2.trn'");
    assert_eq!(has_bulk_logged_data(&mut fixture, "2.trn"), Value::Bit(false));
    fixture.ok("RESTORE VERIFYONLY FROM DISK = 'd.trn'; RESTORE DATABASE e FROM DISK = 'd.bak' WITH NORECOVERY");
    let mut fixture = fixture.restart();
    let output = fixture.ok("RESTORE LOG e FROM DISK = 'd.trn' WITH NORECOVERY");
    assert!(output.messages()[0].ends_with(" pages for database 'e', file 'e' on file 1."), "{:?}", output.messages());
    let mut fixture = fixture.restart();
    fixture.ok("RESTORE DATABASE e WITH RECOVERY");
    assert_eq!((rows_of(&mut fixture, "e"), fixture.keys("e")), (all_rows(), vec![1, 2, 3, 4]));
    fixture.ok("RESTORE DATABASE e FROM DISK = 'd.bak' WITH REPLACE, NORECOVERY");
    fixture.ok("RESTORE LOG e FROM DISK = 'd.trn' WITH NORECOVERY; RESTORE LOG e FROM DISK = '2.trn'");
    assert_eq!(rows_of(&mut fixture, "e"), [ROWS - 100, ROWS * (ROWS + 1) / 2 - 5050, 0, ROWS - 100]);
    fixture.check();
}

#[test]
fn a_point_between_loads_and_their_log_backup_is_refused() {
    let mut fixture = Fixture::new();
    fixture.in_d("CREATE TABLE h (i int NOT NULL, s varchar(20))");
    fixture.ok("ALTER DATABASE d SET RECOVERY BULK_LOGGED; BACKUP DATABASE d TO DISK = 'd.bak'");
    let stop = crate::statements::moment();
    fixture.in_d(&format!(
        "INSERT INTO h WITH (TABLOCK) SELECT value, 'row' FROM GENERATE_SERIES(1, {ROWS}) OPTION (MAXDOP 2)"
    ));
    let log = fixture.ok(
        "USE d; SELECT Operation FROM fn_dblog(NULL, NULL) WHERE Operation IN ('LOP_USE_PAGE', 'LOP_INSERT_PAGE') GROUP BY Operation; USE master",
    );
    assert_eq!(log.rows(), [vec![Value::from("LOP_USE_PAGE")]]);
    // The tail, of a database that is closed for it.
    fixture
        .ok("BACKUP LOG d TO DISK = 'd.trn' WITH NORECOVERY; RESTORE DATABASE e FROM DISK = 'd.bak' WITH NORECOVERY");
    let (number, message) = fixture.error(&format!("RESTORE LOG e FROM DISK = 'd.trn' WITH STOPAT = '{stop}'"));
    let text = "This log backup contains bulk-logged changes. It cannot be used to stop at an arbitrary point in time.";
    assert_eq!((number, message.as_str()), (4341, text));
    // As a whole it is not refused, also when more is asked for.
    fixture.ok("RESTORE LOG e FROM DISK = 'd.trn' WITH STOPAT = '2200-01-01', RECOVERY");
    assert_eq!(fixture.state("e"), "RESTORING");
    fixture.ok("RESTORE DATABASE e WITH RECOVERY");
    assert_eq!(fixture.ok("SELECT COUNT_BIG(*) FROM e.dbo.h").rows()[0][0], Value::BigInt(ROWS));
    fixture.check();
}

#[test]
fn a_changed_bit_in_a_log_backup_with_pages_is_told() {
    let mut fixture = prepared();
    let disk = Disk::simulated(fixture.disk.clone());
    let bytes = disk.read("/server/backup/d.trn").expect("the backup").len() as u64;
    fixture.ok("RESTORE DATABASE f FROM DISK = 'd.bak' WITH NORECOVERY");
    for at in (8192..bytes).step_by(bytes as usize / 12).chain([bytes - 4000]) {
        fixture.disk.flip_bit("/server/backup/d.trn", at).expect("a bit");
        let outcome = fixture.outcome("RESTORE LOG f FROM DISK = 'd.trn' WITH NORECOVERY");
        let verified = fixture.outcome("RESTORE VERIFYONLY FROM DISK = 'd.trn'");
        fixture.disk.flip_bit("/server/backup/d.trn", at).expect("the bit again");
        assert!(outcome.is_some_and(|number| DAMAGE.contains(&number)), "byte {at}: {outcome:?}");
        assert!(verified.is_some_and(|number| DAMAGE.contains(&number)), "byte {at}: {verified:?}");
    }
    let whole = disk.read("/server/backup/d.trn").expect("the backup");
    for cut in [9000, bytes / 3, bytes - 4096] {
        fixture.disk.truncate("/server/backup/d.trn", cut).expect("cut");
        let outcome = fixture.outcome("RESTORE LOG f FROM DISK = 'd.trn' WITH NORECOVERY");
        assert!(outcome.is_some_and(|number| DAMAGE.contains(&number)), "cut at {cut}: {outcome:?}");
        disk.replace("/server/backup/d.trn", &whole).expect("whole again");
    }
    // No room for the pages: neither beside the database, nor in it.
    let full = fixture.disk.clone();
    full.set_capacity(Some(full.used() + (1 << 20)));
    assert_eq!(fixture.outcome("RESTORE LOG f FROM DISK = 'd.trn' WITH NORECOVERY"), Some(3202));
    full.set_capacity(None);
    fixture.ok("RESTORE LOG f FROM DISK = 'd.trn' WITH NORECOVERY");
    full.set_capacity(Some(full.used()));
    assert_eq!(fixture.outcome("RESTORE DATABASE f WITH RECOVERY"), Some(3202));
    full.set_capacity(None);
    fixture.ok("RESTORE DATABASE f WITH RECOVERY");
    assert_eq!(rows_of(&mut fixture, "f"), all_rows());
    fixture.check();
}

#[test]
fn a_power_loss_during_the_restore_of_pages_leaves_it_where_it_was_or_one_step_on() {
    let mut fixture = prepared();
    fixture.ok("RESTORE DATABASE f FROM DISK = 'd.bak' WITH NORECOVERY");
    let disk: SimulatedDisk = fixture.stopped();
    let mut after = 1;
    loop {
        let (left, done) = crashed(&disk, "RESTORE LOG f FROM DISK = 'd.trn' WITH RECOVERY", after);
        let mut fixture = Fixture::on(left);
        if fixture.state("f") == "RESTORING" {
            assert!(!done);
            match fixture.outcome("RESTORE LOG f FROM DISK = 'd.trn' WITH RECOVERY") {
                Some(4326) => drop(fixture.ok("RESTORE DATABASE f WITH RECOVERY")),
                outcome => assert_eq!(outcome, None, "{after}"),
            }
        }
        assert_eq!((rows_of(&mut fixture, "f"), fixture.keys("f")), (all_rows(), vec![1, 2, 3, 4]), "{after}");
        fixture.check();
        if done {
            break;
        }
        after += 1 + after / 6;
    }
}
