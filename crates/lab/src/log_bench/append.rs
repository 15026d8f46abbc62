//! Appending: how many records a second tasks put into the log while a writer takes them out.

use super::setup::{Logs, Which};
use super::{Device, LogBenchError, Sample};
use pikepole_contention::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use pikepole_contention::sync::{Arc, thread};
use pikepole_contention::{CachePadded, WaitType};
use pikepole_log::{Log, Refused, Reservation};
use pikepole_scheduler::TaskInfo;
use std::time::{Duration, Instant};

/// Appends between two looks at the stop sign and at the quantum.
const BATCH: usize = 64;
/// How long tasks append before the window opens.
const WARM_UP: Duration = Duration::from_millis(50);
/// How long an appender waits for the controller to truncate.
const FULL_PAUSE: Duration = Duration::from_millis(1);

/// Measures one configuration once.
pub fn measure(
    logs: &mut Logs,
    device: Device,
    policy: Reservation,
    threads: usize,
    record_bytes: usize,
    seconds: Duration,
) -> Result<Sample, LogBenchError> {
    let log = logs.measured(Which::Append(device, policy))?;
    let stop = Arc::new(AtomicBool::new(false));
    let counts: Vec<_> = (0..threads).map(|_| Arc::new(CachePadded::new(AtomicU64::new(0)))).collect();
    let mut tasks = Vec::with_capacity(threads);
    for (number, count) in counts.iter().enumerate() {
        let info = TaskInfo { session_id: None, command: "APPEND" };
        let work = appender(Arc::clone(&log), Arc::clone(count), Arc::clone(&stop), record_bytes);
        tasks.push(logs.schedulers().spawn(info, logs.place(number), work));
    }
    thread::sleep(WARM_UP);
    let before = (total(&counts), log.stats().flushes, Instant::now());
    thread::sleep(seconds);
    let after = (total(&counts), log.stats().flushes, Instant::now());
    // Relaxed: the flag carries nothing but itself.
    stop.store(true, Ordering::Relaxed);
    for task in tasks {
        task.join()?.map_err(|_| LogBenchError::Poisoned)?;
    }
    logs.schedulers().block_on(log.flush_all()).map_err(|_| LogBenchError::Poisoned)?;
    let window = after.2.duration_since(before.2).as_secs_f64();
    Ok(Sample {
        records_per_second: (after.0 - before.0) as f64 / window,
        flushes_per_second: (after.1 - before.1) as f64 / window,
        latency_us: None,
    })
}

fn total(counts: &[Arc<CachePadded<AtomicU64>>]) -> u64 {
    counts.iter().map(|count| count.load(Ordering::Relaxed)).sum()
}

/// Appends until it is told to stop.
async fn appender(
    log: Arc<Log>,
    count: Arc<CachePadded<AtomicU64>>,
    stop: Arc<AtomicBool>,
    record_bytes: usize,
) -> Result<(), Refused> {
    let record = vec![1u8; record_bytes];
    let mut appended = 0;
    while !stop.load(Ordering::Relaxed) {
        for _ in 0..BATCH {
            match log.append(record_bytes, |out, _| out.copy_from_slice(&record)) {
                Ok(_) => appended += 1,
                Err(Refused::BufferFull) => {
                    pikepole_scheduler::wait(WaitType::LOGBUFFER, log.buffer_space()).await;
                    break;
                }
                Err(Refused::LogFull) => {
                    pikepole_scheduler::sleep(FULL_PAUSE).await;
                    break;
                }
                Err(Refused::Poisoned) => return Err(Refused::Poisoned),
            }
        }
        count.store(appended, Ordering::Relaxed);
        pikepole_scheduler::yield_if_due().await;
    }
    Ok(())
}
