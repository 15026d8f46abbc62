//! Rows on their way into tables.

use crate::schema::Table;
use crate::session::{Session, SessionError};
use pikepole_embedded::Value;

/// Rows of a table that are sent together.
const ROWS_MAX: usize = 5000;

/// Collects rows by table and sends them in batches.
pub struct Loader<'a> {
    session: &'a mut dyn Session,
    tables: &'static [Table],
    rows: Vec<Vec<Vec<Value>>>,
}

impl<'a> Loader<'a> {
    /// A loader of empty tables, in an order in which each refers to those before it.
    pub fn new(session: &'a mut dyn Session, tables: &'static [Table]) -> Loader<'a> {
        Loader { session, tables, rows: vec![Vec::new(); tables.len()] }
    }

    /// Takes a row of the table of this name.
    pub fn row(&mut self, table: &str, values: Vec<Value>) -> Result<(), SessionError> {
        let place = self.tables.iter().position(|known| known.name == table);
        let place = place.ok_or_else(|| SessionError::Other(format!("the workload has no table {table}")))?;
        self.rows[place].push(values);
        match self.rows[place].len() < ROWS_MAX {
            true => Ok(()),
            false => self.flush(),
        }
    }

    /// Sends the rows that wait.
    pub fn flush(&mut self) -> Result<(), SessionError> {
        for (table, rows) in self.tables.iter().zip(&mut self.rows) {
            if !rows.is_empty() {
                self.session.insert(table, rows)?;
                rows.clear();
            }
        }
        Ok(())
    }
}
