//! `pikepole lab disk` and `pikepole lab cpu`.

use super::{CommandError, json, say, seconds, slow_device};
use pikepole_lab::probe::{cpu, disk};
use std::path::PathBuf;
use std::process::ExitCode;

/// Which disk, and how long.
#[derive(clap::Args)]
#[command(after_help = DISK_HELP)]
pub struct DiskArguments {
    /// A folder on the disk; the file made there, of 128 MB, is removed
    #[arg(short = 'd', long, value_name = "FOLDER", default_value = ".")]
    folder: PathBuf,
    /// Seconds of each measurement
    #[arg(long, default_value_t = 0.5, value_name = "SECONDS", allow_negative_numbers = true)]
    seconds: f64,
    /// Act a slower disk: microseconds of each durable write, and megabytes a second
    #[arg(long, value_name = "US[,MB]")]
    slow_disk: Option<String>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

const DISK_HELP: &str = "\
A durable write counts when it is on stable storage. 4 KB is a small commit, 60 KB a full
log block of the classic size; as many writers as `at once` each overwrite a part of one
prewritten file. Writes at once below the first line's rate times their number queue in
the device. The machine should have nothing else to do.

Example:
  pikepole lab disk -d /mnt/fast --seconds 1
  pikepole lab disk --slow-disk 600,200   what the experiments act as a slower device";

/// How long, and over how much memory.
#[derive(clap::Args)]
#[command(after_help = CPU_HELP)]
pub struct CpuArguments {
    /// Seconds of each measurement
    #[arg(long, default_value_t = 0.2, value_name = "SECONDS", allow_negative_numbers = true)]
    seconds: f64,
    /// Megabytes of the random reads that show the TLB
    #[arg(long, default_value_t = 512, value_name = "MB", value_parser = clap::value_parser!(u64).range(2..=1 << 20))]
    tlb_memory: u64,
    /// As JSON
    #[arg(long)]
    json: bool,
}

const CPU_HELP: &str = "\
one shared word: what threads pay that all change one word, alone and on every CPU.
hand-off: a cache line passed between two CPUs, one way; the shades go from the nearest
pair to the farthest. wake-up: a sleeping thread, woken. TLB: dependent reads at random in
pages of 4 KB and of 2 MB; pages that are set aside come from vm.nr_hugepages.
The machine should have nothing else to do.

Example:
  pikepole lab cpu --seconds 0.5 --tlb-memory 4096";

/// Probes a disk.
pub fn disk(arguments: &DiskArguments) -> Result<ExitCode, CommandError> {
    let folder = arguments.folder.clone();
    if !disk::is_folder(&folder) {
        return Err(CommandError::Usage(format!("{} is not a folder", folder.display())));
    }
    let options = disk::Options {
        time: seconds("--seconds", arguments.seconds)?,
        slow_device: slow_device(arguments.slow_disk.as_deref())?,
        folder,
    };
    let report = disk::run(&options).map_err(CommandError::io("the disk's probe"))?;
    say(&if arguments.json { json(&report)? } else { report.text() })?;
    Ok(ExitCode::SUCCESS)
}

/// Probes the CPUs.
pub fn cpu(arguments: &CpuArguments) -> Result<ExitCode, CommandError> {
    let bytes = usize::try_from(arguments.tlb_memory << 20);
    let options = cpu::Options {
        time: seconds("--seconds", arguments.seconds)?,
        tlb_bytes: bytes.map_err(|_| CommandError::Usage("--tlb-memory is too much".to_string()))?,
    };
    let report = cpu::run(&options).map_err(CommandError::io("the CPUs' probe"))?;
    say(&if arguments.json { json(&report)? } else { report.text() })?;
    Ok(ExitCode::SUCCESS)
}
