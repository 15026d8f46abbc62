//! Sessions of PostgreSQL: its simple query protocol by the codec of the Rust drivers, over a blocking socket.

use crate::engine::{Engine, EngineError, Row};
use crate::queries::Dialect;
use crate::schema::Table;
use bytes::BytesMut;
use fallible_iterator::FallibleIterator;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::backend::{DataRowBody, ErrorResponseBody, Message};
use postgres_protocol::message::frontend;
use std::fs::File;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

/// Bytes read from the socket at once.
const READ_BYTES: usize = 64 << 10;
/// Bytes of a file in a message of a load.
const COPY_BYTES: usize = 256 << 10;
/// The SQLSTATE of a statement that was cancelled.
const CANCELLED: &str = "57014";

/// The address of PostgreSQL: `host=... port=... user=... password=... dbname=... options=...`, as its own tools have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostgresOptions {
    host: String,
    port: u16,
    user: String,
    password: String,
    database: String,
    /// Settings of the session, `-cNAME=VALUE` each.
    options: Vec<String>,
}

impl FromStr for PostgresOptions {
    type Err = String;

    fn from_str(text: &str) -> Result<PostgresOptions, String> {
        let mut options = PostgresOptions {
            host: "127.0.0.1".to_string(),
            port: 5432,
            user: "postgres".to_string(),
            password: String::new(),
            database: "postgres".to_string(),
            options: Vec::new(),
        };
        for word in text.split_whitespace() {
            let (name, value) = word.split_once('=').ok_or_else(|| format!("`{word}` is not NAME=VALUE"))?;
            match name {
                "host" => options.host = value.to_string(),
                "port" => options.port = value.parse().map_err(|_| format!("`{value}` is no port"))?,
                "user" => options.user = value.to_string(),
                "password" => options.password = value.to_string(),
                "dbname" => options.database = value.to_string(),
                "options" => options.options.push(value.to_string()),
                _ => return Err(format!("`{name}` is none of host, port, user, password, dbname, options")),
            }
        }
        Ok(options)
    }
}

/// A session.
pub struct Postgres {
    socket: TcpStream,
    input: BytesMut,
    output: BytesMut,
}

impl Postgres {
    /// Connects.
    pub fn connect(options: &PostgresOptions) -> Result<Postgres, EngineError> {
        let socket = TcpStream::connect((options.host.as_str(), options.port))
            .map_err(|error| EngineError::Other(format!("{}:{}: {error}", options.host, options.port)))?;
        socket.set_nodelay(true)?;
        let mut session = Postgres { socket, input: BytesMut::new(), output: BytesMut::new() };
        let settings = options.options.join(" ");
        let parameters = [
            ("user", options.user.as_str()),
            ("database", &options.database),
            ("client_encoding", "UTF8"),
            ("options", &settings),
        ];
        frontend::startup_message(parameters, &mut session.output)?;
        session.flush()?;
        session.authenticate(options)?;
        session.rows()?;
        Ok(session)
    }

    fn authenticate(&mut self, options: &PostgresOptions) -> Result<(), EngineError> {
        let mut scram = ScramSha256::new(options.password.as_bytes(), ChannelBinding::unsupported());
        loop {
            match self.message()? {
                Message::AuthenticationOk => return Ok(()),
                Message::AuthenticationSasl(_) => {
                    frontend::sasl_initial_response(SCRAM_SHA_256, scram.message(), &mut self.output)?;
                }
                Message::AuthenticationSaslContinue(body) => {
                    scram.update(body.data())?;
                    frontend::sasl_response(scram.message(), &mut self.output)?;
                }
                Message::AuthenticationSaslFinal(body) => scram.finish(body.data())?,
                Message::ErrorResponse(body) => return Err(failed(&body)),
                _ => {
                    return Err(EngineError::other(
                        "PostgreSQL asks for a way to log in other than trust or scram-sha-256",
                    ));
                }
            }
            self.flush()?;
        }
    }

    /// Sends the pending output.
    fn flush(&mut self) -> Result<(), EngineError> {
        self.socket.write_all(&self.output)?;
        self.output.clear();
        Ok(())
    }

    /// The next message.
    fn message(&mut self) -> Result<Message, EngineError> {
        loop {
            if let Some(message) = Message::parse(&mut self.input)? {
                return Ok(message);
            }
            let mut bytes = [0; READ_BYTES];
            match self.socket.read(&mut bytes)? {
                0 => return Err(EngineError::other("PostgreSQL has closed the connection")),
                count => self.input.extend_from_slice(&bytes[..count]),
            }
        }
    }

    /// Reads an answer to its end.
    fn rows(&mut self) -> Result<Vec<Row>, EngineError> {
        let (mut rows, mut error) = (Vec::new(), None);
        loop {
            match self.message()? {
                Message::DataRow(body) => rows.push(row(&body)?),
                Message::ErrorResponse(body) => error = Some(failed(&body)),
                Message::ReadyForQuery(_) => return error.map_or(Ok(rows), Err),
                _ => {}
            }
        }
    }
}

impl Engine for Postgres {
    fn name(&self) -> &str {
        "PostgreSQL"
    }

    fn dialect(&self) -> Dialect {
        Dialect::Ansi
    }

    fn set_limit(&mut self, limit: Duration) -> Result<(), EngineError> {
        self.run(&format!("SET statement_timeout = {}", limit.as_millis().max(1))).map(|_| ())
    }

    fn run(&mut self, sql: &str) -> Result<Vec<Row>, EngineError> {
        frontend::query(sql, &mut self.output)?;
        self.flush()?;
        self.rows()
    }

    fn make_database(&mut self) -> Result<(), EngineError> {
        Ok(())
    }

    fn load(&mut self, table: &Table, file: &Path) -> Result<(), EngineError> {
        let failed = |error| EngineError::Other(format!("{}: {error}", file.display()));
        let mut file = File::open(file).map_err(failed)?;
        frontend::query(&format!("COPY {} FROM STDIN WITH (DELIMITER '|')", table.name), &mut self.output)?;
        let mut bytes = vec![0; COPY_BYTES];
        loop {
            let count = file.read(&mut bytes).map_err(failed)?;
            if count == 0 {
                break;
            }
            frontend::CopyData::new(&bytes[..count])?.write(&mut self.output);
            self.flush()?;
        }
        frontend::copy_done(&mut self.output);
        self.flush()?;
        self.rows().map(|_| ())
    }

    fn finishing(&self) -> Vec<String> {
        vec!["VACUUM ANALYZE".to_string(), "CHECKPOINT".to_string()]
    }
}

/// The failure that a message reports.
fn failed(body: &ErrorResponseBody) -> EngineError {
    let (mut state, mut text) = (String::new(), String::new());
    let mut fields = body.fields();
    while let Ok(Some(field)) = fields.next() {
        let value = || String::from_utf8_lossy(field.value_bytes()).into_owned();
        match field.type_() {
            b'C' => state = value(),
            b'M' => text = value(),
            _ => {}
        }
    }
    if state == CANCELLED { EngineError::OverLimit } else { EngineError::Other(format!("{state}: {text}")) }
}

fn row(body: &DataRowBody) -> Result<Row, EngineError> {
    let mut fields = Vec::new();
    let (mut ranges, bytes) = (body.ranges(), body.buffer());
    while let Some(range) = ranges.next()? {
        let text = range.and_then(|range| bytes.get(range)).map(std::str::from_utf8).transpose();
        fields.push(text.map_err(EngineError::other)?.map(str::to_string));
    }
    Ok(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_as_the_server_s_own_tools_read_them() {
        let text = "host=db port=5433 user=u password=p dbname=d options=-cwork_mem=64MB options=-cjit=off";
        let options: PostgresOptions = text.parse().expect("options");
        assert_eq!((options.host.as_str(), options.port, options.user.as_str()), ("db", 5433, "u"));
        assert_eq!((options.password.as_str(), options.database.as_str()), ("p", "d"));
        assert_eq!(options.options, ["-cwork_mem=64MB", "-cjit=off"]);
        assert!("host".parse::<PostgresOptions>().is_err() && "sslmode=disable".parse::<PostgresOptions>().is_err());
    }
}
