//! The transaction guard for plain threads.

use super::{Appender, Events};
use crate::answer::Outcome;
use crate::mailbox::Mailbox;
use crate::parameter::Parameters;
use crate::rows::{FromSql, Row, Rows};
use crate::statement::ToStatement;
use crate::{Error, transaction};
use std::sync::Arc;

/// An open transaction of a connection; see [`super::Connection::transaction`]. Dropping it rolls it back, and waits for that.
///
/// ```
/// use pikepole_embedded::{Engine, Error, params};
///
/// # let engine = Engine::in_memory()?;
/// # let mut connection = engine.connect_blocking()?;
/// connection.execute("CREATE TABLE dbo.account (id int PRIMARY KEY, amount money NOT NULL CHECK (amount >= 0))", [])?;
/// connection.execute("INSERT dbo.account VALUES (1, 10), (2, 0)", [])?;
/// let mut pay = |amount: i32| -> Result<(), Error> {
///     let mut transaction = connection.transaction()?;
///     transaction.execute("UPDATE dbo.account SET amount += @p1 WHERE id = 2", params![amount])?;
///     transaction.execute("UPDATE dbo.account SET amount -= @p1 WHERE id = 1", params![amount])?;
///     transaction.commit()
/// };
/// pay(7)?;
/// assert_eq!(pay(7).err().and_then(|error| error.number()), Some(547));
/// let left: i32 = connection.query_value("SELECT amount FROM dbo.account WHERE id = 2", [])?;
/// assert_eq!(left, 7);
/// # Ok::<(), Error>(())
/// ```
#[must_use = "a transaction that is dropped is rolled back"]
pub struct Transaction<'a> {
    /// Absent once it has been committed or rolled back.
    transaction: Option<transaction::Transaction<'a>>,
    mailbox: Arc<Mailbox>,
}

impl<'a> Transaction<'a> {
    pub(super) fn new(transaction: transaction::Transaction<'a>, mailbox: Arc<Mailbox>) -> Transaction<'a> {
        Transaction { transaction: Some(transaction), mailbox }
    }

    fn parts(&mut self) -> Result<(&mut transaction::Transaction<'a>, &Arc<Mailbox>), Error> {
        Ok((self.transaction.as_mut().ok_or(Error::TransactionEnded)?, &self.mailbox))
    }

    /// As [`super::Connection::run`].
    ///
    /// # Errors
    /// As [`crate::Transaction::run`].
    pub fn run(&mut self, sql: impl ToStatement, parameters: impl Parameters) -> Result<Events<'_>, Error> {
        let (transaction, mailbox) = self.parts()?;
        let events = mailbox.block_on(transaction.run(sql, parameters))?;
        Ok(Events { events, mailbox: Arc::clone(mailbox) })
    }

    /// As [`super::Connection::execute`].
    ///
    /// # Errors
    /// As [`crate::Transaction::execute`].
    pub fn execute(&mut self, sql: impl ToStatement, parameters: impl Parameters) -> Result<Outcome, Error> {
        let (transaction, mailbox) = self.parts()?;
        mailbox.block_on(transaction.execute(sql, parameters))
    }

    /// As [`super::Connection::query`].
    ///
    /// # Errors
    /// As [`crate::Transaction::query`].
    pub fn query(&mut self, sql: impl ToStatement, parameters: impl Parameters) -> Result<Rows, Error> {
        let (transaction, mailbox) = self.parts()?;
        mailbox.block_on(transaction.query(sql, parameters))
    }

    /// As [`super::Connection::query_row`].
    ///
    /// # Errors
    /// As [`crate::Transaction::query_row`].
    pub fn query_row(&mut self, sql: impl ToStatement, parameters: impl Parameters) -> Result<Row, Error> {
        let (transaction, mailbox) = self.parts()?;
        mailbox.block_on(transaction.query_row(sql, parameters))
    }

    /// As [`super::Connection::query_opt`].
    ///
    /// # Errors
    /// As [`crate::Transaction::query_opt`].
    pub fn query_opt(&mut self, sql: impl ToStatement, parameters: impl Parameters) -> Result<Option<Row>, Error> {
        let (transaction, mailbox) = self.parts()?;
        mailbox.block_on(transaction.query_opt(sql, parameters))
    }

    /// As [`super::Connection::query_value`].
    ///
    /// # Errors
    /// As [`crate::Transaction::query_value`].
    pub fn query_value<T: FromSql>(&mut self, sql: impl ToStatement, parameters: impl Parameters) -> Result<T, Error> {
        let (transaction, mailbox) = self.parts()?;
        mailbox.block_on(transaction.query_value(sql, parameters))
    }

    /// As [`super::Connection::appender`], within the transaction.
    ///
    /// # Errors
    /// As [`crate::Transaction::appender`].
    pub fn appender(&mut self, table: &str, columns: &[&str]) -> Result<Appender<'_>, Error> {
        let (transaction, mailbox) = self.parts()?;
        let appender = mailbox.block_on(transaction.appender(table, columns))?;
        Ok(Appender::new(appender, Arc::clone(mailbox)))
    }

    /// Commits it.
    ///
    /// # Errors
    /// As [`crate::Transaction::commit`].
    pub fn commit(mut self) -> Result<(), Error> {
        let transaction = self.transaction.take().ok_or(Error::TransactionEnded)?;
        self.mailbox.block_on(transaction.commit())
    }

    /// Rolls it back.
    ///
    /// # Errors
    /// As [`crate::Transaction::rollback`].
    pub fn rollback(mut self) -> Result<(), Error> {
        let transaction = self.transaction.take().ok_or(Error::TransactionEnded)?;
        self.mailbox.block_on(transaction.rollback())
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if let Some(transaction) = self.transaction.take() {
            // Without an engine there is no transaction either.
            let _ = self.mailbox.block_on(transaction.rollback());
        }
    }
}
