//! Server-side cursors, as drivers call them.

use crate::client::{COUNT, Call, Client, DONE_IN_PROCEDURE, DONE_PROCEDURE, MORE, Token, dones, errors, rows};
use crate::fixture::Fixture;
use pikepole_types::{SqlType, Value};

const KEYSET: i32 = 1;
const FORWARD_ONLY: i32 = 4;
const STATIC: i32 = 8;
const PARAMETERIZED: i32 = 0x1000;
const AUTO_FETCH_AND_CLOSE: i32 = 0x6000;
const READ_ONLY: i32 = 1;
const ALLOW_DIRECT: i32 = 0x2000;

/// A client of a server with ten rows in dbo.t.
fn client(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    client.run("CREATE TABLE dbo.t (id int PRIMARY KEY, name varchar(20) NULL)");
    client.run("INSERT dbo.t SELECT TOP 10 ROW_NUMBER() OVER (ORDER BY object_id), 'x' FROM sys.all_objects");
    client
}

fn in_and_out(call: Call, number: i32) -> Call {
    call.with("", 1, &SqlType::Int, &Value::Int(number))
}

/// sp_cursoropen up to its rowcount.
fn open(text: &str, scroll: i32, concurrency: i32) -> Call {
    let call = in_and_out(in_and_out(Call::number(2).output("").text(text), scroll), concurrency);
    in_and_out(call, 3)
}

fn returned(tokens: &[Token]) -> Vec<i32> {
    let number = |token: &Token| match token {
        Token::Returned(_, Value::Int(number)) => Some(*number),
        _ => None,
    };
    tokens.iter().filter_map(number).collect()
}

fn status(tokens: &[Token]) -> Option<i32> {
    tokens.iter().find_map(|token| if let Token::Status(status) = token { Some(*status) } else { None })
}

fn fetch(client: &mut Client, cursor: i32, kind: i32, row: i32, count: i32) -> Vec<Token> {
    client.call(&[Call::number(7).with_columns_known().int("", cursor).int("", kind).int("", row).int("", count)])
}

fn ids(tokens: &[Token]) -> Vec<i64> {
    rows(tokens).iter().map(|row| row[0].as_i64().expect("a number")).collect()
}

#[test]
fn a_cursor_is_scrolled_and_shows_the_rows_of_its_opening() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    let tokens = client.call(&[open("SELECT id, name FROM dbo.t ORDER BY id", KEYSET, 4)]);
    assert!(errors(&tokens).is_empty(), "{tokens:?}");
    let names = ["id", "name", "ROWSTAT"].map(str::to_string).to_vec();
    assert_eq!(tokens[0], Token::Columns(names));
    // No table; three columns of none, the last of which is hidden.
    assert_eq!(tokens[1], Token::Origins(0xA4, Vec::new()));
    assert_eq!(tokens[2], Token::Origins(0xA5, vec![1, 0, 4, 2, 0, 4, 3, 0, 0x14]));
    assert_eq!(dones(&tokens), [(DONE_IN_PROCEDURE, MORE, 0), (DONE_PROCEDURE, 0, 0)]);
    assert_eq!(status(&tokens), Some(0));
    let [cursor, scroll, concurrency, count] = returned(&tokens)[..] else { panic!("{tokens:?}") };
    assert_eq!((scroll, concurrency, count), (STATIC, READ_ONLY, 10));
    client.run("DELETE dbo.t WHERE id = 2");
    let tokens = fetch(&mut client, cursor, 2, 0, 4);
    assert_eq!(tokens[0], Token::Columns(Vec::new()), "the client knows them");
    assert_eq!(rows(&tokens)[1], [Value::Int(2), Value::Str("x".to_string()), Value::Int(1)]);
    assert_eq!(ids(&tokens), [1, 2, 3, 4]);
    assert_eq!(dones(&tokens), [(DONE_IN_PROCEDURE, MORE | COUNT, 4), (DONE_PROCEDURE, 0, 0)]);
    assert_eq!(ids(&fetch(&mut client, cursor, 8, 0, 3)), [8, 9, 10]);
    assert_eq!(ids(&fetch(&mut client, cursor, 0x10, 6, 2)), [6, 7]);
    let tokens = fetch(&mut client, cursor, 0x20, -20, 2);
    assert_eq!((ids(&tokens), status(&tokens)), (vec![1, 2], Some(2)), "it says that it is at the first row instead");
    // What the buffer is.
    let call = Call::number(7).int("", cursor).int("", 0x100).output("").output("");
    assert_eq!(returned(&client.call(&[call])), [1, 10]);
    assert_eq!(errors(&client.call(&[Call::number(1).int("", cursor).int("", 33).int("", 1).text("t")])), [16929]);
    assert_eq!(errors(&client.call(&[Call::number(1).int("", cursor).int("", 32).int("", 1).text("t")])), [40517]);
    assert_eq!(returned(&client.call(&[Call::number(8).int("", cursor).int("", 6).output("")])), [10]);
    assert!(errors(&client.call(&[Call::number(9).int("", cursor)])).is_empty());
    assert_eq!(errors(&fetch(&mut client, cursor, 2, 0, 4)), [16909]);
    assert_eq!(errors(&client.call(&[Call::number(9).int("", cursor)])), [16909]);
}

#[test]
fn a_cursor_that_goes_forward_only_does_that() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    let tokens = client.call(&[open("SELECT id FROM dbo.t ORDER BY id", FORWARD_ONLY, READ_ONLY)]);
    let [cursor, scroll, _, count] = returned(&tokens)[..] else { panic!("{tokens:?}") };
    assert_eq!((scroll, count), (FORWARD_ONLY, -1));
    assert_eq!(ids(&fetch(&mut client, cursor, 2, 0, 9)).len(), 9);
    assert_eq!(errors(&fetch(&mut client, cursor, 4, 0, 9)), [16911]);
    assert_eq!(errors(&fetch(&mut client, cursor, 3, 0, 9)), [16902]);
    assert_eq!(errors(&fetch(&mut client, cursor, 2, 0, -9)), [16902]);
    assert_eq!(ids(&fetch(&mut client, cursor, 2, 0, 9)), [10]);
    // The first rows come at once; the cursor ends with the last.
    let tokens = client.call(&[open("SELECT id FROM dbo.t", FORWARD_ONLY | AUTO_FETCH_AND_CLOSE, READ_ONLY)]);
    assert_eq!((ids(&tokens).len(), status(&tokens)), (3, Some(0)));
    let cursor = returned(&tokens)[0];
    assert_eq!(returned(&tokens)[3], 3);
    let tokens = fetch(&mut client, cursor, 2, 0, 100);
    assert_eq!((ids(&tokens).len(), status(&tokens)), (7, Some(0x10)));
    assert_eq!(errors(&fetch(&mut client, cursor, 2, 0, 1)), [16909]);
}

#[test]
fn cursors_are_prepared() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    let prepare = Call::number(5).output("").output("").text("@least int");
    let prepare = prepare.text("SELECT id FROM dbo.t WHERE id > @least ORDER BY id").int("", STATIC).int("", READ_ONLY);
    let tokens = client.call(&[in_and_out(prepare, 0).int("", 8)]);
    let [handle, cursor, count] = returned(&tokens)[..] else { panic!("{tokens:?}") };
    assert_eq!(count, 2);
    assert_eq!(ids(&fetch(&mut client, cursor, 2, 0, 9)), [9, 10]);
    let execute = Call::number(4).int("", handle).output("").int("", STATIC).int("", READ_ONLY);
    let tokens = client.call(&[in_and_out(execute, 0).int("", 7)]);
    let [second, count] = returned(&tokens)[..] else { panic!("{tokens:?}") };
    assert_eq!(count, 3);
    assert_ne!(second, cursor);
    assert_eq!(ids(&fetch(&mut client, second, 2, 0, 1)), [8]);
    assert!(errors(&client.call(&[Call::number(6).int("", handle)])).is_empty());
    assert_eq!(errors(&client.call(&[Call::number(6).int("", handle)])), [8179]);
    let prepare = Call::number(3).output("").text("").text("SELECT 5 AS a").int("", 0).int("", STATIC);
    let handle = returned(&client.call(&[prepare.int("", READ_ONLY)]))[0];
    let execute = Call::number(4).int("", handle).output("").int("", STATIC).int("", READ_ONLY).output("");
    assert_eq!(returned(&client.call(&[execute])).len(), 2);
    // Parameters of a text that is opened at once.
    let call = open("SELECT @a", STATIC | PARAMETERIZED, READ_ONLY).text("@a int").int("", 6);
    let cursor = returned(&client.call(&[call]))[0];
    assert_eq!(ids(&fetch(&mut client, cursor, 1, 0, 9)), [6]);
    // A pooled connection's next user finds none of it.
    client.send_batch_with(8, "SELECT 1");
    client.reply();
    assert_eq!(errors(&fetch(&mut client, cursor, 1, 0, 9)), [16909]);
}

#[test]
fn what_is_no_query_runs_without_a_cursor_or_not_at_all() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    let text = "INSERT dbo.t VALUES (11, 'y'); SELECT id FROM dbo.t WHERE id > 9 ORDER BY id";
    let tokens = client.call(&[open(text, KEYSET, READ_ONLY)]);
    assert_eq!(errors(&tokens), [16937]);
    assert_eq!(client.scalar("SELECT COUNT(*) FROM dbo.t"), Value::Int(10));
    let tokens = client.call(&[open(text, KEYSET, READ_ONLY | ALLOW_DIRECT)]);
    assert!(matches!(tokens[0], Token::Info(16954, _)), "{tokens:?}");
    assert_eq!(ids(&tokens), [10, 11]);
    assert_eq!(returned(&tokens)[0], 0);
    let tokens = client.call(&[open("DECLARE @a int; SELECT @a = 1", KEYSET, READ_ONLY | ALLOW_DIRECT)]);
    assert!(matches!(tokens[0], Token::Info(16954, _)), "{tokens:?}");
    assert_eq!(errors(&client.call(&[open("SELECT FROM WHERE", KEYSET, READ_ONLY)])).last(), Some(&16945));
    assert_eq!(errors(&client.call(&[open("SELECT id / 0 FROM dbo.t", KEYSET, READ_ONLY)])), [8134]);
    assert_eq!(errors(&client.call(&[Call::number(2).output("").text("SELECT 1").text("no number")])), [16902]);
}
