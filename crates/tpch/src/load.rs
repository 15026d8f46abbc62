//! Loads of all tables into the engines, one after the other.

use crate::Failure;
use crate::data::Files;
use crate::engine::{Engine, EngineError, count};
use crate::report::table;
use crate::schema::TABLES;
use std::time::{Duration, Instant};

/// The label of the statements that follow a load.
const FINISHING: &str = "statistics, checkpoint";

/// The load of an engine.
struct Load {
    engine: String,
    /// Seconds of each table, then of the statements that follow.
    seconds: Vec<f64>,
    rows: Vec<u64>,
}

/// Replaces the tables of each engine by those of the files, and prints the time of each.
pub fn load(engines: &mut [Box<dyn Engine>], files: &Files) -> Result<(), Failure> {
    let mut loads: Vec<Load> = Vec::new();
    for engine in engines {
        let load = load_into(&mut **engine, files).map_err(|error| format!("{}: {error}", engine.name()))?;
        if let Some(first) = loads.first().filter(|first| first.rows != load.rows) {
            let (rows, others) = (&load.rows, &first.rows);
            return Err(format!("{} has {rows:?} rows, {} {others:?}", load.engine, first.engine).into());
        }
        loads.push(load);
    }
    print!("{}", table(&cells(&loads)));
    Ok(())
}

fn load_into(engine: &mut dyn Engine, files: &Files) -> Result<Load, EngineError> {
    engine.make_database()?;
    for table in &TABLES {
        engine.run(&format!("DROP TABLE IF EXISTS {}", table.name))?;
        engine.run(&table.create())?;
    }
    let (mut seconds, mut rows) = (Vec::new(), Vec::new());
    for table in &TABLES {
        let (name, file) = (table.name, files.path(table));
        let time = timed(|| engine.load(table, &file))?.as_secs_f64();
        let found = count(engine, name)?;
        eprintln!("{}: {name}: {found} rows in {time:.1} s", engine.name());
        seconds.push(time);
        rows.push(found);
    }
    let finishing = engine.finishing();
    let time = timed(|| finishing.iter().try_for_each(|sql| engine.run(sql).map(|_| ())))?.as_secs_f64();
    eprintln!("{}: {FINISHING} in {time:.1} s", engine.name());
    seconds.push(time);
    Ok(Load { engine: engine.name().to_string(), seconds, rows })
}

fn timed(work: impl FnOnce() -> Result<(), EngineError>) -> Result<Duration, EngineError> {
    let begun = Instant::now();
    work()?;
    Ok(begun.elapsed())
}

/// A row for each table, one for what follows, and one for all.
fn cells(loads: &[Load]) -> Vec<Vec<String>> {
    let head = ["table", "rows"].map(str::to_string).into_iter();
    let mut cells = vec![head.chain(loads.iter().map(|load| format!("{} s", load.engine))).collect::<Vec<_>>()];
    let rows =
        |place: usize| loads.first().and_then(|load| load.rows.get(place)).map_or_else(String::new, u64::to_string);
    let names = TABLES.iter().map(|table| table.name).chain([FINISHING]);
    for (place, name) in names.enumerate() {
        let seconds =
            loads.iter().map(|load| load.seconds.get(place).map_or_else(String::new, |time| format!("{time:.1}")));
        cells.push([name.to_string(), rows(place)].into_iter().chain(seconds).collect());
    }
    let total: u64 = loads.first().map_or(0, |load| load.rows.iter().sum());
    let seconds = loads.iter().map(|load| format!("{:.1}", load.seconds.iter().sum::<f64>()));
    cells.push(["total".to_string(), total.to_string()].into_iter().chain(seconds).collect());
    cells
}
