//! Many rows for one table: gathered here, inserted a portion at a time through the engine's path of bulk loads.
//!
//! ```text
//!   append(row) ── rows ──► flush: one request a portion ──► the session: values to the columns' types ──► one statement
//! ```
//!
//! A row costs neither a text nor a plan nor a way to the session's thread and back. A portion is a statement: it comes in as a whole or not
//! at all, and what an INSERT does happens for it, with constraints, defaults of columns that are left out, and triggers, which fire once.

use crate::connection::Connection;
use crate::mailbox::Request;
use crate::parameter::{Parameters, type_of};
use crate::rows::Column;
use crate::{Error, Value};
use pikepole_session::{ColumnInfo, Done, DoneKind, LoadOptions, Output, RowTarget, Session};
use pikepole_types::{Context, Length, SqlError, SqlType, Target};

/// Rows of a portion.
const ROWS_AT_ONCE: usize = 16 * 1024;
/// Bytes of texts and binaries that make a portion with fewer rows.
const BYTES_AT_ONCE: usize = 4 << 20;

/// Inserts many rows; see [`Connection::appender`]. What was not flushed is lost when it is dropped without [`Appender::finish`].
#[must_use = "rows come in with `flush` and `finish`"]
pub struct Appender<'a> {
    connection: &'a mut Connection,
    id: u64,
    columns: Vec<Column>,
    rows: Vec<Vec<Value>>,
    bytes: usize,
    inserted: u64,
}

impl<'a> Appender<'a> {
    pub(crate) async fn open(
        connection: &'a mut Connection,
        table: &str,
        columns: &[&str],
    ) -> Result<Appender<'a>, Error> {
        let id = connection.next_id();
        let names = columns.iter().map(|name| quoted(name)).collect();
        let begin = Request::BeginLoad { id, table: table.to_owned(), columns: names };
        let set = crate::answer::first_set(connection.gather(begin).await?)?;
        let columns = set.columns().to_vec();
        Ok(Appender { connection, id, columns, rows: Vec::new(), bytes: 0, inserted: 0 })
    }

    /// The columns that a row has values for.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Appends a row, a value for each column: `params![1, "log"]`. Sends a portion when it is full.
    ///
    /// # Errors
    /// [`Error::Usage`] for another number of values, or values with names; as of [`Appender::flush`].
    pub async fn append(&mut self, row: impl Parameters) -> Result<(), Error> {
        if self.take(row)? { self.flush().await } else { Ok(()) }
    }

    /// Takes a row; whether the portion is full.
    pub(crate) fn take(&mut self, row: impl Parameters) -> Result<bool, Error> {
        let row = row.row()?;
        if row.len() != self.columns.len() {
            let text = format!("a row has {} values, and there are {} columns", row.len(), self.columns.len());
            return Err(Error::Usage(text));
        }
        self.bytes += row.iter().map(Value::text_bytes).sum::<usize>();
        self.rows.push(row);
        Ok(self.rows.len() >= ROWS_AT_ONCE || self.bytes >= BYTES_AT_ONCE)
    }

    /// Inserts what was appended since the last time.
    ///
    /// # Errors
    /// [`Error::Sql`] when a row does not come in: then none of the portion does, and the portion is dropped.
    pub async fn flush(&mut self) -> Result<(), Error> {
        if self.rows.is_empty() {
            return Ok(());
        }
        self.bytes = 0;
        let rows = std::mem::take(&mut self.rows);
        let outcome = self.connection.gather(Request::Load { id: self.id, rows }).await?;
        self.inserted += outcome.rows_affected;
        Ok(())
    }

    /// Inserts what is left; how many rows have come in through it.
    ///
    /// # Errors
    /// As of [`Appender::flush`].
    pub async fn finish(mut self) -> Result<u64, Error> {
        self.flush().await?;
        Ok(self.inserted)
    }
}

impl Drop for Appender<'_> {
    fn drop(&mut self) {
        self.connection.forget(self.id);
    }
}

/// A name in brackets.
fn quoted(name: &str) -> String {
    format!("[{}]", name.replace(']', "]]"))
}

/// A load at the session.
pub(crate) struct Load {
    target: RowTarget,
    /// The table, where values for its identity column come.
    identity_table: Option<String>,
    /// The type that the values of each column get before they are assigned to it.
    types: Vec<SqlType>,
}

impl Load {
    /// A load of these columns of a table, or of all that take values; its columns go to `output`, as a result set.
    pub(crate) async fn begin(
        table: &str,
        mut columns: Vec<String>,
        session: &mut Session,
        output: &mut dyn Output,
    ) -> Option<Load> {
        let Some(table) = pikepole_session::bracketed(table) else {
            output.error(&SqlError::invalid_object(table));
            return None;
        };
        let table = table.as_str();
        if columns.is_empty() {
            columns = session.assignable_columns(table).unwrap_or_default().iter().map(|name| quoted(name)).collect();
        }
        let list = if columns.is_empty() { "*".to_owned() } else { columns.join(", ") };
        let mut shape = Quiet::new(output);
        session.run(&format!("SELECT TOP (0) {list} FROM {table}"), &mut [], &mut shape).await;
        let (shape, failed) = (shape.columns, shape.failed);
        let types: Vec<SqlType> = shape.iter().map(|column| given_type(column.ty)).collect();
        let infos = types.iter().map(|ty| ColumnInfo::new("", *ty, true)).collect();
        let options =
            LoadOptions { keeps_nulls: true, checks_constraints: true, fires_triggers: true, locks_table: false };
        if failed {
            return None;
        }
        output.columns(&shape);
        let target = match RowTarget::new(table, &columns, infos, options) {
            Ok(target) => target,
            Err(error) => {
                output.error(&error);
                return None;
            }
        };
        let identity = session.identity_column(table);
        let names_identity = identity.is_some_and(|name| columns.iter().any(|column| *column == quoted(&name)));
        Some(Load { target, identity_table: names_identity.then(|| table.to_owned()), types })
    }

    /// Inserts a portion.
    pub(crate) async fn insert(&self, mut rows: Vec<Vec<Value>>, session: &mut Session, output: &mut dyn Output) {
        let functions = session.conversions();
        for row in &mut rows {
            if let Err(error) = self.convert(row, &functions) {
                output.error(&error);
                return;
            }
        }
        let mut errors = Quiet::new(output);
        self.take_identity("ON", session, &mut errors).await;
        if errors.failed {
            return;
        }
        let inserted = session.insert_rows(&self.target, rows, &mut errors).await;
        self.take_identity("OFF", session, &mut errors).await;
        // The error has gone to the output.
        if let Ok(rows) = inserted {
            output.done(Done { rows: Some(rows), kind: DoneKind::Insert });
        }
    }

    /// Has the table take values for its identity column, or no longer.
    async fn take_identity(&self, switch: &str, session: &mut Session, output: &mut dyn Output) {
        if let Some(table) = &self.identity_table {
            session.run(&format!("SET IDENTITY_INSERT {table} {switch}"), &mut [], output).await;
        }
    }

    /// Makes values those of the types that the load declares.
    fn convert(&self, row: &mut [Value], functions: &Context) -> Result<(), SqlError> {
        for (value, ty) in row.iter_mut().zip(&self.types) {
            if value.is_null() || is_of(value, ty) {
                continue;
            }
            let given = std::mem::take(value);
            functions.assign(&given, &type_of(&given, SqlType::Null), ty, Target::Variable, value)?;
        }
        Ok(())
    }
}

/// The type that a column's values are given as. Assigning them to the column makes them short enough, or refuses them.
fn given_type(column: SqlType) -> SqlType {
    match column {
        SqlType::Time(_) => SqlType::Time(7),
        SqlType::DateTime2(_) => SqlType::DateTime2(7),
        SqlType::DateTimeOffset(_) => SqlType::DateTimeOffset(7),
        SqlType::Xml => SqlType::NVarChar(Length::Max),
        SqlType::Clr(_) => SqlType::VarBinary(Length::Max),
        ty if ty.is_string() => SqlType::NVarChar(Length::Max),
        ty if ty.is_binary() => SqlType::VarBinary(Length::Max),
        ty => ty,
    }
}

/// True for a value that is one of a type as it stands.
fn is_of(value: &Value, ty: &SqlType) -> bool {
    match (value, ty) {
        (Value::Decimal(decimal), ty) => decimal.sql_type() == *ty,
        (Value::Str(_), SqlType::NVarChar(Length::Max)) | (Value::Bin(_), SqlType::VarBinary(Length::Max)) => true,
        (Value::Str(_) | Value::Bin(_), _) => false,
        (Value::Variant(_), SqlType::Variant) => true,
        (value, ty) => type_of(value, SqlType::Null) == *ty,
    }
}

/// Passes errors, messages and columns on, and nothing else: what triggers send is no part of a load's answer.
struct Quiet<'a> {
    output: &'a mut dyn Output,
    columns: Vec<ColumnInfo>,
    failed: bool,
}

impl<'a> Quiet<'a> {
    fn new(output: &'a mut dyn Output) -> Quiet<'a> {
        Quiet { output, columns: Vec::new(), failed: false }
    }
}

impl Output for Quiet<'_> {
    fn columns(&mut self, columns: &[ColumnInfo]) {
        self.columns = columns.to_vec();
    }
    fn row(&mut self, _: &[Value]) {}
    fn done(&mut self, _: Done) {}
    fn message(&mut self, message: &SqlError) {
        self.output.message(message);
    }
    fn error(&mut self, error: &SqlError) {
        self.failed = true;
        self.output.error(error);
    }
}
