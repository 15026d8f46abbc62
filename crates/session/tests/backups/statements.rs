//! What the statements say, what they refuse, and what is in the database afterwards.

use crate::fixture::Fixture;
use pikepole_machine::{Disk, OpenOptions, clock};
use pikepole_query::Collected;
use pikepole_session::{Session, SessionOptions};
use pikepole_types::Value;

/// A point in time between what was done and what is done next, as STOPAT takes it.
pub fn moment() -> String {
    let now = || clock::unix_time_us();
    let begun = now();
    while now() < begun + 3 {}
    let us = now();
    while now() < us + 3 {}
    let (days, rest) = (us.div_euclid(86_400_000_000), us.rem_euclid(86_400_000_000));
    let (year, month, day) =
        pikepole_types::Date::from_days(days as i32 + 719_162).expect("a day of this century").ymd();
    let (seconds, fraction) = (rest / 1_000_000, rest % 1_000_000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{fraction:06}")
}

#[test]
fn a_full_backup_says_what_it_did_and_comes_back() {
    let mut fixture = Fixture::new();
    let output = fixture.ok("BACKUP DATABASE d TO DISK = 'd.bak' WITH NAME = 'first', STATS = 50, CHECKSUM");
    let messages = output.messages();
    assert_eq!(messages[..2], ["50 percent processed.", "100 percent processed."], "{messages:?}");
    assert!(
        messages[2].starts_with("Processed ") && messages[2].ends_with(" pages for database 'd', file 'd' on file 1.")
    );
    assert!(messages[3].ends_with(" pages for database 'd', file 'd_log' on file 1."), "{messages:?}");
    assert!(messages[4].starts_with("BACKUP DATABASE successfully processed ") && messages[4].ends_with(" MB/sec)."));
    fixture.in_d("INSERT t VALUES (4, 'd')");
    fixture.ok("RESTORE DATABASE e FROM DISK = 'd.bak'");
    assert_eq!((fixture.keys("e"), fixture.keys("d")), (vec![1, 2, 3], vec![1, 2, 3, 4]));
    // A copy goes on as any database, and is found again.
    fixture.ok("USE e; INSERT t VALUES (9, 'i'); CREATE TABLE u (i int); USE master");
    let mut fixture = fixture.restart();
    assert_eq!((fixture.keys("e"), fixture.state("e")), (vec![1, 2, 3, 9], "ONLINE".to_string()));
    fixture.ok("RESTORE VERIFYONLY FROM DISK = 'd.bak'");
    let header = fixture.ok("RESTORE HEADERONLY FROM DISK = 'd.bak'");
    assert_eq!((&header.rows()[0][0], &header.rows()[0][9]), (&Value::from("first"), &Value::from("d")));
    let files = fixture.ok("RESTORE FILELISTONLY FROM DISK = 'd.bak'");
    let shown: Vec<(&Value, usize)> = files.rows().iter().map(|row| (&row[0], row.len())).collect();
    assert_eq!(shown, [(&Value::from("d"), 22), (&Value::from("d_log"), 22)]);
    assert_eq!(fixture.ok("RESTORE LABELONLY FROM DISK = 'd.bak'").rows().len(), 1);
    fixture.check();
}

#[test]
fn logs_roll_a_restored_database_forward_over_restarts() {
    let mut fixture = Fixture::new();
    fixture.ok("BACKUP DATABASE d TO DISK = 'd.bak'");
    for (log, key) in [("1.trn", 4), ("2.trn", 5), ("3.trn", 6)] {
        fixture.in_d(&format!("INSERT t VALUES ({key}, 'x'); UPDATE t SET s = '{log}' WHERE i = 1"));
        fixture.ok(&format!("BACKUP LOG d TO DISK = '{log}'"));
    }
    fixture.in_d("INSERT t VALUES (7, 'not backed up')");
    let mut fixture = fixture.restart();
    fixture.ok("RESTORE DATABASE e FROM DISK = 'd.bak' WITH NORECOVERY");
    assert_eq!(fixture.state("e"), "RESTORING");
    assert_eq!(fixture.number("USE e"), 927);
    let mut fixture = fixture.restart();
    assert_eq!(fixture.state("e"), "RESTORING");
    assert_eq!(fixture.number("RESTORE LOG e FROM DISK = '2.trn'"), 4305);
    fixture.ok("RESTORE LOG e FROM DISK = '1.trn' WITH NORECOVERY");
    let mut fixture = fixture.restart();
    let output = fixture.ok("RESTORE LOG e FROM DISK = '2.trn' WITH NORECOVERY");
    assert!(output.messages()[1].starts_with("RESTORE LOG successfully processed "), "{:?}", output.messages());
    assert_eq!(fixture.number("RESTORE LOG e FROM DISK = '1.trn' WITH NORECOVERY"), 4326);
    assert_eq!(fixture.number("RESTORE LOG e FROM DISK = 'd.bak' WITH NORECOVERY"), 3135);
    fixture.ok("RESTORE LOG e FROM DISK = '3.trn' WITH RECOVERY");
    assert_eq!(fixture.keys("e"), [1, 2, 3, 4, 5, 6]);
    let one = fixture.ok("USE e; SELECT s FROM t WHERE i = 1; USE master");
    assert_eq!(one.rows()[0][0], Value::from("3.trn"));
    assert_eq!(fixture.number("RESTORE LOG e FROM DISK = '3.trn'"), 3117);
    assert_eq!(fixture.number("RESTORE DATABASE e WITH RECOVERY"), 3153);
    fixture.check();
}

#[test]
fn a_point_in_time_keeps_what_was_before_and_nothing_after() {
    let mut fixture = Fixture::new();
    fixture.ok("BACKUP DATABASE d TO DISK = 'd.bak'");
    let too_early = {
        fixture.in_d("INSERT t VALUES (4, 'kept')");
        moment()
    };
    fixture.in_d("BEGIN TRANSACTION; INSERT t VALUES (5, 'kept'); UPDATE t SET s = 'kept' WHERE i = 1; COMMIT");
    // Open at the point: its changes are in the log before it and must be undone.
    let options = SessionOptions { database: "d".to_string(), ..SessionOptions::default() };
    let mut other = Session::new(fixture.server.clone(), fixture.registry.clone(), options).expect("a session");
    let mut output = Collected::default();
    let sql = "BEGIN TRANSACTION; INSERT t VALUES (6, 'open'); UPDATE t SET s = 'open' WHERE i = 2";
    fixture.server.schedulers().block_on(other.run(sql, &mut [], &mut output));
    fixture.in_d("INSERT t VALUES (7, 'kept')");
    let stop = moment();
    fixture.in_d("INSERT t VALUES (8, 'gone'); DELETE t WHERE i = 3");
    fixture.server.schedulers().block_on(other.run("COMMIT", &mut [], &mut output));
    fixture.server.schedulers().block_on(other.close());
    fixture.ok("BACKUP LOG d TO DISK = '1.trn'");
    fixture.in_d("INSERT t VALUES (9, 'later')");
    fixture.ok("BACKUP LOG d TO DISK = '2.trn'");
    assert_eq!(fixture.keys("d"), [1, 2, 4, 5, 6, 7, 8, 9]);

    fixture.ok("RESTORE DATABASE e FROM DISK = 'd.bak' WITH NORECOVERY");
    fixture.ok(&format!("RESTORE LOG e FROM DISK = '1.trn' WITH STOPAT = '{stop}', RECOVERY"));
    assert_eq!(fixture.keys("e"), [1, 2, 3, 4, 5, 7]);
    let texts = fixture.ok("USE e; SELECT s FROM t WHERE i < 4 ORDER BY i; USE master");
    let texts: Vec<&Value> = texts.rows().iter().map(|row| &row[0]).collect();
    assert_eq!(texts, [&Value::from("kept"), &Value::from("b"), &Value::from("c")]);

    // The new line's log is not the old one's: what follows there does not apply here.
    fixture.ok("USE e; INSERT t VALUES (20, 'new line'); USE master; BACKUP DATABASE e TO DISK = 'e.bak'");
    fixture.ok("RESTORE DATABASE f FROM DISK = 'e.bak' WITH NORECOVERY");
    assert_eq!(fixture.number("RESTORE LOG f FROM DISK = '2.trn' WITH NORECOVERY"), 4330);
    fixture.ok("RESTORE DATABASE f WITH RECOVERY");
    assert_eq!(fixture.keys("f"), [1, 2, 3, 4, 5, 7, 20]);

    // Behind the backup: more is needed. Then to the very end of what there is.
    fixture.ok("RESTORE DATABASE g FROM DISK = 'd.bak' WITH NORECOVERY");
    let output = fixture.ok("RESTORE LOG g FROM DISK = '1.trn' WITH STOPAT = '2200-01-01', RECOVERY");
    assert!(output.messages()[0].starts_with("This backup set contains records that were logged before"));
    assert_eq!(fixture.state("g"), "RESTORING");
    assert_eq!(fixture.number(&format!("RESTORE LOG g FROM DISK = '2.trn' WITH STOPAT = '{too_early}'")), 4335);
    fixture.ok("RESTORE LOG g FROM DISK = '2.trn'");
    assert_eq!(fixture.keys("g"), fixture.keys("d"));
    let long_ago = fixture.number("RESTORE DATABASE h FROM DISK = 'd.bak' WITH STOPAT = '2001-01-01'");
    assert_eq!(long_ago, 4338);
    // Several points in one log backup, one after the other.
    fixture.ok("RESTORE DATABASE h FROM DISK = 'd.bak' WITH NORECOVERY");
    fixture.ok(&format!("RESTORE LOG h FROM DISK = '1.trn' WITH STOPAT = '{too_early}', NORECOVERY"));
    fixture.ok(&format!("RESTORE LOG h FROM DISK = '1.trn' WITH STOPAT = '{stop}', NORECOVERY"));
    fixture.ok("RESTORE DATABASE h WITH RECOVERY");
    assert_eq!(fixture.keys("h"), [1, 2, 3, 4, 5, 7]);
    fixture.check();
}

#[test]
fn the_chain_begins_with_a_full_backup_and_ends_with_simple() {
    let mut fixture = Fixture::new();
    assert_eq!(fixture.number("BACKUP LOG d TO DISK = '1.trn'"), 4214);
    fixture.ok("BACKUP DATABASE d TO DISK = 'copy.bak' WITH COPY_ONLY");
    assert_eq!(fixture.number("BACKUP LOG d TO DISK = '1.trn'"), 4214);
    fixture.ok("BACKUP DATABASE d TO DISK = 'd.bak'; ALTER DATABASE d SET RECOVERY BULK_LOGGED");
    let mut fixture = fixture.restart();
    fixture.in_d("INSERT t VALUES (4, 'x')");
    fixture.ok(
        "BACKUP LOG d TO DISK = '1.trn' WITH COPY_ONLY; BACKUP LOG d TO DISK = '2.trn'; BACKUP LOG d TO DISK = '3.trn'",
    );
    // The copy did not move the chain: both begin at the same place.
    let header = |fixture: &mut Fixture, file: &str| {
        let output = fixture.ok(&format!("RESTORE HEADERONLY FROM DISK = '{file}'"));
        (output.rows()[0][13].clone(), output.rows()[0][14].clone())
    };
    let (copy, log, next) =
        (header(&mut fixture, "1.trn"), header(&mut fixture, "2.trn"), header(&mut fixture, "3.trn"));
    assert_eq!((&copy.0, &log.1), (&log.0, &next.0));
    fixture.ok("ALTER DATABASE d SET RECOVERY SIMPLE");
    assert_eq!(fixture.number("BACKUP LOG d TO DISK = '4.trn'"), 4208);
    fixture.ok("ALTER DATABASE d SET RECOVERY FULL");
    assert_eq!(fixture.number("BACKUP LOG d TO DISK = '4.trn'"), 4214);
    let model = fixture.ok("SELECT recovery_model, recovery_model_desc FROM sys.databases WHERE name = 'd'");
    assert_eq!(model.rows()[0], [Value::TinyInt(1), Value::from("FULL")]);
}

#[test]
fn a_log_that_is_not_backed_up_fills_and_a_backup_frees_it() {
    let mut fixture = Fixture::new();
    fixture.ok("BACKUP DATABASE d TO DISK = 'd.bak'");
    let fill = "USE d; SET XACT_ABORT ON; SET NOCOUNT ON; DECLARE @i int = 100; WHILE @i < 9000 BEGIN INSERT t VALUES (@i, 'some text to fill the log'); \
                DELETE t WHERE i = @i; SET @i += 1 END";
    let (number, message) = fixture.error(fill);
    assert_eq!((number, message.contains("'LOG_BACKUP'")), (9002, true), "{message}");
    fixture.ok("USE master; CHECKPOINT; BACKUP LOG d TO DISK = '1.trn'; USE d");
    // The log may have been full for a DELETE, whose row is still there.
    fixture.ok("INSERT t VALUES (10, 'there is room again'); DELETE t WHERE i >= 100; USE master");
    // Under SIMPLE nothing is kept.
    fixture.ok("ALTER DATABASE d SET RECOVERY SIMPLE");
    fixture.ok(fill);
}

#[test]
fn the_tail_of_the_log_brings_everything_back() {
    let mut fixture = Fixture::new();
    fixture.ok("BACKUP DATABASE d TO DISK = 'd.bak'");
    fixture.in_d("INSERT t VALUES (4, 'x')");
    let (number, message) = fixture.error("RESTORE DATABASE d FROM DISK = 'd.bak'");
    assert_eq!((number, message.contains("BACKUP LOG WITH NORECOVERY")), (3159, true));
    assert_eq!(fixture.number("USE d; BACKUP LOG d TO DISK = 'tail.trn' WITH NORECOVERY"), 3102);
    fixture.ok("USE master; BACKUP LOG d TO DISK = 'tail.trn' WITH NORECOVERY");
    assert_eq!((fixture.state("d"), fixture.number("USE d")), ("RESTORING".to_string(), 927));
    assert_eq!(fixture.number("RESTORE LOG d FROM DISK = 'tail.trn'"), 3117);
    fixture.ok("RESTORE DATABASE d WITH RECOVERY");
    assert_eq!(fixture.keys("d"), [1, 2, 3, 4]);
    fixture.ok("BACKUP DATABASE d TO DISK = 'd.bak' WITH INIT");
    fixture.in_d("INSERT t VALUES (5, 'y')");
    fixture.ok("BACKUP LOG d TO DISK = 'tail.trn' WITH INIT, NORECOVERY");
    let mut fixture = fixture.restart();
    assert_eq!(fixture.state("d"), "RESTORING");
    fixture.ok("RESTORE DATABASE d FROM DISK = 'd.bak' WITH NORECOVERY; RESTORE LOG d FROM DISK = 'tail.trn'");
    assert_eq!(fixture.keys("d"), [1, 2, 3, 4, 5]);
    fixture.check();
}

#[test]
fn what_must_not_be_overwritten_is_not() {
    let mut fixture = Fixture::new();
    fixture.ok(
        "BACKUP DATABASE d TO DISK = 'd.bak'; CREATE DATABASE e; USE e; CREATE TABLE t (i int); INSERT t VALUES (77)",
    );
    assert_eq!(fixture.number("RESTORE DATABASE e FROM DISK = 'd.bak' WITH REPLACE"), 3102);
    fixture.ok("USE master");
    let (number, message) = fixture.error("RESTORE DATABASE e FROM DISK = 'd.bak'");
    assert_eq!(
        (number, message.as_str()),
        (3154, "The backup set holds a backup of a database other than the existing 'e' database.")
    );
    let options = SessionOptions { database: "e".to_string(), ..SessionOptions::default() };
    let other = Session::new(fixture.server.clone(), fixture.registry.clone(), options).expect("a session");
    assert_eq!(fixture.number("RESTORE DATABASE e FROM DISK = 'd.bak' WITH REPLACE"), 3101);
    fixture.server.schedulers().block_on(other.close());
    assert_eq!(fixture.keys("e"), [77]);
    fixture.ok("RESTORE DATABASE e FROM DISK = 'd.bak' WITH REPLACE");
    assert_eq!(fixture.keys("e"), [1, 2, 3]);
    assert_eq!(fixture.number("RESTORE DATABASE master FROM DISK = 'd.bak' WITH REPLACE"), 3108);
    assert_eq!(fixture.number("RESTORE LOG nothing FROM DISK = 'd.bak'"), 3118);
    assert_eq!(fixture.number("RESTORE DATABASE nothing WITH RECOVERY"), 911);
    assert_eq!(fixture.number("BACKUP DATABASE nothing TO DISK = 'n.bak'"), 911);
    assert_eq!(fixture.number("BEGIN TRANSACTION; BACKUP DATABASE d TO DISK = 'n.bak'"), 3021);
    fixture.ok("IF @@TRANCOUNT > 0 ROLLBACK");
    let mut fixture = fixture.restart();
    assert_eq!((fixture.keys("e"), fixture.keys("d")), (vec![1, 2, 3], vec![1, 2, 3]));
    fixture.ok("DROP DATABASE e; RESTORE DATABASE e FROM DISK = 'd.bak' WITH NORECOVERY; DROP DATABASE e");
    fixture.check();
}

#[test]
fn a_cached_plan_does_not_reach_the_database_that_was_replaced() {
    let mut fixture = Fixture::new();
    let insert = "USE e; INSERT t VALUES (50, 'e'); USE master";
    fixture.ok("BACKUP DATABASE d TO DISK = 'd.bak'; RESTORE DATABASE e FROM DISK = 'd.bak'");
    for _ in 0..3 {
        fixture.ok(insert);
        assert_eq!(fixture.keys("e"), [1, 2, 3, 50]);
        fixture.ok("RESTORE DATABASE e FROM DISK = 'd.bak' WITH REPLACE");
        assert_eq!(fixture.keys("e"), [1, 2, 3]);
    }
    for _ in 0..2 {
        fixture.ok("DROP DATABASE e; CREATE DATABASE e; USE e; CREATE TABLE t (i int PRIMARY KEY, s varchar(40))");
        fixture.ok(insert);
        assert_eq!(fixture.keys("e"), [50]);
    }
}

#[test]
fn files_hold_several_sets_and_only_files_of_backups_are_touched() {
    let mut fixture = Fixture::new();
    fixture.ok("BACKUP DATABASE d TO DISK = 'all.bak'");
    fixture.in_d("INSERT t VALUES (4, 'x')");
    fixture.ok("DECLARE @d sysname = 'd', @f varchar(99) = 'all.bak'; BACKUP LOG @d TO DISK = @f WITH NOINIT; BACKUP DATABASE @d TO DISK = @f");
    let header = fixture.ok("RESTORE HEADERONLY FROM DISK = 'all.bak'");
    let kinds: Vec<&Value> = header.rows().iter().map(|row| &row[2]).collect();
    assert_eq!(kinds, [&Value::SmallInt(1), &Value::SmallInt(2), &Value::SmallInt(1)]);
    fixture.ok("RESTORE DATABASE e FROM DISK = 'all.bak' WITH FILE = 1, NORECOVERY; RESTORE LOG e FROM DISK = 'all.bak' WITH FILE = 2");
    fixture.ok("RESTORE DATABASE f FROM DISK = 'all.bak' WITH FILE = 3");
    assert_eq!((fixture.keys("e"), fixture.keys("f")), (vec![1, 2, 3, 4], vec![1, 2, 3, 4]));
    assert_eq!(fixture.number("RESTORE DATABASE g FROM DISK = 'all.bak' WITH FILE = 4"), 4038);
    // The backup's own files are named, and go into the folder of the new database.
    fixture.ok(
        "RESTORE DATABASE h FROM DISK = 'all.bak' WITH MOVE 'd' TO '/a/h.mdf', MOVE N'D_LOG' TO '/b/h.ldf', RECOVERY",
    );
    assert_eq!(fixture.keys("h"), vec![1, 2, 3]);
    let unknown = "RESTORE DATABASE i FROM DISK = 'all.bak' WITH FILE = 3, MOVE 'h' TO '/a/h.mdf'";
    assert_eq!(fixture.number(unknown), 3234);
    fixture.ok("BACKUP DATABASE d TO DISK = 'all.bak' WITH INIT");
    assert_eq!(fixture.ok("RESTORE HEADERONLY FROM DISK = 'all.bak'").rows().len(), 1);

    let disk = Disk::simulated(fixture.disk.clone());
    let file =
        disk.open("/server/backup/other", OpenOptions { create: true, ..OpenOptions::default() }).expect("a file");
    assert_eq!(fixture.number("RESTORE DATABASE g FROM DISK = 'other'"), 3254);
    file.write_at(&[7; 20_000], 0).expect("written");
    assert_eq!(fixture.number("RESTORE DATABASE g FROM DISK = 'other'"), 3242);
    assert_eq!(fixture.number("BACKUP DATABASE d TO DISK = 'other' WITH INIT"), 3242);
    // FORMAT takes a file for backups only from one of backups.
    assert_eq!(fixture.number("BACKUP DATABASE d TO DISK = 'other' WITH FORMAT"), 3242);
    for place in [
        "nowhere/d.bak",
        "../d/database.toml",
        "/server/d/data/pages",
        "/server/pikepole.toml",
        "/server/d",
        "/tmp/d.bak",
    ] {
        assert_eq!(fixture.number(&format!("BACKUP DATABASE d TO DISK = '{place}' WITH FORMAT")), 3201, "{place}");
    }
    assert_eq!(fixture.number("RESTORE DATABASE g FROM DISK = 'missing.bak'"), 3201);
    assert_eq!(fixture.number("BACKUP DATABASE d"), 3207);
    assert_eq!(fixture.number("BACKUP DATABASE d TO device"), 3206);
    assert_eq!(fixture.number("BACKUP DATABASE d TO DISK = 'a', DISK = 'b'"), 3205);
    assert_eq!(fixture.number("BACKUP DATABASE d TO DISK = 'a' WITH STATS = 0"), 3217);
    for refused in [
        "BACKUP DATABASE d TO DISK = 'a' WITH DIFFERENTIAL",
        "BACKUP DATABASE d TO URL = 'a'",
        "RESTORE LOG g FROM DISK = 'all.bak' WITH STOPATMARK = 'x'",
        "RESTORE DATABASE g FROM DISK = 'all.bak' WITH STANDBY = 'x'",
    ] {
        let (number, message) = fixture.error(refused);
        assert_eq!(number, 40517, "{message}");
    }
}

#[test]
fn a_database_that_is_offline_stays_so_over_restarts() {
    let mut fixture = Fixture::new();
    fixture.ok("ALTER DATABASE d SET OFFLINE");
    let mut fixture = fixture.restart();
    assert_eq!(fixture.state("d"), "OFFLINE");
    assert_eq!(fixture.number("USE d"), 942);
    assert_eq!(fixture.number("SELECT i FROM d.dbo.t"), 942);
    assert_eq!(fixture.number("BACKUP DATABASE d TO DISK = 'd.bak'"), 942);
    fixture.ok("ALTER DATABASE d SET ONLINE");
    fixture.in_d("INSERT t VALUES (4, 'd')");
    let mut fixture = fixture.restart();
    assert_eq!(fixture.state("d"), "ONLINE");
    assert_eq!(fixture.keys("d"), [1, 2, 3, 4]);
    fixture.check();
}

#[test]
fn collations_come_back_with_restarts_and_backups() {
    let mut fixture = Fixture::new();
    fixture.in_d(
        "CREATE TABLE w (w varchar(9) COLLATE Latin1_General_CS_AS PRIMARY KEY, b nvarchar(9) COLLATE Latin1_General_BIN2 UNIQUE);
         INSERT w VALUES ('a', N'x'), ('A', N'X'), ('b', N'y')",
    );
    fixture.ok("BACKUP DATABASE d TO DISK = 'd.bak'");
    fixture.in_d("INSERT w VALUES ('B', N'Y'); ALTER TABLE w ADD c char(3) COLLATE Latin1_General_CI_AI");
    fixture.ok("BACKUP LOG d TO DISK = 'd.trn'");
    fixture.ok("RESTORE DATABASE e FROM DISK = 'd.bak' WITH NORECOVERY");
    fixture.ok("RESTORE LOG e FROM DISK = 'd.trn'");
    let mut fixture = fixture.restart();
    for database in ["d", "e"] {
        let of = |texts: &[&str]| texts.iter().map(|text| vec![Value::from(*text)]).collect::<Vec<_>>();
        let mut rows = |query: &str| {
            let shown = fixture.ok(&format!("USE {database}; {query}; USE master"));
            shown.rows().into_iter().map(<[Value]>::to_vec).collect::<Vec<_>>()
        };
        assert_eq!(rows("SELECT w FROM w"), of(&["a", "A", "b", "B"]));
        assert_eq!(rows("SELECT b FROM w WHERE w = 'A'"), of(&["X"]));
        assert_eq!(rows("SELECT w FROM w WHERE b >= N'Y' ORDER BY b"), of(&["B", "a", "b"]));
        let names = "SELECT collation_name FROM sys.columns WHERE object_id = OBJECT_ID('w') ORDER BY column_id";
        assert_eq!(rows(names), of(&["Latin1_General_CS_AS", "Latin1_General_BIN2", "Latin1_General_CI_AI"]));
        assert_eq!(fixture.number(&format!("INSERT {database}.dbo.w (w, b) VALUES ('a', N'z')")), 2627);
        fixture.ok(&format!("INSERT {database}.dbo.w (w, b) VALUES ('c', N'Z')"));
    }
    fixture.check();
}

/// `TO DISK = 'NUL'` is how scripts begin a chain of log backups, or measure, without keeping a file.
#[test]
fn a_backup_to_nul_counts_and_is_nowhere() {
    let mut fixture = Fixture::new();
    assert_eq!(fixture.number("BACKUP LOG d TO DISK = 'NUL'"), 4214);
    fixture.ok("BACKUP DATABASE d TO DISK = 'NUL'");
    fixture.in_d("INSERT t VALUES (4, 'd')");
    fixture.ok("BACKUP LOG d TO DISK = N'/dev/null' WITH INIT; BACKUP LOG d TO DISK = 'nul:' WITH FORMAT");
    for restore in ["VERIFYONLY", "HEADERONLY", "DATABASE e"] {
        assert_eq!(fixture.number(&format!("RESTORE {restore} FROM DISK = 'NUL'")), 3201);
    }
    let sets = fixture.ok("SELECT s.type, f.physical_device_name FROM msdb.dbo.backupset AS s
         JOIN msdb.dbo.backupmediafamily AS f ON f.media_set_id = s.media_set_id ORDER BY s.backup_set_id");
    let text = |text: &str| Value::Str(text.to_string());
    let expected = [("D", "NUL"), ("L", "/dev/null"), ("L", "nul:")].map(|(kind, name)| vec![text(kind), text(name)]);
    assert_eq!(sets.rows(), expected);
    // The log that was thrown away is in no later backup.
    fixture.ok("BACKUP LOG d TO DISK = 'rest.trn'; BACKUP DATABASE d TO DISK = 'd.bak' WITH COPY_ONLY");
    let sets = fixture.ok("RESTORE HEADERONLY FROM DISK = 'rest.trn'");
    assert_eq!(sets.rows().len(), 1);
    let disk = Disk::simulated(fixture.disk.clone());
    assert_eq!(disk.list("/server/backup").expect("a folder"), ["d.bak", "rest.trn"]);
}
