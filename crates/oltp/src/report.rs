//! The results of runs, as tables for reading and as JSON.

use crate::measure::Run;
use crate::workloads::Kind;
use serde::Serialize;
use std::time::Duration;

/// The median of rounds, and their extremes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// The median.
    pub median: f64,
    /// The least.
    pub min: f64,
    /// The most.
    pub max: f64,
}

impl Spread {
    /// Of these numbers; `None` of none.
    fn of(numbers: impl IntoIterator<Item = f64>) -> Option<Spread> {
        let mut numbers: Vec<f64> = numbers.into_iter().collect();
        numbers.sort_by(f64::total_cmp);
        let (min, max) = (*numbers.first()?, *numbers.last()?);
        let half = numbers.len() / 2;
        let median =
            if numbers.len().is_multiple_of(2) { (numbers[half - 1] + numbers[half]) / 2.0 } else { numbers[half] };
        Some(Spread { median, min, max })
    }
}

/// The latency of transactions of a kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Latency {
    /// The kind.
    pub kind: &'static str,
    /// Their number, in all rounds.
    pub count: usize,
    /// Half of them took no longer, in microseconds.
    pub p50_us: u32,
    /// 95 of 100 took no longer.
    pub p95_us: u32,
    /// 99 of 100 took no longer.
    pub p99_us: u32,
}

impl Latency {
    fn of(kind: &'static str, mut times: Vec<u32>) -> Option<Latency> {
        times.sort_unstable();
        let last = times.len().checked_sub(1)?;
        let at = |percent: usize| times[last * percent / 100];
        Some(Latency { kind, count: times.len(), p50_us: at(50), p95_us: at(95), p99_us: at(99) })
    }
}

/// The results of all rounds of a server with so many terminals.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    /// Connections.
    pub terminals: usize,
    /// The server.
    pub server: String,
    /// Transactions a second.
    pub rate: Option<Spread>,
    /// CPU time of the server, in microseconds a transaction.
    pub server_cpu_us: Option<Spread>,
    /// CPU time of this program, in microseconds a transaction.
    pub client_cpu_us: Option<Spread>,
    /// CPU time of other processes meanwhile, in hundredths of a CPU: what a quiet machine has little of.
    pub others_cpu_percent: Option<Spread>,
    /// Attempts that another transaction was in the way of, in a thousand transactions.
    pub retries_per_thousand: f64,
    /// Transactions rolled back as the workload intends it, in a thousand.
    pub rollbacks_per_thousand: f64,
    /// The rate divided by that of the server it is compared with, round by round.
    pub rate_ratio: Option<Spread>,
    /// The server's CPU time a transaction divided by that of the server it is compared with.
    pub server_cpu_ratio: Option<Spread>,
    /// All transactions' latency, then that of each kind.
    pub latency: Vec<Latency>,
}

impl Summary {
    /// Of a server's rounds, and of the same rounds of the server that it is compared with.
    pub fn of(terminals: usize, server: &str, kinds: &[Kind], runs: &[Run], baseline: &[Run]) -> Summary {
        let total = |what: fn(&Run) -> u64| runs.iter().map(what).sum::<u64>() as f64;
        let transactions = total(|run| run.tally.transactions()).max(1.0);
        let times = |kind: usize| runs.iter().filter_map(move |run| run.tally.times.get(kind)).flatten().copied();
        let all = (0..kinds.len()).flat_map(times).collect();
        let by_kind = kinds.iter().enumerate().map(|(place, kind)| Latency::of(kind.name, times(place).collect()));
        let ratios = |number: fn(&Run) -> Option<f64>| {
            let of_round = |(run, base): (&Run, &Run)| Some(number(run)? / number(base)?);
            Spread::of(runs.iter().zip(baseline).filter_map(of_round))
        };
        Summary {
            terminals,
            server: server.to_string(),
            rate: Spread::of(runs.iter().filter_map(rate)),
            server_cpu_us: Spread::of(runs.iter().filter_map(server_cpu)),
            client_cpu_us: Spread::of(runs.iter().filter_map(|run| per_transaction(run, run.client_cpu))),
            others_cpu_percent: Spread::of(runs.iter().filter_map(others_cpu)),
            retries_per_thousand: total(|run| run.tally.retries) * 1000.0 / transactions,
            rollbacks_per_thousand: total(|run| run.tally.rollbacks) * 1000.0 / transactions,
            rate_ratio: ratios(rate),
            server_cpu_ratio: ratios(server_cpu),
            latency: [Latency::of("all", all)].into_iter().chain(by_kind).flatten().collect(),
        }
    }
}

fn rate(run: &Run) -> Option<f64> {
    Some(run.tally.transactions() as f64 / run.length.as_secs_f64())
}

fn server_cpu(run: &Run) -> Option<f64> {
    per_transaction(run, run.server_cpu)
}

fn others_cpu(run: &Run) -> Option<f64> {
    let others = run.machine_cpu?.saturating_sub(run.server_cpu? + run.client_cpu?);
    Some(others.as_secs_f64() * 100.0 / run.length.as_secs_f64())
}

fn per_transaction(run: &Run, time: Option<Duration>) -> Option<f64> {
    let transactions = run.tally.transactions();
    (transactions > 0).then_some(time?.as_secs_f64() * 1e6 / transactions as f64)
}

/// The runs of a workload.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The workload.
    pub workload: String,
    /// Its size.
    pub scale: u32,
    /// `full` or `delayed`.
    pub durability: String,
    /// Seconds of each run.
    pub seconds: f64,
    /// Runs of each server and number of terminals.
    pub rounds: usize,
    /// The server that the others are compared with.
    pub baseline: String,
    /// The results.
    pub results: Vec<Summary>,
}

impl Report {
    /// The tables for reading.
    pub fn tables(&self) -> String {
        let Report { workload, scale, durability, seconds, rounds, baseline, .. } = self;
        let title = format!("{workload}, scale {scale}, {durability} durability, {rounds} rounds of {seconds} s");
        let ratio = format!("/ {baseline}");
        let head =
            ["terminals", "server", "transactions/s", &ratio, "server CPU us/t", &ratio, "client CPU us/t", "others %"];
        let head = head.into_iter().chain(["p50 ms", "p95 ms", "p99 ms", "retries/1000", "rollbacks/1000"]);
        let mut rows = vec![head.map(str::to_string).collect::<Vec<_>>()];
        for summary in &self.results {
            let mut row = vec![summary.terminals.to_string(), summary.server.clone()];
            let is_baseline = summary.server == self.baseline;
            let compared = |ratio| if is_baseline { String::new() } else { shown(ratio, 2) };
            row.extend([shown(summary.rate, 0), compared(summary.rate_ratio)]);
            row.extend([shown(summary.server_cpu_us, 1), compared(summary.server_cpu_ratio)]);
            row.extend([shown(summary.client_cpu_us, 1), shown(summary.others_cpu_percent, 0)]);
            row.extend(summary.latency.first().map_or_else(Default::default, milliseconds));
            row.push(format!("{:.2}", summary.retries_per_thousand));
            row.push(format!("{:.1}", summary.rollbacks_per_thousand));
            rows.push(row);
        }
        format!("{title}\n\n{}\n{}", table(&rows), self.latencies())
    }

    fn latencies(&self) -> String {
        let head = ["terminals", "transaction", "server", "count", "p50 ms", "p95 ms", "p99 ms"];
        let mut rows = vec![head.map(str::to_string).to_vec()];
        let mut by_kind: Vec<(usize, usize, Vec<String>)> = Vec::new();
        for summary in &self.results {
            for (place, latency) in summary.latency.iter().enumerate().skip(1) {
                let mut row = vec![summary.terminals.to_string(), latency.kind.to_string(), summary.server.clone()];
                row.push(latency.count.to_string());
                row.extend(milliseconds(latency));
                by_kind.push((summary.terminals, place, row));
            }
        }
        by_kind.sort_by_key(|(terminals, place, _)| (*terminals, *place));
        rows.extend(by_kind.into_iter().map(|(_, _, row)| row));
        table(&rows)
    }
}

fn milliseconds(latency: &Latency) -> [String; 3] {
    [latency.p50_us, latency.p95_us, latency.p99_us].map(|time| format!("{:.2}", f64::from(time) / 1000.0))
}

/// `median (min-max)`.
fn shown(spread: Option<Spread>, digits: usize) -> String {
    let Some(Spread { median, min, max }) = spread else { return "-".to_string() };
    match min == max {
        true => format!("{median:.digits$}"),
        false => format!("{median:.digits$} ({min:.digits$}-{max:.digits$})"),
    }
}

/// A table in Markdown whose columns are as wide as their widest cells; the first row is its head.
fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for (number, row) in rows.iter().enumerate() {
        let cells = row.iter().zip(&widths).map(|(cell, width)| match cell.parse::<f64>() {
            Ok(_) => format!(" {cell:>width$} |"),
            Err(_) => format!(" {cell:width$} |"),
        });
        text.extend(["|".to_string()].into_iter().chain(cells).chain(["\n".to_string()]));
        if number == 0 {
            let rules = widths.iter().map(|width| "-".repeat(width + 2) + "|");
            text.extend(["|".to_string()].into_iter().chain(rules).chain(["\n".to_string()]));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Tally;

    fn run(transactions: u32, cpu_ms: u64) -> Run {
        let tally = Tally { times: vec![(0..transactions).collect()], retries: 1, rollbacks: 2, ..Tally::default() };
        let server_cpu = Some(Duration::from_millis(cpu_ms));
        Run { tally, length: Duration::from_secs(2), server_cpu, client_cpu: None, machine_cpu: None }
    }

    #[test]
    fn medians_and_extremes_are_those_of_the_numbers() {
        assert_eq!(Spread::of([3.0, 1.0, 2.0]), Some(Spread { median: 2.0, min: 1.0, max: 3.0 }));
        assert_eq!(Spread::of([4.0, 2.0]), Some(Spread { median: 3.0, min: 2.0, max: 4.0 }));
        assert_eq!(Spread::of([]), None);
    }

    #[test]
    fn a_summary_compares_round_by_round() {
        const KINDS: &[Kind] = &[Kind { name: "read", weight: 100 }];
        let (runs, baseline) = ([run(200, 10), run(400, 20)], [run(100, 10), run(100, 10)]);
        let summary = Summary::of(8, "Pikepole", KINDS, &runs, &baseline);
        assert_eq!(summary.rate, Some(Spread { median: 150.0, min: 100.0, max: 200.0 }));
        assert_eq!(summary.rate_ratio, Some(Spread { median: 3.0, min: 2.0, max: 4.0 }));
        assert_eq!(summary.server_cpu_us.map(|spread| spread.median), Some(50.0));
        assert_eq!(summary.server_cpu_ratio.map(|spread| spread.median), Some(0.5));
        assert_eq!((summary.client_cpu_us, summary.latency.len()), (None, 2));
        assert_eq!((summary.latency[1].kind, summary.latency[1].count, summary.latency[1].p99_us), ("read", 600, 393));
        assert!((summary.retries_per_thousand - 3.33).abs() < 0.01);
    }

    #[test]
    fn tables_are_aligned() {
        let rows = [["a", "long head"], ["12.5", "x"], ["1", "2 (1-3)"]].map(|row| row.map(str::to_string).to_vec());
        assert_eq!(
            table(&rows),
            "| a    | long head |\n|------|-----------|\n| 12.5 | x         |\n|    1 | 2 (1-3)   |\n"
        );
    }

    #[test]
    fn a_report_has_a_row_for_each_server_and_kind() {
        const KINDS: &[Kind] = &[Kind { name: "read", weight: 100 }];
        let summary = |server: &str| Summary::of(1, server, KINDS, &[run(100, 10)], &[run(100, 10)]);
        let report = Report {
            workload: "ycsb-a".to_string(),
            scale: 1,
            durability: "full".to_string(),
            seconds: 2.0,
            rounds: 1,
            baseline: "PostgreSQL".to_string(),
            results: vec![summary("Pikepole"), summary("PostgreSQL")],
        };
        let text = report.tables();
        assert!(text.starts_with("ycsb-a, scale 1, full durability, 1 rounds of 2 s\n"), "{text}");
        assert_eq!(text.lines().filter(|line| line.contains("| read")).count(), 2, "{text}");
        assert_eq!(text.matches("1.00").count(), 2, "{text}");
    }
}
