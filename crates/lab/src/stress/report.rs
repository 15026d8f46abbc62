//! Showing the runs: a table for reading, JSON for programs.

use super::drive::{Progress, Run};
use super::{Durability, StressError, TableKind};
use crate::show::{grouped, right, table};
use comfy_table::{Cell, Table};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::Write;
use std::path::Path;

/// Rows shown of each statistic.
const TOP: usize = 3;

/// The spinlocks of the points that the sets of policies are about.
pub(crate) const SPINLOCKS: [&str; 3] = ["LOGCACHE_ACCESS", "LOGFLUSHQ", "XDESMGR"];

/// Waits of system tasks that have nothing to do: in the JSON, but not among the top waits of a run.
pub(crate) const IDLE_WAITS: &[&str] =
    &["CHECKPOINT_QUEUE", "LAZYWRITER_SLEEP", "LOGMGR_QUEUE", "REQUEST_FOR_DEADLOCK_SEARCH", "SLEEP_TASK"];

/// A progress bar on standard error, for a terminal.
pub struct Bar(ProgressBar);

/// Makes the progress bar; a quiet one shows nothing.
pub fn bar(quiet: bool) -> Bar {
    let bar = if quiet { ProgressBar::hidden() } else { ProgressBar::new(1000) };
    if let Ok(style) = ProgressStyle::with_template("{msg:40} [{bar:30}] {elapsed}") {
        bar.set_style(style.progress_chars("=> "));
    }
    Bar(bar)
}

impl Progress for Bar {
    fn begin(&mut self, run: usize, of: usize, durability: Durability, sessions: usize) {
        self.0.reset();
        self.0.set_message(format!("run {run}/{of}: {}, {}", durability.name(), counted(sessions)));
    }

    fn tick(&mut self, rows: u64, part: f64) {
        self.0.set_position((part * 1000.0) as u64);
        let message = self.0.message();
        let head = message.split(" | ").next().unwrap_or("");
        self.0.set_message(format!("{head} | {} rows", grouped(rows)));
    }

    fn end(&mut self, run: &Run) {
        let set = run.policy_set.map_or(String::new(), |set| format!("{set:>8} "));
        let line = format!("{set}{:>8} {:>12}: {:>12} rows/s", run.durability, counted(run.sessions), rate(run));
        self.0.println(line);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Prints the table of rates and, for each run, its top waits, latches and spinlocks.
pub fn print(runs: &[Run], out: &mut dyn Write) -> std::io::Result<()> {
    if runs.iter().any(|run| run.policy_set.is_some()) {
        writeln!(out, "{}", sets(runs))?;
    }
    writeln!(out, "{}", rates(runs))?;
    writeln!(out, "{}", tops(runs))?;
    for run in runs.iter().filter(|run| run.noisy) {
        let percent = run.other_cpu_percent.unwrap_or(0.0);
        let (durability, sessions) = (run.durability, counted(run.sessions));
        writeln!(out, "noisy: other processes used {percent:.0}% of the CPUs ({durability}, {sessions})")?;
    }
    if runs.iter().any(|run| run.table == Some(TableKind::Memory.name()) && run.memory_optimized == Some(false)) {
        writeln!(out, "memory: this server has made an ordinary table (sys.tables.is_memory_optimized is 0)")?;
    }
    if runs.iter().all(|run| run.rows_counted) {
        writeln!(out, "every run: the rows in the table are the rows acknowledged")?;
    }
    Ok(())
}

fn counted(sessions: usize) -> String {
    if sessions == 1 { "1 session".to_string() } else { format!("{sessions} sessions") }
}

/// Sets of policies beside each other: rates, and what a thousand rows cost in turns taken and waited for.
fn sets(runs: &[Run]) -> Table {
    let mut table = table();
    let fixed = ["durability", "sessions", "policies", "rows/s", "of the first"];
    let spins = SPINLOCKS.map(|name| format!("{name} spins/1000 rows"));
    let waits = ["WRITELOG waits/1000 rows", "WRITELOG ms/1000 rows", "LOGBUFFER ms/1000 rows", "CPU us/row"];
    table.set_header(fixed.map(Cell::new).into_iter().chain(spins.map(Cell::new)).chain(waits.map(Cell::new)));
    let mut ordered: Vec<&Run> = runs.iter().collect();
    // Stable: of one durability and number of sessions, the sets are in the order they were asked for.
    ordered.sort_by_key(|run| (run.durability != Durability::Full.name(), run.sessions));
    for run in &ordered {
        let alike = |other: &&&Run| other.durability == run.durability && other.sessions == run.sessions;
        let first = ordered.iter().find(alike).map_or(0.0, |first| first.rows_per_second);
        let by_rows = |count: i64| format!("{:.2}", count as f64 * 1000.0 / run.rows.max(1) as f64);
        let spins = SPINLOCKS.map(|name| {
            let row = run.statistics.spinlocks.iter().find(|row| row.name == name);
            right(by_rows(row.map_or(0, |row| row.spins)))
        });
        let wait = |name: &str| run.statistics.waits.iter().find(|row| row.wait_type == name);
        let (commits, buffer) = (wait("WRITELOG"), wait("LOGBUFFER"));
        let fixed = [
            Cell::new(run.durability),
            right(run.sessions),
            Cell::new(run.policy_set.unwrap_or("-")),
            right(rate(run)),
            right(format!("{:.2}", run.rows_per_second / first.max(1.0))),
        ];
        let waits = [
            right(by_rows(commits.map_or(0, |row| row.waiting_tasks_count))),
            right(by_rows(commits.map_or(0, |row| row.wait_time_ms))),
            right(by_rows(buffer.map_or(0, |row| row.wait_time_ms))),
            right(format!("{:.2}", run.cpu_seconds * 1e6 / run.rows.max(1) as f64)),
        ];
        table.add_row(fixed.into_iter().chain(spins).chain(waits));
    }
    table
}

fn rates(runs: &[Run]) -> Table {
    // What only runs over the wire have.
    let wire = runs.iter().any(|run| run.client_cpu_seconds.is_some());
    // What only in-memory tables have.
    let has_kinds = runs.iter().any(|run| run.table.is_some_and(|kind| kind != TableKind::Disk.name()));
    let has_conflicts = has_kinds || runs.iter().any(|run| run.conflicts > 0);
    let mut table = table();
    let mut header = vec!["durability", "sessions", "rows/s", "rows", "log B/row", "written B/row", "rows/flush"];
    header.push("CPU us/row");
    if has_kinds {
        header.insert(1, "table");
    }
    if has_conflicts {
        header.push("conflicts");
    }
    header.extend(if wire { &["client CPU us/row", "p50 us", "p99 us"][..] } else { &["peak MB"] });
    table.set_header(header.into_iter().map(Cell::new));
    for run in runs {
        let rows = run.rows.max(1) as f64;
        let mut cells = vec![
            Cell::new(run.label()),
            right(run.sessions),
            right(rate(run)),
            right(grouped(run.rows)),
            right(format!("{:.1}", run.log_bytes as f64 / rows)),
            right(format!("{:.1}", run.log_bytes_written as f64 / rows)),
            right(format!("{:.1}", rows / run.flushes.max(1) as f64)),
            right(format!("{:.2}", run.cpu_seconds * 1e6 / rows)),
        ];
        if has_kinds {
            cells.insert(1, Cell::new(run.table.unwrap_or("-")));
        }
        if has_conflicts {
            cells.push(right(grouped(run.conflicts)));
        }
        let or_none = |figure: Option<f64>| right(figure.map_or("-".to_string(), |figure| format!("{figure:.2}")));
        if wire {
            cells.push(or_none(run.client_cpu_seconds.map(|seconds| seconds * 1e6 / rows)));
            cells.push(or_none(run.latency.map(|latency| latency.p50_us)));
            cells.push(or_none(run.latency.map(|latency| latency.p99_us)));
        } else {
            cells.push(right(run.peak_memory_bytes.map_or("-".to_string(), |bytes| grouped(bytes >> 20))));
        }
        table.add_row(cells);
    }
    table
}

fn tops(runs: &[Run]) -> Table {
    let mut table = table();
    table.set_header(
        ["run", "waits (count, ms, of it signal ms)", "latches (count, ms)", "spinlocks (collisions, spins)"]
            .map(Cell::new),
    );
    for run in runs {
        let statistics = &run.statistics;
        let waits = statistics.waits.iter().filter(|row| !IDLE_WAITS.contains(&row.wait_type.as_str()));
        let waits = waits.take(TOP).map(|row| {
            let (count, time) = (row.waiting_tasks_count, row.wait_time_ms);
            format!("{} {count} {time} {}", row.wait_type, row.signal_wait_time_ms)
        });
        let latches = statistics
            .latches
            .iter()
            .take(TOP)
            .map(|row| format!("{} {} {}", row.latch_class, row.waiting_requests_count, row.wait_time_ms));
        let spinlocks =
            statistics.spinlocks.iter().take(TOP).map(|row| format!("{} {} {}", row.name, row.collisions, row.spins));
        table.add_row([format!("{} {}", run.label(), run.sessions), lines(waits), lines(latches), lines(spinlocks)]);
    }
    table
}

/// Writes the runs as a JSON array.
pub fn write_json<R: serde::Serialize>(runs: &[R], path: &Path) -> Result<(), StressError> {
    let failed = |error| StressError::File { path: path.display().to_string(), error };
    let text = serde_json::to_vec_pretty(runs).map_err(|error| failed(error.into()))?;
    std::fs::write(path, text).map_err(failed)
}

fn lines(items: impl Iterator<Item = String>) -> String {
    let joined = items.collect::<Vec<_>>().join("\n");
    if joined.is_empty() { "-".to_string() } else { joined }
}

fn rate(run: &Run) -> String {
    grouped(run.rows_per_second as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stress::target::Target;
    use pikepole_embedded::Options;
    use std::collections::BTreeSet;

    /// Looks in a row that find every task waiting, of so many at most.
    const QUIET: usize = 20;
    const LOOKS: usize = 4_000;

    /// A system task that is new to the server comes up here, before it stands among the top waits of every run.
    #[test]
    fn the_tasks_of_an_idle_server_wait_for_what_is_idle() {
        let folder = std::env::temp_dir().join(format!("pikepole-idle-{}", std::process::id()));
        let target = Target::open(Options::new(&folder)).expect("an engine");
        let mut link = target.connect().expect("a session");
        let mut query = |sql: &str| {
            let rows = link.query(sql).expect("rows");
            rows.iter().map(|row| row.get::<String>(0).expect("a text")).collect::<Vec<_>>()
        };
        // They have something to do at the start; then all of them wait, look after look.
        let (mut seen, mut waits, mut quiet) = (BTreeSet::new(), Vec::new(), 0);
        for _ in 0..LOOKS {
            let tasks = query("SELECT command FROM sys.dm_exec_requests WHERE status = 'background'");
            waits = query("SELECT wait_type FROM sys.dm_os_waiting_tasks WHERE session_id <= 50");
            let is_idle = waits.iter().all(|wait| IDLE_WAITS.contains(&wait.as_str())) && waits.len() == tasks.len();
            quiet = if is_idle { quiet + 1 } else { 0 };
            seen.extend(tasks);
            if quiet == QUIET {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        drop(link);
        target.close().expect("an end");
        std::fs::remove_dir_all(&folder).expect("the folder");
        assert_eq!(quiet, QUIET, "they wait for {waits:?}");
        assert!(seen.contains("DEADLOCK MONITOR") && seen.contains("LOG WRITER"), "{seen:?}");
    }
}
