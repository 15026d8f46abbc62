using System;
using System.Collections.Generic;
using System.Data;
using System.Data.SqlClient;
using System.Diagnostics;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;

/// <summary>Connections: pools, cancelling, time-outs, tasks, many at a time, several readers on one.</summary>
public static class Connections
{
    public static void AddTo(List<KeyValuePair<string, Action>> features)
    {
        features.Add("cancel", Cancel);
        features.Add("time out", TimeOut);
        features.Add("asynchronous", () => Asynchronous().Wait());
        features.Add("statistics", Statistics);
        features.Add("several readers", SeveralReaders);
        features.Add("requests beside a reader", BesideReader);
        features.Add("tasks beside each other", BesideEachOther);
        features.Add("pools", Pools);
        features.Add("reconnect", Reconnect);
        features.Add("two hundred connections", TwoHundred);
    }

    private static void Cancel()
    {
        using (var connection = Drive.Connect())
        {
            // By a task: a thread that waits for the answer keeps others from sending.
            using (var command = new SqlCommand("WAITFOR DELAY '00:00:20'", connection))
            {
                var clock = Stopwatch.StartNew();
                Task<int> waiting = command.ExecuteNonQueryAsync();
                Thread.Sleep(500);
                command.Cancel();
                SqlException error = Drive.Fails<SqlException>(() => waiting.GetAwaiter().GetResult());
                Drive.True(clock.ElapsedMilliseconds < 10000, "in time");
                Drive.True(error.Message.Contains("cancelled by user"), error.Message);
            }
            // Half of the rows are read, and the reader is closed: the client takes the rest back.
            using (var command = new SqlCommand("SELECT value FROM GENERATE_SERIES(1, 100000000)", connection))
            {
                var clock = Stopwatch.StartNew();
                using (var reader = command.ExecuteReader())
                {
                    Drive.True(reader.Read(), "a row");
                    command.Cancel();
                }
                Drive.True(clock.ElapsedMilliseconds < 10000, "in time");
            }
            Drive.Equal(Drive.Scalar(connection, "SELECT 1"), 1, "afterwards");
        }
    }

    private static void TimeOut()
    {
        using (var connection = Drive.Connect())
        {
            // By a task: Mono's sockets say something else than that the time is over, and the client takes the connection for broken.
            using (var command = new SqlCommand("WAITFOR DELAY '00:00:20'", connection) { CommandTimeout = 1 })
            {
                var clock = Stopwatch.StartNew();
                Drive.Equal(Drive.Fails<SqlException>(() => command.ExecuteNonQueryAsync().GetAwaiter().GetResult()).Number, -2, "number");
                Drive.True(clock.ElapsedMilliseconds < 10000, "in time");
            }
            Drive.Equal(Drive.Scalar(connection, "SELECT 1"), 1, "afterwards");
        }
    }

    private static async Task Asynchronous()
    {
        using (var connection = new SqlConnection(Drive.Text()))
        {
            await connection.OpenAsync();
            using (var command = Drive.Command(connection, "SELECT value, CAST(REPLICATE(CAST(N'x' AS nvarchar(max)), 10000) AS nvarchar(max)) FROM GENERATE_SERIES(1, 500); SELECT @a", "@a", 7))
            using (var reader = await command.ExecuteReaderAsync(CommandBehavior.SequentialAccess))
            {
                int count = 0;
                while (await reader.ReadAsync())
                {
                    Drive.Equal(await reader.GetFieldValueAsync<int>(0), ++count, "value");
                    Drive.Equal((await reader.GetTextReader(1).ReadToEndAsync()).Length, 10000, "text");
                }
                Drive.Equal(count, 500, "rows");
                Drive.Equal(await reader.NextResultAsync(), true, "next");
                await reader.ReadAsync();
                Drive.Equal(reader[0], 7, "next");
            }
            Drive.Equal(await Drive.Command(connection, "DECLARE @t TABLE (a int); INSERT @t VALUES (1), (2)").ExecuteNonQueryAsync(), 2, "count");
            using (var copy = new SqlBulkCopy(connection) { DestinationTableName = "#async" })
            {
                Drive.Run(connection, "CREATE TABLE #async (a int)");
                var table = new DataTable();
                table.Columns.Add("a", typeof(int));
                table.Rows.Add(1);
                await copy.WriteToServerAsync(table);
            }
            Drive.Equal(await Drive.Command(connection, "SELECT COUNT(*) FROM #async").ExecuteScalarAsync(), 1, "bulk");
            using (var source = new CancellationTokenSource(500))
            {
                Task<int> waiting = Drive.Command(connection, "WAITFOR DELAY '00:00:20'").ExecuteNonQueryAsync(source.Token);
                try
                {
                    await waiting;
                    throw new InvalidOperationException("it was not cancelled");
                }
                catch (Exception error) when (error is SqlException || error is TaskCanceledException)
                {
                }
            }
            Drive.Equal(await Drive.Command(connection, "SELECT 1").ExecuteScalarAsync(), 1, "afterwards");
        }
    }

    private static void Statistics()
    {
        using (var connection = Drive.Connect())
        {
            connection.StatisticsEnabled = true;
            Drive.Run(connection, "SELECT 1", "SET STATISTICS IO ON", "SELECT COUNT(*) FROM sys.objects", "SET STATISTICS IO OFF");
            var statistics = connection.RetrieveStatistics();
            Drive.Equal(statistics["ServerRoundtrips"], 4L, "round trips");
            Drive.Equal(statistics["SelectCount"], 2L, "SelectCount");
            Drive.Equal(statistics["SelectRows"], 2L, "SelectRows");
        }
    }

    private static SqlConnection Multiple()
    {
        return Drive.Connect("MultipleActiveResultSets", "true");
    }

    private static SqlDataReader Numbers(SqlConnection connection, int count, string more = "")
    {
        return Drive.Command(connection, "SELECT value" + more + " FROM GENERATE_SERIES(1, " + count + ")").ExecuteReader();
    }

    private static void SeveralReaders()
    {
        using (var connection = Multiple())
        {
            SqlDataReader[] readers = { Numbers(connection, 20000), Numbers(connection, 20000), Numbers(connection, 20000) };
            for (int n = 1; n <= 20000; n++)
            {
                foreach (SqlDataReader reader in readers)
                {
                    Drive.True(reader.Read() && reader.GetInt32(0) == n, "row " + n);
                }
            }
            foreach (SqlDataReader reader in readers)
            {
                Drive.Equal(reader.Read(), false, "end");
                reader.Close();
            }
            // Each has more than the server keeps in memory.
            readers = new[] { Numbers(connection, 100000, ", REPLICATE('x', 100)"), Numbers(connection, 100000, ", REPLICATE('y', 100)"), Numbers(connection, 10) };
            for (int n = 1; n <= 100000; n++)
            {
                Drive.True(readers[1].Read() && readers[1].GetInt32(0) == n && readers[1].GetString(1)[99] == 'y', "row " + n);
            }
            long sum = 0;
            while (readers[0].Read())
            {
                sum += readers[0].GetInt32(0);
            }
            Drive.Equal(sum, 5000050000L, "sum");
            foreach (SqlDataReader reader in readers)
            {
                reader.Close();
            }
        }
    }

    private static void BesideReader()
    {
        using (var connection = Multiple())
        {
            Drive.Run(connection, "DROP TABLE IF EXISTS dbo.dotnet_mars; CREATE TABLE dbo.dotnet_mars (a int, b varchar(200))");
            using (SqlTransaction transaction = connection.BeginTransaction())
            using (var command = new SqlCommand("SELECT value FROM GENERATE_SERIES(1, 100)", connection, transaction))
            using (var insert = new SqlCommand("INSERT dbo.dotnet_mars (a) VALUES (@a)", connection, transaction))
            {
                insert.Parameters.Add("@a", SqlDbType.Int);
                using (var reader = command.ExecuteReader())
                {
                    while (reader.Read())
                    {
                        insert.Parameters[0].Value = reader[0];
                        Drive.Equal(insert.ExecuteNonQuery(), 1, "rows");
                    }
                }
                transaction.Commit();
            }
            Drive.Equal(Drive.Scalar(connection, "SELECT COUNT(*) FROM dbo.dotnet_mars"), 100, "table");
            using (var reader = Numbers(connection, 300000))
            {
                reader.Read();
                SqlException error = Drive.Fails<SqlException>(() => Drive.Scalar(connection, "SELECT 1/0"));
                Drive.Equal(error.Number, 8134, "an error beside it");
                Drive.Equal(Drive.Scalar(connection, "SELECT DATALENGTH(@v)", "@v", new byte[3000000]), 3000000L, "a long request");
                Drive.True((int)Drive.Scalar(connection, "SELECT COUNT(*) FROM sys.dm_exec_connections WHERE session_id = @@SPID AND net_transport = 'Session' AND parent_connection_id IS NOT NULL") >= 3, "sessions");
                int count = 1;
                while (reader.Read())
                {
                    count++;
                }
                Drive.Equal(count, 300000, "rows");
            }
            // A bulk copy from a reader of its own connection.
            using (var reader = Numbers(connection, 50000, ", REPLICATE('z', 100)"))
            using (var copy = new SqlBulkCopy(connection) { DestinationTableName = "dbo.dotnet_mars" })
            {
                copy.WriteToServer(reader);
            }
            Drive.Equal(Drive.Scalar(connection, "SELECT COUNT(*) FROM dbo.dotnet_mars"), 50100, "bulk");
            // Cancelled, and closed with rows that nobody has read.
            using (var command = new SqlCommand("SELECT value FROM GENERATE_SERIES(1, 300000)", connection))
            using (var reader = command.ExecuteReader())
            {
                reader.Read();
                Drive.Equal(Drive.Scalar(connection, "SELECT 1"), 1, "beside it");
                command.Cancel();
            }
            for (int turn = 0; turn < 20; turn++)
            {
                using (var reader = Numbers(connection, 5000))
                {
                    reader.Read();
                    Drive.Equal(Drive.Scalar(connection, "SELECT 1"), 1, "beside it");
                }
            }
            // A text cannot leave a transaction open.
            Drive.Equal(Drive.Fails<SqlException>(() => Drive.Run(connection, "BEGIN TRANSACTION")).Number, 3997, "transaction");
            Drive.Equal(Drive.Scalar(connection, "SELECT @@TRANCOUNT"), 0, "transaction");
        }
    }

    private static void BesideEachOther()
    {
        if (Environment.GetEnvironmentVariable("PIKEPOLE_ENCRYPT") == "on")
        {
            throw new Drive.Lacking("Mono's TLS takes no writes of two threads, and its SqlClient keeps them apart nowhere");
        }
        using (var connection = Multiple())
        {
            Task.WaitAll(Enumerable.Range(0, 8).Select(number => Task.Run(async () =>
            {
                for (int turn = 0; turn < 20; turn++)
                {
                    Drive.Equal(await Drive.Command(connection, "SELECT @a + @b", "@a", number, "@b", turn).ExecuteScalarAsync(), number + turn, "sum");
                }
            })).ToArray());
        }
    }

    private static void Pools()
    {
        string[] own = { "Application Name", "pools", "Max Pool Size", "3", "Connect Timeout", "5" };
        object first;
        using (var connection = Drive.Connect(own))
        {
            first = Drive.Scalar(connection, "SELECT @@SPID");
            Drive.Run(connection, "CREATE TABLE #left (a int)", "SET LANGUAGE German", "SET DATEFORMAT dmy", "USE tempdb", "BEGIN TRANSACTION");
        }
        using (var connection = Drive.Connect(own))
        {
            Drive.Equal(Drive.Scalar(connection, "SELECT @@SPID"), first, "session");
            object[][] got = Drive.Rows(connection, "SELECT OBJECT_ID('tempdb..#left'), @@LANGUAGE, DB_NAME(), @@TRANCOUNT");
            Drive.Equal(got, Drive.Row((object)Drive.Row(DBNull.Value, "us_english", "master", 0)), "as after the login");
            Drive.Equal(connection.Database, "master", "database");
        }
        var all = new[] { Drive.Connect(own), Drive.Connect(own), Drive.Connect(own) };
        Drive.Fails<InvalidOperationException>(() => Drive.Connect(own).Dispose());
        foreach (SqlConnection each in all)
        {
            each.Dispose();
        }
        // A session of the pool that the server has ended: the next one is told by an error, or gets another.
        using (var other = Drive.Connect())
        {
            foreach (object[] session in Drive.Rows(other, "SELECT session_id FROM sys.dm_exec_sessions WHERE program_name = 'pools'"))
            {
                Drive.Run(other, "KILL " + session[0]);
            }
        }
        SqlConnection.ClearAllPools();
        using (var connection = Drive.Connect(own))
        {
            Drive.Equal(Drive.Scalar(connection, "SELECT 1"), 1, "afterwards");
        }
    }

    private static void Reconnect()
    {
        for (int turn = 0; turn < 30; turn++)
        {
            using (var connection = Drive.Connect("Pooling", "false"))
            {
                Drive.Equal(Drive.Scalar(connection, "SELECT 1"), 1, "answer");
            }
        }
        if (Environment.GetEnvironmentVariable("PIKEPOLE_ENCRYPT") == "on")
        {
            // Mono's TLS writes its goodbye into the connection that was reset, and nobody can catch what comes of that.
            return;
        }
        using (var connection = Drive.Connect("Pooling", "false", "ConnectRetryCount", "0"))
        using (var other = Drive.Connect())
        {
            Drive.Run(other, "KILL " + Drive.Scalar(connection, "SELECT @@SPID"));
            Drive.Fails<SqlException>(() => Drive.Scalar(connection, "SELECT 1"));
        }
    }

    private static void TwoHundred()
    {
        var failures = new List<Exception>();
        var threads = Enumerable.Range(0, 200).Select(number => new Thread(() =>
        {
            try
            {
                using (var connection = Drive.Connect("Pooling", "false"))
                {
                    for (int turn = 0; turn < 5; turn++)
                    {
                        Drive.Equal(Drive.Scalar(connection, "SELECT @a + @b", "@a", number, "@b", turn), number + turn, "sum");
                    }
                }
            }
            catch (Exception error)
            {
                lock (failures)
                {
                    failures.Add(error);
                }
            }
        })).ToList();
        threads.ForEach(thread => thread.Start());
        threads.ForEach(thread => thread.Join());
        Drive.True(failures.Count == 0, failures.Count + " failed: " + failures.FirstOrDefault());
    }
}
