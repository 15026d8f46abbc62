//! Bulk load: INSERT BULK names a table and columns, then their rows come in a message of any length.
//!
//! The rows are inserted some thousand at a time, all in one transaction: the one that is open, or one of their own. They are checked as
//! those of any other INSERT, and a heap without indexes takes them page by page. After the first error what still comes is read and
//! dropped.

use crate::connection::Connection;
use crate::incoming::Broken;
use crate::reply::{Answering, Reply};
use crate::requests::{conclude, tell_changes, tell_end, tell_state, watch};
use pikepole_session::{ColumnInfo, Done as Ended, LoadOptions, Output, RowTarget, Session};
use pikepole_tds::{BulkColumn, BulkLoad, Command, Done, DoneKind};
use pikepole_types::{Collation, Length, SqlError, SqlType, Value};

/// A load that INSERT BULK has begun.
pub(crate) struct Bulk {
    statement: BulkStatement,
    load: BulkLoad,
    /// Where the rows go, once the columns have come.
    target: Option<RowTarget>,
    /// The identity column is among the columns: it takes the values that come.
    keeps_identity: bool,
    /// Rows that have come and are not inserted yet, and the bytes of the message since the last that were.
    kept: Vec<Vec<Value>>,
    kept_bytes: usize,
    rows: u64,
    /// What the client is told beside errors, each once.
    messages: Vec<SqlError>,
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
    /// The collations that it says they have.
    collations: Vec<Option<Collation>>,
    options: LoadOptions,
}

/// So many rows, or bytes of the message, are inserted at once.
const ROWS_AT_ONCE: usize = 16 * 1024;
const BYTES_AT_ONCE: usize = 4 * 1024 * 1024;

impl BulkStatement {
    /// Reads a batch that is INSERT BULK; `None` when it is something else.
    pub(crate) fn parse(text: &str) -> Option<Result<BulkStatement, SqlError>> {
        let rest = word(text.trim_start(), "INSERT")?;
        let rest = word(rest, "BULK")?;
        let parts = parts(rest).ok_or_else(|| SqlError::incorrect_syntax("BULK"));
        Some(parts.and_then(|(table, list, options)| BulkStatement::of(table, list)?.with_options(options)))
    }

    /// # Errors
    /// 102 for a column without a name, 448 for a collation that there is not.
    fn of(table: &str, list: &str) -> Result<BulkStatement, SqlError> {
        let (mut columns, mut collations) = (Vec::new(), Vec::new());
        for column in elements(list) {
            let end = identifier_end(column).ok_or_else(|| SqlError::incorrect_syntax("BULK"))?;
            columns.push(column[..end].to_string());
            collations.push(collation(&column[end..])?);
        }
        Ok(BulkStatement { table: table.to_string(), columns, collations, options: LoadOptions::default() })
    }

    /// The same with what `WITH (...)` says.
    ///
    /// # Errors
    /// 155 for an option that there is not, 102 for what is none.
    fn with_options(mut self, text: &str) -> Result<BulkStatement, SqlError> {
        if text.is_empty() {
            return Ok(self);
        }
        let wrong = || SqlError::incorrect_syntax("BULK");
        let list = text.get(..4).filter(|word| word.eq_ignore_ascii_case("WITH")).map(|_| text[4..].trim());
        let list = list.and_then(|list| list.strip_prefix('(')?.strip_suffix(')')).ok_or_else(wrong)?;
        for option in elements(list) {
            let end = option.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(option.len());
            let (name, value) = (option[..end].to_ascii_uppercase(), option[end..].trim());
            let is_number = || {
                let number = value.strip_prefix('=').map(str::trim);
                number.is_some_and(|number| number.parse::<u64>().is_ok())
            };
            let is_well_formed = match name.as_str() {
                // How many rows come, and in which order, changes nothing here.
                "ROWS_PER_BATCH" | "KILOBYTES_PER_BATCH" => is_number(),
                "ORDER" => value.starts_with('(') && value.ends_with(')'),
                _ => value.is_empty(),
            };
            match name.as_str() {
                _ if !is_well_formed => return Err(SqlError::incorrect_syntax(&name)),
                "KEEP_NULLS" => self.options.keeps_nulls = true,
                "TABLOCK" => self.options.locks_table = true,
                "FIRE_TRIGGERS" => self.options.fires_triggers = true,
                "CHECK_CONSTRAINTS" => self.options.checks_constraints = true,
                // No value is encrypted here, so none is changed by the client that should not be.
                "ALLOW_ENCRYPTED_VALUE_MODIFICATIONS" | "ORDER" | "ROWS_PER_BATCH" | "KILOBYTES_PER_BATCH" => {}
                // A client that does not want to keep them leaves the identity column out of its list.
                "KEEP_IDENTITY" => {}
                _ => return Err(SqlError::option_not_recognized(&name, "INSERT BULK")),
            }
        }
        Ok(self)
    }
}

/// The table, the list of columns, and what stands behind that.
fn parts(text: &str) -> Option<(&str, &str, &str)> {
    let open = top_level(text, '(')?;
    let (table, rest) = (text[..open].trim(), &text[open + 1..]);
    let close = top_level(rest, ')')?;
    (!table.is_empty()).then_some((table, &rest[..close], rest[close + 1..].trim()))
}

/// The collation that a column's declaration names behind its type; none where it names none or the database's.
///
/// # Errors
/// 448 for a collation that there is not.
fn collation(declaration: &str) -> Result<Option<Collation>, SqlError> {
    let mut words = declaration.split_whitespace().skip_while(|word| !word.eq_ignore_ascii_case("COLLATE"));
    match words.nth(1) {
        None => Ok(None),
        Some(name) if name.eq_ignore_ascii_case("database_default") => Ok(None),
        Some(name) => Collation::by_name(name).map(Some).ok_or_else(|| SqlError::invalid_collation(name)),
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
    let (mut depth, mut place) = (0, 0);
    while let Some(c) = text[place..].chars().next() {
        match c {
            _ if c == wanted && depth == 0 => return Some(place),
            '[' | '"' => {
                place += identifier_end(&text[place..])?;
                continue;
            }
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        place += c.len_utf8();
    }
    None
}

/// The elements of a list, without blanks around them.
fn elements(list: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(list);
    std::iter::from_fn(move || {
        let text = rest?;
        let end = top_level(text, ',');
        rest = end.map(|end| &text[end + 1..]);
        Some(text[..end.unwrap_or(text.len())].trim())
    })
}

/// Where the identifier that the text begins with ends. Within brackets and quotes the closing one is written twice.
fn identifier_end(text: &str) -> Option<usize> {
    let closing = match text.chars().next()? {
        '[' => ']',
        '"' => '"',
        first => return text.find(char::is_whitespace).or(Some(text.len())).filter(|_| !first.is_whitespace()),
    };
    let mut end = 1;
    loop {
        end += text[end..].find(closing)? + 1;
        match text[end..].strip_prefix(closing) {
            Some(_) => end += 1,
            None => return Some(end),
        }
    }
}

/// A column's name without its brackets or quotes.
fn unquoted(name: &str) -> String {
    let inner = |open: char, close: char| name.strip_prefix(open)?.strip_suffix(close);
    match (inner('[', ']'), inner('"', '"')) {
        (Some(inner), _) => inner.replace("]]", "]"),
        (_, Some(inner)) => inner.replace("\"\"", "\""),
        _ => name.to_owned(),
    }
}

/// Keeps the first error of an INSERT, and its messages.
#[derive(Default)]
struct Told {
    error: Option<SqlError>,
    messages: Vec<SqlError>,
}

impl Output for Told {
    fn columns(&mut self, _: &[ColumnInfo]) {}
    fn row(&mut self, _: &[Value]) {}
    fn done(&mut self, _: Ended) {}
    fn message(&mut self, message: &SqlError) {
        self.messages.push(message.clone());
    }
    fn error(&mut self, error: &SqlError) {
        self.error.get_or_insert_with(|| error.clone());
    }
}

async fn run(session: &mut Session, text: &str) -> Result<(), SqlError> {
    let mut output = Told::default();
    session.run(text, &mut [], &mut output).await;
    output.error.map_or(Ok(()), Err)
}

impl Bulk {
    /// Takes the rows that a part of the message has made whole.
    async fn take(&mut self, part: &[u8], is_end: bool, session: &mut Session) -> Result<(), SqlError> {
        self.load.feed(part, is_end).map_err(|error| error.to_sql_error())?;
        self.kept_bytes += part.len();
        let mut row = Vec::new();
        while self.load.next_row(&mut row).map_err(|error| error.to_sql_error())? {
            self.kept.push(std::mem::take(&mut row));
            if self.kept.len() == ROWS_AT_ONCE {
                self.insert_kept(session).await?;
            }
        }
        if is_end || self.kept_bytes >= BYTES_AT_ONCE { self.insert_kept(session).await } else { Ok(()) }
    }

    async fn insert_kept(&mut self, session: &mut Session) -> Result<(), SqlError> {
        self.kept_bytes = 0;
        if self.kept.is_empty() {
            return Ok(());
        }
        if self.target.is_none() {
            self.begin(session).await?;
        }
        if let Some(target) = &self.target {
            let mut output = Told::default();
            self.rows += session.insert_rows(target, std::mem::take(&mut self.kept), &mut output).await?;
            // To the client the load is one statement, however many there are.
            for message in output.messages {
                if self.messages.iter().all(|told| told.number != message.number) {
                    self.messages.push(message);
                }
            }
        }
        Ok(())
    }

    /// The first row has come: the columns are known.
    async fn begin(&mut self, session: &mut Session) -> Result<(), SqlError> {
        let columns = self.load.columns().map_err(|error| error.to_sql_error())?.unwrap_or_default();
        let info = |column: &BulkColumn| {
            let ty = match column.info.sql_type() {
                SqlType::Null => SqlType::NVarChar(Length::Max),
                SqlType::Clr(_) => SqlType::VarBinary(Length::Max),
                // Values come as short as the client has them, and the column fills them up.
                SqlType::Binary(length) => SqlType::VarBinary(Length::Limit(length)),
                // Drivers load texts and bytes as these into columns of other types.
                ty => ty.without_text_or_image(),
            };
            ColumnInfo::new("", ty, true)
        };
        let infos: Vec<ColumnInfo> = columns.iter().map(info).collect();
        if infos.len() != self.statement.columns.len() {
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
        let BulkStatement { table, columns, options, .. } = &self.statement;
        let identity = session.identity_column(table);
        self.keeps_identity = identity
            .is_some_and(|identity| columns.iter().any(|column| identity.eq_ignore_ascii_case(&unquoted(column))));
        if self.keeps_identity {
            run(session, &format!("SET IDENTITY_INSERT {table} ON")).await?;
        }
        self.target = Some(RowTarget::new(table, columns, infos, *options)?);
        Ok(())
    }

    /// Ends what the load has begun.
    async fn end(&mut self, session: &mut Session) -> Result<(), SqlError> {
        if self.keeps_identity && self.target.is_some() {
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
        let collations = statement.collations.clone();
        self.bulk = Some(Bulk {
            statement,
            load: BulkLoad::new(self.version, &self.limits).with_collations(collations),
            target: None,
            keeps_identity: false,
            kept: Vec::new(),
            kept_bytes: 0,
            rows: 0,
            messages: Vec::new(),
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
        tell_changes(&mut reply, session, before, &mut self.told);
        tell_state(&mut reply, session, &self.cursors, &mut self.told);
        tell_end(&mut reply, session, self.shared.is_closing());
        bulk.messages.iter().for_each(|message| reply.message(message));
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
        assert_eq!(statement.collations, [None, Collation::by_name("Latin1_General_BIN"), None]);
        assert_eq!(statement.options, LoadOptions { keeps_nulls: true, ..LoadOptions::default() });
        let target = RowTarget::new(&statement.table, &statement.columns, Vec::new(), statement.options);
        assert!(target.is_ok());
        let names = parse("insert bulk t ([a]],b)\"] int, \"c\"\",(d\" int, [ e ]]] int)").flatten();
        assert_eq!(names.expect("it is one").columns, ["[a]],b)\"]", "\"c\"\",(d\"", "[ e ]]]"]);
        assert!(parse("INSERT bulk_table VALUES (1)").is_none());
        assert_eq!(parse("INSERT BULK t"), Some(None));
        let refused = BulkStatement::parse("INSERT BULK t (a varchar(5) collate none)").and_then(Result::err);
        assert_eq!(refused.map(|error| error.number), Some(448));
    }

    #[test]
    fn every_option_is_heard_or_refused() {
        let with = |options: &str| BulkStatement::parse(&format!("INSERT BULK t (a int) WITH {options}"));
        let heard = with(
            "(TABLOCK, fire_triggers, Keep_Nulls, KEEP_IDENTITY, CHECK_CONSTRAINTS, ALLOW_ENCRYPTED_VALUE_MODIFICATIONS, ORDER([a] ASC, b DESC), ROWS_PER_BATCH = 10, KILOBYTES_PER_BATCH=5)",
        );
        let heard = heard.and_then(Result::ok).expect("all are known");
        let all = LoadOptions { locks_table: true, fires_triggers: true, checks_constraints: true, keeps_nulls: true };
        assert_eq!(heard.options, all);
        let refused = [
            ("(TABLOCKX)", 155),
            ("(TABLOCK = 1)", 102),
            ("(ROWS_PER_BATCH)", 102),
            ("(ORDER a)", 102),
            ("(TABLOCK", 102),
            ("TABLOCK", 102),
            ("", 102),
        ];
        for (options, number) in refused {
            let error = with(options).and_then(Result::err).map(|error| error.number);
            assert_eq!(error, Some(number), "{options}");
        }
    }
}
