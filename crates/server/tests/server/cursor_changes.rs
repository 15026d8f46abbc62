//! What server-side cursors show of rows that are written through them, and by others.

use crate::client::{Call, Client, Token, errors, rows};
use crate::cursors::{
    DELETE_AT, FORWARD_ONLY, INSERT, KEYSET, OPTIMISTIC, READ_ONLY, STATIC, UPDATE_AT, client, fetch,
    fetch_with_columns, ids, named_text, open, returned, shown, status, write,
};
use crate::fixture::Fixture;
use pikepole_types::Value;

const DYNAMIC: i32 = 2;
const SCROLL_LOCKS: i32 = 2;
const FIRST: i32 = 1;
const NEXT: i32 = 2;
const PREVIOUS: i32 = 4;
const LAST: i32 = 8;
const ABSOLUTE: i32 = 0x10;
const RELATIVE: i32 = 0x20;
const REFRESH: i32 = 0x80;

/// Opens a cursor that is what was asked for; its handle.
fn opened(client: &mut Client, text: &str, scroll: i32, concurrency: (i32, i32)) -> i32 {
    let tokens = client.call(&[open(text, scroll, concurrency.0)]);
    let [cursor, kind, concurred, _] = returned(&tokens)[..] else { panic!("{tokens:?}") };
    assert_eq!((kind, concurred), (scroll, concurrency.1), "{text}");
    cursor
}

/// Where the buffer begins, and how many rows there are.
fn information(client: &mut Client, cursor: i32) -> Vec<i32> {
    returned(&client.call(&[Call::number(7).int("", cursor).int("", 0x100).output("").output("")]))
}

fn moved(client: &mut Client, cursor: i32, kind: i32, row: i32, count: i32) -> Vec<(i64, i64)> {
    let tokens = fetch_with_columns(client, cursor, kind, row, count);
    assert!(errors(&tokens).is_empty(), "{tokens:?}");
    let there = |row: &&[Value]| (row[0].as_i64().unwrap_or(-1), row.last().and_then(Value::as_i64).unwrap_or(-1));
    rows(&tokens).iter().map(there).collect()
}

fn done(client: &mut Client, call: Call) {
    let tokens = client.call(&[call]);
    assert_eq!((errors(&tokens), status(&tokens)), (vec![], Some(0)), "{tokens:?}");
}

#[test]
fn a_keyset_ends_with_the_rows_that_are_inserted_through_it() {
    let fixture = Fixture::new();
    let (mut client, mut other) = (client(&fixture), fixture.client());
    client.run("CREATE TABLE dbo.seen (id int)");
    client.run("CREATE TRIGGER dbo.added ON dbo.t AFTER INSERT AS INSERT dbo.seen SELECT id FROM inserted");
    let text = "SELECT id, name FROM dbo.t WHERE id > 8 ORDER BY id";
    let cursor = opened(&mut client, text, KEYSET, (OPTIMISTIC, 8));
    other.run("INSERT dbo.t VALUES (50, 'other')");
    done(&mut client, named_text(write(cursor, INSERT, 0).int("@id", 40), "@name", "mine"));
    assert_eq!(information(&mut client, cursor), [0, 3]);
    assert_eq!(moved(&mut client, cursor, NEXT, 0, 9), [(9, 1), (10, 1), (40, 1)], "others' do not come");
    // A statement; one for another table is none of the cursor's, nor is what its trigger inserts.
    client.run(
        "CREATE TRIGGER dbo.more ON dbo.seen AFTER INSERT AS IF EXISTS (SELECT * FROM inserted WHERE id = 41) INSERT dbo.t VALUES (541, 'm')",
    );
    done(&mut client, write(cursor, INSERT, 0).text("INSERT INTO dbo.seen VALUES (41)"));
    assert_eq!(information(&mut client, cursor), [1, 3]);
    done(&mut client, write(cursor, INSERT, 0).text("INSERT INTO dbo.t VALUES (2000, 'z')"));
    assert_eq!(information(&mut client, cursor), [1, 4]);
    assert_eq!(moved(&mut client, cursor, LAST, 0, 2), [(40, 1), (2000, 1)]);
    // It can be changed, and is gone when it is taken back.
    done(&mut client, named_text(write(cursor, UPDATE_AT, 2), "@name", "zz"));
    client.run("BEGIN TRANSACTION");
    done(&mut client, named_text(write(cursor, INSERT, 0).int("@id", 60), "@name", "new"));
    assert_eq!(moved(&mut client, cursor, LAST, 0, 2), [(2000, 1), (60, 1)]);
    client.run("ROLLBACK");
    assert_eq!(moved(&mut client, cursor, LAST, 0, 2), [(2000, 1), (0, 2)]);
    // What fails adds nothing.
    assert_eq!(errors(&client.call(&[write(cursor, INSERT, 0).int("@id", 9)])), [2627]);
    assert_eq!(information(&mut client, cursor), [4, 5]);
}

#[test]
fn a_row_with_another_key_leaves_its_place_in_a_keyset() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    for (definition, moves) in [
        ("id int PRIMARY KEY, name varchar(9) NULL", true),
        ("id int NOT NULL, name varchar(9) NULL UNIQUE, INDEX by_id CLUSTERED (id)", true),
        ("id int, name varchar(9) NULL", false),
    ] {
        client.run(&format!("CREATE TABLE #k ({definition}); INSERT #k VALUES (1, 'a'), (2, 'b'), (3, 'c')"));
        let cursor = opened(&mut client, "SELECT id, name FROM #k ORDER BY id", KEYSET, (OPTIMISTIC, 8));
        assert_eq!(moved(&mut client, cursor, NEXT, 0, 9), [(1, 1), (2, 1), (3, 1)]);
        done(&mut client, named_text(write(cursor, UPDATE_AT, 1), "@name", "A"));
        done(&mut client, write(cursor, UPDATE_AT, 2).int("@id", 12));
        let second = if moves { (0, "NULL", 2) } else { (12, "b", 1) };
        let seen = [(1, "A", 1), second, (3, "c", 1), (12, "b", 1)];
        let seen: Vec<_> =
            seen[..3 + usize::from(moves)].iter().map(|(id, name, at)| (*id, name.to_string(), *at)).collect();
        // The buffer is filled again as it was asked for.
        assert_eq!(shown(&fetch_with_columns(&mut client, cursor, REFRESH, 0, 0)), seen, "{definition}");
        if moves {
            assert_eq!(errors(&client.call(&[write(cursor, DELETE_AT, 2)])), [16947]);
            done(&mut client, write(cursor, UPDATE_AT, 4).int("@id", 13));
            done(&mut client, named_text(write(cursor, UPDATE_AT, 1).int("@id", 14), "@name", "last"));
            let rows = [(0, 2), (0, 2), (3, 1), (0, 2), (13, 1), (14, 1)];
            assert_eq!(moved(&mut client, cursor, FIRST, 0, 9), rows);
        }
        client.run("DROP TABLE #k");
    }
}

#[test]
fn who_only_reads_can_see_what_becomes_of_the_rows() {
    let fixture = Fixture::new();
    let (mut client, mut other) = (client(&fixture), fixture.client());
    let text = "SELECT id, name FROM dbo.t WHERE id < 8 ORDER BY id";
    let keyset = opened(&mut client, text, KEYSET, (READ_ONLY, READ_ONLY));
    let dynamic = opened(&mut client, text, DYNAMIC, (READ_ONLY, READ_ONLY));
    let copy = opened(&mut client, text, STATIC, (READ_ONLY, READ_ONLY));
    other.run("DELETE dbo.t WHERE id = 2; UPDATE dbo.t SET name = 'new' WHERE id = 1; INSERT dbo.t VALUES (0, 'y'), (-1, 'z')");
    let first = |client: &mut Client, cursor| shown(&fetch_with_columns(client, cursor, FIRST, 0, 3));
    let row = |(id, name, at): (i64, &str, i64)| (id, name.to_string(), at);
    assert_eq!(first(&mut client, keyset), [(1, "new", 1), (0, "NULL", 2), (3, "x", 1)].map(row));
    assert_eq!(first(&mut client, dynamic), [(-1, "z", 1), (0, "y", 1), (1, "new", 1)].map(row));
    assert_eq!(first(&mut client, copy), [(1, "x", 1), (2, "x", 1), (3, "x", 1)].map(row));
    assert_eq!((information(&mut client, keyset), information(&mut client, dynamic)), (vec![1, 7], vec![1, -1]));
    for cursor in [keyset, dynamic, copy] {
        assert_eq!(errors(&client.call(&[write(cursor, DELETE_AT, 1)])), [16929]);
    }
    // Rows that are not one table's are read once.
    for scroll in [KEYSET, DYNAMIC] {
        let tokens = client.call(&[open("SELECT COUNT(*) AS n FROM dbo.t", scroll, READ_ONLY)]);
        assert_eq!(returned(&tokens)[1..3], [STATIC, READ_ONLY]);
    }
    client.run("CREATE FUNCTION dbo.f() RETURNS @r TABLE (id int) AS BEGIN INSERT @r VALUES (7) RETURN END");
    let tokens = client.call(&[open("SELECT id FROM dbo.f()", KEYSET, OPTIMISTIC)]);
    assert_eq!(returned(&tokens)[1..3], [STATIC, READ_ONLY]);
    assert_eq!(ids(&fetch(&mut client, returned(&tokens)[0], NEXT, 0, 3)), [7]);
}

#[test]
fn a_dynamic_cursor_goes_over_the_rows_that_are_there() {
    let fixture = Fixture::new();
    let (mut client, mut other) = (client(&fixture), fixture.client());
    let text = "SELECT id, name FROM dbo.t ORDER BY id";
    let cursor = opened(&mut client, text, DYNAMIC, (OPTIMISTIC, 8));
    assert_eq!(moved(&mut client, cursor, NEXT, 0, 3), [(1, 1), (2, 1), (3, 1)]);
    other.run("DELETE dbo.t WHERE id IN (3, 4, 6); INSERT dbo.t VALUES (11, 'n')");
    assert_eq!(moved(&mut client, cursor, NEXT, 0, 3), [(5, 1), (7, 1), (8, 1)]);
    assert_eq!(moved(&mut client, cursor, NEXT, 0, 3), [(9, 1), (10, 1), (11, 1)]);
    assert_eq!(moved(&mut client, cursor, NEXT, 0, 3), []);
    assert_eq!(information(&mut client, cursor), [-1, -1]);
    other.run("INSERT dbo.t VALUES (12, 'n')");
    assert_eq!(moved(&mut client, cursor, NEXT, 0, 3), [], "it has come to its end");
    assert_eq!(moved(&mut client, cursor, PREVIOUS, 0, 1), [(12, 1)]);
    assert_eq!(moved(&mut client, cursor, PREVIOUS, 0, 2), [(10, 1), (11, 1)]);
    // Its own, and a row that has moved.
    done(&mut client, named_text(write(cursor, INSERT, 0).int("@id", 6), "@name", "own"));
    assert_eq!(moved(&mut client, cursor, RELATIVE, -4, 3), [(6, 1), (7, 1), (8, 1)]);
    done(&mut client, write(cursor, UPDATE_AT, 1).int("@id", 20));
    done(&mut client, write(cursor, DELETE_AT, 2));
    assert_eq!(moved(&mut client, cursor, LAST, 0, 2), [(12, 1), (20, 1)]);
    assert_eq!(moved(&mut client, cursor, FIRST, 0, 4), [(1, 1), (2, 1), (5, 1), (8, 1)]);
    other.run("INSERT dbo.t VALUES (0, 'n'), (3, 'n')");
    let tokens = fetch_with_columns(&mut client, cursor, PREVIOUS, 0, 2);
    assert_eq!((ids(&tokens), status(&tokens)), (vec![0, 1], Some(2)));
    assert_eq!(moved(&mut client, cursor, PREVIOUS, 0, 2), []);
    assert_eq!(information(&mut client, cursor), [0, -1]);
    assert_eq!(errors(&fetch_with_columns(&mut client, cursor, ABSOLUTE, 1, 2)), [16925]);
    // What a condition does not take any more is gone.
    let cursor = opened(&mut client, "SELECT id FROM dbo.t WHERE name = 'n'", DYNAMIC, (READ_ONLY, READ_ONLY));
    assert_eq!(moved(&mut client, cursor, NEXT, 0, 2), [(0, 1), (3, 1)]);
    other.run("UPDATE dbo.t SET name = 'm' WHERE id = 3");
    assert_eq!(moved(&mut client, cursor, REFRESH, 0, 0), [(0, 1), (11, 1)]);
    // Rows that no index has in their order are those of the opening.
    for scroll in [DYNAMIC, FORWARD_ONLY] {
        let tokens = client.call(&[open("SELECT id, name FROM dbo.t ORDER BY name", scroll, OPTIMISTIC)]);
        assert_eq!(returned(&tokens)[1..4], [KEYSET, 8, 11], "{tokens:?}");
    }
    // One that goes forward only and writes is dynamic too.
    let cursor = opened(&mut client, "SELECT id FROM dbo.t WHERE id > 10", FORWARD_ONLY, (OPTIMISTIC, 8));
    other.run("DELETE dbo.t WHERE id = 11; INSERT dbo.t VALUES (30, 'n')");
    assert_eq!(moved(&mut client, cursor, NEXT, 0, 9), [(12, 1), (20, 1), (30, 1)]);
}

#[test]
fn scroll_locks_keep_others_from_changing_what_was_fetched() {
    let fixture = Fixture::new();
    let (mut client, mut other) = (client(&fixture), fixture.client());
    other.run("SET LOCK_TIMEOUT 0");
    for (scroll, name) in [(KEYSET, "dbo.t"), (DYNAMIC, "dbo.t"), (FORWARD_ONLY, "##t")] {
        if name == "##t" {
            client
                .run("CREATE TABLE ##t (id int PRIMARY KEY, name varchar(20)); INSERT ##t SELECT id, name FROM dbo.t");
        }
        let text = format!("SELECT id, name FROM {name} WHERE id > 4 ORDER BY id");
        let change = |id: i32| format!("UPDATE {name} SET name = 'o' WHERE id = {id}");
        client.run("BEGIN TRANSACTION");
        let cursor = opened(&mut client, &text, scroll, (SCROLL_LOCKS, SCROLL_LOCKS));
        assert!(errors(&other.batch(&change(5))).is_empty(), "no row was fetched yet");
        assert_eq!(moved(&mut client, cursor, NEXT, 0, 2), [(5, 1), (6, 1)]);
        assert_eq!(errors(&other.batch(&change(5))), [1222], "{name}");
        assert!(errors(&other.batch(&format!("SELECT * FROM {name}; {}", change(7)))).is_empty());
        done(&mut client, named_text(write(cursor, UPDATE_AT, 1), "@name", "mine"));
        client.run("COMMIT");
        assert!(errors(&other.batch(&change(5))).is_empty());
    }
}

#[test]
fn long_values_are_cut_as_textsize_says_when_they_are_fetched() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    client.run(
        "CREATE TABLE dbo.l (id int PRIMARY KEY, a varchar(max), b nvarchar(max), c varbinary(max), d varchar(9))",
    );
    client.run("INSERT dbo.l VALUES (1, 'abcdef', N'abcdef', 0x010203040506, 'abcdef')");
    let short = |text: &str| Value::Str(text.to_string());
    let cut = [short("abcd"), short("ab"), Value::Bin(vec![1, 2, 3, 4]), short("abcdef")];
    for (scroll, concurrency) in [(KEYSET, OPTIMISTIC), (DYNAMIC, READ_ONLY), (STATIC, READ_ONLY), (0x10, READ_ONLY)] {
        let cursor = returned(&client.call(&[open("SELECT * FROM dbo.l", scroll, concurrency)]))[0];
        client.run("SET TEXTSIZE 4");
        let tokens = fetch_with_columns(&mut client, cursor, FIRST, 0, 2);
        assert_eq!(rows(&tokens)[0][1..5], cut, "{scroll}");
        if scroll == KEYSET {
            assert_eq!(rows(&client.call(&[write(cursor, 8, 1)]))[0][1..5], cut);
        }
        client.run("SET TEXTSIZE -1");
        let tokens = fetch_with_columns(&mut client, cursor, FIRST, 0, 2);
        assert_eq!(rows(&tokens)[0][1], short("abcdef"), "the cursor has them whole");
    }
}

#[test]
fn the_columns_of_a_cursor_that_reads_one_table_are_that_tables() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    let names = |tokens: &[Token]| tokens.iter().filter(|token| matches!(token, Token::Origins(0xA4, _))).count();
    let tokens = client.call(&[open("SELECT id FROM dbo.t", DYNAMIC, READ_ONLY)]);
    assert_eq!(names(&tokens), 1);
    assert!(matches!(&tokens[1], Token::Origins(0xA4, names) if names.len() > 3), "{tokens:?}");
}
