//! The results of a run, as a table for reading and as JSON.

use serde::Serialize;

/// One execution of a query.
#[derive(Debug, Clone, PartialEq)]
pub enum Execution {
    /// It ended after so many seconds.
    Ended(f64),
    /// It was cancelled at the time limit.
    OverLimit,
    /// It failed with this error.
    Failed(String),
}

/// The result of a query in an engine, over all rounds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Summary {
    /// It ended in each round. Seconds.
    Ended {
        /// The median.
        median: f64,
        /// The least.
        min: f64,
        /// The most.
        max: f64,
    },
    /// It was over the time limit, and was not tried again.
    OverLimit,
    /// It failed, and was not tried again.
    Failed {
        /// The error.
        error: String,
    },
    /// It was not run.
    Absent,
}

impl Summary {
    /// The summary of the executions of all rounds.
    pub fn of(executions: &[Execution]) -> Summary {
        let mut times = Vec::new();
        for execution in executions {
            match execution {
                Execution::Ended(seconds) => times.push(*seconds),
                Execution::OverLimit => return Summary::OverLimit,
                Execution::Failed(error) => return Summary::Failed { error: error.clone() },
            }
        }
        times.sort_by(f64::total_cmp);
        let (Some(min), Some(max)) = (times.first(), times.last()) else { return Summary::Absent };
        let half = times.len() / 2;
        let median =
            if times.len().is_multiple_of(2) { f64::midpoint(times[half - 1], times[half]) } else { times[half] };
        Summary::Ended { median, min: *min, max: *max }
    }

    /// The time as it counts for ratios and totals; `None` for a failure.
    fn time(&self, limit: f64) -> Option<Time> {
        match self {
            Summary::Ended { median, .. } => Some(Time { seconds: *median, is_least: false }),
            Summary::OverLimit => Some(Time { seconds: limit, is_least: true }),
            Summary::Failed { .. } | Summary::Absent => None,
        }
    }
}

/// A time, or the least that it may have been.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Time {
    seconds: f64,
    is_least: bool,
}

impl Time {
    fn shown(self) -> String {
        let Time { seconds, is_least } = self;
        let digits = usize::from(seconds < 100.0) + usize::from(seconds < 10.0) + usize::from(seconds < 1.0);
        format!("{}{seconds:.digits$}", if is_least { "> " } else { "" })
    }

    /// The ratio to another time; there is none to a time that was not measured to its end.
    fn ratio(self, other: Time) -> Option<String> {
        let prefix = if self.is_least { "> " } else { "" };
        (!other.is_least && other.seconds > 0.0).then(|| format!("{prefix}{:.2}", self.seconds / other.seconds))
    }
}

/// A query in all engines.
#[derive(Debug, Clone, Serialize)]
pub struct QueryResult {
    /// Its number.
    pub query: usize,
    /// The rows of its answer.
    pub rows: Option<usize>,
    /// The result of each engine.
    pub engines: Vec<Summary>,
}

/// A run.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The scale of the tables.
    pub scale: f64,
    /// The number of rounds.
    pub rounds: usize,
    /// Seconds that a query may take.
    pub time_limit: f64,
    /// The names of the engines.
    pub engines: Vec<String>,
    /// The engines that others are compared with, by place.
    pub peers: Vec<usize>,
    /// The queries.
    pub queries: Vec<QueryResult>,
    /// The answers that differ, for people.
    pub differences: Vec<String>,
}

impl Report {
    /// The table for reading.
    pub fn table(&self) -> String {
        let Report { scale, rounds, time_limit, .. } = self;
        let title = format!("TPC-H, scale {scale}, {rounds} rounds, seconds (median), time limit {time_limit} s");
        let head = ["query", "rows"].map(str::to_string).into_iter();
        let seconds = self.engines.iter().map(|name| format!("{name} s"));
        let ratios = self.ratios().map(|(own, peer)| match self.compared().len() {
            0 | 1 => format!("/ {}", self.engines[peer]),
            _ => format!("{} / {}", self.engines[own], self.engines[peer]),
        });
        let mut rows = vec![head.chain(seconds).chain(ratios).collect::<Vec<_>>()];
        for result in &self.queries {
            let times: Vec<_> = result.engines.iter().map(|summary| summary.time(*time_limit)).collect();
            let seconds = result.engines.iter().zip(&times).map(|(summary, time)| match (summary, time) {
                (Summary::OverLimit, _) => format!("> {time_limit}"),
                (Summary::Failed { .. }, _) => "failed".to_string(),
                (_, Some(time)) => time.shown(),
                _ => "-".to_string(),
            });
            let count = result.rows.map_or_else(String::new, |count| count.to_string());
            let labels = [result.query.to_string(), count].into_iter();
            rows.push(labels.chain(seconds).chain(self.shown_ratios(&times)).collect());
        }
        rows.push(self.totals());
        format!("{title}\n\n{}", table(&rows))
    }

    /// The engines that are compared with the peers, by place.
    fn compared(&self) -> Vec<usize> {
        (0..self.engines.len()).filter(|place| !self.peers.contains(place)).collect()
    }

    /// The places of the two engines of each ratio.
    fn ratios(&self) -> impl Iterator<Item = (usize, usize)> {
        self.compared().into_iter().flat_map(|own| self.peers.iter().map(move |peer| (own, *peer)))
    }

    fn shown_ratios(&self, times: &[Option<Time>]) -> Vec<String> {
        let ratio = |(own, peer): (usize, usize)| times[own]?.ratio(times[peer]?);
        self.ratios().map(|places| ratio(places).unwrap_or_else(|| "-".to_string())).collect()
    }

    /// The sums over the queries that the first peer ended, and without a peer over all. A query over the limit counts as the limit,
    /// a failure as nothing: the sum is the least then.
    fn totals(&self) -> Vec<String> {
        let is_counted = |result: &&QueryResult| match self.peers.first() {
            Some(peer) => matches!(result.engines[*peer], Summary::Ended { .. }),
            None => true,
        };
        let counted: Vec<&QueryResult> = self.queries.iter().filter(is_counted).collect();
        let total = |engine: usize| {
            let times = counted.iter().map(|result| result.engines[engine].time(self.time_limit));
            times.fold(Time { seconds: 0.0, is_least: false }, |sum, time| Time {
                seconds: sum.seconds + time.map_or(0.0, |time| time.seconds),
                is_least: sum.is_least || time.is_none_or(|time| time.is_least),
            })
        };
        let totals: Vec<Time> = (0..self.engines.len()).map(total).collect();
        let labels = [format!("total of {}", counted.len()), String::new()].into_iter();
        let ratios = self.shown_ratios(&totals.iter().copied().map(Some).collect::<Vec<_>>());
        labels.chain(totals.into_iter().map(Time::shown)).chain(ratios).collect()
    }
}

/// A table in Markdown whose columns are as wide as their widest cells; the first row is its head. Numbers stand at the right.
pub fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for (number, row) in rows.iter().enumerate() {
        let cells = row.iter().zip(&widths).map(|(cell, width)| match cell.trim_start_matches("> ").parse::<f64>() {
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

    fn ended(seconds: f64) -> Summary {
        Summary::of(&[Execution::Ended(seconds)])
    }

    #[test]
    fn a_summary_is_the_median_or_the_reason_of_none() {
        let times = [3.0, 1.0, 2.0].map(Execution::Ended);
        assert_eq!(Summary::of(&times), Summary::Ended { median: 2.0, min: 1.0, max: 3.0 });
        assert_eq!(Summary::of(&times[..2]), Summary::Ended { median: 2.0, min: 1.0, max: 3.0 });
        assert_eq!(Summary::of(&[Execution::Ended(1.0), Execution::OverLimit]), Summary::OverLimit);
        let failed = Summary::of(&[Execution::Failed("no".to_string())]);
        assert_eq!((failed, Summary::of(&[])), (Summary::Failed { error: "no".to_string() }, Summary::Absent));
    }

    #[test]
    fn tables_are_aligned() {
        let rows = [["a", "long head"], ["12.5", "x"], ["> 1", "2"]].map(|row| row.map(str::to_string).to_vec());
        assert_eq!(
            table(&rows),
            "| a    | long head |\n|------|-----------|\n| 12.5 | x         |\n|  > 1 |         2 |\n"
        );
    }

    #[test]
    fn totals_are_over_what_the_first_peer_ended() {
        let query = |query, engines: [Summary; 3]| QueryResult { query, rows: Some(1), engines: engines.to_vec() };
        let report = Report {
            scale: 1.0,
            rounds: 1,
            time_limit: 60.0,
            engines: ["Pikepole", "PostgreSQL", "DuckDB"].map(str::to_string).to_vec(),
            peers: vec![1, 2],
            queries: vec![
                query(1, [ended(3.0), ended(2.0), ended(0.5)]),
                query(2, [Summary::OverLimit, ended(4.0), ended(1.0)]),
                query(3, [ended(9.0), Summary::OverLimit, ended(1.0)]),
            ],
            differences: Vec::new(),
        };
        let text = report.table();
        let row = |label: &str| {
            let line = text.lines().find(|line| line.starts_with(label)).unwrap_or_default();
            line.split('|').map(|cell| cell.trim().to_string()).filter(|cell| !cell.is_empty()).collect::<Vec<_>>()
        };
        assert_eq!(row("|          1"), ["1", "1", "3.00", "2.00", "0.500", "1.50", "6.00"], "{text}");
        assert_eq!(row("|          2"), ["2", "1", "> 60", "4.00", "1.00", "> 15.00", "> 60.00"], "{text}");
        assert_eq!(row("|          3"), ["3", "1", "9.00", "> 60", "1.00", "-", "9.00"], "{text}");
        assert_eq!(row("| total of 2"), ["total of 2", "> 63.0", "6.00", "1.50", "> 10.50", "> 42.00"], "{text}");
    }
}
