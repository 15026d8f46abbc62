//! Groups that are made of finer ones: grouping sets, and aggregates of DISTINCT values.
//!
//! ```text
//!   GROUP BY ROLLUP (a, b)                 rows ──► groups by (a, b) ──┬──► set 0: (a, b)
//!                                                                      ├──► set 1: (a)      states of groups are merged
//!                                                                      └──► set 2: ()
//!   COUNT(DISTINCT x), SUM(y) GROUP BY a   rows ──► groups by (a, x) ─────► groups by a     each x is counted once, sums are merged
//! ```
//! (Gray et al., "Data cube: a relational aggregation operator generalizing group-by, cross-tab, and sub-totals", 1996, where functions
//! whose parts can be merged are called distributive and algebraic.) There are fewer groups than rows, and workers make the finer ones.

use super::{Keys, Partial, can_share};
use crate::access::{Pace, Stop};
use crate::bind::open_query::slot_of;
use crate::executor::Run;
use crate::executor::batch::evaluate::evaluate;
use crate::executor::batch::{BATCH_ROWS, Batch, Vector};
use crate::executor::spill::Charge;
use crate::expression::{Expr, Fault};
use crate::plan::{Aggregate, Expand, More, Node, SortKey};
use pikepole_types::Value;

/// The finer groups that others are made of.
pub(super) struct Finer {
    pub(super) keys: Box<Keys>,
    /// The aggregates whose states are merged.
    pub(super) aggregates: Box<[Aggregate]>,
}

impl Finer {
    /// The finer groups of grouping sets or DISTINCT values. None: workers cannot make them.
    pub(super) fn of(input: &Node, keys: &Keys, aggregates: &[Aggregate]) -> Option<Finer> {
        let finer = match (expand_of(input), aggregates.iter().any(|aggregate| aggregate.distinct)) {
            (Some(expand), false) => Finer { keys: keys_of_sets(expand, keys), aggregates: aggregates.into() },
            (None, true) => {
                let (distinct, rest): (Vec<_>, Vec<_>) =
                    aggregates.iter().cloned().partition(|aggregate| aggregate.distinct);
                let key = the_same_value(&distinct)?;
                Finer { keys: keys.iter().cloned().chain([key]).collect(), aggregates: rest.into() }
            }
            _ => return None,
        };
        can_share(&finer.keys, &finer.aggregates).then_some(finer)
    }
}

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
fn keys_of_sets(expand: &Expand, keys: &Keys) -> Box<Keys> {
    let values = keys.iter().skip(1).step_by(2);
    let key = |((expr, value, _), (above, _)): (&(Expr, usize, usize), &(SortKey, usize))| {
        (SortKey { collation: above.collation, ..SortKey::plain(expr.clone()) }, *value)
    };
    expand.keys.iter().zip(values).map(key).collect()
}

/// The value that aggregates of DISTINCT values are all of, as a grouping value.
fn the_same_value(distinct: &[Aggregate]) -> Option<(SortKey, usize)> {
    let [first, rest @ ..] = distinct else { return None };
    let expr = first.input.clone()?;
    let slot = slot_of(&expr);
    let is_it = |other: &Aggregate| slot.is_some() && other.input.as_ref().and_then(slot_of) == slot;
    // Sums of some types depend on the order in which values come.
    let plain: Vec<Aggregate> =
        distinct.iter().map(|aggregate| Aggregate { distinct: false, ..aggregate.clone() }).collect();
    let is_same = rest.iter().all(is_it) && can_share(&[], &plain);
    is_same.then(|| (SortKey { collation: first.collation, ..SortKey::plain(expr) }, first.slot))
}

/// Groups on their way.
pub(super) struct Regrouping {
    finer: Partial,
    /// The grouping values of the finer groups.
    columns: Vec<Vector>,
    /// The groups so far.
    made: Partial,
    /// The grouping set at hand, and how many of the finer groups it has.
    set: usize,
    taken: usize,
}

impl Regrouping {
    pub(super) fn new(finer: Partial, (keys, aggregates): (&Keys, &[Aggregate])) -> Result<Regrouping, Fault> {
        let columns = finer.keys.vectors();
        let mut made = Partial::new(keys, aggregates)?;
        made.null_eliminated = finer.null_eliminated;
        Ok(Regrouping { finer, columns, made, set: 0, taken: 0 })
    }

    /// Goes on until all groups are made. False: there is no room for them.
    pub(super) fn fill(
        &mut self,
        expand: Option<&Expand>,
        (keys, aggregates): (&Keys, &[Aggregate]),
        charge: &mut Charge,
        run: &mut Run<'_>,
    ) -> Result<bool, Stop> {
        let groups = self.finer.keys.len();
        while self.set < expand.map_or(1, |expand| expand.sets.len()) {
            charge.set(self.finer.bytes() + self.made.bytes());
            if !charge.settle(run)? {
                return Ok(false);
            }
            Pace::page()?;
            let rows = self.taken..groups.min(self.taken + BATCH_ROWS);
            let (end, is_last) = (rows.end, rows.end == groups);
            match expand {
                Some(expand) => {
                    // There is a set without values also where there is no row.
                    let is_of_nothing = groups == 0 && !expand.sets[self.set].contains(&true);
                    let batch = self.batch(expand, if is_of_nothing { 0..1 } else { rows.clone() });
                    let of_key = |(key, _): &(SortKey, usize)| evaluate(&key.expr, &batch, run);
                    let values = keys.iter().map(of_key).collect::<Result<Vec<_>, _>>()?;
                    self.take((&values, batch.rows), rows, aggregates)?;
                }
                None => {
                    let places = places(&rows);
                    let values: Vec<Vector> =
                        self.columns[..keys.len()].iter().map(|column| column.take(&places)).collect();
                    self.take((&values, rows.len()), rows, aggregates)?;
                }
            }
            self.taken = end;
            if is_last {
                (self.set, self.taken) = (self.set + 1, 0);
            }
        }
        Ok(true)
    }

    /// All groups.
    pub(super) fn finish(self) -> Partial {
        self.made
    }

    /// A row of the set at hand for each of the finer groups.
    fn batch(&self, expand: &Expand, rows: std::ops::Range<usize>) -> Batch {
        let places = places(&rows);
        let mut batch = Batch::new(rows.len());
        batch.set(expand.number, Vector::Same(Value::Int(self.set as i32)));
        for ((column, has), (_, value, left_out)) in self.columns.iter().zip(&expand.sets[self.set]).zip(&expand.keys) {
            let is_there = *has && !self.finer.keys.is_empty();
            batch.set(*value, if is_there { column.take(&places) } else { Vector::Same(Value::Null) });
            batch.set(*left_out, Vector::Same(Value::TinyInt(u8::from(!has))));
        }
        batch
    }

    /// Adds some of the finer groups to those of these grouping values.
    fn take(
        &mut self,
        (values, count): (&[Vector], usize),
        rows: std::ops::Range<usize>,
        aggregates: &[Aggregate],
    ) -> Result<(), Fault> {
        let Partial { keys: known, states, places: found, null_eliminated, .. } = &mut self.made;
        if values.is_empty() {
            // The only group is there.
            found.clear();
            found.resize(rows.len(), 0);
        } else {
            known.find_first(values, count, self.finer.keys.firsts(rows.clone()), found);
        }
        let mut finer = self.finer.states.iter();
        for (own, aggregate) in states.iter_mut().zip(aggregates) {
            own.resize(known.len());
            if aggregate.distinct {
                if let Some(column) = self.columns.last() {
                    *null_eliminated |= own.add(&column.take(&places(&rows)), &found[..rows.len()])?;
                }
            } else if let Some(finer) = finer.next() {
                own.merge(finer, rows.start, &found[..rows.len()])?;
            }
        }
        Ok(())
    }
}

fn places(rows: &std::ops::Range<usize>) -> Vec<u32> {
    (rows.start as u32..rows.end as u32).collect()
}
