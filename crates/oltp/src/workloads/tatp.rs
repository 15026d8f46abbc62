//! TATP, the telecom workload: seven short transactions on subscribers, four of five of them reads.
//!
//! Subscribers are drawn evenly, as BenchBase draws them.

use super::{Ending, Kind, kind};
use crate::load::Loader;
use crate::random::{self, Rng};
use crate::schema::{Column, INT, SMALLINT, TINYINT, Table, column, nullable, varchar};
use crate::session::SessionError;
use crate::terminal::Terminal;
use crate::values::{int, text};
use pikepole_embedded::{SqlType, Value};

/// Subscribers of scale 1.
const SUBSCRIBERS: u32 = 100_000;
/// Digits of a number.
const NUMBER_BYTES: usize = 15;
const NUMBER: SqlType = varchar(NUMBER_BYTES as u16);

const SUBSCRIBER: &[Column] = &[
    column("s_id", INT),
    column("sub_nbr", NUMBER),
    nullable("bit_1", TINYINT),
    nullable("bit_2", TINYINT),
    nullable("bit_3", TINYINT),
    nullable("bit_4", TINYINT),
    nullable("bit_5", TINYINT),
    nullable("bit_6", TINYINT),
    nullable("bit_7", TINYINT),
    nullable("bit_8", TINYINT),
    nullable("bit_9", TINYINT),
    nullable("bit_10", TINYINT),
    nullable("hex_1", TINYINT),
    nullable("hex_2", TINYINT),
    nullable("hex_3", TINYINT),
    nullable("hex_4", TINYINT),
    nullable("hex_5", TINYINT),
    nullable("hex_6", TINYINT),
    nullable("hex_7", TINYINT),
    nullable("hex_8", TINYINT),
    nullable("hex_9", TINYINT),
    nullable("hex_10", TINYINT),
    nullable("byte2_1", SMALLINT),
    nullable("byte2_2", SMALLINT),
    nullable("byte2_3", SMALLINT),
    nullable("byte2_4", SMALLINT),
    nullable("byte2_5", SMALLINT),
    nullable("byte2_6", SMALLINT),
    nullable("byte2_7", SMALLINT),
    nullable("byte2_8", SMALLINT),
    nullable("byte2_9", SMALLINT),
    nullable("byte2_10", SMALLINT),
    nullable("msc_location", INT),
    nullable("vlr_location", INT),
];

const OF_SUBSCRIBER: &str = "FOREIGN KEY (s_id) REFERENCES subscriber (s_id)";

/// The tables.
pub const TABLES: &[Table] = &[
    Table {
        name: "subscriber",
        columns: SUBSCRIBER,
        constraints: &["PRIMARY KEY (s_id)", "UNIQUE (sub_nbr)"],
        indexes: &[],
    },
    Table {
        name: "access_info",
        columns: &[
            column("s_id", INT),
            column("ai_type", TINYINT),
            nullable("data1", SMALLINT),
            nullable("data2", SMALLINT),
            nullable("data3", varchar(3)),
            nullable("data4", varchar(5)),
        ],
        constraints: &["PRIMARY KEY (s_id, ai_type)", OF_SUBSCRIBER],
        indexes: &[],
    },
    Table {
        name: "special_facility",
        columns: &[
            column("s_id", INT),
            column("sf_type", TINYINT),
            column("is_active", TINYINT),
            nullable("error_cntrl", SMALLINT),
            nullable("data_a", SMALLINT),
            nullable("data_b", varchar(5)),
        ],
        constraints: &["PRIMARY KEY (s_id, sf_type)", OF_SUBSCRIBER],
        indexes: &[],
    },
    Table {
        name: "call_forwarding",
        columns: &[
            column("s_id", INT),
            column("sf_type", TINYINT),
            column("start_time", TINYINT),
            nullable("end_time", TINYINT),
            nullable("numberx", NUMBER),
        ],
        constraints: &[
            "PRIMARY KEY (s_id, sf_type, start_time)",
            "FOREIGN KEY (s_id, sf_type) REFERENCES special_facility (s_id, sf_type)",
        ],
        indexes: &[("idx_cf", "s_id")],
    },
];

/// The kinds of transactions.
pub const KINDS: &[Kind] = &[
    kind("delete call forwarding", 2),
    kind("get access data", 35),
    kind("get new destination", 10),
    kind("get subscriber data", 35),
    kind("insert call forwarding", 2),
    kind("update location", 14),
    kind("update subscriber data", 2),
];

crate::statements! {
    GET_SUBSCRIBER (INT): "SELECT * FROM subscriber WHERE s_id = $1";
    GET_ACCESS (INT, TINYINT): "SELECT data1, data2, data3, data4 FROM access_info WHERE s_id = $1 AND ai_type = $2";
    GET_DESTINATION (INT, TINYINT, TINYINT, TINYINT):
        "SELECT cf.numberx FROM special_facility sf, call_forwarding cf
         WHERE sf.s_id = $1 AND sf.sf_type = $2 AND sf.is_active = 1 AND cf.s_id = sf.s_id AND cf.sf_type = sf.sf_type
         AND cf.start_time <= $3 AND cf.end_time > $4";
    FIND_SUBSCRIBER (NUMBER): "SELECT s_id FROM subscriber WHERE sub_nbr = $1";
    GET_FACILITIES (INT): "SELECT sf_type FROM special_facility WHERE s_id = $1";
    INSERT_FORWARDING (INT, TINYINT, TINYINT, TINYINT, NUMBER): "INSERT INTO call_forwarding VALUES ($1, $2, $3, $4, $5)";
    DELETE_FORWARDING (INT, TINYINT, TINYINT):
        "DELETE FROM call_forwarding WHERE s_id = $1 AND sf_type = $2 AND start_time = $3";
    UPDATE_LOCATION (INT, INT): "UPDATE subscriber SET vlr_location = $1 WHERE s_id = $2";
    UPDATE_BIT (TINYINT, INT): "UPDATE subscriber SET bit_1 = $1 WHERE s_id = $2";
    UPDATE_FACILITY (SMALLINT, INT, TINYINT): "UPDATE special_facility SET data_a = $1 WHERE s_id = $2 AND sf_type = $3";
}

/// The workload.
pub struct Tatp {
    /// Its size in 100,000 subscribers.
    pub scale: u32,
}

impl Tatp {
    /// A network of so many times 100,000 subscribers.
    pub fn new(scale: u32) -> Tatp {
        Tatp { scale }
    }

    fn subscribers(&self) -> u32 {
        self.scale * SUBSCRIBERS
    }

    /// Loads the rows.
    pub fn load(&self, loader: &mut Loader<'_>, random: &mut Rng) -> Result<(), SessionError> {
        for subscriber in 1..=self.subscribers() {
            let mut row = vec![int(subscriber), text(number(subscriber))];
            row.extend((0..10).map(|_| Value::TinyInt(random.u8(0..=1))));
            row.extend((0..10).map(|_| Value::TinyInt(random.u8(0..=15))));
            row.extend((0..10).map(|_| Value::SmallInt(random.i16(0..=255))));
            row.extend((0..2).map(|_| int(random.i32(0..=i32::MAX))));
            loader.row("subscriber", row)?;
            for kind in some_of(&[1, 2, 3, 4], 1, random) {
                let row = vec![
                    int(subscriber),
                    Value::TinyInt(kind),
                    byte2(random),
                    byte2(random),
                    letters(random, 3),
                    letters(random, 5),
                ];
                loader.row("access_info", row)?;
            }
            for kind in some_of(&[1, 2, 3, 4], 1, random) {
                let is_active = Value::TinyInt(u8::from(random.u8(0..100) < 85));
                let row = vec![
                    int(subscriber),
                    Value::TinyInt(kind),
                    is_active,
                    byte2(random),
                    byte2(random),
                    letters(random, 5),
                ];
                loader.row("special_facility", row)?;
                for start in some_of(&[0, 8, 16], 0, random) {
                    let end = Value::TinyInt(start + random.u8(1..=8));
                    let number = text(random::digits(random, NUMBER_BYTES));
                    loader.row(
                        "call_forwarding",
                        vec![int(subscriber), Value::TinyInt(kind), Value::TinyInt(start), end, number],
                    )?;
                }
            }
        }
        Ok(())
    }

    /// Runs a transaction.
    pub async fn run(&self, terminal: &mut Terminal, kind: usize) -> Result<Ending, SessionError> {
        let random = &mut terminal.random;
        let subscriber = random.u32(1..=self.subscribers());
        let facility = Value::TinyInt(random.u8(1..=4));
        let start = Value::TinyInt(8 * random.u8(0..=2));
        let end = Value::TinyInt(random.u8(1..=24));
        match kind {
            0 => {
                let subscriber = find(terminal, subscriber).await?;
                Ok(ending(terminal.run(DELETE_FORWARDING, &[subscriber, facility, start]).await?.affected))
            }
            1 => {
                terminal.run(GET_ACCESS, &[int(subscriber), facility]).await?;
                Ok(Ending::Commit)
            }
            2 => {
                terminal.run(GET_DESTINATION, &[int(subscriber), facility, start, end]).await?;
                Ok(Ending::Commit)
            }
            3 => {
                terminal.run(GET_SUBSCRIBER, &[int(subscriber)]).await?.integer(0, 0)?;
                Ok(Ending::Commit)
            }
            4 => insert_forwarding(terminal, subscriber, facility, start, end).await,
            5 => {
                let location = int(random.i32(0..=i32::MAX));
                let subscriber = find(terminal, subscriber).await?;
                Ok(ending(terminal.run(UPDATE_LOCATION, &[location, subscriber]).await?.affected))
            }
            _ => {
                let (bit, data) = (Value::TinyInt(random.u8(0..=1)), Value::SmallInt(random.i16(0..=255)));
                terminal.run(UPDATE_BIT, &[bit, int(subscriber)]).await?;
                Ok(ending(terminal.run(UPDATE_FACILITY, &[data, int(subscriber), facility]).await?.affected))
            }
        }
    }
}

/// About a third of the inserts succeed; the others find their row there already, or no facility.
async fn insert_forwarding(
    terminal: &mut Terminal,
    subscriber: u32,
    facility: Value,
    start: Value,
    end: Value,
) -> Result<Ending, SessionError> {
    let found = find(terminal, subscriber).await?;
    terminal.run(GET_FACILITIES, std::slice::from_ref(&found)).await?;
    match terminal.run(INSERT_FORWARDING, &[found, facility, start, end, text(number(subscriber))]).await {
        Ok(_) => Ok(Ending::Commit),
        Err(SessionError::Constraint(_)) => Ok(Ending::Rollback),
        Err(error) => Err(error),
    }
}

/// The subscriber of a number.
async fn find(terminal: &mut Terminal, subscriber: u32) -> Result<Value, SessionError> {
    Ok(int(terminal.run(FIND_SUBSCRIBER, &[text(number(subscriber))]).await?.integer(0, 0)?))
}

/// A change of no row is undone.
fn ending(affected: u64) -> Ending {
    if affected == 0 { Ending::Rollback } else { Ending::Commit }
}

fn number(subscriber: u32) -> String {
    format!("{subscriber:0NUMBER_BYTES$}")
}

fn byte2(random: &mut Rng) -> Value {
    Value::SmallInt(random.i16(0..=255))
}

fn letters(random: &mut Rng, count: usize) -> Value {
    text((0..count).map(|_| random.uppercase()).collect::<String>())
}

/// Some of all, at least so many, each once.
fn some_of(all: &[u8], least: usize, random: &mut Rng) -> Vec<u8> {
    let count = random.usize(least..=all.len());
    random.choose_multiple(all.iter().copied(), count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subscribers_have_some_facilities_each_once() {
        let mut random = Rng::with_seed(1);
        let mut counts = [0; 5];
        for _ in 0..1000 {
            let mut some = some_of(&[1, 2, 3, 4], 1, &mut random);
            counts[some.len()] += 1;
            some.sort_unstable();
            some.dedup();
            assert!(!some.is_empty() && some.iter().all(|kind| (1..=4).contains(kind)));
        }
        assert!(counts[0] == 0 && counts[1..].iter().all(|count| *count > 200), "{counts:?}");
    }

    #[test]
    fn numbers_have_fifteen_digits() {
        assert_eq!(number(42), "000000000000042");
    }
}
