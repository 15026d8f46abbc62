"""Tries FreeTDS's own shell, tsql; prints lines as drive.py does."""

import os
import subprocess
import tempfile


def tsql(script, password=os.environ["PIKEPOLE_PASSWORD"]):
    """What tsql prints for a script: its output, and its messages."""
    encryption = "require" if os.environ["PIKEPOLE_ENCRYPT"] == "on" else "off"
    with tempfile.NamedTemporaryFile("w", suffix=".conf") as settings:
        settings.write(
            f"[pikepole]\nhost = {os.environ['PIKEPOLE_HOST']}\nport = {os.environ['PIKEPOLE_PORT']}\n"
            f"tds version = 7.4\nencryption = {encryption}\nclient charset = UTF-8\n"
        )
        settings.flush()
        command = ["tsql", "-S", "pikepole", "-U", os.environ["PIKEPOLE_USER"], "-P", password, "-o", "q"]
        done = subprocess.run(
            command, input=script, text=True, capture_output=True, timeout=120, check=False, env={**os.environ, "FREETDSCONF": settings.name}
        )
        return done.stdout, done.stdout + done.stderr


def connect():
    out, messages = tsql("SELECT DB_NAME() AS d, N'täxt \u4e2d\u6587 \U0001f40e' AS t\ngo\nexit\n")
    assert "master" in out and "täxt \u4e2d\u6587 \U0001f40e" in out, messages
    _, messages = tsql("exit\n", password="not the password")
    assert "18456" in messages, messages


def errors():
    _, messages = tsql("SELECT 1\nSELECT * FROM dbo.nowhere\ngo\nTHROW 51234, 'thrown', 1\ngo\nSELECT 'still here'\ngo\nexit\n")
    for words in ["Msg 208", "Line 2", "nowhere", "Msg 51234", "thrown", "still here"]:
        assert words in messages, (words, messages)


def transactions():
    out, messages = tsql(
        "DROP TABLE IF EXISTS dbo.tsql_t\nCREATE TABLE dbo.tsql_t (a int)\ngo\nBEGIN TRANSACTION\nINSERT dbo.tsql_t VALUES (1)\ngo\n"
        "ROLLBACK\ngo\nINSERT dbo.tsql_t VALUES (42)\ngo\nSELECT SUM(a), COUNT(*) FROM dbo.tsql_t\ngo\nexit\n"
    )
    assert "42\t1" in out, messages


def result_sets():
    out, messages = tsql("SELECT 1 AS a SELECT 'x' AS b, 2 AS c\ngo\nexit\n")
    assert "x\t2" in out and "1" in out.splitlines(), messages


def main():
    for function in [connect, errors, transactions, result_sets]:
        name = function.__name__.replace("_", " ")
        try:
            function()
            print(name, "ok", "", sep="\t", flush=True)
        except Exception as error:  # noqa: BLE001 - a feature's failure is its result
            print(name, "failed", f"{type(error).__name__}: {error}".replace("\n", " ")[:400], sep="\t", flush=True)


if __name__ == "__main__":
    main()
