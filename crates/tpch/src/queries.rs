//! The 22 queries with the parameters of the standard's query validation.

use std::collections::BTreeSet;
use std::str::FromStr;

/// The language of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Pikepole's.
    Tsql,
    /// The standard's, as PostgreSQL and DuckDB have it.
    Ansi,
}

/// The number of queries.
pub const COUNT: usize = 22;

/// A query.
struct Query {
    tsql: &'static str,
    ansi: &'static str,
    /// The columns of its result that its ORDER BY names, counted from 0.
    order: &'static [usize],
}

macro_rules! queries {
    ($($file:literal: $order:expr;)*) => {
        [$(Query {
            tsql: include_str!(concat!("../queries/tsql/", $file, ".sql")),
            ansi: include_str!(concat!("../queries/ansi/", $file, ".sql")),
            order: &$order,
        }),*]
    };
}

const QUERIES: [Query; COUNT] = queries! {
    "q01": [0, 1];
    "q02": [0, 2, 1, 3];
    "q03": [1, 2];
    "q04": [0];
    "q05": [1];
    "q06": [];
    "q07": [0, 1, 2];
    "q08": [0];
    "q09": [0, 1];
    "q10": [2];
    "q11": [1];
    "q12": [0];
    "q13": [1, 0];
    "q14": [];
    "q15": [0];
    "q16": [3, 0, 1, 2];
    "q17": [];
    "q18": [4, 3];
    "q19": [];
    "q20": [0];
    "q21": [1, 0];
    "q22": [0];
};

/// The query whose fraction of all stock depends on the scale, and the fraction at scale 1.
const FRACTION_QUERY: usize = 11;
const FRACTION: &str = "0.0001";

/// The number of a query, from 1 to 22.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Number(usize);

impl Number {
    /// The number for people.
    pub fn get(self) -> usize {
        self.0
    }

    /// The columns of the result that ORDER BY names, counted from 0.
    pub fn order(self) -> &'static [usize] {
        QUERIES[self.0 - 1].order
    }

    /// The text for tables of this scale.
    pub fn text(self, dialect: Dialect, scale: f64) -> String {
        let query = &QUERIES[self.0 - 1];
        let text = match dialect {
            Dialect::Tsql => query.tsql,
            Dialect::Ansi => query.ansi,
        };
        match self.0 {
            FRACTION_QUERY => text.replace(&format!("* {FRACTION}"), &format!("* {}", fraction(scale))),
            _ => text.to_string(),
        }
    }
}

/// The fraction of query 11 at this scale.
fn fraction(scale: f64) -> String {
    format!("{:.10}", 0.0001 / scale).trim_end_matches('0').to_string()
}

impl FromStr for Number {
    type Err = String;

    fn from_str(text: &str) -> Result<Number, String> {
        let number = text.trim().parse().ok().filter(|number| (1..=COUNT).contains(number));
        number.map(Number).ok_or_else(|| format!("`{text}` is no query from 1 to {COUNT}"))
    }
}

/// Some of the queries, in ascending order: numbers and ranges, such as `1,3,5-9`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection(Vec<Number>);

impl Selection {
    /// The numbers.
    pub fn numbers(&self) -> &[Number] {
        &self.0
    }
}

impl FromStr for Selection {
    type Err = String;

    fn from_str(text: &str) -> Result<Selection, String> {
        let mut numbers = BTreeSet::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last): (Number, Number) = (first.parse()?, last.parse()?);
            if first > last {
                return Err(format!("`{part}` is an empty range"));
            }
            numbers.extend((first.0..=last.0).map(Number));
        }
        Ok(Selection(numbers.into_iter().collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(text: &str) -> Result<Vec<usize>, String> {
        text.parse().map(|Selection(numbers)| numbers.into_iter().map(Number::get).collect())
    }

    #[test]
    fn numbers_and_ranges_are_selected_once() {
        assert_eq!(numbers("1-22").map(|all| all.len()), Ok(22));
        assert_eq!(numbers("9,3, 5-7,6"), Ok(vec![3, 5, 6, 7, 9]));
        for wrong in ["", "0", "23", "1-", "-3", "7-5", "1,,2", "one", "1-2-3"] {
            assert!(numbers(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_fraction_follows_the_scale() {
        let text = |scale| Number(11).text(Dialect::Ansi, scale);
        assert!(
            text(1.0).contains("* 0.0001\n") && text(0.1).contains("* 0.001\n") && text(10.0).contains("* 0.00001\n")
        );
    }

    #[test]
    fn queries_are_of_their_dialect() {
        for number in (1..=COUNT).map(Number) {
            let (tsql, ansi) = (number.text(Dialect::Tsql, 1.0), number.text(Dialect::Ansi, 1.0));
            assert!(!tsql.contains("LIMIT") && !tsql.contains("INTERVAL") && !tsql.contains("EXTRACT"), "{tsql}");
            assert!(!ansi.contains("TOP") && !ansi.contains("DATEADD") && !ansi.contains("YEAR("), "{ansi}");
            assert_eq!(number.order().is_empty(), !ansi.contains("ORDER BY"), "{ansi}");
        }
    }
}
