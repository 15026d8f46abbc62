//! What is typed or pasted into the shell: all of it arrives, in its order; control-c and control-d in every state.

use crate::server::Server;
use crate::terminal::Terminal;
use crate::tool::Folder;

/// Lines of a paste.
const PASTED_LINES: usize = 500;

/// A batch that says it runs, and then runs for a while.
const BUSY: &str = "RAISERROR('it runs', 10, 1) WITH NOWAIT WAITFOR DELAY '00:00:02' PRINT 'it ' + 'ran'\nGO\n";

fn open(folder: &Folder) -> Terminal {
    let mut terminal = Terminal::open(folder, &["sql", "-d", "data"]);
    terminal.wait_for("1> ");
    terminal
}

/// So many lines: a table, then batches of a statement that has a tab and a text of two lines, and the sum at last.
fn script() -> String {
    let mut lines = vec!["CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, text varchar(40))".to_string(), "GO".into()];
    for id in 0.. {
        if lines.len() + 5 > PASTED_LINES {
            break;
        }
        lines.extend([format!("INSERT\tdbo.t VALUES ({id}, 'a"), format!("\tb {id}')"), "GO".into()]);
    }
    lines.push("SELECT CONCAT('sum ', COUNT(*), ' ', SUM(id), ' ', SUM(LEN(text))) FROM dbo.t".into());
    lines.push("GO".into());
    lines.join("\n") + "\n"
}

fn sum() -> String {
    let (mut count, mut ids, mut length) = (0, 0, 0);
    for id in 0..(PASTED_LINES - 4) / 3 {
        count += 1;
        ids += id;
        length += format!("a\n\tb {id}").len();
    }
    format!("sum {count} {ids} {length}")
}

#[test]
fn a_plain_paste_of_500_lines_arrives_whole() {
    let folder = Folder::new("paste");
    let mut terminal = open(&folder);
    terminal.paste(&script());
    terminal.wait_for(&format!("{} |", sum()));
    terminal.wait_for("1> ");
    terminal.type_in("exit\n");
    assert_eq!(terminal.end(), Some(0), "no batch had an error");
}

#[test]
fn a_bracketed_paste_of_500_lines_waits_for_return_and_runs_as_lines() {
    let folder = Folder::new("bracketed");
    let mut terminal = open(&folder);
    // Terminals send a paste's line ends as the return key.
    let pasted = script().replace('\n', "\r");
    terminal.paste(&format!("\u{1b}[200~{pasted}\u{1b}[201~"));
    terminal.type_in("\r");
    terminal.wait_for(&format!("{} |", sum()));
    terminal.wait_for("1> ");
    terminal.type_in("exit\n");
    assert_eq!(terminal.end(), Some(0), "no batch had an error");
}

#[test]
fn a_bracketed_paste_without_a_line_end_is_edited_on() {
    let folder = Folder::new("edited");
    let mut terminal = open(&folder);
    terminal.type_in("\u{1b}[200~SELECT 40\r+ \u{1b}[201~2 AS answer\rGO\r");
    terminal.wait_for("| answer |\n|--------|\n|     42 |\n");
    terminal.wait_for("1> ");
    terminal.type_in("\u{4}");
    assert_eq!(terminal.end(), Some(0));
}

#[test]
fn what_is_typed_while_a_batch_runs_is_read_after_it() {
    let folder = Folder::new("ahead");
    let mut terminal = open(&folder);
    terminal.type_in(BUSY);
    terminal.wait_for("\nit runs\n");
    // The arrow keys go back over the 3 and behind it again: what is typed ahead is edited as what is typed.
    terminal.type_in("SELECT 13\u{1b}[D0\u{1b}[C AS typed_ahead\nGO\nPRINT 'and ' + 'more'\n");
    terminal.type_in("GO\n\u{4}");
    terminal.wait_for("it ran\n");
    terminal.wait_for("| typed_ahead |\n|-------------|\n|         103 |\n");
    terminal.wait_for("and more\n");
    assert_eq!(terminal.end(), Some(0), "control-d was typed ahead too");
}

#[test]
fn a_paste_while_a_batch_runs_is_read_after_it() {
    let folder = Folder::new("late-paste");
    let mut terminal = open(&folder);
    terminal.type_in(BUSY);
    terminal.wait_for("\nit runs\n");
    terminal.paste(&script());
    terminal.wait_for("it ran\n");
    terminal.wait_for(&format!("{} |", sum()));
    terminal.wait_for("1> ");
    // A terminal that marks pastes does it while a batch runs too: what is pasted then waits for return.
    terminal.type_in(BUSY);
    terminal.wait_for("\nit runs\n");
    terminal.paste("\u{1b}[200~PRINT 'a ' + 'paste'\rGO\r\u{1b}[201~");
    terminal.wait_for("it ran\n");
    terminal.wait_for("PRINT 'a ' + 'paste'\nGO\n");
    terminal.type_in("\r");
    terminal.wait_for("a paste\n");
    terminal.wait_for("1> ");
    terminal.type_in("exit\n");
    assert_eq!(terminal.end(), Some(0));
}

#[test]
fn control_c_at_a_prompt_drops_what_is_before_it_and_nothing_else() {
    let folder = Folder::new("prompts");
    let mut terminal = open(&folder);
    // An empty prompt.
    terminal.type_in("\u{3}");
    terminal.wait_for("1> ");
    // Half a line, and more in the same breath.
    terminal.type_in("SELECT 'half\u{3}PRINT 'kept ' + 'one'\nGO\n");
    terminal.wait_for("kept one\n");
    terminal.wait_for("1> ");
    // Half a batch, in the middle of a text.
    terminal.type_in("PRINT 'half a batch\n");
    terminal.wait_for("2'> ");
    terminal.type_in("of two\u{3}");
    terminal.wait_for("1> ");
    terminal.type_in("PRINT 'kept ' + 'two'\n");
    terminal.wait_for("2> ");
    terminal.type_in("GO\n");
    terminal.wait_for("kept two\n");
    terminal.wait_for("1> ");
    // What was dropped comes back with the arrow keys: the batch before the last one.
    terminal.type_in("\u{1b}[A\u{1b}[A\u{1b}[A");
    terminal.wait_for("of two");
    terminal.type_in("\u{3}");
    terminal.wait_for("1> ");
    terminal.type_in("\u{4}");
    assert_eq!(terminal.end(), Some(0));
}

#[test]
fn control_c_while_a_batch_runs_drops_what_was_typed_ahead() {
    let folder = Folder::new("dropped");
    let mut terminal = open(&folder);
    let pasted =
        "RAISERROR('it runs', 10, 1) WITH NOWAIT WAITFOR DELAY '23:59:59'\nGO\nPRINT 'never'\nGO\nPRINT 'never'\nGO\n";
    terminal.paste(&format!("\u{1b}[200~{pasted}\u{1b}[201~"));
    terminal.type_in("\r");
    terminal.wait_for("\nit runs\n");
    terminal.type_in("PRINT 'never'\nGO\n");
    terminal.interrupt_until("Operation cancelled by user.\n");
    terminal.wait_for("1> ");
    terminal.type_in("PRINT 'after ' + 'it'\nGO\n");
    terminal.wait_for("after it\n");
    terminal.wait_for("1> ");
    terminal.type_in("exit\n");
    let shown = terminal.shown().to_owned();
    assert!(!shown.contains("\nnever\n"), "{shown}");
    assert_eq!(terminal.end(), Some(1));
}

#[test]
fn control_c_ends_the_wait_for_a_lock() {
    let folder = Folder::new("lock");
    let server = Server::start(&folder, &[]);
    let mut owner = server.terminal(&folder);
    owner.wait_for("1> ");
    owner.type_in("CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY)\nGO\nBEGIN TRAN INSERT dbo.t VALUES (1)\nGO\n");
    owner.wait_for("1> ");
    owner.wait_for("(1 row affected)\n");
    let mut other = server.terminal(&folder);
    other.wait_for("1> ");
    other.type_in("RAISERROR('it waits', 10, 1) WITH NOWAIT SELECT COUNT(*) FROM dbo.t WITH (HOLDLOCK)\nGO\n");
    other.wait_for("\nit waits\n");
    other.interrupt_until("Operation cancelled by user.\n");
    other.wait_for("1> ");
    other.type_in("PRINT 'still ' + 'here'\nGO\n");
    other.wait_for("still here\n");
    other.wait_for("1> ");
    other.type_in("\u{4}");
    assert_eq!(other.end(), Some(1));
    owner.type_in("\u{4}");
    assert_eq!(owner.end(), Some(0));
}

#[test]
fn control_d_leaves_from_half_a_batch_and_runs_nothing() {
    let folder = Folder::new("leaves");
    let mut terminal = open(&folder);
    terminal.type_in("CREATE TABLE dbo.never (id int)\n");
    terminal.wait_for("2> ");
    terminal.type_in("\u{4}");
    assert_eq!(terminal.end(), Some(0));
    assert_eq!(folder.number("SELECT COUNT(*) FROM sys.tables"), 0);
    // It is among what was typed.
    let mut terminal = open(&folder);
    terminal.type_in("\u{1b}[A\n");
    terminal.wait_for("CREATE TABLE dbo.never");
    terminal.wait_for("2> ");
    terminal.type_in("\u{4}");
    assert_eq!(terminal.end(), Some(0));
}
