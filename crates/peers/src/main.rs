//! Singleton inserts into other engines, measured the way Pikepole's load driver measures its own: sessions with ascending
//! key ranges of their own, one transaction a row, 24-byte values, only acknowledged rows counted.
//!
//! ```text
//! cargo run --release -- --folder /a/folder/on/the/disk --pikepole ../../target/release/pikepole
//! ```
//!
//! Peers and Pikepole run in turn, in rounds, so that a change in the machine's speed meets all of them; medians are shown.

mod drive;
mod engines;
mod pikepole;

use clap::Parser;
use drive::Measurement;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// What to measure.
#[derive(Parser)]
pub struct Arguments {
    /// Where the engines put their files; on the disk to be measured
    #[arg(long, default_value = "peers-data")]
    folder: PathBuf,
    /// Names of peers; all that were compiled in when absent
    #[arg(long, value_delimiter = ',')]
    peers: Vec<String>,
    /// Pikepole's release binary, to run in the same rounds
    #[arg(long)]
    pikepole: Option<PathBuf>,
    /// Connection string of a PostgreSQL server, to run its procedure loop in the same rounds
    #[arg(long)]
    postgres: Option<String>,
    /// Numbers of sessions
    #[arg(long, value_delimiter = ',', default_value = "1,2,32")]
    sessions: Vec<usize>,
    /// Seconds of each run
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,
    /// Rounds; the median is shown
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// full, delayed, or both
    #[arg(long, value_delimiter = ',', default_value = "full,delayed")]
    durability: Vec<String>,
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let arguments = Arguments::parse();
    let duration = Duration::from_secs_f64(arguments.seconds);
    let mut rates: BTreeMap<(String, String, usize), Vec<f64>> = BTreeMap::new();
    for round in 0..arguments.rounds {
        for durability in &arguments.durability {
            let durable = durability == "full";
            for sessions in &arguments.sessions {
                for measurement in one_round(&arguments, durable, *sessions, duration)? {
                    eprintln!("round {} {durability} {sessions}: {measurement}", round + 1);
                    let key = (durability.clone(), measurement.engine, *sessions);
                    rates.entry(key).or_default().push(measurement.rows_per_second);
                }
            }
        }
    }
    print(&rates, &arguments);
    Ok(())
}

fn one_round(
    arguments: &Arguments,
    durable: bool,
    sessions: usize,
    duration: Duration,
) -> Result<Vec<Measurement>, Failure> {
    let mut found = Vec::new();
    for (name, open) in engines::ALL {
        if !arguments.peers.is_empty() && !arguments.peers.iter().any(|peer| peer == name) {
            continue;
        }
        let folder = arguments.folder.join(name);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder)?;
        let engine = open(&folder, durable)?;
        found.push(drive::run(name, &*engine, sessions, duration)?);
        drop(engine);
        std::fs::remove_dir_all(&folder)?;
    }
    if let Some(connection) = &arguments.postgres {
        let engine = engines::postgres(connection, durable)?;
        found.push(drive::run("postgres procedure", &engine, sessions, duration)?);
    }
    if let Some(binary) = &arguments.pikepole {
        found.push(pikepole::run(binary, &arguments.folder, durable, sessions, duration)?);
    }
    Ok(found)
}

/// A table for each durability: engines by sessions, thousand rows a second, median (minimum-maximum).
fn print(rates: &BTreeMap<(String, String, usize), Vec<f64>>, arguments: &Arguments) {
    for durability in &arguments.durability {
        print!("| {durability}, thousand rows/s: median (min-max) |");
        arguments.sessions.iter().for_each(|sessions| print!(" {sessions} |"));
        print!("\n|---|{}\n", "---|".repeat(arguments.sessions.len()));
        let engines: std::collections::BTreeSet<_> =
            rates.keys().filter(|key| &key.0 == durability).map(|key| key.1.clone()).collect();
        for engine in engines {
            print!("| {engine} |");
            for sessions in &arguments.sessions {
                match rates.get(&(durability.clone(), engine.clone(), *sessions)) {
                    Some(found) => print!(" {} |", spread(found)),
                    None => print!(" |"),
                }
            }
            println!();
        }
        println!();
    }
}

fn spread(rates: &[f64]) -> String {
    let mut sorted: Vec<f64> = rates.iter().map(|rate| rate / 1000.0).collect();
    sorted.sort_by(f64::total_cmp);
    let (min, median, max) = (sorted[0], sorted[sorted.len() / 2], sorted[sorted.len() - 1]);
    format!("{median:.1} ({min:.1}-{max:.1})")
}
