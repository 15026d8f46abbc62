//! TABLESAMPLE: a table's rows by chance. SQL Server takes or leaves whole pages; here each row has its own chance, so that small tables
//! have samples too.
//!
//! ```text
//!   n PERCENT              each row with the chance n / 100
//!   n ROWS                 n rows by chance
//!   REPEATABLE (seed)      chance is a checksum of the seed and the row: as long as the rows are the same, so is the sample
//! ```

use super::Binder;
use super::join::JoinTree;
use super::source::table_name;
use crate::errors;
use crate::expression::{Expr, Fault};
use pikepole_tsql as tree;
use pikepole_types::{SqlError, SqlType, Value};

/// Chances are told in so many parts of the whole.
const PARTS: f64 = 1_000_000.0;

impl Binder<'_> {
    pub(super) fn sampled(&mut self, table: &tree::TableRef, sample: &tree::TableSample) -> Result<JoinTree, Fault> {
        if self.catalog().table(&table.name)?.is_none() {
            // What is not there may be made before the statement runs.
            self.named(&table.name)?;
            return Err(Box::new(SqlError::sample_of_local_tables()));
        }
        let name = &table.name.name.text;
        let not_whole = |number: f64| (number.fract() != 0.0).then(|| Box::new(SqlError::sample_rows_invalid(name)));
        let count = self.sample_number(&sample.count)?;
        let seed = sample.seed.as_ref().map(|seed| self.sample_number(seed)).transpose()?;
        if let Some(error) = seed.and_then(not_whole) {
            return Err(error);
        }
        let chance = match seed {
            None => "CHECKSUM(NEWID())".to_owned(),
            Some(seed) => format!("CHECKSUM(*) ^ CHECKSUM({seed:.0})"),
        };
        // A checksum of few columns is small: a second one spreads it.
        let chance = format!("CAST(HASHBYTES('MD5', CAST({chance} AS varbinary(4))) AS int)");
        let carried: String = self.carried_items().iter().map(|item| format!(", {item}")).collect();
        let plain = tree::TableRef { sample: None, alias: None, ..table.clone() };
        let text = if sample.rows {
            if let Some(error) = not_whole(count) {
                return Err(error);
            }
            if count < 0.0 {
                return Err(Box::new(SqlError::sample_value_invalid()));
            }
            format!("SELECT TOP ({count:.0}) *{carried} FROM {plain} ORDER BY {chance}")
        } else {
            if !(0.0..=100.0).contains(&count) {
                return Err(Box::new(SqlError::sample_percent_invalid(format!("{count:.6}"), name)));
            }
            let parts = count / 100.0 * PARTS;
            format!("SELECT *{carried} FROM {plain} WHERE ABS(CAST({chance} AS bigint)) % {PARTS:.0} < {parts:.0}")
        };
        let unread = || errors::unsupported("TABLESAMPLE of this table");
        let batch = tree::parse(&text).map_err(|_| unread())?;
        let Some(tree::StatementKind::Select(query)) = batch.statements.into_iter().next().map(|found| found.kind)
        else {
            return Err(unread());
        };
        let (alias, schema) = table_name(table);
        let derived = tree::DerivedTable { query: *query, alias: alias.clone(), columns: Vec::new() };
        let tree = self.derived(&derived, false)?;
        self.carries_virtual();
        if let Some(source) = self.scope().sources.last_mut() {
            source.schema = schema;
        }
        Ok(tree)
    }

    fn sample_number(&mut self, expr: &tree::Expr) -> Result<f64, Fault> {
        let sources = std::mem::take(&mut self.scope().sources);
        let typed = self.expr(expr);
        self.scope().sources = sources;
        match super::convert_to(typed?, &SqlType::Float)?.expr {
            Expr::Const(Value::Float(number)) => Ok(number),
            _ => Err(Box::new(SqlError::sample_variables())),
        }
    }
}
