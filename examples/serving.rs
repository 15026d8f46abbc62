//! A program whose databases others can look into: an engine in memory that serves clients of SQL Server.
//!
//! `cargo run -p pikepole-embedded --example serving` prints the command of a client and serves until its input ends; then
//! `python3 examples/python/orders.py PORT PASSWORD` or any other client can connect.

use pikepole_embedded::{Engine, Error};
use std::io::Read;

fn main() -> Result<(), Error> {
    let engine = Engine::in_memory()?;
    let mut connection = engine.connect_blocking()?;
    let password = "deep-Water7";
    connection.execute(&format!("ALTER LOGIN sa WITH PASSWORD = '{password}'"), [])?;

    let serving = engine.serve("127.0.0.1:0")?;
    let port = serving.address().port();
    println!("python3 examples/python/orders.py {port} {password}");

    // Whatever ends the input ends the program: Ctrl-D, or the end of the process that feeds it.
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    let tables: i32 = connection.query_value("SELECT COUNT(*) FROM sys.tables", [])?;
    println!("tables in master at the end: {tables}");
    serving.stop();
    drop(connection);
    engine.shutdown()
}
