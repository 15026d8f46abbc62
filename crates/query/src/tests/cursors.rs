//! Cursors.

use super::Client;

fn numbers() -> Client {
    let mut client = Client::alone();
    client
        .quiet("CREATE TABLE t (a int PRIMARY KEY, b varchar(9)) INSERT t VALUES (1, 'one'), (2, 'two'), (3, 'three')");
    client
}

#[test]
fn a_loop_fetches_every_row() {
    let mut client = numbers();
    let script = "DECLARE @a int, @b varchar(9), @sum int = 0, @from int = 2
        DECLARE c CURSOR LOCAL FAST_FORWARD FOR SELECT a, b FROM t WHERE a >= @from ORDER BY a DESC
        SET @from = 100
        OPEN c FETCH NEXT FROM c INTO @a, @b
        WHILE @@FETCH_STATUS = 0 BEGIN SET @sum += @a PRINT @b DELETE t WHERE a = 1 FETCH c INTO @a, @b END
        SELECT @sum, @@FETCH_STATUS, @@CURSOR_ROWS, @@ROWCOUNT CLOSE c DEALLOCATE c";
    for _ in 0..2 {
        assert_eq!(client.shown(script), ["three", "two", "5|-1|2|0"]);
    }
}

#[test]
fn scrolling() {
    let mut client = numbers();
    let script = "DECLARE c CURSOR STATIC FOR SELECT a FROM t OPEN c DELETE t WHERE a = 2
        FETCH LAST FROM c FETCH PRIOR FROM c FETCH FIRST FROM c FETCH ABSOLUTE -1 FROM c FETCH RELATIVE -2 FROM c
        FETCH PRIOR FROM c SELECT @@FETCH_STATUS FETCH c FETCH ABSOLUTE 9 FROM c FETCH PRIOR FROM c";
    assert_eq!(client.shown(script), ["3", "2", "1", "3", "1", "-1", "1", "3"]);
    // It is global: it outlives its batch.
    assert_eq!(client.shown("FETCH FIRST FROM c CLOSE GLOBAL c DEALLOCATE c"), ["1"]);
    let lines = client.lines("DECLARE f CURSOR FOR SELECT a FROM t OPEN f FETCH PRIOR FROM f");
    assert!(lines[0].contains("Msg 16911") && lines[0].contains("fetch type prior"), "{lines:?}");
}

#[test]
fn scopes_and_errors() {
    let mut client = numbers();
    client.quiet("CREATE PROCEDURE p AS BEGIN DECLARE c CURSOR LOCAL FOR SELECT a FROM t OPEN c FETCH c DECLARE g CURSOR GLOBAL FOR SELECT 7 END");
    assert_eq!(client.shown("EXEC p OPEN g FETCH g CLOSE g DEALLOCATE g"), ["1", "7"]);
    for (statement, number) in [
        ("OPEN c", "Msg 16916"),
        ("DECLARE c CURSOR FOR SELECT 1 DECLARE c CURSOR FOR SELECT 1", "Msg 16915"),
        ("CLOSE c", "Msg 16917"),
        ("FETCH c", "Msg 16917"),
        ("OPEN c OPEN c", "Msg 16905"),
        ("DECLARE @a int, @b int FETCH c INTO @a, @b", "Msg 16924"),
        ("DECLARE @c CURSOR OPEN @c", "Msg 16950"),
        ("DECLARE d CURSOR SCROLL_LOCKS FOR SELECT 1", "Msg 40517"),
    ] {
        let lines = client.lines(statement);
        assert!(lines[0].starts_with(number), "{statement}: {lines:?}");
    }
    let captured = "CREATE TABLE #r (a int) INSERT #r EXEC p SELECT a FROM #r DEALLOCATE g";
    assert_eq!(client.shown(captured), ["1"]);
    let variable = "DECLARE @c CURSOR, @x int SET @c = CURSOR FOR SELECT a FROM t OPEN @c FETCH @c INTO @x CLOSE @c DEALLOCATE @c SELECT @x";
    assert_eq!(client.shown(variable), ["1"]);
    assert_eq!(
        client.shown(
            "CREATE TABLE #w (a int) INSERT #w VALUES (5) DECLARE w CURSOR LOCAL FOR SELECT a FROM #w OPEN w FETCH w"
        ),
        ["5"]
    );
}
