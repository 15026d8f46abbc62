//! BULK INSERT: formats, errors with row and column, constraints, batches, workers, crashes.

use super::crash::world;
use super::{Client, World};
use pikepole_contention::sync::atomic::Ordering;
use pikepole_machine::{OpenOptions, SimulatedDisk};
use std::fmt::Write;

impl Client {
    /// Puts a file into the server's folder.
    pub(super) fn file(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.server.folder().join(name);
        let file = self.server.disk().open(path, OpenOptions { create: true, ..OpenOptions::default() });
        let file = file.expect("a new file");
        file.set_len(0).expect("an empty file");
        file.write_at(bytes.as_ref(), 0).expect("a file that can be written");
    }

    fn content(&self, name: &str) -> String {
        let bytes = self.server.disk().read(self.server.folder().join(name)).expect("the file is there");
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Loads text into an empty table of these columns and gives the lines that come, then the rows by their first column.
    fn loaded(&mut self, columns: &str, text: impl AsRef<[u8]>, options: &str) -> Vec<String> {
        self.file("f", text);
        self.lines(&format!(
            "DROP TABLE IF EXISTS t CREATE TABLE t ({columns}) BULK INSERT t FROM 'f' {options} SELECT * FROM t ORDER BY 1"
        ))
    }
}

#[test]
fn fields_and_rows_end_where_the_options_say() {
    let mut client = Client::alone();
    let two = "a int, b varchar(20)";
    let cases: [(&[u8], &str, &[&str]); 19] = [
        (b"1\tx\r\n2\ty\r\n", "", &["1|x", "2|y"]),
        // Rows end at CR LF, so a line feed alone is a part of the text.
        (b"1\tx\n2\ty\r\n", "", &["1|x\n2\ty"]),
        // Unless the file has no other ends of rows.
        (b"1\tx\n2\ty\n", "", &["1|x", "2|y"]),
        (b"1+|x\n+&|\n2+|y&|\n", "WITH (FIELDTERMINATOR = '+|', ROWTERMINATOR = '&|\\n')", &["1|x\n+", "2|y"]),
        (b"1+|x&|\n+&|\r\n", "WITH (FIELDTERMINATOR = '+|', ROWTERMINATOR = '&|\\n')", &["1|x&|\n+"]),
        (b"1,x\n2,y", "WITH (FIELDTERMINATOR = ',', ROWTERMINATOR = '0x0a')", &["1|x", "2|y"]),
        (b"1,x\n2,y\n", "WITH (FIELDTERMINATOR = ',', ROWTERMINATOR = '\n')", &["1|x", "2|y"]),
        (b"1,x\r\n2,y\r\n", "WITH (FIELDTERMINATOR = ',', ROWTERMINATOR = '\\n')", &["1|x", "2|y"]),
        (b"1||x;;2||y;;", "WITH (FIELDTERMINATOR = '||', ROWTERMINATOR = ';;')", &["1|x", "2|y"]),
        // The last field takes what is left of the row; a row that lacks one goes on in the next line.
        (b"1,x,z\n2,y\n", "WITH (FIELDTERMINATOR = ',', ROWTERMINATOR = '0x0a')", &["1|x,z", "2|y"]),
        (b"1,\"x,\"\"y\"\"\"\n2,y\n", "WITH (FORMAT = 'CSV')", &["1|x,\"y\"", "2|y"]),
        (b"1,\"x\r\ny\"\r\n2,\r\n3,\"\"\r\n", "WITH (FORMAT = 'CSV')", &["1|x\r\ny", "2|NULL", "3|"]),
        (b"1;'x;'\n", "WITH (FORMAT = 'CSV', FIELDQUOTE = '''', FIELDTERMINATOR = ';')", &["1|x;"]),
        (b"a,b\n1,x\n2,y\n3,z\n", "WITH (FORMAT = 'CSV', FIRSTROW = 2, LASTROW = 3)", &["1|x", "2|y"]),
        (b"\xef\xbb\xbf1,\xc3\xa9\n", "WITH (FORMAT = 'CSV', CODEPAGE = '65001')", &["1|é"]),
        (b"1,\xe9\x80\n", "WITH (FORMAT = 'CSV', CODEPAGE = '1252')", &["1|é€"]),
        (b"1,\xe9\n", "WITH (FORMAT = 'CSV', CODEPAGE = 'RAW')", &["1|é"]),
        (b"", "WITH (FORMAT = 'CSV')", &[]),
        (b" 7 ,\0\n,  \n", "WITH (FIELDTERMINATOR = ',', ROWTERMINATOR = '0x0a')", &["NULL|  ", "7|"]),
    ];
    for (text, options, rows) in cases {
        let mut wanted = vec![format!("({} rows)", rows.len())];
        wanted.extend(rows.iter().map(|row| (*row).to_owned()));
        wanted.push(format!("({} rows)", rows.len()));
        assert_eq!(client.loaded(two, text, options), wanted, "{options}");
    }
    let wide: Vec<u8> = "\u{FEFF}1\tž😀\r\n2\ty\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let loaded = client.loaded("a int, b nvarchar(20)", wide, "WITH (DATAFILETYPE = 'widechar')");
    assert_eq!(loaded, ["(2 rows)", "1|ž😀", "2|y", "(2 rows)"]);
}

#[test]
fn places_and_shapes_are_their_bytes_or_their_texts() {
    let mut client = Client::alone();
    client.file("f", "5AC0\tE6100000010C000000000000F03F0000000000000040\n/1/2/\tPOINT (2 1)\n\0\t\n");
    client.quiet("CREATE TABLE t (h hierarchyid, g geography) BULK INSERT t FROM 'f'");
    let rows = client.lines("SELECT h.ToString(), g.ToString() FROM t ORDER BY h");
    assert_eq!(rows, ["/|NULL", "/1/1/|POINT (2 1)", "/1/2/|POINT (2 1)", "(3 rows)"]);
}

#[test]
fn fields_become_values_of_every_type() {
    let mut client = Client::alone();
    client.file("f", "1,255,-3,9000000000,1,12.345,1.5,-2.25,$3.1234,2020-02-29,12:34:56.7,2020-02-29 12:34:56,ab  ,0xBEEF,6F9619FF-8B86-D011-B42D-00C04FC964FF\n");
    client.quiet(
        "CREATE TABLE t (a int, b tinyint, c smallint, d bigint, e bit, f decimal(9, 2), g float, h real, i money, j date, k time(3),
            l datetime2(0), m char(5), n varbinary(4), o uniqueidentifier)
         BULK INSERT t FROM 'f' WITH (FORMAT = 'CSV')",
    );
    let same = "SELECT COUNT(*) FROM t WHERE a = 1 AND b = 255 AND c = -3 AND d = 9000000000 AND e = 1 AND f = 12.35 AND g = 1.5 AND h = -2.25
        AND i = 3.1234 AND j = '20200229' AND k = '12:34:56.700' AND l = '2020-02-29 12:34:56' AND m = 'ab' AND DATALENGTH(m) = 5 AND n = 0xBEEF
        AND o = '6F9619FF-8B86-D011-B42D-00C04FC964FF'";
    assert_eq!(client.value(same), "1");
}

#[test]
fn rows_that_do_not_convert_are_told_and_counted() {
    let mut client = Client::alone();
    let columns = "a tinyint, b varchar(2), c int NOT NULL";
    let text = "1,a,1\nx,b,2\n2,abc,3\n300,d,4\n3,e,\n4,f,6\n";
    let told = [
        "Msg 4864, Level 16, State 1, Line 1: Bulk load data conversion error (type mismatch or invalid character for the specified codepage) for row 2, column 1 (a).",
        "Msg 4863, Level 16, State 1, Line 1: Bulk load data conversion error (truncation) for row 3, column 2 (b).",
        "Msg 4867, Level 16, State 1, Line 1: Bulk load data conversion error (overflow) for row 4, column 1 (a).",
        "Msg 4869, Level 16, State 1, Line 1: The bulk load failed. Unexpected NULL value in data file row 5, column 3. The destination column (c) is defined as NOT NULL.",
    ];
    let options = "WITH (FORMAT = 'CSV', MAXERRORS = 4, ERRORFILE = 'refused.csv')";
    let mut wanted = vec!["(2 rows)".to_owned()];
    wanted.extend(told.map(str::to_owned));
    wanted.extend(["1|a|1", "4|f|6", "(2 rows)"].map(str::to_owned));
    assert_eq!(client.loaded(columns, text, options), wanted);
    assert_eq!(client.content("refused.csv"), "x,b,2\n2,abc,3\n300,d,4\n3,e,\n");
    let notes = client.content("refused.csv.Error.Txt");
    let first: Vec<&str> = notes.lines().map(|line| line.split(" - ").next().unwrap_or_default()).collect();
    assert_eq!(
        first,
        [
            "Row 2 File Offset 6 ErrorFile Offset 0",
            "Row 3 File Offset 12 ErrorFile Offset 6",
            "Row 4 File Offset 20 ErrorFile Offset 14",
            "Row 5 File Offset 28 ErrorFile Offset 22"
        ]
    );
    // It is there now.
    assert!(client.loaded(columns, text, options)[0].starts_with("Msg 4861"));
    let lines = client.loaded(columns, text, "WITH (FORMAT = 'CSV', MAXERRORS = 2)");
    assert_eq!(lines[..3], told[..3]);
    assert!(lines[3].starts_with("Msg 4865") && lines[3].contains("(2)"), "{lines:?}");
    assert!(
        lines[4].starts_with("Msg 7399") && lines[5].starts_with("Msg 7330, Level 16, State 2, Line 1"),
        "{lines:?}"
    );
    assert_eq!(lines[6..], ["(0 rows)"]);
    let wide: Vec<u8> = "é\t1\r\n😀\tx\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    client.loaded("a nvarchar(9), b tinyint", &wide, "WITH (DATAFILETYPE = 'widechar', ERRORFILE = 'wide.csv')");
    assert!(client.content("wide.csv.Error.Txt").starts_with("Row 2 File Offset 10 "));
    assert_eq!(client.content("wide.csv").as_bytes(), String::from_utf8_lossy(&wide[10..]).as_bytes());
    client.file("f", text);
    assert_eq!(
        client.lines(
            "BEGIN TRY BULK INSERT t FROM 'f' WITH (FORMAT = 'CSV', MAXERRORS = 0) END TRY BEGIN CATCH PRINT ERROR_NUMBER() END CATCH"
        ),
        ["7330"]
    );
}

#[test]
fn files_that_are_none_are_refused_with_the_place() {
    let mut client = Client::alone();
    let two = "a int, b varchar(20)";
    let first = |lines: Vec<String>| lines.into_iter().next().unwrap_or_default();
    let ends =
        "Msg 4832, Level 16, State 1, Line 1: Bulk load: An unexpected end of file was encountered in the data file.";
    assert_eq!(first(client.loaded(two, "1\tx\r\n2", "")), ends);
    let csv = |row, column| {
        format!(
            "Msg 4879, Level 16, State 1, Line 1: Bulk load failed due to invalid column value in CSV data file f in row {row}, column {column}."
        )
    };
    assert_eq!(first(client.loaded(two, "1,x\n2\n", "WITH (FORMAT = 'CSV')")), csv(2, 1));
    assert_eq!(first(client.loaded(two, "1,x\n2,y,z\n", "WITH (FORMAT = 'CSV')")), csv(2, 2));
    assert_eq!(first(client.loaded(two, "1,x\n2,\"y\n", "WITH (FORMAT = 'CSV')")), csv(2, 2));
    assert_eq!(first(client.loaded(two, "1,\"x\"y\n", "WITH (FORMAT = 'CSV')")), csv(1, 2));
    let long = format!("1\tx\r\n2\t{}", "y".repeat(70_000));
    assert!(first(client.loaded(two, long, "")).starts_with("Msg 4866"));
    let refused = [
        ("BULK INSERT t FROM 'none'", "Msg 4860"),
        ("BULK INSERT t FROM 'master'", "Msg 4861"),
        ("BULK INSERT none FROM 'f'", "Msg 208"),
        ("BULK INSERT t FROM 'f' WITH (FIRSTROW = 3, LASTROW = 2)", "Msg 4880"),
        ("BULK INSERT t FROM 'f' WITH (CODEPAGE = '12345')", "Msg 4868"),
        ("BULK INSERT t FROM 'f' WITH (COLOUR = 2)", "Msg 155"),
        ("BULK INSERT t FROM 'f' WITH (FORMATFILE = 'x')", "Msg 4860"),
        ("BULK INSERT t FROM 'f' WITH (ORDER (c))", "Msg 207"),
        ("BULK INSERT t FROM 'f' WITH (ERRORFILE = 'master/x')", "Msg 4861"),
        ("BULK INSERT t FROM 'f' WITH (ROWTERMINATOR = '0xg')", "Msg 102"),
    ];
    for (statement, error) in refused {
        let lines = client.lines(statement);
        assert!(lines[0].starts_with(error), "{statement}: {lines:?}");
    }
}

#[test]
fn defaults_identity_and_constraints_are_kept_as_documented() {
    let mut client = Client::alone();
    client.file("f", "7,,5,9\n8,x,-1,9\n");
    client.quiet(
        "CREATE TABLE p (id int PRIMARY KEY) INSERT p VALUES (5)
         CREATE TABLE t (id int IDENTITY(100, 1) PRIMARY KEY, b varchar(5) DEFAULT 'd', n int CONSTRAINT ck CHECK (n > 0) CONSTRAINT fk REFERENCES p, twice AS n * 2)",
    );
    let rows = "SELECT id, b, n, twice FROM t ORDER BY id";
    let csv = |more: &str| format!("BULK INSERT t FROM 'f' WITH (FORMAT = 'CSV'{more})");
    assert_eq!(client.shown(&format!("{} {rows}", csv(""))), ["100|d|5|10", "101|x|-1|-2"]);
    client.quiet(&format!(
        "DELETE t {}",
        csv(", KEEPIDENTITY, KEEPNULLS, TABLOCK, FIRE_TRIGGERS, ROWS_PER_BATCH = 2, ORDER (id)")
    ));
    assert_eq!(client.shown(rows), ["7|NULL|5|10", "8|x|-1|-2"]);
    // The keys are there already, and always looked at.
    let lines = client.lines(&csv(", KEEPIDENTITY"));
    assert!(lines[0].starts_with("Msg 2627") && lines[1] == "The statement has been terminated.", "{lines:?}");
    let lines = client.lines(&format!("DELETE t {}", csv(", CHECK_CONSTRAINTS")));
    assert!(lines[1].contains("\"ck\""), "{lines:?}");
    assert_eq!(client.lines(rows), ["(0 rows)"]);
    client.file("f", "1,,6,9\n");
    assert!(client.lines(&csv(", CHECK_CONSTRAINTS"))[0].contains("\"fk\""));
    let catalog = client.context.database().current_catalog();
    let table = catalog.table("dbo", "t").expect("the table is there");
    assert!(table.checks.iter().all(|check| check.not_trusted) && table.foreign_keys.iter().all(|key| key.not_trusted));
    client
        .quiet(&format!("CREATE TABLE #own (a int, b varchar(5), c int, d int) {}", csv("").replace(" t ", " #own ")));
    assert_eq!(client.shown("SELECT * FROM #own"), ["1|NULL|6|9"]);
}

#[test]
fn a_batch_that_fails_leaves_those_before_it() {
    let mut client = Client::alone();
    client.file("f", "1\n2\n3\n4\n5\n2\n7\n");
    client.quiet("CREATE TABLE t (a int PRIMARY KEY)");
    let load = "BULK INSERT t FROM 'f' WITH (FORMAT = 'CSV', BATCHSIZE = 2)";
    let lines = client.lines(load);
    assert_eq!(lines[..2], ["(2 rows)", "(2 rows)"]);
    assert!(lines[2].starts_with("Msg 2627"), "{lines:?}");
    assert_eq!(client.shown("SELECT a FROM t"), ["1", "2", "3", "4"]);
    // Within a transaction a statement that fails is undone no further than its batch either.
    client.quiet("DELETE t");
    client.lines(&format!("BEGIN TRAN {load}"));
    assert_eq!(client.shown("SELECT COUNT(*), @@TRANCOUNT FROM t ROLLBACK SELECT COUNT(*) FROM t"), ["4|1", "0"]);
    client.file("f", "1\n2\n3\n");
    assert_eq!(client.lines(&format!("{load} SELECT @@ROWCOUNT")), ["(2 rows)", "(1 rows)", "3", "(1 rows)"]);
}

/// A file of so many rows of a number, a text with quotes and commas, and a date.
fn many(rows: usize) -> String {
    let mut text = String::new();
    for row in 1..=rows {
        let _ = writeln!(text, "{row},\"text \"\"{row}\"\", and more\",2020-01-{:02}", row % 28 + 1);
    }
    text
}

const SUMS: &str = "SELECT COUNT(*), SUM(CAST(a AS bigint)), COUNT(DISTINCT b), MIN(b), MAX(c) FROM t";

#[test]
fn workers_load_what_one_task_loads() {
    let mut world = World::with_log(256 << 20);
    let mut client = world.client();
    client.file("f", many(200_000));
    let waits = |client: &Client| super::parallel::waits_of(client, "CXCONSUMER");
    let load = |client: &mut Client, columns: &str, options: &str| {
        let columns = if columns.is_empty() { "a int, b varchar(60), c date" } else { columns };
        client.quiet(&format!(
            "DROP TABLE IF EXISTS t CREATE TABLE t ({columns}) BULK INSERT t FROM 'f' WITH (FORMAT = 'CSV', CODEPAGE = '65001'{options})"
        ));
        client.value(SUMS)
    };
    let serial = load(&mut client, "a int CHECK (a > -9), b varchar(60), c date", ", CHECK_CONSTRAINTS");
    assert_eq!((waits(&client), serial.split('|').next()), (0, Some("200000")));
    let keyed = "a int PRIMARY KEY, b varchar(60), c date, INDEX ix (c)";
    let loads = [
        ("", ""),
        ("", ", TABLOCK"),
        ("", ", BATCHSIZE = 150000"),
        (keyed, ""),
        (keyed, ", BATCHSIZE = 150000"),
        (keyed, ", TABLOCK"),
        (keyed, ", TABLOCK, BATCHSIZE = 150000"),
    ];
    for (columns, options) in loads {
        let before = waits(&client);
        assert_eq!(load(&mut client, columns, options), serial, "{columns} {options}");
        assert_eq!(waits(&client) - before, 1, "{columns} {options}");
    }
    world.server.set_policy("max degree of parallelism", "1").expect("an option");
    let before = waits(&client);
    assert_eq!(load(&mut client, "", ""), serial);
    // The page of a worker alone, too.
    assert_eq!(waits(&client) - before, 1);
}

#[test]
fn workers_refuse_the_first_rows_of_the_file() {
    let mut client = World::with_log(256 << 20).client();
    let mut text = many(200_000);
    for row in [199_000, 150_000, 120_000, 70_000, 3] {
        text = text.replacen(&format!("\n{row},"), &format!("\nx{row},"), 1);
    }
    client.file("f", text);
    client.quiet("CREATE TABLE t (a int, b varchar(60), c date)");
    let load = |more: &str| format!("BULK INSERT t FROM 'f' WITH (FORMAT = 'CSV'{more})");
    let rows = |lines: &[String]| -> Vec<String> {
        let told = lines.iter().filter_map(|line| Some(line.split_once("for row ")?.1.split_once(',')?.0.to_owned()));
        told.collect()
    };
    let lines = client.lines(&load(", MAXERRORS = 2"));
    assert_eq!(rows(&lines), ["3", "70000", "120000"], "{lines:?}");
    assert_eq!(client.value("SELECT COUNT(*) FROM t"), "0");
    let lines = client.lines(&load(", TABLOCK"));
    assert_eq!(rows(&lines), ["3", "70000", "120000", "150000", "199000"]);
    assert_eq!(client.value("SELECT COUNT(*) FROM t"), "199995");
    client.context.cancelled.store(true, Ordering::Relaxed);
    assert!(client.lines(&load(""))[0].starts_with("Msg 3617"));
    client.context.cancelled.store(false, Ordering::Relaxed);
    assert_eq!(client.value("SELECT COUNT(*) FROM t"), "199995");
}

#[test]
fn a_crash_leaves_whole_batches() {
    let rows = many(200_000);
    for (seed, key, options, batch) in [
        (1, "", "", 200_000),
        (2, "", ", TABLOCK", 200_000),
        (3, "", ", BATCHSIZE = 50000, TABLOCK", 50_000),
        (4, "", ", BATCHSIZE = 140000", 140_000),
        (5, "PRIMARY KEY", ", TABLOCK", 200_000),
    ] {
        for stop_at in [1_000, 60_000, 199_000] {
            let disk = SimulatedDisk::new(seed);
            let mut before = world(&disk);
            let mut client = before.client();
            client.quiet(&format!("CREATE TABLE t (a int {key}, b varchar(60), c date)"));
            client.file("f", &rows);
            let server = std::sync::Arc::clone(&client.server);
            let progress = std::sync::Arc::clone(&client.context.progress);
            let load = format!("BULK INSERT t FROM 'f' WITH (FORMAT = 'CSV'{options})");
            let mut output = crate::Collected::default();
            server.schedulers().block_on(async {
                let mut work = std::pin::pin!(client.execute(&load, &mut output));
                std::future::poll_fn(|context| {
                    if progress.rows() >= stop_at {
                        return std::task::Poll::Ready(());
                    }
                    work.as_mut().poll(context)
                })
                .await;
                disk.power_off();
            });
            let after = disk.crash(seed * 31);
            drop((client, before));
            let mut client = world(&after).client();
            let found: u64 = client.value("SELECT COUNT(*) FROM t").parse().expect("a count");
            assert!(found == 200_000 || found.is_multiple_of(batch), "{found} rows after {stop_at} with {options}");
            let sums = "SELECT COUNT(*) FROM t WHERE b <> CONCAT('text \"', a, '\", and more') OR c IS NULL";
            assert_eq!(client.value(sums), "0");
        }
    }
}

#[test]
fn triggers_see_a_load_when_it_says_so_batch_by_batch() {
    let mut world = World::new();
    let mut client = world.client();
    client.file("f", "1\n2\n3\n4\n5\n");
    client.quiet(
        "CREATE TABLE t (a int) CREATE TABLE told (n int IDENTITY, rows_seen int, sum_seen int)
         GO
         CREATE TRIGGER watch ON t AFTER INSERT AS INSERT told (rows_seen, sum_seen) SELECT COUNT(*), SUM(a) FROM inserted",
    );
    client.quiet("BULK INSERT t FROM 'f' WITH (FORMAT = 'CSV')");
    assert_eq!(client.shown("SELECT COUNT(*) FROM told SELECT COUNT(*) FROM t"), ["0", "5"]);
    client.quiet("BULK INSERT t FROM 'f' WITH (FORMAT = 'CSV', FIRE_TRIGGERS, BATCHSIZE = 2)");
    assert_eq!(client.shown("SELECT rows_seen, sum_seen FROM told ORDER BY n"), ["2|3", "2|7", "1|5"]);
    client.quiet("ALTER TRIGGER watch ON t AFTER INSERT AS IF EXISTS (SELECT * FROM inserted WHERE a = 3) ROLLBACK");
    let lines = client.lines("DELETE t BULK INSERT t FROM 'f' WITH (FORMAT = 'CSV', FIRE_TRIGGERS, BATCHSIZE = 2)");
    assert!(lines.iter().any(|line| line.starts_with("Msg 3609")), "{lines:?}");
    assert_eq!(client.shown("SELECT a FROM t ORDER BY a"), ["1", "2"]);
}

#[test]
fn an_empty_table_with_keys_is_filled_without_logging_its_rows() {
    let mut world = World::with_log(256 << 20);
    let (mut client, mut other) = (world.client(), world.client());
    client.file("f", many(200_000));
    client.quiet("CREATE TABLE t (a int PRIMARY KEY, b varchar(60), c date, INDEX ix (c))");
    let load = "BULK INSERT t FROM 'f' WITH (FORMAT = 'CSV', TABLOCK)";
    let logged = |client: &mut Client, batch: &str| {
        let before = client.context.database().log_stats().record_bytes;
        let lines = client.lines(batch);
        (lines, client.context.database().log_stats().record_bytes - before)
    };
    let (lines, bytes) = logged(&mut client, load);
    assert_eq!(lines, ["(200000 rows)"]);
    assert!(bytes < 400_000, "{bytes}");
    let sums = other.value(SUMS);
    assert!(sums.starts_with("200000|"), "{sums}");
    // It has rows now.
    let (lines, bytes) =
        logged(&mut client, "BEGIN TRAN INSERT t WITH (TABLOCK) SELECT a + 1000000, b, c FROM t ROLLBACK");
    assert_eq!(lines, ["(200000 rows)"]);
    assert!(bytes > 4_000_000, "{bytes}");
    // Undone by its transaction, and loaded, changed and loaded again within one.
    client.quiet("TRUNCATE TABLE t");
    assert_eq!(
        client.shown(&format!(
            "BEGIN TRAN {load} UPDATE t SET b = 'x' WHERE a = 5 SELECT COUNT(*) FROM t ROLLBACK SELECT COUNT(*) FROM t"
        )),
        ["200000", "0"]
    );
    let twice = "BEGIN TRAN DECLARE @n int = 0
        WHILE @n < 2 BEGIN
            INSERT t WITH (TABLOCK) SELECT value + @n * 200000, 'made', CAST(NULL AS date) FROM GENERATE_SERIES(1, 200000)
            SET @n += 1
        END
        COMMIT";
    assert_eq!(client.lines(twice), ["(200000 rows)", "(200000 rows)"]);
    assert_eq!(other.value("SELECT COUNT(*), MIN(a), MAX(a) FROM t"), "400000|1|400000");
    // A key that is there twice: nothing is left, and the table takes rows again.
    client.quiet("TRUNCATE TABLE t");
    let lines = client.lines(
        "INSERT t WITH (TABLOCK) SELECT value % 199999, 'twice', CAST(NULL AS date) FROM GENERATE_SERIES(1, 200000)",
    );
    assert!(lines[0].starts_with("Msg 2627"), "{lines:?}");
    assert_eq!(other.value("SELECT COUNT(*) FROM t"), "0");
    client.quiet(load);
    assert_eq!(other.value(SUMS), sums);
    // Batches are loaded into a table that has rows, but for the first.
    client.quiet("TRUNCATE TABLE t");
    assert_eq!(client.lines("BULK INSERT t FROM 'f' WITH (FORMAT = 'CSV', TABLOCK, BATCHSIZE = 150000)").len(), 2);
    assert_eq!(other.value(SUMS), sums);
}

#[test]
fn a_file_that_does_not_come_is_waited_for_until_the_batch_is_cancelled() {
    let client = Client::alone();
    let server = std::sync::Arc::clone(&client.server);
    server.schedulers().block_on(async {
        let file = crate::bulk::ReadAhead::stalled();
        let mut wait = std::pin::pin!(client.context.await_file(&file));
        let mut turns = 0;
        let ended = std::future::poll_fn(|context| {
            turns += 1;
            client.context.cancelled.store(turns > 3, Ordering::Relaxed);
            wait.as_mut().poll(context)
        });
        let error = ended.await.expect_err("nothing comes");
        assert_eq!(error.number, 3617, "{error}");
    });
}

#[test]
fn a_read_that_fails_is_told_once_the_rows_before_are_in() {
    let disk = SimulatedDisk::new(3);
    let mut world = world(&disk);
    let mut client = world.client();
    client.file("f", many(60_000));
    client.quiet("CREATE TABLE t (a int, b varchar(60), c date)");
    disk.fail_nth(pikepole_machine::Operation::Read, 3);
    let lines = client.lines("BULK INSERT t FROM 'f' WITH (FORMAT = 'CSV')");
    assert!(lines[0].starts_with("Msg 4862"), "{lines:?}");
    assert_eq!(client.value("SELECT COUNT(*) FROM t"), "0");
    assert_eq!(client.lines("BULK INSERT t FROM 'f' WITH (FORMAT = 'CSV')"), ["(60000 rows)"]);
}

#[test]
fn a_file_is_a_value_in_from() {
    let mut client = Client::alone();
    let wide: Vec<u8> = "\u{FEFF}ž😀".encode_utf16().flat_map(u16::to_le_bytes).collect();
    client.file("wide", &wide);
    client.file("latin", b"\xe9\0\x80");
    client.file("none", b"");
    let from = |file: &str, kind: &str| format!("FROM OPENROWSET(BULK '{file}', {kind}) AS f");
    let cases = [
        (format!("SELECT BulkColumn {}", from("wide", "SINGLE_NCLOB")), "ž😀"),
        (format!("SELECT BulkColumn {}", from("latin", "SINGLE_BLOB")), "0xE90080"),
        (format!("SELECT UNICODE(f.BulkColumn), DATALENGTH(BulkColumn) {}", from("latin", "SINGLE_CLOB")), "233|3"),
        (format!("SELECT x, DATALENGTH(x) {}(x)", from("none", "single_blob")), "0x|0"),
    ];
    for (query, wanted) in cases {
        assert_eq!(client.value(&query), wanted, "{query}");
    }
    // As rows to insert, with others, in a procedure that runs twice over a changed file.
    client.quiet("CREATE TABLE t (n int, b varbinary(max))");
    client.quiet("CREATE PROCEDURE p AS INSERT t SELECT n, BulkColumn FROM OPENROWSET(BULK 'latin', SINGLE_BLOB) f, (VALUES (1), (2)) AS v(n)");
    client.quiet("EXEC p");
    client.file("latin", b"again");
    client.quiet("EXEC p");
    let rows = client.shown("SELECT n, CAST(b AS varchar(10)) FROM t WHERE b = 0x616761696E ORDER BY n");
    assert_eq!((rows, client.value("SELECT COUNT(*) FROM t")), (vec!["1|again".into(), "2|again".into()], "4".into()));
    let errors = [
        (from("latin", "SINGLE_NCLOB"), 4809),
        (from("wide", "SINGLE_CLOB"), 4806),
        (from("absent", "SINGLE_BLOB"), 4860),
        (from("master", "SINGLE_BLOB"), 4861),
        ("FROM OPENROWSET(BULK 'latin', SINGLE_BLOB)".to_owned(), 491),
        (from("latin", "SINGLE_BLOB, CODEPAGE = 'RAW'"), 40517),
        (from("latin", "FORMATFILE = 'x.fmt'"), 4860),
        ("FROM OPENROWSET(BULK 'latin') AS f".to_owned(), 40517),
        (format!("{}(a, b)", from("latin", "SINGLE_BLOB")), 8159),
    ];
    for (from, number) in errors {
        let lines = client.lines(&format!("SELECT * {from}"));
        assert!(lines[0].starts_with(&format!("Msg {number},")), "{from}: {lines:?}");
    }
}
