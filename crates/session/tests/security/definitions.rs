//! What may be made, changed and dropped, and by whom; statements about the server.

use crate::fixture::Fixture;
use pikepole_types::Value;

#[test]
fn definitions_need_permissions() {
    let fixture = Fixture::with_logins(&["ann"]);
    let (mut owner, mut ann) = (fixture.owner(), fixture.login("ann"));
    fixture.succeeds(&mut owner, "CREATE PROCEDURE dbo.p AS SELECT 1");
    fixture.succeeds(&mut owner, "CREATE VIEW dbo.w AS SELECT 1 AS one");
    let error = fixture.error(&mut ann, "CREATE TABLE dbo.x (k int)");
    assert_eq!((error.number, error.severity), (262, 14));
    assert_eq!(error.message, "CREATE TABLE permission denied in database 'd'.");
    for (number, sql) in [
        (262, "CREATE PROCEDURE dbo.x AS SELECT 1"),
        (262, "CREATE VIEW dbo.x AS SELECT 1 AS one"),
        (262, "CREATE SCHEMA x"),
        (262, "CREATE DATABASE x"),
        (4902, "ALTER TABLE dbo.t ADD w int"),
        (1088, "CREATE INDEX i ON dbo.t (v)"),
        (4701, "TRUNCATE TABLE dbo.t"),
        (3701, "DROP TABLE dbo.t"),
        (3701, "DROP VIEW dbo.w"),
        (3701, "DROP PROCEDURE dbo.p"),
        (3701, "DROP DATABASE d"),
        (208, "ALTER PROCEDURE dbo.p AS SELECT 2"),
        (208, "CREATE OR ALTER VIEW dbo.w AS SELECT 2 AS two"),
        (5011, "ALTER DATABASE d SET RECOVERY SIMPLE"),
        (1088, "SET IDENTITY_INSERT dbo.t ON"),
        (15247, "CREATE USER x WITHOUT LOGIN"),
        (15247, "CREATE ROLE x"),
        (15151, "DROP USER ann"),
        (15151, "ALTER ROLE db_owner ADD MEMBER ann"),
    ] {
        fixture.fails(&mut ann, number, sql);
    }
    fixture.succeeds(&mut owner, "GRANT CREATE TABLE TO ann");
    fixture.fails(&mut ann, 2760, "CREATE TABLE dbo.x (k int)");
    fixture.succeeds(&mut owner, "GRANT ALTER ON SCHEMA::dbo TO ann");
    fixture.succeeds(&mut ann, "CREATE TABLE dbo.x (k int); ALTER TABLE dbo.t ADD w int; DROP TABLE dbo.x");
    fixture.fails(&mut ann, 229, "SELECT k FROM dbo.t");
    fixture.succeeds(&mut owner, "REVOKE CREATE TABLE FROM ann; REVOKE ALTER ON SCHEMA::dbo FROM ann");
    fixture.succeeds(&mut owner, "ALTER ROLE db_ddladmin ADD MEMBER ann");
    fixture.succeeds(&mut ann, "CREATE SCHEMA own; CREATE TABLE dbo.x (k int); DROP VIEW dbo.w; TRUNCATE TABLE dbo.t");
    fixture.fails(&mut owner, 15138, "DROP USER ann");
    fixture.succeeds(&mut owner, "DROP SCHEMA own; DROP USER ann");
    fixture.fails(&mut ann, 916, "SELECT 1");
}

#[test]
fn types_need_permissions() {
    let fixture = Fixture::with_logins(&["ann"]);
    let (mut owner, mut ann) = (fixture.owner(), fixture.login("ann"));
    fixture.succeeds(&mut owner, "CREATE TYPE dbo.list AS TABLE (id int); CREATE TYPE dbo.short FROM varchar(5)");
    fixture.succeeds(&mut owner, "CREATE PROCEDURE dbo.count_rows @l dbo.list READONLY AS SELECT COUNT(*) FROM @l");
    fixture.succeeds(&mut owner, "CREATE PROCEDURE dbo.own AS BEGIN DECLARE @l dbo.list; EXEC dbo.count_rows @l END");
    fixture.succeeds(&mut owner, "GRANT EXECUTE ON dbo.count_rows TO ann; GRANT EXECUTE ON dbo.own TO ann");
    fixture.fails(&mut ann, 262, "CREATE TYPE dbo.x FROM int");
    fixture.fails(&mut ann, 218, "DROP TYPE dbo.list");
    let use_it = "DECLARE @l dbo.list; EXEC dbo.count_rows @l";
    let error = fixture.error(&mut ann, use_it);
    assert_eq!(error.number, 229);
    assert_eq!(error.message, "The EXECUTE permission was denied on the object 'list', database 'd', schema 'dbo'.");
    // A procedure of the type's owner may use it for whom it likes.
    fixture.succeeds(&mut ann, "EXEC dbo.own");
    assert_eq!(fixture.value(&mut ann, "SELECT COUNT(*) FROM sys.types WHERE is_user_defined = 1"), Value::Int(0));
    fixture.succeeds(&mut owner, "GRANT EXECUTE ON TYPE::dbo.list TO ann");
    fixture.succeeds(&mut ann, use_it);
    assert_eq!(fixture.texts(&mut ann, "SELECT name FROM sys.types WHERE is_user_defined = 1"), ["list"]);
    let held =
        "SELECT HAS_PERMS_BY_NAME('dbo.list', 'TYPE', 'EXECUTE') + HAS_PERMS_BY_NAME('dbo.list', 'TYPE', 'CONTROL')";
    assert_eq!(fixture.value(&mut ann, held), Value::Int(1));
    let listed = "SELECT class_desc FROM sys.database_permissions WHERE class = 6";
    assert_eq!(fixture.texts(&mut owner, listed), ["TYPE"]);
    fixture.succeeds(&mut owner, "REVOKE EXECUTE ON TYPE::dbo.list FROM ann");
    fixture.fails(&mut ann, 229, use_it);
    fixture.succeeds(&mut owner, "GRANT EXECUTE ON SCHEMA::dbo TO ann");
    fixture.succeeds(&mut ann, use_it);
    fixture.succeeds(&mut owner, "GRANT CREATE TYPE TO ann; GRANT ALTER ON SCHEMA::dbo TO ann");
    fixture.succeeds(&mut ann, "CREATE TYPE dbo.x FROM int; DROP TYPE dbo.x; DROP TYPE dbo.short");
    fixture.succeeds(&mut owner, "GRANT EXECUTE ON TYPE::dbo.list TO ann");
    fixture.succeeds(&mut owner, "DROP PROCEDURE dbo.count_rows; DROP TYPE dbo.list");
    assert_eq!(fixture.texts(&mut owner, listed).len(), 0);
    fixture.fails(&mut owner, 15151, "GRANT EXECUTE ON TYPE::dbo.list TO ann");
}

#[test]
fn sequences_need_permissions() {
    let fixture = Fixture::with_logins(&["ann"]);
    let (mut owner, mut ann) = (fixture.owner(), fixture.login("ann"));
    fixture.succeeds(&mut owner, "CREATE SEQUENCE dbo.s; CREATE TABLE dbo.u (k bigint DEFAULT (NEXT VALUE FOR dbo.s))");
    fixture.fails(&mut ann, 2760, "CREATE SEQUENCE dbo.x");
    fixture.fails(&mut ann, 208, "ALTER SEQUENCE dbo.s RESTART");
    fixture.fails(&mut ann, 3701, "DROP SEQUENCE dbo.s");
    fixture.fails(&mut ann, 229, "SELECT NEXT VALUE FOR dbo.s");
    fixture.fails(&mut ann, 229, "DECLARE @f bigint; EXEC sp_sequence_get_range N'dbo.s', 2, @f OUTPUT");
    // A table's default is its owner's.
    fixture.succeeds(&mut owner, "GRANT INSERT ON dbo.u TO ann");
    fixture.succeeds(&mut ann, "INSERT dbo.u DEFAULT VALUES");
    fixture.succeeds(&mut owner, "GRANT UPDATE ON dbo.s TO ann");
    fixture.succeeds(&mut ann, "SELECT NEXT VALUE FOR dbo.s");
    fixture.succeeds(&mut ann, "DECLARE @f bigint; EXEC sp_sequence_get_range N'dbo.s', 2, @f OUTPUT");
    fixture.succeeds(&mut owner, "GRANT ALTER ON SCHEMA::dbo TO ann");
    fixture.succeeds(&mut ann, "CREATE SEQUENCE dbo.x; ALTER SEQUENCE dbo.s RESTART; DROP SEQUENCE dbo.x");
}

/// Who may alter something may give it another name, and refresh it.
#[test]
fn names_change_for_who_may_alter() {
    let fixture = Fixture::with_logins(&["ann"]);
    let (mut owner, mut ann) = (fixture.owner(), fixture.login("ann"));
    fixture.succeeds(&mut owner, "CREATE INDEX ix ON dbo.t (v)");
    fixture.succeeds(&mut owner, "CREATE VIEW dbo.all_t AS SELECT k FROM dbo.t");
    fixture.succeeds(&mut owner, "GRANT SELECT ON dbo.t TO ann; GRANT SELECT ON dbo.all_t TO ann");
    let of_table = "EXEC sp_rename 'dbo.t.v', 'w', 'COLUMN'; EXEC sp_rename 'dbo.t.ix', 'iy', 'INDEX'";
    let of_view = "EXEC sp_rename 'dbo.all_t', 'each_t'";
    for sql in ["EXEC sp_rename 'dbo.t.v', 'w', 'COLUMN'", "EXEC sp_rename 'dbo.t', 'u'", of_view] {
        fixture.fails(&mut ann, 15225, sql);
    }
    fixture.fails(&mut ann, 15165, "EXEC sp_refreshview 'dbo.all_t'");
    fixture.succeeds(&mut owner, "GRANT ALTER ON dbo.t TO ann; GRANT ALTER ON dbo.all_t TO ann");
    fixture.succeeds(&mut ann, of_table);
    fixture.succeeds(&mut ann, of_view);
    fixture.succeeds(&mut ann, "EXEC sp_refreshview 'dbo.each_t'; SELECT k FROM dbo.each_t");
}

/// Who may alter something may give it properties; who has no permission on it does not see them.
#[test]
fn extended_properties_need_alter() {
    let fixture = Fixture::with_logins(&["ann"]);
    let (mut owner, mut ann) = (fixture.owner(), fixture.login("ann"));
    let of_table = "EXEC sp_addextendedproperty 'p', 'x', 'SCHEMA', 'dbo', 'TABLE', 't', 'COLUMN', 'k'";
    let of_type = "EXEC sp_addextendedproperty 'p', 'x', 'SCHEMA', 'dbo', 'TYPE', 'short'";
    let of_schema = "EXEC sp_addextendedproperty 'p', 'x', 'SCHEMA', 'dbo'";
    let of_user = "EXEC sp_addextendedproperty 'p', 'x', 'USER', 'ann'";
    let of_database = "EXEC sp_addextendedproperty 'p', 'x'";
    fixture.succeeds(&mut owner, "CREATE TYPE dbo.short FROM int");
    for sql in [of_table, of_type, of_schema, of_user, of_database] {
        fixture.fails(&mut ann, 15135, sql);
    }
    fixture.succeeds(&mut owner, "EXEC sp_addextendedproperty 'q', 'seen', 'SCHEMA', 'dbo', 'TABLE', 't'");
    let seen = "SELECT CAST(value AS varchar(9)) FROM sys.extended_properties
                UNION ALL SELECT CAST(value AS varchar(9)) FROM fn_listextendedproperty('q', 'SCHEMA', 'dbo', 'TABLE', 't', NULL, NULL)";
    assert!(fixture.texts(&mut ann, seen).is_empty());
    fixture.succeeds(&mut owner, "GRANT SELECT ON dbo.t TO ann");
    assert_eq!(fixture.texts(&mut ann, seen), ["seen", "seen"]);
    fixture.fails(&mut ann, 15135, of_table);
    fixture.fails(&mut ann, 15135, "EXEC sp_dropextendedproperty 'q', 'SCHEMA', 'dbo', 'TABLE', 't'");
    fixture.succeeds(&mut owner, "GRANT ALTER ON dbo.t TO ann");
    fixture.succeeds(&mut ann, of_table);
    fixture.succeeds(&mut owner, "DENY ALTER ON dbo.t TO ann");
    fixture.fails(&mut ann, 15135, "EXEC sp_dropextendedproperty 'q', 'SCHEMA', 'dbo', 'TABLE', 't'");
    fixture.succeeds(&mut owner, "ALTER ROLE db_ddladmin ADD MEMBER ann");
    fixture.succeeds(&mut ann, &format!("{of_type}; {of_schema}"));
    for sql in [of_user, of_database] {
        fixture.fails(&mut ann, 15135, sql);
    }
    fixture.succeeds(&mut owner, "GRANT ALTER TO ann; GRANT ALTER ANY USER TO ann");
    fixture.succeeds(&mut ann, &format!("{of_database}; {of_user}"));
}

#[test]
fn owners_of_schemas_own_what_is_in_them() {
    let fixture = Fixture::with_logins(&["ann"]);
    let (mut owner, mut ann) = (fixture.owner(), fixture.login("ann"));
    fixture.succeeds(&mut owner, "CREATE SCHEMA s AUTHORIZATION ann; GRANT CREATE TABLE TO ann");
    fixture.succeeds(&mut ann, "CREATE TABLE s.u (k int); INSERT s.u VALUES (1); SELECT k FROM s.u");
    fixture.fails(&mut owner, 15151, "CREATE SCHEMA x AUTHORIZATION nobody");
}

#[test]
fn users_and_roles_are_made_changed_and_dropped() {
    let fixture = Fixture::with_logins(&["ann"]);
    let mut owner = fixture.owner();
    for (number, sql) in [
        (15023, "CREATE USER ann WITHOUT LOGIN"),
        (15063, "CREATE USER ann2 FOR LOGIN ann"),
        (15063, "CREATE USER boss FOR LOGIN sa"),
        (15007, "CREATE USER nobody"),
        (15023, "CREATE ROLE ann"),
        (15150, "DROP USER dbo"),
        (15150, "ALTER USER guest WITH NAME = visitor"),
        (15151, "ALTER ROLE nothing ADD MEMBER ann"),
        (15151, "ALTER ROLE db_owner ADD MEMBER nobody"),
        (15405, "ALTER ROLE db_owner ADD MEMBER dbo"),
        (40517, "CREATE APPLICATION ROLE a WITH PASSWORD = 'x'"),
    ] {
        fixture.fails(&mut owner, number, sql);
    }
    fixture
        .succeeds(&mut owner, "CREATE USER w WITHOUT LOGIN WITH DEFAULT_SCHEMA = dbo; CREATE ROLE r AUTHORIZATION w");
    fixture.fails(&mut owner, 15138, "DROP USER w");
    fixture.succeeds(&mut owner, "ALTER ROLE r WITH NAME = [R Two]; ALTER USER ann WITH NAME = [Ann Two]");
    let names = "SELECT name FROM sys.database_principals WHERE is_fixed_role = 0 AND principal_id > 4 ORDER BY name";
    assert_eq!(fixture.texts(&mut owner, names), ["Ann Two", "R Two", "w"]);
    fixture.succeeds(&mut owner, "ALTER ROLE [R Two] ADD MEMBER [Ann Two]; ALTER ROLE [R Two] DROP MEMBER [Ann Two]");
    fixture.succeeds(&mut owner, "DROP ROLE [R Two]; DROP USER w; DROP USER IF EXISTS w");
    // The user is the login's by its security id, not by its name.
    assert_eq!(fixture.value(&mut fixture.login("ann"), "SELECT USER_NAME()"), Value::from("Ann Two"));
}

#[test]
fn the_state_of_the_server_needs_permission() {
    let fixture = Fixture::with_logins(&["ann"]);
    let (mut sa, mut ann) = (fixture.sa(), fixture.login("ann"));
    for sql in [
        "SELECT * FROM sys.dm_os_wait_stats",
        "SELECT * FROM sys.dm_os_schedulers",
        "SELECT * FROM sys.dm_tran_locks",
        "SELECT * FROM sys.dm_os_waiting_tasks",
        "SELECT * FROM sys.dm_exec_cached_plans",
        "SELECT * FROM sys.dm_exec_sql_text(0x02)",
        "SELECT * FROM sys.dm_exec_input_buffer(51, 0)",
    ] {
        let error = fixture.error(&mut ann, sql);
        let wanted = "VIEW SERVER STATE permission was denied on object 'server', database 'master'.";
        assert_eq!((error.number, error.message.as_str()), (300, wanted), "{sql}");
    }
    fixture.fails(&mut ann, 262, "SELECT * FROM sys.dm_db_log_space_usage");
    fixture.fails(&mut ann, 297, "SELECT * FROM sys.fn_dblog(NULL, NULL)");
    for view in ["sys.dm_exec_sessions", "sys.sysprocesses"] {
        assert_eq!(fixture.value(&mut ann, &format!("SELECT COUNT(*) FROM {view}")), Value::Int(1), "{view}");
    }
    assert_eq!(fixture.texts(&mut ann, "SELECT login_name FROM sys.dm_exec_sessions"), ["ann"]);
    for (number, sql) in [
        (15247, "EXEC sp_configure 'LOG_RESERVATION', 'SPINLOCK'"),
        (15247, "ALTER SERVER CONFIGURATION SET PIKEPOLE LOG_RESERVATION = SPINLOCK"),
        (6102, "KILL 52"),
        (15247, "SHUTDOWN"),
        (262, "CHECKPOINT"),
        (262, "BACKUP DATABASE d TO DISK = '/x'"),
        (262, "RESTORE DATABASE d FROM DISK = '/x'"),
        (2571, "DBCC SQLPERF('sys.dm_os_wait_stats', CLEAR)"),
        (2571, "DBCC FREEPROCCACHE"),
        (2571, "DBCC INPUTBUFFER(51)"),
    ] {
        fixture.fails(&mut ann, number, sql);
    }
    fixture.succeeds(&mut sa, "GRANT VIEW SERVER STATE TO ann");
    fixture.succeeds(&mut ann, "SELECT * FROM sys.dm_os_wait_stats; SELECT * FROM sys.dm_db_log_space_usage");
    fixture.succeeds(&mut ann, "DBCC INPUTBUFFER(51)");
    assert_ne!(fixture.value(&mut ann, "SELECT COUNT(*) FROM sys.dm_exec_sessions"), Value::Int(1));
    fixture.succeeds(&mut sa, "DENY VIEW SERVER STATE TO ann");
    fixture.fails(&mut ann, 300, "SELECT * FROM sys.dm_os_wait_stats");
}

#[test]
fn fixed_server_roles_may_what_they_are_for() {
    let fixture = Fixture::with_logins(&["ann"]);
    let (mut sa, mut ann) = (fixture.sa(), fixture.login_in("ann", "master").expect("everybody may use master"));
    fixture.succeeds(&mut sa, "ALTER SERVER ROLE dbcreator ADD MEMBER ann");
    fixture.succeeds(&mut ann, "CREATE DATABASE x; ALTER DATABASE x SET RECOVERY SIMPLE; DROP DATABASE x");
    fixture
        .succeeds(&mut sa, "ALTER SERVER ROLE dbcreator DROP MEMBER ann; ALTER SERVER ROLE serveradmin ADD MEMBER ann");
    fixture.fails(&mut ann, 262, "CREATE DATABASE x");
    fixture.succeeds(&mut ann, "SELECT * FROM sys.dm_os_wait_stats; DBCC FREEPROCCACHE");
    fixture.succeeds(&mut sa, "CREATE SERVER ROLE watchers; GRANT VIEW SERVER STATE TO watchers");
    fixture.succeeds(&mut sa, "ALTER SERVER ROLE watchers ADD MEMBER ann");
    fixture.fails(&mut sa, 15144, "DROP SERVER ROLE watchers");
    fixture.fails(&mut sa, 15150, "DROP SERVER ROLE sysadmin");
    fixture.fails(&mut sa, 15405, "ALTER SERVER ROLE sysadmin DROP MEMBER sa");
}

#[test]
fn triggers_belong_to_their_tables() {
    let fixture = Fixture::with_logins(&["ann"]);
    let (mut owner, mut ann) = (fixture.owner(), fixture.login("ann"));
    fixture.succeeds(&mut owner, "CREATE TABLE dbo.watched (k int); CREATE TABLE dbo.journal (k int)");
    fixture.succeeds(
        &mut owner,
        "CREATE TRIGGER dbo.watch ON dbo.watched AFTER INSERT AS INSERT dbo.journal SELECT k FROM inserted",
    );
    for (number, sql) in [
        (8197, "CREATE TRIGGER dbo.x ON dbo.watched AFTER INSERT AS PRINT 'x'"),
        (8197, "ALTER TRIGGER dbo.watch ON dbo.watched AFTER INSERT AS PRINT 'x'"),
        (8197, "DISABLE TRIGGER dbo.watch ON dbo.watched"),
        (4902, "ALTER TABLE dbo.watched DISABLE TRIGGER ALL"),
        (3701, "DROP TRIGGER dbo.watch"),
        (229, "INSERT dbo.watched VALUES (1)"),
    ] {
        fixture.fails(&mut ann, number, sql);
    }
    assert_eq!(fixture.value(&mut ann, "SELECT COUNT(*) FROM sys.triggers"), Value::Int(0));
    fixture.fails(&mut owner, 15151, "GRANT SELECT ON dbo.watch TO ann");
    // What the trigger does is its owner's doing, who owns the journal too.
    fixture.succeeds(&mut owner, "GRANT INSERT ON dbo.watched TO ann");
    fixture.succeeds(&mut ann, "INSERT dbo.watched VALUES (1)");
    assert_eq!(fixture.value(&mut owner, "SELECT COUNT(*) FROM dbo.journal"), Value::Int(1));
    fixture.fails(&mut ann, 229, "INSERT dbo.journal VALUES (2)");
    // A text that it runs is no part of it.
    fixture.succeeds(
        &mut owner,
        "ALTER TRIGGER dbo.watch ON dbo.watched AFTER INSERT AS EXEC ('INSERT dbo.journal VALUES (3)')",
    );
    fixture.fails(&mut ann, 229, "INSERT dbo.watched VALUES (2)");
    assert_eq!(fixture.value(&mut owner, "SELECT COUNT(*) FROM dbo.watched"), Value::Int(1));
    fixture.succeeds(&mut owner, "GRANT ALTER ON dbo.watched TO ann");
    assert_eq!(fixture.value(&mut ann, "SELECT COUNT(*) FROM sys.triggers"), Value::Int(1));
    fixture.succeeds(
        &mut ann,
        "DISABLE TRIGGER dbo.watch ON dbo.watched; INSERT dbo.watched VALUES (3); DROP TRIGGER dbo.watch",
    );
}

#[test]
fn inserts_through_views_need_permission_on_the_view() {
    let fixture = Fixture::with_logins(&["ann"]);
    let (mut owner, mut ann) = (fixture.owner(), fixture.login("ann"));
    fixture.succeeds(&mut owner, "CREATE TABLE dbo.below (k int)");
    fixture.succeeds(&mut owner, "CREATE VIEW dbo.above AS SELECT k FROM dbo.below");
    fixture.fails(&mut ann, 229, "INSERT dbo.above VALUES (1)");
    fixture.succeeds(&mut owner, "GRANT INSERT ON dbo.above TO ann");
    fixture.succeeds(&mut ann, "INSERT dbo.above VALUES (1)");
    fixture.fails(&mut ann, 229, "INSERT dbo.below VALUES (1)");
    fixture.succeeds(&mut owner, "CREATE USER eve WITHOUT LOGIN");
    fixture.succeeds(&mut owner, "CREATE SCHEMA other AUTHORIZATION eve");
    fixture.succeeds(&mut owner, "CREATE VIEW other.above AS SELECT k FROM dbo.below");
    fixture
        .succeeds(&mut owner, "GRANT INSERT, UPDATE, SELECT ON other.above TO ann; GRANT SELECT ON dbo.below TO ann");
    // Another owner's view gives nothing of the table below it.
    fixture.fails(&mut ann, 229, "INSERT other.above VALUES (2)");
    fixture.fails(&mut ann, 229, "UPDATE other.above SET k = 2");
}

#[test]
fn functions_of_several_statements_need_select() {
    let fixture = Fixture::with_logins(&["ann"]);
    let (mut owner, mut ann) = (fixture.owner(), fixture.login("ann"));
    fixture.succeeds(&mut owner, "CREATE TABLE dbo.hidden (k int); INSERT dbo.hidden VALUES (1)");
    let body = "INSERT @r SELECT k FROM dbo.hidden; RETURN;";
    fixture.succeeds(&mut owner, &format!("CREATE FUNCTION dbo.shown () RETURNS @r TABLE (k int) AS BEGIN {body} END"));
    fixture.fails(&mut ann, 229, "SELECT k FROM dbo.shown()");
    fixture.succeeds(&mut owner, "GRANT SELECT ON dbo.shown TO ann");
    assert_eq!(fixture.value(&mut ann, "SELECT k FROM dbo.shown()"), Value::Int(1));
    fixture.fails(&mut ann, 229, "SELECT k FROM dbo.hidden");
}

#[test]
fn scalar_functions_need_execute_and_give_what_their_owner_has() {
    let fixture = Fixture::with_logins(&["ann"]);
    let (mut owner, mut ann) = (fixture.owner(), fixture.login("ann"));
    fixture.succeeds(&mut owner, "CREATE TABLE dbo.hidden (k int); INSERT dbo.hidden VALUES (7)");
    fixture.succeeds(
        &mut owner,
        "CREATE FUNCTION dbo.short () RETURNS int AS BEGIN RETURN (SELECT k FROM dbo.hidden) END",
    );
    let body = "DECLARE @k int; SELECT @k = k FROM dbo.hidden; RETURN @k;";
    fixture.succeeds(&mut owner, &format!("CREATE FUNCTION dbo.long () RETURNS int AS BEGIN {body} END"));
    fixture.succeeds(&mut owner, "CREATE TABLE dbo.ruled (a int DEFAULT dbo.long(), b int CHECK (b < dbo.long()))");
    fixture.succeeds(&mut owner, "GRANT INSERT, SELECT ON dbo.ruled TO ann");
    for name in ["short", "long"] {
        fixture.fails(&mut ann, 229, &format!("SELECT dbo.{name}()"));
        fixture.fails(&mut ann, 229, &format!("DECLARE @x int = dbo.{name}()"));
        fixture.succeeds(&mut owner, &format!("GRANT EXECUTE ON dbo.{name} TO ann"));
        assert_eq!(fixture.value(&mut ann, &format!("SELECT dbo.{name}()")), Value::Int(7));
        fixture.succeeds(&mut owner, &format!("DENY EXECUTE ON dbo.{name} TO ann"));
        fixture.fails(&mut ann, 229, &format!("SELECT dbo.{name}()"));
    }
    // What a table's definition calls is its owner's.
    fixture.succeeds(&mut ann, "INSERT dbo.ruled (b) VALUES (6)");
    fixture.fails(&mut ann, 547, "INSERT dbo.ruled (b) VALUES (8)");
    assert_eq!(fixture.value(&mut ann, "SELECT a FROM dbo.ruled"), Value::Int(7));
}

#[test]
fn owners_change() {
    let fixture = Fixture::with_logins(&["ann", "bob"]);
    let (mut owner, mut ann) = (fixture.owner(), fixture.login("ann"));
    fixture.succeeds(&mut owner, "CREATE ROLE makers; GRANT ALTER ON SCHEMA::dbo TO bob");
    for sql in ["CREATE SCHEMA own AUTHORIZATION bob", "CREATE TABLE own.t (k int)"] {
        fixture.succeeds(&mut owner, sql);
    }
    fixture.succeeds(&mut owner, "GRANT SELECT ON SCHEMA::own TO ann");
    fixture.succeeds(&mut ann, "SELECT k FROM own.t");
    for (number, sql) in
        [(15151, "ALTER AUTHORIZATION ON SCHEMA::own TO ann"), (15151, "ALTER AUTHORIZATION ON DATABASE::d TO ann")]
    {
        fixture.fails(&mut ann, number, sql);
    }
    for (number, sql) in [
        (15151, "ALTER AUTHORIZATION ON SCHEMA::none TO makers"),
        (15151, "ALTER AUTHORIZATION ON SCHEMA::own TO nobody"),
        (15150, "ALTER AUTHORIZATION ON SCHEMA::dbo TO makers"),
        (15151, "ALTER AUTHORIZATION ON ROLE::none TO ann"),
        (15151, "ALTER AUTHORIZATION ON OBJECT::own.none TO SCHEMA OWNER"),
        (15151, "ALTER AUTHORIZATION ON DATABASE::none TO sa"),
        (15151, "ALTER AUTHORIZATION ON DATABASE::d TO nobody"),
        (15110, "ALTER AUTHORIZATION ON DATABASE::d TO ann"),
        (226, "BEGIN TRAN; ALTER AUTHORIZATION ON DATABASE::d TO sa"),
        (40517, "ALTER AUTHORIZATION ON own.t TO ann"),
    ] {
        fixture.fails(&mut owner, number, sql);
    }
    fixture.succeeds(&mut owner, "IF @@TRANCOUNT > 0 ROLLBACK; ALTER AUTHORIZATION ON own.t TO SCHEMA OWNER");
    // What was granted on the schema ends with its owner.
    fixture.succeeds(&mut owner, "ALTER AUTHORIZATION ON SCHEMA::own TO makers");
    fixture.fails(&mut ann, 229, "SELECT k FROM own.t");
    fixture.succeeds(&mut owner, "ALTER ROLE makers ADD MEMBER ann; ALTER AUTHORIZATION ON ROLE::makers TO bob");
    fixture.succeeds(&mut ann, "SELECT k FROM own.t; ALTER AUTHORIZATION ON SCHEMA::own TO ann");
    fixture.fails(&mut owner, 15138, "DROP USER ann");
    fixture.succeeds(
        &mut owner,
        "ALTER AUTHORIZATION ON SCHEMA::own TO dbo; ALTER AUTHORIZATION ON ROLE::makers TO dbo; DROP USER bob",
    );
    fixture.succeeds(&mut owner, "ALTER AUTHORIZATION ON DATABASE::d TO bob");
    let mut bob = fixture.login("bob");
    fixture.succeeds(&mut bob, "CREATE TABLE dbo.of_bob (k int)");
    fixture.succeeds(&mut owner, "ALTER AUTHORIZATION ON DATABASE::[d] TO [sa]");
    fixture.fails(&mut bob, 916, "SELECT 1");
}
