//! sqlcmd at work: scripts are read, batches run, commands obeyed.

use super::super::CommandError;
use super::super::output::Sink;
use super::super::script::{Command, Dialect, ScriptError, ScriptReader, ScriptText, Step, Stream};
use super::connect::{self, ConnectCommand, Manner};
use super::deadline::Deadline;
use super::options::{Options, Query};
use super::printer::{Ending, Layout, Messages, Printer};
use super::settings;
use super::streams::Streams;
use super::usage;
use super::values::Limits;
use pikepole::Event;
use pikepole_client::{Canceller, ConnectOptions, Connection};
use pikepole_contention::sync::{Arc, Mutex, MutexGuard};
use std::io::{BufRead, IsTerminal};
use std::path::Path;
use std::time::{Duration, Instant};

/// The statuses of an `EXIT(query)` without a value.
const NO_VALUE: i32 = -100;
const NO_ROWS: i32 = -101;
const NO_NUMBER: i32 = -102;
/// The status after a failure that has no other.
const FAILED: i32 = 1;
/// Severities above this one are errors.
const INFORMATION_MAX: u8 = 10;

/// The way on after a step.
enum Flow {
    On,
    /// sqlcmd ends, with this status when one is given.
    End(Option<i32>),
}

/// sqlcmd under way.
pub struct Tool {
    options: Options,
    manner: Manner,
    reader: ScriptReader,
    streams: Streams,
    connection: Option<Connection>,
    /// The status to end with.
    status: i32,
    /// `-b`, `:on error exit`
    stops_on_error: bool,
    /// `:xml on`
    is_stream: bool,
    /// Lines are typed at a terminal: an error does not end it.
    is_interactive: bool,
    /// The batch that ran last, for `:ed`.
    last_batch: String,
    running: Running,
}

/// The running batch, for an interrupt from the terminal.
#[derive(Clone, Default)]
struct Running(Arc<Mutex<Option<Canceller>>>);

impl Running {
    fn canceller(&self) -> MutexGuard<'_, Option<Canceller>> {
        // Each change is a single store.
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// An interrupt ends the batch that runs, else the process.
    fn catch_interrupts(&self) -> Result<(), CommandError> {
        let ours = self.clone();
        let interrupted = move || match &*ours.canceller() {
            Some(canceller) => canceller.cancel(),
            None => std::process::exit(FAILED),
        };
        pikepole_machine::interrupt::on_interrupt(interrupted).map_err(CommandError::io("the interrupt signal"))
    }
}

impl Tool {
    /// Does what the options ask for; the exit status.
    pub fn run(options: Options, is_older_tool: bool) -> Result<i32, CommandError> {
        if let Some(missing) = options.inputs.iter().find(|path| !path.is_file()) {
            super::complain(&format!("Sqlcmd: '{}': Invalid filename.\n", missing.display()))?;
            return Ok(FAILED);
        }
        let variables = match settings::variables(&options) {
            Ok(variables) => variables,
            Err(text) => {
                super::complain(&format!("Sqlcmd: {text}\n"))?;
                return Ok(FAILED);
            }
        };
        let mut reader = ScriptReader::new(variables, Dialect::Sqlcmd).in_code_page(options.input_page);
        if let Some(terminator) = &options.terminator {
            reader = reader.ended_by(terminator);
        }
        let reads_on = options.inputs.is_empty() && !matches!(options.query, Some(Query::Only(_)));
        let is_interactive = reads_on && !options.only_changes_password && std::io::stdin().is_terminal();
        if is_interactive {
            reader = reader.keeping_undefined();
        }
        let mut tool = Tool {
            manner: Manner::new(&options, is_older_tool),
            reader,
            streams: Streams::new(options.output_page, options.is_unicode),
            connection: None,
            status: 0,
            stops_on_error: options.stops_on_error,
            is_stream: false,
            is_interactive,
            last_batch: String::new(),
            running: Running::default(),
            options,
        };
        let flow = tool.start()?;
        tool.streams.flush()?;
        match flow {
            Flow::End(Some(status)) => Ok(status),
            _ => Ok(tool.status),
        }
    }

    fn start(&mut self) -> Result<Flow, CommandError> {
        if let Some(path) = self.options.output.clone()
            && let Err(error) = self.streams.all_to_file(&path)
        {
            self.say_file_error(&path.display().to_string(), &error)?;
            return Ok(Flow::End(Some(FAILED)));
        }
        if self.is_interactive {
            self.running.catch_interrupts()?;
        }
        if !self.log_in()? {
            return Ok(Flow::End(Some(FAILED)));
        }
        if self.options.only_changes_password {
            return Ok(Flow::On);
        }
        if self.options.restricted.is_none() {
            let script = settings::text(self.reader.variables(), "SQLCMDINI");
            if !script.is_empty()
                && let Flow::End(status) = self.file(&script)?
            {
                return Ok(Flow::End(status));
            }
        }
        self.work()
    }

    /// The query, the files, or the input.
    fn work(&mut self) -> Result<Flow, CommandError> {
        match self.options.query.clone() {
            Some(Query::Only(text)) => return self.script(ScriptText::whole(text)),
            Some(Query::Begin(text)) => {
                if let Flow::End(status) = self.script(ScriptText::whole(text))? {
                    return Ok(Flow::End(status));
                }
            }
            None => {}
        }
        if self.options.inputs.is_empty() {
            return self.input();
        }
        for path in self.options.inputs.clone() {
            if let Flow::End(status) = self.file(&path.to_string_lossy())? {
                return Ok(Flow::End(status));
            }
        }
        Ok(Flow::On)
    }

    /// Connects as the options say; whether that went well.
    fn log_in(&mut self) -> Result<bool, CommandError> {
        let variables = self.reader.variables();
        let server = settings::text(variables, "SQLCMDSERVER");
        let user = settings::text(variables, "SQLCMDUSER");
        let seconds = settings::number(variables, "SQLCMDLOGINTIMEOUT");
        let connect = match user.is_empty() {
            true => Err("Trusted connections need Kerberos, which is not supported; give a login with -U.".to_owned()),
            false => connect::password_of(self.options.password.as_deref(), self.options.restricted.is_some())
                .and_then(|password| self.manner.options(&server, &user, &password, seconds)),
        };
        match connect {
            Ok(connect) => {
                let new_password = self.options.new_password.clone();
                self.connect(&ConnectOptions { new_password, ..connect })
            }
            Err(text) => {
                self.streams.write_error(&format!("Sqlcmd: Error: {text}\n"))?;
                Ok(false)
            }
        }
    }

    /// Closes the connection and opens another one; whether that went well.
    fn connect(&mut self, connect: &ConnectOptions) -> Result<bool, CommandError> {
        self.connection = None;
        let variables = self.reader.variables();
        let connect = ConnectOptions {
            database: settings::text(variables, "SQLCMDDBNAME"),
            workstation: settings::text(variables, "SQLCMDWORKSTATION"),
            packet_bytes: settings::number(variables, "SQLCMDPACKETSIZE"),
            is_read_only: self.options.is_read_only,
            ..connect.clone()
        };
        let quotes = if self.options.quotes_identifiers { "ON" } else { "OFF" };
        let connected = Connection::connect(&connect).and_then(|mut connection| {
            connection.execute(&format!("SET QUOTED_IDENTIFIER {quotes}"))?;
            Ok(connection)
        });
        match connected {
            Ok(connection) => {
                self.connection = Some(connection);
                Ok(true)
            }
            Err(error) => {
                let lines = connect::failure(&error).join("\n");
                self.streams.write_error(&(lines + "\n"))?;
                Ok(false)
            }
        }
    }

    /// Reads what comes from standard input.
    fn input(&mut self) -> Result<Flow, CommandError> {
        let stdin = std::io::stdin();
        let mut number = 0;
        loop {
            if self.is_interactive {
                let prompt = format!("{}> ", self.reader.next_line());
                self.streams.write(&prompt)?;
                self.streams.flush()?;
            }
            let mut line = String::new();
            let read = stdin.lock().read_line(&mut line).map_err(CommandError::io("standard input"))?;
            if read == 0 {
                // What was piped in runs without a GO; what was typed does not.
                return if self.is_interactive { Ok(Flow::On) } else { self.batch(1) };
            }
            number += 1;
            if let Flow::End(status) = self.lines(ScriptText::line(&line, number))? {
                return Ok(Flow::End(status));
            }
        }
    }

    /// A script's file, to its end.
    fn file(&mut self, name: &str) -> Result<Flow, CommandError> {
        match self.reader.read_file(name) {
            Ok(text) => self.script(text),
            Err(error) => self.wrong(&error),
        }
    }

    /// A script, to its end: what stands behind its last GO runs too.
    fn script(&mut self, text: ScriptText) -> Result<Flow, CommandError> {
        match self.lines(text)? {
            Flow::On => self.batch(1),
            end => Ok(end),
        }
    }

    /// Lines of a script.
    fn lines(&mut self, text: ScriptText) -> Result<Flow, CommandError> {
        if let Err(error) = self.reader.open(text) {
            return self.wrong(&error);
        }
        loop {
            let flow = match self.reader.next_step() {
                Ok(None) => return Ok(Flow::On),
                Ok(Some(Step::Batch { count })) => self.batch(count)?,
                Ok(Some(Step::Command(command))) => self.obey(command)?,
                Err(error) => self.wrong(&error)?,
            };
            if let Flow::End(status) = flow {
                self.reader.close();
                return Ok(Flow::End(status));
            }
        }
    }

    /// Reports a mistake in a script. It ends the script; a typed line is typed again.
    fn wrong(&mut self, error: &ScriptError) -> Result<Flow, CommandError> {
        let file = self.reader.file_name().map(|name| format!(" in file '{name}'"));
        let text = match error {
            ScriptError::Syntax { .. } => {
                let text = error.to_string();
                format!("Sqlcmd: Error: {}{}.", text.trim_end_matches('.'), file.unwrap_or_default())
            }
            ScriptError::File { name, reason } => file_error(name, reason),
            ScriptError::Undefined(_) => error.to_string(),
            other => format!("Sqlcmd: Error: {other}"),
        };
        self.streams.write_error(&(text + "\n"))?;
        Ok(if self.is_interactive { Flow::On } else { Flow::End(Some(FAILED)) })
    }

    fn say_file_error(&mut self, name: &str, error: &CommandError) -> Result<(), CommandError> {
        let reason = match error {
            CommandError::Io { error, .. } => error.to_string(),
            other => other.to_string(),
        };
        self.streams.write_error(&(file_error(name, &reason) + "\n"))
    }

    fn obey(&mut self, command: Command) -> Result<Flow, CommandError> {
        match self.expanded(command) {
            Ok(command) => self.obey_expanded(command),
            Err(error) => self.wrong(&error),
        }
    }

    /// A command with the values of variables.
    fn expanded(&self, command: Command) -> Result<Command, ScriptError> {
        let text = |text: String| self.reader.expanded(&text);
        let stream = |target| match target {
            Stream::File(name) => text(name).map(Stream::File),
            other => Ok(other),
        };
        Ok(match command {
            Command::Out(target) => Command::Out(stream(target)?),
            Command::Error(target) => Command::Error(stream(target)?),
            Command::PerformanceTrace(target) => Command::PerformanceTrace(stream(target)?),
            Command::Connect(arguments) => Command::Connect(text(arguments)?),
            Command::Shell(command) => Command::Shell(text(command)?),
            Command::QueryAndQuit(query) => Command::QueryAndQuit(text(query)?),
            other => other,
        })
    }

    fn obey_expanded(&mut self, command: Command) -> Result<Flow, CommandError> {
        match command {
            Command::ListVariables => {
                let list = self.reader.variables().list();
                self.streams.write(&(list + "\n"))?;
            }
            Command::OnError { exit } => self.stops_on_error = exit,
            Command::Out(target) => {
                if let Some(sink) = self.sink(&target)? {
                    self.streams.set_out(sink)?;
                }
            }
            Command::Error(target) => {
                if let Some(sink) = self.sink(&target)? {
                    self.streams.set_error(sink);
                }
            }
            Command::PerformanceTrace(target) => {
                if let Some(sink) = self.sink(&target)? {
                    self.streams.set_statistics(sink);
                }
            }
            Command::List => {
                let text = self.reader.text().trim_end();
                if !text.is_empty() {
                    self.streams.write(&format!("{text}\n"))?;
                }
            }
            Command::Help => self.streams.write(usage::HELP)?,
            Command::Xml { on } => self.is_stream = on,
            Command::Quit => return Ok(Flow::End(None)),
            Command::RunAndQuit => return self.run_and_quit(""),
            Command::QueryAndQuit(query) => return self.run_and_quit(&query),
            Command::Connect(arguments) => return self.connect_elsewhere(&arguments),
            Command::Shell(command) => return self.shell(&command),
            Command::Edit => return self.edit(),
            Command::ListServers => {
                self.streams.write_error("Sqlcmd: Error: ':serverlist': Servers cannot be listed.\n")?;
                return Ok(if self.is_interactive { Flow::On } else { Flow::End(Some(FAILED)) });
            }
            // The reader has obeyed them.
            Command::SetVariable { .. } | Command::Read(_) | Command::Reset => {}
        }
        Ok(Flow::On)
    }

    /// The target of a stream; none when the file cannot be made, and the stream stays where it is.
    fn sink(&mut self, target: &Stream) -> Result<Option<Sink>, CommandError> {
        let name = match target {
            Stream::Out => return Ok(Some(Sink::Out)),
            Stream::Error => return Ok(Some(Sink::Error)),
            Stream::File(name) => name,
        };
        match Sink::file(Path::new(name)) {
            Ok(sink) => Ok(Some(sink)),
            Err(error) => {
                self.say_file_error(name, &error)?;
                Ok(None)
            }
        }
    }

    /// `:connect`
    fn connect_elsewhere(&mut self, arguments: &str) -> Result<Flow, CommandError> {
        let Some(command) = ConnectCommand::parse(arguments) else {
            let line = self.reader.line_number();
            return self.wrong(&ScriptError::Syntax { line, command: ":connect".to_owned() });
        };
        let variables = self.reader.variables();
        let own_user = settings::text(variables, "SQLCMDUSER");
        let seconds = command.seconds.unwrap_or_else(|| settings::number(variables, "SQLCMDLOGINTIMEOUT"));
        let given = match (&command.password, &command.user) {
            (None, None) => self.options.password.clone(),
            (password, _) => password.clone(),
        };
        let user = command.user.unwrap_or(own_user);
        let manner = Manner {
            encryption: command.encryption.unwrap_or(self.manner.encryption),
            trusts_certificate: command.trusts_certificate || self.manner.trusts_certificate,
            certificate_host: command.certificate_host.or_else(|| self.manner.certificate_host.clone()),
        };
        let connect = connect::password_of(given.as_deref(), self.options.restricted.is_some())
            .and_then(|password| manner.options(&command.server, &user, &password, seconds));
        let is_connected = match connect {
            Ok(connect) => self.connect(&connect)?,
            Err(text) => {
                self.streams.write_error(&format!("Sqlcmd: Error: {text}\n"))?;
                false
            }
        };
        if !is_connected {
            return Ok(if self.is_interactive { Flow::On } else { Flow::End(Some(FAILED)) });
        }
        self.streams.write(&format!("Sqlcmd: Successfully connected to server '{}'.\n", command.server))?;
        let variables = self.reader.variables_mut();
        variables.set("SQLCMDSERVER", Some(command.server));
        variables.set("SQLCMDUSER", Some(user));
        Ok(Flow::On)
    }

    /// Refuses a command that `-X` forbids: with a warning, or with the end of sqlcmd under `-X1`.
    fn is_restricted(&mut self) -> Result<Option<Flow>, CommandError> {
        let Some(ends) = self.options.restricted else { return Ok(None) };
        let kind = if ends { "Error" } else { "Warning" };
        let text = "ED and !!<command> commands, startup script and environment variables are disabled";
        self.streams.write_error(&format!("Sqlcmd: {kind}: {text}.\n"))?;
        Ok(Some(if ends { Flow::End(Some(FAILED)) } else { Flow::On }))
    }

    /// `!!`
    fn shell(&mut self, command: &str) -> Result<Flow, CommandError> {
        if let Some(flow) = self.is_restricted()? {
            return Ok(flow);
        }
        self.streams.flush()?;
        let status = std::process::Command::new("sh").arg("-c").arg(command).status();
        status.map(drop).map_err(CommandError::io("the shell"))?;
        Ok(Flow::On)
    }

    /// `:ed`
    fn edit(&mut self) -> Result<Flow, CommandError> {
        if let Some(flow) = self.is_restricted()? {
            return Ok(flow);
        }
        let editor = settings::text(self.reader.variables(), "SQLCMDEDITOR");
        let gathered = self.reader.text().to_owned();
        let text = if gathered.is_empty() { self.last_batch.clone() } else { gathered };
        self.streams.flush()?;
        match edited(&editor, &text) {
            Ok(mut text) => {
                if !text.ends_with('\n') {
                    text.push('\n');
                }
                self.reader.clear();
                if self.is_interactive {
                    self.streams.write(&text)?;
                }
                self.lines(ScriptText::whole(text))
            }
            Err(error) => {
                self.say_file_error(&editor, &CommandError::io(&*editor)(error))?;
                Ok(Flow::On)
            }
        }
    }

    /// Runs what has been gathered.
    fn batch(&mut self, count: u32) -> Result<Flow, CommandError> {
        for name in self.reader.take_undefined() {
            self.streams.write_error(&format!("{}\n", ScriptError::Undefined(name)))?;
        }
        let Some(text) = self.reader.batch(count).map(|batch| batch.text.to_owned()) else {
            self.reader.clear();
            return Ok(Flow::On);
        };
        self.reader.clear();
        let mut flow = Flow::On;
        for _ in 0..count {
            let Some(ending) = self.execute(&text)? else {
                flow = Flow::End(Some(FAILED));
                break;
            };
            flow = self.judge(&ending);
            if matches!(flow, Flow::End(_)) {
                break;
            }
        }
        self.last_batch = text;
        Ok(flow)
    }

    /// Decides whether the end of a batch ends sqlcmd, and with which status.
    fn judge(&mut self, ending: &Ending) -> Flow {
        if let Some(number) = ending.ending_number {
            return Flow::End(Some(number));
        }
        // Without -V an error is one above information, and its status 1.
        let failed = match self.options.severity {
            Some(_) => ending.last_severity.map(i32::from),
            None => (ending.severity_max > INFORMATION_MAX).then_some(FAILED),
        };
        match failed {
            Some(status) if self.stops_on_error => Flow::End(Some(status)),
            Some(status) if self.options.severity.is_some() => {
                self.status = status;
                Flow::On
            }
            _ => Flow::On,
        }
    }

    /// `EXIT(query)`: the batch with the query in it, and the value that it returns.
    fn run_and_quit(&mut self, query: &str) -> Result<Flow, CommandError> {
        let text = format!("{}\n{query}", self.reader.text());
        self.reader.clear();
        if text.trim().is_empty() {
            return Ok(Flow::End(None));
        }
        let Some(ending) = self.execute(&text)? else { return Ok(Flow::End(Some(FAILED))) };
        if query.trim().is_empty() {
            let flow = self.judge(&ending);
            return Ok(if matches!(flow, Flow::End(_)) { flow } else { Flow::End(None) });
        }
        let status = match (&ending.ending_number, &ending.last_value) {
            (Some(number), _) => *number,
            (None, _) if ending.severity_max > INFORMATION_MAX => NO_VALUE,
            (None, None) => NO_ROWS,
            (None, Some(value)) => status_of(value),
        };
        Ok(Flow::End(Some(status)))
    }

    /// Sends a batch and prints what comes; none when there is no connection any more.
    fn execute(&mut self, text: &str) -> Result<Option<Ending>, CommandError> {
        if self.options.echoes {
            self.streams.write(&format!("{}\n", text.trim_end_matches('\n')))?;
        }
        let (layout, messages) = (self.layout(), self.messages());
        let seconds: u64 = settings::number(self.reader.variables(), "SQLCMDSTATTIMEOUT");
        let Some(connection) = &mut self.connection else {
            self.streams.write_error("Sqlcmd: Error: There is no connection.\n")?;
            return Ok(None);
        };
        let server = connection.server_name().to_owned();
        let begun = Instant::now();
        let deadline = match seconds {
            0 => None,
            _ => Some(Deadline::start(Duration::from_secs(seconds), connection.canceller())),
        };
        let deadline = deadline.transpose().map_err(CommandError::io("a thread"))?;
        *self.running.canceller() = Some(connection.canceller());
        let mut printer = Printer::new(&mut self.streams, &server, layout, messages, self.options.severity);
        let ran = run_events(connection, text, &mut printer, deadline.is_some());
        *self.running.canceller() = None;
        let is_late = deadline.is_some_and(Deadline::finish);
        let mut ending = printer.finish()?;
        if let Err(error) = ran {
            let error = match error {
                CommandError::Client(error) => error,
                other => return Err(other),
            };
            self.connection = None;
            self.streams.write_error(&(connect::failure(&error).join("\n") + "\n"))?;
            return Ok(None);
        }
        if is_late {
            ending.severity_max = ending.severity_max.max(INFORMATION_MAX + 1);
            self.streams.write_error("Timeout expired\n")?;
        }
        self.statistics(begun.elapsed())?;
        self.streams.flush()?;
        Ok(Some(ending))
    }

    fn layout(&self) -> Layout {
        let variables = self.reader.variables();
        Layout {
            headers: settings::number(variables, "SQLCMDHEADERS"),
            separator: settings::text(variables, "SQLCMDCOLSEP"),
            width: settings::number(variables, "SQLCMDCOLWIDTH"),
            limits: Limits {
                variable: settings::number(variables, "SQLCMDMAXVARTYPEWIDTH"),
                fixed: settings::number(variables, "SQLCMDMAXFIXEDTYPEWIDTH"),
            },
            trims: self.options.trims,
            controls: self.options.control_characters,
            is_stream: self.is_stream,
        }
    }

    fn messages(&self) -> Messages {
        let level = settings::number(self.reader.variables(), "SQLCMDERRORLEVEL");
        // What goes to a file goes there as a whole.
        let redirection = match self.options.output {
            Some(_) => super::options::Redirection::Nothing,
            None => self.options.redirection,
        };
        Messages { level, redirection, is_raw: self.options.is_raw }
    }

    /// `-p`
    fn statistics(&mut self, elapsed: Duration) -> Result<(), CommandError> {
        let (Some(has_colons), Some(connection)) = (self.options.statistics, &self.connection) else { return Ok(()) };
        let (bytes, milliseconds) = (connection.packet_bytes(), elapsed.as_secs_f64() * 1e3);
        let rate = 1e3 / milliseconds.max(1e-3);
        let text = match has_colons {
            true => format!("\n{bytes}:1:{milliseconds:.0}:{milliseconds:.2}:{rate:.2}\n"),
            false => format!(
                "\nNetwork packet size (bytes): {bytes}\n1 xact[s]:\n\
                 Clock Time (ms.): total {milliseconds:9.0}  avg {milliseconds:8.2} ({rate:.2} xacts per sec.)\n"
            ),
        };
        self.streams.write_statistics(&text)
    }
}

/// Prints a batch's events. One that was taken back because its time was over says so elsewhere.
fn run_events(
    connection: &mut Connection,
    text: &str,
    printer: &mut Printer<'_>,
    may_be_late: bool,
) -> Result<(), CommandError> {
    for event in connection.run(text).map_err(CommandError::Client)? {
        match event.map_err(CommandError::Client)? {
            Event::Error(error) if may_be_late && error.number == CANCELLED => {}
            event => printer.print(event)?,
        }
    }
    Ok(())
}

/// The number of the error of a batch that was taken back.
const CANCELLED: i32 = 3617;

fn file_error(name: &str, reason: &str) -> String {
    format!("Sqlcmd: Error: Error occurred while opening or operating on file {name} (Reason: {reason}).")
}

/// A value as an exit status.
fn status_of(value: &str) -> i32 {
    let whole = value.trim().split('.').next().unwrap_or_default();
    whole.parse().unwrap_or(NO_NUMBER)
}

/// A text after an editor had it, in a file that others cannot read.
fn edited(editor: &str, text: &str) -> std::io::Result<String> {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    let path = std::env::temp_dir().join(format!("sqlcmd-{}.sql", std::process::id()));
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    let edited = file.write_all(text.as_bytes()).and_then(|()| {
        drop(file);
        let command = format!("{editor} \"$0\"");
        std::process::Command::new("sh").arg("-c").arg(command).arg(&path).status()?;
        std::fs::read_to_string(&path)
    });
    std::fs::remove_file(&path)?;
    edited
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_a_status_when_it_is_a_number() {
        for (value, status) in
            [("7", 7), ("-3", -3), ("2.9", 2), ("1", 1), ("NULL", NO_NUMBER), ("x", NO_NUMBER), ("", NO_NUMBER)]
        {
            assert_eq!(status_of(value), status, "{value}");
        }
    }
}
