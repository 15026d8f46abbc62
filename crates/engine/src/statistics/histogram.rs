//! Histograms: steps of about as many rows, and of their own for values that many rows have.

use super::width;
use crate::catalog::statistics::HistogramStep;
use pikepole_types::Value;

/// Steps of a histogram at most, that of NULL among them.
pub(super) const STEPS_MAX: usize = 200;

/// Steps of a histogram of long values at most.
const STEPS_OF_LONG_MAX: usize = 8;

/// Bytes that the values of a histogram take at most, about.
const BYTES_MAX: f64 = 32_768.0;

/// The most steps of a histogram whose values are so long on average.
fn steps_max(width: f64) -> usize {
    ((BYTES_MAX / width.max(1.0)) as usize).clamp(STEPS_OF_LONG_MAX, STEPS_MAX)
}

/// The histogram of sorted different values, each with its rows in the sample; a row of the sample stands for `scale` of the table,
/// which has so many different values.
pub(super) fn of_runs(nulls: u64, runs: &[(&Value, u64)], scale: f64, distinct: f64) -> Vec<HistogramStep> {
    let step = |high: &Value, equal: u64, (rows, values): (u64, u64), more: f64| HistogramStep {
        high: high.clone(),
        range_rows: rows as f64 * scale,
        equal_rows: equal as f64 * scale,
        // Values that the sample has not met are in ranges, too, but no more of them than rows.
        distinct_range: (values as f64 * more).min(rows as f64 * scale),
    };
    let mut steps = Vec::new();
    if nulls > 0 {
        steps.push(step(&Value::Null, nulls, (0, 0), 1.0));
    }
    let more = (distinct / (runs.len() as f64).max(1.0)).max(1.0);
    let all: u64 = runs.iter().map(|(_, rows)| rows).sum();
    let most = steps_max(runs.iter().map(|(value, _)| width(value)).sum::<f64>() / (runs.len() as f64).max(1.0));
    // Room for NULL, the lowest value and the highest one.
    let wanted = if runs.len() + steps.len() <= most { 1 } else { all.div_ceil(most as u64 - 3).max(1) };
    let mut range = (0, 0);
    for (at, (value, rows)) in runs.iter().enumerate() {
        let is_edge = at == 0 || at + 1 == runs.len();
        if is_edge || range.0 + rows >= wanted {
            steps.push(step(value, *rows, range, more));
            range = (0, 0);
        } else {
            range = (range.0 + rows, range.1 + 1);
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_few_and_hold_all_rows() {
        let values: Vec<Value> = (0..5_000).map(Value::Int).collect();
        let runs: Vec<(&Value, u64)> = values.iter().enumerate().map(|(i, v)| (v, 1 + (i as u64 % 7) * 3)).collect();
        let all: u64 = runs.iter().map(|(_, rows)| rows).sum();
        let steps = of_runs(5, &runs, 2.0, 5_000.0);
        assert!(steps.len() <= STEPS_MAX && steps.len() > STEPS_MAX / 2);
        let sum: f64 = steps.iter().map(|step| step.range_rows + step.equal_rows).sum();
        assert_eq!(sum, (all + 5) as f64 * 2.0);
        assert_eq!((&steps[0].high, &steps[1].high), (&Value::Null, &Value::Int(0)));
        assert_eq!(steps.last().map(|step| &step.high), Some(&Value::Int(4_999)));
    }
}
