//! Versioned tables, triggers that watch definitions and partition functions after a restart, a power loss and a restore.

use crate::faults::crashed;
use crate::fixture::Fixture;
use pikepole_types::Value;

/// In `d`: a versioned table with one row, a log of definitions, and a table on a partition scheme.
fn prepared() -> Fixture {
    let mut fixture = Fixture::new();
    fixture.in_d(
        "CREATE TABLE v (id int PRIMARY KEY, n int NOT NULL, a datetime2 GENERATED ALWAYS AS ROW START HIDDEN NOT NULL, \
         b datetime2 GENERATED ALWAYS AS ROW END HIDDEN NOT NULL, PERIOD FOR SYSTEM_TIME (a, b)) \
         WITH (SYSTEM_VERSIONING = ON (HISTORY_TABLE = dbo.former, HISTORY_RETENTION_PERIOD = 3 DAYS)); \
         INSERT v (id, n) VALUES (1, 0)",
    );
    fixture.in_d(
        "CREATE PARTITION FUNCTION pf (int) AS RANGE RIGHT FOR VALUES (10, 20); \
         CREATE PARTITION SCHEME ps AS PARTITION pf ALL TO ([PRIMARY])",
    );
    fixture.in_d("CREATE TABLE p (id int PRIMARY KEY, n int) ON ps (id); INSERT p VALUES (1, 1), (10, 2), (25, 3)");
    fixture.in_d("CREATE TABLE seen (text nvarchar(200))");
    fixture.in_d(
        "EXEC ('CREATE TRIGGER watch ON DATABASE FOR DDL_TABLE_EVENTS AS INSERT seen VALUES \
         (EVENTDATA().value(''(/EVENT_INSTANCE/ObjectName)[1]'', ''nvarchar(128)''))')",
    );
    fixture
}

/// How often the row was changed, and how many former rows there are.
fn changes(fixture: &mut Fixture, database: &str) -> (i64, i64) {
    let sql = format!("USE {database}; SELECT n, (SELECT COUNT(*) FROM former) FROM v; USE master");
    let output = fixture.ok(&sql);
    let row = &output.rows()[0];
    (row[0].as_i64().expect("a number"), row[1].as_i64().expect("a number"))
}

/// What was defined is there and works.
fn works(fixture: &mut Fixture, database: &str) {
    let before = changes(fixture, database);
    let sql = "UPDATE v SET n = n + 1; SELECT * FROM v FOR SYSTEM_TIME AS OF '2000-01-01'; CREATE TABLE made (i int)";
    let output = fixture.ok(&format!("USE {database}; {sql}; USE master"));
    assert!(output.rows().is_empty(), "{database}");
    assert_eq!(changes(fixture, database), (before.0 + 1, before.1 + 1), "{database}");
    let sql = "SELECT (SELECT STRING_AGG(text, ',') FROM seen), \
         (SELECT STRING_AGG(rows, ',') WITHIN GROUP (ORDER BY partition_number) FROM sys.partitions \
          WHERE object_id = OBJECT_ID('p')), $PARTITION.pf(20), \
         (SELECT history_retention_period FROM sys.tables WHERE name = 'v'); DROP TABLE made; DELETE seen";
    let output = fixture.ok(&format!("USE {database}; {sql}; USE master"));
    let text = |text: &str| Value::Str(text.into());
    assert_eq!(output.rows()[0], [text("made"), text("1,1,1"), Value::Int(3), Value::Int(3)], "{database}");
    assert_eq!(fixture.number(&format!("USE {database}; DROP TABLE v; USE master")), 13552, "{database}");
}

#[test]
fn definitions_are_there_after_a_restart_and_a_restore() {
    let mut fixture = prepared();
    works(&mut fixture, "d");
    let mut fixture = fixture.restart();
    works(&mut fixture, "d");
    fixture.ok("BACKUP DATABASE d TO DISK = 'd.bak'; RESTORE DATABASE e FROM DISK = 'd.bak'");
    works(&mut fixture, "e");
    let mut fixture = fixture.restart();
    works(&mut fixture, "e");
    works(&mut fixture, "d");
    fixture.check();
}

/// What a user of `d`, or of a copy of it, sees of masked columns without UNMASK, and with it.
fn masked(fixture: &mut Fixture, database: &str) {
    let sql = "EXECUTE AS USER = 'u'; SELECT m, n FROM masked; REVERT; GRANT UNMASK ON masked (m) TO u; \
         EXECUTE AS USER = 'u'; SELECT m, n FROM masked; REVERT; REVOKE UNMASK ON masked (m) TO u; \
         SELECT STRING_AGG(masking_function, ',') WITHIN GROUP (ORDER BY column_id), NULL FROM sys.masked_columns";
    let output = fixture.ok(&format!("USE {database}; {sql}; USE master"));
    let text = |text: &str| Value::Str(text.into());
    let wanted = [[text("s-"), Value::Int(0)], [text("secret"), Value::Int(0)]];
    assert_eq!(output.rows()[..2], wanted, "{database}");
    assert_eq!(output.rows()[2][0], text("partial(1, \"-\", 0),default()"), "{database}");
}

#[test]
fn masks_are_there_after_a_restart_a_restore_and_a_power_loss() {
    let mut fixture = Fixture::new();
    fixture.in_d(
        "CREATE TABLE masked (m varchar(20) MASKED WITH (FUNCTION = 'partial(1, \"-\", 0)'), n int); \
         INSERT masked VALUES ('secret', 7); ALTER TABLE masked ALTER COLUMN n ADD MASKED WITH (FUNCTION = 'default()'); \
         CREATE USER u WITHOUT LOGIN; GRANT SELECT ON masked TO u",
    );
    masked(&mut fixture, "d");
    fixture.ok("BACKUP DATABASE d TO DISK = 'd.bak'; RESTORE DATABASE e FROM DISK = 'd.bak'");
    masked(&mut fixture, "e");
    let disk = fixture.stopped();
    for after in [1, 3, 1_000] {
        let (left, _) = crashed(
            &disk,
            "BEGIN TRAN; INSERT d.dbo.masked VALUES (NULL, 8); DELETE d.dbo.masked WHERE n = 8; COMMIT",
            after,
        );
        let mut fixture = Fixture::on(left);
        masked(&mut fixture, "d");
        masked(&mut fixture, "e");
        fixture.check();
    }
}

#[test]
fn a_power_loss_keeps_a_change_and_its_former_row_or_neither() {
    let disk = prepared().stopped();
    let update = "UPDATE d.dbo.v SET n = n + 1;";
    let sql = format!("{update} {update} BEGIN TRAN; {update} {update} COMMIT; CHECKPOINT; {update}");
    let mut seen = Vec::new();
    for after in 1.. {
        let (left, done) = crashed(&disk, &sql, after);
        let mut fixture = Fixture::on(left);
        let (changed, former) = changes(&mut fixture, "d");
        assert_eq!(changed, former, "after {after}");
        assert!([0, 1, 2, 4, 5].contains(&changed), "half of a transaction, after {after}: {changed}");
        seen.push(changed);
        works(&mut fixture, "d");
        fixture.check();
        if done {
            break;
        }
    }
    // A write that was cut short may be there or not, so not every crash point shows each step.
    assert_eq!((seen.first(), seen.last()), (Some(&0), Some(&5)));
    assert!(seen.contains(&4), "{seen:?}");
}

#[test]
fn statistics_are_there_after_a_restart_and_a_restore() {
    let mut fixture = Fixture::new();
    fixture.in_d(
        "CREATE TABLE counted (a int CONSTRAINT pk_counted PRIMARY KEY, b varchar(10)); \
         INSERT counted VALUES (1, 'one'), (2, 'two'), (3, 'two'), (4, NULL)",
    );
    fixture.in_d("CREATE STATISTICS s ON counted (b, a) WITH NORECOMPUTE; UPDATE STATISTICS counted (pk_counted)");
    let shown = |fixture: &mut Fixture, database: &str| {
        let sql = "SELECT s.name, s.no_recompute, h.range_high_key, h.equal_rows, h.range_rows FROM sys.stats s \
             CROSS APPLY sys.dm_db_stats_histogram(s.object_id, s.stats_id) h WHERE s.object_id = OBJECT_ID('counted') \
             ORDER BY s.stats_id, h.step_number";
        fixture
            .ok(&format!("USE {database}; {sql}; USE master"))
            .rows()
            .iter()
            .map(|row| row.to_vec())
            .collect::<Vec<_>>()
    };
    let before = shown(&mut fixture, "d");
    assert_eq!(before.len(), 4 + 3);
    let mut fixture = fixture.restart();
    assert_eq!(shown(&mut fixture, "d"), before);
    fixture.ok("BACKUP DATABASE d TO DISK = 'd.bak'; RESTORE DATABASE e FROM DISK = 'd.bak'");
    assert_eq!(shown(&mut fixture, "e"), before);
    fixture.check();
}
