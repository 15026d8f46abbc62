//! `pikepole stress`: the load driver's command line.

use super::CommandError;
use super::policies::{SetChoice, policies};
use super::session::ServerArguments;
use pikepole_lab::page;
use pikepole_lab::profile::Profiler;
use pikepole_lab::stress::{
    self, Amount, Durability, NativeCalls, Options, ParallelOptions, TableKind, Variant, Workload,
};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// What to run.
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    /// Folder of databases; without it, a fresh folder below the current one, removed afterwards. With -S: the server's database
    #[arg(short = 'd', long = "data", value_name = "FOLDER")]
    data: Option<PathBuf>,
    #[command(flatten)]
    server: ServerArguments,
    /// With -S: each row is a call of a prepared INSERT over the wire, instead of a turn of a procedure's loop
    #[arg(long, requires = "server", conflicts_with_all = ["input", "query", "setup"])]
    rpc: bool,
    /// With --rpc: calls in one message, as drivers send them for a batch or an array of parameters
    #[arg(long, requires = "rpc", default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    calls: u32,
    /// What is done: single inserts by many sessions, or one insert of many rows by parallel workers
    #[arg(long, value_enum, default_value = "singleton-insert", value_name = "WORKLOAD")]
    workload: BuiltIn,
    /// singleton-insert: an ordinary table (disk, as without this), an in-memory one (memory), or one whose rows are not durable
    #[arg(long, value_enum, value_name = "KIND")]
    table: Option<TableChoice>,
    /// singleton-insert: each row by a call of a natively compiled procedure (row, as --native alone), or 1,000 rows by its loop (loop)
    #[arg(long, value_enum, num_args = 0..=1, default_missing_value = "row", value_name = "CALLS", conflicts_with_all = ["rpc", "input", "query", "setup"])]
    native: Option<NativeChoice>,
    /// parallel-insert: rows of each run
    #[arg(long, default_value_t = stress::PARALLEL_INSERT_ROWS, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..=stress::PARALLEL_INSERT_ROWS))]
    rows: u64,
    /// parallel-insert: workers at most, in the place of the published 11
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=64))]
    maxdop: Option<u32>,
    /// parallel-insert: log only which pages are used (SIMPLE recovery)
    #[arg(long, conflicts_with = "compare")]
    minimal_logging: bool,
    /// parallel-insert: one run for each policy of NESTED_TRANSACTIONS, and one with minimal logging
    #[arg(long)]
    compare: bool,
    /// Numbers of concurrent sessions, one run each
    #[arg(short = 'n', long, value_name = "N,N...", value_delimiter = ',', default_value = "1,2,4,8,16,32")]
    sessions: Vec<usize>,
    /// Seconds of each run
    #[arg(long, default_value_t = 5.0, value_name = "SECONDS", allow_negative_numbers = true)]
    seconds: f64,
    /// Iterations of each session instead of seconds (rows, for the built-in workload)
    #[arg(short = 'r', long, value_name = "COUNT", conflicts_with = "seconds")]
    iterations: Option<u64>,
    /// A script of your own as the workload: its batches (split on GO) are one iteration
    #[arg(short = 'i', long, value_name = "FILE", conflicts_with = "query")]
    input: Option<PathBuf>,
    /// A batch of your own as the workload
    #[arg(short = 'Q', long, value_name = "BATCH")]
    query: Option<String>,
    /// A script for a workload of your own, run before each run, in a database that is made again
    #[arg(long, value_name = "FILE")]
    setup: Option<PathBuf>,
    /// When a commit returns: full, delayed, or both in turn
    #[arg(long, value_enum, default_value = "both")]
    durability: DurabilityChoice,
    /// A policy of the server for these runs; may be given several times
    #[arg(long = "policy", value_name = "NAME=VALUE", conflicts_with = "server")]
    policies: Vec<String>,
    /// A trace flag that is on from the start, such as 9038; may be given several times
    #[arg(short = 'T', value_name = "FLAG", conflicts_with = "server")]
    trace_flags: Vec<i32>,
    /// Act a slower disk: microseconds of each durable write, and megabytes a second
    #[arg(long, value_name = "US[,MB]", conflicts_with = "server")]
    slow_disk: Option<String>,
    /// Named sets of policies, the whole sweep with each: classic, best
    #[arg(long = "policies", value_name = "SET,SET", value_delimiter = ',', value_enum, conflicts_with = "server")]
    sets: Vec<SetChoice>,
    /// Buffer pool in megabytes
    #[arg(long, value_name = "MB", conflicts_with = "server", value_parser = clap::value_parser!(u64).range(1..=1 << 24))]
    buffer_pool: Option<u64>,
    /// Without -S: sample where the process spends its CPU time: a flame graph, shares and callers of each run, in a folder
    #[arg(
        long,
        value_name = "FOLDER",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "pikepole-profile",
        conflicts_with = "server"
    )]
    profile: Option<PathBuf>,
    /// No progress, as ostress has it: only the tables
    #[arg(short = 'q', long)]
    quiet: bool,
    /// Draw the rate, spins and back-offs against the sessions: an SVG file, and bars here
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Also write the runs as a JSON array
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

const HELP: &str = "\
The built-in workload calls a T-SQL procedure that inserts one row a turn of its loop,
each insert a transaction of its own, each session in its own ascending key range.
After each run the rows in the table are counted: they must be those acknowledged.

The first table has a line a run: rates, log bytes (records; written with headers and
padding), rows of one write to the log, CPU time, memory. The second shows what the
sessions waited for: waits, latches and spinlocks, the costliest three of each.
--json has all of them, with every policy in force.

--table memory is a table WITH (MEMORY_OPTIMIZED = ON, DURABILITY = SCHEMA_AND_DATA), schema-only
one with DURABILITY = SCHEMA_ONLY; both have an ordered index as primary key, as the ordinary one. Their rows stay in
memory: a run that takes more than the server may use ends with error 41805.

The workload parallel-insert is the published INSERT ... SELECT of 64 Mi rows of (bigint,
int, datetime) into a heap (crates/lab/scripts/parallel-insert.sql, as it stands). Its first table has the time, the log and the speed at which it was written; the
others what was waited for. NESTED_TRANSACTIONS is the policy under which its workers log.

With -S the sessions are connections to a server. The procedure's loop runs there; with --rpc each row
is a call of its own, sent when the one before has been answered, and the table has the calls' times
(half and 99 of 100 took no longer). CPU us/row is the server's then, and the driver's stands beside it.
The driver makes the database `stress` there, and its table anew. Encryption and password: pikepole sql --help

A workload of your own runs in the database `stress`; its rate is that of the rows its
statements touch, and under SET NOCOUNT ON of those that the engine has counted as changed.
Before each run the database is made again with the tables of --setup. The options of
ostress mean what they mean there: -S -U -P -d (with -S: the database) -Q -i -n -r -q. In a
database of yours (-d) only the batches of --setup are run again: DROP TABLE IF EXISTS first.
A batch that an in-memory table refuses because of another transaction (41302, 41305, 41325) is run
again and counted under conflicts, so a batch should be one transaction; any other error ends the run.

Policies are the points where threads take turns; the classic way can be measured
against the default, one by one or, with --policies, all together: then a table shows rates,
spins and waits of the sets side by side. They and their values:
pikepole sql -Q \"SELECT * FROM sys.dm_pikepole_policies\"

Examples:
  pikepole stress --seconds 2
  pikepole stress -n 16 -r 10000 --durability full
  pikepole stress -n 32 --policy LOG_RESERVATION=SPINLOCK --policy TRANSACTION_IDS=SPINLOCK
  pikepole stress -n 1,8 --table schema-only --policies classic,best
  pikepole stress --workload parallel-insert --compare
  pikepole stress --workload parallel-insert --rows 1000000 --policy NESTED_TRANSACTIONS=FAIR_LATCH
  pikepole stress -S localhost -U sa --trust-server-certificate -n 1,8,32 --rpc
  pikepole stress --policies classic,best --json sets.json
  pikepole stress -n 32 --policies classic,best --profile
  pikepole stress -n 1,8 --setup tables.sql -Q \"EXEC dbo.place_order\" --json runs.json";

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum BuiltIn {
    SingletonInsert,
    ParallelInsert,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum TableChoice {
    Disk,
    Memory,
    SchemaOnly,
}

impl TableChoice {
    fn kind(self) -> TableKind {
        match self {
            TableChoice::Disk => TableKind::Disk,
            TableChoice::Memory => TableKind::Memory,
            TableChoice::SchemaOnly => TableKind::SchemaOnly,
        }
    }
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum NativeChoice {
    Row,
    Loop,
}

impl NativeChoice {
    fn calls(self) -> NativeCalls {
        match self {
            NativeChoice::Row => NativeCalls::Row,
            NativeChoice::Loop => NativeCalls::Loop,
        }
    }
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum DurabilityChoice {
    Full,
    Delayed,
    Both,
}

/// Runs the driver and prints its tables.
pub fn run(arguments: &Arguments) -> Result<ExitCode, CommandError> {
    let fresh = arguments.data.is_none() && !arguments.server.is_given();
    let folder = match &arguments.data {
        Some(folder) => folder.clone(),
        None => PathBuf::from(format!("pikepole-stress-{}", std::process::id())),
    };
    let result = match arguments.workload {
        BuiltIn::SingletonInsert => sessions(arguments, folder.clone()),
        BuiltIn::ParallelInsert => parallel_insert(arguments, folder.clone()),
    };
    if fresh {
        // A folder that cannot be removed is left behind; the runs' result matters more.
        let _ = std::fs::remove_dir_all(&folder);
    }
    result.map(|()| ExitCode::SUCCESS)
}

fn sessions(arguments: &Arguments, folder: PathBuf) -> Result<(), CommandError> {
    if arguments.maxdop.is_some() || arguments.minimal_logging || arguments.compare {
        let why = "--maxdop, --minimal-logging and --compare go with --workload parallel-insert";
        return Err(CommandError::Usage(why.to_string()));
    }
    let runs = run_sets(arguments, options(arguments, folder)?)?;
    show_refused_memory(runs.iter());
    stress::print(&runs, &mut std::io::stdout().lock()).map_err(CommandError::io("standard output"))?;
    if let Some(path) = &arguments.plot {
        std::fs::write(path, page::sweep_file(&runs)).map_err(CommandError::io(path.display().to_string()))?;
        let drawn = write!(std::io::stdout().lock(), "\n{}\n{}\n", page::sweep_text(&runs), path.display());
        drawn.map_err(CommandError::io("standard output"))?;
    }
    profiles(arguments, runs.iter())?;
    if let Some(path) = &arguments.json {
        stress::write_json(&runs, path)?;
    }
    Ok(())
}

fn parallel_insert(arguments: &Arguments, folder: PathBuf) -> Result<(), CommandError> {
    if arguments.input.is_some() || arguments.query.is_some() || arguments.setup.is_some() {
        let why = "--workload parallel-insert takes no batches (-i, -Q, --setup)";
        return Err(CommandError::Usage(why.to_string()));
    }
    if arguments.table.is_some() {
        let why = "--table goes with --workload singleton-insert: parallel-insert is into a heap, and in-memory tables are none";
        return Err(CommandError::Usage(why.to_string()));
    }
    if arguments.native.is_some() {
        let why = "--native goes with --workload singleton-insert";
        return Err(CommandError::Usage(why.to_string()));
    }
    if arguments.server.is_given() {
        return Err(CommandError::Usage("--workload parallel-insert runs in this process, without -S".to_string()));
    }
    let set = match arguments.sets.as_slice() {
        [] => None,
        [set] => Some(*set),
        _ => {
            let why = "--workload parallel-insert takes one set of --policies";
            return Err(CommandError::Usage(why.to_string()));
        }
    };
    let one = Variant { nested_transactions: None, minimal_logging: arguments.minimal_logging };
    let options = ParallelOptions {
        folder,
        rows: arguments.rows,
        maxdop: arguments.maxdop.unwrap_or(stress::PARALLEL_INSERT_MAXDOP),
        variants: if arguments.compare { Variant::all() } else { vec![one] },
        policies: policies(set, &arguments.policies)?,
        trace_flags: arguments.trace_flags.clone(),
        buffer_pool_bytes: arguments.buffer_pool.map(|megabytes| megabytes << 20),
        profiler: arguments.profile.as_ref().map(|_| Profiler::new()),
    };
    let runs = stress::run_parallel(&options, &mut |run, of, variant| {
        let nested = variant.nested_transactions.unwrap_or("the policy in force");
        let logging = if variant.minimal_logging { "minimal logging" } else { "full logging" };
        eprintln!("run {run}/{of}: {nested}, {logging}");
    })?;
    show_refused_memory(runs.iter().map(|run| &run.run));
    stress::print_parallel(&runs, &mut std::io::stdout().lock()).map_err(CommandError::io("standard output"))?;
    profiles(arguments, runs.iter().map(|run| &run.run))?;
    if let Some(path) = &arguments.json {
        stress::write_json(&runs, path)?;
    }
    Ok(())
}

/// Says on standard error what was asked for in reserved pages and is in others, once.
fn show_refused_memory<'a>(runs: impl Iterator<Item = &'a stress::Run>) {
    let mut last: &[String] = &[];
    for run in runs {
        if run.refused_memory != last {
            run.refused_memory.iter().for_each(|memory| eprintln!("{memory}"));
            last = &run.refused_memory;
        }
    }
}

/// Writes the profiles of the runs, a page, a flame graph and a text each, and prints the shares by area.
fn profiles<'a>(arguments: &Arguments, runs: impl Iterator<Item = &'a stress::Run>) -> Result<(), CommandError> {
    let Some(folder) = &arguments.profile else { return Ok(()) };
    std::fs::create_dir_all(folder).map_err(CommandError::io(folder.display().to_string()))?;
    let mut out = std::io::stdout().lock();
    for (place, run) in runs.enumerate() {
        let Some(profile) = &run.profile else { continue };
        let set = run.policy_set.map_or(String::new(), |set| format!(", {set}"));
        let plural = if run.sessions == 1 { "" } else { "s" };
        let (count, durability) = (run.sessions, run.durability);
        let title = format!("{}: {}, {count} session{plural}, {durability}{set}", place + 1, run.workload);
        let name = page::file_name(&title);
        let texts = [
            ("html", page::profile_page(&title, profile)),
            ("svg", profile.flame_file(&title)),
            ("txt", format!("{title}\n{}", profile.text())),
        ];
        for (kind, text) in texts {
            let path = folder.join(format!("{name}.{kind}"));
            std::fs::write(&path, text).map_err(CommandError::io(path.display().to_string()))?;
        }
        let page = folder.join(format!("{name}.html"));
        let said = writeln!(out, "{title}: {}\n  {}\n  {}", profile.words(), profile.area_line(), page.display());
        said.map_err(CommandError::io("standard output"))?;
    }
    Ok(())
}

/// The sweep, once for each set of policies; each set has a folder of its own in a fresh one.
fn run_sets(arguments: &Arguments, options: Options) -> Result<Vec<stress::Run>, stress::StressError> {
    let mut bar = stress::bar(arguments.quiet);
    if arguments.sets.is_empty() {
        return stress::run(&options, &mut bar);
    }
    let mut runs = Vec::new();
    for set in &arguments.sets {
        let set = set.set();
        let folder = match arguments.data {
            Some(_) => options.folder.clone(),
            None => options.folder.join(set.name()),
        };
        let options = Options { policy_set: Some(set), folder, ..options.clone() };
        runs.extend(stress::run(&options, &mut bar)?);
    }
    Ok(runs)
}

fn options(arguments: &Arguments, folder: PathBuf) -> Result<Options, CommandError> {
    if arguments.sessions.contains(&0) {
        return Err(CommandError::Usage("a run needs at least one session".to_string()));
    }
    if arguments.iterations == Some(0) {
        return Err(CommandError::Usage("-r takes a number above zero".to_string()));
    }
    if !(arguments.seconds.is_finite() && arguments.seconds > 0.0) {
        return Err(CommandError::Usage("--seconds takes a number above zero".to_string()));
    }
    let amount = match arguments.iterations {
        Some(count) => Amount::Iterations(count),
        None => Amount::Time(Duration::from_secs_f64(arguments.seconds)),
    };
    let durabilities = match arguments.durability {
        DurabilityChoice::Full => vec![Durability::Full],
        DurabilityChoice::Delayed => vec![Durability::Delayed],
        DurabilityChoice::Both => vec![Durability::Full, Durability::Delayed],
    };
    Ok(Options {
        folder,
        database: database(arguments)?,
        server: arguments.server.connect_options("pikepole stress")?,
        sessions: arguments.sessions.clone(),
        durabilities,
        amount,
        workload: workload(arguments)?,
        table: table(arguments)?,
        policy_set: None,
        policies: policies(None, &arguments.policies)?,
        buffer_pool_bytes: arguments.buffer_pool.map(|megabytes| megabytes << 20),
        trace_flags: arguments.trace_flags.clone(),
        slow_device: super::lab::slow_device(arguments.slow_disk.as_deref())?,
        profiler: arguments.profile.as_ref().map(|_| Profiler::new()),
        ..Options::new("")
    })
}

/// The server's database that the sessions work in, where one is named.
fn database(arguments: &Arguments) -> Result<Option<String>, CommandError> {
    let Some(name) = arguments.data.as_ref().filter(|_| arguments.server.is_given()) else { return Ok(None) };
    if arguments.input.is_none() && arguments.query.is_none() {
        let why = "with -S, -d names a database for a workload of your own (-i or -Q); the built-in one makes its own";
        return Err(CommandError::Usage(why.to_string()));
    }
    Ok(Some(name.display().to_string()))
}

/// The kind of table of the built-in workload.
fn table(arguments: &Arguments) -> Result<TableKind, CommandError> {
    let Some(choice) = arguments.table else { return Ok(TableKind::Disk) };
    if arguments.input.is_some() || arguments.query.is_some() {
        let why =
            "--table goes with the built-in workload; those of your own (-i or -Q) have the tables of their --setup";
        return Err(CommandError::Usage(why.to_string()));
    }
    Ok(choice.kind())
}

fn workload(arguments: &Arguments) -> Result<Workload, CommandError> {
    let setup = match &arguments.setup {
        Some(path) => batches(&super::sql::read_script(path)?),
        None => Vec::new(),
    };
    let batches = match (&arguments.input, &arguments.query) {
        (Some(path), _) => batches(&super::sql::read_script(path)?),
        (None, Some(text)) => vec![text.clone()],
        (None, None) if setup.is_empty() && arguments.rpc => {
            return Ok(Workload::RpcInsert { calls: arguments.calls });
        }
        (None, None) if setup.is_empty() => {
            let native = arguments.native.map(|choice| Workload::NativeInsert(choice.calls()));
            return Ok(native.unwrap_or(Workload::SingletonInsert));
        }
        (None, None) => {
            return Err(CommandError::Usage("--setup goes with a workload of your own (-i or -Q)".to_string()));
        }
    };
    Ok(Workload::Batch { setup, batches })
}

fn batches(script: &str) -> Vec<String> {
    let mut texts = Vec::new();
    for batch in pikepole_tsql::split_batches(script) {
        for _ in 0..batch.count {
            texts.push(batch.text.to_string());
        }
    }
    texts
}
