using System;
using System.Collections.Generic;
using System.Data;
using System.Data.SqlClient;
using System.Data.SqlTypes;
using System.IO;
using System.Linq;
using System.Text;

/// <summary>Values of all types, in both directions, whole and in pieces.</summary>
public static class Values
{
    public static void AddTo(List<KeyValuePair<string, Action>> features)
    {
        features.Add("connect", Connects);
        features.Add("types read", TypesRead);
        features.Add("types round trip", TypesRoundTrip);
        features.Add("types of SqlTypes", SqlTypes);
        features.Add("code pages", CodePages);
        features.Add("long values", LongValues);
        features.Add("long values stored", LongValuesStored);
        features.Add("sequential access", SequentialAccess);
    }

    private static void Connects()
    {
        using (var connection = Drive.Connect())
        {
            Drive.Equal(connection.Database, "master", "database");
            Drive.True(connection.ServerVersion.StartsWith("16."), "version " + connection.ServerVersion);
            Drive.Equal(Drive.Scalar(connection, "SELECT DB_NAME()"), "master", "database");
            Drive.Equal(Drive.Scalar(connection, "SELECT encrypt_option FROM sys.dm_exec_connections WHERE session_id = @@SPID"),
                Environment.GetEnvironmentVariable("PIKEPOLE_ENCRYPT") == "on" ? "TRUE" : "FALSE", "encryption");
            Drive.Equal(Drive.Scalar(connection, "SELECT APP_NAME() + HOST_NAME()"), "clients" + Environment.MachineName, "application");
        }
        SqlException error = Drive.Fails<SqlException>(() => Drive.Connect("Password", "not the password"));
        Drive.Equal(Drive.Row(error.Number, (int)error.Class, (int)error.State, error.Errors[0].Message), Drive.Row(18456, 14, 1, "Login failed for user 'sa'."), "login");
        error = Drive.Fails<SqlException>(() => Drive.Connect("Initial Catalog", "nowhere"));
        Drive.Equal(error.Errors.Cast<SqlError>().Select(each => each.Number), new[] { 4060, 18456 }, "database");
    }

    private sealed class Kind
    {
        public string Name;
        public SqlDbType Type;
        /// <summary>Literals and the values that they are.</summary>
        public (string, object)[] Cases;
    }

    private static Kind Of(string name, SqlDbType type, params (string, object)[] cases)
    {
        return new Kind { Name = name, Type = type, Cases = cases };
    }

    private static readonly Guid Id = new Guid("00112233-4455-6677-8899-aabbccddeeff");
    private static readonly DateTime Leap = new DateTime(2024, 2, 29, 12, 30, 15);

    private static Kind[] Kinds()
    {
        return new[]
        {
            Of("bit", SqlDbType.Bit, ("1", true), ("0", false)),
            Of("tinyint", SqlDbType.TinyInt, ("0", (byte)0), ("255", (byte)255)),
            Of("smallint", SqlDbType.SmallInt, ("-32768", short.MinValue), ("32767", short.MaxValue)),
            Of("int", SqlDbType.Int, ("-2147483648", int.MinValue), ("2147483647", int.MaxValue)),
            Of("bigint", SqlDbType.BigInt, ("-9223372036854775808", long.MinValue), ("9223372036854775807", long.MaxValue)),
            Of("decimal(28,0)", SqlDbType.Decimal, ("7922816251426433759354395033", 7922816251426433759354395033m), ("-1", -1m)),
            Of("decimal(28,28)", SqlDbType.Decimal, ("0.1234567890123456789012345678", 0.1234567890123456789012345678m)),
            Of("decimal(9,4)", SqlDbType.Decimal, ("-99999.9999", -99999.9999m), ("0", 0.0000m)),
            Of("money", SqlDbType.Money, ("-922337203685477.5808", -922337203685477.5808m), ("922337203685477.5807", 922337203685477.5807m)),
            Of("smallmoney", SqlDbType.SmallMoney, ("-214748.3648", -214748.3648m), ("214748.3647", 214748.3647m)),
            Of("float", SqlDbType.Float, ("1.7976931348623157e308", double.MaxValue), ("-2.2250738585072014e-308", -2.2250738585072014e-308), ("0.1e0", 0.1)),
            Of("real", SqlDbType.Real, ("3.4028235e38", float.MaxValue), ("0.5", 0.5f)),
            Of("date", SqlDbType.Date, ("'0001-01-01'", DateTime.MinValue), ("'9999-12-31'", new DateTime(9999, 12, 31)), ("'2024-02-29'", Leap.Date)),
            Of("time(7)", SqlDbType.Time, ("'00:00:00'", TimeSpan.Zero), ("'23:59:59.9999999'", TimeSpan.FromTicks(TimeSpan.TicksPerDay - 1))),
            Of("datetime", SqlDbType.DateTime, ("'1753-01-01T00:00:00'", new DateTime(1753, 1, 1)), ("'9999-12-31T23:59:59.997'", new DateTime(9999, 12, 31, 23, 59, 59, 997)), ("'2024-02-29T12:30:15'", Leap)),
            Of("smalldatetime", SqlDbType.SmallDateTime, ("'1900-01-01'", new DateTime(1900, 1, 1)), ("'2079-06-06T23:59:00'", new DateTime(2079, 6, 6, 23, 59, 0))),
            Of("datetime2(7)", SqlDbType.DateTime2, ("'0001-01-01T00:00:00'", DateTime.MinValue), ("'9999-12-31T23:59:59.9999999'", DateTime.MaxValue), ("'2024-02-29T12:30:15.1234567'", Leap.AddTicks(1234567))),
            Of("datetimeoffset(7)", SqlDbType.DateTimeOffset, ("'2024-02-29T12:30:15.1234567+05:30'", new DateTimeOffset(Leap.AddTicks(1234567), new TimeSpan(5, 30, 0))),
                ("'0001-01-01T14:00:00+14:00'", new DateTimeOffset(1, 1, 1, 14, 0, 0, new TimeSpan(14, 0, 0))), ("'9999-12-31T09:59:59-14:00'", new DateTimeOffset(9999, 12, 31, 9, 59, 59, new TimeSpan(-14, 0, 0)))),
            Of("char(10)", SqlDbType.Char, ("'ab'", "ab        ")),
            Of("varchar(8000)", SqlDbType.VarChar, ("''", ""), ("'plain'", "plain"), ("REPLICATE('x', 8000)", new string('x', 8000))),
            Of("nchar(10)", SqlDbType.NChar, ("N'\u4e2d'", "\u4e2d         ")),
            Of("nvarchar(4000)", SqlDbType.NVarChar, ("N''", ""), ("N'" + Drive.Beyond + "'", Drive.Beyond), ("REPLICATE(N'\u4e2d', 4000)", new string('\u4e2d', 4000))),
            Of("text", SqlDbType.Text, ("''", ""), ("'plain'", "plain")),
            Of("ntext", SqlDbType.NText, ("N'" + Drive.Beyond + "'", Drive.Beyond)),
            Of("varchar(max)", SqlDbType.VarChar, ("''", ""), ("REPLICATE(CAST('y' AS varchar(max)), 70000)", new string('y', 70000))),
            Of("nvarchar(max)", SqlDbType.NVarChar, ("N''", ""), ("REPLICATE(CAST(N'\u4e2d' AS nvarchar(max)), 50000)", new string('\u4e2d', 50000))),
            Of("binary(4)", SqlDbType.Binary, ("0x00FF", new byte[] { 0, 255, 0, 0 })),
            Of("varbinary(8000)", SqlDbType.VarBinary, ("0x", new byte[0]), ("0x00FF10", new byte[] { 0, 255, 16 })),
            Of("varbinary(max)", SqlDbType.VarBinary, ("0x", new byte[0]), ("CAST(REPLICATE(CAST(0x01 AS varchar(max)), 70000) AS varbinary(max))", Enumerable.Repeat((byte)1, 70000).ToArray())),
            Of("image", SqlDbType.Image, ("0x00FF10", new byte[] { 0, 255, 16 })),
            Of("uniqueidentifier", SqlDbType.UniqueIdentifier, ("'" + Id + "'", Id)),
            Of("xml", SqlDbType.Xml, ("N'<a b=\"c\">\u4e2d</a>'", "<a b=\"c\">\u4e2d</a>")),
            Of("sql_variant", SqlDbType.Variant, ("1", 1), ("N'x'", "x"), ("CAST(1.50 AS decimal(9, 2))", 1.50m), ("CAST('2024-02-29' AS date)", Leap.Date), ("0x0102", new byte[] { 1, 2 }), ("CAST(1 AS bit)", true)),
        };
    }

    private static void TypesRead()
    {
        using (var connection = Drive.Connect())
        {
            foreach (Kind kind in Kinds())
            {
                foreach (var each in kind.Cases.Concat(new[] { ("NULL", (object)DBNull.Value) }))
                {
                    string literal = each.Item1;
                    object value = each.Item2;
                    Drive.Equal(Drive.Scalar(connection, "SELECT CAST(" + literal + " AS " + kind.Name + ") AS v"), value, kind.Name + " " + literal);
                }
            }
            using (var command = new SqlCommand("SELECT rv FROM dbo.dotnet_rv", connection))
            {
                Drive.Run(connection, "DROP TABLE IF EXISTS dbo.dotnet_rv; CREATE TABLE dbo.dotnet_rv (a int, rv rowversion); INSERT dbo.dotnet_rv (a) VALUES (1)");
                using (var reader = command.ExecuteReader())
                {
                    Drive.Equal(reader.GetDataTypeName(0), "timestamp", "rowversion");
                    reader.Read();
                    Drive.Equal(((byte[])reader[0]).Length, 8, "rowversion");
                }
            }
        }
    }

    private static void TypesRoundTrip()
    {
        using (var connection = Drive.Connect())
        {
            foreach (Kind kind in Kinds())
            {
                Drive.Run(connection, "DROP TABLE IF EXISTS dbo.dotnet_t; CREATE TABLE dbo.dotnet_t (n int PRIMARY KEY, v " + kind.Name + ")");
                object[] values = kind.Cases.Select(one => one.Item2).Concat(new object[] { DBNull.Value }).ToArray();
                using (var insert = new SqlCommand("INSERT dbo.dotnet_t VALUES (@n, @v); SET @back = @v", connection))
                {
                    insert.Parameters.Add("@n", SqlDbType.Int);
                    SqlParameter parameter = insert.Parameters.Add("@v", kind.Type);
                    bool comesBack = kind.Type != SqlDbType.Text && kind.Type != SqlDbType.NText && kind.Type != SqlDbType.Image;
                    SqlParameter back = comesBack ? insert.Parameters.Add("@back", kind.Type, -1) : null;
                    if (back == null)
                    {
                        insert.CommandText = "INSERT dbo.dotnet_t VALUES (@n, @v)";
                    }
                    else
                    {
                        back.Direction = ParameterDirection.Output;
                        back.Precision = kind.Type == SqlDbType.Decimal ? (byte)28 : (byte)0;
                        back.Scale = parameter.Scale = kind.Name == "decimal(28,28)" ? (byte)28 : kind.Name == "decimal(9,4)" ? (byte)4 : (byte)0;
                    }
                    for (int n = 0; n < values.Length; n++)
                    {
                        insert.Parameters[0].Value = n;
                        parameter.Value = values[n];
                        insert.ExecuteNonQuery();
                        if (back != null && !kind.Name.Contains("char(10)") && kind.Name != "binary(4)")
                        {
                            Drive.Equal(back.Value, values[n], kind.Name + ", output");
                        }
                    }
                }
                object[][] got = Drive.Rows(connection, "SELECT v FROM dbo.dotnet_t ORDER BY n");
                Drive.Equal(got.Select(row => row[0]), values, kind.Name);
            }
        }
    }

    private static void SqlTypes()
    {
        using (var connection = Drive.Connect())
        using (var command = Drive.Command(connection, "SELECT @d, @m, @s, @b, @x, @n, @c", "@d", SqlDecimal.Parse("-" + new string('9', 38)), "@m", SqlMoney.MaxValue,
            "@s", new SqlString("x"), "@b", new SqlBinary(new byte[] { 1, 2 }), "@x", new SqlXml(new MemoryStream(Encoding.Unicode.GetBytes("<a/>"))), "@n", SqlInt32.Null,
            "@c", new SqlChars("chars")))
        using (var reader = command.ExecuteReader())
        {
            reader.Read();
            Drive.Equal(reader.GetSqlDecimal(0).ToString(), "-" + new string('9', 38), "SqlDecimal");
            Drive.Equal(reader.GetSqlMoney(1).Value, SqlMoney.MaxValue.Value, "SqlMoney");
            Drive.Equal(reader.GetSqlString(2).Value, "x", "SqlString");
            Drive.Equal(reader.GetSqlBinary(3).Value, new byte[] { 1, 2 }, "SqlBinary");
            Drive.Equal(reader.GetSqlXml(4).Value.Replace(" ", ""), "<a/>", "SqlXml");
            Drive.Equal(reader.GetSqlValue(5).ToString(), "Null", "SqlInt32");
            Drive.Equal(new string(reader.GetSqlChars(6).Value), "chars", "SqlChars");
        }
    }

    /// <summary>Collations whose code pages have these texts: a client decodes a varchar by its column's collation.</summary>
    private static readonly (string, string)[] Pages =
    {
        ("Latin1_General_CI_AS", "\u00e9\u20ac"),
        ("French_CI_AS", "\u00e7a"),
        ("Latin1_General_100_CI_AS_SC_UTF8", "\u00e9\u65e5\ud83d\ude00"),
    };

    private static void CodePages()
    {
        using (var connection = Drive.Connect())
        {
            foreach (var each in Pages)
            {
                string collation = each.Item1;
                string text = each.Item2;
                Drive.Run(connection, "DROP TABLE IF EXISTS dbo.dotnet_page; CREATE TABLE dbo.dotnet_page (v varchar(20) COLLATE " + collation + ")");
                using (var insert = Drive.Command(connection, "INSERT dbo.dotnet_page VALUES (@v)", "@v", text))
                {
                    insert.ExecuteNonQuery();
                }
                Drive.Equal(Drive.Scalar(connection, "SELECT v FROM dbo.dotnet_page"), text, collation);
            }
        }
    }

    private static (string, SqlDbType, object)[] Long()
    {
        return new (string, SqlDbType, object)[]
        {
            ("nvarchar(4000)", SqlDbType.NVarChar, new string('\u4e2d', 4000)),
            ("varchar(max)", SqlDbType.VarChar, new string('y', 100000)),
            ("nvarchar(max)", SqlDbType.NVarChar, string.Concat(Enumerable.Repeat(Drive.Beyond, 20000))),
            ("varbinary(max)", SqlDbType.VarBinary, Enumerable.Range(0, 5000000).Select(i => (byte)i).ToArray()),
            ("text", SqlDbType.Text, new string('y', 100000)),
            ("ntext", SqlDbType.NText, new string('\u4e2d', 100000)),
            ("image", SqlDbType.Image, new byte[300000]),
        };
    }

    private static void LongValues()
    {
        using (var connection = Drive.Connect())
        {
            foreach (var each in Long())
            {
                string name = each.Item1;
                SqlDbType type = each.Item2;
                object value = each.Item3;
                using (var command = new SqlCommand("SELECT @v", connection))
                {
                    command.Parameters.Add("@v", type, -1).Value = value;
                    Drive.Equal(command.ExecuteScalar(), value, name);
                }
            }
        }
    }

    private static void LongValuesStored()
    {
        using (var connection = Drive.Connect())
        {
            foreach (var each in Long())
            {
                string name = each.Item1;
                SqlDbType type = each.Item2;
                object value = each.Item3;
                Drive.Run(connection, "DROP TABLE IF EXISTS dbo.dotnet_l; CREATE TABLE dbo.dotnet_l (v " + name + ")");
                using (var command = new SqlCommand("INSERT dbo.dotnet_l VALUES (@v)", connection))
                {
                    command.Parameters.Add("@v", type, -1).Value = value;
                    command.ExecuteNonQuery();
                }
                Drive.Equal(Drive.Scalar(connection, "SELECT v FROM dbo.dotnet_l"), value, name);
            }
            // The value is a stream, whose length nobody knows before.
            Drive.Run(connection, "DROP TABLE IF EXISTS dbo.dotnet_l; CREATE TABLE dbo.dotnet_l (b varbinary(max), c nvarchar(max))");
            using (var command = new SqlCommand("INSERT dbo.dotnet_l VALUES (@b, @c)", connection))
            {
                command.Parameters.Add("@b", SqlDbType.VarBinary, -1).Value = new MemoryStream(new byte[1000000]);
                command.Parameters.Add("@c", SqlDbType.NVarChar, -1).Value = new StringReader(new string('\u4e2d', 500000));
                command.ExecuteNonQuery();
            }
            Drive.Equal(Drive.Rows(connection, "SELECT DATALENGTH(b), DATALENGTH(c) FROM dbo.dotnet_l"), Drive.Row((object)Drive.Row(1000000L, 1000000L)), "streams");
        }
    }

    private static void SequentialAccess()
    {
        string sql = "SELECT 1 AS a, CAST(REPLICATE(CAST('b' AS varchar(max)), 1000000) AS varbinary(max)) AS b, REPLICATE(CAST(N'\u4e2d' AS nvarchar(max)), 500000) AS c, "
            + "CAST(N'<a>' + REPLICATE(CAST(N'x' AS nvarchar(max)), 100000) + N'</a>' AS xml) AS d, CAST('tail' AS text) AS e, 2 AS f, CAST(NULL AS varbinary(max)) AS g UNION ALL SELECT 3, 0x, N'', NULL, NULL, 4, 0x01";
        using (var connection = Drive.Connect())
        using (var command = new SqlCommand(sql, connection))
        {
            using (var reader = command.ExecuteReader(CommandBehavior.SequentialAccess))
            {
                reader.Read();
                Drive.Equal(reader.GetInt32(0), 1, "first");
                using (var bytes = new MemoryStream())
                {
                    reader.GetStream(1).CopyTo(bytes);
                    Drive.Equal(bytes.Length, 1000000L, "bytes");
                }
                Drive.Equal(reader.GetTextReader(2).ReadToEnd().Length, 500000, "characters");
                using (var xml = reader.GetXmlReader(3))
                {
                    xml.Read();
                    Drive.Equal(xml.ReadElementContentAsString().Length, 100000, "xml");
                }
                var part = new char[3];
                Drive.Equal(reader.GetChars(4, 0, part, 0, 3), 3L, "characters");
                Drive.Equal(reader.GetChars(4, 3, part, 0, 3), 1L, "characters");
                Drive.Equal(reader.GetInt32(5), 2, "behind");
                Drive.Equal(reader.IsDBNull(6), true, "NULL");
                reader.Read();
                Drive.Equal(reader.GetFieldValue<byte[]>(1), new byte[0], "no bytes");
                Drive.Equal(reader.Read(), false, "end");
            }
            using (var reader = command.ExecuteReader())
            {
                reader.Read();
                var part = new byte[10];
                Drive.Equal(reader.GetBytes(1, 999995, part, 0, 10), 5L, "bytes");
                Drive.Equal(reader.GetBytes(1, 0, null, 0, 0), 1000000L, "bytes");
                // What is not read is skipped.
            }
            Drive.Equal(Drive.Scalar(connection, "SELECT 1"), 1, "afterwards");
        }
    }
}
