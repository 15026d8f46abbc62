using System;
using System.Collections.Generic;
using System.Data;
using System.Data.SqlClient;
using System.Linq;
using System.Transactions;

/// <summary>What is asked of a server by commands: parameters, procedures, transactions, errors, results.</summary>
public static class Commands
{
    public static void AddTo(List<KeyValuePair<string, Action>> features)
    {
        features.Add("parameters", Parameters);
        features.Add("many parameters", ManyParameters);
        features.Add("procedures", Procedures);
        features.Add("derived parameters", DerivedParameters);
        features.Add("prepared statements", Prepared);
        features.Add("transactions", Transactions);
        features.Add("savepoints", Savepoints);
        features.Add("isolation levels", IsolationLevels);
        features.Add("transaction scopes", TransactionScopes);
        features.Add("errors", Errors);
        features.Add("messages", Messages);
        features.Add("result sets", ResultSets);
        features.Add("row counts", RowCounts);
        features.Add("a million rows", MillionRows);
        features.Add("xml readers", XmlReaders);
    }

    private static void Parameters()
    {
        using (var connection = Drive.Connect())
        {
            object[][] got = Drive.Rows(connection, "SELECT @a + 1, @b, @c, @d", "@a", 41, "@b", "o'brien", "@c", DBNull.Value, "@d", 'x');
            Drive.Equal(got, Drive.Row((object)Drive.Row(42, "o'brien", DBNull.Value, "x")), "answer");
            using (var command = Drive.Command(connection, "SET @out = @in * 2; SET @both += 1", "@in", 4))
            {
                SqlParameter result = command.Parameters.Add("@out", SqlDbType.Int), both = command.Parameters.AddWithValue("@both", 6L);
                result.Direction = ParameterDirection.Output;
                both.Direction = ParameterDirection.InputOutput;
                command.ExecuteNonQuery();
                Drive.Equal(Drive.Row(result.Value, both.Value), Drive.Row(8, 7L), "outputs");
            }
            SqlException error = Drive.Fails<SqlException>(() => Drive.Scalar(connection, "SELECT @missing", "@other", 1));
            Drive.Equal(error.Number, 137, "undeclared");
            using (var command = new SqlCommand("SELECT @d", connection))
            {
                // Cut to the size that it is said to have.
                command.Parameters.Add("@d", SqlDbType.NVarChar, 3).Value = "abcdef";
                Drive.Equal(command.ExecuteScalar(), "abc", "size");
            }
        }
    }

    private static void ManyParameters()
    {
        using (var connection = Drive.Connect())
        using (var command = new SqlCommand("SELECT " + string.Join(", ", Enumerable.Range(0, 2090).Select(i => "@p" + i)), connection))
        {
            for (int i = 0; i < 2090; i++)
            {
                command.Parameters.AddWithValue("@p" + i, i);
            }
            using (var reader = command.ExecuteReader())
            {
                Drive.Equal(Drive.Rows(reader)[0], Enumerable.Range(0, 2090), "values");
            }
            for (int i = 2090; i < 2110; i++)
            {
                command.Parameters.AddWithValue("@p" + i, i);
            }
            Drive.Equal(Drive.Fails<SqlException>(() => command.ExecuteScalar()).Number, 8003, "too many");
            Drive.Equal(Drive.Scalar(connection, "SELECT 1"), 1, "afterwards");
        }
    }

    private static void MakeProcedure(SqlConnection connection)
    {
        Drive.Run(connection, "DROP PROCEDURE IF EXISTS dbo.dotnet_p", "CREATE PROCEDURE dbo.dotnet_p @a int, @b decimal(9, 2) = 1.5, @sum int OUTPUT, @text nvarchar(40) = N'd' OUTPUT AS BEGIN "
            + "SET @sum = @a + 5; SELECT @a AS a, @b AS b; SET @text += N'\u4e2d'; RETURN 7 END");
    }

    private static void Procedures()
    {
        using (var connection = Drive.Connect())
        {
            MakeProcedure(connection);
            using (var command = new SqlCommand("dbo.dotnet_p", connection) { CommandType = CommandType.StoredProcedure })
            {
                command.Parameters.AddWithValue("@a", 3);
                SqlParameter sum = command.Parameters.Add("@sum", SqlDbType.Int), text = command.Parameters.Add("@text", SqlDbType.NVarChar, 40);
                SqlParameter status = command.Parameters.Add("@RETURN_VALUE", SqlDbType.Int);
                sum.Direction = text.Direction = ParameterDirection.Output;
                text.Direction = ParameterDirection.InputOutput;
                text.Value = "x";
                status.Direction = ParameterDirection.ReturnValue;
                using (var reader = command.ExecuteReader())
                {
                    Drive.Equal(Drive.Rows(reader), Drive.Row((object)Drive.Row(3, 1.5m + 0.00m)), "rows");
                    Drive.Equal(reader.NextResult(), false, "results");
                }
                Drive.Equal(Drive.Row(status.Value, sum.Value, text.Value), Drive.Row(7, 8, "x\u4e2d"), "outputs");
                command.CommandText = "dbo.nowhere";
                SqlException error = Drive.Fails<SqlException>(() => command.ExecuteNonQuery());
                Drive.Equal(Drive.Row(error.Number, error.Errors[0].Message), Drive.Row(2812, "Could not find stored procedure 'dbo.nowhere'."), "unknown");
                command.CommandText = "[master]..[dotnet_p]";
                command.Parameters.RemoveAt("@a");
                error = Drive.Fails<SqlException>(() => command.ExecuteNonQuery());
                Drive.Equal(Drive.Row(error.Number, error.Procedure), Drive.Row(201, "dotnet_p"), "without @a");
            }
        }
    }

    private static void DerivedParameters()
    {
        using (var connection = Drive.Connect())
        {
            MakeProcedure(connection);
            using (var command = new SqlCommand("dbo.dotnet_p", connection) { CommandType = CommandType.StoredProcedure })
            {
                SqlCommandBuilder.DeriveParameters(command);
                string[] got = command.Parameters.Cast<SqlParameter>().Select(p => p.ParameterName + " " + p.SqlDbType + " " + p.Direction + " " + p.Size + " " + p.Precision + " " + p.Scale).ToArray();
                Drive.Equal(got, new[] { "@RETURN_VALUE Int ReturnValue 0 0 0", "@a Int Input 0 0 0", "@b Decimal Input 0 9 2", "@sum Int InputOutput 0 0 0", "@text NVarChar InputOutput 40 0 0" }, "parameters");
            }
            Drive.Run(connection, "DROP PROCEDURE IF EXISTS dbo.dotnet_d; DROP TYPE IF EXISTS dbo.dotnet_dt", "CREATE TYPE dbo.dotnet_dt AS TABLE (a int)",
                "CREATE PROCEDURE dbo.dotnet_d @t dbo.dotnet_dt READONLY, @v varchar(max), @d datetime2(3), @o datetimeoffset, @x xml, @g uniqueidentifier, @vb varbinary(20), @s sysname, @m money AS RETURN");
            using (var command = new SqlCommand("dotnet_d", connection) { CommandType = CommandType.StoredProcedure })
            {
                SqlCommandBuilder.DeriveParameters(command);
                string[] got = command.Parameters.Cast<SqlParameter>().Select(p => p.ParameterName + " " + p.SqlDbType + " " + p.TypeName + " " + p.Size + " " + p.Scale).ToArray();
                Drive.Equal(got, new[] { "@RETURN_VALUE Int  0 0", "@t Structured master.dbo.dotnet_dt 0 0", "@v VarChar  -1 0", "@d DateTime2  0 3", "@o DateTimeOffset  0 7", "@x Xml  0 0",
                    "@g UniqueIdentifier  0 0", "@vb VarBinary  20 0", "@s NVarChar  128 0", "@m Money  0 0" }, "parameters");
                command.CommandText = "dbo.nowhere";
                Drive.Fails<InvalidOperationException>(() => SqlCommandBuilder.DeriveParameters(command));
            }
        }
    }

    private static void Prepared()
    {
        using (var connection = Drive.Connect())
        {
            Drive.Run(connection, "DROP TABLE IF EXISTS dbo.dotnet_h; CREATE TABLE dbo.dotnet_h (a int PRIMARY KEY, b varchar(20), c decimal(9, 2))");
            using (var insert = new SqlCommand("INSERT dbo.dotnet_h VALUES (@a, @b, @c)", connection))
            {
                insert.Parameters.Add("@a", SqlDbType.Int);
                insert.Parameters.Add("@b", SqlDbType.VarChar, 20);
                insert.Parameters.Add(new SqlParameter("@c", SqlDbType.Decimal) { Precision = 9, Scale = 2 });
                insert.Prepare();
                for (int n = 0; n < 100; n++)
                {
                    insert.Parameters[0].Value = n;
                    insert.Parameters[1].Value = "row " + n;
                    insert.Parameters[2].Value = n + 0.25m;
                    Drive.Equal(insert.ExecuteNonQuery(), 1, "rows");
                }
                insert.Parameters[0].Value = 5;
                Drive.Equal(Drive.Fails<SqlException>(() => insert.ExecuteNonQuery()).Number, 2627, "duplicate");
            }
            Drive.Equal(Drive.Rows(connection, "SELECT COUNT(*), SUM(a), SUM(c) FROM dbo.dotnet_h"), Drive.Row((object)Drive.Row(100, 4950, 4975.00m)), "table");
            using (var select = new SqlCommand("SELECT b FROM dbo.dotnet_h WHERE a = @a", connection))
            {
                select.Parameters.Add("@a", SqlDbType.Int);
                select.Prepare();
                for (int n = 0; n < 20; n++)
                {
                    select.Parameters[0].Value = n;
                    Drive.Equal(select.ExecuteScalar(), "row " + n, "row");
                }
                // Prepared again, because the text is another.
                select.CommandText = "SELECT a FROM dbo.dotnet_h WHERE a = @a";
                Drive.Equal(select.ExecuteScalar(), 19, "another text");
            }
        }
    }

    private static void Transactions()
    {
        using (var one = Drive.Connect())
        using (var two = Drive.Connect())
        {
            Drive.Run(one, "DROP TABLE IF EXISTS dbo.dotnet_x; CREATE TABLE dbo.dotnet_x (a int PRIMARY KEY)");
            foreach (bool commits in new[] { false, true })
            {
                using (SqlTransaction transaction = one.BeginTransaction())
                using (var insert = new SqlCommand("INSERT dbo.dotnet_x VALUES (1)", one, transaction))
                {
                    insert.ExecuteNonQuery();
                    Drive.Equal(Drive.Scalar(two, "SELECT COUNT(*) FROM dbo.dotnet_x WITH (READPAST)"), 0, "others see");
                    if (commits)
                    {
                        transaction.Commit();
                    }
                }
                Drive.Equal(Drive.Scalar(two, "SELECT COUNT(*) FROM dbo.dotnet_x"), commits ? 1 : 0, "afterwards");
            }
            // The server ends the transaction by itself: the client hears of it.
            using (SqlTransaction transaction = one.BeginTransaction())
            {
                Drive.Fails<SqlException>(() => new SqlCommand("SET XACT_ABORT ON; INSERT dbo.dotnet_x VALUES (1)", one, transaction).ExecuteNonQuery());
                Drive.True(transaction.Connection == null, "the transaction is over");
                Drive.Run(one, "SET XACT_ABORT OFF");
            }
            // A command without the transaction of its connection is refused by the client.
            using (one.BeginTransaction())
            {
                Drive.Fails<InvalidOperationException>(() => Drive.Run(one, "SELECT 1"));
            }
            // Statements of transactions, which the client follows.
            Drive.Run(one, "BEGIN TRANSACTION", "INSERT dbo.dotnet_x VALUES (2)", "ROLLBACK");
            Drive.Equal(Drive.Scalar(one, "SELECT COUNT(*) + @@TRANCOUNT FROM dbo.dotnet_x"), 1, "rolled back");
        }
    }

    private static void Savepoints()
    {
        using (var connection = Drive.Connect())
        {
            Drive.Run(connection, "DROP TABLE IF EXISTS dbo.dotnet_s; CREATE TABLE dbo.dotnet_s (a int)");
            using (SqlTransaction transaction = connection.BeginTransaction("named"))
            {
                new SqlCommand("INSERT dbo.dotnet_s VALUES (1)", connection, transaction).ExecuteNonQuery();
                transaction.Save("here");
                new SqlCommand("INSERT dbo.dotnet_s VALUES (2)", connection, transaction).ExecuteNonQuery();
                transaction.Rollback("here");
                new SqlCommand("INSERT dbo.dotnet_s VALUES (3)", connection, transaction).ExecuteNonQuery();
                transaction.Commit();
            }
            Drive.Equal(Drive.Scalar(connection, "SELECT SUM(a) FROM dbo.dotnet_s"), 4, "sum");
        }
    }

    private static void IsolationLevels()
    {
        var levels = new[] { System.Data.IsolationLevel.ReadUncommitted, System.Data.IsolationLevel.ReadCommitted, System.Data.IsolationLevel.RepeatableRead, System.Data.IsolationLevel.Serializable, System.Data.IsolationLevel.Snapshot };
        using (var connection = Drive.Connect())
        {
            for (int level = 0; level < levels.Length; level++)
            {
                using (SqlTransaction transaction = connection.BeginTransaction(levels[level]))
                {
                    Drive.Equal(transaction.IsolationLevel, levels[level], "level");
                    var command = new SqlCommand("SELECT CAST(transaction_isolation_level AS int) FROM sys.dm_exec_sessions WHERE session_id = @@SPID", connection, transaction);
                    Drive.Equal(command.ExecuteScalar(), level + 1, levels[level].ToString());
                }
            }
        }
    }

    private static void TransactionScopes()
    {
        using (var connection = Drive.Connect())
        {
            Drive.Run(connection, "DROP TABLE IF EXISTS dbo.dotnet_c; CREATE TABLE dbo.dotnet_c (a int)");
        }
        foreach (bool completes in new[] { false, true })
        {
            var scope = new TransactionScope();
            using (var connection = Drive.Connect())
            {
                Drive.Run(connection, "INSERT dbo.dotnet_c VALUES (1)");
                Drive.Equal(Drive.Scalar(connection, "SELECT @@TRANCOUNT"), 1, "transactions");
            }
            if (completes)
            {
                scope.Complete();
            }
            try
            {
                scope.Dispose();
            }
            catch (Exception error) when ((error.InnerException ?? error) is ObjectDisposedException)
            {
                // Mono rolls a transaction back that has ended, and its SqlClient does not expect that; the server has done its part before.
            }
            using (var connection = Drive.Connect())
            {
                Drive.Equal(Drive.Scalar(connection, "SELECT COUNT(*) FROM dbo.dotnet_c"), completes ? 1 : 0, "afterwards");
                Drive.Equal(Drive.Scalar(connection, "SELECT @@TRANCOUNT"), 0, "transactions afterwards");
            }
        }
    }

    private static string Of(SqlError error)
    {
        return error.Number + " " + error.Class + " " + error.State + " " + error.LineNumber + " " + error.Procedure + " " + error.Message;
    }

    private static void Errors()
    {
        using (var connection = Drive.Connect())
        {
            Drive.Run(connection, "DROP PROCEDURE IF EXISTS dbo.dotnet_e", "CREATE PROCEDURE dbo.dotnet_e AS\nBEGIN\n  RAISERROR('in it', 16, 4)\nEND");
            var cases = new[]
            {
                ("SELECT 1\nSELECT * FROM dbo.nowhere", new[] { "208 16 1 2  Invalid object name 'dbo.nowhere'." }),
                ("SELECT 1 +\n\n* FROM", new[] { "102 15 1 3  Incorrect syntax near '*'." }),
                ("DECLARE @i int = 0;\nSELECT 1 / @i", new[] { "8134 16 1 2  Divide by zero error encountered." }),
                ("SELECT 1/0", new[] { "8134 16 1 1  Divide by zero error encountered." }),
                ("RAISERROR('of our own', 16, 3)", new[] { "50000 16 3 1  of our own" }),
                ("THROW 51234, 'thrown', 1", new[] { "51234 16 1 1  thrown" }),
                ("\nEXEC dbo.dotnet_e", new[] { "50000 16 4 3 dbo.dotnet_e in it" }),
                ("RAISERROR('a', 16, 1); RAISERROR('b', 16, 1)", new[] { "50000 16 1 1  a", "50000 16 1 1  b" }),
            };
            foreach (var each in cases)
            {
                string sql = each.Item1;
                string[] expected = each.Item2;
                SqlException error = Drive.Fails<SqlException>(() => Drive.Run(connection, sql));
                string[] got = error.Errors.Cast<SqlError>().Where(told => told.Class > 10).Select(Of).ToArray();
                Drive.Equal(got, expected, sql);
                Drive.True(error.Server != null && error.ClientConnectionId == connection.ClientConnectionId, "server");
            }
            // What comes before the error can be read, and what comes behind it.
            using (var reader = Drive.Command(connection, "SELECT 1 AS a; SELECT 1/0; SELECT 2 AS b").ExecuteReader())
            {
                Drive.Equal(Drive.Rows(reader), Drive.Row((object)Drive.Row(1)), "first");
                Drive.Equal(Drive.Fails<SqlException>(() => { reader.NextResult(); reader.Read(); }).Number, 8134, "second");
            }
            Drive.Equal(Drive.Scalar(connection, "SELECT 'still here'"), "still here", "afterwards");
            // The connection is closed by an error of severity 20.
            Drive.Fails<SqlException>(() => Drive.Run(connection, "RAISERROR('fatal', 20, 1) WITH LOG"));
            Drive.Equal(connection.State, ConnectionState.Closed, "state");
        }
    }

    private static void Messages()
    {
        using (var connection = Drive.Connect())
        {
            var heard = new List<string>();
            connection.InfoMessage += (sender, told) => heard.AddRange(told.Errors.Cast<SqlError>().Select(Of));
            Drive.Run(connection, "PRINT 'one';\nPRINT 'two'; RAISERROR('three', 10, 2); RAISERROR('four', 5, 1) WITH NOWAIT");
            Drive.Equal(heard, new[] { "0 0 1 1  one", "0 0 1 2  two", "50000 0 2 2  three", "50000 5 1 2  four" }, "messages");
            heard.Clear();
            connection.FireInfoMessageEventOnUserErrors = true;
            Drive.Run(connection, "SELECT 1/0; PRINT 'on'");
            Drive.Equal(heard, new[] { "8134 16 1 1  Divide by zero error encountered.", "0 0 1 1  on" }, "errors as messages");
            heard.Clear();
            connection.ChangeDatabase("tempdb");
            Drive.Equal(connection.Database, "tempdb", "database");
            Drive.Run(connection, "USE master");
            Drive.Equal(connection.Database, "master", "database");
        }
    }

    private static void ResultSets()
    {
        using (var connection = Drive.Connect())
        using (var reader = Drive.Command(connection, "SELECT 1 AS a; DECLARE @x int = 1; SELECT 'x' AS b, 2 AS c; SELECT 3 AS d WHERE 1 = 0; UPDATE #none SET a = 1 WHERE 1 = 0; SELECT 4 AS e".Replace("UPDATE #none SET a = 1 WHERE 1 = 0; ", "")).ExecuteReader())
        {
            var seen = new List<object>();
            do
            {
                seen.Add(Enumerable.Range(0, reader.FieldCount).Select(reader.GetName).ToArray());
                Drive.Equal(reader.HasRows, reader.GetName(0) != "d", "rows");
                seen.Add(Drive.Rows(reader));
            } while (reader.NextResult());
            Drive.Equal(Drive.Show(seen), "[['a'], [[1]], ['b', 'c'], [['x', 2]], ['d'], [], ['e'], [[4]]]", "results");
        }
    }

    private static void RowCounts()
    {
        using (var connection = Drive.Connect())
        {
            Func<string, int> count = sql => Drive.Command(connection, sql).ExecuteNonQuery();
            Drive.Equal(count("DROP TABLE IF EXISTS dbo.dotnet_n; CREATE TABLE dbo.dotnet_n (a int)"), -1, "definitions");
            Drive.Equal(count("INSERT dbo.dotnet_n SELECT value FROM GENERATE_SERIES(1, 10)"), 10, "INSERT");
            Drive.Equal(count("UPDATE dbo.dotnet_n SET a = a + 1 WHERE a > 5; DELETE dbo.dotnet_n WHERE a = 2"), 6, "UPDATE and DELETE");
            Drive.Equal(count("DELETE dbo.dotnet_n WHERE a = 77"), 0, "DELETE");
            Drive.Equal(count("SELECT * FROM dbo.dotnet_n"), -1, "SELECT");
            Drive.Equal(count("SET NOCOUNT ON; DELETE dbo.dotnet_n; SET NOCOUNT OFF"), -1, "NOCOUNT");
            using (var reader = Drive.Command(connection, "INSERT dbo.dotnet_n OUTPUT inserted.a VALUES (1), (2)").ExecuteReader())
            {
                Drive.Equal(Drive.Rows(reader).Length, 2, "OUTPUT");
                reader.Close();
                Drive.Equal(reader.RecordsAffected, 2, "OUTPUT");
            }
            var completed = new List<string>();
            using (var command = Drive.Command(connection, "INSERT dbo.dotnet_n VALUES (5); UPDATE dbo.dotnet_n SET a = 9 WHERE a = 5; SELECT 1"))
            {
                command.StatementCompleted += (sender, told) => completed.Add(told.RecordCount.ToString());
                command.ExecuteNonQuery();
            }
            Drive.Equal(completed, new[] { "1", "1", "1" }, "statements");
        }
    }

    private static void MillionRows()
    {
        using (var connection = Drive.Connect())
        using (var command = new SqlCommand("SELECT value, value * 2 AS twice, CAST(value AS varchar(20)) AS text FROM GENERATE_SERIES(1, 1000000)", connection))
        using (var reader = command.ExecuteReader())
        {
            long count = 0, sum = 0, length = 0;
            while (reader.Read())
            {
                count++;
                sum += reader.GetInt32(0);
                length += reader.GetString(2).Length;
            }
            Drive.Equal(Drive.Row(count, sum, length), Drive.Row(1000000L, 500000500000L, 5888896L), "rows");
        }
    }

    private static void XmlReaders()
    {
        using (var connection = Drive.Connect())
        using (var command = new SqlCommand("SELECT value AS id FROM GENERATE_SERIES(1, 1000) AS n FOR XML AUTO, ROOT('all')", connection))
        using (var reader = command.ExecuteXmlReader())
        {
            int count = 0;
            while (reader.Read())
            {
                count += reader.Name == "n" ? 1 : 0;
            }
            Drive.Equal(count, 1000, "elements");
        }
    }
}
