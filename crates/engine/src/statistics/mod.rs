//! Samples of tables' rows, and findings in them.
//!
//! ```text
//!   some parts of the table ──► rows, of which SAMPLE_ROWS_MAX are kept (each row with the same chance: algorithm R)
//!                                 └─► sorted by a column ──► histogram; different values, and from them those of the table
//! ```
//! The number of different values follows from those that the sample has once and more often: Haas and Stokes, *Estimating the Number
//! of Classes in a Finite Population*, 1998, the estimator that they call Duj1, which PostgreSQL uses too. It is made for rows by chance,
//! but these are the rows of parts by chance, and rows that stand together are often alike: a key's first column has a value or two in a
//! page. So a value counts once in each part: Chaudhuri, Das and Srivastava, *Effective Use of Block-Level Sampling in Statistics
//! Estimation*, 2004, the estimator that they call Collapse. And there are no more values than stretches of rows with the same one, of
//! which the neighbours in a part tell well where there are few of each value. Where some rows of a part were left out the rows count.

mod histogram;

use crate::catalog::statistics::ValueStatistics;
use pikepole_types::{Collation, Value, compare, hash};
use std::cmp::Ordering;
use std::collections::HashMap;

/// Rows of a sample at most.
const SAMPLE_ROWS_MAX: usize = 32 * 1024;

/// Changes between neighbours that tell of those in a table, at least.
const CHANGES_MIN: u64 = 50;

/// Bytes of a sample's texts and other long values at most. Beyond that it has fewer rows.
const SAMPLE_BYTES_MAX: usize = 16 << 20;

/// Rows of a table, for statistics of some of its columns.
pub(crate) struct Sample {
    rows: Vec<Box<[Value]>>,
    /// The first row of each part, as long as all rows are kept.
    parts: Vec<usize>,
    collations: Vec<Collation>,
    /// Rows that were offered.
    seen: u64,
    bytes: usize,
    room: usize,
    random: u64,
}

impl Sample {
    /// A sample of rows with values of these collations.
    pub fn new(collations: Vec<Collation>) -> Sample {
        Sample {
            rows: Vec::new(),
            parts: Vec::new(),
            collations,
            seen: 0,
            bytes: 0,
            room: SAMPLE_ROWS_MAX,
            random: 0x9e37_79b9_7f4a_7c15,
        }
    }

    /// Rows that were offered.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// True if it has as many rows as it keeps.
    pub fn is_full(&self) -> bool {
        self.rows.len() >= self.room
    }

    /// True if it has all rows that were offered.
    fn keeps_all(&self) -> bool {
        self.rows.len() as u64 == self.seen
    }

    /// The numbers below `count`, each once, by chance.
    pub fn some_parts(&mut self, count: usize) -> impl Iterator<Item = usize> + use<> {
        let mut parts: Vec<u32> = (0..count as u32).collect();
        // Fisher and Yates, as far as they are asked for.
        let mut random = std::mem::take(&mut self.random);
        self.random = random.rotate_left(32) | 1;
        (0..count).map(move |at| {
            parts.swap(at, at + next_below(&mut random, (count - at) as u64) as usize);
            parts[at] as usize
        })
    }

    /// The rows to come stand together in the table, and apart from those before.
    pub fn begin_part(&mut self) {
        self.parts.push(self.rows.len());
    }

    /// Takes a row, or leaves it.
    pub fn offer(&mut self, row: &[Value]) {
        // A part that began while there was room is kept to its end.
        let is_of_last_part = self.parts.last().is_some_and(|first| *first < self.room) && self.keeps_all();
        self.seen += 1;
        if self.rows.len() < self.room || is_of_last_part {
            self.rows.push(row.into());
        } else {
            let at = next_below(&mut self.random, self.seen);
            let Some(place) = usize::try_from(at).ok().and_then(|at| self.rows.get_mut(at)) else { return };
            self.bytes -= bytes(place);
            *place = row.into();
        }
        self.bytes += bytes(row);
        // A smaller sample, of rows of which each has the same chance again.
        while self.bytes > SAMPLE_BYTES_MAX && self.rows.len() > 1 {
            let at = next_below(&mut self.random, self.rows.len() as u64) as usize;
            self.bytes -= bytes(&self.rows.swap_remove(at));
            self.room = self.rows.len();
        }
    }

    /// Findings in the columns at these places of its rows, for a table of so many rows.
    pub fn values_of(&self, columns: &[usize], rows: u64, now_us: u64, changes: u64) -> ValueStatistics {
        let all = self.rows.len() as f64;
        let rows = rows.max(self.seen);
        let mut distinct = Vec::with_capacity(columns.len());
        let mut widths = Vec::with_capacity(columns.len());
        for prefix in (1..=columns.len()).map(|count| &columns[..count]) {
            distinct.push(self.distinct(prefix, rows as f64));
            let bytes = |row: &[Value]| prefix.iter().map(|column| width(&row[*column])).sum::<f64>();
            widths.push(self.rows.iter().map(|row| bytes(row)).sum::<f64>() / all.max(1.0));
        }
        let steps = match (columns.first(), distinct.first()) {
            (Some(first), Some(distinct)) => self.histogram(*first, rows as f64, *distinct),
            _ => Vec::new(),
        };
        ValueStatistics { updated_us: now_us, rows, sampled: self.seen, distinct, widths, steps, changes }
    }

    /// The number of different values that some columns have together in the table.
    fn distinct(&self, columns: &[usize], rows: f64) -> f64 {
        // Of each value, the parts that have it; without parts its rows.
        let mut counts: HashMap<u64, (u64, usize)> = HashMap::with_capacity(self.rows.len());
        let parts = if self.keeps_all() { self.parts.as_slice() } else { &[] };
        let mut begun = parts.iter().peekable();
        let (mut part, mut counted) = (0, 0_u64);
        let (mut before, mut pairs, mut changes) = (None, 0_u64, 0_u64);
        for (at, row) in self.rows.iter().enumerate() {
            let of_row = columns.iter().fold(0_u64, |code, column| {
                let own = hash(&row[*column], self.collations[*column]);
                code.rotate_left(17).wrapping_mul(0x2545_f491_4f6c_dd1d) ^ own
            });
            while begun.next_if(|first| **first <= at).is_some() {
                (part, before) = (part + 1, None);
            }
            if part > 0
                && let Some(before) = before.replace(of_row)
            {
                (pairs, changes) = (pairs + 1, changes + u64::from(before != of_row));
            }
            let (count, last) = counts.entry(of_row).or_insert((0, usize::MAX));
            if part == 0 || *last != part {
                (*count, *last) = (*count + 1, part);
                counted += 1;
            }
        }
        let once = counts.values().filter(|(count, _)| *count == 1).count() as f64;
        let share = self.rows.len() as f64 / rows;
        let stretches = if changes >= CHANGES_MIN { changes as f64 / pairs as f64 * rows + 1.0 } else { rows };
        let found = counts.len() as f64;
        estimated_distinct(counted as f64, found, once, share).min(stretches.max(found)).min(rows)
    }

    fn histogram(&self, column: usize, rows: f64, distinct: f64) -> Vec<crate::catalog::statistics::HistogramStep> {
        let collation = self.collations[column];
        let order = |a: &Value, b: &Value| compare(a, b, collation).ok().flatten().unwrap_or(Ordering::Equal);
        let (nulls, mut values): (Vec<&Value>, Vec<&Value>) =
            self.rows.iter().map(|row| &row[column]).partition(|value| value.is_null());
        values.sort_by(|a, b| order(a, b));
        let mut runs: Vec<(&Value, u64)> = Vec::new();
        for value in values {
            match runs.last_mut() {
                Some((last, count)) if order(last, value) == Ordering::Equal => *count += 1,
                _ => runs.push((value, 1)),
            }
        }
        histogram::of_runs(nulls.len() as u64, &runs, rows / (self.rows.len() as f64).max(1.0), distinct)
    }
}

/// A number below `end`: xorshift, whose bias does not matter here.
fn next_below(random: &mut u64, end: u64) -> u64 {
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    *random % end
}

/// Different values in a table, from a `share` of it that has `found` of them in `counted` places, `once` of which in one place only.
fn estimated_distinct(counted: f64, found: f64, once: f64, share: f64) -> f64 {
    if counted <= 0.0 || share >= 1.0 {
        return found;
    }
    let others = counted - once + once * share;
    (counted * found / others).max(found)
}

/// Bytes that the values of a row take.
fn bytes(row: &[Value]) -> usize {
    row.iter().map(width).sum::<f64>() as usize
}

/// Bytes that a value takes.
fn width(value: &Value) -> f64 {
    match value {
        Value::Null => 0.0,
        Value::Str(text) => text.len() as f64,
        Value::Bin(bytes) => bytes.len() as f64,
        Value::Bit(_) | Value::TinyInt(_) => 1.0,
        Value::SmallInt(_) => 2.0,
        Value::Int(_) | Value::Real(_) | Value::SmallMoney(_) | Value::SmallDateTime(_) => 4.0,
        Value::Date(_) => 3.0,
        Value::Guid(_) => 16.0,
        Value::Decimal(decimal) if decimal.precision() <= 9 => 5.0,
        Value::Decimal(decimal) if decimal.precision() > 19 => 17.0,
        Value::Decimal(_) => 9.0,
        _ => 8.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use histogram::STEPS_MAX;

    fn sample(values: impl Iterator<Item = Value>) -> Sample {
        let mut sample = Sample::new(vec![Collation::DEFAULT]);
        values.for_each(|value| sample.offer(&[value]));
        sample
    }

    #[test]
    fn all_rows_give_exact_numbers() {
        let sample = sample((0..10_000).map(|i| Value::Int(i % 100)));
        let found = sample.values_of(&[0], 10_000, 0, 0);
        assert_eq!((found.rows, found.sampled, found.distinct[0], found.widths[0]), (10_000, 10_000, 100.0, 4.0));
        assert_eq!(found.steps.len(), 100);
        assert!(found.steps.iter().all(|step| step.equal_rows == 100.0 && step.range_rows == 0.0));
    }

    #[test]
    fn a_sample_tells_of_the_table() {
        // A tenth of the rows, of a key, of a column with 2,000 values, and of one whose values are all alike but for a few.
        let rows = 1_000_000_u64;
        let mut sample = Sample::new(vec![Collation::DEFAULT; 3]);
        let mut random = 7_u64;
        for i in 0..rows / 10 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let any = (random >> 33) as i32;
            let rare = if any % 1_000 == 0 { any } else { 5 };
            sample.offer(&[Value::BigInt(i as i64 * 10), Value::Int(any % 2_000), Value::Int(rare)]);
        }
        let near = |found: f64, wanted: f64, by: f64| (found / wanted - 1.0).abs() < by;
        let of = |column: usize| sample.values_of(&[column], rows, 0, 0);
        assert!(near(of(0).distinct[0], 1_000_000.0, 0.01), "{}", of(0).distinct[0]);
        assert!(near(of(1).distinct[0], 2_000.0, 0.02), "{}", of(1).distinct[0]);
        let common = of(2).steps.iter().find(|step| step.high == Value::Int(5)).map_or(0.0, |step| step.equal_rows);
        assert!(near(common, 999_000.0, 0.01), "{common}");
        for column in 0..3 {
            let all: f64 = of(column).steps.iter().map(|step| step.equal_rows + step.range_rows).sum();
            assert!(near(all, 1_000_000.0, 0.001), "{all}");
            assert!(of(column).steps.len() <= STEPS_MAX);
        }
    }

    #[test]
    fn values_that_stand_together_count_once_in_each_part() {
        // A table of 10,000 pages of 101 rows, which fill no sample to the row. The columns: a key's first one, with `run` rows of each
        // value; values by chance; a key.
        for run in [1, 7, 160, 3_000, 50_000] {
            let mut sample = Sample::new(vec![Collation::DEFAULT; 3]);
            let parts: Vec<usize> = sample.some_parts(10_000).collect();
            let mut random = 7_u64;
            for part in parts {
                if sample.is_full() {
                    break;
                }
                sample.begin_part();
                for row in part as i64 * 101..(part as i64 + 1) * 101 {
                    let any = next_below(&mut random, 2_000) as i32;
                    sample.offer(&[Value::BigInt(row / run), Value::Int(any), Value::BigInt(row)]);
                }
            }
            assert!(sample.keeps_all());
            let near = |column: usize, wanted: f64, by: f64| {
                let found = sample.values_of(&[column], 1_010_000, 0, 0).distinct[0];
                assert!((found / wanted - 1.0).abs() < by, "{found} for {wanted} of column {column}, {run} rows each");
            };
            near(0, 1_010_000.0 / run as f64, 0.25);
            near(1, 2_000.0, 0.02);
            near(2, 1_010_000.0, 0.01);
        }
    }

    #[test]
    fn parts_come_by_chance_and_each_once() {
        let mut sample = Sample::new(Vec::new());
        let mut parts: Vec<usize> = sample.some_parts(1_000).collect();
        assert!(parts.windows(2).filter(|two| two[0] < two[1]).count() < 600);
        parts.sort_unstable();
        assert!(parts.into_iter().eq(0..1_000));
        assert_eq!(sample.some_parts(0).count(), 0);
    }

    #[test]
    fn null_is_a_step_of_its_own() {
        let found = sample([Value::Null, Value::Int(1), Value::Null].into_iter()).values_of(&[0], 3, 0, 0);
        let steps: Vec<_> = found.steps.iter().map(|step| (step.high.clone(), step.equal_rows)).collect();
        assert_eq!(steps, [(Value::Null, 2.0), (Value::Int(1), 1.0)]);
    }

    #[test]
    fn long_values_make_a_sample_smaller_also_behind_short_ones() {
        let text = "x".repeat(8_000);
        let short = (0..2 * SAMPLE_ROWS_MAX).map(|i| Value::Str(format!("{i}")));
        let long = (0..100_000).map(|i| Value::Str(format!("{i}{text}")));
        let mixed = sample(short.chain(long));
        assert!(mixed.bytes <= SAMPLE_BYTES_MAX && mixed.rows.len() > 2_000);
        assert_eq!(mixed.bytes, mixed.rows.iter().map(|row| bytes(row)).sum::<usize>());
        let sample = sample((0..10_000).map(|i| Value::Str(format!("{i}{text}"))));
        assert!(sample.rows.len() < 2_200 && sample.seen == 10_000);
        let found = sample.values_of(&[0], 10_000, 0, 0);
        assert!(found.distinct[0] > 9_000.0);
        assert!((5..=8).contains(&found.steps.len()), "long values make few steps");
    }
}
