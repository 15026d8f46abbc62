//! The statistics around a run, read and cleared through the same views and commands that users have.

use super::StressError;
use super::target::Link;
use serde::{Deserialize, Serialize};

/// A row of `sys.dm_os_wait_stats`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WaitRow {
    /// The wait's type.
    pub wait_type: String,
    /// Completed waits.
    pub waiting_tasks_count: i64,
    /// Their time in milliseconds, signal time included.
    pub wait_time_ms: i64,
    /// The longest one in milliseconds.
    pub max_wait_time_ms: i64,
    /// Milliseconds from the signals to running again.
    pub signal_wait_time_ms: i64,
}

/// A row of `sys.dm_os_latch_stats`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LatchRow {
    /// The latch's class.
    pub latch_class: String,
    /// Requests that had to wait.
    pub waiting_requests_count: i64,
    /// Their time in milliseconds.
    pub wait_time_ms: i64,
    /// The longest one in milliseconds.
    pub max_wait_time_ms: i64,
}

/// A row of `sys.dm_os_spinlock_stats`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SpinlockRow {
    /// The spinlock's name.
    pub name: String,
    /// Acquisitions that found a holder.
    pub collisions: i64,
    /// Turns of the spin loops.
    pub spins: i64,
    /// Spins for each collision.
    pub spins_per_collision: f64,
    /// Milliseconds slept in back-offs.
    pub sleep_time: i64,
    /// Back-offs: the spinner gave up the CPU.
    pub backoffs: i64,
}

/// Counters of a database, as they stand at one moment.
#[derive(Debug, Clone, Copy, Default)]
pub struct DatabaseCounters {
    /// Bytes of log records appended.
    pub record_bytes: i64,
    /// Bytes written to the log files, headers and padding included.
    pub written_bytes: i64,
    /// Writes to the log files.
    pub flushes: i64,
    /// Rows inserted, updated and deleted.
    pub rows_changed: i64,
}

/// The three statistics of one run; rows in which nothing was counted are left out.
#[derive(Debug, Clone, Serialize)]
pub struct Statistics {
    /// Waits, the longest in all first.
    pub waits: Vec<WaitRow>,
    /// Latches, the longest in all first.
    pub latches: Vec<LatchRow>,
    /// Spinlocks, most spins first.
    pub spinlocks: Vec<SpinlockRow>,
}

impl Statistics {
    /// Adds the rows of another instance; the longest wait is that of either.
    pub(super) fn add(&mut self, other: Statistics) {
        for row in other.waits {
            match self.waits.iter_mut().find(|known| known.wait_type == row.wait_type) {
                Some(known) => {
                    known.waiting_tasks_count += row.waiting_tasks_count;
                    known.wait_time_ms += row.wait_time_ms;
                    known.max_wait_time_ms = known.max_wait_time_ms.max(row.max_wait_time_ms);
                    known.signal_wait_time_ms += row.signal_wait_time_ms;
                }
                None => self.waits.push(row),
            }
        }
        for row in other.latches {
            match self.latches.iter_mut().find(|known| known.latch_class == row.latch_class) {
                Some(known) => {
                    known.waiting_requests_count += row.waiting_requests_count;
                    known.wait_time_ms += row.wait_time_ms;
                    known.max_wait_time_ms = known.max_wait_time_ms.max(row.max_wait_time_ms);
                }
                None => self.latches.push(row),
            }
        }
        for row in other.spinlocks {
            match self.spinlocks.iter_mut().find(|known| known.name == row.name) {
                Some(known) => {
                    known.collisions += row.collisions;
                    known.spins += row.spins;
                    known.spins_per_collision = known.spins as f64 / known.collisions.max(1) as f64;
                    known.sleep_time += row.sleep_time;
                    known.backoffs += row.backoffs;
                }
                None => self.spinlocks.push(row),
            }
        }
    }
}

/// What a buffer pool was asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolCounters {
    /// Pages looked up.
    pub lookups: u64,
    /// Of those, pages read from disk.
    pub reads: u64,
}

/// Times that the tasks there are have been boosted to the head of their schedulers' queues.
pub(super) fn boosts(connection: &mut Link) -> Result<i64, StressError> {
    let rows = connection.query("SELECT SUM(CAST(boost_count AS bigint)) FROM sys.dm_os_workers")?;
    let first = rows.iter().next().map(|row| row.get::<Option<i64>>(0)).transpose()?;
    Ok(first.flatten().unwrap_or(0))
}

/// Clears the three statistics.
pub fn clear(connection: &mut Link) -> Result<(), StressError> {
    for view in ["sys.dm_os_wait_stats", "sys.dm_os_latch_stats", "sys.dm_os_spinlock_stats"] {
        connection.execute(&format!("DBCC SQLPERF('{view}', CLEAR) WITH NO_INFOMSGS"))?;
    }
    Ok(())
}

/// Reads the three statistics.
pub fn read(connection: &mut Link) -> Result<Statistics, StressError> {
    Ok(Statistics { waits: waits(connection)?, latches: latches(connection)?, spinlocks: spinlocks(connection)? })
}

pub(super) fn waits(connection: &mut Link) -> Result<Vec<WaitRow>, StressError> {
    let sql = "SELECT wait_type, waiting_tasks_count, wait_time_ms, max_wait_time_ms, signal_wait_time_ms
               FROM sys.dm_os_wait_stats WHERE waiting_tasks_count > 0 ORDER BY wait_time_ms DESC";
    let mut found = Vec::new();
    for row in &connection.query(sql)? {
        found.push(WaitRow {
            wait_type: row.get("wait_type")?,
            waiting_tasks_count: row.get("waiting_tasks_count")?,
            wait_time_ms: row.get("wait_time_ms")?,
            max_wait_time_ms: row.get("max_wait_time_ms")?,
            signal_wait_time_ms: row.get("signal_wait_time_ms")?,
        });
    }
    Ok(found)
}

fn latches(connection: &mut Link) -> Result<Vec<LatchRow>, StressError> {
    let sql = "SELECT latch_class, waiting_requests_count, wait_time_ms, max_wait_time_ms
               FROM sys.dm_os_latch_stats WHERE waiting_requests_count > 0 ORDER BY wait_time_ms DESC";
    let mut found = Vec::new();
    for row in &connection.query(sql)? {
        found.push(LatchRow {
            latch_class: row.get("latch_class")?,
            waiting_requests_count: row.get("waiting_requests_count")?,
            wait_time_ms: row.get("wait_time_ms")?,
            max_wait_time_ms: row.get("max_wait_time_ms")?,
        });
    }
    Ok(found)
}

fn spinlocks(connection: &mut Link) -> Result<Vec<SpinlockRow>, StressError> {
    let sql = "SELECT name, collisions, spins, spins_per_collision, sleep_time, backoffs
               FROM sys.dm_os_spinlock_stats WHERE collisions > 0 ORDER BY spins DESC";
    let mut found = Vec::new();
    for row in &connection.query(sql)? {
        found.push(SpinlockRow {
            name: row.get("name")?,
            collisions: row.get("collisions")?,
            spins: row.get("spins")?,
            spins_per_collision: row.get("spins_per_collision")?,
            sleep_time: row.get("sleep_time")?,
            backoffs: row.get("backoffs")?,
        });
    }
    Ok(found)
}

/// Reads the counters of all buffer pools.
pub fn pool_counters(connection: &mut Link) -> Result<PoolCounters, StressError> {
    let sql = "SELECT counter_name, cntr_value FROM sys.dm_os_performance_counters
               WHERE counter_name IN ('Page lookups/sec', 'Page reads/sec')";
    let mut counters = PoolCounters::default();
    for row in &connection.query(sql)? {
        let value = u64::try_from(row.get::<i64>("cntr_value")?).unwrap_or(0);
        match row.get::<String>("counter_name")?.trim_end() {
            "Page lookups/sec" => counters.lookups = value,
            _ => counters.reads = value,
        }
    }
    Ok(counters)
}

/// True when the rows of a table are in memory; the table is named with its schema.
pub(super) fn is_memory_optimized(connection: &mut Link, table: &str) -> Result<bool, StressError> {
    let sql = format!("SELECT is_memory_optimized FROM sys.tables WHERE object_id = OBJECT_ID(N'{table}')");
    let rows = connection.query(&sql)?;
    Ok(rows.iter().next().map(|row| row.get(0)).transpose()?.unwrap_or(false))
}

/// Bytes that the engine's process has in pages of 2 MB.
pub fn large_page_bytes(connection: &mut Link) -> Result<u64, StressError> {
    let rows = connection.query("SELECT large_page_allocations_kb FROM sys.dm_os_process_memory")?;
    let kilobytes: i64 = rows.iter().next().map_or(Ok(0), |row| row.get(0))?;
    Ok(u64::try_from(kilobytes).unwrap_or(0) << 10)
}

/// Writes what delayed commits have left in memory, so that the log's counters have it, too.
pub fn flush_log(connection: &mut Link) -> Result<(), StressError> {
    connection.execute("EXEC sp_flush_log")?;
    Ok(())
}

/// Reads the counters of the sessions' database.
pub fn database_counters(connection: &mut Link, database: &str) -> Result<DatabaseCounters, StressError> {
    let sql = format!(
        "SELECT counter_name, cntr_value FROM sys.dm_os_performance_counters WHERE instance_name = N'{}'",
        database.replace('\'', "''")
    );
    let mut counters = DatabaseCounters::default();
    for row in &connection.query(&sql)? {
        let value = row.get("cntr_value")?;
        match row.get::<String>("counter_name")?.trim_end() {
            "Log Record Bytes/sec" => counters.record_bytes = value,
            "Log Bytes Flushed/sec" => counters.written_bytes = value,
            "Log Flushes/sec" => counters.flushes = value,
            "Rows Changed/sec" => counters.rows_changed = value,
            _ => {}
        }
    }
    Ok(counters)
}

/// When commits in the connection's database return, as ALTER DATABASE takes it.
pub fn delayed_durability(connection: &mut Link) -> Result<String, StressError> {
    let rows = connection.query("SELECT delayed_durability_desc FROM sys.databases WHERE database_id = DB_ID()")?;
    Ok(rows.iter().next().map(|row| row.get(0)).transpose()?.unwrap_or_default())
}
