//! `sys.dm_pikepole_call_trace`: what is traced, of which kind, and where its time went.

use crate::client::{Call, Client, Token, errors, rows};
use crate::fixture::Fixture;
use pikepole_types::Value;

const EXECUTE_SQL: u16 = 10;
const BEGIN: u16 = 5;
const ROLLBACK: u16 = 8;

fn set(client: &mut Client, requests: u32) {
    client.run(&format!("EXEC sp_configure 'call trace', {requests}; RECONFIGURE"));
}

/// The kinds and the calls of what this session is known to have asked.
fn traced(client: &mut Client) -> Vec<(String, i64)> {
    let sql = "SELECT kind, calls FROM sys.dm_pikepole_call_trace WHERE session_id = @@SPID ORDER BY request_number";
    let tokens = client.run(sql);
    let text = |value: &Value| value.as_str().expect("a text").to_string();
    rows(&tokens).iter().map(|row| (text(&row[0]), row[1].as_i64().expect("a number"))).collect()
}

#[test]
fn the_last_requests_are_traced_as_long_as_the_option_says() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.run("CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY)");
    assert_eq!(traced(&mut client), [], "the option is off");
    set(&mut client, 4);
    let insert = |id: i32| Call::number(EXECUTE_SQL).text("INSERT dbo.t VALUES (@id)").text("@id int").int("@id", id);
    let tokens = client.transaction_request(BEGIN, &[0, 0]);
    assert_eq!(errors(&tokens), [0; 0]);
    assert_eq!(errors(&client.call(&[insert(1), insert(2)])), [0; 0]);
    client.transaction_request(ROLLBACK, &[0, 0]);
    client.run("WAITFOR DELAY '00:00:00.050'");
    let kinds = traced(&mut client);
    let kinds: Vec<(&str, i64)> = kinds.iter().map(|(kind, calls)| (kind.as_str(), *calls)).collect();
    assert_eq!(kinds, [("TRANSACTION", 0), ("RPC", 2), ("TRANSACTION", 0), ("BATCH", 0)]);
    let waited = "SELECT COUNT(*) FROM sys.dm_pikepole_call_trace
                  WHERE other_wait_us >= 50000 AND run_us >= other_wait_us AND cpu_us < run_us AND idle_us > 0 AND send_us > 0";
    assert_eq!(client.scalar(waited), Value::Int(1), "the wait of one request");
    let compiled =
        "SELECT COUNT(*) FROM sys.dm_pikepole_call_trace WHERE kind = 'RPC' AND compile_us > 0 AND compile_us < run_us";
    client.call(&[insert(3)]);
    assert_eq!(client.scalar(compiled), Value::Int(0), "its text was compiled before");
    let new = Call::number(EXECUTE_SQL).text("SELECT COUNT(*) AS a_new_text FROM dbo.t");
    assert!(client.call(&[new]).iter().any(|token| matches!(token, Token::Row(_))));
    assert_eq!(client.scalar(compiled), Value::Int(1));
    set(&mut client, 0);
    client.run("SELECT 1");
    assert_eq!(traced(&mut client), []);
}
