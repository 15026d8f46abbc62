//! An engine, whichever it is: texts of statements in, rows of texts out.

use crate::queries::Dialect;
use crate::schema::Table;
use std::path::Path;
use std::time::Duration;

/// The name of the database that Pikepole has the tables in.
pub const DATABASE: &str = "tpch";

/// A row of a result, as texts; `None` is NULL.
pub type Row = Vec<Option<String>>;

/// The failure of a statement.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// It took longer than the time limit, and was cancelled.
    #[error("over the time limit")]
    OverLimit,
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

impl EngineError {
    /// A failure of this text.
    pub fn other(error: impl std::fmt::Display) -> EngineError {
        EngineError::Other(error.to_string())
    }
}

impl From<std::io::Error> for EngineError {
    fn from(error: std::io::Error) -> EngineError {
        EngineError::Other(format!("the connection broke: {error}"))
    }
}

/// A session of an engine.
pub trait Engine {
    /// Its name in tables.
    fn name(&self) -> &str;

    /// True for an engine that Pikepole is compared with.
    fn is_peer(&self) -> bool {
        self.dialect() == Dialect::Ansi
    }

    /// Its language.
    fn dialect(&self) -> Dialect;

    /// Sets the longest time of each statement from now on.
    fn set_limit(&mut self, limit: Duration) -> Result<(), EngineError>;

    /// Runs a statement and returns the rows of its first result.
    fn run(&mut self, sql: &str) -> Result<Vec<Row>, EngineError>;

    /// Creates the database where the engine is able to.
    fn make_database(&mut self) -> Result<(), EngineError>;

    /// Loads a file into an empty table.
    fn load(&mut self, table: &Table, file: &Path) -> Result<(), EngineError>;

    /// The statements that follow a load: statistics, and a checkpoint.
    fn finishing(&self) -> Vec<String>;
}

/// The number of a table's rows.
pub fn count(engine: &mut dyn Engine, table: &str) -> Result<u64, EngineError> {
    let sql = match engine.dialect() {
        Dialect::Tsql => format!("SELECT COUNT_BIG(*) FROM {table}"),
        Dialect::Ansi => format!("SELECT COUNT(*) FROM {table}"),
    };
    let rows = engine.run(&sql)?;
    let count = rows.first().and_then(|row| row.first()?.as_ref()?.parse().ok());
    count.ok_or_else(|| EngineError::Other(format!("`{sql}` gave no number")))
}

/// A text as a literal, which is the same in all dialects.
pub fn quoted(text: impl std::fmt::Display) -> String {
    format!("'{}'", text.to_string().replace('\'', "''"))
}
