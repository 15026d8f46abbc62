//! Logins: making, verifying, changing, dropping them; databases that they may use.

use crate::fixture::{Fixture, PASSWORD};
use pikepole_engine::LoginFailureReason;
use pikepole_types::Value;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Each try comes from an address of its own: one that comes again too soon is not looked at.
fn reason(fixture: &Fixture, name: &str, password: &str) -> Option<(LoginFailureReason, i32, u8, String)> {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let address = format!("10.0.0.{}", NUMBER.fetch_add(1, Ordering::Relaxed));
    let failure = fixture.server.verify_login_from(name, password, &address).err()?;
    Some((failure.reason, failure.error.number, failure.error.state, failure.error.message))
}

#[test]
fn what_was_wrong_is_told_to_the_server_alone() {
    let fixture = Fixture::with_logins(&["ann"]);
    let text = |name: &str| format!("Login failed for user '{name}'.");
    assert_eq!(reason(&fixture, "ANN", PASSWORD), None);
    for (name, password, why) in [
        ("ann", "guess", LoginFailureReason::WrongPassword),
        ("ann", "", LoginFailureReason::WrongPassword),
        ("nobody", PASSWORD, LoginFailureReason::UnknownName),
        ("public", "", LoginFailureReason::UnknownName),
        ("sysadmin", PASSWORD, LoginFailureReason::UnknownName),
        ("sa", "", LoginFailureReason::NoPassword),
    ] {
        assert_eq!(reason(&fixture, name, password), Some((why, 18456, 1, text(name))));
    }
    let mut sa = fixture.sa();
    fixture.succeeds(&mut sa, "ALTER LOGIN ann DISABLE");
    assert_eq!(reason(&fixture, "ann", "guess").map(|found| found.1), Some(18456));
    assert_eq!(reason(&fixture, "ann", PASSWORD).map(|found| found.1), Some(18470));
    fixture.succeeds(&mut sa, "ALTER LOGIN ann ENABLE; DENY CONNECT SQL TO ann");
    assert_eq!(reason(&fixture, "ann", PASSWORD).map(|found| found.0), Some(LoginFailureReason::ConnectDenied));
}

#[test]
fn failures_are_counted_until_the_password_is_right() {
    let fixture = Fixture::with_logins(&["ann"]);
    let failure = |host: &str| fixture.server.verify_login_from("ann", "guess", host).expect_err("it is wrong");
    assert_eq!((failure("a").failures, failure("b").failures, failure("c").failures), (1, 2, 3));
    // Delays double, so one that does not wait for its answers is soon too early, however slow this machine is.
    let mut again = (0..20).map(|_| failure("a").reason);
    assert!(again.any(|reason| reason == LoginFailureReason::TooSoon));
    fixture.server.verify_login_from("ann", PASSWORD, "d").expect("it is right");
    assert_eq!(failure("e").failures, 1);
}

#[test]
fn sa_has_a_password_once_it_is_set() {
    let fixture = Fixture::new();
    assert!(!fixture.server.has_sa_password());
    fixture.server.set_sa_password("first").expect("it can be set");
    assert!(fixture.server.has_sa_password());
    assert!(fixture.server.verify_login_from("sa", "first", "").is_ok());
    let mut sa = fixture.sa();
    fixture.succeeds(&mut sa, "ALTER LOGIN sa WITH PASSWORD = 'second'");
    assert!(fixture.server.verify_login_from("sa", "first", "").is_err());
    assert!(fixture.server.verify_login_from("sa", "second", "").is_ok());
    fixture.fails(&mut sa, 15150, "ALTER LOGIN sa WITH NAME = boss");
    fixture.fails(&mut sa, 15150, "DROP LOGIN sa");
}

#[test]
fn logins_are_changed_and_dropped() {
    let fixture = Fixture::with_logins(&["ann", "bob"]);
    let mut sa = fixture.sa();
    fixture.fails(&mut sa, 15025, "CREATE LOGIN Ann WITH PASSWORD = 'x'");
    fixture.fails(&mut sa, 40517, "CREATE LOGIN eve WITH PASSWORD = 0x0100 HASHED");
    fixture.fails(&mut sa, 40517, "CREATE LOGIN eve WITH PASSWORD = 'x' MUST_CHANGE");
    fixture.fails(&mut sa, 40517, "CREATE LOGIN eve FROM WINDOWS");
    fixture.fails(&mut sa, 911, "CREATE LOGIN eve WITH PASSWORD = 'x', DEFAULT_DATABASE = nowhere");
    fixture.fails(&mut sa, 15122, "CREATE LOGIN eve WITH PASSWORD = 'x', CHECK_POLICY = OFF, CHECK_EXPIRATION = ON");
    fixture.fails(&mut sa, 15151, "ALTER LOGIN eve DISABLE");
    fixture.succeeds(&mut sa, "CREATE LOGIN eve WITH PASSWORD = 'x', DEFAULT_DATABASE = D, CHECK_POLICY = OFF");
    let eve = fixture.server.verify_login_from("eve", "x", "").expect("it is right");
    assert_eq!(eve.default_database, "d");
    fixture.succeeds(&mut sa, "ALTER LOGIN eve WITH NAME = [Eve Two], PASSWORD = 'y'");
    assert_eq!(fixture.server.verify_login_from("eve two", "y", "").map(|login| login.name), Ok("Eve Two".to_string()));
    let mut ann = fixture.login("ann");
    fixture.fails(&mut sa, 15434, "DROP LOGIN ann");
    fixture.fails(&mut ann, 15151, "ALTER LOGIN bob WITH PASSWORD = 'mine'");
    fixture.fails(&mut ann, 15151, "ALTER LOGIN ann WITH PASSWORD = 'mine'");
    fixture.fails(&mut ann, 15151, "ALTER LOGIN ann WITH PASSWORD = 'mine' OLD_PASSWORD = 'guess'");
    fixture.succeeds(&mut ann, &format!("ALTER LOGIN ann WITH PASSWORD = 'mine' OLD_PASSWORD = '{PASSWORD}'"));
    assert!(fixture.server.verify_login_from("ann", "mine", "").is_ok());
    fixture.fails(&mut ann, 15247, "CREATE LOGIN other WITH PASSWORD = 'x'");
    fixture.fails(&mut ann, 15151, "DROP LOGIN bob");
    fixture.server.schedulers().block_on(ann.close());
    fixture.succeeds(&mut sa, "DROP LOGIN ann");
    fixture.fails(&mut sa, 15151, "DROP LOGIN ann");
    assert!(fixture.server.verify_login_from("ann", "mine", "").is_err());
}

#[test]
fn who_administers_logins_does_not_become_sysadmin_by_it() {
    let fixture = Fixture::with_logins(&["ann", "boss"]);
    let mut sa = fixture.sa();
    fixture.succeeds(&mut sa, "ALTER SERVER ROLE securityadmin ADD MEMBER ann");
    fixture.succeeds(&mut sa, "ALTER SERVER ROLE sysadmin ADD MEMBER boss");
    let mut ann = fixture.login("ann");
    fixture.succeeds(&mut ann, "CREATE LOGIN eve WITH PASSWORD = 'x'; ALTER LOGIN eve DISABLE");
    fixture.fails(&mut ann, 15151, "ALTER LOGIN boss WITH PASSWORD = 'x'");
    fixture.fails(&mut ann, 15151, "ALTER LOGIN sa WITH PASSWORD = 'x'");
    fixture.fails(&mut ann, 15151, "ALTER SERVER ROLE sysadmin ADD MEMBER eve");
    fixture.fails(&mut ann, 15406, "EXECUTE AS LOGIN = 'sa'");
    // A member of a fixed role may fill it.
    fixture.succeeds(&mut ann, "ALTER SERVER ROLE securityadmin ADD MEMBER eve");
}

#[test]
fn a_database_without_a_user_is_closed() {
    let fixture = Fixture::with_logins(&["ann"]);
    let mut sa = fixture.sa();
    fixture.succeeds(&mut sa, "CREATE DATABASE e; CREATE LOGIN bob WITH PASSWORD = 'x'");
    assert_eq!(fixture.login_in("ann", "e").err().map(|error| error.number), Some(4060));
    let mut ann = fixture.login_in("ann", "master").expect("everybody may use master");
    assert_eq!(fixture.value(&mut ann, "SELECT USER_NAME()"), Value::from("guest"));
    let error = fixture.error(&mut ann, "USE e");
    assert_eq!(error.number, 916);
    assert!(error.message.contains("The server principal \"ann\" is not able to access the database \"e\""), "{error}");
    fixture.succeeds(&mut ann, "USE d");
    assert_eq!(fixture.value(&mut ann, "SELECT CURRENT_USER"), Value::from("ann"));
    assert_eq!(fixture.value(&mut ann, "SELECT HAS_DBACCESS('e') * 10 + HAS_DBACCESS('d')"), Value::Int(1));
    fixture.succeeds(&mut sa, "USE e");
    fixture.succeeds(&mut sa, "CREATE USER [Ann E] FOR LOGIN ann");
    fixture.succeeds(&mut ann, "USE e");
    assert_eq!(fixture.value(&mut ann, "SELECT SESSION_USER"), Value::from("Ann E"));
    fixture.succeeds(&mut sa, "DENY CONNECT TO [Ann E]");
    fixture.fails(&mut ann, 916, "SELECT 1");
}

#[test]
fn a_login_of_another_database_waits_for_no_transaction_of_its_maker() {
    let fixture = Fixture::with_logins(&["ann"]);
    let mut sa = fixture.sa();
    // In master it is part of the session's transaction.
    fixture.succeeds(&mut sa, "BEGIN TRAN; CREATE LOGIN eve WITH PASSWORD = 'x'; ROLLBACK");
    assert!(fixture.server.verify_login_from("eve", "x", "").is_err());
    fixture.succeeds(&mut sa, "BEGIN TRAN; CREATE LOGIN eve WITH PASSWORD = 'x'; COMMIT");
    assert!(fixture.server.verify_login_from("eve", "x", "").is_ok());
    let mut owner = fixture.owner();
    fixture.fails(&mut owner, 40517, "BEGIN TRAN; DROP LOGIN eve");
    fixture.succeeds(&mut owner, "ROLLBACK; DROP LOGIN eve");
}

/// Passwords that were hashed, and those that were known to be right without, as the counters say.
fn verified(fixture: &Fixture) -> [i64; 2] {
    let mut sa = fixture.sa();
    ["Password Hashes/sec", "Logins Verified From Cache/sec"].map(|name| {
        let sql = format!("SELECT cntr_value FROM sys.dm_os_performance_counters WHERE counter_name = '{name}'");
        fixture.value(&mut sa, &sql).as_i64().expect("a count")
    })
}

#[test]
fn a_login_that_comes_again_costs_no_hash_until_it_is_altered() {
    let fixture = Fixture::with_logins(&["ann"]);
    let mut sa = fixture.sa();
    let [hashed, known] = verified(&fixture);
    assert_eq!(reason(&fixture, "ann", PASSWORD), None);
    assert_eq!(verified(&fixture), [hashed + 1, known]);
    for number in 1..=3 {
        assert_eq!(reason(&fixture, "ann", PASSWORD), None);
        assert_eq!(verified(&fixture), [hashed + 1, known + number]);
    }
    assert_eq!(reason(&fixture, "ann", "guess").map(|found| found.1), Some(18456));
    assert_eq!(verified(&fixture), [hashed + 2, known + 3], "a wrong one is hashed");
    fixture.succeeds(&mut sa, "ALTER LOGIN ann WITH DEFAULT_DATABASE = master");
    assert_eq!(reason(&fixture, "ann", PASSWORD), None);
    assert_eq!(verified(&fixture), [hashed + 3, known + 3], "what was verified is dropped");
    fixture.succeeds(&mut sa, "ALTER LOGIN ann WITH PASSWORD = 'Another 1'");
    assert_eq!(reason(&fixture, "ann", PASSWORD).map(|found| found.1), Some(18456));
    assert_eq!(verified(&fixture), [hashed + 4, known + 3]);
    assert_eq!(reason(&fixture, "ann", "Another 1"), None);
    assert_eq!(verified(&fixture), [hashed + 5, known + 3]);
}

#[test]
fn only_a_password_that_is_not_known_yet_is_hashed() {
    let fixture = Fixture::with_logins(&["ann"]);
    let server = &fixture.server;
    let hashed = || verified(&fixture)[0];
    let from = |name: &str, password: &str, host: &str| {
        server.verify_login_from(name, password, host).map(|login| login.name).map_err(|failure| failure.reason)
    };
    let begun = hashed();
    for number in 0..50 {
        let name = format!("nobody {number}");
        assert_eq!(from(&name, "guess", "a"), Err(LoginFailureReason::UnknownName));
    }
    assert_eq!(from("sa", "guess", "a"), Err(LoginFailureReason::NoPassword));
    assert_eq!(hashed(), begun, "names that are not there cost no hash");
    for _ in 0..3 {
        assert_eq!(from("ANN", PASSWORD, "b"), Ok("ann".to_string()));
    }
    assert!(hashed() <= begun + 1, "a right password is hashed once");
    let known = hashed();
    assert_eq!(from("ann", "guess", "a"), Err(LoginFailureReason::WrongPassword));
    for host in ["c", "d", "e"] {
        assert_eq!(from("ann", "guess", host), Err(LoginFailureReason::WrongPassword));
    }
    for _ in 0..50 {
        assert!(from("ann", "another guess", "a").is_err());
    }
    assert!(hashed() <= known + 2, "a wrong password is hashed once at most");
    assert_eq!(from("ann", PASSWORD, "a"), Ok("ann".to_string()), "a right one is let in even there");
    assert_eq!(from("ann", PASSWORD, "f"), Ok("ann".to_string()));
}

#[test]
fn what_is_known_of_a_password_ends_with_it() {
    let fixture = Fixture::with_logins(&["ann"]);
    let mut sa = fixture.sa();
    assert_eq!(reason(&fixture, "ann", PASSWORD), None);
    fixture.succeeds(&mut sa, "ALTER LOGIN ann DISABLE");
    assert_eq!(reason(&fixture, "ann", PASSWORD).map(|found| found.0), Some(LoginFailureReason::Disabled));
    fixture.succeeds(&mut sa, "ALTER LOGIN ann ENABLE");
    assert_eq!(reason(&fixture, "ann", PASSWORD), None);
    fixture.succeeds(&mut sa, "ALTER LOGIN ann WITH PASSWORD = 'Another 1'");
    assert_eq!(reason(&fixture, "ann", PASSWORD).map(|found| found.0), Some(LoginFailureReason::WrongPassword));
    assert_eq!(reason(&fixture, "ann", "Another 1"), None);
    fixture.succeeds(&mut sa, &format!("ALTER LOGIN ann WITH PASSWORD = '{PASSWORD}'"));
    assert_eq!(reason(&fixture, "ann", PASSWORD), None, "what was wrong may be right again");
    fixture.succeeds(&mut sa, "DROP LOGIN ann");
    assert_eq!(reason(&fixture, "ann", PASSWORD).map(|found| found.0), Some(LoginFailureReason::UnknownName));
    fixture.succeeds(&mut sa, "CREATE LOGIN ann WITH PASSWORD = 'Third 1'");
    assert_eq!(reason(&fixture, "ann", PASSWORD).map(|found| found.0), Some(LoginFailureReason::WrongPassword));
}
