//! Sessions of Pikepole, through the project's own client.

use crate::engine::{DATABASE, Engine, EngineError, Row, quoted};
use crate::queries::Dialect;
use crate::schema::{TABLES, Table};
use pikepole_client::{Canceller, ClientError, ConnectOptions, Connection};
use pikepole_embedded::{Rows, Value};
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// A session.
pub struct Pikepole {
    name: String,
    options: ConnectOptions,
    /// Made by the first statement: the database may have to be created before.
    connection: Option<Connection>,
    limit: Option<Duration>,
}

impl Pikepole {
    /// A session that connects when it is used.
    pub fn new(name: String, options: ConnectOptions) -> Pikepole {
        Pikepole { name, options, connection: None, limit: None }
    }

    /// The lines of the plan of a query.
    pub fn plan(&mut self, sql: &str) -> Result<Vec<String>, EngineError> {
        self.run("SET SHOWPLAN_TEXT ON")?;
        let outcome = self.connection()?.execute(sql).map_err(EngineError::other)?;
        self.run("SET SHOWPLAN_TEXT OFF")?;
        Ok(outcome.sets.iter().flat_map(Rows::iter).map(|row| row.text(0)).collect())
    }

    fn connection(&mut self) -> Result<&mut Connection, EngineError> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => {
                let mut options = self.options.clone();
                options.database = DATABASE.to_string();
                Connection::connect(&options).map_err(EngineError::other)?
            }
        };
        Ok(self.connection.insert(connection))
    }
}

impl Engine for Pikepole {
    fn name(&self) -> &str {
        &self.name
    }

    fn dialect(&self) -> Dialect {
        Dialect::Tsql
    }

    fn set_limit(&mut self, limit: Duration) -> Result<(), EngineError> {
        self.limit = Some(limit);
        Ok(())
    }

    fn run(&mut self, sql: &str) -> Result<Vec<Row>, EngineError> {
        let limit = self.limit;
        let connection = self.connection()?;
        let canceller = connection.canceller();
        let (result, is_cancelled) = limited(limit, &canceller, || connection.execute(sql));
        if is_cancelled {
            return Err(EngineError::OverLimit);
        }
        if result.as_ref().is_err_and(|error| !matches!(error, ClientError::Sql(_))) {
            // The next statement connects again.
            self.connection = None;
        }
        let sets = result.map_err(EngineError::other)?.sets;
        let row = |row: &pikepole_embedded::Row| {
            let field = |(place, value): (usize, &Value)| (*value != Value::Null).then(|| row.text(place));
            row.values().iter().enumerate().map(field).collect()
        };
        Ok(sets.first().map_or_else(Vec::new, |rows| rows.iter().map(row).collect()))
    }

    fn make_database(&mut self) -> Result<(), EngineError> {
        let mut connection = Connection::connect(&self.options).map_err(EngineError::other)?;
        let create = format!("IF DB_ID('{DATABASE}') IS NULL CREATE DATABASE {DATABASE}");
        // Under SIMPLE a load into an empty table is not logged row by row.
        let recovery = format!("ALTER DATABASE {DATABASE} SET RECOVERY SIMPLE");
        for sql in [create, recovery] {
            connection.execute(&sql).map_err(EngineError::other)?;
        }
        Ok(())
    }

    fn load(&mut self, table: &Table, file: &Path) -> Result<(), EngineError> {
        let (name, file) = (table.name, quoted(file.display()));
        let options = "FIELDTERMINATOR = '|', ROWTERMINATOR = '0x0a', TABLOCK";
        self.run(&format!("BULK INSERT {name} FROM {file} WITH ({options})")).map(|_| ())
    }

    fn finishing(&self) -> Vec<String> {
        let statistics = TABLES.iter().map(|table| format!("UPDATE STATISTICS {}", table.name));
        statistics.chain(["CHECKPOINT".to_string()]).collect()
    }
}

/// Runs `work`, and cancels it when the limit is over. Returns true beside its result when it was cancelled.
fn limited<T>(limit: Option<Duration>, canceller: &Canceller, work: impl FnOnce() -> T) -> (T, bool) {
    let Some(limit) = limit else { return (work(), false) };
    let (end, ended) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let guard = scope.spawn(move || {
            let is_over = ended.recv_timeout(limit) == Err(RecvTimeoutError::Timeout);
            if is_over {
                canceller.cancel();
            }
            is_over
        });
        let result = work();
        drop(end);
        // A thread that panicked has cancelled nothing.
        (result, guard.join().unwrap_or(false))
    })
}
