//! The interactive shell on a terminal of its own.

use crate::terminal::Terminal;
use crate::tool::Folder;

#[test]
fn batches_run_at_go_and_exit_leaves() {
    let folder = Folder::new("shell");
    let mut terminal = Terminal::open(&folder, &["sql", "-d", "data"]);
    terminal.wait_for("GO on a line of its own runs the batch");
    terminal.wait_for("1> ");
    terminal.type_in("SELECT 40 + 2\n");
    terminal.wait_for("2> ");
    terminal.type_in("    AS answer\n");
    terminal.wait_for("3> ");
    terminal.type_in("GO\n");
    terminal.wait_for("| answer |\n|--------|\n|     42 |\n(1 row affected)\n");
    terminal.wait_for("1> ");
    terminal.type_in("CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY)\n");
    terminal.wait_for("2> ");
    terminal.type_in("INSERT dbo.t VALUES (1)\n");
    terminal.wait_for("3> ");
    terminal.type_in("go 2\n");
    // The second time the table is there.
    terminal.wait_for("Msg 2714, Level 16");
    terminal.wait_for("1> ");
    terminal.type_in("DELETE dbo.t\n");
    terminal.wait_for("2> ");
    terminal.type_in("exit\n");
    assert_eq!(terminal.end(), Some(1), "a batch had an error");
    assert_eq!(folder.number("SELECT COUNT(*) FROM dbo.t"), 1, "what was typed after the last GO has not run");
    let history = std::fs::read_to_string(folder.path().join(".pikepole_history")).expect("it is kept");
    assert!(history.contains("SELECT 40 + 2"), "{history}");
}

#[test]
fn control_c_drops_the_batch_and_control_d_leaves() {
    let folder = Folder::new("control");
    let mut terminal = Terminal::open(&folder, &["sql", "-d", "data"]);
    terminal.wait_for("1> ");
    terminal.type_in("CREATE TABLE dbo.never (id int)\n");
    terminal.wait_for("2> ");
    terminal.type_in("\u{3}");
    terminal.wait_for("1> ");
    terminal.type_in("PRINT 'still ' + 'here'\n");
    terminal.wait_for("2> ");
    terminal.type_in("GO\n");
    terminal.wait_for("still here\n");
    terminal.wait_for("1> ");
    terminal.type_in("\u{4}");
    assert_eq!(terminal.end(), Some(0));
    assert_eq!(folder.number("SELECT COUNT(*) FROM sys.tables"), 0);
}

#[test]
fn control_c_ends_what_runs_and_the_shell_goes_on() {
    let folder = Folder::new("interrupt");
    folder
        .sql_clean("CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY) CREATE TABLE dbo.w (id int NOT NULL PRIMARY KEY)");
    let mut terminal = Terminal::open(&folder, &["sql", "-d", "data"]);
    let endless = [
        "WAITFOR DELAY '23:59:59'",
        "WHILE 1 = 1 BEGIN BEGIN TRY INSERT dbo.w VALUES (1) DELETE dbo.w END TRY BEGIN CATCH PRINT 'no' END CATCH END",
        "WITH d AS (SELECT n FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS v (n)) \
         SELECT COUNT(*) FROM d AS a, d AS b, d AS c, d AS e, d AS f, d AS g, d AS h, d AS i, d AS j, d AS k, d AS l",
        "BEGIN TRANSACTION UPDATE dbo.t SET id = 1 INSERT dbo.t VALUES (2) WAITFOR DELAY '23:59:59'",
    ];
    for statement in endless {
        terminal.wait_for("1> ");
        terminal.type_in(&format!("{statement}\n"));
        terminal.wait_for("2> ");
        terminal.type_in("GO 3\n");
        terminal.interrupt_until("Msg 3617, Level 11, State 0, Line 1\nOperation cancelled by user.\n");
    }
    terminal.wait_for("1> ");
    terminal.type_in("SELECT @@TRANCOUNT AS open_transactions, COUNT(*) AS rows_left FROM dbo.t\n");
    terminal.wait_for("2> ");
    terminal.type_in("GO\n");
    terminal.wait_for("|                 1 |         1 |\n");
    terminal.wait_for("1> ");
    terminal.type_in("exit\n");
    assert_eq!(terminal.end(), Some(1));
    assert_eq!(folder.number("SELECT COUNT(*) FROM dbo.t"), 0, "what was not committed is rolled back");
    assert_eq!(folder.check().status, 0);
}

#[test]
fn lines_are_edited_and_come_back() {
    let folder = Folder::new("editing");
    let mut terminal = Terminal::open(&folder, &["sql", "-d", "data"]);
    terminal.wait_for("1> ");
    // Left twice, a character erased before the cursor, another one typed.
    terminal.type_in("PRINT 'lxg'\u{1b}[D\u{1b}[D\u{7f}o\n");
    terminal.wait_for("2> ");
    terminal.type_in("GO\n");
    terminal.wait_for("\nlog\n");
    terminal.wait_for("1> ");
    // Up: the whole batch, with its GO.
    terminal.type_in("\u{1b}[A\n");
    terminal.wait_for("\nlog\n");
    terminal.wait_for("1> ");
    terminal.type_in("exit\n");
    assert_eq!(terminal.end(), Some(0));
    let mut terminal = Terminal::open(&folder, &["sql", "-d", "data"]);
    terminal.wait_for("1> ");
    // The batches of the last time are there: exit is not one of them. The first line is edited before they run.
    terminal.type_in("\u{1b}[A\u{1b}[A\u{1b}[F\u{7f}ger'\n");
    terminal.wait_for("\nlogger\n");
    terminal.wait_for("1> ");
    terminal.type_in("\u{4}");
    assert_eq!(terminal.end(), Some(0));
}
