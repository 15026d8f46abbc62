//! What a filtered index says of its rows: each of its tests is about one column.
//!
//! Constants are kept as the bytes that the column's values have in a key, so that comparing is comparing bytes, and so that what a query
//! wants of a column can be held against what the index has.

use pikepole_types::{ColumnType, KeyColumn, RowError, RowLayout, Value};
use serde::{Deserialize, Serialize};

/// Comparison operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FilterOp {
    /// `=`
    Equal,
    /// `<>`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

impl FilterOp {
    fn holds(self, order: std::cmp::Ordering) -> bool {
        match self {
            FilterOp::Equal => order.is_eq(),
            FilterOp::NotEqual => order.is_ne(),
            FilterOp::Less => order.is_lt(),
            FilterOp::LessOrEqual => order.is_le(),
            FilterOp::Greater => order.is_gt(),
            FilterOp::GreaterOrEqual => order.is_ge(),
        }
    }
}

/// Which values of a column pass. NULL passes [`Passes::Null`] alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Passes {
    /// NULL.
    Null,
    /// What compares so with a constant.
    Compared(FilterOp, Vec<u8>),
    /// What equals one of these constants.
    Among(Vec<Vec<u8>>),
}

impl Passes {
    /// Whether a value with these bytes passes.
    fn takes(&self, value: &[u8]) -> bool {
        match self {
            Passes::Null => false,
            Passes::Compared(op, constant) => op.holds(value.cmp(constant)),
            Passes::Among(constants) => constants.iter().any(|constant| constant == value),
        }
    }

    /// Whether all values that pass `other` pass this too. That it does not say so means nothing.
    pub fn takes_all_of(&self, other: &Passes) -> bool {
        use FilterOp::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
        match (self, other) {
            (Passes::Null, Passes::Null) => true,
            (_, Passes::Compared(Equal, constant)) => self.takes(constant),
            (_, Passes::Among(constants)) => constants.iter().all(|constant| self.takes(constant)),
            (Passes::Compared(own, bound), Passes::Compared(op, constant)) => match (own, op) {
                // Whatever is beyond the constant is beyond the bound; the constant itself must pass, or not be meant.
                (Greater | GreaterOrEqual | NotEqual, Greater) => constant >= bound,
                (Greater | NotEqual, GreaterOrEqual) => constant > bound,
                (GreaterOrEqual, GreaterOrEqual) => constant >= bound,
                (Less | LessOrEqual | NotEqual, Less) => constant <= bound,
                (Less | NotEqual, LessOrEqual) => constant < bound,
                (LessOrEqual, LessOrEqual) => constant <= bound,
                (NotEqual, NotEqual) => constant == bound,
                _ => false,
            },
            _ => false,
        }
    }
}

/// A test of one column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilterTest {
    /// The column, by its place in the table.
    pub column: usize,
    /// What of it passes.
    pub passes: Passes,
}

/// The bytes that values of a column compare by.
#[derive(Debug, Clone)]
pub(crate) struct ConstantLayout(RowLayout);

impl ConstantLayout {
    pub fn new(column: ColumnType) -> ConstantLayout {
        let column = ColumnType { nullable: false, ..column };
        ConstantLayout(RowLayout::new(&[column], &[KeyColumn::ascending(0)]))
    }

    /// The bytes of a value, which is of the column's type and not NULL.
    pub fn bytes(&self, value: &Value) -> Result<Vec<u8>, RowError> {
        let mut bytes = Vec::new();
        self.0.encode_key_prefix([value], &mut bytes)?;
        Ok(bytes)
    }
}

/// A test as it is asked of rows.
#[derive(Debug, Clone)]
pub(crate) struct RowTest {
    pub column: usize,
    passes: Passes,
    layout: ConstantLayout,
}

impl RowTest {
    pub fn new(test: &FilterTest, column: ColumnType) -> RowTest {
        RowTest { column: test.column, passes: test.passes.clone(), layout: ConstantLayout::new(column) }
    }

    /// Whether a value of the column passes.
    pub fn holds(&self, value: &Value) -> bool {
        match &self.passes {
            Passes::Null => value.is_null(),
            passes => !value.is_null() && self.layout.bytes(value).is_ok_and(|bytes| passes.takes(&bytes)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said to follow from a condition does, for all values; and enough is said.
    #[test]
    fn what_is_implied_holds_for_every_value() {
        use FilterOp::*;
        let ops = [Equal, NotEqual, Less, LessOrEqual, Greater, GreaterOrEqual];
        let compared = ops.iter().flat_map(|op| (2u8..6).map(|constant| Passes::Compared(*op, vec![constant])));
        let among = [vec![], vec![2u8], vec![2, 3], vec![3, 5], vec![2, 3, 4, 5]];
        let among = among.into_iter().map(|list| Passes::Among(list.into_iter().map(|one| vec![one]).collect()));
        let all: Vec<Passes> = compared.chain(among).chain([Passes::Null]).collect();
        let mut implied = 0;
        for wide in &all {
            for narrow in &all {
                if !wide.takes_all_of(narrow) {
                    continue;
                }
                implied += 1;
                assert!(!matches!(narrow, Passes::Null) || *wide == Passes::Null, "{wide:?} takes NULL of {narrow:?}");
                let wrong = (0u8..9).find(|value| narrow.takes(&[*value]) && !wide.takes(&[*value]));
                assert_eq!(wrong, None, "{wide:?} does not take all of {narrow:?}");
            }
        }
        assert!(implied > 150, "{implied}");
    }
}
