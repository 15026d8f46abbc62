//! Every kind of request.

use crate::client::{
    COUNT, Call, Client, DONE, DONE_IN_PROCEDURE, DONE_PROCEDURE, ERROR, MORE, SERVER_ERROR, Token, dones, errors,
    rows, utf16,
};
use crate::fixture::Fixture;
use pikepole_types::{Length, SqlType, Value};

const TABLE: &str = "CREATE TABLE dbo.t (id int PRIMARY KEY, name nvarchar(20) NULL)";

#[test]
fn a_batch_ends_once_and_counts_each_statement() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    assert_eq!(dones(&client.run("SET NOCOUNT OFF")), [(DONE, 0, 0)]);
    client.run(TABLE);
    let tokens =
        client.run("INSERT dbo.t VALUES (1, N'a'), (2, NULL); SELECT id, name FROM dbo.t; DELETE dbo.t WHERE id = 1");
    assert_eq!(dones(&tokens), [(DONE, MORE | COUNT, 2), (DONE, MORE | COUNT, 2), (DONE, COUNT, 1)]);
    let expected = [vec![Value::Int(1), Value::Str("a".to_string())], vec![Value::Int(2), Value::Null]];
    assert_eq!(rows(&tokens), expected.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let tokens = client.run("SET NOCOUNT ON; INSERT dbo.t VALUES (7, N'b'); SELECT id FROM dbo.t WHERE id = 7");
    assert_eq!(dones(&tokens), [(DONE, 0, 0)]);
    assert_eq!(dones(&client.run("")), [(DONE, 0, 0)]);
}

#[test]
fn a_statement_that_counts_nothing_has_an_end_too() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let ends = dones(&client.run("PRINT 'a'; SELECT 1; PRINT 'b'"));
    assert_eq!(ends, [(DONE, MORE, 0), (DONE, MORE | COUNT, 1), (DONE, 0, 0)]);
    client.run(
        "CREATE PROCEDURE dbo.walk AS
         DECLARE @v int = 0;
         DECLARE c CURSOR LOCAL FOR SELECT 1 UNION SELECT 2;
         OPEN c;
         FETCH c INTO @v;
         WHILE @@FETCH_STATUS = 0 BEGIN PRINT @v; FETCH c INTO @v END;
         CLOSE c;
         DEALLOCATE c",
    );
    // The variable with a value counts; three of WHILE, three of FETCH, two of PRINT, and one each of DECLARE CURSOR, OPEN, CLOSE and
    // DEALLOCATE do not.
    let mut ends = dones(&client.run("EXEC dbo.walk"));
    assert_eq!(ends.pop(), Some((DONE_PROCEDURE, 0, 0)));
    assert_eq!(ends[0], (DONE_IN_PROCEDURE, MORE | COUNT, 1));
    assert_eq!(ends[1..], [(DONE_IN_PROCEDURE, MORE, 0); 12]);
    // NOCOUNT leaves them out, and a client that reads nothing meanwhile is waited for.
    assert_eq!(dones(&client.run("SET NOCOUNT ON; PRINT 'a'; EXEC dbo.walk")).len(), 1);
    let loops = "SET NOCOUNT OFF; DECLARE @i int = 0; WHILE @i < 20000 SET @i += 1";
    assert_eq!(dones(&client.run(loops)).len(), 1 + 1 + 20_001 + 20_000);
}

#[test]
fn errors_carry_their_line_and_end_their_statement() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let tokens = client.batch("SELECT 1;\nSELECT 1/0;\nPRINT 'after'");
    assert!(tokens.iter().any(|token| matches!(token, Token::Error(8134, 2, _))), "{tokens:?}");
    assert!(tokens.contains(&Token::Info(0, "after".to_string())), "{tokens:?}");
    let ends = dones(&tokens);
    assert_eq!(ends[0], (DONE, MORE | COUNT, 1));
    assert!(ends.iter().any(|(_, bits, _)| bits & ERROR != 0), "{ends:?}");
    assert_eq!(ends.iter().filter(|(_, bits, _)| bits & MORE == 0).count(), 1, "{ends:?}");
    let tokens = client.batch("SELEC 1");
    assert_eq!(dones(&tokens), [(DONE, ERROR, 0)]);
    // A statement that is terminated says so before its end.
    client.run(TABLE);
    client.run("INSERT dbo.t VALUES (1, N'a')");
    let tokens = client.batch("INSERT dbo.t VALUES (1, N'a')");
    let kinds: Vec<_> = tokens.iter().map(std::mem::discriminant).collect();
    assert_eq!(kinds.len(), 3, "{tokens:?}");
    assert!(matches!(tokens[..], [Token::Error(2627, ..), Token::Info(3621, _), Token::Done(DONE, ERROR, 0)]));
}

#[test]
fn an_error_of_severity_20_ends_the_connection() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let tokens = client.batch("RAISERROR('gone', 20, 1) WITH LOG; SELECT 2");
    assert_eq!(errors(&tokens), [50000], "{tokens:?}");
    assert!(matches!(tokens.last(), Some(Token::Done(_, status, _)) if status & SERVER_ERROR != 0), "{tokens:?}");
    assert!(rows(&tokens).is_empty() && client.is_closed());
    let mut client = fixture.client();
    assert_eq!(errors(&client.batch("RAISERROR('here', 19, 1) WITH LOG")), [50000]);
    client.run("SELECT 1");
}

#[test]
fn values_are_no_longer_than_their_types() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    assert_eq!(client.scalar("SELECT CAST(N'😀' AS varchar(1))"), Value::from("?"));
    assert_eq!(client.scalar("SELECT PARSENAME(REPLICATE('n', 129), 1)"), Value::Null);
    assert_eq!(errors(&client.batch("SELECT TRANSLATE(N'a|b', '|', N'😀')")), [9828]);
    assert_eq!(client.scalar("SELECT CONCAT_WS('--', 'a', 'b', 'c')"), Value::from("a--b--c"));
    client.run("SELECT 1");
}

#[test]
fn a_date_format_is_kept() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.run("SET DATEFORMAT ymd");
    assert_eq!(client.scalar("SELECT MONTH('03/01/02')"), Value::Int(1));
    let call = Call::number(10).text("SELECT DAY('03/01/02')");
    assert_eq!(rows(&client.call(&[call])), [&[Value::Int(2)][..]]);
}

#[test]
fn a_procedure_in_a_batch_ends_as_one() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.run("CREATE PROCEDURE dbo.p AS BEGIN SELECT 1 AS a; RETURN 5 END");
    let tokens = client.run("EXEC dbo.p");
    assert_eq!(dones(&tokens), [(DONE_IN_PROCEDURE, MORE | COUNT, 1), (DONE_PROCEDURE, 0, 0)]);
    assert!(tokens.contains(&Token::Status(5)), "{tokens:?}");
}

#[test]
fn using_another_database_is_told() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.run("CREATE DATABASE other");
    let tokens = client.run("USE other");
    assert!(tokens.iter().any(|token| matches!(token, Token::Change(1, _))), "{tokens:?}");
    assert!(tokens.iter().any(|token| matches!(token, Token::Info(5701, _))), "{tokens:?}");
}

#[test]
fn columns_alone_are_told_under_fmtonly() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.run(TABLE);
    let tokens = client
        .run("SET FMTONLY ON; SELECT id, name FROM dbo.t; DELETE dbo.t; CREATE TABLE dbo.u (a int); SET FMTONLY OFF");
    assert!(tokens.contains(&Token::Columns(vec!["id".to_string(), "name".to_string()])), "{tokens:?}");
    assert_eq!(errors(&client.batch("SELECT * FROM dbo.u")), [208]);
    client.run("INSERT dbo.t VALUES (1, NULL)");
    client.run("SET FMTONLY ON; INSERT dbo.t VALUES (2, NULL); DELETE dbo.t; SET FMTONLY OFF");
    assert_eq!(rows(&client.run("SELECT id FROM dbo.t")), [&[Value::Int(1)][..]]);
}

#[test]
fn sp_executesql_takes_and_returns_parameters() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let text = "SET @b = @a * 2; SELECT @a AS a";
    let call = || Call::number(10).text(text).text("@a int, @b int OUTPUT").int("@a", 21).output("@b");
    // The second time the text is known.
    for _ in 0..2 {
        let tokens = client.call(&[call()]);
        assert_eq!(rows(&tokens), [&[Value::Int(21)][..]]);
        assert!(tokens.contains(&Token::Status(0)), "{tokens:?}");
        assert!(tokens.contains(&Token::Returned("@b".to_string(), Value::Int(42))), "{tokens:?}");
        let one = (DONE_IN_PROCEDURE, MORE | COUNT, 1);
        assert_eq!(dones(&tokens), [one, one, (DONE_PROCEDURE, 0, 0)]);
    }
    let by_name = Call::name("sp_executesql").text("SELECT @x + 1").text("@x int").int("", 1);
    assert_eq!(rows(&client.call(&[by_name])), [&[Value::Int(2)][..]]);
    // The declared type counts, not the one that was sent.
    let declared = Call::number(10).text("SELECT @x").text("@x varchar(3)").text("abcdef");
    assert_eq!(rows(&client.call(&[declared])), [&[Value::Str("abc".to_string())][..]]);
    let missing = Call::number(10).text("SELECT @x").text("@x int");
    assert_eq!(errors(&client.call(&[missing])), [8178]);
    let wrong = Call::number(10).text("SELECT @x").text("@x int").int("@y", 1);
    assert_eq!(errors(&client.call(&[wrong])), [8145]);
}

#[test]
fn what_a_text_sets_ends_with_it() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.call(&[Call::number(10).text("SET NOCOUNT ON; SET XACT_ABORT ON")]);
    assert_eq!(dones(&client.run("SELECT 1")), [(DONE, COUNT, 1)]);
    let level = Call::number(10).text("SELECT @@NESTLEVEL");
    assert_eq!(rows(&client.call(&[level])), [&[Value::Int(1)][..]]);
}

#[test]
fn statements_are_prepared_run_and_forgotten() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.run(TABLE);
    let insert = "INSERT dbo.t VALUES (@id, @name)";
    let tokens =
        client.call(&[Call::number(11).output("").text("@id int, @name nvarchar(20)").text(insert).int("", 1)]);
    let handle = tokens.iter().find_map(|token| match token {
        Token::Returned(_, Value::Int(handle)) => Some(*handle),
        _ => None,
    });
    let handle = handle.unwrap_or_else(|| panic!("{tokens:?}"));
    for id in 0..10 {
        let tokens = client.call(&[Call::number(12).int("", handle).int("", id).text("x")]);
        assert_eq!(dones(&tokens), [(DONE_IN_PROCEDURE, MORE | COUNT, 1), (DONE_PROCEDURE, 0, 0)]);
    }
    assert_eq!(client.scalar("SELECT COUNT(*) FROM dbo.t"), Value::Int(10));
    assert!(errors(&client.call(&[Call::number(15).int("", handle)])).is_empty());
    assert_eq!(errors(&client.call(&[Call::number(12).int("", handle)])), [8179]);
    let tokens = client.call(&[Call::number(13).output("").text("@x int").text("SELECT @x").int("", 9)]);
    assert_eq!(rows(&tokens), [&[Value::Int(9)][..]]);
    assert!(tokens.iter().any(|token| matches!(token, Token::Returned(_, Value::Int(_)))), "{tokens:?}");
    let tokens = client.call(&[Call::number(11).output("").text("").text("SELECT FROM WHERE").int("", 1)]);
    assert_eq!(errors(&tokens).last(), Some(&8180));
    assert_eq!(errors(&client.call(&[Call::number(14).output("")])), [201]);
}

#[test]
fn procedures_are_called_by_name() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.run("CREATE PROCEDURE dbo.[a proc] @a int, @b int = 3, @c int OUTPUT AS BEGIN SET @c = @a + @b; SELECT @c AS c; RETURN 4 END");
    let tokens = client.call(&[Call::name("dbo.[a proc]").int("@a", 1).output("@c")]);
    assert_eq!(rows(&tokens), [&[Value::Int(4)][..]], "{tokens:?}");
    assert!(tokens.contains(&Token::Status(4)), "{tokens:?}");
    assert!(tokens.contains(&Token::Returned("@c".to_string(), Value::Int(4))), "{tokens:?}");
    let one = (DONE_IN_PROCEDURE, MORE | COUNT, 1);
    assert_eq!(dones(&tokens), [one, one, (DONE_PROCEDURE, 0, 0)]);
    assert_eq!(errors(&client.call(&[Call::name("nothing")])), [2812]);
    assert_eq!(errors(&client.call(&[Call::name("dbo.[a proc]").int("@a = 1 --", 1)])), [8145]);
    assert_eq!(errors(&client.call(&[Call::name("dbo.[a proc]").int("@z", 1)])), [8145]);
    let tokens = client.call(&[Call::name("sp_databases")]);
    assert!(errors(&tokens).is_empty() && rows(&tokens).len() == 4, "the system's own: {tokens:?}");
    assert!(tokens.contains(&Token::Status(0)), "{tokens:?}");
}

#[test]
fn a_temporary_procedure_is_called_by_its_session_until_that_is_reset() {
    let fixture = Fixture::new();
    let (mut client, mut other) = (fixture.client(), fixture.client());
    client.run("CREATE PROCEDURE #double @a int, @b int OUTPUT AS BEGIN SET @b = @a * 2; RETURN 3 END");
    let call = || Call::name("#double").int("@a", 4).output("@b");
    let tokens = client.call(&[call()]);
    assert!(errors(&tokens).is_empty() && tokens.contains(&Token::Status(3)), "{tokens:?}");
    assert!(tokens.contains(&Token::Returned("@b".to_string(), Value::Int(8))), "{tokens:?}");
    assert_eq!(errors(&other.call(&[call()])), [2812]);
    assert_eq!(errors(&client.batch("CREATE PROCEDURE #double AS SELECT 1")), [2714]);
    client.run("CREATE PROCEDURE ##all AS SELECT 1");
    assert!(errors(&other.call(&[Call::name("##all")])).is_empty(), "all sessions see it");
    assert_eq!(errors(&client.batch("DROP PROCEDURE #none")), [3701]);
    client.send_batch_with(8, "SELECT 1");
    client.reply();
    assert_eq!(errors(&client.call(&[call()])), [2812]);
}

#[test]
fn what_drivers_set_and_look_at() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let options =
        "SET ARITHIGNORE ON; SET CURSOR_CLOSE_ON_COMMIT ON; SET TEXTSIZE -1; SELECT @@OPTIONS & 132, @@TEXTSIZE";
    assert_eq!(rows(&client.run(options)), [&[Value::Int(132), Value::Int(-1)][..]]);
    let options =
        "SET ARITHIGNORE OFF; SET CURSOR_CLOSE_ON_COMMIT OFF; SET TEXTSIZE 0; SELECT @@OPTIONS & 132, @@TEXTSIZE";
    assert_eq!(rows(&client.run(options)), [&[Value::Int(0), Value::Int(4096)][..]]);
    assert_eq!(client.scalar("SELECT host_platform FROM sys.dm_os_host_info"), Value::Str("Linux".to_string()));
    let columns = "SELECT COUNT(*) FROM sys.system_columns WHERE name = 'host_platform'";
    assert_eq!(client.scalar(columns), Value::Int(1));
    assert_eq!(errors(&client.batch("CREATE TABLE #bad (a int NULL PRIMARY KEY)")), [8111, 1750]);
}

#[test]
fn several_calls_in_a_message_are_answered_in_order() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let call = |number| Call::number(10).text(&format!("SELECT {number}"));
    let tokens = client.call(&[call(1), call(2), call(3)]);
    let values: Vec<&Value> = rows(&tokens).into_iter().map(|row| &row[0]).collect();
    assert_eq!(values, [&Value::Int(1), &Value::Int(2), &Value::Int(3)]);
    let ends: Vec<u16> = dones(&tokens).iter().filter(|done| done.0 == DONE_PROCEDURE).map(|done| done.1).collect();
    assert_eq!(ends, [MORE, MORE, 0]);
}

#[test]
fn an_error_that_ends_a_batch_ends_the_calls_of_its_message() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.run(TABLE);
    client.run("CREATE PROCEDURE dbo.keep @v nvarchar(9) AS INSERT dbo.t VALUES (CONVERT(int, @v), NULL)");
    let keep =
        |v: &str| Call::name("dbo.keep").with("@v", 0, &SqlType::NVarChar(Length::Limit(9)), &Value::Str(v.into()));
    let tokens = client.call(&[keep("1"), keep("2"), keep("x"), keep("4")]);
    assert_eq!(errors(&tokens), [245]);
    let ends: Vec<u16> = dones(&tokens).iter().filter(|done| done.0 == DONE_PROCEDURE).map(|done| done.1).collect();
    assert_eq!((ends.len(), ends[0], ends[1], ends[2] & (MORE | ERROR)), (3, MORE, MORE, ERROR), "{tokens:?}");
    assert_eq!(client.scalar("SELECT COUNT(*) FROM dbo.t"), Value::Int(2));
    // One that ends its statement ends nothing else.
    let tokens = client.call(&[keep("2"), keep("3")]);
    assert_eq!(errors(&tokens), [2627]);
    assert_eq!(client.scalar("SELECT COUNT(*) FROM dbo.t"), Value::Int(3));
}

#[test]
fn each_statement_that_fails_has_an_end() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.run("CREATE TABLE dbo.s (a tinyint)");
    let tokens = client
        .batch("INSERT dbo.s VALUES (300) INSERT dbo.s VALUES (301) RAISERROR('x', 16, 1) INSERT dbo.s VALUES (302)");
    assert_eq!(errors(&tokens), [220, 220, 50000, 220]);
    assert_eq!(
        dones(&tokens),
        [(DONE, MORE | ERROR, 0), (DONE, MORE | ERROR, 0), (DONE, MORE | ERROR, 0), (DONE, ERROR, 0)]
    );
    // Two errors of one.
    let tokens = client.batch("CREATE TABLE #bad (a int NULL PRIMARY KEY)");
    assert_eq!((errors(&tokens), dones(&tokens)), (vec![8111, 1750], vec![(DONE, ERROR, 0)]));
}

/// Waits for the log so far.
fn log_waits(client: &mut Client) -> Value {
    client.scalar("SELECT waiting_tasks_count FROM sys.dm_os_wait_stats WHERE wait_type = 'WRITELOG'")
}

#[test]
fn calls_in_a_message_wait_for_the_log_together() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.run(TABLE);
    let insert = |number| Call::number(10).text(&format!("INSERT dbo.t VALUES ({number}, NULL)"));
    let mut waits_of = |policy: &str, first: i32, last: Call| {
        client.run(&format!("ALTER SERVER CONFIGURATION SET PIKEPOLE COMMIT_ACKNOWLEDGE = {policy}"));
        let Value::BigInt(before) = log_waits(&mut client) else { panic!("a count") };
        let mut calls: Vec<Call> = (first..first + 9).map(insert).collect();
        calls.push(last);
        let tokens = client.call(&calls);
        let counts: Vec<_> =
            dones(&tokens).iter().filter(|done| done.0 == DONE_IN_PROCEDURE).map(|done| done.2).collect();
        assert_eq!(counts[..9], [1; 9], "{tokens:?}");
        let Value::BigInt(after) = log_waits(&mut client) else { panic!("a count") };
        after - before
    };
    // Some may find that the log writer was quicker.
    let each = waits_of("CALL", 0, insert(9));
    let together = waits_of("MESSAGE", 10, insert(19));
    // The last one has nothing to wait for itself.
    let before_rows = waits_of("MESSAGE", 20, Call::number(10).text("SELECT COUNT(*) FROM dbo.t"));
    assert!(each >= 5 && together <= 1 && before_rows <= 1, "{each} {together} {before_rows}");
    assert_eq!(client.scalar("SELECT COUNT(*) FROM dbo.t"), Value::Int(29));
}

#[test]
fn what_is_promised_is_waited_for_before_rows_leave() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.run(TABLE);
    let insert = |number| Call::number(10).text(&format!("INSERT dbo.t VALUES ({number}, NULL)"));
    // More than is gathered before some of it is sent, between two inserts.
    let rows_between = "INSERT dbo.t VALUES (2, NULL); SELECT REPLICATE('x', 8000) FROM GENERATE_SERIES(1, 20)";
    let Value::BigInt(before) = log_waits(&mut client) else { panic!("a count") };
    let tokens = client.call(&[insert(1), Call::number(10).text(rows_between), insert(3)]);
    assert!(errors(&tokens).is_empty(), "{tokens:?}");
    assert_eq!(rows(&tokens).len(), 20);
    let Value::BigInt(after) = log_waits(&mut client) else { panic!("a count") };
    assert!(after - before <= 2);
}

#[test]
fn transactions_begin_and_end_by_request_and_by_statement() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.run(TABLE);
    // Isolation 0, no name.
    let tokens = client.transaction_request(5, &[0, 0]);
    assert!(tokens.iter().any(|token| matches!(token, Token::Change(8, _))), "{tokens:?}");
    assert_ne!(client.transaction, 0);
    client.run("INSERT dbo.t VALUES (1, NULL)");
    let save = [vec![2], utf16("s")].concat();
    assert!(errors(&client.transaction_request(9, &save)).is_empty());
    client.run("INSERT dbo.t VALUES (2, NULL)");
    assert!(errors(&client.transaction_request(8, &[save, vec![0]].concat())).is_empty());
    assert_eq!(client.scalar("SELECT @@TRANCOUNT"), Value::Int(1));
    let tokens = client.transaction_request(7, &[0, 0]);
    assert!(tokens.iter().any(|token| matches!(token, Token::Change(9, _))), "{tokens:?}");
    assert_eq!(client.scalar("SELECT COUNT(*) FROM dbo.t"), Value::Int(1));
    let tokens = client.run("BEGIN TRANSACTION; DELETE dbo.t");
    assert!(tokens.iter().any(|token| matches!(token, Token::Change(8, _))), "{tokens:?}");
    // Roll back, and begin another at once.
    let tokens = client.transaction_request(8, &[0, 1, 0, 0]);
    let changes: Vec<u8> = tokens
        .iter()
        .filter_map(|token| match token {
            Token::Change(kind, _) => Some(*kind),
            _ => None,
        })
        .collect();
    assert_eq!(changes, [10, 8], "{tokens:?}");
    let tokens = client.run("ROLLBACK");
    assert!(tokens.iter().any(|token| matches!(token, Token::Change(10, _))), "{tokens:?}");
    assert_eq!(errors(&client.transaction_request(7, &[0, 0])), [3902]);
    assert_eq!(client.scalar("SELECT COUNT(*) FROM dbo.t"), Value::Int(1));
}

#[test]
fn long_results_and_long_values_come_whole() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let tokens =
        client.run("SELECT value, REPLICATE(CAST('x' AS varchar(max)), 20000) AS long FROM GENERATE_SERIES(1, 500)");
    let rows = rows(&tokens);
    assert_eq!(rows.len(), 500);
    assert!(rows.iter().all(|row| row[1].as_str().is_some_and(|text| text.len() == 20_000)));
    let text = "ä😀".repeat(50_000);
    let ty = SqlType::NVarChar(Length::Max);
    let call = Call::number(10).text("SELECT @x, LEN(@x)").text("@x nvarchar(max)");
    let tokens = client.call(&[call.with("@x", 0, &ty, &Value::Str(text.clone()))]);
    assert_eq!(crate::client::rows(&tokens)[0][0], Value::Str(text));
}

#[test]
fn what_the_protocol_prepares_a_text_executes_and_the_other_way_round() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let tokens = client.call(&[Call::number(11).output("").text("@n int").text("SELECT @n * 2")]);
    let handle = tokens.iter().find_map(|token| match token {
        Token::Returned(_, Value::Int(handle)) => Some(*handle),
        _ => None,
    });
    let handle = handle.expect("a handle");
    assert_eq!(client.scalar(&format!("EXEC sp_execute {handle}, 21")), Value::Int(42));
    client.run(&format!("EXEC sp_unprepare {handle}"));
    let tokens = client.call(&[Call::number(12).int("", handle).int("", 21)]);
    assert_eq!(errors(&tokens), [8179]);
    let own = client.scalar("DECLARE @h int; EXEC sp_prepare @h OUTPUT, N'@n int', N'SELECT @n * 3'; SELECT @h");
    assert_ne!(own, Value::Int(handle));
    let own = own.as_i64().expect("a handle") as i32;
    let tokens = client.call(&[Call::number(12).int("", own).int("", 5)]);
    assert_eq!(rows(&tokens), [[Value::Int(15)].as_slice()], "{tokens:?}");
}

#[test]
fn a_scalar_function_is_called_as_a_procedure_is() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.run("CREATE FUNCTION dbo.plus (@a int, @b int = 10) RETURNS bigint AS BEGIN RETURN @a + @b END");
    for name in ["dbo.plus", "[plus]", "master.dbo.plus"] {
        let tokens = client.call(&[Call::name(name).int("@b", 2).int("@a", 40)]);
        assert!(errors(&tokens).is_empty(), "{tokens:?}");
        assert!(tokens.contains(&Token::Returned(String::new(), Value::BigInt(42))), "{tokens:?}");
    }
    let tokens = client.call(&[Call::name("dbo.plus").int("", 1)]);
    assert!(tokens.contains(&Token::Returned(String::new(), Value::BigInt(11))), "{tokens:?}");
    let tokens = client.call(&[Call::name("dbo.plus").int("@x", 1)]);
    assert_eq!(errors(&tokens), [8145]);
    assert!(!tokens.iter().any(|token| matches!(token, Token::Returned(..))), "{tokens:?}");
}

#[test]
fn what_is_prepared_tells_its_columns_where_it_is_asked_to() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let prepare =
        |options: i32| Call::number(11).output("").text("@n int").text("SELECT @n AS a, 'x' AS b").int("", options);
    let named = |tokens: &[Token]| tokens.contains(&Token::Columns(vec!["a".to_owned(), "b".to_owned()]));
    let tokens = client.call(&[prepare(1)]);
    assert!(errors(&tokens).is_empty() && named(&tokens) && rows(&tokens).is_empty(), "{tokens:?}");
    assert!(tokens.iter().any(|token| matches!(token, Token::Returned(_, Value::Int(_)))), "{tokens:?}");
    assert!(!named(&client.call(&[prepare(0)])));
    assert!(named(&client.batch("DECLARE @h int; EXEC sp_prepare @h OUTPUT, N'', N'SELECT 1 AS a, 2 AS b', 1")));
}

#[test]
fn a_call_whose_text_fails_returns_a_status() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let prepared =
        client.call(&[Call::number(13).output("").text("@t varchar(10)").text("SELECT CAST(@t AS int)").text("1")]);
    assert!(prepared.contains(&Token::Status(0)), "{prepared:?}");
    let handle = prepared.iter().find_map(|token| match token {
        Token::Returned(_, Value::Int(handle)) => Some(*handle),
        _ => None,
    });
    let failed = client.call(&[Call::number(12).int("", handle.expect("a handle")).text("one")]);
    assert_eq!(errors(&failed), [245]);
    assert!(failed.contains(&Token::Status(245)), "{failed:?}");
}

/// The text has left before the wait ends, which it does only when it is given up.
#[test]
fn what_is_raised_with_nowait_does_not_wait_for_its_batch() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    for raised in
        ["RAISERROR ('progress', 0, 1) WITH NOWAIT", "SET NOCOUNT ON; RAISERROR ('progress', 16, 1) WITH NOWAIT"]
    {
        client.send_batch(&format!("{raised}; WAITFOR DELAY '01:00:00'"));
        let expected = crate::client::utf16("progress");
        let mut said = Vec::new();
        while !said.windows(expected.len()).any(|part| part == expected) {
            let mut part = [0; 1024];
            let count = std::io::Read::read(client.socket(), &mut part).expect("the server says something");
            assert!(count > 0, "the server has closed the connection");
            said.extend_from_slice(&part[..count]);
        }
        client.give_back(&said);
        client.attention();
        assert!(
            client.reply().iter().any(|token| matches!(token, Token::Info(0 | 50000, _) | Token::Error(50000, ..)))
        );
        client.reply();
    }
}

#[test]
fn an_error_of_a_call_is_the_procedures_at_no_line() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.run("CREATE PROCEDURE dbo.p @a tinyint AS SELECT 1 AS one");
    let smallint = |name: &str| Call::name("dbo.p").with(name, 0, &SqlType::SmallInt, &Value::SmallInt(256));
    for (call, number) in [
        (smallint("@a"), 8114),
        (smallint("@b"), 8145),
        (Call::name("dbo.p").int("", 1).int("", 2), 8144),
        (Call::name("dbo.p"), 201),
        (Call::name("dbo.p").output("@a"), 8162),
    ] {
        let tokens = client.call(&[call]);
        let told = tokens.iter().find_map(|token| match token {
            Token::Error(found, line, _) => Some((*found, *line)),
            _ => None,
        });
        assert_eq!(told, Some((number, 0)), "{tokens:?}");
    }
}

#[test]
fn an_output_that_is_the_procedures_default_comes_back() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.run("CREATE PROCEDURE dbo.p @i int, @o int = 8 OUTPUT AS SET @o = @o + @i");
    let call = |status: u8| Call::name("dbo.p").int("@i", 1).with("@o", status, &SqlType::Int, &Value::Int(5));
    let returned = |tokens: &[Token]| {
        let value = |token: &Token| match token {
            Token::Returned(_, value) => Some(value.clone()),
            _ => None,
        };
        tokens.iter().filter_map(value).collect::<Vec<_>>()
    };
    assert_eq!(returned(&client.call(&[call(3)])), [Value::Int(9)]);
    assert_eq!(returned(&client.call(&[call(1)])), [Value::Int(6)]);
    assert!(returned(&client.call(&[call(2)])).is_empty());
}

#[test]
fn outputs_are_converted_as_convert_does_it() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.run("CREATE PROCEDURE dbo.p @m money OUTPUT, @x xml OUTPUT, @v sql_variant OUTPUT AS SELECT @m = 12.5, @x = '<a/>', @v = 7");
    let text = SqlType::NVarChar(Length::Limit(30));
    let call = Call::name("dbo.p").with("@m", 1, &text, &Value::Null).with("@x", 1, &text, &Value::Null);
    let tokens = client.call(&[call.with("@v", 1, &SqlType::Int, &Value::Null)]);
    assert!(errors(&tokens).is_empty(), "{tokens:?}");
    let returned = [("@m", Value::from("12.50")), ("@x", Value::from("<a/>")), ("@v", Value::Int(7))];
    for (name, value) in returned {
        assert!(tokens.contains(&Token::Returned(name.to_string(), value)), "{tokens:?}");
    }
}

#[test]
fn nothing_ends_raiserror_in_a_procedure_that_counts_nothing() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let body = "SELECT 1 AS a; RAISERROR('no', 11, 1); SELECT 2 AS b";
    client.run(&format!("CREATE PROCEDURE dbo.quiet AS SET NOCOUNT ON; {body}"));
    client.run(&format!("CREATE PROCEDURE dbo.loud AS {body}"));
    let behind_error = |tokens: &[Token]| {
        let at = tokens.iter().position(|token| matches!(token, Token::Error(50000, ..))).expect("it raises one");
        tokens[at + 1].clone()
    };
    let columns = Token::Columns(vec!["b".to_string()]);
    let tokens = client.call(&[Call::name("dbo.quiet")]);
    assert_eq!(behind_error(&tokens), columns);
    assert_eq!(dones(&tokens).last(), Some(&(DONE_PROCEDURE, ERROR, 0)));
    let tokens = client.batch("EXEC dbo.quiet");
    assert_eq!((behind_error(&tokens), dones(&tokens).last()), (columns, Some(&(DONE_PROCEDURE, ERROR, 0))));
    assert_eq!(behind_error(&client.call(&[Call::name("dbo.loud")])), Token::Done(DONE_IN_PROCEDURE, ERROR | MORE, 0));
    let tokens = client.batch(&format!("SET NOCOUNT ON; {body}"));
    assert_eq!(behind_error(&tokens), Token::Done(DONE, ERROR | MORE, 0));
}
