//! Connecting as sqlcmd's options and `:connect` say.

use super::super::password;
use super::options::{Encryption, Options};
use super::settings;
use pikepole_client::{Address, ClientError, ConnectOptions, Encryption as Wire, TlsCure, Trust};
use std::time::Duration;

/// A login that may wait for ever.
const NO_LIMIT: Duration = Duration::from_secs(u32::MAX as u64);
/// The program's name in the server's views.
const APPLICATION: &str = "SQLCMD";

/// A manner of connecting, apart from the server and the login.
#[derive(Clone)]
pub struct Manner {
    /// `-N`
    pub encryption: Encryption,
    /// `-C`
    pub trusts_certificate: bool,
    /// `-F`
    pub certificate_host: Option<String>,
}

impl Manner {
    /// The manner that the options ask for. The vendor's tools before version 18 are known by their folder's name; they
    /// encrypt what the server asks for and believe any certificate.
    pub fn new(options: &Options, is_older_tool: bool) -> Manner {
        let default = if is_older_tool { Encryption::Optional } else { Encryption::Mandatory };
        Manner {
            encryption: options.encryption.unwrap_or(default),
            trusts_certificate: options.trusts_certificate,
            certificate_host: options.certificate_host.clone(),
        }
    }

    fn wire(&self) -> Wire {
        let trust = if self.trusts_certificate { Trust::Any } else { Trust::System };
        match self.encryption {
            Encryption::Strict => Wire::Strict(trust),
            Encryption::Mandatory => Wire::Negotiated { required: true, trust },
            // A client that is content without encryption does not verify the server.
            Encryption::Optional => Wire::Negotiated { required: false, trust: Trust::Any },
        }
    }

    /// The client's options for a server and a login.
    ///
    /// # Errors
    /// A server's name that is of no TCP address.
    pub fn options(&self, server: &str, user: &str, password: &str, seconds: u64) -> Result<ConnectOptions, String> {
        Ok(ConnectOptions {
            application: APPLICATION.to_owned(),
            encryption: self.wire(),
            certificate_host: self.certificate_host.clone(),
            login_time: if seconds == 0 { NO_LIMIT } else { Duration::from_secs(seconds) },
            ..ConnectOptions::new(address(server)?, user, password)
        })
    }
}

/// The address that `-S` names: `[tcp:]host[\\instance][,port]`.
fn address(server: &str) -> Result<Address, String> {
    let (protocol, rest) = match server.split_once(':') {
        Some((protocol, rest)) if matches!(protocol, "tcp" | "np" | "lpc" | "admin") => (protocol, rest),
        _ => ("tcp", server),
    };
    if protocol != "tcp" {
        return Err(format!("'{server}': Only TCP connections are supported."));
    }
    let (host, port) = match rest.split_once(',') {
        Some((host, port)) => (host.trim(), Some(port.trim())),
        None => (rest.trim(), None),
    };
    let host = match host.split_once('\\') {
        // With a port the instance's name says nothing.
        Some((host, _)) if port.is_some() => host,
        Some(_) => return Err(format!("'{server}': The port of a named instance has to be given: server,port.")),
        None => host,
    };
    let host = match host.to_ascii_lowercase().as_str() {
        "" | "." | "(local)" => "localhost",
        "(localdb)" => return Err(format!("'{server}': There is no LocalDB.")),
        _ => host,
    };
    match port {
        Some(port) => format!("{host},{port}").parse(),
        None => host.parse(),
    }
}

/// The password of a login: the given one, the environment's, or the one that is typed.
///
/// # Errors
/// No terminal to ask at.
pub fn password_of(given: Option<&str>, is_restricted: bool) -> Result<String, String> {
    if let Some(given) = given {
        return Ok(given.to_owned());
    }
    if let Some(password) = settings::environment("SQLCMDPASSWORD").filter(|_| !is_restricted) {
        return Ok(password);
    }
    if !password::can_ask() {
        return Err("There is no password: give it in SQLCMDPASSWORD, or with -P.".to_owned());
    }
    password::ask_hidden("Password: ").map_err(|error| error.to_string())
}

/// The lines that report a connection that could not be made.
pub fn failure(error: &ClientError) -> Vec<String> {
    let line = |text: &str| format!("Sqlcmd: Error: Pikepole : {text}.");
    match error {
        ClientError::Sql(error) => vec![line(&error.message)],
        ClientError::Unreachable { .. } => {
            vec![line("Login timeout expired"), line(&format!("TCP Provider: {error}"))]
        }
        ClientError::Tls { text, cure } => {
            let cure = cure.map_or(String::new(), |cure| format!("; {}", words_of(cure)));
            vec![line(&format!("SSL Provider: {text}{cure}")), line("Client unable to establish connection")]
        }
        ClientError::Broken(error) if error.kind() == std::io::ErrorKind::TimedOut => {
            vec![line("Login timeout expired")]
        }
        other => vec![line(&other.to_string())],
    }
}

/// The cure of a failed handshake, by the options of this tool.
fn words_of(cure: TlsCure) -> &'static str {
    match cure {
        TlsCure::Unencrypted => "-No connects to a server without TLS",
        TlsCure::Encrypted => "-Nm encrypts the connection",
        TlsCure::OtherName => "-F NAME names the certificate's host, -C believes any certificate",
        TlsCure::OtherTime => "`pikepole trust` makes another certificate, -C believes this one",
        TlsCure::UnknownSigner => {
            "-C believes any certificate, SSL_CERT_FILE=FILE those in a file (server-certificate.pem in the server's folder, or the \
             authority's that `pikepole trust` prints)"
        }
    }
}

/// The arguments of `:connect`.
#[derive(Debug, PartialEq, Eq)]
pub struct ConnectCommand {
    /// The server.
    pub server: String,
    /// `-l`
    pub seconds: Option<u64>,
    /// `-U`
    pub user: Option<String>,
    /// `-P`
    pub password: Option<String>,
    /// `-N`
    pub encryption: Option<Encryption>,
    /// `-C`
    pub trusts_certificate: bool,
    /// `-F`
    pub certificate_host: Option<String>,
}

impl ConnectCommand {
    /// Reads the arguments; none when they are no command.
    pub fn parse(text: &str) -> Option<ConnectCommand> {
        let words = words(text)?;
        let (server, rest) = words.split_first().filter(|(server, _)| !server.starts_with('-'))?;
        let options = Options::parse(rest).ok()?;
        let seconds = options.setting("SQLCMDLOGINTIMEOUT").and_then(|text| text.parse().ok());
        Some(ConnectCommand {
            server: server.clone(),
            seconds,
            user: options.setting("SQLCMDUSER").map(str::to_owned),
            password: options.password,
            encryption: options.encryption,
            trusts_certificate: options.trusts_certificate,
            certificate_host: options.certificate_host,
        })
    }
}

/// The words of a line; those in quotes may have blanks in them. None when a quote is not closed.
fn words(text: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut is_quoted, mut is_word) = (Vec::new(), String::new(), false, false);
    for c in text.chars() {
        match c {
            '"' => (is_quoted, is_word) = (!is_quoted, true),
            c if c.is_whitespace() && !is_quoted => {
                if std::mem::take(&mut is_word) {
                    words.push(std::mem::take(&mut word));
                }
            }
            c => {
                word.push(c);
                is_word = true;
            }
        }
    }
    if is_word {
        words.push(word);
    }
    (!is_quoted).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_named_as_the_vendor_names_them() {
        for (server, host, port) in [
            ("", "localhost", 1433),
            (".", "localhost", 1433),
            ("(local)", "localhost", 1433),
            ("db", "db", 1433),
            ("tcp:db,1500", "db", 1500),
            ("db, 1500", "db", 1500),
            ("tcp:db\\SQLEXPRESS,1500", "db", 1500),
            (".,1500", "localhost", 1500),
            ("::1", "::1", 1433),
            ("127.0.0.1,15", "127.0.0.1", 15),
        ] {
            assert_eq!(address(server), Ok(Address { host: host.to_owned(), port }), "{server}");
        }
        for server in ["np:db", "lpc:db", "admin:db", "db\\SQLEXPRESS", "(localdb)\\a", "db,x"] {
            assert!(address(server).is_err(), "{server}");
        }
    }

    #[test]
    fn the_arguments_of_connect_are_read() {
        let command = ConnectCommand::parse("db,1500 -l 5 -U sa -P \"a b\" -No -C").expect("a command");
        assert_eq!((command.server.as_str(), command.seconds), ("db,1500", Some(5)));
        assert_eq!((command.user.as_deref(), command.password.as_deref()), (Some("sa"), Some("a b")));
        assert_eq!((command.encryption, command.trusts_certificate), (Some(Encryption::Optional), true));
        for wrong in ["", "-U sa", "db -U", "db -P \"a", "db -? x y", "db other"] {
            assert!(ConnectCommand::parse(wrong).is_none_or(|command| command.user.is_none()), "{wrong}");
        }
        assert_eq!(ConnectCommand::parse("db other"), None);
    }
}
