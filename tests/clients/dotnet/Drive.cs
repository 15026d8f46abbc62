using System;
using System.Collections;
using System.Collections.Generic;
using System.Data;
using System.Data.SqlClient;
using System.Globalization;
using System.Linq;

/// <summary>Tries .NET's SqlClient; prints a line a feature as python/drive.py does. The features are in the files beside.</summary>
public static class Drive
{
    /// <summary>Why a feature cannot be tried.</summary>
    public sealed class Lacking : Exception
    {
        public Lacking(string reason) : base(reason) { }
    }

    public const string Beyond = "t\u00e4xt \u4e2d\u6587 \ud83d\udc0e\ud800\udf48";

    public static string Text(params string[] more)
    {
        var text = new SqlConnectionStringBuilder
        {
            DataSource = "tcp:" + Environment.GetEnvironmentVariable("PIKEPOLE_HOST") + "," + Environment.GetEnvironmentVariable("PIKEPOLE_PORT"),
            UserID = Environment.GetEnvironmentVariable("PIKEPOLE_USER"),
            Password = Environment.GetEnvironmentVariable("PIKEPOLE_PASSWORD"),
            InitialCatalog = "master",
            Encrypt = Environment.GetEnvironmentVariable("PIKEPOLE_ENCRYPT") == "on",
            TrustServerCertificate = true,
            ConnectTimeout = 60,
            ApplicationName = "clients",
        };
        for (int i = 0; i < more.Length; i += 2)
        {
            text[more[i]] = more[i + 1];
        }
        return text.ConnectionString;
    }

    public static SqlConnection Connect(params string[] more)
    {
        var connection = new SqlConnection(Text(more));
        connection.Open();
        return connection;
    }

    public static SqlCommand Command(SqlConnection connection, string sql, params object[] values)
    {
        var command = new SqlCommand(sql, connection);
        for (int i = 0; i < values.Length; i += 2)
        {
            command.Parameters.AddWithValue((string)values[i], values[i + 1]);
        }
        return command;
    }

    public static void Run(SqlConnection connection, params string[] batches)
    {
        foreach (string sql in batches)
        {
            using (var command = new SqlCommand(sql, connection))
            {
                command.ExecuteNonQuery();
            }
        }
    }

    public static object Scalar(SqlConnection connection, string sql, params object[] values)
    {
        using (var command = Command(connection, sql, values))
        {
            return command.ExecuteScalar();
        }
    }

    /// <summary>The rows that a reader is before, each as an array; the next result stays to be read.</summary>
    public static object[][] Rows(SqlDataReader reader)
    {
        var rows = new List<object[]>();
        while (reader.Read())
        {
            var row = new object[reader.FieldCount];
            reader.GetValues(row);
            rows.Add(row);
        }
        return rows.ToArray();
    }

    public static object[][] Rows(SqlConnection connection, string sql, params object[] values)
    {
        using (var command = Command(connection, sql, values))
        using (var reader = command.ExecuteReader())
        {
            return Rows(reader);
        }
    }

    public static object[] Row(params object[] values)
    {
        return values;
    }

    /// <summary>A value as text, with its class, so that an int and a long are different.</summary>
    public static string Show(object value)
    {
        string text = value as string;
        if (text != null || value == null || value is DBNull)
        {
            return text != null ? "'" + text + "'" : value == null ? "null" : "NULL";
        }
        if (value is byte[])
        {
            return "0x" + BitConverter.ToString((byte[])value).Replace("-", "");
        }
        var many = value as IEnumerable;
        if (many != null)
        {
            return "[" + string.Join(", ", many.Cast<object>().Select(Show)) + "]";
        }
        // All digits, where a class leaves some out.
        string format = value is double || value is float ? "R" : value is DateTime || value is DateTimeOffset ? "o" : null;
        var formattable = value as IFormattable;
        text = formattable == null ? value.ToString() : formattable.ToString(format, CultureInfo.InvariantCulture);
        return value is int || value is bool ? text : text + " " + value.GetType().Name;
    }

    public static void Equal(object got, object expected, string what)
    {
        string left = Show(got), right = Show(expected);
        if (left != right)
        {
            throw new Exception(what + ": " + Short(left) + " instead of " + Short(right));
        }
    }

    public static void True(bool holds, string what)
    {
        if (!holds)
        {
            throw new Exception(what);
        }
    }

    private static string Short(string text)
    {
        return text.Length > 400 ? text.Substring(0, 400) + "..." : text;
    }

    public static E Fails<E>(Action work) where E : Exception
    {
        try
        {
            work();
        }
        catch (E error)
        {
            return error;
        }
        throw new Exception("no error");
    }

    public static int Main(string[] only)
    {
        var features = new List<KeyValuePair<string, Action>>();
        Values.AddTo(features);
        Commands.AddTo(features);
        Tables.AddTo(features);
        Connections.AddTo(features);
        foreach (var feature in features.Where(feature => only.Length == 0 || only.Contains(feature.Key)))
        {
            string result = "ok", reason = "";
            try
            {
                feature.Value();
            }
            catch (Lacking lacking)
            {
                result = "not";
                reason = lacking.Message;
            }
            catch (Exception error)
            {
                result = "failed";
                var many = error as AggregateException;
                Exception inner = many == null ? error : many.Flatten().InnerException;
                reason = Short((inner.GetType().Name + ": " + inner.Message).Replace('\n', ' ').Replace('\t', ' '));
                if (Environment.GetEnvironmentVariable("PIKEPOLE_TRACE") != null)
                {
                    Console.Error.WriteLine(error);
                }
            }
            Console.WriteLine(feature.Key + "\t" + result + "\t" + reason);
            Console.Out.Flush();
        }
        return 0;
    }

    public static void Add(this List<KeyValuePair<string, Action>> features, string name, Action feature)
    {
        features.Add(new KeyValuePair<string, Action>(name, feature));
    }
}
