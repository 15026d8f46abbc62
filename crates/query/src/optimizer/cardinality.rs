//! How many rows tables and plans are likely to have.

use crate::access::{KeyColumn, Table};
use crate::bind::open_query::slot_of;
use crate::expression::{Expr, Integer};
use crate::optimizer::cost::{KEEP, LOOKUP, PROBE};
use crate::optimizer::rules::index_seek::list_share;
use crate::optimizer::statistics::{Known, Knows, share_of};
use crate::optimizer::variable_values::VariableValues;
use crate::plan::{JoinKind, KeyRange, More, Node, SortKey, Spool};
use pikepole_types::SqlType;

/// Bytes of a page that rows are in, when it is not quite full.
const PAGE_BYTES: f64 = 6_000.0;
/// The shortest rows that a page has room for.
const PAGE_ROWS_MAX: f64 = 1_000.0;
/// What a row takes beside its values.
const ROW_BYTES: f64 = 20.0;
/// A value of a type without a limit, as far as it is in the row.
const LONG_BYTES: f64 = 32.0;
/// The rows of what nothing is known about.
const UNKNOWN_ROWS: f64 = 100.0;

/// What a plan comes to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    /// The rows it gives.
    pub(crate) rows: f64,
    /// What each opening costs, in rows read.
    pub(crate) cost: f64,
    /// What only the first openings cost.
    pub(crate) once: f64,
}

impl Size {
    /// What one opening, the first one, costs in rows read.
    pub(crate) fn total(self) -> f64 {
        self.cost + self.once
    }

    fn rows(rows: f64) -> Size {
        Size { rows, cost: rows, once: 0.0 }
    }
}

/// About how many rows a table has: as statistics say that are good still; else what fits on its pages when values of variable length are
/// half as long as they may be.
pub(crate) fn table_rows(table: &Table) -> f64 {
    let pages = table.engine.pages_guessed().max(1) as f64;
    if let Some(rows) = table.rows_known() {
        // TRUNCATE TABLE is no change that statistics count.
        return (rows as f64).clamp(1.0, pages * PAGE_ROWS_MAX);
    }
    let value = |column: &crate::access::Column| {
        let bytes = match column.ty.max_length() {
            -1 => LONG_BYTES,
            bytes => f64::from(bytes.max(1)),
        };
        // Blanks at the end are not stored.
        let varies = column.ty.is_string() || matches!(column.ty, SqlType::VarBinary(_));
        if varies { bytes / 2.0 } else { bytes }
    };
    let row = table.columns.iter().map(value).sum::<f64>() + ROW_BYTES;
    (pages * (PAGE_BYTES / row)).max(1.0)
}

/// Whether the rows of a source lie in memory, or cost no more than such.
pub(crate) fn is_at_hand(node: &Node) -> bool {
    matches!(node, Node::One | Node::Virtual { .. } | Node::Values { .. } | Node::Kept { .. } | Node::Series(_))
}

/// Statistics of a column.
pub(crate) fn known_of_column(table: &Table, column: usize) -> Option<Known<'_>> {
    let values = table.statistics_of(column)?.values.as_ref()?;
    Known::of(values, table.columns.get(column)?.order())
}

/// The number of groups by columns that statistics know; one without keys.
fn groups_of(input: &Node, keys: &[(SortKey, usize)]) -> Option<f64> {
    let of_key = |(key, _): &(SortKey, usize)| match &key.expr {
        Expr::Slot(slot) => known_in(input, *slot).map(|known| known.distinct()),
        Expr::Integer(integer, _) => match **integer {
            Integer::Slot(slot) => known_in(input, slot).map(|known| known.distinct()),
            _ => None,
        },
        _ => None,
    };
    keys.iter().map(of_key).product()
}

/// Statistics of a slot that a plan fills from a table.
fn known_in(node: &Node, slot: usize) -> Option<Known<'_>> {
    match node {
        Node::Scan(scan) => {
            let column = scan.registers.range().contains(&slot).then(|| slot - scan.registers.first)?;
            known_of_column(&scan.table, column)
        }
        Node::Filter { input, .. } | Node::Compute { input, .. } | Node::Sort { input, .. } => known_in(input, slot),
        Node::Join { left, right, .. } => known_in(left, slot).or_else(|| known_in(right, slot)),
        _ => None,
    }
}

/// The size of a plan, when variables have these values.
pub(crate) fn of(node: &Node, values: &VariableValues) -> Size {
    let of = |node: &Node| of(node, values);
    match node {
        Node::One => Size::rows(1.0),
        Node::Scan(scan) => {
            let KeyRange { prefix, low, high, point, .. } = &scan.range;
            let all = table_rows(&scan.table);
            let of_column =
                |key: &KeyColumn| known_of_column(&scan.table, key.column).map_or(0.1, |known| known.of_any());
            let of_prefix: f64 = scan.key().iter().take(prefix.len()).map(of_column).product();
            let sides = i32::from(low.is_some()) + i32::from(high.is_some());
            let part = all * of_prefix * list_share(&scan.table, &scan.range) * (1.0f64 / 3.0).powi(sides);
            let rows = if *point { 1.0 } else { part.max(1.0) };
            Size { rows, cost: rows + if rows < all { LOOKUP } else { 0.0 }, once: 0.0 }
        }
        Node::Virtual { .. } | Node::Call { .. } | Node::File(_) => Size::rows(UNKNOWN_ROWS),
        Node::Values { rows, .. } => Size::rows(rows.len() as f64),
        Node::Kept { rows, .. } => Size::rows(rows.len() as f64),
        Node::Series(series) => Size::rows(match (&series.start, &series.stop, &series.step) {
            (Integer::Const(Some(start)), Integer::Const(Some(stop)), None) => stop.abs_diff(*start) as f64 + 1.0,
            _ => UNKNOWN_ROWS,
        }),
        Node::Filter { input, predicate } => {
            let kept = share_of(predicate, Knows::new(&|slot| known_in(input, slot), values));
            let input = of(input);
            Size { rows: (input.rows * kept).max(1.0), ..input }
        }
        Node::Compute { input, .. } | Node::Sort { input, .. } | Node::Number { input, .. } => of(input),
        Node::Apply { input, subquery, correlated, .. } => {
            let (input, inner) = (of(input), of(subquery));
            let (each, once) = if *correlated { (inner.cost, inner.once) } else { (0.0, inner.cost + inner.once) };
            Size { rows: input.rows, cost: input.cost + input.rows * each, once: input.once + once }
        }
        Node::Join { left, right, kind, on, .. } => {
            let knows = |slot: usize| known_in(left, slot).or_else(|| known_in(right, slot));
            let kept = on.as_ref().map_or(1.0, |on| share_of(on, Knows::new(&knows, values)));
            let (left, right) = (of(left), of(right));
            let least = if *kind == JoinKind::Left { left.rows } else { 1.0 };
            let rows = (left.rows * right.rows * kept).max(least);
            Size { rows, cost: left.cost + left.rows * right.cost, once: left.once + right.once }
        }
        Node::Group { input, keys, .. } => {
            let groups = groups_of(input, keys);
            let input = of(input);
            let most = (input.rows / if groups.is_some() { 1.0 } else { 10.0 }).max(1.0);
            Size { rows: groups.map_or(most, |groups| groups.min(most)), ..input }
        }
        Node::Top { input, count, .. } => {
            let input = of(input);
            match count {
                Some(Integer::Const(Some(count))) => Size { rows: input.rows.min(*count as f64).max(1.0), ..input },
                _ => input,
            }
        }
        Node::Concat { inputs, .. } => {
            let sum = |a: Size, b: Size| Size { rows: a.rows + b.rows, cost: a.cost + b.cost, once: a.once + b.once };
            inputs.iter().map(|(input, _)| of(input)).fold(Size::rows(0.0), sum)
        }
        Node::More(more) => further(more, values),
    }
}

/// The rows of a spool that a key finds: where it is known how many values the key has, what is left of those of each. Most joins are by a
/// key of one side, so that otherwise one is taken to be found.
fn found_by(spool: &Spool, rows: f64) -> f64 {
    let distinct = match spool.keys.as_slice() {
        [key] => slot_of(&key.inner).and_then(|slot| values_in(&spool.input, slot)),
        _ => None,
    };
    distinct.map_or(1.0, |distinct| rows / distinct)
}

/// The number of values of a slot that a plan fills from a table, in all of the table.
pub(crate) fn values_in(node: &Node, slot: usize) -> Option<f64> {
    match node {
        Node::Scan(scan) => {
            let column = scan.registers.range().contains(&slot).then(|| slot - scan.registers.first)?;
            let known = known_of_column(&scan.table, column).map(|known| known.distinct());
            known.or_else(|| scan.table.is_key(column).then(|| table_rows(&scan.table)))
        }
        Node::Filter { input, .. } | Node::Compute { input, .. } => values_in(input, slot),
        _ => None,
    }
}

fn further(more: &More, values: &VariableValues) -> Size {
    let of = |node: &Node| of(node, values);
    match more {
        // Most joins are by a key of one side: one row is found.
        More::Spool(spool) => {
            let input = of(&spool.input);
            let once = input.once + input.cost * KEEP;
            match spool.keys.is_empty() {
                true => Size { rows: input.rows, cost: input.rows, once },
                false => Size { rows: found_by(spool, input.rows), cost: PROBE, once },
            }
        }
        More::Full(join) => {
            let (left, right) = (of(&join.left), of(&join.right));
            let cost = left.cost + right.cost * KEEP;
            Size { rows: left.rows + right.rows, cost, once: left.once + right.once }
        }
        More::Top(top) => of(&top.input),
        More::Expand(expand) => {
            let input = of(&expand.input);
            Size { rows: input.rows * expand.sets.len() as f64, ..input }
        }
        More::Windows(windows) => of(&windows.input),
        More::Common(common) => of(&common.input),
        More::Recursive(_) | More::OpenJson(_) | More::Nodes(_) | More::Split(_) => Size::rows(UNKNOWN_ROWS),
        More::Next(_) => Size::rows(1.0),
        More::Document(document) => Size { rows: 1.0, ..of(&document.input) },
    }
}
