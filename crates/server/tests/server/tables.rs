//! Table-valued parameters, to procedures and to texts.

use crate::client::{Call, Client, Token, errors, rows, utf16};
use crate::fixture::Fixture;
use pikepole_types::{Length, SqlType, Value};

/// A column of a table: its type, and whether the server gives it its default.
const COLUMNS: [(SqlType, bool); 2] = [(SqlType::Int, false), (SqlType::NVarChar(Length::Limit(20)), false)];

/// The type's name, two columns, and what stands before the rows.
fn table(name: &str, columns: &[(SqlType, bool)], orders: &[u8], rows: &[Vec<Value>]) -> Vec<u8> {
    let mut out = vec![0xF3, 0, 0];
    out.push(name.encode_utf16().count() as u8);
    out.extend(utf16(name));
    out.extend((columns.len() as u16).to_le_bytes());
    for (ty, default) in columns {
        out.extend([0, 0, 0, 0, 1, if *default { 2 } else { 0 }]);
        Call::info(ty).write(&mut out);
        out.push(0);
    }
    out.extend(orders);
    out.push(0);
    for row in rows {
        out.push(1);
        for ((ty, default), value) in columns.iter().zip(row) {
            if !default {
                Call::info(ty).write_value(ty, value, &mut out).expect("it fits");
            }
        }
    }
    out.push(0);
    out
}

fn some(name: &str) -> Vec<u8> {
    let text = |text: &str| Value::Str(text.to_string());
    table(
        name,
        &COLUMNS,
        &[],
        &[vec![Value::Int(1), text("a")], vec![Value::Int(2), Value::Null], vec![Value::Int(3), text("c")]],
    )
}

fn with_types(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    client.run("CREATE TYPE dbo.list AS TABLE (id int PRIMARY KEY, name nvarchar(20) NULL DEFAULT N'none')");
    client
        .run("CREATE PROCEDURE dbo.take @n int, @list dbo.list READONLY AS SELECT @n * COUNT(*), MAX(name) FROM @list");
    client
}

#[test]
fn tables_are_given_to_procedures_and_texts() {
    let fixture = Fixture::new();
    let mut client = with_types(&fixture);
    let expected: &[Value] = &[Value::Int(30), Value::Str("c".to_string())];
    // The type is named, or left to the procedure; the parameter is found by place and by name.
    for name in ["list", "LIST", ""] {
        let by_place = Call::name("dbo.take").int("", 10).table("", &some(name));
        assert_eq!(rows(&client.call(&[by_place])), [expected], "{name}");
        let by_name = Call::name("dbo.take").table("@list", &some(name)).int("@n", 10);
        assert_eq!(rows(&client.call(&[by_name])), [expected], "{name}");
    }
    let text = "SELECT @n * COUNT(*), MAX(name) FROM @t; EXEC dbo.take @n, @t";
    let call =
        || Call::number(10).text(text).text("@n int, @t dbo.list READONLY").int("@n", 10).table("@t", &some("list"));
    for _ in 0..2 {
        assert_eq!(rows(&client.call(&[call()])), [expected, expected]);
    }
    // Nothing of it is left.
    assert_eq!(errors(&client.batch("SELECT * FROM @t")), [1087]);
    assert_eq!(errors(&client.batch("SELECT * FROM @P1")), [1087]);
}

#[test]
fn a_procedure_is_prepared_by_its_first_call() {
    let fixture = Fixture::new();
    let mut client = with_types(&fixture);
    client.run(
        "CREATE PROCEDURE dbo.doubled @n int, @out int OUTPUT AS SET @out = 2 * @n; SELECT @n AS n; RETURN @n + 1",
    );
    let first = client.call(&[Call::number(14).output("@handle").text("dbo.doubled").int("", 10).output("@out")]);
    let returned = |name: &str, value: i32| Token::Returned(name.to_string(), Value::Int(value));
    assert_eq!(rows(&first), [&[Value::Int(10)][..]], "{first:?}");
    assert!(first.contains(&Token::Status(11)) && first.contains(&returned("@out", 20)), "{first:?}");
    let handle = first.iter().find_map(|token| match token {
        Token::Returned(name, Value::Int(handle)) if name == "@handle" => Some(*handle),
        _ => None,
    });
    let handle = handle.expect("a handle");
    let again = client.call(&[Call::number(12).int("", handle).int("", 7).output("@out")]);
    assert_eq!(rows(&again), [&[Value::Int(7)][..]], "{again:?}");
    assert!(again.contains(&Token::Status(8)) && again.contains(&returned("@out", 14)), "{again:?}");
    assert!(errors(&client.call(&[Call::number(15).int("", handle)])).is_empty());
    assert_eq!(errors(&client.call(&[Call::number(12).int("", handle).int("", 7)])), [8179]);
    // As drivers give tables to procedures that they call by ODBC's escape.
    let table = Call::number(14).output("@handle").text("dbo.take").int("", 10).table("", &some(""));
    assert_eq!(rows(&client.call(&[table])), [&[Value::Int(30), Value::Str("c".to_string())][..]]);
}

#[test]
fn an_empty_table_a_null_one_and_none_are_one_without_rows() {
    let fixture = Fixture::new();
    let mut client = with_types(&fixture);
    let null = [vec![0xF3, 0, 0, 4], utf16("list"), vec![0xFF, 0xFF, 0, 0]].concat();
    for table in [table("list", &COLUMNS, &[], &[]), null] {
        let tokens = client.call(&[Call::name("dbo.take").int("", 10).table("", &table)]);
        assert_eq!(rows(&tokens), [&[Value::Int(0), Value::Null][..]], "{tokens:?}");
    }
    assert_eq!(rows(&client.call(&[Call::name("dbo.take").int("", 1)])), [&[Value::Int(0), Value::Null][..]]);
    let left_out = Call::number(10).text("SELECT COUNT(*) FROM @t").text("@t dbo.list READONLY");
    assert_eq!(rows(&client.call(&[left_out])), [&[Value::Int(0)][..]]);
}

#[test]
fn columns_come_in_another_order_and_with_their_defaults() {
    let fixture = Fixture::new();
    let mut client = with_types(&fixture);
    let text = |text: &str| Value::Str(text.to_string());
    let turned = [COLUMNS[1], COLUMNS[0]];
    let orders = [0x10, 1, 0, 2, 0, 5, 0x11, 2, 0, 2, 0, 1, 0];
    let sent = table("list", &turned, &orders, &[vec![text("x"), Value::Int(7)]]);
    let call = Call::number(10).text("SELECT id, name FROM @t").text("@t dbo.list READONLY").table("@t", &sent);
    assert_eq!(rows(&client.call(&[call])), [&[Value::Int(7), text("x")][..]]);
    let defaults = [COLUMNS[0], (COLUMNS[1].0, true)];
    let sent = table("list", &defaults, &[], &[vec![Value::Int(7), Value::Null], vec![Value::Int(8), Value::Null]]);
    let call = Call::number(10).text("SELECT id, name FROM @t").text("@t dbo.list READONLY").table("@t", &sent);
    let expected: [&[Value]; 2] = [&[Value::Int(7), text("none")], &[Value::Int(8), text("none")]];
    assert_eq!(rows(&client.call(&[call])), expected);
}

#[test]
fn tables_that_do_not_fit_are_refused() {
    let fixture = Fixture::new();
    let mut client = with_types(&fixture);
    let one = table("list", &COLUMNS[..1], &[], &[vec![Value::Int(1)]]);
    let tokens = client.call(&[Call::name("dbo.take").int("", 1).table("", &one)]);
    assert!(errors(&tokens) == [500] && rows(&tokens).is_empty(), "the procedure does not run: {tokens:?}");
    let twice = table("list", &COLUMNS, &[], &[vec![Value::Int(1), Value::Null], vec![Value::Int(1), Value::Null]]);
    let tokens = client.call(&[Call::name("dbo.take").int("", 1).table("", &twice)]);
    assert!(errors(&tokens) == [2627] && rows(&tokens).is_empty(), "the procedure does not run: {tokens:?}");
    let unknown = client.call(&[Call::name("dbo.take").int("", 1).table("", &some("nothing"))]);
    assert_eq!(errors(&unknown).first(), Some(&2715));
    assert_eq!(errors(&client.call(&[Call::name("dbo.take").table("", &some("list")).int("", 1)])), [206]);
    let value = Call::number(10).text("SELECT @t").text("@t int").table("@t", &some("list"));
    assert_eq!(errors(&client.call(&[value])), [206]);
    let number = Call::number(10).text("SELECT 1 FROM @t").text("@t dbo.list READONLY").int("@t", 1);
    assert_eq!(errors(&client.call(&[number])), [206]);
    // The connection goes on.
    assert_eq!(rows(&client.call(&[Call::name("dbo.take").int("", 1).table("", &some("list"))])).len(), 1);
}
