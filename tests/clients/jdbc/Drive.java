import com.microsoft.sqlserver.jdbc.SQLServerBulkCopy;
import com.microsoft.sqlserver.jdbc.SQLServerDataTable;
import com.microsoft.sqlserver.jdbc.SQLServerException;
import com.microsoft.sqlserver.jdbc.SQLServerPreparedStatement;
import java.math.BigDecimal;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.sql.Types;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Tries mssql-jdbc; prints a line a feature as python/drive.py does. */
public final class Drive {
    private interface Feature {
        void run() throws Exception;
    }

    private static final String BEYOND = "t\u00e4xt \u4e2d\u6587 \ud83d\udc0e\ud800\udf48";

    private static Connection connect(String... more) throws SQLException {
        Properties properties = new Properties();
        properties.put("user", System.getenv("PIKEPOLE_USER"));
        properties.put("password", System.getenv("PIKEPOLE_PASSWORD"));
        properties.put("databaseName", "master");
        properties.put("encrypt", System.getenv("PIKEPOLE_ENCRYPT").equals("on") ? "true" : "false");
        properties.put("trustServerCertificate", "true");
        properties.put("loginTimeout", "20");
        for (int i = 0; i < more.length; i += 2) {
            properties.put(more[i], more[i + 1]);
        }
        String url = "jdbc:sqlserver://" + System.getenv("PIKEPOLE_HOST") + ":" + System.getenv("PIKEPOLE_PORT");
        return DriverManager.getConnection(url, properties);
    }

    private static void run(Connection connection, String... batches) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            for (String sql : batches) {
                statement.execute(sql);
            }
        }
    }

    private static List<List<Object>> rows(ResultSet result) throws SQLException {
        List<List<Object>> rows = new ArrayList<>();
        int columns = result.getMetaData().getColumnCount();
        while (result.next()) {
            List<Object> row = new ArrayList<>();
            for (int column = 1; column <= columns; column++) {
                row.add(result.getObject(column));
            }
            rows.add(row);
        }
        return rows;
    }

    private static List<List<Object>> query(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement(); ResultSet result = statement.executeQuery(sql)) {
            return rows(result);
        }
    }

    private static void equal(Object got, Object expected, String what) {
        if (!Objects.deepEquals(got, expected)) {
            String text = what + ": " + got + " instead of " + expected;
            throw new AssertionError(text.substring(0, Math.min(250, text.length())));
        }
    }

    private static SQLException fails(Callable<?> work) throws Exception {
        try {
            work.call();
        } catch (SQLException error) {
            return error;
        }
        throw new AssertionError("no error");
    }

    private static void connects() throws Exception {
        try (Connection connection = connect()) {
            DatabaseMetaData data = connection.getMetaData();
            equal(data.getDatabaseProductName(), "Microsoft SQL Server", "product");
            equal(query(connection, "SELECT DB_NAME()"), List.of(List.of("master")), "database");
            equal(connection.isValid(5), true, "valid");
        }
        equal(fails(() -> connect("password", "not the password")).getErrorCode(), 18456, "number");
    }

    private static Map<String, Object[]> values() {
        Map<String, Object[]> values = new LinkedHashMap<>();
        values.put("bit", new Object[] {true, false});
        values.put("smallint", new Object[] {(short) -32768, (short) 32767});
        values.put("int", new Object[] {Integer.MIN_VALUE, Integer.MAX_VALUE});
        values.put("bigint", new Object[] {Long.MIN_VALUE, Long.MAX_VALUE});
        values.put("decimal(38,0)", new Object[] {new BigDecimal("9".repeat(38)), new BigDecimal("-" + "9".repeat(38))});
        values.put("decimal(38,38)", new Object[] {new BigDecimal("0." + "9".repeat(38))});
        values.put("money", new Object[] {new BigDecimal("-922337203685477.5808"), new BigDecimal("922337203685477.5807")});
        values.put("float", new Object[] {Double.MAX_VALUE, -2.2250738585072014e-308, 0.1});
        values.put("real", new Object[] {Float.MAX_VALUE, 0.5f});
        values.put("date", new Object[] {java.sql.Date.valueOf("2024-02-29"), java.sql.Date.valueOf("9999-12-31")});
        values.put("datetime2(7)", new Object[] {java.sql.Timestamp.valueOf("2024-02-29 12:30:15.1234567")});
        values.put("datetimeoffset(7)", new Object[] {
            microsoft.sql.DateTimeOffset.valueOf(java.sql.Timestamp.valueOf("2024-02-29 12:30:15.1234567"), 330)});
        values.put("varchar(8000)", new Object[] {"", "plain", "x".repeat(8000)});
        values.put("varchar(max)", new Object[] {"y".repeat(7_000)});
        values.put("nvarchar(4000)", new Object[] {"", BEYOND, "\u4e2d".repeat(2000)});
        values.put("nvarchar(max)", new Object[] {BEYOND.repeat(250)});
        values.put("varbinary(8000)", new Object[] {new byte[0], new byte[] {0, -1, 16}});
        values.put("varbinary(max)", new Object[] {new byte[7_000]});
        values.put("text", new Object[] {"", "plain", "y".repeat(9_000)});
        values.put("ntext", new Object[] {BEYOND, BEYOND.repeat(250)});
        values.put("image", new Object[] {new byte[] {0, -1, 16}, new byte[9_000]});
        values.put("uniqueidentifier", new Object[] {"00112233-4455-6677-8899-AABBCCDDEEFF"});
        return values;
    }

    private static void types() throws Exception {
        try (Connection connection = connect()) {
            for (Map.Entry<String, Object[]> entry : values().entrySet()) {
                run(connection, "DROP TABLE IF EXISTS dbo.java_t", "CREATE TABLE dbo.java_t (n int PRIMARY KEY, v " + entry.getKey() + ")");
                List<Object> all = new ArrayList<>(Arrays.asList(entry.getValue()));
                try (PreparedStatement insert = connection.prepareStatement("INSERT dbo.java_t VALUES (?, ?)")) {
                    for (int n = 0; n < all.size(); n++) {
                        insert.setInt(1, n);
                        insert.setObject(2, all.get(n));
                        equal(insert.executeUpdate(), 1, "rows");
                    }
                }
                run(connection, "INSERT dbo.java_t VALUES (1000, NULL)");
                all.add(null);
                List<List<Object>> got = query(connection, "SELECT v FROM dbo.java_t ORDER BY n");
                equal(got.size(), all.size(), entry.getKey());
                for (int n = 0; n < all.size(); n++) {
                    equal(got.get(n).get(0), all.get(n), entry.getKey());
                }
            }
            // What has no value says little of its type: what the driver makes of each is taken.
            for (int type : NULLS) {
                try (PreparedStatement select = connection.prepareStatement("SELECT 1 WHERE ? IS NULL")) {
                    select.setNull(1, type);
                    equal(select.executeQuery().next(), true, "NULL of JDBC's type " + type);
                }
            }
        }
    }

    private static final int[] NULLS = {
        Types.BIT, Types.TINYINT, Types.SMALLINT, Types.INTEGER, Types.BIGINT, Types.DECIMAL, Types.NUMERIC, Types.REAL, Types.DOUBLE,
        Types.DATE, Types.TIME, Types.TIMESTAMP, Types.CHAR, Types.VARCHAR, Types.LONGVARCHAR, Types.NCHAR, Types.NVARCHAR,
        Types.LONGNVARCHAR, Types.CLOB, Types.NCLOB, Types.BINARY, Types.VARBINARY, Types.LONGVARBINARY, Types.BLOB, Types.SQLXML,
        microsoft.sql.Types.GUID, microsoft.sql.Types.DATETIMEOFFSET, microsoft.sql.Types.MONEY, microsoft.sql.Types.SMALLMONEY,
        microsoft.sql.Types.DATETIME, microsoft.sql.Types.SMALLDATETIME, microsoft.sql.Types.SQL_VARIANT};

    /** Collations whose code pages have these texts: a client decodes a varchar by its column's collation. */
    private static Map<String, String> pages() {
        Map<String, String> values = new LinkedHashMap<>();
        values.put("Cyrillic_General_CI_AS", "\u041f\u0440\u0438\u0432\u0435\u0442");
        values.put("SQL_Latin1_General_CP1251_CI_AS", "\u041f\u0440\u0438\u0432\u0435\u0442");
        values.put("Greek_CI_AS", "\u0393\u03b5\u03b9\u03ac");
        values.put("Czech_CI_AS", "\u010de\u0161tina");
        values.put("Turkish_CI_AS", "\u0130\u0131\u011f\u015f");
        values.put("Hebrew_CI_AS", "\u05e9\u05dc\u05d5\u05dd");
        values.put("Arabic_CI_AS", "\u0633\u0644\u0627\u0645");
        values.put("Latvian_CI_AS", "\u0137\u012bmija");
        values.put("Thai_CI_AS", "\u0e44\u0e17\u0e22");
        values.put("Japanese_CI_AS", "\u65e5\u672c\u8a9e\uff71");
        values.put("Chinese_PRC_CI_AS", "\u4e2d\u6587");
        values.put("Chinese_Taiwan_Stroke_CI_AS", "\u7e41\u9ad4");
        values.put("Korean_Wansung_CI_AS", "\ud55c\uae00");
        values.put("Latin1_General_100_CI_AS_SC_UTF8", "\u00e9\u65e5\ud83d\ude00");
        return values;
    }

    private static void codePages() throws Exception {
        try (Connection connection = connect()) {
            for (Map.Entry<String, String> entry : pages().entrySet()) {
                run(connection, "DROP TABLE IF EXISTS dbo.page_t; CREATE TABLE dbo.page_t (v varchar(20) COLLATE " + entry.getKey() + ")");
                try (PreparedStatement insert = connection.prepareStatement("INSERT dbo.page_t VALUES (?)")) {
                    insert.setNString(1, entry.getValue());
                    insert.execute();
                }
                try (Statement statement = connection.createStatement();
                        ResultSet result = statement.executeQuery("SELECT v FROM dbo.page_t")) {
                    result.next();
                    equal(result.getString(1), entry.getValue(), entry.getKey());
                }
            }
        }
    }

    private static Map<String, Object> longValues() {
        return Map.of("nvarchar(4000)", "\u4e2d".repeat(4000), "varchar(max)", "y".repeat(100_000), "nvarchar(max)", BEYOND.repeat(20_000), "varbinary(max)", new byte[300_000]);
    }

    private static void longSent() throws Exception {
        try (Connection connection = connect(); PreparedStatement select = connection.prepareStatement("SELECT ?")) {
            for (Map.Entry<String, Object> entry : longValues().entrySet()) {
                select.setObject(1, entry.getValue());
                try (ResultSet result = select.executeQuery()) {
                    equal(rows(result).get(0).get(0), entry.getValue(), entry.getKey());
                }
            }
        }
    }

    private static void longStored() throws Exception {
        try (Connection connection = connect()) {
            for (Map.Entry<String, Object> entry : longValues().entrySet()) {
                run(connection, "DROP TABLE IF EXISTS dbo.java_l", "CREATE TABLE dbo.java_l (v " + entry.getKey() + ")");
                try (PreparedStatement insert = connection.prepareStatement("INSERT dbo.java_l VALUES (?)")) {
                    insert.setObject(1, entry.getValue());
                    insert.executeUpdate();
                }
                equal(query(connection, "SELECT v FROM dbo.java_l").get(0).get(0), entry.getValue(), entry.getKey());
            }
        }
    }

    private static void parameters() throws Exception {
        try (Connection connection = connect(); PreparedStatement statement = connection.prepareStatement("SELECT ? + 1 AS a, ? AS b")) {
            statement.setInt(1, 41);
            statement.setString(2, "o'brien");
            try (ResultSet result = statement.executeQuery()) {
                equal(rows(result), List.of(List.of(42, "o'brien")), "answer");
            }
        }
    }

    private static void procedures() throws Exception {
        try (Connection connection = connect()) {
            run(connection, "DROP PROCEDURE IF EXISTS dbo.java_p",
                "CREATE PROCEDURE dbo.java_p @a int, @sum int OUTPUT, @text nvarchar(40) OUTPUT AS BEGIN SET @sum = @a + 5; SET @text = N'\u4e2d'; RETURN 7 END");
            try (CallableStatement call = connection.prepareCall("{? = call dbo.java_p(?, ?, ?)}")) {
                call.registerOutParameter(1, Types.INTEGER);
                call.setInt(2, 3);
                call.registerOutParameter(3, Types.INTEGER);
                call.registerOutParameter(4, Types.NVARCHAR);
                call.execute();
                equal(List.of(call.getInt(1), call.getInt(3), call.getString(4)), List.of(7, 8, "\u4e2d"), "answer");
            }
        }
    }

    private static void tableValued() throws Exception {
        try (Connection connection = connect()) {
            run(connection, "DROP PROCEDURE IF EXISTS dbo.java_tvp", "DROP TYPE IF EXISTS dbo.java_list", "CREATE TYPE dbo.java_list AS TABLE (id int, name nvarchar(20))",
                "CREATE PROCEDURE dbo.java_tvp @list dbo.java_list READONLY, @more int = 0 AS SELECT COUNT(*) + @more, MAX(name) FROM @list");
            SQLServerDataTable table = new SQLServerDataTable();
            table.addColumnMetadata("id", Types.INTEGER);
            table.addColumnMetadata("name", Types.NVARCHAR);
            table.addRow(1, "a");
            table.addRow(2, "b");
            try (PreparedStatement statement = connection.prepareStatement("EXEC dbo.java_tvp ?")) {
                statement.unwrap(SQLServerPreparedStatement.class).setStructured(1, "dbo.java_list", table);
                try (ResultSet result = statement.executeQuery()) {
                    equal(rows(result), List.of(List.of(2, "b")), "answer");
                }
            }
            // The driver names the table in its call, and not what follows it.
            for (String text : new String[] {"EXEC dbo.java_tvp ?, ?", "{call dbo.java_tvp(?, ?)}"}) {
                try (PreparedStatement statement = connection.prepareStatement(text)) {
                    statement.unwrap(SQLServerPreparedStatement.class).setStructured(1, "dbo.java_list", table);
                    statement.setInt(2, 5);
                    try (ResultSet result = statement.executeQuery()) {
                        equal(rows(result), List.of(List.of(7, "b")), text);
                    }
                }
            }
        }
    }

    private static void prepared() throws Exception {
        for (String method : new String[] {"prepexec", "prepare"}) {
            try (Connection connection = connect("prepareMethod", method, "enablePrepareOnFirstPreparedStatementCall", "true")) {
                run(connection, "DROP TABLE IF EXISTS dbo.java_h; CREATE TABLE dbo.java_h (a int PRIMARY KEY, b varchar(20))");
                try (PreparedStatement insert = connection.prepareStatement("INSERT dbo.java_h VALUES (?, ?)")) {
                    for (int n = 0; n < 100; n++) {
                        insert.setInt(1, n);
                        insert.setString(2, "row " + n);
                        insert.addBatch();
                        if (n % 10 == 9) {
                            equal(insert.executeBatch().length, 10, "batch");
                        }
                    }
                }
                equal(query(connection, "SELECT COUNT(*), SUM(a) FROM dbo.java_h"), List.of(List.of(100, 4950)), method);
            }
        }
    }

    private static void generatedKeys() throws Exception {
        try (Connection connection = connect()) {
            run(connection, "DROP TABLE IF EXISTS dbo.java_k; CREATE TABLE dbo.java_k (id int IDENTITY(7, 3) PRIMARY KEY, a int)");
            try (PreparedStatement insert = connection.prepareStatement("INSERT dbo.java_k (a) VALUES (?)", Statement.RETURN_GENERATED_KEYS)) {
                insert.setInt(1, 1);
                insert.executeUpdate();
                insert.executeUpdate();
                try (ResultSet keys = insert.getGeneratedKeys()) {
                    keys.next();
                    equal(keys.getLong(1), 10L, "key");
                }
            }
        }
    }

    private static void transactions() throws Exception {
        try (Connection connection = connect(); Connection other = connect()) {
            run(connection, "DROP TABLE IF EXISTS dbo.java_x; CREATE TABLE dbo.java_x (a int)");
            connection.setAutoCommit(false);
            run(connection, "INSERT dbo.java_x VALUES (1)");
            equal(query(other, "SELECT COUNT(*) FROM dbo.java_x"), List.of(List.of(0)), "seen by another");
            Savepoint here = connection.setSavepoint("here");
            run(connection, "INSERT dbo.java_x VALUES (2)");
            connection.rollback(here);
            connection.commit();
            run(connection, "INSERT dbo.java_x VALUES (3)");
            connection.rollback();
            equal(query(connection, "SELECT a FROM dbo.java_x"), List.of(List.of(1)), "rows");
            connection.setAutoCommit(true);
            for (int level : new int[] {Connection.TRANSACTION_READ_UNCOMMITTED, Connection.TRANSACTION_SERIALIZABLE, Connection.TRANSACTION_READ_COMMITTED}) {
                connection.setTransactionIsolation(level);
                equal(connection.getTransactionIsolation(), level, "isolation");
            }
        }
    }

    private static void errors() throws Exception {
        try (Connection connection = connect()) {
            String[] batches = {"SELECT * FROM dbo.nowhere", "SELECT 1 +\n\n* FROM", "DECLARE @i int = 0;\nSELECT 1 / @i", "THROW 51234, 'thrown', 1"};
            int[][] expected = {{208, 1}, {102, 3}, {8134, 2}, {51234, 1}};
            for (int n = 0; n < batches.length; n++) {
                String sql = batches[n];
                SQLServerException error = (SQLServerException) fails(() -> query(connection, sql));
                equal(List.of(error.getErrorCode(), error.getSQLServerError().getLineNumber()), List.of(expected[n][0], (long) expected[n][1]), sql);
            }
            run(connection, "DROP TABLE IF EXISTS dbo.java_e; CREATE TABLE dbo.java_e (a int PRIMARY KEY)", "INSERT dbo.java_e VALUES (1)");
            SQLException twice = fails(() -> { run(connection, "INSERT dbo.java_e VALUES (1)"); return null; });
            equal(List.of(twice.getErrorCode(), twice.getSQLState()), List.of(2627, "23000"), "a key twice");
        }
    }

    private static void resultSets() throws Exception {
        try (Connection connection = connect(); Statement statement = connection.createStatement()) {
            List<Object> seen = new ArrayList<>();
            boolean isResult = statement.execute("SELECT 1 AS a; DECLARE @t int = 1; SELECT 'x' AS b; SELECT 3 AS c WHERE 1 = 0; SELECT 4 AS d");
            while (isResult || statement.getUpdateCount() != -1) {
                if (isResult) {
                    seen.add(rows(statement.getResultSet()));
                }
                isResult = statement.getMoreResults();
            }
            equal(seen, List.of(List.of(List.of(1)), List.of(List.of("x")), List.of(), List.of(List.of(4))), "sets");
        }
    }

    private static void millionRows() throws Exception {
        for (String buffering : new String[] {"adaptive", "full"}) {
            try (Connection connection = connect("responseBuffering", buffering); Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery("SELECT value, CAST(value AS varchar(20)) FROM GENERATE_SERIES(1, 1000000)")) {
                long count = 0;
                long sum = 0;
                while (result.next()) {
                    count++;
                    sum += result.getLong(1);
                }
                equal(List.of(count, sum), List.of(1_000_000L, 500_000_500_000L), buffering);
            }
        }
    }

    private static void metadata() throws Exception {
        try (Connection connection = connect()) {
            run(connection, "DROP TABLE IF EXISTS dbo.java_m", "CREATE TABLE dbo.java_m (id int NOT NULL PRIMARY KEY, name nvarchar(30) NULL, price decimal(9, 2) NOT NULL)");
            DatabaseMetaData data = connection.getMetaData();
            try (ResultSet tables = data.getTables("master", "dbo", "java_m", new String[] {"TABLE"})) {
                equal(rows(tables).size(), 1, "tables");
            }
            try (ResultSet columns = data.getColumns("master", "dbo", "java_m", null)) {
                List<String> names = new ArrayList<>();
                while (columns.next()) {
                    names.add(columns.getString("COLUMN_NAME") + " " + columns.getString("TYPE_NAME") + " " + columns.getInt("COLUMN_SIZE"));
                }
                equal(names, List.of("id int 10", "name nvarchar 30", "price decimal 9"), "columns");
            }
            try (ResultSet keys = data.getPrimaryKeys("master", "dbo", "java_m")) {
                keys.next();
                equal(keys.getString("COLUMN_NAME"), "id", "key");
            }
        }
    }

    private static void bulk() throws Exception {
        try (Connection connection = connect()) {
            run(connection, "DROP TABLE IF EXISTS dbo.java_b; CREATE TABLE dbo.java_b (a int NOT NULL, b nvarchar(40) NULL, c float NULL)");
            String source = "SELECT value AS a, CONCAT(N'text ', value) AS b, CASE value % 2 WHEN 0 THEN value / 2e0 END AS c FROM GENERATE_SERIES(0, 9999)";
            try (Connection other = connect(); Statement statement = other.createStatement(); ResultSet result = statement.executeQuery(source);
                SQLServerBulkCopy copy = new SQLServerBulkCopy(connection)) {
                copy.setDestinationTableName("dbo.java_b");
                copy.writeToServer(result);
            }
            equal(query(connection, "SELECT COUNT(*), SUM(a), COUNT(c) FROM dbo.java_b"), List.of(List.of(10_000, 49_995_000, 5_000)), "rows");
        }
    }

    private static void cancel() throws Exception {
        try (Connection connection = connect(); Statement statement = connection.createStatement()) {
            new Thread(() -> {
                try {
                    Thread.sleep(500);
                    statement.cancel();
                } catch (Exception error) {
                    throw new IllegalStateException(error);
                }
            }).start();
            long began = System.nanoTime();
            fails(() -> statement.execute("WAITFOR DELAY '00:00:20'"));
            equal(System.nanoTime() - began < 8_000_000_000L, true, "cancelled in time");
            equal(query(connection, "SELECT 1"), List.of(List.of(1)), "afterwards");
        }
    }

    private static void timeOut() throws Exception {
        try (Connection connection = connect(); Statement statement = connection.createStatement()) {
            statement.setQueryTimeout(1);
            fails(() -> statement.execute("WAITFOR DELAY '00:00:20'"));
            equal(query(connection, "SELECT 1"), List.of(List.of(1)), "afterwards");
        }
    }

    private static void scrolling() throws Exception {
        try (Connection connection = connect(); Statement statement = connection.createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_READ_ONLY);
            ResultSet result = statement.executeQuery("SELECT value FROM GENERATE_SERIES(1, 300)")) {
            result.last();
            equal(result.getInt(1), 300, "last");
            result.absolute(150);
            equal(result.getInt(1), 150, "absolute");
        }
    }

    private static void updating() throws Exception {
        try (Connection connection = connect()) {
            run(connection, "CREATE TABLE #u (id int IDENTITY PRIMARY KEY, name nvarchar(20), amount decimal(9, 2), long nvarchar(max))",
                "INSERT #u (name, amount) VALUES (N'one', 1), (N'two', 2), (N'three', 3)");
            for (int type : new int[] {ResultSet.TYPE_SCROLL_SENSITIVE, ResultSet.TYPE_FORWARD_ONLY}) {
                try (Statement statement = connection.createStatement(type, ResultSet.CONCUR_UPDATABLE);
                    ResultSet result = statement.executeQuery("SELECT id, name AS label, amount, long FROM #u ORDER BY id")) {
                    result.next();
                    result.updateString("label", BEYOND + type);
                    result.updateBigDecimal(3, new BigDecimal("4.25"));
                    result.updateString(4, "long".repeat(5000));
                    result.updateRow();
                    result.moveToInsertRow();
                    result.updateString(2, "new " + type);
                    result.updateNull(3);
                    result.insertRow();
                    result.moveToCurrentRow();
                    result.next();
                    result.deleteRow();
                    if (type == ResultSet.TYPE_SCROLL_SENSITIVE) {
                        equal(result.rowDeleted(), true, "deleted");
                        result.first();
                        equal(result.getString(2), BEYOND + type, "its own change");
                        run(connection, "UPDATE #u SET name = N'other' WHERE id = 1");
                        result.refreshRow();
                        equal(result.getString(2), "other", "another's change");
                    }
                }
            }
            List<List<Object>> left = query(connection, "SELECT id, name, LEN(long) FROM #u ORDER BY id");
            equal(left, List.of(Arrays.asList(1, BEYOND + ResultSet.TYPE_FORWARD_ONLY, 20000L), Arrays.asList(4, "new 1005", null),
                Arrays.asList(5, "new 1003", null)), "the table");
        }
    }

    private static void reconnect() throws Exception {
        for (int turn = 0; turn < 30; turn++) {
            try (Connection connection = connect()) {
                equal(query(connection, "SELECT 1"), List.of(List.of(1)), "answer");
            }
        }
    }

    private static void twoHundred() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(200);
        List<Future<?>> all = new ArrayList<>();
        for (int number = 0; number < 200; number++) {
            int own = number;
            all.add(pool.submit(() -> {
                try (Connection connection = connect(); PreparedStatement statement = connection.prepareStatement("SELECT ? + ?")) {
                    for (int turn = 0; turn < 5; turn++) {
                        statement.setInt(1, own);
                        statement.setInt(2, turn);
                        try (ResultSet result = statement.executeQuery()) {
                            equal(rows(result), List.of(List.of(own + turn)), "answer");
                        }
                    }
                }
                return null;
            }));
        }
        for (Future<?> one : all) {
            one.get();
        }
        pool.shutdown();
    }

    public static void main(String[] only) {
        Map<String, Feature> features = new LinkedHashMap<>();
        features.put("connect", Drive::connects);
        features.put("types round trip", Drive::types);
        features.put("code pages", Drive::codePages);
        features.put("long values", Drive::longSent);
        features.put("long values stored", Drive::longStored);
        features.put("parameters", Drive::parameters);
        features.put("procedures", Drive::procedures);
        features.put("table-valued parameters", Drive::tableValued);
        features.put("prepared statements", Drive::prepared);
        features.put("generated keys", Drive::generatedKeys);
        features.put("transactions", Drive::transactions);
        features.put("errors", Drive::errors);
        features.put("result sets", Drive::resultSets);
        features.put("a million rows", Drive::millionRows);
        features.put("metadata", Drive::metadata);
        features.put("bulk insert", Drive::bulk);
        features.put("cancel", Drive::cancel);
        features.put("time out", Drive::timeOut);
        features.put("scrolling cursors", Drive::scrolling);
        features.put("updatable result sets", Drive::updating);
        features.put("reconnect", Drive::reconnect);
        features.put("two hundred connections", Drive::twoHundred);
        for (Map.Entry<String, Feature> feature : features.entrySet()) {
            if (only.length > 0 && !Arrays.asList(only).contains(feature.getKey())) {
                continue;
            }
            try {
                feature.getValue().run();
                System.out.println(feature.getKey() + "\tok\t");
            } catch (Throwable error) {
                String text = error.toString().replace('\n', ' ');
                System.out.println(feature.getKey() + "\tfailed\t" + text.substring(0, Math.min(300, text.length())));
                if (System.getenv("PIKEPOLE_TRACE") != null) {
                    error.printStackTrace();
                }
            }
        }
        System.exit(0);
    }
}
