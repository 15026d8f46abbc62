//! What happens to sessions beside their requests: attention, reset, kill, shutdown, the views.

use crate::client::{ATTENTION, Call, Client, DONE, ERROR, Token, dones, errors, rows};
use crate::fixture::{Fixture, PASSWORD};
use pikepole_types::Value;
use std::io::{Read, Write};

/// Runs until it is stopped.
const ENDLESS: &str = "WHILE 1 = 1 SET NOCOUNT ON";
/// The bits of a request that resets its session, and of one that keeps the transaction.
const RESET: u8 = 0x08;
const RESET_KEEPING: u8 = 0x10;

fn count_running(client: &mut Client) -> Value {
    client.scalar("SELECT COUNT(*) FROM sys.dm_exec_requests WHERE session_id > 50 AND session_id <> @@SPID")
}

fn await_running(client: &mut Client, count: i32) {
    for _ in 0..5_000 {
        if count_running(client) == Value::Int(count) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    panic!("there are {:?} requests, not {count}", count_running(client));
}

#[test]
fn an_attention_ends_what_runs() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    for sql in [ENDLESS, "WAITFOR DELAY '00:10:00'", "WHILE 1 = 1 SELECT value FROM GENERATE_SERIES(1, 100000)"] {
        client.send_batch(sql);
        client.attention();
        // The answer ends, and says that it failed; the acknowledgement is a message of its own, which some clients wait for.
        let ends = dones(&client.reply());
        assert_eq!(ends.last(), Some(&(DONE, ERROR, 0)), "{sql}");
        assert_eq!(dones(&client.reply()), [(DONE, ATTENTION, 0)], "{sql}");
    }
    client.send(pikepole_tds::PacketKind::Attention, 0, &[]);
    assert_eq!(dones(&client.reply()), [(DONE, ATTENTION, 0)], "an attention that comes too late");
    assert_eq!(client.scalar("SELECT 1"), Value::Int(1));
}

#[test]
fn a_client_that_goes_takes_its_request_with_it() {
    let fixture = Fixture::new();
    let mut watcher = fixture.client();
    let mut client = fixture.client();
    client.run("CREATE TABLE dbo.t (id int)");
    client.run("BEGIN TRANSACTION; INSERT dbo.t VALUES (1)");
    client.send_batch(ENDLESS);
    await_running(&mut watcher, 1);
    drop(client);
    await_running(&mut watcher, 0);
    fixture.await_connections(1);
    assert_eq!(watcher.scalar("SELECT COUNT(*) FROM dbo.t"), Value::Int(0));
}

#[test]
fn a_request_sent_ahead_waits_its_turn() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.send_batch("WAITFOR DELAY '00:00:00.05'; SELECT 1");
    client.send_batch("SELECT 2");
    assert_eq!(rows(&client.reply()), [&[Value::Int(1)][..]]);
    assert_eq!(rows(&client.reply()), [&[Value::Int(2)][..]]);
}

#[test]
fn a_reset_gives_a_fresh_session() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.run("CREATE DATABASE other; CREATE TABLE dbo.t (id int)");
    client.run("USE other; SET NOCOUNT ON; SET TRANSACTION ISOLATION LEVEL SNAPSHOT");
    client.run("BEGIN TRANSACTION");
    let spid = client.scalar("SELECT @@SPID");
    client.send_batch_with(RESET, "SELECT @@SPID, @@TRANCOUNT, DB_NAME()");
    let tokens = client.reply();
    for kind in [1, 10, 18] {
        assert!(tokens.iter().any(|token| matches!(token, Token::Change(found, _) if *found == kind)), "{tokens:?}");
    }
    let fresh = [spid, Value::Int(0), Value::Str("master".to_string())];
    assert_eq!(rows(&tokens), [&fresh[..]]);
    assert_eq!(dones(&tokens).last(), Some(&(DONE, crate::client::COUNT, 1)), "NOCOUNT is off again");
    client.run("BEGIN TRANSACTION; SET NOCOUNT ON");
    client.send_batch_with(RESET_KEEPING, "SELECT @@TRANCOUNT");
    let tokens = client.reply();
    assert_eq!(rows(&tokens), [&[Value::Int(1)][..]]);
    let handle = Call::number(11).output("").text("").text("SELECT 1").int("", 1);
    assert!(errors(&client.call(&[handle])).is_empty());
    client.send_batch_with(RESET, "SELECT 1");
    client.reply();
    assert_eq!(errors(&client.call(&[Call::number(12).int("", 1)])), [8179], "handles are forgotten");
    client.run("USE other; SET NOCOUNT ON; BEGIN TRANSACTION");
    assert!(errors(&client.call(&[Call::name("sp_reset_connection")])).is_empty());
    assert_eq!(
        rows(&client.run("SELECT @@TRANCOUNT, DB_NAME()")),
        [&[Value::Int(0), Value::Str("master".to_string())][..]]
    );
}

#[test]
fn a_killed_session_is_told_and_closed() {
    let fixture = Fixture::new();
    let mut killer = fixture.client();
    let mut idle = fixture.client();
    let mut busy = fixture.client();
    let id = |client: &mut Client| match client.scalar("SELECT @@SPID") {
        Value::SmallInt(id) => id,
        other => panic!("{other:?}"),
    };
    let (idle_id, busy_id, own_id) = (id(&mut idle), id(&mut busy), id(&mut killer));
    busy.send_batch(ENDLESS);
    await_running(&mut killer, 1);
    killer.run(&format!("KILL {idle_id}"));
    killer.run(&format!("KILL {busy_id}"));
    // Who has asked for nothing is told nothing.
    assert!(idle.is_reset());
    assert_eq!(errors(&busy.reply()), [596]);
    assert!(busy.is_closed());
    fixture.await_connections(1);
    assert_eq!(errors(&killer.batch(&format!("KILL {idle_id}"))), [6106]);
    assert_eq!(errors(&killer.batch(&format!("KILL {own_id}"))), [6104]);
}

#[test]
fn a_database_for_one_user_ends_the_others_and_lets_nobody_in() {
    let fixture = Fixture::new();
    let mut owner = fixture.client();
    owner.run("CREATE DATABASE [shop]");
    owner.run("CREATE LOGIN [guest of the shop] WITH PASSWORD = 'Long enough 1'");
    owner.run("USE [shop]; CREATE TABLE dbo.t (id int PRIMARY KEY); CREATE USER [guest of the shop]");
    let mut other = fixture.client();
    other.run("USE [shop]; BEGIN TRANSACTION; INSERT dbo.t VALUES (1)");
    let in_use = "ALTER DATABASE [shop] SET SINGLE_USER WITH NO_WAIT";
    assert_eq!(errors(&owner.batch(in_use)), [5070, 5069]);
    let tokens = owner.run("ALTER DATABASE [shop] SET SINGLE_USER WITH ROLLBACK IMMEDIATE");
    let told = |token: &Token| matches!(token, Token::Info(5060, _));
    assert_eq!(tokens.iter().filter(|token| told(token)).count(), 2, "{tokens:?}");
    assert!(other.is_reset());
    assert_eq!(owner.scalar("SELECT COUNT(*) FROM dbo.t"), Value::Int(0));
    // One is in it: nobody else comes, by whatever way, and nobody else changes that.
    let mut other = fixture.client();
    assert_eq!(errors(&other.batch("USE [shop]")), [924]);
    assert_eq!(errors(&other.batch("SELECT id FROM [shop].dbo.t")), [924]);
    assert_eq!(errors(&other.batch("ALTER DATABASE [shop] SET MULTI_USER")), [5064, 5069]);
    let mut third = Client::connect(fixture.address());
    assert_eq!(errors(&third.try_log_in("sa", PASSWORD, "shop")), [4060, 18456]);
    // Who leaves it leaves it to the next one.
    owner.run("USE [master]");
    other.run("USE [shop]; SELECT id FROM dbo.t");
    assert_eq!(errors(&owner.batch("USE [shop]")), [924]);
    let access = "SELECT user_access_desc FROM sys.databases WHERE name = 'shop'";
    assert_eq!(owner.scalar(access), Value::Str("SINGLE_USER".to_string()));
    other.run("ALTER DATABASE [shop] SET RESTRICTED_USER");
    owner.run("USE [shop]");
    let mut guest = Client::connect(fixture.address());
    guest.log_in("guest of the shop", "Long enough 1");
    assert_eq!(errors(&guest.batch("USE [shop]")), [923]);
    owner.run("ALTER DATABASE [shop] SET MULTI_USER");
    guest.run("USE [shop]");
    // Only the guest has to go.
    owner.run("ALTER DATABASE [shop] SET RESTRICTED_USER WITH ROLLBACK IMMEDIATE");
    assert!(guest.is_reset());
    other.run("SELECT id FROM dbo.t");
    assert_eq!(errors(&owner.batch("ALTER DATABASE [master] SET SINGLE_USER")), [5058, 5069]);
}

#[test]
fn how_a_database_reads_can_be_set_without_those_who_use_it() {
    let fixture = Fixture::new();
    let (mut owner, mut other) = (fixture.client(), fixture.client());
    owner.run("CREATE DATABASE [shop]");
    owner.run("USE [shop]; CREATE TABLE dbo.t (id int PRIMARY KEY); INSERT dbo.t VALUES (1)");
    other.run("USE [shop]; BEGIN TRANSACTION; INSERT dbo.t VALUES (2)");
    let in_use = "ALTER DATABASE [shop] SET READ_COMMITTED_SNAPSHOT OFF WITH NO_WAIT";
    assert_eq!(errors(&owner.batch(in_use)), [5070, 5069]);
    owner.run("ALTER DATABASE [shop] SET READ_COMMITTED_SNAPSHOT OFF WITH ROLLBACK IMMEDIATE");
    assert!(other.is_reset());
    let mut other = fixture.client();
    other.run("USE [shop]; BEGIN TRANSACTION; INSERT dbo.t VALUES (2)");
    assert_eq!(errors(&owner.batch("SET LOCK_TIMEOUT 0; SELECT id FROM dbo.t")), [1222]);
}

#[test]
fn an_offline_database_is_closed_until_it_is_online() {
    let fixture = Fixture::new();
    let mut owner = fixture.client();
    owner.run("CREATE DATABASE [shop]");
    owner.run("USE [shop]; CREATE TABLE dbo.t (id int PRIMARY KEY); INSERT dbo.t VALUES (1)");
    let mut other = fixture.client();
    other.run("USE [shop]; BEGIN TRANSACTION; INSERT dbo.t VALUES (2)");
    assert_eq!(errors(&owner.batch("ALTER DATABASE [shop] SET OFFLINE WITH NO_WAIT")), [5070, 5069]);
    owner.run("ALTER DATABASE [shop] SET OFFLINE WITH ROLLBACK IMMEDIATE");
    assert!(other.is_reset());
    assert_eq!(owner.scalar("SELECT DB_NAME()"), Value::Str("master".to_string()));
    assert_eq!(errors(&owner.batch("USE shop")), [942]);
    let mut third = Client::connect(fixture.address());
    assert_eq!(errors(&third.try_log_in("sa", PASSWORD, "shop")), [4060, 18456]);
    let state = "SELECT CONCAT(state, state_desc) FROM sys.databases WHERE name = 'shop'";
    assert_eq!(owner.scalar(state), Value::Str("6OFFLINE".to_string()));
    owner.run("ALTER DATABASE shop SET OFFLINE");
    owner.run("ALTER DATABASE shop SET ONLINE; ALTER DATABASE shop SET ONLINE");
    assert_eq!(owner.scalar("SELECT COUNT(*) FROM shop.dbo.t"), Value::Int(1));
    owner.run("ALTER DATABASE shop SET OFFLINE; DROP DATABASE shop");
    assert_eq!(owner.scalar("SELECT COUNT(*) FROM sys.databases WHERE name = 'shop'"), Value::Int(0));
    assert_eq!(errors(&owner.batch("ALTER DATABASE [master] SET OFFLINE")), [5058, 5069]);
    assert_eq!(errors(&owner.batch("ALTER DATABASE nowhere SET ONLINE")), [911]);
}

#[test]
fn a_called_text_can_change_the_database() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.run("CREATE DATABASE [shop]");
    let tokens = client.call(&[Call::number(10).text("USE shop; SET LANGUAGE Deutsch")]);
    assert!(errors(&tokens).is_empty(), "{tokens:?}");
    assert_eq!(client.scalar("SELECT DB_NAME() + @@LANGUAGE"), Value::Str("shopus_english".to_string()));
    // One that a batch calls cannot.
    client.run("EXEC sp_executesql N'USE master'");
    assert_eq!(client.scalar("SELECT DB_NAME()"), Value::Str("shop".to_string()));
}

#[test]
fn a_shutdown_rolls_back_what_is_open_and_keeps_what_is_not() {
    let mut fixture = Fixture::with(|options| options.shutdown_time = std::time::Duration::from_millis(20));
    let mut client = fixture.client();
    client.run("CREATE TABLE dbo.t (id int PRIMARY KEY)");
    client.run("INSERT dbo.t VALUES (1)");
    client.run("BEGIN TRANSACTION; INSERT dbo.t VALUES (2)");
    let mut busy = fixture.client();
    busy.run("BEGIN TRANSACTION; INSERT dbo.t VALUES (3)");
    busy.send_batch(ENDLESS);
    await_running(&mut fixture.client(), 1);
    fixture.stop();
    assert!(client.is_closed() && busy.is_closed());
    let fixture = fixture.restart();
    let mut client = fixture.client();
    assert_eq!(rows(&client.run("SELECT id FROM dbo.t")), [&[Value::Int(1)][..]]);
}

#[test]
fn the_views_show_connections_and_their_waits() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.run("WAITFOR DELAY '00:00:00.02'");
    let tokens = client.run(
        "SELECT c.net_transport, c.encrypt_option, c.client_net_address, s.login_name, s.host_name, s.program_name, \
         s.client_interface_name, s.host_process_id FROM sys.dm_exec_connections AS c \
         JOIN sys.dm_exec_sessions AS s ON s.session_id = c.session_id",
    );
    let text = |text: &str| Value::Str(text.to_string());
    let expected = ["TCP", "FALSE", "127.0.0.1", "sa", "a host", "a program", "a library"].map(text);
    assert_eq!(rows(&tokens), [&[&expected[..], &[Value::Int(42)]].concat()[..]]);
    let waits = "SELECT waiting_tasks_count FROM sys.dm_exec_session_wait_stats WHERE session_id = @@SPID AND wait_type = 'WAITFOR'";
    assert_eq!(client.scalar(waits), Value::BigInt(1));
}

#[test]
fn a_client_that_does_not_read_makes_its_session_wait() {
    let fixture = Fixture::new();
    let mut watcher = fixture.client();
    let mut client = fixture.client();
    client.send_batch("SELECT REPLICATE('x', 8000) FROM GENERATE_SERIES(1, 10000)");
    let waiting = "SELECT COUNT(*) FROM sys.dm_exec_requests WHERE wait_type = 'ASYNC_NETWORK_IO'";
    let mut waits = (0..5_000).map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(1));
        watcher.scalar(waiting) == Value::Int(1)
    });
    assert!(waits.any(|waits| waits), "nothing waits for the client");
    assert_eq!(rows(&client.reply()).len(), 10_000);
}

#[test]
fn health_and_metrics_are_served() {
    let fixture = Fixture::with(|options| options.health = Some(([127, 0, 0, 1], 0).into()));
    let address = fixture.network().health_address().expect("it is served");
    let get = |path: &str| {
        let mut socket = std::net::TcpStream::connect(address).expect("it listens");
        socket.write_all(format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n").as_bytes()).expect("it reads");
        let mut answer = String::new();
        socket.read_to_string(&mut answer).expect("an answer");
        answer
    };
    let _client = fixture.client();
    let health = get("/healthz");
    assert!(health.starts_with("HTTP/1.1 200") && health.ends_with("\r\n\r\nok\n"), "{health}");
    let metrics = get("/metrics");
    assert!(metrics.contains("\npikepole_connections 1\n"), "{metrics}");
    assert!(metrics.contains("pikepole_waits_total{wait_type=\"WRITELOG\"}"), "{metrics}");
    assert!(get("/other").starts_with("HTTP/1.1 404"));
}

#[test]
fn the_error_log_is_read_by_sql() {
    use pikepole_session::error_log::{file, line};
    let fixture = Fixture::new();
    let text = [line(1_795_253_400_123_456, "Server", "one"), line(0, "spid51", "two")].concat();
    std::fs::write(file(fixture.folder(), 0), text).expect("a file");
    let mut client = fixture.client();
    let tokens = client.run("EXEC sp_readerrorlog");
    assert_eq!(rows(&tokens).len(), 2, "{tokens:?}");
    let tokens = client.run("EXEC sp_readerrorlog 0, 1, N'ONE'");
    let expected = [Value::Str("Server".to_string()), Value::Str("one".to_string())];
    assert_eq!(rows(&tokens).iter().map(|row| &row[1..]).collect::<Vec<_>>(), [&expected[..]]);
    assert_eq!(rows(&client.run("EXEC sp_readerrorlog 1")).len(), 0, "there is no such file");
    assert_eq!(errors(&client.batch("EXEC sp_readerrorlog 7")), [22004]);
    client.run("CREATE LOGIN ada WITH PASSWORD = 'Lovelace 1815'");
    let mut other = Client::connect(fixture.address());
    other.log_in("ada", "Lovelace 1815");
    assert_eq!(errors(&other.batch("EXEC sp_readerrorlog")), [300]);
}

/// Clients that connect to the health port and never end their requests, as 600 of a scanner do, do not keep others from an answer.
#[test]
fn half_open_requests_do_not_starve_the_health_port() {
    let fixture = Fixture::with(|options| options.health = Some(([127, 0, 0, 1], 0).into()));
    let address = fixture.network().health_address().expect("it is served");
    let silent: Vec<std::net::TcpStream> = (0..600)
        .map(|number| {
            let mut stream = std::net::TcpStream::connect(address).expect("it listens");
            if number % 2 == 0 {
                // Those that have been dropped already may refuse it.
                let _ = stream.write_all(b"GET /healthz HTTP/1.1\r\n");
            }
            stream
        })
        .collect();
    for _ in 0..3 {
        let mut stream = std::net::TcpStream::connect(address).expect("it listens");
        stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n").expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer:?}");
    }
    drop(silent);
}
