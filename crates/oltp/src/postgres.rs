//! Sessions of PostgreSQL: its protocol by the codec of the Rust drivers, over a blocking socket.
//!
//! ```text
//!   first statement of a transaction: Bind BEGIN, Execute, Bind, Execute, Sync   one message, as its JDBC driver sends it
//!   the others:                                            Bind, Execute, Sync
//!   the end:                         Bind COMMIT, Execute,                Sync
//! ```
//!
//! Numbers and times travel in binary, decimals and texts as texts.

use crate::schema::Table;
use crate::session::{Answer, Session, SessionError, Statement};
use bytes::{BufMut, BytesMut};
use fallible_iterator::FallibleIterator;
use pikepole_embedded::{DateTime, Decimal, Row, SqlType, Value};
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::backend::{DataRowBody, ErrorResponseBody, Message, RowDescriptionBody};
use postgres_protocol::message::frontend::{self, BindError};
use postgres_protocol::{IsNull, Oid};
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::str::FromStr;

/// Types by their ids in `pg_type`.
const INT8: Oid = 20;
const INT2: Oid = 21;
const INT4: Oid = 23;
const FLOAT8: Oid = 701;
const BPCHAR: Oid = 1042;
const VARCHAR: Oid = 1043;
const TIMESTAMP: Oid = 1114;
const NUMERIC: Oid = 1700;

/// Days from 1900-01-01, where `datetime` begins, to 2000-01-01, where `timestamp` does.
const DAYS_BETWEEN: i64 = 36_524;
/// Ticks of a `datetime` in a day.
const DATETIME_DAY: i64 = 86_400 * 300;
/// Bytes read from the socket at once.
const READ_BYTES: usize = 16 << 10;
/// Bytes of rows in a message of a load.
const COPY_BYTES: usize = 64 << 10;

/// The names that the ends of transactions are prepared under.
const BEGIN: &str = "begin";
const COMMIT: &str = "commit";
const ROLLBACK: &str = "rollback";

/// The address of PostgreSQL: `host=... port=... user=... password=... dbname=...`, as its own tools have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostgresOptions {
    host: String,
    port: u16,
    user: String,
    password: String,
    /// The database.
    pub database: String,
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
        };
        for word in text.split_whitespace() {
            let (name, value) = word.split_once('=').ok_or_else(|| format!("`{word}` is not NAME=VALUE"))?;
            match name {
                "host" => options.host = value.to_string(),
                "port" => options.port = value.parse().map_err(|_| format!("`{value}` is no port"))?,
                "user" => options.user = value.to_string(),
                "password" => options.password = value.to_string(),
                "dbname" => options.database = value.to_string(),
                _ => return Err(format!("`{name}` is none of host, port, user, password, dbname")),
            }
        }
        Ok(options)
    }
}

/// A prepared statement.
struct Prepared {
    name: String,
    parameters: &'static [SqlType],
    /// The types of the result's columns, and how each of them is sent.
    columns: Vec<Oid>,
    formats: Vec<i16>,
}

/// A session.
pub struct PostgresSession {
    socket: TcpStream,
    input: BytesMut,
    output: BytesMut,
    statements: Vec<Prepared>,
    /// The columns of the result that is awaited, by type and format.
    expected: Option<usize>,
    in_transaction: bool,
}

impl PostgresSession {
    /// Connects.
    pub fn connect(options: &PostgresOptions) -> Result<PostgresSession, SessionError> {
        let socket = TcpStream::connect((options.host.as_str(), options.port))
            .map_err(|error| SessionError::Other(format!("{}:{}: {error}", options.host, options.port)))?;
        socket.set_nodelay(true)?;
        let (input, output) = (BytesMut::with_capacity(READ_BYTES), BytesMut::with_capacity(READ_BYTES));
        let mut session =
            PostgresSession { socket, input, output, statements: Vec::new(), expected: None, in_transaction: false };
        let parameters =
            [("user", options.user.as_str()), ("database", &options.database), ("client_encoding", "UTF8")];
        frontend::startup_message(parameters, &mut session.output)?;
        session.flush()?;
        session.authenticate(options)?;
        session.receive()?;
        Ok(session)
    }

    fn authenticate(&mut self, options: &PostgresOptions) -> Result<(), SessionError> {
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
                    return Err(SessionError::other(
                        "PostgreSQL asks for a way to log in other than trust or scram-sha-256",
                    ));
                }
            }
            self.flush()?;
        }
    }

    /// Writes what is to be sent.
    fn flush(&mut self) -> Result<(), SessionError> {
        self.socket.write_all(&self.output)?;
        self.output.clear();
        Ok(())
    }

    /// The next message.
    fn message(&mut self) -> Result<Message, SessionError> {
        loop {
            if let Some(message) = Message::parse(&mut self.input)? {
                return Ok(message);
            }
            let mut bytes = [0; READ_BYTES];
            match self.socket.read(&mut bytes)? {
                0 => return Err(SessionError::other("PostgreSQL has closed the connection")),
                count => self.input.extend_from_slice(&bytes[..count]),
            }
        }
    }

    /// Prepares a statement under a name; the types of the columns of its result.
    fn parse(&mut self, name: &str, sql: &str, parameters: &[SqlType]) -> Result<Vec<Oid>, SessionError> {
        let types = parameters.iter().map(type_id).collect::<Result<Vec<Oid>, SessionError>>()?;
        frontend::parse(name, sql, types, &mut self.output)?;
        frontend::describe(b'S', name, &mut self.output)?;
        frontend::sync(&mut self.output);
        self.flush()?;
        let (mut columns, mut error) = (Vec::new(), None);
        loop {
            match self.message()? {
                Message::RowDescription(body) => columns = column_types(&body)?,
                Message::ErrorResponse(body) => error = Some(failed(&body)),
                Message::ReadyForQuery(_) => return error.map_or(Ok(columns), Err),
                _ => {}
            }
        }
    }

    /// Appends the execution of a statement without parameters and without a result.
    fn put_plain(&mut self, name: &str) -> Result<(), SessionError> {
        let values: [i16; 0] = [];
        frontend::bind("", name, [], values, |_, _| Ok(IsNull::Yes), [], &mut self.output).map_err(unfit)?;
        Ok(frontend::execute("", 0, &mut self.output)?)
    }
}

impl Session for PostgresSession {
    fn run(&mut self, sql: &str) -> Result<Answer, SessionError> {
        self.expected = None;
        frontend::query(sql, &mut self.output)?;
        self.flush()?;
        self.receive()
    }

    fn insert(&mut self, table: &Table, rows: &[Vec<Value>]) -> Result<(), SessionError> {
        self.expected = None;
        frontend::query(&format!("COPY {} ({}) FROM STDIN", table.name, table.column_names()), &mut self.output)?;
        let mut lines = String::new();
        for (number, row) in rows.iter().enumerate() {
            put_line(row, &mut lines)?;
            if lines.len() >= COPY_BYTES || number + 1 == rows.len() {
                frontend::CopyData::new(lines.as_bytes())?.write(&mut self.output);
                lines.clear();
                self.flush()?;
            }
        }
        frontend::copy_done(&mut self.output);
        self.flush()?;
        self.receive().map(|_| ())
    }

    fn prepare(&mut self, statements: &[Statement]) -> Result<(), SessionError> {
        for (name, sql) in [(BEGIN, "BEGIN"), (COMMIT, "COMMIT"), (ROLLBACK, "ROLLBACK")] {
            self.parse(name, sql, &[])?;
        }
        for (place, statement) in statements.iter().enumerate() {
            let name = format!("s{place}");
            let columns = self.parse(&name, statement.text, statement.parameters)?;
            let formats = columns.iter().map(|column| i16::from(is_binary(*column))).collect();
            self.statements.push(Prepared { name, parameters: statement.parameters, columns, formats });
        }
        Ok(())
    }

    fn send(&mut self, statement: usize, values: &[Value]) -> Result<(), SessionError> {
        if !self.in_transaction {
            self.put_plain(BEGIN)?;
        }
        let prepared = &self.statements[statement];
        if values.len() != prepared.parameters.len() {
            return Err(SessionError::Other(format!(
                "statement {statement} has {} parameters",
                prepared.parameters.len()
            )));
        }
        let formats = prepared.parameters.iter().map(|ty| i16::from(type_id(ty).is_ok_and(is_binary)));
        let results = prepared.formats.iter().copied();
        frontend::bind("", &prepared.name, formats, values, put_value, results, &mut self.output).map_err(unfit)?;
        frontend::execute("", 0, &mut self.output)?;
        frontend::sync(&mut self.output);
        self.expected = Some(statement);
        self.flush()
    }

    fn send_end(&mut self, commits: bool) -> Result<(), SessionError> {
        self.expected = None;
        self.put_plain(if commits { COMMIT } else { ROLLBACK })?;
        frontend::sync(&mut self.output);
        self.flush()
    }

    fn receive(&mut self) -> Result<Answer, SessionError> {
        let (mut answer, mut error) = (Answer::default(), None);
        // Columns of a text's result, which come with it and are texts.
        let mut columns = Vec::new();
        loop {
            match self.message()? {
                Message::DataRow(body) => {
                    let (types, is_prepared) = match self.expected {
                        Some(statement) => (&self.statements[statement].columns, true),
                        None => (&columns, false),
                    };
                    answer.rows.push(row(&body, types, is_prepared)?);
                }
                Message::CommandComplete(body) => answer.affected = affected(body.tag()?),
                Message::RowDescription(body) => columns = column_types(&body)?,
                Message::ErrorResponse(body) => error = Some(failed(&body)),
                Message::ReadyForQuery(body) => {
                    self.in_transaction = body.status() != b'I';
                    return error.map_or(Ok(answer), Err);
                }
                _ => {}
            }
        }
    }

    fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn unfit(error: BindError) -> SessionError {
    match error {
        BindError::Conversion(error) => SessionError::other(error),
        BindError::Serialization(error) => error.into(),
    }
}

/// The error that a message tells of.
fn failed(body: &ErrorResponseBody) -> SessionError {
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
    let text = format!("{state}: {text}");
    match state.as_str() {
        // A transaction that could not be serialized; a deadlock.
        "40001" | "40P01" => SessionError::Conflict(text),
        // A foreign key; a unique index.
        "23503" | "23505" => SessionError::Constraint(text),
        _ => SessionError::Other(text),
    }
}

/// The rows that a statement changed, from its tag, such as `INSERT 0 1`.
fn affected(tag: &str) -> u64 {
    tag.rsplit(' ').next().and_then(|count| count.parse().ok()).unwrap_or(0)
}

/// The id of the type that a parameter has.
fn type_id(ty: &SqlType) -> Result<Oid, SessionError> {
    Ok(match ty {
        SqlType::TinyInt | SqlType::SmallInt => INT2,
        SqlType::Int => INT4,
        SqlType::BigInt => INT8,
        SqlType::Float => FLOAT8,
        SqlType::Decimal { .. } => NUMERIC,
        SqlType::DateTime => TIMESTAMP,
        SqlType::Char(_) => BPCHAR,
        SqlType::VarChar(_) => VARCHAR,
        other => return Err(SessionError::Other(format!("no parameter of PostgreSQL stands for {other}"))),
    })
}

/// True for types whose values travel in binary.
fn is_binary(oid: Oid) -> bool {
    matches!(oid, INT2 | INT4 | INT8 | FLOAT8 | TIMESTAMP)
}

fn column_types(body: &RowDescriptionBody) -> Result<Vec<Oid>, SessionError> {
    Ok(body.fields().map(|field| Ok(field.type_oid())).collect()?)
}

/// Microseconds since 2000-01-01.
fn microseconds(value: DateTime) -> i64 {
    (value.ticks() - DAYS_BETWEEN * DATETIME_DAY) * 10_000 / 3
}

/// Appends a parameter.
fn put_value(value: &Value, out: &mut BytesMut) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
    match value {
        Value::Null => return Ok(IsNull::Yes),
        Value::TinyInt(number) => out.put_i16(i16::from(*number)),
        Value::SmallInt(number) => out.put_i16(*number),
        Value::Int(number) => out.put_i32(*number),
        Value::BigInt(number) => out.put_i64(*number),
        Value::Float(number) => out.put_f64(*number),
        Value::DateTime(moment) => out.put_i64(microseconds(*moment)),
        Value::Decimal(number) => write!(out, "{number}")?,
        Value::Str(text) => out.put_slice(text.as_bytes()),
        other => return Err(format!("no value of PostgreSQL stands for {other:?}").into()),
    }
    Ok(IsNull::No)
}

/// Appends a row as COPY reads it.
fn put_line(row: &[Value], out: &mut String) -> Result<(), SessionError> {
    for (place, value) in row.iter().enumerate() {
        if place > 0 {
            out.push('\t');
        }
        let written = match value {
            Value::Null => out.write_str("\\N"),
            Value::TinyInt(number) => write!(out, "{number}"),
            Value::SmallInt(number) => write!(out, "{number}"),
            Value::Int(number) => write!(out, "{number}"),
            Value::BigInt(number) => write!(out, "{number}"),
            Value::Float(number) => write!(out, "{number}"),
            Value::Decimal(number) => write!(out, "{number}"),
            Value::DateTime(moment) => {
                let (days, ticks) = (moment.ticks().div_euclid(DATETIME_DAY), moment.ticks().rem_euclid(DATETIME_DAY));
                let (seconds, milliseconds) = (ticks / 300, ticks % 300 * 10 / 3);
                let days = days - DAYS_BETWEEN;
                // A date and a number of days is a date; PostgreSQL reads the time of day behind it.
                let (year, month, day) = ymd(days);
                let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
                write!(out, "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{milliseconds:03}")
            }
            // The texts of loads have none of the characters that COPY takes for something else.
            Value::Str(text) => out.write_str(text),
            other => return Err(SessionError::Other(format!("no value of PostgreSQL stands for {other:?}"))),
        };
        written.map_err(SessionError::other)?;
    }
    out.push('\n');
    Ok(())
}

/// The date so many days after 2000-01-01.
fn ymd(days: i64) -> (i32, i32, i32) {
    const DAYS_TO_2000: i64 = 730_119;
    let days = i32::try_from(days + DAYS_TO_2000).ok();
    days.and_then(pikepole_embedded::Date::from_days).map_or((2000, 1, 1), |date| date.ymd())
}

fn row(body: &DataRowBody, types: &[Oid], is_prepared: bool) -> Result<Row, SessionError> {
    let mut values = Vec::with_capacity(types.len());
    let (mut ranges, bytes) = (body.ranges(), body.buffer());
    while let Some(range) = ranges.next()? {
        let oid = types.get(values.len()).copied().unwrap_or(VARCHAR);
        values.push(match range.and_then(|range| bytes.get(range)) {
            None => Value::Null,
            Some(bytes) if is_prepared && is_binary(oid) => binary(oid, bytes)?,
            Some(bytes) => text(oid, bytes)?,
        });
    }
    Ok(Row::new([].into(), values))
}

/// A value that came in binary.
fn binary(oid: Oid, bytes: &[u8]) -> Result<Value, SessionError> {
    let value = match oid {
        INT2 => bytes.try_into().ok().map(|bytes| Value::SmallInt(i16::from_be_bytes(bytes))),
        INT4 => bytes.try_into().ok().map(|bytes| Value::Int(i32::from_be_bytes(bytes))),
        INT8 => bytes.try_into().ok().map(|bytes| Value::BigInt(i64::from_be_bytes(bytes))),
        FLOAT8 => bytes.try_into().ok().map(|bytes| Value::Float(f64::from_be_bytes(bytes))),
        _ => bytes.try_into().ok().and_then(|bytes| moment(i64::from_be_bytes(bytes))).map(Value::DateTime),
    };
    value.ok_or_else(|| SessionError::Other(format!("{} bytes are no value of the type {oid}", bytes.len())))
}

/// The moment so many microseconds after 2000-01-01.
fn moment(microseconds: i64) -> Option<DateTime> {
    let ticks = microseconds.checked_mul(3)?.checked_add(5_000)?.div_euclid(10_000);
    DateTime::from_ticks(ticks + DAYS_BETWEEN * DATETIME_DAY)
}

/// A value that came as a text.
fn text(oid: Oid, bytes: &[u8]) -> Result<Value, SessionError> {
    let text = std::str::from_utf8(bytes).map_err(SessionError::other)?;
    let value = match oid {
        INT2 | INT4 | INT8 => text.parse().ok().map(Value::BigInt),
        FLOAT8 => text.parse().ok().map(Value::Float),
        NUMERIC => Decimal::from_literal(text).map(Value::Decimal),
        _ => Some(Value::Str(text.to_string())),
    };
    value.ok_or_else(|| SessionError::Other(format!("`{text}` is no value of the type {oid}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_as_the_server_s_own_tools_read_them() {
        let options: PostgresOptions = "host=db port=5433 user=u password=p dbname=d".parse().expect("options");
        assert_eq!((options.host.as_str(), options.port, options.user.as_str()), ("db", 5433, "u"));
        assert_eq!((options.password.as_str(), options.database.as_str()), ("p", "d"));
        assert!("host".parse::<PostgresOptions>().is_err() && "sslmode=disable".parse::<PostgresOptions>().is_err());
    }

    #[test]
    fn lines_are_those_of_copy() {
        let day = DateTime::from_ticks((DAYS_BETWEEN + 59) * DATETIME_DAY + 3661 * 300 + 150).expect("a moment");
        let amount = Decimal::new(-1050, 6, 2).expect("an amount");
        let row =
            [Value::Int(7), Value::Null, Value::Decimal(amount), Value::DateTime(day), Value::Str("a b".to_string())];
        let mut line = String::new();
        put_line(&row, &mut line).expect("a line");
        assert_eq!(line, "7\t\\N\t-10.50\t2000-02-29 01:01:01.500\ta b\n");
    }

    #[test]
    fn moments_come_back_as_they_went() {
        for ticks in [0, 1, 2, 299, DATETIME_DAY * 40_000 + 12_345] {
            let there = DateTime::from_ticks(ticks + DAYS_BETWEEN * DATETIME_DAY).expect("a moment");
            assert_eq!(moment(microseconds(there)), Some(there), "{ticks}");
        }
    }

    #[test]
    fn values_are_read_in_both_forms() {
        assert_eq!(binary(INT4, &[0, 0, 1, 2]).ok(), Some(Value::Int(258)));
        assert!(binary(INT4, &[1]).is_err());
        assert_eq!(text(INT8, b"-5").ok(), Some(Value::BigInt(-5)));
        assert!(matches!(text(NUMERIC, b"-12.50"), Ok(Value::Decimal(number)) if number.mantissa() == -1250));
        assert!(text(NUMERIC, b"NaN").is_err());
        assert_eq!((affected("INSERT 0 3"), affected("BEGIN")), (3, 0));
    }
}
