//! ROW_NUMBER, RANK and DENSE_RANK over rows that come sorted.

use super::Run;
use super::cursor::Cursor;
use crate::access::Stop;
use crate::expression::Fault;
use crate::plan::{Node, Numbering, SortKey};
use pikepole_types::Value;

/// The state of a [`Node::Number`].
pub(crate) struct NumberCursor {
    input: Cursor,
    counts: Counts,
}

/// Where the numbering has come to.
#[derive(Default)]
struct Counts {
    /// Partition and order of the last row; empty before the first.
    last: Vec<Value>,
    key: Vec<Value>,
    row: i64,
    rank: i64,
    dense_rank: i64,
}

impl NumberCursor {
    pub(crate) fn new(input: Cursor) -> NumberCursor {
        NumberCursor { input, counts: Counts::default() }
    }

    pub(crate) fn input_cursor(&mut self) -> &mut Cursor {
        &mut self.input
    }

    pub(crate) fn open(&mut self) {
        self.input.open();
        self.counts.last.clear();
        (self.counts.row, self.counts.rank, self.counts.dense_rank) = (0, 0, 0);
    }

    pub(crate) fn next(&mut self, node: &Node, run: &mut Run<'_>) -> Result<bool, Stop> {
        let Node::Number { input, partition, order, functions } = node else {
            return Ok(false);
        };
        let counts = &mut self.counts;
        self.input.give(input, run, |run| {
            counts.count(partition, order, run)?;
            for (function, slot) in functions {
                run.slots[*slot] = Value::BigInt(match function {
                    Numbering::Row => counts.row,
                    Numbering::Rank => counts.rank,
                    Numbering::DenseRank => counts.dense_rank,
                });
            }
            Ok(true)
        })
    }
}

impl Counts {
    fn count(&mut self, partition: &[SortKey], order_by: &[SortKey], run: &mut Run<'_>) -> Result<(), Fault> {
        let keys = partition.len() + order_by.len();
        self.key.resize(keys, Value::Null);
        for (key, value) in partition.iter().chain(order_by).zip(&mut self.key) {
            key.expr.eval_into(&mut run.env(), value)?;
        }
        let is_same = |keys: &[SortKey], part: std::ops::Range<usize>| {
            let last = self.last.get(part.clone()).unwrap_or_default();
            SortKey::same(keys, last, &self.key[part])
        };
        let begins = self.row == 0 || !is_same(partition, 0..partition.len());
        let ties = is_same(order_by, partition.len()..keys);
        if begins {
            (self.row, self.rank, self.dense_rank) = (0, 0, 0);
        }
        self.row += 1;
        if begins || !ties {
            self.rank = self.row;
            self.dense_rank += 1;
        }
        std::mem::swap(&mut self.last, &mut self.key);
        Ok(())
    }
}
