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
