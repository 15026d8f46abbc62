//! Grouping sets, made of the groups by all grouping values.
//!
//! ```text
//!   GROUP BY ROLLUP (a, b)    rows ──► groups by (a, b) ──┬──► set 0: (a, b)
//!                                                         ├──► set 1: (a)       states of groups are merged
//!                                                         └──► set 2: ()
//! ```
//! (Gray et al., "Data cube: a relational aggregation operator generalizing group-by, cross-tab, and sub-totals", 1996, where functions
//! whose parts can be merged are called distributive and algebraic.) There are fewer groups than rows, and each row is looked at once.

use super::{Keys, Partial};
use crate::access::{Pace, Stop};
use crate::executor::Run;
use crate::executor::batch::evaluate::evaluate;
use crate::executor::batch::{BATCH_ROWS, Batch, Vector};
use crate::executor::spill::Charge;
use crate::expression::Fault;
use crate::plan::{Aggregate, Expand, More, Node, SortKey};
use pikepole_types::Value;

/// The grouping sets below a group's plan.
pub(super) fn expand_of(node: &Node) -> Option<&Expand> {
    match node {
        Node::More(more) => match more.as_ref() {
            More::Expand(expand) => Some(expand),
            _ => None,
        },
        _ => None,
    }
}

/// All grouping values of sets whose groups have these `keys`: the number of the set, and then each value and whether it is left out.
pub(super) fn finest_keys(expand: &Expand, keys: &Keys) -> Box<Keys> {
    let values = keys.iter().skip(1).step_by(2);
    let key = |((expr, value, _), (above, _)): (&(_, usize, usize), &(SortKey, usize))| {
        (SortKey { collation: above.collation, ..SortKey::plain(Clone::clone(expr)) }, *value)
    };
    expand.keys.iter().zip(values).map(key).collect()
}

/// Sets on their way.
pub(super) struct Sets {
    finest: Partial,
    /// The grouping values of the finest groups.
    columns: Vec<Vector>,
    /// The groups of the sets so far.
    made: Partial,
    /// The set at hand, and how many of the finest groups it has.
    set: usize,
    taken: usize,
}

impl Sets {
    pub(super) fn new(finest: Partial, (keys, aggregates): (&Keys, &[Aggregate])) -> Result<Sets, Fault> {
        let columns = finest.keys.vectors();
        let mut made = Partial::new(keys, aggregates)?;
        made.null_eliminated = finest.null_eliminated;
        Ok(Sets { finest, columns, made, set: 0, taken: 0 })
    }

    /// Goes on until all sets are made. False: there is no room for them.
    pub(super) fn fill(
        &mut self,
        expand: &Expand,
        keys: &Keys,
        charge: &mut Charge,
        run: &mut Run<'_>,
    ) -> Result<bool, Stop> {
        let groups = self.finest.keys.len();
        while let Some(set) = expand.sets.get(self.set) {
            charge.set(self.finest.bytes() + self.made.bytes());
            if !charge.settle(run)? {
                return Ok(false);
            }
            Pace::page()?;
            let rows = self.taken..groups.min(self.taken + BATCH_ROWS);
            let is_last = rows.end == groups;
            // There is a set without values also where there is no row.
            let is_of_nothing = groups == 0 && !set.contains(&true);
            let batch = self.batch(expand, set, if is_of_nothing { 0..1 } else { rows.clone() });
            self.take(&batch, rows, keys, run)?;
            self.taken += batch.rows;
            if is_last {
                (self.set, self.taken) = (self.set + 1, 0);
            }
        }
        Ok(true)
    }

    /// The groups of all sets.
    pub(super) fn finish(self) -> Partial {
        self.made
    }

    /// What the rows of a set would be, had each of the finest groups one.
    fn batch(&self, expand: &Expand, set: &[bool], rows: std::ops::Range<usize>) -> Batch {
        let places: Vec<u32> = (rows.start as u32..rows.end as u32).collect();
        let mut batch = Batch::new(rows.len());
        batch.set(expand.number, Vector::Same(Value::Int(self.set as i32)));
        for ((column, has), (_, value, left_out)) in self.columns.iter().zip(set).zip(&expand.keys) {
            batch.set(*value, if *has { column.take(&places) } else { Vector::Same(Value::Null) });
            batch.set(*left_out, Vector::Same(Value::TinyInt(u8::from(!has))));
        }
        batch
    }

    /// Adds the states of some of the finest groups to the groups of a set.
    fn take(
        &mut self,
        batch: &Batch,
        rows: std::ops::Range<usize>,
        keys: &Keys,
        run: &mut Run<'_>,
    ) -> Result<(), Fault> {
        let values = keys.iter().map(|(key, _)| evaluate(&key.expr, batch, run)).collect::<Result<Vec<_>, _>>()?;
        let Partial { keys: known, states, places, .. } = &mut self.made;
        known.find_first(&values, batch.rows, self.finest.keys.firsts(rows.clone()), places);
        for (own, finest) in states.iter_mut().zip(&self.finest.states) {
            own.resize(known.len());
            own.merge(finest, rows.start, &places[..rows.len()])?;
        }
        Ok(())
    }
}
