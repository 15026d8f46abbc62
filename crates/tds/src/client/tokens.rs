//! The tokens of a server's reply.

use crate::error::TdsError;
use crate::read::Reader;
use crate::value::{Place, TypeInfo, TypeToken};
use crate::version::TdsVersion;
use pikepole_types::{SqlError, SqlType, Value};

/// The one version whose tokens are read; 8.0 has the same.
const VERSION: TdsVersion = TdsVersion::V7_4;
/// The command that a SELECT's end names.
const SELECT: u16 = 0xC1;
/// The count that says: no metadata.
const NO_COLUMNS: u16 = 0xFFFF;

/// One token of a reply.
#[derive(Debug, Clone, PartialEq)]
pub enum ReplyToken {
    /// A result set begins: names, types, whether NULL may be there.
    Columns(Vec<(String, SqlType, bool)>),
    /// A row of it.
    Row(Vec<Value>),
    /// A statement or procedure has ended.
    Done {
        /// Rows, when they are counted; those of variables that were assigned to are not.
        rows: Option<u64>,
        /// It failed.
        error: bool,
        /// This acknowledges an attention.
        attention: bool,
    },
    /// An error.
    Error(SqlError),
    /// A message that is no error.
    Message(SqlError),
    /// The login is through.
    LoginAck,
    /// What a procedure returned.
    Status(i32),
    /// An output parameter.
    Returned(Value),
    /// The session's database from now on.
    Database(String),
    /// Packets to the server have this size from now on.
    PacketBytes(usize),
    /// The transaction that requests name from now on; 0 is none.
    Transaction(u64),
    /// Something else that a client may pass over.
    Other,
}

/// Reads tokens; it keeps the columns of the result set under way, up to the end of its statement.
#[derive(Debug, Default)]
pub struct TokenReader {
    columns: Vec<(TypeInfo, bool)>,
    /// The server that the last message was of.
    server: String,
}

impl TokenReader {
    /// The server's name, as its messages say; empty before the first of them.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Takes a token from the front of `bytes`; `None` when it is not whole yet, and nothing is taken.
    ///
    /// # Errors
    /// What is no token of the protocol. The stream cannot be read any further then.
    pub fn next(&mut self, bytes: &mut &[u8]) -> Result<Option<ReplyToken>, TdsError> {
        let mut reader = Reader::new(bytes);
        match self.read(&mut reader) {
            Ok(token) => {
                *bytes = reader.rest();
                Ok(Some(token))
            }
            Err(TdsError::Truncated(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn read(&mut self, reader: &mut Reader<'_>) -> Result<ReplyToken, TdsError> {
        const WHAT: &str = "a token";
        match reader.u8(WHAT)? {
            0x81 => self.read_columns(reader),
            0xD1 => self.read_row(reader, &[]),
            0xD2 => {
                let bitmap = reader.take(self.columns.len().div_ceil(8), WHAT)?;
                self.read_row(reader, bitmap)
            }
            0xFD..=0xFF => {
                let (status, command, rows) = (reader.u16(WHAT)?, reader.u16(WHAT)?, reader.u64(WHAT)?);
                let assigns = command == SELECT && self.columns.is_empty();
                self.columns.clear();
                let rows = (status & 0x10 != 0 && !assigns).then_some(rows);
                Ok(ReplyToken::Done { rows, error: status & 0x02 != 0, attention: status & 0x20 != 0 })
            }
            0xAA => self.read_message(reader).map(ReplyToken::Error),
            0xAB => self.read_message(reader).map(ReplyToken::Message),
            0xE3 => read_change(reader),
            0x79 => Ok(ReplyToken::Status(reader.u32(WHAT)? as i32)),
            0xAC => read_returned(reader),
            0xAD => {
                counted(reader)?;
                Ok(ReplyToken::LoginAck)
            }
            // The columns that rows are ordered by.
            0xA9 => {
                counted(reader)?;
                Ok(ReplyToken::Other)
            }
            0xAE => {
                while reader.u8(WHAT)? != 0xFF {
                    let length = reader.u32(WHAT)? as usize;
                    reader.take(length, WHAT)?;
                }
                Ok(ReplyToken::Other)
            }
            other => Err(TdsError::malformed(format!("Token 0x{other:02X} is unknown"))),
        }
    }

    fn read_columns(&mut self, reader: &mut Reader<'_>) -> Result<ReplyToken, TdsError> {
        const WHAT: &str = "columns";
        let count = reader.u16(WHAT)?;
        let (mut columns, mut told) = (Vec::new(), Vec::new());
        if count != NO_COLUMNS {
            for _ in 0..count {
                let (_user_type, flags) = (reader.u32(WHAT)?, reader.u16(WHAT)?);
                let info = TypeInfo::read_told(reader, VERSION)?;
                if matches!(info.token(), TypeToken::Text | TypeToken::NText | TypeToken::Image) {
                    for _ in 0..reader.u8(WHAT)? {
                        reader.long_text(WHAT)?;
                    }
                }
                let nullable = flags & 1 != 0;
                told.push((reader.short_text(WHAT)?, info.sql_type(), nullable));
                columns.push((info, nullable));
            }
        }
        self.columns = columns;
        Ok(ReplyToken::Columns(told))
    }

    fn read_message(&mut self, reader: &mut Reader<'_>) -> Result<SqlError, TdsError> {
        const WHAT: &str = "a message";
        within(counted(reader)?, |body| {
            let number = body.u32(WHAT)? as i32;
            let [state, severity] = body.array(WHAT)?;
            let text = body.long_text(WHAT)?;
            self.server = body.short_text(WHAT)?;
            let procedure = body.short_text(WHAT)?;
            let line = body.u32(WHAT)?;
            let procedure = (!procedure.is_empty()).then_some(procedure);
            Ok(SqlError { line, procedure, ..SqlError::new(number, severity, state, text) })
        })
    }

    fn read_row(&self, reader: &mut Reader<'_>, nulls: &[u8]) -> Result<ReplyToken, TdsError> {
        let mut values = vec![Value::Null; self.columns.len()];
        for (place, ((info, nullable), value)) in self.columns.iter().zip(&mut values).enumerate() {
            let is_left_out = *nullable && nulls.get(place / 8).is_some_and(|byte| byte & (1 << (place % 8)) != 0);
            if !is_left_out {
                info.read_value(reader, Place::Row, value)?;
            }
        }
        Ok(ReplyToken::Row(values))
    }
}

/// The body of a token that begins with the count of its bytes.
fn counted<'a>(reader: &mut Reader<'a>) -> Result<&'a [u8], TdsError> {
    const WHAT: &str = "a token";
    let length = usize::from(reader.u16(WHAT)?);
    reader.take(length, WHAT)
}

/// Reads within the body of a token, which is whole: that its bytes end early is no reason to wait for more.
fn within<T>(body: &[u8], read: impl FnOnce(&mut Reader<'_>) -> Result<T, TdsError>) -> Result<T, TdsError> {
    read(&mut Reader::new(body)).map_err(|error| match error {
        TdsError::Truncated(what) => TdsError::malformed(format!("{what} is longer than it says")),
        other => other,
    })
}

fn read_change(reader: &mut Reader<'_>) -> Result<ReplyToken, TdsError> {
    const WHAT: &str = "a change of the environment";
    within(counted(reader)?, |body| {
        Ok(match body.u8(WHAT)? {
            1 => {
                let name = body.short_text(WHAT)?;
                let _former = body.short_text(WHAT)?;
                ReplyToken::Database(name)
            }
            4 => match body.short_text(WHAT)?.parse() {
                Ok(bytes) => ReplyToken::PacketBytes(bytes),
                Err(_) => return Err(TdsError::malformed("The size of packets is no number")),
            },
            8 => {
                let _length = body.u8(WHAT)?;
                ReplyToken::Transaction(body.u64(WHAT)?)
            }
            9 | 10 | 17 => ReplyToken::Transaction(0),
            _ => ReplyToken::Other,
        })
    })
}

fn read_returned(reader: &mut Reader<'_>) -> Result<ReplyToken, TdsError> {
    const WHAT: &str = "a returned value";
    let _ordinal = reader.u16(WHAT)?;
    let _name = reader.short_text(WHAT)?;
    // Status, user type, flags.
    reader.take(7, WHAT)?;
    let info = TypeInfo::read_told(reader, VERSION)?;
    let mut value = Value::Null;
    info.read_value(reader, Place::Parameter, &mut value)?;
    Ok(ReplyToken::Returned(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Column, ColumnFlags, Command, Done, DoneKind, EnvChange, HEADER_BYTES, MessageWriter, ReturnValue};
    use pikepole_types::{Collation, Length};

    /// A reply of all tokens that the server writes, without its packet's header; and what a client reads of it.
    fn reply() -> (Vec<u8>, Vec<ReplyToken>) {
        let mut writer = MessageWriter::new(VERSION, 51);
        let nullable = ColumnFlags { nullable: true, ..ColumnFlags::default() };
        let types = [
            ("id", SqlType::Int, ColumnFlags::default()),
            ("text", SqlType::NVarChar(Length::Max), nullable),
            ("small", SqlType::VarChar(Length::Limit(10)), nullable),
        ];
        let columns = types.map(|(name, ty, flags)| Column::new(name, ty, flags, VERSION));
        let rows = [
            vec![Value::Int(1), Value::Str("a😀".repeat(100)), Value::Str("b".to_string())],
            vec![Value::Int(2), Value::Null, Value::Null],
        ];
        writer.columns(&columns);
        let mut tokens =
            vec![ReplyToken::Columns(types.map(|(name, ty, flags)| (name.to_string(), ty, flags.nullable)).to_vec())];
        for row in rows {
            writer.row(&columns, &row).expect("it fits");
            tokens.push(ReplyToken::Row(row));
        }
        writer.order(&[1]);
        tokens.push(ReplyToken::Other);
        writer.done(DoneKind::Statement, &Done { rows: Some(2), ..Done::new(Command::Select) });
        tokens.push(ReplyToken::Done { rows: Some(2), error: false, attention: false });
        let error = SqlError { line: 7, ..SqlError::new(2627, 14, 1, "twice").in_procedure("p") };
        writer.message(&error, "server");
        tokens.push(ReplyToken::Error(error));
        let said = SqlError { line: 3, ..SqlError::new(0, 0, 1, "said") };
        writer.message(&said, "server");
        tokens.push(ReplyToken::Message(said));
        for (change, token) in [
            (EnvChange::PacketBytes { new: 8000, old: 4096 }, ReplyToken::PacketBytes(8000)),
            (EnvChange::Begin(5), ReplyToken::Transaction(5)),
            (EnvChange::Rollback(5), ReplyToken::Transaction(0)),
            (EnvChange::Database { new: "a", old: "b" }, ReplyToken::Database("a".to_owned())),
            (EnvChange::ResetConnection, ReplyToken::Other),
        ] {
            writer.env_change(&change);
            tokens.push(token);
        }
        writer.return_status(-6);
        tokens.push(ReplyToken::Status(-6));
        let value = Value::BigInt(9);
        writer
            .return_value(&ReturnValue {
                is_result: false,
                ordinal: 0,
                name: "@n",
                ty: SqlType::BigInt,
                numeric: false,
                collation: Collation::DEFAULT,
                value: &value,
            })
            .expect("it fits");
        tokens.push(ReplyToken::Returned(value));
        writer.done(DoneKind::Statement, &Done::attention());
        tokens.push(ReplyToken::Done { rows: None, error: false, attention: true });
        writer.finish();
        (writer.ready()[HEADER_BYTES..].to_vec(), tokens)
    }

    #[test]
    fn a_client_reads_what_the_server_writes_however_it_is_cut() {
        let (bytes, expected) = reply();
        for step in [1, 2, 7, 100, bytes.len()] {
            let (mut reader, mut tokens, mut from) = (TokenReader::default(), Vec::new(), 0);
            for end in (0..bytes.len()).step_by(step).chain([bytes.len()]) {
                let mut rest = &bytes[from..end];
                while let Some(token) = reader.next(&mut rest).expect("tokens") {
                    tokens.push(token);
                }
                from = end - rest.len();
            }
            assert_eq!(tokens, expected, "in pieces of {step}");
            assert_eq!(reader.server(), "server");
        }
    }

    #[test]
    fn the_count_of_an_assignment_is_none() {
        let done = |rows: u8| [0xFD, 0x10, 0, 0xC1, 0, rows, 0, 0, 0, 0, 0, 0, 0];
        let mut writer = MessageWriter::new(VERSION, 51);
        writer.columns(&[Column::new("c", SqlType::Int, ColumnFlags::default(), VERSION)]);
        writer.finish();
        let with_columns = [&writer.ready()[8..], &done(2)].concat();
        let rows = |bytes: &[u8]| {
            let (mut reader, mut rest, mut last) = (TokenReader::default(), bytes, None);
            while let Some(token) = reader.next(&mut rest).expect("tokens") {
                last = Some(token);
                if rest.is_empty() {
                    break;
                }
            }
            match last {
                Some(ReplyToken::Done { rows, .. }) => rows,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!((rows(&done(2)), rows(&with_columns)), (None, Some(2)));
    }

    #[test]
    fn bytes_that_are_no_reply_are_errors_and_never_a_panic() {
        let (bytes, _) = reply();
        let mut random = 88172645463325252u64;
        for _ in 0..20_000 {
            let mut bad = bytes.clone();
            for _ in 0..3 {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                let place = random as usize % bad.len();
                bad[place] = (random >> 32) as u8;
            }
            let (mut reader, mut rest) = (TokenReader::default(), bad.as_slice());
            while let Ok(Some(_)) = reader.next(&mut rest) {}
        }
        let mut short = &[0xAB, 3, 0, 1, 2, 3, 4][..];
        assert!(matches!(TokenReader::default().next(&mut short), Err(TdsError::Malformed(_))));
        assert!(matches!(TokenReader::default().next(&mut &[0x00][..]), Err(TdsError::Malformed(_))));
    }
}
