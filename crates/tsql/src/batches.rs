//! GO: how client tools cut a script into batches.
//!
//! GO is no statement of T-SQL. It is a line of its own, outside texts, quoted names and comments, perhaps with a count and a
//! comment behind it.

/// A batch of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScriptBatch<'a> {
    /// Its text.
    pub text: &'a str,
    /// The line of the script where the text starts, counted from 1.
    pub line: u32,
    /// How often it runs: the `5` of `GO 5`.
    pub count: u32,
}

/// Cuts a script at its GO lines. Batches of nothing but white space are left out.
pub fn split_batches(script: &str) -> Vec<ScriptBatch<'_>> {
    let mut batches = Vec::new();
    let mut state = State::Plain;
    let (mut start, mut start_line) = (0, 1);
    let mut at = 0;
    for (line, text) in (1..).zip(script.split_inclusive('\n')) {
        let separator = if state == State::Plain { go_count(text) } else { None };
        match separator {
            Some(count) => {
                push(&mut batches, &script[start..at], start_line, count);
                start = at + text.len();
                start_line = line + 1;
            }
            None => state = state.after(text),
        }
        at += text.len();
    }
    push(&mut batches, &script[start..], start_line, 1);
    batches
}

/// Whether the last line of a text is a GO line, so that an interactive shell runs what was typed.
pub fn ends_with_go(text: &str) -> bool {
    let mut state = State::Plain;
    let mut go = false;
    for line in text.split_inclusive('\n') {
        go = state == State::Plain && go_count(line).is_some();
        if !go {
            state = state.after(line);
        }
    }
    go
}

fn push<'a>(batches: &mut Vec<ScriptBatch<'a>>, text: &'a str, line: u32, count: u32) {
    if !text.trim_matches(|c: char| c.is_whitespace() || c == '\u{FEFF}').is_empty() {
        batches.push(ScriptBatch { text, line, count });
    }
}

/// The count of a GO line, 1 when it has none; none for any other line.
fn go_count(line: &str) -> Option<u32> {
    let line = line.trim_matches(|c: char| c.is_whitespace() || c == '\u{FEFF}');
    let (word, rest) = line.split_at_checked(2)?;
    if !word.eq_ignore_ascii_case("go") || rest.starts_with(|c: char| c.is_alphanumeric() || "_@#$".contains(c)) {
        return None;
    }
    let rest = rest.trim_start();
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (count, comment) = rest.split_at(digits);
    let comment = comment.trim_start();
    if !only_comments(comment) {
        return None;
    }
    match count {
        "" => Some(1),
        // A count beyond 32 bits runs for ever either way.
        _ => Some(count.parse().unwrap_or(u32::MAX)),
    }
}

fn only_comments(mut text: &str) -> bool {
    loop {
        if text.is_empty() || text.starts_with("--") {
            return true;
        }
        let Some((_, rest)) = text.strip_prefix("/*").and_then(|inner| inner.split_once("*/")) else {
            return false;
        };
        text = rest.trim_start();
    }
}

/// What the end of a line is inside of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Plain,
    /// A text or quoted name that ends at this byte.
    Quoted(u8),
    /// Comments, so many inside each other.
    Comment(u32),
}

impl State {
    /// The state behind a line.
    fn after(mut self, line: &str) -> State {
        let bytes = line.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let pair = (bytes[at], bytes.get(at + 1).copied().unwrap_or(0));
            at += 1;
            self = match (self, pair) {
                (State::Plain, (b'-', b'-')) => return State::Plain,
                (State::Plain, (b'/', b'*')) => {
                    at += 1;
                    State::Comment(1)
                }
                (State::Plain, (quote @ (b'\'' | b'"'), _)) => State::Quoted(quote),
                (State::Plain, (b'[', _)) => State::Quoted(b']'),
                // A doubled delimiter closes and opens again, which comes to the same.
                (State::Quoted(close), (byte, _)) if byte == close => State::Plain,
                (State::Comment(depth), (b'/', b'*')) => {
                    at += 1;
                    State::Comment(depth + 1)
                }
                (State::Comment(depth), (b'*', b'/')) => {
                    at += 1;
                    if depth == 1 { State::Plain } else { State::Comment(depth - 1) }
                }
                (state, _) => state,
            };
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(script: &str) -> Vec<(&str, u32, u32)> {
        split_batches(script).iter().map(|batch| (batch.text, batch.line, batch.count)).collect()
    }

    #[test]
    fn cuts_at_go_lines() {
        assert_eq!(split("select 1\ngo\nselect 2"), [("select 1\n", 1, 1), ("select 2", 3, 1)]);
        assert_eq!(split("a\r\n  GO 5  \r\nb\r\nGo -- again\r\n"), [("a\r\n", 1, 5), ("b\r\n", 3, 1)]);
        assert_eq!(split("a\nGO/* x */ -- y\nGO 2 /* z */\nb"), [("a\n", 1, 1), ("b", 4, 1)]);
        assert_eq!(split("\n\ngo\n \n"), []);
        assert_eq!(split("a\ngo 99999999999"), [("a\n", 1, u32::MAX)]);
        assert_eq!(split("\u{FEFF}go\na"), [("a", 2, 1)]);
    }

    #[test]
    fn keeps_go_inside_texts_and_comments() {
        for script in [
            "print '\ngo\n'",
            "/* \ngo\n /* \ngo\n */\ngo\n*/",
            "select [\ngo\n]",
            "select \"\ngo\n\"",
            "select 'it''s\ngo\n'",
            "select 1 go",
            "go to",
            "gone",
            "go_1",
            "go 5 5",
            "go;",
            "go /* open\n*/",
        ] {
            assert_eq!(split(script), [(script, 1, 1)]);
            assert!(!ends_with_go(script));
        }
        assert_eq!(split("-- it's\ngo\n'"), [("-- it's\n", 1, 1), ("'", 3, 1)]);
        assert_eq!(split("/* ' */\ngo\n1"), [("/* ' */\n", 1, 1), ("1", 3, 1)]);
    }

    #[test]
    fn tells_a_shell_when_to_run() {
        for text in ["go", "select 1\nGO\n", "select 1\n go 3 -- x\r\n", "print 'a\ngo\n'\ngo\n"] {
            assert!(ends_with_go(text), "{text}");
        }
        for text in ["", "select 1\n", "go\nselect 1", "print 'a\ngo\n", "/*\ngo", "go\n\n"] {
            assert!(!ends_with_go(text), "{text}");
        }
    }
}
