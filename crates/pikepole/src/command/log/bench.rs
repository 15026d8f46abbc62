//! `pikepole log bench`: the log alone, against what the machine can do.

use crate::command::CommandError;
use pikepole_lab::log_bench::{self, Bench, CommitPolicy, Device, Options};
use pikepole_log::Reservation;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// What to measure.
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    /// What to measure: append, commit
    #[arg(long, value_name = "BENCH,...", value_delimiter = ',', default_value = "append,commit")]
    bench: Vec<String>,
    /// append: where the log writer takes the records: null (accepts and forgets), disk
    #[arg(long, value_name = "DEVICE,...", value_delimiter = ',', default_value = "null,disk")]
    devices: Vec<String>,
    /// append: values of LOG_RESERVATION; without it, all of them
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    policies: Vec<String>,
    /// append: numbers of tasks that append at once
    #[arg(long, value_name = "N,N...", value_delimiter = ',', default_value = "1,2,32")]
    threads: Vec<usize>,
    /// append: bytes of a record
    #[arg(long, value_name = "BYTES,...", value_delimiter = ',', default_value = "16,48,100,1024,8192")]
    sizes: Vec<usize>,
    /// commit: values of COMMIT_BY, or CLASSIC; without it, all of them
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    commit_policies: Vec<String>,
    /// commit: numbers of tasks that commit at once
    #[arg(long, value_name = "N,N...", value_delimiter = ',', default_value = "1,2,4,8,16,32,64,128,256")]
    committers: Vec<usize>,
    /// Seconds of each measurement
    #[arg(long, default_value_t = 0.3, value_name = "SECONDS", allow_negative_numbers = true)]
    seconds: f64,
    /// Measurements of each configuration; the median counts
    #[arg(long, default_value_t = 3, value_name = "COUNT")]
    repeats: usize,
    /// A folder on the disk to measure; what is made there is removed
    #[arg(short = 'd', long, value_name = "FOLDER", default_value = ".")]
    folder: PathBuf,
    /// Also write the runs as a JSON array
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

const HELP: &str = "\
append: tasks on the schedulers, one a CPU, append records of one size as fast as they can
while a log writer takes them to a device. The null device shows what the log itself can
do. ns/record is the time of one appending CPU; memcpy is copying such records into a
buffer as large as the log's, with as many threads, in the same run.

commit: tasks append a record of 48 bytes and wait until it is durable. The disk's own
rate, durable 4 KB writes one after the other, is measured in the same run; x one write is
the rate against it. CLASSIC is the classic policies together: spinlocks, 60 KB blocks, and
the log writer.

Policies alternate within a repeat. Below the tables stands what the limit is and how near
the log comes. The machine should have nothing else to do. A plain call takes some two
minutes and about 1 GB of disk.

JSON: {bench, policy, threads, committers, record_bytes, records_per_second, ns_per_record,
gb_per_second, p50_us, p99_us, probe_writes_per_second, device, ...}, null where it does
not apply.

Examples:
  pikepole log bench --bench append --devices null --sizes 48 --threads 1,2
  pikepole log bench --bench commit --committers 1,32,256 --seconds 1 -d /mnt/fast
  pikepole log bench --policies SPINLOCK,ATOMIC --repeats 5 --json bench.json";

/// Measures, and prints what was found.
pub fn run(arguments: &Arguments) -> Result<ExitCode, CommandError> {
    let options = options(arguments)?;
    let report = {
        let mut bar = log_bench::bar();
        log_bench::run(&options, &mut bar)?
    };
    log_bench::print(&report, &mut std::io::stdout().lock()).map_err(CommandError::io("standard output"))?;
    if let Some(path) = &arguments.json {
        log_bench::write_json(&report, path)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn options(arguments: &Arguments) -> Result<Options, CommandError> {
    if !(arguments.seconds.is_finite() && arguments.seconds > 0.0 && arguments.seconds < 86_400.0) {
        return Err(CommandError::Usage("--seconds takes a number above zero".to_string()));
    }
    if arguments.repeats == 0 {
        return Err(CommandError::Usage("--repeats takes a number above zero".to_string()));
    }
    let base = Options::new(&arguments.folder);
    Ok(Options {
        benches: each(&arguments.bench, "--bench", &[("append", Bench::Append), ("commit", Bench::Commit)])?,
        devices: each(
            &arguments.devices,
            "--devices",
            &[Device::Null, Device::Disk].map(|device| (device.name(), device)),
        )?,
        reservations: named(&arguments.policies, "--policies", Reservation::all(), Reservation::name)?,
        threads: counts(&arguments.threads, "--threads", 10_000)?,
        record_bytes: counts(&arguments.sizes, "--sizes", pikepole_log::RECORD_BYTES_MAX)?,
        commit_policies: named(
            &arguments.commit_policies,
            "--commit-policies",
            CommitPolicy::all(),
            CommitPolicy::name,
        )?,
        committers: counts(&arguments.committers, "--committers", 10_000)?,
        seconds: Duration::from_secs_f64(arguments.seconds),
        repeats: arguments.repeats,
        ..base
    })
}

/// The values with these names; all of them without names.
fn named<T: Copy>(
    names: &[String],
    option: &str,
    all: impl Iterator<Item = T>,
    name: fn(T) -> &'static str,
) -> Result<Vec<T>, CommandError> {
    let all: Vec<(&'static str, T)> = all.map(|value| (name(value), value)).collect();
    if names.is_empty() { Ok(all.into_iter().map(|(_, value)| value).collect()) } else { each(names, option, &all) }
}

fn each<T: Copy>(names: &[String], option: &str, known: &[(&str, T)]) -> Result<Vec<T>, CommandError> {
    let find = |name: &String| {
        let found = known.iter().find(|(known, _)| known.eq_ignore_ascii_case(name.trim()));
        found.map(|(_, value)| *value).ok_or_else(|| {
            let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
            CommandError::Usage(format!("{option} takes {}, not `{name}`", names.join(", ")))
        })
    };
    names.iter().map(find).collect()
}

fn counts(numbers: &[usize], option: &str, most: usize) -> Result<Vec<usize>, CommandError> {
    match numbers.iter().find(|number| !(1..=most).contains(*number)) {
        Some(wrong) => Err(CommandError::Usage(format!("{option} takes numbers from 1 to {most}, not {wrong}"))),
        None => Ok(numbers.to_vec()),
    }
}
