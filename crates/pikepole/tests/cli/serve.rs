//! `pikepole serve` at a terminal.

use crate::terminal::Terminal;
use crate::tool::Folder;

const SERVE: &[&str] = &["serve", "-d", "data", "--listen", "127.0.0.1:0"];

#[test]
fn the_first_password_is_asked_for_twice_and_not_shown() {
    let folder = Folder::new("password");
    let mut terminal = Terminal::open(&folder, SERVE);
    terminal.wait_for("new password of sa (empty: one is made): ");
    terminal.type_in("deep-Water7\n");
    terminal.wait_for("again: ");
    terminal.type_in("deep-Water8\n");
    terminal.wait_for("the two are not alike");
    terminal.wait_for("new password of sa (empty: one is made): ");
    terminal.type_in("deep-Water7\n");
    terminal.wait_for("again: ");
    terminal.type_in("deep-Water7\n");
    terminal.wait_for("listening at ");
    terminal.type_in("\u{3}");
    let shown = terminal.shown();
    assert!(!shown.contains("eep") && !shown.contains("the password of sa"), "{shown}");
    assert_eq!(terminal.end(), Some(0));

    let mut again = Terminal::open(&folder, SERVE);
    again.wait_for("listening at ");
    again.type_in("\u{3}");
    let shown = again.shown();
    assert!(!shown.contains("password"), "it is asked for once: {shown}");
    assert_eq!(again.end(), Some(0));
}

#[test]
fn without_an_answer_a_password_is_made() {
    let folder = Folder::new("made");
    let mut terminal = Terminal::open(&folder, SERVE);
    terminal.wait_for("new password of sa (empty: one is made): ");
    terminal.type_in("\n");
    terminal.wait_for("the password of sa is ");
    terminal.type_in("\u{3}");
    assert_eq!(terminal.end(), Some(0));
}

#[test]
fn control_c_at_the_question_leaves() {
    let folder = Folder::new("leave");
    let mut terminal = Terminal::open(&folder, SERVE);
    terminal.wait_for("new password of sa (empty: one is made): ");
    terminal.type_in("\u{3}");
    assert_eq!(terminal.end(), Some(1));
}
