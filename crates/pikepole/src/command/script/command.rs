//! Lines that are commands of the client's tools.

use super::ScriptError;

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
        /// Its name, as it was written.
        name: String,
        /// Its value.
        value: Option<String>,
    },
    /// `:listvar`
    ListVariables,
    /// `:r`
    Read(String),
    /// `:on error`
    OnError {
        /// `exit`, not `ignore`.
        exit: bool,
    },
    /// `:out`
    Out(Stream),
    /// `:error`
    Error(Stream),
    /// `:perftrace`
    PerformanceTrace(Stream),
    /// `:connect`, with its arguments.
    Connect(String),
    /// `!!`, with a command of the system.
    Shell(String),
    /// `:ed`
    Edit,
    /// `:list`
    List,
    /// `:reset`
    Reset,
    /// `:help`
    Help,
    /// `:serverlist`
    ListServers,
    /// `:xml`
    Xml {
        /// `on`, not `off`.
        on: bool,
    },
    /// `:quit`, and `:exit` alone.
    Quit,
    /// `:exit()`
    RunAndQuit,
    /// `:exit(QUERY)`
    QueryAndQuit(String),
}

/// The rules of the tool that a script is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Of the commands only `exit` and `quit` do without their colon.
    Shell,
    /// As sqlcmd has it: `ed`, `reset`, `!!` and `exit(QUERY)` do without it, too.
    Sqlcmd,
}

/// A line without its marks and white space around it.
fn trimmed(line: &str) -> &str {
    line.trim_matches(|c: char| c.is_whitespace() || c == '\u{FEFF}')
}

/// The command that a line is; none: it is T-SQL.
///
/// # Errors
/// Something behind a colon that is no command, or not well formed.
pub fn parse(line: &str, number: u32, dialect: Dialect) -> Result<Option<Command>, ScriptError> {
    let line = trimmed(line);
    let (marked, rest) = match line.strip_prefix(':') {
        Some(rest) => (true, rest),
        None => (false, line),
    };
    if let Some(command) = rest.strip_prefix("!!") {
        return match command.trim() {
            "" => Err(ScriptError::Syntax { line: number, command: "!!".to_owned() }),
            command => Ok(Some(Command::Shell(command.to_owned()))),
        };
    }
    let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
    let (word, arguments) = (rest[..end].to_ascii_lowercase(), rest[end..].trim());
    if !marked {
        return Ok(unmarked(&word, arguments, dialect));
    }
    if word.is_empty() {
        return Ok(None);
    }
    let command = marked_command(&word, arguments);
    command.map(Some).ok_or_else(|| ScriptError::Syntax { line: number, command: format!(":{word}") })
}

/// `exit` and `quit` need no colon, and may end with a semicolon.
fn unmarked(word: &str, arguments: &str, dialect: Dialect) -> Option<Command> {
    match (word, arguments) {
        ("exit" | "quit", "" | ";") => Some(Command::Quit),
        ("exit", list) if is_empty_list(list) => Some(Command::RunAndQuit),
        _ if dialect == Dialect::Shell => None,
        ("exit", list) => query(list).map(Command::QueryAndQuit),
        ("ed", "") => Some(Command::Edit),
        ("reset", "") => Some(Command::Reset),
        _ => None,
    }
}

fn is_empty_list(text: &str) -> bool {
    query(text).is_some_and(|inner| inner.trim().is_empty())
}

/// The text between the parentheses of `exit(...)`.
fn query(text: &str) -> Option<String> {
    Some(text.strip_prefix('(')?.strip_suffix(')')?.to_owned())
}

/// Returns whether a line begins an `exit(...)` that goes on in further lines: its parentheses are not closed.
pub fn is_unfinished_exit(line: &str, dialect: Dialect) -> bool {
    let line = trimmed(line);
    let (marked, rest) = match line.strip_prefix(':') {
        Some(rest) => (true, rest),
        None => (false, line),
    };
    let Some((word, rest)) = rest.split_at_checked(4) else { return false };
    let begins = word.eq_ignore_ascii_case("exit") && rest.trim_start().starts_with('(');
    begins && (marked || dialect == Dialect::Sqlcmd) && open_parentheses(rest) > 0
}

/// The number of parentheses that are open at the end of a text; what is quoted does not count.
fn open_parentheses(text: &str) -> i64 {
    let (mut open, mut quote) = (0, None);
    for c in text.chars() {
        match (quote, c) {
            (Some(end), c) if c == end => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '[') => quote = Some(']'),
            (None, '(') => open += 1,
            (None, ')') => open -= 1,
            _ => {}
        }
    }
    open
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
        "perftrace" => stream(arguments).map(Command::PerformanceTrace),
        "connect" => (!arguments.is_empty()).then(|| Command::Connect(arguments.to_owned())),
        "ed" => alone(Command::Edit),
        "serverlist" => alone(Command::ListServers),
        "xml" => match arguments.to_ascii_lowercase().as_str() {
            "on" => Some(Command::Xml { on: true }),
            "off" => Some(Command::Xml { on: false }),
            _ => None,
        },
        "q" | "quit" => alone(Command::Quit),
        "exit" if is_empty_list(arguments) => Some(Command::RunAndQuit),
        "exit" if arguments.starts_with('(') => query(arguments).map(Command::QueryAndQuit),
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
            assert_eq!(parse(line, 1, Dialect::Shell), Ok(Some(command)), "{line}");
        }
        for line in ["::fn_x()", "exit_code int", "quit = 1", "SELECT 1", ":", "exit (1)", "ed", "reset"] {
            assert_eq!(parse(line, 1, Dialect::Shell), Ok(None), "{line}");
        }
    }

    #[test]
    fn sqlcmd_has_more_commands_without_a_colon() {
        let commands = [
            ("exit (SELECT 1)\n", Command::QueryAndQuit("SELECT 1".into())),
            (":EXIT(SELECT (1))", Command::QueryAndQuit("SELECT (1)".into())),
            ("ed", Command::Edit),
            ("RESET\r\n", Command::Reset),
            ("!! echo a", Command::Shell("echo a".into())),
            (":!!echo a", Command::Shell("echo a".into())),
            (":perftrace stderr", Command::PerformanceTrace(Stream::Error)),
            (":Connect tcp:db,1500 -U sa", Command::Connect("tcp:db,1500 -U sa".into())),
            (":XML on", Command::Xml { on: true }),
            (":serverlist", Command::ListServers),
        ];
        for (line, command) in commands {
            assert_eq!(parse(line, 1, Dialect::Sqlcmd), Ok(Some(command)), "{line}");
        }
        for line in ["edit", "resets", "exit_1(2)", "xml on", "connect a"] {
            assert_eq!(parse(line, 1, Dialect::Sqlcmd), Ok(None), "{line}");
        }
    }

    #[test]
    fn an_exit_goes_on_until_its_parentheses_are_closed() {
        for line in [":exit(SELECT", "EXIT ( SELECT ')'", ":exit(SELECT [)]"] {
            assert!(is_unfinished_exit(line, Dialect::Sqlcmd), "{line}");
        }
        for line in [":exit(SELECT 1)", "exit", "exited(", "SELECT ("] {
            assert!(!is_unfinished_exit(line, Dialect::Sqlcmd), "{line}");
        }
        assert!(!is_unfinished_exit("exit (", Dialect::Shell));
    }

    #[test]
    fn what_is_no_command_is_refused_with_its_line() {
        let lines = [
            ":setvar",
            ":setvar a b c",
            ":on error",
            ":r",
            ":list x",
            ":what",
            ":setvar a \"b",
            ":xml",
            ":connect",
            "!!",
        ];
        for line in lines {
            let refused = parse(line, 7, Dialect::Shell).expect_err(line).to_string();
            assert!(refused.starts_with("Syntax error at line 7 near command '"), "{line}: {refused}");
        }
    }
}
