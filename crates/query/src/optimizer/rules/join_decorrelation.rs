//! Subqueries that join tables for each row outside, as lookups in rows that are joined once.
//!
//! ```text
//!   WHERE EXISTS (SELECT * FROM sales s JOIN dates d ON s.date = d.id WHERE d.year = 2001 AND s.customer = c.id)
//!
//!   as written    for each c:  the sales that a hash table has of its id, each joined to its date
//!   instead       the sales of 2001, once, in a hash table by customer; for each c, a look into it
//! ```
//! (Dayal, "Of nests and trees", 1987.) Where no index finds the rows of the row outside, a table of the subquery is read whole in either
//! case. Joined first, its rows come in batches and from workers, in the order that the subquery's own conditions make the best, and
//! only those that they leave are kept.
//!
//! The subquery is planned both ways. Rows are joined once where its plan for each row outside would keep a table of its own by a value
//! of that row, where the join is not expected to have many more rows than that table, and where nothing of it can fail: rows are joined
//! that no row outside asks for.

use crate::bind::join::{JoinTree, Sides, equality_of_sides, kept_by};
use crate::bind::open_query::can_fail;
use crate::bind::{Binder, filtered};
use crate::expression::{Expr, Predicate};
use crate::optimizer::{Rule, cardinality};
use crate::plan::{JoinKey, More, Node, Registers, Spool};

/// Subqueries within each other that are planned both ways, at most: each level doubles the plans of those within it.
const NESTED_MAX: usize = 2;

/// The joined rows at most, in rows of the table that is kept otherwise.
const JOINED_MAX: f64 = 4.0;

/// The conditions of a subquery, by what they read.
struct Divided {
    /// Equalities of the subquery's rows with a row outside.
    keys: Vec<JoinKey>,
    /// Conditions on the subquery's rows alone.
    own: Vec<Predicate>,
    /// All others.
    rest: Vec<Predicate>,
}

impl Binder<'_> {
    /// The rows of FROM, of whose `conditions` those are left that must be tested above.
    pub(crate) fn joined_once_or_for_each(&mut self, tree: JoinTree, conditions: &mut Vec<Predicate>) -> Node {
        let is_join = !matches!(tree, JoinTree::Leaf(..));
        let divided = if is_join && self.joins_first() { self.divided(&tree, conditions) } else { None };
        let Some(mut divided) = divided else {
            return self.join_node(tree, conditions, &mut Vec::new());
        };
        self.planned_twice += 1;
        let mut left = conditions.clone();
        let for_each = self.join_node(tree.clone(), &mut left, &mut Vec::new());
        let mut available = Vec::new();
        let kept = self.rows_kept(&for_each);
        let joined = kept.map(|rows| (rows, self.join_node(tree, &mut divided.own, &mut available)));
        self.planned_twice -= 1;
        if let Some((rows, joined)) = joined {
            let joined = filtered(joined, divided.own);
            let is_fixed = joined.is_fixed(self.names.variables.len());
            if is_fixed && cardinality::of(&joined, &self.values).rows <= rows * JOINED_MAX {
                *conditions = divided.rest;
                return kept_by(joined, divided.keys, &available);
            }
        }
        *conditions = left;
        for_each
    }

    fn joins_first(&mut self) -> bool {
        if self.planned_twice >= NESTED_MAX {
            return false;
        }
        let rules = self.active_rules;
        let scope = self.scope();
        let is_read = scope.sources.iter().all(|source| source.row_place().is_none());
        rules.has(Rule::JoinDecorrelation) && rules.has(Rule::HashJoin) && is_read && scope.early.is_empty()
    }

    /// The conditions, if there is an equality with a row outside, and none that can fail.
    fn divided(&mut self, tree: &JoinTree, conditions: &[Predicate]) -> Option<Divided> {
        let variables = self.names.variables.len();
        let own: Vec<Registers> = self.scope().sources.iter().map(|source| source.registers).collect();
        let is_own = |slot: usize| own.iter().any(|registers| registers.range().contains(&slot));
        let reads = |expr: &Expr| {
            let (mut inside, mut outside) = (false, false);
            expr.visit_slots(&mut |slot| {
                inside |= is_own(slot);
                outside |= !is_own(slot) && slot >= variables;
            });
            (inside, outside)
        };
        let mut divided = Divided { keys: Vec::new(), own: Vec::new(), rest: Vec::new() };
        for condition in conditions {
            let mut outside = false;
            condition.visit_slots(&mut |slot| outside |= !is_own(slot) && slot >= variables);
            if !outside {
                divided.own.push(condition.clone());
                continue;
            }
            let key = equality_of_sides(condition).and_then(|Sides { left, right, collation }| {
                match (reads(&left), reads(&right)) {
                    ((true, false), (false, true)) => Some(JoinKey { inner: left, outer: right, collation }),
                    ((false, true), (true, false)) => Some(JoinKey { inner: right, outer: left, collation }),
                    _ => None,
                }
            });
            match key {
                Some(key) => divided.keys.push(key),
                None => divided.rest.push(condition.clone()),
            }
        }
        let mut can_any_fail = conditions.iter().any(can_fail);
        tree.visit_conditions(&mut |condition| can_any_fail |= can_fail(condition));
        (!divided.keys.is_empty() && !can_any_fail).then_some(divided)
    }

    /// The rows of the largest table that a plan keeps by a value of a row outside, if it keeps one.
    fn rows_kept(&mut self, node: &Node) -> Option<f64> {
        let variables = self.names.variables.len();
        let own: Vec<Registers> = self.scope().sources.iter().map(|source| source.registers).collect();
        let is_outside = |slot: usize| slot >= variables && !own.iter().any(|own| own.range().contains(&slot));
        let values = &self.values;
        let mut kept: Option<f64> = None;
        node.visit_nodes(&mut |node| {
            let Node::More(more) = node else { return };
            let More::Spool(Spool { input, keys, .. }) = &**more else { return };
            let mut reads_outside = false;
            keys.iter().for_each(|key| key.outer.visit_slots(&mut |slot| reads_outside |= is_outside(slot)));
            if reads_outside {
                let rows = cardinality::of(input, values).rows;
                kept = Some(kept.map_or(rows, |kept| kept.max(rows)));
            }
        });
        kept
    }
}
