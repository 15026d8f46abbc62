//! `pikepole sql`: scripts, single batches, or the shell.

use super::output::{Format, Printer, Sink};
use super::script::{Script, Variables};
use super::session::{ServerArguments, Session};
use super::{CommandError, shell};
use pikepole::Options;
use pikepole_types::CodePage;
use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What to run and how to show it.
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    /// Folder of databases; made when it is not there
    #[arg(
        short = 'd',
        long = "data",
        value_name = "FOLDER",
        default_value = "pikepole-data",
        conflicts_with = "server"
    )]
    data: PathBuf,
    #[command(flatten)]
    server: ServerArguments,
    /// Run a script file; `-` reads standard input
    #[arg(short = 'i', long, value_name = "FILE", conflicts_with = "query")]
    input: Option<PathBuf>,
    /// Run this text: one batch, or several with GO between them
    #[arg(short = 'Q', long, value_name = "TEXT")]
    query: Option<String>,
    /// Results as JSON: one array of row objects for each result set, on a line of its own
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Results as CSV with a header line
    #[arg(long)]
    csv: bool,
    /// Results go to this file instead of standard output
    #[arg(short = 'o', long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Stop at the first batch with an error
    #[arg(short = 'b', long)]
    stop_on_error: bool,
    /// $(NAME) stands for the value in the T-SQL; may be given several times
    #[arg(short = 'v', long = "variable", value_name = "NAME=VALUE", num_args = 1..)]
    variables: Vec<String>,
    /// Leave $(NAME) in the T-SQL as it is
    #[arg(short = 'x', long)]
    no_variables: bool,
    /// A set of policies of the server for this run; --policy stands against it
    #[arg(long = "policies", value_name = "SET", value_enum, conflicts_with = "server")]
    set: Option<super::policies::SetChoice>,
    /// A policy of the server for this run; may be given several times
    #[arg(long = "policy", value_name = "NAME=VALUE", conflicts_with = "server")]
    policies: Vec<String>,
    /// A trace flag that is on from the start, such as 9038; may be given several times
    #[arg(short = 'T', value_name = "FLAG", conflicts_with = "server")]
    trace_flags: Vec<i32>,
    #[command(flatten)]
    folders: super::FileFolders,
}

const HELP: &str = "\
Without -i and -Q: an interactive shell on a terminal, else a script from standard
input. Batches are separated by GO on a line of its own; GO 5 runs a batch five times.
$(NAME) stands for what :setvar or -v has set, else for the environment's variable. Other
commands of sqlcmd that there are: :r FILE, :on error exit, :out FILE, :error FILE, :list,
:listvar, :reset, :exit, :quit; :help tells of them.

Results go to standard output, errors to standard error. With --json and --csv what
PRINT says goes to standard error too, so that standard output holds data only:
  --json  numbers that fit are numbers; decimal, money, dates and binary are strings
  --csv   NULL is an empty field, an empty text is \"\"
With -S the T-SQL goes to a server; what is printed is the same. The connection is encrypted
(TDS 8.0) and the server's certificate verified; the one that `pikepole serve` makes for
itself is server-certificate.pem in its folder. The password comes from -P, which other users of the
computer can see, from PIKEPOLE_PASSWORD, or is asked for.

Exit status: 0 all went well, 1 after an error of a batch (the batches after it have
run, unless -b is given), 2 when this command line is wrong.

Examples:
  pikepole sql -Q \"CREATE TABLE dbo.reading (id int PRIMARY KEY, celsius float)\"
  pikepole sql -Q \"INSERT dbo.reading VALUES (1, 21.5), (2, 22)\"
  pikepole sql -Q \"SELECT * FROM dbo.reading\" --csv > reading.csv
  pikepole sql -d ./data -i schema.sql -b
  pikepole sql -i deploy.sql -v DatabaseName=sales -v Size=10
  pikepole sql -Q \"SELECT * FROM sys.dm_pikepole_policies\"      the policies and their values
  pikepole sql --policy TRANSACTION_IDS=SPINLOCK -i load.sql
  pikepole sql -S localhost -U sa --certificate ./data/server-certificate.pem
  pikepole sql -S 127.0.0.1:1500 -U sa --encrypt off -Q \"SELECT @@VERSION\"";

/// Runs the script, the batch or the shell; status 1 when anything failed.
pub fn run(arguments: &Arguments) -> Result<ExitCode, CommandError> {
    let script = script(arguments)?;
    let server = arguments.server.connect_options("pikepole sql")?;
    // Before the engine starts its threads: they are not to be interrupted.
    let interrupt = if script.is_none() { Some(shell::Interrupt::catch()?) } else { None };
    let mut session = match server {
        Some(server) => Session::connect(&server)?,
        None => Session::open(options(arguments)?)?,
    };
    let format = match (arguments.json, arguments.csv) {
        (true, _) => Format::Json,
        (_, true) => Format::Csv,
        _ => Format::Table,
    };
    let mut printer = Printer::new(format);
    if let Some(path) = &arguments.output {
        printer.set_out(Sink::file(path)?);
    }
    let variables = Variables::new(&arguments.variables, arguments.no_variables)?;
    let reading = Script::new(&mut session, &mut printer, variables, arguments.stop_on_error);
    let clean = match (script, interrupt) {
        (Some(text), _) => run_script(reading, &text)?,
        (None, Some(interrupt)) => shell::run(reading, &interrupt, format == Format::Table)?,
        (None, None) => true,
    };
    session.close()?;
    Ok(if clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn options(arguments: &Arguments) -> Result<Options, CommandError> {
    let mut options = Options::new(&arguments.data).on_recovery(super::show_recovery);
    // Who types a relative name means the folder that the shell is in.
    if let Ok(working) = std::env::current_dir() {
        options = options.working_folder(working);
    }
    for (name, value) in super::policies::policies(arguments.set, &arguments.policies)? {
        options = options.policy(&name, &value);
    }
    options = arguments.folders.add_to(options);
    for flag in &arguments.trace_flags {
        options = options.trace_flag(*flag);
    }
    Ok(options)
}

/// The text to run; `None` means the shell.
fn script(arguments: &Arguments) -> Result<Option<String>, CommandError> {
    if let Some(text) = &arguments.query {
        return Ok(Some(text.clone()));
    }
    match &arguments.input {
        Some(path) if path.as_os_str() == "-" => read_input().map(Some),
        Some(path) => read_script(path).map(Some),
        None if std::io::stdin().is_terminal() => Ok(None),
        None => read_input().map(Some),
    }
}

fn read_input() -> Result<String, CommandError> {
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes).map_err(CommandError::io("standard input"))?;
    decode(bytes, "standard input", None)
}

/// Reads a script: UTF-8, or UTF-16 with a byte order mark as SQL Server's tools write it.
pub fn read_script(path: &Path) -> Result<String, CommandError> {
    read_script_in(path, None)
}

/// The same, where a script without a byte order mark is in this code page.
pub fn read_script_in(path: &Path, code_page: Option<CodePage>) -> Result<String, CommandError> {
    let what = path.display().to_string();
    let bytes = std::fs::read(path).map_err(CommandError::io(&what))?;
    decode(bytes, &what, code_page)
}

/// The text of a script's bytes; without a byte order mark they are in this code page, or UTF-8.
pub fn decode(bytes: Vec<u8>, what: &str, code_page: Option<CodePage>) -> Result<String, CommandError> {
    let wide = |pair: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes[2..].as_chunks().0.iter().map(|bytes| pair(*bytes)).collect();
        String::from_utf16(&units).map_err(|_| CommandError::Usage(format!("{what} is not valid UTF-16")))
    };
    match bytes.as_slice() {
        [0xff, 0xfe, ..] => wide(u16::from_le_bytes),
        [0xfe, 0xff, ..] => wide(u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, ..] => text(bytes[3..].to_vec(), what),
        _ => match code_page {
            Some(code_page) if code_page != CodePage::Utf8 => {
                let mut text = String::new();
                code_page.decode(&bytes, &mut text);
                Ok(text)
            }
            _ => text(bytes, what),
        },
    }
}

fn text(bytes: Vec<u8>, what: &str) -> Result<String, CommandError> {
    String::from_utf8(bytes).map_err(|error| {
        let place = error.utf8_error().valid_up_to();
        CommandError::Usage(format!("{what} is not UTF-8 text (byte {place}); save it as UTF-8 or UTF-16"))
    })
}

/// Runs a script; a command in it that cannot be obeyed ends it, as an error of a batch with `-b` does.
fn run_script(mut script: Script<'_>, text: &str) -> Result<bool, CommandError> {
    match script.run(text) {
        Ok(()) => Ok(script.is_clean()),
        Err(CommandError::Usage(text)) => {
            script.complain(&text)?;
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::decode;
    use pikepole_types::CodePage;

    #[test]
    fn scripts_are_read_in_the_encodings_tools_write() {
        assert_eq!(decode(b"SELECT 1".to_vec(), "t", None).unwrap(), "SELECT 1");
        assert_eq!(decode(b"\xef\xbb\xbfGO".to_vec(), "t", None).unwrap(), "GO");
        assert_eq!(decode(b"\xff\xfeG\0O\0".to_vec(), "t", None).unwrap(), "GO");
        assert_eq!(decode(b"\xfe\xff\0G\0O".to_vec(), "t", None).unwrap(), "GO");
        assert!(decode(b"\xc3".to_vec(), "t", None).unwrap_err().to_string().contains("byte 0"));
        assert_eq!(decode(b"\xe4\x80".to_vec(), "t", Some(CodePage::Western)).unwrap(), "ä€");
        assert_eq!(decode(b"\xef\xbb\xbf\xc3\xa4".to_vec(), "t", Some(CodePage::Western)).unwrap(), "ä");
    }
}
