//! Logging in, well and badly.

use crate::client::{Client, Token, errors, login7};
use crate::fixture::{Fixture, PASSWORD};
use pikepole_server::TlsMode;
use pikepole_tds::PacketKind;
use pikepole_types::Value;
use std::time::Duration;

fn change(tokens: &[Token], kind: u8) -> bool {
    tokens.iter().any(|token| matches!(token, Token::Change(found, _) if *found == kind))
}

#[test]
fn a_login_is_acknowledged_with_its_surroundings() {
    let fixture = Fixture::new();
    let mut client = Client::connect(fixture.address());
    let tokens = client.try_log_in("SA", PASSWORD, "master");
    assert!(errors(&tokens).is_empty(), "{tokens:?}");
    for kind in [1, 2, 4, 7] {
        assert!(change(&tokens, kind), "no change of kind {kind}: {tokens:?}");
    }
    assert!(tokens.iter().any(|token| matches!(token, Token::Info(5701, _))), "{tokens:?}");
    assert!(tokens.iter().any(|token| matches!(token, Token::Info(5703, _))), "{tokens:?}");
    let text = |text: &str| Value::Str(text.to_string());
    assert_eq!(client.scalar("SELECT HOST_NAME()"), text("a host"));
    assert_eq!(client.scalar("SELECT APP_NAME()"), text("a program"));
    assert_eq!(client.scalar("SELECT ORIGINAL_LOGIN()"), text("sa"));
    assert_eq!(client.scalar("SELECT DB_NAME()"), text("master"));
}

#[test]
fn a_bad_login_gets_no_hint() {
    let fixture = Fixture::new();
    let mut texts = Vec::new();
    for (user, password) in [("sa", "wrong"), ("nobody", PASSWORD), ("sa", "")] {
        let mut client = Client::connect(fixture.address());
        let tokens = client.try_log_in(user, password, "");
        assert_eq!(errors(&tokens), [18456], "{tokens:?}");
        assert!(tokens.iter().all(|token| !matches!(token, Token::Error(_, line, _) if *line != 1)), "{tokens:?}");
        texts.extend(tokens.iter().filter_map(|token| match token {
            Token::Error(_, _, text) => Some(text.replace(user, "")),
            _ => None,
        }));
        assert!(client.is_closed());
    }
    texts.dedup();
    assert_eq!(texts.len(), 1, "{texts:?}");
    fixture.await_connections(0);
}

#[test]
fn a_client_may_take_its_own_database_for_one_that_is_not_there() {
    const FLAGS: usize = 24;
    const FATAL: u8 = 0x40;
    let fixture = Fixture::new();
    let mut client = Client::connect(fixture.address());
    let mut login = login7("sa", PASSWORD, "nowhere");
    login[FLAGS] &= !FATAL;
    client.pre_login(2);
    client.send(PacketKind::Login7, 0, &login);
    let tokens = client.reply();
    assert_eq!(errors(&tokens), [4060]);
    assert!(tokens.iter().any(|token| matches!(token, Token::LoginAck(_))), "{tokens:?}");
    assert_eq!(client.scalar("SELECT DB_NAME()"), Value::Str("master".to_string()));
}

#[test]
fn a_database_that_is_not_there_refuses_the_login() {
    let fixture = Fixture::new();
    let mut client = Client::connect(fixture.address());
    assert_eq!(errors(&client.try_log_in("sa", PASSWORD, "nowhere")), [4060, 18456]);
    assert!(client.is_closed());
    // No session is left of it.
    let mut client = fixture.client();
    assert_eq!(client.scalar("SELECT COUNT(*) FROM sys.dm_exec_sessions WHERE is_user_process = 1"), Value::Int(1));
}

#[test]
fn databases_of_the_system_are_made_for_the_first_who_logs_in_to_them() {
    let fixture = Fixture::new();
    for (named, database) in [("TempDB", "tempdb"), ("MSDB", "msdb"), ("model", "model")] {
        let mut client = Client::connect(fixture.address());
        assert!(errors(&client.try_log_in("sa", PASSWORD, named)).is_empty(), "{named}");
        assert_eq!(client.scalar("SELECT DB_NAME()"), Value::Str(database.to_string()));
    }
}

#[test]
fn logins_made_by_sql_come_in() {
    let fixture = Fixture::new();
    fixture.client().run("CREATE LOGIN ada WITH PASSWORD = 'Lovelace 1815'");
    let mut client = Client::connect(fixture.address());
    client.log_in("ada", "Lovelace 1815");
    assert_eq!(client.scalar("SELECT SUSER_SNAME()"), Value::Str("ada".to_string()));
    assert_eq!(errors(&client.batch("KILL 51")), [6102]);
}

#[test]
fn a_session_has_the_language_of_its_client_or_its_login() {
    const LANGUAGE_CHANGE: u8 = 2;
    let fixture = Fixture::new();
    fixture.client().run("CREATE LOGIN jean WITH PASSWORD = 'a Password 1', DEFAULT_LANGUAGE = French");
    let told = |tokens: &[crate::client::Token]| {
        tokens.iter().any(|token| matches!(token, crate::client::Token::Change(LANGUAGE_CHANGE, _)))
    };
    for (asked, language) in [("", "Français"), ("british", "British")] {
        let mut client = Client::connect(fixture.address());
        assert!(told(&client.try_log_in_with("jean", "a Password 1", "", asked)));
        let own = Value::Str(language.to_string());
        assert_eq!(client.scalar("SELECT @@LANGUAGE"), own);
        assert!(!told(&client.batch("SELECT 1")));
        assert!(told(&client.batch("SET LANGUAGE German")));
        assert!(errors(&client.call(&[crate::client::Call::name("sp_reset_connection")])).is_empty());
        assert_eq!(client.scalar("SELECT @@LANGUAGE"), own);
    }
    let mut client = Client::connect(fixture.address());
    assert_eq!(errors(&client.try_log_in_with("jean", "a Password 1", "", "Klingon")), [2740]);
    assert!(client.is_closed());
}

#[test]
fn who_does_not_log_in_is_let_go() {
    let fixture = Fixture::with(|options| options.login_time = Duration::from_millis(50));
    let mut silent = Client::connect(fixture.address());
    let mut half = Client::connect(fixture.address());
    std::io::Write::write_all(half.socket(), &[0x12, 1, 0, 40, 0]).expect("the server reads");
    assert!(silent.is_closed() && half.is_closed());
    fixture.await_connections(0);
}

#[test]
fn there_are_no_more_connections_than_allowed() {
    let fixture = Fixture::with(|options| {
        options.connections_max = 2;
        // It is not the time that ends the third.
        options.login_time = Duration::from_secs(3600);
    });
    let clients = [fixture.client(), fixture.client()];
    let mut third = Client::connect(fixture.address());
    assert!(third.is_closed());
    drop(clients);
    fixture.await_connections(0);
    fixture.client().run("SELECT 1");
}

#[test]
fn a_plain_login_is_refused_where_encryption_is_required() {
    let fixture = Fixture::with(|options| options.tls = TlsMode::Required);
    let mut client = Client::connect(fixture.address());
    client.send(pikepole_tds::PacketKind::PreLogin, 0, &[1, 0, 6, 0, 1, 0xFF, 2]);
    let reply = client.message();
    let reply = pikepole_tds::PreLogin::parse(&reply).expect("a reply");
    assert_eq!(reply.encryption, pikepole_tds::ClientEncryption::Required);
    assert!(client.is_closed());
    let mut client = Client::connect(fixture.address());
    client.send(pikepole_tds::PacketKind::Login7, 0, &crate::client::login7("sa", PASSWORD, ""));
    assert!(client.is_closed());
    assert!(fixture.folder().join("server-key.pem").exists());
    use std::os::unix::fs::PermissionsExt;
    let key = std::fs::metadata(fixture.folder().join("server-key.pem")).expect("it is there");
    assert_eq!(key.permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_login_brings_its_new_password() {
    let fixture = Fixture::new();
    fixture.client().run("CREATE LOGIN eva WITH PASSWORD = 'an old one 1'");
    let mut guessing = Client::connect(fixture.address());
    assert_eq!(errors(&guessing.try_log_in_changing("eva", "a guess", "a new one 2")), [18456]);
    let mut changing = Client::connect(fixture.address());
    assert!(errors(&changing.try_log_in_changing("eva", "an old one 1", "a new öne 2")).is_empty());
    assert_eq!(changing.scalar("SELECT SUSER_SNAME()"), Value::Str("eva".into()));
    assert_eq!(errors(&Client::connect(fixture.address()).try_log_in("eva", "an old one 1", "")), [18456]);
    Client::connect(fixture.address()).log_in("eva", "a new öne 2");
    let long = "x".repeat(129);
    let mut refused = Client::connect(fixture.address());
    assert_eq!(
        errors(&refused.try_log_in_changing("eva", "a new öne 2", &long)),
        [4002],
        "no password is longer than 128"
    );
    assert!(refused.is_closed());
    Client::connect(fixture.address()).log_in("eva", "a new öne 2");
}

#[test]
fn a_client_that_is_not_of_odbc_begins_with_other_options() {
    let fixture = Fixture::new();
    let mut login = crate::client::login7("sa", PASSWORD, "");
    // fODBC
    login[25] &= !0x02;
    let mut client = Client::connect(fixture.address());
    client.send(pikepole_tds::PacketKind::Login7, 0, &login);
    assert!(errors(&client.reply()).is_empty());
    // ANSI_PADDING is on.
    let begins = Value::Int(16);
    assert_eq!(client.scalar("SELECT @@OPTIONS"), begins);
    assert_eq!(client.scalar("SELECT \"a text\""), Value::Str("a text".into()));
    client.run("SET ANSI_DEFAULTS ON");
    assert!(errors(&client.call(&[crate::client::Call::name("sp_reset_connection")])).is_empty());
    assert_eq!(client.scalar("SELECT @@OPTIONS"), begins);
}

/// Clients that connect and say nothing keep a part of the places at most, and make room for others.
#[test]
fn silent_connections_do_not_keep_others_out() {
    let fixture = Fixture::with(|options| options.connections_max = 32);
    let silent: Vec<std::net::TcpStream> =
        (0..100).map(|_| std::net::TcpStream::connect(fixture.address()).expect("it listens")).collect();
    let mut client = fixture.client();
    assert_eq!(client.scalar("SELECT 1"), Value::Int(1));
    // A quarter of all places is for connections before their login: the client had one of the eight.
    fixture.await_connections(8);
    drop(silent);
}

/// A client that has gone is not waited for: neither its password's turn nor its delay keeps its place.
#[test]
fn a_client_that_hangs_up_leaves_at_once() {
    let fixture = Fixture::new();
    let mut watcher = fixture.client();
    watcher.run("CREATE LOGIN ada WITH PASSWORD = 'Lovelace 1815'");
    for number in 0..40 {
        let mut client = Client::connect(fixture.address());
        client.pre_login(2);
        // From the sixth failure on an answer comes three seconds later.
        client.send(PacketKind::Login7, 0, &login7("ada", &format!("guess {number}"), ""));
    }
    fixture.await_connections(1);
    assert_eq!(fixture.client().scalar("SELECT 1"), Value::Int(1));
}
