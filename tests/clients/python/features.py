"""What each Python client is tried with. A feature is a function of an adapter; what it returns is a reason why it cannot be."""

import threading
import time

from cases import CODE_PAGES, LONG, TYPES, literal, same

FEATURES = []


def feature(function):
    FEATURES.append((function.__name__.replace("_", " "), function))
    return function


def rows(connection, sql, parameters=None):
    cursor = connection.cursor()
    if parameters is None:
        cursor.execute(sql)
    else:
        cursor.execute(sql, parameters)
    return [tuple(row) for row in cursor.fetchall()]


def run(connection, sql, parameters=None):
    cursor = connection.cursor()
    if parameters is None:
        cursor.execute(sql)
    else:
        cursor.execute(sql, parameters)
    return cursor


def fails(client, connection, sql):
    """The number, line and text of the error that a batch ends with."""
    cursor = connection.cursor()
    try:
        cursor.execute(sql)
        while True:
            if cursor.description:
                cursor.fetchall()
            if not cursor.nextset():
                break
    except client.Error as error:
        return client.number_of(error), client.line_of(error), str(error)
    raise AssertionError(f"no error: {sql}")


@feature
def connect(client):
    with client.connect() as connection:
        ((version, name, spid),) = rows(connection, "SELECT @@VERSION, DB_NAME(), @@SPID")
        assert "Pikepole" in version and name == "master" and spid > 50, (version, name, spid)
    try:
        client.connect(password="not the password")
    except client.Error as error:
        assert "18456" in str(error) or "Login failed" in str(error), error
    else:
        raise AssertionError("a wrong password got in")


@feature
def types_read(client):
    with client.connect() as connection:
        for type_name, values in TYPES:
            for value in [*values, None]:
                if client.cannot_read(type_name, value):
                    continue
                ((got,),) = rows(connection, f"SELECT {literal(type_name, value)} AS v")
                assert (got is None) if value is None else same(value, got), (type_name, repr(value)[:80], repr(got)[:80])


@feature
def types_round_trip(client):
    with client.connect() as connection:
        for type_name, values in TYPES:
            run(connection, "DROP TABLE IF EXISTS dbo.round_trip")
            run(connection, f"CREATE TABLE dbo.round_trip (n int PRIMARY KEY, v {type_name})")
            connection.commit()
            sent = [value for value in [*values, None] if not client.cannot_send(type_name, value)]
            for n, value in enumerate(sent):
                run(connection, client.marks("INSERT dbo.round_trip VALUES (?, ?)"), (n, client.sent(value)))
            connection.commit()
            got = rows(connection, "SELECT v FROM dbo.round_trip ORDER BY n")
            for value, (back,) in zip(sent, got, strict=True):
                assert (back is None) if value is None else same(value, back), (type_name, repr(value)[:80], repr(back)[:80])


@feature
def code_pages(client):
    with client.connect() as connection:
        for collation, text in CODE_PAGES:
            run(connection, f"DROP TABLE IF EXISTS dbo.page_t; CREATE TABLE dbo.page_t (v varchar(20) COLLATE {collation})")
            connection.commit()
            run(connection, client.marks("INSERT dbo.page_t VALUES (?)"), (client.sent(text),))
            connection.commit()
            ((got,),) = rows(connection, "SELECT v FROM dbo.page_t")
            assert got == text, (collation, text, got)


@feature
def long_values(client):
    with client.connect() as connection:
        for type_name, value in LONG:
            ((got,),) = rows(connection, f"SELECT {literal(type_name, value)} AS v")
            assert same(value, got), (type_name, "read", repr(got)[:80])
            ((got,),) = rows(connection, client.marks("SELECT ? AS v"), (client.sent(value),))
            assert same(value, got), (type_name, "sent", repr(got)[:80])


@feature
def long_values_stored(client):
    with client.connect() as connection:
        for type_name, value in LONG:
            run(connection, f"DROP TABLE IF EXISTS dbo.long_t; CREATE TABLE dbo.long_t (v {type_name})")
            connection.commit()
            run(connection, client.marks("INSERT dbo.long_t VALUES (?)"), (client.sent(value),))
            connection.commit()
            ((got,),) = rows(connection, "SELECT v FROM dbo.long_t")
            assert same(value, got), (type_name, repr(got)[:80])


@feature
def parameters(client):
    with client.connect() as connection:
        run(connection, "DROP TABLE IF EXISTS dbo.parameters_t; CREATE TABLE dbo.parameters_t (a int, b nvarchar(50), c varbinary(20))")
        for i in range(20):
            run(connection, client.marks("INSERT dbo.parameters_t VALUES (?, ?, ?)"), (i, f"o'brien {i}", client.sent(bytes([i, 0]))))
        connection.commit()
        got = rows(connection, client.marks("SELECT a, b FROM dbo.parameters_t WHERE a > ? AND b LIKE ? ORDER BY a"), (17, "o'%"))
        assert got == [(18, "o'brien 18"), (19, "o'brien 19")], got


@feature
def many_parameters(client):
    with client.connect() as connection:
        run(connection, "DROP TABLE IF EXISTS dbo.many_t; CREATE TABLE dbo.many_t (a int PRIMARY KEY, b varchar(30))")
        connection.commit()
        cursor = connection.cursor()
        cursor.executemany(client.marks("INSERT dbo.many_t VALUES (?, ?)"), [(i, f"row {i}") for i in range(500)])
        connection.commit()
        assert rows(connection, "SELECT COUNT(*), SUM(a) FROM dbo.many_t") == [(500, 124750)]


@feature
def procedures(client):
    with client.connect() as connection:
        run(connection, "DROP PROCEDURE IF EXISTS dbo.add_up")
        run(connection, "CREATE PROCEDURE dbo.add_up @a int, @b int = 5, @sum int OUTPUT AS BEGIN SET @sum = @a + @b; SELECT @sum AS s; RETURN 7 END")
        connection.commit()
        return client.call_procedure(connection)


@feature
def table_valued_parameters(client):
    if client.table("dbo.py_list", []) is None:
        return "the client has none"
    with client.connect() as connection:
        run(connection, "DROP PROCEDURE IF EXISTS dbo.py_tvp; DROP TYPE IF EXISTS dbo.py_list")
        run(connection, "CREATE TYPE dbo.py_list AS TABLE (id int, name nvarchar(20))")
        run(connection, "CREATE PROCEDURE dbo.py_tvp @list dbo.py_list READONLY AS SELECT COUNT(*), MAX(name) FROM @list")
        connection.commit()
        table = client.table("dbo.py_list", [(1, "a"), (2, "b")])
        assert rows(connection, client.marks("EXEC dbo.py_tvp ?"), (table,)) == [(2, "b")]
        cursor = connection.cursor()
        cursor.callproc("dbo.py_tvp", (client.table("dbo.py_list", [(n, f"n{n}") for n in range(5000)]),))
        assert [tuple(row) for row in cursor.fetchall()] == [(5000, "n999")]


@feature
def transactions(client):
    with client.connect() as one, client.connect() as two:
        run(one, "DROP TABLE IF EXISTS dbo.tx; CREATE TABLE dbo.tx (a int PRIMARY KEY)")
        one.commit()
        run(one, "INSERT dbo.tx VALUES (1)")
        assert rows(two, "SELECT COUNT(*) FROM dbo.tx") == [(0,)]
        two.commit()
        one.rollback()
        assert rows(one, "SELECT COUNT(*) FROM dbo.tx") == [(0,)]
        run(one, "INSERT dbo.tx VALUES (2)")
        one.commit()
        assert rows(two, "SELECT a FROM dbo.tx") == [(2,)]


@feature
def savepoints(client):
    with client.connect() as connection:
        run(connection, "DROP TABLE IF EXISTS dbo.sp; CREATE TABLE dbo.sp (a int)")
        connection.commit()
        run(connection, "INSERT dbo.sp VALUES (1)")
        run(connection, "SAVE TRANSACTION here")
        run(connection, "INSERT dbo.sp VALUES (2)")
        run(connection, "ROLLBACK TRANSACTION here")
        connection.commit()
        assert rows(connection, "SELECT a FROM dbo.sp") == [(1,)]


@feature
def errors(client):
    with client.connect() as connection:
        cases = [
            ("SELECT 1\nSELECT * FROM dbo.nowhere", 208, 2, "nowhere"),
            ("SELECT 1 +\n\n* FROM", 102, 3, "syntax"),
            ("DECLARE @i int = 0;\nSELECT 1 / @i", 8134, 2, "zero"),
            ("RAISERROR('of our own', 16, 3)", 50000, 1, "of our own"),
            ("THROW 51234, 'thrown', 1", 51234, 1, "thrown"),
            ("SELECT CAST('x' AS int)", 245, 1, "x"),
        ]
        for sql, number, line, words in cases:
            got = fails(client, connection, sql)
            assert words in got[2], (sql, got)
            assert got[0] in (number, None), (sql, got)
            assert got[1] in (line, None), (sql, got)
            connection.rollback()
        assert rows(connection, "SELECT 'still here'") == [("still here",)]


@feature
def result_sets(client):
    with client.connect() as connection:
        cursor = run(connection, "SELECT 1 AS a; SELECT 'x' AS b, 2 AS c; SELECT 3 AS d WHERE 1 = 0; SELECT 4 AS e")
        seen = []
        while True:
            if cursor.description:
                seen.append(([column[0] for column in cursor.description], [tuple(row) for row in cursor.fetchall()]))
            if not cursor.nextset():
                break
        assert seen == [(["a"], [(1,)]), (["b", "c"], [("x", 2)]), (["d"], []), (["e"], [(4,)])], seen


@feature
def a_million_rows(client):
    with client.connect() as connection:
        cursor = run(connection, "SELECT value, value * 2 AS twice, CAST(value AS varchar(20)) AS text FROM GENERATE_SERIES(1, 1000000)")
        count = total = 0
        while part := cursor.fetchmany(20_000):
            count += len(part)
            total += sum(row[0] for row in part)
        assert (count, total) == (1_000_000, 500_000_500_000), (count, total)


@feature
def row_counts(client):
    with client.connect() as connection:
        run(connection, "DROP TABLE IF EXISTS dbo.counts; CREATE TABLE dbo.counts (a int)")
        assert run(connection, "INSERT dbo.counts SELECT value FROM GENERATE_SERIES(1, 10)").rowcount == 10
        assert run(connection, "UPDATE dbo.counts SET a = a + 1 WHERE a > 5").rowcount == 5
        assert run(connection, "DELETE dbo.counts WHERE a = 77").rowcount == 0
        connection.commit()


@feature
def bulk_insert(client):
    return client.bulk_insert()


@feature
def cancel(client):
    return client.cancel()


@feature
def time_out(client):
    with client.connect(timeout=1) as connection:
        began = time.monotonic()
        try:
            run(connection, "WAITFOR DELAY '00:00:20'")
        except client.Error:
            took = time.monotonic() - began
            assert took < 10, took
        else:
            return "the client has no time-out for a query" if client.no_query_timeout else _raise("no time-out")
    with client.connect() as connection:
        assert rows(connection, "SELECT 1") == [(1,)]


def _raise(text):
    raise AssertionError(text)


@feature
def reconnect(client):
    for _ in range(30):
        with client.connect() as connection:
            assert rows(connection, "SELECT 1") == [(1,)]
    connection = client.connect()
    ((spid,),) = rows(connection, "SELECT @@SPID")
    with client.connect() as other:
        client.autocommit(other)
        run(other, f"KILL {spid}")
    try:
        rows(connection, "SELECT 1")
    except client.Error:
        pass
    else:
        raise AssertionError("a killed session answers")
    with client.connect() as again:
        assert rows(again, "SELECT 1") == [(1,)]


@feature
def two_hundred_connections(client):
    failures = []

    def one(number):
        try:
            with client.connect() as connection:
                for turn in range(5):
                    assert rows(connection, client.marks("SELECT ? + ?"), (number, turn)) == [(number + turn,)]
        except Exception as error:  # noqa: BLE001 - told by the main thread
            failures.append(error)

    threads = [threading.Thread(target=one, args=(number,)) for number in range(200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, (len(failures), failures[0])
