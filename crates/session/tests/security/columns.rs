//! Permissions on columns.

use crate::fixture::Fixture;
use pikepole_machine::SimulatedDisk;
use pikepole_types::Value;

const MADE: &str =
    "CREATE TABLE dbo.c (id int PRIMARY KEY, a int, b int, CONSTRAINT u UNIQUE (a)); INSERT dbo.c VALUES (1, 10, 100)";

/// Asserts that a batch ends with error 230 for this permission on this column of `dbo.c`.
#[track_caller]
fn lacks(fixture: &Fixture, session: &mut pikepole_session::Session, permission: &str, column: &str, sql: &str) {
    let error = fixture.error(session, sql);
    let wanted = format!(
        "The {permission} permission was denied on the column '{column}' of the object 'c', database 'd', schema 'dbo'."
    );
    assert_eq!((error.number, error.severity, error.state, error.message), (230, 14, 1, wanted), "{sql}");
}

#[test]
fn a_grant_of_columns_is_for_them_only() {
    let fixture = Fixture::with_logins(&["ann"]);
    let (mut owner, mut ann) = (fixture.owner(), fixture.login("ann"));
    fixture.succeeds(&mut owner, MADE);
    fixture.fails(&mut ann, 229, "SELECT a FROM dbo.c");
    fixture.succeeds(&mut owner, "GRANT SELECT (id, a), UPDATE (a) ON dbo.c TO ann");
    for sql in [
        "SELECT id, a FROM dbo.c WHERE a = 10 ORDER BY id",
        "SELECT COUNT(*) FROM dbo.c",
        "SELECT x.y FROM (SELECT MAX(a) AS y FROM dbo.c GROUP BY id) AS x",
        "UPDATE dbo.c SET a = 10",
        "UPDATE dbo.c SET a += 0 WHERE id = 1",
        "UPDATE x SET a = 10 FROM dbo.c AS x JOIN (VALUES (1)) AS v (n) ON v.n = x.id",
        "UPDATE dbo.c SET a = 10 OUTPUT inserted.a, deleted.id",
        "MERGE dbo.c AS t USING (VALUES (1)) AS s (n) ON t.id = s.n WHEN MATCHED THEN UPDATE SET a = 10;",
        "DECLARE @p int; SELECT @p = a FROM dbo.c",
    ] {
        fixture.succeeds(&mut ann, sql);
    }
    for sql in [
        "SELECT b FROM dbo.c",
        "SELECT * FROM dbo.c",
        "SELECT id FROM dbo.c WHERE b = 100",
        "SELECT id FROM dbo.c ORDER BY b",
        "SELECT x.id FROM (SELECT id, b FROM dbo.c) AS x",
        "SELECT (SELECT MAX(b) FROM dbo.c)",
        "SELECT s.id FROM dbo.c AS s JOIN dbo.c AS t ON s.id = t.b",
        "UPDATE dbo.c SET a = b",
        "UPDATE dbo.c SET a = 10 OUTPUT inserted.b",
        "UPDATE x SET a = 10 FROM dbo.c AS x JOIN (VALUES (100)) AS v (n) ON v.n = x.b",
        "UPDATE x SET a = 10 OUTPUT deleted.b FROM dbo.c AS x JOIN (VALUES (1)) AS v (n) ON v.n = x.id",
    ] {
        lacks(&fixture, &mut ann, "SELECT", "b", sql);
    }
    lacks(&fixture, &mut ann, "UPDATE", "b", "UPDATE dbo.c SET b = 1");
    lacks(&fixture, &mut ann, "UPDATE", "b", "UPDATE dbo.c SET a = 1, b = 1");
    lacks(
        &fixture,
        &mut ann,
        "UPDATE",
        "b",
        "MERGE dbo.c AS t USING (VALUES (1)) AS s (n) ON t.id = s.n WHEN MATCHED THEN UPDATE SET b = 10;",
    );
    fixture.fails(&mut ann, 229, "INSERT dbo.c VALUES (2, 20, 200)");
    fixture.fails(&mut ann, 229, "DELETE dbo.c");
    assert_eq!(fixture.value(&mut owner, "SELECT b FROM dbo.c"), Value::Int(100));
}

#[test]
fn what_was_said_of_a_column_goes_before_what_was_said_of_the_table() {
    let fixture = Fixture::with_logins(&["ann"]);
    let (mut owner, mut ann) = (fixture.owner(), fixture.login("ann"));
    fixture.succeeds(&mut owner, MADE);
    fixture.succeeds(&mut owner, "GRANT SELECT ON dbo.c TO ann; DENY SELECT (b) ON dbo.c TO ann");
    fixture.succeeds(&mut ann, "SELECT id, a FROM dbo.c");
    lacks(&fixture, &mut ann, "SELECT", "b", "SELECT id, b FROM dbo.c");
    // A statement on the table replaces what was said of columns.
    fixture.succeeds(&mut owner, "GRANT SELECT ON dbo.c TO ann");
    fixture.succeeds(&mut ann, "SELECT * FROM dbo.c");
    fixture.succeeds(&mut owner, "REVOKE SELECT (b) ON dbo.c FROM ann");
    lacks(&fixture, &mut ann, "SELECT", "b", "SELECT b FROM dbo.c");
    let shown = "SELECT CONCAT(minor_id, state, type) FROM sys.database_permissions WHERE major_id = OBJECT_ID('dbo.c') ORDER BY 1";
    assert_eq!(fixture.texts(&mut owner, shown), ["0GSL  ", "3RSL  "]);
    fixture.succeeds(&mut owner, "REVOKE SELECT ON dbo.c FROM ann");
    assert!(fixture.texts(&mut owner, shown).is_empty());
    fixture.succeeds(&mut owner, "DENY SELECT ON dbo.c TO public; GRANT SELECT (a) ON dbo.c TO ann");
    fixture.succeeds(&mut ann, "SELECT a FROM dbo.c");
    lacks(&fixture, &mut ann, "SELECT", "id", "SELECT id FROM dbo.c");
}

#[test]
fn views_and_keys_have_columns_too() {
    let fixture = Fixture::with_logins(&["ann"]);
    let (mut owner, mut ann) = (fixture.owner(), fixture.login("ann"));
    fixture.succeeds(&mut owner, MADE);
    fixture.succeeds(&mut owner, "EXEC ('CREATE VIEW dbo.w (x, y) AS SELECT a, b FROM dbo.c')");
    fixture.succeeds(&mut owner, "GRANT SELECT (x), UPDATE (x) ON dbo.w TO ann");
    fixture.succeeds(&mut ann, "SELECT x FROM dbo.w; UPDATE dbo.w SET x = 10");
    for sql in ["SELECT y FROM dbo.w", "UPDATE dbo.w SET y = 1", "UPDATE dbo.w SET x = y"] {
        let error = fixture.error(&mut ann, sql);
        assert!(error.number == 230 && error.message.contains("column 'y' of the object 'w'"), "{sql}: {error}");
    }
    fixture.succeeds(&mut owner, "GRANT CREATE TABLE TO ann; GRANT ALTER ON SCHEMA::dbo TO ann");
    let refers = "CREATE TABLE dbo.of_ann (a int REFERENCES dbo.c (a))";
    fixture.fails(&mut ann, 229, refers);
    fixture.succeeds(&mut owner, "GRANT REFERENCES (id) ON dbo.c TO ann");
    lacks(&fixture, &mut ann, "REFERENCES", "a", refers);
    fixture.succeeds(&mut owner, "GRANT REFERENCES (a) ON dbo.c TO ann");
    fixture.succeeds(&mut ann, refers);
}

#[test]
fn statements_that_cannot_be_meant_are_refused() {
    let fixture = Fixture::with_logins(&["ann", "bob"]);
    let (mut owner, mut ann, mut bob) = (fixture.owner(), fixture.login("ann"), fixture.login("bob"));
    fixture.succeeds(&mut owner, MADE);
    fixture.succeeds(&mut owner, "EXEC ('CREATE PROCEDURE dbo.p AS SELECT 7')");
    fixture.fails(&mut owner, 1020, "GRANT INSERT (a) ON dbo.c TO ann");
    fixture.fails(&mut owner, 1020, "GRANT EXECUTE (a) ON dbo.p TO ann");
    fixture.fails(&mut owner, 1020, "GRANT SELECT (a) ON SCHEMA::dbo TO ann");
    fixture.fails(&mut owner, 1019, "GRANT SELECT (a) ON dbo.c (b) TO ann");
    fixture.fails(&mut owner, 207, "GRANT SELECT (nope) ON dbo.c TO ann");
    fixture.fails(&mut ann, 15151, "GRANT SELECT (a) ON dbo.c TO bob");
    fixture.succeeds(&mut owner, "GRANT SELECT ON dbo.c (a) TO ann WITH GRANT OPTION");
    fixture.succeeds(&mut ann, "GRANT SELECT (a) ON dbo.c TO bob");
    fixture.fails(&mut ann, 4613, "GRANT SELECT (a, b) ON dbo.c TO bob");
    fixture.succeeds(&mut bob, "SELECT a FROM dbo.c");
    fixture.fails(&mut owner, 4611, "REVOKE SELECT (a) ON dbo.c FROM ann");
    fixture.succeeds(&mut owner, "REVOKE SELECT (a) ON dbo.c FROM ann CASCADE");
    fixture.fails(&mut bob, 229, "SELECT a FROM dbo.c");
}

#[test]
fn a_session_is_told_what_it_may_do_with_columns() {
    let fixture = Fixture::with_logins(&["ann"]);
    let (mut owner, mut ann) = (fixture.owner(), fixture.login("ann"));
    fixture.succeeds(&mut owner, MADE);
    fixture.succeeds(&mut owner, "GRANT SELECT (id, b), UPDATE (a) ON dbo.c TO ann");
    let asked = "SELECT CONCAT(HAS_PERMS_BY_NAME('dbo.c', 'OBJECT', 'SELECT', 'b', 'COLUMN'), \
                 HAS_PERMS_BY_NAME('dbo.c', 'OBJECT', 'SELECT', 'a', 'COLUMN'), \
                 HAS_PERMS_BY_NAME('dbo.c', 'OBJECT', 'ANY', 'a', 'COLUMN'), \
                 HAS_PERMS_BY_NAME('dbo.c', 'OBJECT', 'SELECT', 'nope', 'COLUMN'), \
                 HAS_PERMS_BY_NAME('dbo.c', 'OBJECT', 'DELETE', 'a', 'COLUMN'), HAS_PERMS_BY_NAME('dbo.c', 'OBJECT', 'SELECT'))";
    assert_eq!(fixture.texts(&mut ann, asked), ["1010"]);
    let told = "SELECT CONCAT(entity_name, ' ', subentity_name, ' ', permission_name) FROM fn_my_permissions('dbo.c', 'OBJECT')";
    assert_eq!(
        fixture.texts(&mut ann, told),
        ["dbo.c  SELECT", "dbo.c  UPDATE", "dbo.c id SELECT", "dbo.c b SELECT", "dbo.c a UPDATE"]
    );
    let listed = fixture.succeeds(&mut ann, "EXEC sp_column_privileges 'c'");
    let of_ann: Vec<_> = listed.rows().into_iter().filter(|row| row[5].as_str() == Some("ann")).collect();
    let listed: Vec<_> = of_ann.iter().map(|row| (row[3].as_str(), row[6].as_str())).collect();
    assert_eq!(listed, [(Some("id"), Some("SELECT")), (Some("a"), Some("UPDATE")), (Some("b"), Some("SELECT"))]);
    let listed = fixture.succeeds(&mut ann, "EXEC sp_table_privileges 'c'");
    assert!(listed.rows().iter().all(|row| row[4].as_str() != Some("ann")), "of the table nothing was granted");
    assert_eq!(
        fixture.texts(&mut ann, "SELECT permission_name FROM sys.fn_my_permissions(NULL, 'DATABASE')"),
        ["CONNECT"]
    );
    assert_eq!(fixture.value(&mut ann, "SELECT OBJECT_ID('dbo.c') - OBJECT_ID('dbo.c')"), Value::Int(0), "it is seen");
}

#[test]
fn grants_move_with_their_columns_and_survive_a_power_loss() {
    let disk = SimulatedDisk::new(5);
    let fixture = Fixture::on(&disk);
    let mut sa = fixture.sa();
    fixture.succeeds(&mut sa, "CREATE DATABASE d");
    fixture.succeeds(&mut sa, "USE d");
    fixture.succeeds(&mut sa, MADE);
    fixture.succeeds(&mut sa, "CREATE USER eve WITHOUT LOGIN; GRANT SELECT (id, a, b) ON dbo.c TO eve");
    fixture.succeeds(&mut sa, "ALTER TABLE dbo.c DROP CONSTRAINT u; ALTER TABLE dbo.c DROP COLUMN a");
    fixture.succeeds(&mut sa, "ALTER TABLE dbo.c ADD later int; BEGIN TRAN; GRANT SELECT (later) ON dbo.c TO eve");
    let after = disk.crash(9);
    drop(sa);
    let fixture = Fixture::on(&after);
    let mut owner = fixture.owner();
    let shown = "SELECT minor_id FROM sys.database_permissions WHERE major_id = OBJECT_ID('dbo.c') ORDER BY minor_id";
    let numbers: Vec<Value> = fixture.succeeds(&mut owner, shown).rows().iter().map(|row| row[0].clone()).collect();
    // The one that was dropped has left its number.
    assert_eq!(numbers, [Value::Int(1), Value::Int(3)]);
    fixture.succeeds(&mut owner, "EXECUTE AS USER = 'eve'; SELECT id, b FROM dbo.c; REVERT");
    let error = fixture.error(&mut owner, "EXECUTE AS USER = 'eve'; SELECT later FROM dbo.c; REVERT");
    assert_eq!(error.number, 230);
}
