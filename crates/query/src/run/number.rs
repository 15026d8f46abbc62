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
    /// Partition and order of the last row; empty before the first.
    last: Vec<Value>,
    key: Vec<Value>,
    row: i64,
    rank: i64,
    dense_rank: i64,
}

impl NumberCursor {
    pub(crate) fn new(input: Cursor) -> NumberCursor {
        NumberCursor { input, last: Vec::new(), key: Vec::new(), row: 0, rank: 0, dense_rank: 0 }
    }

    pub(crate) fn input_cursor(&mut self) -> &mut Cursor {
        &mut self.input
    }

    pub(crate) fn open(&mut self) {
        self.input.open();
        self.last.clear();
        (self.row, self.rank, self.dense_rank) = (0, 0, 0);
    }

    pub(crate) fn next(&mut self, node: &Node, run: &mut Run<'_>) -> Result<bool, Stop> {
        let Node::Number { input, partition, order, functions } = node else {
            return Ok(false);
        };
        if !self.input.next(input, run)? {
            return Ok(false);
        }
        self.count(partition, order, run)?;
        for (function, slot) in functions {
            run.slots[*slot] = Value::BigInt(match function {
                Numbering::Row => self.row,
                Numbering::Rank => self.rank,
                Numbering::DenseRank => self.dense_rank,
            });
        }
        Ok(true)
    }

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
