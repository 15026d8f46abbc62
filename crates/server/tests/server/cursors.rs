//! Server-side cursors, as drivers call them.

use crate::client::{COUNT, Call, Client, DONE_IN_PROCEDURE, DONE_PROCEDURE, MORE, Token, dones, errors, rows, utf16};
use crate::fixture::Fixture;
use pikepole_types::{Length, SqlType, Value};

pub const KEYSET: i32 = 1;
pub const FORWARD_ONLY: i32 = 4;
pub const STATIC: i32 = 8;
const PARAMETERIZED: i32 = 0x1000;
const AUTO_FETCH_AND_CLOSE: i32 = 0x6000;
pub const READ_ONLY: i32 = 1;
const ALLOW_DIRECT: i32 = 0x2000;

/// A client of a server with ten rows in dbo.t.
pub fn client(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    client.run("CREATE TABLE dbo.t (id int PRIMARY KEY, name varchar(20) NULL)");
    client.run("INSERT dbo.t SELECT TOP 10 ROW_NUMBER() OVER (ORDER BY object_id), 'x' FROM sys.all_objects");
    client
}

fn in_and_out(call: Call, number: i32) -> Call {
    call.with("", 1, &SqlType::Int, &Value::Int(number))
}

/// sp_cursoropen up to its rowcount.
pub fn open(text: &str, scroll: i32, concurrency: i32) -> Call {
    let call = in_and_out(in_and_out(Call::number(2).output("").text(text), scroll), concurrency);
    in_and_out(call, 3)
}

pub fn returned(tokens: &[Token]) -> Vec<i32> {
    let number = |token: &Token| match token {
        Token::Returned(_, Value::Int(number)) => Some(*number),
        _ => None,
    };
    tokens.iter().filter_map(number).collect()
}

pub fn status(tokens: &[Token]) -> Option<i32> {
    tokens.iter().find_map(|token| if let Token::Status(status) = token { Some(*status) } else { None })
}

pub fn fetch(client: &mut Client, cursor: i32, kind: i32, row: i32, count: i32) -> Vec<Token> {
    client.call(&[Call::number(7).with_columns_known().int("", cursor).int("", kind).int("", row).int("", count)])
}

pub fn ids(tokens: &[Token]) -> Vec<i64> {
    rows(tokens).iter().map(|row| row[0].as_i64().expect("a number")).collect()
}

#[test]
fn a_cursor_is_scrolled_and_shows_the_rows_of_its_opening() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    let tokens = client.call(&[open("SELECT id, name FROM dbo.t ORDER BY id", STATIC, READ_ONLY)]);
    assert!(errors(&tokens).is_empty(), "{tokens:?}");
    let names = ["id", "name", "ROWSTAT"].map(str::to_string).to_vec();
    assert_eq!(tokens[0], Token::Columns(names));
    // A table of one part without letters; three columns of none, the last of which is hidden.
    assert_eq!(tokens[1], Token::Origins(0xA4, vec![1, 0, 0]));
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
    assert_eq!((ids(&tokens), status(&tokens)), (vec![], Some(0)), "all of the buffer is before the first row");
    assert_eq!(ids(&fetch(&mut client, cursor, 0x10, 2, 2)), [2, 3]);
    let tokens = fetch(&mut client, cursor, 4, 0, 2);
    assert_eq!((ids(&tokens), status(&tokens)), (vec![1, 2], Some(2)), "it says that it is at the first row instead");
    // What the buffer is.
    let call = Call::number(7).int("", cursor).int("", 0x100).output("").output("");
    assert_eq!(returned(&client.call(&[call])), [1, 10]);
    assert_eq!(errors(&client.call(&[Call::number(1).int("", cursor).int("", 33).int("", 1).text("t")])), [16929]);
    assert_eq!(errors(&client.call(&[Call::number(1).int("", cursor).int("", 32).int("", 9).text("t")])), [16930]);
    let again = client.call(&[Call::number(1).int("", cursor).int("", 40).int("", 2).text("")]);
    assert_eq!(ids(&again), [2], "its driver stands on a row and asks for it");
    assert_eq!(ids(&client.call(&[Call::number(1).int("", cursor).int("", 8).int("", 0).text("")])), [1, 2]);
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

pub const OPTIMISTIC: i32 = 4;
const OPTIMISTIC_VALUES: i32 = 8;
pub const UPDATE_AT: i32 = 33;
pub const DELETE_AT: i32 = 34;
pub const INSERT: i32 = 4;

/// Opens a cursor to write through; its handle.
fn open_to_write(client: &mut Client, text: &str) -> i32 {
    let tokens = client.call(&[open(text, KEYSET, OPTIMISTIC)]);
    let [cursor, scroll, concurrency, _] = returned(&tokens)[..] else { panic!("{tokens:?}") };
    assert_eq!((scroll, concurrency), (KEYSET, OPTIMISTIC_VALUES), "{tokens:?}");
    cursor
}

/// The same as [`fetch`] for a client that has run something else meanwhile.
pub fn fetch_with_columns(client: &mut Client, cursor: i32, kind: i32, row: i32, count: i32) -> Vec<Token> {
    client.call(&[Call::number(7).int("", cursor).int("", kind).int("", row).int("", count)])
}

/// sp_cursor up to the table's name.
pub fn write(cursor: i32, operation: i32, row: i32) -> Call {
    Call::number(1).int("", cursor).int("", operation).int("", row).text("")
}

pub fn named_text(call: Call, name: &str, text: &str) -> Call {
    call.with(name, 0, &SqlType::NVarChar(Length::Limit(4000)), &Value::Str(text.to_string()))
}

/// What each row of the fetch buffer is: its number, its name and whether it is there (1) or not (2).
pub fn shown(tokens: &[Token]) -> Vec<(i64, String, i64)> {
    let row = |row: &[Value]| {
        let name = row[1].as_str().unwrap_or("NULL").to_string();
        (row[0].as_i64().expect("a number"), name, row[2].as_i64().expect("a number"))
    };
    rows(tokens).into_iter().map(row).collect()
}

#[test]
fn rows_are_written_where_the_cursor_stands() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    let tokens = client.call(&[open("SELECT id AS number, name, id + 1 AS more FROM dbo.t ORDER BY id", KEYSET, 1)]);
    // One table; a column of it under another name, one under its own, an expression and ROWSTAT.
    let id = [&[2][..], &utf16("id")].concat();
    assert_eq!(
        tokens[1],
        Token::Origins(0xA4, [&[2, 3, 0][..], &utf16("dbo"), &[1, 0], &utf16("t")].concat()),
        "{tokens:?}"
    );
    let columns = [&[1, 1, 0x20][..], &id, &[2, 1, 0, 3, 0, 4, 4, 0, 0x14]].concat();
    assert_eq!(tokens[2], Token::Origins(0xA5, columns));

    let cursor = open_to_write(&mut client, "SELECT id, name FROM dbo.t WHERE id > 1 ORDER BY id");
    assert_eq!(errors(&client.call(&[write(cursor, DELETE_AT, 1)])), [16931], "there is no buffer yet");
    assert_eq!(ids(&fetch_with_columns(&mut client, cursor, 2, 0, 3)), [2, 3, 4]);
    assert_eq!(errors(&client.call(&[write(cursor, DELETE_AT, 4)])), [16930]);
    let tokens = client.call(&[named_text(write(cursor, UPDATE_AT, 2), "@name", "changed")]);
    assert_eq!((errors(&tokens), status(&tokens), dones(&tokens)), (vec![], Some(0), vec![(DONE_PROCEDURE, 0, 0)]));
    assert!(errors(&client.call(&[write(cursor, DELETE_AT, 3)])).is_empty());
    let call = named_text(write(cursor, INSERT, 0).int("@id", 20), "@name", "new");
    assert!(errors(&client.call(&[call])).is_empty());
    let text = "INSERT INTO dbo.t (id) VALUES (21)";
    assert!(errors(&client.call(&[write(cursor, INSERT, 0).text(text)])).is_empty());
    assert_eq!(client.scalar("SELECT STRING_AGG(CONCAT(id, name), ' ') FROM dbo.t WHERE id IN (2, 3, 4, 20, 21)"), {
        Value::Str("2x 3changed 20new 21".to_string())
    });

    // Its own changes show, and others' when the buffer is fetched or refreshed.
    client.run("UPDATE dbo.t SET name = 'more' WHERE id = 2; DELETE dbo.t WHERE id = 5");
    let tokens = fetch_with_columns(&mut client, cursor, 0x10, 1, 4);
    let seen = [(2, "more", 1), (3, "changed", 1), (0, "NULL", 2), (0, "NULL", 2)]
        .map(|(id, name, at)| (id, name.to_string(), at));
    assert_eq!(shown(&tokens), seen);
    client.run("UPDATE dbo.t SET name = 'other' WHERE id = 2");
    let tokens = client.call(&[named_text(write(cursor, UPDATE_AT, 1), "@name", "mine")]);
    assert_eq!(errors(&tokens), [16934], "somebody else has changed it");
    let tokens = fetch_with_columns(&mut client, cursor, 0x80, 0, 0);
    let seen = [(2, "other", 1), (3, "changed", 1), (0, "NULL", 2), (0, "NULL", 2)];
    assert_eq!(shown(&tokens), seen.map(|(id, name, at)| (id, name.to_string(), at)));
    assert!(errors(&client.call(&[named_text(write(cursor, UPDATE_AT, 1), "@name", "mine")])).is_empty());
    assert_eq!(errors(&client.call(&[write(cursor, DELETE_AT, 4)])), [16947]);
    assert_eq!(client.scalar("SELECT name FROM dbo.t WHERE id = 2"), Value::Str("mine".to_string()));

    // The columns by their places, a NULL among them.
    let call = write(cursor, UPDATE_AT, 2).int("", 30).with("", 0, &SqlType::Int, &Value::Null);
    assert!(errors(&client.call(&[call])).is_empty());
    assert_eq!(client.scalar("SELECT COUNT(*) FROM dbo.t WHERE id = 30 AND name IS NULL"), Value::Int(1));
    assert_eq!(errors(&client.call(&[write(cursor, UPDATE_AT, 1)])), [16902], "no column");
    assert_eq!(ids(&client.call(&[write(cursor, 8, 1)])).len(), 1);
    assert_eq!(errors(&client.call(&[write(cursor, 16, 1)])), [40517]);
    assert!(errors(&client.call(&[Call::number(9).int("", cursor)])).is_empty());
    assert_eq!(errors(&client.call(&[write(cursor, DELETE_AT, 1)])), [16909]);
}

#[test]
fn what_is_written_through_a_cursor_is_a_statement_like_others() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    client.run("CREATE TABLE dbo.log (id int)");
    client.run("ALTER TABLE dbo.t ADD CONSTRAINT short CHECK (LEN(name) < 5)");
    client.run("CREATE TRIGGER dbo.seen ON dbo.t AFTER UPDATE AS INSERT dbo.log SELECT id FROM inserted");
    let cursor = open_to_write(&mut client, "SELECT id, name FROM dbo.t ORDER BY id");
    fetch_with_columns(&mut client, cursor, 2, 0, 3);
    assert_eq!(errors(&client.call(&[named_text(write(cursor, UPDATE_AT, 1), "@name", "much too long")])), [547]);
    client.run("BEGIN TRANSACTION");
    // All of the buffer.
    assert!(errors(&client.call(&[named_text(write(cursor, UPDATE_AT, 0), "@name", "a")])).is_empty());
    assert_eq!(client.scalar("SELECT SUM(id) FROM dbo.log"), Value::Int(6));
    client.run("ROLLBACK");
    let tokens = fetch_with_columns(&mut client, cursor, 0x80, 0, 0);
    assert!(shown(&tokens).iter().all(|(_, name, _)| name == "x"), "{tokens:?}");
    // A table that was altered, a cursor that a transaction's end has closed.
    client.run("ALTER TABLE dbo.t ADD more int NULL");
    assert_eq!(errors(&client.call(&[write(cursor, DELETE_AT, 1)])), [16943]);
    assert_eq!(errors(&fetch_with_columns(&mut client, cursor, 0x80, 0, 0)), [16943]);
    let cursor = open_to_write(&mut client, "SELECT id, name FROM dbo.t");
    fetch_with_columns(&mut client, cursor, 2, 0, 3);
    client.run("SET CURSOR_CLOSE_ON_COMMIT ON; BEGIN TRANSACTION; COMMIT");
    assert_eq!(errors(&client.call(&[write(cursor, DELETE_AT, 1)])), [16917]);
    // What is not one table's rows is READ ONLY; a temporary table's are.
    for text in [
        "SELECT TOP 3 id FROM dbo.t",
        "SELECT COUNT(*) AS n FROM dbo.t",
        "SELECT a.id FROM dbo.t AS a JOIN dbo.t AS b ON a.id = b.id",
    ] {
        let tokens = client.call(&[open(text, KEYSET, OPTIMISTIC)]);
        let [cursor, scroll, concurrency, _] = returned(&tokens)[..] else { panic!("{tokens:?}") };
        assert_eq!((scroll, concurrency), (STATIC, READ_ONLY), "{text}");
        fetch_with_columns(&mut client, cursor, 2, 0, 3);
        assert_eq!(errors(&client.call(&[write(cursor, DELETE_AT, 1)])), [16929], "{text}");
    }
    client.run("CREATE TABLE #t (id int, name varchar(9)); INSERT #t VALUES (1, 'a')");
    let cursor = open_to_write(&mut client, "SELECT id, name FROM #t");
    fetch_with_columns(&mut client, cursor, 2, 0, 3);
    assert!(errors(&client.call(&[named_text(write(cursor, UPDATE_AT, 1), "@name", "b")])).is_empty());
    assert_eq!(client.scalar("SELECT name FROM #t"), Value::Str("b".to_string()));
}

#[test]
fn temporary_tables_of_both_kinds_are_written_through_a_cursor() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    for table in ["#own", "##shared"] {
        client.run(&format!(
            "CREATE TABLE {table} (id int PRIMARY KEY, name varchar(9)); INSERT {table} VALUES (1, 'a'), (2, 'b')"
        ));
        let cursor = open_to_write(&mut client, &format!("SELECT id, name FROM {table} ORDER BY id"));
        fetch_with_columns(&mut client, cursor, 2, 0, 3);
        for call in [
            named_text(write(cursor, UPDATE_AT, 1), "@name", "c"),
            write(cursor, DELETE_AT, 2),
            named_text(write(cursor, INSERT, 0).int("@id", 9), "@name", "new"),
        ] {
            let tokens = client.call(&[call]);
            assert!(errors(&tokens).is_empty(), "{table}: {tokens:?}");
        }
        let now = client.scalar(&format!("SELECT STRING_AGG(CONCAT(id, name), ' ') FROM {table}"));
        assert_eq!(now, Value::Str("1c 9new".to_string()), "{table}");
    }
}

#[test]
fn a_cursors_text_may_say_what_it_is_for() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    for text in ["FOR UPDATE", "for update of name, [id];", "FOR UPDATE OF t.name"] {
        let cursor = open_to_write(&mut client, &format!("SELECT id, name FROM dbo.t ORDER BY id {text}"));
        assert_eq!(ids(&fetch_with_columns(&mut client, cursor, 2, 0, 2)), [1, 2], "{text}");
        assert!(errors(&client.call(&[named_text(write(cursor, UPDATE_AT, 1), "@name", "new")])).is_empty(), "{text}");
    }
    // As of a cursor that asks for nothing more than to read.
    let tokens = client.call(&[open("SELECT id FROM dbo.t FOR READ ONLY", KEYSET, OPTIMISTIC)]);
    assert_eq!(returned(&tokens)[1..3], [KEYSET, READ_ONLY], "{tokens:?}");
}

#[test]
fn texts_change_rows_through_a_cursor_that_has_a_name() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    let named = |cursor: i32, name: &str| Call::number(8).int("", cursor).int("", 2).text(name);
    let tokens = client.call(&[open("SELECT id, name FROM dbo.t FOR UPDATE", FORWARD_ONLY, 4)]);
    let cursor = returned(&tokens)[0];
    assert!(errors(&client.call(&[named(cursor, "C1")])).is_empty());
    assert_eq!(errors(&client.batch("DELETE dbo.t WHERE CURRENT OF C1")), [16931], "it is before the first row");
    assert_eq!(ids(&fetch(&mut client, cursor, 2, 0, 3)), [1, 2, 3]);
    assert!(errors(&client.batch("UPDATE dbo.t SET name = 'one' WHERE CURRENT OF C1")).is_empty());
    assert!(errors(&client.call(&[Call::number(1).int("", cursor).int("", 32).int("", 3).text("")])).is_empty());
    assert!(errors(&client.batch("DELETE dbo.t WHERE CURRENT OF c1")).is_empty());
    let tokens = fetch(&mut client, cursor, 1, 0, 3);
    assert_eq!(rows(&tokens)[0][1], Value::Str("one".to_string()), "it shows what has become of them");
    assert_eq!(ids(&tokens), [1, 2, 4]);
    let tokens = client.run("SELECT id FROM dbo.t WHERE id < 4 AND (id = 2 OR name = 'one')");
    assert_eq!(ids(&tokens), [1, 2]);
    let other = returned(&client.call(&[open("SELECT id FROM dbo.t", KEYSET, 4)]))[0];
    assert_eq!(errors(&client.call(&[named(other, "C1")])), [16915]);
    assert!(errors(&client.call(&[Call::number(9).int("", cursor)])).is_empty());
    assert_eq!(errors(&client.batch("DELETE dbo.t WHERE CURRENT OF C1")), [16916]);
    assert!(errors(&client.call(&[named(other, "C1")])).is_empty());
}
