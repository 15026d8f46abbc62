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
        // Nothing in a cell is a tag or emphasis.
        Value::String(text) => {
            text.replace('|', "\\|").replace('<', "\\<").replace('*', "\\*").replace(['\n', '\r'], " ")
        }
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
                     CONCAT('`', default_value, '`') AS d, IIF(is_dynamic = 1, 'at once', 'at the next start') AS e, statistics_rows AS f
                 FROM sys.dm_pikepole_policies ORDER BY name";
    let text = "Each serialisation point has a policy. One is switched by `--policy NAME=VALUE`, `ALTER SERVER CONFIGURATION SET PIKEPOLE NAME = VALUE`\n\
                or `sp_configure`; `sys.dm_pikepole_policies` has these rows with the values in force. What each does: \
                [log](../understand/log.md), [lab](../understand/lab.md).\n\n\
                All points at once: `--policies classic` (`serve`, `sql`, `stress`) or `ALTER SERVER CONFIGURATION SET PIKEPOLE POLICIES = \
                CLASSIC`;\n`BEST` brings the defaults back ([lab](../understand/lab.md#all-policies-at-once)). Statistics: the rows that only \
                this value moves.";
    let made = table(
        "Policies",
        text,
        &["name", "what it governs", "values", "default", "in force", "statistics"],
        &rows(&folder, query),
    );
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

/// Lists the columns of system objects by object: object, column, type.
const COLUMNS: &str = "
SELECT CONCAT(SCHEMA_NAME(o.schema_id), '.', o.name, IIF(o.type = 'TF', '()', '')) AS a,
    CONCAT('`', c.name, '`') AS b,
    CONCAT(t.name,
        CASE WHEN t.name IN ('nvarchar', 'nchar') AND c.max_length > 0 THEN CONCAT('(', c.max_length / 2, ')')
             WHEN t.name IN ('varchar', 'char', 'varbinary', 'binary') AND c.max_length > 0 THEN CONCAT('(', c.max_length, ')')
             WHEN t.name IN ('nvarchar', 'varchar', 'varbinary') THEN '(max)'
             WHEN t.name IN ('decimal', 'numeric') THEN CONCAT('(', c.precision, ', ', c.scale, ')')
             WHEN t.name IN ('datetime2', 'datetimeoffset', 'time') THEN CONCAT('(', c.scale, ')') ELSE '' END,
        IIF(c.is_nullable = 1, ' NULL', '')) AS d
FROM sys.all_objects o JOIN sys.all_columns c ON c.object_id = o.object_id JOIN sys.types t ON t.user_type_id = c.user_type_id
WHERE o.is_ms_shipped = 1 AND o.type IN ('V', 'TF') ORDER BY SCHEMA_NAME(o.schema_id), o.name, c.column_id";

/// Words behind each other, in lines of at most 120 characters.
fn paragraph(words: impl Iterator<Item = String>) -> String {
    let mut lines = vec![String::new()];
    for word in words {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(&word),
            Some(line) if line.len() + 1 + word.len() <= 120 => line.extend([" ", &word]),
            _ => lines.push(word),
        }
    }
    lines.join("\n")
}

#[test]
fn the_page_of_columns_is_what_the_catalog_says() {
    let folder = Folder::new("reference-columns");
    let mut page = String::from(
        "# Columns of the views\n\n\
         The columns of all system views and functions, in their order, as `sys.all_columns` has them; NULL stands behind those that\n\
         can be NULL. [Catalog and management views](views.md) says what they mean here, and which of them say nothing.\n",
    );
    for columns in rows(&folder, COLUMNS).chunk_by(|left, right| left.first() == right.first()) {
        let name = columns.first().and_then(|row| row.first()).expect("a row has an object");
        let last = columns.len() - 1;
        let told = columns
            .iter()
            .zip(0..)
            .map(|(row, at)| format!("{}{}", row[1..].join(" "), if at == last { "" } else { "," }));
        let _infallible = write!(page, "\n## {name}\n\n{}\n", paragraph(told));
    }
    compare("columns", &page);
}

#[test]
fn the_page_of_procedures_is_what_the_catalog_says() {
    let folder = Folder::new("reference-procedures");
    let query = "SELECT CONCAT('`', name, '`') AS a FROM sys.all_objects
                 WHERE is_ms_shipped = 1 AND type IN ('P', 'X') ORDER BY name";
    let names = rows(&folder, query).concat();
    let last = names.len() - 1;
    let told = names.iter().zip(0..).map(|(name, at)| format!("{name}{}", if at == last { "." } else { "," }));
    let page = format!(
        "# System procedures\n\n\
         The procedures of `sys`, which are found in each database without a schema too. A name that is not here is error 2812.\n\n{}\n",
        paragraph(told)
    );
    compare("procedures", &page);
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
