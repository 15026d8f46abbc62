//! Procedure calls: one or several in a message.
//!
//! ```text
//!   headers, then for each call
//!     name: length (2 bytes) and text | 0xFFFF and a number
//!     flags (2 bytes)
//!     parameters: name (1 byte of length, text), status, type, value
//!   between calls 0xFF (0x80 before 7.2), or 0xFE when the calls before are not to run
//! ```
//!
//! The mark between calls stands where the next parameter's name would have its length; no name is that long.

use super::{Headers, TableArgument};
use crate::error::TdsError;
use crate::limits::Limits;
use crate::read::Reader;
use crate::value::{Place, TypeInfo, TypeToken, read_variant};
use crate::version::TdsVersion;
use pikepole_types::{CodePage, Value};

/// The longest name of a parameter, in UTF-16 units.
const NAME_UNITS_MAX: u8 = 128;

/// The procedures that clients call by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the procedures' own")]
pub enum SystemProcedure {
    Cursor,
    CursorOpen,
    CursorPrepare,
    CursorExecute,
    CursorPrepExec,
    CursorUnprepare,
    CursorFetch,
    CursorOption,
    CursorClose,
    ExecuteSql,
    Prepare,
    Execute,
    PrepExec,
    PrepExecRpc,
    Unprepare,
}

use SystemProcedure::*;

/// Numbers from 1 on, and names.
const SYSTEM_PROCEDURES: [(SystemProcedure, &str); 15] = [
    (Cursor, "sp_cursor"),
    (CursorOpen, "sp_cursoropen"),
    (CursorPrepare, "sp_cursorprepare"),
    (CursorExecute, "sp_cursorexecute"),
    (CursorPrepExec, "sp_cursorprepexec"),
    (CursorUnprepare, "sp_cursorunprepare"),
    (CursorFetch, "sp_cursorfetch"),
    (CursorOption, "sp_cursoroption"),
    (CursorClose, "sp_cursorclose"),
    (ExecuteSql, "sp_executesql"),
    (Prepare, "sp_prepare"),
    (Execute, "sp_execute"),
    (PrepExec, "sp_prepexec"),
    (PrepExecRpc, "sp_prepexecrpc"),
    (Unprepare, "sp_unprepare"),
];

impl SystemProcedure {
    /// The procedure of a number, 1 to 15.
    pub fn by_number(number: u16) -> Option<SystemProcedure> {
        Some(SYSTEM_PROCEDURES.get(usize::from(number).checked_sub(1)?)?.0)
    }

    /// The procedure of a name without a schema, upper or lower case.
    pub fn by_name(name: &str) -> Option<SystemProcedure> {
        SYSTEM_PROCEDURES.iter().find(|(_, own)| own.eq_ignore_ascii_case(name)).map(|(procedure, _)| *procedure)
    }

    /// The number, 1 to 15.
    pub fn number(self) -> u16 {
        self as u16 + 1
    }

    /// The name.
    pub fn name(self) -> &'static str {
        SYSTEM_PROCEDURES[self as usize].1
    }
}

/// What is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Procedure {
    /// By name, as the client wrote it: perhaps with a database and schema.
    Name(String),
    /// By number.
    System(SystemProcedure),
}

/// The value of a parameter.
#[derive(Debug, Clone, PartialEq)]
pub enum Argument<'a> {
    /// One value.
    Scalar {
        /// Its type, as the client declared it; of a `sql_variant`, the type inside.
        info: TypeInfo,
        /// The value.
        value: Value,
    },
    /// Rows.
    Table(TableArgument<'a>),
}

impl Default for Argument<'_> {
    fn default() -> Self {
        Argument::Scalar { info: TypeInfo::NULL, value: Value::Null }
    }
}

/// A parameter of a call.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Parameter<'a> {
    /// The name with its `@`; empty when it is meant by its place.
    pub name: String,
    /// The client wants the value back (OUTPUT).
    pub by_reference: bool,
    /// The procedure's own default is meant, not this value.
    pub default: bool,
    /// The value.
    pub argument: Argument<'a>,
}

/// A procedure call.
#[derive(Debug, Clone, PartialEq)]
pub struct Rpc<'a> {
    /// What is called.
    pub procedure: Procedure,
    /// WITH RECOMPILE.
    pub recompile: bool,
    /// The client knows the columns already and wants no metadata.
    pub no_metadata: bool,
    /// The client only prepares: the call is not to run.
    pub no_execution: bool,
    /// The parameters in their order.
    pub parameters: Vec<Parameter<'a>>,
}

/// The parameters of a call that is over, whose names and values the next one is read into: a client that calls the same statement
/// again and again costs no memory for that.
#[derive(Debug, Clone, Default)]
pub struct ParameterRoom(Vec<Parameter<'static>>);

impl From<Vec<Parameter<'_>>> for ParameterRoom {
    fn from(parameters: Vec<Parameter<'_>>) -> ParameterRoom {
        let kept = |parameter: Parameter<'_>| {
            let value = match parameter.argument {
                Argument::Scalar { value, .. } => value,
                Argument::Table(_) => Value::Null,
            };
            let argument = Argument::Scalar { info: TypeInfo::NULL, value };
            Parameter { name: parameter.name, argument, by_reference: false, default: false }
        };
        // The elements take the places that they had.
        let mut room: Vec<Parameter<'static>> = parameters.into_iter().map(kept).collect();
        Value::keep_room(room.iter_mut().filter_map(|parameter| match &mut parameter.argument {
            Argument::Scalar { value, .. } => Some(value),
            Argument::Table(_) => None,
        }));
        ParameterRoom(room)
    }
}

/// A message of procedure calls, read one after the other.
#[derive(Debug, Clone)]
pub struct RpcMessage<'a> {
    /// What stands before the calls.
    pub headers: Headers,
    reader: Reader<'a>,
    version: TdsVersion,
    limits: Limits,
    page: CodePage,
    /// Where the parameters of the next call are read into.
    room: Vec<Parameter<'a>>,
}

impl<'a> RpcMessage<'a> {
    /// Begins to read a message of the kind [`Rpc`](crate::PacketKind::Rpc).
    ///
    /// # Errors
    /// Headers that end too early.
    pub fn parse(data: &'a [u8], version: TdsVersion, limits: &Limits) -> Result<RpcMessage<'a>, TdsError> {
        let mut reader = Reader::new(data);
        let headers = Headers::read(&mut reader, version)?;
        Ok(RpcMessage { headers, reader, version, limits: *limits, page: CodePage::Western, room: Vec::new() })
    }

    /// The same message to a database of this page, which the bytes of texts are in that name no collation.
    #[must_use]
    pub fn in_page(self, page: CodePage) -> RpcMessage<'a> {
        RpcMessage { page, ..self }
    }

    /// The same message, whose next call is read into this room.
    #[must_use]
    pub fn into_room(self, room: ParameterRoom) -> RpcMessage<'a> {
        RpcMessage { room: room.0, ..self }
    }

    /// The next call; `None` behind the last one. Further calls follow it unless [`is_last`](Self::is_last).
    ///
    /// # Errors
    /// Bytes that are no call. Nothing behind them can be read.
    pub fn next_call(&mut self) -> Result<Option<Rpc<'a>>, TdsError> {
        if self.reader.is_empty() {
            return Ok(None);
        }
        let call = self.call();
        if call.is_err() {
            self.reader = Reader::new(&[]);
        }
        call.map(Some)
    }

    /// Whether no call follows.
    pub fn is_last(&self) -> bool {
        self.reader.is_empty()
    }

    fn call(&mut self) -> Result<Rpc<'a>, TdsError> {
        const WHAT: &str = "a procedure call";
        let procedure = match self.reader.u16(WHAT)? {
            0xFFFF => {
                let number = self.reader.u16(WHAT)?;
                let known = SystemProcedure::by_number(number);
                Procedure::System(
                    known.ok_or_else(|| TdsError::malformed(format!("Procedure number {number} is unknown")))?,
                )
            }
            units => {
                let bytes = self.reader.take(usize::from(units) * 2, WHAT)?;
                Procedure::Name(crate::read::text_of_utf16(bytes, "the name of a procedure")?)
            }
        };
        let flags = self.reader.u16(WHAT)?;
        let mut call = Rpc {
            procedure,
            recompile: flags & 1 != 0,
            no_metadata: flags & 2 != 0,
            no_execution: false,
            parameters: std::mem::take(&mut self.room),
        };
        let mut count = 0;
        while let Some(byte) = self.reader.peek() {
            match byte {
                0x80 if !self.version.is_wide() => {}
                0xFF if self.version.is_wide() => {}
                0xFE if self.version.is_wide() => call.no_execution = true,
                _ => {
                    if count == self.limits.parameters_max {
                        return Err(TdsError::TooManyParameters(self.limits.parameters_max));
                    }
                    if count == call.parameters.len() {
                        call.parameters.push(Parameter::default());
                    }
                    let parameter = &mut call.parameters[count];
                    count += 1;
                    if let Err(error) = self.read_parameter(parameter) {
                        let name = std::mem::take(&mut parameter.name);
                        return Err(TdsError::InParameter { ordinal: count, name, error: Box::new(error) });
                    }
                    continue;
                }
            }
            self.reader.u8(WHAT)?;
            break;
        }
        call.parameters.truncate(count);
        Ok(call)
    }

    fn read_parameter(&mut self, parameter: &mut Parameter<'a>) -> Result<(), TdsError> {
        const WHAT: &str = "a parameter";
        if self.reader.peek() > Some(NAME_UNITS_MAX) {
            parameter.name.clear();
            return Err(TdsError::malformed("A parameter's name is too long"));
        }
        self.reader.short_text_into(&mut parameter.name, WHAT)?;
        let status = self.reader.u8(WHAT)?;
        if status & 0x08 != 0 {
            return Err(TdsError::Unsupported("An encrypted parameter".into()));
        }
        parameter.by_reference = status & 1 != 0;
        parameter.default = status & 2 != 0;
        self.read_argument(&mut parameter.argument)
    }

    fn read_argument(&mut self, argument: &mut Argument<'a>) -> Result<(), TdsError> {
        if self.reader.peek() == Some(TypeToken::Table as u8) && self.version.has_date_types() {
            self.reader.u8("a type")?;
            let read = TableArgument::read(&mut self.reader, self.version, &self.limits, self.page);
            *argument = read.map(Argument::Table)?;
            return Ok(());
        }
        if !matches!(argument, Argument::Scalar { .. }) {
            *argument = Argument::default();
        }
        let Argument::Scalar { info, value } = argument else { return Ok(()) };
        *info = TypeInfo::read_sent(&mut self.reader, self.version)?.or_page(self.page);
        if info.token() == TypeToken::Variant {
            (*info, *value) = read_variant(&mut self.reader)?;
        } else {
            info.read_value(&mut self.reader, Place::Parameter, value)?;
        }
        info.fill_up(value);
        Ok(())
    }
}
