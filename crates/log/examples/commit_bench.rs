//! Durable commits a second of tasks on the schedulers, without pages and SQL, beside what the device does alone.
//!
//! ```sh
//! cargo run --release -p pikepole-log --example commit_bench -- FOLDER [seconds] [committers,...] [POLICY=VALUE ...]
//! ```
//! Policies: `COMMIT_BY`, `LOG_WRITERS`, `LOG_IO`, `LOG_FLUSH_QUEUE`. `BUSY=n` adds tasks that only compute. Each committer appends a record of 48 bytes and
//! awaits its durability, again and again.

use pikepole_contention::sync::atomic::{AtomicBool, Ordering};
use pikepole_contention::sync::{Mutex, thread};
use pikepole_contention::{Statistics, WaitType, clock};
use pikepole_log::{CommitBy, FlushOutcome, FlushQueue, Log, LogIo, LogOptions, LogWriters, Refused};
use pikepole_machine::{BLOCK, Disk, affinity, probe};
use pikepole_scheduler::{IdleOutcome, Moment, Placement, SchedulerOptions, Schedulers, TaskInfo, wait, yield_now};
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn set(options: &mut LogOptions, policy: &str) -> Outcome<()> {
    match policy.split_once('=') {
        Some(("COMMIT_BY", "LOG_WRITER")) => options.commit_by = CommitBy::LogWriter,
        Some(("COMMIT_BY", "SCHEDULER")) => options.commit_by = CommitBy::Scheduler,
        Some(("LOG_FLUSH_QUEUE", "SPINLOCK")) => options.flush_queue = FlushQueue::Spinlock,
        Some(("LOG_FLUSH_QUEUE", "LOCK_FREE")) => options.flush_queue = FlushQueue::LockFree,
        Some(("LOG_IO", "IO_URING")) => options.io = LogIo::IoUring,
        Some(("LOG_IO", "RWF_DSYNC")) => options.io = LogIo::WriteFlag,
        Some(("LOG_IO", "O_DSYNC")) => options.io = LogIo::Dsync,
        Some(("LOG_WRITERS", count)) => options.writers = LogWriters::Count(count.parse()?),
        _ => return Err(format!("unknown: {policy}").into()),
    }
    Ok(())
}

async fn commit(log: &Log) {
    let place = loop {
        match log.append(48, |out, _| out.fill(7)) {
            Ok(place) => break place,
            Err(Refused::BufferFull) => wait(WaitType::LOGBUFFER, log.buffer_space()).await,
            Err(refused) => panic!("{refused}"),
        }
    };
    wait(WaitType::WRITELOG, log.durable_after(place.end)).await.expect("no failed write");
}

/// Computes for 20 microseconds at a time.
async fn compute(over: Arc<AtomicBool>) {
    while !over.load(Ordering::Relaxed) {
        let end_us = clock::now_us() + 20;
        while clock::now_us() < end_us {
            std::hint::spin_loop();
        }
        yield_now().await;
    }
}

fn run(folder: &Path, options: &LogOptions, seconds: f64, committers: usize, busy: usize) -> Outcome<()> {
    let statistics = Statistics::new();
    let log = Arc::new(Log::create(&Disk::real(), folder.join("log"), options.clone(), &statistics)?);
    let cpus = affinity::allowed()?;
    let threads = SchedulerOptions { cpus, ..SchedulerOptions::default() };
    let schedulers = Schedulers::start(threads, Arc::clone(&statistics))?;
    let hook = Arc::clone(&log);
    schedulers.set_idle_hook(Arc::new(move |moment| {
        let done = match moment {
            Moment::Idle => hook.idle_step(),
            Moment::Busy { quantum_over } => hook.busy_step(quantum_over),
        };
        match done {
            FlushOutcome::Wrote(_) => IdleOutcome::Worked,
            FlushOutcome::Busy => IdleOutcome::Soon,
            FlushOutcome::Nothing | FlushOutcome::NoRoom => IdleOutcome::Nothing,
        }
    }));
    for number in 0..log.writer_count() {
        schedulers.hidden("LOG WRITER", None, Arc::clone(&log).run_log_writer(number));
    }
    let over = Arc::new(AtomicBool::new(false));
    let times: Arc<Mutex<Vec<u32>>> = Arc::default();
    for _ in 0..busy {
        let info = TaskInfo { session_id: None, command: "BUSY" };
        schedulers.spawn(info, Placement::LeastLoaded, compute(Arc::clone(&over)));
    }
    let begun_us = clock::now_us();
    let tasks: Vec<_> = (0..committers)
        .map(|_| {
            let (log, over, times) = (Arc::clone(&log), Arc::clone(&over), Arc::clone(&times));
            let info = TaskInfo { session_id: None, command: "COMMITTER" };
            schedulers.spawn(info, Placement::LeastLoaded, async move {
                let mut own = Vec::new();
                while !over.load(Ordering::Relaxed) {
                    let begun_us = clock::now_us();
                    commit(&log).await;
                    own.push((clock::now_us() - begun_us) as u32);
                }
                times.lock().expect("no panic").append(&mut own);
            })
        })
        .collect();
    thread::sleep(Duration::from_secs_f64(seconds));
    over.store(true, Ordering::Relaxed);
    for task in tasks {
        task.join().map_err(|error| format!("{error:?}"))?;
    }
    let us = clock::now_us() - begun_us;
    let mut times = std::mem::take(&mut *times.lock().expect("no panic"));
    times.sort_unstable();
    let stats = log.stats();
    let at = |percent: usize| times[(times.len() * percent / 100).min(times.len() - 1)];
    println!(
        "| {committers:>10} | {:>9.0} | {:>6} | {:>6} | {:>8.0} | {:>6.1} | {:>6} | {:<9} |",
        times.len() as f64 * 1e6 / us as f64,
        at(50),
        at(99),
        stats.flushes as f64 * 1e6 / us as f64,
        times.len() as f64 / stats.flushes as f64,
        stats.writes_in_flight_max,
        stats.write_method,
    );
    log.shutdown()?;
    schedulers.shutdown();
    std::fs::remove_dir_all(folder.join("log"))?;
    Ok(())
}

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("name a folder")?;
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    // So large that no segment is prepared meanwhile: that would share the device.
    let bytes = 256 << 20;
    let mut options = LogOptions { first_segment_bytes: bytes, segment_bytes: bytes, ..LogOptions::default() };
    let (mut seconds, mut committers, mut busy) = (1.0, vec![1, 32, 256], 0);
    for (at, argument) in arguments.enumerate() {
        match at {
            0 => seconds = argument.parse()?,
            1 => committers = argument.split(',').map(str::parse).collect::<Result<_, _>>()?,
            _ => match argument.strip_prefix("BUSY=") {
                Some(count) => busy = count.parse()?,
                None => set(&mut options, &argument)?,
            },
        }
    }
    let alone = probe::durable_writes(folder, BLOCK, Duration::from_secs_f64(seconds))?;
    println!(
        "the device alone: {:.0} durable writes of {BLOCK} bytes a second, one at a time; p50 {} us, p99 {} us",
        alone.writes_per_second, alone.p50_us, alone.p99_us
    );
    println!("| committers | commits/s | p50 us | p99 us | writes/s | group  | depth  | method    |");
    println!("|------------|-----------|--------|--------|----------|--------|--------|-----------|");
    for committers in committers {
        run(folder, &options, seconds, committers, busy)?;
    }
    Ok(())
}
