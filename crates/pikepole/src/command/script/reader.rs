//! Reading scripts of client tools: lines become batches, and lines that are commands become commands.
//!
//! ```text
//!   open(text) --> line --> a command?       :setvar, :r and :reset are obeyed here, the others are given to the caller
//!                       --> $(NAME) replaced --> GO?  the caller runs the batch
//!                                            --> else the line becomes part of the batch
//! ```
//!
//! A line is a command only where it begins outside of texts, quoted names and comments. `:r` opens another text within the one
//! under way; where it ends the outer text goes on.

use super::super::CommandError;
use super::ScriptError;
use super::command::{self, Command, Dialect};
use super::variables::Variables;
use pikepole_tsql::{BatchLines, ScriptBatch};
use pikepole_types::CodePage;
use std::borrow::Cow;
use std::path::Path;

/// Scripts that scripts read, one inside the other.
const DEPTH_MAX: usize = 32;

/// A text to be read.
pub struct ScriptText {
    name: Option<String>,
    text: String,
    /// The bytes that have been read.
    read: usize,
    /// The line that comes next.
    line: u32,
}

impl ScriptText {
    /// A script.
    pub fn whole(text: impl Into<String>) -> ScriptText {
        ScriptText { name: None, text: text.into(), read: 0, line: 1 }
    }

    /// A line that was typed, with its number.
    pub fn line(text: &str, number: u32) -> ScriptText {
        ScriptText { line: number, ..ScriptText::whole(text) }
    }

    /// A script of this file. Its last line ends, so that what is read behind it begins a line of its own.
    pub fn file(name: impl Into<String>, mut text: String) -> ScriptText {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        ScriptText { name: Some(name.into()), ..ScriptText::whole(text) }
    }
}

/// The next thing in a script.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// The batch that has been gathered is to run so often ([`ScriptReader::batch`]), and to be cleared.
    Batch {
        /// The `5` of `GO 5`.
        count: u32,
    },
    /// A command that the reader has not obeyed itself.
    Command(Command),
}

/// A script under way; see the module's page.
pub struct ScriptReader {
    variables: Variables,
    dialect: Dialect,
    lines: BatchLines,
    texts: Vec<ScriptText>,
    /// The line that was read last.
    number: u32,
    /// The lines of an `exit(` whose parentheses are open.
    exit: Option<String>,
    /// Variables without a value stay in the text, and are gathered.
    undefined: Option<Vec<String>>,
    /// The code page of files; UTF-8 unless something else is asked for. A byte order mark wins.
    code_page: Option<CodePage>,
}

impl ScriptReader {
    /// Nothing has been read yet.
    pub fn new(variables: Variables, dialect: Dialect) -> ScriptReader {
        let (lines, texts) = (BatchLines::default(), Vec::new());
        ScriptReader { variables, dialect, lines, texts, number: 0, exit: None, undefined: None, code_page: None }
    }

    /// The same, where another word than GO ends a batch.
    pub fn ended_by(self, terminator: &str) -> ScriptReader {
        ScriptReader { lines: BatchLines::ended_by(terminator), ..self }
    }

    /// The same, where a variable without a value is no error: it stays in the text ([`ScriptReader::take_undefined`]).
    pub fn keeping_undefined(self) -> ScriptReader {
        ScriptReader { undefined: Some(Vec::new()), ..self }
    }

    /// The same, where files without a byte order mark are in this code page.
    pub fn in_code_page(self, code_page: Option<CodePage>) -> ScriptReader {
        ScriptReader { code_page, ..self }
    }

    /// The variables.
    pub fn variables(&self) -> &Variables {
        &self.variables
    }

    /// The variables, to be set.
    pub fn variables_mut(&mut self) -> &mut Variables {
        &mut self.variables
    }

    /// The variables without a value that have been met since this was last asked.
    pub fn take_undefined(&mut self) -> Vec<String> {
        self.undefined.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Begins a text; what is under way goes on behind it.
    ///
    /// # Errors
    /// Too many texts within each other.
    pub fn open(&mut self, text: ScriptText) -> Result<(), ScriptError> {
        if self.texts.len() > DEPTH_MAX {
            let name = text.name.unwrap_or_default();
            return Err(ScriptError::Depth { name, depth: DEPTH_MAX });
        }
        self.texts.push(text);
        Ok(())
    }

    /// Drops all texts under way. What has been gathered of a batch stays.
    pub fn close(&mut self) {
        self.texts.clear();
    }

    /// The line that was read last, in its text.
    pub fn line_number(&self) -> u32 {
        self.number
    }

    /// The file of the text under way.
    pub fn file_name(&self) -> Option<&str> {
        self.texts.last().and_then(|text| text.name.as_deref())
    }

    /// The text since the last GO.
    pub fn text(&self) -> &str {
        self.lines.text()
    }

    /// Whether nothing has been gathered.
    pub fn is_empty(&self) -> bool {
        self.lines.text().is_empty() && self.exit.is_none()
    }

    /// The sign that opened what the next line begins inside of; empty outside of texts, quoted names and comments.
    pub fn open_mark(&self) -> &'static str {
        if self.exit.is_some() { "(" } else { self.lines.open_mark() }
    }

    /// The number of the next line of what is typed.
    pub fn next_line(&self) -> u32 {
        let exit = self.exit.as_deref().unwrap_or_default();
        (self.lines.text().lines().count() + exit.lines().count()) as u32 + 1
    }

    /// The text since the last GO as a batch; none while it is nothing but white space.
    pub fn batch(&self, count: u32) -> Option<ScriptBatch<'_>> {
        self.lines.batch(count)
    }

    /// Drops what has been gathered.
    pub fn clear(&mut self) {
        self.lines.clear();
        self.exit = None;
    }

    /// Reads on to the next batch or command; none at the end of what has been opened. What stands behind the last GO is left
    /// to the caller ([`ScriptReader::batch`]).
    ///
    /// # Errors
    /// A command that is none, or cannot be obeyed; a variable without a value.
    pub fn next_step(&mut self) -> Result<Option<Step>, ScriptError> {
        while let Some(line) = self.next_text_line() {
            if let Some(step) = self.take(&line)? {
                return Ok(Some(step));
            }
        }
        Ok(None)
    }

    fn next_text_line(&mut self) -> Option<String> {
        while let Some(text) = self.texts.last_mut() {
            if let Some(line) = text.text[text.read..].split_inclusive('\n').next() {
                text.read += line.len();
                self.number = text.line;
                text.line = text.line.saturating_add(1);
                return Some(line.to_owned());
            }
            self.texts.pop();
        }
        None
    }

    fn take(&mut self, line: &str) -> Result<Option<Step>, ScriptError> {
        let gathered = self.exit.take().map(|begun| begun + line);
        let line = gathered.as_deref().unwrap_or(line);
        if gathered.is_some() || self.lines.is_plain() {
            if command::is_unfinished_exit(line, self.dialect) {
                self.exit = Some(line.to_owned());
                return Ok(None);
            }
            if let Some(command) = command::parse(line, self.number, self.dialect)? {
                return self.obey(command);
            }
        }
        let line = self.replaced(line)?.into_owned();
        Ok(self.lines.push(&line, self.number).map(|count| Step::Batch { count }))
    }

    fn obey(&mut self, command: Command) -> Result<Option<Step>, ScriptError> {
        match command {
            Command::SetVariable { name, value } => self.variables.assign(&name, value)?,
            Command::Reset => self.clear(),
            Command::Read(path) => {
                let path = self.expanded(&path)?;
                let text = self.read_file(&path)?;
                self.open(text)?;
            }
            other => return Ok(Some(Step::Command(other))),
        }
        Ok(None)
    }

    /// A script's text, in the code page that scripts are in.
    ///
    /// # Errors
    /// A file that cannot be read, or is no text.
    pub fn read_file(&self, name: &str) -> Result<ScriptText, ScriptError> {
        let text = super::super::sql::read_script_in(Path::new(name), self.code_page).map_err(|error| match error {
            CommandError::Io { what, error } => ScriptError::File { name: what, reason: error.to_string() },
            other => ScriptError::Encoding(other.to_string()),
        })?;
        Ok(ScriptText::file(name, text))
    }

    /// The next line of the batch with the values of variables.
    fn replaced<'l>(&mut self, line: &'l str) -> Result<Cow<'l, str>, ScriptError> {
        if !self.variables.are_replaced() {
            return Ok(line.into());
        }
        let (variables, undefined) = (&self.variables, &mut self.undefined);
        let value = |name: &str| {
            variables.value(name).or_else(|| {
                undefined.as_mut()?.push(name.to_owned());
                Some(format!("$({name})"))
            })
        };
        self.lines.replaced(line, value).map_err(ScriptError::Undefined)
    }

    /// A command's argument with the values of variables.
    ///
    /// # Errors
    /// A variable without a value.
    pub fn expanded(&self, text: &str) -> Result<String, ScriptError> {
        if !self.variables.are_replaced() {
            return Ok(text.to_owned());
        }
        let replaced = BatchLines::default().replaced(text, |name| self.variables.value(name));
        Ok(replaced.map_err(ScriptError::Undefined)?.into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader(text: &str) -> ScriptReader {
        let mut reader = ScriptReader::new(Variables::default().without_environment(), Dialect::Sqlcmd);
        reader.open(ScriptText::whole(text)).expect("room");
        reader
    }

    /// The batches that a script comes to, each with the line it begins at.
    fn batches(reader: &mut ScriptReader) -> Result<Vec<(String, u32)>, ScriptError> {
        let mut batches = Vec::new();
        let mut take = |reader: &mut ScriptReader, count| {
            batches.extend(reader.batch(count).map(|batch| (batch.text.to_owned(), batch.line)));
            reader.clear();
        };
        while let Some(step) = reader.next_step()? {
            if let Step::Batch { count } = step {
                take(reader, count);
            }
        }
        take(reader, 1);
        Ok(batches)
    }

    #[test]
    fn variables_are_set_and_replaced_on_the_way() {
        let script = ":setvar a \"x y\"\nSELECT '$(a)'\nGO\n:setvar A z\nSELECT '$(a)' -- $(no)\n";
        let expected = vec![("SELECT 'x y'\n".to_owned(), 2), ("SELECT 'z' -- $(no)\n".to_owned(), 5)];
        assert_eq!(batches(&mut reader(script)), Ok(expected));
        assert_eq!(batches(&mut reader("GO\nSELECT $(no)")), Err(ScriptError::Undefined("no".to_owned())));
        let mut keeping = reader("SELECT $(no), $(none)").keeping_undefined();
        assert_eq!(batches(&mut keeping), Ok(vec![("SELECT $(no), $(none)".to_owned(), 1)]));
        assert_eq!(
            (keeping.take_undefined(), keeping.take_undefined()),
            (vec!["no".to_owned(), "none".to_owned()], vec![])
        );
    }

    #[test]
    fn a_script_reads_another_one_and_goes_on() {
        let mut outer = reader("SELECT 1\n:r none.sql\n");
        assert!(matches!(outer.next_step(), Err(ScriptError::File { name, .. }) if name == "none.sql"));
        assert_eq!(outer.line_number(), 2);
        let mut reader = reader("outer 1\n");
        assert_eq!(reader.file_name(), None);
        reader.open(ScriptText::file("inner.sql", "inner 1\nGO\ninner 2".to_owned())).expect("room");
        assert_eq!(reader.file_name(), Some("inner.sql"));
        let expected = vec![("inner 1\n".to_owned(), 1), ("inner 2\nouter 1\n".to_owned(), 3)];
        assert_eq!(batches(&mut reader), Ok(expected));
        let depth = (0..).find_map(|depth| reader.open(ScriptText::file("a.sql", String::new())).err().map(|_| depth));
        assert_eq!(depth, Some(DEPTH_MAX + 1));
    }

    #[test]
    fn an_exit_of_several_lines_is_one_command() {
        let mut reader = reader("SELECT 1\n:EXIT(SELECT\n')'\n) \nSELECT 2\n");
        let query = Command::QueryAndQuit("SELECT\n')'\n".to_owned());
        assert_eq!(reader.next_step(), Ok(Some(Step::Command(query))));
        assert_eq!((reader.text(), reader.line_number()), ("SELECT 1\n", 4));
    }
}
