//! The comparison of two answers to a query.
//!
//! Rows stand in the order of the columns that ORDER BY names. Rows that are equal in these may stand in any order, so they are sorted
//! before they are compared. A query without ORDER BY is one such run of rows.

use crate::engine::Row;
use std::cmp::Ordering;
use std::fmt;

/// The relative difference that is allowed between two numbers with digits behind the point.
const RELATIVE: f64 = 1e-6;

/// The first difference between two answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The row, counted from 1.
    pub number: usize,
    /// The row of each answer, where it has one.
    pub rows: [Option<Row>; 2],
    /// The rows of each answer.
    pub counts: [usize; 2],
}

/// Compares two answers, whose rows stand in the order of these columns.
pub fn difference(ours: &[Row], theirs: &[Row], order: &[usize]) -> Option<Difference> {
    let counts = [ours.len(), theirs.len()];
    let (ours, theirs) = (arranged(ours, order), arranged(theirs, order));
    let differs = |place: &usize| match (ours.get(*place), theirs.get(*place)) {
        (Some(our), Some(their)) => !are_alike(our, their),
        _ => true,
    };
    let place = (0..ours.len().max(theirs.len())).find(differs)?;
    let rows = [ours.get(place).cloned(), theirs.get(place).cloned()];
    Some(Difference { number: place + 1, rows, counts })
}

/// The rows, each run of rows that are equal in the columns of the order sorted.
fn arranged(rows: &[Row], order: &[usize]) -> Vec<Row> {
    let mut rows = rows.to_vec();
    let is_tied = |a: &Row, b: &Row| order.iter().all(|column| a.get(*column) == b.get(*column));
    rows.chunk_by_mut(is_tied).for_each(|run| run.sort_by(compare));
    rows
}

/// A total order of rows: numbers by their value, before texts and NULL.
fn compare(a: &Row, b: &Row) -> Ordering {
    let fields = a.iter().zip(b).map(|(a, b)| match (a.as_deref().and_then(number), b.as_deref().and_then(number)) {
        (Some(a), Some(b)) => a.value.total_cmp(&b.value),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => a.cmp(b),
    });
    fields.fold(Ordering::Equal, Ordering::then)
}

fn are_alike(a: &Row, b: &Row) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_alike(a.as_deref(), b.as_deref()))
}

/// True for two fields of the same value. Blanks behind a text do not count, because `char` pads with them.
fn is_alike(a: Option<&str>, b: Option<&str>) -> bool {
    let (a, b) = match (a, b) {
        (Some(a), Some(b)) => (a.trim_end(), b.trim_end()),
        (a, b) => return a == b,
    };
    a == b || number(a).zip(number(b)).is_some_and(|(a, b)| a.is_near(b))
}

/// A number in an answer.
#[derive(Debug, Clone, Copy)]
struct Number {
    value: f64,
    /// Digits behind the point; `None` for a number in scientific notation.
    scale: Option<i32>,
}

impl Number {
    /// True for numbers that differ by no more than rounding: in the last place of that with fewer digits, or by [`RELATIVE`]. Two whole
    /// numbers are never near each other.
    fn is_near(self, other: Number) -> bool {
        let last_place = match (self.scale, other.scale) {
            (Some(0), Some(0)) => return self.value == other.value,
            (Some(a), Some(b)) if a.min(b) > 0 => 10_f64.powi(-a.min(b)),
            _ => 0.0,
        };
        let difference = (self.value - other.value).abs();
        // A difference of one in the last place comes out a little larger when it is computed.
        difference <= last_place * (1.0 + 1e-9) || difference <= RELATIVE * self.value.abs().max(other.value.abs())
    }
}

fn number(text: &str) -> Option<Number> {
    let value: f64 = text.trim_end().parse().ok().filter(|value: &f64| value.is_finite())?;
    let scale = match text.trim_end().split_once('.') {
        _ if text.contains(['e', 'E']) => None,
        Some((_, digits)) => i32::try_from(digits.len()).ok(),
        None => Some(0),
    };
    Some(Number { value, scale })
}

/// A row for people.
pub fn shown(row: Option<&Row>) -> String {
    let field = |field: &Option<String>| field.as_deref().map_or("NULL", str::trim_end).to_string();
    row.map_or_else(|| "no row".to_string(), |row| row.iter().map(field).collect::<Vec<_>>().join("|"))
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [ours, theirs] = self.counts;
        write!(f, "row {} of {ours} and {theirs}", self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Vec<Row> {
        let field = |field: &str| (field != "NULL").then(|| field.to_string());
        text.lines().map(|line| line.split('|').map(field).collect()).collect()
    }

    fn first(ours: &str, theirs: &str, order: &[usize]) -> Option<usize> {
        difference(&rows(ours), &rows(theirs), order).map(|difference| difference.number)
    }

    fn alike(a: &str, b: &str) -> bool {
        is_alike(Some(a), Some(b))
    }

    #[test]
    fn an_order_counts_as_far_as_it_is_fixed() {
        assert_eq!(first("a|1\nb|2", "b|2\na|1", &[0]), Some(1));
        assert_eq!(first("a|1\nb|2", "b|2\na|1", &[]), None);
        assert_eq!(first("9|a\n7|c\n7|b", "9|a\n7|b\n7|c", &[0]), None);
        assert_eq!(first("9|a\n7|c\n7|b", "7|b\n7|c\n9|a", &[0]), Some(1));
    }

    #[test]
    fn runs_are_sorted_by_numbers() {
        assert_eq!(first("x|9.50\nx|10.5", "x|10.50\nx|9.5", &[0]), None);
    }

    #[test]
    fn a_missing_row_is_a_difference() {
        let found = difference(&rows("a"), &rows("a\nb"), &[0]).expect("a difference");
        assert_eq!((found.number, found.counts), (2, [1, 2]));
        assert_eq!((shown(found.rows[0].as_ref()), shown(found.rows[1].as_ref())), ("no row".into(), "b".into()));
        assert_eq!(found.to_string(), "row 2 of 1 and 2");
    }

    #[test]
    fn texts_are_compared_without_blanks_behind_them() {
        assert!(alike("BRAZIL   ", "BRAZIL") && !alike("BRAZIL", "Brazil") && !alike(" a", "a"));
        assert!(!is_alike(None, Some("")) && is_alike(None, None));
    }

    #[test]
    fn decimals_may_differ_by_rounding() {
        assert!(alike("25.522005", "25.5220058532573370") && alike("0.034435", "0.03443589040665483"));
        assert!(alike("123141078.23", "123141078.2283") && alike("38", "38.000000"));
        assert!(alike("1e-5", "0.00001") && alike("-0.050000", "-0.05"));
        assert!(!alike("0.034435", "0.034445") && !alike("38", "39.0") && !alike("10.5", "-10.5"));
    }

    #[test]
    fn whole_numbers_are_exact() {
        assert!(!alike("1478493", "1478494") && alike("1478493", "1478493"));
    }

    #[test]
    fn a_row_may_have_too_many_fields() {
        assert_eq!(first("a|b", "a", &[0]), Some(1));
    }
}
