//! Bulk load: INSERT BULK names a table and columns, then their rows come in a message of any length.
//!
//! The rows are inserted by a parameterized INSERT, all in one transaction: the one that is open, or one of their own. So they
//! are checked and logged as any other insert. After the first error what still comes is read and dropped.

use crate::connection::Connection;
use crate::incoming::Broken;
use crate::reply::{Answering, Reply};
use crate::requests::{conclude, tell_changes, watch};
use pikepole_session::{Argument, ColumnInfo, Done as Ended, Output, Prepared, Session};
use pikepole_tds::{BulkLoad, Command, Done, DoneKind};
use pikepole_types::{Length, SqlError, SqlType, Value};
use std::fmt::Write;

/// A load that INSERT BULK has begun.
pub(crate) struct Bulk {
    statement: BulkStatement,
    load: BulkLoad,
    /// The INSERT and the columns' types, once the columns have come.
    insert: Option<(Prepared, Vec<SqlType>)>,
    row: Vec<Value>,
    rows: u64,
    /// Whether the transaction is the load's own.
    own_transaction: bool,
    failed: Option<SqlError>,
}

/// What INSERT BULK says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BulkStatement {
    /// The table as the client wrote it.
    table: String,
    /// The columns as the client wrote them, brackets and all.
    columns: Vec<String>,
    keeps_identity: bool,
}

impl BulkStatement {
    /// Reads a batch that is INSERT BULK; `None` when it is something else.
    pub(crate) fn parse(text: &str) -> Option<Result<BulkStatement, SqlError>> {
        let rest = word(text.trim_start(), "INSERT")?;
        let rest = word(rest, "BULK")?;
        Some(BulkStatement::parse_rest(rest).ok_or_else(|| SqlError::incorrect_syntax("BULK")))
    }

    fn parse_rest(text: &str) -> Option<BulkStatement> {
        let open = top_level(text, '(')?;
        let (table, rest) = (text[..open].trim(), &text[open + 1..]);
        let close = top_level(rest, ')')?;
        let (mut list, options) = (&rest[..close], &rest[close + 1..]);
        let mut columns = Vec::new();
        loop {
            let end = top_level(list, ',');
            let column = list[..end.unwrap_or(list.len())].trim_start();
            columns.push(column[..identifier_end(column)?].to_string());
            match end {
                Some(end) => list = &list[end + 1..],
                None => break,
            }
        }
        let keeps_identity = options.to_ascii_uppercase().contains("KEEP_IDENTITY");
        (!table.is_empty()).then(|| BulkStatement { table: table.to_string(), columns, keeps_identity })
    }

    /// The INSERT of one row, and the declarations of its parameters.
    fn insert(&self, types: &[SqlType]) -> Prepared {
        let (mut values, mut declarations) = (String::new(), String::new());
        for (place, ty) in types.iter().enumerate() {
            let separator = if place == 0 { "" } else { ", " };
            // Writing to a String cannot fail.
            let _ = write!(values, "{separator}@c{place}");
            let _ = write!(declarations, "{separator}@c{place} {ty}");
        }
        let text = format!("INSERT INTO {} ({}) VALUES ({values})", self.table, self.columns.join(", "));
        Prepared::new(text, declarations)
    }
}

/// What follows a word, which ends there.
fn word<'a>(text: &'a str, wanted: &str) -> Option<&'a str> {
    let (found, rest) = text.split_at_checked(wanted.len())?;
    let trimmed = rest.trim_start();
    (found.eq_ignore_ascii_case(wanted) && trimmed.len() < rest.len()).then_some(trimmed)
}

/// Where a character stands outside of brackets, quotes and parentheses.
fn top_level(text: &str, wanted: char) -> Option<usize> {
    let (mut depth, mut until) = (0, None);
    for (place, c) in text.char_indices() {
        match until {
            Some(end) if c == end => until = None,
            Some(_) => {}
            None if c == wanted && depth == 0 => return Some(place),
            None => match c {
                '[' => until = Some(']'),
                '"' => until = Some('"'),
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            },
        }
    }
    None
}

/// Where the identifier that the text begins with ends.
fn identifier_end(text: &str) -> Option<usize> {
    let end = match text.chars().next()? {
        '[' => text.find(']')? + 1,
        '"' => text[1..].find('"')? + 2,
        _ => text.find(char::is_whitespace).unwrap_or(text.len()),
    };
    (end > 0).then_some(end)
}

/// Keeps the first error of a row's INSERT.
#[derive(Default)]
struct FirstError(Option<SqlError>);

impl Output for FirstError {
    fn columns(&mut self, _: &[ColumnInfo]) {}
    fn row(&mut self, _: &[Value]) {}
    fn done(&mut self, _: Ended) {}
    fn message(&mut self, _: &SqlError) {}
    fn error(&mut self, error: &SqlError) {
        self.0.get_or_insert_with(|| error.clone());
    }
}

async fn run(session: &mut Session, text: &str) -> Result<(), SqlError> {
    let mut output = FirstError::default();
    session.run(text, &mut [], &mut output).await;
    output.0.map_or(Ok(()), Err)
}

impl Bulk {
    /// Inserts the rows that a part of the message has made whole.
    async fn take(&mut self, part: &[u8], is_end: bool, session: &mut Session) -> Result<(), SqlError> {
        self.load.feed(part, is_end).map_err(|error| error.to_sql_error())?;
        while self.load.next_row(&mut self.row).map_err(|error| error.to_sql_error())? {
            if self.insert.is_none() {
                self.begin(session).await?;
            }
            let Some((insert, types)) = &mut self.insert else { break };
            let argument = |(value, ty): (&mut Value, &SqlType)| Argument {
                name: None,
                value: std::mem::take(value),
                ty: *ty,
                output: false,
            };
            let mut arguments: Vec<Argument> = self.row.iter_mut().zip(&*types).map(argument).collect();
            let mut output = FirstError::default();
            let ran = session.call(insert, &mut arguments, &mut output).await;
            if let Some(error) = output.0.or_else(|| ran.err()) {
                return Err(error);
            }
            for (value, argument) in self.row.iter_mut().zip(arguments) {
                *value = argument.value;
            }
            self.rows += 1;
        }
        Ok(())
    }

    /// The first row has come: the columns are known.
    async fn begin(&mut self, session: &mut Session) -> Result<(), SqlError> {
        let columns = self.load.columns().map_err(|error| error.to_sql_error())?.unwrap_or_default();
        let types: Vec<SqlType> = columns
            .iter()
            .map(|column| match column.info.sql_type() {
                SqlType::Null => SqlType::NVarChar(Length::Max),
                ty => ty,
            })
            .collect();
        if types.len() != self.statement.columns.len() {
            return Err(SqlError::new(
                4819,
                16,
                1,
                "Cannot bulk load. The columns of the data are not those of the statement.",
            ));
        }
        if session.transaction_mark().open == 0 {
            run(session, "BEGIN TRANSACTION").await?;
            self.own_transaction = true;
        }
        if self.statement.keeps_identity {
            run(session, &format!("SET IDENTITY_INSERT {} ON", self.statement.table)).await?;
        }
        self.insert = Some((self.statement.insert(&types), types));
        Ok(())
    }

    /// Ends what the load has begun.
    async fn end(&mut self, session: &mut Session) -> Result<(), SqlError> {
        if self.statement.keeps_identity && self.insert.is_some() {
            run(session, &format!("SET IDENTITY_INSERT {} OFF", self.statement.table)).await?;
        }
        let own_is_open = self.own_transaction && session.transaction_mark().open > 0;
        match &self.failed {
            Some(_) if own_is_open => run(session, "ROLLBACK TRANSACTION").await,
            None if own_is_open => run(session, "COMMIT TRANSACTION").await,
            _ => Ok(()),
        }
    }
}

impl Connection {
    /// Answers INSERT BULK: the client may send its rows.
    pub(crate) fn begin_bulk(&mut self, statement: BulkStatement) {
        self.bulk = Some(Bulk {
            statement,
            load: BulkLoad::new(self.version, &self.limits),
            insert: None,
            row: Vec::new(),
            rows: 0,
            own_transaction: false,
            failed: None,
        });
        self.sender.writer.done(DoneKind::Statement, &Done::new(Command::BulkInsert));
        self.sender.writer.finish();
    }

    /// Takes a part of a load's rows; answers after the last.
    pub(crate) async fn answer_bulk(&mut self, part: &[u8], is_end: bool) -> Result<(), Broken> {
        let Some(mut bulk) = self.bulk.take() else {
            let why = "The rows of a bulk load came without INSERT BULK";
            return Err(pikepole_tds::TdsError::Malformed(why.to_string()).into());
        };
        let before = self.session.transaction_mark();
        let cancel = self.clear_cancel();
        let mut reply = Reply::new(&mut self.sender, self.shared.registry.server_name(), &cancel, Answering::Batch);
        let (session, incoming) = (&mut self.session, &mut self.incoming);
        let work = async {
            if bulk.failed.is_none() {
                bulk.failed = bulk.take(part, is_end, session).await.err();
            }
            if is_end {
                let ended = bulk.end(session).await;
                bulk.failed = bulk.failed.take().or_else(|| ended.err());
            }
        };
        let ((), watched) = watch(work, incoming, &cancel).await;
        if !is_end && !watched.attention && watched.gone.is_none() {
            self.bulk = Some(bulk);
            return Ok(());
        }
        if watched.attention && !is_end {
            bulk.failed.get_or_insert_with(|| SqlError::incorrect_syntax(""));
            // The error that this may bring is the end of a load that the client has given up.
            let _ = bulk.end(session).await;
        }
        tell_changes(&mut reply, session, before, &mut self.database);
        match &bulk.failed {
            Some(error) => reply.error(error),
            None => reply.done(Ended { rows: Some(bulk.rows), kind: pikepole_session::DoneKind::Insert }),
        }
        conclude(reply, watched, |reply| reply.finish_batch())
    }

    /// Gives a load up whose rows will not come.
    pub(crate) async fn abandon_bulk(&mut self) {
        if let Some(mut bulk) = self.bulk.take() {
            bulk.failed.get_or_insert_with(|| SqlError::incorrect_syntax(""));
            // As above.
            let _ = bulk.end(&mut self.session).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn insert_bulk_names_a_table_and_columns() {
        let parse = |text| BulkStatement::parse(text).map(|parsed| parsed.ok());
        let statement = parse(
            "insert bulk [dbo].[a (b)] ([x,y] int, name nvarchar(10) COLLATE Latin1_General_BIN, d decimal(10, 2)) with (KEEP_NULLS)",
        );
        let statement = statement.flatten().expect("it is one");
        assert_eq!(statement.table, "[dbo].[a (b)]");
        assert_eq!(statement.columns, ["[x,y]", "name", "d"]);
        assert!(!statement.keeps_identity);
        let insert = statement.insert(&[SqlType::Int, SqlType::Bit, SqlType::BigInt]);
        assert_eq!(insert.text(), "INSERT INTO [dbo].[a (b)] ([x,y], name, d) VALUES (@c0, @c1, @c2)");
        assert_eq!(insert.declarations(), "@c0 int, @c1 bit, @c2 bigint");
        assert!(parse("INSERT bulk_table VALUES (1)").is_none());
        assert_eq!(parse("INSERT BULK t"), Some(None));
    }
}
