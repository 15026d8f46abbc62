//! The shell's own commands: a line that is one is obeyed where a batch would begin.

/// What `help`, `\?` and `:help` say.
pub const HELP: &str = "\
Batches
  GO [N]               on a line of its own: runs the batch, N times
  exit, quit, Ctrl-D   leaves; what has not run does not run
  Ctrl-C               drops the line and the batch, or ends the batch that runs and drops what was typed ahead
  Up, Down, Ctrl-R     the batches before; Tab completes keywords and names
  \\semicolon           a ; at a line's end runs the batch too (on, off)

What there is
  \\d, :tables          tables and views of the database
  \\d T, :describe T    columns and indexes of a table, parameters of a procedure
  \\l, :databases       databases

How results are shown
  \\x                   rows one under the other, a column a line (on, off, auto: where they are too wide)
  \\rows [N]            rows that are shown of a result, the others counted; 0 for all
  \\pager               what is longer than the screen goes to $PAGER (on, off)
  \\timing              elapsed time of each batch (on, off)
  \\progress            a line that tells how far a long batch is (on, off)
  \\o [FILE]            results go to a file; without one, back to the terminal

Data
  :import FILE [T]     loads a CSV or Parquet file into a table, which is made when it is not there
  :export FILE QUERY   writes a query's result to a CSV or Parquet file
  \\watch [SECONDS]     runs the last batch again and again, until Ctrl-C

Scripts
  :r FILE              reads the lines of another file
  :setvar NAME VALUE   $(NAME) stands for the value from here on; without a value, for nothing any more
  :listvar             the variables that are set
  :on error exit       the first batch with an error ends the shell (ignore: it does not)
  :out FILE            as \\o (stdout, stderr: back)
  :error FILE          errors go to a file (stderr, stdout: back)
  :list, :reset        shows, and drops, what has been gathered since the last GO";

/// A switch, and what it is set to; without a word it goes over to the other side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switch {
    /// `on`
    On,
    /// `off`
    Off,
    /// `auto`
    Auto,
    /// Nothing.
    Other,
}

/// A command of the shell.
#[derive(Debug, Clone, PartialEq)]
pub enum ShellCommand {
    /// `help`
    Help,
    /// `\d`
    Tables,
    /// `\d NAME`
    Describe(String),
    /// `\l`
    Databases,
    /// `\x`
    Vertical(Switch),
    /// `\rows`
    RowsMax(u64),
    /// `\pager`
    Pager(Switch),
    /// `\timing`
    Timing(Switch),
    /// `\progress`
    Progress(Switch),
    /// `\semicolon`
    Semicolon(Switch),
    /// `\o`
    Out(Option<String>),
    /// `\watch`, with its pause in seconds.
    Watch(f64),
    /// `:import`
    Import {
        /// The file.
        file: String,
        /// The table; that of the file's name when there is none.
        table: Option<String>,
    },
    /// `:export`
    Export {
        /// The file.
        file: String,
        /// What is run.
        query: String,
    },
}

/// Seconds between two runs of `\watch` that says none.
const WATCH_SECONDS: f64 = 2.0;

/// The command that a line is, or what is wrong with it; None: it is none of the shell's own.
pub fn parse(line: &str) -> Option<Result<ShellCommand, String>> {
    let line = line.trim();
    let end = line.find(char::is_whitespace).unwrap_or(line.len());
    let (word, rest) = (&line[..end], line[end..].trim());
    let lower = word.to_ascii_lowercase();
    let command = match lower.as_str() {
        "help" | "help;" if rest.is_empty() => Some(ShellCommand::Help),
        "\\?" | "\\h" | ":help" => Some(ShellCommand::Help),
        "\\d" | ":describe" if !rest.is_empty() => Some(ShellCommand::Describe(rest.trim_end_matches(';').to_owned())),
        "\\d" | "\\dt" | ":tables" => Some(ShellCommand::Tables),
        "\\l" | ":databases" => Some(ShellCommand::Databases),
        "\\x" => switch(rest, true).map(ShellCommand::Vertical),
        "\\rows" => if rest.is_empty() { Some(0) } else { rest.parse().ok() }.map(ShellCommand::RowsMax),
        "\\pager" => switch(rest, false).map(ShellCommand::Pager),
        "\\timing" => switch(rest, false).map(ShellCommand::Timing),
        "\\progress" => switch(rest, false).map(ShellCommand::Progress),
        "\\semicolon" => switch(rest, false).map(ShellCommand::Semicolon),
        "\\o" => Some(ShellCommand::Out(file(rest).map(|(name, _)| name))),
        "\\watch" => watch(rest),
        ":import" => file(rest).map(|(file, table)| {
            let table = (!table.is_empty()).then(|| table.to_owned());
            ShellCommand::Import { file, table }
        }),
        ":export" => file(rest)
            .filter(|(_, query)| !query.is_empty())
            .map(|(file, query)| ShellCommand::Export { file, query: query.to_owned() }),
        "\\q" => return None,
        _ if lower.starts_with('\\') => {
            return Some(Err(format!("There is no command {word}; \\? lists those that there are.")));
        }
        _ => return None,
    };
    Some(command.ok_or_else(|| format!("What stands behind {word} is not understood; \\? tells what may.")))
}

fn switch(word: &str, may_be_auto: bool) -> Option<Switch> {
    match word.to_ascii_lowercase().as_str() {
        "" => Some(Switch::Other),
        "on" => Some(Switch::On),
        "off" => Some(Switch::Off),
        "auto" if may_be_auto => Some(Switch::Auto),
        _ => None,
    }
}

fn watch(rest: &str) -> Option<ShellCommand> {
    let seconds = if rest.is_empty() { WATCH_SECONDS } else { rest.parse().ok()? };
    (0.0..=86_400.0).contains(&seconds).then_some(ShellCommand::Watch(seconds))
}

/// A file's name, which may stand in quotes, and what stands behind it.
fn file(rest: &str) -> Option<(String, &str)> {
    let (name, behind) = match rest.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"')?,
        None => rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len())),
    };
    (!name.is_empty()).then(|| (name.to_owned(), behind.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_from_t_sql() {
        let commands = [
            ("help", ShellCommand::Help),
            (" \\? ", ShellCommand::Help),
            ("\\d", ShellCommand::Tables),
            ("\\d dbo.t;", ShellCommand::Describe("dbo.t".into())),
            (":describe [a b]", ShellCommand::Describe("[a b]".into())),
            ("\\x", ShellCommand::Vertical(Switch::Other)),
            ("\\X auto", ShellCommand::Vertical(Switch::Auto)),
            ("\\rows 5", ShellCommand::RowsMax(5)),
            ("\\o", ShellCommand::Out(None)),
            ("\\o \"a b.txt\"", ShellCommand::Out(Some("a b.txt".into()))),
            ("\\watch 0.5", ShellCommand::Watch(0.5)),
            (":import a.csv", ShellCommand::Import { file: "a.csv".into(), table: None }),
            (":export a.csv SELECT 1", ShellCommand::Export { file: "a.csv".into(), query: "SELECT 1".into() }),
        ];
        for (line, command) in commands {
            assert_eq!(parse(line), Some(Ok(command)), "{line}");
        }
        for line in ["help_me 1", "help me", "SELECT 1", ":r a.sql", ":out x", "exit", "\\q", ""] {
            assert_eq!(parse(line), None, "{line}");
        }
        for line in ["\\nothing", "\\timing maybe", "\\watch -1", ":import", ":export a.csv", "\\pager auto"] {
            assert!(matches!(parse(line), Some(Err(_))), "{line}");
        }
    }
}
