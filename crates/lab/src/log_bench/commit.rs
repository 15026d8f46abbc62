//! Committing: tasks that append a small record, wait until it is durable, and do it again.

use super::setup::{Logs, Which};
use super::{CommitPolicy, LogBenchError, Sample};
use pikepole_contention::WaitType;
use pikepole_contention::sync::atomic::{AtomicU8, Ordering};
use pikepole_contention::sync::{Arc, thread};
use pikepole_log::{Log, Refused};
use pikepole_machine::clock;
use pikepole_scheduler::TaskInfo;
use std::time::{Duration, Instant};

/// Bytes of a committer's record.
pub const RECORD_BYTES: usize = 48;
const WARM_UP: Duration = Duration::from_millis(50);
/// How long a committer waits for the controller to truncate.
const FULL_PAUSE: Duration = Duration::from_millis(1);

/// What committers do; one after the other, in this order.
const WARM: u8 = 0;
const MEASURED: u8 = 1;
const STOP: u8 = 2;

/// Measures one configuration once; the first committer is on the scheduler `first`, the others follow.
pub fn measure(
    logs: &mut Logs,
    policy: CommitPolicy,
    committers: usize,
    first: usize,
    seconds: Duration,
) -> Result<Sample, LogBenchError> {
    let log = logs.measured(Which::Commit(policy))?;
    let phase = Arc::new(AtomicU8::new(WARM));
    let mut tasks = Vec::with_capacity(committers);
    for number in 0..committers {
        let info = TaskInfo { session_id: None, command: "COMMIT" };
        let work = committer(Arc::clone(&log), Arc::clone(&phase));
        tasks.push(logs.schedulers().spawn(info, logs.place(first + number), work));
    }
    thread::sleep(WARM_UP);
    let (begun, flushes) = (Instant::now(), log.stats().flushes);
    // Relaxed: the phase carries nothing but itself.
    phase.store(MEASURED, Ordering::Relaxed);
    thread::sleep(seconds);
    phase.store(STOP, Ordering::Relaxed);
    let window = begun.elapsed().as_secs_f64();
    let flushes = log.stats().flushes - flushes;
    let mut ticks: Vec<u32> = Vec::new();
    for task in tasks {
        ticks.extend(task.join()?.map_err(|_| LogBenchError::Poisoned)?);
    }
    ticks.sort_unstable();
    Ok(Sample {
        records_per_second: ticks.len() as f64 / window,
        flushes_per_second: flushes as f64 / window,
        latency_us: Some([percentile_us(&ticks, 50), percentile_us(&ticks, 99)]),
    })
}

/// Microseconds that so many of 100 waits did not exceed; 0 without waits.
fn percentile_us(sorted_ticks: &[u32], percent: usize) -> f64 {
    let last = sorted_ticks.len().saturating_sub(1);
    let at = sorted_ticks.get((sorted_ticks.len() * percent / 100).min(last));
    at.map_or(0.0, |ticks| f64::from(*ticks) / clock::ticks_per_us().max(1) as f64)
}

/// Commits until it is told to stop. Gives the time of each commit that ended in the measured window, in ticks.
async fn committer(log: Arc<Log>, phase: Arc<AtomicU8>) -> Result<Vec<u32>, Refused> {
    let record = [1u8; RECORD_BYTES];
    let mut times = Vec::new();
    while phase.load(Ordering::Relaxed) != STOP {
        let begun = clock::ticks();
        let place = match log.append(RECORD_BYTES, |out, _| out.copy_from_slice(&record)) {
            Ok(place) => place,
            Err(Refused::BufferFull) => {
                pikepole_scheduler::wait(WaitType::LOGBUFFER, log.buffer_space()).await;
                continue;
            }
            Err(Refused::LogFull) => {
                pikepole_scheduler::sleep(FULL_PAUSE).await;
                continue;
            }
            Err(Refused::Poisoned) => return Err(Refused::Poisoned),
        };
        let durable = pikepole_scheduler::wait(WaitType::WRITELOG, log.durable_after(place.end)).await;
        durable.map_err(|_| Refused::Poisoned)?;
        if phase.load(Ordering::Relaxed) == MEASURED {
            times.push(u32::try_from(clock::ticks().saturating_sub(begun)).unwrap_or(u32::MAX));
        }
        pikepole_scheduler::yield_if_due().await;
    }
    Ok(times)
}

#[cfg(test)]
mod tests {
    use super::percentile_us;
    use pikepole_machine::clock;

    #[test]
    fn percentiles_are_of_the_sorted_times() {
        let tick = clock::ticks_per_us() as u32;
        let times: Vec<u32> = (1..=100).map(|us| us * tick).collect();
        assert_eq!((percentile_us(&times, 50), percentile_us(&times, 99)), (51.0, 100.0));
        assert_eq!((percentile_us(&times[..1], 99), percentile_us(&[], 50)), (1.0, 0.0));
    }
}
