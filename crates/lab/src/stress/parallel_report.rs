//! Showing runs of the parallel insert in the shape in which the experiment was published: time, then what was waited for.

use super::parallel::ParallelRun;
use super::report::IDLE_WAITS;
use crate::show::{grouped, right, table};
use comfy_table::{Cell, Table};
use std::io::Write;

/// Rows shown of each statistic.
const TOP: usize = 6;

/// Waits that are shown wherever they stand.
const EXCHANGE_WAITS: [&str; 2] = ["CXPACKET", "CXCONSUMER"];

/// Prints a line for each run, and below the waits, latches and spinlocks of each.
///
/// # Errors
/// Those of `out`.
pub fn print_parallel(runs: &[ParallelRun], out: &mut dyn Write) -> std::io::Result<()> {
    writeln!(out, "{}\n", elapsed(runs))?;
    writeln!(out, "{}\n", waits(runs))?;
    writeln!(out, "{}\n", latches(runs))?;
    writeln!(out, "{}", spinlocks(runs))?;
    for run in runs.iter().filter(|run| run.run.noisy) {
        let percent = run.run.other_cpu_percent.unwrap_or(0.0);
        writeln!(out, "noisy: other processes used {percent:.0}% of the CPUs ({})", name(run))?;
    }
    writeln!(out, "every run: the rows in the table are the rows acknowledged")
}

fn name(run: &ParallelRun) -> String {
    let logging = if run.minimal_logging { "minimal" } else { "full" };
    format!("{}, {logging}", run.nested_transactions)
}

fn header(names: &[&str]) -> Table {
    let mut table = table();
    table.set_header(names.iter().map(Cell::new));
    table
}

fn elapsed(runs: &[ParallelRun]) -> Table {
    let mut table = header(&[
        "nested transactions, logging",
        "rows",
        "seconds",
        "rows made in s",
        "log MB",
        "log B/row",
        "written MB",
        "written MB/s",
        "CPU s",
        "peak MB",
    ]);
    for of in runs {
        let run = &of.run;
        table.add_row([
            Cell::new(name(of)),
            right(grouped(run.rows)),
            right(format!("{:.2}", run.seconds)),
            right(format!("{:.2}", of.production_seconds)),
            right(grouped(run.log_bytes >> 20)),
            right(format!("{:.2}", run.log_bytes as f64 / run.rows.max(1) as f64)),
            right(grouped(run.log_bytes_written >> 20)),
            right(format!("{:.0}", run.log_bytes_written as f64 / run.seconds / f64::from(1 << 20))),
            right(format!("{:.2}", run.cpu_seconds)),
            right(run.peak_memory_bytes.map_or("-".to_string(), |bytes| grouped(bytes >> 20))),
        ]);
    }
    table
}

fn waits(runs: &[ParallelRun]) -> Table {
    let mut table = header(&["run", "wait", "waits", "ms", "longest ms", "of it signal ms"]);
    for of in runs {
        let waits = of.run.statistics.waits.iter().filter(|row| !IDLE_WAITS.contains(&row.wait_type.as_str()));
        // Those of the exchange stand in the published result, however short they were.
        let shown =
            waits.enumerate().filter(|(place, row)| *place < TOP || EXCHANGE_WAITS.contains(&row.wait_type.as_str()));
        for (_, row) in shown {
            let numbers =
                [row.waiting_tasks_count, row.wait_time_ms, row.max_wait_time_ms, row.signal_wait_time_ms].map(whole);
            table.add_row([Cell::new(name(of)), Cell::new(&row.wait_type)].into_iter().chain(numbers));
        }
    }
    table
}

fn latches(runs: &[ParallelRun]) -> Table {
    let mut table = header(&["run", "latch", "waits", "ms", "longest ms"]);
    for of in runs {
        for row in of.run.statistics.latches.iter().take(TOP) {
            let numbers = [row.waiting_requests_count, row.wait_time_ms, row.max_wait_time_ms].map(whole);
            table.add_row([Cell::new(name(of)), Cell::new(&row.latch_class)].into_iter().chain(numbers));
        }
    }
    table
}

fn spinlocks(runs: &[ParallelRun]) -> Table {
    let mut table = header(&["run", "spinlock", "collisions", "spins", "back-offs"]);
    for of in runs {
        for row in of.run.statistics.spinlocks.iter().take(TOP) {
            let numbers = [row.collisions, row.spins, row.backoffs].map(whole);
            table.add_row([Cell::new(name(of)), Cell::new(&row.name)].into_iter().chain(numbers));
        }
    }
    table
}

fn whole(number: i64) -> Cell {
    right(grouped(u64::try_from(number).unwrap_or(0)))
}
