//! Showing what was measured: tables, the limits in words, JSON.

use super::{Limits, LogBenchError, Progress, Report, Run};
use crate::show::{grouped, right, table};
use comfy_table::{Cell, Table};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::Write;
use std::path::Path;

/// The record size that the words are about, when it was measured.
const WORDS_RECORD_BYTES: usize = 48;

/// A progress bar on standard error, for a terminal.
pub struct Bar(ProgressBar);

/// Makes the progress bar.
pub fn bar() -> Bar {
    let bar = ProgressBar::new(1);
    if let Ok(style) = ProgressStyle::with_template("{msg:40} [{bar:30}] {pos}/{len} {elapsed}") {
        bar.set_style(style.progress_chars("=> "));
    }
    Bar(bar)
}

impl Progress for Bar {
    fn begin(&mut self, step: usize, of: usize, what: &str) {
        self.0.set_length(of as u64);
        self.0.set_position(step as u64 - 1);
        self.0.set_message(what.to_string());
    }

    fn end(&mut self, line: &str) {
        self.0.println(line);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// A rate for people.
pub fn rate(per_second: f64) -> String {
    if per_second >= 10e6 {
        format!("{:.1} M/s", per_second / 1e6)
    } else {
        format!("{}/s", grouped(per_second as u64))
    }
}

/// Prints the tables and the words.
pub fn print(report: &Report, out: &mut dyn Write) -> std::io::Result<()> {
    let appends: Vec<&Run> = report.runs.iter().filter(|run| run.bench == "append").collect();
    let commits: Vec<&Run> = report.runs.iter().filter(|run| run.bench == "commit").collect();
    if !appends.is_empty() {
        writeln!(out, "{}", append_table(&appends))?;
    }
    if !commits.is_empty() {
        writeln!(out, "{}", commit_table(&commits))?;
    }
    for line in append_words(&appends, &report.limits).into_iter().chain(commit_words(&commits, &report.limits)) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

fn append_table(runs: &[&Run]) -> Table {
    let mut table = table();
    let header =
        ["device", "bytes", "appenders", "policy", "records/s", "ns/record", "GB/s", "memcpy GB/s", "flushes/s"];
    table.set_header(header.map(Cell::new));
    for run in runs {
        table.add_row([
            Cell::new(run.device),
            right(run.record_bytes),
            right(run.threads.unwrap_or(0)),
            Cell::new(&run.policy),
            right(grouped(run.records_per_second as u64)),
            right(decimal(run.ns_per_record)),
            right(two_decimals(run.gb_per_second)),
            right(two_decimals(run.memcpy_gb_per_second)),
            right(grouped(run.flushes_per_second as u64)),
        ]);
    }
    table
}

fn commit_table(runs: &[&Run]) -> Table {
    let mut table = table();
    let header = ["committers", "policy", "commits/s", "x one write", "p50 us", "p99 us", "commits/flush", "flushes/s"];
    table.set_header(header.map(Cell::new));
    for run in runs {
        table.add_row([
            right(run.committers.unwrap_or(0)),
            Cell::new(&run.policy),
            right(grouped(run.records_per_second as u64)),
            right(two_decimals(run.probe_writes_per_second.map(|probe| run.records_per_second / probe))),
            right(decimal(run.p50_us)),
            right(decimal(run.p99_us)),
            right(decimal(Some(run.records_per_second / run.flushes_per_second.max(1.0)))),
            right(grouped(run.flushes_per_second as u64)),
        ]);
    }
    table
}

fn decimal(value: Option<f64>) -> String {
    value.map_or("-".to_string(), |value| format!("{value:.1}"))
}

fn two_decimals(value: Option<f64>) -> String {
    value.map_or("-".to_string(), |value| format!("{value:.2}"))
}

fn percent(part: f64, of: f64) -> String {
    format!("{:.0}%", part * 100.0 / of.max(f64::MIN_POSITIVE))
}

/// The fastest of these.
fn best<'a>(runs: impl Iterator<Item = &'a &'a Run>) -> Option<&'a Run> {
    runs.copied().max_by(|a, b| a.records_per_second.total_cmp(&b.records_per_second))
}

/// The one with the most bytes a second.
fn most_bytes<'a>(runs: impl Iterator<Item = &'a &'a Run>) -> Option<&'a Run> {
    runs.copied().max_by(|a, b| a.gb_per_second.unwrap_or(0.0).total_cmp(&b.gb_per_second.unwrap_or(0.0)))
}

/// What limits appends, and how near they are.
fn append_words(runs: &[&Run], limits: &Limits) -> Vec<String> {
    let mut words = Vec::new();
    let device = if runs.iter().any(|run| run.device == "null") { "null" } else { "disk" };
    let record_bytes = match runs.iter().find(|run| run.record_bytes == WORDS_RECORD_BYTES) {
        Some(run) => run.record_bytes,
        None => match runs.first() {
            Some(run) => run.record_bytes,
            None => return words,
        },
    };
    let here: Vec<&Run> =
        runs.iter().copied().filter(|run| run.device == device && run.record_bytes == record_bytes).collect();
    let mut thread_counts: Vec<usize> = here.iter().filter_map(|run| run.threads).collect();
    thread_counts.dedup();
    for threads in thread_counts {
        let Some(run) = best(here.iter().filter(|run| run.threads == Some(threads))) else { continue };
        let mut line = format!(
            "{record_bytes}-byte records, {} ({device}): {} appends {}",
            appenders(threads),
            run.policy,
            rate(run.records_per_second)
        );
        let cpus = threads.min(run.schedulers);
        if let Some(memcpy) = run.memcpy_gb_per_second {
            let copies = memcpy * 1e9 / record_bytes as f64;
            line += &format!("; copying alone: {} ({} of it)", rate(copies), percent(run.records_per_second, copies));
        }
        if let Some(adds) = limits.atomic_adds(cpus) {
            line += &format!("; one shared atomic add a record: {}", rate(adds));
        }
        words.push(line);
    }
    if let (Some(one), Some(two)) = (fastest(&here, 1), fastest(&here, 2)) {
        let times = two.records_per_second / one.records_per_second.max(1.0);
        words.push(format!("2 appenders append {times:.2} times what 1 does ({} and {})", two.policy, one.policy));
        words.extend(shared_words(one, two, limits));
    }
    if let Some(run) = most_bytes(runs.iter()) {
        let (gb, writer) = (run.gb_per_second.unwrap_or(0.0), limits.writer_gb_per_second);
        words.push(format!(
            "most bytes: {gb:.2} GB/s ({} {}, {} bytes); one log writer can copy and checksum {writer:.2} GB/s on a CPU of its own ({} of it)",
            run.device,
            run.policy,
            run.record_bytes,
            percent(gb, writer)
        ));
    }
    if let (Some(run), Some(disk)) = (most_bytes(runs.iter().filter(|run| run.device == "disk")), &limits.disk) {
        let gb = run.gb_per_second.unwrap_or(0.0);
        words.push(format!(
            "most bytes to the disk: {gb:.2} GB/s ({}, {} bytes); it takes {:.2} GB/s of durable 1 MB writes ({} of it)",
            run.policy,
            run.record_bytes,
            disk.gb_per_second,
            percent(gb, disk.gb_per_second)
        ));
    }
    words
}

/// What 2 appenders and the log writer can do together on 2 CPUs; None where there are others.
fn shared_words(one: &Run, two: &Run, limits: &Limits) -> Option<String> {
    if two.schedulers != 2 {
        return None;
    }
    // One appender has the other CPU's writer for nothing; two share theirs with it.
    let appender_ns = one.ns_per_record?;
    let writer_ns = one.record_bytes as f64 / limits.writer_gb_per_second;
    let most = two.schedulers as f64 * 1e9 / (appender_ns + writer_ns);
    Some(format!(
        "a record takes {appender_ns:.1} ns of an appender's CPU and, copied and checksummed, at least {writer_ns:.1} ns of the \
         log writer's: sharing {} CPUs they can do {}, {:.2} times what 1 does, and are at {} of that",
        two.schedulers,
        rate(most),
        most / one.records_per_second.max(1.0),
        percent(two.records_per_second, most)
    ))
}

fn fastest<'a>(runs: &'a [&'a Run], threads: usize) -> Option<&'a Run> {
    best(runs.iter().filter(|run| run.threads == Some(threads)))
}

fn appenders(threads: usize) -> String {
    if threads == 1 { "1 appender".to_string() } else { format!("{threads} appenders") }
}

/// What limits commits, and how near they are.
fn commit_words(runs: &[&Run], limits: &Limits) -> Vec<String> {
    let mut words = Vec::new();
    let mut counts: Vec<usize> = runs.iter().filter_map(|run| run.committers).collect();
    counts.dedup();
    let Some(single) = runs.iter().find_map(|run| run.probe_writes_per_second) else { return words };
    let parallel = runs.iter().find_map(|run| run.probe_parallel_writes_per_second).unwrap_or(single);
    words.push(format!(
        "the disk takes {} durable 4 KB writes one after the other, {} sixteen at a time",
        rate(single),
        rate(parallel)
    ));
    if let Some(disk) = limits.disk.as_ref().filter(|disk| disk.singles.len() > 1) {
        let rates: Vec<String> = disk.singles.iter().map(|single| rate(*single)).collect();
        words.push(format!(
            "from scheduler 0 to {} one write after the other goes at {}: the first committer is on {}",
            rates.len() - 1,
            rates.join(", "),
            disk.quickest()
        ));
    }
    for committers in counts {
        let Some(run) = best(runs.iter().filter(|run| run.committers == Some(committers))) else { continue };
        let commits = run.records_per_second;
        // Each commit waits for a write that begins after it: without two writes in flight, that many a write at most.
        let groups = single * committers as f64;
        words.push(format!(
            "{} ({}): {}, {} of what one write after the other can carry ({})",
            if committers == 1 { "1 committer".to_string() } else { format!("{committers} committers") },
            run.policy,
            rate(commits),
            percent(commits, groups),
            rate(groups)
        ));
    }
    words
}

/// Writes the runs as a JSON array.
///
/// # Errors
/// [`LogBenchError::File`].
pub fn write_json(report: &Report, path: &Path) -> Result<(), LogBenchError> {
    let text = serde_json::to_vec_pretty(&report.runs).map_err(|error| LogBenchError::file(path)(error.into()))?;
    std::fs::write(path, text).map_err(LogBenchError::file(path))
}
