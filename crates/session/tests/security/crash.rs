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

#[test]
fn types_survive_a_power_loss() {
    let disk = SimulatedDisk::new(5);
    let fixture = Fixture::on(&disk);
    let mut sa = fixture.sa();
    fixture.succeeds(&mut sa, "CREATE DATABASE d");
    fixture.succeeds(&mut sa, "USE d");
    fixture.succeeds(
        &mut sa,
        "CREATE TYPE dbo.short FROM varchar(5) NOT NULL; CREATE TYPE dbo.gone FROM int; DROP TYPE dbo.gone",
    );
    fixture.succeeds(
        &mut sa,
        "CREATE TYPE dbo.list AS TABLE (id int IDENTITY PRIMARY KEY, s varchar(5) DEFAULT 'x' CHECK (s <> ''))",
    );
    fixture.succeeds(&mut sa, "CREATE TABLE dbo.t (s dbo.short); BEGIN TRAN; CREATE TYPE dbo.undone FROM int");
    let after = disk.crash(9);
    drop(sa);
    let fixture = Fixture::on(&after);
    let mut sa = fixture.owner();
    let names = "SELECT name FROM sys.types WHERE is_user_defined = 1 ORDER BY name";
    assert_eq!(fixture.texts(&mut sa, names), ["list", "short"]);
    fixture.fails(&mut sa, 3732, "DROP TYPE dbo.short");
    fixture.fails(&mut sa, 515, "INSERT dbo.t VALUES (NULL)");
    let rows = "DECLARE @l dbo.list; INSERT @l DEFAULT VALUES; INSERT @l VALUES ('y'); SELECT SUM(id) FROM @l";
    assert_eq!(fixture.value(&mut sa, rows), Value::Int(3));
    fixture.fails(&mut sa, 547, "DECLARE @l dbo.list; INSERT @l VALUES ('')");
    // Numbers go on behind those that are in use.
    fixture.succeeds(&mut sa, "CREATE TYPE dbo.another FROM int; CREATE TABLE dbo.u (k int PRIMARY KEY)");
    let twice = "SELECT COUNT(*) FROM (SELECT object_id FROM sys.objects GROUP BY object_id HAVING COUNT(*) > 1) AS o";
    assert_eq!(fixture.value(&mut sa, twice), Value::Int(0));
    let twice =
        "SELECT COUNT(*) FROM (SELECT user_type_id FROM sys.types GROUP BY user_type_id HAVING COUNT(*) > 1) AS o";
    assert_eq!(fixture.value(&mut sa, twice), Value::Int(0));
}

/// The power fails at each change of the disk that taking numbers takes: none is given a second time.
#[test]
fn numbers_of_a_sequence_are_given_once() {
    for crash_at in 1.. {
        let disk = SimulatedDisk::new(5);
        let fixture = Fixture::on(&disk);
        let mut sa = fixture.sa();
        fixture.succeeds(&mut sa, "CREATE SEQUENCE dbo.s CACHE 3; CREATE SEQUENCE dbo.n NO CACHE");
        disk.crash_after_ops(crash_at);
        let take = "SELECT NEXT VALUE FOR dbo.s, NEXT VALUE FOR dbo.n";
        let numbers = |fixture: &Fixture, session: &mut _| {
            let output = fixture.run(session, take);
            output.rows().first().map(|row| (row[0].as_i64(), row[1].as_i64()))
        };
        let before: Vec<_> = (0..7).filter_map(|_| numbers(&fixture, &mut sa)).collect();
        let done = !disk.is_off();
        let after = disk.crash(crash_at);
        drop((sa, fixture));
        let fixture = Fixture::on(&after);
        let mut sa = fixture.sa();
        let next = numbers(&fixture, &mut sa).expect("the sequences are there");
        for given in &before {
            assert!(given.0 < next.0 && given.1 < next.1, "{given:?} before and {next:?} after, crash at {crash_at}");
        }
        assert!(next.0 <= Some(3 * 7 + 1), "{next:?}: what is left out is the rest of a block");
        if done {
            assert_eq!(before.len(), 7);
            break;
        }
    }
}

#[test]
fn a_clean_end_leaves_no_number_out() {
    let disk = SimulatedDisk::new(5);
    let fixture = Fixture::on(&disk);
    let mut sa = fixture.sa();
    fixture.succeeds(
        &mut sa,
        "CREATE SEQUENCE dbo.s START WITH 1; SELECT NEXT VALUE FOR dbo.s; SELECT NEXT VALUE FOR dbo.s",
    );
    fixture.succeeds(
        &mut sa,
        "CREATE SEQUENCE dbo.wide AS decimal(38,0) START WITH 99999999999999999999999999999999999990",
    );
    fixture.server.schedulers().block_on(sa.close());
    fixture.server.schedulers().block_on(fixture.server.shutdown()).expect("the databases close");
    drop(fixture);
    let fixture = Fixture::on(&disk);
    let mut sa = fixture.sa();
    assert_eq!(fixture.value(&mut sa, "SELECT NEXT VALUE FOR dbo.s"), Value::BigInt(3));
    let wide = fixture.texts(&mut sa, "SELECT CAST(NEXT VALUE FOR dbo.wide AS varchar(40))");
    assert_eq!(wide, ["99999999999999999999999999999999999990"]);
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

#[test]
fn triggers_survive_a_power_loss() {
    let disk = SimulatedDisk::new(5);
    let fixture = Fixture::on(&disk);
    let mut sa = fixture.sa();
    fixture.succeeds(&mut sa, "CREATE DATABASE d");
    fixture.succeeds(&mut sa, "USE d");
    fixture.succeeds(
        &mut sa,
        "CREATE TABLE dbo.t (a int); CREATE TABLE dbo.away (a int); CREATE TABLE dbo.told (b varchar(10))",
    );
    for (name, table) in [("kept", "t"), ("quiet", "t"), ("gone", "t"), ("lost", "away")] {
        let told = format!("INSERT dbo.told SELECT '{name}' FROM inserted");
        fixture.succeeds(&mut sa, &format!("CREATE TRIGGER dbo.{name} ON dbo.{table} AFTER INSERT AS {told}"));
    }
    fixture.succeeds(&mut sa, "DISABLE TRIGGER dbo.quiet ON dbo.t; DROP TRIGGER dbo.gone; DROP TABLE dbo.away");
    fixture.succeeds(&mut sa, "BEGIN TRAN; DISABLE TRIGGER dbo.kept ON dbo.t");
    let after = disk.crash(9);
    drop(sa);
    let fixture = Fixture::on(&after);
    let mut sa = fixture.owner();
    assert_eq!(fixture.texts(&mut sa, "SELECT name FROM sys.triggers ORDER BY name"), ["kept", "quiet"]);
    fixture.succeeds(&mut sa, "INSERT dbo.t VALUES (1)");
    assert_eq!(fixture.texts(&mut sa, "SELECT b FROM dbo.told"), ["kept"]);
    fixture.succeeds(&mut sa, "ENABLE TRIGGER ALL ON dbo.t; DELETE dbo.told; INSERT dbo.t VALUES (2)");
    assert_eq!(fixture.texts(&mut sa, "SELECT b FROM dbo.told ORDER BY b"), ["kept", "quiet"]);
}

#[test]
fn extended_properties_and_new_names_survive_a_power_loss() {
    let disk = SimulatedDisk::new(5);
    let fixture = Fixture::on(&disk);
    let mut sa = fixture.sa();
    fixture.succeeds(&mut sa, "CREATE DATABASE d");
    fixture.succeeds(
        &mut sa,
        "USE d; CREATE TABLE dbo.t (gone int, a int); CREATE TABLE dbo.away (a int); CREATE TYPE dbo.short FROM int",
    );
    fixture.succeeds(&mut sa, "CREATE VIEW dbo.one AS SELECT 1 AS a");
    fixture.succeeds(&mut sa, "EXEC sp_rename 'dbo.one', 'renamed'");
    let long = "x".repeat(3_750);
    fixture.succeeds(
        &mut sa,
        &format!(
            "EXEC sp_addextendedproperty 'p', 'database'; EXEC sp_addextendedproperty 'p', 'dbo', 'SCHEMA', 'dbo';
             EXEC sp_addextendedproperty 'p', '{long}', 'SCHEMA', 'dbo', 'TABLE', 't';
             EXEC sp_addextendedproperty 'p', 'a', 'SCHEMA', 'dbo', 'TABLE', 't', 'COLUMN', 'a';
             EXEC sp_addextendedproperty 'p', 'gone', 'SCHEMA', 'dbo', 'TABLE', 't', 'COLUMN', 'gone';
             EXEC sp_addextendedproperty 'p', 'away', 'SCHEMA', 'dbo', 'TABLE', 'away';
             EXEC sp_addextendedproperty 'p', 'type', 'SCHEMA', 'dbo', 'TYPE', 'short';
             EXEC sp_addextendedproperty 'p', 'user', 'USER', 'dbo';
             EXEC sp_addextendedproperty 'q', 'dropped'; EXEC sp_dropextendedproperty 'q'"
        ),
    );
    fixture.succeeds(&mut sa, "ALTER TABLE dbo.t DROP COLUMN gone; DROP TABLE dbo.away");
    fixture.succeeds(
        &mut sa,
        "BEGIN TRAN; EXEC sp_addextendedproperty 'q', 'lost'; EXEC sp_updateextendedproperty 'p', 'lost';
         EXEC sp_dropextendedproperty 'p', 'SCHEMA', 'dbo', 'TABLE', 't'; DROP TYPE dbo.short",
    );
    let after = disk.crash(9);
    drop((sa, fixture));
    let fixture = Fixture::on(&after);
    let mut sa = fixture.owner();
    let values = "SELECT CAST(value AS varchar(8)) + '|' + CAST(DATALENGTH(value) / 2 AS varchar(9)) + '|' + CAST(minor_id AS varchar(9))
                  FROM sys.extended_properties ORDER BY class, minor_id";
    assert_eq!(
        fixture.texts(&mut sa, values),
        ["database|4|0", "xxxxxxxx|1875|0", "a|0|2", "dbo|1|0", "user|2|0", "type|2|0"]
    );
    fixture.succeeds(&mut sa, "EXEC sp_updateextendedproperty 'p', 'new'; EXEC sp_addextendedproperty 'q', 'new'");
    assert_eq!(fixture.texts(&mut sa, "SELECT name FROM sys.views"), ["renamed"]);
    fixture.succeeds(&mut sa, "SELECT a FROM dbo.renamed");
}

#[test]
fn messages_survive_a_power_loss() {
    let disk = SimulatedDisk::new(5);
    let fixture = Fixture::on(&disk);
    let mut sa = fixture.sa();
    fixture.succeeds(&mut sa, "EXEC sp_addmessage 50001, 16, N'kept'; EXEC sp_addmessage 50002, 16, N'gone'");
    fixture.succeeds(&mut sa, "EXEC sp_dropmessage 50002; CREATE DATABASE d");
    fixture.succeeds(&mut sa, "USE d");
    fixture.succeeds(&mut sa, "EXEC sp_addmessage 50003, 11, N'from d'");
    fixture.succeeds(&mut sa, "USE master");
    fixture.succeeds(&mut sa, "BEGIN TRAN; EXEC sp_addmessage 50004, 16, N'undone'");
    let after = disk.crash(9);
    drop(sa);
    let fixture = Fixture::on(&after);
    let mut sa = fixture.sa();
    let kept = "SELECT text FROM sys.messages WHERE message_id > 50000 ORDER BY message_id";
    assert_eq!(fixture.texts(&mut sa, kept), ["kept", "from d"]);
    let error = fixture.error(&mut sa, "RAISERROR (50003, -1, 2)");
    assert_eq!((error.number, error.severity, error.state, error.message.as_str()), (50003, 11, 2, "from d"));
}

#[test]
fn messages_are_added_by_who_may_change_settings() {
    let fixture = Fixture::with_logins(&["ann"]);
    let (mut sa, mut ann) = (fixture.sa(), fixture.login("ann"));
    for sql in [
        "EXEC sp_addmessage 50001, 16, N'x'",
        "EXEC sp_dropmessage 50001",
        "EXEC sp_altermessage 50001, 'WITH_LOG', 'true'",
    ] {
        fixture.fails(&mut ann, 15247, sql);
    }
    fixture.succeeds(&mut sa, "ALTER SERVER ROLE serveradmin ADD MEMBER ann");
    fixture.succeeds(&mut ann, "EXEC sp_addmessage 50001, 10, N'by ann'; RAISERROR (50001, -1, 1)");
}

#[test]
fn policies_survive_a_power_loss() {
    let disk = SimulatedDisk::new(5);
    let fixture = Fixture::on(&disk);
    let mut sa = fixture.sa();
    fixture.succeeds(&mut sa, "CREATE DATABASE d");
    fixture.succeeds(&mut sa, "USE d");
    fixture
        .succeeds(&mut sa, "CREATE TABLE dbo.t (k int); INSERT dbo.t VALUES (1), (2), (3); CREATE TABLE dbo.u (k int)");
    fixture.succeeds(
        &mut sa,
        "CREATE FUNCTION dbo.f(@k int) RETURNS TABLE WITH SCHEMABINDING AS RETURN SELECT 1 AS ok WHERE @k < 3",
    );
    fixture.succeeds(&mut sa, "CREATE SECURITY POLICY dbo.p ADD FILTER PREDICATE dbo.f(k) ON dbo.t");
    fixture.succeeds(&mut sa, "ALTER SECURITY POLICY dbo.p ADD BLOCK PREDICATE dbo.f(k) ON dbo.t AFTER INSERT");
    fixture.succeeds(&mut sa, "BEGIN TRAN; ALTER SECURITY POLICY dbo.p WITH (STATE = OFF)");
    let after = disk.crash(9);
    drop(sa);
    let fixture = Fixture::on(&after);
    let mut sa = fixture.owner();
    assert_eq!(fixture.value(&mut sa, "SELECT COUNT(*) FROM dbo.t"), Value::Int(2));
    fixture.fails(&mut sa, 33504, "INSERT dbo.t VALUES (4)");
    fixture.fails(&mut sa, 3729, "DROP FUNCTION dbo.f");
    fixture.fails(&mut sa, 3729, "DROP TABLE dbo.t");
    let predicates = "SELECT predicate_definition FROM sys.security_predicates";
    assert_eq!(fixture.texts(&mut sa, predicates), ["([dbo].[f]([k]))", "([dbo].[f]([k]))"]);
    fixture.succeeds(&mut sa, "DROP SECURITY POLICY dbo.p; INSERT dbo.t VALUES (4)");
    assert_eq!(fixture.value(&mut sa, "SELECT COUNT(*) FROM dbo.t"), Value::Int(4));
}
