//! Standard transactions against servers of Pikepole and PostgreSQL, in turn: TPC-C, TATP, SmallBank, YCSB.
//!
//! ```text
//! cargo run --release -- run --workload tpcc --pikepole 127.0.0.1:1433 --password-file sa --postgres "host=127.0.0.1 dbname=oltp"
//! ```
//!
//! Both servers get the same transactions in the same statements, one round trip each, prepared once a connection, under
//! READ COMMITTED. Transactions begin and end as the servers' JDBC drivers begin and end them with autocommit off.

mod cpu;
mod kill;
mod load;
mod measure;
mod pikepole;
mod postgres;
mod random;
mod report;
mod schema;
mod session;
mod target;
mod terminal;
mod values;
mod workloads;

use clap::{Args, Parser, ValueEnum};
use kill::KillArguments;
use measure::{Run, Setting};
use pikepole_client::{Address, ConnectOptions, Encryption};
use postgres::PostgresOptions;
use report::{Report, Summary};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use target::Target;
use workloads::{NAMES, Workload};

type Failure = Box<dyn std::error::Error>;

/// The commands.
#[derive(Parser)]
#[command(about, version)]
enum Command {
    /// Measure a workload; loads it where it is missing or of another size
    Run(RunArguments),
    /// Make the tables of a workload and load them, also where they are there
    Load(LoadArguments),
    /// Check the consistency conditions of TPC-C
    Check(ServerArguments),
    /// Kill a server of Pikepole in the middle of TPC-C, start it again and check it, again and again
    Kill(KillArguments),
}

/// The servers.
#[derive(Args)]
struct ServerArguments {
    /// A server of Pikepole, without encryption; may be given several times, with names to compare them by
    #[arg(long, value_name = "[NAME=]HOST:PORT")]
    pikepole: Vec<String>,
    /// The login there
    #[arg(long, default_value = "sa")]
    user: String,
    /// A file with the login's password
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
    /// A server of PostgreSQL: host=... port=... user=... password=... dbname=...
    #[arg(long, value_name = "OPTIONS")]
    postgres: Option<PostgresOptions>,
}

#[derive(Args)]
struct WorkloadArguments {
    /// The workload
    #[arg(long, value_parser = NAMES)]
    workload: String,
    /// Its size: TPC-C's in warehouses [without it: 4], the others' in 100,000 rows [without it: 1]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1000))]
    scale: Option<u32>,
}

#[derive(Args)]
struct LoadArguments {
    #[command(flatten)]
    servers: ServerArguments,
    #[command(flatten)]
    workload: WorkloadArguments,
}

#[derive(Args)]
struct RunArguments {
    #[command(flatten)]
    servers: ServerArguments,
    #[command(flatten)]
    workload: WorkloadArguments,
    /// Numbers of connections
    #[arg(long, value_delimiter = ',', default_value = "1,8,32")]
    terminals: Vec<usize>,
    /// Threads that drive the connections
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// Seconds of each run
    #[arg(long, default_value_t = 20.0)]
    seconds: f64,
    /// Seconds before each run, whose transactions are not counted
    #[arg(long, default_value_t = 2.0)]
    warm_up: f64,
    /// Rounds; medians are shown
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Durability of commits
    #[arg(long, default_value = "full")]
    durability: Durability,
    /// Print JSON instead of tables
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Durability {
    /// Each commit waits
    Full,
    /// None does: synchronous_commit = off, DELAYED_DURABILITY = FORCED
    Delayed,
}

fn main() -> ExitCode {
    let result = match Command::parse() {
        Command::Run(arguments) => run(&arguments),
        Command::Load(arguments) => load(&arguments),
        Command::Check(arguments) => check(&arguments),
        Command::Kill(arguments) => kill::kill(&arguments).map_err(Failure::from),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("pikepole-oltp: {error}");
            ExitCode::FAILURE
        }
    }
}

impl ServerArguments {
    /// The servers, Pikepole's first.
    fn targets(&self) -> Result<Vec<Target>, Failure> {
        let mut targets = Vec::new();
        for text in &self.pikepole {
            let (name, address) = text.split_once('=').unwrap_or(("Pikepole", text));
            let file = self.password_file.as_ref().ok_or("a login to Pikepole needs --password-file")?;
            let password = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
            let address: Address = address.parse()?;
            let mut options = ConnectOptions::new(address, self.user.as_str(), password.trim_end());
            options.encryption = Encryption::Off;
            options.application = "pikepole-oltp".to_string();
            targets.push(Target::pikepole(name.to_string(), options));
        }
        targets.extend(self.postgres.clone().map(Target::postgres));
        match targets.is_empty() {
            true => Err("no server: give --pikepole, --postgres or both".into()),
            false => Ok(targets),
        }
    }
}

impl WorkloadArguments {
    fn workload(&self) -> Result<Workload, Failure> {
        Ok(Workload::new(&self.workload, self.scale)?)
    }
}

fn load(arguments: &LoadArguments) -> Result<(), Failure> {
    let workload = arguments.workload.workload()?;
    for target in arguments.servers.targets()? {
        target.make_database()?;
        load_into(&target, &workload)?;
    }
    Ok(())
}

fn load_into(target: &Target, workload: &Workload) -> Result<(), Failure> {
    let (name, scale) = (workload.data_name(), workload.scale());
    let time = target.load(workload).map_err(|error| format!("{}: {error}", target.name))?;
    eprintln!("{}: {name} of scale {scale} loaded in {:.1} s", target.name, time.as_secs_f64());
    Ok(())
}

fn run(arguments: &RunArguments) -> Result<(), Failure> {
    let workload = arguments.workload.workload()?;
    let targets = arguments.servers.targets()?;
    for target in &targets {
        target.make_database()?;
        if target.loaded_scale(&workload)? != Some(workload.scale()) {
            load_into(target, &workload)?;
        }
        target.set_durability(arguments.durability == Durability::Full)?;
    }
    // For each number of terminals, the rounds of each server.
    let mut runs: Vec<Vec<Vec<Run>>> =
        arguments.terminals.iter().map(|_| targets.iter().map(|_| Vec::new()).collect()).collect();
    for round in 0..arguments.rounds {
        for (terminals, runs) in arguments.terminals.iter().zip(&mut runs) {
            for place in turn(targets.len(), round) {
                let found = one_run(arguments, &targets[place], &workload, *terminals, round)?;
                runs[place].push(found);
            }
        }
    }
    let report = report(arguments, &workload, &targets, &runs);
    match arguments.json {
        true => println!("{}", serde_json::to_string_pretty(&report)?),
        false => print!("{}", report.tables()),
    }
    Ok(())
}

/// The order of the servers in a round: each second one is backwards.
fn turn(count: usize, round: usize) -> Vec<usize> {
    let forwards = 0..count;
    if round.is_multiple_of(2) { forwards.collect() } else { forwards.rev().collect() }
}

fn one_run(
    arguments: &RunArguments,
    target: &Target,
    workload: &Workload,
    terminals: usize,
    round: usize,
) -> Result<Run, Failure> {
    target.checkpoint()?;
    let setting = Setting {
        terminals,
        threads: arguments.threads,
        warm_up: Duration::try_from_secs_f64(arguments.warm_up)?,
        length: Duration::try_from_secs_f64(arguments.seconds)?,
        seed: round as u64,
    };
    let run = measure::run(target, workload, &setting).map_err(|error| format!("{}: {error}", target.name))?;
    let rate = run.tally.transactions() as f64 / run.length.as_secs_f64();
    eprintln!("round {}, {terminals} terminals, {}: {rate:.0} transactions/s", round + 1, target.name);
    Ok(run)
}

fn report(arguments: &RunArguments, workload: &Workload, targets: &[Target], runs: &[Vec<Vec<Run>>]) -> Report {
    // PostgreSQL, where it is among them, is the last; without it the first Pikepole is compared with.
    let baseline = if arguments.servers.postgres.is_some() { targets.len() - 1 } else { 0 };
    let mut results = Vec::new();
    for (terminals, runs) in arguments.terminals.iter().zip(runs) {
        for (target, own) in targets.iter().zip(runs) {
            results.push(Summary::of(*terminals, &target.name, workload.kinds(), own, &runs[baseline]));
        }
    }
    Report {
        workload: arguments.workload.workload.clone(),
        scale: workload.scale(),
        durability: if arguments.durability == Durability::Full { "full" } else { "delayed" }.to_string(),
        seconds: arguments.seconds,
        rounds: arguments.rounds,
        baseline: targets[baseline].name.clone(),
        results,
    }
}

fn check(arguments: &ServerArguments) -> Result<(), Failure> {
    let mut is_broken = false;
    for target in arguments.targets()? {
        for verdict in workloads::tpcc::check(&mut *target.connect()?, target.dialect())? {
            let word =
                if verdict.violations == 0 { "holds".to_string() } else { format!("{} rows", verdict.violations) };
            println!("{}: 3.3.2.{:<2} {word}: {}", target.name, verdict.number, verdict.text);
            is_broken |= verdict.violations > 0;
        }
    }
    if is_broken { Err("a condition does not hold".into()) } else { Ok(()) }
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
    fn rounds_go_forwards_and_backwards() {
        assert_eq!((turn(3, 0), turn(3, 1)), (vec![0, 1, 2], vec![2, 1, 0]));
    }
}
