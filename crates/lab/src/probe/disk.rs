//! The disk probe: durable writes of 4 KB and 60 KB, 1 to 32 on their way at once, and sequential bandwidth.
//!
//! Durable writes go to a prewritten file round the page cache, each writer to a part of its own; a write counts when it
//! is on stable storage. Sequential writes of 64 KB and 1 MB go round the page cache too, by one thread, without waiting
//! for stable storage; reads likewise.

use crate::progress::Bar;
use crate::show::{grouped, right, table};
use comfy_table::Cell;
use pikepole_contention::sync::thread;
use pikepole_machine::{AlignedBuffer, Disk, File, OpenOptions, SlowDevice};
use serde::Serialize;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Sizes of durable writes, in bytes: a small commit, and a full log block of the classic size.
const WRITE_BYTES: [usize; 2] = [4096, 60 << 10];
/// Writes on their way at once.
const IN_FLIGHT: [usize; 6] = [1, 2, 4, 8, 16, 32];
/// Bytes of the file that each writer has for its own.
const PART_BYTES: u64 = 4 << 20;
/// Sizes of sequential reads and writes, in bytes.
const SEQUENTIAL_BYTES: [usize; 2] = [64 << 10, 1 << 20];

/// What to probe.
#[derive(Debug, Clone)]
pub struct Options {
    /// A folder on the disk.
    pub folder: PathBuf,
    /// The time of each measurement.
    pub time: Duration,
    /// A slower device to act.
    pub slow_device: Option<SlowDevice>,
}

/// What was found.
#[derive(Debug, Clone, Serialize)]
pub struct DiskReport {
    /// The folder.
    pub folder: String,
    /// The acted device: delay in microseconds, bandwidth in bytes a second; null when it is the device itself.
    pub slow_device: Option<(u64, Option<u64>)>,
    /// Whether writes went round the page cache.
    pub direct: bool,
    /// How durable writes were made.
    pub method: &'static str,
    /// Durable writes.
    pub durable: Vec<DurableRow>,
    /// Sequential bandwidth.
    pub sequential: Vec<SequentialRow>,
}

/// Durable writes of one size and number at once.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct DurableRow {
    /// Bytes of a write.
    pub write_bytes: usize,
    /// Writes on their way at once.
    pub in_flight: usize,
    /// Writes a second.
    pub writes_per_second: f64,
    /// Half of the writes took no longer, in microseconds.
    pub p50_us: f64,
    /// 99 of 100 writes took no longer, in microseconds.
    pub p99_us: f64,
    /// The longest, in microseconds.
    pub max_us: f64,
}

/// Sequential reads or writes of one size.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct SequentialRow {
    /// `read` or `write`.
    pub direction: &'static str,
    /// Bytes of each.
    pub bytes: usize,
    /// Bytes a second.
    pub bytes_per_second: f64,
}

struct RemovedAtEnd(PathBuf);

impl Drop for RemovedAtEnd {
    fn drop(&mut self) {
        // The probe has its answer, or its error, already.
        let _ = Disk::real().remove_file(&self.0);
    }
}

/// Probes the disk of a folder. The file made there is removed.
///
/// # Errors
/// What the file system answers.
pub fn run(options: &Options) -> io::Result<DiskReport> {
    let steps = WRITE_BYTES.len() * IN_FLIGHT.len() + 2 * SEQUENTIAL_BYTES.len();
    let mut bar = Bar::new(options.time * steps as u32 + Duration::from_secs(1));
    bar.begin("writing the file of the probe");
    let path = RemovedAtEnd(options.folder.join(format!("pikepole-disk-probe-{}", std::process::id())));
    let disk = match options.slow_device {
        Some(device) => Disk::real().slowed(device),
        None => Disk::real(),
    };
    let open = OpenOptions { create: true, direct: true, durable_writes: true, read_only: false };
    let file = disk.open(&path.0, open)?;
    file.prewrite(0, PART_BYTES * IN_FLIGHT[IN_FLIGHT.len() - 1] as u64)?;
    bar.end(Duration::from_secs(1));
    let mut durable = Vec::new();
    for write_bytes in WRITE_BYTES {
        for in_flight in IN_FLIGHT {
            bar.begin(&format!("durable {} KB, {in_flight} at once", write_bytes >> 10));
            durable.push(durable_row(&file, write_bytes, in_flight, options.time)?);
            bar.end(options.time);
        }
    }
    let mut sequential = Vec::new();
    for bytes in SEQUENTIAL_BYTES {
        for direction in ["write", "read"] {
            bar.begin(&format!("sequential {direction}s of {} KB", bytes >> 10));
            sequential.push(sequential_row(&file, direction, bytes, options.time)?);
            bar.end(options.time);
        }
    }
    let slow =
        |device: SlowDevice| (u64::try_from(device.delay.as_micros()).unwrap_or(u64::MAX), device.bytes_per_second);
    Ok(DiskReport {
        folder: options.folder.display().to_string(),
        slow_device: options.slow_device.map(slow),
        direct: file.is_direct(),
        method: file.durable_method().name(),
        durable,
        sequential,
    })
}

fn durable_row(file: &File, write_bytes: usize, in_flight: usize, time: Duration) -> io::Result<DurableRow> {
    let begun = Instant::now();
    let writer = |number: usize| -> io::Result<Vec<u64>> {
        let mut content = AlignedBuffer::zeroed(write_bytes);
        let mut times_ns = Vec::new();
        let places = PART_BYTES / write_bytes as u64;
        while times_ns.is_empty() || begun.elapsed() < time {
            // Other bytes each time, so that no layer below can take the write for one it has.
            let turn = times_ns.len() as u64;
            content[..8].copy_from_slice(&(turn + 1).to_le_bytes());
            let started = Instant::now();
            file.write_durable_at(&content, number as u64 * PART_BYTES + turn % places * write_bytes as u64)?;
            times_ns.push(u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX));
        }
        Ok(times_ns)
    };
    let mut times_ns = Vec::new();
    thread::scope(|scope| {
        let writers: Vec<_> = (0..in_flight).map(|number| scope.spawn(move || writer(number))).collect();
        for writer in writers {
            times_ns.extend(writer.join().map_err(|_| io::Error::other("a writer of the probe panicked"))??);
        }
        io::Result::Ok(())
    })?;
    let seconds = begun.elapsed().as_secs_f64();
    times_ns.sort_unstable();
    let at = |percent: usize| times_ns[(times_ns.len() * percent / 100).min(times_ns.len() - 1)] as f64 / 1e3;
    Ok(DurableRow {
        write_bytes,
        in_flight,
        writes_per_second: times_ns.len() as f64 / seconds,
        p50_us: at(50),
        p99_us: at(99),
        max_us: at(100),
    })
}

fn sequential_row(file: &File, direction: &'static str, bytes: usize, time: Duration) -> io::Result<SequentialRow> {
    let mut buffer = AlignedBuffer::zeroed(bytes);
    let end = PART_BYTES * IN_FLIGHT[IN_FLIGHT.len() - 1] as u64;
    let (mut offset, mut moved) = (0, 0u64);
    let begun = Instant::now();
    while moved == 0 || begun.elapsed() < time {
        if direction == "write" {
            file.write_at(&buffer, offset)?;
        } else {
            file.read_at(&mut buffer, offset)?;
        }
        moved += bytes as u64;
        offset = (offset + bytes as u64) % end;
    }
    Ok(SequentialRow { direction, bytes, bytes_per_second: moved as f64 / begun.elapsed().as_secs_f64() })
}

impl DiskReport {
    /// The tables.
    pub fn text(&self) -> String {
        let mut durable = table();
        durable.set_header(
            ["durable write", "at once", "writes/s", "MB/s", "p50 us", "p99 us", "max us", "against 1"].map(Cell::new),
        );
        for row in &self.durable {
            let alone = self.durable.iter().find(|one| one.in_flight == 1 && one.write_bytes == row.write_bytes);
            let against = alone.map_or(1.0, |one| row.writes_per_second / one.writes_per_second);
            durable.add_row([
                right(format!("{} KB", row.write_bytes >> 10)),
                right(row.in_flight),
                right(grouped(row.writes_per_second as u64)),
                right(format!("{:.1}", row.writes_per_second * row.write_bytes as f64 / 1e6)),
                right(format!("{:.0}", row.p50_us)),
                right(format!("{:.0}", row.p99_us)),
                right(format!("{:.0}", row.max_us)),
                right(format!("{against:.1} x")),
            ]);
        }
        let mut sequential = table();
        sequential.set_header(["sequential", "bytes each", "MB/s"].map(Cell::new));
        for row in &self.sequential {
            sequential.add_row([
                Cell::new(row.direction),
                right(format!("{} KB", row.bytes >> 10)),
                right(format!("{:.0}", row.bytes_per_second / 1e6)),
            ]);
        }
        let cache = if self.direct { "round the page cache" } else { "through the page cache" };
        let device = match self.slow_device {
            Some((delay, Some(rate))) => {
                format!("; acts a device that takes {delay} us a write and {} MB/s", rate / 1_000_000)
            }
            Some((delay, None)) => format!("; acts a device that takes {delay} us a write"),
            None => String::new(),
        };
        let head = format!("{}: {cache}, durable by {}{device}", self.folder, self.method);
        format!("{head}\n\n{durable}\n\n{sequential}")
    }
}

/// Whether a folder can be probed: it is there.
pub fn is_folder(path: &Path) -> bool {
    Disk::real().is_dir(path)
}
