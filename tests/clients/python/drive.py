"""Tries one Python client: `drive.py CLIENT`, with the server in PIKEPOLE_HOST, _PORT, _USER, _PASSWORD and _ENCRYPT (off, on).

Prints a line a feature: its name, a tab, `ok`, `failed` or `not`, a tab and the reason.
"""

import os
import sys
import threading
import time
import traceback

import features
from features import rows, run

HOST, PORT = os.environ["PIKEPOLE_HOST"], int(os.environ["PIKEPOLE_PORT"])
USER, PASSWORD = os.environ["PIKEPOLE_USER"], os.environ["PIKEPOLE_PASSWORD"]
ENCRYPT = os.environ["PIKEPOLE_ENCRYPT"] == "on"


class Client:
    """A DB-API client with `?` for its parameter marks."""

    no_query_timeout = False

    def marks(self, sql):
        return sql

    def cannot_read(self, type_name, value):
        return False

    def cannot_send(self, type_name, value):
        return self.cannot_read(type_name, value)

    def sent(self, value):
        """A value in the class that the client sends as it is meant."""
        return value

    def number_of(self, error):
        return None

    def line_of(self, error):
        return None

    def table(self, type_name, rows):
        """A table-valued parameter; None when the client has none."""
        return None

    def bulk_insert(self):
        return "the client has none"

    def check_bulk(self, connection, count):
        assert rows(connection, "SELECT COUNT(*), SUM(CAST(a AS bigint)), MIN(b), SUM(CASE WHEN c IS NULL THEN 1 ELSE 0 END) FROM dbo.bulk_t") == [
            (count, count * (count - 1) // 2, "text 0", count // 2)
        ]

    def bulk_table(self, connection):
        run(connection, "DROP TABLE IF EXISTS dbo.bulk_t; CREATE TABLE dbo.bulk_t (a int NOT NULL, b nvarchar(40) NOT NULL, c float NULL)")
        connection.commit()

    @staticmethod
    def bulk_rows(count):
        return [(i, f"text {i}", None if i % 2 else i / 2) for i in range(count)]

    def cancel(self):
        with self.connect() as connection:
            cursor = connection.cursor()
            timer = threading.Timer(0.5, cursor.cancel)
            timer.start()
            began = time.monotonic()
            try:
                cursor.execute("WAITFOR DELAY '00:00:20'")
            except self.Error:
                pass
            assert time.monotonic() - began < 10
            connection.rollback()
            assert rows(connection, "SELECT 1") == [(1,)]


class PyMssql(Client):
    def __init__(self):
        import pymssql

        self.module, self.Error = pymssql, pymssql.Error

    def connect(self, password=PASSWORD, timeout=0):
        encryption = "require" if ENCRYPT else "off"
        return self.module.connect(HOST, USER, password, "master", port=str(PORT), timeout=timeout, encryption=encryption)

    def autocommit(self, connection):
        connection.autocommit(True)

    def marks(self, sql):
        return sql.replace("%", "%%").replace("?", "%s")

    def cannot_read(self, type_name, value):
        # FreeTDS hands out what it has no Python class for as text or bytes of its own.
        return type_name.startswith(("datetimeoffset", "time"))

    def cannot_send(self, type_name, value):
        # It writes parameters into the text, in its own way.
        if type_name.startswith("datetime2") and value is not None and value.microsecond % 1000:
            return True
        # Empty bytes become an empty text, which is no varbinary.
        return self.cannot_read(type_name, value) or value == b"" or (type_name in ("float", "real") and value is not None and abs(value) < 1e-300)

    def number_of(self, error):
        return error.args[0] if isinstance(error.args[0], int) else None

    def call_procedure(self, connection):
        cursor = connection.cursor()
        # It looks at the outputs before it has read a result set, so the procedure has none.
        run(connection, "DROP PROCEDURE IF EXISTS dbo.add_quietly")
        run(connection, "CREATE PROCEDURE dbo.add_quietly @a int, @b int, @sum int OUTPUT AS SET @sum = @a + @b")
        connection.commit()
        out = self.module.output(int)
        got = cursor.callproc("dbo.add_quietly", (3, 4, out))
        assert got[2] == 7, got

    def bulk_insert(self):
        with self.connect() as connection:
            self.bulk_table(connection)
            connection.bulk_copy("dbo.bulk_t", self.bulk_rows(10_000))
            connection.commit()
            self.check_bulk(connection, 10_000)

    def cancel(self):
        return "the client has none"


class PythonTds(Client):
    def __init__(self):
        import pytds

        self.module, self.Error = pytds, (pytds.Error, OSError)

    def connect(self, password=PASSWORD, timeout=None):
        more = {"cafile": os.environ["PIKEPOLE_CERTIFICATE"], "validate_host": False} if ENCRYPT else {}
        # It gives an attempt up after a twelfth of the time and begins another: with two hundred at once on a busy machine that is the
        # same work over and over.
        return self.module.connect(HOST, "master", USER, password, port=PORT, timeout=timeout, login_timeout=120, **more)

    def autocommit(self, connection):
        connection.autocommit = True

    def marks(self, sql):
        return sql.replace("%", "%%").replace("?", "%s")

    def table(self, type_name, rows):
        return self.module.TableValuedParam(type_name, rows=rows)

    def sent(self, value):
        # It takes plain bytes for a text.
        return self.module.Binary(value) if isinstance(value, bytes) else value

    def cannot_send(self, type_name, value):
        # It sends NULL as nvarchar, which SQL Server does not convert to binary either (error 257).
        return value is None and ("binary" in type_name or type_name == "image")

    def cancel(self):
        # Its cancel reads the answer itself: not while another thread does.
        with self.connect() as connection:
            cursor = connection.cursor()
            cursor.execute("SELECT value FROM GENERATE_SERIES(1, 100000000)")
            assert cursor.fetchone() == (1,)
            began = time.monotonic()
            cursor.cancel()
            assert time.monotonic() - began < 10
            connection.rollback()
            assert rows(connection, "SELECT 1") == [(1,)]

    def number_of(self, error):
        return getattr(error, "number", None) or getattr(error, "msg_no", None)

    def line_of(self, error):
        return getattr(error, "line", None) or None

    def call_procedure(self, connection):
        cursor = connection.cursor()
        # It gives the outputs by their places among all parameters, in a list as long as there are outputs: they must come first.
        cursor.callproc("dbo.add_up", {"@sum": self.module.output(param_type=int), "@a": 3, "@b": 4})
        while cursor.nextset():
            pass
        assert cursor.get_proc_outputs() == [7], cursor.get_proc_outputs()
        assert cursor.get_proc_return_status() == 7, cursor.get_proc_return_status()

    def bulk_insert(self):
        from pytds.tds_types import FloatType, IntType, NVarCharType

        with self.connect() as connection:
            self.bulk_table(connection)
            columns = [
                self.module.Column("a", type=IntType(), flags=0),
                self.module.Column("b", type=NVarCharType(40), flags=0),
                self.module.Column("c", type=FloatType(), flags=1),
            ]
            connection.cursor().copy_to(data=self.bulk_rows(10_000), table_or_view="bulk_t", schema="dbo", columns=columns)
            connection.commit()
            self.check_bulk(connection, 10_000)


class MssqlPython(Client):
    def __init__(self):
        import mssql_python

        self.module, self.Error = mssql_python, mssql_python.Error

    def connect(self, password=PASSWORD, timeout=0):
        encrypt = "yes" if ENCRYPT else "no"
        text = f"Server={HOST},{PORT};Database=master;UID={USER};PWD={password};Encrypt={encrypt};TrustServerCertificate=yes;"
        connection = self.module.connect(text)
        connection.timeout = timeout
        return connection

    def autocommit(self, connection):
        connection.autocommit = True

    def call_procedure(self, connection):
        # ODBC's call syntax is not there; the batch takes the value out itself.
        cursor = connection.cursor()
        cursor.execute("SET NOCOUNT ON; DECLARE @s int, @r int; EXEC @r = dbo.add_up @a = ?, @b = ?, @sum = @s OUTPUT; SELECT @s, @r", (3, 4))
        assert cursor.fetchone()[0] == 7
        assert cursor.nextset()
        assert tuple(cursor.fetchone()) == (7, 7)

    def bulk_insert(self):
        with self.connect() as connection:
            self.bulk_table(connection)
            cursor = connection.cursor()
            cursor.bulkcopy("dbo.bulk_t", self.bulk_rows(10_000))
            connection.commit()
            self.check_bulk(connection, 10_000)

    def cancel(self):
        return "the client has none"


CLIENTS = {"pymssql": PyMssql, "python-tds": PythonTds, "mssql-python": MssqlPython}


def main():
    client = CLIENTS[sys.argv[1]]()
    only = sys.argv[2:]
    for name, function in features.FEATURES:
        if only and name not in only:
            continue
        try:
            reason = function(client)
            print(name, "not" if reason else "ok", reason or "", sep="\t", flush=True)
        except Exception as error:  # noqa: BLE001 - a feature's failure is its result
            print(name, "failed", f"{type(error).__name__}: {error}".replace("\n", " ")[:300], sep="\t", flush=True)
            if os.environ.get("PIKEPOLE_TRACE"):
                traceback.print_exc()


if __name__ == "__main__":
    main()
