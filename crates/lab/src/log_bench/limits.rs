//! What the machine itself can do, measured in the same run as the log.
//!
//! | limit | of what |
//! |---|---|
//! | copying records of a size into a buffer as large as the log's | every append |
//! | one atomic addition to one shared word, by one and by all threads | policies that add once a record |
//! | copying a block and its CRC32C, on one thread | what one log writer takes out |
//! | durable writes of 4096 bytes, one after the other and sixteen at a time | commits |
//! | durable writes of a megabyte, four at a time | appends to the disk |

use super::{LogBenchError, Options};
use pikepole_contention::CachePadded;
use pikepole_contention::sync::Arc;
use pikepole_contention::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use pikepole_contention::sync::thread;
use pikepole_machine::{AlignedBuffer, BLOCK, Disk, OpenOptions, probe};
use pikepole_scheduler::{Schedulers, TaskInfo};
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Bytes of the log's ring, and of the buffer that the copies go round in.
const RING_BYTES: usize = 32 << 20;
/// Bytes of a block that the writer's work is measured with.
const BLOCK_BYTES: usize = 1 << 20;
/// Writes of one block of the device, as commits are: how many at a time, and the bytes that each writer goes round in.
const SMALL: Parallel = Parallel { writers: 16, write_bytes: BLOCK, own_bytes: 1 << 20 };
/// Writes as large as a log writer's blocks.
const LARGE: Parallel = Parallel { writers: 4, write_bytes: BLOCK_BYTES, own_bytes: 16 << 20 };
const MEASURE: Duration = Duration::from_millis(60);
const PROBE: Duration = Duration::from_millis(500);
const BATCH: usize = 64;

/// What the machine can do.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Copying: bytes of a record, threads, billions of bytes a second.
    pub memcpy: Vec<(usize, usize, f64)>,
    /// Additions a second to one word: threads, and how many in all.
    pub atomic_adds_per_second: Vec<(usize, f64)>,
    /// One log writer's copy and checksum, in billions of bytes a second.
    pub writer_gb_per_second: f64,
    /// Durable writes; `None` when no disk is used.
    pub disk: Option<DiskLimits>,
}

/// Durable writes.
#[derive(Debug, Clone)]
pub struct DiskLimits {
    /// Of 4096 bytes, a second, one after the other, from each scheduler: a device may interrupt one CPU only, and the others hear
    /// of it later.
    pub singles: Vec<f64>,
    /// Of 4096 bytes, a second, sixteen at a time.
    pub parallel: f64,
    /// Of a megabyte, four at a time: billions of bytes a second.
    pub gb_per_second: f64,
}

impl DiskLimits {
    /// The scheduler from which one write after the other goes quickest.
    pub(super) fn quickest(&self) -> usize {
        let by_rate = |a: &usize, b: &usize| self.singles[*a].total_cmp(&self.singles[*b]);
        (0..self.singles.len()).max_by(by_rate).unwrap_or(0)
    }

    /// One after the other, from there.
    pub fn single(&self) -> f64 {
        self.singles.iter().copied().fold(0.0, f64::max)
    }
}

impl Limits {
    pub(super) fn measure(options: &Options, schedulers: &Arc<Schedulers>) -> Result<Limits, LogBenchError> {
        let mut thread_counts: Vec<usize> =
            options.threads.iter().map(|threads| (*threads).min(schedulers.count())).collect();
        thread_counts.sort_unstable();
        thread_counts.dedup();
        let mut memcpy = Vec::new();
        let mut atomic_adds_per_second = Vec::new();
        for &threads in &thread_counts {
            for &record_bytes in &options.record_bytes {
                let copies = rate(schedulers, threads, move || copier(record_bytes))?;
                memcpy.push((record_bytes, threads, copies * record_bytes as f64 / 1e9));
            }
            let shared = Arc::new(CachePadded::new(AtomicU64::new(0)));
            let adds = rate(schedulers, threads, move || {
                let shared = Arc::clone(&shared);
                move || {
                    for _ in 0..BATCH {
                        black_box(shared.fetch_add(48, Ordering::AcqRel));
                    }
                }
            })?;
            atomic_adds_per_second.push((threads, adds));
        }
        let blocks = rate(schedulers, 1, sealer)?;
        let writer_gb_per_second = blocks / BATCH as f64 * BLOCK_BYTES as f64 / 1e9;
        let disk = if options.uses_disk() { Some(disk_limits(&options.folder, schedulers)?) } else { None };
        Ok(Limits { memcpy, atomic_adds_per_second, writer_gb_per_second, disk })
    }

    /// Copying records of this size with so many threads, in billions of bytes a second.
    pub fn memcpy_gb_per_second(&self, record_bytes: usize, threads: usize) -> Option<f64> {
        let found = self.memcpy.iter().find(|(bytes, of, _)| *bytes == record_bytes && *of == threads);
        found.map(|(_, _, gb)| *gb)
    }

    /// Additions a second to one word by so many threads.
    pub fn atomic_adds(&self, threads: usize) -> Option<f64> {
        self.atomic_adds_per_second.iter().find(|(of, _)| *of == threads).map(|(_, rate)| *rate)
    }

    /// One line for whoever watches.
    pub(super) fn line(&self) -> String {
        let adds =
            self.atomic_adds_per_second.iter().map(|(threads, rate)| format!("x{threads} {:.0} M/s", rate / 1e6));
        let disk = self.disk.as_ref().map_or(String::new(), |disk| {
            format!(
                "; durable 4 KB writes {:.0}/s, {} at a time {:.0}/s, 1 MB writes {:.2} GB/s",
                disk.single(),
                SMALL.writers,
                disk.parallel,
                disk.gb_per_second
            )
        });
        format!("one shared atomic add {}{disk}", adds.collect::<Vec<_>>().join(", "))
    }
}

/// Steps of [`BATCH`] copies of one record each into the next places of a buffer.
fn copier(record_bytes: usize) -> impl FnMut() + Send + 'static {
    let record = vec![1u8; record_bytes];
    let mut buffer = vec![0u8; RING_BYTES];
    let mut at = 0;
    move || {
        for _ in 0..BATCH {
            if at + record_bytes > buffer.len() {
                at = 0;
            }
            buffer[at..at + record_bytes].copy_from_slice(black_box(&record));
            at += record_bytes;
        }
        black_box(&mut buffer);
    }
}

/// One step: what a log writer does to a block before the device has it.
fn sealer() -> impl FnMut() + Send + 'static {
    let ring = vec![1u8; RING_BYTES];
    let mut block = vec![0u8; BLOCK_BYTES];
    let mut at = 0;
    move || {
        block.copy_from_slice(&ring[at..at + BLOCK_BYTES]);
        black_box(crc32c::crc32c(&block));
        at = (at + BLOCK_BYTES) % ring.len();
    }
}

/// [`BATCH`] times the steps a second of as many tasks as `threads`, each on a scheduler of its own.
fn rate<S: FnMut() + Send + 'static>(
    schedulers: &Arc<Schedulers>,
    threads: usize,
    step: impl Fn() -> S,
) -> Result<f64, LogBenchError> {
    let stop = Arc::new(AtomicBool::new(false));
    let ready = Arc::new(AtomicU64::new(0));
    let tasks: Vec<_> = (0..threads)
        .map(|number| {
            let (stop, ready, mut step) = (Arc::clone(&stop), Arc::clone(&ready), step());
            let info = TaskInfo { session_id: None, command: "LIMIT" };
            schedulers.spawn(info, pikepole_scheduler::Placement::On(number), async move {
                // Memory is touched once before the clock runs.
                step();
                ready.fetch_add(1, Ordering::Relaxed);
                while (ready.load(Ordering::Relaxed) as usize) < threads {
                    pikepole_scheduler::yield_now().await;
                }
                let (begun, mut steps) = (Instant::now(), 0u64);
                // One step at the least: a busy machine may run this thread too late.
                loop {
                    step();
                    steps += 1;
                    if stop.load(Ordering::Relaxed) {
                        break;
                    }
                }
                (steps * BATCH as u64) as f64 / begun.elapsed().as_secs_f64()
            })
        })
        .collect();
    thread::sleep(MEASURE);
    stop.store(true, Ordering::Relaxed);
    let mut sum = 0.0;
    for task in tasks {
        sum += task.join()?;
    }
    Ok(sum)
}

/// What the disk below `folder` takes now.
pub(super) fn disk_limits(folder: &Path, schedulers: &Arc<Schedulers>) -> Result<DiskLimits, LogBenchError> {
    let time = PROBE / u32::try_from(schedulers.count()).unwrap_or(1).max(1);
    let mut singles = Vec::with_capacity(schedulers.count());
    for number in 0..schedulers.count() {
        let info = TaskInfo { session_id: None, command: "LIMIT" };
        let path = folder.to_owned();
        let probe = async move { probe::durable_writes(path, BLOCK, time) };
        let probed = schedulers.spawn(info, pikepole_scheduler::Placement::On(number), probe).join()?;
        singles.push(probed.map_err(LogBenchError::file(folder))?.writes_per_second);
    }
    let parallel = SMALL.writes_per_second(folder).map_err(LogBenchError::file(folder))?;
    let large = LARGE.writes_per_second(folder).map_err(LogBenchError::file(folder))?;
    Ok(DiskLimits { singles, parallel, gb_per_second: large * LARGE.write_bytes as f64 / 1e9 })
}

struct RemovedAtEnd(PathBuf);

impl Drop for RemovedAtEnd {
    fn drop(&mut self) {
        // The measurement is there, or its error, already.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Durable writes by several threads, each into a stretch of its own of one file.
struct Parallel {
    writers: u64,
    write_bytes: usize,
    own_bytes: u64,
}

impl Parallel {
    fn writes_per_second(&self, folder: &Path) -> std::io::Result<f64> {
        let Parallel { writers, write_bytes, own_bytes } = *self;
        let path = RemovedAtEnd(folder.join(format!("pikepole-parallel-probe-{}", std::process::id())));
        let options = OpenOptions { create: true, direct: true, durable_writes: true, read_only: false };
        let file = Disk::real().open(&path.0, options)?;
        file.prewrite(0, own_bytes * writers)?;
        let begun = Instant::now();
        let writers: Vec<_> = (0..writers)
            .map(|number| {
                let file = file.clone();
                thread::spawn(move || {
                    let mut content = AlignedBuffer::zeroed(write_bytes);
                    let mut writes = 0u64;
                    while begun.elapsed() < PROBE {
                        // Other bytes each time, so that no layer below can take the write for one it has.
                        content[..8].copy_from_slice(&(writes + 1).to_le_bytes());
                        let at = writes * write_bytes as u64 % own_bytes;
                        file.write_durable_at(&content, number * own_bytes + at)?;
                        writes += 1;
                    }
                    std::io::Result::Ok(writes)
                })
            })
            .collect();
        let mut writes = 0;
        for writer in writers {
            writes += writer.join().map_err(|_| std::io::Error::other("a writer of the probe panicked"))??;
        }
        Ok(writes as f64 / begun.elapsed().as_secs_f64())
    }
}
