//! The time series of a run: what has been done and used so far, read now and then through a session of its own.

use super::StressError;
use super::report::IDLE_WAITS;
use super::statistics;
use super::target::{Link, Target};
use crate::load::CpuUse;
use pikepole_contention::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use pikepole_contention::sync::{Arc, thread};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// What had been done and used at one moment of a run, since its start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// The moment.
    pub seconds: f64,
    /// Rows acknowledged.
    pub rows: u64,
    /// Bytes written to the log files.
    pub log_bytes_written: u64,
    /// Writes to the log files.
    pub flushes: u64,
    /// CPU seconds of this process.
    pub cpu_seconds: f64,
    /// Milliseconds waited for the log (WRITELOG), over all tasks; completed waits only.
    pub writelog_ms: u64,
    /// Milliseconds of all other waits but those of idle system tasks.
    pub other_waits_ms: u64,
    /// Times that a task which lives yet was boosted to the head of its scheduler's queue.
    #[serde(default)]
    pub boosts: u64,
}

impl Sample {
    /// Adds another instance's of the same process, whose CPU time is in both.
    pub(super) fn add(&mut self, other: &Sample) {
        self.rows += other.rows;
        self.log_bytes_written += other.log_bytes_written;
        self.flushes += other.flushes;
        self.cpu_seconds = self.cpu_seconds.max(other.cpu_seconds);
        self.writelog_ms += other.writelog_ms;
        self.other_waits_ms += other.other_waits_ms;
        self.boosts += other.boosts;
    }
}

/// Samples a run from a thread of its own.
pub(super) struct Sampler {
    over: Arc<AtomicBool>,
    thread: thread::JoinHandle<Vec<Sample>>,
}

impl Sampler {
    pub(super) fn start(
        target: &Target,
        database: &str,
        rows: Arc<AtomicU64>,
        every: Duration,
    ) -> Result<Sampler, StressError> {
        let mut connection = target.connect()?;
        let over = Arc::new(AtomicBool::new(false));
        let first = Reading::take(&mut connection, database)?;
        let seen = Arc::clone(&over);
        let database = database.to_owned();
        let thread = thread::spawn(move || {
            let (begun, cpu) = (Instant::now(), CpuUse::now());
            let mut samples = vec![Sample::default()];
            while !seen.load(Ordering::Relaxed) {
                thread::park_timeout(every);
                // A run goes on without its series when the session is lost; the run's own sessions tell why.
                let Ok(now) = Reading::take(&mut connection, &database) else { break };
                samples.push(Sample {
                    seconds: begun.elapsed().as_secs_f64(),
                    rows: rows.load(Ordering::Relaxed),
                    log_bytes_written: now.log_bytes_written.saturating_sub(first.log_bytes_written),
                    flushes: now.flushes.saturating_sub(first.flushes),
                    cpu_seconds: cpu.spent().own_seconds,
                    writelog_ms: now.writelog_ms.saturating_sub(first.writelog_ms),
                    other_waits_ms: now.other_waits_ms.saturating_sub(first.other_waits_ms),
                    boosts: now.boosts.saturating_sub(first.boosts),
                });
            }
            samples
        });
        Ok(Sampler { over, thread })
    }

    /// Takes a last sample and gives all of them.
    pub(super) fn finish(self) -> Vec<Sample> {
        self.over.store(true, Ordering::Relaxed);
        self.thread.thread().unpark();
        self.thread.join().unwrap_or_default()
    }
}

struct Reading {
    log_bytes_written: u64,
    flushes: u64,
    writelog_ms: u64,
    other_waits_ms: u64,
    boosts: u64,
}

impl Reading {
    fn take(connection: &mut Link, database: &str) -> Result<Reading, StressError> {
        let log = statistics::database_counters(connection, database)?;
        let (mut writelog_ms, mut other_waits_ms) = (0, 0);
        for wait in statistics::waits(connection)? {
            let time = u64::try_from(wait.wait_time_ms).unwrap_or(0);
            match wait.wait_type.as_str() {
                "WRITELOG" => writelog_ms += time,
                name if IDLE_WAITS.contains(&name) => {}
                _ => other_waits_ms += time,
            }
        }
        let count = |number: i64| u64::try_from(number).unwrap_or(0);
        Ok(Reading {
            log_bytes_written: count(log.written_bytes),
            flushes: count(log.flushes),
            writelog_ms,
            other_waits_ms,
            boosts: count(statistics::boosts(connection)?),
        })
    }
}
