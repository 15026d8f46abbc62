//! A transaction as a guard: it is rolled back when it goes out of scope, and committed by value.

use crate::answer::Outcome;
use crate::appender::Appender;
use crate::connection::Connection;
use crate::parameter::Parameters;
use crate::rows::{FromSql, Row, Rows};
use crate::statement::ToStatement;
use crate::{Error, Events};

/// An open transaction of a connection; see [`Connection::transaction`].
///
/// Dropping it rolls it back: the session does so at once, in the background.
#[must_use = "a transaction that is dropped is rolled back"]
pub struct Transaction<'a> {
    connection: &'a mut Connection,
}

impl<'a> Transaction<'a> {
    pub(crate) async fn begin(connection: &'a mut Connection) -> Result<Transaction<'a>, Error> {
        connection.settle().await?;
        if connection.is_in_transaction() {
            return Err(Error::Usage("the connection has a transaction already".to_owned()));
        }
        // Its drop ends what this future begins, also when the future is not run to its end.
        let transaction = Transaction { connection };
        transaction.connection.execute("BEGIN TRANSACTION", []).await?;
        Ok(transaction)
    }

    /// The connection while its transaction is open.
    async fn open(&mut self) -> Result<&mut Connection, Error> {
        self.connection.settle().await?;
        match self.connection.is_in_transaction() {
            true => Ok(self.connection),
            false => Err(Error::TransactionEnded),
        }
    }

    /// As [`Connection::run`].
    ///
    /// # Errors
    /// As [`Connection::run`]; [`Error::TransactionEnded`] after an error that rolled it back, as of all calls here.
    pub async fn run(&mut self, sql: impl ToStatement, parameters: impl Parameters) -> Result<Events<'_>, Error> {
        self.open().await?.run(sql, parameters).await
    }

    /// As [`Connection::execute`].
    ///
    /// # Errors
    /// As [`Connection::execute`] and [`Transaction::run`].
    pub async fn execute(&mut self, sql: impl ToStatement, parameters: impl Parameters) -> Result<Outcome, Error> {
        self.open().await?.execute(sql, parameters).await
    }

    /// As [`Connection::query`].
    ///
    /// # Errors
    /// As [`Connection::query`] and [`Transaction::run`].
    pub async fn query(&mut self, sql: impl ToStatement, parameters: impl Parameters) -> Result<Rows, Error> {
        self.open().await?.query(sql, parameters).await
    }

    /// As [`Connection::query_row`].
    ///
    /// # Errors
    /// As [`Connection::query_row`] and [`Transaction::run`].
    pub async fn query_row(&mut self, sql: impl ToStatement, parameters: impl Parameters) -> Result<Row, Error> {
        self.open().await?.query_row(sql, parameters).await
    }

    /// As [`Connection::query_opt`].
    ///
    /// # Errors
    /// As [`Connection::query_opt`] and [`Transaction::run`].
    pub async fn query_opt(
        &mut self,
        sql: impl ToStatement,
        parameters: impl Parameters,
    ) -> Result<Option<Row>, Error> {
        self.open().await?.query_opt(sql, parameters).await
    }

    /// As [`Connection::query_value`].
    ///
    /// # Errors
    /// As [`Connection::query_value`] and [`Transaction::run`].
    pub async fn query_value<T: FromSql>(
        &mut self,
        sql: impl ToStatement,
        parameters: impl Parameters,
    ) -> Result<T, Error> {
        self.open().await?.query_value(sql, parameters).await
    }

    /// As [`Connection::appender`], within the transaction.
    ///
    /// # Errors
    /// As [`Connection::appender`] and [`Transaction::run`].
    pub async fn appender(&mut self, table: &str, columns: &[&str]) -> Result<Appender<'_>, Error> {
        self.open().await?.appender(table, columns).await
    }

    /// Commits it.
    ///
    /// # Errors
    /// [`Error::TransactionEnded`] when an error has rolled it back before; [`Error::Sql`] when it cannot be committed, and is rolled back.
    pub async fn commit(mut self) -> Result<(), Error> {
        self.open().await?.execute("COMMIT TRANSACTION", []).await.map(drop)
    }

    /// Rolls it back, and returns when that is done.
    ///
    /// # Errors
    /// [`Error::Closed`] when the engine has been shut down.
    pub async fn rollback(self) -> Result<(), Error> {
        self.connection.roll_back().await
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        self.connection.roll_back_later();
    }
}
