//! What principals see of definitions and of each other.

use crate::fixture::Fixture;
use pikepole_types::Value;

#[test]
fn objects_without_any_permission_are_not_seen() {
    let fixture = Fixture::with_logins(&["ann"]);
    let (mut owner, mut ann) = (fixture.owner(), fixture.login("ann"));
    fixture.succeeds(&mut owner, "CREATE TABLE dbo.secret (k int)");
    fixture.succeeds(&mut owner, "CREATE PROCEDURE dbo.p AS SELECT 1");
    fixture.succeeds(&mut owner, "GRANT UPDATE ON dbo.t TO ann");
    assert_eq!(fixture.texts(&mut ann, "SELECT name FROM sys.tables"), ["t"]);
    assert_eq!(fixture.texts(&mut ann, "SELECT TABLE_NAME FROM INFORMATION_SCHEMA.TABLES"), ["t"]);
    assert_eq!(fixture.value(&mut ann, "SELECT COUNT(*) FROM sys.procedures"), Value::Int(0));
    assert_eq!(fixture.value(&mut ann, "SELECT COUNT(*) FROM sys.sql_modules"), Value::Int(0));
    assert_eq!(fixture.value(&mut ann, "SELECT COUNT(*) FROM sys.columns WHERE name = 'k'"), Value::Int(1));
    assert_eq!(fixture.value(&mut ann, "SELECT OBJECT_ID('dbo.secret')"), Value::Null);
    assert_ne!(fixture.value(&mut ann, "SELECT OBJECT_ID('dbo.t')"), Value::Null);
    fixture.fails(&mut ann, 15009, "EXEC sp_helptext 'dbo.p'");
    let mut elsewhere = fixture.login_in("ann", "master").expect("everybody may use master");
    assert_eq!(fixture.value(&mut elsewhere, "SELECT OBJECT_ID('d.dbo.secret')"), Value::Null);
    // Who may run a procedure need not see its text.
    fixture.succeeds(&mut owner, "GRANT EXECUTE ON dbo.p TO ann");
    assert_eq!(fixture.texts(&mut ann, "SELECT name FROM sys.procedures"), ["p"]);
    assert_eq!(fixture.value(&mut ann, "SELECT COUNT(definition) FROM sys.sql_modules"), Value::Int(0));
    assert_eq!(fixture.value(&mut ann, "SELECT OBJECT_DEFINITION(OBJECT_ID('dbo.p'))"), Value::Null);
    assert_eq!(
        fixture.value(&mut ann, "SELECT COUNT(ROUTINE_DEFINITION) FROM INFORMATION_SCHEMA.ROUTINES"),
        Value::Int(0)
    );
    fixture.fails(&mut ann, 15009, "EXEC sp_helptext 'dbo.p'");
    fixture.succeeds(&mut owner, "GRANT VIEW DEFINITION ON SCHEMA::dbo TO ann");
    assert_eq!(fixture.value(&mut ann, "SELECT COUNT(*) FROM sys.objects WHERE type IN ('U', 'P')"), Value::Int(3));
    assert_eq!(fixture.value(&mut ann, "SELECT COUNT(definition) FROM sys.sql_modules"), Value::Int(1));
    fixture.fails(&mut ann, 229, "SELECT k FROM dbo.secret");
}

#[test]
fn principals_see_themselves_and_what_is_always_there() {
    let fixture = Fixture::with_logins(&["ann", "bob"]);
    let (mut owner, mut ann) = (fixture.owner(), fixture.login("ann"));
    fixture.succeeds(&mut owner, "CREATE ROLE mine; CREATE ROLE other; ALTER ROLE mine ADD MEMBER ann");
    fixture.succeeds(&mut owner, "GRANT SELECT ON dbo.t TO mine; GRANT INSERT ON dbo.t TO other");
    let users = "SELECT name FROM sys.database_principals WHERE principal_id > 4 AND is_fixed_role = 0 ORDER BY name";
    assert_eq!(fixture.texts(&mut owner, users), ["ann", "bob", "mine", "other"]);
    assert_eq!(fixture.texts(&mut ann, users), ["ann", "mine"]);
    let logins = "SELECT name FROM sys.sql_logins ORDER BY name";
    assert_eq!(fixture.texts(&mut owner, logins), ["ann", "bob", "sa"]);
    assert_eq!(fixture.texts(&mut ann, logins), ["ann", "sa"]);
    assert_eq!(fixture.value(&mut owner, "SELECT COUNT(password_hash) FROM sys.sql_logins"), Value::Int(0));
    let granted = "SELECT permission_name + ' ' + state_desc FROM sys.database_permissions ORDER BY permission_name";
    assert_eq!(fixture.texts(&mut ann, granted), ["CONNECT GRANT", "SELECT GRANT"]);
    let members =
        "SELECT USER_NAME(role_principal_id) + ' ' + USER_NAME(member_principal_id) FROM sys.database_role_members";
    assert_eq!(fixture.texts(&mut owner, members), ["mine ann", "db_owner dbo"]);
    assert_eq!(fixture.texts(&mut ann, "SELECT name FROM sys.user_token"), ["ann", "mine", "public"]);
    assert_eq!(fixture.texts(&mut ann, "SELECT name FROM sys.login_token"), ["ann", "public"]);
}

#[test]
fn functions_tell_who_and_what() {
    let fixture = Fixture::with_logins(&["ann"]);
    let (mut owner, mut ann) = (fixture.owner(), fixture.login("ann"));
    fixture.succeeds(&mut owner, "ALTER ROLE db_datareader ADD MEMBER ann");
    for (expression, wanted) in [
        ("SUSER_SNAME()", Value::from("ann")),
        ("SUSER_NAME(SUSER_ID('ann'))", Value::from("ann")),
        ("SUSER_SNAME(SUSER_SID('ann'))", Value::from("ann")),
        ("SUSER_SNAME(0x01)", Value::from("sa")),
        ("SUSER_ID('nobody')", Value::Null),
        ("SYSTEM_USER", Value::from("ann")),
        ("USER_NAME(USER_ID('ann'))", Value::from("ann")),
        ("USER_NAME(1)", Value::from("dbo")),
        ("DATABASE_PRINCIPAL_ID('db_owner')", Value::Int(16384)),
        ("IS_MEMBER('db_datareader')", Value::Int(1)),
        ("IS_MEMBER('db_owner')", Value::Int(0)),
        ("IS_MEMBER('nothing')", Value::Null),
        ("IS_ROLEMEMBER('db_datareader', 'ann')", Value::Int(1)),
        ("IS_SRVROLEMEMBER('sysadmin')", Value::Int(0)),
        ("IS_SRVROLEMEMBER('sysadmin', 'sa')", Value::Int(1)),
        ("IS_SRVROLEMEMBER('public')", Value::Int(1)),
        ("HAS_PERMS_BY_NAME('dbo.t', 'OBJECT', 'SELECT')", Value::Int(1)),
        ("HAS_PERMS_BY_NAME('dbo.t', 'OBJECT', 'INSERT')", Value::Int(0)),
        ("HAS_PERMS_BY_NAME('dbo.t', 'OBJECT', 'ANY')", Value::Int(1)),
        ("HAS_PERMS_BY_NAME('dbo.nothing', 'OBJECT', 'SELECT')", Value::Null),
        ("HAS_PERMS_BY_NAME('d', 'DATABASE', 'CONNECT')", Value::Int(1)),
        ("HAS_PERMS_BY_NAME(NULL, NULL, 'VIEW SERVER STATE')", Value::Int(0)),
        ("HAS_PERMS_BY_NAME('dbo', 'SCHEMA', 'SELECT')", Value::Int(1)),
    ] {
        assert_eq!(fixture.value(&mut ann, &format!("SELECT {expression}")), wanted, "{expression}");
    }
    for (expression, wanted) in [
        ("SUSER_SNAME()", Value::from("sa")),
        ("CURRENT_USER", Value::from("dbo")),
        ("IS_MEMBER('db_owner')", Value::Int(1)),
        ("IS_SRVROLEMEMBER('dbcreator')", Value::Int(1)),
        ("HAS_PERMS_BY_NAME(NULL, NULL, 'CONTROL SERVER')", Value::Int(1)),
    ] {
        assert_eq!(fixture.value(&mut owner, &format!("SELECT {expression}")), wanted, "{expression}");
    }
}
