//! The sessions of one measurement.

use crate::Failure;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Bytes of a value.
pub const VALUE_BYTES: usize = 24;

/// What one run gave.
pub struct Measurement {
    /// The engine's name.
    pub engine: String,
    /// Acknowledged rows a second.
    pub rows_per_second: f64,
}

impl std::fmt::Display for Measurement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:24} {:>12.0} rows/s", self.engine, self.rows_per_second)
    }
}

/// One session: inserts the rows `[first, first + count)` one transaction each.
pub type Session<'a> = Box<dyn FnMut(u64, u64) -> Result<(), Failure> + Send + 'a>;

/// An engine with an empty table.
pub trait Engine: Sync {
    /// A session of its own.
    fn session(&self) -> Result<Session<'_>, Failure>;
    /// Rows in the table.
    fn count(&self) -> Result<u64, Failure>;
    /// Rows of one call: many where a call is a procedure in the server.
    fn rows_per_call(&self) -> u64 {
        1
    }
}

/// A value that differs by row.
pub fn value(key: u64) -> [u8; VALUE_BYTES] {
    let mut value = [b' '; VALUE_BYTES];
    value[..8].copy_from_slice(&key.to_le_bytes());
    value
}

/// Runs the sessions for the duration and checks the rows afterwards.
pub fn run(name: &str, engine: &dyn Engine, sessions: usize, duration: Duration) -> Result<Measurement, Failure> {
    let barrier = Barrier::new(sessions + 1);
    let stop = AtomicBool::new(false);
    let (rows, elapsed) = std::thread::scope(|scope| -> Result<(u64, Duration), Failure> {
        let mut threads = Vec::new();
        for number in 0..sessions {
            let mut session = engine.session()?;
            let (barrier, stop) = (&barrier, &stop);
            threads.push(scope.spawn(move || -> Result<u64, Failure> {
                barrier.wait();
                let base = (number as u64 + 51) * 10_000_000_000;
                let mut done = 0;
                while !stop.load(Ordering::Relaxed) {
                    session(base + done, engine.rows_per_call())?;
                    done += engine.rows_per_call();
                }
                Ok(done)
            }));
        }
        barrier.wait();
        let begun = Instant::now();
        std::thread::sleep(duration);
        stop.store(true, Ordering::Relaxed);
        let mut rows = 0;
        for thread in threads {
            rows += thread.join().map_err(|_| "a session panicked")??;
        }
        Ok((rows, begun.elapsed()))
    })?;
    let counted = engine.count()?;
    if counted != rows {
        return Err(format!("{name}: {rows} rows acknowledged, {counted} there").into());
    }
    Ok(Measurement { engine: name.to_string(), rows_per_second: rows as f64 / elapsed.as_secs_f64() })
}
