//! The reference pages that the product writes itself: `BLESS=1` writes them again; what changed in them is then to be read.

use crate::tool::Folder;
use serde_json::Value;
use std::fmt::Write as _;

/// Compares a page of `docs/reference/` with what the product says; `BLESS=1` writes it.
fn compare(page: &str, made: &str) {
    let path = format!("{}/../../docs/reference/{page}.md", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, made).expect("the page is written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = kept.lines().zip(made.lines()).position(|(kept, made)| kept != made);
    let at = differs.or_else(|| (kept != made).then(|| kept.lines().count().min(made.lines().count())));
    let told = at.map(|line| (line + 1, kept.lines().nth(line), made.lines().nth(line)));
    assert_eq!(told, None, "docs/reference/{page}.md is out of date (line, kept, made): BLESS=1 writes it");
}

/// The rows of a query in a new folder.
fn rows(folder: &Folder, query: &str) -> Vec<Vec<String>> {
    let done = folder.run(["sql", "-d", "data", "--json", "-Q", query]);
    assert_eq!((done.status, done.err.as_str()), (0, ""), "{query}");
    let set: Vec<serde_json::Map<String, Value>> = serde_json::from_str(&done.out).expect("an array of objects");
    let text = |value: &Value| match value {
        Value::String(text) => text.replace('|', "\\|").replace(['\n', '\r'], " "),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    set.iter().map(|row| row.values().map(text).collect()).collect()
}

/// A table of a query's rows below a title and a text.
fn table(title: &str, text: &str, heads: &[&str], rows: &[Vec<String>]) -> String {
    let mut page = format!("# {title}\n\n{text}\n\n| {} |\n|{}\n", heads.join(" | "), "---|".repeat(heads.len()));
    for row in rows {
        let _infallible = writeln!(page, "| {} |", row.join(" | "));
    }
    page
}

#[test]
fn the_page_of_policies_is_what_the_view_says() {
    let folder = Folder::new("reference-policies");
    let query = "SELECT CONCAT('`', name, '`') AS a, description AS b, REPLACE(CONCAT('`', allowed_values, '`'), ', ', '`, `') AS c,
                     CONCAT('`', default_value, '`') AS d, IIF(is_dynamic = 1, 'at once', 'at the next start') AS e
                 FROM sys.dm_pikepole_policies ORDER BY name";
    let text = "Each serialisation point has a policy. One is switched by `--policy NAME=VALUE`, `ALTER SERVER CONFIGURATION SET PIKEPOLE NAME = VALUE`\n\
                or `sp_configure`; `sys.dm_pikepole_policies` has these rows with the values in force. What each does: \
                [log](../understand/log.md), [lab](../understand/lab.md).";
    let made =
        table("Policies", text, &["name", "what it governs", "values", "default", "in force"], &rows(&folder, query));
    compare("policies", &made);
}

#[test]
fn the_page_of_options_is_what_the_view_says() {
    let folder = Folder::new("reference-options");
    let query = "SELECT CONCAT('`', name, '`') AS a, CAST(minimum AS varchar(20)) AS b, CAST(maximum AS varchar(20)) AS c,
                     CAST(value AS varchar(20)) AS d, IIF(is_dynamic = 1, 'RECONFIGURE', 'the next start') AS e, IIF(is_advanced = 1, 'yes', '') AS f,
                     description AS g
                 FROM sys.configurations WHERE name NOT IN (SELECT name FROM sys.dm_pikepole_policies) ORDER BY name";
    let text = "The options of `sp_configure`, as `sys.configurations` has them in a new folder. Those that have no effect say so in their \
                description.\nAdvanced ones show after `sp_configure 'show advanced options', 1`. [Policies](policies.md) are options too.";
    let heads = ["name", "least", "most", "default", "in force after", "advanced", "what it does"];
    compare("configuration", &table("Configuration", text, &heads, &rows(&folder, query)));
}

#[test]
fn the_page_of_errors_is_what_the_messages_say() {
    let folder = Folder::new("reference-errors");
    let query = "SELECT CAST(message_id AS varchar(10)) AS a, CAST(severity AS varchar(3)) AS b, text AS c
                 FROM sys.messages WHERE language_id = 1033 ORDER BY message_id";
    let text = "The messages of `sys.messages`: numbers, severities and texts are SQL Server's, `%` stands for what the error fills in. 40517 names\n\
                what is not supported ([compatibility](../compatibility.md)).";
    compare("errors", &table("Errors", text, &["number", "severity", "text"], &rows(&folder, query)));
}

#[test]
fn the_page_of_commands_is_what_help_says() {
    let folder = Folder::new("reference-commands");
    let help = |words: &[&str]| {
        let mut command = folder.command(words.iter().chain(&["--help"]));
        // What is said must not depend on who asks.
        let done = crate::tool::Done::from(command.env("COLUMNS", "100").output().expect("the binary starts"));
        assert_eq!((done.status, done.err.as_str()), (0, ""), "{words:?}");
        done.out
    };
    let subcommands = |text: &str| -> Vec<String> {
        let below = text.lines().skip_while(|line| *line != "Commands:").skip(1);
        let names = below.take_while(|line| line.starts_with("  "));
        let names = names.filter(|line| !line.starts_with("   ")).filter_map(|line| line.split_whitespace().next());
        names.filter(|name| *name != "help").map(str::to_owned).collect()
    };
    let mut page = String::from("# The command line\n\nWhat `pikepole --help` and `pikepole COMMAND --help` say.\n");
    let mut add = |words: &[&str], text: &str| {
        let _infallible = write!(page, "\n## pikepole {}\n\n```text\n{}\n```\n", words.join(" "), text.trim_end());
    };
    let all = help(&[]);
    add(&[], &all);
    for name in subcommands(&all) {
        if name == "sqlcmd" {
            // It has its own page, and its own help.
            continue;
        }
        let text = help(&[&name]);
        add(&[&name], &text);
        for below in subcommands(&text) {
            add(&[&name, &below], &help(&[&name, &below]));
        }
    }
    compare("command-line", &page.replace("## pikepole \n", "## pikepole\n"));
}
