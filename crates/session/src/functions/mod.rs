//! Functions and globals that only a session can answer: names and numbers of objects, who and where the session is, what
//! the server is. One table says which there are.

mod activity;
mod principals;
mod properties;
mod storage;

pub(crate) use storage::{StoredPlace, row_place};

use crate::host::SessionHost;
use crate::modules;
use crate::names::{self, Found, Parts};
use crate::procedures::application_lock;
use crate::security::{self, functions as who};
use crate::statistics;
use crate::views;
use crate::views::columns::TYPES;
use crate::views::transactions::transaction_id;
use pikepole_engine::{Catalog, Database, TEMPDB, Table, UserType, UserTypeKind};
use pikepole_query::{ExecutionContext, HostFunction, NullDefault, RunningTrigger};
use pikepole_types::{Decimal, ERRORS, Length, SecondName, SqlError, SqlType, Value};
use std::fmt::Write as _;
use std::sync::Arc;

/// The version of SQL Server whose language this engine speaks, as drivers and tools look for it.
pub(crate) const PRODUCT_VERSION: &str = "16.0.1000.6";
const OPTION_ANSI_PADDING: i32 = 16;
const OPTION_ANSI_NULLS: i32 = 32;
const OPTION_CONCAT_NULL_YIELDS_NULL: i32 = 4096;
const OPTION_ANSI_NULL_DFLT_ON: i32 = 1024;
const OPTION_ANSI_NULL_DFLT_OFF: i32 = 2048;
const OPTION_ANSI_WARNINGS: i32 = 8;
const OPTION_CURSOR_CLOSE_ON_COMMIT: i32 = 4;
const OPTION_ARITHABORT: i32 = 64;
const OPTION_ARITHIGNORE: i32 = 128;
const OPTION_QUOTED_IDENTIFIER: i32 = 256;
const OPTION_NOCOUNT: i32 = 512;
const OPTION_XACT_ABORT: i32 = 16_384;
const OPTION_IMPLICIT_TRANSACTIONS: i32 = 2;

use properties::{
    collation_property, column_property, connection_property, database_property, index_property, object_property,
    object_property_ex, server_property, session_property,
};

/// Digits of the number that temporary tables' names end in where tempdb's views show them.
const TEMPDB_NUMBER_DIGITS: usize = 12;
const NAME: SqlType = SqlType::NVarChar(Length::Limit(128));
const TEXT: SqlType = SqlType::NVarChar(Length::Limit(4000));
/// UTF-16 units of a name.
const NAME_UNITS_MAX: usize = 128;
const LONG_TEXT: SqlType = SqlType::NVarChar(Length::Max);
const NUMERIC: SqlType = SqlType::Decimal { precision: 38, scale: 0 };

/// A table and the database that it is in.
type TableOf = (Arc<Database>, Arc<Table>);

/// What a function works on.
struct Call<'a> {
    host: &'a SessionHost,
    arguments: &'a [Value],
    context: &'a ExecutionContext,
}

type Answer = Result<Option<Value>, SqlError>;

struct Definition {
    name: &'static str,
    result: SqlType,
    arguments: (usize, usize),
    call: fn(&Call<'_>) -> Answer,
}

const fn function(
    name: &'static str,
    result: SqlType,
    arguments: (usize, usize),
    call: fn(&Call<'_>) -> Answer,
) -> Definition {
    Definition { name, result, arguments, call }
}

/// Every function and global. `None` of an answer is NULL.
const FUNCTIONS: &[Definition] = &[
    // Globals.
    function("@@VERSION", SqlType::NVarChar(Length::Limit(300)), (0, 0), |_| string(version())),
    function("@@SERVERNAME", NAME, (0, 0), |call| string(call.host.registry.server_name())),
    function("@@SERVICENAME", NAME, (0, 0), |_| string("MSSQLSERVER")),
    function("@@LANGUAGE", NAME, (0, 0), |call| string(call.context.settings.language.name)),
    function("@@LANGID", SqlType::SmallInt, (0, 0), |call| {
        Ok(Some(Value::SmallInt(call.context.settings.language.id)))
    }),
    function("@@DATEFIRST", SqlType::TinyInt, (0, 0), |call| {
        Ok(Some(Value::TinyInt(call.context.settings.date_first)))
    }),
    function("@@MAX_PRECISION", SqlType::TinyInt, (0, 0), |_| Ok(Some(Value::TinyInt(38)))),
    function("@@MAX_CONNECTIONS", SqlType::Int, (0, 0), |_| int(32_767)),
    function("@@LOCK_TIMEOUT", SqlType::Int, (0, 0), |call| int(call.context.settings.lock_timeout_ms)),
    function("@@TEXTSIZE", SqlType::Int, (0, 0), |call| int(call.context.settings.text_size)),
    function("@@OPTIONS", SqlType::Int, (0, 0), |call| int(options(call))),
    function("@@DBTS", SqlType::VarBinary(Length::Limit(8)), (0, 0), |call| {
        Ok(Some(Value::Bin(call.context.database().last_rowversion().to_be_bytes().to_vec())))
    }),
    function("MIN_ACTIVE_ROWVERSION", SqlType::Binary(8), (0, 0), |call| {
        Ok(Some(Value::Bin(call.context.database().oldest_active_rowversion().to_be_bytes().to_vec())))
    }),
    function("CONTEXT_INFO", SqlType::VarBinary(Length::Limit(128)), (0, 0), |call| {
        Ok(call.context.context_info.clone().map(Value::Bin))
    }),
    function("SESSION_CONTEXT", SqlType::Variant, (1, 1), |call| {
        Ok(call.text(0).and_then(|key| call.host.session_context.get(key)).cloned())
    }),
    function("CURSOR_STATUS", SqlType::SmallInt, (2, 2), |call| {
        let (Some(kind), Some(name)) = (call.text(0), call.text(1)) else { return Ok(None) };
        let global = kind.eq_ignore_ascii_case("global");
        Ok(Some(Value::SmallInt(call.context.cursor_status(name, global))))
    }),
    // The text of a message: the built-in function of this name puts the arguments into it, as they are into the server's own.
    function("FORMATMESSAGE", TEXT, (1, 1), |call| {
        let number = call.arguments[0].as_i64().and_then(|number| i32::try_from(number).ok());
        let own = number.filter(|number| *number >= pikepole_query::RAISED_MIN);
        if let Some(known) = ERRORS.iter().find(|known| Some(known.number) == own) {
            return Ok(Some(Value::Str(known.text_with("%#!"))));
        }
        let Some(message) = number.and_then(|number| call.context.user_message(number)) else { return Ok(None) };
        Ok(message.text(call.context.settings.language.message_lcid).map(Value::from))
    }),
    function("NEWSEQUENTIALID", SqlType::UniqueIdentifier, (0, 0), |call| {
        Ok(Some(Value::Guid(call.host.registry.next_guid())))
    }),
    function("@@MICROSOFTVERSION", SqlType::Int, (0, 0), |_| int(0x1000_03e8)),
    // The server.
    function("SERVERPROPERTY", SqlType::Variant, (1, 1), server_property),
    function("COLLATIONPROPERTY", SqlType::Variant, (2, 2), collation_property),
    function("CONNECTIONPROPERTY", SqlType::Variant, (1, 1), connection_property),
    // Who and where the session is.
    function("SUSER_NAME", NAME, (0, 1), |call| who::login_name(call.host, call.context, call.arguments)),
    function("SUSER_SNAME", NAME, (0, 1), |call| who::login_name_of_sid(call.host, call.context, call.arguments)),
    function("SUSER_ID", SqlType::Int, (0, 1), |call| who::login_id(call.host, call.context, call.arguments)),
    function("SUSER_SID", SqlType::VarBinary(Length::Limit(85)), (0, 2), |call| {
        who::login_sid(call.host, call.context, call.arguments)
    }),
    function("ORIGINAL_LOGIN", NAME, (0, 0), |call| who::original_login(call.context)),
    // The SID of an account of Windows: there are none.
    function("SID_BINARY", SqlType::VarBinary(Length::Limit(85)), (1, 1), |_| Ok(None)),
    function("USER_NAME", NAME, (0, 1), |call| who::user_name(call.context, call.arguments)),
    function("USER_ID", SqlType::Int, (0, 1), |call| who::user_id(call.context, call.arguments)),
    function("DATABASE_PRINCIPAL_ID", SqlType::Int, (0, 1), |call| who::user_id(call.context, call.arguments)),
    function("HOST_NAME", NAME, (0, 0), |call| string(&call.host.host_name)),
    function("HOST_ID", SqlType::Char(10), (0, 0), |call| {
        let connection = call.host.registry.row(call.context.state.session_id).and_then(|row| row.connection);
        let process = connection.map_or(std::process::id(), |connection| connection.process_id);
        string(format!("{process:<10}"))
    }),
    function("APP_NAME", NAME, (0, 0), |call| string(&call.host.program_name)),
    function("IS_SRVROLEMEMBER", SqlType::Int, (1, 2), |call| {
        who::is_server_role_member(call.host, call.context, call.arguments)
    }),
    function("IS_MEMBER", SqlType::Int, (1, 1), |call| who::is_role_member(call.context, call.arguments)),
    function("IS_ROLEMEMBER", SqlType::Int, (1, 2), |call| who::is_role_member(call.context, call.arguments)),
    function("HAS_PERMS_BY_NAME", SqlType::Int, (3, 5), |call| {
        who::has_permission(call.host, call.context, call.arguments)
    }),
    function("PERMISSIONS", SqlType::Int, (0, 2), principals::permissions),
    function("LOGINPROPERTY", SqlType::Variant, (2, 2), principals::login_property),
    function("APPLOCK_MODE", SqlType::NVarChar(Length::Limit(32)), (3, 3), |call| {
        application_lock::mode_held(call.arguments, call.context)
    }),
    function("APPLOCK_TEST", SqlType::SmallInt, (4, 4), |call| application_lock::test(call.arguments, call.context)),
    function("CURRENT_TRANSACTION_ID", SqlType::BigInt, (0, 0), |call| {
        let (database, session_id) = (call.context.database(), call.context.state.session_id);
        let open = database.open_transactions().into_iter().find(|open| open.session_id == session_id);
        Ok(open.map(|open| Value::BigInt(transaction_id(database, open.id))))
    }),
    // A session runs one request at a time, and requests that a connection multiplexes take turns.
    function("CURRENT_REQUEST_ID", SqlType::SmallInt, (0, 0), |_| Ok(Some(Value::SmallInt(0)))),
    function("GETANSINULL", SqlType::Int, (0, 1), |call| {
        let named = call.text(0).map(|name| call.host.server.database(name).is_ok());
        let on = call.context.settings.null_default == NullDefault::On;
        if named.unwrap_or(call.arguments.is_empty()) { int(on.into()) } else { Ok(None) }
    }),
    function("HAS_DBACCESS", SqlType::Int, (1, 1), |call| who::has_access(call.host, call.context, call.arguments)),
    // Databases.
    function("DB_ID", SqlType::Int, (0, 1), database_id),
    function("DB_NAME", NAME, (0, 1), database_name),
    function("ORIGINAL_DB_NAME", NAME, (0, 0), |call| string(&call.host.original_database)),
    function("DATABASEPROPERTY", SqlType::Int, (2, 2), properties::older_database_property),
    function("DATABASEPROPERTYEX", SqlType::Variant, (2, 2), database_property),
    // No database is in an availability group: each is where it is to be backed up, and none has a role.
    function("FN_HADR_BACKUP_IS_PREFERRED_REPLICA", SqlType::Bit, (1, 1), |_| Ok(Some(Value::Bit(true)))),
    function("FN_HADR_IS_PRIMARY_REPLICA", SqlType::Bit, (1, 1), |_| Ok(None)),
    // There is no full-text search, and so no service of it; what is asked of one is not known.
    function("FULLTEXTSERVICEPROPERTY", SqlType::Int, (1, 1), properties::full_text_service),
    function("FULLTEXTCATALOGPROPERTY", SqlType::Int, (2, 2), |_| Ok(None)),
    function("XML_SCHEMA_NAMESPACE", SqlType::Xml, (2, 3), schema_collection),
    // What msdb's policies ask: they are not automated.
    function("FN_SYSPOLICY_IS_AUTOMATION_ENABLED", SqlType::Bit, (0, 0), |_| Ok(Some(Value::Bit(false)))),
    // Older than CONVERT's styles for binary values.
    function("FN_VARBINTOHEXSTR", LONG_TEXT, (1, 1), |call| Ok(hexadecimal(call.arguments.first(), true, 1, 0))),
    function("FN_VARBINTOHEXSUBSTRING", LONG_TEXT, (4, 4), |call| {
        let (Some(prefix), Some(first), Some(count)) = (call.number(0), call.number(2), call.number(3)) else {
            return Ok(None);
        };
        Ok(hexadecimal(call.arguments.get(1), prefix != 0, first, count))
    }),
    function("FN_PHYSLOCFORMATTER", SqlType::VarChar(Length::Limit(128)), (1, 1), |call| {
        let place = call.arguments.first().and_then(storage::row_place);
        Ok(place.map(|place| Value::Str(format!("({}:{}:{})", place.file, place.page, place.slot))))
    }),
    function("FILEGROUP_ID", SqlType::Int, (1, 1), storage::filegroup_id),
    function("FILEGROUP_NAME", NAME, (1, 1), storage::filegroup_name),
    function("FILEGROUPPROPERTY", SqlType::Int, (2, 2), storage::filegroup_property),
    function("FILE_ID", SqlType::SmallInt, (1, 1), storage::file_id_small),
    function("FILE_IDEX", SqlType::Int, (1, 1), storage::file_id),
    function("FILE_NAME", NAME, (1, 1), storage::file_name),
    function("FILEPROPERTY", SqlType::Int, (2, 2), storage::file_property),
    // What it tells is of files that lie in a cloud's store of blobs.
    function("FILEPROPERTYEX", SqlType::Variant, (2, 2), |_| Ok(None)),
    // What the server has done.
    function("@@CONNECTIONS", SqlType::Int, (0, 0), activity::connections),
    function("@@CPU_BUSY", SqlType::Int, (0, 0), activity::cpu_busy),
    function("@@IDLE", SqlType::Int, (0, 0), activity::idle),
    function("@@IO_BUSY", SqlType::Int, (0, 0), activity::io_busy),
    function("@@PACK_RECEIVED", SqlType::Int, (0, 0), activity::packets_received),
    function("@@PACK_SENT", SqlType::Int, (0, 0), activity::packets_sent),
    // An error of a connection ends it, and one of a file ends the database's changes: neither is counted.
    function("@@PACKET_ERRORS", SqlType::Int, (0, 0), |_| int(0)),
    function("@@TOTAL_ERRORS", SqlType::Int, (0, 0), |_| int(0)),
    function("@@TIMETICKS", SqlType::Int, (0, 0), |_| int(activity::TICK_US as i32)),
    function("@@TOTAL_READ", SqlType::Int, (0, 0), activity::total_read),
    function("@@TOTAL_WRITE", SqlType::Int, (0, 0), activity::total_write),
    // No other server calls procedures here.
    function("@@REMSERVER", NAME, (0, 0), |_| Ok(None)),
    // Schemas and objects.
    function("SCHEMA_ID", SqlType::Int, (0, 1), schema_id),
    function("SCHEMA_NAME", NAME, (0, 1), schema_name),
    function("OBJECT_ID", SqlType::Int, (1, 2), object_id),
    function("OBJECT_NAME", NAME, (1, 2), |call| Ok(call.object()?.map(|object| Value::Str(object.name)))),
    function("OBJECT_SCHEMA_NAME", NAME, (1, 2), |call| Ok(call.object()?.map(|object| Value::Str(object.schema)))),
    function("TRIGGER_NESTLEVEL", SqlType::Int, (0, 3), trigger_level),
    function("OBJECT_DEFINITION", LONG_TEXT, (1, 1), object_definition),
    function("OBJECTPROPERTY", SqlType::Int, (2, 2), object_property),
    function("OBJECTPROPERTYEX", SqlType::Variant, (2, 2), object_property_ex),
    // Columns, indexes, identities.
    function("COL_NAME", NAME, (2, 2), column_name),
    function("COL_LENGTH", SqlType::SmallInt, (2, 2), column_length),
    function("COLUMNPROPERTY", SqlType::Int, (3, 3), column_property),
    function("INDEX_COL", NAME, (3, 3), index_column),
    function("INDEXPROPERTY", SqlType::Int, (3, 3), index_property),
    function("INDEXKEY_PROPERTY", SqlType::Int, (4, 4), properties::index_key_property),
    function("STATS_DATE", SqlType::DateTime, (2, 2), statistics_date),
    function("IDENT_CURRENT", NUMERIC, (1, 1), |call| {
        let (database, table) = match call.named_table()? {
            Some(found) => found,
            None => return Ok(None),
        };
        Ok(database.last_identity(&table).map(numeric))
    }),
    function("IDENT_SEED", NUMERIC, (1, 1), |call| Ok(call.identity()?.map(|identity| numeric(identity.seed)))),
    function("IDENT_INCR", NUMERIC, (1, 1), |call| Ok(call.identity()?.map(|identity| numeric(identity.increment)))),
    // Types.
    function("TYPE_ID", SqlType::Int, (1, 1), type_id),
    function("TYPE_NAME", NAME, (1, 1), type_name),
    function("TYPEPROPERTY", SqlType::Int, (2, 2), properties::type_property),
    // No assembly but the system's own is ever loaded, and nothing is said of that one.
    function("ASSEMBLYPROPERTY", SqlType::Variant, (2, 2), |_| Ok(None)),
    function("ODBCSCALE", SqlType::Int, (2, 2), odbc_scale),
    // Names.
    function("PARSENAME", NAME, (2, 2), parse_name),
    function("QUOTENAME", SqlType::NVarChar(Length::Limit(258)), (1, 2), quote_name),
    function("SESSIONPROPERTY", SqlType::Variant, (1, 1), session_property),
];

/// The function or global called `name`.
pub(crate) fn find(name: &str) -> Option<HostFunction> {
    let id = FUNCTIONS.iter().position(|function| function.name.eq_ignore_ascii_case(name))?;
    let Definition { result, arguments: (arguments_min, arguments_max), .. } = FUNCTIONS[id];
    Some(HostFunction { id: id as u32, result, arguments_min, arguments_max })
}

/// The name of the function that [`find`] gave this number, as T-SQL writes it.
pub(crate) fn name(id: u32) -> Option<&'static str> {
    FUNCTIONS.get(id as usize).map(|function| function.name)
}

/// Evaluates the function that [`find`] gave this number.
pub(crate) fn call(
    host: &SessionHost,
    id: u32,
    arguments: &[Value],
    context: &ExecutionContext,
) -> Result<Value, SqlError> {
    let function = FUNCTIONS.get(id as usize).ok_or_else(|| SqlError::invalid_object(id))?;
    let answer = (function.call)(&Call { host, arguments, context })?;
    let Some(answer) = answer else { return Ok(Value::Null) };
    if function.result == SqlType::Variant {
        return in_variant(&answer);
    }
    // What a client calls itself, or an error's text, may be longer than the type that tells of it.
    if matches!(answer, Value::Str(_)) {
        return pikepole_types::convert(&answer, &function.result, &function.result, None);
    }
    Ok(answer)
}

/// The schemas of a collection, of all its namespaces.
fn schema_collection(call: &Call<'_>) -> Answer {
    let (Some(schema), Some(name)) = (call.text(0), call.text(1)) else { return Ok(None) };
    if call.arguments.len() > 2 {
        return Err(crate::unsupported("XML_SCHEMA_NAMESPACE of one namespace"));
    }
    let catalog = call.catalog();
    let schema = catalog.schema(schema).map(|schema| schema.schema_id);
    let is_it = |own: &UserType| Some(own.schema_id) == schema && own.name.eq_ignore_ascii_case(name);
    let found = catalog.schema_collections().find(|own| is_it(own));
    Ok(found.and_then(|own| match &own.kind {
        UserTypeKind::SchemaCollection { text, .. } => Some(Value::Str(text.clone())),
        _ => None,
    }))
}

/// The bytes from a place counted from one in hexadecimal, all that follow when their count is zero; none for NULL and for a place or
/// count that there is not.
fn hexadecimal(value: Option<&Value>, prefixed: bool, first: i32, count: i32) -> Option<Value> {
    let Value::Bin(bytes) = value? else { return None };
    let rest = bytes.get(usize::try_from(first.checked_sub(1)?).ok()?..)?;
    let count = usize::try_from(count).ok()?;
    let part = if count == 0 { rest } else { &rest[..count.min(rest.len())] };
    let mut text = String::with_capacity(2 * part.len() + 2);
    if prefixed {
        text.push_str("0x");
    }
    part.iter().for_each(|byte| write!(text, "{byte:02x}").unwrap_or_default());
    Some(Value::Str(text))
}

/// A property: what is a `sql_variant` already, a name, a longer text or a number.
fn in_variant(property: &Value) -> Result<Value, SqlError> {
    let ty = match property {
        Value::Variant(_) => SqlType::Variant,
        Value::Str(text) if text.encode_utf16().count() <= NAME_UNITS_MAX => NAME,
        Value::Str(_) => TEXT,
        Value::BigInt(_) => SqlType::BigInt,
        Value::TinyInt(_) => SqlType::TinyInt,
        _ => SqlType::Int,
    };
    pikepole_types::convert(property, &ty, &SqlType::Variant, None)
}

fn string(text: impl Into<String>) -> Answer {
    Ok(Some(Value::Str(text.into())))
}

fn int(number: i32) -> Answer {
    Ok(Some(Value::Int(number)))
}

fn flag(on: bool) -> Option<Value> {
    Some(Value::Int(on.into()))
}

fn numeric(number: i64) -> Value {
    Value::Decimal(Decimal::from_i64(number))
}

impl Call<'_> {
    /// An argument's text, a name or a word, without the blanks at its end; none for NULL.
    fn text(&self, place: usize) -> Option<&str> {
        self.text_as_given(place).map(|text| text.trim_end_matches(' '))
    }

    /// The same with the blanks at its end.
    fn text_as_given(&self, place: usize) -> Option<&str> {
        self.arguments.get(place)?.as_str()
    }

    /// An argument's number, also when it is given as text; none for NULL and texts that are no number.
    fn number(&self, place: usize) -> Option<i32> {
        let argument = self.arguments.get(place)?;
        let number = match argument {
            Value::Str(text) => text.trim().parse().ok(),
            other => other.as_i64(),
        };
        number?.try_into().ok()
    }

    fn catalog(&self) -> Arc<Catalog> {
        security::catalog(self.context)
    }

    /// The catalog of the database that a name names, the session's own unless it says another.
    fn catalog_of(&self, parts: &Parts) -> Option<(Arc<Database>, Arc<Catalog>)> {
        let current = self.context.database();
        match &parts.database {
            Some(name) if !name.eq_ignore_ascii_case(current.name()) => {
                let database = self.host.server.database(name).ok()?;
                let catalog = security::catalog_of(self.context, &database)?;
                Some((database, catalog))
            }
            _ => Some((Arc::clone(current), self.catalog())),
        }
    }

    /// The object whose number is the first argument; the second may name another database.
    fn object(&self) -> Result<Option<Found>, SqlError> {
        let Some(object_id) = self.number(0) else { return Ok(None) };
        let catalog = match self.number(1) {
            Some(id) if id != self.context.database().id() => {
                let database = self.host.server.database_by_id(id);
                database.and_then(|database| security::catalog_of(self.context, &database))
            }
            _ => Some(self.catalog()),
        };
        Ok(catalog.and_then(|catalog| names::by_id(&catalog, object_id)))
    }

    /// The temporary table of a name that is one, or that tempdb's views show it by, when the name means tempdb.
    fn temporary(&self, parts: &Parts) -> Option<Arc<Table>> {
        let database = parts.database.as_deref().unwrap_or_else(|| self.context.database().name());
        if !database.eq_ignore_ascii_case(TEMPDB) {
            return None;
        }
        let shown = || {
            let (name, number) = parts.name.split_at_checked(parts.name.len().checked_sub(TEMPDB_NUMBER_DIGITS)?)?;
            let table = self.context.temporary_table(name.trim_end_matches('_'))?;
            i64::from_str_radix(number, 16)
                .is_ok_and(|number| number == i64::from(table.object_id).abs())
                .then_some(table)
        };
        self.context.temporary_table(&parts.name).or_else(shown)
    }

    /// The table of a number, temporary ones among them.
    fn table_by_id(&self, object_id: i32) -> Option<Arc<Table>> {
        let own = self.catalog().table_by_id(object_id).cloned();
        own.or_else(|| self.context.temporary_tables()?.by_id(object_id).cloned())
    }

    /// The table that the first argument names.
    fn named_table(&self) -> Result<Option<TableOf>, SqlError> {
        let Some(parts) = self.text(0).and_then(names::parts) else { return Ok(None) };
        if let Some(table) = self.temporary(&parts) {
            return Ok(Some((Arc::clone(self.context.database()), table)));
        }
        let Some((database, catalog)) = self.catalog_of(&parts) else { return Ok(None) };
        let table = catalog.table(parts.schema.as_deref().unwrap_or("dbo"), &parts.name).cloned();
        Ok(table.map(|table| (database, table)))
    }

    fn identity(&self) -> Result<Option<pikepole_engine::Identity>, SqlError> {
        let found = self.named_table()?;
        Ok(found.and_then(|(_, table)| table.columns[table.identity_column()?].identity))
    }
}

/// `@@VERSION`. Clients look for the first words, the year in them and the number behind the dash, to tell what they may ask for.
pub(crate) fn version() -> String {
    format!(
        "Microsoft SQL Server 2022 compatible: Pikepole {} - {PRODUCT_VERSION} ({}) on {}",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::ARCH,
        std::env::consts::OS
    )
}

fn options(call: &Call<'_>) -> i32 {
    let settings = &call.context.settings;
    let switched = [
        (settings.cursor_close_on_commit, OPTION_CURSOR_CLOSE_ON_COMMIT),
        (settings.arithabort, OPTION_ARITHABORT),
        (settings.arithignore, OPTION_ARITHIGNORE),
        (settings.ansi_nulls, OPTION_ANSI_NULLS),
        (settings.concat_null_yields_null, OPTION_CONCAT_NULL_YIELDS_NULL),
        (settings.ansi_padding, OPTION_ANSI_PADDING),
        (settings.ansi_warnings, OPTION_ANSI_WARNINGS),
        (settings.null_default == NullDefault::On, OPTION_ANSI_NULL_DFLT_ON),
        (settings.null_default == NullDefault::Off, OPTION_ANSI_NULL_DFLT_OFF),
        (settings.quoted_identifier, OPTION_QUOTED_IDENTIFIER),
        (settings.nocount, OPTION_NOCOUNT),
        (settings.xact_abort, OPTION_XACT_ABORT),
        (settings.implicit_transactions, OPTION_IMPLICIT_TRANSACTIONS),
    ];
    switched.iter().filter(|(on, _)| *on).fold(0, |bits, (_, bit)| bits | bit)
}

fn database_id(call: &Call<'_>) -> Answer {
    if call.arguments.is_empty() {
        return int(call.context.database().id());
    }
    let Some(name) = call.text(0) else { return Ok(None) };
    let databases = call.host.server.databases();
    let found = databases.iter().find(|database| database.name.to_lowercase() == name.to_lowercase());
    Ok(found.map(|database| Value::Int(database.id)))
}

fn database_name(call: &Call<'_>) -> Answer {
    if call.arguments.is_empty() {
        return string(call.context.database().name());
    }
    let Some(id) = call.number(0) else { return Ok(None) };
    let databases = call.host.server.databases();
    let found = databases.iter().find(|database| database.id == id);
    Ok(found.map(|database| Value::Str(database.name.clone())))
}

fn schema_id(call: &Call<'_>) -> Answer {
    let catalog = call.catalog();
    let default = call.context.default_schema();
    let own = if call.arguments.is_empty() { Some(default.as_deref().unwrap_or("dbo")) } else { None };
    let found = own.or(call.text(0)).and_then(|name| catalog.schema(name));
    Ok(found.map(|schema| Value::Int(schema.schema_id)))
}

fn schema_name(call: &Call<'_>) -> Answer {
    if call.arguments.is_empty() {
        return string(call.context.default_schema().as_deref().unwrap_or("dbo"));
    }
    let catalog = call.catalog();
    Ok(call.number(0).and_then(|id| names::schema_name(&catalog, id)).map(Value::Str))
}

fn object_id(call: &Call<'_>) -> Answer {
    let Some(parts) = call.text(0).and_then(names::parts) else { return Ok(None) };
    if call.arguments.len() > 1 && call.text(1).is_none() {
        return Ok(None);
    }
    if parts.name.starts_with('#') && !parts.name.starts_with("##") {
        let kind = call.text(1).is_none_or(|kind| kind.trim().eq_ignore_ascii_case("U"));
        let table = call.temporary(&parts).filter(|_| kind);
        return Ok(table.map(|table| Value::Int(table.object_id)));
    }
    let Some((_, catalog)) = call.catalog_of(&parts) else { return Ok(None) };
    let default = call.context.default_schema().filter(|_| parts.schema.is_none() && parts.database.is_none());
    let own = default.and_then(|schema| names::find(&catalog, Some(&schema), &parts.name));
    let found = own.or_else(|| names::find(&catalog, parts.schema.as_deref(), &parts.name));
    let wanted = call.text(1);
    let fits = |found: &Found| wanted.is_none_or(|kind| kind.trim().eq_ignore_ascii_case(found.code.trim()));
    Ok(found.filter(fits).map(|found| Value::Int(found.object_id)))
}

fn statistics_date(call: &Call<'_>) -> Answer {
    let catalog = call.catalog();
    let table = call.number(0).and_then(|object_id| catalog.table_by_id(object_id));
    let (Some(table), Some(stats_id)) = (table, call.number(1)) else { return Ok(None) };
    let own = statistics::of_table(&catalog, table).into_iter().find(|own| own.stats_id == stats_id);
    let updated = own.as_ref().and_then(|own| own.values()).map(|values| values.updated_us);
    Ok(updated.map(views::datetime))
}

fn object_definition(call: &Call<'_>) -> Answer {
    let catalog = call.catalog();
    let Some(id) = call.number(0) else { return Ok(None) };
    if let Some(module) = catalog.modules().find(|module| module.object_id == id) {
        let shown = security::shows_text(call.context.token(), &catalog, id);
        return Ok((shown && !modules::is_encrypted(&module.text)).then(|| Value::Str(module.text.clone())));
    }
    let check = catalog.tables().flat_map(|table| table.checks.iter()).find(|check| check.object_id == id);
    if let Some(check) = check {
        return string(&check.text);
    }
    let mut defaults = catalog.tables().flat_map(|table| table.columns.iter().filter_map(|c| c.default.as_ref()));
    let default = defaults.find(|default| default.object_id == id);
    Ok(default.map(|default| Value::Str(default.text.clone())))
}

/// How many triggers are running: all, or those of an id, or those of a kind.
fn trigger_level(call: &Call<'_>) -> Answer {
    if call.arguments.iter().any(Value::is_null) {
        return Ok(None);
    }
    let id = call.number(0).filter(|id| *id != 0);
    let kind = |running: &RunningTrigger| match call.text(1).map(str::trim) {
        None => true,
        Some(kind) if kind.eq_ignore_ascii_case("AFTER") => !running.instead_of,
        Some(kind) => kind.eq_ignore_ascii_case("IOT") && running.instead_of,
    };
    let is_of = |running: &RunningTrigger| match call.text(2).map(str::trim) {
        None => true,
        Some(category) => category.eq_ignore_ascii_case(if running.event.is_some() { "DDL" } else { "DML" }),
    };
    let counts =
        |running: &&RunningTrigger| is_of(running) && id.is_none_or(|id| running.object_id == id) && kind(running);
    int(i32::try_from(call.context.state.triggers.iter().filter(counts).count()).unwrap_or(i32::MAX))
}

fn column_name(call: &Call<'_>) -> Answer {
    let (Some(object_id), Some(column_id)) = (call.number(0), call.number(1)) else { return Ok(None) };
    let Some(place) = column_id.checked_sub(1).and_then(|place| usize::try_from(place).ok()) else { return Ok(None) };
    let table = call.table_by_id(object_id);
    let own = table.and_then(|table| Some(table.columns[table.place_of_number(column_id)?].name.clone()));
    let catalog = call.catalog();
    let view = catalog.views().find(|view| view.object_id == object_id);
    let of_view = || Some(view?.columns.get(place)?.name.clone());
    let own = own.or_else(of_view);
    let of_view = || Some(views::by_object_id(object_id)?.columns.get(place)?.0.to_string());
    Ok(own.or_else(of_view).map(Value::Str))
}

fn column_length(call: &Call<'_>) -> Answer {
    let (Some((_, table)), Some(column)) = (call.named_table()?, call.text(1)) else { return Ok(None) };
    Ok(table.column(column).map(|place| Value::SmallInt(table.columns[place].ty.max_length())))
}

fn index_column(call: &Call<'_>) -> Answer {
    let (Some((_, table)), Some(index_id), Some(key)) = (call.named_table()?, call.number(1), call.number(2)) else {
        return Ok(None);
    };
    let index = table.indexes.iter().find(|index| index.index_id == index_id);
    let place = key.checked_sub(1).and_then(|place| usize::try_from(place).ok());
    let column = index.zip(place).and_then(|(index, place)| index.columns.get(place));
    Ok(column.map(|column| Value::Str(table.columns[column.column].name.clone())))
}

/// The scale of a type as ODBC sees it: none for what has no digits that could be behind a point.
fn odbc_scale(call: &Call<'_>) -> Answer {
    let (Some(id), Some(scale)) = (call.number(0), call.number(1)) else { return Ok(None) };
    let second = SecondName::by_id(id).map(|second| &second.ty);
    let Some(ty) = TYPES.iter().find(|ty| ty.user_type_id() == id).or(second) else { return Ok(None) };
    let approximate = matches!(ty, SqlType::Real | SqlType::Float);
    let has_one = ty.is_number() && !approximate && *ty != SqlType::Bit || ty.is_date_or_time();
    Ok(has_one.then_some(Value::Int(scale)))
}

fn type_id(call: &Call<'_>) -> Answer {
    let Some(parts) = call.text(0).and_then(names::parts) else { return Ok(None) };
    let number = match parts.name.to_ascii_lowercase().as_str() {
        "timestamp" | "rowversion" => Some(189),
        name => {
            let first = TYPES.iter().find(|ty| ty.name() == name).map(SqlType::user_type_id);
            first.or_else(|| SecondName::by_name(name).map(|second| second.user_type_id))
        }
    };
    let number = number.filter(|_| parts.schema.as_ref().is_none_or(|schema| schema.eq_ignore_ascii_case("sys")));
    let own = || {
        let found = call.catalog().user_type(parts.schema.as_deref().unwrap_or("dbo"), &parts.name)?.user_type_id;
        Some(found)
    };
    Ok(number.or_else(own).map(Value::Int))
}

fn type_name(call: &Call<'_>) -> Answer {
    let Some(id) = call.number(0) else { return Ok(None) };
    let name = match id {
        189 => Some("timestamp"),
        id => {
            let first = TYPES.iter().find(|ty| ty.user_type_id() == id).map(|ty| ty.name());
            first.or_else(|| SecondName::by_id(id).map(|second| second.name))
        }
    };
    let own = || Some(call.catalog().user_type_by_id(id)?.name.clone());
    Ok(name.map(str::to_owned).or_else(own).map(Value::Str))
}

/// Part 1 of a name is the object, 2 the schema, 3 the database, 4 the server.
fn parse_name(call: &Call<'_>) -> Answer {
    let (Some(parts), Some(place)) = (call.text_as_given(0).and_then(names::split), call.number(1)) else {
        return Ok(None);
    };
    let Some(from_end) = usize::try_from(place).ok().filter(|place| *place >= 1) else { return Ok(None) };
    let part = parts.iter().rev().nth(from_end - 1).filter(|part| !part.is_empty());
    // What is longer is no name.
    let part = part.filter(|part| part.encode_utf16().count() <= NAME_UNITS_MAX);
    Ok(part.map(|part| Value::Str(part.clone())))
}

fn quote_name(call: &Call<'_>) -> Answer {
    /// Longer texts are no names: NULL.
    const CHARACTERS_MAX: usize = 128;
    let Some(text) = call.text_as_given(0).filter(|text| text.chars().count() <= CHARACTERS_MAX) else {
        return Ok(None);
    };
    let (open, close) = match call.text(1).unwrap_or("[").chars().next() {
        Some('[' | ']') => ('[', ']'),
        Some('(' | ')') => ('(', ')'),
        Some('<' | '>') => ('<', '>'),
        Some('{' | '}') => ('{', '}'),
        Some(quote @ ('\'' | '"' | '`')) => (quote, quote),
        _ => return Ok(None),
    };
    let doubled = text.replace(close, &format!("{close}{close}"));
    string(format!("{open}{doubled}{close}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found_in_any_case_and_once() {
        assert!(find("db_id").is_some());
        assert!(find("@@version").is_some());
        assert!(find("nothing").is_none());
        for (place, function) in FUNCTIONS.iter().enumerate() {
            assert_eq!(find(function.name).map(|found| found.id as usize), Some(place), "{} twice", function.name);
        }
    }
}
