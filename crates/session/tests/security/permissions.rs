//! GRANT, DENY, REVOKE; what each statement needs; roles, chains of owners, EXECUTE AS.

use crate::fixture::Fixture;
use pikepole_machine::OpenOptions;
use pikepole_types::Value;

#[test]
fn each_statement_needs_its_permission() {
    let fixture = Fixture::with_logins(&["ann"]);
    let (mut owner, mut ann) = (fixture.owner(), fixture.login("ann"));
    fixture.succeeds(&mut owner, "CREATE PROCEDURE dbo.p AS SELECT 7");
    for (permission, sql, object) in [
        ("SELECT", "SELECT v FROM dbo.t", "t"),
        ("SELECT", "SELECT 1 FROM (SELECT k FROM t) AS x", "t"),
        ("SELECT", "IF EXISTS (SELECT * FROM dbo.t) PRINT 'x'", "t"),
        ("INSERT", "INSERT dbo.t VALUES (9, 9)", "t"),
        ("UPDATE", "UPDATE dbo.t SET v = 1", "t"),
        ("DELETE", "DELETE dbo.t", "t"),
        ("EXECUTE", "EXEC dbo.p", "p"),
    ] {
        let error = fixture.error(&mut ann, sql);
        let wanted =
            format!("The {permission} permission was denied on the object '{object}', database 'd', schema 'dbo'.");
        assert_eq!((error.number, error.severity, error.state, error.message), (229, 14, 5, wanted), "{sql}");
        fixture.succeeds(&mut owner, &format!("GRANT {permission} ON dbo.{object} TO ann"));
        fixture.succeeds(&mut ann, &format!("BEGIN TRAN; {sql}; ROLLBACK"));
        fixture.succeeds(&mut owner, &format!("REVOKE {permission} ON dbo.{object} FROM ann"));
        fixture.fails(&mut ann, 229, sql);
    }
    assert_eq!(fixture.value(&mut owner, "SELECT SUM(v) FROM dbo.t"), Value::Int(30));
}

#[test]
fn names_that_lead_elsewhere_need_what_is_granted_there() {
    let fixture = Fixture::with_logins(&["ann", "bob"]);
    let (mut sa, mut owner) = (fixture.sa(), fixture.owner());
    let (mut ann, mut bob) = (fixture.login("ann"), fixture.login("bob"));
    // What all sessions see of tempdb is everybody's.
    fixture.succeeds(&mut ann, "CREATE TABLE ##g (a int); INSERT ##g VALUES (1)");
    fixture.succeeds(&mut bob, "UPDATE ##g SET a = 2; CREATE INDEX i ON ##g (a); DROP TABLE tempdb..##g");
    // Another database: 916 for who is no user there, 229 for who was granted nothing.
    fixture.succeeds(&mut sa, "CREATE DATABASE e; CREATE TABLE e.dbo.u (a int); INSERT e.dbo.u VALUES (5)");
    fixture.fails(&mut ann, 916, "SELECT a FROM e.dbo.u");
    fixture.fails(&mut ann, 916, "DROP TABLE e.dbo.u");
    fixture.succeeds(&mut sa, "USE e; CREATE USER ann FOR LOGIN ann; USE master");
    fixture.fails(&mut ann, 229, "SELECT a FROM e.dbo.u");
    fixture.fails(&mut ann, 3701, "DROP TABLE e.dbo.u");
    fixture.fails(&mut ann, 262, "CREATE TABLE e.dbo.mine (a int)");
    fixture.succeeds(&mut sa, "USE e; GRANT SELECT ON dbo.u TO ann; USE master");
    assert_eq!(fixture.value(&mut ann, "SELECT a FROM e.dbo.u"), Value::Int(5));
    fixture.fails(&mut ann, 229, "INSERT e.dbo.u VALUES (6)");
    // No chain of owners leads into it.
    fixture.succeeds(&mut owner, "CREATE VIEW dbo.far AS SELECT v FROM dbo.t WHERE EXISTS (SELECT a FROM e.dbo.u)");
    fixture.succeeds(&mut owner, "GRANT SELECT ON dbo.far TO ann, bob");
    fixture.succeeds(&mut ann, "SELECT v FROM dbo.far");
    fixture.fails(&mut bob, 916, "SELECT v FROM dbo.far");
    // A synonym is used by who may use it, and leads to what its owner owns.
    fixture.succeeds(&mut owner, "CREATE SYNONYM dbo.s FOR dbo.t; CREATE SYNONYM dbo.z FOR e.dbo.u");
    fixture.fails(&mut ann, 229, "SELECT v FROM dbo.s");
    fixture.succeeds(&mut owner, "GRANT SELECT ON dbo.s TO ann; GRANT SELECT ON dbo.z TO ann, bob");
    fixture.succeeds(&mut ann, "SELECT v FROM dbo.s; SELECT a FROM dbo.z");
    fixture.fails(&mut ann, 229, "DELETE dbo.s");
    fixture.fails(&mut bob, 916, "SELECT a FROM dbo.z");
    fixture.fails(&mut ann, 262, "CREATE SYNONYM dbo.mine FOR dbo.t");
    fixture.fails(&mut ann, 3701, "DROP SYNONYM dbo.s");
    fixture.fails(&mut ann, 15151, "ALTER SCHEMA dbo TRANSFER dbo.s");
    fixture.fails(&mut ann, 1088, "ALTER INDEX ALL ON dbo.t REBUILD");
}

#[test]
fn loading_a_file_needs_a_permission_of_the_server_and_insert() {
    let fixture = Fixture::with_logins(&["ann"]);
    let (mut sa, mut owner, mut ann) = (fixture.sa(), fixture.owner(), fixture.login("ann"));
    let path = fixture.server.folder().join("rows.csv");
    let file = fixture.server.disk().open(path, OpenOptions { create: true, ..OpenOptions::default() });
    file.and_then(|file| file.write_at(b"7,70\n8,80\n", 0)).expect("a file that can be written");
    let load = "BULK INSERT dbo.t FROM 'rows.csv' WITH (FORMAT = 'CSV')";
    fixture.fails(&mut ann, 4834, load);
    let read = "SELECT DATALENGTH(BulkColumn) FROM OPENROWSET(BULK 'rows.csv', SINGLE_BLOB) AS f";
    fixture.fails(&mut ann, 4834, read);
    let rows = "SELECT n FROM OPENROWSET(BULK 'rows.csv', FORMAT = 'CSV') WITH (n int, m int) AS f";
    fixture.fails(&mut ann, 4834, rows);
    // Nor does anybody learn what a format file has in it, or whether it is there.
    fixture.fails(&mut ann, 4834, "SELECT * FROM OPENROWSET(BULK 'rows.csv', FORMATFILE = 'none.fmt') AS f");
    fixture.fails(&mut ann, 4834, "BULK INSERT dbo.t FROM 'rows.csv' WITH (FORMATFILE = 'none.fmt')");
    // No chain of owners leads to a file.
    fixture
        .succeeds(&mut owner, &format!("CREATE VIEW dbo.f AS {}", read.replace("(BulkColumn)", "(BulkColumn) AS n")));
    fixture.succeeds(&mut owner, "GRANT SELECT ON dbo.f TO ann");
    fixture.fails(&mut ann, 4834, "SELECT n FROM dbo.f");
    fixture.succeeds(&mut owner, "GRANT INSERT ON dbo.t TO ann");
    fixture.fails(&mut ann, 4834, load);
    fixture.succeeds(&mut sa, "GRANT ADMINISTER BULK OPERATIONS TO ann");
    fixture.succeeds(&mut ann, load);
    fixture.succeeds(&mut ann, read);
    fixture.succeeds(&mut ann, rows);
    fixture.succeeds(&mut ann, "SELECT n FROM dbo.f");
    fixture.succeeds(&mut owner, "REVOKE INSERT ON dbo.t FROM ann; DELETE dbo.t WHERE k > 2");
    fixture.fails(&mut ann, 229, load);
    assert_eq!(fixture.value(&mut owner, "SELECT SUM(v) FROM dbo.t"), Value::Int(30));
}

#[test]
fn rows_that_a_change_reads_need_select_too() {
    let fixture = Fixture::with_logins(&["ann"]);
    let (mut owner, mut ann) = (fixture.owner(), fixture.login("ann"));
    fixture.succeeds(&mut owner, "GRANT UPDATE, DELETE ON dbo.t TO ann");
    for sql in [
        "UPDATE dbo.t SET v = 1 WHERE k = 1",
        "UPDATE dbo.t SET v = v + 1",
        "UPDATE dbo.t SET v += 1",
        "UPDATE x SET v = k FROM dbo.t AS x",
        "DELETE dbo.t WHERE v > 5",
        "DELETE dbo.t WHERE EXISTS (SELECT 1 FROM dbo.t)",
    ] {
        let error = fixture.error(&mut ann, sql);
        assert!(error.message.starts_with("The SELECT permission was denied"), "{sql}: {error}");
    }
    fixture.succeeds(&mut ann, "UPDATE dbo.t SET v = 3; DELETE dbo.t");
}

#[test]
fn denials_win_and_roles_add_up() {
    let fixture = Fixture::with_logins(&["ann"]);
    let (mut owner, mut ann) = (fixture.owner(), fixture.login("ann"));
    let select = "SELECT k FROM dbo.t";
    fixture.succeeds(&mut owner, "CREATE ROLE readers; GRANT SELECT ON SCHEMA::dbo TO readers");
    fixture.fails(&mut ann, 229, select);
    fixture.succeeds(&mut owner, "ALTER ROLE readers ADD MEMBER ann");
    fixture.succeeds(&mut ann, select);
    fixture.succeeds(&mut owner, "DENY SELECT ON dbo.t TO ann");
    fixture.fails(&mut ann, 229, select);
    fixture.succeeds(&mut owner, "GRANT SELECT ON dbo.t TO ann");
    fixture.succeeds(&mut ann, select);
    fixture.succeeds(&mut owner, "REVOKE SELECT ON dbo.t FROM ann; DENY SELECT TO public");
    fixture.fails(&mut ann, 229, select);
    fixture.succeeds(&mut owner, "REVOKE SELECT FROM public; EXEC sp_droprolemember 'readers', 'ann'");
    fixture.fails(&mut ann, 229, select);
    fixture
        .succeeds(&mut owner, "EXEC sp_addrolemember 'db_datareader', 'ann'; ALTER ROLE db_datawriter ADD MEMBER ann");
    fixture.succeeds(&mut ann, "SELECT k FROM dbo.t; INSERT dbo.t VALUES (3, 3); UPDATE dbo.t SET v = v; DELETE dbo.t");
    fixture.succeeds(&mut owner, "ALTER ROLE db_denydatawriter ADD MEMBER ann");
    fixture.fails(&mut ann, 229, "DELETE dbo.t");
    fixture.fails(
        &mut owner,
        15144,
        "DROP ROLE IF EXISTS nothing; ALTER ROLE readers ADD MEMBER ann; DROP ROLE readers",
    );
    fixture.fails(
        &mut owner,
        15413,
        "CREATE ROLE inner1; ALTER ROLE readers ADD MEMBER inner1; ALTER ROLE inner1 ADD MEMBER readers",
    );
    fixture.fails(&mut owner, 15150, "DROP ROLE db_owner");
    fixture.fails(&mut owner, 15081, "ALTER ROLE public ADD MEMBER ann");
}

#[test]
fn a_loop_that_runs_learns_of_a_revocation() {
    let fixture = Fixture::with_logins(&["ann"]);
    let (mut owner, mut ann) = (fixture.owner(), fixture.login("ann"));
    fixture.succeeds(&mut owner, "GRANT SELECT, INSERT ON dbo.t TO ann; DELETE dbo.t");
    let schedulers = fixture.server.schedulers().clone();
    let info = ann.task_info();
    let task = schedulers.spawn(info, pikepole_scheduler::Placement::LeastLoaded, async move {
        let mut output = pikepole_query::Collected::default();
        let sql = "DECLARE @k int = 0; WHILE @k < 1000 BEGIN \
                   WAITFOR DELAY '00:00:00.010'; INSERT dbo.t VALUES (@k, 0); IF @@ERROR <> 0 BREAK; SET @k += 1 END";
        ann.run(sql, &mut [], &mut output).await;
        output
    });
    fixture.succeeds(&mut owner, "WAITFOR DELAY '00:00:00.500'; REVOKE INSERT ON dbo.t FROM ann");
    let output = schedulers.block_on(task).expect("it does not panic");
    let numbers: Vec<i32> = output.errors().iter().map(|error| error.number).collect();
    assert_eq!(numbers, [229]);
    let rows = fixture.value(&mut owner, "SELECT COUNT(*) FROM dbo.t").as_i64().unwrap_or(0);
    assert!((1..1000).contains(&rows), "{rows}");
}

#[test]
fn a_loop_of_an_administrator_ends_when_he_is_none() {
    let fixture = Fixture::with_logins(&["ann"]);
    let mut sa = fixture.sa();
    fixture.succeeds(&mut sa, "ALTER SERVER ROLE sysadmin ADD MEMBER ann");
    let mut ann = fixture.login("ann");
    let schedulers = fixture.server.schedulers().clone();
    let task = schedulers.spawn(ann.task_info(), pikepole_scheduler::Placement::LeastLoaded, async move {
        let mut output = pikepole_query::Collected::default();
        let sql = "DECLARE @i int = 0, @n int; WHILE @i < 20000 BEGIN \
                   SELECT @n = COUNT(*) FROM dbo.t; IF @@ERROR <> 0 BREAK; SET @i += 1; \
                   IF @i % 100 = 0 WAITFOR DELAY '00:00:00.010' END";
        ann.run(sql, &mut [], &mut output).await;
        output
    });
    // What is master's reaches the loop at the end of one of its quanta.
    fixture.succeeds(&mut sa, "WAITFOR DELAY '00:00:00.100'; ALTER SERVER ROLE sysadmin DROP MEMBER ann");
    let output = schedulers.block_on(task).expect("it does not panic");
    let numbers: Vec<i32> = output.errors().iter().map(|error| error.number).collect();
    assert_eq!(numbers, [229]);
}

#[test]
fn an_administrator_of_yesterday_is_none_in_the_next_batch() {
    let fixture = Fixture::with_logins(&["ann"]);
    let mut sa = fixture.sa();
    fixture.succeeds(&mut sa, "EXEC sp_addsrvrolemember 'ann', 'sysadmin'");
    let mut ann = fixture.login("ann");
    assert_eq!(fixture.value(&mut ann, "SELECT USER_NAME()"), Value::from("dbo"));
    fixture.succeeds(&mut ann, "SELECT v FROM dbo.t");
    fixture.succeeds(&mut sa, "ALTER SERVER ROLE sysadmin DROP MEMBER ann");
    fixture.fails(&mut ann, 229, "SELECT v FROM dbo.t");
    assert_eq!(fixture.value(&mut ann, "SELECT USER_NAME()"), Value::from("ann"));
}

#[test]
fn procedures_and_views_lend_their_owners_rights() {
    let fixture = Fixture::with_logins(&["ann"]);
    let (mut owner, mut ann) = (fixture.owner(), fixture.login("ann"));
    for sql in [
        "CREATE PROCEDURE dbo.p AS INSERT dbo.t VALUES (5, 5); SELECT COUNT(*) FROM dbo.t; EXEC dbo.inner_p",
        "CREATE PROCEDURE dbo.inner_p AS DELETE dbo.t WHERE k = 5",
        "CREATE PROCEDURE dbo.by_text AS EXEC ('SELECT k FROM dbo.t')",
        "CREATE VIEW dbo.w AS SELECT k FROM dbo.t",
        "CREATE VIEW dbo.ww AS SELECT k FROM dbo.w",
        "CREATE USER other WITHOUT LOGIN",
        "CREATE SCHEMA s AUTHORIZATION other",
        "CREATE TABLE s.u (k int)",
        "CREATE VIEW dbo.across AS SELECT k FROM s.u",
        "CREATE PROCEDURE dbo.into_s AS INSERT s.u VALUES (1)",
        "CREATE PROCEDURE s.within AS INSERT s.u VALUES (1)",
        "GRANT EXECUTE TO ann; GRANT SELECT ON dbo.ww TO ann; GRANT SELECT ON dbo.across TO ann",
    ] {
        fixture.succeeds(&mut owner, sql);
    }
    fixture.succeeds(&mut ann, "EXEC dbo.p; SELECT k FROM dbo.ww; EXEC s.within");
    for (sql, object, schema) in [
        ("EXEC dbo.by_text", "t", "dbo"),
        ("SELECT k FROM dbo.w", "w", "dbo"),
        ("SELECT k FROM dbo.across", "u", "s"),
        ("EXEC dbo.into_s", "u", "s"),
        ("SELECT k FROM dbo.t", "t", "dbo"),
    ] {
        let error = fixture.error(&mut ann, sql);
        let wanted = format!("on the object '{object}', database 'd', schema '{schema}'.");
        assert!(error.number == 229 && error.message.ends_with(&wanted), "{sql}: {error}");
    }
}

#[test]
fn inline_functions_lend_their_owners_rights() {
    let fixture = Fixture::with_logins(&["ann"]);
    let (mut owner, mut ann) = (fixture.owner(), fixture.login("ann"));
    fixture.succeeds(
        &mut owner,
        "CREATE FUNCTION dbo.of_key (@k int) RETURNS table AS RETURN SELECT k, v FROM dbo.t WHERE k = @k",
    );
    fixture.succeeds(
        &mut owner,
        "CREATE VIEW dbo.first AS SELECT f.v FROM (SELECT 1 AS k) AS n CROSS APPLY dbo.of_key(n.k) AS f",
    );
    let sql = "SELECT v FROM dbo.of_key(1)";
    let denied = |fixture: &Fixture, ann: &mut _| {
        let error = fixture.error(ann, sql);
        assert_eq!((error.number, error.state), (229, 5));
        assert!(error.message.contains("'of_key'"), "{}", error.message);
    };
    denied(&fixture, &mut ann);
    fixture.succeeds(&mut owner, "GRANT SELECT ON dbo.t TO ann");
    denied(&fixture, &mut ann);
    fixture.succeeds(&mut owner, "REVOKE SELECT ON dbo.t FROM ann; GRANT SELECT ON dbo.of_key TO ann");
    let v = fixture.value(&mut owner, "SELECT v FROM dbo.t WHERE k = 1");
    assert_eq!(fixture.value(&mut ann, sql), v);
    fixture.succeeds(&mut owner, "DENY SELECT ON dbo.of_key TO ann");
    denied(&fixture, &mut ann);
    // A view of the same owner leads to it.
    fixture.fails(&mut ann, 229, "SELECT v FROM dbo.first");
    fixture.succeeds(&mut owner, "GRANT SELECT ON dbo.first TO ann");
    assert_eq!(fixture.value(&mut ann, "SELECT v FROM dbo.first"), v);
}

#[test]
fn what_can_be_granted_and_by_whom() {
    let fixture = Fixture::with_logins(&["ann", "bob", "eve"]);
    let mut owner = fixture.owner();
    let (mut ann, mut bob) = (fixture.login("ann"), fixture.login("bob"));
    for (number, sql) in [
        (4606, "GRANT EXECUTE ON dbo.t TO ann"),
        (15151, "GRANT SELECT ON dbo.nothing TO ann"),
        (15151, "GRANT SELECT ON dbo.t TO nobody"),
        (4617, "GRANT SELECT ON dbo.t TO db_owner"),
        (4624, "GRANT SELECT ON dbo.t TO dbo"),
        (4621, "GRANT VIEW SERVER STATE TO ann"),
        (40517, "GRANT SELECT ON dbo.t TO ann AS bob"),
        (102, "GRANT FLY TO ann"),
    ] {
        fixture.fails(&mut owner, number, sql);
    }
    fixture.fails(&mut ann, 15151, "GRANT SELECT ON dbo.t TO bob");
    fixture.succeeds(&mut owner, "GRANT SELECT ON dbo.t TO ann");
    fixture.fails(&mut ann, 4613, "GRANT SELECT ON dbo.t TO bob");
    fixture.succeeds(&mut owner, "GRANT SELECT ON dbo.t TO ann WITH GRANT OPTION");
    fixture.succeeds(&mut ann, "GRANT SELECT ON dbo.t TO bob");
    fixture.fails(&mut ann, 4613, "GRANT INSERT ON dbo.t TO bob");
    fixture.succeeds(&mut bob, "SELECT k FROM dbo.t");
    fixture.fails(&mut owner, 4611, "REVOKE SELECT ON dbo.t FROM ann");
    fixture.succeeds(&mut owner, "REVOKE SELECT ON dbo.t FROM ann CASCADE");
    fixture.fails(&mut ann, 229, "SELECT k FROM dbo.t");
    fixture.fails(&mut bob, 229, "SELECT k FROM dbo.t");
}

#[test]
fn a_dropped_object_takes_its_permissions_along() {
    let fixture = Fixture::with_logins(&["ann"]);
    let (mut owner, mut ann) = (fixture.owner(), fixture.login("ann"));
    fixture.succeeds(&mut owner, "GRANT SELECT ON dbo.t TO ann; DROP TABLE dbo.t");
    assert_eq!(
        fixture.value(&mut owner, "SELECT COUNT(*) FROM sys.database_permissions WHERE class = 1"),
        Value::Int(0)
    );
    fixture.succeeds(&mut owner, "CREATE TABLE dbo.t (k int)");
    fixture.fails(&mut ann, 229, "SELECT k FROM dbo.t");
}

#[test]
fn a_grant_that_is_rolled_back_was_none() {
    let fixture = Fixture::with_logins(&["ann"]);
    let (mut owner, mut ann) = (fixture.owner(), fixture.login("ann"));
    fixture.succeeds(&mut owner, "BEGIN TRAN; GRANT SELECT ON dbo.t TO ann; CREATE ROLE r; ROLLBACK");
    fixture.fails(&mut ann, 229, "SELECT k FROM dbo.t");
    fixture.fails(&mut owner, 15151, "DROP ROLE r");
}

#[test]
fn execute_as_and_revert() {
    let fixture = Fixture::with_logins(&["ann", "bob"]);
    let (mut owner, mut ann) = (fixture.owner(), fixture.login("ann"));
    let who = "SELECT USER_NAME() + ' ' + SUSER_SNAME() + ' ' + ORIGINAL_LOGIN()";
    let value = |session: &mut _, sql: &str| fixture.value(session, sql).as_str().unwrap_or_default().to_string();
    fixture.succeeds(&mut owner, "EXECUTE AS USER = 'ann'");
    assert_eq!(value(&mut owner, who), "ann ann sa");
    fixture.fails(&mut owner, 229, "SELECT k FROM dbo.t");
    fixture.fails(&mut owner, 916, "USE master");
    fixture.fails(&mut owner, 15517, "EXECUTE AS USER = 'dbo'");
    fixture.succeeds(&mut owner, "REVERT; REVERT; SELECT k FROM dbo.t");
    assert_eq!(value(&mut owner, who), "dbo sa sa");
    fixture.succeeds(&mut owner, "EXECUTE AS LOGIN = 'bob'");
    assert_eq!(value(&mut owner, who), "bob bob sa");
    fixture.succeeds(&mut owner, "USE master; USE d; REVERT");
    assert_eq!(value(&mut owner, who), "dbo sa sa");
    fixture.fails(&mut ann, 15517, "EXECUTE AS USER = 'bob'");
    fixture.fails(&mut ann, 15406, "EXECUTE AS LOGIN = 'bob'");
    fixture.succeeds(&mut owner, "GRANT IMPERSONATE ON USER::bob TO ann; GRANT SELECT ON dbo.t TO bob");
    fixture.succeeds(&mut ann, "EXECUTE AS USER = 'bob'; SELECT k FROM dbo.t; REVERT");
    fixture.fails(&mut ann, 229, "SELECT k FROM dbo.t");
    // It ends with the procedure or the text that says it, and REVERT does not reach beyond.
    fixture.succeeds(&mut owner, "CREATE PROCEDURE dbo.p AS EXECUTE AS USER = 'ann'");
    fixture.succeeds(&mut owner, "CREATE PROCEDURE dbo.q AS REVERT");
    assert_eq!(value(&mut owner, &format!("EXEC dbo.p; EXEC ('EXECUTE AS USER = ''bob'''); {who}")), "dbo sa sa");
    fixture.succeeds(&mut owner, "GRANT EXECUTE ON dbo.q TO ann");
    assert_eq!(value(&mut owner, &format!("EXECUTE AS USER = 'ann'; EXEC dbo.q; {who}")), "ann ann sa");
    fixture.fails(&mut owner, 40517, "EXECUTE AS USER = 'ann' WITH NO REVERT");
}

#[test]
fn modules_act_for_whom_their_execute_as_says() {
    let fixture = Fixture::with_logins(&["ann", "bob"]);
    let (mut owner, mut ann) = (fixture.owner(), fixture.login("ann"));
    let value = |session: &mut _, sql: &str| fixture.value(session, sql).as_str().unwrap_or_default().to_string();
    let who = "SELECT USER_NAME() + ' ' + ORIGINAL_LOGIN()";
    fixture.succeeds(&mut owner, "CREATE SCHEMA other");
    fixture.succeeds(&mut owner, "CREATE TABLE other.u (k int)");
    // A text that a procedure runs has no chain of owners: it is asked for permissions.
    let text = "EXEC ('SELECT k FROM dbo.t')";
    fixture.succeeds(&mut owner, &format!("CREATE PROCEDURE dbo.as_caller WITH EXECUTE AS CALLER AS {text}; {who}"));
    fixture.succeeds(&mut owner, &format!("CREATE PROCEDURE dbo.as_owner WITH EXECUTE AS OWNER AS {who}; {text}"));
    fixture.succeeds(&mut owner, &format!("CREATE PROCEDURE dbo.as_self WITH EXECUTE AS SELF AS {who}"));
    fixture.succeeds(&mut owner, &format!("CREATE PROCEDURE dbo.as_bob WITH EXECUTE AS 'bob' AS {who}; {text}"));
    fixture.succeeds(&mut owner, "GRANT EXECUTE ON SCHEMA::dbo TO ann");
    fixture.fails(&mut ann, 229, "EXEC dbo.as_caller");
    assert_eq!(value(&mut ann, "EXEC dbo.as_owner"), "dbo ann");
    assert_eq!(value(&mut ann, "EXEC dbo.as_self"), "dbo ann");
    fixture.fails(&mut ann, 229, "EXEC dbo.as_bob");
    fixture.succeeds(&mut owner, "GRANT SELECT ON dbo.t TO bob");
    assert_eq!(value(&mut ann, "EXEC dbo.as_bob"), "bob ann");
    // It ends with the module, also with one that fails.
    assert_eq!(value(&mut ann, &format!("EXEC dbo.as_owner; {who}")), "dbo ann");
    fixture.succeeds(&mut owner, "CREATE PROCEDURE dbo.failing WITH EXECUTE AS OWNER AS THROW 50001, 'x', 1");
    fixture.fails(&mut ann, 50001, "EXEC dbo.failing");
    assert_eq!(value(&mut ann, who), "ann ann");
    // REVERT does not end it, and EXECUTE AS CALLER does until REVERT.
    fixture.succeeds(&mut owner, &format!("CREATE PROCEDURE dbo.reverting WITH EXECUTE AS OWNER AS REVERT; {who}"));
    assert_eq!(value(&mut ann, "EXEC dbo.reverting"), "dbo ann");
    fixture.succeeds(
        &mut owner,
        &format!("CREATE PROCEDURE dbo.back WITH EXECUTE AS OWNER AS EXECUTE AS CALLER; {who}; REVERT; {text}"),
    );
    assert_eq!(value(&mut ann, "EXEC dbo.back"), "ann ann");
    // A procedure that it calls acts for the same, and ends before it.
    fixture.succeeds(&mut owner, &format!("CREATE PROCEDURE dbo.inner_one AS {who}"));
    fixture.succeeds(&mut owner, "CREATE PROCEDURE dbo.outer_one WITH EXECUTE AS 'bob' AS EXEC other.p");
    fixture.succeeds(&mut owner, "CREATE PROCEDURE other.p WITH EXECUTE AS OWNER AS EXEC dbo.inner_one");
    fixture.succeeds(&mut owner, "GRANT EXECUTE ON SCHEMA::other TO bob");
    assert_eq!(value(&mut ann, "EXEC dbo.outer_one"), "dbo ann");
    // A trigger's is that of its statement's table.
    fixture.succeeds(&mut owner, "CREATE TABLE dbo.log (who varchar(30)); CREATE TABLE dbo.watched (k int)");
    let trigger = "AS EXEC ('INSERT dbo.log VALUES (USER_NAME())')";
    fixture.succeeds(
        &mut owner,
        &format!("CREATE TRIGGER dbo.tr ON dbo.watched WITH EXECUTE AS OWNER AFTER INSERT {trigger}"),
    );
    fixture.succeeds(&mut owner, "GRANT INSERT ON dbo.watched TO ann");
    fixture.succeeds(&mut ann, "INSERT dbo.watched VALUES (1)");
    assert_eq!(value(&mut owner, "SELECT who FROM dbo.log"), "dbo");
    // The views show it; nobody drops a user that a module acts for.
    let shown = "SELECT CAST(execute_as_principal_id AS varchar(10)) FROM sys.sql_modules WHERE object_id = ";
    assert_eq!(value(&mut owner, &format!("{shown} OBJECT_ID('dbo.as_owner')")), "-2");
    assert_eq!(value(&mut owner, &format!("{shown} OBJECT_ID('dbo.as_self')")), "1");
    fixture.fails(&mut owner, 15136, "DROP USER bob");
}

#[test]
fn nobody_makes_a_module_that_acts_for_one_whom_he_may_not_act_for() {
    let fixture = Fixture::with_logins(&["ann", "bob"]);
    let (mut owner, mut ann) = (fixture.owner(), fixture.login("ann"));
    let granted = "GRANT CREATE PROCEDURE, CREATE FUNCTION TO ann; GRANT ALTER ON SCHEMA::dbo TO ann";
    fixture.succeeds(&mut owner, granted);
    fixture.fails(&mut ann, 15517, "CREATE PROCEDURE dbo.p WITH EXECUTE AS OWNER AS SELECT 1");
    fixture.fails(&mut ann, 15517, "CREATE PROCEDURE dbo.p WITH EXECUTE AS 'dbo' AS SELECT 1");
    fixture.fails(&mut ann, 15517, "CREATE PROCEDURE dbo.p WITH EXECUTE AS 'bob' AS SELECT 1");
    fixture.fails(&mut ann, 15517, "CREATE PROCEDURE dbo.p WITH EXECUTE AS 'nobody' AS SELECT 1");
    fixture.succeeds(&mut ann, "CREATE PROCEDURE dbo.p WITH EXECUTE AS SELF AS SELECT 1");
    fixture.fails(&mut ann, 15517, "ALTER PROCEDURE dbo.p WITH EXECUTE AS OWNER AS SELECT 1");
    fixture.succeeds(&mut owner, "GRANT IMPERSONATE ON USER::bob TO ann");
    fixture.succeeds(&mut ann, "ALTER PROCEDURE dbo.p WITH EXECUTE AS 'bob' AS SELECT 1");
    fixture.fails(&mut owner, 40517, "CREATE PROCEDURE #p WITH EXECUTE AS OWNER AS SELECT 1");
    let function = |says: &str, what: &str| format!("CREATE FUNCTION dbo.f() {what} WITH EXECUTE AS {says} AS");
    let of_rows = function("OWNER", "RETURNS TABLE") + " RETURN SELECT 1 AS one";
    fixture.fails(&mut owner, 40517, &of_rows);
    let of_value = |says: &str| function(says, "RETURNS int") + " BEGIN RETURN 1 END";
    for says in ["OWNER", "'dbo'", "'nobody'"] {
        fixture.fails(&mut ann, 15517, &of_value(says));
    }
    fixture.succeeds(&mut ann, &of_value("'bob'"));
    fixture.succeeds(&mut ann, "DROP FUNCTION dbo.f");
    fixture.succeeds(&mut owner, "CREATE FUNCTION dbo.f() RETURNS int WITH EXECUTE AS CALLER AS BEGIN RETURN 1 END");
}

/// RAISERROR WITH LOG, and of a user's message that is to be logged, writes what it says; without the permission nothing is written.
#[test]
fn raised_errors_are_logged() {
    let fixture = Fixture::with_logins(&["eve"]);
    let lines = fixture.log_lines();
    let mut sa = fixture.sa();
    let mut eve = fixture.login("eve");
    fixture.fails(&mut eve, 2778, "RAISERROR('not this', 16, 1) WITH LOG");
    fixture.fails(&mut eve, 2754, "RAISERROR('nor this', 19, 1)");
    fixture.succeeds(&mut sa, "EXEC sp_addmessage 50001, 16, 'user %s', NULL, 'TRUE'");
    fixture.fails(&mut sa, 50000, "RAISERROR('it is %s', 19, 2, 'so') WITH LOG");
    fixture.fails(&mut eve, 50001, "RAISERROR(50001, 16, 1, 'eve')");
    fixture.fails(&mut eve, 50000, "RAISERROR('plain', 16, 1)");
    let lines: Vec<String> = lines.lock().expect("no panic").iter().map(|(_, text)| text.clone()).collect();
    let expected =
        ["Error: 50000, Severity: 19, State: 2.", "it is so", "Error: 50001, Severity: 16, State: 1.", "user eve"];
    assert_eq!(lines, expected);
}
