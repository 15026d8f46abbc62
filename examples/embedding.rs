//! A log of measurements in a program's own process: tables, parameters, a prepared statement, a transaction, errors by number.
//!
//! `cargo run -p pikepole-embedded --example embedding` keeps its databases in memory; with a folder as argument, there.

use pikepole_embedded::{Engine, Error, Options, params};

/// Violation of a unique key.
const DUPLICATE_KEY: i32 = 2627;

fn main() -> Result<(), Error> {
    let options = std::env::args().nth(1).map_or_else(Options::in_memory, Options::new);
    let engine = Engine::open(options)?;
    let mut connection = engine.connect_blocking()?;

    connection.execute(
        "DROP TABLE IF EXISTS dbo.reading;
         CREATE TABLE dbo.reading (
             place nvarchar(20) NOT NULL,
             at datetime2(0) NOT NULL,
             celsius decimal(4, 1) NULL,
             PRIMARY KEY (place, at))",
        [],
    )?;

    // A statement that runs often: its plan is kept. An Option is a value or NULL.
    let insert = connection.prepare("INSERT dbo.reading VALUES (@place, @at, @celsius)");
    for (place, at, celsius) in [
        ("bridge", "2026-11-27 06:00", Some(11.5)),
        ("bridge", "2026-11-27 07:00", Some(12.1)),
        ("sluice", "2026-11-27 06:00", Some(9.8)),
        ("weir", "2026-11-27 06:00", None),
    ] {
        connection.execute(&insert, params![@place = place, @at = at, @celsius = celsius])?;
    }

    // A transaction ends with its guard: here an error leaves it through `?` or is looked at, and nothing of it stays.
    let mut transaction = connection.transaction()?;
    transaction.execute("UPDATE dbo.reading SET celsius += 100", [])?;
    match transaction.execute(&insert, params![@place = "weir", @at = "2026-11-27 06:00", @celsius = 8.0]) {
        Err(error) if error.number() == Some(DUPLICATE_KEY) => drop(transaction),
        Err(error) => return Err(error),
        Ok(_) => transaction.commit()?,
    }

    let averages = "SELECT place, COUNT(*) AS readings, AVG(celsius) AS average FROM dbo.reading
                    GROUP BY place ORDER BY place";
    for row in &connection.query(averages, [])? {
        let (place, readings): (String, i32) = (row.get("place")?, row.get("readings")?);
        match row.get::<Option<f64>>("average")? {
            Some(average) => println!("{place}: {readings} readings, {average:.1} degrees on average"),
            None => println!("{place}: {readings} readings without a value"),
        }
    }
    let warmest: Option<String> =
        connection.query_value("SELECT TOP (1) place FROM dbo.reading ORDER BY celsius DESC", [])?;
    println!("warmest: {}", warmest.as_deref().unwrap_or("none"));

    drop(connection);
    engine.shutdown()
}
