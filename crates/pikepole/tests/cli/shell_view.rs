//! What the shell shows, and its own commands.

use crate::server::Server;
use crate::terminal::Terminal;
use crate::tool::Folder;

fn open(folder: &Folder) -> Terminal {
    let mut terminal = Terminal::open(folder, &["sql", "-d", "data"]);
    terminal.wait_for("master 1> ");
    terminal
}

/// With variables of the environment.
fn open_with(folder: &Folder, variables: &[(&str, &str)]) -> Terminal {
    let mut command = folder.command(["sql", "-d", "data"]);
    command.envs(variables.iter().copied());
    let mut terminal = Terminal::run(folder, command);
    terminal.wait_for("1> ");
    terminal
}

fn leave(mut terminal: Terminal, status: i32) {
    terminal.type_in("\u{4}");
    assert_eq!(terminal.end(), Some(status));
}

#[test]
fn help_is_answered_in_full() {
    let folder = Folder::new("help");
    let mut terminal = open(&folder);
    for question in ["help", "\\?", ":help", "HELP;"] {
        terminal.run_lines(question, ":import FILE [T]");
    }
    terminal.run_lines("\\nothing", "There is no command \\nothing; \\? lists those that there are.\n");
    // Within a batch it is a call of a procedure.
    terminal.run_lines("PRINT 'a' EXEC\nhelp\nGO", "Could not find stored procedure 'help'.\n");
    leave(terminal, 1);
}

#[test]
fn the_prompt_tells_the_database_the_transaction_and_what_is_open() {
    let folder = Folder::new("prompt");
    let mut terminal = open(&folder);
    terminal.run_lines("CREATE DATABASE sales\nGO\nUSE sales\nGO", "sales ");
    terminal.type_in("BEGIN TRANSACTION\nGO\n");
    terminal.wait_for("sales* 1> ");
    terminal.type_in("PRINT 'a\n");
    terminal.wait_for("sales* 2'> ");
    terminal.type_in("b' /* c\n");
    terminal.wait_for("sales* 3/*> ");
    terminal.type_in("*/ SELECT 1 AS [d\n");
    terminal.wait_for("sales* 4[> ");
    terminal.type_in("e] ROLLBACK\nGO\n");
    terminal.wait_for("sales 1> ");
    leave(terminal, 0);
}

#[test]
fn what_there_is_can_be_asked() {
    let folder = Folder::new("catalog");
    folder.sql_clean(
        "CREATE TABLE dbo.orders (id int NOT NULL PRIMARY KEY, word nvarchar(40) NULL, price decimal(9, 2), big varchar(max))
         INSERT dbo.orders (id) VALUES (1), (2)",
    );
    folder.sql_clean("CREATE VIEW dbo.cheap AS SELECT id FROM dbo.orders");
    folder.sql_clean("CREATE PROCEDURE dbo.buy @id int, @done bit OUTPUT AS SET @done = 1");
    let mut terminal = open(&folder);
    for tables in ["\\d", ":tables"] {
        terminal.run_lines(tables, "| dbo    | cheap  | view  | NULL |\n| dbo    | orders | table |    2 |\n");
    }
    terminal.type_in(":describe dbo.orders\n");
    terminal.wait_for("| id     | int           | NOT NULL |      |\n| word   | nvarchar(40)  | NULL     |      |\n");
    terminal.wait_for("| price  | decimal(9, 2) | NULL     |      |\n| big    | varchar(max)  | NULL     |      |\n");
    terminal.wait_for("clustered, primary key | id      |\n");
    terminal.run_lines("\\d dbo.buy", "| @id       | int  |        |\n| @done     | bit  | output |\n");
    terminal.run_lines("CREATE TABLE #own (a time(3) NOT NULL)\nGO\n\\d #own", "| a      | time(3) | NOT NULL |");
    terminal.run_lines("\\d nothing", "There is no nothing in master.\n");
    terminal.run_lines(":databases", "| tempdb ");
    leave(terminal, 0);
}

#[test]
fn results_fit_the_terminal() {
    let folder = Folder::new("fit");
    let mut terminal = open(&folder);
    terminal.resize(40, 200);
    terminal.run_lines("SELECT 7 AS id, REPLICATE('x', 90) AS word\nGO", "| id | word                            |\n");
    let wide = "SELECT 'first value' AS a, 'second value' AS b, 'third value' AS c, 'fourth value' AS d";
    terminal.run_lines(&format!("{wide}\nGO"), "-[ row 1 ]-\na | first value\nb | second value\n");
    terminal.run_lines("\\x", "one under the other.\n");
    terminal.run_lines("SELECT 1 AS a, NULL AS b\nGO", "-[ row 1 ]-\na | 1\nb | NULL\n");
    terminal.run_lines("\\x off", "as tables.\n");
    terminal.run_lines("\\rows 2", "Up to 2 rows");
    terminal.run_lines(
        "SELECT value FROM GENERATE_SERIES(1, 5)\nGO",
        "|     1 |\n|     2 |\n(3 more rows are not shown; \\rows 0 shows all)\n(5 rows affected)\nTime: 0.",
    );
    terminal.run_lines("\\timing", "The elapsed time of batches: off\n");
    leave(terminal, 0);
}

#[test]
fn a_plan_is_a_tree_with_its_measures() {
    let folder = Folder::new("plan");
    folder.sql_clean("CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, a int) INSERT dbo.t VALUES (1, 2), (2, 3)");
    let mut terminal = open(&folder);
    terminal.resize(60, 200);
    terminal.type_in("SET STATISTICS PROFILE ON\nGO\nSELECT COUNT(*) AS n FROM dbo.t WHERE a > 2\nGO\n");
    terminal.wait_for("rows  runs  est. rows  est. cost  plan\n");
    terminal.wait_for("|--");
    terminal.wait_for("1> ");
    leave(terminal, 0);
}

#[test]
fn an_error_shows_its_line_with_a_caret_and_in_red_where_there_are_colours() {
    let folder = Folder::new("caret");
    let mut terminal = open_with(&folder, &[]);
    let excerpt = "Invalid column name 'nothing'.\n    2 | SELECT nothing\n               ^^^^^^^\n";
    terminal.run_lines("PRINT 'a'\nSELECT nothing\nGO", excerpt);
    leave(terminal, 1);
    let mut terminal = open_with(&folder, &[("NO_COLOR", "")]);
    terminal.run_lines("SELECT nothing\nGO", "\u{1b}[31mMsg 207, Level 16, State 1, Line 1\u{1b}[0m\n");
    terminal.run_lines("SELECT NULL AS a\nGO", "| \u{1b}[2mNULL\u{1b}[0m |\n");
    leave(terminal, 1);
}

#[test]
fn a_semicolon_runs_the_batch_when_asked_to() {
    let folder = Folder::new("semicolon");
    let mut terminal = open(&folder);
    terminal.type_in("PRINT 'not ' + 'yet';\n");
    terminal.wait_for("2> ");
    terminal.run_lines("\\semicolon on\nPRINT 'now';", "not yet\nnow\n");
    terminal.type_in("PRINT 'a;\n");
    terminal.wait_for("2'> ");
    terminal.run_lines("b' + 'c';", "a;\nbc\n");
    leave(terminal, 0);
}

#[test]
fn tab_completes_keywords_and_names() {
    let folder = Folder::new("complete");
    folder.sql_clean("CREATE TABLE dbo.warehouse (id int NOT NULL PRIMARY KEY, shelf_number int)");
    let mut terminal = open(&folder);
    terminal.type_in("selec");
    terminal.wait_for("selec");
    // A person is slower than a paste.
    std::thread::sleep(std::time::Duration::from_millis(300));
    terminal.type_in("\t");
    terminal.wait_for("select");
    terminal.type_in(" shelf");
    terminal.wait_for("shelf");
    std::thread::sleep(std::time::Duration::from_millis(300));
    terminal.type_in("\t");
    terminal.wait_for("shelf_number");
    terminal.type_in(" from dbo.w");
    terminal.wait_for("dbo.w");
    std::thread::sleep(std::time::Duration::from_millis(300));
    terminal.type_in("\t");
    terminal.wait_for("dbo.warehouse");
    terminal.run_lines("\nGO", "(0 rows affected)\n");
    leave(terminal, 0);
}

#[test]
fn csv_goes_out_and_comes_back_with_null_and_empty_texts() {
    let folder = Folder::new("transfer");
    folder
        .write("in.csv", "id,word,at,price\n1,\"\",2024-01-01 10:00,1.50\n2,,2024-02-29,\n3,\"it's \"\"x\"\"\",,-20\n");
    let mut terminal = open(&folder);
    terminal.run_lines(":import in.csv", "3 rows of in.csv into the new table [in]\n");
    terminal.type_in("\\d in\n");
    terminal.wait_for("| id     | int           | NULL");
    terminal.wait_for("| at     | datetime2(7)  | NULL");
    terminal.wait_for("| price  | decimal(4, 2) | NULL");
    terminal.run_lines(":export out.csv SELECT id, word, price FROM [in] ORDER BY id", "3 rows in out.csv\n");
    let written = std::fs::read_to_string(folder.path().join("out.csv")).expect("it is there");
    assert_eq!(written, "id,word,price\n1,\"\",1.50\n2,,\n3,\"it's \"\"x\"\"\",-20.00\n");
    #[cfg(not(feature = "parquet"))]
    for line in [":import in.parquet", ":export out.parquet SELECT 1"] {
        terminal.run_lines(line, ".parquet: this build neither reads nor writes Parquet files: CSV files are\n");
    }
    // All or nothing, and the file's own mistakes are named with their line.
    folder.write("twice.csv", "id,word,price\n4,a,1\n5,b,x\n");
    // The error rolls a transaction back, so the lines of its statement are all that can be named.
    let lines = "twice.csv, lines 2 to 3: Msg 8114, ";
    let error = "Error converting data type nvarchar to numeric.\n";
    terminal.type_in(":import twice.csv [in]\n");
    for text in [lines, error, "Nothing of twice.csv is loaded.\n", "1> "] {
        terminal.wait_for(text);
    }
    terminal.run_lines("BEGIN TRAN\nGO", "Time: ");
    terminal.type_in(":import twice.csv [in]\n");
    for text in [lines, error, "The error has ended the transaction: nothing is loaded.\n", "1> "] {
        terminal.wait_for(text);
    }
    // One that ends its statement alone is found by its line.
    folder.write("long.csv", "id,word,price\n4,a,1\n5,a text that is too long,1\n");
    terminal.run_lines("BEGIN TRAN\nGO", "Time: ");
    terminal.type_in(":import long.csv [in]\n");
    for text in ["long.csv, line 3: Msg 2628, ", "The row before it is in the open transaction.\n", "1> "] {
        terminal.wait_for(text);
    }
    terminal.run_lines("ROLLBACK\nGO", "Time: ");
    folder.write("short.csv", "id,word\n4\n");
    terminal.run_lines(":import short.csv [in]", "short.csv, line 2: 1 fields where 2 are named\n");
    terminal.run_lines(":import none.csv", "No such file or directory");
    terminal.run_lines("SELECT COUNT(*) AS n FROM [in]\nGO", "| 3 |\n");
    leave(terminal, 1);
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_goes_out_and_comes_back_with_its_types() {
    let folder = Folder::new("parquet");
    folder.sql_clean(
        "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, b bit, ti tinyint, s smallint, l bigint, d decimal(38, 10),
            small decimal(5, 2), m money, r real, f float, da date, tm time(7), d2 datetime2(7), d3 datetime2(3), dt datetime,
            o datetimeoffset(3), c char(3), v varchar(20), n nvarchar(max), g uniqueidentifier NOT NULL, x varbinary(max))",
    );
    folder.sql_clean(
        "INSERT dbo.t VALUES (1, 1, 255, -32768, -9223372036854775808, 1234567890123456789012345678.0123456789, -999.99, -0.0001,
            1.1754944E-38, 0.1, '0001-01-01', '23:59:59.9999999', '2024-02-29 01:02:03.1234567', '9999-12-31 23:59:59.999',
            '2024-01-01 00:00:00.003', '2024-01-01 01:00:00.125 +02:00', 'a', 'it''s', REPLICATE(CAST(N'é😀' AS nvarchar(max)), 5000),
            '00010203-0405-0607-0809-0A0B0C0D0E0F', CAST(REPLICATE(CAST('x' AS varchar(max)), 9000) AS varbinary(max)))
         INSERT dbo.t (id, g, v, x) VALUES (2, NEWID(), '', 0x)
         INSERT dbo.t (id, g, f, r, b) VALUES (-2147483648, NEWID(), -1.7976931348623157E308, -3.4028235E38, 0)",
    );
    let mut terminal = open(&folder);
    terminal.run_lines(":export t.parquet SELECT * FROM dbo.t", "3 rows in t.parquet\n");
    terminal.run_lines(":import t.parquet dbo.again", "3 rows of t.parquet into the new table dbo.again\n");
    terminal.type_in("\\d dbo.again\n");
    for (name, ty, null) in [
        ("id", "int", "NOT NULL"),
        ("b", "bit", "NULL"),
        ("ti", "tinyint", "NULL"),
        ("s", "smallint", "NULL"),
        ("l", "bigint", "NULL"),
        ("d", "decimal(38, 10)", "NULL"),
        ("small", "decimal(5, 2)", "NULL"),
        ("m", "decimal(19, 4)", "NULL"),
        ("r", "real", "NULL"),
        ("f", "float", "NULL"),
        ("da", "date", "NULL"),
        ("tm", "time(7)", "NULL"),
        ("d2", "datetime2(7)", "NULL"),
        ("d3", "datetime2(6)", "NULL"),
        ("dt", "datetime2(6)", "NULL"),
        ("o", "datetime2(6)", "NULL"),
        ("c", "nvarchar(4000)", "NULL"),
        ("v", "nvarchar(4000)", "NULL"),
        ("n", "nvarchar(max)", "NULL"),
        ("g", "uniqueidentifier", "NOT NULL"),
        ("x", "varbinary(max)", "NULL"),
    ] {
        terminal.wait_for(&format!("| {name:<6} | {ty:<16} | {null:<8} |"));
    }
    terminal.wait_for("1> ");
    let same = "id, b, ti, s, l, d, small, m, r, f, da, tm, d2, d3, CAST(dt AS datetime), c, v, n, g, x";
    let utc = "CAST(SWITCHOFFSET(o, 0) AS datetime2(6))";
    terminal.run_lines(
        &format!(
            "SELECT COUNT(*) AS n FROM (SELECT {same}, {utc} FROM dbo.t INTERSECT SELECT {same}, o FROM dbo.again) x (\
             a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u)\nGO"
        ),
        "| 3 |\n",
    );
    // What came in as a text is another type's value where the column is that.
    terminal.run_lines("CREATE TABLE dbo.old (dt datetime, m money)\nGO", "Time: ");
    terminal.run_lines(":export part.parquet SELECT dt, m FROM dbo.t", "3 rows in part.parquet\n");
    terminal.run_lines("SET DATEFORMAT dmy\nGO", "Time: ");
    terminal.run_lines(":import part.parquet dbo.old", "3 rows of part.parquet into dbo.old\n");
    terminal.run_lines("SELECT dt, m FROM dbo.old WHERE dt IS NOT NULL\nGO", "| 2024-01-01 00:00:00.003 | -0.0001 |\n");
    leave(terminal, 0);
}

/// Writes a file of one column of dates, by days from 1970.
#[cfg(feature = "parquet")]
fn parquet_of(folder: &Folder, name: &str, schema: &str, days: &[i32]) {
    use parquet::{
        column::writer::ColumnWriter, file::writer::SerializedFileWriter, schema::parser::parse_message_type,
    };
    let schema = parse_message_type(schema).expect("a schema");
    let mut writer = SerializedFileWriter::new(Vec::new(), schema.into(), Default::default()).expect("a file");
    if !days.is_empty() {
        let mut group = writer.next_row_group().expect("a row group");
        let mut column = group.next_column().expect("a column").expect("a column");
        let ColumnWriter::Int32ColumnWriter(values) = column.untyped() else { panic!("dates are INT32") };
        values.write_batch(days, None, None).expect("written");
        column.close().expect("written");
        group.close().expect("written");
    }
    folder.write(name, writer.into_inner().expect("written"));
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_that_cannot_be_loaded_says_its_row_and_its_column() {
    let folder = Folder::new("parquet-errors");
    let mut terminal = open(&folder);
    folder.write("no.parquet", "id,word\n1,a\n");
    terminal.run_lines(":import no.parquet", "no.parquet: this is no Parquet file\n");
    terminal.run_lines(":import none.parquet", "No such file or directory");
    parquet_of(&folder, "dates.parquet", "message m { required int32 day (DATE); }", &[0, 1, -800_000, 2]);
    let error =
        "dates.parquet, row 3: column day: a date, -800000 days from 1970-01-01, is not within the years 1 to 9999\n";
    terminal.type_in(":import dates.parquet\n");
    for text in [error, "Nothing of dates.parquet is loaded.\n", "1> "] {
        terminal.wait_for(text);
    }
    terminal.run_lines("SELECT OBJECT_ID('dates') AS id\nGO", "| NULL |\n");
    terminal.run_lines("BEGIN TRAN\nGO", "Time: ");
    terminal.type_in(":import dates.parquet\n");
    for text in [error, "The 2 rows before it are in the open transaction.\n", "1> "] {
        terminal.wait_for(text);
    }
    terminal.run_lines("SELECT COUNT(*) AS n FROM dates\nROLLBACK\nGO", "| 2 |\n");
    // What the table refuses is found by its row too.
    parquet_of(&folder, "twice.parquet", "message m { required int32 day (DATE); }", &[5, 6, 6, 7]);
    terminal.run_lines("CREATE TABLE days (day date PRIMARY KEY)\nBEGIN TRAN\nGO", "Time: ");
    terminal.type_in(":import twice.parquet days\n");
    for text in ["twice.parquet, row 3: Msg 2627, ", "The 2 rows before it are in the open transaction.\n", "1> "] {
        terminal.wait_for(text);
    }
    terminal.run_lines("ROLLBACK\nGO", "Time: ");
    parquet_of(&folder, "lists.parquet", "message m { required int32 a; repeated int32 many; }", &[]);
    terminal
        .run_lines(":import lists.parquet", "lists.parquet: column many has lists of values, and a table has no such");
    parquet_of(&folder, "deep.parquet", "message m { required group both { required int32 a; } }", &[]);
    terminal
        .run_lines(":import deep.parquet", "deep.parquet: column both is nested, and a table has no such columns\n");
    let mut damaged = std::fs::read(folder.path().join("twice.parquet")).expect("it is there");
    damaged[6] ^= 0xff;
    folder.write("damaged.parquet", damaged);
    terminal.run_lines(":import damaged.parquet", "damaged.parquet, row 1: column day cannot be read: ");
    leave(terminal, 1);
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_is_written_whole_or_not_at_all() {
    let folder = Folder::new("parquet-whole");
    let mut terminal = open(&folder);
    let query = ":export two.parquet SELECT 1 AS a, 'x', 2 AS a SELECT 2 AS other";
    terminal.run_lines(query, "1 row in two.parquet: the first of 2 results\n");
    terminal.run_lines(":import two.parquet", "1 row of two.parquet into the new table [two]\n");
    terminal.run_lines("SELECT a, column2, column3 FROM two\nGO", "| 1 | x       |       2 |\n");
    let before = std::fs::read(folder.path().join("two.parquet")).expect("it is there");
    let query = ":export two.parquet SELECT 1 / (value - 3) AS a FROM GENERATE_SERIES(1, 5)";
    terminal.run_lines(query, "two.parquet: it is not written, because the query has failed\n");
    assert_eq!(std::fs::read(folder.path().join("two.parquet")).expect("it is there"), before);
    terminal.run_lines(":export none.parquet PRINT 'a'", "none.parquet: the query has no result\n");
    let query = ":export late.parquet SELECT CAST('2300-01-01' AS datetime2) AS a";
    terminal.run_lines(query, "late.parquet: row 1, column a: a TIMESTAMP of nanoseconds");
    terminal.run_lines(":export no/folder.parquet SELECT 1", "No such file or directory");
    terminal.run_lines(":export empty.parquet SELECT 1 AS a WHERE 1 = 0", "0 rows in empty.parquet\n");
    terminal.run_lines(":import empty.parquet", "0 rows of empty.parquet into the new table [empty]\n");
    // More rows than a row group has.
    let query =
        ":export many.parquet SELECT value AS id, CAST(value AS varchar(10)) AS word FROM GENERATE_SERIES(1, 150000)";
    terminal.run_lines(query, "150000 rows in many.parquet\n");
    terminal.run_lines(":import many.parquet", "150000 rows of many.parquet into the new table [many]\n");
    terminal.run_lines(
        "SELECT COUNT(*) AS n, MIN(id) AS a, MAX(id) AS b FROM many WHERE id = word\nGO",
        "| 150000 | 1 | 150000 |\n",
    );
    let files = std::fs::read_dir(folder.path()).expect("a folder").filter_map(Result::ok);
    let names: Vec<String> = files.map(|file| file.file_name().to_string_lossy().into_owned()).collect();
    assert!(!names.iter().any(|name| name.contains("partial") || name == "late.parquet"), "{names:?}");
    leave(terminal, 1);
}

#[test]
fn results_go_to_a_file_and_a_batch_is_watched() {
    let folder = Folder::new("watch");
    let mut terminal = open(&folder);
    terminal.run_lines("\\watch", "No batch has run that \\watch could run again.\n");
    terminal.run_lines("\\o out.txt\nPRINT 'to the file'\nGO\n\\o\nPRINT 'to the ' + 'screen'\nGO", "to the screen\n");
    let written = std::fs::read_to_string(folder.path().join("out.txt")).expect("it is there");
    assert_eq!(written, "to the file\n");
    terminal.type_in("\\watch 0.05\n");
    for _ in 0..3 {
        terminal.wait_for("to the screen\n");
    }
    terminal.type_in("\u{3}");
    terminal.wait_for("1> ");
    terminal.run_lines("PRINT 'still ' + 'here'\nGO", "still here\n");
    leave(terminal, 1);
}

#[test]
fn long_results_go_to_the_pager_and_control_c_ends_it() {
    let folder = Folder::new("pager");
    let mut terminal = open_with(&folder, &[("PAGER", "sed s/^/paged:/; echo waits; exec sleep 1000")]);
    terminal.resize(80, 10);
    terminal.run_lines("SELECT 1 AS short\nGO", "\n| short |\n");
    terminal.type_in("SELECT value FROM GENERATE_SERIES(1, 50)\nGO\n");
    terminal.wait_for("paged:|    50 |\n");
    terminal.wait_for("waits\n");
    terminal.type_in("\u{3}");
    terminal.wait_for("1> ");
    terminal.run_lines("\\pager off\nSELECT value FROM GENERATE_SERIES(1, 50)\nGO", "\n|    50 |\n");
    terminal.run_lines("PRINT 'still ' + 'here'\nGO", "still here\n");
    leave(terminal, 0);
}

#[test]
fn a_line_tells_how_far_a_long_batch_is() {
    let folder = Folder::new("progress");
    let server = Server::start(&folder, &[]);
    let rows: String = (0..3_000).map(|row| format!("{row},some text\n")).collect();
    folder.write("served/rows.csv", rows);
    let (mut one, mut other) = (server.terminal(&folder), server.terminal(&folder));
    one.wait_for("1> ");
    other.wait_for("1> ");
    one.run_lines("CREATE TABLE t (a int PRIMARY KEY, b varchar(20))\nGO", "Time: ");
    one.run_lines("BEGIN TRAN INSERT t VALUES (2000, 'x')\nGO", "(1 row affected)\n");
    // It waits in the middle for a key of the other session's.
    other.type_in("BULK INSERT t FROM 'rows.csv' WITH (FORMAT = 'CSV')\nGO\n");
    other.wait_for("\u{1b}[K");
    other.wait_for(" % done, waits for session ");
    other.wait_for(", no estimate yet");
    one.run_lines("ROLLBACK\nGO", "Time: ");
    other.wait_for("(3000 rows affected)");
    other.wait_for("1> ");
    other.type_in("PRINT 'first' WAITFOR DELAY '00:00:05'\nGO\n");
    other.wait_for(" s, waits (WAITFOR), no estimate of the rest (Ctrl-C ends it)");
    other.wait_for("1> ");
    // Where standard output is no terminal there is no line.
    let quiet = folder.run(["sql", "-d", "own", "-Q", "WAITFOR DELAY '00:00:03'"]);
    assert_eq!((quiet.status, quiet.out.as_str(), quiet.err.as_str()), (0, "", ""));
    other.run_lines("\\progress off", "The progress line of long batches: off\n");
    leave(other, 0);
    leave(one, 0);
}
