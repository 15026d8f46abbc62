//! The schedulers and the logs of a bench.

use super::{CommitPolicy, Device, LogBenchError, Options};
use pikepole_contention::Statistics;
use pikepole_contention::sync::atomic::{AtomicBool, Ordering};
use pikepole_contention::sync::{Arc, RwLock, RwLockReadGuard, RwLockWriteGuard, thread};
use pikepole_log::{CommitBy, FlushOutcome, Log, LogError, LogOptions, Refused, Reservation};
use pikepole_machine::Disk;
use pikepole_scheduler::{IdleOutcome, Moment, SchedulerOptions, Schedulers};
use std::path::PathBuf;
use std::time::Duration;

/// Bytes of a segment: a log of four of them goes round without growing.
const SEGMENT_BYTES: u64 = 32 << 20;
const SEGMENTS: u64 = 4;
/// Bytes of the records that a new log is filled with until it has all its segments.
const FILLER_BYTES: usize = 32 << 10;
/// How often the controller lets go of what is durable.
const TRUNCATE_EVERY: Duration = Duration::from_millis(1);

/// Which log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    Append(Device, Reservation),
    Commit(CommitPolicy),
}

/// The schedulers, and every log that was asked for so far.
pub struct Logs {
    schedulers: Arc<Schedulers>,
    statistics: Arc<Statistics>,
    null: Disk,
    folder: PathBuf,
    cpus: Vec<usize>,
    logs: Vec<(Which, Arc<Log>)>,
    /// What the schedulers flush when they are idle.
    hooked: Arc<Hooked>,
    stop: Arc<AtomicBool>,
    truncating: Option<thread::JoinHandle<()>>,
}

/// The log that is measured. Written between measurements only.
type Hooked = RwLock<Option<Arc<Log>>>;

fn read(hooked: &Hooked) -> RwLockReadGuard<'_, Option<Arc<Log>>> {
    hooked.read().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn write(hooked: &Hooked) -> RwLockWriteGuard<'_, Option<Arc<Log>>> {
    hooked.write().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl Logs {
    /// Starts the schedulers and makes the bench's folder.
    pub fn start(options: &Options) -> Result<Logs, LogBenchError> {
        let statistics = Statistics::new();
        let pin = !options.cpus.is_empty();
        let cpus = if pin { options.cpus.clone() } else { vec![0] };
        let scheduler_options = SchedulerOptions { cpus: cpus.clone(), pin, ..SchedulerOptions::default() };
        let schedulers = Schedulers::start(scheduler_options, Arc::clone(&statistics));
        let schedulers = schedulers.map_err(LogBenchError::Schedulers)?;
        let folder = options.folder.join(format!("pikepole-log-bench-{}", std::process::id()));
        std::fs::create_dir_all(&folder).map_err(LogBenchError::file(&folder))?;
        let folder = folder.canonicalize().map_err(LogBenchError::file(&folder))?;
        let hooked: Arc<Hooked> = Arc::default();
        let log = Arc::clone(&hooked);
        schedulers.set_idle_hook(Arc::new(move |moment| {
            // Whoever changes it is done soon.
            let Ok(log) = log.try_read() else { return IdleOutcome::Soon };
            let step = |log: &Arc<Log>| match moment {
                Moment::Idle => log.idle_step(),
                Moment::Busy { quantum_over } => log.busy_step(quantum_over),
            };
            match log.as_ref().map(step) {
                Some(FlushOutcome::Wrote(_)) => IdleOutcome::Worked,
                Some(FlushOutcome::Busy) => IdleOutcome::Soon,
                Some(FlushOutcome::Nothing | FlushOutcome::NoRoom) | None => IdleOutcome::Nothing,
            }
        }));
        let stop = Arc::new(AtomicBool::new(false));
        let truncating = thread::spawn({
            let (hooked, stop) = (Arc::clone(&hooked), Arc::clone(&stop));
            move || {
                // Relaxed: the flag carries nothing but itself.
                while !stop.load(Ordering::Relaxed) {
                    let log = read(&hooked).as_ref().map(Arc::clone);
                    if let Some(log) = log {
                        log.truncate(log.durable());
                    }
                    thread::sleep(TRUNCATE_EVERY);
                }
            }
        });
        let (logs, truncating) = (Vec::new(), Some(truncating));
        Ok(Logs { schedulers, statistics, null: Disk::null(), folder, cpus, logs, hooked, stop, truncating })
    }

    /// The schedulers.
    pub fn schedulers(&self) -> &Arc<Schedulers> {
        &self.schedulers
    }

    /// Makes a log the one that is measured: it alone is flushed by idle schedulers, and truncated.
    pub fn measured(&mut self, which: Which) -> Result<Arc<Log>, LogBenchError> {
        let found = self.logs.iter().find(|(known, _)| *known == which);
        let log = match found {
            Some((_, log)) => Arc::clone(log),
            None => self.make(which)?,
        };
        *write(&self.hooked) = Some(Arc::clone(&log));
        Ok(log)
    }

    fn make(&mut self, which: Which) -> Result<Arc<Log>, LogBenchError> {
        let base = LogOptions {
            first_segment_bytes: SEGMENT_BYTES,
            segment_bytes: SEGMENT_BYTES,
            bytes_max: SEGMENT_BYTES * SEGMENTS,
            ..LogOptions::default()
        };
        let number = self.logs.len();
        let (disk, folder, options) = match which {
            Which::Append(Device::Null, reservation) => {
                // Appenders alone take the CPU; the writer is the one that writes.
                let options = LogOptions { reservation, commit_by: CommitBy::LogWriter, ..base };
                (self.null.clone(), PathBuf::from(format!("/{number}")), options)
            }
            Which::Append(Device::Disk, reservation) => {
                let options = LogOptions { reservation, commit_by: CommitBy::LogWriter, ..base };
                (Disk::real(), self.folder.join(number.to_string()), options)
            }
            Which::Commit(policy) => (Disk::real(), self.folder.join(number.to_string()), policy.apply(base)),
        };
        let log = Arc::new(Log::create(&disk, folder, options, &self.statistics)?);
        for number in 0..log.writer_count() {
            self.schedulers.hidden("LOG WRITER", None, Arc::clone(&log).run_log_writer(number));
        }
        grow(&log)?;
        self.logs.push((which, Arc::clone(&log)));
        Ok(log)
    }

    /// On which scheduler the task with this number belongs.
    pub fn place(&self, task: usize) -> pikepole_scheduler::Placement {
        pikepole_scheduler::Placement::On(task % self.cpus.len())
    }

    /// Ends all that was started and removes the folder.
    pub fn close(mut self) -> Result<(), LogBenchError> {
        let logs = std::mem::take(&mut self.logs);
        for (_, log) in &logs {
            log.shutdown()?;
        }
        Ok(())
    }
}

/// Fills a log until it has all its segments, so that none is prepared while it is measured.
fn grow(log: &Log) -> Result<(), LogBenchError> {
    while log.stats().bytes < SEGMENT_BYTES * SEGMENTS {
        match log.append(FILLER_BYTES, |out, _| out.fill(1)) {
            Ok(_) => {}
            Err(Refused::Poisoned) => return Err(LogBenchError::Poisoned),
            // Nothing is truncated here: a log that finds free segments prepares no more.
            Err(Refused::BufferFull | Refused::LogFull) => thread::sleep(TRUNCATE_EVERY),
        }
        if let Some(why) = log.stats().growth_failed {
            return Err(LogError::Io(std::io::Error::other(why)).into());
        }
    }
    log.truncate(log.durable());
    Ok(())
}

impl Drop for Logs {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(truncating) = self.truncating.take() {
            // A panic there has been printed already.
            let _ = truncating.join();
        }
        *write(&self.hooked) = None;
        self.schedulers.shutdown();
        // A folder that cannot be removed is left behind; the measurement matters more.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
