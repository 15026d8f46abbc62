//! Singleton inserts over the wire: each row is a call of a prepared statement, sent when the one before has been answered, or a
//! message of several calls, sent when those of the one before have been.
//!
//! ```text
//!   thread ── send on every connection ──▶ server
//!          ◀── poll: those whose answer is there: take it, note its time, send the next
//! ```
//!
//! A thread drives many connections, because a thread of its own for each would cost the machine more than the calls do: two
//! switches between threads a row. There are as many threads as CPUs: fewer would be busy before the server is.

use super::StressError;
use super::drive::Shared;
use super::target::Link;
use super::workload::DATABASE;
use pikepole_client::{Connection, Statement};
use pikepole_contention::sync::atomic::Ordering;
use pikepole_contention::sync::{Arc, thread};
use pikepole_embedded::{SqlType, Value};
use serde::Serialize;
use std::os::fd::{AsFd, AsRawFd};
use std::time::{Duration, Instant};

/// The statement; the row is that of the procedure.
const INSERT: &str = "INSERT INTO dbo.singleton_insert (id, created, filler, a, b, c)
VALUES (@id, GETDATE(), 'pikepole', 1, 2, NULL)";
/// Keys of a session.
const KEYS: i64 = 10_000_000_000;
/// How long a thread waits for answers before it looks whether the run is over.
const WAIT_MS: i32 = 100;

/// How long calls took, from before a call was sent until its answer was there to be read; of several in a message, all of them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Latency {
    /// Half of the calls took no longer.
    pub p50_us: f64,
    /// 99 of 100 calls took no longer.
    pub p99_us: f64,
    /// The longest.
    pub max_us: f64,
}

impl Latency {
    /// Of these times in nanoseconds; `None` of none.
    fn of(mut times: Vec<u32>) -> Option<Latency> {
        times.sort_unstable();
        let last = times.len().checked_sub(1)?;
        let at = |percent: usize| f64::from(times[last * percent / 100]) / 1000.0;
        Some(Latency { p50_us: at(50), p99_us: at(99), max_us: at(100) })
    }
}

/// A connection with its call under way.
struct Caller {
    connection: Box<Connection>,
    insert: Statement,
    /// The keys of the calls in a message.
    keys: Vec<[Value; 1]>,
    next_id: i64,
    done: u64,
    sent: Instant,
}

impl Caller {
    fn new(link: Link, place: usize, calls: u32) -> Result<Caller, StressError> {
        let Link::Server { mut connection, .. } = link else {
            return Err(StressError::NoServer);
        };
        connection.execute(&format!("USE {DATABASE}"))?;
        let insert = connection.prepare(INSERT, &[("@id", SqlType::BigInt)])?;
        let keys = vec![[Value::Null]; calls as usize];
        Ok(Caller { connection, insert, keys, next_id: place as i64 * KEYS, done: 0, sent: Instant::now() })
    }

    fn send(&mut self) -> Result<(), StressError> {
        self.sent = Instant::now();
        for [key] in &mut self.keys {
            *key = Value::BigInt(self.next_id);
            self.next_id += 1;
        }
        Ok(self.connection.start_all(&self.insert, self.keys.iter().map(|key| &key[..]))?)
    }
}

/// The callers of one thread.
pub(super) struct Callers {
    callers: Vec<Caller>,
    shared: Arc<Shared>,
    times: Vec<u32>,
}

/// What a thread did: rows, when the last one was acknowledged, how long each took in nanoseconds.
pub(super) type Called = (u64, Instant, Vec<u32>);

/// Distributes the connections over threads.
pub(super) fn callers(links: Vec<Link>, calls: u32, shared: &Arc<Shared>) -> Result<Vec<Callers>, StressError> {
    let threads = thread::available_parallelism().map_or(1, usize::from).clamp(1, links.len().max(1));
    let mut groups: Vec<Callers> =
        (0..threads).map(|_| Callers { callers: Vec::new(), shared: Arc::clone(shared), times: Vec::new() }).collect();
    for (place, link) in links.into_iter().enumerate() {
        groups[place % threads].callers.push(Caller::new(link, place, calls)?);
    }
    Ok(groups)
}

/// The latency of all calls.
pub(super) fn latency(times: Vec<Vec<u32>>) -> Option<Latency> {
    Latency::of(times.concat())
}

impl Callers {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.callers.len()
    }

    /// Calls until the run is over.
    pub(super) fn run(mut self) -> Result<Called, StressError> {
        self.shared.await_start();
        let result = self.call();
        if result.is_err() {
            self.shared.stopped.store(true, Ordering::Relaxed);
        }
        result?;
        let rows = self.callers.iter().map(|caller| caller.done).sum();
        Ok((rows, Instant::now(), self.times))
    }

    fn call(&mut self) -> Result<(), StressError> {
        let entry = |caller: &Caller| libc::pollfd {
            fd: caller.connection.as_fd().as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        let mut ready: Vec<libc::pollfd> = self.callers.iter().map(entry).collect();
        for caller in &mut self.callers {
            caller.send()?;
        }
        let mut under_way = self.callers.len();
        while under_way > 0 {
            // SAFETY: the entries are alive during the call, and their number is that of the slice.
            let count = unsafe { libc::poll(ready.as_mut_ptr(), ready.len() as libc::nfds_t, WAIT_MS) };
            if count < 0 {
                let error = std::io::Error::last_os_error();
                if error.kind() == std::io::ErrorKind::Interrupted {
                    continue;
                }
                return Err(pikepole_client::ClientError::Broken(error).into());
            }
            let (mut rows, now) = (0, Instant::now());
            for (caller, entry) in self.callers.iter_mut().zip(&mut ready) {
                if entry.revents == 0 {
                    continue;
                }
                caller.connection.finish()?;
                caller.done += caller.keys.len() as u64;
                rows += caller.keys.len() as u64;
                self.times.push(nanoseconds(now.saturating_duration_since(caller.sent)));
                if self.shared.is_over(caller.done) {
                    // A negative descriptor is passed over.
                    entry.fd = -1;
                    entry.revents = 0;
                    under_way -= 1;
                } else {
                    caller.send()?;
                }
            }
            self.shared.rows.fetch_add(rows, Ordering::Relaxed);
        }
        Ok(())
    }
}

fn nanoseconds(time: Duration) -> u32 {
    u32::try_from(time.as_nanos()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::Latency;

    #[test]
    fn latencies_are_those_of_the_sorted_calls() {
        let times = (0..=100).rev().map(|n| n * 1000).collect();
        assert_eq!(Latency::of(times), Some(Latency { p50_us: 50.0, p99_us: 99.0, max_us: 100.0 }));
        assert_eq!(Latency::of(Vec::new()), None);
    }
}
