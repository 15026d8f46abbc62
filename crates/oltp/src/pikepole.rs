//! Sessions of Pikepole, through the project's own client.
//!
//! Transactions are those of Microsoft's JDBC driver with autocommit off: implicit transactions, and a batch that ends them.

use crate::schema::Table;
use crate::session::{Answer, Session, SessionError, Statement};
use pikepole_client::{ClientError, ConnectOptions, Connection};
use pikepole_embedded::{SqlError, SqlType, Value};
use std::os::fd::{AsFd, BorrowedFd};

/// Ends of transactions, as the driver sends them.
const COMMIT: &str = "IF @@TRANCOUNT > 0 COMMIT TRAN";
const ROLLBACK: &str = "IF @@TRANCOUNT > 0 ROLLBACK TRAN";
/// Calls in a message of a load.
const CALLS_MAX: usize = 500;

/// A session.
pub struct PikepoleSession {
    connection: Connection,
    statements: Vec<pikepole_client::Statement>,
    /// The table that rows were inserted into last, and the statement that does it.
    insert: Option<(&'static str, pikepole_client::Statement)>,
}

impl PikepoleSession {
    /// Connects.
    pub fn connect(options: &ConnectOptions) -> Result<PikepoleSession, SessionError> {
        let connection = Connection::connect(options).map_err(failed)?;
        Ok(PikepoleSession { connection, statements: Vec::new(), insert: None })
    }

    fn finish(&mut self) -> Result<Answer, SessionError> {
        let outcome = self.connection.finish().map_err(failed)?;
        let rows = outcome.sets.into_iter().next().map_or_else(Vec::new, |set| set.into_iter().collect());
        Ok(Answer { rows, affected: outcome.rows_affected })
    }
}

impl Session for PikepoleSession {
    fn run(&mut self, sql: &str) -> Result<Answer, SessionError> {
        self.connection.run(sql).map_err(failed)?;
        self.finish()
    }

    fn insert(&mut self, table: &Table, rows: &[Vec<Value>]) -> Result<(), SessionError> {
        let insert = match &self.insert {
            Some((name, insert)) if *name == table.name => insert.clone(),
            _ => {
                let names: Vec<String> = (1..=table.columns.len()).map(|number| format!("@p{number}")).collect();
                let types = table.columns.iter().map(|column| column.ty);
                let parameters: Vec<(&str, SqlType)> = names.iter().map(String::as_str).zip(types).collect();
                let (columns, values) = (table.column_names(), names.join(", "));
                let sql = format!("INSERT INTO {} ({columns}) VALUES ({values})", table.name);
                let insert = self.connection.prepare(&sql, &parameters).map_err(failed)?;
                self.insert = Some((table.name, insert.clone()));
                insert
            }
        };
        self.run("BEGIN TRAN")?;
        for calls in rows.chunks(CALLS_MAX) {
            self.connection.start_all(&insert, calls.iter().map(Vec::as_slice)).map_err(failed)?;
            self.finish()?;
        }
        self.run(COMMIT).map(|_| ())
    }

    fn prepare(&mut self, statements: &[Statement]) -> Result<(), SessionError> {
        for statement in statements {
            let names: Vec<String> = (1..=statement.parameters.len()).map(|number| format!("@p{number}")).collect();
            let parameters: Vec<(&str, SqlType)> =
                names.iter().map(String::as_str).zip(statement.parameters.iter().copied()).collect();
            self.statements.push(self.connection.prepare(&statement.tsql(), &parameters).map_err(failed)?);
        }
        self.run("SET IMPLICIT_TRANSACTIONS ON").map(|_| ())
    }

    fn send(&mut self, statement: usize, values: &[Value]) -> Result<(), SessionError> {
        self.connection.start(&self.statements[statement], values).map_err(failed)
    }

    fn send_end(&mut self, commits: bool) -> Result<(), SessionError> {
        self.connection.run(if commits { COMMIT } else { ROLLBACK }).map_err(failed)?;
        Ok(())
    }

    fn receive(&mut self) -> Result<Answer, SessionError> {
        self.finish()
    }

    fn socket(&self) -> BorrowedFd<'_> {
        self.connection.as_fd()
    }
}

fn failed(error: ClientError) -> SessionError {
    let ClientError::Sql(SqlError { number, .. }) = &error else { return SessionError::other(error) };
    match number {
        // A deadlock; a row that changed since the snapshot.
        1205 | 3960 => SessionError::Conflict(error.to_string()),
        // A foreign key; a unique index; a primary key.
        547 | 2601 | 2627 => SessionError::Constraint(error.to_string()),
        _ => SessionError::other(error),
    }
}
