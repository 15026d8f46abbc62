//! Where a command's T-SQL runs: in an engine of this process, or in a server.

use super::output::Printer;
use super::{CommandError, password};
use pikepole::blocking::Connection;
use pikepole::{Engine, Event, Options, Rows};
use pikepole_client::{Address, ClientError, ConnectOptions, Encryption, TlsCure, Trust};
use pikepole_contention::sync::atomic::{AtomicBool, Ordering};
use std::path::PathBuf;

/// The variable that holds the password.
const PASSWORD_VARIABLE: &str = "PIKEPOLE_PASSWORD";

/// The server to connect to, and how.
#[derive(clap::Args)]
pub struct ServerArguments {
    /// A server, instead of a folder of databases; its port is 1433 when none is given
    #[arg(short = 'S', long, value_name = "HOST:PORT", requires = "user")]
    server: Option<Address>,
    /// The login
    #[arg(short = 'U', long, value_name = "LOGIN", requires = "server")]
    user: Option<String>,
    /// Its password; better in PIKEPOLE_PASSWORD, or asked for
    #[arg(short = 'P', long, value_name = "PASSWORD", requires = "server")]
    password: Option<String>,
    /// Whether the connection is encrypted; it must be when the server is another computer
    #[arg(long, value_enum, value_name = "HOW", default_value = "strict", requires = "server")]
    encrypt: Encrypt,
    /// Believe whoever answers, whatever the certificate
    #[arg(long, requires = "server", conflicts_with = "certificate")]
    trust_server_certificate: bool,
    /// Believe the certificates in this file (PEM), and those that they have signed
    #[arg(long, value_name = "FILE", requires = "server")]
    certificate: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Encrypt {
    /// From the first byte on (TDS 8.0)
    Strict,
    /// Not at all
    Off,
}

impl ServerArguments {
    /// Whether a server is meant.
    pub fn is_given(&self) -> bool {
        self.server.is_some()
    }

    /// How to connect; `None` when no server is meant.
    pub fn connect_options(&self, application: &str) -> Result<Option<ConnectOptions>, CommandError> {
        let (Some(address), Some(user)) = (&self.server, &self.user) else { return Ok(None) };
        let encryption = match (self.encrypt, &self.certificate) {
            (Encrypt::Off, None) if !self.trust_server_certificate => Encryption::Off,
            (Encrypt::Off, _) => {
                return Err(CommandError::Usage("without encryption there is no certificate to believe".to_string()));
            }
            (Encrypt::Strict, Some(file)) => Encryption::Strict(Trust::File(file.clone())),
            (Encrypt::Strict, None) if self.trust_server_certificate => Encryption::Strict(Trust::Any),
            (Encrypt::Strict, None) => Encryption::Strict(Trust::System),
        };
        let password = self.password_of(user)?;
        let application = application.to_string();
        Ok(Some(ConnectOptions { encryption, application, ..ConnectOptions::new(address.clone(), user, password) }))
    }

    fn password_of(&self, user: &str) -> Result<String, CommandError> {
        if let Some(password) = &self.password {
            return Ok(password.clone());
        }
        match std::env::var(PASSWORD_VARIABLE) {
            Ok(password) => Ok(password),
            Err(_) if password::can_ask() => Ok(password::ask(user)?),
            Err(_) => Err(CommandError::Usage(format!("no password: give it in {PASSWORD_VARIABLE}, or with -P"))),
        }
    }
}

/// What a client's error says, with its cure by the options of [`ServerArguments`].
pub fn worded(error: &ClientError) -> String {
    let ClientError::Tls { text, cure: Some(cure) } = error else { return error.to_string() };
    let cure = match cure {
        TlsCure::Unencrypted => "a server without TLS is reached without encryption (--encrypt off)",
        TlsCure::Encrypted => "leave --encrypt off out",
        TlsCure::OtherName => {
            "connect by a name that the certificate is for (`pikepole trust --host NAME` makes one for more names), or believe any \
             certificate with --trust-server-certificate"
        }
        TlsCure::OtherTime => {
            "`pikepole trust` makes another certificate, --trust-server-certificate believes this one"
        }
        TlsCure::UnknownSigner => {
            "name the server's certificate with --certificate FILE (server-certificate.pem in the server's folder, or the \
             authority's that `pikepole trust` prints), or believe any with --trust-server-certificate"
        }
    };
    format!("{text}; {cure}")
}

/// A session that prints what it runs.
pub enum Session {
    /// Of an engine of this process.
    Own {
        /// The session.
        connection: Connection,
        /// The engine.
        engine: Engine,
    },
    /// Of a server.
    Server {
        /// The session.
        connection: Box<pikepole_client::Connection>,
        /// How another one is opened.
        options: Box<ConnectOptions>,
    },
}

/// Ends what a session runs, from another thread.
pub type Cancel = Box<dyn Fn() + Send>;

impl Session {
    /// Opens a folder of databases.
    pub fn open(options: Options) -> Result<Session, CommandError> {
        let engine = Engine::open(options)?;
        super::show_refused_memory(&engine);
        Ok(Session::Own { connection: engine.connect_blocking()?, engine })
    }

    /// Connects to a server.
    pub fn connect(options: &ConnectOptions) -> Result<Session, CommandError> {
        let connection = Box::new(pikepole_client::Connection::connect(options)?);
        Ok(Session::Server { connection, options: Box::new(options.clone()) })
    }

    /// Runs a batch and prints what comes; whether there was no error. `line_offset` is what precedes it in its script.
    pub fn print(&mut self, sql: &str, line_offset: u32, printer: &mut Printer) -> Result<bool, CommandError> {
        self.events(sql, |events| printer.print(events, sql, line_offset))
    }

    /// The same, until a flag is set that belongs to a [`Cancel`] of this session; also by one that came as the batch began, and found
    /// nothing to end.
    pub fn print_until(
        &mut self,
        interrupted: &AtomicBool,
        sql: &str,
        line_offset: u32,
        printer: &mut Printer,
    ) -> Result<bool, CommandError> {
        match self {
            Session::Own { connection, .. } => {
                let canceller = connection.canceller();
                let events = connection.run(sql, &[])?;
                if interrupted.load(Ordering::Relaxed) {
                    canceller.cancel();
                }
                printer.print(events, sql, line_offset)
            }
            Session::Server { connection, .. } => {
                let canceller = connection.canceller();
                let events = connection.run(sql)?;
                if interrupted.load(Ordering::Relaxed) {
                    canceller.cancel();
                }
                printer.print(events, sql, line_offset)
            }
        }
    }

    /// Runs a batch and hands what it sends to `take` as it comes.
    pub fn events<T>(
        &mut self,
        sql: &str,
        take: impl FnOnce(&mut dyn Iterator<Item = Result<Event, CommandError>>) -> Result<T, CommandError>,
    ) -> Result<T, CommandError> {
        match self {
            Session::Own { connection, .. } => {
                take(&mut connection.run(sql, &[])?.map(|event| event.map_err(CommandError::from)))
            }
            Session::Server { connection, .. } => {
                take(&mut connection.run(sql)?.map(|event| event.map_err(CommandError::from)))
            }
        }
    }

    /// What opens further sessions of the same login.
    pub fn another(&self) -> Box<dyn Fn() -> Option<Session> + Send> {
        match self {
            Session::Own { engine, .. } => {
                let engine = engine.clone();
                Box::new(move || {
                    let connection = engine.connect_blocking().ok()?;
                    Some(Session::Own { connection, engine: engine.clone() })
                })
            }
            Session::Server { options, .. } => {
                let options = options.clone();
                Box::new(move || Session::connect(&options).ok())
            }
        }
    }

    /// The session's number.
    pub fn id(&mut self) -> Result<i32, CommandError> {
        match self {
            Session::Own { connection, .. } => Ok(connection.session_id()),
            Session::Server { connection, .. } => {
                let rows = connection.query("SELECT CAST(@@SPID AS int)")?;
                Ok(rows.iter().next().map_or(Ok(0), |row| row.get(0))?)
            }
        }
    }

    /// The database that the last batch left the session in.
    pub fn database(&self) -> String {
        match self {
            Session::Own { connection, .. } => connection.database(),
            Session::Server { connection, .. } => connection.database().to_owned(),
        }
    }

    /// True when the last batch left a transaction open.
    pub fn is_in_transaction(&self) -> bool {
        match self {
            Session::Own { connection, .. } => connection.is_in_transaction(),
            Session::Server { connection, .. } => connection.is_in_transaction(),
        }
    }

    /// Runs a batch of the tool's own whose results are of no interest.
    pub fn execute(&mut self, sql: &str) -> Result<(), CommandError> {
        match self {
            Session::Own { connection, .. } => connection.execute(sql, &[]).map(drop)?,
            Session::Server { connection, .. } => connection.execute(sql).map(drop)?,
        }
        Ok(())
    }

    /// Runs a batch of the tool's own, and gives its first result set.
    pub fn query(&mut self, sql: &str) -> Result<Rows, CommandError> {
        match self {
            Session::Own { connection, .. } => Ok(connection.query(sql, &[])?),
            Session::Server { connection, .. } => Ok(connection.query(sql)?),
        }
    }

    /// What ends a batch of this session.
    pub fn cancel(&self) -> Cancel {
        match self {
            Session::Own { connection, .. } => {
                let canceller = connection.canceller();
                Box::new(move || canceller.cancel())
            }
            Session::Server { connection, .. } => {
                let canceller = connection.canceller();
                Box::new(move || canceller.cancel())
            }
        }
    }

    /// Ends the session, and the engine if it is of this process.
    pub fn close(self) -> Result<(), CommandError> {
        if let Session::Own { connection, engine } = self {
            drop(connection);
            engine.shutdown()?;
        }
        Ok(())
    }
}
