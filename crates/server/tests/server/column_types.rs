//! The types that columns and output parameters travel as.

use crate::client::{Call, Client, Token, errors, rows};
use crate::fixture::Fixture;
use pikepole_tds::TypeToken as T;
use pikepole_types::{Length, SqlType, Value};

fn tokens(client: &mut Client, sql: &str) -> Vec<T> {
    client.run(sql);
    client.types().iter().map(pikepole_tds::TypeInfo::token).collect()
}

#[test]
fn texts_in_utf8_come_in_utf16_to_who_has_not_asked_for_utf8() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.run(
        "CREATE TABLE dbo.t (c char(4) COLLATE Latin1_General_100_CI_AS_SC_UTF8, v varchar(10) COLLATE Latin1_General_100_CI_AS_SC_UTF8,
             w varchar(4001) COLLATE Latin1_General_100_CI_AS_SC_UTF8, m varchar(max) COLLATE Latin1_General_100_CI_AS_SC_UTF8, o varchar(10))",
    );
    client.run("INSERT dbo.t VALUES (N'Ł', N'Łódź', N'日本', N'😀', 'plain')");
    let sent = client.run("SELECT c, v, w, m, o FROM dbo.t");
    let types: Vec<SqlType> = client.types().iter().map(pikepole_tds::TypeInfo::sql_type).collect();
    let max = SqlType::NVarChar(Length::Max);
    let (limited, other) = (SqlType::NVarChar(Length::Limit(10)), SqlType::VarChar(Length::Limit(10)));
    assert_eq!(types, [SqlType::NChar(4), limited, max, max, other]);
    let row = ["Ł  ", "Łódź", "日本", "😀", "plain"].map(|text| Value::Str(text.to_string()));
    assert_eq!(rows(&sent), [row.as_slice()]);
}

#[test]
fn a_database_in_utf8_returns_parameters_in_utf16_and_tells_its_languages_code_page() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.run("CREATE DATABASE u COLLATE Polish_100_CI_AS_SC_UTF8");
    let told = client.run("USE u");
    // Polish, as it compares, without the bit for UTF-8.
    let collation = told.iter().find_map(|token| match token {
        Token::Change(7, bytes) => Some(bytes[1..6].to_vec()),
        _ => None,
    });
    assert_eq!(collation, Some(vec![0x15, 0x04, 0xD0, 0x20, 0x00]));
    client.run("CREATE PROCEDURE dbo.say @said varchar(20) OUTPUT AS SET @said = N'Łódź'");
    let ty = SqlType::VarChar(Length::Limit(20));
    let tokens = client.call(&[Call::name("dbo.say").with("@said", 1, &ty, &Value::Null)]);
    assert!(errors(&tokens).is_empty(), "{tokens:?}");
    assert!(tokens.contains(&Token::Returned("@said".to_string(), Value::Str("Łódź".to_string()))), "{tokens:?}");
}

#[test]
fn decimals_travel_by_the_name_that_was_written() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.run("CREATE TABLE dbo.t (n numeric(9, 2), d decimal(9, 2), i int, c AS n * 2)");
    client.run("CREATE VIEW dbo.v AS SELECT n, d, SUM(d) AS s FROM dbo.t GROUP BY n, d");
    let (n, d) = (T::NumericN, T::DecimalN);
    assert_eq!(tokens(&mut client, "SELECT * FROM dbo.t"), [n, d, T::IntN, n]);
    assert_eq!(tokens(&mut client, "SELECT * FROM dbo.v"), [n, d, d]);
    let expressions = "SELECT 1.5, d + 1, d * n, -d, 2147483648, CAST(1 AS decimal(3)), CONVERT(numeric(3), 1), CASE i WHEN 1 THEN d END,
        ISNULL(d, 1.5), COALESCE(d, n), MAX(n) OVER (), @@IDENTITY FROM dbo.t";
    assert_eq!(tokens(&mut client, expressions), [n, d, n, d, n, d, n, d, d, n, n, n]);
    assert_eq!(tokens(&mut client, "DECLARE @d decimal(5), @n numeric(5); SELECT @d, @n"), [d, n]);
    assert_eq!(tokens(&mut client, "SELECT d FROM dbo.t UNION SELECT d FROM dbo.t"), [d]);
    assert_eq!(tokens(&mut client, "SELECT d FROM dbo.t UNION SELECT n FROM dbo.t"), [n]);
    assert_eq!(tokens(&mut client, "SELECT x.d, x.n FROM (SELECT d, n FROM dbo.t) AS x"), [d, n]);
    let call = Call::name("sp_executesql").text("SET @p = 1.5").text("@p numeric(9, 2) OUTPUT");
    let ty = SqlType::Decimal { precision: 9, scale: 2 };
    let returned = client.call(&[call.with("@p", 1, &ty, &Value::Null)]);
    assert!(errors(&returned).is_empty(), "{returned:?}");
}

#[test]
fn columns_of_text_are_as_long_as_textsize() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    // The client reads no columns of text: the length is behind the token, the count, user type, flags and the type.
    let mut length = |sql: &str| {
        client.send_batch(sql);
        let bytes = client.message();
        let at = bytes.iter().position(|byte| *byte == 0x81).expect("columns");
        i32::from_le_bytes(bytes[at + 10..at + 14].try_into().expect("four bytes"))
    };
    let queries = ["SELECT CAST('a' AS text)", "SELECT CAST(N'a' AS ntext)", "SELECT CAST(0x0A AS image)"];
    let whole = [i32::MAX, i32::MAX - 1, i32::MAX];
    assert_eq!(queries.map(&mut length), whole);
    assert_eq!(queries.map(|query| length(&format!("SET TEXTSIZE 4096; {query}"))), [4096; 3]);
    assert_eq!(queries.map(|query| length(&format!("SET TEXTSIZE -1; {query}"))), whole);
}
