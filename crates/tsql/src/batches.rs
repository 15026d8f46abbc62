//! GO: how client tools cut a script into batches.
//!
//! GO is no statement of T-SQL. It is a line of its own, outside texts, quoted names and comments, perhaps with a count and a
//! comment behind it.

use std::borrow::Cow;

/// What ends a batch, unless a tool is asked for something else.
const TERMINATOR: &str = "GO";

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
        let separator = if state == State::Plain { go_count(text, TERMINATOR) } else { None };
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

/// Gathers lines to a batch, for tools that look at each line before it becomes T-SQL.
#[derive(Debug, Default)]
pub struct BatchLines {
    text: String,
    /// The line that the text begins with; 0 while there is none.
    first_line: u32,
    state: State,
    /// The word that ends a batch instead of GO.
    terminator: Option<Box<str>>,
}

impl BatchLines {
    /// The same, where this word ends a batch instead of GO.
    pub fn ended_by(terminator: &str) -> BatchLines {
        BatchLines { terminator: Some(terminator.into()), ..BatchLines::default() }
    }

    /// Whether the next line begins outside of texts, quoted names and comments.
    pub fn is_plain(&self) -> bool {
        self.state == State::Plain
    }

    /// The sign that opened what the next line begins inside of; empty outside of texts, quoted names and comments.
    pub fn open_mark(&self) -> &'static str {
        match self.state {
            State::Plain | State::LineComment => "",
            State::Quoted(b'\'') => "'",
            State::Quoted(b'"') => "\"",
            State::Quoted(_) => "[",
            State::Comment(_) => "/*",
        }
    }

    /// Takes a line; the count of a GO line, which is not taken: the batch before it is to run so often, and to be cleared.
    pub fn push(&mut self, line: &str, number: u32) -> Option<u32> {
        if self.is_plain()
            && let Some(count) = go_count(line, self.terminator.as_deref().unwrap_or(TERMINATOR))
        {
            return Some(count);
        }
        if self.first_line == 0 {
            self.first_line = number;
        }
        self.state = self.state.after(line);
        self.text.push_str(line);
        None
    }

    /// What has been gathered.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The same as a batch; none while it is nothing but white space.
    pub fn batch(&self, count: u32) -> Option<ScriptBatch<'_>> {
        let mut batches = Vec::new();
        push(&mut batches, &self.text, self.first_line, count);
        batches.pop()
    }

    /// Begins anew.
    pub fn clear(&mut self) {
        self.text.clear();
        self.first_line = 0;
        self.state = State::Plain;
    }

    /// The next line with a value for each `$(name)` outside of comments. What is no name stays as it is.
    ///
    /// # Errors
    /// A name that has no value.
    pub fn replaced<'l>(
        &self,
        line: &'l str,
        mut value: impl FnMut(&str) -> Option<String>,
    ) -> Result<Cow<'l, str>, String> {
        if !line.contains("$(") {
            return Ok(Cow::Borrowed(line));
        }
        let (mut replaced, mut taken) = (String::new(), 0);
        let mut state = self.state;
        while let Some(at) = line[taken..].find("$(").map(|at| taken + at) {
            state = state.after_part(&line[taken..at]);
            let name = line[at + 2..].split_once(')').map(|(name, _)| name).filter(|name| is_reference(name));
            let is_comment = matches!(state, State::Comment(_) | State::LineComment);
            replaced.push_str(&line[taken..at]);
            match name.filter(|_| !is_comment) {
                None => {
                    replaced.push_str("$(");
                    taken = at + 2;
                }
                Some(name) => {
                    replaced.push_str(&value(name).ok_or_else(|| name.to_owned())?);
                    taken = at + name.len() + 3;
                }
            }
        }
        replaced.push_str(&line[taken..]);
        Ok(Cow::Owned(replaced))
    }
}

/// Whether this may stand between `$(` and `)`.
fn is_reference(name: &str) -> bool {
    let starts = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    starts && name.chars().all(|c| c.is_alphanumeric() || "_-.@#".contains(c))
}

fn push<'a>(batches: &mut Vec<ScriptBatch<'a>>, text: &'a str, line: u32, count: u32) {
    if !text.trim_matches(|c: char| c.is_whitespace() || c == '\u{FEFF}').is_empty() {
        batches.push(ScriptBatch { text, line, count });
    }
}

/// The count of a line of the terminator, 1 when it has none; none for any other line.
fn go_count(line: &str, terminator: &str) -> Option<u32> {
    let line = line.trim_matches(|c: char| c.is_whitespace() || c == '\u{FEFF}');
    let (word, rest) = line.split_at_checked(terminator.len())?;
    if !word.eq_ignore_ascii_case(terminator) || rest.starts_with(|c: char| c.is_alphanumeric() || "_@#$".contains(c)) {
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

/// What a place in a script is inside of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    Plain,
    /// A comment up to the end of the line.
    LineComment,
    /// A text or quoted name that ends at this byte.
    Quoted(u8),
    /// Comments, so many inside each other.
    Comment(u32),
}

impl State {
    /// The state behind a line.
    fn after(self, line: &str) -> State {
        match self.after_part(line) {
            State::LineComment => State::Plain,
            state => state,
        }
    }

    /// The state behind a part of a line.
    fn after_part(mut self, line: &str) -> State {
        let bytes = line.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let pair = (bytes[at], bytes.get(at + 1).copied().unwrap_or(0));
            at += 1;
            self = match (self, pair) {
                (State::LineComment, _) | (State::Plain, (b'-', b'-')) => return State::LineComment,
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

    #[test]
    fn references_are_replaced_outside_of_comments() {
        let value = |name: &str| (name == "Db").then(|| "x y".to_owned());
        let mut lines = BatchLines::default();
        let replaced = |lines: &BatchLines, line: &'static str| lines.replaced(line, value).map(Cow::into_owned);
        assert_eq!(replaced(&lines, "USE [$(Db)]; -- $(Db)\n").as_deref(), Ok("USE [x y]; -- $(Db)\n"));
        assert_eq!(
            replaced(&lines, "'$(Db)$(Db)' + '$( Db)' /* $(no) */ + '$(Db'").as_deref(),
            Ok("'x yx y' + '$( Db)' /* $(no) */ + '$(Db'")
        );
        assert_eq!(replaced(&lines, "$(other)"), Err("other".to_owned()));
        assert_eq!(lines.push("/* '\n", 7), None);
        assert_eq!(replaced(&lines, "$(no) */ $(Db)").as_deref(), Ok("$(no) */ x y"));
        assert_eq!(lines.push("GO\n", 8), None, "it is in a comment");
        assert_eq!(lines.push("*/ SELECT 1\n", 9), None);
        assert_eq!(lines.push("go 3\n", 10), Some(3));
        assert_eq!(lines.batch(3).map(|batch| (batch.line, batch.count)), Some((7, 3)));
        lines.clear();
        assert!(lines.is_plain() && lines.batch(1).is_none());
    }

    #[test]
    fn another_word_can_end_a_batch() {
        let mut lines = BatchLines::ended_by("run");
        assert_eq!(
            (lines.push("SELECT 1\n", 1), lines.push("GO\n", 2), lines.push("Run 2\n", 3)),
            (None, None, Some(2))
        );
        lines.clear();
        assert_eq!((lines.push("running\n", 4), lines.push("RUN", 5)), (None, Some(1)));
    }

    /// Whether a shell runs what is typed with the last of these lines.
    fn runs(text: &str) -> bool {
        let mut lines = BatchLines::default();
        let mut last = None;
        for (number, line) in (1..).zip(text.split_inclusive('\n')) {
            last = lines.push(line, number);
            if last.is_some() {
                lines.clear();
            }
        }
        last.is_some()
    }

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
            assert!(!runs(script));
        }
        assert_eq!(split("-- it's\ngo\n'"), [("-- it's\n", 1, 1), ("'", 3, 1)]);
        assert_eq!(split("/* ' */\ngo\n1"), [("/* ' */\n", 1, 1), ("1", 3, 1)]);
    }

    #[test]
    fn tells_a_shell_when_to_run() {
        for text in ["go", "select 1\nGO\n", "select 1\n go 3 -- x\r\n", "print 'a\ngo\n'\ngo\n"] {
            assert!(runs(text), "{text}");
        }
        for text in ["", "select 1\n", "go\nselect 1", "print 'a\ngo\n", "/*\ngo", "go\n\n"] {
            assert!(!runs(text), "{text}");
        }
    }
}
