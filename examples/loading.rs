//! Ways to bring rows into a table, each with its rate: a text for each row, a prepared statement, a transaction around it, an appender.
//!
//! `cargo run --release -p pikepole-embedded --example loading` writes to a temporary folder, so each commit of a row waits for the disk;
//! `--example loading memory` leaves the disk out.

use pikepole_embedded::blocking::Connection;
use pikepole_embedded::{Engine, Error, params};
use std::time::Instant;

const TEXT: &str = "INSERT dbo.reading VALUES (@p1, @p2, @p3)";

fn main() -> Result<(), Error> {
    let in_memory = std::env::args().nth(1).is_some_and(|place| place == "memory");
    let engine = if in_memory { Engine::in_memory()? } else { Engine::temporary()? };
    let mut connection = engine.connect_blocking()?;
    let ways: [(&str, i32, Way); 4] = [
        ("a text for each row", 20_000, by_text),
        ("a prepared statement", 20_000, prepared),
        ("a prepared statement in a transaction", 50_000, in_a_transaction),
        ("an appender", 1_000_000, appended),
    ];
    for (name, rows, load) in ways {
        connection.execute(
            "DROP TABLE IF EXISTS dbo.reading; CREATE TABLE dbo.reading (id int PRIMARY KEY, place nvarchar(20), celsius float)",
            [],
        )?;
        let begun = Instant::now();
        load(&mut connection, rows)?;
        let rate = f64::from(rows) / begun.elapsed().as_secs_f64();
        let found: i32 = connection.query_value("SELECT COUNT(*) FROM dbo.reading", [])?;
        assert_eq!(found, rows);
        println!("{name}: {rate:.0} rows/s");
    }
    Ok(())
}

type Way = fn(&mut Connection, i32) -> Result<(), Error>;

fn by_text(connection: &mut Connection, rows: i32) -> Result<(), Error> {
    (0..rows).try_for_each(|id| connection.execute(TEXT, params![id, "bridge", 11.5]).map(drop))
}

fn prepared(connection: &mut Connection, rows: i32) -> Result<(), Error> {
    let insert = connection.prepare(TEXT);
    (0..rows).try_for_each(|id| connection.execute(&insert, params![id, "bridge", 11.5]).map(drop))
}

fn in_a_transaction(connection: &mut Connection, rows: i32) -> Result<(), Error> {
    let insert = connection.prepare(TEXT);
    let mut transaction = connection.transaction()?;
    (0..rows).try_for_each(|id| transaction.execute(&insert, params![id, "bridge", 11.5]).map(drop))?;
    transaction.commit()
}

fn appended(connection: &mut Connection, rows: i32) -> Result<(), Error> {
    let mut appender = connection.appender("dbo.reading", &[])?;
    (0..rows).try_for_each(|id| appender.append(params![id, "bridge", 11.5]))?;
    appender.finish().map(drop)
}
