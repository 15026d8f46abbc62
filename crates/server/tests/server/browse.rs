//! Browse mode: which column of which table each column of a result is, and the keys that come with it.

use crate::client::{Client, Token, errors, rows, utf16};
use crate::fixture::Fixture;
use pikepole_types::Value;

fn client(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    client.run("CREATE TABLE dbo.t (id int PRIMARY KEY, name nvarchar(9)); INSERT dbo.t VALUES (7, N'seven')");
    client
}

fn column(number: u8, table: u8, status: u8, base: &str) -> Vec<u8> {
    let base = if base.is_empty() { Vec::new() } else { [vec![base.len() as u8], utf16(base)].concat() };
    [vec![number, table, status], base].concat()
}

/// TABNAME of tables by their parts.
fn tables(tables: &[&[&str]]) -> Token {
    let part = |part: &&str| [vec![part.len() as u8, 0], utf16(part)].concat();
    let table = |parts: &&[&str]| [vec![parts.len() as u8], parts.iter().flat_map(part).collect()].concat();
    Token::Origins(0xA4, tables.iter().flat_map(table).collect())
}

#[test]
fn keys_come_hidden_behind_the_columns_that_were_asked_for() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    // It is on from where the text switches it, and stays on.
    let tokens = client.run("SET NO_BROWSETABLE ON; SELECT name AS label, id + 1 AS more FROM dbo.t");
    let at = tokens.iter().position(|token| matches!(token, Token::Columns(_))).expect("a result");
    assert_eq!(tokens[at], Token::Columns(["label", "more", "id"].map(str::to_string).to_vec()));
    assert_eq!(tokens[at + 1], tables(&[&["dbo", "t"]]));
    let columns = [column(1, 1, 0x20, "name"), column(2, 0, 0x04, ""), column(3, 1, 0x18, "")].concat();
    assert_eq!(tokens[at + 2], Token::Origins(0xA5, columns));
    assert_eq!(rows(&tokens), [[Value::Str("seven".into()), Value::Int(8), Value::Int(7)]]);

    let tokens = client.run("SELECT a.*, b.name FROM t AS a JOIN dbo.t AS b ON a.id = b.id");
    assert_eq!(tokens[1], tables(&[&["t"], &["dbo", "t"]]), "a table twice");
    let columns = [column(1, 1, 8, ""), column(2, 1, 0, ""), column(3, 2, 0, ""), column(4, 2, 0x18, "")].concat();
    assert_eq!(tokens[2], Token::Origins(0xA5, columns));
    for grouped in ["SELECT COUNT(*) FROM dbo.t", "SELECT DISTINCT name FROM dbo.t", "SELECT 1 AS a"] {
        let tokens = client.run(grouped);
        assert_eq!(rows(&tokens)[0].len(), 1, "{grouped}");
        assert!(!tokens.iter().any(|token| matches!(token, Token::Origins(..))), "{grouped}");
    }
    let plain = client.run("SET NO_BROWSETABLE OFF; SELECT name AS label, id + 1 AS more FROM dbo.t");
    assert_eq!(rows(&plain)[0].len(), 2);
}

#[test]
fn one_query_asks_for_it_with_for_browse() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    let tokens = client.run("SELECT name FROM dbo.t ORDER BY name FOR BROWSE");
    assert_eq!(rows(&tokens), [[Value::Str("seven".into()), Value::Int(7)]]);
    assert_eq!(rows(&client.run("SELECT name FROM dbo.t"))[0].len(), 1);
    assert_eq!(errors(&client.batch("SELECT nothing FROM dbo.t FOR BROWSE")), [207]);
}
