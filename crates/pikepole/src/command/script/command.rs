//! Lines that are commands of the client's tools.

use super::super::CommandError;

/// What `:help` says.
pub const HELP: &str = "\
:setvar NAME VALUE   $(NAME) stands for the value from here on; without a value, for nothing any more
:listvar             the variables that are set
:r FILE              reads the lines of another file
:on error exit       the first batch with an error ends the script (ignore: it does not)
:out FILE            results go to a file (stdout, stderr: back)
:error FILE          errors go to a file (stderr, stdout: back)
:list, :reset        shows, and drops, what has been gathered since the last GO
:exit, :quit         leaves; :exit() runs what has been gathered before";

/// Where something is printed to.
#[derive(Debug, PartialEq, Eq)]
pub enum Stream {
    Out,
    Error,
    File(String),
}

/// A command.
#[derive(Debug, PartialEq, Eq)]
pub enum Command {
    /// `:setvar`; without a value the variable is forgotten.
    SetVariable {
        name: String,
        value: Option<String>,
    },
    ListVariables,
    /// `:r`
    Read(String),
    /// `:on error`
    OnError {
        exit: bool,
    },
    Out(Stream),
    Error(Stream),
    List,
    Reset,
    Help,
    Quit,
    /// `:exit()`
    RunAndQuit,
}

/// Commands of sqlcmd that are none here.
const REFUSED: &[&str] = &["connect", "ed", "perftrace", "serverlist", "xml"];

/// The command that a line is; none: it is T-SQL.
///
/// # Errors
/// Something behind a colon that is no command, or not well formed; a command that there is elsewhere.
pub fn parse(line: &str, number: u32) -> Result<Option<Command>, CommandError> {
    let line = line.trim_matches(|c: char| c.is_whitespace() || c == '\u{FEFF}');
    let (marked, rest) = match line.strip_prefix(':') {
        Some(rest) => (true, rest),
        None => (false, line),
    };
    if rest.starts_with("!!") {
        return Err(CommandError::Usage(format!("line {number}: pikepole sql does not have !!")));
    }
    let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
    let (word, arguments) = (rest[..end].to_ascii_lowercase(), rest[end..].trim());
    if !marked {
        return Ok(unmarked(&word, arguments));
    }
    if word.is_empty() {
        return Ok(None);
    }
    if REFUSED.contains(&word.as_str()) {
        return Err(CommandError::Usage(format!("line {number}: pikepole sql does not have :{word}")));
    }
    if word == "exit" && arguments.starts_with('(') && !is_empty_list(arguments) {
        return Err(CommandError::Usage(format!("line {number}: pikepole sql does not have :exit with a query")));
    }
    let command = marked_command(&word, arguments);
    let wrong = || CommandError::Usage(format!("Syntax error at line {number} near command ':{word}'."));
    command.map(Some).ok_or_else(wrong)
}

/// `exit` and `quit` need no colon, and may end with a semicolon.
fn unmarked(word: &str, arguments: &str) -> Option<Command> {
    match (word, arguments) {
        ("exit" | "quit", "" | ";") => Some(Command::Quit),
        ("exit", list) if is_empty_list(list) => Some(Command::RunAndQuit),
        _ => None,
    }
}

fn is_empty_list(text: &str) -> bool {
    let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
    inner.is_some_and(|inner| inner.trim().is_empty())
}

fn marked_command(word: &str, arguments: &str) -> Option<Command> {
    let alone = |command: Command| arguments.is_empty().then_some(command);
    match word {
        "setvar" => set_variable(arguments),
        "listvar" => alone(Command::ListVariables),
        "r" => file(arguments).map(Command::Read),
        "on" => {
            let mut words = arguments.split_whitespace().map(str::to_ascii_lowercase);
            let (error, what) = (words.next()?, words.next()?);
            let exit = match what.as_str() {
                "exit" => true,
                "ignore" => false,
                _ => return None,
            };
            (error == "error" && words.next().is_none()).then_some(Command::OnError { exit })
        }
        "out" => stream(arguments).map(Command::Out),
        "error" => stream(arguments).map(Command::Error),
        "list" => alone(Command::List),
        "reset" => alone(Command::Reset),
        "help" => alone(Command::Help),
        "q" | "quit" => alone(Command::Quit),
        "exit" if is_empty_list(arguments) => Some(Command::RunAndQuit),
        "exit" => alone(Command::Quit),
        _ => None,
    }
}

fn set_variable(arguments: &str) -> Option<Command> {
    let end = arguments.find(char::is_whitespace).unwrap_or(arguments.len());
    let (name, value) = (&arguments[..end], arguments[end..].trim());
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-.@#".contains(c));
    let value = match value.strip_prefix('"') {
        _ if value.is_empty() => None,
        Some(inner) => Some(inner.strip_suffix('"')?.replace("\"\"", "\"")),
        None if value.contains(char::is_whitespace) => return None,
        None => Some(value.to_owned()),
    };
    is_name.then(|| Command::SetVariable { name: name.to_owned(), value })
}

/// A file's name, which may stand in quotes.
fn file(arguments: &str) -> Option<String> {
    let inner = arguments.strip_prefix('"').and_then(|name| name.strip_suffix('"'));
    let name = inner.unwrap_or(arguments);
    (!name.is_empty()).then(|| name.to_owned())
}

fn stream(arguments: &str) -> Option<Stream> {
    Some(match arguments.to_ascii_lowercase().as_str() {
        "stdout" => Stream::Out,
        "stderr" => Stream::Error,
        _ => Stream::File(file(arguments)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_from_t_sql() {
        let set = |name: &str, value: &str| Command::SetVariable { name: name.into(), value: Some(value.into()) };
        let commands = [
            (":setvar Name \"a \"\"b\"\"\"\r\n", set("Name", "a \"b\"")),
            ("  :SETVAR n 1\n", set("n", "1")),
            (":setvar n", Command::SetVariable { name: "n".into(), value: None }),
            (":r \"my file.sql\"", Command::Read("my file.sql".into())),
            (":r .\\a.sql", Command::Read(".\\a.sql".into())),
            (":On Error Exit", Command::OnError { exit: true }),
            (":out stdout", Command::Out(Stream::Out)),
            (":error e.txt", Command::Error(Stream::File("e.txt".into()))),
            ("exit;", Command::Quit),
            ("EXIT ( )", Command::RunAndQuit),
            (":q", Command::Quit),
        ];
        for (line, command) in commands {
            assert_eq!(parse(line, 1).expect("a command"), Some(command), "{line}");
        }
        for line in ["::fn_x()", "exit_code int", "quit = 1", "SELECT 1", ":", "exit (1)"] {
            assert_eq!(parse(line, 1).expect("T-SQL"), None, "{line}");
        }
    }

    #[test]
    fn what_is_no_command_is_refused_with_its_line() {
        let refused = |line: &str| parse(line, 7).unwrap_err().to_string();
        assert_eq!(refused(":connect other"), "line 7: pikepole sql does not have :connect");
        assert_eq!(refused("!! dir"), "line 7: pikepole sql does not have !!");
        assert_eq!(refused(":exit(SELECT 1)"), "line 7: pikepole sql does not have :exit with a query");
        for line in [":setvar", ":setvar a b c", ":on error", ":r", ":list x", ":what", ":setvar a \"b"] {
            assert!(refused(line).starts_with("Syntax error at line 7 near command ':"), "{line}");
        }
    }
}
