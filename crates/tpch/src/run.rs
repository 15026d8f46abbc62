//! Runs of queries in rounds, and the comparison of their answers.

use crate::Failure;
use crate::compare::{difference, shown};
use crate::engine::{Engine, EngineError, Row, count};
use crate::queries::Number;
use crate::report::{Execution, QueryResult, Report, Summary};
use crate::schema::SUPPLIERS;
use std::time::{Duration, Instant};

/// The size of a run.
pub struct Setting<'a> {
    /// The queries.
    pub queries: &'a [Number],
    /// The number of rounds.
    pub rounds: usize,
    /// The longest time of a query.
    pub limit: Duration,
}

/// A query during a run.
struct Measured {
    number: Number,
    rows: Option<usize>,
    /// The executions of each engine.
    executions: Vec<Vec<Execution>>,
}

/// Runs queries in all engines, in turn in each round.
pub fn run(engines: &mut [Box<dyn Engine>], setting: &Setting) -> Result<Report, Failure> {
    let scale = common_scale(engines)?;
    for engine in engines.iter_mut() {
        engine.set_limit(setting.limit)?;
    }
    let new = |number: &Number| Measured { number: *number, rows: None, executions: vec![Vec::new(); engines.len()] };
    let mut queries: Vec<Measured> = setting.queries.iter().map(new).collect();
    let mut differences = Vec::new();
    for round in 0..setting.rounds {
        for measured in &mut queries {
            let answers = run_query(engines, measured, scale, round);
            for text in compared(engines, measured.number, &answers) {
                eprintln!("{text}");
                differences.push(text);
            }
        }
    }
    let result = |measured: &Measured| QueryResult {
        query: measured.number.get(),
        rows: measured.rows,
        engines: measured.executions.iter().map(|executions| Summary::of(executions)).collect(),
    };
    Ok(Report {
        scale,
        rounds: setting.rounds,
        time_limit: setting.limit.as_secs_f64(),
        engines: engines.iter().map(|engine| engine.name().to_string()).collect(),
        peers: (0..engines.len()).filter(|place| engines[*place].is_peer()).collect(),
        queries: queries.iter().map(result).collect(),
        differences,
    })
}

/// The scale of the loaded tables.
pub fn scale(engine: &mut dyn Engine) -> Result<f64, Failure> {
    let suppliers = count(engine, "supplier").map_err(|error| format!("{}: {error}", engine.name()))?;
    Ok(suppliers as f64 / SUPPLIERS)
}

/// The scale that all engines have.
fn common_scale(engines: &mut [Box<dyn Engine>]) -> Result<f64, Failure> {
    let mut common: Option<f64> = None;
    for engine in engines {
        let scale = scale(&mut **engine)?;
        match common {
            Some(common) if common != scale => {
                return Err(format!("{} has tables of scale {scale}, others of {common}", engine.name()).into());
            }
            _ => common = Some(scale),
        }
    }
    common.ok_or_else(|| "no engine".into())
}

/// Runs a query once in each engine, in every second round backwards. An engine that was over the limit or failed is left out.
fn run_query(
    engines: &mut [Box<dyn Engine>],
    measured: &mut Measured,
    scale: f64,
    round: usize,
) -> Vec<Option<Vec<Row>>> {
    let mut answers = vec![None; engines.len()];
    for place in turn(engines.len(), round) {
        let (engine, executions) = (&mut engines[place], &mut measured.executions[place]);
        if executions.iter().any(|execution| !matches!(execution, Execution::Ended(_))) {
            continue;
        }
        let text = measured.number.text(engine.dialect(), scale);
        let begun = Instant::now();
        let result = engine.run(&text);
        let seconds = begun.elapsed().as_secs_f64();
        let label = format!("round {}, Q{}, {}", round + 1, measured.number.get(), engine.name());
        executions.push(match result {
            Ok(rows) => {
                eprintln!("{label}: {seconds:.3} s");
                measured.rows = Some(rows.len());
                answers[place] = Some(rows);
                Execution::Ended(seconds)
            }
            Err(EngineError::OverLimit) => {
                eprintln!("{label}: cancelled after {seconds:.1} s");
                Execution::OverLimit
            }
            Err(EngineError::Other(error)) => {
                eprintln!("{label}: failed: {error}");
                Execution::Failed(error)
            }
        });
    }
    answers
}

/// The order of the engines in a round: each second one is backwards.
fn turn(count: usize, round: usize) -> Vec<usize> {
    let forwards = 0..count;
    if round.is_multiple_of(2) { forwards.collect() } else { forwards.rev().collect() }
}

/// Compares each answer with the last one that there is, and describes the differences.
fn compared(engines: &[Box<dyn Engine>], number: Number, answers: &[Option<Vec<Row>>]) -> Vec<String> {
    let present: Vec<(&str, &Vec<Row>)> =
        engines.iter().zip(answers).filter_map(|(engine, rows)| Some((engine.name(), rows.as_ref()?))).collect();
    let Some(((reference, theirs), others)) = present.split_last() else { return Vec::new() };
    let described = |(name, ours): &(&str, &Vec<Row>)| {
        let found = difference(ours, theirs, number.order())?;
        let [our, their] = found.rows.each_ref().map(|row| shown(row.as_ref()));
        Some(format!("Q{}, {found}:\n  {name}: {our}\n  {reference}: {their}", number.get()))
    };
    others.iter().filter_map(described).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_go_forwards_and_backwards() {
        assert_eq!((turn(3, 0), turn(3, 1)), (vec![0, 1, 2], vec![2, 1, 0]));
    }
}
