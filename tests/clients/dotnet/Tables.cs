using System;
using System.Collections.Generic;
using System.Data;
using System.Data.Common;
using System.Data.SqlClient;
using System.Linq;
using Microsoft.SqlServer.Server;

/// <summary>What moves tables: bulk copies, table-valued parameters, adapters and the metadata that they ask for.</summary>
public static class Tables
{
    public static void AddTo(List<KeyValuePair<string, Action>> features)
    {
        features.Add("table-valued parameters", TableValued);
        features.Add("bulk insert", Bulk);
        features.Add("bulk options", BulkOptions);
        features.Add("bulk types", BulkTypes);
        features.Add("schema tables", SchemaTables);
        features.Add("command behaviours", Behaviours);
        features.Add("command builders", Builders);
        features.Add("adapters", Adapters);
        features.Add("metadata", Metadata);
    }

    private static void TableValued()
    {
        using (var connection = Drive.Connect())
        {
            Drive.Run(connection, "DROP PROCEDURE IF EXISTS dbo.dotnet_tvp; DROP TYPE IF EXISTS dbo.dotnet_list",
                "CREATE TYPE dbo.dotnet_list AS TABLE (id int, name nvarchar(20), price decimal(9, 2), at datetime2, long varbinary(max))",
                "CREATE PROCEDURE dbo.dotnet_tvp @list dbo.dotnet_list READONLY AS SELECT COUNT(*), MAX(name), SUM(price), MAX(at), SUM(DATALENGTH(long)) FROM @list");
            var at = new DateTime(2024, 2, 29, 1, 2, 3).AddTicks(4);
            var table = new DataTable();
            foreach (var each in new[] { ("id", typeof(int)), ("name", typeof(string)), ("price", typeof(decimal)), ("at", typeof(DateTime)), ("long", typeof(byte[])) })
            {
                string name = each.Item1;
                Type type = each.Item2;
                table.Columns.Add(name, type);
            }
            table.Rows.Add(1, "a", 1.25m, at, new byte[10000]);
            table.Rows.Add(2, "b", DBNull.Value, DBNull.Value, DBNull.Value);
            object[][] expected = { Drive.Row(2, "b", 1.25m, at, 10000L) };
            using (var command = new SqlCommand("dbo.dotnet_tvp", connection) { CommandType = CommandType.StoredProcedure })
            {
                SqlParameter list = command.Parameters.Add("@list", SqlDbType.Structured);
                list.Value = table;
                using (var reader = command.ExecuteReader())
                {
                    Drive.Equal(Drive.Rows(reader), expected, "DataTable");
                }
                list.Value = table.CreateDataReader();
                using (var reader = command.ExecuteReader())
                {
                    // The client takes the scale of decimals from the reader, which has none.
                    Drive.Equal(Drive.Rows(reader)[0].Where(value => !(value is decimal)), expected[0].Where(value => !(value is decimal)), "reader");
                }
                list.Value = null;
                using (var reader = command.ExecuteReader())
                {
                    Drive.Equal(Drive.Rows(reader)[0][0], 0, "nothing");
                }
                command.CommandType = CommandType.Text;
                command.CommandText = "SELECT COUNT(*), SUM(id) FROM @list";
                list.TypeName = "dbo.dotnet_list";
                list.Value = Records(5000);
                using (var reader = command.ExecuteReader())
                {
                    Drive.Equal(Drive.Rows(reader), Drive.Row((object)Drive.Row(5000, 12497500)), "records");
                }
            }
        }
    }

    private static IEnumerable<SqlDataRecord> Records(int count)
    {
        var record = new SqlDataRecord(new SqlMetaData("id", SqlDbType.Int), new SqlMetaData("name", SqlDbType.NVarChar, 20), new SqlMetaData("price", SqlDbType.Decimal, 9, 2),
            new SqlMetaData("at", SqlDbType.DateTime2), new SqlMetaData("long", SqlDbType.VarBinary, SqlMetaData.Max));
        for (int n = 0; n < count; n++)
        {
            record.SetInt32(0, n);
            record.SetString(1, "n" + n);
            record.SetDecimal(2, n + 0.5m);
            record.SetDBNull(3);
            record.SetBytes(4, 0, new byte[n % 5], 0, n % 5);
            yield return record;
        }
    }

    private static DataTable Many(int count)
    {
        var table = new DataTable();
        table.Columns.Add("a", typeof(int));
        table.Columns.Add("b", typeof(string));
        table.Columns.Add("c", typeof(double));
        for (int n = 0; n < count; n++)
        {
            table.Rows.Add(n, "text " + n, n % 2 == 0 ? (object)(n / 2.0) : DBNull.Value);
        }
        return table;
    }

    private const string BulkTable = "DROP TABLE IF EXISTS dbo.dotnet_b; CREATE TABLE dbo.dotnet_b (a int NOT NULL, b nvarchar(40) NULL, c float NULL)";

    private static void Bulk()
    {
        using (var connection = Drive.Connect())
        {
            Drive.Run(connection, BulkTable);
            using (var copy = new SqlBulkCopy(connection) { DestinationTableName = "dbo.dotnet_b" })
            {
                copy.WriteToServer(Many(10000));
            }
            object[][] expected = { Drive.Row(10000, 49995000, 5000) };
            Drive.Equal(Drive.Rows(connection, "SELECT COUNT(*), SUM(a), COUNT(c) FROM dbo.dotnet_b"), expected, "DataTable");
            Drive.Run(connection, BulkTable);
            // From a reader of another connection, in batches, and each is told of.
            long told = 0;
            using (var other = Drive.Connect())
            using (var reader = Drive.Command(other, "SELECT CASE value % 2 WHEN 0 THEN value / 2e0 END AS y, value AS x, CONCAT(N'text ', value) AS z FROM GENERATE_SERIES(0, 9999)").ExecuteReader())
            using (var copy = new SqlBulkCopy(connection) { DestinationTableName = "[dbo].[dotnet_b]", BatchSize = 3000, NotifyAfter = 2500, EnableStreaming = true })
            {
                copy.ColumnMappings.Add("x", "a");
                copy.ColumnMappings.Add("z", "b");
                copy.ColumnMappings.Add("y", "c");
                copy.SqlRowsCopied += (sender, rows) => told = rows.RowsCopied;
                copy.WriteToServer(reader);
            }
            Drive.Equal(told, 10000L, "told");
            Drive.Equal(Drive.Rows(connection, "SELECT COUNT(*), SUM(a), COUNT(c) FROM dbo.dotnet_b"), expected, "reader");
        }
    }

    private static void BulkOptions()
    {
        using (var connection = Drive.Connect())
        {
            Action<SqlBulkCopyOptions, string, object[], SqlTransaction> load = (options, columns, values, transaction) =>
            {
                var table = new DataTable();
                string[] names = columns.Split(' ');
                foreach (string name in names)
                {
                    table.Columns.Add(name, typeof(int));
                }
                table.Rows.Add(values);
                using (var copy = new SqlBulkCopy(connection, options, transaction) { DestinationTableName = "dbo.dotnet_o" })
                {
                    foreach (string name in names)
                    {
                        copy.ColumnMappings.Add(name, name);
                    }
                    copy.WriteToServer(table);
                }
            };
            Action fresh = () => Drive.Run(connection, "DROP TABLE IF EXISTS dbo.dotnet_o, dbo.dotnet_log; CREATE TABLE dbo.dotnet_log (n int); "
                + "CREATE TABLE dbo.dotnet_o (id int IDENTITY PRIMARY KEY, a int NULL DEFAULT 7, b int CHECK (b > 0))", "CREATE TRIGGER dotnet_g ON dbo.dotnet_o AFTER INSERT AS INSERT dbo.dotnet_log SELECT COUNT(*) FROM inserted");
            Func<object[][]> rows = () => Drive.Rows(connection, "SELECT id, a, b FROM dbo.dotnet_o");
            fresh();
            load(SqlBulkCopyOptions.Default, "id a b", Drive.Row(50, DBNull.Value, -1), null);
            Drive.Equal(rows(), Drive.Row((object)Drive.Row(1, 7, -1)), "default");
            fresh();
            load(SqlBulkCopyOptions.KeepIdentity | SqlBulkCopyOptions.KeepNulls | SqlBulkCopyOptions.TableLock, "id a b", Drive.Row(50, DBNull.Value, 1), null);
            Drive.Equal(rows(), Drive.Row((object)Drive.Row(50, DBNull.Value, 1)), "KeepIdentity, KeepNulls");
            Drive.Equal(Drive.Scalar(connection, "SELECT COUNT(*) FROM dbo.dotnet_log"), 0, "triggers");
            load(SqlBulkCopyOptions.FireTriggers | SqlBulkCopyOptions.UseInternalTransaction, "b", Drive.Row(1), null);
            Drive.Equal(Drive.Scalar(connection, "SELECT COUNT(*) FROM dbo.dotnet_log"), 1, "FireTriggers");
            Drive.Equal(Drive.Fails<SqlException>(() => load(SqlBulkCopyOptions.CheckConstraints, "b", Drive.Row(-1), null)).Number, 547, "CheckConstraints");
            using (SqlTransaction transaction = connection.BeginTransaction())
            {
                load(SqlBulkCopyOptions.Default, "b", Drive.Row(99), transaction);
                transaction.Rollback();
            }
            Drive.Equal(Drive.Scalar(connection, "SELECT COUNT(*) FROM dbo.dotnet_o WHERE b = 99"), 0, "transaction");
            // A value that the column does not take: the client says so before anything is sent, and the connection goes on.
            var wrong = new DataTable();
            wrong.Columns.Add("a", typeof(string));
            wrong.Rows.Add("no number");
            using (var copy = new SqlBulkCopy(connection) { DestinationTableName = "dbo.dotnet_o" })
            {
                copy.ColumnMappings.Add("a", "a");
                Drive.Fails<InvalidOperationException>(() => copy.WriteToServer(wrong));
            }
            Drive.Equal(Drive.Scalar(connection, "SELECT 1"), 1, "afterwards");
            using (var copy = new SqlBulkCopy(connection) { DestinationTableName = "dbo.nowhere" })
            {
                Drive.Fails<InvalidOperationException>(() => copy.WriteToServer(wrong));
            }
        }
    }

    private static void BulkTypes()
    {
        using (var connection = Drive.Connect())
        using (var other = Drive.Connect())
        {
            Drive.Run(connection, "DROP TABLE IF EXISTS dbo.dotnet_from, dbo.dotnet_to", "CREATE TABLE dbo.dotnet_from (a bit, b tinyint, c smallint, d int NOT NULL, e bigint, f decimal(38, 10), g money, h smallmoney, i float, j real, "
                + "k date, l time(3), m datetime, n smalldatetime, o datetime2(7), p datetimeoffset(7), q char(5), r varchar(20), s nchar(5), t nvarchar(20), u varchar(max), v nvarchar(max), "
                + "w binary(3), x varbinary(20), y varbinary(max), z uniqueidentifier, aa xml, bb sql_variant, cc text, dd ntext, ee image)",
                "INSERT dbo.dotnet_from VALUES (1, 2, 3, 4, 5, 1234567.8901234567, 1.5, 2.5, 3.5, 4.5, '2024-02-29', '01:02:03.004', '2024-02-29T01:02:03', '2024-02-29T01:02:00', '2024-02-29T01:02:03.1234567', "
                + "'2024-02-29T01:02:03.1234567+02:00', 'q', 'r', N's', N'\u4e2d', 'u', REPLICATE(CAST(N'v' AS nvarchar(max)), 9000), 0x01, 0x02, 0x03, '00112233-4455-6677-8899-aabbccddeeff', '<a/>', N'variant', 'cc', N'dd', 0xEE)",
                "INSERT dbo.dotnet_from (d) VALUES (9)", "SELECT * INTO dbo.dotnet_to FROM dbo.dotnet_from WHERE 1 = 0");
            using (var reader = Drive.Command(other, "SELECT * FROM dbo.dotnet_from").ExecuteReader())
            using (var copy = new SqlBulkCopy(connection) { DestinationTableName = "dbo.dotnet_to" })
            {
                copy.WriteToServer(reader);
            }
            Drive.Equal(Drive.Rows(connection, "SELECT * FROM dbo.dotnet_to ORDER BY d"), Drive.Rows(connection, "SELECT * FROM dbo.dotnet_from ORDER BY d"), "rows");
        }
    }

    private const string KeyedTable = "DROP VIEW IF EXISTS dbo.dotnet_view; DROP TABLE IF EXISTS dbo.dotnet_k; CREATE TABLE dbo.dotnet_k (id int IDENTITY PRIMARY KEY, name nvarchar(30) NULL UNIQUE, price decimal(9, 2) NOT NULL, "
        + "twice AS price * CAST(2 AS decimal(1, 0)), rv rowversion, long varchar(max)); INSERT dbo.dotnet_k (name, price) VALUES (N'one', 1), (N'two', 2), (N'three', 3)";

    private static void SchemaTables()
    {
        using (var connection = Drive.Connect())
        {
            Drive.Run(connection, KeyedTable);
            using (var reader = Drive.Command(connection, "SELECT id, name AS label, price, twice, rv, long, price + CAST(1 AS decimal(1, 0)) AS more, GETDATE() AS now FROM dbo.dotnet_k").ExecuteReader())
            {
                DataTable schema = reader.GetSchemaTable();
                Func<string, object[]> column = name => schema.Rows.Cast<DataRow>().Select(row => row[name]).ToArray();
                Drive.Equal(column("ColumnName"), new[] { "id", "label", "price", "twice", "rv", "long", "more", "now" }, "ColumnName");
                Drive.Equal(column("ColumnSize"), new[] { 4, 30, 17, 17, 8, 2147483647, 17, 8 }, "ColumnSize");
                Drive.Equal(column("NumericPrecision"), new[] { 10, 255, 9, 11, 255, 255, 10, 23 }.Select(n => (short)n), "NumericPrecision");
                Drive.Equal(column("NumericScale"), new[] { 255, 255, 2, 2, 255, 255, 2, 3 }.Select(n => (short)n), "NumericScale");
                Drive.Equal(column("AllowDBNull"), new[] { false, true, false, true, false, true, true, false }, "AllowDBNull");
                Drive.Equal(column("IsReadOnly"), new[] { true, false, false, true, true, false, true, true }, "IsReadOnly");
                Drive.Equal(column("IsAutoIncrement"), new[] { true, false, false, false, false, false, false, false }, "IsAutoIncrement");
                Drive.Equal(column("IsRowVersion"), new[] { false, false, false, false, true, false, false, false }, "IsRowVersion");
                Drive.Equal(column("IsLong"), new[] { false, false, false, false, false, true, false, false }, "IsLong");
                Drive.Equal(column("DataTypeName"), new[] { "int", "nvarchar", "decimal", "decimal", "timestamp", "varchar", "decimal", "datetime" }, "DataTypeName");
                Drive.Equal(reader.GetColumnSchema().Select(each => each.ColumnName), column("ColumnName"), "GetColumnSchema");
            }
        }
    }

    private static void Behaviours()
    {
        using (var connection = Drive.Connect())
        {
            Drive.Run(connection, KeyedTable, "CREATE VIEW dbo.dotnet_view AS SELECT id AS number, name FROM dbo.dotnet_k".Insert(0, ""));
            using (var reader = Drive.Command(connection, "SELECT name AS label, price FROM dbo.dotnet_k ORDER BY id; SELECT 2 AS two").ExecuteReader(CommandBehavior.KeyInfo))
            {
                DataTable schema = reader.GetSchemaTable();
                Func<string, object[]> column = name => schema.Rows.Cast<DataRow>().Select(row => row[name]).ToArray();
                // The key is not selected: it comes as a hidden column behind the others.
                Drive.Equal(column("ColumnName"), new[] { "label", "price", "id" }, "ColumnName");
                Drive.Equal(column("BaseColumnName"), new[] { "name", "price", "id" }, "BaseColumnName");
                Drive.Equal(column("BaseTableName"), new[] { "dotnet_k", "dotnet_k", "dotnet_k" }, "BaseTableName");
                Drive.Equal(column("IsKey"), new[] { false, false, true }, "IsKey");
                Drive.Equal(column("IsHidden"), new[] { false, false, true }, "IsHidden");
                Drive.Equal(reader.VisibleFieldCount, 2, "visible");
                reader.Read();
                Drive.Equal(Drive.Row(reader[0], reader[1], reader[2]), Drive.Row("one", 1.00m, 1), "rows");
                Drive.Equal(reader.NextResult(), true, "next");
                Drive.Equal(Drive.Rows(reader), Drive.Row((object)Drive.Row(2)), "next");
            }
            using (var reader = Drive.Command(connection, "SELECT id, name FROM dbo.dotnet_k; DELETE dbo.dotnet_k").ExecuteReader(CommandBehavior.SchemaOnly))
            {
                Drive.Equal(reader.FieldCount, 2, "columns");
                Drive.Equal(reader.Read(), false, "rows");
            }
            Drive.Equal(Drive.Scalar(connection, "SELECT COUNT(*) FROM dbo.dotnet_k"), 3, "not run");
            using (var reader = Drive.Command(connection, "SELECT id FROM dbo.dotnet_k; SELECT 2").ExecuteReader(CommandBehavior.SingleRow))
            {
                Drive.Equal(Drive.Rows(reader).Length, 1, "SingleRow");
            }
            using (var reader = Drive.Command(connection, "SELECT id FROM dbo.dotnet_k; SELECT 2").ExecuteReader(CommandBehavior.SingleResult))
            {
                Drive.Equal(Drive.Rows(reader).Length, 3, "SingleResult");
                Drive.Equal(reader.NextResult(), false, "SingleResult");
            }
            using (var reader = Drive.Command(connection, "SELECT 1").ExecuteReader(CommandBehavior.CloseConnection))
            {
            }
            Drive.Equal(connection.State, ConnectionState.Closed, "CloseConnection");
        }
    }

    private static void Builders()
    {
        using (var connection = Drive.Connect())
        {
            Drive.Run(connection, KeyedTable);
            foreach (ConflictOption option in new[] { ConflictOption.OverwriteChanges, ConflictOption.CompareAllSearchableValues, ConflictOption.CompareRowVersion })
            {
                using (var adapter = new SqlDataAdapter("SELECT id, name, price, rv FROM dbo.dotnet_k ORDER BY id", connection))
                using (var builder = new SqlCommandBuilder(adapter) { ConflictOption = option })
                {
                    Drive.True(builder.GetUpdateCommand().CommandText.Contains("[dotnet_k]") || builder.GetUpdateCommand().CommandText.Contains("dotnet_k"), "text");
                    var table = new DataTable();
                    adapter.Fill(table);
                    table.Rows[0]["name"] = "by " + option;
                    Drive.Equal(adapter.Update(table), 1, "updated");
                    table.Rows.Add(null, "new " + option, 5m);
                    Drive.Equal(adapter.Update(table), 1, "inserted");
                    table.Rows[1].Delete();
                    Drive.Equal(adapter.Update(table), 1, "deleted");
                }
                Drive.Run(connection, "INSERT dbo.dotnet_k (name, price) VALUES (N'" + option + "', 2)");
            }
            // Somebody else was faster.
            using (var adapter = new SqlDataAdapter("SELECT id, name, price FROM dbo.dotnet_k ORDER BY id", connection))
            using (new SqlCommandBuilder(adapter))
            {
                var table = new DataTable();
                adapter.Fill(table);
                Drive.Run(connection, "UPDATE dbo.dotnet_k SET price = 100");
                table.Rows[0]["price"] = 6m;
                Drive.Fails<DBConcurrencyException>(() => adapter.Update(table));
            }
            // Without the key nothing can be written.
            using (var adapter = new SqlDataAdapter("SELECT 1 AS a", connection))
            using (var builder = new SqlCommandBuilder(adapter))
            {
                Drive.Fails<InvalidOperationException>(() => builder.GetUpdateCommand());
            }
        }
    }

    private static void Adapters()
    {
        using (var connection = Drive.Connect())
        {
            Drive.Run(connection, KeyedTable);
            using (var adapter = new SqlDataAdapter("SELECT * FROM dbo.dotnet_k; SELECT 5 AS five", connection) { MissingSchemaAction = MissingSchemaAction.AddWithKey })
            {
                var set = new DataSet();
                Drive.Equal(adapter.Fill(set), 3, "rows");
                Drive.Equal(set.Tables.Count, 2, "tables");
                Drive.Equal(set.Tables[0].PrimaryKey.Select(column => column.ColumnName), new[] { "id" }, "key");
                Drive.Equal(set.Tables[0].Columns["name"].MaxLength, 30, "length");
                Drive.Equal(set.Tables[0].Columns["id"].AutoIncrement, true, "identity");
                var schema = new DataTable();
                adapter.FillSchema(schema, SchemaType.Source);
                Drive.Equal(schema.Columns.Count, 6, "columns");
            }
            foreach (int size in new[] { 1, 10, 0 })
            {
                Drive.Run(connection, "DROP TABLE IF EXISTS dbo.dotnet_u; CREATE TABLE dbo.dotnet_u (a int PRIMARY KEY, b nvarchar(30))");
                using (var adapter = new SqlDataAdapter("SELECT a, b FROM dbo.dotnet_u", connection) { UpdateBatchSize = size })
                {
                    adapter.InsertCommand = new SqlCommand("INSERT dbo.dotnet_u VALUES (@a, @b)", connection) { UpdatedRowSource = UpdateRowSource.None };
                    adapter.InsertCommand.Parameters.Add("@a", SqlDbType.Int, 4, "a");
                    adapter.InsertCommand.Parameters.Add("@b", SqlDbType.NVarChar, 30, "b");
                    var table = new DataTable();
                    adapter.Fill(table);
                    for (int n = 0; n < 105; n++)
                    {
                        table.Rows.Add(n, "row " + n);
                    }
                    Drive.Equal(adapter.Update(table), 105, "inserted, " + size);
                    table.Rows.Add(200, "fine");
                    table.Rows.Add(200, "twice").ClearErrors();
                }
                Drive.Equal(Drive.Scalar(connection, "SELECT COUNT(*) FROM dbo.dotnet_u"), 105, "table");
            }
            // A row of a batch that fails is told of, and the others are there.
            using (var adapter = new SqlDataAdapter("SELECT a, b FROM dbo.dotnet_u", connection) { UpdateBatchSize = 10, ContinueUpdateOnError = true })
            {
                adapter.InsertCommand = new SqlCommand("INSERT dbo.dotnet_u VALUES (@a, @b)", connection) { UpdatedRowSource = UpdateRowSource.None };
                adapter.InsertCommand.Parameters.Add("@a", SqlDbType.Int, 4, "a");
                adapter.InsertCommand.Parameters.Add("@b", SqlDbType.NVarChar, 30, "b");
                var table = new DataTable();
                adapter.FillSchema(table, SchemaType.Source);
                table.PrimaryKey = null;
                foreach (int a in new[] { 300, 5, 301 })
                {
                    table.Rows.Add(a, "row");
                }
                Drive.Equal(adapter.Update(table), 2, "inserted");
                Drive.Equal(table.Rows.Cast<DataRow>().Select(row => row.HasErrors), new[] { false, true, false }, "errors");
            }
        }
    }

    private static void Metadata()
    {
        using (var connection = Drive.Connect())
        {
            Drive.Run(connection, KeyedTable, "CREATE VIEW dbo.dotnet_view AS SELECT id, name FROM dbo.dotnet_k", "DROP PROCEDURE IF EXISTS dbo.dotnet_m", "CREATE PROCEDURE dbo.dotnet_m @a int, @b nvarchar(20) OUTPUT AS RETURN");
            foreach (DataRow collection in connection.GetSchema().Rows)
            {
                string name = (string)collection["CollectionName"];
                if (name == "ViewColumns")
                {
                    // INFORMATION_SCHEMA.VIEW_COLUMN_USAGE, which the server has not.
                    continue;
                }
                try
                {
                    connection.GetSchema(name);
                }
                catch (Exception error)
                {
                    throw new Exception(name + ": " + error.Message);
                }
            }
            Func<string, string[], string, object[]> column = (name, restrictions, wanted) => connection.GetSchema(name, restrictions).Rows.Cast<DataRow>().Select(row => row[wanted]).ToArray();
            Drive.Equal(column("Tables", new[] { null, null, "dotnet_k" }, "TABLE_TYPE"), new[] { "BASE TABLE" }, "Tables");
            Drive.Equal(column("Tables", new[] { null, "dbo", "dotnet_view", "VIEW" }, "TABLE_NAME"), new[] { "dotnet_view" }, "Tables");
            Drive.Equal(column("Columns", new[] { "master", "dbo", "dotnet_k" }, "COLUMN_NAME").OrderBy(each => each), new[] { "id", "long", "name", "price", "rv", "twice" }, "Columns");
            Drive.Equal(column("Databases", new[] { "master" }, "database_name"), new[] { "master" }, "Databases");
            Drive.Equal(column("Views", new[] { null, null, "dotnet_view" }, "CHECK_OPTION"), new[] { "NONE" }, "Views");
            Drive.Equal(column("Procedures", new[] { null, null, "dotnet_m" }, "ROUTINE_TYPE"), new[] { "PROCEDURE" }, "Procedures");
            Drive.Equal(column("ProcedureParameters", new[] { null, null, "dotnet_m" }, "PARAMETER_MODE"), new[] { "IN", "INOUT" }, "ProcedureParameters");
            Drive.Equal(column("Indexes", new[] { null, null, "dotnet_k" }, "table_name").Length, 2, "Indexes");
            Drive.Equal(column("IndexColumns", new[] { null, null, "dotnet_k" }, "column_name").OrderBy(each => each), new[] { "id", "name" }, "IndexColumns");
            Drive.Equal(column("Users", new[] { "dbo" }, "user_name"), new[] { "dbo" }, "Users");
            Drive.True(column("DataTypes", null, "TypeName").Contains("nvarchar"), "DataTypes");
        }
    }
}
