//! TABNAME and COLINFO: which tables and columns a cursor's columns come from.
//!
//! ```text
//!   0xA4 | length | for each table: count of parts, parts
//!   0xA5 | length | for each column: its number, its table's number, status | its own name where the result set has another
//! ```

use crate::packet::MessageWriter;
use crate::put::Put;

const TABLES: u8 = 0xA4;
const COLUMNS: u8 = 0xA5;

/// Where a column of a result set comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ColumnOrigin<'a> {
    /// The table's place in the list of tables; `None` for an expression.
    pub table: Option<u8>,
    /// It is part of the table's key.
    pub key: bool,
    /// The client did not ask for it.
    pub hidden: bool,
    /// Its name in its table, where the result set has another.
    pub base_name: Option<&'a str>,
}

impl MessageWriter {
    /// Where the columns come from that were announced last: to be sent right behind them. Each table is its name in parts. Nothing
    /// is sent when it would be longer than a token can be: clients do without.
    pub fn origins(&mut self, tables: &[&[&str]], columns: &[ColumnOrigin<'_>]) {
        let start = self.pending.len();
        let fits = self.counted(TABLES, |out| {
            for parts in tables {
                out.put_u8(parts.len() as u8);
                parts.iter().for_each(|part| out.put_long_text(part, 128));
            }
        }) && self.counted(COLUMNS, |out| {
            for (number, column) in (1u8..=255).cycle().zip(columns) {
                out.put_u8(number);
                out.put_u8(column.table.map_or(0, |table| table.saturating_add(1)));
                let different = u8::from(column.base_name.is_some());
                let expression = u8::from(column.table.is_none());
                out.put_u8(expression << 2 | u8::from(column.key) << 3 | u8::from(column.hidden) << 4 | different << 5);
                column.base_name.iter().for_each(|name| out.put_short_text(name));
            }
        });
        if !fits {
            self.pending.truncate(start);
        }
        self.cut();
    }
}
