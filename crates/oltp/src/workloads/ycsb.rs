//! YCSB A and B as BenchBase has them: reads and updates of whole rows, whose keys follow Zipf's law.

use super::{Ending, Kind, kind};
use crate::load::Loader;
use crate::random::{self, Rng, Zipf};
use crate::schema::{Column, INT, Table, column, nullable, varchar};
use crate::session::SessionError;
use crate::terminal::Terminal;
use crate::values::{int, text};
use pikepole_embedded::{SqlType, Value};

/// Rows of scale 1.
const ROWS: u32 = 100_000;
/// The skew of the keys.
const SKEW: f64 = 0.99;
/// Fields of a row, and bytes of each.
const FIELDS: usize = 10;
const FIELD_BYTES: usize = 100;

const FIELD: SqlType = varchar(FIELD_BYTES as u16);
const COLUMNS: &[Column] = &[
    column("ycsb_key", INT),
    nullable("field1", FIELD),
    nullable("field2", FIELD),
    nullable("field3", FIELD),
    nullable("field4", FIELD),
    nullable("field5", FIELD),
    nullable("field6", FIELD),
    nullable("field7", FIELD),
    nullable("field8", FIELD),
    nullable("field9", FIELD),
    nullable("field10", FIELD),
];

/// The table.
pub const TABLES: &[Table] =
    &[Table { name: "usertable", columns: COLUMNS, constraints: &["PRIMARY KEY (ycsb_key)"], indexes: &[] }];

const A: &[Kind] = &[kind("read", 50), kind("update", 50)];
const B: &[Kind] = &[kind("read", 95), kind("update", 5)];

crate::statements! {
    READ (INT): "SELECT * FROM usertable WHERE ycsb_key = $1";
    UPDATE (FIELD, FIELD, FIELD, FIELD, FIELD, FIELD, FIELD, FIELD, FIELD, FIELD, INT):
        "UPDATE usertable SET field1 = $1, field2 = $2, field3 = $3, field4 = $4, field5 = $5, field6 = $6, field7 = $7,
         field8 = $8, field9 = $9, field10 = $10 WHERE ycsb_key = $11";
}

/// A workload.
pub struct Ycsb {
    /// Its size in 100,000 rows.
    pub scale: u32,
    /// Its kinds of transactions.
    pub kinds: &'static [Kind],
    keys: Zipf,
}

impl Ycsb {
    /// Half of the transactions are updates.
    pub fn a(scale: u32) -> Ycsb {
        Ycsb::new(scale, A)
    }

    /// One of twenty transactions is an update.
    pub fn b(scale: u32) -> Ycsb {
        Ycsb::new(scale, B)
    }

    fn new(scale: u32, kinds: &'static [Kind]) -> Ycsb {
        Ycsb { scale, kinds, keys: Zipf::new(u64::from(scale * ROWS), SKEW) }
    }

    /// Loads the rows.
    pub fn load(&self, loader: &mut Loader<'_>, random: &mut Rng) -> Result<(), SessionError> {
        for key in 0..self.scale * ROWS {
            let mut row = vec![int(key)];
            row.extend(fields(random));
            loader.row("usertable", row)?;
        }
        Ok(())
    }

    /// Runs a transaction.
    pub async fn run(&self, terminal: &mut Terminal, kind: usize) -> Result<Ending, SessionError> {
        let key = int(self.keys.next(&mut terminal.random) as i64);
        match kind {
            0 => {
                let answer = terminal.run(READ, &[key]).await?;
                answer.text(0, FIELDS)?;
            }
            _ => {
                let mut values: Vec<Value> = fields(&mut terminal.random).collect();
                values.push(key);
                let answer = terminal.run(UPDATE, &values).await?;
                if answer.affected != 1 {
                    return Err(SessionError::Other(format!("an update changed {} rows", answer.affected)));
                }
            }
        }
        Ok(Ending::Commit)
    }
}

fn fields(random: &mut Rng) -> impl Iterator<Item = Value> + '_ {
    (0..FIELDS).map(|_| text(random::text(random, FIELD_BYTES..=FIELD_BYTES)))
}
