//! TPC-H against Pikepole's server, PostgreSQL and DuckDB, in turn: the same files, the same 22 queries, and a comparison of all answers.
//!
//! ```text
//! cargo run --release -- load --scale 1 --folder files --pikepole 127.0.0.1:1433 --password-file sa \
//!     --postgres "host=127.0.0.1 dbname=tpch" --duckdb duckdb --duckdb-file tpch.duckdb
//! cargo run --release -- run --queries 1-22 --rounds 3 --pikepole 127.0.0.1:1433 --password-file sa \
//!     --postgres "host=127.0.0.1 dbname=tpch options=-cwork_mem=256MB" --duckdb duckdb --duckdb-file tpch.duckdb
//! cargo run --release -- explain --query 9 --pikepole 127.0.0.1:1433 --password-file sa
//! ```
//!
//! | | |
//! |---|---|
//! | rows | of the crate `tpchgen`, in files that are made once for each scale |
//! | tables | primary keys only, in Pikepole's database `tpch`, which is created, PostgreSQL's database of the options and DuckDB's file |
//! | Pikepole | reads the files itself: where its server has load folders, the folder of the files must be one of them |
//! | queries | the parameters of the standard's query validation, in T-SQL and in the standard's own dialect (`queries`) |
//! | times | from the request to the last row, at the client |
//! | answers | must agree in all engines, apart from rounding; else the command fails after its last round |

mod compare;
mod data;
mod duckdb;
mod engine;
mod load;
mod pikepole;
mod postgres;
mod queries;
mod report;
mod run;
mod schema;

use clap::{Args, Parser};
use data::Files;
use duckdb::DuckDb;
use engine::Engine;
use pikepole::Pikepole;
use pikepole_client::{Address, ConnectOptions, Encryption};
use postgres::{Postgres, PostgresOptions};
use queries::{Dialect, Number, Selection};
use report::{Report, Summary};
use run::Setting;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

type Failure = Box<dyn std::error::Error>;

/// The commands.
#[derive(Parser)]
#[command(name = "pikepole-tpch", about, version)]
enum Command {
    /// Make the files of a scale where they are missing, and load them; former tables are dropped
    Load(LoadArguments),
    /// Run queries in all engines, compare their answers and print their times
    Run(RunArguments),
    /// Print Pikepole's plan of a query
    Explain(ExplainArguments),
}

/// Servers of Pikepole.
#[derive(Args)]
struct PikepoleArguments {
    /// A server of Pikepole, without encryption; may be given several times, with names to compare them by
    #[arg(long, value_name = "[NAME=]HOST:PORT")]
    pikepole: Vec<String>,
    /// The login there
    #[arg(long, default_value = "sa")]
    user: String,
    /// A file with the login's password
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
}

/// The engines.
#[derive(Args)]
struct EngineArguments {
    #[command(flatten)]
    pikepole: PikepoleArguments,
    /// A server of PostgreSQL: host=... port=... user=... password=... dbname=... options=-cNAME=VALUE
    #[arg(long, value_name = "OPTIONS")]
    postgres: Option<PostgresOptions>,
    /// DuckDB's command-line program
    #[arg(long, value_name = "PROGRAM", requires = "duckdb_file")]
    duckdb: Option<PathBuf>,
    /// DuckDB's database
    #[arg(long, value_name = "FILE", requires = "duckdb")]
    duckdb_file: Option<PathBuf>,
}

#[derive(Args)]
struct LoadArguments {
    /// Size of the tables: 1 has some six million rows of lineitem, and files of 1 GB
    #[arg(long, value_parser = scale)]
    scale: f64,
    /// Folder of the files
    #[arg(long)]
    folder: PathBuf,
    #[command(flatten)]
    engines: EngineArguments,
}

#[derive(Args)]
struct RunArguments {
    /// Numbers and ranges of queries, such as 1,3,5-9
    #[arg(long, default_value = "1-22")]
    queries: Selection,
    /// Rounds; medians are shown
    #[arg(long, default_value_t = 3, value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..))]
    rounds: usize,
    /// Seconds after which a query is cancelled
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    time_limit: u64,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    engines: EngineArguments,
}

#[derive(Args)]
struct ExplainArguments {
    /// The query
    #[arg(long)]
    query: Number,
    #[command(flatten)]
    servers: PikepoleArguments,
}

fn main() -> ExitCode {
    let result = match Command::parse() {
        Command::Load(arguments) => load(&arguments),
        Command::Run(arguments) => run(&arguments),
        Command::Explain(arguments) => explain(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("pikepole-tpch: {error}");
            ExitCode::FAILURE
        }
    }
}

/// A scale of the files.
fn scale(text: &str) -> Result<f64, String> {
    let scale = text.parse().ok().filter(|scale| (0.001..=1000.0).contains(scale));
    scale.ok_or_else(|| format!("`{text}` is no number from 0.001 to 1000"))
}

impl PikepoleArguments {
    fn sessions(&self) -> Result<Vec<Pikepole>, Failure> {
        let mut sessions = Vec::new();
        for text in &self.pikepole {
            let (name, address) = text.split_once('=').unwrap_or(("Pikepole", text));
            let file = self.password_file.as_ref().ok_or("a login to Pikepole needs --password-file")?;
            let password = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
            let address: Address = address.parse()?;
            let mut options = ConnectOptions::new(address, self.user.as_str(), password.trim_end());
            options.encryption = Encryption::Off;
            options.application = "pikepole-tpch".to_string();
            sessions.push(Pikepole::new(name.to_string(), options));
        }
        Ok(sessions)
    }
}

impl EngineArguments {
    /// Sessions of the engines, Pikepole's first.
    fn sessions(&self) -> Result<Vec<Box<dyn Engine>>, Failure> {
        let mut engines: Vec<Box<dyn Engine>> = Vec::new();
        for pikepole in self.pikepole.sessions()? {
            engines.push(Box::new(pikepole));
        }
        if let Some(options) = &self.postgres {
            engines.push(Box::new(Postgres::connect(options)?));
        }
        if let (Some(program), Some(file)) = (&self.duckdb, &self.duckdb_file) {
            engines.push(Box::new(DuckDb::new(program.clone(), file.clone())));
        }
        if engines.is_empty() {
            return Err("no engine: give --pikepole, --postgres, --duckdb or several of them".into());
        }
        Ok(engines)
    }
}

fn load(arguments: &LoadArguments) -> Result<(), Failure> {
    let mut engines = arguments.engines.sessions()?;
    let files = Files::make(&arguments.folder, arguments.scale)?;
    load::load(&mut engines, &files)
}

fn run(arguments: &RunArguments) -> Result<(), Failure> {
    let mut engines = arguments.engines.sessions()?;
    let setting = Setting {
        queries: arguments.queries.numbers(),
        rounds: arguments.rounds,
        limit: Duration::from_secs(arguments.time_limit),
    };
    let report = run::run(&mut engines, &setting)?;
    match arguments.json {
        true => println!("{}", serde_json::to_string_pretty(&report)?),
        false => print!("{}", report.table()),
    }
    verdict(&report)
}

/// A failure where a query failed or answers differ.
fn verdict(report: &Report) -> Result<(), Failure> {
    let is_failed = |summary: &Summary| matches!(summary, Summary::Failed { .. });
    let failures = report.queries.iter().flat_map(|query| &query.engines).filter(|summary| is_failed(summary)).count();
    match (report.differences.len(), failures) {
        (0, 0) => Ok(()),
        (differences, failures) => Err(format!("{differences} answers differ, {failures} queries failed").into()),
    }
}

fn explain(arguments: &ExplainArguments) -> Result<(), Failure> {
    let sessions = arguments.servers.sessions()?;
    if sessions.is_empty() {
        return Err("no server: give --pikepole".into());
    }
    for mut session in sessions {
        let scale = run::scale(&mut session)?;
        let text = arguments.query.text(Dialect::Tsql, scale);
        println!("{}, scale {scale}, query {}", session.name(), arguments.query.get());
        for line in session.plan(&text)? {
            println!("{}", line.trim_end());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_whole() {
        use clap::CommandFactory;
        Command::command().debug_assert();
    }

    #[test]
    fn scales_are_numbers_within_bounds() {
        assert_eq!((scale("0.1"), scale("10")), (Ok(0.1), Ok(10.0)));
        assert!(scale("0").is_err() && scale("-1").is_err() && scale("NaN").is_err() && scale("x").is_err());
    }
}
